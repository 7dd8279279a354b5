//! Lifting every call that the contract allows, and what a report says where one cannot be.

use crate::prove::Job;
use crate::report::{OVERFLOW_CHECK, ReasonKind, Report, Verdict};
use crate::witness;
use ringforge_contract::calls::{self, CallCase, CallLimits, Executed, NotLifted, Why};
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{ElementError, LiftError, Violation};

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
                let names = |node| witness::inputs_below(graph, node, contract);
                not_lifted(&mut self.report, &e, &names);
            })
            .ok()
    }
}

/// Says in a report why a call has no terms; `names` gives those of the inputs below a term.
pub(crate) fn not_lifted(
    report: &mut Report,
    NotLifted { call, why }: &NotLifted,
    names: &dyn Fn(NodeId) -> String,
) {
    match why {
        Why::Stopped => {}
        Why::Nothing => {
            report.reason(ReasonKind::Unmodelled, call, why.to_string());
        }
        Why::Lift(e) => lift_error(report, call, e, names),
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

fn lift_error(report: &mut Report, call: &str, e: &LiftError, names: &dyn Fn(NodeId) -> String) {
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
                let names = names(*depends);
                let r = report.reason(
                    ReasonKind::ConstantTime,
                    call,
                    format!("{text}; the value depends on {names}"),
                );
                r.address = Some(at.address);
                r.instruction = Some(at.instruction.clone());
                report.verdict = Verdict::Refuted;
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
