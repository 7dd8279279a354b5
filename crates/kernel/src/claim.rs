//! Intervals and residues of forms: rules *interval*, *residue* and *congruent forms*.
//!
//! A form S of integers is read as it stands, or as `(S·scale + Σ κ·Z) / scale` with forms Z that are
//! zero. Such a Z is the equation of a name, or one that a rule proved (`equal.rs`). The prover chooses
//! scale and κ. Whatever it chooses, what follows is true.

use crate::atom::{Atom, Facts};
use crate::compare::{Residue, Term};
use crate::form::{AtomId, Form};
use crate::fun::FunId;
use std::collections::BTreeMap;

/// A form that is zero for all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// `a - D` of a name a for D.
    Name(AtomId),
    /// The equation of this number, in the order of the certificate.
    Fact(u32),
    /// The same of a name, multiplied by an atom.
    NameTimes(AtomId, AtomId),
    /// The equation of a number, multiplied by an atom.
    FactTimes(u32, AtomId),
}

/// How a sum is to be looked at: `scale·S + Σ κ·Z`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// A positive integer.
    pub scale: i128,
    /// Equations and their factors.
    pub zeros: Vec<(Zero, i128)>,
}

impl Witness {
    /// As it stands.
    pub const PLAIN: Witness = Witness { scale: 1, zeros: Vec::new() };
}

/// Why a claim is refused.
pub type Why = String;

const LARGE: &str = "numbers beyond 128 bits";

impl Facts {
    /// `scale·S + Σ κ·Z`, which is `scale·S`.
    fn seen(&mut self, s: &Form, by: &Witness) -> Result<Form, Why> {
        if by.scale < 1 {
            return Err("a scale that is not positive".into());
        }
        self.enumerated.pay(s.t.len())?;
        let scaled = s.combine(by.scale, &Form::default(), 0).ok_or(LARGE)?;
        self.with(&scaled, &by.zeros)
    }

    /// A form with multiples of zero added: the same integer.
    pub(crate) fn with(&mut self, s: &Form, zeros: &[(Zero, i128)]) -> Result<Form, Why> {
        let mut out = s.clone();
        for &(zero, factor) in zeros {
            let zero = match zero {
                Zero::Name(a) => self.named(a)?,
                Zero::Fact(i) => self.equation(i)?.clone(),
                Zero::NameTimes(a, x) => self.times(&self.named(a)?, x)?,
                Zero::FactTimes(i, x) => self.times(self.equation(i)?, x)?,
            };
            self.enumerated.pay(out.t.len() + zero.t.len())?;
            out = out.combine(1, &zero, factor).ok_or(LARGE)?;
        }
        Ok(out)
    }

    /// `a - D` of a name a for D.
    fn named(&self, a: AtomId) -> Result<Form, Why> {
        let Atom::Name(form) = self.get(a)? else { return Err(format!("atom {a} is no name")) };
        Form::atom(a).combine(1, form, -1).ok_or(LARGE.into())
    }

    fn equation(&self, i: u32) -> Result<&Form, Why> {
        self.zero.get(i as usize).ok_or("no such equation yet".into())
    }

    /// A form times an atom. Its products are atoms already: a witness defines nothing.
    fn times(&self, form: &Form, x: AtomId) -> Result<Form, Why> {
        self.get(x)?;
        let product = |&(a, c): &(AtomId, i128)| {
            let known = self.known(&Atom::Product(x.min(a), x.max(a)));
            Ok((known.ok_or_else(|| format!("no atom is the product of atoms {x} and {a}"))?, c))
        };
        let mut t = form.t.iter().map(product).collect::<Result<Vec<_>, Why>>()?;
        // A product is a later atom than its factors, and no two are the same.
        t.extend((form.k != 0).then_some((x, form.k)));
        t.sort_unstable();
        Ok(Form { k: 0, t })
    }

