//! Jumps, calls, returns.

use super::flags::Flags;
use super::{Fallible, Machine, RSP};
use crate::byte::Byte;
use crate::core::{Destination, Value};
use crate::error::Timing;
use crate::fold::{gather, scatter};
use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

/// The word of `endbr64`.
pub(super) const ENDBR64: u32 = 0xfa1e_0ff3;
/// The longest frame that is probed.
const MOST_PROBED: u64 = 8 << 20;
/// The prefix of jumps and calls that are not tracked.
const NOTRACK: u8 = 0x3e;

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
                self.unwound(&to)?;
                self.jump(to, false)?;
            }
            _ if ins.is_jcc_short_or_near() => {
                let condition = self.condition(ins.condition_code())?;
                if let Some(to) = self.branch(Some(condition), Self::destination)? {
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

    /// Where the jump or call of operand 0 goes. Far ones, through memory, have the same mnemonics.
    fn destination(&mut self) -> Fallible<Destination> {
        if self.now.ins.is_jmp_far_indirect() || self.now.ins.is_call_far_indirect() {
            return Err(self.unsupported("a jump or call into another code segment"));
        }
        match self.now.ins.op_kind(0) {
            OpKind::NearBranch64 => {
                if let Some(link) = self.now.links.immediate {
                    if let Some(name) = self.outside_target(&link.relocation) {
                        return Ok(Destination::Outside(name));
                    }
                    let target = self.linked(&link)?;
                    return self.code_at(target);
                }
                // Without a relocation the target lies in this very section.
                let here = &self.object.sections[self.at.0];
                let offset = self.now.ins.near_branch64().checked_sub(here.address);
                match offset.filter(|&o| o < here.size) {
                    Some(offset) => Ok(Destination::Code(self.at.0, offset)),
                    None => Err(self.unsupported("a jump outside its section")),
                }
            }
            OpKind::Memory => {
                if let Some(link) = self.now.links.displacement.filter(|_| self.is_slot())
                    && let Some(name) = self.outside_target(&link.relocation)
                {
                    return Ok(Destination::Outside(name));
                }
                let mut bytes = [Byte::Undefined; 8];
                self.load_operand(&mut bytes)?;
                let target = gather(self.g, &bytes);
                self.tracked(target)
            }
            OpKind::Register => {
                let target = self.register(self.now.ins.op_register(0));
                self.tracked(target)
            }
            _ => Err(self.unsupported("operand form")),
        }
    }

    /// Where an indirect jump or call goes, which under IBT lands on `endbr64` unless a prefix says that it is
    /// not tracked.
    fn tracked(&mut self, target: Value) -> Fallible<Destination> {
        let to = self.indirect(target)?;
        let first = self.object.word(self.at.0, self.at.1).to_le_bytes()[0];
        if first != NOTRACK {
            self.lands(&to, std::slice::from_ref(&ENDBR64), "an indirect jump or call")?;
        }
        Ok(to)
    }

    /// Checks that a return goes where the last call was made, if the object promises that.
    fn unwound(&mut self, to: &Destination) -> Fallible<()> {
        let expected = self.calls.pop();
        let kept = match (expected, to) {
            (None, Destination::Return) => true,
            (Some(call), &Destination::Code(section, offset)) => call == (section, offset),
            _ => false,
        };
        if kept || !self.object.promises.returns {
            return Ok(());
        }
        Err(self.unsupported(
            "the object's property note says that returns go where calls were made (SHSTK), and this one does not: \
             the processor stops there",
        ))
    }

    fn jump(&mut self, to: Destination, call: bool) -> Fallible<()> {
        match self.stood_in(to) {
            Destination::Code(section, offset) => {
                if call {
                    let (s, o) = self.next;
                    let Some(back) = self.section_address(s, o as i64, o as i64) else {
                        return Err(self.unsupported("a call from a mergeable section"));
                    };
                    let mut bytes = [Byte::Undefined; 8];
                    scatter(self.g, back, &mut bytes);
                    self.push(&bytes)?;
                    self.calls.push((s, o));
                }
                self.next = (section, offset);
                Ok(())
            }
            Destination::Return if call => Err(self.unsupported("a call of the return address")),
            Destination::Return => self.finish(),
            Destination::Outside(name) if call && self.probe(&name)? => Ok(()),
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
                self.unwound(&back)?;
                self.jump(back, false)
            }
        }
    }

    /// A stack probe of Windows, if the function of that name is one: it touches each page of the rax bytes below the
    /// stack pointer.
    fn probe(&mut self, name: &str) -> Fallible<bool> {
        let changed: &[usize] = match name {
            "___chkstk_ms" => &[],
            "__chkstk" => &[10, 11],
            _ => return Ok(false),
        };
        if !self.object.is_coff() {
            return Ok(false);
        }
        let size = self.register(Register::RAX);
        let size = self.concrete(size, Timing::Address, "the size of a stack frame")?;
        if size > MOST_PROBED {
            return Err(self.unsupported(format!("a stack probe of {size} bytes")));
        }
        // Its return address, and what it saves of two registers before it touches anything.
        let top = self.stack_pointer()?;
        self.touch(top - 24, 24)?;
        let saved = if changed.is_empty() { [0, 1] } else { [10, 11] };
        for (r, at) in saved.into_iter().zip([top - 24, top - 16]) {
            self.dead.store(at, &self.cpu.gpr[r]);
        }
        self.touched = self.touched.min(top - size as i64);
        self.deepest = self.deepest.min(top - (size as i64).max(24));
        for &r in changed {
            self.cpu.gpr[r] = [Byte::Undefined; 8];
        }
        self.cpu.flags = Flags::default();
        self.assume(format!(
            "the linked `{name}` touches each page of the stack that it is asked for, and changes no register that it may \
             not and no byte of the stack in use"
        ));
        Ok(true)
    }

    /// Pushes eight bytes.
    pub(super) fn push(&mut self, bytes: &[Byte; 8]) -> Fallible<()> {
        let rsp = self.stack_pointer()? - 8;
        self.set_rsp(rsp)?;
        self.store((self.stack, rsp), bytes)
    }

    /// Pops eight bytes.
    pub(super) fn pop(&mut self) -> Fallible<[Byte; 8]> {
        let rsp = self.stack_pointer()?;
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
        self.cpu.gpr[RSP] = bytes;
        self.stack_moved()
    }
}
