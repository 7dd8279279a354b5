//! How a modular operation is done with 16-bit words: the schedule chooses among these.
//!
//! Each method knows its word operations (`expand`), its meaning on one word (`apply`,
//! the oracle of tests), and the range of its result (`range`), exact where one word is the
//! only variable.

use ringforge_ring::zq;
use serde::{Deserialize, Serialize};

/// Modular product of a word by a constant residue `c`; all accept every signed word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MulMethod {
    /// Signed Montgomery with split halves [Seiler18 §3.1]: with `b = c·2^16 mod q` centred,
    /// `mulhi(a, b) - mulhi(mullo(a, b/q), q)`. Four operations.
    Montgomery,
    /// Barrett with a rounded estimate [Chiu25 §2.2.1]: with `c` centred,
    /// `mullo(a, c) - mullo(mulhrs(a, round(c·2^15/q)), q)`. Four operations.
    Barrett,
}

/// Residue kept, range shrunk; all accept every signed word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReduceMethod {
    /// `a - mullo(mulhrs(a, round(2^15/q)), q)` [Barrett86; Chiu25 §2.2.1]. Three operations.
    Barrett,
    /// `a - mullo(sar(a, k) - (a < 0), q)`, `k = floor(log2 q)` [Chiu25 §3.4.2, Algorithm 2]:
    /// truncation instead of a multiplication. Five operations, one of them a product.
    Crude,
    /// Barrett without a rounding product (baseline x86-64 has none):
    /// `a - mullo(sar(mulhi(a, v) + 2^(s-1), s), q)` with `v = round(2^(16+s)/q)`, `s` the
    /// largest that keeps `v` a signed word. Five operations.
    BarrettHigh,
    /// [`MulMethod::Montgomery`] by one. Four operations, the tightest range.
    Montgomery,
}

/// Two registers of 32-bit elements to one of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NarrowMethod {
    /// Montgomery [Montgomery85, p. 519] on the halves: `hi - mulhi(mullo(lo, 1/q), q)`, so the
    /// scale is 2^-16. Needs `|x| < 2^31 - q·2^15`, so that the result is a word. Seven operations.
    Montgomery,
}

/// Product of two variable words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProductMethod {
    /// Signed Montgomery with split halves [Seiler18 §3.1]:
    /// `mulhi(a, b) - mulhi(mullo(a, mullo(b, 1/q)), q)`, so the scale is 2^-16. Five operations,
    /// of which `mullo(b, 1/q)` is shared by all products with the same b.
    Montgomery,
}

/// The canonical centred residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreezeMethod {
    /// Two unsigned minima: with `h = (q-1)/2`, `x = a + h`, `y = min(x, x + q)`,
    /// `z = min(y, y - q)`, `z - h`. Six operations, scale 1.
    Minimum,
    /// Montgomery reduction of a single word: `sar(a, 15) - mulhi(mullo(a, 1/q), q)`. Since
    /// |a| <= 2^15, `(a - t·q)/2^16` lies within q/2 and so is canonical. Four operations,
    /// scale 2^-16.
    Montgomery,
    /// The same for words made nonpositive by subtracting `k·q`: the high half of `t·q` is then
    /// the result itself, `mulhi(mullo(a - k·q, -1/q), q)`. Three operations, scale 2^-16.
    MontgomeryBiased {
        /// Multiples of q to subtract.
        k: i16,
    },
}

/// The interval `[lo, hi]`.
pub type Range = (i64, i64);

const R: i64 = 1 << 16;

fn word(x: i64) -> i64 {
    x as i16 as i64
}

fn mulhi(a: i64, b: i64) -> i64 {
    (a * b) >> 16
}

fn mulhrs(a: i64, b: i64) -> i64 {
    word((a * b + (1 << 14)) >> 15)
}

/// 1/q mod 2^16 as a signed word; q odd.
pub fn inverse_word(q: u64) -> i64 {
    let mut x: i64 = 1;
    for _ in 0..5 {
        x = word(x.wrapping_mul(2 - (q as i64).wrapping_mul(x) % R));
    }
    x
}

/// round(n / q) for positive q.
fn round_div(n: i64, q: i64) -> i64 {
    (2 * n + q).div_euclid(2 * q)
}

/// The two words per residue that a product by a constant needs, in the order of the expansion.
pub fn mul_constants(method: MulMethod, c: u64, q: u64) -> (i16, i16) {
    match method {
        MulMethod::Montgomery => {
            let b = zq::centered(zq::mul(c % q, (R as u64) % q, q), q);
            (b as i16, word(b * inverse_word(q)) as i16)
        }
        MulMethod::Barrett => {
            let b = zq::centered(c % q, q);
            (b as i16, round_div(b << 15, q as i64) as i16)
        }
    }
}

