//! A walk in step with the kernel: it takes a line only if the kernel accepts the line.
//!
//! The search writes lines for what it holds to be true, and the kernel replays them afterwards. If
//! the kernel refuses one, the search walks once more and asks about each line. A refused line is
//! an attempt that failed. The node then keeps what needs no line, or becomes an unknown value,
//! with a reason that says why the line was refused.

use crate::values::Form;
use crate::walk::Walk;
use ringforge_kernel::atom::Atom;
use ringforge_kernel::certificate::Line;
use ringforge_kernel::claim::{Why, Witness};
use ringforge_kernel::form::Form as Sum;
use ringforge_kernel::fun::{Fun, FunOp};
use ringforge_kernel::replay;
use ringforge_machine::graph::NodeId;
use std::sync::Arc;

/// The kernel, and how many of the lines it was given.
pub(crate) struct Beside<'g> {
    kernel: replay::Walk<'g>,
    given: usize,
}

impl<'g> Beside<'g> {
    pub(crate) fn new(kernel: replay::Walk<'g>) -> Beside<'g> {
        Beside { kernel, given: 0 }
    }

    /// Gives the kernel the new lines, up to the first one of a node or an output that it refuses.
    /// Other refused lines are left out, or replaced by a line that says nothing if later lines are
    /// numbered after them.
    ///
    /// # Errors
    /// Why the kernel refuses what a node or an output is.
    pub(crate) fn give(&mut self, lines: &mut Vec<Line>) -> Result<(), Why> {
        while let Some(line) = lines.get(self.given) {
            // Takes long, and no other line needs it.
            let later = matches!(line, Line::Chinese { .. });
            let Err(why) = (if later { Ok(()) } else { self.kernel.line(line, &|_| true) }) else {
                self.given += 1;
                continue;
            };
            let empty = match line {
                Line::Fun(_) => {
                    let op = FunOp::Lin { k: 0, x: 0, c: Default::default() };
                    Line::Fun(Fun { width: 1, op, args: Default::default() })
                }
                Line::Atom(_) => Line::Atom(Atom::Name(Sum::default().into())),
                Line::Divide { .. } | Line::Near { .. } => {
                    Line::Near { form: Sum::default(), bits: 0, by: Witness::PLAIN }
                }
                Line::Node { .. } | Line::Output { .. } => {
                    lines.truncate(self.given);
                    return Err(why);
                }
                _ => {
                    lines.remove(self.given);
                    continue;
                }
            };
            self.kernel.line(&empty, &|_| true)?;
            lines[self.given] = empty;
            self.given += 1;
        }
        Ok(())
    }
}

impl Walk<'_> {
    /// The form of a node whose lines are written: this one, if the kernel accepts them or is not
    /// asked.
    pub(crate) fn accepted(&mut self, id: NodeId, form: Arc<Form>) -> Arc<Form> {
        let Some(beside) = &mut self.beside else { return form };
        let Err(why) = beside.give(&mut self.cut.record.lines) else { return form };
        if let Some(linear) = self.linear(id) {
            return Arc::new(linear);
        }
        // The report names the node's instruction.
        let why = why.split_once(": ").map_or(&*why, |(_, why)| why);
        let cause = self.cut.unmodelled(&format!("no rule shows what this is ({why})"));
        let form = self.opaque(cause);
        self.write(id, &form);
        if let Some(beside) = &mut self.beside {
            // That it is its own value; if even that is refused, nothing is known of it.
            let _ = beside.give(&mut self.cut.record.lines);
        }
        form
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_certificate::read;
    use ringforge_contract::InputRange;
    use ringforge_kernel::replay::{Case, Operand, Target, Walk as Kernel};
    use ringforge_machine::graph::Graph;

    fn case<'a>(graph: &'a Graph, operands: &'a [Operand], outputs: &'a [NodeId]) -> Case<'a> {
        let target = Target { bits: 32, signed: true, lo: -1 << 31, hi: (1 << 31) - 1 };
        Case { graph, operands: operands.to_vec(), outputs, target, q: 4591 }
    }

    fn lines(text: &str) -> Vec<Line> {
        text.trim().lines().map(|l| read(l).unwrap_or_else(|e| panic!("{l}: {e}"))).collect()
    }

    /// Lines of each kind that are refused: those that others are counted after are replaced, the rest are gone.
    #[test]
    fn what_is_refused_is_left_out() {
        let graph = Graph::new();
        let operands = [Operand { lo: -9, hi: 9, bits: 16 }];
        let mut all = lines(
            "input 0 0
            name 0 1 0 1
            bound 1 0 0 by 1 0
            residue 0 7 by 1 0
            modulo 1 7 0 1 0 2 0
            near 0 0 1 0 1 by 1 0
            near 0 3 0 by 1 0
            fun 8 lin 0 0 3 1
            fun 16 lin 0 1
            name 0 1 99 1
            function 0 1
            bound 3 -9 9 by 1 1 fact 1 5
            node 7 0",
        );
        let mut given =
            Beside::new(Kernel::new(case(&graph, &operands, &[]), 1 << 20).expect("a case"));
        let why = given.give(&mut all).expect_err("no such node");
        assert_eq!(why, "node 7 is visited already, or never");
        let left = lines(
            "input 0 0
            name 0 1 0 1
            near 0 0 0 by 1 0
            near 0 0 0 by 1 0
            fun 1 lin 0 0
            fun 16 lin 0 1
            name 0 0
            function 0 1
            bound 3 -9 9 by 1 1 fact 1 5",
        );
        assert_eq!(all, left);
    }

    /// The search takes a narrow interval for granted, but the kernel sees a wide one: the sum of
    /// two words wraps. So what depends on the sum is unknown. The rest is known, and the kernel
    /// accepts the lines that are left.
    #[test]
    fn a_node_whose_line_is_refused_is_not_understood() {
        let mut graph = Graph::new();
        let (x, y) = (graph.input(16, 0, 0), graph.input(16, 0, 1));
        let sum = graph.add(x, y);
        let wide = graph.sext(sum, 32);
        let (single, double) = (graph.sext(x, 32), graph.add(wide, wide));
        let less = graph.sub(double, wide);
        let outputs = [single, double, less];
        for (most, fits) in [(9, true), (30_000, false)] {
            let operands = [Operand { lo: -most, hi: most, bits: 16 }];
            let of = case(&graph, &operands, &outputs);
            let mut walk =
                Walk::new(&graph, 4591, vec![InputRange { lo: -9, hi: 9, signed: true }]);
            walk.beside = Some(Beside::new(Kernel::new(of.clone(), 1 << 20).expect("a case")));
            walk.run(&outputs, &mut |_, _| true).expect("it is not stopped");
            let found = outputs.map(|node| walk.output(node, 32, true));
            assert!(found[0].is_ok());
            for out in &found[1..] {
                assert_eq!(out.is_ok(), fits);
                let Err(cause) = out else { continue };
                let cause = &walk.cut.world.causes[*cause as usize];
                assert!(cause.text.starts_with("no rule shows what this is ("), "{}", cause.text);
                assert_eq!(cause.node, wide.0);
            }
            let mut all = walk.cut.record.finished();
            let mut beside = walk.beside.take().expect("the kernel");
            assert_eq!(beside.give(&mut all), Ok(()));
            let replayed = replay::walk(&of, &all, 1 << 20, &|_| true).map(|_| ());
            let missing = replayed.map_err(|e| e.why);
            let wanted = if fits { Ok(()) } else { Err("nothing is said of output 1".into()) };
            assert_eq!(missing, wanted);
        }
    }
}
