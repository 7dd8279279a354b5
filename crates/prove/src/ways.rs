//! Two inputs in range for which something that must be one number is two.
//!
//! A branch may depend on inputs as a term, and still go one way for all inputs in range. Then it refutes nothing.

use crate::witness::Random;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::{Duration, Instant};

/// How long to look.
const SEARCH: Duration = Duration::from_secs(2);
/// Elements that are named.
const NAMED: usize = 4;
/// The element of an operand that is the place of a region in memory.
const PLACE: u32 = u32::MAX;

/// The operands that a search gives values.
pub(crate) struct Operands<'a> {
    /// Range and number of what each holds.
    pub shapes: Vec<((i64, i64), usize)>,
    /// What lies in memory then.
    pub memory: &'a dyn Fn(usize, &[i64]) -> Vec<i64>,
    /// The name of an element in memory.
    pub name: &'a dyn Fn(u16, u32) -> String,
}

/// As [`two`], where inputs are of any value that their words have.
pub(crate) fn any_two(
    graph: &Graph,
    term: NodeId,
    name: &dyn Fn(u16, u32) -> String,
) -> Option<String> {
    let mut shapes: Vec<((i64, i64), usize)> = Vec::new();
    for id in cone(graph, term) {
        let node = graph.node(id);
        if let Op::Input { operand, index } = node.op {
            let operand = usize::from(operand);
            shapes.resize(shapes.len().max(operand + 1), ((0, 0), 0));
            let most = i64::MAX >> (63 - u32::from(node.width).min(63));
            let (range, length) = &mut shapes[operand];
            let least = if node.width == 64 { i64::MIN } else { 0 };
            *range = (range.0.min(least), range.1.max(most));
            *length = (*length).max(index as usize + 1);
        }
    }
    two(graph, term, &Operands { shapes, memory: &|_, values| values.to_vec(), name })
}

/// The elements that differ between two inputs for which `term` does too, in words; [`None`] if none are found.
pub(crate) fn two(graph: &Graph, term: NodeId, operands: &Operands) -> Option<String> {
    let Placed { graph, term, inputs, constants, addresses } = placed(graph, term);
    let tape = Tape::new(&graph, &[term]).ok()?;
    let (until, mut random) = (Instant::now() + SEARCH, Random(0x9e37_79b9_7f4a_7c15));
    let mut first: Option<(u64, Vec<Vec<i64>>)> = None;
    for k in 0.. {
        if Instant::now() > until {
            break;
        }
        let one = |o: usize, random: &mut Random| {
            let ((lo, hi), length) = operands.shapes[o];
            let mut value = |i: usize| match (k, constants.get(k / 2)) {
                (0, _) => 0,
                (1, _) => i64::MIN,
                (2, _) => i64::MAX,
                // A word may be put together from bytes.
                (_, Some(&(c, bytes))) if k % 2 == 0 && (lo, hi) == (0, 255) => {
                    c >> (8 * (i % bytes)) & 255
                }
                (_, Some(&(c, _))) if k % 2 == 0 => c,
                _ if k % 4 == 1 => [lo, hi][(random.next() & 1) as usize],
                _ => lo.wrapping_add(
                    (random.next() % (hi.wrapping_sub(lo) as u64).saturating_add(1)) as i64,
                ),
            };
            let values: Vec<i64> = (0..length).map(|i| value(i).clamp(lo, hi)).collect();
            (operands.memory)(o, &values)
        };
        let memory: Vec<Vec<i64>> =
            (0..operands.shapes.len()).map(|o| one(o, &mut random)).collect();
        let at = |memory: &[Vec<i64>], (o, i): (u16, u32)| {
            memory.get(usize::from(o)).and_then(|m| m.get(i as usize)).copied()
        };
        if inputs.iter().any(|&input| at(&memory, input).is_none()) {
            return None;
        }
        let value_at = |memory: &[Vec<i64>], shift: u64| {
            tape.run(|o, i| match i {
                PLACE => place(o, addresses.unwrap_or(64), shift),
                _ => at(memory, (o, i)).unwrap_or(0) as u64,
            })[0]
        };
        let value = value_at(&memory, 0);
        let Some((other, before)) = &first else {
            first = Some((value, memory));
            continue;
        };
        if *other == value {
            continue;
        }
        // The case at hand may exclude a place that makes the difference: then it says nothing.
        let everywhere = || shifts().all(|s| value_at(before, s) != value_at(&memory, s));
        if addresses.is_some() && !everywhere() {
            return None;
        }
        let differ: Vec<(u16, u32)> =
            inputs.into_iter().filter(|&x| at(before, x) != at(&memory, x)).collect();
        let said = |memory: &[Vec<i64>]| -> String {
            let some = differ.iter().take(NAMED).map(|&(o, i)| {
                let value = at(memory, (o, i)).unwrap_or(0);
                format!("{} = {value}", (operands.name)(o, i))
            });
            let mut some: Vec<String> = some.collect();
            if differ.len() > NAMED {
                some.push(format!("{} more", differ.len() - NAMED));
            }
            some.join(", ")
        };
        return Some(format!("it is not the same for {} as for {}", said(before), said(&memory)));
    }
    None
}

