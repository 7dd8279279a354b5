//! Whether a page shows what a command says: words and figures must agree, but for times and cycles, which are of one
//! run on one machine, and bytes of code and stack, which are of one compiler.

use std::ops::Range;

/// A word of a line, and whether another run may say another number in its place.
#[derive(Debug)]
struct Word<'a> {
    text: &'a str,
    varies: bool,
}

/// What follows a number that differs between runs.
const UNITS: &[&str] = &["s", "ms", "min", "cycles"];

/// Everything that a command said, line by line.
pub struct Said<'a>(Vec<Vec<Word<'a>>>);

impl<'a> Said<'a> {
    /// Reads an output; in a table the column of cycles is known by its heading.
    pub fn new(output: &'a str) -> Said<'a> {
        let (mut lines, mut cycles, mut heading) = (Vec::new(), Vec::new(), false);
        for line in output.lines() {
            match line.trim_start().chars().next() {
                Some('┌') => heading = true,
                Some('└') => cycles.clear(),
                Some('│') if heading => {
                    heading = false;
                    cycles =
                        columns(line).filter(|c| c.1.contains("cycles")).map(|c| c.0).collect();
                }
                _ => {}
            }
            lines.push(words(line, &cycles));
        }
        Said(lines)
    }

    /// Which line, from line `from` on, says what `shown` shows.
    pub fn find(&self, shown: &str, from: usize) -> Option<usize> {
        let shown = words(shown, &[]);
        let agree = |said: &Vec<Word>| {
            said.len() == shown.len() && said.iter().zip(&shown).all(|(a, b)| agree(a, b))
        };
        (from..self.0.len()).find(|&i| agree(&self.0[i]))
    }
}

fn agree(said: &Word, shown: &Word) -> bool {
    let number = |word: &Word| number(word.text).is_some();
    said.text == shown.text || said.varies && number(said) && number(shown)
}

/// The digits that a word starts with, and what is behind them: `115`, `0.3`, `9496,`.
fn number(word: &str) -> Option<&str> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    (end > 0 && word[end..].chars().all(|c| ",;:)".contains(c))).then_some(&word[end..])
}

/// Cells of a table's line with their places, counted in characters; at least two blanks are between them.
fn columns(line: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let mut cells: Vec<(Range<usize>, String)> = Vec::new();
    for (place, word) in places(line) {
        match cells.last_mut() {
            Some((range, cell)) if range.end + 1 >= place.start => {
                range.end = place.end;
                *cell += &format!(" {word}");
            }
            _ => cells.push((place, word.to_owned())),
        }
    }
    cells.into_iter()
}

/// Words with their places, counted in characters.
fn places(line: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    line.split_whitespace().map(move |word| {
        let start = line[..word.as_ptr() as usize - line.as_ptr() as usize].chars().count();
        (start..start + word.chars().count(), word)
    })
}

fn words<'a>(line: &'a str, cycles: &[Range<usize>]) -> Vec<Word<'a>> {
    let all: Vec<_> = places(line).filter(|(_, word)| *word != "(noisy)").collect();
    let of_a_compiler = line.contains("bytes of stack") || line.contains("bytes of code");
    let varies = |i: usize| {
        let here = &all[i].0;
        let next = all.get(i + 1).map_or("", |(_, w)| w.trim_end_matches([',', ';', ')', '.']));
        of_a_compiler
            || UNITS.contains(&next)
            || cycles.iter().any(|c| c.start < here.end && here.start < c.end)
    };
    (0..all.len())
        .map(|i| {
            // However long a rule is.
            let text = if all[i].1.contains(['─', '═']) { "─" } else { all[i].1 };
            Word { text, varies: varies(i) }
        })
        .collect()
}

#[test]
fn times_and_cycles_differ_between_runs_and_nothing_else() {
    let output = "\
┌──────────────────────────────────────────────────────────────┐
│ function   modelled cost   cycles   core cycles   outcome    │
╞══════════════════════════════════════════════════════════════╡
│ mul_avx2             628      256   5069 / 5302   proved in 1.9 s │
└──────────────────────────────────────────────────────────────┘
1761 reductions, none lower, 115 ms
target c: plan p, 1393 cycles, as w.toml remembers
bytes of stack: keypair 9496, enc 11256";
    let said = Said::new(output);
    for shown in [
        "│ mul_avx2    628  9999   1 / 20 (noisy)  proved in 12.5 s  │",
        "1761 reductions, none lower, 7 ms",
        "target c: plan p, 15 cycles, as w.toml remembers",
        "bytes of stack: keypair 1, enc 22",
        "└───┘",
    ] {
        assert!(said.find(shown, 0).is_some(), "{shown}: {:?}", said.0);
    }
    for shown in [
        "│ mul_avx2    629  256   5069 / 5302  proved in 1.9 s  │",
        "│ mul_avx2    628  256   5069 / 5302  refuted in 1.9 s  │",
        "│ mul_avx2    628  fast   5069 / 5302  proved in 1.9 s  │",
        "1762 reductions, none lower, 115 ms",
        "target c: plan q, 1393 cycles, as w.toml remembers",
        "bytes of stack: keypair 9496",
    ] {
        assert_eq!(said.find(shown, 0), None, "{shown}");
    }
    assert_eq!(said.find("1761 reductions, none lower, 115 ms", 6), None, "lines come in order");
}
