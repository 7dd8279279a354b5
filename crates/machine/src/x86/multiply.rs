//! Scalar multiplication and division.

use super::flags::{Flag, Flags};
use super::{Fallible, Machine, RAX, RDX, Value};
use crate::error::Timing;
use crate::fold::{gather, mask, signed};
use crate::graph::{Graph, NodeId};
use iced_x86::{Instruction, Mnemonic as M, Register};

impl Machine<'_> {
    pub(super) fn multiply(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        let is_signed = ins.mnemonic() == M::Imul;
        let count = ins.op_count();
        if ins.mnemonic() == M::Mulx {
            let d = if w == 32 { Register::EDX } else { Register::RDX };
            let (a, b) = (self.register(d), self.value(2, w)?);
            let (low, high) = self.product(a, b, w, false);
            self.write(1, w, low)?;
            return self.write(0, w, high);
        }
        let (a, b) = match count {
            1 => {
                let r = [Register::AL, Register::AX, Register::EAX, Register::RAX];
                let r = r[w.trailing_zeros() as usize - 3];
                (self.register(r), self.value(0, w)?)
            }
            2 => self.values(0, 1, w)?,
            _ => self.values(1, 2, w)?,
        };
        let overflow = match (a, b) {
            (Some(a), _) if self.g.width(a) < w => Flag::Undefined,
            (Some(a), Some(b)) if w < 64 && is_signed => {
                let (a, b) = (self.g.sext(a, 2 * w), self.g.sext(b, 2 * w));
                Flag::SignedWide(self.g.mul(a, b))
            }
            (Some(_), Some(_)) => Flag::Unmodelled,
            _ => Flag::Undefined,
        };
        self.flags = Flags { carry: overflow, overflow, ..Flags::default() };
        if count > 1 {
            let r = match (a, b) {
                (Some(a), Some(b)) => Some(self.g.mul(a, b)),
                _ => None,
            };
            return self.write(0, w, r);
        }
        let (low, high) = self.product(a, b, w, is_signed);
        if w == 8 {
            self.put(Register::AL, low)?;
            return self.put(Register::AH, high);
        }
        let (l, h) = match w {
            16 => (Register::AX, Register::DX),
            32 => (Register::EAX, Register::EDX),
            _ => (Register::RAX, Register::RDX),
        };
        self.put(l, low)?;
        self.put(h, high)
    }

    /// Low and high half of a whole product.
    fn product(&mut self, a: Value, b: Value, w: u8, is_signed: bool) -> (Value, Value) {
        let (Some(a), Some(b)) = (a, b) else { return (None, None) };
        let g = &mut *self.g;
        if w < 64 {
            let extend =
                |g: &mut Graph, x| if is_signed { g.sext(x, 2 * w) } else { g.zext(x, 2 * w) };
            let (a, b) = (extend(g, a), extend(g, b));
            let p = g.mul(a, b);
            return (Some(g.slice(p, 0, w)), Some(g.slice(p, w, w)));
        }
        let low = g.mul(a, b);
        if let (Some(x), Some(y)) = (g.value(a), g.value(b)) {
            let high = if is_signed {
                ((i128::from(x as i64) * i128::from(y as i64)) >> 64) as u64
            } else {
                ((u128::from(x) * u128::from(y)) >> 64) as u64
            };
            return (Some(low), Some(g.constant(64, high)));
        }
        let mut high = high_product(g, a, b);
        if is_signed {
            for (x, y) in [(a, b), (b, a)] {
                let sign = g.ashr(x, 63);
                let part = g.and(sign, y);
                high = g.sub(high, part);
            }
        }
        (Some(low), Some(high))
    }

    /// Division takes time that depends on its operands, so both must be numbers.
    pub(super) fn divide(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        if w < 32 {
            return Err(self.unsupported("a division of 8 or 16 bits"));
        }
        let what = "an operand of a division";
        let divisor = self.value(0, w)?;
        let low = gather(self.g, &self.gpr[RAX][..usize::from(w / 8)]);
        let high = gather(self.g, &self.gpr[RDX][..usize::from(w / 8)]);
        let divisor = self.concrete(divisor, Timing::VariableTime, what)?;
        let low = self.concrete(low, Timing::VariableTime, what)?;
        let high = self.concrete(high, Timing::VariableTime, what)?;
        let dividend = (u128::from(high) << w) | u128::from(low);
        let fault = "a division that faults";
        if divisor == 0 {
            return Err(self.unsupported(fault));
        }
        let (q, r) = if ins.mnemonic() == M::Div {
            let d = u128::from(divisor);
            (dividend / d, dividend % d)
        } else {
            let unused = 128 - 2 * u32::from(w);
            let n = ((dividend << unused) as i128) >> unused;
            let d = i128::from(signed(divisor, w));
            let q = n.checked_div(d).ok_or_else(|| self.unsupported(fault))?;
            if i128::from(signed(q as u64, w)) != q {
                return Err(self.unsupported(fault));
            }
            // Bits above the width are dropped below.
            ((q as u128) & u128::from(mask(w)), (n % d) as u128)
        };
        if q > u128::from(mask(w)) {
            return Err(self.unsupported(fault));
        }
        let (q, r) = (self.g.constant(w, q as u64), self.g.constant(w, r as u64));
        let (a, d) =
            if w == 32 { (Register::EAX, Register::EDX) } else { (Register::RAX, Register::RDX) };
        self.flags = Flags::default();
        self.put(a, Some(q))?;
        self.put(d, Some(r))
    }
}

/// High half of the unsigned 64-bit product, from 32-bit halves.
fn high_product(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let half = |g: &mut Graph, x: NodeId, lo: u8| {
        let s = g.slice(x, lo, 32);
        g.zext(s, 64)
    };
    let (a0, a1, b0, b1) = (half(g, a, 0), half(g, a, 32), half(g, b, 0), half(g, b, 32));
    let (p00, p01, p10, p11) = (g.mul(a0, b0), g.mul(a0, b1), g.mul(a1, b0), g.mul(a1, b1));
    // No sum below reaches 2^64.
    let carry = half(g, p00, 32);
    let middle = g.add(p10, carry);
    let (m0, m1) = (half(g, middle, 0), half(g, middle, 32));
    let low = g.add(p01, m0);
    let up = half(g, low, 32);
    let sum = g.add(p11, m1);
    g.add(sum, up)
}