    /// An interval in which a form lies, by a witness.
    ///
    /// # Errors
    /// Why there is none.
    pub fn interval_by(&mut self, s: &Form, by: &Witness) -> Result<(i128, i128), Why> {
        let seen = self.seen(s, by)?;
        let (lo, hi) = self.interval(&seen)?;
        // The integers S with lo <= scale·S <= hi.
        let up = i128::from(lo.rem_euclid(by.scale) != 0);
        Ok((lo.div_euclid(by.scale) + up, hi.div_euclid(by.scale)))
    }

    /// An interval in which a form lies as it stands: functions of one atom are enumerated together with
    /// the atom, all else is added up.
    ///
    /// # Errors
    /// Why there is none.
    pub fn interval(&mut self, s: &Form) -> Result<(i128, i128), Why> {
        let (mut lo, mut hi) = (s.k, s.k);
        let mut add = |(l, h): (i128, i128), c: i128| -> Result<(), Why> {
            let (l, h) = (l.checked_mul(c).ok_or(LARGE)?, h.checked_mul(c).ok_or(LARGE)?);
            lo = lo.checked_add(l.min(h)).ok_or(LARGE)?;
            hi = hi.checked_add(l.max(h)).ok_or(LARGE)?;
            Ok(())
        };
        for group in self.groups(&s.t) {
            match self.whole(&group)? {
                Some((fun, content)) => {
                    let (from, to) = self.domain(group.0)?;
                    let range = self.enumerated.range(fun, from, to);
                    let (l, h) = range.ok_or("a function of too many values")?;
                    add((l.into(), h.into()), content)?;
                }
                // Too large to be enumerated together, or one atom alone.
                None => {
                    for (a, c) in group.1 {
                        let bounds = self.bounds(a);
                        add(bounds.ok_or_else(|| format!("atom {a} has no interval"))?, c)?;
                    }
                }
            }
        }
        Ok((lo, hi))
    }

    /// What a form is modulo m, by a witness: a linear form over inputs, names, remainders and products.
    /// Functions of one atom must be lines modulo m, and quotients must vanish.
    ///
    /// # Errors
    /// What is not linear.
    pub fn residue_by(&mut self, s: &Form, m: u32, by: &Witness) -> Result<Residue, Why> {
        if m < 2 {
            return Err(format!("a modulus of {m}"));
        }
        let (modulus, seen) = (i128::from(m), self.seen(s, by)?);
        self.enumerated.pay(seen.t.len())?;
        let scale = by.scale.rem_euclid(modulus) as u64;
        let inverse = ringforge_ring::zq::inv(scale, m.into());
        let inverse = inverse.ok_or("a scale that has a common divisor with the modulus")?;
        let scaled = |c: i128| c.rem_euclid(modulus) * i128::from(inverse);
        let mut is = Form::constant(scaled(seen.k));
        for group in self.groups(&seen.t) {
            let base = group.0;
            if let [(a, c)] = group.1[..]
                && a == base
            {
                is.t.push((a, scaled(c)));
                continue;
            }
            let whole = self.whole(&group)?;
            let (fun, content) = whole.ok_or("functions with coefficients beyond 64 bits")?;
            let (lo, hi) = self.domain(base)?;
            // A multiple of g is known modulo m where the rest is modulo m/g.
            let rest = u128::from(m) / gcd(content.unsigned_abs(), m.into());
            if rest == 1 {
                continue;
            }
            let line = self.enumerated.line(fun, lo, hi, rest);
            let (c, d) =
                line.ok_or_else(|| format!("functions of atom {base} are no line modulo {rest}"))?;
            let content = scaled(content).rem_euclid(modulus);
            is.k += content * i128::from(d);
            is.t.push((base, content * i128::from(c)));
        }
        self.linear(&is, m)
    }

