//! The products at the bottom: Toeplitz matrices times vectors, one in each lane.

use super::matrix_procedure;
use crate::build::repeat;
use crate::ir::*;

/// Rows of the matrix that are summed up side by side: sums, diagonals and a word of the vector
/// all fit in sixteen registers.
const SIDE_BY_SIDE: usize = 6;

/// Matrices of at most this size are straight-line code.
pub const STRAIGHT: usize = 16;

/// How many of `size` rows go side by side, as evenly as can be.
fn height(size: usize) -> usize {
    size.div_ceil(size.div_ceil(SIDE_BY_SIDE))
}

/// Gets a register by its number.
type Get<'a> = dyn Fn(&mut Block, usize) -> Value + 'a;

/// Adds a matrix times a vector to sums of its rows, column by column.
pub fn columns(
    block: &mut Block,
    mut sums: Vec<Option<Value>>,
    columns: usize,
    word: &Get,
    diagonal: &mut dyn FnMut(&mut Block, usize, usize) -> Value,
) -> Vec<Value> {
    for j in 0..columns {
        let word = word(block, j);
        for (i, sum) in sums.iter_mut().enumerate() {
            let diagonal = diagonal(block, i, j);
            let product = block.push(Op::MulLo(diagonal, word));
            *sum = Some(block.plus(*sum, product));
        }
    }
    sums.into_iter().flatten().collect()
}

/// Where the parts of a schoolbook product come from and go to.
pub struct Product<'a> {
    /// Diagonal `size + i − j` of the matrix.
    pub diagonal: &'a Get<'a>,
    /// Word j of the vector.
    pub word: &'a Get<'a>,
    /// What becomes of row i.
    pub row: &'a dyn Fn(&mut Block, usize, Value),
}

impl Product<'_> {
    /// All rows, straight.
    pub fn straight(&self, size: usize) -> Vec<Stmt> {
        let height = height(size);
        let some = |first| Stmt::Block(self.rows(size, first, height.min(size - first)));
        (0..size).step_by(height).map(some).collect()
    }

    /// `count` rows from `first` on.
    fn rows(&self, size: usize, first: usize, count: usize) -> Block {
        let mut block = Block::default();
        let mut known: Vec<Option<Value>> = vec![None; size + count];
        let mut diagonal = |block: &mut Block, i: usize, j: usize| {
            let d = size + i - j;
            *known[d].get_or_insert_with(|| (self.diagonal)(block, first + d))
        };
        let sums = columns(&mut block, vec![None; count], size, self.word, &mut diagonal);
        for (i, sum) in sums.into_iter().enumerate() {
            (self.row)(&mut block, first + i, sum);
        }
        block
    }
}

/// The procedure `(out, diagonals, vector)`.
pub fn procedure(name: &str, size: usize, lanes: usize) -> Procedure {
    let (mut builder, [out, t, v]) = matrix_procedure(name, size * lanes);
    // What is done with a product; `moved` moves an index from the first row to the rows at hand.
    let product = |moved: &dyn Fn(usize) -> Index, f: &dyn Fn(&Product) -> Vec<Stmt>| {
        f(&Product {
            diagonal: &|block, d| block.load(t, moved(d * lanes)),
            word: &|block, j| block.load(v, Index::at(j * lanes)),
            row: &|block, i, a| {
                block.store(out, moved(i * lanes), a);
            },
        })
    };
    let height = height(size);
    let (whole, rest) = (size / height, size % height);
    let body = if size <= STRAIGHT {
        product(&Index::at, &|p| p.straight(size))
    } else {
        let counter = builder.counter();
        let rows = |p: &Product, first, count| vec![Stmt::Block(p.rows(size, first, count))];
        let looped =
            product(&|base| Index::strided(base, counter, height * lanes), &|p| rows(p, 0, height));
        let mut body = vec![repeat(counter, whole, looped)];
        if rest > 0 {
            body.extend(product(&Index::at, &|p| rows(p, whole * height, rest)));
        }
        body
    };
    let title = format!("Toeplitz matrices of size {size} times vectors");
    builder.stage(&title, "[Winograd80 §IV]", body);
    builder.finish()
}
