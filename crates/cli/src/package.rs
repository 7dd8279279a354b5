//! What a package says about itself: the content of `proof.json`, and of the report's tables.

use ringforge_interpret::count::Costs;
use ringforge_interpret::range::Ranges;
use ringforge_toolchain::timing::Timing;
use ringforge_toolchain::{Compiler, Host};
use serde::Serialize;

use crate::proof::Proof;
use crate::verify::Checked;

/// `proof.json`.
#[derive(Serialize)]
pub struct Package {
    /// Version of this format.
    pub format: u32,
    /// `proved` only if every target's implementation is; else `refuted` or `unknown`.
    pub verdict: String,
    /// Prefix of files and symbols.
    pub name: String,
    /// The ring.
    pub ring: String,
    /// The plan's name and text.
    pub plan: PlanText,
    /// Who made this.
    pub tool: Tool,
    /// On which machine.
    pub host: Host,
    /// The object that was proved, as it is shipped.
    pub object: File,
    /// One for each implementation of each entry point in the object.
    pub targets: Vec<Forged>,
    /// Other implementations measured beside these.
    pub peers: Vec<Timing>,
    /// What follows from several proofs of one contract.
    pub equivalence: Option<String>,
    /// What the verdict does not cover.
    pub limits: Vec<String>,
    /// The command that makes this package again.
    pub command: String,
    /// Seconds from start to end, compilation included.
    pub seconds: f64,
}

/// A plan by name and text.
#[derive(Serialize)]
pub struct PlanText {
    /// Its name.
    pub name: String,
    /// Key of `BIBLIOGRAPHY.yml`.
    pub cite: Option<String>,
    /// Its text.
    pub text: String,
    /// Where a target's program does not compute as the text says, the target's name first.
    pub notes: Vec<String>,
}

/// This program.
#[derive(Serialize)]
pub struct Tool {
    /// `ringforge`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// Name and version of this program.
pub const VERSION: &str = concat!("ringforge ", env!("CARGO_PKG_VERSION"));

impl Tool {
    /// This program.
    pub const THIS: Tool = Tool { name: "ringforge", version: env!("CARGO_PKG_VERSION") };
}

/// A file of the package.
#[derive(Serialize)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: usize,
    /// Its SHA-256, hexadecimal.
    pub sha256: String,
}

impl File {
    /// Describes `content`.
    pub fn of(name: &str, content: &[u8]) -> File {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(content);
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        File { name: name.into(), bytes: content.len(), sha256 }
    }
}

/// One implementation.
#[derive(Serialize)]
pub struct Forged {
    /// Its target.
    pub target: String,
    /// Its symbol.
    pub symbol: String,
    /// What it computes.
    pub computes: String,
    /// The file with its contract.
    pub contract: String,
    /// The C file that it is compiled from.
    pub source: String,
    /// The schedule's text.
    pub schedule: String,
    /// The compiler.
    pub compiler: Compiler,
    /// Its command line.
    pub compile_command: String,
    /// What the program, before any compiler, may contain: ranges by stage.
    pub ranges: Ranges,
    /// What the program costs by stage.
    pub counts: Costs,
    /// Inputs on which the program, interpreted, agreed with the oracle.
    pub interpreted: usize,
    /// Inputs on which the object, executed here, agreed with the oracle.
    pub executed: Option<Checked>,
    /// The proof.
    pub proof: Proof,
    /// Core cycles, where measured.
    pub timing: Option<Timing>,
}
