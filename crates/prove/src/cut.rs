//! The integer reading of forms: intervals, residues, and new variables for sums that a
//! nonlinear operation uses.

use crate::bilinear::Sheared;
use crate::enumeration::Enumeration;
use crate::first::Passed;
use crate::funs::{FunId, Op, bits, centre};
use crate::joint::Joints;
use crate::reading::{NoReading, Odd, Reading};
use crate::record::Record;
use crate::unfold::Names;
use crate::values::{
    Atom, AtomId, Base, Cause, CauseKind, Form, ModForm, Source, Var, VarId, World, inverse,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The tables with their caches.
pub struct Cutter {
    /// Values.
    pub world: World,
    /// Enumerations.
    pub enumeration: Enumeration,
    /// Canonical form (leading odd coefficient 1) and width to a variable and `s` with
    /// `form = s·variable`.
    cuts: FxHashMap<(u8, Form), (VarId, i64)>,
    /// Exact integer form to its variable and the sign with which it is that.
    exact: FxHashMap<Form, (VarId, i64)>,
    failed: FxHashMap<(u8, Form), u32>,
    /// Variables without an integer form, by interval and residue.
    alike: FxHashMap<((i64, i64), ModForm), Vec<VarId>>,
    /// Variables that were cut from another form equal to the sum: the sum itself, and the bits for
    /// which both are equal.
    pub(crate) spelled: FxHashMap<VarId, (Arc<Form>, u8)>,
    /// Forms of one base that gain nothing from a variable.
    plain: rustc_hash::FxHashSet<(u8, Form)>,
    /// Names that were unfolded.
    pub(crate) names: Names,
    /// Intervals by linear programs.
    pub(crate) joints: Joints,
    /// Sums of products that are narrower than their terms.
    pub(crate) sheared: Sheared,
    /// What passed its word.
    pub(crate) passed: Passed,
    /// Node that is being interpreted.
    pub node: u32,
    /// The certificate so far.
    pub(crate) record: Record,
    /// The form that the last quotient was taken of, after folding and unfolding, and the base that
    /// the quotient became a function of.
    pub(crate) taken: (Form, Option<Base>),
    /// Whether it was a quotient of a quotient: `taken` has the inner one.
    pub(crate) joined: bool,
    /// Whether quotients stay quotients, even where functions of one variable would do.
    pub(crate) quotients: bool,
    /// Whether the sum that is being cut was unfolded.
    unfolding: bool,
}

/// If a variable takes fewer values than this, a line modulo a number other than q may be an
/// accident.
const FEW: i64 = 256;

/// The most variables that a form is compared with.
const TWINS: usize = 4;

/// The most variables that are made level when a sum is too wide.
const TIES: usize = 8;

impl Cutter {
    /// Empty tables.
    pub fn new(q: u32) -> Cutter {
        Cutter {
            world: World::new(q),
            enumeration: Enumeration::new(),
            cuts: FxHashMap::default(),
            exact: FxHashMap::default(),
            failed: FxHashMap::default(),
            alike: FxHashMap::default(),
            spelled: FxHashMap::default(),
            plain: Default::default(),
            names: Names::default(),
            joints: Joints::default(),
            sheared: Sheared::default(),
            passed: Passed::default(),
            node: 0,
            record: Record::default(),
            taken: Default::default(),
            joined: false,
            quotients: false,
            unfolding: false,
        }
    }

    /// The base an atom depends on; none for products, high halves and quotients.
    pub fn base(&self, a: AtomId) -> Option<Base> {
        match self.world.atoms[a as usize] {
            Atom::Var(v) => Some(Base::Var(v)),
            Atom::Fun(b, _) => Some(b),
            Atom::Prod(..) | Atom::High(_) | Atom::Floor(_) | Atom::Opaque(_) => None,
        }
    }

    /// The one base that all atoms depend on.
    pub(crate) fn one_base(&self, form: &Form) -> Option<Base> {
        let first = self.base(form.t.first()?.0)?;
        form.t[1..].iter().all(|t| self.base(t.0) == Some(first)).then_some(first)
    }

    /// A form of one base as a function at `width`.
    pub(crate) fn as_fun(&mut self, form: &Form, width: u8) -> FunId {
        let (mut x, mut terms) = (0, Vec::new());
        for &(a, c) in &form.t {
            match self.world.atoms[a as usize] {
                Atom::Var(_) => x = c,
                Atom::Fun(_, f) => terms.push((f, c)),
                _ => unreachable!("the caller checked for one base"),
            }
        }
        self.world.funs.lin(width, form.k, x, &terms)
    }

    /// Whether 64-bit arithmetic evaluates the terms of one base exactly.
    pub(crate) fn evaluable(&self, base: Base, terms: &[(AtomId, i64)]) -> bool {
        let (lo, hi) = self.world.domain(base);
        let mut bound = 0i128;
        for &(a, c) in terms {
            let size = match self.world.atoms[a as usize] {
                Atom::Fun(_, f) => 1i128 << (bits(&self.world.funs, f) - 1),
                _ => i128::from(lo).abs().max(i128::from(hi).abs()),
            };
            bound += i128::from(c).abs() * size;
        }
        bound < 1 << 62
    }

    /// A function extended to `width`.
    pub fn extend(&mut self, f: FunId, width: u8, signed: bool) -> FunId {
        if self.world.funs.get(f).width == width {
            return f;
        }
        let op = if signed { Op::Sext } else { Op::Zext };
        self.op(width, op, &[f])
    }

    /// Interns an operation.
    pub fn op(&mut self, width: u8, op: Op, args: &[FunId]) -> FunId {
        self.world.funs.word(width, &op, args).expect("an operation with arguments")
    }

    /// Folds variables that a function in the form cancels. The integer stays the same.
    ///
    /// A reduction `s - q·round(s/q)` is narrow. But s may be unfolded, and merged with other
    /// terms, so that nothing shows this. The function's slope then tells which multiple of s the
    /// form must hold. Each variable is made level once, the latest first, since definitions bring
    /// in earlier variables only. The caller checks whether the result is narrow.
    fn tie(&mut self, form: &Form) -> Option<(Form, Reading)> {
        let mut next = form.clone();
        let mut below = VarId(u32::MAX);
        for _ in 0..TIES {
            let latest = next.t.iter().filter_map(|&(a, _)| match self.world.atoms[a as usize] {
                Atom::Fun(Base::Var(v), _) if v < below => Some(v),
                _ => None,
            });
            let Some(v) = latest.max() else { break };
            below = v;
            let Source::Cut { form: d, bits: 64 } = self.world.var(v).source.clone() else {
                continue;
            };
            let Some(m) = self.slope(&next, v) else { continue };
            next = Form::combine(&next, 1, &d, m.wrapping_neg(), 64);
            let atom = Form::atom(self.world.var(v).atom);
            next = Form::combine(&next, 1, &atom, m, 64);
        }
        let left = next.t.iter().any(|&(a, _)| {
            matches!(self.world.atoms[a as usize], Atom::Fun(Base::Var(v), _) if v < below)
        });
        if left || next == *form {
            return None;
        }
        let reading = self.read(&next).ok()?;
        Some((next, reading))
    }

    /// The nonzero multiple of v that makes the form's functions of v level.
    pub(crate) fn slope(&mut self, form: &Form, v: VarId) -> Option<i64> {
        let m = self.lacking(form.t.iter().map(|&(a, c)| (a, c.into())), v, 0)?;
        i64::try_from(m).ok().filter(|m| *m != 0 && m.abs() < 1 << 20)
    }

    /// The integer m for which these terms over 2^scale, plus m·v, rise least from one end of v's
    /// interval to the other. [`None`] if numbers grow beyond 128 bits.
    pub(crate) fn lacking(
        &mut self,
        terms: impl Iterator<Item = (AtomId, i128)>,
        v: VarId,
        scale: u32,
    ) -> Option<i128> {
        let (lo, hi) = self.world.domain(Base::Var(v));
        let width = i128::from(hi) - i128::from(lo);
        let mut rise = 0i128;
        for (a, n) in terms {
            let step = match self.world.atoms[a as usize] {
                Atom::Var(x) if x == v => width,
                Atom::Fun(Base::Var(x), f) if x == v => {
                    let [l, h, ..] = self.enumeration.at(&mut self.world.funs, f, lo, hi);
                    i128::from(h) - i128::from(l)
                }
                _ => continue,
            };
            rise = rise.checked_add(step.checked_mul(n)?)?;
        }
        let span = width.max(1).checked_mul(1i128 << scale)?;
        rise.checked_mul(2)?.checked_add(span)?.div_euclid(span.checked_mul(2)?).checked_neg()
    }

    /// A variable for a form (constant ignored): `(v, m)` with `form - k = m·v` modulo 2^width.
    /// With `narrow`, only if the variable's interval is no larger than that of its one base.
    ///
    /// # Errors
    /// The reason, recorded; with `narrow` [`None`] where a variable would be no gain.
    pub(crate) fn cut(
        &mut self,
        form: &Form,
        width: u8,
        narrow: Option<Base>,
    ) -> Result<(VarId, i64), Option<u32>> {
        self.cut_within(form, width, narrow, width)
    }

    /// The same for a variable of at most 2^room values. If a sum was multiplied by a power of two,
    /// only `width` of its low bits matter, but it is still an integer that may take more values.
    fn cut_within(
        &mut self,
        form: &Form,
        width: u8,
        narrow: Option<Base>,
        room: u8,
    ) -> Result<(VarId, i64), Option<u32>> {
        let mut bare = form.clone();
        bare.k = 0;
        let twos = bare.t.iter().map(|t| t.1.trailing_zeros()).min().unwrap_or(0);
        let twos = if self.known_whole(&bare, room) { 0 } else { twos };
        bare.t.iter_mut().for_each(|t| t.1 >>= twos);
        let bits = width - twos as u8;
        let bare = bare.scaled(1, bits);
        let lead = bare.t.iter().map(|t| t.1).find(|c| c & 1 == 1).unwrap_or(1);
        let key = (bits, bare.scaled(inverse(lead), bits));
        if let Some(&(v, s)) = self.cuts.get(&key) {
            return Ok((v, centre(lead.wrapping_mul(s), width).wrapping_shl(twos)));
        }
        if narrow.is_some() {
            if self.plain.contains(&key) {
                return Err(None);
            }
        } else if let Some(&cause) = self.failed.get(&(bits, bare.clone())) {
            return Err(Some(cause));
        }
        if narrow.is_none()
            && let Some(separate) = self.separate(&bare, room)
        {
            // In terms of other variables, and so by another key.
            let (v, m) = self.cut_instead((&bare, &separate), bits, room)?;
            self.cuts.insert(key, (v, inverse(lead).wrapping_mul(m)));
            return Ok((v, centre(m, width).wrapping_shl(twos)));
        }
        let mut divisors: Vec<i64> = vec![1];
        // Quotients come with coefficients that are what they are.
        let plain = !self.world.has_floor(&bare);
        for &(_, c) in bare.t.iter().filter(|_| plain) {
            if c & 1 == 1 && !divisors.contains(&c.abs()) && divisors.len() < 12 {
                divisors.push(c.abs());
            }
        }
        // But what they all are multiples of is a factor of the sum.
        let content = bare.t.iter().fold(0, |g, t| crate::reading::gcd(g, t.1.unsigned_abs()));
        let content = i64::try_from(crate::moduli::odd_part(content)).unwrap_or(1);
        if !plain && content > 1 {
            divisors.push(content);
        }
        let mut best: Option<(i64, Form, Reading)> = None;
        let mut failure: Option<(Form, Result<Reading, NoReading>)> = None;
        let mut factor = 1;
        for u in divisors {
            let mut d = bare.scaled(inverse(u), bits);
            self.lift(&mut d, bits);
            // Neither narrower than the best so far, nor than what fits no word.
            let most = match (&best, &failure) {
                (Some((_, _, r)), _) => Some(r.hi - r.lo),
                (None, Some((_, Ok(r)))) => Some((r.hi - r.lo).max(1i128 << room)),
                _ => None,
            };
            if most.is_some_and(|most| self.spreads(&d, most)) {
                continue;
            }
            let reading = self.read(&d);
            let good = match &reading {
                Ok(r) => {
                    r.residue.is_some()
                        && r.hi - r.lo < 1i128 << room
                        && r.hi.abs().max(r.lo.abs()) < 1 << 48
                }
                Err(_) => false,
            };
            let better = |x: &Reading, y: &Reading| x.hi - x.lo < y.hi - y.lo;
            if good {
                let Ok(r) = reading else { continue };
                if best.as_ref().is_none_or(|b| better(&r, &b.2)) {
                    best = Some((u, d, r));
                }
            } else {
                let replace = match (&failure, &reading) {
                    (None, _) | (Some((_, Err(_))), _) => true,
                    (Some((_, Ok(old))), Ok(new)) => better(new, old),
                    _ => false,
                };
                if replace {
                    factor = u;
                    failure = Some((d, reading));
                }
            }
        }
        if let (Some(base), Some((_, d, r))) = (narrow, &best) {
            let (lo, hi) = self.world.domain(base);
            // A modulus that a few values are a line in need not mean anything.
            let found = |m: u32| m.is_multiple_of(self.world.q) || hi - lo >= FEW;
            let varies = r.residue.as_ref().is_some_and(|m| !m.t.is_empty() && found(m.m));
            let simple =
                d.t.len() == 1 && matches!(self.world.atoms[d.t[0].0 as usize], Atom::Var(_));
            if r.hi - r.lo > i128::from(hi) - i128::from(lo) || !varies || simple {
                best = None;
            }
        }
        let Some((u, d, r)) = best else {
            if narrow.is_some() {
                self.plain.insert(key);
                return Err(None);
            }
            if let Some((tied, r)) = self.tie(&bare)
                && r.residue.is_some()
                && r.hi - r.lo < 1i128 << bits
                && r.hi.abs().max(r.lo.abs()) < 1 << 48
            {
                let (v, sign) = self.variable(tied, r);
                self.cuts.insert(key, (v, inverse(lead).wrapping_mul(sign)));
                return Ok((v, centre(sign, width).wrapping_shl(twos)));
            }
            // Terms that depend on each other are narrower than their intervals add up to.
            if let Some((of, Ok(r))) = &failure
                && r.hi - r.lo >= 1i128 << room
                && !self.unfolding
                && let Some(other) = self.unfolded(of, 1i128 << room)
            {
                self.unfolding = true;
                let found = self.cut_instead((of, &other), bits, room);
                self.unfolding = false;
                if let Ok((v, m)) = found {
                    let m = m.wrapping_mul(factor);
                    self.cuts.insert(key, (v, inverse(lead).wrapping_mul(m)));
                    return Ok((v, centre(m, width).wrapping_shl(twos)));
                }
            }
            // A word that a register holds without sign is wider than it need be.
            if let Some(short) = self.shortened(&bare, bits)
                && let Ok((v, m)) = self.cut_instead((&bare, &short), bits, room)
            {
                self.cuts.insert(key, (v, inverse(lead).wrapping_mul(m)));
                return Ok((v, centre(m, width).wrapping_shl(twos)));
            }
            let cause = self.explain(&bare, width, failure);
            self.failed.insert((bits, bare), cause);
            return Err(Some(cause));
        };
        let (v, sign) = self.variable(d, r);
        // bare = u·d = u·sign·v, and bare = lead·key.
        let s = inverse(lead).wrapping_mul(u).wrapping_mul(sign);
        self.cuts.insert(key, (v, s));
        Ok((v, centre(u.wrapping_mul(sign), width).wrapping_shl(twos)))
    }

    /// Cuts a variable for `form`, which equals another form modulo 2^bits. Remembers the other
    /// form, so that the variable is also found where that one occurs unfolded.
    fn cut_instead(
        &mut self,
        (spelled, form): (&Form, &Form),
        bits: u8,
        room: u8,
    ) -> Result<(VarId, i64), Option<u32>> {
        let (v, m) = self.cut_within(form, bits, None, room)?;
        if let Source::Cut { form: own, bits: 64 } = &self.world.var(v).source
            && let Some(sign) = [1, -1].into_iter().find(|&s| **own == form.scaled(s, 64))
        {
            let spelled = (Arc::new(spelled.scaled(sign, 64)), bits);
            self.spelled.entry(v).or_insert(spelled);
        }
        Ok((v, m))
    }

    /// Whether a sum with quotients and only even coefficients is known modulo an even q as it
    /// stands. Nothing would be known of its half modulo q.
    fn known_whole(&mut self, bare: &Form, room: u8) -> bool {
        let even = self.world.q.is_multiple_of(2) && bare.t.iter().all(|t| t.1 & 1 == 0);
        even && self.world.has_floor(bare)
            && self.read(bare).is_ok_and(|r| {
                r.residue.is_some_and(|m| m.m.is_multiple_of(self.world.q))
                    && r.hi - r.lo < 1i128 << room
                    && r.hi.abs().max(r.lo.abs()) < 1 << 48
            })
    }

    /// The variable equal to plus or minus an exact form.
    pub(crate) fn variable(&mut self, d: Form, r: Reading) -> (VarId, i64) {
        let sign = if d.t.first().is_some_and(|t| t.1 < 0) { -1 } else { 1 };
        let d = d.scaled(sign, 64);
        if let Some(&(v, s)) = self.exact.get(&d) {
            return (v, s * sign);
        }
        let (lo, hi) = if sign < 0 { (-r.hi, -r.lo) } else { (r.lo, r.hi) };
        let mut residue = r.residue.unwrap_or_default();
        if sign < 0 {
            residue = residue.negated();
        }
        let parent = self.one_base(&d).map(|b| {
            let f = self.as_fun(&d, 64);
            (b, f)
        });
        let known = ((lo as i64, hi as i64), residue.clone());
        if r.integer.is_none()
            && let Some((v, s)) = self.twin(&d, &known)
        {
            self.exact.insert(d, (v, s));
            return (v, s * sign);
        }
        let node = self.node;
        let integer = r.integer.map(|f| Arc::new(f.scaled(sign, 64)));
        let form = Arc::new(d.clone());
        let whole = integer.is_some();
        let v = self.world.new_var(|_, atom| Var {
            lo: lo as i64,
            hi: hi as i64,
            source: Source::Cut { form, bits: 64 },
            residue,
            integer,
            parent,
            node,
            atom,
        });
        if !whole {
            self.alike.entry(known).or_default().push(v);
        }
        self.exact.insert(d, (v, 1));
        (v, sign)
    }

    /// Writes a form of exact integers over the variable that it is a multiple of, if there is one:
    /// `c·(x - y) + k` is `c·v + k` if v is x - y.
    ///
    /// The variable equals its sum as an integer, not only modulo a power of two. So the form is
    /// the same integer for all inputs, and so is everything made of it. Take two quotients of one
    /// sum, one of the unfolded sum and one of its name. They are then one atom, and cancel.
    pub(crate) fn by_name(&self, form: Form) -> Form {
        let content = form.t.iter().fold(0, |g, t| crate::reading::gcd(g, t.1.unsigned_abs()));
        let Ok(content @ 1..) = i64::try_from(content) else { return form };
        let Some(first) = form.t.first().filter(|_| form.t.len() > 1) else { return form };
        let c = content * first.1.signum();
        let sum = Form { k: 0, t: form.t.iter().map(|&(a, x)| (a, x / c)).collect() };
        match self.exact.get(&sum) {
            Some(&(v, sign)) => Form { k: form.k, t: vec![(self.world.var(v).atom, c * sign)] },
            None => form,
        }
    }

    /// Finds a variable that always equals an exact form, or minus that form, but whose own sum
    /// differs. Returns it with the sign.
    ///
    /// Compilers compute the same value in two ways. They reduce once in words and once in halves
    /// of double words. They compute a sum of products once with a constant and once with its
    /// negative. Montgomery's product is understood only if both its halves are products of the
    /// same variables. The exact reading of the difference decides equality: its interval must be
    /// [0, 0]. That interval comes from enumerating the functions of each base, which are facts of
    /// the certificate. Equal intervals and residues only show where to look.
    fn twin(&mut self, d: &Form, known: &((i64, i64), ModForm)) -> Option<(VarId, i64)> {
        let ((lo, hi), residue) = known;
        let opposite = ((-hi, -lo), residue.negated());
        let all = [(known, 1), (&opposite, -1)].into_iter().flat_map(|(key, sign)| {
            let alike = self.alike.get(key).into_iter().flatten();
            alike.take(TWINS).map(move |&v| (v, sign))
        });
        let all: Vec<(VarId, i64)> = all.collect();
        all.into_iter().find(|&(v, sign)| {
            let Source::Cut { form, bits: 64 } = self.world.var(v).source.clone() else {
                return false;
            };
            let difference = Form::combine(d, 1, &form, -sign, 64);
            self.read(&difference).is_ok_and(|r| r.lo == 0 && r.hi == 0)
        })
    }

    fn explain(
        &mut self,
        bare: &Form,
        width: u8,
        failure: Option<(Form, Result<Reading, NoReading>)>,
    ) -> u32 {
        if let Some(first) = self.first_passed(bare) {
            return first;
        }
        let node = self.node;
        let (kind, text) = match failure {
            Some((_, Err(NoReading::Opaque(c)))) => return c,
            Some((_, Err(NoReading::TooWide))) => (
                CauseKind::Unmodelled,
                "a function of a variable with too many values to enumerate".to_string(),
            ),
            Some((_, Err(NoReading::Overflow))) | None => {
                (CauseKind::Unmodelled, "a sum with coefficients beyond 64 bits".to_string())
            }
            Some((form, Ok(r))) if r.hi - r.lo >= 1i128 << width => {
                return self.too_wide(bare.t.len(), form, &r, width);
            }
            Some((_, Ok(r))) => {
                let inner = match r.odd {
                    Some(Odd::Base(Base::Low(l))) => self.world.lows[l as usize].cause,
                    _ => None,
                };
                if let Some(c) = inner {
                    return c;
                }
                let what = match r.odd {
                    Some(Odd::Base(Base::Low(_)) | Odd::Floor) => {
                        "the high half of a sum of products is used without the correction that would make it a Montgomery reduction"
                    }
                    _ => {
                        "a function of one value is added to other values, and it is not linear modulo q"
                    }
                };
                (CauseKind::Nonlinear, what.to_string())
            }
        };
        self.world.causes.push(Cause { node, kind, text });
        self.world.causes.len() as u32 - 1
    }

    /// Says why an output that is a function of a variable is not linear modulo q. If something
    /// below the variable is the low half of a sum that did not fit, that is the cause.
    pub fn not_linear(&mut self, v: VarId) -> u32 {
        if let Some(first) = self.first_passed(&Form::atom(self.world.var(v).atom)) {
            return first;
        }
        let (mut open, mut seen) = (vec![v], FxHashSet::default());
        while let Some(v) = open.pop() {
            let Source::Cut { form, .. } = &self.world.var(v).source else { continue };
            if !seen.insert(v) {
                continue;
            }
            for t in &form.t {
                match self.world.atoms[t.0 as usize] {
                    Atom::Var(v) | Atom::Fun(Base::Var(v), _) => open.push(v),
                    Atom::Fun(Base::Low(l), _) => {
                        if let Some(cause) = self.world.lows[l as usize].cause {
                            return cause;
                        }
                    }
                    _ => {}
                }
            }
        }
        self.unmodelled("an output is not linear modulo q")
    }

    /// Records that the current node is not modelled.
    pub fn unmodelled(&mut self, what: &str) -> u32 {
        let node = self.node;
        self.world.causes.push(Cause { node, kind: CauseKind::Unmodelled, text: what.to_string() });
        self.world.causes.len() as u32 - 1
    }
}

#[cfg(test)]
impl Cutter {
    /// A coefficient of the first operand, at most `most` either way, for tests.
    pub(crate) fn test_input(&mut self, index: u32, most: i64) -> VarId {
        self.world.new_var(|_, atom| Var {
            lo: -most,
            hi: most,
            source: Source::Input { operand: 0, index },
            residue: Default::default(),
            integer: None,
            parent: None,
            node: 0,
            atom,
        })
    }
}
