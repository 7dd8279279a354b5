//! Ranges and lines against what each point says, and what they cost.

use super::*;
use ringforge_machine::graph::Op;

fn table() -> Enumerated {
    Enumerated::new(1 << 30)
}

/// x - q·round(x·v / 2^16), a Barrett reduction of 16 bits.
fn barrett(e: &mut Enumerated, q: i64) -> FunId {
    let v = (65536 + q / 2) / q;
    let wide = e.funs.lin(32, 1 << 15, v, &[]);
    let op = Op::Slice { lo: 16 };
    let quotient = e.funs.word(16, &op, &[wide]).expect("a function");
    e.funs.lin(16, 0, 1, &[(quotient, -q)])
}

#[test]
fn a_reduction_is_a_line_modulo_q_and_narrow() {
    let mut e = table();
    let f = barrett(&mut e, 4591);
    let (lo, hi) = e.range(f, -20000, 20000).unwrap();
    assert!(lo < -2295 && hi > 2295 && hi - lo < 6000);
    for m in [4591u128, 2 * 4591] {
        assert_eq!(e.line(f, -20000, 20000, m), (m == 4591).then_some((1, 0)), "{m}");
    }
    assert_eq!(e.line(f, 0, 100, 1 << 16), Some((1, 0)));
    // Growing to either side keeps the line, or refutes it.
    assert_eq!(e.line(f, -100, 100, 1 << 16), Some((1, 0)));
    assert_eq!(e.line(f, -5000, 100, 1 << 16), None);
}

#[test]
fn every_point_counts() {
    for at in [0i64, 1, 2, 511, 512, 1023, 1024, 4000] {
        for m in [97u128, 96, 1 << 20, (1 << 40) + 15] {
            let mut e = table();
            // 5x + 3 but at one point.
            let x = e.funs.lin(64, 0, 1, &[]);
            let there = e.funs.constant(64, at);
            let eq = e.funs.word(1, &Op::Eq, &[x, there]).expect("a function");
            let f = e.funs.lin(64, 3, 5, &[(eq, 1)]);
            assert_eq!(e.line(f, 0, 4000, m), None, "{at} {m}");
            assert!(e.line(f, at + 1, 9000, m).is_some());
        }
    }
}

#[test]
fn values_at_the_ends_of_64_bits_are_not_mistaken() {
    for v in [i64::MIN, i64::MAX, i64::MIN + 1, (1 << 62) + 5] {
        let m = 4591;
        let ok = on_line(0, &[v], m, 0, 0);
        assert_eq!(ok, i128::from(v) % 4591 == 0, "{v}");
        let d = i128::from(v).rem_euclid(4591) as u64;
        assert!(on_line(0, &[v], m, 0, d));
    }
    // What is a multiple of 4591 if it wraps, and else is none.
    let d = ((1u64 << 63) % 4591) as i64;
    for (v, d) in [(i64::MIN, d), (i64::MIN + 1, (d + 1) % 4591)] {
        assert_eq!(v.wrapping_sub(d) % 4591, 0);
        assert!(!on_line(0, &[v], 4591, 0, d as u64), "{v}");
    }
    // Of an even modulus its odd half is no multiple.
    for m in [2 * 4591u128, 6, 96] {
        assert!(!on_line(0, &[(m / 2) as i64], m, 0, 0), "{m}");
        assert!(on_line(0, &[3 * m as i64], m, 0, 0), "{m}");
    }
}

#[test]
fn wide_intervals_go_by_pieces_and_the_budget_ends() {
    let mut e = table();
    let f = e.funs.lin(32, 7, 3, &[]);
    assert_eq!(e.range(f, -(1 << 29), 1 << 29), Some((7 - (3 << 29), 7 + (3 << 29))));
    assert_eq!(e.line(f, -(1 << 29), 1 << 29, 97), Some((3, 7)));
    let mut e = Enumerated::new(1000);
    let f = barrett(&mut e, 4591);
    assert_eq!(e.range(f, 0, 5000), None);
    assert_eq!(e.line(f, 0, 5000, 4591), None);
    assert!(e.range(f, 0, 10).is_some());
}

/// |x| is x on one side and -x on the other: what is known of one says nothing of the other, or of both.
#[test]
fn a_line_is_one_within_its_interval() {
    let mut e = table();
    let (x, zero) = (e.funs.lin(32, 0, 1, &[]), e.funs.constant(32, 0));
    let less = e.funs.word(1, &Op::Slt, &[x, zero]).expect("a function");
    let minus = e.funs.lin(32, 0, -1, &[]);
    let f = e.funs.word(32, &Op::Select, &[less, minus, x]).expect("a function");
    assert_eq!(e.line(f, 0, 100, 97), Some((1, 0)));
    assert_eq!(e.line(f, -100, 0, 97), Some((96, 0)));
    assert_eq!(e.line(f, -100, -1, 97), Some((96, 0)));
    assert_eq!(e.line(f, -1, 0, 97), Some((96, 0)));
    assert_eq!(e.line(f, -1, 1, 97), None);
    // Over wide intervals too, where it is taken apart into pieces.
    assert_eq!(e.line(f, -(1 << 20), 0, 97), Some((96, 0)));
    assert_eq!(e.line(f, -(1 << 20), 1 << 20, 97), None);
    assert_eq!(e.range(f, -(1 << 20), 1 << 21), Some((0, 1 << 21)));
}

