//! Another modulus for the coefficients: the product over the integers, from its residues modulo
//! distinct primes [Hwang24 §4.2] [Garner59].
//!
//! Map: the centred operands, unchanged, read modulo p_1, p_2, …. Each residue of the product is
//! computed modulo its own prime, which has the roots of unity that q lacks. Inverse: Garner's
//! mixed-radix reconstruction. With all digits centred, x = u_1 + p_1·(u_2 + p_2·(u_3 + …)),
//! u_1 = r_1, u_2 = (r_2 − u_1)/p_1 mod p_2, u_3 = ((r_3 − u_1)/p_1 − u_2)/p_2 mod p_3, … and then
//! x is reduced mod q. Scale: 1, because each inner scale is divided out modulo its own prime.
//!
//! Condition: the digits reach every integer of at most (∏ p_i − 1)/2 in size, so the worst
//! coefficient of the product over the integers must not be larger. With |a_i| ≤ A, |b_i| ≤ B and
//! at most t products in one coefficient, this means 2·t·A·B < ∏ p_i. Random operands hardly ever
//! come near the bound, but those that do must be right too. The modulus f must be a polynomial
//! over the integers: x^n ± 1, x^n, or none (an unreduced product).

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
use ringforge_ring::{Ring, zq};
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "change-modulus",
    usage: "(change-modulus (prime P PRODUCT) (prime P PRODUCT) …)",
    summary: "The product over the integers from its residues modulo primes, whose product must be \
              more than twice the largest coefficient that the operands allow; x^n + 1, x^n - 1 or \
              unreduced, for any q.",
    citation: "[Hwang24 §4.2]",
    build: Build::Product(build),
};

/// Primes below this fit words of 32 bits with a sign.
const PRIME_LIMIT: usize = 1 << 31;
/// More primes than any bound of this house needs; the product of as many fits 128 bits.
const MOST_PRIMES: usize = 4;

/// A product over the integers, through products modulo primes.
#[derive(Clone, Debug)]
pub struct ChangeModulus {
    /// Where the product is taken: mod x^n ± 1 or x^n, or unreduced.
    pub domain: Domain,
    /// The largest coefficient of the product over the integers, in size.
    pub bound: u128,
    /// The primes p_i.
    pub moduli: Vec<u64>,
    /// The products modulo p_i, of the same shape.
    pub inner: Vec<ProductRef>,
    /// p_i modulo p_k for i < k, by k.
    below: Vec<Vec<Unit>>,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    if over_integers(domain, 3).is_none() {
        let message = format!(
            "change-modulus multiplies over the integers mod x^n + 1, mod x^n - 1 or unreduced, \
             not in {domain}"
        );
        let hint = format!("(lift {} (change-modulus …))", domain.product_length());
        return Err(arguments.refuse(message).instead(hint));
    }
    let (mut moduli, mut inner, mut below) = (Vec::new(), Vec::new(), Vec::new());
    while moduli.is_empty() || arguments.more() {
        let mut part = arguments.nested("prime")?;
        let p = part.number_to("the prime P", PRIME_LIMIT)? as u64;
        let at = part.last_at();
        if p == 2 || !zq::is_prime(p) {
            let message = format!("{p} is no odd prime: it is {}", zq::factored(p));
            let hint = near_primes(p);
            return Err(Refusal::new(at, message).instead(hint));
        }
        if moduli.contains(&p) {
            let message = format!("the prime {p} is there already, and twice it tells nothing new");
            return Err(Refusal::new(at, message).instead("another prime"));
        }
        if moduli.len() == MOST_PRIMES {
            let message = format!("more than {MOST_PRIMES} primes are not needed");
            return Err(Refusal::new(at, message).instead("larger primes"));
        }
        // Distinct primes are units modulo each other.
        let units = moduli.iter().map(|&other| Unit::new(other, p)).collect::<Option<Vec<Unit>>>();
        let Some(units) = units else {
            let message = format!("the primes before {p} have no inverse modulo it");
            return Err(Refusal::new(at, message).instead("distinct primes"));
        };
        let Some(domain) = over_integers(domain, p) else { continue };
        below.push(units);
        inner.push(part.product(&domain)?);
        part.end()?;
        moduli.push(p);
    }
    let (index, terms) = worst_coefficient(domain);
    let [a, b] = domain.bounds;
    let bound = terms as u128 * u128::from(a) * u128::from(b);
    let covered: u128 = moduli.iter().map(|&p| u128::from(p)).product();
    if covered <= 2 * bound {
        let names: Vec<String> = moduli.iter().map(u64::to_string).collect();
        let message = format!(
            "the product over the integers does not fit: its coefficient {index} is a sum of {terms} \
             products of up to {a}·{b} and can be ±{bound}, but {}{} covers only ±{}",
            names.join("·"),
            if moduli.len() > 1 { format!(" = {covered}") } else { String::new() },
            (covered - 1) / 2
        );
        return Err(arguments.refuse(message).instead(what_fits(covered, bound, terms, [a, b])));
    }
    Ok(Arc::new(ChangeModulus { domain: domain.clone(), bound, moduli, inner, below }))
}

