//! The bits of a field out of the graph, as a term of its own with as few inputs as possible.
//!
//! **Statement.** `bits(x, lo, w)` is a term for bits `[lo, lo + w)` of x. Bits that are zero whatever the inputs are
//! become constants. Bitwise operations, shifts, extensions and selections are taken apart. Bits of a sum need those
//! from the last place below that no carry enters; bits of a product need all below.

use ringforge_contract::map::{MapArgument, MapCase, MapContract};
use ringforge_machine::graph::{Graph, Node, NodeId, Op};
use rustc_hash::FxHashMap;

/// Terms in terms.
const DEPTH: usize = 2500;

/// The lowest `width` bits.
pub(super) fn ones(width: u8) -> u64 {
    if width == 0 { 0 } else { u64::MAX >> (64 - width) }
}

/// Fields as terms of their own.
pub(super) struct Projection<'a> {
    contract: &'a MapContract,
    graph: &'a Graph,
    /// Arguments by operand.
    inputs: Vec<usize>,
    /// By node, the bits that may be 1.
    pub maybe: Vec<u64>,
    /// The terms. An input's operand is its argument. Its index is 0 for the field in question, and for a number.
    /// Otherwise the index says how far the input is before or behind that field ([`relative`]).
    pub out: Graph,
    field: usize,
    found: FxHashMap<(NodeId, u8, u8), NodeId>,
    depth: usize,
    /// Nodes that are congruent to c times a number that is passed by value and d: its argument, c and d.
    pub known: FxHashMap<NodeId, (usize, i128, i128)>,
}

