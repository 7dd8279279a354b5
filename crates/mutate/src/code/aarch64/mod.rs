//! AArch64: every instruction is a word of 32 bits, so a mutant is another word. It is kept only if it decodes
//! as an instruction of the base architecture that differs in what was meant to differ.

mod fields;
mod mistakes;

use crate::mutant::{Change, Class, Mutant, Mutants, Patch};
use crate::object::Function;
use fARM64::format::{BufSink, FmtFormatter};
use fARM64::{Decoder, DecoderOptions, FeatureSet, Formatter, Instruction};

/// `nop`.
const NOP: u32 = 0xd503_201f;

/// What an instruction becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum New {
    /// Another word.
    Word(u32),
    /// The same word, its relocated operand moved by so many bytes.
    Moved(i64),
}

/// A word at an address, decoded.
fn decode(word: u32, address: u64) -> Option<Instruction> {
    let options = DecoderOptions { features: FeatureSet::BASE };
    let ins = Decoder::new(&word.to_le_bytes(), address, options).decode();
    (!ins.is_invalid()).then_some(ins)
}

fn text(ins: &Instruction) -> String {
    let mut buffer = [0; 160];
    let mut sink = BufSink::new(&mut buffer);
    FmtFormatter::new().format(ins, &mut sink);
    sink.as_str().to_owned()
}

/// Every mutant of every instruction of a function.
pub fn function_mutants(object: &[u8], function: &Function, all: &mut Mutants) {
    let bytes = &object[function.file..function.file + function.length];
    for (i, word) in bytes.chunks_exact(4).enumerate() {
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let at = function.file + 4 * i;
        let address = function.address + 4 * i as u64;
        // Literals and padding between instructions are no instructions.
        let Some(old) = decode(word, address) else { continue };
        let relocation = function.relocation(at..at + 4);
        for (class, new) in variants(word, &old, relocation.is_some()) {
            let (patch, after) = match (new, relocation) {
                (New::Word(new), _) => {
                    let Some(decoded) = decode(new, address) else { continue };
                    (Patch { at, bytes: new.to_le_bytes().to_vec() }, text(&decoded))
                }
                (New::Moved(by), Some((_, at, addend))) => (
                    Patch { at, bytes: (addend + by).to_le_bytes().to_vec() },
                    format!("{}, {by:+} bytes", text(&old)),
                ),
                (New::Moved(_), None) => continue,
            };
            all.made.push(Mutant {
                class,
                what: format!("{}+{:#x}: `{}` becomes `{after}`", function.name, 4 * i, text(&old)),
                change: Change::Object(vec![patch]),
            });
        }
    }
}

/// All variants of one instruction. Two of the same bytes are one.
fn variants(word: u32, old: &Instruction, relocated: bool) -> Vec<(Class, New)> {
    let mut words = mistakes::of(word, old);
    words.extend(fields::of(word, old, relocated));
    let mut out: Vec<(Class, New)> = Vec::new();
    for (class, new) in words {
        if new != word && !out.iter().any(|&(_, other)| other == New::Word(new)) {
            out.push((class, New::Word(new)));
        }
    }
    if relocated && !old.mnemonic().name().starts_with('b') {
        // 4096 is a page: what ADRP and its partners must agree on.
        out.extend([2, -2, 16, -16, 4096].map(|by| (Class::Displacement, New::Moved(by))));
    }
    out
}

#[cfg(test)]
mod tests;
