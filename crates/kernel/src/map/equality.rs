//! Results that say whether two arrays are equal.
//!
//! **Statement.** The kernel shows that a word y is some number if and only if all bits of the two arrays agree. That number
//! is zero, or has all bits set. Let the result be a function of y alone. Let it be what the contract says of equal arrays
//! at that number, and what the contract says of others at every other y. Then the result says whether the arrays are equal.
//!
//! Structure shows that a region of bits is zero, or all ones, if and only if a set of pairs of bits agree:
//!
//! - an exclusive or of the same bits of both arrays is zero, and so are the low bits of their difference;
//! - a comparison of the same bits of both arrays is one, and so is that of a region with zero;
//! - an or is zero if its arguments are, and so is a sum that does not wrap; an and is all ones if they are;
//!   each unites their sets;
//! - a complement is zero where its argument is all ones;
//! - a selection of two constants is what its condition says;
//! - slices, extensions, shifts and words side by side move regions.
//!
//! The result as a function of y is decided by a diagram of its bits (`diagram.rs`), for all y.

use super::diagram::tells;
use super::project::{Projection, cone, leaves, ones};
use ringforge_contract::map::{MapContract, Returns};
use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Pairs of bits, a bit each.
type Set = Rc<Vec<u64>>;
/// Regions in each other.
const DEPTH: usize = 2500;

/// Finds what words are zero, or have all bits set, for equal arrays alone.
struct Pairs<'a> {
    graph: &'a Graph,
    maybe: &'a [u64],
    /// Operands of the arrays, and bits of their elements.
    operands: [u16; 2],
    bits: usize,
    /// Words of a set.
    words: usize,
    found: FxHashMap<(NodeId, u8, u8, bool), Option<Set>>,
    depth: usize,
}

/// A bit: of an array (0 or 1) at a place, or nothing but zero.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bit {
    Of(usize, usize),
    Zero,
}

