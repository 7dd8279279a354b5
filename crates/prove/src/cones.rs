//! Cones: what a function of one variable does over the variable's whole interval, by
//! enumeration. No lemma about any reduction is needed, and none is trusted.
//!
//! A function's values are kept, so that the many intervals over which one and the same reduction
//! is asked about cost little more than one.

use crate::funs::{FunId, Funs, centre};
use crate::lines::Line;
use crate::profile::{MOST, Profile, Told, pieces};
use ringforge_kernel::pieces::Piece;
use rustc_hash::FxHashMap;

/// All that is ever asked about a function over an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Least value (signed reading).
    pub min: i64,
    /// Greatest value.
    pub max: i64,
    /// The line that it is, as an integer or modulo something.
    pub line: Line,
}

impl Summary {
    /// Of c times the function, whose values have 64 bits.
    pub fn times(self, c: i64) -> Summary {
        let [a, b] = [self.min, self.max].map(|x| x.wrapping_mul(c));
        Summary { min: a.min(b), max: a.max(b), line: self.line.times(c) }
    }
}

/// A function that would take too long to enumerate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooWide;

/// Values over `[lo, lo + values.len())`, with minima and maxima of aligned blocks.
#[derive(Default)]
struct Table {
    lo: i64,
    values: Vec<i64>,
    /// Least and greatest value of each aligned block that lies wholly inside, by block number.
    blocks: FxHashMap<i64, (i64, i64)>,
    /// A long interval and the line on it.
    line: Option<(i64, i64, Line)>,
}

/// A function, an interval and a number of bits.
type Interval = (FunId, i64, i64, u8);

/// Values per block.
const BLOCK: i64 = 256;
/// Narrowest interval that is cut into pieces before it is enumerated.
pub(crate) const WIDE: i64 = 1 << 18;
/// Widest interval that is kept as a table.
const KEPT: i64 = 1 << 23;
/// Values kept at most, 8 bytes each.
const MEMORY: usize = 1 << 26;

/// Points of an interval at which functions are looked at before they are enumerated.
pub const POINTS: usize = 8;

/// The ends of `[lo, hi]`, and points between them that no small period has in common.
pub fn points(lo: i64, hi: i64) -> [i64; POINTS] {
    let between = [(0, 1), (1, 1), (1, 2), (1, 3), (5, 7), (2, 13), (11, 17), (16, 19)];
    let span = i128::from(hi) - i128::from(lo);
    between.map(|(n, of)| (i128::from(lo) + span * n / of) as i64)
}

/// What a function is on consecutive points.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The first point, and the value there.
    first: (i64, i64),
    /// Whether there are more.
    several: bool,
    is: Summary,
}

impl Told for Part {
    fn of(piece: &Piece) -> Part {
        match piece {
            Piece::Affine { lo, hi, k, c } => {
                let [a, b] = [*lo, *hi].map(|x| (k + c * i128::from(x)) as i64);
                let line = Line { m: 0, c: *c, d: *k };
                let is = Summary { min: a.min(b), max: a.max(b), line };
                Part { first: (*lo, a), several: lo < hi, is }
            }
            Piece::Values { lo, values } => {
                let (min, max) = extremes(values);
                let is = Summary { min, max, line: Line::through(*lo, values) };
                let first = (*lo, values.first().copied().unwrap_or(0));
                Part { first, several: values.len() > 1, is }
            }
        }
    }

    fn join(&mut self, next: &Part) {
        let (is, other) = (&mut self.is, &next.is);
        (is.min, is.max) = (is.min.min(other.min), is.max.max(other.max));
        if !self.several {
            // Two points decide the line.
            let ((x, v), w) = (self.first, next.first.1);
            let c = i128::from(w) - i128::from(v);
            is.line = Line { m: 0, c, d: i128::from(v) - c * i128::from(x) };
        }
        is.line.join(&other.line, next.first.0, next.several);
        self.several = true;
    }
}

impl Table {
    fn slice(&self, lo: i64, hi: i64) -> &[i64] {
        &self.values[(lo - self.lo) as usize..=(hi - self.lo) as usize]
    }

    fn extremes(&mut self, lo: i64, hi: i64) -> (i64, i64) {
        let (mut min, mut max) = (i64::MAX, i64::MIN);
        let mut at = lo;
        while at <= hi {
            let block = at.div_euclid(BLOCK);
            let end = block * BLOCK + BLOCK - 1;
            if at == block * BLOCK && end <= hi {
                let (l, h) = match self.blocks.get(&block) {
                    Some(&x) => x,
                    None => {
                        let x = extremes(self.slice(at, end));
                        self.blocks.insert(block, x);
                        x
                    }
                };
                (min, max) = (min.min(l), max.max(h));
            } else {
                let (l, h) = extremes(self.slice(at, end.min(hi)));
                (min, max) = (min.min(l), max.max(h));
            }
            at = end + 1;
        }
        (min, max)
    }
}

fn extremes(values: &[i64]) -> (i64, i64) {
    values.iter().fold((i64::MAX, i64::MIN), |(l, h), &v| (l.min(v), h.max(v)))
}

