//! The weighted convolutions that an incomplete transform ends in: products mod x^k − w, one for
//! each weight w [Chiu25 §2.5, §3.2.3].

use crate::base::{Base, BaseRef, BaseSpec, Shape};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::sexpr::Form;
use crate::stages::Inside;
use crate::tree::TreeNode;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "weighted-convolution",
    usage: "(weighted-convolution SMALL)",
    summary: "Products mod x^K - w for every weight w that the transform leaves.",
    citation: "[Chiu25 §3.2.3]",
    build: Build::Base(build),
};

/// Weighted convolutions of one size.
#[derive(Clone, Debug)]
pub struct WeightedConvolution {
    q: u64,
    /// k.
    pub size: usize,
    /// The weight of each slot, in the order of the transform's outputs.
    pub weights: Vec<u64>,
    /// How they are computed.
    pub base: BaseRef,
}

fn build(arguments: &mut Arguments, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
    spec.no_trinomials(arguments)?;
    let Shape::Weighted(weights) = &spec.shape else {
        return Err(arguments.refuse("weighted-convolution belongs below a transform"));
    };
    let base = arguments.base(spec)?;
    Ok(Arc::new(WeightedConvolution { q: spec.q, size: spec.size, weights: weights.clone(), base }))
}

impl WeightedConvolution {
    /// The method for one weight, choices resolved.
    pub fn method_for(&self, weight: u64) -> &BaseRef {
        resolved(&self.base, weight)
    }

    /// The operations of all slots together.
    pub fn total_cost(&self) -> Cost {
        self.weights.iter().map(|&w| self.method_for(w).cost()).sum()
    }
}

/// The method that `base` resolves to at a weight.
pub fn resolved(mut base: &BaseRef, weight: u64) -> &BaseRef {
    while let Inside::ByWeight(choice) = base.inside() {
        base = choice.method_for(weight);
    }
    base
}

impl Base for WeightedConvolution {
    fn name(&self) -> &'static str {
        METHOD.name
    }
    fn q(&self) -> u64 {
        self.q
    }
    fn size(&self) -> usize {
        self.size
    }
    fn convolve(&self, weight: u64, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.method_for(weight).convolve(weight, a, b)
    }
    fn inside(&self) -> Inside<'_> {
        Inside::Convolutions(self)
    }
    fn cost(&self) -> Cost {
        self.base.cost()
    }
    fn tree(&self) -> TreeNode {
        let title = format!("{} weighted convolutions of size {}", self.weights.len(), self.size);
        let mut node = TreeNode::of_base(title, self, &[self.base.as_ref()], METHOD.citation);
        node.cost = self.total_cost();
        node.cost_of = "for all of them";
        node
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [self.base.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_base;

    #[test]
    fn resolves_choices_by_weight() {
        let text =
            "(weighted-convolution (if-square-root (two-ntt (toeplitz)) (karatsuba (toeplitz))))";
        let base = check_base(4591, 16, &[1, 4590, 3862, 4], text);
        let node = base.as_method::<WeightedConvolution>().expect("weighted-convolution");
        let names: Vec<&str> = node.weights.iter().map(|&w| node.method_for(w).name()).collect();
        assert_eq!(names, ["two-ntt", "karatsuba", "karatsuba", "two-ntt"]);
        assert_eq!(node.total_cost().products, 2 * 128 + 2 * 192);
    }
}
