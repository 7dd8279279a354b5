//! The schedule as a plan's small products ask for it.

use super::small::is_direct;
use super::transpose::Square;
use crate::schedule::{BaseProducts, Schedule};
use crate::settle::{Choices, Refused};
use ringforge_plan::WeightedConvolution;

/// Dot products of broadcast pairs are schoolbook products, which is what `(toeplitz)` says. If a
/// part has another method, products go one in a lane. They use the methods that the plan has for
/// them and no other.
pub(super) fn suited<'p>(
    schedule: &Choices,
    parts: impl IntoIterator<Item = &'p WeightedConvolution>,
) -> Choices {
    match parts.into_iter().all(is_direct) {
        true => schedule.clone(),
        false => by_lanes(schedule),
    }
}

/// The schedule where products go one in a lane.
pub(super) fn by_lanes(schedule: &Choices) -> Choices {
    if schedule.base() == BaseProducts::Lanes {
        return schedule.clone();
    }
    let lanes = schedule.with(|values| values.base = BaseProducts::Lanes);
    lanes.usual(|values| {
        values.karatsuba_from = 0;
        // Words of 16 bits hold products of smaller factors than sums of 32 bits do.
        if !values.wide_sums {
            let limit = &mut values.limits.forward;
            *limit = (*limit).min(Schedule::portable().limits.forward);
        }
    })
}

/// The schedule with its way to transpose products in lanes. A machine that has dot products uses
/// shuffles if the plan requires lanes. Strided stores are for compilers of portable C.
///
/// # Errors
/// A user wants shuffles of other units than there are.
pub(super) fn transposing(
    given: &Choices,
    suited: &Choices,
    square: Square,
) -> Result<Choices, Refused> {
    let own = suited.values();
    if own.base != BaseProducts::Lanes {
        return Ok(suited.clone());
    }
    if own.interleave == Some(true) && !square.serves() {
        return Err(Refused::other("interleave", "true", "false"));
    }
    let shuffles = given.values().base != own.base && square.serves();
    Ok(suited.usual(|values| values.interleave = Some(shuffles)))
}
