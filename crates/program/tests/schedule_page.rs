//! docs/schedules.md lists every key with its values and its defaults, as the code has them.

use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, Target};
use std::collections::BTreeSet;

/// Rows of the table: key, values, default with dot products, default with words.
fn rows() -> Vec<[String; 4]> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schedules.md");
    let text = std::fs::read_to_string(path).expect("docs/schedules.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let cell = |cell: &str| cell.trim().to_owned();
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').skip(1).take(4).collect();
        [cell(cells[0]).replace('`', ""), cell(cells[1]), cell(cells[2]), cell(cells[3])]
    })
    .collect()
}

/// `key = value`, the limits in their table.
fn line(key: &str, value: &str) -> String {
    match key.strip_prefix("limits.") {
        Some(key) => format!("[limits]\n{key} = {value}\n"),
        None => format!("{key} = {value}\n"),
    }
}

/// The value of a key in a schedule's own text.
fn shown(schedule: &Schedule, key: &str) -> Option<String> {
    let table: toml::Table = schedule.to_string().parse().expect("a table");
    let value = key.split('.').try_fold(toml::Value::Table(table), |at, key| at.get(key).cloned());
    value.map(|value| value.to_string())
}

fn words() -> Target {
    Target { products: ringforge_targets::Products::Words, ..AVX2 }
}

#[test]
fn every_key_is_listed_with_its_defaults() {
    let rows = rows();
    for [key, _, dots, plain] in &rows {
        for (target, default) in [(&AVX2, dots), (&words(), plain)] {
            let known = shown(&Schedule::of(target), key);
            assert_eq!(known.unwrap_or("absent".into()), default.replace('`', ""), "{key}");
        }
    }
    let listed: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    // A key that there is not is refused by a list of those that there are.
    let error = Schedule::parse("no-such-key = 1").unwrap_err().to_string();
    let limits = Schedule::parse("[limits]\nno-such-key = 1").unwrap_err().to_string();
    let quoted = |text: &str| -> Vec<String> {
        let list = text.rsplit("expected").next().expect("a list");
        list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut known: BTreeSet<String> = quoted(&error).into_iter().collect();
    assert!(known.remove("limits") && known.remove("modulo"), "{error}");
    known.extend(quoted(&limits).into_iter().map(|key| format!("limits.{key}")));
    assert_eq!(listed, known.iter().map(String::as_str).collect());
}

#[test]
fn the_values_of_the_page_are_those_that_are_read() {
    for [key, values, ..] in rows() {
        let accepts = |value: &str| Schedule::parse(&line(&key, value)).is_ok();
        let numbers = values.split(' ').filter(|_| !values.starts_with('`'));
        let range: Vec<i64> = numbers.filter_map(|word| word.parse().ok()).collect();
        match (range.as_slice(), values.starts_with('`')) {
            (&[least, most], _) if key == "inner-products" => {
                let list = |values: &[i64]| accepts(&format!("{values:?}"));
                assert!(list(&[]) && list(&[least]) && list(&[least, 3, most]), "{key}");
                assert!(!list(&[least - 1]) && !list(&[least, most + 1]), "{key}: {values}");
                assert!(!list(&[3, 3]) && !list(&[3, least]), "{key}: in ascending order");
            }
            (&[least, most], _) => {
                assert!(accepts(&least.to_string()) && accepts(&most.to_string()), "{key}");
                let refused = |value: i64| !accepts(&value.to_string());
                assert!(refused(least - 1) && refused(most + 1), "{key}: {values}");
            }
            (&[least], _) => {
                assert!(accepts(&least.to_string()) && accepts("4294967295"), "{key}");
                assert!(!accepts(&(least - 1).to_string()), "{key}: {values}");
            }
            (_, true) => {
                let named = values.split('`').skip(1).step_by(2);
                assert!(named.clone().count() > 1 && named.clone().all(accepts), "{key}: {values}");
                assert!(!accepts("\"no-such-method\""), "{key}");
            }
            _ if key == "unsigned" => {
                let layers = "inverse-by = 'inverse-cooley-tukey', forward = { multiples = ['1'] }";
                let one = format!("{{ {layers}, inverse = {{ multiples = ['1'] }} }}");
                assert!(accepts(&one) && values.starts_with("a placement"), "{key}");
                assert!(!accepts("true") && !accepts(&one.replace("cooley", "winograd")), "{key}");
            }
            _ => assert!(accepts("[\"forward.6.0.low\"]") && values.starts_with("sites"), "{key}"),
        }
    }
}

#[test]
fn what_a_text_leaves_out_is_the_targets_default() {
    let words = words();
    let of = |text: &str| Schedule::parse_for(text, &words).expect("a schedule");
    assert_eq!(of(""), Schedule::of(&words));
    let partial = of("unroll = 2\n[limits]\nforward-first = 9000\n");
    assert_eq!((partial.unroll, partial.limits.forward_first), (2, 9000));
    assert_eq!(partial.base, Schedule::of(&words).base);
    assert_eq!(partial.limits.forward, Schedule::of(&words).limits.forward);
    let error = Schedule::parse_for("unroll = 2\ndepth = 5\n", &words).unwrap_err();
    assert_eq!(error.message(), "`depth` is 5; it lies in [1, 4]");
}

/// Every description's own text is one of a schedule, and its default says so.
#[test]
fn what_a_target_says_of_its_schedule_is_a_schedule() {
    for target in ringforge_targets::TARGETS {
        let said = Schedule::parse_for(target.schedule, target).expect(target.name);
        assert_eq!(said, Schedule::of(target), "{target}");
    }
    let neon = Schedule::of(&ringforge_targets::NEON);
    assert_ne!(neon, Schedule::of(&AVX2), "Neon's default is its own");
}
