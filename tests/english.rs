//! The pages are in plain English, as far as a program can tell: short sentences, none of the words that only this
//! project used, and few words in all. `--nocapture` prints how many each page has.

use std::path::{Path, PathBuf};

/// Words of a sentence, outside tables and code.
const LONGEST: usize = 30;

/// Words of all pages together, without results, generated pages, tables and code.
const ALL: usize = 30_000;

/// What is not ours to say, and what a native engineer says.
const NOT_OURS: &[(&str, &str)] = &[
    ("seed 00", "the paper's key, such as [Hwang24]"),
    ("the seed's", "the paper's, or the original"),
    ("reckoned", "estimated"),
    ("published answer", "known-answer test"),
    ("by its definition", "schoolbook"),
    ("by their definition", "schoolbook"),
    ("by definition", "schoolbook"),
    ("the definition is", "schoolbook"),
    ("words without sign", "unsigned arithmetic"),
    ("without sign", "unsigned"),
    ("is told", "is tracked, is stated"),
    ("are told", "are tracked, are stated"),
    ("who is tried", "which plans are tried"),
    ("takes constant time", "runs in constant time"),
    ("it is constant time", "it runs in constant time"),
    ("are constant time", "run in constant time"),
    ("who takes", "if you take"),
    ("who calls", "the caller"),
    ("of which", "a clause of its own"),
    ("by now", "now, or nothing"),
    ("as they come", "in that order, in place"),
    ("makes room for", "is replaced by"),
    ("in room for", "with space for"),
    ("no operand", "invalid operand"),
    ("a test keeps", "a test checks"),
    ("a test tells", "a test checks"),
    ("tests keep", "tests check"),
    ("the rooms", "the crates"),
    ("its rooms", "its crates"),
    ("a room", "a crate"),
    ("no room", "no space, no crate"),
    ("other room", "other crate"),
    ("towers", "mixed-radix reconstruction"),
    ("twos", "arithmetic modulo 2^k"),
    ("cones", "enumerated functions"),
    ("spelled out", "unfolded"),
    ("spells out", "unfolds"),
    ("respells", "unfolds"),
    ("dearer", "more expensive"),
    ("stands for", "represents, means"),
    ("that there are not", "spills"),
    ("is no vector", "is not a vector"),
    ("in vain", "without success"),
    ("for ever", "permanently"),
    ("taking a kem", "using the KEM library"),
    ("neighbour was busy", "other load"),
    ("goes on with", "continues with"),
    ("otherwise than", "differs from"),
    ("likewise", "also"),
    ("beside it", "next to it, also"),
    ("is done with", "uses"),
    ("wants to be", "should be"),
    ("there is nothing to", "you need not"),
    ("can do with", "need"),
];

/// Pages that a program writes.
const GENERATED: &[&str] = &["docs/developers/methods.md", "docs/results/zoo.md"];

