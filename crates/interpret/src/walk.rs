//! The language abstraction: executing a program over any [`Domain`].
//!
//! Control flow, memory and moves mean the same in every interpretation, so they are written
//! here once; a domain only says what arithmetic on one word does. Words of memory that nothing
//! has written are undefined, and reading one is a fault in every interpretation.

mod operation;

pub use crate::domain::*;
use ringforge_program::ir::*;
use std::collections::HashMap;
use std::fmt;

/// Where in a program something happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Place {
    /// The procedure.
    pub procedure: String,
    /// Titles of the stages around it, outermost first, those of the callers included.
    pub stages: Vec<String>,
    /// The loop counters around it, outermost first, as `(number of the counter, value)`.
    pub counters: Vec<(u32, i64)>,
    /// Index of the operation in its block.
    pub operation: usize,
    /// The operation as text.
    pub text: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.procedure)?;
        for stage in &self.stages {
            write!(f, " › {stage}")?;
        }
        for (counter, value) in &self.counters {
            write!(f, " › i{counter} = {value}")?;
        }
        write!(f, " › operation {}: {}", self.operation, self.text)
    }
}

/// A program has no meaning in a domain: where, and why.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq, serde::Serialize)]
#[error("{place}: {reason}")]
pub struct Fault {
    /// Where.
    pub place: Box<Place>,
    /// Why, a sentence for people.
    pub reason: String,
}

/// The index of an array in a [`Machine`]'s memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array(usize);

/// A program about to be executed over a domain.
pub struct Machine<'p, D: Domain> {
    program: &'p Program,
    /// The domain.
    pub domain: D,
    memory: Vec<Vec<Option<D::Word>>>,
    tables: HashMap<(usize, usize), Array>,
    place: Place,
    /// The procedures that are being executed, innermost last.
    active: Vec<&'p Procedure>,
}

/// The activation of a procedure.
struct Frame<'p> {
    procedure: &'p Procedure,
    buffers: Vec<(Array, i64)>,
    counters: HashMap<LoopVar, i64>,
}

impl Frame<'_> {
    fn at(&self, index: &Index) -> i64 {
        index.eval(&|v| self.counters.get(&v).copied().unwrap_or(0))
    }
}

type Words<D> = Vec<<D as Domain>::Word>;

impl<'p, D: Domain> Machine<'p, D> {
    /// A machine with empty memory.
    pub fn new(program: &'p Program, mut domain: D) -> Machine<'p, D> {
        let (mut memory, mut tables) = (Vec::new(), HashMap::new());
        for (p, procedure) in program.procedures.iter().enumerate() {
            // Its constants are words of its size; a refusal comes again when it is entered.
            let _ = domain.modulus(procedure.modulus());
            for (b, buffer) in procedure.buffers.iter().enumerate() {
                if let Role::Table(words) = &buffer.role {
                    tables.insert((p, b), Array(memory.len()));
                    memory.push(words.iter().map(|&w| Some(domain.constant(w.into()))).collect());
                }
            }
        }
        let _ = domain.modulus(program.modulus());
        let active = Vec::new();
        Machine { program, domain, memory, tables, place: Place::default(), active }
    }

    /// A new array of the given words, `None` being undefined.
    pub fn array(&mut self, words: Vec<Option<D::Word>>) -> Array {
        self.memory.push(words);
        Array(self.memory.len() - 1)
    }

    /// The words of an array.
    pub fn words(&self, array: Array) -> &[Option<D::Word>] {
        &self.memory[array.0]
    }

    /// Calls a procedure with one array (and the word where it starts) for each parameter.
    pub fn call(&mut self, id: ProcedureId, arguments: &[(Array, i64)]) -> Result<(), Fault> {
        let program = self.program;
        let Some(procedure) = program.procedures.get(id.0 as usize) else {
            return Err(self.fault(format!("there is no procedure number {}", id.0)));
        };
        let parameters = procedure.buffers.iter().filter(|b| b.role.is_parameter()).count();
        if parameters != arguments.len() {
            return Err(self.fault(format!(
                "{} takes {parameters} buffers, but is given {}",
                procedure.name,
                arguments.len()
            )));
        }
        if let Some(reason) = overlap(procedure, arguments) {
            return Err(self.fault(reason));
        }
        self.enter(procedure)?;
        let caller = std::mem::replace(&mut self.place.procedure, procedure.name.clone());
        let outer = std::mem::take(&mut self.place.counters);
        let kept = self.memory.len();
        let mut buffers = Vec::with_capacity(procedure.buffers.len());
        for (i, buffer) in procedure.buffers.iter().enumerate() {
            buffers.push(match &buffer.role {
                Role::Output | Role::InOut | Role::Input | Role::Scratch => arguments[i],
                Role::Local => (self.array(vec![None; buffer.words]), 0),
                Role::Factors(_) => (Array(usize::MAX), 0),
                Role::Table(_) => (self.tables[&(id.0 as usize, i)], 0),
            });
        }
        let mut frame = Frame { procedure, buffers, counters: HashMap::new() };
        self.statements(&procedure.body, &mut frame)?;
        self.memory.truncate(kept); // the locals
        self.place.procedure = caller;
        self.place.counters = outer;
        self.active.pop();
        match self.active.pop() {
            Some(caller) => self.enter(caller),
            None => Ok(()),
        }
    }

    /// Makes a procedure the one that is executed.
    fn enter(&mut self, procedure: &'p Procedure) -> Result<(), Fault> {
        self.active.push(procedure);
        self.domain.modulus(procedure.modulus()).map_err(|reason| self.fault(reason))
    }

    /// Whether arguments have words of their parameters' size.
    fn same_words(
        &self,
        caller: &Procedure,
        callee: ProcedureId,
        arguments: &[(BufferId, Index)],
    ) -> Result<(), Fault> {
        let Some(callee) = self.program.procedures.get(callee.0 as usize) else { return Ok(()) };
        for (parameter, (argument, _)) in callee.buffers.iter().zip(arguments) {
            let given = caller.buffers[argument.0 as usize].bits;
            if given != parameter.bits {
                return Err(self.fault(format!(
                    "{} takes words of {} bits in {}, but is given some of {given}",
                    callee.name, parameter.bits, parameter.name
                )));
            }
        }
        Ok(())
    }

    fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault { place: Box::new(self.place.clone()), reason: reason.into() }
    }

