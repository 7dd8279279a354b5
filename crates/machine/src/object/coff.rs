//! COFF objects for x86-64, as compilers for Windows write them [PECOFF §3 to §5].
//!
//! Everything here becomes what ELF objects become: sections, symbols, and relocations with the
//! numbers of the psABI that mean the same. So execution knows one set of rules.

use super::elf::{self, RawSymbol, damaged, word};
use super::relocations::{self, Relocation, Type};
use super::sections::{Entries, Section};
use super::symbols::{Place, Symbol};
use super::x86_64::{R_64, R_PC32};
use crate::error::ObjectError;
use rustc_hash::{FxHashMap, FxHashSet};

/// `Machine` of x86-64.
const AMD64: u16 = 0x8664;
/// Bytes of the file's header, of a section's, of a symbol and of a relocation.
const OF_FILE: u64 = 20;
const OF_SECTION: u64 = 40;
const OF_SYMBOL: u64 = 18;
const OF_RELOCATION: u64 = 10;
/// Bits of the file's characteristics that assemblers set: no relocations, no line numbers.
const LINKS_STRIPPED: u16 = 1;
const LINES_STRIPPED: u16 = 4;

/// Section characteristics.
const CODE: u32 = 0x20;
const DATA: u32 = 0x40;
const BSS: u32 = 0x80;
const REMOVE: u32 = 0x800;
const COMDAT: u32 = 0x1000;
const ALIGN: u32 = 0x00f0_0000;
const DISCARDABLE: u32 = 0x0200_0000;
const EXECUTE: u32 = 0x2000_0000;
const READ: u32 = 0x4000_0000;
const WRITE: u32 = 0x8000_0000;

/// The names by which linkers merge the sections of all objects, each with the only characteristics
/// that it may have besides alignment and COMDAT. `.text$x` and `.text.x` are merged with `.text`:
/// linkers sort them by what follows and leave their bytes alone. The merged section can be written
/// if one of its inputs can.
const MERGED: &[(&str, u32)] = &[
    (".text", CODE | EXECUTE | READ),
    (".rdata", DATA | READ),
    (".data", DATA | READ | WRITE),
    (".bss", BSS | READ | WRITE),
    (".pdata", DATA | READ),
    (".xdata", DATA | READ),
    (".tls", DATA | READ | WRITE),
    (".CRT", DATA | READ),
    (".ctors", DATA | READ | WRITE),
    (".dtors", DATA | READ | WRITE),
];

/// Directives to the linker that change nothing of what the object's code reads.
const DIRECTIVES: &[&str] = &["export", "exclude-symbols", "defaultlib", "failifmismatch"];
/// Characteristics of the section of directives: information for the linker, which it removes.
const INFORMATION: u32 = 0x200;

/// Storage classes.
const EXTERNAL: u8 = 2;
const STATIC: u8 = 3;
const FILE: u8 = 103;
const WEAK_EXTERNAL: u8 = 105;

/// The sections that hold an address under its own name, and their size.
const REFPTR: &str = ".rdata$.refptr.";
const POINTER: u64 = 8;

/// How the linker chooses among sections of one COMDAT name.
const NO_DUPLICATES: u8 = 1;
const ANY: u8 = 2;

