//! Lane counts, register widths and processors' names stand in descriptions and emitters alone.

use std::path::{Path, PathBuf};

/// Rooms that ask a description.
const ROOMS: [&str; 5] = ["plan", "program", "interpret", "tune", "cli"];

/// Names of machines that no other room's code knows; strings for people may hold them.
const NAMES: [&str; 11] = [
    "zen",
    "ryzen",
    "epyc",
    "skylake",
    "haswell",
    "icelake",
    "cortex",
    "neoverse",
    "__m256",
    "__m128",
    "immintrin",
];

fn sources(room: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(room).unwrap_or_else(|e| panic!("{}: {e}", room.display()));
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|e| e == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The code of a line: no comment, and no string, where widths are words for people.
fn code(line: &str) -> String {
    let line = line.split("//").next().unwrap_or("");
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"").to_lowercase()
}

/// What of a line is a width that only a description may hold.
fn width(code: &str) -> Option<&'static str> {
    let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let has = |word: &str| words.contains(&word);
    if let Some(name) = NAMES.iter().find(|name| has(name)) {
        return Some(name);
    }
    let spaceless: String = code.split_whitespace().collect();
    // Registers and parts in bits, over the bits of a word.
    let divided = ["128/", "256/", "512/"].into_iter().find(|width| {
        spaceless
            .match_indices(width)
            .any(|(at, _)| !spaceless[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    if divided.is_some() {
        return divided;
    }
    // Numbers of words that a register or a part holds.
    let number = ["4", "8", "16", "32", "64"].into_iter().find(|n| has(n));
    let lanes = words.iter().any(|word| ["lanes", "lane_count", "part_words"].contains(word));
    let compared = ["lanes==", "lanes!=", "lanes:", "lanes=", "lanes<", "lanes>", "lanes:usize="];
    match number {
        Some(_) if lanes => {
            // The bits of words are asked for by number.
            let asked = spaceless.replace("lanes(16)", "").replace("lanes(32)", "");
            compared.into_iter().find(|c| {
                asked
                    .match_indices(c)
                    .any(|(at, c)| asked[at + c.len()..].starts_with(|d: char| d.is_ascii_digit()))
            })
        }
        _ => ["next_multiple_of(16)", "is_multiple_of(16)", "step_by(16)", "%16", "array<i16,16>"]
            .into_iter()
            .find(|c| spaceless.contains(c)),
    }
}

#[test]
fn no_room_but_descriptions_and_emitters_holds_a_width() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    let mut looked = 0;
    for room in ROOMS {
        let mut all = Vec::new();
        sources(&crates.join(room).join("src"), &mut all);
        for path in all {
            let text = std::fs::read_to_string(&path).expect("a source");
            // Tests behind the code try what they like.
            let text = text.split("#[cfg(test)]").next().unwrap_or("");
            let tests = path.file_stem().is_some_and(|s| s.to_string_lossy().ends_with("tests"));
            for (number, line) in text.lines().enumerate().filter(|_| !tests) {
                looked += 1;
                if let Some(what) = width(&code(line)) {
                    found.push(format!(
                        "{}:{}: {what}: {}",
                        path.display(),
                        number + 1,
                        line.trim()
                    ));
                }
            }
        }
    }
    assert!(looked > 10_000, "only {looked} lines were looked at");
    assert!(found.is_empty(), "widths outside of descriptions:\n{}", found.join("\n"));
}

#[test]
fn widths_are_seen_where_they_are() {
    for line in [
        "lanes: 256 / usize::from(bits),",
        "if lanes != 16 {",
        "pub const LANES: usize = 16;",
        "let words = n.next_multiple_of(16);",
        "let cycles = zen(4);",
    ] {
        assert!(width(&code(line)).is_some(), "{line}");
    }
    for line in [
        "let lanes = target.registers.lanes(16);",
        "// registers of 256 / 16 words",
        "let message = \"lanes = 16\";",
        "let bits = if short { 16 } else { 32 };",
        "let scaled = 1256 / n;",
    ] {
        assert_eq!(width(&code(line)), None, "{line}");
    }
}
