//! Transforms as phases: the steps of the plan's transform, named after the part they belong to, and their code.

use super::network::Phase;
use super::{LowerError, Lowering};
use crate::build::{Builder, repeat};
use crate::cut::scaled;
use crate::ir::*;
use crate::place::Placement;
use ringforge_plan::{Blocks, Group, Step};

fn phase(tag: &str, direction: &str, step: Step) -> Phase {
    let Step { title, cite, name, groups } = step;
    let stage = match name.as_str() {
        "" => format!("{tag}.{direction}"),
        _ => format!("{tag}.{direction}.{name}"),
    };
    Phase { title: format!("{tag} part: {title}"), cite, stage, groups }
}

/// The forward transform in phases: from blocks of the operand to cells.
pub(crate) fn forward_phases(tag: &str, part: &Blocks) -> Vec<Phase> {
    let steps = part.transform.forward_steps(&part.present());
    steps.into_iter().map(|step| phase(tag, "forward", step)).collect()
}

/// The inverse in phases: from cells to blocks of the product (`to` of the last).
pub(crate) fn unscaled_phases(tag: &str, part: &Blocks) -> Vec<Phase> {
    let steps = part.transform.inverse_steps(&part.wanted());
    steps.into_iter().map(|step| phase(tag, "inverse", step)).collect()
}

/// The same, times `factor`.
pub(crate) fn inverse_phases(tag: &str, part: &Blocks, factor: u64) -> Vec<Phase> {
    let mut phases = unscaled_phases(tag, part);
    // Every value passes through the first step once.
    scale(phases.first_mut().map(|first| &mut first.groups), factor);
    phases
}

/// Multiplies what all groups of a step leave.
pub(super) fn scale(groups: Option<&mut Vec<Group>>, factor: u64) {
    for group in groups.into_iter().flatten() {
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

    /// The phases of a transform; `bounds` of the blocks before and after, of `k` words each. The last phase has a limit of
    /// its own.
    pub(super) fn phases(
        &mut self,
        phases: &[Phase],
        (from, to): (Rows, Rows),
        bounds: &mut [i64],
        limits: [i64; 2],
        k: usize,
    ) -> Result<(), LowerError> {
        for (number, phase) in phases.iter().enumerate() {
            let from = if number == 0 { from } else { to };
            let limit = limits[usize::from(number + 1 == phases.len())];
            let body = self.phase(phase, (from, to), bounds, limit, k)?;
            self.builder.stage(&phase.title, phase.cite, body);
            let most = bounds.iter().copied().max().unwrap_or(0);
            self.written.border(phase.stage.clone(), most);
        }
        Ok(())
    }

    /// One phase, for all registers of its blocks.
    fn phase(
        &mut self,
        phase: &Phase,
        (from, to): (Rows, Rows),
        bounds: &mut [i64],
        limit: i64,
        k: usize,
    ) -> Result<Vec<Stmt>, LowerError> {
        let lanes = self.lanes;
        let column = (k > lanes).then(|| self.builder.counter());
        let strided = phase.stride();
        let counter = strided.map(|_| self.builder.counter());
        let at = |rows: Rows, block: usize, step: Option<usize>| {
            let mut index = rows.at(block);
            let steps = counter.zip(step).map(|(c, step)| (c, (step * rows.stride) as i64));
            index.terms.extend(steps);
            index.terms.extend(column.map(|c| (c, lanes as i64)));
            index
        };
        let [step_from, step_to] = [strided.map(|s| s.0), strided.map(|s| s.1)];
        let mut after = bounds.to_vec();
        let mut body = self.groups(
            phase,
            strided.is_some(),
            (&|i| bounds.get(i).copied().unwrap_or(0), &|_| limit),
            &mut |lowering, block, group, placement| {
                let alike =
                    if counter.is_some() { &phase.groups[..] } else { std::slice::from_ref(group) };
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
            body = vec![repeat(counter, phase.groups.len(), body)];
        }
        bounds.copy_from_slice(&after);
        Ok(match column {
            Some(column) => vec![repeat(column, k / lanes, body)],
            None => body,
        })
    }

    /// The groups of a phase one by one, or the first one for all where they are `alike`. Bounds are those of the blocks
    /// that are read, and limits of those that are written.
    pub(super) fn groups(
        &mut self,
        phase: &Phase,
        alike: bool,
        (bound, limit): Ranges,
        write: &mut Write,
    ) -> Result<Vec<Stmt>, LowerError> {
        let all = &phase.groups[..];
        let written = if alike { &all[..1] } else { all };
        let mut body = Vec::new();
        for (number, group) in written.iter().enumerate() {
            let stage = match written.len() {
                1 => phase.stage.clone(),
                _ => format!("{}.{number}", phase.stage),
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