/// A relocation type: number, name, width, and the type of the psABI that means the same, with what
/// its addend is less.
type Row = (u16, &'static str, u64, Option<(u32, i64)>);

/// Relocation types that assemblers write.
const TYPES: &[Row] = &[
    (1, "IMAGE_REL_AMD64_ADDR64", 8, Some((R_64, 0))),
    (2, "IMAGE_REL_AMD64_ADDR32", 4, None),
    (3, "IMAGE_REL_AMD64_ADDR32NB", 4, None),
    (4, "IMAGE_REL_AMD64_REL32", 4, Some((R_PC32, 4))),
    (5, "IMAGE_REL_AMD64_REL32_1", 4, Some((R_PC32, 5))),
    (6, "IMAGE_REL_AMD64_REL32_2", 4, Some((R_PC32, 6))),
    (7, "IMAGE_REL_AMD64_REL32_3", 4, Some((R_PC32, 7))),
    (8, "IMAGE_REL_AMD64_REL32_4", 4, Some((R_PC32, 8))),
    (9, "IMAGE_REL_AMD64_REL32_5", 4, Some((R_PC32, 9))),
    (10, "IMAGE_REL_AMD64_SECTION", 2, None),
    (11, "IMAGE_REL_AMD64_SECREL", 4, None),
];
/// Where the numbers begin of types that the psABI does not have.
const OTHERS: u32 = 0x1_0000;

/// The type with that number: one of the psABI's, or another.
pub(super) fn types(number: u32) -> Option<Type> {
    let same = |t: &&Row| match t.3 {
        Some((kind, _)) => kind == number,
        None => OTHERS + u32::from(t.0) == number,
    };
    TYPES.iter().find(same).map(|t| Type { name: t.1, width: t.2, reach: (0, t.2) })
}

/// Whether a file is for this module: a COFF object for x86-64, or one with the header for many
/// sections.
pub(super) fn is(bytes: &[u8]) -> bool {
    bytes.starts_with(&AMD64.to_le_bytes()) || bytes.starts_with(&[0, 0, 0xff, 0xff])
}

fn not_object(what: impl Into<String>) -> ObjectError {
    ObjectError::NotObject(what.into())
}

/// A section's header.
struct Header {
    name: String,
    size: u64,
    at: u64,
    /// Where its relocations stand, and how many they are.
    links: (u64, u16),
    flags: u32,
}

/// A symbol table entry.
struct Entry {
    name: String,
    value: u32,
    /// From 1; 0 if undefined, negative if it is no place.
    section: i16,
    class: u8,
    kind: u16,
    /// The first auxiliary record, if there is one.
    more: Option<[u8; OF_SYMBOL as usize]>,
}

/// A file whose structures were read.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    sections: Vec<Header>,
    /// [`None`] in the places of auxiliary records.
    entries: Vec<Option<Entry>>,
}

fn half(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

/// So many bytes of a file from an offset on.
fn range(bytes: &[u8], at: u64, size: u64) -> Option<&[u8]> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(usize::try_from(size).ok()?)?)
}

/// Text up to the first zero, or all of it.
fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).ok().map(str::to_string)
}

