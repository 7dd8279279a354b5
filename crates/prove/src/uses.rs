//! What a form is where its integer reading matters: a constant, a function of one base, a factor.

use crate::cut::Cutter;
use crate::funs::{FunId, FunOp, centre};
use crate::values::{Atom, AtomId, Base, Form, Var, VarId};

/// Bits of the words that are multiplied as unsigned.
const WORD: u8 = 16;

/// A form at a place where its integer reading matters.
#[derive(Clone, Copy, Debug)]
pub enum Use {
    /// A constant (signed reading).
    Const(i64),
    /// A function of one base.
    One(Base, FunId),
    /// Not understood (index into [`World::causes`]).
    Opaque(u32),
}

impl Cutter {
    /// A form where its integer reading matters.
    pub fn use_form(&mut self, form: &Form, width: u8) -> Use {
        if form.t.is_empty() {
            return Use::Const(form.k);
        }
        if let Some(c) = self.world.cause_in(form) {
            return Use::Opaque(c);
        }
        let mut form = form.clone();
        if form.t.len() > 1 {
            form = self.resolved(&form, width);
            if form.t.is_empty() {
                return Use::Const(form.k);
            }
        }
        if let Some(base) = self.one_base(&form) {
            let fun = self.as_fun(&form, width);
            let simple = self.world.funs.get(fun).args.is_empty();
            if simple || matches!(base, Base::Low(_)) {
                return self.one(base, fun);
            }
            let (lo, hi) = self.world.domain(base);
            if let Some((c, d)) = self.enumeration.linear(&mut self.world.funs, fun, lo, hi, width)
            {
                let fun = self.world.funs.lin(width, d, c, &[]);
                return self.one(base, fun);
            }
            return match self.cut(&form, width, Some(base)) {
                Ok((v, m)) => {
                    let (v, m, k) = match width {
                        WORD => self.centred(v, m, form.k),
                        _ => (v, m, form.k),
                    };
                    let fun = self.world.funs.lin(width, k, m, &[]);
                    self.one(Base::Var(v), fun)
                }
                Err(_) => self.one(base, fun),
            };
        }
        match self.cut(&form, width, None) {
            Ok((v, m)) => {
                let fun = self.world.funs.lin(width, form.k, m, &[]);
                self.one(Base::Var(v), fun)
            }
            Err(_) if let Some((v, m)) = self.longer(&form, width) => {
                let fun = self.world.funs.lin(width, form.k, m, &[]);
                self.one(Base::Var(v), fun)
            }
            Err(cause) if width == 16 || (width < 16 && self.world.q.is_multiple_of(2)) => {
                if self.world.q.is_multiple_of(2) {
                    let narrowed = self.narrowed(&form, width);
                    if let Some(apart) = self.apart(&narrowed) {
                        // A sum of digits that wraps, modulo a power of two.
                        form = apart;
                    }
                }
                let (low, m) = self.world.low(&form);
                if self.world.lows[low as usize].cause.is_none() {
                    self.world.lows[low as usize].cause = cause;
                }
                let fun = self.world.funs.lin(width, form.k, m, &[]);
                self.one(Base::Low(low), fun)
            }
            Err(cause) => Use::Opaque(cause.unwrap_or(0)),
        }
    }

    fn one(&mut self, base: Base, fun: FunId) -> Use {
        if let Some(c) = self.world.funs.number(fun) {
            return Use::Const(c);
        }
        let (lo, hi) = self.world.domain(base);
        if lo == hi {
            return Use::Const(self.world.funs.at(fun, lo));
        }
        Use::One(base, fun)
    }

    /// Finds a variable, with a sign, that is the high half of a sum of products and needs up to
    /// two bits more than the word. The half must be known modulo q and not negative. Montgomery's
    /// result is such a half if q leaves no spare bit. The word is a function of the variable.
    fn longer(&mut self, form: &Form, width: u8) -> Option<(VarId, i64)> {
        let half = |t: &(AtomId, i64)| matches!(self.world.atoms[t.0 as usize], Atom::High(_));
        if width != WORD || !form.t.iter().any(half) {
            return None;
        }
        let bare = Form { k: 0, t: form.t.clone() };
        let r = self.read(&bare).ok()?;
        let known = r.residue.as_ref().is_some_and(|m| m.m.is_multiple_of(self.world.q));
        (known && r.lo >= 0 && r.hi < 1 << (WORD + 2)).then(|| self.variable(bare, r))
    }

