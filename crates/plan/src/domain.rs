//! Where a product is taken: the quotient, and how much of operands and result matters.

use crate::operand::Operand;
use ringforge_ring::{Ring, zq};

/// A product to be taken: in which quotient of Z_q\[x\], of how long operands, and how much of the
/// result is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Domain {
    /// The modulus of the coefficients.
    pub q: u64,
    /// What the product is reduced by.
    pub modulus: Modulus,
    /// Operands have this many coefficients; beyond, they are zero.
    pub operand: usize,
    /// The result's first `wanted` coefficients are read.
    pub wanted: usize,
    /// The largest |a_i| and |b_i|, seen as centred integers.
    pub bounds: [u64; 2],
}

/// What a product is reduced by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Modulus {
    /// The polynomial f of a ring.
    Ring(Ring),
    /// x^degree − weight; with weight 0 the product is truncated.
    Binomial {
        /// The degree.
        degree: usize,
        /// The weight, in `[0, q)`.
        weight: u64,
    },
    /// Nothing: the product has at most `length` coefficients, and any modulus of at least that
    /// degree serves.
    Free {
        /// The room that the plan makes for the product.
        length: usize,
    },
}

/// Bits of the words that arithmetic modulo `modulus` takes: 16 where the sum of two centred residues
/// fits such a word, else 32. Costs, candidates and lowering all go by it.
///
/// ```
/// use ringforge_plan::word_bits;
/// assert_eq!([12289, 32767, 32769, 65521].map(word_bits), [16, 16, 32, 32]);
/// ```
pub fn word_bits(modulus: u64) -> u8 {
    if modulus < 1 << 15 { 16 } else { 32 }
}

impl Domain {
    /// The product of two operands of full length in a ring, and of any coefficients.
    pub fn of_ring(ring: &Ring) -> Domain {
        Domain::of_operands(ring, [Operand::Big; 2])
    }

    /// The product of two operands of full length in a ring, with coefficients that are promised.
    pub fn of_operands(ring: &Ring, operands: [Operand; 2]) -> Domain {
        let (n, q) = (ring.degree(), ring.q());
        let bounds = operands.map(|operand| operand.bound(q));
        Domain { q, modulus: Modulus::Ring(ring.clone()), operand: n, wanted: n, bounds }
    }

    /// The bounds of two operands of any coefficients modulo `q`.
    pub fn any(q: u64) -> [u64; 2] {
        [Operand::Big.bound(q); 2]
    }

    /// (n, w) where the modulus is x^n − w, be it written as a ring or not.
    pub fn binomial(&self) -> Option<(usize, u64)> {
        match &self.modulus {
            Modulus::Binomial { degree, weight } => Some((*degree, *weight)),
            Modulus::Ring(ring) => {
                let f = ring.modulus();
                let middle = f[1..ring.degree()].iter().all(|&c| c == 0);
                middle.then(|| (ring.degree(), zq::unsigned(-f[0], self.q)))
            }
            Modulus::Free { .. } => None,
        }
    }

    /// The number of coefficients of the unreduced product.
    pub fn product_length(&self) -> usize {
        2 * self.operand - 1
    }

    /// The remainder of `c` (in `[0, q)`, any length) by the modulus: `wanted` coefficients.
    pub fn reduce(&self, c: &[u64]) -> Vec<u64> {
        let mut rest: Vec<u64> = match &self.modulus {
            Modulus::Ring(ring) => {
                let signed: Vec<i64> = c.iter().map(|&x| x as i64).collect();
                ring.reduce(&signed).iter().map(|&x| zq::unsigned(x, self.q)).collect()
            }
            Modulus::Binomial { degree, weight } => {
                let mut rest = c.to_vec();
                for i in (*degree..c.len()).rev() {
                    let fold = zq::mul(rest[i], *weight, self.q);
                    rest[i - degree] = zq::add(rest[i - degree], fold, self.q);
                }
                rest.truncate(*degree);
                rest
            }
            Modulus::Free { .. } => c.to_vec(),
        };
        rest.resize(self.wanted, 0);
        rest
    }

    /// The schoolbook product of two operands in `[0, q)`: `wanted` coefficients in `[0, q)`.
    pub fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut sums = vec![0u64; (a.len() + b.len()).saturating_sub(1)];
        for (i, &x) in a.iter().enumerate() {
            for (sum, &y) in sums[i..].iter_mut().zip(b) {
                *sum = zq::add(*sum, zq::mul(x, y, self.q), self.q);
            }
        }
        self.reduce(&sums)
    }
}

impl std::fmt::Display for Domain {
    /// `Z4591[x]/(x^1440 - 1)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.modulus {
            Modulus::Ring(ring) => write!(f, "{ring}"),
            Modulus::Free { length } => {
                write!(f, "Z{}[x], products of degree below {length}", self.q)
            }
            Modulus::Binomial { degree, weight: 0 } => write!(f, "Z{}[x]/(x^{degree})", self.q),
            Modulus::Binomial { degree, weight } => {
                write!(f, "Z{}[x]/(x^{degree} - {weight})", self.q)
            }
        }
    }
}
