//! What the object's symbols stand for.

use super::elf::{self, RawSymbol, damaged};
use super::sections::Section;
use crate::error::ObjectError;
use rustc_hash::{FxHashMap, FxHashSet};

/// A symbol that a relocation may name.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    /// For people; the section's name for a section's symbol.
    pub name: String,
    pub place: Place,
}

/// Where a symbol lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In a section of this object (by position), `offset` at most its size.
    Inside {
        section: usize,
        offset: u64,
        /// What is added to the address of a function: the lowest bit that says Thumb.
        mark: u8,
        /// Whether the symbol is the section's own. Then the addend says what is meant.
        by_section: bool,
        /// Whether no other object can name it.
        local: bool,
        /// Whether the final link may take another definition (weak, or global in a shared library).
        replaceable: bool,
    },
    /// Another object defines it.
    Outside,
    /// A kind that is not on the list, and why.
    Refused(String),
}

/// What each entry of the symbol table refers to; `position` says where sections of the file are.
pub(crate) fn read(
    raw: &[RawSymbol],
    locals: usize,
    sections: &[Section],
    position: &FxHashMap<usize, usize>,
    thumb: bool,
) -> Result<Vec<Symbol>, ObjectError> {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    for (i, s) in raw.iter().enumerate() {
        if (s.binding == elf::STB_LOCAL) != (i < locals) {
            let what =
                format!("`{}` stands among the wrong symbols: local ones come first", s.name);
            return Err(damaged("symbol table", 24 * i as u64, what));
        }
        if i < locals {
            continue;
        }
        if s.name.is_empty() || s.name.contains('@') {
            let what = format!("a global symbol named `{}` (symbol versions?)", s.name);
            return Err(damaged("symbol table", 24 * i as u64, what));
        }
        if !seen.insert(&s.name) {
            let what = format!("two symbols are named `{}`; linkers choose one of them", s.name);
            return Err(damaged("symbol table", 24 * i as u64, what));
        }
    }
    let place = |s: &RawSymbol| match place(s, sections, position, thumb) {
        Ok(place) => place,
        Err(why) => Place::Refused(why),
    };
    let name = |s: &RawSymbol, place: &Place| match place {
        Place::Inside { section, by_section: true, .. } => sections[*section].name.clone(),
        _ => s.name.clone(),
    };
    let symbol = |s| {
        let place = place(s);
        Symbol { name: name(s, &place), place }
    };
    Ok(raw.iter().map(symbol).collect())
}

/// Where it lies, or why that is not said.
pub(super) fn place(
    s: &RawSymbol,
    sections: &[Section],
    position: &FxHashMap<usize, usize>,
    thumb: bool,
) -> Result<Place, String> {
    let binding = match s.binding {
        elf::STB_LOCAL | elf::STB_GLOBAL | elf::STB_WEAK => s.binding,
        10 => return Err("its binding is GNU_UNIQUE".into()),
        b => return Err(format!("its binding is {b}")),
    };
    let kind = match s.kind {
        elf::STT_NOTYPE | elf::STT_OBJECT | elf::STT_FUNC | elf::STT_SECTION => s.kind,
        elf::STT_FILE => return Err("it is a file's name".into()),
        elf::STT_COMMON => return Err("it is a common block".into()),
        elf::STT_TLS => return Err("it is thread-local".into()),
        elf::STT_GNU_IFUNC => {
            return Err("it is an indirect function (IFUNC), chosen when the program starts".into());
        }
        k => return Err(format!("its type is {k}")),
    };
    if s.other & !3 != 0 {
        return Err(format!("its visibility has unknown bits ({:#x})", s.other));
    }
    match s.section {
        elf::SHN_UNDEF => {
            return match binding {
                elf::STB_GLOBAL if kind != elf::STT_SECTION => Ok(Place::Outside),
                elf::STB_WEAK => Err("it is weak and not defined, so it may be null".into()),
                _ => Err("it is local and not defined".into()),
            };
        }
        elf::SHN_ABS => return Err("it is a number, not a place (SHN_ABS)".into()),
        elf::SHN_COMMON => return Err("it is a common block (SHN_COMMON)".into()),
        n if n >= elf::SHN_LORESERVE => return Err(format!("its section number is {n:#x}")),
        _ => {}
    }
    let Some(&section) = position.get(&usize::from(s.section)) else {
        return Err("its section is not loaded".into());
    };
    let function = thumb && kind == elf::STT_FUNC;
    if function && s.value & 1 == 0 {
        return Err(
            "it is a function in Arm state, which processors of the M profile do not have".into()
        );
    }
    let (value, mark) = if function { (s.value - 1, 1) } else { (s.value, 0) };
    if value > sections[section].size {
        return Err(format!("it lies outside its section {}", sections[section].name));
    }
    let by_section = kind == elf::STT_SECTION;
    let local = binding == elf::STB_LOCAL;
    if by_section && (s.value != 0 || !local) {
        return Err("it is a section's symbol, and not local or not at its start".into());
    }
    let visible = s.other & 3 == 0;
    let replaceable = binding == elf::STB_WEAK || (binding == elf::STB_GLOBAL && visible);
    Ok(Place::Inside { section, offset: value, mark, by_section, local, replaceable })
}
