//! Bounds a sum by all that is known of its parts together: a linear program.
//!
//! A name v of a sum D gives the equation v - D = 0. A quotient A = floor(F / 2^B) gives the
//! equation F - 2^B·A - R = 0 for a remainder R in [0, 2^B). The search may add any multiples of
//! such equations to a sum S. It then bounds the result part by part. One kind of part is an atom
//! with its interval. The other is a variable with functions of few pieces, which lies in the hull
//! of the pieces' ends.
//!
//! The multiples that give S the least upper bound solve a linear program. A library solves it in
//! floating point. The solution shows which terms vanish. From these the search computes the
//! multiples again, exactly, as integers over a power of two. The kernel checks these alone.

use crate::cut::Cutter;
use crate::enumeration::pieces;
use crate::quotient::{Rational, Steps};
use crate::values::{Atom, AtomId, Base, Form, Source, VarId};
use microlp::{ComparisonOp, OptimizationDirection, Problem};
use ringforge_kernel::pieces::Piece;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Equations and atoms of a linear program at most.
const EQUATIONS: usize = 24;
const ATOMS: usize = 64;

/// The most points of a variable between which its functions are affine.
const POINTS: usize = 32;

/// Evaluations that the pieces of a function may take.
const WORK: u64 = 1 << 16;

/// After this many programs without gain, the search solves no more.
const MISSES: usize = 256;

/// The largest unit for bounds. The unit is the width that is known of a sum, but no more than the
/// words that are to hold it.
const WORD: i128 = 1 << 32;

/// Below this a number of a solution counts as zero.
const NEAR: f64 = 1e-6;

/// The largest exponent of a witness's scale, a power of two.
const LARGEST: u32 = 100;

/// The bounds that were found for sums, and the sums for which none was found.
#[derive(Default)]
pub(crate) struct Joints {
    /// By sums without a constant, the first coefficient positive: how their greatest and least values are bounded.
    found: FxHashMap<Form, [Option<Steps>; 2]>,
    /// Coefficients and known intervals of sums that no program made narrower.
    missed: FxHashSet<(Vec<i64>, (i128, i128))>,
}

/// A sum that is zero.
struct Equation {
    of: AtomId,
    /// The bits of a quotient's remainder; 0 for a name.
    bits: u8,
    k: i128,
    terms: BTreeMap<AtomId, i128>,
}

/// Atoms with the points in whose hull they lie together.
struct Part {
    atoms: Vec<AtomId>,
    points: Vec<Vec<i128>>,
}

/// `n / 2^e`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Dyadic {
    n: i128,
    e: u32,
}

impl Dyadic {
    fn new(n: i128, e: u32) -> Dyadic {
        let twos = if n == 0 { e } else { n.trailing_zeros().min(e) };
        Dyadic { n: n >> twos, e: e - twos }
    }

    /// `self + c·other`.
    fn plus(self, other: Dyadic, c: Dyadic) -> Option<Dyadic> {
        let product = Dyadic::new(other.n.checked_mul(c.n)?, other.e + c.e);
        let e = self.e.max(product.e);
        Some(Dyadic::new(self.over(e)?.checked_add(product.over(e)?)?, e))
    }

    /// The numerator over 2^e, where e is at least its own exponent.
    fn over(self, e: u32) -> Option<i128> {
        let fits = 128 - self.n.unsigned_abs().leading_zeros() + (e - self.e) < 127;
        fits.then(|| self.n << (e - self.e))
    }

    /// Its inverse, if that is dyadic.
    fn inverse(self) -> Option<Dyadic> {
        let power = self.n.unsigned_abs().is_power_of_two() && self.n.trailing_zeros() < 120;
        let (sign, twos) = (self.n.signum(), self.n.trailing_zeros());
        power
            .then(|| Dyadic::new(Dyadic { n: sign, e: 0 }.over(self.e).unwrap_or(0), twos))
            .filter(|d| d.n != 0)
    }
}

impl Cutter {
    /// The interval of a form that follows from the linear programs solved so far.
    pub(crate) fn joint_bounds(&self, form: &Form) -> Option<(i128, i128)> {
        if self.joints.found.is_empty() {
            return None;
        }
        let upper = self.joint_steps(form, true)?.bounds.1;
        let lower = self.joint_steps(form, false)?.bounds.0;
        Some((lower, upper))
    }

