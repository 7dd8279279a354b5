//! Every mutant before the judge, every acquittal cross-checked by running it.

use crate::judge::{Judge, Judgement, TIME_LIMIT};
use crate::mutant::{Change, Class, Mutant};
use crate::native::{Behaviour, Native};
use rayon::prelude::*;
use ringforge_program::ir::Program;
use ringforge_prove::Verdict;
use ringforge_toolchain::{Compiler, Scratch};
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How thorough a run is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Time for one verdict.
    pub limit: Duration,
    /// Random products that cross-check a mutant which was proved.
    pub cross_checks: usize,
    /// Random products tried on every dropped reduction that was refused.
    pub random_tests: usize,
    /// Seed of all random inputs.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            limit: Duration::from_secs(120),
            cross_checks: 5_000,
            random_tests: 100_000,
            seed: 1,
        }
    }
}

/// Why a mutant that was proved is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harmless {
    /// The compiler made the same code and constants of it.
    SameBytes,
    /// Every output is the very same term over the inputs.
    SameTerms,
    /// What was left out was not needed: the ranges fit without it.
    NotNeeded,
    /// Another computation with the same result.
    OtherWay,
}

/// What became of one mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// Refuted or left open: not accepted.
    Refused {
        /// `refuted` or `unknown`.
        verdict: Verdict,
        /// The kind of reason.
        kind: String,
        /// The reason.
        reason: String,
        /// For refutations with inputs: whether running the mutant on them goes wrong.
        confirmed: Option<bool>,
    },
    /// Proved, and equal to the original wherever it was run.
    Accepted {
        /// Why.
        why: Harmless,
        /// Products compared.
        products: usize,
    },
    /// Proved, and wrong when run. The prover is unsound.
    Unsound {
        /// What running showed.
        shown: String,
    },
    /// The compiler refused the mutant.
    NotCompiled {
        /// Its complaint.
        why: String,
    },
    /// The prover panicked.
    Crashed {
        /// Its last words.
        why: String,
    },
    /// The time limit passed.
    TimedOut,
}

/// A mutant with what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// Its kind.
    pub class: Class,
    /// What was changed.
    pub what: String,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Random products that went right before one went wrong, or all that were tried; for
    /// dropped reductions alone.
    pub random_products_right: Option<usize>,
    /// Whether random testing found nothing wrong with it.
    pub random_tests_pass: bool,
    /// For a mutant that was left open: whether running it on random and worst inputs showed it
    /// wrong.
    pub open_but_wrong: bool,
    /// Time for the verdict.
    pub seconds: f64,
}

impl Trial {
    /// Random tests pass, the prover refuses with inputs, and running it on them goes wrong.
    pub fn found_by_proof_alone(&self) -> bool {
        self.random_tests_pass
            && matches!(
                self.outcome,
                Outcome::Refused { verdict: Verdict::Refuted, confirmed: Some(true), .. }
            )
    }
}

/// A program with its emitter.
pub type Emitted<'a> = (&'a Program, &'a (dyn Fn(&Program) -> Option<String> + Sync));

/// The original and what is needed to make and judge its mutants.
pub struct Harness<'a> {
    /// The original object.
    pub object: &'a [u8],
    /// Compiler and flags for mutants of the source.
    pub compiler: &'a Compiler,
    /// See `compiler`.
    pub flags: &'a [String],
    /// The program that the source was emitted from, with the emitter.
    pub program: Option<Emitted<'a>>,
    /// The prover.
    pub judge: &'a dyn Judge,
    /// For running mutants.
    pub native: &'a Native,
    /// Whether two objects compute the same terms, if that can be told.
    pub same_terms: &'a (dyn Fn(&[u8], &[u8]) -> bool + Sync),
    /// How thorough.
    pub settings: Settings,
}

