//! Reads a form as an exact integer: its interval, and its residue modulo some number.
//!
//! The caller asks for no particular modulus. Variables and products are linear over the integers.
//! The functions of one base are a line modulo whatever enumeration finds. A quotient times c
//! vanishes modulo c. The greatest common divisor of these moduli is the largest modulus in which
//! the form is linear. The search picks one of its divisors: the contract's modulus, else one that
//! it met before, else its one large prime.

use crate::cut::Cutter;
use crate::lines::Line;
use crate::moduli::odd_part;
use crate::values::{Atom, AtomId, Base, Form, ModForm, VarId};
pub(crate) use ringforge_ring::zq::gcd;

/// A form read as an exact integer.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Lower bound.
    pub lo: i128,
    /// Upper bound.
    pub hi: i128,
    /// What it is modulo something, if that is linear.
    pub residue: Option<ModForm>,
    /// The form over variables and products that it is as an integer, if it is one.
    pub integer: Option<Form>,
    /// What is not linear modulo q.
    pub odd: Option<Odd>,
}

/// A part of a form that is not linear modulo q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// Functions of this base.
    Base(Base),
    /// A quotient by a power of two that is not multiplied by a multiple of q.
    Floor,
}

/// A quotient of a variable becomes a function only if the variable's interval is no longer than
/// this.
const FEW: i64 = 1 << 16;

/// Why there is no reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReading {
    /// It contains a value that is not understood.
    Opaque(u32),
    /// A function of too wide a variable.
    TooWide,
    /// Coefficients beyond 64-bit arithmetic.
    Overflow,
}

/// `c·2^(-16·e)·atom`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    atom: AtomId,
    c: i128,
    e: u32,
}

/// A form as an interval and as a linear form modulo `m`, no divisor of m chosen yet.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub lo: i128,
    pub hi: i128,
    /// Modulus; 0 where the form is linear over the integers, 1 where it is not linear at all.
    pub m: u64,
    /// Constants `c·2^(-16·e)`.
    k: Vec<(i128, u32)>,
    pub terms: Vec<Term>,
    /// The part without which the modulus would be a multiple of q.
    odd: Option<Odd>,
    /// The moduli of what is linear modulo something only, of functions of one base each.
    pub bases: Vec<(Base, u64)>,
    /// Quotients that were read as functions of a variable, those, and their coefficients.
    pub beside: Vec<(AtomId, AtomId, i64)>,
}

impl Parts {
    /// Linear modulo n only.
    fn shrink(&mut self, n: u64, q: u32, part: Odd) {
        self.m = gcd(self.m, n);
        if self.odd.is_none() && !n.is_multiple_of(q.into()) {
            self.odd = Some(part);
        }
    }

    /// The largest power of 2^-16.
    fn depth(&self) -> u32 {
        self.k.iter().map(|k| k.1).chain(self.terms.iter().map(|t| t.e)).max().unwrap_or(0)
    }

    /// The form as one of integers, where it is linear over these.
    fn integer(&self) -> Option<Form> {
        if self.depth() != 0 {
            return None;
        }
        let small = |c: i128| i64::try_from(c).ok().filter(|c| c.abs() < 1 << 62);
        let mut t: Vec<(AtomId, i64)> =
            self.terms.iter().map(|t| small(t.c).map(|c| (t.atom, c))).collect::<Option<_>>()?;
        t.sort_unstable();
        if t.windows(2).any(|w| w[0].0 == w[1].0) {
            return None;
        }
        t.retain(|t| t.1 != 0);
        Some(Form { k: small(self.k.iter().map(|k| k.0).sum())?, t })
    }

    /// The form modulo a divisor of m, odd where a term has a negative power of two.
    pub fn modulo(&self, m: u32) -> ModForm {
        let modulus = i128::from(m);
        let half = i128::from((m / 2 + 1) % m);
        let power = |e: u32| (0..16 * e).fold(1 % modulus, |p, _| p * half % modulus);
        let powers: Vec<i128> = (0..=self.depth()).map(power).collect();
        let of = |c: i128, e: u32| c.rem_euclid(modulus) * powers[e as usize] % modulus;
        let k = self.k.iter().map(|&(c, e)| of(c, e)).sum::<i128>() % modulus;
        let terms = self.terms.iter().map(|t| (t.atom, of(t.c, t.e) as u64)).collect();
        ModForm { m, k: k as u32, t: merge(terms, m) }
    }
}

