//! Recording a transform as a network of operations.
//!
//! Zero skipping and early dropping need no code of their own [Chiu25 §3.3.1, §3.3.2]. The recorder
//! folds structural zeros while it records. Operations that no wanted output depends on are dropped
//! afterwards.

use crate::arith::{Arith, Val};
use ringforge_ring::zq;
use std::collections::HashMap;

/// One node of a [`Network`]; operands are earlier nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum NetOp {
    /// The block of zeros.
    Zero,
    /// The input with this index.
    Input(usize),
    /// `a + b`; `Add(a, a)` is how a doubling is written.
    Add(Val, Val),
    /// `a − b`.
    Sub(Val, Val),
    /// `c · a` with `c` in `[2, q)`; `c = q − 1` is a negation that nothing could absorb.
    Scale(Val, u64),
    /// `x^k · a` mod x^W + 1, W the width of the blocks.
    Rotate(Val, usize),
}

impl NetOp {
    /// The operands, in order.
    pub fn operands(&self) -> impl Iterator<Item = Val> + use<> {
        let pair = match *self {
            NetOp::Add(a, b) | NetOp::Sub(a, b) => [Some(a), Some(b)],
            NetOp::Scale(a, _) | NetOp::Rotate(a, _) => [Some(a), None],
            NetOp::Zero | NetOp::Input(_) => [None, None],
        };
        pair.into_iter().flatten()
    }
}

/// How many operations a piece of a plan takes, on blocks or on coefficients as the place says.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize)]
pub struct Cost {
    /// Multiplications by a constant.
    pub scales: u64,
    /// Additions and subtractions.
    pub adds: u64,
    /// Products of two variables.
    pub products: u64,
}

impl Cost {
    /// This cost, `times` over.
    pub fn times(self, times: u64) -> Cost {
        Cost {
            scales: self.scales * times,
            adds: self.adds * times,
            products: self.products * times,
        }
    }
}

impl std::ops::Add for Cost {
    type Output = Cost;
    fn add(self, other: Cost) -> Cost {
        Cost {
            scales: self.scales + other.scales,
            adds: self.adds + other.adds,
            products: self.products + other.products,
        }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(parts: I) -> Cost {
        parts.fold(Cost::default(), |sum, part| sum + part)
    }
}

/// A recording of linear arithmetic: a graph in which equal computations are one node, zeros are
/// folded, and negations are absorbed by additions where one follows.
///
/// ```
/// use ringforge_plan::{Arith, NetOp, Network};
/// let mut net = Network::new(17);
/// let (a, zero) = (net.input(0), net.zero());
/// let minus = net.sub(zero, a);             // −a …
/// let b = net.input(1);
/// let difference = net.add(b, minus);       // … becomes b − a
/// assert_eq!(net.op(difference), NetOp::Sub(b, a));
/// assert_eq!(net.add(a, zero), a);
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    q: u64,
    ops: Vec<NetOp>,
    known: HashMap<NetOp, Val>,
    labels: HashMap<Val, String>,
}

impl Network {
    /// An empty network modulo `q`.
    pub fn new(q: u64) -> Network {
        let known = HashMap::from([(NetOp::Zero, Val(0))]);
        Network { q, ops: vec![NetOp::Zero], known, labels: HashMap::new() }
    }

    /// The input with this index; asking twice gives the same value.
    pub fn input(&mut self, index: usize) -> Val {
        self.push(NetOp::Input(index))
    }

    /// `present.len()` values: input i where `present[i]`, structural zero elsewhere.
    pub fn inputs(&mut self, present: &[bool]) -> Vec<Val> {
        let pick = |(i, &p): (usize, &bool)| if p { self.input(i) } else { Val(0) };
        present.iter().enumerate().map(pick).collect()
    }

    /// The operation that makes `v`.
    pub fn op(&self, v: Val) -> NetOp {
        self.ops[v.0 as usize]
    }

    /// All nodes in order of recording, dead ones included.
    pub fn ops(&self) -> &[NetOp] {
        &self.ops
    }

    /// The label of `v`, where a method gave it one.
    pub fn label_of(&self, v: Val) -> Option<&str> {
        self.labels.get(&v).map(String::as_str)
    }

    /// The nodes that `outputs` depend on, in an order in which operands come first: dropping the
    /// rest is early dropping.
    pub fn live(&self, outputs: &[Val]) -> Vec<Val> {
        let mut needed = vec![false; self.ops.len()];
        for v in outputs {
            needed[v.0 as usize] = true;
        }
        for i in (0..self.ops.len()).rev() {
            if needed[i] {
                self.ops[i].operands().for_each(|v| needed[v.0 as usize] = true);
            }
        }
        (0..self.ops.len()).filter(|&i| needed[i]).map(|i| Val(i as u32)).collect()
    }

    /// The operations that `outputs` take, after early dropping.
    pub fn cost(&self, outputs: &[Val]) -> Cost {
        let mut cost = Cost::default();
        for v in self.live(outputs) {
            match self.op(v) {
                NetOp::Add(..) | NetOp::Sub(..) => cost.adds += 1,
                NetOp::Scale(..) => cost.scales += 1,
                NetOp::Zero | NetOp::Input(_) | NetOp::Rotate(..) => {}
            }
        }
        cost
    }

