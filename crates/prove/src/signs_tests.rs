//! Signed products from unsigned ones and sign masks, as compilers write them for SSE2, and their
//! mutants.

use crate::wide_tests::{CENTRED, Q, QINV, WORD, Words, over, proves};
use ringforge_machine::graph::NodeId;

/// `pmuludq`.
fn unsigned(w: &mut Words, x: NodeId, y: NodeId) -> NodeId {
    let (x, y) = (w.g.zext(x, 64), w.g.zext(y, 64));
    w.g.mul(x, y)
}

/// `pcmpgtd` of zero and x: all ones where x is negative.
fn mask(w: &mut Words, x: NodeId) -> NodeId {
    let zero = w.k(0);
    let less = w.g.slt(x, zero);
    w.g.sext(less, 32)
}

/// `pand` of x's sign and y.
fn under(w: &mut Words, x: NodeId, y: NodeId) -> NodeId {
    let m = mask(w, x);
    w.g.and(m, y)
}

/// The upper word of the signed product by a constant, from that of the unsigned one.
fn high_by(w: &mut Words, x: NodeId, c: i64) -> NodeId {
    let k = w.k(c);
    let p = unsigned(w, x, k);
    let high = w.high(p);
    let m = under(w, x, k);
    let high = w.sub(high, m);
    if c < 0 { w.sub(high, x) } else { high }
}

/// Upper less `(t·q) >> 32` with t the low word times 1/q.
fn reduced(w: &mut Words, low: NodeId, upper: NodeId) -> NodeId {
    let k = w.k(QINV);
    let p = unsigned(w, low, k);
    let t = w.low(p);
    let m = high_by(w, t, Q);
    w.sub(upper, m)
}

#[test]
fn products_of_two_variables() {
    let build = |change: usize, ranges: [(i64, i64); 2], sums: bool| {
        let mut w = Words::default();
        let (mut x, mut y) = (w.a(0), w.b(0));
        let other = w.a(2);
        if sums {
            let (u, v) = (w.a(1), w.b(1));
            (x, y) = (w.add(x, u), w.sub(y, v));
        }
        let p = unsigned(&mut w, x, y);
        let (high, low) = (w.high(p), w.low(p));
        let (m, n) = (under(&mut w, x, y), under(&mut w, y, x));
        let both = w.add(m, n);
        let (twice_m, swapped) = (w.add(m, m), under(&mut w, x, other));
        let upper = match change {
            0 => w.sub(high, both),
            1 => w.sub(high, m),
            2 => w.sub(high, n),
            3 => high,
            4 => w.add(high, both),
            5 => w.sub(high, twice_m),
            6 => {
                let both = w.add(swapped, n);
                w.sub(high, both)
            }
            7 => {
                // The sign of another word.
                let m = under(&mut w, other, y);
                let both = w.add(m, n);
                w.sub(high, both)
            }
            8 => {
                // The low word's sign.
                let m = under(&mut w, low, y);
                let both = w.add(m, n);
                w.sub(high, both)
            }
            9 => {
                // A word next to the right one.
                let one = w.k(1);
                let next = w.add(y, one);
                let m = under(&mut w, x, next);
                let both = w.add(m, n);
                w.sub(high, both)
            }
            10 => {
                // The masks complemented.
                let (m, n) = (w.sub(y, m), w.sub(x, n));
                let both = w.add(m, n);
                w.sub(high, both)
            }
            _ => {
                // Another bit in the place of the sign.
                let bit = w.g.slice(x, 30, 1);
                let bits = w.g.sext(bit, 32);
                let m = w.g.and(bits, y);
                let both = w.add(m, n);
                w.sub(high, both)
            }
        };
        let out = reduced(&mut w, low, upper);
        let s = i128::from(sums);
        proves(&w, out, ranges, (-Q, Q), &|v| {
            let (x, y) = (v(0, 0) + s * v(0, 1), v(1, 0) - s * v(1, 1));
            x * y % i128::from(Q) * over(32, Q)
        })
    };
    for sums in [false, true] {
        assert!(build(0, [CENTRED; 2], sums), "sums: {sums}");
        assert!(build(0, [(-Q, Q), CENTRED], sums), "sums: {sums}");
        for change in 1..12 {
            assert!(!build(change, [CENTRED; 2], sums), "mutant {change}, sums: {sums}");
        }
    }
    // Words whose sign is known need no mask, or have it whole.
    assert!(build(0, [(0, Q), CENTRED], false) && build(2, [(0, Q), CENTRED], false));
    assert!(build(3, [(0, Q); 2], false) && build(0, [(-Q, -1), CENTRED], false));
    assert!(!build(1, [(0, Q), CENTRED], false) && !build(2, [(-1, Q), CENTRED], false));
    assert!(!build(3, [(0, Q), (-1, Q)], false));
    // Sums that wrap, and products too large.
    assert!(!build(0, [WORD; 2], true) && !build(0, [WORD; 2], false));
}

