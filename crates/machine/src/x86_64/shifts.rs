//! Vector shifts within lanes.

use super::{Fallible, Machine};
use crate::byte::Byte;
use crate::core::bits::{Shift, barrel, fill_unknown, shift_lane};
use crate::fold::{gather, scatter};
use iced_x86::{Instruction, Mnemonic as M, OpKind};

impl Machine<'_> {
    pub(super) fn shifts(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Psllw | M::Vpsllw => self.shift_vector(Shift::Left, 2)?,
            M::Pslld | M::Vpslld => self.shift_vector(Shift::Left, 4)?,
            M::Psllq | M::Vpsllq => self.shift_vector(Shift::Left, 8)?,
            M::Psrlw | M::Vpsrlw => self.shift_vector(Shift::Logical, 2)?,
            M::Psrld | M::Vpsrld => self.shift_vector(Shift::Logical, 4)?,
            M::Psrlq | M::Vpsrlq => self.shift_vector(Shift::Logical, 8)?,
            M::Psraw | M::Vpsraw => self.shift_vector(Shift::Arithmetic, 2)?,
            M::Psrad | M::Vpsrad => self.shift_vector(Shift::Arithmetic, 4)?,
            M::Vpsllvd => self.lanewise(4, |g, a, c| barrel(g, Shift::Left, a, c))?,
            M::Vpsllvq => self.lanewise(8, |g, a, c| barrel(g, Shift::Left, a, c))?,
            M::Vpsrlvd => self.lanewise(4, |g, a, c| barrel(g, Shift::Logical, a, c))?,
            M::Vpsrlvq => self.lanewise(8, |g, a, c| barrel(g, Shift::Logical, a, c))?,
            M::Vpsravd => self.lanewise(4, |g, a, c| barrel(g, Shift::Arithmetic, a, c))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Count as an immediate, or in the low 64 bits of a register or of memory (where counts from
    /// the width on shift everything out, however large).
    fn shift_vector(&mut self, kind: Shift, lane: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        if !self.is_vector(0) {
            return Err(self.unsupported("operand form"));
        }
        let (source, count) = if self.is_vex() { (1, 2) } else { (0, 1) };
        // The VEX form with an immediate may shift memory only under EVEX.
        if !self.is_vector(source) {
            return Err(self.unsupported("operand form"));
        }
        let count = match self.now.ins.op_kind(count) {
            OpKind::Immediate8 => u64::from(self.now.ins.immediate8()),
            _ => {
                let bytes = self.vector_operand(count, 16)?;
                let node = gather(self.g, &bytes[..8]);
                match node.map(|n| self.g.value(n)) {
                    Some(Some(c)) => c,
                    Some(None) => {
                        return Err(self.unsupported("a vector shift whose count is no constant"));
                    }
                    None => return Err(self.undefined("the count of a shift")),
                }
            }
        };
        let a = self.vector_operand(source, size)?;
        let mut out = [Byte::Undefined; 32];
        for at in (0..size).step_by(lane) {
            let range = at..at + lane;
            if count < 8 * lane as u64 && self.g.knows_nothing(&a[range.clone()]) {
                fill_unknown(self.g, &mut out[range]);
            } else if let Some(r) = shift_lane(self.g, kind, &a[range.clone()], count) {
                scatter(self.g, r, &mut out[range]);
            }
        }
        self.set_vector(0, &out, size)
    }
}