    /// Replays the recording of `outputs` on another arithmetic, with `inputs[i]` as `Input(i)`.
    pub fn replay(&self, arith: &mut dyn Arith, inputs: &[Val], outputs: &[Val]) -> Vec<Val> {
        let mut played: HashMap<Val, Val> = HashMap::new();
        for v in self.live(outputs) {
            let value = match self.op(v) {
                NetOp::Zero => arith.zero(),
                NetOp::Input(i) => inputs[i],
                NetOp::Add(a, b) => arith.add(played[&a], played[&b]),
                NetOp::Sub(a, b) => arith.sub(played[&a], played[&b]),
                NetOp::Scale(a, c) => arith.scale(played[&a], c),
                NetOp::Rotate(a, k) => arith.rotate(played[&a], k),
            };
            played.insert(v, value);
        }
        outputs.iter().map(|v| played[v]).collect()
    }

    fn push(&mut self, op: NetOp) -> Val {
        if let Some(&v) = self.known.get(&op) {
            return v;
        }
        let v = Val(self.ops.len() as u32);
        self.ops.push(op);
        self.known.insert(op, v);
        v
    }

    /// `Some(x)` where `v` is −x.
    fn negated(&self, v: Val) -> Option<Val> {
        match self.op(v) {
            NetOp::Scale(x, c) if c == self.q - 1 => Some(x),
            _ => None,
        }
    }
}

impl Arith for Network {
    fn q(&self) -> u64 {
        self.q
    }

    fn zero(&mut self) -> Val {
        Val(0)
    }

    fn is_zero(&self, v: Val) -> bool {
        v == Val(0)
    }

    fn add(&mut self, a: Val, b: Val) -> Val {
        match (self.negated(a), self.negated(b)) {
            _ if self.is_zero(a) => b,
            _ if self.is_zero(b) => a,
            (Some(x), Some(y)) => {
                let sum = self.add(x, y);
                self.scale(sum, self.q - 1)
            }
            (Some(x), None) => self.sub(b, x),
            (None, Some(y)) => self.sub(a, y),
            (None, None) => self.push(NetOp::Add(a.min(b), a.max(b))),
        }
    }

    fn sub(&mut self, a: Val, b: Val) -> Val {
        match (self.negated(a), self.negated(b)) {
            _ if a == b => self.zero(),
            _ if self.is_zero(b) => a,
            _ if self.is_zero(a) => self.scale(b, self.q - 1),
            (Some(x), Some(y)) => self.sub(y, x),
            (Some(x), None) => {
                let sum = self.add(x, b);
                self.scale(sum, self.q - 1)
            }
            (None, Some(y)) => self.add(a, y),
            (None, None) => self.push(NetOp::Sub(a, b)),
        }
    }

    fn scale(&mut self, a: Val, c: u64) -> Val {
        let c = c % self.q;
        if self.is_zero(a) || c == 0 {
            return self.zero();
        }
        if c == 1 {
            return a;
        }
        let minus = self.q - 1;
        match self.op(a) {
            // A negation stays apart from the multiplication it negates: an addition will absorb
            // it, and the product is likely used with its own sign too.
            NetOp::Scale(x, d) if c != minus || d == minus => self.scale(x, zq::mul(c, d, self.q)),
            NetOp::Sub(x, y) if c == minus => self.sub(y, x),
            _ => self.push(NetOp::Scale(a, c)),
        }
    }

    fn rotate(&mut self, a: Val, k: usize) -> Val {
        match self.op(a) {
            _ if k == 0 || self.is_zero(a) => a,
            NetOp::Rotate(b, j) => self.push(NetOp::Rotate(b, j + k)),
            _ => self.push(NetOp::Rotate(a, k)),
        }
    }

    fn label(&mut self, v: Val, what: &str) {
        self.labels.entry(v).or_insert_with(|| what.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_signs_fold() {
        let mut net = Network::new(17);
        let (a, b, zero) = (net.input(0), net.input(1), net.zero());
        assert_eq!(net.sub(a, zero), a);
        assert_eq!(net.scale(zero, 5), zero);
        assert_eq!(net.scale(a, 1), a);
        assert_eq!(net.sub(a, a), zero);
        let minus = net.sub(zero, a);
        assert_eq!(net.op(minus), NetOp::Scale(a, 16));
        let difference = net.sub(b, a);
        assert_eq!(net.add(b, minus), difference);
        assert_eq!(net.add(minus, b), difference);
        assert_eq!(net.scale(minus, 16), a);
        let other = net.sub(zero, b);
        let both = net.add(minus, other); // −(a + b)
        let sum = net.add(b, a);
        assert_eq!(net.scale(both, 16), sum);
        let three = net.scale(a, 3);
        let six = net.scale(three, 2);
        assert_eq!(net.op(six), NetOp::Scale(a, 6));
        // −3a keeps 3a in common, b − 3a absorbs the sign
        let minus_three = net.sub(zero, three);
        let mixed = net.add(b, minus_three);
        assert_eq!(net.op(mixed), NetOp::Sub(b, three));
    }

    #[test]
    fn what_nobody_reads_is_dropped() {
        let mut net = Network::new(17);
        let (a, b) = (net.input(0), net.input(1));
        let sum = net.add(a, b);
        let scaled = net.scale(sum, 3);
        let unread = net.scale(b, 5);
        assert_eq!(net.cost(&[scaled]), Cost { scales: 1, adds: 1, products: 0 });
        assert!(!net.live(&[scaled]).contains(&unread));
        assert_eq!(net.live(&[unread]), [b, unread]);
    }
}
