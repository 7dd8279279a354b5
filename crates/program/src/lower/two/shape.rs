//! Which levels of a Toeplitz product go along the coefficients, which on whole registers, and how the products at the
//! bottom are laid out.

use super::super::transpose::Square;
use super::super::{LowerError, unsupported};
use super::leaf;
use super::steps::Step;
use crate::schedule::BaseProducts;
use crate::settle::Choices;
use ringforge_plan::{Base, Form, Inside};

/// How the products at the bottom are laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One in each lane, by interleaving registers.
    Interleaved,
    /// One in each lane, by strided stores.
    Strided,
    /// Each in words one after another.
    Rows,
}

impl Layout {
    /// That of a schedule, for products of this size at the bottom.
    fn of((schedule, square): (&Choices, Square), bottom: usize) -> Layout {
        match schedule.base() {
            _ if bottom.is_multiple_of(square.lanes()) && schedule.rows() => Layout::Rows,
            BaseProducts::BroadcastDot if square.serves() => Layout::Interleaved,
            BaseProducts::BroadcastDot | BaseProducts::Lanes => Layout::Strided,
        }
    }
}

/// The levels of a Toeplitz product.
pub(super) struct Shape {
    pub layout: Layout,
    /// Along the coefficients.
    pub rows: Vec<Step>,
    /// On whole registers.
    pub lanes: Vec<Step>,
    /// Whether a level of Karatsuba behind them is fused with the multiplications.
    pub fused: bool,
    /// Size of the matrix.
    pub size: usize,
    /// Registers as they are transposed.
    pub square: Square,
}

/// One level of the plan, and what its products are.
type Level<'a> = (Step, &'a dyn Base);

/// Consecutive levels of Karatsuba are one step, two at most: more would spill registers.
fn steps(levels: &[Level]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (step, _) in levels {
        match (steps.last_mut(), step) {
            (Some(Step::Halves(count)), Step::Halves(_)) if *count < 2 => *count += 1,
            (_, step) => steps.push(step.clone()),
        }
    }
    steps
}

/// Operations of a small product, as many slots.
fn slots(base: &dyn Base) -> u64 {
    let cost = base.cost();
    cost.adds + cost.scales + cost.products
}

impl Shape {
    /// The levels of a method for matrices, if `n` of their columns are used.
    pub fn of(
        inner: &dyn Base,
        n: usize,
        form: &dyn Fn() -> Form,
        (schedule, square): (&Choices, Square),
    ) -> Result<Shape, LowerError> {
        let lanes = square.lanes();
        let mut levels: Vec<Level> = Vec::new();
        let mut at = inner;
        loop {
            let (step, inner): Level = match at.inside() {
                Inside::Karatsuba(half) => (Step::Halves(1), half.as_ref()),
                Inside::ToomCook(toom) => (Step::Toom(toom.clone()), toom.inner.as_ref()),
                _ => break,
            };
            levels.push((step, inner));
            at = inner;
        }
        if !matches!(at.inside(), Inside::Dots) {
            return Err(unsupported(
                at.to_form(),
                "Toeplitz products modulo 2^k are split by toom-cook and karatsuba",
                "(toeplitz) at the end",
            ));
        }
        let layout = Layout::of((schedule, square), at.size());
        // Where to put products in lanes: every level before costs what its maps do, the rest is
        // done for whole groups of lanes; transposing takes four slots for a register.
        let mut best: Option<(u64, usize)> = None;
        let (mut linear, mut products, mut base) = (0, 1u64, inner);
        for depth in 0..=levels.len() {
            let groups = products.div_ceil(lanes as u64);
            let fits = base.size() >= lanes || base.size().is_multiple_of(square.part());
            let cost = linear / lanes as u64 + groups * (15 * base.size() as u64 + slots(base));
            if fits && best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, depth));
            }
            let Some((step, inner)) = levels.get(depth) else { break };
            if base.size() / step.parts() < lanes {
                break;
            }
            let points = step.products() as u64;
            linear += products * (slots(base) - points * slots(*inner));
            products *= points;
            base = *inner;
        }
        let size = inner.size();
        let too_small = || {
            let why =
                format!("a matrix of size {size} for {n} coefficients cannot be put in lanes");
            unsupported(
                form(),
                why,
                format!("a size that is a multiple of {lanes}, and n > {lanes}"),
            )
        };
        let depth = match layout {
            Layout::Rows => levels.len(),
            _ => best.ok_or_else(too_small)?.1,
        };
        if !size.is_multiple_of(lanes) || n <= lanes {
            return Err(too_small());
        }
        let (rows, inner) = levels.split_at(depth);
        let small = at.size() <= leaf::STRAIGHT && layout == Layout::Interleaved;
        let fused = small && matches!(inner.last(), Some((Step::Halves(_), _)));
        let inner = &inner[..inner.len() - usize::from(fused)];
        let mut rows = steps(rows);
        if rows.is_empty() {
            rows.push(Step::Halves(0)); // for the last step, which divides
        }
        Ok(Shape { layout, rows, lanes: steps(inner), fused, size, square })
    }

    /// The bits and units that the divisions leave: the result is so many times too large.
    pub fn divisor(&self) -> u64 {
        self.rows.iter().chain(&self.lanes).map(Step::divisor).product()
    }
}
