//! Coefficients from one to another of an unreduced product, as sums of all their products.
//!
//! *Dots* serve where sums of 16-bit words fit 32 bits. Coefficient k is Σ_i a_i·b_(k−i). So b is reversed, and one loop
//! over i sums products of neighbours. Compilers find the instruction that adds two of them (`pmaddwd`). a is cut into
//! parts, so that few products meet the zeros around b.
//!
//! *Rows* serve elsewhere: each word of a is multiplied by all of b, and added to the sums from its place on. A row takes
//! several words of a at a time.

use super::*;
use crate::lower::general::zeros;
use ringforge_targets::ALIGNMENT;
use std::ops::Range;

/// The fewest terms of a dot: gcc takes a loop of 16 turns apart before it makes vectors of it.
const FEWEST: usize = 24;
/// About the most: with more, too many are products with zeros; with fewer, sums across a register take too long.
const TERMS: usize = 64;
/// Groups of rows that leave out coefficients nobody asks for.
const GROUPS: usize = 8;

impl Writing<'_> {
    /// The procedure (t, a, b) with coefficients `wanted` of a·b in t at their places.
    pub(super) fn product(
        &mut self,
        name: &str,
        ranges: [(i64, i64); 2],
        wanted: Range<usize>,
    ) -> ProcedureId {
        let mut builder = Builder::new(name, None, self.modulus(self.sums));
        let t = builder.buffer("t", Role::Scratch, self.words, ALIGNMENT);
        let align = usize::from(self.memory) / 8;
        let operands = [("a", 0), ("b", 1)].map(|(name, i)| {
            let buffer = builder.ranged(name, Role::Input, self.n, align, Some(ranges[i]));
            builder.narrow(buffer, self.memory);
            buffer
        });
        let lanes = REGISTERS.lanes(self.sums);
        let mut body = Vec::new();
        zeros(&mut builder, &mut body, (t, 0), self.words, lanes);
        match self.sums == MIDDLE && self.memory == SHORT {
            true => self.dots(&mut builder, body, t, operands, wanted),
            false => self.rows(&mut builder, body, t, operands, wanted),
        }
        self.push(builder.finish())
    }

    fn dots(
        &self,
        builder: &mut Builder,
        mut body: Vec<Stmt>,
        t: BufferId,
        operands: [BufferId; 2],
        wanted: Range<usize>,
    ) {
        let (n, lanes) = (self.n, REGISTERS.lanes(self.sums));
        let parts = (n / TERMS).max(1);
        let terms = n.div_ceil(parts).next_multiple_of(lanes).max(FEWEST);
        let parts = n.div_ceil(terms);
        let (padded, last) = (parts * terms, n + terms - 2);
        let mut a = operands[0];
        if padded > n {
            a = builder.buffer("fa", Role::Local, padded, ALIGNMENT);
            builder.narrow(a, self.memory);
            let behind = n.next_multiple_of(lanes);
            zeros(builder, &mut body, (a, behind), padded - behind, lanes);
            copy(builder, &mut body, (operands[0], a, 0), n, lanes);
        }
        // Coefficient k of a part is the sum of its term i times word last - k + i.
        let length = (last + terms).next_multiple_of(lanes);
        let b = builder.buffer("rb", Role::Local, length, ALIGNMENT);
        builder.narrow(b, self.memory);
        zeros(builder, &mut body, (b, 0), length, lanes);
        let from = builder.counter();
        let mut block = Block::default();
        let buffer = operands[1];
        let a_word = block.push(Op::Broadcast { buffer, at: Index::strided(0, from, 1) });
        let at = Index { base: last as i64, terms: vec![(from, -1)] };
        block.push(Op::StorePartial { buffer: b, at, count: 1, a: a_word });
        body.push(repeat(from, n, vec![Stmt::Block(block)]));
        builder.stage("sums of zero, b turned around, zeros beside it", "", body);

        // The coefficients that a part adds to, counted from its first term on: alike for parts next to each other.
        let range = |part: usize| {
            let first = part * terms;
            (wanted.start.saturating_sub(first), (last + 1).min(wanted.end.saturating_sub(first)))
        };
        let mut body = Vec::new();
        let mut start = 0;
        while start < parts {
            let (low, high) = range(start);
            let alike = (start..parts).take_while(|&part| range(part) == (low, high)).count();
            if high > low {
                let [part, coefficient, register] = [0; 3].map(|_| builder.counter());
                let at = |base: usize, more: (LoopVar, i64)| Index {
                    base: (base + start * terms) as i64,
                    terms: vec![(part, terms as i64), more],
                };
                let mut block = Block::default();
                let x = block.push(Op::Load { buffer: a, at: at(0, (register, lanes as i64)) });
                let word = Index {
                    base: (last - low) as i64,
                    terms: vec![(register, lanes as i64), (coefficient, -1)],
                };
                let y = block.push(Op::Load { buffer: b, at: word });
                let product = block.push(Op::MulLo(x, y));
                block.push(Op::AddSum { buffer: t, at: at(low, (coefficient, 1)), a: product });
                let sum = repeat(register, terms / lanes, vec![Stmt::Block(block)]);
                let all = repeat(coefficient, high - low, vec![sum]);
                body.push(repeat(part, alike, vec![all]));
            }
            start += alike;
        }
        let title = format!("{terms} terms of each coefficient at a time, in sums of 32 bits");
        builder.stage(&title, "", body);
    }

    fn rows(
        &self,
        builder: &mut Builder,
        mut body: Vec<Stmt>,
        t: BufferId,
        operands: [BufferId; 2],
        wanted: Range<usize>,
    ) {
        let (n, lanes) = (self.n, REGISTERS.lanes(self.sums));
        let together = match self.sums {
            LONG => 2,
            SHORT => 8,
            _ => 4,
        };
        let padded = (n + together - 1).next_multiple_of(lanes);
        let front = lanes;
        let b = builder.buffer("fb", Role::Local, front + padded, ALIGNMENT);
        builder.narrow(b, self.memory);
        zeros(builder, &mut body, (b, 0), front, lanes);
        let behind = n.next_multiple_of(lanes);
        zeros(builder, &mut body, (b, front + behind), padded - behind, lanes);
        copy(builder, &mut body, (operands[1], b, front), n, lanes);
        builder.stage("sums of zero, and zeros around b", "", body);
        let whole = n / together;
        let groups = if wanted == (0..2 * n - 1) { 1 } else { GROUPS.min(whole).max(1) };
        let cut = |group: usize| whole * group / groups;
        let mut all: Vec<(usize, usize, usize)> = (0..groups)
            .map(|group| (cut(group) * together, together, cut(group + 1) - cut(group)))
            .collect();
        all.push((whole * together, n % together, 1));
        let mut body = Vec::new();
        for (from, step, count) in all.into_iter().filter(|&(_, step, count)| step * count > 0) {
            // Registers that rows of the group add to, counted from each row's first coefficient on.
            let behind = from + (count - 1) * step;
            let low = wanted.start.saturating_sub(behind) / lanes;
            let high = (n + step - 1).min(wanted.end.saturating_sub(from)).div_ceil(lanes);
            if high <= low {
                continue;
            }
            let (round, register) = (builder.counter(), builder.counter());
            let mut block = Block::default();
            let at = Index {
                base: (from + low * lanes) as i64,
                terms: vec![(register, lanes as i64), (round, step as i64)],
            };
            let mut sum = block.push(Op::Load { buffer: t, at: at.clone() });
            let mut products = Vec::new();
            for term in 0..step {
                let word = Index::strided(from + term, round, step);
                let x = block.push(Op::Broadcast { buffer: operands[0], at: word });
                let word = Index::strided(front + low * lanes - term, register, lanes);
                let y = block.push(Op::Load { buffer: b, at: word });
                products.push(block.push(Op::MulLo(x, y)));
            }
            // Two products of words of 16 bits are added before they are extended.
            if let ([first, second], LONG) = (&products[..], self.sums) {
                products = vec![block.push(Op::Add(*first, *second))];
            }
            for product in products {
                sum = block.push(Op::Add(sum, product));
            }
            block.push(Op::Store { buffer: t, at, a: sum });
            let inner = vec![repeat(register, high - low, vec![Stmt::Block(block)])];
            body.push(repeat(round, count, inner));
        }
        let title = format!(
            "words of a, {together} at a time, times all of b, in sums of {} bits",
            self.sums
        );
        builder.stage(&title, "", body);
    }
}
