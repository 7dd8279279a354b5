//! Nussbaumer's negacyclic products: x^{nm} + 1 with y = x^n, over R = Z_q\[y\]/(y^m + 1), whose unit y
//! has order 2m [Nussbaumer80] [Hwang24 §3.6].
//!
//! Map: n polynomials in y, which are the coefficients of a polynomial in x of degree below n. The
//! product of two such polynomials has degree below 2n − 1, so nothing is lost mod x^{2n} − 1. A
//! transform of length 2n uses the root y^{m/n} of R, so its multiplications are rotations with
//! signs. Then 2n products mod y^m + 1 follow. Inverse: the inverse transform, and x^n = y. The
//! factor 1/(2n) is folded in, so the scale is 1. Condition: the weight is −1, n is a power of two
//! that divides m, 2 is invertible.

use crate::base::{Base, BaseRef, BaseSpec, Shape, SmallModulus};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::sexpr::Form;
use crate::split::{Chunks, Part, Split};
use crate::stages::Inside;
use crate::tree::TreeNode;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "nussbaumer",
    usage: "(nussbaumer N SMALL)",
    summary: "A product mod x^(NM) + 1, N a power of two that divides M, as 2N products mod y^M + 1, \
              without a root of unity in Z_q.",
    citation: "[Hwang24 §3.6]",
    build: Build::Base(build),
};

/// Nussbaumer's split.
#[derive(Clone, Debug)]
pub struct Nussbaumer {
    q: u64,
    /// n, how many polynomials in y.
    pub count: usize,
    /// m, the degree of y^m + 1.
    pub degree: usize,
    /// The products mod y^m + 1.
    pub inner: BaseRef,
}

fn build(arguments: &mut Arguments, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
    let n = arguments.number("the number N of polynomials")?;
    let at = arguments.last_at();
    let (q, size) = (spec.q, spec.size);
    let negacyclic =
        matches!(&spec.shape, Shape::Weighted(weights) if weights.iter().all(|&w| w == q - 1));
    if !negacyclic {
        let message = format!("nussbaumer is for products mod x^{size} + 1 only");
        return Err(arguments.refuse(message).instead("(toeplitz) or (karatsuba …)"));
    }
    if !n.is_power_of_two() || n < 2 || !size.is_multiple_of(n * n) {
        let message = format!("N = {n} is no power of two whose square divides {size}");
        let fit: Vec<String> = (1..10)
            .map(|e| 1 << e)
            .filter(|n: &usize| size.is_multiple_of(n * n))
            .map(|n| n.to_string())
            .collect();
        let hint =
            if fit.is_empty() { "(toeplitz)".into() } else { format!("N = {}", fit.join(", ")) };
        return Err(Refusal::new(at, message).instead(hint));
    }
    if zq::inv(2, q).is_none() {
        return Err(arguments.refuse(format!("nussbaumer divides by 2N: q = {q} must be odd")));
    }
    let degree = size / n;
    let inner = BaseSpec { q, size: degree, shape: Shape::Weighted(vec![q - 1; 2 * n]) };
    Ok(Arc::new(Nussbaumer { q, count: n, degree, inner: arguments.base(&inner)? }))
}

/// Σ_i y^{e·ij}·f_i for every j, y^{e·len} = 1 and y^{e·len/2} = −1; `None` is zero. By halves, outputs
/// in natural order.
fn transform(map: &mut Chunks, f: &[Option<usize>], e: usize) -> Vec<Option<usize>> {
    let h = f.len() / 2;
    if h == 0 {
        return f.to_vec();
    }
    let (mut sums, mut differences) = (Vec::new(), Vec::new());
    for i in 0..h {
        let (sum, difference) = match (f[i], f[i + h]) {
            (Some(a), Some(b)) => (Some(map.add(a, b)), Some(map.sub(a, b))),
            (a, None) => (a, a),
            // −b: half the order further.
            (None, Some(b)) => (Some(b), Some(map.rotate(b, e * h))),
        };
        sums.push(sum);
        differences.push(match (difference, i) {
            (Some(v), i) if i > 0 => Some(map.rotate(v, e * i)),
            (other, _) => other,
        });
    }
    let (even, odd) = (transform(map, &sums, 2 * e), transform(map, &differences, 2 * e));
    even.into_iter().zip(odd).flat_map(|(a, b)| [a, b]).collect()
}

