//! The operations of a block.

use super::{BufferId, Index, Unsigned, Value};
use crate::method::{FreezeMethod, MulMethod, NarrowMethod, ProductMethod, ReduceMethod};
use serde::{Deserialize, Serialize};

/// The constant that a modular product multiplies by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Factor {
    /// The same residue, in `[0, q)`, in every word.
    Splat(u64),
    /// A residue for each word of the register.
    Lanes(Vec<u64>),
    /// Residues `at .. at + lanes` of a buffer with [`Role::Factors`](super::Role::Factors).
    Table {
        /// The buffer.
        buffer: BufferId,
        /// Index of the residue for word 0.
        at: Index,
    },
    /// The residue at `at` of a buffer with [`Role::Factors`](super::Role::Factors), in every word.
    Repeated {
        /// The buffer.
        buffer: BufferId,
        /// Index of the residue.
        at: Index,
    },
}

/// Bits of the longest elements that are interleaved.
pub const LONGEST_UNIT: u8 = 64;

/// Which of a part's halves an interleaving takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Half {
    /// Its low 64 bits.
    Low,
    /// Its high 64 bits.
    High,
}

/// Which elements a [`Op::Deinterleave`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Parity {
    /// Elements 0, 2, ….
    Even,
    /// Elements 1, 3, ….
    Odd,
}

