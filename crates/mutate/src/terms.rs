//! Whether two objects compute the very same terms: the cheapest proof that they are equal.

use crate::native::Product;
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{ArgSpec, CallSpec, Initial, Object, RegionSpec, lift};

/// What to compare with.
pub struct Terms {
    object: Vec<u8>,
    product: Product,
}

impl Terms {
    /// The original; `None` if it cannot be lifted.
    pub fn of(object: &[u8], product: &Product) -> Option<Terms> {
        let terms = Terms { object: object.to_vec(), product: product.clone() };
        terms.outputs(object, &mut Graph::new())?;
        Some(terms)
    }

    fn outputs(&self, object: &[u8], graph: &mut Graph) -> Option<Vec<NodeId>> {
        let n = self.product.ring.degree();
        let region = |name: &str, operand: Option<u16>| RegionSpec {
            name: name.into(),
            bytes: 2 * n as u64,
            align: 2,
            read: true,
            write: operand.is_none(),
            initial: operand.map_or(Initial::Undefined, |operand| Initial::Inputs {
                operand,
                element_bits: 16,
            }),
        };
        let call = CallSpec {
            symbol: self.product.symbol.clone(),
            regions: vec![region("c", None), region("a", Some(0)), region("b", Some(1))],
            args: (0..3).map(|i| ArgSpec::Pointer(i, 0)).collect(),
            data: Vec::new(),
            ranges: Vec::new(),
            given_sections: Vec::new(),
            coincide: Vec::new(),
            functions: Vec::new(),
            released_branches: 0,
            passes_checks: false,
            max_steps: 10_000_000,
        };
        let object = Object::parse(object).ok()?;
        let lifted = lift(&object, &call, graph, &mut |_| true).ok()?;
        let mut all = Vec::new();
        for case in &lifted.cases {
            for i in 0..n {
                all.push(case.regions[0].element(graph, i, 16).ok()?);
            }
        }
        Some(all)
    }

    /// Whether every output of `mutant` is the term that the original computes, in all cases of
    /// the caller's freedom.
    pub fn same(&self, mutant: &[u8]) -> bool {
        let mut graph = Graph::new();
        let wanted = self.outputs(&self.object, &mut graph);
        wanted.is_some() && wanted == self.outputs(mutant, &mut graph)
    }
}
