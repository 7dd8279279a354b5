//! Fields of a word that are changed: registers, element indices, immediates, sizes, conditions.

use super::{NOP, decode};
use crate::mutant::Class;
use fARM64::{Instruction, Operand};

/// The words that differ in one field.
pub fn of(word: u32, old: &Instruction, relocated: bool) -> Vec<(Class, u32)> {
    let mut out = Vec::new();
    registers(word, old, &mut out);
    order(word, old, &mut out);
    indices(word, old, &mut out);
    sizes(word, old, &mut out);
    dropped(word, old, &mut out);
    if let Some(new) = unrestored(word) {
        out.push((Class::CalleeSaved, new));
    }
    if !relocated {
        immediates(word, old, &mut out);
        conditions(word, old, &mut out);
    }
    out
}

/// A word with a number added to `bits` bits from `shift` on, modulo 2^bits.
fn plus(word: u32, shift: u32, bits: u32, by: i32) -> u32 {
    let mask = ((1u32 << bits) - 1) << shift;
    let sum = (word & mask).wrapping_add((by as u32) << shift);
    word & !mask | sum & mask
}

/// The operand in which two instructions of one name differ, if they differ in no other.
fn difference(word: u32, old: &Instruction) -> Option<(usize, Operand)> {
    let new = decode(word, old.ip())?;
    if new.mnemonic() != old.mnemonic() || new.op_count() != old.op_count() {
        return None;
    }
    let mut differ = (0..new.op_count()).filter(|&k| new.op(k) != old.op(k));
    let k = differ.next()?;
    differ.next().is_none().then(|| (k, new.op(k)))
}

fn is_multiply(name: &str) -> bool {
    name.contains("mul")
        || ["mla", "mls", "madd", "msub"].iter().any(|m| name.contains(m))
        || ["smla", "smls", "umla", "umls", "sqdmla", "sqdmls"].iter().any(|m| name.starts_with(m))
}

fn is_vector(old: &Instruction) -> bool {
    (0..old.op_count()).any(|k| match old.op(k) {
        Operand::Reg { reg, .. } => reg.is_simd(),
        Operand::MultiReg { .. } => true,
        _ => false,
    })
}

/// A source register replaced by its neighbour; what a load from the stack restores, too.
fn registers(word: u32, old: &Instruction, out: &mut Vec<(Class, u32)>) {
    let name = old.mnemonic().name();
    let from_stack = name.starts_with("ld") && word >> 5 & 31 == 31;
    let stores = name.starts_with("st");
    for (shift, bits) in [(0, 5), (5, 5), (10, 5), (16, 4), (16, 5)] {
        if shift == 0 && !from_stack && !stores {
            continue;
        }
        // Loading one register twice is no instruction: of pairs, the first by two.
        let pair = word & 0x3a00_0000 == 0x2800_0000;
        let new = plus(word, shift, bits, if pair && shift == 0 { 2 } else { 1 });
        let is_register = |operand: Operand| {
            matches!(
                operand,
                Operand::Reg { .. }
                    | Operand::MultiReg { .. }
                    | Operand::MemImm { .. }
                    | Operand::MemExt { .. }
            )
        };
        if difference(new, old).is_none_or(|(_, operand)| !is_register(operand)) {
            continue;
        }
        // A field of a memory operand may be its offset.
        if shift >= 10
            && !matches!(
                difference(new, old),
                Some((_, Operand::Reg { .. } | Operand::MemExt { .. }))
            )
        {
            continue;
        }
        let class = match () {
            () if shift == 0 && from_stack => Class::Restore,
            () if is_multiply(name) => Class::MultiplyOperand,
            () => Class::Register,
        };
        out.push((class, new));
    }
}

/// Both sources exchanged where their order matters.
fn order(word: u32, old: &Instruction, out: &mut Vec<(Class, u32)>) {
    const ORDERED: [&str; 22] = [
        "sub", "subs", "sqsub", "shsub", "zip1", "zip2", "uzp1", "uzp2", "trn1", "trn2", "ext",
        "cmgt", "cmge", "cmhi", "cmhs", "sshl", "ushl", "bsl", "bic", "orn", "csel", "addp",
    ];
    let (n, m) = (word >> 5 & 31, word >> 16 & 31);
    if ORDERED.contains(&old.mnemonic().name()) && n != m {
        let new = word & !(31 << 5 | 31 << 16) | m << 5 | n << 16;
        let same = |new: Instruction| new.mnemonic() == old.mnemonic();
        if decode(new, old.ip()).is_some_and(same) {
            out.push((Class::OperandOrder, new));
        }
    }
}

/// The index of an element: bits 11, 20 and 21 of products by an element, 11 to 14 and 16 to 20 of moves.
fn indices(word: u32, old: &Instruction, out: &mut Vec<(Class, u32)>) {
    for bit in (11..15).chain(16..22) {
        let new = word ^ 1 << bit;
        let Some((k, after)) = difference(new, old) else { continue };
        let (
            Operand::Reg { reg, lane: Some(a), .. },
            Operand::Reg { reg: same, lane: Some(b), .. },
        ) = (old.op(k), after)
        else {
            continue;
        };
        if reg == same && a != b {
            out.push((Class::ElementIndex, new));
        }
    }
}

