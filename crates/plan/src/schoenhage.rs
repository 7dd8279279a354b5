//! Schönhage's transform: roots of unity that Z_q lacks are powers of x
//! [Schoenhage77] [Hwang24 §3.6, §4.3].
//!
//! Map: with y = x^K, a product mod x^{KN} − 1 is a product of polynomials in y mod y^N − 1. Their
//! coefficients have degree below K in x, so products of coefficients fit
//! R = Z_q\[x\]/(x^{2K} + 1), where x has order 4K. The root of order N is ω·x^{4K/B}. Here B is
//! the largest power of two in N, and ω has the odd order N/B in Z_q; Good–Thomas separates the
//! two. Then N products mod x^{2K} + 1 follow. Inverse: the inverse transform, and y = x^K, where
//! blocks overlap by half. Scale: forward twice, inverse. Condition: B divides 4K, Z_q has a
//! principal root of order N/B, and 2 is invertible.

use crate::base::Base;
use crate::blocks::Blocks;
use crate::domain::{Domain, Modulus};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method};
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
    name: "schoenhage",
    usage: "(schoenhage K TRANSFORM (weighted-convolution SMALL))",
    summary: "x^K = y: a product mod x^(KN) - 1 through a transform of length N over Z_q[x]/(x^2K + 1), \
              where x has order 4K, and N products there; the odd part of N needs a root in Z_q.",
    citation: "[Hwang24 §4.3]",
    build: Build::Product(build),
};

/// The product mod x^{KN} − 1 by a transform with powers of x as roots.
#[derive(Clone, Debug)]
pub struct Schoenhage {
    /// Blocks of K coefficients, which are polynomials mod x^{2K} + 1.
    pub blocks: Blocks,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let k = arguments.number("the block width K")?;
    let at = arguments.last_at();
    let degree = match (domain.binomial(), &domain.modulus) {
        (Some((degree, 1)), _) => degree,
        (_, Modulus::Free { length }) => length.next_multiple_of(k),
        _ => {
            let message = format!("schoenhage needs a product mod x^n - 1, not one in {domain}");
            let hint = format!("(lift {} (schoenhage …))", domain.product_length());
            return Err(arguments.refuse(message).instead(hint));
        }
    };
    if degree % k != 0 {
        let message =
            format!("x^{k} = y does not fit x^{degree} - 1: {k} does not divide {degree}");
        return Err(Refusal::new(at, message).instead("a divisor of the degree"));
    }
    let (q, n) = (domain.q, degree / k);
    if zq::inv(2, q).is_none() {
        let message =
            format!("x^{} + 1 has roots of unity for transforms only if q is odd, not {q}", 2 * k);
        return Err(arguments.refuse(message).instead("(schoolbook), or toeplitz matrices"));
    }
    let two = 1 << n.trailing_zeros();
    if (4 * k) % two != 0 {
        let message = format!(
            "a transform of length {n} needs a root of order {two}, but x has order {} mod x^{} + 1",
            4 * k,
            2 * k
        );
        let fit = (k..=degree).find(|k| {
            degree.is_multiple_of(*k) && (4 * k).is_multiple_of(1 << (degree / k).trailing_zeros())
        });
        let hint = fit.map_or("another length".into(), |k| format!("K = {k}"));
        return Err(Refusal::new(at, message).instead(hint));
    }
    let odd = n / two;
    let form = arguments.form("a transform")?;
    let root = zq::root_of_unity(odd as u64, q).map_err(|missing| {
        let message = format!("x gives the root of order {two}; for the rest, {missing}");
        let near = [missing.nearest().0, missing.nearest().1].into_iter().flatten();
        let parts: Vec<String> =
            near.filter(|d| d % 2 == 1).map(|d| format!("length {}", d * two as u64)).collect();
        Refusal::new(form.at, message).instead(format!("a length of 2^i, {}", parts.join(", ")))
    })?;
    let x = if two > 1 { 4 * k / two } else { 0 };
    let spec = DftSpec { q, len: n, root, x, width: 2 * k }.normal();
    let transform = arguments.methods.transform(&form, &spec)?;
    let weights = vec![q - 1; n];
    let blocks = Blocks::read(arguments, domain, (k, 2 * k), transform, weights)?;
    Ok(Arc::new(Schoenhage { blocks }))
}

