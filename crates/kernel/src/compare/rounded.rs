//! Rule *rounded polynomials*: modulo a power of two, values may be floor quotients by 2^b and remainders
//! modulo 2^b.
//!
//! **Statement.** For each value v that an output depends on, by a number n of low bits that are needed of it,
//!
//! ```text
//! v ≡ P + Σ c·e   (mod 2^n)
//! ```
//!
//! with a polynomial P in the inputs, with integer coefficients, affine in each operand, and *errors* e: integers
//! of which nothing is known.
//!
//! - An input is itself, without errors. A sum has the sum of the polynomials and errors of its terms; of c·v,
//!   n - v₂(c) bits of v are needed.
//! - A product of values with errors is that of the polynomials and an error of its own times 2^t, if all
//!   errors of the factors are multiples of 2^t.
//! - A value that is congruent to F modulo 2^b has F's polynomial and errors, n bits of F being needed, and where
//!   n > b an error of its own times 2^b.
//! - `floor(F / 2^b)`: n + b bits of F are needed. If 2^b divides all coefficients of F's polynomial modulo
//!   2^(n + b), and of its errors, then all are divided by 2^b.
//! - Many errors may be taken as one: 2^t times an error of its own.
//!
//! An output that is needed modulo 2^k is congruent to its polynomial if 2^k divides all its errors.
//!
//! *Proof.* For the quotient: `F = P + Σ c·e + 2^(n+b)·j` for an integer j; coefficients of P may be changed by
//! multiples of 2^(n+b), so that 2^b divides them as integers. All summands are multiples of 2^b, so
//! `floor(F / 2^b) = F / 2^b`, which is `P / 2^b + Σ (c / 2^b)·e + 2^n·j`. For a product: with x = P + E and
//! y = Q + D, `x·y = P·Q + P·D + E·Q + E·D`, and 2^t divides all but the first. All else is linear. ∎
//!
//! The coefficients of P are found tile by tile as all others are, and quotients are divided there (`evaluate.rs`).

use super::{Residue, Rounded, Values};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Bits of a value that may be needed.
pub(super) const MOST: u8 = 31;

/// Errors that are told apart.
const KEPT: usize = 16;

/// Low bits that are needed of a value v where `need` bits of c·v are.
pub(super) fn demand(c: u32, need: u8) -> u8 {
    if c == 0 { 0 } else { need.saturating_sub(c.trailing_zeros() as u8) }
}

/// Errors by number, with their coefficients.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(super) struct Errors(SmallVec<[(u32, u32); 2]>);

impl Errors {
    /// One error.
    pub fn one(number: u32, c: u32) -> Errors {
        Errors(SmallVec::from_slice(&[(number, c)]))
    }

    /// Adds c·other.
    pub fn add(&mut self, other: &Errors, c: u32) {
        for &(number, d) in &other.0 {
            let d = c.wrapping_mul(d);
            match self.0.iter_mut().find(|e| e.0 == number) {
                Some(e) => e.1 = e.1.wrapping_add(d),
                None => self.0.push((number, d)),
            }
        }
    }

    /// Low bits in which a value and its polynomial agree; all, without errors.
    pub fn known(&self) -> u8 {
        self.0.iter().map(|e| e.1.trailing_zeros() as u8).min().unwrap_or(32)
    }

    /// Those that are not zero modulo 2^need, as one of this number if there are many.
    pub fn modulo(mut self, need: u8, number: impl FnOnce() -> u32) -> Errors {
        self.0.retain(|e| e.1.trailing_zeros() < need.into());
        if self.0.len() <= KEPT { self } else { Errors::one(number(), 1 << self.known()) }
    }

    /// All divided by 2^bits; [`None`] if one is no multiple.
    pub fn divided(mut self, bits: u8) -> Option<Errors> {
        if self.known() < bits {
            return None;
        }
        self.0.iter_mut().for_each(|e| e.1 >>= bits);
        Some(self)
    }
}

/// What a value is made of.
pub(super) enum Made<'a> {
    /// An input element.
    Leaf,
    /// Congruent to a form.
    Form(Cow<'a, Residue>),
    /// The form, rounded.
    Rounded(Cow<'a, Residue>, Rounded),
}

impl<'a> Made<'a> {
    /// What is known of the `need` low bits of a value.
    pub fn new(values: &'a dyn Values, v: u32, need: u8) -> Option<Made<'a>> {
        if values.leaf(v).is_some() {
            return Some(Made::Leaf);
        }
        if let Some(form) = values.residue(v, 1 << need) {
            return Some(Made::Form(form));
        }
        let how = values.rounded(v)?;
        let bits = match how {
            Rounded::Low(_) => need,
            Rounded::Floor(bits) => need.checked_add(bits).filter(|b| *b <= MOST)?,
        };
        Some(Made::Rounded(values.before_rounding(v, 1 << bits)?, how))
    }
}
