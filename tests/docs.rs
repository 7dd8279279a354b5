//! What the README and the recipes show is run: every command in a `console` block, line by line,
//! with its output, digits too but for times and cycles; every file that a block quotes; every figure that a table states.
//!
//! Left to the long run: the pages on any ring and on use.
//!
//! `RINGFORGE_BLESS=1` rewrites the tables that are made from `docs/figures/`, and the simulated cycles in
//! `docs/figures/plans.json`.

mod common;
#[path = "common/shown.rs"]
mod shown;

use common::{Sandbox, figures, in_parallel, library, simulated};
use shown::Said;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every page: those at the root and those below docs/.
fn pages() -> Vec<String> {
    let mut found = Vec::new();
    for dir in ["", "docs", "docs/developers", "docs/results", "bench", "crates/cli", "crates/kem"]
    {
        for entry in std::fs::read_dir(root().join(dir)).expect("the source tree") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                found.push(Path::new(dir).join(name).display().to_string());
            }
        }
    }
    assert!(found.len() > 10, "{found:?}");
    found.sort();
    found
}

/// A fenced block: what follows the fence, and its lines.
struct Block {
    info: String,
    line: usize,
    lines: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                all.push(Block { info: info.into(), line: number + 1, lines: Vec::new() });
            }
        } else if let (true, Some(block)) = (inside, all.last_mut()) {
            block.lines.push(line.into());
        }
    }
    all
}

/// One command and what the page shows of its output.
#[derive(Default)]
struct Step {
    command: String,
    shown: Vec<String>,
}

fn steps(block: &Block) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for line in &block.lines {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => all.push(Step { command: command.into(), shown: Vec::new() }),
            (None, Some(step)) if step.command.ends_with('\\') && step.shown.is_empty() => {
                step.command += &format!("\n{line}");
            }
            (None, Some(step)) => step.shown.push(line.clone()),
            (None, None) => panic!("line {}: a console block starts with `$ `", block.line),
        }
    }
    all
}

/// Runs all console blocks of a page in one sandbox that looks like the source tree.
fn run(page: &str) {
    let dir = Sandbox::new();
    for entry in std::fs::read_dir(root()).expect("the source tree") {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        if name != "target" && name != "out" && name != ".git" {
            let from = entry.path().canonicalize().expect("an entry");
            std::os::unix::fs::symlink(from, dir.path().join(name)).expect("a link");
        }
    }
    let ringforge = Path::new(env!("CARGO_BIN_EXE_ringforge"));
    let bin = ringforge.parent().expect("a directory").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)));
    let (mut ran, mut missing) = (0, String::new());
    for block in blocks(&read(page)).iter().filter(|b| b.info == "console") {
        for step in steps(block) {
            let place = format!("{page}, block at line {}: {}", block.line, step.command);
            if step.command.starts_with("./test") {
                // That is what is running; CI runs the first, and of the second a part.
                assert!(read(".ci/run").contains("./test --part"), "{place}: not what CI runs");
                continue;
            }
            let command = step.command.replace("cargo run --release --", "ringforge");
            let output = Command::new("sh")
                .args(["-c", &format!("exec 2>&1; {command}")])
                .current_dir(dir.path())
                .env("PATH", path.as_ref().expect("a path"))
                .env_remove("CC")
                .env("RINGFORGE_WISDOM", "") // nobody's memory of earlier measurements
                .stdin(Stdio::null())
                .output()
                .expect("sh");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{place}: {}\n{said}", output.status);
            let (lines, mut next) = (Said::new(&said), 0);
            for shown in step.shown.iter().filter(|l| !l.trim().is_empty() && *l != "...") {
                match lines.find(shown, next) {
                    Some(line) => next = line + 1,
                    None => missing += &format!("{place}: no line `{shown}` in\n{said}\n"),
                }
            }
            ran += 1;
        }
    }
    assert!(ran > 0, "{page} has no console block");
    assert!(missing.is_empty(), "{missing}");
    // Blocks that quote a file quote it truly.
    for block in blocks(&read(page)) {
        if let Some(file) = block.info.split_whitespace().find_map(|w| w.strip_prefix("file=")) {
            let content = read(file);
            assert!(
                content.contains(&block.lines.join("\n")),
                "{page}, line {}: not what {file} says",
                block.line
            );
        }
    }
}

#[test]
fn a_reader_of_the_readme_sees_what_happens() {
    run("README.md");
}

#[test]
#[ignore = "in the long run"]
fn adding_a_ring_works_as_its_recipe_says() {
    run("docs/developers/add-a-ring.md");
}

#[test]
#[ignore = "in the long run"]
fn any_ring_is_forged_as_its_page_says() {
    run("docs/any-ring.md");
}

#[test]
fn the_first_hour_goes_as_its_page_says() {
    run("docs/first-hour.md");
}

#[test]
fn proofs_and_contracts_are_as_their_page_says() {
    run("docs/prove.md");
}

#[test]
#[ignore = "in the long run"]
fn pages_on_use_show_what_happens() {
    for page in [
        "docs/install.md",
        "docs/how-it-works.md",
        "docs/transforms.md",
        "docs/kem-library.md",
        "docs/unknown.md",
    ] {
        run(page);
    }
}

#[test]
fn adding_a_target_works_as_its_recipe_says() {
    run("docs/developers/add-a-target.md");
}

