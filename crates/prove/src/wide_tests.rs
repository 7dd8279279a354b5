//! Words of 32 bits with products of 64: reductions modulo q = 8380417 and their mutants.

use crate::audit::Audit;
use crate::walk::{Output, Walk};
use crate::witness::Random;
use ringforge_contract::InputRange;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId};

pub(crate) const Q: i64 = 8380417;
pub(crate) const QINV: i64 = 58728449; // 1/q modulo 2^32
pub(crate) const WORD: (i64, i64) = (-(1 << 31), (1 << 31) - 1);
pub(crate) const CENTRED: (i64, i64) = (-(Q / 2), Q / 2);

/// 32-bit words and what instructions do with them.
#[derive(Default)]
pub(crate) struct Words {
    pub(crate) g: Graph,
}

impl Words {
    pub(crate) fn a(&mut self, i: u32) -> NodeId {
        self.g.input(32, 0, i)
    }
    pub(crate) fn b(&mut self, i: u32) -> NodeId {
        self.g.input(32, 1, i)
    }
    pub(crate) fn k(&mut self, v: i64) -> NodeId {
        self.g.constant(32, v as u64)
    }
    pub(crate) fn k64(&mut self, v: i64) -> NodeId {
        self.g.constant(64, v as u64)
    }
    pub(crate) fn add(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.g.add(x, y)
    }
    pub(crate) fn sub(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.g.sub(x, y)
    }
    pub(crate) fn mullo(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.g.mul(x, y)
    }
    /// `vpmuldq` or `imul` of two sign-extended words.
    pub(crate) fn wide(&mut self, x: NodeId, y: NodeId) -> NodeId {
        let (x, y) = (self.g.sext(x, 64), self.g.sext(y, 64));
        self.g.mul(x, y)
    }
    pub(crate) fn high(&mut self, p: NodeId) -> NodeId {
        self.g.slice(p, 32, 32)
    }
    pub(crate) fn low(&mut self, p: NodeId) -> NodeId {
        self.g.slice(p, 0, 32)
    }
    /// `(p - t·q) >> 32` with t the low word of p/q, in C.
    pub(crate) fn montgomery(&mut self, p: NodeId) -> NodeId {
        let (qinv, q) = (self.k(QINV), self.k(Q));
        let l = self.low(p);
        let t = self.mullo(l, qinv);
        let m = self.wide(t, q);
        let d = self.g.sub(p, m);
        self.high(d)
    }
    /// `x·c/2^32` by two products, high words subtracted.
    pub(crate) fn twiddle(&mut self, x: NodeId, c: i64) -> NodeId {
        let (k, kq, q) = (self.k(c), self.k(c.wrapping_mul(QINV)), self.k(Q));
        let p = self.wide(x, k);
        let t = self.mullo(x, kq);
        let m = self.wide(t, q);
        let (h, m) = (self.high(p), self.high(m));
        self.sub(h, m)
    }
    /// `a - ((a + 2^22) >> 23)·q`.
    pub(crate) fn reduce32(&mut self, x: NodeId) -> NodeId {
        let half = self.k(1 << 22);
        let s = self.add(x, half);
        let t = self.g.ashr(s, 23);
        let q = self.k(Q);
        let m = self.mullo(t, q);
        self.sub(x, m)
    }
    /// `a + ((a >> 31) & q)`.
    pub(crate) fn caddq(&mut self, x: NodeId) -> NodeId {
        let s = self.g.ashr(x, 31);
        let q = self.k(Q);
        let m = self.g.and(s, q);
        self.add(x, m)
    }
    pub(crate) fn csubq(&mut self, x: NodeId) -> NodeId {
        let q = self.k(Q);
        let d = self.sub(x, q);
        self.caddq(d)
    }
}

pub(crate) type Meaning<'a> = &'a dyn Fn(&dyn Fn(u16, u32) -> i128) -> i128;

