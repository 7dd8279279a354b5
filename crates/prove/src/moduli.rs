//! Which modulus a form is read in, and forms of several moduli taken apart.
//!
//! Products may go through moduli other than the contract's. Nothing states which. The search meets
//! a prime where enumeration finds functions that are lines modulo nothing else.

use crate::cut::Cutter;
use crate::funs::Op;
use crate::values::{Atom, AtomId, Base, Form};

/// The largest odd divisor; 0 of 0.
pub(crate) fn odd_part(m: u64) -> u64 {
    if m == 0 { 0 } else { m >> m.trailing_zeros() }
}

/// The least modulus that is accepted: smaller common divisors are accidents.
const LEAST: u64 = 97;
/// The most moduli that are accepted.
const MODULI: usize = 64;

impl Cutter {
    /// The divisor of m in which a form is read: a multiple of q, else a modulus met before, else a
    /// prime met now. Where 2 must have an inverse, `whole` is false.
    pub(crate) fn modulus(&mut self, m: u64, whole: bool) -> Option<u32> {
        let q = u64::from(self.world.q);
        let m = if whole { m } else { odd_part(m) };
        if m.is_multiple_of(q) && (whole || q % 2 == 1) {
            let mut n = q;
            // Bits beyond an even q are kept, for divisions by powers of two.
            while q % 2 == 0 && n < 1 << 16 && m.is_multiple_of(2 * n) {
                n *= 2;
            }
            return Some(n as u32);
        }
        self.other_modulus(m)
    }

    /// A modulus among the divisors of m that is not q: one met before, or its one large prime.
    pub(crate) fn other_modulus(&mut self, m: u64) -> Option<u32> {
        if m < LEAST {
            return None;
        }
        let known = self.world.moduli.iter().skip(1).find(|&&p| m.is_multiple_of(p.into()));
        if let Some(&p) = known {
            return Some(p);
        }
        let mut n = odd_part(m);
        let mut divisor = 3;
        while divisor < LEAST && divisor * divisor <= n {
            while n.is_multiple_of(divisor) && n > divisor {
                n /= divisor;
            }
            divisor += 2;
        }
        let fits = (LEAST..1 << 31).contains(&n) && self.world.moduli.len() < MODULI;
        if !fits || !ringforge_ring::zq::is_prime(n) || n == u64::from(self.world.q) {
            return None;
        }
        self.world.moduli.push(n as u32);
        Some(n as u32)
    }

    /// Writes a sum that needs several moduli in terms of variables of one modulus each, so that it
    /// is an exact form. Take Garner's `r + p·u` with r known modulo p and u modulo another prime.
    /// It has no reading in either modulus, but it is exact over r and u. [`None`] if one modulus
    /// is enough.
    pub(crate) fn separate(&mut self, form: &Form, bits: u8) -> Option<Form> {
        let function =
            |a: AtomId| matches!(self.world.atoms[a as usize], Atom::Fun(..) | Atom::High(_));
        if form.t.len() < 2 || !form.t.iter().any(|t| function(t.0)) {
            return None;
        }
        let mut parts = self.parts(form).ok()?;
        let q = u64::from(self.world.q);
        if parts.m.is_multiple_of(q) {
            return None;
        }
        let short = self.shortened(form, bits);
        let form = short.as_ref().unwrap_or(form);
        if short.is_some() {
            parts = self.parts(form).ok()?;
            if parts.m.is_multiple_of(q) {
                return short;
            }
        }
        // One modulus for all, in which nothing vanishes, is enough.
        let m = odd_part(parts.m);
        let bases = std::mem::take(&mut parts.bases);
        if bases.iter().all(|b| b.1 == 0 || odd_part(b.1) == m)
            && let Some(m) = self.other_modulus(m)
            && parts.modulo(m).t.len() == parts.terms.len()
        {
            return short;
        }
        // What is linear in no modulus, as the low half of a sum is, needs another way.
        if !self.readable(&bases) {
            let merged = self.ancestral(form)?;
            let parts = self.parts(&merged).ok()?;
            if !self.readable(&parts.bases) {
                return None;
            }
            return Some(self.separate(&merged, bits).unwrap_or(merged));
        }
        self.apart(form).or(short)
    }

