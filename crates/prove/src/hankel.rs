//! Products whose factors have geometric rows, as those behind number-theoretic transforms have.
//!
//! If for some d every value A that is multiplied is Σ_i α_(i mod d)·w^(i div d)·a_i, and its
//! partner B likewise with the same w, then the coefficient of a_i·b_j in A·B, and hence in every
//! sum of such products, depends on i mod d, j mod d and i div d + j div d alone. So the n³
//! equations of a product collapse to n times d²·(2n/d - 1), and the sums are evaluated once for
//! each of these coordinates rather than for each j. Whether rows are geometric is checked entry by
//! entry; where they are not, or d would be too large to gain anything, the caller has another way.

use crate::columns::{Entry, first};
use crate::function::{Mismatch, Side, Split, powers};
use crate::values::{Atom, ModForm};
use crate::vectors::{Vectors, Word};
use rayon::prelude::*;
use ringforge_ring::{Ring, zq};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Coordinates that are evaluated together.
const CHUNK: usize = 256;

/// A row α_(i mod d)·w^(i div d).
struct Row {
    /// w; none where no entry tells.
    ratio: Option<u32>,
    /// α, d of them.
    scales: Vec<u32>,
}

/// A product of two rows of one ratio.
struct Product {
    a: u32,
    b: u32,
    /// Index of the powers.
    powers: u32,
}

/// A sum: coefficients times earlier sums, coefficients times products.
#[derive(Default)]
struct Sum {
    sums: Vec<(u32, u32)>,
    products: Vec<(u32, u32)>,
    /// What is left of it where both operands are 0.
    constant: u32,
}

struct Collapsed {
    q: u64,
    n: usize,
    d: usize,
    rows: Vec<Row>,
    products: Vec<Product>,
    powers: Vec<Vec<u32>>,
    /// Sums in order, then the outputs.
    sums: Vec<Sum>,
    outputs: usize,
    /// floor(2^64 / q).
    inverse: u64,
    /// Products of residues that 64 bits hold beside a residue.
    room: usize,
}

