//! Bitwise operations, comparisons, selection and saturation.

use super::{bytes::byte_of, gather, mask, signed};
use crate::byte::Byte;
use crate::graph::{Graph, NodeId, Op};
use smallvec::SmallVec;

impl Graph {
    /// Bitwise and.
    pub fn and(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => return self.constant(width, x & y),
            (Some(_), None) => return self.and(b, a),
            (_, Some(0)) => return b,
            (_, Some(y)) if y == mask(width) => return a,
            _ if a == b => return a,
            _ => {}
        }
        if let Some(moved) = self.bytewise(a, b, |x, y| match (x, y) {
            (Byte::Const(0), _) | (_, Byte::Const(0)) => Some(Byte::Const(0)),
            (Byte::Const(0xff), z) | (z, Byte::Const(0xff)) => Some(z),
            _ if x == y => Some(x),
            _ => None,
        }) {
            return moved;
        }
        if let Some(one) = self.absorb(&Op::And, a, b) {
            return one;
        }
        if let Some(y) = self.value(b)
            && self.node(a).op == Op::And
        {
            let (x, c) = (self.node(a).args[0], self.node(a).args[1]);
            if let Some(c) = self.value(c) {
                let c = self.constant(width, c & y);
                return self.and(x, c);
            }
        }
        // A mask rids a value of the pointer that was in its register before.
        if let Some(y) = self.value(b)
            && self.has_address(a)
        {
            let low = 64 - y.leading_zeros() as u8;
            let low = low.next_multiple_of(8);
            if low < width {
                let (x, y) = (self.slice(a, 0, low), self.constant(low, y));
                let r = self.and(x, y);
                return self.zext(r, width);
            }
        }
        self.commutative(width, Op::And, a, b)
    }

    /// Bitwise or.
    pub fn or(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => return self.constant(width, x | y),
            (Some(_), None) => return self.or(b, a),
            (_, Some(0)) => return a,
            (_, Some(y)) if y == mask(width) => return b,
            _ if a == b => return a,
            _ => {}
        }
        if let Some(moved) = self.bytewise(a, b, |x, y| match (x, y) {
            (Byte::Const(0xff), _) | (_, Byte::Const(0xff)) => Some(Byte::Const(0xff)),
            (Byte::Const(0), z) | (z, Byte::Const(0)) => Some(z),
            _ if x == y => Some(x),
            _ => None,
        }) {
            return moved;
        }
        if let Some(one) = self.absorb(&Op::Or, a, b) {
            return one;
        }
        if let Some(joined) = self.join_masked(&Op::Or, a, b) {
            return joined;
        }
        self.commutative(width, Op::Or, a, b)
    }

    /// Bitwise exclusive or.
    pub fn xor(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => return self.constant(width, x ^ y),
            (Some(_), None) => return self.xor(b, a),
            (_, Some(0)) => return a,
            _ if self.same(a, b) => return self.constant(width, 0),
            // ~P = -1 - P, of which sums with pointers into the same region are numbers. A single bit is a condition.
            (_, Some(y)) if width > 1 && y == mask(width) && self.low_address(a).is_some() => {
                return self.sub(b, a);
            }
            // ~(c - x) = x + ~c.
            (_, Some(y)) if y == mask(width) && self.node(a).op == Op::Sub => {
                let (c, x) = (self.node(a).args[0], self.node(a).args[1]);
                if let Some(c) = self.value(c) {
                    let c = self.constant(width, !c);
                    return self.add(x, c);
                }
            }
            (_, Some(y)) if self.node(a).op == Op::Xor => {
                let (x, c) = (self.node(a).args[0], self.node(a).args[1]);
                if let Some(c) = self.value(c) {
                    let c = self.constant(width, c ^ y);
                    return self.xor(x, c);
                }
            }
            _ => {}
        }
        if let Some(moved) = self.bytewise(a, b, |x, y| match (x, y) {
            (Byte::Const(0), z) | (z, Byte::Const(0)) => Some(z),
            _ => None,
        }) {
            return moved;
        }
        if let Some(rest) = self.cancel_xor(a, b) {
            return rest;
        }
        if let Some(joined) = self.join_masked(&Op::Xor, a, b) {
            return joined;
        }
        self.commutative(width, Op::Xor, a, b)
    }

    /// Bitwise complement.
    pub fn not(&mut self, a: NodeId) -> NodeId {
        let ones = self.constant(self.width(a), u64::MAX);
        self.xor(a, ones)
    }

    /// The operation as byte moves, if `rule` decides every byte.
    fn bytewise(
        &mut self,
        a: NodeId,
        b: NodeId,
        rule: impl Fn(Byte, Byte) -> Option<Byte>,
    ) -> Option<NodeId> {
        let width = self.width(a);
        if !width.is_multiple_of(8) {
            return None;
        }
        let mut out: SmallVec<[Byte; 8]> = SmallVec::new();
        for k in 0..width / 8 {
            out.push(rule(byte_of(self, a, k), byte_of(self, b, k))?);
        }
        gather(self, &out)
    }

    /// Equality, one bit.
    pub fn eq(&mut self, a: NodeId, b: NodeId) -> NodeId {
        debug_assert_eq!(self.width(a), self.width(b));
        if self.same(a, b) {
            return self.constant(1, 1);
        }
        match (self.value(a), self.value(b)) {
            (Some(_), Some(_)) => return self.constant(1, 0),
            (Some(_), None) => return self.eq(b, a),
            _ => {}
        }
        if let (Some((r, _)), Some((s, _))) = (self.address_of(a), self.address_of(b))
            && r == s
        {
            return self.constant(1, 0);
        }
        self.commutative(1, Op::Eq, a, b)
    }

    /// Unsigned less-than, one bit.
    pub fn ult(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => self.constant(1, u64::from(x < y)),
            (_, Some(0)) => self.constant(1, 0),
            (_, Some(1)) => {
                let zero = self.constant(width, 0);
                self.eq(a, zero)
            }
            (Some(x), _) if x == mask(width) => self.constant(1, 0),
            _ if self.same(a, b) => self.constant(1, 0),
            _ => self.binary(1, Op::Ult, a, b),
        }
    }

    /// Signed less-than, one bit. Less than zero is the sign bit.
    pub fn slt(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => self.constant(1, u64::from(signed(x, width) < signed(y, width))),
            (_, Some(0)) => self.slice(a, width - 1, 1),
            _ if self.same(a, b) => self.constant(1, 0),
            _ => self.binary(1, Op::Slt, a, b),
        }
    }

    /// `if c { a } else { b }` for a one-bit `c`.
    pub fn select(&mut self, c: NodeId, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        debug_assert_eq!(self.width(c), 1);
        match self.value(c) {
            Some(0) => return b,
            Some(_) => return a,
            None if a == b => return a,
            None => {}
        }
        if self.node(c).op == Op::Xor && self.value(self.node(c).args[1]).is_some() {
            let c = self.node(c).args[0];
            return self.select(c, b, a);
        }
        match (self.value(a), self.value(b)) {
            (Some(x), Some(0)) if x == mask(width) => return self.sext(c, width),
            (Some(1), Some(0)) => return self.zext(c, width),
            (Some(0), Some(y)) if y == mask(width) => {
                let c = self.not(c);
                return self.sext(c, width);
            }
            (Some(0), Some(1)) => {
                let c = self.not(c);
                return self.zext(c, width);
            }
            _ => {}
        }
        self.make(width, Op::Select, SmallVec::from_slice(&[c, a, b]))
    }

    /// Signed saturation of the signed `a` to `width` bits.
    pub fn sat_s(&mut self, a: NodeId, width: u8) -> NodeId {
        let from = self.width(a);
        if let Some(v) = self.value(a) {
            let limit = (1i128 << (width - 1)) - 1;
            let v = i128::from(signed(v, from)).clamp(-limit - 1, limit);
            return self.constant(width, v as u64);
        }
        if self.node(a).op == Op::Sext && self.width(self.node(a).args[0]) <= width {
            let x = self.node(a).args[0];
            return self.sext(x, width);
        }
        self.unary(width, Op::SatS, a)
    }

    /// Unsigned saturation of the signed `a` to `width` bits.
    pub fn sat_u(&mut self, a: NodeId, width: u8) -> NodeId {
        let from = self.width(a);
        if let Some(v) = self.value(a) {
            let v = i128::from(signed(v, from)).clamp(0, i128::from(mask(width)));
            return self.constant(width, v as u64);
        }
        if self.node(a).op == Op::Zext && self.width(self.node(a).args[0]) <= width {
            let x = self.node(a).args[0];
            return self.zext(x, width);
        }
        self.unary(width, Op::SatU, a)
    }
}
