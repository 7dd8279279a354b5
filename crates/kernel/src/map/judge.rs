//! Whether one term fulfils its formula at every point of its inputs' ranges.

use super::STOPPED;
use super::along::Along;
use super::diagram::{Kind, kind};
use super::project::{cone, leaves};
use crate::fun::Funs;
use rayon::prelude::*;
use ringforge_contract::map::formula::{Binary, Expr};
use ringforge_contract::map::{MapArgument, MapContract};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::FxHashMap;

/// Points that are looked at one by one before anything else is tried, and at most.
const FEW: u64 = 1 << 18;
const MANY: u64 = 1 << 28;
/// The same where an element of another number is among the inputs.
const OTHERS: u64 = 1 << 22;
/// Values of a number that are looked at apart.
const APART: u64 = 16;
/// Points that are evaluated together.
const BATCH: usize = 256;
/// Batches after which the caller is asked whether to go on.
const LOOK: u64 = 64;

/// An input of a term: an argument, and 0 for the field itself, else another ([`super::project`]).
pub(super) type Input = (usize, u32);

/// Why a term is not accepted.
pub(super) enum No {
    /// It is wrong at these values of inputs.
    Wrong(Vec<(Input, i64)>),
    /// It is not decided.
    Open(String),
}

/// Decides terms of a contract.
pub(super) struct Judge<'a> {
    contract: &'a MapContract,
    funs: Funs,
    budget: u64,
    /// Whether to go on.
    go: &'a (dyn Fn() -> bool + Sync),
    /// Points and pieces looked at.
    pub points: u64,
}

