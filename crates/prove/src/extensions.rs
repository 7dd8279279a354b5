//! Forms of words that are extended, of their parts, and of products: the second half of [`Walk`].

use crate::funs::{FunId, FunOp, Op, centre};
use crate::uses::Use;
use crate::values::{Atom, AtomId, Base, Form, VarId, World};
use crate::walk::Walk;
use std::sync::Arc;

/// Bits of words that are enumerated.
const WORD: u8 = 16;

impl Walk<'_> {
    pub(crate) fn extend(&mut self, form: &Arc<Form>, from: u8, to: u8, signed: bool) -> Arc<Form> {
        self.cut.taken = Default::default();
        if from >= 32 {
            let least = if signed { -(1i128 << (from - 1)) } else { 0 };
            let most = least + (1i128 << from) - 1;
            if let Some(narrow) = self.cut.sheared(form, least, most) {
                self.cut.by_integer(&narrow);
                return Arc::new(narrow);
            }
        }
        if let Some(out) = self.extend_wide(form, from, to, signed) {
            match std::mem::take(&mut self.cut.taken) {
                (_, Some(_)) if self.cut.joined => self.cut.by_folded(&out),
                (spelled, Some(base)) => {
                    let middle = if signed { 1i64 << (from - 1) } else { 0 };
                    self.cut.by_word(base, &spelled.plus(-middle, 64), from);
                }
                _ => self.cut.by_integer(&out),
            }
            return Arc::new(out);
        }
        let several =
            form.t.len() > 1 || form.t.first().is_some_and(|t| self.cut.base(t.0).is_none());
        let mut used = None;
        if several {
            let fits = |r: &crate::reading::Reading| {
                if signed {
                    -(1i128 << (from - 1)) <= r.lo && r.hi < 1i128 << (from - 1)
                } else {
                    0 <= r.lo && r.hi < 1i128 << from
                }
            };
            if from >= 32 {
                let mut form = (**form).clone();
                self.cut.resolve(&mut form, from);
                if let Ok(r) = self.cut.read(&form)
                    && r.hi - r.lo > 65535
                    && fits(&r)
                {
                    self.cut.by_integer(&form);
                    return Arc::new(form);
                }
            } else {
                let u = self.cut.use_form(form, from);
                if matches!(u, Use::One(Base::Low(_), _) | Use::Opaque(_)) {
                    // Not a variable; but an integer whose interval fits stays what it is.
                    if let Ok(r) = self.cut.read(form)
                        && fits(&r)
                    {
                        self.cut.by_integer(form);
                        return form.clone();
                    }
                }
                used = Some(u);
            }
        }
        let used = used.unwrap_or_else(|| self.cut.use_form(form, from));
        if !form.t.is_empty() {
            self.cut.by_use(used, from);
        }
        match used {
            Use::Const(c) => {
                let c = if signed { c } else { (c as u64 & (u64::MAX >> (64 - from))) as i64 };
                Arc::new(Form::constant(c, to))
            }
            Use::One(b, f) => {
                let f = self.cut.extend(f, to, signed);
                self.function(b, f)
            }
            // The low bits are known all the same, and often only they are used.
            Use::Opaque(c) => {
                let top = Form::atom(self.cut.world.opaque(c)).scaled(1i64 << from, to);
                Arc::new(Form::combine(form, 1, &top, 1, to))
            }
        }
    }

    /// Bits `[lo, lo + w)` of a form modulo 2^from, `lo > 0`.
    pub(crate) fn slice(&mut self, form: &Form, from: u8, lo: u8, w: u8) -> Arc<Form> {
        if from > WORD && lo + w == WORD {
            // The sign of a word, in a register that is wider: what is above it has no say.
            let word = self.truncate(form, WORD);
            return self.slice(&word, WORD, lo, w);
        }
        if self.cut.world.wide && from > 16 && lo <= 62 && !self.cut.narrow(form) {
            let mut form = form.clone();
            self.cut.resolve(&mut form, from);
            let out = self.cut.floor(&form, lo, w);
            self.cut.by_taken();
            return Arc::new(out);
        }
        let straight = self.straight(form, from);
        let form = straight.as_ref().unwrap_or(form);
        let whole = self.mixed(form, from, lo).then(|| self.whole_sum(form.clone(), from));
        let form = whole.as_ref().unwrap_or(form);
        // What is a multiple of 2^lo passes through.
        let mut rest = Form::default();
        let mut whole = Form::constant(form.k >> lo, w);
        let low = (1i64 << lo).wrapping_sub(1);
        rest.k = form.k & low;
        for &(a, c) in &form.t {
            if c & low == 0 {
                whole.t.push((a, centre(c >> lo, w)));
            } else {
                rest.t.push((a, c));
            }
        }
        whole.t.retain(|t| t.1 != 0);
        let mut whole = self.truncate(&whole, w);
        if rest.t.is_empty() {
            if !form.t.is_empty() {
                self.cut.by_quotient(form, None);
            }
            return Arc::new(whole);
        }
        let mut taken = Form::combine(form, 1, &rest, -1, 64);
        // What is not understood above the bits that are taken is not known of the word, either.
        let above = |c: i64| c.trailing_zeros() >= u32::from(lo + w);
        taken.t.retain(|t| {
            !(above(t.1) && matches!(self.cut.world.atoms[t.0 as usize], Atom::Opaque(_)))
        });
        let spelled = rest.clone();
        self.cut.resolve(&mut rest, from);
        let up = 16u8.saturating_sub(lo);
        // Montgomery's halves are those of sums of products; a sum with quotients is one of quotients.
        // So is a sum with a quotient that is a function, where it is rounded, which no half of Montgomery's is.
        let rounded = lo > 0 && rest.k == 1 << (lo - 1) && self.has_quotient(&rest);
        let narrow = !self.cut.world.wide && !self.cut.world.has_floor(&rest) && !rounded;
        let part = if narrow && lo == 16 && from >= 32 && self.is_wide(&rest, 1 << 16) {
            self.high_part(&taken, &rest, 0, from, w)
        } else if narrow
            && (8..16).contains(&lo)
            && (32..=48).contains(&from)
            && self.is_wide(&rest, 1 << 20)
            && !self.few_values(&spelled, from)
        {
            // floor(x / 2^lo) is floor(2^(16 - lo)·x / 2^16): compilers fold shifts into slices.
            let scaled = rest.scaled(1 << up, from + up);
            self.high_part(&taken, &scaled, up, from + up, w)
        } else if from > 16 && self.cut.quotient(&rest, from, lo) {
            let rest =
                if self.cut.world.has_floor(&rest) { self.whole_sum(rest, from) } else { rest };
            let out = self.cut.floor(&rest, lo, w);
            self.cut.taken.0 = Form::combine(&self.cut.taken.0, 1, &taken, 1, 64);
            self.cut.by_taken();
            Arc::new(out)
        } else {
            // As it stands, lest it be another variable than where the same word is multiplied.
            let mut used = self.cut.use_form(&spelled, from);
            if lo == 63 && taken.t.is_empty() {
                // The sign of a word near 0, which its constant modulo 2^63 is not.
                (used, whole) = (self.cut.use_form(form, from), Form::default());
                self.cut.by_use(used, from);
            } else {
                self.by_part(&taken, used, from);
            }
            match used {
                Use::Const(c) => Arc::new(Form::constant(
                    ((c as u64 & (u64::MAX >> (64 - from))) >> lo) as i64,
                    w,
                )),
                Use::One(b, f) => {
                    let f = self.cut.op(w, Op::Slice { lo }, &[f]);
                    self.function(b, f)
                }
                Use::Opaque(c) => self.opaque(c),
            }
        };
        // Multiples beside what is not understood are part of it: together they are one value.
        if self.cut.world.cause_in(&part).is_some() && part.t.len() == 1 {
            return part;
        }
        Arc::new(Form::combine(&whole, 1, &part, 1, w))
    }

    /// Whether a form has a quotient of a variable that is a function of it.
    fn has_quotient(&self, form: &Form) -> bool {
        let quotient = |f: FunId| {
            let (funs, mut f) = (&self.cut.world.funs, f);
            while let Some((inner, _)) = crate::funs::extended(funs, f) {
                f = inner;
            }
            matches!(funs.get(f).op, FunOp::Floor(1..))
        };
        form.t.iter().any(|t| match self.cut.world.atoms[t.0 as usize] {
            Atom::Fun(Base::Var(_), f) => quotient(f),
            _ => false,
        })
    }

    /// Whether a form is a multiple of a variable that fits a word, and not a sum of products. Only
    /// a reduction shows what the half of such a sum is.
    fn few_values(&mut self, form: &Form, from: u8) -> bool {
        if form.t.iter().any(|t| self.cut.base(t.0).is_none()) {
            return false;
        }
        match self.cut.use_form(form, from) {
            Use::One(base @ Base::Var(_), _) => {
                let (lo, hi) = self.cut.world.domain(base);
                hi - lo < 1 << WORD
            }
            _ => false,
        }
    }

    /// Records that bits are those of multiples and of a used form.
    fn by_part(&mut self, multiples: &Form, used: Use, from: u8) {
        if multiples.t.is_empty() && multiples.k == 0 {
            return self.cut.by_use(used, from);
        }
        match used {
            Use::Opaque(_) => {}
            Use::Const(c) => self.cut.by_quotient(&multiples.clone().plus(c, 64), None),
            Use::One(b, f) => {
                let form = self.cut.used_form(b, f);
                self.cut.by_quotient(&Form::combine(multiples, 1, &form, 1, 64), Some(b));
            }
        }
    }

    /// The high half of a sum of products beside multiples, and the record of how it is taken, where it is
    /// understood.
    fn high_part(&mut self, multiples: &Form, form: &Form, up: u8, from: u8, w: u8) -> Arc<Form> {
        let part = self.high(form, from, w);
        if self.cut.world.cause_in(&part).is_none() {
            self.by_high(multiples, form, up);
        }
        part
    }

    /// Records that bits are those of multiples and of the high half of a sum of products. The sum
    /// is 2^up times what the bits are taken from.
    fn by_high(&mut self, multiples: &Form, form: &Form, up: u8) {
        let function = |t: &&(AtomId, i64)| {
            matches!(self.cut.world.atoms[t.0 as usize], Atom::Fun(Base::Low(_), _))
        };
        let t: Vec<(AtomId, i64)> = form.t.iter().filter(|t| !function(t)).copied().collect();
        let high = Form { k: 0, t };
        // A sum that is what a quotient by 2^16 is taken of, as it stands.
        let reduced = high.t.iter().all(|t| -(1 << 15) <= t.1 && t.1 < 1 << 15);
        if reduced && form.k == 0 && high.t.len() == form.t.len() {
            let t = high.t.iter().map(|&(a, c)| (a, c >> up)).collect();
            let whole = Form::combine(multiples, 1, &Form { k: 0, t }, 1, 64);
            self.cut.by_quotient(&whole, None);
        } else {
            self.cut.by_carry(multiples, form, &high, up);
        }
    }

    /// Whether a form of several variables takes `span` values or more.
    pub(crate) fn is_wide(&mut self, form: &Form, span: i128) -> bool {
        let bases: Vec<Option<Base>> = form.t.iter().map(|t| self.cut.base(t.0)).collect();
        if bases.is_empty() {
            return false;
        }
        if bases[0].is_some() && bases.iter().all(|b| *b == bases[0]) {
            return false;
        }
        match self.cut.read(form) {
            Ok(r) => r.hi - r.lo >= span || r.residue.is_none(),
            Err(_) => false,
        }
    }

    /// `floor(form / 2^16)` modulo 2^w, for a sum P + g with g a function of P's low half.
    pub(crate) fn high(&mut self, form: &Form, from: u8, w: u8) -> Arc<Form> {
        let mut p = Form::default();
        let mut g: Vec<(Base, FunId, i64)> = Vec::new();
        for &(a, c) in &form.t {
            match self.cut.world.atoms[a as usize] {
                Atom::Fun(b @ Base::Low(_), f) => g.push((b, f, c)),
                _ => p.t.push((a, c)),
            }
        }
        if p.t.is_empty() {
            let c = self.cut.unmodelled("functions of low halves of several sums are mixed");
            return self.opaque(c);
        }
        let wide = self.cut.world.wide(&p, self.cut.node);
        let (low, m) = self.cut.world.wides[wide as usize].low;
        if let Some(other) = g.iter().find(|g| g.0 != Base::Low(low)) {
            // A sum of variables, not of products, should have been one variable.
            let plain = match other.0 {
                Base::Low(l) => {
                    let low = &self.cut.world.lows[l as usize];
                    let product = |t: &(u32, i64)| {
                        matches!(self.cut.world.atoms[t.0 as usize], Atom::Prod(..))
                    };
                    low.cause.filter(|_| !low.form.t.iter().any(product))
                }
                Base::Var(_) => None,
            };
            let c = plain.unwrap_or_else(|| {
                self.cut.unmodelled(
                    "the high half of a sum of products and functions of the low half of another sum",
                )
            });
            return self.opaque(c);
        }
        let high = Form::atom(self.cut.world.atom(Atom::High(wide)));
        if g.is_empty() && form.k == 0 {
            return Arc::new(high);
        }
        let l = self.cut.world.funs.lin(16, 0, m, &[]);
        let l = self.cut.extend(l, from, false);
        let mut terms = vec![(l, 1)];
        terms.extend(g.iter().map(|&(_, f, c)| (f, c)));
        let sum = self.cut.world.funs.lin(from, form.k, 0, &terms);
        let wide = self.cut.enumeration.summary(&mut self.cut.world.funs, sum, 0, 65535);
        let carry = match wide.map(|s| (i128::from(s.min >> 16), i128::from(s.max >> 16))) {
            // One carry is one function, whichever bits of the half are used.
            Ok((lo, hi)) if from > 32 && lo < hi => {
                let f = self.cut.part(sum, 16, (lo, hi));
                Arc::new(Form::atom(self.cut.world.atom(Atom::Fun(Base::Low(low), f))))
            }
            _ => {
                let f = self.cut.op(w, Op::Slice { lo: 16 }, &[sum]);
                self.function(Base::Low(low), f)
            }
        };
        Arc::new(Form::combine(&high, 1, &carry, 1, w))
    }

    pub(crate) fn mul(&mut self, a: &Arc<Form>, b: &Arc<Form>, w: u8) -> Arc<Form> {
        if b.t.is_empty() {
            let a = if w > 16 { self.named(a, w) } else { self.kept(a, b.k, w) };
            return Arc::new(a.scaled(b.k, w));
        }
        if a.t.is_empty() {
            let b = if w > 16 { self.named(b, w) } else { self.kept(b, a.k, w) };
            return Arc::new(b.scaled(a.k, w));
        }
        let (ua, ub) = (self.cut.use_form(a, w), self.cut.use_form(b, w));
        match (ua, ub) {
            (Use::Const(c), _) => {
                self.cut.by_product(&Form::constant(c, w), b, w);
                return Arc::new(b.scaled(c, w));
            }
            (_, Use::Const(c)) => {
                self.cut.by_product(a, &Form::constant(c, w), w);
                return Arc::new(a.scaled(c, w));
            }
            (Use::Opaque(c), _) | (_, Use::Opaque(c)) => return self.low_product(a, b, w, c),
            (Use::One(x, f), Use::One(y, g)) if x == y => {
                self.cut.by_function(Some(x), &[(Some(x), f), (Some(x), g)]);
                let product = self.cut.op(w, Op::Mul, &[f, g]);
                return self.function(x, product);
            }
            _ => {}
        }
        let va = self.cut.as_factor(a, w);
        let vb = self.cut.as_factor(b, w);
        match (va, vb) {
            (Ok((x, ma, ka)), Ok((y, mb, kb))) => {
                let one = |v: VarId, m: i64, k: i64, world: &World| {
                    Form::atom(world.var(v).atom).scaled(m, w).plus(k, w)
                };
                let factors = (one(x, ma, ka, &self.cut.world), one(y, mb, kb, &self.cut.world));
                self.cut.by_product(&factors.0, &factors.1, w);
                let world = &mut self.cut.world;
                let xy = Form::atom(world.product(x, y)).scaled(ma.wrapping_mul(mb), w);
                let x = Form::atom(world.var(x).atom).scaled(ma.wrapping_mul(kb), w);
                let y = Form::atom(world.var(y).atom).scaled(mb.wrapping_mul(ka), w);
                let linear = Form::combine(&x, 1, &y, 1, w).plus(ka.wrapping_mul(kb), w);
                Arc::new(Form::combine(&xy, 1, &linear, 1, w))
            }
            (Err(c), _) | (_, Err(c)) => self.low_product(a, b, w, c),
        }
    }

    /// A product that is not understood, because of `cause`. Its low half may still be understood,
    /// as the product of the low halves. Often only that half is used, as where words are
    /// multiplied that were extended as unsigned.
    fn low_product(&mut self, a: &Form, b: &Form, w: u8, cause: u32) -> Arc<Form> {
        if w <= 16 {
            return self.opaque(cause);
        }
        let half = if w > 32 { 32 } else { 16 };
        let (a, b) = (self.truncate(a, half), self.truncate(b, half));
        let rules = self.cut.record.rules.len();
        let low = self.mul(&Arc::new(a.clone()), &Arc::new(b.clone()), half);
        if self.cut.record.rules.len() == rules {
            self.cut.by_product(&a, &b, half);
        }
        let top = Form::atom(self.cut.world.opaque(cause)).scaled(1 << half, w);
        Arc::new(Form::combine(&low, 1, &top, 1, w))
    }
}
