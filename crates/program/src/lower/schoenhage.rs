//! Schönhage's transform: blocks of two registers, polynomials mod x^2K + 1 for registers of K words.
//!
//! A rotation by K words is another register with another sign, and costs nothing. Rotations by fewer
//! words are of what a step loads: a block f lies in memory as (−upper half, lower half, upper half),
//! so that x^r·f is two unaligned loads. The steps of the plan's transform are such that no other
//! rotation is needed.

use super::fuse::joined;
use super::lanes::METHOD;
use super::transform::Products;
use super::{LowerError, Lowering, unsupported};
use crate::build::{Builder, repeat};
use crate::cut::scaled;
use crate::ir::*;
use ringforge_plan::{Arith, Group, Lift, NetOp, Network, Product, Schoenhage, Step, Val};
use ringforge_target::ALIGNMENT;
use std::collections::HashMap;

/// Registers that a block takes in memory between steps.
const STORED: usize = 3;

/// Where a step finds blocks, or leaves them.
#[derive(Clone, Copy, Debug)]
enum Blocks {
    /// Blocks of an operand, half as long, the last one of fewer words.
    Operand(BufferId, usize),
    /// Cells of three registers; the first is stored where the next step rotates.
    Cells(BufferId, bool),
    /// Lower halves of as many blocks as a register has words, then their upper halves.
    Squares(BufferId),
    /// Lower and upper halves apart, the upper ones a register further.
    Halves(BufferId, BufferId),
}

/// A group on registers.
struct Registers {
    group: Group,
    /// For each input the input of the block group, and at which word of its cell it starts.
    loads: Vec<(usize, usize)>,
    /// For each output the output of the block group, and which half.
    stores: Vec<(usize, usize)>,
}

/// A group's network on blocks as one on registers; `empty` are inputs whose upper half is zero.
fn registers(group: &Group, empty: &[bool], lanes: usize) -> Result<Registers, LowerError> {
    let q = group.net.q();
    let mut net = Network::new(q);
    let mut loads: Vec<(usize, usize)> = Vec::new();
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
    let stores = (0..group.outputs.len()).flat_map(|i| [(i, 0), (i, 1)]).collect();
    let group = Group { net, outputs, from: group.from.clone(), to: group.to.clone() };
    Ok(Registers { group, loads, stores })
}

/// Whether some input of the step is rotated within registers.
fn rotates(step: &Step, lanes: usize) -> bool {
    step.groups.iter().any(|group| {
        let live = group.net.live(&group.outputs);
        live.iter().any(|&v| matches!(group.net.op(v), NetOp::Rotate(_, k) if k % lanes != 0))
    })
}

