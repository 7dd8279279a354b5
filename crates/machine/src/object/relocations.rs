//! What the linker writes into sections: each relocation exactly as the file has it, and no two in
//! one place.
//!
//! The module that uses a relocation's field says what the relocation *means*, see
//! `x86_64/links.rs`: only there it is known which instruction's operand it fills. This module
//! checks what holds whatever they mean.

use super::elf::{self, File, damaged};
use super::sections::Section;
use super::symbols::Symbol;
pub(crate) use super::types::Type;
use crate::error::ObjectError;
use rustc_hash::FxHashMap;

/// A relocation of a loaded section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Relocation {
    /// Of its field's first byte in the section.
    pub offset: u64,
    /// The processor's number for its type.
    pub kind: u32,
    /// Position in the symbol table.
    pub symbol: usize,
    pub addend: i64,
    /// Bytes that its field has.
    pub width: u64,
    /// Bytes before and after the field's first byte that the linker may rewrite.
    pub reach: (u64, u64),
}

impl Relocation {
    /// First and one-past-last byte that the linker may change.
    pub fn span(&self) -> (u64, u64) {
        (self.offset.saturating_sub(self.reach.0), self.offset.saturating_add(self.reach.1))
    }
}

/// The types of an instruction set that assemblers write; [`None`] for others.
pub(crate) type Types = fn(u32) -> Option<Type>;

/// The addend that stands in a field, by its type and bytes.
pub(crate) type Addends = fn(u32, &[u8]) -> i64;

/// Reads the relocations of all loaded sections.
pub(crate) fn read(
    file: &File<'_>,
    table_of_symbols: usize,
    symbols: &[Symbol],
    sections: &mut [Section],
    position: &FxHashMap<usize, usize>,
    (types, addends): (Types, Option<Addends>),
) -> Result<(), ObjectError> {
    let mut done = vec![false; sections.len()];
    for table in &file.sections {
        if table.kind != elf::SHT_RELA && table.kind != elf::SHT_REL {
            continue;
        }
        let Some(&here) = position.get(&(table.info as usize)) else {
            if table.info == 0 || table.info as usize >= file.sections.len() {
                return Err(damaged(&table.name, 0, "relocations of no section"));
            }
            continue;
        };
        let section = &mut sections[here];
        if (table.kind == elf::SHT_REL) != addends.is_some() {
            let which = if addends.is_some() { "with" } else { "without" };
            let what = format!("relocations {which} addends for {}", section.name);
            return Err(damaged(&table.name, 0, what));
        }
        if std::mem::replace(&mut done[here], true) {
            let what = format!("a second table of relocations for {}", section.name);
            return Err(damaged(&table.name, 0, what));
        }
        if table.link as usize != table_of_symbols {
            return Err(damaged(&table.name, 0, "relocations that name another symbol table"));
        }
        section.relocations = one(file, table, section, symbols, types, addends)?;
    }
    Ok(())
}

/// The relocations of one section, sorted.
fn one(
    file: &File<'_>,
    table: &elf::Header,
    section: &Section,
    symbols: &[Symbol],
    types: Types,
    addends: Option<Addends>,
) -> Result<Vec<Relocation>, ObjectError> {
    let mut all = Vec::new();
    for raw in file.relocations(table)? {
        let Some(kind) = types(raw.kind) else {
            let what = format!("relocation type {}, which no assembler writes", raw.kind);
            return Err(damaged(&section.name, raw.offset, what));
        };
        if kind.width == 0 {
            continue;
        }
        let symbol = raw.symbol as usize;
        let Some(target) = symbols.get(symbol) else {
            let what = format!("{} against symbol {symbol}, which there is not", kind.name);
            return Err(damaged(&section.name, raw.offset, what));
        };
        let end = raw.offset.checked_add(kind.width);
        if end.is_none_or(|e| e > section.size) {
            let what = format!("{} against `{}` past the section's end", kind.name, target.name);
            return Err(damaged(&section.name, raw.offset, what));
        }
        // Sections whose content is not known are not read, so their fields do not matter.
        let field = raw.offset as usize..(raw.offset + kind.width) as usize;
        let in_place = addends.and_then(|of| Some(of(raw.kind, section.data.get(field)?)));
        all.push(Relocation {
            offset: raw.offset,
            kind: raw.kind,
            symbol,
            addend: raw.addend.or(in_place).unwrap_or(0),
            width: kind.width,
            reach: kind.reach,
        });
    }
    sorted(all, section, symbols, types)
}

/// The relocations of a section by offset; no two lie in one place.
pub(super) fn sorted(
    mut all: Vec<Relocation>,
    section: &Section,
    symbols: &[Symbol],
    types: Types,
) -> Result<Vec<Relocation>, ObjectError> {
    all.sort_by_key(|r| r.offset);
    if let Some(w) = all.windows(2).find(|w| w[0].offset + w[0].width > w[1].offset) {
        let name = |r: &Relocation| types(r.kind).map_or("?", |t| t.name);
        let what = format!(
            "{} against `{}` overlaps {} against `{}`",
            name(&w[1]),
            symbols[w[1].symbol].name,
            name(&w[0]),
            symbols[w[0].symbol].name
        );
        return Err(damaged(&section.name, w[1].offset, what));
    }
    Ok(all)
}
