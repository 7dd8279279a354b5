//! Cones: what a function of one variable does over the variable's whole interval, by
//! enumeration. No lemma about any reduction is needed, and none is trusted.

use crate::funs::{FunId, Funs, centre};
use rustc_hash::FxHashMap;

/// All that is ever asked about a function over an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Least value (signed reading).
    pub min: i64,
    /// Greatest value.
    pub max: i64,
    /// `(c, d)` if the value is congruent to `c·x + d` modulo q everywhere.
    pub affine: Option<(u32, u32)>,
}

/// A function that would take too long to enumerate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooWide;

/// Enumeration with caches and limits.
pub struct Cones {
    q: i64,
    /// Most points that one function may have.
    pub max_points: u64,
    /// Point evaluations (points times nodes) that remain.
    pub budget: u64,
    /// Point evaluations done.
    pub work: u64,
    summaries: FxHashMap<(FunId, i64, i64), Result<Summary, TooWide>>,
    linears: FxHashMap<(FunId, i64, i64, u8), Option<(i64, i64)>>,
}

impl Cones {
    /// Empty caches for modulus `q`.
    pub fn new(q: u32) -> Cones {
        Cones {
            q: i64::from(q),
            max_points: 1 << 24,
            budget: 1 << 36,
            work: 0,
            summaries: FxHashMap::default(),
            linears: FxHashMap::default(),
        }
    }

    /// Everything enumerated so far: `(function, lo, hi)` with its summary.
    pub fn proved(&self) -> impl Iterator<Item = (FunId, i64, i64, Summary)> + '_ {
        self.summaries.iter().filter_map(|(k, s)| s.ok().map(|s| (k.0, k.1, k.2, s)))
    }

    /// Everything found linear modulo a power of two: `(function, lo, hi, bits, c, d)`.
    pub fn linear_facts(&self) -> impl Iterator<Item = (FunId, i64, i64, u8, i64, i64)> + '_ {
        self.linears.iter().filter_map(|(k, s)| s.map(|(c, d)| (k.0, k.1, k.2, k.3, c, d)))
    }

    fn afford(&mut self, points: u64, size: usize) -> Result<(), TooWide> {
        let work = points.saturating_mul(size as u64);
        if points > self.max_points || work > self.budget {
            return Err(TooWide);
        }
        self.budget -= work;
        self.work += work;
        Ok(())
    }

    /// Enumerates `f` over `[lo, hi]`.
    ///
    /// # Errors
    /// If the interval has too many points.
    pub fn summary(
        &mut self,
        funs: &mut Funs,
        f: FunId,
        lo: i64,
        hi: i64,
    ) -> Result<Summary, TooWide> {
        if let Some(&s) = self.summaries.get(&(f, lo, hi)) {
            return s;
        }
        let points = (hi - lo) as u64 + 1;
        let result = self.afford(points, funs.size(f)).map(|()| {
            let q = self.q;
            let first = funs.at(f, lo);
            let c =
                if points > 1 { (funs.at(f, lo + 1).wrapping_sub(first)).rem_euclid(q) } else { 0 };
            let d =
                (i128::from(first) - i128::from(c) * i128::from(lo)).rem_euclid(q.into()) as i64;
            let (mut min, mut max, mut affine) = (i64::MAX, i64::MIN, true);
            funs.enumerate(f, lo, hi, |at, values| {
                for &v in values {
                    min = min.min(v);
                    max = max.max(v);
                }
                if affine {
                    let mut expected = (i128::from(c) * i128::from(at) + i128::from(d))
                        .rem_euclid(q.into()) as i64;
                    for &v in values {
                        if (v - expected) % q != 0 {
                            affine = false;
                            break;
                        }
                        expected += c;
                        if expected >= q {
                            expected -= q;
                        }
                    }
                }
                true
            });
            Summary { min, max, affine: affine.then_some((c as u32, d as u32)) }
        });
        self.summaries.insert((f, lo, hi), result);
        result
    }

    /// `(c, d)` if `f(x) = c·x + d` modulo 2^bits for all x in `[lo, hi]`.
    pub fn linear(
        &mut self,
        funs: &mut Funs,
        f: FunId,
        lo: i64,
        hi: i64,
        bits: u8,
    ) -> Option<(i64, i64)> {
        if let Some(&r) = self.linears.get(&(f, lo, hi, bits)) {
            return r;
        }
        let first = funs.at(f, lo);
        let c = if hi > lo { centre(funs.at(f, lo + 1).wrapping_sub(first), bits) } else { 0 };
        let d = centre(first.wrapping_sub(c.wrapping_mul(lo)), bits);
        let fits =
            |x: i64, v: i64| centre(v.wrapping_sub(c.wrapping_mul(x).wrapping_add(d)), bits) == 0;
        // A few points refute most functions at once.
        let probes = [hi, lo + (hi - lo) / 2, lo + (hi - lo) / 3, (-1).clamp(lo, hi)];
        let mut ok = probes.into_iter().all(|x| fits(x, funs.at(f, x)));
        let points = (hi - lo) as u64 + 1;
        ok = ok && self.afford(points, funs.size(f)).is_ok();
        if ok {
            funs.enumerate(f, lo, hi, |at, values| {
                ok = values.iter().enumerate().all(|(i, &v)| fits(at + i as i64, v));
                ok
            });
        }
        let result = ok.then_some((c, d));
        self.linears.insert((f, lo, hi, bits), result);
        result
    }
}
