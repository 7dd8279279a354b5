//! Decoding of Thumb-2 with the DSP extension, as in the processors Cortex-M4 and M7, from two tables.
//!
//! A row of a table is a pattern of bits [ARMv7M §A7.7], what it means, and how it is printed. What no row
//! matches, and what a row's side conditions say is UNPREDICTABLE, is refused. Bits that should be zero or
//! one are part of the pattern. Tests compare every word of 16 bits and many of 32 with LLVM's reading.

#[cfg(test)]
mod llvm_tests;
mod narrow;
mod print;
mod row;
mod wide;

use super::operation::{Op, Second};
use crate::core::bits::Shift;
use row::{Parsed, Row};
use std::sync::OnceLock;

/// Whether an instruction sets the flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Sets {
    #[default]
    Never,
    Always,
    /// Only where it stands in no IT block.
    OutsideIt,
}

/// How a register's value is moved before it is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moved {
    /// By so many bits: 0 to 31 to the left, 1 to 32 to the right.
    By(Shift, u8),
    /// Rotated to the right by 1 to 31 bits.
    Rotated(u8),
    /// Rotated by one bit through the carry.
    ThroughCarry,
}

impl Default for Moved {
    fn default() -> Moved {
        Moved::By(Shift::Left, 0)
    }
}

/// A decoded instruction. Which fields mean something, its operation says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Instruction {
    pub op: Op,
    /// Its halfwords, the first one highest; of a narrow one the only one.
    pub word: u32,
    /// Bytes: 2 or 4.
    pub length: u8,
    pub sets: Sets,
    /// Registers: destination, operands, what is accumulated or the low destination, what is moved to
    /// or from memory (two).
    pub d: u8,
    pub n: u8,
    pub m: u8,
    pub a: u8,
    pub t: u8,
    pub u: u8,
    /// The immediate, as a value: an operand, an offset (also of a branch, from its own address plus 4).
    pub immediate: i64,
    /// Whether an offset is subtracted.
    pub minus: bool,
    /// The carry that an expanded immediate makes.
    pub carry: Option<bool>,
    /// How `m` (of saturations `n`) is moved.
    pub moved: Moved,
    /// Condition of a branch or of an IT block.
    pub condition: u8,
    /// Registers of a list, one bit each.
    pub list: u16,
    /// Address: adds the offset before the access; writes the base back.
    pub before: bool,
    pub back: bool,
    /// Upper halves of `n` and `m`. For products of pairs, x says that the halves of `m` are
    /// swapped. For upper words, r (here x as well) says that they are rounded.
    pub x: bool,
    pub y: bool,
    /// Bytes by which an extension rotates first.
    pub turn: u8,
    /// Last field of bit fields and saturations: a width, or the highest bit. For moves of
    /// floating-point registers, the first register of 32 bits.
    pub last: u8,
    row: u16,
    is_wide: bool,
}

/// Why a word is not decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// No row has it.
    Unlisted,
    /// A row has it, but the architecture does not say what it does, or it is not modelled here.
    Condition(&'static str),
    /// The section ends within it.
    CutOff,
}

/// Rows with their patterns, narrow and wide ones.
fn tables() -> &'static [Vec<(Row, Parsed)>; 2] {
    static TABLES: OnceLock<[Vec<(Row, Parsed)>; 2]> = OnceLock::new();
    let read = |rows: &[Row]| rows.iter().map(|r| (*r, Parsed::of(r))).collect();
    TABLES.get_or_init(|| [read(narrow::ROWS), read(&wide::rows())])
}

/// All rows with their patterns.
#[cfg(test)]
pub(crate) fn all_rows() -> impl Iterator<Item = &'static (Row, Parsed)> {
    tables().iter().flatten()
}

/// The instruction that starts with these bytes.
pub(crate) fn decode(bytes: &[u8]) -> Result<Instruction, Refused> {
    let half = |at: usize| {
        let pair = bytes.get(at..at + 2).ok_or(Refused::CutOff)?;
        Ok(u32::from(u16::from_le_bytes([pair[0], pair[1]])))
    };
    let first = half(0)?;
    let is_wide = first >> 11 >= 0b11101;
    let word = if is_wide { first << 16 | half(2)? } else { first };
    let table = &tables()[usize::from(is_wide)];
    let found =
        table.iter().position(|(_, p)| word & p.mask == p.value).ok_or(Refused::Unlisted)?;
    let (row, parsed) = &table[found];
    let mut ins = Instruction {
        op: row.op,
        word,
        length: if is_wide { 4 } else { 2 },
        row: found as u16,
        is_wide,
        ..Instruction::default()
    };
    let unsaid = Err(Refused::Condition(row.text));
    if fill(&mut ins, parsed, row).is_none() {
        return unsaid;
    }
    let bad = |letter: char| [13, 15].contains(&parsed.field(letter, word).unwrap_or(0));
    if row.plain.chars().any(bad) || !(row.rule)(&ins) {
        return unsaid;
    }
    Ok(ins)
}

