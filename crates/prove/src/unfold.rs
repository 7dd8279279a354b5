//! Narrows sums whose terms depend on each other by unfolding and folding names.
//!
//! If u = a + b and v = a - b, the sum u + v is 2a, which is narrower than the two intervals add up
//! to. Any integer κ makes κ·(v - D) zero, where v names D. The search wants those κ for which a
//! sum is narrowest with all these zeros added. That is a linear program. The intervals of the
//! atoms are its constraints, and the κ are the dual solution that bounds it.
//!
//! Here it is solved from below. The search unfolds all names, so that whatever may cancel does. It
//! then folds names again, one at a time, as long as that makes the sum narrower. The kernel
//! believes none of this: it unfolds both forms of a word.

use crate::cut::Cutter;
use crate::values::{Atom, AtomId, Base, Form, Source, VarId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most terms of an unfolded sum.
const TERMS: usize = 2048;

/// The most times that each name is tried.
const PASSES: usize = 4;

/// The most terms of a name's sum whose coefficients suggest multiples of the name.
const RATIOS: usize = 4;

/// The most terms of all unfolded names that stay in the cache.
const NAMES: usize = 1 << 23;

/// Names unfolded completely, and how many terms they have together. [`None`] for a name that stays
/// as it is, or has too many terms.
#[derive(Default)]
pub(crate) struct Names {
    of: FxHashMap<VarId, Option<Arc<Form>>>,
    terms: usize,
}

impl Cutter {
    /// The same integer as a sum that takes at most `room` values, if unfolding names finds one.
    pub(crate) fn unfolded(&mut self, form: &Form, room: i128) -> Option<Form> {
        if let Some(found) = self.narrower_spelling(form, room) {
            return Some(found);
        }
        let mut sum = self.unfold(form)?;
        if sum == *form {
            return None;
        }
        let mut names: Vec<VarId> = Vec::new();
        for &(a, _) in form.t.iter().chain(&sum.t) {
            if let Some(Base::Var(v)) = self.base(a) {
                names.push(v);
            }
        }
        names.sort_unstable();
        names.dedup();
        let mut of: FxHashMap<VarId, Arc<Form>> = FxHashMap::default();
        for &v in &names {
            if let Some(spelled) = self.unfolded_name(v) {
                of.insert(v, spelled);
            }
        }
        names.retain(|v| of.contains_key(v));
        let mut width = self.width_of(&sum);
        for _ in 0..PASSES {
            let start = width;
            for &v in names.iter().rev() {
                for m in self.multiples(&sum, v, &of[&v]) {
                    if width.is_some_and(|w| w < room) {
                        return Some(sum);
                    }
                    let next = Form::combine(&sum, 1, &of[&v], m.wrapping_neg(), 64);
                    let name = Form::atom(self.world.var(v).atom);
                    let next = Form::combine(&next, 1, &name, m, 64);
                    if width.is_some_and(|known| self.spreads(&next, known)) {
                        continue;
                    }
                    if let Some(w) = self.width_of(&next)
                        && width.is_none_or(|known| w < known)
                    {
                        (width, sum) = (Some(w), next);
                        break;
                    }
                }
            }
            if width == start {
                break;
            }
        }
        width.is_some_and(|w| w < room).then_some(sum)
    }

    /// The number of values less one that a sum may take.
    fn width_of(&mut self, form: &Form) -> Option<i128> {
        self.parts(form).ok().map(|p| p.hi - p.lo)
    }

    /// Unfolds every name in a form, the latest first. [`None`] if the result has too many terms.
    fn unfold(&self, form: &Form) -> Option<Form> {
        let (mut k, mut out) = (form.k, Vec::new());
        let mut open: BTreeMap<AtomId, i64> = form.t.iter().copied().collect();
        // A definition is over earlier atoms, so this ends, and nothing is added to finished terms.
        while let Some((a, c)) = open.pop_last() {
            let Some(of) = self.definition(a) else {
                out.push((a, c));
                continue;
            };
            k = k.wrapping_add(c.wrapping_mul(of.k));
            for &(b, d) in &of.t {
                let sum = open.entry(b).or_default();
                *sum = sum.wrapping_add(c.wrapping_mul(d));
                if *sum == 0 {
                    open.remove(&b);
                }
            }
            if out.len() + open.len() > TERMS {
                return None;
            }
        }
        out.reverse();
        Some(Form { k, t: out })
    }

    /// The definition of a name: the form that it equals as an integer.
    pub(crate) fn definition(&self, a: AtomId) -> Option<&Form> {
        match self.world.atoms[a as usize] {
            Atom::Var(v) => match &self.world.var(v).source {
                Source::Cut { form, bits: 64 } => Some(form),
                _ => None,
            },
            _ => None,
        }
    }

    /// Unfolds a name, each only once.
    fn unfolded_name(&mut self, v: VarId) -> Option<Arc<Form>> {
        if let Some(known) = self.names.of.get(&v) {
            return known.clone();
        }
        let name = Form::atom(self.world.var(v).atom);
        let found = self.unfold(&name).filter(|spelled| *spelled != name).map(Arc::new);
        if self.names.terms > NAMES {
            self.names = Names::default();
        }
        self.names.terms += found.as_ref().map_or(0, |found| found.t.len());
        self.names.of.insert(v, found.clone());
        found
    }

    /// Multiples of a name that may make a sum narrower: the one that makes its functions level,
    /// and those that make a term of the name's sum vanish.
    fn multiples(&mut self, sum: &Form, v: VarId, of: &Form) -> Vec<i64> {
        let mut all: Vec<i64> = self.slope(sum, v).into_iter().collect();
        let ratio = |&(a, c): &(AtomId, i64)| {
            let own = sum.coefficient(a);
            (own != 0 && own % c == 0).then(|| own / c)
        };
        all.extend(of.t.iter().filter_map(ratio).take(RATIOS));
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uses::Use;

    /// Names of x + y and x - y, and the atoms of x and y. All of them fit 16 bits.
    fn butterfly(cut: &mut Cutter) -> [Form; 4] {
        let [x, y] = [0, 1].map(|i| {
            let v = cut.test_input(i, 15000);
            Form::atom(cut.world.var(v).atom)
        });
        let [u, v] = [1, -1].map(|sign| {
            let sum = Form::combine(&x, 1, &y, sign, 16);
            let (v, m, k) = cut.as_variable(&sum, 16).expect("a sum that fits");
            assert!(m.abs() == 1 && k == 0);
            Form::atom(cut.world.var(v).atom).scaled(m, 16)
        });
        [x, y, u, v]
    }

    #[test]
    fn a_lazy_butterfly_is_as_narrow_as_it_is() {
        let mut cut = Cutter::new(4591);
        let [x, y, u, v] = butterfly(&mut cut);
        for (sign, of) in [(1, &x), (-1, &y)] {
            let sum = Form::combine(&u, 1, &v, sign, 16);
            assert_eq!(sum.t.len(), 2, "two names, in [-60000, 60000]");
            assert_eq!(cut.unfolded(&sum, 1 << 16), Some(of.scaled(2, 64)));
            assert_eq!(cut.unfolded(&sum, 60000), None, "it takes 60001 values");
            let Use::One(Base::Var(found), f) = cut.use_form(&sum, 16) else {
                panic!("no variable")
            };
            assert_eq!(cut.unfold(&Form::atom(cut.world.var(found).atom)).as_ref(), Some(of));
            assert_eq!([1, 15000].map(|at| cut.world.funs.at(f, at)), [2, 30000]);
        }
    }

    /// Names of names of random sums, in which terms cancel. Unfolding them gives what replacing
    /// the latest name of the form again and again gives.
    #[test]
    fn names_are_replaced_to_their_ends() {
        let mut cut = Cutter::new(4591);
        let mut all: Vec<Form> = Vec::new();
        for i in 0..6 {
            let v = cut.test_input(i, 3);
            all.push(Form::atom(cut.world.var(v).atom));
        }
        let mut random = crate::witness::Random(5);
        let mut cancelled = 0;
        for _ in 0..200 {
            let mut sum = Form::constant((random.next() % 7) as i64, 64);
            for _ in 0..3 {
                let term = &all[random.next() as usize % all.len()];
                sum = Form::combine(&sum, 1, term, (random.next() % 5) as i64 - 2, 64);
            }
            let mut slow = sum.clone();
            while let Some((a, of)) =
                slow.t.iter().rev().find_map(|t| Some((*t, cut.definition(t.0)?.clone())))
            {
                let rest = Form::combine(&slow, 1, &Form::atom(a.0), -a.1, 64);
                slow = Form::combine(&rest, 1, &of, a.1, 64);
            }
            assert_eq!(cut.unfold(&sum), Some(slow.clone()));
            cancelled += usize::from(slow.t.len() < sum.t.len());
            sum.k = 0;
            if sum.t.len() < 2 || all.len() > 40 {
                continue;
            }
            let r = cut.read(&sum).expect("an interval");
            let (v, _) = cut.variable(sum, r);
            let name = Form::atom(cut.world.var(v).atom);
            let known = cut.unfolded_name(v).expect("a sum of inputs");
            assert_eq!(Some((*known).clone()), cut.unfold(&name));
            assert_eq!(cut.unfolded_name(v), Some(known));
            all.push(name);
        }
        assert!(cancelled > 0);
    }

    #[test]
    fn what_does_not_cancel_stays_wide() {
        let mut cut = Cutter::new(4591);
        let [x, _, u, v] = butterfly(&mut cut);
        // 3x - y, x + 3y and 4x + y, none of which fits.
        let wide = [
            Form::combine(&u, 1, &v, 2, 16),
            Form::combine(&u, 2, &v, -1, 16),
            Form::combine(&u, 1, &x, 3, 16),
        ];
        for sum in wide {
            assert_eq!(cut.unfolded(&sum, 1 << 16), None);
            assert!(!matches!(cut.use_form(&sum, 16), Use::One(Base::Var(_), _)));
        }
    }

    #[test]
    fn a_name_is_folded_again_where_that_is_narrower() {
        // Of u = x + y and v = x - y, v + 2y - 4591·round(u / 4591) is the reduction of u.
        let mut cut = Cutter::new(4591);
        let [_, y, u, v] = butterfly(&mut cut);
        let Some(Base::Var(name)) = cut.one_base(&u) else { panic!("a name") };
        let round = cut.world.funs.lin(32, 1 << 15, 65536 / 4591 + 1, &[]);
        let round = cut.op(16, crate::funs::Op::Slice { lo: 16 }, &[round]);
        let round = Form::atom(cut.world.atom(Atom::Fun(Base::Var(name), round)));
        let spelled = Form::combine(&Form::combine(&v, 1, &y, 2, 64), 1, &round, -4591, 64);
        let folded = cut.unfolded(&spelled, 10000).expect("a narrower spelling");
        assert_eq!(cut.one_base(&folded), Some(Base::Var(name)));
    }
}
