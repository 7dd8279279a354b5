//! Sums, products and shifts.

use super::{mask, signed};
use crate::graph::{Graph, NodeId, Op};
use smallvec::SmallVec;

/// Nodes of a sum of pointers at most.
const DEPTH: u8 = 12;

/// A sum of multiples of pointers, by their regions, and a number.
#[derive(Default)]
struct Pointers {
    of: SmallVec<[(u16, u64); 4]>,
    k: u64,
}

impl Pointers {
    /// Adds `scale` times a region's pointer with an offset.
    fn add(&mut self, region: u16, scale: u64, offset: u64) {
        self.k = self.k.wrapping_add(scale.wrapping_mul(offset));
        match self.of.iter_mut().find(|t| t.0 == region) {
            Some(term) => term.1 = term.1.wrapping_add(scale),
            None => self.of.push((region, scale)),
        }
    }

    /// The regions whose multiples do not vanish modulo 2^width.
    fn left(&self, width: u8) -> SmallVec<[(u16, u64); 4]> {
        let low = self.of.iter().map(|t| (t.0, t.1 & mask(width)));
        low.filter(|t| t.1 != 0).collect()
    }
}

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
        if let Some(sum) = self.of_pointers(a, b, 1) {
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

    /// `a + c·b`, if all pointers in it cancel, or all but one. Compilers step through one array by the distance of two,
    /// and index an array by multiples of a pointer into it.
    fn of_pointers(&mut self, a: NodeId, b: NodeId, c: u64) -> Option<NodeId> {
        if !(self.has_address(a) && self.has_address(b)) {
            return None;
        }
        let width = self.width(a);
        let (mut sum, mut depth) = (Pointers::default(), DEPTH);
        self.pointers(a, 1, &mut depth, &mut sum)?;
        self.pointers(b, c, &mut depth, &mut sum)?;
        match sum.left(width)[..] {
            [] => Some(self.constant(width, sum.k)),
            [(region, 1)] if width == self.address_width() => {
                Some(self.address(region, sum.k as i64))
            }
            _ => None,
        }
    }

    /// The low `width` bits of a sum, if no pointer is left in what its parts have of them.
    pub(super) fn low_distance(&self, sum: NodeId, width: u8) -> Option<u64> {
        let (mut all, mut depth) = (Pointers::default(), DEPTH);
        for &part in &self.node(sum).args {
            let mut inner = part;
            while let Op::Zext | Op::Sext = self.node(inner).op {
                inner = self.node(inner).args[0];
            }
            if self.width(inner) < width {
                return None;
            }
            self.pointers(inner, 1, &mut depth, &mut all)?;
        }
        all.left(width).is_empty().then_some(all.k)
    }

    /// Adds `scale` times a node that is a sum of multiples of pointers and numbers.
    fn pointers(&self, id: NodeId, scale: u64, depth: &mut u8, sum: &mut Pointers) -> Option<()> {
        if let Some((region, offset)) = self.low_address(id) {
            sum.add(region, scale, offset as u64);
            return Some(());
        }
        *depth = depth.checked_sub(1)?;
        let node = self.node(id);
        let minus = scale.wrapping_neg();
        match node.op {
            Op::Const(value) => sum.k = sum.k.wrapping_add(scale.wrapping_mul(value)),
            Op::Shl(c) => self.pointers(node.args[0], scale.wrapping_shl(c.into()), depth, sum)?,
            Op::Add | Op::Sub => {
                let second = if node.op == Op::Add { scale } else { minus };
                self.pointers(node.args[0], scale, depth, sum)?;
                self.pointers(node.args[1], second, depth, sum)?;
            }
            _ => return None,
        }
        Some(())
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
        if let Some(difference) = self.of_pointers(a, b, u64::MAX) {
            return difference;
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
