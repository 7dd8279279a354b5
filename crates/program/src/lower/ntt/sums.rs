//! Sums of base products: how many terms fit, and when they are reduced.

use super::base::{Base, Kind, UNROLLED};
use super::words::Words;
use crate::ir::*;
use crate::lower::LowerError;
use crate::method::{NarrowMethod, ProductMethod};
use std::collections::HashMap;

/// Reduced whenever the next term might not fit.
pub(super) struct Sum {
    pub(super) value: Value,
    pub(super) bound: i64,
}

/// What sums of base products may reach so that any of them can be accumulated.
pub(crate) fn room(words: &Words) -> i64 {
    words.most() - words.reduced(words.most())
}

impl Base<'_> {
    /// The largest magnitude of one term of a product, from those of the operands.
    pub(super) fn term(&self, [a, b]: [i64; 2]) -> Result<i64, LowerError> {
        self.words.words(a, b.max(self.weighted(b))).ok_or_else(|| self.refuse(a.max(b)))
    }

    /// Whether sums are of double words, each narrowed once.
    pub(super) fn wide(&self) -> bool {
        self.product == ProductMethod::MontgomeryWide
            && self.room >= self.words.most()
            && self.machine.kind() != Kind::Long
    }

    /// The bound of a sum of so many products, from those of the operands; an error where words overflow.
    pub fn bound(&self, a: i64, b: i64, pairs: usize) -> Result<i64, LowerError> {
        let (size, one) = self.narrowed(a, b, pairs)?;
        let sum = |sum: i64| self.next(sum, one, self.words.most()) + one;
        Ok((1..pairs.div_ceil(size)).fold(one, |bound, _| sum(bound)))
    }

    /// How many products are summed before they are narrowed, and the bound of such a sum. Where there are more, any
    /// number of them can be added, with reductions.
    pub(super) fn narrowed(
        &self,
        a: i64,
        b: i64,
        pairs: usize,
    ) -> Result<(usize, i64), LowerError> {
        let closed = |&(_, bound): &(usize, i64)| self.words.closed(bound).is_some();
        let all = self.together(a, b, pairs).map(|bound| (pairs, bound));
        if pairs == 1 || all.is_ok() {
            return all;
        }
        let fewer = (1..pairs).rev().filter_map(|n| Some((n, self.together(a, b, n).ok()?)));
        fewer.into_iter().find(closed).ok_or_else(|| self.refuse(a.max(b)))
    }

    /// The bound of a sum before a term within `term`: that of what is reduced where both might exceed `room`.
    pub(super) fn next(&self, sum: i64, term: i64, room: i64) -> i64 {
        if sum + term > room { self.words.reduced(sum) } else { sum }
    }

    /// The bound of the sum of so many products that is narrowed once.
    fn together(&self, a: i64, b: i64, pairs: usize) -> Result<i64, LowerError> {
        let most = self.words.most();
        if a > most || b > most {
            return Err(self.refuse(a.max(b)));
        }
        let weighted = self.weighted(b);
        match self.machine.kind() {
            Kind::Pairs => {
                let one = if self.halves() { b } else { self.words.product(1, b) };
                let wide = pairs as i64 * (a * (one + weighted)).max(2 * a * b);
                self.words.narrowed_by(self.narrow, wide).ok_or_else(|| self.refuse(a))
            }
            _ if self.wide() => {
                let terms = (pairs * self.machine.ntt.degree()) as i128;
                let sum = terms * i128::from(a) * i128::from(b.max(weighted));
                self.words.narrowed(sum).ok_or_else(|| self.refuse(a))
            }
            kind => {
                let term = self.words.words(a, b.max(weighted)).ok_or_else(|| self.refuse(a))?;
                let (d, reduced) = (self.machine.ntt.degree(), self.words.reduced(most));
                let long = kind == Kind::Long;
                let (mut sum, mut worst) = (if long { reduced } else { 0 }, 0);
                let room = if long { most } else { self.room };
                let terms = if long { d.min(UNROLLED) } else { d * pairs };
                for _ in 0..terms {
                    sum = self.next(sum, term, room) + term;
                    worst = worst.max(sum);
                }
                let bound = match (long, pairs) {
                    (true, 1) => reduced,
                    (true, _) => self.words.closed(reduced).ok_or_else(|| self.refuse(a))?,
                    (false, _) => sum,
                };
                if worst > most { Err(self.refuse(worst)) } else { Ok(bound) }
            }
        }
    }

    /// A sum of products of words, reduced on the way where it might not fit.
    pub(super) fn sum(
        &self,
        block: &mut Block,
        terms: &[(Value, Value)],
        bounds: [i64; 2],
    ) -> Result<Value, LowerError> {
        let (bound, room) = (self.term(bounds)?, self.room);
        let product =
            |block: &mut Block, (a, b)| block.push(Op::MulWords { a, b, method: self.product });
        let mut sum = Sum { value: product(block, terms[0]), bound };
        for &pair in &terms[1..] {
            let next = product(block, pair);
            sum = self.add(block, sum, next, (bound, room));
        }
        Ok(sum.value)
    }

    /// The same in double words, of even and of odd places, narrowed at the end.
    pub(super) fn wide_sum(
        &self,
        block: &mut Block,
        terms: &[(Value, Value)],
        odd: &mut HashMap<Value, Value>,
    ) -> Value {
        let sums = terms.iter().fold(None, |sums: Option<[Value; 2]>, &(a, b)| {
            let odd = [a, b].map(|v| *odd.entry(v).or_insert_with(|| block.push(Op::OddToEven(v))));
            let products = [[a, b], odd].map(|[a, b]| block.push(Op::MulEven(a, b)));
            let Some(sums) = sums else { return Some(products) };
            Some([0, 1].map(|i| block.push(Op::AddWide(sums[i], products[i]))))
        });
        let [even, odd] = sums.unwrap_or([terms[0].0; 2]);
        block.push(Op::Narrow { even, odd, method: NarrowMethod::Montgomery })
    }

    /// A sum and one more term within `bound`, the sum reduced first where both might exceed `room`.
    pub(super) fn add(
        &self,
        block: &mut Block,
        mut sum: Sum,
        term: Value,
        (bound, room): (i64, i64),
    ) -> Sum {
        let next = self.next(sum.bound, bound, room);
        if sum.bound + bound > room {
            sum.value = block.reduced(sum.value, self.style.reduce);
        }
        Sum { value: block.add(sum.value, term), bound: next + bound }
    }
}
