//! Tables of what the library executes on AArch64, from `docs/figures/neon.json`.

use super::figures::{list, markdown, number, text};
use serde_json::{Value, json};

/// Cycles on a Cortex-A72 from counts of one call: what the model of vector code gives, half a cycle for each scalar
/// instruction besides, but never less than its pipes let through: three instructions a cycle, two of them vector ones, of
/// which a product takes one or two slots.
fn cycles(row: &Value) -> f64 {
    let count = |name: &str| row["counts"][name].as_f64().unwrap_or(0.0);
    let slots = 2.0 * count("full") + count("long");
    let vector = count("full") + count("long") + count("other") + count("memory");
    let model = 1.12 * slots + 0.12 * count("other") + 0.86 * count("moved");
    let fitted = model + (count("executed") - vector) / 2.0;
    fitted.max((slots + count("other")) / 2.0).max(count("executed") / 3.0)
}

/// What [Hwang24] reports for whole operations, on the processor.
const SEED: [(&str, [f64; 3]); 2] = [
    ("sntrup761", [6_333_403.0, 147_977.0, 158_233.0]),
    ("ntrulpr761", [260_606.0, 412_629.0, 461_250.0]),
];

fn compilers(all: &Value) -> Vec<String> {
    let mut names: Vec<String> = list(all).iter().map(|row| text(&row["compiled"])).collect();
    names.dedup();
    names
}

fn rounded(cycles: f64) -> String {
    number(&json!(cycles.round()))
}

/// Whole operations, by each compiler, beside the paper's.
pub fn operations(all: &Value) -> String {
    let mut rows = Vec::new();
    for (kem, published) in SEED {
        for (name, published) in ["keygen", "encaps", "decaps"].into_iter().zip(published) {
            let mut cells = vec![kem.to_owned(), name.to_owned()];
            for target in ["neon", "portable"] {
                cells.extend(compilers(all).iter().map(|compiled| {
                    let mut found = list(all).iter().filter(|row| {
                        row["name"] == name && row["kem"] == kem && row["target"] == target
                    });
                    let row = found.find(|row| row["compiled"] == **compiled);
                    row.map_or_else(String::new, |row| rounded(cycles(row)))
                }));
            }
            cells.push(rounded(published));
            rows.push(cells);
        }
    }
    let mut head = vec!["KEM".to_owned(), "operation".into()];
    for target in ["Neon", "portable C"] {
        head.extend(compilers(all).iter().map(|compiled| format!("{target}, {compiled}")));
    }
    head.push("[Hwang24], measured".into());
    markdown(&head.iter().map(String::as_str).collect::<Vec<_>>(), 2, &rows)
}

/// Phases of sntrup761 with Neon by the first compiler: instructions, cycles, and how often operations do them.
pub fn phases(all: &Value) -> String {
    let first = compilers(all).into_iter().next().unwrap_or_default();
    let is = |row: &&Value, target: &str| {
        row["phase"].is_string() && row["compiled"] == *first && row["target"] == target
    };
    let portable = |phase: &Value| {
        list(all)
            .iter()
            .filter(|row| is(row, "portable"))
            .find(|row| row["phase"] == *phase)
            .map(cycles)
    };
    let rows: Vec<Vec<String>> = list(all)
        .iter()
        .filter(|row| is(row, "neon"))
        .map(|row| {
            let uses = [0, 1, 3].map(|operation| match row["uses"][operation].as_u64() {
                Some(0) | None => String::new(),
                Some(n) => n.to_string(),
            });
            let mut cells = vec![text(&row["phase"])];
            cells.extend(["executed", "moved"].map(|name| number(&row["counts"][name])));
            cells.push(rounded(cycles(row)));
            cells.push(portable(&row["phase"]).map_or_else(String::new, rounded));
            cells.extend(uses);
            cells
        })
        .collect();
    let head = ["phase", "executed", "R16", "cycles", "portable C", "keygen", "encaps", "decaps"];
    markdown(&head, 1, &rows)
}
