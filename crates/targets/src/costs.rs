//! What operations on registers are expected to take, in slots: one slot is one plain instruction on
//! one register.
//!
//! These order plans before anything is measured, and measurement decides. They were set by comparing
//! measured plans on x86-64 with 256-bit registers; the other targets have them for want of better ones.

/// What a machine's operations take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// A load or a store.
    pub memory: f64,
    /// A store that has no arithmetic to hide behind.
    pub store: f64,
    /// A product of variables in lanes, and its sum.
    pub lane_product: f64,
    /// The same in a row of dot products whose coefficients stand one after another, loads included; absent where
    /// nothing is multiplied so.
    pub row_product: Option<f64>,
    /// One register of a transposed square, there or back.
    pub transpose: f64,
    /// A reduction of one register.
    pub reduce: f64,
    /// A sum of two registers.
    pub add: f64,
    /// A low product of long words, which processors split into two.
    pub long_low: f64,
    /// Operations on words of 16 bits.
    pub short: WordCosts,
    /// Operations on words of 32 bits.
    pub long: WordCosts,
}

/// What operations on words of one width take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WordCosts {
    /// Multiplication of a register by constants modulo q.
    pub scale: f64,
    /// One register's worth of products of variables in a dot product, sums included.
    pub product: f64,
    /// What turns one register's worth of such sums into words again, transposes included.
    pub narrow: f64,
    /// What a level of a transform takes where it lies within registers.
    pub shuffle: f64,
}

impl Costs {
    /// Those for words of 16 or of 32 bits.
    pub fn words(&self, bits: u8) -> WordCosts {
        if bits == 16 { self.short } else { self.long }
    }
}

/// x86-64 by Montgomery products and dot products of pairs.
pub const X86: Costs = Costs {
    memory: 1.0,
    store: 2.0,
    lane_product: 2.7,
    row_product: None,
    transpose: 7.0,
    reduce: 3.0,
    add: 1.0,
    long_low: 2.0,
    // Two high products, a low one, a difference; a dot product and its sum.
    short: WordCosts { scale: 4.0, product: 2.0, narrow: 14.0, shuffle: 3.0 },
    long: WordCosts { scale: 12.0, product: 5.0, narrow: 16.0, shuffle: 3.0 },
};

/// A Cortex-M4, whose registers hold a pair of words. A slot, which is one operation on sixteen words, takes some twelve
/// cycles. Six rows of 48 products take 254 cycles, or .88 a product.
pub const CORTEX_M4: Costs = Costs { row_product: Some(0.073), ..X86 };
