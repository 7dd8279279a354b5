//! Branches, calls, returns, IT.

use super::decode::Instruction;
use super::operation::Op;
use super::{LINK, Machine};
use crate::byte::Byte;
use crate::core::conditions::Flags;
use crate::core::{Destination, Fallible, Value};
use crate::fold::{gather, scatter};

impl Machine<'_> {
    pub(super) fn control(&mut self, ins: &Instruction) -> Fallible<bool> {
        match ins.op {
            Op::IfThen => self.cpu.block = ins.condition << 4 | ins.immediate as u8,
            Op::Branch => {
                let to = self.label(ins)?;
                self.jump(to, false)?;
            }
            Op::Call => {
                let to = self.label(ins)?;
                self.jump(to, true)?;
            }
            Op::BranchIf => {
                let condition = self.condition_of_flags(self.cpu.flags, ins.condition)?;
                if let Some(to) = self.branch(Some(condition), |m| m.label(ins))? {
                    self.jump(to, false)?;
                }
            }
            Op::CompareBranch { nonzero } => {
                let Some(n) = self.value(ins.n)? else {
                    return Err(self.undefined("a branch condition"));
                };
                let zero = self.g.constant(32, 0);
                let is_zero = self.equal(n, zero);
                let taken = if nonzero { self.g.not(is_zero) } else { is_zero };
                if let Some(to) = self.branch(Some(taken), |m| m.label(ins))? {
                    self.jump(to, false)?;
                }
            }
            Op::Exchange { call } => {
                let target = self.value(ins.m)?;
                self.exchange(target, call)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Where a branch goes.
    fn label(&mut self, ins: &Instruction) -> Fallible<Destination> {
        if let Some(link) = self.now.link {
            if let Some(name) = self.outside_target(&link.relocation) {
                return Ok(Destination::Outside(name));
            }
            let node = self.linked(&link)?;
            return self.odd(Some(node));
        }
        // Without a relocation the target lies in this very section.
        let (section, here) = self.at;
        let to = here as i64 + 4 + ins.immediate;
        let inside = u64::try_from(to).ok().filter(|&o| o < self.object.sections[section].size);
        match inside {
            Some(offset) => Ok(Destination::Code(section, offset)),
            None => Err(self.unsupported("a jump outside its section")),
        }
    }

    /// The destination at an address whose lowest bit says Thumb.
    fn odd(&mut self, target: Value) -> Fallible<Destination> {
        let node = match self.indirect(target)? {
            Destination::Return => return Ok(Destination::Return),
            Destination::Code(section, offset) => (section, offset),
            Destination::Outside(name) => return Ok(Destination::Outside(name)),
        };
        let (section, offset) = node;
        if offset & 1 == 0 {
            return Err(self.unsupported("a jump into Arm state, which is a fault"));
        }
        Ok(Destination::Code(section, offset - 1))
    }

    /// Goes to the address in a register.
    pub(super) fn exchange(&mut self, target: Value, call: bool) -> Fallible<()> {
        let to = self.odd(target)?;
        self.jump(to, call)
    }

    fn jump(&mut self, to: Destination, call: bool) -> Fallible<()> {
        // A linker may reach a relocated branch's target through a veneer, which uses r12 and the flags.
        if self.now.link.is_some() {
            self.cpu.general[12] = [Byte::Undefined; 4];
            self.cpu.flags = Flags::default();
        }
        if call {
            let (section, offset) = self.next;
            let offset = offset as i64;
            let Some(back) = self.section_address(section, offset, offset) else {
                return Err(self.unsupported("a call from a mergeable section"));
            };
            let one = self.g.constant(32, 1);
            let back = self.g.add(back, one);
            scatter(self.g, back, &mut self.cpu.general[usize::from(LINK)]);
        }
        match self.stood_in(to) {
            Destination::Code(section, offset) => {
                self.next = (section, offset);
                Ok(())
            }
            Destination::Return if call => Err(self.unsupported("a call of the return address")),
            Destination::Return => self.finish(),
            Destination::Outside(name) => {
                let back = gather(self.g, &self.cpu.general[usize::from(LINK)]);
                self.outside(&name, call)?;
                if call {
                    return Ok(());
                }
                // It ends in that function, which returns for it.
                match self.odd(back)? {
                    Destination::Return => self.finish(),
                    Destination::Code(section, offset) => {
                        self.next = (section, offset);
                        Ok(())
                    }
                    Destination::Outside(_) => Err(self.unsupported("a return to another object")),
                }
            }
        }
    }
}
