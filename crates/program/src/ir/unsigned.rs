//! Modular operations on unsigned words [TokudaKameyama23 §2.2, §3.3].

use super::{Factor, Value};
use crate::method::Modulus;
use crate::unsigned::Kind;
use ringforge_ring::zq;
use serde::{Deserialize, Serialize};

/// A modular operation that reads its words in `[0, 2^w)`; q is odd and below `2^(w-2)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unsigned {
    /// `a + b`, which has to be a word.
    Add(Value, Value),
    /// `a + offset − b`, which has to be a word, and so has `a + offset`.
    Sub {
        /// The minuend.
        a: Value,
        /// What is added first, a multiple of q: for every word, or for each.
        offset: Vec<u32>,
        /// The subtrahend.
        b: Value,
    },
    /// The residue in `[0, q)` of `a·factor`.
    Mul {
        /// Any words.
        a: Value,
        /// The constant.
        factor: Factor,
    },
    /// The residue in `[0, q)` of `a·b/2^w`.
    MulWords {
        /// Any words.
        a: Value,
        /// Words below q.
        b: Value,
    },
    /// Congruent words in a smaller range, for each of the words; `None` leaves one as it is.
    Reduce {
        /// Any words.
        a: Value,
        /// How: for every word, or for each.
        kinds: Vec<Option<Kind>>,
    },
}

/// What an [`Unsigned`] operation does to one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnsignedWord {
    /// `a + b`.
    Add,
    /// `a + offset − b`.
    Sub(u32),
    /// `a·c mod q`.
    Mul(u64),
    /// `a·b/2^w mod q`.
    MulWords,
    /// A reduction.
    Reduce(Kind),
}

impl Unsigned {
    /// Replaces each operand.
    pub fn map_operands(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        match self {
            Unsigned::Mul { a, .. } | Unsigned::Reduce { a, .. } => *a = f(*a),
            Unsigned::Add(a, b) | Unsigned::Sub { a, b, .. } | Unsigned::MulWords { a, b } => {
                *a = f(*a);
                *b = f(*b);
            }
        }
    }
}

/// The constants of a product by residue `c`: `c·2^w mod q`, and that times 1/q modulo 2^w, as signed words.
pub fn unsigned_constants(c: u64, m: Modulus) -> (i32, i32) {
    let b = zq::mul(c % m.q, m.radix() as u64 % m.q, m.q) as i64;
    (b as i32, m.word(b.wrapping_mul(crate::method::inverse_word(m))) as i32)
}

/// The multiplier of Barrett's reduction, floor(2^w/q).
pub fn unsigned_barrett(m: Modulus) -> i64 {
    m.radix() / m.signed()
}

impl UnsignedWord {
    /// The result for words in `[0, 2^w)`; `b` is what the second operand is, where there is one. Sums wrap.
    pub fn apply(self, a: i64, b: i64, m: Modulus) -> i64 {
        let (mask, q) = (m.radix() - 1, m.signed());
        // floor((a·b − t·q)/2^w) with t = a·b/q mod 2^w, and the residue that is not negative.
        let montgomery = |b: i64| {
            let t = (a * b).wrapping_mul(crate::method::inverse_word(m)) & mask;
            let d = ((a * b) >> m.bits) - ((t * q) >> m.bits);
            if d < 0 { d + q } else { d }
        };
        match self {
            UnsignedWord::Add => (a + b) & mask,
            UnsignedWord::Sub(offset) => (a + i64::from(offset) - b) & mask,
            UnsignedWord::Mul(c) => montgomery(unsigned_constants(c, m).0.into()),
            UnsignedWord::MulWords => montgomery(b),
            UnsignedWord::Reduce(Kind::Csub) => a.min((a - q) & mask),
            UnsignedWord::Reduce(Kind::Barrett) => a - ((a * unsigned_barrett(m)) >> m.bits) * q,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unsigned::primitive::{self, Constants, Machine};

    const M: Modulus = Modulus { q: 12289, bits: 16 };

    /// Products on all words, against exact arithmetic and the paper's Montgomery by 2^18.
    #[test]
    fn products_are_the_canonical_residues() {
        let k = Constants::new(M.q).unwrap();
        for c in [0u64, 1, 2, 1479, 6144, 12288] {
            let w = (c << primitive::MONTGOMERY_BITS) % M.q;
            let inverse = zq::inv((M.radix() as u64) % M.q, M.q).unwrap();
            for a in 0..=65535i64 {
                let found = UnsignedWord::Mul(c).apply(a, 0, M);
                assert_eq!(found as u64, a as u64 * c % M.q);
                let seed = primitive::montgomery_reduce(&mut Machine, &k, &(a as u32 * w as u32));
                assert_eq!(found as u32, primitive::csub(&mut Machine, &k, &seed));
                let words = UnsignedWord::MulWords.apply(a, c as i64, M) as u64;
                assert_eq!(words, zq::mul(a as u64 * c % M.q, inverse, M.q));
            }
        }
    }

    /// Reductions are the paper's, on all words.
    #[test]
    fn reductions_are_the_seed_s() {
        let k = Constants::new(M.q).unwrap();
        for kind in [Kind::Csub, Kind::Barrett] {
            for a in 0..=65535i64 {
                let seed = primitive::reduce(&mut Machine, &k, &(a as u32), kind);
                assert_eq!(UnsignedWord::Reduce(kind).apply(a, 0, M), i64::from(seed), "{a}");
            }
        }
        assert_eq!(UnsignedWord::Add.apply(65535, 2, M), 1);
        assert_eq!(UnsignedWord::Sub(12289).apply(0, 12290, M), 65535);
    }
}
