//! One Toeplitz matrix times a vector, both in words one after another, by dot products of pairs.
//!
//! Row i is Σ_j v_j·t_(size + i − j). One dot product computes two columns. It multiplies the
//! broadcast pair (v_(j+1), v_j) by the words size + i − j − 1 and size + i − j of the diagonals.
//! These are a plain load for all even i, and one a word further on for all odd i. Sums of 32 bits
//! wrap, and their low words are the result's.

use super::matrix::main_diagonal;
use super::matrix_procedure;
use crate::build::straight;
use crate::ir::*;
use crate::method::NarrowMethod;

/// The procedure `(out, diagonals, vector)`; `size` is a multiple of a register.
pub fn procedure(name: &str, size: usize, lanes: usize) -> Procedure {
    let (mut builder, [out, t, v]) = matrix_procedure(name, size);
    let registers = size / lanes;
    let body = match registers {
        1 => straight(|block| register(block, [out, t, v], size, &Index::at)),
        _ => builder.runs(registers, |block, at| {
            register(block, [out, t, v], size, &|base| at(base, lanes));
        }),
    };
    let title = format!("Toeplitz matrix of size {size} times vector");
    builder.stage(&title, "[Winograd80 §IV]", vec![body]);
    builder.finish()
}

/// A register of rows; `at` moves an index from the first ones to those at hand.
fn register(
    block: &mut Block,
    [out, t, v]: [BufferId; 3],
    size: usize,
    at: &dyn Fn(usize) -> Index,
) {
    let mut sums: [Option<Value>; 2] = [None; 2];
    for column in (0..size).step_by(2) {
        let pair = block.push(Op::BroadcastPair { buffer: v, at: Index::at(column) });
        let pair = block.push(Op::SwapPairs(pair));
        for (parity, sum) in sums.iter_mut().enumerate() {
            let first = main_diagonal(size) + parity - column - 1;
            let diagonals = block.load(t, at(first));
            *sum = Some(block.plus_dots(*sum, [pair, diagonals], true));
        }
    }
    if let [Some(even), Some(odd)] = sums {
        let a = block.push(Op::Narrow { even, odd, method: NarrowMethod::Low });
        block.store(out, at(0), a);
    }
}
