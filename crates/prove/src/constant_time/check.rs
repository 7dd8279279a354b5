//! Running the functions of a contract.

use super::clean::Clean;
use super::contract::{Function, Parameter, SafetyContract};
use super::inlined::Doubt;
use crate::contract::{Abi, Role};
use crate::report::{OVERFLOW_CHECK, Reason, ReasonKind, Verdict};
use crate::witness::names_below;
use crate::{Options, Progress, ways};
use rayon::prelude::*;
use ringforge_contract::sha256;
use ringforge_machine::byte::Byte;
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{
    ArgSpec, CallSpec, Initial, LiftError, Lifted, Object, Place, RegionSpec, Violation, lift,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// Instructions of one call.
const MOST_STEPS: u64 = 1 << 29;
/// The most instructions that are executed again with terms, to name what a leak depends on.
pub(super) const STEPS_WITH_TERMS: u64 = 4_000_000;

/// What was found of all functions of a contract in one object.
#[derive(Clone, Debug, Serialize)]
pub struct SafetyReport {
    /// Proved if all functions are, refuted if one is.
    pub verdict: Verdict,
    /// SHA-256 of the object in hexadecimal digits.
    pub object_sha256: String,
    /// Its size.
    pub object_bytes: usize,
    /// What `proved` says of a function.
    pub claims: Vec<String>,
    /// Function by function, in the contract's order.
    pub functions: Vec<FunctionReport>,
}

/// What was found of one function.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionReport {
    /// Its symbol.
    pub symbol: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is not proved.
    pub reasons: Vec<Reason>,
    /// What the verdict takes for granted.
    pub assumptions: Vec<String>,
    /// What is allowed by the contract and yet often a mistake: bytes that are never read.
    pub remarks: Vec<String>,
    /// Calls executed: values of public arguments and data, alignments, orders in memory.
    pub cases: usize,
    /// Instructions executed in the longest of them.
    pub instructions: u64,
    /// Deepest use of the stack in bytes.
    pub stack_bytes: u64,
    /// Seconds that it took.
    pub seconds: f64,
}

/// One call to execute: the case in words, and which argument each region is.
pub(super) struct Call {
    pub name: String,
    pub spec: CallSpec,
}

/// Checks that no branch, address or variable-time instruction of the contract's functions depends on
/// memory or numbers that it does not call public, and that their accesses stay inside.
///
/// Only the options' limits of time and memory apply; a function that reaches one is unknown.
pub fn check(
    object: &[u8],
    contract: &SafetyContract,
    options: &Options,
    progress: &dyn Progress,
) -> SafetyReport {
    let started = Instant::now();
    let parsed = Object::parse(object).map_err(|e| e.to_string());
    let parsed = parsed.and_then(|o| contract.abi.check(&o).map(|()| o));
    let run = |object, function| Run { contract, object, function, progress, options, started };
    let mut found: Vec<Found> = contract
        .functions
        .par_iter()
        .map(|function| match &parsed {
            Ok(object) => run(object, function).found(),
            Err(e) => {
                let mut report = FunctionReport::new(function, contract.abi);
                report.say(ReasonKind::Unmodelled, e.clone(), None, "");
                Found { report, stood_in: Vec::new(), doubt: None }
            }
        })
        .collect();
    // A function that another calls was not inlined there.
    let called: Vec<Vec<String>> =
        found.iter_mut().map(|f| std::mem::take(&mut f.stood_in)).collect();
    for (i, f) in found.iter_mut().enumerate() {
        let by = |doubt: &Doubt| {
            let mut others = called.iter().enumerate();
            others.any(|(k, names)| k != i && names.contains(&doubt.function))
        };
        if let (Some(doubt), Ok(object)) = (f.doubt.take().filter(by), &parsed) {
            run(object, &contract.functions[i]).decide(&doubt, &mut f.report);
        }
    }
    let functions: Vec<FunctionReport> = found.into_iter().map(|f| f.report).collect();
    let any = |v: Verdict| functions.iter().any(|f| f.verdict == v);
    let verdict = match (any(Verdict::Refuted), any(Verdict::Unknown) || functions.is_empty()) {
        (true, _) => Verdict::Refuted,
        (_, true) => Verdict::Unknown,
        _ => Verdict::Proved,
    };
    let claims = [
        "constant time: no branch, no address and no variable-time instruction depends on the content \
         of memory or on a secret argument",
        "memory: every access lies inside an argument's array, the stack that the contract allows or a \
         read-only section, and writes neither inputs nor the caller's frame",
        "defined: nothing that is undefined decides an address or a branch, and outputs are written in \
         full",
        "conduct: callee-saved registers and the stack pointer are restored",
    ];
    SafetyReport {
        verdict,
        object_sha256: sha256(object),
        object_bytes: object.len(),
        claims: claims
            .map(str::to_string)
            .into_iter()
            .chain(Clean::claims(&contract.functions))
            .collect(),
        functions,
    }
}

