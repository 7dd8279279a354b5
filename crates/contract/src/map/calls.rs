//! The calls that a contract for each element allows, lifted to terms.

use super::MapContract;
use crate::calls::{CallLimits, Executed, NotLifted, Why};
use crate::contract::Role;
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{
    ArgSpec, CallSpec, ElementError, Initial, LiftError, Object, RegionSpec, lift,
};

/// One way of calling the function, lifted. Operands of its inputs are numbered as in
/// [`MapContract::inputs`]; numbers are element 0.
#[derive(Clone, Debug)]
pub struct MapCase {
    /// `disjoint`, `c = a`, with the alignment case where there are several.
    pub name: String,
    /// Of each argument that is written, in order, its elements in memory.
    pub outputs: Vec<Vec<NodeId>>,
    /// The result, if the contract says what it is.
    pub result: Option<NodeId>,
}

impl MapCase {
    /// Whether both calls leave the same values, in memory and as the result: one proof is the other's.
    pub fn is_like(&self, other: &MapCase) -> bool {
        let MapCase { name: _, outputs, result } = self;
        *outputs == other.outputs && *result == other.result
    }
}

/// Pairs of inputs, by argument, that callers may pass as one array: of one shape.
pub(super) fn one_array(contract: &MapContract) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (j, b) in contract.arguments.iter().enumerate() {
        for (i, a) in contract.arguments[..j].iter().enumerate() {
            let (a, b) = (&a.memory, &b.memory);
            let inputs = a.role == Role::Input && b.role == Role::Input;
            if inputs && a.element == b.element && a.length == b.length {
                pairs.push((i, j));
            }
        }
    }
    pairs
}

/// A call, and where each argument lies.
fn call(
    contract: &MapContract,
    variant: Option<(usize, usize)>,
    limits: CallLimits,
) -> (CallSpec, Vec<usize>) {
    let inputs = contract.inputs();
    let operand = |i: usize| inputs.iter().position(|&x| x == i).map(|o| o as u16);
    let mut regions = Vec::new();
    let mut region_of = vec![usize::MAX; contract.arguments.len()];
    for (i, a) in contract.arguments.iter().enumerate() {
        let a = &a.memory;
        // A number has none, and what is aliased shares the input's.
        if a.role == Role::Number || variant.is_some_and(|v| v.0 == i) {
            continue;
        }
        let shared = variant.filter(|v| v.1 == i).map(|v| &contract.arguments[v.0].memory);
        region_of[i] = regions.len();
        regions.push(RegionSpec {
            name: a.name.clone(),
            bytes: a.length as u64 * u64::from(a.element.bits() / 8),
            align: a.align.max(shared.map_or(1, |o| o.align)),
            read: true,
            write: a.role.writes() || shared.is_some(),
            initial: match operand(i) {
                Some(operand) => Initial::Inputs { operand, element_bits: a.element.bits() },
                None if a.role == Role::Table => Initial::Bytes(a.table_bytes()),
                None => Initial::Undefined,
            },
        });
    }
    if let Some((output, input)) = variant {
        region_of[output] = region_of[input];
    }
    let mut data = Vec::new();
    for given in &contract.given {
        let bytes = given.bytes();
        data.push((given.symbol.clone(), regions.len()));
        regions.push(RegionSpec {
            name: given.symbol.clone(),
            bytes: bytes.len() as u64,
            align: given.align,
            read: true,
            write: false,
            initial: Initial::Bytes(bytes),
        });
    }
    let args = contract.arguments.iter().enumerate().map(|(i, a)| match operand(i) {
        Some(operand) if a.any_number() => ArgSpec::Input { operand },
        _ if a.memory.role == Role::Number => ArgSpec::Constant(a.memory.values[0] as u64),
        _ => ArgSpec::Pointer(region_of[i], 0),
    });
    let coincide = match variant {
        None => one_array(contract).iter().map(|&(a, b)| (region_of[a], region_of[b])).collect(),
        Some(_) => Vec::new(),
    };
    let spec = CallSpec {
        symbol: contract.symbol.clone(),
        args: args.collect(),
        regions,
        data,
        given_sections: contract.given_sections.clone(),
        coincide,
        functions: Vec::new(),
        released_branches: 0,
        max_steps: limits.max_steps,
    };
    (spec, region_of)
}

/// Lifts all calls that `contract` allows into one graph: disjoint first, then one for each alias. `executed` receives
/// what is executed, even if a call fails; `tick` the fraction done, and returns false to stop.
///
/// # Errors
/// The first call that has no terms.
pub fn cases(
    contract: &MapContract,
    object: &Object,
    graph: &mut Graph,
    limits: CallLimits,
    executed: &mut Executed,
    tick: &mut dyn FnMut(f64) -> bool,
) -> Result<Vec<MapCase>, NotLifted> {
    let failed = |call: &str, why: Why| NotLifted { call: call.to_string(), why };
    if let Err(why) = contract.abi.check(object) {
        return Err(failed("", Why::Lift(Box::new(LiftError::BadCall(why)))));
    }
    let variants: Vec<_> =
        std::iter::once(None).chain(contract.alias.iter().copied().map(Some)).collect();
    let mut cases = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        let argument = |i: usize| &contract.arguments[i].memory;
        let name = match variant {
            None => "disjoint".to_string(),
            Some((o, i)) => format!("{} = {}", argument(*o).name, argument(*i).name),
        };
        let (spec, region_of) = call(contract, *variant, limits);
        let lifted = lift(object, &spec, graph, &mut |steps| {
            let part = 1.0 - 1.0 / (1.0 + steps as f64 / 50_000.0);
            tick((at as f64 + part) / variants.len() as f64)
        });
        let lifted = lifted.map_err(|e| match e {
            LiftError::Stopped { .. } => failed(&name, Why::Stopped),
            e => failed(&name, Why::Lift(Box::new(e))),
        })?;
        executed.add(&lifted.stats, at == 0);
        if lifted.stats.instructions == 0 {
            return Err(failed(&name, Why::Nothing));
        }
        for case in &lifted.cases {
            let name = match case.condition.as_str() {
                "" => name.clone(),
                condition => format!("{name}, {condition}"),
            };
            let mut outputs = Vec::new();
            for i in contract.outputs() {
                let (memory, region) = (argument(i), &case.regions[region_of[i]]);
                let elements = 0..memory.length;
                let nodes: Result<Vec<NodeId>, ElementError> =
                    elements.map(|k| region.element(graph, k, memory.element.bits())).collect();
                outputs.push(nodes.map_err(|e| failed(&name, e.into()))?);
            }
            let bits = contract.returns.map(|r| r.element.bits());
            let result = bits.map(|bits| case.result.element(graph, 0, bits)).transpose();
            let result = result.map_err(|e| failed(&name, e.into()))?;
            cases.push(MapCase { name, outputs, result });
        }
    }
    Ok(cases)
}
