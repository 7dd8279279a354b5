//! Segments: which part of the image holds what when the code runs.

use super::super::elf::{File, Segment};
use super::super::sections::Section;
use super::dynamic::Loader;
use super::refuse;
use crate::error::ObjectError;

/// The smallest page of any loader; its addresses are multiples of it.
pub(super) const PAGE: u64 = 4096;
/// The longest image.
const MOST_BYTES: u64 = 1 << 28;

/// Types of segments.
const PT_LOAD: u32 = 1;
pub(super) const PT_DYNAMIC: u32 = 2;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const PT_GNU_PROPERTY: u32 = 0x6474_e553;
/// Those that change nothing here: NULL, INTERP, NOTE, PHDR, TLS, GNU_EH_FRAME, GNU_STACK, GNU_SFRAME.
const HARMLESS: [u32; 8] = [0, 3, 4, 6, 7, 0x6474_e550, 0x6474_e551, 0x6474_e554];

/// Notes, and the program headers themselves.
const PT_NOTE: u32 = 4;
const PT_PHDR: u32 = 6;
const PT_INTERP: u32 = 3;
/// The most program headers.
const MOST_SEGMENTS: usize = 64;

/// Flags of segments.
pub(super) const EXECUTE: u32 = 1;
pub(super) const WRITE: u32 = 2;
pub(super) const READ: u32 = 4;

/// What a part of an image holds when the code runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// Instructions, which may be read as data where `read`.
    Code { read: bool },
    /// What the file says.
    Constants,
    /// What the file says after the loader's relocations, and the loader has protected.
    Protected,
    /// A slot that the loader fills and leaves open to writes.
    Slot,
    /// Nothing that is known, and why.
    Unknown(String),
}

/// A part of an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub from: u64,
    pub to: u64,
    pub content: Content,
}

fn down(address: u64, page: u64) -> u64 {
    address & !(page - 1)
}

/// The end of a page that an address lies in or begins.
fn up(address: u64, page: u64) -> Option<u64> {
    Some(down(address.checked_add(page - 1)?, page))
}

/// The segments that are loaded, each checked, by address.
pub(super) fn loaded(file: &File<'_>) -> Result<Vec<Segment>, ObjectError> {
    let mut all = Vec::new();
    let mut end = 0;
    if file.segments.len() > MOST_SEGMENTS {
        return refuse(format!("{} program headers are too many", file.segments.len()));
    }
    for s in &file.segments {
        let known = [PT_LOAD, PT_DYNAMIC, PT_GNU_RELRO, PT_GNU_PROPERTY];
        if !known.contains(&s.kind) && !HARMLESS.contains(&s.kind) {
            return refuse(format!("a segment of type {:#x}, which is not known here", s.kind));
        }
        if s.kind != PT_LOAD {
            continue;
        }
        let at = s.address;
        if s.flags & !(READ | WRITE | EXECUTE) != 0 {
            return refuse(format!("the segment at {at:#x} has unknown flags ({:#x})", s.flags));
        }
        if s.align < PAGE || !s.align.is_power_of_two() {
            return refuse(format!("the segment at {at:#x} is aligned to {} bytes", s.align));
        }
        if s.offset % s.align != at % s.align {
            return refuse(format!(
                "the segment at {at:#x} and its bytes in the file lie differently in their pages"
            ));
        }
        if s.filled > s.size || s.filled != s.size && s.flags & WRITE == 0 {
            return refuse(format!(
                "the segment at {at:#x} has {} bytes in the file and {} in memory",
                s.filled, s.size
            ));
        }
        let last = at.checked_add(s.size).and_then(|e| up(e, s.align));
        let Some(last) = last.filter(|_| s.size <= MOST_BYTES) else {
            return refuse(format!("the segment at {at:#x} has too many bytes"));
        };
        if down(at, s.align) < end {
            return refuse(format!("the segment at {at:#x} shares pages with the one before it"));
        }
        if file.range(s.offset, s.filled).is_none() {
            return refuse(format!("the segment at {at:#x} lies outside the file"));
        }
        end = last;
        all.push(*s);
    }
    let Some(last) = all.last() else { return refuse("it has no segments that are loaded") };
    if last.address + last.size - base(&all) > MOST_BYTES {
        return refuse("its segments lie too far apart");
    }
    mapped(file, &all)?;
    Ok(all)
}

/// Checks that what the loader finds by address is what the file has at its offset. It looks so for the
/// dynamic section, the property note and the program headers, which also tell it where the file was put.
fn mapped(file: &File<'_>, loaded: &[Segment]) -> Result<(), ObjectError> {
    for s in &file.segments {
        if ![PT_PHDR, PT_DYNAMIC, PT_GNU_PROPERTY].contains(&s.kind) {
            continue;
        }
        let inside = |l: &&Segment| {
            s.address >= l.address
                && s.address.checked_add(s.filled).is_some_and(|e| e <= l.address + l.filled)
                && s.offset.checked_sub(l.offset) == Some(s.address - l.address)
        };
        let placed = s.kind != PT_PHDR || s.offset == file.headers;
        if !placed || !loaded.iter().any(|l| inside(&l)) {
            return refuse(format!(
                "the segment of type {:#x} at {:#x} is not where its bytes in the file are",
                s.kind, s.address
            ));
        }
    }
    Ok(())
}

/// The address at which the image begins: a page of the coarsest kind.
pub(super) fn base(loaded: &[Segment]) -> u64 {
    let page = loaded.iter().map(|s| s.align).max().unwrap_or(PAGE);
    loaded.first().map_or(0, |s| down(s.address, page))
}

