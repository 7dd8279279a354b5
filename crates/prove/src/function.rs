//! What the outputs are, compared with the ring product for *all* pairs of basis vectors.
//!
//! Every output is bi-affine in the two operands modulo q (checked first), so it is the product
//! everywhere once it agrees for b = 0 and for b = e_j, all j, as an affine function of a. With b
//! fixed every variable is a vector of coefficients over a's elements and a constant.

use crate::values::{Atom, AtomId, ModForm, Source, VarId, World};
use rayon::prelude::*;
use ringforge_ring::Ring;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Why the outputs are not what they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// For a = e_i (or 0), b = e_j (or 0) output k is congruent to `found`, not `expected`.
    Coefficient {
        /// Basis vector of a; none: the part that does not depend on a.
        i: Option<usize>,
        /// Basis vector of b; none: b = 0.
        j: Option<usize>,
        /// Output element.
        k: usize,
        /// Residue found.
        found: u32,
        /// Residue expected.
        expected: u32,
    },
    /// Not bilinear: a product of two values that depend on the same operand.
    NotBilinear {
        /// The product's atom.
        product: AtomId,
    },
    /// Stopped.
    Cancelled,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    None,
    A,
    B,
    Both,
}

/// A variable of the b side: its number, constant and terms.
type Scalar = (u32, u32, Vec<(u32, u32)>);

/// A term of a variable that depends on both operands.
#[derive(Clone, Copy)]
enum Term {
    /// Coefficient times a later variable's vector.
    Late(u32, u32),
    /// Coefficient times b-side scalar times a-side vector.
    Product(u32, u32, u32),
    /// Coefficient times a-side vector.
    Early(u32, u32),
    /// Coefficient times b-side scalar.
    Scalar(u32, u32),
}

/// A sparse vector: indices (a's elements, then one for the constant) by support, values dense.
#[derive(Clone, Copy, Default)]
struct Sparse {
    support: u32,
    start: u32,
    len: u32,
}

#[derive(Default, Clone)]
struct Supports {
    lists: Vec<std::sync::Arc<[u16]>>,
    index: FxHashMap<std::sync::Arc<[u16]>, u32>,
    unions: FxHashMap<(u32, u32), u32>,
    places: FxHashMap<(u32, u32), std::sync::Arc<[u16]>>,
}

impl Supports {
    fn intern(&mut self, list: Vec<u16>) -> u32 {
        let list: std::sync::Arc<[u16]> = list.into();
        if let Some(&id) = self.index.get(&list) {
            return id;
        }
        let id = self.lists.len() as u32;
        self.index.insert(list.clone(), id);
        self.lists.push(list);
        id
    }
    fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == b {
            return a;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&u) = self.unions.get(&key) {
            return u;
        }
        let mut all: Vec<u16> =
            self.lists[a as usize].iter().chain(self.lists[b as usize].iter()).copied().collect();
        all.sort_unstable();
        all.dedup();
        let u = self.intern(all);
        self.unions.insert(key, u);
        u
    }
    /// Where the elements of `sub` stand in `all`.
    fn places(&mut self, sub: u32, all: u32) -> std::sync::Arc<[u16]> {
        if let Some(p) = self.places.get(&(sub, all)) {
            return p.clone();
        }
        let whole = &self.lists[all as usize];
        let p: std::sync::Arc<[u16]> = self.lists[sub as usize]
            .iter()
            .map(|i| whole.binary_search(i).unwrap_or(0) as u16)
            .collect();
        self.places.insert((sub, all), p.clone());
        p
    }
}

/// The outputs prepared for evaluation.
pub struct Check<'w> {
    world: &'w World,
    q: u32,
    n: usize,
    /// Variables of one side, in order, with their terms over that side's variables.
    b_vars: Vec<Scalar>,
    b_inputs: Vec<(u32, u32)>,
    late: Vec<(u32, u32, Vec<Term>)>,
    outputs: Vec<(u32, Vec<Term>)>,
    early: Vec<Sparse>,
    early_values: Vec<i16>,
    inverse: f64,
    /// Products of centred residues that a 32-bit accumulator holds.
    room: usize,
    supports: Supports,
}

/// Counts for the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckStats {
    /// Variables that depend on one operand.
    pub early: usize,
    /// Variables that depend on both.
    pub late: usize,
    /// Multiplications of an element of a with one of b, after the tool's own grouping.
    pub products: usize,
    /// Linear terms.
    pub terms: usize,
}

