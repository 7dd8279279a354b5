//! The C library with the table of its KEMs that its tests use: the archive in the directory RINGFORGE_LIBRARY, which was
//! compiled with RINGFORGE_TESTING and RINGFORGE_RANDOM=2, or else all sources, by clang 19 where there is one.

use std::path::Path;

fn main() {
    let library = Path::new("../../lib");
    let mut build = cc::Build::new();
    if std::env::var_os("CC").is_none()
        && std::process::Command::new("clang-19").arg("--version").output().is_ok()
    {
        build.compiler("clang-19");
    }
    build
        .include(library.join("include"))
        .include(library.join("tests"))
        .define("RINGFORGE_TESTING", None)
        .define("RINGFORGE_RANDOM", "2")
        .opt_level(3);
    println!("cargo:rerun-if-env-changed=RINGFORGE_LIBRARY");
    let made = std::env::var_os("RINGFORGE_LIBRARY");
    if made.is_none() {
        for dir in ["src/common", "src/prime", "src/ntru", "src/mlkem", "generated"] {
            let dir = library.join(dir);
            println!("cargo:rerun-if-changed={}", dir.display());
            for file in std::fs::read_dir(dir).expect("the library's sources") {
                let file = file.expect("a file").path();
                if file.extension().is_some_and(|e| e == "c") {
                    build.file(file);
                }
            }
        }
    }
    for file in ["kems.c", "cycles.h", "fast_random.h", "test.h"] {
        println!("cargo:rerun-if-changed={}", library.join("tests").join(file).display());
    }
    println!("cargo:rerun-if-changed=src/ours.c");
    build.file("src/ours.c").file(library.join("tests/kems.c")).compile("ringforge_tested");
    if let Some(dir) = made {
        println!("cargo:rerun-if-changed={}", Path::new(&dir).join("libringforge.a").display());
        println!("cargo:rustc-link-search=native={}", Path::new(&dir).display());
        println!("cargo:rustc-link-lib=static=ringforge");
    }
    // Peers draw random bytes by getrandom, which main.rs replaces; some look it up at run time.
    println!("cargo:rustc-link-arg=-rdynamic");
}
