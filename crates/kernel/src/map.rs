//! Contracts for each element: every output field is what its formula says, for all inputs in range.
//!
//! **Statement.** Let each field of an output be, as a word, a term over fields of the inputs and over numbers that are
//! passed by value. If at every point of the inputs' ranges the term, read as the contract says,
//! fulfils the contract's formula and range, then the function fulfils the contract.
//!
//! Comparisons of two arrays (`equality.rs`) and sorts (`sort.rs`) have statements of their own.
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
mod judge;
mod lines;
mod project;
mod sort;
#[cfg(test)]
mod sort_tests;

use crate::check::Limits;
use crate::guard::guarded;
use judge::Judge;
use project::Projection;
use ringforge_contract::map::{MapCase, MapContract, MapKind};
use ringforge_machine::graph::{Graph, NodeId};
use rustc_hash::FxHashSet;
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
    let mut projection = Projection::new(contract, graph, case);
    let outputs = contract.outputs();
    let fields = AtomicUsize::new(0);
    let total: usize = outputs.iter().map(|&a| contract.arguments[a].length).sum();
    let go = || tick(fields.load(Ordering::Relaxed) as f64 / total.max(1) as f64);
    let mut judge = Judge::new(contract, limits.work, &go);
    let mut settled: FxHashSet<(usize, NodeId)> = FxHashSet::default();
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
    for (&argument, nodes) in outputs.iter().zip(&case.outputs) {
        for field in 0..contract.arguments[argument].length {
            let open = |why: String| match why == STOPPED {
                true => Flaw::Stopped(why),
                false => Flaw::Open { argument, field, why },
            };
            let root = projection.field(argument, nodes, field).map_err(open)?;
            for (input, index) in projection.leaves(root) {
                let number = contract.arguments[input].any_number();
                read.insert((input, if number { 0 } else { project::absolute(index, field) }));
            }
            done.fields += 1;
            if !settled.insert((argument, root)) {
                continue;
            }
            fields.store(done.fields, Ordering::Relaxed);
            if !go() {
                return Err(Flaw::Stopped(STOPPED.into()));
            }
            judge.decide(&mut projection.out, root, argument).map_err(|no| match no {
                judge::No::Wrong(at) => {
                    let at = at.into_iter();
                    let at = at.map(|((a, i), v)| (a, project::absolute(i, field), v)).collect();
                    Flaw::Wrong { argument, field, at }
                }
                judge::No::Open(why) => open(why),
            })?;
        }
    }
    done.terms = settled.len();
    done.points = judge.points;
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
    for a in contract.inputs() {
        done.unread.extend(
            (0..contract.arguments[a].length).map(|k| (a, k)).filter(|k| !read.contains(k)),
        );
    }
    Ok(done)
}
