//! What only objects for Arm have: relocation types [AAELF32 §5.6], addends stored in the fields,
//! marks of code and data, and attributes that name the processors an object is for.

use super::elf::{self, File, RawSymbol, damaged};
use super::relocations::Type;
use super::sections::Section;
use crate::error::ObjectError;
use rustc_hash::FxHashMap;

/// `e_flags`: version 5 of the ABI.
pub(crate) const EABI_5: u64 = 0x0500_0000;
/// `e_flags`: the soft or the hard float ABI, which linkers write [AAELF32 §5.2] and assemblers leave to the attributes.
/// The executed code passes no floating-point arguments.
pub(crate) const FLOAT_ABI: u64 = 0x200 | 0x400;

pub(crate) const R_ABS32: u32 = 2;
pub(crate) const R_THM_CALL: u32 = 10;
pub(crate) const R_THM_JUMP24: u32 = 30;
pub(crate) const R_THM_MOVW_ABS_NC: u32 = 47;
pub(crate) const R_THM_MOVT_ABS: u32 = 48;

/// The type of that number. Those of linked files alone are none.
pub(crate) fn types(number: u32) -> Option<Type> {
    // What linkers rewrite for thread-local data lies nowhere near code that is executed here.
    const SEQUENCE: (u64, u64) = (16, 24);
    let (name, width, reach) = match number {
        0 => ("R_ARM_NONE", 0, (0, 0)),
        R_ABS32 => ("R_ARM_ABS32", 4, (0, 4)),
        3 => ("R_ARM_REL32", 4, (0, 4)),
        5 => ("R_ARM_ABS16", 2, (0, 2)),
        8 => ("R_ARM_ABS8", 1, (0, 1)),
        9 => ("R_ARM_SBREL32", 4, (0, 4)),
        R_THM_CALL => ("R_ARM_THM_CALL", 4, (0, 4)),
        11 => ("R_ARM_THM_PC8", 2, (0, 2)),
        24 => ("R_ARM_GOTOFF32", 4, (0, 4)),
        25 => ("R_ARM_BASE_PREL", 4, (0, 4)),
        26 => ("R_ARM_GOT_BREL", 4, (0, 4)),
        28 => ("R_ARM_CALL", 4, (0, 4)),
        29 => ("R_ARM_JUMP24", 4, (0, 4)),
        R_THM_JUMP24 => ("R_ARM_THM_JUMP24", 4, (0, 4)),
        38 => ("R_ARM_TARGET1", 4, (0, 4)),
        40 => ("R_ARM_V4BX", 4, (0, 4)),
        41 => ("R_ARM_TARGET2", 4, (0, 4)),
        42 => ("R_ARM_PREL31", 4, (0, 4)),
        43 => ("R_ARM_MOVW_ABS_NC", 4, (0, 4)),
        44 => ("R_ARM_MOVT_ABS", 4, (0, 4)),
        R_THM_MOVW_ABS_NC => ("R_ARM_THM_MOVW_ABS_NC", 4, (0, 4)),
        R_THM_MOVT_ABS => ("R_ARM_THM_MOVT_ABS", 4, (0, 4)),
        49 => ("R_ARM_THM_MOVW_PREL_NC", 4, (0, 4)),
        50 => ("R_ARM_THM_MOVT_PREL", 4, (0, 4)),
        51 => ("R_ARM_THM_JUMP19", 4, (0, 4)),
        52 => ("R_ARM_THM_JUMP6", 2, (0, 2)),
        53 => ("R_ARM_THM_ALU_PREL_11_0", 4, (0, 4)),
        54 => ("R_ARM_THM_PC12", 4, (0, 4)),
        90..=93 | 104..=111 => ("R_ARM_TLS", 4, SEQUENCE),
        96 => ("R_ARM_GOT_PREL", 4, (0, 4)),
        102 => ("R_ARM_THM_JUMP11", 2, (0, 2)),
        103 => ("R_ARM_THM_JUMP8", 2, (0, 2)),
        _ => return None,
    };
    Some(Type { name, width, reach })
}

