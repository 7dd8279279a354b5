//! Signed return addresses, and the register that leads to a thread's own memory.
//!
//! PACIASP computes a code from the address, the stack pointer and a key, and puts it into the
//! address's upper bits. AUTIASP takes it out again, or spoils the address if the code differs. On
//! processors without pointer authentication both do nothing. So a signed address is a token here.
//! All that is known of it is that its partner turns it back, with the same stack pointer and key.
//! Any other use is refused.

use super::{LINK, Machine};
use crate::core::{Fallible, RegionKind};
use crate::fold::{gather, scatter};
use crate::graph::NodeId;
use fARM64::{Instruction, Mnemonic as M, Operand, SystemReg};

/// TPIDR_EL0.
const THREAD: (u8, u8, u8, u8, u8) = (3, 3, 13, 0, 2);

/// A signed return address.
pub(crate) struct Signed {
    /// The region that represents it.
    token: u16,
    /// The address, the stack pointer's offset, and the key.
    from: (NodeId, i64, Key),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    A,
    B,
}

impl Machine<'_> {
    pub(super) fn signing(&mut self, ins: &Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Paciasp => self.sign(Key::A)?,
            M::Pacibsp => self.sign(Key::B)?,
            M::Autiasp => self.authenticate(Key::A)?,
            M::Autibsp => self.authenticate(Key::B)?,
            M::Retaa | M::Retab => {
                let key = if ins.mnemonic() == M::Retaa { Key::A } else { Key::B };
                self.authenticate(key)?;
                self.assume("the processor has pointer authentication (Armv8.3-A)".into());
                let back = gather(self.g, &self.cpu.general[LINK]);
                self.goes_back(back)?;
            }
            M::Mrs => {
                let to = self.plain(0)?;
                let (op0, op1, crn, crm, op2) = THREAD;
                if ins.op(1) != Operand::SysReg(SystemReg::from_encoding(op0, op1, crn, crm, op2)) {
                    return Err(self.unsupported("a system register that is not on the whitelist"));
                }
                self.assume(
                    "the word 40 bytes behind TPIDR_EL0 is the stack protector's canary, as on Android".into(),
                );
                let block = self.g.address(self.canary_region(true), 0);
                self.put(to, Some(block))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Signs the link register.
    fn sign(&mut self, key: Key) -> Fallible<()> {
        let address = gather(self.g, &self.cpu.general[LINK]);
        let place = address.and_then(|a| Some((a, self.g.address_of(a)?)));
        let Some((address, _)) = place.filter(|&(_, at)| self.comes_back(at)) else {
            return Err(self.unsupported("what is signed is no return address"));
        };
        let from = (address, self.stack_pointer()?, key);
        let known = self.cpu.signed.iter().find(|s| s.from == from).map(|s| s.token);
        let token = match known {
            Some(token) => token,
            None => {
                let token = self.token("a signed return address")?;
                self.cpu.signed.push(Signed { token, from });
                token
            }
        };
        let signed = self.g.address(token, 0);
        scatter(self.g, signed, &mut self.cpu.general[LINK]);
        Ok(())
    }

    /// Turns the link register back into what was signed.
    fn authenticate(&mut self, key: Key) -> Fallible<()> {
        let signed = gather(self.g, &self.cpu.general[LINK]);
        let token = signed.and_then(|s| self.g.address_of(s)).filter(|t| t.1 == 0);
        let top = self.stack_pointer()?;
        let all = &self.cpu.signed;
        let found = token.and_then(|t| all.iter().find(|s| s.token == t.0));
        let Some(&Signed { from: (address, ..), .. }) =
            found.filter(|s| (s.from.1, s.from.2) == (top, key))
        else {
            return Err(self.unsupported(
                "what is authenticated was not signed with this key at this stack pointer: the address would be \
                 spoilt",
            ));
        };
        scatter(self.g, address, &mut self.cpu.general[LINK]);
        Ok(())
    }

    /// Whether a place is one that calls return to: in this object, or the caller's.
    fn comes_back(&self, (region, offset): (u16, i64)) -> bool {
        match self.regions[usize::from(region)].kind {
            RegionKind::Token => (region, offset) == (self.stack + 1, 0),
            RegionKind::Section(section, _) => self.object.sections[section].executable,
            _ => false,
        }
    }
}