impl<'w> Check<'w> {
    /// Prepares `outputs` for operands of n elements.
    ///
    /// # Errors
    /// If they are not bi-affine.
    pub fn new(
        world: &'w World,
        n: usize,
        outputs: &[ModForm],
    ) -> Result<(Check<'w>, CheckStats), Mismatch> {
        let q = world.q;
        let count = world.vars.len();
        let mut needed = vec![false; count];
        let mark = |needed: &mut Vec<bool>, f: &ModForm| {
            for &(a, _) in &f.t {
                match world.atoms[a as usize] {
                    Atom::Var(v) => needed[v.0 as usize] = true,
                    Atom::Prod(x, y) => {
                        needed[x.0 as usize] = true;
                        needed[y.0 as usize] = true;
                    }
                    _ => {}
                }
            }
        };
        for o in outputs {
            mark(&mut needed, o);
        }
        for v in (0..count).rev() {
            if needed[v] {
                mark(&mut needed, &world.vars[v].residue);
            }
        }
        let mut side = vec![Side::None; count];
        let join = |s: Side, t: Side| match (s, t) {
            (Side::None, x) | (x, Side::None) => x,
            (x, y) if x == y => x,
            _ => Side::Both,
        };
        let mut stats = CheckStats::default();
        let mut products = rustc_hash::FxHashSet::default();
        let mut side_of = |f: &ModForm, side: &[Side]| -> Result<Side, Mismatch> {
            let mut s = Side::None;
            for &(a, _) in &f.t {
                let t = match world.atoms[a as usize] {
                    Atom::Var(v) => side[v.0 as usize],
                    Atom::Prod(x, y) => {
                        products.insert(a);
                        match (side[x.0 as usize], side[y.0 as usize]) {
                            (Side::None, t) | (t, Side::None) => t,
                            (Side::A, Side::B) | (Side::B, Side::A) => Side::Both,
                            _ => return Err(Mismatch::NotBilinear { product: a }),
                        }
                    }
                    _ => Side::None,
                };
                s = join(s, t);
            }
            Ok(s)
        };
        let mut this = Check {
            world,
            q,
            n,
            b_vars: Vec::new(),
            b_inputs: Vec::new(),
            late: Vec::new(),
            outputs: Vec::new(),
            early: vec![Sparse::default(); count],
            early_values: Vec::new(),
            inverse: 1.0 / f64::from(q),
            room: ((1u64 << 31) / (u64::from(q / 2 + 1) * u64::from(q / 2 + 1)) - 1) as usize,
            supports: Supports::default(),
        };
        this.supports.intern(Vec::new());
        for v in (0..count).filter(|&v| needed[v]) {
            let var = &world.vars[v];
            if let Source::Input { operand, index } = var.source {
                if operand == 0 {
                    side[v] = Side::A;
                    let support = this.supports.intern(vec![index as u16]);
                    let start = this.early_values.len() as u32;
                    this.early_values.push(1);
                    this.early[v] = Sparse { support, start, len: 1 };
                } else {
                    side[v] = Side::B;
                    this.b_inputs.push((v as u32, index));
                }
                stats.early += 1;
                continue;
            }
            side[v] = side_of(&var.residue, &side)?;
            stats.terms += var.residue.t.len();
            // A constant counts for both sides.
            if matches!(side[v], Side::A | Side::None) {
                this.early[v] = this.early_vector(&var.residue, &side)?;
            }
            if matches!(side[v], Side::B | Side::None) {
                let terms = this.b_terms(&var.residue)?;
                this.b_vars.push((v as u32, var.residue.k, terms));
            }
            if side[v] == Side::Both {
                let terms = this.terms(&var.residue, &side)?;
                this.late.push((v as u32, var.residue.k, terms));
                stats.late += 1;
            } else {
                stats.early += 1;
            }
        }
        for o in outputs {
            side_of(o, &side)?;
            stats.terms += o.t.len();
            let terms = this.terms(o, &side)?;
            this.outputs.push((o.k, terms));
        }
        stats.products = products.len();
        Ok((this, stats))
    }

    fn centred(&self, x: u32) -> i16 {
        (if x > self.q / 2 { x as i32 - self.q as i32 } else { x as i32 }) as i16
    }

    /// Products with a constant variable are outside what is handled.
    fn b_terms(&self, f: &ModForm) -> Result<Vec<(u32, u32)>, Mismatch> {
        f.t.iter()
            .map(|&(a, c)| match self.world.atoms[a as usize] {
                Atom::Var(v) => Ok((v.0, c)),
                _ => Err(Mismatch::NotBilinear { product: a }),
            })
            .collect()
    }

