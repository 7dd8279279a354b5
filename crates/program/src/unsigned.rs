//! The unsigned scheme of [TokudaKameyama23 §2.3, §3] as a tagless-final program: one text of each
//! algorithm, generic over two small traits.
//!
//! * [`Language`] is the language abstraction: arrays, indices, loops, and the domain's operations.
//! * [`primitive::Word32`] is the low-level domain, machine words of 32 bits. `montgomery_reduce`,
//!   `barrett_reduce` and `csub` are written once over it. So the same text runs, is bounded, and
//!   is printed as C or OCaml (`AddMontgomery` in [TokudaKameyama23 §6.2]).
//!
//! The embedded language of [`crate::ir`] has signed words, whose ranges end at 2^15 − 1. Here
//! values lie in `[0, 65535]` and products in 32 bits, so the scheme has a language of its own.
//! Interpretations live in `ringforge_interpret::unsigned`.
//!
//! Coefficients stand in natural order, transformed ones in bit-reversed order. Every sum and
//! difference has to lie in `[0, 65535]`, also where a product follows: that is what registers of
//! 16-bit words need [TokudaKameyama23 §3.3].

pub mod placement;
pub mod primitive;
mod text;
pub mod transform;

pub use placement::{Kind, Placement, Site};
pub use primitive::Constants;
pub use text::Unsigned;
pub use transform::{Algorithm, Scheme};

/// An array of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Array {
    /// Operands and results, `n` words each: 0 is `c`, 1 is `a`, 2 is `b`.
    Data(u8),
    /// Constants; the index of a [`Table`] of the scheme.
    Table(u8),
}

/// Constant words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// A C and OCaml identifier.
    pub name: String,
    /// What it holds, for people.
    pub what: String,
    /// Words in `[0, 65535]`.
    pub words: Vec<u16>,
}

/// The body of a loop, given the counter.
pub type Body<'b, L> =
    dyn FnMut(&mut L, &<L as Language>::Index) -> Result<(), <L as Language>::Error> + 'b;

/// The language abstraction. What a program means is decided by who implements this.
pub trait Language: Sized {
    /// An index into an array: a number where the program is executed, a text where it is printed.
    type Index: Clone;
    /// A value of the domain: one word.
    type Value: Clone;
    /// Why a program has no meaning.
    type Error;

    /// A constant index.
    fn number(&mut self, i: usize) -> Self::Index;
    /// `a + b`.
    fn plus(&mut self, a: &Self::Index, b: &Self::Index) -> Self::Index;
    /// `a · k`.
    fn times(&mut self, a: &Self::Index, k: usize) -> Self::Index;
    /// `for i in 0..count`; a loop that runs once may be its body.
    fn for_(&mut self, count: usize, body: &mut Body<'_, Self>) -> Result<(), Self::Error>;
    /// A named part of the program.
    fn stage(&mut self, title: &str);
    /// A word of an array.
    fn get(&mut self, array: Array, at: &Self::Index) -> Result<Self::Value, Self::Error>;
    /// Overwrites a word of an array.
    fn set(&mut self, array: Array, at: &Self::Index, v: &Self::Value) -> Result<(), Self::Error>;
    /// `a + b`, to lie in `[0, 65535]`.
    fn add(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// `a + offset − b`, to lie in `[0, 65535]`, and so `a + offset`; `offset` is a multiple of q.
    fn sub(
        &mut self,
        a: &Self::Value,
        offset: &Self::Value,
        b: &Self::Value,
    ) -> Result<Self::Value, Self::Error>;
    /// The offset `k·q`.
    fn multiple(&mut self, k: u8) -> Result<Self::Value, Self::Error>;
    /// A constant word.
    fn constant(&mut self, word: u16) -> Result<Self::Value, Self::Error>;
    /// `montgomery_reduce(a·b)`, congruent to `a·b/2^18`.
    fn mul(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// A congruent word in a smaller range.
    fn reduce(&mut self, a: &Self::Value, kind: Kind) -> Result<Self::Value, Self::Error>;
}