/// One value by itself, whatever it is: all residues of small numbers, and those around multiples of others.
#[test]
fn a_single_value_is_on_the_line_or_not() {
    for (m, c, d) in [(7u128, 3u64, 5u64), (12, 7, 11), (97, 0, 96), (4591, 4590, 17)] {
        for at in [-5i64, 0, 3, 1 << 40] {
            let line = |v: i64| {
                let on = i128::from(c) * i128::from(at) + i128::from(d);
                (i128::from(v) - on) % m as i128 == 0
            };
            for v in -2 * m as i64..2 * m as i64 {
                assert_eq!(on_line(at, &[v], m, c, d), line(v), "{v} at {at} modulo {m}");
            }
        }
    }
    // Larger moduli, up to the largest that a word holds.
    for m in [(1u128 << 31) - 1, 1 << 31, (1 << 40) + 15, 3 << 45, 3 << 61, (1 << 63) - 25] {
        for v in [1, m as i64 - 1, m as i64, (m as i64).saturating_add(1), -(m as i64), -1, 0] {
            let multiple = i128::from(v) % m as i128 == 0;
            assert_eq!(on_line(0, &[v], m, 0, 0), multiple, "{v} modulo {m}");
            assert_eq!(on_line(1, &[v], m, 1, m as u64 - 1), multiple, "{v} modulo {m}");
        }
    }
}

/// Lines of great moduli are followed without a wrap: the ninth value is on the line modulo 2^64 alone.
#[test]
fn lines_of_great_moduli_do_not_wrap() {
    let (m, c) = ((1u128 << 61) + 1, 1u64 << 61);
    let least = |j: i128| {
        let x = (j << 61).rem_euclid(m as i128);
        (if 2 * x > m as i128 { x - m as i128 } else { x }) as i64
    };
    let mut values: Vec<i64> = (0..9).map(least).collect();
    assert!(on_line(0, &values, m, c, 0));
    assert_eq!(values[8], -8);
    values[8] = 0;
    assert!(!on_line(0, &values, m, c, 0));
    // Of a modulus that a word with sign does not hold: 0, c and 2c - m, and not 2c - m + 2.
    let (m, c) = ((1u128 << 63) + 3, (1u64 << 62) + 2);
    assert!(on_line(0, &[0, c as i64, 1], m, c, 0));
    assert!(!on_line(0, &[0, c as i64, 3], m, c, 0));
    // Of the largest that it holds, by steps that go around.
    let (m, c) = ((1u128 << 63) - 25, (1u64 << 63) - 26);
    assert!(on_line(0, &[5, 4, 3, 2, 1, 0, -1, -2], m, c, 5));
    assert!(!on_line(0, &[5, 4, 3, 2, 1, 0, -2], m, c, 5));
}

/// What is a line modulo a power of two alone is none: of great moduli, of even ones, and after many values.
#[test]
fn a_line_modulo_a_power_of_two_is_none_of_another_modulus() {
    let (m, c) = ((1i64 << 61) + 1, 1u64 << 61);
    // The last one is on the line modulo 2^64 alone, and the differences before it fit 64 bits.
    let mut values = vec![0, -1, -2, -3, m - 4, 2 * m - 5, 1 - (1 << 61)];
    assert!(!on_line(0, &values, m as u128, c, 0));
    values.truncate(6);
    assert!(on_line(0, &values, m as u128, c, 0));
    assert!(!on_line(0, &[1 << 58], 6, 0, 0));
    let mut values: Vec<i64> = (0..2048).collect();
    assert!(on_line(0, &values, 97, 1, 0));
    values[1024..].iter_mut().for_each(|v| *v -= 2048);
    assert!(!on_line(0, &values, 97, 1, 0));
}

/// What is found counts, and what is known already does not.
#[test]
fn facts_are_counted_once() {
    let mut e = table();
    let f = e.funs.lin(64, 0, 1, &[]);
    for (hi, facts) in [(9, 1), (9, 1), (20, 2), (15, 2), (9, 2), (20, 2)] {
        assert_eq!(e.line(f, 0, hi, 7), Some((1, 0)));
        assert_eq!(e.facts, facts, "up to {hi}");
    }
    assert_eq!((e.range(f, 0, 9), e.facts), (Some((0, 9)), 3));
    assert_eq!((e.range(f, 0, 9), e.facts), (Some((0, 9)), 3));
    assert_eq!((e.range(f, -9, 20_000), e.facts), (Some((-9, 20_000)), 4), "of several parts");
}

