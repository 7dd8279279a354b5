//! Operands: general registers, extended, shifted and immediate ones.

use super::Machine;
use crate::byte::Byte;
use crate::core::bits::{Shift, rotate_right, shift};
use crate::core::{Fallible, Value};
use crate::fold::{gather, scatter};
use crate::graph::{Graph, NodeId};
use fARM64::{ExtendType, Operand, Register, ShiftType};

/// Low bits of a value, extended to `width`.
pub(super) fn extended(g: &mut Graph, a: NodeId, extend: ExtendType, width: u8) -> NodeId {
    let (bits, signed) = match extend {
        ExtendType::Uxtb => (8, false),
        ExtendType::Uxth => (16, false),
        ExtendType::Uxtw => (32, false),
        ExtendType::Uxtx => (64, false),
        ExtendType::Sxtb => (8, true),
        ExtendType::Sxth => (16, true),
        ExtendType::Sxtw => (32, true),
        ExtendType::Sxtx => (64, true),
    };
    let bits = bits.min(g.width(a)).min(width);
    let low = g.slice(a, 0, bits);
    if signed { g.sext(low, width) } else { g.zext(low, width) }
}

impl Machine<'_> {
    /// Operand `i` as a register, if it is a plain one.
    pub(super) fn plain(&self, i: usize) -> Fallible<Register> {
        match self.now.ins.op(i) {
            Operand::Reg { reg, arr: None, lane: None, shift: None, extend: None, pred: None } => {
                Ok(reg)
            }
            _ => Err(self.form()),
        }
    }

    /// An operand form that is not expected.
    pub(super) fn form(&self) -> Box<crate::core::Stop> {
        self.unsupported("this form of operands is not on the whitelist")
    }

    /// Bytes of a general register, the width's many of them.
    pub(super) fn general_bytes(&self, r: Register) -> Fallible<([Byte; 8], usize)> {
        let n = usize::from(r.number());
        Ok(match r {
            Register::Xzr => ([Byte::Const(0); 8], 8),
            Register::Wzr => ([Byte::Const(0); 8], 4),
            Register::Sp => (self.cpu.stack_pointer, 8),
            Register::Wsp => return Err(self.form()),
            _ if r.as_x() == r && n < 31 => (self.cpu.general[n], 8),
            _ if r.as_w() == r && n < 31 => (self.cpu.general[n], 4),
            _ => return Err(self.form()),
        })
    }

    /// A general register's value.
    pub(super) fn general(&mut self, r: Register) -> Fallible<Value> {
        let (bytes, size) = self.general_bytes(r)?;
        Ok(gather(self.g, &bytes[..size]))
    }

    /// Writes a general register: 32 bits clear the upper half.
    pub(super) fn set_general(&mut self, r: Register, bytes: &[Byte]) -> Fallible<()> {
        let mut whole = [Byte::Const(0); 8];
        let size = self.general_bytes(r)?.1;
        whole[..size].copy_from_slice(&bytes[..size]);
        match r {
            Register::Xzr | Register::Wzr => Ok(()),
            Register::Sp => {
                self.cpu.stack_pointer = whole;
                self.stack_moved()
            }
            _ => {
                if r.number() == 18 {
                    self.assume(
                        "x18 is a register like others, as on Linux and the BSDs; Android, Windows and \
                         Apple's systems keep it for themselves (compile with -ffixed-x18)"
                            .into(),
                    );
                }
                self.cpu.general[usize::from(r.number())] = whole;
                Ok(())
            }
        }
    }

    /// The same from a value of the register's width.
    pub(super) fn put(&mut self, r: Register, value: Value) -> Fallible<()> {
        let mut bytes = [Byte::Undefined; 8];
        if let Some(node) = value {
            let size = usize::from(self.g.width(node) / 8);
            scatter(self.g, node, &mut bytes[..size]);
        }
        self.set_general(r, &bytes)
    }

    /// Width of operand `i`, a general register.
    pub(super) fn width_of(&self, i: usize) -> Fallible<u8> {
        match self.now.ins.op(i) {
            Operand::Reg { reg, .. } if !reg.is_simd() => Ok(reg.width_bits() as u8),
            _ => Err(self.form()),
        }
    }

    /// Operand `i`, a general register with a shift or an extension, or an immediate, at `width` bits.
    pub(super) fn value(&mut self, i: usize, width: u8) -> Fallible<Value> {
        let constant = |m: &mut Self, v: u64| Ok(Some(m.g.constant(width, v)));
        let (reg, by, extend) = match self.now.ins.op(i) {
            Operand::Reg { reg, arr: None, lane: None, shift, extend, pred: None } => {
                (reg, shift, extend)
            }
            Operand::ImmUnsigned(v) | Operand::ImmLogical(v) => return constant(self, v),
            Operand::ImmSigned(v) => return constant(self, v as u64),
            Operand::ImmShiftedMove { imm, lsl } => {
                return constant(self, u64::from(imm) << lsl);
            }
            _ => return Err(self.form()),
        };
        let Some(mut a) = self.general(reg)? else { return Ok(None) };
        if let Some(extend) = extend {
            a = extended(self.g, a, extend, width);
        }
        if self.g.width(a) != width {
            return Err(self.form());
        }
        let g = &mut *self.g;
        Ok(Some(match by {
            None | Some((ShiftType::None, _)) => a,
            Some((ShiftType::Lsl, n)) => shift(g, Shift::Left, a, n.into()),
            Some((ShiftType::Lsr, n)) => shift(g, Shift::Logical, a, n.into()),
            Some((ShiftType::Asr, n)) => shift(g, Shift::Arithmetic, a, n.into()),
            Some((ShiftType::Ror, n)) => rotate_right(g, a, u64::from(n) % u64::from(width)),
            Some((ShiftType::Msl, _)) => return Err(self.form()),
        }))
    }

    /// Operand `i`, an immediate.
    pub(super) fn immediate(&self, i: usize) -> Fallible<u64> {
        match self.now.ins.op(i) {
            Operand::ImmUnsigned(v) | Operand::ImmLogical(v) => Ok(v),
            Operand::ImmSigned(v) if v >= 0 => Ok(v as u64),
            Operand::ShiftAmount(v) => Ok(v.into()),
            _ => Err(self.form()),
        }
    }
}
