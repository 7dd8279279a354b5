//! Small products as independent smaller ones: linear maps of chunks there and back, as data. What a
//! method says once here is run exactly, counted and lowered by lanes.
//!
//! A *chunk* is some of the operand's coefficients; values of the maps are as long as a chunk. They
//! are numbered: the inputs first, then one for each operation.

use crate::arith::rotated;
use crate::base::{BaseRef, SmallModulus};
use crate::network::Cost;
use ringforge_ring::zq;

/// One operation on chunks; operands are the numbers of earlier values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChunkOp {
    /// a + b.
    Add(usize, usize),
    /// a − b.
    Sub(usize, usize),
    /// c·a, c in `[0, q)`.
    Scale(usize, u64),
    /// y^k·a mod y^m + 1 for chunks of m coefficients: a rotation with signs.
    Rotate(usize, usize),
}

impl ChunkOp {
    /// The same on other values.
    pub fn on(self, of: impl Fn(usize) -> usize) -> ChunkOp {
        match self {
            ChunkOp::Add(a, b) => ChunkOp::Add(of(a), of(b)),
            ChunkOp::Sub(a, b) => ChunkOp::Sub(of(a), of(b)),
            ChunkOp::Scale(a, c) => ChunkOp::Scale(of(a), c),
            ChunkOp::Rotate(a, k) => ChunkOp::Rotate(of(a), k),
        }
    }
}

/// One of the smaller products.
#[derive(Clone, Debug)]
pub struct Part {
    /// The values that make its operands, one after another; its result is cut in as many chunks.
    pub values: Vec<usize>,
    /// What it is taken modulo.
    pub modulus: SmallModulus,
    /// How it is computed.
    pub method: BaseRef,
}

/// A small product in parts. Leaves scale 1.
#[derive(Clone, Debug)]
pub struct Split {
    /// The method, for people: `Bruun`.
    pub name: &'static str,
    /// The positions in the operand of each chunk's coefficients.
    pub chunks: Vec<Vec<usize>>,
    /// From an operand's chunks to those of the parts.
    pub forward: Vec<ChunkOp>,
    /// The smaller products.
    pub parts: Vec<Part>,
    /// From the results' chunks, part after part, to those of the whole result.
    pub inverse: Vec<ChunkOp>,
    /// For each chunk of the result its value.
    pub output: Vec<usize>,
}

/// A linear map in the making.
#[derive(Clone, Debug)]
pub struct Chunks {
    inputs: usize,
    ops: Vec<ChunkOp>,
}

impl Chunks {
    /// Of this many inputs, numbered from 0.
    pub fn new(inputs: usize) -> Chunks {
        Chunks { inputs, ops: Vec::new() }
    }

    fn push(&mut self, op: ChunkOp) -> usize {
        self.ops.push(op);
        self.inputs + self.ops.len() - 1
    }

    /// a + b.
    pub fn add(&mut self, a: usize, b: usize) -> usize {
        self.push(ChunkOp::Add(a, b))
    }

    /// a − b.
    pub fn sub(&mut self, a: usize, b: usize) -> usize {
        self.push(ChunkOp::Sub(a, b))
    }

    /// c·a.
    pub fn scale(&mut self, a: usize, c: u64) -> usize {
        self.push(ChunkOp::Scale(a, c))
    }

    /// y^k·a mod y^m + 1.
    pub fn rotate(&mut self, a: usize, k: usize) -> usize {
        self.push(ChunkOp::Rotate(a, k))
    }

    /// The operations.
    pub fn finish(self) -> Vec<ChunkOp> {
        self.ops
    }
}

/// `count` chunks of neighbouring coefficients.
pub fn neighbours(size: usize, count: usize) -> Vec<Vec<usize>> {
    let m = size / count;
    (0..count).map(|c| (c * m..(c + 1) * m).collect()).collect()
}

/// Runs a map exactly on chunks in `[0, q)`: all values.
fn run(ops: &[ChunkOp], inputs: Vec<Vec<u64>>, q: u64) -> Vec<Vec<u64>> {
    let mut values = inputs;
    for &op in ops {
        let pair = |a: usize, b: usize, f: fn(u64, u64, u64) -> u64| -> Vec<u64> {
            values[a].iter().zip(&values[b]).map(|(&x, &y)| f(x, y, q)).collect()
        };
        let value = match op {
            ChunkOp::Add(a, b) => pair(a, b, zq::add),
            ChunkOp::Sub(a, b) => pair(a, b, zq::sub),
            ChunkOp::Scale(a, c) => values[a].iter().map(|&x| zq::mul(x, c, q)).collect(),
            ChunkOp::Rotate(a, k) => {
                let m = values[a].len();
                let coefficient = |j: usize| {
                    let (from, negative) = rotated(j, k, m);
                    let x = values[a][from];
                    if negative { zq::sub(0, x, q) } else { x }
                };
                (0..m).map(coefficient).collect()
            }
        };
        values.push(value);
    }
    values
}

impl Split {
    /// a·b exactly, through the parts.
    pub fn multiply(&self, a: &[u64], b: &[u64], q: u64) -> Vec<u64> {
        let there = |v: &[u64]| -> Vec<Vec<u64>> {
            let inputs = self.chunks.iter().map(|c| c.iter().map(|&i| v[i]).collect()).collect();
            run(&self.forward, inputs, q)
        };
        let (a, b) = (there(a), there(b));
        let m = self.chunks[0].len();
        let mut results = Vec::new();
        for part in &self.parts {
            let operand = |values: &[Vec<u64>]| -> Vec<u64> {
                part.values.iter().flat_map(|&v| values[v].iter().copied()).collect()
            };
            let product = part.method.multiply(part.modulus, &operand(&a), &operand(&b));
            results.extend(product.chunks(m).map(<[u64]>::to_vec));
        }
        let values = run(&self.inverse, results, q);
        let mut output = vec![0; self.chunks.iter().map(Vec::len).sum()];
        for (chunk, &value) in self.chunks.iter().zip(&self.output) {
            chunk.iter().zip(&values[value]).for_each(|(&i, &x)| output[i] = x);
        }
        output
    }

    /// The operations on coefficients: both operands there, the parts, and back.
    pub fn cost(&self) -> Cost {
        let m = self.chunks[0].len() as u64;
        let of = |ops: &[ChunkOp]| {
            let scales = ops.iter().filter(|op| matches!(op, ChunkOp::Scale(..))).count() as u64;
            let sum = |op: &&ChunkOp| matches!(op, ChunkOp::Add(..) | ChunkOp::Sub(..));
            let adds = ops.iter().filter(sum).count() as u64;
            Cost { scales: scales * m, adds: adds * m, products: 0 }
        };
        let parts: Cost = self.parts.iter().map(|part| part.method.cost()).sum();
        of(&self.forward).times(2) + of(&self.inverse) + parts
    }
}
