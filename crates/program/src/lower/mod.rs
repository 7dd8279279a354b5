//! Lowers a plan and a schedule to a program.
//!
//! Every method states what it is made of ([`ringforge_plan::Structure`]): operands, linear maps,
//! products, linear maps back. The plan decides, before anything runs, which pipeline executes it
//! (`pipeline`). If that pipeline cannot, lowering fails with an error that names the method, the
//! target and the reason. It tries nothing else.

mod base;
pub(crate) mod blocks;
mod definition;
mod flat;
mod fold;
mod fuse;
mod general;
mod lane_methods;
mod lane_procedures;
mod lanes;
mod network;
pub(crate) mod ntt;
mod parts;
mod phases;
mod pipeline;
mod plain;
pub(crate) mod registers;
mod schoenhage;
mod small;
mod spare;
mod split;
mod suited;
mod transform;
mod transpose;
mod trinomial;
mod two;

use crate::bounds::Bounds;
use crate::build::Builder;
use crate::ir::*;
use crate::method::{EvenModulus, FreezeMethod, Modulus, MulMethod, ReduceMethod};
use crate::place::Impossible;
use crate::schedule::{Layout, ScalePlace, Schedule};
use crate::settle::{Choices, Refused, Settled, Verdict, shown};
use pipeline::Pipeline;
use ringforge_plan::{Plan, Unit, word_bits};
use ringforge_targets::{Products, Registers, Target};
use transpose::Square;

/// Bits of the words that residues below 2^15 take.
pub(crate) const SHORT: u8 = 16;

/// A lowered plan.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program, modular level.
    pub program: Program,
    /// The sites of all reductions that were placed, in order of the program; a name of
    /// [`Schedule::drop`].
    pub sites: Vec<String>,
    /// Largest magnitudes that the lowering counted on at the borders of stages.
    pub borders: Vec<(String, i64)>,
    /// Where the program does not compute as the plan says, and what it does instead.
    pub notes: Vec<String>,
    /// What it was lowered by.
    pub settled: Settled,
    /// What was found of the settlements that were looked at, where there are several.
    pub verdicts: Vec<Verdict>,
}

impl Lowered {
    /// A program with nothing else to report.
    fn of(program: Program, settled: Settled) -> Lowered {
        let (sites, borders, notes, verdicts) = Default::default();
        Lowered { program, sites, borders, notes, settled, verdicts }
    }
}

/// Why a plan cannot be lowered with a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// The lowering has no program for this node.
    #[error("no lowering for `{node}`{}: {why}; {would_work}", on(.target))]
    Unsupported {
        /// The node's text.
        node: String,
        /// The target's name; empty until [`lower`] has added it.
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
}

/// ` on avx2`.
fn on(target: &str) -> String {
    if target.is_empty() { String::new() } else { format!(" on {target}") }
}