/// Primes next to p, for the hint.
fn near_primes(p: u64) -> String {
    let below = (3..p).rev().find(|&c| zq::is_prime(c));
    let above = (p.max(2) + 1..PRIME_LIMIT as u64).find(|&c| zq::is_prime(c));
    let near: Vec<String> = below.into_iter().chain(above).map(|c| c.to_string()).collect();
    near.join(" or ")
}

/// What would fit where `bound` does not.
fn what_fits(covered: u128, bound: u128, terms: usize, [a, b]: [u64; 2]) -> String {
    let mut hint = format!(
        "primes with a product of more than {}, such as one more of at least {}",
        2 * bound,
        2 * bound / covered + 1
    );
    let narrower = (covered - 1) / 2 / (terms as u128 * u128::from(a.max(1)));
    if narrower >= 1 && narrower < u128::from(b) {
        let operand = match narrower {
            1 => "small".to_string(),
            k => format!("(within {k})"),
        };
        hint += &format!(
            "; or one operand with coefficients of at most {narrower}: `(operands big {operand})`"
        );
    }
    hint
}

/// The same product modulo p; `None` where it is none over the integers.
fn over_integers(domain: &Domain, p: u64) -> Option<Domain> {
    let q = domain.q;
    let sign = |w: u64| match w {
        0 => Some(0),
        1 => Some(1),
        _ if w == q - 1 => Some(p - 1),
        _ => None,
    };
    let modulus = match &domain.modulus {
        Modulus::Free { length } => Modulus::Free { length: *length },
        Modulus::Binomial { degree, weight } => {
            Modulus::Binomial { degree: *degree, weight: sign(*weight)? }
        }
        Modulus::Ring(_) => {
            let (n, w) = domain.binomial().filter(|&(_, w)| w != 0)?;
            let mut f = vec![0; n + 1];
            (f[0], f[n]) = (-zq::centered(sign(w)?, p), 1);
            Modulus::Ring(Ring::new(p, &f)?)
        }
    };
    Some(Domain { q: p, modulus, bounds: domain.bounds.map(|bound| bound.min(p / 2)), ..*domain })
}

/// The coefficient of the product that sums the most products of two coefficients, the first of
/// those that are read, and how many it sums.
fn worst_coefficient(domain: &Domain) -> (usize, usize) {
    let n = domain.operand;
    // Pairs (i, j) with i + j = s.
    let pairs = |s: usize| (s + 1).min(n).min((2 * n - 1).saturating_sub(s));
    let fold = match domain.binomial() {
        Some((degree, weight)) if weight != 0 => Some(degree),
        _ => None,
    };
    let terms = |i: usize| match fold {
        Some(degree) => (i..2 * n - 1).step_by(degree).map(pairs).sum(),
        None => pairs(i),
    };
    let mut worst = (0, 0);
    for i in 0..domain.wanted {
        let here = terms(i);
        if here > worst.1 {
            worst = (i, here);
        }
    }
    worst
}

impl ChangeModulus {
    /// p_i⁻¹ modulo p_k, for i < k.
    pub fn inverse(&self, i: usize, k: usize) -> u64 {
        self.below[k][i].inverse()
    }

    /// What residue i is multiplied with before it is read: the inverse of its product's scale.
    pub fn factor(&self, i: usize) -> u64 {
        self.inner[i].scale().inverse()
    }

    /// The centred digits u_i of the integer with these residues, in `[0, p_i)`.
    pub fn digits(&self, residues: &[u64]) -> Vec<i64> {
        let mut digits: Vec<i64> = Vec::new();
        for (k, &p) in self.moduli.iter().enumerate() {
            let mut rest = residues[k];
            for (i, &u) in digits.iter().enumerate() {
                let difference = zq::sub(rest, zq::unsigned(u, p), p);
                rest = zq::mul(difference, self.inverse(i, k), p);
            }
            digits.push(zq::centered(rest, p));
        }
        digits
    }

