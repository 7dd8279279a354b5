//! The stages around the products of blocks: operands in, transforms, the product out.

use super::super::fuse::fused;
use super::super::{LowerError, Lowering, tagged};
use super::{Operands, Parts, Rows};
use crate::build::{Builder, copy, straight, zeros};
use crate::ir::*;
use ringforge_targets::ALIGNMENT;

impl Lowering<'_> {
    /// Zeros in words `from..to`, which hold a register at least where they are not none.
    pub(super) fn zeros(&mut self, buffer: BufferId, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let (lanes, rest) = (self.lanes, (to - from) % self.lanes);
        let whole = zeros(&mut self.builder, (buffer, from), to - from - rest, lanes);
        let mut body: Vec<Stmt> = whole.into_iter().collect();
        if rest > 0 {
            body.push(straight(|block| {
                let a = block.splat(0);
                block.store_first((buffer, Index::at(to - rest)), a, (rest, lanes));
            }));
        }
        self.builder.stage("zeros", "", body);
    }

    /// The first coefficients of both operands, zeros behind them.
    pub(super) fn cut(&mut self, (operands, words): Operands, coefficients: usize) -> Operands {
        let size = (words, self.lanes, 1);
        let short = operands.map(|from| {
            let to = self.builder.fresh("short", words);
            let body = copy(&mut self.builder, (from, to, 0), size, &|_, a| a);
            self.builder.stage(&format!("the first {coefficients} coefficients"), "", body);
            self.zeros(to, coefficients, words);
            to
        });
        (short, words)
    }

    /// Both operands transformed by one procedure, and the bounds of their cells.
    pub(super) fn transforms(
        &mut self,
        parts: &Parts,
        (operands, room): Operands,
        tag: &str,
    ) -> Result<(Rows, Rows, Vec<i64>), LowerError> {
        let (h, k) = (self.operand, self.padded(parts.k));
        let words = parts.cells() * k;
        let name = self.prefix.clone() + &tagged("forward", tag);
        let mut builder = Builder::new(&name, None, self.modulus());
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let input = builder.ranged("in", Role::Input, room, ALIGNMENT, Some((-h, h)));
        let from = Rows::of(input, parts.k);
        let to = Rows::of(out, k);
        let mut bounds = vec![h; parts.cells()];
        let limits = [self.schedule.forward_first(), self.schedule.forward()];
        let forward = fused(parts.forward.clone(), self.schedule.fuse() as usize, true);
        let (procedure, ()) = self.helper(builder, |lowering| {
            lowering.steps(&forward, (from, to), &mut bounds, limits, k)
        })?;
        let arguments = operands.map(|buffer| vec![(buffer, Index::at(0))]);
        let [a, b] = self.both_transformed(procedure, arguments, words, (tag, ""));
        Ok((Rows::of(a, k), Rows::of(b, k), bounds))
    }

    /// Calls of the forward transform for both operands, given by its further arguments, which become so many words.
    pub(in crate::lower) fn both_transformed(
        &mut self,
        procedure: ProcedureId,
        [a, b]: [Vec<(BufferId, Index)>; 2],
        words: usize,
        (tag, cite): (&str, &str),
    ) -> [BufferId; 2] {
        [("a", a), ("b", b)].map(|(operand, from)| {
            let to = self.builder.fresh(&tagged(&format!("t{operand}"), tag), words);
            let title = format!("{tag} part: forward transform of {operand}");
            let arguments = [vec![(to, Index::at(0))], from].concat();
            self.builder.stage(&title, cite, vec![Stmt::Call { procedure, arguments }]);
            to
        })
    }

    /// The inverse transform, and its blocks one after the other in `out`.
    pub(super) fn inverse_blocks(
        &mut self,
        parts: &Parts,
        factor: u64,
        products: Rows,
        bound: i64,
        (out, words): (BufferId, usize),
        tag: &str,
    ) -> Result<i64, LowerError> {
        let k = self.padded(parts.k);
        let steps = fused(parts.inverse(factor), self.schedule.fuse() as usize, false);
        let count = parts.wanted.div_ceil(parts.k).max(1);
        let mut bounds = vec![bound; parts.cells()];
        let limits = [self.schedule.inverse_first(), self.schedule.full()];
        // Whole registers go where they belong at once.
        let direct = k == parts.k && count * k <= words;
        let (before, last) = steps.split_at(steps.len() - 1);
        self.steps(before, (products, products), &mut bounds, [limits[0]; 2], k)?;
        // The last groups write where others still read.
        let to = match direct {
            true => out,
            false => self.builder.fresh("blocks", parts.cells().max(count) * k),
        };
        let blocks = Rows::of(to, k);
        self.steps(last, (products, blocks), &mut bounds, limits, k)?;
        let bound = bounds[..count.min(bounds.len())].iter().copied().max().unwrap_or(0);
        if !direct {
            self.blocks_together(blocks, (out, parts.k), count, tag);
        }
        Ok(bound)
    }

    /// Blocks of `k` words one after the other in `out`, a register at most behind the last of them written too.
    pub(super) fn blocks_together(
        &mut self,
        blocks: Rows,
        (out, k): (BufferId, usize),
        count: usize,
        tag: &str,
    ) {
        // In ascending order: what is behind a block's last coefficient is written over.
        let lanes = self.lanes;
        let body = self.builder.runs(count, |block, at| {
            for r in (0..blocks.stride).step_by(lanes) {
                let a = block.load(blocks.buffer, at(r, blocks.stride));
                block.store(out, at(r, k), a);
            }
        });
        self.builder.stage(&format!("{tag} part: blocks of {k} together"), "", vec![body]);
    }
}
