//! The presets: rings and plans that come with ringforge (`rings/`, `plans/`), or from a path.

use crate::error::{PlanError, Refusal};
use crate::operand::Operand;
use crate::plan::Plan;
use ringforge_ring::Ring;
use ringforge_targets::Target;
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// A ring file: one ring, its operands, and the plan taken when none is named.
///
/// ```
/// use ringforge_plan::{Operand, RingFile};
/// use ringforge_targets::AVX2;
/// let file = RingFile::find("sntrup761").unwrap();
/// assert_eq!(file.ring.to_string(), "Z4591[x]/(x^761 - x - 1)");
/// assert_eq!(file.operands, [Operand::Big; 2]);
/// assert_eq!(file.default_plan(&AVX2).unwrap().ring, file.ring);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RingFile {
    /// The name: a C identifier, as it prefixes symbols.
    pub name: String,
    /// The ring.
    pub ring: Ring,
    /// The operands a and b.
    pub operands: [Operand; 2],
    /// The name of the default plan; empty where it is to be searched for.
    pub plan: String,
    /// What the ring is used for, for people.
    pub kem: String,
}

/// What stands in the file, before it is checked.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: toml::Spanned<String>,
    ring: toml::Spanned<String>,
    operands: [toml::Spanned<String>; 2],
    #[serde(default)]
    plan: String,
    #[serde(default)]
    kem: String,
}

/// A ring or plan could not be had.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// There is no preset of that name.
    #[error("there is no {what} `{name}`; there are: {there_are}; or give the path of a file")]
    Unknown {
        /// `ring` or `plan`.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The names that there are.
        there_are: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The ring file names no plan, and none is known.
    #[error(transparent)]
    NoPlan(#[from] crate::automatic::NoPlan),
    /// The ring file's operands are wider than its plan allows.
    #[error(
        "the ring file `{ring}` has {wanted} operands, and its plan `{plan}` is for {allowed} ones"
    )]
    Operands {
        /// The ring file's name.
        ring: String,
        /// Its operands.
        wanted: String,
        /// The plan's name.
        plan: String,
        /// The plan's operands.
        allowed: String,
    },
    /// The text does not make sense.
    #[error("{from}:{error}")]
    Text {
        /// The file or preset.
        from: String,
        /// What is wrong, and where.
        error: PlanError,
    },
}

impl RingFile {
    /// Reads the text of a ring file (TOML).
    pub fn parse(text: &str) -> Result<RingFile, PlanError> {
        let usage = "name, ring, operands = [\"big\", \"small\" or \"within 5\", …], plan, kem; see \
                     rings/sntrup761.toml";
        let raw: Raw = toml::from_str(text).map_err(|e| {
            let at = e.span().map_or(0, |span| span.start);
            Refusal::new(at, e.message().trim()).instead(usage).within(text)
        })?;
        let name = raw.name.get_ref();
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !letters || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(Refusal::new(
                raw.name.span().start,
                format!("`{name}` is no C identifier"),
            )
            .instead("letters, digits and `_`, starting with a letter: it prefixes symbols")
            .within(text));
        }
        let ring = Ring::parse(raw.ring.get_ref()).map_err(|e| {
            let message = format!("this is not a ring: expected {}", e.expected);
            Refusal::new(raw.ring.span().start + 1 + e.at, message).within(text)
        })?;
        let Raw { operands, plan, kem, .. } = raw;
        let read = |text: &toml::Spanned<String>| -> Result<Operand, Refusal> {
            let at = text.span().start;
            let hint = "\"big\" (every centred coefficient), \"small\", \"within 5\"";
            let refuse = |why: String| Refusal::new(at, why).instead(hint);
            let operand: Operand = text.get_ref().parse().map_err(refuse)?;
            operand.too_wide(ring.q()).map_or(Ok(operand), |why| Err(refuse(why)))
        };
        let operand = |i: usize| read(&operands[i]).map_err(|refusal| refusal.within(text));
        let operands = [operand(0)?, operand(1)?];
        Ok(RingFile { name: name.clone(), ring, operands, plan, kem })
    }

    /// The preset of this name, or the ring file at this path.
    pub fn find(name_or_path: &str) -> Result<RingFile, CatalogError> {
        let (from, text) = text_of("ring", RINGS, name_or_path)?;
        RingFile::parse(&text).map_err(|error| CatalogError::Text { from, error })
    }

    /// The names of all presets.
    pub fn names() -> impl Iterator<Item = &'static str> {
        RINGS.iter().map(|(name, _)| *name)
    }

    /// The default plan: a preset, a path, or where the file names none the cheapest one of
    /// [`candidates`](crate::candidates) by the model of the target.
    ///
    /// # Errors
    /// There is no such plan, or it does not cover the operands.
    pub fn default_plan(&self, target: &Target) -> Result<Plan, CatalogError> {
        let plan = match self.plan.as_str() {
            "" => {
                let mut found = crate::candidates(&self.ring, self.operands, &self.name, target)?;
                found.swap_remove(0).plan
            }
            plan => Plan::find(plan)?,
        };
        if plan.covers(self.operands) {
            return Ok(plan);
        }
        let text = |[a, b]: [Operand; 2]| format!("{a} × {b}");
        let (wanted, allowed) = (text(self.operands), text(plan.operands));
        Err(CatalogError::Operands { ring: self.name.clone(), wanted, plan: plan.name, allowed })
    }
}

impl Plan {
    /// The preset plan of this name, or the plan at this path.
    pub fn find(name_or_path: &str) -> Result<Plan, CatalogError> {
        let (from, text) = text_of("plan", PLANS, name_or_path)?;
        Plan::parse(&text).map_err(|error| CatalogError::Text { from, error })
    }

    /// The names of all preset plans.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PLANS.iter().map(|(name, _)| *name)
    }
}

fn text_of(
    what: &'static str,
    table: &[(&str, &str)],
    name: &str,
) -> Result<(String, String), CatalogError> {
    if let Some((_, text)) = table.iter().find(|(n, _)| *n == name) {
        return Ok((name.to_string(), text.to_string()));
    }
    let path = Path::new(name);
    // A bare word is a name that is not there; anything that looks like a path is read.
    if !name.contains(['/', '\\', '.']) && !path.exists() {
        let names: Vec<&str> = table.iter().map(|(n, _)| *n).collect();
        let there_are = names.join(", ");
        return Err(CatalogError::Unknown { what, name: name.to_string(), there_are });
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((name.to_string(), text)),
        Err(source) => Err(CatalogError::Read { path: path.to_path_buf(), source }),
    }
}
