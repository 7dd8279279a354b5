//! Integers known by their mixed-radix digits, each digit modulo a number of its own.
//!
//! If a product goes through moduli other than the contract's, the outputs are linear modulo q in
//! *digits*. A digit is a variable whose residue is known modulo some p. In every other modulus the
//! digit is known only as the integer that it is. A digit may depend on others, as Garner's
//! `u_2 = (r_2 − u_1)/p_1 mod p_2` does.
//!
//! A *reconstruction* is a digit on which no other depends, together with all digits that it
//! depends on. Each digit has an integer factor, as in u_1 + p_1·u_2 + p_1·p_2·u_3. Modulo each p
//! the digits of the other moduli cancel. Nothing states the factors: this cancellation decides all
//! of them ([`Reconstructions::reconstruction`]). [`crate::integers`] finds which integer a
//! reconstruction is.

use crate::cut::Cutter;
use crate::values::{Atom, AtomId, Form, ModForm, Source, VarId, World};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// Numbers that the reconstructions' integers are known modulo lie below this.
const LARGEST: i128 = 1 << 62;
/// Digits that one value depends on at most.
const DIGITS: usize = 1 << 12;

/// What is below a variable, modulo some number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Below {
    /// A digit, which may be the variable itself.
    digits: bool,
    /// A variable that is known modulo q, taken as the integer that it is.
    lower: bool,
}

/// A form taken apart: digits, and what no digit is below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Apart {
    pub k: u32,
    pub rest: BTreeMap<AtomId, u32>,
    pub digits: BTreeMap<VarId, u32>,
    /// The digits that are sums of digits, and were replaced by these.
    pub split: BTreeMap<VarId, u32>,
}

/// Digits with integer factors.
#[derive(Clone, Debug)]
pub(crate) struct Reconstruction {
    /// All digits with their factors.
    pub digits: Vec<(VarId, i64)>,
    /// Its residue modulo each of its moduli, which are pairwise coprime. With each residue come
    /// the digits that were split to find it.
    pub forms: Vec<(ModForm, BTreeMap<VarId, u32>)>,
    /// Whether it depends on variables other than inputs that are integers known modulo q.
    pub lower: bool,
}

/// The digits that add up to a digit, with factors; [`None`] if it is not a sum of several.
pub(crate) type Parts = Option<Arc<Vec<(VarId, i64)>>>;

/// Integers as multiples of reconstructions, modulo q.
pub(crate) type Multiples = Vec<(usize, u32)>;

/// All that is known of digits.
pub(crate) struct Reconstructions<'c> {
    pub cut: &'c mut Cutter,
    below: FxHashMap<u32, Vec<Below>>,
    /// Digits that are sums of digits.
    split: FxHashMap<VarId, Parts>,
    /// Digits split after unfolding ([`Reconstructions::spelled`]).
    spelled: FxHashMap<VarId, Parts>,
    foreign: FxHashMap<VarId, Arc<Apart>>,
    /// Integers that modulo a number are sums of products of digits: digits themselves.
    products: FxHashSet<(VarId, u32)>,
    /// What such a digit is modulo the number that its factors are known in.
    own: FxHashMap<VarId, ModForm>,
    pub list: Vec<Reconstruction>,
    of: FxHashMap<VarId, usize>,
}

/// Why an output is not understood.
pub(crate) type Failure = String;

