//! What a program computes, for all inputs at once: a word is an exact form mod q over the inputs.
//!
//! The walk records a graph whose nodes are linear forms over one operand, products of two such
//! forms, or linear combinations of products; anything else is refused with its place. Outputs
//! of a product are then compared with the ring's own product for **all** pairs of basis vectors,
//! as [TokudaKameyama23 §5] does, but with one operand fixed at e_j at a time: every form stays
//! linear, and since a transform on lanes keeps residue classes of indices apart, short.
//!
//! Meant for the modular level: residues, not words. That no word wraps is [`crate::range`]'s
//! business; the two together say that the program is right.

mod arena;

use crate::run::exported;
use crate::walk::*;
use arena::{Arena, Form};
use rayon::prelude::*;
use ringforge_program::ir::{Program, Role};
use ringforge_program::method::*;
use ringforge_ring::{Ring, zq};
use std::collections::HashMap;
use std::fmt;

type Id = u32;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Constant(u64),
    Input { operand: u8, index: u32 },
    Add(Id, Id),
    Sub(Id, Id),
    Scale(Id, u64),
    Product(Id, Id),
}

/// What a node is a form over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Constant,
    /// Linear in one operand.
    Linear(u8),
    /// A linear combination of products of the two operands.
    Bilinear,
}

/// The domain of forms.
struct Recorder {
    q: u64,
    nodes: Vec<Node>,
    kinds: Vec<Kind>,
    known: HashMap<Node, Id>,
}

impl Recorder {
    fn new(q: u64) -> Recorder {
        let zero = Node::Constant(0);
        let known = HashMap::from([(zero, 0)]);
        Recorder { q, nodes: vec![zero], kinds: vec![Kind::Constant], known }
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

    fn number(&mut self, c: i64) -> Id {
        self.push(Node::Constant(zq::unsigned(c, self.q)), Kind::Constant)
    }

    fn sum(&mut self, a: Id, b: Id, minus: bool) -> Result<Id, Refusal> {
        if b == 0 {
            return Ok(a);
        }
        let (x, y) = (self.constant_of(a), self.constant_of(b));
        if let (Some(x), Some(y)) = (x, y) {
            let c = if minus { zq::sub(x, y, self.q) } else { zq::add(x, y, self.q) };
            return Ok(self.push(Node::Constant(c), Kind::Constant));
        }
        if a == 0 {
            return Ok(if minus { self.scale(b, self.q - 1) } else { b });
        }
        let kind = match (self.kinds[a as usize], self.kinds[b as usize]) {
            (k, l) if k == l => k,
            _ => {
                return Err("adds forms of different kinds (constant, linear in one operand, \
                            bilinear), so the sum is none of them"
                    .into());
            }
        };
        Ok(self.push(if minus { Node::Sub(a, b) } else { Node::Add(a, b) }, kind))
    }

    fn scale(&mut self, a: Id, c: u64) -> Id {
        let c = c % self.q;
        match (self.nodes[a as usize], c) {
            (_, 0) => 0,
            (_, 1) => a,
            (Node::Constant(x), _) => {
                self.push(Node::Constant(zq::mul(x, c, self.q)), Kind::Constant)
            }
            (Node::Scale(x, d), _) => self.scale(x, zq::mul(c, d, self.q)),
            _ => self.push(Node::Scale(a, c), self.kinds[a as usize]),
        }
    }

    fn product(&mut self, a: Id, b: Id) -> Result<Id, Refusal> {
        if let Some(c) = self.constant_of(a) {
            return Ok(self.scale(b, c));
        }
        if let Some(c) = self.constant_of(b) {
            return Ok(self.scale(a, c));
        }
        match (self.kinds[a as usize], self.kinds[b as usize]) {
            (Kind::Linear(0), Kind::Linear(1)) => {
                Ok(self.push(Node::Product(a, b), Kind::Bilinear))
            }
            (Kind::Linear(1), Kind::Linear(0)) => {
                Ok(self.push(Node::Product(b, a), Kind::Bilinear))
            }
            (Kind::Linear(_), Kind::Linear(_)) => Err("multiplies an operand by itself".into()),
            _ => Err("multiplies three factors that depend on the inputs".into()),
        }
    }
}

fn not_linear<T>(what: &str) -> Result<T, Refusal> {
    Err(format!("{what} has no meaning mod q by itself; formula reads the modular level"))
}

impl Domain for Recorder {
    type Word = Id;
    type Wide = Id;

