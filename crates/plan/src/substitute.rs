//! Incomplete transform: x^k = t turns the product mod x^{kN} − 1 into one mod t^N − 1 over
//! polynomials of degree below k. A transform of length N turns that into N weighted convolutions
//! mod x^k − ω^j [Chiu25 §3.1, §3.2.1]. Points t_j other than the roots of unity work too. Then the
//! product is mod ∏ (t − t_j), and the convolutions are mod x^k − t_j.
//!
//! Scale: forward scale twice, base product, inverse scale. Condition: kN is the degree (or,
//! lifted, at least the length of the product). Also, Z_q has a principal N-th root of unity, or
//! what the method for other points needs.

use crate::base::Base;
use crate::blocks::Blocks;
use crate::cost::Model;
use crate::domain::{Domain, Modulus};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method, Methods, PointsSpec};
use crate::network::Cost;
use crate::product::{Product, ProductRef};
use crate::sexpr::Form;
use crate::stages::Stages;
use crate::transform::TransformRef;
use crate::tree::TreeNode;
use crate::unit::Unit;
use ringforge_ring::zq;
use std::cmp::Reverse;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "substitute",
    usage: "(substitute K|auto TRANSFORM-OR-POINTS (weighted-convolution SMALL))",
    summary: "x^K = t: a product mod x^(KN) - 1 through a transform of length N and N weighted \
              convolutions of size K; Z_q needs an N-th root of unity. With other points, mod what \
              they are the roots of. `auto`: the K that the transform's length leaves.",
    citation: "[Chiu25 §3.2.1]",
    build: Build::Product(build),
};

/// The product mod x^{kN} − 1 through an incomplete transform.
#[derive(Clone, Debug)]
pub struct Substitute {
    /// The blocks and what becomes of them.
    pub blocks: Blocks,
    /// Whether the plan says `auto`: k follows from the transform's length.
    pub auto: bool,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let auto = arguments.option("auto");
    let k = if auto { None } else { Some(arguments.number("the block width K")?) };
    let at = arguments.last_at();
    let (degree, weight) = match (domain.binomial(), &domain.modulus) {
        (Some((degree, weight)), _) if weight != 0 => (degree, Some(weight)),
        (_, Modulus::Free { length }) => (*length, None),
        _ => {
            let message = format!("substitute needs a product mod x^n - 1, not one in {domain}");
            let hint = format!("(lift {} (substitute …))", domain.product_length());
            return Err(arguments.refuse(message).instead(hint));
        }
    };
    let form = arguments.form("a transform")?;
    let methods = arguments.methods;
    let place = Place { methods, at, degree, weight, form: &form };
    let (k, transform) = match k {
        Some(k) => (k, place.transform(domain, k)?),
        None => place.derived(domain)?,
    };
    let weights = transform.points();
    let blocks = Blocks::read(arguments, domain, (k, k), transform, weights)?;
    Ok(Arc::new(Substitute { blocks, auto }))
}

/// Where a transform is wanted.
struct Place<'a> {
    /// What the form may name.
    methods: Methods,
    /// Where K stands in the text.
    at: usize,
    /// n of x^n − w, or the length of a product without a modulus.
    degree: usize,
    /// w, if there is a modulus.
    weight: Option<u64>,
    /// The transform's form.
    form: &'a Form,
}

impl Place<'_> {
    /// The only width for which the transform can be built.
    fn derived(&self, domain: &Domain) -> Result<(usize, TransformRef), Refusal> {
        let mut found: Vec<(usize, TransformRef)> = Vec::new();
        let mut refused: Vec<(usize, Refusal)> = Vec::new();
        let mut lengths = std::collections::HashSet::new();
        for k in 1..=self.degree {
            // Of widths with as many blocks the least one does.
            let fits = self.weight.is_none() || self.degree.is_multiple_of(k);
            if !fits || !lengths.insert(self.degree.div_ceil(k)) {
                continue;
            }
            match self.transform(domain, k) {
                Ok(transform) => found.push((k, transform)),
                Err(refusal) => refused.push((k, refusal)),
            }
        }
        if found.len() == 1 {
            return Ok(found.swap_remove(0));
        }
        if !found.is_empty() {
            let all: Vec<String> = found.iter().map(|(k, _)| k.to_string()).collect();
            let message = format!("this transform serves several block widths in {domain}");
            return Err(Refusal::new(self.at, message).instead(format!("K = {}", all.join(", "))));
        }
        // Each width is refused for a reason of its own. The one that is read furthest is the likeliest to be
        // meant; a wrong word is refused at every width whose root exists.
        let likeliest = refused.into_iter().max_by_key(|(k, refusal)| (refusal.at, Reverse(*k)));
        let (k, mut refusal) = likeliest.ok_or_else(|| {
            Refusal::new(self.at, format!("no block width divides the degree of {domain}"))
        })?;
        refusal.message = format!("no block width serves here; with K = {k}, {}", refusal.message);
        Err(refusal)
    }

    /// The transform for blocks of width k.
    fn transform(&self, domain: &Domain, k: usize) -> Result<TransformRef, Refusal> {
        let Place { at, weight, form, .. } = *self;
        let degree = match weight {
            Some(_) => self.degree,
            None => self.degree.next_multiple_of(k),
        };
        if degree % k != 0 {
            let widths: Vec<String> = zq::divisors(degree as u64)
                .iter()
                .filter(|&&d| d <= 64)
                .map(u64::to_string)
                .collect();
            let message =
                format!("x^{k} = t does not fit x^{degree} - 1: {k} does not divide {degree}");
            return Err(Refusal::new(at, message).instead(format!("K = {}", widths.join(", "))));
        }
        let n = degree / k;
        let q = domain.q;
        if let Some(points) = self.methods.points(form, &PointsSpec { q, len: n, weight })? {
            return Ok(points);
        }
        if let Some(weight) = weight.filter(|&w| w != 1) {
            let message = format!(
                "substitute with a transform needs a product mod x^n - 1, not one in {domain}"
            );
            let lift = domain.product_length();
            let hint = format!("(twist …), if {weight} has a root; (lift {lift} …)");
            return Err(Refusal::new(form.at, message).instead(hint));
        }
        let spec = DftSpec::new(q, n).map_err(|missing| {
            let what = format!("x^{degree} - 1 with x^{k} = t needs a transform of length {n}");
            Refusal::new(form.at, format!("{what}: {missing}"))
                .instead(lengths(domain, k, &missing))
        })?;
        self.methods.transform(form, &spec)
    }
}

