//! Products by their definition modulo any q up to 2^16: exact sums, of 32 bits where they fit; modulo powers of
//! two sums of 16 bits, which may wrap.
//!
//! On machines with sums of 64 bits, one coefficient of a after the other, times all of b, is added to the
//! sums from its place on, and each sum is reduced once; what does not fit 32 bits is summed in 64. So one writes
//! it in plain C, and compilers find the products of 16 bits in it.
//!
//! Elsewhere coefficient k of a·b is Σ_i a_i·b_(k−i): a word of a, broadcast, times a register of b that starts i
//! words earlier, with zeros on both sides of b, and sums are reduced modulo q where more terms would not fit.
//!
//! Nothing but low products, sums and shifts of words, so that every target has it, and no sum of sums that a
//! reduction would have to be followed through: the terms of one round are reduced by themselves and then added.
//! What is slow to run is quick to prove.

use super::super::SHORT;
use super::General;
use super::residue::Residue;
use crate::bounds::WORD;
use crate::build::{Builder, repeat, repeat_unrolled};
use crate::ir::*;
use crate::method::{Modulus, ReduceMethod};
use ringforge_plan::{Modulus as Reduction, ProductRef, Structure};
use ringforge_target::ALIGNMENT;

/// Bits of words that hold all sums of products of 16 bits.
const LONG_BITS: u8 = 64;
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
    /// The largest sum of all products, where it is taken whole.
    of_all: i64,
    /// The largest coefficient that comes out.
    bound: i64,
    /// Bits of the words.
    bits: u8,
}

impl Sums {
    /// Sums of all `n` products, each `product` at most, reduced in words of 64 bits, where a quotient has room; nothing
    /// where these do not hold them.
    fn whole(q: u64, n: usize, product: i64) -> Option<Sums> {
        let most = product.checked_mul(n as i64)?;
        if q.is_power_of_two() {
            return Some(Sums { terms: n, reduce: None, of_all: most, bound: WORD, bits: SHORT });
        }
        let bits = if most <= i64::from(i32::MAX) { 32 } else { LONG_BITS };
        if most <= q as i64 {
            return Some(Sums { terms: n, reduce: None, of_all: most, bound: most, bits });
        }
        let (method, bound) = ReduceMethod::of_sums(q, most)?;
        Some(Sums { terms: n, reduce: Some(method), of_all: most, bound, bits })
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
            };
        }
        let (word, bits, of_all) = (i64::from(i32::MAX), 32, n as i64 * product);
        if of_all <= word {
            return Sums { terms: n.min(TERMS), reduce: None, of_all, bound: of_all, bits };
        }
        let terms = ((word / product) as usize).clamp(1, TERMS);
        let (method, rest) = ReduceMethod::low(q, terms as i64 * product, coarse);
        let bound = (n.div_ceil(terms) + PARTS) as i64 * rest;
        Sums { terms, reduce: Some(method), of_all, bound, bits }
    }
}

/// Whether a node is an unreduced product by its definition, modulo what exact sums serve.
pub(super) fn serves(node: &ProductRef, q: u64) -> bool {
    let free = matches!(node.domain().modulus, Reduction::Free { .. });
    let definition = matches!(node.structure(), Structure::Definition);
    definition && free && q <= 1 << 16
}

impl General<'_> {
    /// The procedure (out, a, b) of an unreduced product by its definition modulo `q`; nothing where the
    /// node is another.
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
        let most = |(lo, hi): (i64, i64)| hi.max(-lo);
        let product = most(ranges[0]) * most(ranges[1]);
        let padded = n.next_multiple_of(self.registers.lanes(SHORT));
        // The schedule that is tried where this one stays unproved takes the rounds below.
        if self.sums == LONG_BITS
            && self.coarse()
            && words >= n + padded
            && let Some(sums) = Sums::whole(q, n, product)
        {
            return Some(self.by_rows(name, q, ranges, &sums));
        }
        let sums = Sums::of(q, n, product, self.coarse());
        let lanes = self.registers.lanes(sums.bits);
        // Words that wrap are right modulo all that they hold.
        let all = if sums.bits == SHORT { 1 << SHORT } else { q };
        let mut builder = Builder::new(name, None, Modulus { q: all, bits: sums.bits });
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let operands = [("a", 0), ("b", 1)].map(|(name, i)| {
            let buffer = builder.ranged(name, Role::Input, n, 2, Some(ranges[i]));
            builder.narrow(buffer, self.memory);
            buffer
        });
        // Rounds of whole registers' worth of words.
        let part = n.div_ceil(PARTS).next_multiple_of(sums.terms);
        let parts = n.div_ceil(part);
        let room = part.next_multiple_of(lanes) + lanes;
        let padded = n.next_multiple_of(lanes);
        let behind = (parts * part).next_multiple_of(lanes).max(padded);
        let a = builder.buffer("fa", Role::Local, behind, ALIGNMENT);
        let b = builder.buffer("fb", Role::Local, padded + 2 * room, ALIGNMENT);
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
                let y = block.push(Op::Load { buffer: b, at });
                let product = block.push(Op::MulLo(x, y));
                sum = Some(match sum {
                    Some(sum) => block.push(Op::Add(sum, product)),
                    None => product,
                });
            }
            let Some(mut sum) = sum else { continue };
            if let Some(method) = sums.reduce {
                let rest = block.push(Op::Reduce { a: sum, method });
                let old = block.push(old);
                sum = block.push(Op::Add(old, rest));
            }
            block.push(Op::Store { buffer: out, at: result, a: sum });
            let inner = vec![repeat(register, count, vec![Stmt::Block(block)])];
            let title =
                format!("terms {from} to {} of every coefficient", (from + part).min(n) - 1);
            let body = vec![repeat(round, part / sums.terms, inner)];
            builder.stage(&title, "", body);
        }
        self.borders.push(("product".into(), sums.bound));
        let procedure = self.push(builder.finish());
        Some(Residue { procedure, bound: sums.bound, bits: sums.bits })
    }
}

