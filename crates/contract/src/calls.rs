//! The calls that a contract allows, lifted to terms.

use crate::contract::{Argument, Contract, Role};
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{
    ArgSpec, CallSpec, Class, ElementError, Initial, LiftError, LiftStats, Object, RegionSpec, lift,
};
use std::collections::BTreeMap;

/// The interval of an input array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputRange {
    /// Least value.
    pub lo: i64,
    /// Greatest value.
    pub hi: i64,
    /// Whether elements are read as signed.
    pub signed: bool,
}

/// One way of calling the function, lifted: the terms of the outputs. Operands of its inputs are
/// numbered as in [`Contract::inputs`].
#[derive(Clone, Debug)]
pub struct CallCase {
    /// `disjoint`, `c = a`, with the alignment case where there are several.
    pub name: String,
    /// Output elements.
    pub outputs: Vec<NodeId>,
    /// The operand that shares memory with what is accumulated, if one does: both are one array.
    pub tie: Option<usize>,
}

impl CallCase {
    /// Intervals of the operands' elements: what callers promise, of both where two are one.
    pub fn ranges(&self, contract: &Contract) -> Vec<(i64, i64)> {
        let mut ranges: Vec<(i64, i64)> =
            contract.inputs().iter().map(|&i| contract.arguments[i].range).collect();
        if let Some(tie) = self.tie {
            let (x, y) = (ranges[0], ranges[tie]);
            let both = (x.0.max(y.0), x.1.min(y.1));
            (ranges[0], ranges[tie]) = (both, both);
        }
        ranges
    }

    /// The same as ranges of input nodes.
    pub fn input_ranges(&self, contract: &Contract) -> Vec<InputRange> {
        let ranges = self.ranges(contract).into_iter().zip(contract.inputs());
        let one = |((lo, hi), i): ((i64, i64), usize)| InputRange {
            lo,
            hi,
            signed: contract.arguments[i].element.signed(),
        };
        ranges.map(one).collect()
    }

    /// Gives operands that are one array the same values.
    pub fn tied(&self, inputs: &mut [Vec<i64>]) {
        if let Some(tie) = self.tie {
            inputs[0] = inputs[tie].clone();
        }
    }
}

/// What execution may cost.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// Instructions of one call, and bytes that it copies.
    pub max_steps: u64,
}

/// What was executed.
#[derive(Clone, Debug, Default)]
pub struct Executed {
    /// Instructions of the first call.
    pub instructions: u64,
    /// Bytes of distinct code that the first call executed.
    pub code_bytes: u64,
    /// The first call's instructions by class.
    pub by_class: BTreeMap<Class, u64>,
    /// Deepest use of the stack in bytes, of all calls.
    pub stack_bytes: u64,
    /// What was taken for granted in any call, one sentence each.
    pub assumptions: Vec<String>,
}

impl Executed {
    pub(crate) fn add(&mut self, stats: &LiftStats, first: bool) {
        if first {
            self.instructions = stats.instructions;
            self.code_bytes = stats.code_bytes;
            self.by_class = stats.by_class.clone();
        }
        self.stack_bytes = self.stack_bytes.max(stats.stack_bytes);
        for a in &stats.assumptions {
            if !self.assumptions.contains(a) {
                self.assumptions.push(a.clone());
            }
        }
    }
}

/// Why the calls have no terms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {why}")]
pub struct NotLifted {
    /// The call: `disjoint`, `c = a`, with the alignment case where there are several.
    pub call: String,
    /// What stopped it.
    pub why: Why,
}

/// What stopped a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// `tick` said so.
    #[error("stopped by the caller")]
    Stopped,
    /// An object's function that returns without executing anything is not understood.
    #[error("no instruction was executed")]
    Nothing,
    /// It cannot be executed, or breaks the contract on the way.
    #[error(transparent)]
    Lift(Box<LiftError>),
    /// An output element has no value.
    #[error("output: {0}")]
    Output(#[from] ElementError),
}

/// A call to lift.
struct Call {
    name: String,
    spec: CallSpec,
    /// The output's region.
    region: usize,
    tie: Option<usize>,
}

/// Pairs of inputs, by argument, that callers may pass as one array where no two others are one: of one
/// shape, since only then they can begin and end together.
pub(crate) fn one_array(contract: &Contract) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (j, b) in contract.arguments.iter().enumerate() {
        for (i, a) in contract.arguments[..j].iter().enumerate() {
            let inputs = a.role == Role::Input && b.role == Role::Input;
            if inputs && a.element == b.element && a.length == b.length {
                pairs.push((i, j));
            }
        }
    }
    pairs
}

