//! The C library on AArch64, where it takes Neon: made by gcc and clang, run in an emulator.
//!
//! Every day three KEMs by clang give their known answers; left to `RINGFORGE_LONG=1`: all KEMs by both compilers, on
//! portable code too, and what they leave on the stack; contracts of constant time (`lib/contracts/aarch64`); and the
//! instructions that operations execute, which must be those of `docs/figures/neon.json` (`RINGFORGE_BLESS=1` writes
//! them).

mod common;

use common::{LARGEST, arm_compilers, in_parallel, run};
use ringforge_targets::AARCH64;
use ringforge_toolchain::count::Counter;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const FEW: &[&str] = &["sntrup761", "ntrulpr761", "mlkem768"];
const TESTING: &[&str] = &["-DRINGFORGE_TESTING", "-DRINGFORGE_RANDOM=2"];

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

/// A compiler, its level and where what it makes goes.
struct Build<'a> {
    cc: &'a str,
    flags: &'a [&'a str],
    options: Vec<String>,
    dir: &'a Path,
}

impl<'a> Build<'a> {
    /// For some KEMs, or all but the largest where none is named.
    fn new(
        (cc, target): (&'a str, &'a [&'a str]),
        level: &str,
        defines: &[&str],
        kems: &[&str],
        dir: &'a Path,
    ) -> Build<'a> {
        let mut options: Vec<String> =
            [level].iter().chain(defines).map(|&o| o.to_owned()).collect();
        if !kems.is_empty() {
            options.push("-DRINGFORGE_ENABLE_ALL=0".into());
        }
        let (named, value) = if kems.is_empty() { (LARGEST, 0) } else { (kems, 1) };
        options.extend(
            named.iter().map(|k| format!("-DRINGFORGE_ENABLE_{}={value}", k.to_uppercase())),
        );
        Build { cc, flags: target, options, dir }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.cc);
        command.args(self.flags).args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Wconversion",
        ]);
        command.args(["-Werror", "-Iinclude"]).args(&self.options).current_dir(library());
        command
    }

    /// Compiles sources on all processors.
    fn objects(&self, sources: &[PathBuf]) -> Vec<PathBuf> {
        let object = |source: &PathBuf| {
            let name = source.strip_prefix(library()).unwrap_or(source);
            let name = name.to_string_lossy().replace('/', "_");
            self.dir.join(name).with_extension("o")
        };
        in_parallel(sources, |source| {
            run(self.command().arg("-c").arg(source).arg("-o").arg(object(source)));
        });
        sources.iter().map(object).collect()
    }

    /// Links a test of `lib/tests` with others that it needs.
    fn program(&self, tests: &[&str], objects: &[PathBuf]) -> PathBuf {
        let file = self.dir.join(tests[0]);
        let sources = tests.iter().map(|name| format!("tests/{name}.c"));
        run(self.command().arg("-static").args(sources).args(objects).arg("-o").arg(&file));
        file
    }
}

/// Sources of the library; of its multipliers those whose name has one of these ends.
fn sources(ends: &[&str]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for dir in ["generated", "src/common", "src/prime", "src/ntru", "src/mlkem"] {
        let files = std::fs::read_dir(library().join(dir)).unwrap().map(|f| f.unwrap().path());
        all.extend(files.filter(|f| {
            let name = f.file_name().unwrap().to_string_lossy();
            name.ends_with(".c") && (dir != "generated" || ends.iter().any(|e| name.ends_with(e)))
        }));
    }
    all.sort();
    all
}

fn emulated(program: &Path, args: &[&str]) -> String {
    run(Command::new(AARCH64.emulator).arg(program).args(args))
}

/// KEMs with the published answer of one case.
fn answers() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(library().join("tests/kats.txt")).unwrap();
    let mut all = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [name, count, hash] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("kats.txt: `{line}`")
        };
        if count == "1" {
            all.push((name.to_owned(), hash.to_owned()));
        }
    }
    assert!(all.len() >= 8, "{all:?}");
    all
}

/// Known answers of one case of these KEMs (of all where none is named); on portable code too if that was compiled.
fn gives_known_answers(kat: &Path, kems: &[&str], portable: bool) {
    let mut jobs = Vec::new();
    for (name, hash) in answers() {
        let name_is_in = |kems: &[&str]| kems.contains(&name.as_str());
        let wanted = if kems.is_empty() { !name_is_in(LARGEST) } else { name_is_in(kems) };
        if wanted {
            let ways: &[&[&str]] = if portable { &[&[], &["portable"]] } else { &[&[]] };
            jobs.extend(ways.iter().map(|&way| (name.clone(), hash.clone(), way)));
        }
    }
    assert!(jobs.len() >= kems.len(), "{jobs:?}");
    in_parallel(jobs, |(name, hash, way)| {
        let found = emulated(kat, &[&[name.as_str(), "1"][..], way].concat());
        assert_eq!(found.trim(), hash, "{name}, {way:?}");
    });
}

