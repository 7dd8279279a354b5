//! Where the functions come from: `contracts/zoo/objects.toml`.

use crate::Failure;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// All functions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// In the order of the table.
    pub function: Vec<Function>,
}

/// One function.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// The contract is `contracts/zoo/NAME.toml`.
    pub name: String,
    /// The crate of the Rust registry that has it.
    pub package: String,
    /// An archive that the crate's build script leaves in its output directory.
    pub archive: Option<String>,
    /// Members of the archive, without the digest before them and `.o` behind.
    #[serde(default)]
    pub members: Vec<String>,
    /// Sources of the crate, relative to its directory, to compile as they are.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Directories for their include files, likewise.
    #[serde(default)]
    pub include: Vec<String>,
    /// A file of `bench/zoo/shims` that is compiled and linked with it.
    pub shim: Option<String>,
    /// Macros of the shim.
    #[serde(default)]
    pub define: BTreeMap<String, String>,
    /// Whose sources they are, where it is not this machine: cross compiled.
    pub machine: Option<Cross>,
    /// What it is, for the table: `AVX2`, `portable C`, …
    pub code: String,
    /// Seconds after which the prover is stopped; [default: 300].
    pub limit: Option<u64>,
}

/// A machine that sources are compiled for by a cross compiler.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cross {
    /// AArch64, by Debian's `gcc-aarch64-linux-gnu`.
    Aarch64,
}

impl Cross {
    /// What stands before the names of its tools.
    pub fn prefix(self) -> &'static str {
        match self {
            Cross::Aarch64 => "aarch64-linux-gnu-",
        }
    }
}

impl Manifest {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or is not of this form.
    pub fn read(path: &Path) -> Result<Manifest, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure(format!("cannot read {}: {e}", path.display())))?;
        toml::from_str(&text).map_err(|e| Failure(format!("{}: {e}", path.display())))
    }
}
