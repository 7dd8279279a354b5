//! Moves, permutations and immediates: no arithmetic, so bytes move as they are.

use super::Machine;
use crate::byte::Byte;
use crate::core::{Fallible, Value};
use crate::fold::gather;
use crate::graph::Graph;
use fARM64::{Instruction, Mnemonic as M, Operand, Register};

impl Machine<'_> {
    pub(super) fn permute(&mut self, ins: &Instruction) -> Fallible<bool> {
        let m = ins.mnemonic();
        match m {
            M::Uzp1 | M::Uzp2 | M::Zip1 | M::Zip2 | M::Trn1 | M::Trn2 => self.two(m)?,
            M::Ext => {
                let (mut all, b) = (self.vector_bytes(1)?, self.vector_bytes(2)?);
                let (size, at) = (all.len(), self.immediate(3)? as usize);
                if at >= size || b.len() != size {
                    return Err(self.form());
                }
                all.extend(b);
                self.set_vector(&all[at..at + size])?;
            }
            M::Rev64 | M::Rev32 | M::Rev16 => {
                let lane = self.shape(1)?.1.lane;
                let group = match m {
                    M::Rev64 => 8,
                    M::Rev32 => 4,
                    _ => 2,
                };
                if lane >= group {
                    return Err(self.form());
                }
                let a = self.vector_bytes(1)?;
                let out: Vec<Byte> = a
                    .chunks(group)
                    .flat_map(|part| part.chunks(lane).rev().flatten().copied())
                    .collect();
                self.set_vector(&out)?;
            }
            M::Tbl | M::Tbx => self.table(m == M::Tbx)?,
            M::Dup => {
                let (_, s) = self.shape(0)?;
                let bytes = self.one(1, s.lane)?;
                self.set_vector(&bytes.repeat(s.count))?;
            }
            M::Mov | M::Ins | M::Umov | M::Smov | M::Fmov => return self.move_lane(m),
            M::Movi | M::Mvni => self.constant_lanes(m == M::Mvni)?,
            M::Cnt => self.mapped_bits()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The `size` bytes that operand `i` names: a lane, or the low part of a general register.
    fn one(&self, i: usize, size: usize) -> Fallible<Vec<Byte>> {
        if self.is_element(i) {
            let (r, lane, at) = self.element(i)?;
            if lane != size {
                return Err(self.form());
            }
            return Ok(self.cpu.vector[r][at * lane..(at + 1) * lane].to_vec());
        }
        let r = self.plain(i)?;
        if r.is_simd() {
            return Err(self.form());
        }
        let (bytes, width) = self.general_bytes(r)?;
        if size > width {
            return Err(self.form());
        }
        Ok(bytes[..size].to_vec())
    }

    /// Every other lane, pairs of lanes, or lanes in turn, of operands 1 and 2.
    fn two(&mut self, m: M) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let (a, b) = (self.lanes(1, s.lane, s.count)?, self.lanes(2, s.lane, s.count)?);
        let n = s.count;
        let second = usize::from(matches!(m, M::Uzp2 | M::Zip2 | M::Trn2));
        let mut out = Vec::new();
        for k in 0..n {
            // The lane, of both operands one behind the other.
            let from = match m {
                M::Uzp1 | M::Uzp2 => 2 * k + second,
                M::Zip1 | M::Zip2 => k / 2 + second * (n / 2) + n * (k % 2),
                _ => k / 2 * 2 + second + n * (k % 2),
            };
            out.extend_from_slice(if from < n { a.get(from) } else { b.get(from - n) });
        }
        self.set_vector(&out)
    }

    /// Bytes of registers by indices that are numbers; beyond them 0, or what was there.
    fn table(&mut self, keeps: bool) -> Fallible<()> {
        let Operand::MultiReg { regs, count, lane: None, .. } = self.now.ins.op(1) else {
            return Err(self.form());
        };
        let mut all = Vec::new();
        for r in &regs[..usize::from(count)] {
            all.extend(self.cpu.vector[usize::from(r.number())]);
        }
        let mut out = self.vector_bytes(0)?;
        let indices = self.vector_bytes(2)?;
        if indices.len() != out.len() {
            return Err(self.form());
        }
        for (byte, index) in out.iter_mut().zip(indices) {
            *byte = match index {
                Byte::Const(i) => match all.get(usize::from(i)) {
                    Some(from) => *from,
                    None if keeps => *byte,
                    None => Byte::Const(0),
                },
                Byte::Undefined | Byte::Caller(_) => Byte::Undefined,
                Byte::Node(..) if self.g.is_blind() => {
                    // Any of them, if all are defined.
                    let mut sources = all.iter().chain(keeps.then_some(&*byte));
                    if sources.any(Byte::is_undefined) {
                        Byte::Undefined
                    } else {
                        Byte::Node(self.g.unknown(8), 0)
                    }
                }
                Byte::Node(..) => {
                    return Err(self.unsupported("a table of bytes whose index is no constant"));
                }
            };
        }
        self.set_vector(&out)
    }

    /// Moves between registers, lanes and general registers.
    fn move_lane(&mut self, m: M) -> Fallible<bool> {
        if self.is_element(0) {
            // Into one lane; the others stay.
            let (r, size, at) = self.element(0)?;
            let bytes = self.one(1, size)?;
            self.cpu.vector[r][at * size..(at + 1) * size].copy_from_slice(&bytes);
            return Ok(true);
        }
        let to = match self.now.ins.op(0) {
            Operand::Reg { reg, .. } => reg,
            _ => return Err(self.form()),
        };
        if !to.is_simd() {
            let width = to.width_bits() as usize / 8;
            let bytes = match m {
                M::Fmov if !self.is_element(1) => {
                    let (r, s) = self.shape(1)?;
                    if s.size() != width {
                        return Err(self.form());
                    }
                    self.cpu.vector[r][..width].to_vec()
                }
                _ => {
                    let (r, lane, at) = self.element(1)?;
                    self.cpu.vector[r][at * lane..(at + 1) * lane].to_vec()
                }
            };
            if bytes.len() > width {
                return Err(self.form());
            }
            if m == M::Smov {
                let value: Value = gather(self.g, &bytes).map(|v| self.g.sext(v, 8 * width as u8));
                let whole = self.spread_bytes(value, width);
                self.set_general(to, &whole)?;
            } else {
                let mut whole = [Byte::Const(0); 8];
                whole[..bytes.len()].copy_from_slice(&bytes);
                self.set_general(to, &whole)?;
            }
            return Ok(true);
        }
        let size = self.shape(0)?.1.size();
        let bytes = match self.now.ins.op(1) {
            Operand::Reg { lane: Some(_), .. } => self.one(1, size)?,
            Operand::Reg { reg, .. } if reg.is_simd() => self.vector_bytes(1)?,
            Operand::Reg { reg, .. } if reg != Register::Sp => self.one(1, size)?,
            _ => return Ok(false),
        };
        self.set_vector(&bytes)?;
        Ok(true)
    }

    /// An immediate in every lane.
    fn constant_lanes(&mut self, inverted: bool) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let value = match self.now.ins.op(1) {
            Operand::ImmShiftedMove { imm, lsl } => u64::from(imm) << lsl,
            // Ones are shifted in.
            Operand::ImmShiftedMsl { imm, msl } => (u64::from(imm) << msl) | ((1 << msl) - 1),
            Operand::ImmUnsigned(v) => v,
            _ => return Err(self.form()),
        };
        let value = if inverted { !value } else { value };
        let bytes = value.to_le_bytes();
        let lane: Vec<Byte> = bytes[..s.lane].iter().map(|b| Byte::Const(*b)).collect();
        self.set_vector(&lane.repeat(s.count))
    }

    /// The number of bits that are set in each byte.
    fn mapped_bits(&mut self) -> Fallible<()> {
        self.mapped(|g: &mut Graph, a| {
            let w = g.width(a);
            let mut sum = g.constant(w, 0);
            for i in 0..w {
                let bit = g.slice(a, i, 1);
                let bit = g.zext(bit, w);
                sum = g.add(sum, bit);
            }
            sum
        })
    }
}
