//! The steps of the transform.
//!
//! A rotation by K words is another register with another sign, and costs nothing. Rotations by
//! fewer words are applied to what a step loads. A block f lies in memory as (−upper half, lower
//! half, upper half), so x^r·f is two unaligned loads. If the schedule says so and the registers
//! hold all of a step's blocks at a time, rotations are cut out of registers instead. The steps of
//! the plan's transform need no other rotation.

use super::super::fuse::{each_joined, joined, titles, writers};
use super::super::{LowerError, Lowering, unsupported};
use crate::ir::*;
use ringforge_plan::{Arith, Group, NetOp, Network, Step, Val};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Registers that a block takes in memory between steps.
const STORED: usize = 3;

/// Where a step finds blocks, or leaves them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Blocks {
    /// Blocks of an operand, half as long, the last one of fewer words.
    Operand(BufferId, usize),
    /// Cells of three registers; the first is stored where the next step rotates.
    Cells(BufferId, bool),
    /// Lower halves of as many blocks as a register has words, then their upper halves.
    Squares(BufferId),
    /// Lower and upper halves apart, the upper ones a register further.
    Halves(BufferId, BufferId),
    /// Registers, from one step to the next.
    Registers,
}

/// Halves of blocks that are in registers, by cell.
type Halves = HashMap<(usize, usize), Value>;

/// What is known of the blocks in all cells.
#[derive(Clone)]
struct Cells {
    /// Largest magnitudes.
    bounds: Vec<i64>,
    /// Whether the upper half is zero, and not stored.
    empty: Vec<bool>,
}

/// For each input of a group on registers the input of the block group, and at which word of its cell it starts.
type Loads = Vec<(usize, usize)>;

/// A group's network on blocks as one on registers; `empty` are inputs whose upper half is zero. Output i of the block group
/// has the outputs 2i and 2i + 1, its halves.
fn registers(group: &Group, empty: &[bool], lanes: usize) -> Result<(Group, Loads), LowerError> {
    let q = group.net.q();
    let mut net = Network::new(q);
    let mut loads = Loads::new();
    let mut made: HashMap<Val, [Val; 2]> = HashMap::new();
    let mut load = |net: &mut Network, input: usize, word: usize| {
        let known = loads.iter().position(|&known| known == (input, word));
        let index = known.unwrap_or_else(|| {
            loads.push((input, word));
            loads.len() - 1
        });
        net.input(index)
    };
    for v in group.net.live(&group.outputs) {
        let pair = match group.net.op(v) {
            NetOp::Zero => [net.zero(); 2],
            NetOp::Input(i) if empty[i] => [load(&mut net, i, lanes), net.zero()],
            NetOp::Input(i) => [1, 2].map(|half| load(&mut net, i, half * lanes)),
            NetOp::Add(a, b) => [0, 1].map(|half| net.add(made[&a][half], made[&b][half])),
            NetOp::Sub(a, b) => [0, 1].map(|half| net.sub(made[&a][half], made[&b][half])),
            NetOp::Scale(a, c) => [0, 1].map(|half| net.scale(made[&a][half], c)),
            NetOp::Rotate(a, k) => {
                let rest = k % lanes;
                let mut pair = match group.net.op(a) {
                    _ if rest == 0 => made[&a],
                    NetOp::Input(i) => [1, 2].map(|half| load(&mut net, i, half * lanes - rest)),
                    _ => {
                        let why =
                            format!("x^{k} is multiplied with what is not an input of a step");
                        let would = "(rotations …) with radices 2 and 4";
                        return Err(unsupported("rotations", why, would));
                    }
                };
                for _ in 0..(k / lanes) % 4 {
                    pair = [net.scale(pair[1], q - 1), pair[0]];
                }
                pair
            }
        };
        made.insert(v, pair);
    }
    let halves = |v: &Val| made[v];
    let outputs: Vec<Val> = group.outputs.iter().flat_map(halves).collect();
    let group = Group { net, outputs, from: group.from.clone(), to: group.to.clone() };
    Ok((group, loads))
}

/// Whether some input of the step is rotated within registers.
fn rotates(step: &Step, lanes: usize) -> bool {
    step.groups.iter().any(|group| {
        let live = group.net.live(&group.outputs);
        live.iter().any(|&v| matches!(group.net.op(v), NetOp::Rotate(_, k) if k % lanes != 0))
    })
}

/// Groups of the first of two steps and those of the second that run after what they want of those.
type Passes = Vec<(Vec<usize>, Vec<usize>)>;

/// Steps that run together: one, or another one after parts of it.
struct Stretch {
    step: Step,
    then: Option<(Step, Passes)>,
}

