//! Twisting: values at r·ω^j instead of ω^j, which are the roots of t^N − r^N [LinHung21 §2.2].
//!
//! Map: t = r·s turns f(t) mod t^N − w into f(rs) mod s^N − 1: block i times r^i, then the transform.
//! Inverse: block i times r^{−i} behind the transform's. Scale: the transform's.
//! Condition: w = r^N for an invertible r of Z_q, and Z_q has a principal N-th root of unity.
//!
//! The twist between the levels of one transform is `cooley-tukey`.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::grid::Grid;
use crate::method::{Arguments, Build, DftSpec, Method, PointsSpec};
use crate::sexpr::Form;
use crate::transform::{Transform, TransformRef};
use crate::unit::Unit;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "twist",
    usage: "(twist TRANSFORM)",
    summary: "The roots of t^N - w, by a transform of blocks that are twisted by powers of an N-th \
              root of w.",
    citation: "[LinHung21 §2.2]",
    build: Build::Points(build),
};

/// A transform of twisted blocks.
#[derive(Clone, Debug)]
pub struct Twist {
    /// r, the least N-th root of the weight.
    pub factor: Unit,
    /// The transform at the N-th roots of unity.
    pub inner: TransformRef,
}

/// The least r with r^n = w.
pub(crate) fn nth_root(w: u64, n: usize, q: u64) -> Option<Unit> {
    let unit = |r: u64| Unit::new(r, q).filter(|_| zq::pow(r, n as u64, q) == w % q);
    // Moduli of transforms have at most 32 bits, and a root is among the first few or nowhere:
    // where q is a prime, Fermat decides first.
    if zq::is_prime(q) {
        let order = zq::gcd(n as u64, q - 1);
        if zq::pow(w, (q - 1) / order, q) != 1 {
            return None;
        }
    }
    (1..q).find_map(unit)
}

/// The transform at r·ω^j.
pub(crate) fn twisted(
    arguments: &mut Arguments,
    q: u64,
    n: usize,
    weight: u64,
) -> Result<TransformRef, Refusal> {
    let form = arguments.form("a transform")?;
    let spec = DftSpec::new(q, n).map_err(|missing| {
        let orders: Vec<String> = missing.available.iter().map(u64::to_string).collect();
        Refusal::new(form.at, format!("a transform of length {n} is twisted: {missing}"))
            .instead(format!("one of the lengths {}", orders.join(", ")))
    })?;
    let factor = nth_root(weight, n, q).ok_or_else(|| {
        let weights: Vec<String> = (2..q)
            .filter(|&w| nth_root(w, n, q).is_some())
            .take(6)
            .map(|w| w.to_string())
            .collect();
        let message = format!("{weight} has no root of order {n} mod {q}");
        Refusal::new(form.at, message).instead(format!("weights such as {}", weights.join(", ")))
    })?;
    let inner = arguments.methods.transform(&form, &spec)?;
    Ok(Arc::new(Twist { factor, inner }))
}

fn build(arguments: &mut Arguments, spec: &PointsSpec) -> Result<TransformRef, Refusal> {
    let Some(weight) = spec.weight else {
        let message = "twist is for products mod t^N - w, and here any modulus serves";
        return Err(arguments.refuse(message).instead("the transform itself"));
    };
    twisted(arguments, spec.q, spec.len, weight)
}

impl Twist {
    fn scaled(&self, arith: &mut dyn Arith, blocks: &[Val], factor: u64) -> Vec<Val> {
        let power = |i: usize| zq::pow(factor, i as u64, self.inner.q());
        blocks.iter().enumerate().map(|(i, &v)| arith.scale(v, power(i))).collect()
    }
}

impl Transform for Twist {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.inner.spec()
    }
    fn scale(&self) -> u64 {
        self.inner.scale()
    }
    fn points(&self) -> Vec<u64> {
        let q = self.q();
        self.inner.points().iter().map(|&w| zq::mul(w, self.factor.value(), q)).collect()
    }
    fn modulus(&self) -> String {
        let n = self.len();
        format!("t^{n} - {}", zq::pow(self.factor.value(), n as u64, self.q()))
    }
    fn values(&self) -> String {
        format!("the {} products over t = {}·{}^i", self.len(), self.factor, self.root())
    }
    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let twisted = self.scaled(arith, f, self.factor.value());
        self.inner.forward(arith, &twisted)
    }
    fn inverse(&self, arith: &mut dyn Arith, input: &[Val]) -> Vec<Val> {
        self.inverse_wanted(arith, input, &vec![true; self.len()])
    }
    fn inverse_wanted(&self, arith: &mut dyn Arith, input: &[Val], wanted: &[bool]) -> Vec<Val> {
        let plain = self.inner.inverse_wanted(arith, input, wanted);
        self.scaled(arith, &plain, self.factor.inverse())
    }
    fn grid(&self) -> Option<Grid> {
        let grid = self.inner.grid()?;
        Some(Grid { twist: grid.twist.times(self.factor), ..grid })
    }

    fn children(&self) -> Vec<&dyn Transform> {
        vec![self.inner.as_ref()]
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [self.inner.to_form()])
    }
    fn title(&self) -> String {
        format!("Twist by powers of {}", self.factor)
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::Plan;
    use crate::testing::{check_points, try_points};

    #[test]
    fn agrees_with_the_definition() {
        check_points(4591, 6, Some(8), "(twist (good-thomas 2 3 (butterfly) (rader 3)))");
        check_points(4591, 5, Some(4590), "(twist (rader 5))");
        check_points(12289, 8, Some(12288), "(twist (direct))");
        check_points(7681, 12, Some(7680), "(twist (cooley-tukey 3 4 (rader 3) (direct)))");
    }

    /// A negacyclic ring needs no transform of its own.
    #[test]
    fn takes_a_negacyclic_ring() {
        let plan = Plan::parse(
            "(plan p (ring \"Z12289[x]/(x^16 + 1)\") \
             (substitute 2 (twist (cooley-tukey 2 4 (butterfly) (cooley-tukey 2 2 (butterfly) \
             (butterfly)))) (weighted-convolution (toeplitz))))",
        )
        .unwrap_or_else(|e| panic!("{e}"));
        let (a, b): (Vec<i64>, Vec<i64>) = ((0..16).map(|i| i * i - 9).collect(), vec![-6144; 16]);
        assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b));
    }

    #[test]
    fn refuses_weights_without_a_root() {
        let error = try_points(4591, 2, Some(4590), "(twist (butterfly))").unwrap_err();
        assert_eq!(error.message, "4590 has no root of order 2 mod 4591");
        let error = try_points(4591, 7, Some(2), "(twist (rader 7))").unwrap_err();
        assert!(error.message.starts_with("a transform of length 7 is twisted: no principal root"));
        let error = try_points(4591, 3, None, "(twist (rader 3))").unwrap_err();
        assert!(error.message.contains("any modulus serves"), "{error}");
    }
}
