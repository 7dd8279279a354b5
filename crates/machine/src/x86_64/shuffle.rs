//! Shuffles within 128-bit halves, blends, byte shifts, unpacks.

use super::{Fallible, Machine, UNDEFINED, Wide, ZEROS};
use crate::byte::Byte;
use iced_x86::{Instruction, Mnemonic as M};

impl Machine<'_> {
    pub(super) fn shuffle(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Punpcklbw | M::Vpunpcklbw => self.unpack(1, 0)?,
            M::Punpcklwd | M::Vpunpcklwd => self.unpack(2, 0)?,
            M::Punpckldq | M::Vpunpckldq | M::Unpcklps | M::Vunpcklps => self.unpack(4, 0)?,
            M::Punpcklqdq | M::Vpunpcklqdq | M::Unpcklpd | M::Vunpcklpd => self.unpack(8, 0)?,
            M::Punpckhbw | M::Vpunpckhbw => self.unpack(1, 8)?,
            M::Punpckhwd | M::Vpunpckhwd => self.unpack(2, 8)?,
            M::Punpckhdq | M::Vpunpckhdq | M::Unpckhps | M::Vunpckhps => self.unpack(4, 8)?,
            M::Punpckhqdq | M::Vpunpckhqdq | M::Unpckhpd | M::Vunpckhpd => self.unpack(8, 8)?,
            M::Pshufb | M::Vpshufb => self.shuffle_bytes()?,
            M::Pshufd | M::Vpshufd => {
                let imm = self.imm8()?;
                self.rearrange(|k| 4 * select2(imm, k / 4) + k % 4)?;
            }
            M::Pshuflw | M::Vpshuflw => {
                let imm = self.imm8()?;
                self.rearrange(|k| if k < 8 { 2 * select2(imm, k / 2) + k % 2 } else { k })?;
            }
            M::Pshufhw | M::Vpshufhw => {
                let imm = self.imm8()?;
                self.rearrange(
                    |k| {
                        if k < 8 { k } else { 8 + 2 * select2(imm, k / 2 - 4) + k % 2 }
                    },
                )?;
            }
            M::Shufps | M::Vshufps => {
                let imm = self.imm8()?;
                self.pick(|k, _| (k >= 8, 4 * select2(imm, k / 4) + k % 4))?;
            }
            M::Shufpd | M::Vshufpd => {
                let imm = usize::from(self.imm8()?);
                self.pick(|k, block| {
                    let bit = imm >> (k / 8 + block / 8) & 1;
                    (k >= 8, 8 * bit + k % 8)
                })?;
            }
            M::Palignr | M::Vpalignr => {
                let by = usize::from(self.imm8()?);
                let s = self.sources()?;
                let mut out = ZEROS;
                for block in (0..s.size).step_by(16) {
                    for k in 0..16 {
                        // The second source lies below the first; zeros above both.
                        out[block + k] = match k + by {
                            i @ 0..16 => s.b[block + i],
                            i @ 16..32 => s.a[block + i - 16],
                            _ => Byte::Const(0),
                        };
                    }
                }
                self.set_vector(0, &out, s.size)?;
            }
            M::Pblendw | M::Vpblendw => {
                let imm = self.imm8()?;
                self.pick(|k, _| (imm >> (k / 2) & 1 == 1, k))?;
            }
            M::Vpblendd | M::Blendps | M::Vblendps => {
                let imm = self.imm8()?;
                self.pick(|k, block| (imm >> ((k + block) / 4) & 1 == 1, k))?;
            }
            M::Blendpd | M::Vblendpd => {
                let imm = self.imm8()?;
                self.pick(|k, block| (imm >> ((k + block) / 8) & 1 == 1, k))?;
            }
            M::Pslldq | M::Vpslldq => self.shift_bytes(true)?,
            M::Psrldq | M::Vpsrldq => self.shift_bytes(false)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Interleaves lanes of `lane` bytes from the lower (`from` 0) or upper (8) half of each
    /// 128 bits.
    fn unpack(&mut self, lane: usize, from: usize) -> Fallible<()> {
        self.pick(|k, _| {
            let pair = k / (2 * lane);
            (k / lane % 2 == 1, from + pair * lane + k % lane)
        })
    }

    /// Takes byte `k` of each 128 bits of the result from a byte of the first or second source.
    /// `choose` gets `k` and the block's first byte and returns (second?, byte in the block).
    fn pick(&mut self, choose: impl Fn(usize, usize) -> (bool, usize)) -> Fallible<()> {
        let s = self.sources()?;
        let mut out = UNDEFINED;
        for block in (0..s.size).step_by(16) {
            for k in 0..16 {
                let (second, from) = choose(k, block);
                out[block + k] = if second { s.b[block + from] } else { s.a[block + from] };
            }
        }
        self.set_vector(0, &out, s.size)
    }

    /// The same with one source, operand 1.
    fn rearrange(&mut self, choose: impl Fn(usize) -> usize) -> Fallible<()> {
        let (size, a) = self.source()?;
        let mut out = UNDEFINED;
        for block in (0..size).step_by(16) {
            for k in 0..16 {
                out[block + k] = a[block + choose(k)];
            }
        }
        self.set_vector(0, &out, size)
    }

    fn shuffle_bytes(&mut self) -> Fallible<()> {
        let s = self.sources()?;
        let mut out: Wide = UNDEFINED;
        for (k, byte) in out[..s.size].iter_mut().enumerate() {
            *byte = match s.b[k] {
                Byte::Const(c) if c & 0x80 != 0 => Byte::Const(0),
                Byte::Const(c) => s.a[k / 16 * 16 + usize::from(c & 15)],
                Byte::Undefined | Byte::Caller(_) => Byte::Undefined,
                Byte::Node(..) => {
                    return Err(self.unsupported("a byte shuffle whose control is no constant"));
                }
            };
        }
        self.set_vector(0, &out, s.size)
    }

    /// Whole-register byte shift in each 128 bits.
    fn shift_bytes(&mut self, left: bool) -> Fallible<()> {
        let by = usize::from(self.imm8()?).min(16);
        let size = self.vector_size(0);
        let source = if self.is_vex() { 1 } else { 0 };
        if !self.is_vector(0) {
            return Err(self.unsupported("operand form"));
        }
        let a = self.vector_operand(source, size)?;
        let mut out = ZEROS;
        for block in (0..size).step_by(16) {
            let (from, to) = if left { (0, by) } else { (by, 0) };
            let n = 16 - by;
            out[block + to..block + to + n].copy_from_slice(&a[block + from..block + from + n]);
        }
        self.set_vector(0, &out, size)
    }
}

/// Field `i` of four two-bit fields.
fn select2(imm: u8, i: usize) -> usize {
    usize::from(imm >> (2 * (i % 4)) & 3)
}