    fn statements(&mut self, body: &'p [Stmt], frame: &mut Frame<'p>) -> Result<(), Fault> {
        for stmt in body {
            match stmt {
                Stmt::Stage { title, cite, body } => {
                    self.domain.enter(title, cite);
                    self.place.stages.push(title.clone());
                    self.statements(body, frame)?;
                    self.place.stages.pop();
                    self.domain.leave();
                }
                Stmt::Block(block) => self.block(block, frame)?,
                Stmt::Loop { counter, count, body } => {
                    for i in 0..i64::from(*count) {
                        frame.counters.insert(*counter, i);
                        self.place.counters.push((counter.0, i));
                        self.statements(body, frame)?;
                        self.place.counters.pop();
                    }
                    frame.counters.remove(counter);
                }
                Stmt::Call { procedure, arguments } => {
                    self.same_words(frame.procedure, *procedure, arguments)?;
                    let arguments: Vec<(Array, i64)> = arguments
                        .iter()
                        .map(|(buffer, index)| {
                            let (array, start) = frame.buffers[buffer.0 as usize];
                            (array, start + frame.at(index))
                        })
                        .collect();
                    self.call(*procedure, &arguments)?;
                }
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &'p Block, frame: &Frame<'p>) -> Result<(), Fault> {
        let mut values: Vec<Register<D::Word, D::Wide>> = Vec::with_capacity(block.ops.len());
        for (i, op) in block.ops.iter().enumerate() {
            let result = self.operation(op, frame, &values);
            let result = result.map_err(|reason| {
                let (operation, text) = (i, describe(op, frame.procedure));
                let place = Place { operation, text, ..self.place.clone() };
                Fault { place: Box::new(place), reason }
            })?;
            self.domain.defined(op, &result, &values);
            values.push(result);
        }
        Ok(())
    }

    fn lanes(&self) -> usize {
        self.active.last().map_or(self.program.lanes(), |p| self.program.lanes_of(p))
    }

    /// Bits of a word.
    fn word_bits(&self) -> u8 {
        self.active.last().map_or(self.program.word_bits, |p| p.bits)
    }

    fn cell(&self, buffer: BufferId, index: i64, frame: &Frame) -> Result<(usize, usize), Refusal> {
        let (array, start) = frame.buffers[buffer.0 as usize];
        let declared = &frame.procedure.buffers[buffer.0 as usize];
        let length = self.memory.get(array.0).map_or(0, Vec::len) as i64;
        let inside = index >= 0 && index < declared.words as i64 && start + index < length;
        if !inside {
            return Err(format!(
                "word {index} lies outside {}, which has {} words",
                declared.name, declared.words
            ));
        }
        Ok((array.0, (start + index) as usize))
    }

    fn load(
        &self,
        buffer: BufferId,
        at: i64,
        count: usize,
        frame: &Frame,
    ) -> Result<Words<D>, Refusal> {
        (at..at + count as i64)
            .map(|i| {
                let (array, i) = self.cell(buffer, i, frame)?;
                self.memory[array][i].clone().ok_or_else(|| {
                    let name = &frame.procedure.buffers[buffer.0 as usize].name;
                    format!("reads word {i} of {name}, which nothing has written")
                })
            })
            .collect()
    }

    fn store(
        &mut self,
        buffer: BufferId,
        at: i64,
        stride: i64,
        words: &[D::Word],
        frame: &Frame,
    ) -> Result<(), Refusal> {
        let declared = &frame.procedure.buffers[buffer.0 as usize];
        if matches!(declared.role, Role::Input | Role::Table(_) | Role::Factors(_)) {
            return Err(format!("writes {}, which is only to be read", declared.name));
        }
        for (k, word) in words.iter().enumerate() {
            let (array, i) = self.cell(buffer, at + stride * k as i64, frame)?;
            let word = match declared.bits < frame.procedure.bits {
                true => self.domain.kept(word, declared.bits)?,
                false => word.clone(),
            };
            self.memory[array][i] = Some(word);
        }
        Ok(())
    }

    fn residue(&self, factor: &Factor, lane: usize, frame: &Frame) -> Result<u64, Refusal> {
        match factor {
            Factor::Splat(c) => Ok(*c),
            Factor::Lanes(all) => all.get(lane).copied().ok_or_else(|| "too few lanes".into()),
            Factor::Table { buffer, at } | Factor::Repeated { buffer, at } => {
                let lane = if matches!(factor, Factor::Repeated { .. }) { 0 } else { lane };
                let declared = &frame.procedure.buffers[buffer.0 as usize];
                let Role::Factors(residues) = &declared.role else {
                    return Err(format!("{} holds no factors", declared.name));
                };
                let i = frame.at(at) + lane as i64;
                usize::try_from(i).ok().and_then(|i| residues.get(i)).copied().ok_or_else(|| {
                    format!("factor {i} lies outside {} ({})", declared.name, residues.len())
                })
            }
        }
    }
}

/// What is wrong with arguments that share words: a helper's never do, an entry point may be given
/// an input as its output, from the same word on.
fn overlap(procedure: &Procedure, arguments: &[(Array, i64)]) -> Option<String> {
    for (i, (x, first)) in procedure.buffers.iter().zip(arguments).enumerate() {
        for (y, second) in procedure.buffers.iter().zip(arguments).skip(i + 1) {
            let (from, to) = if first.1 <= second.1 { (x, second.1) } else { (y, first.1) };
            let shared = first.0 == second.0 && to < first.1.min(second.1) + from.words as i64;
            let written = x.role != Role::Input || y.role != Role::Input;
            // What is no entry point of this program may be one of another (`Program::entry`).
            let in_place = (procedure.exported || procedure.computes.is_some())
                && first.1 == second.1
                && [x, y].iter().all(|b| b.role != Role::Scratch)
                && [x, y].iter().any(|b| b.role == Role::Input);
            if shared && written && !in_place {
                let (p, x, y) = (&procedure.name, &x.name, &y.name);
                return Some(format!("{p} is called with {x} and {y} sharing words"));
            }
        }
    }
    None
}

/// An operation as text, with the names of its buffers.
fn describe(op: &Op, procedure: &Procedure) -> String {
    let buffer = match op {
        Op::Load { buffer, .. }
        | Op::LoadPartial { buffer, .. }
        | Op::LoadParts { buffer, .. }
        | Op::Broadcast { buffer, .. }
        | Op::BroadcastPair { buffer, .. }
        | Op::Store { buffer, .. }
        | Op::StorePartial { buffer, .. }
        | Op::StoreStrided { buffer, .. }
        | Op::AddSum { buffer, .. }
        | Op::StoreParts { buffer, .. } => Some(*buffer),
        _ => None,
    };
    let text = format!("{op:?}");
    let head: String = text.chars().take_while(|c| c.is_alphanumeric()).collect();
    match buffer {
        Some(b) => format!("{head} {}", procedure.buffers[b.0 as usize].name),
        None => {
            let operands: Vec<String> = op.operands().iter().map(|v| format!("v{}", v.0)).collect();
            format!("{head} {}", operands.join(", ")).trim_end().to_string()
        }
    }
}
