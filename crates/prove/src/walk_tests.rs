//! Primitives of modular arithmetic, right and wrong.

use crate::audit::Audit;
use crate::walk::{Output, Walk};
use crate::witness::Random;
use ringforge_contract::InputRange;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId};

pub(crate) const Q: i64 = 4591;
pub(crate) const QINV: i64 = 15631; // 1/q modulo 2^16

/// Words and the operations of vector instructions on them.
#[derive(Default)]
pub(crate) struct Words {
    pub g: Graph,
}

impl Words {
    pub fn a(&mut self, i: u32) -> NodeId {
        self.g.input(16, 0, i)
    }
    pub fn b(&mut self, i: u32) -> NodeId {
        self.g.input(16, 1, i)
    }
    pub fn k(&mut self, v: i64) -> NodeId {
        self.g.constant(16, v as u64)
    }
    pub fn add(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.g.add(x, y)
    }
    pub fn sub(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.g.sub(x, y)
    }
    pub fn mullo(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.g.mul(x, y)
    }
    pub fn wide(&mut self, x: NodeId, y: NodeId) -> NodeId {
        let (x, y) = (self.g.sext(x, 32), self.g.sext(y, 32));
        self.g.mul(x, y)
    }
    pub fn mulhi(&mut self, x: NodeId, y: NodeId) -> NodeId {
        let p = self.wide(x, y);
        self.g.slice(p, 16, 16)
    }
    pub fn mulhrs(&mut self, x: NodeId, y: NodeId, shift: u64) -> NodeId {
        let p = self.wide(x, y);
        let s = self.g.ashr(p, shift - 1);
        let one = self.g.constant(32, 1);
        let s = self.g.add(s, one);
        self.g.slice(s, 1, 16)
    }
    pub fn montgomery(&mut self, x: NodeId, c: i64, inverse: i64) -> NodeId {
        let (k, kq, q) = (self.k(c), self.k(c * inverse), self.k(Q));
        let hi = self.mulhi(x, k);
        let t = self.mullo(x, kq);
        let m = self.mulhi(t, q);
        self.sub(hi, m)
    }
    pub fn barrett(&mut self, x: NodeId, v: i64, shift: u64, q: i64) -> NodeId {
        let (v, q) = (self.k(v), self.k(q));
        let t = self.mulhrs(x, v, shift);
        let m = self.mullo(t, q);
        self.sub(x, m)
    }
    pub fn umin(&mut self, x: NodeId, y: NodeId) -> NodeId {
        let less = self.g.ult(x, y);
        self.g.select(less, x, y)
    }
}

/// Reads `out` as a signed word over inputs in the given ranges (operands a and b).
fn read(w: &Words, out: NodeId, ranges: [(i64, i64); 2]) -> Result<Output, String> {
    let inputs = ranges.iter().map(|&(lo, hi)| InputRange { lo, hi, signed: true }).collect();
    let mut walk = Walk::new(&w.g, Q as u32, inputs);
    walk.run(&[out], &mut |_, _| true);
    let result = walk.output(out, 16, true);
    result.map_err(|c| walk.cut.world.causes[c as usize].text.clone())
}

/// What a word should be, given the inputs by operand and index.
type Meaning<'a> = &'a dyn Fn(&dyn Fn(u16, u32) -> i64) -> i64;

/// Whether `out` is proved congruent to `meaning(a, b)` and within `allowed`. What is proved is
/// compared with evaluation on random inputs; a contradiction there is a failure of the test.
fn proves(
    w: &Words,
    out: NodeId,
    ranges: [(i64, i64); 2],
    allowed: (i64, i64),
    meaning: Meaning,
) -> bool {
    let inputs = ranges.iter().map(|&(lo, hi)| InputRange { lo, hi, signed: true }).collect();
    let mut walk = Walk::new(&w.g, Q as u32, inputs);
    walk.run(&[out], &mut |_, _| true);
    let Ok(output) = walk.output(out, 16, true) else { return false };
    if output.lo < allowed.0 || output.hi > allowed.1 {
        return false;
    }
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
                    _ => [lo, hi][(r.next() & 1) as usize],
                }
            })
        };
        let bits = tape.run(|o, i| value(o, i) as u64)[0];
        let value = |o: u16, i: u32| memo.get(&(o, i)).copied().unwrap_or(0);
        let word = i64::from(bits as i16);
        assert!(output.lo <= word && word <= output.hi, "{word} outside the proved range");
        let audit = Audit::new(&mut walk.cut.world, &value).unwrap();
        let residue = audit.residue(&walk.cut.world, &output.residue);
        assert_eq!((i128::from(word) - residue).rem_euclid(Q.into()), 0, "a false residue form");
        agrees &= (word - meaning(&value)).rem_euclid(Q) == 0;
    }
    agrees
}