impl Product for Schoenhage {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.blocks.domain
    }
    fn scale(&self) -> Unit {
        self.blocks.scale
    }
    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.blocks.multiply(a, b)
    }
    fn stages(&self) -> Stages<'_> {
        Stages::Overlapping(&self.blocks)
    }
    fn cost(&self) -> Cost {
        self.blocks.cost()
    }
    fn tree(&self) -> TreeNode {
        let (q, Blocks { k, width, .. }, n) = (self.domain().q, &self.blocks, self.blocks.count());
        let title = format!("Schönhage x^{k} = y, x^{width} = -1");
        let after = format!("Z{q}[x, y]/(x^{width} + 1, y^{n} - 1)");
        self.blocks.tree(self, title, after)
    }
    fn to_form(&self) -> Form {
        let Blocks { k, transform, convolution, .. } = &self.blocks;
        Form::list(METHOD.name, [Form::word(k), transform.to_form(), convolution.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::build_product;
    use crate::testing::Random;

    fn cyclic(degree: usize, operand: usize) -> Domain {
        let modulus = Modulus::Binomial { degree, weight: 1 };
        Domain { q: 4591, modulus, operand, wanted: degree, bounds: Domain::any(4591) }
    }

    #[test]
    fn agrees_with_the_cyclic_product() {
        let mut random = Random(8);
        for (k, degree, transform) in [
            (2, 16, "(rotations 2 4)"),
            (2, 12, "(good-thomas 3 2 (rader 3) (rotations 2))"),
            (4, 192, "(good-thomas 3 16 (rader 3 unscaled) (rotations 4 4))"),
            (4, 12, "(rader 3)"),
            (4, 60, "(good-thomas 5 3 (rader 5) (rader 3))"),
        ] {
            for small in ["(toeplitz)", "(bruun (trinomial))", "(nussbaumer 2 (toeplitz))"] {
                let text = format!("(schoenhage {k} {transform} (weighted-convolution {small}))");
                for operand in [degree, degree / 2, 1] {
                    let domain = cyclic(degree, operand);
                    let form = Form::parse(&text).expect("text");
                    let product = build_product(&form, &domain)
                        .unwrap_or_else(|e| panic!("{}", e.within(&text)));
                    assert_eq!(product.to_form(), form);
                    let (a, b) = (random.vector(operand, 4591), random.vector(operand, 4591));
                    let scale = product.scale().value();
                    let expected: Vec<u64> =
                        domain.multiply(&a, &b).iter().map(|&c| zq::mul(c, scale, 4591)).collect();
                    assert_eq!(product.multiply(&a, &b), expected, "{text}, {operand}");
                }
            }
        }
    }

    #[test]
    fn refuses_what_has_no_root() {
        let message = |degree: usize, text: &str| {
            let form = Form::parse(text).expect("text");
            build_product(&form, &cyclic(degree, 1)).expect_err(text).message
        };
        let end = "(weighted-convolution (toeplitz))";
        assert_eq!(
            message(64, &format!("(schoenhage 2 (rotations 4 4 2) {end})")),
            "a transform of length 32 needs a root of order 32, but x has order 8 mod x^4 + 1"
        );
        let error =
            message(56, &format!("(schoenhage 4 (good-thomas 7 2 (rader 7) (rotations 2)) {end})"));
        assert!(
            error.starts_with(
                "x gives the root of order 2; for the rest, no principal root of unity of order 7"
            ),
            "{error}"
        );
        assert_eq!(
            message(
                24,
                &format!("(schoenhage 4 (good-thomas 3 2 (rotations 3) (rotations 2)) {end})")
            ),
            "rotations have radix 2 or 4, not 3"
        );
        assert!(
            message(64, &format!("(schoenhage 4 (cooley-tukey 4 4 (direct) (rotations 4)) {end})"))
                .contains("power of x")
        );
    }
}
