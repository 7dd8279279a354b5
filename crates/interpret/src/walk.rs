//! The language abstraction: executing a program over any [`Domain`].
//!
//! Control flow, memory and moves mean the same in every interpretation, so they are written
//! here once; a domain only says what arithmetic on one word does. Words of memory that nothing
//! has written are undefined, and reading one is a fault in every interpretation.

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
            for (b, buffer) in procedure.buffers.iter().enumerate() {
                if let Role::Table(words) = &buffer.role {
                    tables.insert((p, b), Array(memory.len()));
                    memory.push(words.iter().map(|&w| Some(domain.constant(w.into()))).collect());
                }
            }
        }
        Machine { program, domain, memory, tables, place: Place::default() }
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
        self.program.lanes
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
            self.memory[array][i] = Some(word.clone());
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

    fn operation(
        &mut self,
        op: &Op,
        frame: &Frame,
        values: &[Register<D::Word, D::Wide>],
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        use Register::{Nothing, Wide};
        let (lanes, part) = (self.lanes(), self.program.part_words());
        let get = |v: &Value| &values[v.0 as usize];
        Ok(match op {
            Op::MulMod { a, factor, method } => {
                let a = self.as_words(get(a))?;
                let each = |(i, w): (usize, &D::Word)| {
                    let c = self.residue(factor, i, frame)?;
                    self.domain.mul_mod(w, c, *method)
                };
                words(a.iter().enumerate().map(each).collect::<Result<_, _>>()?)
            }
            Op::Reduce { a, method } => self.map(get(a), |d, w| d.reduce(w, *method))?,
            Op::Freeze { a, method } => self.map(get(a), |d, w| d.freeze(w, *method))?,
            Op::MulWords { a, b, method } => {
                self.zip(get(a), get(b), |d, a, b| d.mul_words(a, b, *method))?
            }
            Op::Narrow { even, odd, method } => {
                let (even, odd) = (self.as_wide(get(even))?, self.as_wide(get(odd))?);
                let mut all = Vec::with_capacity(lanes);
                for (e, o) in even.iter().zip(&odd) {
                    all.push(self.domain.narrow(e, *method)?);
                    all.push(self.domain.narrow(o, *method)?);
                }
                words(all)
            }
            Op::Load { buffer, at } => words(self.load(*buffer, frame.at(at), lanes, frame)?),
            Op::LoadPartial { buffer, at, count } => {
                let mut all = self.load(*buffer, frame.at(at), *count as usize, frame)?;
                while all.len() < lanes {
                    all.push(self.domain.constant(0));
                }
                words(all)
            }
            Op::LoadParts { buffer, at } => {
                let mut all = Vec::with_capacity(lanes);
                for index in at {
                    all.extend(self.load(*buffer, frame.at(index), part, frame)?);
                }
                words(all)
            }
            Op::BroadcastPair { buffer, at } => {
                let pair = self.load(*buffer, frame.at(at), 2, frame)?;
                words((0..lanes).map(|i| pair[i % 2].clone()).collect())
            }
            Op::Broadcast { buffer, at } => {
                words(vec![self.load(*buffer, frame.at(at), 1, frame)?.remove(0); lanes])
            }
            Op::Store { buffer, at, a } => {
                let a = self.as_words(get(a))?;
                self.store(*buffer, frame.at(at), 1, &a, frame)?;
                Nothing
            }
            Op::StorePartial { buffer, at, count, a } => {
                let a = self.as_words(get(a))?;
                self.store(*buffer, frame.at(at), 1, &a[..*count as usize], frame)?;
                Nothing
            }
            Op::StoreStrided { buffer, at, stride, a } => {
                let a = self.as_words(get(a))?;
                self.store(*buffer, frame.at(at), i64::from(*stride), &a, frame)?;
                Nothing
            }
            Op::StoreParts { buffer, at, a } => {
                let a = self.as_words(get(a))?;
                for (words, index) in a.chunks(part).zip(at) {
                    self.store(*buffer, frame.at(index), 1, words, frame)?;
                }
                Nothing
            }
            Op::Splat(w) => words(vec![self.domain.constant((*w).into()); lanes]),
            Op::Lanes(all) => words(all.iter().map(|&w| self.domain.constant(w.into())).collect()),
            Op::Add(a, b) => self.binary(Binary::Add, get(a), get(b))?,
            Op::Sub(a, b) => self.binary(Binary::Sub, get(a), get(b))?,
            Op::MulLo(a, b) => self.binary(Binary::MulLo, get(a), get(b))?,
            Op::MulHi(a, b) => self.binary(Binary::MulHi, get(a), get(b))?,
            Op::MulHrs(a, b) => self.binary(Binary::MulHrs, get(a), get(b))?,
            Op::Greater(a, b) => self.binary(Binary::Greater, get(a), get(b))?,
            Op::MinU(a, b) => self.binary(Binary::MinU, get(a), get(b))?,
            Op::Min(a, b) => self.binary(Binary::Min, get(a), get(b))?,
            Op::Max(a, b) => self.binary(Binary::Max, get(a), get(b))?,
            Op::And(a, b) => self.binary(Binary::And, get(a), get(b))?,
            Op::Or(a, b) => self.binary(Binary::Or, get(a), get(b))?,
            Op::Xor(a, b) => self.binary(Binary::Xor, get(a), get(b))?,
            Op::Shl(a, k) => self.map(get(a), |d, w| d.shift(Shift::Left(*k), w))?,
            Op::Sar(a, k) => self.map(get(a), |d, w| d.shift(Shift::Arithmetic(*k), w))?,
            Op::Shr(a, k) => self.map(get(a), |d, w| d.shift(Shift::Logical(*k), w))?,
            Op::PairDot(a, b) => Wide(self.pair_dot(get(a), get(b))?),
            Op::PairDotAdd { acc, a, b } => {
                let (acc, dot) = (self.as_wide(get(acc))?, self.pair_dot(get(a), get(b))?);
                let sums = acc.iter().zip(&dot);
                Wide(
                    sums.map(|(x, y)| self.domain.wide_binary(WideBinary::Add, x, y))
                        .collect::<Result<_, _>>()?,
                )
            }
            Op::MulEven(a, b) => {
                let (a, b) = (self.as_words(get(a))?, self.as_words(get(b))?);
                let zero = self.domain.constant(0);
                let products = a
                    .chunks(2)
                    .zip(b.chunks(2))
                    .map(|(a, b)| self.domain.pair_dot([&a[0], &zero], [&b[0], &zero]));
                Wide(products.collect::<Result<_, _>>()?)
            }
            Op::AddWide(a, b) => self.wide_binary(WideBinary::Add, get(a), get(b))?,
            Op::SubWide(a, b) => self.wide_binary(WideBinary::Sub, get(a), get(b))?,
            Op::MulLoWide(a, b) => self.wide_binary(WideBinary::MulLo, get(a), get(b))?,
            Op::ShlWide(a, k) => self.wide_shift(Shift::Left(*k), get(a))?,
            Op::SarWide(a, k) => self.wide_shift(Shift::Arithmetic(*k), get(a))?,
            Op::ShrWide(a, k) => self.wide_shift(Shift::Logical(*k), get(a))?,
            Op::Blend { a, b, mask } => {
                let (a, b) = (self.as_words(get(a))?, self.as_words(get(b))?);
                let pick = |i: usize| if mask >> (i % 8) & 1 == 1 { &b[i] } else { &a[i] };
                words((0..lanes).map(|i| pick(i).clone()).collect())
            }
            Op::SwapPairs(a) => {
                let a = self.as_words(get(a))?;
                words((0..lanes).map(|i| a[i ^ 1].clone()).collect())
            }
            Op::OddToEven(a) => {
                let a = self.as_words(get(a))?;
                words((0..lanes).map(|i| a[i | 1].clone()).collect())
            }
            Op::PermuteParts { a, pattern } => {
                let a = self.as_words(get(a))?;
                if pattern.len() != part || pattern.iter().any(|&i| usize::from(i) >= part) {
                    return Err(format!("a pattern has {part} places below {part}"));
                }
                let from = |i: usize| i / part * part + usize::from(pattern[i % part]);
                words((0..lanes).map(|i| a[from(i)].clone()).collect())
            }
            Op::Parts { a, b, pick } => {
                let all = [self.as_words(get(a))?, self.as_words(get(b))?].concat();
                if pick.len() != lanes / part
                    || pick.iter().any(|&p| usize::from(p) * part >= all.len())
                {
                    return Err(format!(
                        "a choice of parts has {} numbers below {}",
                        lanes / part,
                        all.len() / part
                    ));
                }
                let from = |p: &u8| all[usize::from(*p) * part..][..part].iter().cloned();
                words(pick.iter().flat_map(from).collect())
            }
            Op::Interleave { a, b, unit, half } => {
                let (a, b) = (self.as_words(get(a))?, self.as_words(get(b))?);
                let unit = self.unit(*unit)?;
                let mut all = Vec::with_capacity(lanes);
                for start in (0..lanes).step_by(part) {
                    let start = start + if *half == Half::High { part / 2 } else { 0 };
                    for at in (start..start + part / 2).step_by(unit) {
                        all.extend_from_slice(&a[at..at + unit]);
                        all.extend_from_slice(&b[at..at + unit]);
                    }
                }
                words(all)
            }
            Op::Deinterleave { a, b, unit, half } => {
                let (a, b) = (self.as_words(get(a))?, self.as_words(get(b))?);
                let unit = self.unit(*unit)?;
                let first = if *half == Parity::Odd { unit } else { 0 };
                let mut all = Vec::with_capacity(lanes);
                for start in (0..lanes).step_by(part) {
                    for from in [&a, &b] {
                        for at in (start + first..start + part).step_by(2 * unit) {
                            all.extend_from_slice(&from[at..at + unit]);
                        }
                    }
                }
                words(all)
            }
        })
    }

    /// How many words an element of `bits` bits has.
    fn unit(&self, bits: u8) -> Result<usize, Refusal> {
        match (bits / self.program.word_bits, bits) {
            (n @ 1.., 16 | 32 | 64) => Ok(usize::from(n)),
            _ => Err(format!("{bits} bits are no element of {}-bit words", self.program.word_bits)),
        }
    }

    fn as_words(&mut self, r: &Register<D::Word, D::Wide>) -> Result<Words<D>, Refusal> {
        match r {
            Register::Words(all) => Ok(all.clone()),
            Register::Wide(all) => {
                let mut words = Vec::with_capacity(2 * all.len());
                for x in all {
                    let (low, high) = self.domain.split(x)?;
                    words.extend([low, high]);
                }
                Ok(words)
            }
            Register::Nothing => Err("uses the result of a store".into()),
        }
    }

    fn as_wide(&mut self, r: &Register<D::Word, D::Wide>) -> Result<Vec<D::Wide>, Refusal> {
        match r {
            Register::Wide(all) => Ok(all.clone()),
            Register::Words(all) => {
                all.chunks(2).map(|pair| self.domain.join(&pair[0], &pair[1])).collect()
            }
            Register::Nothing => Err("uses the result of a store".into()),
        }
    }

    fn map(
        &mut self,
        a: &Register<D::Word, D::Wide>,
        f: impl Fn(&mut D, &D::Word) -> Result<D::Word, Refusal>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        let a = self.as_words(a)?;
        Ok(words(a.iter().map(|w| f(&mut self.domain, w)).collect::<Result<_, _>>()?))
    }

    fn zip(
        &mut self,
        a: &Register<D::Word, D::Wide>,
        b: &Register<D::Word, D::Wide>,
        f: impl Fn(&mut D, &D::Word, &D::Word) -> Result<D::Word, Refusal>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        let (a, b) = (self.as_words(a)?, self.as_words(b)?);
        let pairs = a.iter().zip(&b);
        Ok(words(pairs.map(|(a, b)| f(&mut self.domain, a, b)).collect::<Result<_, _>>()?))
    }

    fn binary(
        &mut self,
        op: Binary,
        a: &Register<D::Word, D::Wide>,
        b: &Register<D::Word, D::Wide>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        self.zip(a, b, |d, a, b| d.binary(op, a, b))
    }

    fn pair_dot(
        &mut self,
        a: &Register<D::Word, D::Wide>,
        b: &Register<D::Word, D::Wide>,
    ) -> Result<Vec<D::Wide>, Refusal> {
        let (a, b) = (self.as_words(a)?, self.as_words(b)?);
        let pairs = a.chunks(2).zip(b.chunks(2));
        pairs.map(|(a, b)| self.domain.pair_dot([&a[0], &a[1]], [&b[0], &b[1]])).collect()
    }

    fn wide_binary(
        &mut self,
        op: WideBinary,
        a: &Register<D::Word, D::Wide>,
        b: &Register<D::Word, D::Wide>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        let (a, b) = (self.as_wide(a)?, self.as_wide(b)?);
        let pairs = a.iter().zip(&b);
        let each = pairs.map(|(a, b)| self.domain.wide_binary(op, a, b));
        Ok(Register::Wide(each.collect::<Result<_, _>>()?))
    }

    fn wide_shift(
        &mut self,
        op: Shift,
        a: &Register<D::Word, D::Wide>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        let a = self.as_wide(a)?;
        let each = a.iter().map(|x| self.domain.wide_shift(op, x));
        Ok(Register::Wide(each.collect::<Result<_, _>>()?))
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

fn words<W, X>(all: Vec<W>) -> Register<W, X> {
    Register::Words(all)
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
