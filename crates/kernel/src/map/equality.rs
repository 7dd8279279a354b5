//! Results that say whether two arrays are equal.
//!
//! **Statement.** The kernel shows that a word y is zero if and only if all bits of the two arrays agree. Let the result
//! be a function of y alone. Let it be what the contract says of equal arrays at y = 0, and what the contract says of
//! others at every other y. Then the result says whether the arrays are equal.
//!
//! Structure shows that a region of bits is zero if and only if a set of pairs of bits agree. This holds of an exclusive
//! or of the same bits of both arrays, and of the low bits of their difference. An or unites the sets of its arguments.
//! Slices, extensions, shifts and words side by side move regions.

use super::judge::{Judge, No};
use super::project::{Projection, leaves, ones};
use ringforge_contract::contract::{Argument, Element, Role};
use ringforge_contract::map::formula::Formula;
use ringforge_contract::map::{MapArgument, MapContract, MapKind, Returns};
use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Pairs of bits, a bit each.
type Set = Rc<Vec<u64>>;
/// Regions in each other.
const DEPTH: usize = 2500;

/// Finds what words are zero for equal arrays alone.
struct Pairs<'a> {
    graph: &'a Graph,
    maybe: &'a [u64],
    /// Operands of the arrays, and bits of their elements.
    operands: [u16; 2],
    bits: usize,
    /// Words of a set.
    words: usize,
    found: FxHashMap<(NodeId, u8, u8), Option<Set>>,
    depth: usize,
}

/// A bit: of an array (0 or 1) at a place, or nothing but zero.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bit {
    Of(usize, usize),
    Zero,
}

impl Pairs<'_> {
    /// The pairs that agree if and only if the bits `[lo, lo + w)` of a node are zero.
    fn zero(&mut self, id: NodeId, lo: u8, w: u8) -> Option<Set> {
        let region = (self.maybe[id.0 as usize] >> lo) & ones(w);
        let top = 64 - region.leading_zeros() as u8;
        if top == 0 {
            return Some(Rc::new(vec![0; self.words]));
        }
        if top < w {
            return self.zero(id, lo, top);
        }
        if let Some(found) = self.found.get(&(id, lo, w)) {
            return found.clone();
        }
        if self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let found = self.take(id, lo, w);
        self.depth -= 1;
        self.found.insert((id, lo, w), found.clone());
        found
    }

    fn union(&mut self, parts: &[(NodeId, u8, u8)]) -> Option<Set> {
        let mut all = vec![0; self.words];
        for &(id, lo, w) in parts {
            let set = self.zero(id, lo, w)?;
            all.iter_mut().zip(&*set).for_each(|(a, s)| *a |= s);
        }
        Some(Rc::new(all))
    }

    fn take(&mut self, id: NodeId, lo: u8, w: u8) -> Option<Set> {
        let graph = self.graph;
        let node = graph.node(id);
        let arg = |i: usize| node.args[i];
        let width = |i: usize| graph.node(node.args[i]).width;
        match node.op {
            Op::Or => self.union(&[(arg(0), lo, w), (arg(1), lo, w)]),
            Op::Xor => {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                if self.plain(arg(0), lo, w, &mut x).is_some()
                    && self.plain(arg(1), lo, w, &mut y).is_some()
                {
                    return self.pairs(&x, &y);
                }
                // Nothing but one of the two is there.
                let none = |this: &Self, i: usize| {
                    this.maybe[node.args[i].0 as usize] >> lo & ones(w) == 0
                };
                match (none(self, 0), none(self, 1)) {
                    (true, _) => self.zero(arg(1), lo, w),
                    (_, true) => self.zero(arg(0), lo, w),
                    _ => None,
                }
            }
            // The low bits of a difference are zero for the same low bits.
            Op::Sub if lo == 0 => {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                self.plain(arg(0), 0, w, &mut x)?;
                self.plain(arg(1), 0, w, &mut y)?;
                self.pairs(&x, &y)
            }
            Op::And => {
                let all = |i: usize| matches!(graph.node(node.args[i]).op, Op::Const(c) if c >> lo & ones(w) == ones(w));
                match (all(0), all(1)) {
                    (true, _) => self.zero(arg(1), lo, w),
                    (_, true) => self.zero(arg(0), lo, w),
                    _ => None,
                }
            }
            _ => {
                let parts = parts(node, &width, lo, w)?;
                self.union(&parts)
            }
        }
    }

    /// The pairs that agree if and only if two rows of bits are equal.
    fn pairs(&self, x: &[Bit], y: &[Bit]) -> Option<Set> {
        let mut set = vec![0u64; self.words];
        for (x, y) in x.iter().zip(y) {
            match (x, y) {
                (Bit::Zero, Bit::Zero) => {}
                (Bit::Of(a, p), Bit::Of(b, q)) if a != b && p == q => set[p / 64] |= 1 << (p % 64),
                _ => return None,
            }
        }
        Some(Rc::new(set))
    }

    /// The bits of a region, if they are bits of the arrays or zero.
    fn plain(&mut self, id: NodeId, lo: u8, w: u8, out: &mut Vec<Bit>) -> Option<()> {
        let graph = self.graph;
        let node = graph.node(id);
        if self.maybe[id.0 as usize] >> lo & ones(w) == 0 {
            out.extend((0..w).map(|_| Bit::Zero));
            return Some(());
        }
        if let Op::Input { operand, index } = node.op {
            let array = self.operands.iter().position(|o| *o == operand)?;
            let first = index as usize * self.bits + usize::from(lo);
            out.extend((0..usize::from(w)).map(|i| Bit::Of(array, first + i)));
            return Some(());
        }
        if matches!(node.op, Op::Sext | Op::Ashr(_)) {
            return None;
        }
        let width = |i: usize| graph.node(node.args[i]).width;
        let start = out.len();
        let below = match node.op {
            Op::Shl(c) => c.saturating_sub(lo).min(w),
            _ => 0,
        };
        out.extend((0..below).map(|_| Bit::Zero));
        for (id, lo, w) in parts(node, &width, lo, w)? {
            self.plain(id, lo, w, out)?;
        }
        // What is left above is an extension's.
        out.resize(start + usize::from(w), Bit::Zero);
        Some(())
    }
}

