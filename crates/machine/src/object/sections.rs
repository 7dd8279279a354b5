//! Which sections are loaded, and whether their content is known when the code runs.
//!
//! Flags and types decide what a section's bytes mean. Names can only rule a section out. Linkers
//! treat some names in ways of their own: `.init` is concatenated, `.eh_frame` is edited,
//! `.gnu.linkonce` is dropped. So a name that starts with a dot must be on the list.

use super::Architecture;
use super::elf::{self, File, Header, damaged};
use super::linked::{Content, Part};
use super::relocations::Relocation;
use crate::error::ObjectError;
use rustc_hash::FxHashMap;

/// The longest section: some four times the largest table of any honest object.
const MOST_BYTES: u64 = 1 << 32;
/// The coarsest alignment that loaders keep.
pub(super) const PAGE: u64 = 4096;

/// Parts of a section that the linker moves on their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Entries {
    /// None: the section stays in one piece.
    One,
    /// Constants of that many bytes each, merged with equal ones.
    Constants(u64),
    /// Strings, which may share their ends with longer ones: where each starts, and the last ends.
    Strings(Vec<u64>),
}

impl Entries {
    /// Start and end of each entry of a section of `size` bytes.
    pub fn spans(&self, size: u64) -> Vec<(u64, u64)> {
        match self {
            Entries::One => vec![(0, size)],
            Entries::Constants(step) => {
                (0..size / step).map(|i| (i * step, (i + 1) * step)).collect()
            }
            Entries::Strings(starts) => starts.windows(2).map(|w| (w[0], w[1])).collect(),
        }
    }

    /// The alignment that an entry at `start` keeps when the linker moves it, in a section with
    /// alignment `align`. GNU ld keeps for strings what divides the start; other linkers keep all.
    pub fn alignment(&self, align: u64, start: u64) -> u64 {
        let kept = match self {
            Entries::One => 0,
            Entries::Constants(step) => *step,
            Entries::Strings(_) => start,
        };
        if kept == 0 { align } else { align.min(1 << kept.trailing_zeros()) }
    }

    /// The entry that holds byte `offset` of a section of `size` bytes, and its start.
    pub fn find(&self, offset: i64, size: u64) -> Option<(usize, u64)> {
        let offset = u64::try_from(offset).ok().filter(|&o| o < size);
        match self {
            Entries::One => Some((0, 0)),
            Entries::Constants(step) => offset.map(|o| ((o / step) as usize, o / step * step)),
            Entries::Strings(starts) => {
                let at = starts.partition_point(|&s| s <= offset.unwrap_or(0)).checked_sub(1)?;
                offset.map(|_| (at, starts[at]))
            }
        }
    }
}

/// A section that is loaded.
pub(crate) struct Section {
    pub name: String,
    /// Where it stands in the layout of this tool.
    pub address: u64,
    /// What the linker and the loader keep: at most a page.
    pub align: u64,
    pub size: u64,
    /// Its bytes; none if it has none in the file.
    pub data: Vec<u8>,
    pub executable: bool,
    pub entries: Entries,
    /// Why its content is not known when the code runs, if it is not.
    pub refused: Option<String>,
    /// Whether the content is refused only because the section can be written (`.data` alone). Then
    /// `data` is what the file says, which holds if nobody writes to it.
    pub only_written: bool,
    /// By offset; none overlaps another.
    pub relocations: Vec<Relocation>,
    /// Of the image of a linked file, what is known by parts, in order; empty in other sections.
    pub parts: Vec<Part>,
}

impl Section {
    /// The parts of an image that bytes `from..to` lie in, and the whole stretch if it is in none.
    fn across(&self, from: u64, to: u64) -> Option<&[Part]> {
        let first = self.parts.partition_point(|p| p.to <= from);
        let mut at = from;
        let after = self.parts[first..].iter().take_while(|p| {
            let joins = p.from <= at && at < to;
            at = p.to;
            joins
        });
        let count = after.count();
        let found = &self.parts[first..first + count];
        found.last().is_some_and(|p| p.to >= to).then_some(found)
    }

