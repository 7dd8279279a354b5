//! The dynamic section, and what the loader reads by it.

use super::super::Architecture;
use super::super::elf::{self, File, RawSymbol, Segment};
use super::refuse;
use super::segments::{self, PT_DYNAMIC, WRITE};
use crate::error::ObjectError;
use rustc_hash::FxHashMap;

/// The most symbols of a table.
const MOST_ENTRIES: u64 = 1 << 22;

/// Tags of the dynamic section that are read.
pub(super) mod tag {
    pub const PLTRELSZ: u64 = 2;
    pub const HASH: u64 = 4;
    pub const SYMTAB: u64 = 6;
    pub const STRTAB: u64 = 5;
    pub const RELA: u64 = 7;
    pub const RELASZ: u64 = 8;
    pub const RELAENT: u64 = 9;
    pub const STRSZ: u64 = 10;
    pub const SYMENT: u64 = 11;
    pub const PLTREL: u64 = 20;
    pub const JMPREL: u64 = 23;
    pub const PLTGOT: u64 = 3;
    pub const DEBUG: u64 = 21;
    pub const BIND_NOW: u64 = 24;
    pub const FLAGS: u64 = 30;
    pub const RELRSZ: u64 = 35;
    pub const RELR: u64 = 36;
    pub const RELRENT: u64 = 37;
    pub const GNU_HASH: u64 = 0x6fff_fef5;
    pub const RELACOUNT: u64 = 0x6fff_fff9;
    pub const FLAGS_1: u64 = 0x6fff_fffb;
    /// Those that say nothing of what the image holds: names of files and versions, and functions that
    /// run before and after.
    pub const OTHERS: [u64; 18] = [
        1,
        12,
        13,
        14,
        15,
        16,
        25,
        26,
        27,
        28,
        29,
        32,
        33,
        0x6fff_fff0,
        0x6fff_fffc,
        0x6fff_fffd,
        0x6fff_fffe,
        0x6fff_ffff,
    ];
    /// `DT_AARCH64_BTI_PLT` and `DT_AARCH64_PAC_PLT`.
    pub const AARCH64: [u64; 2] = [0x7000_0001, 0x7000_0003];
}

/// `DF_TEXTREL` among `DT_FLAGS`: segments that cannot be written are relocated.
const TEXTREL: u64 = 4;

/// What the loader reads of a file: its bytes by address.
pub(super) struct Loader<'a, 'f> {
    pub file: &'f File<'a>,
    pub loaded: Vec<Segment>,
    /// The dynamic section.
    dynamic: FxHashMap<u64, u64>,
}

impl<'a, 'f> Loader<'a, 'f> {
    /// Bytes at an address, which lie in one segment and in the file.
    pub(super) fn bytes(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        let inside = |s: &&Segment| {
            address >= s.address
                && address.checked_add(size).is_some_and(|end| end <= s.address + s.filled)
        };
        let s = self.loaded.iter().find(inside)?;
        self.file.range(s.offset + (address - s.address), size)
    }

    /// The same in a segment that nothing writes: where the loader has its tables.
    fn fixed(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        let inside = |s: &&Segment| address >= s.address && address < s.address + s.size;
        let writable = self.loaded.iter().find(inside).is_none_or(|s| s.flags & WRITE != 0);
        if writable { None } else { self.bytes(address, size) }
    }

    /// What the loader uses and writes by itself: the dynamic section, and the first three words of
    /// the table that functions are called through.
    pub(super) fn own(&self) -> Vec<(u64, u64)> {
        let dynamic = self.file.segments.iter().filter(|s| s.kind == PT_DYNAMIC);
        let dynamic = dynamic.map(|s| (s.address, s.address.saturating_add(s.size)));
        let table = self.dynamic.get(&tag::PLTGOT).map(|&at| (at, at.saturating_add(24)));
        dynamic.chain(table).collect()
    }

    /// Whether it is a program: linkers leave a place for debuggers in the dynamic section of those.
    pub(super) fn starts(&self) -> bool {
        self.dynamic.contains_key(&tag::DEBUG)
    }

