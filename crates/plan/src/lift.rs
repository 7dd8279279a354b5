//! Lifting: the product in Z_q\[x\]/(f) is the remainder of the product over Z_q\[x\]
//! [Chiu25 §3.1].
//!
//! Map: the operands, unchanged. The inner product has space for `length` coefficients, at least as
//! many as the product has (2n − 1 for operands of n). Inverse: the remainder by the modulus.
//! Scale: the inner one's.

use crate::cost::Model;
use crate::domain::{Domain, Modulus};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::product::{Product, ProductRef};
use crate::reduce_mod::ReduceMod;
use crate::schoolbook::unreduced_slots;
use crate::sexpr::Form;
use crate::stages::Stages;
use crate::toeplitz_pair::ToeplitzPair;
use crate::tree::TreeNode;
use crate::unit::Unit;
use ringforge_targets::{Products, Target};
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "lift",
    usage: "(lift LENGTH PRODUCT)",
    summary: "Multiplies over Z_q[x] with space for LENGTH coefficients, then reduces.",
    citation: "[Chiu25 §3.1]",
    build: Build::Product(build),
};

/// Sums of more coefficients than this make f dense.
const DENSE: usize = 12;
/// The most constants of a remainder that is taken by its matrix: they have to stay in a cache beside code.
const CONSTANTS: usize = 1 << 15;
/// Degrees up to this have remainders by their matrices beside products by transforms of vectors.
const SHORT: usize = 32;
/// Bits of words that hold all sums of products of 16 bits.
pub(crate) const LONG_BITS: u8 = 64;

/// The lift to unreduced products.
#[derive(Clone, Debug)]
pub struct Lift {
    /// Where the product is taken.
    pub domain: Domain,
    /// The room for the unreduced product, in coefficients.
    pub length: usize,
    /// The unreduced product.
    pub inner: ProductRef,
    /// The additions that fold the product back mod f; `None` where f is [dense](Lift::is_dense).
    pub folds: Option<u64>,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let length = arguments.number("the length of the lifted product")?;
    let needed = domain.product_length();
    if length < needed {
        let message = format!(
            "a lift to {length} is too short: the product of two operands of {} coefficients has \
             degree {} and {needed} coefficients",
            domain.operand,
            needed - 1
        );
        return Err(Refusal::new(arguments.last_at(), message)
            .instead(format!("(lift {needed} …) or more")));
    }
    // A truncated product never reads the upper coefficients; others reduce all of them.
    let truncated = matches!(domain.modulus, Modulus::Binomial { weight: 0, .. });
    let wanted = if truncated { needed.min(domain.wanted) } else { needed };
    let folds = match &domain.modulus {
        Modulus::Ring(ring) => {
            ReduceMod { ring: ring.clone(), length: wanted, factor: 1 }.additions(DENSE)
        }
        Modulus::Binomial { weight: 0, .. } | Modulus::Free { .. } => Some(0),
        Modulus::Binomial { .. } => Some((needed - domain.wanted.min(needed)) as u64),
    };
    let bounds = if folds.is_some() { domain.bounds } else { Domain::any(domain.q) };
    let modulus = Modulus::Free { length };
    let lifted = Domain { q: domain.q, modulus, operand: domain.operand, wanted, bounds };
    let inner = arguments.product(&lifted)?;
    Ok(Arc::new(Lift { domain: domain.clone(), length, inner, folds }))
}

impl Lift {
    /// Whether f is dense: some coefficient of the remainder sums more than a dozen of the unreduced
    /// product. The remainder is then better taken by two more products, of constants with any
    /// residues, for which the inner domain has its bounds.
    pub fn is_dense(&self) -> bool {
        self.folds.is_none()
    }

    /// Whether f is dense and a matrix gives the remainder: each coefficient is a sum of n − 1
    /// products. Residues must fit words of 16 bits, and the powers of x mod f must not be too many
    /// constants. Schoolbook products use the matrix if the machine has sums of 64 bits or dot
    /// products. Short products by transforms use it on machines with dot products, where the two
    /// products that it replaces are no faster.
    pub fn has_matrix(&self, target: &Target) -> bool {
        let n = self.domain.operand;
        let defined = matches!(self.inner.stages(), Stages::Direct);
        let suits = match target.products {
            Products::Dots => defined || n <= SHORT,
            // The prover follows fewer of these remainders of transforms than of two more products.
            Products::Words => defined && target.sums == LONG_BITS,
        };
        self.is_dense() && suits && self.domain.q <= 1 << 16 && n * n <= CONSTANTS
    }

    /// The number of products that give quotient and remainder by a dense f. It is two, or one for
    /// methods that compute both for the cost of one.
    pub(crate) fn products_of_constants(&self) -> u64 {
        match self.inner.stages() {
            Stages::Matrices(_) => 1,
            _ => 2,
        }
    }

