//! Vector shifts within lanes.

use super::{Fallible, Machine, UNDEFINED};
use crate::core::bits::{Shift, barrel, fill_unknown, shift_lane};
use crate::fold::{gather, scatter};
use crate::graph::{Graph, NodeId};
use iced_x86::{Instruction, Mnemonic as M, OpKind};

/// `a` shifted by the count modulo its width, to the left or right; bits of `b` move in. If the
/// count is not constant, the shift goes by its bits one at a time.
fn funnel(g: &mut Graph, a: NodeId, b: NodeId, count: NodeId, left: bool) -> NodeId {
    let w = g.width(a);
    let by = |g: &mut Graph, (a, b): (NodeId, NodeId), c: u8| {
        if c == 0 {
            return a;
        }
        // The lower of the two, and where in it the result begins.
        let (low, high, from) = if left { (b, a, w - c) } else { (a, b, c) };
        let (low, high) = (g.slice(low, from, w - from), g.slice(high, 0, from));
        g.concat(&[low, high])
    };
    if let Some(c) = g.value(count) {
        return by(g, (a, b), (c % u64::from(w)) as u8);
    }
    let (mut a, mut b) = (a, b);
    for i in 0..w.trailing_zeros() as u8 {
        let bit = g.slice(count, i, 1);
        let zero = g.constant(w, 0);
        let (moved, rest) = (by(g, (a, b), 1 << i), by(g, (b, zero), 1 << i));
        (a, b) = (g.select(bit, moved, a), g.select(bit, rest, b));
    }
    a
}

impl Machine<'_> {
    pub(super) fn shifts(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Psllw | M::Vpsllw => self.shift_vector(Shift::Left, 2)?,
            M::Pslld | M::Vpslld => self.shift_vector(Shift::Left, 4)?,
            M::Psllq | M::Vpsllq => self.shift_vector(Shift::Left, 8)?,
            M::Psrlw | M::Vpsrlw => self.shift_vector(Shift::Logical, 2)?,
            M::Psrld | M::Vpsrld => self.shift_vector(Shift::Logical, 4)?,
            M::Psrlq | M::Vpsrlq => self.shift_vector(Shift::Logical, 8)?,
            M::Psraw | M::Vpsraw => self.shift_vector(Shift::Arithmetic, 2)?,
            M::Psrad | M::Vpsrad => self.shift_vector(Shift::Arithmetic, 4)?,
            M::Vpsraq => self.shift_vector(Shift::Arithmetic, 8)?,
            M::Vpsllvw => self.lanewise(2, |g, a, c| barrel(g, Shift::Left, a, c))?,
            M::Vpsllvd => self.lanewise(4, |g, a, c| barrel(g, Shift::Left, a, c))?,
            M::Vpsllvq => self.lanewise(8, |g, a, c| barrel(g, Shift::Left, a, c))?,
            M::Vpsrlvw => self.lanewise(2, |g, a, c| barrel(g, Shift::Logical, a, c))?,
            M::Vpsrlvd => self.lanewise(4, |g, a, c| barrel(g, Shift::Logical, a, c))?,
            M::Vpsrlvq => self.lanewise(8, |g, a, c| barrel(g, Shift::Logical, a, c))?,
            M::Vpsravw => self.lanewise(2, |g, a, c| barrel(g, Shift::Arithmetic, a, c))?,
            M::Vpsravd => self.lanewise(4, |g, a, c| barrel(g, Shift::Arithmetic, a, c))?,
            M::Vpsravq => self.lanewise(8, |g, a, c| barrel(g, Shift::Arithmetic, a, c))?,
            M::Vprold => self.turn(4, true)?,
            M::Vprolq => self.turn(8, true)?,
            M::Vprord => self.turn(4, false)?,
            M::Vprorq => self.turn(8, false)?,
            M::Vprolvd => self.lanewise(4, |g, a, c| funnel(g, a, a, c, true))?,
            M::Vprolvq => self.lanewise(8, |g, a, c| funnel(g, a, a, c, true))?,
            M::Vprorvd => self.lanewise(4, |g, a, c| funnel(g, a, a, c, false))?,
            M::Vprorvq => self.lanewise(8, |g, a, c| funnel(g, a, a, c, false))?,
            M::Vpshldw => self.double_shift_by(2, true)?,
            M::Vpshldd => self.double_shift_by(4, true)?,
            M::Vpshldq => self.double_shift_by(8, true)?,
            M::Vpshrdw => self.double_shift_by(2, false)?,
            M::Vpshrdd => self.double_shift_by(4, false)?,
            M::Vpshrdq => self.double_shift_by(8, false)?,
            M::Vpshldvw => self.accumulate(2, |g, a, b, c| funnel(g, a, b, c, true))?,
            M::Vpshldvd => self.accumulate(4, |g, a, b, c| funnel(g, a, b, c, true))?,
            M::Vpshldvq => self.accumulate(8, |g, a, b, c| funnel(g, a, b, c, true))?,
            M::Vpshrdvw => self.accumulate(2, |g, a, b, c| funnel(g, a, b, c, false))?,
            M::Vpshrdvd => self.accumulate(4, |g, a, b, c| funnel(g, a, b, c, false))?,
            M::Vpshrdvq => self.accumulate(8, |g, a, b, c| funnel(g, a, b, c, false))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Lanes turned by an immediate.
    fn turn(&mut self, lane: usize, left: bool) -> Fallible<()> {
        let count = u64::from(self.imm8()?);
        self.mapped(lane, |g, a| {
            let count = g.constant(8, count);
            funnel(g, a, a, count, left)
        })
    }

    /// Lanes of operands 1 and 2 beside each other, shifted by an immediate.
    fn double_shift_by(&mut self, lane: usize, left: bool) -> Fallible<()> {
        let count = u64::from(self.imm8()?);
        self.lanewise(lane, |g, a, b| {
            let count = g.constant(8, count);
            funnel(g, a, b, count, left)
        })
    }

    /// Count as an immediate, or in the low 64 bits of a register or of memory (where counts from
    /// the width on shift everything out, however large).
    fn shift_vector(&mut self, kind: Shift, lane: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        if !self.is_vector(0) {
            return Err(self.unsupported("operand form"));
        }
        let (source, count) = if self.is_vex() { (1, 2) } else { (0, 1) };
        let count = match self.now.ins.op_kind(count) {
            OpKind::Immediate8 => u64::from(self.now.ins.immediate8()),
            _ => {
                let bytes = self.vector_operand(count, 16)?;
                let node = gather(self.g, &bytes[..8]);
                match node.map(|n| self.g.value(n)) {
                    Some(Some(c)) => c,
                    Some(None) => {
                        return Err(self.unsupported("a vector shift whose count is no constant"));
                    }
                    None => return Err(self.undefined("the count of a shift")),
                }
            }
        };
        let a = self.vector_operand(source, size)?;
        let mut out = UNDEFINED;
        for at in (0..size).step_by(lane) {
            let range = at..at + lane;
            if count < 8 * lane as u64 && self.g.knows_nothing(&a[range.clone()]) {
                fill_unknown(self.g, &mut out[range]);
            } else if let Some(r) = shift_lane(self.g, kind, &a[range.clone()], count) {
                scatter(self.g, r, &mut out[range]);
            }
        }
        self.set_vector(0, &out, size)
    }
}
