//! What must be right stays small and apart: the lines of each trusted crate stand in SOUNDNESS.md, and no crate depends
//! on one below it.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lines of code of a crate: without tests, comments and empty lines.
fn lines(dir: &Path) -> usize {
    let mut sum = 0;
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            sum += if name == "tests" { 0 } else { lines(&path) };
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let counts = |l: &&str| !l.trim().is_empty() && !l.trim_start().starts_with("//");
            sum += code.lines().filter(counts).count();
        }
    }
    sum
}

/// `| crates/NAME | 1,234 | …` in SOUNDNESS.md is what is there, within five per cent.
#[test]
fn line_counts_of_the_trusted_crates_are_stated() {
    let text = std::fs::read_to_string(root().join("SOUNDNESS.md")).expect("SOUNDNESS.md");
    for name in ["ring", "contract", "machine", "kernel"] {
        let head = format!("| `crates/{name}` | ");
        let row = text.lines().find_map(|l| l.strip_prefix(&head));
        let row = row.unwrap_or_else(|| panic!("SOUNDNESS.md has no row `{head}…`"));
        let stated = row.split(' ').next().unwrap_or_default().replace(',', "");
        let stated: usize = stated.parse().expect("a number of lines");
        let found = lines(&root().join(format!("crates/{name}/src")));
        assert!(
            stated.abs_diff(found) * 20 <= found,
            "crates/{name} has {found} lines, SOUNDNESS.md says {stated}"
        );
    }
}

/// The crates that a crate's manifest names, tests apart.
fn needs(name: &str) -> Vec<String> {
    let path = root().join(format!("crates/{name}/Cargo.toml"));
    let text = std::fs::read_to_string(path).expect("a manifest");
    let manifest: toml::Table = text.parse().expect("TOML");
    let dependencies = manifest.get("dependencies").and_then(|d| d.as_table());
    let names = dependencies.into_iter().flat_map(|d| d.keys());
    names.filter_map(|n| n.strip_prefix("ringforge-").map(str::to_owned)).collect()
}

#[test]
fn what_must_be_right_depends_on_nothing_below_it() {
    for (name, may) in [
        ("ring", &[][..]),
        ("machine", &[]),
        ("contract", &["ring", "machine"]),
        ("kernel", &["ring", "machine", "contract"]),
        ("certificate", &["kernel"]),
        ("prove", &["ring", "machine", "contract", "kernel", "certificate"]),
    ] {
        let needs = needs(name);
        let other: Vec<&String> = needs.iter().filter(|n| !may.contains(&n.as_str())).collect();
        assert!(other.is_empty(), "crates/{name} depends on {other:?}");
    }
}

/// What serves the tests is part of no product, and stands on none.
#[test]
fn tests_alone_use_their_tools() {
    assert!(needs("testing").is_empty());
    for entry in std::fs::read_dir(root().join("crates")).expect("crates") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(!needs(&name).contains(&"testing".to_owned()), "crates/{name} depends on it");
    }
}

/// Sources below a directory.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Conditions of `if … { … } else { x.max(1) }` that compare.
fn clamps(text: &str) -> Vec<&str> {
    let each = text.match_indices("} else {").filter_map(|(at, end)| {
        let (before, after) = (&text[..at], &text[at + end.len()..]);
        let body = after.split('}').next().unwrap_or_default();
        let head = &before[..before.rfind('{')?];
        let condition = &head[head.rfind("if ")?..];
        let compares = condition.contains(['<', '>']) && !condition.contains([';', '{']);
        let limits = body.contains(".max(") || body.contains(".min(");
        (compares && limits && !body.contains(';')).then_some(condition)
    });
    each.collect()
}

/// rustc 1.95 (LLVM 22) drops the upper limit of `if x >= 9 { 9 } else { x.max(1) }` where it optimises. `x.clamp(1, 9)` is
/// compiled as it should be.
#[test]
fn no_source_has_a_form_that_rustc_compiles_wrongly() {
    assert_eq!(clamps("let y = if x >= 9 { 9 } else { x.max(1) };"), ["if x >= 9 "]);
    assert_eq!(clamps("if a == b {\n 0\n} else {\n x.min(1)\n}").len(), 0);
    assert_eq!(clamps("if a < b {\n 0\n} else {\n f(x);\n x.min(1)\n}").len(), 0);
    let mut all = Vec::new();
    sources(&root().join("crates"), &mut all);
    assert!(all.len() > 300, "{}", all.len());
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a source");
        assert_eq!(clamps(&text), [""; 0], "{}", path.display());
    }
}
