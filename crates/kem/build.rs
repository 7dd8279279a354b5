//! Compiles the C library of this repository: the KEMs whose features are on.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("lib"); // a link to the repository's
    let feature = |name: &str| {
        env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase().replace('-', "_"))).is_some()
    };
    let mut build = cc::Build::new();
    build.std("c99").include(root.join("include")).opt_level(3);
    // A prefix of its own, so that a program may link the C library as well.
    build.define("RINGFORGE_PREFIX", "ringforge_rs_").define("RINGFORGE_RANDOM", "2");
    build.define("RINGFORGE_HASH", if feature("rustcrypto-hashes") { "2" } else { "0" });
    build.define("RINGFORGE_TARGET", if feature("portable") { "1" } else { "0" });
    if feature("small") {
        build.define("RINGFORGE_SMALL", "1").opt_level_str("s");
    }
    if !KEMS.iter().any(|kem| feature(kem)) {
        return; // nothing is called
    }
    build.define("RINGFORGE_ENABLE_ALL", "0");
    for kem in KEMS.iter().filter(|kem| feature(kem)) {
        build.define(&format!("RINGFORGE_ENABLE_{}", kem.to_uppercase()), "1");
    }
    let mut portable = build.clone();
    for dir in ["src/common", "src/mlkem", "src/ntru", "src/prime", "generated", "include"] {
        let dir = root.join(dir);
        println!("cargo:rerun-if-changed={}", dir.display());
        for file in sources(&dir) {
            let is_portable =
                dir.ends_with("generated") && file.to_string_lossy().ends_with("_c.c");
            (if is_portable { &mut portable } else { &mut build }).file(file);
        }
    }
    build.file(layouts(&feature));
    build.compile("ringforge_rs");
    // gcc takes up to 16 times as long over the portable multipliers with -O3, and they are no faster for it.
    portable.opt_level_str(if feature("small") { "s" } else { "2" });
    portable.compile("ringforge_rs_portable");
}

/// A source that does not compile where a prepared key of C is larger than that of src/kems.rs.
fn layouts(feature: &dyn Fn(&str) -> bool) -> PathBuf {
    let rows = include_str!("src/kems.rs").lines().filter_map(|row| row.strip_prefix("kem!("));
    let mut text = "#include \"ringforge_kem.h\"\n".to_owned();
    for row in rows {
        let name = row.split(',').next().unwrap_or_default();
        let words =
            row.split("prepared ").nth(1).and_then(|rest| rest.split([' ', ',', ')']).next());
        if let Some(words) = words.filter(|_| feature(name)) {
            text += &format!(
                "typedef char {name}_fits[sizeof(RINGFORGE_NS({name}_prepared)) <= 8 * {words} ? 1 : -1];\n"
            );
        }
    }
    let path = Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("layouts.c");
    std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    path
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(dir);
    let listed = listed.unwrap_or_else(|e| panic!("{}, ringforge's C library: {e}", dir.display()));
    let mut files: Vec<PathBuf> = listed.flatten().map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "c"));
    files.sort();
    files
}

const KEMS: &[&str] = &[
    "sntrup653",
    "sntrup761",
    "sntrup857",
    "sntrup953",
    "sntrup1013",
    "sntrup1277",
    "ntrulpr653",
    "ntrulpr761",
    "ntrulpr857",
    "ntrulpr953",
    "ntrulpr1013",
    "ntrulpr1277",
    "mlkem512",
    "mlkem768",
    "mlkem1024",
    "ntruhps2048509",
    "ntruhps2048677",
    "ntruhps4096821",
    "ntruhps40961229",
    "ntruhrss701",
    "ntruhrss1373",
];