impl LowerError {
    /// The error with the target that it is about.
    fn about(self, target: &Target) -> LowerError {
        match self {
            LowerError::Unsupported { node, why, would_work, .. } => {
                LowerError::Unsupported { node, target: target.name, why, would_work }
            }
            other => other,
        }
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

/// Lowers a plan as it says. The schoolbook product is used only if the plan says so, by
/// `(schoolbook)` or `(lift N (schoolbook))`.
///
/// # Errors
/// [`LowerError`]: what the plan or the schedule asks for has no program on this target, or does not fit the
/// ranges.
pub fn lower(
    plan: &Plan,
    schedule: &Schedule,
    target: &Target,
    name: &str,
) -> Result<Lowered, LowerError> {
    let lowered = settled(plan, schedule, (target, false), name).and_then(|lowered| {
        lowered.settled.check(schedule)?;
        Ok(lowered)
    });
    lowered.map_err(|error| blamed(error, plan, (schedule, target)))
}

/// For each product, all settlements that the ranges decide between, and what was found of each.
/// They are in the order in which the first that holds is taken. Nothing if a plan leaves no such
/// choice.
///
/// # Errors
/// As [`lower`]; with all verdicts where none holds.
pub fn verdicts(
    plan: &Plan,
    schedule: &Schedule,
    target: &Target,
) -> Result<Vec<Verdict>, LowerError> {
    settled(plan, schedule, (target, true), "x").map(|lowered| lowered.verdicts)
}

/// An error as the fault of the key that a user wrote without which there is none.
fn blamed(error: LowerError, plan: &Plan, (schedule, target): (&Schedule, &Target)) -> LowerError {
    if matches!(error, LowerError::Refused(_) | LowerError::NoSuchSite { .. }) {
        return error;
    }
    let found = schedule.given.keys().find_map(|key| {
        let without = schedule.without(key, target).ok()?;
        let lowered = settled(plan, &without, (target, false), "x").ok()?;
        let settled = lowered.settled.of(&without, key);
        let value = shown(schedule.value(key));
        Some(Refused::Unkept { key: key.into(), value, why: error.to_string(), settled })
    });
    let refused = found.or_else(|| {
        settled(plan, &Schedule::of(target), (target, false), "x").ok()?;
        let keys: Vec<String> = schedule.given.keys().map(|key| format!("`{key}`")).collect();
        (!keys.is_empty())
            .then(|| Refused::Together { keys: keys.join(", "), why: error.to_string() })
    });
    refused.map_or(error, LowerError::Refused)
}

/// Settles every choice and lowers by it.
fn settled(
    plan: &Plan,
    schedule: &Schedule,
    (machine, survey): (&Target, bool),
    name: &str,
) -> Result<Lowered, LowerError> {
    let choices = &Choices::of(schedule);
    let (target, other) = (machine, schedule.target(machine));
    if other.is_some() && target.products != Products::Words {
        let why = format!("registers of {target} are the machine's own, of one width");
        return Err(unsupported("the schedule's `lanes`", why, "a schedule without `lanes`"));
    }
    // These are for machines whose registers are no loops.
    for (key, value) in
        [("wide-sums", schedule.wide_sums), ("interleave", schedule.interleave == Some(true))]
    {
        if value && schedule.given.contains(key) && target.products == Products::Words {
            return Err(Refused::other(key, "true", "false").into());
        }
    }
    let target = other.as_ref().unwrap_or(target);
    let with = (choices, target);
    let pipeline = Pipeline::of(plan, choices, target).and_then(|pipeline| {
        accepts(&pipeline, plan, schedule)?;
        Ok(pipeline)
    });
    // Transforms settle them by themselves.
    if other.is_some() && !matches!(pipeline, Ok(Pipeline::Transforms(_))) {
        choices.lanes();
    }
    let lowered = pipeline.and_then(|pipeline| match pipeline {
        Pipeline::Matrix(matrix) => two::lower(plan, matrix, with, name),
        Pipeline::Matrices(lift, pair) => two::lower_lifted(plan, lift, pair, with, name),
        Pipeline::Transforms(ntt) => ntt::lower(plan, ntt, (choices, machine, survey), name),
        Pipeline::Registers(lift, main, low) => {
            let suited = registers::suited(choices, main, low).usual(|values| {
                (values.word, values.layout) = (Some(SHORT), Some(Layout::Registers));
            });
            suited.word();
            suited.layout();
            whole(plan, with, (&suited, name), |lowering| lowering.registers(lift, main, low))
        }
        Pipeline::Rotations(lift, main) => {
            let suited = suited::by_lanes(choices);
            whole(plan, with, (&suited, name), |lowering| {
                lowering.run_schoenhage(lift, main, target.count)
            })
        }
        Pipeline::Plain(node) => plain::lower(plan, node, choices, name),
        Pipeline::General => general::lower(plan, choices, (target, survey), name),
        Pipeline::Definition => definition::lower(plan, choices, (target, survey), name),
    });
    let mut lowered = lowered.map_err(|error| error.about(target))?;
    if target.orders {
        lowered.program.in_order = choices.in_order();
    }
    lowered.program.schedule = lowered.settled.to_string();
    Ok(lowered)
}

/// Refuses Plantard's products where the modulus or the words of a pipeline are not theirs.
fn accepts(pipeline: &Pipeline, plan: &Plan, schedule: &Schedule) -> Result<(), LowerError> {
    let m = Modulus { q: plan.ring.q(), bits: word_bits(plan.ring.q()) };
    let missing = [
        schedule.multiply.missing(m),
        schedule.freeze.and_then(|method| method.missing(m)),
        Some(schedule.reduce).filter(|r| *r == ReduceMethod::Plantard).and_then(|r| r.missing(m)),
    ];
    let chosen = schedule.multiply == MulMethod::Plantard
        || schedule.reduce == ReduceMethod::Plantard
        || schedule.freeze == Some(FreezeMethod::Plantard);
    let several = matches!(pipeline, Pipeline::General | Pipeline::Definition);
    let why = match missing.into_iter().flatten().next() {
        Some(why) => why,
        None if chosen && several => {
            "Plantard's products are for transforms modulo q itself, in registers".to_string()
        }
        None => return Ok(()),
    };
    Err(unsupported("plantard", why, "\"montgomery\" in the schedule"))
}

/// The program of these procedures, for callers' words of so many bits.
fn program(
    plan: &Plan,
    name: &str,
    (registers, word_bits): (Registers, u8),
    procedures: Vec<Procedure>,
) -> Program {
    Program {
        name: name.into(),
        ring: plan.ring.to_string(),
        q: plan.ring.q(),
        word_bits,
        registers,
        transform: None,
        plan: plan.to_string(),
        schedule: String::new(),
        in_order: 0,
        loops: false,
        procedures,
    }
}

/// The refusal of a site, with some of those that the program has.
fn no_such_site<'a>(site: &str, sites: impl ExactSizeIterator<Item = &'a String>) -> LowerError {
    let count = sites.len();
    let some: Vec<String> = sites.take(2).map(|s| format!("`{s}`")).collect();
    let known = match count {
        0 => "none".to_owned(),
        1 | 2 => some.join(" and "),
        n => format!("{} and {} more", some.join(", "), n - 2),
    };
    LowerError::NoSuchSite { site: site.to_owned(), known }
}

/// Refuses sites in `drop` or `add` that the program does not have.
fn check_sites(schedule: &Choices, seen: &[String]) -> Result<(), LowerError> {
    let mut named = schedule.drop().iter().chain(schedule.add());
    match named.find(|site| !seen.contains(site)) {
        Some(site) => Err(no_such_site(site, seen.iter())),
        None => Ok(()),
    }
}

/// One exported procedure in words of 16 bits, modulo the ring's modulus throughout, by the schedule as the
/// plan's small products ask for it.
fn whole(
    plan: &Plan,
    (schedule, target): (&Choices, &Target),
    (suited, name): (&Choices, &str),
    run: impl FnOnce(&mut Lowering) -> Result<(), LowerError>,
) -> Result<Lowered, LowerError> {
    let q = plan.ring.q();
    let square = Square { registers: target.registers, bits: SHORT };
    let suited = &suited::transposing(schedule, suited, square)?;
    let builder = Builder::new("mul", Some(Computes::Product), q);
    let mut lowering = Lowering::new(plan, suited, square, builder);
    lowering.operand = (q as i64 - 1) / 2;
    run(&mut lowering)?;
    check_sites(schedule, &lowering.seen)?;
    let mut procedures = lowering.procedures;
    procedures.push(lowering.builder.finish());
    let program = program(plan, name, (target.registers, SHORT), procedures);
    let (sites, borders, notes) = (lowering.sites, lowering.borders, lowering.notes);
    let (settled, verdicts) = (suited.clone().into(), Vec::new());
    Ok(Lowered { program, sites, borders, notes, settled, verdicts })
}

/// The walk's state.
pub(crate) struct Lowering<'a> {
    plan: &'a Plan,
    schedule: &'a Choices,
    q: u64,
    /// Coefficients of an operand.
    n: usize,
    /// The largest magnitude of their words.
    operand: i64,
    /// Starts the names of helpers and sites, where several moduli have theirs.
    prefix: String,
    /// Words in a register.
    lanes: usize,
    /// Registers as they are transposed.
    square: Square,
    bounds: Bounds,
    /// The exported procedure.
    builder: Builder,
    procedures: Vec<Procedure>,
    /// Reductions placed, and all sites where one could stand.
    sites: Vec<String>,
    seen: Vec<String>,
    borders: Vec<(String, i64)>,
    notes: Vec<String>,
    /// Local arrays by name, shared by small products.
    rows: Vec<(String, BufferId)>,
}

