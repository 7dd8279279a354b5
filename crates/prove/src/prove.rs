//! The proof of one object: lift every call, interpret, compare, check.

use crate::beside::Beside;
use crate::integers;
use crate::limits::Watch;
use crate::report::{Counts, Reason, ReasonKind, Report, Verdict};
use crate::values::ModForm;
use crate::walk::{Output, Walk};
use crate::{Options, Progress, ranges};
use ringforge_certificate::{Certificate, write};
use ringforge_contract::calls::CallCase;
use ringforge_contract::computes::Computes;
use ringforge_contract::contract::Contract;
use ringforge_kernel::certificate::Line;
use ringforge_kernel::check::{self, Limits, compared};
use ringforge_kernel::compare::Mismatch;
use ringforge_kernel::replay::{self, Refused, Walked};
use ringforge_machine::Object;
use ringforge_machine::graph::Graph;
use std::time::Instant;

/// Characters of a refused line that are shown.
const SHOWN: usize = 200;

/// What the kernel says if the caller stopped it.
const STOPPED: &str = "stopped";

/// A proof in progress.
pub(crate) struct Job<'a> {
    pub contract: &'a Contract,
    pub object: &'a Object,
    pub options: &'a Options,
    pub progress: &'a mut dyn Progress,
    pub report: Report,
    pub watch: Watch,
    pub certificate: Certificate,
}

impl<'a> Job<'a> {
    pub(crate) fn tick(&mut self, phase: &str, fraction: f64) -> bool {
        self.progress.update(phase, fraction) && self.watch.goes_on()
    }

    pub(crate) fn reason(&mut self, kind: ReasonKind, call: &str, text: String) -> &mut Reason {
        self.report.reason(kind, call, text)
    }

    pub(crate) fn stopped(&mut self, call: &str) {
        let text = self.watch.reached().unwrap_or("stopped by the caller").to_string();
        self.reason(ReasonKind::Stopped, call, text);
    }

    /// The whole proof; fills the report.
    pub(crate) fn run(&mut self) {
        let mut graph = Graph::new();
        let t = Instant::now();
        let cases = self.lift(&mut graph);
        self.time("lift", t);
        self.report.counts.nodes = graph.len();
        let Some(cases) = cases else { return };
        let alike = |a: &CallCase, b: &CallCase| a.tie == b.tie && a.outputs == b.outputs;
        let distinct = self.report.distinct(cases, alike, |case| &mut case.certain);
        let mut first = None;
        for case in &distinct {
            if !self.case(&graph, case) && !self.report.goes_on(&mut first) {
                return self.report.says(first);
            }
        }
        if first.is_some() {
            return self.report.says(first);
        }
        self.report.certificate.sha256 =
            ringforge_contract::sha256(self.certificate.text().as_bytes());
        self.report.verdict = Verdict::Proved;
    }

    pub(crate) fn time(&mut self, phase: &str, since: Instant) {
        *self.report.times.entry(phase.to_string()).or_default() += since.elapsed().as_secs_f64();
    }

    /// Proves one call; false (with a reason) if not.
    fn case(&mut self, graph: &Graph, case: &CallCase) -> bool {
        if let Some(proved) = self.modulo_power_of_two(graph, case) {
            return proved;
        }
        let before = self.report.clone();
        self.attempt(graph, case, None).unwrap_or_else(|| {
            self.report = before;
            let of = check::case(self.contract, graph, case);
            match replay::Walk::new(of, self.options.max_work) {
                Ok(kernel) => self.attempt(graph, case, Some(Beside::new(kernel))) == Some(true),
                Err(why) => {
                    self.reason(ReasonKind::Unmodelled, &case.name, why);
                    false
                }
            }
        })
    }

