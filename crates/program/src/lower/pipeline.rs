//! Which pipeline executes a plan: decided by what the plan says, before any of them runs.

use super::{LowerError, SHORT, ntt, registers, unsupported};
use crate::schedule::Layout;
use crate::settle::Choices;
use ringforge_plan::{
    Blocks, Levels, Lift, MonomialCrt, Plain, Plan, Stages, ToeplitzMatrix, ToeplitzPair, word_bits,
};
use ringforge_targets::Target;

/// A pipeline and the nodes of the plan that it starts from.
pub(super) enum Pipeline<'a> {
    /// One Toeplitz matrix, in words that wrap.
    Matrix(&'a ToeplitzMatrix),
    /// Two of them for an unreduced product, and its remainder.
    Matrices(&'a Lift, &'a ToeplitzPair),
    /// A transform of the whole ring with all its entry points.
    Transforms(&'a dyn Levels),
    /// Blocks that fill a register, in words of 16 bits.
    Registers(&'a Lift, &'a Blocks, Option<&'a MonomialCrt>),
    /// Schönhage's transform, whose blocks fill two.
    Rotations(&'a Lift, &'a Blocks),
    /// Loops in plain C.
    Plain(&'a Plain),
    /// Everything else: blocks of any width, several moduli, any f.
    General,
    /// The schoolbook product, modulo q itself if there is a program for that, else over the integers.
    Definition,
}

impl<'a> Pipeline<'a> {
    /// The pipeline for a plan.
    ///
    /// # Errors
    /// The plan starts with what belongs below another method.
    pub fn of(
        plan: &'a Plan,
        schedule: &Choices,
        target: &Target,
    ) -> Result<Pipeline<'a>, LowerError> {
        if schedule.unsigned().is_some() && !plan.negacyclic().is_some_and(ntt::has_entries) {
            let why = "the schedule's `unsigned` is for transforms of x^n + 1";
            let works = "(ntt …) down to single coefficients, or a schedule without `unsigned`";
            return Err(unsupported(plan.root.to_form(), why, works));
        }
        Ok(match plan.root.stages() {
            Stages::Matrix(matrix) => Pipeline::Matrix(matrix),
            Stages::Levels(levels) if ntt::has_entries(levels) => Pipeline::Transforms(levels),
            Stages::Levels(_) | Stages::Blocks(_) | Stages::Digits(_) => Pipeline::General,
            Stages::Direct => Pipeline::Definition,
            Stages::Loops(plain) => Pipeline::Plain(plain),
            Stages::Remainder(lift) => return lifted(plan, lift, schedule, target),
            Stages::Joined(_) | Stages::Cut(_) | Stages::Overlapping(_) | Stages::Matrices(_) => {
                let would_work = format!("(lift {} …) above it", 2 * plan.ring.degree() - 1);
                return Err(unsupported(
                    plan.root.to_form(),
                    format!(
                        "({} …) multiplies without f, and the plan starts with it",
                        plan.root.name()
                    ),
                    would_work,
                ));
            }
        })
    }
}

fn lifted<'a>(
    plan: &Plan,
    lift: &'a Lift,
    schedule: &Choices,
    target: &Target,
) -> Result<Pipeline<'a>, LowerError> {
    let (main, low) = match lift.inner.stages() {
        Stages::Matrices(pair) => return Ok(Pipeline::Matrices(lift, pair)),
        Stages::Overlapping(main) if short(plan, lift) => {
            return Ok(Pipeline::Rotations(lift, main));
        }
        Stages::Overlapping(_) => {
            let why =
                "rotations are in words of 16 bits modulo q, reduced by an f of coefficients ±1";
            let would_work = "q below 2^15 and such an f; (substitute …) or (ntt …) for others";
            return Err(unsupported(lift.inner.to_form(), why, would_work));
        }
        Stages::Direct => return Ok(Pipeline::Definition),
        Stages::Joined(crt) => (crt.main.stages().blocks(), Some(crt)),
        other => (other.blocks(), None),
    };
    // Who wants other words, or blocks elsewhere, has them.
    let own = schedule.values();
    let here = own.word.is_none_or(|bits| bits == SHORT)
        && own.layout.is_none_or(|layout| layout == Layout::Registers);
    let place = (plan.ring.degree(), target.registers.lanes(SHORT));
    Ok(match main {
        Some(main) if here && short(plan, lift) && registers::suit(main, low, place) => {
            Pipeline::Registers(lift, main, low)
        }
        _ => Pipeline::General,
    })
}

/// Whether residues are words of 16 bits, and sums by f have coefficients ±1 alone.
fn short(plan: &Plan, lift: &Lift) -> bool {
    let q = plan.ring.q();
    let plain = |c: u64| c == 1 || c == q - 1;
    let reduction = lift.reduction(1);
    word_bits(q) == SHORT
        && reduction.is_some_and(|sums| sums.rows().iter().flatten().all(|&(_, c)| plain(c)))
}
