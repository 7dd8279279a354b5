//! The procedures that products by lanes call: transposing squares, and direct products whose operands
//! are rows of lanes.

use super::Lowering;
use super::lanes::{METHOD, NARROW};
use super::transpose::{rounds, strided};
use crate::build::{Builder, looped, repeat, straight};
use crate::ir::*;
use ringforge_targets::ALIGNMENT;

/// A procedure of sums of products of rows of lanes.
struct RowSums<'a> {
    name: &'a str,
    title: String,
    cite: &'a str,
    /// The names of the operands, and their rows.
    operands: [(&'a str, usize); 2],
    /// Rows of the result.
    words: usize,
    /// The rows of both operands whose products make a row of the result.
    terms: &'a dyn Fn(usize) -> Vec<(usize, usize)>,
}

impl Lowering<'_> {
    /// The procedure of this name, written where there is none yet.
    fn once(&mut self, name: &str, write: impl FnOnce(&Self, &mut Builder)) -> ProcedureId {
        if let Some(known) = self.written.procedures.iter().position(|p| p.name == name) {
            return ProcedureId(known as u32);
        }
        let mut builder = Builder::new(name, None, self.q);
        write(self, &mut builder);
        builder.finish_behind(&mut self.written.procedures)
    }

    /// The procedure of one round of two that transpose `groups` squares of `lanes` rows, by strided stores.
    pub(super) fn interleave(&mut self, groups: usize, count: usize) -> ProcedureId {
        let lanes = self.lanes;
        let (size, apart) = (lanes * lanes, lanes / count);
        let name = match rounds(lanes) {
            [a, b] if a == b => format!("interleave{groups}"),
            _ => format!("interleave{groups}by{count}"),
        };
        self.once(&name, |_, builder| {
            let out = builder.buffer("out", Role::Output, groups * size, ALIGNMENT);
            let input = builder.buffer("in", Role::Input, groups * size, ALIGNMENT);
            let (group, first) = (builder.counter(), builder.counter());
            let index = |base: usize, step: usize| Index {
                base: base as i64,
                terms: vec![(group, size as i64), (first, step as i64)],
            };
            let from = |k: usize| (input, index(k * apart * lanes, lanes));
            let inner = looped(first, apart, |block| {
                strided(block, count, &from, (out, &|k| index(k, count * lanes)));
            });
            let number = match count {
                2 => "two".to_owned(),
                4 => "four".to_owned(),
                n => n.to_string(),
            };
            let title = format!("interleave rows by {number}");
            builder.stage(&title, "", vec![repeat(group, groups, vec![inner])]);
        })
    }

    /// The procedure that transposes `groups` squares in place, by interleaving registers, few of them at a time where
    /// steps are joined to save registers.
    pub(super) fn transposer(&mut self, groups: usize) -> ProcedureId {
        let lanes = self.lanes;
        let name = format!("transpose{groups}");
        self.once(&name, |lowering, builder| {
            let rows = builder.buffer("rows", Role::Scratch, groups * lanes * lanes, ALIGNMENT);
            let group = builder.counter();
            let at = |row: usize, column: usize| {
                Index::strided(row * lanes + column, group, lanes * lanes)
            };
            let body = looped(group, groups, |block| {
                lowering.square.in_place(block, rows, lowering.schedule.fuse() > 0, &at);
            });
            builder.stage("transpose squares", "", vec![body]);
        })
    }

    /// Squares transposed: from rows of these numbers to rows of other memory with the numbers that `to` says for each, if it
    /// does. A part's columns are stored before the next ones are made, so that few registers are in use.
    pub(super) fn squares(
        &self,
        (from, rows): (BufferId, &[usize]),
        (to, place): (BufferId, &dyn Fn(usize) -> Option<usize>),
    ) -> Vec<Stmt> {
        let (lanes, size) = (self.lanes, self.square.part());
        let square = |(group, rows): (usize, &[usize])| {
            straight(|block| {
                for first in (0..lanes).step_by(size) {
                    let at = |row: usize| Index::at(rows[row] * lanes + first);
                    let columns = self.square.load(block, from, &at).into_iter();
                    for (column, a) in (group * lanes + first..).zip(columns) {
                        if let Some(row) = place(column) {
                            block.store(to, Index::at(row * lanes), a);
                        }
                    }
                }
            })
        };
        rows.chunks(lanes).enumerate().map(square).collect()
    }

    /// The procedure that multiplies a Toeplitz matrix of `size` with a vector in every lane;
    /// where more than `together` products would not fit a word, partial sums are reduced.
    pub(super) fn toeplitz(&mut self, size: usize, together: usize) -> ProcedureId {
        let kind = RowSums {
            name: "toeplitz",
            title: format!("Toeplitz matrix of size {size} times vector"),
            cite: "[Chiu25 §2.5]",
            operands: [("vector", size), ("diagonals", 2 * size - 1)],
            words: size,
            terms: &|i| (0..size).map(|j| (j, size - 1 + i - j)).collect(),
        };
        self.sums_of_products(kind, size, together)
    }

    /// The procedure that multiplies two polynomials of `size` coefficients in every lane; partial
    /// sums as in [`Lowering::toeplitz`].
    pub(super) fn product(&mut self, size: usize, together: usize) -> ProcedureId {
        let kind = RowSums {
            name: "polynomials",
            title: format!("product of two polynomials of {size} coefficients"),
            cite: "[Hwang24 §4.4]",
            operands: [("a", size), ("b", size)],
            words: 2 * size - 1,
            terms: &|i| {
                let first = i.saturating_sub(size - 1);
                (first..=i.min(size - 1)).map(|j| (j, i - j)).collect()
            },
        };
        self.sums_of_products(kind, size, together)
    }

    fn sums_of_products(&mut self, kind: RowSums, size: usize, together: usize) -> ProcedureId {
        let lanes = self.lanes;
        let partial = if together < size { format!("by{together}") } else { String::new() };
        let name = format!("{}{}{size}{partial}", self.prefix, kind.name);
        self.once(&name, |lowering, builder| {
            let out = builder.buffer("out", Role::Output, kind.words * lanes, ALIGNMENT);
            let operands = kind.operands.map(|(name, words)| {
                (builder.buffer(name, Role::Input, words * lanes, ALIGNMENT), words)
            });
            let at = |i: usize| Index::at(i * lanes);
            let body = straight(|block| {
                let [a, b] = operands.map(|(buffer, words)| -> Vec<Value> {
                    (0..words).map(|i| block.load(buffer, at(i))).collect()
                });
                for i in 0..kind.words {
                    let pairs: Vec<(Value, Value)> =
                        (kind.terms)(i).into_iter().map(|(j, k)| (a[j], b[k])).collect();
                    if let Some(a) = lowering.sum_of_products(block, &pairs, together) {
                        block.store(out, at(i), a);
                    }
                }
            });
            builder.stage(&kind.title, kind.cite, vec![body]);
        })
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
                    Some(block.plus(sum, p))
                }),
            };
            let Some(mut p) = partial else { continue };
            if together < pairs.len() {
                p = block.reduced(p, self.schedule.reduce());
            }
            sum = Some(block.plus(sum, p));
        }
        sum
    }

    /// Σ x·y over the pairs, in words of twice the width for even and for odd lanes, narrowed: two terms are one dot
    /// product of words side by side.
    fn wide_sum(&self, block: &mut Block, pairs: &[(Value, Value)]) -> Option<Value> {
        let zero = (pairs.len() % 2 == 1).then(|| block.splat(0));
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
