//! The steps of the plan's transforms, named after the part that they belong to, and their code.

use super::network::stride;
use super::{LowerError, Lowering};
use crate::build::{Builder, repeat};
use crate::cut::scaled;
use crate::ir::*;
use crate::place::Placement;
use ringforge_plan::{Blocks, Group, Step};

/// Steps of a part, each with the name that its stage has in sites.
pub(super) fn named(tag: &str, direction: &str, steps: Vec<Step>) -> Vec<Step> {
    let named = |step: Step| Step {
        title: format!("{tag} part: {}", step.title),
        name: [tag, direction, &step.name].join(".").trim_end_matches('.').into(),
        ..step
    };
    steps.into_iter().map(named).collect()
}

/// The forward transform: from blocks of the operand to cells.
pub(crate) fn forward_steps(tag: &str, part: &Blocks) -> Vec<Step> {
    named(tag, "forward", part.transform.forward_steps(&part.present()))
}

/// The inverse: from cells to blocks of the product (`to` of the last).
pub(crate) fn unscaled_steps(tag: &str, part: &Blocks) -> Vec<Step> {
    named(tag, "inverse", part.transform.inverse_steps(&part.wanted()))
}

/// The same, times `factor`.
pub(crate) fn inverse_steps(tag: &str, part: &Blocks, factor: u64) -> Vec<Step> {
    let mut steps = unscaled_steps(tag, part);
    // Every value passes through the first step once.
    scale(steps.first_mut(), factor);
    steps
}

/// Multiplies what all groups of a step leave.
pub(super) fn scale(step: Option<&mut Step>, factor: u64) {
    for group in step.into_iter().flat_map(|step| &mut step.groups) {
        let (net, outputs) = scaled(&group.net, &group.outputs, factor);
        *group = Group { net, outputs, ..group.clone() };
    }
}

/// Where blocks lie: block i at word `start + i·stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub buffer: BufferId,
    pub start: usize,
    pub stride: usize,
    /// The words of a caller's array, no word behind which is read, and where its last, partial block lies with zeros
    /// behind it, if it is staged.
    pub caller: Option<(usize, Option<BufferId>)>,
}

impl Rows {
    /// Blocks from the first word of an array on.
    pub fn of(buffer: BufferId, stride: usize) -> Rows {
        Rows { buffer, start: 0, stride, caller: None }
    }

    pub fn at(&self, block: usize) -> Index {
        Index::at(self.start + block * self.stride)
    }

    /// Loads a block of one register.
    fn load(&self, number: usize, lanes: usize) -> Op {
        let (buffer, at, start) = (self.buffer, self.at(number), self.start + number * self.stride);
        match self.caller {
            Some((words, tail)) if start + lanes > words => match tail {
                Some(buffer) => Op::Load { buffer, at: Index::at(0) },
                None => Op::LoadPartial { buffer, at, count: words.saturating_sub(start) as u32 },
            },
            _ => Op::Load { buffer, at },
        }
    }
}

/// Largest magnitudes of blocks that are read, and limits of those that are written.
pub(super) type Ranges<'a> = (&'a dyn Fn(usize) -> i64, &'a dyn Fn(usize) -> i64);

/// What writes the code of a group, reductions placed.
type Write<'a> = dyn FnMut(&Lowering, &mut Block, &Group, &Placement) + 'a;

