//! The calls that a contract for each element allows, lifted to terms.

use super::MapContract;
use crate::calls::{CallLimits, Executed, Interface, NotLifted};
use ringforge_machine::Object;
use ringforge_machine::graph::{Graph, NodeId};

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
    /// Whether some call with any inputs in range runs so.
    pub certain: bool,
}

impl MapCase {
    /// Whether both calls leave the same values, in memory and as the result: one proof is the other's.
    pub fn is_like(&self, other: &MapCase) -> bool {
        let MapCase { name: _, outputs, result, certain: _ } = self;
        *outputs == other.outputs && *result == other.result
    }
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
    let interface = contract.interface();
    interface.cases(object, graph, limits, executed, tick, &|graph, name, _, case, regions| {
        let mut outputs = Vec::new();
        for i in contract.outputs() {
            let (memory, region) = (&contract.arguments[i].memory, &case.regions[regions[i]]);
            let elements = 0..memory.length;
            let nodes = elements.map(|k| region.element(graph, k, memory.element.bits()));
            outputs.push(nodes.collect::<Result<Vec<NodeId>, _>>()?);
        }
        let bits = contract.returns().map(|r| r.element.bits());
        let result = bits.map(|bits| case.result.element(graph, 0, bits)).transpose()?;
        Ok(MapCase { name, outputs, result, certain: case.certain })
    })
}

impl MapContract {
    /// What it says of calls.
    pub(crate) fn interface(&self) -> Interface<'_> {
        Interface {
            symbol: &self.symbol,
            abi: self.abi,
            arguments: self.arguments.iter().map(|a| &a.memory).collect(),
            inputs: self.inputs(),
            ranges: (self.inputs().into_iter())
                .map(|i| &self.arguments[i])
                .map(|a| (!a.packed()).then_some(a.memory.range))
                .collect(),
            alias: &self.alias,
            given: &self.given,
            given_sections: &self.given_sections,
        }
    }
}
