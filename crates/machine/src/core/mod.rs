//! What all instruction sets share: memory, cases, calls, limits, and the interface that each fills.
//!
//! An [`InstructionSet`] is the processor's state (registers, flags), how its instructions are
//! decoded, what they do, and its calling convention. The rest is here. [`Machine`] holds that
//! state with memory and the object, fetches, counts, and knows what must hold at entry, at calls
//! and at return. A set's own semantics are methods of `Machine<'_, Set>`.

mod access;
pub(crate) mod arith;
pub(crate) mod bits;
mod cases;
pub(crate) mod conditions;
mod control;
mod convention;
mod entry;
pub(crate) mod flags;
mod links;
mod memory;
mod outside;
mod pointers;
mod residue;

use crate::byte::Byte;
use crate::call::ExternalFunction;
use crate::error::{LiftError, Place, Timing, Violation};
use crate::graph::{Graph, NodeId, Op};
use crate::lifted::Class;
use crate::object::Object;
pub(crate) use cases::{Choice, Fallible, MOST_ALIGNMENT, Order, Stop};
pub(crate) use control::{Destination, Trap};
pub(crate) use convention::Convention;
pub(crate) use entry::Entry;
pub(crate) use memory::{Region, RegionKind};
pub(crate) use outside::{Effect, Routine};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Terms beyond which a lift gives up: some 3 GB.
const MOST_NODES: usize = 32_000_000;

/// A scalar value: a node, or undefined.
pub(crate) type Value = Option<NodeId>;

/// One instruction set with its calling convention. The type itself is the state of a processor.
pub(crate) trait InstructionSet: Sized {
    /// A decoded instruction with what the linker writes into it.
    type Instruction: Copy + Default;
    /// Bytes of a general register, and of an address: 8 or 4.
    const WORD: usize;
    /// The stack pointer's name.
    const STACK_POINTER: &'static str;
    /// The relocation type that fills a word of data with an address.
    const ADDRESS: u32;
    /// First words of the instructions on which indirect calls may land, if an object promises
    /// landing instructions.
    const LANDINGS: &'static [u32];

    /// How the functions of an object are called.
    fn convention(object: &Object) -> &'static Convention;
    /// The state at entry, without arguments and what must be restored.
    fn at_entry(entry: &Entry) -> Self;
    /// The stack pointer.
    fn stack_pointer(&self) -> &[Byte];
    /// The word of a register that conventions name.
    fn word(&mut self, register: usize) -> &mut [Byte];
    /// What the C library's function of that name is, if compilers call it by themselves.
    fn routine(name: &str) -> Option<Routine> {
        Routine::of_c(name)
    }
    /// A vector register that a convention wants restored and that is not.
    fn changed(&self, _convention: &Convention) -> Option<String> {
        None
    }
    /// After a call of another object's function: nothing that it may change.
    fn after_call(&mut self, convention: &Convention);

    /// What a function may leave in registers as it likes, except for its result: each register's name and bytes. Halves
    /// that no instruction of the call can have written are left out. [`None`] if that is not modelled.
    fn scratch(_m: &Machine<'_, Self>) -> Option<Vec<(String, Vec<Byte>)>> {
        None
    }

