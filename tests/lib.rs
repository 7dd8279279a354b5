//! The C library: it compiles without a warning by gcc and clang, gives the known answers on portable code and on
//! AVX2, does what its header says on good and on bad input, and keeps to its prefix.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

const STRICT: &[&str] =
    &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-Iinclude"];

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

fn run(command: &mut Command) -> Output {
    let out = command.current_dir(library()).output();
    let out = out.unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        out.status.success(),
        "{command:?}: {}\n{}{}",
        out.status,
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    out
}

/// All sources of the library.
fn sources() -> Vec<PathBuf> {
    let mut dirs = vec![library().join("generated")];
    dirs.extend(std::fs::read_dir(library().join("src")).unwrap().map(|d| d.unwrap().path()));
    let mut all: Vec<PathBuf> = dirs
        .iter()
        .flat_map(|dir| std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()))
        .filter(|f| f.extension() == Some(OsStr::new("c")))
        .collect();
    assert!(all.len() > 20, "only {} sources in {dirs:?}", all.len());
    // the long ones first
    all.sort_by_key(|f| std::cmp::Reverse(std::fs::metadata(f).unwrap().len()));
    all
}

/// Compiles the library in `dir`, on all processors; returns its objects.
fn objects(cc: &str, options: &[&str], dir: &Path) -> Vec<PathBuf> {
    std::fs::create_dir_all(dir).unwrap();
    let sources = sources();
    let next = Mutex::new(sources.iter());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(source) = next.lock().unwrap().next() else { return };
                    let object = dir.join(source.file_stem().unwrap()).with_extension("o");
                    run(Command::new(cc)
                        .args(STRICT)
                        .args(options)
                        .args(["-c", "-o"])
                        .args([&object, source]));
                }
            });
        }
    });
    sources.iter().map(|s| dir.join(s.file_stem().unwrap()).with_extension("o")).collect()
}

/// Links a test of `lib/tests`.
fn program(cc: &str, options: &[&str], name: &str, objects: &[PathBuf], dir: &Path) -> PathBuf {
    let file = dir.join(name);
    let main = format!("tests/{name}.c");
    run(Command::new(cc)
        .args(STRICT)
        .args(options)
        .arg(&main)
        .args(["tests/kems.c", "tests/random.c", "tests/nist_rng.c", "tests/sha256.c"])
        .args(objects)
        .arg("-o")
        .arg(&file));
    file
}

/// Every symbol that others can see starts with the prefix.
fn keeps_to_prefix(objects: &[PathBuf], prefix: &str) {
    let out = run(Command::new("nm").args(["--defined-only", "--extern-only", "-P"]).args(objects));
    let text = String::from_utf8(out.stdout).unwrap();
    let names: Vec<&str> = text
        .lines()
        .filter(|line| !line.ends_with(':') && !line.is_empty())
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert!(names.len() > 100, "only {} symbols", names.len());
    for name in names {
        assert!(name.starts_with(prefix), "{name} has no prefix {prefix}");
    }
}

/// The known answers of `lib/tests/kats.txt`, on both kinds of code.
fn gives_known_answers(kat: &Path) {
    let text = std::fs::read_to_string(library().join("tests/kats.txt")).unwrap();
    let mut seen = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [name, count, hash] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("kats.txt: `{line}` is not a KEM, a number of cases and a hash")
        };
        for target in [&[][..], &["portable"]] {
            let out = run(Command::new(kat).args([name, count]).args(target));
            assert_eq!(
                String::from_utf8(out.stdout).unwrap().trim(),
                hash,
                "{name}, {count} cases, {target:?}"
            );
        }
        seen += 1;
    }
    assert!(seen >= 11, "only {seen} known answers");
}

fn checks(cc: &str, prefix: Option<&str>) {
    let dir = tempfile::tempdir().unwrap();
    let mut options = vec!["-O2", "-DRINGFORGE_TESTING", "-DRINGFORGE_RANDOM=2"];
    let define = prefix.map(|p| format!("-DRINGFORGE_PREFIX={p}"));
    options.extend(define.as_deref());
    let objects = objects(cc, &options, dir.path());
    keeps_to_prefix(&objects, prefix.unwrap_or("ringforge_"));
    let kat = program(cc, &options, "kat", &objects, dir.path());
    gives_known_answers(&kat);
    run(&mut Command::new(program(cc, &options, "kem_test", &objects, dir.path())));
}

#[test]
fn the_library_with_gcc() {
    checks("gcc", Some("other_"));
}

#[test]
fn the_library_with_clang() {
    checks("clang-19", None);
}
