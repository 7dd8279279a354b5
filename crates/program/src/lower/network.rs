//! A network with its placed reductions as operations of a block.

use super::{LowerError, Lowering, unsupported};
use crate::ir::*;
use crate::place::{Placement, Task, place, shift_of};
use crate::rebase::rebased;
use crate::settle::Choices;
use ringforge_plan::{Arith, Group, NetOp, Network, Val};
use std::collections::BTreeSet;

/// Whether a group in place reads every block before it writes over it where blocks are loaded at their first use.
pub(super) fn reads_first(group: &Group) -> bool {
    let (mut loaded, mut written) = (BTreeSet::new(), BTreeSet::new());
    let live = group.net.live(&group.outputs);
    let mut stays = true;
    let mut load = |v: Val, written: &BTreeSet<usize>| {
        if let NetOp::Input(i) = group.net.op(v)
            && loaded.insert(i)
        {
            stays &= !written.contains(&group.from[i]);
        }
    };
    for &v in live.iter().filter(|&&v| !matches!(group.net.op(v), NetOp::Input(_))) {
        group.net.op(v).operands().for_each(|a| load(a, &written));
        let stored = group.outputs.iter().zip(&group.to).filter(|(output, _)| **output == v);
        written.extend(stored.map(|(_, &place)| place));
    }
    // Inputs that are outputs as they are come last.
    for (&v, &place) in group.outputs.iter().zip(&group.to) {
        load(v, &written);
        if matches!(group.net.op(v), NetOp::Input(_)) {
            written.insert(place);
        }
    }
    stays
}

/// The distance between consecutive groups in blocks, where all are the same network on evenly spaced blocks: a loop then.
pub(super) fn stride(groups: &[Group]) -> Option<(usize, usize)> {
    let (first, second) = (groups.first()?, groups.get(1)?);
    let from = second.from[0].checked_sub(first.from[0])?;
    let to = second.to.first()?.checked_sub(*first.to.first()?)?;
    let alike = groups.iter().enumerate().all(|(i, g)| {
        g.net.ops() == first.net.ops()
            && g.outputs == first.outputs
            && g.from.iter().zip(&first.from).all(|(x, y)| *x == y + i * from)
            && g.to.iter().zip(&first.to).all(|(x, y)| *x == y + i * to)
    });
    alike.then_some((from, to))
}

impl Lowering<'_> {
    /// Places the reductions of one network, or of a cheaper one for the same outputs; the explicit
    /// choices of the schedule are applied.
    pub fn placed(
        &mut self,
        stage: &str,
        group: &Group,
        inputs: &[i64],
        limits: &[i64],
    ) -> Result<(Group, Placement), LowerError> {
        let live = group.net.live(&group.outputs);
        if live.iter().any(|&v| matches!(group.net.op(v), NetOp::Rotate(..))) {
            let why = "rotations within blocks are loads of a step's inputs";
            return Err(unsupported("rotations", why, "(schoenhage …) above them"));
        }
        let stage = &format!("{}{stage}", self.prefix);
        let mut best: Option<(Group, Placement)> = None;
        let mut failure = None;
        let other = rebased(&group.net, &group.outputs);
        let other = other.map(|(net, outputs)| Group { net, outputs, ..group.clone() });
        for group in std::iter::once(group.clone()).chain(other) {
            let (net, outputs) = (&group.net, &group.outputs);
            // Slots of a reduction and of a product, in words of 16 and of 32 bits.
            let cost = if self.bounds.modulus().bits == 16 { (3, 4) } else { (9, 11) };
            let task = Task { net, outputs, inputs, limits, cost };
            match place(task, &mut self.bounds, self.schedule.rounds()) {
                Ok(p) if best.as_ref().is_none_or(|(_, b)| p.slots < b.slots) => {
                    best = Some((group, p));
                }
                Ok(_) => {}
                Err(source) => failure = Some(LowerError::Ranges { stage: stage.clone(), source }),
            }
        }
        let (group, mut placement) = match (best, failure) {
            (Some(best), _) => best,
            (None, Some(failure)) => return Err(failure),
            (None, None) => unreachable!("the group itself is one alternative"),
        };
        let (net, outputs) = (&group.net, &group.outputs);
        for v in net.live(outputs) {
            let i = v.0 as usize;
            if net.op(v) == NetOp::Zero {
                continue;
            }
            let site = format!("{stage}:v{i}");
            if self.schedule.add().contains(&site) {
                placement.reduced[i] = true;
            }
            if placement.reduced[i] {
                self.written.sites.push(site.clone());
            }
            if self.schedule.drop().contains(&site) {
                placement.reduced[i] = false;
            }
            self.written.seen.push(site);
        }
        Ok((group, placement))
    }

    /// Whether a network in place loads all its inputs before it does anything: unless steps are joined to save
    /// registers, and nothing is read behind what is written over it.
    pub(super) fn loads_all_first(&self, group: &Group) -> bool {
        self.schedule.fuse() == 0 || !reads_first(group)
    }

    /// Appends a network to a block, its reductions placed. With `eager`, all inputs are loaded first (for work in place).
    pub fn network(
        &self,
        block: &mut Block,
        group: &Group,
        placement: &Placement,
        eager: bool,
        load: &mut dyn FnMut(&mut Block, usize) -> Value,
        store: &mut dyn FnMut(&mut Block, usize, Value),
    ) {
        let modular = Modular { schedule: self.schedule, placement, load, store };
        write(block, (&group.net, &group.outputs), eager, modular);
    }
}