/// x to the middle of an interval, and from there on 2x less the middle: of that piece the first point is on the
/// line of the others, and so are the ends and all points that are tried first.
#[test]
fn of_a_piece_the_slope_counts() {
    let (middle, m) = (97 * 3000 + 1, 97);
    let mut e = table();
    let (x, a) = (e.funs.lin(32, 0, 1, &[]), e.funs.constant(32, middle + 1));
    let less = e.funs.word(1, &Op::Slt, &[x, a]).expect("a function");
    let steep = e.funs.lin(32, -middle - 1, 2, &[]);
    let f = e.funs.word(32, &Op::Select, &[less, x, steep]).expect("a function");
    let mut slopes = Vec::new();
    let few = each_piece(&e.funs, f, (0, 2 * middle), 1000, &mut (1 << 30), &mut |piece| {
        let Piece::Affine { c, .. } = piece else { panic!("{piece:?}") };
        slopes.push(c);
        true
    });
    slopes.dedup();
    assert_eq!((few, slopes), (Some(()), vec![1, 2]));
    assert_eq!(e.line(f, 0, 2 * middle, m), None);
    assert_eq!(e.line(f, 0, middle + 1, m), Some((1, 0)));
}

#[test]
fn one_point_is_looked_at() {
    let mut e = table();
    let f = e.funs.lin(64, 3, 5, &[]);
    assert_eq!(e.range(f, 4, 4), Some((23, 23)));
    // Whatever the slope is: the least one.
    for m in [2u128, 7, 100, 1 << 10] {
        assert_eq!(e.line(f, 4, 4, m), Some((0, 23 % m as u64)));
    }
    let end = e.funs.lin(64, 0, 1, &[]);
    assert_eq!(e.line(end, i64::MAX, i64::MAX, 7), Some((0, i64::MAX as u64 % 7)));
    assert_eq!(e.range(end, i64::MAX, i64::MAX), Some((i64::MAX, i64::MAX)));
}

/// Intervals one after the other, that touch, overlap, or lie within each other, give what each gives alone.
#[test]
fn what_is_kept_is_what_would_be_found() {
    let intervals =
        [(0, 100), (-100, -1), (0, 200), (0, 201), (-1, 201), (50, 60), (-300, 0), (7, 7)];
    for skip in 0..intervals.len() {
        let order = || intervals.iter().cycle().skip(skip).take(intervals.len());
        // |x|, and where it is taken to be negative.
        let mut e = table();
        let (x, zero) = (e.funs.lin(32, 0, 1, &[]), e.funs.constant(32, 0));
        let less = e.funs.word(1, &Op::Slt, &[x, zero]).expect("a function");
        let minus = e.funs.lin(32, 0, -1, &[]);
        let f = e.funs.word(32, &Op::Select, &[less, minus, x]).expect("a function");
        for &(lo, hi) in order() {
            let size = |x: i64| x.abs();
            let all = (lo..=hi).map(size);
            let range = (all.clone().min().unwrap(), all.max().unwrap());
            assert_eq!(e.range(f, lo, hi), Some(range), "[{lo}, {hi}]");
            let line = match (lo, hi) {
                (lo, hi) if lo == hi => Some((0, size(lo) as u64)),
                (0.., _) => Some((1, 0)),
                (_, ..=0) => Some((96, 0)),
                _ => None,
            };
            assert_eq!(e.line(f, lo, hi, 97), line, "[{lo}, {hi}] after others");
        }
    }
}

