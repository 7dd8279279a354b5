//! Linear maps on blocks of words, column by column: every block is `length` words long, and word i
//! of the outputs depends on word i of the inputs alone.

use super::Q;
use crate::build::{Builder, repeat};
use crate::ir::*;
use crate::lower::network::{self, Nodes};
use ringforge_plan::{Network, Val};
use std::ops::Range;

/// Where a block of words starts in run number i of a map: `base + stride·i`.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub buffer: BufferId,
    pub base: usize,
    pub stride: usize,
}

/// The same blocks in every run.
#[derive(Clone, Debug)]
pub struct Family {
    pub place: Place,
    /// How many runs there are.
    pub count: usize,
    /// Where a window's second block is, after its first one.
    pub apart: usize,
}

/// What happens to an output before it is stored.
#[derive(Clone, Copy, Debug)]
pub struct Finish {
    /// It is multiplied with this word,
    pub factor: u64,
    /// and shifted right.
    pub shift: u8,
    /// Only the first words of all outputs, taken as one array, are stored.
    pub words: usize,
}

/// Some words of an input block that are elsewhere.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Which input.
    pub input: usize,
    /// Which of its words: whole columns.
    pub words: Range<usize>,
    /// Where the first of them is.
    pub buffer: BufferId,
    pub base: usize,
}

/// What of the inputs is not in its place; such columns stand apart.
#[derive(Clone, Debug, Default)]
pub struct Elsewhere {
    /// Where it is.
    pub edges: Vec<Edge>,
    /// The place of the first input is that of this word; those before are in an edge.
    pub lead: usize,
}

/// A linear map on blocks.
pub struct Map {
    pub net: Network,
    pub inputs: Vec<Place>,
    /// What of the inputs is elsewhere.
    pub elsewhere: Elsewhere,
    pub outputs: Vec<(Val, Place)>,
    /// Words of a block, at least a register's.
    pub length: usize,
    /// How often it is done, for how many blocks side by side.
    pub count: usize,
    pub finish: Option<Finish>,
    /// Words of a register.
    pub lanes: usize,
}

/// Where columns start: whole registers, and one that ends with the block.
fn columns(length: usize, lanes: usize) -> (usize, Option<usize>) {
    (length / lanes, (!length.is_multiple_of(lanes)).then(|| length - lanes))
}

impl Map {
    /// The last step alone, from one array to another.
    pub fn finish((from, to): (BufferId, BufferId), finish: Finish, lanes: usize) -> Map {
        let mut net = Network::new(Q);
        let inputs = net.inputs(&[true]);
        let place = |buffer| Place { buffer, base: 0, stride: 0 };
        let outputs = inputs.iter().map(|&val| (val, place(to))).collect();
        let length = finish.words.next_multiple_of(lanes);
        let map = Map::new(net, vec![place(from)], outputs, (length, 1), lanes);
        Map { finish: Some(finish), ..map }
    }

    /// A map on blocks of so many words, done so often, all inputs in their places.
    pub fn new(
        net: Network,
        inputs: Vec<Place>,
        outputs: Vec<(Val, Place)>,
        (length, count): (usize, usize),
        lanes: usize,
    ) -> Map {
        let (elsewhere, finish) = (Elsewhere::default(), None);
        Map { net, inputs, elsewhere, outputs, length, count, finish, lanes }
    }

    /// The statements.
    pub fn statements(&self, builder: &mut Builder) -> Vec<Stmt> {
        if self.outputs.is_empty() {
            return Vec::new();
        }
        let run = (self.count > 1).then(|| builder.counter());
        let lanes = self.lanes;
        let (whole, tail) = columns(self.length, lanes);
        // Columns in which some output is not stored whole, or some input is elsewhere, stand apart.
        let last = self.outputs.len() - 1;
        let looped = |&column: &usize| {
            let at = column * lanes;
            let fits = self.finish.is_none_or(|f| last * self.length + at + lanes <= f.words);
            fits && !self.elsewhere.edges.iter().any(|edge| edge.words.contains(&at))
        };
        let first = (0..whole).find(looped).unwrap_or(whole);
        let count = (first..whole).take_while(looped).count();
        let apart = (0..first).chain(first + count..whole).map(|column| column * lanes);
        let singles: Vec<usize> = apart.chain(tail).collect();
        let mut body = Vec::new();
        match count {
            0 => {}
            1 => body.push(Stmt::Block(self.column(run, None, first * lanes))),
            _ => {
                let column = builder.counter();
                let block = self.column(run, Some(column), first * lanes);
                body.push(repeat(column, count, vec![Stmt::Block(block)]));
            }
        }
        body.extend(singles.into_iter().map(|at| Stmt::Block(self.column(run, None, at))));
        match run {
            Some(run) => vec![repeat(run, self.count, body)],
            None => body,
        }
    }

