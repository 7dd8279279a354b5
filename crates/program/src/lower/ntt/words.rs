//! Bounds of the operations on words: a bound m means [-m, m].
//!
//! Products with constants follow the formulas of their methods, which are sharp but for the
//! rounding.

use crate::bounds::Bounds;
use crate::method::{Modulus, MulMethod, NarrowMethod, ReduceMethod, rounding_shift};
use crate::settle::Choices;
use ringforge_ring::zq;

/// Bounds of the operations on words.
#[derive(Clone, Debug)]
pub struct Words {
    /// The modulus and its words.
    pub modulus: Modulus,
    multiply: MulMethod,
    reduce: ReduceMethod,
    bounds: Bounds,
}

impl Words {
    /// For the methods of a schedule.
    pub fn new(modulus: Modulus, schedule: &Choices) -> Words {
        let bounds = Bounds::new(modulus, schedule.multiply(), schedule.reduce());
        Words { modulus, multiply: schedule.multiply(), reduce: schedule.reduce(), bounds }
    }

    /// The largest word.
    pub fn most(&self) -> i64 {
        self.modulus.words().1
    }

    /// The bound of `c·a` for |a| within a bound.
    pub fn product(&self, c: u64, bound: i64) -> i64 {
        let m = self.modulus.q;
        let (q, half) = (i128::from(m), i128::from(self.modulus.radix() / 2));
        let bound = i128::from(bound);
        let most = match self.multiply {
            MulMethod::Barrett => {
                // a·c - q·round(a·c'/2^15), c' = (c·2^15 - e)/q with |e| at most q/2.
                let c = i128::from(zq::centered(c % m, m));
                let estimate = (2 * c * half + q).div_euclid(2 * q);
                (bound * (c * half - estimate * q).abs() + half * q / 2) / half + 1
            }
            MulMethod::Plantard => (q + 1) / 2,
            _ => {
                let r = (half * 2 % q) as u64;
                let b = i128::from(zq::centered(zq::mul(c % m, r, m), m).abs());
                (bound * b + half * q) / (2 * half)
            }
        };
        most as i64 + self.slack()
    }

    /// What bounds on words of 32 bits get on top, for the prover's rational forms round outwards.
    fn slack(&self) -> i64 {
        if self.modulus.bits == 32 { 16 } else { 0 }
    }

    /// The bound of a reduced word; no word's where the method does not take it.
    pub fn reduced(&self, bound: i64) -> i64 {
        let (last, q) = (self.most(), self.modulus.q as i64);
        if self.modulus.bits == 32 && self.reduce == ReduceMethod::RoundedShift {
            // a = t·2^k + e with |e| at most 2^(k-1) becomes t·(2^k - q) + e.
            let unit = 1i64 << rounding_shift(self.modulus.q);
            return match bound.min(last) + unit / 2 {
                most if most > last => last + 1,
                most => most / unit * (unit - q).abs() + unit / 2 + self.slack(),
            };
        }
        self.bounds.reduce(bound)
    }

    /// The bound of a Montgomery reduction of double words within `bound`; `None` where it is no
    /// word.
    pub fn narrowed(&self, bound: i128) -> Option<i64> {
        let half = i128::from(self.modulus.radix() / 2);
        let exact = (bound + half * i128::from(self.modulus.q)) / (2 * half);
        let most = exact + i128::from(self.slack());
        (most < half).then_some(most as i64)
    }

    /// The closed range of a sum to which products within `product` are added and which is reduced each
    /// time; `None` where a sum may be no word.
    pub fn closed(&self, product: i64) -> Option<i64> {
        let mut sum = 0;
        loop {
            if sum + product > self.most() {
                return None;
            }
            let next = self.reduced(sum + product);
            if next <= sum {
                return Some(sum);
            }
            sum = next;
        }
    }

    /// The bound of double words within `bound` that a method narrows; `None` where it is no word.
    pub fn narrowed_by(&self, method: NarrowMethod, bound: i64) -> Option<i64> {
        match method {
            NarrowMethod::Montgomery => self.narrowed(i128::from(bound)),
            NarrowMethod::Barrett | NarrowMethod::Low => {
                let (lo, hi) = method.range((-bound, bound), self.modulus)?;
                Some(hi.max(-lo) + self.slack())
            }
        }
    }

    /// The bound of the product of two words.
    pub fn words(&self, a: i64, b: i64) -> Option<i64> {
        self.narrowed(i128::from(a) * i128::from(b))
    }
}
