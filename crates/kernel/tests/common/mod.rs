//! Small graphs with certificates written by hand, and what lines mean by evaluation.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod cases;
pub mod maps;
pub mod objects;
pub mod truth;

use ringforge_kernel::certificate::Line;
use ringforge_kernel::replay::{self, Case, Operand, Refused, Target, Walked};
use ringforge_machine::graph::{Graph, Node, NodeId, Op};

/// The modulus of most cases.
pub const Q: u32 = 4591;

/// A graph with its inputs and outputs.
pub struct Bench {
    pub graph: Graph,
    pub operands: Vec<Operand>,
    pub outputs: Vec<NodeId>,
    pub target: Target,
    pub q: u32,
    /// Elements of each input array.
    pub length: usize,
}

impl Bench {
    /// Input arrays as (least, greatest, bits); 16-bit signed outputs in all of their range.
    pub fn new(operands: &[(i64, i64, u8)]) -> Bench {
        let operand = |&(lo, hi, bits): &(i64, i64, u8)| Operand { lo, hi, bits };
        Bench {
            graph: Graph::new(),
            operands: operands.iter().map(operand).collect(),
            outputs: Vec::new(),
            target: Target { bits: 16, signed: true, lo: -32768, hi: 32767 },
            q: Q,
            length: 1,
        }
    }

    /// What is promised of the outputs.
    pub fn target(mut self, bits: u8, signed: bool, lo: i64, hi: i64) -> Bench {
        self.target = Target { bits, signed, lo, hi };
        self
    }

    /// Another modulus.
    pub fn modulo(self, q: u32) -> Bench {
        Bench { q, ..self }
    }

    /// The node as it stands, and its number.
    pub fn node(&mut self, width: u8, op: Op, args: &[u32]) -> u32 {
        let args = args.iter().map(|&a| NodeId(a)).collect();
        self.graph.intern(Node { width, op, args }, None).0
    }

    /// Element 0 of an input array.
    pub fn input(&mut self, operand: u16) -> u32 {
        let bits = self.operands[usize::from(operand)].bits;
        self.node(bits, Op::Input { operand, index: 0 }, &[])
    }

    /// A constant.
    pub fn constant(&mut self, width: u8, value: i64) -> u32 {
        self.node(width, Op::Const(value as u64 & (u64::MAX >> (64 - width))), &[])
    }

    /// Names the outputs.
    pub fn outputs(mut self, nodes: &[u32]) -> Bench {
        self.outputs = nodes.iter().map(|&n| NodeId(n)).collect();
        self
    }

    /// What the kernel says.
    pub fn replay(&self, lines: &[Line]) -> Result<Walked, Refused> {
        self.replay_for(lines, 1 << 26)
    }

    /// The same with a budget of point evaluations.
    pub fn replay_for(&self, lines: &[Line], budget: u64) -> Result<Walked, Refused> {
        replay::walk(&self.case(), lines, budget, &|_| true)
    }

    /// What the kernel walks over.
    pub fn case(&self) -> Case<'_> {
        Case {
            graph: &self.graph,
            operands: self.operands.clone(),
            outputs: &self.outputs,
            target: self.target,
            q: self.q,
        }
    }
}

/// The lines of a text; what follows a `;` is a comment.
pub fn lines(text: &str) -> Vec<Line> {
    let code = text.lines().map(|l| l.split(';').next().unwrap_or("").trim());
    let read = |l: &str| ringforge_certificate::read(l).unwrap_or_else(|e| panic!("{l}: {e}"));
    code.filter(|l| !l.is_empty()).map(read).collect()
}
