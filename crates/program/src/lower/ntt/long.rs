//! Base products of leaves of whole registers: every coefficient of a times a stretch of (w·b, b).

use super::base::{Base, UNROLLED};
use super::sums::Sum;
use super::write::{Rounds, factors};
use crate::build::{Builder, repeat};
use crate::ir::*;
use crate::lower::LowerError;
use ringforge_targets::ALIGNMENT;

impl Base<'_> {
    /// Leaves of whole registers, one after the other, of operands from word `start` on.
    pub(super) fn long(
        &self,
        builder: &mut Builder,
        [to, a, b]: [BufferId; 3],
        (bounds, start): ([i64; 2], usize),
        add: Option<BufferId>,
    ) -> Result<Vec<Stmt>, LowerError> {
        let (d, lanes) = (self.machine.ntt.degree(), self.shape().lanes());
        let leaves = self.machine.ntt.weights().len();
        let (blocks, chunk) = (d / lanes, d.min(UNROLLED));
        let extended = builder.unique("extended", Role::Local, 2 * d, ALIGNMENT);
        let sums = builder.unique("sums", Role::Local, d, ALIGNMENT);
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
        let mut block = Block::default();
        let x = block.push(Op::Load { buffer: b, at: at(start, &[(leaf, d_i), (k, lanes_i)]) });
        let weighted = match factor {
            Some(factor) => block.push(Op::MulMod { a: x, factor, method: self.style.multiply }),
            None => x,
        };
        block.push(Op::Store { buffer: extended, at: at(0, &[(k, lanes_i)]), a: weighted });
        block.push(Op::Store { buffer: extended, at: at(d, &[(k, lanes_i)]), a: x });
        let zero = block.push(Op::Splat(0));
        block.push(Op::Store { buffer: sums, at: at(0, &[(k, lanes_i)]), a: zero });
        body.push(repeat(k, blocks, vec![Stmt::Block(block)]));

        let (k, c) = (builder.counter(), builder.counter());
        let term = self.term(bounds)?;
        let mut block = Block::default();
        let none = block.push(Op::Load { buffer: sums, at: at(0, &[(k, lanes_i)]) });
        let mut sum = Sum { value: none, bound: self.words.reduced(self.words.most()) };
        for t in 0..chunk {
            // Coefficient i = d - 1 - t - chunk·c of a.
            let from = at(start + d - 1 - t, &[(leaf, d_i), (c, -(chunk as i64))]);
            let x = block.push(Op::Broadcast { buffer: a, at: from });
            let from = at(1 + t, &[(k, lanes_i), (c, chunk as i64)]);
            let y = block.push(Op::Load { buffer: extended, at: from });
            let product = block.push(Op::MulWords { a: y, b: x, method: self.product });
            sum = self.add(&mut block, sum, product, (term, self.words.most()));
        }
        let value = block.push(Op::Reduce { a: sum.value, method: self.style.reduce });
        block.push(Op::Store { buffer: sums, at: at(0, &[(k, lanes_i)]), a: value });
        body.push(repeat(k, blocks, vec![repeat(c, d / chunk, vec![Stmt::Block(block)])]));

        let k = builder.counter();
        let mut block = Block::default();
        let mut value = block.push(Op::Load { buffer: sums, at: at(0, &[(k, lanes_i)]) });
        let place = at(0, &[(leaf, d_i), (k, lanes_i)]);
        if let Some(buffer) = add {
            let old = block.push(Op::Load { buffer, at: place.clone() });
            value = block.push(Op::Add(old, value));
            value = block.push(Op::Reduce { a: value, method: self.style.reduce });
        }
        block.push(Op::Store { buffer: to, at: place, a: value });
        body.push(repeat(k, blocks, vec![Stmt::Block(block)]));
        Ok(rounds.around(body))
    }
}
