//! Rules that prove equations: *floor quotients* and *no wrap*.

use crate::atom::{Atom, Facts};
use crate::claim::{Why, Witness};
use crate::form::{AtomId, Form, Word};
use crate::node::{ends, within};

impl Facts {
    /// Rule *floor quotients*: if `0 <= R < 2^bits` and R is congruent to F modulo 2^bits, then
    /// `F = 2^bits·floor(F / 2^bits) + R`. Records `F - 2^bits·floor - R = 0`.
    ///
    /// # Errors
    /// Which condition fails.
    pub fn divide(&mut self, floor: AtomId, rest: &Form) -> Result<(), Why> {
        let Atom::Floor { form, bits } = self.get(floor)?.clone() else {
            return Err(format!("atom {floor} is no quotient"));
        };
        within(self.interval(rest)?, ends(bits, false))?;
        self.same_word(&Word::of(&form, bits), &Word::of(rest, bits))?;
        let zero = form
            .combine(1, rest, -1)
            .and_then(|f| f.combine(1, &Form::atom(floor), (1i128 << bits).checked_neg()?));
        self.zero.push(zero.ok_or("numbers beyond 128 bits")?);
        Ok(())
    }

    /// Rule *no wrap*: if F is a multiple of 2^bits (of everything, for bits = 0) and lies strictly between
    /// -2^bits and 2^bits, then F = 0.
    ///
    /// # Errors
    /// Which condition fails.
    pub fn near(&mut self, form: &Form, bits: u8, by: &Witness) -> Result<(), Why> {
        if bits > 64 {
            return Err("a malformed equation".into());
        }
        let (_, most) = ends(bits, false);
        within(self.interval_by(form, by)?, (-most, most))?;
        // Of no bits all words are the same.
        self.same_word(&Word::of(form, bits), &Word::constant(0, bits))?;
        self.zero.push(form.clone());
        Ok(())
    }
}
