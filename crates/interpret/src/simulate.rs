//! What a program takes on a processor: its operations, in the order in which they are executed, through a model of
//! ports, latencies and a window of instructions in flight.
//!
//! The program is walked as it will run, with the values of its counters and the words of its arrays. Each operation
//! becomes the instructions that the target's emitter produces (`spell`). Each instruction enters in order and waits
//! for its operands; a word of memory is ready once it is stored. It then takes the first cycle in which a suitable
//! unit is free. Spills are added as compilers add them: the value whose next use is furthest is stored and loaded again.
//!
//! A load of words that no one store had waits until all of them are in the cache, which they reach in the order of the
//! stores. Data beyond the first-level cache comes from the second; a first call fills it, and the second is the one
//! that counts. Code comes line by line, slowly where its cache has lost it. No branch predictor: trip counts are
//! constants, and it has seen them.

mod cache;
mod pipeline;
mod spell;

use crate::run::exported;
use crate::walk::Fault;
use cache::Cache;
use pipeline::{Pipeline, Source, Stored, Used};
use ringforge_program::ir::*;
use ringforge_targets::{Kind, Processor, Target};
use spell::{Spelled, Step, spell};
use std::collections::HashMap;

/// What a simulation found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Simulated {
    /// Cycles from the first instruction to the last result.
    pub cycles: u64,
    /// Instructions that entered the processor.
    pub instructions: u64,
}

/// What a stage takes of the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct StageUse {
    /// Titles from the outermost stage to this one; empty outside all stages.
    pub path: Vec<String>,
    /// Cycles in which its instructions entered, and not those of stages within it.
    pub cycles: u64,
    /// Its instructions.
    pub instructions: u64,
    /// How often it used each arithmetic unit.
    pub units: Vec<u64>,
    /// Its loads.
    pub loads: u64,
    /// Its stores.
    pub stores: u64,
}

/// Simulates one call of the exported procedure on a processor, with code as a target's emitter writes it.
///
/// # Errors
/// The program exports nothing.
pub fn simulate(
    program: &Program,
    target: &Target,
    processor: &Processor,
) -> Result<Simulated, Fault> {
    Ok(by_stage(program, target, processor)?.0)
}

/// The same, and what each stage takes of it, in the order in which they begin.
///
/// # Errors
/// The program exports nothing.
pub fn by_stage(
    program: &Program,
    target: &Target,
    processor: &Processor,
) -> Result<(Simulated, Vec<StageUse>), Fault> {
    let expanded = program.expand();
    let id = exported(&expanded)?;
    let mut blocks = HashMap::new();
    let mut code = 0;
    for procedure in &expanded.procedures {
        collect(&expanded, procedure, &procedure.body, target, processor, &mut blocks, &mut code);
    }
    let mut run = Run {
        program: &expanded,
        processor,
        blocks,
        arrays: Vec::new(),
        top: 0,
        tables: HashMap::new(),
        cache: Cache::new(&processor.cache.lines),
        code: Cache::new(&processor.code.lines),
        stores: 0,
        pipeline: Pipeline::new(processor),
        path: Vec::new(),
        stages: Vec::new(),
        counted: Counted::default(),
    };
    for (p, procedure) in expanded.procedures.iter().enumerate() {
        for (b, buffer) in procedure.buffers.iter().enumerate() {
            if matches!(buffer.role, Role::Table(_)) {
                let table = run.array(buffer);
                run.tables.insert((p, b), table);
            }
        }
    }
    let entry = id.0 as usize;
    let arguments = expanded.procedures[entry].buffers.iter().filter(|b| b.role.is_parameter());
    let arguments: Vec<(usize, i64)> = arguments.map(|b| (run.array(b), 0)).collect();
    let mut simulated = Simulated { cycles: 0, instructions: 0 };
    for _ in 0..2 {
        let before = (run.pipeline.cycles(), run.pipeline.entered());
        run.count();
        run.stages.clear();
        run.call(entry, &arguments);
        run.count();
        simulated = Simulated {
            cycles: run.pipeline.cycles() - before.0,
            instructions: run.pipeline.entered() - before.1,
        };
    }
    run.stages.retain(|s| s.instructions > 0);
    Ok((simulated, run.stages))
}

/// Spells every block of a body; a block is known by where it stands.
fn collect(
    program: &Program,
    procedure: &Procedure,
    body: &[Stmt],
    target: &Target,
    processor: &Processor,
    blocks: &mut HashMap<*const Block, Placed>,
    code: &mut u64,
) {
    for stmt in body {
        match stmt {
            Stmt::Stage { body, .. } | Stmt::Loop { body, .. } => {
                collect(program, procedure, body, target, processor, blocks, code);
            }
            Stmt::Block(block) => {
                let spelled = spell(program, procedure, block, target, processor);
                let from = *code;
                *code += spelled.bytes();
                blocks.insert(block, Placed { spelled, from });
            }
            Stmt::Call { .. } => {}
        }
    }
}

