//! The table of simulated beside measured cycles.

use super::figures::{list, markdown, number, text};
use ringforge_interpret::draw::{self, Point};
use ringforge_targets::{AVX2, Processor, nearest};
use serde_json::Value;

/// A program that was simulated.
pub struct Row {
    pub plan: String,
    /// What the caller promises of the operands, such as `big × small`.
    pub operands: String,
    /// What its schedule has otherwise than the target's, as text; empty where it has nothing.
    pub schedule: String,
    /// Where it was measured: vendor, family and model of the processor.
    pub model: String,
    pub simulated: f64,
    /// The measured minimum; 0 where there is none.
    pub min: f64,
}

impl Row {
    /// The processor on which it is simulated, and whether it is known to be the one on which it was measured.
    pub fn processor(&self) -> (&'static Processor, bool) {
        nearest(AVX2.simulated, &self.model).expect("AVX2 is simulated")
    }
}

/// What stands before the cycles in `plans.json`.
const KEY: &str = "\"simulated\": ";

/// All simulated programs of `plans.json`, in its order.
pub fn all(tables: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    for table in list(tables) {
        for line in list(&table["plans"]) {
            let Some(simulated) = line["simulated"].as_f64() else { continue };
            rows.push(Row {
                plan: text(&line["plan"]),
                operands: text(&table["operands"]),
                schedule: text(&line["schedule"]),
                model: text(&table["model"]),
                simulated,
                min: line["min"].as_f64().unwrap_or(0.0),
            });
        }
    }
    rows
}

/// The text of `plans.json` with other cycles, one for each of its rows.
pub fn with_cycles(text: &str, cycles: &[f64]) -> String {
    let mut parts = text.split(KEY);
    let mut out = parts.next().unwrap_or("").to_owned();
    let parts: Vec<&str> = parts.collect();
    assert_eq!(parts.len(), cycles.len(), "not one number for each row");
    for (part, cycles) in parts.into_iter().zip(cycles) {
        out += &format!("{KEY}{cycles}{}", part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

/// Those that were measured, the fastest first.
pub fn rows(tables: &Value) -> Vec<Row> {
    let mut rows = all(tables);
    rows.retain(|row| row.min > 0.0);
    rows.sort_by(|a, b| a.min.total_cmp(&b.min));
    rows
}

/// Spearman's correlation of rows that are in the order of their minima; values differ, or nearly.
fn correlation(rows: &[Row]) -> f64 {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows[a].simulated.total_cmp(&rows[b].simulated));
    let far = order.iter().enumerate().map(|(i, &j)| (i as f64 - j as f64).powi(2)).sum::<f64>();
    let n = rows.len() as f64;
    1.0 - 6.0 * far / (n * (n * n - 1.0))
}

/// All rows, and how near they are.
pub fn simulated(all: &Value) -> String {
    let rows = rows(all);
    let near = rows.iter().filter(|r| (r.simulated / r.min - 1.0).abs() <= 0.15).count();
    let cells = |r: &Row| {
        let [simulated, min] = [r.simulated, r.min].map(|x| number(&x.into()));
        vec![
            r.plan.clone(),
            r.operands.clone(),
            simulated,
            min,
            format!("{:.2}", r.simulated / r.min),
        ]
    };
    let head = ["plan, avx2", "operands", "simulated", "measured, min", "ratio"];
    markdown(&head, 2, &rows.iter().map(cells).collect::<Vec<_>>())
        + &format!(
            "\n{near} of {} lie within 15 %; the rank correlation is {:.3}.\n",
            rows.len(),
            correlation(&rows)
        )
        + &simulated_on(&rows)
}

/// On which processors they are simulated.
fn simulated_on(rows: &[Row]) -> String {
    let mut said: Vec<String> = Vec::new();
    for row in rows {
        let (processor, known) = row.processor();
        let how = match known {
            true => String::new(),
            false => format!(", the nearest described processor to {}", row.model),
        };
        let sentence = format!("Simulated on {}{how}.\n", processor.name);
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    said.concat()
}

/// All rows as points: nearly a line, if the simulation is right.
pub fn picture(all: &Value, processor: &str) -> String {
    let point = |r: &Row| {
        let name = format!("{}, {}: {:.2}", r.plan, r.operands, r.simulated / r.min);
        Point { name, series: 0, x: r.min, y: r.simulated }
    };
    let points: Vec<Point> = rows(all).iter().map(point).collect();
    let axes = ["core cycles, minimum", "simulated cycles"];
    let caption = format!("Plans on {processor}: simulated and measured, and their ratios");
    draw::scatter(&points, &["avx2"], axes, &caption).expect("a chart")
}
