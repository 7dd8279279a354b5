//! Inputs that show a failure, by evaluating the lifted terms on candidates.

use crate::extremal_inputs::{Extremes, Inputs};
use crate::function::Mismatch;
use crate::prove::Job;
use crate::report::Witness;
use crate::values::{Form, ModForm};
use crate::walk::Walk;
use ringforge_contract::calls::CallCase;
use ringforge_contract::contract::Contract;
use ringforge_contract::oracle::Oracle;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId, Op};
use std::time::Instant;

/// Names of the inputs that a term depends on, a few of them; `name` is that of an operand's index.
pub(crate) fn names_below(
    graph: &Graph,
    node: NodeId,
    name: impl Fn(u16, u32) -> String,
) -> Vec<String> {
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
    let mut names: Vec<String> = found.iter().take(4).map(|&(o, i)| name(o, i)).collect();
    if found.len() > 4 {
        names.push(format!("{} more", found.len() - 4));
    }
    names
}

/// Assignments that are evaluated together.
const BATCH: usize = 8;

struct Search<'a> {
    tape: Tape,
    contract: &'a Contract,
    oracle: Oracle<'a>,
    ranges: &'a [(i64, i64)],
    /// Elements of the longest operand.
    n: usize,
    case: &'a CallCase,
}

