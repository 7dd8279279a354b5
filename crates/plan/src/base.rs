//! What every small product (weighted convolution, Toeplitz product) has in common.

use crate::network::Cost;
use crate::sexpr::Form;
use crate::tree::TreeNode;
use ringforge_ring::zq;
use std::any::Any;
use std::sync::Arc;

/// A shared small product.
pub type BaseRef = Arc<dyn Base>;

/// The small product that a parent asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BaseSpec {
    /// The modulus.
    pub q: u64,
    /// The size k.
    pub size: usize,
    /// What it will be asked.
    pub shape: Shape,
}

/// What a small product will be asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Products mod x^k − w for these weights w.
    Weighted(Vec<u64>),
    /// General k × k Toeplitz matrices times vectors.
    Toeplitz,
}

/// A way to multiply mod x^k − w, or a k × k Toeplitz matrix with a vector. Leaves scale 1.
///
/// Coefficients are in `[0, q)`. A Toeplitz matrix T is given by its 2k − 1 diagonals:
/// `T[i][j] = t[k - 1 + i - j]`.
pub trait Base: Any + std::fmt::Debug + Send + Sync {
    /// The word that opens this method in a plan text.
    fn name(&self) -> &'static str;
    /// The modulus.
    fn q(&self) -> u64;
    /// The size k.
    fn size(&self) -> usize;

    /// `T·v`; the definition, unless a method knows better.
    fn toeplitz(&self, t: &[u64], v: &[u64]) -> Vec<u64> {
        let (k, q) = (self.size(), self.q());
        let row =
            |i: usize| (0..k).fold(0, |sum, j| zq::add(sum, zq::mul(t[k - 1 + i - j], v[j], q), q));
        (0..k).map(row).collect()
    }

    /// `a·b mod x^k − w`, as the product of b with the Toeplitz matrix of a unless a method knows
    /// better [Chiu25 §2.5].
    fn convolve(&self, weight: u64, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.toeplitz(&weighted_diagonals(self.q(), weight, a), b)
    }

    /// The operations on coefficients of one convolution, making the matrix not counted.
    fn cost(&self) -> Cost;
    /// The node and what is below it, for people.
    fn tree(&self) -> TreeNode;
    /// This node as plan text.
    fn to_form(&self) -> Form;
}

impl dyn Base {
    /// This node as the concrete method `T`, if it is one.
    pub fn as_method<T: Base>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The diagonals of the matrix that multiplies by `a` mod x^k − w:
/// `w·a_1, …, w·a_{k−1}, a_0, …, a_{k−1}`.
pub fn weighted_diagonals(q: u64, weight: u64, a: &[u64]) -> Vec<u64> {
    let wrapped = a[1..].iter().map(|&c| zq::mul(weight, c, q));
    wrapped.chain(a.iter().copied()).collect()
}
