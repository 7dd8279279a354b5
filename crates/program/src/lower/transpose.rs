//! Transposing, for registers of any number of parts.
//!
//! A register has P parts of S units, and part p holds words of row p·S + r. So S such registers
//! and rounds of interleaving within parts make S columns of P·S rows. Without shuffles, two rounds
//! of strided stores transpose a square of as many rows as a register has words. Compilers turn
//! these into such interleaving.

use crate::build::{Builder, repeat, straight};
use crate::ir::*;
use ringforge_targets::Registers;

/// What runs once, given where words are as a function of base and stride.
type Body<'a> = dyn FnMut(&mut Builder, &dyn Fn(usize, usize) -> Index) -> Vec<Stmt> + 'a;

/// Where a row is, and its words.
type Words<'a> = dyn Fn(usize) -> (BufferId, Index) + 'a;

/// Where a row starts.
pub type Row = (BufferId, usize);

/// Calls `body` for pieces of `width` columns of `columns`; the last piece ends with them. The
/// function that `body` gets makes an index from a word's place in the first piece and the distance
/// between columns.
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

/// Registers as rows of squares: what they are, and bits of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Square {
    pub registers: Registers,
    pub bits: u8,
}

impl Square {
    /// Units of a part: rows and columns of the square in each.
    pub fn part(self) -> usize {
        self.registers.part_lanes(self.bits)
    }

    /// Units of a register: rows of all its squares.
    pub fn lanes(self) -> usize {
        self.registers.lanes(self.bits)
    }

    /// Whether the language interleaves all units that this takes.
    pub fn serves(self) -> bool {
        self.registers.part <= 2 * usize::from(LONGEST_UNIT) && self.part().is_power_of_two()
    }

    /// The transposed square in each part.
    fn interleaved(self, block: &mut Block, rows: &[Value]) -> Vec<Value> {
        let mut now = rows.to_vec();
        let doubled = std::iter::successors(Some(self.bits), |unit| unit.checked_mul(2));
        for unit in doubled.take_while(|&unit| usize::from(unit) < self.registers.part) {
            // Pairs that are 1, 2, 4 rows apart, in the order that leaves columns in order.
            let distance = usize::from(unit / self.bits);
            let mut next = Vec::with_capacity(rows.len());
            for start in (0..rows.len()).step_by(2 * distance) {
                for i in start..start + distance {
                    let (a, b) = (now[i], now[i + distance]);
                    let halves = [Half::Low, Half::High];
                    next.extend(halves.map(|half| block.push(Op::Interleave { a, b, unit, half })));
                }
            }
            now = next;
        }
        now
    }

    /// A register of squares for each column of as many as a part has, out of rows whose words are `at` in a buffer.
    pub fn load(
        self,
        block: &mut Block,
        buffer: BufferId,
        at: &dyn Fn(usize) -> Index,
    ) -> Vec<Value> {
        let rows: Vec<Value> =
            (0..self.part()).map(|r| block.load_parts(buffer, self.parts(r, at))).collect();
        self.interleaved(block, &rows)
    }

    /// The way back.
    pub fn store(
        self,
        block: &mut Block,
        buffer: BufferId,
        columns: &[Value],
        at: &dyn Fn(usize) -> Index,
    ) {
        for (r, a) in self.interleaved(block, columns).into_iter().enumerate() {
            block.store_parts(buffer, self.parts(r, at), a);
        }
    }

    fn parts(self, r: usize, at: &dyn Fn(usize) -> Index) -> Vec<Index> {
        (0..self.registers.parts()).map(|part| at(part * self.part() + r)).collect()
    }

    /// Columns of the rows in `rows` as registers of `to`, from its word on. Rows of one buffer are interleaved. With squares in
    /// `between`, strided stores go by way of the first one.
    pub fn into_lanes(
        self,
        builder: &mut Builder,
        rows: &[Row],
        to: (BufferId, usize),
        columns: usize,
        between: Option<[BufferId; 2]>,
    ) -> Vec<Stmt> {
        let lanes = self.lanes();
        let Some([between, _]) = between else {
            return pieces(builder, columns, self.part(), &mut |_, index| {
                vec![straight(|block| {
                    let columns = self.load(block, rows[0].0, &|r| index(rows[r].1, 1));
                    for (k, a) in columns.into_iter().enumerate() {
                        block.store(to.0, index(to.1 + k * lanes, lanes), a);
                    }
                })]
            });
        };
        let [first, second] = rounds(lanes);
        pieces(builder, columns, lanes, &mut |_, index| {
            let start = |r: usize| (rows[r].0, index(rows[r].1, 1));
            let middle = |r: usize| (between, Index::at(r * lanes));
            let end = |word: usize| index(to.1 + word, lanes);
            let first = round((lanes, first), &start, (between, &Index::at));
            [first, round((lanes, second), &middle, (to.0, &end))].concat()
        })
    }

