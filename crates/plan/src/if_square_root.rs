//! One method for the weights that have a square root in Z_q, another for the rest
//! [Chiu25 §3.3.3]. Of the weights ω_90^i modulo 4591 the even powers have one, as −1 has none.

use crate::base::{Base, BaseRef, BaseSpec, Shape};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::sexpr::Form;
use crate::stages::Inside;
use crate::tree::TreeNode;
use crate::two_ntt::root;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "if-square-root",
    usage: "(if-square-root SMALL SMALL)",
    summary: "The first method for weights that have an invertible square root, the second for the rest.",
    citation: "[Chiu25 §3.3.3]",
    build: Build::Base(build),
};

/// A choice by weight.
#[derive(Clone, Debug)]
pub struct IfSquareRoot {
    q: u64,
    size: usize,
    /// For weights with a square root.
    pub with: BaseRef,
    /// For the others.
    pub without: BaseRef,
    /// How many of the weights have a root, and how many not.
    pub counts: (usize, usize),
}

/// Whether `weight` has an invertible square root.
fn has_root(weight: u64, q: u64) -> bool {
    root(weight, q).is_some()
}

fn build(arguments: &mut Arguments, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
    spec.no_trinomials(arguments)?;
    let Shape::Weighted(weights) = &spec.shape else {
        return Err(arguments
            .refuse("if-square-root chooses by weight, but a general Toeplitz product has none")
            .instead("(toeplitz) or (karatsuba …)"));
    };
    let (with, without): (Vec<u64>, Vec<u64>) = weights.iter().partition(|&&w| has_root(w, spec.q));
    let counts = (with.len(), without.len());
    let shaped = |weights| BaseSpec { shape: Shape::Weighted(weights), ..spec.clone() };
    let with = arguments.base(&shaped(with))?;
    let without = arguments.base(&shaped(without))?;
    Ok(Arc::new(IfSquareRoot { q: spec.q, size: spec.size, with, without, counts }))
}

impl IfSquareRoot {
    /// The method that this weight takes.
    pub fn method_for(&self, weight: u64) -> &BaseRef {
        if has_root(weight, self.q) { &self.with } else { &self.without }
    }
}

impl Base for IfSquareRoot {
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
        Inside::ByWeight(self)
    }
    /// The more expensive of the two.
    fn cost(&self) -> Cost {
        let (with, without) = (self.with.cost(), self.without.cost());
        if with.products > without.products { with } else { without }
    }
    fn tree(&self) -> TreeNode {
        let title =
            format!("By weight: {} with a square root, {} without", self.counts.0, self.counts.1);
        TreeNode::of_base(
            title,
            self,
            &[self.with.as_ref(), self.without.as_ref()],
            METHOD.citation,
        )
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [self.with.to_form(), self.without.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_base;
    use ringforge_ring::zq;

    /// ω_90^i has a square root for even i and none for odd i [Chiu25 §3.3.3].
    #[test]
    fn even_powers_have_roots() {
        let w = zq::root_of_unity(90, 4591).expect("root");
        let weights: Vec<u64> = (0..90).map(|i| zq::pow(w, i, 4591)).collect();
        let text = "(if-square-root (two-ntt (toeplitz)) (karatsuba (toeplitz)))";
        let base = check_base(4591, 16, &weights, text);
        let choice = base.as_method::<IfSquareRoot>().expect("choice");
        assert_eq!(choice.counts, (45, 45));
        for (i, &weight) in weights.iter().enumerate() {
            let name = choice.method_for(weight).name();
            assert_eq!(name, if i % 2 == 0 { "two-ntt" } else { "karatsuba" });
        }
    }
}
