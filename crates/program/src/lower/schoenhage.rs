//! Schönhage's transform: blocks of two registers, polynomials mod x^2K + 1 for registers of K words.

mod steps;

use super::lanes::METHOD;
use super::steps::{forward_steps, named, scale};
use super::transform::Products;
use super::{LowerError, Lowering, unsupported};
use crate::build::{Builder, straight};
use crate::ir::*;
use ringforge_plan::{Blocks as Part, Lift};
use ringforge_targets::ALIGNMENT;
use steps::Blocks;

impl Lowering<'_> {
    /// Everything, for a lifted product by Schönhage's transform; products of blocks are by lanes. The machine holds so
    /// many registers at a time.
    pub fn run_schoenhage(
        &mut self,
        lift: &Lift,
        main: &Part,
        held: usize,
    ) -> Result<(), LowerError> {
        let (q, lanes, n, blocks) = (self.q, self.lanes, self.n, main.count());
        if main.k != lanes {
            return Err(unsupported(
                format!("(schoenhage {} …)", main.k),
                format!("blocks of {} do not fill a register of {lanes} words", main.k),
                format!("(schoenhage {lanes} …)"),
            ));
        }
        if !blocks.is_multiple_of(lanes) {
            let why = format!("{blocks} products leave lanes of {lanes} idle");
            return Err(unsupported("schoenhage", why, format!("a multiple of {lanes} blocks")));
        }
        let [c, a, b] = self.arrays();
        let length = 2 * n - 1;
        let words = length.next_multiple_of(lanes).max(blocks * lanes) + lanes;
        let full = self.builder.local("full", words);
        let high = self.builder.local("high", (blocks + 1) * lanes);

        let left = main.scale.times(METHOD.scale(q)?).times(self.spared(&main.convolution)?);
        let target = self.scale()?;

        let (forward, bounds) = self.forward_blocks(main, held)?;
        let arguments = [a, b].map(|buffer| vec![(buffer, Index::at(0))]);
        let words_of = 2 * blocks * lanes;
        let place = ("main", "[Hwang24 §4.3]");
        let transformed = self.both_transformed(forward, arguments, words_of, place);
        let cells = main.transform.cells();
        let Products { buffer, bounds } =
            self.lane_products("main", &main.convolution, &cells, transformed, &bounds)?;

        let all = main.transform.inverse_steps(&vec![true; blocks]);
        let mut steps = named("main", "inverse", all);
        // Every value passes through the last step once, and it has multiplications.
        scale(steps.last_mut(), target.over(left).value());
        let limits = (self.schedule.inverse_first(), self.schedule.full() / 2);
        let ends = (Blocks::Squares(buffer), Blocks::Halves(full, high));
        let bounds = self.block_steps((steps, held), ends, bounds, limits)?;

        // Where steps are joined, the last one adds what overlaps.
        let (title, body) = match self.schedule.fuse() > 0 {
            true => {
                let zeros = straight(|block| {
                    let a = block.splat(0);
                    block.store(high, Index::at(0), a);
                });
                ("main part: no upper half below the first block", zeros)
            }
            false => {
                let sums = self.builder.runs(blocks - 1, |block, at| {
                    let at = || at(lanes, lanes);
                    let (x, y) = (block.load(full, at()), block.load(high, at()));
                    let sum = block.add(x, y);
                    block.store(full, at(), sum);
                });
                ("main part: blocks overlap", sums)
            }
        };
        self.builder.stage(title, "[Hwang24 §4.3]", vec![body]);

        let bound = 2 * bounds.iter().copied().max().unwrap_or(0);
        self.written.border("unreduced product", bound);
        let reduction = self.reduction(lift)?;
        let summands = if self.schedule.fuse() > 0 { &[full, high][..] } else { &[full] };
        self.fold(&reduction, summands, bound, words, c)
    }

    /// The procedure for the forward transform of an operand, and the bounds of what it leaves.
    fn forward_blocks(
        &mut self,
        main: &Part,
        held: usize,
    ) -> Result<(ProcedureId, Vec<i64>), LowerError> {
        let (lanes, n, h, blocks) = (self.lanes, self.n, self.operand, main.count());
        let mut builder = Builder::new(&format!("{}forward", self.prefix), None, self.q);
        let out = builder.buffer("out", Role::Scratch, 2 * blocks * lanes, ALIGNMENT);
        let input = builder.ranged("in", Role::Input, n, 2, Some((-h, h)));
        let steps = (forward_steps("main", main), held);
        let limits = (self.schedule.forward_first(), self.schedule.forward());
        let ends = (Blocks::Operand(input, n), Blocks::Squares(out));
        let before = vec![h; blocks];
        self.helper(builder, |lowering| lowering.block_steps(steps, ends, before, limits))
    }
}