const FULL: (i64, i64) = (-32768, 32767);
const CENTRED: (i64, i64) = (-2295, 2295);

fn inverse_r() -> i64 {
    ringforge_ring::zq::inv(65536 % Q as u64, Q as u64).unwrap() as i64
}

#[test]
fn montgomery_by_a_constant() {
    let build = |change: usize| {
        let mut w = Words::default();
        let x = w.a(0);
        let c = 1997;
        let out = match change {
            0 => w.montgomery(x, c, QINV),
            1 => w.montgomery(x, c, QINV + 1),
            2 => {
                // Operands of the last subtraction swapped.
                let (k, kq, q) = (w.k(c), w.k(c * QINV), w.k(Q));
                let hi = w.mulhi(x, k);
                let t = w.mullo(x, kq);
                let m = w.mulhi(t, q);
                w.sub(m, hi)
            }
            3 => {
                let k = w.k(c);
                w.mulhi(x, k)
            }
            _ => {
                let (k, kq, q) = (w.k(c + 1), w.k(c * QINV), w.k(Q));
                let hi = w.mulhi(x, k);
                let t = w.mullo(x, kq);
                let m = w.mulhi(t, q);
                w.sub(hi, m)
            }
        };
        proves(&w, out, [FULL, FULL], (-4000, 4000), &|v| v(0, 0) * c * inverse_r())
    };
    assert!(build(0));
    for change in 1..5 {
        assert!(!build(change), "mutant {change}");
    }
}

#[test]
fn a_value_that_is_spelled_in_two_ways_is_one_variable() {
    // Montgomery's product of b by a reduced x, whose low half takes it as a difference of words,
    // and whose high half as the upper half of a difference of double words.
    let build = |change: usize| {
        let mut w = Words::default();
        let (x, b, c) = (w.a(0), w.b(0), 1997);
        let words = w.montgomery(x, if change == 1 { c + 1 } else { c }, QINV);
        let (k, kq, q) = (w.k(c), w.k(c * QINV), w.k(Q));
        let (product, t) = (w.wide(x, k), w.mullo(x, kq));
        let multiple = w.wide(t, q);
        let difference = w.g.sub(product, multiple);
        let mut double = w.g.slice(difference, 16, 16);
        if change == 2 {
            // Congruent, and another integer.
            let (zero, more) = (w.k(0), w.add(double, q));
            let negative = w.g.slt(double, zero);
            double = w.g.select(negative, more, double);
        }
        let inverse = w.k(if change == 3 { QINV + 2 } else { QINV });
        let high = w.mulhi(double, b);
        let low = w.mullo(words, b);
        let low = w.mullo(low, inverse);
        let low = w.mulhi(low, q);
        let out = w.sub(high, low);
        let r = inverse_r();
        proves(&w, out, [FULL, CENTRED], FULL, &|v| v(0, 0) * c % Q * r % Q * v(1, 0) % Q * r)
    };
    assert!(build(0));
    for change in 1..4 {
        assert!(!build(change), "mutant {change}");
    }
}

#[test]
fn a_value_and_minus_it_are_one_variable() {
    // Montgomery's product of b by a sum of reduced values, of which the low half takes minus that
    // sum, reduced by minus the constants.
    let build = |change: i64| {
        let mut w = Words::default();
        let (x, y, b, c) = (w.a(0), w.a(1), w.b(0), 1997);
        let mut sum = |c: i64, d: i64| {
            let (x, y) = (w.montgomery(x, c, QINV), w.montgomery(y, d, QINV));
            w.add(x, y)
        };
        let plus = sum(c, -c);
        let mut minus = if change == 1 { sum(-c, c + 1) } else { sum(-c, c) };
        let q = w.k(Q);
        if change == 2 {
            // Congruent, and another integer.
            minus = w.add(minus, q);
        }
        let inverse = w.k(if change == 3 { QINV } else { -QINV });
        let high = w.mulhi(plus, b);
        let low = w.mullo(minus, b);
        let low = w.mullo(low, inverse);
        let low = w.mulhi(low, q);
        let out = w.sub(high, low);
        let r = inverse_r();
        proves(&w, out, [(-3000, 3000), CENTRED], FULL, &|v| {
            (v(0, 0) - v(0, 1)) * c % Q * r % Q * v(1, 0) % Q * r
        })
    };
    assert!(build(0));
    for change in 1..4 {
        assert!(!build(change), "mutant {change}");
    }
}

