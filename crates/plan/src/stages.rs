//! The stages of a product, as code that lowers a plan or draws it sees them: linear maps, products,
//! linear maps back.
//!
//! Every method states its own stages ([`Product::stages`](crate::Product::stages),
//! [`Base::inside`](crate::Base::inside)), so no code asks which method a node is. Several methods
//! may have the same stages. A stage that one method has so far is stated by that method's node.

use crate::base::BaseRef;
use crate::blocks::Blocks;
use crate::border::Border;
use crate::change_modulus::ChangeModulus;
use crate::if_square_root::IfSquareRoot;
use crate::levels::Levels;
use crate::lift::Lift;
use crate::monomial_crt::MonomialCrt;
use crate::plain::Plain;
use crate::toeplitz_matrix::ToeplitzMatrix;
use crate::toeplitz_pair::ToeplitzPair;
use crate::toom_cook::ToomCook;
use crate::weighted_convolution::WeightedConvolution;

/// A product node by what it asks of its lowering.
#[derive(Clone, Copy, Debug)]
pub enum Stages<'a> {
    /// Operands as they are, one longer product, its remainder.
    Remainder(&'a Lift),
    /// Operands seen modulo primes, a product for each, digits of mixed radix and their sum.
    Digits(&'a ChangeModulus),
    /// Operands and their lower parts, a product of each, the differences of both.
    Joined(&'a MonomialCrt),
    /// Operands cut short, one product, and the terms that were cut off.
    Cut(&'a Border),
    /// Blocks of operands through linear maps, a weighted product of each, linear maps back.
    Blocks(&'a Blocks),
    /// The same where the maps rotate within blocks, which overlap in the product.
    Overlapping(&'a Blocks),
    /// Levels of splits of a whole ring.
    Levels(&'a dyn Levels),
    /// One Toeplitz matrix of the one operand times the other one.
    Matrix(&'a ToeplitzMatrix),
    /// Two such matrices, for an unreduced product.
    Matrices(&'a ToeplitzPair),
    /// Every product of two coefficients: the node's domain says all.
    Direct,
    /// The same in a ring, by loops in plain C on every target.
    Loops(&'a Plain),
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

impl<'a> Stages<'a> {
    /// The blocks that are transformed, where the product goes through such.
    pub fn blocks(self) -> Option<&'a Blocks> {
        match self {
            Stages::Blocks(blocks) => Some(blocks),
            _ => None,
        }
    }

    /// How many coefficients lie together, so that registers of that many words or of a part of it hold nothing else;
    /// nothing where any serve.
    pub(crate) fn together(self) -> Option<usize> {
        match self {
            Stages::Blocks(blocks) | Stages::Overlapping(blocks) => Some(blocks.k),
            Stages::Matrix(matrix) => Some(matrix.size),
            Stages::Matrices(pair) => Some(pair.size),
            _ => None,
        }
    }
}
