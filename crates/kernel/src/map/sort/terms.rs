//! Which nodes of a graph are minima and maxima of the words at entry.

use super::super::diagram::{Kind, kind};
use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// Nodes between a term and those that it is made of.
const NEAR: usize = 256;
/// Parts of an exclusive or.
const PARTS: usize = 1024;

/// A minimum, a maximum, or a word at entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Term {
    Entry(u32),
    Least(u32, u32),
    Greatest(u32, u32),
}

/// What a node depends on: terms, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Nothing,
    One(u32),
    Two(u32, u32),
    More,
}

impl Below {
    fn with(self, other: Below) -> Below {
        match (self, other) {
            (Below::Nothing, x) | (x, Below::Nothing) => x,
            (Below::More, _) | (_, Below::More) => Below::More,
            (x, Below::One(a)) => x.and(a),
            (x, Below::Two(a, b)) => x.and(a).and(b),
        }
    }

    fn and(self, a: u32) -> Below {
        match self {
            Below::Nothing => Below::One(a),
            Below::One(x) if x != a => Below::Two(x.min(a), x.max(a)),
            Below::Two(x, y) if x != a && y != a => Below::More,
            same => same,
        }
    }
}

/// Finds the terms that nodes are.
pub(super) struct Terms<'a> {
    graph: &'a Graph,
    /// Of an element.
    bits: u8,
    signed: bool,
    /// Each after those that it is made of.
    pub terms: Vec<Term>,
    numbers: FxHashMap<Term, u32>,
    /// Nodes that are terms, but for bits that are flipped.
    pub found: FxHashMap<NodeId, (u32, u64)>,
    /// Nodes that are constant, whatever is below them.
    constants: FxHashMap<NodeId, u64>,
    /// The first such node of each term.
    first: Vec<NodeId>,
    /// Nodes that are the exclusive or of two others.
    differ: FxHashMap<NodeId, [NodeId; 2]>,
    /// Of what nodes are made, over inputs (0, 0) and (1, 0).
    shapes: Graph,
    kinds: FxHashMap<NodeId, Option<(Kind, u64)>>,
}

