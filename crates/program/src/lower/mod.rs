//! Plan and schedule to program.
//!
//! The tree is walked once: a lift to an unreduced product of 2n - 1 coefficients, an optional
//! monomial factor, an incomplete transform whose blocks are as wide as a register (or Schönhage's,
//! whose blocks are twice as wide), small products by broadcast dot products or one in a lane, and the
//! final reduction mod f. Transforms are taken in their own steps, small products in their own parts.
//! Forms that this walk does not know are refused by name.

mod base;
mod blocks;
mod definition;
mod fold;
mod general;
mod lane_methods;
mod lane_procedures;
mod lanes;
mod network;
mod ntt;
mod parts;
mod phases;
mod schoenhage;
mod small;
mod split;
mod transform;
mod two;

use crate::bounds::Bounds;
use crate::build::Builder;
use crate::ir::*;
use crate::place::Impossible;
use crate::schedule::{BaseProducts, ScalePlace, Schedule};
use ringforge_plan::{
    Border, Lift, Modulus, MonomialCrt, Ntt, Plan, ProductRef, Schoenhage, Schoolbook, Substitute,
    ToeplitzMatrix, ToeplitzPair,
};
use ringforge_ring::zq;
use ringforge_target::ALIGNMENT;
use ringforge_target::Target;

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
}

/// Why a plan cannot be lowered with a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// The lowering has no program for this node.
    #[error("no lowering for `{node}`: {why}; {would_work}")]
    Unsupported {
        /// The node's text.
        node: String,
        /// What is missing.
        why: String,
        /// What would work.
        would_work: String,
    },
    /// Ranges cannot be kept.
    #[error("stage `{stage}`: {source}; raise its limit in the schedule, or lower the one before")]
    Ranges {
        /// The stage.
        stage: String,
        /// Why.
        source: Impossible,
    },
    /// Sums of products exceed 32 bits.
    #[error("stage `{stage}`: sums of products reach {bound}, too much for 32-bit elements")]
    Wide {
        /// The stage.
        stage: String,
        /// The bound.
        bound: i64,
    },
    /// Operands of small products leave no room for a sum.
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
    /// Words exceed 16 bits.
    #[error(
        "stage `{stage}`: words reach {bound}, which is no signed word; lower the limits in the \
         schedule, or reduce earlier"
    )]
    Word {
        /// The stage.
        stage: String,
        /// The bound.
        bound: i64,
    },
    /// A site in `drop` or `add` that does not exist.
    #[error("the schedule names the site `{site}`, which the program does not have")]
    NoSuchSite {
        /// The site.
        site: String,
    },
}

pub(crate) fn unsupported(
    node: impl ToString,
    why: impl ToString,
    would_work: impl ToString,
) -> LowerError {
    LowerError::Unsupported {
        node: node.to_string(),
        why: why.to_string(),
        would_work: would_work.to_string(),
    }
}

/// Lowers a plan: as it says where there is a program for that, else by the definition of the
/// product, which a note tells.
///
/// # Errors
/// [`LowerError`]: what the schedule asks for does not fit the plan's ranges or has no program.
pub fn lower(
    plan: &Plan,
    schedule: &Schedule,
    target: &Target,
    name: &str,
) -> Result<Lowered, LowerError> {
    type Way = fn(&Plan, &Schedule, &Target, &str) -> Result<Lowered, LowerError>;
    let ways: [Way; 3] = [as_planned, general::lower, definition::lower];
    let mut first = None;
    for way in ways {
        match way(plan, schedule, target, name) {
            Ok(lowered) => return Ok(lowered),
            // What the first way says of ranges stands; others are only tried.
            Err(error) => {
                let none = matches!(error, LowerError::Unsupported { .. });
                if first.is_none() && !none {
                    return Err(error);
                }
                first = first.or(Some(error));
            }
        }
    }
    Err(first.unwrap_or_else(|| unsupported(plan_text(plan), "no way", "another plan")))
}

