//! Incomplete transforms: forward of both operands by one procedure, inverse into the unreduced
//! product.

use super::fuse::fused;
use super::network::Phase;
use super::parts::Low;
use super::phases::{forward_phases, inverse_phases};
use super::{LowerError, Lowering, Operand, unsupported};
use crate::build::{Builder, repeat};
use crate::cut::scaled;
use crate::ir::*;
use crate::schedule::{BaseProducts, ScalePlace, Weights};
use ringforge_plan::{Group, Substitute};
use ringforge_targets::{ALIGNMENT, TABLE_ALIGNMENT};

/// The products of the transformed operands, block after block, as the inverse finds them.
#[derive(Clone, Debug)]
pub(crate) struct Products {
    pub buffer: BufferId,
    /// Largest magnitude by cell.
    pub bounds: Vec<i64>,
}

/// Both operands transformed, by cell.
#[derive(Clone, Debug)]
pub(crate) struct Transformed {
    pub buffers: [BufferId; 2],
    pub bounds: Vec<i64>,
}

/// Where the blocks of a phase lie: block i at word `start + i·stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub buffer: BufferId,
    pub start: usize,
    pub stride: usize,
    /// Where the last, partial block of an operand lies, zeros behind it, if not in its place.
    pub tail: Option<BufferId>,
}

impl Layout {
    fn at(&self, block: usize) -> Index {
        Index::at(self.start + block * self.stride)
    }
}