impl Cutter {
    /// The exact integer reading of a form (its coefficients as they stand).
    pub fn read(&mut self, form: &Form) -> Result<Reading, NoReading> {
        let mut parts = self.parts(form)?;
        if self.world.has_floor(form)
            && let Some((l, h)) = self.rational(form)
        {
            parts.lo = parts.lo.max(l);
            parts.hi = parts.hi.min(h);
        }
        if let Some((l, h)) = self.joint_bounds(form) {
            parts.lo = parts.lo.max(l);
            parts.hi = parts.hi.min(h);
        }
        let m = self.modulus(parts.m, parts.depth() == 0);
        let residue = m.map(|m| parts.modulo(m));
        let integer = if parts.m == 0 { parts.integer() } else { None };
        Ok(Reading { lo: parts.lo, hi: parts.hi, residue, integer, odd: parts.odd })
    }

    /// A form as interval and linear form.
    pub(crate) fn parts(&mut self, form: &Form) -> Result<Parts, NoReading> {
        let q = self.world.q;
        let mut out = Parts {
            lo: form.k.into(),
            hi: form.k.into(),
            k: vec![(form.k.into(), 0)],
            ..Parts::default()
        };
        out.terms.reserve(form.t.len());
        // Terms of bases that need to be taken together.
        let mut grouped: Vec<(Base, (AtomId, i64))> = Vec::new();
        let mut funs = false;
        let mut floors: Vec<(AtomId, u32, i64)> = Vec::new();
        for &(atom, c) in &form.t {
            match self.world.atoms[atom as usize] {
                Atom::Prod(x, y) => {
                    let (l, h) = self.product_interval(x, y);
                    widen(&mut out.lo, &mut out.hi, l, h, c.into());
                    out.terms.push(Term { atom, c: c.into(), e: 0 });
                }
                Atom::Var(v) => grouped.push((Base::Var(v), (atom, c))),
                Atom::Fun(b, _) => {
                    funs = true;
                    grouped.push((b, (atom, c)));
                }
                Atom::High(w) => {
                    funs = true;
                    grouped.push((Base::Low(self.world.wides[w as usize].low.0), (atom, c)));
                }
                Atom::Floor(f) => floors.push((atom, f, c)),
                Atom::Opaque(o) => {
                    return Err(NoReading::Opaque(self.world.opaques[o as usize]));
                }
            }
        }
        let found: Vec<Base> =
            grouped.iter().filter(|g| self.function(g.1.0)).map(|g| g.0).collect();
        for (quotient, f, c) in floors {
            if let Some((base, atom)) = self.quotient_beside(f, &found) {
                grouped.push((base, (atom, c)));
                out.beside.push((quotient, atom, c));
                continue;
            }
            let floor = &self.world.floors[f as usize];
            widen(&mut out.lo, &mut out.hi, floor.lo, floor.hi, c.into());
            // What the quotient is nobody knows; it is hidden modulo its coefficient.
            out.shrink(c.unsigned_abs(), q, Odd::Floor);
        }
        if funs {
            grouped.sort_by_key(|g| g.0);
        }
        let mut i = 0;
        while i < grouped.len() {
            let base = grouped[i].0;
            let mut j = i + 1;
            while funs && j < grouped.len() && grouped[j].0 == base {
                j += 1;
            }
            let group = &grouped[i..j];
            i = j;
            if let ([(_, (atom, c))], Base::Var(v)) = (group, base)
                && matches!(self.world.atoms[*atom as usize], Atom::Var(_))
            {
                let var = self.world.var(v);
                widen(&mut out.lo, &mut out.hi, var.lo.into(), var.hi.into(), (*c).into());
                out.terms.push(Term { atom: *atom, c: (*c).into(), e: 0 });
                continue;
            }
            let group: Vec<(AtomId, i64)> = group.iter().map(|g| g.1).collect();
            match base {
                Base::Low(_) => self.read_low(base, &group, &mut out)?,
                Base::Var(v) => {
                    if !self.evaluable(base, &group) {
                        return Err(NoReading::Overflow);
                    }
                    // Multiples of one function are one function: of n constants there would be n.
                    let content = content(&group);
                    let t = group.iter().map(|&(a, c)| (a, c / content)).collect();
                    let fun = self.as_fun(&Form { k: 0, t }, 64);
                    let (l, h) = self.world.domain(base);
                    let s = self
                        .enumeration
                        .summary(&mut self.world.funs, fun, l, h)
                        .map_err(|_| NoReading::TooWide)?
                        .times(content);
                    out.lo += i128::from(s.min);
                    out.hi += i128::from(s.max);
                    let line = s.line.reduced();
                    out.shrink(line.m, q, Odd::Base(base));
                    out.bases.push((base, line.m));
                    out.k.push((line.d, 0));
                    out.terms.push(Term { atom: self.world.var(v).atom, c: line.c, e: 0 });
                }
            }
        }
        Ok(out)
    }

