//! Bit fields, extensions, reversals, halves that are packed.

use super::Machine;
use super::decode::{Instruction, Moved};
use super::operation::{Field, Op};
use crate::byte::Byte;
use crate::core::arith::{leading_zeros, reversed_bits};
use crate::core::bits::Shift;
use crate::core::{Fallible, Value};
use crate::fold::{gather, scatter};
use crate::graph::NodeId;

impl Machine<'_> {
    pub(super) fn bits(&mut self, ins: &Instruction) -> Fallible<bool> {
        match ins.op {
            Op::Field(field) => self.field(ins, field)?,
            Op::Extend { bits, signed, adds } => {
                let mut bytes = self.cpu.general[usize::from(ins.m)];
                bytes.rotate_left(ins.turn.into());
                let low = gather(self.g, &bytes[..usize::from(bits / 8)]);
                let wide = low.map(|a| self.wide(a, signed, 32));
                let r = match adds {
                    true => {
                        let n = self.value(ins.n)?;
                        self.both(n, wide, |m, n, a| m.g.add(n, a))
                    }
                    false => wide,
                };
                self.put(ins.d, r)?;
            }
            Op::ExtendPair { signed, adds } => {
                let mut from = self.cpu.general[usize::from(ins.m)];
                from.rotate_left(ins.turn.into());
                let with = self.cpu.general[usize::from(ins.n)];
                let mut bytes = [Byte::Undefined; 4];
                for i in [0, 2] {
                    let a = gather(self.g, &from[i..i + 1]).map(|a| self.wide(a, signed, 16));
                    let r = match adds {
                        true => {
                            let n = gather(self.g, &with[i..i + 2]);
                            self.both(n, a, |m, n, a| m.g.add(n, a))
                        }
                        false => a,
                    };
                    if let Some(r) = r {
                        scatter(self.g, r, &mut bytes[i..i + 2]);
                    }
                }
                self.set_bytes(ins.d, bytes)?;
            }
            Op::Reverse | Op::ReverseHalves => {
                let mut bytes = self.cpu.general[usize::from(ins.m)];
                let step = if ins.op == Op::Reverse { 4 } else { 2 };
                bytes.chunks_mut(step).for_each(<[Byte]>::reverse);
                self.set_bytes(ins.d, bytes)?;
            }
            Op::ReverseLow => {
                let bytes = self.cpu.general[usize::from(ins.m)];
                let half = gather(self.g, &[bytes[1], bytes[0]]);
                let r = half.map(|a| self.g.sext(a, 32));
                self.put(ins.d, r)?;
            }
            Op::ReverseBits => {
                let a = self.value(ins.m)?;
                let r = a.map(|a| reversed_bits(self.g, a));
                self.put(ins.d, r)?;
            }
            Op::LeadingZeros => {
                let a = self.value(ins.m)?;
                let r = a.map(|a| leading_zeros(self.g, a));
                self.put(ins.d, r)?;
            }
            Op::PackBottomTop | Op::PackTopBottom => {
                let m = match (ins.moved, self.value(ins.m)?) {
                    (Moved::By(Shift::Left, 0), _) => self.cpu.general[usize::from(ins.m)],
                    (moved, value) => {
                        let mut bytes = [Byte::Undefined; 4];
                        if let Some(a) = value
                            && let Some(r) = self.moved(a, moved)?.0
                        {
                            scatter(self.g, r, &mut bytes);
                        }
                        bytes
                    }
                };
                let n = self.cpu.general[usize::from(ins.n)];
                let (low, high) = if ins.op == Op::PackBottomTop { (n, m) } else { (m, n) };
                self.set_bytes(ins.d, [low[0], low[1], high[2], high[3]])?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// An extension to `width`.
    pub(super) fn wide(&mut self, a: NodeId, signed: bool, width: u8) -> NodeId {
        if signed { self.g.sext(a, width) } else { self.g.zext(a, width) }
    }

    fn field(&mut self, ins: &Instruction, field: Field) -> Fallible<()> {
        let start = ins.immediate as u8;
        let r = match field {
            Field::Signed | Field::Unsigned => {
                let a = self.value(ins.n)?;
                a.map(|a| {
                    let part = self.g.slice(a, start, ins.last + 1);
                    self.wide(part, field == Field::Signed, 32)
                })
            }
            Field::Insert | Field::Clear => {
                let length = ins.last + 1 - start;
                let from = match field {
                    Field::Clear => Some(self.g.constant(32, 0)),
                    _ => self.value(ins.n)?,
                };
                if start.is_multiple_of(8) && length.is_multiple_of(8) {
                    return self.whole_bytes(ins, from, start / 8, length / 8);
                }
                let old = self.value(ins.d)?;
                self.both(from, old, |m, from, old| {
                    let mut parts = Vec::new();
                    if start > 0 {
                        parts.push(m.g.slice(old, 0, start));
                    }
                    parts.push(m.g.slice(from, 0, length));
                    let end = start + length;
                    if end < 32 {
                        parts.push(m.g.slice(old, end, 32 - end));
                    }
                    m.g.concat(&parts)
                })
            }
        };
        self.put(ins.d, r)
    }

    /// A field of whole bytes; the bytes next to it may be undefined.
    fn whole_bytes(&mut self, ins: &Instruction, from: Value, at: u8, length: u8) -> Fallible<()> {
        let mut bytes = self.cpu.general[usize::from(ins.d)];
        let mut new = [Byte::Undefined; 4];
        if let Some(from) = from {
            scatter(self.g, from, &mut new);
        }
        let (at, length) = (usize::from(at), usize::from(length));
        bytes[at..at + length].copy_from_slice(&new[..length]);
        self.set_bytes(ins.d, bytes)
    }

    /// A half of a register: the upper one, or the lower.
    pub(super) fn half(&mut self, r: u8, top: bool) -> Value {
        let at = if top { 2 } else { 0 };
        gather(self.g, &self.cpu.general[usize::from(r)][at..at + 2])
    }
}
