//! Archives (`.a`): which member defines a symbol, in the form that GNU's and LLVM's `ar` write.
//!
//! Linkers look a symbol up in the archive's index, or in the members' symbol tables. Both are read here and must say
//! the same: one member. A member that is not read could define the symbol too, so it is refused by name.

use super::coff;
use super::elf::{self, File, damaged};
use crate::error::ObjectError;

const MAGIC: &[u8] = b"!<arch>\n";
const THIN: &[u8] = b"!<thin>\n";
/// Bytes of a member's header.
const HEADER: usize = 60;

/// A member of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member<'a> {
    /// Its name in the archive.
    pub name: String,
    /// The object.
    pub bytes: &'a [u8],
    /// Where its header stands.
    at: u64,
}

/// What an archive holds.
struct Archive<'a> {
    members: Vec<Member<'a>>,
    /// Symbols and where the headers of the members stand that define them, if there is an index.
    index: Option<Vec<(&'a [u8], u64)>>,
}

/// Whether a file is an archive, which [`defining`] reads.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(THIN)
}

/// The member of an archive that defines a symbol for others.
///
/// # Errors
/// If none does, if several do, or if the archive or one of its members cannot be read.
pub fn defining<'a>(bytes: &'a [u8], symbol: &str) -> Result<Member<'a>, ObjectError> {
    let none = || refuse(0, format!("no member defines `{symbol}` for other objects"));
    find(bytes, symbol)?.ok_or_else(none)
}

/// The same, if one does.
///
/// # Errors
/// If several do, or if the archive or one of its members cannot be read.
pub fn find<'a>(bytes: &'a [u8], symbol: &str) -> Result<Option<Member<'a>>, ObjectError> {
    let archive = read(bytes)?;
    let mut found: Vec<&Member> = Vec::new();
    for member in &archive.members {
        let defines = defines(member.bytes, symbol).map_err(|e| {
            let name = &member.name;
            refuse(member.at, format!("its member {name}, which may define `{symbol}`: {e}"))
        })?;
        if defines {
            found.push(member);
        }
    }
    let names = |of: &[&Member]| of.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", ");
    let one = match found[..] {
        [one] => one,
        [] => return Ok(None),
        _ => {
            let names = names(&found);
            let what = format!(
                "`{symbol}` is defined by {names}; take the one that is meant out (ar x) and name it"
            );
            return Err(refuse(0, what));
        }
    };
    if let Some(index) = &archive.index {
        let listed = index.iter().filter(|(name, _)| *name == symbol.as_bytes());
        let listed: Vec<u64> = listed.map(|l| l.1).collect();
        if listed != [one.at] {
            let name = &one.name;
            let what = format!(
                "{name} defines `{symbol}`, and the index says otherwise; write it again (ranlib)"
            );
            return Err(refuse(0, what));
        }
    }
    Ok(Some(one.clone()))
}

fn refuse(at: u64, what: impl ToString) -> ObjectError {
    damaged("the archive", at, what)
}

/// Whether an object defines a symbol that others can name.
fn defines(object: &[u8], symbol: &str) -> Result<bool, ObjectError> {
    if coff::is(object) {
        return Ok(coff::File::parse(object)?.defines(symbol));
    }
    let (_, symbols, _) = File::parse(object)?.symbols()?;
    let mut named = symbols.iter().filter(|s| s.name == symbol);
    Ok(named.any(|s| s.binding != elf::STB_LOCAL && s.section != elf::SHN_UNDEF))
}

/// The members, and the index.
fn read(bytes: &[u8]) -> Result<Archive<'_>, ObjectError> {
    if bytes.starts_with(THIN) {
        return Err(refuse(
            0,
            "it is thin: it names objects and holds none; name the object itself",
        ));
    }
    let mut archive = Archive { members: Vec::new(), index: None };
    let mut long_names: Option<&[u8]> = None;
    let mut at = MAGIC.len();
    while at < bytes.len() {
        let here = at as u64;
        let header = bytes.get(at..at + HEADER).filter(|h| h.ends_with(b"`\n"));
        let header = header.ok_or_else(|| refuse(here, "a member's header is damaged"))?;
        let size = decimal(&header[48..58]);
        let size = size.ok_or_else(|| refuse(here, "a member's size is no number"))?;
        let content = (at + HEADER).checked_add(size).and_then(|end| bytes.get(at + HEADER..end));
        let content = content.ok_or_else(|| refuse(here, "a member is cut off"))?;
        let name = trimmed(&header[..16]);
        match name {
            b"/" | b"/SYM64/" if archive.index.is_none() && archive.members.is_empty() => {
                let index = index(content, if name == b"/" { 4 } else { 8 });
                archive.index =
                    Some(index.ok_or_else(|| refuse(here, "its index of symbols is damaged"))?);
            }
            b"//" if long_names.is_none() => long_names = Some(content),
            _ => {
                let name = member_name(name, long_names).ok_or_else(|| {
                    refuse(here, "a member's name is not of the form of GNU's ar")
                })?;
                archive.members.push(Member { name, bytes: content, at: here });
            }
        }
        at += HEADER + size + size % 2;
    }
    Ok(archive)
}

/// A number in decimal digits, filled up with spaces.
fn decimal(field: &[u8]) -> Option<usize> {
    let digits = trimmed(field);
    let text =
        std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_digit))?;
    text.parse().ok()
}

fn trimmed(field: &[u8]) -> &[u8] {
    field.trim_ascii_end()
}

/// `name/`, or `/n` for the name at that offset of the table of long names.
fn member_name(field: &[u8], long_names: Option<&[u8]>) -> Option<String> {
    let name = match field.strip_prefix(b"/") {
        None => field.strip_suffix(b"/")?,
        Some(at) => {
            let rest = long_names?.get(decimal(at)?..)?;
            rest[..rest.iter().position(|b| *b == b'\n')?].strip_suffix(b"/")?
        }
    };
    let text = std::str::from_utf8(name).ok().filter(|n| !n.is_empty())?;
    Some(text.to_string())
}

/// An index of symbols: how many, where the members of each stand, their names.
fn index(content: &[u8], word: usize) -> Option<Vec<(&[u8], u64)>> {
    let number = |i: usize| {
        let bytes = content.get(word * i..word * (i + 1))?;
        Some(bytes.iter().fold(0, |n: u64, b| n << 8 | u64::from(*b)))
    };
    let count = usize::try_from(number(0)?).ok()?;
    let mut names = content.get(count.checked_add(1)?.checked_mul(word)?..)?;
    let mut entries = Vec::new();
    for i in 0..count {
        let end = names.iter().position(|b| *b == 0)?;
        entries.push((&names[..end], number(i + 1)?));
        names = &names[end + 1..];
    }
    Some(entries)
}
