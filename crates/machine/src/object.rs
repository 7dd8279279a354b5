//! ELF objects: sections laid out, relocations resolved, symbols, disassembly for messages.

use crate::error::ObjectError;
use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};
use object::elf;
use object::read::elf::{ElfFile64, SectionHeader as _};
use object::read::{Object as _, ObjectSection as _, ObjectSymbol as _, ObjectSymbolTable as _};
use object::{
    Architecture, Endianness, ObjectKind, RelocationFlags, RelocationTarget, SectionFlags,
    SectionIndex, SymbolFlags, SymbolScope, SymbolSection,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Gap between sections of a relocatable object, so that no address lies in two.
const GAP: u64 = 0x1000;

/// An ELF object: sections laid out, relocations resolved, symbols.
///
/// A relocatable object's sections get addresses here (the first executable one starts at 0), and
/// its relocations are resolved as the static linker would; a linked one keeps its addresses.
pub struct Object {
    pub(crate) sections: Vec<Section>,
    functions: Vec<Function>,
    pub(crate) relocatable: bool,
}

/// A function symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The symbol's name.
    pub name: String,
    /// Its address, see [`Object`].
    pub address: u64,
    /// Its size in bytes as the symbol table has it (often 0 for hand-written assembly).
    pub size: u64,
    /// Whether other objects can call it.
    pub global: bool,
    pub(crate) section: usize,
    pub(crate) offset: u64,
}

