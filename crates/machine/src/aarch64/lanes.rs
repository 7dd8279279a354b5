//! What all vector instructions share: shapes of operands, lanes, results.

use super::{Machine, Wide};
use crate::byte::Byte;
use crate::core::Fallible;
use crate::core::bits::fill_unknown;
use crate::fold::{gather, scatter};
use crate::graph::{Graph, NodeId};
use fARM64::{Operand, Register};

/// Lanes of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    /// Bytes of one.
    pub lane: usize,
    /// How many.
    pub count: usize,
}

impl Shape {
    pub fn size(self) -> usize {
        self.lane * self.count
    }
}

/// The lanes of an operand, each of that many bytes.
pub(super) struct Lanes {
    pub lane: usize,
    bytes: Vec<Byte>,
    /// Whether all lanes are this one.
    single: bool,
}

impl Lanes {
    /// Lane `k`.
    pub fn get(&self, k: usize) -> &[Byte] {
        let k = if self.single { 0 } else { k };
        &self.bytes[k * self.lane..(k + 1) * self.lane]
    }
}

impl Machine<'_> {
    /// Register and shape of operand `i`, a vector or a scalar in a vector register.
    pub(super) fn shape(&self, i: usize) -> Fallible<(usize, Shape)> {
        match self.now.ins.op(i) {
            Operand::Reg { reg, arr, lane: None, shift: None, extend: None, pred: None }
                if reg.is_simd() =>
            {
                let shape = match arr {
                    Some(arr) if !arr.is_scalable() => Shape {
                        lane: usize::from(arr.element_bits() / 8),
                        count: usize::from(arr.element_count()),
                    },
                    None if !is_whole(reg) => {
                        Shape { lane: usize::from(reg.width_bits() / 8), count: 1 }
                    }
                    _ => return Err(self.form()),
                };
                Ok((usize::from(reg.number()), shape))
            }
            _ => Err(self.form()),
        }
    }

    /// Register, bytes and number of the lane that is operand `i`.
    pub(super) fn element(&self, i: usize) -> Fallible<(usize, usize, usize)> {
        match self.now.ins.op(i) {
            Operand::Reg { reg, arr: Some(arr), lane: Some(at), .. } if reg.is_simd() => {
                let size = usize::from(arr.element_bits() / 8);
                let at = usize::from(at);
                if size == 0 || (at + 1) * size > 16 {
                    return Err(self.form());
                }
                Ok((usize::from(reg.number()), size, at))
            }
            _ => Err(self.form()),
        }
    }

    /// Whether operand `i` is one lane of a register.
    pub(super) fn is_element(&self, i: usize) -> bool {
        matches!(self.now.ins.op(i), Operand::Reg { lane: Some(_), .. })
    }

    /// The bytes of vector operand `i`.
    pub(super) fn vector_bytes(&self, i: usize) -> Fallible<Vec<Byte>> {
        let (r, shape) = self.shape(i)?;
        Ok(self.cpu.vector[r][..shape.size()].to_vec())
    }

    /// Operand `i` as `count` lanes of `lane` bytes: a vector, one lane for all, or the immediate zero.
    pub(super) fn lanes(&self, i: usize, lane: usize, count: usize) -> Fallible<Lanes> {
        if self.is_element(i) {
            let (r, size, at) = self.element(i)?;
            if size != lane {
                return Err(self.form());
            }
            let bytes = self.cpu.vector[r][at * size..(at + 1) * size].to_vec();
            return Ok(Lanes { lane, bytes, single: true });
        }
        if let Operand::ImmUnsigned(0) = self.now.ins.op(i) {
            return Ok(Lanes { lane, bytes: vec![Byte::Const(0); lane], single: true });
        }
        let (r, shape) = self.shape(i)?;
        if shape != (Shape { lane, count }) {
            return Err(self.form());
        }
        let bytes = self.cpu.vector[r][..shape.size()].to_vec();
        Ok(Lanes { lane, bytes, single: false })
    }

    /// The upper or lower half of the lanes of operand `i`: `count` lanes of `lane` bytes. An
    /// element operand gives one value for every lane. A short vector is taken whole; of a long
    /// one, the half that `upper` selects.
    pub(super) fn half(&self, i: usize, lane: usize, count: usize, upper: bool) -> Fallible<Lanes> {
        if self.is_element(i) {
            return self.lanes(i, lane, count);
        }
        let (r, shape) = self.shape(i)?;
        if shape.lane != lane || shape.count != if upper { 2 * count } else { count } {
            return Err(self.form());
        }
        let start = if upper { lane * count } else { 0 };
        let bytes = self.cpu.vector[r][start..start + lane * count].to_vec();
        Ok(Lanes { lane, bytes, single: false })
    }

    /// Writes vector operand 0; what lies above is cleared.
    pub(super) fn set_vector(&mut self, bytes: &[Byte]) -> Fallible<()> {
        let (r, shape) = self.shape(0)?;
        if shape.size() != bytes.len() {
            return Err(self.form());
        }
        self.set_wide(r, bytes);
        Ok(())
    }

    /// Writes a vector register's low bytes and clears the rest.
    pub(super) fn set_wide(&mut self, r: usize, bytes: &[Byte]) {
        let mut wide: Wide = [Byte::Const(0); 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        self.cpu.vector[r] = wide;
    }

    /// A lane made of lanes: undefined if one of them is.
    pub(super) fn apply(
        &mut self,
        out: &mut [Byte],
        inputs: &[&[Byte]],
        f: impl Fn(&mut Graph, &[NodeId]) -> NodeId,
    ) {
        if inputs.iter().all(|x| self.g.knows_nothing(x)) {
            return fill_unknown(self.g, out);
        }
        let mut nodes = [NodeId(0); 4];
        for (node, x) in nodes.iter_mut().zip(inputs) {
            match gather(self.g, x) {
                Some(n) => *node = n,
                None => return out.fill(Byte::Undefined),
            }
        }
        let r = f(self.g, &nodes[..inputs.len()]);
        scatter(self.g, r, out);
    }

    /// `f` on each lane of operand 1.
    pub(super) fn mapped(&mut self, f: impl Fn(&mut Graph, NodeId) -> NodeId) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let a = self.lanes(1, s.lane, s.count)?;
        let mut out = vec![Byte::Undefined; s.size()];
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            self.apply(lane, &[a.get(k)], |g, x| f(g, x[0]));
        }
        self.set_vector(&out)
    }

    /// `f` on each pair of lanes of operands 1 and 2.
    pub(super) fn lanewise(
        &mut self,
        f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let (a, b) = (self.lanes(1, s.lane, s.count)?, self.lanes(2, s.lane, s.count)?);
        let mut out = vec![Byte::Undefined; s.size()];
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            self.apply(lane, &[a.get(k), b.get(k)], |g, x| f(g, x[0], x[1]));
        }
        self.set_vector(&out)
    }

    /// `f` on each lane of operands 0, 1 and 2.
    pub(super) fn accumulating(
        &mut self,
        f: impl Fn(&mut Graph, NodeId, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let c = self.lanes(0, s.lane, s.count)?;
        let (a, b) = (self.lanes(1, s.lane, s.count)?, self.lanes(2, s.lane, s.count)?);
        let mut out = vec![Byte::Undefined; s.size()];
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            self.apply(lane, &[c.get(k), a.get(k), b.get(k)], |g, x| f(g, x[0], x[1], x[2]));
        }
        self.set_vector(&out)
    }

    /// Lanes of operand 0 made of the lanes of half their width in operands 1 and 2; `wide`: operand 1
    /// has whole ones. `f` is also given the old lane.
    pub(super) fn long(
        &mut self,
        upper: bool,
        wide: bool,
        f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
        join: Option<fn(&mut Graph, NodeId, NodeId) -> NodeId>,
    ) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let half = s.lane / 2;
        let a = if wide {
            self.lanes(1, s.lane, s.count)?
        } else {
            self.half(1, half, s.count, upper)?
        };
        let b = self.half(2, half, s.count, upper)?;
        let c = self.lanes(0, s.lane, s.count)?;
        let mut out = vec![Byte::Undefined; s.size()];
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            match join {
                Some(join) => self.apply(lane, &[c.get(k), a.get(k), b.get(k)], |g, x| {
                    let r = f(g, x[1], x[2]);
                    join(g, x[0], r)
                }),
                None => self.apply(lane, &[a.get(k), b.get(k)], |g, x| f(g, x[0], x[1])),
            }
        }
        self.set_vector(&out)
    }

    /// Lanes of operand 0 made of the lanes of twice their width in the operands behind it; `upper`:
    /// written to the upper half, and the lower one stays.
    pub(super) fn narrow(
        &mut self,
        upper: bool,
        sources: usize,
        f: impl Fn(&mut Graph, &[NodeId]) -> NodeId,
    ) -> Fallible<()> {
        let (r, s) = self.shape(0)?;
        let count = if upper { s.count / 2 } else { s.count };
        let mut inputs = Vec::new();
        for i in 1..=sources {
            inputs.push(self.lanes(i, 2 * s.lane, count)?);
        }
        let mut out = vec![Byte::Undefined; s.lane * count];
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            let parts: Vec<&[Byte]> = inputs.iter().map(|x| x.get(k)).collect();
            self.apply(lane, &parts, &f);
        }
        if upper {
            let mut whole = self.cpu.vector[r][..8].to_vec();
            whole.extend(out);
            out = whole;
        }
        self.set_vector(&out)
    }

    /// Pairs of neighbours: of operand 1 alone (a scalar result, or lanes of twice the width), or of
    /// operands 1 and 2 one behind the other.
    pub(super) fn pairs(
        &mut self,
        f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let mut all = Vec::new();
        for i in 1..self.now.ins.op_count() {
            all.extend(self.vector_bytes(i)?);
        }
        if all.len() != 2 * s.size() {
            return Err(self.form());
        }
        let mut out = vec![Byte::Undefined; s.size()];
        for (lane, pair) in out.chunks_mut(s.lane).zip(all.chunks(2 * s.lane)) {
            let (x, y) = pair.split_at(s.lane);
            self.apply(lane, &[x, y], |g, x| f(g, x[0], x[1]));
        }
        self.set_vector(&out)
    }
}

/// Whether a register name says nothing of lanes.
fn is_whole(r: Register) -> bool {
    (Register::V0 as u16..=Register::V31 as u16).contains(&(r as u16))
}
