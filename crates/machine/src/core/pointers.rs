//! Comparisons of pointers: within a region by offset, between regions by case.
//!
//! Regions do not overlap. So of two regions either lies above the other, or they are one if the
//! caller allows that. Each of these is a case, in which the overlap checks of vectorised loops
//! have one outcome. What stays open after that (whether one region begins where another ends) is
//! split by the condition itself.
//!
//! Two regions that are one keep contents of their own. Reading through either pointer gives what
//! is there, since both hold the same and nothing writes them. Only their addresses are equal.

use super::memory::RegionKind;
use super::{Fallible, InstructionSet, Machine, Order, Stop};
use crate::error::LiftError;
use crate::fold::signed;
use crate::graph::{NodeId, Op};
use rustc_hash::FxHashMap;

/// A side of a comparison.
#[derive(Clone, Copy)]
enum Side {
    Pointer(u16, i64),
    /// Start of the first region minus start of the second, plus a number.
    Distance(u16, u16, i64),
    Number(u64),
}

/// Numbers beyond this take no part in sensible comparisons of addresses.
const LARGE: i64 = 1 << 40;

/// The value of a condition, if it is known to hold or known not to hold.
fn decided(holds: bool, does_not: bool) -> Option<bool> {
    (holds || does_not).then_some(holds)
}

