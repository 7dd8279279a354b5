//! What functions are over wide intervals, kept part by part, so that an interval inside another costs little.
//!
//! Sums of products by constants take as many intervals as there are sums, and one reduction of all of them is one
//! function. What it is on an interval is told by the parts that lie inside, of which blocks are told together, and by
//! the two at its ends, which are cut.

use crate::funs::{FunId, Funs};
use ringforge_kernel::pieces::{self, Piece};

/// Intervals looked at before a function counts as having too many pieces.
pub const MOST: usize = 1 << 15;

/// The pieces of `f` over `[lo, hi]`, those of one line that follow one another as one; [`None`] if there are too many,
/// or more than `budget` evaluations of an operation are needed, which are taken from it.
pub fn pieces(funs: &mut Funs, f: FunId, lo: i64, hi: i64, budget: &mut u64) -> Option<Vec<Piece>> {
    let mut all = Vec::new();
    each_piece(funs, f, (lo, hi), MOST, budget, &mut |piece| all.push(piece))?;
    Some(all)
}

/// Tells the pieces one after another, looking at `most` intervals at most. Where it is [`None`] some may have been told.
fn each_piece(
    funs: &mut Funs,
    f: FunId,
    interval: (i64, i64),
    most: usize,
    budget: &mut u64,
    tell: &mut dyn FnMut(Piece),
) -> Option<()> {
    // The last affine piece may go on.
    let mut open: Option<Piece> = None;
    pieces::each_piece(funs, f, interval, most, budget, &mut |piece| {
        match (&mut open, &piece) {
            (Some(Piece::Affine { hi, k, c, .. }), Piece::Affine { hi: end, k: l, c: d, .. })
                if (*k, *c) == (*l, *d) =>
            {
                *hi = *end
            }
            _ => {
                if let Some(last) = open.replace(piece) {
                    tell(last);
                }
            }
        }
        true
    })?;
    if let Some(last) = open {
        tell(last);
    }
    Some(())
}

/// Parts that are told together.
const BLOCK: usize = 64;

/// What is told of consecutive points.
pub trait Told: Clone {
    /// Of a piece.
    fn of(piece: &Piece) -> Self;
    /// Of these and those that follow.
    fn join(&mut self, next: &Self);
}

/// Least and greatest value.
impl Told for (i64, i64) {
    fn of(piece: &Piece) -> Self {
        match piece {
            Piece::Affine { lo, hi, k, c } => {
                let [a, b] = [*lo, *hi].map(|x| (k + c * i128::from(x)) as i64);
                (a.min(b), a.max(b))
            }
            Piece::Values { values, .. } => {
                values.iter().fold((i64::MAX, i64::MIN), |(l, h), &v| (l.min(v), h.max(v)))
            }
        }
    }

    fn join(&mut self, next: &Self) {
        *self = (self.0.min(next.0), self.1.max(next.1));
    }
}

/// A part of the interval, up to where the next one begins.
struct Part<T> {
    lo: i64,
    /// `k + c·x`, where it is that.
    line: Option<(i128, i128)>,
    told: T,
}

/// A function over an interval.
pub struct Profile<T> {
    lo: i64,
    hi: i64,
    parts: Vec<Part<T>>,
    /// Of [`BLOCK`] parts each.
    blocks: Vec<T>,
}

