//! Base products for machines without a dot product of pairs (portable C): one lane is one
//! weighted convolution, every product is a Montgomery product of two words.
//!
//! Blocks are transposed in groups of `lanes`, so that coefficient i of `lanes` convolutions is
//! one register, and transposed back. The convolution is the product of a with the Toeplitz
//! matrix of b [Chiu25 §2.5]; one level of Karatsuba makes three matrices of half the size.
//! Transposing `lanes = 4·m` rows takes two rounds of interleaving four registers by strided
//! stores, which compilers turn to unpack instructions.

use super::transform::{Products, cell_of_output};
use super::{LowerError, Lowering, Operand, unsupported};
use crate::bounds::WORD;
use crate::build::{Builder, repeat};
use crate::ir::*;
use crate::method::ProductMethod;
use ringforge_plan::Substitute;

const METHOD: ProductMethod = ProductMethod::Montgomery;

impl Lowering<'_> {
    /// The largest magnitude of one product of words.
    fn word_product(&self, stage: &str, a: i64, b: i64) -> Result<i64, LowerError> {
        let range = METHOD.range((-a, a), (-b, b), self.q).filter(|_| a <= WORD && b <= WORD);
        let wide = LowerError::Word { stage: stage.into(), bound: a.max(b) };
        range.map(|(lo, hi)| hi.max(-lo)).ok_or(wide)
    }

    /// How many products, none above `each`, a word holds added up; `terms` at most.
    fn together(terms: usize, each: i64) -> usize {
        terms.min((WORD / each.max(1)).max(1) as usize)
    }

    /// The largest magnitude of `terms` products, none above `each`, where every `together` of
    /// them are added and, if that is not all of them, reduced.
    fn word_sum(
        &self,
        stage: &str,
        terms: usize,
        together: usize,
        each: i64,
    ) -> Result<i64, LowerError> {
        let sum = match together < terms {
            true => terms.div_ceil(together) as i64 * self.bounds.reduce(together as i64 * each),
            false => terms as i64 * each,
        };
        let wide = LowerError::Word { stage: stage.into(), bound: sum };
        if sum <= WORD { Ok(sum) } else { Err(wide) }
    }

    /// Multiplies block by block; `buffers` hold the transformed operands, block after block and
    /// padded to whole groups, `bounds` their largest magnitudes by cell.
    pub fn lane_products(
        &mut self,
        tag: &str,
        part: &Substitute,
        [a, b]: [BufferId; 2],
        bounds: &[i64],
    ) -> Result<Products, LowerError> {
        let (lanes, blocks) = (self.lanes, part.blocks());
        let (half, groups) = (lanes / 2, blocks.div_ceil(lanes));
        if lanes != 16 {
            let why = format!("two rounds by four transpose 16 rows, not {lanes}");
            return Err(unsupported("weighted-convolution", why, "lanes = 16"));
        }
        let stage = format!("{tag}.base");
        let mut weights = vec![1; groups * lanes];
        for (j, &cell) in cell_of_output(part.transform.as_ref()).iter().enumerate() {
            weights[cell] = part.convolution.weights[j];
        }
        let bound = bounds.iter().copied().max().unwrap_or(0);
        let weighted = weights.iter().map(|&w| self.bounds.product(w, bound)).max().unwrap_or(0);
        let diagonal = bound.max(weighted);
        let each = [(2 * bound, diagonal), (bound, 2 * diagonal)]
            .map(|(a, b)| self.word_product(&stage, a, b));
        let [of_sums, of_differences] = each;
        let (of_sums, of_differences) = (of_sums?, of_differences?);
        let together = Self::together(half, of_sums.max(of_differences));
        let sums = self.word_sum(&stage, half, together, of_sums)?;
        let differences = self.word_sum(&stage, half, together, of_differences)?;
        let product_bound = self.bounds.reduce(sums) + self.bounds.reduce(differences);
        self.borders.push((stage, product_bound));

        let interleave = self.interleave(groups);
        let toeplitz = self.toeplitz(half, together);
        let named = |name: &str| if tag == "main" { name.into() } else { format!("{name}_{tag}") };
        let words = groups * lanes * lanes;
        let local = |lowering: &mut Self, name: &str, words: usize| {
            lowering.builder.buffer(&named(name), Role::Local, words, 64)
        };
        // In place by way of one more array: a small stack matters more than names.
        let between = local(self, "between", words);
        let transpose =
            |buffer| [call(interleave, &[between, buffer]), call(interleave, &[buffer, between])];
        let title = format!("{tag} part: transpose, one lane for each convolution");
        self.builder.stage(&title, "", [transpose(a), transpose(b)].concat());

        let table = Role::Factors(weights);
        let table = self.builder.buffer(&named("weights"), table, groups * lanes, 64);
        let diagonals = local(self, "diagonals", (2 * lanes - 1) * lanes);
        let lower = local(self, "lower", (lanes - 1) * lanes);
        let upper = local(self, "upper", (lanes - 1) * lanes);
        let folded = local(self, "folded", half * lanes);
        let parts = ["both", "first", "second"].map(|name| local(self, name, half * lanes));
        let group = self.builder.counter();
        let size = lanes * lanes;
        let row = |i: usize| Index::strided(i * lanes, group, size);
        let plain = |i: usize| Index::at(i * lanes);

        // t = w·b_1, …, w·b_(k-1), b_0, …, b_(k-1), as rows of lanes.
        let mut make = Block::default();
        let bs: Vec<Value> =
            (0..lanes).map(|i| make.push(Op::Load { buffer: b, at: row(i) })).collect();
        let mut t = Vec::new();
        for &v in &bs[1..] {
            let factor = Factor::Table { buffer: table, at: Index::strided(0, group, lanes) };
            t.push(make.push(Op::MulMod { a: v, factor, method: self.schedule.multiply }));
        }
        t.extend(&bs);
        for (i, &v) in t.iter().enumerate() {
            make.push(Op::Store { buffer: diagonals, at: plain(i), a: v });
        }
        for i in 0..lanes - 1 {
            let middle = t[half + i];
            for (buffer, other) in [(lower, t[i]), (upper, t[lanes + i])] {
                let v = make.push(Op::Sub(other, middle));
                make.push(Op::Store { buffer, at: plain(i), a: v });
            }
        }
        let mut fold = Block::default();
        for i in 0..half {
            let x = fold.push(Op::Load { buffer: a, at: row(i) });
            let y = fold.push(Op::Load { buffer: a, at: row(half + i) });
            let v = fold.push(Op::Add(x, y));
            fold.push(Op::Store { buffer: folded, at: plain(i), a: v });
        }
        let mut join = Block::default();
        for i in 0..half {
            let [p1, p2, p3] = parts.map(|buffer| {
                let v = join.push(Op::Load { buffer, at: plain(i) });
                join.push(Op::Reduce { a: v, method: self.schedule.reduce })
            });
            for (p, at) in [(p2, row(i)), (p3, row(half + i))] {
                let v = join.push(Op::Add(p1, p));
                join.push(Op::Store { buffer: a, at, a: v });
            }
        }
        let at = |buffer, at: Index| (buffer, at);
        let product = |out: BufferId, v: (BufferId, Index), t: (BufferId, Index)| Stmt::Call {
            procedure: toeplitz,
            arguments: vec![(out, Index::at(0)), v, t],
        };
        let body = vec![
            Stmt::Block(make),
            Stmt::Block(fold),
            product(parts[0], at(folded, plain(0)), at(diagonals, plain(half))),
            product(parts[1], at(a, row(half)), at(lower, plain(0))),
            product(parts[2], at(a, row(0)), at(upper, plain(0))),
            Stmt::Block(join),
        ];
        let title = format!(
            "{tag} part: {blocks} weighted convolutions of size {lanes}, Karatsuba and Toeplitz"
        );
        self.builder.stage(&title, "[Chiu25 §3.2.3]", vec![repeat(group, groups, body)]);

        let title = format!("{tag} part: transpose back");
        self.builder.stage(&title, "", transpose(a).into());
        Ok(Products { buffer: a, bounds: vec![product_bound; blocks] })
    }

    fn procedure_named(&self, name: &str) -> Option<ProcedureId> {
        let found = self.procedures.iter().position(|p| p.name == name);
        found.map(|i| ProcedureId(i as u32))
    }

    /// The procedure that, twice, transposes `groups` squares of `lanes` rows (4², which is what
    /// two rounds by four make, where `lanes` is 16).
    fn interleave(&mut self, groups: usize) -> ProcedureId {
        let lanes = self.lanes;
        let (size, quarter) = (lanes * lanes, lanes / 4);
        let name = format!("interleave{groups}");
        if let Some(known) = self.procedure_named(&name) {
            return known;
        }
        let mut builder = Builder::new(&name, false);
        let out = builder.buffer("out", Role::Output, groups * size, 64);
        let input = builder.buffer("in", Role::Input, groups * size, 64);
        let (group, four) = (builder.counter(), builder.counter());
        let index = |base: usize, step: usize| Index {
            base: base as i64,
            terms: vec![(group, size as i64), (four, step as i64)],
        };
        let mut block = Block::default();
        let rows: Vec<Value> = (0..4)
            .map(|k| {
                let at = index(k * quarter * lanes, lanes);
                block.push(Op::Load { buffer: input, at })
            })
            .collect();
        for (k, &a) in rows.iter().enumerate() {
            let at = index(k, 4 * lanes);
            block.push(Op::StoreStrided { buffer: out, at, stride: 4, a });
        }
        let inner = repeat(four, quarter, vec![Stmt::Block(block)]);
        builder.stage("interleave rows by four", "", vec![repeat(group, groups, vec![inner])]);
        self.procedures.push(builder.finish());
        ProcedureId(self.procedures.len() as u32 - 1)
    }

    /// The procedure that multiplies a Toeplitz matrix of `size` with a vector in every lane;
    /// where more than `together` products would not fit a word, partial sums are reduced.
    fn toeplitz(&mut self, size: usize, together: usize) -> ProcedureId {
        let lanes = self.lanes;
        let name = match together < size {
            true => format!("toeplitz{size}by{together}"),
            false => format!("toeplitz{size}"),
        };
        if let Some(known) = self.procedure_named(&name) {
            return known;
        }
        let mut builder = Builder::new(&name, false);
        let out = builder.buffer("out", Role::Output, size * lanes, 64);
        let vector = builder.buffer("vector", Role::Input, size * lanes, 64);
        let diagonals = builder.buffer("diagonals", Role::Input, (2 * size - 1) * lanes, 64);
        let mut block = Block::default();
        let at = |i: usize| Index::at(i * lanes);
        let v: Vec<Value> =
            (0..size).map(|i| block.push(Op::Load { buffer: vector, at: at(i) })).collect();
        let t: Vec<Value> = (0..2 * size - 1)
            .map(|i| block.push(Op::Load { buffer: diagonals, at: at(i) }))
            .collect();
        for i in 0..size {
            let mut sum: Option<Value> = None;
            for part in (0..size).collect::<Vec<_>>().chunks(together) {
                let mut partial: Option<Value> = None;
                for &j in part {
                    let (a, b) = (v[j], t[size - 1 + i - j]);
                    let p = block.push(Op::MulWords { a, b, method: METHOD });
                    partial = Some(match partial {
                        None => p,
                        Some(s) => block.push(Op::Add(s, p)),
                    });
                }
                let Some(mut p) = partial else { continue };
                if together < size {
                    p = block.push(Op::Reduce { a: p, method: self.schedule.reduce });
                }
                sum = Some(match sum {
                    None => p,
                    Some(s) => block.push(Op::Add(s, p)),
                });
            }
            if let Some(a) = sum {
                block.push(Op::Store { buffer: out, at: at(i), a });
            }
        }
        let title = format!("Toeplitz matrix of size {size} times vector");
        builder.stage(&title, "[Chiu25 §2.5]", vec![Stmt::Block(block)]);
        self.procedures.push(builder.finish());
        ProcedureId(self.procedures.len() as u32 - 1)
    }

    /// As [`Lowering::truncated_product`], with products of words; the words of a in order.
    pub fn truncated_lanes(
        &mut self,
        blocks: usize,
        a: &Operand,
        b: &Operand,
        full: BufferId,
        factor: u64,
    ) -> Result<i64, LowerError> {
        let lanes = self.lanes;
        let h = (self.q as i64 - 1) / 2;
        let each = self.word_product("low", h, h)?;
        let together = (WORD / each).max(1) as usize;
        let scaled = self.bounds.product(factor, together as i64 * each);
        // Windows over b that start before its first word read these: zeros, then b.
        let edge = self.builder.buffer("edge", Role::Local, 2 * lanes, 64);
        let mut block = Block::default();
        let zero = block.push(Op::Splat(0));
        let first = block.push(Op::Load { buffer: b.buffer, at: Index::at(b.start) });
        block.push(Op::Store { buffer: edge, at: Index::at(0), a: zero });
        block.push(Op::Store { buffer: edge, at: Index::at(lanes), a: first });
        // Every coefficient of a in a register of its own.
        let spread = self.builder.buffer("spread", Role::Local, blocks * lanes * lanes, 64);
        let counter = self.builder.counter();
        let mut one = Block::default();
        let at = Index::strided(a.start, counter, 1);
        let word = one.push(Op::Broadcast { buffer: a.buffer, at });
        let at = Index::strided(0, counter, lanes);
        one.push(Op::Store { buffer: spread, at, a: word });
        let mut body =
            vec![Stmt::Block(block), repeat(counter, blocks * lanes, vec![Stmt::Block(one)])];
        let mut worst = 0;
        // One block, since all sums share what a product prepares of a's coefficients.
        let mut block = Block::default();
        let words: Vec<Value> = (0..blocks * lanes)
            .map(|i| block.push(Op::Load { buffer: spread, at: Index::at(i * lanes) }))
            .collect();
        for number in 0..blocks {
            let start = number * lanes;
            let (mut total, mut bound): (Option<Value>, i64) = (None, 0);
            let terms: Vec<usize> = (0..start + lanes).collect();
            for chunk in terms.chunks(together) {
                let mut sum: Option<Value> = None;
                for &i in chunk {
                    let v = block.push(match start.checked_sub(i) {
                        Some(word) => Op::Load { buffer: b.buffer, at: Index::at(b.start + word) },
                        None => Op::Load { buffer: edge, at: Index::at(lanes + start - i) },
                    });
                    let p = block.push(Op::MulWords { a: v, b: words[i], method: METHOD });
                    sum = Some(match sum {
                        None => p,
                        Some(s) => block.push(Op::Add(s, p)),
                    });
                }
                let Some(a) = sum else { continue };
                let (factor, method) = (Factor::Splat(factor), self.schedule.multiply);
                let p = block.push(Op::MulMod { a, factor, method });
                total = Some(match total {
                    None => p,
                    Some(t) => block.push(Op::Add(t, p)),
                });
                bound += scaled;
            }
            if bound > WORD {
                return Err(LowerError::Word { stage: "low".into(), bound });
            }
            if bound > self.schedule.limits.full / 3 {
                bound = self.bounds.reduce(bound);
                let method = self.schedule.reduce;
                total = total.map(|a| block.push(Op::Reduce { a, method }));
            }
            worst = worst.max(bound);
            if let Some(a) = total {
                block.push(Op::Store { buffer: full, at: Index::at(start), a });
            }
        }
        body.push(Stmt::Block(block));
        let title = "low part: truncated product, one coefficient after another";
        self.builder.stage(title, "[Chiu25 §3.1]", body);
        Ok(worst)
    }
}

fn call(procedure: ProcedureId, buffers: &[BufferId]) -> Stmt {
    let arguments = buffers.iter().map(|&b| (b, Index::at(0))).collect();
    Stmt::Call { procedure, arguments }
}