    /// Rule *congruent forms*: records that an atom is congruent to a form. It takes the difference, adds multiples of
    /// zero, and replaces each atom by what it is congruent to, the latest first. Nothing may be left.
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
        self.get(atom)?;
        let is = self.residue_by(form, m, &Witness::PLAIN)?;
        let same = self.with(form, zeros)?;
        let difference = Form::atom(atom).combine(1, &same, -1).ok_or(LARGE)?;
        let difference = self.residue_by(&difference, m, &Witness::PLAIN)?;
        let modulus = u64::from(m);
        let mut k = u64::from(difference.k);
        let terms = difference.t.into_iter().map(|(term, c)| (term, u64::from(c)));
        let mut left: BTreeMap<Term, u64> = terms.collect();
        // Products come first, and what a value is replaced by is earlier than it: what is popped will not come back.
        while let Some((term, c)) = left.pop_last() {
            let c = c % modulus;
            if c == 0 {
                continue;
            }
            let known = match term {
                Term::Value(a) => self.congruence(a, m),
                Term::Product(..) => None,
            };
            let known =
                known.ok_or_else(|| format!("{c}·{term:?} is left of a difference modulo {m}"))?;
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
        self.congruent(atom, is)
    }

    /// Terms by the atom that they are, or are functions of.
    fn groups(&self, terms: &[(AtomId, i128)]) -> Vec<Group> {
        let mut all = Vec::from_iter(terms.iter().map(|&t| (self.base(t.0), t)));
        all.sort_unstable();
        all.chunk_by(|x, y| x.0 == y.0).map(|g| (g[0].0, g.iter().map(|t| t.1).collect())).collect()
    }

    /// A group as one function of its base and what all its coefficients are multiples of, where 64 bits
    /// hold every value exactly.
    fn whole(&mut self, (base, terms): &Group) -> Result<Option<(FunId, i128)>, Why> {
        if terms.iter().all(|t| t.0 == *base) {
            return Ok(None);
        }
        let content = terms.iter().fold(0u128, |g, t| gcd(g, t.1.unsigned_abs()));
        let content = i128::try_from(content.max(1)).map_err(|_| LARGE)?;
        let (mut divided, mut size) = (Vec::new(), 0i128);
        for &(a, c) in terms {
            let Ok(c) = i64::try_from(c / content) else { return Ok(None) };
            divided.push((a, c));
            // The interval of a function holds every value that it takes. Where the base takes none, a sum that
            // wraps adds a point to what is enumerated, and takes none away.
            let bounds = self.bounds(a);
            let (l, h) = bounds.ok_or_else(|| format!("atom {a} has no interval"))?;
            size = size.saturating_add(i128::from(c).abs().saturating_mul(l.abs().max(h.abs())));
        }
        Ok((size < 1 << 62).then(|| (self.group_function(&divided, 64), content)))
    }
}

/// Terms of one base, by atom.
type Group = (AtomId, Vec<(AtomId, i128)>);