    /// How the upper or lower end of a form's interval was found.
    pub(crate) fn joint_steps(&self, form: &Form, upper: bool) -> Option<Steps> {
        let (sum, sign) = key(form)?;
        let sides = self.joints.found.get(&sum)?;
        let steps = sides[usize::from(upper != (sign > 0))].as_ref()?;
        Some(steps.of(sign, form.k))
    }

    /// Whether a form lies in an interval. If that is not known, tries a linear program for each
    /// end.
    pub(crate) fn within(&mut self, form: &Form, lo: i128, hi: i128) -> bool {
        let Ok(r) = self.read(form) else { return false };
        if lo <= r.lo && r.hi <= hi {
            return true;
        }
        // A sum that passes both ends by far passes them by its values.
        let room = (hi - lo) / 4;
        let near = r.lo >= lo - room && r.hi <= hi + room;
        near && self.joint(form, (r.lo, r.hi))
            && self.read(form).is_ok_and(|r| lo <= r.lo && r.hi <= hi)
    }

    /// Solves the linear programs of a form with a known interval. Returns whether they narrow it.
    pub(crate) fn joint(&mut self, form: &Form, known: (i128, i128)) -> bool {
        let Some((sum, _)) = key(form) else { return false };
        if self.joints.found.contains_key(&sum) || self.joints.missed.len() > MISSES {
            return false;
        }
        let shape = (sum.t.iter().map(|t| t.1).collect(), known);
        if self.joints.missed.contains(&shape) {
            return false;
        }
        let unit = (known.1 - known.0).clamp(16, WORD) as f64;
        let sides = self.program(&sum, unit);
        if let Some(sides) = sides {
            self.joints.found.insert(sum, sides);
            let narrower = |(lo, hi): (i128, i128)| lo > known.0 || hi < known.1;
            if self.joint_bounds(form).is_some_and(narrower) {
                return true;
            }
        }
        self.joints.missed.insert(shape);
        false
    }

    fn program(&mut self, sum: &Form, unit: f64) -> Option<[Option<Steps>; 2]> {
        let (equations, atoms) = self.equations_below(sum)?;
        let parts = self.parts_of(&atoms)?;
        let side = |this: &mut Cutter, sign| {
            let multiples = multiples((sum, sign), &equations, &parts, unit)?;
            this.steps(sum, &equations, &multiples)
        };
        Some([side(self, 1), side(self, -1)])
    }

    /// The equations of the quotients and names below a form, the nearest first, and all their
    /// atoms. [`None`] without a quotient: unfolding finds what names alone can show.
    fn equations_below(&self, sum: &Form) -> Option<(Vec<Equation>, BTreeSet<AtomId>)> {
        let mut open: VecDeque<AtomId> = sum.t.iter().map(|t| t.0).collect();
        let (mut atoms, mut equations) = (BTreeSet::new(), Vec::new());
        while let Some(a) = open.pop_front() {
            if !atoms.insert(a) {
                continue;
            }
            let (of, bits) = match self.world.atoms[a as usize] {
                Atom::Floor(f) => {
                    let floor = &self.world.floors[f as usize];
                    (&floor.form, floor.bits)
                }
                Atom::Var(v) => match &self.world.var(v).source {
                    Source::Cut { form, bits: 64 } => (form, 0),
                    _ => continue,
                },
                Atom::Fun(Base::Var(v), _) => {
                    open.push_back(self.world.var(v).atom);
                    continue;
                }
                Atom::Prod(..) => continue,
                Atom::Fun(..) | Atom::High(_) | Atom::Opaque(_) => return None,
            };
            if equations.len() == EQUATIONS {
                continue;
            }
            if atoms.len() + open.len() + of.t.len() > ATOMS {
                return None;
            }
            open.extend(of.t.iter().map(|t| t.0));
            // v - D, and F - 2^B·A.
            let sign = if bits == 0 { -1 } else { 1 };
            let mut terms: BTreeMap<AtomId, i128> =
                of.t.iter().map(|&(a, c)| (a, sign * i128::from(c))).collect();
            terms.insert(a, if bits == 0 { 1 } else { -(1i128 << bits) });
            equations.push(Equation { of: a, bits, k: sign * i128::from(of.k), terms });
        }
        equations.iter().any(|e| e.bits > 0).then_some((equations, atoms))
    }

