//! The structures of a little-endian ELF file, of 64 or 32 bits. They are read as they stand and
//! get no meaning here, but every offset and every number of entries is checked.

use super::Architecture;
use crate::error::ObjectError;

/// `e_type` of relocatable objects.
pub const ET_REL: u16 = 1;
/// `e_type` of executables that run at one address.
pub const ET_EXEC: u16 = 2;
/// `e_type` of shared objects, and of executables that run at any address.
pub const ET_DYN: u16 = 3;
/// `e_machine` of x86-64.
pub const EM_X86_64: u16 = 62;
/// `e_machine` of Arm with registers of 32 bits.
pub const EM_ARM: u16 = 40;
/// `e_machine` of AArch64.
pub const EM_AARCH64: u16 = 183;

/// Section types.
pub const SHT_PROGBITS: u32 = 1;
pub const SHT_SYMTAB: u32 = 2;
pub const SHT_STRTAB: u32 = 3;
pub const SHT_RELA: u32 = 4;
pub const SHT_NOTE: u32 = 7;
pub const SHT_NOBITS: u32 = 8;
pub const SHT_REL: u32 = 9;
pub const SHT_INIT_ARRAY: u32 = 14;
pub const SHT_FINI_ARRAY: u32 = 15;
pub const SHT_PREINIT_ARRAY: u32 = 16;
pub const SHT_GROUP: u32 = 17;
pub const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;
pub const SHT_GNU_SFRAME: u32 = 0x6fff_fff4;
pub const SHT_X86_64_UNWIND: u32 = 0x7000_0001;
pub const SHT_ARM_EXIDX: u32 = 0x7000_0001;
pub const SHT_ARM_ATTRIBUTES: u32 = 0x7000_0003;

/// Section flags.
pub const SHF_WRITE: u64 = 1;
pub const SHF_ALLOC: u64 = 2;
pub const SHF_EXECINSTR: u64 = 4;
pub const SHF_MERGE: u64 = 0x10;
pub const SHF_STRINGS: u64 = 0x20;
pub const SHF_LINK_ORDER: u64 = 0x80;
pub const SHF_GROUP: u64 = 0x200;
pub const SHF_TLS: u64 = 0x400;
pub const SHF_GNU_RETAIN: u64 = 0x20_0000;

/// Section numbers of symbols.
pub const SHN_UNDEF: u16 = 0;
pub const SHN_LORESERVE: u16 = 0xff00;
pub const SHN_ABS: u16 = 0xfff1;
pub const SHN_COMMON: u16 = 0xfff2;

/// Symbol bindings.
pub const STB_LOCAL: u8 = 0;
pub const STB_GLOBAL: u8 = 1;
pub const STB_WEAK: u8 = 2;

/// Symbol types.
pub const STT_NOTYPE: u8 = 0;
pub const STT_OBJECT: u8 = 1;
pub const STT_FUNC: u8 = 2;
pub const STT_SECTION: u8 = 3;
pub const STT_FILE: u8 = 4;
pub const STT_COMMON: u8 = 5;
pub const STT_TLS: u8 = 6;
pub const STT_GNU_IFUNC: u8 = 10;

/// A section header.
#[derive(Clone, Debug)]
pub struct Header {
    pub name: String,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    pub entry: u64,
}

/// A program header.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    /// Bytes in the file.
    pub filled: u64,
    /// Bytes in memory.
    pub size: u64,
    pub align: u64,
}

/// A symbol table entry.
#[derive(Clone, Debug)]
pub struct RawSymbol {
    pub name: String,
    pub kind: u8,
    pub binding: u8,
    pub other: u8,
    pub section: u16,
    pub value: u64,
    pub size: u64,
}

/// A relocation; its addend, unless that stands in its field.
#[derive(Clone, Copy, Debug)]
pub struct RawRelocation {
    pub offset: u64,
    pub kind: u32,
    pub symbol: u32,
    pub addend: Option<i64>,
}

/// A file whose header was accepted, and its section and program headers.
pub struct File<'a> {
    pub architecture: Architecture,
    /// `e_type`: ET_REL, ET_EXEC or ET_DYN.
    pub kind: u16,
    /// None in relocatable objects.
    pub segments: Vec<Segment>,
    /// Where the program headers stand.
    pub headers: u64,
    /// Whether it is of 64 bits, not of 32.
    wide: bool,
    bytes: &'a [u8],
    pub sections: Vec<Header>,
}

fn not_elf(what: impl Into<String>) -> ObjectError {
    ObjectError::NotObject(what.into())
}

pub fn damaged(section: &str, offset: u64, what: impl ToString) -> ObjectError {
    ObjectError::Damaged { section: section.into(), offset, what: what.to_string() }
}