fn as_planned(
    plan: &Plan,
    schedule: &Schedule,
    target: &Target,
    name: &str,
) -> Result<Lowered, LowerError> {
    if let Some(matrix) = plan.root.as_method::<ToeplitzMatrix>() {
        return two::lower(plan, matrix, (schedule, target), name);
    }
    if let Some(lift) = plan.root.as_method::<Lift>()
        && let Some(pair) = lift.inner.as_method::<ToeplitzPair>()
    {
        return two::lower_lifted(plan, lift, pair, (schedule, target), name);
    }
    if let Some(transform) = plan.root.as_method::<Ntt>() {
        return ntt::lower(plan, transform, (schedule, target), name);
    }
    if general::applies(plan) {
        return general::lower(plan, schedule, target, name);
    }
    let lift = plan.root.as_method::<Lift>().ok_or_else(|| {
        unsupported(plan.root.to_form(), "a product is lifted first", "start the plan with `lift`")
    })?;
    let (main, low) = match lift.inner.as_method::<MonomialCrt>() {
        Some(crt) => (&crt.main, Some(crt)),
        None => (&lift.inner, None),
    };
    let q = plan.ring.q();
    let mut lowering = Lowering {
        plan,
        schedule,
        q,
        n: plan.ring.degree(),
        operand: (q as i64 - 1) / 2,
        prefix: String::new(),
        lanes: target.registers.lanes(16),
        bounds: Bounds::new(q, schedule.multiply, schedule.reduce),
        builder: Builder::new("mul", Some(Computes::Product), q),
        procedures: Vec::new(),
        sites: Vec::new(),
        seen: Vec::new(),
        borders: Vec::new(),
        notes: Vec::new(),
        rows: Vec::new(),
    };
    match (main.as_method::<Substitute>(), main.as_method::<Schoenhage>()) {
        (Some(main), _) => lowering.run(lift, main, low)?,
        (_, Some(main)) if low.is_none() => lowering.run_schoenhage(lift, main)?,
        _ => {
            let why = "the main part is an incomplete transform";
            return Err(unsupported(main.to_form(), why, "use `substitute`"));
        }
    }
    for site in schedule.drop.iter().chain(&schedule.add) {
        if !lowering.seen.contains(site) {
            return Err(LowerError::NoSuchSite { site: site.clone() });
        }
    }
    let mut procedures = lowering.procedures;
    procedures.push(lowering.builder.finish());
    let program = Program {
        name: name.into(),
        ring: plan.ring.to_string(),
        q,
        word_bits: 16,
        registers: target.registers,
        transform: None,
        plan: plan.to_string(),
        schedule: schedule.to_string(),
        procedures,
    };
    let (sites, borders, notes) = (lowering.sites, lowering.borders, lowering.notes);
    Ok(Lowered { program, sites, borders, notes })
}

