//! The page `docs/results/zoo.md`.

use crate::manifest::{Function, Library};
use serde::Deserialize;
use std::time::Duration;

/// Characters of a formula that the table has room for.
const SHOWN: usize = 60;

/// What a contract says, as far as the table shows it.
#[derive(Deserialize)]
pub struct Said {
    /// The function.
    pub symbol: String,
    ring: Option<String>,
    computes: String,
    pairs: Option<usize>,
    argument: Vec<Argument>,
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    role: String,
    range: Option<[i64; 2]>,
    exit: Option<[i64; 2]>,
    formula: Option<String>,
}

/// What `ringforge prove --json` prints, as far as the table shows it.
#[derive(Deserialize)]
pub struct Report {
    objects: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    verdict: String,
    #[serde(default)]
    reasons: Vec<Reason>,
    ranges: Ranges,
    counts: Counts,
}

#[derive(Deserialize)]
struct Reason {
    text: String,
    instruction: Option<String>,
}

#[derive(Deserialize)]
struct Ranges {
    output: Option<(i64, i64)>,
}

#[derive(Deserialize)]
struct Counts {
    instructions: u64,
}

/// A row of the table.
pub struct Outcome {
    /// The contract's name.
    pub name: String,
    /// `proved`, `refuted`, `unknown`.
    pub verdict: String,
    /// The first reason; empty if there is none.
    pub reason: String,
    package: String,
    code: String,
    what: String,
    entry: String,
    exit: String,
    instructions: String,
    time: String,
}

fn interval((lo, hi): (i64, i64)) -> String {
    if lo == -hi && hi > 0 { format!("±{hi}") } else { format!("[{lo}, {hi}]") }
}

impl Outcome {
    fn empty(f: &Function, said: &Said) -> Outcome {
        let entry = said.argument.iter().filter(|a| matches!(a.role.as_str(), "input" | "inout"));
        let entry: Vec<String> = entry
            .filter_map(|a| Some(format!("{} {}", a.name, interval(a.range?.into()))))
            .collect();
        let written = said.argument.iter().find(|a| matches!(a.role.as_str(), "output" | "inout"));
        let exit = written.and_then(|a| a.exit.or(a.range));
        let pairs = said.pairs.map(|k| format!(" of {k}")).unwrap_or_default();
        let written_as = |a: &Argument| Some((a.name.clone(), a.formula.clone()?));
        let what = match (&said.ring, said.argument.iter().find_map(written_as)) {
            (Some(ring), _) => format!("{}{pairs}, {ring}", said.computes),
            (None, Some((name, formula))) if formula.len() <= SHOWN => {
                format!("`{name} = {formula}`")
            }
            (None, Some(_)) => "`map`".into(),
            (None, None) => format!("`{}`", said.computes),
        };
        Outcome {
            name: f.name.clone(),
            verdict: "unknown".into(),
            reason: String::new(),
            package: f.package.clone(),
            code: f.code.clone(),
            what,
            entry: entry.join(", "),
            exit: exit.map(|e| interval(e.into())).unwrap_or_default(),
            instructions: String::new(),
            time: String::new(),
        }
    }

    /// The row of a report.
    pub fn new(f: &Function, said: &Said, report: Report, seconds: f64) -> Outcome {
        let mut row = Outcome::empty(f, said);
        row.time = format!("{seconds:.1} s");
        if let Some(one) = report.objects.into_iter().next() {
            row.verdict = one.verdict;
            row.instructions = one.counts.instructions.to_string();
            if let Some(found) = one.ranges.output {
                row.exit = format!("{}, found {}", row.exit, interval(found));
            }
            if let Some(reason) = one.reasons.into_iter().next() {
                row.reason = match reason.instruction {
                    Some(i) if !reason.text.contains(&i) => format!("{} (`{i}`)", reason.text),
                    _ => reason.text,
                };
            }
        }
        row
    }

    /// The row of a proof that was stopped.
    pub fn stopped(f: &Function, said: &Said, limit: Duration) -> Outcome {
        let mut row = Outcome::empty(f, said);
        row.reason = format!("stopped after {} s", limit.as_secs());
        row
    }
}

/// A line of the table, and what stands below it where the function is not proved.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    line: String,
    reason: Option<String>,
}

impl Outcome {
    /// Its row.
    pub fn row(&self) -> Row {
        let o = self;
        let line = format!(
            "| [{}](../../contracts/zoo/{0}.toml) | {}, {} | {} | {} | {} | {} | {} | {} |",
            o.name, o.package, o.code, o.what, o.entry, o.exit, o.instructions, o.time, o.verdict
        );
        let reason = format!("- `{}`, {}: {}", o.name, o.verdict, o.reason);
        Row { line, reason: (o.verdict != "proved").then_some(reason) }
    }
}

