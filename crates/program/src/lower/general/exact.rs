//! Schoolbook products modulo any q up to 2^16, by exact sums, of 32 bits where they fit. Modulo
//! powers of two the sums have 16 bits and may wrap.
//!
//! On machines with sums of 64 bits, all products of a coefficient are summed before one reduction
//! ([`super::whole`]).
//!
//! On other machines coefficient k of a·b is Σ_i a_i·b_(k−i), with zeros on both sides of b. One
//! term is a broadcast word of a times a register of b that starts i words earlier. Sums are
//! reduced modulo q where more terms would not fit.
//!
//! The code uses only low products, sums and shifts of words, so every target has it. The terms of
//! one round are reduced by themselves and then added, so the prover need not follow a sum of sums
//! through a reduction. What is slow to run is quick to prove.

use super::super::SHORT;
use super::super::sums::{DOT_BITS, LONG_BITS};
use super::residue::Residue;
use super::{Folded, General};
use crate::bounds::{WORD, most};
use crate::build::{Builder, copy, looped, repeat, zeros};
use crate::ir::*;
use crate::method::{FreezeMethod, Modulus, ReduceMethod};
use ringforge_plan::{Modulus as Reduction, ProductRef, Stages};
use ringforge_ring::zq;
use ringforge_targets::ALIGNMENT;

/// Terms of one round at most.
const TERMS: usize = 8;
/// Moduli up to this have sums reduced in words of 64 bits.
pub(super) const SMALL: u64 = 1 << 10;
/// Multiples of q that a reduction of sums may leave: the last procedure takes them as they are.
const LITTLE: i64 = 4;
/// Parts of an operand that have loops of their own, so that few terms are products with zeros.
const PARTS: usize = 4;

/// How the terms of a coefficient are summed.
pub(super) struct Sums {
    /// Terms of one round.
    pub terms: usize,
    /// What a round's sum is reduced by, where not all of them fit one word.
    pub reduce: Option<ReduceMethod>,
    /// The largest sum of all products, where it is taken whole.
    pub of_all: i64,
    /// The largest coefficient that comes out.
    pub bound: i64,
    /// Bits of the words.
    pub bits: u8,
    /// Whether sums are folded by f before they are reduced.
    pub folded: Folded,
}

impl Sums {
    /// Sums within a bound that are left as they are.
    fn unreduced(terms: usize, bound: i64, bits: u8) -> Sums {
        Sums { terms, reduce: None, of_all: bound, bound, bits, folded: Folded::Not }
    }

    /// Sums of `terms` terms that are `of_all` at most, modulo what is no power of two, with one
    /// reduction of each sum, or of `together` sums. Words have 32 bits if the reduction leaves
    /// little, otherwise 64, which has space for a quotient. Nothing if these do not hold the sums.
    pub fn within(q: u64, terms: usize, of_all: i64, together: Option<usize>) -> Option<Sums> {
        let word = i64::from(i32::MAX);
        let short = of_all <= word;
        let bits = if short { 32 } else { LONG_BITS };
        let taken = |method, bound, folded| {
            let reduce = Some(method);
            Some(Sums { terms, reduce, of_all, bound, bits, folded })
        };
        if of_all <= q as i64 {
            return Some(Sums::unreduced(terms, of_all, bits));
        }
        // Of small q the prover follows quotients in words of 64 bits more often.
        if short && q > SMALL {
            let (method, bound) = ReduceMethod::low(q, of_all, false);
            if bound <= LITTLE * q as i64 {
                return taken(method, bound, Folded::Not);
            }
        } else if let Some(most) = together.and_then(|terms| of_all.checked_mul(terms as i64)) {
            if let Some(method) = ReduceMethod::exact(q, LONG_BITS, most) {
                return taken(method, (q / 2) as i64, Folded::Canonical);
            }
            // One quotient of the whole sum, and one of what it leaves, which must then be near enough to be frozen. Of
            // small q gcc's quotients are followed where sums are not folded.
            let frozen = FreezeMethod::Minimum.domain(Modulus { q, bits: 32 }).1;
            if q > SMALL
                && let Some((method, bound)) = ReduceMethod::alone(q, LONG_BITS, most)
                && let Some((_, left)) = ReduceMethod::alone(q, DOT_BITS, bound)
                && left <= frozen
            {
                let folded = if bound > frozen { Folded::Far } else { Folded::Near };
                return taken(method, bound, folded);
            }
        }
        let (method, bound) = ReduceMethod::of_sums(q, of_all)?;
        taken(method, bound, Folded::Not)
    }

    /// Sums of `n` products that are `product` at most.
    fn of(q: u64, n: usize, product: i64, coarse: bool) -> Sums {
        if q.is_power_of_two() {
            return Sums::unreduced(n.min(TERMS), WORD, SHORT);
        }
        let (word, bits, of_all) = (i64::from(i32::MAX), 32, n as i64 * product);
        if of_all <= word {
            return Sums::unreduced(n.min(TERMS), of_all, bits);
        }
        let terms = ((word / product) as usize).clamp(1, TERMS);
        let (method, rest) = ReduceMethod::low(q, terms as i64 * product, coarse);
        let bound = (n.div_ceil(terms) + PARTS) as i64 * rest;
        Sums { terms, reduce: Some(method), of_all, bound, bits, folded: Folded::Not }
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
    /// The most coefficients of the product that sum to one of the result, each counted as often as
    /// its factor says, if they are folded as they are.
    pub(super) fn together(&self) -> Option<usize> {
        let q = self.plan.ring.q();
        let times = |row: &Vec<(usize, u64)>| {
            row.iter().map(|&(_, c)| zq::centered(c, q).unsigned_abs() as usize).sum()
        };
        self.fold.as_ref()?.iter().map(times).max()
    }

    /// How sums of all products of a coefficient are taken: in words of 16 bits where these hold them and f has many
    /// coefficients, since nothing folds them then.
    fn whole_sums(&self, q: u64, product: i64) -> Option<Sums> {
        let of_all = product.checked_mul(self.n as i64)?;
        if self.unreduced && of_all <= WORD {
            return Some(Sums::unreduced(self.n, of_all, SHORT));
        }
        if q.is_power_of_two() {
            return Some(Sums { of_all, ..Sums::unreduced(self.n, WORD, SHORT) });
        }
        Sums::within(q, self.n, of_all, self.together())
    }

    /// The procedure (out, a, b) of an unreduced schoolbook product modulo `q`; nothing if the node
    /// is another product.
    pub(super) fn exact(
        &mut self,
        (node, name): (&ProductRef, &str),
        q: u64,
        ranges: [(i64, i64); 2],
    ) -> Option<Residue> {
        if !serves(node, q) {
            self.unreduced = false;
            return None;
        }
        let (n, words) = (self.n, self.words);
        let product = most(ranges[0]) * most(ranges[1]);
        let padded = n.next_multiple_of(self.target.registers.lanes(SHORT));
        // The schedule that is tried where this one stays unproved takes the rounds below.
        if self.target.sums == LONG_BITS
            && self.coarse()
            && words >= n + padded
            && let Some(sums) = self.whole_sums(q, product)
        {
            return Some(self.whole(name, q, ranges, &sums));
        }
        self.unreduced = false;
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
