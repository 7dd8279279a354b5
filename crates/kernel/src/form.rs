//! Linear forms over atoms: integers, and words.
//!
//! An atom is an integer ([`crate::atom`]). A [`Form`] is an integer as well. A [`Word`] says what a
//! machine word is modulo a power of two, and nothing more; the two types never mix by accident.

/// Number of an atom.
pub type AtomId = u32;

/// So many terms at most are added to a sum in its place, each of which may move all that follow.
const FEW: usize = 4;

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
        let mut t = Vec::with_capacity(self.t.len() + other.t.len());
        let (mut i, mut j) = (0, 0);
        while i < self.t.len() || j < other.t.len() {
            let x = self.t.get(i).map_or(AtomId::MAX, |t| t.0);
            let y = other.t.get(j).map_or(AtomId::MAX, |t| t.0);
            let mut c = 0i128;
            if x <= y {
                c = self.t[i].1.checked_mul(a)?;
                i += 1;
            }
            if y <= x {
                c = c.checked_add(other.t[j].1.checked_mul(b)?)?;
                j += 1;
            }
            if c != 0 {
                t.push((x.min(y), c));
            }
        }
        let k = self.k.checked_mul(a)?.checked_add(other.k.checked_mul(b)?)?;
        Some(Form { k, t })
    }
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

    /// An integer as a word.
    pub fn of(form: &Form, bits: u8) -> Word {
        let t = form.t.iter().map(|&(a, c)| (a, centre(c as i64, bits))).filter(|t| t.1 != 0);
        Word { bits, k: centre(form.k as i64, bits), t: t.collect() }
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
        let mut t = Vec::with_capacity(self.t.len() + other.t.len());
        let (mut i, mut j) = (0, 0);
        while i < self.t.len() || j < other.t.len() {
            let x = self.t.get(i).map_or(AtomId::MAX, |t| t.0);
            let y = other.t.get(j).map_or(AtomId::MAX, |t| t.0);
            let mut sum = 0i64;
            if x <= y {
                sum = self.t[i].1;
                i += 1;
            }
            if y <= x {
                sum = sum.wrapping_add(other.t[j].1.wrapping_mul(c));
                j += 1;
            }
            let sum = centre(sum, bits);
            if sum != 0 {
                t.push((x.min(y), sum));
            }
        }
        Word { bits, k: centre(self.k.wrapping_add(other.k.wrapping_mul(c)), bits), t }
    }

    /// The same as [`Word::plus`], of a sum that nobody else needs: the few terms of `other` are put in their places, so that
    /// a sum of n terms takes n steps one by one, not n^2.
    pub fn added(mut self, other: &Word, c: i64) -> Word {
        if other.bits < self.bits || other.t.len() > FEW.min(self.t.len() / 8) {
            return self.plus(other, c);
        }
        for &(a, x) in &other.t {
            let x = centre(x.wrapping_mul(c), self.bits);
            let at = match self.t.last() {
                Some(last) if last.0 >= a => self.t.binary_search_by_key(&a, |t| t.0),
                _ => Err(self.t.len()),
            };
            match at {
                Ok(at) => {
                    let sum = centre(self.t[at].1.wrapping_add(x), self.bits);
                    if sum == 0 {
                        self.t.remove(at);
                    } else {
                        self.t[at].1 = sum;
                    }
                }
                Err(at) if x != 0 => self.t.insert(at, (a, x)),
                Err(_) => {}
            }
        }
        self.k = centre(self.k.wrapping_add(other.k.wrapping_mul(c)), self.bits);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

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

    /// Random sums, one term and more at a time: new and known atoms at both ends and between, terms that cancel or are zero
    /// by the factor, words of which fewer bits are known.
    #[test]
    fn what_is_added_in_its_place_is_the_sum() {
        let mut random = StdRng::seed_from_u64(8);
        let (mut cancelled, mut short) = (0, 0);
        for _ in 0..400 {
            let width = random.random_range(1..=64);
            let mut word = Word::constant(random.random(), width);
            for step in 0..120 {
                let bits =
                    if random.random_range(0..40) == 0 { random.random_range(0..=64) } else { 64 };
                let count = if step % 9 == 0 { 12 } else { random.random_range(0..4) };
                let mut atoms: Vec<AtomId> =
                    (0..count).map(|_| random.random_range(0..200)).collect();
                atoms.sort_unstable();
                atoms.dedup();
                let t = atoms.into_iter().map(|a| (a, centre(random.random_range(-2..=2), bits)));
                let t = t.filter(|t| t.1 != 0).collect();
                let other = Word { bits, k: centre(random.random(), bits), t };
                let c = [1, -1, 2, 1i64 << (width - 1)][random.random_range(0..4)];
                let sum = word.plus(&other, c);
                cancelled += usize::from(sum.t.len() < word.t.len());
                short += usize::from(sum.bits < word.bits);
                word = word.added(&other, c);
                assert_eq!(word, sum);
            }
        }
        assert!(cancelled > 100 && short > 100, "{cancelled} {short}");
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
