//! Products compared column by column: with b fixed every variable is a vector of coefficients
//! over a's elements and a constant.

use crate::function::{Mismatch, Side, Split, powers};
use crate::values::{Atom, ModForm};
use crate::vectors::{Sparse, Supports, Vectors, Word, centred};
use rayon::prelude::*;
use ringforge_ring::Ring;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A variable of the b side: its number, constant and terms.
type Scalar = (u32, u32, Vec<(u32, u32)>);

/// A coefficient that is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// Number of the form.
    pub k: u32,
    /// Element of the first operand; their number for the constant.
    pub i: u16,
    /// Element of the second operand, their number for the constant; 0 where there is one operand.
    pub j: u16,
    /// Residue in `[1, q)`.
    pub c: u32,
}

/// What is done with a form's number, indices and values.
type Visit<'a, W> = dyn FnMut(usize, &[u16], &[W]) -> Result<(), Mismatch> + 'a;

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

/// The outputs prepared for evaluation.
pub(crate) struct Check<W: Word> {
    q: u32,
    n: usize,
    /// Variables of one side, in order, with their terms over that side's variables.
    b_vars: Vec<Scalar>,
    b_inputs: Vec<(u32, u32)>,
    late: Vec<(u32, u32, Vec<Term>)>,
    outputs: Vec<(u32, Vec<Term>)>,
    early: Vectors<W>,
    inverse: f64,
    /// Products of centred residues that an accumulator holds.
    room: usize,
}

impl<W: Word> Check<W> {
    /// Prepares `outputs`.
    ///
    /// # Errors
    /// If they are not bi-affine.
    pub fn new(split: &Split, outputs: &[ModForm]) -> Result<Self, Mismatch> {
        let q = split.q;
        let mut this = Check {
            q,
            n: split.n,
            b_vars: Vec::new(),
            b_inputs: Vec::new(),
            late: Vec::new(),
            outputs: Vec::new(),
            early: Vectors::new(split, Side::A)?,
            inverse: 1.0 / f64::from(q),
            room: W::room(q),
        };
        for v in (0..split.needed.len()).filter(|&v| split.needed[v]) {
            if let Some((side, index)) = split.leaf(v) {
                if side == Side::B {
                    this.b_inputs.push((v as u32, index));
                }
                continue;
            }
            let form = split.form(v);
            // A constant counts for both sides.
            if matches!(split.side[v], Side::B | Side::None) {
                let terms = b_terms(split, form)?;
                this.b_vars.push((v as u32, form.k, terms));
            }
            if split.side[v] == Side::Both {
                let terms = terms(split, form)?;
                this.late.push((v as u32, form.k, terms));
            }
        }
        for o in outputs {
            this.outputs.push((o.k, terms(split, o)?));
        }
        Ok(this)
    }

    /// Compares with the product in `ring`, all b = e_j and b = 0, in parallel.
    ///
    /// # Errors
    /// The mismatch of the first wrong column.
    pub fn product(
        &self,
        ring: &Ring,
        progress: &(dyn Fn(f64) -> bool + Sync),
    ) -> Result<(), Mismatch> {
        let n = self.n;
        let powers = powers(ring);
        let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        // Columns beyond a wrong one need no look, those before it still do: the first is told.
        let least = AtomicUsize::new(usize::MAX);
        (0..=n)
            .into_par_iter()
            .map_init(
                || (Scratch::new(self), vec![Vec::new(); self.outputs.len()]),
                |(scratch, expected), j| {
                    if stop.load(Ordering::Relaxed) {
                        return Err(Mismatch::Cancelled);
                    }
                    if j > least.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    let result = self.compare(scratch, expected, &powers, (j < n).then_some(j));
                    if result.is_err() {
                        least.fetch_min(j, Ordering::Relaxed);
                    }
                    let d = done.fetch_add(1, Ordering::Relaxed);
                    if d % 8 == 0 && !progress(d as f64 / (n + 1) as f64) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    result
                },
            )
            .reduce_with(first)
            .unwrap_or(Ok(()))
    }

