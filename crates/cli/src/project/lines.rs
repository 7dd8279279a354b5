//! Lines of the source, as an object's debug information has them. Nothing that is proved depends on them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId};
use object::read::{File, RelocationTarget, SectionIndex};
use object::{Object as _, ObjectKind, ObjectSection as _, ObjectSymbol as _, SectionKind};
use ringforge_machine::Object;

/// A line of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file, below the current directory if it is there.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u64,
}

type Reader<'a> = EndianSlice<'a, RunTimeEndian>;

/// The lines of the instructions at these addresses. What has none, or cannot be read, is left out.
pub fn of(bytes: &[u8], addresses: &[u64]) -> Vec<(u64, Source)> {
    let (Ok(file), Ok(ours)) = (File::parse(bytes), Object::parse(bytes)) else {
        return Vec::new();
    };
    let layout = Layout::of(&file);
    let places: Vec<(u64, u64)> = (addresses.iter())
        .filter_map(|&address| Some((address, layout.place(&ours, address)?)))
        .collect();
    let load = |id: SectionId| -> Result<Vec<u8>, gimli::Error> { Ok(layout.section(id.name())) };
    let Ok(sections) = gimli::DwarfSections::load(load) else { return Vec::new() };
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
    let mut found = Vec::new();
    // What was read before a mistake is right nevertheless.
    let _ = search(&dwarf, &places, &mut found);
    found
}

/// Where the sections of code stand: in a relocatable object, one after the other.
struct Layout<'a> {
    file: &'a File<'a>,
    bases: HashMap<SectionIndex, u64>,
}

impl<'a> Layout<'a> {
    fn of(file: &'a File<'a>) -> Layout<'a> {
        let (mut bases, mut next) = (HashMap::new(), 0u64);
        if file.kind() == ObjectKind::Relocatable {
            for section in file.sections().filter(|s| s.kind() == SectionKind::Text) {
                bases.insert(section.index(), next);
                next = next.saturating_add(section.size()).saturating_add(1);
            }
        }
        Layout { file, bases }
    }

    /// Where an instruction stands that the prover found at `address`.
    fn place(&self, ours: &Object, address: u64) -> Option<u64> {
        if ours.is_linked() {
            return Some(address);
        }
        let before = ours.functions().filter(|f| f.address <= address);
        let function = before.max_by_key(|f| f.address)?;
        let named = |s: &object::Symbol| s.is_definition() && s.name() == Ok(&function.name);
        let mut symbols = self.file.symbols().filter(named);
        let symbol = symbols.next()?;
        // Of two local functions with one name, it is not known which is meant.
        if symbols.next().is_some() {
            return None;
        }
        let base = self.bases.get(&symbol.section_index()?)?;
        // The lowest bit says that code for Arm is Thumb.
        let thumb = u64::from(self.file.architecture() == object::Architecture::Arm);
        Some(base + (symbol.address() & !thumb) + (address - function.address))
    }

    /// A section with its relocations.
    fn section(&self, name: &str) -> Vec<u8> {
        let Some(section) = self.file.section_by_name(name) else { return Vec::new() };
        let mut bytes = section.data().unwrap_or_default().to_vec();
        if self.file.kind() != ObjectKind::Relocatable {
            return bytes;
        }
        for (offset, relocation) in section.relocations() {
            let target = match relocation.target() {
                RelocationTarget::Symbol(index) => self.file.symbol_by_index(index).ok(),
                _ => None,
            };
            let Some(target) = target else { continue };
            let base = target.section_index().and_then(|index| self.bases.get(&index));
            let value = base.copied().unwrap_or(0).wrapping_add(target.address());
            let value = value.wrapping_add_signed(relocation.addend());
            let size = usize::from(relocation.size() / 8);
            let field =
                usize::try_from(offset).ok().and_then(|o| bytes.get_mut(o..)?.get_mut(..size));
            let Some(field) = field.filter(|field| field.len() <= 8) else { continue };
            let mut old = [0; 8];
            if relocation.has_implicit_addend() {
                old[..field.len()].copy_from_slice(field);
            }
            // Every processor that is read is little-endian.
            let new = value.wrapping_add(u64::from_le_bytes(old)).to_le_bytes();
            field.copy_from_slice(&new[..field.len()]);
        }
        bytes
    }
}

/// Looks for the lines of some places, given with the addresses that they are for.
fn search(
    dwarf: &Dwarf<Reader>,
    places: &[(u64, u64)],
    found: &mut Vec<(u64, Source)>,
) -> Result<(), gimli::Error> {
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let Some(program) = unit.line_program.clone() else { continue };
        let mut rows = program.rows();
        let mut last: Option<(u64, u64, u64)> = None;
        while let Some((header, row)) = rows.next_row()? {
            if let Some((from, index, line)) = last {
                let here = places.iter().filter(|p| from <= p.1 && p.1 < row.address());
                for &(address, _) in here {
                    let path = header.file(index).and_then(|f| path(dwarf, &unit, header, f));
                    if let Some(file) = path {
                        found.push((address, Source { file, line }));
                    }
                }
            }
            let line = row.line().map_or(0, |line| line.get());
            last = Some((row.address(), row.file_index(), line))
                .filter(|_| !row.end_sequence() && line != 0);
        }
    }
    Ok(())
}

/// The path of a file, below the current directory if it is there.
fn path(
    dwarf: &Dwarf<Reader>,
    unit: &gimli::Unit<Reader>,
    header: &gimli::LineProgramHeader<Reader>,
    file: &gimli::FileEntry<Reader>,
) -> Option<PathBuf> {
    let text = |attribute| -> Option<String> {
        let words = dwarf.attr_string(unit, attribute).ok()?;
        Some(words.to_string_lossy().into_owned())
    };
    // An absolute path takes the place of what it is joined to.
    let compiled_in = unit.comp_dir.map(|dir| dir.to_string_lossy().into_owned());
    let mut whole = PathBuf::from(compiled_in.unwrap_or_default());
    if let Some(directory) = file.directory(header) {
        whole.push(text(directory)?);
    }
    whole.push(text(file.path_name())?);
    let here = std::env::current_dir().unwrap_or_default();
    let below = whole.strip_prefix(&here).map(Path::to_owned);
    Some(below.unwrap_or(whole).components().collect())
}