/// Little-endian numbers; [`None`] past the end.
fn number<const N: usize>(bytes: &[u8], at: u64) -> Option<[u8; N]> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn half(bytes: &[u8], at: u64) -> Option<u16> {
    number(bytes, at).map(u16::from_le_bytes)
}

pub fn word(bytes: &[u8], at: u64) -> Option<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}

pub fn long(bytes: &[u8], at: u64) -> Option<u64> {
    number(bytes, at).map(u64::from_le_bytes)
}

/// What a file that is no ELF object is, for its error.
fn guess(bytes: &[u8]) -> Option<&'static str> {
    let archives: [&[u8]; 2] = [b"!<arch>\n", b"!<thin>\n"];
    let bitcode: [&[u8]; 2] = [b"BC\xc0\xde", b"\xde\xc0\x17\x0b"];
    let starts = |list: &[&[u8]]| list.iter().any(|m| bytes.starts_with(m));
    if starts(&archives) {
        Some("it is an archive; take the object out of it (ar x) and name that")
    } else if starts(&bitcode) {
        Some("it is LLVM bitcode, not machine code; compile without -flto")
    } else if starts(&[b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"]) {
        Some("it is a Mach-O file; compile for an ELF target (--target=x86_64-linux-gnu)")
    } else if starts(&[b"MZ"]) {
        Some("it is a linked Windows file; name the object (.obj) that it was linked from")
    } else if starts(&[b"\x4c\x01", b"\x64\xaa", b"\x41\xa6", b"\xc4\x01"]) {
        Some(
            "it is a COFF object for another processor than x86-64; compile with --target=x86_64-pc-windows-gnu",
        )
    } else {
        None
    }
}

