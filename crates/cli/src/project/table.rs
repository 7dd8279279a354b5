//! The table on the terminal.

use std::collections::BTreeMap;
use std::path::Path;

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_prove::Verdict;

use super::plan::LeftOut;
use super::row::Row;
use crate::ui::Ui;

/// More functions or assumptions than this are counted, not named.
const LISTED: usize = 12;

/// Reasons of a function that are listed.
const REASONS: usize = 3;

/// Prints the rows, why some are not proved, what all of them assume, and what was left out.
pub fn say(ui: &Ui, name: &str, rows: &[Row], left_out: &LeftOut) {
    // One object is the headline's; of several, each row names its own.
    let several = rows.iter().any(|row| row.label.object != name);
    let mut head = vec!["function", "contract", "verdict", "seconds"];
    if several {
        head.insert(1, "object");
    }
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(head);
    for row in rows {
        let contract = Path::new(&row.label.contract).file_name().unwrap_or_default();
        let cached = if row.cached { " (cached)" } else { "" };
        let mut cells = vec![
            row.label.function.clone(),
            contract.to_string_lossy().into_owned(),
            row.verdict.to_string(),
            format!("{:.1}{cached}", row.seconds),
        ];
        if several {
            cells.insert(1, row.label.object.clone());
        }
        table.add_row(cells);
    }
    ui.say(table.to_string());
    let proved = rows.iter().filter(|row| row.verdict == Verdict::Proved).count();
    ui.say(format!("{name}: {proved} of {} proved", rows.len()));
    for row in rows.iter().filter(|row| row.verdict != Verdict::Proved) {
        for reason in row.reasons.iter().take(REASONS) {
            ui.say(format!("{} is {}: {reason}", row.label.function, row.verdict));
        }
    }
    assumptions(ui, rows);
    if !left_out.not_defined.is_empty() {
        let listed = match left_out.not_defined.len() {
            0..=LISTED => left_out.not_defined.join(", "),
            many => format!("{many} functions that have contracts (--json names them)"),
        };
        ui.say(format!("not in the object: {listed}"));
    }
    match left_out.other_processors.len() {
        0 => (),
        1 => ui.say("1 contract is for another processor"),
        many => ui.say(format!("{many} contracts are for other processors")),
    }
    match &left_out.without_contract[..] {
        [] => (),
        some if some.len() <= LISTED => {
            ui.say(format!("no contract is for a function of {}", some.join(", ")));
        }
        many => ui.say(format!("no contract is for a function of {} objects", many.len())),
    }
}

/// What the verdicts take for granted, each once, with the number of functions that it is for.
fn assumptions(ui: &Ui, rows: &[Row]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.verdict == Verdict::Proved) {
        let mut own: Vec<&str> = row.assumptions.iter().map(String::as_str).collect();
        own.sort_unstable();
        own.dedup();
        for assumption in own {
            *counts.entry(assumption).or_default() += 1;
        }
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(text, count)| (std::cmp::Reverse(count), text));
    for (assumption, count) in counts.iter().take(LISTED) {
        match *count == rows.len() {
            true => ui.say(format!("  assumed: {assumption}")),
            false => ui.say(format!("  assumed, for {count} of {}: {assumption}", rows.len())),
        }
    }
    if counts.len() > LISTED {
        ui.say(format!("  and {} assumptions more (--json has all)", counts.len() - LISTED));
    }
}
