//! Lines modulo an integer that enumeration finds: no modulus is asked for.
//!
//! A function that is affine modulo m deviates from the line through its first two points by
//! multiples of m only. So the greatest common divisor of its deviations is the largest modulus in
//! which it is affine, and the moduli in which it is are the divisors of that.

use crate::values::inverse;

/// `f(x) = c·x + d` modulo m at all points of an interval. With `m = 0` both sides are equal
/// integers, and `m = 1` says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// The modulus.
    pub m: u64,
    /// Slope.
    pub c: i128,
    /// Value at 0.
    pub d: i128,
}

/// Moduli that are kept lie below this, lest products leave 64 bits.
const LARGEST: u128 = 1 << 62;

/// Of a modulus beyond 62 bits the part that may matter.
fn kept(mut m: u128) -> u64 {
    while m >= LARGEST && m.is_multiple_of(2) {
        m /= 2;
    }
    if m < LARGEST { m as u64 } else { 1 }
}

impl Line {
    /// No line at all.
    pub const NONE: Line = Line { m: 1, c: 0, d: 0 };

    /// The line through the values at lo, lo + 1, …; there must be at least one.
    pub fn through(lo: i64, values: &[i64]) -> Line {
        let Some(&first) = values.first() else { return Line::NONE };
        let c = values.get(1).map_or(0, |&v| i128::from(v) - i128::from(first));
        let mut line = Line { m: 0, c, d: i128::from(first) - c * i128::from(lo) };
        line.meet(lo, values);
        line
    }

    /// `(c, d)` modulo m, where it is a line modulo m.
    pub fn modulo(&self, m: u32) -> Option<(u32, u32)> {
        let of = |v: i128| v.rem_euclid(m.into()) as u32;
        self.m.is_multiple_of(m.into()).then(|| (of(self.c), of(self.d)))
    }

    /// The same with c and d in `[0, m)`, where m is not 0.
    pub fn reduced(self) -> Line {
        match i128::from(self.m) {
            0 => self,
            m => Line { m: self.m, c: self.c.rem_euclid(m), d: self.d.rem_euclid(m) },
        }
    }

    /// The line of c times the function.
    pub fn times(self, c: i64) -> Line {
        let m = u128::from(self.m) * u128::from(c.unsigned_abs());
        let c = i128::from(c);
        Line { m: kept(m), c: self.c.wrapping_mul(c), d: self.d.wrapping_mul(c) }
    }

    /// Shrinks the modulus so that the values at lo, lo + 1, … lie on it.
    pub fn meet(&mut self, lo: i64, values: &[i64]) {
        let mut at = lo;
        // The first few values decide the modulus, and the others are quickly seen to agree.
        for chunk in values.chunks(64) {
            if self.m == 1 {
                return;
            }
            if !self.multiples(at, chunk) {
                for (i, &v) in chunk.iter().enumerate() {
                    let x = i128::from(at + i as i64);
                    self.deviates(i128::from(v) - (self.c * x + self.d));
                }
            }
            at += chunk.len() as i64;
        }
    }

    /// The same for the values `k + c·x` from lo to hi.
    pub fn meet_line(&mut self, lo: i64, hi: i64, k: i128, c: i128) {
        self.deviates((k - self.d) + (c - self.c) * i128::from(lo));
        if hi > lo {
            self.deviates(c - self.c);
        }
    }

    /// The same for the line on the points from lo on; `several` says whether there is more than
    /// one.
    pub fn join(&mut self, next: &Line, lo: i64, several: bool) {
        if self.m != 1 {
            self.meet_line(lo, lo.saturating_add(several.into()), next.d, next.c);
            self.deviates(next.m.into());
        }
    }

    fn deviates(&mut self, by: i128) {
        let (mut a, mut b) = (by.unsigned_abs(), u128::from(self.m));
        while b != 0 {
            (a, b) = (b, a % b);
        }
        self.m = kept(a);
    }

    /// Whether all deviations are multiples of m, quickly; false where it takes another way to
    /// know.
    fn multiples(&self, lo: i64, values: &[i64]) -> bool {
        if self.m == 0 || self.m >= 1 << 31 {
            return false;
        }
        let m = i64::try_from(self.m).unwrap_or(1);
        let twos = m.trailing_zeros();
        // v is a multiple of an odd m exactly if v/m modulo 2^64 is a number of size at most 2^63/m.
        let (inverse, bound) = (inverse(m >> twos), i64::MAX / (m >> twos));
        let even = (1i64 << twos) - 1;
        let c = self.c.rem_euclid(m.into()) as i64;
        let mut expected = (self.d + self.c * i128::from(lo)).rem_euclid(i128::from(m)) as i64;
        let mut ok = true;
        for &v in values {
            // Expected values stay below 2^42.
            let far = !(-(1 << 62)..1 << 62).contains(&v);
            let t = v.wrapping_sub(expected).wrapping_mul(inverse);
            ok &= (-bound <= t) & (t <= bound) & (t & even == 0) & !far;
            expected += c;
        }
        ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(lo: i64, values: &[i64]) -> (u64, Option<(u32, u32)>) {
        let l = Line::through(lo, values);
        (l.m, if l.m == 0 { None } else { l.modulo(l.m as u32) })
    }

    #[test]
    fn the_largest_modulus_is_found() {
        let over =
            |lo: i64, n: i64, f: &dyn Fn(i64) -> i64| -> Vec<i64> { (lo..lo + n).map(f).collect() };
        // Barrett, canonical residues, multiples of them, composites, powers of two.
        for m in [3i64, 17, 257, 4591, 7681, 12289, 8192, 2048, 90, 8380417, 1 << 20] {
            let f = |x: i64| (x * 1234 + 7).rem_euclid(m) - m / 2;
            let (found, l) = line(-5000, &over(-5000, 20000, &f));
            assert_eq!(found, m as u64);
            assert_eq!(l, Some(((1234 % m) as u32, (7 - m / 2).rem_euclid(m) as u32)));
            let g = |x: i64| 6 * (x * 7777).rem_euclid(m);
            assert_eq!(line(0, &over(0, 20000, &g)).0, 6 * m as u64);
        }
        assert_eq!(line(-100, &over(-100, 5000, &|x| 3 * x - 5)).0, 0, "a line of integers");
        assert_eq!(line(-100, &over(-100, 5000, &|x| x >> 1)).0, 1);
        assert_eq!(line(5, &[42]), (0, None));
    }

    #[test]
    fn one_value_that_is_off_decides() {
        let m = 7681i64;
        let values: Vec<i64> = (0..9000).map(|x: i64| (x * 5).rem_euclid(m)).collect();
        for at in [0, 1, 2, 1023, 1024, 8999] {
            for by in [1, -1, m - 1, 3 * 7681 + 3, 1 << 40] {
                let mut wrong = values.clone();
                wrong[at] += by;
                let l = Line::through(0, &wrong);
                assert!(l.modulo(7681).is_none(), "{at} {by}");
                // What is claimed holds at every point.
                let all = (0..9000i128).all(|x| {
                    l.m != 0 && (wrong[x as usize] as i128 - l.c * x - l.d) % i128::from(l.m) == 0
                });
                assert!(all, "{at} {by}");
            }
        }
        // Values at the ends of 64 bits are not mistaken.
        let far = [0, 0, i64::MIN, i64::MAX, i64::MIN + 1];
        let l = Line::through(0, &far);
        assert!(far.iter().all(|&v| i128::from(v) % i128::from(l.m) == 0) && l.m == 1);
    }
}
