//! The prover as the harness sees it.

use crate::native::Pair;
use serde::Serialize;

/// What the prover says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Right for all inputs.
    Proved,
    /// Wrong, leaking or misbehaving.
    Refuted,
    /// Not decided.
    Unknown,
}

/// A verdict with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The kind of reason in one or two words, such as `range` or `constant time`; empty if
    /// proved.
    pub kind: String,
    /// The first reason in full.
    pub reason: String,
    /// Inputs at which the object goes wrong, if the prover gives some.
    pub operands: Option<Pair>,
}

/// Something that judges objects: the prover, or a stand-in in tests.
pub trait Judge: Sync {
    /// Judges one object; `still` is asked now and then whether to go on, and an object that
    /// takes too long is to be judged [`Verdict::Unknown`] with the kind `time limit`.
    fn judge(&self, object: &[u8], still: &(dyn Fn() -> bool + Sync)) -> Judgement;
}
