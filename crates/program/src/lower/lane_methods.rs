//! The plan's methods for small products by lanes: one lane is one convolution, so that a method's
//! sums are sums of rows. Products in parts are in `split`.

use super::small::Small;
use super::{LowerError, Lowering, tagged};
use crate::build::straight;
use crate::ir::*;
use ringforge_plan::SmallModulus;
use ringforge_targets::ALIGNMENT;

/// Rows of lanes, one after another.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub buffer: BufferId,
    pub at: Index,
}

impl Rows {
    /// Rows from the start of a buffer.
    pub fn of(buffer: BufferId) -> Rows {
        Rows { buffer, at: Index::at(0) }
    }

    /// These from row `i` on.
    pub fn from(&self, i: usize, lanes: usize) -> Rows {
        Rows { buffer: self.buffer, at: self.at.plus(i * lanes) }
    }
}

/// Where a group of convolutions stands.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    /// The part.
    pub tag: &'a str,
    /// Ends the names of tables of its own; empty where there is one method.
    pub suffix: String,
    /// The counter of the groups of one method.
    pub group: LoopVar,
    /// Whether maps back are spared constants.
    pub spares: bool,
    /// Whether what is left of products in parts is within `limits.products`, as the inverse finds it; else a word.
    pub limited: bool,
}

/// Products a·b modulo a polynomial of degree `size` for each lane.
#[derive(Clone, Copy)]
pub(crate) struct Convolutions<'a> {
    pub place: &'a Place<'a>,
    pub moduli: &'a [SmallModulus],
    pub size: usize,
    /// Those of a, b and the result, which may be `a` unless the method is Toeplitz.
    pub rows: [&'a Rows; 3],
    /// The largest word of both operands.
    pub bound: i64,
}

/// Statements, and the bound of what they leave.
pub(super) type Made = Result<(Vec<Stmt>, i64), LowerError>;

