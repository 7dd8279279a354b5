//! Blocks shorter than a register, several in each register: transforms in two levels on a grid of
//! blocks.
//!
//! A row of the grid is consecutive words, so a register holds words of one row. The first level,
//! down the columns, works on whole registers. The second level, along the rows, would mix the
//! words of a register. So the grid is transposed between the levels, in squares of *units*. A unit
//! is the words of one coefficient, or of two where products are dot products of pairs. Then a
//! register holds one unit of a column for as many rows as fit. The second level and the products
//! of blocks work on whole registers too, each word with the twiddle factor of its row. The inverse
//! goes the same way back.

use super::super::small::is_direct;
use super::super::steps::named;
use super::super::transpose::Square;
use super::super::{LowerError, Lowering};
use super::{Rows, Style};
use crate::bounds::Bounds;
use crate::build::{Builder, repeat};
use crate::ir::*;
use crate::schedule::BaseProducts;
use ringforge_plan::{Arith, Blocks, Grid, Group, ProductRef, Stages, Step, Unit, Val};
use ringforge_ring::zq;
use ringforge_targets::{ALIGNMENT, Registers, TABLE_ALIGNMENT};

const CITE: &str = "[Chiu25 §3.4.1]";

/// A product whose blocks are packed.
#[derive(Clone, Debug)]
pub(crate) struct Packed<'a> {
    pub(super) part: &'a Blocks,
    pub(super) grid: Grid,
    registers: Registers,
    /// Bits of a word.
    bits: u8,
    /// Words of a unit.
    unit: usize,
}

impl<'a> Packed<'a> {
    /// The product of a node whose blocks are packed in words of `bits` bits; nothing where they cannot be, or where
    /// registers of their own for all blocks are fewer.
    pub fn of(
        node: &'a ProductRef,
        base: BaseProducts,
        (registers, bits): (Registers, u8),
    ) -> Option<Packed<'a>> {
        let Stages::Blocks(part) = node.stages() else { return None };
        let unit = match Style::of(base, bits) {
            Style::Pairs => 2,
            Style::Even => 1,
            Style::Single => return None,
        };
        let grid = part.transform.grid()?;
        let packed = Packed { part, grid, registers, bits, unit };
        let shorter = part.k < packed.lanes() && packed.count() < 2 * part.count();
        let serves = part.k.is_multiple_of(unit) && is_direct(&part.convolution);
        (serves && shorter).then_some(packed)
    }

    fn lanes(&self) -> usize {
        self.registers.lanes(self.bits)
    }

    /// Words of a row, and of whole registers for it.
    fn row(&self) -> (usize, usize) {
        let row = self.part.k * self.grid.columns();
        (row, row.next_multiple_of(self.lanes()))
    }

    /// Rows side by side in a register, a unit of each.
    pub(super) fn across(&self) -> usize {
        self.lanes() / self.unit
    }

    /// Squares of units.
    fn square(&self) -> Square {
        Square { registers: self.registers, bits: self.unit as u8 * self.bits }
    }

    /// Groups of rows side by side: the last one may have fewer.
    pub(super) fn groups(&self) -> usize {
        self.grid.rows().div_ceil(self.across())
    }

    /// The second level, for people.
    fn points(&self) -> String {
        let (columns, across) = (self.grid.columns(), self.across().min(self.grid.rows()));
        format!("{columns}-point transforms of {across} rows at once")
    }

    /// Rows of all groups.
    fn padded(&self) -> usize {
        self.groups() * self.across()
    }

    /// Registers of a block: its units.
    pub(super) fn units(&self) -> usize {
        self.part.k / self.unit
    }

    /// The row in each place of a group.
    pub(super) fn rows_of(&self, group: usize) -> impl Iterator<Item = usize> {
        let (across, rows) = (self.across(), self.grid.rows());
        // Behind the last row there are others again.
        (group * across..(group + 1) * across).map(move |row| row % rows)
    }

    /// A residue for each word of a register that holds these rows.
    pub(super) fn words_of(&self, group: usize, residue: impl Fn(usize) -> u64) -> Vec<u64> {
        let each = |row: usize| std::iter::repeat_n(residue(row), self.unit);
        self.rows_of(group).flat_map(each).collect()
    }

    /// Words of transposed blocks.
    pub(super) fn words(&self) -> usize {
        self.groups() * self.grid.columns() * self.units() * self.lanes()
    }

    /// Registers of one level and of the other.
    fn count(&self) -> usize {
        self.grid.rows() * self.row().1 / self.lanes() + self.words() / self.lanes()
    }

    /// The rows that a number of coefficients begins.
    fn begun(&self, coefficients: usize) -> usize {
        coefficients.div_ceil(self.row().0).max(1)
    }

    /// Words of a whole number of rows, and of the last one's registers.
    fn room(&self, coefficients: usize) -> usize {
        let (row, width) = self.row();
        (self.begun(coefficients) - 1) * row + width
    }

    /// Words that the product writes.
    pub fn written(&self) -> usize {
        self.room(self.part.domain.wanted)
    }

    /// Where a unit of a row of a group is, of `rows` rows at most, from `word` on.
    fn place(&self, group: Turn, row: usize, word: usize, rows: usize) -> Index {
        let row = (group.0 * self.across() + row) % rows;
        group.1(row * self.row().1 + word)
    }

    /// Loads rows of squares, and the units of each column.
    fn transposed(&self, block: &mut Block, rows: BufferId, group: Turn) -> Vec<Value> {
        let (units, square) = (self.grid.columns() * self.units(), self.square());
        let mut all = Vec::new();
        for first in (0..units).step_by(square.part()) {
            let at = |row| self.place(group, row, first * self.unit, self.grid.rows());
            all.extend(square.load(block, rows, &at));
        }
        all.truncate(units);
        all
    }

    /// The way back: stores rows of squares, zeros behind the last column.
    fn stored(&self, block: &mut Block, rows: BufferId, group: Turn, mut units: Vec<Value>) {
        let (width, square) = (self.row().1 / self.unit, self.square());
        if units.len() < width {
            let zero = block.splat(0);
            units.resize(width, zero);
        }
        for (number, columns) in units.chunks(square.part()).enumerate() {
            let word = number * square.part() * self.unit;
            let at = |row| self.place(group, row, word, self.padded());
            square.store(block, rows, columns, &at);
        }
    }
}

