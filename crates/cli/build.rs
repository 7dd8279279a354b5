//! Embeds every text of `plans/`, so that a preset is added by adding a file there.

use std::fmt::Write;
use std::path::PathBuf;

fn main() {
    let plans = PathBuf::from(env("CARGO_MANIFEST_DIR")).join("../../plans");
    println!("cargo:rerun-if-changed={}", plans.display());
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&plans)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    paths.retain(|path| path.extension().is_some_and(|e| e == "plan"));
    paths.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let mut text = String::from("&[\n");
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        println!("cargo:rerun-if-changed={}", path.display());
        let _ = writeln!(text, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    text += "]\n";
    let target = PathBuf::from(env("OUT_DIR")).join("plans.rs");
    if let Err(error) = std::fs::write(&target, text) {
        panic!("cannot write {}: {error}", target.display());
    }
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo did not set {name}"))
}