    /// Divides atoms into parts.
    fn parts_of(&mut self, atoms: &BTreeSet<AtomId>) -> Option<Vec<Part>> {
        let mut groups: BTreeMap<VarId, Vec<(AtomId, Option<crate::funs::FunId>)>> =
            BTreeMap::new();
        let mut parts = Vec::new();
        let alone = |a: AtomId, (lo, hi): (i128, i128)| Part {
            atoms: vec![a],
            points: vec![vec![lo], vec![hi]],
        };
        for &a in atoms {
            match self.world.atoms[a as usize] {
                Atom::Floor(f) => {
                    let floor = &self.world.floors[f as usize];
                    parts.push(alone(a, (floor.lo, floor.hi)));
                }
                Atom::Prod(x, y) => parts.push(alone(a, self.product_interval(x, y))),
                Atom::Var(v) => groups.entry(v).or_default().push((a, None)),
                Atom::Fun(Base::Var(v), f) => groups.entry(v).or_default().push((a, Some(f))),
                _ => return None,
            }
        }
        for (v, group) in groups {
            let (lo, hi) = self.world.domain(Base::Var(v));
            let mut points = BTreeSet::from([lo, hi]);
            let funs: Vec<_> = group.iter().filter_map(|g| g.1).collect();
            let few = funs.iter().all(|&f| self.breaks(f, (lo, hi), &mut points).is_some());
            if few {
                let at = |this: &mut Cutter, x: i64| -> Vec<i128> {
                    let value = |g: &(AtomId, Option<_>)| {
                        g.1.map_or(x, |f| this.world.funs.at(f, x)).into()
                    };
                    group.iter().map(value).collect()
                };
                let points = points.into_iter().map(|x| at(self, x)).collect();
                parts.push(Part { atoms: group.iter().map(|g| g.0).collect(), points });
                continue;
            }
            for (a, f) in group {
                let ends = match f {
                    None => (lo, hi),
                    Some(f) => {
                        let s = self.enumeration.summary(&mut self.world.funs, f, lo, hi).ok()?;
                        (s.min, s.max)
                    }
                };
                parts.push(alone(a, (ends.0.into(), ends.1.into())));
            }
        }
        Some(parts)
    }

    /// Adds the ends of a function's pieces, if there are few.
    fn breaks(
        &mut self,
        f: crate::funs::FunId,
        (lo, hi): (i64, i64),
        points: &mut BTreeSet<i64>,
    ) -> Option<()> {
        for piece in pieces(&mut self.world.funs, f, lo, hi, &mut { WORK })? {
            match piece {
                Piece::Affine { lo, hi, .. } => points.extend([lo, hi]),
                Piece::Values { lo, values } if values.len() <= POINTS => {
                    points.extend((lo..).take(values.len()));
                }
                Piece::Values { .. } => return None,
            }
        }
        (points.len() <= POINTS).then_some(())
    }

    /// The interval of a sum with these multiples of equations added.
    fn steps(&mut self, sum: &Form, equations: &[Equation], by: &[Dyadic]) -> Option<Steps> {
        let scale = by.iter().map(|m| m.e).max()?;
        if scale > LARGEST {
            return None;
        }
        let by: Vec<i128> = by.iter().map(|m| m.over(scale)).collect::<Option<_>>()?;
        let mut terms: FxHashMap<AtomId, i128> = FxHashMap::default();
        for &(a, c) in &sum.t {
            terms.insert(a, Dyadic { n: c.into(), e: 0 }.over(scale)?);
        }
        let mut r = Rational::default();
        r.scale = scale;
        let (mut floors, mut names) = (Vec::new(), Vec::new());
        for (equation, &m) in equations.iter().zip(&by).filter(|x| *x.1 != 0) {
            r.widen(m, equation.k, equation.k)?;
            for (&a, &c) in &equation.terms {
                let entry = terms.entry(a).or_default();
                *entry = entry.checked_add(m.checked_mul(c)?)?;
            }
            match self.world.atoms[equation.of as usize] {
                Atom::Var(v) => names.push((v, m.checked_neg()?)),
                _ => {
                    r.widen(m.checked_neg()?, 0, (1i128 << equation.bits) - 1)?;
                    floors.push((equation.of, m));
                }
            }
        }
        for (a, n) in terms.into_iter().filter(|t| t.1 != 0) {
            match self.world.atoms[a as usize] {
                Atom::Floor(f) => {
                    let floor = &self.world.floors[f as usize];
                    let (lo, hi) = (floor.lo, floor.hi);
                    r.widen(n, lo, hi)?;
                }
                _ => {
                    r.terms.insert(a, n);
                }
            }
        }
        let groups = self.rest(&mut r)?;
        Some(Steps { scale, floors, names, groups, bounds: r.bounds() })
    }
}

