//! Loads and stores of structures: LD1 to LD4, ST1 to ST4, whole registers, one lane, or one for all.

use super::Machine;
use crate::byte::Byte;
use crate::core::Fallible;
use fARM64::{Instruction, Mnemonic as M, Operand};

impl Machine<'_> {
    pub(super) fn structures(&mut self, ins: &Instruction) -> Fallible<bool> {
        let (elements, store, repeats) = match ins.mnemonic() {
            M::Ld1 => (1, false, false),
            M::Ld2 => (2, false, false),
            M::Ld3 => (3, false, false),
            M::Ld4 => (4, false, false),
            M::St1 => (1, true, false),
            M::St2 => (2, true, false),
            M::St3 => (3, true, false),
            M::St4 => (4, true, false),
            M::Ld1r => (1, false, true),
            M::Ld2r => (2, false, true),
            M::Ld3r => (3, false, true),
            M::Ld4r => (4, false, true),
            _ => return Ok(false),
        };
        let Operand::MultiReg { regs, count, arr: Some(arr), lane } = ins.op(0) else {
            return Err(self.form());
        };
        let registers: Vec<usize> =
            regs[..usize::from(count)].iter().map(|r| usize::from(r.number())).collect();
        let size = usize::from(arr.element_bits() / 8);
        if arr.is_scalable() || !(1..=8).contains(&size) || registers.is_empty() {
            return Err(self.form());
        }
        // Bytes of a register that take part.
        let whole = size * usize::from(arr.element_count());
        // In memory: lane `k` of register `r` stands at this place.
        let lanes: Vec<(usize, usize)> = match lane {
            Some(at) => registers.iter().map(|&r| (r, usize::from(at) * size)).collect(),
            None if repeats => registers.iter().map(|&r| (r, 0)).collect(),
            None if elements == 1 => {
                // One register behind the other.
                let of = |r: usize| (0..whole / size).map(move |k| (r, k * size));
                registers.iter().flat_map(|&r| of(r)).collect()
            }
            None => {
                let of = |k: usize| registers.iter().map(move |&r| (r, k * size));
                (0..whole / size).flat_map(of).collect()
            }
        };
        if (lane.is_some() || repeats || elements > 1) && registers.len() != elements
            || lanes.iter().any(|l| l.1 + size > 16)
        {
            return Err(self.form());
        }
        let total = lanes.len() * size;
        let (address, back) = self.operand_address(1, 0)?;
        let at = self.dereference(address, total as u64)?;
        self.unaligned(at, size as u64);
        let mut bytes = vec![Byte::Undefined; total];
        if store {
            for (part, (r, from)) in bytes.chunks_mut(size).zip(&lanes) {
                part.copy_from_slice(&self.cpu.vector[*r][*from..from + size]);
            }
            self.store(at, &bytes)?;
            self.write_back(back)?;
            return Ok(true);
        }
        self.load(at, &mut bytes)?;
        if lane.is_none() {
            for &r in &registers {
                self.cpu.vector[r] = [Byte::Const(0); 16];
            }
        }
        for (part, (r, to)) in bytes.chunks(size).zip(&lanes) {
            if repeats {
                self.set_wide(*r, &part.repeat(whole / size));
            } else {
                self.cpu.vector[*r][*to..to + size].copy_from_slice(part);
            }
        }
        self.write_back(back)?;
        Ok(true)
    }
}
