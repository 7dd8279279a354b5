//! The calls that a contract allows, lifted to terms.

use crate::contract::{Contract, Role};
use crate::prove::Job;
use crate::report::{ReasonKind, Verdict};
use crate::walk::InputRange;
use crate::witness;
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{
    ArgSpec, CallSpec, ElementError, Initial, LiftError, RegionSpec, Violation, lift,
};

/// One way of calling the function, lifted: the terms of the outputs. Operands of its inputs are
/// numbered as in [`Contract::inputs`].
pub(crate) struct CallCase {
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

/// A call to lift.
struct Call {
    name: String,
    spec: CallSpec,
    /// The output's region.
    region: usize,
    tie: Option<usize>,
}

impl Job<'_> {
    /// The calls that the contract allows: disjoint first, then one for each alias.
    fn calls(&self) -> Vec<Call> {
        let contract = self.contract;
        let operands = contract.inputs();
        let operand = |i: usize| operands.iter().position(|&x| x == i);
        let mut calls = Vec::new();
        let mut variants: Vec<Option<(usize, usize)>> = vec![None];
        variants.extend(contract.alias.iter().copied().map(Some));
        for variant in variants {
            let mut regions = Vec::new();
            let mut region_of = vec![0; contract.arguments.len()];
            for (i, a) in contract.arguments.iter().enumerate() {
                let written = a.role != Role::Input;
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
                        None => Initial::Undefined,
                    },
                });
            }
            if let Some((o, i)) = variant {
                region_of[o] = region_of[i];
            }
            let args = region_of.iter().map(|&r| ArgSpec::Pointer(r, 0)).collect();
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
                data: Vec::new(),
                functions: Vec::new(),
                released_branches: 0,
                max_steps: self.options.max_steps,
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

    /// Lifts all calls into one graph; [`None`] if one cannot be.
    pub(crate) fn lift(&mut self, graph: &mut Graph) -> Option<Vec<CallCase>> {
        let output = &self.contract.arguments[self.contract.output()];
        let (length, bits) = (output.length, output.element.bits());
        let mut cases = Vec::new();
        let calls = self.calls();
        let count = calls.len();
        for (at, Call { name, spec, region, tie }) in calls.into_iter().enumerate() {
            if !self.tick("executing", at as f64 / count as f64) {
                self.stopped(&name);
                return None;
            }
            let progress = &mut *self.progress;
            let lifted = lift(self.object, &spec, graph, &mut |steps| {
                let part = 1.0 - 1.0 / (1.0 + steps as f64 / 50_000.0);
                progress.update("executing", (at as f64 + part) / count as f64);
            });
            let lifted = match lifted {
                Ok(l) => l,
                Err(e) => {
                    self.lift_error(graph, &name, &e);
                    return None;
                }
            };
            let stats = &lifted.stats;
            if at == 0 {
                let c = &mut self.report.counts;
                c.instructions = stats.instructions;
                c.code_bytes = stats.code_bytes;
                c.by_class = stats.by_class.iter().map(|(k, v)| (format!("{k:?}"), *v)).collect();
            }
            self.report.counts.stack_bytes = self.report.counts.stack_bytes.max(stats.stack_bytes);
            for a in &stats.assumptions {
                if !self.report.assumptions.contains(a) {
                    self.report.assumptions.push(a.clone());
                }
            }
            if stats.instructions == 0 {
                self.reason(ReasonKind::Unmodelled, &name, "no instruction was executed".into());
                return None;
            }
            for case in &lifted.cases {
                let full = if case.condition.is_empty() {
                    name.clone()
                } else {
                    format!("{name}, {}", case.condition)
                };
                let mut outputs = Vec::with_capacity(length);
                for i in 0..length {
                    match case.regions[region].element(graph, i, bits) {
                        Ok(n) => outputs.push(n),
                        Err(e) => {
                            let text = format!("output: {e}");
                            // That a term has an address somewhere, in upper bits that are shifted or
                            // cut off say, does not show that its value depends on it.
                            let (kind, verdict) = match e {
                                ElementError::Address { .. } => {
                                    (ReasonKind::Unmodelled, Verdict::Unknown)
                                }
                                _ => (ReasonKind::Undefined, Verdict::Refuted),
                            };
                            self.reason(kind, &full, text);
                            self.report.verdict = verdict;
                            return None;
                        }
                    }
                }
                cases.push(CallCase { name: full, outputs, tie });
            }
        }
        Some(cases)
    }

    fn lift_error(&mut self, graph: &Graph, call: &str, e: &LiftError) {
        let text = e.to_string();
        let (kind, verdict, at) = match e {
            LiftError::Violation(v) => match v {
                Violation::ConstantTime { at, depends, .. } => {
                    let names = witness::inputs_below(graph, *depends, self.contract);
                    let r = self.reason(
                        ReasonKind::ConstantTime,
                        call,
                        format!("{text}; the value depends on {names}"),
                    );
                    r.address = Some(at.address);
                    r.instruction = Some(at.instruction.clone());
                    self.report.verdict = Verdict::Refuted;
                    return;
                }
                Violation::Memory { at, .. } => (ReasonKind::Memory, Verdict::Refuted, Some(at)),
                Violation::Undefined { at, .. } => {
                    (ReasonKind::Undefined, Verdict::Refuted, Some(at))
                }
                Violation::CalleeSaved { at, .. } => (ReasonKind::Abi, Verdict::Refuted, Some(at)),
            },
            LiftError::Unsupported { at, .. } | LiftError::PointerComparison { at } => {
                (ReasonKind::Unmodelled, Verdict::Unknown, Some(at))
            }
            LiftError::StepLimit { at, .. } => (ReasonKind::Stopped, Verdict::Unknown, Some(at)),
            LiftError::NoSymbol { .. } | LiftError::BadCall(_) | LiftError::Released(_) => {
                (ReasonKind::Unmodelled, Verdict::Unknown, None)
            }
        };
        let at = at.cloned();
        let r = self.reason(kind, call, text);
        if let Some(at) = at {
            r.address = Some(at.address);
            r.instruction = Some(at.instruction);
        }
        self.report.verdict = verdict;
    }
}