    /// The same sum modulo 2^bits, with its functions in that many bits. Compilers leave arbitrary
    /// bits above them in a register. [`None`] if nothing changes.
    pub(crate) fn shortened(&mut self, form: &Form, bits: u8) -> Option<Form> {
        let mut out = Form { k: form.k, t: Vec::new() };
        let mut changed = false;
        for &(a, c) in &form.t {
            let mut atom = a;
            if let Atom::Fun(base, f) = self.world.atoms[a as usize]
                && self.world.funs.get(f).width > bits
            {
                let short = crate::funs::truncated(&mut self.world.funs, f, bits);
                let short = short.unwrap_or_else(|| self.op(bits, Op::Slice { lo: 0 }, &[f]));
                atom = self.world.atom(Atom::Fun(base, short));
                changed = true;
            }
            out = Form::combine(&out, 1, &Form::atom(atom), c, 64);
        }
        changed.then_some(out)
    }

    /// Whether the functions of each base are linear modulo something.
    fn readable(&mut self, bases: &[(Base, u64)]) -> bool {
        bases.iter().all(|b| b.1 == 0 || self.modulus(b.1, false).is_some())
    }

    /// Takes values of a variable that is a function of another, and writes them as functions of
    /// that other one if the sum has it too. The sum stays the same. Take `y - (p & -[y > p/2])`
    /// with y = x + (p & -[x < -p/2]) and y unfolded. Only both corrections together are a residue.
    /// [`None`] if nothing changes.
    fn ancestral(&mut self, form: &Form) -> Option<Form> {
        let mut form = form.clone();
        let mut changed = false;
        loop {
            let mut bases: Vec<Base> = form.t.iter().filter_map(|t| self.group(t.0)).collect();
            bases.sort_unstable();
            bases.dedup();
            let parent = |b: Base| match b {
                Base::Var(v) => self.world.var(v).parent,
                Base::Low(_) => None,
            };
            let descends = |b: Base| {
                let mut at = parent(b);
                while let Some((up, _)) = at
                    && bases.binary_search(&up).is_err()
                {
                    at = parent(up);
                }
                at.is_some()
            };
            let step = bases.iter().rev().find(|&&b| descends(b));
            let Some((&Base::Var(v), (up, inner))) = step.and_then(|b| Some((b, parent(*b)?)))
            else {
                return changed.then_some(form);
            };
            let mut t: Vec<(AtomId, i64)> = Vec::with_capacity(form.t.len());
            for &(a, c) in &form.t {
                let function = match self.world.atoms[a as usize] {
                    Atom::Var(x) if x == v => Some(inner),
                    Atom::Fun(Base::Var(x), f) if x == v => Some(self.world.funs.compose(f, inner)),
                    _ => None,
                };
                t.push((function.map_or(a, |f| self.world.atom(Atom::Fun(up, f))), c));
            }
            let next = Form::of(form.k, t);
            (form, changed) = (next, true);
        }
    }

    /// The same sum modulo 2^width, with other coefficients of its functions. Of the congruent
    /// coefficients it has those for which the functions of each base take the fewest values
    /// together. An example is `x - p·f(x)`, where 2^width - p is smaller than p and stands in its
    /// place.
    pub(crate) fn narrowed(&mut self, form: &Form, width: u8) -> Form {
        let mut bases: Vec<Base> = form.t.iter().filter_map(|t| self.base(t.0)).collect();
        bases.sort_unstable();
        bases.dedup();
        let mut out = form.clone();
        for base in bases.into_iter().filter(|_| width < 48) {
            let at: Vec<usize> =
                (0..out.t.len()).filter(|&i| self.base(out.t[i].0) == Some(base)).collect();
            if at.len() < 2 {
                continue;
            }
            let mut group = Form { k: 0, t: at.iter().map(|&i| out.t[i]).collect() };
            let Ok(mut best) = self.read(&group) else { continue };
            for (j, &i) in at.iter().enumerate() {
                let c = group.t[j].1;
                if !matches!(self.world.atoms[group.t[j].0 as usize], Atom::Fun(..)) {
                    continue;
                }
                group.t[j].1 = c - (c.signum() << width);
                match self.read(&group) {
                    Ok(r) if r.hi - r.lo < best.hi - best.lo => {
                        best = r;
                        out.t[i].1 = group.t[j].1;
                    }
                    _ => group.t[j].1 = c,
                }
            }
        }
        out
    }

