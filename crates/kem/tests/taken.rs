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

/// For wasm32-unknown-unknown, where there is neither a C library nor std, the crate compiles, and node exchanges a key.
#[test]
#[ignore = "in the long run"]
fn the_crate_runs_where_there_is_no_system() {
    const TARGET: &str = "wasm32-unknown-unknown";
    let here =
        |line: &str| Command::new("sh").args(["-c", line]).status().is_ok_and(|s| s.success());
    let target = format!("test -d \"$(rustc --print target-libdir --target {TARGET})\"");
    for needed in [&target[..], "clang-19 --version", "llvm-ar-19 --version", "node --version"] {
        if !here(&format!("{needed} > /dev/null 2>&1")) {
            eprintln!("skipped: no `{needed}` here; rustup target add {TARGET}");
            return;
        }
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let project = dir.path().join("bare");
    run(dir.path(), "cargo init --lib bare");
    let path = root().join("crates/kem").display().to_string();
    let features = "--no-default-features --features mlkem768,sntrup761,small";
    run(&project, &format!("cargo add --path {path} {features}"));
    std::fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock")).expect("a copy");
    let manifest = std::fs::read_to_string(project.join("Cargo.toml")).expect("a manifest");
    let manifest = format!("{manifest}\n[lib]\ncrate-type = [\"cdylib\"]\n");
    std::fs::write(project.join("Cargo.toml"), manifest).expect("a manifest");
    let text = r#"#![no_std]
        use ringforge_kem::{mlkem768, sntrup761};

        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo) -> ! {
            core::arch::wasm32::unreachable()
        }

        macro_rules! exchange {
            ($kem:ident) => {{
                let coins = core::array::from_fn(|i| (i * 29 >> 3) as u8);
                let (secret, public) = $kem::keypair_derand(&coins).unwrap();
                let (ct, ours) = public.encap_derand(&[5; $kem::ENC_COINS]);
                secret.decap(&ct).as_bytes() == ours.as_bytes()
            }};
        }

        #[unsafe(no_mangle)]
        extern "C" fn exchanged() -> u32 {
            exchange!(mlkem768) as u32 + 2 * exchange!(sntrup761) as u32
        }
    "#;
    std::fs::write(project.join("src/lib.rs"), text).expect("a program");
    let tools = "CC_wasm32_unknown_unknown=clang-19 AR_wasm32_unknown_unknown=llvm-ar-19";
    run(&project, &format!("{tools} cargo build --release --target {TARGET}"));
    let made = format!("\"$CARGO_TARGET_DIR\"/{TARGET}/release/bare.wasm");
    let script = "WebAssembly.instantiate(require('fs').readFileSync(process.argv[1])).then(\
                  made => console.log('exchanged', made.instance.exports.exchanged()))";
    let said = run(&project, &format!("node -e \"{script}\" {made}"));
    assert_eq!(said, "exchanged 3\n");
}
