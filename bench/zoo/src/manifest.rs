//! Where the functions come from: `contracts/zoo/objects.toml`.

use crate::Failure;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// All functions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// In the order of the page's sections.
    pub library: Vec<Library>,
    /// In the order of the table.
    pub function: Vec<Function>,
    /// Contracts that must not be proved.
    #[serde(default)]
    pub twin: Vec<Twin>,
}

/// A section of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// The library's name.
    pub name: String,
    /// What it is, and from which crate, in a sentence or two.
    pub about: String,
    /// Which of its functions have no row, and why.
    pub missing: String,
}

/// A function's contract, changed in one place into what the function does not do.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    /// The function.
    pub of: String,
    /// What its contract says.
    pub from: String,
    /// What stands there instead.
    pub to: String,
}

/// One function.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// The contract is `contracts/zoo/NAME.toml`.
    pub name: String,
    /// The library that it belongs to: a section of the page.
    pub library: String,
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
        let manifest: Manifest =
            toml::from_str(&text).map_err(|e| Failure(format!("{}: {e}", path.display())))?;
        let known = |f: &&Function| !manifest.library.iter().any(|l| l.name == f.library);
        match manifest.function.iter().find(known) {
            Some(f) => Err(Failure(format!("{}: there is no library `{}`", f.name, f.library))),
            None => Ok(manifest),
        }
    }
}
