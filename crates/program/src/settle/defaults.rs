//! What usually serves a product modulo one number, as data: by the words, by how blocks are multiplied and by where
//! they lie. The first line whose ranges fit is settled on, so cheaper programs stand first.

use crate::method::ReduceMethod;

/// A largest magnitude, for modulus q and k products in a sum.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// A number.
    Is(i64),
    /// The largest word.
    Word,
    /// Operands whose products, summed in words of twice their length, leave a word.
    Sums,
    /// The same, no more than a number.
    SumsWithin(i64),
    /// Operands whose sums of products leave 3q in each word, at least q.
    Near,
    /// A multiple of q.
    Times(i64),
    /// q/2 and an eighth of it.
    FiveEighths,
    /// Residues that are the integers, of a product through one prime.
    Integers,
    /// What freezing takes.
    Frozen,
}

/// The limits of one settlement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub first: Bound,
    pub forward: Bound,
    pub full: Bound,
}

const fn line(first: Bound, forward: Bound, full: Bound) -> Line {
    Line { first, forward, full }
}

use Bound::{FiveEighths, Frozen, Integers, Is, Near, Sums, SumsWithin, Times, Word};

/// Words of 16 bits, by dot products.
pub(crate) const DOTS: &[Line] = &[
    line(Is(20_000), SumsWithin(9_500), Is(15_000)),
    line(Is(20_000), Sums, Is(16_383)),
    line(Is(20_000), Sums, Word),
];

/// Words of 16 bits, one product in a lane.
pub(crate) const LANES: &[Line] = &[
    line(Is(14_500), Is(5_400), Is(15_000)),
    line(Is(14_500), Is(7_000), Is(16_383)),
    line(Is(14_500), Is(9_500), Word),
];

/// Packed blocks of words of 16 bits: most words are multiplied between the levels, so that any may stand there.
pub(crate) const PACKED: &[Line] = &[
    line(Word, SumsWithin(9_500), Is(15_000)),
    line(Word, SumsWithin(9_500), Word),
    line(Word, Sums, Word),
];

/// Words of 32 bits.
pub(crate) const LONG: &[Line] = &[
    line(Word, Near, Integers),
    line(Word, Near, Frozen),
    line(Word, Near, Word),
    line(Word, Times(2), Integers),
    line(Word, Times(2), Frozen),
    line(Word, Times(2), Word),
    line(Word, Times(1), Integers),
    line(Word, Times(1), Frozen),
    line(Word, Times(1), Word),
    line(Word, FiveEighths, Integers),
    line(Word, FiveEighths, Frozen),
    line(Word, FiveEighths, Word),
];

/// Reductions of 16-bit words that are tried after the schedule's own. Each is tried with all
/// lines.
pub(crate) const OTHERS: [ReduceMethod; 2] = [ReduceMethod::Montgomery, ReduceMethod::BarrettHigh];