#[test]
fn low_halves_of_selected_double_words_are_known() {
    // A sum in a double word, what is above its low half being nothing's: x or x + q.
    let build = |change: usize| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.a(1));
        let (word, zero) = (w.add(x, y), w.k(0));
        let (wide, other) = (w.g.zext(x, 32), w.g.zext(y, 32));
        let sum = w.g.add(wide, other);
        let q = w.g.constant(32, (Q + i64::from(change == 1)) as u64);
        let more = w.g.add(sum, q);
        let negative = w.g.slt(word, zero);
        let one = match change {
            2 => w.g.select(negative, sum, sum),
            _ => w.g.select(negative, more, sum),
        };
        let out = w.g.slice(one, if change == 3 { 16 } else { 0 }, 16);
        proves(&w, out, [(-2000, 2000); 2], (0, Q - 1), &|v| v(0, 0) + v(0, 1))
    };
    assert!(build(0));
    for change in 1..4 {
        assert!(!build(change), "mutant {change}");
    }
}

#[test]
fn words_in_registers_without_sign_are_no_wider_than_words() {
    // x reduced, and y reduced in a register of twice the width, both halves of it without sign; the
    // sum is a word, of which a Montgomery product is taken.
    let build = |change: usize, range: (i64, i64)| {
        let mut w = Words::default();
        let (x, y, c) = (w.a(0), w.b(0), 1997);
        let first = w.montgomery(x, c, QINV);
        let (k, kq, q) = (w.k(c + 1), w.k((c + 1) * QINV), w.k(Q));
        let (hi, t) = (w.mulhi(y, k), w.mullo(y, kq));
        let m = w.mulhi(t, q);
        let (hi, m) = (w.g.zext(hi, 32), w.g.zext(m, 32));
        let second = w.g.sub(hi, m);
        let mut all = w.g.zext(first, 32);
        for _ in 0..if change == 1 { 30 } else { 1 } {
            all = w.g.add(all, second);
        }
        let word = w.g.slice(all, if change == 2 { 1 } else { 0 }, 16);
        let out = w.montgomery(word, c, if change == 3 { QINV + 2 } else { QINV });
        let r = inverse_r();
        let times = if change == 1 { 30 } else { 1 };
        let meaning = |v: &dyn Fn(u16, u32) -> i64| {
            (v(0, 0) * c + times * v(1, 0) * (c + 1)) % Q * r % Q * c % Q * r
        };
        proves(&w, out, [range; 2], FULL, &meaning)
    };
    assert!(build(0, (-3000, 3000)));
    assert!(build(0, (-1, 1)));
    for change in 1..4 {
        assert!(!build(change, (-3000, 3000)), "mutant {change}");
    }
}

