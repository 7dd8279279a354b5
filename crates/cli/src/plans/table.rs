//! The table of a ring's plans: its lines, how it is read again, printed and drawn.

use std::path::Path;

use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN, presets::UTF8_BORDERS_ONLY};
use ringforge_interpret::draw;
use serde::{Deserialize, Serialize};

use crate::preset::Wanted;
use crate::target::TARGETS;
use crate::ui::Failure;

/// What a plan is and what came of it, on one target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    pub plan: String,
    pub cite: Option<String>,
    /// What the plan is right for.
    pub operands: String,
    pub target: String,
    pub compiled: String,
    /// How its schedule differs from the target's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The moduli that it computes with.
    pub moduli: Vec<u64>,
    /// Lengths of transforms and sizes of what is multiplied, such as `90 × 16 + x^81`.
    pub transform: String,
    /// Products of coefficients in base products, all moduli together.
    pub base_products: u64,
    /// On registers, as are the next three.
    pub multiplications: u64,
    pub additions: u64,
    pub reductions: u64,
    pub shuffles: u64,
    /// All operations on registers, loads and stores included.
    pub operations: u64,
    pub code_bytes: u64,
    pub stack_bytes: u64,
    /// `proved`, `refuted`, `unknown`, or `no program`.
    pub verdict: String,
    /// Seconds of the proof.
    pub seconds: f64,
    /// Why it is not proved or not measured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Where the program does not compute as the plan says, and what it does instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Cycles by simulation, for targets that have a processor to simulate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<u64>,
    pub min: Option<f64>,
    pub median: Option<f64>,
    #[serde(default)]
    pub noisy: bool,
    /// The median divided by the best peer's.
    pub of_peer: Option<f64>,
}

/// A product of another project, measured with them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PeerLine {
    pub name: String,
    pub operands: String,
    pub compiled: String,
    pub min: f64,
    pub median: f64,
    pub noisy: bool,
}

/// The whole table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plans {
    pub ring: String,
    /// What the caller promises of the operands.
    pub operands: String,
    /// The version of ringforge.
    pub tool: String,
    pub processor: String,
    pub model: String,
    pub copies: usize,
    pub samples: usize,
    pub plans: Vec<Line>,
    pub peers: Vec<PeerLine>,
}

/// What an earlier run wrote of this ring and these operands.
pub fn saved(file: &Path, wanted: &Wanted) -> Result<Plans, Failure> {
    let name = file.display();
    let refuse = |why: String| Failure::input(format!("{name}: {why}"));
    let text = crate::preset::read(&name.to_string())?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| refuse(format!("this is not JSON: {e}")))?;
    let all = match value {
        serde_json::Value::Array(all) => all,
        one => vec![one],
    };
    let tables = all.into_iter().map(serde_json::from_value::<Plans>);
    let tables = tables.collect::<Result<Vec<_>, _>>();
    let tables = tables.map_err(|e| refuse(format!("`bench --plans` did not write this: {e}")))?;
    let (ring, [a, b]) = (wanted.ring.to_string(), wanted.operands);
    let operands = format!("{a} × {b}");
    let found = tables.iter().find(|t| t.ring == ring && t.operands == operands).cloned();
    found.ok_or_else(|| {
        let there: Vec<String> =
            tables.iter().map(|t| format!("{}, {}", t.ring, t.operands)).collect();
        refuse(format!(
            "no results for {ring}, {operands}; there are results for {}",
            there.join("; ")
        ))
    })
}

pub fn print(plans: &Plans, markdown: bool) -> Table {
    let mut table = Table::new();
    table.load_preset(if markdown { ASCII_MARKDOWN } else { UTF8_BORDERS_ONLY });
    table.set_header([
        "plan",
        "for",
        "target",
        "moduli",
        "transform",
        "base products",
        "mul",
        "add",
        "reduce",
        "shuffle",
        "code",
        "stack",
        "verdict",
        "simulated",
        "min",
        "median",
        "of peer",
    ]);
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.0}"));
    let size = |n: u64| if n == 0 { String::new() } else { n.to_string() };
    for line in &plans.plans {
        let moduli: Vec<String> = line.moduli.iter().map(u64::to_string).collect();
        let noisy = if line.noisy { " (noisy)" } else { "" };
        table.add_row([
            line.plan.clone(),
            line.operands.clone(),
            line.target.clone(),
            moduli.join(", "),
            line.transform.clone(),
            line.base_products.to_string(),
            size(line.multiplications),
            size(line.additions),
            size(line.reductions),
            size(line.shuffles),
            size(line.code_bytes),
            size(line.stack_bytes),
            match line.verdict.as_str() {
                "no program" => line.verdict.clone(),
                verdict => format!("{verdict}, {:.1} s", line.seconds),
            },
            line.simulated.map_or(String::new(), |cycles| cycles.to_string()),
            number(line.min),
            number(line.median) + noisy,
            line.of_peer.map_or(String::new(), |ratio| format!("{ratio:.2}")),
        ]);
    }
    for peer in &plans.peers {
        let mut row = vec![peer.name.clone(), peer.operands.clone()];
        row.resize(14, String::new());
        let noisy = if peer.noisy { " (noisy)" } else { "" };
        row.extend([format!("{:.0}", peer.min), format!("{:.0}{noisy}", peer.median)]);
        row.push(String::new());
        table.add_row(row);
    }
    for index in (5..12).chain(13..17) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Operations against cycles.
///
/// # Errors
/// See [`draw::scatter`].
pub fn picture(plans: &Plans) -> Result<String, draw::Undrawn> {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let series: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| plans.plans.iter().any(|line| line.target == *name))
        .collect();
    let point = |line: &Line| {
        let median = line.median?;
        let proved = if line.verdict == "proved" { "" } else { ", not proved" };
        Some(draw::Point {
            name: format!("{}, {}{proved}: {median:.0}", line.plan, line.target),
            series: series.iter().position(|name| *name == line.target)?,
            x: line.operations as f64,
            y: median,
        })
    };
    let points: Vec<draw::Point> = plans.plans.iter().filter_map(point).collect();
    let caption = format!("Plans for {}, {}", plans.ring, plans.operands);
    draw::scatter(&points, &series, ["operations on registers", "core cycles, median"], &caption)
}

/// Simulated against measured cycles, of the plans that have both; nothing if there are none.
///
/// # Errors
/// See [`draw::scatter`].
pub fn simulated(plans: &Plans) -> Result<Option<String>, draw::Undrawn> {
    let series: Vec<&str> =
        TARGETS.iter().filter(|t| !t.machine.simulated.is_empty()).map(|t| t.name).collect();
    let point = |line: &Line| {
        let (simulated, min) = (line.simulated?, line.min?);
        let name = format!("{}, {}: {simulated} for {min:.0}", line.plan, line.target);
        let series = series.iter().position(|name| *name == line.target)?;
        Some(draw::Point { name, series, x: min, y: simulated as f64 })
    };
    let points: Vec<draw::Point> = plans.plans.iter().filter_map(point).collect();
    let caption = format!("Plans for {}, {}, simulated", plans.ring, plans.operands);
    let axes = ["core cycles, minimum", "simulated cycles"];
    if points.is_empty() {
        return Ok(None);
    }
    draw::scatter(&points, &series, axes, &caption).map(Some)
}
