//! Folds sums: writes them over the variables that were made of parts of them.

use crate::cut::Cutter;
use crate::funs::centre;
use crate::values::{Atom, AtomId, Base, Form, Source, VarId, inverse};

/// The most rounds of replacements. One round may enable the next.
const ROUNDS: usize = 8;

impl Cutter {
    /// Folds variables in a form modulo 2^width. If the form also depends on a variable through
    /// functions, the variable replaces the terms of its own sum. A sum and a function of the same
    /// sum then meet in one enumeration.
    pub fn resolve(&mut self, form: &mut Form, width: u8) {
        for _ in 0..ROUNDS {
            if !self.resolve_once(form, width) {
                return;
            }
        }
    }

    /// Resolves the form as far as that loses nothing. If the form lacks some terms of a variable's
    /// sum, folding adds the variable and terms that undo the missing ones. Together these may take
    /// more values than the terms that they replace. All versions are equal modulo 2^width, so any
    /// may be read.
    ///
    /// Multiples of one sum are resolved alike, so that they become multiples of the same variable.
    /// A multiple by 2^k is resolved as the sum modulo 2^(width - k), because it says no more about
    /// the sum.
    pub(crate) fn resolved(&mut self, form: &Form, width: u8) -> Form {
        let twos = form.t.iter().map(|t| t.1.trailing_zeros()).min().unwrap_or(0) as u8;
        if twos > 0 && twos < width {
            let bits = width - twos;
            let t = form.t.iter().map(|&(a, c)| (a, c >> twos)).collect();
            let sum = Form { k: 0, t }.scaled(1, bits);
            return self.resolved(&sum, bits).scaled(1 << twos, width).plus(form.k, width);
        }
        let unit = unit(form);
        let form = form.scaled(inverse(unit), width);
        self.resolved_sum(&form, width).scaled(unit, width)
    }

    fn resolved_sum(&mut self, form: &Form, width: u8) -> Form {
        let out = self.resolved_latest(form, width);
        if out == *form || out.t.is_empty() || self.one_base(&out).is_some() {
            return out;
        }
        match self.read(&out) {
            Ok(r) if r.residue.is_none() || r.hi - r.lo >= 1i128 << width => {
                self.resolved_otherwise(form, width, r.hi - r.lo).unwrap_or(out)
            }
            _ => out,
        }
    }

    /// Resolves the form by the earliest variables first. Returns the result if it then fits a word
    /// of `width` bits and takes fewer than `most` values.
    ///
    /// The reduced sum may contain the sum of a later variable that is also in the form. Once that
    /// variable is folded, the reduced sum is no longer recognised. In
    /// `a + d - q·round((a + d)/q) + f(d)` the variable d must stay unfolded. Either order gives
    /// the same form modulo 2^width.
    fn resolved_otherwise(&mut self, form: &Form, width: u8, most: i128) -> Option<Form> {
        let mut next = form.clone();
        for v in self.candidates(form).into_iter().rev() {
            if let Some(replaced) = self.replaced(&next, v, width) {
                next = replaced;
            }
        }
        self.resolve(&mut next, width);
        let r = self.read(&next).ok()?;
        (r.residue.is_some() && r.hi - r.lo < most.min(1i128 << width)).then_some(next)
    }

    fn resolved_latest(&mut self, form: &Form, width: u8) -> Form {
        let mut all = form.clone();
        self.resolve(&mut all, width);
        if all == *form || all.t.is_empty() || self.one_base(&all).is_some() {
            return all;
        }
        let Ok(mut best) = self.read(form) else { return all };
        let mut some = form.clone();
        for _ in 0..ROUNDS {
            let mut changed = false;
            for v in self.candidates(&some) {
                let Some(next) = self.replaced(&some, v, width) else { continue };
                let Ok(r) = self.read(&next) else { continue };
                if r.residue.is_some() && r.hi - r.lo <= best.hi - best.lo {
                    (some, best, changed) = (next, r, true);
                }
            }
            if !changed {
                break;
            }
        }
        match self.read(&all) {
            Ok(r) if r.hi - r.lo > best.hi - best.lo && best.residue.is_some() => some,
            _ => all,
        }
    }

