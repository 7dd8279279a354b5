//! Concrete evaluation of terms: the meaning of every [`Op`], in one small place.
//!
//! Shares no code with the folding constructors, so that each tests the other.

use crate::graph::{Graph, NodeId, Op};
use rustc_hash::FxHashMap;

/// A term holds an address, which has no number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("node {} is an address and has no number", .0.0)]
pub struct HasAddress(pub NodeId);

/// Terms prepared for evaluation: the nodes below some roots in topological order.
pub struct Tape {
    steps: Vec<Step>,
    roots: Vec<u32>,
    nodes: Vec<NodeId>,
}

struct Step {
    op: Op,
    width: u8,
    /// Widths of the arguments and their slots in the tape.
    args: Vec<(u8, u32)>,
}

impl Tape {
    /// Prepares the terms `roots`.
    ///
    /// # Errors
    /// If one of them depends on an address.
    pub fn new(graph: &Graph, roots: &[NodeId]) -> Result<Tape, HasAddress> {
        let mut needed: Vec<NodeId> = Vec::new();
        let mut seen: FxHashMap<NodeId, u32> = FxHashMap::default();
        let mut stack: Vec<NodeId> = roots.to_vec();
        while let Some(id) = stack.pop() {
            if seen.insert(id, 0).is_none() {
                if matches!(graph.node(id).op, Op::Address { .. }) {
                    return Err(HasAddress(id));
                }
                needed.push(id);
                stack.extend_from_slice(&graph.node(id).args);
            }
        }
        needed.sort_unstable();
        for (slot, id) in needed.iter().enumerate() {
            seen.insert(*id, slot as u32);
        }
        let steps = needed
            .iter()
            .map(|&id| {
                let node = graph.node(id);
                let args = node.args.iter().map(|a| (graph.node(*a).width, seen[a])).collect();
                Step { op: node.op.clone(), width: node.width, args }
            })
            .collect();
        Ok(Tape { steps, roots: roots.iter().map(|r| seen[r]).collect(), nodes: needed })
    }

    /// The nodes that are evaluated, in increasing order; parallel to [`Tape::values`].
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// Values of the roots; `input(operand, index)` gives an input element (only its low bits
    /// count). Values are unsigned, below 2^width.
    pub fn run(&self, mut input: impl FnMut(u16, u32) -> u64) -> Vec<u64> {
        let values = self.values(1, &mut |operand, index, out| out[0] = input(operand, index));
        self.roots.iter().map(|&r| values[r as usize]).collect()
    }

    /// Values of the roots for `batch` assignments at once: `input(operand, index, out)` fills an
    /// input element's value in each. The result is indexed `[root][assignment]`.
    pub fn run_batch(
        &self,
        batch: usize,
        input: &mut dyn FnMut(u16, u32, &mut [u64]),
    ) -> Vec<Vec<u64>> {
        let values = self.values(batch, input);
        self.roots.iter().map(|&r| values[r as usize * batch..][..batch].to_vec()).collect()
    }

    /// Values of *all* nodes below the roots for `batch` assignments, at
    /// `[slot · batch + assignment]`, where `slot` is the position in [`Tape::nodes`].
    pub fn values(&self, batch: usize, input: &mut dyn FnMut(u16, u32, &mut [u64])) -> Vec<u64> {
        let mut values = vec![0u64; self.steps.len() * batch];
        for (slot, step) in self.steps.iter().enumerate() {
            let (before, rest) = values.split_at_mut(slot * batch);
            let out = &mut rest[..batch];
            let ones = u64::MAX >> (64 - step.width);
            if let Op::Input { operand, index } = step.op {
                input(operand, index, out);
                out.iter_mut().for_each(|v| *v &= ones);
                continue;
            }
            for (j, v) in out.iter_mut().enumerate() {
                let arg = |i: usize| before[step.args[i].1 as usize * batch + j];
                *v = step.apply(&arg) & ones;
            }
        }
        values
    }
}

impl Step {
    /// The value; bits above the width are the caller's to drop.
    fn apply(&self, arg: &dyn Fn(usize) -> u64) -> u64 {
        let wide = |i: usize| {
            let unused = 64 - u32::from(self.args[i].0);
            ((arg(i) << unused) as i64) >> unused
        };
        match self.op {
            Op::Const(c) => c,
            Op::Input { .. } | Op::Address { .. } => unreachable!("handled by the tape"),
            Op::Slice { lo } => arg(0) >> lo,
            Op::Concat => {
                let (mut value, mut at) = (0, 0);
                for (i, (w, _)) in self.args.iter().enumerate() {
                    value |= arg(i) << at;
                    at += w;
                }
                value
            }
            Op::Sext => wide(0) as u64,
            Op::Zext => arg(0),
            Op::Add => arg(0).wrapping_add(arg(1)),
            Op::Sub => arg(0).wrapping_sub(arg(1)),
            Op::Mul => arg(0).wrapping_mul(arg(1)),
            Op::And => arg(0) & arg(1),
            Op::Or => arg(0) | arg(1),
            Op::Xor => arg(0) ^ arg(1),
            Op::Shl(c) => arg(0) << c,
            Op::Lshr(c) => arg(0) >> c,
            Op::Ashr(c) => (wide(0) >> c) as u64,
            Op::Eq => u64::from(arg(0) == arg(1)),
            Op::Ult => u64::from(arg(0) < arg(1)),
            Op::Slt => u64::from(wide(0) < wide(1)),
            Op::Select => {
                if arg(0) == 1 {
                    arg(1)
                } else {
                    arg(2)
                }
            }
            Op::SatS => {
                let top = (1i128 << (self.width - 1)) - 1;
                i128::from(wide(0)).clamp(-1 - top, top) as u64
            }
            Op::SatU => i128::from(wide(0)).clamp(0, (1i128 << self.width) - 1) as u64,
        }
    }
}
