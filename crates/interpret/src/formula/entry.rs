//! Comparison of every kind of entry point with its definition, for all basis vectors.

use super::bilinear::powers;
use super::{Agreement, Forms, Kind, Mismatch};
use rayon::prelude::*;
use ringforge_program::ir::{Computes, TransformLayout};
use ringforge_ring::{Ring, zq};

type Sparse = Vec<(usize, u64)>;

impl Forms {
    /// Compares the outputs with what an entry point should compute, for all basis vectors; the
    /// transformed elements stand as `layout` says.
    pub fn agrees(
        &self,
        computes: Computes,
        layout: Option<&TransformLayout>,
        ring: &Ring,
    ) -> Result<Agreement, Mismatch> {
        let layout =
            || layout.ok_or_else(|| Mismatch::Parameters("the program has no transform".into()));
        match computes {
            Computes::Product => self.agrees_with(ring),
            Computes::Forward { scale } => {
                let at = Positions::new(layout()?, ring)?;
                self.linear_agrees("the scaled transform", ring, |i| at.forward(i, scale))
            }
            Computes::Inverse { scale } => {
                let at = Positions::new(layout()?, ring)?;
                let idempotents = at.idempotents()?;
                self.linear_agrees("the scaled inverse", ring, |i| {
                    at.inverse(i, scale, &idempotents)
                })
            }
            Computes::ToStandard => {
                let order = &layout()?.order;
                self.linear_agrees("the reordering", ring, |i| vec![(order[i] as usize, 1)])
            }
            Computes::FromStandard => {
                let at = Positions::new(layout()?, ring)?;
                self.linear_agrees("the reordering", ring, |i| vec![(at.position[i], 1)])
            }
            Computes::BaseProduct { scale } => self.base_agrees(layout()?, ring, (scale, 1), false),
            Computes::InnerProduct { scale, pairs } => {
                self.base_agrees(layout()?, ring, (scale, pairs), false)
            }
            Computes::Accumulate { scale } => self.base_agrees(layout()?, ring, (scale, 1), true),
        }
    }

    /// Compares the outputs with the product of the two operands in `ring`, for all pairs of
    /// basis vectors.
    pub fn agrees_with(&self, ring: &Ring) -> Result<Agreement, Mismatch> {
        let n = ring.degree();
        self.shape(ring, &[n, n], None)?;
        self.outputs_are(Kind::BILINEAR, "not a combination of products of the two operands")?;
        let factors = self.factors();
        let Some(d) = factors.period(n, self.q) else { return self.agrees_by_columns(ring) };
        // (i, j) and (i − d, j + d) have the same products, hence the same outputs, and the same
        // i + j, hence the same definition: what remains are these.
        let pairs = (0..n).flat_map(|i| {
            let first = if i < d { 0 } else { n - d };
            (first..n).map(move |j| (i, j))
        });
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let powers = powers(ring);
        let (evaluation, width) = (self.evaluation(Kind::BILINEAR), factors.products.len());
        let mut number = vec![0; self.nodes.len()];
        factors.products.iter().enumerate().for_each(|(p, &id)| number[id as usize] = p);
        let first = pairs
            .par_iter()
            .map_init(
                || self.values(),
                |values, &(i, j)| {
                    let (x, y) = (&factors.x[i * width..], &factors.y[j * width..]);
                    evaluation.run(values, |id, _| {
                        let p = number[id as usize];
                        (u64::from(x[p]) * u64::from(y[p]) % self.q) as u32
                    });
                    self.compare_values(values, &powers[i + j]).map_err(
                        |(output, found, expected)| Mismatch::Coefficient {
                            output,
                            i,
                            j,
                            found,
                            expected,
                        },
                    )
                },
            )
            .find_first(Result::is_err);
        if let Some(Err(mismatch)) = first {
            return Err(mismatch);
        }
        Ok(self.agreement((n * n) as u64, pairs.len() as u64))
    }

    fn agreement(&self, pairs: u64, evaluations: u64) -> Agreement {
        let products = self.nodes.iter().filter(|n| matches!(n, super::Node::Product(..))).count();
        let (outputs, nodes) = (self.outputs.len(), self.nodes.len());
        Agreement { pairs, evaluations, outputs, nodes, products }
    }

    /// The first output that is not the definition's: its index, what it is and what it should be.
    fn compare_values(&self, values: &[u32], wanted: &Sparse) -> Result<(), (usize, u64, u64)> {
        let mut wanted: Sparse = wanted.iter().copied().filter(|&(_, c)| c != 0).collect();
        wanted.sort_unstable();
        let mut wanted = wanted.into_iter().peekable();
        for (output, &id) in self.outputs.iter().enumerate() {
            let expected = wanted.next_if(|&(k, _)| k == output).map_or(0, |(_, c)| c);
            let found = u64::from(values[id as usize]);
            if found != expected {
                return Err((output, found, expected));
            }
        }
        Ok(())
    }

