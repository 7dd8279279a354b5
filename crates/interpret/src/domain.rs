//! The domain abstraction: what a word is, and what arithmetic on words does.

use ringforge_program::ir::{Op, UnsignedWord};
use ringforge_program::method::*;

/// A two-operand operation on words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // As the operations of the same names in `ringforge_program::ir::Op`.
pub enum Binary {
    Add,
    Sub,
    MulLo,
    MulHi,
    MulHiU,
    MulHrs,
    Greater,
    MinU,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// A shift by a constant, of words or of wide elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Shift {
    Left(u8),
    Arithmetic(u8),
    Logical(u8),
}

/// A two-operand operation on wide elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum WideBinary {
    Add,
    Sub,
    MulLo,
}

/// Why a domain gives no result: a sentence for people.
pub type Refusal = String;

/// The domain abstraction: what one word is, and what arithmetic on words does.
///
/// A domain that cannot give an operation a meaning refuses; the walker adds the place.
pub trait Domain {
    /// A word.
    type Word: Clone;
    /// A wide element: two words.
    type Wide: Clone;

    /// A constant of the program, a signed word.
    fn constant(&mut self, word: i64) -> Self::Word;
    /// Arithmetic on two words.
    fn binary(&mut self, op: Binary, a: &Self::Word, b: &Self::Word)
    -> Result<Self::Word, Refusal>;
    /// A shift of a word.
    fn shift(&mut self, op: Shift, a: &Self::Word) -> Result<Self::Word, Refusal>;
    /// `c·a` mod q by a method.
    fn mul_mod(&mut self, a: &Self::Word, c: u64, method: MulMethod)
    -> Result<Self::Word, Refusal>;
    /// `a` mod q by a method.
    fn reduce(&mut self, a: &Self::Word, method: ReduceMethod) -> Result<Self::Word, Refusal>;
    /// A multiple of the wide element `x` mod q by a method.
    fn narrow(&mut self, x: &Self::Wide, method: NarrowMethod) -> Result<Self::Word, Refusal>;
    /// A multiple of the product of two words mod q by a method.
    fn mul_words(
        &mut self,
        a: &Self::Word,
        b: &Self::Word,
        method: ProductMethod,
    ) -> Result<Self::Word, Refusal>;
    /// The canonical residue of a multiple of `a` by a method.
    fn freeze(&mut self, a: &Self::Word, method: FreezeMethod) -> Result<Self::Word, Refusal>;
    /// A modular operation on unsigned words; `b` is `a` if there is one operand.
    fn unsigned(
        &mut self,
        op: UnsignedWord,
        a: &Self::Word,
        b: &Self::Word,
    ) -> Result<Self::Word, Refusal>;
    /// `a[0]·b[0] + a[1]·b[1]`. The product of two words is this with two zeros.
    fn pair_dot(&mut self, a: [&Self::Word; 2], b: [&Self::Word; 2])
    -> Result<Self::Wide, Refusal>;
    /// Arithmetic on two elements.
    fn wide_binary(
        &mut self,
        op: WideBinary,
        a: &Self::Wide,
        b: &Self::Wide,
    ) -> Result<Self::Wide, Refusal>;
    /// A shift of an element.
    fn wide_shift(&mut self, op: Shift, a: &Self::Wide) -> Result<Self::Wide, Refusal>;
    /// The element with the given low and high words.
    fn join(&mut self, low: &Self::Word, high: &Self::Word) -> Result<Self::Wide, Refusal>;
    /// The low and high words of an element.
    fn split(&mut self, x: &Self::Wide) -> Result<(Self::Word, Self::Word), Refusal>;

    /// From here on a procedure is executed that computes modulo this number in these words.
    fn modulus(&mut self, modulus: Modulus) -> Result<(), Refusal>;
    /// A word as an array keeps it whose words have `bits` bits, fewer than the procedure's, and as
    /// it is loaded again.
    fn kept(&mut self, word: &Self::Word, bits: u8) -> Result<Self::Word, Refusal>;

    /// A stage begins. Stages nest; a stage may begin many times, in loops and calls.
    fn enter(&mut self, _title: &str, _cite: &str) {}
    /// The stage that began last ends.
    fn leave(&mut self) {}
    /// An operation has given this result; `values` are the block's earlier ones.
    fn defined(
        &mut self,
        _op: &Op,
        _result: &Register<Self::Word, Self::Wide>,
        _values: &[Register<Self::Word, Self::Wide>],
    ) {
    }
}

/// What a register holds: `lanes` words or `lanes / 2` elements.
#[derive(Clone, Debug)]
pub enum Register<W, X> {
    /// Words.
    Words(Vec<W>),
    /// Wide elements.
    Wide(Vec<X>),
    /// The result of a store.
    Nothing,
}
