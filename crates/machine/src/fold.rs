//! Folding constructors: the only way in which the semantics make nodes.
//!
//! Each returns a term equal to the plain operation on *every* input (tested by random
//! evaluation). They fold constants, look through byte moves (slice of concatenation and the
//! reverse), recognise extensions, and turn shifts by whole bytes into moves, so that the same
//! computation written by different compilers becomes the same node more often.

mod bytes;
mod logic;

pub(crate) use bytes::scatter;
pub use bytes::{byte_of, gather, is_run};

use crate::graph::{Graph, Node, NodeId, Op};
use smallvec::{SmallVec, smallvec};

/// All ones in the lowest `width` bits (1 to 64).
pub const fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - width)
}

/// `value`, of which only the lowest `width` bits count, read as a signed number.
pub const fn signed(value: u64, width: u8) -> i64 {
    ((value << (64 - width)) as i64) >> (64 - width)
}

impl Graph {
    fn make(&mut self, width: u8, op: Op, args: SmallVec<[NodeId; 3]>) -> NodeId {
        debug_assert!((1..=64).contains(&width));
        let origin = self.current_origin();
        self.intern(Node { width, op, args }, origin)
    }
    fn unary(&mut self, width: u8, op: Op, a: NodeId) -> NodeId {
        self.make(width, op, smallvec![a])
    }
    fn binary(&mut self, width: u8, op: Op, a: NodeId, b: NodeId) -> NodeId {
        self.make(width, op, smallvec![a, b])
    }
    /// Commutative: operands by id, a constant last.
    fn commutative(&mut self, width: u8, op: Op, a: NodeId, b: NodeId) -> NodeId {
        let key = |g: &Graph, x: NodeId| (g.value(x).is_some(), x);
        let (a, b) = if key(self, a) <= key(self, b) { (a, b) } else { (b, a) };
        self.binary(width, op, a, b)
    }
    /// Width of a node in bits.
    pub fn width(&self, id: NodeId) -> u8 {
        self.node(id).width
    }
    /// The value of a constant node.
    pub fn value(&self, id: NodeId) -> Option<u64> {
        if let Op::Const(v) = self.node(id).op { Some(v) } else { None }
    }
    /// Region and offset of an address node.
    pub fn address_of(&self, id: NodeId) -> Option<(u16, i64)> {
        if let Op::Address { region, offset } = self.node(id).op {
            Some((region, offset))
        } else {
            None
        }
    }
    /// A constant; bits above the width are dropped.
    pub fn constant(&mut self, width: u8, value: u64) -> NodeId {
        self.make(width, Op::Const(value & mask(width)), smallvec![])
    }
    /// An input element.
    pub fn input(&mut self, width: u8, operand: u16, index: u32) -> NodeId {
        self.make(width, Op::Input { operand, index }, smallvec![])
    }
    /// An address.
    pub fn address(&mut self, region: u16, offset: i64) -> NodeId {
        self.make(64, Op::Address { region, offset }, smallvec![])
    }