    /// Whether the loader binds all slots before anything runs.
    pub(super) fn binds_at_once(&self) -> bool {
        let flag = |tag, bit| self.dynamic.get(&tag).is_some_and(|f| f & bit != 0);
        self.dynamic.contains_key(&tag::BIND_NOW) || flag(tag::FLAGS, 8) || flag(tag::FLAGS_1, 1)
    }

    /// Reads segments and the dynamic section.
    ///
    /// # Errors
    /// What in them is on no list.
    pub(super) fn of(file: &'f File<'a>) -> Result<Loader<'a, 'f>, ObjectError> {
        let loaded = segments::loaded(file)?;
        Ok(Loader { file, loaded, dynamic: FxHashMap::default() })
    }

    /// The dynamic section by tags, and whether there is one.
    pub(super) fn read_dynamic(&mut self) -> Result<bool, ObjectError> {
        let Some(segment) = segments::one(self.file, PT_DYNAMIC, "dynamic sections")? else {
            return Ok(false);
        };
        let Some(content) = self.bytes(segment.address, segment.filled) else {
            return refuse("its dynamic section lies outside its segments");
        };
        let mut ended = false;
        for entry in content.chunks_exact(16) {
            let (Some(tag), Some(value)) = (elf::long(entry, 0), elf::long(entry, 8)) else {
                break;
            };
            if tag == 0 {
                ended = true;
                break;
            }
            let aarch64 =
                self.file.architecture == Architecture::AArch64 && tag::AARCH64.contains(&tag);
            let read = [
                tag::PLTRELSZ,
                tag::SYMTAB,
                tag::STRTAB,
                tag::RELA,
                tag::RELASZ,
                tag::RELAENT,
                tag::STRSZ,
                tag::SYMENT,
                tag::PLTREL,
                tag::JMPREL,
                tag::FLAGS,
                tag::RELRSZ,
                tag::RELR,
                tag::RELRENT,
                tag::HASH,
                tag::GNU_HASH,
                tag::PLTGOT,
                tag::DEBUG,
                tag::BIND_NOW,
                tag::RELACOUNT,
                tag::FLAGS_1,
            ];
            if read.contains(&tag) {
                if self.dynamic.insert(tag, value).is_some() {
                    return refuse(format!("its dynamic section has the tag {tag:#x} twice"));
                }
            } else if !tag::OTHERS.contains(&tag) && !aarch64 {
                return refuse(format!(
                    "its dynamic section has the tag {tag:#x}, which is not known here"
                ));
            }
        }
        let fixed = [(tag::RELAENT, 24), (tag::SYMENT, 24), (tag::PLTREL, 7), (tag::RELRENT, 8)];
        for (tag, wanted) in fixed {
            if self.dynamic.get(&tag).is_some_and(|v| *v != wanted) {
                return refuse(format!(
                    "its dynamic section says {} for the tag {tag:#x}, and {wanted} is known here",
                    self.dynamic[&tag]
                ));
            }
        }
        if self.dynamic.get(&tag::FLAGS).is_some_and(|f| f & TEXTREL != 0) {
            return refuse("it is relocated in segments that cannot be written (DT_TEXTREL)");
        }
        if !ended {
            return refuse("its dynamic section does not end");
        }
        Ok(true)
    }