impl<T: Told> Profile<T> {
    /// A function over `[lo, hi]` and over what was known of it, of which `[lo, hi]` has a point; [`None`] where it has too
    /// many pieces, `most` intervals that are looked at, or more than `budget` evaluations are needed, which are taken from
    /// it. What was known stays where that is so.
    pub fn covering<'a>(
        known: &'a mut Option<Profile<T>>,
        (funs, f): (&mut Funs, FunId),
        (lo, hi): (i64, i64),
        most: usize,
        budget: &mut u64,
    ) -> Option<&'a Profile<T>> {
        let inside = |p: &Profile<T>| p.lo <= lo && hi <= p.hi;
        let near = known.as_ref().filter(|p| lo <= p.hi && p.lo <= hi);
        // Where little room is left beside what is known, it is looked at afresh.
        let near = near.filter(|p| inside(p) || 4 * p.parts.len() <= most);
        let near = near.map(|p| (p.lo, p.hi, p.parts.len()));
        let (below, above) = match near {
            Some((from, to, _)) if from <= lo && hi <= to => return known.as_ref(),
            Some((from, to, _)) => ((lo, from - 1), (to + 1, hi)),
            None => ((lo, hi), (1, 0)),
        };
        // Parts stay few, however often one more is put to them.
        let left = most.checked_sub(2 * near.map_or(0, |p| p.2))?;
        let mut ends = [below, above].map(|_| Vec::new());
        for (part, found) in [below, above].into_iter().zip(&mut ends) {
            if part.0 <= part.1 {
                let tell = &mut |piece: Piece| found.push(Part::of(&piece));
                each_piece(funs, f, part, left, budget, tell)?;
            }
        }
        // All parts are put together again.
        *budget = budget.checked_sub(near.map_or(0, |p| p.2 as u64))?;
        let [mut parts, after] = ends;
        let (mut from, mut to) = (lo, hi);
        if near.is_some()
            && let Some(p) = known.take()
        {
            (from, to) = (lo.min(p.lo), hi.max(p.hi));
            parts.extend(p.parts);
        }
        parts.extend(after);
        let blocks = parts.chunks(BLOCK).filter_map(|c| joined(c.iter().map(|p| &p.told)));
        let blocks = blocks.collect();
        Some(known.insert(Profile { lo: from, hi: to, parts, blocks }))
    }

    /// What is told of `[lo, hi]`, which must lie inside; points of parts that are cut are evaluated again.
    pub fn over(&self, funs: &mut Funs, f: FunId, lo: i64, hi: i64) -> Option<T> {
        if lo < self.lo || hi > self.hi || lo > hi {
            return None;
        }
        let at = |x: i64| self.parts.partition_point(|p| p.lo <= x).checked_sub(1);
        let (first, last) = (at(lo)?, at(hi)?);
        if first == last {
            return Some(self.cut(funs, f, first, lo, hi));
        }
        let mut all = self.cut(funs, f, first, lo, self.end(first));
        let mut next = first + 1;
        while next < last {
            if next % BLOCK == 0 && next + BLOCK <= last {
                all.join(&self.blocks[next / BLOCK]);
                next += BLOCK;
            } else {
                all.join(&self.parts[next].told);
                next += 1;
            }
        }
        let end = self.cut(funs, f, last, self.parts[last].lo, hi);
        all.join(&end);
        Some(all)
    }

    fn end(&self, part: usize) -> i64 {
        self.parts.get(part + 1).map_or(self.hi, |next| next.lo - 1)
    }

    /// A part from lo to hi.
    fn cut(&self, funs: &mut Funs, f: FunId, at: usize, lo: i64, hi: i64) -> T {
        let part = &self.parts[at];
        if (lo, hi) == (part.lo, self.end(at)) {
            return part.told.clone();
        }
        T::of(&match part.line {
            Some((k, c)) => Piece::Affine { lo, hi, k, c },
            None => {
                let mut values = Vec::new();
                funs.enumerate(f, lo, hi, |_, v| {
                    values.extend_from_slice(v);
                    true
                });
                Piece::Values { lo, values }
            }
        })
    }
}

impl<T: Told> Part<T> {
    fn of(piece: &Piece) -> Part<T> {
        let (lo, line) = match piece {
            Piece::Affine { lo, k, c, .. } => (*lo, Some((*k, *c))),
            Piece::Values { lo, .. } => (*lo, None),
        };
        Part { lo, line, told: T::of(piece) }
    }
}

