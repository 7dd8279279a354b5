//! Rule *average*: a sum that is half of the sum of two words, where words do not hold that.

use crate::claim::{Why, Witness};
use crate::form::{Form, Word};
use crate::node::Visit;
use ringforge_machine::graph::{Graph, Node, NodeId, Op};

/// x and y where a node is `floor((x + y)/2)`, with both read as unsigned words:
///
/// ```text
/// (x & y) + ((x ^ y) >> 1)   or   (x >> 1) + (y >> 1) + (x & y & 1)
/// ```
pub fn averaged(graph: &Graph, node: &Node) -> Option<(NodeId, NodeId)> {
    if node.op != Op::Add {
        return None;
    }
    let pair = |id: NodeId, op: Op| match graph.node(id) {
        node if node.op == op => {
            Some((node.args[0].min(node.args[1]), node.args[0].max(node.args[1])))
        }
        _ => None,
    };
    let half = |id: NodeId| match graph.node(id) {
        node if node.op == Op::Lshr(1) => Some(node.args[0]),
        _ => None,
    };
    [(0, 1), (1, 0)].into_iter().find_map(|(p, q)| {
        let (p, q) = (node.args[p], node.args[q]);
        if let Some(common) = pair(p, Op::And)
            && half(q).and_then(|x| pair(x, Op::Xor)) == Some(common)
        {
            return Some(common);
        }
        let (x, y) = pair(p, Op::Add)?;
        let (x, y) = (half(x)?, half(y)?);
        let (x, y) = (x.min(y), x.max(y));
        // The lowest bit of both.
        let one = |id: NodeId| graph.node(id).op == Op::Const(1);
        let carry = graph.node(q);
        let carries = carry.op == Op::And
            && [(0, 1), (1, 0)].into_iter().any(|(both, mask)| {
                one(carry.args[mask]) && pair(carry.args[both], Op::And) == Some((x, y))
            });
        carries.then_some((x, y))
    })
}

impl Visit<'_> {
    /// Rule *average*: the node as a quotient of the sum of two integers.
    pub(crate) fn average(&mut self, node: &Node, a: &Form, b: &Form) -> Result<Word, Why> {
        let (x, y) = averaged(self.graph, node).ok_or("a node that is no average")?;
        let w = node.width;
        for (id, form) in [(x, a), (y, b)] {
            let word = self.word(id).clone();
            self.holds(&word, form, &Witness::PLAIN, w, false)?;
        }
        let sum = a.combine(1, b, 1).ok_or("numbers beyond 128 bits")?;
        self.quotient(&sum, 1, w, None)
    }
}
