//! The product as one writes it in plain C: loops over coefficients, on every target. Let a·b = H·x^n + L over the
//! integers. `(plain)` folds the terms of H by f into the lower ones, from the highest on, and reduces each once.
//!
//! `(plain quotient)` computes L − Q·f with the quotient Q = ⌊H·μ/x^(n−2)⌋ for μ = ⌊x^(2n−2)/f⌋. That takes two more
//! products of halves, and is shorter if f has many coefficients.
//!
//! It works for any ring whose sums of n products fit words of 64 bits. Scale: 1.

use crate::cost::Model;
use crate::domain::{Domain, Modulus};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::product::{Product, ProductRef};
use crate::sexpr::Form;
use crate::stages::Stages;
use crate::tree::TreeNode;
use ringforge_ring::Ring;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "plain",
    usage: "(plain [quotient])",
    summary: "Every product of two coefficients by loops in plain C on every target: sums first, then the fold by f \
              term by term, or the remainder by two more products of halves (`quotient`).",
    citation: "[Barrett86]",
    build: Build::Product(build),
};

/// The word that asks for two more products.
const QUOTIENT: &str = "quotient";
/// A term of f costs so many products of dots for each coefficient that is folded: a load, a store and a product.
const FOLDED: u64 = 4;
/// The same where no vector holds several coefficients, as x^n is followed by too near a term.
const ALONE: u64 = 16;
/// So near is too near.
const NEAR: usize = 8;

/// The product in plain C.
#[derive(Clone, Debug)]
pub struct Plain {
    /// Where the product is taken, a ring.
    pub domain: Domain,
    /// The ring.
    pub ring: Ring,
    /// Whether the remainder is by two more products.
    pub quotient: bool,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let quotient = arguments.option(QUOTIENT);
    let Modulus::Ring(ring) = &domain.modulus else {
        let why = "plain C multiplies in the ring itself".to_string();
        return Err(
            Refusal::new(arguments.last_at(), why).instead("(schoolbook) inside other methods")
        );
    };
    if quotient && ring.degree() < 2 {
        let why = "f of degree 1 has no quotient to be multiplied".to_string();
        return Err(Refusal::new(arguments.last_at(), why).instead("(plain)"));
    }
    Ok(Arc::new(Plain { domain: domain.clone(), ring: ring.clone(), quotient }))
}

impl Plain {
    /// The terms of f below x^n, as (exponent, centred coefficient), the highest first.
    pub fn terms(&self) -> Vec<(usize, i64)> {
        let f = self.ring.modulus();
        let all = f[..self.ring.degree()].iter().copied().enumerate().rev();
        all.filter(|&(_, c)| c != 0).collect()
    }

    /// How far below x^n the next term of f is, at most n: so many coefficients are folded without each other.
    pub fn apart(&self) -> usize {
        let n = self.ring.degree();
        self.terms().first().map_or(n, |&(i, _)| n - i)
    }

    /// Which of the two forms has less to do in a ring.
    pub fn suits_quotient(ring: &Ring) -> bool {
        let plain = Plain { domain: Domain::of_ring(ring), ring: ring.clone(), quotient: false };
        plain.remainder() > Plain { quotient: true, ..plain.clone() }.remainder()
    }

    /// What the remainder takes, in products of dots.
    fn remainder(&self) -> u64 {
        let n = self.ring.degree() as u64;
        let each = if self.apart() < NEAR { ALONE } else { FOLDED };
        if self.quotient { n * n } else { n * each * self.terms().len() as u64 }
    }
}

impl Product for Plain {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.domain
    }
    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.domain.multiply(a, b)
    }
    fn stages(&self) -> Stages<'_> {
        Stages::Loops(self)
    }
    fn cost(&self) -> Cost {
        let n = self.ring.degree() as u64;
        let products = n * n + self.remainder();
        Cost { products, adds: products, scales: 2 * n }
    }
    /// Loops that a compiler turns into vectors: two loads, a product of pairs and a sum; more where sums need words of
    /// 64 bits.
    fn slots(&self, model: &Model) -> f64 {
        let (domain, costs) = (&self.domain, &model.costs);
        let largest = domain.bounds.iter().map(|&bound| bound as f64).product::<f64>();
        let short =
            domain.q.is_power_of_two() || largest * domain.operand as f64 <= f64::from(i32::MAX);
        let each = 2.0 * costs.memory + if short { 2.0 } else { 12.0 } * costs.add;
        1.2 * self.cost().products as f64 / model.lanes(16) as f64 * each
    }
    fn tree(&self) -> TreeNode {
        let title = if self.quotient { "Plain C, three products" } else { "Plain C, folded by f" };
        TreeNode::of_product(self, (title, ""), Vec::new())
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, self.quotient.then(|| Form::word(QUOTIENT)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    #[test]
    fn is_the_product_of_the_ring_and_counts_what_f_asks_for() {
        for form in ["(plain)", "(plain quotient)"] {
            let text = format!("(plan p (ring \"Z2048[x]/(x^3 - 1)\") {form})");
            let plan = Plan::parse(&text).expect("plan");
            assert_eq!(plan.root.to_form().to_string(), form);
            let (a, b) = ([1023, -1024, 5], [7, 0, -1024]);
            assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b));
        }
        let suits = |text: &str| Plain::suits_quotient(&text.parse().expect("a ring"));
        assert!(!suits("Z81[x]/(x^315 + 59x^293 + 4x^213 + 40x^85 + 12x^84)"));
        assert!(!suits("Z81[x]/(x^315 - x^314 + 1)"));
        let all: Vec<String> = (0..300).map(|i| format!(" + 2x^{i}")).collect();
        assert!(suits(&format!("Z81[x]/(x^300{})", all.concat())));
    }

    #[test]
    fn is_refused_inside_other_methods() {
        let text = "(plan p (ring \"Z17[x]/(x^16 + x + 1)\") (lift 31 (plain)))";
        let error = Plan::parse(text).expect_err("no ring there");
        assert!(error.to_string().contains("in the ring itself"), "{error}");
    }
}