fn walked<'g>(g: &'g Graph, out: NodeId, q: i64, ranges: [(i64, i64); 2]) -> Walk<'g> {
    let inputs = ranges.iter().map(|&(lo, hi)| InputRange { lo, hi, signed: true }).collect();
    let mut walk = Walk::new(g, q as u32, inputs);
    walk.run(&[out], &mut |_, _| true);
    walk
}

/// Reads `out` and compares what is proved with evaluation on random inputs: a contradiction is a
/// failure of the test. The second value says whether `meaning` is congruent on all of them.
fn read_as(
    w: &Words,
    out: NodeId,
    q: i64,
    ranges: [(i64, i64); 2],
    meaning: Meaning,
) -> Result<(Output, bool), String> {
    let mut walk = walked(&w.g, out, q, ranges);
    let output =
        walk.output(out, 32, true).map_err(|c| walk.cut.world.causes[c as usize].text.clone())?;
    let tape = Tape::new(&w.g, &[out]).unwrap();
    let mut random = Random(7);
    let mut agrees = true;
    for round in 0..200 {
        let mut memo = std::collections::HashMap::new();
        let seed = random.next();
        let mut value = |o: u16, i: u32| {
            *memo.entry((o, i)).or_insert_with(|| {
                let mut r = Random(seed ^ (u64::from(o) << 32) ^ u64::from(i));
                let (lo, hi) = ranges[o as usize];
                match round % 3 {
                    0 => lo + (r.next() % (hi - lo + 1) as u64) as i64,
                    1 => [lo, hi][(r.next() & 1) as usize],
                    _ => ((r.next() % 7) as i64 - 3).clamp(lo, hi),
                }
            })
        };
        let bits = tape.run(|o, i| value(o, i) as u64)[0];
        let value = |o: u16, i: u32| memo.get(&(o, i)).copied().unwrap_or(0);
        let word = i64::from(bits as i32);
        assert!(output.lo <= word && word <= output.hi, "{word} outside the proved range");
        let audit = Audit::new(&mut walk.cut.world, &value).unwrap();
        let residue = audit.residue(&walk.cut.world, &output.residue);
        assert_eq!((i128::from(word) - residue).rem_euclid(q.into()), 0, "a false residue form");
        let meant = meaning(&|o, i| value(o, i).into());
        agrees &= (i128::from(word) - meant).rem_euclid(q.into()) == 0;
    }
    Ok((output, agrees))
}

pub(crate) fn proves(
    w: &Words,
    out: NodeId,
    ranges: [(i64, i64); 2],
    allowed: (i64, i64),
    meaning: Meaning,
) -> bool {
    match read_as(w, out, Q, ranges, meaning) {
        Ok((o, agrees)) => agrees && allowed.0 <= o.lo && o.hi <= allowed.1,
        Err(_) => false,
    }
}

/// 2^-bits modulo q.
pub(crate) fn over(bits: u32, q: i64) -> i128 {
    ringforge_ring::zq::inv((1u64 << bits) % q as u64, q as u64).unwrap().into()
}

#[test]
fn montgomery_of_a_product_of_two_variables() {
    let build = |change: usize, range: (i64, i64)| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.b(0));
        let p = w.wide(x, y);
        let (qinv, q) = (w.k(if change == 1 { QINV + 2 } else { QINV }), w.k(Q));
        let l = w.low(p);
        let t = w.mullo(l, qinv);
        let t = if change == 2 { w.g.zext(t, 64) } else { w.g.sext(t, 64) };
        let q64 = if change == 3 { w.k64(Q - 2) } else { w.g.sext(q, 64) };
        let m = w.g.mul(t, q64);
        let d = if change == 4 { w.g.add(p, m) } else { w.g.sub(p, m) };
        let out = w.g.slice(d, if change == 5 { 31 } else { 32 }, 32);
        let out = if change == 6 { w.high(p) } else { out };
        let allowed = if change == 2 { (-2 * Q, Q) } else { (-Q, Q) };
        proves(&w, out, [range; 2], allowed, &|v| v(0, 0) * v(1, 0) % i128::from(Q) * over(32, Q))
    };
    assert!(build(0, (-Q, Q)));
    assert!(build(2, (-Q, Q)), "t read unsigned is right too, and lower");
    for change in [1, 3, 4, 5, 6] {
        assert!(!build(change, (-Q, Q)), "mutant {change}");
    }
    // |r| < q needs |p| <= q·2^31.
    assert!(build(0, (-134_150_000, 134_150_000)));
    assert!(!build(0, (-134_170_000, 134_170_000)));
}