    fn terms(&self, f: &ModForm, side: &[Side]) -> Result<Vec<Term>, Mismatch> {
        f.t.iter()
            .map(|&(a, c)| match self.world.atoms[a as usize] {
                Atom::Var(v) => Ok(match side[v.0 as usize] {
                    Side::Both => Term::Late(v.0, c),
                    Side::B => Term::Scalar(v.0, c),
                    Side::A | Side::None => Term::Early(v.0, c),
                }),
                Atom::Prod(x, y) => match (side[x.0 as usize], side[y.0 as usize]) {
                    (Side::A, Side::B) => Ok(Term::Product(x.0, y.0, c)),
                    (Side::B, Side::A) => Ok(Term::Product(y.0, x.0, c)),
                    _ => Err(Mismatch::NotBilinear { product: a }),
                },
                _ => Err(Mismatch::NotBilinear { product: a }),
            })
            .collect()
    }

    fn early_vector(&mut self, f: &ModForm, side: &[Side]) -> Result<Sparse, Mismatch> {
        let mut acc = vec![0i64; self.n + 1];
        acc[self.n] = f.k.into();
        for &(a, c) in &f.t {
            let Atom::Var(VarId(v)) = self.world.atoms[a as usize] else {
                return Err(Mismatch::NotBilinear { product: a });
            };
            debug_assert!(matches!(side[v as usize], Side::A | Side::None));
            let s = self.early[v as usize];
            let values = &self.early_values[s.start as usize..][..s.len as usize];
            for (i, x) in self.supports.lists[s.support as usize].iter().zip(values) {
                acc[*i as usize] += i64::from(c) * i64::from(*x);
            }
        }
        let (mut list, start) = (Vec::new(), self.early_values.len() as u32);
        for (i, x) in acc.iter().enumerate() {
            let x = x.rem_euclid(i64::from(self.q)) as u32;
            if x != 0 {
                list.push(i as u16);
                self.early_values.push(self.centred(x));
            }
        }
        let len = list.len() as u32;
        Ok(Sparse { support: self.supports.intern(list), start, len })
    }

    /// Compares with the product in `ring`, all b = e_j and b = 0, in parallel.
    ///
    /// # Errors
    /// The first mismatch that was met.
    pub fn product(
        &self,
        ring: &Ring,
        progress: &(dyn Fn(f64) -> bool + Sync),
    ) -> Result<(), Mismatch> {
        let n = self.n;
        // x^m mod f for m up to 2n - 2, by shifting.
        let f = ring.modulus();
        let q = i64::from(self.q);
        let mut row = vec![0i64; n];
        row[0] = 1;
        let mut powers: Vec<Vec<(u16, u32)>> = Vec::with_capacity(2 * n);
        for _ in 0..2 * n - 1 {
            let sparse = row.iter().enumerate().filter(|x| *x.1 != 0);
            powers.push(sparse.map(|(k, &c)| (k as u16, c as u32)).collect());
            let top = row[n - 1];
            for k in (0..n).rev() {
                let below = if k > 0 { row[k - 1] } else { 0 };
                row[k] = (below - top * f[k]).rem_euclid(q);
            }
        }
        let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        (0..=n)
            .into_par_iter()
            .map_init(
                || Scratch::new(self),
                |scratch, j| {
                    if stop.load(Ordering::Relaxed) {
                        return Err(Mismatch::Cancelled);
                    }
                    let j = (j < n).then_some(j);
                    let result = self.column(scratch, &powers, j);
                    let d = done.fetch_add(1, Ordering::Relaxed);
                    if d % 8 == 0 && !progress(d as f64 / (n + 1) as f64) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    result
                },
            )
            .reduce_with(|x, y| match (x, y) {
                (Err(Mismatch::Cancelled), y) => y.and(Err(Mismatch::Cancelled)),
                (Err(e), _) => Err(e),
                (Ok(()), y) => y,
            })
            .unwrap_or(Ok(()))
    }

    fn column(
        &self,
        s: &mut Scratch,
        powers: &[Vec<(u16, u32)>],
        j: Option<usize>,
    ) -> Result<(), Mismatch> {
        let n = self.n;
        let q = u64::from(self.q);
        for &(v, index) in &self.b_inputs {
            s.scalars[v as usize] = u32::from(j == Some(index as usize));
        }
        for (v, k, terms) in &self.b_vars {
            let mut acc = u64::from(*k);
            for &(x, c) in terms {
                acc += u64::from(c) * u64::from(s.scalars[x as usize]);
            }
            s.scalars[*v as usize] = (acc % q) as u32;
        }
        s.values.clear();
        for (v, k, terms) in &self.late {
            s.vectors[*v as usize] = self.combine(s, *k, terms);
        }
        for e in &mut s.expected {
            e.clear();
        }
        if let Some(j) = j {
            for i in 0..n {
                for &(k, c) in &powers[i + j] {
                    s.expected[k as usize].push((i as u16, c));
                }
            }
        }
        let keep = s.values.len();
        for (k, (constant, terms)) in self.outputs.iter().enumerate() {
            s.values.truncate(keep);
            let out = self.combine(s, *constant, terms);
            let list = &s.supports.lists[out.support as usize];
            let values = &s.values[out.start as usize..][..out.len as usize];
            let mut expected = s.expected[k].iter().copied().peekable();
            let wrong = |i: u16, found: u32, expected: u32| Mismatch::Coefficient {
                i: (usize::from(i) < n).then_some(i.into()),
                j,
                k,
                found,
                expected,
            };
            for (&i, &x) in list.iter().zip(values) {
                let x = i64::from(x).rem_euclid(q as i64) as u32;
                if let Some(&(e, c)) = expected.peek()
                    && e < i
                {
                    return Err(wrong(e, 0, c));
                }
                let want = match expected.peek() {
                    Some(&(e, c)) if e == i => {
                        expected.next();
                        c
                    }
                    _ => 0,
                };
                if want != x {
                    return Err(wrong(i, x, want));
                }
            }
            if let Some((e, c)) = expected.next() {
                return Err(wrong(e, 0, c));
            }
        }
        Ok(())
    }

