//! The remainder by an f of many coefficients, as sums of products by constants. For a product
//! H·x^n + L, coefficient i is L_i + Σ_k m_ik·H_k, where m_ik is coefficient i of x^(n+k) mod f.
//! This takes n·(n − 1) products by constants, half of what two more schoolbook products take. No
//! word waits for another, as it would in a division term by term.
//!
//! H is canonical first, so sums are as short as they can be. With words of 64 bits, they are
//! reduced like the sums of a product ([`super::whole`]); otherwise they are reduced in rounds.
//! Modulo powers of two, words wrap and nothing is reduced.

use super::super::sums::{DOT_BITS, FEWEST, LONG_BITS};
use super::super::{LowerError, SHORT, wide};
use super::General;
use super::exact::{Sums, add_products};
use super::finish::Finish;
use super::residue::Residue;
use super::whole::Making;
use crate::bounds::WORD;
use crate::build::{Builder, call, call_at, copy, looped, repeat, zeros};
use crate::ir::*;
use crate::method::{Modulus, ReduceMethod};
use ringforge_ring::zq;
use ringforge_targets::ALIGNMENT;

/// Words of H that are taken at a time, between a load and a store of sums.
const TOGETHER: usize = 4;
/// Bits of the lower part of a constant.
const BYTE_BITS: u8 = 8;

/// What the sums are taken of: arrays with their first words.
struct Halves {
    /// L, its largest magnitude and the bits of its words.
    low: (BufferId, usize),
    bound: i64,
    bits: u8,
    /// H.
    upper: (BufferId, usize),
}

/// Which part of a constant a table holds: where no sum of products has 32 bits, the constants' bytes are multiplied
/// apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// From -128 to 127.
    Low,
    /// 256 times it and the low part are the constant.
    High,
}

impl Part {
    /// The part of a residue's centred constant.
    fn of(self, c: u64, q: u64) -> i32 {
        let c = zq::centered(c, q) as i32;
        let half = 1 << (BYTE_BITS - 1);
        let high = (c + half) >> BYTE_BITS;
        match self {
            Part::Whole => c,
            Part::Low => c - (high << BYTE_BITS),
            Part::High => high,
        }
    }
}

/// A table of `length` words with `part(m_ik)` at place `at(i, k)`.
fn table(
    rows: &[Vec<(usize, u64)>],
    n: usize,
    length: usize,
    at: &dyn Fn(usize, usize) -> usize,
    part: &dyn Fn(u64) -> i32,
) -> Vec<i32> {
    let mut table = vec![0; length];
    for (i, row) in rows.iter().enumerate() {
        for &(from, c) in row.iter().filter(|&&(from, _)| from >= n) {
            table[at(i, from - n)] = part(c);
        }
    }
    table
}

