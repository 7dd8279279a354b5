//! Scalar moves and arithmetic.

use super::Machine;
use super::flags::Flags;
use crate::byte::Byte;
use crate::core::arith::{high_product, leading_zeros, reversed_bits};
use crate::core::bits::{Bitwise, Shift, barrel, bit_byte, rotate_right, shift};
use crate::core::flags::Flag;
use crate::core::{Fallible, Value};
use crate::error::Timing;
use crate::fold::{gather, scatter, signed};
use crate::graph::NodeId;
use fARM64::{Instruction, Mnemonic as M, Operand, Register};

impl Machine<'_> {
    pub(super) fn integer(&mut self, ins: &Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Mov | M::Movz | M::Movn => self.mov(ins)?,
            M::Movk => {
                let to = self.plain(0)?;
                let Operand::ImmShiftedMove { imm, lsl } = ins.op(1) else {
                    return Err(self.form());
                };
                let (mut bytes, size) = self.general_bytes(to)?;
                let at = usize::from(lsl / 8);
                if at + 2 > size {
                    return Err(self.form());
                }
                bytes[at..at + 2].copy_from_slice(&imm.to_le_bytes().map(Byte::Const));
                self.set_general(to, &bytes)?;
            }
            M::Add | M::Adds | M::Cmn => self.add(ins.mnemonic())?,
            M::Sub | M::Subs | M::Cmp | M::Neg | M::Negs => self.subtract(ins.mnemonic())?,
            M::Adc | M::Adcs => self.with_carry(ins.mnemonic() == M::Adcs)?,
            M::Sbc | M::Sbcs | M::Ngc | M::Ngcs => self.with_borrow(ins.mnemonic())?,
            M::And
            | M::Ands
            | M::Tst
            | M::Bic
            | M::Bics
            | M::Orr
            | M::Orn
            | M::Mvn
            | M::Eor
            | M::Eon => self.bitwise(ins.mnemonic())?,
            M::Lsl => self.shift(Shift::Left)?,
            M::Lsr => self.shift(Shift::Logical)?,
            M::Asr => self.shift(Shift::Arithmetic)?,
            M::Ror => self.rotate()?,
            M::Extr => {
                let w = self.width_of(0)?;
                let (high, low) = (self.value(1, w)?, self.value(2, w)?);
                let by = self.below(3, w)?;
                let r = self.both(high, low, |m, high, low| {
                    if by == 0 {
                        return low;
                    }
                    let (low, high) = (m.g.slice(low, by, w - by), m.g.slice(high, 0, by));
                    m.g.concat(&[low, high])
                });
                self.result(r)?;
            }
            M::Ubfx | M::Sbfx | M::Ubfiz | M::Sbfiz | M::Bfi | M::Bfxil | M::Bfc => {
                self.field(ins.mnemonic())?;
            }
            M::Sxtb | M::Uxtb => self.extend(8, ins.mnemonic() == M::Sxtb)?,
            M::Sxth | M::Uxth => self.extend(16, ins.mnemonic() == M::Sxth)?,
            M::Sxtw => self.extend(32, true)?,
            M::Csel | M::Csinc | M::Csinv | M::Csneg => {
                let w = self.width_of(0)?;
                let (a, b) = (self.value(1, w)?, self.value(2, w)?);
                let c = self.condition_of(3)?;
                self.select(c, a, b, ins.mnemonic())?;
            }
            M::Cset | M::Csetm => {
                let w = self.width_of(0)?;
                let c = self.condition_of(1)?;
                let r =
                    if ins.mnemonic() == M::Cset { self.g.zext(c, w) } else { self.g.sext(c, w) };
                self.result(Some(r))?;
            }
            // The condition that is written is the one under which the register is changed.
            M::Cinc | M::Cinv | M::Cneg => {
                let w = self.width_of(0)?;
                let a = self.value(1, w)?;
                let c = self.condition_of(2)?;
                let c = self.g.not(c);
                let kind = match ins.mnemonic() {
                    M::Cinc => M::Csinc,
                    M::Cinv => M::Csinv,
                    _ => M::Csneg,
                };
                self.select(c, a, a, kind)?;
            }
            M::Ccmp | M::Ccmn => {
                let w = self.width_of(0)?;
                let (a, b) = (self.value(0, w)?, self.value(1, w)?);
                let otherwise = self.immediate(2)?;
                let condition = self.condition_of(3)?;
                let set = match (a, b) {
                    (Some(a), Some(b)) if ins.mnemonic() == M::Ccmp => {
                        let r = self.g.sub(a, b);
                        Flags::difference(a, b, r)
                    }
                    (Some(a), Some(b)) => {
                        let r = self.g.add(a, b);
                        Flags::sum(a, b, r)
                    }
                    _ => Flags::default(),
                };
                self.compare_if(condition, set, otherwise)?;
            }
            M::Mul | M::Mneg | M::Madd | M::Msub => {
                let w = self.width_of(0)?;
                let (a, b) = (self.value(1, w)?, self.value(2, w)?);
                let product = self.both(a, b, |m, a, b| m.g.mul(a, b));
                self.accumulate(product, w, matches!(ins.mnemonic(), M::Mneg | M::Msub))?;
            }
            M::Smull | M::Smaddl => self.long_product(true, false)?,
            M::Smnegl | M::Smsubl => self.long_product(true, true)?,
            M::Umull | M::Umaddl => self.long_product(false, false)?,
            M::Umnegl | M::Umsubl => self.long_product(false, true)?,
            M::Smulh | M::Umulh => {
                // The decoder does not look at bits that should be ones, and processors may.
                if ins.word() >> 10 & 0x1f != 0x1f {
                    return Err(self.unsupported("bits that should be ones are not"));
                }
                let (a, b) = (self.value(1, 64)?, self.value(2, 64)?);
                let is_signed = ins.mnemonic() == M::Smulh;
                let r = self.both(a, b, |m, a, b| high_product(m.g, a, b, is_signed));
                self.result(r)?;
            }
            M::Udiv | M::Sdiv => self.divide(ins.mnemonic() == M::Sdiv)?,
            M::Rbit => {
                let w = self.width_of(0)?;
                let a = self.value(1, w)?;
                let r = a.map(|a| reversed_bits(self.g, a));
                self.result(r)?;
            }
            M::Rev | M::Rev32 | M::Rev16 => {
                let (mut bytes, size) = self.general_bytes(self.plain(1)?)?;
                let step = match ins.mnemonic() {
                    M::Rev => size,
                    M::Rev32 => 4,
                    _ => 2,
                };
                bytes[..size].chunks_mut(step).for_each(<[Byte]>::reverse);
                let to = self.plain(0)?;
                self.set_general(to, &bytes)?;
            }
            M::Clz | M::Cls => self.count(ins.mnemonic() == M::Cls)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Writes operand 0.
    fn result(&mut self, value: Value) -> Fallible<()> {
        let to = self.plain(0)?;
        self.put(to, value)
    }

    /// Operand `i`, an immediate below `limit`.
    fn below(&self, i: usize, limit: u8) -> Fallible<u8> {
        let v = self.immediate(i)?;
        if v < u64::from(limit) { Ok(v as u8) } else { Err(self.form()) }
    }

    fn mov(&mut self, ins: &Instruction) -> Fallible<()> {
        let to = self.plain(0)?;
        if let Operand::Reg { .. } = ins.op(1) {
            let (bytes, _) = self.general_bytes(self.plain(1)?)?;
            return self.set_general(to, &bytes);
        }
        let w = self.width_of(0)?;
        let value = self.value(1, w)?;
        let negated = ins.mnemonic() == M::Movn;
        let value = if negated { value.map(|v| self.g.not(v)) } else { value };
        self.put(to, value)
    }

    /// The two summands: operands 1 and 2, or of a comparison 0 and 1.
    fn summands(&mut self, compares: bool) -> Fallible<(Value, Value)> {
        let w = self.width_of(0)?;
        let first = usize::from(!compares);
        let a = self.value(first, w)?;
        if let Some(link) = self.now.link {
            // The low bits of an address, added to its page.
            let place = self.page_of(a, &link)?;
            let zero = self.g.constant(w, 0);
            return Ok((Some(place), Some(zero)));
        }
        Ok((a, self.value(first + 1, w)?))
    }

    fn add(&mut self, m: M) -> Fallible<()> {
        let (a, b) = self.summands(m == M::Cmn)?;
        let r = self.both(a, b, |m, a, b| m.g.add(a, b));
        if m != M::Add {
            self.cpu.flags = match (a, b, r) {
                (Some(a), Some(b), Some(r)) => Flags::sum(a, b, r),
                _ => Flags::default(),
            };
        }
        if m == M::Cmn { Ok(()) } else { self.result(r) }
    }

    fn subtract(&mut self, m: M) -> Fallible<()> {
        let w = self.width_of(0)?;
        let (a, b) = match m {
            M::Neg | M::Negs => (Some(self.g.constant(w, 0)), self.value(1, w)?),
            _ => self.summands(m == M::Cmp)?,
        };
        let r = self.both(a, b, |m, a, b| m.g.sub(a, b));
        if !matches!(m, M::Sub | M::Neg) {
            self.cpu.flags = match (a, b, r) {
                (Some(a), Some(b), Some(r)) => Flags::difference(a, b, r),
                _ => Flags::default(),
            };
        }
        if m == M::Cmp { Ok(()) } else { self.result(r) }
    }

    fn with_carry(&mut self, sets: bool) -> Fallible<()> {
        let w = self.width_of(0)?;
        let (a, b) = (self.value(1, w)?, self.value(2, w)?);
        let carry = self.carry()?;
        let r = self.both(a, b, |m, a, b| {
            let carry = m.g.zext(carry, w);
            let sum = m.g.add(a, b);
            m.g.add(sum, carry)
        });
        if sets {
            self.cpu.flags = match (a, b, r) {
                (Some(a), Some(b), Some(r)) => {
                    let overflow = Flag::AddOverflow { a, b, r };
                    Flags::of(r, Flag::Carry { a, b, r }, false, overflow)
                }
                _ => Flags::default(),
            };
        }
        self.result(r)
    }

    /// a - b - 1 + C.
    fn with_borrow(&mut self, m: M) -> Fallible<()> {
        let w = self.width_of(0)?;
        let (a, b) = match m {
            M::Ngc | M::Ngcs => (Some(self.g.constant(w, 0)), self.value(1, w)?),
            _ => (self.value(1, w)?, self.value(2, w)?),
        };
        let carry = self.carry()?;
        let borrow = self.g.not(carry);
        let r = self.both(a, b, |m, a, b| {
            let difference = m.g.sub(a, b);
            let minus = m.g.sext(borrow, w);
            m.g.add(difference, minus)
        });
        if matches!(m, M::Sbcs | M::Ngcs) {
            self.cpu.flags = match (a, b, r) {
                (Some(a), Some(b), Some(r)) => {
                    let overflow = Flag::BorrowOverflow { a, b, r };
                    Flags::of(r, Flag::Borrow { a, b, r }, true, overflow)
                }
                _ => Flags::default(),
            };
        }
        self.result(r)
    }

    fn bitwise(&mut self, m: M) -> Fallible<()> {
        let w = self.width_of(0)?;
        let (a, b) = match m {
            M::Mvn => (Some(self.g.constant(w, 0)), self.value(1, w)?),
            M::Tst => (self.value(0, w)?, self.value(1, w)?),
            _ => (self.value(1, w)?, self.value(2, w)?),
        };
        let r = match (a, b) {
            (Some(a), Some(b)) => {
                let b = match m {
                    M::Bic | M::Bics | M::Orn | M::Mvn | M::Eon => self.g.not(b),
                    _ => b,
                };
                Some(match m {
                    M::Orr | M::Orn | M::Mvn => self.bit_or(a, b)?,
                    M::Eor | M::Eon => self.g.xor(a, b),
                    _ => self.bit_and(a, b)?,
                })
            }
            // A mask decides bytes that are undefined.
            (None, Some(mask)) if m == M::And => return self.masked(mask, w),
            _ => None,
        };
        if matches!(m, M::Ands | M::Tst | M::Bics) {
            let no = Flag::Bit(self.g.constant(1, 0));
            self.cpu.flags = r.map_or(Flags::default(), |r| Flags::of(r, no, false, no));
        }
        if m == M::Tst { Ok(()) } else { self.result(r) }
    }

    /// Operand 1, which has some undefined bytes, under a mask.
    fn masked(&mut self, mask: NodeId, w: u8) -> Fallible<()> {
        let (mut bytes, size) = self.general_bytes(self.plain(1)?)?;
        let mut masks = [Byte::Undefined; 8];
        scatter(self.g, mask, &mut masks[..usize::from(w / 8)]);
        for (byte, mask) in bytes[..size].iter_mut().zip(masks) {
            *byte = bit_byte(self.g, Bitwise::And, *byte, mask);
        }
        let to = self.plain(0)?;
        self.set_general(to, &bytes)
    }

    fn shift(&mut self, kind: Shift) -> Fallible<()> {
        let w = self.width_of(0)?;
        let a = self.value(1, w)?;
        let r = match self.now.ins.op(2) {
            Operand::Reg { .. } => {
                let count = self.value(2, w)?;
                self.both(a, count, |m, a, count| {
                    let count = m.g.slice(count, 0, w.trailing_zeros() as u8);
                    barrel(m.g, kind, a, count)
                })
            }
            _ => {
                let by = self.below(2, w)?;
                a.map(|a| shift(self.g, kind, a, by.into()))
            }
        };
        self.result(r)
    }

    fn rotate(&mut self) -> Fallible<()> {
        let w = self.width_of(0)?;
        let a = self.value(1, w)?;
        let by = match self.now.ins.op(2) {
            Operand::Reg { .. } => {
                let Some(count) = self.value(2, w)? else { return self.result(None) };
                match self.g.value(count) {
                    Some(c) => c % u64::from(w),
                    None => {
                        let r = match a {
                            Some(a) if self.g.is_vague(count) => self.g.mixed(&[a, count], w),
                            _ => {
                                return Err(
                                    self.unsupported("a rotation by a count that is no constant")
                                );
                            }
                        };
                        return self.result(Some(r));
                    }
                }
            }
            _ => self.below(2, w)?.into(),
        };
        let r = a.map(|a| rotate_right(self.g, a, by));
        self.result(r)
    }

    /// Bit fields: of operand 1, or into operand 0.
    fn field(&mut self, m: M) -> Fallible<()> {
        let w = self.width_of(0)?;
        let clears = m == M::Bfc;
        let a = if clears { Some(self.g.constant(w, 0)) } else { self.value(1, w)? };
        let at = if clears { 1 } else { 2 };
        let (start, length) = (self.below(at, w)?, self.below(at + 1, w + 1)?);
        if length == 0 || start + length > w {
            return Err(self.form());
        }
        let Some(a) = a else { return self.result(None) };
        let r = match m {
            M::Ubfx | M::Sbfx => {
                let part = self.g.slice(a, start, length);
                if m == M::Ubfx { self.g.zext(part, w) } else { self.g.sext(part, w) }
            }
            M::Ubfiz | M::Sbfiz => {
                let part = self.g.slice(a, 0, length);
                let wide = if m == M::Ubfiz { self.g.zext(part, w) } else { self.g.sext(part, w) };
                self.g.shl(wide, start.into())
            }
            // Bits of operand 0 stay around `length` of them.
            _ => {
                let to = self.plain(0)?;
                let Some(old) = self.general(to)? else { return self.result(None) };
                let (from, into) = if m == M::Bfxil { (start, 0) } else { (0, start) };
                let mut parts = Vec::new();
                if into > 0 {
                    parts.push(self.g.slice(old, 0, into));
                }
                parts.push(self.g.slice(a, from, length));
                let end = into + length;
                if end < w {
                    parts.push(self.g.slice(old, end, w - end));
                }
                self.g.concat(&parts)
            }
        };
        self.result(Some(r))
    }

    fn extend(&mut self, bits: u8, is_signed: bool) -> Fallible<()> {
        let w = self.width_of(0)?;
        let (bytes, _) = self.general_bytes(self.plain(1)?)?;
        let low = gather(self.g, &bytes[..usize::from(bits / 8)]);
        let r = low.map(|a| if is_signed { self.g.sext(a, w) } else { self.g.zext(a, w) });
        self.result(r)
    }

    /// `a` where the condition holds, else what `kind` makes of `b`.
    fn select(&mut self, c: NodeId, a: Value, b: Value, kind: M) -> Fallible<()> {
        let b = b.map(|b| match kind {
            M::Csinc => {
                let one = self.g.constant(self.g.width(b), 1);
                self.g.add(b, one)
            }
            M::Csinv => self.g.not(b),
            M::Csneg => self.g.neg(b),
            _ => b,
        });
        let r = match (self.g.value(c), a, b) {
            (Some(1), a, _) => a,
            (Some(_), _, b) => b,
            (None, Some(a), Some(b)) => Some(self.g.select(c, a, b)),
            _ => None,
        };
        self.result(r)
    }

    /// Operand 3, or nothing, plus or minus a product.
    fn accumulate(&mut self, product: Value, w: u8, minus: bool) -> Fallible<()> {
        let with = match self.now.ins.op_count() {
            4 => self.value(3, w)?,
            _ => Some(self.g.constant(w, 0)),
        };
        let r = self.both(with, product, |m, c, p| match (minus, m.g.value(c)) {
            (false, Some(0)) => p,
            (false, _) => m.g.add(c, p),
            (true, _) => m.g.sub(c, p),
        });
        self.result(r)
    }

    fn long_product(&mut self, is_signed: bool, minus: bool) -> Fallible<()> {
        let (a, b) = (self.value(1, 32)?, self.value(2, 32)?);
        let product = self.both(a, b, |m, a, b| {
            let wide = |m: &mut Self, x| if is_signed { m.g.sext(x, 64) } else { m.g.zext(x, 64) };
            let (a, b) = (wide(m, a), wide(m, b));
            m.g.mul(a, b)
        });
        self.accumulate(product, 64, minus)
    }

    /// The time of a division depends on its operands, so both must be constants. Division by 0
    /// gives 0.
    fn divide(&mut self, is_signed: bool) -> Fallible<()> {
        let w = self.width_of(0)?;
        let what = "an operand of a division";
        let (a, b) = (self.value(1, w)?, self.value(2, w)?);
        let a = self.concrete(a, Timing::VariableTime, what)?;
        let b = self.concrete(b, Timing::VariableTime, what)?;
        let r = if b == 0 {
            0
        } else if is_signed {
            let (a, b) = (i128::from(signed(a, w)), i128::from(signed(b, w)));
            (a / b) as u64
        } else {
            a / b
        };
        let r = self.g.constant(w, r);
        self.result(Some(r))
    }

    /// Leading zeros, or leading copies of the sign after it.
    fn count(&mut self, of_sign: bool) -> Fallible<()> {
        let w = self.width_of(0)?;
        let Some(mut a) = self.value(1, w)? else { return self.result(None) };
        if of_sign {
            // Where a bit differs from the one above it: leading zeros of that, less the top bit.
            let low = self.g.shl(a, 1);
            let differs = self.g.xor(a, low);
            let one = self.g.constant(w, 1);
            a = self.g.or(differs, one);
        }
        let r = leading_zeros(self.g, a);
        self.result(Some(r))
    }

    /// Whether a register is the zero register.
    pub(super) fn is_zero_register(r: Register) -> bool {
        matches!(r, Register::Xzr | Register::Wzr)
    }
}