/// A term whose addresses are inputs, like elements.
struct Placed {
    graph: Graph,
    term: NodeId,
    inputs: Vec<(u16, u32)>,
    /// Numbers near those that it holds, and their bytes.
    constants: Vec<(i64, usize)>,
    /// Bits of the addresses that it holds, if it holds any.
    addresses: Option<u8>,
}

/// Where a region begins: far from all others, and at a residue modulo 4096 that shifts go through, bit by bit.
fn place(region: u16, width: u8, shift: u64) -> u64 {
    let apart = if width == 32 { 20 } else { 32 };
    ((u64::from(region) + 1) << apart).wrapping_add(shift)
}

/// The residues of addresses modulo 64, and the multiples of 64 modulo 4096.
fn shifts() -> impl Iterator<Item = u64> {
    (0..64).chain((0..64).map(|k| 64 * k))
}

/// The term with what it depends on as inputs.
fn placed(graph: &Graph, root: NodeId) -> Placed {
    let mut out = Graph::new();
    let (mut inputs, mut constants, mut addresses) = (Vec::new(), Vec::new(), None);
    let mut new: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    for id in cone(graph, root) {
        let node = graph.node(id);
        let made = match node.op {
            Op::Input { operand, index } => {
                inputs.push((operand, index));
                out.input(node.width, operand, index)
            }
            Op::Const(c) => {
                let unused = 64 - u32::from(node.width);
                let bytes = usize::from(node.width).div_ceil(8);
                for near in [c as i64, ((c << unused) as i64) >> unused] {
                    constants.extend([-1, 0, 1].map(|d| (near.wrapping_add(d), bytes)));
                }
                out.constant(node.width, c)
            }
            Op::Address { region, offset } => {
                addresses = Some(node.width);
                let place = out.input(node.width, region, PLACE);
                let offset =
                    out.constant(node.width, offset as u64 & u64::MAX >> (64 - node.width));
                out.add(place, offset)
            }
            ref op => {
                let args: Vec<NodeId> = node.args.iter().map(|a| new[a]).collect();
                out.rebuild(node.width, op.clone(), &args)
            }
        };
        new.insert(id, made);
    }
    inputs.sort_unstable();
    inputs.dedup();
    Placed { graph: out, term: new[&root], inputs, constants, addresses }
}

/// The term and all below it, operands first.
fn cone(graph: &Graph, root: NodeId) -> Vec<NodeId> {
    let (mut cone, mut seen, mut next) = (vec![root], FxHashSet::from_iter([root]), 0);
    while next < cone.len() {
        cone.extend(graph.node(cone[next]).args.iter().filter(|a| seen.insert(**a)));
        next += 1;
    }
    cone.sort_unstable();
    cone
}
