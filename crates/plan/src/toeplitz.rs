//! A schoolbook Toeplitz matrix–vector product: k dot products of length k [Chiu25 §2.5]. Scale 1.

use crate::base::{Base, BaseRef, BaseSpec};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::sexpr::Form;
use crate::stages::Inside;
use crate::tree::TreeNode;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "toeplitz",
    usage: "(toeplitz)",
    summary: "A schoolbook weighted convolution or Toeplitz product, as dot products.",
    citation: "[Chiu25 §2.5]",
    build: Build::Base(build),
};

/// Dot products.
#[derive(Clone, Debug)]
pub struct Toeplitz {
    q: u64,
    size: usize,
}

fn build(arguments: &mut Arguments, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
    spec.no_trinomials(arguments)?;
    Ok(Arc::new(Toeplitz { q: spec.q, size: spec.size }))
}

impl Base for Toeplitz {
    fn name(&self) -> &'static str {
        METHOD.name
    }
    fn q(&self) -> u64 {
        self.q
    }
    fn size(&self) -> usize {
        self.size
    }
    fn inside(&self) -> Inside<'_> {
        Inside::Dots
    }
    fn cost(&self) -> Cost {
        let k = self.size as u64;
        Cost { products: k * k, adds: k * (k - 1), scales: 0 }
    }
    fn tree(&self) -> TreeNode {
        TreeNode::of_base(format!("Dot products {0} × {0}", self.size), self, &[], METHOD.citation)
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [])
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_base;

    #[test]
    fn agrees_with_the_definition() {
        for size in [1, 3, 8, 16] {
            check_base(4591, size, &[1, 4590, 3862, 0], "(toeplitz)");
            check_base(2048, size, &[1, 5], "(toeplitz)");
        }
    }
}
