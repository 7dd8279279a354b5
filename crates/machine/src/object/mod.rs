//! ELF and COFF objects: a whitelist of everything that gives their bytes a meaning.
//!
//! Relocatable objects are read by sections, as the linker reads them, and linked files by segments,
//! as the loader does. `archive` finds a member of an archive. `coff` has all that is COFF's own.
//!
//! Each module holds one list. `elf` has the structures and the file's header; `sections` has flags,
//! types and names; `symbols` has kinds of symbols. `relocations` and the instruction set's own module
//! have the types. `linked` has segments, the dynamic section and the loader's relocations.
//!
//! What is on no list is refused by name: when the object is read, if it could change the meaning of
//! anything else, or else where execution meets it.

pub(crate) mod aarch64;
pub mod archive;
pub(crate) mod arm;
mod coff;
mod elf;
mod linked;
mod properties;
mod relocations;
mod sections;
mod symbols;
mod types;
pub(crate) mod x86_64;

use crate::error::ObjectError;
pub(crate) use relocations::Relocation;
use rustc_hash::FxHashMap;
pub(crate) use sections::{Entries, Section};
pub(crate) use symbols::{Place, Symbol};

/// The instruction sets that are known here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// x86-64.
    X86_64,
    /// AArch64, little endian.
    AArch64,
    /// Armv7E-M: Thumb-2 with the DSP extension, as in the processors Cortex-M4 and M7, little endian.
    Armv7EM,
}

impl Architecture {
    /// The one of an ELF header's `e_machine`.
    fn of(machine: u16) -> Option<Architecture> {
        match machine {
            elf::EM_X86_64 => Some(Architecture::X86_64),
            elf::EM_AARCH64 => Some(Architecture::AArch64),
            elf::EM_ARM => Some(Architecture::Armv7EM),
            _ => None,
        }
    }

    /// Its relocation types.
    fn types(self) -> relocations::Types {
        match self {
            Architecture::X86_64 => x86_64::types,
            Architecture::AArch64 => aarch64::types,
            Architecture::Armv7EM => arm::types,
        }
    }

    /// How addends stand in fields, where relocations have none of their own.
    fn addends(self) -> Option<relocations::Addends> {
        match self {
            Architecture::X86_64 | Architecture::AArch64 => None,
            Architecture::Armv7EM => Some(arm::addend),
        }
    }

    /// What addresses of its instructions are multiples of.
    fn code_alignment(self) -> u64 {
        match self {
            Architecture::X86_64 => 1,
            Architecture::AArch64 => 4,
            Architecture::Armv7EM => 2,
        }
    }

    /// Whether its objects are ELF files of 64 bits.
    fn is_wide(self) -> bool {
        self != Architecture::Armv7EM
    }

    /// `e_flags` of its objects, and the bits that may be set in them.
    fn flags(self) -> (u64, u64) {
        if self == Architecture::Armv7EM { (arm::EABI_5, arm::FLOAT_ABI) } else { (0, 0) }
    }
}

impl std::fmt::Display for Architecture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Architecture::X86_64 => "x86-64",
            Architecture::AArch64 => "AArch64",
            Architecture::Armv7EM => "Armv7E-M",
        })
    }
}

/// Gap between sections in our layout, so that no address lies in two.
const GAP: u64 = 0x1000;

/// An object file. The sections of a relocatable object are laid out one after the other, and the first
/// executable one starts at 0. A linked file is one section, at the addresses of its segments.
pub struct Object {
    architecture: Architecture,
    /// Whether it is linked.
    linked: bool,
    /// Whether it is a COFF object, for Windows.
    coff: bool,
    /// How far from its place a relocation may change bytes.
    farthest: u64,
    /// Whether its addresses are those at which it runs.
    pub(crate) fixed: bool,
    pub(crate) sections: Vec<Section>,
    symbols: Vec<Symbol>,
    functions: Vec<Function>,
    /// Where code (true) and data begin in each section, by offset, where symbols say so.
    mapping: Vec<Vec<(u64, bool)>>,
    /// What the property note says of control flow.
    pub(crate) promises: properties::Promises,
    /// Variables of a linked file by their names: their first bytes in the image, and their sizes.
    variables: Vec<(String, u64, u64)>,
    /// Names of functions that cannot be called, and why.
    refused: Vec<(String, String)>,
}

