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
use crate::bounds::WORD;
use crate::build::{Builder, repeat, repeat_unrolled};
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
    /// Sums of all `n` products, each at most `product`, with one reduction of each sum, or of
    /// `together` sums. Words have 32 bits if the reduction leaves little, otherwise 64, which has
    /// space for a quotient. Nothing if these do not hold the sums.
    fn whole(q: u64, n: usize, product: i64, together: Option<usize>) -> Option<Sums> {
        let of_all = product.checked_mul(n as i64)?;
        if q.is_power_of_two() {
            let (reduce, bound, bits, folded) = (None, WORD, SHORT, Folded::Not);
            return Some(Sums { terms: n, reduce, of_all, bound, bits, folded });
        }
        Sums::within(q, n, of_all, together)
    }

    /// The same for sums of `terms` terms that are `of_all` at most, modulo what is no power of two.
    pub fn within(q: u64, terms: usize, of_all: i64, together: Option<usize>) -> Option<Sums> {
        let taken =
            |reduce, bound, bits, folded| Some(Sums { terms, reduce, of_all, bound, bits, folded });
        let word = i64::from(i32::MAX);
        let short = of_all <= word;
        let bits = if short { 32 } else { LONG_BITS };
        if of_all <= q as i64 {
            return taken(None, of_all, bits, Folded::Not);
        }
        // Of small q the prover follows quotients in words of 64 bits more often.
        if short && q > SMALL {
            let (method, bound) = ReduceMethod::low(q, of_all, false);
            if bound <= LITTLE * q as i64 {
                return taken(Some(method), bound, bits, Folded::Not);
            }
        } else if let Some(most) = together.and_then(|terms| of_all.checked_mul(terms as i64)) {
            if let Some(method) = ReduceMethod::exact(q, LONG_BITS, most) {
                return taken(Some(method), (q / 2) as i64, bits, Folded::Canonical);
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
                return taken(Some(method), bound, bits, folded);
            }
        }
        let (method, bound) = ReduceMethod::of_sums(q, of_all)?;
        taken(Some(method), bound, bits, Folded::Not)
    }

    /// Sums of `n` products that are `product` at most.
    fn of(q: u64, n: usize, product: i64, coarse: bool) -> Sums {
        if q.is_power_of_two() {
            return Sums {
                terms: n.min(TERMS),
                reduce: None,
                of_all: WORD,
                bound: WORD,
                bits: SHORT,
                folded: Folded::Not,
            };
        }
        let (word, bits, of_all) = (i64::from(i32::MAX), 32, n as i64 * product);
        if of_all <= word {
            let terms = n.min(TERMS);
            return Sums { terms, reduce: None, of_all, bound: of_all, bits, folded: Folded::Not };
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
            let (reduce, folded) = (None, Folded::Not);
            return Some(Sums {
                terms: self.n,
                reduce,
                of_all,
                bound: of_all,
                bits: SHORT,
                folded,
            });
        }
        Sums::whole(q, self.n, product, self.together())
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
        let most = |(lo, hi): (i64, i64)| hi.max(-lo);
        let product = most(ranges[0]) * most(ranges[1]);
        let padded = n.next_multiple_of(self.registers.lanes(SHORT));
        // The schedule that is tried where this one stays unproved takes the rounds below.
        if self.sums == LONG_BITS
            && self.coarse()
            && words >= n + padded
            && let Some(sums) = self.whole_sums(q, product)
        {
            return Some(self.whole(name, q, ranges, &sums));
        }
        self.unreduced = false;
        let sums = Sums::of(q, n, product, self.coarse());
        let lanes = self.registers.lanes(sums.bits);
        // Words that wrap are right modulo all that they hold.
        let all = if sums.bits == SHORT { 1 << SHORT } else { q };
        let mut builder = Builder::new(name, None, Modulus { q: all, bits: sums.bits });
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let size = (n, self.memory);
        let operands = [("a", 0), ("b", 1)]
            .map(|(name, i)| builder.parameter(name, Role::Input, size, Some(ranges[i])));
        // Rounds of whole registers' worth of words.
        let part = n.div_ceil(PARTS).next_multiple_of(sums.terms);
        let parts = n.div_ceil(part);
        let room = part.next_multiple_of(lanes) + lanes;
        let padded = n.next_multiple_of(lanes);
        let behind = (parts * part).next_multiple_of(lanes).max(padded);
        let a = builder.local("fa", behind);
        let b = builder.local("fb", padded + 2 * room);
        let mut body = Vec::new();
        zeros(&mut builder, &mut body, (out, 0), words, lanes);
        zeros(&mut builder, &mut body, (a, padded), behind - padded, lanes);
        zeros(&mut builder, &mut body, (b, 0), padded + 2 * room, lanes);
        copy(&mut builder, &mut body, (operands[0], a, 0), n, lanes);
        copy(&mut builder, &mut body, (operands[1], b, room), n, lanes);
        builder.stage(
            &format!("both operands in words of {} bits, zeros around b", sums.bits),
            "",
            body,
        );
        for number in 0..parts {
            let from = number * part;
            let first = from / lanes;
            let count = (from + part + n - 1).min(words).div_ceil(lanes).min(words / lanes) - first;
            let (round, register) = (builder.counter(), builder.counter());
            let result = Index::strided(first * lanes, register, lanes);
            let mut block = Block::default();
            let old = Op::Load { buffer: out, at: result.clone() };
            let mut sum = sums.reduce.is_none().then(|| block.push(old.clone()));
            for term in 0..sums.terms {
                let at = Index::strided(from + term, round, sums.terms);
                let x = block.push(Op::Broadcast { buffer: a, at });
                let at = Index {
                    base: (room + first * lanes) as i64 - (from + term) as i64,
                    terms: vec![(register, lanes as i64), (round, -(sums.terms as i64))],
                };
                let y = block.load(b, at);
                let product = block.push(Op::MulLo(x, y));
                sum = Some(block.plus(sum, product));
            }
            let Some(mut sum) = sum else { continue };
            if let Some(method) = sums.reduce {
                let rest = block.reduced(sum, method);
                let old = block.push(old);
                sum = block.add(old, rest);
            }
            block.store(out, result, sum);
            let inner = vec![repeat(register, count, vec![Stmt::Block(block)])];
            let title =
                format!("terms {from} to {} of every coefficient", (from + part).min(n) - 1);
            let body = vec![repeat(round, part / sums.terms, inner)];
            builder.stage(&title, "", body);
        }
        self.written.border("product", sums.bound);
        let procedure = self.push(builder.finish());
        Some(Residue { procedure, bound: sums.bound, bits: sums.bits, weight: 1 })
    }
}

