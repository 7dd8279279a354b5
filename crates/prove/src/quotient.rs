//! Quotients by powers of two of words too wide to enumerate, as exact rational forms.
//!
//! `floor(F / 2^k) = F/2^k - ρ/2^k` with ρ in [0, 2^k). Substituted into a form, that leaves a
//! rational linear form. Its interval is as good as the errors ρ allow. In Montgomery's
//! `c·a + q·floor((ζ'·a + 2^31) / 2^32)` the coefficients of a add up to ζ/2^32, and only q·ρ/2^32
//! is lost.

use crate::cut::Cutter;
use crate::funs::{FunId, Op, centre};
use crate::reading::{NoReading, Reading};
use crate::uses::Use;
use crate::values::{Atom, AtomId, Base, Form, Source, VarId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Bound of numerators and of the common denominator of a rational form, so that their products
/// with values stay inside 128 bits (checked all the same).
const ROOM: u32 = 100;

/// A form is a function with few pieces if its bounds span at most this many quotients.
const FEW: i128 = 4;

impl Cutter {
    /// `floor(form / 2^bits)` modulo 2^w, `bits` from 1 to 62, for a form read as an exact integer.
    pub fn floor(&mut self, form: &Form, bits: u8, w: u8) -> Form {
        self.taken = (form.clone(), None);
        self.joined = false;
        self.floor_of((form, 0), bits, w, self.world.wide)
    }

    /// The same, but never as a function of one variable.
    pub(crate) fn quotient_of(&mut self, form: &Form, bits: u8, w: u8) -> Form {
        self.quotients = true;
        let out = self.floor(form, bits, w);
        self.quotients = false;
        out
    }

    /// The same for a form that counts 2^up times in the form taken. With `respell` it folds a sum,
    /// or unfolds a name, where that is simpler.
    fn floor_of(&mut self, (form, up): (&Form, u8), bits: u8, w: u8, respell: bool) -> Form {
        debug_assert!((1..=62).contains(&bits));
        let mut whole = Form::constant(form.k >> bits, w);
        let mut rest = Form { k: form.k & ((1 << bits) - 1), t: Vec::with_capacity(form.t.len()) };
        for &(a, c) in &form.t {
            let low = centre(c, bits);
            let high = centre(((i128::from(c) - i128::from(low)) >> bits) as i64, w);
            if high != 0 {
                whole.t.push((a, high));
            }
            if low != 0 {
                rest.t.push((a, low));
            }
        }
        if rest.t.is_empty() {
            return whole;
        }
        // floor((2^j·G + k) / 2^bits) = floor((G + floor(k / 2^j)) / 2^(bits - j)).
        let twos = rest.t.iter().map(|t| t.1.trailing_zeros()).min().unwrap_or(0) as u8;
        rest.t.iter_mut().for_each(|t| t.1 >>= twos);
        rest.k >>= twos;
        let (bits, up) = (bits - twos, up + twos);
        if respell {
            let before = rest.clone();
            rest = self.by_name(rest);
            self.respelled(&before, &rest, up);
            if let Some(spelled) = self.shorter(&rest, bits) {
                self.respelled(&rest, &spelled, up);
                let part = self.floor_of((&spelled, up), bits, w, false);
                return Form::combine(&whole, 1, &part, 1, w);
            }
        }
        // A quotient of a quotient is one.
        if let [(a, 1)] = rest.t[..]
            && let Atom::Floor(f) = self.world.atoms[a as usize]
            && self.world.floors[f as usize].bits + bits <= 62
        {
            let inner = self.world.floors[f as usize].clone();
            self.joined = true;
            let joined = (*inner.form).clone().plus(rest.k << inner.bits, 64);
            // The kernel joins them by itself.
            let taken = self.taken.0.clone();
            let part = self.floor_of((&joined, 0), bits + inner.bits, w, self.world.wide);
            self.taken.0 = taken;
            return Form::combine(&whole, 1, &part, 1, w);
        }
        if !self.quotients
            && let Some(part) = self.few(&rest, bits, up)
        {
            return Form::combine(&whole, 1, &part, 1, w);
        }
        let part = match self.read(&rest) {
            Ok(r) if r.lo >> bits == r.hi >> bits => Form::constant((r.lo >> bits) as i64, w),
            Ok(r) => Form::atom(self.world.floor(rest, bits, (r.lo >> bits, r.hi >> bits))),
            Err(NoReading::Opaque(cause)) => Form::atom(self.world.opaque(cause)),
            Err(_) => {
                let cause = self.unmodelled("a quotient of a sum that has no interval");
                Form::atom(self.world.opaque(cause))
            }
        };
        Form::combine(&whole, 1, &part, 1, w)
    }

    /// Whether a form is plus or minus one quotient, and nothing else.
    pub(crate) fn is_quotient(&self, form: &Form) -> bool {
        matches!(form.t[..], [(a, 1 | -1)] if matches!(self.world.atoms[a as usize], Atom::Floor(_)))
    }

    /// Notes that a part of the form taken, which counts 2^up times, was rewritten.
    fn respelled(&mut self, from: &Form, to: &Form, up: u8) {
        let difference = Form::combine(to, 1, from, -1, 64);
        self.taken.0 = Form::combine(&self.taken.0, 1, &difference, 1 << up, 64);
    }

    /// Unfolds v in `c·v + k` to the sum that it equals as an integer. Does so only if v takes
    /// 2^bits values or more, and the result then spans few quotients by 2^bits.
    ///
    /// The low word of a product is unfolded with coefficients modulo 2^bits, and their sum may
    /// take more values than a word does. Montgomery's product of that word by p has the
    /// coefficients of the upper half's product modulo 2^bits. The search therefore takes the
    /// multiples of 2^bits out of the products of c by the sum's coefficients. Then both halves
    /// have quotients of one sum. The integer is the same either way.
    fn shorter(&mut self, form: &Form, bits: u8) -> Option<Form> {
        let [(a, c)] = form.t[..] else { return None };
        let Atom::Var(v) = self.world.atoms[a as usize] else { return None };
        let Source::Cut { form: sum, bits: 64 } = self.world.var(v).source.clone() else {
            return None;
        };
        let steps = |r: &Reading| (r.hi >> bits) - (r.lo >> bits);
        let few = |r: &Reading| steps(r) <= FEW;
        let var = self.world.var(v);
        let wraps = i128::from(var.hi) - i128::from(var.lo) >= 1i128 << bits;
        if sum.t.len() < 2 || !wraps || self.read(form).is_ok_and(|r| few(&r)) {
            return None;
        }
        let times = |x: i64| x.checked_mul(c).filter(|x| x.unsigned_abs() < 1 << 62);
        let t = sum.t.iter().map(|&(a, x)| Some((a, times(x)?))).collect::<Option<_>>()?;
        let spelled = Form { k: form.k.checked_add(times(sum.k)?)?, t };
        let left = Form { k: spelled.k & ((1 << bits) - 1), ..spelled.scaled(1, bits) };
        self.read(&left).is_ok_and(|r| few(&r)).then_some(spelled)
    }

    /// Chooses, modulo 2^width, coefficients of quotients that are multiples of q, where the centred
    /// ones are not: an unsigned word may hold q·2^18 for a q above 2^13.
    pub fn lift(&self, form: &mut Form, width: u8) {
        if width > 48 {
            return;
        }
        let q = i64::from(self.world.q);
        for (a, c) in &mut form.t {
            if matches!(self.world.atoms[*a as usize], Atom::Floor(_)) && *c % q != 0 {
                let others = [*c - (1 << width), *c + (1 << width)];
                if let Some(other) = others.into_iter().find(|c| c % q == 0) {
                    *c = other;
                }
            }
        }
    }

    /// A quotient as a function of one variable, where that is better.
    fn few(&mut self, rest: &Form, bits: u8, up: u8) -> Option<Form> {
        if self.world.cause_in(rest).is_some() || self.quotient(rest, 64, bits) {
            return None;
        }
        let r = self.read(rest).ok()?;
        if r.lo < i64::MIN.into() || r.hi > i64::MAX.into() || r.lo >> bits == r.hi >> bits {
            return None;
        }
        let Use::One(base, f) = self.use_form(rest, 64) else { return None };
        let used = self.used_form(base, f);
        self.respelled(rest, &used, up);
        self.taken.1 = Some(base);
        let f = self.part(f, bits, (r.lo >> bits, r.hi >> bits));
        Some(Form::atom(self.world.atom(Atom::Fun(base, f))))
    }

    /// `floor(f / 2^bits)` between these ends, in the fewest bits that hold it, so that one quotient is
    /// one function wherever it is used.
    pub(crate) fn part(&mut self, f: FunId, bits: u8, (lo, hi): (i128, i128)) -> FunId {
        let size = |v: i128| 129 - (if v < 0 { !v } else { v }).leading_zeros();
        self.op(size(lo).max(size(hi)) as u8, Op::Slice { lo: bits }, &[f])
    }

    /// Whether `floor(form / 2^bits)` is better kept as a quotient than as a function of one
    /// variable: the variable takes too many values to enumerate, and so does the quotient.
    pub fn quotient(&mut self, form: &Form, from: u8, bits: u8) -> bool {
        if !(1..=62).contains(&bits) || self.world.cause_in(form).is_some() {
            return false;
        }
        if self.narrow(form) {
            return false;
        }
        let one = self.one_base(form);
        let steps = self.read(form).map_or(i128::MAX, |r| (r.hi >> bits) - (r.lo >> bits));
        if self.world.wide || one.is_some() {
            return steps > FEW;
        }
        match self.use_form(form, from) {
            Use::Const(_) => false,
            Use::One(b, _) => !self.enumerable(b) && steps > FEW,
            Use::Opaque(_) => true,
        }
    }

    /// Whether a form depends on one variable, of few values or by functions of few pieces.
    pub fn narrow(&self, form: &Form) -> bool {
        let function = |a: AtomId| matches!(self.world.atoms[a as usize], Atom::Fun(..));
        self.one_base(form)
            .is_some_and(|b| self.enumerable(b) || form.t.iter().all(|t| function(t.0)))
    }

    /// Whether a variable takes few enough values.
    pub fn enumerable(&self, b: Base) -> bool {
        // Each of hundreds of constants makes a function of its own where they have 32 bits.
        let most = if self.world.wide { 1 << 10 } else { 1 << 22 };
        let (lo, hi) = self.world.domain(b);
        hi - lo < most
    }

    /// The interval of a form with all its quotients replaced by rational forms; [`None`] if
    /// numbers grow beyond 128 bits.
    pub(crate) fn rational(&mut self, form: &Form) -> Option<(i128, i128)> {
        let (mut r, _, _) = self.replaced_quotients(form, false)?;
        let spelled = self.spelled_out(&r);
        self.rest(&mut r)?;
        let (mut lo, mut hi) = r.bounds();
        if let Some((mut unfolded, _, names)) = self.replaced_quotients(form, true)
            && !names.is_empty()
            && self.rest(&mut unfolded).is_some()
        {
            let (l, h) = unfolded.bounds();
            (lo, hi) = (lo.max(l), hi.min(h));
        }
        if let Some((mut spelled, _)) = spelled
            && self.rest(&mut spelled).is_some()
        {
            let (l, h) = spelled.bounds();
            (lo, hi) = (lo.max(l), hi.min(h));
        }
        // Whatever is narrower alone.
        if let Some((l, h)) = self.folded_bounds(form)
            && h - l < hi - lo
        {
            (lo, hi) = (l, h);
        }
        Some((lo, hi))
    }

    /// How an interval is found, for the certificate.
    pub(crate) fn rational_steps(&mut self, form: &Form, view: View) -> Option<Steps> {
        if let View::Upper | View::Lower = view {
            return self.joint_steps(form, view == View::Upper);
        }
        let (mut r, floors, unfolded) = self.replaced_quotients(form, view == View::Unfolded)?;
        let scale = r.scale;
        let mut names: Vec<(VarId, i128)> =
            unfolded.into_iter().map(|(v, n, at)| (v, n << (scale - at))).collect();
        match view {
            View::Plain | View::Unfolded | View::Upper | View::Lower => {}
            View::Spelled => (r, names) = self.spelled_out(&r)?,
            View::Folded => names = self.folded(&mut r)?,
        }
        let groups = self.rest(&mut r)?;
        let floors = floors.into_iter().map(|(a, n, at)| (a, n << (scale - at))).collect();
        Some(Steps { scale, floors, names, groups, bounds: r.bounds() })
    }

    /// The interval of a form that has functions of a variable as well as quotients of its sum.
    pub(crate) fn folded_bounds(&mut self, form: &Form) -> Option<(i128, i128)> {
        self.rational_steps(form, View::Folded).map(|steps| steps.bounds)
    }

    /// Folds sums of variables that also have functions in the form. The name replaces the whole
    /// sum, or the multiple of it that makes the functions level.
    ///
    /// For c = 2^k·h + l, a quotient of c·x is h·x plus a quotient of l·x. The latter is a function
    /// if l·x takes few values. The form that the quotient reduces has c·x. Its part l·x must meet
    /// the function, whatever is left of h·x.
    fn folded(&mut self, r: &mut Rational) -> Option<Vec<(VarId, i128)>> {
        let mut names = Vec::new();
        let mut bases: Vec<VarId> = r
            .terms
            .keys()
            .filter_map(|&a| match self.world.atoms[a as usize] {
                Atom::Fun(Base::Var(v), _) => Some(v),
                _ => None,
            })
            .collect();
        bases.sort_unstable();
        bases.dedup();
        for v in bases {
            let Source::Cut { form, bits: 64 } = self.world.var(v).source.clone() else { continue };
            // Quotients are replaced by now, and none may come back.
            if self.world.has_floor(&form) {
                continue;
            }
            let Some(n) = self.whole(r, &form).or_else(|| self.level(r, v)) else { continue };
            for &(a, c) in &form.t {
                r.add(&self.world.atoms, a, n.checked_mul(c.into())?.checked_neg()?)?;
            }
            r.terms.retain(|_, n| *n != 0);
            let less = n.checked_mul(form.k.into())?.checked_neg()?;
            r.widen(1, less, less)?;
            r.add(&self.world.atoms, self.world.var(v).atom, n)?;
            names.push((v, -n));
        }
        if names.is_empty() { None } else { Some(names) }
    }

    /// The multiple of a variable's sum that a form has with all its terms.
    fn whole(&self, r: &Rational, sum: &Form) -> Option<i128> {
        let &(first, lead) = sum.t.first()?;
        let n = r.terms.get(&first).copied().unwrap_or(0) / i128::from(lead);
        let beside = |&(a, c): &(AtomId, i64)| {
            n.checked_mul(c.into()).is_some_and(|x| r.terms.get(&a) == Some(&x))
        };
        (n != 0 && sum.t.iter().all(beside)).then_some(n)
    }

    /// The integer multiple of a variable, times 2^scale, that makes its functions level.
    fn level(&mut self, r: &Rational, v: VarId) -> Option<i128> {
        let m = self.lacking(r.terms.iter().map(|(&a, &n)| (a, n)), v, r.scale)?;
        (m != 0).then(|| m.checked_mul(1i128 << r.scale)).flatten()
    }

    /// Replaces the quotients of a form, as far as numbers allow. Also returns the factors of their
    /// equations, each at the scale that held then.
    fn replaced_quotients(
        &mut self,
        form: &Form,
        unfold: bool,
    ) -> Option<(Rational, Quotients, Names)> {
        let (mut steps, mut names) = (Vec::new(), Vec::new());
        let mut r = Rational { scale: 0, ..Rational::default() };
        r.lo = form.k.into();
        r.hi = form.k.into();
        for &(a, c) in &form.t {
            r.add(&self.world.atoms, a, c.into())?;
        }
        // A quotient's atom is younger than what it is a quotient of.
        while let Some((a, n)) = r.floors.pop_last() {
            if n == 0 {
                continue;
            }
            let Atom::Floor(f) = self.world.atoms[a as usize] else { return None };
            let floor = self.world.floors[f as usize].clone();
            let bits = u32::from(floor.bits);
            let need = bits.saturating_sub(n.trailing_zeros());
            if !r.fits(n, need) {
                // Its own interval has to do.
                r.widen(n, floor.lo, floor.hi)?;
                continue;
            }
            r.raise(need);
            let n = (n << need) >> bits;
            steps.push((a, n, r.scale));
            r.widen(n, floor.form.k.into(), floor.form.k.into())?;
            r.widen(n.checked_neg()?, 0, (1i128 << bits) - 1)?;
            for &(b, c) in &floor.form.t {
                r.add(&self.world.atoms, b, n.checked_mul(c.into())?)?;
            }
            // The sum got its name after the quotient was taken.
            for &(b, _) in floor.form.t.iter().filter(|_| unfold) {
                let Atom::Var(v) = self.world.atoms[b as usize] else { continue };
                let Source::Cut { form, bits: 64 } = &self.world.var(v).source else { continue };
                // Quotients in it are replaced in their turn.
                let beside = |a: AtomId| {
                    let quotient = matches!(self.world.atoms[a as usize], Atom::Floor(_));
                    quotient || r.terms.contains_key(&a)
                };
                if form.t.len() < 2 || !form.t.iter().all(|t| beside(t.0)) {
                    continue;
                }
                let n = r.terms.remove(&b).unwrap_or(0);
                names.push((v, n, r.scale));
                r.widen(n, form.k.into(), form.k.into())?;
                for &(c, x) in &form.t {
                    r.add(&self.world.atoms, c, n.checked_mul(x.into())?)?;
                }
            }
        }
        Some((r, steps, names))
    }

    /// Unfolds variables if all terms of their sums occur in the form as well. This happens if a
    /// quotient was taken of the unfolded sum before the sum had a name. [`None`] if nothing
    /// changes.
    fn spelled_out(&self, r: &Rational) -> Option<(Rational, Vec<(VarId, i128)>)> {
        let mut out: Option<Rational> = None;
        let mut names = Vec::new();
        for &a in r.terms.keys() {
            let Atom::Var(v) = self.world.atoms[a as usize] else { continue };
            let Source::Cut { form, bits: 64 } = &self.world.var(v).source else { continue };
            let plain = |b: AtomId| matches!(self.world.atoms[b as usize], Atom::Var(_));
            let beside = form.t.iter().all(|t| plain(t.0) && r.terms.contains_key(&t.0));
            if form.t.len() < 2 || !beside {
                continue;
            }
            let out = out.get_or_insert_with(|| r.clone());
            let n = out.terms.remove(&a).unwrap_or(0);
            names.push((v, n));
            out.widen(n, form.k.into(), form.k.into())?;
            for &(b, c) in &form.t {
                out.add(&self.world.atoms, b, n.checked_mul(c.into())?)?;
            }
        }
        out.map(|out| (out, names))
    }

    /// Adds the intervals of the atoms that are not quotients. Returns the integer parts of groups
    /// of one variable that, times 2^scale, are too large to be enumerated together.
    pub(crate) fn rest(&mut self, r: &mut Rational) -> Option<Vec<Form>> {
        let terms: Vec<(AtomId, i128)> = std::mem::take(&mut r.terms).into_iter().collect();
        // Functions are read with everything of their base, so far as coefficients are whole.
        let mut grouped = rustc_hash::FxHashSet::default();
        for &(a, _) in &terms {
            if let Atom::Fun(b, _) = self.world.atoms[a as usize] {
                grouped.insert(b);
            }
        }
        let mut large: Vec<Base> = grouped.iter().copied().collect();
        large.retain(|&b| !self.together(b, &terms));
        large.sort_unstable();
        let mut whole = Form::default();
        for (a, n) in terms {
            let (l, h) = match self.world.atoms[a as usize] {
                Atom::Prod(x, y) => self.product_interval(x, y),
                Atom::Var(v) if !grouped.contains(&Base::Var(v)) => {
                    let var = self.world.var(v);
                    (var.lo.into(), var.hi.into())
                }
                _ => {
                    // To the nearest, so that what is left over is as little as can be.
                    let c = n.checked_add((1i128 << r.scale) >> 1)? >> r.scale;
                    whole.t.push((a, i64::try_from(c).ok()?));
                    let n = n - (c << r.scale);
                    if n == 0 {
                        continue;
                    }
                    let alone = self.read(&Form::atom(a)).ok()?;
                    r.widen(n, alone.lo, alone.hi)?;
                    continue;
                }
            };
            r.widen(n, l, h)?;
        }
        whole.t.retain(|t| t.1 != 0);
        whole.t.sort_unstable_by_key(|t| t.0);
        if !whole.t.is_empty() {
            let part = self.read(&whole).ok()?;
            r.widen(1i128.checked_shl(r.scale)?, part.lo, part.hi)?;
        }
        let of = |b: Base| {
            let t = whole.t.iter().filter(|t| self.base_of(t.0) == Some(b));
            Form { k: 0, t: t.copied().collect() }
        };
        let named = large.into_iter().map(of).filter(|group| group.t.len() > 1);
        Some(named.collect())
    }

    /// What an atom is, or is a function of.
    fn base_of(&self, a: AtomId) -> Option<Base> {
        match self.world.atoms[a as usize] {
            Atom::Var(v) => Some(Base::Var(v)),
            Atom::Fun(b, _) => Some(b),
            _ => None,
        }
    }

    /// Whether 64 bits hold the sum of the terms of one base, after division by their greatest
    /// common divisor. The kernel asks this of terms that it enumerates together.
    fn together(&self, base: Base, terms: &[(AtomId, i128)]) -> bool {
        let own: Vec<(AtomId, i128)> =
            terms.iter().copied().filter(|t| self.base_of(t.0) == Some(base)).collect();
        let content = own.iter().fold(0u128, |mut g, t| {
            let mut n = t.1.unsigned_abs();
            while n != 0 {
                (g, n) = (n, g % n);
            }
            g
        });
        let content = i128::try_from(content.max(1)).unwrap_or(1);
        let terms = own.iter().map(|&(a, n)| Some((a, i64::try_from(n / content).ok()?)));
        let terms: Option<Vec<(AtomId, i64)>> = terms.collect();
        terms.is_some_and(|t| self.evaluable(base, &t))
    }
}

/// What was replaced, with the factor of its equation at a scale.
type Replaced<T> = (T, i128, u32);
/// Quotients that were replaced.
type Quotients = Vec<Replaced<AtomId>>;
/// Names that were replaced.
type Names = Vec<Replaced<VarId>>;

/// How a form with quotients is viewed, besides replacing quotients by their forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    /// In no other way.
    Plain,
    /// With names unfolded at the end, if all terms of their sums are in the form as well.
    Spelled,
    /// With names unfolded on the way, so that quotients in them cancel.
    Unfolded,
    /// With sums folded that also have functions in the form.
    Folded,
    /// By the linear program for the upper end, if one was solved.
    Upper,
    /// The same for the lower end.
    Lower,
}

