//! The checker's evaluation of a function at many consecutive points: operation by operation over
//! columns of points, so that an operation is looked at once for many of them.

use crate::check::{Code, Step};

/// Points that are evaluated together.
const COLUMN: usize = 512;

/// The values (signed reading) of the last step at `lo..=hi`.
pub(crate) fn table(steps: &[(Code, Step)], lo: i64, hi: i64) -> Vec<i64> {
    let mut out = Vec::with_capacity((hi - lo + 1) as usize);
    let mut columns = vec![[0u64; COLUMN]; steps.len()];
    let mut at = lo;
    while at <= hi {
        let points = ((hi - at + 1) as usize).min(COLUMN);
        for i in 0..steps.len() {
            let (earlier, rest) = columns.split_at_mut(i);
            column(steps, i, at, earlier, &mut rest[0]);
        }
        let width = steps.last().map_or(64, |s| s.1.width);
        let last = columns.last().map_or(&[][..], |c| &c[..points]);
        out.extend(last.iter().map(|&v| signed(v, width)));
        at += points as i64;
    }
    out
}

/// Where, if anywhere, `values[i]` is not congruent to `expected + i·step` modulo q; `expected` and
/// `step` lie in `[0, q)`.
///
/// Floating point finds the quotient, and an exact product shows that it is one: a wrong quotient
/// could only reject.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn first_not_congruent(
    values: &[i64],
    mut expected: i64,
    step: i64,
    q: i64,
) -> Option<usize> {
    /// Adding and subtracting it rounds a number below 2^51 to the nearest integer.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let (modulus, inverse) = (q as f64, 1.0 / q as f64);
    let mut wanted = [0i64; COLUMN];
    for (number, part) in values.chunks(COLUMN).enumerate() {
        for w in &mut wanted[..part.len()] {
            *w = expected;
            expected += step;
            if expected >= q {
                expected -= q;
            }
        }
        let pairs = || part.iter().zip(&wanted).map(|(v, w)| v.wrapping_sub(*w));
        let exact = pairs().fold(true, |all, d| all & (d.unsigned_abs() < 1 << 50));
        let multiples = exact
            && pairs().fold(true, |all, d| {
                let d = d as f64;
                let quotient = (d * inverse + ROUND) - ROUND;
                all & (quotient * modulus == d)
            });
        if !multiples && let Some(i) = pairs().position(|d| d % q != 0) {
            return Some(number * COLUMN + i);
        }
    }
    None
}

/// Bits of a word of `width` bits as a signed number.
#[inline]
fn signed(bits: u64, width: u32) -> i64 {
    let s = 64 - width;
    ((bits << s) as i64) >> s
}

