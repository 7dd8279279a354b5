//! The stages around the products of blocks: operands in, transforms, the product out.

use super::super::fuse::fused;
use super::super::network::Phase;
use super::super::{LowerError, Lowering};
use super::{Parts, Rows, Words};
use crate::build::{Builder, repeat, repeat_unrolled};
use crate::ir::*;
use ringforge_targets::ALIGNMENT;

impl Lowering<'_> {
    /// Copies `n` words of a caller into whole registers, reduced or as they are, zeros behind them
    /// up to `words`.
    pub(super) fn stage_padded(
        &mut self,
        name: &str,
        (from, n): (BufferId, usize),
        words: usize,
        reduced: bool,
    ) -> BufferId {
        let lanes = self.lanes;
        let to = self.builder.buffer(name, Role::Local, words, ALIGNMENT);
        let method = self.schedule.reduce();
        let copy = |block: &mut Block, load: Op, at: Index| {
            let mut a = block.push(load);
            if reduced {
                a = block.push(Op::Reduce { a, method });
            }
            block.push(Op::Store { buffer: to, at, a });
        };
        let counter = self.builder.counter();
        let mut body = repeat_unrolled(counter, n / lanes, 4, &|block, at| {
            copy(block, Op::Load { buffer: from, at: at(0, lanes) }, at(0, lanes));
        });
        let whole = n - n % lanes;
        let mut block = Block::default();
        if whole < n {
            let count = (n - whole) as u32;
            let at = Index::at(whole);
            copy(&mut block, Op::LoadPartial { buffer: from, at: at.clone(), count }, at);
            body.push(Stmt::Block(block));
        }
        self.builder.stage(&format!("bring in {}, zeros behind", &name[1..]), "", body);
        self.zeros(to, n.next_multiple_of(lanes), words);
        to
    }

    /// Zeros in words `from..to`, which hold a register at least where they are not none.
    pub(super) fn zeros(&mut self, buffer: BufferId, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let lanes = self.lanes;
        let mut block = Block::default();
        let a = block.push(Op::Splat(0));
        let whole = (to - from) / lanes;
        let mut body = Vec::new();
        if whole > 0 {
            let counter = self.builder.counter();
            let at = Index::strided(from, counter, lanes);
            block.push(Op::Store { buffer, at, a });
            body.push(repeat(counter, whole, vec![Stmt::Block(block)]));
        }
        let rest = (to - from) % lanes;
        if rest > 0 {
            let mut block = Block::default();
            let a = block.push(Op::Splat(0));
            let at = Index::at(to - rest);
            block.push(Op::StorePartial { buffer, at, count: rest as u32, a });
            body.push(Stmt::Block(block));
        }
        self.builder.stage("zeros", "", body);
    }

    /// The first coefficients of an operand, zeros behind them.
    pub(super) fn cut(&mut self, operand: Words, coefficients: usize) -> Words {
        let (lanes, words) = (self.lanes, operand.words);
        let buffer = self.builder.unique("short", Role::Local, words, ALIGNMENT);
        let counter = self.builder.counter();
        let at = Index::strided(0, counter, lanes);
        let mut block = Block::default();
        let a = block.push(Op::Load { buffer: operand.buffer, at: at.clone() });
        block.push(Op::Store { buffer, at, a });
        let body = vec![repeat(counter, words / lanes, vec![Stmt::Block(block)])];
        self.builder.stage(&format!("the first {coefficients} coefficients"), "", body);
        self.zeros(buffer, coefficients, words);
        Words { buffer, words }
    }

    /// Both operands transformed by one procedure, and the bounds of their cells.
    pub(super) fn transforms(
        &mut self,
        parts: &Parts,
        operands: [Words; 2],
        tag: &str,
    ) -> Result<(Rows, Rows, Vec<i64>), LowerError> {
        let (h, k) = (self.operand, self.padded(parts.k));
        let words = parts.cells() * k;
        let name = match tag {
            "main" => format!("{}forward", self.prefix),
            _ => format!("{}forward_{tag}", self.prefix),
        };
        let mut builder = Builder::new(&name, None, self.modulus());
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let input = builder.ranged("in", Role::Input, operands[0].words, ALIGNMENT, Some((-h, h)));
        let from = Rows { buffer: input, stride: parts.k };
        let to = Rows { buffer: out, stride: k };
        let mut bounds = vec![h; parts.cells()];
        let limits = [self.schedule.forward_first(), self.schedule.forward()];
        let forward = fused(parts.forward.clone(), self.schedule.fuse() as usize, true);
        self.phases(&mut builder, &forward, (from, to), &mut bounds, limits, k)?;
        self.procedures.push(builder.finish());
        let procedure = ProcedureId(self.procedures.len() as u32 - 1);
        let [a, b] = [("a", 0), ("b", 1)].map(|(operand, i)| {
            let name = match tag {
                "main" => format!("t{operand}"),
                _ => format!("t{operand}_{tag}"),
            };
            let buffer = self.builder.unique(&name, Role::Local, words, ALIGNMENT);
            let arguments = vec![(buffer, Index::at(0)), (operands[i].buffer, Index::at(0))];
            let call = Stmt::Call { procedure, arguments };
            let title = format!("{tag} part: forward transform of {operand}");
            self.builder.stage(&title, "", vec![call]);
            Rows { buffer, stride: k }
        });
        Ok((a, b, bounds))
    }

    /// One phase, for all registers of its blocks.
    pub(super) fn block_phase(
        &mut self,
        builder: &mut Builder,
        phase: &Phase,
        (from, to): (Rows, Rows),
        bounds: &mut Vec<i64>,
        limit: i64,
        k: usize,
    ) -> Result<Vec<Stmt>, LowerError> {
        let lanes = self.lanes;
        let in_place = from.buffer == to.buffer;
        let column = (k > lanes).then(|| builder.counter());
        let mut after = bounds.clone();
        let strided = phase.stride();
        let counter = strided.map(|_| builder.counter());
        let groups = if strided.is_some() { &phase.groups[..1] } else { &phase.groups[..] };
        let mut body = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let stage = match groups.len() {
                1 => phase.stage.clone(),
                _ => format!("{}.{number}", phase.stage),
            };
            let of = |i: &usize| bounds.get(*i).copied().unwrap_or(0);
            let inputs: Vec<i64> = match strided {
                Some(_) => (0..group.from.len())
                    .map(|i| phase.groups.iter().map(|g| of(&g.from[i])).max().unwrap_or(0))
                    .collect(),
                None => group.from.iter().map(of).collect(),
            };
            let limits = vec![limit; group.outputs.len()];
            let (group, placement) = self.placed(&stage, group, &inputs, &limits)?;
            let alike =
                if strided.is_some() { &phase.groups[..] } else { std::slice::from_ref(&group) };
            for g in alike {
                for (&to, v) in g.to.iter().zip(&group.outputs) {
                    if let Some(bound) = after.get_mut(to) {
                        *bound = placement.bounds[v.0 as usize];
                    }
                }
            }
            let at = |rows: Rows, block: usize, step: Option<usize>| {
                let mut index = Index::at(block * rows.stride);
                index
                    .terms
                    .extend(counter.zip(step).map(|(c, step)| (c, (step * rows.stride) as i64)));
                index.terms.extend(column.map(|c| (c, lanes as i64)));
                index
            };
            let [step_from, step_to] = [strided.map(|s| s.0), strided.map(|s| s.1)];
            let mut block = Block::default();
            self.network(
                &mut block,
                &group,
                &placement,
                in_place && self.loads_all_first(&group),
                &mut |block, i| {
                    let at = at(from, group.from[i], step_from);
                    block.push(Op::Load { buffer: from.buffer, at })
                },
                &mut |block, i, a| {
                    let at = at(to, group.to[i], step_to);
                    block.push(Op::Store { buffer: to.buffer, at, a });
                },
            );
            body.push(match counter {
                Some(counter) => repeat(counter, phase.groups.len(), vec![Stmt::Block(block)]),
                None => Stmt::Block(block),
            });
        }
        *bounds = after;
        Ok(match column {
            Some(column) => vec![repeat(column, k / lanes, body)],
            None => body,
        })
    }

    /// The inverse transform, and its blocks one after the other in `out`.
    pub(super) fn inverse_blocks(
        &mut self,
        parts: &Parts,
        factor: u64,
        products: Rows,
        bound: i64,
        (out, words): (BufferId, usize),
        tag: &str,
    ) -> Result<i64, LowerError> {
        let k = self.padded(parts.k);
        let phases = fused(parts.inverse(factor), self.schedule.fuse() as usize, false);
        let count = parts.wanted.div_ceil(parts.k).max(1);
        let mut bounds = vec![bound; parts.cells()];
        let empty = Builder::new("", None, self.modulus());
        let mut builder = std::mem::replace(&mut self.builder, empty);
        let limits = [self.schedule.inverse_first(), self.schedule.full()];
        // Whole registers go where they belong at once.
        let direct = k == parts.k && count * k <= words;
        let all = phases.len() - 1;
        let result = self.phases(
            &mut builder,
            &phases[..all],
            (products, products),
            &mut bounds,
            [limits[0]; 2],
            k,
        );
        let result = result.and_then(|()| {
            // The last groups write where others still read.
            let to = match direct {
                true => out,
                false => {
                    builder.unique("blocks", Role::Local, parts.cells().max(count) * k, ALIGNMENT)
                }
            };
            let to = Rows { buffer: to, stride: k };
            self.phases(&mut builder, &phases[all..], (products, to), &mut bounds, limits, k)?;
            Ok(to)
        });
        self.builder = builder;
        let blocks = result?;
        let bound = bounds[..count.min(bounds.len())].iter().copied().max().unwrap_or(0);
        if !direct {
            self.blocks_together(blocks, (out, parts.k), count, tag);
        }
        Ok(bound)
    }

    /// Blocks of `k` words one after the other in `out`, a register at most behind the last of them written too.
    pub(super) fn blocks_together(
        &mut self,
        blocks: Rows,
        (out, k): (BufferId, usize),
        count: usize,
        tag: &str,
    ) {
        // In ascending order: what is behind a block's last coefficient is written over.
        let lanes = self.lanes;
        let counter = self.builder.counter();
        let mut block = Block::default();
        for r in (0..blocks.stride).step_by(lanes) {
            let a = block.push(Op::Load {
                buffer: blocks.buffer,
                at: Index::strided(r, counter, blocks.stride),
            });
            block.push(Op::Store { buffer: out, at: Index::strided(r, counter, k), a });
        }
        let body = vec![repeat(counter, count, vec![Stmt::Block(block)])];
        self.builder.stage(&format!("{tag} part: blocks of {k} together"), "", body);
    }
}
