//! The proof of one object: lift every call, interpret, compare, check.

use crate::audit::Audit;
use crate::calls::CallCase;
use crate::computes::Computes;
use crate::contract::Contract;
use crate::function::{Mismatch, compare, needed};
use crate::integers::{self, Equality};
use crate::report::{Counts, Reason, ReasonKind, Report, Verdict};
use crate::values::{ModForm, Source, VarId, World};
use crate::walk::{Output, Walk};
use crate::{Options, Progress, check, ranges, witness};
use ringforge_machine::Object;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::Graph;
use sha2::{Digest, Sha256};
use std::time::Instant;

/// A proof in progress.
pub(crate) struct Job<'a> {
    pub contract: &'a Contract,
    pub object: &'a Object,
    pub options: &'a Options,
    pub progress: &'a mut dyn Progress,
    pub report: Report,
    pub started: Instant,
}

/// Hexadecimal SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

impl<'a> Job<'a> {
    pub(crate) fn tick(&mut self, phase: &str, fraction: f64) -> bool {
        let late = self.options.time_limit.is_some_and(|t| self.started.elapsed() > t);
        self.progress.update(phase, fraction) && !late
    }

    pub(crate) fn reason(&mut self, kind: ReasonKind, call: &str, text: String) -> &mut Reason {
        self.report.reasons.push(Reason {
            kind,
            text,
            address: None,
            instruction: None,
            interval: None,
            allowed: None,
            call: call.to_string(),
        });
        let last = self.report.reasons.len() - 1;
        &mut self.report.reasons[last]
    }

    pub(crate) fn stopped(&mut self, call: &str) {
        let text = match self.options.time_limit {
            Some(t) if self.started.elapsed() > t => {
                format!("the time limit of {:.0} s was reached", t.as_secs_f64())
            }
            _ => "stopped by the caller".to_string(),
        };
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
        let mut distinct: Vec<CallCase> = Vec::new();
        self.report.counts.cases = cases.len();
        for case in cases {
            if distinct.iter().any(|d| d.tie == case.tie && d.outputs == case.outputs) {
                self.report.counts.identical_cases += 1;
            } else {
                distinct.push(case);
            }
        }
        for case in &distinct {
            if !self.case(&graph, case) {
                return;
            }
        }
        self.report.verdict = Verdict::Proved;
    }

    pub(crate) fn time(&mut self, phase: &str, since: Instant) {
        *self.report.times.entry(phase.to_string()).or_default() += since.elapsed().as_secs_f64();
    }

    /// Proves one call; false (with a reason) if not.
    fn case(&mut self, graph: &Graph, case: &CallCase) -> bool {
        if let Some(proved) = self.twos(graph, case) {
            return proved;
        }
        let contract = self.contract;
        let in_ranges = case.input_ranges(contract);
        let t = Instant::now();
        let mut walk = Walk::new(graph, contract.ring.q() as u32, in_ranges);
        walk.cut.cones.max_points = self.options.max_points;
        walk.cut.cones.budget = self.options.max_work;
        let visited = walk.run(&case.outputs, &mut |done, total| {
            self.tick("interpreting", done as f64 / total as f64)
        });
        let Some(visited) = visited else {
            self.time("interpret", t);
            self.stopped(&case.name);
            return false;
        };
        let read = self.read_outputs(graph, &mut walk, case);
        self.time("interpret", t);
        let c = &mut self.report.counts;
        c.visited += visited;
        count(c, &walk);
        ranges::summarise(&mut self.report.ranges, graph, &mut walk, self.object);
        let Some(outputs) = read else {
            self.refute(graph, &mut walk, case, None);
            return false;
        };
        let Some((outputs, equalities)) = self.integers(graph, &mut walk, case, outputs) else {
            return false;
        };
        let t = Instant::now();
        let audited = self.audit(graph, &mut walk, case, &outputs);
        self.time("audit", t);
        if let Err(e) = audited {
            let text = format!(
                "concrete evaluation contradicts the forms, which is an error of this tool: {e}"
            );
            self.reason(ReasonKind::Unmodelled, &case.name, text);
            return false;
        }
        if !compares(&walk.cut.world, &outputs) {
            let text = "an output depends on values that are known in other moduli than q only";
            self.reason(ReasonKind::Unmodelled, &case.name, text.into());
            return false;
        }
        let t = Instant::now();
        let shared: &dyn Progress = &*self.progress;
        let (started, limit) = (self.started, self.options.time_limit);
        let (stats, result) = compare(contract, case.tie, &walk.cut.world, &outputs, &|fraction| {
            shared.update("comparing", fraction) && limit.is_none_or(|t| started.elapsed() <= t)
        });
        let c = &mut self.report.counts;
        c.products = c.products.max(stats.products);
        c.linear_terms += stats.terms;
        c.equations += stats.equations;
        self.time("compare", t);
        match result {
            Ok(()) => {}
            Err(Mismatch::Cancelled) => {
                self.stopped(&case.name);
                return false;
            }
            Err(m) => {
                self.mismatch(&m, &case.name);
                self.refute(graph, &mut walk, case, Some(&m));
                return false;
            }
        }
        let t = Instant::now();
        let mut certificate = check::certificate(&mut walk.cut.world.funs, &walk.cut.cones);
        certificate.cones.extend(equalities.iter().map(Equality::line));
        let shared: &dyn Progress = &*self.progress;
        let ok = check::verify(&certificate, &|fraction| shared.update("checking", fraction));
        self.time("check", t);
        let ok = ok.err();
        self.report.certificate.q = contract.ring.q() as u32;
        self.report.certificate.cones.extend(certificate.cones);
        if let Some(e) = ok {
            self.reason(
                ReasonKind::Unmodelled,
                &case.name,
                format!("the certificate's checker disagrees, which is an error of this tool: {e}"),
            );
            return false;
        }
        let text = self.report.certificate.cones.join("\n");
        self.report.certificate.sha256 = sha256(text.as_bytes());
        self.report.certificate.checked = true;
        true
    }

