//! Bringing the operands in, and the low part mod x^M.

use super::registers::{LowPart, Operands};
use super::steps::{Rows, inverse_steps};
use super::{LowerError, Lowering, unsupported, wide};
use crate::bounds::most;
use crate::build::{copy, looped, zeros};
use crate::ir::*;
use crate::method::{NarrowMethod, ProductMethod};
use crate::schedule::BaseProducts;
use ringforge_plan::{MonomialCrt, Unit};

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
    /// M - 1 if M is one more than a multiple of the lanes. In that case the top coefficient of the
    /// product stands behind the main part. The low coefficient is then the main one minus the top
    /// one.
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
            let low = block.load(full, low_at);
            let top = block.sub(a, low);
            block.store(full, top_at, top);
        } else if start < self.words {
            let top = block.load(full, top_at);
            let low = block.sub(a, top);
            block.store(full, low_at, low);
        } else {
            block.store(full, low_at, a);
        }
    }
}

impl Lowering<'_> {
    /// Copies a caller's operand into whole registers of an array of so many words, zeros behind it. The two words of every
    /// pair change places (`swapped`), as the broadcast dot products want them, or words are reduced.
    pub fn brought_in(
        &mut self,
        (name, title): (&str, &str),
        from: BufferId,
        words: usize,
        (swapped, reduced): (bool, bool),
    ) -> BufferId {
        let (n, lanes, method) = (self.n, self.lanes, self.schedule.reduce());
        let buffer = self.builder.local(&format!("f{name}"), words);
        let change = |block: &mut Block, mut a: Value| {
            if reduced {
                a = block.reduced(a, method);
            }
            if swapped {
                a = block.push(Op::SwapPairs(a));
            }
            a
        };
        let body = copy(&mut self.builder, (from, buffer, 0), (n, lanes, 4), &change);
        self.builder.stage(&format!("bring in {name}, {title}"), "", body);
        buffer
    }

    /// The last, partial block of an operand with zeros behind it.
    pub fn stage_tail(&mut self, name: &str, from: BufferId, n: usize) -> (BufferId, Index) {
        let (at, count) = (Index::at(n - n % self.lanes), (n % self.lanes) as u32);
        let buffer = self.builder.local(&format!("tail_{name}"), self.lanes);
        self.builder.straight(&format!("last block of {name}"), "", |block| {
            let a = block.push(Op::LoadPartial { buffer: from, at, count });
            block.store(buffer, Index::at(0), a);
        });
        (buffer, Index::at(0))
    }

    /// The low part, into the start of `full`, with scale `target`.
    pub(super) fn low_part(
        &mut self,
        crt: &MonomialCrt,
        operands: &Operands,
        full: BufferId,
        target: Unit,
    ) -> Result<Low, LowerError> {
        let [a, b] = [0, 1].map(|i| operands.of[i].buffer);
        let lanes = self.lanes;
        let words = crt.low_degree;
        let narrow = self.product_scale()?;
        let (mut bound, low) = (0, LowPart::of(&crt.low));
        if let Some(LowPart::Transform(part, _)) = low {
            let scale = part.scale.times(self.products_scale(&part.convolution)?);
            let factor = target.over(scale).value();
            let transformed = self.transformed("low", part, operands)?;
            let products = self.products("low", part, transformed)?;
            let (kept, limit) = (words / lanes, self.schedule.full() / 3);
            let places = (Rows::of(products.buffer, lanes), Rows::of(full, lanes));
            let mut bounds = products.bounds;
            for mut step in inverse_steps("low", part, factor) {
                let groups = step.groups.into_iter();
                step.groups = groups.map(|group| group.keep(|to| to < kept)).collect();
                let body = self.step(&step, places, &mut bounds, limit, lanes)?;
                self.builder.stage(&step.title, step.cite, body);
            }
            bound = bounds[..kept].iter().copied().fold(bound, i64::max);
        } else if let Some(LowPart::Truncated) = low {
            let factor = target.over(narrow).value();
            let blocks = words / lanes;
            bound = match operands.windows {
                // All there is stands in the top coefficient.
                _ if blocks == 0 => 0,
                Some(windows) => {
                    match self.schedule.rows() {
                        true => self.truncated_rows(blocks, [full, a, windows], factor),
                        false => self.truncated_product(blocks, [full, a, windows], factor),
                    }
                    let sum = (blocks * lanes) as i64 * self.operand * self.operand;
                    let narrowed = self.narrow_bound("low", sum)?;
                    self.bounds.product(factor, narrowed)
                }
                None => self.truncated_lanes(blocks, [full, a, b], factor)?,
            };
        } else {
            let node = crt.low.to_form();
            return Err(unsupported(node, "this low part has no lowering", "(schoolbook)"));
        }
        if words % lanes == 1 {
            let factor = target.over(narrow).value();
            bound = bound.max(self.top_coefficient(crt, [full, a, b], factor)?);
        }
        self.written.border("low", bound);
        Ok(Low { words, bound })
    }

    /// Lays out the first blocks of b for the truncated product: the registers (b_(j-1), b_j) one
    /// after another, with b_(-1) = 0. So no window over two neighbours crosses a cache line.
    ///
    /// Rows of words need the blocks behind as many registers of zeros.
    pub fn stage_windows(&mut self, b: BufferId, blocks: usize) -> BufferId {
        let lanes = self.lanes;
        let windows = self.builder.local("windows", 2 * blocks * lanes);
        if self.schedule.rows() {
            let words = blocks * lanes;
            let mut body: Vec<Stmt> =
                zeros(&mut self.builder, (windows, 0), words, lanes).into_iter().collect();
            let size = (words, lanes, 1);
            body.extend(copy(&mut self.builder, (b, windows, words), size, &|_, a| a));
            self.builder.stage("low part: b behind zeros", "", body);
            return windows;
        }
        self.builder.straight("low part: windows over b", "", |block| {
            let mut before = block.splat(0);
            for j in 0..blocks {
                block.store(windows, Index::at(2 * j * lanes), before);
                before = block.load(b, Index::at(j * lanes));
                block.store(windows, Index::at((2 * j + 1) * lanes), before);
            }
        });
        windows
    }

    /// `blocks` registers of a·b mod x^(lanes·blocks) by broadcast dot products. With the words of
    /// a's pairs swapped, the pairs (b_(k-1), b_k) for all even or all odd k are one unaligned
    /// load.
    ///
    /// Pair r of block t of a and the window r pairs before block u of b meet in block t + u. For
    /// each r, every pair and window is loaded once.
    fn truncated_product(&mut self, blocks: usize, [full, a, windows]: [BufferId; 3], factor: u64) {
        let lanes = self.lanes;
        let mut block = Block::default();
        let mut sums: Vec<[Option<Value>; 2]> = vec![[None; 2]; blocks];
        for r in 0..lanes / 2 {
            let mut pairs = Vec::new();
            for t in 0..blocks {
                pairs.push(self.pair(&mut block, a, Index::at(t * lanes + 2 * r)));
            }
            for (u, parity) in (0..blocks).flat_map(|u| [(u, 0), (u, 1)]) {
                let at = Index::at((2 * u + 1) * lanes - 2 * r - 1 + parity);
                let window = block.load(windows, at);
                for t in 0..blocks - u {
                    let sum = sums[t + u][parity];
                    sums[t + u][parity] = Some(self.dot_add(&mut block, sum, pairs[t], window));
                }
            }
        }
        for (number, sums) in sums.into_iter().enumerate() {
            let a = self.narrowed(&mut block, sums);
            let a = block.times(a, Factor::Splat(factor), self.schedule.multiply());
            block.store(full, Index::at(number * lanes), a);
        }
        let title = "low part: truncated product by dot products";
        self.builder.stage(title, "[Chiu25 §3.1]", vec![Stmt::Block(block)]);
    }

    /// The same row by row. Each register of results is a Toeplitz matrix times all words of a that
    /// it needs. The matrices of each half of the registers have one size, so that code is short.
    fn truncated_rows(&mut self, blocks: usize, [full, a, windows]: [BufferId; 3], factor: u64) {
        let lanes = self.lanes;
        let mut body = Vec::new();
        let halves = [(0, blocks / 2), (blocks / 2, blocks)];
        for (first, end) in halves.into_iter().filter(|(first, end)| first < end) {
            let counter = self.builder.counter();
            let at = |words: usize| Index::strided(words, counter, lanes);
            body.push(looped(counter, end - first, |block| {
                let value = self.dot(block, end * lanes / 2, &|block, i| {
                    let pair = self.pair(block, a, Index::at(2 * i));
                    // b_0 stands behind as many zeros as the last register needs.
                    let start = (blocks + first) * lanes - 2 * i;
                    (
                        pair,
                        [start - 1, start].map(|word| Op::Load { buffer: windows, at: at(word) }),
                    )
                });
                block.store(full, at(first * lanes), value);
            }));
        }
        let method = self.schedule.multiply();
        body.push(self.builder.runs(blocks, |block, at| {
            let v = block.load(full, at(0, lanes));
            let v = block.times(v, Factor::Splat(factor), method);
            block.store(full, at(0, lanes), v);
        }));
        let title = "low part: truncated product, rows by dot products";
        self.builder.stage(title, "[Chiu25 §3.1]", body);
    }

    /// What the product has at the last place of both parts together, zeros behind it: its top coefficient
    /// a_(n-1)·b_(n-1) where it is so long, else nothing.
    fn top_coefficient(
        &mut self,
        crt: &MonomialCrt,
        [full, a, b]: [BufferId; 3],
        factor: u64,
    ) -> Result<i64, LowerError> {
        let (n, h) = (self.n, self.operand);
        let place = crt.main_degree + crt.low_degree - 1;
        if place > 2 * n - 2 {
            let title = "low part: no coefficient at the last place";
            self.builder.straight(title, "[Chiu25 §3.2.2]", |block| {
                let a = block.splat(0);
                block.store(full, Index::at(place), a);
            });
            return Ok(0);
        }
        let by_lanes = self.schedule.base() == BaseProducts::Lanes
            || self.schedule.rows() && self.schedule.narrow() == NarrowMethod::Montgomery;
        // Word n - 1 of b; of a, where pairs are swapped, the word at (n - 1) ^ 1.
        let last = if by_lanes { n - 1 } else { (n - 1) ^ 1 };
        let mut block = Block::default();
        let [x, y] = [(a, last), (b, n - 1)].map(|(buffer, word)| {
            block.push(Op::LoadPartial { buffer, at: Index::at(word), count: 1 })
        });
        let narrowed = if by_lanes {
            block.push(Op::MulWords { a: x, b: y, method: ProductMethod::Montgomery })
        } else {
            let even = block.push(Op::PairDot(x, y));
            self.narrowed(&mut block, [Some(even), None])
        };
        let a = block.times(narrowed, Factor::Splat(factor), self.schedule.multiply());
        block.store(full, Index::at(place), a);
        let bound = match by_lanes {
            true => {
                let range = ProductMethod::Montgomery.range((-h, h), (-h, h), self.q);
                range.map(most).ok_or_else(|| wide("low", h * h))?
            }
            false => self.narrow_bound("low", h * h)?,
        };
        self.builder.stage(
            "low part: top coefficient",
            "[Chiu25 §3.2.2]",
            vec![Stmt::Block(block)],
        );
        Ok(self.bounds.product(factor, bound))
    }
}
