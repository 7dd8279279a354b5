//! Rule *fold and unfold*: two words are the same if their difference unfolds to nothing.
//!
//! Names are replaced by what they name, the latest first, and functions of one atom are enumerated
//! together; what remains must be 0 modulo 2^bits.

use crate::atom::{Atom, Facts};
use crate::claim::Why;
use crate::form::{AtomId, Word};
use crate::fun::{FunId, LONGEST};
use ringforge_machine::graph::Op;

/// Once one evaluation of all functions of a case costs more, none is composed: what it costs is what is kept.
const COMPOSED: usize = 1 << 23;

impl Facts {
    /// Whether two words are congruent modulo 2^bits, for the bits of both.
    ///
    /// # Errors
    /// What is left of the difference.
    pub fn same_word(&mut self, x: &Word, y: &Word) -> Result<(), Why> {
        if x.bits != y.bits {
            return Err(format!("{} bits are known of one word, {} of the other", x.bits, y.bits));
        }
        if x == y {
            return Ok(());
        }
        let mut left = x.plus(y, -1);
        // The group of the latest base: functions of an atom are younger than the atom.
        while let Some(base) = left.t.iter().map(|t| self.base(t.0)).max() {
            self.enumerated.pay(left.t.len())?;
            let of = |t: &&(AtomId, i64)| self.base(t.0) == base;
            let group: Vec<(AtomId, i64)> = left.t.iter().filter(of).copied().collect();
            let mut rest = left;
            rest.t.retain(|t| self.base(t.0) != base);
            if let [(a, c)] = group[..]
                && a == base
            {
                // A remainder is congruent to its word, for as many bits as the word has.
                let enough = |w: &&Word| u32::from(w.bits) + c.trailing_zeros() >= rest.bits.into();
                let word = match (self.get(base)?, self.low(base).filter(enough)) {
                    (Atom::Name(form), _) => Word::of(form, rest.bits),
                    (_, Some(word)) => Word { bits: 64, ..word.clone() },
                    _ => return Err(format!("{c}·atom {base} is left of a difference")),
                };
                left = rest.plus(&word, c);
                continue;
            }
            let bits = rest.bits;
            let fun = self.group_function(&group, bits);
            let (lo, hi) = self.domain(base)?;
            if let Some((c, d)) = self.enumerated.line(fun, lo, hi, 1 << bits) {
                rest = rest.plus(&Word::constant(d as i64, bits), 1);
                left = rest.plus(&Word::atom(base, bits).times(c as i64, bits), 1);
                continue;
            }
            // A function of a name that is itself one of an earlier atom.
            let (parent, inner) = self
                .parent(base)?
                .ok_or_else(|| format!("functions of atom {base} are left of a difference"))?;
            let composed = self.composed(fun, inner)?;
            let atom = self.atom(Atom::Function { of: parent, fun: composed })?;
            left = rest.plus(&Word::atom(atom, bits), 1);
        }
        match left.k {
            0 => Ok(()),
            k => Err(format!("{k} is left of a difference modulo 2^{}", left.bits)),
        }
    }

    /// A function of a function, unless it has too many operations.
    pub(crate) fn composed(&mut self, outer: FunId, inner: FunId) -> Result<FunId, Why> {
        let long = || format!("a function of more than {LONGEST} arguments of operations");
        let cost = self.enumerated.funs.cost(outer);
        if cost > LONGEST || self.enumerated.funs.cost_of_all() > COMPOSED {
            return Err(long());
        }
        self.enumerated.pay(cost)?;
        let fun = self.enumerated.funs.compose(outer, inner);
        if self.enumerated.funs.cost(fun) > LONGEST { Err(long()) } else { Ok(fun) }
    }

    /// The atom that an atom is, or is a function of.
    pub(crate) fn base(&self, a: AtomId) -> AtomId {
        match self.atoms[a as usize] {
            Atom::Function { of, .. } => of,
            _ => a,
        }
    }

