//! Largest magnitudes of words, exact through every modular operation of one variable.
//!
//! A bound m means the interval [-m, m]. Lowering needs no more: what it decides with these
//! bounds (where a reduction must stand) is proved afterwards on the machine code.

use crate::method::{Modulus, MulMethod, NarrowMethod, ReduceMethod};
use std::cell::RefCell;
use std::collections::HashMap;

/// The largest magnitude of a signed word of 16 bits.
pub const WORD: i64 = 32767;

/// The centred residues modulo q.
pub fn centred(q: u64) -> (i64, i64) {
    (-(q as i64 / 2), (q as i64 - 1) / 2)
}

/// The largest magnitude in a range.
pub fn most((lo, hi): (i64, i64)) -> i64 {
    hi.max(-lo)
}

/// Bounds of the methods that a schedule chose, tabulated for words of 16 bits.
#[derive(Clone, Debug)]
pub struct Bounds {
    modulus: Modulus,
    multiply: MulMethod,
    reduce: ReduceMethod,
    /// `reduced[m]`: the largest magnitude that reducing gives for words within m.
    reduced: Vec<i64>,
    products: HashMap<u64, Vec<i64>>,
    /// Bounds of reduced words of 32 bits that were asked for: they take time.
    known: RefCell<HashMap<i64, i64>>,
    /// The same of their products by constants.
    multiplied: HashMap<(u64, i64), i64>,
}

impl Bounds {
    /// Tables for these methods.
    pub fn new(modulus: impl Into<Modulus>, multiply: MulMethod, reduce: ReduceMethod) -> Bounds {
        let modulus = modulus.into();
        let reduced = if modulus.bits == 16 { reduce.largest(modulus) } else { Vec::new() };
        let known = RefCell::default();
        Bounds {
            modulus,
            multiply,
            reduce,
            reduced,
            products: HashMap::new(),
            known,
            multiplied: HashMap::new(),
        }
    }

    /// The modulus and its words.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// The largest magnitude of a signed word.
    pub fn word(&self) -> i64 {
        self.modulus.words().1
    }

    /// The bound of a reduced word; one that no word holds where the method does not accept all
    /// words within `bound`.
    pub fn reduce(&self, bound: i64) -> i64 {
        if bound.min(self.word()) > self.reduce.domain(self.modulus).1 {
            return self.modulus.radix();
        }
        let bound = bound.clamp(0, self.word());
        match self.modulus.bits {
            16 => self.reduced[bound as usize],
            _ => {
                let most = || magnitude(self.reduce.range((-bound, bound), self.modulus));
                *self.known.borrow_mut().entry(bound).or_insert_with(most)
            }
        }
    }

    /// The bound of a word times the residue `c`.
    pub fn product(&mut self, c: u64, bound: i64) -> i64 {
        let (modulus, multiply) = (self.modulus, self.multiply);
        let bound = bound.clamp(0, self.word());
        if modulus.bits != 16 {
            let most = || magnitude(multiply.range((-bound, bound), c, modulus));
            return *self.multiplied.entry((c, bound)).or_insert_with(most);
        }
        let table = self.products.entry(c).or_insert_with(|| multiply.largest(c, modulus));
        table[bound as usize]
    }

    /// The bound of a narrowed wide element, if it is a word.
    pub fn narrow(&self, method: NarrowMethod, bound: i64) -> Option<i64> {
        method.range((-bound, bound), self.modulus).map(magnitude)
    }
}

fn magnitude((lo, hi): (i64, i64)) -> i64 {
    hi.max(-lo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_the_method_does_not_take_has_no_bound() {
        let bounds = Bounds::new(4591, MulMethod::Barrett, ReduceMethod::RoundedShift);
        assert!(bounds.reduce(WORD) > WORD && bounds.reduce(1000) <= WORD);
    }

    #[test]
    fn bounds_agree_with_the_exact_ranges() {
        let mut bounds = Bounds::new(4591, MulMethod::Montgomery, ReduceMethod::Barrett);
        assert_eq!(bounds.reduce(WORD), 2881);
        let range = MulMethod::Montgomery.range((-9000, 9000), 77, 4591);
        assert_eq!(bounds.product(77, 9000), magnitude(range));
    }
}
