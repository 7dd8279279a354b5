//! Schönhage's transform: blocks of two registers, polynomials mod x^2K + 1 for registers of K words.

mod steps;

use super::lanes::METHOD;
use super::transform::Products;
use super::{LowerError, Lowering, unsupported};
use crate::build::{Builder, repeat};
use crate::cut::scaled;
use crate::ir::*;
use ringforge_plan::{Group, Lift, Product, Schoenhage};
use ringforge_targets::ALIGNMENT;
use steps::{Blocks, STORED};

impl Lowering<'_> {
    /// Everything, for a lifted product by Schönhage's transform; products of blocks are by lanes. The machine holds so
    /// many registers at a time.
    pub fn run_schoenhage(
        &mut self,
        lift: &Lift,
        main: &Schoenhage,
        held: usize,
    ) -> Result<(), LowerError> {
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

        let (forward, bounds) = self.forward_blocks(main, held)?;
        let transformed = [("ta", a), ("tb", b)].map(|(name, from)| {
            let to = self.builder.buffer(name, Role::Local, 2 * blocks * lanes, ALIGNMENT);
            let arguments = vec![(to, Index::at(0)), (from, Index::at(0))];
            let title = format!("main part: forward transform of {}", &name[1..]);
            let call = Stmt::Call { procedure: forward, arguments };
            self.builder.stage(&title, "[Hwang24 §4.3]", vec![call]);
            to
        });
        let cells = main.transform.cells();
        let Products { buffer, bounds } =
            self.lane_products("main", &main.convolution, &cells, transformed, &bounds)?;

        let mut steps = main.transform.inverse_steps(&vec![true; blocks]);
        // Every value passes through the last step once, and it has multiplications.
        for group in steps.iter_mut().rev().take(1).flat_map(|step| &mut step.groups) {
            let factor = target.over(scale).value();
            let (net, outputs) = scaled(&group.net, &group.outputs, factor);
            *group = Group { net, outputs, ..group.clone() };
        }
        let mut builder = std::mem::replace(&mut self.builder, Builder::new("", None, q));
        let between = ["cells", "others"]
            .map(|name| builder.buffer(name, Role::Local, STORED * blocks * lanes, ALIGNMENT));
        let limits = (self.schedule.inverse_first(), self.schedule.full() / 2);
        let ends = (Blocks::Squares(buffer), Blocks::Halves(full, high));
        let all = (steps, "inverse", held);
        let bounds = self.block_steps(&mut builder, all, ends, between, bounds, limits)?;
        self.builder = builder;

        let mut block = Block::default();
        // Where steps are joined, the last one adds what overlaps.
        let (title, body) = match self.schedule.fuse() > 0 {
            true => {
                let a = block.push(Op::Splat(0));
                block.push(Op::Store { buffer: high, at: Index::at(0), a });
                ("main part: no upper half below the first block", Stmt::Block(block))
            }
            false => {
                let counter = self.builder.counter();
                let at = || Index::strided(lanes, counter, lanes);
                let x = block.push(Op::Load { buffer: full, at: at() });
                let y = block.push(Op::Load { buffer: high, at: at() });
                let sum = block.push(Op::Add(x, y));
                block.push(Op::Store { buffer: full, at: at(), a: sum });
                let all = repeat(counter, blocks - 1, vec![Stmt::Block(block)]);
                ("main part: blocks overlap", all)
            }
        };
        self.builder.stage(title, "[Hwang24 §4.3]", vec![body]);

        let bound = 2 * bounds.iter().copied().max().unwrap_or(0);
        self.borders.push(("unreduced product".into(), bound));
        let reduction = lift.reduction(last_factor).ok_or_else(|| {
            let node = self.plan.root.to_form();
            unsupported(node, "the outermost lift reduces mod f", "lift in a ring")
        })?;
        let summands = if self.schedule.fuse() > 0 { &[full, high][..] } else { &[full] };
        self.fold(&reduction, last_factor, summands, bound, words, c)
    }

    /// The procedure for the forward transform of an operand, and the bounds of what it leaves.
    fn forward_blocks(
        &mut self,
        main: &Schoenhage,
        held: usize,
    ) -> Result<(ProcedureId, Vec<i64>), LowerError> {
        let (lanes, n, h, blocks) = (self.lanes, self.n, self.operand, main.blocks());
        let mut builder = Builder::new(&format!("{}forward", self.prefix), None, self.q);
        let out = builder.buffer("out", Role::Scratch, 2 * blocks * lanes, ALIGNMENT);
        let input = builder.ranged("in", Role::Input, n, 2, Some((-h, h)));
        let cells = ["cells", "others"]
            .map(|name| builder.buffer(name, Role::Local, STORED * blocks * lanes, ALIGNMENT));
        let steps = main.transform.forward_steps(&main.present());
        let limits = (self.schedule.forward_first(), self.schedule.forward());
        let ends = (Blocks::Operand(input, n), Blocks::Squares(out));
        let all = (steps, "forward", held);
        let before = vec![h; blocks];
        let bounds = self.block_steps(&mut builder, all, ends, cells, before, limits)?;
        self.procedures.push(builder.finish());
        Ok((ProcedureId(self.procedures.len() as u32 - 1), bounds))
    }
}