impl<'a> Judge<'a> {
    pub fn new(
        contract: &'a MapContract,
        budget: u64,
        go: &'a (dyn Fn() -> bool + Sync),
    ) -> Judge<'a> {
        Judge { contract, funs: Funs::default(), budget, go, points: 0 }
    }

    /// Decides a term of `graph`, the value of a field of an argument that should be what a formula says.
    pub fn decide(
        &mut self,
        graph: &mut Graph,
        root: NodeId,
        argument: usize,
        formula: &Expr,
    ) -> Result<(), No> {
        self.decided(graph, root, argument, &self.contract.given_numbers(formula))
    }

    fn decided(
        &mut self,
        graph: &mut Graph,
        root: NodeId,
        argument: usize,
        formula: &Expr,
    ) -> Result<(), No> {
        let a = &self.contract.arguments[argument];
        let mut inputs: Vec<Input> = formula.arguments().into_iter().map(|x| (x, 0)).collect();
        inputs.extend(leaves(graph, root));
        inputs.sort_unstable();
        inputs.dedup();
        let ranges: Vec<(i64, i64)> =
            inputs.iter().map(|i| self.contract.arguments[i.0].memory.range).collect();
        let size = |r: &(i64, i64)| (r.1 - r.0) as u64 + 1;
        let points =
            ranges.iter().try_fold(1u64, |n, r| n.checked_mul(size(r))).unwrap_or(u64::MAX);
        let all = All { inputs: &inputs, ranges: &ranges, points };
        if inputs.len() > 1 && points <= FEW {
            return self.everywhere(graph, root, a, formula, &all);
        }
        if let Some(&(other, _)) = inputs.iter().find(|i| i.1 != 0) {
            if points <= OTHERS {
                return self.everywhere(graph, root, a, formula, &all);
            }
            let known = self.constants(graph, root)?;
            if known != root {
                return self.decided(graph, known, argument, formula);
            }
            let name = &self.contract.arguments[other].memory.name;
            return Err(No::Open(format!("it depends on another element of {name} too")));
        }
        let arguments: Vec<usize> = inputs.iter().map(|i| i.0).collect();
        let along = Along {
            contract: self.contract,
            graph,
            funs: &mut self.funs,
            budget: &mut self.budget,
            go: self.go,
        };
        if let Some(found) = along.decide(root, a, formula, &arguments) {
            let (points, wrong) = found.map_err(No::Open)?;
            self.points += points;
            let own = |at: Vec<(usize, i64)>| at.into_iter().map(|(x, v)| ((x, 0), v)).collect();
            return wrong.map_or(Ok(()), |at| Err(No::Wrong(own(at))));
        }
        if points <= MANY {
            return self.everywhere(graph, root, a, formula, &all);
        }
        // The number of fewest values, each by itself.
        let fewest = (0..arguments.len()).min_by_key(|&i| size(&ranges[i]));
        if let Some(i) = fewest.filter(|&i| size(&ranges[i]) <= APART) {
            for value in ranges[i].0..=ranges[i].1 {
                let here = replaced(graph, root, arguments[i], value);
                let formula = formula.with(arguments[i], value.into());
                self.decided(graph, here, argument, &formula).map_err(|no| match no {
                    No::Wrong(mut at) => {
                        at.retain(|x| x.0.0 != arguments[i]);
                        at.push(((arguments[i], 0), value));
                        No::Wrong(at)
                    }
                    open => open,
                })?;
            }
            return Ok(());
        }
        if self.extreme(graph, root, a, formula) {
            return Ok(());
        }
        Err(No::Open("it combines elements in a way that is no function of one sum of them, and they have too many values to look at all".into()))
    }

    /// Whether the formula is the minimum or maximum of two words of the same type, and so is the term, for all words.
    fn extreme(
        &mut self,
        graph: &mut Graph,
        root: NodeId,
        a: &MapArgument,
        formula: &Expr,
    ) -> bool {
        let Expr::Binary(op, x, y) = formula else { return false };
        let (want, &Expr::Element(x), &Expr::Element(y)) = (op, &**x, &**y) else { return false };
        let want = match want {
            Binary::Min => Kind::Least,
            Binary::Max => Kind::Greatest,
            _ => return false,
        };
        let width = graph.width(root);
        let alike = [x, y].map(|i| &self.contract.arguments[i]).iter().all(|i| {
            let ((lo, hi), (least, most)) = (i.memory.range, a.memory.exit);
            i.bits == width && i.signed() == a.signed() && least <= lo && hi <= most
        });
        if x == y || !alike || a.bits != width {
            return false;
        }
        let root = rebuilt(graph, root, &|graph, id, have| match graph.node(id).op {
            Op::Input { operand, index } => {
                let place = [x, y].iter().position(|&i| i == usize::from(operand));
                let place = place.filter(|_| index == 0 && have == width);
                // Another one is followed no further.
                Some(graph.input(have, place.map_or(u16::MAX, |p| p as u16), 0))
            }
            _ => None,
        });
        self.points += 1;
        kind(graph, root, width, a.signed()) == Some((want, 0))
    }

    /// The term with what depends on one other element alone, and has one value at all points of its range, replaced by it.
    fn constants(&mut self, graph: &mut Graph, root: NodeId) -> Result<NodeId, No> {
        let mut known: FxHashMap<NodeId, u64> = FxHashMap::default();
        for (id, (argument, index)) in of_one_other(graph, root) {
            let (lo, hi) = self.contract.arguments[argument].memory.range;
            if (hi - lo) as u64 >= OTHERS {
                continue;
            }
            let tape = Tape::new(graph, &[id]).map_err(|e| No::Open(e.to_string()))?;
            let cost = tape.nodes().len() as u64 * ((hi - lo) as u64 + 1);
            let left = self.budget.checked_sub(cost);
            self.budget = left.ok_or_else(|| No::Open("more work than is allowed for".into()))?;
            let mut batches = (lo..=hi).step_by(BATCH).map(|from| {
                let count = ((hi - from) as u64 + 1).min(BATCH as u64) as usize;
                let values = tape.run_batch(count, &mut |operand, i, out| {
                    let own = (usize::from(operand), i) == (argument, index);
                    for (j, v) in out.iter_mut().enumerate() {
                        *v = if own { (from + j as i64) as u64 } else { 0 };
                    }
                });
                let same = values[0].iter().all(|v| *v == values[0][0]);
                (values[0][0], same && (self.go)())
            });
            let Some((first, true)) = batches.next() else { continue };
            if batches.all(|(value, same)| same && value == first) {
                self.points += (hi - lo) as u64 + 1;
                known.insert(id, first);
            }
        }
        Ok(rebuilt(graph, root, &|graph, id, width| {
            known.get(&id).map(|&value| graph.constant(width, value))
        }))
    }

    /// At all points.
    fn everywhere(
        &mut self,
        graph: &Graph,
        root: NodeId,
        a: &MapArgument,
        formula: &Expr,
        all: &All,
    ) -> Result<(), No> {
        let tape = Tape::new(graph, &[root]).map_err(|e| No::Open(e.to_string()))?;
        let cost = all.points.saturating_mul(tape.nodes().len() as u64);
        let left = self.budget.checked_sub(cost);
        self.budget = left.ok_or_else(|| No::Open("more work than is allowed for".into()))?;
        self.points += all.points;
        let batches = all.points.div_ceil(BATCH as u64);
        let go = self.go;
        let wrong = (0..batches).into_par_iter().find_map_first(|batch| {
            if batch % LOOK == 0 && !go() {
                return Some(None);
            }
            let start = batch * BATCH as u64;
            let count = (all.points - start).min(BATCH as u64) as usize;
            let values = tape.run_batch(count, &mut |operand, index, out| {
                let place = all.inputs.iter().position(|x| *x == (usize::from(operand), index));
                for (j, v) in out.iter_mut().enumerate() {
                    *v = place.map_or(0, |p| all.value(p, start + j as u64)) as u64;
                }
            });
            (0..count).find_map(|j| {
                let point = start + j as u64;
                let value = |x: usize| {
                    let place = all.inputs.iter().position(|y| *y == (x, 0));
                    place.map_or(0, |p| all.value(p, point).into())
                };
                let found = read(values[0][j], a);
                let fine = formula.value(&value).is_some_and(|v| a.fulfilled(found, v));
                (!fine).then_some(Some(point))
            })
        });
        match wrong {
            None => Ok(()),
            Some(None) => Err(No::Open(STOPPED.into())),
            Some(Some(point)) => {
                let at = all.inputs.iter().enumerate();
                Err(No::Wrong(at.map(|(p, &x)| (x, all.value(p, point))).collect()))
            }
        }
    }
}