impl MulMethod {
    /// The result for one word.
    pub fn apply(self, a: i16, c: u64, q: u64) -> i64 {
        let (b, b2) = mul_constants(self, c, q);
        let (a, b, b2, q) = (a as i64, b as i64, b2 as i64, q as i64);
        match self {
            MulMethod::Montgomery => word(mulhi(a, b) - mulhi(word(a * b2), q)),
            MulMethod::Barrett => word(word(a * b) - word(mulhrs(a, b2) * q)),
        }
    }

    /// The exact range of the result over an interval of words.
    pub fn range(self, a: Range, c: u64, q: u64) -> Range {
        exact(a, |x| self.apply(x, c, q))
    }
}

impl ReduceMethod {
    /// The result for one word.
    pub fn apply(self, a: i16, q: u64) -> i64 {
        let x = a as i64;
        let m = q as i64;
        match self {
            ReduceMethod::Barrett => word(x - word(mulhrs(x, round_div(1 << 15, m)) * m)),
            ReduceMethod::Crude => {
                let t = (x >> q.ilog2()) + i64::from(x < 0);
                word(x - word(t * m))
            }
            ReduceMethod::BarrettHigh => {
                let (v, s) = high_constants(q);
                let t = word(mulhi(x, v as i64) + (1 << (s - 1))) >> s;
                word(x - word(t * m))
            }
            ReduceMethod::Montgomery => MulMethod::Montgomery.apply(a, 1, q),
        }
    }

    /// The exact range of the result over an interval of words.
    pub fn range(self, a: Range, q: u64) -> Range {
        exact(a, |x| self.apply(x, q))
    }
}

/// Multiplier and shift of [`ReduceMethod::BarrettHigh`].
pub fn high_constants(q: u64) -> (i16, u8) {
    let mut s = 1;
    while s < 15 && round_div(1 << (17 + s), q as i64) < 1 << 15 {
        s += 1;
    }
    (round_div(1 << (16 + s), q as i64) as i16, s as u8)
}

impl NarrowMethod {
    /// The residue it multiplies by.
    pub fn scale(self, q: u64) -> u64 {
        match self {
            NarrowMethod::Montgomery => inverse_of_r(q),
        }
    }

    /// The result for one 32-bit element.
    pub fn apply(self, x: i32, q: u64) -> i64 {
        let x = x as i64;
        let lo = word(x);
        word((x >> 16) - mulhi(word(lo * inverse_word(q)), q as i64))
    }

    /// Bounds of the result for elements in an interval; `None` where it may not be a word.
    pub fn range(self, x: Range, q: u64) -> Option<Range> {
        let (q, half) = (q as i64, R / 2);
        // (x - t·q)/2^16 exactly, with t in [-2^15, 2^15 - 1]
        let lo = (x.0 - (half - 1) * q).div_euclid(R) + i64::from((x.0 - (half - 1) * q) % R != 0);
        let hi = (x.1 + half * q).div_euclid(R);
        (lo >= -half && hi < half).then_some((lo, hi))
    }
}

impl ProductMethod {
    /// The residue it multiplies by.
    pub fn scale(self, q: u64) -> u64 {
        match self {
            ProductMethod::Montgomery => inverse_of_r(q),
        }
    }

    /// The result for one pair of words.
    pub fn apply(self, a: i16, b: i16, q: u64) -> i64 {
        let (a, b, m) = (a as i64, b as i64, q as i64);
        word(mulhi(a, b) - mulhi(word(a * word(b * inverse_word(q))), m))
    }

    /// Bounds of the result for words in two intervals, from the extreme products: the result is
    /// `(a·b - t·q)/2^16` with t a signed word. `None` where it may not be a word.
    pub fn range(self, a: Range, b: Range, q: u64) -> Option<Range> {
        let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
        let lo = products.into_iter().min()?;
        let hi = products.into_iter().max()?;
        NarrowMethod::Montgomery.range((lo, hi), q)
    }
}

impl FreezeMethod {
    /// The residue it multiplies by.
    pub fn scale(self, q: u64) -> u64 {
        match self {
            FreezeMethod::Minimum => 1,
            FreezeMethod::Montgomery | FreezeMethod::MontgomeryBiased { .. } => inverse_of_r(q),
        }
    }

