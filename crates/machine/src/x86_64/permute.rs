//! Permutations across the halves, inserts and extracts.

use super::{Fallible, Machine, UNDEFINED, Wide, ZEROS};
use crate::byte::Byte;
use crate::fold::gather;
use iced_x86::{Instruction, Mnemonic as M, OpKind};

impl Machine<'_> {
    pub(super) fn permute(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Vperm2i128 | M::Vperm2f128 => {
                let imm = self.imm8()?;
                let s = self.sources()?;
                let mut out = ZEROS;
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
            M::Vpermq | M::Vpermpd if self.now.ins.op_kind(2) == OpKind::Immediate8 => {
                let imm = self.imm8()?;
                let (size, a) = self.source()?;
                let mut out = UNDEFINED;
                for (i, chunk) in out[..size].chunks_mut(8).enumerate() {
                    let from = i / 4 * 32 + 8 * usize::from(imm >> (2 * (i % 4)) & 3);
                    chunk.copy_from_slice(&a[from..from + 8]);
                }
                self.set_vector(0, &out, size)?;
            }
            M::Vpermb => self.permute_lanes(1)?,
            M::Vpermw => self.permute_lanes(2)?,
            M::Vpermd | M::Vpermps => self.permute_lanes(4)?,
            M::Vpermq | M::Vpermpd => self.permute_lanes(8)?,
            M::Vpermi2b => self.permute_two(1, 0)?,
            M::Vpermi2w => self.permute_two(2, 0)?,
            M::Vpermi2d | M::Vpermi2ps => self.permute_two(4, 0)?,
            M::Vpermi2q | M::Vpermi2pd => self.permute_two(8, 0)?,
            M::Vpermt2b => self.permute_two(1, 1)?,
            M::Vpermt2w => self.permute_two(2, 1)?,
            M::Vpermt2d | M::Vpermt2ps => self.permute_two(4, 1)?,
            M::Vpermt2q | M::Vpermt2pd => self.permute_two(8, 1)?,
            M::Valignd => self.align(4)?,
            M::Valignq => self.align(8)?,
            M::Vshufi32x4 | M::Vshuff32x4 | M::Vshufi64x2 | M::Vshuff64x2 => {
                self.shuffle_blocks()?
            }
            M::Vinserti32x4 | M::Vinsertf32x4 | M::Vinserti64x2 | M::Vinsertf64x2 => {
                self.insert_part(16)?;
            }
            M::Vinserti32x8 | M::Vinsertf32x8 | M::Vinserti64x4 | M::Vinsertf64x4 => {
                self.insert_part(32)?;
            }
            M::Vextracti32x4 | M::Vextractf32x4 | M::Vextracti64x2 | M::Vextractf64x2 => {
                self.extract_part(16)?;
            }
            M::Vextracti32x8 | M::Vextractf32x8 | M::Vextracti64x4 | M::Vextractf64x4 => {
                self.extract_part(32)?;
            }
            M::Vpermilps => self.permute_in_lane(4)?,
            M::Vpermilpd => self.permute_in_lane(8)?,
            M::Vinserti128 | M::Vinsertf128 => self.insert_part(16)?,
            M::Vextracti128 | M::Vextractf128 => self.extract_part(16)?,
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

    /// Lanes of operand 2 where operand 1 says.
    fn permute_lanes(&mut self, lane: usize) -> Fallible<()> {
        let s = self.sources()?;
        self.by_control(&s.a, &[s.b], lane, s.size)
    }

    /// Lanes of two tables where operand `control` says: the other one of operands 0 and 1, and operand 2.
    fn permute_two(&mut self, lane: usize, control: u32) -> Fallible<()> {
        let s = self.sources()?;
        let first = self.vector_operand(0, s.size)?;
        let (control, table) = if control == 0 { (first, s.a) } else { (s.a, first) };
        self.by_control(&control, &[table, s.b], lane, s.size)
    }

    /// Lanes of one table or two, selected by the lanes of a constant; their higher bits do not
    /// count.
    fn by_control(
        &mut self,
        control: &Wide,
        tables: &[Wide],
        lane: usize,
        size: usize,
    ) -> Fallible<()> {
        let count = size / lane;
        let mut out = UNDEFINED;
        for i in 0..count {
            let Some(c) = self.control_lane(control, i, lane)? else { continue };
            let from = c as usize % (count * tables.len());
            let source = &tables[from / count][from % count * lane..][..lane];
            out[i * lane..][..lane].copy_from_slice(source);
        }
        self.set_vector(0, &out, size)
    }

    /// Lanes of operand 2 with operand 1 above them, from the lane that the immediate names.
    fn align(&mut self, lane: usize) -> Fallible<()> {
        let s = self.sources()?;
        let by = usize::from(self.imm8()?) % (s.size / lane) * lane;
        let mut out = UNDEFINED;
        out[..s.size - by].copy_from_slice(&s.b[by..s.size]);
        out[s.size - by..s.size].copy_from_slice(&s.a[..by]);
        self.set_vector(0, &out, s.size)
    }

    /// Blocks of 128 bits: the lower half of operand 1, the upper of operand 2, each by a field of the immediate.
    fn shuffle_blocks(&mut self) -> Fallible<()> {
        let (s, imm) = (self.sources()?, usize::from(self.imm8()?));
        let count = s.size / 16;
        let mut out = UNDEFINED;
        for i in 0..count {
            let source = if i < count / 2 { &s.a } else { &s.b };
            let from = imm / count.pow(i as u32) % count;
            out[16 * i..][..16].copy_from_slice(&source[16 * from..][..16]);
        }
        self.set_vector(0, &out, s.size)
    }

    /// Operand 1 with `part` bytes of operand 2 at the place that the immediate says.
    fn insert_part(&mut self, part: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        let at = usize::from(self.imm8()?) % (size / part) * part;
        let mut out = self.vector_operand(1, size)?;
        let new = self.vector_operand(2, part)?;
        out[at..at + part].copy_from_slice(&new[..part]);
        self.set_vector(0, &out, size)
    }

    /// `part` bytes of operand 1 into a register or memory.
    fn extract_part(&mut self, part: usize) -> Fallible<()> {
        let size = self.vector_size(1);
        let from = usize::from(self.imm8()?) % (size / part) * part;
        let a = self.vector_operand(1, size)?;
        let mut out = ZEROS;
        out[..part].copy_from_slice(&a[from..from + part]);
        if self.is_vector(0) {
            self.set_vector(0, &out, part)
        } else {
            self.store_masked(&out[..part])
        }
    }

    /// `vpermilps` and `vpermilpd`, by immediate or by a constant control.
    fn permute_in_lane(&mut self, lane: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        let per_block = 16 / lane;
        let mut out = UNDEFINED;
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
