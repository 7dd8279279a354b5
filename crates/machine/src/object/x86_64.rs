//! The relocation types of the x86-64 psABI that assemblers write: name, width, and how far around
//! the field linkers rewrite code.

use super::relocations::Type;

pub(crate) const R_64: u32 = 1;
pub(crate) const R_PC32: u32 = 2;
pub(crate) const R_PLT32: u32 = 4;
pub(crate) const R_GOTPCREL: u32 = 9;
pub(crate) const R_32: u32 = 10;
pub(crate) const R_32S: u32 = 11;
pub(crate) const R_GOTPCRELX: u32 = 41;
pub(crate) const R_REX_GOTPCRELX: u32 = 42;

/// The type with that number. Types that only linked files have (COPY, GLOB_DAT, RELATIVE, ...) are
/// none.
///
/// Linkers turn accesses through the global offset table and thread-local accesses into shorter
/// ones. For the former they rewrite opcode and prefix, for the latter whole sequences. No
/// instruction within reach of such a sequence is executed here.
pub(crate) fn types(number: u32) -> Option<Type> {
    const SEQUENCE: (u64, u64) = (16, 24);
    let (name, width, reach) = match number {
        0 => ("R_X86_64_NONE", 0, (0, 0)),
        R_64 => ("R_X86_64_64", 8, (0, 8)),
        R_PC32 => ("R_X86_64_PC32", 4, (0, 4)),
        3 => ("R_X86_64_GOT32", 4, (0, 4)),
        R_PLT32 => ("R_X86_64_PLT32", 4, (0, 4)),
        R_GOTPCREL => ("R_X86_64_GOTPCREL", 4, (2, 4)),
        R_32 => ("R_X86_64_32", 4, (0, 4)),
        R_32S => ("R_X86_64_32S", 4, (0, 4)),
        12 => ("R_X86_64_16", 2, (0, 2)),
        13 => ("R_X86_64_PC16", 2, (0, 2)),
        14 => ("R_X86_64_8", 1, (0, 1)),
        15 => ("R_X86_64_PC8", 1, (0, 1)),
        17 => ("R_X86_64_DTPOFF64", 8, (0, 8)),
        18 => ("R_X86_64_TPOFF64", 8, (0, 8)),
        19 => ("R_X86_64_TLSGD", 4, SEQUENCE),
        20 => ("R_X86_64_TLSLD", 4, SEQUENCE),
        21 => ("R_X86_64_DTPOFF32", 4, (0, 4)),
        22 => ("R_X86_64_GOTTPOFF", 4, SEQUENCE),
        23 => ("R_X86_64_TPOFF32", 4, (0, 4)),
        24 => ("R_X86_64_PC64", 8, (0, 8)),
        25 => ("R_X86_64_GOTOFF64", 8, (0, 8)),
        26 => ("R_X86_64_GOTPC32", 4, (0, 4)),
        27 => ("R_X86_64_GOT64", 8, (0, 8)),
        28 => ("R_X86_64_GOTPCREL64", 8, (0, 8)),
        29 => ("R_X86_64_GOTPC64", 8, (0, 8)),
        30 => ("R_X86_64_GOTPLT64", 8, (0, 8)),
        31 => ("R_X86_64_PLTOFF64", 8, (0, 8)),
        32 => ("R_X86_64_SIZE32", 4, (0, 4)),
        33 => ("R_X86_64_SIZE64", 8, (0, 8)),
        34 => ("R_X86_64_GOTPC32_TLSDESC", 4, SEQUENCE),
        // No bytes of its own, and two that are rewritten: read as two.
        35 => ("R_X86_64_TLSDESC_CALL", 2, SEQUENCE),
        R_GOTPCRELX => ("R_X86_64_GOTPCRELX", 4, (2, 4)),
        R_REX_GOTPCRELX => ("R_X86_64_REX_GOTPCRELX", 4, (3, 4)),
        _ => return None,
    };
    Some(Type { name, width, reach })
}
