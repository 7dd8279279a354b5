//! The schedule as a plan's small products ask for it.

use super::small::is_direct;
use super::two::REGISTERS;
use crate::schedule::{BaseProducts, Limits, Schedule};
use ringforge_plan::WeightedConvolution;
use ringforge_target::Registers;
use std::borrow::Cow;

/// Dot products of broadcast pairs multiply by the definition, which is what `(toeplitz)` says. Where a part has
/// another method, products go one in a lane, in the methods that the plan has for them and in no other.
pub(super) fn suited<'s, 'p>(
    schedule: &'s Schedule,
    parts: impl IntoIterator<Item = &'p WeightedConvolution>,
) -> Cow<'s, Schedule> {
    match parts.into_iter().all(is_direct) {
        true => Cow::Borrowed(schedule),
        false => by_lanes(schedule),
    }
}

/// The schedule where products go one in a lane.
pub(super) fn by_lanes(schedule: &Schedule) -> Cow<'_, Schedule> {
    if schedule.base == BaseProducts::Lanes {
        return Cow::Borrowed(schedule);
    }
    // Words of 16 bits hold products of smaller factors than sums of 32 bits do.
    let forward = match schedule.wide_sums {
        true => schedule.limits.forward,
        false => schedule.limits.forward.min(Schedule::portable().limits.forward),
    };
    Cow::Owned(Schedule {
        base: BaseProducts::Lanes,
        karatsuba_from: 0,
        limits: Limits { forward, ..schedule.limits },
        ..schedule.clone()
    })
}

/// Whether a machine that has dot products transposes for products in lanes: by shuffles, which such machines
/// have. Strided stores are for compilers of portable C.
pub(super) fn interleaves(given: &Schedule, suited: &Schedule, registers: Registers) -> bool {
    given.base != suited.base && registers == REGISTERS
}
