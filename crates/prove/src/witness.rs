//! Inputs that show a failure, by evaluating the lifted terms on candidates.

use crate::aim::{Aim, Pair};
use crate::contract::Contract;
use crate::function::Mismatch;
use crate::prove::{CallCase, Job};
use crate::report::Witness;
use crate::values::Form;
use crate::walk::Walk;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId, Op};
use std::time::Instant;

/// Names of the inputs that a term depends on, a few of them.
pub(crate) fn inputs_below(graph: &Graph, node: NodeId, contract: &Contract) -> String {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut found = std::collections::BTreeSet::new();
    let mut stack = vec![node];
    while let Some(id) = stack.pop() {
        if seen.insert(id) {
            let n = graph.node(id);
            if let Op::Input { operand, index } = n.op {
                found.insert((operand, index));
            }
            stack.extend_from_slice(&n.args);
        }
    }
    let inputs = contract.inputs();
    let mut names: Vec<String> = found
        .iter()
        .take(4)
        .map(|&(o, i)| format!("{}[{i}]", contract.arguments[inputs[o as usize]].name))
        .collect();
    if found.len() > 4 {
        names.push(format!("{} more", found.len() - 4));
    }
    if names.is_empty() { "no input".into() } else { names.join(", ") }
}

/// Assignments that are evaluated together.
const BATCH: usize = 8;

struct Search<'a> {
    tape: Tape,
    contract: &'a Contract,
    ranges: [(i64, i64); 2],
    n: usize,
    call: &'a str,
}

impl Search<'_> {
    /// The first candidate whose result is wrong.
    fn first_wrong(&self, candidates: &[Pair]) -> Option<Witness> {
        let ring = &self.contract.ring;
        let out = &self.contract.arguments[self.contract.output()];
        let (bits, signed) = (out.element.bits(), out.element.signed());
        for chunk in candidates.chunks(BATCH) {
            let results = self.tape.run_batch(chunk.len(), &mut |operand, index, values| {
                for (v, pair) in values.iter_mut().zip(chunk) {
                    *v = pair[operand as usize][index as usize] as u64;
                }
            });
            for (at, pair) in chunk.iter().enumerate() {
                let found: Vec<i64> = results
                    .iter()
                    .map(|r| {
                        let s = 64 - u32::from(bits);
                        if signed { ((r[at] << s) as i64) >> s } else { r[at] as i64 }
                    })
                    .collect();
                let expected = ring.mul(&pair[0], &pair[1]);
                let q = ring.q() as i64;
                let wrong = found
                    .iter()
                    .zip(&expected)
                    .position(|(f, e)| (f - e) % q != 0 || *f < out.range.0 || *f > out.range.1);
                if let Some(element) = wrong {
                    let names = self.contract.inputs();
                    return Some(Witness {
                        call: self.call.to_string(),
                        inputs: names
                            .iter()
                            .zip(pair)
                            .map(|(&i, v)| (self.contract.arguments[i].name.clone(), v.clone()))
                            .collect(),
                        found,
                        expected,
                        element,
                        confirmed: false,
                    });
                }
            }
        }
        None
    }

    fn basis(&self, operand: usize, at: Option<usize>, value: i64) -> Vec<i64> {
        let (lo, hi) = self.ranges[operand];
        let mut v = vec![0i64.clamp(lo, hi); self.n];
        if let Some(i) = at {
            v[i] = value.clamp(lo, hi);
        }
        v
    }
}

/// Searches for a witness within the options' time.
pub(crate) fn search(
    job: &mut Job,
    graph: &Graph,
    walk: &mut Walk,
    case: &CallCase,
    mismatch: Option<&Mismatch>,
    sums: &[Form],
) -> Option<Witness> {
    let contract = job.contract;
    let tape = Tape::new(graph, &case.outputs).ok()?;
    let inputs = contract.inputs();
    let ranges = [contract.arguments[inputs[0]].range, contract.arguments[inputs[1]].range];
    let n = contract.ring.degree();
    let s = Search { tape, contract, ranges, n, call: &case.name };
    let started = Instant::now();
    let mut candidates: Vec<Pair> = Vec::new();
    if let Some(Mismatch::Coefficient { i, j, .. }) = mismatch {
        for (x, y) in [(1, 1), (i64::MAX, i64::MAX), (i64::MIN, i64::MAX), (-1, 1)] {
            candidates.push([s.basis(0, *i, x), s.basis(1, *j, y)]);
        }
        if let Some(w) = s.first_wrong(&candidates) {
            return Some(w);
        }
        candidates.clear();
    }
    let corner = |operand: usize, high: &dyn Fn(usize) -> bool| -> Vec<i64> {
        let (lo, hi) = ranges[operand];
        (0..n).map(|i| if high(i) { hi } else { lo }).collect()
    };
    let patterns: [&dyn Fn(usize) -> bool; 4] =
        [&|_| true, &|_| false, &|i| i % 2 == 0, &|i| (i / 16) % 2 == 0];
    for p in patterns {
        for r in patterns {
            candidates.push([corner(0, p), corner(1, r)]);
        }
    }
    if let Some(w) = s.first_wrong(&candidates) {
        return Some(w);
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..4 {
        for form in sums {
            if started.elapsed() > job.options.search {
                return None;
            }
            let Some(mut aim) = Aim::new(&mut walk.cut, form, n, ranges) else { continue };
            let batch: Vec<Pair> =
                (0..2 + 2 * round).filter_map(|i| aim.attempt(i % 2 == 0, &mut random)).collect();
            if let Some(w) = s.first_wrong(&batch) {
                return Some(w);
            }
        }
    }
    let end = started.elapsed() + job.options.search / 5;
    while started.elapsed() < end {
        let mut batch: Vec<Pair> = Vec::new();
        for _ in 0..BATCH {
            let kind = random.next() % 2;
            let mut side = |operand: usize| -> Vec<i64> {
                let (lo, hi) = ranges[operand];
                (0..n)
                    .map(|_| match kind {
                        0 => lo + (random.next() % (hi - lo + 1) as u64) as i64,
                        _ => [lo, hi][(random.next() & 1) as usize],
                    })
                    .collect()
            };
            batch.push([side(0), side(1)]);
        }
        if let Some(w) = s.first_wrong(&batch) {
            return Some(w);
        }
    }
    None
}

/// A small generator of pseudorandom numbers (splitmix64): searches are reproducible.
pub(crate) struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
