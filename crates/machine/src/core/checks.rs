//! Checks that stop the program if they fail, as `-ftrapv` and UBSan's traps make them.
//!
//! Whether one fails may depend on secrets. Where a call says so, checks are assumed to pass: execution goes on behind
//! them, and an assumption says so.

use super::{Destination, Fallible, InstructionSet, Machine, Value};
use crate::byte::Byte;
use crate::error::Timing;
use crate::fold::{gather, scatter, signed};
use crate::graph::NodeId;

/// An instruction that stops the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trap {
    /// One that people write too, as `__builtin_trap()`.
    Plain,
    /// One that only sanitizers emit, and `-ftrapv`.
    Sanitizer,
}

/// Arithmetic of libgcc that stops the program if the result does not fit.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    /// Bits of the operands and of the result.
    bits: u8,
    of: Arithmetic,
}

#[derive(Clone, Copy)]
enum Arithmetic {
    Sum,
    Difference,
    Product,
    Negation,
}

impl Checked {
    /// The function of that name, if each operand fits in one register of `word` bytes.
    pub fn of(name: &str, word: usize) -> Option<Checked> {
        let (bits, of) = match name {
            "__addvsi3" => (32, Arithmetic::Sum),
            "__subvsi3" => (32, Arithmetic::Difference),
            "__mulvsi3" => (32, Arithmetic::Product),
            "__negvsi2" => (32, Arithmetic::Negation),
            "__addvdi3" => (64, Arithmetic::Sum),
            "__subvdi3" => (64, Arithmetic::Difference),
            "__mulvdi3" => (64, Arithmetic::Product),
            "__negvdi2" => (64, Arithmetic::Negation),
            _ => return None,
        };
        (usize::from(bits) <= 8 * word).then_some(Checked { bits, of })
    }
}

impl<I: InstructionSet> Machine<'_, I> {
    /// Where a conditional branch goes, if it is taken. If it is a check, it is assumed to pass: a branch on the overflow
    /// flag of which exactly one way begins with a trap, or any branch if that is a sanitizer's.
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
            if trap == Some(Trap::Sanitizer) || trap.is_some() && self.place().checks_overflow() {
                let at = self.place();
                self.checks.0.insert(at.address);
                self.checks.1.get_or_insert(at);
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

    /// What is assumed of the checks that were met.
    pub fn assume_checks(&mut self) {
        if let (all, Some(first)) = &self.checks {
            let sentence = format!(
                "no overflow check or sanitizer trap fails (a failing check stops the program); there are {}, the first at \
                 {first}",
                all.len()
            );
            self.assume(sentence);
        }
    }

    /// The result of checked arithmetic, assuming that it returns.
    pub(super) fn checked(&mut self, name: &str, function: Checked) -> Fallible<[Byte; 8]> {
        let bytes = usize::from(function.bits) / 8;
        let mut operand = |i: usize| match gather(self.g, &self.cpu.argument(i)[..bytes]) {
            Some(node) => Ok(node),
            None => Err(self.undefined(format!("argument {i} of `{name}`"))),
        };
        let x = operand(0)?;
        let y = if let Arithmetic::Negation = function.of { x } else { operand(1)? };
        let number = |m: &Self, node| Some(i128::from(signed(m.g.value(node)?, function.bits)));
        let exact = number(self, x).zip(number(self, y)).map(|(x, y)| match function.of {
            Arithmetic::Sum => x + y,
            Arithmetic::Difference => x - y,
            Arithmetic::Product => x * y,
            Arithmetic::Negation => -x,
        });
        if exact.is_some_and(|value| value >> (function.bits - 1) != value >> 127) {
            return Err(
                self.unsupported(format!("`{name}` stops the program: its result overflows"))
            );
        }
        let node = match function.of {
            Arithmetic::Sum => self.g.add(x, y),
            Arithmetic::Difference => self.g.sub(x, y),
            Arithmetic::Product => self.g.mul(x, y),
            Arithmetic::Negation => self.g.neg(x),
        };
        let mut result = [Byte::Undefined; 8];
        scatter(self.g, node, &mut result[..bytes]);
        self.assume(format!(
            "the linked `{name}` is libgcc's and runs in constant time; its result never overflows (overflow stops the program)"
        ));
        Ok(result)
    }
}
