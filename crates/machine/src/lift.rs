//! Runs one call in all its cases: alignments, orders in memory, both ways of branches on released
//! data.

use crate::aarch64::AArch64;
use crate::call::CallSpec;
use crate::core::{Choice, Fallible, InstructionSet, Machine, Order, Stop};
use crate::error::{LiftError, Violation};
use crate::graph::Graph;
use crate::lifted::{Case, FinalRegion, LiftStats, Lifted};
use crate::object::{Architecture, Object};
use crate::thumb::Thumb;
use crate::x86_64::X86_64;

/// Bytes of stack that every hosted thread has: musl gives 128 KiB to a new one. A call that needs
/// more states so as an assumption.
const USUAL_STACK: u64 = 64 << 10;

/// Cases that one call may be split into.
const MOST_CASES: usize = 64;

/// Executes the call `call` of `object` symbolically. Terms go to `graph`, which several lifts may
/// share. `progress` gets the number of steps, every few thousand, and returns false to stop.
///
/// The code may look at something that the caller leaves open: the alignment of its frame or of a
/// buffer, or how two buffers lie in memory. Then the call is executed once for each case.
///
/// # Errors
/// See [`LiftError`]: violations refute the contract, everything else leaves it open.
pub fn lift(
    object: &Object,
    call: &CallSpec,
    graph: &mut Graph,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Lifted, LiftError> {
    match object.architecture() {
        Architecture::X86_64 => all_cases::<X86_64>(object, call, graph, progress),
        Architecture::AArch64 => all_cases::<AArch64>(object, call, graph, progress),
        Architecture::Armv7EM => all_cases::<Thumb>(object, call, graph, progress),
    }
}

/// The call in all its cases.
fn all_cases<I: InstructionSet>(
    object: &Object,
    call: &CallSpec,
    graph: &mut Graph,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Lifted, LiftError> {
    let mut open = vec![Choice::default()];
    let mut cases = Vec::new();
    let mut stats: Option<LiftStats> = None;
    // Why the first split on pointers happened: the answer if a way turns out impossible to run.
    let mut comparison: Option<LiftError> = None;
    while let Some(choice) = open.pop() {
        if cases.len() + open.len() >= MOST_CASES {
            return Err(comparison.unwrap_or_else(|| {
                LiftError::BadCall(format!(
                    "the code distinguishes more than {MOST_CASES} ways in which its buffers may \
                     lie in memory; state their alignment in the contract"
                ))
            }));
        }
        match run::<I>(object, call, graph, &choice, progress).map_err(|stop| *stop) {
            Ok((case, counts)) => {
                cases.push(case);
                match &mut stats {
                    None => stats = Some(counts),
                    Some(first) => first.join(&counts),
                }
            }
            // A way that pointers decide may be impossible, so what happens there refutes nothing.
            Err(Stop::Error(e @ (LiftError::Violation(_) | LiftError::StepLimit { .. })))
                if !(choice.decisions.is_empty() && choice.orders.is_empty()) =>
            {
                return Err(comparison.unwrap_or(e));
            }
            Err(Stop::Error(LiftError::Violation(v))) if !choice.releases.is_empty() => {
                return Err(LiftError::Doubtful("a branch on released data", Box::new(v)));
            }
            Err(Stop::Error(e)) => return Err(e),
            Err(Stop::NeedResidue { region, modulus, align, residue }) => {
                for k in (0..modulus / align).rev() {
                    let r = residue + k * align;
                    let mut next = choice.clone();
                    next.residues.retain(|c| c.0 != region);
                    next.residues.push((region, modulus, r));
                    open.push(next);
                }
            }
            Err(Stop::NeedRelease) => {
                for way in [true, false] {
                    let mut next = choice.clone();
                    next.releases.push(way);
                    open.push(next);
                }
            }
            Err(Stop::NeedOrder { a, b, ways, error }) => {
                comparison.get_or_insert(error);
                for &order in ways {
                    let mut next = choice.clone();
                    next.orders.push((a, b, order));
                    open.push(next);
                }
            }
            Err(Stop::NeedDecision { condition, at, error }) => {
                comparison.get_or_insert(error);
                for value in [true, false] {
                    let mut next = choice.clone();
                    next.decisions.push((condition, value, at));
                    open.push(next);
                }
            }
        }
    }
    Ok(Lifted { cases, stats: stats.unwrap_or_default() })
}

/// Whether arrays can lie in these orders, whatever they hold. Arrays that are one hold the same, so that not every pair of
/// inputs is theirs.
fn some_memory(orders: &[(u16, u16, Order)]) -> bool {
    let mut above = Vec::new();
    for &(a, b, order) in orders {
        match order {
            Order::Above => above.push((a, b)),
            Order::Below => above.push((b, a)),
            Order::Equal => return false,
        }
    }
    // Orders without a circle: what nothing has to lie above goes first.
    loop {
        let before = above.len();
        let highs: Vec<u16> = above.iter().map(|pair| pair.0).collect();
        above.retain(|pair| highs.contains(&pair.1));
        if above.len() == before {
            return above.is_empty();
        }
    }
}

fn run<I: InstructionSet>(
    object: &Object,
    call: &CallSpec,
    graph: &mut Graph,
    choice: &Choice,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Fallible<(Case, LiftStats)> {
    let mut machine = Machine::<I>::new(object, call, graph, choice)?;
    let ran = machine.run(progress);
    machine.g.set_origin(None);
    ran.map_err(|stop| {
        Box::new(match (*stop, machine.unreached.first()) {
            (Stop::Error(LiftError::Violation(v)), _) if !machine.checks.is_empty() => {
                Stop::Error(LiftError::Doubtful("a check that is assumed to pass", Box::new(v)))
            }
            (Stop::Error(LiftError::Violation(v @ Violation::ConstantTime { .. })), Some(f)) => {
                Stop::Error(LiftError::Inlined(f.clone(), Box::new(v)))
            }
            (stop, _) => stop,
        })
    })?;
    let mut conditions = Vec::new();
    let name = |region: u16| machine.regions[usize::from(region)].name.as_str();
    for &(region, modulus, residue) in &choice.residues {
        conditions.push(format!("{} starts at {residue} modulo {modulus}", name(region)));
    }
    for &(a, b, order) in &choice.orders {
        conditions.push(match order {
            Order::Above => format!("{} lies above {}", name(a), name(b)),
            Order::Below => format!("{} lies above {}", name(b), name(a)),
            Order::Equal => format!("{} and {} are one array", name(a), name(b)),
        });
    }
    for &(_, value, at) in &choice.decisions {
        let is = if value { "holds" } else { "does not hold" };
        conditions.push(format!("the condition on addresses at {at:#x} {is}"));
    }
    for (i, way) in choice.releases.iter().enumerate() {
        let way = if *way { "taken" } else { "not taken" };
        conditions.push(format!("branch {} on released data is {way}", i + 1));
    }
    let regions = machine.regions[..call.regions.len()]
        .iter()
        .map(|r| FinalRegion {
            name: r.name.clone(),
            bytes: r.data.clone(),
            loaded: r.loaded.clone(),
        })
        .collect();
    let stack_bytes = machine.deepest.unsigned_abs();
    if stack_bytes > USUAL_STACK {
        machine.assume(format!("the caller's stack has room for {stack_bytes} bytes more"));
    }
    let mut stats = LiftStats {
        instructions: machine.steps,
        bytes_loaded: machine.loaded,
        bytes_stored: machine.stored,
        stack_bytes,
        assumptions: machine.assumptions.clone(),
        stood_in: machine.stood_in.clone(),
        checks: machine.checks.clone(),
        ..LiftStats::default()
    };
    for d in &machine.code {
        *stats.by_class.entry(d.class).or_default() += d.executed;
        *stats.by_mnemonic.entry(d.mnemonic.clone()).or_default() += d.executed;
        stats.code_bytes += I::length(&d.instruction) as u64;
    }
    let residue = machine.residue();
    let bytes = machine.cpu.word(machine.convention.result).to_vec();
    let result = FinalRegion { name: "the result".into(), loaded: vec![false; bytes.len()], bytes };
    let doubts = choice.decisions.len() + choice.releases.len() + machine.checks.len();
    let certain = doubts == 0 && some_memory(&choice.orders);
    let condition = conditions.join(", ");
    Ok((Case { condition, certain, regions, result, residue }, stats))
}
