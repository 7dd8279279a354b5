//! Loads and stores of one or two registers, addresses.

use super::operand::extended;
use super::{Machine, links};
use crate::byte::Byte;
use crate::core::{Fallible, Value};
use crate::error::Timing;
use crate::fold::{gather, scatter};
use fARM64::operand::MemIndexMode;
use fARM64::{Instruction, Mnemonic as M, Operand, Register};

/// What an access does besides moving bytes.
struct Access {
    /// Bytes of one register's part of memory.
    size: usize,
    store: bool,
    signed: bool,
    /// Registers that are moved: one or two.
    count: usize,
}

impl Machine<'_> {
    pub(super) fn memory(&mut self, ins: &Instruction) -> Fallible<bool> {
        let register = |m: &Self| match ins.op(0) {
            Operand::Reg { reg, .. } => Ok(reg.width_bits() as usize / 8),
            _ => Err(m.form()),
        };
        let (size, store, signed, count) = match ins.mnemonic() {
            M::Ldr | M::Ldur => (register(self)?, false, false, 1),
            M::Str | M::Stur => (register(self)?, true, false, 1),
            M::Ldrb | M::Ldurb => (1, false, false, 1),
            M::Ldrh | M::Ldurh => (2, false, false, 1),
            M::Ldrsb | M::Ldursb => (1, false, true, 1),
            M::Ldrsh | M::Ldursh => (2, false, true, 1),
            M::Ldrsw | M::Ldursw => (4, false, true, 1),
            M::Strb | M::Sturb => (1, true, false, 1),
            M::Strh | M::Sturh => (2, true, false, 1),
            M::Ldp | M::Ldnp => (register(self)?, false, false, 2),
            M::Stp | M::Stnp => (register(self)?, true, false, 2),
            M::Ldpsw => (4, false, true, 2),
            M::Adr | M::Adrp => {
                let to = self.plain(0)?;
                let value = self.place_of(1, ins.mnemonic() == M::Adrp)?;
                self.put(to, Some(value))?;
                return Ok(true);
            }
            M::Prfm | M::Prfum => {
                // Only that its address tells nothing.
                let (address, _) = self.operand_address(1, 0)?;
                let Some(node) = address else { return Err(self.undefined("a memory address")) };
                if self.g.address_of(node).is_none() && self.g.value(node).is_none() {
                    return Err(self.not_concrete(Timing::Address, node));
                }
                return Ok(true);
            }
            _ => return Ok(false),
        };
        if let Some(link) = self.now.link.filter(|link| link.meaning == links::Meaning::Slot) {
            let (to, Operand::MemImm { base, .. }) = (self.plain(0)?, ins.op(1)) else {
                return Err(self.form());
            };
            let base = self.base(base)?;
            let held = self.slot(base, &link)?;
            self.put(to, Some(held))?;
            return Ok(true);
        }
        self.access(&Access { size, store, signed, count })?;
        Ok(true)
    }

    fn access(&mut self, access: &Access) -> Fallible<()> {
        let mut registers = Vec::new();
        for i in 0..access.count {
            registers.push(self.plain(i)?);
        }
        let total = access.size * access.count;
        let (address, back) = self.operand_address(access.count, access.size as u64)?;
        self.check_registers(access, &registers, back.map(|b| b.0))?;
        let at = self.dereference(address, total as u64)?;
        self.unaligned(at, access.size as u64);
        let mut bytes = vec![Byte::Undefined; total];
        if access.store {
            for (r, part) in registers.iter().zip(bytes.chunks_mut(access.size)) {
                if r.is_simd() {
                    part.copy_from_slice(&self.cpu.vector[usize::from(r.number())][..access.size]);
                } else {
                    part.copy_from_slice(&self.general_bytes(*r)?.0[..access.size]);
                }
            }
            // The stack pointer moves first: what is pushed lies above it.
            let first = match back {
                Some((Register::Sp, value)) => self.moves_down(value)?,
                _ => false,
            };
            if first {
                self.write_back(back)?;
            }
            self.store(at, &bytes)?;
            return if first { Ok(()) } else { self.write_back(back) };
        }
        self.load(at, &mut bytes)?;
        for (r, part) in registers.iter().zip(bytes.chunks(access.size)) {
            if r.is_simd() {
                let mut wide = [Byte::Const(0); 16];
                wide[..access.size].copy_from_slice(part);
                self.cpu.vector[usize::from(r.number())] = wide;
            } else if access.signed {
                let w = r.width_bits() as u8;
                let value = gather(self.g, part).map(|v| self.g.sext(v, w));
                self.put(*r, value)?;
            } else {
                let mut whole = [Byte::Const(0); 8];
                whole[..access.size].copy_from_slice(part);
                self.set_general(*r, &whole)?;
            }
        }
        self.write_back(back)
    }

    /// An access at an address that may not be a multiple of its size. The processor allows it,
    /// unless the system forbids it, as it may before it has set up its memory.
    pub(super) fn unaligned(&mut self, (region, offset): (u16, i64), size: u64) {
        let region = &self.regions[usize::from(region)];
        if size > 1 && region.aligned(offset, size) != Some(true) {
            self.assume(
                "memory may be accessed where it is not aligned to the access: it is normal memory and \
                 SCTLR_ELx.A is clear"
                    .into(),
            );
        }
    }

    /// Refuses what the architecture leaves open: a base that is written back and also moved, one
    /// register loaded twice.
    fn check_registers(
        &self,
        access: &Access,
        registers: &[Register],
        back: Option<Register>,
    ) -> Fallible<()> {
        let one = |a: Register, b: Register| a.is_simd() == b.is_simd() && a.number() == b.number();
        let twice = !access.store && access.count == 2 && one(registers[0], registers[1]);
        let moved = |base: Register| {
            base != Register::Sp
                && registers.iter().any(|&r| !Self::is_zero_register(r) && one(r, base))
        };
        if twice || back.is_some_and(moved) {
            return Err(self.unsupported("what this does is left open by the architecture"));
        }
        Ok(())
    }

    /// Whether the stack pointer goes down by taking that value.
    fn moves_down(&mut self, value: Value) -> Fallible<bool> {
        let now = self.stack_pointer()?;
        Ok(match value.and_then(|v| self.g.address_of(v)) {
            Some((region, offset)) => region == self.stack && offset < now,
            None => false,
        })
    }

    /// Writes the base register.
    pub(super) fn write_back(&mut self, back: Option<(Register, Value)>) -> Fallible<()> {
        match back {
            Some((base, value)) => self.put(base, value),
            None => Ok(()),
        }
    }

    /// The address that operand `i` means, and what is written back to which base. `size`: bytes of
    /// the field that a relocation's low bits are scaled by.
    pub(super) fn operand_address(
        &mut self,
        i: usize,
        size: u64,
    ) -> Fallible<(Value, Option<(Register, Value)>)> {
        match self.now.ins.op(i) {
            Operand::MemImm { base, imm, mode } => {
                let at = self.base(base)?;
                if let Some(link) = self.now.link {
                    if mode != MemIndexMode::Offset || link.meaning != links::Meaning::LowBits(size)
                    {
                        return Err(self.form());
                    }
                    return Ok((Some(self.page_of(at, &link)?), None));
                }
                let by = self.g.constant(64, imm as u64);
                let moved = at.map(|at| self.g.add(at, by));
                Ok(match mode {
                    MemIndexMode::Offset => (moved, None),
                    MemIndexMode::PreIndex => (moved, Some((base, moved))),
                    MemIndexMode::PostImm => (at, Some((base, moved))),
                    MemIndexMode::PostReg => {
                        let by = self.general(self.plain(i + 1)?)?;
                        let moved = match (at, by) {
                            (Some(at), Some(by)) => Some(self.g.add(at, by)),
                            _ => None,
                        };
                        (at, Some((base, moved)))
                    }
                    MemIndexMode::PreNoOffset => return Err(self.form()),
                })
            }
            Operand::MemExt { base, index, extend, shift } => {
                let at = self.base(base)?;
                let index = self.general(index)?;
                let (Some(at), Some(index)) = (at, index) else { return Ok((None, None)) };
                let wide = extended(self.g, index, extend, 64);
                // The top bit says that the shift is written.
                let by = self.g.shl(wide, u64::from(shift & 0x7f));
                Ok((Some(self.g.add(at, by)), None))
            }
            Operand::Label(_) => Ok((Some(self.place_of(i, false)?), None)),
            _ => Err(self.form()),
        }
    }

    /// A base register: the stack pointer must be a multiple of 16.
    fn base(&mut self, base: Register) -> Fallible<Value> {
        if base == Register::Sp {
            let top = self.stack_pointer()?;
            self.require_alignment((self.stack, top), 16, 16)?;
        }
        self.general(base)
    }

    /// The bytes of a value (of 8 bytes at most).
    pub(super) fn spread_bytes(&mut self, value: Value, size: usize) -> Vec<Byte> {
        let mut bytes = vec![Byte::Undefined; size];
        if let Some(node) = value {
            scatter(self.g, node, &mut bytes);
        }
        bytes
    }
}