/// All points of some inputs' ranges, in a row.
struct All<'a> {
    inputs: &'a [Input],
    ranges: &'a [(i64, i64)],
    points: u64,
}

impl All<'_> {
    /// The value of the input at `place` at a point.
    fn value(&self, place: usize, point: u64) -> i64 {
        let mut rest = point;
        for (lo, hi) in &self.ranges[..place] {
            rest /= (hi - lo) as u64 + 1;
        }
        let (lo, hi) = self.ranges[place];
        lo + (rest % ((hi - lo) as u64 + 1)) as i64
    }
}

/// A word as the contract reads it.
fn read(word: u64, a: &MapArgument) -> i128 {
    let unused = 64 - u32::from(a.bits);
    if a.signed() { i128::from(((word << unused) as i64) >> unused) } else { word.into() }
}

/// The largest terms below one that depend on one element of another field, and on nothing else.
fn of_one_other(graph: &Graph, root: NodeId) -> Vec<(NodeId, Input)> {
    let mut found = Vec::new();
    let (mut seen, mut stack) = (rustc_hash::FxHashSet::from_iter([root]), vec![root]);
    while let Some(id) = stack.pop() {
        match leaves(graph, id)[..] {
            [] => {}
            [(argument, index)] if index != 0 => found.push((id, (argument, index))),
            _ => stack.extend(graph.node(id).args.iter().filter(|a| seen.insert(**a))),
        }
    }
    found
}

/// The term with an argument's field replaced by a number.
fn replaced(graph: &mut Graph, root: NodeId, argument: usize, value: i64) -> NodeId {
    rebuilt(graph, root, &|graph, id, width| match graph.node(id).op {
        Op::Input { operand, .. } if usize::from(operand) == argument => {
            Some(graph.constant(width, value as u64 & u64::MAX >> (64 - width)))
        }
        _ => None,
    })
}

/// The term with some terms below it replaced by others.
fn rebuilt(
    graph: &mut Graph,
    root: NodeId,
    by: &dyn Fn(&mut Graph, NodeId, u8) -> Option<NodeId>,
) -> NodeId {
    let mut new: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    for id in cone(graph, &[root]) {
        let node = graph.node(id).clone();
        let made = match (by(graph, id, node.width), node.op) {
            (Some(other), _) => other,
            (None, Op::Input { .. } | Op::Const(_)) => id,
            (None, op) => {
                let args: Vec<NodeId> = node.args.iter().map(|a| new[a]).collect();
                graph.rebuild(node.width, op, &args)
            }
        };
        new.insert(id, made);
    }
    new[&root]
}