    /// Why bytes `from..to` cannot be read as data, if a part of an image says so.
    pub fn unreadable(&self, from: u64, to: u64) -> Option<&str> {
        if self.parts.is_empty() {
            return None;
        }
        let Some(parts) = self.across(from, to) else { return Some("no segment is there") };
        parts.iter().find_map(|p| match &p.content {
            Content::Unknown(why) => Some(why.as_str()),
            Content::Code { read: false } => Some("it is code that can only be executed"),
            Content::Code { read: true }
            | Content::Constants
            | Content::Protected
            | Content::Slot => None,
        })
    }

    /// Whether bytes `from..to` are instructions, where parts of an image say which are.
    pub fn runs(&self, from: u64, to: u64) -> bool {
        self.parts.is_empty()
            || self.across(from, to).is_some_and(|parts| {
                parts.iter().all(|p| matches!(p.content, Content::Code { .. }))
            })
    }

    /// Whether a byte of `from..to` is known because the loader protects it.
    pub fn is_protected(&self, from: u64, to: u64) -> bool {
        let parts = self.across(from, to).unwrap_or_default();
        parts.iter().any(|p| p.content == Content::Protected)
    }

    /// Whether a byte is in a slot that the loader leaves open to writes.
    pub fn is_slot(&self, at: u64) -> bool {
        let part = self.across(at, at + 1).and_then(|p| p.first());
        part.is_some_and(|p| p.content == Content::Slot)
    }
}

/// What a flag is called.
fn flag_name(flag: u64) -> &'static str {
    match flag {
        elf::SHF_WRITE => "WRITE",
        elf::SHF_EXECINSTR => "EXECINSTR",
        elf::SHF_STRINGS => "STRINGS without MERGE",
        elf::SHF_LINK_ORDER => "LINK_ORDER",
        0x100 => "OS_NONCONFORMING",
        elf::SHF_TLS => "TLS",
        0x800 => "COMPRESSED",
        0x1000_0000 => "X86_64_LARGE",
        0x8000_0000 => "EXCLUDE",
        _ => "unknown",
    }
}

/// Types of sections that a name goes with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// PROGBITS, or NOBITS, which becomes zeros among them.
    Bytes,
    /// NOBITS alone.
    Nothing,
    /// What [`known_type`] allows.
    Typed,
}

/// Flags that linkers take over from each section into the output section that it ends in.
const SPREADING: u64 = elf::SHF_WRITE | elf::SHF_EXECINSTR | elf::SHF_TLS;

/// The names by which linkers merge the sections of all objects of a program, with the flags of
/// [`SPREADING`] that belong to each. A name that continues with a dot is merged with the shorter
/// one.
const MERGED: &[(&str, u64, Holds)] = &[
    (".text", elf::SHF_EXECINSTR, Holds::Bytes),
    (".init", elf::SHF_EXECINSTR, Holds::Bytes),
    (".fini", elf::SHF_EXECINSTR, Holds::Bytes),
    (".rodata", 0, Holds::Bytes),
    (".data", elf::SHF_WRITE, Holds::Bytes),
    (".bss", elf::SHF_WRITE, Holds::Nothing),
    (".tdata", elf::SHF_WRITE | elf::SHF_TLS, Holds::Bytes),
    (".tbss", elf::SHF_WRITE | elf::SHF_TLS, Holds::Nothing),
    (".init_array", elf::SHF_WRITE, Holds::Typed),
    (".fini_array", elf::SHF_WRITE, Holds::Typed),
    (".preinit_array", elf::SHF_WRITE, Holds::Typed),
    (".ctors", elf::SHF_WRITE, Holds::Bytes),
    (".dtors", elf::SHF_WRITE, Holds::Bytes),
    (".eh_frame", 0, Holds::Typed),
    (".gcc_except_table", 0, Holds::Bytes),
    (".ARM.exidx", 0, Holds::Typed),
    (".ARM.extab", 0, Holds::Bytes),
    (".sframe", 0, Holds::Typed),
    (".note", 0, Holds::Typed),
    (".stapsdt.base", 0, Holds::Bytes),
];

