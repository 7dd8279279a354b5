//! Finds inputs that drive one sum to its extreme, by solving linear equations modulo q.
//!
//! A value behind a reduction is, up to a multiple of q, decided by its residue. Residues are
//! linear in one operand once the other is fixed. So if a sum may not fit its word, the search
//! wants of each summand the residue at which it is largest. It then solves the equations.

use crate::cut::Cutter;
use crate::funs::FunId;
use crate::values::{Atom, AtomId, Base, Expansion, Form, ModForm, Source, VarId, World};
use crate::witness::Random;
use rustc_hash::FxHashMap;

/// Values of all operands.
pub(crate) type Inputs = Vec<Vec<i64>>;

/// One wish: a linear form modulo q should be this residue.
struct Wish {
    form: ModForm,
    residue: u32,
    /// What it gains, to order them: dependent wishes that come later are dropped.
    weight: i64,
}

/// What a sum consists of, prepared for many attempts.
pub(crate) struct Extremes<'w> {
    cut: &'w mut Cutter,
    n: usize,
    ranges: &'w [(i64, i64)],
    /// Which operands each variable depends on: a bit for each.
    sides: Vec<u8>,
    /// Functions of one variable with the values over its interval.
    groups: Vec<(VarId, Vec<i64>)>,
    /// Sums with a high half, by their residue forms, with the sign that makes them grow.
    wide: Vec<(ModForm, i64)>,
    /// Products of variables with their coefficients.
    products: Vec<(VarId, VarId, i64)>,
}

/// Groups that are tabulated have at most this many points.
const POINTS: i64 = 1 << 17;

