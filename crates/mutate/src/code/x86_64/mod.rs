//! x86-64: each instruction is decoded, changed, encoded again, and kept only if what stands there
//! afterwards decodes to what was meant, in no more bytes than before.

mod operators;
mod rename;

use crate::mutant::{Change, Mutant, Mutants, Patch};
use crate::object::Function;
use iced_x86::{
    Code, Decoder, DecoderOptions, Encoder, Formatter, Instruction, IntelFormatter, OpKind,
};

/// What an instruction becomes.
#[derive(Clone, Debug, PartialEq)]
enum New {
    /// Another instruction.
    Instruction(Instruction),
    /// No operation.
    Nothing,
    /// The same bytes but for these: for forms that the encoder has no name for.
    Bytes(Vec<u8>),
    /// The same instruction, its relocated operand moved by so many bytes.
    Moved(i64),
}

/// The instructions of a function with their places in it.
fn decode(object: &[u8], function: &Function) -> Vec<Instruction> {
    let bytes = &object[function.file..function.file + function.length];
    let mut decoder = Decoder::with_ip(64, bytes, function.address, DecoderOptions::NONE);
    decoder.iter().collect()
}

fn text(instruction: &Instruction) -> String {
    let mut out = String::new();
    IntelFormatter::new().format(instruction, &mut out);
    out
}

/// Every mutant of every instruction of a function.
pub fn function_mutants(object: &[u8], function: &Function, all: &mut Mutants) {
    let code = decode(object, function);
    for (i, old) in code.iter().enumerate() {
        let at = function.file + (old.ip() - function.address) as usize;
        let place = Place { object, function, at, old };
        for (class, new) in operators::variants(&code, i, place.bytes(), place.relocated()) {
            let made = new.and_then(|new| Some((place.patch(&new)?, place.describe(&new))));
            match made {
                Some((patch, after)) => all.made.push(Mutant {
                    class,
                    what: format!(
                        "{}+{:#x}: `{}` becomes `{after}`",
                        function.name,
                        old.ip() - function.address,
                        text(old)
                    ),
                    change: Change::Object(vec![patch]),
                }),
                None => *all.not_generated.entry(class).or_default() += 1,
            }
        }
    }
}

/// One instruction in the file.
struct Place<'a> {
    object: &'a [u8],
    function: &'a Function,
    at: usize,
    old: &'a Instruction,
}

impl Place<'_> {
    fn bytes(&self) -> &[u8] {
        &self.object[self.at..self.at + self.old.len()]
    }

    /// The relocation inside the instruction, if any: its offset in the instruction, the file
    /// offset of its addend, the addend.
    fn relocation(&self) -> Option<(usize, usize, i64)> {
        self.function.relocation(self.at..self.at + self.old.len())
    }

    fn relocated(&self) -> bool {
        self.relocation().is_some()
    }

    /// The change in the file, if it can be made in place and means what was meant.
    fn patch(&self, new: &New) -> Option<Patch> {
        let bytes = match new {
            New::Moved(by) => {
                let (_, at, addend) = self.relocation()?;
                return Some(Patch { at, bytes: (addend + by).to_le_bytes().to_vec() });
            }
            New::Nothing => self.relocation().is_none().then(Vec::new)?,
            New::Bytes(bytes) => bytes.clone(),
            New::Instruction(new) => self.encode(new)?,
        };
        // Padded with one-byte no-operations; a relocated field must stay where it is.
        let mut padded = bytes.clone();
        padded.resize(self.old.len(), 0x90);
        if padded == self.bytes() {
            return None;
        }
        Some(Patch { at: self.at, bytes: padded })
    }

    fn encode(&self, new: &Instruction) -> Option<Vec<u8>> {
        let mut encoder = Encoder::new(64);
        encoder.encode(new, self.old.ip()).ok()?;
        let field = encoder.get_constant_offsets().displacement_offset();
        let mut bytes = encoder.take_buffer();
        if bytes.len() > self.old.len() {
            return None;
        }
        if let Some((offset, ..)) = self.relocation() {
            if bytes.len() != self.old.len() || (field != offset && !new.is_call_near()) {
                return None;
            }
            bytes[offset..offset + 4].copy_from_slice(&self.bytes()[offset..offset + 4]);
        }
        let decoded = Decoder::with_ip(64, &bytes, self.old.ip(), DecoderOptions::NONE).decode();
        (!decoded.is_invalid() && text(&decoded) == text(new)).then_some(bytes)
    }

    /// The new instruction as text.
    fn describe(&self, new: &New) -> String {
        match new {
            New::Instruction(new) => text(new),
            New::Nothing => "nop".into(),
            New::Moved(by) => format!("{}, {by:+} bytes", text(self.old)),
            New::Bytes(bytes) => {
                let ip = self.old.ip();
                text(&Decoder::with_ip(64, bytes, ip, DecoderOptions::NONE).decode())
            }
        }
    }
}

/// Whether the instruction reads or writes memory through operand `i`.
fn is_memory(instruction: &Instruction, i: u32) -> bool {
    i < instruction.op_count() && instruction.op_kind(i) == OpKind::Memory
}

/// Whether the instruction is one that jumps or returns.
fn is_flow(code: Code) -> bool {
    code.flow_control() != iced_x86::FlowControl::Next
}

#[cfg(test)]
mod tests;