/// A form without its constant, and with a positive coefficient first, and the sign that was taken out.
fn key(form: &Form) -> Option<(Form, i64)> {
    let sign = form.t.first()?.1.signum();
    let t = form.t.iter().map(|&(a, c)| Some((a, c.checked_mul(sign)?)));
    Some((Form { k: 0, t: t.collect::<Option<_>>()? }, sign))
}

/// The multiples of equations by which `sign·sum` has the least upper bound, times that sign.
fn multiples(
    (sum, sign): (&Form, i64),
    equations: &[Equation],
    parts: &[Part],
    unit: f64,
) -> Option<Vec<Dyadic>> {
    let own: FxHashMap<AtomId, i128> = sum.t.iter().map(|&(a, c)| (a, (c * sign).into())).collect();
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    let own_unit = |e: &Equation| 1.0 / (1u64 << e.bits) as f64;
    let by: Vec<_> =
        equations.iter().map(|e| problem.add_var(e.k as f64 * own_unit(e) / unit, free)).collect();
    // What a part is at a point: its own, and by each equation.
    let mut rows: Vec<Vec<(Vec<f64>, f64)>> = Vec::new();
    for part in parts {
        let at = |point: &Vec<i128>| {
            let value = |of: &dyn Fn(AtomId) -> f64| -> f64 {
                part.atoms.iter().zip(point).map(|(&a, &x)| of(a) * (x as f64 / unit)).sum()
            };
            let by_equation =
                |e: &Equation| value(&|a| e.terms.get(&a).map_or(0.0, |&c| c as f64 * own_unit(e)));
            let of_sum = value(&|a| own.get(&a).map_or(0.0, |&c| c as f64));
            (equations.iter().map(by_equation).collect::<Vec<f64>>(), of_sum)
        };
        rows.push(part.points.iter().map(at).collect());
    }
    let remainder = |i: usize, bits: u8| {
        let mut most = vec![0.0; equations.len()];
        most[i] = -(((1u64 << bits) - 1) as f64) * own_unit(&equations[i]) / unit;
        vec![(vec![0.0; equations.len()], 0.0), (most, 0.0)]
    };
    let quotients = equations.iter().enumerate().filter(|e| e.1.bits > 0);
    rows.extend(quotients.map(|(i, e)| remainder(i, e.bits)));
    for part in &rows {
        let most = problem.add_var(1.0, free);
        for (coefficients, constant) in part {
            let terms = by.iter().zip(coefficients).filter(|t| *t.1 != 0.0).map(|(&v, &c)| (v, -c));
            let row: Vec<_> = terms.chain([(most, 1.0)]).collect();
            problem.add_constraint(&row[..], ComparisonOp::Ge, *constant);
        }
    }
    let solution = problem.solve().ok()?.into_solution().ok()?;
    let found: Vec<f64> = by.iter().map(|&v| solution.var_value(v)).collect();
    // What points of a part have in common that are greatest: those of an atom with an interval, that it vanishes.
    let mut ties: Vec<Vec<(AtomId, i128)>> = Vec::new();
    for (part, row) in parts.iter().zip(&rows) {
        let values: Vec<f64> = row
            .iter()
            .map(|(c, k)| c.iter().zip(&found).map(|(c, x)| c * x).sum::<f64>() + k)
            .collect();
        let size = row.iter().flat_map(|r| r.0.iter().zip(&found).map(|(c, x)| (c * x).abs()));
        let near = NEAR + size.fold(0.0, f64::max) * 1e-12;
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let greatest: Vec<usize> =
            (0..values.len()).filter(|&i| values[i] >= most - near).collect();
        for pair in greatest.windows(2) {
            let [x, y] = [&part.points[pair[0]], &part.points[pair[1]]];
            let step = |i: usize| y[i].checked_sub(x[i]).map(|d| (part.atoms[i], d));
            let step: Vec<_> = (0..part.atoms.len()).map(step).collect::<Option<_>>()?;
            ties.push(match step[..] {
                [(a, _)] => vec![(a, 1)],
                _ => step,
            });
        }
    }
    // What an equation is of first: its coefficient there is a power of two.
    ties.sort_by_key(|t| std::cmp::Reverse(t[0].0));
    ties.sort_by_key(|t| !(t.len() == 1 && equations.iter().any(|e| e.of == t[0].0)));
    let exact = exactly(&ties, equations, &own, &found)?;
    Some(exact.into_iter().map(|m| Dyadic { n: m.n * i128::from(sign), e: m.e }).collect())
}

