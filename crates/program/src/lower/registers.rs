//! A product through blocks that fill a register each, in words of 16 bits. It takes forward
//! transforms, products of blocks, and the inverse transform into the unreduced product, together
//! with a low part [Chiu25 §3.1]. Then it takes the remainder by an f of few coefficients ±1.

use super::phases::inverse_phases;
use super::{LowerError, Lowering, Operand, fold, parts, unsupported};
use crate::ir::*;
use crate::schedule::BaseProducts;
use crate::settle::Choices;
use ringforge_plan::{Lift, Modulus, MonomialCrt, Product, ProductRef, Structure, Substitute};
use ringforge_targets::ALIGNMENT;

impl Lowering<'_> {
    /// Everything, for a lifted product through blocks of whole registers, its low part if there is one, and
    /// the remainder by a short f.
    pub(super) fn registers(
        &mut self,
        lift: &Lift,
        main: &Substitute,
        crt: Option<&MonomialCrt>,
    ) -> Result<(), LowerError> {
        let (lanes, n) = (self.lanes, self.n);
        let h = self.operand;
        let c = self.builder.ranged("c", Role::Output, n, 2, Some((-h, h)));
        let a = self.builder.ranged("a", Role::Input, n, 2, Some((-h, h)));
        let b = self.builder.ranged("b", Role::Input, n, 2, Some((-h, h)));
        // Operands are read where they are: the output is written last of all.
        let mut fb = Operand { buffer: b, start: 0, tail: None };
        let (mut fa, mut windows) = (Operand { buffer: a, ..fb.clone() }, None);
        if self.schedule.base() == BaseProducts::BroadcastDot {
            match self.schedule.rows() {
                false => fa = self.stage_swapped("a", a, n),
                true if n.is_multiple_of(lanes) => {}
                true => fa.tail = Some(self.stage_tail("a", a, n)),
            }
            if !n.is_multiple_of(lanes) {
                fb.tail = Some(self.stage_tail("b", b, n));
            }
            windows = crt
                .filter(|crt| LowPart::is_truncated(&crt.low) && crt.low_degree >= lanes)
                .map(|crt| self.stage_windows(b, crt.low_degree / lanes));
        }

        // Words of the unreduced product, rounded up, all defined.
        let length = 2 * n - 1;
        let words = length.next_multiple_of(lanes).max(main.blocks() * lanes) + lanes;
        let full = self.builder.buffer("full", Role::Local, words, ALIGNMENT);

        let main_scale = main.scale().times(self.products_scale(&main.convolution)?);
        let (target, last_factor) = self.scales(main_scale)?;
        // The low part stands between the transforms and the base products: both read what was
        // stored just before in other pieces than it was stored, and stores take time to settle.
        let transformed = self.transformed("main", main, &fa, &fb)?;
        let mut low = parts::Low::default();
        if let Some(crt) = crt {
            low = self.low_part(crt, &fa, &fb, windows, full, target)?;
        }
        let main_factor = target.over(main_scale).value();
        let products = self.products("main", main, transformed)?;
        let bound = self.inverse_into(main, products, main_factor, full, &low, length)?;
        self.borders.push(("unreduced product".into(), bound));
        let reduction = lift.reduction(last_factor).ok_or_else(|| {
            unsupported(
                self.plan.root.to_form(),
                "the outermost lift reduces mod f",
                "lift in a ring",
            )
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
        self.fold(&reduction, last_factor, &[full], bound, words, c)
    }
}

/// The schedule as the products of both parts ask for it.
pub(crate) fn suited(schedule: &Choices, main: &Substitute, crt: Option<&MonomialCrt>) -> Choices {
    let low = match crt.and_then(|crt| LowPart::of(&crt.low)) {
        Some(LowPart::Transform(part, _)) => Some(part),
        _ => None,
    };
    let parts = std::iter::once(main).chain(low);
    super::suited::suited(schedule, parts.map(|part| &part.convolution))
}

/// Whether whole registers serve: blocks as wide as a register, and a low part that ends with one, or one word
/// behind it. Others have registers of their own for every block.
pub(crate) fn suit(
    main: &Substitute,
    crt: Option<&MonomialCrt>,
    (n, lanes): (usize, usize),
) -> bool {
    main.k == lanes && crt.is_none_or(|crt| low_suits(main, crt, n, lanes))
}

fn low_suits(main: &Substitute, crt: &MonomialCrt, n: usize, lanes: usize) -> bool {
    let (words, rest) = (crt.low_degree, crt.low_degree % lanes);
    let whole = words - rest;
    // A word behind the last register is the top coefficient of the product, and nothing is behind that.
    let ends = rest == 0 || words == 0 || main.blocks() * lanes + words == 2 * n - 1;
    let computed = match LowPart::of(&crt.low) {
        Some(LowPart::Transform(part, operand)) => {
            operand >= whole && part.k == lanes && inverse_phases("low", part, 1).len() == 1
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
    Transform(&'a Substitute, usize),
    /// Schoolbook, without what is cut off.
    Truncated,
}

impl LowPart<'_> {
    /// What a node is.
    pub fn of(low: &ProductRef) -> Option<LowPart<'_>> {
        let (inner, operand) = match low.structure() {
            Structure::Bordered(border) => (&border.inner, border.inner_operand),
            _ => (low, low.domain().operand),
        };
        let truncated = matches!(low.domain().modulus, Modulus::Binomial { weight: 0, .. });
        match (low.structure(), inner.structure()) {
            (Structure::Definition, _) => truncated.then_some(LowPart::Truncated),
            (_, Structure::Lifted(lift)) => {
                let part = lift.inner.structure().blocks()?;
                Some(LowPart::Transform(part, operand))
            }
            (_, inner) => Some(LowPart::Transform(inner.blocks()?, operand)),
        }
    }

    /// Whether it is the truncated product.
    pub fn is_truncated(low: &ProductRef) -> bool {
        matches!(LowPart::of(low), Some(LowPart::Truncated))
    }
}
