//! The methods that compute a modular operation with machine words: the schedule chooses among
//! them.
//!
//! Each method knows its word operations (`expand`), its meaning on one word (`apply`, the oracle
//! of tests), and the range of its result (`range`). For words of 16 bits the range is exact where
//! one word is the only variable. For words of 32 bits it is exact or comes from monotone rational
//! bounds.

mod narrow;
mod primitives;
mod reduce;

pub use narrow::NarrowMethod;
pub(crate) use narrow::barrett_constants;
pub use primitives::{Primitive, Refuted, Verified, primitives};
pub use reduce::ReduceMethod;
pub(crate) use reduce::{
    Shifts, exact_constants, floor_constants, folded_shifts, high_constants, low_constant,
    rounding_shift,
};

use ringforge_plan::Unit;
use ringforge_ring::zq;
use serde::{Deserialize, Serialize};

/// The interval `[lo, hi]`.
pub type Range = (i64, i64);

/// A modulus and the words that it is computed in. A bare number means words of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Modulus {
    /// The modulus, at most `2^bits`; for Montgomery's methods odd and below `2^(bits - 1)`.
    pub q: u64,
    /// Bits of a word: 16 or 32; 64 where sums of products need them, which low products and reductions by
    /// them alone serve.
    pub bits: u8,
}

impl From<u64> for Modulus {
    fn from(q: u64) -> Modulus {
        Modulus { q, bits: 16 }
    }
}

impl Modulus {
    /// All signed words.
    pub fn words(self) -> Range {
        let last = i64::MAX >> (64 - self.bits);
        (-last - 1, last)
    }

    /// 2^bits, of words that are no longer than 32 bits.
    pub fn radix(self) -> i64 {
        1 << self.bits
    }

    /// The signed word that is congruent to `x` mod 2^bits.
    #[inline]
    pub fn word(self, x: i64) -> i64 {
        match self.bits {
            16 => i64::from(x as i16),
            32 => i64::from(x as i32),
            _ => x,
        }
    }

    pub(crate) fn signed(self) -> i64 {
        self.q as i64
    }

    #[inline]
    fn mul_lo(self, a: i64, b: i64) -> i64 {
        self.word(a.wrapping_mul(b))
    }

    #[inline]
    fn mul_hi(self, a: i64, b: i64) -> i64 {
        (a * b) >> self.bits
    }

    #[inline]
    fn mul_hrs(self, a: i64, b: i64) -> i64 {
        self.word((a * b + (1 << (self.bits - 2))) >> (self.bits - 1))
    }

    /// The exact image of an interval of words, by enumeration.
    fn exact(self, a: Range, f: impl Fn(i64) -> i64) -> Range {
        let (first, last) = self.words();
        let all = (a.0.max(first)..=a.1.min(last)).map(f);
        all.fold((i64::MAX, i64::MIN), |r, y| (r.0.min(y), r.1.max(y)))
    }

    /// The integers in `[(x.0 - t·q)/R, (x.1 - t·q)/R]` for any signed word t and R = 2^bits:
    /// what a Montgomery reduction of x can give. `None` where that may not be a word.
    fn montgomery_range(self, x: (i128, i128)) -> Option<Range> {
        let (q, radix) = (i128::from(self.q), i128::from(self.radix()));
        let lo = -(-(x.0 - (radix / 2 - 1) * q)).div_euclid(radix);
        let hi = (x.1 + radix / 2 * q).div_euclid(radix);
        (lo >= -radix / 2 && hi < radix / 2).then_some((lo as i64, hi as i64))
    }
}

/// What can be done with a function of one word, whatever method it comes from.
trait Visitor {
    /// What it gives.
    type Out;
    /// Does it.
    fn visit(self, f: impl Fn(i64) -> i64 + Sync) -> Self::Out;
}

/// The function at one word.
struct At(i64);

impl Visitor for At {
    type Out = i64;
    fn visit(self, f: impl Fn(i64) -> i64 + Sync) -> i64 {
        f(self.0)
    }
}

/// The image of an interval by enumeration.
struct Image(Range, Modulus);

impl Visitor for Image {
    type Out = Range;
    fn visit(self, f: impl Fn(i64) -> i64 + Sync) -> Range {
        self.1.exact(self.0, f)
    }
}

