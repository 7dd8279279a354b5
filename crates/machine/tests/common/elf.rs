//! A relocatable ELF object around given machine code, written by hand.

/// An object whose only section is the code of a global function `f`.
pub fn object(code: &[u8]) -> Vec<u8> {
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
    for half in [1u16, 62] {
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