impl<'a> File<'a> {
    /// Reads headers and symbols.
    ///
    /// # Errors
    /// If they are not what assemblers for x86-64 write.
    pub fn parse(bytes: &'a [u8]) -> Result<File<'a>, ObjectError> {
        if !bytes.starts_with(&AMD64.to_le_bytes()) {
            return Err(not_object(
                "it is a COFF file with the header for many sections (bigobj), or an import library's member; \
                 compile without /bigobj (-Wa,-mbig-obj)",
            ));
        }
        let header = bytes.get(..OF_FILE as usize);
        let header = header.ok_or_else(|| not_object("its COFF header is cut off"))?;
        let field = |at: u64| word(header, at).unwrap_or_default();
        let (optional, flags) = (half(header, 16), half(header, 18));
        if optional != 0 || flags & !(LINKS_STRIPPED | LINES_STRIPPED) != 0 {
            return Err(not_object(format!(
                "its COFF header has {optional} optional bytes and characteristics {flags:#x}, and those of objects \
                 that assemblers write have none"
            )));
        }
        let (at, count) = (u64::from(field(8)), u64::from(field(12)));
        let strings = at + count * OF_SYMBOL;
        let string = |offset: u64| {
            let rest = bytes.get(usize::try_from(strings.checked_add(offset)?).ok()?..)?;
            rest.contains(&0).then(|| text(rest)).flatten().filter(|_| offset >= 4)
        };
        let cut = || not_object("its section headers are cut off");
        let mut sections = Vec::new();
        for i in 0..u64::from(half(header, 2)) {
            let h = range(bytes, OF_FILE + i * OF_SECTION, OF_SECTION).ok_or_else(cut)?;
            let field = |at: u64| word(h, at).unwrap_or_default();
            let short = text(&h[..8]).filter(|name| !name.is_empty());
            let name = short.and_then(|name| match name.strip_prefix('/') {
                Some(digits) => string(digits.parse().ok()?),
                None => Some(name),
            });
            let name = name.ok_or_else(|| not_object("a section's name is no text"))?;
            if [8, 12, 28].iter().any(|&at| field(at) != 0) || half(h, 34) != 0 {
                let what = "its header has an address, a size in memory or line numbers, before it is linked";
                return Err(damaged(&name, 0, what));
            }
            sections.push(Header {
                name,
                size: field(16).into(),
                at: field(20).into(),
                links: (field(24).into(), half(h, 32)),
                flags: field(36),
            });
        }
        if flags & LINKS_STRIPPED != 0 && sections.iter().any(|h| h.links.1 != 0) {
            return Err(not_object("its COFF header denies the relocations that it has"));
        }
        let cut = || not_object("its symbol table is cut off");
        let table = range(bytes, at, count * OF_SYMBOL).ok_or_else(cut)?;
        let mut records = table.chunks_exact(OF_SYMBOL as usize);
        let mut entries = Vec::new();
        while let Some(record) = records.next() {
            let name = match word(record, 0) {
                Some(0) => string(word(record, 4).unwrap_or_default().into()),
                _ => text(&record[..8]),
            };
            let name = name.ok_or_else(|| not_object("a symbol's name is no text"))?;
            let more = usize::from(record[17]);
            let mut extra: Vec<&[u8]> = records.by_ref().take(more).collect();
            if extra.len() != more {
                return Err(cut());
            }
            entries.push(Some(Entry {
                name,
                value: word(record, 8).unwrap_or_default(),
                section: half(record, 12) as i16,
                class: record[16],
                kind: half(record, 14),
                more: extra.drain(..).next().and_then(|first| first.try_into().ok()),
            }));
            entries.extend((0..more).map(|_| None));
        }
        Ok(File { bytes, sections, entries })
    }

    /// Whether it defines a symbol that others can name.
    pub fn defines(&self, symbol: &str) -> bool {
        let mut named = self.entries.iter().flatten().filter(|e| e.name == symbol);
        named.any(|e| e.class == EXTERNAL && e.section > 0 || e.class == WEAK_EXTERNAL)
    }

    /// The bytes of a section in the file.
    fn content(&self, h: &Header) -> Result<&'a [u8], ObjectError> {
        if h.flags & BSS != 0 {
            return Ok(&[]);
        }
        // Linkers take zeros then.
        if h.at == 0 && h.size != 0 {
            return Err(damaged(&h.name, 0, "its content is nowhere in the file"));
        }
        let found = range(self.bytes, h.at, h.size);
        found.ok_or_else(|| damaged(&h.name, 0, "its content lies outside the file"))
    }