    fn shape(&self, ring: &Ring, inputs: &[usize], addend: Option<usize>) -> Result<(), Mismatch> {
        let n = ring.degree();
        if self.q == ring.q()
            && self.inputs == inputs
            && self.addend == addend
            && self.outputs.len() == n
        {
            return Ok(());
        }
        Err(Mismatch::Parameters(format!(
            "the program takes {:?} coefficients mod {} and gives {}, which is not the shape that is asked for in \
             {ring}",
            self.inputs,
            self.q,
            self.outputs.len()
        )))
    }

    fn outputs_are(&self, kind: Kind, not: &str) -> Result<(), Mismatch> {
        for (output, &id) in self.outputs.iter().enumerate() {
            let found = self.kinds[id as usize];
            if id == 0 || found != Kind::CONSTANT && kind.contains(found) {
                continue;
            }
            let what = match found {
                Kind::CONSTANT => "a constant",
                Kind(1) => "linear in operand 0 alone",
                Kind(2) => "linear in operand 1 alone",
                Kind(4) => "linear in what is added to alone",
                _ => "bilinear",
            };
            return Err(Mismatch::Shape { output, what: format!("{what}, {not}") });
        }
        Ok(())
    }

    fn linear_agrees(
        &self,
        computes: &'static str,
        ring: &Ring,
        wanted: impl Fn(usize) -> Sparse,
    ) -> Result<Agreement, Mismatch> {
        let n = ring.degree();
        self.shape(ring, &[n], None)?;
        self.outputs_are(Kind::linear(0), "not linear in the operand")?;
        self.columns(0, "a", computes, n, wanted)?;
        Ok(self.agreement(n as u64, n as u64))
    }

    /// Compares the outputs at each basis vector of one operand, all others being zero.
    fn columns(
        &self,
        operand: u8,
        name: &'static str,
        computes: &'static str,
        n: usize,
        wanted: impl Fn(usize) -> Sparse,
    ) -> Result<(), Mismatch> {
        let evaluation = self.evaluation(Kind::linear(operand));
        let mut values = self.values();
        for i in 0..n {
            evaluation.run(&mut values, |_, index| u32::from(index as usize == i));
            self.compare_values(&values, &wanted(i)).map_err(|(output, found, expected)| {
                Mismatch::Linear { operand: name, computes, output, i, found, expected }
            })?;
        }
        Ok(())
    }

    fn base_agrees(
        &self,
        layout: &TransformLayout,
        ring: &Ring,
        (scale, count): (u64, usize),
        accumulates: bool,
    ) -> Result<Agreement, Mismatch> {
        let n = ring.degree();
        let at = Positions::new(layout, ring)?;
        self.shape(ring, &[count * n; 2], accumulates.then_some(n))?;
        let mut kind = Kind::BILINEAR;
        if accumulates {
            kind = Kind(kind.0 | Kind::linear(2).0);
            self.columns(2, "c", "the accumulation", n, |i| vec![(i, 1)])?;
        }
        self.outputs_are(kind, "not a sum of products")?;
        let factors = self.factors();
        let width = factors.products.len();
        // Pairs with a product that is not zero, and those whose definition is not zero; at all
        // others both are zero.
        let support = |side: &[u32]| -> Vec<Vec<usize>> {
            let of = |p: usize| (0..count * n).filter(|&i| side[i * width + p] != 0).collect();
            (0..width).map(of).collect()
        };
        let (x, y) = (support(&factors.x), support(&factors.y));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (x, y) in x.iter().zip(&y) {
            pairs.extend(x.iter().flat_map(|&i| y.iter().map(move |&j| (i, j))));
        }
        for (k, leaf) in (0..count).flat_map(|k| (0..n / at.degree).map(move |leaf| (k, leaf))) {
            let of = |u: usize| k * n + at.position[leaf * at.degree + u];
            let all = (0..at.degree).flat_map(|u| (0..at.degree).map(move |v| (u, v)));
            pairs.extend(all.map(|(u, v)| (of(u), of(v))));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let evaluation = self.evaluation(Kind::BILINEAR);
        let mut number = vec![0; self.nodes.len()];
        factors.products.iter().enumerate().for_each(|(p, &id)| number[id as usize] = p);
        let mut values = self.values();
        for &(i, j) in &pairs {
            let (x, y) = (&factors.x[i * width..], &factors.y[j * width..]);
            evaluation.run(&mut values, |id, _| {
                let p = number[id as usize];
                (u64::from(x[p]) * u64::from(y[p]) % self.q) as u32
            });
            let wanted = match i / n == j / n {
                true => at.product(i % n, j % n, scale),
                false => Vec::new(),
            };
            self.compare_values(&values, &wanted).map_err(|(output, found, expected)| {
                Mismatch::Coefficient { output, i, j, found, expected }
            })?;
        }
        Ok(self.agreement((count * n * count * n) as u64, pairs.len() as u64))
    }
}

/// A layout, checked, with the positions of all coefficients of all remainders.
struct Positions<'l> {
    q: u64,
    degree: usize,
    weights: &'l [u64],
    order: &'l [u32],
    /// The inverse of the order.
    position: Vec<usize>,
    ring: &'l Ring,
}

