//! Products modulo a power of two in words that wrap: Toom–Cook, Karatsuba, Toeplitz matrices.
//!
//! With q = 2^k, k ≤ 16, sums and products of words that wrap are right modulo 2^16 without any bound, so
//! there is nothing to enumerate. What is to be proved is what the low bits of words are as bilinear forms
//! ([`words`]), that the words which are divided by powers of two are multiples of them, how many bits
//! are left in the end, and which interval the outputs lie in. Forms are compared, and divisibility
//! decided, column by column ([`columns`]): nothing is sampled. What was found is then tried on samples by
//! code that shares nothing with it ([`second`]).

mod blocks;
mod columns;
mod demand;
mod second;
#[cfg(test)]
mod tests;
mod word;
mod words;

use crate::function::Mismatch;
use crate::prove::Job;
use crate::report::{ReasonKind, Verdict};
use crate::walk::Walk;
use crate::witness::{self, Suspects};
use columns::{Columns, Wrong};
use ringforge_contract::calls::CallCase;
use ringforge_contract::computes::Computes;
use ringforge_machine::graph::{Graph, NodeId};
use std::time::Instant;
use word::{Make, Word};
use words::Words;

/// Whether products modulo q can be proved here: words are computed modulo 2^16.
pub(crate) fn is_modulus(q: u64) -> bool {
    q.is_power_of_two() && (2..=1 << word::BITS).contains(&q)
}

impl Job<'_> {
    /// Proves one call modulo a power of two; false (with a reason) if it cannot. [`None`] where the ring is
    /// another, or the code is not of this kind.
    pub(crate) fn twos(&mut self, graph: &Graph, case: &CallCase) -> Option<bool> {
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
        let words = Words::new(graph, &inputs, &case.outputs);
        let outputs: Vec<Word> = case.outputs.iter().map(|&o| words.get(o)).collect();
        self.time("interpret", t);
        if outputs.iter().any(|&o| words.certain(o) == 0) {
            // Not even the lowest bit: reductions modulo other numbers, as products through several
            // primes have them.
            return None;
        }
        self.report.counts.visited += words.visited;
        self.report.counts.variables += words.inputs_used();
        if let Some(k) = outputs.iter().position(|&o| words.certain(o) < bits) {
            self.too_few_bits(graph, &words, case, k, bits);
            return Some(self.wrong(graph, case, None));
        }
        if !self.ranges(graph, case, &outputs) {
            return Some(self.wrong(graph, case, None));
        }
        let t = Instant::now();
        let shared: &dyn crate::Progress = &*self.progress;
        let (started, limit) = (self.started, self.options.time_limit);
        let late = || limit.is_some_and(|t| started.elapsed() > t);
        let n = contract.ring.degree();
        let mut counts = (0, 0);
        let result = Columns::new(&words, &outputs, bits, n).and_then(|columns| {
            counts = (columns.products, columns.sums);
            columns.compare(&contract.ring, &|fraction| {
                shared.update("comparing", fraction) && !late()
            })
        });
        let c = &mut self.report.counts;
        c.products = c.products.max(counts.0);
        c.linear_terms += 2 * counts.1;
        c.equations += (n as u64 + 1).pow(2) * outputs.len() as u64;
        self.time("compare", t);
        if let Err(wrong) = result {
            return Some(self.refused(graph, &words, case, wrong));
        }
        let t = Instant::now();
        let progress = &mut *self.progress;
        let mut tick = |fraction: f64| progress.update("checking", fraction) && !late();
        let second = second::check(graph, &words, case, contract, &mut tick);
        self.time("check", t);
        if let Err(e) = second {
            if e == "stopped" {
                self.stopped(&case.name);
                return Some(false);
            }
            let text = format!(
                "concrete evaluation contradicts the forms, which is an error of this tool: {e}"
            );
            self.reason(ReasonKind::Unmodelled, &case.name, text);
            return Some(false);
        }
        self.not_replayed("words modulo a power of two: what their low bits are as forms in the inputs was concluded by the prover alone, and tried on samples");
        Some(true)
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
            self.report.witness = Some(w);
            self.report.verdict = Verdict::Refuted;
        }
        false
    }

    /// Where the bits of output k were lost.
    fn too_few_bits(&mut self, graph: &Graph, words: &Words, case: &CallCase, k: usize, bits: u8) {
        let output = case.outputs[k];
        let known = |id: NodeId| words.certain(words.get(id));
        let mut node = output;
        while let Some(&lost) = graph.node(node).args.iter().find(|&&a| known(a) <= known(node)) {
            node = lost;
        }
        let known = known(output);
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

    /// Whether the outputs lie in their range.
    fn ranges(&mut self, graph: &Graph, case: &CallCase, outputs: &[Word]) -> bool {
        let output = &self.contract.arguments[self.contract.output()];
        let (signed, top) = (output.element.signed(), output.element.range().1);
        let range = |o: &Word| if signed || o.lo >= 0 { (o.lo, o.hi) } else { (0, top) };
        let found: Vec<(i64, i64)> = outputs.iter().map(range).collect();
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

    /// A reason for what the columns found; always false.
    fn refused(&mut self, graph: &Graph, words: &Words, case: &CallCase, wrong: Wrong) -> bool {
        match wrong {
            Wrong::Cancelled => {
                self.stopped(&case.name);
                false
            }
            Wrong::NotMultiple { form } => {
                let form = &words.forms[form as usize];
                let Make::Half { bits, .. } = form.make else { return false };
                let text = format!(
                    "a word is shifted right that need not be a multiple of {}: what is left is no linear form",
                    1u32 << bits
                );
                self.at(graph, NodeId(form.node), ReasonKind::Function, case, text);
                self.wrong(graph, case, None)
            }
            Wrong::Coefficient { i, j, k, found, expected } => {
                let at = i.map(|i| (0, i)).into_iter().chain(j.map(|j| (1, j))).collect();
                let (found, expected) = (found.into(), expected.into());
                let m = Mismatch::Coefficient { at, k, found, expected };
                self.mismatch(&m, &case.name);
                self.wrong(graph, case, Some(&m))
            }
        }
    }
}
