//! Wide sums of products to words.

use super::{At, EvenModulus, Modulus, Range, Visitor, inverse_of_r, inverse_word, round_div};
use ringforge_plan::Unit;
use serde::{Deserialize, Serialize};

/// Two registers of wide elements to one of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NarrowMethod {
    /// Montgomery [Montgomery85, p. 519] on the halves: `hi - mulhi(mullo(lo, 1/q), q)`, so the
    /// scale is 2^-w. Needs `|x| < 2^(2w-1) - q·2^(w-1)`, so that the result is a word. It takes
    /// seven operations. For words of 32 bits it takes eight, on wide elements: the result is the
    /// high half of `x - t·q` with `t = lo(x)/q mod± 2^32`.
    Montgomery,
    /// Barrett [Barrett86; Chiu25 §2.2.1]: `lo - mullo(mulhrs(x >> s, round(2^(s+w-1)/q)), q)` with
    /// `s = floor(log2 q)`. Needs `|x| < 2^(s+w-1)`. Nine operations, scale 1; for words of 16
    /// bits (AVX2 has no arithmetic shift of 64).
    Barrett,
    /// The low word as it is: scale 1, two operations. Right where q divides 2^w, or the element is a word.
    Low,
}

impl NarrowMethod {
    /// What it multiplies by.
    ///
    /// # Errors
    /// An even modulus, where it is not 1.
    pub fn scale(self, m: impl Into<Modulus>) -> Result<Unit, EvenModulus> {
        match self {
            NarrowMethod::Montgomery => inverse_of_r(m),
            NarrowMethod::Barrett | NarrowMethod::Low => Ok(Unit::one(m.into().q)),
        }
    }

    /// The result for one wide element.
    pub fn apply(self, x: i64, m: impl Into<Modulus>) -> i64 {
        self.visit(m, At(x))
    }

    /// Shows the visitor the function of one wide element, its constants computed.
    pub(super) fn visit<V: Visitor>(self, m: impl Into<Modulus>, visitor: V) -> V::Out {
        match m.into() {
            Modulus { q, bits: 16 } => self.visit_sized(Modulus { q, bits: 16 }, visitor),
            Modulus { q, .. } => self.visit_sized(Modulus { q, bits: 32 }, visitor),
        }
    }

    /// The same; inlined, so that the size of words is a constant of each loop.
    #[inline(always)]
    fn visit_sized<V: Visitor>(self, m: Modulus, visitor: V) -> V::Out {
        let q = m.signed();
        match self {
            NarrowMethod::Montgomery => {
                let inverse = inverse_word(m);
                visitor.visit(|x| {
                    let t = m.mul_lo(m.word(x), inverse);
                    m.word((x >> m.bits) - m.mul_hi(t, q))
                })
            }
            NarrowMethod::Barrett => {
                let (v, s) = barrett_constants(m);
                visitor.visit(|x| m.word(m.word(x) - m.mul_lo(m.mul_hrs(m.word(x >> s), v), q)))
            }
            NarrowMethod::Low => visitor.visit(|x| m.word(x)),
        }
    }

    /// Bounds of the result for elements in an interval (exact for Barrett on words of 16 bits);
    /// `None` where it may not be a word.
    pub fn range(self, x: Range, m: impl Into<Modulus>) -> Option<Range> {
        let m = m.into();
        match self {
            NarrowMethod::Montgomery => m.montgomery_range((x.0.into(), x.1.into())),
            NarrowMethod::Barrett => barrett_range(x, m),
            NarrowMethod::Low => {
                let words = m.words();
                let word = words.0 <= x.0 && x.1 <= words.1;
                let whole = (m.radix() as u64).is_multiple_of(m.q).then_some(words);
                if word { Some(x) } else { whole }
            }
        }
    }
}

/// Multiplier and shift of [`NarrowMethod::Barrett`].
pub(crate) fn barrett_constants(m: Modulus) -> (i64, u8) {
    let s = m.q.ilog2() as u8;
    (round_div(1 << (s + m.bits - 1), m.signed()), s)
}

fn barrett_range(x: Range, m: Modulus) -> Option<Range> {
    let (q, (v, s)) = (m.signed(), barrett_constants(m));
    let (first, last) = (x.0 >> s, x.1 >> s);
    let (least, most) = m.words();
    if first < least || last > most {
        return None;
    }
    let (lo, hi) = if m.bits == 16 {
        // The quotient is the same for all elements with the same high bits.
        (first..=last).fold((i64::MAX, i64::MIN), |r, h| {
            let t = m.mul_hrs(h, v) * q;
            let (from, to) = ((h << s).max(x.0), ((h + 1) << s) - 1);
            (r.0.min(from - t), r.1.max(to.min(x.1) - t))
        })
    } else {
        // h·2^s + l - t·q with t within 1/2 of h·v/2^(w-1).
        let unit = 1i128 << (m.bits - 1);
        let slope = (unit << s) - i128::from(v) * i128::from(q);
        let (a, b) = (i128::from(first) * slope, i128::from(last) * slope);
        let slack = unit / 2 * i128::from(q);
        let lo = -(slack - a.min(b)).div_euclid(unit) - 1;
        let hi = (a.max(b) + slack).div_euclid(unit) + (1 << s);
        (lo as i64, hi as i64)
    };
    (lo >= least && hi <= most).then_some((lo, hi))
}
