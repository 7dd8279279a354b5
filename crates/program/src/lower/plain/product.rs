//! Coefficients from one to another of an unreduced product, as sums of all their products.

use super::*;
use crate::build::zeros;
use crate::lower::sums::{Coefficients, FEWEST, TERMS};
use ringforge_targets::ALIGNMENT;
use std::ops::Range;

/// Words of a in a row, where sums have 32 bits.
const TOGETHER: usize = 4;

impl Writing<'_> {
    /// The procedure (t, a, b) with coefficients `wanted` of a·b in t at their places.
    pub(super) fn product(
        &mut self,
        name: &str,
        ranges: [(i64, i64); 2],
        wanted: Range<usize>,
    ) -> ProcedureId {
        let mut builder = Builder::new(name, None, self.modulus(self.sums));
        let total = builder.buffer("t", Role::Scratch, self.words, ALIGNMENT);
        let operands = builder.operands((self.n, self.memory), ranges);
        let (n, memory, bits, lanes) = (self.n, self.memory, self.sums, REGISTERS.lanes(self.sums));
        let body = zeros(&mut builder, (total, 0), self.words, lanes).into_iter().collect();
        let sums = Coefficients { n, memory, bits, lanes, total, operands, wanted };
        if bits == DOT_BITS && memory == SHORT {
            let parts = (n / TERMS).max(1);
            let terms = n.div_ceil(parts).next_multiple_of(lanes).max(FEWEST);
            sums.dots(&mut builder, body, (n.div_ceil(terms), terms));
        } else {
            sums.rows(&mut builder, body, TOGETHER);
        }
        builder.finish_behind(&mut self.written.procedures)
    }
}
