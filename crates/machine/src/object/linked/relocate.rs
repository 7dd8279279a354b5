//! Relocations by the loader.

use super::super::Architecture;
use super::super::elf::{self, Segment};
use super::super::relocations::{Relocation, Type};
use super::super::sections::Section;
use super::super::symbols::{Place, Symbol};
use super::dynamic::{Loader, tag};
use super::segments::{EXECUTE, READ, WRITE};
use super::{Own, place, refuse};
use crate::error::ObjectError;
use rustc_hash::FxHashMap;

/// What the loader writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Write {
    /// The address of a symbol plus the addend.
    Address,
    /// The same into a slot of a global offset table: without addend, and perhaps when first used.
    Slot,
    /// The address of a place in the image.
    Relative,
    /// What a function of the file returns.
    Chosen,
    /// A copy of another file's variable.
    Copied,
    /// A number for thread-local data.
    ThreadLocal,
}

/// The relocation types of loaders, on which the ABI of each instruction set agrees with others but
/// for numbers [x86-64 psABI §4.4.1; AAELF64 §5.7.16].
fn kind(architecture: Architecture, number: u32) -> Option<(&'static str, u64, Write)> {
    let wide = architecture == Architecture::X86_64;
    Some(match (wide, number) {
        (true, 1) => ("R_X86_64_64", 8, Write::Address),
        (true, 5) => ("R_X86_64_COPY", 8, Write::Copied),
        (true, 6) => ("R_X86_64_GLOB_DAT", 8, Write::Slot),
        (true, 7) => ("R_X86_64_JUMP_SLOT", 8, Write::Slot),
        (true, 8) => ("R_X86_64_RELATIVE", 8, Write::Relative),
        (true, 16) => ("R_X86_64_DTPMOD64", 8, Write::ThreadLocal),
        (true, 17) => ("R_X86_64_DTPOFF64", 8, Write::ThreadLocal),
        (true, 18) => ("R_X86_64_TPOFF64", 8, Write::ThreadLocal),
        (true, 36) => ("R_X86_64_TLSDESC", 16, Write::ThreadLocal),
        (true, 37) => ("R_X86_64_IRELATIVE", 8, Write::Chosen),
        (false, 257) => ("R_AARCH64_ABS64", 8, Write::Address),
        (false, 1024) => ("R_AARCH64_COPY", 8, Write::Copied),
        (false, 1025) => ("R_AARCH64_GLOB_DAT", 8, Write::Slot),
        (false, 1026) => ("R_AARCH64_JUMP_SLOT", 8, Write::Slot),
        (false, 1027) => ("R_AARCH64_RELATIVE", 8, Write::Relative),
        (false, 1028) => ("R_AARCH64_TLS_DTPMOD", 8, Write::ThreadLocal),
        (false, 1029) => ("R_AARCH64_TLS_DTPREL", 8, Write::ThreadLocal),
        (false, 1030) => ("R_AARCH64_TLS_TPREL", 8, Write::ThreadLocal),
        (false, 1031) => ("R_AARCH64_TLSDESC", 16, Write::ThreadLocal),
        (false, 1032) => ("R_AARCH64_IRELATIVE", 8, Write::Chosen),
        _ => return None,
    })
}

/// The type of that number as other relocations have it.
pub(crate) fn of(architecture: Architecture, number: u32) -> Option<Type> {
    kind(architecture, number).map(|(name, width, _)| Type { name, width, reach: (0, width) })
}

/// Whether the loader writes the address of a symbol or of a place.
pub(crate) fn is_address(architecture: Architecture, number: u32) -> bool {
    let writes = kind(architecture, number).map(|k| k.2);
    matches!(writes, Some(Write::Address | Write::Slot | Write::Relative))
}