    /// Terms of one base as a function of it, modulo 2^bits.
    pub(crate) fn group_function(&mut self, group: &[(AtomId, i64)], bits: u8) -> FunId {
        let (mut x, mut terms) = (0, Vec::new());
        for &(a, c) in group {
            match self.atoms[a as usize] {
                Atom::Function { fun, .. } => terms.push((fun, c)),
                _ => x = c.wrapping_add(x),
            }
        }
        self.enumerated.funs.lin(bits, 0, x, &terms)
    }

    /// A name or a floor quotient all of whose terms are of one earlier atom: that atom and the function of it
    /// that it is, modulo 2^64. Of a quotient that is so if what it is of has an interval of 64 bits.
    pub(crate) fn parent(&mut self, a: AtomId) -> Result<Option<(AtomId, FunId)>, Why> {
        let (form, shift) = match self.get(a)?.clone() {
            Atom::Name(form) => (form, 0),
            Atom::Floor { form, bits } if bits < 64 => (form, bits),
            _ => return Ok(None),
        };
        let Some(base) = form.t.first().map(|t| self.base(t.0)) else { return Ok(None) };
        if form.t.iter().any(|t| self.base(t.0) != base) {
            return Ok(None);
        }
        if shift > 0 {
            let Ok((lo, hi)) = self.interval(&form) else { return Ok(None) };
            if lo < i64::MIN.into() || hi > i64::MAX.into() {
                return Ok(None);
            }
        }
        let word = Word::of(&form, 64);
        let fun = self.group_function(&word.t, 64);
        let whole = self.enumerated.funs.lin(64, word.k, 0, &[(fun, 1)]);
        if shift == 0 {
            return Ok(Some((base, whole)));
        }
        let slice = self.enumerated.funs.word(64 - shift, &Op::Slice { lo: shift }, &[whole]);
        Ok(slice.map(|slice| (base, slice)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Form;
    use crate::fun::Funs;

    /// A remainder of b bits with a coefficient c is its word for b + v₂(c) bits, and the whole difference is
    /// read.
    #[test]
    fn a_remainder_is_its_word_for_all_bits() {
        let mut facts = Facts::new(vec![(-1000, 1000)], 1 << 20);
        let x = facts.atom(Atom::Input { operand: 0, index: 0 }).expect("an input");
        let low = facts.atom(Atom::Low(Word::atom(x, 8).into())).expect("a remainder");
        let word = |a: AtomId, c: i64, k: i64| Word { bits: 16, k, t: vec![(a, c)] };
        for (c, k, same) in [(256, 0, true), (512, 0, true), (256, -32768, false), (128, 0, false)]
        {
            let is = facts.same_word(&word(low, c, k), &word(x, c, 0));
            assert_eq!(is.is_ok(), same, "{c} {k}: {is:?}");
        }
    }

    /// A function of a name that is a function of x is the composed function of x.
    #[test]
    fn functions_of_functions_are_composed() {
        let mut facts = Facts::new(vec![(-1000, 1000)], 1 << 20);
        let x = facts.atom(Atom::Input { operand: 0, index: 0 }).expect("an input");
        let half = |facts: &mut Facts, of: AtomId, bits: u8| {
            let whole = facts.enumerated.funs.lin(64, 0, 1, &[]);
            let fun = facts.enumerated.funs.word(64 - bits, &Op::Slice { lo: bits }, &[whole]);
            let fun = fun.expect("a function");
            facts.atom(Atom::Function { of, fun }).expect("a function")
        };
        let (first, eighth) = (half(&mut facts, x, 1), half(&mut facts, x, 3));
        let name = Form { k: 0, t: vec![(first, 1)] };
        let name = facts.atom(Atom::Name(name.into())).expect("a name");
        let again = half(&mut facts, name, 2);
        for (k, same) in [(0, true), (1, false)] {
            let is = facts.same_word(&Word::atom(again, 32), &Word { k, ..Word::atom(eighth, 32) });
            assert_eq!(is.is_ok(), same, "{is:?}");
        }
    }

    /// Of as many operations as are evaluated a function is composed, of one more it is not; nor if it has one more then.
    #[test]
    fn composed_functions_are_as_long_as_what_is_evaluated() {
        let mut facts = Facts::new(vec![(-5, 5)], 1 << 20);
        let funs = &mut facts.enumerated.funs;
        let (x, other) = (funs.lin(64, 0, 1, &[]), funs.lin(64, 3, 1, &[]));
        let mut chain = |first: FunId, cost: usize| {
            let half = |funs: &mut Funs, f| funs.word(64, &Op::Slice { lo: 1 }, &[f]);
            (1..cost).fold(first, |last, _| half(funs, last).expect("a function"))
        };
        // x is replaced by one operation, x + 3 by two.
        let sizes = [LONGEST - 1, LONGEST, LONGEST + 1];
        let made = [x, other].map(|first| sizes.map(|size| chain(first, size)));
        for (outer, composed) in made.iter().zip([[true, true, false], [true, false, false]]) {
            for (&outer, is) in outer.iter().zip(composed) {
                assert_eq!(facts.composed(outer, other).is_ok(), is);
            }
        }
    }

    /// A name is one modulo 2^64, whatever its interval; a quotient up to the last integer of 64 bits.
    #[test]
    fn names_are_functions_modulo_2_to_the_64() {
        let mut facts = Facts::new(vec![(-1000, 1000)], 1 << 20);
        let x = facts.atom(Atom::Input { operand: 0, index: 0 }).expect("an input");
        let form = |k: i128, c: i128| Form { k, t: vec![(x, c)] }.into();
        let name = facts.atom(Atom::Name(form(5, 1 << 62))).expect("a name");
        let (base, fun) = facts.parent(name).expect("no error").expect("a function");
        assert_eq!((base, facts.enumerated.funs.at(fun, 3)), (x, (5 + (3i128 << 62)) as i64));
        for (more, is) in [(0, true), (1, false)] {
            let (least, greatest) = (i128::from(i64::MIN) + 1000, i128::from(i64::MAX) - 1000);
            for k in [least - more, greatest + more] {
                let floor = facts.atom(Atom::Floor { form: form(k, 1), bits: 3 }).expect("one");
                assert_eq!(facts.parent(floor).expect("no error").is_some(), is, "{k}");
            }
        }
    }

    /// The quotient by 2^bits of `Σ c·x` over inputs x in [-1000, 1000], as a function of one of them.
    fn quotient(terms: &[i128], bits: u8) -> Option<(AtomId, FunId, Facts)> {
        quotient_over((-1000, 1000), terms, bits)
    }

    fn quotient_over(x: (i64, i64), terms: &[i128], bits: u8) -> Option<(AtomId, FunId, Facts)> {
        let mut facts = Facts::new(vec![x], 1 << 20);
        let t = terms.iter().zip(0..).map(|(&c, index)| {
            (facts.atom(Atom::Input { operand: 0, index }).expect("an input"), c)
        });
        let form = Form { k: 0, t: t.collect() }.into();
        let floor = facts.atom(Atom::Floor { form, bits }).expect("a quotient");
        let (base, fun) = facts.parent(floor).expect("no error")?;
        Some((base, fun, facts))
    }

    #[test]
    fn a_quotient_is_a_function_of_what_it_is_of() {
        // The least and the greatest x·2^53 that are words of 64 bits are x = -1024 and 1023.
        for (c, bits) in [(1, 3), (-7, 1), (1 << 53, 1), (1 << 53, 63)] {
            let (base, fun, facts) = quotient(&[c], bits).expect("a function");
            assert_eq!(base, 0);
            for x in [-1000i64, -7, -1, 0, 1, 5, 999, 1000] {
                let want = (c * i128::from(x)) >> bits;
                assert_eq!(i128::from(facts.enumerated.funs.at(fun, x)), want, "{c}·{x} by {bits}");
            }
        }
    }

    #[test]
    fn of_two_inputs_or_beyond_64_bits_it_is_none() {
        assert!(quotient(&[1, 1], 3).is_none());
        assert!(quotient(&[1 << 54], 3).is_none());
        // 2^53·1024 is one too many, and 2^53·-1025 one too few.
        assert!(quotient_over((0, 1024), &[1 << 53], 3).is_none());
        assert!(quotient_over((-1025, 0), &[1 << 53], 3).is_none());
        assert!(quotient_over((-1024, 1023), &[1 << 53], 3).is_some());
        assert!(quotient(&[1], 64).is_none());
    }
}