/// The multiples of equations for which these steps of parts are zero. A multiple that the steps do
/// not decide is the one that was found, rounded.
fn exactly(
    ties: &[Vec<(AtomId, i128)>],
    equations: &[Equation],
    own: &FxHashMap<AtomId, i128>,
    found: &[f64],
) -> Option<Vec<Dyadic>> {
    let n = equations.len();
    let (zero, minus) = (Dyadic { n: 0, e: 0 }, Dyadic { n: -1, e: 0 });
    // Solved rows: the equation whose multiple is minus the rest of its row.
    let mut solved: Vec<(usize, Vec<Dyadic>)> = Vec::new();
    'ties: for tie in ties {
        let coefficient = |of: &dyn Fn(AtomId) -> i128| -> Option<Dyadic> {
            let mut sum = 0i128;
            for &(a, d) in tie {
                sum = sum.checked_add(of(a).checked_mul(d)?)?;
            }
            Some(Dyadic { n: sum, e: 0 })
        };
        let by_equation = |e: &Equation| coefficient(&|a| e.terms.get(&a).copied().unwrap_or(0));
        let mut row: Vec<Dyadic> = Vec::with_capacity(n + 1);
        for e in equations {
            let Some(c) = by_equation(e) else { continue 'ties };
            row.push(c);
        }
        let Some(constant) = coefficient(&|a| own.get(&a).copied().unwrap_or(0)) else { continue };
        row.push(constant);
        let less = |row: &mut Vec<Dyadic>, of: &[Dyadic], c: Dyadic| -> Option<()> {
            let minus = Dyadic { n: c.n.checked_neg()?, e: c.e };
            for (x, &y) in row.iter_mut().zip(of) {
                *x = x.plus(y, minus)?;
            }
            Some(())
        };
        for (pivot, of) in &solved {
            let c = row[*pivot];
            if c.n != 0 && less(&mut row, of, c).is_none() {
                continue 'ties;
            }
        }
        let own = |i: &usize| tie.len() == 1 && equations[*i].of == tie[0].0;
        let power = |i: &usize| row[*i].n != 0 && row[*i].inverse().is_some();
        let Some(pivot) = (0..n).find(|i| own(i) && power(i)).or_else(|| (0..n).find(power)) else {
            continue;
        };
        let inverse = row[pivot].inverse()?;
        let unit: Option<Vec<Dyadic>> = row.iter().map(|&x| zero.plus(x, inverse)).collect();
        let Some(unit) = unit else { continue };
        let before = solved.clone();
        for (_, of) in &mut solved {
            let c = of[pivot];
            if c.n != 0 && less(of, &unit, c).is_none() {
                solved = before;
                continue 'ties;
            }
        }
        solved.push((pivot, unit));
    }
    let mut all = vec![zero; n];
    for i in (0..n).filter(|&i| solved.iter().all(|s| s.0 != i)) {
        // Of a name the multiple as it is, of a quotient 2^-bits times.
        let bits = u32::from(equations[i].bits);
        let value = (found[i] * 1024.0).round();
        if value.abs() < (1u64 << 52) as f64 {
            all[i] = Dyadic::new(value as i128, bits + 10);
        }
    }
    let rest = all.clone();
    for (pivot, row) in &solved {
        let mut value = zero.plus(row[n], minus)?;
        for (x, y) in row[..n].iter().zip(&rest) {
            let c = Dyadic { n: x.n.checked_neg()?, e: x.e };
            value = value.plus(*y, c)?;
        }
        all[*pivot] = value;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Audit;
    use crate::witness::Random;

    fn dyadic(n: i128, e: u32) -> Dyadic {
        Dyadic::new(n, e)
    }

    #[test]
    fn numbers_over_powers_of_two() {
        assert_eq!(dyadic(12, 3), Dyadic { n: 3, e: 1 });
        assert_eq!(dyadic(3, 1).plus(dyadic(1, 2), dyadic(-6, 0)), Some(dyadic(0, 0)));
        assert_eq!(dyadic(1, 100).plus(dyadic(1 << 60, 0), dyadic(1, 0)), None);
        assert_eq!(dyadic(-1, 5).inverse(), Some(dyadic(-32, 0)));
        assert_eq!(dyadic(8, 0).inverse(), Some(dyadic(1, 3)));
        assert_eq!(dyadic(0, 0).inverse(), None);
        assert_eq!(dyadic(6, 0).inverse(), None);
    }

    fn input(cut: &mut Cutter, index: u32, most: i64) -> Form {
        let v = cut.test_input(index, most);
        Form::atom(cut.world.var(v).atom)
    }

    /// hi + floor(-c·hi / 2^6) of hi = floor(x·y / 2^7): not negative where x·y is not, though each quotient may be less than
    /// its sum over a power of two by nearly 1.
    #[test]
    fn two_quotients_are_not_negative_together() {
        let mut cut = Cutter::new(97);
        cut.world.wide = true;
        let [x, y] = [0, 1].map(|i| cut.test_input(i, 1000));
        for v in [x, y] {
            cut.world.vars[v.0 as usize].lo = 0;
        }
        let product = Form::atom(cut.world.product(x, y));
        let high = cut.floor(&product, 7, 64);
        let (least, steps) = (high.scaled(-31, 64), 6);
        let below = cut.floor(&least, steps, 64);
        let sum = Form::combine(&high, 1, &below, 1, 64);
        let r = cut.read(&sum).expect("an interval");
        assert!(r.lo < 0);
        assert!(cut.within(&sum, 0, 1 << 16));
        assert!(!cut.within(&sum, 1, 1 << 16));
        // A kernel that is asked finds the same.
        let by = cut.best_witness(&sum);
        assert!(by.zeros.len() == 1 && by.scale == 1, "by its name: {by:?}");
    }

    /// Random sums of quotients, of quotients of these, and of names: what programs show holds at random inputs, is no wider
    /// than what was known, and is narrower for many.
    #[test]
    fn bounds_hold() {
        let mut random = Random(3);
        let (mut found, mut narrower) = (0, 0);
        for _ in 0..60 {
            let mut cut = Cutter::new(97);
            cut.world.wide = true;
            let mut all: Vec<Form> = (0..3).map(|i| input(&mut cut, i, 5000)).collect();
            let mut draw = |n: u64| random.next() % n;
            let mut sum = Form::default();
            for step in 0..5 {
                let size = all.len() as u64;
                sum = Form::constant(draw(50) as i64, 64);
                for _ in 0..3 {
                    let c = draw(400) as i64 - 200;
                    sum = Form::combine(&sum, 1, &all[draw(size) as usize], c, 64);
                }
                if step < 3 && !sum.t.is_empty() {
                    all.push(cut.floor(&sum, 7, 64));
                }
            }
            let Ok(r) = cut.read(&sum) else { continue };
            if sum.t.is_empty() || !cut.world.has_floor(&sum) {
                continue;
            }
            narrower += usize::from(cut.joint(&sum, (r.lo, r.hi)));
            let Some((lo, hi)) = cut.joint_bounds(&sum) else { continue };
            found += 1;
            for _ in 0..50 {
                let values: Vec<i64> = (0..3)
                    .map(|_| [5000, -5000, draw(10001) as i64 - 5000][draw(3) as usize])
                    .collect();
                let value = |_: u16, i: u32| values[i as usize];
                let audit = Audit::new(&mut cut.world, &value).expect("values");
                let at = audit.form(&mut cut.world, &sum);
                assert!(lo <= at && at <= hi, "{at} is not in [{lo}, {hi}]: {sum:?}");
            }
        }
        assert!(found > 30 && narrower > 5, "{found} {narrower}");
    }
}