/// Where the bits of a region are moved from, in order: all of them, but for zeros and copies of those that are there.
fn parts(
    node: &ringforge_machine::graph::Node,
    width: &dyn Fn(usize) -> u8,
    lo: u8,
    w: u8,
) -> Option<Vec<(NodeId, u8, u8)>> {
    let arg = |i: usize| node.args[i];
    // Of an extension of a word of `have` bits.
    let extended = |lo: u8, signed: bool| {
        let have = width(0);
        if lo < have {
            vec![(arg(0), lo, w.min(have - lo))]
        } else if signed {
            vec![(arg(0), have - 1, 1)]
        } else {
            Vec::new()
        }
    };
    Some(match node.op {
        Op::Slice { lo: from } => vec![(arg(0), lo + from, w)],
        Op::Zext => extended(lo, false),
        Op::Sext => extended(lo, true),
        Op::Lshr(c) => extended(lo + c, false),
        Op::Ashr(c) => extended(lo + c, true),
        Op::Shl(c) if lo >= c => vec![(arg(0), lo - c, w)],
        Op::Shl(c) if c - lo >= w => Vec::new(),
        Op::Shl(c) => vec![(arg(0), 0, w - (c - lo))],
        Op::Concat => {
            let (mut parts, mut at) = (Vec::new(), 0);
            for i in 0..node.args.len() {
                let (from, to) = (lo.max(at), (lo + w).min(at + width(i)));
                if from < to {
                    parts.push((arg(i), from - at, to - from));
                }
                at += width(i);
            }
            parts
        }
        _ => return None,
    })
}

