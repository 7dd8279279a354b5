//! The four flags, and conditions of them.

use super::Machine;
use crate::core::Fallible;
use crate::core::flags::Flag;
use crate::graph::NodeId;
use fARM64::{Condition, Operand};

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

impl Machine<'_> {
    /// The flag C, one bit.
    pub(super) fn carry(&mut self) -> Fallible<NodeId> {
        let f = self.cpu.flags;
        let bit = self.flag(f.carry)?;
        Ok(if f.borrow { self.g.not(bit) } else { bit })
    }

    /// The condition that is operand `i`, one bit.
    pub(super) fn condition_of(&mut self, i: usize) -> Fallible<NodeId> {
        match self.now.ins.op(i) {
            Operand::Cond(code) => self.condition(code),
            _ => Err(self.form()),
        }
    }

    /// A condition, one bit.
    pub(super) fn condition(&mut self, code: Condition) -> Fallible<NodeId> {
        use Condition as C;
        let f = self.cpu.flags;
        let (node, negate) = match code {
            C::Eq => (self.flag(f.zero)?, false),
            C::Ne => (self.flag(f.zero)?, true),
            C::Cs => (self.flag(f.carry)?, f.borrow),
            C::Cc => (self.flag(f.carry)?, !f.borrow),
            C::Mi => (self.flag(f.sign)?, false),
            C::Pl => (self.flag(f.sign)?, true),
            C::Vs => (self.flag(f.overflow)?, false),
            C::Vc => (self.flag(f.overflow)?, true),
            C::Hi | C::Ls => {
                let above = match (f.carry, f.zero) {
                    // One comparison set both.
                    (Flag::Below(a, b), zero)
                        if f.borrow && zero == Flag::Equal(a, b) && self.known(&[a, b]) =>
                    {
                        self.ult(b, a)
                    }
                    _ => {
                        let (c, z) = (self.carry()?, self.flag(f.zero)?);
                        let other = self.g.not(z);
                        self.g.and(c, other)
                    }
                };
                (above, code == C::Ls)
            }
            C::Lt | C::Ge => (self.less(f)?, code == C::Ge),
            C::Le | C::Gt => {
                let most = match (f.overflow, f.zero) {
                    (Flag::SubOverflow { a, b, r }, zero)
                        if f.sign == Flag::Sign(r)
                            && zero == Flag::Equal(a, b)
                            && self.known(&[a, b, r]) =>
                    {
                        let greater = self.g.slt(b, a);
                        self.g.not(greater)
                    }
                    _ => {
                        let (l, z) = (self.less(f)?, self.flag(f.zero)?);
                        self.g.or(l, z)
                    }
                };
                (most, code == C::Gt)
            }
            C::Al | C::Nv => (self.g.constant(1, 1), false),
        };
        Ok(if negate { self.g.not(node) } else { node })
    }

    /// Sign differs from overflow.
    fn less(&mut self, f: Flags) -> Fallible<NodeId> {
        match f.overflow {
            Flag::SubOverflow { a, b, r } if f.sign == Flag::Sign(r) && self.known(&[a, b, r]) => {
                Ok(self.g.slt(a, b))
            }
            _ => {
                let (s, o) = (self.flag(f.sign)?, self.flag(f.overflow)?);
                Ok(self.g.xor(s, o))
            }
        }
    }

    /// Flags of `set` where the condition holds, else the four bits of `otherwise` (N highest).
    pub(super) fn compare_if(
        &mut self,
        condition: NodeId,
        set: Flags,
        otherwise: u64,
    ) -> Fallible<()> {
        let bit = |m: &mut Self, i: u8| m.g.constant(1, otherwise >> i & 1);
        let fixed = [3u8, 2, 1, 0].map(|i| bit(self, i));
        match self.g.value(condition) {
            Some(1) => self.cpu.flags = set,
            Some(_) => {
                let [sign, zero, carry, overflow] = fixed.map(Flag::Bit);
                self.cpu.flags = Flags { sign, zero, carry, borrow: false, overflow };
            }
            None => {
                let mut bits = Vec::new();
                self.cpu.flags = set;
                let taken = [
                    self.flag(set.sign)?,
                    self.flag(set.zero)?,
                    self.carry()?,
                    self.flag(set.overflow)?,
                ];
                for (yes, no) in taken.into_iter().zip(fixed) {
                    bits.push(Flag::Bit(self.g.select(condition, yes, no)));
                }
                self.cpu.flags = Flags {
                    sign: bits[0],
                    zero: bits[1],
                    carry: bits[2],
                    borrow: false,
                    overflow: bits[3],
                };
            }
        }
        Ok(())
    }
}