/// Takes the fields out of the word; [`None`] where they are UNPREDICTABLE by themselves.
fn fill(ins: &mut Instruction, parsed: &Parsed, row: &Row) -> Option<()> {
    let word = ins.word;
    let field = |letter: char| parsed.field(letter, word).unwrap_or(0);
    let flag = |letter: char| field(letter) == 1;
    let register = |letter: char, fixed: Option<u8>| fixed.unwrap_or(field(letter) as u8);
    ins.d = register('d', None);
    ins.n = register('n', row.base);
    ins.m = register('m', None);
    ins.a = register('a', None);
    ins.t = register('t', None);
    ins.u = register('u', None);
    if row.into_n {
        ins.d = ins.n;
    }
    match row.same_as_d {
        Some('n') => ins.n = ins.d,
        Some(_) => ins.m = ins.d,
        None => {}
    }
    ins.sets = match parsed.field('s', word) {
        Some(1) => Sets::Always,
        Some(_) => Sets::Never,
        None => row.sets,
    };
    ins.condition = field('c') as u8;
    ins.list = (field('l') | field('L') << 14 | field('P') << 15) as u16;
    (ins.before, ins.back) = (row.before || flag('p'), row.back || flag('w'));
    if row.op == (Op::LoadMany { down: false }) && !ins.is_wide && row.base.is_none() {
        ins.back = ins.list >> ins.n & 1 == 0;
    }
    if matches!(row.op, Op::LoadMany { .. }) && parsed.width('l') == 0 {
        ins.list = 1 << 15;
    }
    (ins.x, ins.y) = (flag('x'), flag('y'));
    ins.turn = field('z') as u8;
    ins.last = field('q') as u8;
    if row.op.is_of_floats() {
        // Four bits, and the lowest one apart; or those of a register of 64 bits.
        ins.last = 2 * ins.last + u8::from(ins.x);
    }
    let i = field('i');
    ins.immediate = match row.op {
        Op::Data(_, Second::Expanded) => {
            let (value, carry) = expanded(i)?;
            ins.carry = carry;
            i64::from(value)
        }
        Op::Wide | Op::Top => i64::from(field('j') << 12 | i),
        Op::Branch | Op::Call | Op::BranchIf => distance(ins, parsed),
        _ => i64::from(i) * row.times,
    };
    if parsed.field('v', word) == Some(0) {
        ins.immediate = -ins.immediate;
        ins.minus = true;
    }
    let kind = row.kind.unwrap_or(field('k') as u8);
    ins.moved = match (kind, i as u8) {
        (0, n) => Moved::By(Shift::Left, n),
        (1, 0) => Moved::By(Shift::Logical, 32),
        (1, n) => Moved::By(Shift::Logical, n),
        (2, 0) => Moved::By(Shift::Arithmetic, 32),
        (2, n) => Moved::By(Shift::Arithmetic, n),
        (_, 0) => Moved::ThroughCarry,
        (_, n) => Moved::Rotated(n),
    };
    Some(())
}

/// How far a branch goes, from its own address plus 4.
fn distance(ins: &Instruction, parsed: &Parsed) -> i64 {
    let word = ins.word;
    let field = |letter: char| parsed.field(letter, word).unwrap_or(0);
    let signed = |value: u32, bits: u32| i64::from((value << (32 - bits)) as i32 >> (32 - bits));
    match (parsed.width('i'), ins.is_wide) {
        (8, false) => signed(field('i') << 1, 9),
        (11, false) => signed(field('i') << 1, 12),
        // Conditional: S:J2:J1:imm6:imm11
        (6, true) => {
            let top = field('h') << 2 | field('y') << 1 | field('x');
            signed((top << 17 | field('i') << 11 | field('j')) << 1, 21)
        }
        // S:I1:I2:imm10:imm11, where I is J if S, else its inverse
        _ => {
            let s = field('h');
            let (i1, i2) = (field('x') ^ s ^ 1, field('y') ^ s ^ 1);
            let top = s << 2 | i1 << 1 | i2;
            signed((top << 21 | field('i') << 11 | field('j')) << 1, 25)
        }
    }
}

/// An immediate of 12 bits: its value and its carry, if it makes one [ARMv7M §A5.3.2].
fn expanded(i: u32) -> Option<(u32, Option<bool>)> {
    let byte = i & 0xff;
    let value = match i >> 8 {
        0 => byte,
        _ if i >> 10 == 0 && byte == 0 => return None,
        1 => byte << 16 | byte,
        2 => byte << 24 | byte << 8,
        3 => byte * 0x0101_0101,
        _ => {
            let value = (i & 0x7f | 0x80).rotate_right(i >> 7);
            return Some((value, Some(value >> 31 == 1)));
        }
    };
    Some((value, None))
}