/// Gives sections their places; with the position of each by its number in the file.
fn lay_out(read: Vec<(usize, Section)>) -> (Vec<Section>, FxHashMap<usize, usize>) {
    let mut position = FxHashMap::default();
    let mut sections = Vec::new();
    let mut next = 0u64;
    for (number, mut section) in read {
        section.address = next.next_multiple_of(section.align);
        next = section.address + section.size + GAP;
        position.insert(number, sections.len());
        sections.push(section);
    }
    (sections, position)
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
    /// Whether another object's definition may take its place when the program is linked.
    pub weak: bool,
    pub(crate) section: usize,
    pub(crate) offset: u64,
}

impl Object {
    /// Reads an ELF file of one of the instruction sets of [`Architecture`]: a relocatable object (`.o`),
    /// or a shared object or an executable of 64 bits. Or a COFF object for x86-64.
    ///
    /// # Errors
    /// If it is none, damaged, or holds what could change the meaning of the rest: see [`ObjectError`].
    pub fn parse(bytes: &[u8]) -> Result<Object, ObjectError> {
        if coff::is(bytes) {
            return Object::coff(bytes);
        }
        let file = elf::File::parse(bytes)?;
        let promises = properties::read(&file)?;
        if file.kind == elf::ET_REL {
            Object::relocatable(&file, promises)
        } else {
            Object::linked(&file, promises)
        }
    }

    /// Reads a relocatable object.
    fn relocatable(
        file: &elf::File<'_>,
        promises: properties::Promises,
    ) -> Result<Object, ObjectError> {
        let architecture = file.architecture;
        let (mut sections, position) = lay_out(sections::read(file)?);
        let (table, raw, locals) = file.symbols()?;
        let thumb = architecture == Architecture::Armv7EM;
        if thumb {
            arm::attributes(file)?;
        }
        let symbols = symbols::read(&raw, locals, &sections, &position, thumb)?;
        let kinds = (architecture.types(), architecture.addends());
        relocations::read(file, table, &symbols, &mut sections, &position, kinds)?;
        let mapping = arm::mapping(&raw, &sections, &position);
        let named = raw.into_iter().zip(symbols.iter().map(|s| s.place.clone())).collect();
        let mut object = Object {
            architecture,
            linked: false,
            coff: false,
            farthest: 24,
            fixed: false,
            sections,
            symbols,
            functions: Vec::new(),
            mapping,
            promises,
            variables: Vec::new(),
            refused: Vec::new(),
        };
        object.name_functions(named);
        Ok(object)
    }

    /// Reads a COFF object.
    fn coff(bytes: &[u8]) -> Result<Object, ObjectError> {
        let file = coff::File::parse(bytes)?;
        let (mut sections, position) = lay_out(file.sections()?);
        let symbols = file.symbols(&sections, &position)?;
        file.relocations(&symbols, &mut sections, &position)?;
        let named = file.named(&symbols);
        let mut object = Object {
            architecture: Architecture::X86_64,
            linked: false,
            coff: true,
            farthest: 8,
            fixed: false,
            mapping: vec![Vec::new(); sections.len()],
            sections,
            symbols,
            functions: Vec::new(),
            promises: properties::Promises::default(),
            variables: Vec::new(),
            refused: Vec::new(),
        };
        object.name_functions(named);
        Ok(object)
    }

    /// Reads a shared object or an executable.
    fn linked(file: &elf::File<'_>, promises: properties::Promises) -> Result<Object, ObjectError> {
        let image = linked::read(file)?;
        let why = "the file defines it at several addresses";
        let mut object = Object {
            architecture: file.architecture,
            linked: true,
            coff: false,
            farthest: image.section.relocations.iter().map(|r| r.width).max().unwrap_or(0),
            fixed: file.kind == elf::ET_EXEC,
            sections: vec![image.section],
            symbols: image.symbols,
            functions: Vec::new(),
            mapping: vec![Vec::new()],
            promises,
            variables: image.variables,
            refused: image.ambiguous.into_iter().map(|name| (name, why.to_string())).collect(),
        };
        object.name_functions(image.named);
        Ok(object)
    }

