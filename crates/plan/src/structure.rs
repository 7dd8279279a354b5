//! What a product is made of, as code that lowers a plan or counts its work sees it: operands,
//! linear maps, products, linear maps back.
//!
//! Every method states its own structure ([`Product::structure`](crate::Product::structure),
//! [`Base::inside`](crate::Base::inside)), so no code asks which method a node is. A new method is
//! a compile error wherever it is not yet handled.

use crate::base::BaseRef;
use crate::border::Border;
use crate::change_modulus::ChangeModulus;
use crate::if_square_root::IfSquareRoot;
use crate::lift::Lift;
use crate::mixed_radix::MixedRadix;
use crate::monomial_crt::MonomialCrt;
use crate::ntt::Ntt;
use crate::plain::Plain;
use crate::product::ProductRef;
use crate::schoenhage::Schoenhage;
use crate::substitute::Substitute;
use crate::toeplitz_matrix::ToeplitzMatrix;
use crate::toeplitz_pair::ToeplitzPair;
use crate::toom_cook::ToomCook;
use crate::weighted_convolution::WeightedConvolution;

/// A product node by what it asks of its lowering.
#[derive(Clone, Copy, Debug)]
pub enum Structure<'a> {
    /// Operands as they are, one longer product, its remainder.
    Lifted(&'a Lift),
    /// Operands seen modulo primes, a product for each, digits of mixed radix and their sum.
    Primes(&'a ChangeModulus),
    /// Operands and their lower parts, a product of each, the differences of both.
    Factors(&'a MonomialCrt),
    /// Operands cut short, one product, and the terms that were cut off.
    Bordered(&'a Border),
    /// Blocks of operands through linear maps, a weighted product of each, linear maps back.
    Blocks(&'a Substitute),
    /// The same where the maps rotate within blocks, which overlap in the product.
    Rotations(&'a Schoenhage),
    /// The same where the maps are levels of halves.
    Halves(&'a Ntt),
    /// Levels of splits in two and in three of a whole ring.
    Levels(&'a MixedRadix),
    /// One Toeplitz matrix of the one operand times the other one.
    Matrix(&'a ToeplitzMatrix),
    /// Two such matrices, for an unreduced product.
    Matrices(&'a ToeplitzPair),
    /// Every product of two coefficients: the node's domain says all.
    Definition,
    /// The same in a ring, by loops in plain C on every target.
    Plain(&'a Plain),
}

/// A small product by what it asks of its lowering.
#[derive(Clone, Copy, Debug)]
pub enum Inside<'a> {
    /// Every product of two coefficients, in dot products.
    Dots,
    /// Sums and differences of halves, three products of a Toeplitz matrix of half the size, their sums.
    Karatsuba(&'a BaseRef),
    /// Linear maps of parts, products of Toeplitz matrices of a part's size, linear maps back.
    ToomCook(&'a ToomCook),
    /// The unreduced product, and its remainder by a trinomial.
    Trinomial,
    /// Linear maps of chunks, smaller products, linear maps back, which depend on the modulus:
    /// [`Base::split`](crate::Base::split) has them.
    Split,
    /// One of two methods, by the weight.
    ByWeight(&'a IfSquareRoot),
    /// Products for several weights.
    Convolutions(&'a WeightedConvolution),
}

impl<'a> Structure<'a> {
    /// The products that this one is made of, the main one first.
    pub fn products(self) -> Vec<&'a ProductRef> {
        match self {
            Structure::Lifted(lift) => vec![&lift.inner],
            Structure::Primes(change) => change.inner.iter().collect(),
            Structure::Factors(crt) => vec![&crt.main, &crt.low],
            Structure::Bordered(border) => vec![&border.inner],
            Structure::Blocks(_)
            | Structure::Rotations(_)
            | Structure::Halves(_)
            | Structure::Levels(_)
            | Structure::Matrix(_)
            | Structure::Matrices(_)
            | Structure::Definition
            | Structure::Plain(_) => Vec::new(),
        }
    }

    /// Through how many primes this product is taken, or one that it is made of, at most.
    pub fn primes(self) -> usize {
        let own = match self {
            Structure::Primes(change) => change.moduli.len(),
            _ => 0,
        };
        self.products().iter().map(|inner| inner.structure().primes()).fold(own, usize::max)
    }

    /// The blocks that are transformed, where the product goes through such.
    pub fn blocks(self) -> Option<&'a Substitute> {
        match self {
            Structure::Blocks(part) => Some(part),
            _ => None,
        }
    }
}
