//! What was found of one function, as tables and reports have it.

use ringforge_prove::{Reason, Verdict};
use serde::Serialize;

use super::lines::{self, Source};
use super::task::{Finding, Label, Part};

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which function.
    #[serde(flatten)]
    pub label: Label,
    /// The verdict.
    pub verdict: Verdict,
    /// Seconds that the proof took, in this run or in an earlier one.
    pub seconds: f64,
    /// Whether the verdict is an earlier run's.
    pub cached: bool,
    /// Why it is not `proved`, in lines for people.
    pub reasons: Vec<String>,
    /// What the verdict takes for granted.
    pub assumptions: Vec<String>,
    /// Everything that was found, if it was tried.
    pub report: Option<serde_json::Value>,
    /// Why it is not `proved`, for machines.
    #[serde(skip)]
    pub causes: Vec<Cause>,
}

/// A reason, and where in the source it is.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Its kind, such as `constant-time`.
    pub kind: String,
    /// A sentence.
    pub text: String,
    /// Address of the instruction.
    pub address: Option<u64>,
    /// The instruction.
    pub instruction: Option<String>,
    /// The line of the source, as debug information has it.
    pub source: Option<Source>,
}

impl Row {
    /// What was found, with the lines of the source that it is about.
    pub fn of(label: Label, found: Finding, cached: bool, parts: &[Part]) -> Row {
        // Addresses in the findings of a chain are of several objects.
        let object = match parts {
            [part] => Some(part.found.bytes),
            _ => None,
        };
        let addresses: Vec<u64> = found.causes.iter().filter_map(|cause| cause.address).collect();
        let sources = match object {
            Some(bytes) if !addresses.is_empty() => lines::of(bytes, &addresses),
            _ => Vec::new(),
        };
        let source = |address: u64| sources.iter().find(|s| s.0 == address).map(|s| s.1.clone());
        let cause = |reason: &Reason| Cause {
            kind: kind(reason),
            text: reason.text.clone(),
            address: reason.address,
            instruction: reason.instruction.clone(),
            source: reason.address.and_then(source),
        };
        Row {
            label,
            verdict: found.verdict,
            seconds: found.seconds,
            cached,
            causes: found.causes.iter().map(cause).collect(),
            reasons: found.reasons,
            assumptions: found.assumptions,
            report: Some(found.report),
        }
    }

    /// A function that was not tried.
    pub fn untried(label: Label, kind: &str, why: String) -> Row {
        let cause = Cause {
            kind: kind.to_owned(),
            text: why.clone(),
            address: None,
            instruction: None,
            source: None,
        };
        Row {
            label,
            verdict: Verdict::Unknown,
            seconds: 0.0,
            cached: false,
            causes: vec![cause],
            reasons: vec![why],
            assumptions: Vec::new(),
            report: None,
        }
    }
}

/// A reason's kind as JSON has it.
fn kind(reason: &Reason) -> String {
    let word = serde_json::to_value(reason.kind).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_else(|| "unknown".into())
}
