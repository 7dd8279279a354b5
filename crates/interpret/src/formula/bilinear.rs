//! Comparison of a product with its definition, one operand at a basis vector at a time.

use super::arena::{Arena, Form};
use super::{Agreement, Forms, Id, Kind, Mismatch, Node};
use rayon::prelude::*;
use ringforge_ring::{Ring, zq};
use std::collections::HashMap;

impl Forms {
    /// The forms of all linear nodes.
    fn linear_forms(&self) -> (Arena, Vec<Form>) {
        let mut arena = Arena::default();
        let mut forms = vec![Form::default(); self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            if !matches!(self.kinds[id], Kind(1 | 2 | 4)) {
                continue;
            }
            forms[id] = match *node {
                Node::Input { index, .. } => arena.unit(index),
                Node::Add(a, b) => arena.sum(forms[a as usize], forms[b as usize], false, self.q),
                Node::Sub(a, b) => arena.sum(forms[a as usize], forms[b as usize], true, self.q),
                Node::Scale(a, c) => arena.scaled(None, forms[a as usize], c, self.q),
                Node::Constant(_) | Node::Product(..) => Form::default(),
            };
        }
        (arena, forms)
    }

    /// Output number `output` as coefficients over the inputs of one operand: `Some((operand,
    /// coefficients))`, or `None` where the output is not linear.
    pub fn linear(&self, output: usize) -> Option<(usize, Vec<u64>)> {
        let id = *self.outputs.get(output)? as usize;
        let operand = match self.kinds[id] {
            Kind(1) => 0u8,
            Kind(2) => 1,
            _ => return None,
        };
        let (arena, forms) = self.linear_forms();
        let mut dense = vec![0; self.inputs[usize::from(operand)]];
        for (&i, &v) in arena.indices(forms[id]).iter().zip(arena.values(forms[id])) {
            dense[i as usize] = u64::from(v);
        }
        Some((usize::from(operand), dense))
    }

    /// Compares the outputs with the product of the two operands in `ring`, for all pairs of basis vectors and for any
    /// program. The second operand is fixed at one e_j at a time. The error is the first difference in the order of
    /// (j, output, i).
    pub(super) fn agrees_by_columns(&self, ring: &Ring) -> Result<Agreement, Mismatch> {
        let n = ring.degree();
        let (linear_arena, linear) = self.linear_forms();
        // y[product][j]: the second factor of a product, by the basis vector it meets.
        let mut by_basis: Vec<Vec<(Id, Form, u64)>> = vec![Vec::new(); n];
        let mut bilinear = Vec::new();
        let mut products = 0;
        for (id, &node) in self.nodes.iter().enumerate() {
            if self.kinds[id] != Kind::BILINEAR {
                continue;
            }
            if let Node::Product(x, y) = node {
                products += 1;
                let (x, y) = (linear[x as usize], linear[y as usize]);
                let terms = linear_arena.indices(y).iter().zip(linear_arena.values(y));
                for (&j, &v) in terms.filter(|&(_, &v)| v != 0) {
                    by_basis[j as usize].push((id as Id, x, u64::from(v)));
                }
            } else {
                bilinear.push(id as Id);
            }
        }
        let powers = powers(ring);
        let first = (0..n)
            .into_par_iter()
            .map_init(
                || (Arena::default(), vec![Form::default(); self.nodes.len()]),
                |(arena, forms), j| {
                    arena.clear();
                    forms.fill(Form::default());
                    for &(id, x, y) in &by_basis[j] {
                        forms[id as usize] = arena.scaled(Some(&linear_arena), x, y, self.q);
                    }
                    for &id in &bilinear {
                        let form = |a: Id| forms[a as usize];
                        forms[id as usize] = match self.nodes[id as usize] {
                            Node::Add(a, b) => arena.sum(form(a), form(b), false, self.q),
                            Node::Sub(a, b) => arena.sum(form(a), form(b), true, self.q),
                            Node::Scale(a, c) => arena.scaled(None, form(a), c, self.q),
                            _ => Form::default(),
                        };
                    }
                    self.compare(j, arena, forms, &powers)
                },
            )
            .find_first(Result::is_err);
        match first {
            Some(Err(mismatch)) => Err(mismatch),
            _ => Ok(Agreement {
                pairs: (n * n) as u64,
                evaluations: n as u64,
                outputs: n,
                nodes: self.nodes.len(),
                products,
            }),
        }
    }

    fn compare(
        &self,
        j: usize,
        arena: &Arena,
        forms: &[Form],
        powers: &[Vec<(usize, u64)>],
    ) -> Result<(), Mismatch> {
        let n = self.outputs.len();
        let mut expected: Vec<Vec<(usize, u64)>> = vec![Vec::new(); n];
        for i in 0..n {
            for &(k, c) in &powers[i + j] {
                expected[k].push((i, c));
            }
        }
        for (output, wanted) in expected.iter().enumerate() {
            let f = forms[self.outputs[output] as usize];
            let terms = arena.indices(f).iter().zip(arena.values(f));
            let found = terms.filter(|&(_, &v)| v != 0).map(|(&i, &v)| (i as usize, u64::from(v)));
            if found.clone().eq(wanted.iter().copied()) {
                continue;
            }
            let found: HashMap<usize, u64> = found.collect();
            let wanted: HashMap<usize, u64> = wanted.iter().copied().collect();
            let value = |map: &HashMap<usize, u64>, i| map.get(&i).copied().unwrap_or(0);
            let i = (0..n).find(|&i| value(&found, i) != value(&wanted, i)).unwrap_or(0);
            let (found, expected) = (value(&found, i), value(&wanted, i));
            return Err(Mismatch::Coefficient { output, i, j, found, expected });
        }
        Ok(())
    }
}

/// The nonzero coefficients of x^k mod f for k up to 2n − 2.
pub(super) fn powers(ring: &Ring) -> Vec<Vec<(usize, u64)>> {
    let (n, q) = (ring.degree(), ring.q());
    let mut row = vec![0u64; n];
    row[0] = 1 % q;
    let sparse =
        |row: &[u64]| row.iter().copied().enumerate().filter(|&(_, c)| c != 0).collect::<Vec<_>>();
    let mut all = vec![sparse(&row)];
    for _ in 1..2 * n - 1 {
        let top = row.pop().unwrap_or(0);
        row.insert(0, 0);
        for (c, &f) in row.iter_mut().zip(ring.modulus()) {
            *c = zq::sub(*c, zq::mul(top, zq::unsigned(f, q), q), q);
        }
        all.push(sparse(&row));
    }
    all
}
