//! Number-theoretic transforms by splits in two and in three, also of x^n ± x^(n/2) + 1
//! [LyubashevskySeiler19 §3] [KimPark22].
//!
//! Map: let α and β be the roots of y² ∓ y + 1, which have order 6 (or 3). Then x^n ∓ x^(n/2) + 1
//! is (x^(n/2) − α)(x^(n/2) − β), and β = ±1 − α saves the second product. From there on, and for
//! x^n ± 1 from the start, x^rm − s^r is ∏ (x^m − sρ^k), ρ of order r, level after level.
//!
//! One exponent describes each weight: the weight is a power of ζ, the least residue of the order
//! N = o·P. Here o is the order of the weight that the radices below split (6, 3, 2 or 1), and P is
//! the product of those radices. For a factor with weight ζ^e a level takes the root ζ^(e/r);
//! powers of ζ^(N/r) give the other roots.
//!
//! Inverse: Gentleman–Sande butterflies, which leave the radix; for the roots of a trinomial
//! b = (u − v)/(α − β) and 2a = u + v ∓ b. Scale: the product of the radices, which the inverse
//! leaves. Condition: q prime, N divides q − 1, and the radices' product divides n.

use crate::base::{Base, BaseSpec, Shape};
use crate::domain::{Domain, Modulus};
use crate::error::Refusal;
use crate::levels::{Levels, Split};
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::ntt::Butterflies;
use crate::product::{Product, ProductRef};
use crate::sexpr::Form;
use crate::stages::Stages;
use crate::tree::TreeNode;
use crate::unit::Unit;
use crate::weighted_convolution::WeightedConvolution;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "mixed-radix",
    usage: "(mixed-radix RADIX … (weighted-convolution SMALL))",
    summary: "x^n + 1, x^n - 1 or x^n ± x^(n/2) + 1 by levels of splits in RADIX 2 or 3 factors, a trinomial's first one \
              by its two roots, down to the factors x^d - w; Z_q, q prime, needs a root of unity of 2, 1, 6 (minus) \
              or 3 (plus) times the product of the radices, a trinomial's first one not counted.",
    citation: "[LyubashevskySeiler19 §3] [KimPark22]",
    build: Build::Product(build),
};

/// The polynomials that are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Modulo {
    /// x^n − w, w = ±1 of this order.
    Binomial(u64),
    /// x^n ∓ x^(n/2) + 1, whose roots' sum is 1 if this.
    Trinomial(bool),
}

/// The product modulo x^n ± 1 or x^n ± x^(n/2) + 1 through splits in two and three.
#[derive(Clone, Debug)]
pub struct MixedRadix {
    /// Where the product is taken.
    domain: Domain,
    n: usize,
    splits: Vec<Split>,
    /// ζ, the least residue of order N.
    root: Unit,
    /// N.
    order: u64,
    /// Before each level, and behind the last, the exponent of each factor's weight; nothing of a trinomial.
    exponents: Vec<Vec<u64>>,
    /// The product of the radices.
    scale: Unit,
    /// 1/(α − β); 1 where there is no trinomial.
    apart: Unit,
    convolution: WeightedConvolution,
}

/// What f is, where it is something that the method splits.
fn modulo(domain: &Domain) -> Option<(usize, Modulo)> {
    let q = domain.q;
    let minus = |w: u64| q > 2 && w == q - 1;
    let (n, found) = match (domain.binomial(), &domain.modulus) {
        (Some((n, 1)), _) => (n, Modulo::Binomial(1)),
        (Some((n, w)), _) if minus(w) => (n, Modulo::Binomial(2)),
        (None, Modulus::Ring(ring)) => {
            let (n, f) = (ring.degree(), ring.modulus());
            let middle = f[n / 2];
            let others = f[1..n].iter().enumerate().any(|(i, &c)| i + 1 != n / 2 && c != 0);
            if !n.is_multiple_of(2) || others || f[0] != 1 || middle.abs() != 1 {
                return None;
            }
            (n, Modulo::Trinomial(middle == -1))
        }
        _ => return None,
    };
    (domain.operand <= n && domain.wanted <= n).then_some((n, found))
}