impl<'l> Positions<'l> {
    fn new(layout: &'l TransformLayout, ring: &'l Ring) -> Result<Positions<'l>, Mismatch> {
        let (n, d) = (ring.degree(), layout.degree);
        let wrong = |why: String| Err(Mismatch::Parameters(why));
        if d == 0 || layout.weights.len() * d != n || layout.order.len() != n {
            return wrong(format!("the transform's layout is not one of {n} coefficients"));
        }
        let mut position = vec![n; n];
        for (p, &o) in layout.order.iter().enumerate() {
            match position.get_mut(o as usize) {
                Some(cell) if *cell == n => *cell = p,
                _ => return wrong("the transform's order is no permutation".into()),
            }
        }
        let (q, weights, order) = (ring.q(), layout.weights.as_slice(), layout.order.as_slice());
        Ok(Positions { q, degree: d, weights, order, position, ring })
    }

    /// scale·T(x^i).
    fn forward(&self, i: usize, scale: u64) -> Sparse {
        let (u, e) = (i % self.degree, (i / self.degree) as u64);
        let each = |(leaf, &w): (usize, &u64)| {
            let c = zq::mul(scale, zq::pow(w, e, self.q), self.q);
            (self.position[leaf * self.degree + u], c)
        };
        self.weights.iter().enumerate().map(each).collect()
    }

    /// For each leaf the multiple g of f/(x^d − w) that is 1 modulo x^d − w, by its coefficients in x^d. It is
    /// found by long division of f and one evaluation.
    fn idempotents(&self) -> Result<Vec<Vec<u64>>, Mismatch> {
        let (q, d, n) = (self.q, self.degree, self.ring.degree());
        let f = |k: usize| if k == n { 1 } else { zq::unsigned(self.ring.modulus()[k], q) };
        let idempotent = |&w: &u64| {
            // f as a polynomial in y = x^d, divided by y − w.
            let mut quotient = vec![0; n / d];
            let mut carry = 0;
            for m in (0..n / d).rev() {
                carry = zq::add(f((m + 1) * d), zq::mul(carry, w, q), q);
                quotient[m] = carry;
            }
            let value = quotient.iter().rev().fold(0, |v, &c| zq::add(zq::mul(v, w, q), c, q));
            let inverse = zq::inv(value, q).ok_or_else(|| {
                let why = format!("f has x^{d} - {w} twice, so its remainders have no inverse");
                Mismatch::Parameters(why)
            })?;
            Ok(quotient.into_iter().map(|c| zq::mul(c, inverse, q)).collect())
        };
        self.weights.iter().map(idempotent).collect()
    }

    /// scale·T⁻¹ of the basis vector at position p: scale·x^u times its leaf's idempotent.
    fn inverse(&self, p: usize, scale: u64, idempotents: &[Vec<u64>]) -> Sparse {
        let d = self.degree;
        let (leaf, u) = (self.order[p] as usize / d, self.order[p] as usize % d);
        let each = |(m, &c): (usize, &u64)| (m * d + u, zq::mul(c, scale, self.q));
        idempotents[leaf].iter().enumerate().map(each).collect()
    }

    /// scale times the product of the basis vectors at positions i and j, leaf by leaf.
    fn product(&self, i: usize, j: usize, scale: u64) -> Sparse {
        let (d, a, b) = (self.degree, self.order[i] as usize, self.order[j] as usize);
        if a / d != b / d {
            return Vec::new();
        }
        let (leaf, e) = (a / d, a % d + b % d);
        let c = if e < d { scale } else { zq::mul(scale, self.weights[leaf], self.q) };
        vec![(self.position[leaf * d + e % d], c)]
    }
}
