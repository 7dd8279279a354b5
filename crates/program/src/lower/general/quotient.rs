//! The remainder by an f of many coefficients, by two more products.

use super::super::LowerError;
use super::General;
use super::finish::Finish;
use super::residue::Residue;
use crate::build::Builder;
use crate::ir::*;
use ringforge_ring::{Ring, zq};

/// μ = ⌊x^(2n−2)/f⌋, n − 1 coefficients in `[0, q)`.
pub(in crate::lower) fn reciprocal(ring: &Ring) -> Vec<u64> {
    let (n, q) = (ring.degree(), ring.q());
    let f: Vec<u64> = ring.modulus().iter().map(|&c| zq::unsigned(c, q)).collect();
    let mut rest = vec![0; 2 * n - 1];
    rest[2 * n - 2] = 1;
    let mut quotient = vec![0; n - 1];
    for k in (0..n - 1).rev() {
        let top = rest[k + n];
        quotient[k] = top;
        if top != 0 {
            for (r, &c) in rest[k..=k + n].iter_mut().zip(&f) {
                *r = zq::sub(*r, zq::mul(top, c, q), q);
            }
        }
    }
    quotient
}

impl General<'_> {
    /// Appends the remainder of the product whose digits are in the arrays.
    pub(super) fn quotient(
        &mut self,
        builder: &mut Builder,
        product: (&[Residue], &[BufferId]),
        c: BufferId,
    ) -> Result<(), LowerError> {
        let (n, q) = (self.n, self.plan.ring.q());
        let ring = &self.plan.ring;
        let low = ring.modulus()[..n].iter().map(|&c| zq::unsigned(c, q)).collect();
        let size = (n, self.memory);
        let mu = builder.residues("reciprocal", reciprocal(ring), size, q);
        let f = builder.residues("f", low, size, q);
        let [whole, upper] = [("whole", 2 * n), ("quotient", n)]
            .map(|(name, words)| builder.kept(name, Role::Local, words, self.memory));
        // H·x^n + L: word 2n − 1 is a zero.
        let name = ("sum_whole", "the product modulo q");
        self.finish(builder, name, Finish::of(0..2 * n, product), whole)?;
        let title = "the upper half times the reciprocal of f";
        self.multiply(builder, product, [(whole, n), (mu, 0)], title);
        let name = ("sum_quotient", "the quotient by f");
        self.finish(builder, name, Finish::of(n - 2..2 * n - 2, product), upper)?;
        self.multiply(builder, product, [(upper, 0), (f, 0)], "quotient times f");
        let rest = Finish { addend: Some((whole, 2 * n)), ..Finish::of(0..n, product) };
        self.finish(builder, ("sum_rest", "the remainder"), rest, c)
    }
}
