//! Sixteen rows of words into lanes, so that word i of all of them is one register, and back.
//!
//! On vector machines: squares of eight by eight, two side by side in the two parts of a register,
//! by three rounds of interleaving. In portable C: squares of sixteen by two rounds of strided
//! stores, which compilers turn to such interleaving.

use super::linear::{LANES, PART, SQUARE, WORD_BITS};
use crate::build::{Builder, repeat};
use crate::ir::*;

/// What runs once, given where words are as a function of base and stride.
type Body<'a> = dyn FnMut(&mut Builder, &dyn Fn(usize, usize) -> Index) -> Vec<Stmt> + 'a;

/// Where a row starts.
pub type Row = (BufferId, usize);

/// Sixteen rows; on vector machines rows r and r + 8 are in one buffer.
pub type Rows = [Row; LANES];

/// Calls `body` for pieces of `width` columns of `columns`, the last one ending with them; it is
/// given a function from a word's place in the first piece and the distance to the next one's.
fn pieces(builder: &mut Builder, columns: usize, width: usize, body: &mut Body) -> Vec<Stmt> {
    let (whole, rest) = (columns / width, columns % width);
    let mut all = Vec::new();
    if whole == 1 {
        all.extend(body(builder, &|base, _| Index::at(base)));
    } else if whole > 1 {
        let counter = builder.counter();
        let inner = body(builder, &|base, step| Index::strided(base, counter, step * width));
        all.push(repeat(counter, whole, inner));
    }
    if rest > 0 {
        let start = columns - width;
        all.extend(body(builder, &|base, step| Index::at(base + start * step)));
    }
    all
}

fn interleave(block: &mut Block, a: Value, b: Value, unit: u8, half: Half) -> Value {
    block.push(Op::Interleave { a, b, unit, half })
}

/// The transposed square of eight words in each part.
pub(in crate::lower) fn square(block: &mut Block, rows: &[Value]) -> Vec<Value> {
    square_of(block, rows, WORD_BITS, SQUARE.part)
}

/// The transposed square of elements of `bits` bits, at least 16, in each part of `part` bits, which holds as many as there
/// are rows.
pub(in crate::lower) fn square_of(
    block: &mut Block,
    rows: &[Value],
    bits: u8,
    part: usize,
) -> Vec<Value> {
    let mut now = rows.to_vec();
    let doubled = std::iter::successors(Some(bits), |unit| unit.checked_mul(2));
    for unit in doubled.take_while(|&unit| usize::from(unit) < part) {
        // Pairs that are 1, 2, 4 rows apart, in the order that leaves columns in order.
        let distance = usize::from(unit / bits);
        let mut next = Vec::with_capacity(rows.len());
        for start in (0..rows.len()).step_by(2 * distance) {
            for i in start..start + distance {
                for half in [Half::Low, Half::High] {
                    next.push(interleave(block, now[i], now[i + distance], unit, half));
                }
            }
        }
        now = next;
    }
    now
}

/// Columns of the rows in `from` as registers of `to`, from its word `start` on.
pub fn into_lanes(
    builder: &mut Builder,
    rows: &Rows,
    to: (BufferId, usize),
    columns: usize,
) -> Vec<Stmt> {
    pieces(builder, columns, PART, &mut |_, index| {
        let mut block = Block::default();
        let rows: Vec<Value> = (0..PART)
            .map(|r| {
                let at = vec![index(rows[r].1, 1), index(rows[r + PART].1, 1)];
                block.push(Op::LoadParts { buffer: rows[r].0, at })
            })
            .collect();
        for (k, a) in square(&mut block, &rows).into_iter().enumerate() {
            let at = index(to.1 + k * LANES, LANES);
            block.push(Op::Store { buffer: to.0, at, a });
        }
        vec![Stmt::Block(block)]
    })
}

/// The way back.
pub fn out_of_lanes(
    builder: &mut Builder,
    from: (BufferId, usize),
    rows: &Rows,
    columns: usize,
) -> Vec<Stmt> {
    pieces(builder, columns, PART, &mut |_, index| {
        let mut block = Block::default();
        let lanes: Vec<Value> = (0..PART)
            .map(|k| {
                let at = index(from.1 + k * LANES, LANES);
                block.push(Op::Load { buffer: from.0, at })
            })
            .collect();
        for (r, a) in square(&mut block, &lanes).into_iter().enumerate() {
            let at = vec![index(rows[r].1, 1), index(rows[r + PART].1, 1)];
            block.push(Op::StoreParts { buffer: rows[r].0, at, a });
        }
        vec![Stmt::Block(block)]
    })
}

/// Rows f, f + 4, f + 8, f + 12 of `from` to every fourth word of `to`: twice, this transposes.
fn by_four(
    from: &dyn Fn(usize) -> (BufferId, Index),
    to: (BufferId, &dyn Fn(usize) -> Index),
) -> Vec<Stmt> {
    let four = |f: usize| {
        let mut block = Block::default();
        let rows: Vec<Value> = (0..4)
            .map(|k| {
                let (buffer, at) = from(f + 4 * k);
                block.push(Op::Load { buffer, at })
            })
            .collect();
        for (k, a) in rows.into_iter().enumerate() {
            let at = to.1(4 * LANES * f + k);
            block.push(Op::StoreStrided { buffer: to.0, at, stride: 4, a });
        }
        Stmt::Block(block)
    };
    (0..4).map(four).collect()
}

/// [`into_lanes`] in portable C, by way of the squares in `between` and `beside`.
pub fn into_lanes_portable(
    builder: &mut Builder,
    rows: &Rows,
    to: (BufferId, usize),
    columns: usize,
    between: [BufferId; 2],
) -> Vec<Stmt> {
    pieces(builder, columns, LANES, &mut |_, index| {
        let first = by_four(&|r| (rows[r].0, index(rows[r].1, 1)), (between[0], &Index::at));
        let second = by_four(
            &|r| (between[0], Index::at(r * LANES)),
            (to.0, &|word| index(to.1 + word, LANES)),
        );
        [first, second].concat()
    })
}

/// [`out_of_lanes`] in portable C.
pub fn out_of_lanes_portable(
    builder: &mut Builder,
    from: (BufferId, usize),
    rows: &Rows,
    columns: usize,
    between: [BufferId; 2],
) -> Vec<Stmt> {
    pieces(builder, columns, LANES, &mut |_, index| {
        let first =
            by_four(&|k| (from.0, index(from.1 + k * LANES, LANES)), (between[0], &Index::at));
        let second = by_four(&|r| (between[0], Index::at(r * LANES)), (between[1], &Index::at));
        let mut block = Block::default();
        for (r, &(buffer, row)) in rows.iter().enumerate() {
            let a = block.push(Op::Load { buffer: between[1], at: Index::at(r * LANES) });
            block.push(Op::Store { buffer, at: index(row, 1), a });
        }
        [first, second, vec![Stmt::Block(block)]].concat()
    })
}
