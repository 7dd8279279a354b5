//! Any ring: a product over the integers through several primes, reconstructed modulo q and reduced
//! by any f.
//!
//! One procedure multiplies modulo each prime. One takes each further digit of Garner's mixed-radix
//! reconstruction [Garner59] modulo its prime. One adds the weighted digits modulo q while it
//! reduces by f. If f has many coefficients, the remainder of a product H·x^n + L is L + Σ_k
//! H_k·(x^(n+k) mod f) where that is cheap ([`ringforge_plan::Lift::has_matrix`], [`remainder`]).
//! Elsewhere it is L − Q·f with the quotient Q = ⌊H·μ/x^(n−2)⌋ for μ = ⌊x^(2n−2)/f⌋: two more
//! products by the same procedures, each with one constant operand.
//!
//! q is anything up to 2^16. Modulo powers of two, words wrap. Up to 2^14, words of 16 bits hold
//! the sums; beyond, the last procedure computes in words of 32.

mod digits;
mod exact;
mod finish;
mod quotient;
mod remainder;
mod residue;
mod whole;

use super::blocks::{Packed, Parts};
use super::sums::LONG_BITS;
use super::{LowerError, Lowered, SHORT, Written, unsupported};
use crate::bounds::centred;
use crate::build::{Builder, call, call_at};
use crate::ir::*;
use crate::method::{Modulus, MulMethod, ReduceMethod};
use crate::settle::products::{LONG, long_methods};
use crate::settle::{self, Choices, Settled, Verdict};
use finish::Finish;
pub(super) use quotient::reciprocal;
use residue::Residue;
use ringforge_plan::{Lift, Plan, ProductRef, Stages};
use ringforge_ring::zq;
use ringforge_targets::Target;

/// The largest modulus, but for powers of two, whose sums words of 16 bits hold.
const NARROW: u64 = 1 << 14;

/// Factors of the product's coefficients in the remainder up to this are taken by sums.
const FACTOR: u64 = 3;

/// Whether a schoolbook product has a program modulo `modulus`: exact sums, or one block.
pub(super) fn multiplies(node: &ProductRef, modulus: u64) -> bool {
    let odd = modulus % 2 == 1 && modulus < 1 << 31;
    exact::serves(node, modulus) || odd && Parts::direct(node.domain()).is_some()
}

/// The outermost lift, if there is one, and what is below it.
pub(super) fn below(plan: &Plan) -> (Option<&Lift>, &ProductRef) {
    match plan.root.stages() {
        Stages::Remainder(lift) => (Some(lift), &lift.inner),
        _ => (None, &plan.root),
    }
}

/// A product modulo one number, its inverse scale and what its sums may reach.
struct Part<'a> {
    modulus: u64,
    node: &'a ProductRef,
}

/// Whether a product's sums were folded by f before they were reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folded {
    Not,
    /// And what comes out is to be frozen.
    Near,
    /// And what comes out is to be reduced again in words of 32 bits, so that freezing is a function of one word that
    /// takes few values.
    Far,
    /// And what comes out are the canonical residues.
    Canonical,
}

/// The walk's state.
struct General<'a> {
    plan: &'a Plan,
    schedule: Choices,
    target: &'a Target,
    /// Coefficients of an operand.
    n: usize,
    parts: Vec<Part<'a>>,
    /// The largest coefficient over the integers, where there is a change of modulus.
    bound: Option<u128>,
    /// The summands of every coefficient of the result, where these are its product's with small factors: sums that
    /// are reduced once may be folded before.
    fold: Option<Vec<Vec<(usize, u64)>>>,
    /// Whether they were.
    folded: Folded,
    /// Whether sums of whole coefficients are left as they are, for a remainder by its matrix.
    unreduced: bool,
    /// Bits of callers' words.
    memory: u8,
    /// Words of an unreduced product, all defined.
    words: usize,
    written: Written,
    /// What was settled for the products.
    settled: Vec<settle::Product>,
    /// What was found of the settlements that were looked at.
    verdicts: Vec<Verdict>,
}

impl General<'_> {
    /// Whether words of 32 bits are reduced in coarse steps, as schedules with Montgomery's reduction have it.
    fn coarse(&self) -> bool {
        self.schedule.reduce() == ReduceMethod::Montgomery
    }

    /// Whether words of 32 bits have Barrett's products: high halves, rounded.
    fn rounds(&self) -> bool {
        self.target.rounded >= LONG
    }

    /// The methods of digits and last sums in words of so many bits.
    fn methods(&self, bits: u8) -> (MulMethod, ReduceMethod) {
        match bits {
            SHORT => (self.schedule.multiply(), self.schedule.reduce()),
            _ => {
                let own = self.schedule.values();
                let usual = long_methods(own, self.rounds());
                (own.long_multiply.unwrap_or(usual.0), own.long_reduce.unwrap_or(usual.1))
            }
        }
    }
}

