//! Where jumps, calls and returns go.
//!
//! Some branches are checks that stop the program if they fail, as `-ftrapv` and UBSan's traps make them. Whether one fails
//! may depend on secrets. Where a call says so, checks are assumed to pass: execution goes on behind them, and counts them.

use super::flags::Flag;
use super::memory::RegionKind;
use super::{Fallible, InstructionSet, Machine, Value};
use crate::error::Timing;
use crate::graph::NodeId;

/// An instruction that stops the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trap {
    /// One that people write too, as `__builtin_trap()`.
    Plain,
    /// One that only sanitizers emit, and `-ftrapv`.
    Sanitizer,
}

/// Where a jump goes.
pub(crate) enum Destination {
    /// Section and offset.
    Code(usize, u64),
    /// The caller.
    Return,
    /// A function of another object.
    Outside(String),
}

impl<I: InstructionSet> Machine<'_, I> {
    /// The destination of a jump or call, or the function that stands in for what is there.
    pub fn stood_in(&self, to: Destination) -> Destination {
        match to {
            Destination::Code(section, offset) => match self.stand_ins.get(&(section, offset)) {
                Some(name) => Destination::Outside(name.clone()),
                None => to,
            },
            _ => to,
        }
    }

    /// Checks the target of an indirect jump or call, or of an entry, if the object promises
    /// landing instructions. Then the instruction at the target must be one of `words`.
    pub fn lands(&self, to: &Destination, words: &[u32], how: &str) -> Fallible<()> {
        let &Destination::Code(section, offset) = to else { return Ok(()) };
        if !self.object.promises.landing || words.contains(&self.object.word(section, offset)) {
            return Ok(());
        }
        let place = self.object.describe(self.object.sections[section].address + offset);
        Err(self.unsupported(format!(
            "the object's property note says that {how} lands on an instruction for it, and {place} is none: the \
             processor stops there"
        )))
    }

    /// Where a conditional branch goes, if it is taken. A check is assumed to pass. That is a branch on overflow with
    /// exactly one way that begins with a trap, or any branch if the trap is a sanitizer's.
    pub fn branch(
        &mut self,
        condition: Value,
        to: impl FnOnce(&mut Self) -> Fallible<Destination>,
    ) -> Fallible<Option<Destination>> {
        let open = |m: &Self, n: NodeId| m.g.value(n).is_none() && !m.g.has_address(n);
        if self.passes_checks && condition.is_some_and(|node| open(self, node)) {
            let to = to(self)?;
            let next = Destination::Code(self.next.0, self.next.1);
            let (trap, taken) = match (self.trap(&to), self.trap(&next)) {
                (Some(trap), None) => (Some(trap), false),
                (None, Some(trap)) => (Some(trap), true),
                _ => (None, false),
            };
            let sum = matches!(
                self.cpu.overflow(),
                Flag::AddOverflow { .. }
                    | Flag::SubOverflow { .. }
                    | Flag::BorrowOverflow { .. }
                    | Flag::SignedWide(_)
            );
            let overflow = sum && self.place().checks_overflow();
            if trap == Some(Trap::Sanitizer) || trap.is_some() && overflow {
                self.meets_check();
                return Ok(taken.then_some(to));
            }
            let taken = self.concrete(condition, Timing::Branch, "a branch condition")? == 1;
            return Ok(taken.then_some(to));
        }
        let taken = self.concrete(condition, Timing::Branch, "a branch condition")? == 1;
        if taken { to(self).map(Some) } else { Ok(None) }
    }

    /// The trap that stands there, if no relocation can change it.
    fn trap(&self, at: &Destination) -> Option<Trap> {
        let &Destination::Code(section, offset) = at else { return None };
        let own = &self.object.sections[section];
        let runs = own.executable && own.refused.is_none() && own.runs(offset, offset + 2);
        let changed = self.object.touching(section, offset, offset + 4).next().is_some();
        own.data.get(offset as usize..).filter(|_| runs && !changed).and_then(I::trap)
    }

    /// Notes that the current instruction is a check, which is assumed to pass.
    pub fn meets_check(&mut self) {
        let at = self.place();
        self.checks.insert(at.address, at.to_string());
    }

    /// The destination that a value names.
    pub fn indirect(&mut self, target: Option<NodeId>) -> Fallible<Destination> {
        match target {
            Some(node) => self.code_at(node),
            None => Err(self.undefined("the target of a jump")),
        }
    }

    /// The destination at an address.
    pub fn code_at(&mut self, target: NodeId) -> Fallible<Destination> {
        let place = self.g.address_of(target).or_else(|| self.fixed_place(target));
        let Some((region, offset)) = place else {
            return Err(match self.g.value(target) {
                Some(_) => self.unsupported("a jump to a number that is no code address"),
                None => self.not_concrete(Timing::Branch, target),
            });
        };
        if region == self.stack + 1 && offset == 0 {
            return Ok(Destination::Return);
        }
        match self.regions[usize::from(region)].kind {
            RegionKind::Section(section, start)
                if self.object.sections[section].executable
                    && (0..=self.object.sections[section].size as i64).contains(&offset) =>
            {
                Ok(Destination::Code(section, start + offset as u64))
            }
            RegionKind::Outside if offset == 0 => {
                Ok(Destination::Outside(self.regions[usize::from(region)].name.clone()))
            }
            _ => Err(self.unsupported("a jump into memory that is no code")),
        }
    }
}
