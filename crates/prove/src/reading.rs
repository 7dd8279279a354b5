//! The exact integer reading of a form: its interval and what it is modulo q.

use crate::cut::Cutter;
use crate::values::{Atom, AtomId, Base, Form, ModForm, VarId, residue};

/// A form read as an exact integer.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Lower bound.
    pub lo: i128,
    /// Upper bound.
    pub hi: i128,
    /// What it is modulo q, if that is linear.
    pub residue: Option<ModForm>,
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

impl Cutter {
    /// The exact integer reading of a form (its coefficients as they stand).
    pub fn read(&mut self, form: &Form) -> Result<Reading, NoReading> {
        let q = self.world.q;
        let (mut lo, mut hi) = (i128::from(form.k), i128::from(form.k));
        let mut k = residue(form.k.into(), q);
        let mut terms: Vec<(AtomId, u64)> = Vec::with_capacity(form.t.len());
        let mut odd = None;
        // Terms of bases that need to be taken together.
        let mut grouped: Vec<(Base, (AtomId, i64))> = Vec::new();
        let (mut funs, mut floors) = (false, false);
        for &(a, c) in &form.t {
            match self.world.atoms[a as usize] {
                Atom::Prod(x, y) => {
                    let (l, h) = self.product_interval(x, y);
                    widen(&mut lo, &mut hi, l, h, c.into());
                    terms.push((a, residue(c.into(), q).into()));
                }
                Atom::Var(v) => grouped.push((Base::Var(v), (a, c))),
                Atom::Fun(b, _) => {
                    funs = true;
                    grouped.push((b, (a, c)));
                }
                Atom::High(w) => {
                    funs = true;
                    grouped.push((Base::Low(self.world.wides[w as usize].low.0), (a, c)));
                }
                Atom::Floor(f) => {
                    floors = true;
                    let floor = &self.world.floors[f as usize];
                    widen(&mut lo, &mut hi, floor.lo, floor.hi, c.into());
                    // What the quotient is modulo q nobody knows; a multiple of q hides it.
                    if residue(c.into(), q) != 0 {
                        odd = odd.or(Some(Odd::Floor));
                    }
                }
                Atom::Opaque(o) => {
                    return Err(NoReading::Opaque(self.world.opaques[o as usize]));
                }
            }
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
            let group: Vec<(AtomId, i64)> = grouped[i..j].iter().map(|g| g.1).collect();
            i = j;
            if let ([(a, c)], Base::Var(v)) = (&group[..], base)
                && matches!(self.world.atoms[*a as usize], Atom::Var(_))
            {
                let var = self.world.var(v);
                let (l, h) = (var.lo.into(), var.hi.into());
                widen(&mut lo, &mut hi, l, h, i128::from(*c));
                terms.push((*a, residue((*c).into(), q).into()));
                continue;
            }
            if let Base::Low(_) = base {
                let (l, h, r) = self.read_low(base, &group)?;
                lo += l;
                hi += h;
                match r {
                    Some(r) => {
                        k = (k + r.k) % q;
                        terms.extend(r.t.iter().map(|&(a, c)| (a, u64::from(c))));
                    }
                    None => odd = odd.or(Some(Odd::Base(base))),
                }
                continue;
            }
            if !self.evaluable(base, &group) {
                return Err(NoReading::Overflow);
            }
            let fun = self.as_fun(&Form { k: 0, t: group }, 64);
            let (l, h) = self.world.domain(base);
            let s = self
                .cones
                .summary(&mut self.world.funs, fun, l, h)
                .map_err(|_| NoReading::TooWide)?;
            lo += i128::from(s.min);
            hi += i128::from(s.max);
            match (s.affine, base) {
                (Some((c, d)), Base::Var(v)) => {
                    k = (k + d) % q;
                    terms.push((self.world.var(v).atom, c.into()));
                }
                _ => odd = odd.or(Some(Odd::Base(base))),
            }
        }
        if floors && let Some((l, h)) = self.rational(form) {
            lo = lo.max(l);
            hi = hi.min(h);
        }
        let residue = odd.is_none().then(|| ModForm { m: q, k, t: merge(terms, q) });
        Ok(Reading { lo, hi, residue, odd })
    }

    /// A group over the low half of a sum, with the high halves that belong to it:
    /// `Σ c_h·floor(P_h / 2^16) + Σ c_i·f_i(L)` is `(Σ c_h·P_h + M(L)) / 2^16` where
    /// `M(L) = 2^16·Σ c_i·f_i(L) - Σ c_h·(P_h mod 2^16)`, a function of L alone.
    fn read_low(
        &mut self,
        base: Base,
        group: &[(AtomId, i64)],
    ) -> Result<(i128, i128, Option<ModForm>), NoReading> {
        let q = self.world.q;
        let mut wide = Form::default();
        let (mut terms, mut bound, mut high) = (Vec::new(), 0i128, false);
        let mut direct = (0i128, 0i128);
        for &(a, c) in group {
            match self.world.atoms[a as usize] {
                Atom::Fun(_, f) => {
                    bound += (i128::from(c).abs() << 16) << (self.world.funs.get(f).width - 1);
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
            .cones
            .summary(&mut self.world.funs, m, 0, 65535)
            .map_err(|_| NoReading::TooWide)?;
        let p = self.read(&wide)?;
        let mut lo = -((-(p.lo + i128::from(s.min))) >> 16);
        let mut hi = (p.hi + i128::from(s.max)) >> 16;
        if terms.len() == 1 && high {
            // An unpaired high half: its own bound is as good and needs no rounding.
            lo = lo.max(direct.0);
            hi = hi.min(direct.1);
        }
        let constant = match s.affine {
            Some((0, d)) => Some(d),
            _ => None,
        };
        let r = u64::from(self.world.r_inv);
        let residue = match (constant, p.residue) {
            (Some(d), Some(form)) => {
                let times = |c: u32| (u64::from(c) * r % u64::from(q)) as u32;
                Some(ModForm {
                    m: q,
                    k: (times(d) + times(form.k)) % q,
                    t: form.t.iter().map(|&(a, c)| (a, times(c))).filter(|t| t.1 != 0).collect(),
                })
            }
            _ => None,
        };
        let _ = base;
        Ok((lo, hi, residue))
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
