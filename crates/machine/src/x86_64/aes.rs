//! The AES instructions, whose time does not depend on data.
//!
//! Their S-box has no terms, so only blind graphs go through them: every byte of the result is
//! unknown, defined if all bytes of the operands are.

use super::{Fallible, Machine, UNDEFINED};
use crate::byte::Byte;
use iced_x86::{Instruction, Mnemonic as M};

impl Machine<'_> {
    pub(super) fn aes(&mut self, ins: Instruction) -> Fallible<bool> {
        let (a, b) = match ins.mnemonic() {
            M::Aesenc
            | M::Aesenclast
            | M::Aesdec
            | M::Aesdeclast
            | M::Vaesenc
            | M::Vaesenclast
            | M::Vaesdec
            | M::Vaesdeclast => {
                let s = self.sources()?;
                if s.size != 16 {
                    return Ok(false);
                }
                (s.a, s.b)
            }
            M::Aesimc | M::Vaesimc | M::Aeskeygenassist | M::Vaeskeygenassist => {
                let (_, a) = self.source()?;
                (a, a)
            }
            _ => return Ok(false),
        };
        if !self.g.is_blind() {
            return Err(self.unsupported("AES has no terms; only constant time can be checked"));
        }
        let mut out = UNDEFINED;
        if !a[..16].iter().chain(&b[..16]).any(Byte::is_undefined) {
            let any = self.g.input(8, u16::MAX, 0);
            out[..16].fill(Byte::Node(any, 0));
        }
        self.set_vector(0, &out, 16)?;
        Ok(true)
    }
}
