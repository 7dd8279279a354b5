//! Rule *enumerated function*: what a function of one integer does on an interval, by evaluating it at
//! every point. No lemma about any reduction is needed, and none is trusted.

use crate::fun::{FunId, Funs, OPERATIONS};
use crate::pieces::{Piece, pieces};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Width of an interval that is first taken apart into affine pieces.
const WIDE: i64 = 1 << 18;
/// Width of an interval whose values are kept.
const KEPT: i64 = 1 << 23;
/// Values kept at most.
const MEMORY: usize = 1 << 26;

/// Values over `[lo, lo + values.len())`.
#[derive(Default)]
struct Table {
    lo: i64,
    values: Vec<i64>,
}

/// `f(x) ≡ c·x + d` modulo the key's modulus for x in `[lo, hi]`.
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
    tables: FxHashMap<FunId, Table>,
    kept: usize,
    ranges: FxHashMap<Interval, Option<(i64, i64)>>,
    lines: FxHashMap<(FunId, u128), Line>,
    pieces: FxHashMap<Interval, Option<Arc<[Piece]>>>,
}

/// A function on an interval.
type Interval = (FunId, i64, i64);

/// What is asked of the values.
enum Ask<'a> {
    Range(&'a mut (i64, i64)),
    Line { m: u128, c: u64, d: u64, ok: &'a mut bool },
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
            lines: FxHashMap::default(),
            pieces: FxHashMap::default(),
        }
    }

    /// Least and greatest value of `f` on `[lo, hi]`; [`None`] where that takes too long.
    pub fn range(&mut self, f: FunId, lo: i64, hi: i64) -> Option<(i64, i64)> {
        if let Some(&r) = self.ranges.get(&(f, lo, hi)) {
            return r;
        }
        let mut range = (i64::MAX, i64::MIN);
        let done = self.ask(f, lo, hi, Ask::Range(&mut range));
        let result = (done && lo <= hi).then_some(range);
        self.facts += 1;
        self.ranges.insert((f, lo, hi), result);
        result
    }

    /// `(c, d)` with `f(x) ≡ c·x + d` modulo m for every x in `[lo, hi]`, if there are such. m is below
    /// 2^62, or a power of two up to 2^64.
    pub fn line(&mut self, f: FunId, lo: i64, hi: i64, m: u128) -> Option<(u64, u64)> {
        if lo > hi || m < 2 || (m >= 1 << 62 && !(m.is_power_of_two() && m <= 1 << 64)) {
            return None;
        }
        // The first two points, before any is evaluated.
        if !self.afford(2, f) {
            return None;
        }
        let mut parts = vec![(lo, hi)];
        let mut whole = (lo, hi);
        let (c, d) = match self.lines.get(&(f, m)) {
            Some(l) if l.lo.max(lo) < l.hi.min(hi) => {
                // Two common points decide the line; what is new is checked.
                parts.clear();
                if lo < l.lo {
                    parts.push((lo, l.lo - 1));
                }
                if l.hi < hi {
                    parts.push((l.hi + 1, hi));
                }
                whole = (lo.min(l.lo), hi.max(l.hi));
                (l.c, l.d)
            }
            _ => {
                let modulus = m as i128;
                let first = i128::from(self.funs.at(f, lo));
                let second = if lo < hi { i128::from(self.funs.at(f, lo + 1)) } else { first };
                let c = (second - first).rem_euclid(modulus);
                let back = (c * i128::from(lo)).rem_euclid(modulus);
                (c as u64, (first - back).rem_euclid(modulus) as u64)
            }
        };
        for (lo, hi) in parts.iter().copied() {
            let mut ok = true;
            // A few points refute most functions at once.
            let part = |n: i128| (i128::from(lo) + (i128::from(hi) - i128::from(lo)) / n) as i64;
            let probes = [hi, part(2), part(3)];
            ok &= self.afford(probes.len() as u64, f)
                && probes.into_iter().all(|x| on_line(self.funs.at(f, x), x, m, c, d));
            // Evaluation may find that it is no line, or take too long.
            let evaluated = ok && self.ask(f, lo, hi, Ask::Line { m, c, d, ok: &mut ok });
            if !(evaluated && ok) {
                return None;
            }
        }
        if !parts.is_empty() {
            self.facts += 1;
            self.lines.insert((f, m), Line { lo: whole.0, hi: whole.1, c, d });
        }
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

    fn afford(&mut self, points: u64, f: FunId) -> bool {
        let size = self.funs.size(f);
        let work = points.saturating_mul(size as u64);
        let ok = work <= self.budget && size <= OPERATIONS;
        if ok {
            self.budget -= work;
        }
        ok
    }

    /// Evaluates `f` on `[lo, hi]`; false where that takes too long.
    fn ask(&mut self, f: FunId, lo: i64, hi: i64, mut ask: Ask) -> bool {
        if lo > hi {
            return true;
        }
        if self.funs.size(f) > OPERATIONS {
            return false;
        }
        let width = i128::from(hi) - i128::from(lo);
        if width >= WIDE.into() {
            let key = (f, lo, hi);
            if !self.pieces.contains_key(&key) {
                if self.kept > MEMORY {
                    self.pieces.clear();
                    self.tables.clear();
                    self.kept = 0;
                }
                let found = pieces(&mut self.funs, f, lo, hi, &mut self.budget);
                self.kept += found.iter().flatten().map(Piece::size).sum::<usize>();
                self.pieces.insert(key, found.map(Arc::from));
            }
            if let Some(pieces) = self.pieces[&key].clone() {
                pieces.iter().for_each(|p| ask.piece(p));
                return true;
            }
        }
        if width >= 1 << 36 {
            return false;
        }
        if width < KEPT.into() {
            return match self.table(f, lo, hi) {
                Some(values) => {
                    ask.values(lo, values);
                    true
                }
                None => false,
            };
        }
        if !self.afford(width as u64 + 1, f) {
            return false;
        }
        self.funs.enumerate(f, lo, hi, |at, values| {
            ask.values(at, values);
            true
        });
        true
    }

    /// The values of `f` on `[lo, hi]`, kept for the next interval.
    fn table(&mut self, f: FunId, lo: i64, hi: i64) -> Option<&[i64]> {
        if self.kept > MEMORY {
            self.tables.clear();
            self.pieces.clear();
            self.kept = 0;
        }
        let known = self.tables.get(&f).map(|t| (t.lo, t.lo + (t.values.len() as i64 - 1)));
        let inside = known.is_some_and(|(l, h)| l <= lo && hi <= h);
        if !inside {
            // What is known is evaluated again with the rest, if both are near.
            let whole = known.map_or((lo, hi), |(l, h)| (lo.min(l), hi.max(h)));
            let near = i128::from(whole.1) - i128::from(whole.0) < 2 * i128::from(KEPT);
            let (from, to) = if near { whole } else { (lo, hi) };
            if !self.afford((to - from) as u64 + 1, f) {
                return None;
            }
            let mut values = Vec::with_capacity((to - from) as usize + 1);
            self.funs.enumerate(f, from, to, |_, v| {
                values.extend_from_slice(v);
                true
            });
            self.kept += values.len();
            self.tables.insert(f, Table { lo: from, values });
        }
        let t = &self.tables[&f];
        Some(&t.values[(lo - t.lo) as usize..=(hi - t.lo) as usize])
    }
}

