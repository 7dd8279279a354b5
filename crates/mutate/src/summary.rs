//! Counts, and the table that people read.

use crate::harness::{Harmless, Outcome, Trial};
use crate::mutant::Class;
use ringforge_prove::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Counts of one class or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Tried.
    pub tried: usize,
    /// Refuted.
    pub refuted: usize,
    /// … of these with inputs that make the object fail when run.
    pub confirmed: usize,
    /// Left open, hence refused.
    pub unknown: usize,
    /// … of these wrong when run on random and worst inputs.
    pub open_but_wrong: usize,
    /// Proved right and found right when run.
    pub accepted: usize,
    /// Proved and wrong: must be zero.
    pub unsound: usize,
    /// The prover panicked: must be zero.
    pub crashed: usize,
    /// The time limit passed: must be zero.
    pub timed_out: usize,
    /// The compiler refused the mutant.
    pub not_compiled: usize,
    /// Meant, but no such encoding in that place.
    pub not_generated: usize,
}

impl Counts {
    fn add(&mut self, trial: &Trial) {
        self.tried += 1;
        self.open_but_wrong += usize::from(trial.open_but_wrong);
        match &trial.outcome {
            Outcome::Refused { verdict, confirmed, .. } => {
                match verdict {
                    Verdict::Refuted => self.refuted += 1,
                    _ => self.unknown += 1,
                }
                self.confirmed += usize::from(*confirmed == Some(true));
            }
            Outcome::Accepted { .. } => self.accepted += 1,
            Outcome::Unsound { .. } => self.unsound += 1,
            Outcome::NotCompiled { .. } => self.not_compiled += 1,
            Outcome::Crashed { .. } => self.crashed += 1,
            Outcome::TimedOut => self.timed_out += 1,
        }
    }

    /// Refuted or left open.
    pub fn refused(&self) -> usize {
        self.refuted + self.unknown
    }
}

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Counts by class.
    pub classes: BTreeMap<Class, Counts>,
    /// Counts of all classes.
    pub total: Counts,
    /// How often each kind of reason refused a mutant.
    pub reasons: BTreeMap<String, usize>,
    /// Why accepted mutants are harmless.
    pub harmless: BTreeMap<Harmless, usize>,
    /// Refutations whose inputs did not make the object fail.
    pub unconfirmed: usize,
    /// Dropped reductions that random testing does not find and the prover's inputs do.
    pub found_by_proof_alone: Vec<String>,
    /// Every trial.
    pub trials: Vec<Trial>,
}

impl Summary {
    /// Counts `trials`; `not_generated` is what could not be made.
    pub fn new(trials: Vec<Trial>, not_generated: &BTreeMap<Class, usize>) -> Summary {
        let mut classes: BTreeMap<Class, Counts> = BTreeMap::new();
        let mut total = Counts::default();
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        let mut harmless: BTreeMap<Harmless, usize> = BTreeMap::new();
        let mut unconfirmed = 0;
        for trial in &trials {
            classes.entry(trial.class).or_default().add(trial);
            total.add(trial);
            match &trial.outcome {
                Outcome::Refused { kind, confirmed, .. } => {
                    *reasons.entry(kind.clone()).or_default() += 1;
                    unconfirmed += usize::from(*confirmed == Some(false));
                }
                Outcome::Accepted { why, .. } => *harmless.entry(*why).or_default() += 1,
                _ => {}
            }
        }
        for (class, n) in not_generated {
            classes.entry(*class).or_default().not_generated = *n;
            total.not_generated += n;
        }
        let found_by_proof_alone = trials
            .iter()
            .filter(|t| t.found_by_proof_alone())
            .map(|t| format!("{}: {}", t.class, t.what))
            .collect();
        Summary { classes, total, reasons, harmless, unconfirmed, found_by_proof_alone, trials }
    }

    /// Whether mutants were judged, and each was refused, or proved and right: none unsound, crashed, timed out.
    pub fn passed(&self) -> bool {
        let Counts { accepted, unsound, crashed, timed_out, .. } = self.total;
        self.total.refused() + accepted > 0 && unsound == 0 && crashed == 0 && timed_out == 0
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<24}{:>7}{:>9}{:>11}{:>9}{:>10}",
            "mutants", "tried", "refuted", "confirmed", "unknown", "proved"
        )?;
        let line = |f: &mut fmt::Formatter<'_>, name: &str, c: &Counts| {
            writeln!(
                f,
                "{name:<24}{:>7}{:>9}{:>11}{:>9}{:>10}",
                c.tried, c.refuted, c.confirmed, c.unknown, c.accepted
            )
        };
        for (class, counts) in self.classes.iter().filter(|(_, c)| c.tried > 0) {
            line(f, &class.to_string(), counts)?;
        }
        line(f, "all", &self.total)?;
        let t = &self.total;
        writeln!(f)?;
        writeln!(
            f,
            "{} of {} refused, {} proved correct and found correct when run",
            t.refused(),
            t.tried,
            t.accepted
        )?;
        if t.unknown > 0 {
            writeln!(f, "  left open: {}; {} of them wrong when run", t.unknown, t.open_but_wrong)?;
        }
        for (kind, n) in &self.reasons {
            writeln!(f, "  refused for {kind}: {n}")?;
        }
        for (why, n) in &self.harmless {
            let text = match why {
                Harmless::SameBytes => "the compiler makes the same bytes of it",
                Harmless::SameTerms => "the same terms over the inputs",
                Harmless::NotNeeded => "not needed, the ranges fit without it",
                Harmless::OtherWay => "another way to the same result",
            };
            writeln!(f, "  proved, {text}: {n}")?;
        }
        for (n, what) in [
            (t.unsound, "PROVED AND WRONG: THE PROVER IS UNSOUND"),
            (t.crashed, "the prover panicked"),
            (t.timed_out, "out of time"),
            (t.not_compiled, "not accepted by the compiler"),
            (self.unconfirmed, "refuted by inputs that do not fail when run"),
        ] {
            if n > 0 {
                writeln!(f, "  {what}: {n}")?;
            }
        }
        if t.tried == t.not_compiled {
            writeln!(f, "  NO MUTANT WAS JUDGED")?;
        }
        for trial in &self.trials {
            if let Outcome::Unsound { shown } = &trial.outcome {
                writeln!(f, "UNSOUND: {}: {}: {shown}", trial.class, trial.what)?;
            }
        }
        for what in &self.found_by_proof_alone {
            writeln!(f, "  random testing finds nothing, the proof's inputs fail: {what}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_judges_nothing_does_not_pass() {
        let summary = |outcomes: &[Outcome]| {
            let trial = |outcome: &Outcome| Trial {
                class: Class::OffsetWrong,
                what: String::new(),
                outcome: outcome.clone(),
                random_products_right: None,
                random_tests_pass: false,
                open_but_wrong: false,
                seconds: 0.0,
            };
            Summary::new(outcomes.iter().map(trial).collect(), &BTreeMap::new())
        };
        let unmade = Outcome::NotCompiled { why: "no such text".into() };
        let right = Outcome::Accepted { why: Harmless::SameTerms, products: 1 };
        for count in 0..3 {
            let summary = summary(&vec![unmade.clone(); count]);
            assert!(!summary.passed() && summary.to_string().contains("NO MUTANT WAS JUDGED"));
        }
        assert!(summary(&[unmade, right.clone()]).passed());
        assert!(!summary(&[right, Outcome::TimedOut]).passed());
    }
}
