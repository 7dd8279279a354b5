//! What the README says of the crate is done: a new project takes it by path, and its few lines exchange a key.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the source tree")
}

/// The lines of the fenced block of README.md that starts with `fence` and contains `word`.
fn block(fence: &str, word: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let fence = format!("```{fence}\n");
    let blocks = text.split(&fence).skip(1);
    let mut found = blocks.filter_map(|rest| rest.split("```").next()).filter(|b| b.contains(word));
    let (block, other) = (found.next(), found.next());
    assert!(other.is_none(), "README.md has two blocks with {word}");
    let block = block.unwrap_or_else(|| panic!("README.md has no block with {word}"));
    block.lines().map(str::to_owned).collect()
}

/// Runs a line of a shell in `dir`; nested builds share one directory, so that the next run is short.
fn run(dir: &Path, line: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {line}")])
        .current_dir(dir)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("taken"))
        .env("CARGO_NET_OFFLINE", "true") // all that it needs has been compiled for this test already
        .output()
        .expect("sh");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{line}: {}\n{said}", output.status);
    said
}

#[test]
#[ignore = "in the long run"]
fn a_new_project_takes_the_crate_by_path() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let program = block("rust", "Sntrup761::generate_keypair()");
    let lines = program.iter().filter(|l| !l.is_empty() && !l.starts_with("use ")).count();
    assert_eq!(lines, 3, "the README promises three lines");
    let mut project = dir.path().to_owned();
    for line in block("sh", "cargo add --path") {
        match line.strip_prefix("cd ") {
            Some(name) => project = project.join(name),
            None => {
                let line = line.replace("../ringforge", &root().display().to_string());
                if line.starts_with("cargo run") {
                    // The versions that this repository has, which are here already.
                    let lock = root().join("Cargo.lock");
                    std::fs::copy(lock, project.join("Cargo.lock")).expect("a copy");
                    let text = format!("fn main() {{\n{}\n}}\n", program.join("\n"));
                    std::fs::write(project.join("src/main.rs"), text).expect("a program");
                }
                run(&project, &line);
            }
        }
    }

    // The same by Rust's hash functions and portable code alone, for one KEM.
    let text = std::fs::read_to_string(project.join("src/main.rs")).expect("the program");
    std::fs::write(project.join("src/main.rs"), text.replace("Sntrup761", "MlKem768")).expect("it");
    let path = root().join("crates/kem").display().to_string();
    let features = "--no-default-features --features getrandom,mlkem768,rustcrypto-hashes,portable";
    run(&project, &format!("cargo remove ringforge-kem && cargo add --path {path} {features}"));
    run(&project, "cargo run");
}
