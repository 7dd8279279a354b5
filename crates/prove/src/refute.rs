//! What is wrong, in words and by example.

use crate::function::Mismatch;
use crate::prove::Job;
use crate::report::{ReasonKind, Verdict};
use crate::values::CauseKind;
use crate::walk::Walk;
use crate::witness::{self, Suspects};
use ringforge_contract::calls::CallCase;
use ringforge_contract::contract::Computes;
use ringforge_machine::graph::{Graph, NodeId};
use std::time::Instant;

impl Job<'_> {
    /// A reason from a cause, with its instruction.
    pub(crate) fn blame(
        &mut self,
        graph: &Graph,
        walk: &Walk,
        cause: u32,
        call: &str,
        output: usize,
    ) {
        let Some(c) = walk.cut.world.causes.get(cause as usize).cloned() else { return };
        let at = graph.origin(NodeId(c.node));
        let instruction = at.and_then(|a| self.object.disassemble(a));
        let place = match (&at, &instruction) {
            (Some(a), Some(i)) => format!(" at {a:#x}: `{i}`"),
            (Some(a), None) => format!(" at {a:#x}"),
            _ => String::new(),
        };
        let name = &self.contract.arguments[self.contract.output()].name;
        let text = format!("{}{place}; {name}[{output}] depends on it", c.text);
        let kind = match c.kind {
            CauseKind::Range { .. } => ReasonKind::Range,
            CauseKind::Nonlinear => ReasonKind::Function,
            CauseKind::Unmodelled => ReasonKind::Unmodelled,
        };
        let r = self.reason(kind, call, text);
        r.address = at;
        r.instruction = instruction;
        if let CauseKind::Range { lo, hi, width, .. } = c.kind {
            r.interval = Some((lo.to_string(), hi.to_string()));
            let half = 1i128 << (width - 1);
            r.allowed = Some(((-half).to_string(), (half - 1).to_string()));
        }
    }

    pub(crate) fn mismatch(&mut self, m: &Mismatch, call: &str) {
        let text = match m {
            Mismatch::Coefficient { at, k, found, expected } => {
                self.coefficient(at, *k, *found, *expected)
            }
            Mismatch::NotBilinear(_) if self.contract.computes.inputs() == 1 => {
                "an output contains a product of two inputs".into()
            }
            Mismatch::NotBilinear(_) => {
                "an output contains a product of two values that depend on the same operand".into()
            }
            Mismatch::Unknown(..) => {
                let text = "an output depends on values that are known in other moduli than q only";
                self.reason(ReasonKind::Unmodelled, call, text.into());
                return;
            }
            Mismatch::Cancelled => return,
            other => {
                let text = format!("the kernel does not find the ring's outputs: {other}");
                self.reason(ReasonKind::Unmodelled, call, text);
                return;
            }
        };
        self.reason(ReasonKind::Function, call, text);
    }

    fn coefficient(&self, at: &[(usize, usize)], k: usize, found: u32, expected: u32) -> String {
        let (contract, q) = (self.contract, self.contract.ring.q());
        if contract.computes == Computes::Product {
            let basis = |o: usize| {
                let x = at.iter().find(|x| x.0 == o);
                x.map_or("0".to_string(), |x| format!("x^{}", x.1))
            };
            return format!(
                "for a = {} and b = {} coefficient {k} is {found} modulo {q}, but the product's is {expected}",
                basis(0),
                basis(1),
            );
        }
        let inputs = contract.inputs();
        let names: Vec<String> = at
            .iter()
            .map(|&(o, i)| format!("{}[{i}]", contract.arguments[inputs[o]].name))
            .collect();
        let what = match &names[..] {
            [] => "the constant".to_string(),
            names => format!("the coefficient of {}", names.join("*")),
        };
        let output = &contract.arguments[contract.output()].name;
        format!("{what} in {output}[{k}] is {found} modulo {q}, but should be {expected}")
    }

    /// What a search for a witness should aim at.
    fn suspects(&self, walk: &mut Walk, case: &CallCase) -> Suspects {
        let output = &self.contract.arguments[self.contract.output()];
        let (q, range) = (self.contract.ring.q() as i64, output.exit);
        let mut suspects = Suspects::default();
        for &node in &case.outputs {
            let (bits, signed) = (output.element.bits(), output.element.signed());
            let form = match walk.output(node, output.element.bits(), output.element.signed()) {
                Ok(o) if o.lo < range.0 || o.hi > range.1 => {
                    let outside = [
                        (o.hi > range.1, [o.hi, range.1 + 1]),
                        (o.lo < range.0, [o.lo, range.0 - 1]),
                    ];
                    for value in outside.into_iter().filter(|x| x.0).flat_map(|x| x.1) {
                        let wish = (o.residue.clone(), value.rem_euclid(q) as u32);
                        suspects.residues.push(wish);
                    }
                    if suspects.points.len() < 24 {
                        suspects.points.extend(walk.extreme_inputs(node, bits, signed));
                    }
                    walk.form(node).map(|f| (**f).clone())
                }
                Ok(_) => None,
                Err(c) => match walk.cut.world.causes.get(c as usize).map(|c| &c.kind) {
                    Some(CauseKind::Range { form, .. }) => Some(form.clone()),
                    _ => None,
                },
            };
            if let Some(form) = form
                && !suspects.sums.contains(&form)
            {
                suspects.sums.push(form);
                if suspects.sums.len() >= 12 {
                    break;
                }
            }
        }
        suspects
    }

    /// Looks for inputs that show the failure; sets the verdict.
    pub(crate) fn refute(
        &mut self,
        graph: &Graph,
        walk: &mut Walk,
        case: &CallCase,
        m: Option<&Mismatch>,
    ) {
        let t = Instant::now();
        self.report.verdict = Verdict::Unknown;
        let suspects = self.suspects(walk, case);
        let found = witness::search(self, graph, walk, case, m, &suspects);
        self.time("search", t);
        if let Some(w) = found {
            self.report.shown(w, case.certain);
        }
    }
}
