//! Scalar multiplication and division.

use super::flags::Flags;
use super::{Fallible, Machine, RAX, RDX, Value};
use crate::core::arith::high_product;
use crate::core::flags::Flag;
use crate::error::Timing;
use crate::fold::{gather, mask, signed};
use crate::graph::Graph;
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
        self.cpu.flags = Flags { carry: overflow, overflow, ..Flags::default() };
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
        (Some(g.mul(a, b)), Some(high_product(g, a, b, is_signed)))
    }

    /// The time of a division depends on its operands, so both must be constants.
    pub(super) fn divide(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        if w < 32 {
            return Err(self.unsupported("a division of 8 or 16 bits"));
        }
        let what = "an operand of a division";
        let divisor = self.value(0, w)?;
        let low = gather(self.g, &self.cpu.gpr[RAX][..usize::from(w / 8)]);
        let high = gather(self.g, &self.cpu.gpr[RDX][..usize::from(w / 8)]);
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
        self.cpu.flags = Flags::default();
        self.put(a, Some(q))?;
        self.put(d, Some(r))
    }
}
