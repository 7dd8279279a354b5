//! Flags, kept as what they were computed from and evaluated when read; values that decide control flow.

use super::{Fallible, InstructionSet, Machine, Stop, Value};
use crate::error::{LiftError, Timing, Violation};
use crate::graph::{NodeId, Op};
use crate::settled::settled;

/// One flag. Nodes named `r` are the result, `a` and `b` the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Flag {
    /// Undefined: reading it is a violation.
    #[default]
    Undefined,
    /// Depends on something that is not modelled; reading it is refused.
    Unmodelled,
    /// A node of one bit.
    Bit(NodeId),
    /// A bit of a node.
    At(NodeId, u8),
    /// `a < b` unsigned: the borrow of a - b.
    Below(NodeId, NodeId),
    /// `a == b`.
    Equal(NodeId, NodeId),
    /// `r == 0`.
    Zero(NodeId),
    /// The top bit of `r`.
    Sign(NodeId),
    /// Even parity of the low byte of `r`.
    Parity(NodeId),
    /// Carry of r = a + b + carry-in.
    Carry { a: NodeId, b: NodeId, r: NodeId },
    /// Borrow of r = a - b - borrow-in.
    Borrow { a: NodeId, b: NodeId, r: NodeId },
    /// Signed overflow of r = a + b.
    AddOverflow { a: NodeId, b: NodeId, r: NodeId },
    /// Signed overflow of r = a - b.
    SubOverflow { a: NodeId, b: NodeId, r: NodeId },
    /// Signed overflow of r = a - b - borrow-in.
    BorrowOverflow { a: NodeId, b: NodeId, r: NodeId },
    /// Whether `r`, the whole product, is not the sign extension of its low half.
    SignedWide(NodeId),
}

impl<I: InstructionSet> Machine<'_, I> {
    /// The value of a flag, one bit.
    pub fn flag(&mut self, flag: Flag) -> Fallible<NodeId> {
        let g = &mut *self.g;
        let top = |g: &mut crate::graph::Graph, x: NodeId| {
            let w = g.width(x);
            g.slice(x, w - 1, 1)
        };
        Ok(match flag {
            Flag::Undefined => return Err(self.undefined("a flag")),
            Flag::Unmodelled => return Err(self.unsupported("a flag that is not modelled is read")),
            Flag::Bit(b) => b,
            Flag::At(x, k) => g.slice(x, k, 1),
            Flag::Below(a, b) => self.ult(a, b),
            Flag::Equal(a, b) => self.equal(a, b),
            Flag::Zero(r) => {
                let zero = g.constant(g.width(r), 0);
                self.equal(r, zero)
            }
            Flag::Sign(r) => top(g, r),
            Flag::Parity(r) => {
                let mut odd = g.slice(r, 0, 1);
                for k in 1..8 {
                    let bit = g.slice(r, k, 1);
                    odd = g.xor(odd, bit);
                }
                g.not(odd)
            }
            Flag::Carry { a, b, r } => {
                // (a & b) | ((a | b) & !r)
                let both = g.and(a, b);
                let any = g.or(a, b);
                let lost = g.not(r);
                let through = g.and(any, lost);
                let carry = g.or(both, through);
                top(g, carry)
            }
            Flag::Borrow { a, b, r } => {
                // (!a & b) | ((!a | b) & r)
                let not_a = g.not(a);
                let both = g.and(not_a, b);
                let any = g.or(not_a, b);
                let through = g.and(any, r);
                let borrow = g.or(both, through);
                top(g, borrow)
            }
            Flag::AddOverflow { a, b, r } => {
                let (x, y) = (g.xor(a, r), g.xor(b, r));
                let both = g.and(x, y);
                top(g, both)
            }
            Flag::SubOverflow { a, b, r } | Flag::BorrowOverflow { a, b, r } => {
                let (x, y) = (g.xor(a, b), g.xor(a, r));
                let both = g.and(x, y);
                top(g, both)
            }
            Flag::SignedWide(r) => {
                let w = g.width(r);
                let low = g.slice(r, 0, w / 2);
                let again = g.sext(low, w);
                let same = g.eq(again, r);
                g.not(same)
            }
        })
    }

    /// Whether a < b, signed, after a comparison of a with b: the sign differs from the overflow. One bit.
    pub fn less(&mut self, sign: Flag, overflow: Flag) -> Fallible<NodeId> {
        if let Flag::SubOverflow { a, b, r } = overflow
            && sign == Flag::Sign(r)
            && self.known(&[a, b, r])
        {
            return Ok(self.g.slt(a, b));
        }
        let (s, o) = (self.flag(sign)?, self.flag(overflow)?);
        Ok(self.g.xor(s, o))
    }

    /// Whether a ≤ b, signed, after a comparison of a with b: [`Self::less`], or zero. One bit.
    pub fn at_most(&mut self, sign: Flag, zero: Flag, overflow: Flag) -> Fallible<NodeId> {
        if let Flag::SubOverflow { a, b, r } = overflow
            && sign == Flag::Sign(r)
            && zero == Flag::Equal(a, b)
            && self.known(&[a, b, r])
        {
            let greater = self.g.slt(b, a);
            return Ok(self.g.not(greater));
        }
        let (l, z) = (self.less(sign, overflow)?, self.flag(zero)?);
        Ok(self.g.or(l, z))
    }

    /// Whether flags of these nodes that agree were set by one instruction: unknowns always agree.
    pub fn known(&self, nodes: &[NodeId]) -> bool {
        !nodes.iter().any(|&n| self.g.is_vague(n))
    }

    /// A value that decides control flow or a count: a number, or an error.
    pub fn concrete(&mut self, value: Value, kind: Timing, what: &str) -> Fallible<u64> {
        let Some(node) = value else { return Err(self.undefined(what)) };
        match self.g.value(node) {
            Some(v) => Ok(v),
            None => {
                let (condition, negated) = self.positive(node);
                if kind == Timing::Branch
                    && let Some(value) = self.decide(condition)?
                {
                    return Ok(u64::from(value != negated));
                }
                let (ranges, left) = &mut self.ranges;
                if let Some(value) = settled(self.g, node, ranges, left) {
                    return Ok(value);
                }
                let stop = self.not_concrete(kind, node);
                let leaks = matches!(
                    *stop,
                    Stop::Error(LiftError::Violation(Violation::ConstantTime { .. }))
                );
                if kind == Timing::Branch
                    && self.g.width(node) == 1
                    && leaks
                    && let Some(way) = self.released()?
                {
                    return Ok(u64::from(way));
                }
                Err(stop)
            }
        }
    }

    /// A condition without its negation, and whether it had one.
    pub fn positive(&self, node: NodeId) -> (NodeId, bool) {
        let n = self.g.node(node);
        if n.width == 1 && n.op == Op::Xor && self.g.value(n.args[1]) == Some(1) {
            (n.args[0], true)
        } else {
            (node, false)
        }
    }
}
