//! Which integers the towers are ([`crate::towers`]), and outputs in terms of these.
//!
//! A tower is known modulo each of its moduli as a form over lower integers: inputs and their
//! products, or variables that are known modulo q. By the Chinese remainder theorem its coefficients
//! are known modulo the product M, and Z shall be the form with the least ones. Tower and Z are then
//! congruent modulo M, and where their intervals leave no room for a difference of M, they are equal
//! as integers. So everything is known modulo q, and comparison goes on as for products that never
//! left q.

use crate::columns::{Check, Entry};
use crate::cut::Cutter;
use crate::function::{Mismatch, Side, Split};
use crate::hankel;
use crate::towers::{Apart, Failure, Tower, Towers, chinese};
use crate::values::{AtomId, Form, ModForm, Source, Var, VarId};
use crate::vectors::{Vectors, Word};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Two integers, congruent modulo some numbers, that are equal: a fact for the certificate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Equality {
    /// Least and greatest values of both.
    pub ranges: [(i128, i128); 2],
    /// The moduli.
    pub moduli: Vec<u32>,
}

/// Coefficients of integers that are found at most.
const MOST: usize = 1 << 25;
/// Stages of towers over towers at most.
const STAGES: usize = 8;

/// What is multiplied with a coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    /// Nothing: the constant.
    Constant,
    One(VarId),
    Two(VarId, VarId),
}

/// Whose form modulo q has digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Root {
    Output(usize),
    Var(VarId),
}

/// An integer form.
struct Whole {
    terms: Vec<(Factor, i128)>,
    k: i128,
}

/// Towers with their factors modulo q.
type Multiples = Vec<(usize, u32)>;

struct Lift<'c, 'p> {
    towers: Towers<'c>,
    n: usize,
    progress: &'p (dyn Fn(f64) -> bool + Sync),
    /// Roots in order of discovery with what they are in terms of towers.
    roots: Vec<(Root, Apart, Multiples)>,
    /// The variables that a tower is an integer form over, where they are no inputs.
    lower: Vec<Vec<VarId>>,
    /// By tower: its variable.
    made: FxHashMap<usize, VarId>,
    /// What stands for a root from now on.
    renamed: FxHashMap<VarId, VarId>,
    equalities: FxHashSet<Equality>,
}

