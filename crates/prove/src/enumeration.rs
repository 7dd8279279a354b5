//! Enumeration: evaluates a function of one variable over the variable's whole interval. This needs
//! no lemma about any reduction, and trusts none.
//!
//! Intervals are cut where the kernel cuts them. So asking about one reduction over many intervals
//! costs little more than asking about one.

use crate::funs::{FunId, Funs, centre};
use crate::lines::Line;
use ringforge_kernel::enumerate::cut;
use ringforge_kernel::pieces::{Piece, each_piece};
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
    /// The summary of c times the function, whose values have 64 bits.
    pub fn times(self, c: i64) -> Summary {
        let [a, b] = [self.min, self.max].map(|x| x.wrapping_mul(c));
        Summary { min: a.min(b), max: a.max(b), line: self.line.times(c) }
    }
}

/// A function that would take too long to enumerate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooWide;

/// A function, an interval and a number of bits.
type Interval = (FunId, i64, i64, u8);

/// The narrowest interval that is cut into pieces before it is enumerated.
pub(crate) const WIDE: i64 = 1 << 18;
/// After this many intervals a function counts as having too many pieces.
const MOST: usize = 1 << 15;

/// The pieces of `f` over `[lo, hi]`, where adjacent pieces of one line become one. [`None`] if
/// there are too many, or if they need more than `budget` evaluations of an operation. The
/// evaluations are taken from the budget.
pub fn pieces(funs: &mut Funs, f: FunId, lo: i64, hi: i64, budget: &mut u64) -> Option<Vec<Piece>> {
    let mut all: Vec<Piece> = Vec::new();
    each_piece(funs, f, (lo, hi), MOST, budget, &mut |piece| {
        match (all.last_mut(), &piece) {
            (Some(Piece::Affine { hi, k, c, .. }), Piece::Affine { hi: end, k: l, c: d, .. })
                if (*k, *c) == (*l, *d) =>
            {
                *hi = *end;
            }
            _ => all.push(piece),
        }
        true
    })?;
    Some(all)
}

/// The number of points of an interval at which functions are evaluated before they are enumerated.
pub const POINTS: usize = 8;

/// The ends of `[lo, hi]`, and points between them that no small period has in common.
pub fn points(lo: i64, hi: i64) -> [i64; POINTS] {
    let between = [(0, 1), (1, 1), (1, 2), (1, 3), (5, 7), (2, 13), (11, 17), (16, 19)];
    let span = i128::from(hi) - i128::from(lo);
    between.map(|(n, of)| (i128::from(lo) + span * n / of) as i64)
}

/// A function on consecutive points.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The first point, and the value there.
    first: (i64, i64),
    /// Whether there are more.
    several: bool,
    is: Summary,
}

impl Part {
    /// The function with these values from lo on. There must be at least one.
    fn through(lo: i64, values: &[i64]) -> Part {
        let (min, max) = extremes(values);
        let is = Summary { min, max, line: Line::through(lo, values) };
        let first = (lo, values.first().copied().unwrap_or(0));
        Part { first, several: values.len() > 1, is }
    }

    /// Adds the values that follow. The part must have more than one point.
    fn extend(&mut self, at: i64, values: &[i64]) {
        let ((min, max), is) = (extremes(values), &mut self.is);
        (is.min, is.max) = (is.min.min(min), is.max.max(max));
        is.line.meet(at, values);
    }

    fn of(piece: &Piece) -> Part {
        match piece {
            Piece::Affine { lo, hi, k, c } => {
                let [a, b] = [*lo, *hi].map(|x| (k + c * i128::from(x)) as i64);
                let line = Line { m: 0, c: *c, d: *k };
                let is = Summary { min: a.min(b), max: a.max(b), line };
                Part { first: (*lo, a), several: lo < hi, is }
            }
            Piece::Values { lo, values } => Part::through(*lo, values),
        }
    }

    /// Adds the points that follow.
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

fn extremes(values: &[i64]) -> (i64, i64) {
    values.iter().fold((i64::MAX, i64::MIN), |(l, h), &v| (l.min(v), h.max(v)))
}

/// Joins a part to those before it.
fn join(all: &mut Option<Part>, next: &Part) {
    match all {
        Some(all) => all.join(next),
        None => *all = Some(*next),
    }
}

/// Enumeration with caches and limits.
#[derive(Default)]
pub struct Enumeration {
    /// Most points that one function may have.
    pub max_points: u64,
    /// Point evaluations (points times nodes) that remain.
    pub budget: u64,
    /// Point evaluations done.
    pub work: u64,
    summaries: FxHashMap<(FunId, i64, i64), Result<Summary, TooWide>>,
    linears: FxHashMap<Interval, Option<(i64, i64)>>,
    /// Parts of intervals; [`None`] of one on which a function has too many pieces.
    parts: FxHashMap<(FunId, i64, i64), Option<Part>>,
    points: FxHashMap<(FunId, i64, i64), [i64; POINTS]>,
}

impl Enumeration {
    /// Empty caches.
    pub fn new() -> Enumeration {
        Enumeration { max_points: 1 << 24, budget: 1 << 36, ..Enumeration::default() }
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
        // Points of a wide interval are not enumerated, nor are those of its parts.
        let wide = (hi - lo) as u64 >= self.max_points;
        let result = self.part(funs, f, lo, hi, wide).map(|part| part.is).ok_or(TooWide);
        self.summaries.insert((f, lo, hi), result);
        result
    }

