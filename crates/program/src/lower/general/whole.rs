//! Sums of all products of a coefficient, in words that hold them, reduced once. If the sums that
//! make a coefficient of the remainder have small factors, mostly ±1, they are reduced together.
//!
//! *Dots*, if 32 bits hold the sums: coefficient k is Σ_i a_i·b_(k−i). With b reversed, one loop
//! over i sums products of neighbours, and compilers find the instruction that adds two of them
//! (`pmaddwd`). The operand a is cut into parts, so that few products are with the zeros around b.
//!
//! *Rows*, otherwise: each word of a times all of b is added to the sums from its place on. The
//! code takes as many words at a time as half a register of portable C holds, 16 bytes. So sums are
//! loaded and stored less often, and no load spans two earlier stores, which would stall.

use super::super::SHORT;
use super::super::fold::{Term, alike, registers};
use super::exact::{LONG_BITS, SMALL, Sums, copy, zeros};
use super::residue::Residue;
use super::{Folded, General};
use crate::build::{Builder, repeat};
use crate::ir::*;
use crate::method::{Modulus, ReduceMethod};
use ringforge_ring::zq;
use ringforge_targets::ALIGNMENT;

/// Words of sums that dots are summed in.
pub(super) const DOT_BITS: u8 = 32;
/// The fewest terms of a dot: gcc takes a loop of 16 turns apart before it makes vectors of it.
pub(super) const FEWEST: usize = 24;
/// About the most: with more, too many are products with zeros; with fewer, sums across a register take too long.
const TERMS: usize = 64;

/// A procedure (out, a, b) in the making.
pub(super) struct Making {
    pub name: String,
    pub builder: Builder,
    pub out: BufferId,
    pub operands: [BufferId; 2],
    /// Bits of the words of `out`.
    pub bits: u8,
    /// The sums that are wanted.
    pub used: usize,
}

