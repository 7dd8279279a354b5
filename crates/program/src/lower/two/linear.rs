//! Linear maps on blocks of words, column by column: every block is `length` words long, and word i
//! of the outputs depends on word i of the inputs alone.

use super::Q;
use crate::build::{Builder, repeat};
use crate::ir::*;
use ringforge_plan::{NetOp, Network, Val};
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
        Map {
            outputs: inputs.iter().map(|&val| (val, place(to))).collect(),
            net,
            inputs: vec![place(from)],
            elsewhere: Elsewhere::default(),
            length: finish.words.next_multiple_of(lanes),
            count: 1,
            finish: Some(finish),
            lanes,
        }
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
        let index = |place: &Place| {
            let mut index = Index::at(place.base + at);
            index.terms.extend(run.map(|run| (run, place.stride as i64)));
            index.terms.extend(column.map(|column| (column, self.lanes as i64)));
            index
        };
        // How many words of an output are stored.
        let stored = |number: usize| match self.finish {
            None => self.lanes,
            Some(f) => f.words.saturating_sub(number * self.length + at).min(self.lanes),
        };
        let outputs: Vec<(Val, &Place, usize)> = self
            .outputs
            .iter()
            .enumerate()
            .map(|(number, (val, place))| (*val, place, stored(number)))
            .filter(|output| output.2 > 0)
            .collect();
        let input = |i: usize| {
            let mut edges = self.elsewhere.edges.iter();
            match edges.find(|edge| edge.input == i && edge.words.contains(&at)) {
                Some(edge) => (edge.buffer, Index::at(edge.base + at - edge.words.start)),
                None => {
                    let mut from = index(&self.inputs[i]);
                    from.base -= if i == 0 { self.elsewhere.lead as i64 } else { 0 };
                    (self.inputs[i].buffer, from)
                }
            }
        };
        let wanted: Vec<Val> = outputs.iter().map(|output| output.0).collect();
        let mut block = Block::default();
        let mut words = Words::default();
        for val in self.net.live(&wanted) {
            let op = self.net.op(val);
            if let NetOp::Input(_) = op {
                continue; // loaded where it is needed first
            }
            for operand in op.operands() {
                self.load(operand, &mut block, &mut words, &input);
            }
            let value = words.operation(op, &mut block);
            words.known.push((val, value));
            self.store(val, &outputs, &mut block, &mut words, &index);
        }
        for (val, ..) in &outputs {
            if let NetOp::Input(_) = self.net.op(*val) {
                self.load(*val, &mut block, &mut words, &input);
                self.store(*val, &outputs, &mut block, &mut words, &index);
            }
        }
        block
    }

    fn load(
        &self,
        val: Val,
        block: &mut Block,
        words: &mut Words,
        input: &dyn Fn(usize) -> (BufferId, Index),
    ) {
        if let NetOp::Input(i) = self.net.op(val)
            && words.find(val).is_none()
        {
            let (buffer, at) = input(i);
            let value = block.push(Op::Load { buffer, at });
            words.known.push((val, value));
        }
    }

    /// Stores a value wherever it is an output.
    fn store(
        &self,
        val: Val,
        outputs: &[(Val, &Place, usize)],
        block: &mut Block,
        words: &mut Words,
        index: &dyn Fn(&Place) -> Index,
    ) {
        for &(_, place, count) in outputs.iter().filter(|output| output.0 == val) {
            let Some(mut a) = words.find(val) else { continue };
            if let Some(finish) = self.finish {
                a = words.scaled(a, finish.factor, block);
                a = block.push(Op::Sar(a, finish.shift));
            }
            let (buffer, at) = (place.buffer, index(place));
            block.push(match count == self.lanes {
                true => Op::Store { buffer, at, a },
                false => Op::StorePartial { buffer, at, count: count as u32, a },
            });
        }
    }
}

/// The values of a block.
#[derive(Default)]
struct Words {
    known: Vec<(Val, Value)>,
    constants: Vec<(i32, Value)>,
}

impl Words {
    fn find(&self, val: Val) -> Option<Value> {
        self.known.iter().find(|known| known.0 == val).map(|known| known.1)
    }

    fn get(&mut self, val: Val, block: &mut Block) -> Value {
        match self.find(val) {
            Some(value) => value,
            None => self.constant(0, block), // the structural zero
        }
    }

    fn constant(&mut self, word: i32, block: &mut Block) -> Value {
        if let Some(&(_, value)) = self.constants.iter().find(|known| known.0 == word) {
            return value;
        }
        let value = block.push(Op::Splat(word));
        self.constants.push((word, value));
        value
    }

    fn operation(&mut self, op: NetOp, block: &mut Block) -> Value {
        match op {
            NetOp::Add(a, b) => {
                let (a, b) = (self.get(a, block), self.get(b, block));
                block.push(Op::Add(a, b))
            }
            NetOp::Sub(a, b) => {
                let (a, b) = (self.get(a, block), self.get(b, block));
                block.push(Op::Sub(a, b))
            }
            NetOp::Scale(a, c) => {
                let a = self.get(a, block);
                self.scaled(a, c, block)
            }
            // The plans lowered here have no rotations.
            NetOp::Zero | NetOp::Input(_) | NetOp::Rotate(..) => self.constant(0, block),
        }
    }

    /// a·c modulo 2^16.
    fn scaled(&mut self, a: Value, c: u64, block: &mut Block) -> Value {
        match c {
            1 => a,
            0xffff => {
                let zero = self.constant(0, block);
                block.push(Op::Sub(zero, a))
            }
            _ if c.is_power_of_two() => block.push(Op::Shl(a, c.trailing_zeros() as u8)),
            _ => {
                let word = self.constant(i32::from(c as u16 as i16), block);
                block.push(Op::MulLo(a, word))
            }
        }
    }
}
