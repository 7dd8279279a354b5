//! The expression graph that lifting produces: hash-consed bit-vector terms.
//!
//! Every architecture's semantics decomposes its instructions into this one small set of
//! operations, so `prove` has few cases. Rounding, saturation and upper halves are easy to get
//! wrong; each such instruction is written out in the architecture's own module.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Index of a node in its [`Graph`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// One operation. Arguments stand in [`Node::args`]; widths are in bits, at most 64.
///
/// Unless said otherwise the arguments and the result share one width and arithmetic is
/// modulo 2^width.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A constant, its bits above the width zero.
    Const(u64),
    /// An element of an input array.
    Input {
        /// The array, as the caller numbered it.
        operand: u16,
        /// The element in it.
        index: u32,
    },
    /// An address, as wide as the processor's registers (64 or 32 bits).
    Address {
        /// The region pointed into, numbered by the lift that made the node.
        region: u16,
        /// Offset in bytes from the region's start.
        offset: i64,
    },
    /// Bits `[lo, lo + width)` of the argument.
    Slice {
        /// The lowest bit taken.
        lo: u8,
    },
    /// The arguments side by side, the first in the lowest bits.
    Concat,
    /// Sign extension of a narrower argument.
    Sext,
    /// Zero extension of a narrower argument.
    Zext,
    /// Sum of two arguments.
    Add,
    /// First argument minus the second.
    Sub,
    /// Low half of the product of two arguments.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left by a constant below the width.
    Shl(u8),
    /// Logical shift right by a constant below the width.
    Lshr(u8),
    /// Arithmetic shift right by a constant below the width.
    Ashr(u8),
    /// Equality of two arguments of one width; result of width 1.
    Eq,
    /// Unsigned less-than; result of width 1.
    Ult,
    /// Signed less-than; result of width 1.
    Slt,
    /// `args[0]` (width 1) chooses `args[1]` when 1, `args[2]` when 0.
    Select,
    /// Signed saturation of a wider signed argument to the node's width.
    SatS,
    /// Unsigned saturation of a wider *signed* argument to the node's width.
    SatU,
}

/// A term: an operation, its width in bits and its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    /// Width of the result in bits, 1 to 64.
    pub width: u8,
    /// What is computed.
    pub op: Op,
    /// Arguments, always nodes with smaller ids.
    pub args: SmallVec<[NodeId; 3]>,
}

/// A hash-consed arena of nodes. Arguments precede their users, so ids are a topological order.
#[derive(Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Address (section offset) of the instruction that first made the node; `u64::MAX` if none.
    origin: Vec<u64>,
    /// Whether the term depends on an address.
    pointer: Vec<bool>,
    /// Whether the term depends on an unknown.
    vague: Vec<bool>,
    index: Index,
    /// Recorded as the origin of nodes made by the folding constructors.
    at: Option<u64>,
    /// Whether nothing is kept of what depends on inputs.
    blind: bool,
    /// The unknown of each width, once made.
    unknowns: Vec<Option<NodeId>>,
    /// Whether addresses that are made have 32 bits.
    short: bool,
    /// The constants and addresses asked for last. Each is at a place computed from its value: most
    /// are asked for again soon.
    leaves: Vec<Leaf>,
}

/// A constant or an address, and its node.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Leaf {
    width: u8,
    /// The region; [`None`] for constants.
    region: Option<u16>,
    /// The constant, or the offset.
    value: u64,
    id: NodeId,
}