/// What the nodes of a network become.
pub(super) trait Nodes {
    /// Input `i`.
    fn load(&mut self, block: &mut Block, i: usize) -> Value;
    /// Output `i`.
    fn store(&mut self, block: &mut Block, i: usize, a: Value);
    /// Nothing.
    fn zero(&mut self, block: &mut Block) -> Value {
        block.splat(0)
    }
    /// Node `v`, which is a constant times another, but for 1 and −1.
    fn scale(&mut self, block: &mut Block, v: Val, a: Value, c: u64) -> Value;
    /// Node `v` once it is made.
    fn made(&mut self, _block: &mut Block, _v: Val, a: Value) -> Value {
        a
    }
}

/// Appends a network to a block: operations in the order of recording, butterfly by
/// butterfly, which keeps few values alive; each output stored as soon as it is made. Inputs are loaded where they are
/// first used, or all first if `eager`.
pub(super) fn write(
    block: &mut Block,
    (net, outputs): (&Network, &[Val]),
    eager: bool,
    nodes: impl Nodes,
) {
    let mut writer = Writer { net, nodes, made: vec![None; net.ops().len()] };
    let mut waiting: Vec<(usize, Val)> = outputs.iter().copied().enumerate().collect();
    let lazy = |v: Val| !eager && matches!(net.op(v), NetOp::Input(_));
    let live = net.live(outputs).into_iter().filter(|&v| !lazy(v));
    // Inputs that are outputs as they are come last.
    for v in live.chain(outputs.iter().copied().filter(|&v| lazy(v))) {
        let value = writer.value(block, v);
        waiting.retain(|&(i, output)| {
            if output == v {
                writer.nodes.store(block, i, value);
            }
            output != v
        });
    }
}

struct Writer<'a, N> {
    net: &'a Network,
    nodes: N,
    made: Vec<Option<Value>>,
}

impl<N: Nodes> Writer<'_, N> {
    fn value(&mut self, block: &mut Block, v: Val) -> Value {
        let i = v.0 as usize;
        if let Some(value) = self.made[i] {
            return value;
        }
        let value = match self.net.op(v) {
            NetOp::Zero => self.nodes.zero(block),
            NetOp::Input(i) => self.nodes.load(block, i),
            NetOp::Add(a, b) => {
                let (a, b) = (self.value(block, a), self.value(block, b));
                block.add(a, b)
            }
            NetOp::Sub(a, b) => {
                let (a, b) = (self.value(block, a), self.value(block, b));
                block.sub(a, b)
            }
            // None: whoever has them refuses them or makes loads of them.
            NetOp::Rotate(a, _) => self.value(block, a),
            NetOp::Scale(a, c) if c == self.net.q() - 1 => {
                let (zero, a) = (self.nodes.zero(block), self.value(block, a));
                block.sub(zero, a)
            }
            NetOp::Scale(a, c) => {
                let a = self.value(block, a);
                self.nodes.scale(block, v, a, c)
            }
        };
        let value = self.nodes.made(block, v, value);
        self.made[i] = Some(value);
        value
    }
}

/// Modular words, with reductions.
struct Modular<'a> {
    schedule: &'a Choices,
    placement: &'a Placement,
    load: &'a mut dyn FnMut(&mut Block, usize) -> Value,
    store: &'a mut dyn FnMut(&mut Block, usize, Value),
}

impl Nodes for Modular<'_> {
    fn load(&mut self, block: &mut Block, i: usize) -> Value {
        (self.load)(block, i)
    }
    fn store(&mut self, block: &mut Block, i: usize, a: Value) {
        (self.store)(block, i, a);
    }
    fn scale(&mut self, block: &mut Block, v: Val, a: Value, c: u64) -> Value {
        match shift_of(c).filter(|_| self.placement.shifted[v.0 as usize]) {
            Some(1) => block.add(a, a),
            Some(k) => block.push(Op::Shl(a, k)),
            None => block.times(a, Factor::Splat(c), self.schedule.multiply()),
        }
    }
    fn made(&mut self, block: &mut Block, v: Val, a: Value) -> Value {
        match self.placement.reduced[v.0 as usize] {
            true => block.reduced(a, self.schedule.reduce()),
            false => a,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_before_they_are_written_over() {
        let group = |to: [usize; 3], f: fn(&mut dyn Arith, &[Val]) -> Vec<Val>| {
            Group::record(17, vec![0, 1, 2], &[true; 3], to.to_vec(), f)
        };
        let all = |arith: &mut dyn Arith, f: &[Val]| {
            let sum = arith.add(f[0], f[1]);
            let sum = arith.add(sum, f[2]);
            vec![sum, arith.sub(sum, f[0]), arith.sub(sum, f[1])]
        };
        assert!(reads_first(&group([0, 1, 2], all)));
        // The first sum goes where the second one reads; and where nothing reads any more.
        let one_by_one = |arith: &mut dyn Arith, f: &[Val]| {
            vec![arith.add(f[0], f[1]), arith.add(f[1], f[2]), f[2]]
        };
        assert!(!reads_first(&group([2, 1, 0], one_by_one)));
        assert!(reads_first(&group([0, 1, 2], one_by_one)));
        // An input that is an output as it is, after its place was taken.
        let moved = |arith: &mut dyn Arith, f: &[Val]| {
            vec![arith.add(f[0], f[1]), f[2], arith.sub(f[0], f[1])]
        };
        assert!(!reads_first(&group([2, 1, 0], moved)));
    }
}
