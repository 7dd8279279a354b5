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
            C::l | C::ge => (self.less(f)?, code == C::ge),
            C::le | C::g => {
                let node = match (f.overflow, f.zero) {
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
                (node, code == C::g)
            }
            C::None => return Err(self.unsupported("a condition that is none")),
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
}
