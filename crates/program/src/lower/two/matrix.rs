//! The operands as matrix and vector.

use super::linear::LANES;
use crate::build::{Builder, repeat};
use crate::ir::*;
use ringforge_plan::{Product, ToeplitzMatrix};

/// Where in the 2N words of diagonals the main one stands, and after it those below.
pub fn main_diagonal(size: usize) -> usize {
    size - 1
}

/// Zeros over the registers that start at these words.
pub fn zeros(buffer: BufferId, starts: impl Iterator<Item = usize>) -> Block {
    let mut block = Block::default();
    let a = block.push(Op::Splat(0));
    for start in starts {
        block.push(Op::Store { buffer, at: Index::at(start), a });
    }
    block
}

/// `count` words (a register's at least) times a word modulo 2^16.
pub fn copy(
    builder: &mut Builder,
    (from, start): (BufferId, usize),
    (to, goal): (BufferId, usize),
    count: usize,
    factor: i32,
) -> Vec<Stmt> {
    let one = |at: &dyn Fn(usize) -> Index| {
        let mut block = Block::default();
        let mut a = block.push(Op::Load { buffer: from, at: at(start) });
        if factor == -1 {
            let zero = block.push(Op::Splat(0));
            a = block.push(Op::Sub(zero, a));
        } else if factor != 1 {
            let word = block.push(Op::Splat(factor));
            a = block.push(Op::MulLo(a, word));
        }
        block.push(Op::Store { buffer: to, at: at(goal), a });
        Stmt::Block(block)
    };
    let mut body = Vec::new();
    let counter = builder.counter();
    let looped = one(&|base| Index::strided(base, counter, LANES));
    body.push(repeat(counter, count / LANES, vec![looped]));
    if !count.is_multiple_of(LANES) {
        body.push(one(&|base| Index::at(base + count - LANES)));
    }
    body
}

/// The diagonals of the matrix that multiplies by `b`: w·b_1, …, w·b_{n−1}, b_0, …, b_{n−1} before
/// and behind zeros, 2N words of which the last stands for nothing.
pub fn diagonals(
    builder: &mut Builder,
    matrix: &ToeplitzMatrix,
    b: BufferId,
    to: BufferId,
) -> Vec<Stmt> {
    let (n, size, weight) = (matrix.degree, matrix.size, matrix.weight);
    let q = matrix.domain().q;
    // Zeros first: they reach into what is written next.
    let front = (0..size - n).step_by(LANES);
    let first_behind = size - 1 + n;
    let behind = (1..=(2 * size - first_behind).div_ceil(LANES)).map(|i| 2 * size - i * LANES);
    let mut body = vec![Stmt::Block(zeros(to, front.chain(behind)))];
    let factor = ringforge_ring::zq::centered(weight, q) as i32;
    if weight == 0 {
        body.push(Stmt::Block(zeros(to, (0..size - 1).step_by(LANES))));
    } else {
        body.extend(copy(builder, (b, 1), (to, size - n), n - 1, factor));
    }
    body.extend(copy(builder, (b, 0), (to, size - 1), n, 1));
    body
}

/// The vector: the n words of an array, then zeros up to `size`.
pub fn vector(
    builder: &mut Builder,
    (a, n): (BufferId, usize),
    (to, size): (BufferId, usize),
) -> Vec<Stmt> {
    let mut body = Vec::new();
    if size > n {
        body.push(Stmt::Block(zeros(
            to,
            (1..=(size - n).div_ceil(LANES)).map(|i| size - i * LANES),
        )));
    }
    body.extend(copy(builder, (a, 0), (to, 0), n, 1));
    body
}