impl Ask<'_> {
    fn values(&mut self, at: i64, values: &[i64]) {
        match self {
            Ask::Range(r) => {
                let (lo, hi) =
                    values.iter().fold((i64::MAX, i64::MIN), |(l, h), &v| (l.min(v), h.max(v)));
                **r = (r.0.min(lo), r.1.max(hi));
            }
            Ask::Line { m, c, d, ok } => **ok = **ok && all_on_line(at, values, *m, *c, *d),
        }
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Affine { lo, hi, k, c } => {
                // Two adjacent points decide a line modulo anything, and the ends its range.
                let values = [*lo, *hi].map(|x| k + c * i128::from(x));
                match self {
                    Ask::Range(r) => {
                        for v in values {
                            **r = (r.0.min(v as i64), r.1.max(v as i64));
                        }
                    }
                    Ask::Line { .. } => {
                        for x in [*lo, (lo + 1).min(*hi)] {
                            self.values(x, &[(k + c * i128::from(x)) as i64]);
                        }
                    }
                }
            }
            Piece::Values { lo, values } => self.values(*lo, values),
        }
    }
}

fn on_line(value: i64, x: i64, m: u128, c: u64, d: u64) -> bool {
    if m.is_power_of_two() {
        let off = value.wrapping_sub(x.wrapping_mul(c as i64)).wrapping_sub(d as i64) as u64;
        return off & (m - 1) as u64 == 0;
    }
    let line = i128::from(c) * i128::from(x) + i128::from(d);
    (i128::from(value) - line) % m as i128 == 0
}

fn all_on_line(at: i64, values: &[i64], m: u128, c: u64, d: u64) -> bool {
    if m.is_power_of_two() {
        let mask = (m - 1) as u64;
        let mut expected = d.wrapping_add(c.wrapping_mul(at as u64));
        let mut off = 0;
        for &v in values {
            off |= (v as u64).wrapping_sub(expected) & mask;
            expected = expected.wrapping_add(c);
        }
        return off == 0;
    }
    // Each expected value is the one before it and c, where m leaves room for them in a word.
    let line = i128::from(c) * i128::from(at) + i128::from(d);
    let (Ok(modulus), Ok(first)) = (i64::try_from(m), i64::try_from(line.rem_euclid(m as i128)))
    else {
        return values.iter().zip(at..).all(|(&v, x)| on_line(v, x, m, c, d));
    };
    let step = (u128::from(c) % m) as i64;
    let next = |x: i64| if x < modulus - step { x + step } else { x - (modulus - step) };
    let points = std::iter::successors(Some(first), |&x| Some(next(x)));
    values.iter().zip(points).all(|(&v, x)| v.rem_euclid(modulus) == x)
}

#[cfg(test)]
#[path = "enumerate_tests.rs"]
mod tests;
