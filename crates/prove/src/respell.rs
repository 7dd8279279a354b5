//! Folds and unfolds one name of a sum after another, as long as a few points of each variable show
//! that this narrows the sum.
//!
//! Any integer κ makes κ·(v - D) zero, where v names D. A sum may hold D unfolded, so that its
//! terms meet their like. Of a reduction v - q·round(v/q) only the quotient may then be left. A sum
//! may also hold names whose parts would cancel. One step folds or unfolds one name, without
//! touching the names in its definition. The search takes a step if the sum is narrower after it. A
//! step changes few groups of terms, so it costs little to try. Only the final sum is enumerated.

use crate::cut::Cutter;
use crate::enumeration::POINTS;
use crate::spread::{Seen, width};
use crate::values::{Atom, AtomId, Base, Form, Source, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most names of a sum that are folded or unfolded.
const NAMES: usize = 1024;

/// The most times that each name is tried.
const PASSES: usize = 8;

/// The most different multiples that make terms of a name's sum vanish.
const RATIOS: usize = 4;

/// The largest multiple of a name, and what coefficients stay below.
const LARGEST: i128 = 1 << 48;

/// Groups of terms, each by its values at the points of its variable.
type Groups = Vec<(Base, [i128; POINTS])>;

/// A sum with its groups of terms: the terms of one variable and its functions are one.
struct Spelling {
    terms: FxHashMap<AtomId, i128>,
    groups: FxHashMap<Base, [i128; POINTS]>,
    /// How wide it is, as far as the points show.
    width: i128,
}

impl Spelling {
    fn new(cut: &mut Cutter, form: &Form) -> Option<Spelling> {
        let mut sum =
            Spelling { terms: FxHashMap::default(), groups: FxHashMap::default(), width: 0 };
        for &(a, c) in &form.t {
            sum.terms.insert(a, c.into());
            match cut.seen(a) {
                Some(Seen::At(base, at)) => {
                    add(sum.groups.entry(base).or_default(), &at, c.into())?
                }
                Some(Seen::Apart(wide)) => {
                    sum.width = sum.width.checked_add(wide.checked_mul(i128::from(c).abs())?)?;
                }
                None => {}
            }
        }
        for values in sum.groups.values() {
            sum.width = sum.width.checked_add(width(values))?;
        }
        Some(sum)
    }

    fn coefficient(&self, a: AtomId) -> i128 {
        self.terms.get(&a).copied().unwrap_or(0)
    }

    /// The width of the sum with these terms added m times, and the groups that they change.
    fn with(&self, cut: &mut Cutter, step: &[(AtomId, i64)], m: i128) -> Option<(i128, Groups)> {
        let mut wide = self.width;
        let mut changed: Groups = Vec::with_capacity(step.len());
        for &(a, c) in step {
            let c = m.checked_mul(c.into()).filter(|c| c.abs() < LARGEST)?;
            let own = self.coefficient(a);
            let new = own.checked_add(c).filter(|c| c.abs() < LARGEST)?;
            match cut.seen(a)? {
                Seen::At(base, at) => {
                    let at_base = changed.iter().position(|x| x.0 == base);
                    let i = at_base.unwrap_or_else(|| {
                        changed.push((base, self.groups.get(&base).copied().unwrap_or_default()));
                        changed.len() - 1
                    });
                    add(&mut changed[i].1, &at, c)?;
                }
                Seen::Apart(each) => {
                    wide = wide.checked_add(each.checked_mul(new.abs() - own.abs())?)?;
                }
            }
        }
        for (base, values) in &changed {
            let before = self.groups.get(base).map_or(0, width);
            wide = wide.checked_add(width(values) - before)?;
        }
        Some((wide, changed))
    }

    /// Multiples of a name that its definition may replace, so that the sum is narrower. These are
    /// the name's own coefficient, those that make a term of the definition vanish, and the one
    /// that makes the name's functions level.
    fn multiples(&self, cut: &Cutter, v: VarId, of: &Form) -> Vec<i128> {
        let mut all = Vec::new();
        let own = self.coefficient(cut.world.var(v).atom);
        if own != 0 {
            all.push(own);
        }
        for &(a, c) in &of.t {
            let (have, c) = (self.coefficient(a), i128::from(c));
            if have != 0 && have % c == 0 && !all.contains(&(-have / c)) && all.len() <= RATIOS {
                all.push(-have / c);
            }
        }
        if let Some(values) = self.groups.get(&Base::Var(v)) {
            let (lo, hi) = cut.world.domain(Base::Var(v));
            let span = (i128::from(hi) - i128::from(lo)).max(1);
            let m = (2 * (values[1] - values[0]) + span).div_euclid(2 * span);
            if m != 0 && !all.contains(&m) {
                all.push(m);
            }
        }
        all
    }

    /// The sum, with that constant.
    fn form(&self, k: i64) -> Option<Form> {
        let small = |(&a, &c): (&AtomId, &i128)| i64::try_from(c).ok().map(|c| (a, c));
        let mut t =
            self.terms.iter().filter(|t| *t.1 != 0).map(small).collect::<Option<Vec<_>>>()?;
        t.sort_unstable();
        Some(Form { k, t })
    }
}

/// Adds c times what an atom is at the points.
fn add(values: &mut [i128; POINTS], at: &[i64; POINTS], c: i128) -> Option<()> {
    for (value, &x) in values.iter_mut().zip(at) {
        *value = value.checked_add(c.checked_mul(x.into())?)?;
    }
    Some(())
}

impl Cutter {
    /// The same integer as a sum that takes at most `room` values, if folding and unfolding single
    /// names finds one.
    pub(crate) fn narrower_spelling(&mut self, form: &Form, room: i128) -> Option<Form> {
        if self.world.has_floor(form) {
            return None;
        }
        let names = self.names_below(form);
        if names.is_empty() {
            return None;
        }
        let mut sum = Spelling::new(self, form)?;
        let mut k = form.k;
        for _ in 0..PASSES {
            let before = sum.width;
            for (v, of) in &names {
                // Zero: what the name is of, less the name.
                let mut step = of.t.clone();
                step.push((self.world.var(*v).atom, -1));
                let mut best = None;
                for m in sum.multiples(self, *v, of) {
                    let next = sum.with(self, &step, m);
                    let narrowest = best.as_ref().map_or(sum.width, |b: &(i128, _, _)| b.0);
                    if let Some((wide, groups)) = next.filter(|n| n.0 < narrowest) {
                        best = Some((wide, groups, m));
                    }
                }
                let Some((wide, groups, m)) = best else { continue };
                let Some(constant) = i64::try_from(m).ok().and_then(|m| of.k.checked_mul(m)) else {
                    continue;
                };
                k = k.checked_add(constant)?;
                sum.width = wide;
                sum.groups.extend(groups);
                for &(a, c) in &step {
                    *sum.terms.entry(a).or_default() += m * i128::from(c);
                }
            }
            if sum.width < room
                && let Some(next) = sum.form(k)
                && self.parts(&next).is_ok_and(|p| p.hi - p.lo < room)
            {
                return Some(next);
            }
            if sum.width == before {
                break;
            }
        }
        None
    }

    /// The names in a form and in the definitions of its names, the latest first. They name sums of
    /// variables, of functions of variables and of products.
    fn names_below(&self, form: &Form) -> Vec<(VarId, Arc<Form>)> {
        let mut names: Vec<(VarId, Arc<Form>)> = Vec::new();
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        let mut level: Vec<VarId> = self.bases(form).collect();
        while !level.is_empty() && names.len() < NAMES {
            let mut next = Vec::new();
            for v in level {
                let Source::Cut { form: of, bits: 64 } = &self.world.var(v).source else {
                    continue;
                };
                if seen.insert(v) && of.t.iter().all(|t| self.understood(t.0)) {
                    next.extend(self.bases(of));
                    names.push((v, of.clone()));
                }
            }
            level = next;
        }
        names.sort_unstable_by_key(|n| std::cmp::Reverse(n.0));
        names
    }

    /// The variables that a form's terms are, or are functions of.
    fn bases(&self, form: &Form) -> impl Iterator<Item = VarId> {
        form.t.iter().filter_map(|t| match self.base(t.0) {
            Some(Base::Var(v)) => Some(v),
            _ => None,
        })
    }

    /// Whether points, or an interval, show how wide an atom is.
    fn understood(&self, a: AtomId) -> bool {
        matches!(
            self.world.atoms[a as usize],
            Atom::Var(_) | Atom::Fun(Base::Var(_), _) | Atom::Prod(..)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::funs::Op;

    const Q: i64 = 4591;

    fn combine(terms: &[(&Form, i64)]) -> Form {
        terms.iter().fold(Form::default(), |sum, &(f, c)| Form::combine(&sum, 1, f, c, 64))
    }

    /// The name of a sum that fits a word.
    fn named(cut: &mut Cutter, sum: &Form) -> Form {
        let (v, m, k) = cut.as_variable(sum, 16).expect("a sum that fits");
        assert!(m.abs() == 1 && k == 0);
        Form::atom(cut.world.var(v).atom).scaled(m, 64)
    }

    /// round(v / Q) of a name.
    fn quotient(cut: &mut Cutter, name: &Form) -> Form {
        let base = cut.one_base(name).expect("a name");
        let wide = cut.world.funs.lin(32, 1 << 14, name.t[0].1 * (32768 / Q), &[]);
        let f = cut.op(16, Op::Slice { lo: 15 }, &[wide]);
        Form::atom(cut.world.atom(Atom::Fun(base, f)))
    }

    /// Of so many sums of two inputs each, their names less Q times their quotients: each takes some 4,700 values.
    fn reduced(cut: &mut Cutter, count: u32) -> Vec<Form> {
        let one = |i: u32| {
            let [x, y] = [2 * i, 2 * i + 1].map(|i| {
                let v = cut.test_input(i, 2000);
                Form::atom(cut.world.var(v).atom)
            });
            let name = named(cut, &combine(&[(&x, 1), (&y, 1)]));
            let quotient = quotient(cut, &name);
            combine(&[(&name, 1), (&quotient, -Q)])
        };
        (0..count).map(one).collect()
    }

    fn total(parts: &[Form]) -> Form {
        combine(&parts.iter().map(|p| (p, 1)).collect::<Vec<_>>())
    }

    fn wide(cut: &mut Cutter, form: &Form) -> i128 {
        let r = cut.read(form).expect("a reading");
        assert!(r.residue.is_some_and(|m| m.m == Q as u32), "linear modulo q");
        r.hi - r.lo
    }

    /// Both are the same integer at some inputs.
    fn assert_same(cut: &mut Cutter, a: &Form, b: &Form) {
        for at in 0..6u32 {
            let value = |_: u16, i: u32| match at {
                0 => 2000,
                1 => [2000, -2000][(i % 2) as usize],
                _ => i64::from((i + 1) * (at * 977 + 13) % 4001) - 2000,
            };
            let audit = crate::audit::Audit::new(&mut cut.world, &value).expect("values");
            let [a, b] = [a, b].map(|f| audit.form(&mut cut.world, f));
            assert_eq!(a, b, "{at}");
        }
    }

    /// Let v = p + a + b, where p is a sum of six reduced names, and a and b are two more. Take
    /// `p - a - b` less the reduction of v. The terms of p cancel, which leaves
    /// `-2a - 2b + Q·round(v / Q)`.
    #[test]
    fn a_quotient_that_is_left_alone_meets_its_sum_again() {
        let mut cut = Cutter::new(Q as u32);
        let all = reduced(&mut cut, 8);
        let ab = total(&all[6..]);
        let v = named(&mut cut, &total(&all));
        let round = quotient(&mut cut, &v);
        let sum = combine(&[(&ab, -2), (&round, Q)]);
        let room = 50000;
        assert!(wide(&mut cut, &sum) > room);
        let found = cut.unfolded(&sum, room).expect("a narrower spelling");
        assert!(wide(&mut cut, &found) < room);
        assert_same(&mut cut, &sum, &found);
        // Minus the quotient is the reduction of nothing: it takes 55,000 values.
        let wrong = combine(&[(&ab, -2), (&round, -Q)]);
        assert_eq!(cut.unfolded(&wrong, room), None);
    }

    /// The same where the sum that is reduced holds a name of a part of it.
    #[test]
    fn a_sum_by_the_names_of_parts_meets_its_quotient() {
        let mut cut = Cutter::new(Q as u32);
        let all = reduced(&mut cut, 7);
        let part = named(&mut cut, &total(&all[..4]));
        let v = named(&mut cut, &total(&all));
        let round = quotient(&mut cut, &v);
        let spelled = combine(&[(&part, 1), (&total(&all[4..]), 1)]);
        let sum = combine(&[(&spelled, 1), (&round, -Q)]);
        assert!(wide(&mut cut, &sum) > 60000);
        let found = cut.narrower_spelling(&sum, 6000).expect("a narrower spelling");
        assert_eq!(cut.one_base(&found), cut.one_base(&v), "the reduction of v");
        assert_same(&mut cut, &sum, &found);
        for (c, of) in [(Q, &spelled), (-Q, &total(&all[1..]))] {
            let wrong = combine(&[(of, 1), (&round, c)]);
            assert_eq!(cut.narrower_spelling(&wrong, 6000), None);
        }
    }
}