impl FunctionReport {
    fn new(function: &Function, abi: Abi) -> FunctionReport {
        FunctionReport {
            symbol: function.symbol.clone(),
            verdict: Verdict::Unknown,
            reasons: Vec::new(),
            assumptions: vec![format!(
                "the caller follows the calling convention {}; arrays do not overlap",
                abi.name()
            )],
            remarks: Vec::new(),
            cases: 0,
            instructions: 0,
            stack_bytes: 0,
            seconds: 0.0,
        }
    }

    pub(super) fn say(&mut self, kind: ReasonKind, text: String, at: Option<&Place>, call: &str) {
        self.reasons.push(Reason {
            kind,
            text,
            address: at.map(|p| p.address),
            instruction: at.map(|p| p.instruction.clone()),
            interval: None,
            allowed: None,
            call: call.into(),
        });
    }
}

/// What was found of one function, before others are looked at.
struct Found {
    report: FunctionReport,
    /// What it calls and in whose place a declaration stands.
    stood_in: Vec<String>,
    /// A leak that inlining might excuse.
    doubt: Option<Doubt>,
}

pub(super) struct Run<'a> {
    contract: &'a SafetyContract,
    pub object: &'a Object,
    pub function: &'a Function,
    progress: &'a dyn Progress,
    options: &'a Options,
    /// When the check of all functions began.
    started: Instant,
}

