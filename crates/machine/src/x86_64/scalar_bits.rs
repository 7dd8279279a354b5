//! Scalar shifts, rotates, bit tests and the BMI instructions.

use super::flags::Flags;
use super::{Fallible, Machine, Value};
use crate::core::bits::{Shift, barrel, rotate_right, shift};
use crate::core::flags::Flag;
use crate::graph::NodeId;
use iced_x86::{Instruction, Mnemonic as M, OpKind};

impl Machine<'_> {
    pub(super) fn scalar_bits(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Shl | M::Sal => self.shift_scalar(Shift::Left)?,
            M::Shr => self.shift_scalar(Shift::Logical)?,
            M::Sar => self.shift_scalar(Shift::Arithmetic)?,
            M::Shlx | M::Shrx | M::Sarx => {
                let w = self.width_of(0);
                let kind = match ins.mnemonic() {
                    M::Shlx => Shift::Left,
                    M::Shrx => Shift::Logical,
                    _ => Shift::Arithmetic,
                };
                let (a, count) = (self.value(1, w)?, self.value(2, w)?);
                let r = match (a, count) {
                    (Some(a), Some(c)) => {
                        let c = self.g.slice(c, 0, count_bits(w));
                        Some(barrel(self.g, kind, a, c))
                    }
                    _ => None,
                };
                self.write(0, w, r)?;
            }
            M::Rorx => {
                let w = self.width_of(0);
                let a = self.value(1, w)?;
                let c = u64::from(self.imm8()?) & (u64::from(w) - 1);
                let r = a.map(|a| rotate_right(self.g, a, c));
                self.write(0, w, r)?;
            }
            M::Rol | M::Ror => self.rotate(ins)?,
            M::Shld | M::Shrd => self.double_shift(ins)?,
            M::Bt | M::Bts | M::Btr | M::Btc => self.bit_test(ins)?,
            M::Blsr | M::Blsi | M::Blsmsk => {
                let w = self.width_of(0);
                let Some(a) = self.value(1, w)? else {
                    self.cpu.flags = Flags::default();
                    self.write(0, w, None)?;
                    return Ok(true);
                };
                let one = self.g.constant(w, 1);
                let (less, minus) = (self.g.sub(a, one), self.g.neg(a));
                let zero = self.g.constant(w, 0);
                let is_zero = self.g.eq(a, zero);
                let (r, carry) = match ins.mnemonic() {
                    M::Blsr => (self.g.and(a, less), is_zero),
                    M::Blsi => (self.g.and(a, minus), self.g.not(is_zero)),
                    _ => (self.g.xor(a, less), is_zero),
                };
                self.write(0, w, Some(r))?;
                let no = Flag::Bit(self.g.constant(1, 0));
                self.cpu.flags = Flags::of(r, Flag::Bit(carry), no);
                self.cpu.flags.parity = Flag::Undefined;
            }
            M::Bzhi | M::Bextr => self.extract(ins)?,
            M::Pext | M::Pdep => self.scattered(ins)?,
            M::Popcnt | M::Tzcnt | M::Lzcnt => self.count(ins)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The count operand of a shift, masked as the processor does.
    fn shift_count(&mut self, i: u32, w: u8) -> Fallible<Value> {
        let count = match self.now.ins.op_kind(i) {
            OpKind::Register => self.register(self.now.ins.op_register(i)),
            OpKind::Immediate8 => Some(self.g.constant(8, u64::from(self.now.ins.immediate8()))),
            _ => return Err(self.unsupported("operand form")),
        };
        Ok(count.map(|c| self.g.slice(c, 0, count_bits(w))))
    }

    fn shift_scalar(&mut self, kind: Shift) -> Fallible<()> {
        let w = self.width_of(0);
        // Low bytes are enough for a shift to the left.
        let a = if kind == Shift::Left { self.low_value(0, w)? } else { self.value(0, w)? };
        let count = self.shift_count(1, w)?;
        let (Some(a), Some(count)) = (a, count) else {
            self.cpu.flags = Flags::default();
            return self.write(0, w, None);
        };
        if self.g.width(a) < w {
            self.cpu.flags = Flags::default();
            let r = match self.g.value(count) {
                Some(c) => self.shifted_low(a, c, w),
                None => barrel(self.g, kind, a, count),
            };
            return self.write(0, w, Some(r));
        }
        let Some(c) = self.g.value(count) else {
            let r = barrel(self.g, kind, a, count);
            // The old flags stay if the count happens to be 0: not worth modelling.
            let unknown = Flag::Unmodelled;
            self.cpu.flags = Flags {
                carry: unknown,
                parity: unknown,
                zero: unknown,
                sign: unknown,
                overflow: unknown,
            };
            return self.write(0, w, Some(r));
        };
        let r = shift(self.g, kind, a, c);
        if c > 0 {
            let g = &mut *self.g;
            let bits = u64::from(w);
            let carry = match kind {
                Shift::Left if c <= bits => Some(g.slice(a, (bits - c) as u8, 1)),
                Shift::Logical if c <= bits => Some(g.slice(a, (c - 1) as u8, 1)),
                Shift::Arithmetic => Some(g.slice(a, (c - 1).min(bits - 1) as u8, 1)),
                _ => None,
            };
            let overflow = match (kind, carry) {
                _ if c != 1 => Flag::Undefined,
                (Shift::Left, Some(carry)) => {
                    let top = g.slice(r, w - 1, 1);
                    Flag::Bit(g.xor(top, carry))
                }
                (Shift::Logical, _) => Flag::Sign(a),
                _ => Flag::Bit(g.constant(1, 0)),
            };
            self.cpu.flags = Flags::of(r, carry.map_or(Flag::Undefined, Flag::Bit), overflow);
        }
        self.write(0, w, Some(r))
    }

    /// Shifts a word of `w` bits to the left, when only its low bits `a` are defined. The result has the
    /// low bytes that are defined then. A shift by half the word defines all of them.
    fn shifted_low(&mut self, a: NodeId, count: u64, w: u8) -> NodeId {
        let bits = (u64::from(self.g.width(a)) + count).min(u64::from(w));
        let whole = self.g.zext(a, w);
        let r = shift(self.g, Shift::Left, whole, count);
        self.g.slice(r, 0, 8 << (bits / 8).ilog2())
    }

    fn rotate(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        let (a, count) = (self.value(0, w)?, self.shift_count(1, w)?);
        let Some(c) = count.and_then(|c| self.g.value(c)) else {
            if let (Some(a), Some(c)) = (a, count)
                && self.g.is_vague(c)
            {
                self.cpu.flags.carry = Flag::Unmodelled;
                self.cpu.flags.overflow = Flag::Unmodelled;
                let r = self.g.mixed(&[a, c], w);
                return self.write(0, w, Some(r));
            }
            return Err(self.unsupported("a rotation by a count that is no constant"));
        };
        let Some(a) = a else {
            (self.cpu.flags.carry, self.cpu.flags.overflow) = (Flag::Undefined, Flag::Undefined);
            return self.write(0, w, None);
        };
        let bits = u64::from(w);
        let left = ins.mnemonic() == M::Rol;
        let by = c % bits;
        let r = rotate_right(self.g, a, if left { (bits - by) % bits } else { by });
        if c > 0 {
            let g = &mut *self.g;
            let top = g.slice(r, w - 1, 1);
            let carry = if left { g.slice(r, 0, 1) } else { top };
            let other = if left { carry } else { g.slice(r, w - 2, 1) };
            self.cpu.flags.carry = Flag::Bit(carry);
            self.cpu.flags.overflow =
                if c == 1 { Flag::Bit(g.xor(top, other)) } else { Flag::Undefined };
        }
        self.write(0, w, Some(r))
    }

    fn double_shift(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        let (a, b) = (self.value(0, w)?, self.value(1, w)?);
        let count = self.shift_count(2, w)?;
        let Some(c) = count.and_then(|c| self.g.value(c)) else {
            return Err(self.unsupported("a double shift by a count that is no constant"));
        };
        let bits = u64::from(w);
        if w == 16 {
            return Err(self.unsupported("a double shift of 16 bits"));
        }
        let (Some(a), Some(b)) = (a, b) else {
            self.cpu.flags = Flags::default();
            return self.write(0, w, None);
        };
        if c == 0 {
            return self.write(0, w, Some(a));
        }
        let g = &mut *self.g;
        let c8 = c as u8;
        let (r, carry) = if ins.mnemonic() == M::Shld {
            let (low, high) = (g.slice(b, w - c8, c8), g.slice(a, 0, w - c8));
            (g.concat(&[low, high]), g.slice(a, (bits - c) as u8, 1))
        } else {
            let (low, high) = (g.slice(a, c8, w - c8), g.slice(b, 0, c8));
            (g.concat(&[low, high]), g.slice(a, c8 - 1, 1))
        };
        let overflow = if c == 1 {
            let (x, y) = (g.slice(a, w - 1, 1), g.slice(r, w - 1, 1));
            Flag::Bit(g.xor(x, y))
        } else {
            Flag::Undefined
        };
        self.cpu.flags = Flags::of(r, Flag::Bit(carry), overflow);
        self.write(0, w, Some(r))
    }

    fn bit_test(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        // A register's index may lead to bits beyond the operand.
        if ins.op_kind(0) != OpKind::Register && ins.op_kind(1) != OpKind::Immediate8 {
            return Err(self.unsupported("a bit test of memory by a register"));
        }
        let (a, index) = (self.value(0, w)?, self.value(1, w)?);
        let zero = self.cpu.flags.zero;
        self.cpu.flags = Flags { zero, ..Flags::default() };
        let (Some(a), Some(index)) = (a, index) else {
            return if ins.mnemonic() == M::Bt { Ok(()) } else { self.write(0, w, None) };
        };
        let g = &mut *self.g;
        let index = g.slice(index, 0, w.trailing_zeros() as u8);
        let moved = barrel(g, Shift::Logical, a, index);
        self.cpu.flags.carry = Flag::Bit(g.slice(moved, 0, 1));
        let one = g.constant(w, 1);
        let bit = barrel(g, Shift::Left, one, index);
        let r = match ins.mnemonic() {
            M::Bt => return Ok(()),
            M::Bts => g.or(a, bit),
            M::Btc => g.xor(a, bit),
            _ => {
                let others = g.not(bit);
                g.and(a, others)
            }
        };
        self.write(0, w, Some(r))
    }

    /// `pext` and `pdep` with a constant mask: the time of some processors depends on it.
    fn scattered(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        let (a, mask) = (self.value(1, w)?, self.value(2, w)?);
        let mask = self.concrete(mask, crate::error::Timing::VariableTime, "a mask of bits")?;
        let Some(a) = a else { return self.write(0, w, None) };
        let g = &mut *self.g;
        let gather = ins.mnemonic() == M::Pext;
        let (mut parts, mut taken): (Vec<NodeId>, u8) = (Vec::new(), 0);
        for i in 0..w {
            if mask >> i & 1 == 1 {
                parts.push(g.slice(a, if gather { i } else { taken }, 1));
                taken += 1;
            } else if !gather {
                parts.push(g.constant(1, 0));
            }
        }
        let r = if parts.is_empty() { g.constant(w, 0) } else { g.concat(&parts) };
        let r = g.zext(r, w);
        self.write(0, w, Some(r))
    }

    /// `bzhi` and `bextr` with constant positions.
    fn extract(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        let (a, control) = (self.value(1, w)?, self.value(2, w)?);
        let Some(control) = control.and_then(|c| self.g.value(c)) else {
            return Err(self.unsupported("a bit field whose position is no constant"));
        };
        let Some(a) = a else {
            self.cpu.flags = Flags::default();
            return self.write(0, w, None);
        };
        let bits = u64::from(w);
        let g = &mut *self.g;
        let no = Flag::Bit(g.constant(1, 0));
        let bzhi = ins.mnemonic() == M::Bzhi;
        let (start, length) =
            if bzhi { (0, control & 255) } else { (control & 255, (control >> 8) & 255) };
        let moved = g.lshr(a, start);
        let r = match length {
            0 => g.constant(w, 0),
            n if n >= bits => moved,
            n => {
                let low = g.slice(moved, 0, n as u8);
                g.zext(low, w)
            }
        };
        let carry = Flag::Bit(g.constant(1, u64::from(bzhi && length >= bits)));
        self.cpu.flags = Flags::of(r, carry, no);
        self.cpu.flags.parity = Flag::Undefined;
        if !bzhi {
            self.cpu.flags.sign = Flag::Undefined;
        }
        self.write(0, w, Some(r))
    }

    /// `popcnt` as a sum of bits; `tzcnt` and `lzcnt` of constants.
    fn count(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        let Some(a) = self.value(1, w)? else {
            self.cpu.flags = Flags::default();
            return self.write(0, w, None);
        };
        let known = self.g.value(a);
        if let M::Tzcnt | M::Lzcnt = ins.mnemonic() {
            self.assume(
                "the processor has BMI1 and LZCNT: older ones run `tzcnt` as `bsf`, `lzcnt` as `bsr`"
                    .into(),
            );
        }
        let g = &mut *self.g;
        let (r, carry) = match (ins.mnemonic(), known) {
            (M::Popcnt, _) => {
                let mut sum = g.constant(w, 0);
                for i in 0..w {
                    let bit = g.slice(a, i, 1);
                    let bit = g.zext(bit, w);
                    sum = g.add(sum, bit);
                }
                (sum, Flag::Bit(g.constant(1, 0)))
            }
            (m, Some(v)) => {
                let n = if m == M::Tzcnt {
                    v.trailing_zeros().min(u32::from(w))
                } else {
                    v.leading_zeros() - (64 - u32::from(w))
                };
                let carry = g.constant(1, u64::from(v == 0));
                (g.constant(w, u64::from(n)), Flag::Bit(carry))
            }
            _ if g.is_vague(a) => (g.mixed(&[a], w), Flag::Unmodelled),
            _ => return Err(self.unsupported("a count of zeros of a value that is no constant")),
        };
        self.cpu.flags = Flags { carry, zero: Flag::Zero(r), ..Flags::default() };
        if ins.mnemonic() == M::Popcnt {
            let no = Flag::Bit(self.g.constant(1, 0));
            self.cpu.flags =
                Flags { carry: no, parity: no, zero: Flag::Zero(r), sign: no, overflow: no };
        }
        self.write(0, w, Some(r))
    }
}

/// Bits of a shift count that the processor looks at.
fn count_bits(w: u8) -> u8 {
    if w == 64 { 6 } else { 5 }
}
