//! The three reductions of the unsigned scheme, written once over 32-bit machine words
//! [TokudaKameyama23 §2.2].

use super::Kind;
use ringforge_ring::zq;

/// The low-level domain: machine words of 32 bits that wrap.
pub trait Word32 {
    /// A word.
    type Word: Clone;
    /// A constant.
    fn constant(&mut self, c: u32) -> Self::Word;
    /// `a + b mod 2^32`.
    fn add(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word;
    /// `a − b mod 2^32`.
    fn sub(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word;
    /// `a · b mod 2^32`.
    fn mul(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word;
    /// Bitwise and.
    fn and(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word;
    /// Logical shift right by `k` in `0..32`.
    fn shr(&mut self, a: &Self::Word, k: u32) -> Self::Word;
}

/// The exponent of Montgomery's constant 2^18.
pub const MONTGOMERY_BITS: u32 = 18;

/// The numbers that the reductions use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// The modulus, odd, in `(2, 2^14)`.
    pub q: u32,
    /// −1/q mod 2^18 (12287 for 12289).
    pub minus_inverse: u32,
    /// floor(2^16 / q) (5 for 12289).
    pub barrett: u32,
}

impl Constants {
    /// The numbers for a modulus; `None` unless it is odd and in `(2, 2^14)`.
    pub fn new(q: u64) -> Option<Constants> {
        let r = 1u64 << MONTGOMERY_BITS;
        let inverse = (q % 2 == 1 && q > 2 && q < 1 << 14).then(|| zq::inv(q, r))??;
        Some(Constants {
            q: q as u32,
            minus_inverse: (r - inverse) as u32,
            barrett: (65536 / q) as u32,
        })
    }

    /// The largest product for which [`montgomery_reduce`] does not wrap.
    pub fn largest_product(&self) -> u64 {
        u64::from(u32::MAX) - ((1u64 << MONTGOMERY_BITS) - 1) * u64::from(self.q)
    }
}

/// `(x + m·q) / 2^18` with `m = −x/q mod 2^18`: congruent to `x/2^18`, for `x` up to
/// [`Constants::largest_product`].
pub fn montgomery_reduce<A: Word32>(a: &mut A, k: &Constants, x: &A::Word) -> A::Word {
    let (inverse, mask) = (a.constant(k.minus_inverse), a.constant((1 << MONTGOMERY_BITS) - 1));
    let m = a.mul(x, &inverse);
    let m = a.and(&m, &mask);
    let q = a.constant(k.q);
    let t = a.mul(&m, &q);
    let sum = a.add(x, &t);
    a.shr(&sum, MONTGOMERY_BITS)
}

/// `x − floor(x·floor(2^16/q) / 2^16)·q` for `x` in `[0, 65535]`; for 12289 at most 16379.
pub fn barrett_reduce<A: Word32>(a: &mut A, k: &Constants, x: &A::Word) -> A::Word {
    let v = a.constant(k.barrett);
    let t = a.mul(x, &v);
    let t = a.shr(&t, 16);
    let q = a.constant(k.q);
    let t = a.mul(&t, &q);
    a.sub(x, &t)
}

/// `x − q` where `x >= q`, else `x`, for `x` in `[0, 65535]`; without a branch.
pub fn csub<A: Word32>(a: &mut A, k: &Constants, x: &A::Word) -> A::Word {
    let (q, zero) = (a.constant(k.q), a.constant(0));
    let d = a.sub(x, &q);
    let sign = a.shr(&d, 31);
    let mask = a.sub(&zero, &sign);
    let back = a.and(&q, &mask);
    a.add(&d, &back)
}

/// The reduction `kind` of `x`.
pub fn reduce<A: Word32>(a: &mut A, k: &Constants, x: &A::Word, kind: Kind) -> A::Word {
    match kind {
        Kind::Csub => csub(a, k, x),
        Kind::Barrett => barrett_reduce(a, k, x),
    }
}

/// The low-level domain of machine words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Word32 for Machine {
    type Word = u32;
    fn constant(&mut self, c: u32) -> u32 {
        c
    }
    fn add(&mut self, a: &u32, b: &u32) -> u32 {
        a.wrapping_add(*b)
    }
    fn sub(&mut self, a: &u32, b: &u32) -> u32 {
        a.wrapping_sub(*b)
    }
    fn mul(&mut self, a: &u32, b: &u32) -> u32 {
        a.wrapping_mul(*b)
    }
    fn and(&mut self, a: &u32, b: &u32) -> u32 {
        a & b
    }
    fn shr(&mut self, a: &u32, k: u32) -> u32 {
        a >> k
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's numbers, and each reduction on all of its inputs.
    #[test]
    fn reductions_on_all_inputs() {
        let k = Constants::new(12289).unwrap();
        assert_eq!((k.minus_inverse, k.barrett), (12287, 5));
        let (mut top, q) = (0, 12289);
        for x in 0..=65535u32 {
            let b = barrett_reduce(&mut Machine, &k, &x);
            assert_eq!((x - b) % q, 0);
            top = top.max(b);
            assert_eq!(csub(&mut Machine, &k, &x), if x >= q { x - q } else { x });
        }
        assert_eq!(top, 16379);
        assert_eq!(16379 + 4 * 12289, 65535);
    }

    /// Montgomery's reduction on a word times each of some constants, all 65,536 words.
    #[test]
    fn montgomery_on_all_words() {
        for q in [12289u64, 7681, 3329] {
            let k = Constants::new(q).unwrap();
            let r = 1u64 << MONTGOMERY_BITS;
            for w in [1, 2, 1000, q / 2, q - 1] {
                assert!(65535 * w <= k.largest_product());
                for x in 0..=65535u32 {
                    let y = montgomery_reduce(&mut Machine, &k, &(x * w as u32));
                    assert_eq!(u64::from(y) * r % q, u64::from(x) * w % q);
                    assert!(u64::from(y) <= 5 * q / 4, "{y}");
                }
            }
        }
    }

    #[test]
    fn moduli_that_do_not_fit_are_refused() {
        for q in [0, 1, 2, 4096, 1 << 14, 16411, 8380417] {
            assert_eq!(Constants::new(q), None, "{q}");
        }
    }
}