/// The greatest common divisor; of 0 and b, b.
pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_machine::graph::Op;

    /// x in [-9, 9], y in [-5, 5], and atoms of x: 3x + 5, and x + 6 where x is negative.
    fn facts() -> (Facts, [AtomId; 4]) {
        let mut facts = Facts::new(vec![(-9, 9), (-5, 5)], 1 << 20);
        let input = |facts: &mut Facts, operand| {
            facts.atom(Atom::Input { operand, index: 0 }).expect("an input")
        };
        let (x, y) = (input(&mut facts, 0), input(&mut facts, 1));
        let funs = &mut facts.enumerated.funs;
        let line = funs.lin(16, 5, 3, &[]);
        let (same, zero) = (funs.lin(16, 0, 1, &[]), funs.constant(16, 0));
        let less = funs.word(1, &Op::Slt, &[same, zero]).expect("a function");
        let step = funs.lin(16, 0, 1, &[(less, -6)]);
        let [f, g] = [line, step].map(|fun| facts.atom(Atom::Function { of: x, fun }));
        (facts, [x, y, f.expect("a function"), g.expect("a function")])
    }

    fn form(k: i128, t: &[(AtomId, i128)]) -> Form {
        Form { k, t: t.to_vec() }
    }

    #[test]
    fn residues_are_those_of_the_sum() {
        let (mut facts, [x, y, f, g]) = facts();
        let value = |&(a, c): &(AtomId, u32)| (Term::Value(a), c);
        let is = |m, k, t: &[_]| Ok(Residue { m, k, t: t.iter().map(value).collect() });
        let large = 1i128 << 70;
        let cases = [
            (form(4, &[(x, 2), (y, 3), (f, 7)]), 11, is(11, 6, &[(x, 1), (y, 3)])),
            (form(-4, &[(x, -2), (y, 3), (f, -7)]), 11, is(11, 5, &[(x, 10), (y, 3)])),
            // Of a multiple of 2 modulo 12, the rest modulo 6.
            (form(4, &[(x, 4), (f, 14)]), 12, is(12, 2, &[(x, 10)])),
            (form(0, &[(g, 2)]), 12, is(12, 0, &[(x, 2)])),
            (form(3, &[(g, 12), (y, 1)]), 12, is(12, 3, &[(y, 1)])),
            (form(1, &[(f, 1)]), 2, is(2, 0, &[(x, 1)])),
            // What all are multiples of does not count for the size.
            (form(0, &[(x, 2 * large), (f, large)]), 11, is(11, 5, &[(x, 5)])),
        ];
        for (form, m, want) in cases {
            // Looked at as they stand, and as a multiple of themselves.
            for scale in [1, 5, 35, 11 * 12 + 1] {
                let by = Witness { scale, zeros: Vec::new() };
                assert_eq!(facts.residue_by(&form, m, &by), want, "{form:?} by {scale}");
            }
        }
        let plain = |facts: &mut Facts, form: &Form, m| facts.residue_by(form, m, &Witness::PLAIN);
        assert!(plain(&mut facts, &form(0, &[(g, 1)]), 12).is_err());
        assert!(plain(&mut facts, &form(0, &[(g, 3)]), 12).is_err());
        // A function of a function has a residue over that one, which none may have.
        let same = facts.enumerated.funs.lin(32, 0, 1, &[]);
        let over = facts.atom(Atom::Function { of: f, fun: same }).expect("a function");
        let told = plain(&mut facts, &form(0, &[(over, 1)]), 11);
        assert!(told.is_err_and(|e| e.contains("is a quotient or a function")));
    }

    /// A function in [-22, 32], 2^56 times, and its argument, lie within 62 bits; twice that does not.
    #[test]
    fn what_is_enumerated_together_fits() {
        let (mut facts, [x, _, f, _]) = facts();
        for (c, fits) in [(1i128 << 56, true), (1 << 57, false)] {
            let form = form(0, &[(x, 1), (f, c)]);
            let found = facts.residue_by(&form, 11, &Witness::PLAIN);
            assert_eq!(found.is_ok(), fits, "{found:?}");
            assert_eq!(facts.interval(&form), Ok((-9 - 22 * c, 9 + 32 * c)));
            // The interval is that of the sum, or of its terms.
            let apart = Form { k: 0, t: vec![(x, -3 * c - 1), (f, c)] };
            let width = facts.interval(&apart).map(|(l, h)| h - l);
            assert_eq!(width, Ok(if fits { 18 } else { 54 * c + 54 * c + 18 }));
        }
    }

    /// Of several terms with the greatest residues each sum is reduced.
    #[test]
    fn great_residues_are_added_up() {
        // The greatest prime below 2^32.
        let m = 4294967291u32;
        let mut facts = Facts::new(vec![(-9, 9)], 1 << 20);
        let x = facts.atom(Atom::Input { operand: 0, index: 0 }).expect("an input");
        let mut name = |form: Form| facts.atom(Atom::Name(form.into())).expect("a name");
        // -x - 1, and what is congruent to it; minus the sum of all.
        let parts = [1, 2, 3].map(|c| name(form(-1 - c * i128::from(m), &[(x, -1)])));
        let sum = name(form(0, &parts.map(|a| (a, -1))));
        assert_eq!(facts.modulo(sum, m, &form(3, &[(x, 3)]), &[]), Ok(()));
        assert!(facts.modulo(sum, m, &form(2, &[(x, 3)]), &[]).is_err());
        assert!(facts.modulo(sum, m, &form(3, &[(x, 2)]), &[]).is_err());
    }
}
