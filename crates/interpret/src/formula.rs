//! What a program computes, for all inputs at once: a word is an exact form mod q over the inputs.
//!
//! The walk records a graph whose nodes are linear forms over one operand, products of two such
//! forms, or linear combinations of products; anything else is refused with its place. Outputs
//! of a product are then compared with the ring's own product for **all** pairs of basis vectors,
//! as [TokudaKameyama23 §5] does.
//!
//! If the factors of all products are geometric, as those of a transform are, the products at (e_(i+d), e_(j−d)) equal
//! those at (e_i, e_j). Then some 2·n·d evaluations of the graph settle all n³ coefficients ([`Forms::agrees_with`]).
//! Otherwise one operand is fixed at one e_j at a time, and every form stays linear. The forms also stay short, because
//! a transform on lanes keeps residue classes of indices apart.
//!
//! Meant for the modular level: residues, not words. That no word wraps is [`crate::range`]'s
//! business; the two together say that the program is right.

mod arena;
mod bilinear;
mod domain;
mod entry;
mod evaluate;
mod text;

use crate::run::exported;
use crate::walk::*;
use ringforge_program::ir::{Program, Role};
use ringforge_program::method::Modulus;
use ringforge_ring::zq;
use std::collections::HashMap;
use std::fmt;

pub use text::text;

/// A node of the graph of forms.
pub type Id = u32;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Constant(u64),
    Input { operand: u8, index: u32 },
    Add(Id, Id),
    Sub(Id, Id),
    Scale(Id, u64),
    Product(Id, Id),
}

/// What a node is a form over: any of a constant, the operands 0 and 1, their products, and
/// operand 2, what an accumulation adds to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kind(u8);

impl Kind {
    const CONSTANT: Kind = Kind(0);
    const BILINEAR: Kind = Kind(8);

    fn linear(operand: u8) -> Kind {
        Kind(1 << operand)
    }

    fn contains(self, other: Kind) -> bool {
        self.0 & other.0 == other.0
    }

    /// The kind of a sum, where it is one that outputs may have.
    fn join(self, other: Kind) -> Option<Kind> {
        let sum = Kind(self.0 | other.0);
        let accumulates = Kind(Kind::BILINEAR.0 | Kind::linear(2).0);
        (self == other || accumulates.contains(sum) && self.0 != 0 && other.0 != 0).then_some(sum)
    }
}

/// The domain of forms: it records a graph.
pub struct Recorder {
    q: u64,
    words: Modulus,
    nodes: Vec<Node>,
    kinds: Vec<Kind>,
    known: HashMap<Node, Id>,
}

impl Recorder {
    /// An empty graph over residues mod q.
    ///
    /// For words of 16 bits, unless the modulus says otherwise: Montgomery's scale depends on it.
    pub fn new(modulus: impl Into<Modulus>) -> Recorder {
        let modulus = modulus.into();
        let q = modulus.q;
        let zero = Node::Constant(0);
        let known = HashMap::from([(zero, 0)]);
        Recorder { q, words: modulus, nodes: vec![zero], kinds: vec![Kind::CONSTANT], known }
    }

    fn push(&mut self, node: Node, kind: Kind) -> Id {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node);
        self.kinds.push(kind);
        self.known.insert(node, id);
        id
    }

    fn constant_of(&self, a: Id) -> Option<u64> {
        match self.nodes[a as usize] {
            Node::Constant(c) => Some(c),
            _ => None,
        }
    }

    /// Word `index` of an operand: 0 and 1 are multiplied, 2 is added to.
    pub fn input(&mut self, operand: u8, index: u32) -> Id {
        self.push(Node::Input { operand, index }, Kind::linear(operand))
    }

    /// The modulus.
    pub fn modulus(&self) -> u64 {
        self.q
    }

    /// The graph with these outputs, over operands of these lengths.
    pub fn finish(self, outputs: Vec<Id>, inputs: Vec<usize>) -> Forms {
        let Recorder { q, nodes, kinds, .. } = self;
        Forms { q, nodes, kinds, outputs, inputs, addend: None }
    }

    /// A constant.
    pub fn number(&mut self, c: i64) -> Id {
        self.push(Node::Constant(zq::unsigned(c, self.q)), Kind::CONSTANT)
    }

    /// `a + b`, or with `minus` `a − b`; refused where the sum is no form.
    pub fn sum(&mut self, a: Id, b: Id, minus: bool) -> Result<Id, Refusal> {
        if b == 0 {
            return Ok(a);
        }
        let (x, y) = (self.constant_of(a), self.constant_of(b));
        if let (Some(x), Some(y)) = (x, y) {
            let c = if minus { zq::sub(x, y, self.q) } else { zq::add(x, y, self.q) };
            return Ok(self.push(Node::Constant(c), Kind::CONSTANT));
        }
        if a == 0 {
            return Ok(if minus { self.scale(b, self.q - 1) } else { b });
        }
        let kind = self.kinds[a as usize].join(self.kinds[b as usize]).ok_or_else(|| {
            "adds forms of different kinds (constant, linear in one operand, bilinear), so the sum \
             is none of them"
                .to_string()
        })?;
        Ok(self.push(if minus { Node::Sub(a, b) } else { Node::Add(a, b) }, kind))
    }

    /// `c·a`.
    pub fn scale(&mut self, a: Id, c: u64) -> Id {
        let c = c % self.q;
        match (self.nodes[a as usize], c) {
            (_, 0) => 0,
            (_, 1) => a,
            (Node::Constant(x), _) => {
                self.push(Node::Constant(zq::mul(x, c, self.q)), Kind::CONSTANT)
            }
            (Node::Scale(x, d), _) => self.scale(x, zq::mul(c, d, self.q)),
            _ => self.push(Node::Scale(a, c), self.kinds[a as usize]),
        }
    }

    /// `a·b`; refused where it is not a product of the two operands.
    pub fn product(&mut self, a: Id, b: Id) -> Result<Id, Refusal> {
        if let Some(c) = self.constant_of(a) {
            return Ok(self.scale(b, c));
        }
        if let Some(c) = self.constant_of(b) {
            return Ok(self.scale(a, c));
        }
        let (first, second) = (Kind::linear(0), Kind::linear(1));
        match (self.kinds[a as usize], self.kinds[b as usize]) {
            (k, l) if (k, l) == (first, second) => {
                Ok(self.push(Node::Product(a, b), Kind::BILINEAR))
            }
            (k, l) if (k, l) == (second, first) => {
                Ok(self.push(Node::Product(b, a), Kind::BILINEAR))
            }
            (k, l) if k == l && (k == first || k == second) => {
                Err("multiplies an operand by itself".into())
            }
            _ => Err("multiplies three factors that depend on the inputs".into()),
        }
    }
}

