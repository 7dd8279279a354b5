//! Folding constructors: the only way in which the semantics make nodes.
//!
//! Each returns a term equal to the plain operation on *every* input (tested by random evaluation).
//! They fold constants, look through byte moves (slice of concatenation and the reverse), recognise
//! extensions, and turn shifts by whole bytes into moves. Compilers write the same computation in
//! different ways, and folding turns more of them into the same node.

mod absorb;
mod arith;
mod blind;
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

/// The lowest `width` bits of `value`, read as a signed number.
pub const fn signed(value: u64, width: u8) -> i64 {
    ((value << (64 - width)) as i64) >> (64 - width)
}

impl Graph {
    fn make(&mut self, width: u8, op: Op, args: SmallVec<[NodeId; 3]>) -> NodeId {
        debug_assert!((1..=64).contains(&width));
        if self.is_blind()
            && let Some(vague) = self.forget(width, &op, &args)
        {
            return vague;
        }
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
        self.leaf(width, None, value & mask(width))
    }
    /// An input element.
    pub fn input(&mut self, width: u8, operand: u16, index: u32) -> NodeId {
        self.make(width, Op::Input { operand, index }, smallvec![])
    }
    /// An address; offsets count modulo 2^width, and are kept as signed numbers.
    pub fn address(&mut self, region: u16, offset: i64) -> NodeId {
        let width = self.address_width();
        let offset = signed(offset as u64, width);
        self.leaf(width, Some(region), offset as u64)
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
            Op::Add if lo == 0 && self.has_address(a) && self.low_distance(a, width).is_some() => {
                let distance = self.low_distance(a, width).expect("just seen");
                self.constant(width, distance)
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

    /// The low bits of a term that depends on an address, if the low bits do not. The low bits of a
    /// sum or a bitwise operation come from the low bits of its operands. The depth is bounded,
    /// since shared operands are visited more than once.
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
            Op::Shl(k) if depth > 0 => {
                let x = self.truncate(node.args[0], width, depth - 1)?;
                Some(self.shl(x, k.into()))
            }
            Op::Slice { lo: 0 } if depth > 0 => self.truncate(node.args[0], width, depth - 1),
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
        if self.is_unknown(before) && self.is_unknown(part) {
            *flat.last_mut().expect("not empty") = self.unknown(wb + wp);
            return;
        }
        if let (Some((x, lx)), Some((y, ly))) = (self.as_slice(before), self.as_slice(part))
            && self.same(x, y)
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
        self.same(a, b) && i == j
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
}