    /// The function on an interval, whose parts may be known. If `wide`, no part that is itself
    /// wide is enumerated: it has few pieces, or the result is [`None`].
    fn part(&mut self, funs: &mut Funs, f: FunId, lo: i64, hi: i64, wide: bool) -> Option<Part> {
        let known = self.parts.get(&(f, lo, hi)).copied();
        if let Some(known) = known.filter(|p| wide || p.is_some()) {
            return known;
        }
        let mut found: Option<Part> = None;
        if let Some(middle) = cut(lo, hi) {
            let below = self.part(funs, f, lo, middle - 1, wide);
            let above = below.and_then(|_| self.part(funs, f, middle, hi, wide));
            found = below.zip(above).map(|(mut below, above)| {
                below.join(&above);
                below
            });
        } else {
            let all = &mut |piece: Piece| {
                join(&mut found, &Part::of(&piece));
                true
            };
            let few = known.is_none()
                && hi - lo >= WIDE
                && each_piece(funs, f, (lo, hi), MOST, &mut self.budget, all).is_some();
            if !few {
                found = None;
                let points = (hi - lo) as u64 + 1;
                if !(wide && hi - lo >= WIDE) && self.afford(points, funs.cost(f)).is_ok() {
                    funs.enumerate(f, lo, hi, |at, values| {
                        match &mut found {
                            Some(part) => part.extend(at, values),
                            None => found = Some(Part::through(at, values)),
                        }
                        true
                    });
                }
            }
        }
        self.parts.insert((f, lo, hi), found);
        found
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
        if ok
            && hi - lo >= WIDE
            && let Ok(s) = self.summary(funs, f, lo, hi)
        {
            // A line need not keep all factors of two of its modulus.
            let small = bits < 62 && s.line.m.is_multiple_of(1 << bits);
            if s.line.m == 0 || bits < 62 {
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
        ok = ok && self.afford(points, funs.cost(f)).is_ok();
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
    use crate::funs::Op;

    /// x - q·round(x / q) in words of 64 bits.
    fn reduced(funs: &mut Funs, q: i64) -> FunId {
        let wide = funs.lin(64, 1 << 39, (1 << 40) / q, &[]);
        let mut op = |width: u8, op: Op, arg: FunId| funs.word(width, &op, &[arg]).expect("one");
        let part = op(24, Op::Slice { lo: 40 }, wide);
        let quotient = op(64, Op::Sext, part);
        funs.lin(64, 0, 1, &[(quotient, -q)])
    }

    /// Takes wide intervals of one function that contain each other or overlap. The search finds
    /// what all points say, and hundreds of intervals cost less than all points once.
    #[test]
    fn wide_intervals_of_one_function_share_their_pieces() {
        let (mut funs, q, end) = (Funs::default(), 30011i64, 1i64 << 22);
        let f = reduced(&mut funs, q);
        let mut enumeration = Enumeration::new();
        for i in 0..300 {
            let (lo, hi) = (-end + 997 * (i * 37 % 300), end - 1009 * (i * 71 % 300));
            let s = enumeration.summary(&mut funs, f, lo, hi).expect("few pieces");
            assert_eq!((s.line.m, s.line.modulo(q as u32)), (q as u64, Some((1, 0))));
            assert_eq!(enumeration.linear(&mut funs, f, lo, hi, 32), None);
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
        let (spent, once) = ((1 << 36) - enumeration.budget, funs.cost(f) as u64 * 2 * end as u64);
        assert!(spent < once, "{spent} for all, {once} for each point once");
    }

    /// What holds for the parts holds for the whole, however it is cut, down to single points.
    #[test]
    fn parts_join_to_the_whole() {
        let line = |x: i64| 5 * x - 7;
        let steps = |x: i64| 3 * x - 12 * x.div_euclid(10);
        let odd = |x: i64| if x == 41 { 1000 } else { 2 * x };
        for f in [&line as &dyn Fn(i64) -> i64, &steps, &odd] {
            let values = |lo: i64, hi: i64| -> Vec<i64> { (lo..=hi).map(f).collect() };
            let part = |lo: i64, hi: i64| Part::through(lo, &values(lo, hi));
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
