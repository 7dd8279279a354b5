//! Decoding and printing.

use crate::object::Object;
use iced_x86::{ConstantOffsets, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};

/// The instruction at an offset of a section, and where in it displacement and immediate stand.
pub(super) fn decode(
    object: &Object,
    section: usize,
    offset: u64,
) -> Option<(Instruction, ConstantOffsets)> {
    let s = &object.sections[section];
    let bytes = s.data.get(offset as usize..)?;
    let bytes = &bytes[..bytes.len().min(15)];
    let mut decoder = Decoder::with_ip(64, bytes, s.address + offset, DecoderOptions::NONE);
    if !decoder.can_decode() {
        return None;
    }
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        return None;
    }
    let constants = decoder.get_constant_offsets(&instruction);
    Some((instruction, constants))
}

/// It as text, Intel syntax, and its bytes.
pub(crate) fn disassemble(object: &Object, section: usize, offset: u64) -> Option<(String, usize)> {
    let instruction = decode(object, section, offset)?.0;
    let mut text = String::new();
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_space_after_operand_separator(true);
    options.set_rip_relative_addresses(true);
    formatter.format(&instruction, &mut text);
    Some((text, instruction.len()))
}