#[test]
fn a_factor_that_wraps_is_multiplied_as_what_its_low_bits_are_of() {
    // Montgomery's product modulo p of two variables, one of them divided by p beforehand, in a ring
    // modulo a power of two, in which the word that wraps is no less known.
    let (p, inverse) = (1153, 15233);
    let build = |change: usize| {
        let mut w = Words::default();
        let (x, y, q) = (w.a(0), w.b(0), w.k(p));
        let k = w.k(if change == 1 { inverse + 2 } else { inverse });
        let over = w.mullo(y, k);
        let high = w.mulhi(x, if change == 2 { over } else { y });
        let mut low = w.mullo(x, over);
        if change == 2 {
            low = w.mullo(low, k);
        }
        let low = w.mulhi(low, q);
        let out = w.sub(high, low);
        let ranges = [(-1024, 1023), (-31, 31)];
        let inputs = ranges.map(|(lo, hi)| InputRange { lo, hi, signed: true });
        let mut walk = Walk::new(&w.g, 2048, inputs.to_vec());
        walk.run(&[out], &mut |_, _| true);
        let form = walk.form(out).cloned().unwrap();
        let Ok((v, m, 0)) = walk.cut.as_variable(&form, 16) else { return false };
        if walk.cut.world.var(v).residue.m != p as u32 {
            return false;
        }
        // The audit compares all variables with what is said of them.
        let mut random = Random(3);
        let tape = Tape::new(&w.g, &[out]).unwrap();
        let r = ringforge_ring::zq::inv(65536 % p as u64, p as u64).unwrap() as i64;
        (0..100).all(|_| {
            let mut value = |(lo, hi): (i64, i64)| lo + (random.next() % (hi - lo) as u64) as i64;
            let values = ranges.map(&mut value);
            let word = tape.run(|o, _| values[o as usize] as u64)[0] as i16;
            let audit = Audit::new(&mut walk.cut.world, &|o, _| values[o as usize]).unwrap();
            let residue = audit.residue(&walk.cut.world, &walk.cut.world.var(v).residue);
            assert_eq!((i128::from(m * i64::from(word)) - residue) % i128::from(p), 0);
            (i64::from(word) - values[0] * values[1] % p * r) % p == 0
        })
    };
    assert!(build(0));
    for change in 1..3 {
        assert!(!build(change), "mutant {change}");
    }
}

#[test]
fn reassociated_montgomery_sums_meet_their_halves() {
    // hi(x) + hi(y) - m(x) - m(y), with the subtractions reordered.
    let build = |wrong: bool| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.a(1));
        let (c, d) = (1234, -777);
        let (kc, kd) = (w.k(c), w.k(d));
        let (cq, dq, q) = (w.k(c * QINV), w.k(d * QINV), w.k(Q));
        let (hx, hy) = (w.mulhi(x, kc), w.mulhi(y, kd));
        let tx = w.mullo(x, cq);
        let ty = w.mullo(if wrong { x } else { y }, dq);
        let (mx, my) = (w.mulhi(tx, q), w.mulhi(ty, q));
        let hi = w.add(hx, hy);
        let out = w.sub(hi, my);
        let out = w.sub(out, mx);
        proves(&w, out, [FULL, FULL], FULL, &|v| (v(0, 0) * c + v(0, 1) * d) * inverse_r())
    };
    assert!(build(false));
    assert!(!build(true));
}

#[test]
fn shared_low_halves_lose_carries() {
    // hi(x) + hi(y) - mulhi(lo(x) + lo(y), q): the carry between the low halves is missing.
    let mut w = Words::default();
    let (x, y) = (w.a(0), w.a(1));
    let (c, d, q) = (w.k(1234), w.k(-777), w.k(Q));
    let (cq, dq) = (w.k(1234 * QINV), w.k(-777 * QINV));
    let (hx, hy) = (w.mulhi(x, c), w.mulhi(y, d));
    let (tx, ty) = (w.mullo(x, cq), w.mullo(y, dq));
    let t = w.add(tx, ty);
    let m = w.mulhi(t, q);
    let h = w.add(hx, hy);
    let out = w.sub(h, m);
    assert!(read(&w, out, [FULL, FULL]).is_err());
}

#[test]
fn barrett_with_a_rounding_product() {
    let build = |v: i64, shift: u64, q: i64| {
        let mut w = Words::default();
        let x = w.a(0);
        let out = w.barrett(x, v, shift, q);
        proves(&w, out, [FULL, FULL], (-2881, 2881), &|v| v(0, 0))
    };
    assert!(build(7, 15, Q));
    assert!(!build(7, 14, Q), "a shift by one less");
    assert!(!build(6, 15, Q), "a constant one off");
    assert!(!build(7, 15, Q + 2), "another modulus");
    // The range is exact: one less is refused.
    let mut w = Words::default();
    let x = w.a(0);
    let out = w.barrett(x, 7, 15, Q);
    let r = read(&w, out, [FULL, FULL]).unwrap();
    assert_eq!((r.lo, r.hi), (-2881, 2881)); // as recomputed from [Chiu25]
}