/// The walk's state.
pub(crate) struct Lowering<'a> {
    plan: &'a Plan,
    schedule: &'a Schedule,
    q: u64,
    /// Coefficients of an operand.
    n: usize,
    /// The largest magnitude of their words.
    operand: i64,
    /// Starts the names of helpers and sites, where several moduli have theirs.
    prefix: String,
    /// Words in a register.
    lanes: usize,
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
    fn run(
        &mut self,
        lift: &Lift,
        main: &Substitute,
        crt: Option<&MonomialCrt>,
    ) -> Result<(), LowerError> {
        let (q, lanes, n) = (self.q, self.lanes, self.n);
        if main.k != lanes {
            return Err(unsupported(
                format!("(substitute {} …)", main.k),
                format!("blocks of {} do not fill a register of {lanes} words", main.k),
                format!("(substitute {lanes} …)"),
            ));
        }
        crt.map_or(Ok(()), |crt| self.low_fits(crt))?;
        let h = self.operand;
        let c = self.builder.ranged("c", Role::Output, n, 2, Some((-h, h)));
        let a = self.builder.ranged("a", Role::Input, n, 2, Some((-h, h)));
        let b = self.builder.ranged("b", Role::Input, n, 2, Some((-h, h)));
        // Operands are read where they are: the output is written last of all.
        let mut fb = Operand { buffer: b, start: 0, tail: None };
        let (mut fa, mut windows) = (Operand { buffer: a, ..fb.clone() }, None);
        if self.schedule.base == BaseProducts::BroadcastDot {
            fa = self.stage_swapped("a", a, n);
            if !n.is_multiple_of(lanes) {
                fb.tail = Some(self.stage_tail("b", b, n));
            }
            windows = crt
                .filter(|crt| is_truncated(&crt.low) && crt.low_degree >= lanes)
                .map(|crt| self.stage_windows(b, crt.low_degree / lanes));
        }

        // Words of the unreduced product, rounded up, all defined.
        let length = 2 * n - 1;
        let words = length.next_multiple_of(lanes).max(main.blocks() * lanes) + lanes;
        let full = self.builder.buffer("full", Role::Local, words, ALIGNMENT);

        // The scale that the unreduced product has when the final stage gets it.
        let freeze = self.schedule.freeze.unwrap_or(crate::method::FreezeMethod::Montgomery);
        let (freeze_scale, narrow_scale) = (freeze.scale(q), self.schedule.narrow.scale(q));
        let main_scale = zq::mul(main_scale(main), narrow_scale, q);
        let inverse = |x: u64| zq::inv(x, q).unwrap_or(0);
        let (target, last_factor) = match self.schedule.scale {
            ScalePlace::Inverse => (inverse(freeze_scale), 1),
            ScalePlace::Final => (main_scale, inverse(zq::mul(main_scale, freeze_scale, q))),
        };
        // The low part stands between the transforms and the base products: both read what was
        // stored just before in other pieces than it was stored, and stores take time to settle.
        let transformed = self.transformed("main", main, &fa, &fb)?;
        let mut low = parts::Low::default();
        if let Some(crt) = crt {
            low = self.low_part(crt, &fa, &fb, windows, full, target)?;
        }
        let main_factor = zq::mul(target, inverse(main_scale), q);
        let products = self.products("main", main, transformed)?;
        let bound = self.inverse_into(main, products, main_factor, full, &low, length)?;
        self.borders.push(("unreduced product".into(), bound));
        let reduction = lift.reduction(last_factor).ok_or_else(|| {
            unsupported(plan_text(self.plan), "the outermost lift reduces mod f", "lift in a ring")
        })?;
        // What the last registers read behind the product must be there.
        let written = match crt {
            Some(crt) => (crt.main_degree + crt.low_degree).next_multiple_of(lanes),
            None => main.wanted().iter().filter(|&&wanted| wanted).count() * lanes,
        };
        let read = fold::registers(&reduction.rows(), lanes, words);
        let ends = read.iter().enumerate().flat_map(|(number, terms)| {
            terms.iter().map(move |term| (number + 1) * lanes + term.offset)
        });
        if ends.max().is_some_and(|end| end > written) {
            let mut block = Block::default();
            let a = block.push(Op::Splat(0));
            for at in (written..words).step_by(lanes) {
                block.push(Op::Store { buffer: full, at: Index::at(at), a });
            }
            self.builder.stage("zeros behind the product", "", vec![Stmt::Block(block)]);
        }
        self.fold(&reduction, last_factor, full, bound, words, c)
    }
}

fn plan_text(plan: &Plan) -> String {
    plan.root.to_form().to_string()
}

/// The scale of a part computed through an incomplete transform.
pub(crate) fn main_scale(part: &Substitute) -> u64 {
    use ringforge_plan::Product;
    part.scale()
}

/// The incomplete transform below a low part that has one, with the width of its operands.
pub(crate) fn low_transform(low: &ProductRef) -> Option<(&Substitute, usize)> {
    let (inner, operand) = match low.as_method::<Border>() {
        Some(border) => (&border.inner, border.inner_operand),
        None => (low, low.domain().operand),
    };
    let inner = match inner.as_method::<Lift>() {
        Some(lift) => &lift.inner,
        None => inner,
    };
    Some((inner.as_method::<Substitute>()?, operand))
}

/// Whether the low part is a truncated schoolbook product.
pub(crate) fn is_truncated(low: &ProductRef) -> bool {
    low.as_method::<Schoolbook>().is_some()
        && matches!(low.domain().modulus, Modulus::Binomial { weight: 0, .. })
}