/// The addend in a field of that type [AAELF32 §5.6.1.1]. It is 0 for types that nothing here uses.
pub(crate) fn addend(kind: u32, field: &[u8]) -> i64 {
    let Ok(bytes) = <[u8; 4]>::try_from(field) else { return 0 };
    let halves = || {
        let half = |i: usize| u32::from(u16::from_le_bytes([bytes[i], bytes[i + 1]]));
        (half(0), half(2))
    };
    match kind {
        R_ABS32 => i32::from_le_bytes(bytes).into(),
        R_THM_CALL | R_THM_JUMP24 => {
            let (first, second) = halves();
            let s = first >> 10 & 1;
            let (i1, i2) = ((second >> 13 & 1) ^ s ^ 1, (second >> 11 & 1) ^ s ^ 1);
            let top = s << 23 | i1 << 22 | i2 << 21 | (first & 0x3ff) << 11 | second & 0x7ff;
            i64::from((top << 8) as i32 >> 7)
        }
        R_THM_MOVW_ABS_NC | R_THM_MOVT_ABS => {
            let (first, second) = halves();
            let value = (first & 15) << 12
                | (first >> 10 & 1) << 11
                | (second >> 12 & 7) << 8
                | second & 0xff;
            i64::from(value as u16 as i16)
        }
        _ => 0,
    }
}

/// Where code that runs here (true) and other bytes (false) begin in each section. `$t` marks Thumb
/// code and `$x` AArch64 code. `$d` marks data, and `$a` code that no processor of the M profile
/// has.
pub(crate) fn mapping(
    raw: &[RawSymbol],
    sections: &[Section],
    position: &FxHashMap<usize, usize>,
) -> Vec<Vec<(u64, bool)>> {
    let mut all = vec![Vec::new(); sections.len()];
    for s in raw.iter().filter(|s| s.binding == elf::STB_LOCAL && s.kind == elf::STT_NOTYPE) {
        let is = |mark: &str| {
            s.name.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let code = is("$t") || is("$x");
        if (code || is("$d") || is("$a"))
            && let Some(&section) = position.get(&usize::from(s.section))
        {
            all[section].push((s.value, code));
        }
    }
    all.iter_mut().for_each(|list: &mut Vec<(u64, bool)>| list.sort_unstable());
    all
}

/// A number of seven bits a byte.
fn uleb(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..56).step_by(7) {
        let (&first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first < 0x80 {
            return Some(value);
        }
    }
    None
}

fn text(bytes: &mut &[u8]) -> Option<String> {
    let end = bytes.iter().position(|b| *b == 0)?;
    let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    *bytes = &bytes[end + 1..];
    Some(text)
}

/// A length of four bytes that counts itself and what it `counts` before: the part, and what is behind it.
fn part<'a>(bytes: &mut &'a [u8], counts: usize) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let end = length.checked_sub(counts)?;
    let inside = bytes.get(4..end)?;
    *bytes = &bytes[end..];
    Some(inside)
}

/// The attributes of the whole file [ADDENDA32 §3]; [`None`] if they are damaged.
fn file_attributes(mut content: &[u8]) -> Option<FxHashMap<u64, u64>> {
    let mut found = FxHashMap::default();
    let (&format, rest) = content.split_first()?;
    content = rest;
    if format != b'A' {
        return None;
    }
    while !content.is_empty() {
        let mut vendor = part(&mut content, 0)?;
        if text(&mut vendor)? != "aeabi" {
            continue;
        }
        while !vendor.is_empty() {
            let (&scope, rest) = vendor.split_first()?;
            vendor = rest;
            let mut inside = part(&mut vendor, 1)?;
            // Attributes of single sections and symbols are not written by assemblers.
            if scope != 1 {
                return None;
            }
            while !inside.is_empty() {
                let tag = uleb(&mut inside)?;
                match tag {
                    4 | 5 | 65 | 67 => {
                        text(&mut inside)?;
                    }
                    32 => {
                        uleb(&mut inside)?;
                        text(&mut inside)?;
                    }
                    _ if tag > 32 && tag % 2 == 1 => {
                        text(&mut inside)?;
                    }
                    _ => {
                        let value = uleb(&mut inside)?;
                        if found.insert(tag, value).is_some_and(|before| before != value) {
                            return None;
                        }
                    }
                }
            }
        }
    }
    Some(found)
}

