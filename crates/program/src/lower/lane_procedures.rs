//! The procedures that products by lanes call: transposing squares, and direct products whose operands
//! are rows of lanes.

use super::Lowering;
use super::lanes::{METHOD, NARROW};
use super::transpose::{rounds, strided};
use crate::build::{Builder, repeat};
use crate::ir::*;
use ringforge_targets::ALIGNMENT;

impl Lowering<'_> {
    fn procedure_named(&self, name: &str) -> Option<ProcedureId> {
        let found = self.procedures.iter().position(|p| p.name == name);
        found.map(|i| ProcedureId(i as u32))
    }

    /// The procedure of one round of two that transpose `groups` squares of `lanes` rows, by strided stores.
    pub(super) fn interleave(&mut self, groups: usize, count: usize) -> ProcedureId {
        let lanes = self.lanes;
        let (size, apart) = (lanes * lanes, lanes / count);
        let name = match rounds(lanes) {
            [a, b] if a == b => format!("interleave{groups}"),
            _ => format!("interleave{groups}by{count}"),
        };
        if let Some(known) = self.procedure_named(&name) {
            return known;
        }
        let mut builder = Builder::new(&name, None, self.q);
        let out = builder.buffer("out", Role::Output, groups * size, ALIGNMENT);
        let input = builder.buffer("in", Role::Input, groups * size, ALIGNMENT);
        let (group, first) = (builder.counter(), builder.counter());
        let index = |base: usize, step: usize| Index {
            base: base as i64,
            terms: vec![(group, size as i64), (first, step as i64)],
        };
        let mut block = Block::default();
        let from = |k: usize| (input, index(k * apart * lanes, lanes));
        strided(&mut block, count, &from, (out, &|k| index(k, count * lanes)));
        let inner = repeat(first, apart, vec![Stmt::Block(block)]);
        let number = match count {
            2 => "two".to_owned(),
            4 => "four".to_owned(),
            n => n.to_string(),
        };
        let title = format!("interleave rows by {number}");
        builder.stage(&title, "", vec![repeat(group, groups, vec![inner])]);
        self.procedures.push(builder.finish());
        ProcedureId(self.procedures.len() as u32 - 1)
    }

    /// The procedure that transposes `groups` squares in place, by interleaving registers, few of them at a time where
    /// steps are joined to save registers.
    pub(super) fn transposer(&mut self, groups: usize) -> ProcedureId {
        let lanes = self.lanes;
        let name = format!("transpose{groups}");
        if let Some(known) = self.procedure_named(&name) {
            return known;
        }
        let mut builder = Builder::new(&name, None, self.q);
        let rows = builder.buffer("rows", Role::Scratch, groups * lanes * lanes, ALIGNMENT);
        let group = builder.counter();
        let at =
            |row: usize, column: usize| Index::strided(row * lanes + column, group, lanes * lanes);
        let mut block = Block::default();
        self.square.in_place(&mut block, rows, self.schedule.fuse() > 0, &at);
        let body = vec![repeat(group, groups, vec![Stmt::Block(block)])];
        builder.stage("transpose squares", "", body);
        self.procedures.push(builder.finish());
        ProcedureId(self.procedures.len() as u32 - 1)
    }

    /// A square transposed: from rows that start at these words to rows of other memory that start where `to` says, if it
    /// does. A part's columns are stored before the next ones are made, so that few registers are in use.
    pub(super) fn transposed(
        &self,
        (from, rows): (BufferId, &[usize]),
        (to, place): (BufferId, &dyn Fn(usize) -> Option<usize>),
    ) -> Block {
        let mut block = Block::default();
        for first in (0..self.lanes).step_by(self.square.size()) {
            let at = |row: usize| Index::at(rows[row] + first);
            let columns = self.square.load(&mut block, from, &at);
            for (column, a) in columns.into_iter().enumerate() {
                if let Some(word) = place(first + column) {
                    block.push(Op::Store { buffer: to, at: Index::at(word), a });
                }
            }
        }
        block
    }

    /// The procedure that multiplies a Toeplitz matrix of `size` with a vector in every lane;
    /// where more than `together` products would not fit a word, partial sums are reduced.
    pub(super) fn toeplitz(&mut self, size: usize, together: usize) -> ProcedureId {
        let lanes = self.lanes;
        let name = match together < size {
            true => format!("{}toeplitz{size}by{together}", self.prefix),
            false => format!("{}toeplitz{size}", self.prefix),
        };
        if let Some(known) = self.procedure_named(&name) {
            return known;
        }
        let mut builder = Builder::new(&name, None, self.q);
        let out = builder.buffer("out", Role::Output, size * lanes, ALIGNMENT);
        let vector = builder.buffer("vector", Role::Input, size * lanes, ALIGNMENT);
        let diagonals = builder.buffer("diagonals", Role::Input, (2 * size - 1) * lanes, ALIGNMENT);
        let mut block = Block::default();
        let at = |i: usize| Index::at(i * lanes);
        let v: Vec<Value> =
            (0..size).map(|i| block.push(Op::Load { buffer: vector, at: at(i) })).collect();
        let t: Vec<Value> = (0..2 * size - 1)
            .map(|i| block.push(Op::Load { buffer: diagonals, at: at(i) }))
            .collect();
        for i in 0..size {
            let pairs: Vec<(Value, Value)> =
                (0..size).map(|j| (v[j], t[size - 1 + i - j])).collect();
            if let Some(a) = self.sum_of_products(&mut block, &pairs, together) {
                block.push(Op::Store { buffer: out, at: at(i), a });
            }
        }
        let title = format!("Toeplitz matrix of size {size} times vector");
        builder.stage(&title, "[Chiu25 §2.5]", vec![Stmt::Block(block)]);
        self.procedures.push(builder.finish());
        ProcedureId(self.procedures.len() as u32 - 1)
    }

    /// The procedure that multiplies two polynomials of `size` coefficients in every lane; partial
    /// sums as in [`Lowering::toeplitz`].
    pub(super) fn product(&mut self, size: usize, together: usize) -> ProcedureId {
        let lanes = self.lanes;
        let name = match together < size {
            true => format!("{}polynomials{size}by{together}", self.prefix),
            false => format!("{}polynomials{size}", self.prefix),
        };
        if let Some(known) = self.procedure_named(&name) {
            return known;
        }
        let mut builder = Builder::new(&name, None, self.q);
        let out = builder.buffer("out", Role::Output, (2 * size - 1) * lanes, ALIGNMENT);
        let [a, b] =
            ["a", "b"].map(|name| builder.buffer(name, Role::Input, size * lanes, ALIGNMENT));
        let mut block = Block::default();
        let at = |i: usize| Index::at(i * lanes);
        let [a, b] = [a, b].map(|buffer| -> Vec<Value> {
            (0..size).map(|i| block.push(Op::Load { buffer, at: at(i) })).collect()
        });
        for i in 0..2 * size - 1 {
            let pairs: Vec<(Value, Value)> =
                (i.saturating_sub(size - 1)..=i.min(size - 1)).map(|j| (a[j], b[i - j])).collect();
            if let Some(a) = self.sum_of_products(&mut block, &pairs, together) {
                block.push(Op::Store { buffer: out, at: at(i), a });
            }
        }
        let title = format!("product of two polynomials of {size} coefficients");
        builder.stage(&title, "[Hwang24 §4.4]", vec![Stmt::Block(block)]);
        self.procedures.push(builder.finish());
        ProcedureId(self.procedures.len() as u32 - 1)
    }

    /// Σ x·y over the pairs; where they are more than `together`, partial sums are reduced.
    fn sum_of_products(
        &self,
        block: &mut Block,
        pairs: &[(Value, Value)],
        together: usize,
    ) -> Option<Value> {
        let mut sum: Option<Value> = None;
        for part in pairs.chunks(together) {
            let partial = match self.schedule.wide_sums() {
                true => self.wide_sum(block, part),
                false => part.iter().fold(None, |sum, &(a, b)| {
                    let p = block.push(Op::MulWords { a, b, method: METHOD });
                    Some(sum.map_or(p, |s| block.push(Op::Add(s, p))))
                }),
            };
            let Some(mut p) = partial else { continue };
            if together < pairs.len() {
                p = block.push(Op::Reduce { a: p, method: self.schedule.reduce() });
            }
            sum = Some(match sum {
                None => p,
                Some(s) => block.push(Op::Add(s, p)),
            });
        }
        sum
    }

    /// Σ x·y over the pairs, in words of twice the width for even and for odd lanes, narrowed: two terms are one dot
    /// product of words side by side.
    fn wide_sum(&self, block: &mut Block, pairs: &[(Value, Value)]) -> Option<Value> {
        let zero = (pairs.len() % 2 == 1).then(|| block.push(Op::Splat(0)));
        let mut sums: [Option<Value>; 2] = [None; 2];
        for two in pairs.chunks(2) {
            let (a, b) = two[0];
            let (c, d) = two.get(1).copied().or(zero.zip(zero))?;
            for (odd, sum) in sums.iter_mut().enumerate() {
                let [x, y] = [(a, c), (b, d)]
                    .map(|(even, odd_word)| side_by_side(block, [even, odd_word], odd == 1));
                *sum = Some(self.dot_add(block, *sum, x, y));
            }
        }
        let [even, odd] = sums;
        Some(block.push(Op::Narrow { even: even?, odd: odd?, method: NARROW }))
    }
}

/// The even words of a and of b, or their odd ones, alternately.
pub(super) fn side_by_side(block: &mut Block, [a, b]: [Value; 2], odd: bool) -> Value {
    let (a, b) = match odd {
        false => (a, block.push(Op::SwapPairs(b))),
        true => (block.push(Op::SwapPairs(a)), b),
    };
    block.push(Op::Blend { a, b, mask: 0xaa })
}
