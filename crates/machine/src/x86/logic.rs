//! Bitwise vector operations, blends by mask, tests.

use super::flags::{Flag, Flags};
use super::{Fallible, Machine, Wide};
use crate::byte::Byte;
use crate::fold::{gather, is_run, scatter};
use crate::graph::{Graph, NodeId, Op};
use iced_x86::{Instruction, Mnemonic as M, OpKind};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bitwise {
    And,
    AndNot,
    Or,
    Xor,
}

/// What two bytes give without looking at the data, if anything.
fn decided(kind: Bitwise, x: Byte, y: Byte) -> Option<Byte> {
    use Byte::Const;
    Some(match (kind, x, y) {
        (Bitwise::And, Const(a), Const(b)) => Const(a & b),
        (Bitwise::AndNot, Const(a), Const(b)) => Const(!a & b),
        (Bitwise::Or, Const(a), Const(b)) => Const(a | b),
        (Bitwise::Xor, Const(a), Const(b)) => Const(a ^ b),
        (Bitwise::And, Const(0), _) | (Bitwise::And, _, Const(0)) => Const(0),
        (Bitwise::And, Const(255), z) | (Bitwise::And, z, Const(255)) => z,
        (Bitwise::AndNot, Const(255), _) | (Bitwise::AndNot, _, Const(0)) => Const(0),
        (Bitwise::AndNot, Const(0), z) => z,
        (Bitwise::Or, Const(255), _) | (Bitwise::Or, _, Const(255)) => Const(255),
        (Bitwise::Or, Const(0), z) | (Bitwise::Or, z, Const(0)) => z,
        (Bitwise::Xor, Const(0), z) | (Bitwise::Xor, z, Const(0)) => z,
        _ => return None,
    })
}

/// One byte of a bitwise operation.
pub(super) fn bit_byte(g: &mut Graph, kind: Bitwise, x: Byte, y: Byte) -> Byte {
    if let Some(byte) = decided(kind, x, y) {
        return byte;
    }
    match (gather(g, &[x]), gather(g, &[y])) {
        (Some(x), Some(y)) => {
            let r = combine(g, kind, x, y);
            crate::fold::byte_of(g, r, 0)
        }
        _ => Byte::Undefined,
    }
}

fn combine(g: &mut Graph, kind: Bitwise, a: NodeId, b: NodeId) -> NodeId {
    match kind {
        Bitwise::And => g.and(a, b),
        Bitwise::AndNot => {
            let a = g.not(a);
            g.and(a, b)
        }
        Bitwise::Or => g.or(a, b),
        Bitwise::Xor => g.xor(a, b),
    }
}

/// Whether every bit of the node is one condition.
fn is_mask(g: &Graph, id: NodeId) -> bool {
    let node = g.node(id);
    match node.op {
        Op::Sext => g.width(node.args[0]) == 1,
        Op::Ashr(c) => c + 1 == node.width,
        _ => false,
    }
}

/// Whether a lane may end before byte `at` of `bytes`: no node runs across.
fn boundary(bytes: &[Byte], at: usize) -> bool {
    at >= bytes.len()
        || match (bytes[at - 1], bytes[at]) {
            (Byte::Node(x, i), Byte::Node(y, j)) => x != y || i + 1 != j,
            _ => true,
        }
}