    fn function(&self, a: AtomId) -> bool {
        matches!(self.world.atoms[a as usize], Atom::Fun(..))
    }

    /// Reads a quotient as a function of its variable, if that takes few values and the form also
    /// has functions of it. Three parts cancel only together: the upper half of an unsigned
    /// product, its correction by the variable's sign, and the signed quotient.
    fn quotient_beside(&mut self, f: u32, functions: &[Base]) -> Option<(Base, AtomId)> {
        let base = self.one_base(&self.world.floors[f as usize].form)?;
        let (lo, hi) = self.world.domain(base);
        if !functions.contains(&base) || hi - lo > FEW {
            return None;
        }
        self.quotient_as_function(f)
    }

    /// Reads a quotient of a sum that depends on one base as a function of that base.
    pub(crate) fn quotient_as_function(&mut self, f: u32) -> Option<(Base, AtomId)> {
        let floor = &self.world.floors[f as usize];
        let (form, bits, ends) = (floor.form.clone(), floor.bits, (floor.lo, floor.hi));
        let base = self.one_base(&form)?;
        // So that the whole is no more than 63 bits.
        if bits > 48 || !self.evaluable(base, &form.t) {
            return None;
        }
        let whole = self.as_fun(&form, 64);
        let part = self.part(whole, bits, ends);
        Some((base, self.world.atom(Atom::Fun(base, part))))
    }

    /// A group over the low half of a sum, with the high halves that belong to it:
    /// `Σ c_h·floor(P_h / 2^16) + Σ c_i·f_i(L)` is `(Σ c_h·P_h + M(L)) / 2^16` where
    /// `M(L) = 2^16·Σ c_i·f_i(L) - Σ c_h·(P_h mod 2^16)`, a function of L alone.
    fn read_low(
        &mut self,
        base: Base,
        group: &[(AtomId, i64)],
        out: &mut Parts,
    ) -> Result<(), NoReading> {
        let q = self.world.q;
        let mut wide = Form::default();
        let (mut terms, mut bound, mut high) = (Vec::new(), 0i128, false);
        let mut direct = (0i128, 0i128);
        for &(a, c) in group {
            match self.world.atoms[a as usize] {
                Atom::Fun(_, f) => {
                    bound += (i128::from(c).abs() << 16) * self.largest(base, f);
                    if bound >= 1 << 62 {
                        return Err(NoReading::Overflow);
                    }
                    terms.push((f, c << 16));
                }
                Atom::High(w) => {
                    high = true;
                    let w = self.world.wides[w as usize].clone();
                    let l = self.world.funs.lin(16, 0, w.low.1, &[]);
                    let l = self.extend(l, 64, false);
                    bound += i128::from(c).abs() << 16;
                    if bound >= 1 << 62 {
                        return Err(NoReading::Overflow);
                    }
                    terms.push((l, -c));
                    if c.abs() > 1 << 20 {
                        return Err(NoReading::Overflow);
                    }
                    wide = Form::combine(&wide, 1, &w.form, c, 64);
                    let p = self.read(&w.form)?;
                    widen(&mut direct.0, &mut direct.1, p.lo >> 16, p.hi >> 16, c.into());
                }
                _ => unreachable!("only functions and high halves have a low base"),
            }
        }
        let m = self.world.funs.lin(64, 0, 0, &terms);
        let s = self
            .enumeration
            .summary(&mut self.world.funs, m, 0, 65535)
            .map_err(|_| NoReading::TooWide)?;
        let p = self.parts(&wide)?;
        let mut lo = -((-(p.lo + i128::from(s.min))) >> 16);
        let mut hi = (p.hi + i128::from(s.max)) >> 16;
        if terms.len() == 1 && high {
            // An unpaired high half: its own bound is as good and needs no rounding.
            lo = lo.max(direct.0);
            hi = hi.min(direct.1);
        }
        out.lo += lo;
        out.hi += hi;
        if high {
            // 2^16 times it is the wide form and a constant, so far as M is one: modulo odd numbers.
            let line = s.line.reduced();
            let level = gcd(line.m, line.c.unsigned_abs().try_into().unwrap_or(1));
            let n = odd_part(gcd(level, p.m));
            out.shrink(n, q, Odd::Base(base));
            out.bases.push((base, n));
            out.k.push((line.d, 1));
            out.k.extend(p.k.iter().map(|&(c, e)| (c, e + 1)));
            out.terms.extend(p.terms.iter().map(|t| Term { e: t.e + 1, ..*t }));
            return Ok(());
        }
        // A function of the low half alone, M being 2^16 times it.
        let line = match s.line {
            Line { m, c, d } if m.is_multiple_of(1 << 16) => {
                Line { m: m >> 16, c: c >> 16, d: d >> 16 }.reduced()
            }
            // Only of huge values, where a modulus is not kept whole.
            _ => Line::NONE,
        };
        out.k.push((line.d, 0));
        let constant = gcd(line.m, line.c.unsigned_abs().try_into().unwrap_or(1));
        if constant.is_multiple_of(q.into()) || q % 2 == 1 {
            out.shrink(constant, q, Odd::Base(base));
            out.bases.push((base, constant));
            return Ok(());
        }
        // The half is congruent to the sum modulo 2^16.
        let Base::Low(l) = base else { unreachable!("a low base") };
        let low = self.world.lows[l as usize].form.clone();
        let sum = self.parts(&low)?;
        let n = gcd(gcd(line.m, 1 << 16), sum.m);
        let n = if sum.depth() == 0 { n } else { 1 };
        out.shrink(n, q, Odd::Base(base));
        out.bases.push((base, n));
        for (c, e) in sum.k {
            out.k.push((c * line.c, e));
        }
        for t in sum.terms {
            out.terms.push(Term { c: t.c * line.c, ..t });
        }
        Ok(())
    }

