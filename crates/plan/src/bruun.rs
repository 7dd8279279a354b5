//! Bruun's split of a small product: x^{4m} + (2β − α²)x^{2m} + β² is
//! (x^{2m} + αx^m + β)(x^{2m} − αx^m + β) [Bruun78] [Hwang24 §3.3].
//!
//! Map, for the four quarters f_0 … f_3, with x^{2m} = ∓αx^m − β:
//! (f_0 − βf_2 ± αβf_3, f_1 + (α² − β)f_3 ∓ αf_2). Inverse, from (g_0, g_1) and (h_0, h_1):
//! 2f_2 = (h_1 − g_1)/α, 2f_3 = (g_0 − h_0)/(αβ), 2f_0 = g_0 + h_0 + 2βf_2,
//! 2f_1 = g_1 + h_1 − 2(α² − β)f_3. The halves are folded into constants, so the scale is 1.
//!
//! A binomial x^{4m} + c is the case 2β = α², c = β². By composed multiplication [BrawleyCarlitz87]
//! it splits as x^{4m} + 1 does [BlakeGaoMullin93]. Modulo q = 3 mod 4 it splits exactly where −c
//! has no square root. Then c = β² for two values of β, and one of them is half a square.
//!
//! Condition: b has a square root β, and 2β − a one for one of ±β, α and β invertible.

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
    name: "bruun",
    usage: "(bruun SMALL)",
    summary: "A product mod x^4m + (2b - a^2)x^2m + b^2, as x^4m + c may be, as one mod x^2m + ax^m + b \
              and one mod x^2m - ax^m + b.",
    citation: "[Hwang24 §3.3]",
    build: Build::Base(build),
};

/// Bruun's split.
#[derive(Clone, Debug)]
pub struct Bruun {
    q: u64,
    size: usize,
    /// The products modulo trinomials of half the size.
    pub inner: BaseRef,
}

/// (α, β) with β² = b and α² = 2β − a.
fn roots(modulus: SmallModulus, q: u64) -> Result<(Unit, Unit), String> {
    let (a, b) = modulus.trinomial(q);
    let unit = |x: u64| Unit::new(x, q);
    let beta = zq::sqrt(b, q)
        .and_then(unit)
        .ok_or_else(|| format!("{b} has no invertible square root mod {q}"))?;
    let minus = beta.negated();
    for beta in [beta, minus] {
        let square = zq::sub(zq::add(beta.value(), beta.value(), q), a, q);
        if let Some(alpha) = zq::sqrt(square, q).and_then(unit) {
            return Ok((alpha, beta));
        }
    }
    let both = format!("2·{beta} - {a} nor 2·{minus} - {a}");
    Err(format!("neither {both} has an invertible square root mod {q}"))
}

fn build(arguments: &mut Arguments, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
    let (q, size) = (spec.q, spec.size);
    let Some(moduli) = spec.shape.moduli() else {
        let message = "bruun splits products modulo polynomials; here general Toeplitz products are \
                       needed";
        return Err(arguments.refuse(message).instead("(toeplitz) or (karatsuba …)"));
    };
    if !size.is_multiple_of(4) {
        let message = format!("bruun takes quarters, but the size {size} is no multiple of 4");
        return Err(arguments.refuse(message).instead("(toeplitz) or (trinomial)"));
    }
    if zq::inv(2, q).is_none() {
        return Err(arguments.refuse(format!("bruun halves: q = {q} must be odd")));
    }
    let mut halves = Vec::new();
    for modulus in moduli {
        let (alpha, beta) = roots(modulus, q).map_err(|why| {
            let would = match modulus {
                SmallModulus::Binomial(_) => {
                    "(if-square-root (two-ntt …) (bruun …)) where q = 3 mod 4; (karatsuba …)"
                }
                SmallModulus::Trinomial(..) => "(trinomial)",
            };
            let message = format!("{} does not split: {why}", modulus.text(size));
            arguments.refuse(message).instead(would)
        })?;
        let beta = beta.value();
        halves.extend([(alpha.value(), beta), (alpha.negated().value(), beta)]);
    }
    let inner = BaseSpec { q, size: size / 2, shape: Shape::Trinomial(halves) };
    Ok(Arc::new(Bruun { q, size, inner: arguments.base(&inner)? }))
}

impl Base for Bruun {
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
        let q = self.q;
        let (alpha, beta) = roots(modulus, q).ok()?;
        let product = alpha.times(beta);
        let (inv_alpha, inv_product) = (alpha.inverse(), product.inverse());
        let [alpha, beta, product] = [alpha, beta, product].map(Unit::value);
        let square = zq::sub(zq::mul(alpha, alpha, q), beta, q);
        let mut there = Chunks::new(4);
        let [by_beta, by_alpha] = [beta, alpha].map(|c| there.scale(2, c));
        let [by_product, by_square] = [product, square].map(|c| there.scale(3, c));
        let (low, high) = (there.sub(0, by_beta), there.add(1, by_square));
        let plus = [there.add(low, by_product), there.sub(high, by_alpha)];
        let minus = [there.sub(low, by_product), there.add(high, by_alpha)];