/// A group, and where its words are: some words on in every turn of a loop over all groups, or in their place.
type Turn<'a> = (usize, &'a dyn Fn(usize) -> Index);

/// A step on blocks at the places 0, 1, …, in place.
fn recorded(q: u64, present: &[bool], f: impl FnOnce(&mut dyn Arith, &[Val]) -> Vec<Val>) -> Group {
    let all: Vec<usize> = (0..present.len()).collect();
    Group::record(q, all.clone(), present, all, f)
}

/// The first level in one direction, the same for all columns.
fn columns(title: String, direction: &str, group: Group) -> Vec<Step> {
    let step = Step { title, cite: CITE, name: "columns".into(), groups: vec![group] };
    named("main", direction, vec![step])
}

/// The second level in one direction.
struct Along<'s> {
    title: String,
    stage: &'s str,
    /// Rows of blocks, and transposed blocks.
    rows: BufferId,
    blocks: BufferId,
    /// The network of one row.
    group: Group,
    /// What the block in a row and a column is multiplied with.
    factor: &'s dyn Fn(usize, usize) -> u64,
    /// Whether rows become transposed blocks, their factors before the network.
    forward: bool,
    /// The largest word before, and after.
    bound: i64,
    limit: i64,
}

impl Lowering<'_> {
    /// As [`blocks`](Lowering::blocks), where they are packed; the product times `scale`.
    pub(in crate::lower) fn packed(
        &mut self,
        packed: &Packed,
        ranges: [(i64, i64); 2],
        (words, memory): (usize, u8),
        scale: Unit,
    ) -> Result<i64, LowerError> {
        let part = packed.part;
        let out = self.builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let domain = &part.domain;
        let room = packed.room(domain.operand.min(self.n));
        let whole = domain.operand >= self.n || domain.operand.is_multiple_of(packed.row().0);
        let room = room.max(self.padded(self.n));
        let mut operands = (self.operands(ranges, memory, room, whole), room);
        if !whole {
            operands = self.cut(operands, domain.operand);
        }
        let (forward, bound) = self.packed_forward(packed, room)?;
        let arguments = operands.0.map(|buffer| vec![(buffer, Index::at(0))]);
        let transformed = self.both_transformed(forward, arguments, packed.words(), ("main", ""));
        let products = self.packed_products(packed, transformed, bound)?;
        let factor = scale.over(part.scale.times(self.product_scale()?)).value();
        let bound = self.packed_inverse(packed, products, factor, (out, words))?;
        self.zeros(out, domain.wanted, words);
        self.written.border("product", bound);
        Ok(bound)
    }

    /// The procedure (out, in) that transforms an operand of so many words, and the largest word that it leaves.
    fn packed_forward(
        &mut self,
        packed: &Packed,
        words: usize,
    ) -> Result<(ProcedureId, i64), LowerError> {
        let (grid, (row, width)) = (&packed.grid, packed.row());
        let (p, h, q) = (grid.rows(), self.operand, self.q);
        let mut builder = Builder::new(&format!("{}forward", self.prefix), None, self.modulus());
        let out = builder.buffer("out", Role::Scratch, packed.words(), ALIGNMENT);
        // Of callers' words any may be the first.
        let size = (words, self.modulus().bits);
        let input = builder.parameter("in", Role::Input, size, Some((-h, h)));
        let rows = builder.local("rows", p * width);
        let present: Vec<bool> = (0..p).map(|i| i * row < packed.part.domain.operand).collect();
        let title = format!("{p}-point transforms down all columns, zeros skipped");
        let group = recorded(q, &present, |arith, f| grid.down(arith, f));
        let columns = columns(title, "forward", group);
        let (from, to) = (Rows::of(input, row), Rows::of(rows, width));
        let limits = [self.schedule.forward_first(); 2];
        let mut bounds = vec![h; p];
        let level = Along {
            title: format!("main part: transposed, twiddles, {}", packed.points()),
            stage: "main.forward.rows",
            rows,
            blocks: out,
            group: recorded(q, &vec![true; grid.columns()], |arith, f| grid.along(arith, f)),
            factor: &|j1, i2| grid.factor(j1, i2).value(),
            forward: true,
            bound: 0,
            limit: self.schedule.forward(),
        };
        self.helper(builder, |lowering| {
            lowering.steps(&columns, (from, to), &mut bounds, limits, width)?;
            let bound = bounds.into_iter().max().unwrap_or(0);
            lowering.along(packed, Along { bound, ..level })
        })
    }

    /// The inverse transform of products within a bound, times `factor`, its blocks one after the other in `out`.
    fn packed_inverse(
        &mut self,
        packed: &Packed,
        (blocks, bound): (BufferId, i64),
        factor: u64,
        (out, words): (BufferId, usize),
    ) -> Result<i64, LowerError> {
        let (grid, (row, width), q) = (&packed.grid, packed.row(), self.q);
        let (p, wanted) = (grid.rows(), packed.part.domain.wanted);
        let rows = self.builder.fresh("rows", packed.padded() * width);
        let level = Along {
            title: format!("main part: inverse {}, twiddles, transposed back", packed.points()),
            stage: "main.inverse.rows",
            rows,
            blocks,
            group: recorded(q, &vec![true; grid.columns()], |arith, f| grid.back(arith, f)),
            factor: &|j1, i2| zq::mul(grid.factor(j1, i2).inverse(), factor, q),
            forward: false,
            bound,
            limit: self.schedule.inverse_first(),
        };
        let most = self.along(packed, level)?;
        // Whole registers go where they belong at once.
        let count = packed.begun(wanted);
        let direct = row == width && count * row <= words;
        let to = match direct {
            true => out,
            false => self.builder.fresh("blocks", p * width),
        };
        let to = Rows::of(to, width);
        let read: Vec<bool> = (0..p).map(|i| i < count).collect();
        let group = recorded(q, &vec![true; p], |arith, f| grid.up(arith, f, &read));
        let title = format!("inverse {p}-point transforms up all columns");
        let columns = columns(title, "inverse", group.keep(|i| read[i]));
        let mut bounds = vec![most; p];
        let limits = [self.schedule.full(); 2];
        self.steps(&columns, (Rows::of(rows, width), to), &mut bounds, limits, width)?;
        if !direct {
            self.blocks_together(to, (out, row), count, "main");
        }
        Ok(bounds.into_iter().take(count).max().unwrap_or(0))
    }

    /// The second level: the largest word that it leaves.
    fn along(&mut self, packed: &Packed, level: Along) -> Result<i64, LowerError> {
        let (columns, units, lanes) = (packed.grid.columns(), packed.units(), self.lanes);
        let (groups, rows) = (packed.groups(), packed.grid.rows());
        // Columns that are multiplied, and the largest words that leaves.
        let mut table = Vec::new();
        let mut place = vec![None; columns];
        let most = |bounds: &mut Bounds, i: usize, bound: i64| {
            (0..rows).map(|row| bounds.product((level.factor)(row, i), bound)).max()
        };
        let multiplied: Vec<usize> =
            (0..columns).filter(|&i| (0..rows).any(|row| (level.factor)(row, i) != 1)).collect();
        for (number, &i) in multiplied.iter().enumerate() {
            place[i] = Some(number * lanes);
        }
        for group in 0..groups {
            for &i in &multiplied {
                table.extend(packed.words_of(group, |row| (level.factor)(row, i)));
            }
        }
        let mut inputs = vec![level.bound; columns];
        let mut limits = vec![level.limit; columns];
        for &i in &multiplied {
            match level.forward {
                true => inputs[i] = most(&mut self.bounds, i, level.bound).unwrap_or(0),
                false => limits[i] = self.bounds.word(),
            }
        }
        let (group, placement) = self.placed(level.stage, &level.group, &inputs, &limits)?;
        let mut bound = 0;
        for (i, v) in group.outputs.iter().enumerate() {
            let own = placement.bounds[v.0 as usize];
            bound = bound.max(match level.forward || place[i].is_none() {
                true => own,
                false => most(&mut self.bounds, i, own).unwrap_or(0),
            });
        }
        self.written.border(level.stage, bound);

        let factors = (!table.is_empty()).then(|| {
            let name = level.stage.replace(['.'], "_");
            self.builder.factors(&name, table, TABLE_ALIGNMENT)
        });
        let counter = self.builder.counter();
        let loops = groups > 1 && rows.is_multiple_of(packed.across());
        let per_group = |step: usize| {
            move |base: usize| match loops {
                true => Index::strided(base, counter, step),
                false => Index::at(base),
            }
        };
        let grid = per_group(packed.across() * packed.row().1);
        let blocks = per_group(columns * units * lanes);
        let tables = per_group(multiplied.len() * lanes);
        let method = self.schedule.multiply();
        let mut body = Vec::new();
        for number in 0..if loops { 1 } else { groups } {
            let mut block = Block::default();
            let at =
                |i: usize, unit: usize| blocks(((number * columns + i) * units + unit) * lanes);
            let times = |block: &mut Block, i: usize, a: Value| match place[i].zip(factors) {
                Some((word, buffer)) => {
                    let at = tables(number * multiplied.len() * lanes + word);
                    block.times(a, Factor::Table { buffer, at }, method)
                }
                None => a,
            };
            let loaded = match level.forward {
                true => packed.transposed(&mut block, level.rows, (number, &grid)),
                false => Vec::new(),
            };
            let mut made: Vec<Option<Value>> = vec![None; columns * units];
            for unit in 0..units {
                self.network(
                    &mut block,
                    &group,
                    &placement,
                    false,
                    &mut |block, i| match loaded.get(i * units + unit) {
                        Some(&a) => times(block, i, a),
                        None => block.load(level.blocks, at(i, unit)),
                    },
                    &mut |block, i, a| match level.forward {
                        true => {
                            block.store(level.blocks, at(i, unit), a);
                        }
                        false => made[i * units + unit] = Some(times(block, i, a)),
                    },
                );
            }
            if !level.forward {
                let made = made.into_iter().flatten().collect();
                packed.stored(&mut block, level.rows, (number, &grid), made);
            }
            body.push(Stmt::Block(block));
        }
        if loops {
            body = vec![repeat(counter, groups, body)];
        }
        self.builder.stage(&level.title, CITE, body);
        Ok(bound)
    }
}