impl General<'_> {
    /// The same with one word of a after the other times all of b.
    fn by_rows(&mut self, name: &str, q: u64, ranges: [(i64, i64); 2], sums: &Sums) -> Residue {
        let (n, words, lanes) = (self.n, self.words, self.registers.lanes(sums.bits));
        let all = if sums.bits == SHORT { 1 << SHORT } else { q };
        let mut builder = Builder::new(name, None, Modulus { q: all, bits: sums.bits });
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let bits = sums.bits.min(32);
        builder.narrow(out, bits);
        let operands = [("a", 0), ("b", 1)].map(|(name, i)| {
            let buffer = builder.ranged(name, Role::Input, n, 2, Some(ranges[i]));
            builder.narrow(buffer, self.memory);
            buffer
        });
        let padded = n.next_multiple_of(lanes);
        let total = match bits < sums.bits {
            true => builder.buffer("t", Role::Local, words, ALIGNMENT),
            false => out,
        };
        let mut body = Vec::new();
        zeros(&mut builder, &mut body, (total, 0), words, lanes);
        let mut b = operands[1];
        if padded > n {
            b = builder.buffer("fb", Role::Local, padded, ALIGNMENT);
            builder.narrow(b, self.memory);
            copy(&mut builder, &mut body, (operands[1], b, 0), n, lanes);
        }
        builder.stage("sums of zero, and zeros behind b", "", body);
        let (round, register) = (builder.counter(), builder.counter());
        let mut block = Block::default();
        let x = block.push(Op::Broadcast { buffer: operands[0], at: Index::strided(0, round, 1) });
        let y = block.push(Op::Load { buffer: b, at: Index::strided(0, register, lanes) });
        let product = block.push(Op::MulLo(x, y));
        let at = Index { base: 0, terms: vec![(register, lanes as i64), (round, 1)] };
        let old = block.push(Op::Load { buffer: total, at: at.clone() });
        let a = block.push(Op::Add(old, product));
        block.push(Op::Store { buffer: total, at, a });
        let inner = vec![repeat(register, padded / lanes, vec![Stmt::Block(block)])];
        let title = format!("one word of a times all of b, in sums of {} bits", sums.bits);
        builder.stage(&title, "", vec![repeat(round, n, inner)]);
        if let Some(method) = sums.reduce {
            let most = sums.of_all;
            let body = match sums.bits {
                LONG_BITS => reduced(&mut builder, (total, out), words, lanes, method),
                _ => {
                    let name = format!("{name}_reduced");
                    let mut inner = Builder::new(&name, None, Modulus { q, bits: LONG_BITS });
                    let range = Some((-most, most));
                    let u = inner.ranged("u", Role::Scratch, words, ALIGNMENT, range);
                    inner.narrow(u, bits);
                    let lanes = self.registers.lanes(LONG_BITS);
                    let body = reduced(&mut inner, (u, u), words, lanes, method);
                    inner.stage("each sum reduced in words of 64 bits", "", vec![body]);
                    let procedure = self.push(inner.finish());
                    Stmt::Call { procedure, arguments: vec![(out, Index::at(0))] }
                }
            };
            builder.stage("each sum reduced", "[Barrett86]", vec![body]);
        }
        self.borders.push(("product".into(), sums.bound));
        let procedure = self.push(builder.finish());
        Residue { procedure, bound: sums.bound, bits }
    }
}

/// Each word of one array reduced into another, or in its place.
fn reduced(
    builder: &mut Builder,
    (from, to): (BufferId, BufferId),
    words: usize,
    lanes: usize,
    method: ReduceMethod,
) -> Stmt {
    let counter = builder.counter();
    let mut block = Block::default();
    let at = Index::strided(0, counter, lanes);
    let a = block.push(Op::Load { buffer: from, at: at.clone() });
    let a = block.push(Op::Reduce { a, method });
    block.push(Op::Store { buffer: to, at, a });
    repeat(counter, words / lanes, vec![Stmt::Block(block)])
}

/// Appends zeros in `words` words, a multiple of a register's, maybe none.
fn zeros(
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
    let a = block.push(Op::Splat(0));
    block.push(Op::Store { buffer, at: Index::strided(from, counter, lanes), a });
    body.push(repeat(counter, words / lanes, vec![Stmt::Block(block)]));
}

/// Appends a copy of `n` words into whole registers from word `to` on, zeros behind them.
fn copy(
    builder: &mut Builder,
    body: &mut Vec<Stmt>,
    (from, buffer, to): (BufferId, BufferId, usize),
    n: usize,
    lanes: usize,
) {
    let counter = builder.counter();
    body.extend(repeat_unrolled(counter, n / lanes, 1, &|block, at| {
        let a = block.push(Op::Load { buffer: from, at: at(0, lanes) });
        block.push(Op::Store { buffer, at: at(to, lanes), a });
    }));
    let (whole, count) = (n / lanes * lanes, (n % lanes) as u32);
    if count > 0 {
        let mut block = Block::default();
        let a = block.push(Op::LoadPartial { buffer: from, at: Index::at(whole), count });
        block.push(Op::Store { buffer, at: Index::at(to + whole), a });
        body.push(Stmt::Block(block));
    }
}