/// Why a loaded section would change what other sections become when it is linked, whether or not
/// the function uses it. Linkers merge by name, and the output section has the flags of all its
/// inputs. An empty `.bss` that says TLS makes the whole program's `.bss` thread-local.
fn spreads(h: &Header) -> Option<String> {
    let known = SPREADING
        | elf::SHF_ALLOC
        | elf::SHF_MERGE
        | elf::SHF_STRINGS
        | elf::SHF_LINK_ORDER
        | elf::SHF_GROUP
        | elf::SHF_GNU_RETAIN;
    if let Some(flag) = lowest(h.flags & !known) {
        return Some(format!(
            "the section flag {} ({flag:#x}), which is not known here",
            flag_name(flag)
        ));
    }
    let begins = |base: &str| {
        h.name.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let Some(&(base, flags, holds)) = MERGED.iter().find(|m| begins(m.0)) else {
        if h.name.starts_with('.') || h.name == "COMMON" {
            return Some("a name that linkers may treat in a way of their own".into());
        }
        let what = "the flag TLS outside .tdata and .tbss";
        return (h.flags & elf::SHF_TLS != 0).then(|| what.into());
    };
    if let Some(flag) = lowest((h.flags ^ flags) & SPREADING) {
        let has = if h.flags & flag == 0 { "lacks" } else { "has" };
        return Some(format!(
            "it {has} the flag {}, unlike other sections named {base}, with which linkers merge it",
            flag_name(flag)
        ));
    }
    let fits = match holds {
        Holds::Bytes => [elf::SHT_PROGBITS, elf::SHT_NOBITS].contains(&h.kind),
        Holds::Nothing => h.kind == elf::SHT_NOBITS,
        Holds::Typed => true,
    };
    (!fits).then(|| {
        format!(
            "type {:#x}, unlike other sections named {base}, with which linkers merge it",
            h.kind
        )
    })
}

/// The lowest of some flags.
fn lowest(flags: u64) -> Option<u64> {
    (flags != 0).then(|| 1 << flags.trailing_zeros())
}

/// Whether linkers place sections of that name by their flags alone.
fn ordinary(name: &str) -> bool {
    let list = [".text", ".rodata"];
    let known = |base: &str| {
        name.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let identifier = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name {
        "COMMON" => false,
        _ if name.starts_with('.') => list.into_iter().any(known),
        _ => !name.is_empty() && name.chars().all(identifier),
    }
}

/// Why the content of such a section is not known when the code runs, if it is not.
fn refusal(
    h: &Header,
    grouped: bool,
    entries: &Result<Entries, String>,
    architecture: Architecture,
) -> Option<String> {
    let name = &h.name;
    let align = architecture.code_alignment();
    if h.flags & elf::SHF_EXECINSTR != 0 && h.align < align {
        return Some(format!(
            "{name} holds code and is aligned to {} bytes, so that linkers may put it where {architecture} \
             executes nothing: its instructions lie at multiples of {align}",
            h.align.max(1)
        ));
    }
    if h.flags & elf::SHF_WRITE != 0 {
        let hint = if name.starts_with(".data.rel.ro") {
            "a table of addresses; its flags let it be written, whatever its name: compile with -fno-pic, \
             or use offsets"
        } else {
            "make the table const, or the buffer automatic"
        };
        return Some(format!(
            "{name} is a section that can be written: its content at entry is not known ({hint})"
        ));
    }
    if h.kind == elf::SHT_NOBITS {
        return Some(format!("{name} is a section without content in the file"));
    }
    if h.kind != elf::SHT_PROGBITS {
        return Some(format!("{name} is a section of type {:#x}, not PROGBITS", h.kind));
    }
    if grouped || h.flags & elf::SHF_GROUP != 0 {
        return Some(format!(
            "{name} is a member of a section group (COMDAT), for which the linker may take another \
             object's copy"
        ));
    }
    let mut known = elf::SHF_ALLOC | elf::SHF_EXECINSTR | elf::SHF_GNU_RETAIN;
    if h.flags & elf::SHF_MERGE != 0 && h.flags & elf::SHF_EXECINSTR == 0 {
        known |= elf::SHF_MERGE | elf::SHF_STRINGS;
    }
    if let Some(flag) = lowest(h.flags & !known) {
        return Some(format!("{name} has the section flag {} ({flag:#x})", flag_name(flag)));
    }
    if !ordinary(name) {
        return Some(format!("linkers treat sections named {name} in a way of their own"));
    }
    entries.as_ref().err().map(|why| format!("{name}: {why}"))
}

/// The entries of a section, or why they are not known.
fn entries(h: &Header, data: &[u8]) -> Result<Entries, String> {
    if h.flags & elf::SHF_MERGE == 0 {
        return Ok(Entries::One);
    }
    let step = h.entry;
    if step == 0 || step > 1 << 16 || !h.size.is_multiple_of(step) {
        return Err(format!("mergeable entries of {step} bytes in {} bytes", h.size));
    }
    if h.flags & elf::SHF_STRINGS == 0 {
        return Ok(Entries::Constants(step));
    }
    let mut starts = vec![0];
    for (i, character) in data.chunks_exact(step as usize).enumerate() {
        if character.iter().all(|b| *b == 0) {
            starts.push((i as u64 + 1) * step);
        }
    }
    if starts.last() != Some(&h.size) {
        return Err("a mergeable string that does not end".into());
    }
    Ok(Entries::Strings(starts))
}

/// Types that linkers and loaders give a meaning which no code under proof can see, and those that
/// are read here.
fn known_type(h: &Header) -> bool {
    let loaded = h.flags & elf::SHF_ALLOC != 0;
    let named = |name: &str| h.name == name || h.name.starts_with(&format!("{name}."));
    match h.kind {
        0 => !loaded,
        elf::SHT_PROGBITS | elf::SHT_NOBITS | elf::SHT_NOTE => true,
        elf::SHT_SYMTAB | elf::SHT_STRTAB | elf::SHT_RELA | elf::SHT_REL | elf::SHT_GROUP => {
            !loaded
        }
        elf::SHT_INIT_ARRAY => named(".init_array"),
        elf::SHT_FINI_ARRAY => named(".fini_array"),
        elf::SHT_PREINIT_ARRAY => named(".preinit_array"),
        elf::SHT_LLVM_ADDRSIG => !loaded,
        // One number, two meanings.
        elf::SHT_X86_64_UNWIND if named(".eh_frame") => true,
        elf::SHT_ARM_EXIDX => named(".ARM.exidx"),
        elf::SHT_ARM_ATTRIBUTES => !loaded && h.name == ".ARM.attributes",
        elf::SHT_GNU_SFRAME => named(".sframe"),
        _ => false,
    }
}

/// The loaded sections, executable ones first, each with its number in the file.
pub(crate) fn read(file: &File<'_>) -> Result<Vec<(usize, Section)>, ObjectError> {
    let grouped = file.grouped()?;
    let mut sections = Vec::new();
    // The flags that spread, of names that are none of [`MERGED`]: two sections may have one name.
    let mut named: FxHashMap<&str, u64> = FxHashMap::default();
    for (number, h) in file.sections.iter().enumerate() {
        if h.name.starts_with(".gnu.lto_") || h.name == ".llvm.lto" {
            let what = "the object carries code for link-time optimisation, which the linker compiles \
                        anew; compile without -flto, or let it do so first (gcc -flto -r -flinker-output=nolto-rel)";
            return Err(damaged(&h.name, 0, what));
        }
        if !known_type(h) {
            let what = format!("a section of type {:#x}, which is not known here", h.kind);
            return Err(damaged(&h.name, 0, what));
        }
        if h.flags & elf::SHF_ALLOC == 0 {
            continue;
        }
        if let Some(what) = spreads(h) {
            return Err(damaged(&h.name, 0, what));
        }
        let flags = h.flags & SPREADING;
        if *named.entry(&h.name).or_insert(flags) != flags {
            let what = "another section of this name, with which linkers merge it, has other flags";
            return Err(damaged(&h.name, 0, what));
        }
        if h.size > MOST_BYTES {
            return Err(damaged(&h.name, 0, format!("{} bytes are too many", h.size)));
        }
        let content = if h.kind == elf::SHT_NOBITS { &[][..] } else { file.content(h)? };
        let parts = entries(h, content);
        let grouped = grouped.contains(&(number as u32));
        let refused = refusal(h, grouped, &parts, file.architecture);
        // Linkers join what is named `.data` and leave its bytes alone.
        let only_written = h.name == ".data"
            && h.kind == elf::SHT_PROGBITS
            && h.flags == elf::SHF_ALLOC | elf::SHF_WRITE
            && !grouped;
        let known = refused.is_none() || only_written;
        sections.push((
            number,
            Section {
                name: h.name.clone(),
                address: 0,
                align: h.align.clamp(1, PAGE),
                size: h.size,
                data: if known { content.to_vec() } else { Vec::new() },
                executable: h.flags & elf::SHF_EXECINSTR != 0,
                entries: parts.ok().filter(|_| known).unwrap_or(Entries::One),
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