/// `table[m] = max |f(x)|` over words of 16 bits with |x| <= m.
struct Largest;

impl Visitor for Largest {
    type Out = Vec<i64>;
    fn visit(self, f: impl Fn(i64) -> i64 + Sync) -> Vec<i64> {
        let mut most = 0;
        let upto = |m| {
            most = most.max(f(m).abs()).max(f(-m).abs());
            most
        };
        (0..=i64::from(i16::MAX)).map(upto).collect()
    }
}

/// Modular product of a word by a constant residue `c`; all accept every signed word.
///
/// With `b = c·2^w mod q` centred, w the bits of a word, the first three compute the same:
/// `(a·b - q·(a·b/q mod± 2^w))/2^w` [Seiler18 §3.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MulMethod {
    /// Signed Montgomery with split halves [Seiler18 §3.1]:
    /// `mulhi(a, b) - mulhi(mullo(a, b/q), q)`. Four operations. For words of 32 bits only where
    /// there is a high product (portable C).
    Montgomery,
    /// For words of 32 bits on machines that multiply even words to wide elements. One low product
    /// of all words gives the quotient `mullo(a, b/q)`; products by b and q are taken of even and
    /// of odd words. It takes eleven operations, five of them multiplies. The low multiply takes as
    /// long as two (measured on Zen 5).
    MontgomeryLow,
    /// The same with the quotients by wide products too. Eleven operations, six of them
    /// multiplies: the faster of the two where it was measured.
    MontgomeryWide,
    /// Barrett with a rounded estimate [Chiu25 §2.2.1]: with `c` centred,
    /// `mullo(a, c) - mullo(mulhrs(a, round(c·2^(w-1)/q)), q)`. Four operations.
    Barrett,
    /// Plantard with a signed remainder [Plantard21; Huang22 §3.2], for words of 16 bits. Let
    /// `b = -c·2^32 mod q`, centred, and `p = a·(b/q mod 2^32)`, signed, with the upper word t. The
    /// result is `((t + 2 mod 2^16)·q) >> 16`. Here p·q = a·b + k·2^32, and (t + 2)·q exceeds
    /// p·q/2^16 by q to 2q. Because |a·b|/2^16 is below q, the result is k = -a·b/2^32 mod q, or
    /// k - q where the sum wraps. It lies in [-(q+1)/2, (q-1)/2] for every word. It takes five
    /// operations on words, or two on machines that multiply words of 32 bits by those of 16
    /// (`smlawb`, `smulbt`).
    Plantard,
}

/// The largest modulus of Plantard's products: 2q and |a·b|/2^16 are less than 2^16 together, and where they round
/// ([`FreezeMethod::Plantard`]) `q/2^16 + 2^15·(q/2)/2^32 <= 1/2`.
const PLANTARD: u64 = 26_214;

/// What Plantard's products lack with this modulus, as a sentence; nothing where they work.
fn plantard_missing(m: Modulus) -> Option<String> {
    let works = m.bits == 16 && m.q % 2 == 1 && m.q <= PLANTARD;
    (!works).then(|| {
        format!(
            "Plantard's products need an odd q up to {PLANTARD} in words of 16 bits, not {}",
            m.q
        )
    })
}

/// The upper word of a·(second·2^16 + first).
fn upper_word(a: i64, (first, second): (i64, i64), m: Modulus) -> i64 {
    m.word(m.mul_lo(a, second) + m.mul_hi(a, first))
}

/// Product of two variable words. All compute the same, with the scale 2^-w.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProductMethod {
    /// Signed Montgomery with split halves [Seiler18 §3.1]:
    /// `mulhi(a, b) - mulhi(mullo(a, mullo(b, 1/q)), q)`. It takes five operations, and all
    /// products with the same b share `mullo(b, 1/q)`. For words of 32 bits it needs a high product
    /// (portable C).
    Montgomery,
    /// For words of 32 bits: the quotient by a low product of all words, as
    /// [`MulMethod::MontgomeryLow`]. It takes thirteen operations, and all products with the same b
    /// share two of them.
    MontgomeryLow,
    /// For words of 32 bits: wide products of even and of odd words, and their
    /// [`NarrowMethod::Montgomery`]. Twelve operations.
    MontgomeryWide,
}