#[test]
fn tables_are_made_from_measured_figures() {
    let bless = std::env::var_os("RINGFORGE_BLESS").is_some();
    for page in pages() {
        let text = read(&page);
        let made = figures::fill(&text, &|file| read(&format!("docs/figures/{file}")));
        let made = made.unwrap_or_else(|e| panic!("{page}: {e}"));
        if bless && made != text {
            std::fs::write(root().join(&page), &made).expect("the page");
        }
        assert!(bless || made == text, "{page} is not what docs/figures/ says: RINGFORGE_BLESS=1");
    }
    let all: serde_json::Value =
        serde_json::from_str(&read("docs/figures/plans.json")).expect("JSON");
    let processor = all[0]["processor"].as_str().expect("a processor");
    let (picture, file) = (simulated::picture(&all, processor), "docs/pictures/simulated.svg");
    if bless {
        std::fs::write(root().join(file), &picture).expect("the picture");
    }
    assert!(picture == read(file), "{file} is not what docs/figures/ says: RINGFORGE_BLESS=1");
}

/// What `plans.json` has recorded, of one row in nine, each on the processor that is nearest to the one on which it was
/// measured. Blessing simulates all rows and writes their cycles to the file.
#[test]
fn simulated_cycles_are_what_the_tool_says() {
    let bless = std::env::var_os("RINGFORGE_BLESS").is_some();
    let text = read("docs/figures/plans.json");
    let all = serde_json::from_str(&text).expect("JSON");
    let rows = simulated::all(&all);
    assert!(rows.len() >= 40, "{}", rows.len());
    let some: Vec<&simulated::Row> = rows.iter().step_by(if bless { 1 } else { 9 }).collect();
    let dir = Sandbox::new();
    let cycles = Mutex::new(vec![0.0; some.len()]);
    in_parallel(some.iter().enumerate(), |(i, row)| {
        let ring = row.plan.split('-').next().expect("a ring");
        let (lhs, rhs) = row.operands.split_once(" × ").expect("two operands");
        let processor = row.processor().0.key();
        let mut args = vec!["--json", "explain", ring, "--plan", &row.plan, "--lhs", lhs];
        args.extend(["--rhs", rhs, "--target", "avx2", "--processor", &processor]);
        let schedule = dir.path().join(&row.plan).display().to_string();
        if !row.schedule.is_empty() {
            std::fs::write(&schedule, &row.schedule).expect("a schedule");
            args.extend(["--schedule", &schedule]);
        }
        let said = dir.ringforge(&args).json();
        let simulated = said["simulated"]["cycles"].as_f64().expect("cycles");
        cycles.lock().expect("no panic")[i] = simulated;
    });
    let cycles = cycles.into_inner().expect("no panic");
    if bless {
        let text = simulated::with_cycles(&text, &cycles);
        std::fs::write(root().join("docs/figures/plans.json"), text).expect("the figures");
        return;
    }
    for (row, cycles) in some.iter().zip(cycles) {
        let how = "RINGFORGE_BLESS=1 cargo test --workspace --release --test docs simulated_cycles";
        assert_eq!(row.simulated, cycles, "{}: {how}", row.plan);
    }
}

/// Every function of lib/generated is proved as it is now, by each of the compilers; and a record that says less is refused.
#[test]
fn the_record_of_the_library_has_all_multipliers_proved() {
    let record: serde_json::Value =
        serde_json::from_str(&read("docs/figures/library-proofs.json")).expect("JSON");
    let generated = root().join("lib/generated");
    let how = "lib/generated has changed since docs/figures/library.sh ran";
    let count = library::covers(&record, &generated).unwrap_or_else(|e| panic!("{how}: {e}"));
    assert!(count >= 100, "{count}");
    let file = |f: &dyn Fn(&mut serde_json::Value)| {
        let mut record = record.clone();
        f(&mut record["files"][7]);
        library::covers(&record, &generated)
    };
    let function =
        |f: &dyn Fn(&mut serde_json::Value)| file(&|one| f(&mut one["objects"][1]["functions"][0]));
    for (broken, why) in [
        (file(&|one| one["file"] = "other.c".into()), "the record has"),
        (file(&|one| one["sha256"] = "0".into()), "has changed since"),
        (file(&|one| drop(one["objects"].as_array_mut().map(Vec::pop))), "the record has"),
        (function(&|one| one["verdict"] = "unknown".into()), "is not proved"),
        (function(&|one| one["function"] = "other".into()), "the record has"),
        (function(&|one| one["contract_sha256"] = "0".into()), ".toml has changed since"),
    ] {
        let said = broken.expect_err(why);
        assert!(said.contains(why), "{said}");
    }
}

/// Names that GitHub gives to the headings of a page.
fn anchors(text: &str) -> Vec<String> {
    let mut code = false;
    let headings = text.lines().filter(|line| {
        code ^= line.starts_with("```");
        !code && line.starts_with('#')
    });
    let slug = |line: &str| -> String {
        let lower = line.trim_start_matches('#').trim().to_lowercase();
        let kept = lower.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(slug).collect()
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let text = read(&page);
        let base = root().join(&page).parent().expect("a directory").to_owned();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") || target.contains(' ') {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = if file.is_empty() { root().join(&page) } else { base.join(file) };
            assert!(to.exists(), "{page} links to {target}");
            if !anchor.is_empty() && to.extension().is_some_and(|e| e == "md") {
                let text = std::fs::read_to_string(&to).expect("a page");
                assert!(
                    anchors(&text).iter().any(|a| a == anchor),
                    "{page} links to {target}, and {file} has no such heading"
                );
            }
        }
    }
    assert_eq!(anchors("# A `b`, c\n```\n# no\n```\n## Whole KEMs\n"), ["a-b-c", "whole-kems"]);
}
