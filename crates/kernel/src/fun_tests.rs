//! Functions against what they are on words, and sums in one form.

use super::*;

/// What an operation is, of the values of a and b, and X.
type Is = fn(i128, i128, i64) -> i128;

/// All operations of two functions a and b of X, of 6 bits each, with what they are: by the unsigned values of
/// a and b, modulo 2^width.
fn operations(funs: &mut Funs) -> Vec<(FunId, Is)> {
    fn signed(x: i128) -> i128 {
        if x >= 32 { x - 64 } else { x }
    }
    let (a, b) = (funs.lin(6, 5, 3, &[]), funs.lin(6, -1, -7, &[]));
    let bit = |funs: &mut Funs, op, x, y| funs.word(1, &op, &[x, y]).expect("a function");
    let less = bit(funs, Op::Slt, a, b);
    let mut all: Vec<(FunId, Is)> = vec![
        (a, |a, _, _| a),
        (bit(funs, Op::Eq, a, b), |a, b, _| (a == b).into()),
        (bit(funs, Op::Ult, a, b), |a, b, _| (a < b).into()),
        (less, |a, b, _| (signed(a) < signed(b)).into()),
        (funs.constant(6, 77), |_, _, _| 13),
        (funs.lin(9, 300, -2, &[(a, 5), (b, -1), (a, 2)]), |a, b, x| {
            300 - 2 * i128::from(x) + 7 * signed(a) - signed(b)
        }),
        (funs.lin(64, 1, 1 << 40, &[(a, 1 << 50)]), |a, _, x| {
            1 + (i128::from(x) << 40) + (signed(a) << 50)
        }),
    ];
    let mut op = |width, op, args: &[FunId], is| {
        all.push((funs.word(width, &op, args).expect("a function"), is));
    };
    op(6, Op::Mul, &[a, b], |a, b, _| a * b);
    op(6, Op::And, &[a, b], |a, b, _| a & b);
    op(6, Op::Or, &[a, b], |a, b, _| a | b);
    op(6, Op::Xor, &[a, b], |a, b, _| a ^ b);
    op(6, Op::Select, &[less, a, b], |a, b, _| if signed(a) < signed(b) { a } else { b });
    op(3, Op::Slice { lo: 2 }, &[a], |a, _, _| a >> 2);
    op(4, Op::Slice { lo: 2 }, &[a], |a, _, _| a >> 2);
    op(12, Op::Concat, &[a, b], |a, b, _| a + 64 * b);
    op(13, Op::Concat, &[b, less, a], |a, b, _| {
        b + 64 * i128::from(signed(a) < signed(b)) + 128 * a
    });
    op(11, Op::Sext, &[a], |a, _, _| signed(a));
    op(11, Op::Zext, &[a], |a, _, _| a);
    op(4, Op::SatS, &[a], |a, _, _| signed(a).clamp(-8, 7));
    op(4, Op::SatU, &[a], |a, _, _| signed(a).clamp(0, 15));
    op(6, Op::SatU, &[a], |a, _, _| signed(a).clamp(0, 63));
    all
}

#[test]
fn operations_are_what_they_are_on_words() {
    let mut funs = Funs::default();
    for (f, is) in operations(&mut funs) {
        let width = funs.get(f).width;
        let want = |x: i64| {
            let (a, b) = (3 * i128::from(x) + 5, -7 * i128::from(x) - 1);
            let word = is(a.rem_euclid(64), b.rem_euclid(64), x);
            centre(word as i64, width)
        };
        funs.enumerate(f, -100, 700, |at, values| {
            for (x, &v) in (at..).zip(values) {
                assert_eq!(v, want(x), "function {} at {x}", f.0);
            }
            true
        });
        assert_eq!(funs.at(f, 12), want(12));
    }
}

/// The narrowest and the widest words, at their ends: all that is made of signs and of sums that wrap.
#[test]
fn operations_on_the_narrowest_and_the_widest_words() {
    for w in [1u8, 2, 31, 63, 64] {
        let modulus = 1i128 << w;
        let unsigned = |x: i128| x.rem_euclid(modulus);
        let signed = |x: i128| unsigned(x + modulus / 2) - modulus / 2;
        let ends = [-1, 0, 1, 2, modulus / 2 - 1, modulus / 2, modulus / 2 + 1, modulus - 2];
        for (x, y) in ends.iter().flat_map(|x| ends.map(|y| (*x, y))) {
            let mut funs = Funs::default();
            let (a, b) = (funs.constant(w, x as i64), funs.lin(w, y as i64, 1, &[]));
            let mut is = |width: u8, op: Op, args: &[FunId], want: i128| {
                let f = funs.word(width, &op, args).expect("a function");
                assert_eq!(funs.at(f, 0), centre(want as i64, width), "{op:?} of {x} and {y}, {w}");
            };
            let bit = |is: bool| i128::from(is);
            is(1, Op::Eq, &[a, b], bit(unsigned(x) == unsigned(y)));
            is(1, Op::Ult, &[a, b], bit(unsigned(x) < unsigned(y)));
            is(1, Op::Slt, &[a, b], bit(signed(x) < signed(y)));
            is(w, Op::Or, &[a, b], x | y);
            is(w, Op::Xor, &[a, b], x ^ y);
            is(1, Op::Slice { lo: w - 1 }, &[a], unsigned(x) >> (w - 1));
            for to in [1, 2, 30, 62, 63, 64] {
                if to > w {
                    is(to, Op::Zext, &[a], unsigned(x));
                    is(to, Op::Sext, &[a], signed(x));
                } else {
                    let (half, all) = (1i128 << (to - 1), 1i128 << to);
                    is(to, Op::SatS, &[a], signed(x).clamp(-half, half - 1));
                    is(to, Op::SatU, &[a], signed(x).clamp(0, all - 1));
                }
            }
            if w <= 32 {
                is(2 * w, Op::Concat, &[a, b], unsigned(x) + (unsigned(y) << w));
            }
        }
        if w < 64 {
            // Up to the last bit of 64.
            let mut funs = Funs::default();
            let (a, b) = (funs.constant(w, -1), funs.constant(64 - w, -1));
            for args in [[a, b], [b, a]] {
                let f = funs.word(64, &Op::Concat, &args).expect("a function");
                assert_eq!(funs.at(f, 0), -1);
            }
        }
    }
}

