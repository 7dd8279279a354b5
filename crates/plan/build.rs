//! Embeds the data that users edit, `rings/*.toml` and `plans/*.plan`: a file dropped there is a
//! preset after the next build, with no list to keep.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn table(name: &str, directory: &Path, extension: &str) -> io::Result<String> {
    println!("cargo:rerun-if-changed={}", directory.display());
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == extension) {
            files.push(path);
        }
    }
    files.sort();
    let mut rust = format!("static {name}: &[(&str, &str)] = &[\n");
    for path in files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let full = fs::canonicalize(&path)?;
        println!("cargo:rerun-if-changed={}", full.display());
        let _ = writeln!(rust, "    ({stem:?}, include_str!({:?})),", full.to_string_lossy());
    }
    rust.push_str("];\n");
    Ok(rust)
}

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let root = variable("CARGO_MANIFEST_DIR"); // links to the directories of the repository
    let rust = table("RINGS", &root.join("rings"), "toml")?
        + &table("PLANS", &root.join("plans"), "plan")?;
    fs::write(variable("OUT_DIR").join("catalog.rs"), rust)
}
