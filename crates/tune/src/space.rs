//! What the two searches share: weights, statistics, the reductions worth trying.

use crate::arith::{Interval, Ranges, Reduction, within};

/// More than any placement costs.
pub(crate) const INFEASIBLE: u64 = 1 << 40;

/// What a reduction costs.
pub(crate) type Weights = Vec<(Reduction, u64)>;

/// What a search did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stats {
    /// Subproblems solved.
    pub(crate) states: u64,
    /// Choices tried.
    pub(crate) choices: u64,
    /// Refused, since a word might overflow.
    pub(crate) overflow: u64,
    /// Dropped, because another costs no more and leaves an interval inside theirs.
    pub(crate) dominated: u64,
    /// Settled by bounds, without search.
    pub(crate) bounded: u64,
}

/// The reductions of an interval that no other dominates, each with its image and weight, and how
/// many were dropped.
pub(crate) fn useful(
    ranges: &mut Ranges,
    weights: &Weights,
    x: Interval,
) -> (Vec<(Reduction, Interval, u64)>, u64) {
    let mut kept: Vec<(Reduction, Interval, u64)> = Vec::new();
    let mut dropped = 0;
    for &(kind, weight) in weights {
        let image = ranges.reduce(kind, x);
        let useless = within(x, image)
            || kept.iter().any(|&(_, other, w)| w <= weight && within(other, image));
        if useless {
            dropped += 1;
            continue;
        }
        let before = kept.len();
        kept.retain(|&(_, other, w)| !(weight <= w && within(image, other)));
        dropped += (before - kept.len()) as u64;
        kept.push((kind, image, weight));
    }
    (kept, dropped)
}