    /// Decodes the instruction at `m.at` into `m.now`, or refuses it by name.
    fn decode(m: &mut Machine<'_, Self>) -> Fallible<Decoded<Self>>;
    /// Bytes that the instruction has.
    fn length(instruction: &Self::Instruction) -> usize;
    /// The overflow flag.
    fn overflow(&self) -> flags::Flag;
    /// The trap with which this code begins, if it does.
    fn trap(code: &[u8]) -> Option<Trap>;
    /// Executes `m.now`; `m.next` is the one behind it, unless that changes it.
    fn step(m: &mut Machine<'_, Self>) -> Fallible<()>;
}

/// A decoded instruction, and how often it was executed.
pub(crate) struct Decoded<I: InstructionSet> {
    pub instruction: I::Instruction,
    pub class: Class,
    pub mnemonic: String,
    pub executed: u64,
}

/// A processor, its memory, and the object that it executes.
pub(crate) struct Machine<'a, I: InstructionSet> {
    pub object: &'a Object,
    pub g: &'a mut Graph,
    pub regions: Vec<Region>,
    /// Registers and flags.
    pub cpu: I,
    pub convention: &'static Convention,
    /// How two regions lie, where this case settles it.
    orders: FxHashMap<(u16, u16), Order>,
    /// Pairs of regions that may be one, the lower number first.
    coincide: Vec<(u16, u16)>,
    /// Ways of the branches on released data, in the order of execution, and how many were taken.
    releases: (Vec<bool>, usize),
    /// Addresses of those branches, and how many there may be.
    releasing: (Vec<u64>, usize),
    /// Conditions on the regions' addresses that this case settles.
    decisions: FxHashMap<NodeId, bool>,
    /// Section and offset of the current instruction, and of the next one.
    pub at: (usize, u64),
    pub next: (usize, u64),
    /// The current instruction.
    pub now: I::Instruction,
    /// Region number of the stack (the return token is the next one).
    pub stack: u16,
    /// Region number of each section, or of its first entry.
    section_regions: Vec<u16>,
    /// Data that other objects define: the region of each name.
    data: FxHashMap<String, u16>,
    /// Ranges of the inputs' elements by operand, and evaluations of terms that may still be made to use them.
    ranges: (Vec<Option<(i64, i64)>>, usize),
    /// Names of sections that can be written and are taken to hold what the file says.
    given_sections: Vec<String>,
    /// Functions that other objects define.
    functions: Vec<ExternalFunction>,
    /// Where the functions begin that are not executed because a declaration stands in for them.
    stand_ins: FxHashMap<(usize, u64), String>,
    /// Those of them that write known bytes, and that no call has reached yet.
    pub unreached: Vec<String>,
    /// Those of them that were called.
    pub stood_in: Vec<String>,
    /// Whether checks that stop the program if they fail are assumed to pass.
    passes_checks: bool,
    /// Those that were met, by address.
    pub checks: BTreeMap<u64, String>,
    returned: bool,
    /// Where calls return to that have not, the last one last, if the object promises that they do.
    pub calls: Vec<(usize, u64)>,
    /// Lowest stack offset that may hold something.
    used: i64,
    pub deepest: i64,
    /// The lowest stack offset that was accessed or probed.
    pub touched: i64,
    /// What will be left of it.
    pub dead: residue::DeadStack,
    decoded: FxHashMap<(usize, u64), u32>,
    pub code: Vec<Decoded<I>>,
    pub steps: u64,
    /// Steps, and bytes that string instructions and copies moved; and how many there may be.
    work: (u64, u64),
    pub loaded: u64,
    pub stored: u64,
    pub assumptions: Vec<String>,
}

impl<I: InstructionSet> Machine<'_, I> {
    /// Runs to the return.
    pub fn run(&mut self, progress: &mut dyn FnMut(u64) -> bool) -> Fallible<()> {
        let mut told = 0;
        let entry = Destination::Code(self.next.0, self.next.1);
        self.lands(&entry, I::LANDINGS, "an indirect call of the function")?;
        while !self.returned {
            self.at = self.next;
            let code = self.fetch()?;
            self.charge(1)?;
            self.steps += 1;
            self.code[code].executed += 1;
            if self.work.0 - told >= 4096 {
                told = self.work.0;
                if !progress(told) {
                    return Err(LiftError::Stopped { at: self.place() }.into());
                }
                if self.g.len() > MOST_NODES {
                    return Err(self.unsupported(format!(
                        "the computation has more than {MOST_NODES} different terms"
                    )));
                }
            }
            self.g.set_origin(Some(self.address()));
            self.next = (self.at.0, self.at.1 + I::length(&self.now) as u64);
            I::step(self)?;
        }
        self.g.set_origin(None);
        progress(self.work.0);
        Ok(())
    }

    /// Something of two values, undefined if one is.
    pub fn both(
        &mut self,
        a: Value,
        b: Value,
        f: impl FnOnce(&mut Self, NodeId, NodeId) -> NodeId,
    ) -> Value {
        Some(f(self, a?, b?))
    }

    /// Counts work, before it is done.
    pub fn charge(&mut self, work: u64) -> Fallible<()> {
        self.work.0 = self.work.0.saturating_add(work);
        if self.work.0 > self.work.1 {
            return Err(LiftError::StepLimit { steps: self.work.1, at: self.place() }.into());
        }
        Ok(())
    }