/// The one segment of a type, if there is one.
pub(super) fn one(file: &File<'_>, kind: u32, what: &str) -> Result<Option<Segment>, ObjectError> {
    let mut all = file.segments.iter().filter(|s| s.kind == kind);
    let first = all.next().copied();
    if all.next().is_some() {
        return refuse(format!("two {what}"));
    }
    Ok(first)
}

/// What the loader protects from writes once it has relocated it, by address. It protects whole
/// pages; a page that ends later stays open to writes. `whole`: nothing but the relocations of the
/// file has written it.
pub(super) fn protected(
    loader: &Loader<'_, '_>,
    whole: bool,
) -> Result<Option<(u64, u64)>, ObjectError> {
    let Some(s) = one(loader.file, PT_GNU_RELRO, "segments that are protected after relocation")?
    else {
        return Ok(None);
    };
    let end = s.address.checked_add(s.size);
    let around =
        |l: &&Segment| s.address >= l.address && end.is_some_and(|e| e <= l.address + l.size);
    let Some(l) = loader.loaded.iter().find(around).filter(|l| l.flags & EXECUTE == 0) else {
        return refuse("what is protected after relocation lies in no segment of data");
    };
    // A page that begins before it is protected too, which makes no more bytes known.
    let end = down(s.address + s.size, l.align);
    Ok((whole && s.address < end).then_some((s.address, end)))
}

/// Whether a loader of its own relocates the file. A static program and the loader itself do it by
/// their own code, and this module knows nothing of that.
pub(super) fn is_loaded(file: &File<'_>) -> bool {
    file.segments.iter().any(|s| s.kind == PT_INTERP)
}

/// What each part of the image holds, by address. `now`: the loader binds all slots at once.
pub(super) fn parts(
    loader: &Loader<'_, '_>,
    section: &Section,
    protected: Option<(u64, u64)>,
    now: bool,
) -> Result<Vec<Part>, ObjectError> {
    let base = section.address;
    let mut parts = Vec::new();
    let mut push = |from: u64, to: u64, content: Content| {
        if from < to {
            parts.push(Part { from: from - base, to: to - base, content });
        }
    };
    for s in &loader.loaded {
        let (from, to) = (s.address, s.address + s.size);
        let (read, write, execute) =
            (s.flags & READ != 0, s.flags & WRITE != 0, s.flags & EXECUTE != 0);
        match (write, execute) {
            (true, true) => {
                return refuse(format!("the segment at {from:#x} can be written and executed"));
            }
            (false, true) => push(from, to, Content::Code { read }),
            (false, false) if read => push(from, to, Content::Constants),
            (false, false) => push(from, to, Content::Unknown("it cannot be read".into())),
            (true, false) => {
                let inside = protected.filter(|p| read && p.0 >= from && p.1 <= to);
                let (a, b) = inside.unwrap_or((from, from));
                let marks = marks(loader, section, (a, b), now);
                fill(&mut push, &marks, (from, a), &unknown());
                fill(&mut push, &marks, (a, b), &Content::Protected);
                fill(&mut push, &marks, (b, to), &unknown());
            }
        }
    }
    Ok(parts)
}

fn unknown() -> Content {
    let why = "it lies in a segment that can be written, so its content at entry is not known";
    Content::Unknown(why.into())
}

/// Stretches of data unlike the rest, in order. Some are slots that are bound later or stay open to writes.
/// The others the loader writes for its own use: the dynamic section, and the first slots of the global
/// offset table.
fn marks(
    loader: &Loader<'_, '_>,
    section: &Section,
    protected: (u64, u64),
    now: bool,
) -> Vec<(u64, u64, Content)> {
    let why = || Content::Unknown("the loader writes it for its own use".into());
    let mut own: Vec<(u64, u64, Content)> =
        loader.own().into_iter().map(|(from, to)| (from, to, why())).collect();
    for r in &section.relocations {
        let (from, to) = (section.address + r.offset, section.address + r.offset + r.width);
        let slot = matches!(r.kind, 6 | 7 | 1025 | 1026);
        let late = matches!(r.kind, 7 | 1026) && !now;
        let open = !(protected.0 <= from && to <= protected.1);
        if slot && (open || late) && !own.iter().any(|o| o.0 < to && from < o.1) {
            own.push((from, to, Content::Slot));
        }
    }
    own.sort_by_key(|m| (m.0, m.1));
    own
}

/// A stretch of data: its marks, and otherwise `rest`.
fn fill(
    push: &mut impl FnMut(u64, u64, Content),
    marks: &[(u64, u64, Content)],
    (from, to): (u64, u64),
    rest: &Content,
) {
    let mut at = from;
    for (a, b, content) in marks {
        let (a, b) = ((*a).clamp(at, to.max(at)), (*b).clamp(at, to.max(at)));
        if a < b {
            push(at, a, rest.clone());
            push(a, b, content.clone());
            at = b;
        }
    }
    push(at, to, rest.clone());
}

/// The promises of the property note that the loader reads, as bytes of the note.
pub(crate) fn property<'a>(file: &File<'a>) -> Result<Option<&'a [u8]>, ObjectError> {
    if let Some(s) = one(file, PT_GNU_PROPERTY, "property notes")? {
        return match file.range(s.offset, s.filled) {
            Some(bytes) => Ok(Some(bytes)),
            None => refuse("its property note lies outside the file"),
        };
    }
    // Loaders for x86-64 look among other notes too.
    let is_property = |w: &[u8]| w[..4] == [5, 0, 0, 0] && w[4..] == *b"GNU\0";
    for s in file.segments.iter().filter(|s| s.kind == PT_NOTE) {
        let bytes = file.range(s.offset, s.filled).unwrap_or_default();
        if bytes.windows(8).any(is_property) {
            return refuse("a property note without a segment of its own");
        }
    }
    Ok(None)
}