impl Run<'_> {
    fn found(&self) -> Found {
        let started = Instant::now();
        let report = FunctionReport::new(self.function, self.contract.abi);
        let mut found = Found { report, stood_in: Vec::new(), doubt: None };
        found.report.verdict = self.run(&mut found);
        found.report.seconds = started.elapsed().as_secs_f64();
        found
    }

    /// Looks again at a leak that inlining might excuse.
    fn decide(&self, doubt: &Doubt, report: &mut FunctionReport) {
        let call = &self.calls()[doubt.call];
        if let Some(text) = self.leaks_without(call, doubt) {
            report.reasons.clear();
            report.say(ReasonKind::ConstantTime, text, Some(&doubt.at), &call.name);
            report.verdict = Verdict::Refuted;
        }
    }

    fn run(&self, found: &mut Found) -> Verdict {
        let report = &mut found.report;
        let calls = self.calls();
        let count = calls.len() as f64;
        let (mut read, mut checks) = (Read::default(), BTreeMap::new());
        for (at, call) in calls.iter().enumerate() {
            let going = &mut |steps: u64| {
                let part = 1.0 - 1.0 / (1.0 + steps as f64 / 1e6);
                self.progress.update(&self.function.symbol, (at as f64 + part) / count)
                    && self.options.reached(self.started).is_none()
            };
            if !going(0) {
                return self.stopped(call, report);
            }
            match lift(self.object, &call.spec, &mut Graph::blind(), going) {
                Ok(lifted) => {
                    found.stood_in.extend(lifted.stats.stood_in.iter().cloned());
                    read.add(&lifted);
                    checks.extend(lifted.stats.checks.clone());
                    if let Some(verdict) = self.finished(&lifted, call, report) {
                        return verdict;
                    }
                }
                Err(e) => {
                    if let LiftError::Inlined(function, violation) = &e
                        && let Violation::ConstantTime { at: place, .. } = &**violation
                    {
                        let (function, at_place) = (function.clone(), place.clone());
                        found.doubt = Some(Doubt { function, call: at, at: at_place });
                    }
                    return self.failed(&e, call, report);
                }
            }
        }
        if report.instructions == 0 {
            report.say(ReasonKind::Unmodelled, "no instruction was executed".into(), None, "");
            return Verdict::Unknown;
        }
        if let Some((_, first)) = checks.first_key_value() {
            report.assumptions.push(format!(
                "no overflow check or sanitizer trap fails (a failing check stops the program); there are {}, the first at \
                 {first}",
                checks.len()
            ));
        }
        report.remarks = read.remarks(self.function);
        Verdict::Proved
    }

    fn stopped(&self, call: &Call, report: &mut FunctionReport) -> Verdict {
        let why = self.options.reached(self.started).unwrap_or_else(|| "stopped".into());
        report.say(ReasonKind::Stopped, why, None, &call.name);
        Verdict::Unknown
    }

    /// What a run to the return leaves to check; a verdict if that fails.
    fn finished(
        &self,
        lifted: &Lifted,
        call: &Call,
        report: &mut FunctionReport,
    ) -> Option<Verdict> {
        let stats = &lifted.stats;
        // Ways that may be impossible refute nothing.
        let verdict = |certain| if certain { Verdict::Refuted } else { Verdict::Unknown };
        report.cases += lifted.cases.len();
        report.instructions = report.instructions.max(stats.instructions);
        report.stack_bytes = report.stack_bytes.max(stats.stack_bytes);
        for a in &stats.assumptions {
            if !report.assumptions.contains(a) {
                report.assumptions.push(a.clone());
            }
        }
        if stats.stack_bytes > self.function.stack {
            let text = format!(
                "memory: {} bytes of stack are used, and the contract allows {}",
                stats.stack_bytes, self.function.stack
            );
            report.say(ReasonKind::Memory, text, None, &call.name);
            return Some(verdict(lifted.cases.iter().all(|case| case.certain)));
        }
        for case in &lifted.cases {
            for (region, spec) in case.regions.iter().zip(&call.spec.regions) {
                let open = region.bytes.iter().position(Byte::is_undefined);
                if let Some(at) = open.filter(|_| spec.write) {
                    let text = format!("byte {at} of {} is not written", region.name);
                    report.say(ReasonKind::Undefined, text, None, &call.name);
                    return Some(verdict(case.certain));
                }
            }
        }
        self.left(lifted, call, report)
    }

    fn failed(&self, e: &LiftError, call: &Call, report: &mut FunctionReport) -> Verdict {
        if matches!(e, LiftError::Stopped { .. }) {
            return self.stopped(call, report);
        }
        let text = e.to_string();
        let (kind, verdict, at) = match e {
            LiftError::Violation(Violation::ConstantTime { at, .. }) if at.checks_overflow() => {
                let text = format!("{text}; {OVERFLOW_CHECK}");
                report.say(ReasonKind::Unmodelled, text, Some(at), &call.name);
                return Verdict::Unknown;
            }
            LiftError::Violation(Violation::ConstantTime { at, .. }) => {
                return match self.depends(call, at) {
                    Some(names) => {
                        let text = format!("{text}; the value depends on {names}");
                        report.say(ReasonKind::ConstantTime, text, Some(at), &call.name);
                        Verdict::Refuted
                    }
                    // What is unknown here may yet be a constant.
                    None => {
                        let text = format!("perhaps {text}");
                        report.say(ReasonKind::ConstantTime, text, Some(at), &call.name);
                        Verdict::Unknown
                    }
                };
            }
            LiftError::Violation(Violation::Memory { at, .. }) => {
                (ReasonKind::Memory, Verdict::Refuted, Some(at))
            }
            LiftError::Violation(Violation::Undefined { at, .. }) => {
                (ReasonKind::Undefined, Verdict::Refuted, Some(at))
            }
            LiftError::Violation(Violation::CalleeSaved { at, .. }) => {
                (ReasonKind::Abi, Verdict::Refuted, Some(at))
            }
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
        report.say(kind, text, at, &call.name);
        verdict
    }

    /// Executes the call again with terms: what the leak at that place depends on, in words, if two contents show that it
    /// is one. What is met before was taken for a check without terms.
    fn depends(&self, call: &Call, place: &Place) -> Option<String> {
        let spec = CallSpec { max_steps: STEPS_WITH_TERMS, ..call.spec.clone() };
        let mut graph = Graph::new();
        match lift(self.object, &spec, &mut graph, &mut |_| true) {
            Err(LiftError::Violation(Violation::ConstantTime { depends, at, .. }))
                if at.address == place.address =>
            {
                let two = ways::any_two(&graph, depends, &|o, i| self.input(o, i))?;
                Some(format!("{}; {two}", self.inputs_below(&graph, depends)))
            }
            _ => None,
        }
    }

    fn input(&self, operand: u16, index: u32) -> String {
        match self.function.parameters.get(usize::from(operand)) {
            Some(Parameter::Buffer(b)) => format!("byte {index} of {}", b.name),
            Some(_) => format!("argument {operand}"),
            None => "what another object's function wrote".into(),
        }
    }

    pub(super) fn inputs_below(&self, graph: &Graph, node: NodeId) -> String {
        names_below(graph, node, |operand, index| self.input(operand, index)).join(", ")
    }

    /// The calls that the contract allows.
    fn calls(&self) -> Vec<Call> {
        let mut calls = vec![self.call()];
        for (i, p) in self.function.parameters.iter().enumerate() {
            let Parameter::Public(values) = p else { continue };
            calls = each(&calls, values, |call, value| {
                call.spec.args[i] = ArgSpec::Constant(*value);
                if values.len() > 1 {
                    call.name += &format!("argument {i} is {value}; ");
                }
            });
        }
        for d in &self.contract.data {
            calls = each(&calls, &d.contents, |call, content| {
                let region = call.spec.regions.len();
                call.spec.data.push((d.symbol.clone(), region));
                call.spec.regions.push(RegionSpec {
                    name: d.symbol.clone(),
                    bytes: content.len() as u64,
                    align: 4,
                    read: true,
                    write: false,
                    initial: Initial::Bytes(content.clone()),
                });
                if d.contents.len() > 1 {
                    call.name += &format!("{} is {}; ", d.symbol, words(content));
                }
            });
        }
        for call in &mut calls {
            call.name.truncate(call.name.trim_end_matches("; ").len());
        }
        calls
    }

    /// The call without its public numbers.
    fn call(&self) -> Call {
        let mut regions = Vec::new();
        let mut args: Vec<ArgSpec> = Vec::new();
        for (i, p) in self.function.parameters.iter().enumerate() {
            args.push(match p {
                Parameter::Buffer(b) => {
                    let mut known = vec![None; b.bytes()];
                    for (at, bytes) in &b.known {
                        for (slot, byte) in known[*at..].iter_mut().zip(bytes) {
                            *slot = Some(*byte);
                        }
                    }
                    regions.push(RegionSpec {
                        name: b.name.clone(),
                        bytes: b.bytes() as u64,
                        align: b.align,
                        read: true,
                        write: b.role != Role::Input,
                        initial: match b.role {
                            Role::Output => Initial::Undefined,
                            _ => Initial::Partly { operand: i as u16, known },
                        },
                    });
                    ArgSpec::Pointer(regions.len() - 1, 0)
                }
                Parameter::Same(other) => args[*other],
                Parameter::Public(_) => ArgSpec::Constant(0),
                Parameter::Secret => ArgSpec::Input { operand: i as u16 },
            });
        }
        let spec = CallSpec {
            symbol: self.function.symbol.clone(),
            regions,
            args,
            data: Vec::new(),
            ranges: Vec::new(),
            given_sections: Vec::new(),
            coincide: Vec::new(),
            functions: self.contract.externals.clone(),
            released_branches: self.function.released_branches,
            passes_checks: true,
            max_steps: MOST_STEPS,
        };
        Call { name: String::new(), spec }
    }
}

