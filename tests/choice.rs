//! Rings without a plan: `forge` lists what applies, takes the fastest that is proved, and remembers.
//!
//! Left to the long run: the search for sntrup761, and the one that finds nothing.

mod common;

use common::{Sandbox, mentions};
use serde_json::Value;

const RING: &str = "Z3329[x]/(x^32 - x - 1)";
/// One for which the definition is not among the first three.
const LONGER: &str = "Z3329[x]/(x^64 - x - 1)";

fn forge(dir: &Sandbox, wisdom: &str, ring: &str, more: &[&str]) -> Value {
    let args = [&["--json", "forge", ring, "--out=p", "--target=c", "--pairs=100"], more].concat();
    let package = dir.ringforge_with(wisdom, &args).succeeds().json();
    assert_eq!(package["verdict"], "proved");
    package
}

fn trials(package: &Value) -> &[Value] {
    package["choices"][0]["trials"].as_array().expect("trials")
}

#[test]
fn the_fastest_that_is_proved_is_taken() {
    let dir = Sandbox::new();
    let package = forge(&dir, "", LONGER, &["--try=3"]);
    let trials = trials(&package);
    assert!(trials.len() > 3, "{trials:?}");
    let costs: Vec<f64> = trials.iter().filter_map(|t| t["cost"].as_f64()).collect();
    assert!(costs.len() == trials.len() && costs.is_sorted(), "{costs:?}");
    let timed: Vec<&Value> = trials.iter().filter(|t| t["cycles"].is_f64()).collect();
    // The schoolbook product and plain C come beside.
    let definition = |t: &Value| {
        let why = t["why"].as_str().unwrap_or_default();
        why.ends_with("schoolbook") || why.contains("plain C")
    };
    let tried = timed.iter().filter(|t| !definition(t)).count();
    let unproved = trials.iter().filter(|t| t["reason"].is_string()).count();
    assert!(tried >= 3 && tried <= 3 + unproved, "as many as are to be tried: {trials:?}");
    let taken: Vec<&Value> = trials.iter().filter(|t| t["taken"] == true).collect();
    let [taken] = taken[..] else { panic!("one is taken: {trials:?}") };
    assert!(taken["outcome"].as_str().is_some_and(|o| o.contains("proved")), "{taken}");
    for other in timed {
        let slower = other["cycles"].as_f64() >= taken["cycles"].as_f64();
        let tie = other["outcome"].as_str().is_some_and(|outcome| outcome.contains("tie"));
        assert!(
            slower || tie || other["reason"].is_string(),
            "faster, and not a word why not: {other}"
        );
    }
    assert_eq!(package["plan"]["name"], taken["plan"]);
    // The plan's text makes the same package without a search.
    dir.file("own.plan", package["plan"]["text"].as_str().expect("a text"));
    let again = forge(&dir, "", LONGER, &["--plan=own.plan", "--no-bench"]);
    assert!(again["choices"].is_null(), "nothing was chosen");
    assert_eq!(again["targets"][0]["proof"]["verdict"], "proved");
}

/// Whether a ring's plan was known, among two plans where no other number is asked for.
fn remembered(dir: &Sandbox, ring: &str, more: &[&str]) -> bool {
    let tries: &[&str] = if more.contains(&"--try=1") { &[] } else { &["--try=2"] };
    let package = forge(dir, "w.toml", ring, &[tries, more].concat());
    package["choices"][0]["remembered"].is_string()
}

#[test]
fn by_ring_operands_and_flags_it_is_remembered_what_was_measured() {
    let dir = Sandbox::new();
    let remembered = |ring: &str, more: &[&str]| remembered(&dir, ring, more);
    assert!(!remembered(RING, &[]));
    let first = dir.read("w.toml");
    assert!(remembered(RING, &["--name=other"]), "names do not matter");
    assert!(remembered("Z3329[x]/(x^32 + 3328x + 3328)", &[]), "nor how the ring is written");
    assert!(remembered(RING, &["--no-bench"]), "what is known needs no timing");
    assert_eq!(dir.read("w.toml"), first);
    assert!(!remembered(RING, &["--rhs=small"]));
    assert!(!remembered(RING, &["--try=1"]), "among how many plans was searched");
    assert!(!remembered(RING, &["--opt=-O2"]));
    assert!(!remembered(RING, &["--fresh"]));
    let entries = dir.read("w.toml").matches("[[entry]]").count();
    assert_eq!(entries, 4, "one for each key");
}

#[test]
fn what_makes_other_code_by_now_is_measured_again() {
    let dir = Sandbox::new();
    let remembered = |ring: &str, more: &[&str]| remembered(&dir, ring, more);
    assert!(!remembered(RING, &[]));
    let code = |text: &str| -> Vec<String> {
        text.lines().filter(|l| l.starts_with("code = ")).map(str::to_owned).collect()
    };
    let known = dir.read("w.toml");
    let other =
        code(&known).iter().fold(known.clone(), |text, line| text.replace(line, "code = \"00\""));
    dir.file("w.toml", &other);
    assert!(!remembered(RING, &[]));
    assert!(code(&dir.read("w.toml")).iter().any(|line| code(&known).contains(line)));
}

