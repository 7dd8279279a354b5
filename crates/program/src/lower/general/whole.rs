//! Sums of all products of a coefficient, in words that hold them ([`super::super::sums`]), reduced once. If the sums that
//! make a coefficient of the remainder have small factors, mostly ±1, they are reduced together.

use super::super::SHORT;
use super::super::fold::{Write, each_register, registers};
use super::super::sums::{Coefficients, DOT_BITS, FEWEST, LONG_BITS, TERMS};
use super::exact::{SMALL, Sums};
use super::residue::Residue;
use super::{Folded, General};
use crate::build::{Builder, call, zeros};
use crate::ir::*;
use crate::method::{Modulus, ReduceMethod};
use ringforge_ring::zq;
use ringforge_targets::ALIGNMENT;
use std::convert::Infallible;

/// A procedure (out, a, b) in the making.
pub(super) struct Making {
    pub name: String,
    pub builder: Builder,
    pub out: BufferId,
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
        let operands = builder.operands((self.n, self.memory), ranges);
        let folded = sums.folded != Folded::Not;
        // Behind the last coefficient there are zeros.
        let used = match folded {
            true => self.n,
            false => (2 * self.n - 1).next_multiple_of(self.target.registers.lanes(DOT_BITS)),
        };
        let (n, words, lanes) = (self.n, self.words, self.target.registers.lanes(sums.bits));
        let total = match bits < sums.bits || folded {
            true => builder.local("t", words),
            false => out,
        };
        let dots = sums.bits == DOT_BITS && self.memory == SHORT;
        // Those that are added to or reduced; all where they are what comes out, or are folded.
        let reached = used.max(2 * n + lanes).next_multiple_of(lanes).min(words);
        let all = dots || total == out || self.fold.is_some();
        let reset = zeros(&mut builder, (total, 0), if all { words } else { reached }, lanes);
        let body = reset.into_iter().collect();
        let products = Coefficients {
            n,
            memory: self.memory,
            bits: sums.bits,
            lanes,
            total,
            operands,
            wanted: 0..usize::MAX,
        };
        match dots {
            true => products.dots(&mut builder, body, self.parts(lanes)),
            false => products.rows(&mut builder, body, 1),
        }
        self.reduced_sums(Making { name: name.into(), builder, out, bits, used }, total, sums)
    }

    /// Parts of a, and terms of each.
    fn parts(&self, lanes: usize) -> (usize, usize) {
        let n = self.n;
        let cut = |parts: usize| (parts, n.div_ceil(parts).next_multiple_of(lanes).max(FEWEST));
        let fits = |(parts, terms): &(usize, usize)| parts * terms + n - 1 <= self.words;
        let most = (n / TERMS).max(1);
        (1..=most).rev().map(cut).find(fits).unwrap_or(cut(1))
    }

    /// The end of the procedure: each sum reduced from `total` to its result.
    pub(super) fn reduced_sums(&mut self, making: Making, total: BufferId, sums: &Sums) -> Residue {
        let Making { name, mut builder, out, bits, used } = making;
        let (q, words) = (builder.modulus().q, self.words);
        if self.unreduced {
            self.written.border(name, sums.of_all);
            let procedure = self.push(builder.finish());
            return Residue::new(procedure, sums.of_all, bits);
        }
        if let Some(method) = sums.reduce {
            let most = sums.of_all;
            let long = Modulus { q, bits: LONG_BITS };
            let short = self.target.registers.lanes(DOT_BITS);
            let folded = sums.folded != Folded::Not;
            let as_they_are = sums.bits == LONG_BITS || q > SMALL;
            let together = if folded { self.together().unwrap_or(1) as i64 } else { 1 };
            let fits =
                as_they_are && method.domain(Modulus { q, bits: sums.bits }).1 >= most * together;
            let mut body = Vec::new();
            if total != out {
                let defined = used / short * short;
                let lanes = self.target.registers.lanes(sums.bits);
                let behind = if used > self.n { words } else { used.next_multiple_of(short) };
                body.extend(zeros(&mut builder, (out, defined), behind - defined, lanes));
            }
            if fits {
                let lanes = self.target.registers.lanes(sums.bits);
                body.extend(self.reduced(&mut builder, (total, out), used, lanes, (method, sums)));
            } else {
                let mut inner = Builder::new(&format!("{name}_reduced"), None, long);
                let lanes = self.target.registers.lanes(LONG_BITS);
                let range = Some((-most, most));
                let apart = total != out;
                let to =
                    inner.ranged("u", Role::Scratch, words, ALIGNMENT, range.filter(|_| !apart));
                inner.narrow(to, bits);
                let mut arguments = vec![out];
                let mut from = to;
                if apart {
                    let read = match folded && self.fold.is_some() {
                        true => words,
                        false => used.next_multiple_of(short),
                    };
                    from = inner.ranged("t", Role::Input, read, 2, range);
                    inner.narrow(from, bits);
                    arguments.push(total);
                }
                let body_of = self.reduced(&mut inner, (from, to), used, lanes, (method, sums));
                inner.stage("each sum reduced in words of 64 bits", "", body_of);
                let procedure = self.push(inner.finish());
                body.push(call(procedure, arguments));
            }
            builder.stage("each sum reduced", "[Barrett86]", body);
        }
        self.folded = sums.folded;
        self.written.border(name, sums.bound);
        let procedure = self.push(builder.finish());
        Residue::new(procedure, sums.bound, bits)
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
        let q = self.plan.ring.q();
        let write: &mut Write<Infallible> = &mut |block, terms, at, _| {
            let mut sum = None;
            for term in terms {
                let value = block.load(from, at(term.offset));
                let value = term.masked(block, value);
                let times = zq::centered(term.coefficient, q);
                for _ in 0..times.abs() {
                    sum = Some(block.joined(sum, value, times < 0));
                }
            }
            let a = sum.unwrap_or_else(|| block.splat(0));
            let a = block.reduced(a, method);
            block.store(to, at(0), a);
            Ok(())
        };
        let Ok(body) = each_register(builder, &registers, (lanes, padded), write);
        body
    }
}