/// Rewrites outputs that depend on digits in terms of the integers that the digits stand for. `n`:
/// elements of an operand.
///
/// # Errors
/// Why they cannot be; [`Mismatch::Cancelled`] where the caller stopped it.
pub(crate) fn lift(
    cut: &mut Cutter,
    outputs: &mut [ModForm],
    n: usize,
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Vec<Equality>, (Failure, Option<Mismatch>)> {
    let mut towers = Towers::new(cut);
    if !outputs.iter().any(|o| towers.has_digits(o)) {
        return Ok(Vec::new());
    }
    let mut lift = Lift {
        towers,
        n,
        progress,
        roots: Vec::new(),
        lower: Vec::new(),
        made: FxHashMap::default(),
        renamed: FxHashMap::default(),
        equalities: FxHashSet::default(),
    };
    lift.discover(outputs).map_err(|e| (e, None))?;
    let wholes = lift.wholes()?;
    lift.make(wholes, outputs).map_err(|e| (e, None))?;
    let mut all: Vec<Equality> = lift.equalities.into_iter().collect();
    all.sort_unstable();
    Ok(all)
}

impl Lift<'_, '_> {
    /// Finds all roots and towers, from the outputs down.
    fn discover(&mut self, outputs: &[ModForm]) -> Result<(), Failure> {
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        let mut open: Vec<(Root, ModForm)> =
            outputs.iter().enumerate().map(|(k, o)| (Root::Output(k), o.clone())).collect();
        for _ in 0..STAGES {
            let known = self.towers.list.len();
            for (root, form) in std::mem::take(&mut open) {
                if self.towers.has_digits(&form) {
                    let apart = self.towers.apart(&form)?;
                    let sum = self.towers.towers(&apart)?;
                    self.roots.push((root, apart, sum));
                }
            }
            for number in known..self.towers.list.len() {
                let lower = self.below(number);
                for &v in lower.iter().filter(|v| seen.insert(**v)) {
                    let world = &self.towers.cut.world;
                    let form = world.known(v, world.q).map(|f| f.into_owned());
                    open.extend(form.map(|f| (Root::Var(v), f)));
                }
                self.lower.push(lower);
            }
            if open.is_empty() {
                return Ok(());
            }
        }
        Err("products of products of other moduli".into())
    }

    /// The variables, inputs among them, over which a tower of lower integers is linear.
    fn below(&self, number: usize) -> Vec<VarId> {
        let tower: &Tower = &self.towers.list[number];
        if !tower.lower {
            return Vec::new();
        }
        let world = &self.towers.cut.world;
        let mut all = Vec::new();
        for form in &tower.forms {
            let mut seen: FxHashSet<usize> = FxHashSet::default();
            let mut open: Vec<usize> = Vec::new();
            crate::function::each_variable(world, form, |v| open.push(v));
            while let Some(v) = open.pop() {
                if !seen.insert(v) {
                    continue;
                }
                match world.known(VarId(v as u32), form.m) {
                    Some(form) => crate::function::each_variable(world, &form, |x| open.push(x)),
                    None => all.push(VarId(v as u32)),
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The integer form of every tower.
    fn wholes(&mut self) -> Result<Vec<Whole>, (Failure, Option<Mismatch>)> {
        let count = self.towers.list.len();
        // Towers of one kind and modulus are evaluated together.
        let mut batches: FxHashMap<(u32, bool), Vec<(usize, ModForm)>> = FxHashMap::default();
        for (number, tower) in self.towers.list.iter().enumerate() {
            for form in &tower.forms {
                let batch = batches.entry((form.m, tower.lower)).or_default();
                batch.push((number, form.clone()));
            }
        }
        let mut leaves: Vec<VarId> = self.lower.concat();
        leaves.sort_unstable();
        leaves.dedup();
        let numbered: FxHashMap<VarId, u32> =
            leaves.iter().enumerate().map(|(i, &v)| (v, i as u32)).collect();
        if leaves.len() >= usize::from(u16::MAX) || self.n >= usize::from(u16::MAX) {
            return Err(("too many integers".into(), None));
        }
        // By tower: each modulus with its entries in order.
        let mut found: Vec<Vec<(u32, Vec<Entry>)>> = vec![Vec::new(); count];
        let mut keys: Vec<(u32, bool)> = batches.keys().copied().collect();
        keys.sort_unstable();
        for (m, lower) in keys {
            let batch = &batches[&(m, lower)];
            let forms: Vec<ModForm> = batch.iter().map(|b| b.1.clone()).collect();
            let world = &self.towers.cut.world;
            let all = if lower {
                Split::linear(world, m, &numbered, &forms).and_then(|s| linear(&s, &forms))
            } else {
                Split::new(world, m, self.n, &forms)
                    .and_then(|s| bilinear(&s, &forms, self.progress))
            };
            let mut all = all.map_err(|e| {
                let text = match e {
                    Mismatch::TooLarge => "has too many terms",
                    _ => "is not linear in its parts",
                };
                (format!("what should be integers modulo {m} {text}"), Some(e))
            })?;
            all.par_sort_unstable();
            let mut rest = &all[..];
            for (at, (number, _)) in batch.iter().enumerate() {
                let end = rest.partition_point(|e| e.k as usize <= at);
                found[*number].push((m, rest[..end].to_vec()));
                rest = &rest[end..];
            }
        }
        let mut inputs: [FxHashMap<u32, VarId>; 2] = Default::default();
        for (v, var) in self.towers.cut.world.vars.iter().enumerate() {
            if let Source::Input { operand, index } = var.source {
                inputs[usize::from(operand.min(1))].insert(index, VarId(v as u32));
            }
        }
        let mut wholes = Vec::with_capacity(count);
        for (number, found) in found.iter().enumerate() {
            let lower = self.towers.list[number].lower;
            let whole = whole(found, &mut |i, j| {
                if lower {
                    return Some(
                        leaves.get(usize::from(i)).map_or(Factor::Constant, |&v| Factor::One(v)),
                    );
                }
                if usize::from(i) == self.n {
                    return Some(Factor::Constant);
                }
                let of = |o: usize, i: u16| inputs[o].get(&i.into()).copied();
                Some(Factor::Two(of(0, i)?, of(1, j)?))
            });
            let whole =
                whole.ok_or(("moduli of digits with a common divisor".to_string(), None))?;
            wholes.push(whole);
        }
        Ok(wholes)
    }

    /// Makes a variable of every tower, and outputs in terms of these.
    fn make(&mut self, wholes: Vec<Whole>, outputs: &mut [ModForm]) -> Result<(), Failure> {
        let roots: FxHashMap<Root, usize> =
            self.roots.iter().enumerate().map(|(at, r)| (r.0, at)).collect();
        for at in 0..self.roots.len() {
            let form = self.root(at, &roots, &wholes)?;
            match self.roots[at].0 {
                Root::Output(k) => outputs[k] = form,
                Root::Var(v) => {
                    self.rename(v, form);
                }
            }
        }
        Ok(())
    }

    /// A root in terms of what is known modulo q.
    fn root(
        &mut self,
        at: usize,
        roots: &FxHashMap<Root, usize>,
        wholes: &[Whole],
    ) -> Result<ModForm, Failure> {
        let (_, apart, sum) = self.roots[at].clone();
        let q = self.towers.cut.world.q;
        let mut t: Vec<(AtomId, u32)> = apart.rest.into_iter().collect();
        for (number, c) in sum {
            let v = self.tower(number, roots, wholes)?;
            t.push((self.towers.cut.world.var(v).atom, c));
        }
        t.retain(|t| t.1 != 0);
        t.sort_unstable();
        Ok(ModForm { m: q, k: apart.k, t })
    }

    /// The variable that stands for a root.
    fn rename(&mut self, v: VarId, residue: ModForm) -> VarId {
        if let Some(&new) = self.renamed.get(&v) {
            return new;
        }
        let old = self.towers.cut.world.var(v).clone();
        let new = variable(self.towers.cut, Form::atom(old.atom), (old.lo, old.hi), residue);
        self.renamed.insert(v, new);
        new
    }

    /// The variable of a tower, which is an integer form over others.
    fn tower(
        &mut self,
        number: usize,
        roots: &FxHashMap<Root, usize>,
        wholes: &[Whole],
    ) -> Result<VarId, Failure> {
        if let Some(&v) = self.made.get(&number) {
            return Ok(v);
        }
        for v in self.lower[number].clone() {
            if let Some(&at) = roots.get(&Root::Var(v))
                && !self.renamed.contains_key(&v)
            {
                let form = self.root(at, roots, wholes)?;
                self.rename(v, form);
            }
        }
        let (tower, whole) = (&self.towers.list[number], &wholes[number]);
        let cut = &mut *self.towers.cut;
        let q = cut.world.q;
        let (mut lo, mut hi) = (0, 0);
        let mut residue = ModForm { m: q, k: 0, t: Vec::new() };
        for &(factor, c) in &whole.terms {
            let (l, h, atom) = match factor {
                Factor::Constant => continue,
                Factor::One(v) => {
                    let (lo, hi) = (cut.world.var(v).lo, cut.world.var(v).hi);
                    let new = self.renamed.get(&v).copied().unwrap_or(v);
                    (lo.into(), hi.into(), cut.world.var(new).atom)
                }
                Factor::Two(x, y) => {
                    let (l, h) = cut.product_interval(x, y);
                    (l, h, cut.world.product(x, y))
                }
            };
            crate::reading::widen(&mut lo, &mut hi, l, h, c);
            let c = c.rem_euclid(q.into()) as u32;
            if c != 0 {
                residue.t.push((atom, c));
            }
            if hi - lo >= 2 * tower.modulus {
                // Whatever else is added, there is room for a difference.
                break;
            }
        }
        residue.t.sort_unstable();
        let atoms = tower.digits.iter().map(|&(v, c)| (cut.world.var(v).atom, c));
        let mut form = Form { k: 0, t: atoms.collect() };
        form.t.sort_unstable();
        let read = cut.read(&form).map_err(|_| "digits without intervals")?;
        // Of the constants that are congruent, the one that brings the intervals' middles together.
        let beside = read.lo + read.hi - (lo + hi) - 2 * whole.k;
        let modulus = tower.modulus;
        let k = whole.k + modulus * (beside + modulus).div_euclid(2 * modulus);
        (lo, hi) = (lo + k, hi + k);
        residue.k = k.rem_euclid(q.into()) as u32;
        let tower = &self.towers.list[number];
        let moduli: Vec<u32> = tower.forms.iter().map(|f| f.m).collect();
        let equality = Equality { ranges: [(read.lo, read.hi), (lo, hi)], moduli };
        if !equality.holds() {
            return Err(format!(
                "digits modulo {:?} stand for an integer in [{}, {}]; what it should be lies in [{lo}, {hi}], and may differ from it by a multiple of the product {}",
                equality.moduli, read.lo, read.hi, tower.modulus
            ));
        }
        self.equalities.insert(equality);
        let range = (read.lo.max(lo), read.hi.min(hi));
        let v = variable(self.towers.cut, form, (range.0 as i64, range.1 as i64), residue);
        self.made.insert(number, v);
        Ok(v)
    }
}

impl Equality {
    /// Whether the moduli have no common divisor, and two integers of these intervals that are
    /// congruent modulo their product are equal.
    pub fn holds(&self) -> bool {
        let mut all = 1i128;
        for &m in &self.moduli {
            let common = crate::reading::gcd(all.rem_euclid(m.into()) as u64, m.into());
            match all.checked_mul(m.into()) {
                Some(product) if m > 1 && common == 1 => all = product,
                _ => return false,
            }
        }
        let [(a, b), (c, d)] = self.ranges;
        a <= b && c <= d && b - c < all && d - a < all
    }
}

/// A new variable, equal to a form over others.
fn variable(cut: &mut Cutter, form: Form, (lo, hi): (i64, i64), residue: ModForm) -> VarId {
    let (node, form) = (cut.node, Arc::new(form));
    cut.world.new_var(|_, atom| Var {
        lo,
        hi,
        source: Source::Cut { form: form.clone(), bits: 64 },
        residue,
        integer: Some(form),
        parent: None,
        node,
        atom,
    })
}

/// Entries of forms over one operand; the constant has the number n.
fn linear(split: &Split, forms: &[ModForm]) -> Result<Vec<Entry>, Mismatch> {
    fn of<W: Word>(split: &Split, forms: &[ModForm]) -> Result<Vec<Entry>, Mismatch> {
        let mut vectors = Vectors::<W>::new(split, Side::A)?;
        let mut scratch = vec![0i64; split.n + 1];
        let mut out = Vec::new();
        for (k, form) in forms.iter().enumerate() {
            let vector = vectors.vector(split, form, &mut scratch)?;
            for (i, x) in vectors.sparse(vector) {
                let c = x.rem_euclid(split.q.into()) as u32;
                out.push(Entry { k: k as u32, i, j: 0, c });
            }
            if out.len() > MOST {
                return Err(Mismatch::TooLarge);
            }
        }
        Ok(out)
    }
    if split.q < 1 << 16 { of::<i16>(split, forms) } else { of::<i32>(split, forms) }
}

/// Entries of forms over products of the operands' elements.
fn bilinear(
    split: &Split,
    forms: &[ModForm],
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Vec<Entry>, Mismatch> {
    if let Some(all) = hankel::coefficients(split, forms, MOST, progress) {
        return all;
    }
    if split.q < 1 << 16 {
        Check::<i16>::new(split, forms)?.coefficients(MOST, progress)
    } else {
        Check::<i32>::new(split, forms)?.coefficients(MOST, progress)
    }
}

/// The integer form with the least coefficients that is congruent to all of these; [`None`] where
/// moduli have a common divisor, or an entry no atom.
fn whole(
    found: &[(u32, Vec<Entry>)],
    factor: &mut dyn FnMut(u16, u16) -> Option<Factor>,
) -> Option<Whole> {
    let mut out = Whole { terms: Vec::new(), k: 0 };
    let mut at = vec![0; found.len()];
    loop {
        let heads = found.iter().zip(&at).filter_map(|(f, &at)| f.1.get(at));
        let Some((i, j)) = heads.map(|e| (e.i, e.j)).min() else { return Some(out) };
        let mut residues = Vec::with_capacity(found.len());
        for ((m, entries), at) in found.iter().zip(&mut at) {
            let here = entries.get(*at).filter(|e| (e.i, e.j) == (i, j));
            residues.push((here.map_or(0, |e| i128::from(e.c)), *m));
            *at += usize::from(here.is_some());
        }
        let c = chinese(&residues)?;
        match factor(i, j)? {
            Factor::Constant => out.k += c,
            factor => out.terms.push((factor, c)),
        }
    }
}
