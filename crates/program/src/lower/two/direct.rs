//! One matrix of few rows times a vector: the result stays in registers, and each word of the vector goes
//! to all lanes.

use super::matrix::main_diagonal;
use super::{Q, matrix_arrays};
use crate::build::{Builder, repeat};
use crate::ir::*;

/// Matrices of at most so many registers: sums, a word of the vector and a product fit in them.
pub const LARGEST: usize = 6;

/// The procedure `(out, diagonals, vector)`; `size` is a multiple of a register.
pub fn procedure(name: &str, size: usize, lanes: usize) -> Procedure {
    let mut builder = Builder::new(name, None, Q);
    let [out, t, v] = matrix_arrays(&mut builder, size);
    let registers = size / lanes;
    let mut body = Vec::new();
    // The first columns begin the sums, and a loop goes on with them.
    body.push(Stmt::Block(columns([out, t, v], (size, lanes), None)));
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
    let rows = size / lanes;
    let mut sums: Vec<Option<Value>> = vec![None; rows];
    if run.is_some() {
        for (row, sum) in sums.iter_mut().enumerate() {
            let at = Index::at(row * lanes);
            *sum = Some(block.load(out, at));
        }
    }
    for column in 0..lanes {
        let moved = |base: usize, stride: i64| match run {
            Some(run) => Index { base: base as i64 + stride, terms: vec![(run, stride)] },
            None => Index::at(base),
        };
        let word = block.push(Op::Broadcast { buffer: v, at: moved(column, lanes as i64) });
        for (row, sum) in sums.iter_mut().enumerate() {
            let at = moved(main_diagonal(size) + row * lanes - column, -(lanes as i64));
            let diagonals = block.load(t, at);
            let product = block.push(Op::MulLo(diagonals, word));
            *sum = Some(block.plus(*sum, product));
        }
    }
    for (row, sum) in sums.into_iter().enumerate() {
        if let Some(a) = sum {
            block.store(out, Index::at(row * lanes), a);
        }
    }
    block
}