#[test]
fn montgomery_by_a_constant_as_a_difference_of_high_words() {
    let build = |change: usize, range: (i64, i64), allowed: i64| {
        let mut w = Words::default();
        let x = w.a(0);
        let c = 1_753_000 - if change == 1 { 1 } else { 0 };
        let (k, kq) = (w.k(c), w.k(1_753_000i64.wrapping_mul(QINV)));
        let q = w.k(if change == 2 { Q + 2 } else { Q });
        let p = w.wide(x, k);
        let t = w.mullo(x, kq);
        let m = w.wide(t, q);
        let (h, m) = (w.high(p), w.high(m));
        let out = match change {
            3 => w.add(h, m),
            4 => w.sub(m, h),
            5 => h,
            _ => w.sub(h, m),
        };
        proves(&w, out, [range, WORD], (-allowed, allowed), &|v| {
            v(0, 0) * 1_753_000 % i128::from(Q) * over(32, Q)
        })
    };
    // (|x|·c + q·2^31)/2^32
    let bound = (1_753_000 * (1 << 31) + Q * (1 << 31)) / (1 << 32);
    assert!(build(0, WORD, bound));
    assert!(!build(0, WORD, bound - 2), "the bound is tight");
    assert!(build(0, (-Q, Q), Q / 2 + 3422));
    for change in 1..6 {
        assert!(!build(change, (-Q, Q), Q), "mutant {change}");
    }
}