/// Operations on arguments that are wider than the result, and products and sums that do not fit it.
#[test]
fn values_are_read_in_their_own_width() {
    let mut funs = Funs::default();
    let (x, wide) = (funs.lin(64, 0, 1, &[]), funs.constant(64, 0x1ff));
    let mut is = |width, op, args: &[FunId], want: [i64; 2]| {
        let f = funs.intern(Fun { width, op, args: args.iter().copied().collect() });
        assert_eq!([3, 200].map(|at| funs.at(f, at)), want, "{:?}", funs.get(f));
    };
    is(8, FunOp::And, &[x, wide], [3, -56]);
    is(8, FunOp::Select, &[x, wide, x], [-1, -1]);
    is(8, FunOp::Select, &[wide, x, wide], [3, -56]);
    is(8, FunOp::Floor(0), &[x], [3, -56]);
    is(8, FunOp::Mul, &[x, x], [9, 64]);
    is(1, FunOp::Less, &[x, wide], [-1, -1]);
    is(64, FunOp::Less, &[wide, x], [0, 0]);
}

/// All points, each once and in order, however many there are, and up to the last integer; and none after one
/// that is enough.
#[test]
fn every_point_is_visited_once() {
    let mut funs = Funs::default();
    let f = funs.lin(64, 0, 1, &[]);
    let lengths = (1..5).chain(510..515).chain(1022..1028);
    for n in lengths {
        for lo in [0, -7, i64::MAX - n + 1, i64::MIN] {
            let mut seen = Vec::new();
            funs.enumerate(f, lo, lo + (n - 1), |at, values| {
                assert_eq!(at, values[0]);
                seen.extend_from_slice(values);
                true
            });
            let all: Vec<i64> = (0..n).map(|i| lo + i).collect();
            assert!(seen == all, "{n} from {lo}: {}", seen.len());
        }
    }
    let mut blocks = 0;
    funs.enumerate(f, 0, 10_000, |_, _| {
        blocks += 1;
        blocks < 3
    });
    assert_eq!(blocks, 3);
}

#[test]
fn sums_are_one_function_however_they_are_written() {
    let mut funs = Funs::default();
    let (x, y) = (funs.lin(16, 0, 1, &[]), funs.lin(16, 3, 5, &[]));
    let f = funs.word(16, &Op::Mul, &[x, y]).expect("a function");
    let one = funs.lin(16, 7, 2, &[(f, 3), (y, -1)]);
    assert_eq!(one, funs.lin(16, 7 + (1 << 16), 2, &[(y, -1), (f, 1), (f, 2)]));
    assert_eq!(one, funs.lin(16, 7, 2 - (1 << 16), &[(y, (1 << 16) - 1), (f, 3), (x, 1 << 16)]));
    assert_eq!(f, funs.lin(16, 0, 0, &[(f, 1)]));
    let bit = funs.word(1, &Op::Slt, &[x, y]).expect("a function");
    assert_eq!(funs.word(1, &Op::Sext, &[bit]), Some(bit));
    assert_eq!(funs.constant(16, 9), funs.lin(16, 9, 0, &[(f, 2), (f, -2)]));
    for (width, k, x) in [(16, 1, 0), (16, 0, 1), (8, 0, 0), (32, 0, 0)] {
        assert_ne!(f, funs.lin(width, k, x, &[(f, 1)]), "{width} {k} {x}");
    }
    assert_ne!(f, funs.lin(16, 0, 0, &[(f, 2)]));
}

/// Long functions are evaluated in little memory, whatever they are: the values of a block are bounded.
#[test]
fn long_functions_keep_little() {
    let mut funs = Funs::default();
    let mut last = funs.lin(64, 1, 1, &[]);
    for _ in 0..2000 {
        let args = [last, funs.lin(64, 3, 5, &[])];
        last = funs.word(64, &Op::Xor, &args).expect("a function");
    }
    for k in 0..1000 {
        let f = funs.lin(64, k, 0, &[(last, 3)]);
        assert_eq!(funs.at(f, 7), funs.at(last, 7).wrapping_mul(3).wrapping_add(k));
    }
    // A bit, its sign, and the sum of both.
    let bit = funs.lin(1, 0, 1, &[]);
    let word = funs.word(64, &Op::Concat, &[bit; 64]).expect("a function");
    assert_eq!((funs.cost(bit), funs.cost(word)), (1, 4));
    assert_eq!(funs.at(word, 1), -1);
}
