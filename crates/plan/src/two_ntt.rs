//! A weighted convolution mod x^{2m} − s² as one mod x^m − s and one mod x^m + s
//! [Chiu25 §2.3, §3.3.3].
//!
//! Map: (a_0, a_1) ↦ (a_0 + s·a_1, a_0 − s·a_1). Inverse: h_0 = (u + v)/2,
//! h_1 = (u − v)/(2s). The halves are folded into constants, so the scale is 1.
//! Condition: every weight has a square root in Z_q, and 2 is invertible.

use crate::base::{Base, BaseRef, BaseSpec, Shape, SmallModulus};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::sexpr::Form;
use crate::split::{Chunks, Part, Split, neighbours};
use crate::stages::Inside;
use crate::tree::TreeNode;
use crate::unit::Unit;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "two-ntt",
    usage: "(two-ntt SMALL)",
    summary: "A weighted convolution of even size as two of half the size; the weight needs a square \
              root.",
    citation: "[Chiu25 §3.3.3]",
    build: Build::Base(build),
};

/// The split of a weighted convolution by a square root of the weight.
#[derive(Clone, Debug)]
pub struct TwoNtt {
    q: u64,
    size: usize,
    /// The weighted convolution of half the size.
    pub inner: BaseRef,
}

fn build(arguments: &mut Arguments, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
    spec.no_trinomials(arguments)?;
    let Shape::Weighted(weights) = &spec.shape else {
        return Err(arguments
            .refuse(
                "two-ntt splits weighted convolutions; here general Toeplitz products are needed",
            )
            .instead("(toeplitz) or (karatsuba …)"));
    };
    if !spec.size.is_multiple_of(2) {
        return Err(arguments.refuse(format!("two-ntt halves, but the size {} is odd", spec.size)));
    }
    if zq::inv(2, spec.q).is_none() {
        return Err(arguments.refuse(format!("two-ntt halves: q = {} must be odd", spec.q)));
    }
    let mut roots = Vec::new();
    for &w in weights {
        let Some(root) = root(w, spec.q) else {
            let message = format!("the weight {w} has no invertible square root mod {}", spec.q);
            return Err(arguments
                .refuse(message)
                .instead("(if-square-root (two-ntt …) (karatsuba …)), or (karatsuba …)"));
        };
        roots.extend([root.value(), root.negated().value()]);
    }
    let half = BaseSpec { q: spec.q, size: spec.size / 2, shape: Shape::Weighted(roots) };
    Ok(Arc::new(TwoNtt { q: spec.q, size: spec.size, inner: arguments.base(&half)? }))
}

/// A square root s of a weight that has an inverse, as the inverse map divides by it.
pub(crate) fn root(weight: u64, q: u64) -> Option<Unit> {
    Unit::new(zq::sqrt(weight, q)?, q)
}

impl TwoNtt {
    /// The constants of the inverse: 1/2 and 1/(2s).
    fn inverse_constants(&self, root: Unit) -> (u64, u64) {
        let half = self.q.div_ceil(2);
        (half, zq::mul(half, root.inverse(), self.q))
    }
}

impl Base for TwoNtt {
    fn name(&self) -> &'static str {
        METHOD.name
    }
    fn q(&self) -> u64 {
        self.q
    }
    fn size(&self) -> usize {
        self.size
    }

    fn split(&self, modulus: SmallModulus) -> Option<Split> {
        let (q, SmallModulus::Binomial(weight)) = (self.q, modulus) else { return None };
        let root = root(weight, q)?;
        let s = root.value();
        let mut there = Chunks::new(2);
        let high = there.scale(1, s);
        let (plus, minus) = (there.add(0, high), there.sub(0, high));
        let (half, half_inverse) = self.inverse_constants(root);
        let mut back = Chunks::new(2);
        let (sum, difference) = (back.add(0, 1), back.sub(0, 1));
        let output = vec![back.scale(sum, half), back.scale(difference, half_inverse)];
        let part = |value: usize, root: u64| Part {
            values: vec![value],
            modulus: SmallModulus::Binomial(root),
            method: self.inner.clone(),
        };
        Some(Split {
            name: "2-NTT",
            chunks: neighbours(self.size, 2),
            forward: there.finish(),
            parts: vec![part(plus, s), part(minus, root.negated().value())],
            inverse: back.finish(),
            output,
        })
    }

    fn inside(&self) -> Inside<'_> {
        Inside::Split
    }
    fn cost(&self) -> Cost {
        let m = self.size as u64 / 2;
        // Both operands split (one multiplication and a butterfly each), the result joined.
        self.inner.cost().times(2) + Cost { scales: 4 * m, adds: 6 * m, products: 0 }
    }
    fn tree(&self) -> TreeNode {
        let title = format!("2-NTT {} = 2 × {}", self.size, self.size / 2);
        TreeNode::of_base(title, self, &[self.inner.as_ref()], METHOD.citation)
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [self.inner.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use crate::base::Shape;
    use crate::testing::{check_base, try_base};
    use ringforge_ring::zq;

    #[test]
    fn agrees_with_the_definition() {
        let squares: Vec<u64> = [1u64, 2, 77, 3862].iter().map(|&s| zq::mul(s, s, 4591)).collect();
        for size in [2, 8, 16] {
            check_base(4591, size, &squares, "(two-ntt (toeplitz))");
        }
        check_base(4591, 16, &squares, "(two-ntt (karatsuba (toeplitz)))");
        // 12289 ≡ 1 mod 4: −1 has a square root, so the split goes on.
        check_base(12289, 16, &[1], "(two-ntt (two-ntt (toeplitz)))");
    }

    #[test]
    fn refuses_weights_without_a_root() {
        let error =
            try_base(4591, 8, Shape::Weighted(vec![1, 4590]), "(two-ntt (toeplitz))").unwrap_err();
        assert_eq!(error.message, "the weight 4590 has no invertible square root mod 4591");
        let error =
            try_base(2048, 8, Shape::Weighted(vec![1]), "(two-ntt (toeplitz))").unwrap_err();
        assert_eq!(error.message, "two-ntt halves: q = 2048 must be odd");
    }
}
