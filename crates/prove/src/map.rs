//! Contracts for each element: calls are executed, the kernel decides, and what is wrong is shown by inputs.

use crate::lift::{common, not_lifted};
use crate::limits::Watch;
use crate::report::{ReasonKind, Report, Verdict, Witness};
use crate::ways::Operands;
use crate::witness::Random;
use crate::{Options, Progress};
use ringforge_contract::calls::{CallLimits, Executed};
pub use ringforge_contract::map::{MapArgument, MapCase, MapContract, Wrong, is_for};
use ringforge_contract::map::{assumptions, cases, claims};
use ringforge_contract::sha256;
use ringforge_kernel::check::Limits;
use ringforge_kernel::map::{Flaw, check};
use ringforge_machine::Object;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId};
use std::time::Instant;

/// Fields that are named one by one in a remark.
const NAMED: usize = 8;

/// Proves or refutes that `object` fulfils `contract`.
pub fn prove(
    object: &[u8],
    contract: &MapContract,
    options: &Options,
    progress: &mut dyn Progress,
) -> Report {
    let started = Instant::now();
    let mut report = Report {
        verdict: Verdict::Unknown,
        symbol: contract.symbol.clone(),
        ring: "Z".into(),
        object_sha256: sha256(object),
        object_bytes: object.len(),
        claims: claims(contract),
        assumptions: assumptions(contract),
        reasons: Vec::new(),
        witness: None,
        remarks: Vec::new(),
        ranges: Default::default(),
        counts: Default::default(),
        times: Default::default(),
        certificate: Default::default(),
        equivalent: Vec::new(),
    };
    match Object::parse(object) {
        Ok(object) => {
            let watch = Watch::new(options, started);
            Job { contract, options, progress, watch: &watch, report: &mut report }.run(&object);
        }
        Err(e) => {
            report.reason(ReasonKind::Unmodelled, "", e.to_string());
        }
    }
    report.times.insert("total".into(), started.elapsed().as_secs_f64());
    report
}

struct Job<'a> {
    contract: &'a MapContract,
    options: &'a Options,
    progress: &'a mut dyn Progress,
    watch: &'a Watch,
    report: &'a mut Report,
}