/// Three KEMs, without the portable multipliers, which are not needed then.
#[test]
fn kems_give_their_known_answers() {
    let Some(clang) = arm_compilers().into_iter().next_back() else { return };
    let dir = tempfile::tempdir().unwrap();
    let build = Build::new(clang, "-O2", &["-DRINGFORGE_RANDOM=2"], FEW, dir.path());
    let objects = build.objects(&sources(&["sntrup761_neon.c", "mlkem_neon.c"]));
    let kat = build.program(&["kat", "kems", "random", "nist_rng", "sha256"], &objects);
    gives_known_answers(&kat, FEW, false);
}

/// Sources of the generated multipliers among these, and the others.
fn apart(sources: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    sources.into_iter().partition(|f| f.parent().unwrap().ends_with("generated"))
}

/// Known answers, round trips and bad input of all; and of some, what one key leaves on the stack is what any other
/// leaves, which without wiping it is not.
#[test]
#[ignore = "in the long run"]
fn all_kems_are_right_and_leave_nothing_on_the_stack() {
    // Sizes differ in nothing that this depends on, but the largest needs the most.
    let names = ["sntrup1277", "ntrulpr1277", "mlkem1024", "ntruhps2048677"];
    are_right_and_leave_nothing_on_the_stack(&[], &names);
}

/// What one key leaves on the stack is what any other leaves, in either form, at each level that the library accepts.
#[test]
#[ignore = "minutes"]
fn by_hand_nothing_stays_on_the_stack_at_any_level() {
    let names = all_kems();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for compiler in arm_compilers() {
        for level in ["-O1", "-O2", "-O3", "-Os"] {
            for form in ["-DRINGFORGE_SMALL=0", "-DRINGFORGE_SMALL=1"] {
                let dir = tempfile::tempdir().unwrap();
                let defines = [TESTING, &[form]].concat();
                let build = Build::new(compiler, level, &defines, &names, dir.path());
                let objects = build.objects(&sources(&["_neon.c", "_c.c"]));
                let tests = ["dead_stack", "kems", "random", "nist_rng", "sha256"];
                let program = build.program(&tests, &objects);
                in_parallel(&names, |&name| {
                    let said = emulated(&program, &[name]);
                    let right = said.matches(" ok").count() == 1;
                    assert!(right, "{} {level} {form} {name}: {said}", compiler.0);
                });
            }
        }
    }
}

#[test]
#[ignore = "minutes"]
fn by_hand_the_largest_are_right_and_leave_nothing_on_the_stack() {
    are_right_and_leave_nothing_on_the_stack(LARGEST, LARGEST);
}

fn are_right_and_leave_nothing_on_the_stack(kems: &[&str], names: &[&str]) {
    for compiler in arm_compilers() {
        let dir = tempfile::tempdir().unwrap();
        let build = Build::new(compiler, "-O2", TESTING, kems, dir.path());
        let objects = build.objects(&sources(&["_neon.c", "_c.c"]));
        let helpers = ["kems", "random", "nist_rng", "sha256"];
        let program =
            |name: &'static str| build.program(&[&[name][..], &helpers].concat(), &objects);
        let kat = program("kat");
        gives_known_answers(&kat, kems, true);
        if kems.is_empty() {
            agrees_with_portable_code(&kat);
        }
        let (kem_test, dead_stack) = (program("kem_test"), program("dead_stack"));
        let mut runs = vec![(&kem_test, None)];
        runs.extend(names.iter().map(|&name| (&dead_stack, Some(name))));
        in_parallel(runs, |(program, name)| {
            let said = emulated(program, name.as_slice());
            let shown = name.is_none() || said.matches(" ok").count() == 1;
            assert!(shown, "{} {name:?}: {said}", compiler.0);
        });
    }
}

/// The names of all KEMs.
fn all_kems() -> Vec<String> {
    let config = std::fs::read_to_string(library().join("include/ringforge_config.h")).unwrap();
    let names = config.lines().filter_map(|line| line.strip_prefix("#ifndef RINGFORGE_ENABLE_"));
    let names: Vec<String> = names.filter(|n| *n != "ALL").map(str::to_lowercase).collect();
    assert_eq!(names.len(), 19 + LARGEST.len());
    names
}

/// Of KEMs without a published answer the portable code, which agrees with models on x86-64, gives one.
fn agrees_with_portable_code(kat: &Path) {
    let names = all_kems();
    let answers = answers();
    let others = names.iter().filter(|name| !answers.iter().any(|answer| answer.0 == **name));
    in_parallel(others.collect::<Vec<_>>(), |name| {
        let of = |args: &[&str]| emulated(kat, args);
        assert_eq!(of(&[name, "1"]), of(&[name, "1", "portable"]), "{name}");
    });
}

