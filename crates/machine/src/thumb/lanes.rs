//! Halves and bytes of a register side by side, and saturation.

use super::Machine;
use super::decode::Instruction;
use super::operation::{Keep, Lanes, Op};
use crate::byte::Byte;
use crate::core::Fallible;
use crate::core::arith::saturating;
use crate::fold::{gather, scatter};
use crate::graph::NodeId;

impl Machine<'_> {
    pub(super) fn lanes(&mut self, ins: &Instruction) -> Fallible<bool> {
        match ins.op {
            Op::Lanes { lanes, signed, keep } => {
                // First byte of a lane of the result and n, of m, and whether it is a difference.
                let (size, plan): (usize, &[(usize, usize, bool)]) = match lanes {
                    Lanes::Add16 => (2, &[(0, 0, false), (2, 2, false)]),
                    Lanes::Sub16 => (2, &[(0, 0, true), (2, 2, true)]),
                    Lanes::Asx => (2, &[(0, 2, true), (2, 0, false)]),
                    Lanes::Sax => (2, &[(0, 2, false), (2, 0, true)]),
                    Lanes::Add8 => {
                        (1, &[(0, 0, false), (1, 1, false), (2, 2, false), (3, 3, false)])
                    }
                    Lanes::Sub8 => (1, &[(0, 0, true), (1, 1, true), (2, 2, true), (3, 3, true)]),
                };
                let (n, m) =
                    (self.cpu.general[usize::from(ins.n)], self.cpu.general[usize::from(ins.m)]);
                let mut bytes = [Byte::Undefined; 4];
                for &(at, from, minus) in plan {
                    let a = gather(self.g, &n[at..at + size]);
                    let b = gather(self.g, &m[from..from + size]);
                    let r = self.both(a, b, |s, a, b| s.lane(a, b, minus, signed, keep));
                    if let Some(r) = r {
                        scatter(self.g, r, &mut bytes[at..at + size]);
                    }
                }
                self.set_bytes(ins.d, bytes)?;
            }
            Op::Saturating { minus, doubles } => {
                let (mut n, m) = (self.value(ins.n)?, self.value(ins.m)?);
                if doubles {
                    n = n.map(|n| saturating(self.g, n, n, false, true));
                }
                let r = self.both(m, n, |s, m, n| saturating(s.g, m, n, minus, true));
                self.put(ins.d, r)?;
            }
            Op::Saturate { signed } => {
                let r = match self.value(ins.n)? {
                    Some(a) => self.moved(a, ins.moved)?.0,
                    None => None,
                };
                let r = r.map(|a| self.clamped(a, ins.last, signed));
                self.put(ins.d, r)?;
            }
            Op::SaturatePair { signed } => {
                let mut bytes = [Byte::Undefined; 4];
                for top in [false, true] {
                    let a = self.half(ins.n, top);
                    if let Some(r) = a.map(|a| self.clamped(a, ins.last, signed)) {
                        let at = 2 * usize::from(top);
                        scatter(self.g, r, &mut bytes[at..at + 2]);
                    }
                }
                self.set_bytes(ins.d, bytes)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn lane(&mut self, a: NodeId, b: NodeId, minus: bool, signed: bool, keep: Keep) -> NodeId {
        match keep {
            Keep::Wraps if minus => self.g.sub(a, b),
            Keep::Wraps => self.g.add(a, b),
            Keep::Saturates => saturating(self.g, a, b, minus, signed),
            Keep::Halves => {
                let w = self.g.width(a);
                let (a, b) = (self.wide(a, signed, 2 * w), self.wide(b, signed, 2 * w));
                let r = if minus { self.g.sub(a, b) } else { self.g.add(a, b) };
                self.g.slice(r, 1, w)
            }
        }
    }

    /// A signed value, saturated to a signed one of `last + 1` bits, or an unsigned one of `last`.
    fn clamped(&mut self, a: NodeId, last: u8, signed: bool) -> NodeId {
        let w = self.g.width(a);
        match (signed, last) {
            (true, _) if last + 1 == w => a,
            (true, _) => {
                let r = self.g.sat_s(a, last + 1);
                self.g.sext(r, w)
            }
            (false, 0) => self.g.constant(w, 0),
            (false, _) => {
                let r = self.g.sat_u(a, last);
                self.g.zext(r, w)
            }
        }
    }
}
