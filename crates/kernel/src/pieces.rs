//! Functions of one variable over wide intervals, cut into pieces on which they are affine.
//!
//! A conditional correction of a 32-bit word takes 2^32 values but is affine between a few
//! breakpoints. Each piece is found by evaluating the function's nodes as `k + c·x` over exact
//! integers. If a node is not affine on an interval (it wraps, or its sign changes), the interval is
//! halved. Intervals of a few hundred points are enumerated.

use crate::fun::{Fun, FunId, FunOp, Funs};

/// What a function is on a part of an interval, in order and without gaps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// `k + c·x` for x in \[lo, hi\].
    Affine {
        /// Least x.
        lo: i64,
        /// Greatest x.
        hi: i64,
        /// Constant.
        k: i128,
        /// Coefficient.
        c: i128,
    },
    /// The values from x = lo on.
    Values {
        /// Least x.
        lo: i64,
        /// One for each x.
        values: Vec<i64>,
    },
}

/// Points that are enumerated rather than halved once more.
const LEAF: i64 = 256;

/// Tells what `f` is over `[lo, hi]`, piece by piece until `tell` returns false, looking at `most` intervals at most.
/// [`None`] if there are too many, or more than `budget` evaluations of an operation are needed, which are taken from
/// it: some may have been told then.
pub fn each_piece(
    funs: &Funs,
    f: FunId,
    (lo, hi): (i64, i64),
    most: usize,
    budget: &mut u64,
    tell: &mut dyn FnMut(Piece) -> bool,
) -> Option<()> {
    // So that no coefficient times a point leaves 128 bits.
    if lo < -(1 << 50) || hi > 1 << 50 {
        return None;
    }
    let steps = funs.program(f);
    let size = steps.len() as u64;
    let mut todo = vec![(lo, hi)];
    let mut seen = 0;
    while let Some((lo, hi)) = todo.pop() {
        seen += 1;
        *budget = budget.checked_sub(size)?;
        if seen > most {
            return None;
        }
        let piece = if let Some(Line { k, c }) = line(&steps, lo, hi) {
            Piece::Affine { lo, hi, k, c }
        } else if hi - lo < LEAF {
            *budget = budget.checked_sub(size * LEAF as u64)?;
            let mut values = Vec::with_capacity((hi - lo) as usize + 1);
            funs.enumerate(f, lo, hi, |_, v| {
                values.extend_from_slice(v);
                true
            });
            Piece::Values { lo, values }
        } else {
            let middle = lo + (hi - lo) / 2;
            todo.push((middle + 1, hi));
            todo.push((lo, middle));
            continue;
        };
        if !tell(piece) {
            break;
        }
    }
    Some(())
}

/// `k + c·x`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Line {
    k: i128,
    c: i128,
}

impl Line {
    const fn constant(k: i128) -> Line {
        Line { k, c: 0 }
    }
    /// Least and greatest value; [`None`] beyond 128 bits.
    fn ends(self, lo: i64, hi: i64) -> Option<(i128, i128)> {
        let at = |x: i64| self.k.checked_add(self.c.checked_mul(x.into())?);
        let (a, b) = (at(lo)?, at(hi)?);
        Some((a.min(b), a.max(b)))
    }
}

/// The function as one line on `[lo, hi]`, if every step is one there.
fn line(steps: &[Fun], lo: i64, hi: i64) -> Option<Line> {
    let mut lines: Vec<Line> = Vec::with_capacity(steps.len());
    for step in steps {
        let whole = apply(step, &lines, lo, hi)?;
        // The multiple of 2^width that is taken away is the same at both ends, and so in between.
        let (min, max) = whole.ends(lo, hi)?;
        let half = 1i128 << (step.width - 1);
        let turns = (min + half) >> step.width;
        let one = (max + half) >> step.width == turns;
        lines.push(one.then_some(Line { k: whole.k - (turns << step.width), c: whole.c })?);
    }
    lines.pop()
}

