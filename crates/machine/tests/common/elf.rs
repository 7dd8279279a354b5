//! A relocatable ELF object around given machine code, written by hand.

/// An object whose only section is the code of a global function `f`.
pub fn object(code: &[u8]) -> Vec<u8> {
    object_for(62, code)
}

/// The same for the processor with that `e_machine`.
pub fn object_for(machine: u16, code: &[u8]) -> Vec<u8> {
    let names = b"\0.text\0.symtab\0.strtab\0f\0";
    let mut symbols = vec![0u8; 24];
    symbols.extend_from_slice(&23u32.to_le_bytes());
    symbols.extend_from_slice(&[0x12, 0]); // global function
    symbols.extend_from_slice(&1u16.to_le_bytes());
    symbols.extend_from_slice(&0u64.to_le_bytes());
    symbols.extend_from_slice(&(code.len() as u64).to_le_bytes());

    let (text, pad) = (64usize, code.len().next_multiple_of(16));
    let table = text + pad;
    let strings = table + symbols.len();
    let headers = (strings + names.len()).next_multiple_of(16);
    let mut out = Vec::new();
    out.extend_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    for half in [1u16, machine] {
        out.extend_from_slice(&half.to_le_bytes());
    }
    out.extend_from_slice(&1u32.to_le_bytes());
    for word in [0u64, 0, headers as u64] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&0u32.to_le_bytes());
    for half in [64u16, 0, 0, 64, 4, 3] {
        out.extend_from_slice(&half.to_le_bytes());
    }
    out.extend_from_slice(code);
    out.resize(table, 0);
    out.extend_from_slice(&symbols);
    out.extend_from_slice(names);
    out.resize(headers, 0);
    let mut header = |name: u32,
                      kind: u32,
                      flags: u64,
                      at: usize,
                      size: usize,
                      link: u32,
                      info: u32,
                      align: u64,
                      entry: u64| {
        out.extend_from_slice(&name.to_le_bytes());
        out.extend_from_slice(&kind.to_le_bytes());
        for v in [flags, 0, at as u64, size as u64] {
            out.extend_from_slice(&v.to_le_bytes());
        }
        out.extend_from_slice(&link.to_le_bytes());
        out.extend_from_slice(&info.to_le_bytes());
        for v in [align, entry] {
            out.extend_from_slice(&v.to_le_bytes());
        }
    };
    header(0, 0, 0, 0, 0, 0, 0, 0, 0);
    header(1, 1, 6, text, code.len(), 0, 0, 16, 0);
    header(7, 2, 0, table, symbols.len(), 3, 1, 8, 24);
    header(15, 3, 0, strings, names.len(), 0, 0, 1, 0);
    out
}

fn half(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
}

fn long(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize
}

/// Offset of each section's header.
pub fn headers(object: &[u8]) -> Vec<usize> {
    (0..half(object, 60)).map(|i| long(object, 40) + 64 * i).collect()
}

fn name(object: &[u8], at: usize) -> &str {
    let end = at + object[at..].iter().position(|b| *b == 0).expect("it ends");
    std::str::from_utf8(&object[at..end]).expect("text")
}

/// The number of the section of that name.
fn section(object: &[u8], wanted: &str) -> usize {
    let all = headers(object);
    let names = long(object, all[half(object, 62)] + 24);
    let found = all.iter().position(|&h| name(object, names + word(object, h)) == wanted);
    found.unwrap_or_else(|| panic!("no section {wanted}"))
}

/// Offsets of the symbol table and its names.
fn symbol_table(object: &[u8]) -> (usize, usize, usize) {
    let all = headers(object);
    let table = *all.iter().find(|&&h| word(object, h + 4) == 2).expect("a symbol table");
    let names = long(object, all[word(object, table + 40)] + 24);
    (long(object, table + 24), long(object, table + 32), names)
}

/// Gives one symbol the other's name.
pub fn rename_symbol(object: &mut [u8], from: &str, to: &str) {
    let (table, size, names) = symbol_table(object);
    let find = |wanted: &str| {
        let at = (table..table + size).step_by(24);
        at.into_iter().find(|&s| name(object, names + word(object, s)) == wanted).expect("a symbol")
    };
    let (from, to) = (find(from), find(to));
    object.copy_within(to..to + 4, from);
}

/// Changes entry `index` of the relocations of a section.
pub fn patch_relocation(object: &mut [u8], of: &str, index: usize, change: impl FnOnce(&mut [u8])) {
    let number = section(object, of);
    let all = headers(object);
    let table = all.iter().find(|&&h| word(object, h + 4) == 4 && word(object, h + 44) == number);
    let at = long(object, *table.expect("relocations") + 24) + 24 * index;
    change(&mut object[at..at + 24]);
}

/// Lets a relocation name a section's own symbol in place of one in it.
pub fn name_by_section(object: &mut [u8], of: &str, index: usize, target: &str) {
    let number = section(object, target);
    let (table, size, _) = symbol_table(object);
    let own = (table..table + size)
        .step_by(24)
        .position(|s| object[s + 4] & 15 == 3 && half(object, s + 6) == number);
    let own = own.expect("a section symbol") as u32;
    patch_relocation(object, of, index, |r| r[12..16].copy_from_slice(&own.to_le_bytes()));
}

/// The content of the section of that name.
pub fn content<'a>(object: &'a [u8], wanted: &str) -> &'a [u8] {
    let header = headers(object)[section(object, wanted)];
    let at = long(object, header + 24);
    &object[at..at + long(object, header + 32)]
}
