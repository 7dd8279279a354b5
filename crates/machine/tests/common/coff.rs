//! The structures of COFF objects, for tests that change them.

use ringforge_testing::program;

/// Flags by which clang makes objects for Windows.
pub const WINDOWS: &str = "--target=x86_64-pc-windows-gnu";

/// The object of a function `f` in Intel syntax, with what stands behind it; [`None`] without clang.
pub fn assembled(body: &str, behind: &str) -> Option<Coff> {
    let text = format!(".intel_syntax noprefix\n.text\n.globl f\nf:\n{body}\n{behind}\n");
    Some(Coff(super::compile(program("clang")?, "s", &text, &[WINDOWS])))
}

/// An object in bytes.
#[derive(Clone)]
pub struct Coff(pub Vec<u8>);

impl Coff {
    /// A number of two bytes.
    pub fn half(&self, at: usize) -> usize {
        usize::from(u16::from_le_bytes([self.0[at], self.0[at + 1]]))
    }

    /// A number of four bytes.
    pub fn word(&self, at: usize) -> usize {
        u32::from_le_bytes(self.0[at..at + 4].try_into().expect("four bytes")) as usize
    }

    /// Where the header stands of the first section of that name, which is short.
    pub fn section(&self, name: &str) -> usize {
        let mut all = (0..self.half(2)).map(|i| 20 + 40 * i);
        all.find(|&at| self.0[at..at + 8].starts_with(&padded(name))).expect("a section")
    }

    /// Where the record stands of the last symbol of that name, which is short.
    pub fn symbol(&self, name: &str) -> usize {
        let start = self.word(8);
        let all = (0..self.word(12)).rev().map(|i| start + 18 * i);
        let named = all.into_iter().find(|&at| self.0[at..at + 8].starts_with(&padded(name)));
        named.expect("a symbol")
    }

    /// Where a relocation of a section stands.
    pub fn relocation(&self, section: &str, i: usize) -> usize {
        self.word(self.section(section) + 24) + 10 * i
    }

    /// The first byte of a section's content.
    pub fn content(&self, section: &str) -> usize {
        self.word(self.section(section) + 20)
    }

    /// A copy with other bytes at a place.
    pub fn with(&self, at: usize, bytes: &[u8]) -> Coff {
        let mut copy = self.clone();
        copy.0[at..at + bytes.len()].copy_from_slice(bytes);
        copy
    }

    /// A copy with some bits of the word at a place changed.
    pub fn flipped(&self, at: usize, bits: u32) -> Coff {
        self.with(at, &(self.word(at) as u32 ^ bits).to_le_bytes())
    }
}

fn padded(name: &str) -> [u8; 8] {
    let mut field = [0; 8];
    field[..name.len()].copy_from_slice(name.as_bytes());
    field
}
