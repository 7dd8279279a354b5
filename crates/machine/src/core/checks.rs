//! Checks that stop the program where they fail, as `-ftrapv` and UBSan's traps make them.
//!
//! Whether one fails may depend on secrets. A call that takes checks for passed goes on behind each of them, and says so
//! in an assumption.

use super::{Destination, Fallible, InstructionSet, Machine, Value};
use crate::byte::Byte;
use crate::error::Timing;
use crate::fold::{gather, scatter};
use crate::graph::{Graph, NodeId};

/// Arithmetic of the compiler's library that stops the program where the result does not fit.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    /// Bits of the arguments and of the result.
    bits: u8,
    /// Arguments.
    count: usize,
    /// The result modulo 2^bits.
    of: fn(&mut Graph, &[NodeId]) -> NodeId,
}

impl Checked {
    /// The function of that name in libgcc and compiler-rt, if its arguments are registers of that many bytes.
    pub fn of(name: &str, word: usize) -> Option<Checked> {
        let (name, bits, count) = match name.strip_prefix("__")? {
            name if name.ends_with("vsi3") => (name, 32, 2),
            name if name.ends_with("vdi3") => (name, 64, 2),
            "negvsi2" => ("negvsi2", 32, 1),
            "negvdi2" => ("negvdi2", 64, 1),
            _ => return None,
        };
        let of: fn(&mut Graph, &[NodeId]) -> NodeId = match &name[..3] {
            "add" => |g, x| g.add(x[0], x[1]),
            "sub" => |g, x| g.sub(x[0], x[1]),
            "mul" => |g, x| g.mul(x[0], x[1]),
            "neg" => |g, x| {
                let zero = g.constant(g.width(x[0]), 0);
                g.sub(zero, x[0])
            },
            _ => return None,
        };
        (name.len() == 7 && usize::from(bits) <= 8 * word).then_some(Checked { bits, count, of })
    }
}

impl<I: InstructionSet> Machine<'_, I> {
    /// Where a conditional branch goes, if it is taken.
    pub fn branch(
        &mut self,
        condition: Value,
        to: impl FnOnce(&mut Self) -> Fallible<Destination>,
    ) -> Fallible<Option<Destination>> {
        let open = |m: &Self, n: NodeId| m.g.value(n).is_none() && !m.g.has_address(n);
        if self.passes_checks && condition.is_some_and(|node| open(self, node)) {
            let to = to(self)?;
            let ways = [to, Destination::Code(self.next.0, self.next.1)];
            let stops = [0, 1].map(|way| self.stops(&ways[way]));
            let [to, _] = ways;
            if stops[0] != stops[1] {
                self.assume_passed();
                return Ok(stops[1].then_some(to));
            }
            let taken = self.concrete(condition, Timing::Branch, "a branch condition")? == 1;
            return Ok(taken.then_some(to));
        }
        let taken = self.concrete(condition, Timing::Branch, "a branch condition")? == 1;
        if taken { to(self).map(Some) } else { Ok(None) }
    }

    /// Whether the instruction there, which no linker changes, is one that stops the program.
    fn stops(&self, at: &Destination) -> bool {
        let &Destination::Code(section, offset) = at else { return false };
        let changed = self.object.touching(section, offset, offset + 4).next().is_some();
        let code = self.object.sections[section].data.get(offset as usize..);
        !changed && code.is_some_and(I::is_trap)
    }

    fn assume_passed(&mut self) {
        if !self.met_checks {
            self.met_checks = true;
            self.assume(format!(
                "no check of the compiler's fails, which would stop the program; the first is at {}",
                self.place()
            ));
        }
    }

    /// Arithmetic that is checked: what it returns if it returns.
    pub(super) fn checked(&mut self, name: &str, function: Checked) -> Fallible<[Byte; 8]> {
        let bytes = usize::from(function.bits) / 8;
        let mut args = Vec::new();
        for i in 0..function.count {
            let Some(arg) = gather(self.g, &self.cpu.argument(i)[..bytes]) else {
                return Err(self.undefined(format!("argument {i} of `{name}`")));
            };
            args.push(arg);
        }
        let node = (function.of)(self.g, &args);
        let mut result = [Byte::Undefined; 8];
        scatter(self.g, node, &mut result[..bytes]);
        self.assume(format!(
            "the linked `{name}` does what the compiler's manual says, in the same time for all operands whose result fits; \
             no result is too large, which would stop the program"
        ));
        Ok(result)
    }
}
