//! Lifting every call that the contract allows, and what a report says where one cannot be.

use crate::prove::Job;
use crate::report::{OVERFLOW_CHECK, ReasonKind, Report, Verdict};
use crate::ways::{self, Operands};
use crate::witness;
use ringforge_contract::calls::{self, CallCase, CallLimits, Executed, NotLifted, Why};
use ringforge_contract::contract::{Argument, Role};
use ringforge_machine::graph::Graph;
use ringforge_machine::{ElementError, LiftError, Violation};

/// Said where the term of a branch or an address depends on inputs, and no two were found for which it is not the same.
const NO_TWO: &str =
    "found no two inputs in range for which it is not the same, so all may go one way";

impl Job<'_> {
    /// Lifts all calls into one graph; [`None`] (with a reason) if one cannot be.
    pub(crate) fn lift(&mut self, graph: &mut Graph) -> Option<Vec<CallCase>> {
        let mut executed = Executed::default();
        let limits = CallLimits { max_steps: self.options.max_steps };
        let (contract, object) = (self.contract, self.object);
        let cases = calls::cases(contract, object, graph, limits, &mut executed, &mut |part| {
            self.tick("executing", part)
        });
        let c = &mut self.report.counts;
        c.instructions = executed.instructions;
        c.code_bytes = executed.code_bytes;
        c.by_class = executed.by_class.iter().map(|(k, v)| (format!("{k:?}"), *v)).collect();
        c.stack_bytes = executed.stack_bytes;
        for a in executed.assumptions {
            if !self.report.assumptions.contains(&a) {
                self.report.assumptions.push(a);
            }
        }
        cases
            .map_err(|e| {
                if e.why == Why::Stopped {
                    return self.stopped(&e.call);
                }
                let operands = contract.inputs();
                let name = |o: u16, i: u32| {
                    format!("{}[{i}]", contract.arguments[operands[usize::from(o)]].name)
                };
                let shape = |&i: &usize| {
                    let a = &contract.arguments[i];
                    (common(&contract.alias, i, &|k| &contract.arguments[k]), a.length)
                };
                let operands = Operands {
                    shapes: operands.iter().map(shape).collect(),
                    memory: &|_, values| values.to_vec(),
                    name: &name,
                };
                not_lifted(&mut self.report, graph, &e, &operands);
            })
            .ok()
    }
}

/// What an operand's elements may be in every call: also where what is both read and written is one array with it.
pub(crate) fn common<'a>(
    alias: &[(usize, usize)],
    argument: usize,
    of: &dyn Fn(usize) -> &'a Argument,
) -> (i64, i64) {
    let (lo, hi) = of(argument).range;
    let others = alias
        .iter()
        .filter(|&&(o, i)| (o == argument || i == argument) && of(o).role == Role::InOut);
    others.fold((lo, hi), |(lo, hi), &(o, i)| {
        let (x, y) = (of(o).range, of(i).range);
        (lo.max(x.0).max(y.0), hi.min(x.1).min(y.1))
    })
}

/// Says in a report why a call has no terms.
pub(crate) fn not_lifted(
    report: &mut Report,
    graph: &Graph,
    NotLifted { call, why }: &NotLifted,
    operands: &Operands,
) {
    match why {
        Why::Stopped => {}
        Why::Nothing => {
            report.reason(ReasonKind::Unmodelled, call, why.to_string());
        }
        Why::Lift(e) => lift_error(report, graph, call, e, operands),
        Why::Doubtful(_) => {
            report.reason(ReasonKind::Unmodelled, call, why.to_string());
        }
        Why::Output(e) => {
            // That a term has an address somewhere, in upper bits that are shifted or cut off
            // say, does not show that its value depends on it.
            let (kind, verdict) = match e {
                ElementError::Address { .. } => (ReasonKind::Unmodelled, Verdict::Unknown),
                _ => (ReasonKind::Undefined, Verdict::Refuted),
            };
            report.reason(kind, call, why.to_string());
            report.verdict = verdict;
        }
    }
}

fn lift_error(report: &mut Report, graph: &Graph, call: &str, e: &LiftError, operands: &Operands) {
    let text = e.to_string();
    let (kind, verdict, at) = match e {
        LiftError::Violation(v) => match v {
            Violation::ConstantTime { at, .. } if at.checks_overflow() => {
                let text = format!("{text}; {OVERFLOW_CHECK}");
                let r = report.reason(ReasonKind::Unmodelled, call, text);
                (r.address, r.instruction) = (Some(at.address), Some(at.instruction.clone()));
                report.verdict = Verdict::Unknown;
                return;
            }
            Violation::ConstantTime { at, depends, .. } => {
                let names = witness::names_below(graph, *depends, operands.name).join(", ");
                // A term may depend on inputs, and its value not.
                let (verdict, how) = match ways::two(graph, *depends, operands) {
                    Some(how) => (Verdict::Refuted, how),
                    None => (Verdict::Unknown, NO_TWO.into()),
                };
                let text = format!("{text}; the value depends on {names}; {how}");
                let r = report.reason(ReasonKind::ConstantTime, call, text);
                r.address = Some(at.address);
                r.instruction = Some(at.instruction.clone());
                report.verdict = verdict;
                return;
            }
            Violation::Memory { at, .. } => (ReasonKind::Memory, Verdict::Refuted, Some(at)),
            Violation::Undefined { at, .. } => (ReasonKind::Undefined, Verdict::Refuted, Some(at)),
            Violation::CalleeSaved { at, .. } => (ReasonKind::Abi, Verdict::Refuted, Some(at)),
        },
        LiftError::Unsupported { at, .. } | LiftError::PointerComparison { at } => {
            (ReasonKind::Unmodelled, Verdict::Unknown, Some(at))
        }
        LiftError::StepLimit { at, .. } | LiftError::Stopped { at } => {
            (ReasonKind::Stopped, Verdict::Unknown, Some(at))
        }
        LiftError::NoSymbol { .. }
        | LiftError::BadCall(_)
        | LiftError::Doubtful(..)
        | LiftError::Inlined(..) => (ReasonKind::Unmodelled, Verdict::Unknown, None),
    };
    let at = at.cloned();
    let r = report.reason(kind, call, text);
    if let Some(at) = at {
        r.address = Some(at.address);
        r.instruction = Some(at.instruction);
    }
    report.verdict = verdict;
}