#[test]
fn products_by_constants() {
    let build = |change: usize, c: i64, range: (i64, i64), sums: bool| {
        let mut w = Words::default();
        let mut x = w.a(0);
        if sums {
            let y = w.a(1);
            x = w.sub(x, y);
        }
        let (k, kq) = (w.k(c), w.k(c.wrapping_mul(QINV)));
        let p = unsigned(&mut w, x, k);
        let high = w.high(p);
        let right = high_by(&mut w, x, c);
        let upper = match change {
            1 => high,
            2 => {
                let m = under(&mut w, x, k);
                w.sub(right, m)
            }
            3 => {
                // A mask that lets another constant through.
                let other = w.k(c + 1);
                let (m, n) = (under(&mut w, x, k), under(&mut w, x, other));
                let right = w.add(right, m);
                w.sub(right, n)
            }
            4 => {
                // The sign of another word.
                let y = w.a(2);
                let (m, n) = (under(&mut w, x, k), under(&mut w, y, k));
                let right = w.add(right, m);
                w.sub(right, n)
            }
            5 => w.add(right, x),
            _ => right,
        };
        let t = unsigned(&mut w, x, kq);
        let t = w.low(t);
        let m = match change {
            6 => {
                let q = w.k(Q);
                let p = unsigned(&mut w, t, q);
                w.high(p)
            }
            7 => {
                // The sign of x where t's is meant.
                let q = w.k(Q);
                let p = unsigned(&mut w, t, q);
                let (h, m) = (w.high(p), under(&mut w, x, q));
                w.sub(h, m)
            }
            _ => high_by(&mut w, t, Q),
        };
        let out = w.sub(upper, m);
        let bound = Q / 2 + 30_000;
        proves(&w, out, [range, WORD], (-bound, bound), &|v| {
            let x = v(0, 0) - i128::from(sums) * v(0, 1);
            x * i128::from(c) % i128::from(Q) * over(32, Q)
        })
    };
    for sums in [false, true] {
        for c in [25_847, -3_572_223] {
            assert!(build(0, c, CENTRED, sums), "{c}, sums: {sums}");
            for change in 1..8 {
                assert!(!build(change, c, CENTRED, sums), "mutant {change}, {c}, sums: {sums}");
            }
        }
    }
    assert!(!build(0, 25_847, WORD, true), "a sum that wraps");
}

#[test]
fn layers_of_butterflies_with_unsigned_products() {
    let zetas = [-3_572_223i64, 3_765_607, 3_761_513, -3_201_494, -2_883_726, -3_145_678, 3];
    let build = |change: bool| {
        let mut w = Words::default();
        let mut x: Vec<NodeId> = (0..8).map(|i| w.a(i)).collect();
        let mut z = zetas.iter();
        for len in [4, 2, 1] {
            for start in (0..8).step_by(2 * len) {
                let c = *z.next().unwrap();
                for j in start..start + len {
                    let y = x[j + len];
                    let upper = high_by(&mut w, y, c);
                    let kq = w.k(c.wrapping_mul(QINV));
                    let t = unsigned(&mut w, y, kq);
                    let t = w.low(t);
                    // One correction by the wrong element.
                    let m = if change && len == 2 && j == 4 {
                        let q = w.k(Q);
                        let p = unsigned(&mut w, t, q);
                        let (h, m) = (w.high(p), under(&mut w, y, q));
                        let m = w.sub(h, m);
                        let one = w.k(1);
                        w.add(m, one)
                    } else {
                        high_by(&mut w, t, Q)
                    };
                    let t = w.sub(upper, m);
                    (x[j], x[j + len]) = (w.add(x[j], t), w.sub(x[j], t));
                }
            }
        }
        let out = w.reduce32(x[5]);
        let out = w.caddq(out);
        proves(&w, out, [(-Q, Q), WORD], (0, Q - 1), &|v| {
            let (q, r) = (i128::from(Q), over(32, Q));
            let mut x: Vec<i128> = (0..8).map(|i| v(0, i)).collect();
            let mut z = zetas.iter();
            for len in [4, 2, 1] {
                for start in (0..8).step_by(2 * len) {
                    let c = i128::from(*z.next().unwrap());
                    for j in start..start + len {
                        let t = x[j + len] % q * c % q * r % q;
                        (x[j], x[j + len]) = (x[j] + t, x[j] - t);
                    }
                }
            }
            x[5]
        })
    };
    assert!(build(false));
    assert!(!build(true));
}