/// How the interval of a form with quotients is found: 2^scale times it, with equations of quotients and
/// names added.
#[derive(Clone)]
pub(crate) struct Steps {
    /// The scale's exponent.
    pub scale: u32,
    /// Quotients with the factors of their equations.
    pub floors: Vec<(AtomId, i128)>,
    /// Variables that are replaced by their sums, with their coefficients.
    pub names: Vec<(VarId, i128)>,
    /// Sums of one variable and its functions that are read by themselves: 2^scale times each is in the form.
    pub groups: Vec<Form>,
    /// The interval.
    pub bounds: (i128, i128),
}

impl Steps {
    /// The same for `sign` times the form, plus a constant.
    pub(crate) fn of(&self, sign: i64, k: i64) -> Steps {
        let (s, k) = (i128::from(sign), i128::from(k));
        let (lo, hi) = (s * self.bounds.0, s * self.bounds.1);
        Steps {
            scale: self.scale,
            floors: self.floors.iter().map(|&(a, n)| (a, s * n)).collect(),
            names: self.names.iter().map(|&(v, n)| (v, s * n)).collect(),
            groups: self.groups.iter().map(|g| g.scaled(sign, 64)).collect(),
            bounds: (lo.min(hi) + k, lo.max(hi) + k),
        }
    }
}