/// Other elements, half of the vector, the other half.
fn sizes(word: u32, old: &Instruction, out: &mut Vec<(Class, u32)>) {
    if !is_vector(old) {
        return;
    }
    let name = old.mnemonic().name();
    let without = |name: &str| name.trim_end_matches('2').to_owned();
    for (class, new) in [
        (Class::VectorLength, word ^ 1 << 30),
        (Class::ElementWidth, plus(word, 22, 2, 1)),
        (Class::ElementWidth, plus(word, 22, 2, -1)),
    ] {
        let Some(decoded) = decode(new, old.ip()) else { continue };
        let other = decoded.mnemonic().name();
        if other == name || class == Class::VectorLength && without(other) == without(name) {
            out.push((class, new));
        }
    }
}

/// Where instructions have immediates: which words they are (mask and value), the field's lowest bit and length,
/// the class of a change.
static IMMEDIATES: [(u32, u32, u32, u32, Class); 10] = [
    (0x3b00_0000, 0x3900_0000, 10, 12, Class::Displacement), // scaled offset
    (0x3b20_0000, 0x3800_0000, 12, 9, Class::Displacement),  // unscaled, before or after
    (0x3a00_0000, 0x2800_0000, 15, 7, Class::Displacement),  // pairs
    (0x3f80_0000, 0x1100_0000, 10, 12, Class::Displacement), // sums, of addresses mostly
    (0x3f80_0000, 0x3100_0000, 10, 12, Class::LoopBound),    // sums that set flags
    (0x1f80_0000, 0x1280_0000, 5, 16, Class::ImmediateConstant),
    (0x9ff8_0400, 0x0f00_0400, 5, 5, Class::ImmediateConstant), // of vectors
    (0x1f80_0000, 0x1300_0000, 16, 6, Class::ShiftCount),       // of bit fields
    (0x9f80_0400, 0x0f00_0400, 16, 7, Class::ShiftCount),
    (0xbfe0_8400, 0x2e00_0000, 11, 4, Class::Shuffle), // `ext`
];

/// One more, one less.
fn immediates(word: u32, old: &Instruction, out: &mut Vec<(Class, u32)>) {
    let Some(&(.., shift, bits, class)) =
        IMMEDIATES.iter().find(|(mask, value, ..)| word & mask == *value)
    else {
        return;
    };
    // The frame's own additions belong to no computation.
    if class == Class::Displacement && word & 0x1f00_001f == 0x1100_001f {
        return;
    }
    for by in [1, -1] {
        let new = plus(word, shift, bits, by);
        if difference(new, old).is_some() {
            out.push((class, new));
        }
    }
}

/// Conditions inverted: of branches, and of selections.
fn conditions(word: u32, old: &Instruction, out: &mut Vec<(Class, u32)>) {
    let always = |condition: u32| condition & 14 == 14;
    if word & 0xff00_0010 == 0x5400_0000 && !always(word) {
        out.push((Class::Condition, word ^ 1));
    }
    if word & 0x1fe0_0000 == 0x1a80_0000
        && !always(word >> 12)
        && decode(word ^ 1 << 12, old.ip()).is_some()
    {
        out.push((Class::Condition, word ^ 1 << 12));
    }
}

/// Stores left out, and the ends of reductions.
fn dropped(word: u32, old: &Instruction, out: &mut Vec<(Class, u32)>) {
    let name = old.mnemonic().name();
    if name.starts_with("st") {
        out.push((Class::StoreDropped, NOP));
    }
    if !is_vector(old) {
        return;
    }
    if name.starts_with("mls") || name.starts_with("smlsl") {
        out.push((Class::SubtractionDropped, NOP));
    }
    if name == "sub" && word & 1 << 30 != 0 {
        // mov vd.16b, vn.16b
        let (d, n) = (word & 31, word >> 5 & 31);
        out.push((Class::SubtractionDropped, 0x4ea0_1c00 | n << 16 | n << 5 | d));
    }
}

/// Where a word says how far a register is moved: lowest bit, length, unit.
type Distance = (u32, u32, u32);

/// Loads of x and d registers, one or two, from the stack (mask and value): with the address as it is, and with the stack
/// pointer moved afterwards.
static RESTORES: [(u32, u32, Option<Distance>); 8] = [
    (0xffc0_0000, 0xa940_0000, None),
    (0xffc0_0000, 0x6d40_0000, None),
    (0xffc0_0000, 0xf940_0000, None),
    (0xffc0_0000, 0xfd40_0000, None),
    (0xffc0_0000, 0xa8c0_0000, Some((15, 7, 8))),
    (0xffc0_0000, 0x6cc0_0000, Some((15, 7, 8))),
    (0xffe0_0c00, 0xf840_0400, Some((12, 9, 1))),
    (0xffe0_0c00, 0xfc40_0400, Some((12, 9, 1))),
];

/// What loads a register of the caller from the stack left out; the stack pointer is moved all the same.
fn unrestored(word: u32) -> Option<u32> {
    let (.., moves) = RESTORES.iter().find(|(mask, value, _)| word & mask == *value)?;
    let saved = if word & 1 << 26 == 0 { 19..=29 } else { 8..=15 };
    if word >> 5 & 31 != 31 || !saved.contains(&(word & 31)) {
        return None;
    }
    let Some((shift, bits, unit)) = *moves else { return Some(NOP) };
    let distance = word >> shift & ((1 << bits) - 1);
    // Upwards: `add sp, sp, #distance`.
    (distance >> (bits - 1) == 0).then_some(0x9100_03ff | (distance * unit) << 10)
}
