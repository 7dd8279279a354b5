//! The products at the bottom: sixteen Toeplitz matrices times vectors, one in each lane.

use super::linear::LANES;
use crate::build::{Builder, repeat};
use crate::ir::*;

/// Rows of the matrix that are summed up side by side: sums, diagonals and a word of the vector
/// all fit in sixteen registers.
const SIDE_BY_SIDE: usize = 6;

/// Matrices of at most this size are straight-line code.
const STRAIGHT: usize = 16;

/// The procedure `(out, diagonals, vector)`.
pub fn procedure(name: &str, size: usize, q: u64) -> Procedure {
    let mut builder = Builder::new(name, None, q);
    let out = builder.buffer("out", Role::Output, size * LANES, 64);
    let t = builder.buffer("diagonals", Role::Input, 2 * size * LANES, 64);
    let v = builder.buffer("vector", Role::Input, size * LANES, 64);
    // As even as can be.
    let rounds = size.div_ceil(SIDE_BY_SIDE);
    let height = size.div_ceil(rounds);
    let mut body = Vec::new();
    if size <= STRAIGHT {
        let mut start = 0;
        let mut block = Block::default();
        while start < size {
            let rows = height.min(size - start);
            side_by_side(&mut block, [out, t, v], size, rows, &|base| {
                Index::at(base + start * LANES)
            });
            start += rows;
        }
        body.push(Stmt::Block(block));
    } else {
        let (whole, rest) = (size / height, size % height);
        let counter = builder.counter();
        let mut block = Block::default();
        side_by_side(&mut block, [out, t, v], size, height, &|base| {
            Index::strided(base, counter, height * LANES)
        });
        body.push(repeat(counter, whole, vec![Stmt::Block(block)]));
        if rest > 0 {
            let mut block = Block::default();
            side_by_side(&mut block, [out, t, v], size, rest, &|base| {
                Index::at(base + whole * height * LANES)
            });
            body.push(Stmt::Block(block));
        }
    }
    let title = format!("Toeplitz matrices of size {size} times vectors");
    builder.stage(&title, "[Winograd80 §IV]", body);
    builder.finish()
}

/// `rows` rows of the result; `moved` moves an index from the first row to where they are.
fn side_by_side(
    block: &mut Block,
    [out, t, v]: [BufferId; 3],
    size: usize,
    rows: usize,
    moved: &dyn Fn(usize) -> Index,
) {
    let mut sums: Vec<Option<Value>> = vec![None; rows];
    let mut diagonals: Vec<Option<Value>> = vec![None; size + rows];
    for j in 0..size {
        let b = block.push(Op::Load { buffer: v, at: Index::at(j * LANES) });
        for (i, sum) in sums.iter_mut().enumerate() {
            let d = size - 1 + i - j;
            let a = *diagonals[d]
                .get_or_insert_with(|| block.push(Op::Load { buffer: t, at: moved(d * LANES) }));
            let product = block.push(Op::MulLo(a, b));
            *sum = Some(match *sum {
                None => product,
                Some(sum) => block.push(Op::Add(sum, product)),
            });
        }
    }
    for (i, sum) in sums.into_iter().enumerate() {
        if let Some(a) = sum {
            block.push(Op::Store { buffer: out, at: moved(i * LANES), a });
        }
    }
}