/// One vector operation. `a`, `b`, … are earlier values of the block.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    // ----- modular level -----------------------------------------------------------------
    /// Words congruent to `a·factor` mod q, in the range that the method gives.
    MulMod {
        /// The variable operand, any signed words in the method's domain.
        a: Value,
        /// The constant operand.
        factor: Factor,
        /// How.
        method: MulMethod,
    },
    /// Words congruent to `a` mod q, in the range that the method gives.
    Reduce {
        /// Signed words in the method's domain.
        a: Value,
        /// How.
        method: ReduceMethod,
    },
    /// From two registers of signed wide elements one register of words: word `2i` is
    /// congruent to `scale·even[i]`, word `2i+1` to `scale·odd[i]`, with the method's `scale`.
    Narrow {
        /// Elements that become the even words.
        even: Value,
        /// Elements that become the odd words.
        odd: Value,
        /// How; [`NarrowMethod::scale`] says what it multiplies by.
        method: NarrowMethod,
    },
    /// Of two variable words, words congruent to `scale·a·b` mod q with the method's `scale`: for
    /// machines without a dot product of pairs.
    MulWords {
        /// Signed words.
        a: Value,
        /// Signed words; what the method prepares of them is shared by the products of a block.
        b: Value,
        /// How; [`ProductMethod::scale`] says what it multiplies by.
        method: ProductMethod,
    },
    /// The canonical centred residue, in `[-(q-1)/2, (q-1)/2]`, of `scale·a` with the method's
    /// [`FreezeMethod::scale`].
    Freeze {
        /// Signed words in the method's [`FreezeMethod::domain`].
        a: Value,
        /// How.
        method: FreezeMethod,
    },
    /// Arithmetic on unsigned words.
    Unsigned(Unsigned),
    // ----- memory ------------------------------------------------------------------------
    /// `lanes` words from `at`.
    Load {
        /// From where.
        buffer: BufferId,
        /// Its first word.
        at: Index,
    },
    /// Words `at .. at + count` (`0 < count < lanes`), then zeros; reads nothing beyond.
    LoadPartial {
        /// From where.
        buffer: BufferId,
        /// Its first word.
        at: Index,
        /// How many words.
        count: u32,
    },
    /// [`Program::parts`](super::Program::parts) parts, part `p` from `at[p]`.
    LoadParts {
        /// From where.
        buffer: BufferId,
        /// First word of each part.
        at: Vec<Index>,
    },
    /// The two words at `at` and `at + 1`, repeated over the register.
    BroadcastPair {
        /// From where.
        buffer: BufferId,
        /// The first of the two words.
        at: Index,
    },
    /// The word at `at`, repeated over the register.
    Broadcast {
        /// From where.
        buffer: BufferId,
        /// The word.
        at: Index,
    },
    /// Stores `lanes` words.
    Store {
        /// To where.
        buffer: BufferId,
        /// Its first word.
        at: Index,
        /// What.
        a: Value,
    },
    /// Stores the first `count` words (`0 < count < lanes`) and nothing beyond.
    StorePartial {
        /// To where.
        buffer: BufferId,
        /// Its first word.
        at: Index,
        /// How many words.
        count: u32,
        /// What.
        a: Value,
    },
    /// Stores word `i` at `at + stride·i`: two rounds of interleaving such stores transpose.
    StoreStrided {
        /// To where.
        buffer: BufferId,
        /// Where word 0 goes.
        at: Index,
        /// Distance in words, at least 2.
        stride: u32,
        /// What.
        a: Value,
    },
    /// Adds the sum of the register's words to the word at `at`.
    AddSum {
        /// To what.
        buffer: BufferId,
        /// The word.
        at: Index,
        /// What.
        a: Value,
    },
    /// Stores part `p` of the register at `at[p]`.
    StoreParts {
        /// To where.
        buffer: BufferId,
        /// First word of each part.
        at: Vec<Index>,
        /// What.
        a: Value,
    },
    // ----- constants ---------------------------------------------------------------------
    /// The same signed word everywhere.
    Splat(i32),
    /// A signed word for each lane.
    Lanes(Vec<i32>),
    // ----- words -------------------------------------------------------------------------
    /// `a + b`.
    Add(Value, Value),
    /// `a - b`.
    Sub(Value, Value),
    /// Low word of `a·b`.
    MulLo(Value, Value),
    /// High word of the signed product `a·b`.
    MulHi(Value, Value),
    /// High word of the unsigned product of `a` and `b`.
    MulHiU(Value, Value),
    /// `(a·b + 2^(w-2)) >> (w-1)`, signed, its low word (x86 `vpmulhrsw`: -2^15·-2^15 gives -2^15).
    MulHrs(Value, Value),
    /// Shift left by a constant in `0..w`.
    Shl(Value, u8),
    /// Arithmetic shift right by a constant in `0..w`.
    Sar(Value, u8),
    /// Logical shift right by a constant in `0..w`.
    Shr(Value, u8),
    /// `a > b` signed: -1 where true, else 0.
    Greater(Value, Value),
    /// Unsigned minimum.
    MinU(Value, Value),
    /// Signed minimum.
    Min(Value, Value),
    /// Signed maximum.
    Max(Value, Value),
    /// Bitwise and.
    And(Value, Value),
    /// Bitwise or.
    Or(Value, Value),
    /// Bitwise exclusive or.
    Xor(Value, Value),
    // ----- wide: elements of 2w bits -----------------------------------------------------
    /// Element `i`: `a[2i]·b[2i] + a[2i+1]·b[2i+1]` of signed words (`vpmaddwd`).
    PairDot(Value, Value),
    /// `acc + PairDot(a, b)` (AVX-VNNI `vpdpwssd`, or two instructions).
    PairDotAdd {
        /// Elements.
        acc: Value,
        /// Words.
        a: Value,
        /// Words.
        b: Value,
    },
    /// Element `i`: the signed product of words `2i` (`vpmuldq`).
    MulEven(Value, Value),
    /// `a + b` of elements.
    AddWide(Value, Value),
    /// `a - b` of elements.
    SubWide(Value, Value),
    /// Low 2w bits of the signed product of elements.
    MulLoWide(Value, Value),
    /// Shift of elements left by a constant in `0..2w`.
    ShlWide(Value, u8),
    /// Arithmetic shift of elements right by a constant in `0..2w`.
    SarWide(Value, u8),
    /// Logical shift of elements right by a constant in `0..2w`.
    ShrWide(Value, u8),
    // ----- moves -------------------------------------------------------------------------
    /// Word `i` of `b` where `(mask >> (i % 8)) & 1` is 1, else of `a` (`vpblendw`).
    Blend {
        /// Taken at zeros of the mask.
        a: Value,
        /// Taken at ones of the mask.
        b: Value,
        /// One bit for each of eight words.
        mask: u8,
    },
    /// Swaps the two words of every wide element.
    SwapPairs(Value),
    /// Words `2i` and `2i + 1` of the result are both word `2i + 1` of `a` (`vmovshdup`).
    OddToEven(Value),
    /// Word `i` of each part of the result is word `pattern[i]` of the same part of `a`.
    PermuteParts {
        /// Whose words.
        a: Value,
        /// As many places as a part has words, each below that number.
        pattern: Vec<u8>,
    },
    /// Part `p` of the result is part number `pick[p]` among those of `a` and then those of `b`.
    Parts {
        /// Its parts are counted first.
        a: Value,
        /// Its parts are counted from [`Program::parts`](super::Program::parts) on.
        b: Value,
        /// One number for each part of the result (`vperm2i128`).
        pick: Vec<u8>,
    },
    /// Within each part: elements of `unit` bits (16, 32 or 64) of the named half of `a`
    /// and of `b` alternately, `a` first (`vpunpckl..`, `vpunpckh..`).
    Interleave {
        /// First.
        a: Value,
        /// Second.
        b: Value,
        /// Bits of an element.
        unit: u8,
        /// Which half of each part.
        half: Half,
    },
    /// Within each part: the even (odd) elements of `unit` bits (16, 32 or 64) of `a`, and
    /// then those of `b`. For elements of 64 bits the same as [`Op::Interleave`].
    Deinterleave {
        /// First.
        a: Value,
        /// Second.
        b: Value,
        /// Bits of an element, no fewer than a word's.
        unit: u8,
        /// Which elements.
        half: Parity,
    },
}

/// How an operation's result is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Shape {
    /// Signed words.
    Words,
    /// Signed elements of two words each.
    Wide,
    /// As its operands.
    Same,
    /// No result.
    Nothing,
}