impl Terms<'_> {
    fn number(&mut self, term: Term) -> u32 {
        let next = self.terms.len() as u32;
        let number = *self.numbers.entry(term).or_insert(next);
        if number == next {
            self.terms.push(term);
        }
        number
    }

    /// Finds the nodes of `cone`, which ascends, that are terms over elements of so many bits.
    pub fn of<'a>(graph: &'a Graph, bits: u8, signed: bool, cone: &[NodeId]) -> Terms<'a> {
        let mut all = Terms {
            graph,
            bits,
            signed,
            terms: Vec::new(),
            numbers: FxHashMap::default(),
            found: FxHashMap::default(),
            constants: FxHashMap::default(),
            first: Vec::new(),
            differ: FxHashMap::default(),
            shapes: Graph::new(),
            kinds: FxHashMap::default(),
        };
        all.find(cone);
        all
    }

    fn find(&mut self, cone: &[NodeId]) {
        let mut below: FxHashMap<NodeId, Below> = FxHashMap::default();
        for &id in cone {
            let node = self.graph.node(id);
            let mut is = match node.op {
                Op::Input { operand: 0, index } if node.width == self.bits => {
                    let term = self.number(Term::Entry(index));
                    self.is(id, term, 0)
                }
                Op::Input { .. } | Op::Address { .. } => Below::More,
                _ => node.args.iter().fold(Below::Nothing, |all, a| all.with(below[a])),
            };
            if is == Below::More && node.op == Op::And {
                is = self.masked(node.args[0], node.args[1], &mut below);
            }
            let of = match is {
                Below::One(a) => Some([a, a]),
                Below::Two(a, b) => Some([a, b]),
                _ => None,
            };
            let of = of.filter(|_| node.width == self.bits && !self.found.contains_key(&id));
            if let Some(found) = of.and_then(|of| self.kind(id, of).map(|kind| (of, kind))) {
                is = self.keep(id, found);
            }
            below.insert(id, is);
        }
    }

    fn is(&mut self, id: NodeId, term: u32, flipped: u64) -> Below {
        self.found.insert(id, (term, flipped));
        if self.first.len() == term as usize {
            self.first.push(id);
        }
        Below::One(term)
    }

    /// What x & y depends on, where one of them is the exclusive or of the two terms that the other depends on. The graph
    /// has cancelled what these share, so that neither is below it.
    fn masked(&mut self, x: NodeId, y: NodeId, below: &mut FxHashMap<NodeId, Below>) -> Below {
        for (mask, differ) in [(x, y), (y, x)] {
            let (Below::Two(a, b), Below::More) = (below[&mask], below[&differ]) else { continue };
            let two = [self.first[a as usize], self.first[b as usize]];
            let mut left = FxHashSet::default();
            let all = [differ, two[0], two[1]].map(|id| self.parts(id, &mut left));
            if all == [true; 3] && left.is_empty() {
                self.differ.insert(differ, two);
                below.insert(differ, Below::Two(a, b));
                return Below::Two(a, b);
            }
        }
        Below::More
    }

    /// Of the parts of an exclusive or, puts in those that are not there, and takes out those that are. Says whether
    /// these were all.
    fn parts(&self, id: NodeId, left: &mut FxHashSet<NodeId>) -> bool {
        let mut stack = vec![id];
        for _ in 0..PARTS {
            let Some(id) = stack.pop() else { return true };
            let node = self.graph.node(id);
            match node.op {
                Op::Xor => stack.extend_from_slice(&node.args),
                Op::Const(0) => {}
                _ if !left.insert(id) => drop(left.remove(&id)),
                _ => {}
            }
        }
        false
    }

    /// What function a node is of two terms, or of one.
    fn kind(&mut self, id: NodeId, of: [u32; 2]) -> Option<(Kind, u64)> {
        let shape = self.shape(id, of, &mut FxHashMap::default())?;
        let (shapes, bits, signed) = (&self.shapes, self.bits, self.signed);
        *self.kinds.entry(shape).or_insert_with(|| kind(shapes, shape, bits, signed))
    }

    /// Keeps what a node is, and says what depends on it.
    fn keep(&mut self, id: NodeId, (of, (kind, flipped)): ([u32; 2], (Kind, u64))) -> Below {
        let term = match kind {
            Kind::Word(i) => of[i],
            Kind::Least => self.number(Term::Least(of[0], of[1])),
            Kind::Greatest => self.number(Term::Greatest(of[0], of[1])),
            Kind::Zero => {
                self.constants.insert(id, flipped);
                return Below::Nothing;
            }
        };
        self.is(id, term, flipped)
    }

    /// A node with the terms below it as inputs; [`None`] if it is far above them.
    fn shape(
        &mut self,
        id: NodeId,
        of: [u32; 2],
        made: &mut FxHashMap<NodeId, NodeId>,
    ) -> Option<NodeId> {
        if let Some(&known) = made.get(&id) {
            return Some(known);
        }
        let node = self.graph.node(id).clone();
        let shape = if let Some(&(term, flipped)) = self.found.get(&id) {
            let leaf = self.shapes.input(self.bits, u16::from(term != of[0]), 0);
            let mask = self.shapes.constant(self.bits, flipped);
            self.shapes.xor(leaf, mask)
        } else if let Some(&value) = self.constants.get(&id) {
            self.shapes.constant(node.width, value)
        } else if let Some(&[x, y]) = self.differ.get(&id) {
            let (x, y) = (self.shape(x, of, made)?, self.shape(y, of, made)?);
            self.shapes.xor(x, y)
        } else if let Op::Const(c) = node.op {
            self.shapes.constant(node.width, c)
        } else {
            let mut args = Vec::with_capacity(node.args.len());
            for &a in &node.args {
                args.push(self.shape(a, of, made)?);
            }
            self.shapes.rebuild(node.width, node.op, &args)
        };
        made.insert(id, shape);
        (made.len() <= NEAR).then_some(shape)
    }
}
