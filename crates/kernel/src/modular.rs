//! Rule *congruent forms*: a linear form modulo m is another spelling of an atom, if their difference
//! unfolds to nothing modulo m.

use crate::atom::{Atom, Congruence, Facts};
use crate::claim::{Why, Zero};
use crate::form::{AtomId, Form};
use std::collections::BTreeMap;

impl Facts {
    /// Records that an atom is congruent to a form over earlier atoms. It takes the difference, adds multiples
    /// of zero, and replaces each atom by what it is congruent to, the latest first. Nothing may be left.
    ///
    /// # Errors
    /// What is left, or which condition fails.
    pub fn modulo(
        &mut self,
        atom: AtomId,
        m: u32,
        form: &Form,
        zeros: &[(Zero, i128)],
    ) -> Result<(), Why> {
        if m < 2 {
            return Err(format!("a modulus of {m}"));
        }
        let low = |c: i128| c.rem_euclid(m.into()) as u32;
        let reduced = |form: &Form| {
            let t = form.t.iter().map(|&(a, c)| (a, low(c))).filter(|t| t.1 != 0).collect();
            Congruence { m, k: low(form.k), t }
        };
        let is = reduced(form);
        for &(a, _) in &is.t {
            if a >= atom {
                return Err("a residue over later atoms".into());
            }
            if matches!(self.get(a)?, Atom::Floor { .. } | Atom::Function { .. }) {
                return Err(format!("atom {a} is a quotient or a function"));
            }
        }
        self.get(atom)?;
        let modulus = u64::from(m);
        let same = reduced(&self.with(form, zeros)?);
        let mut k = modulus - u64::from(same.k);
        let mut left: BTreeMap<AtomId, u64> =
            same.t.iter().map(|&(a, c)| (a, modulus - u64::from(c))).collect();
        *left.entry(atom).or_default() += 1;
        // What an atom is replaced by is earlier than it: what is popped will not come back.
        while let Some((a, c)) = left.pop_last() {
            let c = c % modulus;
            if c == 0 {
                continue;
            }
            let known = self.congruence(a, m);
            let known =
                known.ok_or_else(|| format!("{c}·atom {a} is left of a difference modulo {m}"))?;
            self.enumerated.pay(known.t.len() + 1)?;
            k = (k + c * u64::from(known.k)) % modulus;
            for &(b, d) in &known.t {
                let sum = left.entry(b).or_default();
                *sum = (*sum + c * u64::from(d)) % modulus;
            }
        }
        if k % modulus != 0 {
            return Err(format!("{k} is left of a difference modulo {m}"));
        }
        self.congruent(atom, is);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of several terms with the greatest residues each sum is reduced.
    #[test]
    fn great_residues_are_added_up() {
        // The greatest prime below 2^32.
        let m = 4294967291u32;
        let mut facts = Facts::new(vec![(-9, 9)], 1 << 20);
        let x = facts.atom(Atom::Input { operand: 0, index: 0 }).expect("an input");
        let form = |k: i128, t: &[(AtomId, i128)]| Form { k, t: t.to_vec() };
        let mut name = |form: Form| facts.atom(Atom::Name(form.into())).expect("a name");
        // -x - 1, and what is congruent to it; minus the sum of all.
        let parts = [1, 2, 3].map(|c| name(form(-1 - c * i128::from(m), &[(x, -1)])));
        let sum = name(form(0, &parts.map(|a| (a, -1))));
        assert_eq!(facts.modulo(sum, m, &form(3, &[(x, 3)]), &[]), Ok(()));
        assert!(facts.modulo(sum, m, &form(2, &[(x, 3)]), &[]).is_err());
        assert!(facts.modulo(sum, m, &form(3, &[(x, 2)]), &[]).is_err());
    }
}
