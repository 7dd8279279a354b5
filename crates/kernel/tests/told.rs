//! `conditions.md` names a test for each side condition of each rule: the page is kept to what is there.

use std::collections::BTreeSet;
use std::path::Path;

const RULES: &str = include_str!("../../../docs/kernel.md");
const CONDITIONS: &str = include_str!("../conditions.md");

/// Whether a file of `tests` or `src` has a test of this name.
fn exists(file: &str, name: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let texts =
        ["tests", "src"].map(|d| std::fs::read_to_string(root.join(d).join(format!("{file}.rs"))));
    let function = format!("fn {name}()");
    texts.iter().flatten().any(|text| {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        lines.windows(2).any(|l| l[0] == "#[test]" && l[1].starts_with(&function))
    })
}

/// The parts of a page by their headings of the second level.
fn parts(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("\n## ").skip(1).filter_map(|p| p.split_once('\n'))
}

#[test]
fn each_side_condition_has_its_tests() {
    let mut named = BTreeSet::new();
    for (rule, part) in parts(CONDITIONS) {
        let rows = part.lines().filter(|l| l.starts_with("| ")).skip(1);
        let mut count = 0;
        for row in rows {
            let (_, tests) = row.trim_end_matches(" |").rsplit_once(" | ").expect("two cells");
            let tests: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
            assert!(!tests.is_empty(), "{rule}: no test in `{row}`");
            for test in tests {
                let (file, name) = test.split_once(": ").expect("file: test");
                assert!(exists(file, name), "{rule}: there is no test `{test}`");
            }
            count += 1;
        }
        assert!(count > 0, "{rule} has no condition");
        named.insert(rule);
    }
    let headings = RULES.lines().filter_map(|l| l.strip_prefix("### "));
    let rules: BTreeSet<&str> = headings.map(|h| h.split(':').next().unwrap_or(h)).collect();
    let missing: Vec<&&str> = rules.difference(&named).collect();
    assert!(missing.is_empty(), "conditions.md has nothing of {missing:?}");
    // What is no heading of the third level there.
    let others =
        ["Linear rules", "Outputs", "Comparison with the ring", "What is trusted, and what is not"];
    for rule in named.difference(&rules) {
        assert!(
            others.contains(rule) && RULES.contains(rule),
            "{rule} is no rule of docs/kernel.md"
        );
    }
}

/// A mutant that no test notices has its reason in mutants.md, and a reason has its mutant.
#[test]
fn each_mutant_that_is_missed_has_its_reason() {
    let (record, page) = (include_str!("../mutants.txt"), include_str!("../mutants.md"));
    let told = record.lines().filter(|l| l.starts_with("missed"));
    let missed: Vec<&str> = told.filter_map(|l| Some(l.split_once(": ")?.1)).collect();
    let (_, table) = page.split_once("\n## Missed mutants\n").expect("the heading");
    let rows = table.lines().filter_map(|l| l.strip_prefix("| `"));
    let mut reasons = Vec::new();
    for row in rows {
        let (texts, why) = row.split_once(" | ").expect("two cells");
        assert!(why.len() > 10, "no reason: {row}");
        reasons.extend(texts.split('`').step_by(2).filter(|t| !t.is_empty()));
    }
    assert!(!missed.is_empty() && !reasons.is_empty());
    for mutant in &missed {
        assert!(reasons.iter().any(|r| mutant.starts_with(r)), "no reason for {mutant}");
    }
    for reason in &reasons {
        assert!(missed.iter().any(|m| m.starts_with(reason)), "no mutant {reason}");
    }
}