/// Which bytes of each buffer some call reads.
#[derive(Default)]
struct Read(Vec<Vec<bool>>);

impl Read {
    fn add(&mut self, lifted: &Lifted) {
        for case in &lifted.cases {
            self.0.resize(self.0.len().max(case.regions.len()), Vec::new());
            for (read, region) in self.0.iter_mut().zip(&case.regions) {
                read.resize(region.loaded.len(), false);
                read.iter_mut().zip(&region.loaded).for_each(|(r, l)| *r |= l);
            }
        }
    }

    /// The bytes of inputs that no call reads, in words.
    fn remarks(&self, function: &Function) -> Vec<String> {
        let mut remarks = Vec::new();
        for (buffer, read) in function.parameters.iter().filter_map(Parameter::buffer).zip(&self.0)
        {
            if buffer.role == Role::Output {
                continue;
            }
            let mut from = 0;
            for run in read.chunk_by(|a, b| a == b) {
                let last = from + run.len() - 1;
                let name = &buffer.name;
                match run[0] {
                    true => {}
                    false if run.len() == read.len() => {
                        remarks.push(format!("{name} is never read"))
                    }
                    false if from == last => {
                        remarks.push(format!("byte {from} of {name} is never read"))
                    }
                    false => {
                        remarks.push(format!("bytes {from} to {last} of {name} are never read"))
                    }
                }
                from = last + 1;
            }
        }
        remarks
    }
}

/// Every call with every value.
fn each<T>(calls: &[Call], values: &[T], set: impl Fn(&mut Call, &T)) -> Vec<Call> {
    let mut out = Vec::new();
    for call in calls {
        for value in values {
            let mut next = Call { name: call.name.clone(), spec: call.spec.clone() };
            set(&mut next, value);
            out.push(next);
        }
    }
    out
}

fn words(content: &[u8]) -> String {
    let word = |c: &[u8]| {
        let bytes: [u8; 4] = std::array::from_fn(|k| c.get(k).copied().unwrap_or(0));
        format!("{:x}", u32::from_le_bytes(bytes))
    };
    content.chunks(4).map(word).collect::<Vec<_>>().join(" ")
}