    /// Finds what can be called among symbols and their places.
    fn name_functions(&mut self, named: Vec<(elf::RawSymbol, Place)>) {
        let thumb = self.architecture == Architecture::Armv7EM;
        for (raw, place) in named {
            let callable = [elf::STT_FUNC, elf::STT_NOTYPE, elf::STT_GNU_IFUNC].contains(&raw.kind);
            // `$x` and `$d` say where code and data begin.
            let mapping = self.architecture != Architecture::X86_64 && raw.name.starts_with('$');
            if !callable || mapping || raw.name.is_empty() || raw.section == elf::SHN_UNDEF {
                continue;
            }
            match place {
                // Of other labels in Thumb code it is not said that they are functions.
                Place::Inside { mark: 0, .. } if thumb => {}
                Place::Inside { section, offset, local, .. } => {
                    let s = &self.sections[section];
                    if s.executable && offset < s.size && s.runs(offset, offset + 1) {
                        self.functions.push(Function {
                            address: s.address + offset,
                            name: raw.name,
                            size: raw.size,
                            global: !local,
                            weak: raw.binding == elf::STB_WEAK,
                            section,
                            offset,
                        });
                    }
                }
                Place::Refused(why) => self.refused.push((raw.name, why)),
                Place::Outside => {}
            }
        }
        self.functions.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    }

    /// Whether it is a shared object or an executable.
    pub fn is_linked(&self) -> bool {
        self.linked
    }

    /// Whether it is a COFF object, for Windows.
    pub fn is_coff(&self) -> bool {
        self.coff
    }

    /// The type of a relocation.
    fn kind(&self, number: u32) -> Option<relocations::Type> {
        if self.coff {
            coff::types(number)
        } else if self.linked {
            linked::of(self.architecture, number)
        } else {
            self.architecture.types()(number)
        }
    }

    /// Whether the loader of a linked file writes an address by relocations of that type.
    pub(crate) fn loads_address(&self, number: u32) -> bool {
        self.linked && linked::is_address(self.architecture, number)
    }

    /// The instruction set that it is for.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The symbol that a relocation names.
    pub(crate) fn symbol(&self, relocation: &Relocation) -> &Symbol {
        &self.symbols[relocation.symbol]
    }

    /// The relocations of a section by which the linker may change bytes `from..to`.
    pub(crate) fn touching(
        &self,
        section: usize,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = &Relocation> {
        let all = &self.sections[section].relocations;
        let farthest = self.farthest;
        let first = all.partition_point(|r| r.offset.saturating_add(farthest) <= from);
        let near = all[first..].iter().take_while(move |r| r.offset < to.saturating_add(farthest));
        near.filter(move |r| r.span().0 < to && from < r.span().1)
    }

    /// Type, symbol and place of a relocation in words.
    pub(crate) fn tell(&self, section: usize, r: &Relocation) -> String {
        let addend = if r.addend == 0 { String::new() } else { format!("{:+}", r.addend) };
        let name = self.kind(r.kind).map_or("?", |t| t.name);
        let (symbol, section) = (&self.symbol(r).name, &self.sections[section].name);
        format!("{name} against `{symbol}`{addend} at {section}+{:#x}", r.offset)
    }

    /// Functions (and other labels in code), by address.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter()
    }

    /// The function of that name that other objects call; of local ones, if it is the only one. In a
    /// linked file also what starts at an address (`0x1f40`), as in one without symbols.
    ///
    /// # Errors
    /// Why there is none.
    pub fn function(&self, name: &str) -> Result<Function, String> {
        if let Some(digits) = name.strip_prefix("0x").filter(|_| self.linked) {
            return self.function_at(name, digits);
        }
        let same: Vec<&Function> = self.functions.iter().filter(|f| f.name == name).collect();
        if let Some(global) = same.iter().find(|f| f.global) {
            return Ok((*global).clone());
        }
        // A local function of that name is not what others call.
        if let Some((_, why)) = self.refused.iter().find(|r| r.0 == name) {
            return Err(format!("`{name}` cannot be called: {why}"));
        }
        match same[..] {
            [one] => Ok(one.clone()),
            [] => Err(format!("the object defines no function `{name}`")),
            _ => Err(format!("{} local functions are named `{name}`", same.len())),
        }
    }

