//! The last level of Karatsuba in lanes together with the products below it, so that its sums and
//! differences need no memory.
//!
//! With h half the size, T₀, T₁, T₂ the windows that begin 0, h, 2h words into the diagonals, and
//! P = T₁·(v₀ + v₁), the halves of the result are P + (T₀ − T₁)·v₁ and P + (T₂ − T₁)·v₀
//! [Winograd80 §IV].

use super::leaf::Product;
use super::linear::LANES;
use crate::build::Builder;
use crate::ir::*;
use ringforge_target::ALIGNMENT;

/// Loads register `at + by` of a buffer.
fn loads(buffer: BufferId, by: usize) -> impl Fn(&mut Block, usize) -> Value {
    move |block, at| block.push(Op::Load { buffer, at: register(at + by) })
}

/// Where register number `at` is.
fn register(at: usize) -> Index {
    Index::at(at * LANES)
}

/// The procedure `(out, diagonals, vector)`.
pub fn procedure(name: &str, size: usize, q: u64) -> Procedure {
    let mut builder = Builder::new(name, None, q);
    let out = builder.buffer("out", Role::Output, size * LANES, ALIGNMENT);
    let t = builder.buffer("diagonals", Role::Input, 2 * size * LANES, ALIGNMENT);
    let v = builder.buffer("vector", Role::Input, size * LANES, ALIGNMENT);
    let half = size / 2;
    let middle = builder.buffer("middle", Role::Local, half * LANES, ALIGNMENT);
    let mut body = Product {
        diagonal: &loads(t, half),
        word: &|block, j| {
            let [first, second] = [0, half].map(|by| loads(v, by)(block, j));
            block.push(Op::Add(first, second))
        },
        row: &|block, i, a| {
            block.push(Op::Store { buffer: middle, at: register(i), a });
        },
    }
    .straight(half);
    for (row, side, word) in [(0, 0, half), (half, 2 * half, 0)] {
        let product = Product {
            diagonal: &|block, d| {
                let [side, middle] = [side, half].map(|by| loads(t, by)(block, d));
                block.push(Op::Sub(side, middle))
            },
            word: &loads(v, word),
            // Last, so that nothing waits for the first product.
            row: &|block, i, sum| {
                let middle = loads(middle, 0)(block, i);
                let a = block.push(Op::Add(sum, middle));
                block.push(Op::Store { buffer: out, at: register(row + i), a });
            },
        };
        body.extend(product.straight(half));
    }
    let title = format!("Toeplitz matrices of size {size} = 3 × {half} times vectors");
    builder.stage(&title, "[Karatsuba63] [Winograd80 §IV]", body);
    builder.finish()
}
