//! Rule *rounded polynomials*: modulo a power of two, values may be floor quotients by 2^b and remainders
//! modulo 2^b.
//!
//! **Statement.** For each value v that an output depends on, by a number n of low bits that are needed of it,
//!
//! ```text
//! v ≡ P   (mod 2^n)
//! ```
//!
//! with a polynomial P in the inputs and in *errors*, which are unknown integers. P has integer coefficients and is
//! affine in each operand. Each error belongs to one of them.
//!
//! - An input is itself. A sum has the sum of the polynomials of its terms, a product of two values their product; of
//!   c·v, n - v₂(c) bits of v are needed.
//! - A value that is congruent to F modulo 2^b has F's polynomial, n bits of F being needed, and where n > b an error of
//!   its own times 2^b.
//! - `floor(F / 2^b)`: n + b bits of F are needed. If 2^b divides all coefficients of F's polynomial modulo
//!   2^(n + b), then all are divided by 2^b.
//!
//! An output that is needed modulo 2^k is what is asked for if its coefficients are, modulo 2^k, and those of errors zero.
//!
//! *Proof.* For the quotient: `F = P + 2^(n+b)·j` for an integer j; coefficients of P may be changed by multiples of
//! 2^(n+b), so that 2^b divides them as integers. Then 2^b divides F, and `floor(F / 2^b) = F / 2^b = P / 2^b + 2^n·j`.
//! All else is linear. ∎
//!
//! Coefficients are found tile by tile as all others are, errors being elements after those of the operands, and
//! quotients are divided there (`tiles.rs`).

use super::{Residue, Rounded, Values};
use std::borrow::Cow;

/// Bits of a value that may be needed.
pub(super) const MOST: u8 = 31;

/// Low bits that are needed of a value v where `need` bits of c·v are.
pub(super) fn demand(c: u32, need: u8) -> u8 {
    if c == 0 { 0 } else { need.saturating_sub(c.trailing_zeros() as u8) }
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
