//! Base products mod x^k - w by broadcast dot products: no shuffle, the load ports do the moving.
//!
//! With e = w·b followed by b, coefficient k of a·b mod x^K - w is Σ_i a_i·e_(K+k-i). Two terms
//! fit one dot product of pairs: the pair (a_(2i+1), a_(2i)), broadcast, times the pairs
//! (e_(m-1), e_m), which are plain unaligned loads of e. Even and odd k come out in two registers
//! of 32-bit elements whose narrowing interleaves them in natural order.

use super::transform::Products;
use super::{LowerError, Lowering, tagged, wide};
use crate::build::repeat_unrolled;
use crate::ir::*;
use crate::schedule::Weights;
use ringforge_plan::Blocks;
use ringforge_targets::ALIGNMENT;

/// Term i of a sum: the broadcast pair, and the loads it meets for even and for odd outputs.
type Term<'a> = dyn Fn(&mut Block, usize) -> (Value, [Op; 2]) + 'a;

/// The largest number of copies up to `most` that divides `count`.
fn unrolled(count: usize, most: u32) -> usize {
    (1..=most.max(1) as usize).rev().find(|u| count.is_multiple_of(*u)).unwrap_or(1)
}

impl Lowering<'_> {
    /// Multiplies block by block; `buffers` hold the transformed operands, `bounds` their largest
    /// magnitudes by cell.
    pub fn base_products(
        &mut self,
        tag: &str,
        part: &Blocks,
        [a, b]: [BufferId; 2],
        bounds: &[i64],
    ) -> Result<Products, LowerError> {
        let (lanes, blocks) = (self.lanes, part.count());
        let weights = part.weights_by_cell();
        let mut bounds = bounds.to_vec();
        for (bound, &w) in bounds.iter_mut().zip(&weights) {
            let weighted = self.bounds.product(w, *bound);
            let sum = lanes as i64 * *bound * weighted.max(*bound);
            *bound = self.narrow_bound(&format!("{tag}.base"), sum)?;
        }
        let most = bounds.iter().copied().max().unwrap_or(0);
        self.written.border(format!("{tag}.base"), most);

        let named = |name: &str| tagged(name, tag);
        let products = self.builder.local(&named("products"), blocks * lanes);
        let unroll = unrolled(blocks, self.schedule.unroll());
        // Weighted blocks and then blocks, all of them or those of an iteration.
        let within = (self.schedule.weights() == Weights::Within).then(|| {
            let pairs = self.builder.local(&named("weighted"), unroll * 2 * lanes);
            (pairs, self.weights_table(tag, part))
        });
        let counter = self.builder.counter();
        let body = repeat_unrolled(counter, blocks, unroll, &|block, strided| {
            let own = |words: usize| strided(words, 2 * lanes);
            // The copy of an iteration, without the iterations before.
            let at = |words: usize| match within {
                Some(_) => Index { terms: Vec::new(), ..own(words) },
                None => own(words),
            };
            let e = within.map_or(b, |(pairs, table)| {
                let value = block.load(b, own(lanes));
                block.store(pairs, at(lanes), value);
                let factor = Factor::Repeated { buffer: table, at: strided(0, 1) };
                let value = block.times(value, factor, self.schedule.multiply());
                block.store(pairs, at(0), value);
                pairs
            });
            let value = self.dot(block, lanes / 2, &|block, i| {
                let pair = self.pair(block, a, own(lanes + 2 * i));
                let load = |word: usize| Op::Load { buffer: e, at: at(word) };
                (pair, [load(lanes - 2 * i - 1), load(lanes - 2 * i)])
            });
            block.store(products, strided(0, lanes), value);
        });
        let title = format!("{tag} part: {blocks} weighted convolutions of size {lanes}");
        self.builder.stage(&title, "[Chiu25 §3.2.3]", body);
        Ok(Products { buffer: products, bounds })
    }

    /// The table of the blocks' weights.
    fn weights_table(&mut self, tag: &str, part: &Blocks) -> BufferId {
        let name = tagged("weights", tag);
        let weights = Role::Factors(part.weights_by_cell());
        self.builder.buffer(&name, weights, part.count(), ALIGNMENT)
    }

    /// Puts w·b before each block of the transformed b.
    pub fn weigh(&mut self, tag: &str, part: &Blocks, b: BufferId) {
        let (lanes, blocks) = (self.lanes, part.count());
        let table = self.weights_table(tag, part);
        let unroll = unrolled(blocks, 4 * self.schedule.unroll());
        let (counter, method) = (self.builder.counter(), self.schedule.multiply());
        let body = repeat_unrolled(counter, blocks, unroll, &|block, at| {
            let a = block.load(b, at(lanes, 2 * lanes));
            let factor = Factor::Repeated { buffer: table, at: at(0, 1) };
            let a = block.times(a, factor, method);
            block.store(b, at(0, 2 * lanes), a);
        });
        self.builder.stage(&format!("{tag} part: weights"), "[Chiu25 §2.5]", body);
    }

    /// The bound of a narrowed sum.
    pub fn narrow_bound(&self, stage: &str, sum: i64) -> Result<i64, LowerError> {
        let fits = sum < 1 << 31;
        let bound = self.bounds.narrow(self.schedule.narrow(), sum).filter(|_| fits);
        bound.ok_or_else(|| wide(stage, sum))
    }

    /// A pair of an operand, broadcast, its words exchanged: as they were brought in, or here where that takes
    /// nothing.
    pub fn pair(&self, block: &mut Block, buffer: BufferId, at: Index) -> Value {
        let pair = block.push(Op::BroadcastPair { buffer, at });
        if self.schedule.rows() { block.push(Op::SwapPairs(pair)) } else { pair }
    }

    /// `sum` (or zero) plus a dot product of pairs.
    pub fn dot_add(&self, block: &mut Block, sum: Option<Value>, a: Value, b: Value) -> Value {
        // Where nothing is added, no key says how.
        let fused = sum.is_some() && (self.schedule.fused_dot() || self.schedule.rows());
        block.plus_dots(sum, [a, b], fused)
    }

    /// Σ over `pairs` of broadcast pair × loaded pairs, for even and odd outputs, narrowed.
    pub fn dot(&self, block: &mut Block, pairs: usize, term: &Term) -> Value {
        let mut sums: [Option<Value>; 2] = [None; 2];
        for i in 0..pairs {
            let (pair, loads) = term(block, i);
            for (sum, load) in sums.iter_mut().zip(loads) {
                let other = block.push(load);
                *sum = Some(self.dot_add(block, *sum, pair, other));
            }
        }
        self.narrowed(block, sums)
    }
}
