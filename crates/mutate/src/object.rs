//! Where code, constants and relocations of an object lie in its file.

use object::read::elf::{ElfFile32, ElfFile64, SectionHeader as _};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind, SymbolKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// Why an object cannot be mutated.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// Not an ELF file that can be read.
    #[error("not an ELF object: {0}")]
    NotElf(#[from] object::Error),
    /// For another machine.
    #[error("mutants are made of x86-64, AArch64 and Cortex-M4 objects; this one is for {0:?}")]
    Machine(object::Architecture),
    /// Nothing to mutate.
    #[error("the object has no code")]
    NoCode,
}

/// An instruction set that mutants are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// x86-64.
    X86_64,
    /// AArch64.
    Aarch64,
    /// Thumb-2, as Cortex-M4 has it.
    Thumb,
}

/// A function's bytes.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// Offset of its first byte in its section: the address that disassemblers show.
    pub address: u64,
    /// Offset of its first byte in the file.
    pub file: usize,
    /// Its length.
    pub length: usize,
    /// By file offset of the field: file offset of the relocation's addend and the addend.
    pub relocations: BTreeMap<usize, (usize, i64)>,
    /// File offsets of data that lies in it, where symbols say so.
    pub data: Vec<Range<usize>>,
}

impl Function {
    /// The first relocation in these bytes of the file: the field's offset in them, the file offset of the
    /// addend, the addend.
    pub fn relocation(&self, bytes: Range<usize>) -> Option<(usize, usize, i64)> {
        let (&field, &(at, addend)) = self.relocations.range(bytes.clone()).next()?;
        Some((field - bytes.start, at, addend))
    }
}

/// A section of constants.
#[derive(Clone, Debug)]
pub struct Constants {
    /// Its name, such as `.rodata.cst32`.
    pub name: String,
    /// Offset of its first byte in the file.
    pub file: usize,
    /// Its length.
    pub length: usize,
}

/// All functions and constants.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What the code is.
    pub isa: Isa,
    /// Functions in the order of their addresses.
    pub functions: Vec<Function>,
    /// Sections that are loaded and neither written nor executed.
    pub constants: Vec<Constants>,
}

impl Layout {
    /// Finds them.
    ///
    /// # Errors
    /// If the file is not an ELF object with code of a machine that is known here.
    pub fn parse(bytes: &[u8]) -> Result<Layout, LayoutError> {
        if let object::File::Elf32(file) = object::File::parse(bytes)? {
            return thumb(bytes, &file);
        }
        let file: ElfFile64<'_, object::Endianness> = ElfFile64::parse(bytes)?;
        let isa = match file.architecture() {
            object::Architecture::X86_64 => Isa::X86_64,
            object::Architecture::Aarch64 => Isa::Aarch64,
            other => return Err(LayoutError::Machine(other)),
        };
        let endian = file.endian();
        let mut constants = Vec::new();
        let mut texts = BTreeMap::new();
        for section in file.sections() {
            let name = section.name()?.to_owned();
            let Some((offset, length)) = section.file_range() else { continue };
            let (offset, length) = (offset as usize, length as usize);
            match section.kind() {
                SectionKind::Text if length > 0 => {
                    let mut relocations = BTreeMap::new();
                    if let Some(header) = section.elf_relocation_section()? {
                        let table = header.sh_offset(endian) as usize;
                        for (i, r) in section.elf_linked_rela()?.iter().enumerate() {
                            // Elf64_Rela: offset, info, addend of eight bytes each.
                            let field = offset + r.r_offset.get(endian) as usize;
                            relocations
                                .insert(field, (table + 24 * i + 16, r.r_addend.get(endian)));
                        }
                    }
                    texts.insert(section.index().0, (offset, relocations));
                }
                SectionKind::ReadOnlyData | SectionKind::ReadOnlyString
                    if length > 0 && !name.starts_with(".eh_frame") =>
                {
                    constants.push(Constants { name, file: offset, length });
                }
                _ => {}
            }
        }
        let mut functions: Vec<Function> = file
            .symbols()
            .filter(|s| s.kind() == SymbolKind::Text && s.size() > 0)
            .filter_map(|s| {
                let (offset, relocations) = texts.get(&s.section_index()?.0)?;
                let first = offset + s.address() as usize;
                let length = s.size() as usize;
                Some(Function {
                    name: s.name().unwrap_or("?").to_owned(),
                    address: s.address(),
                    file: first,
                    length,
                    relocations: relocations
                        .range(first..first + length)
                        .map(|(&k, &v)| (k, v))
                        .collect(),
                    data: Vec::new(),
                })
            })
            .collect();
        settle(&mut functions, bytes)?;
        Ok(Layout { isa, functions, constants })
    }
}

/// Functions in order, each once.
fn settle(functions: &mut Vec<Function>, bytes: &[u8]) -> Result<(), LayoutError> {
    functions.retain(|f| f.file + f.length <= bytes.len());
    functions.sort_by_key(|f| (f.file, f.length));
    functions.dedup_by_key(|f| f.file);
    if functions.is_empty() { Err(LayoutError::NoCode) } else { Ok(()) }
}

/// A Thumb object: addends stand in the code and in the constants, which mutants change there.
fn thumb(bytes: &[u8], file: &ElfFile32<'_, object::Endianness>) -> Result<Layout, LayoutError> {
    if file.architecture() != object::Architecture::Arm {
        return Err(LayoutError::Machine(file.architecture()));
    }
    let mut constants = Vec::new();
    let mut texts = BTreeMap::new();
    for section in file.sections() {
        let Some((offset, length)) = section.file_range() else { continue };
        let (offset, length) = (offset as usize, length as usize);
        match section.kind() {
            SectionKind::Text if length > 0 => {
                texts.insert(section.index().0, offset..offset + length);
            }
            SectionKind::ReadOnlyData | SectionKind::ReadOnlyString if length > 0 => {
                let name = section.name()?.to_owned();
                constants.push(Constants { name, file: offset, length });
            }
            _ => {}
        }
    }
    // `$t` and `$d` say where code and data begin.
    let mut marks = BTreeMap::new();
    let mut functions = Vec::new();
    for symbol in file.symbols() {
        let Some(text) = symbol.section_index().and_then(|index| texts.get(&index.0)) else {
            continue;
        };
        // The lowest bit says that it is Thumb.
        let address = symbol.address() & !1;
        let name = symbol.name().unwrap_or("?");
        let first = text.start + address as usize;
        match name.get(..2) {
            Some("$t") | Some("$d") => {
                marks.insert(first, name.starts_with("$d"));
                marks.entry(text.end).or_insert(false);
            }
            _ if symbol.kind() == SymbolKind::Text && symbol.size() > 0 => {
                functions.push(Function {
                    name: name.to_owned(),
                    address,
                    file: first,
                    length: symbol.size() as usize,
                    relocations: BTreeMap::new(),
                    data: Vec::new(),
                });
            }
            _ => {}
        }
    }
    let ends = marks.keys().skip(1).copied().chain([bytes.len()]);
    let data: Vec<Range<usize>> = marks
        .iter()
        .zip(ends)
        .filter(|((_, data), _)| **data)
        .map(|((start, _), end)| *start..end)
        .collect();
    functions.iter_mut().for_each(|f| f.data.clone_from(&data));
    settle(&mut functions, bytes)?;
    Ok(Layout { isa: Isa::Thumb, functions, constants })
}