    fn resolve_once(&mut self, form: &mut Form, width: u8) -> bool {
        let mut changed = false;
        for v in self.candidates(form) {
            if let Some(next) = self.replaced(form, v, width) {
                *form = next;
                changed = true;
            }
        }
        changed
    }

    /// The variables of sums in a form, in its functions and under its quotients, the latest first.
    fn candidates(&self, form: &Form) -> Vec<VarId> {
        let mut candidates: Vec<VarId> = Vec::new();
        let cut = |v: &VarId| matches!(self.world.var(*v).source, Source::Cut { .. });
        for &(a, _) in &form.t {
            match self.world.atoms[a as usize] {
                Atom::Fun(Base::Var(v), _) | Atom::Var(v) => candidates.push(v),
                Atom::Floor(f) => self.under(f, &mut candidates),
                _ => {}
            }
        }
        candidates.retain(cut);
        candidates.sort_unstable();
        candidates.dedup();
        candidates.reverse();
        candidates
    }

    /// Appends the variables under a quotient, also through quotients of quotients.
    fn under(&self, floor: u32, variables: &mut Vec<VarId>) {
        for &(a, _) in &self.world.floors[floor as usize].form.t {
            match self.world.atoms[a as usize] {
                Atom::Var(v) => variables.push(v),
                Atom::Floor(f) => self.under(f, variables),
                _ => {}
            }
        }
    }

    /// Folds a variable in a form modulo 2^width, if the form holds more than half of the
    /// variable's sum.
    fn replaced(&self, form: &Form, v: VarId, width: u8) -> Option<Form> {
        let Source::Cut { form: d, bits } = &self.world.var(v).source else { return None };
        if *bits < width {
            return None;
        }
        let spelled = self.spelled.get(&v).filter(|s| s.1 >= width).map(|s| &s.0);
        let definitions = [Some(d), spelled].into_iter().flatten();
        let found = definitions.map(|d| (multiple(form, d, width), d)).find(|d| d.0.is_some());
        let (Some(k), d) = found? else { return None };
        let rest = Form::combine(form, 1, d, k.wrapping_neg(), width);
        Some(Form::combine(&rest, 1, &Form::atom(self.world.var(v).atom), k, width))
    }
}

/// The odd coefficient that most terms have, up to their signs; 1 if all are even.
fn unit(form: &Form) -> i64 {
    let mut all: Vec<i64> = form.t.iter().map(|t| t.1.abs()).filter(|c| c & 1 == 1).collect();
    all.sort_unstable();
    let often = all.chunk_by(|a, b| a == b).max_by_key(|run| (run.len(), -run[0]));
    often.map_or(1, |run| run[0])
}

/// Whether `form` certainly has at most half of the terms of `d`. Terms are sorted by atom: if few
/// lie between the ends of `d`, most of its terms are missing. It does not look at the terms one by
/// one, because it runs for each variable of a form with thousands of terms.
fn lacks_most(form: &Form, d: &Form) -> bool {
    let (Some(&(first, _)), Some(&(last, _))) = (d.t.first(), d.t.last()) else { return true };
    let place = |a: AtomId| form.t.partition_point(|t| t.0 < a);
    (place(last + 1) - place(first)) * 2 <= d.t.len()
}