    /// Proves one call; false (with a reason) if not, and [`None`] if the kernel, which was not asked for each line, refuses one.
    fn attempt<'g>(
        &mut self,
        graph: &'g Graph,
        case: &'g CallCase,
        beside: Option<Beside<'g>>,
    ) -> Option<bool> {
        let contract = self.contract;
        let asked = beside.is_some();
        let t = Instant::now();
        let Some((mut walk, visited)) = self.interpret(graph, case, beside) else {
            self.time("interpret", t);
            self.stopped(&case.name);
            return Some(false);
        };
        let read = self.read_outputs(graph, &mut walk, case);
        self.time("interpret", t);
        let c = &mut self.report.counts;
        c.visited += visited;
        count(c, &walk);
        ranges::summarise(&mut self.report.ranges, graph, &mut walk, self.object);
        let Some(outputs) = read else {
            self.refute(graph, &mut walk, case, None);
            return Some(false);
        };
        if contract.computes == Computes::Product {
            let t = Instant::now();
            let result = integers::lift(&mut walk.cut, &outputs, contract.outputs());
            self.time("integers", t);
            if let Err(text) = result {
                self.reason(ReasonKind::Function, &case.name, text);
                self.refute(graph, &mut walk, case, None);
                return Some(false);
            }
        }
        let mut lines = walk.cut.record.finished();
        if let Some(beside) = &mut walk.beside
            && let Err(why) = beside.give(&mut lines)
        {
            let text = format!("no rule shows what an output is: {why}");
            self.reason(ReasonKind::Unmodelled, &case.name, text);
            self.refute(graph, &mut walk, case, None);
            return Some(false);
        }
        // The kernel has tables of its own, as large as these: both at once would take twice the memory.
        drop(walk);
        let walked = match self.replay(graph, case, &lines) {
            Ok(walked) => walked,
            Err(refused) => {
                let line = refused.line.checked_sub(1).and_then(|i| lines.get(i));
                let integers = matches!(line, Some(Line::Chinese { .. }));
                if !asked && !integers && refused.why != STOPPED {
                    return None;
                }
                self.refused(&refused, line, case);
                // Integers that are no others by what is known may be others indeed.
                if integers {
                    self.refute_anew(graph, case, None);
                }
                return Some(false);
            }
        };
        drop(lines);
        match self.compare(case, &walked) {
            Ok(()) => Some(true),
            Err(Mismatch::Cancelled) => {
                self.stopped(&case.name);
                Some(false)
            }
            Err(m) => {
                self.mismatch(&m, &case.name);
                drop(walked);
                self.refute_anew(graph, case, Some(&m));
                Some(false)
            }
        }
    }

    /// Whether what was replayed is what the contract says; counts what was compared.
    pub(crate) fn compare(&mut self, case: &CallCase, walked: &Walked) -> Result<(), Mismatch> {
        let t = Instant::now();
        let shared: &dyn Progress = &*self.progress;
        let watch = &self.watch;
        let tick = |fraction: f64| shared.update("comparing", fraction) && watch.goes_on();
        let result = compared(self.contract, case, walked, &tick);
        self.time("compare", t);
        result.map(|stats| {
            let c = &mut self.report.counts;
            c.products = c.products.max(stats.products);
            c.linear_terms += stats.terms;
            c.equations += stats.equations;
        })
    }

    /// Visits all nodes of a call, and counts them; [`None`] if it was stopped.
    fn interpret<'g>(
        &mut self,
        graph: &'g Graph,
        case: &CallCase,
        beside: Option<Beside<'g>>,
    ) -> Option<(Walk<'g>, usize)> {
        let in_ranges = case.input_ranges(self.contract);
        let mut walk = Walk::new(graph, self.contract.ring.q() as u32, in_ranges);
        walk.beside = beside;
        walk.cut.enumeration.max_points = self.options.max_points;
        walk.cut.enumeration.budget = self.options.max_work;
        let visited = walk.run(&case.outputs, &mut |done, total| {
            self.tick("interpreting", done as f64 / total as f64)
        })?;
        Some((walk, visited))
    }

    /// Looks for inputs that show a failure which the kernel found, after the walk was dropped.
    fn refute_anew(&mut self, graph: &Graph, case: &CallCase, m: Option<&Mismatch>) {
        let t = Instant::now();
        let walk = self.interpret(graph, case, None);
        self.time("search", t);
        match walk {
            Some((mut walk, _)) => self.refute(graph, &mut walk, case, m),
            None => self.stopped(&case.name),
        }
    }

    /// Replays a certificate by the kernel, and keeps it if it is accepted.
    pub(crate) fn replay(
        &mut self,
        graph: &Graph,
        case: &CallCase,
        lines: &[Line],
    ) -> Result<Walked, Refused> {
        let t = Instant::now();
        let limits = Limits { work: self.options.max_work, steps: self.options.max_steps };
        let (watch, shared): (&Watch, &dyn Progress) = (&self.watch, &*self.progress);
        let tick = |fraction: f64| shared.update("replaying", fraction) && watch.goes_on();
        let result = check::walked(self.contract, graph, case, lines, limits, &tick);
        self.time("replay", t);
        if let Ok(walked) = &result {
            self.certificate.case(&case.name, lines);
            self.report.certificate.replayed += walked.replayed;
        }
        result
    }

    /// The reason for a line that the kernel refuses.
    pub(crate) fn refused(&mut self, refused: &Refused, line: Option<&Line>, case: &CallCase) {
        match line {
            _ if refused.why == STOPPED => self.stopped(&case.name),
            Some(Line::Chinese { moduli, .. }) => {
                let text = format!("integers known modulo {moduli:?}: {}", refused.why);
                self.reason(ReasonKind::Function, &case.name, text);
            }
            _ => {
                self.reason(ReasonKind::Unmodelled, &case.name, told(refused, line));
            }
        }
    }

    /// Integer reading of every output; [`None`] (with a reason) if one has none or leaves its
    /// range.
    fn read_outputs(
        &mut self,
        graph: &Graph,
        walk: &mut Walk,
        case: &CallCase,
    ) -> Option<Vec<ModForm>> {
        let contract = self.contract;
        let output = &contract.arguments[contract.output()];
        let (bits, signed) = (output.element.bits(), output.element.signed());
        let mut forms = Vec::with_capacity(case.outputs.len());
        let mut found: Vec<(i64, i64)> = Vec::new();
        let mut outside: Option<(usize, i64, i64)> = None;
        let within = |lo: i64, hi: i64| output.exit.0 <= lo && hi <= output.exit.1;
        for (k, &node) in case.outputs.iter().enumerate() {
            let (lo, hi, form) = match walk.output(node, bits, signed) {
                Ok(Output { lo, hi, residue }) if within(lo, hi) => (lo, hi, residue),
                Ok(output) => {
                    let exact = walk.narrowed(node, bits, signed);
                    let Output { lo, hi, residue } = exact.unwrap_or(output);
                    (lo, hi, residue)
                }
                Err(cause) => {
                    self.blame(graph, walk, cause, &case.name, k);
                    return None;
                }
            };
            found.push((lo, hi));
            if !within(lo, hi) && outside.is_none() {
                outside = Some((k, lo, hi));
            }
            forms.push(form);
        }
        let range = found.iter().copied().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.report.ranges.output = range;
        self.report.ranges.outputs = found;
        if let Some((k, lo, hi)) = outside {
            let (name, allowed) = (&output.name, output.exit);
            let text = format!(
                "{name}[{k}] may lie anywhere in [{lo}, {hi}] as far as ranges show; the contract allows [{}, {}]",
                allowed.0, allowed.1
            );
            let node = case.outputs[k];
            let at = graph.origin(node);
            let instruction = at.and_then(|a| self.object.disassemble(a));
            let r = self.reason(ReasonKind::Range, &case.name, text);
            r.interval = Some((lo.to_string(), hi.to_string()));
            r.allowed = Some((allowed.0.to_string(), allowed.1.to_string()));
            r.address = at;
            r.instruction = instruction;
            return None;
        }
        Some(forms)
    }
}

