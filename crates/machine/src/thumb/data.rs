//! Moves, sums, differences, bitwise operations, shifts.

use super::decode::{Instruction, Moved};
use super::operation::{Data, Op, Second};
use super::{Machine, Word};
use crate::byte::Byte;
use crate::core::bits::{Bitwise, Shift, barrel, bit_byte, rotate_right, shift};
use crate::core::conditions::Flags;
use crate::core::flags::Flag;
use crate::core::{Fallible, Value};
use crate::fold::{gather, scatter};
use crate::graph::NodeId;

impl Machine<'_> {
    pub(super) fn data(&mut self, ins: &Instruction) -> Fallible<bool> {
        match ins.op {
            Op::Nop => {}
            Op::Data(Data::Mov, Second::Register) if ins.moved == Moved::default() => {
                let bytes = self.cpu.general[usize::from(ins.m)];
                self.set_bytes(ins.d, bytes)?;
                if self.sets(ins) {
                    let r = gather(self.g, &bytes);
                    self.set_logical(r, None);
                }
            }
            Op::Data(operation, second) => self.operate(ins, operation, second)?,
            Op::ShiftBy(kind) => self.shift_by(ins, kind)?,
            Op::RotateBy => self.rotate_by(ins)?,
            Op::AddWide | Op::SubWide => {
                let a = self.value(ins.n)?;
                let sign = if ins.op == Op::AddWide { 1 } else { -1 };
                let by = self.g.constant(32, (sign * ins.immediate) as u64);
                let r = a.map(|a| self.g.add(a, by));
                self.put(ins.d, r)?;
            }
            Op::Adr => {
                let place = self.near(ins.immediate)?;
                self.put(ins.d, Some(place))?;
            }
            Op::Wide | Op::Top => self.move_half(ins)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A half of a register: of a number, or of an address that the linker knows. The upper half is
    /// joined to the lower one, so that both halves of one address are that address again.
    fn move_half(&mut self, ins: &Instruction) -> Fallible<()> {
        let number = (ins.immediate as u16).to_le_bytes();
        let mut half = number.map(Byte::Const);
        let at = if ins.op == Op::Top { 2 } else { 0 };
        if let Some(link) = self.now.link {
            let node = self.linked(&link)?;
            let mut bytes = [Byte::Undefined; 4];
            scatter(self.g, node, &mut bytes);
            half.copy_from_slice(&bytes[at..at + 2]);
        }
        let mut bytes = match ins.op {
            Op::Top => self.cpu.general[usize::from(ins.d)],
            _ => [Byte::Const(0); 4],
        };
        bytes[at..at + 2].copy_from_slice(&half);
        self.set_bytes(ins.d, bytes)
    }

    /// The second operand, and the carry that it makes.
    fn second(&mut self, ins: &Instruction, second: Second) -> Fallible<(Value, Option<Flag>)> {
        if second != Second::Register {
            let carry = ins.carry.map(|c| Flag::Bit(self.g.constant(1, c.into())));
            return Ok((Some(self.g.constant(32, ins.immediate as u64)), carry));
        }
        let a = self.value(ins.m)?;
        let Some(a) = a else { return Ok((None, Some(Flag::Undefined))) };
        self.moved(a, ins.moved)
    }

    /// A value as an operand moves it, and the bit that falls out.
    pub(super) fn moved(&mut self, a: NodeId, moved: Moved) -> Fallible<(Value, Option<Flag>)> {
        Ok(match moved {
            Moved::By(Shift::Left, 0) => (Some(a), None),
            Moved::By(Shift::Left, n) => {
                (Some(shift(self.g, Shift::Left, a, n.into())), Some(Flag::At(a, 32 - n)))
            }
            Moved::By(kind, n) => {
                (Some(shift(self.g, kind, a, n.into())), Some(Flag::At(a, n - 1)))
            }
            Moved::Rotated(n) => {
                (Some(rotate_right(self.g, a, n.into())), Some(Flag::At(a, n - 1)))
            }
            Moved::ThroughCarry => {
                let carry = self.carry_of(self.cpu.flags)?;
                let rest = self.g.slice(a, 1, 31);
                (Some(self.g.concat(&[rest, carry])), Some(Flag::At(a, 0)))
            }
        })
    }

    fn operate(&mut self, ins: &Instruction, operation: Data, second: Second) -> Fallible<()> {
        use Data::{Adc, Add, Cmn, Cmp, Mov, Mvn, Rsb, Sbc, Sub};
        let (b, carry) = self.second(ins, second)?;
        let a = match operation {
            Mov | Mvn => Some(self.g.constant(32, 0)),
            _ => self.value(ins.n)?,
        };
        let r = match operation {
            Add | Cmn => {
                let r = self.both(a, b, |m, a, b| m.g.add(a, b));
                self.set_sum(ins, a, b, r, Flags::sum);
                r
            }
            Sub | Cmp => {
                let r = self.both(a, b, |m, a, b| m.g.sub(a, b));
                self.set_sum(ins, a, b, r, Flags::difference);
                r
            }
            Rsb => {
                let r = self.both(b, a, |m, b, a| m.g.sub(b, a));
                self.set_sum(ins, b, a, r, Flags::difference);
                r
            }
            Adc => {
                let c = self.carry_word()?;
                let r = self.both(a, b, |m, a, b| {
                    let sum = m.g.add(a, b);
                    m.g.add(sum, c)
                });
                self.set_sum(ins, a, b, r, |a, b, r| {
                    Flags::of(r, Flag::Carry { a, b, r }, false, Flag::AddOverflow { a, b, r })
                });
                r
            }
            Sbc => {
                let carry = self.carry_of(self.cpu.flags)?;
                let borrow = self.g.not(carry);
                let r = self.both(a, b, |m, a, b| {
                    let difference = m.g.sub(a, b);
                    let minus = m.g.sext(borrow, 32);
                    m.g.add(difference, minus)
                });
                self.set_sum(ins, a, b, r, |a, b, r| {
                    Flags::of(r, Flag::Borrow { a, b, r }, true, Flag::BorrowOverflow { a, b, r })
                });
                r
            }
            _ => return self.bitwise(ins, operation, a, b, carry),
        };
        match operation {
            Cmp | Cmn => Ok(()),
            _ => self.put(ins.d, r),
        }
    }

    /// Sets the flags of a sum, if the instruction does.
    fn set_sum(
        &mut self,
        ins: &Instruction,
        a: Value,
        b: Value,
        r: Value,
        flags: impl FnOnce(NodeId, NodeId, NodeId) -> Flags,
    ) {
        if self.sets(ins) {
            self.cpu.flags = match (a, b, r) {
                (Some(a), Some(b), Some(r)) => flags(a, b, r),
                _ => Flags::default(),
            };
        }
    }

    fn bitwise(
        &mut self,
        ins: &Instruction,
        operation: Data,
        a: Value,
        b: Value,
        carry: Option<Flag>,
    ) -> Fallible<()> {
        use Data::{And, Bic, Eor, Mov, Mvn, Orn, Orr, Teq, Tst};
        let inverted = matches!(operation, Bic | Orn | Mvn);
        let b = if inverted { b.map(|b| self.g.not(b)) } else { b };
        let r = match (a, b) {
            (Some(a), Some(b)) => Some(match operation {
                And | Bic | Tst => self.bit_and(a, b)?,
                Orr | Orn => self.bit_or(a, b)?,
                Eor | Teq => self.g.xor(a, b),
                Mov | Mvn => b,
                _ => return Err(self.unsupported("an operation that is not bitwise")),
            }),
            // A mask decides bytes that are undefined.
            (None, Some(mask)) if matches!(operation, And | Bic) && !self.sets(ins) => {
                let masked = self.masked(ins.n, mask);
                return self.set_bytes(ins.d, masked);
            }
            _ => None,
        };
        if self.sets(ins) {
            self.set_logical(r, carry);
        }
        match operation {
            Tst | Teq => Ok(()),
            _ => self.put(ins.d, r),
        }
    }

    /// A register with some undefined bytes, under a mask.
    fn masked(&mut self, r: u8, mask: NodeId) -> Word {
        let mut bytes = self.cpu.general[usize::from(r)];
        let mut masks = [Byte::Undefined; 4];
        scatter(self.g, mask, &mut masks);
        for (byte, mask) in bytes.iter_mut().zip(masks) {
            *byte = bit_byte(self.g, Bitwise::And, *byte, mask);
        }
        bytes
    }

    /// The low byte of register m, by which n is shifted.
    fn count(&mut self, ins: &Instruction) -> Value {
        gather(self.g, &self.cpu.general[usize::from(ins.m)][..1])
    }

    fn shift_by(&mut self, ins: &Instruction, kind: Shift) -> Fallible<()> {
        let (a, count) = (self.value(ins.n)?, self.count(ins));
        let r = self.both(a, count, |m, a, count| barrel(m.g, kind, a, count));
        if self.sets(ins) {
            let known = count.and_then(|c| self.g.value(c));
            let carry = match (a, known) {
                (Some(_), Some(0)) => None,
                (Some(a), Some(n)) => {
                    let bit = match kind {
                        Shift::Left => 32u64.checked_sub(n),
                        Shift::Logical => Some(n - 1).filter(|&k| k < 32),
                        Shift::Arithmetic => Some((n - 1).min(31)),
                    };
                    let nothing = Flag::Bit(self.g.constant(1, 0));
                    Some(bit.map_or(nothing, |k| Flag::At(a, k as u8)))
                }
                (Some(_), None) => Some(Flag::Unmodelled),
                (None, _) => Some(Flag::Undefined),
            };
            self.set_logical(r, carry);
        }
        self.put(ins.d, r)
    }

    fn rotate_by(&mut self, ins: &Instruction) -> Fallible<()> {
        let (a, count) = (self.value(ins.n)?, self.count(ins));
        let (Some(a), Some(count)) = (a, count) else {
            if self.sets(ins) {
                self.cpu.flags = Flags::default();
            }
            return self.put(ins.d, None);
        };
        let (r, carry) = match self.g.value(count) {
            Some(0) => (a, None),
            Some(n) => {
                let r = rotate_right(self.g, a, n % 32);
                (r, Some(Flag::At(r, 31)))
            }
            None if self.g.is_vague(count) => {
                (self.g.mixed(&[a, count], 32), Some(Flag::Unmodelled))
            }
            None => {
                return Err(self.unsupported("a rotation by a count that is no constant"));
            }
        };
        if self.sets(ins) {
            self.set_logical(Some(r), carry);
        }
        self.put(ins.d, Some(r))
    }

    /// The address at that distance from the instruction's own place, aligned to 4, plus 4.
    pub(super) fn near(&mut self, distance: i64) -> Fallible<NodeId> {
        let (section, here) = self.at;
        if self.object.sections[section].align < 4 {
            return Err(self.unsupported(
                "a place near an instruction in a section that is not aligned to 4, so that it depends on \
                 where the linker puts it",
            ));
        }
        let offset = ((here + 4) & !3) as i64 + distance;
        match self.section_address(section, offset, offset) {
            Some(node) => Ok(node),
            None => Err(self.unsupported("an address in no entry of its section")),
        }
    }
}