/// How many leaves are remembered: a power of two.
const LEAVES: usize = 1 << 10;

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }
    /// An empty graph that keeps no terms over inputs. Whatever depends on an input is *unknown*,
    /// with one node for each width; bytes concatenated with it that depend on no input stay known.
    /// Constants and addresses are computed as usual. The graph stays small however long the
    /// computation is. It gives [`crate::lift`] what it needs for control flow and memory, but no
    /// values.
    ///
    /// Two unknowns of one width are one node and need not be equal, so no rule may conclude
    /// anything from their being the same node: see [`Graph::same`].
    pub fn blind() -> Self {
        Graph { blind: true, ..Graph::default() }
    }
    /// Whether the node depends on an unknown (in a [`Graph::blind`] graph).
    pub fn is_vague(&self, id: NodeId) -> bool {
        self.vague[id.0 as usize]
    }
    /// Bits of the addresses that [`Graph::address`] makes: 64, or 32.
    pub fn address_width(&self) -> u8 {
        if self.short { 32 } else { 64 }
    }
    /// Addresses that are made from here on have that many bits, 32 or 64.
    pub(crate) fn set_address_width(&mut self, bits: u8) {
        debug_assert!([32, 64].contains(&bits));
        self.short = bits == 32;
    }
    /// Whether two nodes surely have one value.
    pub fn same(&self, a: NodeId, b: NodeId) -> bool {
        a == b && !self.is_vague(a)
    }
    /// Any value whatever of `width` bits.
    pub(crate) fn unknown(&mut self, width: u8) -> NodeId {
        let at = usize::from(width);
        if let Some(&Some(id)) = self.unknowns.get(at) {
            return id;
        }
        let op = Op::Input { operand: u16::MAX, index: 0 };
        let id = self.intern(Node { width, op, args: SmallVec::new() }, None);
        self.unknowns.resize(65, None);
        self.unknowns[at] = Some(id);
        id
    }
    /// Whether nothing at all is known of the node.
    pub(crate) fn is_unknown(&self, id: NodeId) -> bool {
        self.vague[id.0 as usize] && matches!(self.nodes[id.0 as usize].op, Op::Input { .. })
    }
    /// Whether nothing is kept of what is made of unknowns.
    pub(crate) fn is_blind(&self) -> bool {
        self.blind
    }
    /// The node behind an id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Whether the graph has no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// Address of the instruction that first made the node, where one did.
    pub fn origin(&self, id: NodeId) -> Option<u64> {
        Some(self.origin[id.0 as usize]).filter(|&a| a != u64::MAX)
    }
    /// Sets the address that the folding constructors (see [`crate::fold`]) record as origin.
    pub fn set_origin(&mut self, address: Option<u64>) {
        self.at = address;
    }
    /// The address set by [`Graph::set_origin`].
    pub fn current_origin(&self) -> Option<u64> {
        self.at
    }
    /// Whether the node depends on an address, so that it does not represent a number.
    pub fn has_address(&self, id: NodeId) -> bool {
        self.pointer[id.0 as usize]
    }
    /// Whether an input, or an unknown, stands at or below the term.
    pub fn has_input(&self, id: NodeId) -> bool {
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if matches!(self.node(id).op, Op::Input { .. }) {
                return true;
            }
            if seen.insert(id) {
                stack.extend_from_slice(&self.node(id).args);
            }
        }
        false
    }
    /// The node of a constant or an address, found without the index if it was asked for a moment ago.
    pub(crate) fn leaf(&mut self, width: u8, region: Option<u16>, value: u64) -> NodeId {
        debug_assert!((1..=64).contains(&width));
        let mixed = value ^ value >> 10 ^ region.map_or(0, |r| u64::from(r) << 6 | 1 << 5);
        let at = (mixed ^ u64::from(width)) as usize % LEAVES;
        if let Some(leaf) = self.leaves.get(at)
            && (leaf.width, leaf.region, leaf.value) == (width, region, value)
        {
            return leaf.id;
        }
        let op = match region {
            Some(region) => Op::Address { region, offset: value as i64 },
            None => Op::Const(value),
        };
        let id = self.intern(Node { width, op, args: SmallVec::new() }, self.at);
        if self.leaves.is_empty() {
            // No node is so wide.
            self.leaves.resize(LEAVES, Leaf { width: u8::MAX, region: None, value: 0, id });
        }
        self.leaves[at] = Leaf { width, region, value, id };
        id
    }
    /// Interns a node as it stands, without folding.
    pub fn intern(&mut self, node: Node, origin: Option<u64>) -> NodeId {
        let hash = hash(&node);
        if let Some(id) = self.index.find(hash, |id| self.nodes[id as usize] == node) {
            return NodeId(id);
        }
        let id = NodeId(self.nodes.len() as u32);
        let pointer = matches!(node.op, Op::Address { .. })
            || node.args.iter().any(|a| self.pointer[a.0 as usize]);
        self.pointer.push(pointer);
        let vague = self.blind
            && (matches!(node.op, Op::Input { .. })
                || node.args.iter().any(|a| self.vague[a.0 as usize]));
        self.vague.push(vague);
        self.index.insert(hash, id.0);
        self.nodes.push(node);
        self.origin.push(origin.unwrap_or(u64::MAX));
        id
    }
}

/// Node ids by hash, open addressing: half the size of a map from nodes, and mixed better than a
/// multiplicative hash mixes consecutive ids.
#[derive(Default)]
struct Index {
    /// Hash's upper half and id plus one; 0 is free. A power of two, at most half full.
    slots: Vec<u64>,
    used: usize,
}

impl Index {
    fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            let slot = self.slots[at];
            if slot >> 32 == hash >> 32 && same(slot as u32 - 1) {
                return Some(slot as u32 - 1);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn insert(&mut self, hash: u64, id: u32) {
        if 2 * (self.used + 1) > self.slots.len() {
            let bigger = vec![0; (2 * self.slots.len()).max(1024)];
            let old = std::mem::replace(&mut self.slots, bigger);
            // Positions come from the lower half of a hash, which is the upper half mixed again.
            old.into_iter().filter(|&s| s != 0).for_each(|s| self.place(s));
        }
        self.place((hash >> 32) << 32 | u64::from(id + 1));
        self.used += 1;
    }

    fn place(&mut self, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut at = spread(slot >> 32) as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}

/// A hash whose lower half is determined by its upper half, so that a table can grow from what it
/// stores.
fn hash(node: &Node) -> u64 {
    let (code, value) = match node.op {
        Op::Const(v) => (0, v),
        Op::Input { operand, index } => (1, u64::from(operand) << 32 | u64::from(index)),
        Op::Address { region, offset } => (2, (offset as u64) ^ u64::from(region) << 48),
        Op::Slice { lo } => (3, u64::from(lo)),
        Op::Concat => (4, 0),
        Op::Sext => (5, 0),
        Op::Zext => (6, 0),
        Op::Add => (7, 0),
        Op::Sub => (8, 0),
        Op::Mul => (9, 0),
        Op::And => (10, 0),
        Op::Or => (11, 0),
        Op::Xor => (12, 0),
        Op::Shl(c) => (13, u64::from(c)),
        Op::Lshr(c) => (14, u64::from(c)),
        Op::Ashr(c) => (15, u64::from(c)),
        Op::Eq => (16, 0),
        Op::Ult => (17, 0),
        Op::Slt => (18, 0),
        Op::Select => (19, 0),
        Op::SatS => (20, 0),
        Op::SatU => (21, 0),
    };
    let mut h = spread(value ^ (code << 8 | u64::from(node.width)) << 40);
    for a in &node.args {
        h = spread(h ^ u64::from(a.0)).wrapping_add(h.rotate_left(23));
    }
    let upper = h >> 32;
    upper << 32 | spread(upper) & 0xffff_ffff
}

/// Mixes all bits into all bits.
fn spread(x: u64) -> u64 {
    let x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ x >> 32
}