/// Crates whose doc comments are held to the same.
const DOCUMENTED: &[&str] = &[
    "certificate",
    "cli",
    "contract",
    "emit",
    "interpret",
    "kem",
    "kernel",
    "machine",
    "mutate",
    "plan",
    "program",
    "prove",
    "ring",
    "targets",
    "testing",
    "toolchain",
    "tune",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every page, by its path below the root.
fn pages() -> Vec<String> {
    let folders = |dir: &str| -> Vec<String> {
        let entries = std::fs::read_dir(root().join(dir)).expect("the source tree").flatten();
        entries
            .filter(|e| e.path().is_dir())
            .map(|e| format!("{dir}/{}", e.file_name().to_string_lossy()))
            .collect()
    };
    let mut dirs: Vec<String> =
        [".", "docs", "docs/developers", "docs/results", "bench", "lib", "python"]
            .map(str::to_owned)
            .into();
    dirs.extend(folders("crates"));
    dirs.extend(folders("bench"));
    let mut found = Vec::new();
    for dir in dirs {
        for entry in std::fs::read_dir(root().join(&dir)).expect("the source tree").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // `conditions.md` is the kernel's register of side conditions, a table for its tests.
            if name.ends_with(".md") && !name.starts_with("LICENSE") && name != "conditions.md" {
                found.push(format!("{dir}/{name}").trim_start_matches("./").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The paragraphs of a page as a reader hears them: no code, no tables, links by their texts, with their lines.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let (mut code, mut figures, mut opened) = (false, false, false);
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            code = !code;
            opened = false;
            continue;
        }
        figures |= trimmed.starts_with("<!-- figures");
        let skipped = code || figures || trimmed.starts_with('|') || trimmed.starts_with("<!--");
        figures &= !trimmed.starts_with("<!-- end");
        // Four blanks are code, unless a list goes on.
        let indented = line.starts_with("    ") && !opened;
        if skipped || indented || trimmed.is_empty() {
            opened = false;
            continue;
        }
        let item = ["- ", "* ", "> "].iter().find_map(|mark| trimmed.strip_prefix(mark));
        let numbered =
            trimmed.split_once(". ").filter(|(n, _)| n.chars().all(|c| c.is_ascii_digit()));
        let heading = trimmed.starts_with('#');
        let start = item.is_some() || numbered.is_some() || heading || !opened;
        let words = item.or(numbered.map(|(_, rest)| rest)).unwrap_or(trimmed);
        match all.last_mut() {
            Some((_, paragraph)) if !start => *paragraph += &format!(" {words}"),
            _ => all.push((number + 1, words.trim_start_matches('#').trim().to_owned())),
        }
        opened = !heading;
    }
    all.into_iter().map(|(line, paragraph)| (line, spoken(&paragraph))).collect()
}

/// A paragraph with `code` as one word and [links](file) and pictures as their texts.
fn spoken(paragraph: &str) -> String {
    let mut out = String::new();
    for (i, part) in paragraph.split('`').enumerate() {
        out += if i % 2 == 1 { "CODE" } else { part };
    }
    let mut text = String::new();
    let mut rest = out.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        text += &before.replace(['[', '!'], "");
        rest = after.split_once(')').map_or("", |(_, behind)| behind);
    }
    (text + rest).replace("**", "").replace(['[', ']'], "")
}

/// Sentences: what ends in a full stop, a question mark or an exclamation mark before a blank and something that is
/// no small letter.
fn sentences(paragraph: &str) -> Vec<String> {
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let (mut all, mut from) = (Vec::new(), 0);
    for (i, word) in words.iter().enumerate() {
        let bare = word.trim_end_matches(['*', '_', ')', '"', '”']);
        let next = words.get(i + 1).and_then(|w| w.chars().find(|c| !"*_(\"“".contains(*c)));
        let ours =
            words.get(i + 1).is_some_and(|w| w.starts_with("ringforge") || w.starts_with("ntru"));
        let ends =
            bare.ends_with(['.', '?', '!']) && (ours || next.is_none_or(|c| !c.is_lowercase()));
        if ends || i + 1 == words.len() {
            all.push(words[from..=i].join(" "));
            from = i + 1;
        }
    }
    all
}

/// How many words somebody reads: what has a letter or a digit.
fn count(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|w| w.chars().any(char::is_alphanumeric)).count()
}

/// What is wrong with a page, a line for each.
fn faults(page: &str, text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (line, paragraph) in paragraphs(text) {
        for sentence in sentences(&paragraph) {
            let words = count(&sentence);
            if words > LONGEST {
                all.push(format!("{page}, line {line}: {words} words: {sentence}"));
            }
        }
        let lower = format!(" {} ", paragraph.to_lowercase());
        for (not, instead) in NOT_OURS {
            let found = lower.match_indices(not).any(|(at, _)| {
                let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let behind = lower[at + not.len()..].chars().next();
                !letter(lower[..at].chars().next_back())
                    && (!letter(behind) || not.ends_with(|c: char| c.is_ascii_digit()))
            });
            if found {
                all.push(format!("{page}, line {line}: `{not}`; say: {instead}"));
            }
        }
    }
    all
}

#[test]
fn every_page_is_in_plain_english() {
    let (mut all, mut total, mut bad) = (pages(), 0, Vec::new());
    assert!(all.len() > 20, "{all:?}");
    all.retain(|page| !GENERATED.contains(&page.as_str()));
    for page in &all {
        let text = std::fs::read_to_string(root().join(page)).expect("a page");
        let words: usize = paragraphs(&text).iter().map(|(_, p)| count(p)).sum();
        let found = faults(page, &text);
        println!("{words:6} words, {:3} faults: {page}", found.len());
        if !page.starts_with("docs/results/") {
            total += words;
        }
        bad.extend(found);
    }
    println!("{total:6} words without results");
    assert!(bad.is_empty(), "{} faults:\n{}", bad.len(), bad.join("\n"));
    assert!(total <= ALL, "{total} words, at most {ALL}");
    for page in GENERATED {
        assert!(root().join(page).exists(), "{page} is gone");
    }
}

/// The doc comments of a source, as a page with the same lines.
fn comments(source: &str) -> String {
    let comment = |line: &str| -> String {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or(line.strip_prefix("//!")).unwrap_or("");
        text.strip_prefix(' ').unwrap_or(text).to_owned() + "\n"
    };
    source.lines().map(comment).collect()
}

