//! Few coefficients stand for all where rows are geometric, as those behind transforms are.
//!
//! **Statement.** Call a row *geometric* with stride d and ratio w if its coefficients are
//! `A_(i+d) = w·A_i` for all elements i and i + d, and with ratio ∞ if only its last d elements are not
//! zero. If every product A·B has a factor that is zero but for the constant, or both are geometric with
//! the same stride and ratio, then in every form the coefficient of i + d and j is that of i and j + d.
//!
//! *Proof.* `A_(i+d)·B_j = w·A_i·B_j = A_i·B_(j+d)`; for ∞ both ends are zero, since A_i and B_j are.
//! Sums of such products inherit it.
//!
//! So if what is asked for has the same property, it is enough to compare the pairs with i among the
//! first d elements, or j among the last d: any other one is reached from one of these by steps
//! `(i + d, j − d)`. Elements count from 1 here; 0 is the constant, all of whose pairs are compared.

use super::Side;
use super::forms::{Forms, Row};
use ringforge_ring::zq;
use rustc_hash::FxHashMap;

/// What shifting a row by d elements does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ratio {
    /// There is nothing but the constant.
    Zero,
    /// Multiplies it.
    Times(u64),
    /// Leaves nothing.
    Infinite,
}

/// The least stride of which all products are geometric, if it is at most n/4.
pub(super) fn stride(forms: &Forms, n: usize) -> Option<usize> {
    let used = [Side::Left, Side::Right].map(|side| forms.used(side));
    let mut dense = vec![0; n + 1];
    (1..=n / 4).find(|&d| {
        let mut ratios = |side: Side| -> Option<FxHashMap<u32, Ratio>> {
            let rows = used[side as usize].iter();
            let mut one = |row: u32| {
                ratio(&forms.rows[side as usize][row as usize], &mut dense, d, forms.m.into())
            };
            rows.map(|&row| Some((row, one(row)?))).collect()
        };
        let Some((left, right)) = ratios(Side::Left).zip(ratios(Side::Right)) else { return false };
        forms.products.iter().all(|(x, y)| match (left[x], right[y]) {
            (Ratio::Zero, _) | (_, Ratio::Zero) => true,
            (x, y) => x == y,
        })
    })
}

/// What shifting by d does to a row, if it is geometric.
pub(super) fn ratio(row: &Row, dense: &mut [u64], d: usize, m: u64) -> Option<Ratio> {
    dense.fill(0);
    for &(i, c) in row {
        dense[i as usize] = c.into();
    }
    let (from, to) = (&dense[1..dense.len() - d], &dense[1 + d..]);
    if dense[1..].iter().all(|&c| c == 0) {
        return Some(Ratio::Zero);
    }
    if from.iter().all(|&c| c == 0) {
        return Some(Ratio::Infinite);
    }
    let w = from.iter().zip(to).find_map(|(&x, &y)| Some(zq::inv(x, m)? * y % m))?;
    from.iter().zip(to).all(|(x, y)| x * w % m == *y).then_some(Ratio::Times(w))
}

/// The pairs of elements to compare, as products of two sets.
pub(super) fn pairs(stride: Option<usize>, len: [usize; 2]) -> Vec<(Vec<u32>, Vec<u32>)> {
    let all = |x: usize| (0..x as u32).collect::<Vec<u32>>();
    let Some(d) = stride else { return vec![(all(len[0]), all(len[1]))] };
    let n = len[0] - 1;
    let last = std::iter::once(0).chain((n - d + 1) as u32..=n as u32).collect();
    vec![(all(d + 1), all(n + 1)), ((d as u32 + 1..=n as u32).collect(), last)]
}

/// The pairs whose coefficient is that of i and j, which was compared: itself, and those that it stands
/// for.
pub(super) fn equal(
    stride: Option<usize>,
    n: usize,
    i: usize,
    j: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let steps = match stride {
        Some(d) if i > 0 && j > 0 => ((n - i) / d).min((j - 1) / d),
        _ => 0,
    };
    (0..=steps).map(move |s| (i + s * stride.unwrap_or(0), j - s * stride.unwrap_or(0)))
}