impl<'a> File<'a> {
    /// Reads the file's header and its section headers.
    ///
    /// # Errors
    /// If the file is of no known type or instruction set, or a header is not what assemblers and
    /// linkers write.
    pub fn parse(bytes: &'a [u8]) -> Result<File<'a>, ObjectError> {
        if !bytes.starts_with(b"\x7fELF") {
            let what = guess(bytes).unwrap_or("it does not start with the ELF magic number");
            return Err(not_elf(what));
        }
        let header = bytes.get(..64).ok_or_else(|| not_elf("its header is cut off"))?;
        let at = |offset: u64| half(header, offset).unwrap_or_default();
        let wide = header[4] == 2;
        if !wide && header[4] != 1 || header[5] != 1 || header[6] != 1 {
            return Err(not_elf("it is not of 32 or 64 bits, little endian, version 1"));
        }
        let Some(architecture) = Architecture::of(at(18)) else {
            let name = match at(18) {
                3 => "i386",
                243 => "RISC-V",
                _ => "unknown",
            };
            return Err(not_elf(format!("its processor is {name} (e_machine {})", at(18))));
        };
        if wide != architecture.is_wide() {
            let (bits, name) = (if wide { 64 } else { 32 }, architecture);
            return Err(not_elf(format!("it is of {bits} bits, which objects for {name} are not")));
        }
        let kind = at(16);
        let linked = matches!(kind, ET_EXEC | ET_DYN);
        if kind != ET_REL && !linked {
            let what = if kind == 4 { "a core dump" } else { "of an unknown type" };
            return Err(not_elf(format!("it is {what}, e_type {kind}")));
        }
        if linked && !wide {
            return Err(not_elf(format!(
                "it is linked, and of linked files those for {architecture} are not read; name the relocatable object \
                 (cc -c) that it was linked from"
            )));
        }
        // The fields behind the entry point are four bytes nearer for each shorter one before them.
        let (flags, ehsize) = if wide { (48, 52) } else { (36, 40) };
        let long = |wide_at: u64, short_at: u64| match wide {
            true => long(header, wide_at),
            false => word(header, short_at).map(u64::from),
        };
        let (of_header, of_section) = if wide { (64, 64) } else { (52, 40) };
        let (start, count) = (long(40, 32).unwrap_or_default(), u64::from(at(ehsize + 8)));
        // Linked files may lack section headers: the loader reads none.
        let without = linked && count == 0;
        let (wanted, may) = architecture.flags();
        // System V or GNU; the rest is fixed for relocatable objects.
        let fixed = [
            ("EI_OSABI", u64::from(header[7]) & !3, 0),
            ("EI_ABIVERSION", u64::from(header[8]), 0),
            ("e_version", u64::from(word(header, 20).unwrap_or_default()), 1),
            ("e_flags", u64::from(word(header, flags).unwrap_or_default()) & !may, wanted),
            ("e_ehsize", u64::from(at(ehsize)), of_header),
            ("e_phentsize", u64::from(at(ehsize + 2)), if linked { OF_SEGMENT } else { 0 }),
            (
                "e_shentsize",
                if without { of_section } else { u64::from(at(ehsize + 6)) },
                of_section,
            ),
        ];
        let unlinked = [
            ("e_entry", long(24, 24).unwrap_or_default(), 0),
            ("e_phoff", long(32, 28).unwrap_or_default(), 0),
            ("e_phnum", u64::from(at(ehsize + 4)), 0),
        ];
        let checked = fixed.iter().chain(unlinked.iter().filter(|_| !linked));
        if let Some((name, found, wanted)) = checked.into_iter().find(|f| f.1 != f.2) {
            let who =
                if linked { "files that linkers write" } else { "objects that assemblers write" };
            return Err(not_elf(format!("{name} is {found} in its header, and {wanted} in {who}")));
        }
        let mut segments = Vec::new();
        let (first, number) = (long(32, 28).unwrap_or_default(), at(ehsize + 4));
        for i in 0..u64::from(if linked { number } else { 0 }) {
            let header = first.checked_add(OF_SEGMENT * i).and_then(|at| program_header(bytes, at));
            segments.push(header.ok_or_else(|| not_elf("its program headers are cut off"))?);
        }
        if without {
            return Ok(File {
                architecture,
                kind,
                segments,
                headers: first,
                wide,
                bytes,
                sections: Vec::new(),
            });
        }
        let mut sections = Vec::new();
        for i in 0..count {
            let header = start.checked_add(of_section * i);
            let header = header.and_then(|at| section_header(bytes, at, wide));
            let header = header.ok_or_else(|| not_elf("its section headers are cut off"))?;
            sections.push(header);
        }
        if sections.first().is_none_or(|(_, h)| h.kind != 0 || h.size != 0) {
            return Err(not_elf("it has no section headers, or a first one that is not empty"));
        }
        let names = usize::from(at(ehsize + 10));
        let names = sections.get(names).map(|(_, h)| h.clone());
        let names = names.filter(|h| h.kind == SHT_STRTAB);
        let names = names.ok_or_else(|| not_elf("its section names are missing"))?;
        let mut file = File {
            architecture,
            kind,
            segments,
            headers: first,
            wide,
            bytes,
            sections: Vec::new(),
        };
        for (name, mut header) in sections {
            header.name = file.string(&names, name)?;
            file.sections.push(header);
        }
        for h in &file.sections {
            if !h.align.is_power_of_two() && h.align != 0 {
                return Err(damaged(
                    &h.name,
                    0,
                    format!("alignment {} is no power of two", h.align),
                ));
            }
            if h.address != 0 && !linked {
                return Err(damaged(&h.name, 0, "it has an address before it is linked"));
            }
        }
        Ok(file)
    }

    /// Bytes of the file.
    pub fn range(&self, offset: u64, size: u64) -> Option<&'a [u8]> {
        let at = usize::try_from(offset).ok()?;
        self.bytes.get(at..at.checked_add(usize::try_from(size).ok()?)?)
    }