/// One operation at the points from `x` on, as bits.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn column(
    steps: &[(Code, Step)],
    i: usize,
    x: i64,
    earlier: &[[u64; COLUMN]],
    out: &mut [u64; COLUMN],
) {
    let (code, s) = &steps[i];
    let mask = u64::MAX >> (64 - s.width);
    let arg = |k: usize| &earlier[s.args[k].0];
    let width = |k: usize| steps[s.args[k].0].1.width;
    let one = |out: &mut [u64; COLUMN], f: &dyn Fn(u64) -> u64| {
        out.iter_mut().zip(arg(0)).for_each(|(o, &a)| *o = f(a) & mask);
    };
    macro_rules! two {
        ($f:expr) => {
            for (o, (&a, &b)) in out.iter_mut().zip(arg(0).iter().zip(arg(1))) {
                *o = $f(a, b) & mask;
            }
        };
    }
    match code {
        Code::Lin => {
            let (k, slope) = (s.numbers[0] as u64, s.numbers[1] as u64);
            for (j, o) in out.iter_mut().enumerate() {
                *o = k.wrapping_add(slope.wrapping_mul((x as u64).wrapping_add(j as u64)));
            }
            for (t, &(_, c)) in s.args.iter().enumerate() {
                let w = width(t);
                for (o, &a) in out.iter_mut().zip(arg(t)) {
                    *o = o.wrapping_add((c as u64).wrapping_mul(signed(a, w) as u64));
                }
            }
            out.iter_mut().for_each(|o| *o &= mask);
        }
        Code::Const => out.fill(s.numbers[0] as u64 & mask),
        Code::Slice => {
            let by = s.numbers[0];
            one(out, &|a| a >> by);
        }
        Code::Concat => {
            out.fill(0);
            let mut at = 0;
            for t in 0..s.args.len() {
                out.iter_mut().zip(arg(t)).for_each(|(o, &a)| *o |= a << at);
                at += width(t);
            }
            out.iter_mut().for_each(|o| *o &= mask);
        }
        Code::Sext => {
            let w = width(0);
            out.iter_mut().zip(arg(0)).for_each(|(o, &a)| *o = signed(a, w) as u64 & mask);
        }
        Code::Zext => out.copy_from_slice(arg(0)),
        Code::Mul => two!(|a: u64, b: u64| a.wrapping_mul(b)),
        Code::And => two!(|a: u64, b: u64| a & b),
        Code::Or => two!(|a: u64, b: u64| a | b),
        Code::Xor => two!(|a: u64, b: u64| a ^ b),
        Code::Eq => two!(|a: u64, b: u64| u64::from(a == b)),
        Code::Ult => two!(|a: u64, b: u64| u64::from(a < b)),
        Code::Slt => {
            let (v, w) = (width(0), width(1));
            two!(|a: u64, b: u64| u64::from(signed(a, v) < signed(b, w)))
        }
        Code::Select => {
            for (j, o) in out.iter_mut().enumerate() {
                *o = if arg(0)[j] == 1 { arg(1)[j] } else { arg(2)[j] } & mask;
            }
        }
        Code::SatS => {
            let (w, half) = (width(0), (mask >> 1) as i64);
            one(out, &|a| signed(a, w).clamp(-half - 1, half) as u64);
        }
        Code::SatU => {
            let w = width(0);
            one(out, &|a| (signed(a, w).max(0) as u64).min(mask));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{evaluate, lines};

    #[test]
    fn congruence_is_exact() {
        let q = 4591;
        let mut values: Vec<i64> =
            (0..3000).map(|i| 17 + 5 * i + q * (i - 1500) * 90_000_000).collect();
        assert_eq!(first_not_congruent(&values, 17, 5, q), None);
        for at in [0, 511, 512, 2999] {
            for by in [1, -1, q - 1, 1 << 40] {
                values[at] += by;
                assert_eq!(first_not_congruent(&values, 17, 5, q), Some(at), "{at} {by}");
                values[at] -= by;
            }
        }
        // Beyond what floating point holds exactly.
        let far = [i64::MAX - i64::MAX % q + 3, (1 << 60) * 7 - (1 << 60) * 7 % q + 4];
        assert_eq!(first_not_congruent(&far, 3, 0, q), Some(1));
    }

    /// Every operation, at points on both sides of zero and across columns.
    #[test]
    fn columns_are_the_points() {
        let texts = [
            "(lin 16 3 5) (slice 8 4 #0) (sext 32 #1) (mul 32 #2 #0) (sats 16 #3) (satu 16 #3) (lin 16 0 0 #4*3 #5*-7)",
            "(lin 16 0 1) (const 16 -9) (and 16 #0 #1) (or 16 #0 #1) (xor 16 #2 #3) (concat 32 #4 #0) (zext 64 #5)",
            "(lin 16 0 1) (const 16 77) (eq 1 #0 #1) (ult 1 #0 #1) (slt 1 #0 #1) (select 16 #3 #0 #1) (select 16 #4 #5 #1) (select 16 #2 #1 #6)",
            "(lin 64 -5 3)",
        ];
        for text in texts {
            let steps = lines(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            let mut scratch = Vec::new();
            for (lo, hi) in [(-40_000, -39_000), (-600, 700), (32_000, 33_100), (5, 5)] {
                let points: Vec<i64> =
                    (lo..=hi).map(|x| evaluate(&steps, x, &mut scratch)).collect();
                assert_eq!(table(&steps, lo, hi), points, "{text}");
            }
        }
    }
}
