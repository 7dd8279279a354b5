//! One thing to prove: a function against its contract, or a chain of functions.

use std::path::Path;

use ringforge_prove::chain::{Called, Callee, Chain};
use ringforge_prove::constant_time::SafetyContract;
use ringforge_prove::{Options, Progress, Reason, Verdict};
use serde::{Deserialize, Serialize};

use crate::chain;
use crate::objects::Found;
use crate::proof::{self, Named};
use crate::safety::checked;
use crate::ui::{Failure, Ui};
use crate::verdict::together;

/// What a function promises.
#[derive(Clone)]
pub enum Promise {
    /// One function of a contract of constant time.
    ConstantTime(SafetyContract),
    /// What one function computes, in a ring or by coefficient.
    Function(Box<Callee>),
    /// What several functions compute together.
    Chain(Box<Chain>),
}

/// An object that a task reads, and the file that it is from.
pub struct Part<'a> {
    /// The file.
    pub path: &'a Path,
    /// The object.
    pub found: Found<'a>,
}

/// What a task is called in tables and reports.
#[derive(Clone, Debug, Serialize)]
pub struct Label {
    /// The function's symbol, or the chain's file name.
    pub function: String,
    /// The object file, or the member of an archive.
    pub object: String,
    /// The contract's file.
    pub contract: String,
}

/// One thing to prove.
pub struct Task<'a> {
    /// What it is called.
    pub label: Label,
    /// What is promised.
    pub promise: Promise,
    /// The object; for a chain, that of each of its contracts.
    pub parts: Vec<Part<'a>>,
    /// The contract's text; a chain's contracts follow.
    pub texts: Vec<String>,
}

/// What was found: all that the cache keeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// Seconds that it took.
    pub seconds: f64,
    /// Why it is not `proved`.
    pub causes: Vec<Reason>,
    /// The same in lines for people, with counterexamples.
    pub reasons: Vec<String>,
    /// What the verdict takes for granted.
    pub assumptions: Vec<String>,
    /// Everything, as `prove --json` has it.
    pub report: serde_json::Value,
}

struct Silent;

impl Progress for Silent {
    fn update(&self, _: &str, _: f64) -> bool {
        true
    }
}

impl Task<'_> {
    /// Proves it, and runs refuted objects on their counterexamples if `confirms` says so.
    ///
    /// # Errors
    /// The object lacks the function, or the result has no form in JSON.
    pub fn prove(&self, options: &Options, confirms: bool) -> Result<Finding, Failure> {
        let part = |at: usize| {
            self.parts.get(at).ok_or_else(|| Failure::failed("a task without an object"))
        };
        match &self.promise {
            Promise::ConstantTime(contract) => {
                let report = checked(part(0)?.found.bytes, contract, options, &Silent);
                let functions = report.functions.iter();
                Ok(Finding {
                    verdict: report.verdict,
                    seconds: functions.clone().map(|f| f.seconds).sum(),
                    causes: functions.clone().flat_map(|f| f.reasons.clone()).collect(),
                    reasons: functions.clone().flat_map(|f| &f.reasons).map(said).collect(),
                    assumptions: functions.flat_map(|f| f.assumptions.clone()).collect(),
                    report: json(&report)?,
                })
            }
            Promise::Function(callee) => proved(part(0)?, callee, options, confirms),
            Promise::Chain(chain) => {
                let mut findings = Vec::new();
                for (at, Called { contract, .. }) in chain.contracts.iter().enumerate() {
                    findings.push(proved(part(at)?, contract, options, confirms)?);
                }
                Ok(chained(chain, findings))
            }
        }
    }
}

/// The proof of one contract.
fn proved(
    part: &Part,
    callee: &Callee,
    options: &Options,
    confirms: bool,
) -> Result<Finding, Failure> {
    let quiet = Ui { json: false, quiet: true };
    let object = Named { name: &part.found.name, bytes: part.found.bytes };
    let proof = chain::proved(&quiet, part.path, object, callee, options, confirms)?;
    Ok(Finding {
        verdict: proof.report.verdict,
        seconds: proof.seconds(),
        causes: proof.report.reasons.clone(),
        reasons: proof::explanation(&proof),
        assumptions: proof.report.assumptions.clone(),
        report: json(&proof)?,
    })
}

/// What follows for a chain from the findings on its contracts.
fn chained(chain: &Chain, findings: Vec<Finding>) -> Finding {
    let verdicts: Vec<Verdict> = findings.iter().map(|f| f.verdict).collect();
    let named = || chain.contracts.iter().map(|c| c.contract.symbol()).zip(&findings);
    let reasons = named().flat_map(|(symbol, finding)| {
        finding.reasons.iter().map(move |reason| format!("{symbol}: {reason}"))
    });
    let assumptions = findings.iter().flat_map(|f| &f.assumptions).chain(&chain.assumptions);
    Finding {
        verdict: if verdicts.is_empty() { Verdict::Unknown } else { together(&verdicts) },
        seconds: findings.iter().map(|f| f.seconds).sum(),
        causes: findings.iter().flat_map(|f| f.causes.clone()).collect(),
        reasons: reasons.collect(),
        assumptions: assumptions.cloned().collect(),
        report: serde_json::json!({
            "claims": chain.claims,
            "assumptions": chain.assumptions,
            "functions": findings.iter().map(|f| &f.report).collect::<Vec<_>>(),
        }),
    }
}

fn said(reason: &Reason) -> String {
    match reason.call.is_empty() {
        true => reason.text.clone(),
        false => format!("{} (called with {})", reason.text, reason.call),
    }
}

fn json(value: &impl Serialize) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(value).map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))
}