    /// What starts at an address of a linked file.
    fn function_at(&self, name: &str, digits: &str) -> Result<Function, String> {
        let address = u64::from_str_radix(digits, 16)
            .map_err(|_| format!("`{name}` is no address: write it as 0x1f40"))?;
        let place = self.locate(address).filter(|&(s, o)| self.sections[s].runs(o, o + 1));
        let Some((section, offset)) = place else {
            return Err(format!("the file has no code at {name}"));
        };
        let (name, size) = (name.to_string(), 0);
        Ok(Function { name, address, size, global: true, weak: false, section, offset })
    }

    /// The first byte of a variable in a linked file's image, and its size, if one alone has that name.
    pub(crate) fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let mut all = self.variables.iter().filter(|v| v.0 == name);
        let first = all.next()?;
        all.next().is_none().then_some((first.1, first.2))
    }

    /// Section (by position) and offset of an address.
    pub(crate) fn locate(&self, address: u64) -> Option<(usize, u64)> {
        self.sections.iter().enumerate().find_map(|(i, s)| {
            let offset = address.checked_sub(s.address)?;
            (offset < s.size).then_some((i, offset))
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

    /// The instruction at an address as text, or `None` where there is none.
    pub fn disassemble(&self, address: u64) -> Option<String> {
        self.instruction(address).map(|(text, _)| text)
    }

    /// The instruction at an address as text, and how many bytes it has.
    pub fn instruction(&self, address: u64) -> Option<(String, usize)> {
        let (section, offset) = self.locate(address)?;
        match self.architecture {
            Architecture::X86_64 => crate::x86_64::disassemble(self, section, offset),
            Architecture::AArch64 => crate::aarch64::disassemble(self, section, offset),
            // Constants stand between a function's instructions.
            Architecture::Armv7EM if !self.is_code(section, offset) => None,
            Architecture::Armv7EM => crate::thumb::disassemble(self, section, offset),
        }
    }

    /// Whether the mapping symbols say that code stands there.
    pub(crate) fn is_code(&self, section: usize, offset: u64) -> bool {
        self.is_marked(section, offset, true)
    }

    /// Whether the linker must leave these bytes of a section alone. In code for Arm it may rewrite
    /// whatever no `$d` marks as data. Linkers for Windows may put a jump where code begins. It rewrites instructions that meet an erratum of some
    /// processor (843419 of Cortex-A53, for which several compilers always ask), or bytes that look
    /// like them.
    pub(crate) fn is_data(&self, section: usize, from: u64, to: u64) -> bool {
        let s = &self.sections[section];
        if self.coff {
            return !s.executable;
        }
        if self.linked || !s.executable || self.architecture == Architecture::X86_64 {
            return true;
        }
        let inside = self.mapping[section].iter().filter(|m| from < m.0 && m.0 < to);
        self.is_marked(section, from, false) && inside.into_iter().all(|m| !m.1)
    }

    /// Whether the last mapping symbols up to there all mark code (or data).
    fn is_marked(&self, section: usize, offset: u64, code: bool) -> bool {
        let all = &self.mapping[section];
        let end = all.partition_point(|m| m.0 <= offset);
        let Some(&(last, _)) = all[..end].last() else { return false };
        all[..end].iter().rev().take_while(|m| m.0 == last).all(|m| m.1 == code)
    }

    /// The first four bytes at a place in a section, as a number; 0 where there are none.
    pub(crate) fn word(&self, section: usize, offset: u64) -> u32 {
        let data = self.sections[section].data.get(offset as usize..).unwrap_or_default();
        data.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// The bytes of the instruction at an address (up to 15, fewer at the section's end).
    pub fn bytes_at(&self, address: u64, length: usize) -> &[u8] {
        let Some((section, offset)) = self.locate(address) else { return &[] };
        let data = self.sections[section].data.get(offset as usize..).unwrap_or_default();
        &data[..data.len().min(length)]
    }
}
