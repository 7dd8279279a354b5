//! A product through blocks that fill a register each, in words of 16 bits. It takes forward
//! transforms, products of blocks, and the inverse transform into the unreduced product, together
//! with a low part [Chiu25 §3.1]. Then it takes the remainder by an f of few coefficients ±1.

use super::steps::inverse_steps;
use super::{LowerError, Lowering, Operand, fold, parts};
use crate::ir::*;
use crate::schedule::BaseProducts;
use crate::settle::Choices;
use ringforge_plan::{Blocks, Lift, Modulus, MonomialCrt, ProductRef, Stages, Unit};

/// Both operands, and windows over the second one where a low part wants such.
pub(super) struct Operands {
    pub of: [Operand; 2],
    pub windows: Option<BufferId>,
}

impl Lowering<'_> {
    /// Everything, for a lifted product through blocks of whole registers, its low part if there is one, and
    /// the remainder by a short f.
    pub(super) fn registers(
        &mut self,
        lift: &Lift,
        main: &Blocks,
        crt: Option<&MonomialCrt>,
    ) -> Result<(), LowerError> {
        let (lanes, n) = (self.lanes, self.n);
        let [c, a, b] = self.arrays();
        // Operands are read where they are: the output is written last of all.
        let dot = self.schedule.base() == BaseProducts::BroadcastDot;
        let swapped = dot && !self.schedule.rows();
        let operands = self.as_read([a, b], [false; 2], swapped, crt);

        // Words of the unreduced product, rounded up, all defined.
        let words = self.padded(2 * n - 1).max(main.count() * lanes) + lanes;
        let full = self.builder.local("full", words);

        let main_scale = main.scale.times(self.products_scale(&main.convolution)?);
        let scales = (main_scale, self.scale()?);
        let bound = self.through_registers((main, crt), &operands, full, scales)?;
        self.written.border("unreduced product", bound);
        let reduction = self.reduction(lift)?;
        // What the last registers read behind the product must be there.
        let written = written(&lift.inner, lanes).unwrap_or(words);
        let read = fold::registers(&reduction.rows(), lanes, words);
        let ends = read.iter().enumerate().flat_map(|(number, terms)| {
            terms.iter().map(move |term| (number + 1) * lanes + term.offset)
        });
        if ends.max().is_some_and(|end| end > written) {
            self.zeros_behind(full, written, words);
        }
        self.fold(&reduction, &[full], bound, words, c)
    }

    /// Both operands as the products read them: where they are, or copied, reduced or with the words of a's pairs `swapped`.
    /// Beside dot products their last, partial blocks are staged, and windows over b for a truncated low part.
    pub(super) fn as_read(
        &mut self,
        callers: [BufferId; 2],
        reduced: [bool; 2],
        swapped: bool,
        crt: Option<&MonomialCrt>,
    ) -> Operands {
        let (n, words) = (self.n, self.padded(self.n));
        let whole = n / self.lanes * self.lanes;
        let dot = self.schedule.base() == BaseProducts::BroadcastDot;
        let mut of = [("a", 0, swapped), ("b", 1, false)].map(|(name, i, swapped)| {
            let title = match (swapped, reduced[i]) {
                (false, false) => return Operand { buffer: callers[i], tail: None },
                (true, false) => "words of pairs swapped",
                (true, true) => "reduced, words of pairs swapped",
                (false, true) => "reduced",
            };
            let change = (swapped, reduced[i]);
            let buffer = self.brought_in((name, title), callers[i], words, change);
            Operand { buffer, tail: (whole < n).then(|| (buffer, Index::at(whole))) }
        });
        for (name, operand) in ["a", "b"].into_iter().zip(&mut of) {
            if dot && whole < n && operand.tail.is_none() {
                operand.tail = Some(self.stage_tail(name, operand.buffer, n));
            }
        }
        let is_truncated =
            |crt: &&MonomialCrt| matches!(LowPart::of(&crt.low), Some(LowPart::Truncated));
        let truncated = crt.filter(is_truncated).filter(|_| dot);
        let blocks = truncated.map_or(0, |crt| crt.low_degree / self.lanes);
        let windows = (blocks > 0).then(|| self.stage_windows(of[1].buffer, blocks));
        Operands { of, windows }
    }

    /// The unreduced product with the second of two scales, where the first is that of what base products
    /// leave; returns its bound.
    pub(super) fn through_registers(
        &mut self,
        (main, crt): (&Blocks, Option<&MonomialCrt>),
        operands: &Operands,
        full: BufferId,
        (scale, target): (Unit, Unit),
    ) -> Result<i64, LowerError> {
        // The low part stands between the transforms and the base products: both read what was
        // stored just before in other pieces than it was stored, and stores take time to settle.
        let transformed = self.transformed("main", main, operands)?;
        let low = match crt {
            Some(crt) => self.low_part(crt, operands, full, target)?,
            None => parts::Low::default(),
        };
        let products = self.products("main", main, transformed)?;
        self.inverse_into(main, products, target.over(scale).value(), full, &low)
    }

    /// Zeros in words `from..to` behind a product.
    pub(super) fn zeros_behind(&mut self, buffer: BufferId, from: usize, to: usize) {
        let lanes = self.lanes;
        self.builder.straight("zeros behind the product", "", |block| {
            let a = block.splat(0);
            for at in (from..to).step_by(lanes) {
                block.store_first((buffer, Index::at(at)), a, (lanes.min(to - at), lanes));
            }
        });
    }
}

