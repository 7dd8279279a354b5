//! Contracts for each element: every output field is what its formula says, for all inputs in range.
//!
//! **Statement.** Let each field of an output be, as a word, a term over fields of the inputs and over numbers that are
//! passed by value. If at every point of the inputs' ranges the term, read as the contract says,
//! fulfils the contract's formula and range, then the function fulfils the contract.
//!
//! Comparisons of two arrays (`equality.rs`) and sorts (`sort.rs`) have statements of their own. What is made of all elements
//! together, sums and encodings of digits, is compared by its form (`forms.rs`). A sum is then a number like others: terms
//! and formulas are decided for all of its values.
//!
//! There is no certificate. The kernel takes the bits of each field out of the graph (`project.rs`) and renames its
//! inputs. One term then represents all fields with the same code. The kernel decides each term once, in one of five ways:
//!
//! - at all points, one by one;
//! - as a function of one sum s of inputs (`along.rs`), if the formula depends on s alone too. Narrow ranges are
//!   enumerated, and wide ones are cut into pieces where both are affine;
//! - for each value of a number of few values, by itself;
//! - after a term of one other element alone, which has one value at all points of its range, is replaced by that value;
//! - as the minimum or maximum of two words (`diagram.rs`), if the formula is that.

mod along;
mod diagram;
mod equality;
mod forms;
#[cfg(test)]
mod forms_tests;
mod judge;
mod lines;
mod project;
mod sort;
#[cfg(test)]
mod sort_tests;

use crate::check::Limits;
use crate::guard::guarded;
use forms::Forms;
use judge::Judge;
use project::Projection;
use ringforge_contract::map::formula::Expr;
use ringforge_contract::map::{MapArgument, MapCase, MapContract, MapKind};
use ringforge_machine::graph::{Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Why a check stops that the caller stopped.
const STOPPED: &str = "stopped";

/// Why a case is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A field is wrong.
    Wrong {
        /// The argument that is written.
        argument: usize,
        /// The field.
        field: usize,
        /// Arguments, fields and their values; others do not matter.
        at: Vec<(usize, usize, i64)>,
    },
    /// Not decided what the result is.
    Result(String),
    /// Not decided whether an array is sorted.
    Order(String),
    /// Not decided.
    Open {
        /// The argument that is written.
        argument: usize,
        /// The field.
        field: usize,
        /// Why.
        why: String,
    },
    /// The caller stopped it, or something panicked.
    Stopped(String),
}

/// What was accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Fields.
    pub fields: usize,
    /// Distinct terms.
    pub terms: usize,
    /// Points, and pieces, at which terms and formulas were compared.
    pub points: u64,
    /// Fields of inputs, by argument, that no output depends on.
    pub unread: Vec<(usize, usize)>,
}

