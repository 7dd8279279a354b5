//! No number of lanes, bytes or parts of a register stands in plans, lowering or language: only the
//! descriptions of `crates/targets` and the emitters hold such numbers.

use std::path::{Path, PathBuf};

/// What a register may hold: words, bytes, bits of it or of its parts.
const WIDTHS: [u64; 6] = [8, 16, 32, 64, 128, 256];

/// Lines that speak of bits of a word, of powers of two or of text, not of what a register holds.
const BITS: [&str; 9] =
    ["bits", "BITS", "1 << ", "<< 16", "SHORT", "lanes(16)", "lanes(32)", "powi(", "shr("];

/// Numbers that are no widths: file, part of the line, what they are.
const OTHERS: &[(&str, &str, &str)] = &[
    ("program/src/schedule.rs", "\"batch\"", "the most elements of a batch"),
    ("plan/src/binomial_crt.rs", "take(8)", "examples in a message"),
    ("plan/src/candidates.rs", "DEGREES", "degrees of rings"),
    ("plan/src/candidates.rs", "TOOMS", "a table's length"),
    ("plan/src/candidates.rs", "bound / 8", "room above a bound"),
    ("plan/src/candidates.rs", "5..=32", "sizes of products that are tried"),
    ("plan/src/direct.rs", "spec.len > 64", "the longest direct transform"),
    ("plan/src/plain.rs", "ALONE", "a cost in products"),
    ("plan/src/plain.rs", "NEAR", "how near terms of f are"),
    ("plan/src/shapes.rs", "room / 8", "the longest low part"),
    ("plan/src/substitute.rs", "d <= 64", "examples in a message"),
    ("plan/src/toeplitz_pair.rs", "TERMS", "terms of f"),
    ("plan/src/toom_cook.rs", "seven of a quarter", "2^16 in a text"),
    ("plan/src/toom_cook.rs", "difference2", "a coefficient of the method"),
    ("program/src/bounds.rs", "16 => self.reduced", "bits of a word"),
    ("program/src/build.rs", "BYTE", "bits of a byte"),
    ("program/src/lower/sums.rs", "TERMS", "terms of a sum"),
    ("program/src/lower/sums.rs", "GROUPS", "groups of rows"),
    ("program/src/lower/plain/mod.rs", "usize::from(to) / 8", "bytes of a word"),
    ("program/src/place.rs", "c <= 8", "the largest product by shifts"),
    ("program/src/schedule.rs", "karatsuba_from", "size of a product"),
    ("program/src/schedule.rs", "inner_products", "terms of a sum"),
    ("program/src/schedule.rs", "straight", "n of a transform"),
    ("program/src/schedule.rs", "\"unroll\"", "copies in a loop"),
    ("program/src/lower/blocks/mod.rs", "(_, 16) => Style::Pairs", "bits of a word"),
    ("program/src/lower/general/exact.rs", "TERMS", "terms of a round"),
    ("program/src/lower/general/finish.rs", "/ 2 + 8", "room above a residue"),
    ("program/src/lower/ntt/base.rs", "UNROLLED", "terms of straight-line code"),
    ("program/src/lower/split.rs", "root(", "a share of a word's range"),
    ("program/src/lower/two/leaf.rs", "STRAIGHT", "size of straight-line code"),
    ("program/src/lower/two/lifted.rs", "16 - self.q", "bits of a word"),
    ("program/src/settle/products.rs", "LONG", "bits of a word"),
    ("program/src/settle/products.rs", "q / 8", "room above a residue"),
];

fn files(under: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(under).unwrap_or_else(|e| panic!("{}: {e}", under.display())) {
        let path = entry.expect("a directory").path();
        match path.is_dir() {
            true => files(&path, found),
            false if path.extension().is_some_and(|e| e == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The numbers of a line of code, comments and texts left out.
fn numbers(line: &str) -> Vec<u64> {
    let code = line.split("//").next().unwrap_or_default();
    let code: String = code.split('"').step_by(2).collect();
    let code = code.replace("..", " ");
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.');
    code.split(word)
        .filter_map(|token| token.trim_end_matches("usize").trim_end_matches('.').parse().ok())
        .collect()
}

/// The code of a file, without its tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
}

#[test]
fn no_width_of_a_register_stands_outside_descriptions_and_emitters() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates");
    let mut all = Vec::new();
    for room in ["plan/src", "program/src"] {
        files(&crates.join(room), &mut all);
    }
    let (mut wrong, mut used) = (Vec::new(), vec![false; OTHERS.len()]);
    for path in &all {
        let name = path.strip_prefix(crates).expect("inside").to_string_lossy().into_owned();
        // Methods on words, the unsigned scheme and the language itself are about bits of words.
        let words =
            ["program/src/method", "program/src/unsigned", "program/src/ir", "program/src/expand"];
        if name.contains("test") || words.iter().any(|room| name.starts_with(room)) {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{name}: {e}"));
        for (number, line) in code(&text) {
            if !numbers(line).iter().any(|n| WIDTHS.contains(n))
                || BITS.iter().any(|b| line.contains(b))
            {
                continue;
            }
            let known =
                OTHERS.iter().position(|(file, part, _)| *file == name && line.contains(part));
            match known {
                Some(known) => used[known] = true,
                None => wrong.push(format!("{name}:{}: {}", number + 1, line.trim())),
            }
        }
    }
    assert!(all.len() > 50, "{} files", all.len());
    assert!(wrong.is_empty(), "ask the target's description:\n{}", wrong.join("\n"));
    let unused = OTHERS.iter().zip(used).filter(|(_, used)| !used).map(|(other, _)| other);
    let unused: Vec<_> = unused.collect();
    assert!(unused.is_empty(), "no longer there: {unused:?}");
}

#[test]
fn numbers_are_found() {
    assert_eq!(numbers("let lanes = 16; // 8"), [16]);
    assert_eq!(numbers("(0..8).map(|i| x[i + 16usize])"), [0, 8, 16]);
    assert_eq!(numbers("unsupported(\"(substitute 16 …)\", x1, 2)"), [2]);
}