    fn constant(&mut self, word: i64) -> Id {
        self.number(word)
    }

    fn binary(&mut self, op: Binary, a: &Id, b: &Id) -> Result<Id, Refusal> {
        match op {
            Binary::Add => self.sum(*a, *b, false),
            Binary::Sub => self.sum(*a, *b, true),
            Binary::MulLo => self.product(*a, *b),
            // A mask of a lane: all bits, or none.
            Binary::And => match (self.constant_of(*a), self.constant_of(*b)) {
                (Some(0), _) | (_, Some(0)) => Ok(0),
                (Some(m), _) if m == self.q - 1 => Ok(*b),
                (_, Some(m)) if m == self.q - 1 => Ok(*a),
                _ => not_linear("And"),
            },
            _ => not_linear(&format!("{op:?}")),
        }
    }

    fn shift(&mut self, op: Shift, a: &Id) -> Result<Id, Refusal> {
        match op {
            Shift::Left(k) => Ok(self.scale(*a, zq::pow(2, u64::from(k), self.q))),
            _ => not_linear("a shift right"),
        }
    }

    fn mul_mod(&mut self, a: &Id, c: u64, _method: MulMethod) -> Result<Id, Refusal> {
        Ok(self.scale(*a, c))
    }

    fn reduce(&mut self, a: &Id, _method: ReduceMethod) -> Result<Id, Refusal> {
        Ok(*a)
    }

    fn narrow(&mut self, x: &Id, method: NarrowMethod) -> Result<Id, Refusal> {
        Ok(self.scale(*x, method.scale(self.q)))
    }

    fn mul_words(&mut self, a: &Id, b: &Id, method: ProductMethod) -> Result<Id, Refusal> {
        let product = self.product(*a, *b)?;
        Ok(self.scale(product, method.scale(self.q)))
    }

    fn freeze(&mut self, a: &Id, method: FreezeMethod) -> Result<Id, Refusal> {
        Ok(self.scale(*a, method.scale(self.q)))
    }

    fn pair_dot(&mut self, a: [&Id; 2], b: [&Id; 2]) -> Result<Id, Refusal> {
        let (x, y) = (self.product(*a[0], *b[0])?, self.product(*a[1], *b[1])?);
        self.sum(x, y, false)
    }

    fn wide_binary(&mut self, op: WideBinary, a: &Id, b: &Id) -> Result<Id, Refusal> {
        match op {
            WideBinary::Add => self.sum(*a, *b, false),
            WideBinary::Sub => self.sum(*a, *b, true),
            WideBinary::MulLo => self.product(*a, *b),
        }
    }

    fn wide_shift(&mut self, op: Shift, a: &Id) -> Result<Id, Refusal> {
        self.shift(op, a)
    }

    fn join(&mut self, low: &Id, high: &Id) -> Result<Id, Refusal> {
        if (*low, *high) == (0, 0) { Ok(0) } else { not_linear("a word read as half an element") }
    }

