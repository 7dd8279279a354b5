//! Bitwise vector operations, blends by mask, tests.

use super::flags::Flags;
use super::{Fallible, Machine, UNDEFINED, Wide};
use crate::byte::Byte;
use crate::core::bits::{Bitwise, bitwise, is_mask};
use crate::core::flags::Flag;
use crate::fold::{gather, is_run, scatter};
use crate::graph::NodeId;
use iced_x86::{Instruction, Mnemonic as M, OpKind};

impl Machine<'_> {
    pub(super) fn logic(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Pand
            | M::Vpand
            | M::Vpandd
            | M::Vpandq
            | M::Andps
            | M::Vandps
            | M::Andpd
            | M::Vandpd => {
                self.bitwise_vector(Bitwise::And)?;
            }
            M::Pandn
            | M::Vpandn
            | M::Vpandnd
            | M::Vpandnq
            | M::Andnps
            | M::Vandnps
            | M::Andnpd
            | M::Vandnpd => {
                self.bitwise_vector(Bitwise::AndNot)?;
            }
            M::Por | M::Vpor | M::Vpord | M::Vporq | M::Orps | M::Vorps | M::Orpd | M::Vorpd => {
                self.bitwise_vector(Bitwise::Or)?;
            }
            M::Pxor
            | M::Vpxor
            | M::Vpxord
            | M::Vpxorq
            | M::Xorps
            | M::Vxorps
            | M::Xorpd
            | M::Vxorpd => {
                self.bitwise_vector(Bitwise::Xor)?;
            }
            M::Pblendvb | M::Vpblendvb => self.blend_by_sign(1)?,
            M::Blendvps | M::Vblendvps => self.blend_by_sign(4)?,
            M::Blendvpd | M::Vblendvpd => self.blend_by_sign(8)?,
            M::Ptest | M::Vptest => self.test()?,
            M::Pmovmskb | M::Vpmovmskb => self.sign_bits(1)?,
            M::Movmskps | M::Vmovmskps => self.sign_bits(4)?,
            M::Movmskpd | M::Vmovmskpd => self.sign_bits(8)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn bitwise_vector(&mut self, kind: Bitwise) -> Fallible<()> {
        let s = self.sources()?;
        if s.same {
            match kind {
                Bitwise::Xor | Bitwise::AndNot => return self.set_all(0, s.size),
                Bitwise::And | Bitwise::Or => return self.set_vector(0, &s.a, s.size),
            }
        }
        let mut out = UNDEFINED;
        bitwise(self.g, kind, &s.a[..s.size], &s.b[..s.size], &mut out[..s.size]);
        self.set_vector(0, &out, s.size)
    }

    /// Destination, two sources and a mask whose lanes' top bits choose the second.
    fn blend_by_sign(&mut self, lane: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        let (a, b, mask): (Wide, Wide, Wide) = if self.is_vex() {
            if self.now.ins.op_kind(3) != OpKind::Register {
                return Err(self.unsupported("operand form"));
            }
            (
                self.vector_operand(1, size)?,
                self.vector_operand(2, size)?,
                self.vector_operand(3, size)?,
            )
        } else {
            (self.vector_operand(0, size)?, self.vector_operand(1, size)?, self.cpu.vec[0])
        };
        let mut out = UNDEFINED;
        let mut at = 0;
        while at < size {
            // Lanes that share one condition are chosen together, which keeps values whole.
            let mut n = lane;
            for m in [8, 4, 2] {
                if m > lane
                    && at.is_multiple_of(m)
                    && let Some((id, 0)) = is_run(&mask[at..at + m])
                    && usize::from(self.g.width(id)) == 8 * m
                    && is_mask(self.g, id)
                {
                    n = m;
                    break;
                }
            }
            let range = at..at + n;
            let decision = match mask[at + n - 1] {
                Byte::Const(c) => Ok(c & 0x80 != 0),
                top => Err(top),
            };
            match decision {
                Ok(second) => {
                    let source = if second { &b } else { &a };
                    out[range.clone()].copy_from_slice(&source[range]);
                }
                Err(top) => {
                    let c = gather(self.g, &[top]).map(|t| self.g.slice(t, 7, 1));
                    let x = gather(self.g, &a[range.clone()]);
                    let y = gather(self.g, &b[range.clone()]);
                    if let (Some(c), Some(x), Some(y)) = (c, x, y) {
                        let r = self.g.select(c, y, x);
                        scatter(self.g, r, &mut out[range]);
                    }
                }
            }
            at += n;
        }
        self.set_vector(0, &out, size)
    }

    /// Zero flag: no bit in common; carry flag: no bit of operand 1 outside operand 0.
    fn test(&mut self) -> Fallible<()> {
        let size = self.vector_size(0);
        if !self.is_vector(0) {
            return Err(self.unsupported("operand form"));
        }
        let (a, b) = (self.vector_operand(0, size)?, self.vector_operand(1, size)?);
        let mut zero = self.g.constant(64, 0);
        let mut carry = zero;
        let mut known = true;
        for at in (0..size).step_by(8) {
            let (x, y) = (self.lane(&a[at..at + 8]), self.lane(&b[at..at + 8]));
            let (Some(x), Some(y)) = (x, y) else {
                known = false;
                break;
            };
            let both = self.g.and(x, y);
            zero = self.g.or(zero, both);
            let outside = self.g.not(x);
            let outside = self.g.and(outside, y);
            carry = self.g.or(carry, outside);
        }
        let no = Flag::Bit(self.g.constant(1, 0));
        let flag = |r| if known { Flag::Zero(r) } else { Flag::Undefined };
        self.cpu.flags =
            Flags { carry: flag(carry), zero: flag(zero), parity: no, sign: no, overflow: no };
        Ok(())
    }

    /// Top bits of the lanes of operand 1 into a general register.
    fn sign_bits(&mut self, lane: usize) -> Fallible<()> {
        let size = self.vector_size(1);
        if !self.is_vector(1) {
            return Err(self.unsupported("operand form"));
        }
        let a = self.vector_operand(1, size)?;
        let mut bits: Vec<NodeId> = Vec::new();
        for at in (0..size).step_by(lane) {
            match gather(self.g, &[a[at + lane - 1]]) {
                Some(top) => bits.push(self.g.slice(top, 7, 1)),
                None => {
                    let to = self.width_of(0);
                    return self.write(0, to, None);
                }
            }
        }
        let mut value = bits[0];
        for &bit in &bits[1..] {
            value = self.g.concat(&[value, bit]);
        }
        let to = self.width_of(0);
        let value = self.g.zext(value, to);
        self.write(0, to, Some(value))
    }
}
