//! The Chinese remainder theorem with a monomial factor [Chiu25 §3.1, eq. 3.1].
//!
//! Map: the product mod (x^N − 1)·x^M ↦ (mod x^N − 1, mod x^M), N ≥ M. Inverse:
//! c_i = low_i for i < M, main_i for M ≤ i < N, main_{i−N} − low_{i−N} for N ≤ i < N + M.
//! Scale: the main part's; the low part is multiplied by [`MonomialCrt::low_factor`] to agree.
//! Condition: N + M is at least the length of the product.

use crate::cost::Model;
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
    name: "monomial-crt",
    usage: "(monomial-crt N M (main PRODUCT) (low PRODUCT))",
    summary: "Multiplies mod (x^N - 1)·x^M, by the Chinese remainder theorem; N + M must be at least \
              the length of the product.",
    citation: "[Chiu25 §3.1]",
    build: Build::Product(build),
};

/// The product mod (x^N − 1)·x^M in two parts.
#[derive(Clone, Debug)]
pub struct MonomialCrt {
    /// Where the product is taken (nothing is reduced: [`Modulus::Free`]).
    pub domain: Domain,
    /// N.
    pub main_degree: usize,
    /// M.
    pub low_degree: usize,
    /// The product mod x^N − 1.
    pub main: ProductRef,
    /// The product mod x^M.
    pub low: ProductRef,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let main_degree = arguments.number("the degree N of the main part")?;
    let main_at = arguments.last_at();
    let low_degree = arguments.number("the degree M of the monomial")?;
    let low_at = arguments.last_at();
    if !matches!(domain.modulus, Modulus::Free { .. }) {
        return Err(arguments
            .refuse(format!("monomial-crt multiplies without reduction, but {domain} reduces"))
            .instead(format!("(lift {} (monomial-crt …))", domain.product_length())));
    }
    let needed = domain.wanted;
    if main_degree + low_degree < needed {
        let message = format!(
            "the monomial factor x^{low_degree} is too small: (x^{main_degree} - 1)·x^{low_degree} has \
             degree {}, but the product has {needed} coefficients",
            main_degree + low_degree
        );
        let hint =
            format!("(monomial-crt {main_degree} {} …)", needed.saturating_sub(main_degree).max(1));
        return Err(Refusal::new(low_at, message).instead(hint));
    }
    if low_degree > main_degree {
        let message = format!(
            "the main degree {main_degree} is below the degree {low_degree} of the monomial"
        );
        return Err(Refusal::new(main_at, message).instead("N of at least M"));
    }
    let main = build_part(arguments, "main", main_degree, 1, domain)?;
    let low = build_part(arguments, "low", low_degree, 0, domain)?;
    Ok(Arc::new(MonomialCrt { domain: domain.clone(), main_degree, low_degree, main, low }))
}

fn build_part(
    arguments: &mut Arguments,
    label: &str,
    degree: usize,
    weight: u64,
    domain: &Domain,
) -> Result<ProductRef, Refusal> {
    let form = arguments.labelled(label)?;
    let part = Domain {
        q: domain.q,
        modulus: Modulus::Binomial { degree, weight },
        operand: domain.operand.min(degree),
        wanted: degree,
        bounds: domain.bounds,
    };
    if weight != 0 && domain.operand > degree {
        let message =
            format!("operands of {} coefficients do not fit x^{degree} - 1", domain.operand);
        return Err(
            Refusal::new(form.at, message).instead(format!("N of at least {}", domain.operand))
        );
    }
    arguments.methods.product(&form, &part)
}

impl MonomialCrt {
    /// What the low part is multiplied with, so that both parts leave one scale.
    pub fn low_factor(&self) -> u64 {
        self.main.scale().over(self.low.scale()).value()
    }
}

