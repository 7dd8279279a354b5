//! Number-theoretic transforms of x^n + 1 by radix-2 splits [Seiler18 §2].
//!
//! Map: with s² the weight of x^2m − s², a ↦ (a mod x^m − s, a mod x^m + s), level after level down
//! to ∏ (x^d − w_i) with d = n/2^levels. The weights are w_i = ζ^(2·brv(i) + 1), where ζ is a
//! primitive 2^(levels+1)-th root of unity. This is the *standard order* of FIPS 203 (levels = 7)
//! and FIPS 204 (levels = 8). As in those standards, ζ is the least residue of its order (17 and
//! 1753).
//!
//! Inverse: Gentleman–Sande butterflies undo the splits one by one; Cooley–Tukey butterflies
//! compute the cyclic transform of (ζ^j·block j) instead and untwist at the end [Seiler18 §2.1].
//! `(twist)` does that in the forward transform too. Scale: 2^levels, which the inverse leaves.
//! Condition: q prime, 2^levels divides n, and 2^(levels+1) divides q − 1.

use crate::base::{BaseSpec, Shape};
use crate::domain::{Domain, Modulus};
use crate::error::Refusal;
use crate::halves::Halves;
use crate::levels::{Levels, Split};
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::product::{Product, ProductRef};
use crate::sexpr::{Form, FormKind};
use crate::stages::Stages;
use crate::tree::TreeNode;
use crate::unit::Unit;
use crate::weighted_convolution::WeightedConvolution;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "ntt",
    usage: "(ntt LEVELS (forward cooley-tukey) (inverse cooley-tukey or gentleman-sande) [(twist)] \
            (weighted-convolution SMALL))",
    summary: "x^n + 1 (or an unreduced product with space for n coefficients) by LEVELS radix-2 splits down \
              to the factors x^d - w, d = n/2^LEVELS. Z_q, q prime, needs a root of unity of order 2^(LEVELS+1).",
    citation: "[Seiler18 §2]",
    build: Build::Product(build),
};

/// The butterflies of a transform's levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Butterflies {
    /// (a, b) ↦ (a + w·b, a − w·b).
    CooleyTukey,
    /// (a, b) ↦ (a + b, w·(a − b)).
    GentlemanSande,
}

impl Butterflies {
    fn word(self) -> &'static str {
        match self {
            Butterflies::CooleyTukey => "cooley-tukey",
            Butterflies::GentlemanSande => "gentleman-sande",
        }
    }
}

