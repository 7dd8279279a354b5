//! Bitwise functions of three operands, written as the two operations that a compiler fused, where
//! they are two.

use super::{Fallible, Machine, UNDEFINED, Wide};
use crate::byte::Byte;
use crate::core::bits::{Bitwise, bitwise};
use iced_x86::{Instruction, Mnemonic as M};

/// Values of the operands 2, 1 and 0 at the eight places of a table.
const TABLES: [u8; 3] = [0xaa, 0xcc, 0xf0];
const OPERATIONS: [Bitwise; 4] = [Bitwise::And, Bitwise::AndNot, Bitwise::Or, Bitwise::Xor];

/// One operation on tables.
fn on_tables(kind: Bitwise, a: u8, b: u8) -> u8 {
    match kind {
        Bitwise::And => a & b,
        Bitwise::AndNot => !a & b,
        Bitwise::Or => a | b,
        Bitwise::Xor => a ^ b,
    }
}

/// A function of three bits: variables by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Zero,
    One(usize),
    Two(Bitwise, usize, usize),
    /// The second operation on a third variable and the first operation's result; or in the other
    /// order.
    Three(Bitwise, usize, (Bitwise, usize, usize), bool),
    /// The first variable chooses the second where it is 1, else the third.
    Choice(usize, usize, usize),
    /// An exclusive or of products.
    Sum,
}

/// The shape of the function with that table, and whether the result is flipped.
fn shape(table: u8) -> (Shape, bool) {
    for flipped in [false, true] {
        if let Some(found) = exactly(if flipped { !table } else { table }) {
            return (found, flipped);
        }
    }
    (Shape::Sum, false)
}

fn exactly(table: u8) -> Option<Shape> {
    if table == 0 {
        return Some(Shape::Zero);
    }
    let pairs = || (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).filter(|(i, j)| i != j);
    if let Some(i) = (0..3).find(|&i| TABLES[i] == table) {
        return Some(Shape::One(i));
    }
    for (i, j) in pairs() {
        for kind in OPERATIONS {
            let inner = on_tables(kind, TABLES[i], TABLES[j]);
            if inner == table {
                return Some(Shape::Two(kind, i, j));
            }
        }
    }
    for (i, j) in pairs() {
        let k = 3 - i - j;
        for kind in OPERATIONS {
            let inner = on_tables(kind, TABLES[i], TABLES[j]);
            for outer in OPERATIONS {
                for first in [true, false] {
                    let (a, b) = if first { (TABLES[k], inner) } else { (inner, TABLES[k]) };
                    if on_tables(outer, a, b) == table {
                        return Some(Shape::Three(outer, k, (kind, i, j), first));
                    }
                }
            }
        }
        let choice = TABLES[k] & TABLES[i] | !TABLES[k] & TABLES[j];
        if choice == table {
            return Some(Shape::Choice(k, i, j));
        }
    }
    None
}

/// Writes a function of three bits as an exclusive or of products of variables (Reed and Muller's
/// form). `table` has its values. Entry p of the result says whether the product of the variables
/// that are bits of p is one of them.
fn products(table: u8) -> [bool; 8] {
    let mut form: [bool; 8] = std::array::from_fn(|i| table >> i & 1 == 1);
    for variable in [1, 2, 4] {
        for i in 0..8 {
            if i & variable != 0 {
                form[i] ^= form[i ^ variable];
            }
        }
    }
    form
}

impl Machine<'_> {
    /// Bit by bit, bit 4a + 2b + c of the immediate, of operands 0, 1 and 2. What the result does not depend on is not
    /// looked at.
    pub(super) fn ternary(&mut self, ins: Instruction) -> Fallible<bool> {
        if !matches!(ins.mnemonic(), M::Vpternlogd | M::Vpternlogq) {
            return Ok(false);
        }
        let size = self.vector_size(0);
        if !self.is_vector(0) || !self.is_vector(1) {
            return Err(self.unsupported("operand form"));
        }
        let v: [Wide; 3] = [
            self.vector_operand(2, size)?,
            self.vector_operand(1, size)?,
            self.vector_operand(0, size)?,
        ];
        let table = self.imm8()?;
        let (shape, flipped) = shape(table);
        let mut out = match shape {
            Shape::Zero => super::ZEROS,
            Shape::One(i) => v[i],
            Shape::Two(kind, i, j) => self.bits_of(kind, &v[i], &v[j], size),
            Shape::Three(outer, k, (kind, i, j), first) => {
                let inner = self.bits_of(kind, &v[i], &v[j], size);
                let (a, b) = if first { (&v[k], &inner) } else { (&inner, &v[k]) };
                self.bits_of(outer, a, b, size)
            }
            Shape::Choice(k, i, j) => {
                let (x, y) = (
                    self.bits_of(Bitwise::And, &v[k], &v[i], size),
                    self.bits_of(Bitwise::AndNot, &v[k], &v[j], size),
                );
                self.bits_of(Bitwise::Or, &x, &y, size)
            }
            Shape::Sum => self.sum_of_products(table, &v, size),
        };
        if flipped {
            let ones = [Byte::Const(0xff); super::WIDE];
            out = self.bits_of(Bitwise::Xor, &out, &ones, size);
        }
        self.set_vector(0, &out, size)?;
        Ok(true)
    }

    fn sum_of_products(&mut self, table: u8, operands: &[Wide; 3], size: usize) -> Wide {
        let mut out = super::ZEROS;
        for (product, wanted) in products(table).into_iter().enumerate() {
            if !wanted {
                continue;
            }
            let mut term = [Byte::Const(0xff); super::WIDE];
            for (_, operand) in operands.iter().enumerate().filter(|(i, _)| product >> i & 1 == 1) {
                term = self.bits_of(Bitwise::And, &term, operand, size);
            }
            out = self.bits_of(Bitwise::Xor, &out, &term, size);
        }
        out
    }

    fn bits_of(&mut self, kind: Bitwise, a: &Wide, b: &Wide, size: usize) -> Wide {
        let mut out = UNDEFINED;
        bitwise(self.g, kind, &a[..size], &b[..size], &mut out[..size]);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, TABLES, on_tables, products, shape};

    #[test]
    fn every_table_is_the_sum_of_its_products() {
        for table in 0..=255_u8 {
            let form = products(table);
            for x in 0..8 {
                let sum = (0..8).filter(|&p| form[p] && p & x == p).count() % 2;
                assert_eq!(sum == 1, table >> x & 1 == 1, "table {table:#04x} at {x}");
            }
        }
    }

    #[test]
    fn every_table_is_its_shape() {
        let mut sums = 0;
        for table in 0..=255_u8 {
            let (found, flipped) = shape(table);
            let made = match found {
                Shape::Zero => 0,
                Shape::One(i) => TABLES[i],
                Shape::Two(kind, i, j) => on_tables(kind, TABLES[i], TABLES[j]),
                Shape::Three(outer, k, (kind, i, j), first) => {
                    let inner = on_tables(kind, TABLES[i], TABLES[j]);
                    if first {
                        on_tables(outer, TABLES[k], inner)
                    } else {
                        on_tables(outer, inner, TABLES[k])
                    }
                }
                Shape::Choice(k, i, j) => TABLES[k] & TABLES[i] | !TABLES[k] & TABLES[j],
                Shape::Sum => {
                    sums += 1;
                    continue;
                }
            };
            assert_eq!(if flipped { !made } else { made }, table, "{table:#04x}: {found:?}");
        }
        println!("{sums} of 256 tables are sums of products");
        assert!(sums < 100, "{sums}");
    }
}