    /// A sum with a variable for the functions of each base; [`None`] where nothing changes.
    pub(crate) fn apart(&mut self, form: &Form) -> Option<Form> {
        let merged = self.ancestral(form);
        let form = merged.as_ref().unwrap_or(form);
        let mut bases: Vec<Base> = form
            .t
            .iter()
            .filter(|t| matches!(self.world.atoms[t.0 as usize], Atom::Fun(..) | Atom::High(_)))
            .filter_map(|t| self.group(t.0))
            .collect();
        bases.sort_unstable();
        bases.dedup();
        let mut out = form.clone();
        let mut changed = false;
        for base in bases {
            let group: Vec<(AtomId, i64)> =
                out.t.iter().copied().filter(|t| self.group(t.0) == Some(base)).collect();
            let content = group.iter().fold(0, |g, t| crate::reading::gcd(g, t.1.unsigned_abs()));
            let Ok(content) = i64::try_from(content) else { continue };
            let part =
                Form { k: 0, t: group.iter().map(|t| (t.0, t.1 / content.max(1))).collect() };
            let Ok(r) = self.read(&part) else { continue };
            let fits = r.residue.as_ref().is_some_and(|m| !m.t.is_empty())
                && r.hi.abs().max(r.lo.abs()) < 1 << 48;
            if !fits {
                continue;
            }
            let (v, sign) = self.variable(part.clone(), r);
            let atom = Form::atom(self.world.var(v).atom);
            out = Form::combine(&out, 1, &part, -content, 64);
            out = Form::combine(&out, 1, &atom, sign * content, 64);
            changed = true;
        }
        changed.then_some(out)
    }

