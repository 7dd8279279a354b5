//! Bringing the operands in, and the low part mod x^M.

use super::transform::{Layout, inverse_phases};
use super::{LowerError, Lowering, Operand, is_truncated, low_transform, main_scale, unsupported};
use crate::build::repeat;
use crate::ir::*;
use crate::method::ProductMethod;
use crate::schedule::BaseProducts;
use ringforge_plan::MonomialCrt;
use ringforge_ring::zq;

/// What the inverse of the main part must know of the low part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Low {
    /// M: words of the low part; 0 where there is none.
    pub words: usize,
    /// Its largest magnitude.
    pub bound: i64,
}

impl Low {
    /// Stores block `block` of the main part, `a`, where the inverse of the Chinese remainder
    /// theorem puts it [Chiu25 eq. 3.1].
    ///
    /// The low part is already at the start of the unreduced product, except for its coefficient
    /// M - 1 where M is one more than a multiple of the lanes: then the top coefficient of the
    /// product stands behind the main part, and the low one is the main one minus that.
    pub fn join(
        &self,
        block: &mut Block,
        full: BufferId,
        number: usize,
        main_words: usize,
        lanes: usize,
        a: Value,
    ) {
        let start = number * lanes;
        let (low_at, top_at) = (Index::at(start), Index::at(main_words + start));
        if start + lanes <= self.words {
            let low = block.push(Op::Load { buffer: full, at: low_at });
            let top = block.push(Op::Sub(a, low));
            block.push(Op::Store { buffer: full, at: top_at, a: top });
        } else if start < self.words {
            let top = block.push(Op::Load { buffer: full, at: top_at });
            let low = block.push(Op::Sub(a, top));
            block.push(Op::Store { buffer: full, at: low_at, a: low });
        } else {
            block.push(Op::Store { buffer: full, at: low_at, a });
        }
    }
}