/// Checks that `result` says whether the two arrays of the contract are equal; how many points were looked at.
///
/// # Errors
/// Why that is not shown.
pub(super) fn check(
    contract: &MapContract,
    projection: &Projection,
    graph: &Graph,
    result: NodeId,
    budget: u64,
) -> Result<u64, String> {
    let returns = contract.returns().ok_or("no result")?;
    let compared = contract.compared();
    let inputs = contract.inputs();
    let operand = |i: usize| inputs.iter().position(|&x| x == i).map(|o| o as u16);
    let (Some(x), Some(y)) = (operand(compared[0]), operand(compared[1])) else {
        return Err("no arrays".into());
    };
    let array = &contract.arguments[compared[0]];
    let (bits, all) = (usize::from(array.bits), usize::from(array.bits) * array.length);
    let words = all.div_ceil(64);
    let mut pairs = Pairs {
        graph,
        maybe: &projection.maybe,
        operands: [x, y],
        bits,
        words,
        found: FxHashMap::default(),
        depth: 0,
    };
    let whole = |set: &Set| (0..all).all(|p| set[p / 64] >> (p % 64) & 1 == 1);
    // Words that the result is made of, the latest first: one of them alone must say all.
    let mut cone = vec![result];
    let mut seen = rustc_hash::FxHashSet::from_iter([result]);
    let mut next = 0;
    while next < cone.len() {
        let args = graph.node(cone[next]).args.clone();
        cone.extend(args.into_iter().filter(|a| seen.insert(*a)));
        next += 1;
    }
    cone.sort_unstable();
    let mut open = "no word of it is zero if and only if the arrays are equal".to_string();
    // From the earliest: what comes after it needs the fewest cases.
    for &id in &cone {
        if pairs.zero(id, 0, graph.width(id)).is_none_or(|set| !whole(&set)) {
            continue;
        }
        match function(returns, projection, graph, &cone, id, result, budget) {
            Ok(points) => return Ok(points),
            Err(why) => open = why,
        }
    }
    Err(open)
}

/// Whether the result is the right function of one of its words, at every value of that.
fn function(
    returns: Returns,
    projection: &Projection,
    graph: &Graph,
    cone: &[NodeId],
    word: NodeId,
    result: NodeId,
    budget: u64,
) -> Result<u64, String> {
    let width = graph.width(word);
    let top = 64 - projection.maybe[word.0 as usize].leading_zeros() as u8;
    if top > 48 {
        return Err("the word that says whether the arrays are equal has more than 48 bits".into());
    }
    let mut out = Graph::new();
    let mut new: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    for &id in cone {
        let node = graph.node(id);
        let made = if id == word {
            let leaf = out.input(top, 0, 0);
            if top < width { out.zext(leaf, width) } else { leaf }
        } else if let Op::Input { operand, index } = node.op {
            // One that is left over is found below.
            out.input(node.width, operand + 1, index)
        } else if matches!(node.op, Op::Address { .. }) {
            return Err("an address".into());
        } else {
            let args: Vec<NodeId> = node.args.iter().map(|a| new[a]).collect();
            if let Op::Const(c) = node.op {
                out.constant(node.width, c)
            } else {
                out.rebuild(node.width, node.op.clone(), &args)
            }
        };
        new.insert(id, made);
    }
    let mut root = new[&result];
    if leaves(&out, root).iter().any(|l| l.0 != 0) {
        return Err("the result depends on more than one word".into());
    }
    let (formula, element) = match returns.different {
        Some(different) => (
            format!("y == 0 ? 0 + {} : 0 + {}", signed(returns.equal), signed(different)),
            returns.element,
        ),
        None => {
            let equal = out.constant(out.width(root), returns.equal as u64 & ones(out.width(root)));
            let bit = out.eq(root, equal);
            root = out.zext(bit, 8);
            ("y == 0".to_string(), Element::U8)
        }
    };
    let formula = Formula::parse(&formula, &["y"]).map_err(|e| e.1)?;
    let argument = |name: &str, role: Role, element: Element, range: (i64, i64)| Argument {
        name: name.into(),
        role,
        element,
        length: 1,
        align: 1,
        range,
        exit: range,
        values: Vec::new(),
    };
    let input = argument("y", Role::Number, Element::U32, (0, ones(top) as i64));
    let output = argument("result", Role::Output, element, element.range());
    let of = |memory: Argument, bits: u8, formula| MapArgument {
        memory,
        bits,
        length: 1,
        formula,
        modulo: None,
    };
    let contract = MapContract {
        symbol: String::new(),
        abi: ringforge_contract::contract::Abi::SysVX8664,
        arguments: vec![of(input, 64, None), of(output, element.bits(), Some(formula))],
        alias: Vec::new(),
        computes: MapKind::Map,
        given: Vec::new(),
        given_sections: Vec::new(),
    };
    let mut judge = Judge::new(&contract, budget);
    match judge.decide(&mut out, root, 1) {
        Ok(()) => Ok(judge.points),
        Err(No::Open(why)) => Err(why),
        Err(No::Wrong(_)) => {
            Err("the result is not what it should be at some value of that word".into())
        }
    }
}

fn signed(x: i64) -> String {
    format!("({x})")
}