    /// Writes `m·v + k` over a variable that includes the constant, if its interval then lies
    /// around zero. A canonical residue that is stored centred, as in 16-bit words, becomes one
    /// number this way. Otherwise its products by constants would have constants, and so would sums
    /// of these. Each reduction of such a sum would be a different function.
    fn centred(&mut self, v: VarId, m: i64, k: i64) -> (VarId, i64, i64) {
        let Var { lo, hi, atom, .. } = *self.world.var(v);
        let (low, high) = if m < 0 { (-hi, -lo) } else { (lo, hi) };
        let around = |lo: i64, hi: i64| lo.checked_add(hi).is_some_and(|sum| sum.abs() <= 1);
        let moved = low.checked_add(k).zip(high.checked_add(k));
        let gains = !around(low, high) && moved.is_some_and(|(low, high)| around(low, high));
        if m.abs() != 1 || !gains {
            return (v, m, k);
        }
        let sum = Form::atom(atom).scaled(m, 64).plus(k, 64);
        let Ok(r) = self.read(&sum) else { return (v, m, k) };
        let (v, m) = self.variable(sum, r);
        (v, m, 0)
    }

    /// A variable for a used form that a product needs: `(v, m, k)` with `form = m·v + k`
    /// modulo 2^width.
    pub fn as_variable(&mut self, form: &Form, width: u8) -> Result<(VarId, i64, i64), u32> {
        match self.use_form(form, width) {
            Use::One(Base::Var(v), fun) => {
                if let Fun1 { k, x, simple: true } = fun1(self, fun) {
                    return Ok((v, x, k));
                }
                let form = self.resolved(form, width);
                match self.cut(&form, width, None) {
                    Ok((v, m)) => Ok((v, m, form.k)),
                    Err(c) => Err(c.unwrap_or(0)),
                }
            }
            Use::One(Base::Low(l), _) => {
                let cause = self.world.lows[l as usize].cause;
                Err(cause.unwrap_or_else(|| {
                    self.unmodelled("the low half of a sum of products is multiplied by a variable")
                }))
            }
            Use::Opaque(c) => Err(c),
            Use::Const(_) => unreachable!("the caller folds constants"),
        }
    }

    /// The same for a factor of a product of variables. A word that wraps modulo a power of two is
    /// known only in its low bits. Its variable may be multiplied only where no more than 16 bits
    /// are asked for.
    pub fn as_factor(&mut self, form: &Form, width: u8) -> Result<(VarId, i64, i64), u32> {
        let (v, m, k) = self.as_variable(form, width)?;
        let var = self.world.var(v);
        let bits = var.residue.m.is_power_of_two() && var.integer.is_none();
        if width > 16 && bits {
            return Err(self.unmodelled("a word that wraps is multiplied by a variable"));
        }
        Ok(self.lifted(v, m, k, width))
    }

    /// Writes the factor `m·v + k` over a variable that includes the constant, if this makes the
    /// integer of an unsigned word non-negative. The interval of (v + k)·y is narrower than that of
    /// v·y + k·y.
    ///
    /// The constant is chosen among those that are congruent modulo 2^16, whatever the width. So
    /// both halves of a product are halves of a product of the same variables.
    fn lifted(&mut self, v: VarId, m: i64, k: i64, width: u8) -> (VarId, i64, i64) {
        let Var { lo, hi, atom, .. } = *self.world.var(v);
        let (low, high) = if m < 0 { (-hi, -lo) } else { (lo, hi) };
        let up = k.rem_euclid(1 << WORD);
        let lifts = [up, up - (1 << WORD)].into_iter().find(|up| {
            low < 0
                && *up > 0
                && low.checked_add(*up).is_some_and(|low| low >= 0)
                && high + up < 1 << WORD
        });
        let Some(up) = lifts.filter(|_| m.abs() == 1) else { return (v, m, k) };
        let sum = Form::atom(atom).scaled(m, 64).plus(up, 64);
        let Ok(r) = self.read(&sum) else { return (v, m, k) };
        let (v, m) = self.variable(sum, r);
        (v, m, centre(k - up, width))
    }
}

struct Fun1 {
    k: i64,
    x: i64,
    simple: bool,
}

fn fun1(c: &Cutter, f: FunId) -> Fun1 {
    match &c.world.funs.get(f).op {
        FunOp::Lin { k, x, c } if *x != 0 && c.is_empty() => Fun1 { k: *k, x: *x, simple: true },
        _ => Fun1 { k: 0, x: 0, simple: false },
    }
}