/// A block's instructions and where they lie.
struct Placed {
    spelled: Spelled,
    from: u64,
}

/// An array in memory.
struct Array {
    /// Where it starts.
    base: u64,
    /// Bytes of a word.
    bytes: u64,
    words: Vec<Word>,
}

/// What was stored in a word.
#[derive(Clone, Copy, Default)]
struct Word {
    /// When a load can have it.
    ready: u64,
    /// When it is in the cache.
    cached: u64,
    /// Which store it was; 0: none yet.
    store: u64,
}

/// Where a load of these words, which lies in two lines or not, finds them.
fn source<'a>(words: impl Iterator<Item = &'a Word>, split: bool) -> Source {
    let mut source = Source { split, ..Source::default() };
    let (mut first, mut cached) = (None, 0);
    let mut alike = true;
    for word in words {
        source.stored = source.stored.max(word.ready);
        cached = cached.max(word.cached);
        alike &= *first.get_or_insert(word.store) == word.store;
    }
    source.cached = if alike { 0 } else { cached };
    source
}

/// A program that runs.
struct Run<'a> {
    program: &'a Program,
    processor: &'a Processor,
    blocks: HashMap<*const Block, Placed>,
    arrays: Vec<Array>,
    /// Where the next array starts: what a call allocates is free after it.
    top: u64,
    tables: HashMap<(usize, usize), usize>,
    cache: Cache,
    code: Cache,
    /// How many stores there were.
    stores: u64,
    pipeline: Pipeline<'a>,
    /// The stage that runs, and what each one took.
    path: Vec<String>,
    stages: Vec<StageUse>,
    counted: Counted,
}

/// What has been counted among some stage.
#[derive(Clone, Copy, Default)]
struct Counted {
    now: u64,
    entered: u64,
    used: Used,
}

/// Where a procedure's buffers lie and where its counters stand.
struct Frame {
    buffers: Vec<(usize, i64)>,
    counters: HashMap<LoopVar, i64>,
}

impl Frame {
    fn at(&self, index: &Index) -> i64 {
        index.eval(&|v| self.counters.get(&v).copied().unwrap_or(0))
    }
}

