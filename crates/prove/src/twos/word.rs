//! What is known of a word, and the forms that it is told in.

use crate::function::Side;
use smallvec::SmallVec;

/// Bits of coefficients that are computed.
pub(super) const BITS: u8 = 16;

/// Number of a form.
pub(super) type FormId = u32;

/// The form 1.
pub(super) const ONE: FormId = 0;

/// How a form is made of earlier ones, modulo 2^16.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Make {
    /// The constant 1.
    One,
    /// Element `index` of `operand`.
    Input { operand: u16, index: u32 },
    /// `c·x + d·y`.
    Sum { x: FormId, c: u16, y: FormId, d: u16 },
    /// A form of a's elements times one of b's.
    Product { a: FormId, b: FormId },
    /// What a node makes of x shifted right: `x/2^bits`, if that is a form: all coefficients of x must be
    /// multiples of 2^bits.
    Half { x: FormId, bits: u8, node: u32 },
}

/// A value modulo 2^16, and a polynomial with integer coefficients, affine in each operand, to which it is
/// congruent modulo 2^known.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub make: Make,
    /// The operands it depends on.
    pub side: Side,
    /// For how many bits value and polynomial agree, if all quotients are what they should be.
    pub known: u8,
    /// The forms by which they differ, with coefficients: the same in many sums, they may cancel.
    pub unsure: SmallVec<[(FormId, u16); 2]>,
    /// Node at which it was made.
    pub node: u32,
}

/// What is known of a node's value: it is `2^twos·c` times a form's value modulo 2^known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word {
    pub form: FormId,
    /// Odd, or 0 where twos = known.
    pub c: u16,
    pub twos: u8,
    pub known: u8,
    /// Least value, read as signed.
    pub lo: i64,
    /// Greatest value, read as signed.
    pub hi: i64,
}

impl Word {
    /// Bits of `c·G` that are known.
    pub fn precision(&self) -> u8 {
        self.known - self.twos
    }
}

/// The interval of all signed words.
pub(super) fn all(width: u8) -> (i64, i64) {
    (i64::MIN >> (64 - width), i64::MAX >> (64 - width))
}

/// An interval if it fits signed words, else all of them.
pub(super) fn fitting(lo: i128, hi: i128, width: u8) -> (i64, i64) {
    let (least, greatest) = all(width);
    let fits = lo >= i128::from(least) && hi <= i128::from(greatest);
    if fits { (lo as i64, hi as i64) } else { (least, greatest) }
}

/// Nothing but an interval.
pub(super) fn opaque((lo, hi): (i64, i64)) -> Word {
    Word { form: ONE, c: 0, twos: 0, known: 0, lo, hi }
}

pub(super) fn join(x: Side, y: Side) -> Side {
    match (x, y) {
        (Side::None, s) | (s, Side::None) => s,
        (x, y) if x == y => x,
        _ => Side::Both,
    }
}

/// A constant, of which 16 bits from its lowest one on are kept.
pub(super) fn constant(value: u64, w: u8) -> Word {
    let value = value & u64::MAX >> (64 - w);
    let signed = ((value << (64 - w)) as i64) >> (64 - w);
    let twos = (value.trailing_zeros() as u8).min(w);
    let c = value.checked_shr(twos.into()).unwrap_or(0) as u16;
    let known = w.min(twos + BITS);
    Word { form: ONE, c, twos, known, lo: signed, hi: signed }
}

/// The low w bits of a word.
pub(super) fn truncated(x: Word, w: u8) -> Word {
    let (lo, hi) = fitting(x.lo.into(), x.hi.into(), w);
    normal(Word { known: x.known.min(w), lo, hi, ..x })
}

/// With odd c, or 0.
pub(super) fn normal(word: Word) -> Word {
    let twos = word.twos.saturating_add(word.c.trailing_zeros() as u8);
    if word.c == 0 || twos >= word.known {
        return Word { form: ONE, c: 0, twos: word.known, ..word };
    }
    Word { c: word.c >> word.c.trailing_zeros(), twos, ..word }
}
