//! The prover as the harness sees it.

use crate::native::Pair;
use ringforge_prove::{Contract, Options, Progress, ReasonKind, Report, Verdict, prove};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    /// Inputs at which the object goes wrong when called with disjoint buffers, if the prover
    /// gives some.
    pub operands: Option<Pair>,
}

/// The kind of the judgement that ran into the time limit.
pub const TIME_LIMIT: &str = "time limit";

/// Something that judges objects: the prover, or a stand-in in tests.
pub trait Judge: Sync {
    /// Judges one object within `limit`; past it the verdict is unknown, its kind
    /// [`TIME_LIMIT`].
    fn judge(&self, object: &[u8], limit: Duration) -> Judgement;
}

/// The prover with one contract.
pub struct Prover {
    /// What objects have to fulfil.
    pub contract: Contract,
    /// Limits; the time limit is replaced by the harness's.
    pub options: Options,
    /// Asked now and then whether to go on at all.
    pub still: Arc<dyn Fn() -> bool + Send + Sync>,
}

struct Watch {
    still: Arc<dyn Fn() -> bool + Send + Sync>,
    end: Instant,
}

impl Progress for Watch {
    fn update(&self, _phase: &str, _fraction: f64) -> bool {
        Instant::now() < self.end && (self.still)()
    }
}

impl Judge for Prover {
    fn judge(&self, object: &[u8], limit: Duration) -> Judgement {
        let options = Options { time_limit: Some(limit), ..self.options.clone() };
        let mut watch = Watch { still: self.still.clone(), end: Instant::now() + limit };
        // Most mutants fall with disjoint buffers already: whoever breaks that part of the
        // contract breaks the contract, and the calls in place need not be executed.
        let mut disjoint = self.contract.clone();
        disjoint.alias.clear();
        let first = prove(object, &disjoint, &options, &mut watch);
        if !first.is_proved() || self.contract.alias.is_empty() {
            return judgement(&first);
        }
        judgement(&prove(object, &self.contract, &options, &mut watch))
    }
}

/// What the harness wants to know of a report.
pub fn judgement(report: &Report) -> Judgement {
    let first = report.reasons.first();
    let kind = match first.map(|r| r.kind) {
        None => "",
        Some(ReasonKind::ConstantTime) => "constant time",
        Some(ReasonKind::Memory) => "memory",
        Some(ReasonKind::Undefined) => "undefined value",
        Some(ReasonKind::Abi) => "calling convention",
        Some(ReasonKind::Residue) => "residue",
        Some(ReasonKind::Range) => "range",
        Some(ReasonKind::Function) => "function",
        Some(ReasonKind::Unmodelled) => "not modelled",
        Some(ReasonKind::Stopped) => TIME_LIMIT,
    };
    let operands = report
        .witness
        .as_ref()
        .filter(|w| w.call.starts_with("disjoint") && w.inputs.len() == 2)
        .map(|w| (w.inputs[0].1.clone(), w.inputs[1].1.clone()));
    Judgement {
        verdict: report.verdict,
        kind: kind.into(),
        reason: first.map_or_else(String::new, |r| r.text.clone()),
        operands,
    }
}