impl General<'_> {
    /// The procedure (out, a, b) of an unreduced product whose sums are taken whole.
    pub(super) fn whole(
        &mut self,
        name: &str,
        q: u64,
        ranges: [(i64, i64); 2],
        sums: &Sums,
    ) -> Residue {
        let all = if q.is_power_of_two() { 1 << SHORT } else { q };
        let mut builder = Builder::new(name, None, Modulus { q: all, bits: sums.bits });
        let out = builder.buffer("out", Role::Scratch, self.words, ALIGNMENT);
        // What is no longer than q needs no reduction.
        self.unreduced &= sums.reduce.is_some();
        let bits = if self.unreduced { sums.bits } else { sums.bits.min(DOT_BITS) };
        builder.narrow(out, bits);
        let operands = [("a", 0), ("b", 1)].map(|(name, i)| {
            let buffer = builder.ranged(name, Role::Input, self.n, 2, Some(ranges[i]));
            builder.narrow(buffer, self.memory);
            buffer
        });
        // Behind the last coefficient there are zeros.
        let used = match sums.folded != Folded::Not {
            true => self.n,
            false => (2 * self.n - 1).next_multiple_of(self.registers.lanes(DOT_BITS)),
        };
        let making = Making { name: name.into(), builder, out, operands, bits, used };
        match sums.bits == DOT_BITS && self.memory == SHORT {
            true => self.dots(making, q, sums),
            false => self.rows(making, sums),
        }
    }

    /// Parts of a, and terms of each.
    fn parts(&self, lanes: usize) -> (usize, usize) {
        let n = self.n;
        let cut = |parts: usize| (parts, n.div_ceil(parts).next_multiple_of(lanes).max(FEWEST));
        let fits = |(parts, terms): &(usize, usize)| parts * terms + n - 1 <= self.words;
        let most = (n / TERMS).max(1);
        (1..=most).rev().map(cut).find(fits).unwrap_or(cut(1))
    }

    fn dots(&mut self, making: Making, q: u64, sums: &Sums) -> Residue {
        let Making { name, mut builder, out, operands, bits, used } = making;
        let (n, words, lanes) = (self.n, self.words, self.registers.lanes(bits));
        let (parts, terms) = self.parts(lanes);
        let (padded, last) = (parts * terms, n + terms - 2);
        let total = match sums.folded != Folded::Not {
            true => {
                let total = builder.buffer("t", Role::Local, words, ALIGNMENT);
                builder.narrow(total, bits);
                total
            }
            false => out,
        };
        let mut body = Vec::new();
        zeros(&mut builder, &mut body, (total, 0), words, lanes);
        let mut a = operands[0];
        if padded > n {
            a = builder.buffer("fa", Role::Local, padded, ALIGNMENT);
            builder.narrow(a, self.memory);
            let behind = n.next_multiple_of(lanes);
            zeros(&mut builder, &mut body, (a, behind), padded - behind, lanes);
            copy(&mut builder, &mut body, (operands[0], a, 0), n, lanes);
        }
        // Coefficient k of a part is the sum of its term i times word last - k + i.
        let length = (last + terms).next_multiple_of(lanes);
        let b = builder.buffer("rb", Role::Local, length, ALIGNMENT);
        builder.narrow(b, self.memory);
        zeros(&mut builder, &mut body, (b, 0), length, lanes);
        let from = builder.counter();
        let mut block = Block::default();
        let word =
            block.push(Op::Broadcast { buffer: operands[1], at: Index::strided(0, from, 1) });
        let at = Index { base: last as i64, terms: vec![(from, -1)] };
        block.push(Op::StorePartial { buffer: b, at, count: 1, a: word });
        body.push(repeat(from, n, vec![Stmt::Block(block)]));
        builder.stage("sums of zero, b turned around, zeros beside it", "", body);

        let [part, coefficient, register] = [0; 3].map(|_| builder.counter());
        let mut block = Block::default();
        let at = Index { base: 0, terms: vec![(part, terms as i64), (register, lanes as i64)] };
        let x = block.push(Op::Load { buffer: a, at });
        let at =
            Index { base: last as i64, terms: vec![(register, lanes as i64), (coefficient, -1)] };
        let y = block.push(Op::Load { buffer: b, at });
        let product = block.push(Op::MulLo(x, y));
        let at = Index { base: 0, terms: vec![(part, terms as i64), (coefficient, 1)] };
        block.push(Op::AddSum { buffer: total, at, a: product });
        let sum = repeat(register, terms / lanes, vec![Stmt::Block(block)]);
        let all = repeat(coefficient, last + 1, vec![sum]);
        let title = format!("{terms} terms of each coefficient at a time, in sums of {bits} bits");
        builder.stage(&title, "", vec![repeat(part, parts, vec![all])]);
        self.reduced_sums(Making { name, builder, out, operands, bits, used }, total, q, sums)
    }

    fn rows(&mut self, making: Making, sums: &Sums) -> Residue {
        let Making { name, mut builder, out, operands, bits, used } = making;
        let (n, words, lanes) = (self.n, self.words, self.registers.lanes(sums.bits));
        let together = match sums.bits {
            LONG_BITS => 2,
            SHORT => 8,
            _ => 1,
        };
        let padded = (n + together - 1).next_multiple_of(lanes);
        let total = match bits < sums.bits || sums.folded != Folded::Not {
            true => builder.buffer("t", Role::Local, words, ALIGNMENT),
            false => out,
        };
        let mut body = Vec::new();
        // Those that are added to or reduced; all where they are what comes out, or are folded.
        let reached = used.max(2 * n + lanes).next_multiple_of(lanes).min(words);
        let summed = if total == out || self.fold.is_some() { words } else { reached };
        zeros(&mut builder, &mut body, (total, 0), summed, lanes);
        let (mut b, mut front) = (operands[1], 0);
        if padded > n {
            front = if together > 1 { lanes } else { 0 };
            b = builder.buffer("fb", Role::Local, front + padded, ALIGNMENT);
            builder.narrow(b, self.memory);
            zeros(&mut builder, &mut body, (b, 0), front, lanes);
            let behind = n.next_multiple_of(lanes);
            zeros(&mut builder, &mut body, (b, front + behind), padded - behind, lanes);
            copy(&mut builder, &mut body, (operands[1], b, front), n, lanes);
        }
        builder.stage("sums of zero, and zeros around b", "", body);
        let whole = n / together;
        for (from, step, count) in [(0, together, whole), (whole * together, n % together, 1)] {
            if step * count == 0 {
                continue;
            }
            let (round, register) = (builder.counter(), builder.counter());
            let mut block = Block::default();
            let at = Index {
                base: from as i64,
                terms: vec![(register, lanes as i64), (round, step as i64)],
            };
            let mut sum = block.push(Op::Load { buffer: total, at: at.clone() });
            let mut products = Vec::new();
            for term in 0..step {
                let word = Index::strided(from + term, round, step);
                let x = block.push(Op::Broadcast { buffer: operands[0], at: word });
                let word = Index::strided(front - term, register, lanes);
                let y = block.push(Op::Load { buffer: b, at: word });
                products.push(block.push(Op::MulLo(x, y)));
            }
            // Two products of words of 16 bits are added before they are extended.
            if let ([first, second], LONG_BITS) = (&products[..], sums.bits) {
                products = vec![block.push(Op::Add(*first, *second))];
            }
            for product in products {
                sum = block.push(Op::Add(sum, product));
            }
            block.push(Op::Store { buffer: total, at, a: sum });
            let registers = (n + step - 1).div_ceil(lanes);
            let inner = vec![repeat(register, registers, vec![Stmt::Block(block)])];
            let title = format!(
                "words of a, {step} at a time, times all of b, in sums of {} bits",
                sums.bits
            );
            builder.stage(&title, "", vec![repeat(round, count, inner)]);
        }
        let q = builder.modulus().q;
        self.reduced_sums(Making { name, builder, out, operands, bits, used }, total, q, sums)
    }

    /// The end of the procedure: each sum reduced from `total` to its result.
    pub(super) fn reduced_sums(
        &mut self,
        making: Making,
        total: BufferId,
        q: u64,
        sums: &Sums,
    ) -> Residue {
        let Making { name, mut builder, out, bits, used, .. } = making;
        let words = self.words;
        if self.unreduced {
            self.borders.push((name, sums.of_all));
            let procedure = self.push(builder.finish());
            return Residue { procedure, bound: sums.of_all, bits, weight: 1 };
        }
        if let Some(method) = sums.reduce {
            let most = sums.of_all;
            let long = Modulus { q, bits: LONG_BITS };
            let short = self.registers.lanes(DOT_BITS);
            let folded = sums.folded != Folded::Not;
            let as_they_are = sums.bits == LONG_BITS || q > SMALL;
            let together = if folded { self.together().unwrap_or(1) as i64 } else { 1 };
            let fits =
                as_they_are && method.domain(Modulus { q, bits: sums.bits }).1 >= most * together;
            let mut body = Vec::new();
            if total != out {
                let defined = used / short * short;
                let lanes = self.registers.lanes(sums.bits);
                let behind = if used > self.n { words } else { used.next_multiple_of(short) };
                zeros(&mut builder, &mut body, (out, defined), behind - defined, lanes);
            }
            if fits {
                let lanes = self.registers.lanes(sums.bits);
                body.extend(self.reduced(&mut builder, (total, out), used, lanes, (method, sums)));
            } else {
                let mut inner = Builder::new(&format!("{name}_reduced"), None, long);
                let lanes = self.registers.lanes(LONG_BITS);
                let range = Some((-most, most));
                let apart = total != out;
                let to =
                    inner.ranged("u", Role::Scratch, words, ALIGNMENT, range.filter(|_| !apart));
                inner.narrow(to, bits);
                let mut arguments = vec![(out, Index::at(0))];
                let mut from = to;
                if apart {
                    let read = match folded && self.fold.is_some() {
                        true => words,
                        false => used.next_multiple_of(short),
                    };
                    from = inner.ranged("t", Role::Input, read, 2, range);
                    inner.narrow(from, bits);
                    arguments.push((total, Index::at(0)));
                }
                let body_of = self.reduced(&mut inner, (from, to), used, lanes, (method, sums));
                inner.stage("each sum reduced in words of 64 bits", "", body_of);
                let procedure = self.push(inner.finish());
                body.push(Stmt::Call { procedure, arguments });
            }
            builder.stage("each sum reduced", "[Barrett86]", body);
        }
        self.folded = sums.folded;
        self.borders.push((name, sums.bound));
        let procedure = self.push(builder.finish());
        Residue { procedure, bound: sums.bound, bits, weight: 1 }
    }

    /// Each word of one array reduced into another, or in its place, where sums are folded those that belong together.
    fn reduced(
        &self,
        builder: &mut Builder,
        (from, to): (BufferId, BufferId),
        words: usize,
        lanes: usize,
        (method, sums): (ReduceMethod, &Sums),
    ) -> Vec<Stmt> {
        let rows: Vec<Vec<(usize, u64)>> = match &self.fold {
            Some(rows) if sums.folded != Folded::Not => rows.clone(),
            _ => (0..words).map(|k| vec![(k, 1)]).collect(),
        };
        // Whole registers are stored, with anything in words behind those that are wanted.
        let padded = words.next_multiple_of(lanes);
        let mut registers = registers(&rows, lanes, self.words);
        for (number, terms) in registers.iter_mut().enumerate() {
            let wanted = lanes.min(words - number * lanes);
            for term in terms {
                let first = number * lanes + term.offset;
                // Behind the last coefficient of a product there are zeros, as good as none.
                let all = term.lanes.iter().flatten().take(wanted).enumerate();
                let whole = all.into_iter().all(|(lane, &on)| on || first + lane >= 2 * self.n - 1);
                if whole && first + lanes <= self.words {
                    term.lanes = None;
                }
            }
        }
        let (mut body, mut start) = (Vec::new(), 0);
        while start < registers.len() {
            let alike = alike(&registers, start, lanes, padded);
            let counter = (alike > 1).then(|| builder.counter());
            let at = |words: usize| match counter {
                Some(counter) => Index::strided(start * lanes + words, counter, lanes),
                None => Index::at(start * lanes + words),
            };
            let mut block = Block::default();
            let mut sum = None;
            for Term { offset, coefficient, lanes } in &registers[start] {
                let mut term = block.push(Op::Load { buffer: from, at: at(*offset) });
                if let Some(on) = lanes {
                    let mask = on.iter().map(|&on| if on { -1 } else { 0 }).collect();
                    let mask = block.push(Op::Lanes(mask));
                    term = block.push(Op::And(term, mask));
                }
                let times = zq::centered(*coefficient, self.plan.ring.q());
                for _ in 0..times.abs() {
                    sum = Some(match sum {
                        None if times < 0 => {
                            let zero = block.push(Op::Splat(0));
                            block.push(Op::Sub(zero, term))
                        }
                        None => term,
                        Some(sum) if times < 0 => block.push(Op::Sub(sum, term)),
                        Some(sum) => block.push(Op::Add(sum, term)),
                    });
                }
            }
            let a = sum.unwrap_or_else(|| block.push(Op::Splat(0)));
            let a = block.push(Op::Reduce { a, method });
            block.push(Op::Store { buffer: to, at: at(0), a });
            body.push(match counter {
                Some(counter) => repeat(counter, alike, vec![Stmt::Block(block)]),
                None => Stmt::Block(block),
            });
            start += alike;
        }
        body
    }
}
