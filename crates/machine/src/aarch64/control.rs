//! Branches, calls, returns.

use super::{LINK, Machine};
use crate::byte::Byte;
use crate::core::{Destination, Fallible, Value};
use crate::fold::{gather, scatter};
use crate::graph::NodeId;
use fARM64::{Instruction, Mnemonic as M, Operand};

/// Where calls land under BTI: `bti c`, `bti jc`, `paciasp`, `pacibsp`.
pub(super) const CALLED: [u32; 4] = [0xd503_245f, 0xd503_24df, 0xd503_233f, 0xd503_237f];
/// Where jumps land: `bti j`, `bti jc`.
const JUMPED: [u32; 2] = [0xd503_249f, 0xd503_24df];

impl Machine<'_> {
    pub(super) fn control(&mut self, ins: &Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Nop | M::Bti | M::Csdb => {}
            M::B => match ins.op(0) {
                Operand::Cond(code) => {
                    let condition = self.condition(code)?;
                    self.branch_if(condition, 1)?;
                }
                _ => {
                    let to = self.label(0)?;
                    self.jump(to, false)?;
                }
            },
            M::Bl => {
                let to = self.label(0)?;
                self.jump(to, true)?;
            }
            M::Br | M::Blr => {
                let target = self.general(self.plain(0)?)?;
                let to = self.indirect(target)?;
                let call = ins.mnemonic() == M::Blr;
                // Through x16 and x17 a jump may be the end of a call.
                let tail = matches!(self.plain(0)?.number(), 16 | 17);
                match (call, tail) {
                    (true, _) => self.lands(&to, &CALLED, "an indirect call")?,
                    (false, true) => {
                        self.lands(&to, &[&CALLED[..], &JUMPED].concat(), "an indirect jump")?;
                    }
                    (false, false) => self.lands(&to, &JUMPED, "an indirect jump")?,
                }
                self.jump(to, call)?;
            }
            M::Ret => {
                let target = match ins.op_count() {
                    0 => gather(self.g, &self.cpu.general[LINK]),
                    _ => self.general(self.plain(0)?)?,
                };
                self.goes_back(target)?;
            }
            M::Cbz | M::Cbnz => {
                let w = self.width_of(0)?;
                let Some(a) = self.value(0, w)? else {
                    return Err(self.undefined("a branch condition"));
                };
                let zero = self.g.constant(w, 0);
                let is_zero = self.equal(a, zero);
                let taken = if ins.mnemonic() == M::Cbz { is_zero } else { self.g.not(is_zero) };
                self.branch_if(taken, 1)?;
            }
            M::Tbz | M::Tbnz => {
                let (bytes, size) = self.general_bytes(self.plain(0)?)?;
                let at = self.immediate(1)? as usize;
                if at >= 8 * size {
                    return Err(self.form());
                }
                let Some(byte) = gather(self.g, &bytes[at / 8..at / 8 + 1]) else {
                    return Err(self.undefined("a branch condition"));
                };
                let bit = self.g.slice(byte, (at % 8) as u8, 1);
                let taken = if ins.mnemonic() == M::Tbnz { bit } else { self.g.not(bit) };
                self.branch_if(taken, 2)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns to an address.
    pub(super) fn goes_back(&mut self, target: Value) -> Fallible<()> {
        let Some(target) = target else { return Err(self.undefined("the return address")) };
        let to = self.code_at(target)?;
        self.jump(to, false)
    }

    /// Goes to the label that is operand `i` where the condition holds.
    fn branch_if(&mut self, condition: NodeId, i: usize) -> Fallible<()> {
        if let Some(to) = self.branch(Some(condition), |m| m.label(i))? {
            self.jump(to, false)?;
        }
        Ok(())
    }

    /// Where the label that is operand `i` lies.
    fn label(&mut self, i: usize) -> Fallible<Destination> {
        let Operand::Label(target) = self.now.ins.op(i) else { return Err(self.form()) };
        if let Some(link) = self.now.link {
            // Distances of branches are counted in words.
            if link.relocation.addend % 4 != 0 {
                return Err(self.unsupported("a branch to a place that is no multiple of 4"));
            }
            if let Some(name) = self.outside_target(&link.relocation) {
                return Ok(Destination::Outside(name));
            }
            let node = self.linked(&link)?;
            return self.code_at(node);
        }
        // Without a relocation the target lies in this very section.
        let here = &self.object.sections[self.at.0];
        let offset = target.checked_sub(here.address);
        match offset.filter(|&o| o < here.size) {
            Some(offset) => Ok(Destination::Code(self.at.0, offset)),
            None => Err(self.unsupported("a jump outside its section")),
        }
    }

    fn jump(&mut self, to: Destination, call: bool) -> Fallible<()> {
        // A linker may reach a relocated branch's target through a veneer, which uses x16 and x17.
        if self.now.link.is_some() {
            self.cpu.general[16] = [Byte::Undefined; 8];
            self.cpu.general[17] = [Byte::Undefined; 8];
        }
        if call {
            let (section, offset) = self.next;
            let Some(back) = self.section_address(section, offset as i64, offset as i64) else {
                return Err(self.unsupported("a call from a mergeable section"));
            };
            scatter(self.g, back, &mut self.cpu.general[LINK]);
        }
        match self.stood_in(to) {
            Destination::Code(section, offset) => {
                self.next = (section, offset);
                Ok(())
            }
            Destination::Return if call => Err(self.unsupported("a call of the return address")),
            Destination::Return => self.finish(),
            Destination::Outside(name) => {
                let back = gather(self.g, &self.cpu.general[LINK]);
                self.outside(&name, call)?;
                if call {
                    return Ok(());
                }
                // It ends in that function, which returns for it.
                let to = self.indirect(back)?;
                self.jump_back(to)
            }
        }
    }

    /// The return that another object's function makes.
    fn jump_back(&mut self, to: Destination) -> Fallible<()> {
        match to {
            Destination::Return => self.finish(),
            Destination::Code(section, offset) => {
                self.next = (section, offset);
                Ok(())
            }
            Destination::Outside(_) => Err(self.unsupported("a return to another object")),
        }
    }
}