/// The prover's answer on an object under a contract.
fn proved(object: &Path, name: &str) -> Value {
    let contract = library().join("contracts/aarch64").join(name).with_extension("toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringforge"));
    let out =
        command.args(["prove", "--json"]).arg(object).arg("--contract").arg(contract).output();
    let out = out.unwrap();
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)))
}

fn linked(objects: &[PathBuf], dir: &Path) -> PathBuf {
    let all = dir.join("all.o");
    run(Command::new("aarch64-linux-gnu-ld").args(["-r", "-o"]).arg(&all).args(objects));
    all
}

/// Whole operations are constant time, stay in bounds, and leave nothing secret on the stack or in registers.
#[test]
#[ignore = "in the long run"]
fn operations_are_constant_time() {
    let kems = ["sntrup761", "ntrulpr761", "ntruhps2048677", "mlkem512"];
    for compiler in arm_compilers() {
        let place = tempfile::tempdir().unwrap();
        let defines = ["-DRINGFORGE_RANDOM=2"];
        let (generated, others) = apart(sources(&["_neon.c"]));
        let multipliers =
            Build::new(compiler, "-O2", &defines, &kems, place.path()).objects(&generated);
        // One level of each: what differs is how far loops are unrolled and calls inlined.
        let level = if compiler.0.contains("gcc") { "-O2" } else { "-O3" };
        let dir = tempfile::tempdir().unwrap();
        let build = Build::new(compiler, level, &defines, &kems, dir.path());
        let all = linked(&[multipliers.clone(), build.objects(&others)].concat(), dir.path());
        let mut contracts = vec![
            ("common", 7),
            ("sntrup761", 4),
            ("ntrulpr761", 4),
            ("ntrulpr761_keypair", 1),
            ("ntruhps2048677", 2),
            ("mlkem512", 7),
            ("mlkem512_keypair", 2),
        ];
        // Two million instructions: by one compiler.
        if compiler.0.contains("gcc") {
            contracts.push(("sntrup761_keypair", 1));
        }
        // The long ones first.
        contracts.reverse();
        in_parallel(contracts, |(name, functions)| {
            let report = proved(&all, name);
            let context = format!("{} {level} {name}: {report:#}", compiler.0);
            assert_eq!(report["verdict"], "proved", "{context}");
            let found = report["objects"][0]["functions"].as_array().unwrap();
            assert_eq!(found.len(), functions, "{name}");
            let whole = found.iter().all(|f| f["instructions"].as_u64() >= Some(1_000));
            assert!(whole, "{found:#?}");
        });
    }
}

/// A change of `wipe.h` after which something stays: it is found, and named.
#[test]
#[ignore = "in the long run"]
fn what_neon_code_leaves_is_found() {
    let Some(gcc) = arm_compilers().into_iter().next() else { return };
    let dir = tempfile::tempdir().unwrap();
    let build = Build::new(gcc, "-O1", &["-DRINGFORGE_RANDOM=2"], &["sntrup761"], dir.path());
    let objects = build.objects(&sources(&["sntrup761_neon.c"]));
    let own = library().join("src/prime/prime761.c");
    let wipe = std::fs::read_to_string(library().join("src/common/wipe.h")).unwrap();
    for (old, new, place) in [
        ("", "", ""),
        ("rf_zeroize(dead, sizeof dead)", "rf_zeroize(dead, sizeof dead - 16384)", "the stack"),
        ("mov x9, xzr\\n\\t", "", "x9"),
        ("mov x18, xzr", "nop", "x18"),
        ("movi v20.2d, #0\\n\\t", "", "v20"),
        ("mov v11.d[1], xzr\\n\\t", "", "the upper half of v11"),
    ] {
        assert!(old.is_empty() || wipe.matches(old).count() == 1, "wipe.h has changed: `{old}`");
        let text = if old.is_empty() { wipe.clone() } else { wipe.replace(old, new) };
        let text = text.replace("#include \"common.h\"", "");
        // Its guard keeps the library's own out.
        let (source, common) =
            (dir.path().join("changed.c"), library().join("src/common/common.h"));
        let text =
            format!("#include \"{}\"\n{text}\n#include \"{}\"\n", common.display(), own.display());
        std::fs::write(&source, text).unwrap();
        let mut all = objects.clone();
        all.retain(|o| !o.ends_with("src_prime_prime761.o"));
        all.extend(build.objects(&[source]));
        let report = proved(&linked(&all, dir.path()), "sntrup761");
        let functions = report["objects"][0]["functions"].as_array().unwrap();
        let reasons: Vec<_> =
            functions.iter().flat_map(|f| f["reasons"].as_array().unwrap()).collect();
        assert_eq!(report["verdict"] == "proved", old.is_empty(), "`{old}`: {reasons:#?}");
        assert_eq!(reasons.is_empty(), old.is_empty());
        for r in reasons {
            assert_eq!(r["kind"], "residue", "{r:#}");
            assert!(r["text"].as_str().unwrap().contains(place), "`{old}`: {r:#}");
        }
    }
}

