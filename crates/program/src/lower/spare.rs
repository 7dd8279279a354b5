//! Constants of maps back that the last scale absorbs. If every path through a map multiplies once,
//! all of its constants may be multiplied by one factor, so that some of them become 1.

use super::small::Small;
use super::{LowerError, Lowering};
use crate::schedule::BaseProducts;
use ringforge_plan::{ChunkOp, SmallModulus, Split, Unit, WeightedConvolution};
use ringforge_ring::zq;

/// What the map back is multiplied with so that its first constant is 1; nothing where not every path has one constant.
fn spared(split: &Split, q: u64) -> Option<Unit> {
    let inputs: usize = split.parts.iter().map(|part| part.values.len()).sum();
    let mut passed = vec![0; inputs];
    for op in &split.inverse {
        passed.push(match *op {
            ChunkOp::Add(a, b) | ChunkOp::Sub(a, b) if passed[a] == passed[b] => passed[a],
            ChunkOp::Add(..) | ChunkOp::Sub(..) => return None,
            ChunkOp::Scale(a, _) => passed[a] + 1,
            ChunkOp::Rotate(a, _) => passed[a],
        });
    }
    let once = split.output.iter().all(|&v| passed[v] == 1);
    let first = split.inverse.iter().find_map(|op| match op {
        ChunkOp::Scale(_, c) => Unit::new(*c, q),
        _ => None,
    });
    first.filter(|_| once).map(Unit::inverted)
}

/// The split with its map back so multiplied.
pub(super) fn spare(mut split: Split, q: u64) -> Split {
    let Some(factor) = spared(&split, q) else { return split };
    for op in &mut split.inverse {
        if let ChunkOp::Scale(_, c) = op {
            *c = zq::mul(*c, factor.value(), q);
        }
    }
    split
}

/// What all the maps back of a small product are multiplied with; nothing where its parts differ.
fn spared_by(small: &Small, modulus: SmallModulus, q: u64) -> Option<Unit> {
    let Small::Split(of) = small else { return Some(Unit::one(q)) };
    let split = of.node.split(modulus)?;
    let own = spared(&split, q).unwrap_or(Unit::one(q));
    let inner = of.parts.iter().zip(&split.parts);
    let inner: Option<Vec<Unit>> =
        inner.map(|(small, part)| spared_by(small, part.modulus, q)).collect();
    alike(inner?).map(|inner| own.times(inner))
}

/// What all of some are.
fn alike(all: Vec<Unit>) -> Option<Unit> {
    let first = *all.first()?;
    all.iter().all(|unit| *unit == first).then_some(first)
}

impl Lowering<'_> {
    /// What products of blocks leave beside what sums do, where the schedule has wide sums: their maps back are spared
    /// constants. One where they leave nothing, or not all the same.
    pub(super) fn spared(&self, convolution: &WeightedConvolution) -> Result<Unit, LowerError> {
        let q = self.q;
        if self.schedule.base() != BaseProducts::Lanes || !self.schedule.wide_sums() {
            return Ok(Unit::one(q));
        }
        let mut all = Vec::new();
        for &weight in &convolution.weights {
            let modulus = SmallModulus::Binomial(weight);
            let small = Small::of(&convolution.base, Some(modulus))?;
            match spared_by(&small, modulus, q) {
                Some(unit) => all.push(unit),
                None => return Ok(Unit::one(q)),
            }
        }
        Ok(alike(all).unwrap_or(Unit::one(q)))
    }

    /// What the products of blocks are multiplied with.
    pub(super) fn products_scale(
        &self,
        convolution: &WeightedConvolution,
    ) -> Result<Unit, LowerError> {
        Ok(self.product_scale()?.times(self.spared(convolution)?))
    }
}