/// An operand as the stages find it: its words from `start` in `buffer`.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub buffer: BufferId,
    pub start: usize,
    /// Where its last, partial block lies with zeros behind it.
    pub tail: Option<(BufferId, Index)>,
}

impl<'a> Lowering<'a> {
    /// One that has not begun, of operands that are zeros, modulo what the builder's words are.
    fn new(
        plan: &'a Plan,
        schedule: &'a Choices,
        square: Square,
        builder: Builder,
    ) -> Lowering<'a> {
        let words = builder.modulus();
        let values = schedule.values();
        Lowering {
            plan,
            schedule,
            q: words.q,
            n: plan.ring.degree(),
            operand: 0,
            prefix: String::new(),
            lanes: square.rows(),
            square,
            bounds: Bounds::new(words, values.multiply, values.reduce),
            builder,
            procedures: Vec::new(),
            sites: Vec::new(),
            seen: Vec::new(),
            borders: Vec::new(),
            notes: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The scale that the unreduced product shall have when the final stage gets it, and what that stage
    /// multiplies by; `made` is the scale that the base products leave.
    fn scales(&self, made: Unit) -> Result<(Unit, u64), LowerError> {
        let freeze = self.schedule.freeze().unwrap_or(FreezeMethod::Montgomery).scale(self.q)?;
        Ok(match self.schedule.scale() {
            ScalePlace::Inverse | ScalePlace::Last => (freeze.inverted(), 1),
            ScalePlace::Final => (made, made.times(freeze).inverse()),
        })
    }
}
