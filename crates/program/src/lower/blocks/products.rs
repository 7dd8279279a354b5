//! Products of blocks mod x^k − w: words of one operand, broadcast, times windows over (w·b, b).
//!
//! Coefficient j of a·b mod x^k − w is Σ_i a_i·e_(k+j−i) with e = (w·b, b). So for one i, a
//! register of results needs a load of e that starts i words before the register's place in b.

use super::super::{LowerError, Lowering};
use super::{Parts, Rows, Style};
use crate::build::{repeat, straight};
use crate::ir::*;
use crate::method::{EvenModulus, Modulus, ProductMethod};
use crate::schedule::Weights;
use ringforge_plan::Unit;
use ringforge_targets::ALIGNMENT;

/// Where (w·b, b) are.
struct Windows {
    buffer: BufferId,
    /// Those of one cell at a time, which its product fills by these weights; else those of all cells.
    weights: Option<BufferId>,
}

/// The products of one register, term by term, and how many terms are added before they are reduced.
struct Register<'a> {
    a: BufferId,
    e: BufferId,
    /// Where the block's words of a are.
    at: &'a dyn Fn(usize) -> Index,
    /// Where the words of e are, relative to the register's first coefficient in b.
    window: &'a dyn Fn(i64) -> Index,
    terms: usize,
    together: usize,
    /// The bound of what `together` terms leave.
    bound: i64,
}

/// The place of a register in a loop over cells, and in one over their registers where they have several.
fn nested(
    base: i64,
    (cell, stride): (LoopVar, usize),
    (register, lanes): (LoopVar, usize),
    registers: usize,
) -> Index {
    let mut terms = vec![(cell, stride as i64)];
    terms.extend((registers > 1).then_some((register, lanes as i64)));
    Index { base, terms }
}

