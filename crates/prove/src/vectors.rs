//! Variables of one operand as sparse vectors of coefficients modulo q.

use crate::function::{Mismatch, Side, Split};
use crate::values::{Atom, ModForm, VarId};
use rustc_hash::FxHashMap;
use std::ops::{AddAssign, Mul};
use std::sync::Arc;

/// A word that holds centred residues.
pub(crate) trait Word: Copy + Default + Send + Sync {
    /// Holds sums of products of two such.
    type Sum: Copy + Default + PartialEq + AddAssign + Mul<Output = Self::Sum> + Send;
    /// Products of centred residues modulo q that a sum holds beside a centred residue.
    fn room(q: u32) -> usize;
    /// A centred residue.
    fn new(x: i64) -> Self;
    /// Its value.
    fn get(self) -> i64;
    /// For sums.
    fn wide(self) -> Self::Sum;
    /// The centred residue of a sum.
    fn reduced(sum: Self::Sum, q: u32, inverse: f64) -> Self;
}

/// Adding it to a number of at most 51 bits leaves the nearest integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

impl Word for i16 {
    type Sum = i32;
    fn room(q: u32) -> usize {
        ((1u64 << 31) / (u64::from(q / 2 + 1) * u64::from(q / 2 + 1)) - 1) as usize
    }
    fn new(x: i64) -> i16 {
        x as i16
    }
    fn get(self) -> i64 {
        self.into()
    }
    fn wide(self) -> i32 {
        self.into()
    }
    #[inline]
    fn reduced(a: i32, q: u32, inverse: f64) -> i16 {
        // The quotient to nearest, off by one at most next to a half: two selections settle it.
        let (q, half) = (q as i32, (q / 2) as i32);
        let t = (f64::from(a) * inverse + ROUND).to_bits() as i32;
        let r = a - t.wrapping_mul(q);
        let r = if r > half { r - q } else { r };
        (if r < -half { r + q } else { r }) as i16
    }
}

impl Word for i32 {
    type Sum = i64;
    fn room(q: u32) -> usize {
        ((1u64 << 63) / (u64::from(q / 2 + 1) * u64::from(q / 2 + 1)) - 1) as usize
    }
    fn new(x: i64) -> i32 {
        x as i32
    }
    fn get(self) -> i64 {
        self.into()
    }
    fn wide(self) -> i64 {
        self.into()
    }
    fn reduced(a: i64, q: u32, _: f64) -> i32 {
        centred(a.rem_euclid(q.into()), q) as i32
    }
}

/// The centred form of a residue in `[0, q)`.
pub(crate) fn centred(x: i64, q: u32) -> i64 {
    if x > i64::from(q / 2) { x - i64::from(q) } else { x }
}

/// A sparse vector: indices (an operand's elements, then one for the constant) by support.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sparse {
    pub support: u32,
    pub start: u32,
    pub len: u32,
}

/// Sets of indices, shared: the same few occur in many vectors.
#[derive(Default, Clone)]
pub(crate) struct Supports {
    pub lists: Vec<Arc<[u16]>>,
    index: FxHashMap<Arc<[u16]>, u32>,
    unions: FxHashMap<(u32, u32), u32>,
    places: FxHashMap<(u32, u32), Arc<[u16]>>,
}

impl Supports {
    /// The number of a set, given in increasing order.
    pub fn intern(&mut self, list: Vec<u16>) -> u32 {
        let list: Arc<[u16]> = list.into();
        if let Some(&id) = self.index.get(&list) {
            return id;
        }
        let id = self.lists.len() as u32;
        self.index.insert(list.clone(), id);
        self.lists.push(list);
        id
    }

    /// The union of two sets.
    pub fn union(&mut self, a: u32, b: u32) -> u32 {
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
    pub fn places(&mut self, sub: u32, all: u32) -> Arc<[u16]> {
        if let Some(p) = self.places.get(&(sub, all)) {
            return p.clone();
        }
        let whole = &self.lists[all as usize];
        let p: Arc<[u16]> = self.lists[sub as usize]
            .iter()
            .map(|i| whole.binary_search(i).unwrap_or(0) as u16)
            .collect();
        self.places.insert((sub, all), p.clone());
        p
    }
}

/// The variables of one operand, and the constant ones.
pub(crate) struct Vectors<W> {
    /// By variable; empty for those of other operands.
    pub of: Vec<Sparse>,
    /// Values of all vectors.
    pub values: Vec<W>,
    /// Their indices.
    pub supports: Supports,
}

impl<W: Word> Vectors<W> {
    /// Evaluates the variables of `side`.
    ///
    /// # Errors
    /// A product of a constant and a variable, which is not modelled.
    pub fn new(split: &Split, side: Side) -> Result<Self, Mismatch> {
        let count = split.world.vars.len();
        let mut this = Vectors {
            of: vec![Sparse::default(); count],
            values: Vec::new(),
            supports: Supports::default(),
        };
        this.supports.intern(Vec::new());
        let mut scratch = vec![0i64; split.n + 1];
        for v in (0..count).filter(|&v| split.needed[v]) {
            if split.side[v] != side && split.side[v] != Side::None {
                continue;
            }
            this.of[v] = match split.leaf(v) {
                Some((_, index)) => {
                    let support = this.supports.intern(vec![index as u16]);
                    let start = this.values.len() as u32;
                    this.values.push(W::new(1));
                    Sparse { support, start, len: 1 }
                }
                None => this.vector(split, split.form(v), &mut scratch)?,
            };
        }
        Ok(this)
    }

    /// Indices and values of a variable.
    pub fn entries(&self, v: usize) -> impl Iterator<Item = (u16, i64)> + '_ {
        self.sparse(self.of[v])
    }

    /// Indices and values of a vector.
    pub fn sparse(&self, s: Sparse) -> impl Iterator<Item = (u16, i64)> + '_ {
        let values = &self.values[s.start as usize..][..s.len as usize];
        self.supports.lists[s.support as usize].iter().copied().zip(values.iter().map(|x| x.get()))
    }

    /// The vector of a form of earlier variables of this side; `acc` has n + 1 elements.
    ///
    /// # Errors
    /// If it has products.
    pub fn vector(
        &mut self,
        split: &Split,
        f: &ModForm,
        acc: &mut [i64],
    ) -> Result<Sparse, Mismatch> {
        let (n, q) = (split.n, split.q);
        acc.fill(0);
        acc[n] = f.k.into();
        for &(a, c) in &f.t {
            let Atom::Var(VarId(v)) = split.world.atoms[a as usize] else {
                return Err(Mismatch::NotBilinear { product: a });
            };
            let s = self.of[v as usize];
            let values = &self.values[s.start as usize..][..s.len as usize];
            for (i, x) in self.supports.lists[s.support as usize].iter().zip(values) {
                acc[*i as usize] += i64::from(c) * x.get() % i64::from(q);
            }
        }
        let (mut list, start) = (Vec::new(), self.values.len() as u32);
        for (i, &x) in acc.iter().enumerate().filter(|x| *x.1 != 0) {
            let x = x.rem_euclid(q.into());
            if x != 0 {
                list.push(i as u16);
                self.values.push(W::new(centred(x, q)));
            }
        }
        let len = list.len() as u32;
        Ok(Sparse { support: self.supports.intern(list), start, len })
    }
}
