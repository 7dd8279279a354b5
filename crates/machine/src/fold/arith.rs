//! Sums, products and shifts.

use super::signed;
use crate::graph::{Graph, NodeId, Op};

impl Graph {
    /// The folded node of an operation on other arguments of the same widths.
    pub fn rebuild(&mut self, width: u8, op: Op, args: &[NodeId]) -> NodeId {
        match (op, args) {
            (Op::Slice { lo }, &[a]) => self.slice(a, lo, width),
            (Op::Concat, parts) => self.concat(parts),
            (Op::Sext, &[a]) => self.sext(a, width),
            (Op::Zext, &[a]) => self.zext(a, width),
            (Op::Add, &[a, b]) => self.add(a, b),
            (Op::Sub, &[a, b]) => self.sub(a, b),
            (Op::Mul, &[a, b]) => self.mul(a, b),
            (Op::And, &[a, b]) => self.and(a, b),
            (Op::Or, &[a, b]) => self.or(a, b),
            (Op::Xor, &[a, b]) => self.xor(a, b),
            (Op::Shl(c), &[a]) => self.shl(a, c.into()),
            (Op::Lshr(c), &[a]) => self.lshr(a, c.into()),
            (Op::Ashr(c), &[a]) => self.ashr(a, c.into()),
            (Op::Eq, &[a, b]) => self.eq(a, b),
            (Op::Ult, &[a, b]) => self.ult(a, b),
            (Op::Slt, &[a, b]) => self.slt(a, b),
            (Op::Select, &[c, a, b]) => self.select(c, a, b),
            (Op::SatS, &[a]) => self.sat_s(a, width),
            (Op::SatU, &[a]) => self.sat_u(a, width),
            (op, args) => self.make(width, op, args.iter().copied().collect()),
        }
    }

    /// Sum modulo 2^width.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => return self.constant(width, x.wrapping_add(y)),
            (Some(_), None) => return self.add(b, a),
            (_, Some(0)) => return a,
            (_, Some(y)) => {
                let node = self.node(a);
                match node.op {
                    Op::Address { region, offset } => {
                        return self.address(region, offset.wrapping_add(y as i64));
                    }
                    Op::Add => {
                        let (x, c) = (node.args[0], node.args[1]);
                        if let Some(c) = self.value(c) {
                            let c = self.constant(width, c.wrapping_add(y));
                            return self.add(x, c);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        if let Some(sum) = self.rebase(a, b).or_else(|| self.rebase(b, a)) {
            return sum;
        }
        if let Some(sum) = self.cancel(a, b).or_else(|| self.cancel(b, a)) {
            return sum;
        }
        if let Some((x, y)) = self.halved(a, b).or_else(|| self.halved(b, a)) {
            let wide = (2 * width).min(64);
            let (x, y) = (self.zext(x, wide), self.zext(y, wide));
            let sum = self.add(x, y);
            return self.slice(sum, 1, width);
        }
        self.commutative(width, Op::Add, a, b)
    }

    /// x and y where `p + q` is half of their sum, rounded down, of unsigned words that may not hold the sum:
    ///
    /// ```text
    /// (x & y) + ((x ^ y) >> 1)   or   ((x >> 1) + (y >> 1)) + (x & y & 1)
    /// ```
    ///
    /// With d the bits in which they differ and s those that both have, x + y = 2s + d. Without their lowest bits u and v
    /// they add up to twice the sum of halves, and ⌊(u + v)/2⌋ = u·v.
    fn halved(&self, p: NodeId, q: NodeId) -> Option<(NodeId, NodeId)> {
        let pair = |id: NodeId, op: Op| match self.node(id) {
            node if node.op == op => {
                Some((node.args[0].min(node.args[1]), node.args[0].max(node.args[1])))
            }
            _ => None,
        };
        let half = |id: NodeId| match self.node(id) {
            node if node.op == Op::Lshr(1) => Some(node.args[0]),
            _ => None,
        };
        if self.width(p) == 64 || self.is_vague(p) || self.is_vague(q) {
            return None;
        }
        if let Some(common) = pair(p, Op::And)
            && half(q).and_then(|x| pair(x, Op::Xor)) == Some(common)
        {
            return Some(common);
        }
        let (x, y) = pair(p, Op::Add)?;
        let (x, y) = (half(x)?, half(y)?);
        let (x, y) = (x.min(y), x.max(y));
        // The lowest bit of both.
        let one = |id: NodeId| self.value(id) == Some(1);
        let (both, mask) = pair(q, Op::And)?;
        let carries = [(both, mask), (mask, both)]
            .into_iter()
            .any(|(both, mask)| one(mask) && pair(both, Op::And) == Some((x, y)));
        carries.then_some((x, y))
    }

    /// `(P - Q + c) + R` for pointers with Q and R of one region: compilers step through one array
    /// by the distance of two.
    fn rebase(&mut self, distance: NodeId, base: NodeId) -> Option<NodeId> {
        let (region, offset) = self.address_of(base)?;
        let node = self.node(distance);
        let (difference, c) = match node.op {
            Op::Add => (node.args[0], self.value(node.args[1])?),
            _ => (distance, 0),
        };
        let node = self.node(difference);
        if node.op != Op::Sub {
            return None;
        }
        let (p, q) = (self.address_of(node.args[0])?, self.address_of(node.args[1])?);
        if q.0 != region {
            return None;
        }
        let offset = offset.wrapping_sub(q.1).wrapping_add(p.1).wrapping_add(c as i64);
        Some(self.address(p.0, offset))
    }

    /// `(c - P) + Q` for the low bits of pointers into one region.
    fn cancel(&mut self, difference: NodeId, base: NodeId) -> Option<NodeId> {
        let distance = self.distance(difference, base)?;
        Some(self.constant(self.width(base), distance))
    }

    /// Its value, in the low bits that both have.
    fn distance(&self, difference: NodeId, base: NodeId) -> Option<u64> {
        let (region, to) = self.low_address(base)?;
        let node = self.node(difference);
        if node.op != Op::Sub {
            return None;
        }
        let c = self.value(node.args[0])?;
        let (other, from) = self.low_address(node.args[1])?;
        (other == region).then(|| c.wrapping_add(to.wrapping_sub(from) as u64))
    }

    /// The low `width` bits of a sum, if they are `(c - P) + Q` in what its parts have of the pointers.
    pub(super) fn low_distance(&self, sum: NodeId, width: u8) -> Option<u64> {
        let args = &self.node(sum).args;
        [(args[0], args[1]), (args[1], args[0])].into_iter().find_map(|(difference, base)| {
            let mut inner = difference;
            while let Op::Zext | Op::Sext = self.node(inner).op {
                inner = self.node(inner).args[0];
            }
            (self.width(inner) >= width).then(|| self.distance(inner, base)).flatten()
        })
    }

    /// Region and offset of an address, where the node is the address or its low bits.
    pub(super) fn low_address(&self, id: NodeId) -> Option<(u16, i64)> {
        match self.node(id).op {
            Op::Slice { lo: 0 } => self.address_of(self.node(id).args[0]),
            _ => self.address_of(id),
        }
    }

    /// Difference modulo 2^width.
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        if self.same(a, b) {
            return self.constant(width, 0);
        }
        if let Some(y) = self.value(b) {
            let minus = self.constant(width, y.wrapping_neg());
            return self.add(a, minus);
        }
        if let (Some((r, x)), Some((s, y))) = (self.low_address(a), self.low_address(b))
            && r == s
        {
            return self.constant(width, x.wrapping_sub(y) as u64);
        }
        if let (Some((r, x)), Some((s, y))) = (self.address_of(a), self.address_of(b)) {
            let difference = x.wrapping_sub(y);
            let (p, q) = (self.address(r, 0), self.address(s, 0));
            let base = self.binary(width, Op::Sub, p, q);
            let c = self.constant(width, difference as u64);
            return self.add(base, c);
        }
        self.binary(width, Op::Sub, a, b)
    }

    /// Two's complement negation.
    pub fn neg(&mut self, a: NodeId) -> NodeId {
        let zero = self.constant(self.width(a), 0);
        self.sub(zero, a)
    }

    /// Low half of the product.
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => self.constant(width, x.wrapping_mul(y)),
            (Some(_), None) => self.mul(b, a),
            (_, Some(0)) => b,
            (_, Some(1)) => a,
            _ => self.commutative(width, Op::Mul, a, b),
        }
    }

