//! Loads and stores.

use super::decode::Instruction;
use super::operation::{Address, Op};
use super::{Machine, PC, SP};
use crate::byte::Byte;
use crate::core::{Fallible, Value};
use crate::fold::gather;

impl Machine<'_> {
    pub(super) fn memory(&mut self, ins: &Instruction) -> Fallible<bool> {
        match ins.op {
            Op::Load { size, signed, at } => {
                let (address, back) = self.address_of(ins, at)?;
                let size = usize::from(size);
                let place = self.dereference(address, size as u64)?;
                self.unaligned(place, size as u64);
                let mut bytes = [Byte::Const(0); 4];
                self.load(place, &mut bytes[..size])?;
                self.write_back(ins, back)?;
                if signed {
                    let value = gather(self.g, &bytes[..size]).map(|v| self.g.sext(v, 32));
                    self.put(ins.t, value)?;
                } else {
                    self.set_bytes(ins.t, bytes)?;
                }
            }
            Op::Store { size, at } => {
                let (address, back) = self.address_of(ins, at)?;
                let size = usize::from(size);
                let bytes = self.cpu.general[usize::from(ins.t)];
                let place = self.dereference(address, size as u64)?;
                self.unaligned(place, size as u64);
                self.store_and_back(ins, place, &bytes[..size], back)?;
            }
            Op::LoadPair | Op::StorePair => {
                let (address, back) = self.address_of(ins, Address::Offset)?;
                let place = self.dereference(address, 8)?;
                self.require_alignment(place, 8, 4)?;
                if ins.op == Op::StorePair {
                    let (t, u) = (usize::from(ins.t), usize::from(ins.u));
                    let bytes = [self.cpu.general[t], self.cpu.general[u]].concat();
                    self.store_and_back(ins, place, &bytes, back)?;
                } else {
                    let mut bytes = [Byte::Undefined; 8];
                    self.load(place, &mut bytes)?;
                    self.write_back(ins, back)?;
                    self.set_bytes(ins.t, super::word(&bytes))?;
                    self.set_bytes(ins.u, super::word(&bytes[4..]))?;
                }
            }
            Op::LoadMany { down } | Op::StoreMany { down } => self.many(ins, down)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The address of an access, and what is written back to the base, if anything is.
    pub(super) fn address_of(
        &mut self,
        ins: &Instruction,
        at: Address,
    ) -> Fallible<(Value, Option<Value>)> {
        let base = match at {
            Address::Literal => {
                let place = self.near(ins.immediate)?;
                return Ok((Some(place), None));
            }
            _ => self.value(ins.n)?,
        };
        if at == Address::Register {
            let index = match self.value(ins.m)? {
                Some(m) => self.moved(m, ins.moved)?.0,
                None => None,
            };
            return Ok((self.both(base, index, |s, a, b| s.g.add(a, b)), None));
        }
        let by = self.g.constant(32, ins.immediate as u64);
        let moved = base.map(|a| self.g.add(a, by));
        let address = if ins.before { moved } else { base };
        Ok((address, ins.back.then_some(moved)))
    }

    pub(super) fn write_back(&mut self, ins: &Instruction, back: Option<Value>) -> Fallible<()> {
        match back {
            Some(value) => self.put(ins.n, value),
            None => Ok(()),
        }
    }

    /// Stores, and writes the base back. A stack pointer that goes down does so first: what is pushed lies
    /// above it.
    fn store_and_back(
        &mut self,
        ins: &Instruction,
        place: (u16, i64),
        bytes: &[Byte],
        back: Option<Value>,
    ) -> Fallible<()> {
        let down = ins.n == SP && ins.before;
        if down {
            self.write_back(ins, back)?;
        }
        self.store(place, bytes)?;
        if down { Ok(()) } else { self.write_back(ins, back) }
    }

    /// A half or a word at an address that may not be a multiple of its size. The processor allows
    /// it, unless the system forbids it.
    fn unaligned(&mut self, (region, offset): (u16, i64), size: u64) {
        let region = &self.regions[usize::from(region)];
        if size > 1 && region.aligned(offset, size) != Some(true) {
            let name = region.name.clone();
            self.assume(format!(
                "halves and words of {name} may be accessed where they are not aligned: its memory is \
                 normal memory and CCR.UNALIGN_TRP is clear"
            ));
        }
    }

    /// Registers of a list, the lowest at the lowest address.
    fn many(&mut self, ins: &Instruction, down: bool) -> Fallible<()> {
        let registers: Vec<u8> = (0..16).filter(|r| ins.list >> r & 1 == 1).collect();
        let total = 4 * registers.len() as u64;
        let base = self.value(ins.n)?;
        let by = self.g.constant(32, if down { total.wrapping_neg() } else { total });
        let moved = base.map(|a| self.g.add(a, by));
        let place = self.dereference(if down { moved } else { base }, total)?;
        self.require_alignment(place, total, 4)?;
        let back = ins.back.then_some(moved);
        if matches!(ins.op, Op::StoreMany { .. }) {
            let mut bytes = Vec::new();
            for &r in &registers {
                bytes.extend(self.cpu.general[usize::from(r)]);
            }
            if down {
                self.write_back(ins, back)?;
            }
            self.store(place, &bytes)?;
            return if down { Ok(()) } else { self.write_back(ins, back) };
        }
        let mut bytes = vec![Byte::Undefined; total as usize];
        self.load(place, &mut bytes)?;
        self.write_back(ins, back)?;
        for (&r, word) in registers.iter().zip(bytes.chunks(4)) {
            if r != PC {
                self.set_bytes(r, super::word(word))?;
            }
        }
        if registers.last() == Some(&PC) {
            let target = gather(self.g, &bytes[bytes.len() - 4..]);
            self.exchange(target, false)?;
        }
        Ok(())
    }
}
