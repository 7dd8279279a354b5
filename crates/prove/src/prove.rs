//! The proof of one object: lift every call, interpret, compare, check.

use crate::audit::Audit;
use crate::contract::{Computes, Contract, Role};
use crate::function::{Check, Mismatch};
use crate::report::{Counts, Reason, ReasonKind, Report, Verdict};
use crate::values::{CauseKind, Form, ModForm};
use crate::walk::{InputRange, Output, Walk};
use crate::{Options, Progress, check, ranges, witness};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{
    ArgSpec, CallSpec, Initial, LiftError, Object, RegionSpec, Violation, lift,
};
use sha2::{Digest, Sha256};
use std::time::Instant;

/// One way of calling the function, lifted: the terms of the outputs.
pub(crate) struct CallCase {
    /// `disjoint`, `c = a`, with the alignment case where there are several.
    pub name: String,
    /// Output elements.
    pub outputs: Vec<NodeId>,
}

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
    fn tick(&mut self, phase: &str, fraction: f64) -> bool {
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

    fn stopped(&mut self, call: &str) {
        let text = match self.options.time_limit {
            Some(t) if self.started.elapsed() > t => {
                format!("the time limit of {:.0} s was reached", t.as_secs_f64())
            }
            _ => "stopped by the caller".to_string(),
        };
        self.reason(ReasonKind::Stopped, call, text);
    }

    /// The calls that the contract allows: disjoint first, then one for each alias.
    fn calls(&self) -> Vec<(String, CallSpec, usize)> {
        let contract = self.contract;
        let mut calls = Vec::new();
        let mut variants: Vec<Option<(usize, usize)>> = vec![None];
        variants.extend(contract.alias.iter().copied().map(Some));
        for variant in variants {
            let mut regions = Vec::new();
            let mut region_of = vec![0; contract.arguments.len()];
            let mut operand = 0;
            for (i, a) in contract.arguments.iter().enumerate() {
                let input = a.role == Role::Input;
                if !input && variant.is_some() {
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
                    write: !input || shared,
                    initial: if input {
                        let bits = a.element.bits();
                        operand += 1;
                        Initial::Inputs { operand: operand - 1, element_bits: bits }
                    } else {
                        Initial::Undefined
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
                max_steps: self.options.max_steps,
            };
            calls.push((name, spec, region_of[contract.output()]));
        }
        calls
    }

    /// Lifts all calls into one graph; [`None`] if one cannot be.
    fn lift(&mut self, graph: &mut Graph) -> Option<Vec<CallCase>> {
        let output = &self.contract.arguments[self.contract.output()];
        let (length, bits) = (output.length, output.element.bits());
        let mut cases = Vec::new();
        let calls = self.calls();
        let count = calls.len();
        for (at, (name, spec, region)) in calls.into_iter().enumerate() {
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
                            self.reason(ReasonKind::Undefined, &full, text);
                            self.report.verdict = Verdict::Refuted;
                            return None;
                        }
                    }
                }
                cases.push(CallCase { name: full, outputs });
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
            LiftError::NoSymbol { .. } | LiftError::BadCall(_) => {
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

    /// The whole proof; fills the report.
    pub(crate) fn run(&mut self) {
        if self.contract.computes != Computes::Product || self.contract.ring.q() >= 1 << 16 {
            let text = "only products modulo primes below 2^16 are modelled yet";
            self.reason(ReasonKind::Unmodelled, "", text.into());
            return;
        }
        let mut graph = Graph::new();
        let t = Instant::now();
        let cases = self.lift(&mut graph);
        self.time("lift", t);
        self.report.counts.nodes = graph.len();
        let Some(cases) = cases else { return };
        let mut distinct: Vec<CallCase> = Vec::new();
        self.report.counts.cases = cases.len();
        for case in cases {
            if distinct.iter().any(|d| d.outputs == case.outputs) {
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

    fn time(&mut self, phase: &str, since: Instant) {
        *self.report.times.entry(phase.to_string()).or_default() += since.elapsed().as_secs_f64();
    }

    /// Proves one call; false (with a reason) if not.
    fn case(&mut self, graph: &Graph, case: &CallCase) -> bool {
        let contract = self.contract;
        let inputs = contract.inputs();
        let in_ranges: Vec<InputRange> = inputs
            .iter()
            .map(|&i| {
                let a = &contract.arguments[i];
                InputRange { lo: a.range.0, hi: a.range.1, signed: a.element.signed() }
            })
            .collect();
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
        let t = Instant::now();
        let n = contract.ring.degree();
        let check = Check::new(&walk.cut.world, n, &outputs);
        let result = check.and_then(|(check, stats)| {
            let c = &mut self.report.counts;
            c.products = c.products.max(stats.products);
            c.linear_terms += stats.terms;
            c.equations += (n as u64 + 1) * (n as u64 + 1) * outputs.len() as u64;
            let shared: &dyn Progress = &*self.progress;
            let (started, limit) = (self.started, self.options.time_limit);
            check.product(&contract.ring, &|fraction| {
                shared.update("comparing", fraction) && limit.is_none_or(|t| started.elapsed() <= t)
            })
        });
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
        let certificate =
            check::certificate(&mut walk.cut.world.funs, &walk.cut.cones, contract.ring.q() as u32);
        let shared: &dyn Progress = &*self.progress;
        let ok = check::verify(&certificate, &|fraction| shared.update("checking", fraction));
        self.time("check", t);
        let ok = ok.err();
        self.report.certificate.q = certificate.q;
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

    /// Tests all variables and outputs on a few random inputs.
    fn audit(
        &self,
        graph: &Graph,
        walk: &mut Walk,
        case: &CallCase,
        outputs: &[ModForm],
    ) -> Result<(), String> {
        let ranges: Vec<(i64, i64)> =
            self.contract.inputs().iter().map(|&i| self.contract.arguments[i].range).collect();
        let output = &self.contract.arguments[self.contract.output()];
        let tape = Tape::new(graph, &case.outputs).map_err(|e| e.to_string())?;
        let mut random = witness::Random(1);
        for round in 0..2 {
            let inputs: Vec<Vec<i64>> = ranges
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

    /// A reason from a cause, with its instruction.
    fn blame(&mut self, graph: &Graph, walk: &Walk, cause: u32, call: &str, output: usize) {
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

    fn mismatch(&mut self, m: &Mismatch, call: &str) {
        let text = match m {
            Mismatch::Coefficient { i, j, k, found, expected } => {
                let basis = |x: &Option<usize>| x.map_or("0".to_string(), |x| format!("x^{x}"));
                format!(
                    "for a = {} and b = {} coefficient {k} is {found} modulo {}, but the product's is {expected}",
                    basis(i),
                    basis(j),
                    self.contract.ring.q()
                )
            }
            Mismatch::NotBilinear { .. } => {
                "an output contains a product of two values that depend on the same operand".into()
            }
            Mismatch::Cancelled => return,
        };
        self.reason(ReasonKind::Function, call, text);
    }

    /// The sums that may not fit, or whose value leaves the output's range.
    fn suspects(&self, walk: &mut Walk, case: &CallCase) -> Vec<Form> {
        let output = &self.contract.arguments[self.contract.output()];
        let mut sums: Vec<Form> = Vec::new();
        for &node in &case.outputs {
            let form = match walk.output(node, output.element.bits(), output.element.signed()) {
                Ok(o) if o.lo < output.range.0 || o.hi > output.range.1 => {
                    walk.form(node).map(|f| (**f).clone())
                }
                Ok(_) => None,
                Err(c) => match walk.cut.world.causes.get(c as usize).map(|c| &c.kind) {
                    Some(CauseKind::Range { form, .. }) => Some(form.clone()),
                    _ => None,
                },
            };
            if let Some(form) = form
                && !sums.contains(&form)
            {
                sums.push(form);
                if sums.len() >= 12 {
                    break;
                }
            }
        }
        sums
    }

    /// Looks for inputs that show the failure; sets the verdict.
    fn refute(&mut self, graph: &Graph, walk: &mut Walk, case: &CallCase, m: Option<&Mismatch>) {
        let t = Instant::now();
        self.report.verdict = Verdict::Unknown;
        let sums = self.suspects(walk, case);
        let found = witness::search(self, graph, walk, case, m, &sums);
        self.time("search", t);
        if let Some(w) = found {
            self.report.witness = Some(w);
            self.report.verdict = Verdict::Refuted;
        }
    }
}

fn count(c: &mut Counts, walk: &Walk) {
    let world = &walk.cut.world;
    c.variables += world.vars.len();
    c.functions += world.funs.len();
    c.cones += walk.cut.cones.proved().count();
    c.cone_work += walk.cut.cones.work;
    c.wide_sums += world.wides.len();
}