    /// The base with which an atom is read.
    fn group(&self, a: AtomId) -> Option<Base> {
        match self.world.atoms[a as usize] {
            Atom::High(w) => Some(Base::Low(self.world.wides[w as usize].low.0)),
            _ => self.base(a),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uses::Use;
    use crate::values::VarId;

    fn input(cut: &mut Cutter, index: u32) -> VarId {
        cut.test_input(index, 3000)
    }

    /// `x - p·floor(x·ceil(2^16 / p) / 2^16)` of a variable.
    fn reduced(cut: &mut Cutter, v: VarId, p: i64) -> AtomId {
        let wide = cut.world.funs.lin(32, 0, 65536 / p + 1, &[]);
        let quotient = cut.op(16, Op::Slice { lo: 16 }, &[wide]);
        let f = cut.world.funs.lin(16, 0, 1, &[(quotient, -p)]);
        cut.world.atom(Atom::Fun(Base::Var(v), f))
    }

    #[test]
    fn multiples_by_powers_of_two_of_sums_of_several_moduli_are_multiples_of_variables() {
        let mut cut = Cutter::new(97);
        let (x, y) = (input(&mut cut, 0), input(&mut cut, 1));
        let (r, u) = (reduced(&mut cut, x, 101), reduced(&mut cut, y, 103));
        let sum = Form::combine(&Form::atom(r), 1, &Form::atom(u), 101, 64);
        // Some 21,000 values, of which a word that holds 64 times the sum has ten bits.
        let Use::One(Base::Var(v), f) = cut.use_form(&sum.scaled(64, 16), 16) else {
            panic!("no variable")
        };
        let (lo, hi) = cut.world.domain(Base::Var(v));
        assert!(hi - lo > 1 << 10 && hi - lo < 1 << 16);
        let sign = cut.world.funs.at(f, 1) / 64;
        assert!(sign.abs() == 1);
        for at in [lo, -1000, -1, 0, 513, hi] {
            assert_eq!(cut.world.funs.at(f, at), crate::funs::centre(64 * sign * at, 16));
        }
        // Seven bits of a function are no residue, but the sum is an integer for all that.
        let mut cut = Cutter::new(2048);
        let (x, y) = (input(&mut cut, 0), input(&mut cut, 1));
        let (r, u) = (reduced(&mut cut, x, 101), reduced(&mut cut, y, 103));
        let difference = Form::combine(&Form::atom(r), 1, &Form::atom(u), -1, 64);
        let used = cut.use_form(&difference.scaled(512, 16), 16);
        assert!(matches!(used, Use::One(Base::Var(_), _)), "{used:?}");
        // A word of ten bits does not hold the sum itself.
        let mut cut = Cutter::new(97);
        let (x, y) = (input(&mut cut, 0), input(&mut cut, 1));
        let (r, u) = (reduced(&mut cut, x, 101), reduced(&mut cut, y, 103));
        let sum = Form::combine(&Form::atom(r), 1, &Form::atom(u), 101, 64);
        assert!(!matches!(cut.use_form(&sum, 10), Use::One(Base::Var(_), _)));
    }

    #[test]
    fn coefficients_modulo_a_power_of_two_are_those_of_a_reduction() {
        let p = 1153;
        let mut cut = Cutter::new(2048);
        let (x, y) = (input(&mut cut, 0), input(&mut cut, 1));
        let wide = cut.world.funs.lin(32, 1 << 15, 65536 / p, &[]);
        let quotient = cut.op(16, Op::Slice { lo: 16 }, &[wide]);
        let quotient = cut.world.atom(Atom::Fun(Base::Var(x), quotient));
        let (x, y) = (cut.world.var(x).atom, cut.world.var(y).atom);
        let reduction = |p: i64| {
            let f = Form::combine(&Form::atom(x), 1, &Form::atom(quotient), -p, 64);
            Form::combine(&f, 1, &Form::atom(y), 3, 64).scaled(32, 16)
        };
        let form = reduction(p);
        assert_eq!(form.coefficient(quotient), 32 * (2048 - p), "what a word keeps of it");
        let narrowed = cut.narrowed(&form, 16);
        assert_eq!(narrowed.coefficient(quotient), -32 * p);
        assert_eq!(narrowed.scaled(1, 16), form, "the same modulo 2^16");
        let apart = cut.apart(&narrowed).expect("a digit");
        let digit = apart.t.iter().map(|t| t.0).find(|&a| a != x && a != y);
        let Some(Atom::Var(v)) = digit.map(|a| cut.world.atoms[a as usize]) else {
            panic!("no digit in {apart:?}")
        };
        let var = cut.world.var(v);
        assert!(var.residue.m == p as u32 && var.hi - var.lo < p + 100, "{var:?}");
        // Mutants: multiples of which nothing is a residue modulo p.
        for other in [p - 2, p + 2, -p, 2 * p + 2] {
            let form = reduction(other);
            let narrowed = cut.narrowed(&form, 16);
            assert_eq!(narrowed.scaled(1, 16), form, "{other}");
            let group = Form {
                k: 0,
                t: narrowed.t.iter().filter(|t| t.0 != y).map(|t| (t.0, t.1 / 32)).collect(),
            };
            let known = cut.read(&group).ok().and_then(|r| r.residue);
            assert!(known.is_none_or(|m| m.m != p as u32 || m.t.is_empty()), "{other}");
        }
    }

    #[test]
    fn sums_of_several_moduli_are_taken_apart_and_others_are_not() {
        let mut cut = Cutter::new(97);
        let (x, y) = (input(&mut cut, 0), input(&mut cut, 1));
        let sum = |cut: &Cutter, a: AtomId, b: AtomId, c: i64| {
            let f = Form::combine(&Form::atom(a), 1, &Form::atom(b), c, 64);
            assert!(f.t.len() == 2 && cut.world.atoms.len() > 3);
            f
        };
        let (r, u) = (reduced(&mut cut, x, 101), reduced(&mut cut, y, 103));
        let form = sum(&cut, r, u, 101);
        let apart = cut.separate(&form, 64);
        let variable = |a: AtomId| matches!(cut.world.atoms[a as usize], Atom::Var(_));
        assert!(apart.is_some_and(|f| f.t.iter().all(|t| variable(t.0))));
        // One part is linear in no modulus: a variable of the other would hide where the whole is.
        let one = cut.world.funs.lin(16, 0, 1, &[]);
        let shifted = cut.op(13, Op::Slice { lo: 3 }, &[one]);
        let odd = cut.world.atom(Atom::Fun(Base::Var(y), shifted));
        let form = sum(&cut, r, odd, 1);
        assert_eq!(cut.separate(&form, 64), None);
    }
}
