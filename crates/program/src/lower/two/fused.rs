//! The last level of Karatsuba in lanes together with the products below it, so that its sums and
//! differences need no memory.
//!
//! Let h be half the size, T₀, T₁, T₂ the windows that begin 0, h, 2h words into the diagonals, and
//! P = T₁·(v₀ + v₁). The halves of the result are P + (T₀ − T₁)·v₁ and P + (T₂ − T₁)·v₀
//! [Winograd80 §IV].

use super::leaf::Product;
use super::matrix_procedure;
use crate::ir::*;

/// The procedure `(out, diagonals, vector)`.
pub fn procedure(name: &str, size: usize, lanes: usize) -> Procedure {
    let (mut builder, [out, t, v]) = matrix_procedure(name, size * lanes);
    let half = size / 2;
    let register = |at: usize| Index::at(at * lanes);
    // Loads register `at + by` of a buffer.
    let loads = |buffer: BufferId, by: usize| {
        move |block: &mut Block, at: usize| block.load(buffer, Index::at((at + by) * lanes))
    };
    let middle = builder.local("middle", half * lanes);
    let mut body = Product {
        diagonal: &loads(t, half),
        word: &|block, j| {
            let [first, second] = [0, half].map(|by| loads(v, by)(block, j));
            block.add(first, second)
        },
        row: &|block, i, a| {
            block.store(middle, register(i), a);
        },
    }
    .straight(half);
    for (row, side, word) in [(0, 0, half), (half, 2 * half, 0)] {
        let product = Product {
            diagonal: &|block, d| {
                let [side, middle] = [side, half].map(|by| loads(t, by)(block, d));
                block.sub(side, middle)
            },
            word: &loads(v, word),
            // Last, so that nothing waits for the first product.
            row: &|block, i, sum| {
                let middle = loads(middle, 0)(block, i);
                let a = block.add(sum, middle);
                block.store(out, register(row + i), a);
            },
        };
        body.extend(product.straight(half));
    }
    let title = format!("Toeplitz matrices of size {size} = 3 × {half} times vectors");
    builder.stage(&title, "[Karatsuba63] [Winograd80 §IV]", body);
    builder.finish()
}
