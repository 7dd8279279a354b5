//! Embeds `schedules/PLAN.toml` and `schedules/PLAN.TARGET.toml`: what a search found is reused by the next build.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let directory = fs::canonicalize(variable("CARGO_MANIFEST_DIR").join("schedules"))?; // a link
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", directory.display());
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    files.sort();
    let mut rust = String::from("static SAVED: &[(&str, &str)] = &[\n");
    for path in files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        println!("cargo:rerun-if-changed={}", path.display());
        let _ = writeln!(rust, "    ({stem:?}, include_str!({:?})),", path.to_string_lossy());
    }
    rust.push_str("];\n");
    fs::write(variable("OUT_DIR").join("schedules.rs"), rust)
}