/// Lowers a plan; with `survey`, all that may be settled for its products is looked at.
pub(crate) fn lower(
    plan: &Plan,
    schedule: &Choices,
    (target, survey): (&Target, bool),
    name: &str,
) -> Result<Lowered, LowerError> {
    let (q, n) = (plan.ring.q(), plan.ring.degree());
    let (lift, inner) = below(plan);
    if q >= 1 << 31 {
        let what = format!("the ring modulus {q}");
        return Err(unsupported(what, "callers' arrays have 32 bits", "q below 2^31"));
    }
    let (parts, bound) = match inner.stages() {
        Stages::Digits(node) => {
            let pairs = node.moduli.iter().zip(&node.inner);
            let parts = pairs.map(|(&modulus, node)| Part { modulus, node }).collect();
            (parts, Some(node.bound))
        }
        _ => (vec![Part { modulus: q, node: inner }], None),
    };
    let wanted = inner.domain().wanted;
    let lanes = target.registers.lanes(16);
    let schedule = schedule.usual(|values| {
        let (multiply, reduce) = long_methods(values, target.rounded >= LONG);
        (values.long_multiply, values.long_reduce) = (Some(multiply), Some(reduce));
    });
    let mut general = General {
        plan,
        schedule: schedule.clone(),
        target,
        n,
        words: 0,
        bound,
        fold: None,
        folded: Folded::Not,
        unreduced: false,
        memory: if q > 1 << 16 { 32 } else { 16 },
        parts,
        written: Written::default(),
        settled: Vec::new(),
        verdicts: Vec::new(),
    };
    for part in &general.parts {
        let defined = residue::defined(part.node, lanes);
        general.words = general.words.max(defined).max(wanted.next_multiple_of(lanes) + lanes);
        for bits in [SHORT, LONG].into_iter().take(if bound.is_some() { 1 } else { 2 }) {
            let packed = Packed::of(part.node, schedule.base(), (target.registers, bits));
            general.words = general.words.max(packed.map_or(0, |packed| packed.written()));
        }
    }
    let reduction = lift.and_then(|lift| lift.reduction(1));
    if lift.is_some() && reduction.is_none() {
        let node = plan.root.to_form();
        return Err(unsupported(node, "the outermost lift reduces mod f", "a lift in a ring"));
    }
    let dense = lift.is_some_and(Lift::is_dense);
    // In whole sums the schedule that is tried where one stays unproved takes two more products.
    let suits = target.sums < LONG_BITS || general.coarse();
    let by_matrix = suits && lift.is_some_and(|lift| lift.has_matrix(target));
    let matrix = reduction.as_ref().filter(|_| by_matrix).map(|reduction| reduction.rows());
    let by_quotient = dense && matrix.is_none();
    general.unreduced = by_matrix && !q.is_power_of_two();
    let rows = match &reduction {
        Some(reduction) => (!dense).then(|| reduction.rows()),
        None => Some((0..n).map(|i| vec![(i, 1)]).collect()),
    };
    let plain = |rows: &&Vec<Vec<_>>| {
        rows.iter().flatten().all(|&(_, c)| zq::centered(c, q).unsigned_abs() <= FACTOR)
    };
    general.fold = rows.as_ref().filter(plain).filter(|_| general.parts.len() == 1).cloned();
    let bounds = inner.domain().bounds;
    let ranges = plan.operands.map(|operand| operand.range(q));
    if by_quotient && bounds.iter().any(|&b| b < q / 2) && bound.is_some() {
        let why = "f has many coefficients, and quotients are any residues; the change of modulus \
                   does not cover such products";
        let what = "operands big big, or an f of few coefficients";
        return Err(unsupported(inner.to_form(), why, what));
    }
    let mut products =
        general.products(if by_quotient { [centred(q); 2] } else { ranges }, survey)?;
    let rows = match general.folded != Folded::Not {
        true => Some((0..n).map(|i| vec![(i, 1)]).collect()),
        false => rows,
    };
    general.digits(&mut products)?;

    // Words of 32 bits where any array has such.
    let bits = products.iter().map(|part| part.bits).max().unwrap_or(16).max(general.memory);
    let mut builder = Builder::new("mul", Some(Computes::Product), Modulus { q, bits });
    let [c, a, b] = builder.product((n, general.memory), [centred(q), ranges[0], ranges[1]]);
    let array = |(k, digit): (usize, &Residue)| {
        builder.digit(k, Role::Local, (general.words, digit.bits), None)
    };
    let arrays: Vec<BufferId> = products.iter().enumerate().map(array).collect();
    let product = (&products[..], &arrays[..]);
    general.multiply(&mut builder, product, [(a, 0), (b, 0)], "a·b");
    match (rows, matrix) {
        (None, Some(rows)) => general.remainder(&mut builder, &rows, product, c),
        (Some(rows), _) => {
            let sum = Finish { rows, ..Finish::of(0..0, product) };
            general.finish(&mut builder, ("finish", "sum modulo q, reduction mod f"), sum, c)
        }
        (None, None) => general.quotient(&mut builder, product, c),
    }?;
    let General { mut written, memory, settled, verdicts, .. } = general;
    let settled = Settled::new(schedule.clone(), settled);
    written.check_sites(&schedule)?;
    written.procedures.push(builder.finish());
    let lowered = written.lowered(plan, name, (target.registers, memory), settled);
    Ok(Lowered { verdicts, ..lowered })
}

impl General<'_> {
    /// Appends the products modulo all primes and the digits of the integers.
    fn multiply(
        &self,
        builder: &mut Builder,
        (products, arrays): (&[Residue], &[BufferId]),
        [a, b]: [(BufferId, usize); 2],
        what: &str,
    ) {
        for ((part, residue), &array) in self.parts.iter().zip(products).zip(arrays) {
            let call = call_at(residue.procedure, [(array, 0), a, b]);
            builder.stage(&format!("{what} modulo {}", part.modulus), "", vec![call]);
        }
        for (k, residue) in products.iter().enumerate() {
            let Some(procedure) = residue.digit else { continue };
            let call = call(procedure, [arrays[k]].into_iter().chain(arrays[..k].iter().copied()));
            let title = format!("{what}: digit {} of the mixed radix", k + 1);
            builder.stage(&title, "[Garner59]", vec![call]);
        }
    }

    fn push(&mut self, procedure: Procedure) -> ProcedureId {
        self.written.procedures.push(procedure);
        ProcedureId(self.written.procedures.len() as u32 - 1)
    }
}
