//! Words of AArch64 as the decoder reads them, beside LLVM's reading.

use fARM64::{Decoder, DecoderOptions, FeatureSet, Instruction, Mnemonic};
use std::collections::BTreeSet;

/// The instruction of a word, of the base architecture.
pub fn decode(word: u32) -> Option<Instruction> {
    let options = DecoderOptions { features: FeatureSet::BASE };
    let ins = Decoder::new(&word.to_le_bytes(), 0, options).decode();
    (!ins.is_invalid()).then_some(ins)
}

/// A word as text.
pub fn text(word: u32) -> String {
    let mut buffer = [0; 160];
    let mut sink = fARM64::format::BufSink::new(&mut buffer);
    let formatter = fARM64::format::FmtFormatter::new();
    fARM64::Formatter::format(&formatter, &decode(word).expect("it was decoded"), &mut sink);
    sink.as_str().to_string()
}

/// Bits that processors ignore in some encodings, where assemblers write zero: of DUP and INS those above
/// the lane's size and below its index, of masks the turns by more than their period.
fn ignored(word: u32) -> u32 {
    match decode(word).expect("it was decoded").mnemonic() {
        Mnemonic::Dup => 0x001f_0000,
        Mnemonic::Ins | Mnemonic::Umov | Mnemonic::Smov => 0x001f_7800,
        Mnemonic::Mov if word >> 21 & 0xff == 0x70 => 0x001f_7800,
        _ if word >> 23 & 0x3f == 0x24 => 0x003f_0000,
        _ => 0,
    }
}

/// A mask that a move of a wide immediate makes as well, which assemblers prefer: `orr x24, xzr, #imm` and
/// `movn` are both printed as a `mov`, of the same value.
fn same_move(word: u32, again: u32) -> bool {
    let mask = word >> 23 & 0xff == 0x64 && word >> 5 & 31 == 31;
    let wide = again >> 23 & 0x3f == 0x25;
    mask && wide && text(word) == text(again)
}

/// The decoder reads words as another assembler means them: printed and assembled by LLVM they are the
/// same words.
pub fn read_alike(clang: &str, words: &BTreeSet<u32>) -> Vec<String> {
    let lines: Vec<String> = words.iter().map(|&w| text(w)).collect();
    let source = format!(".text\n{}\n", lines.join("\n"));
    let flags = ["--target=aarch64-linux-gnu", "-march=armv8-a"];
    let object = super::compile(clang, "s", &source, &flags);
    let code = super::elf::content(&object, ".text");
    assert_eq!(code.len(), 4 * words.len(), "one word for each line");
    let again = code.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")));
    words
        .iter()
        .zip(&lines)
        .zip(again)
        .filter(|((word, _), again)| {
            (*word ^ again) & !ignored(**word) != 0 && !same_move(**word, *again)
        })
        .map(|((word, line), again)| {
            format!("{word:08x} is read as `{line}`, which is assembled to {again:08x}")
        })
        .collect()
}