fn joined<'a, T: Told + 'a>(mut all: impl Iterator<Item = &'a T>) -> Option<T> {
    let mut first = all.next()?.clone();
    all.for_each(|next| first.join(next));
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::funs::{Fun, FunOp};
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    fn op(funs: &mut Funs, width: u8, op: FunOp, args: &[FunId]) -> FunId {
        funs.intern(Fun { width, op, args: args.iter().copied().collect() })
    }

    /// x - q·floor(x·c / 2^24) in words of `width` bits, c being 2^24 / q.
    pub(crate) fn reduced(funs: &mut Funs, width: u8, q: i64) -> FunId {
        let wide = funs.lin(width, 1 << 23, (1 << 24) / q, &[]);
        let part = op(funs, width - 24, FunOp::Slice(24), &[wide]);
        let part = op(funs, width, FunOp::Sext, &[part]);
        funs.lin(width, 0, 1, &[(part, -q)])
    }

    /// Of many intervals, in any order: what points tell, with the values at both ends in order.
    #[test]
    fn parts_of_a_profile_tell_what_points_do() {
        let mut random = StdRng::seed_from_u64(3);
        let mut funs = Funs::default();
        // Few pieces and many points, many pieces, points alone (words that wrap all the time).
        let functions =
            [(60, 30011), (48, 257), (33, 65521)].map(|(w, q)| reduced(&mut funs, w, q));
        let (mut cut, mut whole) = (0, 0);
        for f in functions {
            let mut known: Option<Profile<(i64, i64)>> = None;
            for round in 0..60 {
                let size = 1i64 << random.random_range(9..17);
                let lo = random.random_range(-size..size);
                let hi = lo + random.random_range(0..size);
                let before = known.as_ref().map(|p| (p.lo, p.hi));
                let mut budget = 1 << 40;
                let over =
                    Profile::covering(&mut known, (&mut funs, f), (lo, hi), MOST, &mut budget);
                let Some(_) = over else { panic!("{lo} {hi}: few pieces") };
                let profile = known.as_ref().expect("known");
                assert!(profile.lo <= lo && hi <= profile.hi);
                if let Some((l, h)) = before.filter(|b| lo <= b.1 && b.0 <= hi) {
                    assert_eq!((profile.lo, profile.hi), (l.min(lo), h.max(hi)), "{round}");
                    whole += usize::from(l <= lo && hi <= h && budget == 1 << 40);
                }
                let found = profile.over(&mut funs, f, lo, hi).expect("inside");
                let mut range = (i64::MAX, i64::MIN);
                funs.enumerate(f, lo, hi, |_, values| {
                    range = values.iter().fold(range, |(l, h), &v| (l.min(v), h.max(v)));
                    true
                });
                assert_eq!(found, range, "[{lo}, {hi}]");
                cut += usize::from(profile.parts.len() > 2);
                let outside = [(profile.lo - 1, hi), (lo, profile.hi + 1), (hi + 1, hi)];
                assert!(outside.iter().all(|&(l, h)| profile.over(&mut funs, f, l, h).is_none()));
            }
        }
        assert!(cut > 100 && whole > 10, "{cut} {whole}");
    }

    #[test]
    fn of_too_many_pieces_what_was_known_stays() {
        let mut funs = Funs::default();
        let f = reduced(&mut funs, 48, 17);
        let mut known: Option<Profile<(i64, i64)>> = None;
        let budget = &mut (1 << 40);
        let of =
            |known: &mut Option<Profile<(i64, i64)>>, funs: &mut Funs, hi: i64, b: &mut u64| {
                Profile::covering(known, (funs, f), (0, hi), 100, b).is_some()
            };
        assert!(of(&mut known, &mut funs, 4000, budget));
        let parts = known.as_ref().map(|p| p.parts.len());
        assert!(!of(&mut known, &mut funs, 40000, budget), "more than 100 are looked at");
        assert_eq!(known.as_ref().map(|p| (p.hi, p.parts.len())), parts.map(|p| (4000, p)));
        // Nor is more taken in pieces than at once.
        let all = (4500..40000).step_by(500).all(|hi| of(&mut known, &mut funs, hi, budget));
        assert!(!all);
        let mut little = 10;
        assert!(!of(&mut None, &mut funs, 4000, &mut little), "no budget");
    }
}