/// Checks that the object is for Armv7E-M and passes integers and pointers in general registers.
///
/// # Errors
/// What else it is for.
pub(crate) fn attributes(file: &File<'_>) -> Result<(), ObjectError> {
    const NAME: &str = ".ARM.attributes";
    let refuse = |what: String| Err(damaged(NAME, 0, what));
    let mut tables = file.sections.iter().filter(|h| h.kind == elf::SHT_ARM_ATTRIBUTES);
    let (Some(table), None) = (tables.next(), tables.next()) else {
        return refuse(
            "there is not exactly one such section, so it is not said for which processors the object is \
             (assemble with -mcpu=cortex-m4)"
                .into(),
        );
    };
    let Some(found) = file_attributes(file.content(table)?) else {
        return refuse("its attributes are damaged, or not of the whole file alone".into());
    };
    let value = |tag: u64| found.get(&tag).copied().unwrap_or(0);
    let profile = match value(7) {
        0 => "no profile".to_string(),
        p => format!("profile {}", char::from(p as u8)),
    };
    if value(6) != 13 {
        let name = match value(6) {
            10 => "Armv7, without the DSP extension if its profile is M",
            11 | 12 => "Armv6-M",
            14 | 22 => "Armv8-A",
            15 => "Armv8-R",
            16 | 17 => "Armv8-M",
            21 => "Armv8.1-M",
            _ => "another architecture",
        };
        return refuse(format!(
            "the object is for {name} (Tag_CPU_arch {}, {profile}); compile with -mcpu=cortex-m4 -mthumb",
            value(6)
        ));
    }
    if value(7) != u64::from(b'M') {
        return refuse(format!("the object has {profile}, not M; compile with -mcpu=cortex-m4"));
    }
    if value(8) != 0 || value(9) < 2 {
        return refuse("the object uses Arm state, or not Thumb-2; compile with -mthumb".into());
    }
    // Of a function without floating-point arguments and results, the hard-float convention is the other one.
    if ![0, 1, 3].contains(&value(28)) {
        return refuse(format!(
            "the object passes arguments in a way of its toolchain (Tag_ABI_VFP_args {}); compile with -mfloat-abi=soft, \
             softfp or hard",
            value(28)
        ));
    }
    if ![0, 3].contains(&value(14)) || value(15) > 1 && value(15) != 3 {
        return refuse(
            "the object uses r9 as a static base or for thread-local data; compile without -fropi -frwpi"
                .into(),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addends_stand_in_their_fields() {
        let call = |word: [u16; 2]| {
            let bytes = [word[0].to_le_bytes(), word[1].to_le_bytes()].concat();
            addend(R_THM_CALL, &bytes)
        };
        // bl with the offsets that assemblers write: -4, 0, 0x1234, the least and the greatest.
        assert_eq!(call([0xf7ff, 0xfffe]), -4);
        assert_eq!(call([0xf000, 0xf800]), 0);
        assert_eq!(call([0xf001, 0xf91a]), 0x1234);
        assert_eq!(call([0xf400, 0xd000]), -(1 << 24));
        assert_eq!(call([0xf3ff, 0xd7ff]), (1 << 24) - 2);
        // movw r0, #0x8765 and movt r0, #0x1234
        let move_wide = |kind, word: [u16; 2]| {
            addend(kind, &[word[0].to_le_bytes(), word[1].to_le_bytes()].concat())
        };
        assert_eq!(move_wide(R_THM_MOVW_ABS_NC, [0xf248, 0x7065]), 0x8765 - 0x10000);
        assert_eq!(move_wide(R_THM_MOVT_ABS, [0xf2c1, 0x2034]), 0x1234);
        assert_eq!(addend(R_ABS32, &[0xfc, 0xff, 0xff, 0xff]), -4);
    }
}
