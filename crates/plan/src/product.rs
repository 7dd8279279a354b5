//! What every product node of a plan has in common.

use crate::cost::Model;
use crate::domain::Domain;
use crate::method::Method;
use crate::network::Cost;
use crate::sexpr::Form;
use crate::stages::Stages;
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
    /// The stages that it is lowered to.
    fn stages(&self) -> Stages<'_>;
    /// The products that this one is made of, the main one first.
    fn made_of(&self) -> Vec<&ProductRef> {
        Vec::new()
    }
    /// The moduli that it changes to, or the main one of those that it is made of; none if all is
    /// modulo q.
    fn moduli(&self) -> Vec<u64> {
        let inner = self.made_of().into_iter().map(|inner| inner.moduli());
        inner.into_iter().find(|all| !all.is_empty()).unwrap_or_default()
    }
    /// Lengths of transforms times sizes of base products, as far as there are such.
    fn shape(&self) -> String {
        match self.stages() {
            Stages::Levels(levels) => levels.levels_shape(),
            _ => self.name().to_owned(),
        }
    }
    /// The operations on coefficients of one product, both forward transforms included.
    fn cost(&self) -> Cost;
    /// The vector slots that one product is expected to take.
    fn slots(&self, model: &Model) -> f64 {
        match self.stages() {
            Stages::Levels(levels) => levels.levels_slots(model),
            _ => model.by_count(self.cost(), self.domain().q),
        }
    }
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
