//! What a register holds.

use serde::{Deserialize, Serialize};

/// A vector register and the parts that most shuffles stay in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Registers {
    /// Bits of a register.
    pub bits: usize,
    /// Bits of a part: few operations move words from one part to another.
    pub part: usize,
}

impl Registers {
    /// Words of `word_bits` bits (16 or 32) in a register.
    pub const fn lanes(self, word_bits: u8) -> usize {
        self.bits / word_bits as usize
    }

    /// Parts of a register.
    pub const fn parts(self) -> usize {
        self.bits / self.part
    }

    /// Words of `word_bits` bits in a part.
    pub const fn part_lanes(self, word_bits: u8) -> usize {
        self.part / word_bits as usize
    }
}