impl<'a> Projection<'a> {
    pub fn new(contract: &'a MapContract, graph: &'a Graph, case: &MapCase) -> Projection<'a> {
        let size = case
            .outputs
            .iter()
            .flatten()
            .chain(&case.result)
            .map(|o| o.0 as usize + 1)
            .max()
            .unwrap_or(0);
        let inputs = contract.inputs();
        let mut maybe = Vec::with_capacity(size);
        for id in 0..size {
            let node = graph.node(NodeId(id as u32));
            let argument =
                |operand: u16| inputs.get(usize::from(operand)).map(|&a| &contract.arguments[a]);
            let bits = possible(node, &|a| (maybe[a.0 as usize], graph.node(a).width), &argument);
            maybe.push(bits & ones(node.width));
        }
        let (found, known, out) = (FxHashMap::default(), FxHashMap::default(), Graph::new());
        Projection { contract, graph, inputs, maybe, out, field: 0, found, depth: 0, known }
    }

    /// A node that is made of fields of this number alone.
    pub fn term(&mut self, id: NodeId, field: usize) -> Result<NodeId, String> {
        if self.field != field {
            self.found.clear();
        }
        (self.field, self.depth) = (field, 0);
        self.bits(id, 0, self.graph.width(id))
    }

    /// A field of an output whose elements in memory are `nodes`.
    pub fn field(
        &mut self,
        argument: usize,
        nodes: &[NodeId],
        field: usize,
    ) -> Result<NodeId, String> {
        let a = &self.contract.arguments[argument];
        let (element, bits) = (usize::from(a.memory.element.bits()), usize::from(a.bits));
        (self.field, self.depth) = (field, 0);
        self.found.clear();
        let (mut at, end) = (field * bits, (field + 1) * bits);
        let mut parts = Vec::new();
        while at < end {
            let lo = at % element;
            let width = (element - lo).min(end - at);
            parts.push(self.bits(nodes[at / element], lo as u8, width as u8)?);
            at += width;
        }
        Ok(self.out.concat(&parts))
    }

    /// The inputs of a term: arguments and indices.
    pub fn leaves(&self, root: NodeId) -> Vec<(usize, u32)> {
        leaves(&self.out, root)
    }

    fn bits(&mut self, id: NodeId, lo: u8, w: u8) -> Result<NodeId, String> {
        let region = (self.maybe[id.0 as usize] >> lo) & ones(w);
        let top = 64 - region.leading_zeros() as u8;
        if top == 0 {
            return Ok(self.out.constant(w, 0));
        }
        if top < w {
            let part = self.bits(id, lo, top)?;
            return Ok(self.out.zext(part, w));
        }
        if let Some(&found) = self.found.get(&(id, lo, w)) {
            return Ok(found);
        }
        if let Some(&(argument, c, d)) = self.known.get(&id) {
            let number = self.out.input(64, argument as u16, 0);
            let width = self.graph.width(id);
            let whole = |out: &mut Graph, x: i128| out.constant(width, x as u64 & ones(width));
            let (x, c) = (self.out.slice(number, 0, width), whole(&mut self.out, c));
            let (x, d) = (self.out.mul(x, c), whole(&mut self.out, d));
            let word = self.out.add(x, d);
            return Ok(self.out.slice(word, lo, w));
        }
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("a term of more than {DEPTH} terms in each other"));
        }
        let made = self.take(id, lo, w)?;
        self.depth -= 1;
        self.found.insert((id, lo, w), made);
        Ok(made)
    }

    fn take(&mut self, id: NodeId, lo: u8, w: u8) -> Result<NodeId, String> {
        let graph = self.graph;
        let node = graph.node(id);
        let arg = |i: usize| node.args[i];
        let width = |i: usize| graph.node(node.args[i]).width;
        let maybe = |this: &Self, i: usize| this.maybe[node.args[i].0 as usize];
        // A product with a power of two moves bits.
        if let Op::Mul = node.op {
            for (x, y) in [(0, 1), (1, 0)] {
                if let Op::Const(c) = graph.node(arg(y)).op
                    && c.is_power_of_two()
                {
                    return self.shifted(arg(x), c.trailing_zeros() as u8, lo, w);
                }
            }
        }
        match node.op {
            Op::Const(c) => Ok(self.out.constant(w, (c >> lo) & ones(w))),
            Op::Address { .. } => Err("an address".into()),
            Op::Input { operand, index } => self.input(operand, index, node.width, lo, w),
            Op::Slice { lo: from } => self.bits(arg(0), lo + from, w),
            Op::Concat => {
                let (mut parts, mut at) = (Vec::new(), 0);
                for i in 0..node.args.len() {
                    let (from, to) = (lo.max(at), (lo + w).min(at + width(i)));
                    if from < to {
                        parts.push(self.bits(arg(i), from - at, to - from)?);
                    }
                    at += width(i);
                }
                Ok(self.out.concat(&parts))
            }
            Op::Zext => self.extended(arg(0), width(0), lo, w, false),
            Op::Sext => self.extended(arg(0), width(0), lo, w, true),
            // What is shifted in from above is an extension.
            Op::Lshr(c) => self.extended(arg(0), width(0), lo + c, w, false),
            Op::Ashr(c) => self.extended(arg(0), width(0), lo + c, w, true),
            // A word added to itself is shifted.
            Op::Add if arg(0) == arg(1) => self.shifted(arg(0), 1, lo, w),
            Op::Shl(c) => self.shifted(arg(0), c, lo, w),
            Op::And | Op::Or | Op::Xor => {
                let args = [self.bits(arg(0), lo, w)?, self.bits(arg(1), lo, w)?];
                Ok(self.out.rebuild(w, node.op.clone(), &args))
            }
            Op::Select => {
                let args = [
                    self.bits(arg(0), 0, 1)?,
                    self.bits(arg(1), lo, w)?,
                    self.bits(arg(2), lo, w)?,
                ];
                Ok(self.out.rebuild(w, Op::Select, &args))
            }
            Op::Add | Op::Sub | Op::Mul => {
                let from = match node.op {
                    Op::Add => {
                        let into = carries(maybe(self, 0), maybe(self, 1));
                        (0..=lo).rev().find(|&p| into >> p & 1 == 0).unwrap_or(0)
                    }
                    // Nothing is borrowed from below the lowest bit that is taken away.
                    Op::Sub if maybe(self, 1).trailing_zeros() >= lo.into() => lo,
                    _ => 0,
                };
                let whole = lo + w - from;
                let args = [self.bits(arg(0), from, whole)?, self.bits(arg(1), from, whole)?];
                let node = self.out.rebuild(whole, node.op.clone(), &args);
                Ok(self.out.slice(node, lo - from, w))
            }
            // What fits is not saturated.
            Op::SatU if maybe(self, 0) <= ones(node.width) => self.bits(arg(0), lo, w),
            Op::SatS if maybe(self, 0) <= ones(node.width - 1) => self.bits(arg(0), lo, w),
            Op::Eq | Op::Ult | Op::Slt | Op::SatS | Op::SatU => {
                let args: Result<Vec<NodeId>, String> =
                    (0..node.args.len()).map(|i| self.bits(arg(i), 0, width(i))).collect();
                let node = self.out.rebuild(node.width, node.op.clone(), &args?);
                Ok(self.out.slice(node, lo, w))
            }
        }
    }

    /// Bits of a word shifted left.
    fn shifted(&mut self, id: NodeId, c: u8, lo: u8, w: u8) -> Result<NodeId, String> {
        if lo >= c {
            return self.bits(id, lo - c, w);
        }
        let zeros = (c - lo).min(w);
        let mut parts = vec![self.out.constant(zeros, 0)];
        if zeros < w {
            parts.push(self.bits(id, 0, w - zeros)?);
        }
        Ok(self.out.concat(&parts))
    }

    /// Bits of an extension of a word of `have` bits, however far.
    fn extended(
        &mut self,
        id: NodeId,
        have: u8,
        lo: u8,
        w: u8,
        signed: bool,
    ) -> Result<NodeId, String> {
        if lo + w <= have {
            return self.bits(id, lo, w);
        }
        let from = if lo < have { lo } else { have - 1 };
        if lo >= have && !signed {
            return Ok(self.out.constant(w, 0));
        }
        let part = self.bits(id, from, have - from)?;
        Ok(if have - from == w {
            part
        } else if signed {
            self.out.sext(part, w)
        } else {
            self.out.zext(part, w)
        })
    }

    /// Bits of an element in memory, or of a number.
    fn input(
        &mut self,
        operand: u16,
        index: u32,
        width: u8,
        lo: u8,
        w: u8,
    ) -> Result<NodeId, String> {
        let &argument = self.inputs.get(usize::from(operand)).ok_or("an unknown value")?;
        let a = &self.contract.arguments[argument];
        let own = self.field;
        let rename = |field: usize| if a.any_number() { 0 } else { relative(field, own) };
        if !a.packed() {
            let leaf = self.out.input(width, argument as u16, rename(index as usize));
            return Ok(self.out.slice(leaf, lo, w));
        }
        let bits = usize::from(a.bits);
        let mut at = index as usize * usize::from(width) + usize::from(lo);
        let end = at + usize::from(w);
        let mut parts = Vec::new();
        while at < end {
            let (field, from) = (at / bits, at % bits);
            let part = (bits - from).min(end - at);
            let leaf = self.out.input(a.bits, argument as u16, rename(field));
            parts.push(self.out.slice(leaf, from as u8, part as u8));
            at += part;
        }
        Ok(self.out.concat(&parts))
    }
}

