//! What an object's property note promises of its control flow [GNU property notes; AAELF64 §6.2].
//!
//! If all objects of a program promise it, the program runs with the check turned on. Then the
//! processor stops code that breaks the promise. An object without a note turns the check off for
//! the program.

use super::Architecture;
use super::elf::{self, File, damaged};
use super::linked;
use crate::error::ObjectError;

/// What is checked at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Promises {
    /// Indirect jumps and calls land on instructions that say so: BTI on AArch64, IBT on x86-64.
    pub landing: bool,
    /// Returns go where the calls were made: SHSTK on x86-64.
    pub returns: bool,
}

/// `GNU_PROPERTY_AARCH64_FEATURE_1_AND` and `GNU_PROPERTY_X86_FEATURE_1_AND`.
const FEATURES: [(Architecture, u32); 2] =
    [(Architecture::AArch64, 0xc000_0000), (Architecture::X86_64, 0xc000_0002)];
/// `NT_GNU_PROPERTY_TYPE_0`.
const KIND: u32 = 5;

/// The promises of a file.
///
/// # Errors
/// A note that is damaged: linkers drop it, or not.
pub(crate) fn read(file: &File<'_>) -> Result<Promises, ObjectError> {
    let mut promises = Promises::default();
    let Some(&(_, wanted)) = FEATURES.iter().find(|f| f.0 == file.architecture) else {
        return Ok(promises);
    };
    let mut promise = |bits: u32| {
        promises.landing |= bits & 1 != 0;
        promises.returns |= bits & 2 != 0 && file.architecture == Architecture::X86_64;
    };
    if file.kind != elf::ET_REL {
        if let Some(note) = linked::property(file)? {
            let bits = features(note, wanted);
            promise(bits.ok_or_else(|| damaged("segments", 0, "a property note that is damaged"))?);
        }
        return Ok(promises);
    }
    for h in &file.sections {
        if h.kind != elf::SHT_NOTE || h.name != ".note.gnu.property" {
            continue;
        }
        let bits = features(file.content(h)?, wanted)
            .ok_or_else(|| damaged(&h.name, 0, "a property note that is damaged"))?;
        promise(bits);
    }
    Ok(promises)
}

/// All features of a section of notes; [`None`] where one is cut off or no property note.
fn features(mut notes: &[u8], wanted: u32) -> Option<u32> {
    let mut found = 0;
    while !notes.is_empty() {
        let head = take(&mut notes, 16)?;
        let (name, size, kind) = (word(head, 0)?, word(head, 4)?, word(head, 8)?);
        if name != 4 || kind != KIND || &head[12..] != b"GNU\0" {
            return None;
        }
        let mut properties = take(&mut notes, size as usize)?;
        while !properties.is_empty() {
            let head = take(&mut properties, 8)?;
            let size = word(head, 4)? as usize;
            let data = take(&mut properties, size)?;
            take(&mut properties, size.next_multiple_of(8) - size)?;
            if word(head, 0)? == wanted {
                found |= word(data, 0).filter(|_| size == 4)?;
            }
        }
    }
    Some(found)
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(first)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
