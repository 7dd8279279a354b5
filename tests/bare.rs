//! A machine that has nothing: tests pass with gcc alone and with clang alone, and say what they skip. A `PATH` of links to
//! what a bare Debian has hides every optional tool.
//!
//! Every day: the short tests of every kind of tool; by hand, whole: `cargo test --workspace --release --test bare --
//! --ignored --nocapture`.

mod common;

use common::run;
use ringforge_testing::program;
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Of Debian's essential packages and of binutils, which come with either compiler.
const BASE: &str = "ar as awk basename bash cat chmod cmp cp cut date diff dirname echo env expr false find grep gzip head id \
    ld ld.bfd ln ls mawk mkdir mktemp mv nm nproc objcopy objdump od perl printf ranlib readelf rm sed sh sleep sort strip \
    tail tar tee test touch tr true uname uniq wc xargs";

/// Tests of each tool that take no time.
const SHORT: &[&str] = &[
    "aarch64",
    "compiled",
    "compiled_aarch64",
    "compiled_thumb",
    "install",
    "refused",
    "ssh",
    "thumb",
    "wasm",
    "whitelist",
    "words",
];

/// A directory with links to the base and to one compiler, which is `cc` as well.
fn machine(compiler: &str) -> tempfile::TempDir {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let find =
        |name: &str| std::env::split_paths(&path).map(|d| d.join(name)).find(|f| f.is_file());
    let dir = tempfile::tempdir().expect("a directory");
    let link = |from: &Path, name: &str| symlink(from, dir.path().join(name)).expect("a link");
    for name in BASE.split_whitespace() {
        if let Some(file) = find(name) {
            link(&file, name);
        }
    }
    let file = find(compiler).expect("the test asks whether it is here");
    link(&file, compiler);
    link(&file, "cc");
    dir
}

/// A test binary, its package and the package's directory.
struct Binary {
    file: PathBuf,
    package: String,
    dir: PathBuf,
}

/// The binaries of these tests, as this one was built; all where none is named.
fn binaries(tests: &[&str]) -> Vec<Binary> {
    let own = std::env::current_exe().expect("this binary");
    let release = own.components().any(|part| part.as_os_str() == "release");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--workspace", "--no-run", "--message-format=json"]);
    cargo.args(release.then_some("--release"));
    for test in tests {
        cargo.args(["--test", test]);
    }
    let said = run(cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")));
    let binary = |line: &str| {
        let told: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let dir = Path::new(told["manifest_path"].as_str()?).parent()?.to_owned();
        let package = format!("ringforge-{}", dir.file_name()?.to_str()?);
        let file = PathBuf::from(told["executable"].as_str()?);
        (told["profile"]["test"] == true).then_some(Binary { file, package, dir })
    };
    said.lines().filter_map(binary).collect()
}

/// Runs a binary's daily tests there.
fn run_there(machine: &Path, binary: &Binary, skipped: &Path) -> Output {
    let mut command = Command::new(&binary.file);
    command.current_dir(&binary.dir).env("PATH", machine).env("CARGO_PKG_NAME", &binary.package);
    command.env("RINGFORGE_SKIPPED", skipped);
    for name in ["RINGFORGE_CI", "RINGFORGE_LONG", "CC"] {
        command.env_remove(name);
    }
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Runs these tests with one compiler; returns which tests were skipped for want of which tool.
fn pass_with(compiler: &str, tests: &[&str]) -> BTreeSet<(String, String)> {
    let (machine, dir) = (machine(compiler), tempfile::tempdir().expect("a directory"));
    let skipped = dir.path().join("skipped");
    let (mut ran, mut failures) = (0, Vec::new());
    for binary in binaries(tests) {
        let done = run_there(machine.path(), &binary, &skipped);
        let said = String::from_utf8_lossy(&done.stdout);
        ran += said.matches(" ... ok\n").count();
        if !done.status.success() {
            failures.push(format!("{}: {}\n{said}", binary.file.display(), done.status));
        }
    }
    let text = std::fs::read_to_string(&skipped).unwrap_or_default();
    let records = text.lines().map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
        [test, tool, _] => (test.to_owned(), tool.to_owned()),
        _ => panic!("`{line}` is not a test, a tool and packages"),
    });
    let records: BTreeSet<_> = records.collect();
    let names: BTreeSet<&str> = records.iter().map(|(test, _)| test.as_str()).collect();
    println!(
        "{compiler} alone: {ran} tests pass, {} of them skipped in whole or in part",
        names.len()
    );
    assert!(failures.is_empty(), "{compiler} alone: {}", failures.join("\n"));
    let least = if tests.is_empty() { 900 } else { 70 };
    assert!(ran >= least, "only {ran} tests ran");
    records
}

#[test]
fn short_tests_pass_with_one_compiler_and_say_what_they_skip() {
    for (name, other) in [("gcc", "clang"), ("clang", "gcc")] {
        let Some(compiler) = program(name) else { continue };
        let records = pass_with(compiler, SHORT);
        let has = |test: &str, tool: &str| {
            assert!(records.contains(&(test.into(), tool.into())), "{test}, {tool}: {records:#?}");
        };
        has("ringforge-machine compiled every_level_of_both_compilers", other);
        has(
            "ringforge-machine compiled_thumb compiled_code_computes_what_the_source_says",
            "arm-none-eabi-gcc",
        );
        has("ringforge-kem ssh openssh_agrees_on_keys_with_us", "sshd");
        has("ringforge-cli install make_checks_and_installs_for_pkg_config", "pkg-config");
        assert!(!records.iter().any(|(_, tool)| tool == name), "{records:#?}");
    }
}

/// Where tests must be whole, a missing tool is a failure that names the package.
#[test]
fn a_missing_tool_is_a_failure_where_tests_must_be_whole() {
    let Some(compiler) = program("gcc") else { return };
    let machine = machine(compiler);
    let [binary] = &binaries(&["compiled"])[..] else { panic!("one test of this name") };
    let mut command = Command::new(&binary.file);
    command.current_dir(&binary.dir).env("PATH", machine.path()).env("RINGFORGE_CI", "1");
    let done = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(!done.status.success() && said.contains("apt-get install clang-19"), "{said}");
}

/// No test names a tool that crates/testing should find.
#[test]
fn tools_are_found_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tools = std::fs::read_to_string(root.join("crates/testing/tools.txt")).expect("the list");
    let lines = tools.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let places = fields.flat_map(|f| f[1].split(' ').filter(|&p| p != f[0]).collect::<Vec<_>>());
    // Each clang-N, and `clang`, which other tools' names contain.
    let quoted: Vec<String> =
        places.filter(|p| *p != "clang").map(|place| format!("\"{place}\"")).collect();
    assert!(quoted.iter().any(|q| q == "\"clang-19\""), "{quoted:?}");
    let (mut folders, mut read) = (vec![root.join("tests"), root.join("crates")], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs")
                && (name.contains("/tests/") || name.ends_with("tests.rs"))
            {
                let text = std::fs::read_to_string(&path).expect("a source");
                let found = quoted.iter().find(|q| text.contains(*q));
                assert!(found.is_none() || name.ends_with("/bare.rs"), "{name} names {found:?}");
                read += 1;
            }
        }
    }
    assert!(read > 80, "only {read} files");
}

/// All daily tests.
#[test]
#[ignore = "by hand: CONTRIBUTING.md"]
fn by_hand_the_daily_tests_pass_with_one_compiler() {
    for name in ["gcc", "clang"] {
        if let Some(compiler) = program(name) {
            pass_with(compiler, &[]);
        }
    }
}