/// The product mod x^n + 1 through radix-2 splits.
#[derive(Clone, Debug)]
pub struct Ntt {
    /// Where the product is taken: mod x^n + 1, or unreduced and short enough for it.
    pub domain: Domain,
    /// n.
    pub n: usize,
    /// How often factors are split.
    pub levels: u32,
    /// The butterflies of the inverse; the forward transform has Cooley–Tukey's.
    pub inverse: Butterflies,
    /// Whether the forward transform is the cyclic one of a twisted operand.
    pub twist: bool,
    /// ζ, a primitive root of unity of order 2^(levels+1).
    pub root: Unit,
    /// 2, a unit since q is odd.
    two: Unit,
    /// The products mod x^d − w_i, weights in standard order.
    pub convolution: WeightedConvolution,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let levels = arguments.number("the number of LEVELS")?;
    let at = arguments.last_at();
    let q = domain.q;
    let n = match (domain.binomial(), &domain.modulus) {
        (Some((n, w)), _) if w == q - 1 && domain.operand <= n && domain.wanted <= n => n,
        // In room for `length` coefficients nothing is folded.
        (_, Modulus::Free { length }) => *length,
        _ => {
            return Err(arguments
                .refuse(format!("ntt splits x^n + 1, and this is a product in {domain}"))
                .instead("a ring Zq[x]/(x^n + 1), or `lift` and `substitute`"));
        }
    };
    if levels > 20 || n % (1 << levels) != 0 {
        let most = n.trailing_zeros();
        let message = format!("x^{n} + 1 cannot be split in {levels} levels of halves");
        return Err(Refusal::new(at, message).instead(format!("at most {most} levels")));
    }
    let levels = levels as u32;
    if !zq::is_prime(q) {
        let message = format!("ntt needs a prime modulus, and {} is {}", q, zq::factored(q));
        return Err(Refusal::new(at, message));
    }
    let Some(root) = least_root(levels, q) else {
        let most = most_levels(n, q);
        let message = format!(
            "{levels} levels of splits of x^{n} + 1 need a root of unity of order {} mod {q}, and \
             {q} - 1 = {}",
            2u64 << levels,
            zq::factored(q - 1)
        );
        return Err(Refusal::new(at, message).instead(match most {
            0 => "another modulus: this one splits x^n + 1 nowhere".to_string(),
            _ => format!("(ntt {most} …), which ends in factors x^{} - w", n >> most),
        }));
    };
    let forward = arguments.labelled("forward")?;
    if forward.kind != FormKind::Word("cooley-tukey".into()) {
        let message = format!("a forward transform has no {} here", forward.describe());
        return Err(Refusal::new(forward.at, message).instead("(forward cooley-tukey)"));
    }
    let inverse = arguments.labelled("inverse")?;
    let all = [Butterflies::CooleyTukey, Butterflies::GentlemanSande];
    let named = |b: &&Butterflies| inverse.kind == FormKind::Word(b.word().into());
    let inverse = *all.iter().find(named).ok_or_else(|| {
        Refusal::new(inverse.at, format!("an inverse has no {} here", inverse.describe()))
            .instead("(inverse cooley-tukey) or (inverse gentleman-sande)")
    })?;
    let twist = arguments.option_list("twist");
    let units = Unit::new(root, q).zip(Unit::new(2, q));
    let Some((root, two)) = units else {
        let message = format!("the inverse of ntt halves, and 2 has no inverse mod {q}");
        return Err(Refusal::new(at, message).instead("an odd modulus"));
    };
    let weights = standard_weights(root.value(), levels, q);
    let size = n >> levels;
    let convolution =
        arguments.convolutions(&BaseSpec { q, size, shape: Shape::Weighted(weights) })?;
    let domain = domain.clone();
    Ok(Arc::new(Ntt { domain, n, levels, inverse, twist, root, two, convolution }))
}

/// The least residue mod q that is a primitive root of order 2^(levels+1).
pub(crate) fn least_root(levels: u32, q: u64) -> Option<u64> {
    let order = 2u64 << levels;
    if !(q - 1).is_multiple_of(order) {
        return None;
    }
    (2..q).find(|&c| zq::pow(c, order / 2, q) == q - 1)
}

/// How often the factors of x^n + 1 can be split mod the prime q.
pub(crate) fn most_levels(n: usize, q: u64) -> u32 {
    n.trailing_zeros().min((q - 1).trailing_zeros().saturating_sub(1))
}

/// ζ^(2·brv(i) + 1) for i in 0..2^levels.
fn standard_weights(root: u64, levels: u32, q: u64) -> Vec<u64> {
    let weight = |i: usize| zq::pow(root, 2 * reversed(i, levels) as u64 + 1, q);
    (0..1usize << levels).map(weight).collect()
}

/// The `bits` lowest bits of i in the other order.
fn reversed(i: usize, bits: u32) -> usize {
    (0..bits).fold(0, |r, b| r | (i >> b & 1) << (bits - 1 - b))
}

impl Ntt {
    /// n.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Never: n is at least 1.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The scale that so many levels there and back leave.
    pub fn scale_of(&self, levels: u32) -> Unit {
        self.two.pow(u64::from(levels))
    }

    /// The factor that a forward butterfly of level `level` at index i multiplies by. Level 0 is
    /// the first, with distance n/2; i is the index of the lower element in an array transformed in
    /// place.
    pub fn forward_factor(&self, level: u32, i: usize) -> Unit {
        let block = i / (self.len() >> level);
        // Block 2·block of the next level has x^m − s; twisted, s loses its ζ^(2^levels / 2^…).
        match self.twist {
            true => self.root.pow((reversed(2 * block, level + 1) << (self.levels - level)) as u64),
            false => self.split_factor(level, block),
        }
    }

