//! Floating-point registers as places to keep words in: moved, loaded and stored, never computed with.
//!
//! Loads and stores fault on addresses that are not multiples of 4, for doubles too. A register of
//! 64 bits is two of 32; the lower number is the lower half.

use super::decode::Instruction;
use super::operation::{Address, Op};
use super::{Machine, SP, word};
use crate::byte::Byte;
use crate::core::{Fallible, Value};
use std::ops::Range;

impl Instruction {
    /// The floating-point registers that it names, but for the source of a move.
    pub fn floats(&self) -> Range<usize> {
        let count = match self.op {
            Op::ToFloat { two } | Op::FromFloat { two } => 1 + usize::from(two),
            Op::MoveFloat => 1,
            Op::LoadFloat { words, .. } | Op::StoreFloat { words } => words.into(),
            Op::LoadFloats { .. } | Op::StoreFloats { .. } => self.immediate as usize,
            _ => 0,
        };
        let first = usize::from(self.last);
        first..first + count
    }

    /// The source of a move from one floating-point register to another.
    pub fn float_source(&self) -> usize {
        2 * usize::from(self.m) + usize::from(self.y)
    }

    /// Those that it writes.
    pub fn floats_written(&self) -> Range<usize> {
        match self.op {
            Op::ToFloat { .. } | Op::MoveFloat | Op::LoadFloat { .. } | Op::LoadFloats { .. } => {
                self.floats()
            }
            _ => 0..0,
        }
    }
}

impl Machine<'_> {
    pub(super) fn floats(&mut self, ins: &Instruction) -> Fallible<bool> {
        if ins.op.is_of_floats() {
            self.assume(
                "the processor has floating-point registers, and the system lets code use them"
                    .into(),
            );
        }
        match ins.op {
            Op::ToFloat { .. } => {
                for (f, r) in ins.floats().zip([ins.t, ins.u]) {
                    self.cpu.floats[f] = self.cpu.general[usize::from(r)];
                }
            }
            Op::FromFloat { .. } => {
                for (f, r) in ins.floats().zip([ins.t, ins.u]) {
                    self.set_bytes(r, self.cpu.floats[f])?;
                }
            }
            Op::MoveFloat => {
                self.cpu.floats[usize::from(ins.last)] = self.cpu.floats[ins.float_source()];
            }
            Op::LoadFloat { at, .. } => {
                let (address, _) = self.address_of(ins, at)?;
                self.load_floats(ins, address)?;
            }
            Op::StoreFloat { .. } => {
                let (address, _) = self.address_of(ins, Address::Offset)?;
                self.store_floats(ins, address)?;
            }
            Op::LoadFloats { down } | Op::StoreFloats { down } => {
                let base = self.value(ins.n)?;
                let total = 4 * ins.floats().len() as u64;
                let by = self.g.constant(32, if down { total.wrapping_neg() } else { total });
                let moved = base.map(|a| self.g.add(a, by));
                let address = if down { moved } else { base };
                let back = ins.back.then_some(moved);
                // The stack pointer goes down first: what is pushed lies above it.
                let first = down && ins.n == SP;
                if first {
                    self.write_back(ins, back)?;
                }
                match ins.op {
                    Op::LoadFloats { .. } => self.load_floats(ins, address)?,
                    _ => self.store_floats(ins, address)?,
                }
                if !first {
                    self.write_back(ins, back)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn load_floats(&mut self, ins: &Instruction, address: Value) -> Fallible<()> {
        let mut bytes = vec![Byte::Undefined; 4 * ins.floats().len()];
        let place = self.dereference(address, bytes.len() as u64)?;
        self.require_alignment(place, bytes.len() as u64, 4)?;
        self.load(place, &mut bytes)?;
        for (f, part) in ins.floats().zip(bytes.chunks(4)) {
            self.cpu.floats[f] = word(part);
        }
        Ok(())
    }

    fn store_floats(&mut self, ins: &Instruction, address: Value) -> Fallible<()> {
        let bytes = self.cpu.floats[ins.floats()].concat();
        let place = self.dereference(address, bytes.len() as u64)?;
        self.require_alignment(place, bytes.len() as u64, 4)?;
        self.store(place, &bytes)
    }
}