    /// Decodes the instruction at `self.at`, once.
    fn fetch(&mut self) -> Fallible<usize> {
        if let Some(&code) = self.decoded.get(&self.at) {
            self.now = self.code[code as usize].instruction;
            return Ok(code as usize);
        }
        self.now = I::Instruction::default();
        let section = &self.object.sections[self.at.0];
        if let Some(why) = &section.refused {
            return Err(
                self.unsupported(format!("code in a section that is not on the list: {why}"))
            );
        }
        if !section.executable {
            return Err(self.unsupported("bytes that are no instruction"));
        }
        let decoded = I::decode(self)?;
        let end = self.at.1 + I::length(&decoded.instruction) as u64;
        if !section.runs(self.at.1, end) {
            return Err(self.unsupported("bytes that no segment lets be executed"));
        }
        let code = self.code.len();
        self.code.push(decoded);
        self.decoded.insert(self.at, code as u32);
        Ok(code)
    }

    /// A region's alignment matters and is not known: another case split, or a refusal.
    pub fn need_residue(&self, region: u16, modulus: u64) -> Box<Stop> {
        let r = &self.regions[usize::from(region)];
        if modulus <= MOST_ALIGNMENT {
            let (align, residue) = (r.align, r.residue);
            return Box::new(Stop::NeedResidue { region, modulus, align, residue });
        }
        self.unsupported(format!(
            "the code tests or changes the alignment of {} to {modulus} bytes, more than the \
             {MOST_ALIGNMENT} that can be told apart; the caller guarantees {}",
            r.name, r.align
        ))
    }

    /// The address shown to people.
    pub fn address(&self) -> u64 {
        self.object.sections[self.at.0].address + self.at.1
    }

    /// The current instruction.
    pub fn place(&self) -> Place {
        let address = self.address();
        Place {
            address,
            symbol: self.object.describe(address),
            instruction: self.object.disassemble(address).unwrap_or_else(|| "(bad)".into()),
        }
    }

    /// Refuses the current instruction.
    pub fn unsupported(&self, what: impl Into<String>) -> Box<Stop> {
        let length = I::length(&self.now).max(1);
        let bytes = self.object.bytes_at(self.address(), length).to_vec();
        LiftError::Unsupported { at: self.place(), what: what.into(), bytes }.into()
    }

    /// An undefined value matters here.
    pub fn undefined(&self, what: impl Into<String>) -> Box<Stop> {
        LiftError::from(Violation::Undefined { at: self.place(), what: what.into() }).into()
    }

    /// `node` must be a constant (or, for addresses, a pointer) and is not.
    pub fn not_concrete(&self, kind: Timing, node: NodeId) -> Box<Stop> {
        let (mut input, mut pointer) = (false, false);
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut stack = vec![node];
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                match self.g.node(id).op {
                    Op::Input { .. } => input = true,
                    Op::Address { region, .. } => {
                        let region = &self.regions[usize::from(region)];
                        if region.kind == RegionKind::Token {
                            return self.undefined(region.name.clone());
                        }
                        pointer = true;
                    }
                    _ => {}
                }
                stack.extend_from_slice(&self.g.node(id).args);
            }
        }
        let at = self.place();
        if input {
            LiftError::from(Violation::ConstantTime { kind, at, depends: node }).into()
        } else if pointer && kind == Timing::Branch {
            let error = LiftError::PointerComparison { at };
            if self.g.width(node) == 1 {
                let at = self.address();
                let condition = self.positive(node).0;
                return Box::new(Stop::NeedDecision { condition, at, error });
            }
            error.into()
        } else if pointer {
            self.unsupported("an address made of pointers in a way that is not modelled")
        } else {
            // No input and no pointer: folding fell short.
            self.unsupported("a constant expression that does not fold")
        }
    }

    /// The way of a branch that depends on an input, if the call releases what it depends on.
    pub fn released(&mut self) -> Fallible<Option<bool>> {
        let at = self.address();
        if !self.releasing.0.contains(&at) {
            if self.releasing.0.len() >= self.releasing.1 {
                return Ok(None);
            }
            self.releasing.0.push(at);
            self.assume(format!("the condition of the branch at {} is public", self.place()));
        }
        match self.releases.0.get(self.releases.1) {
            Some(&way) => {
                self.releases.1 += 1;
                Ok(Some(way))
            }
            None => Err(Box::new(Stop::NeedRelease)),
        }
    }

    /// Takes something for granted, once.
    pub fn assume(&mut self, sentence: String) {
        if !self.assumptions.contains(&sentence) {
            self.assumptions.push(sentence);
        }
    }
}