#[test]
fn layers_of_butterflies() {
    // Three layers of radix two on eight words, then one element reduced and frozen.
    let build = |drop: bool, range: (i64, i64)| {
        let mut w = Words::default();
        let mut x: Vec<NodeId> = (0..8).map(|i| w.a(i)).collect();
        let zetas = [-3_572_223i64, 3_765_607, 3_761_513, -3_201_494, -2_883_726, -3_145_678, 3];
        let mut z = zetas.iter();
        for len in [4, 2, 1] {
            for start in (0..8).step_by(2 * len) {
                let c = *z.next().unwrap();
                for j in start..start + len {
                    let t = w.twiddle(x[j + len], c);
                    (x[j], x[j + len]) = (w.add(x[j], t), w.sub(x[j], t));
                }
            }
        }
        let out = w.reduce32(x[5]);
        let out = if drop { out } else { w.caddq(out) };
        // Element 5 by the same butterflies over exact numbers.
        proves(&w, out, [range, WORD], (0, Q - 1), &|v| {
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
    assert!(build(false, (-Q, Q)));
    assert!(!build(true, (-Q, Q)), "not frozen");
    assert!(!build(false, WORD), "sums that wrap");
}

#[test]
fn inverse_butterflies_and_a_final_scaling() {
    let build = |wrong: bool| {
        let mut w = Words::default();
        let mut x: Vec<NodeId> = (0..4).map(|i| w.a(i)).collect();
        for len in [1, 2] {
            for start in (0..4).step_by(2 * len) {
                for j in start..start + len {
                    let (s, d) = (w.add(x[j], x[j + len]), w.sub(x[j], x[j + len]));
                    x[j] = s;
                    x[j + len] = w.twiddle(d, 25_847);
                }
            }
        }
        let y = w.b(0);
        let y = if wrong { w.b(1) } else { y };
        let p = w.wide(x[0], y);
        let out = w.montgomery(p);
        proves(&w, out, [(-Q, Q); 2], (-Q, Q), &|v| {
            (v(0, 0) + v(0, 1) + v(0, 2) + v(0, 3)) * v(1, 0) % i128::from(Q) * over(32, Q)
        })
    };
    assert!(build(false));
    assert!(!build(true));
}

#[test]
fn sums_of_products_and_products_of_reduced_values() {
    let build = |n: u32| {
        let mut w = Words::default();
        let mut sum = w.k64(0);
        for i in 0..n {
            let (x, y) = (w.a(i), w.b(i));
            let x = w.twiddle(x, 1_000_003);
            let x = w.add(x, y);
            let p = w.wide(x, y);
            sum = w.g.add(sum, p);
        }
        let out = w.montgomery(sum);
        proves(&w, out, [CENTRED; 2], (-Q, Q), &|v| {
            let q = i128::from(Q);
            (0..n)
                .map(|i| (v(0, i) * 1_000_003 % q * over(32, Q) + v(1, i)) % q * v(1, i) % q)
                .sum::<i128>()
                * over(32, Q)
        })
    };
    assert!(build(1) && build(8));
    assert!(!build(600), "the sum of products leaves the range");
}

#[test]
fn rounded_quotient_of_a_sum() {
    let build = |change: usize, range: (i64, i64), bound: i64| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.a(1));
        let part = x;
        let x = w.add(x, y);
        let half = w.k(1 << 22);
        let s = w.add(if change == 5 { part } else { x }, half);
        let t = w.g.ashr(s, if change == 1 { 22 } else { 23 });
        let t = if change == 2 { w.g.lshr(s, 23) } else { t };
        let q = w.k(if change == 3 { Q - 1 } else { Q });
        let m = w.mullo(t, q);
        let out = if change == 4 { w.add(x, m) } else { w.sub(x, m) };
        proves(&w, out, [range, WORD], (-bound, bound), &|v| v(0, 0) + v(0, 1))
    };
    let (half, most) = (1 << 30, (1i64 << 30) - (1 << 22));
    assert!(build(0, (-half, most), 6_287_104));
    assert!(!build(0, (-half, most + (1 << 22)), 6_287_104), "the rounding constant wraps");
    let low = -half - (1 << 21);
    assert!(build(0, (low, most), 6_300_000));
    assert!(!build(0, (low - 1, most), 6_300_000), "the rounded sum wraps");
    assert!(!build(0, (-half, most), 6_280_000), "the bound is nearly tight");
    for change in 1..6 {
        assert!(!build(change, (-half, most), 6_287_104), "mutant {change}");
    }
}

#[test]
fn conditional_corrections_in_a_row() {
    let build = |change: usize, range: (i64, i64)| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.a(1));
        let x = w.add(x, y);
        let x = if change == 1 { x } else { w.caddq(x) };
        let x = if change == 2 { x } else { w.caddq(x) };
        let x = w.csubq(x);
        let x = if change == 3 { x } else { w.csubq(x) };
        // And into the symmetric range by a comparison.
        let h = w.k(Q / 2);
        let over = if change == 4 { w.g.slt(x, h) } else { w.g.slt(h, x) };
        let mask = w.g.sext(over, 32);
        let q = w.k(Q);
        let m = w.g.and(mask, q);
        let out = w.sub(x, m);
        proves(&w, out, [range, WORD], CENTRED, &|v| v(0, 0) + v(0, 1))
    };
    // Sums in [-5q/2, 7q/2] end between -q/2 and q/2.
    let (low, high) = (-5 * Q / 4, 7 * Q / 4);
    assert!(build(0, (-Q, Q)));
    assert!(build(0, (low, high)));
    assert!(!build(0, (low, high + 1)));
    assert!(!build(0, (low - 1, high)));
    for change in 1..5 {
        assert!(!build(change, (low, high)), "mutant {change}");
    }
}

