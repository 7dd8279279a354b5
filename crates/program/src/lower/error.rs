//! Why a plan has no program.

use crate::bounds::WORD;
use crate::method::EvenModulus;
use crate::place::Impossible;
use crate::settle::{Refused, Verdict};
use ringforge_targets::Target;

/// Why a plan cannot be lowered with a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// The lowering has no program for this node.
    #[error("no lowering for `{node}`{}: {why}; {would_work}", on(.target))]
    Unsupported {
        /// The node's text.
        node: String,
        /// The target's name; empty until [`lower`](super::lower) has added it.
        target: &'static str,
        /// What is missing.
        why: String,
        /// What would work.
        would_work: String,
    },
    /// Ranges cannot be kept.
    #[error("stage `{stage}` {source}")]
    Ranges {
        /// The stage.
        stage: String,
        /// Why.
        source: Impossible,
    },
    /// A method of the schedule asks for another modulus.
    #[error(transparent)]
    Modulus(#[from] EvenModulus),
    /// Sums of products exceed 32 bits.
    #[error("stage `{stage}`: sums of products reach {bound}, too much for 32-bit elements")]
    Wide {
        /// The stage.
        stage: String,
        /// The bound.
        bound: i64,
    },
    /// Operands of small products are too large for a sum.
    #[error(
        "stage `{stage}`: modulo {modulus} operands of the small products reach {bound}, and words of \
         {bits} bits hold no sum of such products; take a smaller modulus, or more primes"
    )]
    Products {
        /// The stage.
        stage: String,
        /// The modulus.
        modulus: u64,
        /// Bits of its words.
        bits: u8,
        /// The largest operand.
        bound: i64,
    },
    /// A stage's words are too large.
    #[error("stage `{stage}` needs |x| ≤ {most} and reaches {bound}")]
    Word {
        /// The stage.
        stage: String,
        /// The largest magnitude that it takes.
        most: i64,
        /// The bound.
        bound: i64,
    },
    /// No settlement holds; all of them were examined.
    #[error("{failure}")]
    Unsettled {
        /// The failure that says most.
        failure: Box<LowerError>,
        /// All of them.
        verdicts: Vec<Verdict>,
    },
    /// A key that the user wrote.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A site in `drop` or `add` that does not exist.
    #[error(
        "the schedule names the site `{site}`, which the program does not have; it has {known}; \
         `ringforge --json explain RING` lists all"
    )]
    NoSuchSite {
        /// The site.
        site: String,
        /// Some that it has.
        known: String,
    },
    /// The schedule drops a reduction where none stands.
    #[error(
        "the schedule drops the reduction at `{0}`, where none stands; `ringforge --json explain RING` lists those that do"
    )]
    NothingToDrop(
        /// The site.
        String,
    ),
}

/// ` on avx2`.
fn on(target: &str) -> String {
    if target.is_empty() { String::new() } else { format!(" on {target}") }
}

impl LowerError {
    /// The error with the target that it is about.
    pub(super) fn about(mut self, on: &Target) -> LowerError {
        if let LowerError::Unsupported { target, .. } = &mut self {
            *target = on.name;
        }
        self
    }
}

pub(crate) fn unsupported(
    node: impl ToString,
    why: impl ToString,
    would_work: impl ToString,
) -> LowerError {
    LowerError::Unsupported {
        node: node.to_string(),
        target: "",
        why: why.to_string(),
        would_work: would_work.to_string(),
    }
}

/// Words of a stage that reach further than it takes.
pub(super) fn beyond(stage: impl Into<String>, most: i64, bound: i64) -> LowerError {
    LowerError::Word { stage: stage.into(), most, bound }
}

/// Sums of products of a stage that exceed 32 bits.
pub(super) fn wide(stage: impl Into<String>, bound: i64) -> LowerError {
    LowerError::Wide { stage: stage.into(), bound }
}

/// Refuses words that no word of 16 bits holds.
pub(super) fn word(stage: &str, bound: i64) -> Result<i64, LowerError> {
    within(stage, WORD, bound)
}

/// Refuses words beyond `most`.
pub(super) fn within(stage: &str, most: i64, bound: i64) -> Result<i64, LowerError> {
    match bound <= most {
        true => Ok(bound),
        false => Err(beyond(stage, most, bound)),
    }
}

/// The refusal of a site, with some of those that the program has.
pub(super) fn no_such_site<'a>(
    site: &str,
    sites: impl ExactSizeIterator<Item = &'a String>,
) -> LowerError {
    let count = sites.len();
    let some: Vec<String> = sites.take(2).map(|s| format!("`{s}`")).collect();
    let known = match count {
        0 => "none".to_owned(),
        1 | 2 => some.join(" and "),
        n => format!("{} and {} more", some.join(", "), n - 2),
    };
    LowerError::NoSuchSite { site: site.to_owned(), known }
}

/// Refuses a site that is dropped where no reduction `stood`.
pub(super) fn all_stood(
    drop: &[String],
    stood: impl Fn(&String) -> bool,
) -> Result<(), LowerError> {
    match drop.iter().find(|site| !stood(site)) {
        Some(site) => Err(LowerError::NothingToDrop(site.clone())),
        None => Ok(()),
    }
}
