//! Sums of all products of a coefficient, in words that hold them.
//!
//! *Dots* serve where sums of 16-bit words fit 32 bits. Coefficient k is Σ_i a_i·b_(k−i). So b is reversed, and one loop
//! over i sums products of neighbours. Compilers find the instruction that adds two of them (`pmaddwd`). a is cut into
//! parts, so that few products meet the zeros around b.
//!
//! *Rows* serve elsewhere: each word of a is multiplied by all of b, and added to the sums from its place on. A row takes
//! several words of a at a time, so sums are loaded and stored less often.

use super::SHORT;
use crate::build::{Builder, copy, looped, repeat, straight, zeros};
use crate::ir::*;
use crate::settle::products::LONG;
use std::ops::Range;

/// Bits of words that hold all sums of products of 16 bits.
pub(super) const LONG_BITS: u8 = 64;
/// Bits of the sums of dots.
pub(super) const DOT_BITS: u8 = LONG;
/// The fewest terms of a dot: gcc takes a loop of 16 turns apart before it makes vectors of it.
pub(super) const FEWEST: usize = 24;
/// About the most: with more, too many are products with zeros; with fewer, sums across a register take too long.
pub(super) const TERMS: usize = 64;
/// Groups of rows that leave out coefficients nobody asks for.
const GROUPS: usize = 8;

/// Coefficients of a product in the making.
pub(super) struct Coefficients {
    /// Coefficients of an operand.
    pub n: usize,
    /// Bits of its words.
    pub memory: u8,
    /// Bits of the sums, and how many fill a register.
    pub bits: u8,
    pub lanes: usize,
    /// Where the sums are; they begin as zeros.
    pub total: BufferId,
    pub operands: [BufferId; 2],
    /// The coefficients that are wanted; others may be left as they are.
    pub wanted: Range<usize>,
}

impl Coefficients {
    /// Adds the products of `parts` parts of a, of so many terms each; `body` is what comes before.
    pub fn dots(&self, builder: &mut Builder, mut body: Vec<Stmt>, (parts, terms): (usize, usize)) {
        let (n, lanes, wanted, total) = (self.n, self.lanes, &self.wanted, self.total);
        let (padded, last) = (parts * terms, n + terms - 2);
        let mut a = self.operands[0];
        if padded > n {
            a = builder.kept("fa", Role::Local, padded, self.memory);
            let behind = n.next_multiple_of(lanes);
            body.extend(zeros(builder, (a, behind), padded - behind, lanes));
            body.extend(copy(builder, (self.operands[0], a, 0), (n, lanes, 1), &|_, a| a));
        }
        // Coefficient k of a part is the sum of its term i times word last - k + i.
        let length = (last + terms).next_multiple_of(lanes);
        let b = builder.kept("rb", Role::Local, length, self.memory);
        body.extend(zeros(builder, (b, 0), length, lanes));
        let from = builder.counter();
        body.push(looped(from, n, |block| {
            let at = Index::strided(0, from, 1);
            let a = block.push(Op::Broadcast { buffer: self.operands[1], at });
            let at = Index { base: last as i64, terms: vec![(from, -1)] };
            block.push(Op::StorePartial { buffer: b, at, count: 1, a });
        }));
        builder.stage("sums of zero, b turned around, zeros beside it", "", body);

        // The coefficients that a part adds to, counted from its first term on: alike for parts next to each other.
        let range = |part: usize| {
            let first = part * terms;
            (wanted.start.saturating_sub(first), (last + 1).min(wanted.end.saturating_sub(first)))
        };
        let (mut body, mut start) = (Vec::new(), 0);
        while start < parts {
            let (low, high) = range(start);
            let alike = (start..parts).take_while(|&part| range(part) == (low, high)).count();
            if high > low {
                let [part, coefficient, register] = [0; 3].map(|_| builder.counter());
                let at = |base: usize, more: (LoopVar, i64)| Index {
                    base: (base + start * terms) as i64,
                    terms: vec![(part, terms as i64), more],
                };
                let step = (register, lanes as i64);
                let sum = looped(register, terms / lanes, |block| {
                    let x = block.load(a, at(0, step));
                    let terms = vec![step, (coefficient, -1)];
                    let y = block.load(b, Index { base: (last - low) as i64, terms });
                    let a = block.push(Op::MulLo(x, y));
                    block.push(Op::AddSum { buffer: total, at: at(low, (coefficient, 1)), a });
                });
                let all = repeat(coefficient, high - low, vec![sum]);
                body.push(repeat(part, alike, vec![all]));
            }
            start += alike;
        }
        let bits = self.bits;
        let title = format!("{terms} terms of each coefficient at a time, in sums of {bits} bits");
        builder.stage(&title, "", body);
    }

    /// Adds each word of a times all of b, `middle` words at a time where sums have 32 bits; `body` is what comes before.
    pub fn rows(&self, builder: &mut Builder, mut body: Vec<Stmt>, middle: usize) {
        let (n, lanes, wanted, total) = (self.n, self.lanes, &self.wanted, self.total);
        let together = match self.bits {
            LONG_BITS => 2,
            SHORT => 8,
            _ => middle,
        };
        let padded = (n + together - 1).next_multiple_of(lanes);
        let (mut b, mut front) = (self.operands[1], 0);
        if padded > n {
            front = if together > 1 { lanes } else { 0 };
            b = builder.kept("fb", Role::Local, front + padded, self.memory);
            body.extend(zeros(builder, (b, 0), front, lanes));
            let behind = n.next_multiple_of(lanes);
            body.extend(zeros(builder, (b, front + behind), padded - behind, lanes));
            body.extend(copy(builder, (self.operands[1], b, front), (n, lanes, 1), &|_, a| a));
        }
        builder.stage("sums of zero, and zeros around b", "", body);
        let whole = n / together;
        let all_wanted = wanted.start == 0 && wanted.end >= 2 * n - 1;
        let groups = if all_wanted { 1 } else { GROUPS.min(whole).max(1) };
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
            let at = Index {
                base: (from + low * lanes) as i64,
                terms: vec![(register, lanes as i64), (round, step as i64)],
            };
            let inner = straight(|block| {
                let mut sum = block.load(total, at.clone());
                let mut products = Vec::new();
                for term in 0..step {
                    let word = Index::strided(from + term, round, step);
                    let x = block.push(Op::Broadcast { buffer: self.operands[0], at: word });
                    let word = Index::strided(front + low * lanes - term, register, lanes);
                    let y = block.load(b, word);
                    products.push(block.push(Op::MulLo(x, y)));
                }
                // Two products of words of 16 bits are added before they are extended.
                if let ([first, second], LONG_BITS) = (&products[..], self.bits) {
                    products = vec![block.add(*first, *second)];
                }
                for product in products {
                    sum = block.add(sum, product);
                }
                block.store(total, at, sum);
            });
            body.push(repeat(round, count, vec![repeat(register, high - low, vec![inner])]));
        }
        let bits = self.bits;
        let title =
            format!("words of a, {together} at a time, times all of b, in sums of {bits} bits");
        builder.stage(&title, "", body);
    }
}
