//! The calls that a contract allows, lifted to terms.

use crate::contract::{Abi, Argument, Contract, Given, Role};
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{
    ArgSpec, CallSpec, Case as LiftedCase, Class, ElementError, Initial, LiftError, LiftStats,
    Object, RegionSpec, lift,
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
    /// Whether some call with any inputs in range runs so: see [`LiftedCase::certain`].
    pub certain: bool,
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
    Output(ElementError),
    /// The same on a way that may be impossible, so that it refutes nothing.
    #[error("on a way that may be impossible: output: {0}")]
    Doubtful(ElementError),
}

/// What a contract says of its calls, whatever it says of the results.
pub(crate) struct Interface<'a> {
    pub symbol: &'a str,
    pub abi: Abi,
    pub arguments: Vec<&'a Argument>,
    /// Positions of what is read: the operands.
    pub inputs: Vec<usize>,
    /// Of each operand, the range of its elements in memory, where it is known.
    pub ranges: Vec<Option<(i64, i64)>>,
    pub alias: &'a [(usize, usize)],
    pub given: &'a [Given],
    pub given_sections: &'a [String],
}

impl Interface<'_> {
    /// Pairs of inputs, by argument, that callers may pass as one array where no two others are one: of one
    /// shape, since only then they can begin and end together.
    pub fn one_array(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (j, b) in self.arguments.iter().enumerate() {
            for (i, a) in self.arguments[..j].iter().enumerate() {
                let inputs = a.role == Role::Input && b.role == Role::Input;
                if inputs && a.element == b.element && a.length == b.length {
                    pairs.push((i, j));
                }
            }
        }
        pairs
    }

    /// The operand that an argument is.
    fn operand(&self, i: usize) -> Option<u16> {
        self.inputs.iter().position(|&x| x == i).map(|o| o as u16)
    }

    /// A call, and where each argument lies.
    fn call(&self, variant: Option<(usize, usize)>, limits: CallLimits) -> (CallSpec, Vec<usize>) {
        let mut regions = Vec::new();
        let mut region_of = vec![usize::MAX; self.arguments.len()];
        for (i, a) in self.arguments.iter().enumerate() {
            // A number has none, and what is aliased shares the input's.
            if a.role == Role::Number || variant.is_some_and(|v| v.0 == i) {
                continue;
            }
            let shared = variant.filter(|v| v.1 == i).map(|v| self.arguments[v.0]);
            region_of[i] = regions.len();
            regions.push(RegionSpec {
                name: a.name.clone(),
                bytes: a.length as u64 * u64::from(a.element.bits() / 8),
                align: a.align.max(shared.map_or(1, |o| o.align)),
                read: true,
                write: a.role.writes() || shared.is_some(),
                initial: match self.operand(i) {
                    Some(operand) => Initial::Inputs { operand, element_bits: a.element.bits() },
                    None if a.role == Role::Table => Initial::Bytes(a.table_bytes()),
                    None => Initial::Undefined,
                },
            });
        }
        if let Some((output, input)) = variant {
            region_of[output] = region_of[input];
        }
        let mut data = Vec::with_capacity(self.given.len());
        for given in self.given {
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
        let args =
            self.arguments.iter().enumerate().map(|(i, a)| match (a.role, self.operand(i)) {
                (Role::Number, Some(operand)) => ArgSpec::Input { operand },
                (Role::Number, None) => ArgSpec::Constant(a.values[0] as u64),
                _ => ArgSpec::Pointer(region_of[i], 0),
            });
        let pairs = if variant.is_none() { self.one_array() } else { Vec::new() };
        let spec = CallSpec {
            symbol: self.symbol.to_string(),
            args: args.collect(),
            regions,
            data,
            ranges: self.ranges.clone(),
            given_sections: self.given_sections.to_vec(),
            coincide: pairs.into_iter().map(|(a, b)| (region_of[a], region_of[b])).collect(),
            functions: Vec::new(),
            released_branches: 0,
            passes_checks: false,
            max_steps: limits.max_steps,
        };
        (spec, region_of)
    }

    /// Lifts all calls into one graph: disjoint first (where two inputs of one shape may be one array), then one for
    /// each alias. `make` makes a case of a name, a variant, what was lifted and where each argument lies.
    pub fn cases<T>(
        &self,
        object: &Object,
        graph: &mut Graph,
        limits: CallLimits,
        executed: &mut Executed,
        tick: &mut dyn FnMut(f64) -> bool,
        make: Make<'_, T>,
    ) -> Result<Vec<T>, NotLifted> {
        let failed = |call: &str, why: Why| NotLifted { call: call.to_string(), why };
        if let Err(why) = self.abi.check(object) {
            return Err(failed("", Why::Lift(Box::new(LiftError::BadCall(why)))));
        }
        let aliases = self.alias.iter().copied().map(Some);
        let variants: Vec<Variant> = std::iter::once(None).chain(aliases).collect();
        let count = variants.len() as f64;
        let mut cases = Vec::new();
        for (at, &variant) in variants.iter().enumerate() {
            let argument = |i: usize| &self.arguments[i].name;
            let name = match variant {
                None => "disjoint".to_string(),
                Some((o, i)) => format!("{} = {}", argument(o), argument(i)),
            };
            if !tick(at as f64 / count) {
                return Err(failed(&name, Why::Stopped));
            }
            let (spec, region_of) = self.call(variant, limits);
            let lifted = lift(object, &spec, graph, &mut |steps| {
                let part = 1.0 - 1.0 / (1.0 + steps as f64 / 50_000.0);
                tick((at as f64 + part) / count)
            });
            let mut lifted = lifted.map_err(|e| match e {
                LiftError::Stopped { .. } => failed(&name, Why::Stopped),
                e => failed(&name, Why::Lift(Box::new(e))),
            })?;
            // Every call runs as one of the cases. If they all leave the same, some call does.
            let agree = lifted.cases_agree();
            lifted.cases.iter_mut().for_each(|case| case.certain |= agree);
            executed.add(&lifted.stats, at == 0);
            if lifted.stats.instructions == 0 {
                return Err(failed(&name, Why::Nothing));
            }
            for case in &lifted.cases {
                let full = match case.condition.as_str() {
                    "" => name.clone(),
                    condition => format!("{name}, {condition}"),
                };
                let made = make(graph, full.clone(), variant, case, &region_of);
                let why = |e| if case.certain { Why::Output(e) } else { Why::Doubtful(e) };
                cases.push(made.map_err(|e| failed(&full, why(e)))?);
            }
        }
        Ok(cases)
    }
}