/// Whether counts are equal but for what copying bytes takes, which depends on where arrays lie.
fn is_near(old: &Value, new: &Value) -> bool {
    let names = ["executed", "full", "long", "other", "memory", "moved"];
    let count = |counts: &Value, name: &str| counts[name].as_u64().expect("a count");
    names.iter().all(|name| {
        let (old, new) = (count(old, name), count(new, name));
        old.abs_diff(new) <= 64 + old / 10_000
    })
}

/// What the library's tests call the code of a target: Neon is all that there is.
fn code_of(target: &str) -> &str {
    if target == "neon" { "all" } else { target }
}

/// Operations of sntrup761 and ntrulpr761, and phases of sntrup761: what one call executes, by both compilers.
#[test]
#[ignore = "in the long run"]
fn operations_execute_what_the_page_says() {
    let counter = Counter::new().unwrap();
    let mut rows = Vec::new();
    for compiler in arm_compilers() {
        let dir = tempfile::tempdir().unwrap();
        let kems = ["sntrup761", "ntrulpr761"];
        let build = Build::new(compiler, "-O3", TESTING, &kems, dir.path());
        let objects = build.objects(&sources(&["sntrup761_neon.c", "sntrup761_c.c"]));
        let version = run(Command::new(compiler.0).arg("-dumpversion"));
        let name = if compiler.0.contains("gcc") { "gcc" } else { "clang" };
        let compiled = format!("{name} {} -O3", version.trim());
        let count = |program: &Path, args: &[&str], number: usize| {
            let mut command = Command::new(AARCH64.emulator);
            command.arg(program).args(args).env("COUNTED", number.to_string());
            counter.watch(&mut command);
            let said = run(&mut command);
            (counter.counts(AARCH64.core.map(|c| c.model)).ok(), said)
        };
        let bench = build.program(&["bench", "kems"], &objects);
        for (kem, target) in kems.iter().flat_map(|k| ["neon", "portable"].map(|t| (k, t))) {
            for (number, name) in (1..).zip(["keygen", "encaps", "decaps"]) {
                let (counts, _) = count(&bench, &[code_of(target), kem], number);
                let counts = counts.unwrap_or_else(|| panic!("{kem} {name}: nothing counted"));
                rows.push(json!({"compiled": compiled, "kem": kem, "target": target, "name": name, "counts": counts}));
            }
        }
        // The phases bring their own.
        let mut others = objects.clone();
        others.retain(|o| !o.ends_with("src_prime_prime761.o"));
        let phases = build.program(&["phases"], &others);
        // Of portable code by one compiler, for comparison.
        for target in ["neon", "portable"].into_iter().take(if name == "gcc" { 2 } else { 1 }) {
            for number in 1.. {
                let (Some(counts), said) = count(&phases, &[code_of(target)], number) else {
                    break;
                };
                let lines = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                let own = lines.into_iter().find(|row| row["min"] == 1).expect("the counted phase");
                rows.push(json!({"compiled": compiled, "kem": "sntrup761", "target": target, "phase": own["phase"],
                    "uses": own["uses"], "counts": counts}));
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    assert!(rows.iter().filter(|row| row["phase"].is_string()).count() >= 3 * 18, "{rows:#?}");
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let text = format!("[\n{}\n]\n", lines.join(",\n"));
    let file = library().join("../docs/figures/neon.json");
    if std::env::var_os("RINGFORGE_BLESS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    // Other versions of compilers make other code; their rows are not compared.
    let of = |all: &[Value], how: &str| -> Vec<Value> {
        all.iter().filter(|row| row["compiled"] == how).cloned().collect()
    };
    let written = written.as_array().unwrap();
    let mut compared = 0;
    for how in rows
        .iter()
        .map(|row| row["compiled"].as_str().unwrap())
        .collect::<std::collections::BTreeSet<_>>()
    {
        let there = of(written, how);
        if there.is_empty() {
            eprintln!("docs/figures/neon.json has nothing by {how}");
            continue;
        }
        let here = of(&rows, how);
        assert_eq!(there.len(), here.len(), "docs/figures/neon.json: RINGFORGE_BLESS=1 writes it");
        for (old, new) in there.iter().zip(&here) {
            let same = |name: &str| old[name] == new[name];
            let same = ["kem", "target", "name", "phase", "uses"].iter().all(|name| same(name));
            assert!(
                same && is_near(&old["counts"], &new["counts"]),
                "RINGFORGE_BLESS=1: {old} and {new}"
            );
        }
        compared += there.len();
    }
    assert!(compared > 0);
}
