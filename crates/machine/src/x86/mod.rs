//! x86-64: legacy SSE to AVX2, AVX-VNNI, and the scalar code that compilers emit.
//!
//! Instructions are a whitelist: each arm names the mnemonics it means, every encoding besides
//! legacy and VEX is refused, and so is every operand form that an arm does not expect.
//!
//! *Undefined* data: each instruction computes lane by lane (scalar instructions: the operand is
//! the lane). A lane with an undefined byte that the result depends on gives an undefined result
//! lane, and flags of it are undefined. Bitwise operations and shifts work on bytes first, so
//! bytes that are masked or shifted out do not matter. Undefined values become a
//! [`Violation::Undefined`](crate::error::Violation::Undefined) where they matter: as address,
//! branch condition, count or divisor here, and in an output when it is read.

mod access;
mod aes;
mod arith;
mod control;
mod entry;
mod flags;
mod integer;
mod lanes;
mod links;
mod logic;
mod moves;
mod multiply;
mod operand;
mod outside;
mod permute;
mod pointers;
mod prefixes;
mod scalar_bits;
mod shifts;
mod shuffle;
mod strings;

use crate::byte::Byte;
use crate::call::ExternalFunction;
use crate::error::{LiftError, Place, Timing, Violation};
use crate::graph::{Graph, NodeId, Op};
use crate::lifted::Class;
use crate::memory::{Region, RegionKind};
use crate::object::Object;
use flags::Flags;
use iced_x86::{EncodingKind, Instruction, Register};
use links::Links;
use rustc_hash::{FxHashMap, FxHashSet};

/// Why execution stopped short.
pub(crate) enum Stop {
    /// For good.
    Error(LiftError),
    /// A region's address modulo `modulus` must be known; run again for each residue.
    NeedResidue {
        /// The region.
        region: u16,
        /// A power of two, at most [`MOST_ALIGNMENT`].
        modulus: u64,
        /// What is known so far: it is `residue` modulo `align`.
        align: u64,
        /// See `align`.
        residue: u64,
    },
    /// A branch depends on which of two regions lies above; run again for each way.
    NeedOrder {
        /// The regions, the lower number first.
        a: u16,
        /// See `a`.
        b: u16,
        /// How they may lie.
        ways: &'static [Order],
        /// What to say if the ways cannot be told apart in the end.
        error: LiftError,
    },
    /// A branch depends on data that the call releases; run again for either way.
    NeedRelease,
    /// A branch depends on where the regions lie otherwise; run again for either way.
    NeedDecision {
        /// The condition.
        condition: NodeId,
        /// Address of the branch.
        at: u64,
        /// What to say if the ways cannot be told apart in the end.
        error: LiftError,
    },
}

/// Terms beyond which a lift gives up: some 3 GB.
const MOST_NODES: usize = 32_000_000;

/// The coarsest alignment that is split into cases.
pub(crate) const MOST_ALIGNMENT: u64 = 64;

/// How one region lies to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Above,
    Below,
    /// They begin at one address.
    Equal,
}

/// What is fixed in one case, of all that the caller leaves open.
#[derive(Clone, Default, Debug)]
pub(crate) struct Choice {
    /// Region, modulus, residue of its address.
    pub residues: Vec<(u16, u64, u64)>,
    /// Two regions, the lower number first, and how the first lies to the second.
    pub orders: Vec<(u16, u16, Order)>,
    /// Branch conditions that depend on the regions' addresses, with their value and where.
    pub decisions: Vec<(NodeId, bool, u64)>,
    /// Ways of the branches on released data, in the order of execution.
    pub releases: Vec<bool>,
}

/// Boxed, so that the common path moves a pointer.
pub(crate) type Fallible<T> = Result<T, Box<Stop>>;

impl From<LiftError> for Box<Stop> {
    fn from(e: LiftError) -> Self {
        Box::new(Stop::Error(e))
    }
}

/// A scalar value: a node, or undefined.
pub(crate) type Value = Option<NodeId>;

/// A vector register's 32 bytes.
pub(crate) type Wide = [Byte; 32];

/// Number of a general register in `gpr`.
pub(crate) const RAX: usize = 0;
pub(crate) const RCX: usize = 1;
pub(crate) const RDX: usize = 2;
pub(crate) const RSP: usize = 4;
pub(crate) const RSI: usize = 6;
pub(crate) const RDI: usize = 7;

/// Bytes below the stack pointer that signal handlers leave alone.
const RED_ZONE: i64 = 128;

/// A decoded instruction with what its relocations say.
#[derive(Clone)]
pub(crate) struct Decoded {
    pub ins: Instruction,
    pub links: Links,
    pub class: Class,
    pub executed: u64,
}