impl Base for Nussbaumer {
    fn name(&self) -> &'static str {
        METHOD.name
    }
    fn q(&self) -> u64 {
        self.q
    }
    fn size(&self) -> usize {
        self.count * self.degree
    }

    fn split(&self, modulus: SmallModulus) -> Option<Split> {
        let (q, n, m) = (self.q, self.count, self.degree);
        let minus = SmallModulus::Binomial(q - 1);
        if modulus != minus {
            return None;
        }
        let mut there = Chunks::new(n);
        let padded: Vec<Option<usize>> = (0..2 * n).map(|i| (i < n).then_some(i)).collect();
        let values = transform(&mut there, &padded, m / n);
        let part = |v: usize| Part { values: vec![v], modulus: minus, method: self.inner.clone() };
        let parts: Vec<Part> = values.into_iter().flatten().map(part).collect();

        let mut back = Chunks::new(2 * n);
        let all: Vec<Option<usize>> = (0..2 * n).map(Some).collect();
        // y^{−m/n} = y^{2m − m/n}.
        let c = transform(&mut back, &all, 2 * m - m / n);
        let inverse = zq::inv(2 * n as u64, q)?;
        let mut output = Vec::new();
        for i in 0..n {
            // The product has degree 2n − 2 at most, so its coefficient 2n − 1 is zero.
            let low = c[i]?;
            let sum = match c[i + n].filter(|_| i + 1 < n) {
                Some(high) => {
                    let high = back.rotate(high, 1);
                    back.add(low, high)
                }
                None => low,
            };
            output.push(back.scale(sum, inverse));
        }
        let chunks = (0..n).map(|i| (i..n * m).step_by(n).collect()).collect();
        Some(Split {
            name: "Nussbaumer",
            chunks,
            forward: there.finish(),
            parts,
            inverse: back.finish(),
            output,
        })
    }

    fn inside(&self) -> Inside<'_> {
        Inside::Split
    }
    fn cost(&self) -> Cost {
        let split = self.split(SmallModulus::Binomial(self.q - 1));
        split.map(|split| split.cost()).unwrap_or_default()
    }
    fn tree(&self) -> TreeNode {
        let title = format!("Nussbaumer {} = {} × {}", self.size(), 2 * self.count, self.degree);
        TreeNode::of_base(title, self, &[self.inner.as_ref()], METHOD.citation)
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [Form::word(self.count), self.inner.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use crate::base::Shape;
    use crate::testing::{check_base, try_base};

    /// x^32 + 1: 8 products mod y^8 + 1 [Hwang24 §4.3].
    #[test]
    fn agrees_with_the_definition() {
        let base = check_base(4591, 32, &[4590], "(nussbaumer 4 (toeplitz))");
        assert_eq!(base.cost().products, 8 * 64);
        check_base(4591, 8, &[4590], "(nussbaumer 2 (toeplitz))");
        check_base(4591, 64, &[4590], "(nussbaumer 4 (nussbaumer 2 (karatsuba (toeplitz))))");
        check_base(2047, 16, &[2046], "(nussbaumer 4 (toeplitz))");
        check_base(4591, 12, &[4590], "(nussbaumer 2 (toeplitz))");
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let message = |q: u64, size, weight, n: usize| {
            let text = format!("(nussbaumer {n} (toeplitz))");
            try_base(q, size, Shape::Weighted(vec![weight]), &text).unwrap_err().message
        };
        assert_eq!(message(4591, 32, 4590, 8), "N = 8 is no power of two whose square divides 32");
        assert_eq!(message(4591, 32, 1, 4), "nussbaumer is for products mod x^32 + 1 only");
        assert_eq!(message(2048, 32, 2047, 4), "nussbaumer divides by 2N: q = 2048 must be odd");
    }
}
