//! Embeds the C library, so that `ringforge package` works without the source tree.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Directories of lib/ with everything in them, and single files.
const DIRECTORIES: &[&str] = &[
    "include",
    "src/common",
    "src/mlkem",
    "src/ntru",
    "src/prime",
    "tests/openssh",
    "tests/dropbear",
];
const FILES: &[&str] = &[
    "generated/multipliers.txt",
    "tests/kat.c",
    "tests/kats.txt",
    "tests/kem_test.c",
    "tests/kems.c",
    "tests/known_answers.sh",
    "tests/nist_rng.c",
    "tests/place.h",
    "tests/random.c",
    "tests/sha256.c",
    "tests/stack.c",
    "tests/test.h",
];

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let lib = fs::canonicalize(variable("CARGO_MANIFEST_DIR").join("lib"))?; // a link
    let mut names: Vec<String> = FILES.iter().map(|&name| name.to_owned()).collect();
    for directory in DIRECTORIES {
        println!("cargo:rerun-if-changed={}", lib.join(directory).display());
        for entry in fs::read_dir(lib.join(directory))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            names.push(format!("{directory}/{name}"));
        }
    }
    let source = |name: &String| {
        let known = ["c", "h", "inc", "txt", "sh"];
        Path::new(name).extension().is_some_and(|e| known.iter().any(|k| e == *k))
    };
    names.retain(source);
    names.sort();
    let mut rust =
        "/// The files of lib/ by their paths there.\nstatic FILES: &[(&str, &str)] = &[\n"
            .to_owned();
    for name in names {
        let path = lib.join(&name);
        println!("cargo:rerun-if-changed={}", path.display());
        let _ = writeln!(rust, "    ({name:?}, include_str!({:?})),", path.to_string_lossy());
    }
    rust.push_str("];\n");
    fs::write(variable("OUT_DIR").join("library.rs"), rust)
}