/// The least residue mod the prime q of this order.
fn least_of_order(order: u64, q: u64) -> Option<u64> {
    if !(q - 1).is_multiple_of(order) {
        return None;
    }
    let primes = zq::factor(order);
    let exact = |c: u64| {
        zq::pow(c, order, q) == 1 && primes.iter().all(|&(p, _)| zq::pow(c, order / p, q) != 1)
    };
    (1..q).find(|&c| exact(c))
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let q = domain.q;
    let mut radices: Vec<usize> = Vec::new();
    while let Some(radix) = [2, 3].into_iter().find(|r| arguments.option(&r.to_string())) {
        radices.push(radix);
    }
    let at = arguments.last_at();
    let Some((n, modulo)) = modulo(domain) else {
        let message = format!(
            "mixed-radix splits x^n + 1, x^n - 1 and x^n ± x^(n/2) + 1, and this is a product in {domain}"
        );
        return Err(arguments.refuse(message).instead("a ring with such an f"));
    };
    if radices.is_empty() {
        let message = "mixed-radix needs the RADIX of each level, 2 or 3";
        return Err(arguments.refuse(message).instead(METHOD.usage));
    }
    if !zq::is_prime(q) {
        let message = format!("mixed-radix needs a prime modulus, and {q} is {}", zq::factored(q));
        return Err(Refusal::new(at, message));
    }
    let product: u64 = radices.iter().map(|&r| r as u64).product();
    if !(n as u64).is_multiple_of(product) {
        let message = format!("the radices' product {product} does not divide n = {n}");
        return Err(Refusal::new(at, message)
            .instead(format!("radices 2 and 3 of a divisor of {}", zq::factored(n as u64))));
    }
    let (own, below) = match modulo {
        Modulo::Binomial(order) => (order, product),
        Modulo::Trinomial(_) if radices[0] != 2 => {
            let message = "the first level splits a trinomial by its two roots: its RADIX is 2";
            return Err(arguments.refuse(message).instead("(mixed-radix 2 …)"));
        }
        Modulo::Trinomial(positive) => (if positive { 6 } else { 3 }, product / 2),
    };
    let order = own * below;
    let found = least_of_order(order, q).and_then(|root| Unit::new(root, q));
    let (Some(root), Some(scale)) = (found, Unit::new(product, q)) else {
        let message = format!(
            "these splits need a root of unity of order {order} mod {q}, and {q} - 1 = {}",
            zq::factored(q - 1)
        );
        let would = format!("fewer radices, such that {own} times their product divides q - 1");
        return Err(Refusal::new(at, message).instead(would));
    };
    let mut splits: Vec<Split> = radices
        .iter()
        .map(|&radix| if radix == 3 { Split::Thirds } else { Split::Halves })
        .collect();
    let mut weights = vec![match modulo {
        Modulo::Binomial(1) => 0,
        _ => below,
    }];
    let mut exponents = Vec::new();
    let mut apart = Unit::one(q);
    if let Modulo::Trinomial(positive) = modulo {
        splits[0] = Split::Roots { positive };
        exponents.push(Vec::new());
        // α = ζ^below of order 6 or 3, and β its inverse.
        weights = vec![below, order - below];
        let [alpha, beta] = [0, 1].map(|k| root.pow(weights[k]).value());
        let Some(difference) = Unit::new(zq::sub(alpha, beta, q), q) else {
            let message = format!("y² ∓ y + 1 has a double root mod {q}");
            return Err(Refusal::new(at, message));
        };
        apart = difference.inverted();
    }
    for split in splits.iter().filter(|split| !matches!(split, Split::Roots { .. })) {
        let radix = split.radix() as u64;
        let next = |&e: &u64| (0..radix).map(move |k| e / radix + k * (order / radix));
        let all = weights.iter().flat_map(next).collect();
        exponents.push(std::mem::replace(&mut weights, all));
    }
    let values = weights.iter().map(|&e| root.pow(e).value()).collect();
    exponents.push(weights);
    let size = n / product as usize;
    let convolution =
        arguments.convolutions(&BaseSpec { q, size, shape: Shape::Weighted(values) })?;
    let domain = domain.clone();
    Ok(Arc::new(MixedRadix {
        domain,
        n,
        splits,
        root,
        order,
        exponents,
        scale,
        apart,
        convolution,
    }))
}

impl MixedRadix {
    /// ρ of order 3.
    fn third(&self) -> u64 {
        self.root.pow(self.order / 3).value()
    }