    /// The way back; strided stores go by way of both squares.
    pub fn out_of_lanes(
        self,
        builder: &mut Builder,
        from: (BufferId, usize),
        rows: &[Row],
        columns: usize,
        between: Option<[BufferId; 2]>,
    ) -> Vec<Stmt> {
        let lanes = self.lanes();
        let Some(between) = between else {
            return pieces(builder, columns, self.part(), &mut |_, index| {
                vec![straight(|block| {
                    let column = |k: usize| index(from.1 + k * lanes, lanes);
                    let columns: Vec<Value> =
                        (0..self.part()).map(|k| block.load(from.0, column(k))).collect();
                    self.store(block, rows[0].0, &columns, &|r| index(rows[r].1, 1));
                })]
            });
        };
        let [first, second] = rounds(lanes);
        pieces(builder, columns, lanes, &mut |_, index| {
            let start = |k: usize| (from.0, index(from.1 + k * lanes, lanes));
            let middle = |r: usize| (between[0], Index::at(r * lanes));
            let first = round((lanes, first), &start, (between[0], &Index::at));
            let second = round((lanes, second), &middle, (between[1], &Index::at));
            let rows = straight(|block| {
                for (r, &(buffer, row)) in rows.iter().enumerate() {
                    let a = block.load(between[1], Index::at(r * lanes));
                    block.store(buffer, index(row, 1), a);
                }
            });
            [first, second, vec![rows]].concat()
        })
    }

    /// Transposes a whole square of registers in place; its words are `at` a row and a column. If
    /// registers are to be `saved`, they hold only the blocks that are changing places.
    pub fn in_place(
        self,
        block: &mut Block,
        rows: BufferId,
        saved: bool,
        at: &dyn Fn(usize, usize) -> Index,
    ) {
        let (size, parts) = (self.part(), self.registers.parts());
        if !saved {
            let all: Vec<Value> = (0..parts)
                .flat_map(|part| self.load(block, rows, &|row| at(row, part * size)))
                .collect();
            for (row, a) in all.into_iter().enumerate() {
                block.store(rows, at(row, 0), a);
            }
            return;
        }
        // Blocks so many parts off the diagonal, and those as many parts off it on the other side.
        for off in 0..=parts / 2 {
            let mut both = vec![off, (parts - off) % parts];
            both.dedup();
            let other = |row: usize, off: usize| (row / size + off) % parts * size;
            let loaded: Vec<Vec<Value>> = (both.iter())
                .map(|&off| self.load(block, rows, &|row| at(row, other(row, off))))
                .collect();
            for (&off, columns) in both.iter().zip(loaded) {
                for (k, a) in columns.into_iter().enumerate() {
                    let part = |part: usize| at(other(part * size, off) + k, part * size);
                    block.store_parts(rows, (0..parts).map(part).collect(), a);
                }
            }
        }
    }
}

/// How many rows each of two rounds takes that transpose so many: as even as can be.
pub fn rounds(rows: usize) -> [usize; 2] {
    let first = (1..=rows).find(|r| r * r >= rows && rows.is_multiple_of(*r)).unwrap_or(rows);
    [first, rows / first]
}

/// `count` rows to every so many words of others.
pub fn strided(
    block: &mut Block,
    count: usize,
    from: &Words,
    (to, at): (BufferId, &dyn Fn(usize) -> Index),
) {
    let rows: Vec<Value> = (0..count)
        .map(|k| {
            let (buffer, at) = from(k);
            block.load(buffer, at)
        })
        .collect();
    for (k, a) in rows.into_iter().enumerate() {
        block.push(Op::StoreStrided { buffer: to, at: at(k), stride: count as u32, a });
    }
}

/// A round of a square of `lanes` rows: `count` of them together, as far from each other as can be.
fn round(
    (lanes, count): (usize, usize),
    from: &Words,
    (to, at): (BufferId, &dyn Fn(usize) -> Index),
) -> Vec<Stmt> {
    let apart = lanes / count;
    let one = |f: usize| {
        let at = |k: usize| at(count * lanes * f + k);
        straight(|block| strided(block, count, &|k| from(f + apart * k), (to, &at)))
    };
    (0..apart).map(one).collect()
}