/// Lengths near the one asked for that have a root, and what degree they make with k.
fn lengths(domain: &Domain, k: usize, missing: &zq::MissingRoot) -> String {
    let near = [missing.nearest().0, missing.nearest().1].into_iter().flatten();
    let parts: Vec<String> = near
        .map(|n| format!("length {n}, which is x^{} - 1 with K = {k}", n as usize * k))
        .collect();
    if parts.is_empty() { format!("another modulus than {}", domain.q) } else { parts.join("; ") }
}

impl Product for Substitute {
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
        Stages::Blocks(&self.blocks)
    }
    fn shape(&self) -> String {
        format!("{} × {}", self.blocks.count(), self.blocks.k)
    }
    fn cost(&self) -> Cost {
        self.blocks.cost()
    }
    fn slots(&self, model: &Model) -> f64 {
        self.blocks.slots(model)
    }
    fn tree(&self) -> TreeNode {
        let Blocks { domain, k, transform, .. } = &self.blocks;
        let after = format!("Z{}[x, t]/(x^{k} - t, {})", domain.q, transform.modulus());
        self.blocks.tree(self, format!("Substitute x^{k} = t"), after)
    }
    fn to_form(&self) -> Form {
        let Blocks { k, transform, convolution, .. } = &self.blocks;
        let width = if self.auto { Form::word("auto") } else { Form::word(k) };
        Form::list(METHOD.name, [width, transform.to_form(), convolution.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::registry::build_product;
    use crate::testing::Random;
    use ringforge_ring::Ring;

    fn cyclic(operand: usize, wanted: usize) -> Domain {
        let modulus = Modulus::Binomial { degree: 20, weight: 1 };
        Domain { q: 4591, modulus, operand, wanted, bounds: Domain::any(4591) }
    }

    #[test]
    fn agrees_with_the_cyclic_product() {
        let mut random = Random(6);
        let inner = "(good-thomas 5 2 (rader 5) (butterfly)) (weighted-convolution (toeplitz))";
        let form = Form::parse(&format!("(substitute 2 {inner})")).expect("text");
        for (operand, wanted) in [(20, 20), (11, 20), (7, 9), (20, 3), (1, 1)] {
            let domain = cyclic(operand, wanted);
            let product = build_product(&form, &domain).expect("plan");
            assert_eq!(product.scale(), 4 * 4 * 40);
            let (a, b) = (random.vector(operand, 4591), random.vector(operand, 4591));
            let expected: Vec<u64> =
                domain.multiply(&a, &b).iter().map(|&c| zq::mul(c, 640, 4591)).collect();
            assert_eq!(product.multiply(&a, &b), expected, "{operand}, {wanted}");
        }
    }

    /// A ring whose f is x^n − 1 needs no lift.
    #[test]
    fn takes_a_cyclic_ring() {
        let plan = Plan::parse(
            "(plan p (ring \"Z4591[x]/(x^6 - 1)\") \
             (substitute 2 (rader 3) (weighted-convolution (toeplitz))))",
        )
        .unwrap_or_else(|e| panic!("{e}"));
        let ring = Ring::parse("Z4591[x]/(x^6 - 1)").expect("ring");
        let (a, b) = ([1, -2, 3, 4, 5, 2295], [7, 0, -2295, 1, 1, 9]);
        assert_eq!(plan.multiply(&a, &b), ring.mul(&a, &b));
    }

    /// The networks compute what the reference does, with as many inputs and outputs as needed.
    #[test]
    fn networks_cover_padding_and_dropping() {
        let form = Form::parse(
            "(substitute 2 (time-shift (good-thomas 5 2 (rader 5) (butterfly))) \
             (weighted-convolution (toeplitz)))",
        )
        .expect("text");
        let product = build_product(&form, &cyclic(9, 7)).expect("plan");
        let blocks = &product.as_method::<Substitute>().expect("substitute").blocks;
        assert_eq!(blocks.present().iter().filter(|&&p| p).count(), 5);
        let (net, outputs) = blocks.forward_network();
        assert_eq!(outputs.len(), 10);
        assert_eq!(net.cost(&outputs), blocks.transform.forward_cost(&blocks.present()));
        let (net, outputs) = blocks.inverse_network();
        assert_eq!(outputs.len(), 4);
        assert_eq!(net.cost(&outputs), blocks.transform.inverse_cost(&blocks.wanted()));
    }
}
