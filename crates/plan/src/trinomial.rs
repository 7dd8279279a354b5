//! Schoolbook products mod x^{2m} + ax^m + b: the product over Z_q\[x\] is reduced from its upper
//! end by x^{2m} = −ax^m − b [Hwang24 §4.4]. Scale 1, no condition.

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
    name: "trinomial",
    usage: "(trinomial)",
    summary: "A schoolbook product mod x^2m + ax^m + b, as Bruun's splits leave them.",
    citation: "[Hwang24 §4.4]",
    build: Build::Base(build),
};

/// Products, then the remainder.
#[derive(Clone, Debug)]
pub struct Trinomial {
    q: u64,
    size: usize,
}

fn build(arguments: &mut Arguments, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
    if !matches!(spec.shape, Shape::Trinomial(_)) {
        let message = "trinomial multiplies mod x^2m + ax^m + b, and here is no such product";
        return Err(arguments.refuse(message).instead("(toeplitz), or (bruun (trinomial))"));
    }
    Ok(Arc::new(Trinomial { q: spec.q, size: spec.size }))
}

impl Base for Trinomial {
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
        Inside::Trinomial
    }
    fn cost(&self) -> Cost {
        let k = self.size as u64;
        // Each of the k − 1 upper coefficients is multiplied by a and by b.
        let upper = k - 1;
        Cost { products: k * k, adds: upper * upper + 2 * upper, scales: 2 * upper }
    }
    fn tree(&self) -> TreeNode {
        let title = format!("Products {0} × {0} mod trinomials", self.size);
        TreeNode::of_base(title, self, &[], METHOD.citation)
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [])
    }
}

#[cfg(test)]
mod tests {
    use crate::base::Shape;
    use crate::testing::{check_trinomials, try_base};

    #[test]
    fn agrees_with_the_definition() {
        for size in [2, 4, 8, 10] {
            check_trinomials(4591, size, &[(0, 1), (58, 4590), (77, 99)], "(trinomial)");
            check_trinomials(2048, size, &[(1, 1), (3, 0)], "(trinomial)");
        }
    }

    #[test]
    fn refuses_other_products() {
        for shape in [Shape::Toeplitz, Shape::Weighted(vec![1])] {
            let error = try_base(4591, 8, shape, "(trinomial)").unwrap_err();
            assert!(error.message.ends_with("here is no such product"), "{error}");
        }
        let error = try_base(4591, 8, Shape::Trinomial(vec![(1, 1)]), "(karatsuba (toeplitz))");
        assert!(error.unwrap_err().message.contains("mod trinomials"));
    }
}
