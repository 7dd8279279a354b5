//! Rows of the tables, and how their patterns are read.

use super::{Instruction, Sets};
use crate::thumb::operation::Op;

/// One encoding.
///
/// The pattern has a character for each bit, the highest first: `0`, `1`, or a field's letter. A
/// field whose bits are in several places is put together in that order. The letters are:
///
/// - `d n m a t u`: registers.
/// - `i`: an immediate; in branches also `j`, `h`, `x`, `y`.
/// - `k`: a kind of shift.
/// - `s`: whether flags are set.
/// - `c`: a condition.
/// - `l L P`: a list of registers, LR in it, PC in it.
/// - `p v w`: whether the offset is added before the access, whether it is added rather than
///   subtracted, and whether the base is written back.
/// - `x y`: halves.
/// - `z`: a rotation.
/// - `q`: a last field. Of a floating-point register it has all but the lowest bit, which is `x`,
///   or `y` for register `m`.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub bits: &'static str,
    pub op: Op,
    /// Its text in unified syntax, see `print.rs`.
    pub text: &'static str,
    /// Registers that may be neither 13 nor 15.
    pub plain: &'static str,
    /// What else must hold.
    pub rule: fn(&Instruction) -> bool,
    /// Whether it sets flags, where no field says so.
    pub sets: Sets,
    /// The kind of shift, where no field says so.
    pub kind: Option<u8>,
    /// Operand n, where no field says so.
    pub base: Option<u8>,
    /// What the immediate counts.
    pub times: i64,
    /// The destination is operand n.
    pub into_n: bool,
    /// That operand (n or m) is the destination.
    pub same_as_d: Option<char>,
    pub before: bool,
    pub back: bool,
}

pub(super) const fn row(bits: &'static str, op: Op, text: &'static str) -> Row {
    Row {
        bits,
        op,
        text,
        plain: "",
        rule: |_| true,
        sets: Sets::Never,
        kind: None,
        base: None,
        times: 1,
        into_n: false,
        same_as_d: None,
        before: false,
        back: false,
    }
}

impl Row {
    /// Registers that may be neither 13 nor 15.
    pub const fn plain(mut self, letters: &'static str) -> Row {
        self.plain = letters;
        self
    }
    /// What must hold besides.
    pub const fn only(mut self, rule: fn(&Instruction) -> bool) -> Row {
        self.rule = rule;
        self
    }
    pub const fn sets(mut self) -> Row {
        self.sets = Sets::Always;
        self
    }
    pub const fn outside(mut self) -> Row {
        self.sets = Sets::OutsideIt;
        self
    }
    /// Shifted that way: 0 left, 1 right, 2 right with the sign.
    pub const fn kind(mut self, kind: u8) -> Row {
        self.kind = Some(kind);
        self
    }
    pub const fn base(mut self, n: u8) -> Row {
        self.base = Some(n);
        self
    }
    pub const fn times(mut self, n: i64) -> Row {
        self.times = n;
        self
    }
    /// The destination is operand n.
    pub const fn into_n(mut self) -> Row {
        self.into_n = true;
        self
    }
    /// That operand (n or m) is the destination.
    pub const fn same_as_d(mut self, operand: char) -> Row {
        self.same_as_d = Some(operand);
        self
    }
    /// The offset is added before the access.
    pub const fn before(mut self) -> Row {
        self.before = true;
        self
    }
    /// The base is written back.
    pub const fn back(mut self) -> Row {
        self.back = true;
        self
    }
}

impl Row {
    /// Whether one register stands in two fields.
    #[cfg(test)]
    pub fn names_twice(&self) -> bool {
        matches!(
            self.op,
            Op::Reverse | Op::ReverseHalves | Op::ReverseLow | Op::ReverseBits | Op::LeadingZeros
        )
    }
}

/// A pattern, read.
pub(crate) struct Parsed {
    pub mask: u32,
    pub value: u32,
    #[cfg(test)]
    length: u32,
    /// Fields: the letter and its runs of bits, the highest first: lowest bit and length.
    fields: Vec<(char, Vec<(u32, u32)>)>,
}

impl Parsed {
    pub fn of(row: &Row) -> Parsed {
        let bits: Vec<char> = row.bits.chars().filter(|c| *c != ' ').collect();
        assert!(bits.len() == 16 || bits.len() == 32, "{} has {} bits", row.text, bits.len());
        let mut parsed = Parsed {
            mask: 0,
            value: 0,
            #[cfg(test)]
            length: bits.len() as u32,
            fields: Vec::new(),
        };
        let mut last = ' ';
        for (i, &c) in bits.iter().enumerate() {
            let at = (bits.len() - 1 - i) as u32;
            match c {
                '0' | '1' => {
                    parsed.mask |= 1 << at;
                    parsed.value |= u32::from(c == '1') << at;
                }
                _ => {
                    let known = parsed.fields.iter().position(|f| f.0 == c);
                    let known = known.unwrap_or_else(|| {
                        parsed.fields.push((c, Vec::new()));
                        parsed.fields.len() - 1
                    });
                    let runs = &mut parsed.fields[known].1;
                    match runs.last_mut() {
                        Some(run) if c == last => *run = (at, run.1 + 1),
                        _ => runs.push((at, 1)),
                    }
                }
            }
            last = c;
        }
        parsed
    }

    /// The value of a field, if the pattern has it.
    pub fn field(&self, letter: char, word: u32) -> Option<u32> {
        let runs = &self.fields.iter().find(|f| f.0 == letter)?.1;
        let part = |&(at, length): &(u32, u32)| word >> at & ((1 << length) - 1);
        Some(runs.iter().fold(0, |value, run| value << run.1 | part(run)))
    }

    /// Bits of a field; 0 if the pattern does not have it.
    pub fn width(&self, letter: char) -> u32 {
        let runs = self.fields.iter().find(|f| f.0 == letter);
        runs.map_or(0, |f| f.1.iter().map(|run| run.1).sum())
    }

    /// The word with that field; what does not fit is dropped, a field that is not there changes nothing.
    #[cfg(test)]
    pub fn with(&self, letter: char, value: u32, word: u32) -> u32 {
        let runs = self.fields.iter().find(|f| f.0 == letter).map_or(&[][..], |f| &f.1);
        let (mut word, mut left) = (word, value);
        for &(at, length) in runs.iter().rev() {
            let mask = ((1u32 << length) - 1) << at;
            word = word & !mask | left << at & mask;
            left >>= length;
        }
        word
    }

    /// Bits of the whole pattern.
    #[cfg(test)]
    pub fn length(&self) -> u32 {
        self.length
    }
}