#[test]
fn freezing_after_montgomery() {
    let build = |change: usize| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.b(0));
        let p = w.wide(x, y);
        let r = w.montgomery(p);
        let mut out = w.caddq(r);
        if change == 1 {
            out = w.csubq(r);
        }
        if change == 2 {
            // By an unsigned minimum instead.
            let q = w.k(Q);
            let up = w.add(r, q);
            let less = w.g.ult(r, up);
            out = w.g.select(less, r, up);
        }
        if change == 3 {
            let q = w.k(Q);
            let up = w.add(r, q);
            let less = w.g.slt(r, up);
            out = w.g.select(less, r, up);
        }
        proves(&w, out, [(-Q, Q); 2], (0, Q - 1), &|v| {
            v(0, 0) * v(1, 0) % i128::from(Q) * over(32, Q)
        })
    };
    assert!(build(0) && build(2));
    assert!(!build(1) && !build(3));
}

#[test]
fn wide_barrett() {
    // p - ((p·m) >> k)·q on 64 bits with p reduced first to fit.
    let build = |change: usize, k: u64, range: (i64, i64)| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.b(0));
        let p = w.wide(x, y);
        let m = (1i64 << k) / Q + if change == 1 { 1 << 10 } else { 0 };
        let (m, q) = (w.k64(m), w.k64(if change == 2 { Q + 1 } else { Q }));
        let v = w.g.mul(p, m);
        let v = if change == 3 { w.g.lshr(v, k) } else { w.g.ashr(v, k) };
        let v = w.g.mul(v, q);
        let r = if change == 4 { w.g.add(p, v) } else { w.g.sub(p, v) };
        let out = w.low(r);
        proves(&w, out, [range; 2], (-Q / 16, Q + Q / 16), &|v| v(0, 0) * v(1, 0))
    };
    assert!(build(0, 46, (-1 << 18, 1 << 18)));
    assert!(!build(0, 46, (-1 << 21, 1 << 21)), "p·m leaves 64 bits");
    for change in 1..5 {
        assert!(!build(change, 46, (-1 << 18, 1 << 18)), "mutant {change}");
    }
}

#[test]
fn unsigned_montgomery_with_a_radix_of_eighteen_bits() {
    // (a + ((a·q') & (2^18 - 1))·q) >> 18 with q' = -1/q, q = 12289, a = x·y.
    let q = 12289i64;
    let inverse = 12287; // -1/q modulo 2^18, found by the loop below
    let inverse = (0..1 << 18).find(|i| (i * q + 1) % (1 << 18) == 0).unwrap_or(inverse);
    let build = |change: usize, range: (i64, i64)| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.b(0));
        let a = w.mullo(x, y);
        let k = w.k(inverse + if change == 1 { 2 } else { 0 });
        let t = w.mullo(a, k);
        let mask = w.k((1 << if change == 2 { 17 } else { 18 }) - 1);
        let t = w.g.and(t, mask);
        let qk = w.k(q);
        let m = w.mullo(t, qk);
        let s = if change == 3 { w.sub(a, m) } else { w.add(a, m) };
        let out = w.g.lshr(s, if change == 4 { 17 } else { 18 });
        let result = read_as(&w, out, q, [range; 2], &|v| v(0, 0) * v(1, 0) * over(18, q));
        result.is_ok_and(|(o, agrees)| agrees && o.lo >= 0 && o.hi < 2 * q)
    };
    assert!(build(0, (0, q - 1)));
    assert!(build(0, (0, 5 * q / 2)));
    assert!(!build(0, (0, 3 * q)), "the sum reaches 2^32");
    assert!(build(0, (-511, 511)), "negative, but the sum is not");
    assert!(!build(0, (-513, 513)), "a negative sum");
    for change in 1..5 {
        assert!(!build(change, (0, q - 1)), "mutant {change}");
    }
}