/// How many words the inverse transform of a product of whole registers writes.
pub(super) fn written(node: &ProductRef, lanes: usize) -> Option<usize> {
    match node.stages() {
        Stages::Joined(crt) => Some((crt.main_degree + crt.low_degree).next_multiple_of(lanes)),
        Stages::Blocks(part) => Some(part.wanted().iter().filter(|&&w| w).count() * part.k),
        _ => None,
    }
}

/// The schedule as the products of both parts ask for it.
pub(crate) fn suited(schedule: &Choices, main: &Blocks, crt: Option<&MonomialCrt>) -> Choices {
    let low = match crt.and_then(|crt| LowPart::of(&crt.low)) {
        Some(LowPart::Transform(part, _)) => Some(part),
        _ => None,
    };
    let parts = std::iter::once(main).chain(low);
    super::suited::suited(schedule, parts.map(|part| &part.convolution))
}

/// Whether whole registers serve: blocks as wide as a register, and a low part that ends with one, or one word
/// behind it. Others have registers of their own for every block.
pub(crate) fn suit(main: &Blocks, crt: Option<&MonomialCrt>, (n, lanes): (usize, usize)) -> bool {
    main.k == lanes && crt.is_none_or(|crt| low_suits(main, crt, n, lanes))
}

fn low_suits(main: &Blocks, crt: &MonomialCrt, n: usize, lanes: usize) -> bool {
    let (words, rest) = (crt.low_degree, crt.low_degree % lanes);
    let whole = words - rest;
    // A word behind the last register is the top coefficient of the product, and nothing is behind that.
    let ends = rest == 0 || words == 0 || main.count() * lanes + words == 2 * n - 1;
    let computed = match LowPart::of(&crt.low) {
        Some(LowPart::Transform(part, operand)) => {
            operand >= whole && part.k == lanes && inverse_steps("low", part, 1).len() == 1
        }
        // Registers are read where they are: none from behind the operands.
        Some(LowPart::Truncated) => whole <= n,
        None => false,
    };
    rest <= 1 && crt.main_degree.is_multiple_of(lanes) && ends && computed
}

/// A low part that whole registers compute.
pub(super) enum LowPart<'a> {
    /// Through a transform of blocks, of operands of so many coefficients.
    Transform(&'a Blocks, usize),
    /// Schoolbook, without what is cut off.
    Truncated,
}

impl LowPart<'_> {
    /// What a node is.
    pub fn of(low: &ProductRef) -> Option<LowPart<'_>> {
        let (inner, operand) = match low.stages() {
            Stages::Cut(border) => (&border.inner, border.inner_operand),
            _ => (low, low.domain().operand),
        };
        let truncated = matches!(low.domain().modulus, Modulus::Binomial { weight: 0, .. });
        match (low.stages(), inner.stages()) {
            (Stages::Direct, _) => truncated.then_some(LowPart::Truncated),
            (_, Stages::Remainder(lift)) => {
                let part = lift.inner.stages().blocks()?;
                Some(LowPart::Transform(part, operand))
            }
            (_, inner) => Some(LowPart::Transform(inner.blocks()?, operand)),
        }
    }
}
