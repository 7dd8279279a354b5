//! How values grow: one bar a stage, on the scale of a word.

use super::{Anchor, SIDE, Sheet, signed, typeset, width};
use crate::range::{Interval, Ranges};

const ROW: f64 = 25.0;
const SPAN: f64 = 460.0;
const TOP: f64 = 96.0;

struct Row {
    title: String,
    depth: usize,
    stored: Option<Interval>,
    words: Option<Interval>,
    elements: Option<Interval>,
}

fn rows(ranges: &Ranges) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let plain = |title: String, range: Interval| Row {
        title,
        depth: 0,
        stored: Some(range),
        words: None,
        elements: None,
    };
    for (name, range) in &ranges.inputs {
        rows.push(plain(format!("input {name}"), *range));
    }
    let mut seen: Vec<&[String]> = Vec::new();
    for stage in &ranges.stages {
        let tail = stage.path.last().cloned().unwrap_or_else(|| "outside all stages".into());
        // Both operands go through one procedure: say it once.
        let again = seen.iter().any(|path| {
            path.len() > 1 && path.len() == stage.path.len() && path.last() == stage.path.last()
        });
        let empty = stage.words.is_none() && stage.stored.is_none() && stage.elements.is_none();
        let begins = ranges
            .stages
            .iter()
            .any(|s| s.path.len() > stage.path.len() && s.path.starts_with(&stage.path));
        if again {
            // Its caller's row stands for both.
            let first = seen.iter().find(|path| path.last() == stage.path.last());
            if let (Some(first), [.., second, _]) = (first, stage.path.as_slice()) {
                let first = &first[first.len().saturating_sub(2)];
                if let Some(row) = rows.iter_mut().find(|row| row.title == *first) {
                    row.title = both(first, second);
                }
            }
        }
        if again || empty && !begins {
            continue;
        }
        seen.push(&stage.path);
        rows.push(Row {
            title: tail,
            depth: stage.path.len().saturating_sub(1),
            stored: stage.stored,
            words: stage.words,
            elements: stage.elements,
        });
    }
    // Stages that only held what was said before.
    let keep: Vec<bool> = (0..rows.len())
        .map(|i| {
            let row = &rows[i];
            let empty = row.stored.is_none() && row.words.is_none() && row.elements.is_none();
            !empty || rows.get(i + 1).is_some_and(|next| next.depth > row.depth)
        })
        .collect();
    let mut keep = keep.into_iter();
    rows.retain(|_| keep.next().unwrap_or(true));
    for (name, range) in &ranges.outputs {
        rows.push(plain(format!("output {name}"), *range));
    }
    rows
}

/// Two titles as one: "transform of a" and "transform of b" are "transform of a and b".
fn both(first: &str, second: &str) -> String {
    let common = first.split(' ').zip(second.split(' ')).take_while(|(a, b)| a == b).count();
    let rest: Vec<&str> = second.split(' ').skip(common).collect();
    if common == 0 {
        format!("{first}, {second}")
    } else {
        format!("{first} and {}", rest.join(" "))
    }
}

/// The ranges of a program by stage; `caption` is the sentence above it.
pub fn ranges(ranges: &Ranges, caption: &str) -> String {
    let rows = rows(ranges);
    let mut sheet = Sheet::new();
    let labels = rows
        .iter()
        .map(|r| width(&typeset(&r.title), 12.0) + 14.0 * r.depth as f64)
        .fold(180.0, f64::max)
        .min(420.0);
    // Room for a number: six characters, or eleven and their spaces.
    let number = if ranges.word_bits == 16 { 66.0 } else { 100.0 };
    let left = SIDE + labels + number;
    let full = left + SPAN + number + 12.0 + SIDE;
    let bottom = TOP + ROW * rows.len() as f64;
    let half = 1i64 << (ranges.word_bits - 1);
    let at = |v: i64| left + (v + half) as f64 / (2 * half - 1) as f64 * SPAN;

    sheet.title(caption);
    sheet.rect(SIDE, 44.0, 22.0, 10.0, "c0", 2.0);
    sheet.text(SIDE + 28.0, 53.0, "small note", Anchor::Start, "left in memory");
    sheet.rect(SIDE + 126.0, 46.5, 22.0, 5.0, "c5", 2.0);
    let said =
        "any intermediate value; numbers are the least and the greatest value left in memory";
    sheet.text(SIDE + 154.0, 53.0, "small note", Anchor::Start, said);
    for v in [-half, -half / 2, 0, half / 2, half - 1] {
        let class = if v.abs() > half / 2 { "limit" } else { "faint" };
        sheet.line((at(v), TOP - 8.0), (at(v), bottom + 4.0), class);
        let class = if class == "limit" { "number limit-text" } else { "number note" };
        sheet.text(at(v), TOP - 14.0, class, Anchor::Middle, &signed(v));
    }
    for (i, row) in rows.iter().enumerate() {
        let y = TOP + ROW * i as f64 + ROW / 2.0;
        let indent = SIDE + 14.0 * row.depth as f64;
        let nothing = row.stored.is_none() && row.words.is_none();
        let class = if nothing { "head" } else { "" };
        sheet.text(indent, y + 4.0, class, Anchor::Start, &typeset(&row.title));
        if let Some((lo, hi)) = row.words {
            sheet.rect(at(lo), y - 2.5, at(hi) - at(lo), 5.0, "c5", 2.5);
        }
        if let Some((lo, hi)) = row.stored {
            sheet.rect(at(lo), y - 6.0, (at(hi) - at(lo)).max(2.0), 12.0, "c0", 2.5);
            sheet.text(left - 8.0, y + 4.0, "number note", Anchor::End, &signed(lo));
            sheet.text(left + SPAN + 8.0, y + 4.0, "number note", Anchor::Start, &signed(hi));
        }
    }
    let wide = rows.iter().filter_map(|r| r.elements).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let mut height = bottom + 24.0;
    if let Some((lo, hi)) = wide {
        let said = format!(
            "{}-bit sums of products lie in [{}, {}].",
            2 * ranges.word_bits,
            signed(lo),
            signed(hi)
        );
        sheet.text(SIDE, bottom + 24.0, "small note", Anchor::Start, &said);
        height += 18.0;
    }
    sheet.finish(full, height, caption)
}
