//! Rule *enumerated function*: what a function of one integer does on an interval, by evaluating it at
//! every point. No lemma about any reduction is needed, and none is trusted.

use crate::fun::{FunId, Funs, OPERATIONS};
use crate::pieces::{LEAF, MOST, Piece, pieces};
use crate::profile::Profile;
use rustc_hash::FxHashMap;

/// Width of an interval that is first taken apart into affine pieces.
const WIDE: i128 = 1 << 18;
/// Intervals that are looked at for pieces over all that is asked of a function: more than a search does, which may ask in
/// another order.
const LOOKED_AT: usize = 4 * MOST;
/// Width of an interval that is not evaluated point by point.
const TOO_WIDE: i128 = 1 << 36;
/// Width of an interval whose values are kept.
const KEPT: i128 = 1 << 23;
/// Values kept at most.
const MEMORY: usize = 1 << 26;
/// Parts of functions over wide intervals that are kept at most, but for those of one function, with 80 bytes each.
const PARTS: usize = 1 << 21;

/// `f(x) ≡ c·x + d` for x in `[lo, hi]`.
#[derive(Clone, Copy)]
struct Line {
    lo: i64,
    hi: i64,
    c: u64,
    d: u64,
}

/// Functions with what was enumerated of them.
pub struct Enumerated {
    /// The functions.
    pub funs: Funs,
    /// Point evaluations (points times operations) that remain, of which terms and operations that are looked
    /// at otherwise cost one each.
    pub budget: u64,
    /// Facts established so far.
    pub facts: usize,
    /// The values of functions from some x on.
    tables: FxHashMap<FunId, (i64, Vec<i64>)>,
    kept: usize,
    ranges: FxHashMap<(FunId, i64, i64), Option<(i64, i64)>>,
    /// Functions over wide intervals, with their least and greatest values.
    profiles: FxHashMap<FunId, Option<Profile<(i64, i64)>>>,
    /// How many parts these have.
    parts: usize,
    /// Wide intervals over which functions have too many pieces, or more than the budget was left for.
    many: FxHashMap<FunId, (i64, i64)>,
    /// By function and modulus, the last line that was found, with its interval.
    lines: FxHashMap<(FunId, u128), Line>,
}

impl Enumerated {
    /// No function yet; `budget` point evaluations.
    pub fn new(budget: u64) -> Enumerated {
        Enumerated {
            funs: Funs::default(),
            budget,
            facts: 0,
            tables: FxHashMap::default(),
            kept: 0,
            ranges: FxHashMap::default(),
            profiles: FxHashMap::default(),
            parts: 0,
            many: FxHashMap::default(),
            lines: FxHashMap::default(),
        }
    }

    /// Least and greatest value of `f` on `[lo, hi]`; [`None`] where that takes too long.
    pub fn range(&mut self, f: FunId, lo: i64, hi: i64) -> Option<(i64, i64)> {
        if let Some(&known) = self.ranges.get(&(f, lo, hi)) {
            return known;
        }
        let mut range = (i64::MAX, i64::MIN);
        let found = self.profiled(f, lo, hi).or_else(|| {
            let done = self.points(f, lo, hi, &mut |_, values| {
                range = values.iter().fold(range, |(l, h), &v| (l.min(v), h.max(v)));
                true
            });
            done.then_some(range)
        });
        self.facts += 1;
        self.ranges.insert((f, lo, hi), found);
        found
    }

    /// The same by pieces, where the interval is wide and they are few.
    fn profiled(&mut self, f: FunId, lo: i64, hi: i64) -> Option<(i64, i64)> {
        if i128::from(hi) - i128::from(lo) < WIDE || self.funs.size(f) > OPERATIONS {
            return None;
        }
        if self.many.get(&f).is_some_and(|m| lo <= m.0 && m.1 <= hi) {
            return None;
        }
        if self.parts > PARTS {
            self.profiles.clear();
            self.parts = 0;
        }
        let (funs, known) = (&mut self.funs, self.profiles.entry(f).or_default());
        let before = known.as_ref().map_or(0, Profile::size);
        let over = Profile::covering(known, (funs, f), (lo, hi), LOOKED_AT, &mut self.budget);
        let Some(profile) = over else {
            self.many.insert(f, (lo, hi));
            return None;
        };
        self.parts = self.parts - before + profile.size();
        // Two parts may be cut.
        if !self.afford(f, 2 * LEAF as usize) {
            return None;
        }
        self.profiles.get(&f)?.as_ref()?.over(&mut self.funs, f, lo, hi)
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
        let size = self.funs.size(f);
        size <= OPERATIONS && self.pay(points.saturating_mul(size)).is_ok()
    }

    /// Calls `each` with the values from some x on until it returns false: at all points of `[lo, hi]`, or where
    /// `f` is affine at three that decide its range and its line: the ends, and the point after the first. False
    /// where that takes too long. `f` is one that [`Enumerated::afford`] has let pass, and `lo` at most `hi`.
    fn each(
        &mut self,
        f: FunId,
        lo: i64,
        hi: i64,
        each: &mut dyn FnMut(i64, &[i64]) -> bool,
    ) -> bool {
        if i128::from(hi) - i128::from(lo) >= WIDE
            && let Some(pieces) = pieces(&mut self.funs, f, lo, hi, &mut self.budget)
        {
            return pieces.iter().all(|piece| match piece {
                Piece::Affine { lo, hi, k, c } => [*lo, (lo + 1).min(*hi), *hi]
                    .into_iter()
                    .all(|x| each(x, &[(k + c * i128::from(x)) as i64])),
                Piece::Values { lo, values } => each(*lo, values),
            });
        }
        self.points(f, lo, hi, each)
    }

    /// The same at all points. False too where there are none, or `f` is too large.
    fn points(
        &mut self,
        f: FunId,
        lo: i64,
        hi: i64,
        each: &mut dyn FnMut(i64, &[i64]) -> bool,
    ) -> bool {
        let width = i128::from(hi) - i128::from(lo);
        if width < 0 || self.funs.size(f) > OPERATIONS {
            return false;
        }
        if width < KEPT {
            return self.table(f, lo, hi).map(|values| each(lo, values)).is_some();
        }
        if width >= TOO_WIDE || !self.afford(f, width as usize + 1) {
            return false;
        }
        self.funs.enumerate(f, lo, hi, each);
        true
    }

    /// The values of `f` on `[lo, hi]`, kept for the next interval.
    fn table(&mut self, f: FunId, lo: i64, hi: i64) -> Option<&[i64]> {
        if self.kept > MEMORY {
            self.tables.clear();
            self.kept = 0;
        }
        let known = self.tables.get(&f).map(|(l, values)| (*l, l + (values.len() as i64 - 1)));
        if known.is_none_or(|(l, h)| lo < l || h < hi) {
            // What is known is evaluated again with the rest, if both are near.
            let whole = known.map_or((lo, hi), |(l, h)| (lo.min(l), hi.max(h)));
            let near = i128::from(whole.1) - i128::from(whole.0) < 2 * KEPT;
            let (from, to) = if near { whole } else { (lo, hi) };
            if !self.afford(f, (to - from) as usize + 1) {
                return None;
            }
            let mut values = Vec::new();
            self.funs.enumerate(f, from, to, |_, v| {
                values.extend_from_slice(v);
                true
            });
            self.kept += values.len();
            self.tables.insert(f, (from, values));
        }
        let (from, values) = &self.tables[&f];
        Some(&values[(lo - from) as usize..=(hi - from) as usize])
    }
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
