//! Thumb-2: an instruction is one or two halves of a word; a mutant has as many. What it is called is read by the
//! decoder of the prover's front end, which refuses what no processor would execute as it stands.

mod mistakes;

use crate::mutant::{Change, Class, Mutant, Mutants, Patch};
use crate::object::Function;
use ringforge_machine::Object;

/// An instruction of a function.
struct Place {
    /// From the function's start.
    offset: usize,
    /// Its halves, the first one highest.
    word: u32,
    wide: bool,
}

/// The instructions of a function: where symbols say that no code stands, there is none.
fn places(bytes: &[u8], function: &Function) -> Vec<Place> {
    let mut all = Vec::new();
    let half =
        |at: usize| Some(u32::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    let mut offset = 0;
    while let Some(first) = half(offset) {
        if function.data.iter().any(|range| range.contains(&(function.file + offset))) {
            offset += 2;
            continue;
        }
        let wide = first >> 11 >= 0b11101;
        let Some(word) =
            (if wide { half(offset + 2).map(|h| first << 16 | h) } else { Some(first) })
        else {
            break;
        };
        all.push(Place { offset, word, wide });
        offset += if wide { 4 } else { 2 };
    }
    all
}

/// The bytes of a word.
fn bytes(word: u32, wide: bool) -> Vec<u8> {
    let [high, low] = [word >> 16, word].map(|half| (half as u16).to_le_bytes());
    if wide { [high, low].concat() } else { low.to_vec() }
}

/// Every mutant of every instruction of a function.
pub fn function_mutants(object: &[u8], function: &Function, all: &mut Mutants) {
    let code = &object[function.file..function.file + function.length];
    for place in places(code, function) {
        let at = function.file + place.offset;
        let text = |object: &[u8]| {
            let object = Object::parse(object).ok()?;
            let start = object.functions().find(|f| f.name == function.name)?.address;
            object.disassemble(start + place.offset as u64)
        };
        // What is no instruction to the front end is refused as it is.
        let Some(before) = text(object) else { continue };
        for (class, new) in variants(&place) {
            let patch = Patch { at, bytes: bytes(new, place.wide) };
            let mut patched = object.to_vec();
            patched[at..at + patch.bytes.len()].copy_from_slice(&patch.bytes);
            let Some(after) = text(&patched) else { continue };
            let name = &function.name;
            all.made.push(Mutant {
                class,
                what: format!("{name}+{:#x}: `{before}` becomes `{after}`", place.offset),
                change: Change::Object(vec![patch]),
            });
        }
    }
}

/// All variants of one instruction. Two of the same bits are one.
fn variants(place: &Place) -> Vec<(Class, u32)> {
    let &Place { word, wide, .. } = place;
    let table = if wide { mistakes::WIDE } else { mistakes::NARROW };
    let mut words: Vec<(Class, u32)> =
        table.iter().filter_map(|m| Some((m.class, m.of(word)?))).collect();
    let is = |&(mask, value): &(u32, u32)| word & mask == value;
    if mistakes::STORES[usize::from(wide)].iter().any(is) {
        words.push((Class::StoreDropped, mistakes::NOP[usize::from(wide)]));
    }
    if !wide && word & 0xff00 == 0xbf00 && word & 15 != 0 {
        // The first condition, and whether others are the same or the opposite: all but the lowest bit set.
        let length = (word & 15) & (word & 15).wrapping_neg();
        words.push((Class::Condition, word ^ 0x10 ^ (0xf & !(2 * length - 1))));
    }
    for (operands, class) in
        mistakes::OPERANDS.iter().zip([Class::Register, Class::MultiplyOperand])
    {
        if wide && is(operands) {
            for shift in [0, 16] {
                let next = (word >> shift & 15) + 1;
                words.push((class, word & !(15 << shift) | (next & 15) << shift));
            }
            let (n, m) = (word >> 16 & 15, word & 15);
            if class == Class::Register && word & 0x0040_0000 != 0 {
                words.push((Class::OperandOrder, word & !0xf_000f | m << 16 | n));
            }
        }
    }
    let mut out: Vec<(Class, u32)> = Vec::new();
    for (class, new) in words {
        if new != word && !out.iter().any(|&(_, other)| other == new) {
            out.push((class, new));
        }
    }
    out
}

#[cfg(test)]
mod tests;