/// One step before it wraps; [`None`] where it is not affine on the interval, or not seen to be.
fn apply(step: &Fun, lines: &[Line], lo: i64, hi: i64) -> Option<Line> {
    let arg = |i: usize| lines[step.args[i].0 as usize];
    let line = match &step.op {
        FunOp::Lin { k, x, c } => {
            let mut sum = Line { k: (*k).into(), c: (*x).into() };
            for (i, &c) in c.iter().enumerate() {
                sum.k = sum.k.checked_add(arg(i).k.checked_mul(c.into())?)?;
                sum.c = sum.c.checked_add(arg(i).c.checked_mul(c.into())?)?;
            }
            sum
        }
        FunOp::Floor(from) => {
            let (min, max) = arg(0).ends(lo, hi)?;
            if min >> from == max >> from {
                Line::constant(min >> from)
            } else {
                let whole = arg(0).c.trailing_zeros() >= u32::from(*from);
                whole.then_some(Line { k: arg(0).k >> from, c: arg(0).c >> from })?
            }
        }
        FunOp::Mul => match (arg(0), arg(1)) {
            (a, Line { k: m, c: 0 }) | (Line { k: m, c: 0 }, a) => {
                Line { k: a.k.checked_mul(m)?, c: a.c.checked_mul(m)? }
            }
            _ => return None,
        },
        FunOp::And => match (arg(0), arg(1)) {
            (Line { k, c: 0 }, Line { k: m, c: 0 }) => Line::constant(k & m),
            (a, Line { k: -1, c: 0 }) | (Line { k: -1, c: 0 }, a) => a,
            (_, Line { k: 0, c: 0 }) | (Line { k: 0, c: 0 }, _) => Line::constant(0),
            _ => return None,
        },
        FunOp::Less => {
            let (a, b) = (arg(0), arg(1));
            let (min, max) = Line { k: a.k - b.k, c: a.c - b.c }.ends(lo, hi)?;
            match (min, max) {
                (_, ..=-1) => Line::constant(-1),
                (0.., _) => Line::constant(0),
                _ => return None,
            }
        }
        FunOp::Select => match arg(0) {
            Line { k: 0, c: 0 } => arg(2),
            Line { c: 0, .. } => arg(1),
            _ => return None,
        },
    };
    (line.k.unsigned_abs() < 1 << 120 && line.c.unsigned_abs() < 1 << 62).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use ringforge_machine::graph::Op;

    /// Intervals that are looked at.
    const MOST: usize = 1 << 15;

    /// All pieces, those of one line that follow one another as one.
    fn pieces(funs: &mut Funs, f: FunId, lo: i64, hi: i64, budget: &mut u64) -> Option<Vec<Piece>> {
        let mut all: Vec<Piece> = Vec::new();
        each_piece(funs, f, (lo, hi), MOST, budget, &mut |piece| {
            match (all.last_mut(), &piece) {
                (
                    Some(Piece::Affine { hi, k, c, .. }),
                    Piece::Affine { hi: end, k: l, c: d, .. },
                ) if (*k, *c) == (*l, *d) => *hi = *end,
                _ => all.push(piece),
            }
            true
        })?;
        Some(all)
    }

    /// A random function of few operations, with constants near the ends of their words and of the interval.
    fn random(funs: &mut Funs, r: &mut StdRng) -> FunId {
        const WIDTHS: [u8; 8] = [1, 8, 13, 16, 20, 32, 40, 64];
        let mut all: Vec<FunId> = Vec::new();
        let near = |r: &mut StdRng, w: u8| {
            let ends =
                [0i64, 1, -1, i64::MAX >> (64 - w), 1 << (w.min(34) - 1), 1 << 17, -(1 << 20)];
            ends[r.random_range(0..ends.len())].wrapping_add(r.random_range(-2..=2))
        };
        for _ in 0..r.random_range(2..9) {
            let w = WIDTHS[r.random_range(0..WIDTHS.len())];
            let pick =
                |r: &mut StdRng| (!all.is_empty()).then(|| all[r.random_range(0..all.len())]);
            let of = |funs: &Funs, r: &mut StdRng, w: u8| {
                let same: Vec<FunId> =
                    all.iter().copied().filter(|f| funs.get(*f).width == w).collect();
                (!same.is_empty()).then(|| same[r.random_range(0..same.len())])
            };
            let op = |funs: &mut Funs, w: u8, op: Op, args: &[FunId]| {
                funs.word(w, &op, args).expect("a function")
            };
            let small = |r: &mut StdRng| [0, 1, -1, 2, 3, 8, 16, -256, 4591][r.random_range(0..9)];
            let kind = r.random_range(0..13);
            let made = match (kind, pick(r)) {
                (0..=2, x) => {
                    let terms: Vec<(FunId, i64)> = x.map(|x| (x, small(r))).into_iter().collect();
                    let (k, x) = (near(r, w), small(r));
                    Some(funs.lin(w, k, x, &terms))
                }
                (3, _) => {
                    let k = near(r, w);
                    Some(funs.constant(w, k))
                }
                (4, Some(x)) => {
                    let have = funs.get(x).width;
                    let lo = r.random_range(0..have);
                    let width = if r.random() { have - lo } else { r.random_range(1..=have - lo) };
                    Some(op(funs, width, Op::Slice { lo }, &[x]))
                }
                (5, Some(x)) => {
                    let y = pick(r).unwrap_or(x);
                    let width = funs.get(x).width + funs.get(y).width;
                    (width <= 64).then(|| op(funs, width, Op::Concat, &[x, y]))
                }
                (6, Some(x)) if funs.get(x).width < w => {
                    let kind = if r.random() { Op::Sext } else { Op::Zext };
                    Some(op(funs, w, kind, &[x]))
                }
                (7, Some(x)) => {
                    let w = funs.get(x).width;
                    let kind = [Op::Eq, Op::Ult, Op::Slt][r.random_range(0..3)].clone();
                    of(funs, r, w).map(|y| op(funs, 1, kind, &[x, y]))
                }
                (8, Some(x)) => {
                    let w = funs.get(x).width;
                    let kind = [Op::And, Op::Or, Op::Xor, Op::Mul][r.random_range(0..4)].clone();
                    let other = if r.random() {
                        let k = [0, -1, -1, 3][r.random_range(0..4)];
                        Some(funs.constant(w, k))
                    } else {
                        of(funs, r, w)
                    };
                    other.map(|y| {
                        if r.random() {
                            op(funs, w, kind, &[x, y])
                        } else {
                            op(funs, w, kind, &[y, x])
                        }
                    })
                }
                (9 | 10, Some(x)) => {
                    let w = funs.get(x).width;
                    of(funs, r, 1)
                        .zip(of(funs, r, w))
                        .map(|(c, y)| op(funs, w, Op::Select, &[c, x, y]))
                }
                (11 | 12, Some(x)) if funs.get(x).width >= w => {
                    let kind = if r.random() { Op::SatS } else { Op::SatU };
                    Some(op(funs, w, kind, &[x]))
                }
                _ => None,
            };
            all.extend(made);
        }
        all.last().copied().unwrap_or_else(|| funs.lin(64, 1, 1, &[]))
    }

    /// Pieces are the function, at their ends, in between, and where the next one begins.
    #[test]
    fn pieces_are_the_function() {
        let mut r = StdRng::seed_from_u64(8);
        let (mut affine, mut enumerated, mut none) = (0, 0, 0);
        for _ in 0..3000 {
            let mut funs = Funs::default();
            let f = random(&mut funs, &mut r);
            let size = 1i64 << r.random_range(1..35);
            let middle = [0, 1 << 15, -(1 << 31), 1 << 16, 5][r.random_range(0..5)];
            let (lo, hi) = (middle - r.random_range(0..size), middle + r.random_range(0..size));
            let Some(all) = pieces(&mut funs, f, lo, hi, &mut (1 << 22)) else {
                none += 1;
                continue;
            };
            let mut next = lo;
            for piece in &all {
                let (from, to) = match piece {
                    Piece::Affine { lo, hi, .. } => (*lo, *hi),
                    Piece::Values { lo, values } => (*lo, lo + values.len() as i64 - 1),
                };
                assert!(from == next && from <= to, "a gap before {from}");
                next = to + 1;
                let between: Vec<i64> = (0..6).map(|_| r.random_range(from..=to)).collect();
                for x in
                    [from, (from + 1).min(to), (to - 1).max(from), to].into_iter().chain(between)
                {
                    let value = match piece {
                        Piece::Affine { k, c, .. } => k + c * i128::from(x),
                        Piece::Values { lo, values } => values[(x - lo) as usize].into(),
                    };
                    let is = i128::from(funs.at(f, x));
                    assert_eq!(value, is, "at {x} of [{from}, {to}]: {:?}", funs.get(f));
                }
                match piece {
                    Piece::Affine { .. } => affine += 1,
                    Piece::Values { .. } => enumerated += 1,
                }
            }
            assert_eq!(next, hi + 1);
        }
        assert!(affine > 5000 && enumerated > 500 && none > 5, "{affine} {enumerated} {none}");
    }

    /// Bits of two lines are those of no line, whatever the constant of either is.
    #[test]
    fn bits_of_two_lines_are_no_line() {
        let mut funs = Funs::default();
        for (op, k) in [(Op::And, -1), (Op::And, 0), (Op::Or, 0), (Op::Xor, -1)] {
            let (a, b) = (funs.lin(32, 0, 1, &[]), funs.lin(32, k, 2, &[]));
            for args in [[a, b], [b, a]] {
                let f = funs.word(32, &op, &args).expect("a function");
                let all = pieces(&mut funs, f, 1, 1000, &mut (1 << 20)).expect("few points");
                assert!(all.iter().all(|p| matches!(p, Piece::Values { .. })), "{op:?} {k}");
            }
        }
    }

    /// Comparisons, bits and products of all lines through few points, on all their intervals.
    #[test]
    fn operations_of_small_lines() {
        const OPS: [Op; 7] = [Op::Eq, Op::Ult, Op::Slt, Op::And, Op::Or, Op::Xor, Op::Mul];
        let lines = || (-2..=2i64).flat_map(|k| (-1..=2i64).map(move |x| (k, x)));
        for op in OPS {
            let width = if matches!(op, Op::Eq | Op::Ult | Op::Slt) { 1 } else { 4 };
            for (one, other) in lines().flat_map(|a| lines().map(move |b| (a, b))) {
                let mut funs = Funs::default();
                let args = [one, other].map(|(k, x)| funs.lin(4, k, x, &[]));
                let f = funs.word(width, &op, &args).expect("a function");
                for (lo, hi) in (-3..=3i64).flat_map(|lo| (lo..=3).map(move |hi| (lo, hi))) {
                    let all = pieces(&mut funs, f, lo, hi, &mut 2000).expect("few points");
                    for piece in all {
                        let (from, to) = match &piece {
                            Piece::Affine { lo, hi, .. } => (*lo, *hi),
                            Piece::Values { lo, values } => (*lo, lo + values.len() as i64 - 1),
                        };
                        for x in from..=to {
                            let value = match &piece {
                                Piece::Affine { k, c, .. } => k + c * i128::from(x),
                                Piece::Values { lo, values } => values[(x - lo) as usize].into(),
                            };
                            let is = i128::from(funs.at(f, x));
                            assert_eq!(value, is, "{op:?} of {one:?} and {other:?} at {x}");
                        }
                    }
                }
            }
        }
    }

    /// A comparison is -1 or 0, as words of its width are read.
    #[test]
    fn comparisons_are_of_any_width() {
        for width in [1, 2, 8, 64] {
            let mut funs = Funs::default();
            let args = [funs.lin(64, 0, 1, &[]), funs.constant(64, 3)].into_iter().collect();
            let less = Fun { width, op: FunOp::Less, args };
            let f = funs.checked(less).expect("a function");
            let all = pieces(&mut funs, f, -10_000, 10_000, &mut 1000).expect("few pieces");
            let is = |p: Option<&Piece>| {
                p.map_or(2, |p| if let Piece::Affine { k, .. } = p { *k } else { 2 })
            };
            assert_eq!((is(all.first()), is(all.last())), (-1, 0), "{width}");
        }
    }

    /// Slices of all lines through few points, on all their intervals: one whose least value times a power of two is
    /// the greatest is not constant for that.
    #[test]
    fn slices_of_small_lines() {
        let lines = (-2..=3i64).flat_map(|k| (-2..=2i64).map(move |x| (k, x)));
        for ((k, x), from) in lines.flat_map(|l| (0..=3u8).map(move |from| (l, from))) {
            let mut funs = Funs::default();
            let args = [funs.lin(6, k, x, &[])];
            let f = funs.word(6 - from, &Op::Slice { lo: from }, &args).expect("a function");
            for (lo, hi) in (-3..=16i64).flat_map(|lo| (lo..=16).map(move |hi| (lo, hi))) {
                let all = pieces(&mut funs, f, lo, hi, &mut 2000).expect("few points");
                for piece in all {
                    let (from, to) = match &piece {
                        Piece::Affine { lo, hi, .. } => (*lo, *hi),
                        Piece::Values { lo, values } => (*lo, lo + values.len() as i64 - 1),
                    };
                    for at in from..=to {
                        let value = match &piece {
                            Piece::Affine { k, c, .. } => k + c * i128::from(at),
                            Piece::Values { lo, values } => values[(at - lo) as usize].into(),
                        };
                        assert_eq!(value, i128::from(funs.at(f, at)), "{k} + {x}·{at}");
                    }
                }
            }
        }
    }

    /// Points far from zero are not looked at: a coefficient times one of these would leave 128 bits.
    #[test]
    fn intervals_end_at_2_to_the_50() {
        let mut funs = Funs::default();
        let f = funs.lin(64, 0, 1, &[]);
        let end = 1i64 << 50;
        assert!(pieces(&mut funs, f, -end, end, &mut 1000).is_some());
        assert_eq!(pieces(&mut funs, f, -end - 1, 0, &mut 1000), None);
        assert_eq!(pieces(&mut funs, f, 0, end + 1, &mut 1000), None);
    }

    /// On 2^41 points, too many to be enumerated, each of these functions is a line but near few points.
    #[test]
    fn wide_functions_are_few_pieces() {
        let end = 1i64 << 40;
        let mut funs = Funs::default();
        let (x, low, high) =
            (funs.lin(64, 0, 1, &[]), funs.lin(48, 0, 1, &[]), funs.constant(16, 5));
        let [zero, ones, three] = [0, -1, 3].map(|k| funs.constant(64, k));
        let mut all = Vec::new();
        for (op, k) in [
            (Op::And, zero),
            (Op::And, ones),
            (Op::Or, zero),
            (Op::Or, ones),
            (Op::Xor, zero),
            (Op::Xor, ones),
            (Op::Mul, zero),
            (Op::Mul, three),
            (Op::Eq, three),
            (Op::Slt, three),
            (Op::Ult, three),
        ] {
            let width = if matches!(op, Op::Eq | Op::Slt | Op::Ult) { 1 } else { 64 };
            all.extend([[x, k], [k, x]].map(|args| (width, op.clone(), args.to_vec())));
        }
        all.push((64, Op::Zext, vec![low]));
        all.push((64, Op::Concat, vec![low, high]));
        all.push((24, Op::Slice { lo: 40 }, vec![x]));
        for (width, op, args) in all {
            let f = funs.word(width, &op, &args).expect("a function");
            let found = pieces(&mut funs, f, -end, end, &mut 100_000).expect("few pieces");
            assert!(found.len() <= 5, "{op:?}: {} pieces", found.len());
            for at in [-end, -1, 0, 1, 2, 3, 4, 1000, end] {
                let value = found.iter().find_map(|piece| match piece {
                    Piece::Affine { lo, hi, k, c } => {
                        (*lo <= at && at <= *hi).then(|| k + c * i128::from(at))
                    }
                    Piece::Values { lo, values } => {
                        values.get(usize::try_from(at - lo).ok()?).map(|v| i128::from(*v))
                    }
                });
                assert_eq!(value, Some(funs.at(f, at).into()), "{op:?} at {at}");
            }
        }
    }
}
