//! libFuzzer, with the sanitizers of addresses and of undefined behaviour, on the operations of a KEM of each family:
//! lib/tests/fuzz.c says what must hold. The multipliers are compiled without sanitizers: straight-line code whose accesses
//! the prover checks.
//!
//! Left to the long run, for `RINGFORGE_FUZZ_SECONDS`, 60 where it is not set; all KEMs with `RINGFORGE_FUZZ_ALL=1`.

mod common;

use common::{in_parallel, run};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const OPTIONS: &[&str] = &[
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Werror",
    "-Iinclude",
    "-O1",
    "-DRINGFORGE_TESTING",
    "-DRINGFORGE_RANDOM=2",
];
const SANITIZE: &[&str] =
    &["-g", "-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=all"];
const KEMS: &[&str] = &["sntrup761", "ntrulpr761", "mlkem768", "ntruhps2048677"];

fn clang() -> &'static str {
    ringforge_testing::program("clang").expect("the test asks whether it is here")
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

fn object(dir: &Path, source: &str) -> PathBuf {
    dir.join(source.replace('/', "_")).with_extension("o")
}

fn compile(source: &str, more: &[String], dir: &Path) {
    let mut clang = Command::new(clang());
    clang.args(OPTIONS).args(more).args(["-c", source, "-o"]).arg(object(dir, source));
    run(clang.current_dir(library()));
}

fn link(sources: &[String], dir: &Path) -> PathBuf {
    let program = dir.join("fuzz");
    let mut clang = Command::new(clang());
    clang.arg("-fsanitize=fuzzer,address,undefined");
    clang.args(sources.iter().map(|s| object(dir, s))).arg("-o").arg(&program);
    run(&mut clang);
    program
}

/// Inputs that reach beyond an operation's four bytes from the start; what libFuzzer says.
fn fuzz(program: &Path, limit: &str, dir: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(["-max_len=256", "-len_control=0", "-seed=1", "-timeout=100"]);
    command.args(["-print_final_stats=1", limit]).current_dir(dir);
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

#[test]
#[ignore = "in the long run"]
fn nothing_that_is_sent_breaks_a_kem() {
    ringforge_testing::needs!("clang", "sanitizers of clang");
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let all = std::env::var_os("RINGFORGE_FUZZ_ALL").is_some();
    let seconds = std::env::var("RINGFORGE_FUZZ_SECONDS").unwrap_or("60".into());
    let mut chosen = Vec::new();
    if !all {
        chosen.push("-DRINGFORGE_ENABLE_ALL=0".to_owned());
        chosen.extend(KEMS.iter().map(|k| format!("-DRINGFORGE_ENABLE_{}=1", k.to_uppercase())));
    }
    let names = |room: &str| -> Vec<String> {
        let files = std::fs::read_dir(library().join(room)).unwrap();
        let names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
        names.filter(|n| n.ends_with(".c")).map(|n| format!("{room}/{n}")).collect()
    };
    let mut sources: Vec<String> =
        ["src/prime", "src/ntru", "src/mlkem", "src/common", "generated"]
            .into_iter()
            .flat_map(names)
            .collect();
    sources.extend(["fuzz", "kems", "random", "nist_rng"].map(|name| format!("tests/{name}.c")));
    in_parallel(&sources, |source| {
        let mut more = chosen.clone();
        if !source.starts_with("generated/") {
            more.extend(SANITIZE.iter().map(|&o| o.to_owned()));
        }
        compile(source, &more, dir);
    });

    let ended = fuzz(&link(&sources, dir), &format!("-max_total_time={seconds}"), dir);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    let runs = said.lines().find_map(|l| l.strip_prefix("stat::number_of_executed_units:"));
    let runs: u64 = runs.and_then(|n| n.trim().parse().ok()).unwrap_or(0);
    eprintln!("{runs} inputs in {seconds} s");
    assert!(runs > 50, "{said}");

    // And it would see a byte too far: buffers that are one short.
    let mut more = chosen.clone();
    more.extend(SANITIZE.iter().map(|&o| o.to_owned()));
    more.push("-DFUZZ_SHORT=1".into());
    compile("tests/fuzz.c", &more, dir);
    let ended = fuzz(&link(&sources, dir), "-runs=1000", dir);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && said.contains("heap-buffer-overflow"), "{said}");
}
