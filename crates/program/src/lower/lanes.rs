//! Base products for machines without a dot product of pairs (portable C): one lane is one
//! weighted convolution, every product is a Montgomery product of two words.
//!
//! Blocks are transposed in groups of `lanes`, so that coefficient i of `lanes` convolutions is
//! one register, and transposed back. The convolution is the product of a with the Toeplitz
//! matrix of b [Chiu25 §2.5], or what the plan says instead (`lane_methods`).
//! Transposing takes rounds of interleaving registers, or two rounds of strided stores (`transpose`).

use super::lane_methods::{Convolutions, Place, Rows};
use super::small::Small;
use super::transform::Products;
use super::transpose::rounds;
use super::{LowerError, Lowering, beyond, tagged, unsupported, word};
use crate::bounds::{WORD, most};
use crate::build::{call, repeat, straight};
use crate::ir::*;
use crate::method::{NarrowMethod, ProductMethod};
use ringforge_plan::{SmallModulus, Unit, WeightedConvolution};

pub(super) const METHOD: ProductMethod = ProductMethod::Montgomery;
/// How wide sums become words, with the scale of [`METHOD`].
pub(super) const NARROW: NarrowMethod = NarrowMethod::Montgomery;

impl Lowering<'_> {
    /// The largest magnitude of one product of words.
    pub(super) fn word_product(&self, stage: &str, a: i64, b: i64) -> Result<i64, LowerError> {
        let range = METHOD.range((-a, a), (-b, b), self.q).filter(|_| a <= WORD && b <= WORD);
        range.map(most).ok_or_else(|| beyond(stage, WORD, a.max(b)))
    }

    /// The largest magnitude of one product as sums by lanes have it: of words, or of words of twice their width.
    pub(super) fn lane_product(&self, stage: &str, a: i64, b: i64) -> Result<i64, LowerError> {
        if !self.schedule.wide_sums() {
            return self.word_product(stage, a, b);
        }
        let narrowed = self.bounds.narrow(NARROW, a * b).filter(|_| a <= WORD && b <= WORD);
        narrowed.map(|_| a * b).ok_or_else(|| beyond(stage, WORD, a.max(b)))
    }

    /// The largest word that `terms` products leave, none above `each`, added up and then, if they were wide, narrowed.
    pub(super) fn added(&self, terms: usize, each: i64) -> Option<i64> {
        let sum = terms as i64 * each;
        match self.schedule.wide_sums() {
            true => self.bounds.narrow(NARROW, sum).filter(|_| sum < 1 << 31),
            false => Some(sum),
        }
        .filter(|&word| word <= WORD)
    }

    /// How many products, none above `each`, are added up to a word; `terms` at most.
    pub(super) fn together(&self, terms: usize, each: i64) -> usize {
        (1..=terms).rev().find(|&t| self.added(t, each).is_some()).unwrap_or(1)
    }

    /// The largest magnitude of `terms` products, none above `each`, where every `together` of
    /// them are added and, if that is not all of them, reduced.
    pub(super) fn lane_sum(
        &self,
        stage: &str,
        terms: usize,
        together: usize,
        each: i64,
    ) -> Result<i64, LowerError> {
        let sum = match together < terms {
            true => self
                .added(together, each)
                .map(|sum| terms.div_ceil(together) as i64 * self.bounds.reduce(sum)),
            false => self.added(terms, each),
        };
        sum.filter(|&sum| sum <= WORD).ok_or_else(|| beyond(stage, WORD, terms as i64 * each))
    }

    /// Whether blocks change places as they are transposed: where they are multiplied by several methods, if steps are
    /// joined.
    pub(super) fn moves(&mut self, convolution: &WeightedConvolution) -> Result<bool, LowerError> {
        let smalls = self.smalls(convolution)?;
        let one = smalls.windows(2).all(|two| two[0] == two[1]);
        Ok(!one && self.schedule.interleave() == Some(true) && self.schedule.fuse() > 0)
    }

    /// Multiplies block by block. The two buffers hold the transformed operands, block after block
    /// and padded to whole groups. If a block has several registers, each group of `lanes` blocks
    /// holds their first registers, then their second ones, and so on. `cell_of` is the block of
    /// each product, `bounds` are the largest magnitudes by cell.
    pub fn lane_products(
        &mut self,
        tag: &str,
        convolution: &WeightedConvolution,
        cell_of: &[usize],
        [a, b]: [BufferId; 2],
        bounds: &[i64],
    ) -> Result<Products, LowerError> {
        let (lanes, blocks, size) = (self.lanes, cell_of.len(), convolution.size);
        // A group of blocks is as many squares as a block has registers.
        let squares = size / lanes;
        // Cells by method, in the order of their first weights.
        let mut weights = vec![1; blocks];
        let mut methods: Vec<(Small, Vec<usize>)> = Vec::new();
        for (j, small) in self.smalls(convolution)?.into_iter().enumerate() {
            weights[cell_of[j]] = convolution.weights[j];
            match methods.iter_mut().find(|(known, _)| *known == small) {
                Some((_, cells)) => cells.push(cell_of[j]),
                None => methods.push((small, vec![cell_of[j]])),
            }
        }
        let one = methods.len() == 1;
        let spares = self.spared(convolution)? != Unit::one(self.q);
        if !one && squares > 1 {
            let why = "products of one block take several methods";
            return Err(unsupported(convolution.base.to_form(), why, "one method for all"));
        }
        let groups: usize = methods.iter().map(|(_, cells)| cells.len().div_ceil(lanes)).sum();
        let groups = groups * squares;
        let named = |name: &str| tagged(name, tag);
        let words = groups * lanes * lanes;
        // Lanes of one register have one method.
        if !one {
            methods.iter_mut().for_each(|(_, cells)| cells.sort_unstable());
        }
        let places = places(&methods, lanes);
        let moves = self.moves(convolution)?;
        let transpose: Box<dyn Fn(BufferId) -> Vec<Stmt>> = if moves {
            Box::new(|_| Vec::new())
        } else if self.schedule.interleave() == Some(true) {
            let whole = self.transposer(groups);
            Box::new(move |buffer| vec![call(whole, [buffer])])
        } else {
            let two = rounds(lanes).map(|count| self.interleave(groups, count));
            // In place by way of one more array: a small stack matters more than names.
            let between = self.builder.local(&named("between"), words);
            Box::new(move |buffer| {
                vec![call(two[0], [between, buffer]), call(two[1], [buffer, between])]
            })
        };
        let in_place: Vec<usize> = (0..places.len()).collect();
        let [ra, rb] = match one {
            true => [a, b],
            false => {
                let sorted = ["by_method_a", "by_method_b"]
                    .map(|name| self.builder.local(&named(name), words));
                let body = [(a, sorted[0]), (b, sorted[1])].map(|(from, to)| match moves {
                    true => self.squares((from, &places), (to, &|place| Some(place))),
                    false => vec![copies((from, &places), (to, &in_place), lanes)],
                });
                let what = match moves {
                    true => "one lane for each convolution".into(),
                    false => format!("{} and the rest", methods[0].0.title()),
                };
                let title = format!("{tag} part: blocks by method, {what}");
                let stages = if moves { body.into() } else { vec![body.concat()] };
                stages.into_iter().for_each(|body| self.builder.stage(&title, "", body));
                sorted
            }
        };
        if !moves {
            let title = format!("{tag} part: transpose, one lane for each convolution");
            self.builder.stage(&title, "", [transpose(ra), transpose(rb)].concat());
        }

        let mut after = vec![0; blocks];
        let mut start = 0;
        for (number, (small, cells)) in methods.iter().enumerate() {
            let count = cells.len().div_ceil(lanes);
            let group = self.builder.counter();
            let suffix = if one { String::new() } else { format!("{number}") };
            let place = Place { tag, suffix, group, spares, limited: true };
            let at = Index::strided(start * size * lanes, group, size * lanes);
            let rows = [ra, rb].map(|buffer| Rows { buffer, at: at.clone() });
            let bound = cells.iter().map(|&cell| bounds[cell]).max().unwrap_or(0);
            let lane_moduli = match one {
                // Spare lanes may multiply modulo anything that the method takes.
                true => (0..count * lanes).map(|i| weights[i % blocks]).collect::<Vec<u64>>(),
                false => padded(cells, lanes).into_iter().map(|cell| weights[cell]).collect(),
            };
            let moduli: Vec<_> = lane_moduli.into_iter().map(SmallModulus::Binomial).collect();
            // A direct product reads its vector until the end.
            let out = match small {
                Small::Toeplitz => Rows::of(
                    self.builder
                        .local(&format!("{}{}", named("direct"), place.suffix), size * lanes),
                ),
                _ => rows[0].clone(),
            };
            let (place, moduli, to) = (&place, &moduli, [&rows[0], &rows[1], &out]);
            let all = Convolutions { place, moduli, size, rows: to, bound };
            let (mut body, mut most) = self.convolve(small, all)?;
            if *small == Small::Toeplitz {
                body.push(straight(|block| {
                    for i in 0..size {
                        let a = self.load(block, &out, i);
                        let a = block.reduced(a, self.schedule.reduce());
                        self.store(block, &rows[0], i, a);
                    }
                }));
                most = self.bounds.reduce(most);
            }
            for &cell in cells {
                after[cell] = most;
            }
            let title = format!(
                "{tag} part: {} weighted convolutions of size {size}, {}",
                cells.len(),
                small.title()
            );
            self.builder.stage(&title, "[Chiu25 §3.2.3]", vec![repeat(group, count, body)]);
            start += count;
        }
        self.written.border(format!("{tag}.base"), after.iter().copied().max().unwrap_or(0));

        // Where a cell's product is, the first time.
        let first = |cell: usize| places.iter().position(|&c| c == cell);
        if moves {
            let to = |place: usize| {
                let cell = places[place];
                (first(cell) == Some(place)).then_some(cell)
            };
            let title = format!("{tag} part: transpose back, blocks to their places");
            let body = self.squares((ra, &in_place), (a, &to));
            self.builder.stage(&title, "", body);
            return Ok(Products { buffer: a, bounds: after });
        }
        let title = format!("{tag} part: transpose back");
        self.builder.stage(&title, "", transpose(ra));
        if !one {
            let (from, cells): (Vec<usize>, Vec<usize>) =
                (0..blocks).filter_map(|cell| Some((first(cell)?, cell))).unzip();
            let back = copies((ra, &from), (a, &cells), lanes);
            self.builder.stage(&format!("{tag} part: blocks back to their places"), "", vec![back]);
        }
        Ok(Products { buffer: a, bounds: after })
    }

    /// As [`Lowering::truncated_product`], with products of words; the words of a in order.
    pub fn truncated_lanes(
        &mut self,
        blocks: usize,
        [full, a, b]: [BufferId; 3],
        factor: u64,
    ) -> Result<i64, LowerError> {
        let lanes = self.lanes;
        let h = self.operand;
        let each = self.word_product("low", h, h)?;
        let together = (WORD / each).max(1) as usize;
        let scaled = self.bounds.product(factor, together as i64 * each);
        // Windows over b that start before its first word read these: zeros, then b.
        let edge = self.builder.local("edge", 2 * lanes);
        let ends = straight(|block| {
            let zero = block.splat(0);
            let first = block.load(b, Index::at(0));
            block.store(edge, Index::at(0), zero);
            block.store(edge, Index::at(lanes), first);
        });
        // Every coefficient of a in a register of its own.
        let spread = self.builder.local("spread", blocks * lanes * lanes);
        let spreads = self.builder.runs(blocks * lanes, |block, at| {
            let a = block.push(Op::Broadcast { buffer: a, at: at(0, 1) });
            block.store(spread, at(0, lanes), a);
        });
        let mut body = vec![ends, spreads];
        let mut worst = 0;
        // One block, since all sums share what a product prepares of a's coefficients.
        let mut block = Block::default();
        let words: Vec<Value> =
            (0..blocks * lanes).map(|i| block.load(spread, Index::at(i * lanes))).collect();
        for number in 0..blocks {
            let start = number * lanes;
            let (mut total, mut bound): (Option<Value>, i64) = (None, 0);
            let terms: Vec<usize> = (0..start + lanes).collect();
            for chunk in terms.chunks(together) {
                let mut sum: Option<Value> = None;
                for &i in chunk {
                    let v = block.push(match start.checked_sub(i) {
                        Some(word) => Op::Load { buffer: b, at: Index::at(word) },
                        None => Op::Load { buffer: edge, at: Index::at(lanes + start - i) },
                    });
                    let p = block.push(Op::MulWords { a: v, b: words[i], method: METHOD });
                    sum = Some(block.plus(sum, p));
                }
                let Some(a) = sum else { continue };
                let p = block.times(a, Factor::Splat(factor), self.schedule.multiply());
                total = Some(block.plus(total, p));
                bound += scaled;
            }
            word("low", bound)?;
            if bound > self.schedule.full() / 3 {
                bound = self.bounds.reduce(bound);
                total = total.map(|a| block.reduced(a, self.schedule.reduce()));
            }
            worst = worst.max(bound);
            if let Some(a) = total {
                block.store(full, Index::at(start), a);
            }
        }
        body.push(Stmt::Block(block));
        let title = "low part: truncated product, one coefficient after another";
        self.builder.stage(title, "[Chiu25 §3.1]", body);
        Ok(worst)
    }
}

/// Copies of blocks of a register, by their numbers.
fn copies(
    (from, blocks): (BufferId, &[usize]),
    (to, places): (BufferId, &[usize]),
    lanes: usize,
) -> Stmt {
    straight(|block| {
        for (number, place) in blocks.iter().zip(places) {
            let a = block.load(from, Index::at(number * lanes));
            block.store(to, Index::at(place * lanes), a);
        }
    })
}

/// Cells in whole groups of `lanes`, the first ones again in spare lanes.
fn padded(cells: &[usize], lanes: usize) -> Vec<usize> {
    let spare = cells.len().next_multiple_of(lanes) - cells.len();
    cells.iter().copied().chain(cells.iter().copied().cycle().take(spare)).collect()
}

/// The cell of every place, methods one after another.
fn places(methods: &[(Small, Vec<usize>)], lanes: usize) -> Vec<usize> {
    methods.iter().flat_map(|(_, cells)| padded(cells, lanes)).collect()
}
