//! Largest magnitudes of words, exact through every modular operation of one variable.
//!
//! A bound m means the interval [-m, m]. Lowering needs no more: what it decides with these
//! bounds (where a reduction must stand) is proved afterwards on the machine code.

use crate::method::{MulMethod, NarrowMethod, ReduceMethod};
use std::collections::HashMap;

/// The largest magnitude of a signed word.
pub const WORD: i64 = 32767;

/// Bounds of the methods that a schedule chose, tabulated.
#[derive(Clone, Debug)]
pub struct Bounds {
    q: u64,
    multiply: MulMethod,
    /// `reduced[m]`: the largest magnitude that reducing gives for words within m.
    reduced: Vec<i64>,
    products: HashMap<u64, Vec<i64>>,
}

impl Bounds {
    /// Tables for these methods.
    pub fn new(q: u64, multiply: MulMethod, reduce: ReduceMethod) -> Bounds {
        let reduced = prefix(|x| reduce.apply(x, q));
        Bounds { q, multiply, reduced, products: HashMap::new() }
    }

    /// The bound of a reduced word.
    pub fn reduce(&self, bound: i64) -> i64 {
        self.reduced[bound.clamp(0, WORD) as usize]
    }

    /// The bound of a word times the residue `c`.
    pub fn product(&mut self, c: u64, bound: i64) -> i64 {
        let (q, multiply) = (self.q, self.multiply);
        let table = self.products.entry(c).or_insert_with(|| prefix(|x| multiply.apply(x, c, q)));
        table[bound.clamp(0, WORD) as usize]
    }

    /// The bound of a narrowed 32-bit element, if it is a word.
    pub fn narrow(&self, method: NarrowMethod, bound: i64) -> Option<i64> {
        let (lo, hi) = method.range((-bound, bound), self.q)?;
        Some(hi.max(-lo))
    }
}

/// `table[m] = max |f(x)|` over words with |x| <= m.
fn prefix(f: impl Fn(i16) -> i64) -> Vec<i64> {
    let mut most = 0;
    (0..=WORD)
        .map(|m| {
            most = most.max(f(m as i16).abs()).max(f(-m as i16).abs());
            most
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_agree_with_the_exact_ranges() {
        let mut bounds = Bounds::new(4591, MulMethod::Montgomery, ReduceMethod::Barrett);
        assert_eq!(bounds.reduce(WORD), 2881);
        let (lo, hi) = MulMethod::Montgomery.range((-9000, 9000), 77, 4591);
        assert_eq!(bounds.product(77, 9000), hi.max(-lo));
    }
}
