//! A Toeplitz product of even size as three of half the size [Karatsuba63] [Chiu25 §2.5].
//!
//! C_0 = (A_{−1} − A_0)·B_1 + A_0·(B_0 + B_1), C_1 = A_0·(B_0 + B_1) + (A_1 − A_0)·B_0 for the
//! matrix with rows (A_0, A_{−1}), (A_1, A_0). Scale 1, no condition on the ring.

use crate::base::{Base, BaseRef, BaseSpec, Shape};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::sexpr::Form;
use crate::stages::Inside;
use crate::tree::TreeNode;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "karatsuba",
    usage: "(karatsuba SMALL)",
    summary: "A weighted convolution or Toeplitz product of even size as three Toeplitz products of \
              half the size.",
    citation: "[Chiu25 §2.5]",
    build: Build::Base(build),
};

/// Toeplitz Karatsuba, one level.
#[derive(Clone, Debug)]
pub struct Karatsuba {
    q: u64,
    size: usize,
    /// The product of half the size.
    pub inner: BaseRef,
}

fn build(arguments: &mut Arguments, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
    spec.no_trinomials(arguments)?;
    if !spec.size.is_multiple_of(2) {
        return Err(arguments
            .refuse(format!("karatsuba halves, but the size {} is odd", spec.size))
            .instead("(toeplitz), or blocks of even width"));
    }
    let half = BaseSpec { q: spec.q, size: spec.size / 2, shape: Shape::Toeplitz };
    Ok(Arc::new(Karatsuba { q: spec.q, size: spec.size, inner: arguments.base(&half)? }))
}

fn each(a: &[u64], b: &[u64], q: u64, f: impl Fn(u64, u64, u64) -> u64) -> Vec<u64> {
    a.iter().zip(b).map(|(&x, &y)| f(x, y, q)).collect()
}

impl Base for Karatsuba {
    fn name(&self) -> &'static str {
        METHOD.name
    }
    fn q(&self) -> u64 {
        self.q
    }
    fn size(&self) -> usize {
        self.size
    }

    fn toeplitz(&self, t: &[u64], v: &[u64]) -> Vec<u64> {
        let (q, m) = (self.q, self.size / 2);
        let (upper, middle, lower) = (&t[..2 * m - 1], &t[m..3 * m - 1], &t[2 * m..]);
        let (b0, b1) = v.split_at(m);
        let shared = self.inner.toeplitz(middle, &each(b0, b1, q, zq::add));
        let c0 = self.inner.toeplitz(&each(upper, middle, q, zq::sub), b1);
        let c1 = self.inner.toeplitz(&each(lower, middle, q, zq::sub), b0);
        let mut c = each(&c0, &shared, q, zq::add);
        c.extend(each(&c1, &shared, q, zq::add));
        c
    }

    fn inside(&self) -> Inside<'_> {
        Inside::Karatsuba(&self.inner)
    }
    fn cost(&self) -> Cost {
        let m = self.size as u64 / 2;
        // B_0 + B_1, the two differences of 2m − 1 diagonals, and the sums at the end.
        self.inner.cost().times(3) + Cost { adds: m + 2 * (2 * m - 1) + 2 * m, ..Cost::default() }
    }
    fn tree(&self) -> TreeNode {
        let title = format!("Toeplitz Karatsuba {} = 3 × {}", self.size, self.size / 2);
        TreeNode::of_base(title, self, &[self.inner.as_ref()], METHOD.citation)
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [self.inner.to_form()])
    }
}

#[cfg(test)]
mod tests {
    use crate::base::Shape;
    use crate::testing::{check_base, try_base};

    #[test]
    fn agrees_with_the_definition() {
        for size in [2, 6, 8, 16] {
            check_base(4591, size, &[1, 4590, 3862], "(karatsuba (toeplitz))");
            check_base(2048, size, &[1, 3], "(karatsuba (toeplitz))");
        }
        let base = check_base(4591, 16, &[3862], "(karatsuba (karatsuba (toeplitz)))");
        assert_eq!(base.cost().products, 9 * 16);
    }

    #[test]
    fn refuses_odd_sizes() {
        let error = try_base(4591, 9, Shape::Toeplitz, "(karatsuba (toeplitz))").unwrap_err();
        assert_eq!(error.message, "karatsuba halves, but the size 9 is odd");
        let error =
            try_base(4591, 4, Shape::Toeplitz, "(karatsuba (two-ntt (toeplitz)))").unwrap_err();
        assert_eq!(
            (error.col, error.message.as_str()),
            (12, "two-ntt splits weighted convolutions; here general Toeplitz products are needed")
        );
    }
}
