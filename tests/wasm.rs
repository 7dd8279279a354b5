//! The C library for WebAssembly: clang makes it, with and without the 128-bit vectors (simd128), wasi-libc is its C
//! library, and node runs it. A KEM of each family gives its known answers.
//!
//! Every day with vectors; left to the long run: without them, and -O3.

mod common;

use common::{in_parallel, long, run};
use ringforge_testing::{has, program};
use std::path::{Path, PathBuf};
use std::process::Command;

const OPTIONS: &[&str] = &[
    "--target=wasm32-wasi",
    "--sysroot=/usr",
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Werror",
    "-Iinclude",
];
const KEMS: &[&str] = &["sntrup761", "ntrulpr761", "mlkem768", "ntruhps2048677"];

/// Whether compiler, linker, C library and node are here.
#[track_caller]
fn tools() -> bool {
    has(&["clang", "wasm-ld", "llvm-objdump", "wasi-libc", "node"])
}

fn clang_itself() -> Command {
    Command::new(program("clang").expect("the test asks whether it is here"))
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

fn clang(options: &[String]) -> Command {
    let mut command = clang_itself();
    command.args(OPTIONS).args(options).current_dir(library());
    command
}

/// Links objects to a program that node runs.
fn link(objects: &[PathBuf], program: &Path) {
    let mut command = clang_itself();
    command.args(["--target=wasm32-wasi", "--sysroot=/usr", "-nodefaultlibs"]);
    command.args(objects).args(["-lc", "-Wl,--stack-first,-z,stack-size=262144", "-o"]);
    run(command.arg(program));
}

/// Runs a program under node; returns what it printed.
fn node(program: &Path, args: &[&str]) -> String {
    let mut command = Command::new("node");
    command.arg("--no-warnings").arg(library().join("tests/wasm.mjs")).arg(program).args(args);
    run(&mut command)
}

#[test]
fn a_kem_of_each_family_gives_its_known_answers() {
    if !tools() {
        return;
    }
    let answers = std::fs::read_to_string(library().join("tests/kats.txt")).unwrap();
    let all = [&["-O2", "-msimd128"][..], &["-O2"], &["-O3", "-msimd128"], &["-O3"]];
    for level in &all[..if long() { all.len() } else { 1 }] {
        let dir = tempfile::tempdir().unwrap();
        let mut options: Vec<String> = level.iter().map(|&o| o.to_owned()).collect();
        options.extend(["-DRINGFORGE_RANDOM=2".into(), "-DRINGFORGE_ENABLE_ALL=0".into()]);
        options.extend(KEMS.iter().map(|k| format!("-DRINGFORGE_ENABLE_{}=1", k.to_uppercase())));
        let mut sources: Vec<String> = ["sntrup761_c", "mlkem_c", "ntruhps2048677_c"]
            .map(|name| format!("generated/{name}.c"))
            .to_vec();
        for room in ["common", "mlkem", "ntru", "prime"] {
            let names = std::fs::read_dir(library().join("src").join(room)).unwrap();
            let names = names.map(|f| f.unwrap().file_name().into_string().unwrap());
            sources.extend(names.filter(|n| n.ends_with(".c")).map(|n| format!("src/{room}/{n}")));
        }
        let tests = ["kat", "kems", "random", "nist_rng", "sha256"];
        sources.extend(tests.map(|name| format!("tests/{name}.c")));
        assert!(sources.len() > 25, "{sources:?}");

        let object =
            |source: &String| dir.path().join(source.replace('/', "_")).with_extension("o");
        in_parallel(&sources, |source| {
            run(clang(&options).arg("-c").arg(source).arg("-o").arg(object(source)));
        });
        // Vectors are where they were asked for, and nowhere else.
        let objdump = Command::new(program("llvm-objdump").expect("it is here"))
            .arg("-d")
            .arg(object(&sources[0]))
            .output();
        let listing = String::from_utf8(objdump.unwrap().stdout).unwrap();
        let vectors = listing.matches("i16x8.").count();
        assert!(listing.contains("i32.mul"), "{level:?}");
        assert_eq!(vectors > 100, level.contains(&"-msimd128"), "{level:?}: {vectors}");

        let program = dir.path().join("kat.wasm");
        link(&sources.iter().map(object).collect::<Vec<_>>(), &program);
        let mut seen = 0;
        for line in answers.lines().filter(|line| !line.starts_with('#')) {
            let [name, count, hash] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("kats.txt: `{line}`")
            };
            if KEMS.contains(&name) && (count == "1" || long()) {
                assert_eq!(node(&program, &[name, count]).trim(), hash, "{name}, {level:?}");
                seen += 1;
            }
        }
        assert!(seen >= KEMS.len(), "only {seen} known answers");
    }
}

/// The library's own random bytes are WASI's.
#[test]
fn random_bytes_come_from_the_system() {
    if !tools() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let text = "#include <stdio.h>\n#include \"ringforge_kem.h\"\n\
        int RINGFORGE_NS(library_randombytes)(uint8_t *out, size_t len);\n\
        int main(void)\n{\n    static uint8_t bytes[1000];\n    size_t i;\n\
        if (RINGFORGE_NS(library_randombytes)(bytes, sizeof bytes) != 0)\n        return 1;\n\
        for (i = 0; i < sizeof bytes; i++)\n        printf(\"%02x\", bytes[i]);\n    return 0;\n}\n";
    let (source, program) = (dir.path().join("random.c"), dir.path().join("random.wasm"));
    std::fs::write(&source, text).unwrap();
    let objects = ["random.o", "system.o"].map(|name| dir.path().join(name));
    run(clang(&["-O1".into(), "-c".into()]).arg(&source).arg("-o").arg(&objects[0]));
    let system = "src/common/random_system.c";
    run(clang(&["-O1".into(), "-c".into()]).arg(system).arg("-o").arg(&objects[1]));
    link(&objects, &program);
    let (one, two) = (node(&program, &[]), node(&program, &[]));
    assert_eq!((one.len(), two.len()), (2000, 2000));
    // No piece of 16 bytes is as it was, and none is zero.
    for at in (0..2000).step_by(32) {
        let end = (at + 32).min(2000);
        assert!(one[at..end] != two[at..end] && one[at..end].contains(|c| c != '0'), "{one}");
    }
}

ringforge_testing::rest!(a_kem_of_each_family_gives_its_known_answers,);