    /// The words for which the result is canonical.
    pub fn domain(self, q: u64) -> Range {
        let (q, half) = (q as i64, R / 2);
        match self {
            FreezeMethod::Minimum => (-(3 * q - 1) / 2, (3 * q - 1) / 2),
            FreezeMethod::Montgomery => (-half, half - 1),
            FreezeMethod::MontgomeryBiased { k } => (k as i64 * q - half + 1, k as i64 * q),
        }
    }

    /// The result for one word.
    pub fn apply(self, a: i16, q: u64) -> i64 {
        let (x, m) = (a as i64, q as i64);
        match self {
            FreezeMethod::Minimum => {
                let u = |v: i64| v as u16 as i64;
                let h = (m - 1) / 2;
                let x = u(x + h);
                let y = x.min(u(x + m));
                let z = y.min(u(y - m));
                word(z - h)
            }
            FreezeMethod::Montgomery => word((x >> 15) - mulhi(word(x * inverse_word(q)), m)),
            FreezeMethod::MontgomeryBiased { k } => {
                mulhi(word(word(x - k as i64 * m) * -inverse_word(q)), m)
            }
        }
    }
}

/// 2^-16 mod q.
pub fn inverse_of_r(q: u64) -> u64 {
    zq::inv(R as u64 % q, q).unwrap_or(0)
}

/// The exact image of an interval of words, by enumeration.
fn exact(a: Range, f: impl Fn(i16) -> i64) -> Range {
    let (mut lo, mut hi) = (i64::MAX, i64::MIN);
    for x in a.0.max(-(R / 2))..=a.1.min(R / 2 - 1) {
        let y = f(x as i16);
        lo = lo.min(y);
        hi = hi.max(y);
    }
    (lo, hi)
}

#[cfg(test)]
mod tests {
    use super::*;
    const Q: u64 = 4591;

    #[test]
    fn seed_ranges_of_reductions() {
        let all = (-32768, 32767);
        assert_eq!(ReduceMethod::Barrett.range(all, Q), (-2881, 2881));
        assert_eq!(ReduceMethod::Crude.range(all, Q), (-4096, 4095));
        assert_eq!(inverse_word(Q) * 4591 % R, 1 - R * i64::from(inverse_word(Q) < 0));
    }

    #[test]
    fn every_method_keeps_residues() {
        for a in i16::MIN..=i16::MAX {
            for m in [
                ReduceMethod::Barrett,
                ReduceMethod::Crude,
                ReduceMethod::BarrettHigh,
                ReduceMethod::Montgomery,
            ] {
                assert_eq!((m.apply(a, Q) - a as i64).rem_euclid(Q as i64), 0, "{m:?} {a}");
            }
            for m in [MulMethod::Montgomery, MulMethod::Barrett] {
                for c in [1, 2, 4, 1234, 2295, 2296, 4590] {
                    let off = m.apply(a, c, Q) - a as i64 * c as i64;
                    assert_eq!(off.rem_euclid(Q as i64), 0, "{m:?} {a}·{c}");
                }
            }
        }
    }

    #[test]
    fn product_of_words_is_congruent_and_within_its_bounds() {
        let corners = [-32768i16, -32767, -4591, -2881, -1, 0, 1, 2295, 2881, 9182, 32767];
        for a in corners {
            for b in i16::MIN..=i16::MAX {
                let y = ProductMethod::Montgomery.apply(a, b, Q);
                let off = y * R - a as i64 * b as i64;
                assert_eq!(off.rem_euclid(Q as i64), 0, "{a}·{b}");
                let point = |x: i16| (x as i64, x as i64);
                let (lo, hi) = ProductMethod::Montgomery.range(point(a), point(b), Q).unwrap();
                assert!(lo <= y && y <= hi, "{a}·{b} = {y} outside [{lo}, {hi}]");
            }
        }
    }

    #[test]
    fn freezing_is_canonical_on_its_whole_domain() {
        for q in [Q, 3329, 7681, 12289] {
            for m in [
                FreezeMethod::Minimum,
                FreezeMethod::Montgomery,
                FreezeMethod::MontgomeryBiased { k: 2 },
            ] {
                let (lo, hi) = m.domain(q);
                for a in lo.max(-32768)..=hi.min(32767) {
                    let want =
                        zq::centered(zq::mul(a.rem_euclid(q as i64) as u64, m.scale(q), q), q);
                    assert_eq!(m.apply(a as i16, q), want, "{m:?} {a} mod {q}");
                }
            }
        }
    }
}