    /// All coefficients that are not zero, of a_i·b_j in every form and the constants, for which i and j
    /// are n.
    ///
    /// # Errors
    /// If there are more than `most`, a form has other terms, or the caller stopped it.
    ///
    /// A form is bi-affine: `k + Σ x_i·a_i + Σ y_j·b_j + Σ c_ij·a_i·b_j`. With b = 0 it is k and the x,
    /// which must be 0; with b = e_j it is `k + y_j` and the c of j, so y_j is 0 exactly where the
    /// constant of the column is k.
    pub fn coefficients(
        &self,
        most: usize,
        progress: &(dyn Fn(f64) -> bool + Sync),
    ) -> Result<Vec<Entry>, Mismatch> {
        let n = self.n;
        let (done, found) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let residue = |x: &W| x.get().rem_euclid(self.q.into()) as u32;
        let mut constants = vec![0; self.outputs.len()];
        self.column(&mut Scratch::new(self), None, &mut |k, list, values| {
            for (&i, c) in list.iter().zip(values.iter().map(residue)).filter(|t| t.1 != 0) {
                if usize::from(i) != n {
                    return Err(Mismatch::Unknown);
                }
                constants[k] = c;
            }
            Ok(())
        })?;
        let parts: Result<Vec<Vec<Entry>>, Mismatch> = (0..n)
            .into_par_iter()
            .map_init(
                || Scratch::new(self),
                |scratch, j| {
                    let mut out = Vec::new();
                    self.column(scratch, Some(j), &mut |k, list, values| {
                        let mut constant = 0;
                        for (&i, c) in list.iter().zip(values.iter().map(residue)) {
                            if usize::from(i) == n {
                                constant = c;
                            } else if c != 0 {
                                out.push(Entry { k: k as u32, i, j: j as u16, c });
                            }
                        }
                        if constant == constants[k] { Ok(()) } else { Err(Mismatch::Unknown) }
                    })?;
                    if found.fetch_add(out.len(), Ordering::Relaxed) > most {
                        return Err(Mismatch::TooLarge);
                    }
                    let d = done.fetch_add(1, Ordering::Relaxed);
                    if d % 8 == 0 && !progress(d as f64 / (n + 1) as f64) {
                        return Err(Mismatch::Cancelled);
                    }
                    Ok(out)
                },
            )
            .collect();
        let mut all = parts?.concat();
        let (at, constants) = (n as u16, constants.into_iter().enumerate());
        all.extend(constants.filter(|k| k.1 != 0).map(|(k, c)| Entry {
            k: k as u32,
            i: at,
            j: at,
            c,
        }));
        Ok(all)
    }

