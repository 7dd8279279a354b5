//! Decoding, printing, counting.

use crate::lifted::Class;
use crate::object::Object;
use fARM64::format::{BufSink, FmtFormatter};
use fARM64::{
    Decoder, DecoderOptions, Feature, FeatureSet, Formatter, Instruction, Mnemonic as M, Operand,
};

/// Words of pointer authentication that are on the list: PACIASP, PACIBSP, AUTIASP, AUTIBSP, RETAA, RETAB.
const SIGNING: [u32; 6] =
    [0xd503_233f, 0xd503_237f, 0xd503_23bf, 0xd503_23ff, 0xd65f_0bff, 0xd65f_0fff];

/// The instruction at an offset of a section: of the base architecture, and those that sign return addresses.
pub(super) fn decode(object: &Object, section: usize, offset: u64) -> Option<Instruction> {
    let s = &object.sections[section];
    let start = usize::try_from(offset).ok()?;
    let bytes = s.data.get(start..start.checked_add(4)?)?;
    if !offset.is_multiple_of(4) {
        return None;
    }
    let signs = SIGNING.contains(&u32::from_le_bytes(bytes.try_into().ok()?));
    let features = if signs { FeatureSet::BASE.with(Feature::PAuth) } else { FeatureSet::BASE };
    let options = DecoderOptions { features };
    let ins = Decoder::new(bytes, s.address + offset, options).decode();
    // The decoder does not look at op1 of hints: with another than 3 the word is no instruction.
    let hint = matches!(ins.mnemonic(), M::Nop | M::Bti | M::Csdb);
    let whole = !hint || ins.word() & 0xffff_f01f == 0xd503_201f;
    (!ins.is_invalid() && whole).then_some(ins)
}

/// It as text.
pub(crate) fn disassemble(object: &Object, section: usize, offset: u64) -> Option<(String, usize)> {
    let ins = decode(object, section, offset)?;
    let mut buffer = [0; 160];
    let mut sink = BufSink::new(&mut buffer);
    FmtFormatter::new().format(&ins, &mut sink);
    Some((sink.as_str().to_string(), 4))
}

/// Whether an operand is a vector register, in any of its widths.
pub(super) fn is_vector(ins: &Instruction) -> bool {
    (0..ins.op_count()).any(|i| match ins.op(i) {
        Operand::Reg { reg, .. } => reg.is_simd(),
        Operand::MultiReg { .. } => true,
        _ => false,
    })
}

/// The class of an instruction, for counting.
pub(super) fn classify(ins: &Instruction) -> Class {
    let name = format!("{:?}", ins.mnemonic()).to_ascii_lowercase();
    let starts = |list: &[&str]| list.iter().any(|p| name.starts_with(p));
    let vector = is_vector(ins);
    match ins.mnemonic() {
        M::B | M::Bl | M::Br | M::Blr | M::Ret | M::Cbz | M::Cbnz | M::Tbz | M::Tbnz => {
            return Class::Branch;
        }
        M::Retaa | M::Retab => return Class::Branch,
        M::Nop | M::Bti | M::Prfm | M::Prfum | M::Csdb => return Class::Other,
        M::Paciasp | M::Pacibsp | M::Autiasp | M::Autibsp => return Class::Other,
        _ => {}
    }
    match (vector, starts(&["ld"]), starts(&["st"])) {
        (false, true, _) => Class::ScalarLoad,
        (false, _, true) => Class::ScalarStore,
        (false, ..) => Class::Scalar,
        (true, true, _) => Class::VectorLoad,
        (true, _, true) => Class::VectorStore,
        _ if name.contains("mul")
            || starts(&["mla", "mls", "smlal", "smlsl", "umlal", "umlsl"]) =>
        {
            Class::VectorMultiply
        }
        _ if starts(&["sshr", "ushr", "srshr", "urshr", "shl", "sshl", "ushl", "ssra", "usra"]) => {
            Class::VectorShift
        }
        _ if starts(&[
            "uzp", "zip", "trn", "ext", "rev", "tbl", "tbx", "dup", "ins", "umov", "smov", "xtn",
            "sqxt", "uqxt", "shrn", "rshrn", "sxtl", "uxtl",
        ]) =>
        {
            Class::Shuffle
        }
        _ if starts(&["mov", "fmov"]) => Class::VectorMove,
        _ => Class::VectorArithmetic,
    }
}
