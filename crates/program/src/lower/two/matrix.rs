//! The operands as matrix and vector.

use super::linear::{Edge, Elsewhere, Place};
use crate::build::{Builder, straight};
use crate::ir::*;
use ringforge_plan::{Product, ToeplitzMatrix};
use std::ops::Range;

/// Where in the 2N words of diagonals the main one stands, and after it those below.
pub fn main_diagonal(size: usize) -> usize {
    size
}

/// Zeros over the registers that start at these words.
pub fn zeros(buffer: BufferId, starts: impl Iterator<Item = usize>) -> Stmt {
    straight(|block| {
        let a = block.splat(0);
        for start in starts {
            block.store(buffer, Index::at(start), a);
        }
    })
}

/// `count` words (a register's at least) times a word modulo 2^16.
pub fn copy(
    builder: &mut Builder,
    (from, start): (BufferId, usize),
    (to, goal): (BufferId, usize),
    (count, factor): (usize, i32),
    lanes: usize,
) -> Vec<Stmt> {
    let one = |block: &mut Block, at: &dyn Fn(usize) -> Index| {
        let mut a = block.load(from, at(start));
        if factor == -1 {
            a = block.negated(a);
        } else if factor != 1 {
            let word = block.splat(factor);
            a = block.push(Op::MulLo(a, word));
        }
        block.store(to, at(goal), a);
    };
    let mut body =
        vec![builder.runs(count / lanes, |block, at| one(block, &|base| at(base, lanes)))];
    if !count.is_multiple_of(lanes) {
        body.push(straight(|block| one(block, &|base| Index::at(base + count - lanes))));
    }
    body
}

/// Words that the caller's arrays do not have, or not where a step reads them.
pub struct Ends {
    /// How far from the first block's start its words begin; the last block lacks as many.
    missing: usize,
    /// Words of a block.
    length: usize,
    /// Words of a register.
    lanes: usize,
}

impl Ends {
    /// Columns whose words are not all there: those at the start of the first block, or at the end of
    /// the last one.
    fn columns(&self, front: bool) -> Option<Range<usize>> {
        let (length, missing, lanes) = (self.length, self.missing, self.lanes);
        let tail = (!length.is_multiple_of(lanes)).then(|| length - lanes);
        let lacking = |at: &usize| match front {
            true => *at < missing,
            false => at + lanes > length - missing,
        };
        let all: Vec<usize> =
            (0..length / lanes).map(|c| c * lanes).chain(tail).filter(lacking).collect();
        Some(*all.first()?..all.last()? + lanes)
    }

    /// Copies the ends of `from`, `count` words long, to a buffer each, for the blocks of these
    /// numbers.
    fn copied(
        &self,
        builder: &mut Builder,
        (from, count): (BufferId, usize),
        blocks: [Option<usize>; 2],
    ) -> (Vec<Edge>, Vec<Stmt>) {
        let lanes = self.lanes;
        let (mut edges, mut body) = (Vec::new(), Vec::new());
        for (front, input) in [true, false].into_iter().zip(blocks) {
            let (Some(input), Some(words)) = (input, self.columns(front)) else { continue };
            // A register's room on the side where the copy begins or ends within one.
            let room = (words.len() + lanes).next_multiple_of(lanes);
            let name = if front { "front" } else { "back" };
            let buffer = builder.fresh(name, room);
            let (base, start, goal) = match front {
                true => (0, 0, self.missing),
                false => {
                    let base = room - words.len();
                    (base, count - lanes, base + self.length - self.missing - lanes - words.start)
                }
            };
            body.push(zeros(buffer, (0..room).step_by(lanes)));
            body.push(straight(|block| {
                let a = block.load(from, Index::at(start));
                block.store(buffer, Index::at(goal), a);
            }));
            edges.push(Edge { input, words, buffer, base });
        }
        (edges, body)
    }
}

/// Blocks of the diagonals and of the vector where they are in the caller's arrays, b and a.
pub struct Direct {
    /// Blocks of the diagonals and of the vector.
    pub places: [Vec<Place>; 2],
    /// What of them is not there.
    pub elsewhere: [Elsewhere; 2],
    /// What copies that.
    pub body: Vec<Stmt>,
}

/// In x^n − 1 the diagonals are b twice, and words of a padded matrix beyond them may be anything.
/// So blocks of the matrix lie in b as they are, except at both ends.
pub fn direct(
    builder: &mut Builder,
    matrix: &ToeplitzMatrix,
    (a, b): (BufferId, BufferId),
    (parts, lanes): (usize, usize),
) -> Option<Direct> {
    let (n, size) = (matrix.degree, matrix.size);
    let ends = Ends { missing: size - n, length: size / parts, lanes };
    if matrix.weight != 1 || ends.missing + lanes > ends.length {
        return None;
    }
    let place = |buffer, base| Place { buffer, base, stride: 0 };
    // Block κ of the diagonals begins with number κ·length − size, b's word of that number or of n more.
    let start = |k: usize| match k {
        0 => 0,
        k if k < parts => k * ends.length - ends.missing,
        k => (k - parts) * ends.length,
    };
    let diagonals = (0..2 * parts).map(|k| place(b, start(k))).collect();
    let vector = (0..parts).map(|k| place(a, k * ends.length)).collect();
    let (t, mut body) = ends.copied(builder, (b, n), [Some(0), Some(2 * parts - 1)]);
    let (v, more) = ends.copied(builder, (a, n), [None, Some(parts - 1)]);
    body.extend(more);
    let of = |edges, lead| Elsewhere { edges, lead };
    Some(Direct { places: [diagonals, vector], elsewhere: [of(t, ends.missing), of(v, 0)], body })
}

/// The diagonals of the matrix that multiplies by `b`: w·b_1, …, w·b_{n−1}, b_0, …, b_{n−1}, with
/// zeros before and behind. They take 2N words, and the first word is padding.
pub fn diagonals(
    builder: &mut Builder,
    matrix: &ToeplitzMatrix,
    (b, to): (BufferId, BufferId),
    lanes: usize,
) -> Vec<Stmt> {
    let (n, size, weight) = (matrix.degree, matrix.size, matrix.weight);
    let q = matrix.domain().q;
    // Zeros first: they reach into what is written next.
    let front = (0..size - n + 1).step_by(lanes);
    let first_behind = size + n;
    let behind = (1..=(2 * size - first_behind).div_ceil(lanes)).map(|i| 2 * size - i * lanes);
    let mut body = vec![zeros(to, front.chain(behind))];
    let factor = ringforge_ring::zq::centered(weight, q) as i32;
    if weight == 0 {
        body.push(zeros(to, (0..size).step_by(lanes)));
    } else {
        body.extend(copy(builder, (b, 1), (to, size - n + 1), (n - 1, factor), lanes));
    }
    body.extend(copy(builder, (b, 0), (to, size), (n, 1), lanes));
    body
}

/// The vector: the n words of an array, then zeros up to `size`.
pub fn vector(
    builder: &mut Builder,
    (a, n): (BufferId, usize),
    (to, size): (BufferId, usize),
    lanes: usize,
) -> Vec<Stmt> {
    let mut body = Vec::new();
    if size > n {
        body.push(zeros(to, (1..=(size - n).div_ceil(lanes)).map(|i| size - i * lanes)));
    }
    body.extend(copy(builder, (a, 0), (to, 0), (n, 1), lanes));
    body
}