    /// One column.
    fn column(&self, run: Option<LoopVar>, column: Option<LoopVar>, at: usize) -> Block {
        let mut block = Block::default();
        let words = |number: usize| self.stored(number, at);
        let outputs: Vec<usize> = (0..self.outputs.len()).filter(|&i| words(i) > 0).collect();
        let wanted: Vec<Val> = outputs.iter().map(|&i| self.outputs[i].0).collect();
        let column = Column { map: self, run, column, at, outputs, constants: Vec::new() };
        network::write(&mut block, (&self.net, &wanted), false, column);
        block
    }

    /// How many words of an output are stored of the column at a word.
    fn stored(&self, output: usize, at: usize) -> usize {
        match self.finish {
            None => self.lanes,
            Some(f) => f.words.saturating_sub(output * self.length + at).min(self.lanes),
        }
    }
}

/// A column in the making.
struct Column<'a> {
    map: &'a Map,
    run: Option<LoopVar>,
    column: Option<LoopVar>,
    at: usize,
    /// The outputs that have words to be stored.
    outputs: Vec<usize>,
    constants: Vec<(i32, Value)>,
}

impl Column<'_> {
    fn index(&self, place: &Place) -> Index {
        let mut index = Index::at(place.base + self.at);
        index.terms.extend(self.run.map(|run| (run, place.stride as i64)));
        index.terms.extend(self.column.map(|column| (column, self.map.lanes as i64)));
        index
    }

    fn constant(&mut self, block: &mut Block, word: i32) -> Value {
        if let Some(&(_, value)) = self.constants.iter().find(|known| known.0 == word) {
            return value;
        }
        let value = block.splat(word);
        self.constants.push((word, value));
        value
    }

    /// a·c modulo 2^16.
    fn scaled(&mut self, block: &mut Block, a: Value, c: u64) -> Value {
        match c {
            1 => a,
            0xffff => {
                let zero = self.constant(block, 0);
                block.sub(zero, a)
            }
            _ if c.is_power_of_two() => block.push(Op::Shl(a, c.trailing_zeros() as u8)),
            _ => {
                let word = self.constant(block, i32::from(c as u16 as i16));
                block.push(Op::MulLo(a, word))
            }
        }
    }
}

impl Nodes for Column<'_> {
    fn load(&mut self, block: &mut Block, i: usize) -> Value {
        let (elsewhere, place) = (&self.map.elsewhere, &self.map.inputs[i]);
        let mut edges = elsewhere.edges.iter();
        match edges.find(|edge| edge.input == i && edge.words.contains(&self.at)) {
            Some(edge) => {
                block.load(edge.buffer, Index::at(edge.base + self.at - edge.words.start))
            }
            None => {
                let mut from = self.index(place);
                from.base -= if i == 0 { elsewhere.lead as i64 } else { 0 };
                block.load(place.buffer, from)
            }
        }
    }

    fn store(&mut self, block: &mut Block, i: usize, mut a: Value) {
        let (output, lanes) = (self.outputs[i], self.map.lanes);
        let place = &self.map.outputs[output].1;
        if let Some(finish) = self.map.finish {
            a = self.scaled(block, a, finish.factor);
            a = block.push(Op::Sar(a, finish.shift));
        }
        let count = self.map.stored(output, self.at);
        block.store_first((place.buffer, self.index(place)), a, (count, lanes));
    }

    fn zero(&mut self, block: &mut Block) -> Value {
        self.constant(block, 0)
    }

    fn scale(&mut self, block: &mut Block, _: Val, a: Value, c: u64) -> Value {
        self.scaled(block, a, c)
    }
}