/// Checks one call. `tick` is called with the fraction done, and returns false to stop.
///
/// # Errors
/// A field that is wrong, or why one is not decided.
pub fn check(
    contract: &MapContract,
    graph: &Graph,
    case: &MapCase,
    limits: Limits,
    tick: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Checked, Flaw> {
    guarded(|| checked(contract, graph, case, limits, tick)).map_err(Flaw::Stopped)?
}

fn checked(
    contract: &MapContract,
    graph: &Graph,
    case: &MapCase,
    limits: Limits,
    tick: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Checked, Flaw> {
    let mut done = Checked::default();
    let real = contract;
    let contract = &with_numbers(contract)?;
    let mut projection = Projection::new(contract, graph, case);
    let outputs = contract.outputs();
    let fields = AtomicUsize::new(0);
    let total: usize = outputs.iter().map(|&a| contract.arguments[a].length).sum();
    let go = || tick(fields.load(Ordering::Relaxed) as f64 / total.max(1) as f64);
    let mut settled: FxHashMap<(usize, NodeId), Vec<Expr>> = FxHashMap::default();
    let mut read: FxHashSet<(usize, usize)> = FxHashSet::default();
    if outputs.len() != case.outputs.len() || case.result.is_some() != contract.returns().is_some()
    {
        return Err(Flaw::Stopped("a call with other outputs than the contract's".into()));
    }
    if contract.computes == MapKind::Sort {
        done.fields = case.outputs[0].len();
        done.points =
            sort::check(contract, graph, &case.outputs[0], limits.work).map_err(Flaw::Order)?;
        return Ok(done);
    }
    let mut forms = Forms::new(contract, graph, &mut projection, limits.work);
    for (&argument, bytes) in outputs.iter().zip(&case.outputs) {
        let a = &contract.arguments[argument];
        let Some(of) = a.formula.as_ref().filter(|_| !a.radices.is_empty()) else { continue };
        let open = |(field, why)| Flaw::Open { argument, field, why };
        let array = forms.encoding(&a.radices, &of.root, bytes).map_err(open)?;
        read.extend((0..a.length).map(|k| (array, k)));
        done.fields += bytes.len();
        done.terms += 1;
    }
    let others = || {
        let both = outputs.iter().zip(&case.outputs);
        both.filter(|(a, _)| contract.arguments[**a].radices.is_empty())
    };
    let nodes: Vec<NodeId> = others().flat_map(|(_, nodes)| nodes).copied().collect();
    let known = forms.sums(&nodes, real.arguments.len() + 1);
    let spent = forms.points;
    projection.known = known;
    let mut judge = Judge::new(contract, limits.work.saturating_sub(spent), &go);
    for (&argument, nodes) in others() {
        let a = &contract.arguments[argument];
        for field in 0..a.length {
            let open = |why: String| match why == STOPPED {
                true => Flaw::Stopped(why),
                false => Flaw::Open { argument, field, why },
            };
            let root = projection.field(argument, nodes, field).map_err(open)?;
            for (input, index) in projection.leaves(root) {
                let sum = input.checked_sub(real.arguments.len() + 1).map(|k| &real.sums[k]);
                match sum {
                    Some(sum) => read.extend((0..sum.elements.1).map(|k| (sum.array, k))),
                    None if contract.arguments[input].any_number() => _ = read.insert((input, 0)),
                    None => _ = read.insert((input, project::absolute(index, field))),
                }
            }
            done.fields += 1;
            let formula = a.formula.as_ref().ok_or_else(|| open("no formula".into()))?;
            let formula = formula.root.with(real.arguments.len(), field as i128);
            let settled = settled.entry((argument, root)).or_default();
            if settled.contains(&formula) {
                continue;
            }
            fields.store(done.fields, Ordering::Relaxed);
            if !go() {
                return Err(Flaw::Stopped(STOPPED.into()));
            }
            let decided = judge.decide(&mut projection.out, root, argument, &formula);
            decided.map_err(|no| match no {
                judge::No::Wrong(at) => {
                    let at = at.into_iter();
                    let at = at.map(|((a, i), v)| (a, project::absolute(i, field), v)).collect();
                    match reached(real, at) {
                        Some(at) => Flaw::Wrong { argument, field, at },
                        None => open("at a sum which no inputs may have, it is wrong".into()),
                    }
                }
                judge::No::Open(why) => open(why),
            })?;
            settled.push(formula);
            done.terms += 1;
        }
    }
    done.points = spent + judge.points;
    if let Some(result) = case.result {
        done.points +=
            equality::check(contract, &projection, graph, result).map_err(Flaw::Result)?;
        done.terms += 1;
        done.fields += 1;
        return Ok(done);
    }
    if done.fields == 0 {
        return Err(Flaw::Stopped("nothing is compared".into()));
    }
    for a in real.inputs() {
        done.unread
            .extend((0..real.arguments[a].length).map(|k| (a, k)).filter(|k| !read.contains(k)));
    }
    Ok(done)
}

/// The contract with the element's number, and the sums of its formulas, as numbers that are passed by value.
fn with_numbers(contract: &MapContract) -> Result<MapContract, Flaw> {
    let mut with = contract.clone();
    let mut number = |range: (i64, i64), values: Vec<i64>| {
        with.arguments.push(MapArgument::number(String::new(), range, values));
    };
    number((0, 0), vec![0]);
    for sum in &contract.sums {
        let a = &contract.arguments[sum.array];
        if sum.elements != (a.memory.range, a.length) {
            return Err(Flaw::Stopped("a sum of other elements than the contract's".into()));
        }
        number(sum.range, Vec::new());
    }
    Ok(with)
}

/// Values of inputs without those of sums: instead, elements that have the sum.
fn reached(
    contract: &MapContract,
    at: Vec<(usize, usize, i64)>,
) -> Option<Vec<(usize, usize, i64)>> {
    let sums = contract.arguments.len() + 1;
    let (totals, mut at): (Vec<_>, Vec<_>) = at.into_iter().partition(|x| x.0 >= sums);
    match totals[..] {
        [] => Some(at),
        [(k, _, total)] => {
            let sum = &contract.sums[k - sums];
            let of = at.iter().filter(|x| x.0 == sum.array).map(|x| (x.1, x.2));
            let elements = sum.reached(total, &of.collect::<Vec<_>>(), &mut |_| 0)?;
            at.retain(|x| x.0 != sum.array);
            at.extend(elements.into_iter().enumerate().map(|(k, v)| (sum.array, k, v)));
            Some(at)
        }
        // Several would have to be reached at once.
        _ => None,
    }
}
