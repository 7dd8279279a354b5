//! The four flags of Arm's instruction sets, and conditions of them.

use super::flags::Flag;
use super::{Fallible, InstructionSet, Machine};
use crate::graph::NodeId;

/// N, Z, C, V.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Flags {
    pub sign: Flag,
    pub zero: Flag,
    /// The carry, or the borrow.
    pub carry: Flag,
    /// Whether `carry` is the borrow: C is its inverse.
    pub borrow: bool,
    pub overflow: Flag,
}

impl Flags {
    /// Sign and zero of a result, with this carry and overflow.
    pub fn of(r: NodeId, carry: Flag, borrow: bool, overflow: Flag) -> Flags {
        Flags { sign: Flag::Sign(r), zero: Flag::Zero(r), carry, borrow, overflow }
    }

    /// Those of r = a - b.
    pub fn difference(a: NodeId, b: NodeId, r: NodeId) -> Flags {
        let zero = Flag::Equal(a, b);
        let overflow = Flag::SubOverflow { a, b, r };
        Flags { sign: Flag::Sign(r), zero, carry: Flag::Below(a, b), borrow: true, overflow }
    }

    /// Those of r = a + b.
    pub fn sum(a: NodeId, b: NodeId, r: NodeId) -> Flags {
        Flags::of(r, Flag::Below(r, a), false, Flag::AddOverflow { a, b, r })
    }
}

impl<I: InstructionSet> Machine<'_, I> {
    /// The flag C, one bit.
    pub fn carry_of(&mut self, f: Flags) -> Fallible<NodeId> {
        let bit = self.flag(f.carry)?;
        Ok(if f.borrow { self.g.not(bit) } else { bit })
    }

    /// The condition of that number, one bit: eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le, always.
    pub fn condition_of_flags(&mut self, f: Flags, code: u8) -> Fallible<NodeId> {
        let mut negate = code & 1 == 1;
        let node = match code >> 1 {
            0 => self.flag(f.zero)?,
            1 => {
                negate ^= f.borrow;
                self.flag(f.carry)?
            }
            2 => self.flag(f.sign)?,
            3 => self.flag(f.overflow)?,
            4 => match (f.carry, f.zero) {
                // One comparison set both.
                (Flag::Below(a, b), zero)
                    if f.borrow && zero == Flag::Equal(a, b) && self.known(&[a, b]) =>
                {
                    self.ult(b, a)
                }
                _ => {
                    let (c, z) = (self.carry_of(f)?, self.flag(f.zero)?);
                    let other = self.g.not(z);
                    self.g.and(c, other)
                }
            },
            5 => {
                negate = !negate;
                self.less(f.sign, f.overflow)?
            }
            6 => {
                negate = !negate;
                self.at_most(f.sign, f.zero, f.overflow)?
            }
            _ => return Ok(self.g.constant(1, 1)),
        };
        Ok(if negate { self.g.not(node) } else { node })
    }
}