    /// A section's bytes in the file.
    pub fn content(&self, section: &Header) -> Result<&'a [u8], ObjectError> {
        let bytes = self.range(section.offset, section.size);
        bytes.ok_or_else(|| damaged(&section.name, 0, "its content lies outside the file"))
    }

    /// The string at `at` of a string table.
    fn string(&self, table: &Header, at: u32) -> Result<String, ObjectError> {
        let content = self.content(table)?;
        let rest = content.get(at as usize..);
        let text = rest.and_then(|r| Some(&r[..r.iter().position(|b| *b == 0)?]));
        let text = text.and_then(|t| std::str::from_utf8(t).ok());
        text.map(str::to_string)
            .ok_or_else(|| damaged(&table.name, at.into(), "a name that is no text"))
    }

    /// The one symbol table's position, entries and number of local ones.
    pub fn symbols(&self) -> Result<(usize, Vec<RawSymbol>, usize), ObjectError> {
        let mut tables = self.sections.iter().enumerate().filter(|(_, h)| h.kind == SHT_SYMTAB);
        let Some((at, table)) = tables.next() else {
            return Err(not_elf("it has no symbol table (stripped?)"));
        };
        if tables.next().is_some() {
            return Err(damaged(&table.name, 0, "a second symbol table"));
        }
        Ok((at, self.table(table)?, table.info as usize))
    }

    /// The entries of a symbol table.
    pub fn table(&self, table: &Header) -> Result<Vec<RawSymbol>, ObjectError> {
        let names = self.sections.get(table.link as usize).filter(|h| h.kind == SHT_STRTAB);
        let names = names.ok_or_else(|| damaged(&table.name, 0, "its names are missing"))?;
        let mut symbols = Vec::new();
        let mut characters = 0;
        for (at, e) in self.entries(table, if self.wide { 24 } else { 16 })? {
            let short = |at| word(e, at).map(u64::from);
            let (fields, info) = if self.wide {
                ((word(e, 0), half(e, 6), long(e, 8), long(e, 16)), 4)
            } else {
                ((word(e, 0), half(e, 14), short(4), short(8)), 12)
            };
            let (Some(name), Some(section), Some(value), Some(size)) = fields else {
                return Err(damaged(&table.name, at, "a symbol that is cut off"));
            };
            let name = self.string(names, name)?;
            characters += name.len();
            if characters > MOST_CHARACTERS {
                return Err(damaged(&table.name, at, "its names are too long together"));
            }
            symbols.push(RawSymbol {
                name,
                kind: e[info] & 15,
                binding: e[info] >> 4,
                other: e[info + 1],
                section,
                value,
                size,
            });
        }
        Ok(symbols)
    }

    /// The entries of a table of relocations: with addends in files of 64 bits, without them in those of
    /// 32.
    pub fn relocations(&self, table: &Header) -> Result<Vec<RawRelocation>, ObjectError> {
        let mut out = Vec::new();
        for (at, e) in self.entries(table, if self.wide { 24 } else { 8 })? {
            if !self.wide {
                let (Some(offset), Some(info)) = (word(e, 0), word(e, 4)) else {
                    return Err(damaged(&table.name, at, "a relocation that is cut off"));
                };
                let (kind, symbol) = (info & 0xff, info >> 8);
                out.push(RawRelocation { offset: offset.into(), kind, symbol, addend: None });
                continue;
            }
            let fields = (long(e, 0), word(e, 8), word(e, 12), long(e, 16));
            let (Some(offset), Some(kind), Some(symbol), Some(addend)) = fields else {
                return Err(damaged(&table.name, at, "a relocation that is cut off"));
            };
            out.push(RawRelocation { offset, kind, symbol, addend: Some(addend as i64) });
        }
        Ok(out)
    }

    /// Entries of that many bytes (symbols and relocations), with their offsets.
    fn entries(
        &self,
        table: &Header,
        size: u64,
    ) -> Result<impl Iterator<Item = (u64, &'a [u8])> + use<'a>, ObjectError> {
        if table.entry != size || !table.size.is_multiple_of(size) {
            return Err(damaged(&table.name, 0, format!("its entries are not of {size} bytes")));
        }
        let entries = self.content(table)?.chunks_exact(size as usize).enumerate();
        Ok(entries.map(move |(i, e)| (size * i as u64, e)))
    }

    /// Numbers of the sections that are members of some group.
    pub fn grouped(&self) -> Result<Vec<u32>, ObjectError> {
        let mut members = Vec::new();
        for group in self.sections.iter().filter(|h| h.kind == SHT_GROUP) {
            let content = self.content(group)?;
            members.extend((1..content.len() as u64 / 4).filter_map(|i| word(content, 4 * i)));
        }
        Ok(members)
    }
}

/// The most bytes that the names of a table of symbols take.
const MOST_CHARACTERS: usize = 1 << 28;
/// Bytes of a program header.
const OF_SEGMENT: u64 = 56;

/// The program header at `at` of a file of 64 bits.
fn program_header(bytes: &[u8], at: u64) -> Option<Segment> {
    let long = |o: u64| long(bytes, at.checked_add(o)?);
    Some(Segment {
        kind: word(bytes, at)?,
        flags: word(bytes, at.checked_add(4)?)?,
        offset: long(8)?,
        address: long(16)?,
        filled: long(32)?,
        size: long(40)?,
        align: long(48)?,
    })
}

/// The header at `at`, its name still a number.
fn section_header(bytes: &[u8], at: u64, wide: bool) -> Option<(u32, Header)> {
    let word = |o: u64| word(bytes, at.checked_add(o)?);
    let long = |o: u64| long(bytes, at.checked_add(o)?);
    let short = |o: u64| word(o).map(u64::from);
    let name = String::new();
    let kind = word(4)?;
    let header = if wide {
        Header {
            name,
            kind,
            flags: long(8)?,
            address: long(16)?,
            offset: long(24)?,
            size: long(32)?,
            link: word(40)?,
            info: word(44)?,
            align: long(48)?,
            entry: long(56)?,
        }
    } else {
        Header {
            name,
            kind,
            flags: short(8)?,
            address: short(12)?,
            offset: short(16)?,
            size: short(20)?,
            link: word(24)?,
            info: word(28)?,
            align: short(32)?,
            entry: short(36)?,
        }
    };
    Some((word(0)?, header))
}
