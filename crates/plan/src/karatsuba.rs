//! A Toeplitz product of even size as three of half the size [Chiu25 §2.5].
//!
//! C_0 = (A_{−1} − A_0)·B_1 + A_0·(B_0 + B_1), C_1 = A_0·(B_0 + B_1) + (A_1 − A_0)·B_0 for the
//! matrix with rows (A_0, A_{−1}), (A_1, A_0). Scale 1, no condition on the ring.

use crate::base::{Base, BaseRef, BaseSpec, Shape};
use crate::error::Refusal;
use crate::network::Cost;
use crate::registry::{Arguments, Build, Method};
use crate::sexpr::Form;
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
    if spec.size % 2 != 0 {
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
