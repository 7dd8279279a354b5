//! Permutations across the halves, inserts and extracts.

use super::{Fallible, Machine, Wide};
use crate::byte::Byte;
use crate::fold::gather;
use iced_x86::{Instruction, Mnemonic as M, OpKind};

impl Machine<'_> {
    pub(super) fn permute(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Vperm2i128 | M::Vperm2f128 => {
                let imm = self.imm8()?;
                let s = self.sources()?;
                let mut out = [Byte::Const(0); 32];
                for half in 0..2 {
                    let control = imm >> (4 * half);
                    if control & 8 != 0 {
                        continue;
                    }
                    let source = if control & 2 != 0 { &s.b } else { &s.a };
                    let from = 16 * usize::from(control & 1);
                    out[16 * half..16 * half + 16].copy_from_slice(&source[from..from + 16]);
                }
                self.set_vector(0, &out, 32)?;
            }
            M::Vpermq | M::Vpermpd => {
                let imm = self.imm8()?;
                let (_, a) = self.source()?;
                let mut out = [Byte::Undefined; 32];
                for (i, chunk) in out.chunks_mut(8).enumerate() {
                    let from = 8 * usize::from(imm >> (2 * i) & 3);
                    chunk.copy_from_slice(&a[from..from + 8]);
                }
                self.set_vector(0, &out, 32)?;
            }
            M::Vpermd | M::Vpermps => {
                // The first source is the control, the second the data.
                let s = self.sources()?;
                let mut out = [Byte::Undefined; 32];
                for i in 0..8 {
                    let control = self.control_lane(&s.a, i, 4)?;
                    if let Some(c) = control {
                        let from = 4 * (c & 7) as usize;
                        out[4 * i..4 * i + 4].copy_from_slice(&s.b[from..from + 4]);
                    }
                }
                self.set_vector(0, &out, 32)?;
            }
            M::Vpermilps => self.permute_in_lane(4)?,
            M::Vpermilpd => self.permute_in_lane(8)?,
            M::Vinserti128 | M::Vinsertf128 => {
                let at = 16 * usize::from(self.imm8()? & 1);
                let mut out = self.vector_operand(1, 32)?;
                let part = self.vector_operand(2, 16)?;
                out[at..at + 16].copy_from_slice(&part[..16]);
                self.set_vector(0, &out, 32)?;
            }
            M::Vextracti128 | M::Vextractf128 => {
                let from = 16 * usize::from(self.imm8()? & 1);
                let a = self.vector_operand(1, 32)?;
                let mut out = [Byte::Const(0); 32];
                out[..16].copy_from_slice(&a[from..from + 16]);
                if self.is_vector(0) {
                    self.set_vector(0, &out, 16)?;
                } else {
                    let to = self.pointer()?;
                    self.store(to, &out[..16])?;
                }
            }
            M::Pinsrb | M::Vpinsrb => self.insert(1)?,
            M::Pinsrw | M::Vpinsrw => self.insert(2)?,
            M::Pinsrd | M::Vpinsrd => self.insert(4)?,
            M::Pinsrq | M::Vpinsrq => self.insert(8)?,
            M::Pextrb | M::Vpextrb => self.extract_lane(1)?,
            M::Pextrw | M::Vpextrw => self.extract_lane(2)?,
            M::Pextrd | M::Vpextrd | M::Extractps | M::Vextractps => self.extract_lane(4)?,
            M::Pextrq | M::Vpextrq => self.extract_lane(8)?,
            M::Insertps | M::Vinsertps => self.insert_single()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A control lane as a number; `None` where it is undefined.
    fn control_lane(&mut self, control: &Wide, i: usize, lane: usize) -> Fallible<Option<u64>> {
        match gather(self.g, &control[i * lane..(i + 1) * lane]) {
            None => Ok(None),
            Some(node) => match self.g.value(node) {
                Some(v) => Ok(Some(v)),
                None => Err(self.unsupported("a permutation whose control is no constant")),
            },
        }
    }

    /// `vpermilps` and `vpermilpd`, by immediate or by a constant control.
    fn permute_in_lane(&mut self, lane: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        let per_block = 16 / lane;
        let mut out = [Byte::Undefined; 32];
        let by_immediate = self.now.ins.op_kind(2) == OpKind::Immediate8;
        let a = self.vector_operand(1, size)?;
        let control = if by_immediate { a } else { self.vector_operand(2, size)? };
        for i in 0..size / lane {
            let chosen = if by_immediate {
                let imm = usize::from(self.now.ins.immediate8());
                // Two bits for each of four singles, the same in both halves; one bit a double.
                Some(if lane == 4 { imm >> (2 * (i % 4)) & 3 } else { imm >> i & 1 })
            } else {
                let c = self.control_lane(&control, i, lane)?.map(|c| c as usize);
                c.map(|c| if lane == 4 { c & 3 } else { c >> 1 & 1 })
            };
            if let Some(chosen) = chosen {
                let from = (i / per_block * per_block + chosen) * lane;
                out[i * lane..(i + 1) * lane].copy_from_slice(&a[from..from + lane]);
            }
        }
        self.set_vector(0, &out, size)
    }

    fn insert(&mut self, lane: usize) -> Fallible<()> {
        let at = usize::from(self.imm8()?) % (16 / lane) * lane;
        let (kept, source) = if self.is_vex() { (1, 2) } else { (0, 1) };
        let mut out = self.vector_operand(kept, 16)?;
        match self.now.ins.op_kind(source) {
            OpKind::Memory => self.load_operand(&mut out[at..at + lane])?,
            OpKind::Register if self.now.ins.op_register(source).is_gpr() => {
                let (bytes, _) = self.register_bytes(self.now.ins.op_register(source));
                out[at..at + lane].copy_from_slice(&bytes[..lane]);
            }
            _ => return Err(self.unsupported("operand form")),
        }
        self.set_vector(0, &out, 16)
    }

    /// A lane into a general register, the rest of it zero, or into memory.
    fn extract_lane(&mut self, lane: usize) -> Fallible<()> {
        let from = usize::from(self.imm8()?) % (16 / lane) * lane;
        let a = self.vector_operand(1, 16)?;
        let mut bytes = [Byte::Const(0); 8];
        bytes[..lane].copy_from_slice(&a[from..from + lane]);
        match self.now.ins.op_kind(0) {
            OpKind::Memory => self.write_bytes(0, &bytes[..lane]),
            OpKind::Register if self.now.ins.op_register(0).is_gpr() => {
                let r = self.now.ins.op_register(0);
                self.set_register(r, &bytes[..r.size()])
            }
            _ => Err(self.unsupported("operand form")),
        }
    }

    fn insert_single(&mut self) -> Fallible<()> {
        let imm = self.imm8()?;
        let (kept, source) = if self.is_vex() { (1, 2) } else { (0, 1) };
        let mut out = self.vector_operand(kept, 16)?;
        let mut element = [Byte::Undefined; 4];
        if self.now.ins.op_kind(source) == OpKind::Memory {
            self.load_operand(&mut element)?;
        } else {
            let from = 4 * usize::from(imm >> 6);
            element.copy_from_slice(&self.vector_operand(source, 16)?[from..from + 4]);
        }
        let at = 4 * usize::from(imm >> 4 & 3);
        out[at..at + 4].copy_from_slice(&element);
        for i in 0..4 {
            if imm >> i & 1 == 1 {
                out[4 * i..4 * i + 4].fill(Byte::Const(0));
            }
        }
        self.set_vector(0, &out, 16)
    }
}