impl Search<'_> {
    /// The first candidate whose result is wrong.
    fn first_wrong(&self, candidates: &mut [Inputs]) -> Option<Witness> {
        for inputs in candidates.iter_mut() {
            self.case.tied(inputs);
            // They were made for the longest operand.
            inputs.iter_mut().zip(self.contract.lengths()).for_each(|(v, n)| v.truncate(n));
        }
        let out = &self.contract.arguments[self.contract.output()];
        let (bits, signed) = (out.element.bits(), out.element.signed());
        for chunk in candidates.chunks(BATCH) {
            let results = self.tape.run_batch(chunk.len(), &mut |operand, index, values| {
                for (v, inputs) in values.iter_mut().zip(chunk) {
                    *v = inputs[operand as usize][index as usize] as u64;
                }
            });
            for (at, inputs) in chunk.iter().enumerate() {
                let found: Vec<i64> = results
                    .iter()
                    .map(|r| {
                        let s = 64 - u32::from(bits);
                        if signed { ((r[at] << s) as i64) >> s } else { r[at] as i64 }
                    })
                    .collect();
                let expected = self.oracle.expected(inputs);
                let q = self.contract.ring.q() as i64;
                let wrong = found
                    .iter()
                    .zip(&expected)
                    .position(|(f, e)| (f - e) % q != 0 || *f < out.exit.0 || *f > out.exit.1);
                if let Some(element) = wrong {
                    let congruent = (found[element] - expected[element]) % q == 0;
                    let expected = expected.iter().map(|&e| allowed(e, q, out.exit)).collect();
                    let names = self.contract.inputs();
                    return Some(Witness {
                        call: self.case.name.clone(),
                        inputs: names
                            .iter()
                            .zip(inputs)
                            .map(|(&i, v)| (self.contract.arguments[i].name.clone(), v.clone()))
                            .collect(),
                        found,
                        expected,
                        element,
                        outside: congruent.then_some(out.exit),
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

    /// Inputs that are zero but at the elements `at`, and there small or at an end of the range.
    fn at_basis(&self, at: &[(usize, usize)]) -> Vec<Inputs> {
        let (small, large) = (i64::MIN, i64::MAX);
        // The last three: were all of these right, so would be the coefficient.
        [(1, 1), (large, large), (small, large), (-1, 1), (0, 1), (1, 0), (0, 0)]
            .into_iter()
            .map(|(x, y)| {
                (0..self.ranges.len())
                    .map(|o| {
                        // The greater operand is the second factor of a product.
                        let second = at.first().is_some_and(|f| f.0 < o);
                        let element = at.iter().find(|x| x.0 == o).map(|x| x.1);
                        self.basis(o, element, if second { y } else { x })
                    })
                    .collect()
            })
            .collect()
    }

    /// Inputs that are zero, or as near to it as their ranges go, but for one element each.
    fn at_points(&self, points: &[(u16, u32, i64)]) -> Vec<Inputs> {
        let one = |&(operand, index, value): &(u16, u32, i64)| -> Inputs {
            let element = |o| (o == usize::from(operand)).then_some(index as usize);
            (0..self.ranges.len()).map(|o| self.basis(o, element(o), value)).collect()
        };
        points.iter().map(one).collect()
    }

    /// Inputs whose elements all stand at an end of their range, in a few patterns.
    fn corners(&self) -> Vec<Inputs> {
        let patterns: [&dyn Fn(usize) -> bool; 4] =
            [&|_| true, &|_| false, &|i| i % 2 == 0, &|i| (i / 16) % 2 == 0];
        let mut all: Vec<Inputs> = vec![Vec::new()];
        for &(lo, hi) in self.ranges {
            let corner = |p: &dyn Fn(usize) -> bool| {
                (0..self.n).map(|i| if p(i) { hi } else { lo }).collect()
            };
            let with = |inputs: &Inputs, p: &dyn Fn(usize) -> bool| {
                let mut inputs = inputs.clone();
                inputs.push(corner(p));
                inputs
            };
            all = all.iter().flat_map(|i| patterns.iter().map(move |p| with(i, p))).collect();
        }
        all
    }
}

/// The nearest number in the range that the contract allows with this residue; the residue, if the range holds none.
fn allowed(residue: i64, q: i64, (lo, hi): (i64, i64)) -> i64 {
    let nearest = if residue < lo {
        lo + (residue - lo).rem_euclid(q)
    } else if residue > hi {
        hi - (hi - residue).rem_euclid(q)
    } else {
        residue
    };
    if lo <= nearest && nearest <= hi { nearest } else { residue }
}

/// What may fail where ranges decide.
#[derive(Default)]
pub(crate) struct Suspects {
    /// Sums that may not fit, or whose value leaves the output's range.
    pub sums: Vec<Form>,
    /// Residues of outputs that, as far as is known, stand for values outside the range.
    pub residues: Vec<(ModForm, u32)>,
    /// Elements of operands with the values at which an output that depends on them alone is extreme.
    pub points: Vec<(u16, u32, i64)>,
}

/// Searches for a witness within the options' time.
pub(crate) fn search(
    job: &mut Job,
    graph: &Graph,
    walk: &mut Walk,
    case: &CallCase,
    mismatch: Option<&Mismatch>,
    suspects: &Suspects,
) -> Option<Witness> {
    let contract = job.contract;
    let tape = Tape::new(graph, &case.outputs).ok()?;
    let ranges = &case.ranges(contract)[..];
    let n = contract.lengths().into_iter().max().unwrap_or(0);
    let s = Search { tape, contract, oracle: Oracle::new(contract), ranges, n, case };
    let started = Instant::now();
    if let Some(Mismatch::Coefficient { at, .. }) = mismatch
        && let Some(w) = s.first_wrong(&mut s.at_basis(at))
    {
        return Some(w);
    }
    if let Some(w) = s.first_wrong(&mut s.at_points(&suspects.points)) {
        return Some(w);
    }
    if let Some(w) = s.first_wrong(&mut s.corners()) {
        return Some(w);
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let extremes = Extremes::plain(&mut walk.cut, n, ranges);
    for (form, residue) in &suspects.residues {
        let attempts = (0..4).filter_map(|_| extremes.reach(form, *residue, &mut random));
        if let Some(w) = s.first_wrong(&mut attempts.collect::<Vec<Inputs>>()) {
            return Some(w);
        }
        if started.elapsed() > job.options.search / 2 {
            break;
        }
    }
    for round in 0..4 {
        for form in &suspects.sums {
            if started.elapsed() > job.options.search {
                return None;
            }
            let Some(mut extremes) = Extremes::new(&mut walk.cut, form, n, ranges) else {
                continue;
            };
            let mut batch: Vec<Inputs> = (0..2 + 2 * round)
                .filter_map(|i| extremes.attempt(i % 2 == 0, &mut random))
                .collect();
            if let Some(w) = s.first_wrong(&mut batch) {
                return Some(w);
            }
        }
    }
    let end = started.elapsed() + job.options.search / 5;
    while started.elapsed() < end {
        let mut batch: Vec<Inputs> = Vec::new();
        for _ in 0..BATCH {
            let kind = random.next() % 2;
            let mut side = |&(lo, hi): &(i64, i64)| -> Vec<i64> {
                (0..n)
                    .map(|_| match kind {
                        0 => lo + (random.next() % (hi - lo + 1) as u64) as i64,
                        _ => [lo, hi][(random.next() & 1) as usize],
                    })
                    .collect()
            };
            batch.push(ranges.iter().map(&mut side).collect());
        }
        if let Some(w) = s.first_wrong(&mut batch) {
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

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn what_is_expected_is_in_the_range() {
        for (residue, range, found) in [
            (-1, (0, 3328), 3328),
            (1664, (0, 3328), 1664),
            (-1664, (0, 3328), 1665),
            (5, (-3329, -1), -3324),
            (5, (10, 20), 5),
            (-1, (5000, 9000), 6657),
        ] {
            assert_eq!(allowed(residue, 3329, range), found);
        }
    }
}