    /// The root of its weight by which a level splits the factor that index i belongs to; α for a trinomial.
    fn splits_by(&self, level: usize, i: usize) -> Unit {
        match self.exponents[level].as_slice() {
            [] => self.root.pow(self.exponents[level + 1][0]),
            all => {
                let factor = i / (self.n / all.len());
                self.root.pow(all[factor] / self.splits[level].radix() as u64)
            }
        }
    }
}

impl Levels for MixedRadix {
    fn q(&self) -> u64 {
        self.domain.q
    }
    fn size(&self) -> usize {
        self.n
    }
    fn splits(&self) -> Vec<Split> {
        self.splits.clone()
    }
    fn forward_constants(&self, level: usize, i: usize) -> Vec<u64> {
        let s = self.splits_by(level, i);
        match self.splits[level] {
            Split::Thirds => vec![s.value(), s.times(s).value(), self.third()],
            Split::Halves | Split::Roots { .. } => vec![s.value()],
        }
    }
    fn inverse_constants(&self, level: usize, i: usize) -> Vec<u64> {
        let s = self.splits_by(level, i);
        match self.splits[level] {
            Split::Halves => vec![s.inverse()],
            Split::Thirds => vec![s.inverse(), s.times(s).inverse(), self.third()],
            Split::Roots { .. } => vec![self.apart.value()],
        }
    }
    fn backwards(&self) -> Butterflies {
        Butterflies::GentlemanSande
    }
    /// A trinomial's roots leave 2a beside b.
    fn leave(&self, i: usize) -> u64 {
        let twice = matches!(self.splits[0], Split::Roots { .. }) && i >= self.n / 2;
        if twice { 2 % self.domain.q } else { 1 }
    }
    fn left(&self) -> Unit {
        self.scale
    }
    fn products(&self) -> &WeightedConvolution {
        &self.convolution
    }
}

