//! Products mod x^k − w of packed blocks. A register holds a unit of each block, so what one block
//! needs stands in other registers at the same place.
//!
//! Coefficient m of a·b mod x^k − w is Σ_i a_i·e_(m−i), with e_j = b_j and e_(j−k) = w·b_j. If
//! units are pairs, one dot product computes two terms. For odd m it multiplies (a_2h, a_2h+1) by
//! (e_2s+1, e_2s), a swapped pair of e. For even m it multiplies by (e_2s, e_2s−1), words of two
//! pairs.

use super::super::{LowerError, Lowering};
use super::{Packed, Style};
use crate::build::repeat_unrolled;
use crate::ir::*;
use ringforge_targets::TABLE_ALIGNMENT;

/// The odd words of a pair.
const ODD: u8 = 0xaa;

impl Lowering<'_> {
    /// The products of all blocks of operands within a bound, and the largest word.
    pub(super) fn packed_products(
        &mut self,
        packed: &Packed,
        [a, b]: [BufferId; 2],
        bound: i64,
    ) -> Result<(BufferId, i64), LowerError> {
        let (lanes, k, units) = (self.lanes, packed.part.k, packed.units());
        let (groups, columns) = (packed.groups(), packed.grid.columns());
        let convolution = &packed.part.convolution;
        let mut table = Vec::new();
        for group in 0..groups {
            for j2 in 0..columns {
                let weight = |j1| convolution.weights[packed.grid.output(j1, j2)];
                table.extend(packed.words_of(group, weight));
            }
        }
        let weighted = convolution.weights.iter().map(|&w| self.bounds.product(w, bound)).max();
        let most = bound.max(weighted.unwrap_or(0));
        let style = self.style();
        let sum = self.sum_bound(style, k, bound, most);
        let sum = sum.ok_or_else(|| self.too_large("main", most))?;
        let weights = self.builder.factors("weights", table, TABLE_ALIGNMENT);
        let products = self.builder.fresh("products", packed.words());
        let counter = self.builder.counter();
        let unroll = self.schedule.unroll().max(1) as usize;
        let count = groups * columns;
        let body = repeat_unrolled(counter, count, unroll, &|block, at| {
            let place = |unit: usize| at(unit * lanes, units * lanes);
            let [a, b] = [a, b].map(|buffer| -> Vec<Value> {
                (0..units).map(|i| block.load(buffer, place(i))).collect()
            });
            // Blocks of w·b, then those of b.
            let factor = Factor::Table { buffer: weights, at: at(0, lanes) };
            let method = self.schedule.multiply();
            let mut e: Vec<Value> = Vec::with_capacity(2 * units);
            for &a in &b {
                e.push(block.times(a, factor.clone(), method));
            }
            e.extend(b);
            let values = match style {
                Style::Pairs => self.pairs_of_sums(block, &a, &e),
                _ => self.word_sums(block, &a, &e),
            };
            for (unit, a) in values.into_iter().enumerate() {
                block.store(products, place(unit), a);
            }
        });
        let (count, across) = (convolution.weights.len(), packed.across().min(packed.grid.rows()));
        let title = format!("main part: {count} products of blocks of {k}, {across} at once");
        self.builder.stage(&title, "[Chiu25 §3.2.3]", body);
        self.written.border("main.base", sum);
        Ok((products, sum))
    }

    /// The coefficients in pairs, of pairs of a and of e.
    fn pairs_of_sums(&self, block: &mut Block, a: &[Value], e: &[Value]) -> Vec<Value> {
        // For even coefficients the words before those of a pair, for odd ones its own.
        let windows: Vec<[Value; 2]> = (e.windows(2))
            .map(|two| {
                let even = block.push(Op::Blend { a: two[1], b: two[0], mask: ODD });
                [even, block.push(Op::SwapPairs(two[1]))]
            })
            .collect();
        (0..a.len())
            .map(|t| {
                let mut sums: [Option<Value>; 2] = [None; 2];
                for (&pair, window) in a.iter().zip(windows[..a.len() + t].iter().rev()) {
                    for (sum, &other) in sums.iter_mut().zip(window) {
                        *sum = Some(self.dot_add(block, *sum, pair, other));
                    }
                }
                self.narrowed(block, sums)
            })
            .collect()
    }

    /// The coefficients, of words of a and of e: products of even and of odd words apart.
    fn word_sums(&self, block: &mut Block, a: &[Value], e: &[Value]) -> Vec<Value> {
        let mut both = |v: &Value| [*v, block.push(Op::OddToEven(*v))];
        let a: Vec<[Value; 2]> = a.iter().map(&mut both).collect();
        let e: Vec<[Value; 2]> = e[1..].iter().map(&mut both).collect();
        (0..a.len())
            .map(|m| {
                let mut sums: [Option<Value>; 2] = [None; 2];
                for (word, other) in a.iter().zip(e[..a.len() + m].iter().rev()) {
                    for (sum, (&x, &y)) in sums.iter_mut().zip(word.iter().zip(other)) {
                        let product = block.push(Op::MulEven(x, y));
                        *sum = Some(block.plus_wide(*sum, product));
                    }
                }
                self.narrowed(block, sums)
            })
            .collect()
    }
}