/// Enumeration with caches and limits.
#[derive(Default)]
pub struct Cones {
    /// Most points that one function may have.
    pub max_points: u64,
    /// Point evaluations (points times nodes) that remain.
    pub budget: u64,
    /// Point evaluations done.
    pub work: u64,
    tables: FxHashMap<FunId, Table>,
    kept: usize,
    summaries: FxHashMap<(FunId, i64, i64), Result<Summary, TooWide>>,
    linears: FxHashMap<Interval, Option<(i64, i64)>>,
    profiles: FxHashMap<FunId, Option<Profile<Part>>>,
    /// Wide intervals over which functions have too many pieces.
    many: FxHashMap<FunId, (i64, i64)>,
    points: FxHashMap<(FunId, i64, i64), [i64; POINTS]>,
}

impl Cones {
    /// Empty caches.
    pub fn new() -> Cones {
        Cones { max_points: 1 << 24, budget: 1 << 36, ..Cones::default() }
    }

    /// Everything enumerated so far: `(function, lo, hi)` with its summary.
    pub fn proved(&self) -> impl Iterator<Item = (FunId, i64, i64, Summary)> + '_ {
        self.summaries.iter().filter_map(|(k, s)| s.ok().map(|s| (k.0, k.1, k.2, s)))
    }

    /// The values at the [`points`] of an interval.
    pub fn at(&mut self, funs: &mut Funs, f: FunId, lo: i64, hi: i64) -> [i64; POINTS] {
        *self.points.entry((f, lo, hi)).or_insert_with(|| points(lo, hi).map(|x| funs.at(f, x)))
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

    /// The function's table, extended to hold `[lo, hi]`.
    fn table(
        &mut self,
        funs: &mut Funs,
        f: FunId,
        lo: i64,
        hi: i64,
    ) -> Result<&mut Table, TooWide> {
        if self.kept > MEMORY {
            self.tables.clear();
            self.kept = 0;
        }
        let (from, to) = match self.tables.get(&f) {
            Some(t) => (t.lo, t.lo + t.values.len() as i64),
            None => (lo, lo),
        };
        let far = hi.max(to) - lo.min(from) >= 2 * KEPT;
        let (from, to) = if far { (lo, lo) } else { (from, to) };
        // Growing downwards copies: grow by a share of the size, so that it happens seldom.
        let spare = if from > lo && to - from > 1 << 15 { (to - from) / 8 } else { 0 };
        let lo = if from > lo { lo - spare } else { lo };
        let (below, above) = ((from - lo).max(0), (hi + 1 - to).max(0));
        let size = funs.size(f);
        self.afford((below + above) as u64, size)?;
        self.kept += (below + above) as usize;
        let t = self.tables.entry(f).or_default();
        if far || t.values.is_empty() {
            *t = Table { lo, ..Table::default() };
        }
        if below > 0 {
            let mut values = Vec::with_capacity((to - from + below + above) as usize);
            funs.enumerate(f, lo, from - 1, |_, v| {
                values.extend_from_slice(v);
                true
            });
            values.append(&mut t.values);
            t.values = values;
            t.lo = lo;
        }
        if above > 0 {
            funs.enumerate(f, to, hi, |_, v| {
                t.values.extend_from_slice(v);
                true
            });
        }
        Ok(t)
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
        let result = if let Some(found) = self.profiled(funs, f, lo, hi) {
            Ok(found)
        } else if hi - lo < KEPT {
            self.tabulate(funs, f, lo, hi)
        } else {
            self.stream(funs, f, lo, hi)
        };
        self.summaries.insert((f, lo, hi), result);
        result
    }

    /// What a function is over a wide interval, if it has few pieces there.
    fn profiled(&mut self, funs: &mut Funs, f: FunId, lo: i64, hi: i64) -> Option<Summary> {
        if hi - lo < WIDE || self.many.get(&f).is_some_and(|m| lo <= m.0 && m.1 <= hi) {
            return None;
        }
        let known = self.profiles.entry(f).or_default();
        let known = Profile::covering(known, (funs, f), (lo, hi), MOST, &mut self.budget);
        let Some(profile) = known else {
            self.many.insert(f, (lo, hi));
            return None;
        };
        profile.over(funs, f, lo, hi).map(|part| part.is)
    }

    fn tabulate(
        &mut self,
        funs: &mut Funs,
        f: FunId,
        lo: i64,
        hi: i64,
    ) -> Result<Summary, TooWide> {
        let t = self.table(funs, f, lo, hi)?;
        let (min, max) = t.extremes(lo, hi);
        // A line on a part is one on the whole if the rest joins it: its modulus can only shrink.
        let line = match t.line {
            Some((from, to, mut line)) if lo.max(from) < hi.min(to) => {
                if lo < from {
                    line.meet(lo, t.slice(lo, from - 1));
                }
                if to < hi {
                    line.meet(to + 1, t.slice(to + 1, hi));
                }
                line
            }
            _ => Line::through(lo, t.slice(lo, hi)),
        };
        if line.m != 1 && t.line.is_none_or(|l| l.1 - l.0 < hi - lo) {
            t.line = Some((lo, hi, line));
        }
        Ok(Summary { min, max, line })
    }

    fn stream(&mut self, funs: &mut Funs, f: FunId, lo: i64, hi: i64) -> Result<Summary, TooWide> {
        self.afford((hi - lo) as u64 + 1, funs.size(f))?;
        let first = [funs.at(f, lo), funs.at(f, lo + 1)];
        let (mut min, mut max, mut line) = (i64::MAX, i64::MIN, Line::through(lo, &first));
        funs.enumerate(f, lo, hi, |at, values| {
            let (l, h) = extremes(values);
            (min, max) = (min.min(l), max.max(h));
            line.meet(at, values);
            true
        });
        Ok(Summary { min, max, line })
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
        if ok && let Some(s) = self.profiled(funs, f, lo, hi) {
            // Of a modulus that a line has not all twos may be kept.
            let small = bits < 62 && s.line.m.is_multiple_of(1 << bits);
            if s.line.m == 0 || small || bits < 62 {
                let result = (s.line.m == 0 || small).then_some((c, d));
                self.linears.insert((f, lo, hi, bits), result);
                return result;
            }
        }
        if ok
            && hi - lo >= WIDE
            && let Some(pieces) = pieces(funs, f, lo, hi, &mut self.budget)
        {
            // Two adjacent points decide a line.
            ok = pieces.iter().all(|p| match p {
                Piece::Affine { lo, hi, k, c } => [*lo, (lo + 1).min(*hi)]
                    .into_iter()
                    .all(|x| fits(x, (k + c * i128::from(x)) as i64)),
                Piece::Values { lo, values } => {
                    values.iter().enumerate().all(|(i, &v)| fits(lo + i as i64, v))
                }
            });
            let result = ok.then_some((c, d));
            self.linears.insert((f, lo, hi, bits), result);
            return result;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::funs::{Fun, FunOp};

    /// x - q·round(x / q) in words of 64 bits.
    fn reduced(funs: &mut Funs, q: i64) -> FunId {
        let wide = funs.lin(64, 1 << 39, (1 << 40) / q, &[]);
        let mut op = |width: u8, op: FunOp, arg: FunId| {
            funs.intern(Fun { width, op, args: [arg].into_iter().collect() })
        };
        let part = op(24, FunOp::Slice(40), wide);
        let quotient = op(64, FunOp::Sext, part);
        funs.lin(64, 0, 1, &[(quotient, -q)])
    }

    /// Wide intervals of one function, one inside another and beside it: what is found is what all points say, and
    /// looking at hundreds costs little more than at the widest.
    #[test]
    fn wide_intervals_of_one_function_share_their_pieces() {
        let (mut funs, q, end) = (Funs::default(), 30011i64, 1i64 << 22);
        let f = reduced(&mut funs, q);
        let mut once = Cones::new();
        once.summary(&mut funs, f, -end, end).expect("few pieces");
        let all = 1 << 36;
        let once = all - once.budget;
        let mut cones = Cones::new();
        for i in 0..300 {
            let (lo, hi) = (-end + 997 * (i * 37 % 300), end - 1009 * (i * 71 % 300));
            let s = cones.summary(&mut funs, f, lo, hi).expect("few pieces");
            assert_eq!((s.line.m, s.line.modulo(q as u32)), (q as u64, Some((1, 0))));
            assert_eq!(cones.linear(&mut funs, f, lo, hi, 32), None);
            if i % 60 == 0 {
                let mut values = Vec::new();
                funs.enumerate(f, lo, hi, |_, v| {
                    values.extend_from_slice(v);
                    true
                });
                let (min, max) = extremes(&values);
                assert_eq!(s, Summary { min, max, line: Line::through(lo, &values) }, "{lo} {hi}");
            }
        }
        let spent = all - cones.budget;
        assert!(spent < 3 * once, "{spent} for all, {once} for one");
    }

    /// What is told of parts is told of the whole, however it is cut, down to single points.
    #[test]
    fn parts_join_to_the_whole() {
        let line = |x: i64| 5 * x - 7;
        let steps = |x: i64| 3 * x - 12 * x.div_euclid(10);
        let odd = |x: i64| if x == 41 { 1000 } else { 2 * x };
        for f in [&line as &dyn Fn(i64) -> i64, &steps, &odd] {
            let values = |lo: i64, hi: i64| -> Vec<i64> { (lo..=hi).map(f).collect() };
            let part = |lo: i64, hi: i64| Part::of(&Piece::Values { lo, values: values(lo, hi) });
            for cuts in [vec![0], vec![0, 1], vec![0, 1, 2, 50], vec![0, 41, 42], vec![0, 30, 59]] {
                let ends = cuts[1..].iter().copied().chain([60]);
                let mut parts = cuts.iter().zip(ends).map(|(&lo, next)| part(lo, next - 1));
                let mut all = parts.next().expect("a part");
                parts.for_each(|next| all.join(&next));
                let (min, max) = extremes(&values(0, 59));
                let whole = Summary { min, max, line: Line::through(0, &values(0, 59)) };
                assert_eq!(all.is, whole, "{cuts:?}");
            }
        }
    }
}