impl<'c> Reconstructions<'c> {
    pub fn new(cut: &'c mut Cutter) -> Reconstructions<'c> {
        Reconstructions {
            cut,
            below: FxHashMap::default(),
            split: FxHashMap::default(),
            spelled: FxHashMap::default(),
            foreign: FxHashMap::default(),
            products: FxHashSet::default(),
            own: FxHashMap::default(),
            list: Vec::new(),
            of: FxHashMap::default(),
        }
    }

    /// What is below v modulo m.
    fn below(&mut self, v: VarId, m: u32) -> Below {
        let world = &self.cut.world;
        let all = self.below.entry(m).or_default();
        while all.len() <= v.0 as usize {
            let x = VarId(all.len() as u32);
            let mut below = Below::default();
            if let Some(form) = world.known(x, m) {
                crate::function::each_variable(world, &form, |y| {
                    below.digits |= all[y].digits;
                    below.lower |= all[y].lower;
                });
                let product = |t: &(AtomId, u32)| match world.atoms[t.0 as usize] {
                    Atom::Prod(x, y) => [x, y].iter().any(|x| all[x.0 as usize].digits),
                    _ => false,
                };
                if form.t.iter().any(product) {
                    self.products.insert((x, m));
                }
            } else if matches!(world.var(x).source, Source::Cut { .. }) {
                below.lower = m != world.q && known_to_q(world, x);
                below.digits = !below.lower;
            }
            all.push(below);
        }
        all[v.0 as usize]
    }

    /// Whether a form has digits below it.
    pub fn has_digits(&mut self, form: &ModForm) -> bool {
        variables(&self.cut.world, form).into_iter().any(|v| self.below(v, form.m).digits)
    }

    /// Whether a form has integers below it that are known modulo q.
    fn has_lower(&mut self, form: &ModForm) -> bool {
        variables(&self.cut.world, form).into_iter().any(|v| self.below(v, form.m).lower)
    }

    /// A form in terms of digits and of what has no digits below it.
    pub fn apart(&mut self, form: &ModForm) -> Result<Apart, Failure> {
        let m = u64::from(form.m);
        let mut out = Apart { k: form.k, ..Apart::default() };
        let mut open: BTreeMap<AtomId, u64> = BTreeMap::new();
        open.extend(form.t.iter().map(|&(a, c)| (a, u64::from(c))));
        // An atom is younger than what it stands for, but for parts of digits, which are digits.
        while let Some((a, c)) = open.pop_last() {
            if c == 0 {
                continue;
            }
            let v = match self.cut.world.atoms[a as usize] {
                Atom::Var(v) => v,
                Atom::Prod(x, y) => {
                    if self.below(x, form.m).digits || self.below(y, form.m).digits {
                        return Err("a digit of another modulus is multiplied".into());
                    }
                    add(&mut out.rest, a, c, m);
                    continue;
                }
                _ => return Err("a residue of something that is no variable".into()),
            };
            if !self.below(v, form.m).digits {
                add(&mut out.rest, a, c, m);
                continue;
            }
            if self.products.contains(&(v, form.m)) {
                self.own(v, form.m)?;
                add(&mut out.digits, v, c, m);
            } else if let Some(known) = self.cut.world.known(v, form.m) {
                out.k = ((u64::from(out.k) + c * u64::from(known.k)) % m) as u32;
                for &(b, d) in &known.t {
                    let x = open.entry(b).or_default();
                    *x = (*x + c * u64::from(d)) % m;
                }
            } else if let Some(parts) = self.parts(v) {
                add(&mut out.split, v, c, m);
                for &(part, factor) in parts.iter() {
                    let atom = self.cut.world.var(part).atom;
                    let factor = i128::from(factor).rem_euclid(m.into()) as u64;
                    let x = open.entry(atom).or_default();
                    *x = (*x + c * factor) % m;
                }
            } else {
                add(&mut out.digits, v, c, m);
            }
            if open.len() + out.digits.len() > DIGITS {
                return Err("an output depends on too many digits of other moduli".into());
            }
        }
        out.rest.retain(|_, c| *c != 0);
        out.digits.retain(|_, c| *c != 0);
        Ok(out)
    }

    /// Splits a variable into the digits that it is a sum of, if there are several.
    pub fn parts(&mut self, v: VarId) -> Parts {
        if let Some(parts) = self.split.get(&v) {
            return parts.clone();
        }
        let parts = match self.cut.world.var(v).source.clone() {
            Source::Cut { form, bits: 64 } if form.k == 0 => self.sum_of(v, &form),
            _ => None,
        };
        self.split.insert(v, parts.clone());
        parts
    }

    /// Splits a digit as [`Self::parts`] does, but first unfolds the variables in its sum once. If
    /// the digit is `x + f(x)` with x = u + u', its parts are u, u' and f(x).
    pub fn spelled(&mut self, v: VarId) -> Parts {
        if let Some(parts) = self.spelled.get(&v) {
            return parts.clone();
        }
        let parts = match self.cut.world.var(v).source.clone() {
            Source::Cut { form, bits: 64 } if form.k == 0 => {
                let mut out = (*form).clone();
                for &(a, c) in &form.t {
                    if let Atom::Var(x) = self.cut.world.atoms[a as usize]
                        && let Source::Cut { form: of, bits: 64 } = &self.cut.world.var(x).source
                    {
                        let rest = Form::combine(&out, 1, &Form::atom(a), -c, 64);
                        out = Form::combine(&rest, 1, of, c, 64);
                    }
                }
                if out == *form { None } else { self.sum_of(v, &out) }
            }
            _ => None,
        };
        self.spelled.insert(v, parts.clone());
        parts
    }

    /// A form as a sum of several digits, none of them v.
    fn sum_of(&mut self, v: VarId, form: &Form) -> Parts {
        let apart = self.cut.apart(form).filter(|f| f.k == 0 && f.t.len() > 1)?;
        let part = |&(a, c): &(AtomId, i64)| match self.cut.world.atoms[a as usize] {
            Atom::Var(x) if x != v => Some((x, c)),
            _ => None,
        };
        apart.t.iter().map(part).collect::<Option<Vec<_>>>().map(Arc::new)
    }

    /// What a digit is modulo its own modulus, with the digits of other moduli on which it depends.
    fn foreign(&mut self, v: VarId) -> Result<Arc<Apart>, Failure> {
        if let Some(known) = self.foreign.get(&v) {
            return Ok(known.clone());
        }
        let own = self.own.get(&v).cloned();
        let residue = own.unwrap_or_else(|| self.cut.world.var(v).residue.clone());
        if residue.m < 2 {
            return Err("an output depends on a value that is known in no modulus".into());
        }
        let apart = Arc::new(self.apart(&residue)?);
        self.foreign.insert(v, apart.clone());
        Ok(apart)
    }

    /// Finds the residue of a sum of products of digits, modulo the number in which these digits
    /// are known.
    ///
    /// A product with a digit, such as an operand's residue, says nothing modulo `m`. But the sum
    /// may fit its word unreduced, as it does with a small operand. Then it is that integer form in
    /// any modulus, and so a digit for the modulus of its factors.
    fn own(&mut self, v: VarId, m: u32) -> Result<(), Failure> {
        if self.own.contains_key(&v) {
            return Ok(());
        }
        let mut at = v;
        while let Some(form) = self.cut.world.known(at, m).map(|f| f.into_owned()) {
            let all = variables(&self.cut.world, &form);
            let next = all.into_iter().find(|&x| self.below(x, m).digits);
            at = next.ok_or("a product of digits that are none")?;
        }
        let p = self.cut.world.var(at).residue.m;
        let form = self.cut.world.known(v, p).filter(|_| p >= 2 && p != m);
        let form = form.ok_or("a digit of another modulus is multiplied")?.into_owned();
        self.own.insert(v, form);
        Ok(())
    }

    /// The modulus in which a digit is known.
    fn modulus_of(&self, v: VarId) -> u32 {
        self.own.get(&v).map_or_else(|| self.cut.world.var(v).residue.m, |form| form.m)
    }

    /// Finds the reconstruction with this top digit, and returns its number in the list.
    ///
    /// Let p_1, …, p_m be the moduli in an order in which digits depend only on earlier ones. The
    /// factor of the top digit is p_1·…·p_(m−1). The other factors follow from the top down. Each
    /// is a multiple of the moduli before the digit's own. Modulo each later modulus it makes the
    /// digit cancel.
    fn reconstruction(&mut self, top: VarId) -> Result<usize, Failure> {
        if let Some(&number) = self.of.get(&top) {
            return Ok(number);
        }
        let mut known: BTreeMap<VarId, Arc<Apart>> = BTreeMap::new();
        let mut open = vec![top];
        while let Some(v) = open.pop() {
            if let Entry::Vacant(entry) = known.entry(v) {
                let apart = self.foreign(v)?;
                open.extend(apart.digits.keys());
                entry.insert(apart);
            }
        }
        let modulus_of = |v: &VarId| self.modulus_of(*v);
        let moduli = order(&known, &modulus_of, modulus_of(&top))?;
        let modulus = moduli.iter().try_fold(1i128, |all, &p| all.checked_mul(p.into()));
        let Some(modulus) = modulus.filter(|m| *m < LARGEST) else {
            return Err("digits of too many moduli".into());
        };
        // From the last modulus on; what each digit's factor should be modulo those behind its own.
        let mut wanted: FxHashMap<VarId, BTreeMap<u32, i128>> = FxHashMap::default();
        let mut digits: Vec<(VarId, i64)> = Vec::new();
        let mut before = modulus;
        for &p in moduli.iter().rev() {
            before /= i128::from(p);
            for (&v, apart) in known.iter().filter(|(v, _)| modulus_of(v) == p) {
                let factor = if v == top {
                    before
                } else {
                    // before·s, where s is decided by the moduli behind.
                    let wanted = wanted.remove(&v).unwrap_or_default();
                    let after: Vec<u32> =
                        moduli.iter().rev().copied().take_while(|&x| x != p).collect();
                    let s = after.iter().map(|&m| {
                        let inverse = inverse(before, m)?;
                        let r = wanted.get(&m).copied().unwrap_or(0).rem_euclid(m.into());
                        Some((r * i128::from(inverse) % i128::from(m), m))
                    });
                    let s: Option<Vec<(i128, u32)>> = s.collect();
                    let s = s.and_then(|s| chinese(&s)).ok_or("moduli with a common divisor")?;
                    before
                        .checked_mul(s)
                        .filter(|f| f.abs() < LARGEST)
                        .ok_or("factors of digits")?
                };
                for (&x, &c) in &apart.digits {
                    let sum = wanted.entry(x).or_default().entry(p).or_default();
                    *sum = (*sum - factor.rem_euclid(p.into()) * i128::from(c)) % i128::from(p);
                }
                if factor != 0 {
                    digits.push((v, factor as i64));
                }
            }
        }
        digits.sort_unstable();
        let forms = moduli
            .iter()
            .map(|&p| self.cancelled(&digits, &known, p))
            .collect::<Result<Vec<_>, _>>()?;
        let mut lower = false;
        for (form, _) in &forms {
            lower |= self.has_lower(form);
        }
        self.list.push(Reconstruction { digits, forms, lower });
        self.of.insert(top, self.list.len() - 1);
        Ok(self.list.len() - 1)
    }

    /// Adds digits with factors modulo p. It is an error if a digit of another modulus does not
    /// cancel.
    fn cancelled(
        &self,
        digits: &[(VarId, i64)],
        known: &BTreeMap<VarId, Arc<Apart>>,
        p: u32,
    ) -> Result<(ModForm, BTreeMap<VarId, u32>), Failure> {
        let m = u64::from(p);
        let mut all = Apart::default();
        for &(v, factor) in digits {
            let factor = i128::from(factor).rem_euclid(p.into()) as u64;
            if self.modulus_of(v) != p {
                add(&mut all.digits, v, factor, m);
                continue;
            }
            let apart = &known[&v];
            all.k = ((u64::from(all.k) + factor * u64::from(apart.k)) % m) as u32;
            for (&a, &c) in &apart.rest {
                add(&mut all.rest, a, factor * u64::from(c), m);
            }
            for (&x, &c) in &apart.digits {
                add(&mut all.digits, x, factor * u64::from(c), m);
            }
            for (&x, &c) in &apart.split {
                add(&mut all.split, x, factor * u64::from(c), m);
            }
        }
        if all.digits.values().any(|&c| c != 0) {
            return Err(format!("a digit of another modulus does not cancel modulo {p}"));
        }
        let t = all.rest.into_iter().filter(|t| t.1 != 0).collect();
        Ok((ModForm { m: p, k: all.k, t }, all.split))
    }

    /// Writes the digits of a form modulo q as multiples of reconstructions. Also returns the
    /// digits that had to be unfolded for this, with their factors.
    pub fn reconstructions(
        &mut self,
        apart: &Apart,
    ) -> Result<(Multiples, BTreeMap<VarId, u32>), Failure> {
        let mut left = apart.digits.clone();
        let mut out = Vec::new();
        // Tops: digits on which none of the others depends.
        let mut inner: FxHashSet<VarId> = FxHashSet::default();
        let mut high: Vec<VarId> = Vec::new();
        for &v in apart.digits.keys() {
            let foreign = self.foreign(v)?;
            inner.extend(foreign.digits.keys());
            high.extend((!foreign.digits.is_empty()).then_some(v));
        }
        for v in high {
            if !inner.contains(&v) {
                self.take(v, &mut left, &mut out)?;
            }
        }
        let spelled = self.spell(&mut left, &inner).ok_or(
            "the digits of an output do not add up to the integers that they are digits of",
        )?;
        // What is left stands on no other digit.
        while let Some((&v, _)) = left.iter().find(|d| *d.1 != 0) {
            self.take(v, &mut left, &mut out)?;
        }
        Ok((out, spelled))
    }

    /// Subtracts from a sum of digits modulo q the multiple of a reconstruction that removes its
    /// top digit.
    fn take(
        &mut self,
        top: VarId,
        left: &mut BTreeMap<VarId, u32>,
        out: &mut Multiples,
    ) -> Result<(), Failure> {
        let q = u64::from(self.cut.world.q);
        let number = self.reconstruction(top)?;
        let digits = &self.list[number].digits;
        let factor = |c: i64| i128::from(c).rem_euclid(q.into()) as u64;
        let own = digits.iter().find(|d| d.0 == top).map_or(0, |d| factor(d.1));
        let inverse = ringforge_ring::zq::inv(own, q)
            .ok_or("a digit's weight has a common divisor with q")?;
        let times = u64::from(left.get(&top).copied().unwrap_or(0)) * inverse % q;
        for &(x, c) in digits {
            add(left, x, q - times * factor(c) % q, q);
        }
        out.push((number, times as u32));
        Ok(())
    }

    /// Unfolds digits until no `inner` digit is left in a sum modulo q, and returns the unfolded
    /// digits with their factors. When sums of sums are added, some terms cancel. What is left is
    /// then a different sum from the one that is the digit of a reconstruction.
    fn spell(
        &mut self,
        left: &mut BTreeMap<VarId, u32>,
        inner: &FxHashSet<VarId>,
    ) -> Option<BTreeMap<VarId, u32>> {
        let q = u64::from(self.cut.world.q);
        let mut all = BTreeMap::new();
        loop {
            left.retain(|_, c| *c != 0);
            if !left.keys().any(|v| inner.contains(v)) {
                return Some(all);
            }
            // Each once, so that it ends.
            let open: Vec<VarId> = left.keys().filter(|v| !all.contains_key(*v)).copied().collect();
            let (v, parts) = open.into_iter().rev().find_map(|v| Some((v, self.spelled(v)?)))?;
            let c = left.remove(&v)?;
            for &(part, factor) in parts.iter() {
                let factor = i128::from(factor).rem_euclid(q.into()) as u64;
                add(left, part, u64::from(c) * factor % q, q);
            }
            all.insert(v, c);
            if left.len() > DIGITS {
                return None;
            }
        }
    }
}

/// Whether a variable is known modulo q.
fn known_to_q(world: &World, v: VarId) -> bool {
    world.known(v, world.q).is_some_and(|f| !f.t.is_empty())
}

fn variables(world: &World, form: &ModForm) -> Vec<VarId> {
    let mut all = Vec::new();
    crate::function::each_variable(world, form, |v| all.push(VarId(v as u32)));
    all
}

fn add<K: Ord>(to: &mut BTreeMap<K, u32>, key: K, c: u64, m: u64) {
    let x = to.entry(key).or_default();
    *x = ((u64::from(*x) + c) % m) as u32;
}

/// Orders the moduli of digits: each comes before those whose digits depend on its own, and `last`
/// comes last.
fn order(
    known: &BTreeMap<VarId, Arc<Apart>>,
    modulus_of: &dyn Fn(&VarId) -> u32,
    last: u32,
) -> Result<Vec<u32>, Failure> {
    let mut left: Vec<u32> = known.keys().map(modulus_of).collect();
    left.sort_unstable();
    left.dedup();
    let mut moduli = Vec::new();
    while !left.is_empty() {
        let free = |p: &u32| {
            known
                .iter()
                .filter(|(v, _)| modulus_of(v) == *p)
                .all(|(_, apart)| apart.digits.keys().all(|x| !left.contains(&modulus_of(x))))
        };
        let mut next: Vec<u32> = left.iter().copied().filter(|p| free(p)).collect();
        next.retain(|&p| p != last || left.len() == 1);
        let Some(&p) = next.first() else {
            return Err("digits of two moduli depend on each other".into());
        };
        left.retain(|&x| x != p);
        moduli.push(p);
    }
    Ok(moduli)
}

/// 1/a modulo m.
fn inverse(a: i128, m: u32) -> Option<u32> {
    let a = a.rem_euclid(m.into()) as u64;
    ringforge_ring::zq::inv(a, m.into()).map(|x| x as u32)
}

/// The integer of least magnitude with these residues in `[0, m)`, for pairwise coprime moduli m.
fn chinese(residues: &[(i128, u32)]) -> Option<i128> {
    let (mut x, mut all) = (0i128, 1i128);
    for &(r, m) in residues {
        let step = (r - x).rem_euclid(m.into()) * i128::from(inverse(all, m)?);
        x += all * (step % i128::from(m));
        all *= i128::from(m);
    }
    Some(if 2 * x > all { x - all } else { x })
}