impl Run<'_> {
    /// Counts what happened since the last time among the stage that runs.
    fn count(&mut self) {
        let Counted { now, entered, used } = self.counted;
        let pipeline = &self.pipeline;
        let (later, after) = (pipeline.now(), pipeline.used());
        self.counted = Counted { now: later, entered: pipeline.entered(), used: after };
        let at = match self.stages.iter().position(|s| s.path == self.path) {
            Some(at) => at,
            None => {
                let all = self.processor.timings.iter().fold(0, |all, t| all | t.units);
                let units = vec![0; all.count_ones() as usize];
                self.stages.push(StageUse { path: self.path.clone(), units, ..Default::default() });
                self.stages.len() - 1
            }
        };
        let stage = &mut self.stages[at];
        stage.cycles += later - now;
        stage.instructions += self.counted.entered - entered;
        for (unit, count) in stage.units.iter_mut().enumerate() {
            *count += after.units[unit] - used.units[unit];
        }
        stage.loads += after.memory[0] - used.memory[0];
        stage.stores += after.memory[1] - used.memory[1];
    }

    fn array(&mut self, buffer: &Buffer) -> usize {
        let bytes = u64::from(buffer.bits / 8);
        let base = self.top.next_multiple_of(buffer.align.max(1) as u64);
        self.top = base + bytes * buffer.words as u64;
        self.arrays.push(Array { base, bytes, words: vec![Word::default(); buffer.words] });
        self.arrays.len() - 1
    }

    fn call(&mut self, number: usize, arguments: &[(usize, i64)]) {
        let procedure = &self.program.procedures[number];
        let kept = (self.arrays.len(), self.top);
        let mut given = arguments.iter();
        let mut buffers = Vec::with_capacity(procedure.buffers.len());
        for (b, buffer) in procedure.buffers.iter().enumerate() {
            buffers.push(match buffer.role {
                Role::Local => (self.array(buffer), 0),
                Role::Table(_) => (self.tables[&(number, b)], 0),
                _ => given.next().copied().unwrap_or((0, 0)),
            });
        }
        let mut frame = Frame { buffers, counters: HashMap::new() };
        self.pipeline.overhead(self.processor.call);
        self.statements(&procedure.body, &mut frame);
        self.arrays.truncate(kept.0);
        self.top = kept.1;
    }

    fn statements(&mut self, body: &[Stmt], frame: &mut Frame) {
        for stmt in body {
            match stmt {
                Stmt::Stage { title, body, .. } => {
                    self.count();
                    self.path.push(title.clone());
                    self.statements(body, frame);
                    self.count();
                    self.path.pop();
                }
                Stmt::Block(block) => self.block(block, frame),
                Stmt::Loop { counter, count, body } => {
                    for i in 0..i64::from(*count) {
                        frame.counters.insert(*counter, i);
                        self.statements(body, frame);
                        self.pipeline.overhead(self.processor.iteration);
                    }
                    frame.counters.remove(counter);
                }
                Stmt::Call { procedure, arguments } => {
                    let place = |(buffer, index): &(BufferId, Index)| {
                        let (array, start) = frame.buffers[buffer.0 as usize];
                        (array, start + frame.at(index))
                    };
                    let arguments: Vec<(usize, i64)> = arguments.iter().map(place).collect();
                    self.call(procedure.0 as usize, &arguments);
                }
            }
        }
    }

    fn block(&mut self, block: &Block, frame: &Frame) {
        let Run { processor, blocks, arrays, cache, code, pipeline, stores, .. } = self;
        let Some(Placed { spelled, from }) = blocks.get(&std::ptr::from_ref(block)) else {
            return;
        };
        let (mut at, mut fetched) = (*from, None);
        let mut ready: Vec<u64> = Vec::with_capacity(spelled.steps.len());
        let mut late = vec![false; spelled.steps.len()];
        for Step { kind, alone, bytes, operands, access } in &spelled.steps {
            at += bytes;
            let line = Some(code.lines(at, at + 1).start);
            if line != fetched {
                fetched = line;
                let missed = f64::from(code.touch(at, at + 1, false).fetched);
                pipeline.fetch(missed * processor.code.fetch);
            }
            let from = operands.iter().map(|&i| ready[i as usize]).max().unwrap_or(0);
            let Some(access) = access else {
                ready.push(match kind {
                    // A register that was stored, or loaded from where nothing was stored since.
                    Kind::Load => {
                        pipeline.load(*alone, 0, Source { stored: from, ..Source::default() })
                    }
                    Kind::Store => pipeline.store(from, 0, 0..1).ready,
                    _ => pipeline.enter(*kind, from, operands.iter().any(|&i| late[i as usize])),
                });
                continue;
            };
            let (array, start) = frame.buffers[access.buffer.0 as usize];
            let first = start + frame.at(&access.at);
            let array = &mut arrays[array];
            let words = (0..i64::from(access.count)).map(|k| first + k * access.stride);
            let words = words.filter_map(|w| usize::try_from(w).ok());
            let last = first + (i64::from(access.count) - 1) * access.stride;
            let [from_byte, to_byte] =
                [first, last + 1].map(|w| array.base + array.bytes * w.max(0) as u64);
            let misses = cache.touch(from_byte, to_byte, access.store);
            let there = pipeline.transfer(misses);
            let lines = match access.stride {
                1 => cache.lines(from_byte, to_byte),
                // Words of several, which lie anywhere among these.
                _ => cache.lines(from_byte, from_byte + 1),
            };
            if access.store {
                *stores += 1;
                let Stored { ready: done, cached } = pipeline.store(from, there, lines);
                let cached = if access.stride == 1 { cached } else { 0 };
                for w in words {
                    if let Some(word) = array.words.get_mut(w) {
                        *word = Word { ready: done, cached, store: *stores };
                    }
                }
                ready.push(done);
            } else {
                let split = lines.end - lines.start > 1;
                late[ready.len()] = split || there > 0;
                let source = source(words.filter_map(|w| array.words.get(w)), split);
                ready.push(pipeline.load(*alone, from.max(there), source));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_one_store_had_is_forwarded() {
        let word = |store| Word { ready: 10 * store, cached: 20 * store, store };
        let of = |stores: &[u64]| {
            let words: Vec<Word> = stores.iter().map(|&store| word(store)).collect();
            let Source { stored, cached, .. } = source(words.iter(), false);
            (stored, cached)
        };
        assert_eq!(of(&[3, 3, 3]), (30, 0));
        assert_eq!(of(&[3, 4]), (40, 80));
        assert_eq!(of(&[0, 0]), (0, 0));
        assert_eq!(of(&[0, 5]), (50, 100));
    }
}