impl Job<'_> {
    fn run(&mut self, object: &Object) {
        let mut graph = Graph::new();
        let Some(all) = self.lift(object, &mut graph) else { return };
        self.report.counts.nodes = graph.len();
        let distinct = self.report.distinct(all, MapCase::is_like, |case| &mut case.certain);
        let mut first = None;
        for case in &distinct {
            if !self.case(&graph, case) && !self.report.goes_on(&mut first) {
                return self.report.says(first);
            }
        }
        if first.is_some() {
            return self.report.says(first);
        }
        self.report.verdict = Verdict::Proved;
    }

    fn lift(&mut self, object: &Object, graph: &mut Graph) -> Option<Vec<MapCase>> {
        let t = Instant::now();
        let mut executed = Executed::default();
        let limits = CallLimits { max_steps: self.options.max_steps };
        let (progress, watch) = (&*self.progress, self.watch);
        let all = cases(self.contract, object, graph, limits, &mut executed, &mut |part| {
            progress.update("executing", part) && watch.goes_on()
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
        self.report.times.insert("lift".into(), t.elapsed().as_secs_f64());
        match all {
            Ok(all) => Some(all),
            Err(e) => {
                let contract = self.contract;
                let inputs = contract.inputs();
                let name = |o: u16, i: u32| {
                    let a = &contract.arguments[inputs[usize::from(o)]];
                    if a.any_number() {
                        a.memory.name.clone()
                    } else {
                        format!("{}[{i}]", a.memory.name)
                    }
                };
                let one = |i: usize| &contract.arguments[i].memory;
                let operands = Operands {
                    shapes: (inputs.iter())
                        .map(|&i| (common(&contract.alias, i, &one), contract.arguments[i].length))
                        .collect(),
                    memory: &|o, fields| contract.arguments[inputs[o]].memory_of(fields),
                    name: &name,
                };
                if e.why == ringforge_contract::calls::Why::Stopped {
                    self.stopped(&e.call);
                }
                not_lifted(self.report, graph, &e, &operands);
                None
            }
        }
    }

    fn stopped(&mut self, call: &str) {
        let text = self.watch.reached().unwrap_or("stopped by the caller").to_string();
        self.report.reason(ReasonKind::Stopped, call, text);
    }

    /// Decides one call; false (with a reason) if it is not proved.
    fn case(&mut self, graph: &Graph, case: &MapCase) -> bool {
        let t = Instant::now();
        let limits = Limits { work: self.options.max_work, steps: self.options.max_steps };
        let (progress, watch) = (&*self.progress, self.watch);
        let tick = |part: f64| progress.update("comparing", part) && watch.goes_on();
        let checked = check(self.contract, graph, case, limits, &tick);
        *self.report.times.entry("compare".into()).or_default() += t.elapsed().as_secs_f64();
        match checked {
            Ok(done) => {
                let c = &mut self.report.counts;
                c.functions += done.terms;
                c.enumerated += done.terms;
                c.equations += done.fields as u64;
                c.enumeration_work += done.points;
                self.unread(&done.unread);
                true
            }
            Err(Flaw::Stopped(why)) => {
                if why == "stopped" {
                    self.stopped(&case.name);
                } else {
                    self.report.reason(ReasonKind::Unmodelled, &case.name, why);
                }
                false
            }
            Err(Flaw::Wrong { argument, field, at }) => {
                let inputs = self.inputs(&at);
                let name = &self.contract.arguments[argument].memory.name;
                let text = format!("{name}[{field}] is not what its formula says");
                self.report.reason(ReasonKind::Function, &case.name, text);
                self.show(graph, case, &mut std::iter::once(inputs));
                false
            }
            Err(Flaw::Open { argument, field, why }) => {
                let name = &self.contract.arguments[argument].memory.name;
                let text = format!("{name}[{field}] is not decided: {why}");
                self.report.reason(ReasonKind::Unmodelled, &case.name, text);
                let until = Instant::now() + self.options.search;
                let mut random = Random(0x9e37_79b9_7f4a_7c15);
                let contract = self.contract;
                let mut attempts = (0u64..)
                    .take_while(|_| Instant::now() < until)
                    .map(|k| attempt(contract, k, &mut random));
                self.show(graph, case, &mut attempts);
                false
            }
            Err(Flaw::Order(why)) => {
                let text = format!("it is not decided whether the array is sorted: {why}");
                self.report.reason(ReasonKind::Unmodelled, &case.name, text);
                let until = Instant::now() + self.options.search;
                let mut random = Random(0x9e37_79b9_7f4a_7c15);
                let a = &self.contract.arguments[self.contract.outputs()[0]];
                let mut attempts = (0..)
                    .take_while(|_| Instant::now() < until)
                    .map(|k| vec![unsorted(a, k, &mut random)]);
                self.show(graph, case, &mut attempts);
                false
            }
            Err(Flaw::Result(why)) => {
                let text = format!("the result is not decided: {why}");
                self.report.reason(ReasonKind::Unmodelled, &case.name, text);
                let until = Instant::now() + self.options.search;
                let contract = self.contract;
                let mut attempts = (0..).map_while(|k| near(contract, k));
                self.show(
                    graph,
                    case,
                    &mut attempts.by_ref().take_while(|_| Instant::now() < until),
                );
                false
            }
        }
    }

    /// Says which fields of inputs no output depends on.
    fn unread(&mut self, unread: &[(usize, usize)]) {
        for of in unread.chunk_by(|x, y| x.0 == y.0) {
            let a = &self.contract.arguments[of[0].0];
            let name = &a.memory.name;
            let text = if of.len() == a.length {
                format!("no output depends on {name}")
            } else {
                let mut some: Vec<String> =
                    of.iter().take(NAMED).map(|k| format!("{name}[{}]", k.1)).collect();
                if of.len() > NAMED {
                    some.push(format!("{} more", of.len() - NAMED));
                }
                format!("no output depends on {}", some.join(", "))
            };
            if !self.report.remarks.contains(&text) {
                self.report.remarks.push(text);
            }
        }
    }

    /// Inputs with these values in some fields, and others as near to zero as their ranges go.
    fn inputs(&self, at: &[(usize, usize, i64)]) -> Vec<Vec<i64>> {
        let one = |argument: usize| {
            let a = &self.contract.arguments[argument];
            let (lo, hi) = a.memory.range;
            let mut values = vec![0i64.clamp(lo, hi); a.length];
            for &(_, field, value) in at.iter().filter(|x| x.0 == argument) {
                values[if a.any_number() { 0 } else { field }] = value;
            }
            values
        };
        self.contract.inputs().into_iter().map(one).collect()
    }

    /// Evaluates the call on inputs until an output is wrong: then the contract is refuted.
    fn show(
        &mut self,
        graph: &Graph,
        case: &MapCase,
        attempts: &mut dyn Iterator<Item = Vec<Vec<i64>>>,
    ) {
        let t = Instant::now();
        let contract = self.contract;
        let roots: Vec<NodeId> =
            case.outputs.iter().flatten().copied().chain(case.result).collect();
        let Ok(tape) = Tape::new(graph, &roots) else { return };
        let arguments: Vec<&MapArgument> =
            contract.inputs().into_iter().map(|i| &contract.arguments[i]).collect();
        for inputs in attempts {
            let memory: Vec<Vec<i64>> =
                arguments.iter().zip(&inputs).map(|(a, v)| a.memory_of(v)).collect();
            let mut words = tape.run(|o, i| memory[usize::from(o)][i as usize] as u64).into_iter();
            let arrays = contract.outputs().into_iter().map(|i| {
                let a = &contract.arguments[i].memory;
                (a.element, a.length)
            });
            let outputs: Vec<Vec<i64>> = arrays
                .chain(contract.returns().map(|r| (r.element, 1)))
                .map(|(element, length)| {
                    let unused = 64 - u32::from(element.bits());
                    let read = |w: u64| match element.signed() {
                        true => ((w << unused) as i64) >> unused,
                        false => w as i64,
                    };
                    words.by_ref().take(length).map(read).collect()
                })
                .collect();
            if let Some(wrong) = contract.wrong(&inputs, &outputs) {
                let shown = witness(contract, case, &inputs, &memory, &outputs, &wrong);
                if case.certain {
                    // It was not decided by a proof, and is now.
                    self.report.reasons.pop();
                    let kind = match wrong.outside {
                        Some(_) => ReasonKind::Range,
                        None => ReasonKind::Function,
                    };
                    self.report.reason(kind, &case.name, wrong.said(contract));
                }
                self.report.shown(shown, case.certain);
                break;
            }
        }
        *self.report.times.entry("search".into()).or_default() += t.elapsed().as_secs_f64();
    }
}

/// What is shown of inputs for which a field is wrong: arrays as they lie in memory.
fn witness(
    contract: &MapContract,
    case: &MapCase,
    inputs: &[Vec<i64>],
    memory: &[Vec<i64>],
    outputs: &[Vec<i64>],
    wrong: &Wrong,
) -> Witness {
    let names = contract.inputs().into_iter().map(|i| contract.arguments[i].memory.name.clone());
    let inputs_shown: Vec<(String, Vec<i64>)> = names.zip(memory.iter().cloned()).collect();
    let Some(argument) = wrong.argument else {
        return Witness {
            call: case.name.clone(),
            inputs: inputs_shown,
            found: vec![wrong.found],
            expected: vec![wrong.expected],
            element: 0,
            outside: None,
            confirmed: false,
        };
    };
    let written = contract.outputs();
    let at = written.iter().position(|&i| i == argument).unwrap_or(0);
    let a = &contract.arguments[argument];
    let values = contract.expected(inputs).map(|mut all| all.swap_remove(at)).unwrap_or_default();
    let expected = a.should(&outputs[at], &values);
    let found = outputs[at].clone();
    let element = found.iter().zip(&expected).position(|(x, y)| x != y);
    Witness {
        call: case.name.clone(),
        inputs: inputs_shown,
        element: element.unwrap_or(wrong.field),
        found,
        expected,
        outside: wrong.outside,
        confirmed: false,
    }
}

/// Arrays that are equal, or but for one bit: the last elements first, since these are forgotten most. At last two that
/// differ in the same bit of two elements, which may cancel.
fn near(contract: &MapContract, k: usize) -> Option<Vec<Vec<i64>>> {
    let compared = contract.compared();
    let a = &contract.arguments[*compared.first()?];
    let bits = usize::from(a.bits);
    let (element, bit) = (k.checked_sub(1).map(|k| k / bits), k.wrapping_sub(1) % bits);
    if element.is_some_and(|e| e > a.length || e == a.length && e < 2) {
        return None;
    }
    let word = |pattern: usize| match a.signed() {
        true => ((pattern as i64) << (64 - bits)) >> (64 - bits),
        false => (pattern & (usize::MAX >> (64 - bits))) as i64,
    };
    let one = |i: usize| {
        let argument = &contract.arguments[i];
        let mut values: Vec<i64> = match compared.contains(&i) {
            true => (0..a.length).map(|j| word(j.wrapping_mul(0x9e37) >> 3)).collect(),
            false => vec![argument.memory.range.0],
        };
        if let Some(e) = element.filter(|_| compared.get(1) == Some(&i)) {
            let places = if e < a.length { vec![a.length - 1 - e] } else { vec![0, 1] };
            for at in places {
                values[at] = word(values[at] as usize ^ 1 << bit);
            }
        }
        values
    };
    Some(contract.inputs().into_iter().map(one).collect())
}

/// Array number k that may not be sorted: one greater or lesser element at each place, descending, then two values at
/// random, and random ones.
fn unsorted(a: &MapArgument, k: usize, random: &mut Random) -> Vec<i64> {
    let ((lo, hi), n) = (a.memory.range, a.length);
    let all = (hi - lo) as u64 + 1;
    (0..n)
        .map(|i| match k {
            _ if k < n => [lo, hi][usize::from(i == k)],
            _ if k < 2 * n => [hi, lo][usize::from(i == k - n)],
            _ if k == 2 * n => lo + ((n - 1 - i) as u64 % all) as i64,
            _ if k.is_multiple_of(2) => [lo, hi][(random.next() & 1) as usize],
            _ => lo + (random.next() % all) as i64,
        })
        .collect()
}

/// Inputs number k of a search: corners, then random ones. Arrays that are summed up have every sum in turn.
fn attempt(contract: &MapContract, k: u64, random: &mut Random) -> Vec<Vec<i64>> {
    let one = |argument: usize, random: &mut Random| {
        let a = &contract.arguments[argument];
        let (lo, hi) = a.memory.range;
        let all = (hi - lo) as u64 + 1;
        let mut next = |ends: bool| match (ends, random.next()) {
            (true, r) => [lo, hi][(r & 1) as usize],
            (false, r) => lo + (r % all) as i64,
        };
        (0..a.length).map(|_| next(k.is_multiple_of(4))).collect()
    };
    let summed = |argument: usize, random: &mut Random| {
        let sum = contract.sums.iter().find(|sum| sum.array == argument)?;
        let ((lo, hi), mut pick) = (sum.range, |n: u64| random.next() % n);
        let total = lo + (k % ((hi - lo) as u64 + 1)) as i64;
        sum.reached(total, &[], &mut pick)
    };
    let all = contract.inputs().into_iter();
    all.map(|i| summed(i, random).unwrap_or_else(|| one(i, random))).collect()
}
