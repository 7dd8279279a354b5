//! Vector moves: bytes go from place to place and no node is made.

use super::{Fallible, Machine, ZEROS};
use crate::byte::Byte;
use iced_x86::{Instruction, Mnemonic as M, OpKind};

impl Machine<'_> {
    pub(super) fn moves(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Movdqa
            | M::Movaps
            | M::Movapd
            | M::Vmovdqa
            | M::Vmovdqa32
            | M::Vmovdqa64
            | M::Vmovaps
            | M::Vmovapd
            | M::Movntdq
            | M::Vmovntdq
            | M::Movntps
            | M::Vmovntps
            | M::Movntpd
            | M::Vmovntpd
            | M::Movntdqa
            | M::Vmovntdqa => self.move_whole(true)?,
            M::Movdqu
            | M::Movups
            | M::Movupd
            | M::Vmovdqu
            | M::Vmovdqu8
            | M::Vmovdqu16
            | M::Vmovdqu32
            | M::Vmovdqu64
            | M::Vmovups
            | M::Vmovupd
            | M::Lddqu
            | M::Vlddqu => self.move_whole(false)?,
            M::Movd | M::Vmovd => self.move_low(4)?,
            M::Movq | M::Vmovq => self.move_low(8)?,
            M::Movss | M::Vmovss => self.move_scalar(4)?,
            M::Movsd | M::Vmovsd => self.move_scalar(8)?,
            M::Movlps | M::Movlpd | M::Vmovlps | M::Vmovlpd => self.move_half(0)?,
            M::Movhps | M::Movhpd | M::Vmovhps | M::Vmovhpd => self.move_half(8)?,
            M::Movhlps | M::Vmovhlps => {
                let s = self.sources()?;
                let mut out = s.a;
                out[..8].copy_from_slice(&s.b[8..16]);
                self.set_vector(0, &out, 16)?;
            }
            M::Movlhps | M::Vmovlhps => {
                let s = self.sources()?;
                let mut out = s.a;
                out[8..16].copy_from_slice(&s.b[..8]);
                self.set_vector(0, &out, 16)?;
            }
            // Neither reaches registers 16 to 31.
            M::Vzeroupper => {
                self.cpu.vec[..16].iter_mut().for_each(|v| v[16..].fill(Byte::Const(0)));
            }
            M::Vzeroall => self.cpu.vec[..16].fill(ZEROS),
            M::Vbroadcasti128 | M::Vbroadcastf128 => {
                if ins.op_kind(1) != OpKind::Memory {
                    return Ok(false);
                }
                let mut out = ZEROS;
                self.load_operand(&mut out[..16])?;
                out.copy_within(..16, 16);
                self.set_vector(0, &out, 32)?;
            }
            M::Vbroadcasti32x2 | M::Vbroadcastf32x2 => self.broadcast(8)?,
            M::Vbroadcasti32x4 | M::Vbroadcastf32x4 | M::Vbroadcasti64x2 | M::Vbroadcastf64x2 => {
                self.broadcast(16)?;
            }
            M::Vbroadcasti32x8 | M::Vbroadcastf32x8 | M::Vbroadcasti64x4 | M::Vbroadcastf64x4 => {
                self.broadcast(32)?;
            }
            M::Vpbroadcastb => self.broadcast(1)?,
            M::Vpbroadcastw => self.broadcast(2)?,
            M::Vpbroadcastd | M::Vbroadcastss => self.broadcast(4)?,
            M::Vpbroadcastq | M::Vbroadcastsd => self.broadcast(8)?,
            M::Movddup | M::Vmovddup => self.duplicate(8, 0)?,
            M::Movsldup | M::Vmovsldup => self.duplicate(4, 0)?,
            M::Movshdup | M::Vmovshdup => self.duplicate(4, 4)?,
            M::Pmovzxbw | M::Vpmovzxbw => self.extend(1, 2, false)?,
            M::Pmovzxbd | M::Vpmovzxbd => self.extend(1, 4, false)?,
            M::Pmovzxbq | M::Vpmovzxbq => self.extend(1, 8, false)?,
            M::Pmovzxwd | M::Vpmovzxwd => self.extend(2, 4, false)?,
            M::Pmovzxwq | M::Vpmovzxwq => self.extend(2, 8, false)?,
            M::Pmovzxdq | M::Vpmovzxdq => self.extend(4, 8, false)?,
            M::Pmovsxbw | M::Vpmovsxbw => self.extend(1, 2, true)?,
            M::Pmovsxbd | M::Vpmovsxbd => self.extend(1, 4, true)?,
            M::Pmovsxbq | M::Vpmovsxbq => self.extend(1, 8, true)?,
            M::Pmovsxwd | M::Vpmovsxwd => self.extend(2, 4, true)?,
            M::Pmovsxwq | M::Vpmovsxwq => self.extend(2, 8, true)?,
            M::Pmovsxdq | M::Vpmovsxdq => self.extend(4, 8, true)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A whole register from or to a register or memory.
    fn move_whole(&mut self, aligned: bool) -> Fallible<()> {
        let vector = if self.is_vector(0) { 0 } else { 1 };
        if self.now.ins.op_count() != 2 || !self.is_vector(vector) {
            return Err(self.unsupported("operand form"));
        }
        let size = self.vector_size(vector);
        let memory = self.now.ins.op_kind(1 - vector) == OpKind::Memory;
        if memory && aligned {
            let at = self.pointer()?;
            self.require_alignment(at, size as u64, size as u64)?;
        }
        if vector == 1 {
            let bytes = self.vector_operand(1, size)?;
            if !memory {
                return Err(self.unsupported("operand form"));
            }
            return self.store_masked(&bytes[..size]);
        }
        let mut bytes = ZEROS;
        if memory {
            self.load_masked(&mut bytes[..size])?;
        } else {
            bytes = self.vector_operand(1, size)?;
        }
        self.set_vector(0, &bytes, size)
    }

    /// `movd` and `movq`: the low bytes; a vector register's other bytes become 0.
    fn move_low(&mut self, size: usize) -> Fallible<()> {
        if self.is_vector(0) {
            let mut bytes = ZEROS;
            match self.now.ins.op_kind(1) {
                OpKind::Memory => self.load_operand(&mut bytes[..size])?,
                _ if self.is_vector(1) => {
                    bytes[..size].copy_from_slice(&self.vector_operand(1, 16)?[..size]);
                }
                OpKind::Register if self.now.ins.op_register(1).size() == size => {
                    let (source, _) = self.register_bytes(self.now.ins.op_register(1));
                    bytes[..size].copy_from_slice(&source[..size]);
                }
                _ => return Err(self.unsupported("operand form")),
            }
            return self.set_vector(0, &bytes, 16);
        }
        if !self.is_vector(1) {
            return Err(self.unsupported("operand form"));
        }
        let bytes = self.vector_operand(1, 16)?;
        if self.width_of(0) != 8 * size as u8 {
            return Err(self.unsupported("operand form"));
        }
        self.write_bytes(0, &bytes[..size])
    }

    /// `movss` and `movsd` as moves: from memory the rest becomes 0, between registers it stays.
    fn move_scalar(&mut self, size: usize) -> Fallible<()> {
        if !self.is_vector(0) {
            let bytes = self.vector_operand(1, 16)?;
            return self.write_bytes(0, &bytes[..size]);
        }
        let mut bytes = ZEROS;
        if self.now.ins.op_kind(1) == OpKind::Memory {
            self.load_operand(&mut bytes[..size])?;
        } else {
            let s = self.sources()?;
            bytes = s.a;
            bytes[..size].copy_from_slice(&s.b[..size]);
        }
        self.set_vector(0, &bytes, 16)
    }

    /// Half a register from or to memory; the other half stays.
    fn move_half(&mut self, at: usize) -> Fallible<()> {
        if !self.is_vector(0) {
            let bytes = self.vector_operand(1, 16)?;
            return self.write_bytes(0, &bytes[at..at + 8]);
        }
        let (kept, memory) = if self.is_vex() { (1, 2) } else { (0, 1) };
        let mut bytes = self.vector_operand(kept, 16)?;
        if self.now.ins.op_kind(memory) != OpKind::Memory {
            return Err(self.unsupported("operand form"));
        }
        self.load_operand(&mut bytes[at..at + 8])?;
        self.set_vector(0, &bytes, 16)
    }

    /// One element everywhere.
    fn broadcast(&mut self, lane: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        let mut element = ZEROS;
        let element = &mut element[..lane];
        if self.now.ins.op_register(1).is_gpr() && self.now.ins.op_kind(1) == OpKind::Register {
            let (bytes, size) = self.register_bytes(self.now.ins.op_register(1));
            element.copy_from_slice(&bytes[..lane.min(size)]);
        } else if self.is_vector(1) {
            element.copy_from_slice(&self.vector_operand(1, 16)?[..lane]);
        } else if self.now.ins.op_kind(1) == OpKind::Memory {
            self.load_operand(element)?;
        } else {
            return Err(self.unsupported("operand form"));
        }
        let mut out = ZEROS;
        for chunk in out[..size].chunks_mut(lane) {
            chunk.copy_from_slice(element);
        }
        self.set_vector(0, &out, size)
    }

    /// In each pair of lanes the first (`from` 0) or the second, twice.
    fn duplicate(&mut self, lane: usize, from: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        let mut source = ZEROS;
        let half = lane == 8 && size == 16;
        match self.now.ins.op_kind(1) {
            // movddup of memory into xmm reads 8 bytes.
            OpKind::Memory if half => self.load_operand(&mut source[..8])?,
            _ => source = self.vector_operand(1, size)?,
        }
        let mut out = ZEROS;
        for at in (0..size).step_by(2 * lane) {
            for to in [at, at + lane] {
                out[to..to + lane].copy_from_slice(&source[at + from..at + from + lane]);
            }
        }
        self.set_vector(0, &out, size)
    }

    /// Elements of `from` bytes extended to `to`.
    fn extend(&mut self, from: usize, to: usize, signed: bool) -> Fallible<()> {
        let size = self.vector_size(0);
        let used = size / to * from;
        let mut source = ZEROS;
        match self.now.ins.op_kind(1) {
            OpKind::Memory => self.load_operand(&mut source[..used])?,
            _ => source = self.vector_operand(1, used.max(16))?,
        }
        let mut out = ZEROS;
        for (i, element) in source[..used].chunks(from).enumerate() {
            let target = &mut out[i * to..(i + 1) * to];
            if !signed {
                target[..from].copy_from_slice(element);
                continue;
            }
            match crate::fold::gather(self.g, element) {
                Some(x) => {
                    let r = self.g.sext(x, 8 * to as u8);
                    crate::fold::scatter(self.g, r, target);
                }
                None => target.fill(Byte::Undefined),
            }
        }
        self.set_vector(0, &out, size)
    }
}
