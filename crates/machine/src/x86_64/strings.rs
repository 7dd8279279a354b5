//! `rep movs` and `rep stos` with a count that is a number.

use super::{Fallible, Machine, RCX, RDI, RSI};
use crate::byte::Byte;
use crate::error::Timing;
use crate::fold::gather;
use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

impl Machine<'_> {
    pub(super) fn strings(&mut self, ins: Instruction) -> Fallible<bool> {
        let (size, copy) = match ins.mnemonic() {
            M::Movsb => (1u64, true),
            M::Movsw => (2, true),
            // The SSE2 move of that name has vector operands.
            M::Movsd if ins.op_kind(0) == OpKind::MemoryESRDI => (4, true),
            M::Movsq => (8, true),
            M::Stosb => (1, false),
            M::Stosw => (2, false),
            M::Stosd => (4, false),
            M::Stosq => (8, false),
            _ => return Ok(false),
        };
        if ins.op_kind(0) != OpKind::MemoryESRDI
            || (copy && ins.op_kind(1) != OpKind::MemorySegRSI)
            || ins.has_repne_prefix()
        {
            return Err(self.unsupported("operand form"));
        }
        let count = if ins.has_rep_prefix() {
            let count = gather(self.g, &self.cpu.gpr[RCX]);
            self.concrete(count, Timing::Address, "a count")?
        } else {
            1
        };
        if count > 1 << 24 {
            return Err(self.unsupported("a string instruction over more than 16 M elements"));
        }
        self.charge(count.saturating_mul(size))?;
        let value = self.cpu.gpr[super::RAX];
        for _ in 0..count {
            let mut bytes = [Byte::Undefined; 8];
            let bytes = &mut bytes[..size as usize];
            if copy {
                let source = gather(self.g, &self.cpu.gpr[RSI]);
                let from = self.dereference(source, size)?;
                self.load(from, bytes)?;
                self.advance(Register::RSI, size)?;
            } else {
                bytes.copy_from_slice(&value[..size as usize]);
            }
            let target = gather(self.g, &self.cpu.gpr[RDI]);
            let to = self.dereference(target, size)?;
            self.store(to, bytes)?;
            self.advance(Register::RDI, size)?;
        }
        if ins.has_rep_prefix() {
            self.cpu.gpr[RCX] = [Byte::Const(0); 8];
        }
        Ok(true)
    }

    fn advance(&mut self, r: Register, by: u64) -> Fallible<()> {
        let by = self.g.constant(64, by);
        let moved = self.register(r).map(|p| self.g.add(p, by));
        self.put(r, moved)
    }
}