/// What the kernel says of a line that it refuses, with the line.
fn told(refused: &Refused, line: Option<&Line>) -> String {
    let Some(line) = line else { return format!("the kernel refuses the certificate: {refused}") };
    let mut text = String::new();
    write(line, &mut text);
    // Sums have hundreds of terms; the number says where the rest is.
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push('…');
    }
    format!("the kernel refuses line {}: {text}: {}", refused.line, refused.why)
}

fn count(c: &mut Counts, walk: &Walk) {
    let world = &walk.cut.world;
    c.variables += world.vars.len();
    c.functions += world.funs.count();
    c.enumerated += walk.cut.enumeration.proved().count();
    c.enumeration_work += walk.cut.enumeration.work;
    c.wide_sums += world.wides.len();
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_certificate::read;

    #[test]
    fn a_refused_line_is_shown() {
        let refused = Refused { line: 7, why: "of no use".into() };
        let line = read("bound 3 -5 5 by 1 0").expect("a line");
        let said = told(&refused, Some(&line));
        assert_eq!(said, "the kernel refuses line 7: bound 3 -5 5 by 1 0: of no use");
        let terms: Vec<String> = (0..99).map(|i| format!(" {i} 1")).collect();
        let line = read(&format!("name 0 99{}", terms.concat())).expect("a line");
        let said = told(&refused, Some(&line));
        assert!(said.starts_with("the kernel refuses line 7: name 0 99 0 1 1 1 2 1 "), "{said}");
        assert!(said.ends_with("…: of no use") && said.chars().count() < SHOWN + 60, "{said}");
        let said = told(&refused, None);
        assert_eq!(
            said,
            "the kernel refuses the certificate: line 7 of the certificate: of no use"
        );
    }
}