/// The calls that the contract allows: disjoint first (where two inputs of one shape may be one
/// array), then one for each alias.
fn calls(contract: &Contract, limits: CallLimits) -> Vec<Call> {
    let operands = contract.inputs();
    let operand = |i: usize| operands.iter().position(|&x| x == i);
    let mut calls = Vec::new();
    let mut variants: Vec<Option<(usize, usize)>> = vec![None];
    variants.extend(contract.alias.iter().copied().map(Some));
    for variant in variants {
        let mut regions = Vec::new();
        let mut region_of = vec![0; contract.arguments.len()];
        for (i, a) in contract.arguments.iter().enumerate() {
            if a.role == Role::Number {
                continue; // passed by value
            }
            let written = a.role.writes();
            if written && variant.is_some() {
                continue; // shares the input's region
            }
            region_of[i] = regions.len();
            let shared = variant.is_some_and(|v| v.1 == i);
            let output = variant.map(|v| &contract.arguments[v.0]).filter(|_| shared);
            regions.push(RegionSpec {
                name: a.name.clone(),
                bytes: a.length as u64 * u64::from(a.element.bits() / 8),
                align: a.align.max(output.map_or(1, |o| o.align)),
                read: true,
                write: written || shared,
                initial: match operand(i) {
                    Some(o) => {
                        Initial::Inputs { operand: o as u16, element_bits: a.element.bits() }
                    }
                    None if a.role == Role::Table => Initial::Bytes(a.table_bytes()),
                    None => Initial::Undefined,
                },
            });
        }
        let mut data = Vec::with_capacity(contract.given.len());
        for given in &contract.given {
            data.push((given.symbol.clone(), regions.len()));
            let bytes = given.bytes();
            regions.push(RegionSpec {
                name: given.symbol.clone(),
                bytes: bytes.len() as u64,
                align: given.align,
                read: true,
                write: false,
                initial: Initial::Bytes(bytes),
            });
        }
        if let Some((o, i)) = variant {
            region_of[o] = region_of[i];
        }
        let argument = |(a, &r): (&Argument, &usize)| match a.role {
            Role::Number => ArgSpec::Constant(a.values[0] as u64),
            _ => ArgSpec::Pointer(r, 0),
        };
        let args = contract.arguments.iter().zip(&region_of).map(argument).collect();
        let name = match variant {
            None => "disjoint".to_string(),
            Some((o, i)) => {
                format!("{} = {}", contract.arguments[o].name, contract.arguments[i].name)
            }
        };
        let spec = CallSpec {
            symbol: contract.symbol.clone(),
            regions,
            args,
            data,
            given_sections: contract.given_sections.clone(),
            coincide: if variant.is_none() {
                let region = |i: usize| region_of[i];
                one_array(contract).into_iter().map(|(a, b)| (region(a), region(b))).collect()
            } else {
                Vec::new()
            },
            functions: Vec::new(),
            released_branches: 0,
            max_steps: limits.max_steps,
        };
        let tie = variant.filter(|v| contract.arguments[v.0].role == Role::InOut);
        calls.push(Call {
            name,
            spec,
            region: region_of[contract.output()],
            tie: tie.and_then(|v| operand(v.1)),
        });
    }
    calls
}

/// Lifts all calls that `contract` allows into one graph. `executed` receives what is executed, even if a call
/// fails. `tick` receives the fraction done, and returns false to stop.
///
/// # Errors
/// The first call that has no terms.
pub fn cases(
    contract: &Contract,
    object: &Object,
    graph: &mut Graph,
    limits: CallLimits,
    executed: &mut Executed,
    tick: &mut dyn FnMut(f64) -> bool,
) -> Result<Vec<CallCase>, NotLifted> {
    let output = &contract.arguments[contract.output()];
    let (length, bits) = (output.length, output.element.bits());
    if let Err(why) = contract.abi.check(object) {
        let why = Why::Lift(Box::new(LiftError::BadCall(why)));
        return Err(NotLifted { call: String::new(), why });
    }
    let mut cases = Vec::new();
    let calls = calls(contract, limits);
    let count = calls.len() as f64;
    for (at, Call { name, spec, region, tie }) in calls.into_iter().enumerate() {
        let failed = |call: &str, why: Why| NotLifted { call: call.to_string(), why };
        if !tick(at as f64 / count) {
            return Err(failed(&name, Why::Stopped));
        }
        let lifted = lift(object, &spec, graph, &mut |steps| {
            let part = 1.0 - 1.0 / (1.0 + steps as f64 / 50_000.0);
            tick((at as f64 + part) / count)
        })
        .map_err(|e| match e {
            LiftError::Stopped { .. } => failed(&name, Why::Stopped),
            e => failed(&name, Why::Lift(Box::new(e))),
        })?;
        executed.add(&lifted.stats, at == 0);
        if lifted.stats.instructions == 0 {
            return Err(failed(&name, Why::Nothing));
        }
        for case in &lifted.cases {
            let full = if case.condition.is_empty() {
                name.clone()
            } else {
                format!("{name}, {}", case.condition)
            };
            let outputs: Result<Vec<NodeId>, ElementError> =
                (0..length).map(|i| case.regions[region].element(graph, i, bits)).collect();
            let outputs = outputs.map_err(|e| failed(&full, e.into()))?;
            cases.push(CallCase { name: full, outputs, tie });
        }
    }
    Ok(cases)
}
