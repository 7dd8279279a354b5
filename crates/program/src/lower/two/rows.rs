//! One Toeplitz matrix times a vector, both in words one after another, by dot products of pairs.
//!
//! Row i is Σ_j v_j·t_(size + i − j). One dot product computes two columns. It multiplies the
//! broadcast pair (v_(j+1), v_j) by the words size + i − j − 1 and size + i − j of the diagonals.
//! These are a plain load for all even i, and one a word further on for all odd i. Sums of 32 bits
//! wrap, and their low words are the result's.

use super::Q;
use super::matrix::main_diagonal;
use crate::build::{Builder, repeat};
use crate::ir::*;
use crate::method::NarrowMethod;
use ringforge_targets::ALIGNMENT;

/// The procedure `(out, diagonals, vector)`; `size` is a multiple of a register.
pub fn procedure(name: &str, size: usize, lanes: usize) -> Procedure {
    let mut builder = Builder::new(name, None, Q);
    let out = builder.buffer("out", Role::Output, size, ALIGNMENT);
    let t = builder.buffer("diagonals", Role::Input, 2 * size, ALIGNMENT);
    let v = builder.buffer("vector", Role::Input, size, ALIGNMENT);
    let registers = size / lanes;
    let body = match registers {
        1 => Stmt::Block(register([out, t, v], size, &Index::at)),
        _ => {
            let counter = builder.counter();
            let at = |base| Index::strided(base, counter, lanes);
            repeat(counter, registers, vec![Stmt::Block(register([out, t, v], size, &at))])
        }
    };
    let title = format!("Toeplitz matrix of size {size} times vector");
    builder.stage(&title, "[Winograd80 §IV]", vec![body]);
    builder.finish()
}

/// A register of rows; `at` moves an index from the first ones to those at hand.
fn register([out, t, v]: [BufferId; 3], size: usize, at: &dyn Fn(usize) -> Index) -> Block {
    let mut block = Block::default();
    let mut sums: [Option<Value>; 2] = [None; 2];
    for column in (0..size).step_by(2) {
        let pair = block.push(Op::BroadcastPair { buffer: v, at: Index::at(column) });
        let pair = block.push(Op::SwapPairs(pair));
        for (parity, sum) in sums.iter_mut().enumerate() {
            let first = main_diagonal(size) + parity - column - 1;
            let diagonals = block.push(Op::Load { buffer: t, at: at(first) });
            *sum = Some(block.push(match *sum {
                None => Op::PairDot(pair, diagonals),
                Some(acc) => Op::PairDotAdd { acc, a: pair, b: diagonals },
            }));
        }
    }
    if let [Some(even), Some(odd)] = sums {
        let a = block.push(Op::Narrow { even, odd, method: NarrowMethod::Low });
        block.push(Op::Store { buffer: out, at: at(0), a });
    }
    block
}