    /// A table of the dynamic section, by the tags of its address, of its size and of what its entries
    /// are, which all stand there or none.
    pub(super) fn table(&self, tags: [u64; 3]) -> Result<&'a [u8], ObjectError> {
        match tags.map(|tag| self.dynamic.get(&tag)) {
            [None, None | Some(0), _] => Ok(&[]),
            [Some(&at), Some(&n), Some(_)] => self.fixed(at, n).map_or_else(
                || {
                    refuse(format!(
                        "its table at {at:#x} lies outside the segments that nothing writes"
                    ))
                },
                Ok,
            ),
            _ => refuse(format!("its dynamic section has some of the tags {tags:x?} and not all")),
        }
    }

    /// How many relocations come first that are said to be relative.
    pub(super) fn relative_first(&self) -> u64 {
        self.dynamic.get(&tag::RELACOUNT).copied().unwrap_or(0)
    }

    /// Places and bytes that relative relocations in their packed form relocate: an address, then
    /// bitmaps of the 63 words behind it.
    pub(super) fn packed(&self) -> Result<Vec<u64>, ObjectError> {
        let mut places = Vec::new();
        let mut next = 0u64;
        for entry in self.table([tag::RELR, tag::RELRSZ, tag::RELRENT])?.chunks(8) {
            let Some(entry) = elf::long(entry, 0) else {
                return refuse("its packed relocations are cut off");
            };
            if entry & 1 == 0 {
                places.push(entry);
                next = entry.wrapping_add(8);
                continue;
            }
            places.extend(
                (0..63u64).filter(|i| entry >> (i + 1) & 1 == 1).map(|i| next.wrapping_add(8 * i)),
            );
            next = next.wrapping_add(63 * 8);
            if places.len() as u64 > MOST_ENTRIES {
                return refuse("it has too many packed relocations");
            }
        }
        Ok(places)
    }

    /// How many dynamic symbols there are, as the hash tables have it.
    pub(super) fn count(&self) -> Result<u64, ObjectError> {
        let count = match (self.dynamic.get(&tag::HASH), self.dynamic.get(&tag::GNU_HASH)) {
            (None, None) => Some(0),
            (Some(&at), None) => self.counted_by_table(at),
            (Some(&at), Some(&gnu)) => self.counted_by_table(at).max(self.counted_by_chains(gnu)),
            (None, Some(&gnu)) => self.counted_by_chains(gnu),
        };
        match count.filter(|n| *n <= MOST_ENTRIES) {
            Some(count) => Ok(count),
            None => refuse("its hash table of symbols is damaged"),
        }
    }

    /// By the older table: as many as there are links, and no link leads beyond them.
    fn counted_by_table(&self, table: u64) -> Option<u64> {
        let word = |at: u64| elf::word(self.fixed(at, 4)?, 0).map(u64::from);
        let (buckets, count) = (word(table)?, word(table.checked_add(4)?)?);
        let links = self.fixed(table.checked_add(8)?, 4 * (buckets + count))?;
        let all = links.chunks_exact(4).filter_map(|b| elf::word(b, 0));
        all.into_iter().all(|n| u64::from(n) < count.max(1)).then_some(count)
    }

    /// By GNU's table: symbols that cannot be found come first, and each chain of the others ends
    /// with a hash whose lowest bit is 1.
    fn counted_by_chains(&self, table: u64) -> Option<u64> {
        let word = |at: u64| elf::word(self.fixed(at, 4)?, 0).map(u64::from);
        let (buckets, first, words) =
            (word(table)?, word(table.checked_add(4)?)?, word(table.checked_add(8)?)?);
        let heads = table.checked_add(16)?.checked_add(8 * words)?;
        let chains = heads.checked_add(4 * buckets)?;
        let content = self.fixed(heads, 4 * buckets)?;
        let greatest = content.chunks_exact(4).filter_map(|b| elf::word(b, 0)).max()?;
        let mut last = u64::from(greatest);
        if last < first {
            return Some(first);
        }
        while word(chains.checked_add(4 * (last - first))?)? & 1 == 0 {
            last += 1;
        }
        Some(last + 1)
    }

    /// The dynamic symbol of that number.
    pub(super) fn symbol(&self, number: u64) -> Result<RawSymbol, ObjectError> {
        let names = self.table([tag::STRTAB, tag::STRSZ, tag::SYMENT])?;
        let at = self.dynamic.get(&tag::SYMTAB).and_then(|at| at.checked_add(24 * number));
        let entry = at.and_then(|at| self.fixed(at, 24)).filter(|_| number <= MOST_ENTRIES);
        let symbol = entry.and_then(|e| {
            let rest = names.get(elf::word(e, 0)? as usize..)?;
            let name = &rest[..rest.iter().position(|b| *b == 0)?];
            Some(RawSymbol {
                name: std::str::from_utf8(name).ok()?.to_string(),
                kind: e[4] & 15,
                binding: e[4] >> 4,
                other: e[5],
                section: u16::from_le_bytes([e[6], e[7]]),
                value: elf::long(e, 8)?,
                size: elf::long(e, 16)?,
            })
        });
        symbol.map_or_else(|| refuse(format!("there is no dynamic symbol {number}")), Ok)
    }
}