        let half = q.div_ceil(2);
        let halved = |c: u64| zq::mul(half, c, q);
        let mut back = Chunks::new(4); // g_0, g_1, h_0, h_1
        let (low, high) = (back.add(0, 2), back.add(1, 3));
        let (low, high) = (back.scale(low, half), back.scale(high, half));
        let (of_second, of_third) = (back.sub(3, 1), back.sub(0, 2));
        let second = back.scale(of_second, halved(inv_alpha));
        let third = back.scale(of_third, halved(inv_product));
        let to_low = back.scale(of_second, halved(zq::mul(inv_alpha, beta, q)));
        let to_high = back.scale(of_third, halved(zq::mul(inv_product, square, q)));
        let (first, zeroth) = (back.sub(high, to_high), back.add(low, to_low));

        let part = |values: [usize; 2], alpha: u64| Part {
            values: values.into(),
            modulus: SmallModulus::Trinomial(alpha, beta),
            method: self.inner.clone(),
        };
        Some(Split {
            name: "Bruun",
            chunks: neighbours(self.size, 4),
            forward: there.finish(),
            parts: vec![part(plus, alpha), part(minus, zq::sub(0, alpha, q))],
            inverse: back.finish(),
            output: vec![zeroth, first, second, third],
        })
    }

    fn inside(&self) -> Inside<'_> {
        Inside::Split
    }
    fn cost(&self) -> Cost {
        let m = self.size as u64 / 4;
        // Both operands split, the result joined: four constants and six sums, six and six.
        self.inner.cost().times(2) + Cost { scales: 14 * m, adds: 18 * m, products: 0 }
    }
    fn tree(&self) -> TreeNode {
        let title = format!("Bruun {} = 2 × {}", self.size, self.size / 2);
        TreeNode::of_base(title, self, &[self.inner.as_ref()], METHOD.citation)
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [self.inner.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_base, check_trinomials, try_base};

    /// The factors that [Hwang24 §4.3] prints: x^32 + 1 by 1229, then by 58 and by 2116.
    #[test]
    fn splits_of_the_seed() {
        let q = 4591;
        let signs = |alpha: u64| [alpha, q - alpha];
        let (alpha, beta) = roots(SmallModulus::Binomial(q - 1), q).expect("x^4 + 1");
        assert!(signs(1229).contains(&alpha.value()) && beta == 1);
        for (first, second) in [(1229, 58), (q - 1229, 2116)] {
            let found = [1, q - 1].iter().any(|&beta| {
                let square = zq::mul(second, second, q);
                zq::sub(zq::add(beta, beta, q), square, q) == first
            });
            assert!(found, "{second}");
            let (alpha, beta) = roots(SmallModulus::Trinomial(first, 1), q).expect("splits");
            let (alpha, beta) = (alpha.value(), beta.value());
            assert!(signs(second).contains(&alpha) && signs(1).contains(&beta), "{alpha}, {beta}");
        }
    }

    #[test]
    fn agrees_with_the_definition() {
        let base = check_base(4591, 32, &[4590], "(bruun (bruun (trinomial)))");
        assert_eq!(base.cost().products, 4 * 64);
        assert_eq!(base.split(SmallModulus::Binomial(4590)).expect("split").cost(), base.cost());
        check_base(4591, 16, &[4590, 4590 * 4 % 4591, 4590 * 9 % 4591], "(bruun (trinomial))");
        check_base(31, 4, &[30], "(bruun (trinomial))");
        // 12289 = 1 mod 4: x^8 + 1 = x^8 - s^2 splits both ways, if 2 is a square.
        check_base(12289, 8, &[12288], "(bruun (trinomial))");
        check_trinomials(4591, 16, &[(1229, 1), (4591 - 1229, 1)], "(bruun (trinomial))");
    }

    #[test]
    fn refuses_what_does_not_split() {
        let weighted = |w: u64| Shape::Weighted(vec![w]);
        let error = try_base(4591, 16, weighted(4), "(bruun (trinomial))").unwrap_err();
        assert_eq!(
            error.message,
            "x^16 - 4 does not split: 4587 has no invertible square root mod 4591"
        );
        let error = try_base(4591, 6, weighted(4590), "(bruun (trinomial))").unwrap_err();
        assert_eq!(error.message, "bruun takes quarters, but the size 6 is no multiple of 4");
        let error = try_base(4591, 8, Shape::Toeplitz, "(bruun (trinomial))").unwrap_err();
        assert!(error.message.contains("general Toeplitz products"), "{error}");
        let error = try_base(4591, 16, weighted(4590), "(bruun (toeplitz))").unwrap_err();
        assert!(error.to_string().contains("= would work: (trinomial)"), "{error}");
    }
}
