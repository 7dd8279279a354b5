//! An unreduced product as two Toeplitz matrices times one vector [Winograd80 §IV].
//!
//! With operands of n coefficients, the coefficients of a·b below x^n are T·a with
//! `T[i][j] = b_{i−j}`. Those from x^n on are U·a with `U[i][j] = b_{n+i−j}`. T has zeros above its
//! diagonal; U has them on and below its diagonal. Both are N × N, N ≥ n, and one method multiplies
//! by either. Scale 1, no condition on q.

use crate::base::{BaseRef, BaseSpec, Shape};
use crate::domain::{Domain, Modulus};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::product::{Product, ProductRef};
use crate::sexpr::Form;
use crate::stages::Stages;
use crate::tree::TreeNode;
use ringforge_ring::{Ring, zq};
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "toeplitz-pair",
    usage: "(toeplitz-pair N SMALL)",
    summary: "An unreduced product of operands of n coefficients, as below lift, as two N × N Toeplitz \
              matrices times one vector, N ≥ n: one for its lower half and one for its upper half.",
    citation: "[Winograd80 §IV]",
    build: Build::Product(build),
};

/// The halves of an unreduced product as Toeplitz products.
#[derive(Clone, Debug)]
pub struct ToeplitzPair {
    domain: Domain,
    /// N, the size of the matrices.
    pub size: usize,
    /// The Toeplitz product.
    pub inner: BaseRef,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let size = arguments.number("the size N of the matrices")?;
    let at = arguments.last_at();
    if !matches!(domain.modulus, Modulus::Free { .. }) {
        let message = format!("toeplitz-pair makes unreduced products, not those in {domain}");
        return Err(arguments.refuse(message).instead("`lift` above it"));
    }
    if size < domain.operand {
        let message =
            format!("matrices of size {size} are too small for {} coefficients", domain.operand);
        return Err(Refusal::new(at, message).instead(format!("{} or more", domain.operand)));
    }
    let inner = arguments.base(&BaseSpec { q: domain.q, size, shape: Shape::Toeplitz })?;
    Ok(Arc::new(ToeplitzPair { domain: domain.clone(), size, inner }))
}

/// Terms of f beside the first one: with more, the remainder is taken by products of constants.
const TERMS: usize = 32;

impl ToeplitzPair {
    /// x^n mod f as terms (t, w_t), w_t centred, if the remainder by f is taken term by term. This
    /// needs an f of few terms, where `together` coefficients of the quotient (a register's) do not
    /// depend on each other. [`None`] if two products of constants, by the same method, replace it.
    pub fn steps(ring: &Ring, together: usize) -> Option<Vec<(usize, i64)>> {
        let (n, q) = (ring.degree(), ring.q());
        let minus = |c: i64| zq::centered(zq::unsigned(-c, q), q);
        let all = ring.modulus()[..n].iter().enumerate().map(|(t, &c)| (t, minus(c)));
        let terms: Vec<(usize, i64)> = all.filter(|&(_, w)| w != 0).collect();
        // Terms below x^2 add nothing to the quotient.
        let apart = terms.iter().all(|&(t, _)| t < 2 || n - t >= together);
        (apart && terms.len() <= TERMS).then_some(terms)
    }
}

impl Product for ToeplitzPair {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.domain
    }
    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (n, size) = (self.domain.operand, self.size);
        let mut vector = a.to_vec();
        vector.resize(size, 0);
        // Diagonal i − j = k − (N − 1) of the matrix whose rows start at x^from.
        let half = |from: usize| {
            let diagonal = |k: usize| {
                let index = (k + from).checked_sub(size - 1);
                index.and_then(|i| b.get(i)).copied().unwrap_or(0)
            };
            let diagonals: Vec<u64> = (0..2 * size - 1).map(diagonal).collect();
            self.inner.toeplitz(&diagonals, &vector)
        };
        let mut c = half(0);
        c.truncate(n);
        c.extend(half(n));
        c.resize(self.domain.wanted, 0);
        c
    }
    fn stages(&self) -> Stages<'_> {
        Stages::Matrices(self)
    }
    fn cost(&self) -> Cost {
        self.inner.cost().times(2)
    }
    fn tree(&self) -> TreeNode {
        let title = format!("Two Toeplitz matrices {0} × {0} times vector", self.size);
        TreeNode::of_product(self, (title, ""), vec![self.inner.tree()])
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [Form::word(self.size), self.inner.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::Plan;
    use crate::testing::Random;

    #[test]
    fn is_the_product_of_the_ring() {
        let mut random = Random(3);
        for (ring, tree) in [
            ("Z2048[x]/(x^13 - x - 1)", "(toeplitz-pair 13 (toeplitz))"),
            ("Z64[x]/(x^13 + 3x^12 - 7x^5 + 2)", "(toeplitz-pair 16 (karatsuba (toeplitz)))"),
            ("Z8192[x]/(x^16 + 1)", "(toeplitz-pair 20 (toom-cook 4 (toeplitz)))"),
            ("Z17[x]/(x^9 + x^8 + 1)", "(toeplitz-pair 9 (toeplitz))"),
        ] {
            let plan = Plan::parse(&format!("(plan p (ring \"{ring}\") (lift 40 {tree}))"))
                .unwrap_or_else(|e| panic!("{e}"));
            plan.check().unwrap_or_else(|e| panic!("{e}"));
            let (n, q) = (plan.ring.degree(), plan.ring.q());
            let operand = |random: &mut Random| -> Vec<i64> {
                random.vector(n, q).iter().map(|&c| c as i64 - q as i64 / 2).collect()
            };
            let (a, b) = (operand(&mut random), operand(&mut random));
            assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b), "{ring} {tree}");
        }
    }

    #[test]
    fn refuses_reduced_products_and_small_matrices() {
        let refusal = |tree: &str| {
            Plan::parse(&format!("(plan p (ring \"Z2048[x]/(x^5 - x - 1)\") {tree})"))
                .expect_err(tree)
                .message
        };
        let message = refusal("(toeplitz-pair 8 (toeplitz))");
        assert!(message.contains("makes unreduced products"), "{message}");
        let message = refusal("(lift 9 (toeplitz-pair 4 (toeplitz)))");
        assert_eq!(message, "matrices of size 4 are too small for 5 coefficients");
    }
}
