//! One matrix of few rows times a vector: the result stays in registers, and each word of the vector goes
//! to all lanes.

use super::matrix::main_diagonal;
use super::{leaf, matrix_procedure};
use crate::build::repeat;
use crate::ir::*;

/// Matrices of at most so many registers: sums, a word of the vector and a product fit in them.
pub const LARGEST: usize = 6;

/// The procedure `(out, diagonals, vector)`; `size` is a multiple of a register.
pub fn procedure(name: &str, size: usize, lanes: usize) -> Procedure {
    let (mut builder, [out, t, v]) = matrix_procedure(name, size);
    let registers = size / lanes;
    // The first columns begin the sums, and a loop goes on with them.
    let mut body = vec![Stmt::Block(columns([out, t, v], (size, lanes), None))];
    if registers > 1 {
        let counter = builder.counter();
        let block = columns([out, t, v], (size, lanes), Some(counter));
        body.push(repeat(counter, registers - 1, vec![Stmt::Block(block)]));
    }
    let title = format!("Toeplitz matrix of size {size} times vector");
    builder.stage(&title, "[Winograd80 §IV]", body);
    builder.finish()
}

/// The first columns, as many as a register has words, or the next ones in run number `run`.
fn columns(
    [out, t, v]: [BufferId; 3],
    (size, lanes): (usize, usize),
    run: Option<LoopVar>,
) -> Block {
    let mut block = Block::default();
    let row = |row: usize| Index::at(row * lanes);
    let sums = (0..size / lanes).map(|i| run.map(|_| block.load(out, row(i)))).collect();
    let moved = |base: usize, stride: i64| match run {
        Some(run) => Index { base: base as i64 + stride, terms: vec![(run, stride)] },
        None => Index::at(base),
    };
    let word = |block: &mut Block, column: usize| {
        block.push(Op::Broadcast { buffer: v, at: moved(column, lanes as i64) })
    };
    let sums = leaf::columns(&mut block, sums, lanes, &word, &mut |block, i, column| {
        block.load(t, moved(main_diagonal(size) + i * lanes - column, -(lanes as i64)))
    });
    for (i, a) in sums.into_iter().enumerate() {
        block.store(out, row(i), a);
    }
    block
}
