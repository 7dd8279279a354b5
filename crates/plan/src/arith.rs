//! The arithmetic a transform is written against, and its exact meaning.
//!
//! A method is written once, over [`Arith`], and then run exactly ([`Exact`]), recorded as a network
//! of operations ([`crate::Network`]), drawn, bounded or lowered by whoever implements the trait.

use ringforge_ring::zq;

/// A handle on a coefficient block: a polynomial of the inner ring, worked on lane by lane.
/// Handles belong to the [`Arith`] that gave them out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Val(pub u32);

/// Linear arithmetic over Z_q on coefficient blocks, object safe.
pub trait Arith {
    /// The modulus.
    fn q(&self) -> u64;
    /// The block of zeros.
    fn zero(&mut self) -> Val;
    /// Whether `v` is *known* to be zero whatever the inputs are (padding), so that work on it can
    /// be skipped. A block that merely happens to hold zeros is not.
    fn is_zero(&self, v: Val) -> bool;
    /// `a + b`.
    fn add(&mut self, a: Val, b: Val) -> Val;
    /// `a − b`.
    fn sub(&mut self, a: Val, b: Val) -> Val;
    /// `c · a` for `c` in `[0, q)`.
    fn scale(&mut self, a: Val, c: u64) -> Val;
    /// x^k · a, where blocks are polynomials mod x^W + 1 of their own width W.
    fn rotate(&mut self, a: Val, k: usize) -> Val;
    /// Names a value, for pictures; does nothing unless an implementation cares.
    fn label(&mut self, _v: Val, _what: &str) {}
}

/// Exact arithmetic: a [`Val`] represents a vector of coefficients in `[0, q)`.
///
/// ```
/// use ringforge_plan::{Arith, Exact};
/// let mut exact = Exact::new(17, 2);
/// let (a, b) = (exact.input(&[1, 2]), exact.input(&[16, 5]));
/// let sum = exact.add(a, b);
/// assert_eq!(exact.get(sum), [0, 7]);
/// ```
#[derive(Clone, Debug)]
pub struct Exact {
    q: u64,
    width: usize,
    /// Block 0 is the structural zero.
    blocks: Vec<Vec<u64>>,
}

impl Exact {
    /// Arithmetic modulo `q` on blocks of `width` coefficients.
    pub fn new(q: u64, width: usize) -> Exact {
        Exact { q, width, blocks: vec![vec![0; width]] }
    }

    /// Brings a block of at most `width` coefficients in; the rest is zero.
    pub fn input(&mut self, block: &[u64]) -> Val {
        let mut block: Vec<u64> = block.iter().map(|c| c % self.q).collect();
        block.resize(self.width, 0);
        self.push(block)
    }

    /// The coefficients of a block, in `[0, q)`.
    pub fn get(&self, v: Val) -> &[u64] {
        &self.blocks[v.0 as usize]
    }

    fn push(&mut self, block: Vec<u64>) -> Val {
        self.blocks.push(block);
        Val(self.blocks.len() as u32 - 1)
    }

    fn zip(&mut self, a: Val, b: Val, f: impl Fn(u64, u64, u64) -> u64) -> Val {
        let q = self.q;
        let block = self.get(a).iter().zip(self.get(b)).map(|(&x, &y)| f(x, y, q)).collect();
        self.push(block)
    }
}

impl Arith for Exact {
    fn q(&self) -> u64 {
        self.q
    }

    fn zero(&mut self) -> Val {
        Val(0)
    }

    fn is_zero(&self, v: Val) -> bool {
        v == Val(0)
    }

    fn add(&mut self, a: Val, b: Val) -> Val {
        self.zip(a, b, zq::add)
    }

    fn sub(&mut self, a: Val, b: Val) -> Val {
        self.zip(a, b, zq::sub)
    }

    fn scale(&mut self, a: Val, c: u64) -> Val {
        let block = self.get(a).iter().map(|&x| zq::mul(x, c, self.q)).collect();
        self.push(block)
    }

    fn rotate(&mut self, a: Val, k: usize) -> Val {
        let block = self.get(a);
        let coefficient = |j: usize| match rotated(j, k, block.len()) {
            (from, false) => block[from],
            (from, true) => zq::sub(0, block[from], self.q),
        };
        let block = (0..block.len()).map(coefficient).collect();
        self.push(block)
    }
}

/// Coefficient j of y^k·a mod y^m + 1: which coefficient of a, and whether negated.
pub fn rotated(j: usize, k: usize, m: usize) -> (usize, bool) {
    let from = (j + 2 * m - k % (2 * m)) % (2 * m);
    (from % m, from >= m)
}