impl Op {
    /// How the result is to be read.
    pub fn shape(&self) -> Shape {
        match self {
            Op::Store { .. }
            | Op::StorePartial { .. }
            | Op::StoreParts { .. }
            | Op::StoreStrided { .. }
            | Op::AddSum { .. } => Shape::Nothing,
            Op::PairDot(..)
            | Op::PairDotAdd { .. }
            | Op::MulEven(..)
            | Op::AddWide(..)
            | Op::SubWide(..)
            | Op::MulLoWide(..)
            | Op::ShlWide(..)
            | Op::SarWide(..)
            | Op::ShrWide(..) => Shape::Wide,
            Op::Blend { .. }
            | Op::SwapPairs(..)
            | Op::OddToEven(..)
            | Op::PermuteParts { .. }
            | Op::Parts { .. }
            | Op::Interleave { .. }
            | Op::Deinterleave { .. } => Shape::Same,
            Op::And(..) | Op::Or(..) | Op::Xor(..) => Shape::Same,
            _ => Shape::Words,
        }
    }

    /// Whether expansion replaces it.
    pub fn is_modular(&self) -> bool {
        matches!(
            self,
            Op::MulMod { .. }
                | Op::Reduce { .. }
                | Op::Narrow { .. }
                | Op::MulWords { .. }
                | Op::Freeze { .. }
                | Op::Unsigned(_)
        )
    }

    /// Its operands in order.
    pub fn operands(&self) -> Vec<Value> {
        let mut all = Vec::new();
        self.clone().map_operands(&mut |v| {
            all.push(v);
            v
        });
        all
    }

    /// The same operation with each operand replaced.
    pub fn map_operands(mut self, f: &mut dyn FnMut(Value) -> Value) -> Op {
        match &mut self {
            Op::Load { .. }
            | Op::LoadPartial { .. }
            | Op::LoadParts { .. }
            | Op::BroadcastPair { .. }
            | Op::Broadcast { .. }
            | Op::Splat(_)
            | Op::Lanes(_) => {}
            Op::MulMod { a, .. }
            | Op::Reduce { a, .. }
            | Op::Freeze { a, .. }
            | Op::Store { a, .. }
            | Op::StorePartial { a, .. }
            | Op::StoreParts { a, .. }
            | Op::StoreStrided { a, .. }
            | Op::AddSum { a, .. }
            | Op::Shl(a, _)
            | Op::Sar(a, _)
            | Op::Shr(a, _)
            | Op::ShlWide(a, _)
            | Op::SarWide(a, _)
            | Op::ShrWide(a, _)
            | Op::SwapPairs(a)
            | Op::OddToEven(a)
            | Op::PermuteParts { a, .. } => *a = f(*a),
            Op::Add(a, b)
            | Op::Sub(a, b)
            | Op::MulLo(a, b)
            | Op::MulHi(a, b)
            | Op::MulHiU(a, b)
            | Op::MulHrs(a, b)
            | Op::Greater(a, b)
            | Op::MinU(a, b)
            | Op::Min(a, b)
            | Op::Max(a, b)
            | Op::And(a, b)
            | Op::Or(a, b)
            | Op::Xor(a, b)
            | Op::PairDot(a, b)
            | Op::MulEven(a, b)
            | Op::AddWide(a, b)
            | Op::SubWide(a, b)
            | Op::MulLoWide(a, b)
            | Op::Blend { a, b, .. }
            | Op::Interleave { a, b, .. }
            | Op::Deinterleave { a, b, .. }
            | Op::Parts { a, b, .. }
            | Op::MulWords { a, b, .. }
            | Op::Narrow { even: a, odd: b, .. } => {
                *a = f(*a);
                *b = f(*b);
            }
            Op::Unsigned(op) => op.map_operands(f),
            Op::PairDotAdd { acc, a, b } => {
                *acc = f(*acc);
                *a = f(*a);
                *b = f(*b);
            }
        }
        self
    }

    /// The same operation with each array replaced that it reads or writes, and its words moved on by so many.
    pub fn moved(mut self, f: &dyn Fn(BufferId) -> (BufferId, usize)) -> Op {
        match &mut self {
            Op::LoadParts { buffer, at } | Op::StoreParts { buffer, at, .. } => {
                let (new, words) = f(*buffer);
                *buffer = new;
                at.iter_mut().for_each(|at| *at = at.plus(words));
            }
            Op::Load { buffer, at }
            | Op::LoadPartial { buffer, at, .. }
            | Op::BroadcastPair { buffer, at }
            | Op::Broadcast { buffer, at }
            | Op::Store { buffer, at, .. }
            | Op::StorePartial { buffer, at, .. }
            | Op::StoreStrided { buffer, at, .. }
            | Op::AddSum { buffer, at, .. }
            | Op::MulMod {
                factor: Factor::Table { buffer, at } | Factor::Repeated { buffer, at },
                ..
            }
            | Op::Unsigned(Unsigned::Mul {
                factor: Factor::Table { buffer, at } | Factor::Repeated { buffer, at },
                ..
            }) => {
                let (new, words) = f(*buffer);
                (*buffer, *at) = (new, at.plus(words));
            }
            _ => {}
        }
        self
    }
}