    /// The weight of digit i modulo q: p_1·…·p_(i−1).
    pub fn weight(&self, i: usize) -> u64 {
        self.moduli[..i].iter().fold(1 % self.domain.q, |w, &p| zq::mul(w, p, self.domain.q))
    }

    /// ∏ p_i.
    pub fn covered(&self) -> u128 {
        self.moduli.iter().map(|&p| u128::from(p)).product()
    }
}

impl Product for ChangeModulus {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.domain
    }
    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let q = self.domain.q;
        let modulo = |v: &[u64], p: u64| -> Vec<u64> {
            v.iter().map(|&c| zq::unsigned(zq::centered(c, q), p)).collect()
        };
        let parts = self.moduli.iter().zip(&self.inner).enumerate();
        let residues: Vec<Vec<u64>> = parts
            .map(|(i, (&p, inner))| {
                let c = inner.multiply(&modulo(a, p), &modulo(b, p));
                c.iter().map(|&x| zq::mul(x, self.factor(i), p)).collect()
            })
            .collect();
        let coefficient = |i: usize| {
            let here: Vec<u64> = residues.iter().map(|r| r[i]).collect();
            let digits = self.digits(&here);
            digits.iter().enumerate().fold(0, |sum, (k, &u)| {
                zq::add(sum, zq::mul(self.weight(k), zq::unsigned(u, q), q), q)
            })
        };
        (0..self.domain.wanted).map(coefficient).collect()
    }

    fn stages(&self) -> Stages<'_> {
        Stages::Digits(self)
    }
    fn made_of(&self) -> Vec<&ProductRef> {
        self.inner.iter().collect()
    }
    fn moduli(&self) -> Vec<u64> {
        self.moduli.clone()
    }
    fn shape(&self) -> String {
        let mut all: Vec<String> = self.inner.iter().map(|part| part.shape()).collect();
        all.dedup();
        all.join(", ")
    }
    fn cost(&self) -> Cost {
        let (k, wanted) = (self.moduli.len() as u64, self.domain.wanted as u64);
        // Digit by digit, then their sum modulo q; every residue leaves its scale.
        let pairs = k * (k - 1) / 2;
        let factors = (0..self.inner.len()).filter(|&i| self.factor(i) != 1).count() as u64;
        let here = Cost { scales: pairs + k - 1 + factors, adds: pairs + k - 1, products: 0 };
        self.inner.iter().map(|inner| inner.cost()).sum::<Cost>() + here.times(wanted)
    }
    fn slots(&self, model: &Model) -> f64 {
        let (operand, wanted, costs) = (self.domain.operand, self.domain.wanted, &model.costs);
        let k = self.moduli.len() as f64;
        let inner: f64 = self.inner.iter().map(|part| part.slots(model)).sum();
        let enter = self.moduli.iter().map(|&p| {
            let wide = self.domain.bounds.iter().filter(|&&bound| bound > p / 2).count() as f64;
            model.words(p).registers(operand) * (wide * costs.reduce + 4.0 * costs.memory)
        });
        // Garner's digits, then their sum modulo q.
        let each = self.moduli.iter().map(|&p| model.words(p));
        let words = each.fold(model.words(3), |a, b| if b.lanes < a.lanes { b } else { a });
        let digits = k * (k - 1.0) / 2.0 * (words.costs.scale + 1.0)
            + k * (words.costs.scale + 1.0 + costs.memory);
        inner + enter.sum::<f64>() + words.registers(wanted) * (digits + costs.reduce)
    }
    fn tree(&self) -> TreeNode {
        let named = |(p, inner): (&u64, &ProductRef)| inner.tree().titled(&format!("mod {p}: "));
        let title =
            format!("Change of modulus, coefficients over the integers up to ±{}", self.bound);
        let after = format!(
            "products mod {}",
            self.moduli.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
        );
        TreeNode::of_product(
            self,
            (title, after),
            self.moduli.iter().zip(&self.inner).map(named).collect(),
        )
    }
    fn to_form(&self) -> Form {
        let part =
            |(p, inner): (&u64, &ProductRef)| Form::list("prime", [Form::word(p), inner.to_form()]);
        Form::list(METHOD.name, self.moduli.iter().zip(&self.inner).map(part))
    }
}

#[cfg(test)]
mod tests;