impl Machine<'_> {
    pub(super) fn logic(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Pand | M::Vpand | M::Andps | M::Vandps | M::Andpd | M::Vandpd => {
                self.bitwise_vector(Bitwise::And)?;
            }
            M::Pandn | M::Vpandn | M::Andnps | M::Vandnps | M::Andnpd | M::Vandnpd => {
                self.bitwise_vector(Bitwise::AndNot)?;
            }
            M::Por | M::Vpor | M::Orps | M::Vorps | M::Orpd | M::Vorpd => {
                self.bitwise_vector(Bitwise::Or)?;
            }
            M::Pxor | M::Vpxor | M::Xorps | M::Vxorps | M::Xorpd | M::Vxorpd => {
                self.bitwise_vector(Bitwise::Xor)?;
            }
            M::Pblendvb | M::Vpblendvb => self.blend_by_sign(1)?,
            M::Blendvps | M::Vblendvps => self.blend_by_sign(4)?,
            M::Blendvpd | M::Vblendvpd => self.blend_by_sign(8)?,
            M::Ptest | M::Vptest => self.test()?,
            M::Pmovmskb | M::Vpmovmskb => self.sign_bits(1)?,
            M::Movmskps | M::Vmovmskps => self.sign_bits(4)?,
            M::Movmskpd | M::Vmovmskpd => self.sign_bits(8)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Bits have no lanes, so the lanes are read off the data: cut where nodes of both operands
    /// end. Bytes that a constant decides are moved, also beside undefined ones.
    fn bitwise_vector(&mut self, kind: Bitwise) -> Fallible<()> {
        let s = self.sources()?;
        if s.same {
            match kind {
                Bitwise::Xor | Bitwise::AndNot => return self.set_all(0, s.size),
                Bitwise::And | Bitwise::Or => return self.set_vector(0, &s.a, s.size),
            }
        }
        let mut out = [Byte::Undefined; 32];
        let mut at = 0;
        while at < s.size {
            let whole = at..at + 8;
            if at.is_multiple_of(8)
                && self.g.knows_nothing(&s.a[whole.clone()])
                && self.g.knows_nothing(&s.b[whole.clone()])
            {
                self.fill_unknown(&mut out[whole]);
                at += 8;
                continue;
            }
            let n = self.bit_lane(&s.a[at..s.size], &s.b[at..s.size], at);
            let (x, y) = (&s.a[at..at + n], &s.b[at..at + n]);
            if n == 1
                && let Some(byte) = decided(kind, x[0], y[0])
            {
                out[at] = byte;
            } else if let (Some(x), Some(y)) = (gather(self.g, x), gather(self.g, y)) {
                let r = combine(self.g, kind, x, y);
                scatter(self.g, r, &mut out[at..at + n]);
            }
            at += n;
        }
        self.set_vector(0, &out, s.size)
    }

    /// Length of the lane that starts here: a mask's own if one operand is a mask, else up to
    /// where both operands' nodes end; at most 8 and never across a multiple of 8.
    fn bit_lane(&self, a: &[Byte], b: &[Byte], at: usize) -> usize {
        let most = (8 - at % 8).min(a.len());
        for n in [2, 4, 8] {
            if n <= most && at.is_multiple_of(n) {
                for side in [a, b] {
                    if let Some((id, 0)) = is_run(&side[..n])
                        && usize::from(self.g.width(id)) == 8 * n
                        && is_mask(self.g, id)
                    {
                        return n;
                    }
                }
            }
        }
        let undefined = |n: usize| a[n - 1] == Byte::Undefined || b[n - 1] == Byte::Undefined;
        if undefined(1) {
            return 1;
        }
        for n in 1..most {
            let cut = boundary(a, n) && boundary(b, n);
            if undefined(n + 1) || cut {
                return n;
            }
        }
        most
    }

    /// Destination, two sources and a mask whose lanes' top bits choose the second.
    fn blend_by_sign(&mut self, lane: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        let (a, b, mask): (Wide, Wide, Wide) = if self.is_vex() {
            if self.ins.op_kind(3) != OpKind::Register {
                return Err(self.unsupported("operand form"));
            }
            (
                self.vector_operand(1, size)?,
                self.vector_operand(2, size)?,
                self.vector_operand(3, size)?,
            )
        } else {
            (self.vector_operand(0, size)?, self.vector_operand(1, size)?, self.vec[0])
        };
        let mut out = [Byte::Undefined; 32];
        let mut at = 0;
        while at < size {
            // Lanes that share one condition are chosen together, which keeps values whole.
            let mut n = lane;
            for m in [8, 4, 2] {
                if m > lane
                    && at.is_multiple_of(m)
                    && let Some((id, 0)) = is_run(&mask[at..at + m])
                    && usize::from(self.g.width(id)) == 8 * m
                    && is_mask(self.g, id)
                {
                    n = m;
                    break;
                }
            }
            let range = at..at + n;
            let decision = match mask[at + n - 1] {
                Byte::Const(c) => Ok(c & 0x80 != 0),
                top => Err(top),
            };
            match decision {
                Ok(second) => {
                    let source = if second { &b } else { &a };
                    out[range.clone()].copy_from_slice(&source[range]);
                }
                Err(top) => {
                    let c = gather(self.g, &[top]).map(|t| self.g.slice(t, 7, 1));
                    let x = gather(self.g, &a[range.clone()]);
                    let y = gather(self.g, &b[range.clone()]);
                    if let (Some(c), Some(x), Some(y)) = (c, x, y) {
                        let r = self.g.select(c, y, x);
                        scatter(self.g, r, &mut out[range]);
                    }
                }
            }
            at += n;
        }
        self.set_vector(0, &out, size)
    }

    /// Zero flag: no bit in common; carry flag: no bit of operand 1 outside operand 0.
    fn test(&mut self) -> Fallible<()> {
        let size = self.vector_size(0);
        if !self.is_vector(0) {
            return Err(self.unsupported("operand form"));
        }
        let (a, b) = (self.vector_operand(0, size)?, self.vector_operand(1, size)?);
        let mut zero = self.g.constant(64, 0);
        let mut carry = zero;
        let mut known = true;
        for at in (0..size).step_by(8) {
            let (x, y) = (self.lane(&a[at..at + 8]), self.lane(&b[at..at + 8]));
            let (Some(x), Some(y)) = (x, y) else {
                known = false;
                break;
            };
            let both = self.g.and(x, y);
            zero = self.g.or(zero, both);
            let outside = self.g.not(x);
            let outside = self.g.and(outside, y);
            carry = self.g.or(carry, outside);
        }
        let no = Flag::Bit(self.g.constant(1, 0));
        let flag = |r| if known { Flag::Zero(r) } else { Flag::Undefined };
        self.flags =
            Flags { carry: flag(carry), zero: flag(zero), parity: no, sign: no, overflow: no };
        Ok(())
    }

    /// Top bits of the lanes of operand 1 into a general register.
    fn sign_bits(&mut self, lane: usize) -> Fallible<()> {
        let size = self.vector_size(1);
        if !self.is_vector(1) {
            return Err(self.unsupported("operand form"));
        }
        let a = self.vector_operand(1, size)?;
        let mut bits: Vec<NodeId> = Vec::new();
        for at in (0..size).step_by(lane) {
            match gather(self.g, &[a[at + lane - 1]]) {
                Some(top) => bits.push(self.g.slice(top, 7, 1)),
                None => {
                    let to = self.width_of(0);
                    return self.write(0, to, None);
                }
            }
        }
        let mut value = bits[0];
        for &bit in &bits[1..] {
            value = self.g.concat(&[value, bit]);
        }
        let to = self.width_of(0);
        let value = self.g.zext(value, to);
        self.write(0, to, Some(value))
    }
}
