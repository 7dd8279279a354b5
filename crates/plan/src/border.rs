//! Bordering: the few coefficients of the operands at and above degree n are multiplied directly,
//! the rest by a product of shorter operands [Chiu25 §3.2.2, eq. 3.2].
//!
//! With a = a' + x^n·a'', a truncated product is a'b' + x^n(a''b + a'b'') mod x^M. For M = 81 and
//! n = 80 that is the fix-up (a_80 b_0 + a_0 b_80)·x^80. Scale: the inner one's, which the direct
//! terms are multiplied with.

use crate::domain::{Domain, Modulus};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::product::{Product, ProductRef};
use crate::sexpr::Form;
use crate::stages::Stages;
use crate::tree::TreeNode;
use crate::unit::Unit;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "border",
    usage: "(border N PRODUCT)",
    summary: "In a truncated product, multiplies the coefficients at and above x^N directly and the \
              rest as operands of N coefficients.",
    citation: "[Chiu25 §3.2.2]",
    build: Build::Product(build),
};

/// A truncated product with its top coefficients taken apart.
#[derive(Clone, Debug)]
pub struct Border {
    /// Where the product is taken, mod x^M.
    pub domain: Domain,
    /// n: operands of the inner product have this many coefficients.
    pub inner_operand: usize,
    /// The product of the lower parts.
    pub inner: ProductRef,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let n = arguments.number("the degree N from which on coefficients are multiplied directly")?;
    let at = arguments.last_at();
    if !matches!(domain.modulus, Modulus::Binomial { weight: 0, .. }) {
        return Err(
            arguments.refuse(format!("border needs a truncated product, mod x^M, not {domain}"))
        );
    }
    if n >= domain.operand {
        let message = format!(
            "operands have {} coefficients, none of them at or above x^{n}",
            domain.operand
        );
        return Err(Refusal::new(at, message).instead(format!("N below {}", domain.operand)));
    }
    let inner = arguments.product(&Domain { operand: n, ..domain.clone() })?;
    Ok(Arc::new(Border { domain: domain.clone(), inner_operand: n, inner }))
}

impl Border {
    /// The direct terms as (output degree, degree in a, degree in b).
    pub fn terms(&self) -> Vec<(usize, usize, usize)> {
        let (n, top) = (self.inner_operand, self.domain.operand);
        let pairs = (0..top).flat_map(|i| (0..top).map(move |j| (i + j, i, j)));
        pairs.filter(|&(d, i, j)| d < self.domain.wanted && (i >= n || j >= n)).collect()
    }
}

impl Product for Border {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.domain
    }
    fn scale(&self) -> Unit {
        self.inner.scale()
    }
    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (q, n) = (self.domain.q, self.inner_operand);
        let cut = |v: &[u64]| v[..v.len().min(n)].to_vec();
        let mut c = self.inner.multiply(&cut(a), &cut(b));
        let at = |v: &[u64], i: usize| v.get(i).copied().unwrap_or(0);
        for (degree, i, j) in self.terms() {
            let term = zq::mul(zq::mul(at(a, i), at(b, j), q), self.scale().value(), q);
            c[degree] = zq::add(c[degree], term, q);
        }
        c
    }
    fn stages(&self) -> Stages<'_> {
        Stages::Cut(self)
    }
    fn made_of(&self) -> Vec<&ProductRef> {
        vec![&self.inner]
    }
    fn cost(&self) -> Cost {
        let terms = self.terms();
        let mut touched: Vec<usize> = terms.iter().map(|t| t.0).collect();
        touched.dedup();
        let scales = if self.scale() == 1 { 0 } else { touched.len() as u64 };
        let count = terms.len() as u64;
        self.inner.cost() + Cost { scales, adds: count, products: count }
    }
    fn tree(&self) -> TreeNode {
        let title = format!("Border above x^{}", self.inner_operand - 1);
        let after = format!("operands of {} coefficients", self.inner_operand);
        TreeNode::of_product(self, (title, after), vec![self.inner.tree()])
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [Form::word(self.inner_operand), self.inner.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::build_product;
    use crate::testing::Random;

    /// The terms of equation 3.2: a_80·b_0 and a_0·b_80, at degree 80.
    #[test]
    fn terms_of_the_seed() {
        let modulus = Modulus::Binomial { degree: 81, weight: 0 };
        let domain =
            Domain { q: 4591, modulus, operand: 81, wanted: 81, bounds: Domain::any(4591) };
        let form = Form::parse("(border 80 (schoolbook))").expect("text");
        let product = build_product(&form, &domain).expect("plan");
        let border = product.as_method::<Border>().expect("border");
        assert_eq!(border.terms(), [(80, 0, 80), (80, 80, 0)]);
        assert_eq!(border.inner.domain().operand, 80);
    }

    #[test]
    fn agrees_with_the_truncated_product() {
        let mut random = Random(8);
        for n in 1..9 {
            let modulus = Modulus::Binomial { degree: 12, weight: 0 };
            let domain =
                Domain { q: 4591, modulus, operand: 9, wanted: 12, bounds: Domain::any(4591) };
            let form = Form::parse(&format!("(border {n} (schoolbook))")).expect("text");
            let product = build_product(&form, &domain).expect("plan");
            let (a, b) = (random.vector(9, 4591), random.vector(9, 4591));
            assert_eq!(product.multiply(&a, &b), domain.multiply(&a, &b), "{n}");
        }
    }
}
