//! IT blocks: instructions under a condition.
//!
//! If the condition is known, the instruction is executed or not. If the condition depends on
//! inputs, the instruction is executed, and the condition selects every register and flag that it
//! changed. The processor computes the same result, and takes one cycle whether the condition holds
//! or not. That is true only of the instructions allowed here. They access no memory, do not
//! branch, multiply or divide, so neither their time nor their trace leaks the condition.

use super::conditions::advance;
use super::decode::{Instruction, Sets};
use super::operation::{Data, Op, Second};
use super::{Machine, SP};
use crate::byte::Byte;
use crate::core::conditions::Flags;
use crate::core::flags::Flag;
use crate::core::{Fallible, Value};
use crate::error::Timing;
use crate::fold::{gather, scatter};
use crate::graph::NodeId;

/// Whether the operation takes one cycle and touches registers and flags alone.
fn is_plain(op: Op) -> bool {
    matches!(
        op,
        Op::Nop
            | Op::Data(..)
            | Op::ShiftBy(_)
            | Op::RotateBy
            | Op::AddWide
            | Op::SubWide
            | Op::Adr
            | Op::Wide
            | Op::Top
            | Op::Field(_)
            | Op::Extend { .. }
            | Op::ExtendPair { .. }
            | Op::Reverse
            | Op::ReverseHalves
            | Op::ReverseLow
            | Op::ReverseBits
            | Op::LeadingZeros
            | Op::PackBottomTop
            | Op::PackTopBottom
            | Op::Lanes { .. }
    )
}

/// Whether it may stand in a block, and whether only as its last.
fn place(ins: &Instruction) -> (bool, bool) {
    match ins.op {
        Op::IfThen | Op::CompareBranch { .. } | Op::BranchIf => (false, false),
        // The narrow move of a register that sets flags.
        Op::Data(Data::Mov, Second::Register) if ins.length == 2 && ins.sets == Sets::Always => {
            (false, false)
        }
        Op::Branch | Op::Call | Op::Exchange { .. } => (true, true),
        Op::LoadMany { .. } => (true, ins.list >> 15 == 1),
        _ => (true, false),
    }
}

impl Machine<'_> {
    /// The current instruction, which stands in an IT block under that condition.
    pub(super) fn in_block(&mut self, ins: &Instruction, condition: u8) -> Fallible<()> {
        let is_last = self.cpu.block & 7 == 0;
        let (allowed, ends) = place(ins);
        if !allowed || ends && !is_last {
            return Err(self.unsupported("what this does in an IT block is left open"));
        }
        self.cpu.block = advance(self.cpu.block);
        let condition = self.condition_of_flags(self.cpu.flags, condition)?;
        let branches = matches!(ins.op, Op::Branch | Op::Call | Op::Exchange { .. });
        let known = self.g.value(condition).is_some() || self.g.has_address(condition);
        if known || branches {
            let holds =
                self.concrete(Some(condition), Timing::Branch, "the condition of an IT block")?;
            if holds == 1 {
                self.cpu.conditional = true;
                let done = self.execute(ins);
                self.cpu.conditional = false;
                return done;
            }
            return Ok(());
        }
        if !is_plain(ins.op) || ins.d == SP {
            return Err(self.unsupported(
                "this instruction under a condition that depends on an input: only operations on \
                 registers that take one cycle are modelled so",
            ));
        }
        self.selected(ins, condition)
    }

    /// Executes the instruction and keeps what it changed where the condition holds.
    fn selected(&mut self, ins: &Instruction, condition: NodeId) -> Fallible<()> {
        let before = (self.cpu.general, self.cpu.flags);
        self.cpu.conditional = true;
        let sets = self.sets(ins);
        let done = self.execute(ins);
        self.cpu.conditional = false;
        done?;
        for (r, old) in before.0.into_iter().enumerate() {
            let new = self.cpu.general[r];
            // Unknowns that are one term may be two values.
            if r != usize::from(ins.d) || new == old && !self.is_vague(&new) {
                debug_assert_eq!(new, old);
                continue;
            }
            let (yes, no) = (gather(self.g, &new), gather(self.g, &old));
            let mut bytes = [Byte::Undefined; 4];
            if let (Some(yes), Some(no)) = (yes, no) {
                let node = self.g.select(condition, yes, no);
                scatter(self.g, node, &mut bytes);
            }
            self.cpu.general[r] = bytes;
        }
        if sets {
            self.cpu.flags = self.either(condition, self.cpu.flags, before.1)?;
        }
        Ok(())
    }

    /// Whether a byte depends on an unknown.
    fn is_vague(&self, bytes: &[Byte]) -> bool {
        bytes.iter().any(|b| matches!(b, Byte::Node(id, _) if self.g.is_vague(*id)))
    }

    /// The flags of `new` where the condition holds, else those of `old`.
    fn either(&mut self, condition: NodeId, new: Flags, old: Flags) -> Fallible<Flags> {
        let sign = self.one_of(condition, (new.sign, false), (old.sign, false))?;
        let zero = self.one_of(condition, (new.zero, false), (old.zero, false))?;
        let carry = self.one_of(condition, (new.carry, new.borrow), (old.carry, old.borrow))?;
        let overflow = self.one_of(condition, (new.overflow, false), (old.overflow, false))?;
        Ok(Flags { sign, zero, carry, borrow: false, overflow })
    }

    /// Selects between two flags; each may be stored inverted.
    fn one_of(
        &mut self,
        condition: NodeId,
        new: (Flag, bool),
        old: (Flag, bool),
    ) -> Fallible<Flag> {
        let mut bits = Vec::new();
        for (flag, inverted) in [new, old] {
            if matches!(flag, Flag::Undefined | Flag::Unmodelled) {
                return Ok(flag);
            }
            let bit = self.flag(flag)?;
            bits.push(if inverted { self.g.not(bit) } else { bit });
        }
        Ok(Flag::Bit(self.g.select(condition, bits[0], bits[1])))
    }

    /// The carry flag as a value of 32 bits.
    pub(super) fn carry_word(&mut self) -> Fallible<NodeId> {
        let carry = self.carry_of(self.cpu.flags)?;
        Ok(self.g.zext(carry, 32))
    }

    /// Sets sign and zero by a result; the carry as given, else it stays; the overflow stays.
    pub(super) fn set_logical(&mut self, r: Value, carry: Option<Flag>) {
        let Some(r) = r else {
            self.cpu.flags = Flags::default();
            return;
        };
        let flags = &mut self.cpu.flags;
        (flags.sign, flags.zero) = (Flag::Sign(r), Flag::Zero(r));
        if let Some(carry) = carry {
            (flags.carry, flags.borrow) = (carry, false);
        }
    }
}
