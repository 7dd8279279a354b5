//! A ring Z_q\[x\]/(f) and its arithmetic.

use crate::parse::{self, ParseError};
use crate::zq;

/// The largest modulus q.
pub const MAX_Q: u64 = 1 << 32;
/// The largest degree of f.
pub const MAX_DEGREE: usize = 1 << 20;

/// The ring Z_q\[x\]/(f) for a monic f of degree n ≥ 1 and any q from 2 to 2^32, prime or not.
///
/// Elements are slices of at most n coefficients, ascending (`a[i]` belongs to x^i); results have
/// exactly n coefficients, centred.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Ring {
    pub(crate) q: u64,
    pub(crate) modulus: Vec<i64>,
}

impl Ring {
    /// Parses `Z4591[x]/(x^761 - x - 1)`. Spaces do not matter. The coefficients may be written `Z_4591`, `Z_{4591}`,
    /// `Z/4591Z`, `ℤ4591`, `Z2^16` and, for a prime, `F_4591` or `GF(4591)`. The variable is `x` or `X`. The forms
    /// `−`, `3*x^2` and `x^{761}` of printed papers are accepted.
    ///
    /// ```
    /// use ringforge_ring::Ring;
    /// let ring = Ring::parse("Z_3329 [x] / (x^256+1)").unwrap();
    /// assert_eq!(ring.to_string(), "Z3329[x]/(x^256 + 1)");
    /// let error = Ring::parse("Z4591[x]/(x^761 - x - )").unwrap_err();
    /// assert_eq!((error.at, error.expected.as_str()), (22, "a term such as `x^761`, `3x` or `1`"));
    /// ```
    pub fn parse(text: &str) -> Result<Ring, ParseError> {
        parse::ring(text)
    }

    /// The ring of q and f, coefficients of f ascending. `None` where q is out of `[2, 2^32]`, or f
    /// is not monic of a degree in `[1, 2^20]`.
    pub fn new(q: u64, modulus: &[i64]) -> Option<Ring> {
        let degree = modulus.len().checked_sub(1)?;
        let sound = (2..=MAX_Q).contains(&q)
            && (1..=MAX_DEGREE).contains(&degree)
            && zq::unsigned(modulus[degree], q) == 1;
        sound.then(|| {
            let mut modulus: Vec<i64> =
                modulus.iter().map(|&c| zq::centered(zq::unsigned(c, q), q)).collect();
            modulus[degree] = 1;
            Ring { q, modulus }
        })
    }

    /// The modulus q of the coefficients.
    pub fn q(&self) -> u64 {
        self.q
    }

    /// n, the degree of f: an element has n coefficients.
    pub fn degree(&self) -> usize {
        self.modulus.len() - 1
    }

    /// The n + 1 coefficients of f, ascending, centred; the last is 1.
    pub fn modulus(&self) -> &[i64] {
        &self.modulus
    }

    /// Whether q is prime, so that every nonzero coefficient has an inverse.
    pub fn is_over_field(&self) -> bool {
        zq::is_prime(self.q)
    }

    /// The product a·b mod f and mod q, centred: n coefficients. Operands of any length and size.
    ///
    /// ```
    /// let ring = ringforge_ring::Ring::parse("Z17[x]/(x^2 + 1)").unwrap();
    /// assert_eq!(ring.mul(&[0, 1], &[0, 1]), [-1, 0]); // x² = −1
    /// ```
    pub fn mul(&self, a: &[i64], b: &[i64]) -> Vec<i64> {
        if a.is_empty() || b.is_empty() {
            return vec![0; self.degree()];
        }
        let center = |v: &[i64]| -> Vec<i64> {
            v.iter().map(|&c| zq::centered(zq::unsigned(c, self.q), self.q)).collect()
        };
        let (a, b) = (center(a), center(b));
        // |a_i·b_j| ≤ 2^62, so up to 2^65 summands fit an i128; small q fit an i64, which is faster.
        let full: Vec<i64> = if self.q <= 1 << 20 && a.len().min(b.len()) <= 1 << 20 {
            let mut sums = vec![0i64; a.len() + b.len() - 1];
            for (i, x) in a.iter().enumerate() {
                for (sum, y) in sums[i..].iter_mut().zip(&b) {
                    *sum += x * y;
                }
            }
            sums
        } else {
            let mut sums = vec![0i128; a.len() + b.len() - 1];
            for (i, x) in a.iter().enumerate() {
                for (sum, y) in sums[i..].iter_mut().zip(&b) {
                    *sum += i128::from(*x) * i128::from(*y);
                }
            }
            sums.iter().map(|sum| sum.rem_euclid(i128::from(self.q)) as i64).collect()
        };
        self.reduce(&full)
    }

    /// The remainder of a polynomial of any length by f, coefficients centred: n coefficients.
    pub fn reduce(&self, a: &[i64]) -> Vec<i64> {
        let (n, q) = (self.degree(), self.q);
        let mut rest: Vec<u64> = a.iter().map(|&c| zq::unsigned(c, q)).collect();
        let terms: Vec<(usize, u64)> = (0..n)
            .map(|i| (i, zq::unsigned(self.modulus[i], q)))
            .filter(|&(_, c)| c != 0)
            .collect();
        for top in (n..rest.len()).rev() {
            let leading = rest[top];
            for &(i, c) in &terms {
                let low = &mut rest[top - n + i];
                *low = zq::sub(*low, zq::mul(leading, c, q), q);
            }
        }
        rest.resize(n, 0);
        rest.iter().map(|&c| zq::centered(c, q)).collect()
    }
}

/// A polynomial with ascending coefficients as people write it, highest power first.
fn polynomial(coefficients: &[i64]) -> String {
    let mut text = String::new();
    for (i, &c) in coefficients.iter().enumerate().rev().filter(|&(_, &c)| c != 0) {
        text += match (text.is_empty(), c < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let size = c.unsigned_abs();
        if size != 1 || i == 0 {
            text += &size.to_string();
        }
        match i {
            0 => {}
            1 => text += "x",
            _ => text += &format!("x^{i}"),
        }
    }
    text
}

impl std::fmt::Display for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Z{}[x]/({})", self.q, polynomial(&self.modulus))
    }
}

impl std::str::FromStr for Ring {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Ring, ParseError> {
        Ring::parse(text)
    }
}

impl From<Ring> for String {
    fn from(ring: Ring) -> String {
        ring.to_string()
    }
}

impl TryFrom<String> for Ring {
    type Error = ParseError;
    fn try_from(text: String) -> Result<Ring, ParseError> {
        Ring::parse(&text)
    }
}