impl<I: InstructionSet> Machine<'_, I> {
    /// Unsigned comparison; pointers into one region compare by offset, as C has it.
    pub fn ult(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if let (Some((r, x)), Some((s, y))) = (self.g.address_of(a), self.g.address_of(b))
            && r == s
        {
            // No region wraps around, and one past the end is still an address.
            let region = &self.regions[usize::from(r)];
            let inside = |x: i64| (region.low..=region.high).contains(&x);
            if inside(x) && inside(y) {
                return self.g.constant(1, u64::from(x < y));
            }
        }
        let known = match (self.between(a), self.between(b), self.g.value(a), self.g.value(b)) {
            // The pointer below a number, a number below the pointer.
            (Some((least, most)), _, _, Some(z)) => decided(most < z, least >= z),
            (_, Some((least, most)), Some(z), _) => decided(z < least, z >= most),
            _ => None,
        };
        match known {
            Some(is) => self.g.constant(1, u64::from(is)),
            None => self.g.ult(a, b),
        }
    }

    /// Bounds of a pointer's value. The whole region and the address behind it are addresses, so
    /// checks that a pointer plus an offset does not wrap around can be decided.
    fn between(&self, p: NodeId) -> Option<(u64, u64)> {
        let (r, x) = self.g.address_of(p)?;
        let (low, high) = self.extent(r);
        let is_token = self.regions[usize::from(r)].kind == RegionKind::Token;
        let inside = !is_token && (low..=high).contains(&x);
        let most = u64::MAX >> (64 - self.g.width(p));
        inside.then(|| (x.abs_diff(low), most - high.abs_diff(x)))
    }

    /// Equality. A pointer to a byte of a region is not null. It also differs from pointers to
    /// bytes of the caller's other regions and of the stack.
    pub fn equal(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let null = |m: &Self, p: NodeId, z: NodeId| {
            m.g.value(z) == Some(0)
                && m.g.address_of(p).is_some_and(|(r, x)| {
                    let region = &m.regions[usize::from(r)];
                    (region.low..region.high).contains(&x)
                })
        };
        if null(self, a, b) || null(self, b, a) {
            return self.g.constant(1, 0);
        }
        if let (Some((r, x)), Some((s, y))) = (self.g.address_of(a), self.g.address_of(b))
            && r != s
            && !self.may_be_one(r, s)
            && [(r, x), (s, y)].into_iter().all(|(region, offset)| {
                let (low, high) = self.extent(region);
                self.is_place(region) && (low..high).contains(&offset)
            })
        {
            return self.g.constant(1, 0);
        }
        self.g.eq(a, b)
    }

    /// Bitwise and. For a pointer and an alignment mask, the region's alignment gives the result.
    pub fn bit_and(&mut self, a: NodeId, b: NodeId) -> Fallible<NodeId> {
        for (p, c) in [(a, b), (b, a)] {
            let Some(bits) = self.g.value(c) else { continue };
            let w = self.g.width(p);
            // The pointer may have been truncated: `and dil, 31`.
            let whole = match self.g.node(p).op {
                Op::Slice { lo: 0 } => self.g.node(p).args[0],
                _ => p,
            };
            let Some((region, offset)) = self.g.address_of(whole) else { continue };
            let whole_bits = signed(bits, w) as u64;
            let low = whole_bits & whole_bits.wrapping_neg();
            let keeps_high =
                w == self.g.address_width() && bits != 0 && whole_bits.wrapping_neg() == low;
            let modulus = if keeps_high {
                low
            } else if bits < 1 << 12 {
                (bits + 1).next_power_of_two()
            } else {
                continue;
            };
            let r = &self.regions[usize::from(region)];
            if r.kind == RegionKind::Token {
                continue;
            }
            match r.low_bits(offset, modulus) {
                Some(rest) if keeps_high => {
                    return Ok(self.g.address(region, offset.wrapping_sub(rest as i64)));
                }
                Some(rest) => return Ok(self.g.constant(w, rest & bits)),
                None => return Err(self.need_residue(region, modulus)),
            }
        }
        Ok(self.g.and(a, b))
    }

    /// Bitwise or. Into a pointer whose low bits the region's alignment gives, it is a sum.
    pub fn bit_or(&mut self, a: NodeId, b: NodeId) -> Fallible<NodeId> {
        for (p, c) in [(a, b), (b, a)] {
            let (Some(bits), Some((region, offset))) = (self.g.value(c), self.g.address_of(p))
            else {
                continue;
            };
            let r = &self.regions[usize::from(region)];
            if r.kind == RegionKind::Token || bits >= 1 << 12 {
                continue;
            }
            let modulus = (bits + 1).next_power_of_two();
            let Some(rest) = r.low_bits(offset, modulus) else {
                return Err(self.need_residue(region, modulus));
            };
            let more = (rest | bits) - rest;
            return Ok(self.g.address(region, offset.wrapping_add(more as i64)));
        }
        Ok(self.g.or(a, b))
    }

    /// The value of a branch condition in this case, if the case decides it.
    pub fn decide(&mut self, condition: NodeId) -> Fallible<Option<bool>> {
        if let Some(&value) = self.decisions.get(&condition) {
            return Ok(Some(value));
        }
        if !self.g.has_address(condition) {
            return Ok(None);
        }
        let resolved = self.resolve(condition, &mut FxHashMap::default(), 0)?;
        Ok(self.g.value(resolved).map(|v| v == 1))
    }

    /// The term with every comparison of pointers that the case decides replaced by its value:
    /// compilers combine several before they branch.
    fn resolve(
        &mut self,
        node: NodeId,
        done: &mut FxHashMap<NodeId, NodeId>,
        depth: u32,
    ) -> Fallible<NodeId> {
        if !self.g.has_address(node) || depth > 100 {
            return Ok(node);
        }
        if let Some(&r) = done.get(&node) {
            return Ok(r);
        }
        let resolved = if self.compared(node).is_some() {
            match self.comparison(node)? {
                Some(value) => self.g.constant(1, u64::from(value)),
                None => node,
            }
        } else {
            let n = self.g.node(node).clone();
            let mut args = Vec::new();
            for a in n.args {
                args.push(self.resolve(a, done, depth + 1)?);
            }
            self.g.rebuild(n.width, n.op, &args)
        };
        done.insert(node, resolved);
        Ok(resolved)
    }

    fn comparison(&mut self, condition: NodeId) -> Fallible<Option<bool>> {
        if let Some(&value) = self.decisions.get(&condition) {
            return Ok(Some(value));
        }
        let Some((a, b)) = self.compared(condition) else { return Ok(None) };
        if let Some(&order) = self.orders.get(&(a, b)) {
            return Ok(self.under_order(condition, a, b, order));
        }
        let ways: &[Order] = if self.may_be_one(a, b) {
            &[Order::Above, Order::Below, Order::Equal]
        } else {
            &[Order::Above, Order::Below]
        };
        let first = self.under_order(condition, a, b, ways[0]);
        if ways.iter().all(|&way| self.under_order(condition, a, b, way) == first) {
            return Ok(first);
        }
        let error = LiftError::PointerComparison { at: self.place() };
        Err(Box::new(Stop::NeedOrder { a, b, ways, error }))
    }

    /// Whether the caller allows the two regions to be one.
    fn may_be_one(&self, r: u16, s: u16) -> bool {
        self.coincide.contains(&(r.min(s), r.max(s)))
    }

    fn side(&self, node: NodeId) -> Option<Side> {
        if let Some(v) = self.g.value(node) {
            return Some(Side::Number(v));
        }
        if let Some((r, x)) = self.g.address_of(node) {
            return Some(Side::Pointer(r, x));
        }
        let n = self.g.node(node);
        let (difference, c) = match n.op {
            Op::Add => (n.args[0], self.g.value(n.args[1])? as i64),
            _ => (node, 0),
        };
        let n = self.g.node(difference);
        if n.op != Op::Sub {
            return None;
        }
        let (p, q) = (self.g.address_of(n.args[0])?, self.g.address_of(n.args[1])?);
        Some(Side::Distance(p.0, q.0, c.wrapping_add(p.1).wrapping_sub(q.1)))
    }

    fn sides(&self, condition: NodeId) -> Option<(bool, Side, Side)> {
        let n = self.g.node(condition);
        let equality = match n.op {
            Op::Eq => true,
            Op::Ult => false,
            _ => return None,
        };
        Some((equality, self.side(n.args[0])?, self.side(n.args[1])?))
    }

    /// The two regions of a comparison, the lower number first.
    fn compared(&self, condition: NodeId) -> Option<(u16, u16)> {
        // Arrays may lie in the upper half of 32 bits, where distances do not say who lies above.
        if self.g.address_width() < 64 {
            return None;
        }
        let (a, b) = match self.sides(condition)? {
            (_, Side::Pointer(a, _), Side::Pointer(b, _))
            | (_, Side::Distance(a, b, _), Side::Number(_))
            | (_, Side::Number(_), Side::Distance(a, b, _)) => (a, b),
            _ => return None,
        };
        let two = a != b && self.is_place(a) && self.is_place(b);
        two.then_some((a.min(b), a.max(b)))
    }

    /// Whether the region overlaps no other such: an input may well be one of the object's own tables.
    fn is_place(&self, r: u16) -> bool {
        matches!(self.regions[usize::from(r)].kind, RegionKind::Caller | RegionKind::Stack)
    }

    /// First and one-past-last offset of what a region surely occupies.
    fn extent(&self, region: u16) -> (i64, i64) {
        let r = &self.regions[usize::from(region)];
        if region == self.stack { (self.deepest, r.high) } else { (r.low, r.high) }
    }

    /// The condition if the first of the regions `a`, `b` lies above the second, below it, or where
    /// it is.
    ///
    /// Let d be the start of a minus the start of b. No region reaches into the upper half of the
    /// address space or wraps around, so d has its mathematical value. If a lies above,
    /// d >= high(b) - low(a). If a lies below, d <= low(b) - high(a). If they are one, d = 0.
    fn under_order(&self, condition: NodeId, a: u16, b: u16, order: Order) -> Option<bool> {
        let (equality, left, right) = self.sides(condition)?;
        if order == Order::Equal {
            let number = |side| match side {
                Side::Pointer(r, x) => {
                    let (low, high) = self.extent(r);
                    // Addresses of one region do not wrap around, so offsets compare as they do.
                    (low..=high).contains(&x).then_some(x.wrapping_sub(low) as u64)
                }
                Side::Distance(_, _, c) => Some(c as u64),
                Side::Number(k) => Some(k),
            };
            let (x, y) = (number(left)?, number(right)?);
            return Some(if equality { x == y } else { x < y });
        }
        let above = order == Order::Above;
        // Bounds of the distance from region q to region p: at least, or at most.
        let bound = |p: u16, q: u16| -> (bool, i64) {
            let p_above = if p == a { above } else { !above };
            let ((p_low, p_high), (q_low, q_high)) = (self.extent(p), self.extent(q));
            if p_above { (true, q_high - p_low) } else { (false, q_low - p_high) }
        };
        debug_assert!(a < b);
        match (left, right) {
            (Side::Pointer(p, x), Side::Pointer(q, y)) => {
                for (r, offset) in [(p, x), (q, y)] {
                    let (low, high) = self.extent(r);
                    if !(low..=high).contains(&offset) {
                        return None;
                    }
                }
                // P + x < Q + y is d < y - x.
                let limit = y - x;
                match (equality, bound(p, q)) {
                    (true, (true, least)) if least > limit => Some(false),
                    (true, (false, most)) if most < limit => Some(false),
                    (false, (true, least)) if least >= limit => Some(false),
                    (false, (false, most)) if most < limit => Some(true),
                    _ => None,
                }
            }
            (Side::Number(k), Side::Distance(p, q, c)) if !equality => {
                if k >= LARGE as u64 || c.abs() >= LARGE {
                    return None;
                }
                match bound(p, q) {
                    // k < d + c, where d + c is at least this and does not wrap around.
                    (true, least) if least + c > k as i64 => Some(true),
                    // d + c is negative, hence large as an unsigned number.
                    (false, most) if most + c < 0 => Some(true),
                    _ => None,
                }
            }
            (Side::Distance(p, q, c), Side::Number(k)) if equality => {
                if k >= LARGE as u64 || c.abs() >= LARGE {
                    return None;
                }
                match bound(p, q) {
                    // d + c is larger, or negative and hence large as an unsigned number.
                    (true, least) if least + c > k as i64 => Some(false),
                    (false, most) if most + c < 0 => Some(false),
                    _ => None,
                }
            }
            (Side::Distance(p, q, c), Side::Number(k)) if !equality => {
                if k >= LARGE as u64 || c.abs() >= LARGE {
                    return None;
                }
                match bound(p, q) {
                    (true, least) if least + c >= k as i64 => Some(false),
                    (false, most) if most + c < 0 => Some(false),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