    /// Bits `[lo, lo + width)` of `a`, which has them all.
    pub fn slice(&mut self, a: NodeId, lo: u8, width: u8) -> NodeId {
        let whole = self.width(a);
        debug_assert!(lo + width <= whole);
        if width == whole {
            return a;
        }
        let hi = lo + width;
        match self.node(a).op {
            Op::Const(v) => self.constant(width, v >> lo),
            Op::Slice { lo: inner } => {
                let x = self.node(a).args[0];
                self.slice(x, inner + lo, width)
            }
            Op::Concat => {
                let parts = self.node(a).args.clone();
                let mut at = 0;
                let mut out: SmallVec<[NodeId; 8]> = smallvec![];
                for p in parts {
                    let w = self.width(p);
                    let (from, to) = (lo.max(at), hi.min(at + w));
                    if from < to {
                        out.push(self.slice(p, from - at, to - from));
                    }
                    at += w;
                }
                self.concat(&out)
            }
            Op::Zext => {
                let x = self.node(a).args[0];
                let w = self.width(x);
                if lo >= w {
                    self.constant(width, 0)
                } else if hi <= w {
                    self.slice(x, lo, width)
                } else {
                    let low = self.slice(x, lo, w - lo);
                    self.zext(low, width)
                }
            }
            Op::Sext => {
                let x = self.node(a).args[0];
                let w = self.width(x);
                if hi <= w {
                    self.slice(x, lo, width)
                } else {
                    let from = lo.min(w - 1);
                    let top = self.slice(x, from, w - from);
                    self.sext(top, width)
                }
            }
            Op::Lshr(c) => {
                let x = self.node(a).args[0];
                if lo + c >= whole {
                    self.constant(width, 0)
                } else {
                    let take = width.min(whole - lo - c);
                    let s = self.slice(x, lo + c, take);
                    self.zext(s, width)
                }
            }
            Op::Ashr(c) => {
                let x = self.node(a).args[0];
                if lo + c + width <= whole {
                    self.slice(x, lo + c, width)
                } else {
                    let from = (lo + c).min(whole - 1);
                    let s = self.slice(x, from, whole - from);
                    self.sext(s, width)
                }
            }
            Op::Shl(c) if hi <= c => self.constant(width, 0),
            Op::Shl(c) if lo >= c => {
                let x = self.node(a).args[0];
                self.slice(x, lo - c, width)
            }
            // Bits of a pointer above a value that is smaller than its register.
            _ if lo == 0 && self.has_address(a) => match self.truncate(a, width, 8) {
                Some(low) => low,
                None => self.unary(width, Op::Slice { lo }, a),
            },
            // A mask keeps its meaning in every part: a condition spread over a lane.
            Op::Select => {
                let (c, x, y) = self.three(a);
                if self.value(x).is_some() && self.value(y).is_some() {
                    let x = self.slice(x, lo, width);
                    let y = self.slice(y, lo, width);
                    self.select(c, x, y)
                } else {
                    self.unary(width, Op::Slice { lo }, a)
                }
            }
            _ => self.unary(width, Op::Slice { lo }, a),
        }
    }

    /// The low bits of a term that depends on an address, if they do not: the low bits of a sum or
    /// a bitwise operation come from the low bits of its operands. Bounded in depth, since shared
    /// operands are visited more than once.
    fn truncate(&mut self, a: NodeId, width: u8, depth: u8) -> Option<NodeId> {
        if !self.has_address(a) {
            return Some(self.slice(a, 0, width));
        }
        let node = self.node(a).clone();
        match node.op {
            Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor if depth > 0 => {
                let x = self.truncate(node.args[0], width, depth - 1)?;
                let y = self.truncate(node.args[1], width, depth - 1)?;
                Some(self.rebuild(width, node.op, &[x, y]))
            }
            Op::Concat | Op::Sext | Op::Zext if depth > 0 => {
                let low = self.slice(a, 0, width);
                (!self.has_address(low)).then_some(low)
            }
            _ => None,
        }
    }

    fn three(&self, a: NodeId) -> (NodeId, NodeId, NodeId) {
        let args = &self.node(a).args;
        (args[0], args[1], args[2])
    }

    /// The parts side by side, the first lowest; at least one, 64 bits at most.
    pub fn concat(&mut self, parts: &[NodeId]) -> NodeId {
        let mut flat: SmallVec<[NodeId; 8]> = smallvec![];
        for &p in parts {
            if self.node(p).op == Op::Concat {
                let inner = self.node(p).args.clone();
                for q in inner {
                    self.append(&mut flat, q);
                }
            } else {
                self.append(&mut flat, p);
            }
        }
        let width = flat.iter().map(|&p| self.width(p)).sum();
        if let [one] = flat[..] {
            return one;
        }
        // Zero above everything, and copies of the sign above the rest, are extensions.
        let last = flat[flat.len() - 1];
        if self.value(last) == Some(0) {
            let low = self.concat(&flat[..flat.len() - 1]);
            return self.zext(low, width);
        }
        let args = flat.into_iter().collect();
        self.make(width, Op::Concat, args)
    }

    /// Appends a part, joining it with the one before where both are one thing.
    fn append(&mut self, flat: &mut SmallVec<[NodeId; 8]>, part: NodeId) {
        // A zero extension is data and zeros: only so can its neighbours join.
        if self.node(part).op == Op::Zext {
            let x = self.node(part).args[0];
            let zeros = self.constant(self.width(part) - self.width(x), 0);
            let inner: SmallVec<[NodeId; 8]> = if self.node(x).op == Op::Concat {
                self.node(x).args.iter().copied().collect()
            } else {
                smallvec![x]
            };
            for q in inner {
                self.append(flat, q);
            }
            return self.append(flat, zeros);
        }
        let Some(&before) = flat.last() else {
            flat.push(part);
            return;
        };
        let (wb, wp) = (self.width(before), self.width(part));
        if let (Some(x), Some(y)) = (self.value(before), self.value(part)) {
            let joined = self.constant(wb + wp, x | (y << wb));
            *flat.last_mut().expect("not empty") = joined;
            return;
        }
        if let (Some((x, lx)), Some((y, ly))) = (self.as_slice(before), self.as_slice(part))
            && x == y
            && lx + wb == ly
        {
            *flat.last_mut().expect("not empty") = self.slice(x, lx, wb + wp);
            return;
        }
        if self.is_sign_of(part, before) {
            *flat.last_mut().expect("not empty") = self.sext(before, wb + wp);
            return;
        }
        flat.push(part);
    }