impl General<'_> {
    /// Words of H, those with zeros for constants included.
    fn terms(&self) -> usize {
        let summed = self.target.sums == LONG_BITS && !self.plan.ring.q().is_power_of_two();
        match summed {
            true => {
                (self.n - 1).next_multiple_of(self.target.registers.lanes(DOT_BITS)).max(FEWEST)
            }
            // Of rounds of up to so many.
            false => self.n - 1 + TOGETHER,
        }
    }

    /// Appends the remainder of the product whose digits are in the arrays; `rows` as [`Finish`] has them.
    pub(super) fn remainder(
        &mut self,
        builder: &mut Builder,
        rows: &[Vec<(usize, u64)>],
        product: (&[Residue], &[BufferId]),
        c: BufferId,
    ) -> Result<(), LowerError> {
        let (n, q, words, terms) = (self.n, self.plan.ring.q(), self.words, self.terms());
        let first = product.1[0];
        let halves = match *product.0 {
            [Residue { digit: None, weight: 1, bound, bits, .. }]
                if bits == SHORT && q.is_power_of_two() =>
            {
                Halves { low: (first, 0), bound, bits, upper: (first, n) }
            }
            [Residue { digit: None, weight: 1, bound, bits, .. }] if !q.is_power_of_two() => {
                let upper = builder.kept("upper", Role::Local, terms, SHORT);
                let name = ("sum_upper", "the upper half of the product modulo q");
                if self.unreduced {
                    self.unreduced = false;
                    let sums = self.upper_sums(bound, bits)?;
                    let array = builder.kept("h", Role::Local, words, sums.bits);
                    let call = call_at(sums.procedure, [(array, 0), (first, n)]);
                    builder.stage("sums of the upper half", "", vec![call]);
                    self.finish(builder, name, Finish::of(0..terms, (&[sums], &[array])), upper)?;
                } else {
                    self.finish(builder, name, Finish::of(n..n + terms, product), upper)?;
                }
                Halves { low: (first, 0), bound, bits, upper: (upper, 0) }
            }
            _ => {
                let whole = builder.kept("whole", Role::Local, n + terms, SHORT);
                let name = ("sum_whole", "the product modulo q");
                self.finish(builder, name, Finish::of(0..n + terms, product), whole)?;
                let bound = (q / 2) as i64;
                Halves { low: (whole, 0), bound, bits: SHORT, upper: (whole, n) }
            }
        };
        let sums = match q.is_power_of_two() || self.target.sums < LONG_BITS {
            true => self.rounds_of_remainder(rows, &halves),
            false => self.summed_remainder(rows, &halves)?,
        };
        let rest = builder.kept("rest", Role::Local, words, sums.bits);
        let call = call_at(sums.procedure, [(rest, 0), halves.low, halves.upper]);
        builder.stage(
            "its coefficients times powers of x mod f, added to the lower half",
            "",
            vec![call],
        );
        let name = ("sum_rest", "the remainder");
        self.finish(builder, name, Finish::of(0..n, (&[sums], &[rest])), c)
    }

    /// The procedure (out, sums) that reduces sums within `bound`.
    fn upper_sums(&mut self, bound: i64, bits: u8) -> Result<Residue, LowerError> {
        let (q, words, terms) = (self.plan.ring.q(), self.words, self.terms());
        let sums = Sums::within(q, self.n, bound, Some(1));
        let sums = sums.ok_or_else(|| wide("product", bound))?;
        let mut builder = Builder::new("upper_half", None, Modulus { q, bits });
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let total = builder.ranged("t", Role::Input, terms, 2, Some((-bound, bound)));
        let kept = bits.min(DOT_BITS);
        builder.narrow(out, kept);
        let making = Making { name: "upper_half".into(), builder, out, bits: kept, used: terms };
        Ok(self.reduced_sums(making, total, &sums))
    }

    /// Sums of whole rows, in words that hold them, and reduced.
    fn summed_remainder(
        &mut self,
        rows: &[Vec<(usize, u64)>],
        halves: &Halves,
    ) -> Result<Residue, LowerError> {
        let (n, q, words, terms) = (self.n, self.plan.ring.q(), self.words, self.terms());
        let weight = |row: &Vec<(usize, u64)>| {
            let upper = row.iter().filter(|&&(from, _)| from >= n);
            upper.map(|&(_, c)| zq::centered(c, q).abs()).sum::<i64>()
        };
        let most = rows.iter().map(weight).max().unwrap_or(0) * (q / 2) as i64 + halves.bound;
        let sums = Sums::within(q, terms, most, Some(1));
        let sums = sums.ok_or_else(|| wide("remainder", most))?;
        let halved = sums.bits > DOT_BITS;
        let tables: &[Part] = if halved { &[Part::Low, Part::High] } else { &[Part::Whole] };
        let dots = self.dots_of_rows(rows, tables);
        let mut builder = Builder::new("remainder", None, Modulus { q, bits: sums.bits });
        let lanes = self.target.registers.lanes(sums.bits);
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let bits = sums.bits.min(DOT_BITS);
        builder.narrow(out, bits);
        let padded = n.next_multiple_of(self.target.registers.lanes(DOT_BITS));
        let [low, upper] = self.halves(&mut builder, halves, padded);
        let total = match sums.reduce.is_some() {
            true => builder.local("t", words),
            false => out,
        };
        let parts: Vec<BufferId> = (1..=tables.len())
            .map(|k| builder.kept(&format!("d{k}_"), Role::Local, padded, DOT_BITS))
            .collect();
        let call = call(dots, parts.iter().copied().chain([upper]));
        builder.stage("the upper half times powers of x mod f", "", vec![call]);
        let body = builder.runs(padded / lanes, |block, at| {
            let mut sum = block.load(low, at(0, lanes));
            for (part, table) in parts.iter().zip(tables) {
                let mut a = block.load(*part, at(0, lanes));
                if *table == Part::High {
                    a = block.push(Op::Shl(a, BYTE_BITS));
                }
                sum = block.add(sum, a);
            }
            block.store(total, at(0, lanes), sum);
        });
        let title = format!("added to the lower half, in words of {} bits", sums.bits);
        builder.stage(&title, "", vec![body]);
        let making = Making { name: "remainder".into(), builder, out, bits, used: n };
        Ok(self.reduced_sums(making, total, &sums))
    }

    /// The procedure (sums for each table …, upper) of dot products with rows, in words of 32 bits.
    fn dots_of_rows(&mut self, rows: &[Vec<(usize, u64)>], tables: &[Part]) -> ProcedureId {
        let (n, q, terms) = (self.n, self.plan.ring.q(), self.terms());
        let lanes = self.target.registers.lanes(DOT_BITS);
        let mut builder = Builder::new("dots", None, Modulus { q, bits: DOT_BITS });
        let padded = n.next_multiple_of(lanes);
        let sums: Vec<BufferId> = (1..=tables.len())
            .map(|k| builder.buffer(&format!("d{k}_"), Role::Scratch, padded, ALIGNMENT))
            .collect();
        let half = (q / 2) as i64;
        let upper = builder.parameter("upper", Role::Input, (terms, SHORT), Some((-half, half)));
        let each = sums.iter().flat_map(|&sum| zeros(&mut builder, (sum, 0), padded, lanes));
        let body = each.collect();
        builder.stage("sums of zero", "", body);
        let [coefficient, register] = [0; 2].map(|_| builder.counter());
        let sum = looped(register, terms / lanes, |block| {
            let y = block.load(upper, Index::strided(0, register, lanes));
            for (k, (part, &sum)) in tables.iter().zip(&sums).enumerate() {
                let table = table(rows, n, n * terms, &|i, k| i * terms + k, &|c| part.of(c, q));
                let name = format!("powers{}", k + 1);
                let constants = builder.kept(&name, Role::Table(table), n * terms, SHORT);
                let at = vec![(coefficient, terms as i64), (register, lanes as i64)];
                let x = block.load(constants, Index { base: 0, terms: at });
                let a = block.push(Op::MulLo(x, y));
                block.push(Op::AddSum { buffer: sum, at: Index::strided(0, coefficient, 1), a });
            }
        });
        let what = if tables.len() > 1 { ", by their bytes" } else { "" };
        let title = format!("the upper half times powers of x mod f{what}, in sums of 32 bits");
        builder.stage(&title, "", vec![repeat(coefficient, n, vec![sum])]);
        self.push(builder.finish())
    }

    /// The parameters for L and H.
    fn halves(&self, builder: &mut Builder, halves: &Halves, padded: usize) -> [BufferId; 2] {
        let q = self.plan.ring.q();
        let range = |most: i64| (!q.is_power_of_two()).then_some((-most, most));
        let low = builder.ranged("low", Role::Input, padded, 2, range(halves.bound));
        builder.narrow(low, halves.bits);
        let size = (self.terms(), SHORT);
        let upper = builder.parameter("upper", Role::Input, size, range((q / 2) as i64));
        [low, upper]
    }

    /// Multiplies words of H, a few at a time, each by all of its power of x. Words wrap, or they
    /// have 32 bits and their sums are reduced where more would not fit.
    fn rounds_of_remainder(&mut self, rows: &[Vec<(usize, u64)>], halves: &Halves) -> Residue {
        let (n, q, terms) = (self.n, self.plan.ring.q(), self.terms());
        let half = (q / 2) as i64;
        let (modulus, together, reduce, bound) = match q.is_power_of_two() {
            true => ((1 << SHORT, SHORT), TOGETHER, None, WORD),
            false => {
                let fit = (i64::from(i32::MAX) - halves.bound) / (half * half);
                let together = fit.clamp(1, TOGETHER as i64) as usize;
                let count = n.div_ceil(together) as i64;
                if fit >= n as i64 {
                    ((q, DOT_BITS), together, None, halves.bound + (n as i64 - 1) * half * half)
                } else {
                    let most = together as i64 * half * half;
                    let (method, rest) = ReduceMethod::low(q, most, self.coarse());
                    ((q, DOT_BITS), together, Some(method), halves.bound + count * rest)
                }
            }
        };
        let bits = modulus.1;
        let lanes = self.target.registers.lanes(bits);
        let padded = n.next_multiple_of(lanes);
        let mut builder = Builder::new("remainder", None, Modulus { q: modulus.0, bits });
        let out = builder.buffer("out", Role::Scratch, self.words, ALIGNMENT);
        let [low, upper] = self.halves(&mut builder, halves, padded);
        let (length, at) = (terms * padded, |i: usize, k: usize| k * padded + i);
        let table = table(rows, n, length, &at, &|c| Part::Whole.of(c, q));
        let constants = builder.kept("powers", Role::Table(table), length, SHORT);
        let size = (padded, lanes, 1);
        let body = copy(&mut builder, (low, out, 0), size, &|_, a| a);
        builder.stage("the lower half", "", body);
        let count = (n - 1).div_ceil(together);
        let [round, register] = [0; 2].map(|_| builder.counter());
        let products = (0..together).map(|term| {
            let word = Index::strided(term, round, together);
            let terms = vec![(register, lanes as i64), (round, (together * padded) as i64)];
            [(upper, word), (constants, Index { base: (term * padded) as i64, terms })]
        });
        let place = Index::strided(0, register, lanes);
        let inner = looped(register, padded / lanes, |block| {
            add_products(block, (out, place), (true, reduce), products);
        });
        let title = "the upper half times powers of x mod f";
        builder.stage(title, "", vec![repeat(round, count, vec![inner])]);
        self.written.border("remainder", bound);
        let procedure = self.push(builder.finish());
        Residue::new(procedure, bound, bits)
    }
}
