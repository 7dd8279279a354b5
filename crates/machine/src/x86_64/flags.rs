//! The five flags that arithmetic sets, and conditions of them.

use super::{Fallible, Machine};
use crate::core::flags::Flag;
use crate::graph::NodeId;
use iced_x86::ConditionCode;

#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Flags {
    pub carry: Flag,
    pub parity: Flag,
    pub zero: Flag,
    pub sign: Flag,
    pub overflow: Flag,
}

impl Flags {
    /// Zero, sign and parity of a result; carry and overflow as given.
    pub fn of(r: NodeId, carry: Flag, overflow: Flag) -> Flags {
        Flags { carry, parity: Flag::Parity(r), zero: Flag::Zero(r), sign: Flag::Sign(r), overflow }
    }
}

impl Machine<'_> {
    /// The condition of a `jcc`, `setcc` or `cmovcc`, one bit.
    pub(super) fn condition(&mut self, code: ConditionCode) -> Fallible<NodeId> {
        use ConditionCode as C;
        let f = self.cpu.flags;
        let (node, negate) = match code {
            C::o => (self.flag(f.overflow)?, false),
            C::no => (self.flag(f.overflow)?, true),
            C::b => (self.flag(f.carry)?, false),
            C::ae => (self.flag(f.carry)?, true),
            C::e => (self.flag(f.zero)?, false),
            C::ne => (self.flag(f.zero)?, true),
            C::be | C::a => {
                let node = match (f.carry, f.zero) {
                    // One comparison set both.
                    (Flag::Below(a, b), zero)
                        if zero == Flag::Equal(a, b) && self.known(&[a, b]) =>
                    {
                        let above = self.ult(b, a);
                        self.g.not(above)
                    }
                    _ => {
                        let (c, z) = (self.flag(f.carry)?, self.flag(f.zero)?);
                        self.g.or(c, z)
                    }
                };
                (node, code == C::a)
            }
            C::s => (self.flag(f.sign)?, false),
            C::ns => (self.flag(f.sign)?, true),
            C::p => (self.flag(f.parity)?, false),
            C::np => (self.flag(f.parity)?, true),
            C::l | C::ge => (self.less(f.sign, f.overflow)?, code == C::ge),
            C::le | C::g => (self.at_most(f.sign, f.zero, f.overflow)?, code == C::g),
            C::None => return Err(self.unsupported("a condition that is none")),
        };
        Ok(if negate { self.g.not(node) } else { node })
    }
}