/// The canonical centred residue, in `[-floor(q/2), floor((q-1)/2)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreezeMethod {
    /// Two unsigned minima: with `h = floor(q/2)`, `x = a + h`, `y = min(x, x + q)`,
    /// `z = min(y, y - q)`, `z - h`. Six operations, scale 1.
    Minimum,
    /// Montgomery reduction of a single word: `sar(a, w-1) - mulhi(mullo(a, 1/q), q)`. Since
    /// |a| <= 2^(w-1), `(a - t·q)/2^w` lies within q/2 and so is canonical. Four operations,
    /// scale 2^-w.
    Montgomery,
    /// The same for words made nonpositive by subtracting `k·q`: the high half of `t·q` is then
    /// the result itself, `mulhi(mullo(a - k·q, -1/q), q)`. Three operations, scale 2^-w.
    MontgomeryBiased {
        /// Multiples of q to subtract.
        k: i16,
    },
    /// [`MulMethod::Plantard`] by one, rounded: `(t·q + 2^15) >> 16`. The result is k itself, which lies within q/2, p being
    /// within 2^31, and so is canonical. Seven operations, scale 1.
    Plantard,
}

/// 1/q mod 2^w as a signed word; q odd.
pub fn inverse_word(m: impl Into<Modulus>) -> i64 {
    let m = m.into();
    // Newton's iteration doubles the bits that are right; 1 is right in one.
    (0..6).fold(1, |x, _| m.mul_lo(x, 2 - m.mul_lo(m.signed(), x)))
}

/// round(n / q) for positive q.
fn round_div(n: i128, q: i64) -> i64 {
    (2 * n + i128::from(q)).div_euclid(2 * i128::from(q)) as i64
}

/// The two words per residue that a product by a constant needs, in the order of the expansion.
pub fn mul_constants(method: MulMethod, c: u64, m: impl Into<Modulus>) -> (i32, i32) {
    let m = m.into();
    match method {
        MulMethod::Montgomery | MulMethod::MontgomeryLow | MulMethod::MontgomeryWide => {
            let b = zq::centered(zq::mul(c % m.q, m.radix() as u64 % m.q, m.q), m.q);
            (b as i32, m.mul_lo(b, inverse_word(m)) as i32)
        }
        MulMethod::Barrett => {
            let b = zq::centered(c % m.q, m.q);
            (b as i32, round_div(i128::from(b) << (m.bits - 1), m.signed()) as i32)
        }
        // The words of b/q mod 2^32, the lower one with sign.
        MulMethod::Plantard => {
            let radix = m.radix() as u64 % m.q;
            let b = zq::centered(zq::mul(m.q - c % m.q, zq::mul(radix, radix, m.q), m.q), m.q);
            let wide = Modulus { q: m.q, bits: 32 };
            let over = wide.mul_lo(b, inverse_word(wide));
            let low = m.word(over);
            (low as i32, m.word((over - low) >> m.bits) as i32)
        }
    }
}

impl MulMethod {
    /// What the method lacks with this modulus, as a sentence; nothing where it works.
    pub fn missing(self, m: impl Into<Modulus>) -> Option<String> {
        if self == MulMethod::Plantard { plantard_missing(m.into()) } else { None }
    }

    /// The result for one word.
    pub fn apply(self, a: i64, c: u64, m: impl Into<Modulus>) -> i64 {
        let m = m.into();
        let (b, b2) = mul_constants(self, c, m);
        self.with_constants(a, b.into(), b2.into(), m)
    }

    /// The largest magnitudes of products by `c` of words of 16 bits within 0, 1, ….
    pub(crate) fn largest(self, c: u64, m: Modulus) -> Vec<i64> {
        let (b, b2) = mul_constants(self, c, m);
        Largest.visit(|a| i64::from(self.short(a as i16, b as i16, b2 as i16, m)))
    }