impl Pairs<'_> {
    /// The pairs that agree if and only if the bits `[lo, lo + w)` of a node are all ones, or all zero.
    fn all(&mut self, id: NodeId, lo: u8, w: u8, one: bool) -> Option<Set> {
        let region = self.region(id, lo, w);
        let top = 64 - region.leading_zeros() as u8;
        match one {
            false if top == 0 => return Some(Rc::new(vec![0; self.words])),
            false if top < w => return self.all(id, lo, top, one),
            true if region != ones(w) => return None,
            _ => {}
        }
        if let Some(found) = self.found.get(&(id, lo, w, one)) {
            return found.clone();
        }
        if self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let found = self.take(id, lo, w, one);
        self.depth -= 1;
        self.found.insert((id, lo, w, one), found.clone());
        found
    }

    /// The bits of a region that may be set.
    fn region(&self, id: NodeId, lo: u8, w: u8) -> u64 {
        self.maybe[id.0 as usize] >> lo & ones(w)
    }

    fn union(&mut self, parts: &[(NodeId, u8, u8)], one: bool) -> Option<Set> {
        let mut all = vec![0; self.words];
        for &(id, lo, w) in parts {
            let set = self.all(id, lo, w, one)?;
            all.iter_mut().zip(&*set).for_each(|(a, s)| *a |= s);
        }
        Some(Rc::new(all))
    }

    fn take(&mut self, id: NodeId, lo: u8, w: u8, one: bool) -> Option<Set> {
        let graph = self.graph;
        let node = graph.node(id);
        let arg = |i: usize| node.args[i];
        let width = |i: usize| graph.node(node.args[i]).width;
        // A region of an argument, where that is constant.
        let constant = |i: usize, lo: u8, w: u8| match graph.node(node.args[i]).op {
            Op::Const(c) => Some(c >> lo & ones(w)),
            _ => None,
        };
        match (&node.op, one) {
            (Op::Const(_), true) => {
                let set = graph.value(id).is_some_and(|c| c >> lo & ones(w) == ones(w));
                set.then(|| Rc::new(vec![0; self.words]))
            }
            (Op::Or, false) | (Op::And, true) => {
                self.union(&[(arg(0), lo, w), (arg(1), lo, w)], one)
            }
            // One of the two is nothing, or leaves the other as it is.
            (Op::Or, true) => match [0, 1].map(|i| self.region(arg(i), lo, w) == 0) {
                [true, _] => self.all(arg(1), lo, w, one),
                [_, true] => self.all(arg(0), lo, w, one),
                _ => None,
            },
            (Op::And, false) => match [0, 1].map(|i| constant(i, lo, w) == Some(ones(w))) {
                [true, _] => self.all(arg(1), lo, w, one),
                [_, true] => self.all(arg(0), lo, w, one),
                _ => None,
            },
            (Op::Xor, _) => {
                for (i, other) in [(0, 1), (1, 0)] {
                    if constant(i, lo, w) == Some(ones(w)) {
                        return self.all(arg(other), lo, w, !one);
                    }
                    if self.region(arg(i), lo, w) == 0 {
                        return self.all(arg(other), lo, w, one);
                    }
                }
                if one { None } else { self.same(arg(0), arg(1), lo, w) }
            }
            // The low bits of a difference are zero for the same low bits.
            (Op::Sub, false) if lo == 0 => match constant(0, 0, w) {
                Some(0) => self.all(arg(1), 0, w, false),
                _ => self.same(arg(0), arg(1), 0, w),
            },
            // Neither wraps, nor is anything of it outside of the region.
            (Op::Add, false) if lo == 0 => {
                let most = [0, 1].map(|i| self.maybe[arg(i).0 as usize]);
                let fits = most[0].checked_add(most[1]).is_some_and(|sum| sum <= ones(w));
                if fits { self.union(&[(arg(0), 0, w), (arg(1), 0, w)], false) } else { None }
            }
            (Op::Eq, true) => {
                let all = width(0);
                for (i, other) in [(0, 1), (1, 0)] {
                    match constant(i, 0, all) {
                        Some(0) => return self.all(arg(other), 0, all, false),
                        Some(c) if c == ones(all) => return self.all(arg(other), 0, all, true),
                        _ => {}
                    }
                }
                self.same(arg(0), arg(1), 0, all)
            }
            // Less than one, and not greater than zero.
            (Op::Ult, true) if constant(1, 0, width(1)) == Some(1) => {
                self.all(arg(0), 0, width(0), false)
            }
            (Op::Ult, false) if constant(0, 0, width(0)) == Some(0) => {
                self.all(arg(1), 0, width(1), false)
            }
            (Op::Select, _) => {
                let want = if one { ones(w) } else { 0 };
                match [1, 2].map(|i| constant(i, lo, w).map(|c| c == want)) {
                    [Some(true), Some(false)] => self.all(arg(0), 0, 1, true),
                    [Some(false), Some(true)] => self.all(arg(0), 0, 1, false),
                    _ => None,
                }
            }
            (op, _) => {
                // Zeros that come in are no ones.
                let inside = match *op {
                    Op::Zext => lo + w <= width(0),
                    Op::Lshr(c) => lo + c + w <= width(0),
                    Op::Shl(c) => lo >= c,
                    _ => true,
                };
                if one && !inside {
                    return None;
                }
                let parts = parts(node, &width, lo, w)?;
                self.union(&parts, one)
            }
        }
    }

    /// The pairs that agree if and only if a region is the same in two nodes.
    fn same(&mut self, a: NodeId, b: NodeId, lo: u8, w: u8) -> Option<Set> {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        self.plain(a, lo, w, &mut x)?;
        self.plain(b, lo, w, &mut y)?;
        self.pairs(&x, &y)
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
    let cone = cone(graph, &[result]);
    let mut open =
        "no word of it is zero, or has all bits set, if and only if the arrays are equal"
            .to_string();
    // From the earliest: what comes after it needs the fewest cases.
    for &id in &cone {
        let top = 64 - projection.maybe[id.0 as usize].leading_zeros() as u8;
        for one in [false, true] {
            if top == 0 || pairs.all(id, 0, top, one).is_none_or(|set| !whole(&set)) {
                continue;
            }
            let at = if one { ones(top) } else { 0 };
            match function(returns, graph, &cone, (id, top, at), result) {
                Ok(points) => return Ok(points),
                Err(why) => open = why,
            }
        }
    }
    Err(open)
}

/// Whether the result is the right function of one of its words, of `top` bits, that is `at` for equal arrays alone.
fn function(
    returns: Returns,
    graph: &Graph,
    cone: &[NodeId],
    (word, top, at): (NodeId, u8, u64),
    result: NodeId,
) -> Result<u64, String> {
    let width = graph.width(word);
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
    let root = new[&result];
    if leaves(&out, root).iter().any(|l| l.0 != 0) {
        return Err("the result depends on more than one word".into());
    }
    let of = |value: i64| value as u64 & ones(out.width(root));
    match tells(&out, root, top, at, of(returns.equal), returns.different.map(of)) {
        Some((true, nodes)) => Ok(nodes),
        Some((false, _)) => {
            Err("the result is not what it should be at some value of that word".into())
        }
        None => Err("the result is made of the word in a way that is not followed".into()),
    }
}
