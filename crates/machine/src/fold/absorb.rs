//! Identities of bitwise operations on terms that share a part: masks that cancel, parts that absorb.
//!
//! All hold bit by bit for any value of every part, so none has a side condition. Compilers and
//! hand-written code need them where a selection is undone: `f0 ^ f1 ^ g` with `g = f0` in this lane.

use crate::graph::{Graph, NodeId, Op};
use smallvec::{SmallVec, smallvec};

/// Parts of a chain of exclusive ors that are looked at; longer chains keep their other parts whole.
const MOST_PARTS: usize = 8;

impl Graph {
    /// The two arguments of a node of operation `op`.
    fn two(&self, id: NodeId, op: &Op) -> Option<(NodeId, NodeId)> {
        let node = self.node(id);
        (node.op == *op).then(|| (node.args[0], node.args[1]))
    }

    /// The terms whose exclusive or the node is, at most [`MOST_PARTS`].
    fn xor_parts(&self, id: NodeId) -> SmallVec<[NodeId; MOST_PARTS]> {
        let mut parts = smallvec![id];
        let mut at = 0;
        while at < parts.len() && parts.len() < MOST_PARTS {
            match self.two(parts[at], &Op::Xor) {
                Some((x, y)) => {
                    parts[at] = x;
                    parts.push(y);
                }
                None => at += 1,
            }
        }
        parts
    }

    /// `a ^ b` where both have a part in common: x ^ x = 0, the rest stays.
    pub(super) fn cancel_xor(&mut self, a: NodeId, b: NodeId) -> Option<NodeId> {
        if self.node(a).op != Op::Xor && self.node(b).op != Op::Xor {
            return None;
        }
        let (mut left, mut right) = (self.xor_parts(a), self.xor_parts(b));
        let before = left.len();
        left.retain(|x| match right.iter().position(|y| self.same(*x, *y)) {
            Some(at) => {
                right.remove(at);
                false
            }
            None => true,
        });
        if left.len() == before {
            return None;
        }
        let mut rest = self.constant(self.width(a), 0);
        for part in left.into_iter().chain(right) {
            rest = self.xor(rest, part);
        }
        Some(rest)
    }

    /// `a op b` for `op` one of and, or, where one absorbs the other:
    /// x & (x & y) = x & y, x & (x | y) = x, and both with and, or exchanged.
    pub(super) fn absorb(&self, op: &Op, a: NodeId, b: NodeId) -> Option<NodeId> {
        let dual = if *op == Op::And { Op::Or } else { Op::And };
        let has = |whole: NodeId, op: &Op, part: NodeId| {
            self.two(whole, op).is_some_and(|(x, y)| self.same(x, part) || self.same(y, part))
        };
        for (a, b) in [(a, b), (b, a)] {
            if has(b, op, a) {
                return Some(b);
            }
            if has(b, &dual, a) {
                return Some(a);
            }
        }
        None
    }

    /// `a op b` for `op` one of or, exclusive or, where both are parts of one value under constant
    /// masks. The rules are (x & c) | (x & d) = x & (c | d) and (x & c) ^ (x & d) = x & (c ^ d).
    /// The same holds under a mask and its complement, whatever the mask:
    /// (x & m) | (x & !m) = (x & m) ^ (x & !m) = x.
    pub(super) fn join_masked(&mut self, op: &Op, a: NodeId, b: NodeId) -> Option<NodeId> {
        let (p, q) = (self.two(a, &Op::And)?, self.two(b, &Op::And)?);
        for (x, c) in [p, (p.1, p.0)] {
            for (y, d) in [q, (q.1, q.0)] {
                if !self.same(x, y) {
                    continue;
                }
                if let (Some(c), Some(d)) = (self.value(c), self.value(d)) {
                    let both = if *op == Op::Or { c | d } else { c ^ d };
                    let both = self.constant(self.width(a), both);
                    return Some(self.and(x, both));
                }
                if self.complements(c, d) {
                    return Some(x);
                }
            }
        }
        None
    }

    /// Whether one is the other with all bits flipped.
    fn complements(&self, a: NodeId, b: NodeId) -> bool {
        let ones = super::mask(self.width(a));
        let flipped = |a: NodeId, b: NodeId| {
            self.two(b, &Op::Xor)
                .is_some_and(|(x, c)| self.same(x, a) && self.value(c) == Some(ones))
        };
        flipped(a, b) || flipped(b, a)
    }
}