    fn with_constants(self, a: i64, b: i64, b2: i64, m: Modulus) -> i64 {
        let q = m.signed();
        match self {
            MulMethod::Barrett => m.word(m.mul_lo(a, b) - m.mul_lo(m.mul_hrs(a, b2), q)),
            MulMethod::Plantard => m.mul_hi(m.word(upper_word(a, (b, b2), m) + 2), q),
            _ => m.word(m.mul_hi(a, b) - m.mul_hi(m.mul_lo(a, b2), q)),
        }
    }

    /// The same for words of 16 bits and in such words, so that a loop over all of them takes eight at a time.
    #[inline(always)]
    fn short(self, a: i16, b: i16, b2: i16, m: Modulus) -> i16 {
        let q = m.q as i16;
        let wide = |x: i16, y: i16| i32::from(x) * i32::from(y);
        let high = |x, y| (wide(x, y) >> 16) as i16;
        match self {
            MulMethod::Barrett => {
                let t = ((wide(a, b2) + (1 << 14)) >> 15) as i16;
                a.wrapping_mul(b).wrapping_sub(t.wrapping_mul(q))
            }
            MulMethod::Plantard => self.with_constants(a.into(), b.into(), b2.into(), m) as i16,
            _ => high(a, b).wrapping_sub(high(a.wrapping_mul(b2), q)),
        }
    }

    /// The range of the result over an interval of words: exact for words of 16 bits, else from
    /// the exact form of the error.
    pub fn range(self, a: Range, c: u64, m: impl Into<Modulus>) -> Range {
        let m = m.into();
        let (b, b2) = mul_constants(self, c, m);
        if m.bits == 16 {
            let last = a.1.min(m.words().1) as i16;
            let words = a.0.max(m.words().0) as i16..last;
            let (b, b2) = (b as i16, b2 as i16);
            let f = |x| self.short(x, b, b2, m);
            let end = f(last);
            let (lo, hi) = words.map(f).fold((end, end), |r, y| (r.0.min(y), r.1.max(y)));
            return (lo.into(), hi.into());
        }
        let (b, b2) = (i64::from(b), i64::from(b2));
        let (first, last) = m.words();
        let ends = |slope: i128| {
            let at = |x: i64| i128::from(x.clamp(first, last)) * slope;
            (at(a.0).min(at(a.1)), at(a.0).max(at(a.1)))
        };
        match self {
            // a·c - t·q, with t within 1/2 of a·b2/2^(w-1).
            MulMethod::Barrett => {
                let unit = 1i128 << (m.bits - 1);
                let (lo, hi) = ends(i128::from(b) * unit - i128::from(b2) * i128::from(m.q));
                let slack = unit / 2 * i128::from(m.q);
                ((-(slack - lo).div_euclid(unit)) as i64, (hi + slack).div_euclid(unit) as i64)
            }
            _ => m.montgomery_range(ends(b.into())).unwrap_or(m.words()),
        }
    }
}

impl ProductMethod {
    /// What it multiplies by.
    ///
    /// # Errors
    /// An even modulus.
    pub fn scale(self, m: impl Into<Modulus>) -> Result<Unit, EvenModulus> {
        inverse_of_r(m)
    }

    /// The result for one pair of words.
    pub fn apply(self, a: i64, b: i64, m: impl Into<Modulus>) -> i64 {
        let m = m.into();
        let t = m.mul_lo(m.mul_lo(a, b), inverse_word(m));
        m.word(m.mul_hi(a, b) - m.mul_hi(t, m.signed()))
    }

    /// Bounds of the result for words in two intervals, from the extreme products: the result is
    /// `(a·b - t·q)/2^w` with t a signed word. `None` where it may not be a word.
    pub fn range(self, a: Range, b: Range, m: impl Into<Modulus>) -> Option<Range> {
        let product = |x: i64, y: i64| i128::from(x) * i128::from(y);
        let all = [product(a.0, b.0), product(a.0, b.1), product(a.1, b.0), product(a.1, b.1)];
        m.into().montgomery_range((all.into_iter().min()?, all.into_iter().max()?))
    }
}

impl FreezeMethod {
    /// What the method lacks with this modulus, as a sentence; nothing where it works.
    pub fn missing(self, m: impl Into<Modulus>) -> Option<String> {
        if self == FreezeMethod::Plantard { plantard_missing(m.into()) } else { None }
    }