    fn combine(&self, s: &mut Scratch, k: u32, terms: &[Term]) -> Sparse {
        let q = u64::from(self.q);
        s.parts.clear();
        let (mut constant, mut support) = (u64::from(k), 0);
        for t in terms {
            let (c, early, x) = match *t {
                Term::Product(x, y, c) => {
                    let y = s.scalars[y as usize];
                    if y == 0 {
                        continue;
                    }
                    ((u64::from(c) * u64::from(y) % q) as u32, true, self.early[x as usize])
                }
                Term::Late(x, c) => (c, false, s.vectors[x as usize]),
                Term::Early(x, c) => (c, true, self.early[x as usize]),
                Term::Scalar(y, c) => {
                    constant += u64::from(c) * u64::from(s.scalars[y as usize]);
                    continue;
                }
            };
            if x.len == 0 || c == 0 {
                continue;
            }
            support =
                if s.parts.is_empty() { x.support } else { s.supports.union(support, x.support) };
            s.parts.push((c, early, x));
        }
        let constant = (constant % q) as u32;
        if constant != 0 {
            let one = s.supports.intern(vec![self.n as u16]);
            support = s.supports.union(support, one);
        }
        let len = s.supports.lists[support as usize].len();
        s.acc.clear();
        s.acc.resize(len, 0);
        if constant != 0 {
            s.acc[len - 1] = self.centred(constant).into();
        }
        let mut room = self.room;
        for i in 0..s.parts.len() {
            let (c, early, x) = s.parts[i];
            let c = i32::from(self.centred(c));
            let from = if early { &self.early_values } else { &s.values };
            let values = &from[x.start as usize..][..x.len as usize];
            if room == 0 {
                s.acc.iter_mut().for_each(|a| *a = self.reduced(*a));
                room = self.room;
            }
            room -= 1;
            if x.support == support {
                for (a, v) in s.acc.iter_mut().zip(values) {
                    *a += c * i32::from(*v);
                }
            } else {
                let places = s.supports.places(x.support, support);
                for (p, v) in places.iter().zip(values) {
                    s.acc[*p as usize] += c * i32::from(*v);
                }
            }
        }
        let start = s.values.len() as u32;
        let mut any = 0;
        for a in &s.acc {
            let x = self.reduced(*a);
            any |= x;
            s.values.push(x as i16);
        }
        if any == 0 {
            s.values.truncate(start as usize);
            return Sparse::default();
        }
        Sparse { support, start, len: len as u32 }
    }

    /// The centred residue.
    #[inline]
    fn reduced(&self, a: i32) -> i32 {
        // The quotient to nearest, off by one at most next to a half: two selections settle it.
        let (q, half) = (self.q as i32, (self.q / 2) as i32);
        let t = (f64::from(a) * self.inverse + ROUND).to_bits() as i32;
        let r = a - t.wrapping_mul(q);
        let r = if r > half { r - q } else { r };
        if r < -half { r + q } else { r }
    }
}

/// Adding it to a number of at most 51 bits leaves the nearest integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

struct Scratch {
    scalars: Vec<u32>,
    vectors: Vec<Sparse>,
    values: Vec<i16>,
    acc: Vec<i32>,
    parts: Vec<(u32, bool, Sparse)>,
    supports: Supports,
    expected: Vec<Vec<(u16, u32)>>,
}

impl Scratch {
    fn new(check: &Check) -> Scratch {
        let count = check.world.vars.len();
        Scratch {
            scalars: vec![0; count],
            vectors: vec![Sparse::default(); count],
            values: Vec::new(),
            acc: Vec::new(),
            parts: Vec::new(),
            supports: check.supports.clone(),
            expected: vec![Vec::new(); check.outputs.len()],
        }
    }
}
