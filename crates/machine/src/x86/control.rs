//! Jumps, calls, returns.

use super::{Fallible, Machine, RSP};
use crate::byte::Byte;
use crate::error::Timing;
use crate::fold::{gather, scatter};
use crate::graph::NodeId;
use crate::memory::RegionKind;
use crate::object::{Kind, Target};
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
            M::Jrcxz | M::Jecxz => {
                let r = if ins.mnemonic() == M::Jrcxz { Register::RCX } else { Register::ECX };
                let count = self.register(r);
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
                if let Some(r) = self.immediate_relocation() {
                    if let Target::Outside(name) = &r.target {
                        return Ok(Destination::Outside(name.clone()));
                    }
                    let after = self.ins.len() - self.constants.immediate_offset();
                    let target = self.linked(&r, after as i64)?;
                    return self.code_at(target);
                }
                let target = self.ins.near_branch64();
                let here = &self.object.sections[self.at.0];
                let inside = target
                    .checked_sub(here.address)
                    .filter(|&o| o < here.data.len() as u64)
                    .map(|o| (self.at.0, o))
                    .or_else(|| self.object.locate(target).filter(|_| !self.object.relocatable));
                match inside {
                    Some((section, offset)) => Ok(Destination::Code(section, offset)),
                    None => Err(self.unsupported("a jump outside every section")),
                }
            }
            OpKind::Memory => {
                if let Some((r, _)) = self.displacement_relocation()
                    && r.kind == Kind::GotSlot
                    && let Target::Outside(name) = &r.target
                {
                    return Ok(Destination::Outside(name.clone()));
                }
                // A linked object's jump through a slot that the loader fills.
                if !self.object.relocatable && self.ins.is_ip_rel_memory_operand() {
                    let slot = self.object.locate(self.ins.ip_rel_memory_address());
                    let filled = slot
                        .and_then(|(s, o)| self.object.sections[s].relocations.get(&o))
                        .cloned();
                    if let Some(r) = filled
                        && r.kind == Kind::Absolute64
                    {
                        return match &r.target {
                            Target::Outside(name) => Ok(Destination::Outside(name.clone())),
                            Target::Inside { .. } => {
                                let target = self.linked(&r, 0)?;
                                self.code_at(target)
                            }
                        };
                    }
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
                if self.object.sections[section].executable && offset >= 0 =>
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
                    let back = self.section_address(s, o as i64, o as i64);
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
