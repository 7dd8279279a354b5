//! A network with its placed reductions as operations of a block.

use super::{LowerError, Lowering, unsupported};
use crate::ir::*;
use crate::place::{Placement, Task, place, shift_of};
use crate::rebase::rebased;
use ringforge_plan::{Group, NetOp, Network, Val};
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

/// Networks that run one after another: straight-line, or as a loop where they are all alike.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    pub title: String,
    pub cite: &'static str,
    /// Name of the stage in sites.
    pub stage: String,
    pub groups: Vec<Group>,
}

impl Phase {
    /// The distance between consecutive groups in blocks, where all are the same network on
    /// evenly spaced blocks.
    pub fn stride(&self) -> Option<(usize, usize)> {
        let first = self.groups.first()?;
        let second = self.groups.get(1)?;
        let from = second.from[0].checked_sub(first.from[0])?;
        let to = second.to.first()?.checked_sub(*first.to.first()?)?;
        let alike = self.groups.iter().enumerate().all(|(i, g)| {
            g.net.ops() == first.net.ops()
                && g.outputs == first.outputs
                && g.from.iter().zip(&first.from).all(|(x, y)| *x == y + i * from)
                && g.to.iter().zip(&first.to).all(|(x, y)| *x == y + i * to)
        });
        alike.then_some((from, to))
    }
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
                self.sites.push(site.clone());
            }
            if self.schedule.drop().contains(&site) {
                placement.reduced[i] = false;
            }
            self.seen.push(site);
        }
        Ok((group, placement))
    }

    /// Whether a network in place loads all its inputs before it does anything: unless steps are joined to save
    /// registers, and nothing is read behind what is written over it.
    pub(super) fn loads_all_first(&self, group: &Group) -> bool {
        self.schedule.fuse() == 0 || !reads_first(group)
    }

    /// Appends a network to a block: operations in the order of recording, butterfly by
    /// butterfly, which keeps few values alive; each output stored as soon as it is made. With
    /// `eager`, all inputs are loaded first (for work in place).
    pub fn network(
        &self,
        block: &mut Block,
        group: &Group,
        placement: &Placement,
        eager: bool,
        load: &mut dyn FnMut(&mut Block, usize) -> Value,
        store: &mut dyn FnMut(&mut Block, usize, Value),
    ) {
        let mut writer = NetworkWriter {
            lowering: self,
            net: &group.net,
            placement,
            made: vec![None; group.net.ops().len()],
        };
        let mut waiting: Vec<(usize, Val)> = group.outputs.iter().copied().enumerate().collect();
        for v in group.net.live(&group.outputs) {
            // Inputs are loaded where they are first used.
            if !eager && matches!(group.net.op(v), NetOp::Input(_)) {
                continue;
            }
            let value = writer.value(block, v, load);
            waiting.retain(|&(i, output)| {
                if output == v {
                    store(block, i, value);
                }
                output != v
            });
        }
        // Inputs that are outputs as they are.
        for (i, v) in waiting {
            let value = writer.value(block, v, load);
            store(block, i, value);
        }
    }
}

struct NetworkWriter<'a, 'b> {
    lowering: &'a Lowering<'b>,
    net: &'a Network,
    placement: &'a Placement,
    made: Vec<Option<Value>>,
}

impl NetworkWriter<'_, '_> {
    fn value(
        &mut self,
        block: &mut Block,
        v: Val,
        load: &mut dyn FnMut(&mut Block, usize) -> Value,
    ) -> Value {
        let i = v.0 as usize;
        if let Some(value) = self.made[i] {
            return value;
        }
        let schedule = self.lowering.schedule;
        let mut value = match self.net.op(v) {
            NetOp::Zero => block.push(Op::Splat(0)),
            NetOp::Input(n) => load(block, n),
            NetOp::Add(a, b) => {
                let (a, b) = (self.value(block, a, load), self.value(block, b, load));
                block.push(Op::Add(a, b))
            }
            NetOp::Sub(a, b) => {
                let (a, b) = (self.value(block, a, load), self.value(block, b, load));
                block.push(Op::Sub(a, b))
            }
            // None: `placed` refuses them.
            NetOp::Rotate(a, _) => self.value(block, a, load),
            NetOp::Scale(a, c) if c == self.lowering.q - 1 => {
                let (zero, a) = (block.push(Op::Splat(0)), self.value(block, a, load));
                block.push(Op::Sub(zero, a))
            }
            NetOp::Scale(a, c) => {
                let a = self.value(block, a, load);
                match shift_of(c).filter(|_| self.placement.shifted[i]) {
                    Some(1) => block.push(Op::Add(a, a)),
                    Some(k) => block.push(Op::Shl(a, k)),
                    None => block.push(Op::MulMod {
                        a,
                        factor: Factor::Splat(c),
                        method: schedule.multiply(),
                    }),
                }
            }
        };
        if self.placement.reduced[i] {
            value = block.push(Op::Reduce { a: value, method: schedule.reduce() });
        }
        self.made[i] = Some(value);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_plan::Arith;

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
