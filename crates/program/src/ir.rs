//! The embedded language: procedures over named buffers of machine words, loops with constant
//! trip counts, and straight-line blocks of vector operations in single assignment form.
//!
//! One program has many meanings (run, range, formula, count, draw, emit)
//! [TokudaKameyama23 §3], so the language fixes shapes and words, never a target:
//!
//! * a *word* has w = [`Procedure::bits`] bits, 16 or 32, and is signed; sums of products may have
//!   words of 64 bits, which form no wide elements;
//! * a *register* holds [`Program::lanes_of`] the procedure's words. Some operations read it as
//!   `lanes / 2` *wide* elements of 2w bits (word `2i` is the low half of element `i`). Others read
//!   it as [`Program::parts`] *parts* that few operations cross;
//! * machine words wrap: arithmetic is modulo 2^w (2^2w for wide operations);
//! * every index is a public affine function of loop counters.
//!
//! Two levels share the language. [`Op::MulMod`], [`Op::Reduce`], [`Op::Narrow`], [`Op::MulWords`],
//! [`Op::Freeze`] and [`Op::Unsigned`] are *modular*: they state the residue they compute and name
//! the method that the schedule chose. Everything else is a *word* operation. [`Program::expand`]
//! replaces the modular operations by word operations. `run`, `count` and the emitters use the
//! expansion; `formula`, `draw` and `explain` use the modular level. `range` may use both (a
//! `Narrow` is easier to bound whole than in its halves).

mod op;
mod unsigned;

pub use op::{Factor, Half, LONGEST_UNIT, Op, Parity, Shape};
pub use unsigned::{Unsigned, UnsignedWord, unsigned_barrett, unsigned_constants};

use crate::method::Modulus;
use ringforge_targets::Registers;
use serde::{Deserialize, Serialize};

/// A whole multiplier, or any other set of procedures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Prefix of every exported symbol, such as `sntrup761`.
    pub name: String,
    /// The ring in its text form, such as `Z4591[x]/(x^761 - x - 1)`.
    pub ring: String,
    /// The ring's modulus, at least 2; procedures may compute modulo others.
    pub q: u64,
    /// Bits of a word: 16, or 32 for moduli that need them; procedures may have others.
    pub word_bits: u8,
    /// What a register holds.
    pub registers: Registers,
    /// How transformed elements are laid out, where procedures take or leave such.
    pub transform: Option<TransformLayout>,
    /// The plan's text, for headers and reports.
    pub plan: String,
    /// The schedule's text, for headers and reports.
    pub schedule: String,
    /// After how many operations of straight-line code a compiler starts anew to order them; 0 for never.
    pub in_order: u32,
    /// Whether its registers are loops that a compiler makes vectors of, on every target.
    pub loops: bool,
    /// All procedures; a procedure calls only those before it.
    pub procedures: Vec<Procedure>,
}

/// What an entry point computes. With T the map a ↦ (a mod x^d − w_i)_i in the order of the
/// program's [`TransformLayout`], and everything modulo q; parameters come output first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Computes {
    /// `(c, a, b)`: c = a·b in the ring.
    Product,
    /// `(c, a)`: c = scale·T(a).
    Forward {
        /// Residue in `[1, q)`.
        scale: u64,
    },
    /// `(c, a)`: c = scale·T⁻¹(a).
    Inverse {
        /// Residue in `[1, q)`.
        scale: u64,
    },
    /// `(c, a, b)`: c = scale·(a ∘ b), the products leaf by leaf.
    BaseProduct {
        /// Residue in `[1, q)`.
        scale: u64,
    },
    /// `(c, a, b)`: c = scale·(a_1 ∘ b_1 + a_2 ∘ b_2 + …), a and b being so many transforms one after the other.
    InnerProduct {
        /// Residue in `[1, q)`.
        scale: u64,
        /// Pairs of transforms.
        pairs: usize,
    },
    /// `(c, a, b)` with c [`Role::InOut`]: c ← c + scale·(a ∘ b).
    Accumulate {
        /// Residue in `[1, q)`.
        scale: u64,
    },
    /// `(c, a)`: from the program's order to the standard one, `c[order[p]] = a[p]`.
    ToStandard,
    /// `(c, a)`: from the standard order to the program's, `c[p] = a[order[p]]`.
    FromStandard,
}

/// A transformed element: the remainders by x^d − w_i, with ∏ (x^d − w_i) = f.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransformLayout {
    /// d, a divisor of n.
    pub degree: usize,
    /// w_i in `[0, q)` in the standard order: for radix-2 splits, the split by x^m − s comes before
    /// the one by x^m + s. FIPS 203 and 204 have this order.
    pub weights: Vec<u64>,
    /// Position p of a transformed array holds coefficient `order[p] % d` of the remainder number
    /// `order[p] / d`; a permutation of `0..n`.
    pub order: Vec<u32>,
}

impl Program {
    /// Words in a register.
    pub fn lanes(&self) -> usize {
        self.registers.lanes(self.word_bits)
    }

    /// How many parts a register has.
    pub fn parts(&self) -> usize {
        self.registers.parts()
    }

    /// How many words a part has.
    pub fn part_words(&self) -> usize {
        self.registers.part_lanes(self.word_bits)
    }

    /// The ring's modulus and the program's words; [`Procedure::modulus`] is what one computes in.
    pub fn modulus(&self) -> Modulus {
        Modulus { q: self.q, bits: self.word_bits }
    }

    /// How many words of a procedure a register holds.
    pub fn lanes_of(&self, procedure: &Procedure) -> usize {
        self.registers.lanes(procedure.bits)
    }

