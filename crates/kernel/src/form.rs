//! Linear forms over atoms: integers, and words.
//!
//! An atom is an integer ([`crate::atom`]). A [`Form`] is an integer as well. A [`Word`] says what a
//! machine word is modulo a power of two, and nothing more; the two types never mix by accident.

/// Number of an atom.
pub type AtomId = u32;

/// The integer `k + Σ c·atom`: terms sorted by atom, no coefficient zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Form {
    /// Constant.
    pub k: i128,
    /// Atoms with their coefficients.
    pub t: Vec<(AtomId, i128)>,
}

impl Form {
    /// A constant.
    pub fn constant(k: i128) -> Form {
        Form { k, t: Vec::new() }
    }

    /// One atom.
    pub fn atom(a: AtomId) -> Form {
        Form { k: 0, t: vec![(a, 1)] }
    }

    /// Whether terms are sorted and no coefficient is zero.
    pub fn is_normal(&self) -> bool {
        self.t.windows(2).all(|w| w[0].0 < w[1].0) && self.t.iter().all(|t| t.1 != 0)
    }

    /// `a·self + b·other`; [`None`] beyond 128 bits.
    pub fn combine(&self, a: i128, other: &Form, b: i128) -> Option<Form> {
        let sum = |x: i128, y: i128| x.checked_mul(a)?.checked_add(y.checked_mul(b)?);
        let mut t = Vec::with_capacity(self.t.len() + other.t.len());
        for (atom, x, y) in paired(&self.t, &other.t) {
            let c = sum(x, y)?;
            t.extend((c != 0).then_some((atom, c)));
        }
        Some(Form { k: sum(self.k, other.k)?, t })
    }
}

impl Form {
    /// `floor(self / 2^lo)` as a form plus `floor(rest / 2^bits)`, with the rest that is not a multiple of 2^lo. Powers
    /// of two that all its coefficients share are divided out.
    pub fn divided(&self, lo: u8) -> (Form, Option<(Form, u8)>) {
        let modulus = 1i128 << lo;
        let mut whole = Form::constant(self.k >> lo);
        let mut rest = Form::constant(self.k & (modulus - 1));
        for &(a, c) in &self.t {
            let low = (c + modulus / 2).rem_euclid(modulus) - modulus / 2;
            if low != 0 {
                rest.t.push((a, low));
            }
            if c != low {
                whole.t.push((a, (c - low) >> lo));
            }
        }
        let Some(twos) = rest.t.iter().map(|t| t.1.trailing_zeros()).min() else {
            return (whole, None);
        };
        rest.t.iter_mut().for_each(|t| t.1 >>= twos);
        rest.k >>= twos;
        (whole, Some((rest, lo - twos as u8)))
    }
}

/// The atoms of two lists of terms in order, each with its coefficient in both.
pub fn paired<'a, C: Copy + Default + 'a>(
    x: &'a [(AtomId, C)],
    y: &'a [(AtomId, C)],
) -> impl Iterator<Item = (AtomId, C, C)> + 'a {
    let (mut x, mut y) = (x, y);
    std::iter::from_fn(move || {
        let first = [x, y].map(|t| t.first().map_or(AtomId::MAX, |t| t.0));
        let a = first[0].min(first[1]);
        let (mut c, mut d) = (C::default(), C::default());
        if first[0] == a {
            (c, x) = (x.first()?.1, &x[1..]);
        }
        if first[1] == a {
            (d, y) = (y.first()?.1, &y[1..]);
        }
        Some((a, c, d))
    })
}

/// What is known of a word: it is congruent to `k + Σ c·atom` modulo 2^bits. Coefficients are
/// centred modulo 2^bits, terms sorted by atom, none zero. With bits = 0 nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Word {
    /// Low bits that are known, at most 64.
    pub bits: u8,
    /// Constant.
    pub k: i64,
    /// Atoms with their coefficients.
    pub t: Vec<(AtomId, i64)>,
}

/// `value` reduced to `bits` bits and read as signed; 0 of no bits.
#[inline]
pub fn centre(value: i64, bits: u8) -> i64 {
    if bits == 0 {
        return 0;
    }
    let s = 64 - u32::from(bits);
    (value << s) >> s
}

impl Word {
    /// A constant.
    pub fn constant(k: i64, bits: u8) -> Word {
        Word { bits, k: centre(k, bits), t: Vec::new() }
    }