/// A section that is loaded.
pub(crate) struct Section {
    pub name: String,
    pub address: u64,
    pub align: u64,
    pub data: Vec<u8>,
    pub writable: bool,
    pub executable: bool,
    /// Size of one entry if the linker may merge equal entries: it moves each on its own, so that
    /// neighbours are neighbours no longer.
    pub entry: Option<u64>,
    /// By offset of the field.
    pub relocations: BTreeMap<u64, Relocation>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// S + A - P in 32 bits (`PC32`, `PLT32`).
    Relative,
    /// S + A in 32 bits, zero- or sign-extended (`32`, `32S`): the linker checks that it fits.
    Absolute32,
    /// S + A in 64 bits.
    Absolute64,
    /// The distance of a linker-filled slot holding S (`GOTPCREL` and its relaxable forms).
    GotSlot,
    /// Not understood; refused where it is used.
    Other(u32),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Offset in a section of this object (by position in `sections`).
    Inside { section: usize, offset: i64 },
    /// A symbol that some other object defines.
    Outside(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Relocation {
    pub kind: Kind,
    pub target: Target,
    pub addend: i64,
    /// Relative to a section rather than to a symbol in it.
    pub by_section: bool,
    /// Name of a definition that the final link may replace by another (weak, or global in a
    /// shared library).
    pub replaceable: Option<String>,
}

impl Relocation {
    pub fn size(&self) -> u64 {
        if self.kind == Kind::Absolute64 { 8 } else { 4 }
    }
}

fn damaged(section: &str, offset: u64, what: impl ToString) -> ObjectError {
    ObjectError::Damaged { section: section.into(), offset, what: what.to_string() }
}

impl Object {
    /// Reads an x86-64 ELF file: relocatable (`.o`), shared or executable.
    ///
    /// # Errors
    /// If it is not one, or damaged.
    pub fn parse(bytes: &[u8]) -> Result<Object, ObjectError> {
        let not_elf = |e: &dyn ToString| ObjectError::NotElf(e.to_string());
        if bytes.len() < 4 || bytes[..4] != *b"\x7fELF" {
            return Err(not_elf(&"it does not start with the ELF magic number"));
        }
        let file = ElfFile64::<Endianness>::parse(bytes).map_err(|e| not_elf(&e))?;
        if file.architecture() != Architecture::X86_64 {
            return Err(not_elf(&format!("its processor is {:?}", file.architecture())));
        }
        let relocatable = match file.kind() {
            ObjectKind::Relocatable => true,
            ObjectKind::Dynamic | ObjectKind::Executable => false,
            other => return Err(not_elf(&format!("it is of kind {other:?}"))),
        };
        let mut object = Object { sections: Vec::new(), functions: Vec::new(), relocatable };
        let position = object.read_sections(&file)?;
        object.read_symbols(&file, &position);
        if relocatable {
            object.read_relocations(&file, &position)?;
        } else {
            object.read_dynamic_relocations(&file, &position);
        }
        Ok(object)
    }

    fn read_sections(
        &mut self,
        file: &ElfFile64<'_, Endianness>,
    ) -> Result<FxHashMap<SectionIndex, usize>, ObjectError> {
        let relocatable = self.relocatable;
        let mut loaded = Vec::new();
        for section in file.sections() {
            let name = section.name().unwrap_or("?").to_string();
            let SectionFlags::Elf { sh_type, sh_flags } = section.flags() else { continue };
            if sh_flags.0 & elf::SHF_ALLOC.0 == 0 || section.size() == 0 {
                continue;
            }
            let size = section.size();
            if size > 1 << 30 {
                return Err(damaged(&name, 0, format!("{size} bytes are too many")));
            }
            let data = if sh_type == elf::SHT_NOBITS {
                vec![0; size as usize]
            } else {
                section.data().map_err(|e| damaged(&name, 0, e))?.to_vec()
            };
            // Relocated constants live in sections that are made read-only before use.
            let writable = sh_flags.0 & elf::SHF_WRITE.0 != 0 && !name.starts_with(".data.rel.ro");
            let merged = sh_flags.0 & (elf::SHF_MERGE.0 | elf::SHF_STRINGS.0);
            let size_of_entry = section.elf_section_header().sh_entsize(file.endian());
            let entry = (relocatable && merged == elf::SHF_MERGE.0 && size_of_entry > 0)
                .then_some(size_of_entry);
            loaded.push((
                section.index(),
                Section {
                    name,
                    address: section.address(),
                    align: section.align().max(1),
                    data,
                    writable,
                    executable: sh_flags.0 & elf::SHF_EXECINSTR.0 != 0,
                    entry,
                    relocations: BTreeMap::new(),
                },
            ));
        }
        if self.relocatable {
            loaded.sort_by_key(|(index, s)| (!s.executable, index.0));
            let mut next = 0;
            for (_, s) in &mut loaded {
                s.address = u64::next_multiple_of(next, s.align.clamp(1, 1 << 16));
                next = s.address + s.data.len() as u64 + GAP;
            }
        }
        let position = loaded.iter().enumerate().map(|(i, (index, _))| (*index, i)).collect();
        self.sections = loaded.into_iter().map(|(_, s)| s).collect();
        Ok(position)
    }

    fn read_symbols(
        &mut self,
        file: &ElfFile64<'_, Endianness>,
        position: &FxHashMap<SectionIndex, usize>,
    ) {
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let (Ok(name), Some(index)) = (symbol.name(), symbol.section_index()) else { continue };
            let Some(&section) = position.get(&index) else { continue };
            let s = &self.sections[section];
            let kind = elf_type(symbol.flags());
            let callable = kind == elf::STT_FUNC.0 || kind == elf::STT_NOTYPE.0;
            if !s.executable || name.is_empty() || !callable {
                continue;
            }
            let base = if self.relocatable { 0 } else { s.address };
            let Some(offset) = symbol.address().checked_sub(base) else { continue };
            if offset >= s.data.len() as u64 {
                continue;
            }
            let function = Function {
                name: name.to_string(),
                address: s.address + offset,
                size: symbol.size(),
                global: symbol.is_global(),
                section,
                offset,
            };
            if !self.functions.contains(&function) {
                self.functions.push(function);
            }
        }
        self.functions.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    }

    fn read_relocations(
        &mut self,
        file: &ElfFile64<'_, Endianness>,
        position: &FxHashMap<SectionIndex, usize>,
    ) -> Result<(), ObjectError> {
        for section in file.sections() {
            let Some(&here) = position.get(&section.index()) else { continue };
            for (offset, relocation) in section.relocations() {
                let name = &self.sections[here].name;
                let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
                let kind = match r_type {
                    elf::R_X86_64_NONE => continue,
                    elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => Kind::Relative,
                    elf::R_X86_64_32 | elf::R_X86_64_32S => Kind::Absolute32,
                    elf::R_X86_64_64 => Kind::Absolute64,
                    elf::R_X86_64_GOTPCREL
                    | elf::R_X86_64_GOTPCRELX
                    | elf::R_X86_64_REX_GOTPCRELX => Kind::GotSlot,
                    other => Kind::Other(other.0),
                };
                let RelocationTarget::Symbol(index) = relocation.target() else {
                    return Err(damaged(name, offset, "a relocation without a symbol"));
                };
                let symbol = file.symbol_by_index(index).map_err(|e| damaged(name, offset, e))?;
                let symbol_name = symbol.name().unwrap_or("?").to_string();
                let ifunc = elf_type(symbol.flags()) == elf::STT_GNU_IFUNC.0;
                let inside = match symbol.section() {
                    SymbolSection::Section(s) if !ifunc => position.get(&s),
                    _ => None,
                };
                let target = match inside {
                    Some(&section) => Target::Inside { section, offset: symbol.address() as i64 },
                    None => Target::Outside(symbol_name.clone()),
                };
                let replaceable = (symbol.is_weak() || symbol.scope() == SymbolScope::Dynamic)
                    .then_some(symbol_name);
                let by_section = elf_type(symbol.flags()) == elf::STT_SECTION.0;
                let addend = relocation.addend();
                let relocation = Relocation { kind, target, addend, by_section, replaceable };
                let end = offset.checked_add(relocation.size());
                if end.is_none_or(|e| e > self.sections[here].data.len() as u64) {
                    return Err(damaged(name, offset, "a relocation past the section's end"));
                }
                self.sections[here].relocations.insert(offset, relocation);
            }
        }
        Ok(())
    }

    /// Slots that the loader fills.
    fn read_dynamic_relocations(
        &mut self,
        file: &ElfFile64<'_, Endianness>,
        position: &FxHashMap<SectionIndex, usize>,
    ) {
        let Some(relocations) = file.dynamic_relocations() else { return };
        for (address, relocation) in relocations {
            let Some((here, offset)) = self.locate(address) else { continue };
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let mut addend = relocation.addend();
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => {
                    file.dynamic_symbol_table().and_then(|t| t.symbol_by_index(index).ok())
                }
                _ => None,
            };
            let target = match (r_type, &symbol) {
                (elf::R_X86_64_RELATIVE, _) => match self.locate(addend as u64) {
                    Some((section, offset)) => {
                        addend = 0;
                        Target::Inside { section, offset: offset as i64 }
                    }
                    None => continue,
                },
                (_, Some(symbol)) => match symbol.section_index().and_then(|i| position.get(&i)) {
                    Some(&section) if elf_type(symbol.flags()) != elf::STT_GNU_IFUNC.0 => {
                        let base = self.sections[section].address;
                        let offset = symbol.address().wrapping_sub(base) as i64;
                        Target::Inside { section, offset }
                    }
                    _ => Target::Outside(symbol.name().unwrap_or("?").to_string()),
                },
                _ => Target::Outside(format!("relocation of type {}", r_type.0)),
            };
            let kind = match r_type {
                elf::R_X86_64_RELATIVE
                | elf::R_X86_64_64
                | elf::R_X86_64_GLOB_DAT
                | elf::R_X86_64_JUMP_SLOT => Kind::Absolute64,
                other => Kind::Other(other.0),
            };
            let replaceable = symbol.and_then(|s| s.name().ok().map(str::to_string));
            let by_section = false;
            let relocation = Relocation { kind, target, addend, by_section, replaceable };
            self.sections[here].relocations.insert(offset, relocation);
        }
    }

