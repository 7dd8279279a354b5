//! The products of other projects that ours are compared with: which there are, and how they are
//! built.

use std::path::{Path, PathBuf};
use std::process::Command;

use ringforge_ring::Ring;
use ringforge_toolchain::Compiler;
use ringforge_toolchain::timing::{Candidate, Code};

use crate::bench::short;
use crate::ui::{Failure, Ui};

/// A product of another project.
struct Peer {
    /// The ring that it multiplies in.
    ring: &'static str,
    /// Package of bench/ and the arguments that choose this product.
    program: (&'static str, &'static str),
    /// Its name in tables.
    name: &'static str,
    /// What operands it takes.
    operands: &'static str,
}

const SNTRUP761: &str = "Z4591[x]/(x^761 - x - 1)";

const PEERS: &[Peer] = &[
    Peer {
        ring: SNTRUP761,
        program: ("peer-pqcrypto", "avx2"),
        name: "pqcrypto-ntruprime 0.1.6, AVX2",
        operands: "big × small",
    },
    Peer {
        ring: SNTRUP761,
        program: ("peer-pqcrypto", "clean"),
        name: "pqcrypto-ntruprime 0.1.6, portable",
        operands: "big × small",
    },
    Peer {
        ring: SNTRUP761,
        program: ("peer-liboqs", "avx2"),
        name: "liboqs 0.13, AVX2",
        operands: "big × small",
    },
    Peer {
        ring: "Z2048[x]/(x^677 - 1)",
        program: ("peer-ntru", "2048677 avx2"),
        name: "pqcrypto-ntru 0.5.8, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z2048[x]/(x^677 - 1)",
        program: ("peer-ntru", "2048677 clean"),
        name: "pqcrypto-ntru 0.5.8, portable",
        operands: "big × big",
    },
    Peer {
        ring: "Z2048[x]/(x^509 - 1)",
        program: ("peer-ntru", "2048509 avx2"),
        name: "pqcrypto-ntru 0.5.8, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z4096[x]/(x^821 - 1)",
        program: ("peer-ntru", "4096821 avx2"),
        name: "pqcrypto-ntru 0.5.8, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z8192[x]/(x^701 - 1)",
        program: ("peer-ntru", "701 avx2"),
        name: "pqcrypto-ntru 0.5.8, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z8192[x]/(x^256 + 1)",
        program: ("peer-saber", ""),
        name: "pqcrypto-saber 0.1.11, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z3329[x]/(x^256 + 1)",
        program: ("peer-mlkem", ""),
        name: "pqcrypto-mlkem 0.1.1, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z12289[x]/(x^512 + 1)",
        program: ("peer-fndsa", "512"),
        name: "fn-dsa-comm 0.3.0, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z12289[x]/(x^1024 + 1)",
        program: ("peer-fndsa", "1024"),
        name: "fn-dsa-comm 0.3.0, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z8380417[x]/(x^256 + 1)",
        program: ("peer-mldsa", ""),
        name: "pqcrypto-mldsa 0.1.2, AVX2",
        operands: "big × big",
    },
];

/// A peer that was built.
pub struct Built {
    /// What is timed, under the peer's name.
    pub candidate: Candidate,
    /// What operands it takes.
    pub operands: String,
    /// Compiler and flags.
    pub compiled: String,
}

/// Whether there is a peer for a ring.
pub fn exist(ring: &Ring) -> bool {
    PEERS.iter().any(|peer| peer.ring == ring.to_string())
}

/// The peers that can be built with a compiler; the others, with the reason, are added to `missing`.
///
/// # Errors
/// The folder `bench` is not there, or has no peers for the ring.
pub fn build(
    ui: &Ui,
    ring: &Ring,
    bench: &Path,
    compiler: &Compiler,
    missing: &mut Vec<String>,
) -> Result<Vec<Built>, Failure> {
    let ring = ring.to_string();
    let here: Vec<&Peer> = PEERS.iter().filter(|peer| peer.ring == ring).collect();
    if here.is_empty() {
        let mut rings: Vec<&str> = PEERS.iter().map(|peer| peer.ring).collect();
        rings.dedup();
        return Err(Failure::input(format!(
            "bench/ has no peers for {ring}, only for {}",
            rings.join(", ")
        )));
    }
    let manifest = bench.join("Cargo.toml");
    if !manifest.is_file() {
        return Err(Failure::input(format!(
            "the peers are built from {}, which is not here; pass --bench-dir DIR",
            manifest.display()
        )));
    }
    let mut all = Vec::new();
    for &&Peer { program: (package, arguments), name, operands, .. } in &here {
        let bar = ui.spinner(&format!("building {package} with {}", compiler.name));
        let built = build_peer(&manifest, package, compiler);
        bar.finish_and_clear();
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        match built {
            Ok(program) => all.push(Built {
                candidate: Candidate { name: name.into(), code: Code::Program(program, arguments) },
                operands: operands.into(),
                compiled: format!("{}, its own flags", short(compiler)),
            }),
            Err(why) => missing.push(format!("{name} ({}): {why}", compiler.name)),
        }
    }
    Ok(all)
}

/// The same, and says which peers are left out.
///
/// # Errors
/// As [`build`].
pub fn built(
    ui: &Ui,
    ring: &Ring,
    bench: &Path,
    compiler: &Compiler,
) -> Result<Vec<Built>, Failure> {
    let mut missing = Vec::new();
    let all = build(ui, ring, bench, compiler, &mut missing)?;
    for reason in missing {
        ui.say(format!("left out: {reason}"));
    }
    Ok(all)
}

fn build_peer(manifest: &Path, package: &str, compiler: &Compiler) -> Result<PathBuf, String> {
    // One target directory for each compiler: Cargo does not see that $CC changed.
    let dir = manifest.with_file_name("target").join(compiler.name.replace('/', "_"));
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--locked", "--message-format=json", "-p", package])
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(dir)
        .env("CC", &compiler.path)
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().rev().find(|l| l.contains("error") || l.contains("panicked"));
        return Err(line.unwrap_or("cargo build fails").trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .find(|path| path.file_stem().is_some_and(|stem| stem == package))
        .ok_or_else(|| "cargo names no program".into())
}