impl Lowering<'_> {
    /// A local array of rows of this name, the same whenever it is asked for.
    pub(super) fn rows(&mut self, place: &Place, name: &str, size: usize, count: usize) -> Rows {
        let mut name = name.to_string();
        if size < self.lanes {
            name += &size.to_string();
        }
        let name = tagged(&name, place.tag);
        let key = format!("{name}:{count}");
        if let Some((_, known)) = self.rows.iter().find(|(k, _)| *k == key) {
            return Rows::of(*known);
        }
        let buffer = self.builder.local(&name, count * self.lanes);
        self.rows.push((key, buffer));
        Rows::of(buffer)
    }

    /// A table with a factor for each lane of each group, made once, however often it is asked for.
    pub(super) fn lane_factors(&mut self, place: &Place, name: &str, values: Vec<u64>) -> Factor {
        let name = tagged(&format!("{name}{}", place.suffix), place.tag);
        let known = self.rows.iter().find(|(k, _)| *k == name).map(|&(_, buffer)| buffer);
        let buffer = known.unwrap_or_else(|| {
            let words = values.len();
            let buffer = self.builder.buffer(&name, Role::Factors(values), words, ALIGNMENT);
            self.rows.push((name, buffer));
            buffer
        });
        Factor::Table { buffer, at: Index::strided(0, place.group, self.lanes) }
    }

    pub(super) fn load(&self, block: &mut Block, rows: &Rows, i: usize) -> Value {
        let at = rows.at.plus(i * self.lanes);
        block.load(rows.buffer, at)
    }

    pub(super) fn store(&self, block: &mut Block, rows: &Rows, i: usize, a: Value) {
        let at = rows.at.plus(i * self.lanes);
        block.store(rows.buffer, at, a);
    }

    /// Products by a method of the plan.
    pub(super) fn convolve(&mut self, small: &Small, all: Convolutions) -> Made {
        let Convolutions { place, moduli, size, rows: [a, b, out], bound } = all;
        match small {
            Small::Split(split) => return self.split_product(split, all),
            Small::Trinomial | Small::Toeplitz
                if self.schedule.wide_sums() && size.is_multiple_of(2) =>
            {
                return self.trinomial_sums(all);
            }
            Small::Trinomial => return self.trinomial_product(all),
            Small::Toeplitz | Small::Karatsuba(_) => {}
        }
        // x^size - w, for these methods.
        let weight = |m: &SmallModulus| (self.q - m.trinomial(self.q).1) % self.q;
        let weights: Vec<u64> = moduli.iter().map(weight).collect();
        let weighted = weights.iter().map(|&w| self.bounds.product(w, bound)).max().unwrap_or(0);
        // t = w·b_1, …, w·b_(k-1), b_0, …, b_(k-1), as rows of lanes.
        let factor = self.lane_factors(place, "weights", weights);
        let mut make = Block::default();
        let bs: Vec<Value> = (0..size).map(|i| self.load(&mut make, b, i)).collect();
        let mut t = Vec::new();
        for &a in &bs[1..] {
            t.push(make.times(a, factor.clone(), self.schedule.multiply()));
        }
        t.extend(&bs);
        self.matrix_product(place, small, (make, t), [a, out], (bound, bound.max(weighted)), None)
    }

    /// A Toeplitz matrix, whose diagonals are values of the block, times a vector; bounds of
    /// vector and diagonals.
    fn matrix_product(
        &mut self,
        place: &Place,
        small: &Small,
        (mut make, t): (Block, Vec<Value>),
        [vector, out]: [&Rows; 2],
        (bound, diagonal): (i64, i64),
        together: Option<usize>,
    ) -> Made {
        let (lanes, size) = (self.lanes, t.len().div_ceil(2));
        let half = size / 2;
        let diagonals = self.rows(place, "diagonals", size, 2 * size - 1);
        for (i, &v) in t.iter().enumerate() {
            self.store(&mut make, &diagonals, i, v);
        }
        let inner = match small {
            Small::Karatsuba(inner) => inner.as_ref(),
            _ => {
                let rows = [vector, &diagonals, out];
                let (product, bound) =
                    self.stored_product(place, small, size, rows, (bound, diagonal), together)?;
                return Ok(([vec![Stmt::Block(make)], product].concat(), bound));
            }
        };
        let stage = format!("{}.base", place.tag);
        // One procedure for all three, if they are direct.
        let together = match inner {
            Small::Toeplitz => {
                let of_sums = self.lane_product(&stage, 2 * bound, diagonal)?;
                let of_differences = self.lane_product(&stage, bound, 2 * diagonal)?;
                Some(self.together(half, of_sums.max(of_differences)))
            }
            _ => None,
        };
        let lower = self.rows(place, "lower", size, size - 1);
        let upper = self.rows(place, "upper", size, size - 1);
        let folded = self.rows(place, "folded", size, half);
        let parts = ["both", "first", "second"].map(|name| self.rows(place, name, size, half));
        for i in 0..size - 1 {
            let middle = t[half + i];
            for (rows, other) in [(&lower, t[i]), (&upper, t[size + i])] {
                let v = make.sub(other, middle);
                self.store(&mut make, rows, i, v);
            }
        }
        let fold = straight(|block| {
            for i in 0..half {
                let [x, y] = [i, half + i].map(|i| self.load(block, vector, i));
                let v = block.add(x, y);
                self.store(block, &folded, i, v);
            }
        });
        let mut body = vec![Stmt::Block(make), fold];
        let middle = diagonals.from(half, lanes);
        let second = vector.from(half, lanes);
        let mut product = |lowering: &mut Self, out, v, t, bounds| {
            let rows = [v, t, out];
            let (product, bound) =
                lowering.stored_product(place, inner, half, rows, bounds, together)?;
            body.extend(product);
            Ok::<i64, LowerError>(lowering.bounds.reduce(bound))
        };
        let both = product(self, &parts[0], &folded, &middle, (2 * bound, diagonal))?;
        let first = product(self, &parts[1], &second, &lower, (bound, 2 * diagonal))?;
        product(self, &parts[2], vector, &upper, (bound, 2 * diagonal))?;
        body.push(straight(|block| {
            for i in 0..half {
                let [p1, p2, p3] = [0, 1, 2].map(|k| {
                    let v = self.load(block, &parts[k], i);
                    block.reduced(v, self.schedule.reduce())
                });
                for (p, i) in [(p2, i), (p3, half + i)] {
                    let v = block.add(p1, p);
                    self.store(block, out, i, v);
                }
            }
        }));
        Ok((body, both + first))
    }

    /// As [`Lowering::matrix_product`], of diagonals in rows.
    fn stored_product(
        &mut self,
        place: &Place,
        small: &Small,
        size: usize,
        [vector, diagonals, out]: [&Rows; 3],
        (bound, diagonal): (i64, i64),
        together: Option<usize>,
    ) -> Made {
        if *small != Small::Toeplitz {
            let mut block = Block::default();
            let t = (0..2 * size - 1).map(|i| self.load(&mut block, diagonals, i)).collect();
            let bounds = (bound, diagonal);
            return self.matrix_product(place, small, (block, t), [vector, out], bounds, None);
        }
        let stage = format!("{}.base", place.tag);
        let each = self.lane_product(&stage, bound, diagonal)?;
        let together = together.unwrap_or_else(|| self.together(size, each));
        let sum = self.lane_sum(&stage, size, together, each)?;
        let procedure = self.toeplitz(size, together);
        let arguments = [out, vector, diagonals].map(|rows| (rows.buffer, rows.at.clone()));
        Ok((vec![Stmt::Call { procedure, arguments: arguments.into() }], sum))
    }
}