/// `[lo, hi] + Σ n·atom`, all divided by 2^scale.
#[derive(Clone, Default)]
pub(crate) struct Rational {
    pub scale: u32,
    lo: i128,
    hi: i128,
    pub terms: FxHashMap<AtomId, i128>,
    floors: BTreeMap<AtomId, i128>,
}

impl Rational {
    fn add(&mut self, atoms: &[Atom], a: AtomId, n: i128) -> Option<()> {
        let entry = match atoms[a as usize] {
            Atom::Floor(_) => self.floors.entry(a).or_default(),
            _ => self.terms.entry(a).or_default(),
        };
        *entry = entry.checked_add(n)?;
        Some(())
    }

    /// The integers inside, once no terms are left: bounds are multiples of 2^-scale.
    pub(crate) fn bounds(&self) -> (i128, i128) {
        (-((-self.lo) >> self.scale), self.hi >> self.scale)
    }

    pub(crate) fn widen(&mut self, n: i128, l: i128, h: i128) -> Option<()> {
        let (x, y) = (n.checked_mul(l)?, n.checked_mul(h)?);
        self.lo = self.lo.checked_add(x.min(y))?;
        self.hi = self.hi.checked_add(x.max(y))?;
        Some(())
    }

    /// Whether all numerators, and `n`, may be multiplied by 2^by.
    fn fits(&self, n: i128, by: u32) -> bool {
        let largest = self
            .terms
            .values()
            .chain(self.floors.values())
            .chain([&self.lo, &self.hi, &n])
            .map(|n| 128 - n.unsigned_abs().leading_zeros())
            .max()
            .unwrap_or(0);
        largest.max(self.scale) + by <= ROOM
    }

    fn raise(&mut self, by: u32) {
        self.scale += by;
        self.lo <<= by;
        self.hi <<= by;
        self.terms.values_mut().chain(self.floors.values_mut()).for_each(|n| *n <<= by);
    }
}
