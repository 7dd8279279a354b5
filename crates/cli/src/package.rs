//! What a package says about itself: the content of `proof.json`, and of the report's tables.

use std::path::Path;

use ringforge_interpret::count::Costs;
use ringforge_interpret::range::Ranges;
use ringforge_plan::Operand;
use ringforge_toolchain::timing::Timing;
use ringforge_toolchain::{Compiler, Host};
use serde::Serialize;

use crate::choose::Choice;
use crate::make::Made;
use crate::modelled::Modelled;
use crate::picture;
use crate::proof::Proof;
use crate::schoolbook::Compared;
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
    /// What the operands are: `big`, `small` or `within N`.
    pub operands: [Operand; 2],
    /// The plan's name and text; of the first target where they differ.
    pub plan: PlanText,
    /// The plans of other targets where they differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_plans: Vec<PlanText>,
    /// How each target got its plan, where nobody named one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Who made this.
    pub tool: Tool,
    /// On which machine.
    pub host: Host,
    /// The object that was proved, as it is shipped.
    pub object: File,
    /// Its bytes of code and constants.
    pub loaded_bytes: u64,
    /// One for each implementation of each entry point in the object.
    pub targets: Vec<Forged>,
    /// Other implementations measured with these, plain schoolbook C among them.
    pub peers: Vec<Timing>,
    /// Each target's product compared with plain schoolbook C.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schoolbook: Vec<Compared>,
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
    /// The targets that it is for.
    pub targets: Vec<String>,
    /// Key of `BIBLIOGRAPHY.yml`.
    pub cite: Option<String>,
    /// Its text.
    pub text: String,
    /// Where a target's program does not compute as the text says. Each note starts with the
    /// target's name.
    pub notes: Vec<String>,
    /// Its tree as SVG, for the report.
    #[serde(skip)]
    pub picture: String,
}

impl PlanText {
    /// The plans of some targets, each once.
    pub fn all(made: &[Made]) -> Vec<PlanText> {
        let mut all: Vec<PlanText> = Vec::new();
        for one in made {
            let (text, target) = (one.plan.to_string(), one.target.name);
            let notes = one.notes.iter().map(|note| format!("{target}: {note}"));
            match all.iter_mut().find(|known| known.text == text) {
                Some(known) => {
                    known.targets.push(target.into());
                    known.notes.extend(notes);
                }
                None => all.push(PlanText {
                    name: one.plan.name.clone(),
                    targets: vec![target.into()],
                    cite: one.plan.cite.clone(),
                    notes: notes.collect(),
                    picture: picture::tree(&one.plan),
                    text,
                }),
            }
        }
        all
    }
}

/// The file of a package that lists the others.
pub const INDEX: &str = "proof.json";
/// The page that people read.
pub const REPORT: &str = "report.html";

/// The names of all files of the package in a directory, as its index lists them; none if there is
/// no package.
pub fn files(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join(INDEX)).unwrap_or_default();
    let index: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let word = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let Some(name) = word(&index["name"]).filter(|_| index["tool"]["name"] == Tool::THIS.name)
    else {
        return Vec::new();
    };
    let mut all = vec![INDEX.into(), REPORT.into(), format!("{name}.c"), format!("{name}.h")];
    all.extend(word(&index["object"]["name"]));
    for target in index["targets"].as_array().into_iter().flatten() {
        all.extend(word(&target["contract"]));
        all.extend(word(&target["source"]));
        all.extend(word(&target["certificate"]));
    }
    all
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
    /// File name of the certificate, for `ringforge recheck`; none where it is not proved.
    pub certificate: Option<String>,
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
    /// Executed instructions and model cycles, where the object ran in an emulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modelled: Option<Modelled>,
}
