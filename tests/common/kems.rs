//! Tables of the KEMs, from `docs/figures/kems.json`, and from `kem-references.json`, measured elsewhere.

use super::figures::{list, markdown, number, text};
use serde_json::Value;

/// The operations, as the figures and as the table call them.
const OPERATIONS: [(&str, &str); 5] = [
    ("keygen", "keygen"),
    ("enc", "encaps"),
    ("dec", "decaps"),
    ("batch", "key of 32"),
    ("prepared", "prepared encaps"),
];

/// Of a KEM and an implementation that several compilers made, the one with the fastest decapsulation; medians.
pub fn kems(all: &Value) -> String {
    let mut names: Vec<String> = Vec::new();
    for row in list(&all["rows"]) {
        let kem = text(&row["kem"]);
        if !names.contains(&kem) {
            names.push(kem);
        }
    }
    let median = |row: &Value, operation: &str| match &row[operation] {
        Value::Array(pair) => pair.get(1).cloned().unwrap_or(Value::Null),
        other => other.clone(),
    };
    let decaps = |row: &Value| median(row, "dec").as_f64().unwrap_or(f64::MAX);
    let mut rows = Vec::new();
    for kem in &names {
        let mut best: Vec<&Value> = Vec::new();
        for row in list(&all["rows"]).iter().filter(|row| row["kem"] == kem.as_str()) {
            match best.iter_mut().find(|b| b["name"] == row["name"]) {
                Some(old) if decaps(row) < decaps(old) => *old = row,
                Some(_) => {}
                None => best.push(row),
            }
        }
        best.sort_by(|a, b| decaps(a).total_cmp(&decaps(b)));
        for (i, row) in best.into_iter().enumerate() {
            let mut cells = vec![if i == 0 { kem.clone() } else { String::new() }];
            let compiled = text(&row["compiled"]);
            let by = if compiled.is_empty() { compiled } else { format!(" ({compiled})") };
            cells.push(text(&row["name"]) + &by);
            cells.extend(OPERATIONS.map(|(operation, _)| match median(row, operation) {
                Value::Null => String::new(),
                cycles => number(&cycles),
            }));
            rows.push(cells);
        }
    }
    let mut head = vec!["KEM", "code"];
    head.extend(OPERATIONS.map(|(_, shown)| shown));
    let host = format!(
        "\n{} ({}); core cycles, medians.\n",
        text(&all["host"]["processor"]),
        text(&all["host"]["model"])
    );
    markdown(&head, 2, &rows) + &host
}

/// What others state for processors of theirs.
pub fn references(all: &Value) -> String {
    let shown = |row: &Value| {
        let name = text(&row["name"]);
        let mut cells = vec![text(&row["kem"]), name.replace(", elsewhere", "")];
        cells.extend(OPERATIONS[..4].iter().map(|(operation, _)| match &row[operation] {
            Value::Null => String::new(),
            cycles => number(cycles),
        }));
        cells
    };
    let rows: Vec<Vec<String>> = list(all).iter().map(shown).collect();
    let mut head = vec!["KEM", "code"];
    head.extend(OPERATIONS[..4].iter().map(|(_, shown)| shown));
    markdown(&head, 2, &rows)
}

/// Each phase of sntrup761 with AVX2, its cycles, and its share of the operations, by the fastest compiler of each.
pub fn phases(all: &Value) -> String {
    let mut best: Vec<&Value> = Vec::new();
    let median = |row: &Value| row["median"].as_f64().unwrap_or(0.0);
    for row in list(&all["phases"]).iter().filter(|row| row["target"] == "avx2") {
        match best.iter_mut().find(|b| b["phase"] == row["phase"]) {
            Some(old) if median(row) < median(old) => *old = row,
            Some(_) => {}
            None => best.push(row),
        }
    }
    let uses = |row: &Value, operation: usize| {
        row["uses"][operation].as_f64().unwrap_or(0.0) * median(row)
    };
    let totals: [f64; 4] = std::array::from_fn(|o| best.iter().map(|row| uses(row, o)).sum());
    let share = |part: f64, whole: f64| match part {
        0.0 => String::new(),
        part => format!("{:.1} %", 100.0 * part / whole),
    };
    let rows: Vec<Vec<String>> = best
        .iter()
        .map(|row| {
            let mut cells = vec![text(&row["phase"]), number(&row["median"])];
            cells.extend((0..4).map(|o| share(uses(row, o), totals[o])));
            cells
        })
        .collect();
    markdown(&["phase", "cycles", "keygen", "encaps", "prepared encaps", "decaps"], 1, &rows)
}