impl Lowering<'_> {
    /// The word of a buffer where half `half` of a block's cell is, of squares.
    fn square_at(&self, cell: usize, half: usize) -> usize {
        let lanes = self.lanes;
        ((2 * (cell / lanes) + half) * lanes + cell % lanes) * lanes
    }

    /// One step; `bounds` and `empty` are those of the blocks it reads, and become those of the
    /// blocks it writes.
    fn block_step(
        &mut self,
        builder: &mut Builder,
        (step, stage): (&Step, &str),
        (from, to): (Blocks, Blocks),
        bounds: &mut [i64],
        empty: &mut [bool],
        limit: i64,
    ) -> Result<(), LowerError> {
        let lanes = self.lanes;
        let (mut after, mut left) = (bounds.to_vec(), empty.to_vec());
        let mut body = Vec::new();
        for (number, group) in step.groups.iter().enumerate() {
            let lone: Vec<bool> = group.from.iter().map(|&cell| empty[cell]).collect();
            let Registers { group: all, loads, stores } = registers(group, &lone, lanes)?;
            // Upper halves that are zero anyway are not stored where nobody reads them.
            let stored: Vec<usize> = (0..stores.len())
                .filter(|&i| {
                    let zero = all.net.op(all.outputs[i]) == NetOp::Zero;
                    !(zero && stores[i].1 == 1 && matches!(to, Blocks::Cells(_, false)))
                })
                .collect();
            for (i, &(output, half)) in stores.iter().enumerate() {
                if half == 1 {
                    left[group.to[output]] = !stored.contains(&i);
                }
            }
            let outputs: Vec<Val> = stored.iter().map(|&i| all.outputs[i]).collect();
            let all = Group { outputs, ..all };
            let inputs: Vec<i64> = loads.iter().map(|&(i, _)| bounds[group.from[i]]).collect();
            let limits = vec![limit; stored.len()];
            let stage = format!("{stage}.{number}");
            let (all, placement) = self.placed(&stage, &all, &inputs, &limits)?;
            for &output in &group.to {
                after[output] = 0;
            }
            for (&i, v) in stored.iter().zip(&all.outputs) {
                let cell = group.to[stores[i].0];
                after[cell] = after[cell].max(placement.bounds[v.0 as usize]);
            }
            let mut block = Block::default();
            self.network(
                &mut block,
                &all,
                &placement,
                false,
                &mut |block, i| {
                    let (input, word) = loads[i];
                    let cell = group.from[input];
                    block.push(self.load_half(from, cell, word))
                },
                &mut |block, i, a| {
                    let (output, half) = stores[stored[i]];
                    let cell = group.to[output];
                    let (buffer, at) = match to {
                        Blocks::Cells(buffer, _) => (buffer, (STORED * cell + 1 + half) * lanes),
                        Blocks::Squares(buffer) => (buffer, self.square_at(cell, half)),
                        Blocks::Halves(low, high) => ([low, high][half], (cell + half) * lanes),
                        Blocks::Operand(buffer, _) => (buffer, cell * lanes),
                    };
                    block.push(Op::Store { buffer, at: Index::at(at), a });
                    if let (Blocks::Cells(buffer, true), 1) = (to, half) {
                        let zero = block.push(Op::Splat(0));
                        let a = block.push(Op::Sub(zero, a));
                        let at = Index::at(STORED * cell * lanes);
                        block.push(Op::Store { buffer, at, a });
                    }
                },
            );
            body.push(Stmt::Block(block));
        }
        builder.stage(&format!("main part: {}", step.title), step.cite, body);
        bounds.copy_from_slice(&after);
        empty.copy_from_slice(&left);
        self.borders.push((stage.into(), bounds.iter().copied().max().unwrap_or(0)));
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
        }
    }

    /// All steps, from `first` to `last`; cells between them in one array, then in the other: a step
    /// that rotates does not work in place, as a lane would read what another has written.
    fn block_steps(
        &mut self,
        builder: &mut Builder,
        (steps, direction): (&[Step], &str),
        (first, last): (Blocks, Blocks),
        cells: [BufferId; 2],
        bounds: &mut [i64],
        (between, end): (i64, i64),
    ) -> Result<(), LowerError> {
        let mut empty = vec![matches!(first, Blocks::Operand(..)); bounds.len()];
        let mut from = first;
        for (i, step) in steps.iter().enumerate() {
            let next = steps.get(i + 1);
            let to = match next {
                Some(next) => Blocks::Cells(cells[i % 2], rotates(next, self.lanes)),
                None => last,
            };
            let limit = if next.is_some() { between } else { end };
            let stage = format!("main.{direction}.{}", step.name);
            self.block_step(builder, (step, &stage), (from, to), bounds, &mut empty, limit)?;
            from = to;
        }
        Ok(())
    }

    /// Steps with those neighbours joined that the schedule's registers hold, two for a block; a step that rotates
    /// needs what it reads in memory.
    fn fused_steps(&self, steps: Vec<Step>) -> Vec<Step> {
        let mut all: Vec<Step> = Vec::new();
        for next in steps {
            let most = self.schedule.fuse as usize / 2;
            let before = all.last().filter(|_| !rotates(&next, self.lanes));
            let joined = before.and_then(|before| {
                // Cells of a step are in another array than those of the one before.
                let groups = joined(&before.groups, &next.groups, most, true)?;
                let title = format!("{}; {}", before.title, next.title);
                Some(Step { title, name: next.name, groups, ..*before })
            });
            match joined {
                Some(joined) => {
                    all.pop();
                    all.push(joined);
                }
                None => all.push(next),
            }
        }
        all
    }

    /// Everything, for a lifted product by Schönhage's transform; products of blocks are by lanes.
    pub fn run_schoenhage(&mut self, lift: &Lift, main: &Schoenhage) -> Result<(), LowerError> {
        let (q, lanes, n, blocks) = (self.q, self.lanes, self.n, main.blocks());
        if main.k != lanes {
            return Err(unsupported(
                format!("(schoenhage {} …)", main.k),
                format!("blocks of {} do not fill a register of {lanes} words", main.k),
                format!("(schoenhage {lanes} …)"),
            ));
        }
        if !blocks.is_multiple_of(lanes) {
            let why = format!("{blocks} products leave lanes of {lanes} idle");
            return Err(unsupported("schoenhage", why, format!("a multiple of {lanes} blocks")));
        }
        let h = self.operand;
        let c = self.builder.ranged("c", Role::Output, n, 2, Some((-h, h)));
        let a = self.builder.ranged("a", Role::Input, n, 2, Some((-h, h)));
        let b = self.builder.ranged("b", Role::Input, n, 2, Some((-h, h)));
        let length = 2 * n - 1;
        let words = length.next_multiple_of(lanes).max(blocks * lanes) + lanes;
        let full = self.builder.buffer("full", Role::Local, words, ALIGNMENT);
        let high = self.builder.buffer("high", Role::Local, (blocks + 1) * lanes, ALIGNMENT);

        let scale = main.scale().times(METHOD.scale(q)?).times(self.spared(&main.convolution)?);
        let (target, last_factor) = self.scales(scale)?;

        let (forward, bounds) = self.forward_blocks(main)?;
        let transformed = [("ta", a), ("tb", b)].map(|(name, from)| {
            let to = self.builder.buffer(name, Role::Local, 2 * blocks * lanes, ALIGNMENT);
            let arguments = vec![(to, Index::at(0)), (from, Index::at(0))];
            let title = format!("main part: forward transform of {}", &name[1..]);
            let call = Stmt::Call { procedure: forward, arguments };
            self.builder.stage(&title, "[Hwang24 §4.3]", vec![call]);
            to
        });
        let cells = main.transform.cells();
        let Products { buffer, mut bounds } =
            self.lane_products("main", &main.convolution, &cells, transformed, &bounds)?;

        let mut steps = main.transform.inverse_steps(&vec![true; blocks]);
        // Every value passes through the last step once, and it has multiplications.
        for group in steps.iter_mut().rev().take(1).flat_map(|step| &mut step.groups) {
            let factor = target.over(scale).value();
            let (net, outputs) = scaled(&group.net, &group.outputs, factor);
            *group = Group { net, outputs, ..group.clone() };
        }
        let steps = self.fused_steps(steps);
        let mut builder = std::mem::replace(&mut self.builder, Builder::new("", None, q));
        let between = ["cells", "others"]
            .map(|name| builder.buffer(name, Role::Local, STORED * blocks * lanes, ALIGNMENT));
        let limits = (self.schedule.limits.inverse_first, self.schedule.limits.full / 2);
        let ends = (Blocks::Squares(buffer), Blocks::Halves(full, high));
        let all = (&steps[..], "inverse");
        self.block_steps(&mut builder, all, ends, between, &mut bounds, limits)?;
        self.builder = builder;

        let counter = self.builder.counter();
        let at = || Index::strided(lanes, counter, lanes);
        let mut block = Block::default();
        let x = block.push(Op::Load { buffer: full, at: at() });
        let y = block.push(Op::Load { buffer: high, at: at() });
        let sum = block.push(Op::Add(x, y));
        block.push(Op::Store { buffer: full, at: at(), a: sum });
        let body = vec![repeat(counter, blocks - 1, vec![Stmt::Block(block)])];
        self.builder.stage("main part: blocks overlap", "[Hwang24 §4.3]", body);

        let bound = 2 * bounds.iter().copied().max().unwrap_or(0);
        self.borders.push(("unreduced product".into(), bound));
        let reduction = lift.reduction(last_factor).ok_or_else(|| {
            let node = self.plan.root.to_form();
            unsupported(node, "the outermost lift reduces mod f", "lift in a ring")
        })?;
        self.fold(&reduction, last_factor, full, bound, words, c)
    }

    /// The procedure for the forward transform of an operand, and the bounds of what it leaves.
    fn forward_blocks(&mut self, main: &Schoenhage) -> Result<(ProcedureId, Vec<i64>), LowerError> {
        let (lanes, n, h, blocks) = (self.lanes, self.n, self.operand, main.blocks());
        let mut builder = Builder::new(&format!("{}forward", self.prefix), None, self.q);
        let out = builder.buffer("out", Role::Scratch, 2 * blocks * lanes, ALIGNMENT);
        let input = builder.ranged("in", Role::Input, n, 2, Some((-h, h)));
        let cells = ["cells", "others"]
            .map(|name| builder.buffer(name, Role::Local, STORED * blocks * lanes, ALIGNMENT));
        let steps = self.fused_steps(main.transform.forward_steps(&main.present()));
        let mut bounds = vec![h; blocks];
        let limits = (self.schedule.limits.forward_first, self.schedule.limits.forward);
        let ends = (Blocks::Operand(input, n), Blocks::Squares(out));
        let all = (&steps[..], "forward");
        self.block_steps(&mut builder, all, ends, cells, &mut bounds, limits)?;
        self.procedures.push(builder.finish());
        Ok((ProcedureId(self.procedures.len() as u32 - 1), bounds))
    }
}
