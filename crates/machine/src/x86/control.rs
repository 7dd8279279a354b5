//! Jumps, calls, returns.

use super::{Fallible, Machine, RSP};
use crate::byte::Byte;
use crate::error::Timing;
use crate::fold::{gather, scatter};
use crate::graph::NodeId;
use crate::memory::RegionKind;
use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

/// Where a jump goes.
enum Destination {
    Code(usize, u64),
    /// The caller.
    Return,
    Outside(String),
}

impl Machine<'_> {
    pub(super) fn control(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Nop | M::Endbr64 | M::Lfence | M::Sfence | M::Mfence | M::Pause | M::Cld => {}
            M::Jmp => {
                let to = self.destination()?;
                self.jump(to, false)?;
            }
            M::Call => {
                let to = self.destination()?;
                self.jump(to, true)?;
            }
            M::Ret => {
                if ins.op_count() != 0 {
                    return Err(self.unsupported("a return that pops arguments"));
                }
                let bytes = self.pop()?;
                let Some(target) = gather(self.g, &bytes) else {
                    return Err(self.undefined("the return address"));
                };
                let to = self.code_at(target)?;
                self.jump(to, false)?;
            }
            _ if ins.is_jcc_short_or_near() => {
                let condition = self.condition(ins.condition_code())?;
                if self.concrete(Some(condition), Timing::Branch, "a branch condition")? == 1 {
                    let to = self.destination()?;
                    self.jump(to, false)?;
                }
            }
            M::Jrcxz => {
                let count = self.register(Register::RCX);
                if self.concrete(count, Timing::Branch, "a branch condition")? == 0 {
                    let to = self.destination()?;
                    self.jump(to, false)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Where the jump or call of operand 0 goes.
    fn destination(&mut self) -> Fallible<Destination> {
        match self.ins.op_kind(0) {
            OpKind::NearBranch64 => {
                if let Some(link) = self.links.immediate {
                    if let Some(name) = self.outside_target(&link) {
                        return Ok(Destination::Outside(name));
                    }
                    let target = self.linked(&link)?;
                    return self.code_at(target);
                }
                // Without a relocation the target lies in this very section.
                let here = &self.object.sections[self.at.0];
                let offset = self.ins.near_branch64().checked_sub(here.address);
                match offset.filter(|&o| o < here.size) {
                    Some(offset) => Ok(Destination::Code(self.at.0, offset)),
                    None => Err(self.unsupported("a jump outside its section")),
                }
            }
            OpKind::Memory => {
                if let Some(link) = self.links.displacement.filter(|_| self.is_slot())
                    && let Some(name) = self.outside_target(&link)
                {
                    return Ok(Destination::Outside(name));
                }
                let mut bytes = [Byte::Undefined; 8];
                self.load_operand(&mut bytes)?;
                let target = gather(self.g, &bytes);
                self.indirect(target)
            }
            OpKind::Register => {
                let target = self.register(self.ins.op_register(0));
                self.indirect(target)
            }
            _ => Err(self.unsupported("operand form")),
        }
    }

    fn indirect(&mut self, target: Option<NodeId>) -> Fallible<Destination> {
        match target {
            Some(node) => self.code_at(node),
            None => Err(self.undefined("the target of a jump")),
        }
    }

    fn code_at(&mut self, target: NodeId) -> Fallible<Destination> {
        let Some((region, offset)) = self.g.address_of(target) else {
            return Err(match self.g.value(target) {
                Some(_) => self.unsupported("a jump to a number that is no code address"),
                None => self.not_concrete(Timing::Branch, target),
            });
        };
        if region == self.stack + 1 && offset == 0 {
            return Ok(Destination::Return);
        }
        match self.regions[usize::from(region)].kind {
            RegionKind::Section(section, start)
                if self.object.sections[section].executable
                    && (0..=self.object.sections[section].size as i64).contains(&offset) =>
            {
                Ok(Destination::Code(section, start + offset as u64))
            }
            _ => Err(self.unsupported("a jump into memory that is no code")),
        }
    }

    fn jump(&mut self, to: Destination, call: bool) -> Fallible<()> {
        match to {
            Destination::Code(section, offset) => {
                if call {
                    let (s, o) = self.next;
                    let Some(back) = self.section_address(s, o as i64, o as i64) else {
                        return Err(self.unsupported("a call from a mergeable section"));
                    };
                    let mut bytes = [Byte::Undefined; 8];
                    scatter(self.g, back, &mut bytes);
                    self.push(&bytes)?;
                }
                self.next = (section, offset);
                Ok(())
            }
            Destination::Return if call => Err(self.unsupported("a call of the return address")),
            Destination::Return => self.finish(),
            Destination::Outside(name) => {
                self.outside(&name, call)?;
                if call {
                    return Ok(());
                }
                let bytes = self.pop()?;
                let Some(target) = gather(self.g, &bytes) else {
                    return Err(self.undefined("the return address"));
                };
                let back = self.code_at(target)?;
                self.jump(back, false)
            }
        }
    }

    /// Pushes eight bytes.
    pub(super) fn push(&mut self, bytes: &[Byte; 8]) -> Fallible<()> {
        let rsp = self.rsp()? - 8;
        self.set_rsp(rsp)?;
        self.store((self.stack, rsp), bytes)
    }

    /// Pops eight bytes.
    pub(super) fn pop(&mut self) -> Fallible<[Byte; 8]> {
        let rsp = self.rsp()?;
        let mut bytes = [Byte::Undefined; 8];
        self.load((self.stack, rsp), &mut bytes)?;
        self.set_rsp(rsp + 8)?;
        Ok(bytes)
    }

    /// Moves the stack pointer.
    pub(super) fn set_rsp(&mut self, offset: i64) -> Fallible<()> {
        let node = self.g.address(self.stack, offset);
        let mut bytes = [Byte::Undefined; 8];
        scatter(self.g, node, &mut bytes);
        self.gpr[RSP] = bytes;
        self.stack_moved()
    }
}