#[test]
fn a_memory_that_is_damaged_or_cannot_be_written_is_a_warning_and_is_kept() {
    let dir = Sandbox::new();
    let damaged = "wisdom = 2\n[[entry]]\nring = 7\n";
    dir.file("w.toml", damaged);
    let args = ["forge", RING, "--out=p", "--target=c", "--pairs=10", "--try=1"];
    let run = dir.ringforge_with("w.toml", &args).succeeds();
    for words in ["warning: ", "w.toml:3:", "no wisdom of ringforge", "RINGFORGE_WISDOM"] {
        assert!(run.stderr.contains(words), "{run:?}");
    }
    assert_eq!(dir.read("w.toml"), damaged);
    // A file in the place of its directory.
    let run = dir.ringforge_with("w.toml/w.toml", &args).succeeds();
    assert!(run.stderr.contains("warning: "), "{run:?}");
    // An older file knows nothing, and is replaced.
    dir.file("old.toml", "wisdom = 1\n[[entry]]\nring = \"Z17[x]/(x^16 + 1)\"\n");
    let run = dir.ringforge_with("old.toml", &args).succeeds();
    assert!(!run.stderr.contains("warning"), "{run:?}");
    assert!(dir.read("old.toml").contains("wisdom = 2") && dir.read("old.toml").contains("3329"));
}

/// If a candidate through another modulus stays unproved for as long as it may, those like it are passed over, and plain C
/// is taken.
#[test]
fn where_no_patience_is_left_plain_c_is_taken() {
    let dir = Sandbox::new();
    let terms: String = (1..91).rev().map(|i| format!(" + {}x^{i}", i * 7 % 13 + 1)).collect();
    let ring = format!("Z15[x]/(x^91{terms} + 4)");
    let cc = format!("--cc={}", common::compilers().last().expect("a compiler"));
    let args = ["--json", "forge", &ring, "--out=p", "--target=avx2", &cc, "--no-bench"];
    let args = [&args[..], &["--pairs=10", "--patience=4"]].concat();
    let package = dir.ringforge(&args).succeeds().json();
    assert_eq!(package["verdict"], "proved");
    let trials = trials(&package);
    let of = |outcome: &str| {
        let had = |t: &&Value| t["outcome"].as_str().is_some_and(|o| o.starts_with(outcome));
        trials.iter().filter(had).count()
    };
    assert!(of("unknown") == 1 && of("no patience left") > 1, "{trials:?}");
    let taken = trials.iter().find(|t| t["taken"] == true).expect("one is taken");
    assert!(taken["why"].as_str().is_some_and(|why| why.starts_with("plain C")), "{taken}");
}

#[test]
#[ignore = "in the long run"]
fn where_nothing_is_proved_nothing_is_made() {
    let dir = Sandbox::new();
    // Code that is not optimised, since it is compiled in no time and proved in several seconds.
    let code = ["--target=c", "--opt=-O0", "--pairs=10", "--no-bench"];
    let args =
        [&["forge", "Z12289[x]/(x^1024 + 1)", "--try=1", "--patience=1"], &code[..]].concat();
    let run = dir.ringforge_with("w.toml", &args);
    run.fails(1, &["no candidate for target `c` is proved", "--try N", "--patience", "--plan"]);
    mentions(&run, &["unknown: ", "over 12289 itself", "modelled cost"]);
    dir.is_untouched();
}

#[test]
#[ignore = "in the long run"]
fn presets_without_a_plan_are_searched() {
    let dir = Sandbox::new();
    let package = forge(&dir, "", "sntrup761", &["--try=2", "--no-bench"]);
    assert!(
        trials(&package).iter().any(|t| t["plan"] == "sntrup761-chiu"),
        "presets are among them"
    );
    assert_eq!(package["name"], "sntrup761");
}

/// Where nothing is timed and an emulator counts, candidates are compared by a core's model.
#[test]
fn what_cannot_be_timed_is_modelled() {
    if common::arm_compilers().is_empty() {
        return;
    }
    let dir = Sandbox::new();
    let args = ["--json", "forge", RING, "--out=p", "--target=neon", "--pairs=20", "--try=3"];
    let package = dir.ringforge_with("", &args).succeeds().json();
    assert_eq!(package["choices"][0]["compared_by"], "modelled");
    let trials = trials(&package);
    let modelled: Vec<&Value> = trials.iter().filter(|t| t["model_cycles"].is_f64()).collect();
    assert!(modelled.len() >= 3 && trials.iter().all(|t| t["cycles"].is_null()), "{trials:?}");
    let taken = trials.iter().find(|t| t["taken"] == true).expect("one is taken");
    for other in modelled.iter().filter(|t| t["reason"].is_null()) {
        assert!(other["model_cycles"].as_f64() >= taken["model_cycles"].as_f64(), "{other}");
    }
    // Without measurements the order is that of costs, and it is said.
    let args = [&args[..], &["--no-bench"]].concat();
    let package = dir.ringforge_with("", &args).succeeds().json();
    assert_eq!(package["choices"][0]["compared_by"], "cost");
}