#[test]
fn barrett_of_a_sum_is_one_enumeration() {
    let build = |lo: i64, hi: i64| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.a(1));
        let s = w.add(x, y);
        let out = w.barrett(s, 7, 15, Q);
        proves(&w, out, [(lo, hi), FULL], (-2881, 2881), &|v| v(0, 0) + v(0, 1))
    };
    assert!(build(-16384, 16383), "a + b just fits");
    assert!(!build(-16384, 16384), "one more wraps");
    assert!(!build(-16385, 16383), "one less wraps");
}

/// Barrett's product by c; the quotient's constant is `off` more than it should be.
fn barrett_product(w: &mut Words, x: NodeId, c: i64, off: i64) -> NodeId {
    let rounded = (2 * (c << 15) + Q).div_euclid(2 * Q);
    let (c, rounded, q) = (w.k(c), w.k(rounded + off), w.k(Q));
    let t = w.mulhrs(x, rounded, 15);
    let (low, m) = (w.mullo(x, c), w.mullo(t, q));
    w.sub(low, m)
}

#[test]
fn a_sum_of_barrett_products_is_multiplied_by_montgomery() {
    // The factor's multiple by 1/q comes first: its coefficients wrap.
    let build = |wrong: usize| {
        let mut w = Words::default();
        let (x, y, z) = (w.a(0), w.a(1), w.b(0));
        let sum = w.add(x, y);
        let off = if wrong == 1 { 200 } else { 0 };
        let (u, v) = (barrett_product(&mut w, sum, 1632, 0), barrett_product(&mut w, y, 2066, off));
        let s = w.add(u, v);
        let (inverse, q) = (w.k(if wrong == 2 { QINV + 2 } else { QINV }), w.k(Q));
        let multiple = w.mullo(s, inverse);
        let t = w.mullo(multiple, z);
        let m = w.mulhi(t, q);
        let hi = w.mulhi(s, z);
        let out = if wrong == 3 { w.add(hi, m) } else { w.sub(hi, m) };
        let meaning = |v: &dyn Fn(u16, u32) -> i64| {
            ((v(0, 0) + v(0, 1)) * 1632 + v(0, 1) * 2066) % Q * v(1, 0) * inverse_r()
        };
        proves(&w, out, [(-5000, 5000), (-2295, 2295)], FULL, &meaning)
    };
    assert!(build(0));
    for wrong in 1..4 {
        assert!(!build(wrong), "mutant {wrong}");
    }
}

#[test]
fn barrett_of_a_sum_that_is_merged_with_others() {
    // s = a + b + c + d is reduced; of s - q·t - a - b only half of s is left to be seen.
    let build = |wrong: usize, range: (i64, i64)| {
        let mut w = Words::default();
        let x: Vec<NodeId> = (0..4).map(|i| w.a(i)).collect();
        let (ab, cd) = (w.add(x[0], x[1]), w.add(x[2], x[3]));
        let s = w.add(ab, cd);
        let (v, q) = (w.k(if wrong == 1 { -7 } else { 7 }), w.k(Q));
        let t = w.mulhrs(s, v, 15);
        let m = w.mullo(t, q);
        let y = w.sub(cd, m);
        let y = if wrong == 2 { w.sub(y, m) } else { y };
        // A use: y times a constant by Montgomery, right only if y is a word.
        let out = w.montgomery(y, 1997, QINV);
        proves(&w, out, [range, FULL], FULL, &|v| (v(0, 2) + v(0, 3)) * 1997 * inverse_r())
    };
    assert!(build(0, (-8192, 8191)));
    assert!(!build(0, (-8193, 8191)), "s wraps");
    for wrong in 1..3 {
        assert!(!build(wrong, (-8192, 8191)), "mutant {wrong}");
    }
}

#[test]
fn a_sum_that_wraps_in_between_is_harmless_but_not_at_its_use() {
    let build = |back: bool| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.a(1));
        let s = w.add(x, y);
        let d = if back { w.sub(s, y) } else { s };
        let out = w.montgomery(d, 1997, QINV);
        proves(&w, out, [FULL, FULL], FULL, &|v| {
            (v(0, 0) + if back { 0 } else { v(0, 1) }) * 1997 * inverse_r()
        })
    };
    assert!(build(true));
    assert!(!build(false));
}

