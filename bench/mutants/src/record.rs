//! What became of each mutant, and the file that says so.

use crate::list::{Genre, Mutant};
use crate::run::{Outcome, Told};
use crate::source::{Kind, Site, bytes};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mutant in words that stay the same while lines move: file, function, what was there and what is there instead.
pub fn change(mutant: &Mutant, text: &str, sites: &[Site]) -> String {
    let (_, file) = mutant.file.split_once("/src/").unwrap_or(("", &mutant.file));
    let function = mutant.function.as_ref().map_or("a constant", |f| &f.function_name);
    let own = bytes(text, mutant);
    let short = |range: Range<usize>, end: bool| {
        let words: Vec<&str> = text[range].split_whitespace().collect();
        let all: Vec<char> = words.join(" ").chars().collect();
        match (all.len() > 40, end) {
            (false, _) => all.into_iter().collect::<String>(),
            (true, true) => format!("…{}", all[all.len() - 40..].iter().collect::<String>()),
            (true, false) => format!("{}…", all[..40].iter().collect::<String>()),
        }
    };
    let new = &mutant.replacement;
    let is = match mutant.genre {
        Genre::FnValue => format!("the body → {new}"),
        Genre::MatchArm => format!("without the arm {}", short(own, false)),
        Genre::MatchArmGuard => format!("if {} → {new}", short(own, false)),
        Genre::Refusal => format!("never if {}", short(own, false)),
        Genre::StructField => format!("without the field {}", short(own, false)),
        Genre::UnaryOperator | Genre::BinaryOperator => {
            let around = sites.iter().find_map(|s| match &s.kind {
                Kind::Binary { left, right, op } | Kind::Assign { left, right, op }
                    if left.end <= own.start && own.end <= right.start =>
                {
                    Some(format!(
                        "{} {op} {}",
                        short(left.clone(), true),
                        short(right.clone(), false)
                    ))
                }
                Kind::Unary { .. } if s.range.start == own.start => {
                    Some(short(s.range.clone(), false))
                }
                _ => None,
            });
            let around = around.unwrap_or_else(|| {
                let line = text[..own.start].rfind('\n').map_or(0, |x| x + 1);
                let end = text[own.end..].find('\n').map_or(text.len(), |x| own.end + x);
                format!("{} in {}", &text[own], short(line..end, false))
            });
            let new = if new.is_empty() { "left out" } else { new };
            format!("{around} → {new}")
        }
    };
    format!("{file}, {function}: {is}")
}

/// Outcomes by line, kept on the disk while they come in.
pub struct Results {
    all: BTreeMap<String, Told>,
    path: PathBuf,
}

/// Which outcomes of the last time are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None.
    None,
    /// What was not missed.
    Noticed,
    /// All.
    All,
}

impl Results {
    /// What is kept of the last time.
    ///
    /// # Errors
    /// If the file system fails.
    pub fn new(scratch: &Path, keep: Keep) -> Result<Results> {
        let path = scratch.join("outcomes.txt");
        let mut all = BTreeMap::new();
        if keep == Keep::None {
            std::fs::write(&path, "")?;
        } else {
            let known = std::fs::read_to_string(&path).context("no outcomes of the last time")?;
            for line in known.lines() {
                let mut cells = line.splitn(3, '\t');
                let mut cell = || cells.next().unwrap_or_default();
                let (word, test, name) = (cell(), cell(), cell());
                let outcome = OUTCOMES.iter().find(|o| o.1 == word);
                let (outcome, _) =
                    outcome.with_context(|| format!("{}: {line}", path.display()))?;
                all.insert(name.to_string(), (*outcome, test.to_string()));
            }
            let missed = [Outcome::Missed, Outcome::MissedQuick];
            all.retain(|_, o| keep == Keep::All || !missed.contains(&o.0));
        }
        Ok(Results { all, path })
    }

    /// What became of a mutant, if it was run.
    pub fn of(&self, line: &str) -> Option<Outcome> {
        self.all.get(line).map(|o| o.0)
    }

    /// Adds one.
    ///
    /// # Errors
    /// If the file system fails.
    pub fn add(&mut self, line: &str, told: Told) -> Result<()> {
        let word = OUTCOMES.iter().find(|o| o.0 == told.0).map_or("missed", |o| o.1);
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&self.path)?;
        writeln!(file, "{word}\t{}\t{line}", told.1)?;
        if !matches!(told.0, Outcome::Caught | Outcome::Uncompiled) {
            println!("{word}: {line}");
        }
        self.all.insert(line.to_string(), told);
        Ok(())
    }

    /// Writes the record.
    ///
    /// # Errors
    /// If git or the file system fails.
    pub fn write(&self, root: &Path, path: &Path, lines: &[String], named: usize) -> Result<()> {
        let head = Command::new("git")
            .args(["rev-parse", "--short", "HEAD"])
            .current_dir(root)
            .output()?;
        let rustc = Command::new("rustc").arg("--version").output()?;
        let words = |out: Vec<u8>| String::from_utf8_lossy(&out).trim().to_string();
        let mut out = format!(
            "Written by bench/mutants: cargo-mutants 27.1, {}, release with checks of overflow, on top of {}.\n\n",
            words(rustc.stdout),
            words(head.stdout)
        );
        let (mutants, refusals) = lines.split_at(named);
        let of = |all: &[String], o: Outcome| -> Vec<String> {
            all.iter().filter(|l| self.of(l) == Some(o)).cloned().collect()
        };
        for (name, all) in [("mutants", mutants), ("refusals", refusals)] {
            writeln!(out, "{name} {}", all.len())?;
            for (outcome, word) in OUTCOMES {
                writeln!(out, "{name} {word} {}", of(all, outcome).len())?;
            }
            let unknown = all.iter().filter(|l| !self.all.contains_key(*l)).count();
            if unknown > 0 {
                writeln!(out, "{name} not-run {unknown}")?;
            }
        }
        out.push('\n');
        for line in refusals {
            if let Some((Outcome::Caught | Outcome::OutOfTime, test)) = self.all.get(line) {
                writeln!(out, "noticed by {test}: {line}")?;
            }
        }
        for (outcome, word) in &OUTCOMES[1..] {
            let listed = *outcome != Outcome::Uncompiled;
            for line in of(lines, *outcome).iter().filter(|_| listed) {
                writeln!(out, "{word}: {line}")?;
            }
        }
        std::fs::write(path, out).with_context(|| path.display().to_string())
    }
}

const OUTCOMES: [(Outcome, &str); 5] = [
    (Outcome::Caught, "caught"),
    (Outcome::OutOfTime, "out-of-time"),
    (Outcome::Uncompiled, "not-compiled"),
    (Outcome::Missed, "missed"),
    (Outcome::MissedQuick, "missed-by-quick-tests"),
];