    /// The program with the exported procedure `name` as its only entry point and last procedure;
    /// none of that name: nothing.
    pub fn entry(&self, name: &str) -> Option<Program> {
        let at = self.procedures.iter().position(|p| p.exported && p.name == name)?;
        let mut program = self.clone();
        program.procedures.truncate(at + 1);
        program.procedures[..at].iter_mut().for_each(|p| p.exported = false);
        Some(program)
    }
}

/// Index of a procedure in [`Program::procedures`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcedureId(pub u32);

/// Index of a buffer in [`Procedure::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BufferId(pub u32);

/// A loop counter; unique within its procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LoopVar(pub u32);

/// A value: the index of the operation in its [`Block`] that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Value(pub u32);

/// A procedure: its buffers and its statements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Procedure {
    /// Name without the program's prefix, such as `mul` or `forward`.
    pub name: String,
    /// Entry points are exported, helpers are not. Interpretations mean the last exported one;
    /// [`Program::entry`] chooses another.
    pub exported: bool,
    /// What an entry point computes; helpers say nothing.
    pub computes: Option<Computes>,
    /// Runs of one computation that stand side by side in it. A parameter of an entry point holds so many elements of the
    /// ring, one after the other; a helper has parameters for each run.
    pub copies: usize,
    /// The modulus of its modular operations, at least 2.
    pub q: u64,
    /// Bits of its words: the program's, or more, so that registers hold fewer words. Words have 64
    /// bits where the target sums products in such words.
    pub bits: u8,
    /// Buffers; those whose role is a parameter come first, in the order of the arguments.
    pub buffers: Vec<Buffer>,
    /// What it does.
    pub body: Vec<Stmt>,
}

impl Procedure {
    /// The modulus of its modular operations and the words that they are computed in.
    pub fn modulus(&self) -> Modulus {
        Modulus { q: self.q, bits: self.bits }
    }
}

/// An array of words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    /// Name, unique within the procedure, a C identifier.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Length in words.
    pub words: usize,
    /// Bits of a word in memory, the procedure's or fewer: then loads extend the sign, and what is
    /// stored must fit. Arguments of a call have the size of their parameter.
    pub bits: u8,
    /// Alignment of its first word in bytes (a word's size for callers' arrays).
    pub align: usize,
    /// Interval of each word at entry (`Input`, `Scratch`) or promised at exit (`Output`).
    pub range: Option<(i64, i64)>,
}

/// What a buffer is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Parameter, written. The caller of an entry point may pass an input here too, so it writes a
    /// word only after the last read of every input's word at the same place.
    Output,
    /// Parameter, read first and written afterwards: what an accumulation adds to. Its range is
    /// that at entry and that at exit.
    InOut,
    /// Parameter, only read.
    Input,
    /// Parameter, read and written; overlaps nothing else.
    Scratch,
    /// Local array; undefined at entry.
    Local,
    /// Constant words, signed.
    Table(Vec<i32>),
    /// Residues in `[0, q)` that [`Factor::Table`] and [`Factor::Repeated`] multiply by; no load reads it. Expansion
    /// turns it into [`Role::Table`]s that hold what the method needs.
    Factors(Vec<u64>),
}

impl Role {
    /// Whether a caller passes it.
    pub fn is_parameter(&self) -> bool {
        matches!(self, Role::Output | Role::InOut | Role::Input | Role::Scratch)
    }
}

/// An affine, public index in words: `base + Σ stride·counter`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Index {
    /// The constant part.
    pub base: i64,
    /// Loop counters with their strides; each counter at most once.
    pub terms: Vec<(LoopVar, i64)>,
}

impl Index {
    /// The constant index `base`.
    pub fn at(base: usize) -> Index {
        Index { base: base as i64, terms: Vec::new() }
    }

    /// `base + stride·counter`.
    pub fn strided(base: usize, counter: LoopVar, stride: usize) -> Index {
        Index { base: base as i64, terms: vec![(counter, stride as i64)] }
    }

    /// This index moved by `words`.
    pub fn plus(&self, words: usize) -> Index {
        Index { base: self.base + words as i64, terms: self.terms.clone() }
    }

    /// This index `times` over.
    pub fn times(&self, times: i64) -> Index {
        let terms = self.terms.iter().map(|&(v, stride)| (v, stride * times)).collect();
        Index { base: self.base * times, terms }
    }

    /// Its value when `counter(v)` is the value of counter `v`.
    pub fn eval(&self, counter: &dyn Fn(LoopVar) -> i64) -> i64 {
        self.terms.iter().fold(self.base, |sum, &(v, stride)| sum + stride * counter(v))
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stmt {
    /// A named part of the computation: what reports, pictures and headers speak of.
    Stage {
        /// Such as `main part: nine columns of 10-NTT`.
        title: String,
        /// Where it comes from, such as `[Chiu25 §3.2.1]`.
        cite: String,
        /// Its statements.
        body: Vec<Stmt>,
    },
    /// Straight-line code.
    Block(Block),
    /// `for counter in 0..count`.
    Loop {
        /// Its counter.
        counter: LoopVar,
        /// Trip count, at least 1.
        count: u32,
        /// Its body; no value crosses iterations except through buffers.
        body: Vec<Stmt>,
    },
    /// A call of an earlier procedure.
    Call {
        /// The procedure.
        procedure: ProcedureId,
        /// For each of its parameters a buffer of ours and the word where it starts.
        arguments: Vec<(BufferId, Index)>,
    },
}

/// Straight-line code in single assignment form: operation `i` defines `Value(i)`.
///
/// Memory operations keep their order; values are local to the block.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Block {
    /// The operations.
    pub ops: Vec<Op>,
}

impl Block {
    /// Appends an operation and returns its value (meaningless for stores).
    pub fn push(&mut self, op: Op) -> Value {
        self.ops.push(op);
        Value(self.ops.len() as u32 - 1)
    }
}
