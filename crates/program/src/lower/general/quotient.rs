//! The remainder by an f of many coefficients, by two more products.

use super::super::LowerError;
use super::General;
use super::digits::Digit;
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
        (products, digits, arrays): (&[Residue], &[Digit], &[BufferId]),
        c: BufferId,
    ) -> Result<(), LowerError> {
        let (n, q, words) = (self.n, self.plan.ring.q(), self.words);
        let ring = &self.plan.ring;
        let low = ring.modulus()[..n].iter().map(|&c| zq::unsigned(c, q)).collect();
        let size = (n, self.memory);
        let mu = builder.residues("reciprocal", reciprocal(ring), size, q);
        let f = builder.residues("f", low, size, q);
        let [whole, upper] = [("whole", 2 * n), ("quotient", n)]
            .map(|(name, words)| builder.kept(name, Role::Local, words, self.memory));
        // H·x^n + L: word 2n − 1 is a zero.
        let finish = self.finish("sum_whole", Finish::of(0..2 * n, digits, words))?;
        self.call(builder, "the product modulo q", finish, whole, arrays, None);
        let title = "the upper half times the reciprocal of f";
        self.multiply(builder, products, digits, arrays, [(whole, n), (mu, 0)], title);
        let finish = self.finish("sum_quotient", Finish::of(n - 2..2 * n - 2, digits, words))?;
        self.call(builder, "the quotient by f", finish, upper, arrays, None);
        let title = "quotient times f";
        self.multiply(builder, products, digits, arrays, [(upper, 0), (f, 0)], title);
        let rest = Finish { addend: Some(2 * n), ..Finish::of(0..n, digits, words) };
        let finish = self.finish("sum_rest", rest)?;
        self.call(builder, "the remainder", finish, c, arrays, Some(whole));
        Ok(())
    }
}