    /// s, where number `block` of the factors at a level is x^2m − s².
    pub fn split_factor(&self, level: u32, block: usize) -> Unit {
        self.root.pow(reversed((1 << level) + block, self.levels) as u64)
    }

    /// What element i is multiplied by before the forward transform, for `twist`.
    pub fn twist_factor(&self, i: usize) -> Unit {
        self.root.pow((i / self.degree()) as u64)
    }

    /// The number that an inverse butterfly of level `level` (0 the first, distance d) multiplies
    /// by at index i of its lower element.
    pub fn inverse_factor(&self, level: u32, i: usize) -> u64 {
        let half = self.degree() << level;
        let exponent = match self.inverse {
            Butterflies::GentlemanSande => {
                let block = i / (2 * half);
                reversed((1 << (self.levels - 1 - level)) + block, self.levels) as u64
            }
            // ω^(j·N/2M) for place j in a half of M blocks, ω = ζ².
            Butterflies::CooleyTukey => {
                let j = i % half / self.degree();
                2 * (j << (self.levels - 1 - level)) as u64
            }
        };
        self.root.pow(exponent).inverse()
    }

    /// What element i is multiplied by after the inverse's levels, apart from 2^-levels.
    pub fn untwist_factor(&self, i: usize) -> u64 {
        match self.inverse {
            Butterflies::GentlemanSande => 1,
            Butterflies::CooleyTukey => self.twist_factor(i).inverse(),
        }
    }
}

impl Levels for Ntt {
    fn q(&self) -> u64 {
        self.domain.q
    }
    fn size(&self) -> usize {
        self.n
    }
    fn splits(&self) -> Vec<Split> {
        vec![Split::Halves; self.levels as usize]
    }
    fn forward_constants(&self, level: usize, i: usize) -> Vec<u64> {
        vec![self.forward_factor(level as u32, i).value()]
    }
    fn inverse_constants(&self, level: usize, i: usize) -> Vec<u64> {
        vec![self.inverse_factor(self.levels - 1 - level as u32, i)]
    }
    fn backwards(&self) -> Butterflies {
        self.inverse
    }
    fn enter(&self, i: usize) -> Option<Unit> {
        self.twist.then(|| self.twist_factor(i))
    }
    fn leave(&self, i: usize) -> u64 {
        self.untwist_factor(i)
    }
    fn left(&self) -> Unit {
        self.scale_of(self.levels)
    }
    fn halves(&self, least: usize) -> Option<Halves<'_>> {
        Some(Halves::of(self, least))
    }
    fn products(&self) -> &WeightedConvolution {
        &self.convolution
    }
}