    fn split(&mut self, x: &Id) -> Result<(Id, Id), Refusal> {
        if *x == 0 { Ok((0, 0)) } else { not_linear("half an element read as a word") }
    }
}

/// The exact forms of a program's outputs.
pub struct Forms {
    q: u64,
    nodes: Vec<Node>,
    kinds: Vec<Kind>,
    outputs: Vec<Id>,
    inputs: Vec<usize>,
}

/// That a program computes its ring's product, and what the comparison took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Agreement {
    /// Pairs of basis vectors, all of them.
    pub pairs: u64,
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
    /// An output is not a combination of products of the two operands.
    #[error("c[{output}] is {what}, not a combination of products of the two operands")]
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

/// The forms of the exported procedure's output (the first, if there are several).
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
    let mut machine = Machine::new(program, Recorder::new(program.q));
    let (mut arguments, mut inputs, mut output) = (Vec::new(), Vec::new(), None);
    for buffer in procedure.buffers.iter().filter(|b| b.role.is_parameter()) {
        let words = match buffer.role {
            Role::Output => vec![None; buffer.words],
            _ if inputs.len() == 2 => {
                return Err(refuse("forms have at most two operands".into()));
            }
            _ => {
                let operand = inputs.len() as u8;
                inputs.push(buffer.words);
                let input = |index| {
                    let node = Node::Input { operand, index: index as u32 };
                    Some(machine.domain.push(node, Kind::Linear(operand)))
                };
                (0..buffer.words).map(input).collect()
            }
        };
        let array = machine.array(words);
        if buffer.role == Role::Output && output.is_none() {
            output = Some(array);
        }
        arguments.push((array, 0));
    }
    machine.call(id, &arguments)?;
    let output = output.ok_or_else(|| refuse("there is no output".into()))?;
    let outputs: Option<Vec<Id>> = machine.words(output).iter().copied().collect();
    let outputs = outputs.ok_or_else(|| refuse("a word of the output is never written".into()))?;
    let Recorder { q, nodes, kinds, .. } = machine.domain;
    Ok(Forms { q, nodes, kinds, outputs, inputs })
}

impl Forms {
    /// The forms of all linear nodes.
    fn linear_forms(&self) -> (Arena, Vec<Form>) {
        let mut arena = Arena::default();
        let mut forms = vec![Form::default(); self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            if !matches!(self.kinds[id], Kind::Linear(_)) {
                continue;
            }
            forms[id] = match *node {
                Node::Input { index, .. } => arena.unit(index),
                Node::Add(a, b) => arena.sum(forms[a as usize], forms[b as usize], false, self.q),
                Node::Sub(a, b) => arena.sum(forms[a as usize], forms[b as usize], true, self.q),
                Node::Scale(a, c) => arena.scaled(None, forms[a as usize], c, self.q),
                Node::Constant(_) | Node::Product(..) => Form::default(),
            };
        }
        (arena, forms)
    }

    /// Output number `output` as coefficients over the inputs of one operand: `Some((operand,
    /// coefficients))`, or `None` where the output is not linear.
    pub fn linear(&self, output: usize) -> Option<(usize, Vec<u64>)> {
        let id = *self.outputs.get(output)? as usize;
        let Kind::Linear(operand) = self.kinds[id] else { return None };
        let (arena, forms) = self.linear_forms();
        let mut dense = vec![0; self.inputs[usize::from(operand)]];
        for (&i, &v) in arena.indices(forms[id]).iter().zip(arena.values(forms[id])) {
            dense[i as usize] = u64::from(v);
        }
        Some((usize::from(operand), dense))
    }