/// Reads the loader's relocations; whether a function of the file chooses what some of them write.
pub(super) fn relocate(
    loader: &Loader<'_, '_>,
    own: &Own,
    section: &mut Section,
    symbols: &mut Vec<Symbol>,
) -> Result<bool, ObjectError> {
    let architecture = loader.file.architecture;
    let relative = if architecture == Architecture::X86_64 { 8 } else { 1027 };
    let mut all = Vec::new();
    let first = loader.relative_first();
    for place in loader.packed()? {
        let Some(addend) = loader.bytes(place, 8).and_then(|b| elf::long(b, 0)) else {
            return refuse(format!(
                "a packed relocation at {place:#x}, which the file does not fill"
            ));
        };
        all.push((place, relative, 0, addend as i64));
    }
    let tables =
        [[tag::RELA, tag::RELASZ, tag::RELAENT], [tag::JMPREL, tag::PLTRELSZ, tag::PLTREL]];
    for tags in tables {
        let table = loader.table(tags)?;
        if table.len() % 24 != 0 {
            return refuse("its relocations are not of 24 bytes");
        }
        for (i, e) in table.chunks_exact(24).enumerate() {
            let fields = (elf::long(e, 0), elf::word(e, 8), elf::word(e, 12), elf::long(e, 16));
            if let (Some(place), Some(kind), Some(symbol), Some(addend)) = fields {
                // Some loaders do not look at the types of those.
                if tags[0] == tag::RELA && (i as u64) < first && kind != relative {
                    return refuse("fewer relative relocations come first than it says");
                }
                all.push((place, kind, symbol, addend as i64));
            }
        }
    }
    all.sort_unstable();
    let mut chosen = false;
    let mut numbers: FxHashMap<u32, usize> = FxHashMap::default();
    for (place, number, symbol, addend) in all {
        if number == 0 {
            continue;
        }
        let Some((name, mut width, writes)) = kind(architecture, number) else {
            return refuse(format!(
                "relocation type {number} at {place:#x}, which is not known here"
            ));
        };
        chosen |= writes == Write::Chosen;
        let mut named = 0;
        if symbol != 0 {
            let raw = loader.symbol(symbol.into())?;
            chosen |= raw.kind == elf::STT_GNU_IFUNC;
            if writes == Write::Copied {
                width = raw.size.max(1);
            }
            named = *numbers.entry(symbol).or_insert(symbols.len());
            if named == symbols.len() {
                let place = match own.unlike(&raw) {
                    false => self::place(&raw, section),
                    true => Place::Refused(
                        "the file defines a symbol of that name elsewhere, which the loader may find".into(),
                    ),
                };
                symbols.push(Symbol { name: raw.name, place });
            }
        }
        let fits = match writes {
            Write::Relative | Write::Chosen => symbol == 0,
            Write::Slot => symbol != 0 && addend == 0,
            Write::Address | Write::Copied => symbol != 0,
            Write::ThreadLocal => true,
        };
        if !fits {
            return refuse(format!(
                "{name} at {place:#x} with symbol {symbol} and addend {addend}, as linkers do not write it"
            ));
        }
        let end = place.checked_add(width);
        let inside = |s: &&Segment| {
            s.flags & (READ | WRITE | EXECUTE) == READ | WRITE
                && place >= s.address
                && end.is_some_and(|e| e <= s.address + s.size)
        };
        if !loader.loaded.iter().any(|s| inside(&s)) {
            return refuse(format!("{name} at {place:#x}, where the loader cannot write"));
        }
        if loader.own().iter().any(|o| place < o.1 && end.is_none_or(|e| o.0 < e)) {
            // Slots for the loader's own use begin the table; nothing else is relocated there.
            return refuse(format!("{name} at {place:#x}, among what the loader uses itself"));
        }
        let addend = match writes {
            Write::Relative => addend.wrapping_sub(section.address as i64),
            _ => addend,
        };
        let offset = place - section.address;
        section.relocations.push(Relocation {
            offset,
            kind: number,
            symbol: named,
            addend,
            width,
            reach: (0, width),
        });
    }
    if let Some(w) = section.relocations.windows(2).find(|w| w[0].offset + w[0].width > w[1].offset)
    {
        return refuse(format!("two relocations write {:#x}", section.address + w[1].offset));
    }
    Ok(chosen)
}