    /// Functions (and other labels in code), by address.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter()
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        let mut same = self.functions.iter().filter(|f| f.name == name);
        let first = same.next()?;
        Some(same.find(|f| f.global).filter(|_| !first.global).unwrap_or(first))
    }

    /// Section (by position) and offset of an address.
    pub(crate) fn locate(&self, address: u64) -> Option<(usize, u64)> {
        self.sections.iter().enumerate().find_map(|(i, s)| {
            let offset = address.checked_sub(s.address)?;
            (offset < s.data.len() as u64).then_some((i, offset))
        })
    }

    /// `symbol+0x1f` for an address, or the bare number.
    pub fn describe(&self, address: u64) -> String {
        let Some((section, _)) = self.locate(address) else { return format!("{address:#x}") };
        let before = self.functions.iter().rev();
        match before.into_iter().find(|f| f.address <= address && f.section == section) {
            Some(f) if f.address == address => f.name.clone(),
            Some(f) => format!("{}+{:#x}", f.name, address - f.address),
            None => format!("{address:#x}"),
        }
    }

    /// The instruction at an address as text (Intel syntax), or `None` where there is none.
    pub fn disassemble(&self, address: u64) -> Option<String> {
        let (section, offset) = self.locate(address)?;
        let instruction = self.decode(section, offset)?.0;
        let mut text = String::new();
        let mut formatter = IntelFormatter::new();
        let options = formatter.options_mut();
        options.set_hex_prefix("0x");
        options.set_hex_suffix("");
        options.set_uppercase_hex(false);
        options.set_space_after_operand_separator(true);
        options.set_rip_relative_addresses(true);
        formatter.format(&instruction, &mut text);
        Some(text)
    }

    /// The bytes of the instruction at an address (up to 15, fewer at the section's end).
    pub fn bytes_at(&self, address: u64, length: usize) -> &[u8] {
        let Some((section, offset)) = self.locate(address) else { return &[] };
        let data = &self.sections[section].data[offset as usize..];
        &data[..data.len().min(length)]
    }

    /// The instruction and where in it displacement and immediate stand.
    pub(crate) fn decode(
        &self,
        section: usize,
        offset: u64,
    ) -> Option<(Instruction, iced_x86::ConstantOffsets)> {
        let s = &self.sections[section];
        let bytes = s.data.get(offset as usize..)?;
        let bytes = &bytes[..bytes.len().min(15)];
        let mut decoder = Decoder::with_ip(64, bytes, s.address + offset, DecoderOptions::NONE);
        if !decoder.can_decode() {
            return None;
        }
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        let constants = decoder.get_constant_offsets(&instruction);
        Some((instruction, constants))
    }
}

fn elf_type<S, Y>(flags: SymbolFlags<S, Y>) -> u8 {
    match flags {
        SymbolFlags::Elf { st_info, .. } => st_info.0 & 15,
        _ => u8::MAX,
    }
}