    /// Outputs of products in terms of what is known modulo q, where they go through other moduli,
    /// and the integers that were found equal; [`None`] (with a reason) if they cannot be.
    fn integers(
        &mut self,
        graph: &Graph,
        walk: &mut Walk,
        case: &CallCase,
        mut outputs: Vec<ModForm>,
    ) -> Option<(Vec<ModForm>, Vec<Equality>)> {
        if self.contract.computes != Computes::Product {
            return Some((outputs, Vec::new()));
        }
        let t = Instant::now();
        let n = self.contract.ring.degree();
        let shared: &dyn Progress = &*self.progress;
        let (started, limit) = (self.started, self.options.time_limit);
        let result = integers::lift(&mut walk.cut, &mut outputs, n, &|fraction| {
            shared.update("lifting", fraction) && limit.is_none_or(|t| started.elapsed() <= t)
        });
        self.time("integers", t);
        match result {
            Ok(equalities) => Some((outputs, equalities)),
            Err((_, Some(Mismatch::Cancelled))) => {
                self.stopped(&case.name);
                None
            }
            Err((text, _)) => {
                self.reason(ReasonKind::Function, &case.name, text);
                self.refute(graph, walk, case, None);
                None
            }
        }
    }

    /// Tests all variables and outputs on a few random inputs.
    fn audit(
        &self,
        graph: &Graph,
        walk: &mut Walk,
        case: &CallCase,
        outputs: &[ModForm],
    ) -> Result<(), String> {
        let ranges = case.ranges(self.contract);
        let output = &self.contract.arguments[self.contract.output()];
        let tape = Tape::new(graph, &case.outputs).map_err(|e| e.to_string())?;
        let mut random = witness::Random(1);
        for round in 0..2 {
            let mut inputs: Vec<Vec<i64>> = ranges
                .iter()
                .map(|&(lo, hi)| {
                    (0..output.length)
                        .map(|_| {
                            let r = random.next();
                            if round == 0 {
                                lo + (r % (hi - lo + 1) as u64) as i64
                            } else {
                                [lo, hi][(r & 1) as usize]
                            }
                        })
                        .collect()
                })
                .collect();
            case.tied(&mut inputs);
            let input = |o: u16, i: u32| inputs[o as usize][i as usize];
            let audit = Audit::new(&mut walk.cut.world, &input)?;
            let values = tape.run(|o, i| input(o, i) as u64);
            for (k, (form, bits)) in outputs.iter().zip(values).enumerate() {
                let s = 64 - u32::from(output.element.bits());
                let value =
                    if output.element.signed() { ((bits << s) as i64) >> s } else { bits as i64 };
                let residue = audit.residue(&walk.cut.world, form);
                if (i128::from(value) - residue).rem_euclid(self.contract.ring.q().into()) != 0 {
                    return Err(format!("output {k} is {value}, its form gives {residue}"));
                }
            }
        }
        Ok(())
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
        for (k, &node) in case.outputs.iter().enumerate() {
            let (lo, hi, form) = match walk.output(node, bits, signed) {
                Ok(Output { lo, hi, residue }) => (lo, hi, residue),
                Err(cause) => {
                    self.blame(graph, walk, cause, &case.name, k);
                    return None;
                }
            };
            found.push((lo, hi));
            if (lo < output.range.0 || hi > output.range.1) && outside.is_none() {
                outside = Some((k, lo, hi));
            }
            forms.push(form);
        }
        let range = found.iter().copied().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.report.ranges.output = range;
        self.report.ranges.outputs = found;
        if let Some((k, lo, hi)) = outside {
            let (name, allowed) = (&output.name, output.range);
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

/// Whether everything that the outputs depend on is known modulo q.
fn compares(world: &World, outputs: &[ModForm]) -> bool {
    let needed = needed(world, outputs);
    let known = |v: usize| {
        let v = VarId(v as u32);
        matches!(world.var(v).source, Source::Input { .. }) || world.known(v, world.q).is_some()
    };
    outputs.iter().all(|o| o.m == world.q) && (0..needed.len()).all(|v| !needed[v] || known(v))
}

fn count(c: &mut Counts, walk: &Walk) {
    let world = &walk.cut.world;
    c.variables += world.vars.len();
    c.functions += world.funs.len();
    c.cones += walk.cut.cones.proved().count();
    c.cone_work += walk.cut.cones.work;
    c.wide_sums += world.wides.len();
}
