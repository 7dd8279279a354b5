//! The table of simulated beside measured cycles.

use super::figures::{list, markdown, number, text};
use ringforge_interpret::draw::{self, Point};
use serde_json::Value;

/// A program that was both measured and simulated.
pub struct Row {
    pub plan: String,
    /// What the caller promises of the operands, such as `big × small`.
    pub operands: String,
    pub simulated: f64,
    /// The measured minimum.
    pub min: f64,
}

/// The rows of `plans.json` that have both, the fastest first.
pub fn rows(all: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    for table in list(all) {
        for line in list(&table["plans"]) {
            if let (Some(simulated), Some(min)) = (line["simulated"].as_f64(), line["min"].as_f64())
            {
                let (plan, operands) = (text(&line["plan"]), text(&table["operands"]));
                rows.push(Row { plan, operands, simulated, min });
            }
        }
    }
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
