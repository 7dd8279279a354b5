//! The relocation types of the AArch64 ELF ABI that assemblers write: name, width, and which bits of
//! an instruction they fill.

use super::relocations::Type;

pub(crate) const R_ABS64: u32 = 257;
pub(crate) const R_ADR_GOT_PAGE: u32 = 311;

/// A field of an instruction that the linker fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    /// B or BL: a distance of 26 bits, in words.
    Branch26 {
        /// Whether it is BL's.
        call: bool,
    },
    /// B.cond, CBZ, CBNZ.
    Branch19,
    /// TBZ, TBNZ.
    Branch14,
    /// The distance of a literal that is loaded.
    Literal,
    /// ADR.
    Near,
    /// ADRP.
    Page,
    /// The low 12 bits that ADD adds.
    Added,
    /// The low 12 bits as the offset of an access of that many bytes, in units of them.
    Offset(u64),
    /// ADRP's, of a slot of the global offset table.
    SlotPage,
    /// The low 12 bits of a slot, as the offset of its load.
    Slot,
}

impl Field {
    /// Its bits in the instruction.
    pub fn mask(self) -> u32 {
        match self {
            Field::Branch26 { .. } => 0x03ff_ffff,
            Field::Branch19 | Field::Literal => 0x00ff_ffe0,
            Field::Branch14 => 0x0007_ffe0,
            Field::Near | Field::Page | Field::SlotPage => 0x60ff_ffe0,
            Field::Added | Field::Offset(_) | Field::Slot => 0x003f_fc00,
        }
    }
}

/// The field that a type fills, for those on the list.
pub(crate) fn field(number: u32) -> Option<Field> {
    Some(match number {
        273 => Field::Literal,
        274 => Field::Near,
        275 => Field::Page,
        277 => Field::Added,
        278 => Field::Offset(1),
        279 => Field::Branch14,
        280 => Field::Branch19,
        282 => Field::Branch26 { call: false },
        283 => Field::Branch26 { call: true },
        284 => Field::Offset(2),
        285 => Field::Offset(4),
        286 => Field::Offset(8),
        299 => Field::Offset(16),
        R_ADR_GOT_PAGE => Field::SlotPage,
        312 => Field::Slot,
        _ => return None,
    })
}

/// The type with that number. Types that only linked files have are none.
///
/// Linkers rewrite sequences of instructions for thread-local data, and some for the global offset
/// table. No instruction within reach of such a sequence is executed here. A load from a slot right
/// behind the ADRP of its page becomes an addition to the page of what the slot names. That changes
/// two words, each with its own relocation, which are executed together or not at all. Otherwise
/// linkers write only the field's own word.
pub(crate) fn types(number: u32) -> Option<Type> {
    const SEQUENCE: (u64, u64) = (16, 24);
    let (name, width, reach) = match number {
        0 | 256 => ("R_AARCH64_NONE", 0, (0, 0)),
        R_ABS64 => ("R_AARCH64_ABS64", 8, (0, 8)),
        258 => ("R_AARCH64_ABS32", 4, (0, 4)),
        259 => ("R_AARCH64_ABS16", 2, (0, 2)),
        260 => ("R_AARCH64_PREL64", 8, (0, 8)),
        261 => ("R_AARCH64_PREL32", 4, (0, 4)),
        262 => ("R_AARCH64_PREL16", 2, (0, 2)),
        263 => ("R_AARCH64_MOVW_UABS_G0", 4, (0, 4)),
        264 => ("R_AARCH64_MOVW_UABS_G0_NC", 4, (0, 4)),
        265 => ("R_AARCH64_MOVW_UABS_G1", 4, (0, 4)),
        266 => ("R_AARCH64_MOVW_UABS_G1_NC", 4, (0, 4)),
        267 => ("R_AARCH64_MOVW_UABS_G2", 4, (0, 4)),
        268 => ("R_AARCH64_MOVW_UABS_G2_NC", 4, (0, 4)),
        269 => ("R_AARCH64_MOVW_UABS_G3", 4, (0, 4)),
        270..=272 => ("R_AARCH64_MOVW_SABS", 4, (0, 4)),
        273 => ("R_AARCH64_LD_PREL_LO19", 4, (0, 4)),
        274 => ("R_AARCH64_ADR_PREL_LO21", 4, (0, 4)),
        275 => ("R_AARCH64_ADR_PREL_PG_HI21", 4, (0, 4)),
        276 => ("R_AARCH64_ADR_PREL_PG_HI21_NC", 4, (0, 4)),
        277 => ("R_AARCH64_ADD_ABS_LO12_NC", 4, (0, 4)),
        278 => ("R_AARCH64_LDST8_ABS_LO12_NC", 4, (0, 4)),
        279 => ("R_AARCH64_TSTBR14", 4, (0, 4)),
        280 => ("R_AARCH64_CONDBR19", 4, (0, 4)),
        282 => ("R_AARCH64_JUMP26", 4, (0, 4)),
        283 => ("R_AARCH64_CALL26", 4, (0, 4)),
        284 => ("R_AARCH64_LDST16_ABS_LO12_NC", 4, (0, 4)),
        285 => ("R_AARCH64_LDST32_ABS_LO12_NC", 4, (0, 4)),
        286 => ("R_AARCH64_LDST64_ABS_LO12_NC", 4, (0, 4)),
        287..=293 => ("R_AARCH64_MOVW_PREL", 4, (0, 4)),
        299 => ("R_AARCH64_LDST128_ABS_LO12_NC", 4, (0, 4)),
        300..=306 => ("R_AARCH64_MOVW_GOTOFF", 4, SEQUENCE),
        309 => ("R_AARCH64_GOT_LD_PREL19", 4, SEQUENCE),
        310 => ("R_AARCH64_LD64_GOTOFF_LO15", 4, SEQUENCE),
        R_ADR_GOT_PAGE => ("R_AARCH64_ADR_GOT_PAGE", 4, (0, 4)),
        312 => ("R_AARCH64_LD64_GOT_LO12_NC", 4, (0, 4)),
        313 => ("R_AARCH64_LD64_GOTPAGE_LO15", 4, SEQUENCE),
        512..=573 => ("R_AARCH64_TLS", 4, SEQUENCE),
        _ => return None,
    };
    Some(Type { name, width, reach })
}
