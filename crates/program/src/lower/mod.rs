//! Lowers a plan and a schedule to a program.
//!
//! Every method states what it is made of ([`ringforge_plan::Stages`]): operands, linear maps,
//! products, linear maps back. The plan decides, before anything runs, which pipeline executes it
//! (`pipeline`). If that pipeline cannot, lowering fails with an error that names the method, the
//! target and the reason. It tries nothing else.

mod base;
pub(crate) mod blocks;
mod definition;
mod error;
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
mod pipeline;
mod plain;
pub(crate) mod registers;
mod schoenhage;
mod small;
mod spare;
mod split;
mod steps;
mod suited;
mod sums;
mod transform;
mod transpose;
mod trinomial;
mod two;

use crate::bounds::Bounds;
use crate::build::Builder;
use crate::ir::*;
use crate::method::{FreezeMethod, Modulus, MulMethod, ReduceMethod};
use crate::schedule::{Layout, Schedule};
use crate::settle::{Choices, Refused, Settled, Verdict, shown};
use crate::together::batch;
pub use error::LowerError;
pub(crate) use error::unsupported;
use error::{all_stood, beyond, no_such_site, wide, within, word};
use pipeline::Pipeline;
use ringforge_plan::{Lift, Plan, ReduceMod, Unit, word_bits};
use ringforge_targets::{Products, Registers, Target};
pub(crate) use transpose::Square;

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
    if matches!(
        error,
        LowerError::Refused(_) | LowerError::NoSuchSite { .. } | LowerError::NothingToDrop(_)
    ) {
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
    let choices = Choices::of(schedule).usual(|values| {
        if machine.has_widths() {
            let filled = plan.registers(machine).lanes(SHORT) as u32;
            values.lanes = values.lanes.or(Some(filled));
        }
    });
    let choices = &choices;
    let target = &choices.values().target(machine).ok_or_else(|| {
        let widths = machine.widths().map(|own| format!("lanes = {}", own.lanes(SHORT)));
        let why = format!("registers of {machine} are the machine's own");
        unsupported("the schedule's `lanes`", why, widths.collect::<Vec<_>>().join(" or "))
    })?;
    // These are for machines whose registers are no loops.
    for (key, value) in
        [("wide-sums", schedule.wide_sums), ("interleave", schedule.interleave == Some(true))]
    {
        if value && schedule.given.contains(key) && target.products == Products::Words {
            return Err(Refused::other(key, "true", "false").into());
        }
    }
    let with = (choices, target);
    let pipeline = Pipeline::of(plan, choices, target).and_then(|pipeline| {
        accepts(&pipeline, plan, schedule)?;
        Ok(pipeline)
    });
    // Transforms settle them by themselves.
    if choices.values().lanes.is_some() && !matches!(pipeline, Ok(Pipeline::Transforms(_))) {
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
    let given = choices.given("batch") || choices.values().batch > 1;
    if given && choices.batch() > 1 {
        batch(&mut lowered.program.procedures, choices.batch() as usize);
    }
    lowered.program.schedule = lowered.settled.to_string();
    Ok(lowered)
}

/// Refuses Plantard's products where the modulus or the words of a pipeline are not theirs.
fn accepts(pipeline: &Pipeline, plan: &Plan, schedule: &Schedule) -> Result<(), LowerError> {
    let m = Modulus { q: plan.ring.q(), bits: word_bits(plan.ring.q()) };
    let chosen = schedule.multiply == MulMethod::Plantard
        || schedule.reduce == ReduceMethod::Plantard
        || schedule.freeze == Some(FreezeMethod::Plantard);
    let several = matches!(pipeline, Pipeline::General | Pipeline::Definition);
    // All of them are by the same products.
    let why = MulMethod::Plantard.missing(m).or_else(|| {
        several
            .then(|| "Plantard's products are for transforms modulo q itself, in registers".into())
    });
    match why.filter(|_| chosen) {
        Some(why) => Err(unsupported("plantard", why, "\"montgomery\" in the schedule")),
        None => Ok(()),
    }
}

/// The name of what a part of a product has, the main one without its own.
fn tagged(name: &str, tag: &str) -> String {
    if tag == "main" { name.into() } else { format!("{name}_{tag}") }
}

/// What is written, and what there is to say of it.
#[derive(Clone, Debug, Default)]
struct Written {
    procedures: Vec<Procedure>,
    /// Reductions placed, and all sites where one could stand.
    sites: Vec<String>,
    seen: Vec<String>,
    borders: Vec<(String, i64)>,
    notes: Vec<String>,
}

impl Written {
    /// What the lowering counts on at the border of a stage.
    fn border(&mut self, stage: impl Into<String>, bound: i64) {
        self.borders.push((stage.into(), bound));
    }

    /// Refuses sites in `drop` or `add` that the program does not have, and those in `drop` where nothing is reduced.
    fn check_sites(&self, schedule: &Choices) -> Result<(), LowerError> {
        let mut named = schedule.drop().iter().chain(schedule.add());
        match named.find(|site| !self.seen.contains(site)) {
            Some(site) => Err(no_such_site(site, self.seen.iter())),
            None => all_stood(schedule.drop(), |site| self.sites.contains(site)),
        }
    }

    /// Procedures with nothing to say of them.
    fn of(procedures: Vec<Procedure>) -> Written {
        Written { procedures, ..Written::default() }
    }

    /// The program of the procedures, for callers' words of so many bits.
    fn lowered(
        self,
        plan: &Plan,
        name: &str,
        (registers, word_bits): (Registers, u8),
        settled: impl Into<Settled>,
    ) -> Lowered {
        let Written { procedures, sites, borders, notes, .. } = self;
        let program = Program {
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
        };
        let (settled, verdicts) = (settled.into(), Vec::new());
        Lowered { program, sites, borders, notes, settled, verdicts }
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
    let Lowering { mut written, builder, .. } = lowering;
    written.check_sites(schedule)?;
    written.procedures.push(builder.finish());
    let words = (target.registers, SHORT);
    Ok(written.lowered(plan, name, words, suited.clone()))
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
    /// The exported procedure, and what is written besides.
    builder: Builder,
    written: Written,
    /// Local arrays by name, shared by small products.
    rows: Vec<(String, BufferId)>,
}

/// An operand as the stages find it.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub buffer: BufferId,
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
            lanes: square.lanes(),
            square,
            bounds: Bounds::new(words, values.multiply, values.reduce),
            builder,
            written: Written::default(),
            rows: Vec::new(),
        }
    }

    /// The exported procedure's arrays: c, a and b.
    fn arrays(&mut self) -> [BufferId; 3] {
        self.builder.product((self.n, SHORT), [(-self.operand, self.operand); 3])
    }

    /// The remainder by f.
    fn reduction(&self, lift: &Lift) -> Result<ReduceMod, LowerError> {
        let refused = || {
            let node = self.plan.root.to_form();
            unsupported(node, "the outermost lift reduces mod f", "lift in a ring")
        };
        lift.reduction(1).ok_or_else(refused)
    }

    /// The scale that the unreduced product shall have when the final stage gets it.
    fn scale(&self) -> Result<Unit, LowerError> {
        let freeze = self.schedule.freeze().unwrap_or(FreezeMethod::Montgomery);
        Ok(freeze.scale(self.q)?.inverted())
    }
}