/// Each question costs its points, of all together the budget is enough or not; the same one costs nothing.
#[test]
fn work_adds_up() {
    let mut e = Enumerated::new(15_000);
    let squares: Vec<FunId> = (0..8)
        .map(|k| {
            let x = e.funs.lin(32, k, 1, &[]);
            e.funs.word(32, &Op::Mul, &[x, x]).expect("a function")
        })
        .collect();
    // A sum without arguments, and a product of two, at each of 1,000 points.
    for (i, &f) in squares.iter().enumerate() {
        let (lo, hi) = (-i128::from(i as u64), 999);
        let greatest = (i64::from(hi) - lo as i64) * (i64::from(hi) - lo as i64);
        let found = e.range(f, 0, 999);
        assert_eq!(found.map(|r| r.1), (i < 5).then_some(greatest), "{i}");
        assert_eq!(e.budget, 15_000 - 3_000 * (i as u64 + 1).min(5));
    }
    assert_eq!((e.range(squares[0], 0, 999), e.facts), (Some((0, 999 * 999)), 8));
    // Of a wide interval without pieces.
    let wide = 1i64 << 25;
    let cost = 3 * wide as u64;
    let mut e = Enumerated::new(0);
    let x = e.funs.lin(64, 0, 1, &[]);
    let f = e.funs.word(64, &Op::Mul, &[x, x]).expect("a function");
    let (mut spent, ends) = (1 << 40, (0, wide - 1));
    let few = each_piece(&e.funs, f, ends, LOOKED_AT, &mut spent, &mut |_| true);
    assert!(few.is_none());
    let tried = (1 << 40) - spent;
    let greatest = (wide - 1) * (wide - 1);
    for (budget, found) in [(cost + tried, Some((0, greatest))), (cost + tried - 1, None)] {
        (e.budget, e.ranges) = (budget, FxHashMap::default());
        assert_eq!(e.range(f, 0, wide - 1), found);
    }
    // Too wide for that: nothing is known.
    e.budget = 1 << 60;
    assert_eq!(e.range(f, 0, 1 << 36), None);
}

#[test]
fn moduli_out_of_range_are_refused() {
    let mut e = table();
    let f = e.funs.lin(64, 0, 1, &[]);
    for m in [0, 1, (1 << 64) + 1, 1 << 65] {
        assert_eq!(e.line(f, 0, 9, m), None);
    }
    for m in [2, (1 << 62) + 1, 1 << 64] {
        assert_eq!(e.line(f, 0, 9, m), Some((1, 0)));
    }
    assert_eq!(e.line(f, 9, 0, 7), None);
    assert_eq!(e.range(f, 9, 0), None);
}

/// Modulo 2^64 a negative slope is one at the ends of 64 bits too.
#[test]
fn negative_slopes_reach_the_ends() {
    for (lo, hi) in [(i64::MIN, i64::MIN + 9), (i64::MAX - 9, i64::MAX)] {
        let mut e = table();
        let f = e.funs.lin(64, 5, -1, &[]);
        assert_eq!(e.line(f, lo, hi, 1 << 64), Some((u64::MAX, 5)));
    }
}

/// x - q·round(x / q) of sums in words of 40 bits, over hundreds of wide intervals, one inside another and beside it:
/// they cost less than all points once, and are what points say.
#[test]
fn wide_intervals_of_one_function_share_their_parts() {
    let mut e = Enumerated::new(1 << 40);
    let q = 30011;
    let wide = e.funs.lin(64, 1 << 39, (1 << 40) / q, &[]);
    let part = e.funs.word(24, &Op::Slice { lo: 40 }, &[wide]).expect("a function");
    let quotient = e.funs.word(64, &Op::Sext, &[part]).expect("a function");
    let f = e.funs.lin(64, 0, 1, &[(quotient, -q)]);
    let end = 1i64 << 22;
    for i in 0..300 {
        let (lo, hi) = (-end + 997 * (i * 37 % 300), end - 1009 * (i * 71 % 300));
        let found = e.range(f, lo, hi).expect("few pieces");
        if i % 60 == 0 {
            let mut is = (i64::MAX, i64::MIN);
            e.funs.enumerate(f, lo, hi, |_, values| {
                is = values.iter().fold(is, |(l, h), &v| (l.min(v), h.max(v)));
                true
            });
            assert_eq!(found, is, "[{lo}, {hi}]");
        }
    }
    let spent = (1 << 40) - e.budget;
    let once = e.funs.cost(f) as u64 * 2 * end as u64;
    assert!(spent < once, "{spent} for all, {once} for each point once");
}

/// The parts of an interval have all its points, each once; and an interval between two multiples of a power of two is
/// no more cut.
#[test]
fn wide_intervals_are_cut_into_parts() {
    let wide = CUT as i64;
    let ends = [-3 * wide, -wide - 1, -1, 0, 1, wide - 1, wide, 5 * wide, 8 * wide - 1, 1 << 35];
    let (mut cuts, mut blocks) = (0, 0);
    for (i, &lo) in ends.iter().enumerate() {
        for &hi in &ends[i..] {
            match cut(lo, hi) {
                Some(middle) => {
                    assert!(lo < middle && middle <= hi && hi - lo >= wide, "[{lo}, {hi}]");
                    cuts += 1;
                }
                None if hi - lo >= wide => {
                    let size = hi - lo + 1;
                    assert!(size.count_ones() == 1 && lo % size == 0, "[{lo}, {hi}]");
                    blocks += 1;
                }
                None => {}
            }
        }
    }
    assert!(cuts > 10 && blocks > 0, "{cuts} {blocks}");
    assert_eq!(cut(i64::MIN, i64::MAX), None, "it is too wide to be enumerated");
}
