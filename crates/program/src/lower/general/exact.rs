//! Schoolbook products modulo any q up to 2^16, by exact sums in words of 32 bits. Modulo powers of two the sums have 16
//! bits and may wrap.
//!
//! Coefficient k of a·b is Σ_i a_i·b_(k−i), with zeros on both sides of b. One term is a broadcast
//! word of a times a register of b that starts i words earlier. Sums are reduced modulo q where
//! more terms would not fit.
//!
//! The code uses only low products, sums and shifts of words, so every target has it. The terms of
//! one round are reduced by themselves and then added, so the prover need not follow a sum of sums
//! through a reduction. What is slow to run is quick to prove.

use super::super::SHORT;
use super::residue::Residue;
use super::{General, LONG};
use crate::bounds::{WORD, most};
use crate::build::{Builder, copy, looped, repeat, zeros};
use crate::ir::*;
use crate::method::{Modulus, ReduceMethod};
use ringforge_plan::{Modulus as Reduction, ProductRef, Stages};
use ringforge_targets::ALIGNMENT;

/// Terms of one round at most.
const TERMS: usize = 8;
/// Parts of an operand that have loops of their own, so that few terms are products with zeros.
const PARTS: usize = 4;

/// How the terms of a coefficient are summed.
struct Sums {
    /// Terms of one round.
    terms: usize,
    /// What a round's sum is reduced by, where not all of them fit one word.
    reduce: Option<ReduceMethod>,
    /// The largest coefficient that comes out.
    bound: i64,
    /// Bits of the words.
    bits: u8,
}

impl Sums {
    /// Sums of `n` products that are `product` at most.
    fn of(q: u64, n: usize, product: i64, coarse: bool) -> Sums {
        let unreduced = |bound, bits| Sums { terms: n.min(TERMS), reduce: None, bound, bits };
        if q.is_power_of_two() {
            return unreduced(WORD, SHORT);
        }
        let word = i64::from(i32::MAX);
        if n as i64 * product <= word {
            return unreduced(n as i64 * product, LONG);
        }
        let terms = ((word / product) as usize).clamp(1, TERMS);
        let (method, rest) = ReduceMethod::low(q, terms as i64 * product, coarse);
        let bound = (n.div_ceil(terms) + PARTS) as i64 * rest;
        Sums { terms, reduce: Some(method), bound, bits: LONG }
    }
}

/// Whether a node is an unreduced schoolbook product, modulo a q that exact sums serve.
pub(super) fn serves(node: &ProductRef, q: u64) -> bool {
    let free = matches!(node.domain().modulus, Reduction::Free { .. });
    let definition = matches!(node.stages(), Stages::Direct);
    definition && free && q <= 1 << 16
}

/// Adds products to a register of sums, each of a broadcast word and a register. They are added to
/// it one by one, or else `apart`: summed by themselves, and reduced if there is a method for that.
pub(super) fn add_products(
    block: &mut Block,
    (out, place): (BufferId, Index),
    (apart, reduce): (bool, Option<ReduceMethod>),
    terms: impl Iterator<Item = [(BufferId, Index); 2]>,
) {
    let mut sum = (!apart).then(|| block.load(out, place.clone()));
    for [(buffer, at), (other, from)] in terms {
        let x = block.push(Op::Broadcast { buffer, at });
        let y = block.load(other, from);
        let product = block.push(Op::MulLo(x, y));
        sum = Some(block.plus(sum, product));
    }
    let Some(mut sum) = sum else { return };
    if let Some(method) = reduce {
        sum = block.reduced(sum, method);
    }
    if apart {
        let old = block.load(out, place.clone());
        sum = block.add(old, sum);
    }
    block.store(out, place, sum);
}

impl General<'_> {
    /// The procedure (out, a, b) of an unreduced schoolbook product modulo `q`; nothing if the node
    /// is another product.
    pub(super) fn exact(
        &mut self,
        (node, name): (&ProductRef, &str),
        q: u64,
        ranges: [(i64, i64); 2],
    ) -> Option<Residue> {
        if !serves(node, q) {
            return None;
        }
        let (n, words) = (self.n, self.words);
        let product = most(ranges[0]) * most(ranges[1]);
        let sums = Sums::of(q, n, product, self.coarse());
        let lanes = self.target.registers.lanes(sums.bits);
        // Words that wrap are right modulo all that they hold.
        let all = if sums.bits == SHORT { 1 << SHORT } else { q };
        let mut builder = Builder::new(name, None, Modulus { q: all, bits: sums.bits });
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let operands = builder.operands((n, self.memory), ranges);
        // Rounds of whole registers' worth of words.
        let part = n.div_ceil(PARTS).next_multiple_of(sums.terms);
        let parts = n.div_ceil(part);
        let room = part.next_multiple_of(lanes) + lanes;
        let padded = n.next_multiple_of(lanes);
        let behind = (parts * part).next_multiple_of(lanes).max(padded);
        let a = builder.local("fa", behind);
        let b = builder.local("fb", padded + 2 * room);
        let mut body = Vec::new();
        for (array, from, words) in
            [(out, 0, words), (a, padded, behind - padded), (b, 0, padded + 2 * room)]
        {
            body.extend(zeros(&mut builder, (array, from), words, lanes));
        }
        for (operand, to, at) in [(operands[0], a, 0), (operands[1], b, room)] {
            body.extend(copy(&mut builder, (operand, to, at), (n, lanes, 1), &|_, a| a));
        }
        let title = format!("both operands in words of {} bits, zeros around b", sums.bits);
        builder.stage(&title, "", body);
        for number in 0..parts {
            let from = number * part;
            let first = from / lanes;
            let count = (from + part + n - 1).min(words).div_ceil(lanes).min(words / lanes) - first;
            let (round, register) = (builder.counter(), builder.counter());
            let result = Index::strided(first * lanes, register, lanes);
            let terms = (0..sums.terms).map(|term| {
                let word = Index::strided(from + term, round, sums.terms);
                let window = Index {
                    base: (room + first * lanes) as i64 - (from + term) as i64,
                    terms: vec![(register, lanes as i64), (round, -(sums.terms as i64))],
                };
                [(a, word), (b, window)]
            });
            let apart = (sums.reduce.is_some(), sums.reduce);
            let inner =
                looped(register, count, |block| add_products(block, (out, result), apart, terms));
            let title =
                format!("terms {from} to {} of every coefficient", (from + part).min(n) - 1);
            builder.stage(&title, "", vec![repeat(round, part / sums.terms, vec![inner])]);
        }
        self.written.border("product", sums.bound);
        let procedure = self.push(builder.finish());
        Some(Residue::new(procedure, sums.bound, sums.bits))
    }
}
