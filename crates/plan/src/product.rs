//! What every product node of a plan has in common.

use crate::domain::Domain;
use crate::network::Cost;
use crate::registry::Method;
use crate::sexpr::Form;
use crate::structure::Structure;
use crate::tree::TreeNode;
use crate::unit::Unit;
use std::any::Any;
use std::sync::Arc;

/// A shared product node.
pub type ProductRef = Arc<dyn Product>;

/// A way to multiply two polynomials in a [`Domain`].
pub trait Product: Any + std::fmt::Debug + Send + Sync {
    /// The method's entry in the registry.
    fn method(&self) -> &'static Method;
    /// The word that opens this method in a plan text.
    fn name(&self) -> &'static str {
        self.method().name
    }
    /// Where the product is taken.
    fn domain(&self) -> &Domain;
    /// s: the product leaves s·a·b. A unit, so that what comes after can take it out: 1 unless a method says otherwise.
    fn scale(&self) -> Unit {
        Unit::one(self.domain().q)
    }
    /// Reference execution: operands of at most `domain().operand` coefficients in `[0, q)` →
    /// `domain().wanted` coefficients of s·a·b mod the modulus, in `[0, q)`.
    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64>;
    /// What the product is made of, for its lowering.
    fn structure(&self) -> Structure<'_>;
    /// The operations on coefficients of one product, both forward transforms included.
    fn cost(&self) -> Cost;
    /// The node and what is below it, for people.
    fn tree(&self) -> TreeNode;
    /// This node as plan text.
    fn to_form(&self) -> Form;
}

impl dyn Product {
    /// This node as the concrete method `T`, if it is one.
    pub fn as_method<T: Product>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}