impl Lowering<'_> {
    /// What products are multiplied with on their way to words.
    pub(in crate::lower) fn product_scale(&self) -> Result<Unit, EvenModulus> {
        match self.style() {
            Style::Single => ProductMethod::Montgomery.scale(self.modulus()),
            _ => self.schedule.narrow().scale(self.modulus()),
        }
    }

    /// The bound of `terms` products of words within `a` and `b`, where one word holds them.
    pub(super) fn sum_bound(&self, style: Style, terms: usize, a: i64, b: i64) -> Option<i64> {
        let (word, modulus) = (self.bounds.word(), self.modulus());
        let fits = |bound: &i64| *bound <= word;
        match style {
            Style::Single => {
                let (lo, hi) = ProductMethod::Montgomery.range((-a, a), (-b, b), modulus)?;
                Some(terms as i64 * hi.max(-lo)).filter(fits)
            }
            _ => {
                let sum = terms as i128 * i128::from(a) * i128::from(b);
                let sum = i64::try_from(sum).ok().filter(|&s| s < 1 << (2 * modulus.bits - 2))?;
                self.bounds.narrow(self.schedule.narrow(), sum).filter(fits)
            }
        }
    }

    /// The refusal of operands of products that are so large.
    pub(super) fn too_large(&self, tag: &str, bound: i64) -> LowerError {
        let Modulus { q: modulus, bits } = self.modulus();
        LowerError::Products { stage: format!("{tag}.base"), modulus, bits, bound }
    }

    /// The products of all cells, whose words are within `bound`.
    pub(super) fn cell_products(
        &mut self,
        parts: &Parts,
        [a, b]: [Rows; 2],
        bound: i64,
        tag: &str,
    ) -> Result<(Rows, i64), LowerError> {
        let (lanes, style) = (self.lanes, self.style());
        let (k, cells) = (self.padded(parts.k), parts.cells());
        let terms = parts.k.min(parts.operand);
        let (e, weighted) = match self.weighs_within(parts) {
            true => self.one_window(parts, bound),
            false => self.windows(parts, b, bound, tag),
        };
        if style == Style::Pairs {
            self.swap_pairs(a, cells, terms, k, tag);
        }
        // As many terms together as their sum allows; what is behind an even number of them is zero.
        let most = bound.max(weighted);
        let step = if style == Style::Pairs { 2 } else { 1 };
        let all = terms.next_multiple_of(step);
        let counts = (1..=all).rev().filter(|t| t % step == 0);
        let fitting = counts.into_iter().find_map(|t| {
            let sum = self.sum_bound(style, t, bound, most)?;
            let rest = |word: i64| self.bounds.reduce(word);
            (t >= all || sum + rest(self.bounds.word()) <= self.bounds.word()).then_some((t, sum))
        });
        let (together, sum) = fitting.ok_or_else(|| self.too_large(tag, most))?;

        let products = self.builder.fresh("products", cells * k);
        let (cell, register) = (self.builder.counter(), self.builder.counter());
        let registers = k / lanes;
        let moved = |base, stride| nested(base, (cell, stride), (register, lanes), registers);
        let at = |word: usize| Index { base: word as i64, terms: vec![(cell, k as i64)] };
        let within = e.weights.is_some();
        let window = |offset: i64| match within {
            true => Index { base: k as i64 + offset, terms: Vec::new() },
            false => moved(k as i64 + offset, 2 * k),
        };
        let mut block = Block::default();
        if let Some(table) = e.weights {
            let v = block.load(b.buffer, moved(0, k));
            block.store(e.buffer, Index::at(k), v);
            let factor = Factor::Repeated { buffer: table, at: Index::strided(0, cell, 1) };
            let a = block.times(v, factor, self.schedule.multiply());
            block.store(e.buffer, Index::at(0), a);
        }
        let e = e.buffer;
        let work =
            Register { a: a.buffer, e, at: &at, window: &window, terms, together, bound: sum };
        let (value, result) = self.register(&mut block, style, &work);
        block.store(products, moved(0, k), value);
        let mut body = vec![Stmt::Block(block)];
        if registers > 1 {
            body = vec![repeat(register, registers, body)];
        }
        let body = vec![repeat(cell, cells, body)];
        let title = format!("{tag} part: {cells} products of blocks of {}", parts.k);
        self.builder.stage(&title, "[Chiu25 §3.2.3]", body);
        self.written.border(format!("{tag}.base"), result);
        Ok((Rows::of(products, k), result))
    }

    /// Whether each product weighs its own block: of one register, which it fills.
    fn weighs_within(&self, parts: &Parts) -> bool {
        let weighted = parts.weights.iter().any(|&w| w != 0);
        weighted && parts.k == self.lanes && self.schedule.weights() == Weights::Within
    }

    /// The largest word of w·b, over all cells.
    fn weighted(&mut self, parts: &Parts, bound: i64) -> i64 {
        let weights = parts.weights.iter();
        weights.map(|&w| self.bounds.product(w, bound)).max().unwrap_or(0)
    }

    /// Room for (w·b, b) of one cell, which its product fills; and the bound of w·b.
    fn one_window(&mut self, parts: &Parts, bound: i64) -> (Windows, i64) {
        let buffer = self.builder.fresh("window", 2 * self.lanes);
        let table = self.builder.factors("weights", parts.weights.clone(), ALIGNMENT);
        (Windows { buffer, weights: Some(table) }, self.weighted(parts, bound))
    }

    /// (w·b, b) of every cell, the words of b from word k of 2k on; and the bound of w·b.
    fn windows(&mut self, parts: &Parts, b: Rows, bound: i64, tag: &str) -> (Windows, i64) {
        let (lanes, k, cells) = (self.lanes, self.padded(parts.k), parts.cells());
        let e = self.builder.fresh("windows", cells * 2 * k);
        let registers = k / lanes;
        let zero = parts.weights.iter().all(|&w| w == 0);
        let mut weighted = 0;
        let mut weigh = Block::default();
        let (cell, register) = (self.builder.counter(), self.builder.counter());
        let at =
            |base: usize, stride| nested(base as i64, (cell, stride), (register, lanes), registers);
        if zero {
            let a = weigh.splat(0);
            weigh.store(e, at(0, 2 * k), a);
        } else {
            weighted = self.weighted(parts, bound);
            let table = self.builder.factors("weights", parts.weights.clone(), ALIGNMENT);
            let v = weigh.load(b.buffer, at(0, k));
            let factor = Factor::Repeated { buffer: table, at: Index::strided(0, cell, 1) };
            let a = weigh.times(v, factor, self.schedule.multiply());
            weigh.store(e, at(k - parts.k, 2 * k), a);
        }
        // Behind the first copies: a block that fills no register has its own words there.
        let copy = straight(|block| {
            let a = block.load(b.buffer, at(0, k));
            block.store(e, at(k, 2 * k), a);
        });
        let around = |body: Stmt| match registers {
            1 => body,
            _ => repeat(register, registers, vec![body]),
        };
        let body = vec![repeat(cell, cells, vec![around(Stmt::Block(weigh)), around(copy)])];
        self.builder.stage(&format!("{tag} part: windows over b"), "[Chiu25 §2.5]", body);
        (Windows { buffer: e, weights: None }, weighted)
    }

    /// The words of a's pairs change places, and those behind an odd number of terms become zeros.
    fn swap_pairs(&mut self, a: Rows, cells: usize, terms: usize, k: usize, tag: &str) {
        let lanes = self.lanes;
        let body = self.builder.runs(cells, |block, at| {
            for r in 0..k / lanes {
                let mut v = block.load(a.buffer, at(r * lanes, k));
                if terms % 2 == 1 && terms / lanes == r {
                    v = block.masked(v, (0..lanes).map(|l| r * lanes + l < terms));
                }
                let v = block.push(Op::SwapPairs(v));
                block.store(a.buffer, at(r * lanes, k), v);
            }
        });
        self.builder.stage(&format!("{tag} part: words of a's pairs swapped"), "", vec![body]);
    }

    /// One register of results and its bound.
    fn register(&mut self, block: &mut Block, style: Style, work: &Register) -> (Value, i64) {
        let mut total: Option<(Value, i64)> = None;
        let mut start = 0;
        while start < work.terms {
            let end = (start + work.together).min(work.terms);
            let value = match style {
                Style::Pairs => self.pairs(block, work, start..end),
                Style::Even => self.even_odd(block, work, start..end),
                Style::Single => self.singles(block, work, start..end),
            };
            total = Some(match total {
                None => (value, work.bound),
                Some((mut sum, mut bound)) => {
                    if bound + work.bound > self.bounds.word() {
                        sum = block.reduced(sum, self.schedule.reduce());
                        bound = self.bounds.reduce(bound);
                    }
                    (block.add(sum, value), bound + work.bound)
                }
            });
            start = end;
        }
        total.unwrap_or_else(|| (block.splat(0), 0))
    }

    fn pairs(&self, block: &mut Block, work: &Register, terms: std::ops::Range<usize>) -> Value {
        self.dot(block, terms.len().div_ceil(2), &|block, pair| {
            let i = terms.start + 2 * pair;
            let pair = block.push(Op::BroadcastPair { buffer: work.a, at: (work.at)(i) });
            let load =
                |parity: i64| Op::Load { buffer: work.e, at: (work.window)(parity - 1 - i as i64) };
            (pair, [load(0), load(1)])
        })
    }

    fn even_odd(&self, block: &mut Block, work: &Register, terms: std::ops::Range<usize>) -> Value {
        let mut sums: [Option<Value>; 2] = [None; 2];
        for i in terms {
            let word = block.push(Op::Broadcast { buffer: work.a, at: (work.at)(i) });
            let load = |block: &mut Block, offset: i64| block.load(work.e, (work.window)(offset));
            let even = load(block, -(i as i64));
            // One word on are the odd ones; the last register's would end behind the windows.
            let odd = match i {
                0 => block.push(Op::OddToEven(even)),
                _ => load(block, 1 - i as i64),
            };
            for (sum, other) in sums.iter_mut().zip([even, odd]) {
                let product = block.push(Op::MulEven(word, other));
                *sum = Some(block.plus_wide(*sum, product));
            }
        }
        self.narrowed(block, sums)
    }

    /// Even and odd sums as words.
    pub(in crate::lower) fn narrowed(&self, block: &mut Block, sums: [Option<Value>; 2]) -> Value {
        let [even, odd] = sums.map(|sum| sum.unwrap_or_else(|| block.splat(0)));
        block.push(Op::Narrow { even, odd, method: self.schedule.narrow() })
    }

    fn singles(&self, block: &mut Block, work: &Register, terms: std::ops::Range<usize>) -> Value {
        let mut sum: Option<Value> = None;
        for i in terms {
            let b = block.push(Op::Broadcast { buffer: work.a, at: (work.at)(i) });
            let a = block.load(work.e, (work.window)(-(i as i64)));
            let product = block.push(Op::MulWords { a, b, method: ProductMethod::Montgomery });
            sum = Some(block.plus(sum, product));
        }
        sum.unwrap_or_else(|| block.splat(0))
    }
}