/// A field by its distance from another: 0 for the same, odd before it, even behind.
fn relative(field: usize, own: usize) -> u32 {
    let distance = field.abs_diff(own) as u32;
    if field < own { 2 * distance - 1 } else { 2 * distance }
}

/// The field that [`relative`] numbers.
pub(super) fn absolute(relative: u32, own: usize) -> usize {
    let distance = relative.div_ceil(2) as usize;
    if relative % 2 == 1 { own - distance } else { own + distance }
}

/// What nodes are made of, ascending.
pub(super) fn cone(graph: &Graph, roots: &[NodeId]) -> Vec<NodeId> {
    let mut seen: rustc_hash::FxHashSet<NodeId> = roots.iter().copied().collect();
    let mut cone: Vec<NodeId> = seen.iter().copied().collect();
    let mut next = 0;
    while next < cone.len() {
        let args = graph.node(cone[next]).args.clone();
        cone.extend(args.into_iter().filter(|a| seen.insert(*a)));
        next += 1;
    }
    cone.sort_unstable();
    cone
}

/// The inputs below a term, ascending.
pub(super) fn leaves(graph: &Graph, root: NodeId) -> Vec<(usize, u32)> {
    let (mut seen, mut stack) = (rustc_hash::FxHashSet::default(), vec![root]);
    let mut found = Vec::new();
    while let Some(id) = stack.pop() {
        if seen.insert(id) {
            let node = graph.node(id);
            if let Op::Input { operand, index } = node.op {
                found.push((usize::from(operand), index));
            }
            stack.extend_from_slice(&node.args);
        }
    }
    found.sort_unstable();
    found
}

