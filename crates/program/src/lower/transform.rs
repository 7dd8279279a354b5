//! Incomplete transforms: forward of both operands by one procedure, inverse into the unreduced
//! product.

use super::fuse::fused;
use super::parts::Low;
use super::registers::Operands;
use super::steps::{Ranges, Rows, forward_steps, inverse_steps, scale};
use super::{LowerError, Lowering, Operand, tagged, unsupported};
use crate::build::Builder;
use crate::ir::*;
use crate::schedule::{BaseProducts, ScalePlace, Weights};
use ringforge_plan::Blocks;
use ringforge_targets::{ALIGNMENT, TABLE_ALIGNMENT};

/// The products of the transformed operands, block after block, as the inverse finds them.
#[derive(Clone, Debug)]
pub(crate) struct Products {
    pub buffer: BufferId,
    /// Largest magnitude by cell.
    pub bounds: Vec<i64>,
}

impl Lowering<'_> {
    /// Both forward transforms, and what the base products want to find ready; their bounds by cell.
    pub(super) fn transformed(
        &mut self,
        tag: &str,
        part: &Blocks,
        operands: &Operands,
    ) -> Result<([BufferId; 2], Vec<i64>), LowerError> {
        let (lanes, blocks) = (self.lanes, part.count());
        let by_lanes = self.schedule.base() == BaseProducts::Lanes;
        // Operand b's blocks stand behind room for their weighted copies; a's are laid out alike,
        // so that one procedure serves both. For products by lanes, whole squares are transposed.
        let (words, start, stride) = match by_lanes {
            true => (blocks.next_multiple_of(lanes) * lanes, 0, lanes),
            false => (blocks * 2 * lanes, lanes, 2 * lanes),
        };
        let name = self.prefix.clone() + &tagged("forward", tag);
        let mut builder = Builder::new(&name, None, self.q);
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let present = part.present().iter().filter(|&&p| p).count();
        let h = self.operand;
        let room = (present * lanes).min(self.n);
        let input = builder.ranged("in", Role::Input, room, 2, Some((-h, h)));
        // Where operands differ in their last block, that comes separately.
        let partial = !room.is_multiple_of(lanes);
        let tail = (partial && !by_lanes)
            .then(|| builder.ranged("tail", Role::Input, lanes, TABLE_ALIGNMENT, Some((-h, h))));
        let steps = fused(forward_steps(tag, part), self.schedule.fuse() as usize, true);
        let mut bounds = vec![h; blocks];
        let from = Rows { caller: Some((self.n, tail)), ..Rows::of(input, lanes) };
        let to = Rows { start, ..Rows::of(out, stride) };
        let last = self.schedule.forward();
        let first = if steps.len() > 1 { self.schedule.forward_first() } else { last };
        let limits = [first, last];
        let (forward, ()) = self.helper(builder, |lowering| {
            lowering.steps(&steps, (from, to), &mut bounds, limits, lanes)?;
            if by_lanes && words > blocks * lanes && !lowering.moves(&part.convolution)? {
                // Anything bounded may stand there. Zeros or copies would turn into calls of memset
                // and memcpy.
                let method = lowering.schedule.reduce();
                lowering.builder.straight("spare lanes", "", |block| {
                    for cell in blocks..words / lanes {
                        let a = block.load(out, Index::at((cell - blocks) % blocks * lanes));
                        let a = block.reduced(a, method);
                        block.store(out, Index::at(cell * lanes), a);
                    }
                });
            }
            Ok(())
        })?;

        let arguments = [0, 1].map(|i| {
            let Operand { buffer, tail: own } = &operands.of[i];
            let own = own.clone().filter(|_| tail.is_some());
            [(*buffer, Index::at(0))].into_iter().chain(own).collect()
        });
        let buffers = self.both_transformed(forward, arguments, words, (tag, "[Chiu25 §3.2.1]"));
        if !by_lanes && self.schedule.weights() == Weights::Apart {
            self.weigh(tag, part, buffers[1]);
        }
        Ok((buffers, bounds))
    }

    /// The products of the blocks.
    pub fn products(
        &mut self,
        tag: &str,
        part: &Blocks,
        (buffers, bounds): ([BufferId; 2], Vec<i64>),
    ) -> Result<Products, LowerError> {
        match self.schedule.base() {
            // Whose methods are all direct: `suited` has seen to it.
            BaseProducts::BroadcastDot => self.base_products(tag, part, buffers, &bounds),
            BaseProducts::Lanes => {
                let cells = part.transform.cells();
                self.lane_products(tag, &part.convolution, &cells, buffers, &bounds)
            }
        }
    }

    /// The inverse transform into the unreduced product, joined with the low part.
    pub fn inverse_into(
        &mut self,
        part: &Blocks,
        products: Products,
        factor: u64,
        full: BufferId,
        low: &Low,
    ) -> Result<i64, LowerError> {
        let lanes = self.lanes;
        let last = self.schedule.scale() == ScalePlace::Last;
        let mut steps = inverse_steps("main", part, if last { 1 } else { factor });
        if last {
            scale(steps.last_mut(), factor);
        }
        let steps = fused(steps, self.schedule.fuse() as usize, false);
        let cells = Rows::of(products.buffer, lanes);
        let mut bounds = products.bounds;
        let Some((last, before)) = steps.split_last() else {
            let would_work = "a transform of length 1 or more";
            return Err(unsupported("transform", "it has no step", would_work));
        };
        let most = self.schedule.full();
        let first = if before.is_empty() { most } else { self.schedule.inverse_first() };
        self.steps(before, (cells, cells), &mut bounds, [first; 2], lanes)?;
        let main_words = part.count() * lanes;
        let mut worst = low.bound;
        // Blocks that meet the low part have its bound added to theirs.
        let meeting = |block: usize| if block * lanes < low.words { low.bound } else { 0 };
        let ranges: Ranges = (&|i| bounds[i], &|block| most - meeting(block));
        let body = self.groups(last, false, ranges, &mut |lowering, block, group, placement| {
            for (&to, v) in group.to.iter().zip(&group.outputs) {
                worst = worst.max(placement.bounds[v.0 as usize] + meeting(to));
            }
            lowering.network(
                block,
                group,
                placement,
                false,
                &mut |block, i| block.load(cells.buffer, cells.at(group.from[i])),
                &mut |block, i, a| low.join(block, full, group.to[i], main_words, lanes, a),
            );
        })?;
        self.builder.stage(&last.title, last.cite, body);
        Ok(worst)
    }
}