/// The processor and its memory.
pub(crate) struct Machine<'a> {
    pub object: &'a Object,
    pub g: &'a mut Graph,
    pub regions: Vec<Region>,
    pub gpr: [[Byte; 8]; 16],
    pub vec: [Wide; 16],
    flags: Flags,
    /// How two regions lie, where this case settles it.
    pub orders: FxHashMap<(u16, u16), Order>,
    /// Pairs of regions that may be one, the lower number first.
    coincide: Vec<(u16, u16)>,
    /// Ways of the branches on released data, in the order of execution, and how many were taken.
    releases: (Vec<bool>, usize),
    /// Addresses of those branches, and how many there may be.
    releasing: (Vec<u64>, usize),
    /// Conditions on the regions' addresses that this case settles.
    pub decisions: FxHashMap<NodeId, bool>,
    /// Section and offset of the current instruction, and of the next one.
    pub at: (usize, u64),
    pub next: (usize, u64),
    pub ins: Instruction,
    /// What the linker writes into it.
    pub links: Links,
    /// Region number of the stack (the return token is the next one).
    pub stack: u16,
    /// Region number of each section, or of its first entry.
    section_regions: Vec<u16>,
    /// Data that other objects define: the region of each name.
    data: FxHashMap<String, u16>,
    /// Names of sections that can be written and are taken to hold what the file says.
    given_sections: Vec<String>,
    /// Functions that other objects define.
    functions: Vec<ExternalFunction>,
    returned: bool,
    /// Lowest stack offset that may hold something.
    used: i64,
    pub deepest: i64,
    decoded: FxHashMap<(usize, u64), u32>,
    pub code: Vec<Decoded>,
    pub steps: u64,
    /// Steps, and bytes that string instructions and copies moved; and how many there may be.
    work: (u64, u64),
    pub loaded: u64,
    pub stored: u64,
    pub assumptions: Vec<String>,
}

impl<'a> Machine<'a> {
    /// Runs to the return.
    pub fn run(&mut self, progress: &mut dyn FnMut(u64) -> bool) -> Fallible<()> {
        let mut told = 0;
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
            self.next = (self.at.0, self.at.1 + self.ins.len() as u64);
            self.step()?;
        }
        self.g.set_origin(None);
        progress(self.work.0);
        Ok(())
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
            let d = &self.code[code as usize];
            (self.ins, self.links) = (d.ins, d.links);
            return Ok(code as usize);
        }
        let section = &self.object.sections[self.at.0];
        self.ins = Instruction::default();
        if let Some(why) = &section.refused {
            return Err(
                self.unsupported(format!("code in a section that is not on the list: {why}"))
            );
        }
        let decoded = self.object.decode(self.at.0, self.at.1).filter(|_| section.executable);
        let Some((ins, constants)) = decoded else {
            return Err(self.unsupported("bytes that are no instruction"));
        };
        self.ins = ins;
        self.check_prefixes(&ins)?;
        let links = self.links(&ins, &constants)?;
        self.links = links;
        let class = lanes::classify(&ins);
        let code = self.code.len();
        self.code.push(Decoded { ins, links, class, executed: 0 });
        self.decoded.insert(self.at, code as u32);
        Ok(code)
    }

    /// Executes `self.ins`.
    fn step(&mut self) -> Fallible<()> {
        let ins = self.ins;
        if !matches!(ins.code().encoding(), EncodingKind::Legacy | EncodingKind::VEX) {
            return Err(self.unsupported(
                "EVEX and XOP encodings are not modelled; compile without AVX-512 (for example \
                 -mavx2 or -march=x86-64-v3)",
            ));
        }
        let done = self.control(ins)?
            || self.integer(ins)?
            || self.scalar_bits(ins)?
            || self.strings(ins)?
            || self.vector(ins)?;
        if done {
            Ok(())
        } else {
            Err(self.unsupported("this instruction is not on the whitelist"))
        }
    }

    /// Vector instructions; operands besides vector registers, general registers, memory and
    /// immediates (MMX, masks, tiles) are refused.
    fn vector(&mut self, ins: Instruction) -> Fallible<bool> {
        for i in 0..ins.op_count() {
            let r = ins.op_register(i);
            if r != Register::None && !(r.is_xmm() || r.is_ymm() || r.is_gpr()) {
                return Ok(false);
            }
        }
        Ok(self.moves(ins)?
            || self.arith(ins)?
            || self.logic(ins)?
            || self.shifts(ins)?
            || self.shuffle(ins)?
            || self.permute(ins)?
            || self.aes(ins)?)
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
             {MOST_ALIGNMENT} that are told apart; the caller guarantees {}",
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
        let length = self.ins.len().max(1);
        let bytes = self.object.bytes_at(self.address(), length).to_vec();
        LiftError::Unsupported { at: self.place(), what: what.into(), bytes }.into()
    }

    /// An undefined value matters here.
    pub fn undefined(&self, what: impl Into<String>) -> Box<Stop> {
        LiftError::from(Violation::Undefined { at: self.place(), what: what.into() }).into()
    }

    /// `node` would have to be a number (or, for addresses, a pointer) and is not.
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
            self.assume(format!("what the branch at {} depends on is released", self.place()));
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

    /// Whether the encoding is VEX: it clears the upper half of the destination, legacy keeps it.
    pub fn is_vex(&self) -> bool {
        self.ins.code().encoding() == EncodingKind::VEX
    }
}