/// The places that a carry may enter in the sum of two words. The arguments are the bits that may be 1.
fn carries(a: u64, b: u64) -> u64 {
    let mut into = 0u64;
    for p in 0..63 {
        let (x, y, c) = (a >> p & 1, b >> p & 1, into >> p & 1);
        into |= u64::from(x + y + c > 1) << (p + 1);
    }
    into
}

/// The bits of a node that may be 1; above its width they do not matter.
fn possible<'c>(
    node: &Node,
    of: &dyn Fn(NodeId) -> (u64, u8),
    argument: &dyn Fn(u16) -> Option<&'c MapArgument>,
) -> u64 {
    let arg = |i: usize| of(node.args[i]).0;
    let width = |i: usize| of(node.args[i]).1;
    let extended = |i: usize| {
        let (bits, width) = (arg(i), width(i));
        let sign = bits >> (width - 1) & 1;
        if sign == 1 { bits | !ones(width) } else { bits }
    };
    let up_to = |most: u128| {
        if most >> node.width == 0 {
            u64::MAX >> (most as u64).leading_zeros().min(63)
        } else {
            u64::MAX
        }
    };
    match node.op {
        Op::Const(c) => c,
        Op::Input { operand, .. } => match argument(operand) {
            Some(a) if !a.packed() && a.memory.range.0 >= 0 => {
                ones(64 - (a.memory.range.1 as u64).leading_zeros() as u8)
            }
            _ => u64::MAX,
        },
        Op::SatU if arg(0) <= ones(node.width) => arg(0),
        Op::SatS if arg(0) <= ones(node.width - 1) => arg(0),
        Op::Address { .. } | Op::SatS | Op::SatU => u64::MAX,
        Op::Slice { lo } => arg(0) >> lo,
        Op::Concat => {
            let (mut bits, mut at) = (0, 0);
            for i in 0..node.args.len() {
                bits |= arg(i) << at;
                at += width(i);
            }
            bits
        }
        Op::Zext => arg(0),
        Op::Sext => extended(0),
        Op::Lshr(c) => arg(0) >> c,
        Op::Ashr(c) => (extended(0) as i64 >> c) as u64,
        Op::Shl(c) => arg(0) << c,
        Op::And => arg(0) & arg(1),
        Op::Or | Op::Xor => arg(0) | arg(1),
        Op::Select => arg(1) | arg(2),
        Op::Add if node.args[0] == node.args[1] => arg(0) << 1,
        Op::Add => arg(0) | arg(1) | carries(arg(0), arg(1)),
        Op::Sub => arg(0) | !0 << arg(1).trailing_zeros().min(63),
        Op::Mul => {
            let low = arg(0).trailing_zeros() + arg(1).trailing_zeros();
            up_to(u128::from(arg(0)) * u128::from(arg(1))) & u64::MAX.checked_shl(low).unwrap_or(0)
        }
        Op::Eq | Op::Ult | Op::Slt => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use ringforge_machine::eval::Tape;

    #[test]
    fn fields_are_known_by_their_distance() {
        for own in 0..9 {
            let all: Vec<u32> = (0..9).map(|field| relative(field, own)).collect();
            assert!((0..9).all(|field| absolute(all[field], own) == field), "{own}: {all:?}");
            assert!((0..9).all(|field| (all[field] == 0) == (field == own)));
        }
    }

    /// A carry enters a place if some words of these bits have one there.
    #[test]
    fn carries_are_those_of_all_words() {
        for a in 0..32u64 {
            for b in 0..32u64 {
                let mut into = 0;
                for x in (0..32).filter(|x| x & !a == 0) {
                    for y in (0..32).filter(|y| y & !b == 0) {
                        into |= (x + y) ^ x ^ y;
                    }
                }
                assert_eq!(carries(a, b), into, "{a:b} {b:b}");
            }
        }
    }

    const TEXT: &str = "
        contract = 1
        symbol = \"f\"
        abi = \"sysv-x86-64\"
        computes = \"map\"
        [[argument]]
        name = \"c\"
        role = \"output\"
        element = \"u16\"
        length = 8
        range = [0, 9]
        formula = \"a\"
        [[argument]]
        name = \"a\"
        role = \"input\"
        element = \"u16\"
        length = 8
        range = [0, 77]
        [[argument]]
        name = \"b\"
        role = \"input\"
        element = \"i16\"
        length = 8
        range = [-1, 3]
        [[argument]]
        name = \"p\"
        role = \"input\"
        element = \"u8\"
        bits = 5
        length = 8
        range = [0, 3]
    ";

    /// A node over earlier ones.
    fn random(rng: &mut StdRng, graph: &mut Graph) -> NodeId {
        let mut any = |graph: &Graph| NodeId(rng.random_range(0..graph.len() as u32));
        let (x, other) = (any(graph), any(graph));
        let w = graph.width(x);
        let alike = (0..graph.len() as u32).map(NodeId).filter(|y| graph.width(*y) == w);
        let alike: Vec<NodeId> = alike.collect();
        let y = alike[rng.random_range(0..alike.len())];
        let (c, more) = (rng.random_range(0..w), rng.random_range(1..9));
        let (wider, less) = ((w + more).min(64), rng.random_range(1..=w - c));
        let one = |width, op| (width, op, vec![x]);
        let two = |width, op| (width, op, vec![x, y]);
        let (width, op, args) = match rng.random_range(0..22) {
            0 => one(less, Op::Slice { lo: c }),
            1 if w + graph.width(other) <= 64 => {
                (w + graph.width(other), Op::Concat, vec![x, other])
            }
            2 | 3 if w < 64 => one(wider, Op::Sext),
            4 if w < 64 => one(wider, Op::Zext),
            5 => one(w, Op::Shl(c)),
            6 => one(w, Op::Lshr(c)),
            7 => one(w, Op::Ashr(c)),
            8 => two(w, Op::And),
            9 => two(w, Op::Or),
            10 => two(w, Op::Xor),
            11 | 12 => two(w, Op::Add),
            13 => two(w, Op::Sub),
            14 => two(w, Op::Mul),
            15 => two(1, [Op::Eq, Op::Ult, Op::Slt][usize::from(more) % 3].clone()),
            16 if graph.width(other) == 1 => (w, Op::Select, vec![other, x, y]),
            17 if w > 1 => one(less.min(w - 1), Op::SatS),
            18 if w > 1 => one(less.min(w - 1), Op::SatU),
            19 => (w, Op::Add, vec![x, x]),
            kind => {
                let all = ones(w);
                let value = [1 << c, !(1 << c), 3 << c, rng.random()][usize::from(more) % 4];
                let constant =
                    Node { width: w, op: Op::Const(value & all), args: Vec::new().into() };
                let constant = graph.intern(constant, None);
                let op = if kind == 20 { Op::Mul } else { Op::And };
                (w, op, if c % 2 == 0 { vec![x, constant] } else { vec![constant, x] })
            }
        };
        graph.intern(Node { width, op, args: args.into() }, None)
    }

    /// 2^31 times 2^32 is the highest bit, though the greatest product is beyond it.
    #[test]
    fn products_may_have_bits_below_what_they_lose() {
        let contract = MapContract::parse(TEXT).unwrap_or_else(|e| panic!("{e}"));
        let mut graph = Graph::new();
        let factors = [0, 1].map(|index| {
            let x = graph.input(16, 0, index);
            let (low, zeros) = (graph.slice(x, 0, 2), graph.constant(31, 0));
            let high = graph.constant(31, 0);
            let args = [zeros, low, high].into_iter().collect();
            graph.intern(Node { width: 64, op: Op::Concat, args }, None)
        });
        let product = Node { width: 64, op: Op::Mul, args: factors.to_vec().into() };
        let product = graph.intern(product, None);
        let zero = graph.constant(64, 0);
        let args = vec![zero, factors[0]].into();
        let negative = graph.intern(Node { width: 64, op: Op::Sub, args }, None);
        let outputs = vec![vec![product, negative]];
        let case = MapCase { name: String::new(), outputs, result: None, certain: true };
        let projection = Projection::new(&contract, &graph, &case);
        assert_eq!(projection.maybe[product.0 as usize] >> 62, 3);
        assert_eq!(projection.maybe[negative.0 as usize] >> 31, ones(33));
    }

    /// A region of a node is what the node has there, and a bit that is said to be zero is.
    #[test]
    fn regions_are_those_of_the_nodes() {
        let contract = MapContract::parse(TEXT).unwrap_or_else(|e| panic!("{e}"));
        let mut rng = StdRng::seed_from_u64(3);
        for _ in 0..200 {
            let mut graph = Graph::new();
            for index in 0..3 {
                for (operand, width) in [(0, 16), (1, 16), (2, 8)] {
                    graph.input(width, operand, index);
                }
            }
            for _ in 0..30 {
                random(&mut rng, &mut graph);
            }
            let all: Vec<NodeId> = (0..graph.len() as u32).map(NodeId).collect();
            let outputs = vec![all.clone()];
            let case = MapCase { name: String::new(), outputs, result: None, certain: true };
            let mut projection = Projection::new(&contract, &graph, &case);
            projection.field = rng.random_range(0..4);
            let mut regions = Vec::new();
            for &id in &all {
                let w = graph.width(id);
                for _ in 0..3 {
                    let lo = rng.random_range(0..w);
                    let w = rng.random_range(1..=w - lo);
                    regions.push((id, lo, w, projection.bits(id, lo, w).expect("no address")));
                }
            }
            let roots: Vec<NodeId> = regions.iter().map(|r| r.3).collect();
            let (nodes, terms) = (Tape::new(&graph, &all), Tape::new(&projection.out, &roots));
            let (nodes, terms) = (nodes.expect("no address"), terms.expect("no address"));
            for _ in 0..8 {
                let fields: Vec<Vec<i64>> = [(0, 77), (-1, 3), (0, 3)]
                    .map(|(lo, hi)| (0..8).map(|_| rng.random_range(lo..=hi)).collect())
                    .into();
                let values = nodes.run(|operand, index| {
                    let fields = &fields[usize::from(operand)];
                    if operand < 2 {
                        return fields[index as usize] as u64;
                    }
                    fields.iter().rev().fold(0, |all, f| all << 5 | *f as u64) >> (8 * index)
                });
                let own = projection.field;
                let found = terms.run(|argument, index| {
                    fields[usize::from(argument) - 1][absolute(index, own)] as u64
                });
                for (&(id, lo, w, _), found) in regions.iter().zip(found) {
                    let value = values[id.0 as usize];
                    let node = graph.node(id);
                    assert_eq!(found, value >> lo & ones(w), "{node:?} from {lo}, {w} bits");
                    assert_eq!(value & !projection.maybe[id.0 as usize], 0, "{node:?}");
                }
            }
        }
    }
}