    /// The loaded sections, executable ones first, each with its number.
    ///
    /// # Errors
    /// A section or a directive that is not on the list.
    pub fn sections(&self) -> Result<Vec<(usize, Section)>, ObjectError> {
        let mut sections = Vec::new();
        for (number, h) in (1..).zip(&self.sections) {
            if h.name.starts_with(".gnu.lto_") {
                let what = "the object carries code for link-time optimisation, which the linker compiles anew; \
                            compile without -flto";
                return Err(damaged(&h.name, 0, what));
            }
            if h.name == ".drectve" {
                if h.flags & !ALIGN != INFORMATION | REMOVE {
                    let what = "characteristics that sections of directives do not have";
                    return Err(damaged(&h.name, 0, what));
                }
                directives(self.content(h)?)?;
                continue;
            }
            if h.name.starts_with(".debug") && h.flags & DISCARDABLE != 0
                || h.name == ".llvm_addrsig" && h.flags & REMOVE != 0
            {
                continue;
            }
            let merged = MERGED.iter().find(|(base, _)| {
                h.name
                    .strip_prefix(base)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['$', '.']))
            });
            let Some(&(base, flags)) = merged else {
                let what = "linkers treat sections of this name in a way of their own";
                return Err(damaged(&h.name, 0, what));
            };
            if h.flags & !(ALIGN | COMDAT) != flags {
                let found = h.flags & !(ALIGN | COMDAT);
                let what = format!(
                    "characteristics {found:#x}, unlike other sections named {base} ({flags:#x}), with which linkers merge it"
                );
                return Err(damaged(&h.name, 0, what));
            }
            // Without a number linkers align as they like.
            let align = 1u64 << ((h.flags & ALIGN) >> 20).saturating_sub(1);
            if align > 1 << 13 {
                return Err(damaged(&h.name, 0, "an alignment that is not on the list"));
            }
            let content = self.content(h)?;
            let refused = self.refusal(number, h, base);
            // Assemblers fill up to the alignment, and not all alike.
            let pointer = refused.is_none() && h.flags & COMDAT != 0 && h.name.starts_with(REFPTR);
            let size = if pointer { POINTER.min(h.size) } else { h.size };
            let only_written = h.name == ".data" && h.flags & COMDAT == 0;
            let known = refused.is_none() || only_written;
            sections.push((
                number,
                Section {
                    name: h.name.clone(),
                    address: 0,
                    align: self.aligned(number, h, align),
                    size,
                    data: if known { content[..size as usize].to_vec() } else { Vec::new() },
                    executable: h.flags & EXECUTE != 0,
                    entries: Entries::One,
                    refused,
                    only_written,
                    relocations: Vec::new(),
                    parts: Vec::new(),
                },
            ));
        }
        sections.sort_by_key(|(number, s)| (!s.executable, *number));
        Ok(sections)
    }

    /// The alignment that a section surely has. The linker may take another object's copy, and that one is aligned to its size.
    fn aligned(&self, number: usize, h: &Header, align: u64) -> u64 {
        let whole = 1 << h.size.max(1).ilog2();
        let most = if self.has_copies(number, h) { whole } else { super::sections::PAGE };
        align.min(most)
    }

    /// The symbol by which linkers compare copies of a COMDAT section: the one behind the section's own.
    fn leader(&self, number: usize) -> Option<&Entry> {
        let of = |e: &&Entry| usize::try_from(e.section) == Ok(number);
        self.entries.iter().flatten().filter(of).nth(1)
    }

    /// Whether other objects may have copies of a section, so that the linker takes any of them.
    fn has_copies(&self, number: usize, h: &Header) -> bool {
        let of = |e: &&Entry| usize::try_from(e.section) == Ok(number) && e.class == STATIC;
        let mut own = self.entries.iter().flatten().filter(of);
        let one = own.find_map(|e| e.more).is_some_and(|more| more[14] == NO_DUPLICATES);
        h.flags & COMDAT != 0 && !one
    }

    /// Why the content of a section is not known when the code runs, if it is not.
    fn refusal(&self, number: usize, h: &Header, base: &str) -> Option<String> {
        let name = &h.name;
        if h.flags & WRITE != 0 {
            return Some(format!(
                "{name} is a section that can be written: its content at entry is not known (make the table const, or \
                 the buffer automatic)"
            ));
        }
        if ![".text", ".rdata"].contains(&base) {
            return Some(format!("linkers treat sections named {name} in a way of their own"));
        }
        if h.flags & COMDAT == 0 || self.is_only(number, h) {
            return None;
        }
        Some(format!(
            "{name} is a COMDAT section, for which the linker may take another object's copy"
        ))
    }

    /// Whether a COMDAT section's copies in other objects are the same. So are an address and a constant
    /// under its own name, and a section that no other object may have.
    fn is_only(&self, number: usize, h: &Header) -> bool {
        let own: Vec<&Entry> = self
            .entries
            .iter()
            .flatten()
            .filter(|e| usize::try_from(e.section) == Ok(number))
            .collect();
        // The section's own symbol says how copies are chosen, and the next one by which name.
        let [section, leader, ..] = own[..] else { return false };
        let Some(more) = section.more.filter(|_| section.class == STATIC && section.name == h.name)
        else {
            return false;
        };
        // Of vague linkage, as C++ has it, by their names [GNU ld].
        let vague = leader.name.starts_with("??_");
        if section.value != 0 || section.kind != 0 || leader.value != 0 || vague {
            return false;
        }
        if more[14] == NO_DUPLICATES {
            return [EXTERNAL, STATIC].contains(&leader.class);
        }
        if leader.class != EXTERNAL || more[14] != ANY {
            return false;
        }
        let content = self.content(h).unwrap_or_default();
        if let Some(to) = leader.name.strip_prefix(".refptr.") {
            let [(0, 1, symbol)] = self.links(h)[..] else { return false };
            let names = |e: &Entry| e.class == EXTERNAL && e.name == to;
            return h.name.strip_prefix(REFPTR) == Some(to)
                && content.len() as u64 >= POINTER
                && content.iter().all(|b| *b == 0)
                && self.entries.get(symbol).is_some_and(|e| e.as_ref().is_some_and(names));
        }
        h.links.1 == 0 && h.name == ".rdata" && names_content(&leader.name, content)
    }

    /// Offset, type and symbol of each relocation of a section; none where they lie outside the file.
    fn links(&self, h: &Header) -> Vec<(u64, u16, usize)> {
        let (at, count) = h.links;
        let table = range(self.bytes, at, u64::from(count) * OF_RELOCATION).unwrap_or_default();
        let one = |r: &[u8]| {
            let field = |at: u64| word(r, at).unwrap_or_default();
            (field(0).into(), half(r, 8), field(4) as usize)
        };
        table.chunks_exact(OF_RELOCATION as usize).map(one).collect()
    }

    /// What each entry of the symbol table refers to.
    ///
    /// # Errors
    /// Two symbols of one name among those that linkers compare by it.
    pub fn symbols(
        &self,
        sections: &[Section],
        position: &FxHashMap<usize, usize>,
    ) -> Result<Vec<Symbol>, ObjectError> {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for e in self.entries.iter().flatten() {
            let compared = [EXTERNAL, WEAK_EXTERNAL].contains(&e.class);
            if compared && (e.name.is_empty() || !seen.insert(&e.name)) {
                let what =
                    format!("two symbols are named `{}`; linkers choose one of them", e.name);
                return Err(damaged("symbol table", 0, what));
            }
        }
        let local = |e: &&Entry| e.class == STATIC && seen.contains(e.name.as_str());
        if let Some(e) = self.entries.iter().flatten().find(local) {
            let what = format!("`{}` is local and external; callers mean the other one", e.name);
            return Err(damaged("symbol table", 0, what));
        }
        let symbol = |e: &Option<Entry>| match e {
            Some(e) => {
                let place = self.place(e, sections, position).unwrap_or_else(Place::Refused);
                Symbol { name: e.name.clone(), place }
            }
            None => {
                let why = "it is no symbol, but an auxiliary record".into();
                Symbol { name: String::new(), place: Place::Refused(why) }
            }
        };
        Ok(self.entries.iter().map(symbol).collect())
    }

    fn place(
        &self,
        e: &Entry,
        sections: &[Section],
        position: &FxHashMap<usize, usize>,
    ) -> Result<Place, String> {
        let local = match e.class {
            EXTERNAL => false,
            STATIC => true,
            FILE => return Err("it is a file's name".into()),
            WEAK_EXTERNAL => {
                return Err("it is a weak external, for which the linker may take another \
                            object's definition; leave out __attribute__((weak))"
                    .into());
            }
            class => return Err(format!("its storage class is {class}")),
        };
        let number = match usize::try_from(e.section) {
            Ok(0) if local => return Err("it is local and not defined".into()),
            Ok(0) if e.value != 0 => return Err("it is a common block".into()),
            Ok(0) => return Ok(Place::Outside),
            Ok(number) => number,
            Err(_) => return Err("it is a number, not a place".into()),
        };
        let Some(&section) = position.get(&number) else {
            return Err("its section is not loaded".into());
        };
        // Such as `__data_end__` and `__guard_fids_table`; constants that are named by their content have an `@`.
        let own = e.name.starts_with("__") && !e.name.contains('@')
            || ["end", "etext", "edata"].contains(&e.name.trim_start_matches('_'));
        if !local && own {
            return Err("linkers give symbols of such names addresses of their own".into());
        }
        let copies = self.has_copies(number, &self.sections[number - 1]);
        if copies && self.leader(number).is_none_or(|leader| leader.name != e.name) {
            return Err("it may be gone, since the linker may take another object's copy".into());
        }
        if u64::from(e.value) > sections[section].size {
            return Err(format!("it lies outside its section {}", sections[section].name));
        }
        Ok(Place::Inside {
            section,
            offset: e.value.into(),
            mark: 0,
            by_section: false,
            local,
            replaceable: self.sections[number - 1].flags & COMDAT != 0,
        })
    }

    /// Symbols by their places, as [`super::Object::name_functions`] reads them.
    pub fn named(&self, symbols: &[Symbol]) -> Vec<(RawSymbol, Place)> {
        let mut all = Vec::new();
        for (e, symbol) in self.entries.iter().zip(symbols) {
            let Some(e) = e.as_ref().filter(|e| e.section > 0 || e.class == WEAK_EXTERNAL) else {
                continue;
            };
            let replaceable = matches!(symbol.place, Place::Inside { replaceable: true, .. });
            // The symbol of a section is no function.
            let kind = if e.class == STATIC && e.more.is_some() {
                elf::STT_SECTION
            } else {
                elf::STT_NOTYPE
            };
            let raw = RawSymbol {
                name: e.name.clone(),
                kind,
                binding: if replaceable { elf::STB_WEAK } else { elf::STB_GLOBAL },
                other: 0,
                section: 1,
                value: e.value.into(),
                size: 0,
            };
            all.push((raw, symbol.place.clone()));
        }
        all
    }

    /// Reads the relocations of all loaded sections.
    ///
    /// # Errors
    /// One that is not on the list, lies outside its section or overlaps another.
    pub fn relocations(
        &self,
        symbols: &[Symbol],
        sections: &mut [Section],
        position: &FxHashMap<usize, usize>,
    ) -> Result<(), ObjectError> {
        for (number, h) in (1..).zip(&self.sections) {
            let Some(&here) = position.get(&number) else { continue };
            let section = &mut sections[here];
            let links = self.links(h);
            if links.len() != usize::from(h.links.1) {
                return Err(damaged(&h.name, 0, "its relocations lie outside the file"));
            }
            let mut all = Vec::new();
            for (offset, number, symbol) in links {
                let Some(&(_, name, width, same)) = TYPES.iter().find(|t| t.0 == number) else {
                    let what = format!("relocation type {number}, which no assembler writes");
                    return Err(damaged(&h.name, offset, what));
                };
                if symbol >= symbols.len() || offset + width > section.size {
                    let what = format!(
                        "{name} against symbol {symbol}, which there is not, or past the section's end"
                    );
                    return Err(damaged(&h.name, offset, what));
                }
                let (kind, less) = same.unwrap_or((OTHERS + u32::from(number), 0));
                // The addend stands in the field. Sections whose content is not known are not read.
                let field = section.data.get(offset as usize..(offset + width) as usize);
                let addend = field.map_or(0, |field| match *field {
                    [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
                    _ => field.try_into().map_or(0, i64::from_le_bytes),
                });
                let addend = addend.wrapping_sub(less);
                all.push(Relocation { offset, kind, symbol, addend, width, reach: (0, width) });
            }
            section.relocations = relocations::sorted(all, section, symbols, types)?;
        }
        Ok(())
    }
}