    fn compare(
        &self,
        s: &mut Scratch<W>,
        expected: &mut [Vec<(u16, u32)>],
        powers: &[Vec<(u16, u32)>],
        j: Option<usize>,
    ) -> Result<(), Mismatch> {
        let (n, q) = (self.n, i64::from(self.q));
        for e in expected.iter_mut() {
            e.clear();
        }
        if let Some(j) = j {
            for i in 0..n {
                for &(k, c) in &powers[i + j] {
                    expected[k as usize].push((i as u16, c));
                }
            }
        }
        self.column(s, j, &mut |k, list, values| {
            let mut expected = expected[k].iter().copied().peekable();
            let wrong = |i: u16, found: u32, expected: u32| {
                let i = (usize::from(i) < n).then_some((0, i.into()));
                let at = i.into_iter().chain(j.map(|j| (1, j))).collect();
                Mismatch::Coefficient { at, k, found, expected }
            };
            for (&i, &x) in list.iter().zip(values) {
                let x = x.get().rem_euclid(q) as u32;
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
            Ok(())
        })
    }

    /// Evaluates all forms for b = e_j, or b = 0: `visit(form, indices, values)`.
    fn column(
        &self,
        s: &mut Scratch<W>,
        j: Option<usize>,
        visit: &mut Visit<W>,
    ) -> Result<(), Mismatch> {
        let q = u64::from(self.q);
        for &(v, index) in &self.b_inputs {
            s.scalars[v as usize] = u32::from(j == Some(index as usize));
        }
        for (v, k, terms) in &self.b_vars {
            let mut acc = u64::from(*k);
            for &(x, c) in terms {
                acc += u64::from(c) * u64::from(s.scalars[x as usize]) % q;
            }
            s.scalars[*v as usize] = (acc % q) as u32;
        }
        s.values.clear();
        for (v, k, terms) in &self.late {
            s.vectors[*v as usize] = self.combine(s, *k, terms);
        }
        let keep = s.values.len();
        for (k, (constant, terms)) in self.outputs.iter().enumerate() {
            s.values.truncate(keep);
            let out = self.combine(s, *constant, terms);
            let list = &s.supports.lists[out.support as usize];
            let values = &s.values[out.start as usize..][..out.len as usize];
            visit(k, list, values)?;
        }
        Ok(())
    }

    fn combine(&self, s: &mut Scratch<W>, k: u32, terms: &[Term]) -> Sparse {
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
                    ((u64::from(c) * u64::from(y) % q) as u32, true, self.early.of[x as usize])
                }
                Term::Late(x, c) => (c, false, s.vectors[x as usize]),
                Term::Early(x, c) => (c, true, self.early.of[x as usize]),
                Term::Scalar(y, c) => {
                    constant += u64::from(c) * u64::from(s.scalars[y as usize]) % q;
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
        s.acc.resize(len, W::Sum::default());
        if constant != 0 {
            s.acc[len - 1] = self.word(constant).wide();
        }
        let mut room = self.room;
        for i in 0..s.parts.len() {
            let (c, early, x) = s.parts[i];
            let c = self.word(c).wide();
            let from = if early { &self.early.values } else { &s.values };
            let values = &from[x.start as usize..][..x.len as usize];
            if room == 0 {
                s.acc.iter_mut().for_each(|a| *a = self.reduced(*a).wide());
                room = self.room;
            }
            room -= 1;
            if x.support == support {
                for (a, v) in s.acc.iter_mut().zip(values) {
                    *a += c * v.wide();
                }
            } else {
                let places = s.supports.places(x.support, support);
                for (p, v) in places.iter().zip(values) {
                    s.acc[*p as usize] += c * v.wide();
                }
            }
        }
        let start = s.values.len() as u32;
        let mut any = false;
        for a in &s.acc {
            let x = self.reduced(*a);
            any |= x.wide() != W::Sum::default();
            s.values.push(x);
        }
        if !any {
            s.values.truncate(start as usize);
            return Sparse::default();
        }
        Sparse { support, start, len: len as u32 }
    }

    fn word(&self, x: u32) -> W {
        W::new(centred(x.into(), self.q))
    }

    #[inline]
    fn reduced(&self, sum: W::Sum) -> W {
        W::reduced(sum, self.q, self.inverse)
    }
}

/// The mismatch of two results to report: one that was found rather than not looked for.
pub(crate) fn first(x: Result<(), Mismatch>, y: Result<(), Mismatch>) -> Result<(), Mismatch> {
    match (x, y) {
        (Err(Mismatch::Cancelled), y) => y.and(Err(Mismatch::Cancelled)),
        (Err(e), _) => Err(e),
        (Ok(()), y) => y,
    }
}

/// Products with a constant variable are outside what is handled.
fn b_terms(split: &Split, f: &ModForm) -> Result<Vec<(u32, u32)>, Mismatch> {
    f.t.iter()
        .map(|&(a, c)| match split.world.atoms[a as usize] {
            Atom::Var(v) => Ok((v.0, c)),
            _ => Err(Mismatch::NotBilinear { product: a }),
        })
        .collect()
}

fn terms(split: &Split, f: &ModForm) -> Result<Vec<Term>, Mismatch> {
    let side = &split.side;
    f.t.iter()
        .map(|&(a, c)| match split.world.atoms[a as usize] {
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

struct Scratch<W: Word> {
    scalars: Vec<u32>,
    vectors: Vec<Sparse>,
    values: Vec<W>,
    acc: Vec<W::Sum>,
    parts: Vec<(u32, bool, Sparse)>,
    supports: Supports,
}

impl<W: Word> Scratch<W> {
    fn new(check: &Check<W>) -> Self {
        let count = check.early.of.len();
        Scratch {
            scalars: vec![0; count],
            vectors: vec![Sparse::default(); count],
            values: Vec::new(),
            acc: Vec::new(),
            parts: Vec::new(),
            supports: check.early.supports.clone(),
        }
    }
}