    /// One atom.
    pub fn atom(a: AtomId, bits: u8) -> Word {
        Word { bits, k: 0, t: if bits == 0 { Vec::new() } else { vec![(a, 1)] } }
    }

    /// The number that a word of `bits` bits is, if all are known, as signed.
    pub fn number(&self, bits: u8) -> Option<i64> {
        (self.t.is_empty() && self.bits == bits).then_some(self.k)
    }

    /// The power of two that its constant and all coefficients are multiples of; 64 of 0.
    pub fn twos(&self) -> u8 {
        let all = self.t.iter().map(|t| t.1).chain([self.k]);
        all.map(|c| c.trailing_zeros() as u8).min().unwrap_or(64)
    }

    /// An integer as a word.
    pub fn of(form: &Form, bits: u8) -> Word {
        let t = form.t.iter().map(|&(a, c)| (a, centre(c as i64, bits))).filter(|t| t.1 != 0);
        Word { bits, k: centre(form.k as i64, bits), t: t.collect() }
    }

    /// The word's form as an integer.
    pub fn integer(&self) -> Form {
        Form { k: self.k.into(), t: self.t.iter().map(|&(a, c)| (a, c.into())).collect() }
    }

    /// The low bits of the same.
    pub fn low(&self, bits: u8) -> Word {
        self.scaled(1, bits.min(self.bits))
    }

    /// `c·self` modulo 2^bits, `bits` at most what is known of the product.
    fn scaled(&self, c: i64, bits: u8) -> Word {
        let t = self.t.iter().map(|&(a, x)| (a, centre(x.wrapping_mul(c), bits)));
        Word { bits, k: centre(self.k.wrapping_mul(c), bits), t: t.filter(|t| t.1 != 0).collect() }
    }

    /// `c·self` of a word of `width` bits: of a multiple of 2^j, j more bits are known.
    pub fn times(&self, c: i64, width: u8) -> Word {
        let twos = c.trailing_zeros().min(64) as u8;
        self.scaled(c, width.min(self.bits.saturating_add(twos)))
    }

    /// `self + c·other`, as far as both are known.
    pub fn plus(&self, other: &Word, c: i64) -> Word {
        let bits = self.bits.min(other.bits);
        let sum = |x: i64, y: i64| centre(x.wrapping_add(y.wrapping_mul(c)), bits);
        let mut t = Vec::with_capacity(self.t.len() + other.t.len());
        let terms = paired(&self.t, &other.t).map(|(a, x, y)| (a, sum(x, y)));
        t.extend(terms.filter(|t| t.1 != 0));
        Word { bits, k: sum(self.k, other.k), t }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_merged_and_zeros_dropped() {
        let f = Form { k: 1, t: vec![(1, 2), (3, -1)] };
        let g = Form { k: 5, t: vec![(1, 1), (2, 4)] };
        let sum = f.combine(1, &g, -2).unwrap();
        assert_eq!(sum, Form { k: -9, t: vec![(2, -8), (3, -1)] });
        assert!(sum.is_normal());
        assert!(f.combine(i128::MAX, &g, 1).is_none());
        assert!(!Form { k: 0, t: vec![(2, 1), (1, 1)] }.is_normal());
        assert!(!Form { k: 0, t: vec![(2, 0)] }.is_normal());
    }

    #[test]
    fn words_wrap_and_know_what_they_know() {
        let a = Word { bits: 16, k: 30000, t: vec![(0, 20000)] };
        assert_eq!(a.plus(&a, 1), Word { bits: 16, k: -5536, t: vec![(0, -25536)] });
        assert_eq!(a.low(8).bits, 8);
        // Of eight known bits times four, ten are known.
        let low = a.low(8);
        assert_eq!(low.times(4, 16).bits, 10);
        assert_eq!(low.times(4, 9).bits, 9);
        assert_eq!(low.times(0, 16), Word::constant(0, 16));
        // A sum is known as far as both parts are.
        assert_eq!(a.plus(&low, 1).bits, 8);
        let nothing = Word::default();
        assert_eq!(nothing.plus(&a, 1), Word::default());
        assert_eq!(nothing.times(1 << 16, 32), Word { bits: 16, k: 0, t: vec![] });
    }
}
