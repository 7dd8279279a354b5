//! Base products of leaves of whole registers: every coefficient of a times a stretch of (w·b, b).

use super::base::{Base, UNROLLED};
use super::sums::Sum;
use super::write::{Rounds, factors};
use crate::build::{Builder, looped, repeat};
use crate::ir::*;
use crate::lower::LowerError;

impl Base<'_> {
    /// Leaves of whole registers, one after the other, of operands from word `start` on.
    pub(super) fn long(
        &self,
        builder: &mut Builder,
        [to, a, b]: [BufferId; 3],
        (bounds, start): ([i64; 2], usize),
        add: Option<BufferId>,
    ) -> Result<Vec<Stmt>, LowerError> {
        let (d, lanes) = (self.machine.ntt.degree(), self.machine.shape.lanes());
        let leaves = self.machine.ntt.weights().len();
        let (blocks, chunk) = (d / lanes, d.min(UNROLLED));
        let extended = builder.fresh("extended", 2 * d);
        let sums = builder.fresh("sums", d);
        let leaf = builder.counter();
        let rounds = Rounds { outer: (leaves, leaf), inner: (1, builder.counter()) };
        let all: Vec<Vec<u64>> =
            self.machine.ntt.weights().iter().map(|&w| vec![w; lanes]).collect();
        let site = vec![all.iter().map(Vec::as_slice).collect()];
        let factor = factors(builder, self.style, &rounds, &site).swap_remove(0);
        let at = |base: usize, terms: &[(LoopVar, i64)]| Index {
            base: base as i64,
            terms: terms.iter().copied().filter(|t| t.1 != 0).collect(),
        };
        let (d_i, lanes_i) = (d as i64, lanes as i64);
        let mut body = Vec::new();

        let k = builder.counter();
        body.push(looped(k, blocks, |block| {
            let x = block.load(b, at(start, &[(leaf, d_i), (k, lanes_i)]));
            let weighted = match factor {
                Some(factor) => block.times(x, factor, self.style.multiply),
                None => x,
            };
            block.store(extended, at(0, &[(k, lanes_i)]), weighted);
            block.store(extended, at(d, &[(k, lanes_i)]), x);
            let zero = block.splat(0);
            block.store(sums, at(0, &[(k, lanes_i)]), zero);
        }));

        let (k, c) = (builder.counter(), builder.counter());
        let term = self.term(bounds)?;
        let mut block = Block::default();
        let none = block.load(sums, at(0, &[(k, lanes_i)]));
        let mut sum = Sum { value: none, bound: self.words.reduced(self.words.most()) };
        for t in 0..chunk {
            // Coefficient i = d - 1 - t - chunk·c of a.
            let from = at(start + d - 1 - t, &[(leaf, d_i), (c, -(chunk as i64))]);
            let x = block.push(Op::Broadcast { buffer: a, at: from });
            let from = at(1 + t, &[(k, lanes_i), (c, chunk as i64)]);
            let y = block.load(extended, from);
            let product = block.push(Op::MulWords { a: y, b: x, method: self.product });
            sum = self.add(&mut block, sum, product, (term, self.words.most()));
        }
        let value = block.reduced(sum.value, self.style.reduce);
        block.store(sums, at(0, &[(k, lanes_i)]), value);
        body.push(repeat(k, blocks, vec![repeat(c, d / chunk, vec![Stmt::Block(block)])]));

        let k = builder.counter();
        body.push(looped(k, blocks, |block| {
            let mut value = block.load(sums, at(0, &[(k, lanes_i)]));
            let place = at(0, &[(leaf, d_i), (k, lanes_i)]);
            if let Some(buffer) = add {
                let old = block.load(buffer, place.clone());
                value = block.add(old, value);
                value = block.reduced(value, self.style.reduce);
            }
            block.store(to, place, value);
        }));
        Ok(rounds.around(body))
    }
}