impl Product for MonomialCrt {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.domain
    }
    fn scale(&self) -> Unit {
        self.main.scale()
    }

    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (q, n, m) = (self.domain.q, self.main_degree, self.low_degree);
        let main = self.main.multiply(a, b);
        let cut = |v: &[u64]| v[..v.len().min(m)].to_vec();
        let mut low = self.low.multiply(&cut(a), &cut(b));
        low.iter_mut().for_each(|c| *c = zq::mul(*c, self.low_factor(), q));
        let coefficient = |i: usize| match i {
            _ if i < m => low[i],
            _ if i < n => main[i],
            _ => zq::sub(main[i - n], low[i - n], q),
        };
        (0..self.domain.wanted).map(coefficient).collect()
    }

    fn stages(&self) -> Stages<'_> {
        Stages::Joined(self)
    }
    fn made_of(&self) -> Vec<&ProductRef> {
        vec![&self.main, &self.low]
    }
    fn shape(&self) -> String {
        format!("{} + x^{}", self.main.shape(), self.low_degree)
    }
    fn cost(&self) -> Cost {
        let scales = if self.low_factor() == 1 { 0 } else { self.low_degree as u64 };
        let adds = self.domain.wanted.saturating_sub(self.main_degree) as u64;
        self.main.cost() + self.low.cost() + Cost { scales, adds, products: 0 }
    }
    fn slots(&self, model: &Model) -> f64 {
        let join = 3.0 * model.words(self.domain.q).registers(self.domain.wanted);
        self.main.slots(model) + self.low.slots(model) + join
    }
    fn tree(&self) -> TreeNode {
        let (n, m) = (self.main_degree, self.low_degree);
        let title = format!("CRT with the monomial factor x^{m}");
        let after = format!("{} × {}", self.main.domain(), self.low.domain());
        TreeNode::of_product(
            self,
            (title, after),
            vec![
                self.main.tree().titled(&format!("main, mod x^{n} - 1: ")),
                self.low.tree().titled(&format!("low, mod x^{m}: ")),
            ],
        )
    }
    fn to_form(&self) -> Form {
        Form::list(
            METHOD.name,
            [
                Form::word(self.main_degree),
                Form::word(self.low_degree),
                Form::list("main", [self.main.to_form()]),
                Form::list("low", [self.low.to_form()]),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::build_product;
    use crate::testing::Random;

    fn free(operand: usize) -> Domain {
        let length = 2 * operand - 1;
        Domain {
            q: 4591,
            modulus: Modulus::Free { length },
            operand,
            wanted: length,
            bounds: Domain::any(4591),
        }
    }

    fn build(text: &str, operand: usize) -> ProductRef {
        let form = Form::parse(text).expect("text");
        build_product(&form, &free(operand)).unwrap_or_else(|e| panic!("{e:?}"))
    }

    /// Equation 3.1, for monomials of every size down to none of the product above x^N.
    #[test]
    fn joins_to_the_unreduced_product() {
        let mut random = Random(3);
        for (n, m) in [(10, 9), (11, 8), (15, 4), (18, 1), (19, 1), (10, 10)] {
            let text = format!("(monomial-crt {n} {m} (main (schoolbook)) (low (schoolbook)))");
            let product = build(&text, 10);
            let (a, b) = (random.vector(10, 4591), random.vector(10, 4591));
            assert_eq!(product.multiply(&a, &b), free(10).multiply(&a, &b), "{n}, {m}");
        }
    }

    /// Parts that leave different scales are brought to the main part's.
    #[test]
    fn scales_agree() {
        let part =
            |k: usize| format!("(substitute {k} (rader 5) (weighted-convolution (toeplitz)))");
        let text = format!(
            "(monomial-crt 10 5 (main {}) (low (lift 10 (substitute 2 (rader 5 unscaled) \
             (weighted-convolution (toeplitz))))))",
            part(2)
        );
        let product = build(&text, 8);
        let crt = product.as_method::<MonomialCrt>().expect("monomial-crt");
        assert_eq!((crt.main.scale().value(), crt.low.scale().value()), (4 * 4 * 4 * 5, 5));
        assert_eq!(crt.low_factor(), 64);
        let mut random = Random(4);
        let (a, b) = (random.vector(8, 4591), random.vector(8, 4591));
        let expected: Vec<u64> =
            free(8).multiply(&a, &b).iter().map(|&c| zq::mul(c, 320, 4591)).collect();
        assert_eq!(product.multiply(&a, &b), expected);
    }
}
