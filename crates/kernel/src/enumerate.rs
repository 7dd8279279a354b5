//! Rule *enumerated function*: what a function of one integer does on an interval, by evaluating it at
//! every point. No lemma about any reduction is needed, and none is trusted.
//!
//! Values stream past and are not kept: what is kept is what was found. Intervals are cut where others are, so that
//! what was found of their parts serves many.

use crate::fun::{FunId, Funs, LONGEST};
use crate::pieces::{Piece, each_piece};
use rustc_hash::FxHashMap;

/// Width of an interval that is cut.
const CUT: i128 = 1 << 12;
/// Width of an interval that is first taken apart into affine pieces.
const WIDE: i128 = 1 << 18;
/// Intervals that are looked at for the pieces of a function: more than a search does, which may ask in another order.
const LOOKED_AT: usize = 1 << 17;
/// Width of an interval that is not evaluated point by point.
const TOO_WIDE: i128 = 1 << 36;

/// `f(x) ≡ c·x + d` for x in `[lo, hi]`.
#[derive(Clone, Copy)]
struct Line {
    lo: i64,
    hi: i64,
    c: u64,
    d: u64,
}

/// Functions with what was enumerated of them.
#[derive(Default)]
pub struct Enumerated {
    /// The functions.
    pub funs: Funs,
    /// Point evaluations (points times operations) that remain. Terms and operations that are read without
    /// evaluation cost one each.
    pub budget: u64,
    /// Facts established so far.
    pub facts: usize,
    /// By function and interval: its least and greatest value.
    ranges: FxHashMap<(FunId, i64, i64), Option<(i64, i64)>>,
    /// By function and modulus, the last line that was found, with its interval.
    lines: FxHashMap<(FunId, u128), Line>,
}

impl Enumerated {
    /// No function yet; `budget` point evaluations.
    pub fn new(budget: u64) -> Enumerated {
        Enumerated { budget, ..Enumerated::default() }
    }

    /// Least and greatest value of `f` on `[lo, hi]`; [`None`] where that takes too long.
    pub fn range(&mut self, f: FunId, lo: i64, hi: i64) -> Option<(i64, i64)> {
        if let Some(&known) = self.ranges.get(&(f, lo, hi)) {
            return known;
        }
        let facts = self.facts;
        let found = match cut(lo, hi) {
            Some(middle) => self.range(f, lo, middle - 1).and_then(|(l, h)| {
                let above = self.range(f, middle, hi)?;
                Some((l.min(above.0), h.max(above.1)))
            }),
            None => {
                let mut range = (i64::MAX, i64::MIN);
                let done = self.each(f, lo, hi, &mut |_, values| {
                    range = values.iter().fold(range, |(l, h), &v| (l.min(v), h.max(v)));
                    true
                });
                done.then_some(range)
            }
        };
        // Its parts are no facts of their own.
        self.facts = facts + 1;
        self.ranges.insert((f, lo, hi), found);
        found
    }

    /// `(c, d)` with `f(x) ≡ c·x + d` modulo m for every x in `[lo, hi]`, if there are such. m is at least 2, and at
    /// most 2^64.
    pub fn line(&mut self, f: FunId, lo: i64, hi: i64, m: u128) -> Option<(u64, u64)> {
        if lo > hi || !(2..=1 << 64).contains(&m) {
            return None;
        }
        if let Some(known) = self.lines.get(&(f, m)).filter(|l| l.lo <= lo && hi <= l.hi) {
            return Some((known.c, known.d));
        }
        // Two adjacent points decide the line.
        if !self.afford(f, 2) {
            return None;
        }
        let modulus = m as i128;
        let first = i128::from(self.funs.at(f, lo));
        let second = if lo < hi { i128::from(self.funs.at(f, lo + 1)) } else { first };
        let c = (second - first).rem_euclid(modulus);
        let back = (c * i128::from(lo)).rem_euclid(modulus);
        let (c, d) = (c as u64, (first - back).rem_euclid(modulus) as u64);
        let mut all = true;
        let done = self.each(f, lo, hi, &mut |at, values| {
            all = on_line(at, values, m, c, d);
            all
        });
        if !(done && all) {
            return None;
        }
        self.facts += 1;
        self.lines.insert((f, m), Line { lo, hi, c, d });
        Some((c, d))
    }

    /// Takes work that is no enumeration from the budget: terms of forms that are looked at, or operations that
    /// are composed.
    ///
    /// # Errors
    /// If there is too little left.
    pub fn pay(&mut self, work: usize) -> Result<(), String> {
        let left = self.budget.checked_sub(work as u64);
        self.budget = left.ok_or("the budget is spent")?;
        Ok(())
    }

    fn afford(&mut self, f: FunId, points: usize) -> bool {
        let cost = self.funs.cost(f);
        cost <= LONGEST && self.pay(points.saturating_mul(cost)).is_ok()
    }

    /// Calls `each` with the values from some x on until it returns false. It visits all points of `[lo, hi]`. On
    /// pieces where `f` is affine it visits three points, which decide range and line: the ends, and the point
    /// after the first. Returns false if there are none, or if it takes too long; `each` may have seen some points
    /// then.
    fn each(
        &mut self,
        f: FunId,
        lo: i64,
        hi: i64,
        each: &mut dyn FnMut(i64, &[i64]) -> bool,
    ) -> bool {
        let width = i128::from(hi) - i128::from(lo);
        if width < 0 || self.funs.cost(f) > LONGEST {
            return false;
        }
        let (funs, budget) = (&self.funs, &mut self.budget);
        let mut tell = |piece: Piece| match piece {
            Piece::Affine { lo, hi, k, c } => [lo, (lo + 1).min(hi), hi]
                .into_iter()
                .all(|x| each(x, &[(k + c * i128::from(x)) as i64])),
            Piece::Values { lo, values } => each(lo, &values),
        };
        if width >= WIDE && each_piece(funs, f, (lo, hi), LOOKED_AT, budget, &mut tell).is_some() {
            return true;
        }
        if width >= TOO_WIDE || !self.afford(f, width as usize + 1) {
            return false;
        }
        self.funs.enumerate(f, lo, hi, each);
        true
    }
}

/// Where an interval is cut, so that many have parts in common: at its multiple of the greatest power of two.
/// [`None`] of one between two such multiples that follow one another.
pub fn cut(lo: i64, hi: i64) -> Option<i64> {
    if !(CUT..TOO_WIDE).contains(&(i128::from(hi) - i128::from(lo))) {
        return None;
    }
    // Bits from the highest one in which the ends differ.
    let ones = u64::MAX >> (lo ^ hi).leading_zeros();
    let whole = lo as u64 & ones == 0 && hi as u64 & ones == ones;
    (!whole).then_some(hi & !(ones >> 1) as i64)
}

/// Whether the values from x = `at` on are those of `c·x + d`, modulo m; c and d lie in `[0, m)`.
fn on_line(at: i64, values: &[i64], m: u128, c: u64, d: u64) -> bool {
    let (m, c, d) = (m as i128, i128::from(c), i128::from(d));
    // Centred, since most steps are c then, and need no division.
    let c = if 2 * c > m { c - m } else { c };
    let multiple = |off: i128| off == 0 || off % m == 0;
    values.first().is_none_or(|&v| multiple(i128::from(v) - c * i128::from(at) - d))
        && values.windows(2).all(|w| multiple(i128::from(w[1]) - i128::from(w[0]) - c))
}

#[cfg(test)]
#[path = "enumerate_tests.rs"]
mod tests;