impl<'w> Extremes<'w> {
    /// Prepares to drive `form`; [`None`] if it has nothing to drive.
    pub fn new(
        cut: &'w mut Cutter,
        form: &Form,
        n: usize,
        ranges: &'w [(i64, i64)],
    ) -> Option<Extremes<'w>> {
        let sides = sides(&cut.world);
        let mut by_base: FxHashMap<Base, Vec<(AtomId, i64)>> = FxHashMap::default();
        let (mut products, mut wide) = (Vec::new(), Vec::new());
        for &(a, c) in &form.t {
            match cut.world.atoms[a as usize] {
                Atom::Prod(x, y) => products.push((x, y, c)),
                Atom::High(w) => {
                    let p = cut.world.wides[w as usize].form.clone();
                    let q = cut.world.q;
                    if let Some(r) = cut.read(&p).ok().and_then(|r| r.residue)
                        && r.m == q
                        && q % 2 == 1
                    {
                        let (q, inv) = (u64::from(cut.world.q), u64::from(cut.world.r_inv));
                        let t = r.t.iter().map(|&(a, c)| (a, (u64::from(c) * inv % q) as u32));
                        wide.push((ModForm { m: cut.world.q, k: 0, t: t.collect() }, c.signum()));
                    }
                }
                Atom::Var(v) | Atom::Fun(Base::Var(v), _) => {
                    by_base.entry(Base::Var(v)).or_default().push((a, c));
                }
                Atom::Fun(Base::Low(_), _) | Atom::Floor(_) | Atom::Opaque(_) => {}
            }
        }
        let mut groups = Vec::new();
        for (base, terms) in by_base {
            let Base::Var(v) = base else { continue };
            let (lo, hi) = cut.world.domain(base);
            if hi - lo > POINTS {
                continue;
            }
            let (mut x, mut funs): (i64, Vec<(FunId, i64)>) = (0, Vec::new());
            for (a, c) in terms {
                match cut.world.atoms[a as usize] {
                    Atom::Fun(_, f) => funs.push((f, c)),
                    _ => x = c,
                }
            }
            let f = cut.world.funs.lin(64, 0, x, &funs);
            let mut values = Vec::with_capacity((hi - lo + 1) as usize);
            cut.world.funs.enumerate(f, lo, hi, |_, v| {
                values.extend_from_slice(v);
                true
            });
            groups.push((v, values));
        }
        groups.sort_by_key(|g| g.0);
        let some = !(groups.is_empty() && wide.is_empty() && products.is_empty());
        some.then_some(Extremes { cut, n, ranges, sides, groups, wide, products })
    }

    /// Prepares to reach residues only.
    pub fn plain(cut: &'w mut Cutter, n: usize, ranges: &'w [(i64, i64)]) -> Extremes<'w> {
        let sides = sides(&cut.world);
        let (groups, wide, products) = (Vec::new(), Vec::new(), Vec::new());
        Extremes { cut, n, ranges, sides, groups, wide, products }
    }

    /// One attempt to make the sum large (`up`) or small.
    pub fn attempt(&mut self, up: bool, random: &mut Random) -> Option<Inputs> {
        let q = i64::from(self.cut.world.q);
        let sign = if up { 1 } else { -1 };
        let mut wishes: Vec<Wish> = Vec::new();
        // Between the worst and the best value that a residue may stand for.
        let trust = (random.next() % 5) as i64;
        let one =
            |world: &World, v: VarId| ModForm { m: world.q, k: 0, t: vec![(world.var(v).atom, 1)] };
        for (v, values) in &self.groups {
            let lo = self.cut.world.var(*v).lo;
            if q > POINTS {
                // So few values have different residues.
                let worth = |x: &(usize, &i64)| sign * x.1;
                let Some((i, g)) = values.iter().enumerate().max_by_key(worth) else { continue };
                let residue = (lo + i as i64).rem_euclid(q) as u32;
                wishes.push(Wish { form: one(&self.cut.world, *v), residue, weight: sign * g });
                continue;
            }
            let mut best: Vec<(i64, i64)> = vec![(i64::MIN, i64::MAX); q as usize];
            for (i, &g) in values.iter().enumerate() {
                let b = &mut best[(lo + i as i64).rem_euclid(q) as usize];
                *b = (b.0.max(sign * g), b.1.min(sign * g));
            }
            let score = |b: &(i64, i64)| b.0 * trust + b.1 * (4 - trust);
            let seen = best.iter().enumerate().filter(|b| b.1.0 != i64::MIN);
            let Some((r, b)) = seen.max_by_key(|b| score(b.1)) else { continue };
            let weight = b.0;
            wishes.push(Wish { form: one(&self.cut.world, *v), residue: r as u32, weight });
        }
        for (form, c) in &self.wide {
            let slack = (random.next() % 64) as i64;
            let target = (sign * c * (q / 2 - slack)).rem_euclid(q);
            wishes.push(Wish { form: form.clone(), residue: target as u32, weight: q / 2 });
        }
        let mut wanted: FxHashMap<VarId, i64> = FxHashMap::default();
        for &(x, y, c) in &self.products {
            let big = |v: &crate::values::Var| v.hi.min(q / 2).max(1);
            let sx = *wanted.entry(x).or_insert(1);
            let sy = *wanted.entry(y).or_insert(sign * c.signum() * sx);
            for (v, s) in [(x, sx), (y, sy)] {
                let var = self.cut.world.var(v);
                let residue = (s * big(var)).rem_euclid(q) as u32;
                wishes.push(Wish { form: one(&self.cut.world, v), residue, weight: c.abs() });
            }
        }
        self.grant(wishes, random)
    }

    /// One attempt to make a form modulo q that residue.
    pub fn reach(&self, form: &ModForm, residue: u32, random: &mut Random) -> Option<Inputs> {
        self.grant(vec![Wish { form: form.clone(), residue, weight: 1 }], random)
    }

    /// Inputs that grant as many wishes as are independent, greater weights first.
    fn grant(&self, mut wishes: Vec<Wish>, random: &mut Random) -> Option<Inputs> {
        wishes.sort_by_key(|w| std::cmp::Reverse(w.weight));
        let side = |w: &Wish| {
            w.form.t.iter().fold(0, |s, &(a, _)| match self.cut.world.atoms[a as usize] {
                Atom::Var(v) => s | self.sides[v.0 as usize],
                Atom::Prod(x, y) => s | self.sides[x.0 as usize] | self.sides[y.0 as usize],
                _ => s,
            })
        };
        // Operands are solved from the last to the first, with those solved before as they are, so
        // each wish belongs to the first that it depends on.
        let mut by_operand: Vec<Vec<Wish>> = self.ranges.iter().map(|_| Vec::new()).collect();
        for w in wishes {
            let first = side(&w).trailing_zeros() as usize;
            by_operand[if first < self.ranges.len() { first } else { 0 }].push(w);
        }
        let last = self.ranges.len() - 1;
        let mut inputs: Inputs = (0..last).map(|o| self.random_input(o, random)).collect();
        inputs.push(vec![0; self.n]);
        for operand in (0..=last).rev() {
            inputs[operand] = self.solve(operand, &by_operand[operand], &inputs, random)?;
        }
        Some(inputs)
    }

    fn random_input(&self, operand: usize, random: &mut Random) -> Vec<i64> {
        let (lo, hi) = self.ranges[operand];
        (0..self.n).map(|_| lo + (random.next() % (hi - lo + 1) as u64) as i64).collect()
    }

    /// Values of `operand` that grant as many wishes as are independent, with the other operands
    /// as in `inputs`.
    fn solve(
        &self,
        operand: usize,
        wishes: &[Wish],
        inputs: &[Vec<i64>],
        random: &mut Random,
    ) -> Option<Vec<i64>> {
        let q = u64::from(self.cut.world.q);
        let n = self.n;
        let mut memo: FxHashMap<VarId, Linear> = FxHashMap::default();
        // Rows in echelon form: pivot and coefficients, right-hand side last.
        let mut rows: Vec<(usize, Vec<u32>)> = Vec::new();
        for w in wishes {
            let Some(v) = self.form(&w.form, operand, inputs, &mut memo) else { continue };
            let Linear::Vector(mut row) = v else { continue };
            let constant = u64::from(row[n]);
            row[n] = ((u64::from(w.residue) + q - constant) % q) as u32;
            for (pivot, r) in &rows {
                let c = u64::from(row[*pivot]);
                if c != 0 {
                    for (x, y) in row.iter_mut().zip(r) {
                        *x = ((u64::from(*x) + (q - c) * u64::from(*y)) % q) as u32;
                    }
                }
            }
            let Some(pivot) = row[..n].iter().position(|&c| c != 0) else { continue };
            let inv = ringforge_ring::zq::inv(row[pivot].into(), q)?;
            row.iter_mut().for_each(|x| *x = (u64::from(*x) * inv % q) as u32);
            rows.push((pivot, row));
        }
        let (lo, hi) = self.ranges[operand];
        let corners = random.next().is_multiple_of(2);
        let mut x: Vec<i64> = (0..n)
            .map(|_| {
                let r = random.next();
                if corners {
                    [lo, hi][(r & 1) as usize]
                } else {
                    lo + (r % (hi - lo + 1) as u64) as i64
                }
            })
            .collect();
        for (pivot, row) in rows.iter().rev() {
            let mut sum = i64::from(row[n]);
            for (i, &c) in row[..n].iter().enumerate() {
                if i != *pivot && c != 0 {
                    sum -= i64::from(c) * x[i].rem_euclid(q as i64) % q as i64;
                }
            }
            let r = sum.rem_euclid(q as i64);
            let fit = [r, r - q as i64].into_iter().find(|v| (lo..=hi).contains(v));
            x[*pivot] = fit?;
        }
        Some(x)
    }

    fn form(
        &self,
        form: &ModForm,
        operand: usize,
        inputs: &[Vec<i64>],
        memo: &mut FxHashMap<VarId, Linear>,
    ) -> Option<Linear> {
        let world = &self.cut.world;
        let q = u64::from(world.q);
        // Variables in order, so that the recursion below is a loop.
        let mut needed: Vec<VarId> = Vec::new();
        let mut stack: Vec<VarId> = atoms(world, form).collect();
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(v) = stack.pop() {
            if !memo.contains_key(&v) && seen.insert(v) {
                needed.push(v);
                stack.extend(atoms(world, &world.var(v).residue));
            }
        }
        needed.sort_unstable();
        for v in needed {
            let value = match world.var(v).source {
                Source::Input { operand: o, index } if o as usize == operand => {
                    let mut row = vec![0; self.n + 1];
                    row[index as usize] = 1;
                    Linear::Vector(row)
                }
                Source::Input { operand, index } => {
                    let x = inputs[operand as usize][index as usize];
                    Linear::Constant(x.rem_euclid(q as i64) as u32)
                }
                Source::Cut { .. } => match world.expansion(v, world.q) {
                    Expansion::Residue(residue) => self.sum(residue, memo)?,
                    _ => return None,
                },
            };
            memo.insert(v, value);
        }
        self.sum(form, memo)
    }

    fn sum(&self, form: &ModForm, memo: &FxHashMap<VarId, Linear>) -> Option<Linear> {
        let q = u64::from(self.cut.world.q);
        let n = self.n;
        let mut constant = u64::from(form.k);
        let mut row: Option<Vec<u64>> = None;
        let mut add = |v: &[u32], c: u64| {
            let row = row.get_or_insert_with(|| vec![0; n + 1]);
            for (x, y) in row.iter_mut().zip(v) {
                *x += c * u64::from(*y) % q;
            }
        };
        for &(a, c) in &form.t {
            let c = u64::from(c);
            match self.cut.world.atoms[a as usize] {
                Atom::Var(v) => match memo.get(&v)? {
                    Linear::Constant(k) => constant += c * u64::from(*k) % q,
                    Linear::Vector(v) => add(v, c),
                },
                Atom::Prod(x, y) => match (memo.get(&x)?, memo.get(&y)?) {
                    (Linear::Constant(k), Linear::Constant(l)) => {
                        constant += c * u64::from(*k) % q * u64::from(*l) % q;
                    }
                    (Linear::Constant(k), Linear::Vector(v))
                    | (Linear::Vector(v), Linear::Constant(k)) => add(v, c * u64::from(*k) % q),
                    _ => return None,
                },
                _ => return None,
            }
        }
        Some(match row {
            None => Linear::Constant((constant % q) as u32),
            Some(mut row) => {
                row[n] += constant;
                Linear::Vector(row.iter().map(|x| (x % q) as u32).collect())
            }
        })
    }
}

/// A residue as an affine function of one operand.
enum Linear {
    Constant(u32),
    /// Coefficients, then the constant.
    Vector(Vec<u32>),
}

fn atoms<'a>(world: &'a World, form: &'a ModForm) -> impl Iterator<Item = VarId> + 'a {
    form.t.iter().flat_map(|&(a, _)| match world.atoms[a as usize] {
        Atom::Var(v) => vec![v],
        Atom::Prod(x, y) => vec![x, y],
        _ => Vec::new(),
    })
}

fn sides(world: &World) -> Vec<u8> {
    let mut sides: Vec<u8> = Vec::with_capacity(world.vars.len());
    for var in &world.vars {
        let s = match var.source {
            Source::Input { operand, .. } => 1 << operand,
            Source::Cut { .. } => {
                atoms(world, &var.residue).fold(0, |s, v| s | sides[v.0 as usize])
            }
        };
        sides.push(s);
    }
    sides
}