    /// The final reduction, where the domain is a ring: with the inverse of the scale folded in.
    pub fn reduction(&self, factor: u64) -> Option<ReduceMod> {
        match &self.domain.modulus {
            Modulus::Ring(ring) => {
                Some(ReduceMod { ring: ring.clone(), length: self.inner.domain().wanted, factor })
            }
            _ => None,
        }
    }

    /// The slots of the reduction mod f at the end, and that of the coefficients.
    fn reduction_slots(&self, model: &Model) -> f64 {
        let words = model.words(self.domain.q);
        let n = words.registers(self.domain.wanted);
        let pair = matches!(self.inner.stages(), Stages::Matrices(_));
        let terms = self.reduction(1).filter(|_| pair);
        let terms =
            terms.and_then(|reduction| ToeplitzPair::steps(&reduction.ring, model.lanes(16)));
        let (memory, inner) = (model.costs.memory, self.inner.as_ref());
        let fold = match (self.folds, terms) {
            // Each for the quotient and for the remainder.
            (_, Some(terms)) => 2.0 * terms.len() as f64 * n * (2.0 + memory),
            (Some(folds), None) if !pair => folds as f64 / words.lanes * (1.0 + memory),
            (None, None) if self.has_matrix(model.target) => unreduced_slots(inner.domain(), model),
            _ => self.products_of_constants() as f64 * inner.slots(model),
        };
        fold + n * (2.0 * model.costs.reduce + 2.0 * memory)
    }
}

impl Product for Lift {
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
        self.domain.reduce(&self.inner.multiply(a, b))
    }
    fn stages(&self) -> Stages<'_> {
        Stages::Remainder(self)
    }
    fn made_of(&self) -> Vec<&ProductRef> {
        vec![&self.inner]
    }
    fn shape(&self) -> String {
        self.inner.shape()
    }
    fn cost(&self) -> Cost {
        match self.folds {
            Some(adds) => self.inner.cost() + Cost { adds, ..Cost::default() },
            None => self.inner.cost().times(1 + self.products_of_constants()),
        }
    }
    fn slots(&self, model: &Model) -> f64 {
        self.inner.slots(model) + self.reduction_slots(model)
    }
    fn tree(&self) -> TreeNode {
        let title = format!("Lift to {} coefficients", self.length);
        TreeNode::of_product(
            self,
            (title, self.inner.domain().to_string()),
            vec![self.inner.tree()],
        )
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [Form::word(self.length), self.inner.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::{Domain, Modulus};
    use crate::plan::Plan;
    use crate::registry::build_product;
    use crate::sexpr::Form;
    use crate::testing::Random;

    /// All three kinds of modulus below a lift, and a lift with room to spare.
    #[test]
    fn reduces_by_every_modulus() {
        let mut random = Random(2);
        let moduli = [
            Modulus::Ring("Z4591[x]/(x^7 - x - 1)".parse().expect("ring")),
            Modulus::Binomial { degree: 7, weight: 5 },
            Modulus::Binomial { degree: 7, weight: 0 },
        ];
        for modulus in moduli {
            for length in [13, 20] {
                let domain = Domain {
                    q: 4591,
                    modulus: modulus.clone(),
                    operand: 7,
                    wanted: 7,
                    bounds: Domain::any(4591),
                };
                let form = Form::parse(&format!("(lift {length} (schoolbook))")).expect("text");
                let product = build_product(&form, &domain).expect("plan");
                let (a, b) = (random.vector(7, 4591), random.vector(7, 4591));
                assert_eq!(product.multiply(&a, &b), domain.multiply(&a, &b), "{domain}");
            }
        }
    }

    /// Dense f multiply any residues, whatever the operands are.
    #[test]
    fn dense_moduli() {
        let lift = |f: &str| {
            let text = format!(
                "(plan p (ring \"Z2048[x]/({f})\") (operands small small) (lift 79 (schoolbook)))"
            );
            let plan = Plan::parse(&text).unwrap_or_else(|e| panic!("{e}"));
            let lift = plan.root.as_method::<super::Lift>().expect("a lift").clone();
            (lift.is_dense(), lift.inner.domain().bounds, lift.folds)
        };
        assert_eq!(lift("x^40 - x - 1"), (false, [1, 1], Some(78)));
        assert_eq!(lift("x^40 + 1"), (false, [1, 1], Some(39)));
        assert_eq!(lift("x^40 + x^39 + 1"), (true, [1024, 1024], None));
    }

    #[test]
    fn the_final_reduction_takes_the_scale_out() {
        let plan = Plan::find("sntrup761-chiu").unwrap_or_else(|e| panic!("{e}"));
        let reduction = plan.final_reduction().expect("a lift");
        assert_eq!((reduction.length, reduction.factor * 170 % 4591), (1521, 1));
    }
}