#[test]
fn freezing_by_unsigned_minimum() {
    let build = |low: i64, high: i64, h: i64, second: bool| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.a(1));
        let (h, q) = (w.k(h), w.k(Q));
        let s = w.add(x, y); // two variables: the minimum must see one
        let u = w.add(s, h);
        let up = w.add(u, q);
        let v = w.umin(u, up);
        let down = w.sub(v, q);
        let z = if second { w.umin(v, down) } else { v };
        let out = w.sub(z, h);
        proves(&w, out, [(low, high), (low, high)], CENTRED, &|v| v(0, 0) + v(0, 1))
    };
    assert!(build(-3443, 3443, 2295, true));
    assert!(!build(-3444, 3443, 2295, true), "below -q - (q - 1)/2");
    assert!(!build(-3443, 3443, 2294, true), "another middle");
    assert!(!build(-3443, 3443, 2295, false), "the second minimum dropped");
}

#[test]
fn freezing_by_compare_and_mask() {
    let build = |wrong: usize| {
        let mut w = Words::default();
        let x = w.a(0);
        let (q, half) = (w.k(Q), w.k(2295));
        let over = w.g.slt(half, x);
        let (ones, zero) = (w.k(-1), w.k(0));
        let mask = match wrong {
            1 => w.g.select(over, zero, ones),
            _ => w.g.select(over, ones, zero),
        };
        let m = match wrong {
            2 => {
                let p = w.k(Q - 1);
                w.g.and(mask, p)
            }
            _ => w.g.and(mask, q),
        };
        let x = w.sub(x, m);
        let low = w.k(-2295);
        let under = w.g.slt(x, low);
        let mask = w.g.sext(under, 16);
        let m = w.g.and(mask, q);
        let out = if wrong == 3 { x } else { w.add(x, m) };
        proves(&w, out, [(-6886, 6886), FULL], CENTRED, &|v| v(0, 0))
    };
    assert!(build(0));
    for wrong in 1..4 {
        assert!(!build(wrong), "mutant {wrong}");
    }
}

/// A dot product of pairs of words (vpmaddwd), reduced by packed Montgomery.
fn dot(change: usize, n: u32, range: (i64, i64)) -> bool {
    let mut w = Words::default();
    let mut sum = w.g.constant(32, 0);
    for i in 0..n {
        let (x, y) = (w.a(i), w.b(n - 1 - i));
        let p = w.wide(x, y);
        sum = w.g.add(sum, p);
    }
    let lo = w.g.slice(sum, 0, 16);
    let hi = w.g.slice(sum, 16, 16);
    let qinv = w.k(if change == 1 { QINV + 2 } else { QINV });
    let q = w.k(if change == 2 { Q - 2 } else { Q });
    let t = w.mullo(lo, qinv);
    let m = w.mulhi(t, q);
    let out = match change {
        3 => w.sub(m, hi),
        4 => hi,
        5 => {
            let low = w.g.slice(sum, 1, 16);
            let t = w.mullo(low, qinv);
            let m = w.mulhi(t, q);
            w.sub(hi, m)
        }
        _ => w.sub(hi, m),
    };
    proves(&w, out, [range, range], FULL, &|v| {
        (0..n).map(|i| v(0, i) * v(1, n - 1 - i)).sum::<i64>() % Q * inverse_r()
    })
}

#[test]
fn packed_montgomery_of_a_dot_product() {
    assert!(dot(0, 16, CENTRED));
    for change in 1..6 {
        assert!(!dot(change, 16, CENTRED), "mutant {change}");
    }
    // The result is a word while |p| < 2^31 - q·2^15, which is 2·31594².
    assert!(dot(0, 2, (-31590, 31590)));
    assert!(!dot(0, 2, (-31610, 31610)), "the result may be 2^15");
    assert!(!dot(0, 3, (-31590, 31590)), "the sum of three exceeds 2^31");
}

