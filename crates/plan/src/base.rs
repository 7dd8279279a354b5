//! What every small product (weighted convolution, Toeplitz product) has in common.

use crate::error::Refusal;
use crate::method::Arguments;
use crate::network::Cost;
use crate::sexpr::Form;
use crate::split::Split;
use crate::stages::Inside;
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
    /// Products mod x^k + a·x^{k/2} + b for these pairs (a, b).
    Trinomial(Vec<(u64, u64)>),
    /// General k × k Toeplitz matrices times vectors.
    Toeplitz,
}

impl Shape {
    /// The polynomials that products are modulo; `None` for Toeplitz products.
    pub fn moduli(&self) -> Option<Vec<SmallModulus>> {
        match self {
            Shape::Weighted(all) => Some(all.iter().map(|&w| SmallModulus::Binomial(w)).collect()),
            Shape::Trinomial(all) => {
                Some(all.iter().map(|&(a, b)| SmallModulus::Trinomial(a, b)).collect())
            }
            Shape::Toeplitz => None,
        }
    }
}

/// What a small product of size k is taken modulo; coefficients in `[0, q)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SmallModulus {
    /// x^k − w.
    Binomial(u64),
    /// x^k + a·x^{k/2} + b.
    Trinomial(u64, u64),
}

impl SmallModulus {
    /// (a, b) of x^k + a·x^{k/2} + b, which x^k − w is as well.
    pub fn trinomial(self, q: u64) -> (u64, u64) {
        match self {
            SmallModulus::Binomial(w) => (0, zq::sub(0, w, q)),
            SmallModulus::Trinomial(a, b) => (a, b),
        }
    }

    /// `x^16 - 4`.
    pub fn text(self, size: usize) -> String {
        match self {
            SmallModulus::Binomial(w) => format!("x^{size} - {w}"),
            SmallModulus::Trinomial(a, b) => format!("x^{size} + {a}x^{} + {b}", size / 2),
        }
    }

    /// a·b modulo this, by schoolbook multiplication.
    pub fn product(self, a: &[u64], b: &[u64], q: u64) -> Vec<u64> {
        let (k, (middle, low)) = (a.len(), self.trinomial(q));
        let mut c = vec![0; 2 * k - 1];
        for (i, &x) in a.iter().enumerate() {
            for (sum, &y) in c[i..].iter_mut().zip(b) {
                *sum = zq::add(*sum, zq::mul(x, y, q), q);
            }
        }
        for i in (k..2 * k - 1).rev() {
            let top = c[i];
            c[i - k] = zq::sub(c[i - k], zq::mul(low, top, q), q);
            if middle != 0 {
                c[i - k / 2] = zq::sub(c[i - k / 2], zq::mul(middle, top, q), q);
            }
        }
        c.truncate(k);
        c
    }
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

    /// `T·v`: schoolbook, unless a method overrides it.
    fn toeplitz(&self, t: &[u64], v: &[u64]) -> Vec<u64> {
        let (k, q) = (self.size(), self.q());
        let row =
            |i: usize| (0..k).fold(0, |sum, j| zq::add(sum, zq::mul(t[k - 1 + i - j], v[j], q), q));
        (0..k).map(row).collect()
    }

    /// `a·b mod x^k − w`, as the product of b with the Toeplitz matrix of a unless a method knows
    /// better [Chiu25 §2.5].
    fn convolve(&self, weight: u64, a: &[u64], b: &[u64]) -> Vec<u64> {
        match self.split(SmallModulus::Binomial(weight)) {
            Some(split) => split.multiply(a, b, self.q()),
            None => self.toeplitz(&weighted_diagonals(self.q(), weight, a), b),
        }
    }

    /// a·b modulo one of the polynomials that this node was built for.
    fn multiply(&self, modulus: SmallModulus, a: &[u64], b: &[u64]) -> Vec<u64> {
        match (modulus, self.split(modulus)) {
            (SmallModulus::Binomial(weight), _) => self.convolve(weight, a, b),
            (_, Some(split)) => split.multiply(a, b, self.q()),
            (_, None) => modulus.product(a, b, self.q()),
        }
    }

    /// What the product is made of, for its lowering.
    fn inside(&self) -> Inside<'_>;
    /// The product as smaller ones between linear maps, where the method is such.
    fn split(&self, _modulus: SmallModulus) -> Option<Split> {
        None
    }

    /// The operations on coefficients of one convolution, making the matrix not counted.
    fn cost(&self) -> Cost;
    /// The node and what is below it, for people.
    fn tree(&self) -> TreeNode;
    /// This node as plan text.
    fn to_form(&self) -> Form;
}

impl BaseSpec {
    /// Refuses trinomials, for methods that do not know them.
    pub(crate) fn no_trinomials(&self, arguments: &Arguments) -> Result<(), Refusal> {
        match self.shape {
            Shape::Trinomial(_) => {
                let message = "products mod trinomials are needed here";
                Err(arguments.refuse(message).instead("(trinomial) or (bruun …)"))
            }
            _ => Ok(()),
        }
    }
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