/// Whether a constant's name says what it holds, from the highest byte down, as `__xmm@` and its like.
fn names_content(name: &str, content: &[u8]) -> bool {
    let digits =
        ["__real@", "__xmm@", "__ymm@", "__zmm@"].iter().find_map(|p| name.strip_prefix(p));
    let said: String = content.iter().rev().map(|b| format!("{b:02x}")).collect();
    digits == Some(&said)
}

/// Checks the directives to the linker.
fn directives(content: &[u8]) -> Result<(), ObjectError> {
    let refuse = |what: String| Err(damaged(".drectve", 0, what));
    let Some(text) = std::str::from_utf8(content).ok().filter(|t| t.is_ascii()) else {
        return refuse("directives to the linker that are no text".into());
    };
    // Linkers differ in what else separates directives, and in what quotes do.
    if let Some(c) =
        text.chars().find(|c| matches!(c, '"' | '\\') || c.is_ascii_control() && *c != '\0')
    {
        return refuse(format!("directives to the linker with {c:?}"));
    }
    for directive in text.split([' ', '\0']).filter(|d| !d.is_empty()) {
        let rest = directive.strip_prefix(['-', '/']).unwrap_or_default();
        let name = rest.split(':').next().unwrap_or_default();
        // `a=b` exports b under the name of a.
        let mut parts = rest.split(',').skip(1);
        let plain = !rest.contains('=') && parts.all(|part| part.eq_ignore_ascii_case("data"));
        let renames = name.eq_ignore_ascii_case("export") && !plain;
        if renames || !DIRECTIVES.iter().any(|d| d.eq_ignore_ascii_case(name)) {
            return refuse(format!(
                "the directive {directive} to the linker; known are {}",
                DIRECTIVES.join(", ")
            ));
        }
    }
    Ok(())
}