impl Harness<'_> {
    /// Tries all `mutants`, several at a time. `progress` receives how many are done, and each result. Results are in the
    /// order of the mutants.
    pub fn run(
        &self,
        mutants: &[&Mutant],
        progress: &(dyn Fn(usize, &Trial) + Sync),
    ) -> Vec<Trial> {
        let done = AtomicUsize::new(0);
        mutants
            .par_iter()
            .map(|mutant| {
                let trial = self.trial(mutant);
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, &trial);
                trial
            })
            .collect()
    }

    fn trial(&self, mutant: &Mutant) -> Trial {
        let mut trial = Trial {
            class: mutant.class,
            what: mutant.what.clone(),
            outcome: Outcome::TimedOut,
            random_products_right: None,
            random_tests_pass: false,
            open_but_wrong: false,
            seconds: 0.0,
        };
        let object = match self.object_of(mutant) {
            Ok(object) => object,
            Err(why) => {
                trial.outcome = Outcome::NotCompiled { why };
                return trial;
            }
        };
        if same_content(&object, self.object) {
            trial.outcome = Outcome::Accepted { why: Harmless::SameBytes, products: 0 };
            return trial;
        }
        let start = Instant::now();
        let limit = self.settings.limit;
        let judged = catch_unwind(AssertUnwindSafe(|| self.judge.judge(&object, limit)));
        trial.seconds = start.elapsed().as_secs_f64();
        trial.outcome = match judged {
            Err(panic) => Outcome::Crashed { why: last_words(panic.as_ref()) },
            Ok(judgement) if judgement.kind == TIME_LIMIT => Outcome::TimedOut,
            Ok(judgement) => self.weigh(mutant, &object, judgement),
        };
        let dropped = matches!(
            mutant.class,
            Class::ReductionDropped | Class::ProductUncorrected | Class::SubtractionDropped
        );
        if dropped && matches!(trial.outcome, Outcome::Refused { .. }) {
            self.test_at_random(&object, &mut trial);
        }
        if matches!(trial.outcome, Outcome::Refused { verdict: Verdict::Unknown, .. }) {
            let found = self.native.compare(&object, 1_000, self.settings.seed);
            trial.open_but_wrong = !matches!(found, Behaviour::Same { .. });
        }
        trial
    }

    fn object_of(&self, mutant: &Mutant) -> Result<Vec<u8>, String> {
        let source = match &mutant.change {
            Change::Object(_) => return Ok(mutant.patched(self.object).unwrap_or_default()),
            Change::Source(source) => source.clone(),
            Change::Program(edit) => {
                let (program, emit) = self.program.ok_or("there is no program")?;
                emit(&edit.apply(program)).ok_or("the changed program cannot be emitted")?
            }
        };
        let dir = Scratch::new().map_err(|e| e.to_string())?;
        let (from, to) = (dir.path().join("mutant.c"), dir.path().join("mutant.o"));
        std::fs::write(&from, source).map_err(|e| e.to_string())?;
        self.compiler.compile(&from, self.flags, &to).map_err(|e| e.to_string())?;
        std::fs::read(&to).map_err(|e| e.to_string())
    }

    fn weigh(&self, mutant: &Mutant, object: &[u8], judgement: Judgement) -> Outcome {
        if judgement.verdict != Verdict::Proved {
            let confirmed =
                judgement.operands.as_ref().map(|pair| self.native.fails_on(object, pair));
            return Outcome::Refused {
                verdict: judgement.verdict,
                kind: judgement.kind,
                reason: judgement.reason,
                confirmed,
            };
        }
        let Settings { cross_checks, seed, .. } = self.settings;
        let products = match self.native.compare(object, cross_checks, seed) {
            Behaviour::Same { products } => products,
            Behaviour::Differs { operands, .. } => {
                return Outcome::Unsound { shown: format!("wrong product of {operands:?}") };
            }
            Behaviour::Misbehaves(how) => return Outcome::Unsound { shown: how },
        };
        let why = match mutant.class {
            _ if (self.same_terms)(self.object, object) => Harmless::SameTerms,
            Class::ReductionDropped
            | Class::ProductUncorrected
            | Class::NarrowUncorrected
            | Class::FreezeDropped
            | Class::SubtractionDropped => Harmless::NotNeeded,
            _ => Harmless::OtherWay,
        };
        Outcome::Accepted { why, products }
    }

    fn test_at_random(&self, object: &[u8], trial: &mut Trial) {
        let Settings { random_tests, seed, .. } = self.settings;
        let Ok(callee) = self.native.link(object) else { return };
        match self.native.random_search(&callee, random_tests, seed, 0) {
            Behaviour::Same { products } => {
                trial.random_products_right = Some(products);
                trial.random_tests_pass = products > 0;
            }
            Behaviour::Differs { after, .. } => trial.random_products_right = Some(after),
            Behaviour::Misbehaves(_) => {}
        }
    }
}

/// Equal code, constants and relocations; file names and comments may differ.
fn same_content(a: &[u8], b: &[u8]) -> bool {
    use object::{Object, ObjectSection, SectionKind};
    let content = |bytes: &[u8]| -> Option<Vec<(String, Vec<u8>)>> {
        let file = object::File::parse(bytes).ok()?;
        let loaded = |s: &object::Section<'_, '_>| {
            !matches!(s.kind(), SectionKind::Metadata | SectionKind::Other | SectionKind::Note)
                || s.name().is_ok_and(|n| n.starts_with(".rela"))
        };
        let sections = file.sections().filter(loaded);
        sections.map(|s| Some((s.name().ok()?.to_owned(), s.data().ok()?.to_vec()))).collect()
    };
    a == b
        || matches!((content(a), content(b)), (Some(x), Some(y)) if x == y && relocations(a) == relocations(b))
}

fn relocations(bytes: &[u8]) -> Vec<(usize, i64)> {
    let Ok(layout) = crate::object::Layout::parse(bytes) else { return Vec::new() };
    let of = |f: &crate::object::Function| {
        let first = f.file;
        f.relocations
            .iter()
            .map(move |(&at, &(_, addend))| (at - first, addend))
            .collect::<Vec<_>>()
    };
    layout.functions.iter().flat_map(of).collect()
}

fn last_words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}
