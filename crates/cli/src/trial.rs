//! Plans tried out: made for a target, compiled, proved and timed; nothing is kept.

use std::path::PathBuf;
use std::time::Duration;

use ringforge_emit::Preamble;
use ringforge_plan::Plan;
use ringforge_program::method::ReduceMethod;
use ringforge_program::schedule::Schedule;
use ringforge_prove::Options;
use ringforge_ring::Ring;
use ringforge_toolchain::timing::{Candidate, Code, Settings, Timing, TimingError, measure};
use ringforge_toolchain::{Compiler, Scratch};

use crate::make::{self, Made};
use crate::package::File;
use crate::preset::Job;
use crate::proof::{self, Named, Proof};
use crate::target::Target;
use crate::ui::{Failure, Ui};

/// Prefix of the symbols of what is tried. It is the same for every name that a user gives the
/// ring, so that equal programs have equal code.
const PREFIX: &str = "tried";

/// How long to look for inputs that show a candidate to be wrong. Most that stay unproved are
/// right, and what is packed is also run on random inputs.
const SEARCH: Duration = Duration::from_secs(1);

/// Where plans are tried: one ring, one compiler.
pub struct Builder<'a> {
    /// How to talk.
    pub ui: &'a Ui,
    /// The compiler.
    pub compiler: &'a Compiler,
    /// Its optimisation level.
    pub opt: &'a str,
    /// The ring.
    pub ring: &'a Ring,
    /// Where sources and objects are put.
    pub scratch: Scratch,
}

/// A plan that was made for a target and compiled.
pub struct Tried {
    /// The program.
    pub made: Made,
    /// The schedule that it follows.
    pub schedule: Schedule,
    /// The object.
    pub object: PathBuf,
    /// SHA-256 of the C code.
    pub code: String,
    /// Bytes of the object.
    pub bytes: u64,
}

impl Builder<'_> {
    /// The schedules worth a try for a plan. The first is the target's, or the one that a search
    /// found. The second has Montgomery's reductions, or Barrett's if the first has Montgomery's.
    /// It is there because the prover bounds Barrett's reductions of sums by the sums' parts.
    ///
    /// # Errors
    /// A saved schedule is malformed: a fault of ringforge.
    pub fn schedules(target: &Target, plan: &Plan) -> Result<Vec<Schedule>, Failure> {
        let usual = make::schedule(None, target, &plan.name)?;
        let reduce = match usual.reduce {
            ReduceMethod::Montgomery => ReduceMethod::BarrettHigh,
            _ => ReduceMethod::Montgomery,
        };
        let other = Schedule { reduce, ..usual.clone() };
        Ok(vec![usual, other])
    }

    /// The program of a plan.
    ///
    /// # Errors
    /// The plan has none for this target and schedule.
    pub fn program(
        &self,
        target: &'static Target,
        schedule: &Schedule,
        plan: Plan,
    ) -> Result<Made, Failure> {
        let job = Job { name: PREFIX.into(), operands: plan.operands, plan };
        let mut made = make::make(&job, target, schedule, PREFIX)?;
        made.compiled_by(self.compiler);
        Ok(made)
    }

    /// The C code of a program and its digest; without the command that made it, which changes nothing.
    ///
    /// # Errors
    /// The target cannot express it.
    pub fn code(made: &Made) -> Result<(String, String), Failure> {
        let text = made.target.emit(&made.program, &Preamble::default())?;
        let digest = File::of("", text.as_bytes()).sha256;
        Ok((text, digest))
    }

    /// Compiles a program's code; `file` names it.
    ///
    /// # Errors
    /// The compiler fails.
    pub fn compile(
        &self,
        (made, schedule): (Made, Schedule),
        file: &str,
        (text, code): (String, String),
    ) -> Result<Tried, Failure> {
        let source = self.scratch.path().join(format!("{file}.c"));
        let object = self.scratch.path().join(format!("{file}.o"));
        std::fs::write(&source, text)
            .map_err(|e| Failure::failed(format!("cannot write {}: {e}", source.display())))?;
        self.compiler
            .compile(&source, &make::flags(self.opt), &object)
            .map_err(|e| Failure::failed(e.to_string()))?;
        let bytes = object.metadata().map_or(u64::MAX, |file| file.len());
        Ok(Tried { made, schedule, object, code, bytes })
    }

    /// Proves the whole product, or gives up after `limit`.
    ///
    /// # Errors
    /// The object is gone, or lacks the symbol: a fault of ringforge.
    pub fn prove(&self, tried: &Tried, limit: Duration) -> Result<Proof, Failure> {
        let entry = tried.made.entry(None)?;
        let terms = entry.contract(PREFIX, self.ring, None);
        let contract = proof::contract(&entry.contract_file(PREFIX), &terms, None)?;
        let bytes = std::fs::read(&tried.object)
            .map_err(|e| Failure::failed(format!("the object is gone: {e}")))?;
        let named = Named { name: &tried.made.plan.name, bytes: &bytes };
        Ok(proof::prove(self.ui, &[named], &contract, options(limit))?.swap_remove(0))
    }

    /// The whole product, for timing under a name.
    ///
    /// # Errors
    /// There is none: a fault of ringforge.
    pub fn candidate(&self, name: String, tried: &Tried) -> Result<Candidate, Failure> {
        let signature = tried.made.entry(None)?.signature.clone();
        Ok(Candidate { name, code: Code::Objects(vec![tried.object.clone()], signature) })
    }
}

/// How a candidate is proved that may take `limit`.
fn options(limit: Duration) -> Options {
    Options { time_limit: Some(limit), search: SEARCH, ..Options::default() }
}

/// A candidate's name, and its timing or why it has none.
pub type Timed = (String, Result<Timing, String>);

/// Times candidates side by side; each gets its timing, or why it has none. One that crashes is left out
/// and the others are timed again.
///
/// # Errors
/// Nothing can be timed.
pub fn timed(
    ui: &Ui,
    compiler: &Compiler,
    mut candidates: Vec<Candidate>,
    settings: &Settings,
) -> Result<Vec<Timed>, Failure> {
    let mut out = Vec::new();
    while !candidates.is_empty() {
        let bar = ui.bar("timing", (settings.copies * settings.samples) as u64);
        let timings = measure(compiler, &candidates, settings, &mut |done, _| {
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        match timings {
            Ok(timings) => {
                let names = candidates.into_iter().map(|candidate| candidate.name);
                out.extend(names.zip(timings.into_iter().map(Ok)));
                break;
            }
            Err(TimingError::Silent { name, why }) => {
                let Some(at) = candidates.iter().position(|c| c.name == name) else {
                    return Err(Failure::failed(why));
                };
                candidates.remove(at);
                out.push((name, Err(why)));
            }
            Err(error) => return Err(Failure::failed(error.to_string())),
        }
    }
    Ok(out)
}

/// Why a proof did not succeed, in a line: the verdict and the first reason.
pub fn unproved(proof: &Proof) -> String {
    let why = proof::explanation(proof).into_iter().next().unwrap_or_default();
    format!("{}: {why}", proof.verdict())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Candidates that stay unproved are many, and their patience is for proofs.
    #[test]
    fn the_search_for_wrong_inputs_takes_little_of_a_candidate_s_patience() {
        let limit = Duration::from_secs(30);
        let options = options(limit);
        assert_eq!(options.time_limit, Some(limit));
        assert!(options.search > Duration::ZERO && options.search * 4 < Options::default().search);
    }
}