/// Compares `outputs` with the product in `ring`; [`None`] where rows are not geometric.
pub(crate) fn product(
    split: &Split,
    ring: &Ring,
    outputs: &[ModForm],
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Option<Result<(), Mismatch>> {
    let collapsed = collapse(split, outputs)?;
    // A product of rings has no constant; which output has one, columns tell.
    if collapsed.constants().any(|c| c != 0) {
        return None;
    }
    Some(collapsed.compare(ring, progress))
}

fn collapse(split: &Split, forms: &[ModForm]) -> Option<Collapsed> {
    if split.q < 1 << 16 {
        Collapsed::new::<i16>(split, forms)
    } else {
        Collapsed::new::<i32>(split, forms)
    }
}

/// All coefficients of a_i·b_j in `forms` that are not zero, at most `most`, and constants, for which i
/// and j are n; [`None`] where rows are not geometric.
pub(crate) fn coefficients(
    split: &Split,
    forms: &[ModForm],
    most: usize,
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Option<Result<Vec<Entry>, Mismatch>> {
    Some(collapse(split, forms)?.coefficients(most, progress))
}

impl Collapsed {
    fn new<W: Word>(split: &Split, outputs: &[ModForm]) -> Option<Collapsed> {
        let (world, n, q) = (split.world, split.n, u64::from(split.q));
        let mut pairs: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut sum_of: FxHashMap<u32, u32> = FxHashMap::default();
        let (mut list, mut sums): (Vec<(u32, u32)>, Vec<Sum>) = (Vec::new(), Vec::new());
        let mut sum = |form: &ModForm, sum_of: &FxHashMap<u32, u32>| -> Option<Sum> {
            let mut out = Sum::default();
            for &(a, c) in &form.t {
                match world.atoms[a as usize] {
                    Atom::Var(v) => out.sums.push((*sum_of.get(&v.0)?, c)),
                    Atom::Prod(x, y) => {
                        let (x, y) = match (split.side[x.0 as usize], split.side[y.0 as usize]) {
                            (Side::A, Side::B) => (x.0, y.0),
                            (Side::B, Side::A) => (y.0, x.0),
                            _ => return None,
                        };
                        let p = *pairs.entry((x, y)).or_insert_with(|| {
                            list.push((x, y));
                            list.len() as u32 - 1
                        });
                        out.products.push((p, c));
                    }
                    _ => return None,
                }
            }
            out.constant = form.k;
            Some(out)
        };
        for v in (0..world.vars.len()).filter(|&v| split.needed[v]) {
            if split.side[v] == Side::Both {
                sums.push(sum(split.form(v), &sum_of)?);
                sum_of.insert(v as u32, sums.len() as u32 - 1);
            }
        }
        for o in outputs {
            sums.push(sum(o, &sum_of)?);
        }
        for at in 0..sums.len() {
            let (before, rest) = sums.split_at_mut(at);
            let below =
                rest[0].sums.iter().map(|&(x, c)| (u64::from(before[x as usize].constant), c));
            let constant =
                below.fold(u64::from(rest[0].constant), |k, (x, c)| (k + x * u64::from(c)) % q);
            rest[0].constant = constant as u32;
        }
        let (a, b) =
            (Vectors::<W>::new(split, Side::A).ok()?, Vectors::<W>::new(split, Side::B).ok()?);
        // More coordinates than this are no gain over columns.
        let largest = (1..=n).take_while(|d| d * d * (2 * n / d) <= n * n / 4).last()?;
        let (d, rows, products) = (1..=largest).find_map(|d| {
            let (rows, products) = rows(&a, &b, &list, d, n, q)?;
            Some((d, rows, products))
        })?;
        // Powers of each ratio.
        let mut ratios: FxHashMap<u32, u32> = FxHashMap::default();
        let mut powers: Vec<Vec<u32>> = Vec::new();
        let products = products
            .into_iter()
            .map(|(a, b, ratio)| {
                let powers = *ratios.entry(ratio).or_insert_with(|| {
                    let next = |p: &u64| Some(p * u64::from(ratio) % q);
                    let all = std::iter::successors(Some(1 % q), next);
                    powers.push(all.take(2 * n.div_ceil(d)).map(|p| p as u32).collect());
                    powers.len() as u32 - 1
                });
                Product { a, b, powers }
            })
            .collect();
        Some(Collapsed {
            q,
            n,
            d,
            rows,
            products,
            powers,
            sums,
            outputs: outputs.len(),
            inverse: ((1u128 << 64) / u128::from(q)) as u64,
            room: (u64::MAX / ((q - 1) * (q - 1)) - 1).min(1 << 30) as usize,
        })
    }

    /// The constants of the outputs.
    fn constants(&self) -> impl Iterator<Item = u32> + '_ {
        self.sums[self.sums.len() - self.outputs..].iter().map(|s| s.constant)
    }

    fn compare(
        &self,
        ring: &Ring,
        progress: &(dyn Fn(f64) -> bool + Sync),
    ) -> Result<(), Mismatch> {
        let chunks = self.chunks();
        let powers = powers(ring);
        let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let total = chunks.len() as f64;
        chunks
            .into_par_iter()
            .map_init(
                || (Scratch::new(self), vec![0u32; self.outputs * CHUNK]),
                |(scratch, expected), chunk| {
                    if stop.load(Ordering::Relaxed) {
                        return Err(Mismatch::Cancelled);
                    }
                    let (r, s, start, len) = chunk;
                    expected.fill(0);
                    for at in 0..len {
                        // Beyond 2n - 2 there is no pair of indices, and the chunk ends before.
                        for &(k, c) in &powers[r + s + self.d * (start + at)] {
                            expected[k as usize * CHUNK + at] = c;
                        }
                    }
                    let result = self.chunk(scratch, chunk, &mut |k, out| {
                        let expected = &expected[k * CHUNK..][..len];
                        let Some(wrong) = (0..len).find(|&u| out[u] != expected[u]) else {
                            return Ok(());
                        };
                        let u = start + wrong;
                        // Any pair of indices with this sum.
                        let most = (self.n - r).div_ceil(self.d) - 1;
                        let (i, j) = (u.min(most), u - u.min(most));
                        Err(Mismatch::Coefficient {
                            at: vec![(0, r + self.d * i), (1, s + self.d * j)],
                            k,
                            found: out[wrong],
                            expected: expected[wrong],
                        })
                    });
                    let d = done.fetch_add(1, Ordering::Relaxed);
                    if !progress(d as f64 / total) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    result
                },
            )
            .reduce_with(first)
            .unwrap_or(Ok(()))
    }

    /// All coordinates: (r, s, start, len) for i ≡ r, j ≡ s modulo d and i div d + j div d from
    /// `start` on, `len` of them.
    fn chunks(&self) -> Vec<Chunk> {
        let d = self.d;
        let terms = |r: usize| (self.n - r).div_ceil(d);
        let mut chunks = Vec::new();
        for r in 0..d.min(self.n) {
            for s in 0..d.min(self.n) {
                let count = terms(r) + terms(s) - 1;
                for start in (0..count).step_by(CHUNK) {
                    chunks.push((r, s, start, CHUNK.min(count - start)));
                }
            }
        }
        chunks
    }

    fn coefficients(
        &self,
        most: usize,
        progress: &(dyn Fn(f64) -> bool + Sync),
    ) -> Result<Vec<Entry>, Mismatch> {
        let chunks = self.chunks();
        let (done, found, total) = (AtomicUsize::new(0), AtomicUsize::new(0), chunks.len() as f64);
        let terms = |r: usize| (self.n - r).div_ceil(self.d);
        let parts: Result<Vec<Vec<Entry>>, Mismatch> = chunks
            .into_par_iter()
            .map_init(
                || Scratch::new(self),
                |scratch, chunk| {
                    let (r, s, start, _) = chunk;
                    let mut out = Vec::new();
                    self.chunk(scratch, chunk, &mut |k, values| {
                        for (at, &c) in values.iter().enumerate().filter(|v| *v.1 != 0) {
                            // All pairs of indices with this sum.
                            let u = start + at;
                            for i in u.saturating_sub(terms(s) - 1)..=u.min(terms(r) - 1) {
                                let (i, j) = (r + self.d * i, s + self.d * (u - i));
                                out.push(Entry { k: k as u32, i: i as u16, j: j as u16, c });
                            }
                        }
                        if out.len() > most { Err(Mismatch::TooLarge) } else { Ok(()) }
                    })?;
                    if found.fetch_add(out.len(), Ordering::Relaxed) > most {
                        return Err(Mismatch::TooLarge);
                    }
                    let d = done.fetch_add(1, Ordering::Relaxed);
                    if progress(d as f64 / total) { Ok(out) } else { Err(Mismatch::Cancelled) }
                },
            )
            .collect();
        let mut all = parts?.concat();
        let n = self.n as u16;
        let constants = self.constants().enumerate().filter(|k| k.1 != 0);
        all.extend(constants.map(|(k, c)| Entry { k: k as u32, i: n, j: n, c }));
        Ok(all)
    }

    /// Evaluates all forms at some coordinates, but for their constants: `visit(form, coefficients)`.
    fn chunk(
        &self,
        scratch: &mut Scratch,
        (r, s, start, len): Chunk,
        visit: &mut Visit,
    ) -> Result<(), Mismatch> {
        let q = self.q;
        for (slot, p) in scratch.scales.iter_mut().zip(&self.products) {
            let (a, b) = (&self.rows[p.a as usize], &self.rows[p.b as usize]);
            *slot = (u64::from(a.scales[r]) * u64::from(b.scales[s]) % q) as u32;
        }
        let first_output = self.sums.len() - self.outputs;
        for (at, sum) in self.sums.iter().enumerate() {
            let (before, rest) = scratch.values.split_at_mut(at * CHUNK);
            let out = &mut rest[..len];
            let acc = &mut scratch.acc[..len];
            acc.fill(0);
            let (mut room, mut any) = (self.room, false);
            let mut add = |c: u64, values: &[u32], acc: &mut [u64]| {
                if room == 0 {
                    acc.iter_mut().for_each(|x| *x = self.reduced(*x).into());
                    room = self.room;
                }
                room -= 1;
                for (x, v) in acc.iter_mut().zip(values) {
                    *x += c * u64::from(*v);
                }
            };
            for &(x, c) in &sum.sums {
                if scratch.nonzero[x as usize] {
                    add(c.into(), &before[x as usize * CHUNK..][..len], acc);
                    any = true;
                }
            }
            for &(p, c) in &sum.products {
                let scale = u64::from(scratch.scales[p as usize]);
                if scale != 0 {
                    let powers = &self.powers[self.products[p as usize].powers as usize];
                    add(u64::from(c) * scale % q, &powers[start..][..len], acc);
                    any = true;
                }
            }
            scratch.nonzero[at] = any;
            for (x, a) in out.iter_mut().zip(acc.iter()) {
                *x = self.reduced(*a);
            }
            if at < first_output {
                continue;
            }
            visit(at - first_output, out)?;
        }
        Ok(())
    }

    /// The residue in `[0, q)`.
    #[inline]
    fn reduced(&self, x: u64) -> u32 {
        let quotient = ((u128::from(x) * u128::from(self.inverse)) >> 64) as u64;
        // floor(2^64 / q) is short by less than one, so the quotient is by at most one.
        let r = x - quotient * self.q;
        (if r >= self.q { r - self.q } else { r }) as u32
    }
}

/// Indices modulo d, first sum of their quotients, number of sums.
type Chunk = (usize, usize, usize, usize);

/// What is done with a form's number and coefficients.
type Visit<'a> = dyn FnMut(usize, &[u32]) -> Result<(), Mismatch> + 'a;

/// Rows, and pairs of rows with their ratio.
type Rows = (Vec<Row>, Vec<(u32, u32, u32)>);

/// All rows of the factors in `list`, if they are geometric with stride `d`.
fn rows<W: Word>(
    a: &Vectors<W>,
    b: &Vectors<W>,
    list: &[(u32, u32)],
    d: usize,
    n: usize,
    q: u64,
) -> Option<Rows> {
    let mut rows: Vec<Row> = Vec::new();
    let mut of: [FxHashMap<u32, u32>; 2] = Default::default();
    let mut dense = vec![0u64; n + 1];
    let mut products = Vec::with_capacity(list.len());
    for &(x, y) in list {
        let mut ids = [0; 2];
        for (side, (vectors, v)) in [(a, x), (b, y)].into_iter().enumerate() {
            ids[side] = match of[side].get(&v) {
                Some(&id) => id,
                None => {
                    rows.push(row(vectors, v, d, q, &mut dense)?);
                    let id = rows.len() as u32 - 1;
                    of[side].insert(v, id);
                    id
                }
            };
        }
        let ratio = match (rows[ids[0] as usize].ratio, rows[ids[1] as usize].ratio) {
            (Some(x), Some(y)) if x != y => return None,
            (x, y) => x.or(y).unwrap_or(0),
        };
        products.push((ids[0], ids[1], ratio));
    }
    Some((rows, products))
}

/// The row of variable `v`, if it is geometric with stride `d`.
fn row<W: Word>(vectors: &Vectors<W>, v: u32, d: usize, q: u64, dense: &mut [u64]) -> Option<Row> {
    let n = dense.len() - 1;
    dense.fill(0);
    for (i, x) in vectors.entries(v as usize) {
        dense[usize::from(i)] = zq::unsigned(x, q);
    }
    if dense[n] != 0 {
        return None;
    }
    let lead = (0..d).find(|&r| r + d < n && dense[r] != 0);
    let ratio = match lead {
        Some(r) => Some(dense[r + d] * zq::inv(dense[r], q)? % q),
        // Without a lead an entry beyond the first d would not be geometric.
        None => None,
    };
    let w = ratio.unwrap_or(0);
    if (d..n).any(|i| dense[i] != dense[i - d] * w % q) {
        return None;
    }
    let scales = dense[..d.min(n)].iter().map(|&x| x as u32).collect();
    Some(Row { ratio: ratio.map(|w| w as u32), scales })
}

struct Scratch {
    /// By sum, [`CHUNK`] each.
    values: Vec<u32>,
    nonzero: Vec<bool>,
    acc: Vec<u64>,
    /// By product: the scale of this chunk's residues modulo d.
    scales: Vec<u32>,
}

impl Scratch {
    fn new(c: &Collapsed) -> Scratch {
        Scratch {
            values: vec![0; c.sums.len() * CHUNK],
            nonzero: vec![false; c.sums.len()],
            acc: vec![0; CHUNK],
            scales: vec![0; c.products.len()],
        }
    }
}
