//! Conditions that operands name, and comparisons under a condition.

use super::Machine;
use crate::core::Fallible;
pub(crate) use crate::core::conditions::Flags;
use crate::core::flags::Flag;
use crate::graph::NodeId;
use fARM64::{Condition, Operand};

impl Machine<'_> {
    /// The flag C, one bit.
    pub(super) fn carry(&mut self) -> Fallible<NodeId> {
        self.carry_of(self.cpu.flags)
    }

    /// The condition that is operand `i`, one bit.
    pub(super) fn condition_of(&mut self, i: usize) -> Fallible<NodeId> {
        match self.now.ins.op(i) {
            Operand::Cond(code) => self.condition(code),
            _ => Err(self.form()),
        }
    }

    /// A condition, one bit; the decoder numbers them as the architecture does.
    pub(super) fn condition(&mut self, code: Condition) -> Fallible<NodeId> {
        self.condition_of_flags(self.cpu.flags, code as u8)
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
