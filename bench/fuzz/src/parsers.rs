//! What each parser must do with any bytes: answer or refuse, and read what it prints as the same.

use ringforge_certificate as certificate;
use ringforge_machine::Object;
use ringforge_plan::{Plan, RingFile};
use ringforge_program::schedule::Schedule;
use ringforge_prove::constant_time::SafetyContract;
use ringforge_prove::contract::Contract;
use ringforge_prove::map::MapContract;
use ringforge_ring::Ring;
use ringforge_tune::wisdom::Wisdom;
use std::path::Path;

/// A parser, given bytes: whether it accepts them.
pub type Parser = fn(&[u8]) -> bool;

/// All parsers by name.
pub const PARSERS: [(&str, Parser); 10] = [
    ("rings", ring),
    ("ring files", |bytes| text(bytes).is_some_and(|text| RingFile::parse(text).is_ok())),
    ("plans", plan),
    ("schedules", schedule),
    ("contracts", |bytes| text(bytes).is_some_and(|text| Contract::parse(text).is_ok())),
    ("contracts of constant time", |bytes| {
        text(bytes).is_some_and(|text| SafetyContract::parse(text).is_ok())
    }),
    ("contracts of elements", |bytes| {
        text(bytes).is_some_and(|text| MapContract::parse(text).is_ok())
    }),
    ("certificates", |bytes| text(bytes).is_some_and(|text| certificate::parse(text).is_ok())),
    ("objects", |bytes| Object::parse(bytes).is_ok()),
    ("wisdom", wisdom),
];

/// The text, or a refusal of what is no UTF-8, as reading a file has it.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn ring(bytes: &[u8]) -> bool {
    let Some(Ok(ring)) = text(bytes).map(Ring::parse) else { return false };
    assert_eq!(Ring::parse(&ring.to_string()).as_ref(), Ok(&ring));
    true
}

fn plan(bytes: &[u8]) -> bool {
    let Some(Ok(plan)) = text(bytes).map(Plan::parse) else { return false };
    let printed = plan.to_string();
    let again = Plan::parse(&printed).unwrap_or_else(|e| panic!("{printed}: {}", e.message));
    assert_eq!(again.to_string(), printed);
    true
}

fn schedule(bytes: &[u8]) -> bool {
    let Some(Ok(schedule)) = text(bytes).map(Schedule::parse) else { return false };
    let printed = schedule.to_string();
    let again = Schedule::parse(&printed).unwrap_or_else(|e| panic!("{printed}: {e}"));
    assert_eq!(again.to_string(), printed);
    true
}

fn wisdom(bytes: &[u8]) -> bool {
    let path = Path::new("wisdom.toml");
    let Some(Ok(wisdom)) = text(bytes).map(|text| Wisdom::parse(path, text)) else {
        return false;
    };
    let printed = wisdom.to_text();
    let again = Wisdom::parse(path, &printed).unwrap_or_else(|e| panic!("{printed}: {e}"));
    assert_eq!(again.to_text(), printed);
    true
}