#[test]
fn thirty_two_bit_montgomery() {
    // (p - t·q) >> 16 with t = lo16(p)·q⁻¹.
    let build = |change: usize, n: u32| {
        let mut w = Words::default();
        let mut p = w.g.constant(32, 0);
        for i in 0..n {
            let (x, y) = (w.a(i), w.b(i));
            let x = w.wide(x, y);
            p = w.g.add(p, x);
        }
        let qinv = w.g.constant(32, QINV as u64);
        let t = w.g.mul(p, qinv);
        let t = w.g.slice(t, 0, 16);
        let t = if change == 1 { w.g.zext(t, 32) } else { w.g.sext(t, 32) };
        let q = w.g.constant(32, if change == 2 { 4590 } else { 4591 });
        let m = w.g.mul(t, q);
        let r = if change == 3 { w.g.add(p, m) } else { w.g.sub(p, m) };
        let r = w.g.ashr(r, if change == 4 { 15 } else { 16 });
        let out = w.g.slice(r, 0, 16);
        proves(&w, out, [CENTRED, CENTRED], FULL, &|v| {
            (0..n).map(|i| v(0, i) * v(1, i)).sum::<i64>() % Q * inverse_r()
        })
    };
    assert!(build(0, 8));
    // Reading t unsigned is right modulo q, and still fits.
    assert!(build(1, 8));
    for change in 2..5 {
        assert!(!build(change, 8), "mutant {change}");
    }
    // A sum and what is done to it may be any of the variants of a real product.
    assert!(build(0, 1) && build(0, 64));
}

#[test]
fn montgomery_of_two_variables_by_split_halves() {
    let build = |change: usize| {
        let mut w = Words::default();
        let (x, y) = (w.a(0), w.b(0));
        let (qinv, q) = (w.k(QINV), w.k(Q));
        let prepared = w.mullo(y, qinv);
        let t = w.mullo(x, prepared);
        let hi = if change == 1 { w.mulhi(x, x) } else { w.mulhi(x, y) };
        let t = if change == 2 { w.mullo(x, y) } else { t };
        let m = w.mulhi(t, q);
        let out = if change == 3 { w.add(hi, m) } else { w.sub(hi, m) };
        proves(&w, out, [CENTRED, CENTRED], FULL, &|v| v(0, 0) * v(1, 0) % Q * inverse_r())
    };
    assert!(build(0));
    for change in 1..4 {
        assert!(!build(change), "mutant {change}");
    }
}

#[test]
fn karatsuba_over_differences() {
    // (a0 + a1)(b0 + b1) - a0·b0 - a1·b1 = a0·b1 + a1·b0, reduced.
    let build = |wrong: bool| {
        let mut w = Words::default();
        let (a0, a1, b0, b1) = (w.a(0), w.a(1), w.b(0), w.b(1));
        let (sa, sb) = (w.add(a0, a1), w.add(b0, b1));
        let p = w.wide(sa, sb);
        let p0 = w.wide(a0, b0);
        let p1 = w.wide(a1, if wrong { b0 } else { b1 });
        let d = w.g.sub(p, p0);
        let d = w.g.sub(d, p1);
        let lo = w.g.slice(d, 0, 16);
        let hi = w.g.slice(d, 16, 16);
        let (qinv, q) = (w.k(QINV), w.k(Q));
        let t = w.mullo(lo, qinv);
        let m = w.mulhi(t, q);
        let out = w.sub(hi, m);
        proves(&w, out, [CENTRED, CENTRED], FULL, &|v| {
            (v(0, 0) * v(1, 1) + v(0, 1) * v(1, 0)) % Q * inverse_r()
        })
    };
    assert!(build(false));
    assert!(!build(true));
}

#[test]
fn values_that_are_not_understood_never_cancel() {
    // Both sides mix two variables without linearity; they differ.
    let mut w = Words::default();
    let (x, y) = (w.a(0), w.b(0));
    let m = w.g.and(x, y);
    let o = w.g.or(x, y);
    let d = w.sub(m, o);
    let out = w.add(d, x);
    assert!(read(&w, out, [CENTRED, CENTRED]).is_err());
    // The same value twice does cancel.
    let z = w.sub(m, m);
    let out = w.add(z, x);
    assert!(proves(&w, out, [CENTRED, CENTRED], CENTRED, &|v| v(0, 0)));
}

#[test]
fn selecting_between_operands_is_not_linear() {
    let mut w = Words::default();
    let (x, y) = (w.a(0), w.b(0));
    let zero = w.k(0);
    let c = w.g.slt(x, zero);
    let out = w.g.select(c, x, y);
    assert!(read(&w, out, [CENTRED, CENTRED]).is_err());
}
