//! Exact evaluation of the recorded graph at basis vectors.

use super::{Forms, Id, Kind, Node};
use ringforge_ring::zq;

/// Products of the graph with the coefficients of their factors: `x[i·products + p]` is that of
/// `a[i]` in the first factor of product number `p`, `y[j·products + p]` that of `b[j]` in the second.
pub(super) struct Factors {
    pub(super) products: Vec<Id>,
    pub(super) x: Vec<u32>,
    pub(super) y: Vec<u32>,
}

/// Nodes to evaluate, in order; all others are zero.
pub(super) struct Evaluation<'f> {
    forms: &'f Forms,
    order: Vec<Id>,
}

impl Forms {
    /// The nodes that depend on `kind`.
    pub(super) fn evaluation(&self, kind: Kind) -> Evaluation<'_> {
        let of = |&id: &Id| self.kinds[id as usize].contains(kind);
        Evaluation { forms: self, order: (0..self.nodes.len() as Id).filter(of).collect() }
    }

    /// A vector of values for [`Evaluation::run`].
    pub(super) fn values(&self) -> Vec<u32> {
        vec![0; self.nodes.len()]
    }

    /// The coefficients of all factors, by evaluation of the linear nodes at each basis vector.
    pub(super) fn factors(&self) -> Factors {
        let product = |(id, node): (usize, &Node)| match *node {
            Node::Product(x, y) => Some((id as Id, x, y)),
            _ => None,
        };
        let all: Vec<(Id, Id, Id)> = self.nodes.iter().enumerate().filter_map(product).collect();
        let side = |operand: u8, pick: &dyn Fn(&(Id, Id, Id)) -> Id| {
            let evaluation = self.evaluation(Kind::linear(operand));
            let mut values = self.values();
            let mut rows = Vec::new();
            for i in 0..self.inputs.get(usize::from(operand)).copied().unwrap_or(0) {
                evaluation.run(&mut values, |_, index| u32::from(index as usize == i));
                rows.extend(all.iter().map(|p| values[pick(p) as usize]));
            }
            rows
        };
        let (x, y) = (side(0, &|p| p.1), side(1, &|p| p.2));
        Factors { products: all.iter().map(|p| p.0).collect(), x, y }
    }
}

impl Evaluation<'_> {
    /// Evaluates; `leaf(id, index)` gives inputs (with their index) and products.
    pub(super) fn run(&self, values: &mut [u32], leaf: impl Fn(Id, u32) -> u32) {
        let q = self.forms.q as u32;
        for &id in &self.order {
            values[id as usize] = match self.forms.nodes[id as usize] {
                Node::Add(a, b) => {
                    let sum = values[a as usize] + values[b as usize];
                    if sum >= q { sum - q } else { sum }
                }
                Node::Sub(a, b) => {
                    let (a, b) = (values[a as usize], values[b as usize]);
                    if a >= b { a - b } else { a + q - b }
                }
                Node::Scale(a, c) => (u64::from(values[a as usize]) * c % u64::from(q)) as u32,
                Node::Input { index, .. } => leaf(id, index),
                Node::Product(..) | Node::Constant(_) => leaf(id, 0),
            };
        }
    }

    /// The coefficients of the leaves in output number `output`: the same graph, read backwards.
    pub(super) fn covector(&self, output: usize) -> Vec<u32> {
        let q = self.forms.q;
        let mut weights = vec![0u64; self.forms.nodes.len()];
        weights[self.forms.outputs[output] as usize] = 1;
        for &id in self.order.iter().rev() {
            let w = weights[id as usize];
            if w == 0 {
                continue;
            }
            let mut to = |a: Id, w: u64| {
                let cell = &mut weights[a as usize];
                *cell = (*cell + w) % q;
            };
            match self.forms.nodes[id as usize] {
                Node::Add(a, b) => {
                    to(a, w);
                    to(b, w);
                }
                Node::Sub(a, b) => {
                    to(a, w);
                    to(b, q - w);
                }
                Node::Scale(a, c) => to(a, w * c % q),
                Node::Input { .. } | Node::Product(..) | Node::Constant(_) => {}
            }
        }
        weights.into_iter().map(|w| w as u32).collect()
    }
}

impl Factors {
    /// The smallest d for which there are residues r_p with x[i+d][p] = r_p·x[i][p] and
    /// y[j+d][p] = r_p·y[j][p] for all p, i, j. The products at (e_(i+d), e_j) then equal those at
    /// (e_i, e_(j+d)). Only d up to n/4 are worth the search.
    pub(super) fn period(&self, n: usize, q: u64) -> Option<usize> {
        (1..=n / 4)
            .filter(|d| n.is_multiple_of(*d))
            .find(|&d| (0..self.products.len()).all(|p| self.is_geometric(p, d, n, q).is_some()))
    }

    fn is_geometric(&self, p: usize, d: usize, n: usize, q: u64) -> Option<()> {
        let width = self.products.len();
        let mut ratio = None;
        for side in [&self.x, &self.y] {
            for i in 0..n - d {
                let (now, next) = (u64::from(side[i * width + p]), side[(i + d) * width + p]);
                if now != 0 && ratio.is_none() {
                    ratio = Some(zq::mul(u64::from(next), zq::inv(now, q)?, q));
                }
                if u64::from(next) != ratio.map_or(0, |r| now * r % q) {
                    return None;
                }
            }
        }
        Some(())
    }
}
