//! Shared objects and executables: what the loader makes of their segments.
//!
//! A linked file becomes one section, its image, in which every place has its final distance from
//! every other. Section headers say nothing of it: the loader reads segments and the dynamic
//! section. What the loader does not protect from being written has no known content. It relocates
//! the rest once; each such relocation is on the list of its instruction set, or the file is
//! refused. Section headers are used for one thing, to find the symbol tables that name functions.

mod dynamic;
mod relocate;
mod segments;

use super::elf::{self, File, RawSymbol, damaged};
use super::sections::{Entries, Section};
use super::symbols::{self, Place, Symbol};
use crate::error::ObjectError;
use dynamic::Loader;
pub(crate) use relocate::{is_address, of};
use rustc_hash::{FxHashMap, FxHashSet};
pub(crate) use segments::{Content, Part, property};

/// The name of the one section.
const IMAGE: &str = "image";

/// A linked file as this crate sees objects.
pub(crate) struct Image {
    pub section: Section,
    /// The image itself, and then the dynamic symbols, for relocations.
    pub symbols: Vec<Symbol>,
    /// Symbols by which functions are found, with their places in the image.
    pub named: Vec<(RawSymbol, Place)>,
    /// Names with several definitions.
    pub ambiguous: Vec<String>,
    /// Variables by their names: their first bytes in the image, and their sizes.
    pub variables: Vec<(String, u64, u64)>,
}

fn refuse<T>(what: impl ToString) -> Result<T, ObjectError> {
    Err(damaged("segments", 0, what))
}

/// The dynamic symbols that the file defines.
struct Own {
    symbols: Vec<RawSymbol>,
    /// The values of global ones by their names.
    values: FxHashMap<String, Vec<(u64, u8)>>,
}

impl Own {
    fn read(loader: &Loader<'_, '_>) -> Result<Own, ObjectError> {
        let mut own = Own { symbols: Vec::new(), values: FxHashMap::default() };
        for number in 1..loader.count()? {
            let raw = loader.symbol(number)?;
            let defined = raw.section != elf::SHN_UNDEF;
            // Some loaders take an undefined symbol with a value for a definition.
            if raw.name.is_empty() || !defined && raw.value == 0 {
                continue;
            }
            if raw.binding != elf::STB_LOCAL {
                own.values.entry(raw.name.clone()).or_default().push((raw.value, raw.kind));
            }
            if defined {
                own.symbols.push(raw);
            }
        }
        Ok(own)
    }

    /// Whether the loader, which looks a symbol up by its name, may find another of this file.
    fn unlike(&self, raw: &RawSymbol) -> bool {
        let here = raw.section != elf::SHN_UNDEF;
        let others = self.values.get(&raw.name).into_iter().flatten();
        raw.binding != elf::STB_LOCAL
            && others.into_iter().any(|v| !here || *v != (raw.value, raw.kind))
    }
}

/// Reads a linked file.
///
/// # Errors
/// What in it is on no list.
pub(crate) fn read(file: &File<'_>) -> Result<Image, ObjectError> {
    let mut loader = Loader::of(file)?;
    let dynamic = loader.read_dynamic()?;
    let last = loader.loaded[loader.loaded.len() - 1];
    let base = segments::base(&loader.loaded);
    let size = last.address + last.size - base;
    let mut data = vec![0; size as usize];
    for s in &loader.loaded {
        let at = (s.address - base) as usize;
        let bytes = file.range(s.offset, s.filled).unwrap_or_default();
        data[at..at + bytes.len()].copy_from_slice(bytes);
    }
    let mut section = Section {
        name: IMAGE.into(),
        address: base,
        align: segments::PAGE,
        size,
        data,
        executable: true,
        entries: Entries::One,
        refused: None,
        only_written: false,
        relocations: Vec::new(),
        parts: Vec::new(),
    };
    let whole = Place::Inside {
        section: 0,
        offset: 0,
        mark: 0,
        by_section: true,
        local: true,
        replaceable: false,
    };
    let mut symbols = vec![Symbol { name: IMAGE.into(), place: whole }];
    let own = Own::read(&loader)?;
    let chosen = relocate::relocate(&loader, &own, &mut section, &mut symbols)?;
    // An executable without a loader relocates itself.
    let loaded = file.kind == elf::ET_DYN && !loader.starts() || segments::is_loaded(file);
    let protected = segments::protected(&loader, dynamic && !chosen && loaded)?;
    section.parts = segments::parts(&loader, &section, protected, loader.binds_at_once())?;
    let (named, ambiguous) = named(&loader, own, &section)?;
    let variable = |(raw, place): &(RawSymbol, Place)| match *place {
        Place::Inside { offset, .. } if raw.kind == elf::STT_OBJECT && raw.size > 0 => {
            Some((raw.name.clone(), offset, raw.size))
        }
        _ => None,
    };
    let variables = named.iter().filter_map(variable).collect();
    Ok(Image { section, symbols, named, ambiguous, variables })
}

/// Where a symbol's value lies in the image.
fn place(raw: &RawSymbol, image: &Section) -> Place {
    if raw.section == elf::SHN_UNDEF && (raw.other & 3 != 0 || raw.value != 0) {
        return Place::Refused(
            "it is not defined, and has a value or cannot be seen elsewhere".into(),
        );
    }
    let mut raw = raw.clone();
    // The number of a section says only whether the symbol is defined here.
    if raw.section != elf::SHN_UNDEF && raw.section < elf::SHN_LORESERVE {
        let Some(offset) = raw.value.checked_sub(image.address) else {
            return Place::Refused("it lies outside the file's segments".into());
        };
        (raw.section, raw.value) = (1, offset);
    }
    let position = FxHashMap::from_iter([(1, 0)]);
    let place = symbols::place(&raw, std::slice::from_ref(image), &position, false);
    match place.unwrap_or_else(Place::Refused) {
        // Not every loader minds who may see a symbol.
        Place::Inside { section, offset, mark, by_section, local, .. } => {
            Place::Inside { section, offset, mark, by_section, local, replaceable: !local }
        }
        other => other,
    }
}

/// Symbols that name functions, and names with several definitions.
type Named = (Vec<(RawSymbol, Place)>, Vec<String>);

/// The loader's symbols, which its hash tables count, and those of the file's own table. Section
/// headers, which the loader does not read, say where that is: it gives names to addresses and
/// nothing else.
fn named(loader: &Loader<'_, '_>, own: Own, section: &Section) -> Result<Named, ObjectError> {
    let mut all = own.symbols;
    let mut tables = loader.file.sections.iter().filter(|h| h.kind == elf::SHT_SYMTAB);
    if let Some(h) = tables.next() {
        all.extend(loader.file.table(h)?);
    }
    if tables.next().is_some() {
        return refuse("a second symbol table");
    }
    all.retain(|raw| raw.section != elf::SHN_UNDEF && !raw.name.is_empty());
    let mut values: FxHashMap<String, u64> = FxHashMap::default();
    let mut ambiguous = FxHashSet::default();
    let mut named = Vec::new();
    for raw in all {
        if raw.binding != elf::STB_LOCAL {
            match values.get(&raw.name) {
                // Both tables have it.
                Some(value) if *value == raw.value => continue,
                Some(_) => _ = ambiguous.insert(raw.name.clone()),
                None => _ = values.insert(raw.name.clone(), raw.value),
            }
        }
        let place = place(&raw, section);
        named.push((raw, place));
    }
    named.retain(|(raw, _)| !ambiguous.contains(&raw.name));
    Ok((named, ambiguous.into_iter().collect()))
}
