//! What a contract's function should return, computed from the contract alone: slow and obvious.

use crate::computes::{Computes, Transform};
use crate::contract::Contract;
use ringforge_ring::{Ring, zq};

/// The expected output modulo q, as centred residues. `inputs` are in the order of [`Contract::inputs`], each with
/// the number of elements that [`Contract::lengths`] gives. For an accumulation, the value of c at entry comes first,
/// then a and b.
///
/// ```
/// let contract = ringforge_contract::Contract::parse(r#"
/// contract = 1
/// symbol = "forward"
/// abi = "sysv-x86-64"
/// ring = "Z17[x]/(x^4 + 1)"
/// computes = "forward"
/// scale = 2
/// transform = { degree = 2, weights = [4, 13] }
/// argument = [
///     { name = "c", role = "output", element = "i16", length = 4, range = [-8, 8] },
///     { name = "a", role = "input", element = "i16", length = 4, range = [-8, 8] },
/// ]"#).unwrap();
/// // x^3 is 4x modulo x^2 - 4 and -4x modulo x^2 + 4.
/// assert_eq!(ringforge_contract::expected(&contract, &[vec![0, 0, 0, 1]]), [0, 8, 0, -8]);
/// ```
pub fn expected(contract: &Contract, inputs: &[Vec<i64>]) -> Vec<i64> {
    Oracle::new(contract).expected(inputs)
}

/// The same as [`expected`] for many inputs of one contract.
pub struct Oracle<'c> {
    contract: &'c Contract,
    /// Where coefficient r of leaf l stands in a transformed array.
    positions: Vec<usize>,
    /// Interpolation at the weights, for inverses.
    lagrange: Vec<Vec<u64>>,
    /// The leaves, for base products.
    leaves: Vec<Ring>,
}

impl<'c> Oracle<'c> {
    /// Prepares what `contract` needs.
    pub fn new(contract: &'c Contract) -> Self {
        let q = contract.ring.q();
        let (mut lagrange, mut leaves) = (Vec::new(), Vec::new());
        if let Some(t) = &contract.transform {
            match contract.computes {
                Computes::Inverse { .. } => lagrange = t.lagrange(q).unwrap_or_default(),
                Computes::BaseProduct { .. } | Computes::Accumulate { .. } => {
                    leaves = t.weights.iter().filter_map(|&w| leaf(q, t.degree, w)).collect();
                }
                _ => {}
            }
        }
        let positions = contract.transform.as_ref().map(Transform::positions).unwrap_or_default();
        Oracle { contract, positions, lagrange, leaves }
    }

    /// What the output should be; see [`expected`].
    pub fn expected(&self, inputs: &[Vec<i64>]) -> Vec<i64> {
        let one = |k: usize| {
            let part = |all: &Vec<i64>| {
                let n = all.len() / self.contract.batch;
                all[k * n..][..n].to_vec()
            };
            self.element(&inputs.iter().map(part).collect::<Vec<_>>())
        };
        match self.contract.batch {
            1 => self.element(inputs),
            batch => (0..batch).flat_map(one).collect(),
        }
    }

    /// The same of one element of the ring.
    fn element(&self, inputs: &[Vec<i64>]) -> Vec<i64> {
        let ring = &self.contract.ring;
        let q = ring.q();
        let residues: Vec<Vec<u64>> =
            inputs.iter().map(|v| v.iter().map(|&x| zq::unsigned(x, q)).collect()).collect();
        let mut out = match (self.contract.computes, &self.contract.transform) {
            (Computes::Product, _) => return ring.mul(&inputs[0], &inputs[1]),
            (Computes::Scale { .. }, _) => residues[0].clone(),
            (Computes::Forward { .. }, Some(t)) => self.forward(t, &residues[0]),
            (Computes::Inverse { .. }, Some(t)) => self.inverse(t, &residues[0]),
            (Computes::BaseProduct { .. }, Some(t)) => self.base(t, &inputs[0], &inputs[1]),
            (Computes::Accumulate { .. }, Some(t)) => self.base(t, &inputs[1], &inputs[2]),
            (Computes::ToStandard, Some(_)) => {
                self.positions.iter().map(|&p| residues[0][p]).collect::<Vec<u64>>()
            }
            (Computes::FromStandard, Some(t)) => t.order.iter().map(|&o| residues[0][o]).collect(),
            (kind, None) => unreachable!("a contract of kind {} has a transform", kind.name()),
        };
        let scale = self.contract.computes.scale().unwrap_or(1);
        out.iter_mut().for_each(|c| *c = *c * scale % q);
        if self.contract.computes.accumulates() {
            for (c, old) in out.iter_mut().zip(&residues[0]) {
                *c = (*c + old) % q;
            }
        }
        out.into_iter().map(|c| zq::centered(c, q)).collect()
    }

    /// T(a): with x^d = w, coefficient r is a polynomial in w.
    fn forward(&self, t: &Transform, a: &[u64]) -> Vec<u64> {
        let (q, d) = (self.contract.ring.q(), t.degree);
        let value = |&o: &usize| {
            let (w, r) = (t.weights[o / d], o % d);
            a[r..].iter().step_by(d).rev().fold(0, |sum, &c| (sum * w + c) % q)
        };
        t.order.iter().map(value).collect()
    }

    /// T⁻¹(a): coefficients r, r + d, r + 2d, … are those of the polynomial of degree below m
    /// with the given values at the weights.
    fn inverse(&self, t: &Transform, a: &[u64]) -> Vec<u64> {
        let (q, d) = (self.contract.ring.q(), t.degree);
        let mut out = vec![0; a.len()];
        for (j, row) in self.lagrange.iter().enumerate() {
            for r in 0..d {
                let value = a[self.positions[j * d + r]];
                for (c, l) in out[r..].iter_mut().step_by(d).zip(row) {
                    *c = (*c + value * l) % q;
                }
            }
        }
        out
    }

    /// The products leaf by leaf, each in Z_q\[x\]/(x^d − w), summed over the pairs.
    fn base(&self, t: &Transform, a: &[i64], b: &[i64]) -> Vec<u64> {
        let (n, q, d) = (t.order.len(), self.contract.ring.q(), t.degree);
        let mut out = vec![0; n];
        for (a, b) in a.chunks_exact(n).zip(b.chunks_exact(n)) {
            for (l, leaf) in self.leaves.iter().enumerate() {
                let at = &self.positions[l * d..][..d];
                let element = |v: &[i64]| -> Vec<i64> { at.iter().map(|&p| v[p]).collect() };
                for (&p, c) in at.iter().zip(leaf.mul(&element(a), &element(b))) {
                    out[p] = (out[p] + zq::unsigned(c, q)) % q;
                }
            }
        }
        out
    }
}

/// Z_q\[x\]/(x^d − w).
fn leaf(q: u64, d: usize, w: u64) -> Option<Ring> {
    let mut modulus = vec![0; d + 1];
    modulus[d] = 1;
    modulus[0] = -(w as i64);
    Ring::new(q, &modulus)
}