    /// What a function of a base is at most, its sign aside.
    fn largest(&mut self, base: Base, f: crate::funs::FunId) -> i128 {
        let word = 1i128 << (crate::funs::bits(&self.world.funs, f) - 1);
        if word <= 1 << 32 {
            return word;
        }
        // A word of 64 bits may hold little.
        let (lo, hi) = self.world.domain(base);
        match self.enumeration.summary(&mut self.world.funs, f, lo, hi) {
            Ok(s) => word.min(i128::from(s.min).abs().max(i128::from(s.max).abs())),
            Err(_) => word,
        }
    }

    /// Interval of a product of two variables.
    pub(crate) fn product_interval(&self, x: VarId, y: VarId) -> (i128, i128) {
        let (a, b) = (self.world.var(x), self.world.var(y));
        let corner = |p: i64, q: i64| i128::from(p) * i128::from(q);
        let all = [corner(a.lo, b.lo), corner(a.lo, b.hi), corner(a.hi, b.lo), corner(a.hi, b.hi)];
        let lo = all.into_iter().min().unwrap_or(0);
        let hi = all.into_iter().max().unwrap_or(0);
        if x == y && a.lo <= 0 && a.hi >= 0 { (0, hi) } else { (lo, hi) }
    }
}

/// What all coefficients are multiples of, with the sign of the first; 1 where 64 bits do not hold it.
fn content(terms: &[(AtomId, i64)]) -> i64 {
    let all = terms.iter().fold(0, |g, t| gcd(g, t.1.unsigned_abs()));
    let sign = terms.first().map_or(1, |t| if t.1 < 0 { -1 } else { 1 });
    i64::try_from(all).map_or(1, |all| all.max(1) * sign)
}

/// Adds `c·[l, h]`.
pub(crate) fn widen(lo: &mut i128, hi: &mut i128, l: i128, h: i128, c: i128) {
    if c >= 0 {
        *lo += c * l;
        *hi += c * h;
    } else {
        *lo += c * h;
        *hi += c * l;
    }
}

/// Sums equal atoms modulo q.
pub fn merge(mut terms: Vec<(AtomId, u64)>, q: u32) -> Vec<(AtomId, u32)> {
    terms.sort_unstable_by_key(|t| t.0);
    let mut out: Vec<(AtomId, u32)> = Vec::with_capacity(terms.len());
    for (a, c) in terms {
        match out.last_mut() {
            Some(last) if last.0 == a => last.1 = ((u64::from(last.1) + c) % u64::from(q)) as u32,
            _ => out.push((a, (c % u64::from(q)) as u32)),
        }
    }
    out.retain(|t| t.1 != 0);
    out
}
