//! The remainder by an f of many coefficients, as sums of products by constants. For a product
//! H·x^n + L, coefficient i is L_i + Σ_k m_ik·H_k, where m_ik is coefficient i of x^(n+k) mod f.
//! This takes n·(n − 1) products by constants, half of what two more schoolbook products take. No
//! word waits for another, as it would in a division term by term.
//!
//! H is canonical first, so sums are as short as they can be. They are reduced in rounds. Modulo
//! powers of two, words wrap and nothing is reduced.

use super::super::LowerError;
use super::super::SHORT;
use super::exact::add_products;
use super::finish::Finish;
use super::residue::Residue;
use super::{General, LONG};
use crate::bounds::WORD;
use crate::build::{Builder, call_at, copy, looped, repeat};
use crate::ir::*;
use crate::method::{Modulus, ReduceMethod};
use ringforge_ring::zq;
use ringforge_targets::ALIGNMENT;

/// Words of H that are taken at a time, between a load and a store of sums.
const TOGETHER: usize = 4;

/// What the sums are taken of: arrays with their first words.
struct Halves {
    /// L, its largest magnitude and the bits of its words.
    low: (BufferId, usize),
    bound: i64,
    bits: u8,
    /// H.
    upper: (BufferId, usize),
}

/// The table of constants in columns: `length` words with m_ik at place `at(i, k)`, for rows of a product of n coefficients.
pub(in crate::lower) fn powers(
    rows: &[Vec<(usize, u64)>],
    (n, q): (usize, u64),
    length: usize,
    at: &dyn Fn(usize, usize) -> usize,
) -> Vec<i32> {
    let mut table = vec![0; length];
    for (i, row) in rows.iter().enumerate() {
        for &(from, c) in row.iter().filter(|&&(from, _)| from >= n) {
            table[at(i, from - n)] = zq::centered(c, q) as i32;
        }
    }
    table
}

impl General<'_> {
    /// Words of H, those with zeros for constants included: of rounds of up to so many.
    fn terms(&self) -> usize {
        self.n - 1 + TOGETHER
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
                self.finish(builder, name, Finish::of(n..n + terms, product), upper)?;
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
        let sums = self.rounds_of_remainder(rows, &halves);
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
                    ((q, LONG), together, None, halves.bound + (n as i64 - 1) * half * half)
                } else {
                    let most = together as i64 * half * half;
                    let (method, rest) = ReduceMethod::low(q, most, self.coarse());
                    ((q, LONG), together, Some(method), halves.bound + count * rest)
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
        let table = powers(rows, (n, q), length, &at);
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