    /// Compares the outputs with the product of the two operands in `ring`, for all pairs of
    /// basis vectors; the first difference in the order of (j, output, i) is the error.
    pub fn agrees_with(&self, ring: &Ring) -> Result<Agreement, Mismatch> {
        let n = ring.degree();
        if self.q != ring.q() || self.inputs != [n, n] || self.outputs.len() != n {
            return Err(Mismatch::Parameters(format!(
                "the program takes {:?} coefficients mod {} and gives {}, which is not the \
                 shape of a product in {ring}",
                self.inputs,
                self.q,
                self.outputs.len()
            )));
        }
        for (output, &id) in self.outputs.iter().enumerate() {
            let what = match self.kinds[id as usize] {
                Kind::Bilinear => continue,
                Kind::Constant if id == 0 => continue,
                Kind::Constant => "a constant".to_string(),
                Kind::Linear(operand) => format!("linear in operand {operand} alone"),
            };
            return Err(Mismatch::Shape { output, what });
        }
        let (linear_arena, linear) = self.linear_forms();
        // y[product][j]: the second factor of a product, by the basis vector it meets.
        let mut by_basis: Vec<Vec<(Id, Form, u64)>> = vec![Vec::new(); n];
        let mut bilinear = Vec::new();
        let mut products = 0;
        for (id, &node) in self.nodes.iter().enumerate() {
            if self.kinds[id] != Kind::Bilinear {
                continue;
            }
            if let Node::Product(x, y) = node {
                products += 1;
                let (x, y) = (linear[x as usize], linear[y as usize]);
                let terms = linear_arena.indices(y).iter().zip(linear_arena.values(y));
                for (&j, &v) in terms.filter(|&(_, &v)| v != 0) {
                    by_basis[j as usize].push((id as Id, x, u64::from(v)));
                }
            } else {
                bilinear.push(id as Id);
            }
        }
        let powers = powers(ring);
        let first = (0..n)
            .into_par_iter()
            .map_init(
                || (Arena::default(), vec![Form::default(); self.nodes.len()]),
                |(arena, forms), j| {
                    arena.clear();
                    forms.fill(Form::default());
                    for &(id, x, y) in &by_basis[j] {
                        forms[id as usize] = arena.scaled(Some(&linear_arena), x, y, self.q);
                    }
                    for &id in &bilinear {
                        let form = |a: Id| forms[a as usize];
                        forms[id as usize] = match self.nodes[id as usize] {
                            Node::Add(a, b) => arena.sum(form(a), form(b), false, self.q),
                            Node::Sub(a, b) => arena.sum(form(a), form(b), true, self.q),
                            Node::Scale(a, c) => arena.scaled(None, form(a), c, self.q),
                            _ => Form::default(),
                        };
                    }
                    self.compare(j, arena, forms, &powers)
                },
            )
            .find_first(Result::is_err);
        match first {
            Some(Err(mismatch)) => Err(mismatch),
            _ => Ok(Agreement {
                pairs: (n * n) as u64,
                outputs: n,
                nodes: self.nodes.len(),
                products,
            }),
        }
    }

    fn compare(
        &self,
        j: usize,
        arena: &Arena,
        forms: &[Form],
        powers: &[Vec<(usize, u64)>],
    ) -> Result<(), Mismatch> {
        let n = self.outputs.len();
        let mut expected: Vec<Vec<(usize, u64)>> = vec![Vec::new(); n];
        for i in 0..n {
            for &(k, c) in &powers[i + j] {
                expected[k].push((i, c));
            }
        }
        for (output, wanted) in expected.iter().enumerate() {
            let f = forms[self.outputs[output] as usize];
            let terms = arena.indices(f).iter().zip(arena.values(f));
            let found = terms.filter(|&(_, &v)| v != 0).map(|(&i, &v)| (i as usize, u64::from(v)));
            if found.clone().eq(wanted.iter().copied()) {
                continue;
            }
            let found: HashMap<usize, u64> = found.collect();
            let wanted: HashMap<usize, u64> = wanted.iter().copied().collect();
            let value = |map: &HashMap<usize, u64>, i| map.get(&i).copied().unwrap_or(0);
            let i = (0..n).find(|&i| value(&found, i) != value(&wanted, i)).unwrap_or(0);
            let (found, expected) = (value(&found, i), value(&wanted, i));
            return Err(Mismatch::Coefficient { output, i, j, found, expected });
        }
        Ok(())
    }
}

/// The nonzero coefficients of x^k mod f for k up to 2n − 2.
fn powers(ring: &Ring) -> Vec<Vec<(usize, u64)>> {
    let (n, q) = (ring.degree(), ring.q());
    let mut row = vec![0u64; n];
    row[0] = 1 % q;
    let sparse =
        |row: &[u64]| row.iter().copied().enumerate().filter(|&(_, c)| c != 0).collect::<Vec<_>>();
    let mut all = vec![sparse(&row)];
    for _ in 1..2 * n - 1 {
        let top = row.pop().unwrap_or(0);
        row.insert(0, 0);
        for (c, &f) in row.iter_mut().zip(ring.modulus()) {
            *c = zq::sub(*c, zq::mul(top, zq::unsigned(f, q), q), q);
        }
        all.push(sparse(&row));
    }
    all
}

impl fmt::Debug for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, outputs) = (self.nodes.len(), self.outputs.len());
        write!(f, "Forms {{ q: {}, {nodes} nodes, {outputs} outputs }}", self.q)
    }
}
