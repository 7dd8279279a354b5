//! The claims `clean-stack` and `clean-registers`: what a function leaves where nobody looks.

use super::check::{Call, FunctionReport, Run, STEPS_WITH_TERMS};
use super::contract::Function;
use crate::report::{ReasonKind, Verdict};
use ringforge_machine::byte::Byte;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{CallSpec, Case, Left, Lifted, lift};

/// Bytes left that are evaluated, to show one that differs.
const MOST_SHOWN: usize = 64;

/// What a contract says of what is left at return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clean {
    /// Below the stack pointer at entry lie constants, addresses, and what the caller had in its registers.
    pub stack: bool,
    /// So do registers that belong to no one, but for the result's.
    pub registers: bool,
}

impl Clean {
    /// The claims of functions as sentences.
    pub(super) fn claims(functions: &[Function]) -> impl Iterator<Item = String> {
        let stack = "no byte that is left below the stack pointer at entry depends on the content of memory or on a \
                     secret argument";
        let registers = "at return no general or vector register that the caller does not get back, but for the \
                         result's, depends on the content of memory or on a secret argument";
        let one = |name: &str, held: fn(&Clean) -> bool, text: &str| {
            let of: Vec<&str> =
                functions.iter().filter(|f| held(&f.clean)).map(|f| f.symbol.as_str()).collect();
            match of.len() {
                0 => None,
                n if n == functions.len() => Some(format!("{name}: {text}")),
                _ => Some(format!("{name}, of {}: {text}", of.join(", "))),
            }
        };
        let both = [
            one("clean stack", |c| c.stack, stack),
            one("clean registers", |c| c.registers, registers),
        ];
        both.into_iter().flatten()
    }
}

impl Run<'_> {
    /// What was left in any case; a verdict if that is too much.
    pub(super) fn left(
        &self,
        lifted: &Lifted,
        call: &Call,
        report: &mut FunctionReport,
    ) -> Option<Verdict> {
        let clean = self.function.clean;
        for case in &lifted.cases {
            for (claimed, what) in [(clean.stack, "the stack"), (clean.registers, "registers")] {
                let Some(left) = of(case, what).filter(|_| claimed) else {
                    if !claimed {
                        continue;
                    }
                    let text =
                        format!("what {what} hold at return is not modelled for this processor");
                    report.say(ReasonKind::Unmodelled, text, None, &call.name);
                    return Some(Verdict::Unknown);
                };
                let (Some(first), Some(last)) = (left.first(), left.last()) else { continue };
                let text = format!(
                    "{} bytes that are left in {what} may depend on content: {} to {}",
                    left.len(),
                    first.place,
                    last.place
                );
                let (verdict, text) = match self.differs(call, case, what) {
                    Some(shown) => (Verdict::Refuted, format!("{text}; {shown}")),
                    None => (Verdict::Unknown, text),
                };
                report.say(ReasonKind::Residue, text, None, &call.name);
                return Some(verdict);
            }
        }
        if clean != Clean::default() {
            let text = "functions of other objects leave nothing that they work on below the stack pointer, or in \
                        upper halves of vector registers";
            if !lifted.stats.assumptions.is_empty() && !report.assumptions.iter().any(|a| a == text)
            {
                report.assumptions.push(text.into());
            }
        }
        None
    }

    /// Executes the call again with terms: a byte left in the same case that two contents make
    /// different.
    fn differs(&self, call: &Call, case: &Case, what: &str) -> Option<String> {
        // Only one of the ways of a branch on released data, or on where arrays lie, may be possible.
        if !(case.certain && case.condition.is_empty()) {
            return None;
        }
        let spec = CallSpec { max_steps: STEPS_WITH_TERMS, ..call.spec.clone() };
        let mut graph = Graph::new();
        let lifted = lift(self.object, &spec, &mut graph, &mut |_| true).ok()?;
        let case = lifted.cases.iter().find(|c| c.certain && c.condition.is_empty())?;
        for left in of(case, what)?.iter().take(MOST_SHOWN) {
            let Byte::Node(node, k) = left.byte else { continue };
            if two_values(&graph, node, k) {
                let names = self.inputs_below(&graph, node);
                return Some(format!("{} depends on {names}", left.place));
            }
        }
        None
    }
}

fn of<'a>(case: &'a Case, what: &str) -> Option<&'a [Left]> {
    match what {
        "registers" => case.residue.registers.as_deref(),
        _ => Some(&case.residue.stack),
    }
}

/// Whether byte `k` of a term has different values for some contents of memory.
fn two_values(graph: &Graph, node: NodeId, k: u8) -> bool {
    const CONTENTS: usize = 16;
    let Ok(tape) = Tape::new(graph, &[node]) else { return false };
    // Any numbers will do: what differs, differs.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let values = tape.run_batch(CONTENTS, &mut |_, _, out| {
        for v in out {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *v = state >> 29 ^ state;
        }
    });
    let byte = |v: u64| v >> (8 * k) & 0xff;
    values[0].iter().any(|v| byte(*v) != byte(values[0][0]))
}
