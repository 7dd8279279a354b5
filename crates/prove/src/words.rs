//! Words too wide to enumerate: extensions and shifts as exact integer forms.

use crate::values::Form;
use crate::walk::Walk;

impl Walk<'_> {
    /// The extension of a word too wide to enumerate: the integer itself if it fits, else less a
    /// multiple of 2^from.
    pub(crate) fn extend_wide(
        &mut self,
        form: &Form,
        from: u8,
        to: u8,
        signed: bool,
    ) -> Option<Form> {
        if from <= 16 || form.t.is_empty() {
            return None;
        }
        // Sums of reduced values get a name, lest sums of sums have growing coefficients.
        let mut form = if from == 32 { self.named(form, from) } else { form.clone() };
        self.cut.resolve(&mut form, from);
        self.cut.lift(&mut form, from);
        let middle = if signed { 1i64 << (from - 1) } else { 0 };
        let shifted = form.clone().plus(middle, 64);
        if !self.cut.quotient(&shifted, from, from) {
            // Few quotients by 2^from; but it may be a long way between two of them.
            let wide = self.cut.world.q > 65535 || self.cut.world.has_floor(&form);
            if !wide || !self.cut.quotient(&form, from, 10) {
                return None;
            }
        }
        let r = self.cut.read(&form).ok();
        let inside = |r: &crate::reading::Reading| {
            r.lo >= -i128::from(middle) && r.hi < (1i128 << from) - i128::from(middle)
        };
        if r.as_ref().is_some_and(inside) {
            return Some(form);
        }
        let top = self.cut.floor(&shifted, from, to);
        Some(Form::combine(&form, 1, &top, (-1i64).wrapping_shl(from.into()), to))
    }

    /// A sum of reduced words as a multiple of one variable, so that all products of it by
    /// constants are multiples of that variable.
    pub(crate) fn named(&mut self, form: &Form, w: u8) -> Form {
        if !(32..=64).contains(&w) || !self.cut.world.has_floor(form) {
            return form.clone();
        }
        self.variable(form, w)
    }

    /// A sum that fits 32 bits as a multiple of one variable, so that its sign is a function of what
    /// it is made of.
    pub(crate) fn variable(&mut self, form: &Form, w: u8) -> Form {
        if !self.cut.world.has_floor(form) && (self.cut.world.q <= 65535 || form.t.len() < 2) {
            return form.clone();
        }
        let named = match self.cut.read(form) {
            Ok(r) => {
                let fits = -(1i128 << 31) <= r.lo && r.hi < 1i128 << 31;
                fits && r.residue.is_some_and(|m| !m.t.is_empty())
            }
            Err(_) => false,
        };
        if named && let Ok((v, m, k)) = self.cut.as_variable(form, w) {
            let v = self.cut.world.var(v).atom;
            return Form::atom(v).scaled(m, w).plus(k, w);
        }
        form.clone()
    }

    /// A form modulo 2^w shifted right by k as an exact integer, where it is one.
    pub(crate) fn shift(&mut self, form: &Form, w: u8, k: u8, signed: bool) -> Option<Form> {
        if w < 32 || form.t.is_empty() {
            return None;
        }
        let mut form = form.clone();
        self.cut.resolve(&mut form, w);
        self.cut.lift(&mut form, w);
        let wide = self.cut.world.q > 65535 && k <= 62 && !self.cut.narrow(&form);
        if !wide && !self.cut.quotient(&form, w, k) {
            return None;
        }
        let r = self.cut.read(&form).ok()?;
        let middle = if signed { 1i128 << (w - 1) } else { 0 };
        let fits = r.lo >= -middle && r.hi < (1i128 << w) - middle;
        if !fits {
            // The word as an integer: a sign bit of what wraps, of which only multiples are used.
            if !wide || w > 48 {
                return None;
            }
            let middle = if signed { 1i64 << (w - 1) } else { 0 };
            let top = self.cut.floor(&form.clone().plus(middle, 64), w, 64);
            form = Form::combine(&form, 1, &top, -1i64 << w, 64);
        }
        Some(self.cut.floor(&form, k, w))
    }
}