/// The multiple of `d` that removes most of its terms from `form`, if that is more than half.
fn multiple(form: &Form, d: &Form, width: u8) -> Option<i64> {
    if lacks_most(form, d) {
        return None;
    }
    let mut votes: Vec<(i64, usize)> = Vec::new();
    let mut missing = 0;
    for &(a, c) in &d.t {
        let have = form.coefficient(a);
        if have == 0 {
            missing += 1;
            if missing * 2 >= d.t.len() {
                return None;
            }
        } else if c & 1 == 1 {
            let k = centre(have.wrapping_mul(inverse(c)), width);
            match votes.iter_mut().find(|v| v.0 == k) {
                Some(v) => v.1 += 1,
                None => votes.push((k, 1)),
            }
        }
    }
    let &(k, _) = votes.iter().max_by_key(|v| v.1)?;
    let gone = d
        .t
        .iter()
        .filter(|&&(a, c)| centre(form.coefficient(a).wrapping_sub(k.wrapping_mul(c)), width) == 0)
        .count();
    (gone * 2 > d.t.len()).then_some(k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::funs::Op;
    use crate::uses::Use;
    use crate::walk::Walk;
    use ringforge_machine::graph::Graph;

    const P: i64 = 4591;

    fn input(cut: &mut Cutter, index: u32) -> AtomId {
        let v = cut.test_input(index, 2295);
        cut.world.var(v).atom
    }

    fn sum(terms: &[(AtomId, i64)]) -> Form {
        terms
            .iter()
            .fold(Form::default(), |sum, &(a, c)| Form::combine(&sum, 1, &Form::atom(a), c, 16))
    }

    #[test]
    fn what_lacks_most_of_a_sum_is_passed_over_and_nothing_else() {
        let sum = |atoms: &[AtomId]| Form { k: 0, t: atoms.iter().map(|&a| (a, 1)).collect() };
        let d = sum(&[10, 20, 30, 40]);
        for (atoms, lacks, is_there) in [
            (&[20, 30, 40][..], false, true),
            (&[5, 10, 20, 40, 50], false, true),
            (&[10, 20], true, false),
            (&[1, 2, 3, 50, 60, 70], true, false),
            // Others between its ends: they are looked at.
            (&[11, 12, 13, 14], false, false),
            (&[], true, false),
        ] {
            let form = sum(atoms);
            assert_eq!(lacks_most(&form, &d), lacks, "{atoms:?}");
            assert_eq!(multiple(&form, &d, 16), is_there.then_some(1), "{atoms:?}");
        }
        assert!(lacks_most(&d, &sum(&[])) && multiple(&d, &sum(&[]), 16).is_none());
        // Of 2^12 pairs of sums of some of twelve terms none is passed over that has more than half.
        for (i, j) in (0..1u32 << 12).map(|i| (i, i.wrapping_mul(2_654_435_761) >> 20)) {
            let [form, d] =
                [i, j].map(|of| sum(&(0..12).filter(|a| of >> a & 1 == 1).collect::<Vec<_>>()));
            let most = 2 * (i & j).count_ones() > j.count_ones();
            assert!(!(most && lacks_most(&form, &d)), "{i:b} {j:b}");
        }
    }

    /// Inputs, the variable v that is x - y + z, round(v / P), and v - P·round(v / P).
    fn world() -> (Cutter, [AtomId; 3], VarId, [AtomId; 2]) {
        let mut cut = Cutter::new(P as u32);
        let inputs = [0, 1, 2].map(|i| input(&mut cut, i));
        let [x, y, z] = inputs;
        let Use::One(Base::Var(v), _) = cut.use_form(&sum(&[(x, 1), (y, -1), (z, 1)]), 16) else {
            panic!("no variable")
        };
        let wide = cut.world.funs.lin(32, 1 << 15, 65536 / P, &[]);
        let quotient = cut.op(16, Op::Slice { lo: 16 }, &[wide]);
        let reduced = cut.world.funs.lin(16, 0, 1, &[(quotient, -P)]);
        let parts = [quotient, reduced].map(|f| cut.world.atom(Atom::Fun(Base::Var(v), f)));
        (cut, inputs, v, parts)
    }

    /// The value of a form over the three inputs, v and functions of v, modulo 2^16.
    fn value(cut: &mut Cutter, form: &Form, v: VarId, at: [i64; 3]) -> i64 {
        let whole = at[0] - at[1] + at[2];
        let mut sum = form.k;
        for &(a, c) in &form.t {
            let x = match cut.world.atoms[a as usize] {
                Atom::Fun(_, f) => cut.world.funs.at(f, whole),
                Atom::Var(x) if x == v => whole,
                Atom::Var(x) => at[x.0 as usize],
                _ => panic!("no such part"),
            };
            sum += c * x;
        }
        centre(sum, 16)
    }

    const POINTS: [[i64; 3]; 4] =
        [[0, 0, 0], [2295, -2295, 2295], [-2295, 1000, 17], [-2295, 2295, -2295]];

    #[test]
    fn a_sum_meets_the_quotient_of_the_sum() {
        let (mut cut, [x, y, z], v, [quotient, _]) = world();
        let form = sum(&[(x, 1), (y, -1), (z, 1), (quotient, -P)]);
        let resolved = cut.resolved(&form, 16);
        assert!(cut.one_base(&resolved) == Some(Base::Var(v)), "{resolved:?}");
        // With something beside it, and where one term is not there.
        for terms in [vec![(x, 2), (y, -1), (z, 1)], vec![(x, 1), (y, -1)]] {
            let mut terms = terms;
            terms.push((quotient, -P));
            let form = sum(&terms);
            let resolved = cut.resolved(&form, 16);
            assert!(resolved.coefficient(cut.world.var(v).atom) == 1, "{resolved:?}");
            let (old, new) = (cut.read(&form).unwrap(), cut.read(&resolved).unwrap());
            assert!(new.hi - new.lo < old.hi - old.lo);
            for at in POINTS {
                assert_eq!(value(&mut cut, &form, v, at), value(&mut cut, &resolved, v, at));
            }
        }
    }

    #[test]
    fn a_sum_is_not_respelled_where_that_makes_it_wider() {
        let (mut cut, [x, y, z], v, [_, reduced]) = world();
        let form = sum(&[(x, -2), (z, -2), (reduced, 1)]);
        let mut wider = form.clone();
        cut.resolve(&mut wider, 16);
        assert!(wider != form && wider.coefficient(y) == -2, "the sum in terms of v: {wider:?}");
        assert_eq!(cut.resolved(&form, 16), form);
        let Use::One(Base::Var(cutting), _) = cut.use_form(&form, 16) else {
            panic!("no variable")
        };
        let (lo, hi) = cut.world.domain(Base::Var(cutting));
        assert!(hi - lo <= 8 * 2295 + P + 200, "{lo} {hi}");
        for at in POINTS {
            assert_eq!(value(&mut cut, &form, v, at), value(&mut cut, &wider, v, at));
        }
    }

    #[test]
    fn multiples_of_a_sum_are_resolved_alike() {
        let (mut cut, [x, y, z], v, [quotient, reduced]) = world();
        for terms in [
            vec![(x, -2), (z, -2), (y, 1), (reduced, 1)],
            vec![(x, -1), (z, -1), (reduced, 1)],
            vec![(x, 1), (y, -1), (z, 1), (quotient, -P)],
        ] {
            let form = sum(&terms);
            let resolved = cut.resolved(&form, 16);
            for c in [-1, 3, -1023, 12345, 32767] {
                assert_eq!(cut.resolved(&form.scaled(c, 16), 16), resolved.scaled(c, 16), "{c}");
            }
            for c in [2, -32, 96, 1 << 9] {
                let multiple = form.scaled(c, 16).plus(5, 16);
                let alike = cut.resolved(&multiple, 16);
                assert_eq!(alike, resolved.scaled(c, 16).plus(5, 16), "{c}");
                for at in POINTS {
                    assert_eq!(value(&mut cut, &multiple, v, at), value(&mut cut, &alike, v, at));
                }
            }
        }
    }

    #[test]
    fn minus_a_sum_is_spelled_as_the_sum_is() {
        let (cut, [x, y, z], v, [quotient, reduced]) = world();
        let graph = Graph::new();
        let mut walk = Walk::new(&graph, P as u32, Vec::new());
        walk.cut = cut;
        let form = sum(&[(x, -2), (z, -2), (reduced, 1)]);
        let minus = walk.sum(&Form::default(), &form, -1, 16);
        assert_eq!(*minus, form.scaled(-1, 16));
        // A sum and a quotient of it meet all the same.
        let whole = sum(&[(x, 1), (y, -1), (z, 1)]);
        let met = walk.sum(&whole, &sum(&[(quotient, P)]), -1, 16);
        assert_eq!(walk.cut.one_base(&met), Some(Base::Var(v)));
        for at in POINTS {
            let spelled = sum(&[(x, 1), (y, -1), (z, 1), (quotient, -P)]);
            assert_eq!(value(&mut walk.cut, &spelled, v, at), value(&mut walk.cut, &met, v, at));
        }
    }

    #[test]
    fn a_quotient_of_another_sum_reduces_nothing() {
        let (mut cut, [x, y, z], v, [quotient, _]) = world();
        // Mutants of x - y + z - P·round(v / P): a sign, a multiple, another modulus.
        for terms in [
            [(x, 1), (y, 1), (z, 1), (quotient, -P)],
            [(x, 1), (y, -1), (z, 3), (quotient, -P)],
            [(x, 1), (y, -1), (z, 1), (quotient, P)],
            [(x, 1), (y, -1), (z, 1), (quotient, 2 - P)],
        ] {
            let form = sum(&terms);
            let resolved = cut.resolved(&form, 16);
            for at in POINTS {
                assert_eq!(value(&mut cut, &form, v, at), value(&mut cut, &resolved, v, at));
            }
            let reduced = matches!(cut.read(&resolved), Ok(r) if r.hi - r.lo <= i128::from(P + 2)
                && r.residue.as_ref().is_some_and(|m| m.m == P as u32));
            assert!(!reduced, "{terms:?}");
        }
    }

    /// x_0 + d + c·round((x_0 + d) / P) + f(d), d being the sum of seven more inputs and f(d) being
    /// d - P·round(d / P).
    fn reduced_and_another(c: i64) -> (Cutter, Form) {
        let mut cut = Cutter::new(P as u32);
        let inputs: Vec<AtomId> = (0..8).map(|i| input(&mut cut, i)).collect();
        let all: Vec<(AtomId, i64)> = inputs.iter().map(|&a| (a, 1)).collect();
        let variable = |cut: &mut Cutter, form: &Form| match cut.use_form(form, 16) {
            Use::One(Base::Var(v), _) => v,
            other => panic!("no variable: {other:?}"),
        };
        let s = variable(&mut cut, &sum(&all));
        let d = variable(&mut cut, &sum(&all[1..]));
        assert!(s < d);
        let wide = cut.world.funs.lin(32, 1 << 15, 65536 / P, &[]);
        let quotient = cut.op(16, Op::Slice { lo: 16 }, &[wide]);
        let reduced = cut.world.funs.lin(16, 0, 1, &[(quotient, -P)]);
        let quotient = cut.world.atom(Atom::Fun(Base::Var(s), quotient));
        let reduced = cut.world.atom(Atom::Fun(Base::Var(d), reduced));
        let mut terms = all;
        terms.extend([(quotient, c), (reduced, 1)]);
        (cut, sum(&terms))
    }

    #[test]
    fn the_sum_that_is_reduced_may_hold_the_sum_of_a_later_variable() {
        for (c, narrow) in [(-P, true), (P, false), (2 - P, false)] {
            let (mut cut, form) = reduced_and_another(c);
            let resolved = cut.resolved(&form, 16);
            let r = cut.read(&resolved).unwrap();
            let fits =
                r.hi - r.lo < i128::from(4 * P) && r.residue.is_some_and(|m| m.m == P as u32);
            assert_eq!(fits, narrow, "{c}: {} {}", r.lo, r.hi);
            // The same modulo 2^16, whatever it is.
            for at in 0..4u32 {
                let value = |_: u16, i: u32| match at {
                    0 => 2295,
                    1 => -2295,
                    2 => 600 * i64::from(i) - 2295,
                    _ => [2295, -2295][(i % 2) as usize],
                };
                let audit = crate::audit::Audit::new(&mut cut.world, &value).unwrap();
                let [x, y] = [&form, &resolved].map(|f| audit.form(&mut cut.world, f));
                assert_eq!((x - y).rem_euclid(1 << 16), 0, "{c} {at}");
                assert!(r.lo <= y && y <= r.hi);
            }
        }
    }
}