    /// Shift left by a constant; 0 from the width on.
    pub fn shl(&mut self, a: NodeId, count: u64) -> NodeId {
        let width = self.width(a);
        if count >= u64::from(width) {
            return self.constant(width, 0);
        }
        let c = count as u8;
        if c == 0 {
            return a;
        }
        if let Some(v) = self.value(a) {
            return self.constant(width, v << c);
        }
        if c.is_multiple_of(8) && width.is_multiple_of(8) {
            let zeros = self.constant(c, 0);
            let low = self.slice(a, 0, width - c);
            return self.concat(&[zeros, low]);
        }
        if let Op::Shl(d) = self.node(a).op {
            let x = self.node(a).args[0];
            return self.shl(x, u64::from(c) + u64::from(d));
        }
        self.unary(width, Op::Shl(c), a)
    }

    /// Logical shift right by a constant; 0 from the width on.
    pub fn lshr(&mut self, a: NodeId, count: u64) -> NodeId {
        let width = self.width(a);
        if count >= u64::from(width) {
            return self.constant(width, 0);
        }
        let c = count as u8;
        if c == 0 {
            return a;
        }
        match self.node(a).op {
            Op::Const(v) => self.constant(width, v >> c),
            _ if c.is_multiple_of(8) && width.is_multiple_of(8) => {
                let high = self.slice(a, c, width - c);
                self.zext(high, width)
            }
            Op::Lshr(d) => {
                let x = self.node(a).args[0];
                self.lshr(x, u64::from(c) + u64::from(d))
            }
            Op::Zext => {
                let x = self.node(a).args[0];
                let y = self.lshr(x, count);
                self.zext(y, width)
            }
            _ => self.unary(width, Op::Lshr(c), a),
        }
    }

    /// Arithmetic shift right by a constant; copies of the sign from the width on.
    pub fn ashr(&mut self, a: NodeId, count: u64) -> NodeId {
        let width = self.width(a);
        let c = count.min(u64::from(width) - 1) as u8;
        if c == 0 {
            return a;
        }
        match self.node(a).op {
            Op::Const(v) => self.constant(width, (signed(v, width) >> c) as u64),
            Op::Zext => self.lshr(a, u64::from(c)),
            Op::Sext => {
                let x = self.node(a).args[0];
                let y = self.ashr(x, u64::from(c));
                self.sext(y, width)
            }
            Op::Ashr(d) => {
                let x = self.node(a).args[0];
                self.ashr(x, u64::from(c) + u64::from(d))
            }
            _ if c.is_multiple_of(8) && width.is_multiple_of(8) => {
                let high = self.slice(a, c, width - c);
                self.sext(high, width)
            }
            _ => self.unary(width, Op::Ashr(c), a),
        }
    }
}