impl Product for MixedRadix {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.domain
    }
    fn scale(&self) -> Unit {
        self.scale
    }
    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut c = self.inverse(&self.base(&self.forward(a), &self.forward(b)));
        c.truncate(self.domain.wanted);
        c
    }
    fn stages(&self) -> Stages<'_> {
        Stages::Levels(self)
    }
    fn cost(&self) -> Cost {
        let n = self.n as u64;
        let level = |split: &Split| match split {
            Split::Halves => Cost { scales: n / 2, adds: n, products: 0 },
            Split::Thirds => Cost { scales: n, adds: 7 * n / 3, products: 0 },
            Split::Roots { .. } => Cost { scales: n / 2, adds: 3 * n / 2, products: 0 },
        };
        let transform: Cost = self.splits.iter().map(level).sum();
        transform.times(3) + self.convolution.total_cost()
    }
    fn tree(&self) -> TreeNode {
        let radices: Vec<String> = self.splits.iter().map(|s| s.radix().to_string()).collect();
        let title = format!("Number-theoretic transform by splits in {}", radices.join(" · "));
        let after = format!("{} factors x^{} - w", self.n / self.degree(), self.degree());
        TreeNode::of_product(self, (title, after), vec![self.convolution.tree()])
    }
    fn to_form(&self) -> Form {
        let radices = self.splits.iter().map(|split| Form::word(split.radix()));
        Form::list(METHOD.name, radices.chain([self.convolution.to_form()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use crate::testing::Random;

    fn plan(ring: &str, radices: &str) -> Result<Plan, crate::PlanError> {
        let form = format!("(mixed-radix {radices} (weighted-convolution (toeplitz)))");
        Plan::parse(&format!("(plan p (ring \"{ring}\") {form})"))
    }

    /// Every kind of f, against schoolbook products and remainders.
    #[test]
    fn is_the_product_of_the_ring_and_the_remainders() {
        let all = [
            ("Z7681[x]/(x^24 - x^12 + 1)", "2 2 2"),
            ("Z3457[x]/(x^36 - x^18 + 1)", "2 3 3 2"),
            ("Z3457[x]/(x^36 - x^18 + 1)", "2 2 3 3"),
            ("Z3457[x]/(x^24 + x^12 + 1)", "2 2 3 2"),
            ("Z3457[x]/(x^54 + x^27 + 1)", "2 3 3"),
            ("Z3457[x]/(x^12 - x^6 + 1)", "2 3 2"),
            ("Z3457[x]/(x^18 + 1)", "3 2 3"),
            ("Z3457[x]/(x^27 + 1)", "3 3"),
            ("Z3457[x]/(x^24 - 1)", "2 3 2"),
            ("Z7[x]/(x^4 - x^2 + 1)", "2"),
        ];
        for (ring, radices) in all {
            let plan = plan(ring, radices).unwrap_or_else(|e| panic!("{e}"));
            plan.check().expect("reads back");
            let (n, q) = (plan.ring.degree(), plan.ring.q());
            let transform = plan.root.as_method::<MixedRadix>().expect("mixed-radix");
            let mut random = Random(q + n as u64);
            let (a, b) = (random.vector(n, q), random.vector(n, q));
            let degree = transform.degree();
            let remainder = |&weight: &u64| {
                let modulus = Modulus::Binomial { degree, weight };
                let bounds = Domain::any(q);
                Domain { q, modulus, operand: degree, wanted: degree, bounds }.reduce(&a)
            };
            let remainders: Vec<u64> = transform.weights().iter().flat_map(remainder).collect();
            assert_eq!(transform.forward(&a), remainders, "{plan}");
            let back: Vec<u64> =
                a.iter().map(|&x| zq::mul(x, transform.left().value(), q)).collect();
            assert_eq!(transform.inverse(&remainders), back, "{plan}");
            let signed = |v: &[u64]| v.iter().map(|&x| x as i64).collect::<Vec<_>>();
            let (a, b) = (signed(&a), signed(&b));
            assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b), "{plan}");
        }
    }

    /// f is the product of the factors that are left, for the rings that KEMs use.
    #[test]
    fn factors_of_the_kems() {
        for (name, degree, order) in [
            ("nttru", 3, 768),
            ("ntruplus576", 4, 432),
            ("ntruplus768", 4, 576),
            ("ntruplus864", 3, 864),
            ("ntruplus1152", 4, 864),
        ] {
            let plan = Plan::find(name).unwrap_or_else(|e| panic!("{e}"));
            let transform = plan.root.as_method::<MixedRadix>().expect("mixed-radix");
            let q = plan.ring.q();
            assert_eq!((transform.degree(), transform.order), (degree, order), "{name}");
            assert_eq!(zq::order(transform.root.value(), q), Some(order), "{name}");
            // ∏ (y − w) in y = x^d.
            let mut f = vec![1u64];
            for &w in transform.weights() {
                let shifted = std::iter::once(0).chain(f.iter().copied());
                let scaled = f.iter().map(|&c| zq::mul(c, w, q)).chain([0]);
                f = shifted.zip(scaled).map(|(x, y)| zq::sub(x, y, q)).collect();
            }
            let middle = f.len() / 2;
            let wanted = |k: usize| match k {
                0 => 1,
                k if k == middle => q - 1,
                k => u64::from(k == f.len() - 1),
            };
            assert!((0..f.len()).all(|k| f[k] == wanted(k)), "{name}");
        }
    }

    #[test]
    fn refusals_name_what_is_missing() {
        let refused = |ring: &str, radices: &str| {
            let error = plan(ring, radices).expect_err("refused");
            (error.message, error.would_work.unwrap_or_default())
        };
        let (message, hint) = refused("Z3457[x]/(x^36 - x^18 + 1)", "2 2 2");
        assert_eq!(message, "the radices' product 8 does not divide n = 36");
        assert_eq!(hint, "radices 2 and 3 of a divisor of 2^2 · 3^2");
        let (message, hint) = refused("Z7681[x]/(x^36 - x^18 + 1)", "2 3");
        assert_eq!(
            message,
            "these splits need a root of unity of order 18 mod 7681, and 7681 - 1 = 2^9 · 3 · 5"
        );
        assert!(hint.starts_with("fewer radices, such that 6 times"), "{hint}");
        let (message, _) = refused("Z3457[x]/(x^36 - x^18 + 1)", "3 2");
        assert_eq!(message, "the first level splits a trinomial by its two roots: its RADIX is 2");
        for other in ["x^36 - x^12 + 1", "x^36 - 2x^18 + 1", "x^36 - x^18 - 1", "x^36 - 5"] {
            let (message, _) = refused(&format!("Z3457[x]/({other})"), "2");
            assert!(message.starts_with("mixed-radix splits x^n + 1"), "{message}");
        }
        let (message, _) = refused("Z3456[x]/(x^36 + 1)", "2");
        assert!(message.contains("needs a prime modulus"), "{message}");
        let (message, _) = refused("Z3457[x]/(x^36 + 1)", "");
        assert!(message.contains("needs the RADIX"), "{message}");
    }
}