/// The output and the input that are one array, by argument.
type Variant = Option<(usize, usize)>;

/// Makes a case.
type Make<'a, T> =
    &'a dyn Fn(&mut Graph, String, Variant, &LiftedCase, &[usize]) -> Result<T, ElementError>;

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
    let interface = contract.interface();
    let output = &contract.arguments[contract.output()];
    interface.cases(
        object,
        graph,
        limits,
        executed,
        tick,
        &|graph, name, variant, case, regions| {
            let region = &case.regions[regions[contract.output()]];
            let elements = 0..output.length;
            let nodes = elements.map(|i| region.element(graph, i, output.element.bits()));
            let tie = variant.filter(|v| contract.arguments[v.0].role == Role::InOut);
            let tie = tie.and_then(|v| interface.operand(v.1)).map(usize::from);
            let (certain, outputs) = (case.certain, nodes.collect::<Result<_, _>>()?);
            Ok(CallCase { name, outputs, tie, certain })
        },
    )
}

impl Contract {
    /// What it says of calls.
    pub(crate) fn interface(&self) -> Interface<'_> {
        Interface {
            symbol: &self.symbol,
            abi: self.abi,
            arguments: self.arguments.iter().collect(),
            inputs: self.inputs(),
            ranges: self.inputs().into_iter().map(|i| Some(self.arguments[i].range)).collect(),
            alias: &self.alias,
            given: &self.given,
            given_sections: &self.given_sections,
        }
    }
}