/// Appends zeros in `words` words, a multiple of a register's, maybe none.
pub(in crate::lower) fn zeros(
    builder: &mut Builder,
    body: &mut Vec<Stmt>,
    (buffer, from): (BufferId, usize),
    words: usize,
    lanes: usize,
) {
    if words == 0 {
        return;
    }
    let counter = builder.counter();
    let mut block = Block::default();
    let a = block.splat(0);
    block.store(buffer, Index::strided(from, counter, lanes), a);
    body.push(repeat(counter, words / lanes, vec![Stmt::Block(block)]));
}

/// Appends a copy of `n` words into whole registers from word `to` on, zeros behind them.
pub(in crate::lower) fn copy(
    builder: &mut Builder,
    body: &mut Vec<Stmt>,
    (from, buffer, to): (BufferId, BufferId, usize),
    n: usize,
    lanes: usize,
) {
    let counter = builder.counter();
    body.extend(repeat_unrolled(counter, n / lanes, 1, &|block, at| {
        let a = block.load(from, at(0, lanes));
        block.store(buffer, at(to, lanes), a);
    }));
    let (whole, count) = (n / lanes * lanes, (n % lanes) as u32);
    if count > 0 {
        let mut block = Block::default();
        let a = block.push(Op::LoadPartial { buffer: from, at: Index::at(whole), count });
        block.store(buffer, Index::at(to + whole), a);
        body.push(Stmt::Block(block));
    }
}