impl Lowering<'_> {
    /// Writes another procedure than the exported one.
    pub(super) fn helper<T>(
        &mut self,
        builder: Builder,
        write: impl FnOnce(&mut Self) -> Result<T, LowerError>,
    ) -> Result<(ProcedureId, T), LowerError> {
        let outer = std::mem::replace(&mut self.builder, builder);
        let made = write(self);
        let builder = std::mem::replace(&mut self.builder, outer);
        Ok((builder.finish_behind(&mut self.written.procedures), made?))
    }

    /// The steps of a transform; `bounds` of the blocks before and after, of `k` words each. The last step has a limit of
    /// its own.
    pub(super) fn steps(
        &mut self,
        steps: &[Step],
        (from, to): (Rows, Rows),
        bounds: &mut [i64],
        limits: [i64; 2],
        k: usize,
    ) -> Result<(), LowerError> {
        for (number, step) in steps.iter().enumerate() {
            let from = if number == 0 { from } else { to };
            let limit = limits[usize::from(number + 1 == steps.len())];
            let body = self.step(step, (from, to), bounds, limit, k)?;
            self.builder.stage(&step.title, step.cite, body);
            let most = bounds.iter().copied().max().unwrap_or(0);
            self.written.border(step.name.clone(), most);
        }
        Ok(())
    }

    /// One step, for all registers of its blocks.
    pub(super) fn step(
        &mut self,
        step: &Step,
        (from, to): (Rows, Rows),
        bounds: &mut [i64],
        limit: i64,
        k: usize,
    ) -> Result<Vec<Stmt>, LowerError> {
        let lanes = self.lanes;
        let column = (k > lanes).then(|| self.builder.counter());
        let strided = stride(&step.groups);
        let counter = strided.map(|_| self.builder.counter());
        let at = |rows: Rows, block: usize, turn: Option<usize>| {
            let mut index = rows.at(block);
            index.terms.extend(counter.zip(turn).map(|(c, turn)| (c, (turn * rows.stride) as i64)));
            index.terms.extend(column.map(|c| (c, lanes as i64)));
            index
        };
        let [step_from, step_to] = [strided.map(|s| s.0), strided.map(|s| s.1)];
        let mut after = bounds.to_vec();
        let mut body = self.groups(
            step,
            strided.is_some(),
            (&|i| bounds.get(i).copied().unwrap_or(0), &|_| limit),
            &mut |lowering, block, group, placement| {
                let alike =
                    if counter.is_some() { &step.groups[..] } else { std::slice::from_ref(group) };
                for g in alike {
                    for (&to, v) in g.to.iter().zip(&group.outputs) {
                        if let Some(bound) = after.get_mut(to) {
                            *bound = placement.bounds[v.0 as usize];
                        }
                    }
                }
                lowering.network(
                    block,
                    group,
                    placement,
                    from.buffer == to.buffer && lowering.loads_all_first(group),
                    &mut |block, i| match (counter, column) {
                        (None, None) => block.push(from.load(group.from[i], lanes)),
                        _ => block.load(from.buffer, at(from, group.from[i], step_from)),
                    },
                    &mut |block, i, a| block.store(to.buffer, at(to, group.to[i], step_to), a),
                );
            },
        )?;
        if let Some(counter) = counter {
            body = vec![repeat(counter, step.groups.len(), body)];
        }
        bounds.copy_from_slice(&after);
        Ok(match column {
            Some(column) => vec![repeat(column, k / lanes, body)],
            None => body,
        })
    }

    /// The groups of a step one by one, or the first one for all where they are `alike`. Bounds are those of the blocks
    /// that are read, and limits of those that are written.
    pub(super) fn groups(
        &mut self,
        step: &Step,
        alike: bool,
        (bound, limit): Ranges,
        write: &mut Write,
    ) -> Result<Vec<Stmt>, LowerError> {
        let all = &step.groups[..];
        let written = if alike { &all[..1] } else { all };
        let mut body = Vec::new();
        for (number, group) in written.iter().enumerate() {
            let stage = match written.len() {
                1 => step.name.clone(),
                _ => format!("{}.{number}", step.name),
            };
            let same = if alike { all } else { std::slice::from_ref(group) };
            let worst = |i: usize| same.iter().map(|g| bound(g.from[i])).max().unwrap_or(0);
            let inputs: Vec<i64> = (0..group.from.len()).map(worst).collect();
            let limits: Vec<i64> = group.to.iter().map(|&to| limit(to)).collect();
            let (group, placement) = self.placed(&stage, group, &inputs, &limits)?;
            let mut block = Block::default();
            write(self, &mut block, &group, &placement);
            body.push(Stmt::Block(block));
        }
        Ok(body)
    }
}