/// The row of a function in a page that is there.
pub fn row_of(page: &str, name: &str) -> Option<Row> {
    let find = |start: String| page.lines().find(|l| l.starts_with(&start)).map(str::to_string);
    let line = find(format!("| [{name}]("))?;
    Some(Row { line, reason: find(format!("- `{name}`, ")) })
}

/// The table, and below it why the others are not proved.
pub fn table(rows: &[Row]) -> String {
    let lines: Vec<&str> = rows.iter().map(|row| row.line.as_str()).collect();
    let proved = proved(&lines.join("\n")).len();
    let mut text = format!("{proved} of {} are proved.\n\n", rows.len());
    text += "| contract | crate, code | computes | at entry | at exit | instructions | time | verdict |\n";
    text += "|---|---|---|---|---|---:|---:|---|\n";
    lines.iter().for_each(|line| text += &format!("{line}\n"));
    let reasons: Vec<&str> = rows.iter().filter_map(|row| row.reason.as_deref()).collect();
    if !reasons.is_empty() {
        text += "\nThe others, and what stops the proof:\n\n";
        reasons.iter().for_each(|line| text += &format!("{line}\n"));
    }
    text
}

/// Names that a page calls proved.
pub fn proved(page: &str) -> Vec<&str> {
    page.lines()
        .filter(|line| line.ends_with("| proved |"))
        .filter_map(|line| line.strip_prefix("| [")?.split_once(']'))
        .map(|(name, _)| name)
        .collect()
}

/// The whole page.
pub fn page(sections: &[(&Library, Vec<Row>)], twins: usize) -> String {
    let all = sections.iter().flat_map(|s| &s.1);
    let lines: Vec<&str> = all.map(|row| row.line.as_str()).collect();
    let (count, proved) = (lines.len(), proved(&lines.join("\n")).len());
    let mut table = format!(
        "{proved} of {count} are proved. {twins} contracts were also changed in one place, and all of these are refuted.\n"
    );
    for (library, rows) in sections {
        table += &format!("\n## {}\n\n{}\n\n", library.name, library.about.trim());
        if !rows.is_empty() {
            table += &format!("{}\n", self::table(rows));
        }
        table += &format!("**Missing**: {}\n", library.missing.trim());
    }
    format!(
        "<!-- generated by `cargo run --release --manifest-path bench/Cargo.toml -p zoo -- --out docs/results/zoo.md`, do not edit -->\n\
# The zoo\n\n\
These functions come from crates of the Rust registry, and other people wrote them. Each has a contract in\n\
`contracts/zoo/`; [prove.md](../prove.md) explains how to write one. Nobody annotated the code.\n\n\
Debian's `gcc-aarch64-linux-gnu` compiles Neon code from the crates' sources.\n\n\
Some functions need something that a contract cannot express. Then a shim of a few lines of C (`bench/zoo/shims`)\n\
is linked around the function, and the prover checks both together.\n\n\
```sh\n\
cargo build --release\n\
cargo run --release --manifest-path bench/Cargo.toml -p zoo -- --out docs/results/zoo.md\n\
```\n\n\
*At exit* gives the promised interval and the one that the prover found. Times cover the whole command on the\n\
machine that produced the row, whatever else that machine was doing. To update single rows, name their functions.\n\n{table}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_calls_proved_is_read_back() {
        let row = |name: &str, verdict: &str| Outcome {
            name: name.into(),
            verdict: verdict.into(),
            reason: "why".into(),
            package: "p".into(),
            code: "c".into(),
            what: "w".into(),
            entry: interval((-3, 3)),
            exit: interval((0, 3)),
            instructions: "1".into(),
            time: "1.0 s".into(),
        };
        let rows = [row("a", "proved"), row("b", "unknown"), row("c", "proved")];
        let rows = rows.map(|o| o.row());
        let library =
            Library { name: "L".into(), about: "What it is.".into(), missing: "All.".into() };
        let page = page(&[(&library, rows.to_vec())], 5);
        assert!(page.contains("## L\n\nWhat it is.\n") && page.ends_with("**Missing**: All.\n"));
        assert_eq!(proved(&page), ["a", "c"]);
        for (row, name) in rows.iter().zip(["a", "b", "c"]) {
            assert_eq!(row_of(&page, name).as_ref(), Some(row));
        }
        assert_eq!(row_of(&page, "d"), None);
        assert!(page.contains("2 of 3 are proved"));
        assert!(page.contains("- `b`, unknown: why"));
        assert!(page.contains("| ±3 | [0, 3] |"));
    }
}
