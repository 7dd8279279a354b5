//! Turns a contract and an object into a theorem or a counterexample.
//!
//! [`prove`] takes machine code and a [`Contract`] and nothing else: no annotation, no hint, no
//! knowledge of the generator. It executes the code on symbols (`ringforge_machine`), and reads
//! every word as a linear form over exact integers. If something is not linear, it enumerates all
//! values of the one variable on which that depends. It compares the outputs with what the contract
//! asks for at all basis vectors. Anything that is not modelled leaves the verdict `unknown`.

#[cfg(test)]
mod audit;
mod beside;
mod bilinear;
mod bits;
#[cfg(test)]
mod circuit_tests;
mod congruent;
pub mod constant_time;
mod cut;
mod enumeration;
mod exact;
mod extensions;
mod extremal_inputs;
mod first;
mod function;
mod funs;
mod garner;
mod integers;
mod joint;
mod lift;
mod limits;
mod lines;
#[cfg(test)]
mod low_tests;
pub mod map;
mod mod2k;
mod moduli;
mod plain;
mod prove;
mod quotient;
#[cfg(test)]
mod quotient_tests;
mod ranges;
mod reading;
#[cfg(test)]
mod reading_tests;
mod record;
#[cfg(test)]
mod record_tests;
mod refute;
pub mod report;
mod resolve;
mod respell;
#[cfg(test)]
mod respelled_tests;
mod signs;
#[cfg(test)]
mod signs_tests;
mod spread;
mod unfold;
mod uses;
mod values;
mod walk;
#[cfg(test)]
mod walk_tests;
mod ways;
#[cfg(test)]
mod wide_tests;
mod witness;
mod words;

pub use limits::Options;
pub use report::{DOUBTFUL_WAY, Reason, ReasonKind, Report, Verdict, Witness};
pub use ringforge_contract::{
    Computes, Contract, ContractError, Oracle, Transform, chain, contract, expected,
};

use limits::Watch;
use prove::Job;
use ringforge_contract::{claims, sha256};
use ringforge_machine::Object;
use std::time::Instant;

/// Receives the progress of a proof.
pub trait Progress: Send + Sync {
    /// `fraction` of `phase` is done; return false to stop.
    fn update(&self, phase: &str, fraction: f64) -> bool;
}

/// Ignores progress.
pub struct Quiet;

impl Progress for Quiet {
    fn update(&self, _: &str, _: f64) -> bool {
        true
    }
}

/// Proves or refutes that `object` fulfils `contract`.
pub fn prove(
    object: &[u8],
    contract: &Contract,
    options: &Options,
    progress: &mut dyn Progress,
) -> Report {
    let started = Instant::now();
    let mut report = empty_report(object, contract);
    let parsed = match Object::parse(object) {
        Ok(o) => o,
        Err(e) => {
            report.reason(ReasonKind::Unmodelled, "", e.to_string());
            return report;
        }
    };
    let certificate = ringforge_certificate::Certificate::default();
    let watch = Watch::new(options, started);
    let object = &parsed;
    let mut job = Job { contract, object, options, progress, report, watch, certificate };
    job.run();
    let mut report = job.report;
    if options.certificate {
        report.certificate.text = job.certificate.into_text();
    }
    report.times.insert("total".into(), started.elapsed().as_secs_f64());
    report
}

/// Proves several objects of one contract. Those that are proved are equivalent on all inputs in
/// range, because their outputs are canonical or, at least, congruent. The reports name each other
/// only if the contract's output range holds one representative of each residue, so that congruent
/// outputs are equal.
pub fn prove_many(
    objects: &[&[u8]],
    contract: &Contract,
    options: &Options,
    progress: &mut dyn Progress,
) -> Vec<Report> {
    let mut reports: Vec<Report> =
        objects.iter().map(|o| prove(o, contract, options, progress)).collect();
    let output = &contract.arguments[contract.output()];
    let unique = output.exit.1 - output.exit.0 < contract.ring.q() as i64;
    if unique {
        let proved: Vec<String> =
            reports.iter().filter(|r| r.is_proved()).map(|r| r.object_sha256.clone()).collect();
        for r in reports.iter_mut().filter(|r| r.is_proved()) {
            let own = r.object_sha256.clone();
            r.equivalent = proved.iter().filter(|p| **p != own).cloned().collect();
            r.equivalent.dedup();
        }
    }
    reports
}

fn empty_report(object: &[u8], contract: &Contract) -> Report {
    Report {
        verdict: Verdict::Unknown,
        symbol: contract.symbol.clone(),
        ring: contract.ring.to_string(),
        object_sha256: sha256(object),
        object_bytes: object.len(),
        claims: claims::claims(contract),
        assumptions: claims::assumptions(contract),
        reasons: Vec::new(),
        witness: None,
        remarks: Vec::new(),
        ranges: Default::default(),
        counts: Default::default(),
        times: Default::default(),
        certificate: Default::default(),
        equivalent: Vec::new(),
    }
}
