//! Plain nodes: sums that grow term by term, and nodes without a line, which the kernel finds by
//! itself.

use crate::values::{Atom, AtomId, Form};
use crate::walk::Walk;
use ringforge_machine::graph::{NodeId, Op};
use std::sync::Arc;

impl Walk<'_> {
    /// Writes the node's line of the certificate.
    pub(crate) fn write(&mut self, id: NodeId, form: &Form) {
        if !matches!(self.graph.node(id).op, Op::Const(_) | Op::Input { .. }) {
            let linear = self.linear(id);
            self.cut.record_node(id.0, form, self.width(id), linear.as_ref());
        }
    }

    /// A node's form where that follows from its arguments' without a rule.
    pub(crate) fn linear(&self, id: NodeId) -> Option<Form> {
        let node = self.graph.node(id);
        let (w, args) = (node.width, &node.args);
        match node.op {
            Op::Add => Some(Form::combine(&self.get(args[0]), 1, &self.get(args[1]), 1, w)),
            Op::Sub => Some(Form::combine(&self.get(args[0]), 1, &self.get(args[1]), -1, w)),
            Op::Shl(k) => Some(self.get(args[0]).scaled(1i64.wrapping_shl(k.into()), w)),
            Op::Slice { lo: 0 } => Some(self.get(args[0]).scaled(1, w)),
            Op::Mul => {
                let (x, y) = (self.get(args[0]), self.get(args[1]));
                match (x.t.is_empty(), y.t.is_empty()) {
                    (true, _) => Some(y.scaled(x.k, w)),
                    (_, true) => Some(x.scaled(y.k, w)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether an atom is a function or a quotient.
    pub(crate) fn functional(&self, a: AtomId) -> bool {
        matches!(self.cut.world.atoms[a as usize], Atom::Fun(..) | Atom::Floor(_))
    }

    /// Adds one argument's form to the other's in place. The latter must be read here for the last
    /// time, and neither form may have a function.
    pub(crate) fn added(&mut self, id: NodeId) -> Option<Form> {
        let node = self.graph.node(id);
        let (&[x, y], Op::Add | Op::Sub) = (&node.args[..], &node.op) else { return None };
        let last = |a: NodeId| self.uses[a.0 as usize] == 1 && !self.keep;
        let terms = |a: NodeId| self.forms[&a].t.len();
        // A difference is no sum of its second argument.
        let sum = match (last(x), node.op == Op::Add && last(y)) {
            _ if x == y || self.mixed[x.0 as usize] || self.mixed[y.0 as usize] => return None,
            (true, true) if terms(y) > terms(x) => y,
            (true, _) => x,
            (false, true) => y,
            (false, false) => return None,
        };
        let form = Arc::try_unwrap(self.forms.remove(&sum)?);
        // Where somebody else holds it, it is as good to add as the others.
        let form = form.unwrap_or_else(|shared| (*shared).clone());
        let other = self.get(if sum == x { y } else { x });
        Some(form.added(&other, if node.op == Op::Sub { -1 } else { 1 }, node.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::Random;
    use ringforge_contract::InputRange;
    use ringforge_machine::graph::Graph;

    #[test]
    fn terms_in_any_order_are_their_sum() {
        let mut random = Random(10);
        for count in 0..40 {
            let terms: Vec<(AtomId, i64)> = (0..count)
                .map(|_| {
                    (
                        (random.next() % 9) as AtomId,
                        [1, -1, i64::MAX, 3][random.next() as usize % 4],
                    )
                })
                .collect();
            let one =
                |sum: Form, &(a, c): &(AtomId, i64)| Form::combine(&sum, 1, &Form::atom(a), c, 64);
            let sum = terms.iter().fold(Form { k: 7, t: Vec::new() }, one);
            assert_eq!(Form::of(7, terms), sum);
        }
    }

    /// Random sums of sums, which are read once or more often, at the left and at the right: the same as where every form
    /// stays.
    #[test]
    fn sums_in_their_place_are_the_sums() {
        let mut random = Random(9);
        let mut long = 0;
        for width in [16u8, 32, 64] {
            for _ in 0..40 {
                let mut graph = Graph::new();
                let inputs: Vec<NodeId> = (0..30)
                    .map(|i| {
                        let x = graph.input(16, 0, i);
                        if width == 16 { x } else { graph.sext(x, width) }
                    })
                    .collect();
                let mut sums: Vec<NodeId> = inputs.clone();
                for step in 0..200 {
                    let any = |random: &mut Random, all: &[NodeId]| {
                        all[(random.next() % all.len() as u64) as usize]
                    };
                    let last = sums[sums.len() - 1];
                    let other = match random.next() % 8 {
                        0 => any(&mut random, &sums),
                        _ => any(&mut random, &inputs),
                    };
                    let next = match random.next() % 3 {
                        0 => graph.add(last, other),
                        1 => graph.add(other, last),
                        // Not too often: of a difference the first is changed.
                        _ if step % 2 == 0 => graph.sub(last, other),
                        _ => graph.sub(other, last),
                    };
                    sums.push(next);
                }
                let outputs = [sums[sums.len() - 1], sums[100], sums[170]];
                let form = |keep: bool| {
                    let range = InputRange { lo: -9, hi: 9, signed: true };
                    let mut walk = Walk::new(&graph, 4591, vec![range]);
                    walk.keep = keep;
                    walk.run(&outputs, &mut |_, _| true).expect("it is not stopped");
                    outputs.map(|node| walk.form(node).expect("an output").clone())
                };
                let sums = form(false);
                long += usize::from(sums[0].t.len() > 16);
                assert_eq!(sums, form(true));
            }
        }
        assert!(long > 20, "{long}");
    }
}