    /// What it multiplies by.
    ///
    /// # Errors
    /// An even modulus, where it is not 1.
    pub fn scale(self, m: impl Into<Modulus>) -> Result<Unit, EvenModulus> {
        match self {
            FreezeMethod::Minimum | FreezeMethod::Plantard => Ok(Unit::one(m.into().q)),
            FreezeMethod::Montgomery | FreezeMethod::MontgomeryBiased { .. } => inverse_of_r(m),
        }
    }

    /// The words for which the result is canonical.
    pub fn domain(self, m: impl Into<Modulus>) -> Range {
        let m = m.into();
        let (q, (first, last)) = (m.signed(), m.words());
        match self {
            // x + q must not wrap where x is not negative.
            FreezeMethod::Minimum => {
                (-q - q / 2, (2 * q - 1 - q / 2).min(m.radix() - 1 - q - q / 2))
            }
            FreezeMethod::Montgomery | FreezeMethod::Plantard => (first, last),
            FreezeMethod::MontgomeryBiased { k } => (k as i64 * q + first + 1, k as i64 * q),
        }
    }

    /// The result for one word.
    pub fn apply(self, a: i64, m: impl Into<Modulus>) -> i64 {
        self.visit(m, At(a))
    }

    /// Shows the visitor the function of one word, its constants computed.
    fn visit<V: Visitor>(self, m: impl Into<Modulus>, visitor: V) -> V::Out {
        match m.into() {
            Modulus { q, bits: 16 } => self.visit_sized(Modulus { q, bits: 16 }, visitor),
            Modulus { q, .. } => self.visit_sized(Modulus { q, bits: 32 }, visitor),
        }
    }

    /// The same; inlined, so that the size of words is a constant of each loop.
    #[inline(always)]
    fn visit_sized<V: Visitor>(self, m: Modulus, visitor: V) -> V::Out {
        let (q, inverse) = (m.signed(), inverse_word(m));
        match self {
            FreezeMethod::Minimum => {
                let u = |v: i64| v & (m.radix() - 1);
                let h = q / 2;
                visitor.visit(|a| {
                    let x = u(a + h);
                    let y = x.min(u(x + q));
                    m.word(y.min(u(y - q)) - h)
                })
            }
            FreezeMethod::Montgomery => {
                visitor.visit(|a| m.word((a >> (m.bits - 1)) - m.mul_hi(m.mul_lo(a, inverse), q)))
            }
            FreezeMethod::MontgomeryBiased { k } => {
                visitor.visit(|a| m.mul_hi(m.mul_lo(a - k as i64 * q, -inverse), q))
            }
            FreezeMethod::Plantard => {
                let (b, b2) = mul_constants(MulMethod::Plantard, 1, m);
                visitor.visit(|a| {
                    let t = upper_word(a, (b.into(), b2.into()), m);
                    m.word(m.mul_hi(t, q) - (m.mul_lo(t, q) >> (m.bits - 1)))
                })
            }
        }
    }

    /// The range of the result over an interval in the domain: exact for words of 16 bits, else
    /// canonical.
    pub fn range(self, a: Range, m: impl Into<Modulus>) -> Range {
        let m = m.into();
        let (low, high) = (-(m.signed() / 2), (m.signed() - 1) / 2);
        match self {
            _ if m.bits == 16 => self.visit(m, Image(a, m)),
            FreezeMethod::Minimum if low <= a.0 && a.1 <= high => a,
            _ => (low, high),
        }
    }
}

/// Montgomery's methods divide by 2^w, which an even modulus does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Montgomery's methods divide by 2^{bits}, which has no inverse modulo {q}; an odd modulus, or \
     methods that multiply by 1"
)]
pub struct EvenModulus {
    /// The modulus.
    pub q: u64,
    /// Bits of its words.
    pub bits: u8,
}

/// 2^-w mod q.
///
/// # Errors
/// An even modulus.
pub fn inverse_of_r(m: impl Into<Modulus>) -> Result<Unit, EvenModulus> {
    let m = m.into();
    let radix = Unit::new(m.radix() as u64 % m.q, m.q);
    radix.map(Unit::inverted).ok_or(EvenModulus { q: m.q, bits: m.bits })
}

#[cfg(test)]
mod tests;