impl Lowering<'_> {
    /// The statements of one phase; `bounds` are those of the blocks it reads, and become those
    /// of the blocks it writes.
    fn phase(
        &mut self,
        builder: &mut Builder,
        phase: &Phase,
        from: Layout,
        to: Layout,
        bounds: &mut [i64],
        limit: i64,
    ) -> Result<Vec<Stmt>, LowerError> {
        let in_place = from.buffer == to.buffer;
        if let Some((step_from, step_to)) = phase.stride() {
            let group = &phase.groups[0];
            let worst = |i: usize| phase.groups.iter().map(|g| bounds[g.from[i]]).max();
            let inputs: Vec<i64> = (0..group.from.len()).map(|i| worst(i).unwrap_or(0)).collect();
            let limits = vec![limit; group.outputs.len()];
            let (group, placement) = self.placed(&phase.stage, group, &inputs, &limits)?;
            let group = &group;
            for g in &phase.groups {
                for (&to, v) in g.to.iter().zip(&group.outputs) {
                    bounds[to] = placement.bounds[v.0 as usize];
                }
            }
            let counter = builder.counter();
            let step = |mut index: Index, blocks: usize, layout: Layout| {
                index.terms.push((counter, (blocks * layout.stride) as i64));
                index
            };
            let mut block = Block::default();
            self.network(
                &mut block,
                group,
                &placement,
                in_place && self.loads_all_first(group),
                &mut |block, i| {
                    let at = step(from.at(group.from[i]), step_from, from);
                    block.push(Op::Load { buffer: from.buffer, at })
                },
                &mut |block, i, a| {
                    let at = step(to.at(group.to[i]), step_to, to);
                    block.push(Op::Store { buffer: to.buffer, at, a });
                },
            );
            return Ok(vec![repeat(counter, phase.groups.len(), vec![Stmt::Block(block)])]);
        }
        let mut body = Vec::new();
        let mut after = bounds.to_vec();
        for (number, group) in phase.groups.iter().enumerate() {
            let stage = match phase.groups.len() {
                1 => phase.stage.clone(),
                _ => format!("{}.{number}", phase.stage),
            };
            let inputs: Vec<i64> =
                group.from.iter().map(|&i| bounds.get(i).copied().unwrap_or(0)).collect();
            let limits = vec![limit; group.outputs.len()];
            let (group, placement) = self.placed(&stage, group, &inputs, &limits)?;
            let group = &group;
            for (&to, v) in group.to.iter().zip(&group.outputs) {
                if let Some(bound) = after.get_mut(to) {
                    *bound = placement.bounds[v.0 as usize];
                }
            }
            let mut block = Block::default();
            self.network(
                &mut block,
                group,
                &placement,
                in_place && self.loads_all_first(group),
                &mut |block, i| block.push(self.load_block(from, group.from[i], in_place)),
                &mut |block, i, a| {
                    let at = to.at(group.to[i]);
                    block.push(Op::Store { buffer: to.buffer, at, a });
                },
            );
            body.push(Stmt::Block(block));
        }
        bounds.copy_from_slice(&after);
        Ok(body)
    }

    /// Loads a block; of a caller's array, which ends with the last coefficient, no word more.
    fn load_block(&self, from: Layout, number: usize, in_place: bool) -> Op {
        let (buffer, at, n) = (from.buffer, from.at(number), self.n);
        let start = from.start + number * from.stride;
        match from.tail {
            _ if in_place || start + self.lanes <= n => Op::Load { buffer, at },
            Some(buffer) => Op::Load { buffer, at: Index::at(0) },
            None => Op::LoadPartial { buffer, at, count: n.saturating_sub(start) as u32 },
        }
    }

    /// Both forward transforms, and what the base products want to find ready.
    pub fn transformed(
        &mut self,
        tag: &str,
        part: &Substitute,
        a: &Operand,
        b: &Operand,
    ) -> Result<Transformed, LowerError> {
        let (lanes, blocks) = (self.lanes, part.blocks());
        let by_lanes = self.schedule.base() == BaseProducts::Lanes;
        // Operand b's blocks stand behind room for their weighted copies; a's are laid out alike,
        // so that one procedure serves both. For products by lanes, whole squares are transposed.
        let (words, start, stride) = match by_lanes {
            true => (blocks.next_multiple_of(lanes) * lanes, 0, lanes),
            false => (blocks * 2 * lanes, lanes, 2 * lanes),
        };
        let name = if tag == "main" { "forward".to_string() } else { format!("forward_{tag}") };
        let name = self.prefix.clone() + &name;
        let mut builder = Builder::new(&name, None, self.q);
        let out = builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let present = part.present().iter().filter(|&&p| p).count();
        let h = self.operand;
        let room = (present * lanes).min(self.n);
        let input = builder.ranged("in", Role::Input, room, 2, Some((-h, h)));
        // Where operands differ in their last block, that comes separately.
        let partial = !room.is_multiple_of(lanes);
        let tail = (partial && !by_lanes)
            .then(|| builder.ranged("tail", Role::Input, lanes, TABLE_ALIGNMENT, Some((-h, h))));
        let phases = fused(forward_phases(tag, part), self.schedule.fuse() as usize, true);
        let mut bounds = vec![h; blocks];
        for (i, phase) in phases.iter().enumerate() {
            let cells = Layout { buffer: out, start, stride, tail: None };
            let from = match i {
                0 => Layout { buffer: input, start: 0, stride: lanes, tail },
                _ => cells,
            };
            let limit = match i + 1 == phases.len() {
                true => self.schedule.forward(),
                false => self.schedule.forward_first(),
            };
            let body = self.phase(&mut builder, phase, from, cells, &mut bounds, limit)?;
            builder.stage(&phase.title, phase.cite, body);
            let bound = bounds.iter().copied().max().unwrap_or(0);
            self.borders.push((phase.stage.clone(), bound));
        }
        if by_lanes && words > blocks * lanes && !self.moves(&part.convolution)? {
            let mut block = Block::default();
            // Anything bounded may stand there. Zeros or copies would turn into calls of memset
            // and memcpy.
            for cell in blocks..words / lanes {
                let at = Index::at((cell - blocks) % blocks * lanes);
                let a = block.push(Op::Load { buffer: out, at });
                let a = block.push(Op::Reduce { a, method: self.schedule.reduce() });
                block.push(Op::Store { buffer: out, at: Index::at(cell * lanes), a });
            }
            builder.stage("spare lanes", "", vec![Stmt::Block(block)]);
        }
        self.procedures.push(builder.finish());
        let forward = ProcedureId(self.procedures.len() as u32 - 1);

        let buffers = [("a", a), ("b", b)].map(|(operand, from)| {
            let name = match tag {
                "main" => format!("t{operand}"),
                _ => format!("t{operand}_{tag}"),
            };
            let to = self.builder.buffer(&name, Role::Local, words, ALIGNMENT);
            let mut arguments = vec![(to, Index::at(0)), (from.buffer, Index::at(from.start))];
            arguments.extend(from.tail.clone().filter(|_| tail.is_some()));
            let call = Stmt::Call { procedure: forward, arguments };
            let title = format!("{tag} part: forward transform of {operand}");
            self.builder.stage(&title, "[Chiu25 §3.2.1]", vec![call]);
            to
        });
        if self.schedule.base() == BaseProducts::BroadcastDot
            && self.schedule.weights() == Weights::Apart
        {
            self.weigh(tag, part, buffers[1]);
        }
        Ok(Transformed { buffers, bounds })
    }

    /// The products of the blocks.
    pub fn products(
        &mut self,
        tag: &str,
        part: &Substitute,
        Transformed { buffers, bounds }: Transformed,
    ) -> Result<Products, LowerError> {
        match self.schedule.base() {
            // Whose methods are all direct: `suited` has seen to it.
            BaseProducts::BroadcastDot => self.base_products(tag, part, buffers, &bounds),
            BaseProducts::Lanes => {
                let cells = part.transform.cells();
                self.lane_products(tag, &part.convolution, &cells, buffers, &bounds)
            }
        }
    }

    /// The inverse transform into the unreduced product, joined with the low part.
    pub fn inverse_into(
        &mut self,
        part: &Substitute,
        products: Products,
        factor: u64,
        full: BufferId,
        low: &Low,
        length: usize,
    ) -> Result<i64, LowerError> {
        let lanes = self.lanes;
        let last = self.schedule.scale() == ScalePlace::Last;
        let mut phases = inverse_phases("main", part, if last { 1 } else { factor });
        for group in phases.iter_mut().rev().take(usize::from(last)).flat_map(|p| &mut p.groups) {
            let (net, outputs) = scaled(&group.net, &group.outputs, factor);
            *group = Group { net, outputs, ..group.clone() };
        }
        let phases = fused(phases, self.schedule.fuse() as usize, false);
        let cells = Layout { buffer: products.buffer, start: 0, stride: lanes, tail: None };
        let mut bounds = products.bounds.clone();
        let mut builder = std::mem::replace(&mut self.builder, Builder::new("", None, self.q));
        for phase in &phases[..phases.len() - 1] {
            let limit = self.schedule.inverse_first();
            let body = self.phase(&mut builder, phase, cells, cells, &mut bounds, limit)?;
            builder.stage(&phase.title, phase.cite, body);
            let bound = bounds.iter().copied().max().unwrap_or(0);
            self.borders.push((phase.stage.clone(), bound));
        }
        let Some(last) = phases.last() else {
            return Err(unsupported(
                "transform",
                "it has no phase",
                "a transform of length 1 or more",
            ));
        };
        let main_words = part.blocks() * lanes;
        let whole = low.words.is_multiple_of(lanes);
        if low.words > 0 && !whole && main_words + low.words != length {
            return Err(unsupported(
                "monomial-crt",
                format!("degrees {main_words} and {} leave room beyond {length}", low.words),
                format!("a monomial factor of degree {}", length - main_words),
            ));
        }
        let mut worst = low.bound;
        let mut body = Vec::new();
        for (number, group) in last.groups.iter().enumerate() {
            let stage = match last.groups.len() {
                1 => last.stage.clone(),
                _ => format!("{}.{number}", last.stage),
            };
            let inputs: Vec<i64> = group.from.iter().map(|&i| bounds[i]).collect();
            // Blocks that meet the low part have its bound added to theirs.
            let meets = |block: usize| block * lanes < low.words;
            let limit = self.schedule.full();
            let limits: Vec<i64> = group
                .to
                .iter()
                .map(|&i| if meets(i) { limit - low.bound } else { limit })
                .collect();
            let (group, placement) = self.placed(&stage, group, &inputs, &limits)?;
            let group = &group;
            for (&to, v) in group.to.iter().zip(&group.outputs) {
                let bound = placement.bounds[v.0 as usize];
                worst = worst.max(if meets(to) { bound + low.bound } else { bound });
            }
            let mut block = Block::default();
            self.network(
                &mut block,
                group,
                &placement,
                false,
                &mut |block, i| {
                    let at = cells.at(group.from[i]);
                    block.push(Op::Load { buffer: cells.buffer, at })
                },
                &mut |block, i, a| low.join(block, full, group.to[i], main_words, lanes, a),
            );
            body.push(Stmt::Block(block));
        }
        builder.stage(&last.title, last.cite, body);
        self.builder = builder;
        Ok(worst)
    }
}