    fn as_slice(&self, a: NodeId) -> Option<(NodeId, u8)> {
        match self.node(a).op {
            Op::Slice { lo } => Some((self.node(a).args[0], lo)),
            Op::Const(_) => None,
            _ => Some((a, 0)),
        }
    }

    /// Whether every bit of `part` is the top bit of `of`.
    fn is_sign_of(&self, part: NodeId, of: NodeId) -> bool {
        let (node, top) = (self.node(part), self.width(of) - 1);
        match node.op {
            Op::Ashr(c) => c == node.width - 1 && self.same_bit(node.args[0], c, of, top),
            Op::Sext => self.width(node.args[0]) == 1 && self.same_bit(node.args[0], 0, of, top),
            _ => false,
        }
    }

    /// Whether bit `i` of `a` and bit `j` of `b` are one bit of one node.
    fn same_bit(&self, mut a: NodeId, mut i: u8, mut b: NodeId, mut j: u8) -> bool {
        let down = |x: &mut NodeId, k: &mut u8| loop {
            let node = self.node(*x);
            match node.op {
                Op::Slice { lo } => {
                    *k += lo;
                    *x = node.args[0];
                }
                Op::Sext => {
                    *x = node.args[0];
                    *k = (*k).min(self.width(*x) - 1);
                }
                _ => break,
            }
        };
        down(&mut a, &mut i);
        down(&mut b, &mut j);
        a == b && i == j
    }

    /// Zero extension to `width`, at least the argument's.
    pub fn zext(&mut self, a: NodeId, width: u8) -> NodeId {
        if self.width(a) == width {
            return a;
        }
        match self.node(a).op {
            Op::Const(v) => self.constant(width, v),
            Op::Zext => {
                let x = self.node(a).args[0];
                self.unary(width, Op::Zext, x)
            }
            _ => self.unary(width, Op::Zext, a),
        }
    }

    /// Sign extension to `width`, at least the argument's.
    pub fn sext(&mut self, a: NodeId, width: u8) -> NodeId {
        let from = self.width(a);
        if from == width {
            return a;
        }
        match self.node(a).op {
            Op::Const(v) => self.constant(width, signed(v, from) as u64),
            Op::Zext => {
                let x = self.node(a).args[0];
                self.unary(width, Op::Zext, x)
            }
            Op::Sext => {
                let x = self.node(a).args[0];
                self.sext(x, width)
            }
            // The top bit over the whole width of its own node is an arithmetic shift.
            Op::Slice { lo } if from == 1 => {
                let x = self.node(a).args[0];
                if lo + 1 == self.width(x) && width == self.width(x) {
                    self.unary(width, Op::Ashr(lo), x)
                } else {
                    self.unary(width, Op::Sext, a)
                }
            }
            Op::Ashr(c) if c + 1 == from => {
                let x = self.node(a).args[0];
                let bit = self.slice(x, c, 1);
                self.sext(bit, width)
            }
            _ => self.unary(width, Op::Sext, a),
        }
    }

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
        self.commutative(width, Op::Add, a, b)
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

    /// Difference modulo 2^width.
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        if a == b {
            return self.constant(width, 0);
        }
        if let Some(y) = self.value(b) {
            let minus = self.constant(width, y.wrapping_neg());
            return self.add(a, minus);
        }
        if let (Some((r, x)), Some((s, y))) = (self.address_of(a), self.address_of(b)) {
            let difference = x.wrapping_sub(y);
            if r == s {
                return self.constant(64, difference as u64);
            }
            let (p, q) = (self.address(r, 0), self.address(s, 0));
            let base = self.binary(64, Op::Sub, p, q);
            let c = self.constant(64, difference as u64);
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
