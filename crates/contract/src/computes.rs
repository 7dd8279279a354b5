//! What a function is said to compute, beside the ring: kinds and the layout of transforms.

use ringforge_ring::{Ring, zq};

/// What the outputs should be, everything modulo q. T is the map of the contract's [`Transform`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Computes {
    /// c = a·b in the ring.
    Product,
    /// c = scale·T(a).
    Forward {
        /// Residue in `[1, q)`.
        scale: u64,
    },
    /// c = scale·T⁻¹(a).
    Inverse {
        /// Residue in `[1, q)`.
        scale: u64,
    },
    /// c = scale·(a ∘ b), leaf by leaf.
    BaseProduct {
        /// Residue in `[1, q)`.
        scale: u64,
    },
    /// c at exit = c at entry + scale·(a ∘ b).
    Accumulate {
        /// Residue in `[1, q)`.
        scale: u64,
    },
    /// c\[order\[p\]\] = a\[p\].
    ToStandard,
    /// c\[p\] = a\[order\[p\]\].
    FromStandard,
    /// c = scale·a, element by element: a conversion to another domain, or a reduction.
    Scale {
        /// Residue in `[1, q)`.
        scale: u64,
    },
}

impl Computes {
    /// The kinds of contracts without a ring.
    pub(crate) const WITHOUT_RING: [&'static str; 3] = ["map", "equal", "sort"];

    /// The names of all kinds, as contracts spell them.
    pub const NAMES: [&'static str; 8] = [
        "product",
        "forward",
        "inverse",
        "base-product",
        "accumulate",
        "to-standard",
        "from-standard",
        "scale",
    ];

    /// The kind of that name with the given scale (of no meaning to a product and to reorderings).
    pub fn named(name: &str, scale: u64) -> Option<Computes> {
        Some(match name {
            "product" => Computes::Product,
            "forward" => Computes::Forward { scale },
            "inverse" => Computes::Inverse { scale },
            "base-product" => Computes::BaseProduct { scale },
            "accumulate" => Computes::Accumulate { scale },
            "to-standard" => Computes::ToStandard,
            "from-standard" => Computes::FromStandard,
            "scale" => Computes::Scale { scale },
            _ => return None,
        })
    }

    /// The name as contracts spell it.
    pub fn name(self) -> &'static str {
        Computes::NAMES[match self {
            Computes::Product => 0,
            Computes::Forward { .. } => 1,
            Computes::Inverse { .. } => 2,
            Computes::BaseProduct { .. } => 3,
            Computes::Accumulate { .. } => 4,
            Computes::ToStandard => 5,
            Computes::FromStandard => 6,
            Computes::Scale { .. } => 7,
        }]
    }

    /// The scale, where the kind has one.
    pub fn scale(self) -> Option<u64> {
        match self {
            Computes::Forward { scale }
            | Computes::Inverse { scale }
            | Computes::BaseProduct { scale }
            | Computes::Accumulate { scale }
            | Computes::Scale { scale } => Some(scale),
            Computes::Product | Computes::ToStandard | Computes::FromStandard => None,
        }
    }

    /// Operands beside what is accumulated.
    pub fn inputs(self) -> usize {
        match self {
            Computes::Product | Computes::BaseProduct { .. } | Computes::Accumulate { .. } => 2,
            _ => 1,
        }
    }

    /// Whether operands or result are transformed: then the contract says how.
    pub fn transforms(self) -> bool {
        !matches!(self, Computes::Product | Computes::Scale { .. })
    }

    /// Whether the result is added to what the output argument holds.
    pub fn accumulates(self) -> bool {
        matches!(self, Computes::Accumulate { .. })
    }
}

/// The map T: a ↦ its remainders by x^d − w_i (the *leaves*), where ∏ (x^d − w_i) = f, laid out in
/// an array of n.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transform {
    /// d, a divisor of n.
    pub degree: usize,
    /// w_i in `[0, q)`, all different.
    pub weights: Vec<u64>,
    /// Position p of the array holds coefficient `order[p] % d` of the remainder number
    /// `order[p] / d`; a permutation of `0..n`.
    pub order: Vec<usize>,
}

impl Transform {
    /// Checks that the leaves make f.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self, ring: &Ring) -> Result<(), String> {
        let (n, q, d) = (ring.degree(), ring.q(), self.degree);
        let mut sorted = self.weights.clone();
        sorted.sort_unstable();
        if let Some(w) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return Err(format!("the weight {} stands there twice: T would have no inverse", w[0]));
        }
        let product = self.product(q);
        for k in 0..n {
            let is = if k % d == 0 { product[k / d] } else { 0 };
            let should = zq::unsigned(ring.modulus()[k], q);
            if is != should {
                let factor = if d == 1 { "x".to_string() } else { format!("x^{d}") };
                return Err(format!(
                    "the product of all {factor} - w is not the ring's f: its coefficient of x^{k} is {is}, that of f is {should} modulo {q}"
                ));
            }
        }
        Ok(())
    }

    /// ∏ (y − w_i) modulo q, which is below 2^31, ascending coefficients.
    fn product(&self, q: u64) -> Vec<u64> {
        let mut product = vec![1u64];
        for &w in &self.weights {
            // (y − w)·P
            let mut next = vec![0u64; product.len() + 1];
            for (i, &c) in product.iter().enumerate() {
                next[i + 1] += c;
                next[i] += (q - w) * c;
            }
            next.iter_mut().for_each(|c| *c %= q);
            product = next;
        }
        product
    }

    /// Where coefficient r of leaf l stands: `position[l·d + r]`.
    pub fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.order.len()];
        for (p, &o) in self.order.iter().enumerate() {
            positions[o] = p;
        }
        positions
    }

    /// The interpolation of the weights. Row j holds the m coefficients, in ascending order, of the polynomial of
    /// degree below m that is 1 at w_j and 0 at the other weights.
    ///
    /// [`None`] if two weights are congruent or q is not prime.
    pub fn lagrange(&self, q: u64) -> Option<Vec<Vec<u64>>> {
        let product = self.product(q);
        let m = self.weights.len();
        self.weights
            .iter()
            .map(|&w| {
                // P/(y − w) by synthetic division, then its value at w.
                let mut row = vec![0u64; m];
                let mut carry = 0;
                for k in (0..m).rev() {
                    carry = (product[k + 1] + carry * w) % q;
                    row[k] = carry;
                }
                let value = row.iter().rev().fold(0, |v, &c| (v * w + c) % q);
                let inverse = zq::inv(value, q)?;
                row.iter_mut().for_each(|c| *c = *c * inverse % q);
                Some(row)
            })
            .collect()
    }
}