impl Lowering<'_> {
    /// Copies an operand into an aligned buffer, zeros before and after it; with `swapped`, the
    /// two words of every pair change places, as the broadcast dot products want them.
    pub fn stage_operand(
        &mut self,
        name: &str,
        from: BufferId,
        n: usize,
        swapped: bool,
    ) -> Operand {
        let lanes = self.lanes;
        let start = if swapped { 0 } else { lanes };
        let words = start + n.next_multiple_of(lanes);
        let buffer = self.builder.buffer(&format!("f{name}"), Role::Local, words, 64);
        let mut body = Vec::new();
        let mut first = Block::default();
        if start > 0 {
            let zero = first.push(Op::Splat(0));
            first.push(Op::Store { buffer, at: Index::at(0), a: zero });
            body.push(Stmt::Block(first));
        }
        let finish = |block: &mut Block, load: Op, at: Index| {
            let mut a = block.push(load);
            if swapped {
                a = block.push(Op::SwapPairs(a));
            }
            block.push(Op::Store { buffer, at, a });
        };
        let counter = self.builder.counter();
        let mut block = Block::default();
        let load = Op::Load { buffer: from, at: Index::strided(0, counter, lanes) };
        finish(&mut block, load, Index::strided(start, counter, lanes));
        body.push(repeat(counter, n / lanes, vec![Stmt::Block(block)]));
        if n % lanes > 0 {
            let mut block = Block::default();
            let (at, count) = (n - n % lanes, (n % lanes) as u32);
            let load = Op::LoadPartial { buffer: from, at: Index::at(at), count };
            finish(&mut block, load, Index::at(start + at));
            body.push(Stmt::Block(block));
        }
        let title = match swapped {
            true => format!("bring in {name}, words of pairs swapped"),
            false => format!("bring in {name}"),
        };
        self.builder.stage(&title, "", body);
        Operand { buffer, start }
    }

    /// The low part, into the start of `full`, with scale `target`.
    pub fn low_part(
        &mut self,
        crt: &MonomialCrt,
        a: Operand,
        b: Operand,
        full: BufferId,
        target: u64,
    ) -> Result<Low, LowerError> {
        let lanes = self.lanes;
        let q = self.q;
        let words = crt.low_degree;
        let node = || crt.low.to_form().to_string();
        if words % lanes > 1 || crt.main_degree % lanes != 0 {
            return Err(unsupported(
                node(),
                format!("x^{words} is cut in the middle of a register"),
                format!("degrees M = {} or {}", words - words % lanes, words - words % lanes + 1),
            ));
        }
        let narrow = self.schedule.narrow.scale(q);
        let inverse = |x: u64| zq::inv(x, q).unwrap_or(0);
        let mut bound = 0;
        if let Some((part, operand)) = low_transform(&crt.low) {
            if operand + lanes <= words - words % lanes || words - words % lanes > operand {
                return Err(unsupported(node(), "operands are cut too short", "border by one"));
            }
            let part_scale = zq::mul(main_scale(part), narrow, q);
            let factor = zq::mul(target, inverse(part_scale), q);
            let transformed = self.transformed("low", part, a, b)?;
            let products = self.products("low", part, transformed)?;
            let phases = inverse_phases("low", part, factor);
            let cells = Layout { buffer: products.buffer, start: 0, stride: lanes };
            for phase in &phases {
                if phases.len() > 1 {
                    return Err(unsupported(node(), "a low part in two phases", "a short one"));
                }
                let group = &phase.groups[0];
                let inputs: Vec<i64> = group.from.iter().map(|&i| products.bounds[i]).collect();
                let limits = vec![self.schedule.limits.full / 3; group.outputs.len()];
                let (group, placement) = self.placed(&phase.stage, group, &inputs, &limits)?;
                for v in &group.outputs {
                    bound = bound.max(placement.bounds[v.0 as usize]);
                }
                let mut block = Block::default();
                let kept = words / lanes;
                let mut group = group;
                let keep = group.to.iter().take_while(|&&i| i < kept).count();
                group.to.truncate(keep);
                group.outputs.truncate(keep);
                self.network(
                    &mut block,
                    &group,
                    &placement,
                    false,
                    &mut |block, i| {
                        let at = Index::at(cells.start + group.from[i] * cells.stride);
                        block.push(Op::Load { buffer: cells.buffer, at })
                    },
                    &mut |block, i, a| {
                        let at = Index::at(group.to[i] * lanes);
                        block.push(Op::Store { buffer: full, at, a });
                    },
                );
                self.builder.stage(&phase.title, phase.cite, vec![Stmt::Block(block)]);
            }
        } else if is_truncated(&crt.low) {
            let factor = zq::mul(target, inverse(narrow), q);
            let blocks = words / lanes;
            bound = match self.schedule.base {
                BaseProducts::BroadcastDot => self.truncated_product(blocks, a, b, full, factor)?,
                BaseProducts::Lanes => self.truncated_lanes(blocks, a, b, full, factor)?,
            };
        } else {
            return Err(unsupported(node(), "this low part has no lowering", "(schoolbook)"));
        }
        if words % lanes == 1 {
            let factor = zq::mul(target, inverse(narrow), q);
            bound = bound.max(self.top_coefficient(crt, a, b, full, factor)?);
        }
        self.borders.push(("low".into(), bound));
        Ok(Low { words, bound })
    }

    /// `blocks` registers of a·b mod x^(lanes·blocks) by broadcast dot products: with the words of
    /// a's pairs swapped, the pairs (b_(k-1), b_k) for all even or all odd k are one unaligned
    /// load.
    fn truncated_product(
        &mut self,
        blocks: usize,
        a: Operand,
        b: Operand,
        full: BufferId,
        factor: u64,
    ) -> Result<i64, LowerError> {
        let lanes = self.lanes;
        let h = (self.q as i64 - 1) / 2;
        let mut body = Vec::new();
        let mut worst = 0;
        for number in 0..blocks {
            let start = number * lanes;
            let pairs = (start + lanes) / 2;
            let narrowed = self.narrow_bound("low", pairs as i64 * 2 * h * h)?;
            worst = worst.max(self.bounds.product(factor, narrowed));
            let mut block = Block::default();
            let value = self.dot(&mut block, pairs, &|block, i| {
                let at = Index::at(a.start + 2 * i);
                let pair = block.push(Op::BroadcastPair { buffer: a.buffer, at });
                let odd = Index::at(b.start + start - 2 * i);
                let even = Index::at(b.start + start - 2 * i - 1);
                (pair, [even, odd].map(|at| Op::Load { buffer: b.buffer, at }))
            });
            let a = block.push(Op::MulMod {
                a: value,
                factor: Factor::Splat(factor),
                method: self.schedule.multiply,
            });
            block.push(Op::Store { buffer: full, at: Index::at(start), a });
            body.push(Stmt::Block(block));
        }
        self.builder.stage("low part: truncated product by dot products", "[Chiu25 §3.1]", body);
        Ok(worst)
    }

    /// The product's top coefficient a_(n-1)·b_(n-1), zeros behind it, at its place.
    fn top_coefficient(
        &mut self,
        crt: &MonomialCrt,
        a: Operand,
        b: Operand,
        full: BufferId,
        factor: u64,
    ) -> Result<i64, LowerError> {
        let lanes = self.lanes;
        let n = self.plan.ring.degree();
        let h = (self.q as i64 - 1) / 2;
        let by_lanes = self.schedule.base == BaseProducts::Lanes;
        // Word n - 1 of b; of a, where pairs are swapped, the word at (n - 1) ^ 1.
        let last = if by_lanes { n - 1 } else { (n - 1) ^ 1 };
        let (ia, ib) = (a.start + last, b.start + n - 1);
        let mut block = Block::default();
        let x = block.push(Op::LoadPartial { buffer: a.buffer, at: Index::at(ia), count: 1 });
        let y = block.push(Op::LoadPartial { buffer: b.buffer, at: Index::at(ib), count: 1 });
        let narrowed = if by_lanes {
            block.push(Op::MulWords { a: x, b: y, method: ProductMethod::Montgomery })
        } else {
            let even = block.push(Op::PairDot(x, y));
            let odd = block.push(Op::Splat(0));
            block.push(Op::Narrow { even, odd, method: self.schedule.narrow })
        };
        let a = block.push(Op::MulMod {
            a: narrowed,
            factor: Factor::Splat(factor),
            method: self.schedule.multiply,
        });
        let at = Index::at(crt.main_degree + crt.low_degree - 1);
        block.push(Op::Store { buffer: full, at, a });
        let bound = self.narrow_bound("low", h * h)?;
        self.builder.stage(
            "low part: top coefficient",
            "[Chiu25 §3.2.2]",
            vec![Stmt::Block(block)],
        );
        debug_assert!(lanes > 1 && crt.low.domain().wanted == crt.low_degree);
        Ok(self.bounds.product(factor, bound))
    }
}