#[test]
fn doc_comments_are_in_plain_english() {
    let mut open: Vec<PathBuf> =
        DOCUMENTED.iter().map(|name| root().join(format!("crates/{name}/src"))).collect();
    let (mut words, mut bad) = (0, Vec::new());
    while let Some(path) = open.pop() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).expect("a folder").flatten().map(|e| e.path()));
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            let page = comments(&std::fs::read_to_string(&path).expect("a source"));
            words += paragraphs(&page).iter().map(|(_, p)| count(p)).sum::<usize>();
            bad.extend(faults(&path.display().to_string(), &page));
        }
    }
    println!("{words:6} words in doc comments");
    assert!(words > 5_000, "{words} words");
    assert!(bad.is_empty(), "{} faults:\n{}", bad.len(), bad.join("\n"));
    let planted = "fn f() {}\n    /// As seed 003 says.\n// Reckoned.\n";
    assert_eq!(faults("f.rs", &comments(planted)).len(), 1);
}

#[test]
fn a_planted_sentence_is_found() {
    let long = "the bound holds ".repeat(11);
    let cases = [
        (format!("A first one. Then {long}.\n"), 1),
        (format!("- In a list\n  {long}.\n"), 1),
        (format!("Text.\n\n> {long}.\n"), 1),
        ("As seed 003 says.\n".to_owned(), 1),
        ("The table is made by now, of which two are told.\n".to_owned(), 3),
        ("Cycles are *reckoned*, and Reckoned again.\n".to_owned(), 1),
        // Not these: tables, code, longer words, short sentences one after the other.
        (format!("| {long} |\n|---|\n"), 0),
        (format!("```sh\n{long}\n```\n"), 0),
        ("Use `reckoned` cycles.\n".to_owned(), 0),
        ("A known answer. The prereckoned one.\n".to_owned(), 0),
        ("The bound holds here. ".repeat(20), 0),
        (format!("<!-- figures: cycles -->\n{long}\n<!-- end -->\n"), 0),
        ("It fits (see [the page on everything that fits](a-b.md)). It fits.\n".to_owned(), 0),
    ];
    for (text, expected) in cases {
        let found = faults("page", &text);
        assert_eq!(found.len(), expected, "{text}\n{found:?}");
    }
    // A sentence of exactly the most is kept, one more is not.
    let most = vec!["word"; LONGEST].join(" ");
    assert!(faults("page", &format!("{most}.")).is_empty());
    assert_eq!(faults("page", &format!("{most} more.")).len(), 1);
}

/// What the prover's code says as reasons: texts in `unmodelled(…)` and the like.
fn reasons(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for opening in ["unmodelled(", "Err(", "ok_or(", "No::Open("] {
        for rest in source.split(opening).skip(1) {
            let text = rest.trim_start().strip_prefix('"').and_then(|r| r.split('"').next());
            // A sentence without numbers of one run.
            found.extend(
                text.filter(|t| t.contains(' ') && !t.contains(['{', '`'])).map(str::to_owned),
            );
        }
    }
    found
}

#[test]
fn every_reason_for_unknown_is_explained() {
    let page = std::fs::read_to_string(root().join("docs/unknown.md")).expect("the page");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let sources = ["crates/prove/src", "crates/kernel/src/map"];
    let (mut open, mut all) = (sources.map(|s| root().join(s)).to_vec(), Vec::new());
    while let Some(path) = open.pop() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).expect("a folder").flatten().map(|e| e.path()));
        } else if !name.contains("tests") && name != "text.rs" {
            let source = std::fs::read_to_string(&path).expect("a source");
            all.extend(reasons(source.split("#[cfg(test)]").next().unwrap_or("")));
        }
    }
    assert!(all.len() > 20, "{all:?}");
    let missing: Vec<&String> = all.iter().filter(|r| !page.contains(r.as_str())).collect();
    assert!(missing.is_empty(), "docs/unknown.md does not explain {missing:#?}");
    let report =
        std::fs::read_to_string(root().join("crates/prove/src/report.rs")).expect("report.rs");
    let kinds = report.split("pub enum ReasonKind {").nth(1).and_then(|r| r.split('}').next());
    let mut seen = 0;
    for name in kinds.expect("the kinds").lines().filter_map(|l| l.trim().strip_suffix(',')) {
        let kebab = name.chars().enumerate().flat_map(|(i, c)| {
            let dash = (i > 0 && c.is_uppercase()).then_some('-');
            dash.into_iter().chain(c.to_lowercase())
        });
        let kebab = kebab.collect::<String>();
        assert!(page.contains(&format!("`{kebab}`")), "docs/unknown.md has no `{kebab}`");
        seen += 1;
    }
    assert!(seen >= 9, "{seen} kinds");
    // What is not on the page would be seen.
    assert_eq!(reasons("self.unmodelled(\n \"a new reason\")"), ["a new reason"]);
    assert!(!page.contains("a new reason"));
}
