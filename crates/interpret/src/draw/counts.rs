//! What each stage costs: stacked bars of operations.

use super::{Anchor, SIDE, Sheet, grouped, typeset, width};
use crate::count::{Costs, Counts};

const ROW: f64 = 25.0;
const SPAN: f64 = 440.0;
const TOP: f64 = 78.0;

/// A kind of operation: its name, and how many there are.
type Part = (&'static str, fn(&Counts) -> u64);

/// What is counted, in the order of the bars.
const PARTS: [Part; 6] = [
    ("multiplications", |c| c.multiplies),
    ("sums", |c| c.additions),
    ("shifts and logic", |c| c.logic),
    ("shuffles", |c| c.shuffles),
    ("loads", |c| c.loads),
    ("stores", |c| c.stores),
];

fn all(counts: &Counts) -> u64 {
    PARTS.iter().map(|(_, part)| part(counts)).sum()
}

/// Operations of a program by stage, in registers; `caption` is the sentence above it.
pub fn counts(costs: &Costs, caption: &str) -> String {
    // The procedures of both operands count as one row, with both calls in it.
    let mut rows: Vec<(String, Counts)> = Vec::new();
    for stage in &costs.stages {
        let title = stage.path.last().cloned().unwrap_or_else(|| "outside all stages".into());
        match rows.iter_mut().find(|(known, _)| *known == title && stage.path.len() > 1) {
            Some((_, counts)) => *counts += stage.counts,
            None => rows.push((title, stage.counts)),
        }
    }
    let most = rows.iter().map(|(_, c)| all(c)).max().unwrap_or(1).max(1) as f64;
    let labels = rows.iter().map(|(t, _)| width(&typeset(t), 12.0)).fold(180.0, f64::max);
    let left = SIDE + labels.min(430.0) + 16.0;
    let full = left + SPAN + 66.0 + SIDE;
    let bottom = TOP + ROW * rows.len() as f64;
    let mut sheet = Sheet::new();
    sheet.title(caption);
    let mut x = SIDE;
    for (i, (what, part)) in PARTS.iter().enumerate() {
        let said = format!("{} {what}", grouped(part(&costs.total)));
        sheet.rect(x, 45.0, 10.0, 10.0, &format!("c{i}"), 2.0);
        sheet.text(x + 16.0, 54.0, "small note", Anchor::Start, &said);
        x += width(&said, 11.0) + 36.0;
    }
    for (i, (title, counts)) in rows.iter().enumerate() {
        let y = TOP + ROW * i as f64 + ROW / 2.0;
        sheet.text(SIDE, y + 4.0, "", Anchor::Start, &typeset(title));
        let mut at = left;
        for (k, (_, part)) in PARTS.iter().enumerate() {
            let wide = part(counts) as f64 / most * SPAN;
            if wide > 0.0 {
                sheet.rect(at, y - 6.5, wide, 13.0, &format!("c{k}"), 0.0);
            }
            at += wide;
        }
        sheet.text(at + 8.0, y + 4.0, "number note", Anchor::Start, &grouped(all(counts)));
    }
    let total = format!(
        "{} operations on registers of {} words in all.",
        grouped(all(&costs.total)),
        costs.lanes
    );
    sheet.text(SIDE, bottom + 22.0, "small note", Anchor::Start, &total);
    sheet.finish(full.max(x), bottom + 38.0, caption)
}