/// How the second step runs after parts of the first. Each group of the second reads what some
/// groups of the first write, and these must have at most `most` blocks. Half as many blocks lie
/// between the two at a time, so that registers are left to compute in. Nothing if the second step
/// does not read all that the first one writes.
fn passes(first: &[Group], second: &[Group], most: usize) -> Option<Passes> {
    let writer = writers(first, second)?;
    // Groups of the second step by those of the first whose blocks they read.
    let mut after: BTreeMap<BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
    for (i, group) in second.iter().enumerate() {
        after.entry(group.from.iter().map(|cell| writer[cell]).collect()).or_default().push(i);
    }
    let mut all = Passes::new();
    for (firsts, seconds) in after {
        let blocks: usize = firsts.iter().map(|&i| first[i].from.len()).sum();
        let each = seconds.iter().map(|&i| second[i].from.len()).max()?;
        if blocks > most || each == 0 {
            return None;
        }
        // Outputs that are far apart have more of their sums in common.
        let count = seconds.len().div_ceil((most / 2 / each).max(1));
        for k in 0..count {
            let some = seconds.iter().copied().skip(k).step_by(count).collect();
            all.push((firsts.iter().copied().collect(), some));
        }
    }
    Some(all)
}

impl Lowering<'_> {
    /// The word of a buffer where half `half` of a block's cell is, of squares.
    fn square_at(&self, cell: usize, half: usize) -> usize {
        let lanes = self.lanes;
        ((2 * (cell / lanes) + half) * lanes + cell % lanes) * lanes
    }

    /// Steps that run together; `cells` are those that they read, and become those that they write. What lies between two
    /// is within the first limit, what they leave within the second.
    fn block_step(
        &mut self,
        (stretch, held): (&Stretch, usize),
        (from, to): (Blocks, Blocks),
        cells: &mut Cells,
        (between, end): (i64, i64),
    ) -> Result<(), LowerError> {
        let Stretch { step, then } = stretch;
        let turns = self.turns(step, held);
        let mut after = cells.clone();
        let mut body = Vec::new();
        let mut none = Halves::new();
        let mut middle = cells.clone();
        let count = then.as_ref().map_or(step.groups.len(), |(_, passes)| passes.len());
        for number in 0..count {
            let (mut block, mut kept) = (Block::default(), Halves::new());
            let stage = format!("{}.{number}", step.name);
            let Some((next, passes)) = then else {
                let places = [(from, &mut kept), (to, &mut none)];
                let group = (&step.groups[number], &*stage, turns);
                self.group(&mut block, group, places, (cells, &mut after), end)?;
                body.push(Stmt::Block(block));
                continue;
            };
            let (firsts, seconds) = &passes[number];
            let read = |cell| seconds.iter().any(|&i| next.groups[i].from.contains(&cell));
            for &i in firsts {
                let group = step.groups[i].clone().keep(read);
                let (stage, mut loaded) = (format!("{stage}.{i}"), Halves::new());
                let places = [(from, &mut loaded), (Blocks::Registers, &mut kept)];
                let both = (&*cells, &mut middle);
                self.group(&mut block, (&group, &stage, turns), places, both, between)?;
            }
            for &i in seconds {
                let stage = format!("{}.{i}", next.name);
                let places = [(Blocks::Registers, &mut kept), (to, &mut none)];
                let both = (&middle, &mut after);
                self.group(&mut block, (&next.groups[i], &stage, true), places, both, end)?;
            }
            body.push(Stmt::Block(block));
        }
        let (title, name) = match then {
            Some((next, _)) => (titles(step, next), &next.name),
            None => (step.title.clone(), &step.name),
        };
        self.builder.stage(&title, step.cite, body);
        *cells = after;
        let most = cells.bounds.iter().copied().max().unwrap_or(0);
        self.written.border(name.clone(), most);
        Ok(())
    }

    /// One group of a step, which rotates in registers if it `turns`; places as they are before and after it.
    fn group(
        &mut self,
        block: &mut Block,
        (group, stage, turns): (&Group, &str, bool),
        [(from, loaded), (to, kept)]: [(Blocks, &mut Halves); 2],
        (before, after): (&Cells, &mut Cells),
        limit: i64,
    ) -> Result<(), LowerError> {
        let lanes = self.lanes;
        let lone: Vec<bool> = group.from.iter().map(|&cell| before.empty[cell]).collect();
        let (all, loads) = registers(group, &lone, lanes)?;
        // Upper halves that are zero anyway are not stored where nobody reads them.
        let stored: Vec<usize> = (0..all.outputs.len())
            .filter(|&i| {
                let zero = all.net.op(all.outputs[i]) == NetOp::Zero;
                let unread = matches!(to, Blocks::Cells(_, false) | Blocks::Registers);
                !(zero && i % 2 == 1 && unread)
            })
            .collect();
        for (i, &cell) in group.to.iter().enumerate() {
            after.empty[cell] = !stored.contains(&(2 * i + 1));
        }
        let outputs: Vec<Val> = stored.iter().map(|&i| all.outputs[i]).collect();
        let all = Group { outputs, ..all };
        let inputs: Vec<i64> = loads.iter().map(|&(i, _)| before.bounds[group.from[i]]).collect();
        let limits = vec![limit; stored.len()];
        let (all, placement) = self.placed(stage, &all, &inputs, &limits)?;
        for &output in &group.to {
            after.bounds[output] = 0;
        }
        for (&i, v) in stored.iter().zip(&all.outputs) {
            let bound = &mut after.bounds[group.to[i / 2]];
            *bound = (*bound).max(placement.bounds[v.0 as usize]);
        }
        let turns = turns || matches!(from, Blocks::Registers);
        self.network(
            block,
            &all,
            &placement,
            false,
            &mut |block, i| {
                let (input, word) = loads[i];
                let cell = group.from[input];
                match (turns, word % lanes) {
                    (false, _) => block.push(self.load_half(from, cell, word)),
                    (true, 0) => self.half(block, loaded, from, (cell, word / lanes - 1)),
                    (true, _) => self.turned(block, loaded, from, (cell, lone[input]), word),
                }
            },
            &mut |block, i, a| {
                let (cell, half) = (group.to[stored[i] / 2], stored[i] % 2);
                let (buffer, at) = match to {
                    Blocks::Cells(buffer, _) => (buffer, (STORED * cell + 1 + half) * lanes),
                    Blocks::Squares(buffer) => (buffer, self.square_at(cell, half)),
                    Blocks::Halves(low, high) => ([low, high][half], (cell + half) * lanes),
                    Blocks::Operand(buffer, _) => (buffer, cell * lanes),
                    Blocks::Registers => {
                        kept.insert((cell, half), a);
                        return;
                    }
                };
                block.store(buffer, Index::at(at), a);
                if let (Blocks::Cells(buffer, true), 1) = (to, half) {
                    let zero = block.splat(0);
                    let a = block.sub(zero, a);
                    let at = Index::at(STORED * cell * lanes);
                    block.store(buffer, at, a);
                }
            },
        );
        Ok(())
    }

    /// A register of a block from word `word` of its cell on.
    fn load_half(&self, from: Blocks, cell: usize, word: usize) -> Op {
        let lanes = self.lanes;
        let at = Index::at;
        match from {
            Blocks::Operand(buffer, n) if (cell + 1) * lanes > n => {
                let count = (n - cell * lanes) as u32;
                Op::LoadPartial { buffer, at: at(cell * lanes), count }
            }
            Blocks::Operand(buffer, _) => Op::Load { buffer, at: at(cell * lanes) },
            Blocks::Squares(buffer) => {
                Op::Load { buffer, at: at(self.square_at(cell, word / lanes - 1)) }
            }
            Blocks::Cells(buffer, _) | Blocks::Halves(buffer, _) => {
                Op::Load { buffer, at: at(STORED * cell * lanes + word) }
            }
            // What no step has left there.
            Blocks::Registers => Op::Splat(0),
        }
    }

    /// Half of a block, loaded once.
    fn half(
        &self,
        block: &mut Block,
        loaded: &mut Halves,
        from: Blocks,
        (cell, half): (usize, usize),
    ) -> Value {
        let load = || block.push(self.load_half(from, cell, (1 + half) * self.lanes));
        *loaded.entry((cell, half)).or_insert_with(load)
    }

    /// Words from `word` of a block's cell on, no whole register, cut out of its two registers, or of the lower one where
    /// the upper one is `empty`.
    fn turned(
        &self,
        block: &mut Block,
        loaded: &mut Halves,
        from: Blocks,
        (cell, empty): (usize, bool),
        word: usize,
    ) -> Value {
        let lanes = self.lanes;
        let lower = self.half(block, loaded, from, (cell, 0));
        let upper = match empty {
            true => block.splat(0),
            false => self.half(block, loaded, from, (cell, 1)),
        };
        let (below, above) = match (word < lanes, empty) {
            (false, _) => (lower, upper),
            (true, true) => (upper, lower),
            (true, false) => {
                let zero = block.splat(0);
                (block.sub(zero, upper), lower)
            }
        };
        // Words of a part from word k on and those of the next one before it.
        let (part, parts) = (self.square.part(), self.square.registers.parts());
        let (first, k) = (word % lanes / part, word % part);
        let mut from = |first: usize| match first {
            0 => below,
            _ if first == parts => above,
            _ => {
                let pick = (first..first + parts).map(|part| part as u8).collect();
                block.push(Op::Parts { a: below, b: above, pick })
            }
        };
        let a = from(first);
        if k == 0 {
            return a;
        }
        let b = from(first + 1);
        let pattern: Vec<u8> = (0..part).map(|i| ((i + k) % part) as u8).collect();
        let [a, b] = [a, b].map(|a| block.push(Op::PermuteParts { a, pattern: pattern.clone() }));
        block.push(Op::Blend { a, b, mask: (0xff00 >> k) as u8 })
    }

    /// Whether a step's rotations are of registers: where the machine holds those of its blocks at a time.
    fn turns(&self, step: &Step, held: usize) -> bool {
        self.schedule.rotate_registers()
            // A blend chooses among so many words alike in each part.
            && self.square.part() <= u8::BITS as usize
            && step.groups.iter().all(|group| 2 * group.from.len() <= held)
    }

    /// All steps, from `first` to `last`. Between them, cells lie in one array and then in the
    /// other. A step that rotates does not work in place, because a lane would read what another
    /// has written. Returns the last bounds.
    pub(super) fn block_steps(
        &mut self,
        (steps, held): (Vec<Step>, usize),
        (first, last): (Blocks, Blocks),
        bounds: Vec<i64>,
        (between, end): (i64, i64),
    ) -> Result<Vec<i64>, LowerError> {
        let words = STORED * bounds.len() * self.lanes;
        let arrays = ["cells", "others"].map(|name| self.builder.local(name, words));
        let steps = self.fused_steps(steps, held);
        let empty = vec![matches!(first, Blocks::Operand(..)); bounds.len()];
        let mut cells = Cells { bounds, empty };
        let mut from = first;
        for (i, step) in steps.iter().enumerate() {
            let next = steps.get(i + 1).map(|next| &next.step);
            let to = next.map_or(last, |next| {
                let loads = rotates(next, self.lanes) && !self.turns(next, held);
                Blocks::Cells(arrays[i % 2], loads)
            });
            let limits = (between, if next.is_some() { between } else { end });
            self.block_step((step, held), (from, to), &mut cells, limits)?;
            from = to;
        }
        Ok(cells.bounds)
    }

    /// Steps with those neighbours together that the schedule's registers hold, two for a block: joined, or the second one
    /// after parts of the first where it rotates, in registers. Else a step that rotates needs what it reads in memory.
    fn fused_steps(&self, steps: Vec<Step>, held: usize) -> Vec<Stretch> {
        let most = self.schedule.fuse() as usize / 2;
        let alone = |step| Stretch { step, then: None };
        each_joined(steps.into_iter().map(alone).collect(), |before, next, _| {
            let (Stretch { step: a, then: None }, Stretch { step: b, then: None }) = (before, next)
            else {
                return None;
            };
            if rotates(b, self.lanes) {
                let passes = self
                    .schedule
                    .rotate_registers()
                    .then(|| passes(&a.groups, &b.groups, (held / 2).min(most)))??;
                return Some(Stretch { step: a.clone(), then: Some((b.clone(), passes)) });
            }
            // Cells of a step are in another array than those of the one before.
            let groups = joined(&a.groups, &b.groups, most, true)?;
            let (title, name) = (titles(a, b), b.name.clone());
            Some(alone(Step { title, cite: a.cite, name, groups }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums and differences of blocks at these places, four of them in two levels.
    fn group(places: &[usize]) -> Group {
        let here = vec![true; places.len()];
        Group::record(17, places.to_vec(), &here, places.to_vec(), |arith, f| {
            let half = f.len() / 2;
            let two = |k: usize| (f[k % half], f[k % half + half]);
            let all = (0..f.len()).map(|k| match (k < half, two(k)) {
                (true, (a, b)) => arith.add(a, b),
                (false, (a, b)) => arith.sub(a, b),
            });
            all.collect()
        })
    }

    #[test]
    fn second_steps_run_after_what_they_read() {
        let pairs: Vec<Group> = [[0, 4], [1, 5], [2, 6], [3, 7]].map(|p| group(&p)).into();
        let fours: Vec<Group> = [[0, 1, 2, 3], [4, 5, 6, 7]].map(|p| group(&p)).into();
        // Four blocks are left in registers at a time: one group of four, or two of two that are far apart.
        let firsts = vec![0, 1, 2, 3];
        let one = vec![(firsts.clone(), vec![0]), (firsts, vec![1])];
        assert_eq!(passes(&pairs, &fours, 8), Some(one));
        let two = vec![(vec![0, 1], vec![0, 2]), (vec![0, 1], vec![1, 3])];
        assert_eq!(passes(&fours, &pairs, 8), Some(two));
        // No room; a block that nobody reads; one that nobody writes.
        assert_eq!(passes(&pairs, &fours, 7), None);
        assert_eq!(passes(&pairs, &fours[..1], 8), None);
        assert_eq!(passes(&pairs[..3], &fours, 8), None);
    }
}
