//! The pictures' content for terminals: plain lines of at most some 100 columns.

use crate::count::Costs;
use crate::range::{Interval, Ranges};
use std::fmt::Write;

fn title(path: &[String], room: usize) -> String {
    let indent = "  ".repeat(path.len().saturating_sub(1));
    let last = path.last().map_or("(outside all stages)", String::as_str);
    let text: String = indent.chars().chain(last.chars()).collect();
    match text.chars().count() > room {
        true => text.chars().take(room - 1).chain(['…']).collect(),
        false => text,
    }
}

/// A bar of `columns` characters for an interval of words of `bits` bits, its middle at zero.
fn bar((lo, hi): Interval, bits: u8, columns: usize) -> String {
    let half = 1i64 << (bits - 1);
    let at = |v: i64| ((v + half) as usize * columns) >> bits;
    let (from, to) = (at(lo.max(-half)), at(hi.min(half - 1)));
    (0..columns)
        .map(|i| match i {
            _ if (from..=to).contains(&i) => '█',
            _ if i == columns / 2 => '│',
            _ => '·',
        })
        .collect()
}

/// The ranges of a program, one line a stage: a bar on the scale of a word, and what is left in
/// memory.
pub fn ranges(ranges: &Ranges) -> String {
    let mut out = String::new();
    let mut line = |title: String, range: Interval| {
        let _ = writeln!(
            out,
            "{title:<58} {} [{}, {}]",
            bar(range, ranges.word_bits, 24),
            range.0,
            range.1
        );
    };
    for (name, range) in &ranges.inputs {
        line(format!("input {name}"), *range);
    }
    for stage in &ranges.stages {
        if let Some(range) = stage.stored.or(stage.words) {
            line(title(&stage.path, 58), range);
        }
    }
    for (name, range) in &ranges.outputs {
        line(format!("output {name}"), *range);
    }
    out
}

/// The costs of a program, one line a stage.
pub fn counts(costs: &Costs) -> String {
    let mut out = format!(
        "{:<58} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}\n",
        "stage", "mul", "add", "logic", "shuf", "load", "store"
    );
    let total = ("total".to_string(), costs.total);
    let stages = costs.stages.iter().map(|s| (title(&s.path, 58), s.counts));
    for (title, c) in stages.chain([total]) {
        let _ = writeln!(
            out,
            "{title:<58} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}",
            c.multiplies, c.additions, c.logic, c.shuffles, c.loads, c.stores
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_their_interval() {
        assert_eq!(bar((-32768, 32767), 16, 8), "████████");
        assert_eq!(bar((0, 0), 32, 8), "····█···");
        assert_eq!(bar((-16384, -1), 16, 8), "··██│···");
    }
}