/// The exact forms of a program's outputs.
pub struct Forms {
    q: u64,
    nodes: Vec<Node>,
    kinds: Vec<Kind>,
    outputs: Vec<Id>,
    /// Lengths of the operands 0 and 1, as far as there are.
    inputs: Vec<usize>,
    /// Length of operand 2.
    addend: Option<usize>,
}

/// That a program computes what it should, and what the comparison took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Agreement {
    /// Pairs of basis vectors, all of them; where the output is linear, basis vectors.
    pub pairs: u64,
    /// Evaluations of the graph that settled them.
    pub evaluations: u64,
    /// Coefficients of the result compared for each pair.
    pub outputs: usize,
    /// Nodes of the recorded graph.
    pub nodes: usize,
    /// Products of two variables among them.
    pub products: usize,
}

/// A coefficient that is not the definition's.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, thiserror::Error)]
pub enum Mismatch {
    /// `c[output]` contains `found·a[i]·b[j]`, but the ring's product has `expected·a[i]·b[j]`.
    #[error(
        "c[{output}] contains {found}·a[{i}]·b[{j}], but the product in the ring has \
         {expected}·a[{i}]·b[{j}]"
    )]
    Coefficient {
        /// Index of the output.
        output: usize,
        /// Index into the first operand.
        i: usize,
        /// Index into the second operand.
        j: usize,
        /// What the program computes, in `[0, q)`.
        found: u64,
        /// What it should compute, in `[0, q)`.
        expected: u64,
    },
    /// `c[output]` contains `found·x[i]` for the operand of this name, but should `expected·x[i]`.
    #[error(
        "c[{output}] contains {found}·{operand}[{i}], but {computes} has {expected}·{operand}[{i}]"
    )]
    Linear {
        /// `a` or `c`.
        operand: &'static str,
        /// What the program should compute.
        computes: &'static str,
        /// Index of the output.
        output: usize,
        /// Index into the operand.
        i: usize,
        /// What the program computes, in `[0, q)`.
        found: u64,
        /// What it should compute, in `[0, q)`.
        expected: u64,
    },
    /// An output is no form of the kind that is asked for.
    #[error("c[{output}] is {what}")]
    Shape {
        /// Index of the output.
        output: usize,
        /// What it is.
        what: String,
    },
    /// The program's parameters do not fit the ring.
    #[error("{0}")]
    Parameters(String),
}

/// The forms of the exported procedure's output (the first, if there are several). Inputs are the
/// operands 0 and 1 in the order of the parameters; what is read and written is operand 2.
pub fn forms(program: &Program) -> Result<Forms, Fault> {
    let id = exported(program)?;
    let procedure = &program.procedures[id.0 as usize];
    let refuse = |reason: String| Fault {
        place: Box::new(Place { procedure: procedure.name.clone(), ..Place::default() }),
        reason,
    };
    if program.q >> 31 != 0 {
        return Err(refuse(format!("forms mod q need q below 2^31, not {}", program.q)));
    }
    let mut machine = Machine::new(program, Recorder::new(program.modulus()));
    let (mut arguments, mut inputs, mut output) = (Vec::new(), Vec::new(), None);
    let mut addend = None;
    for buffer in procedure.buffers.iter().filter(|b| b.role.is_parameter()) {
        let operand = match buffer.role {
            Role::Output | Role::Scratch => None,
            Role::InOut if addend.is_some() => {
                return Err(refuse("forms have one operand that is read and written".into()));
            }
            Role::InOut => {
                addend = Some(buffer.words);
                Some(2)
            }
            _ if inputs.len() == 2 => {
                return Err(refuse("forms have at most two operands".into()));
            }
            _ => {
                inputs.push(buffer.words);
                Some(inputs.len() as u8 - 1)
            }
        };
        let words = match operand {
            None => vec![None; buffer.words],
            Some(operand) => {
                (0..buffer.words).map(|i| Some(machine.domain.input(operand, i as u32))).collect()
            }
        };
        let array = machine.array(words);
        if matches!(buffer.role, Role::Output | Role::InOut) && output.is_none() {
            output = Some(array);
        }
        arguments.push((array, 0));
    }
    machine.call(id, &arguments)?;
    let output = output.ok_or_else(|| refuse("there is no output".into()))?;
    let outputs: Option<Vec<Id>> = machine.words(output).iter().copied().collect();
    let outputs = outputs.ok_or_else(|| refuse("a word of the output is never written".into()))?;
    let forms = machine.domain.finish(outputs, inputs);
    Ok(Forms { addend, ..forms })
}

impl fmt::Debug for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, outputs) = (self.nodes.len(), self.outputs.len());
        write!(f, "Forms {{ q: {}, {nodes} nodes, {outputs} outputs }}", self.q)
    }
}
