//! The schoolbook product, in any domain. Mod x^M it is the truncated product [Chiu25 §3.2.2].
//! Scale 1.

use crate::cost::Model;
use crate::domain::{Domain, Modulus};
use crate::error::Refusal;
use crate::lift::LONG_BITS;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::product::{Product, ProductRef};
use crate::sexpr::Form;
use crate::stages::Stages;
use crate::tree::TreeNode;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "schoolbook",
    usage: "(schoolbook)",
    summary: "Every needed product of two coefficients, in any domain; mod x^M the truncated product.",
    citation: "[Chiu25 §3.2.2]",
    build: Build::Product(build),
};

/// The schoolbook product.
#[derive(Clone, Debug)]
pub struct Schoolbook {
    /// Where the product is taken.
    pub domain: Domain,
}

fn build(_: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    Ok(Arc::new(Schoolbook { domain: domain.clone() }))
}

impl Schoolbook {
    /// Whether only products of degree below `wanted` are ever needed.
    pub fn truncated(&self) -> bool {
        matches!(self.domain.modulus, Modulus::Binomial { weight: 0, .. } | Modulus::Free { .. })
    }
}

/// The vector slots of an unreduced schoolbook product. Without 64-bit sums it adds in 32 bits and
/// reduces sums that would not fit. Each term of a register of coefficients takes a broadcast, a
/// load, a low product and an addition. Terms with padding zeros add a quarter.
pub(crate) fn unreduced_slots(domain: &Domain, model: &Model) -> f64 {
    let (n, costs) = (domain.operand as f64, &model.costs);
    let largest = domain.bounds.iter().map(|&bound| bound as f64).product::<f64>();
    let fits = (f64::from(i32::MAX) / largest).floor();
    if model.target.sums == LONG_BITS {
        // Whole sums: pairs of words by one instruction, words that wrap, or each product extended twice.
        let loads = 2.0 * costs.memory;
        let each = match () {
            () if domain.q.is_power_of_two() => loads + costs.store + 2.0 * costs.add,
            () if fits >= n => loads + 2.0 * costs.add,
            () => loads + 12.0 * costs.add,
        };
        return 1.1 * n * n / model.lanes(16) as f64 * each;
    }
    let round = if fits >= n { 8.0 } else { fits.clamp(1.0, 8.0) };
    let reduced = if fits >= n { 0.0 } else { 8.0 };
    1.25 * n * n / (model.lanes(32) as f64)
        * (2.0 * costs.memory + costs.long_low + costs.add + (reduced + 2.0 * costs.memory) / round)
}

impl Product for Schoolbook {
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
        Stages::Direct
    }
    fn cost(&self) -> Cost {
        let n = self.domain.operand as u64;
        let products = if self.truncated() {
            (0..n).map(|i| n.min((self.domain.wanted as u64).saturating_sub(i))).sum()
        } else {
            n * n
        };
        Cost { products, adds: products.saturating_sub(self.domain.wanted as u64), scales: 0 }
    }
    fn slots(&self, model: &Model) -> f64 {
        match self.domain.modulus {
            Modulus::Free { .. } if self.domain.q <= 1 << 16 => {
                unreduced_slots(&self.domain, model)
            }
            _ => model.by_count(self.cost(), self.domain.q),
        }
    }
    fn tree(&self) -> TreeNode {
        let title = if self.truncated() { "Truncated product" } else { "Schoolbook" };
        TreeNode::of_product(self, (title, ""), Vec::new())
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    #[test]
    fn is_the_product_of_the_ring() {
        let plan =
            Plan::parse("(plan p (ring \"Z2048[x]/(x^3 - 1)\") (schoolbook))").expect("plan");
        let (a, b) = ([1023, -1024, 5], [7, 0, -1024]);
        assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b));
        assert_eq!(plan.root.cost().products, 9);
    }

    #[test]
    fn counts_only_what_is_read() {
        let modulus = Modulus::Binomial { degree: 81, weight: 0 };
        let domain =
            Domain { q: 4591, modulus, operand: 81, wanted: 81, bounds: Domain::any(4591) };
        assert_eq!(Schoolbook { domain }.cost().products, 81 * 82 / 2);
    }
}
