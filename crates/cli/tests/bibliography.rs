//! Every citation `[Key25 §3.2]` in the repository resolves in `BIBLIOGRAPHY.yml`, and every key
//! there is cited somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Keys are the unindented `Key:` lines of the file.
fn keys() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("BIBLIOGRAPHY.yml")).expect("BIBLIOGRAPHY.yml");
    let entry = |l: &str| l.strip_suffix(':').filter(|k| is_key(k)).map(str::to_owned);
    text.lines().filter_map(entry).collect()
}

/// A key is letters starting with a capital, then a two-digit year; manuals have no year.
fn is_key(s: &str) -> bool {
    let letters = s.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = s.len() - letters.len();
    let named = letters.len() >= 3
        && letters.starts_with(|c: char| c.is_ascii_uppercase())
        && letters.chars().all(|c| c.is_ascii_alphabetic());
    named && (digits == 2 || s == "SysV" || s == "IntelSDM")
}

/// The citations of one text: `[Key]` or `[Key §…]`, also several separated by `;`.
fn citations(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in text.split('[').skip(1) {
        let Some((inside, _)) = part.split_once(']') else { continue };
        for one in inside.split(';') {
            let key = one.trim().split([' ', ',', '\u{a0}']).next().unwrap_or("");
            if is_key(key) {
                found.push(key.to_owned());
            }
        }
    }
    found
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a readable directory") {
        let path = entry.expect("a directory entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "out" {
                files(&path, out);
            }
        } else if [".rs", ".md", ".plan", ".toml", ".c", ".h"].iter().any(|e| name.ends_with(e)) {
            out.push(path);
        }
    }
}

#[test]
fn every_citation_has_an_entry_and_every_entry_a_citation() {
    let known = keys();
    assert!(known.len() > 4, "the bibliography was not read: {known:?}");
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    let mut cited: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in paths {
        // Files that are not UTF-8 hold no citations of ours.
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // `.plan` files cite as `(cite Key)`.
        let plan_keys = text.split("(cite ").skip(1).filter_map(|p| p.split([')', ' ']).next());
        let all = citations(&text).into_iter().chain(plan_keys.map(str::to_owned));
        for key in all.filter(|k| is_key(k)) {
            cited.entry(key).or_insert_with(|| path.clone());
        }
    }
    for (key, path) in &cited {
        // The examples of this file's own documentation.
        if key != "Key25" {
            assert!(
                known.contains(key),
                "{} cites [{key}], not in BIBLIOGRAPHY.yml",
                path.display()
            );
        }
    }
    for key in &known {
        assert!(cited.contains_key(key), "nothing cites [{key}] of BIBLIOGRAPHY.yml");
    }
}