impl Product for Ntt {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.domain
    }
    fn scale(&self) -> Unit {
        self.scale_of(self.levels)
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
        let n = self.len() as u64;
        let levels = u64::from(self.levels);
        let transform = Cost { scales: levels * n / 2, adds: levels * n, products: 0 };
        let twists =
            2 * u64::from(self.twist) + u64::from(self.inverse == Butterflies::CooleyTukey);
        transform.times(3)
            + Cost { scales: twists * n, ..Cost::default() }
            + self.convolution.total_cost()
    }
    fn tree(&self) -> TreeNode {
        use crate::base::Base;
        let title = format!("Number-theoretic transform in {} levels", self.levels);
        let after = format!("{} factors x^{} - w", 1u64 << self.levels, self.degree());
        TreeNode::of_product(self, (title, after), vec![self.convolution.tree()])
    }
    fn to_form(&self) -> Form {
        use crate::base::Base;
        let mut rest = vec![
            Form::word(self.levels),
            Form::list("forward", [Form::word("cooley-tukey")]),
            Form::list("inverse", [Form::word(self.inverse.word())]),
        ];
        if self.twist {
            rest.push(Form::list("twist", []));
        }
        rest.push(self.convolution.to_form());
        Form::list(METHOD.name, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use crate::testing::Random;

    fn plan(q: u64, n: usize, levels: u32, rest: &str) -> Plan {
        let text = format!(
            "(plan p (ring \"Z{q}[x]/(x^{n} + 1)\") (ntt {levels} (forward cooley-tukey) {rest} \
             (weighted-convolution (toeplitz))))"
        );
        Plan::parse(&text).unwrap_or_else(|e| panic!("{e}"))
    }

    const KINDS: [&str; 3] =
        ["(inverse gentleman-sande)", "(inverse cooley-tukey)", "(inverse cooley-tukey) (twist)"];

    #[test]
    fn is_the_product_of_the_ring_and_the_remainders() {
        for (q, n, levels) in [(3329, 16, 4), (3329, 32, 3), (7681, 16, 1), (12289, 24, 3)] {
            for rest in KINDS {
                let plan = plan(q, n, levels, rest);
                plan.check().expect("reads back");
                let mut random = Random(q + n as u64);
                let (a, b) = (random.vector(n, q), random.vector(n, q));
                let ntt = plan.root.as_method::<Ntt>().expect("ntt");
                let remainders: Vec<u64> = ntt
                    .weights()
                    .iter()
                    .flat_map(|&weight| {
                        let degree = ntt.degree();
                        let modulus = crate::Modulus::Binomial { degree, weight };
                        Domain {
                            q,
                            modulus,
                            operand: degree,
                            wanted: degree,
                            bounds: Domain::any(q),
                        }
                        .reduce(&a)
                    })
                    .collect();
                assert_eq!(ntt.forward(&a), remainders, "{plan}");
                let signed = |v: &[u64]| v.iter().map(|&x| x as i64).collect::<Vec<_>>();
                let (a, b) = (signed(&a), signed(&b));
                assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b), "{plan}");
            }
        }
    }

    /// The roots and the orders of the standards.
    #[test]
    fn roots_and_weights_of_the_standards() {
        let kem = plan(3329, 256, 7, KINDS[0]);
        let kem = kem.root.as_method::<Ntt>().expect("ntt");
        assert_eq!((kem.root.value(), kem.degree()), (17, 2));
        // FIPS 203, appendix A: ζ^(2·brv(i)+1) = 17, -17, 2761, -2761, …
        assert_eq!(kem.weights()[..4], [17, 3312, 2761, 568]);
        // … and ζ^brv(k) = 1729, 2580, 3289, …
        assert_eq!(kem.forward_factor(0, 0), 1729);
        assert_eq!([kem.forward_factor(1, 0), kem.forward_factor(1, 128)], [2580, 3289]);
        let dsa = plan(8380417, 256, 8, KINDS[0]);
        let dsa = dsa.root.as_method::<Ntt>().expect("ntt");
        assert_eq!(dsa.root, 1753);
        assert_eq!(dsa.forward_factor(0, 0), 4808194); // FIPS 204, zetas[1]
    }

    #[test]
    fn refusals_name_what_is_missing() {
        let refused = |ring: &str, form: &str| {
            let text = format!("(plan p (ring \"{ring}\") {form})");
            let error = Plan::parse(&text).expect_err("refused");
            (error.message, error.would_work.unwrap_or_default())
        };
        let rest =
            "(forward cooley-tukey) (inverse cooley-tukey) (weighted-convolution (toeplitz))";
        let (message, hint) = refused("Z3329[x]/(x^256 + 1)", &format!("(ntt 8 {rest})"));
        assert!(message.contains("order 512 mod 3329, and 3329 - 1 = 2^8 · 13"), "{message}");
        assert_eq!(hint, "(ntt 7 …), which ends in factors x^2 - w");
        let (_, hint) = refused("Z4591[x]/(x^256 + 1)", &format!("(ntt 1 {rest})"));
        assert!(hint.starts_with("another modulus"), "{hint}");
        let (message, _) = refused("Z3329[x]/(x^256 - 1)", &format!("(ntt 1 {rest})"));
        assert!(message.contains("splits x^n + 1"), "{message}");
        let (message, _) = refused("Z3329[x]/(x^12 + 1)", &format!("(ntt 3 {rest})"));
        assert_eq!(message, "x^12 + 1 cannot be split in 3 levels of halves");
        let other = "(ntt 1 (forward rader) (inverse cooley-tukey) (schoolbook))";
        assert_eq!(refused("Z3329[x]/(x^4 + 1)", other).1, "(forward cooley-tukey)");
    }
}
