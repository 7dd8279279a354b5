//! Products modulo a power of two in words that wrap: Toom–Cook, Karatsuba, Toeplitz matrices.
//!
//! With q = 2^k, k ≤ 16, sums and products of words that wrap are right modulo 2^16 without any
//! bound, so nothing is enumerated. A certificate says what words are as forms ([`words`]). The
//! kernel finds what forms are as polynomials in the inputs. It checks that all coefficients are
//! multiples of what they are divided by. It also finds how many bits are left in the end, and
//! which interval the outputs lie in.

mod atoms;
mod demand;
#[cfg(test)]
mod tests;
mod words;

use crate::function::Mismatch;
use crate::prove::Job;
use crate::report::{ReasonKind, Verdict};
use crate::walk::Walk;
use crate::witness::{self, Suspects};
use ringforge_contract::calls::CallCase;
use ringforge_contract::computes::Computes;
use ringforge_kernel::compare;
use ringforge_kernel::replay::Walked;
use ringforge_machine::graph::{Graph, NodeId};
use std::time::Instant;
use words::Words;

/// Whether products modulo q can be proved here.
pub(crate) fn is_modulus(q: u64) -> bool {
    q.is_power_of_two() && (2..=1 << atoms::BITS).contains(&q)
}

impl Job<'_> {
    /// Proves one call modulo a power of two; false (with a reason) if it cannot. [`None`] if the
    /// ring is another, or if the code is not of this kind.
    pub(crate) fn modulo_power_of_two(&mut self, graph: &Graph, case: &CallCase) -> Option<bool> {
        let contract = self.contract;
        let q = contract.ring.q();
        if !is_modulus(q) || contract.computes != Computes::Product || case.tie.is_some() {
            return None;
        }
        let bits = q.trailing_zeros() as u8;
        let inputs = case.input_ranges(contract);
        let t = Instant::now();
        if !self.tick("interpreting", 0.0) {
            self.stopped(&case.name);
            return Some(false);
        }
        let mut words = Words::new(graph, &inputs, &case.outputs);
        self.time("interpret", t);
        if case.outputs.iter().any(|&o| words.certain(o) == 0) {
            // Not even the lowest bit: reductions modulo other numbers, as products through several
            // primes have them.
            return None;
        }
        self.report.counts.visited += words.visited;
        self.report.counts.variables += words.atoms.inputs_used();
        let short = |&o: &NodeId| words.get(o).bits < graph.node(o).width;
        if let Some(k) = case.outputs.iter().position(short) {
            let known = words.certain(case.outputs[k]);
            self.too_few_bits(graph, &words, case, k, known, bits);
            return Some(self.wrong(graph, case, None));
        }
        if !self.ranges(graph, case, &mut words) {
            return Some(self.wrong(graph, case, None));
        }
        let lines = std::mem::take(&mut words.atoms.lines);
        let walked = match self.replay(graph, case, &lines) {
            Ok(walked) => walked,
            Err(refused) => {
                let line = refused.line.checked_sub(1).and_then(|i| lines.get(i));
                self.refused(&refused, line, case);
                return Some(false);
            }
        };
        drop(lines);
        match self.compare(case, &walked) {
            Ok(()) => Some(true),
            Err(wrong) => Some(self.differs(graph, &words, &walked, case, wrong)),
        }
    }

    /// Looks for inputs that show the failure; always false.
    fn wrong(&mut self, graph: &Graph, case: &CallCase, m: Option<&Mismatch>) -> bool {
        let t = Instant::now();
        self.report.verdict = Verdict::Unknown;
        let ranges = case.input_ranges(self.contract);
        // Searches that aim at sums find nothing to aim at here.
        let mut walk = Walk::new(graph, self.contract.ring.q() as u32, ranges);
        let found = witness::search(self, graph, &mut walk, case, m, &Suspects::default());
        self.time("search", t);
        if let Some(w) = found {
            self.report.shown(w, case.certain);
        }
        false
    }

    /// Where the bits of output k were lost.
    fn too_few_bits(
        &mut self,
        graph: &Graph,
        words: &Words,
        case: &CallCase,
        k: usize,
        known: u8,
        bits: u8,
    ) {
        let mut node = case.outputs[k];
        while let Some(&lost) = graph
            .node(node)
            .args
            .iter()
            .find(|&&a| words.certain(a) > 0 && words.certain(a) <= words.certain(node))
        {
            node = lost;
        }
        let name = &self.contract.arguments[self.contract.output()].name;
        let text = format!(
            "only {known} low bits of {name}[{k}] are known as forms in the inputs, and the modulus has {bits}: what is done here keeps too few"
        );
        self.at(graph, node, ReasonKind::Unmodelled, case, text);
    }

    /// A reason with the instruction of a node.
    fn at(&mut self, graph: &Graph, node: NodeId, kind: ReasonKind, case: &CallCase, text: String) {
        let at = graph.origin(node);
        let instruction = at.and_then(|a| self.object.disassemble(a));
        let r = self.reason(kind, &case.name, text);
        r.address = at;
        r.instruction = instruction;
    }

    /// Whether the outputs lie in their range; writes their lines.
    fn ranges(&mut self, graph: &Graph, case: &CallCase, words: &mut Words) -> bool {
        let output = &self.contract.arguments[self.contract.output()];
        let signed = output.element.signed();
        let range = |(k, &o): (usize, &NodeId)| {
            let (lo, hi) = words.output(k, o, signed);
            let end = |x: i128| x.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            (end(lo), end(hi))
        };
        let found: Vec<(i64, i64)> = case.outputs.iter().enumerate().map(range).collect();
        let all = found.iter().copied().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.report.ranges.output = all;
        let outside = found.iter().position(|r| r.0 < output.exit.0 || r.1 > output.exit.1);
        self.report.ranges.outputs = found;
        let Some(k) = outside else { return true };
        let (lo, hi) = self.report.ranges.outputs[k];
        let (name, allowed) = (&output.name, output.exit);
        let text = format!(
            "{name}[{k}] may lie anywhere in [{lo}, {hi}] as far as ranges show; the contract allows [{}, {}]",
            allowed.0, allowed.1
        );
        self.at(graph, case.outputs[k], ReasonKind::Range, case, text);
        if let Some(r) = self.report.reasons.last_mut() {
            r.interval = Some((lo.to_string(), hi.to_string()));
            r.allowed = Some((allowed.0.to_string(), allowed.1.to_string()));
        }
        false
    }

    /// A reason for what the comparison found; always false.
    fn differs(
        &mut self,
        graph: &Graph,
        words: &Words,
        walked: &Walked,
        case: &CallCase,
        wrong: compare::Mismatch,
    ) -> bool {
        // Atoms have nodes at which they were made.
        let node = |v: u32| words.atoms.node(walked.facts.atoms.get(v as usize)?).map(NodeId);
        match wrong {
            compare::Mismatch::Cancelled => {
                self.stopped(&case.name);
                false
            }
            compare::Mismatch::Coefficient { at, k, found, expected } => {
                let m = Mismatch::Coefficient { at, k, found, expected };
                self.mismatch(&m, &case.name);
                self.wrong(graph, case, Some(&m))
            }
            compare::Mismatch::Bits { k, known, wanted } => {
                self.too_few_bits(graph, words, case, k, known, wanted);
                self.wrong(graph, case, None)
            }
            compare::Mismatch::NotMultiple { value, bits } => {
                let text = format!(
                    "a word is shifted right that need not be a multiple of {}: what is left is no linear form",
                    1u64 << bits
                );
                let node = node(value).unwrap_or(case.outputs[0]);
                self.at(graph, node, ReasonKind::Function, case, text);
                self.wrong(graph, case, None)
            }
            compare::Mismatch::NotBilinear(_) => {
                let text =
                    "an output contains a product of two values that depend on the same operand";
                self.reason(ReasonKind::Function, &case.name, text.into());
                self.wrong(graph, case, None)
            }
            other => {
                let text = format!("the kernel does not find the ring's outputs: {other}");
                self.reason(ReasonKind::Unmodelled, &case.name, text);
                self.wrong(graph, case, None)
            }
        }
    }
}
