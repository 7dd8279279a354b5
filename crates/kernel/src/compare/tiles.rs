//! All coefficients of forms, tile by tile: a tile is a few left elements times a few right ones.
//!
//! On a tile a row is a short vector, and a sum a small matrix. What is zero there is left out: first what is zero at
//! the left elements, then what is zero at the right ones too. The grouping of elements decides how much that is. Every
//! pair is in one tile, whatever the grouping.

use super::asked::Asked;
use super::forms::{Forms, Part, Sums};
use super::{Entry, Layout, Mismatch, Side};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Left elements of a tile at most.
const HEIGHT: usize = 16;
/// Pairs of a tile at most.
const AREA: usize = 256;
/// Elements whose numbers are equal modulo this are grouped: rows of transforms, and of splits in halves and thirds,
/// are zero at the most of such groups.
const CLASSES: u32 = 48;

/// Some elements of one side, with the rows at them; [`None`] where a row is zero at all of them.
struct Group {
    elements: Vec<u32>,
    rows: Vec<Option<Box<[u32]>>>,
}

/// Compares all coefficients of `forms` with what is asked for: the entries that differ, if they are at most `most`; without that,
/// the first one.
///
/// # Errors
/// Too many of them, a quotient of what is no multiple, or that `tick` returns false.
pub(super) fn differences(
    forms: &Forms,
    layout: &Layout,
    asked: &Asked,
    most: Option<usize>,
    tick: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Vec<Entry>, Mismatch> {
    let arithmetic = Arithmetic::new(forms.modulus);
    let lefts = groups(forms, Side::Left, forms.len[0], HEIGHT);
    let height = lefts.iter().map(|g| g.elements.len()).max().unwrap_or(1);
    let rights = groups(forms, Side::Right, forms.len[1], AREA / height);
    let (done, count) = (AtomicUsize::new(0), lefts.len() * rights.len());
    // Bits that are known of a form with an integer of which nothing is; of others nothing else counts.
    let known = |d: &Entry| {
        let out = !layout.has(d.i, d.j);
        (!out, d.k, if out { d.c.trailing_zeros() as u8 } else { 0 })
    };
    // The first of those that are found tells: the same one however the work is shared out.
    let kept = |mut all: Vec<Entry>| match most {
        None => Ok(all.into_iter().min_by_key(|d| (known(d), *d)).into_iter().collect()),
        Some(most) if all.len() > most => Err(Mismatch::TooLarge),
        Some(_) => {
            all.shrink_to_fit();
            Ok(all)
        }
    };
    let parts: Result<Vec<Vec<Entry>>, Mismatch> = lefts
        .par_iter()
        .map(|left| {
            let (mut out, mut values) = (Vec::new(), Vec::new());
            let some = forms.sums.live(|x, _| left.rows[x as usize].is_some());
            for right in &rights {
                let live = some.live(|_, y| right.rows[y as usize].is_some());
                evaluate(&live, arithmetic, left, right, &mut values)
                    .map_err(|(value, bits)| Mismatch::NotMultiple { value, bits })?;
                check(&live, &values, forms.m, asked, layout, (left, right), &mut out);
                out = kept(out)?;
                let d = done.fetch_add(1, Ordering::Relaxed);
                if d.is_multiple_of(16) && !tick(d as f64 / count as f64) {
                    return Err(Mismatch::Cancelled);
                }
            }
            Ok(out)
        })
        .collect();
    let all = kept(parts?.into_iter().flatten().collect())?;
    match all.iter().map(known).min() {
        Some((false, k, known)) => {
            let wanted = forms.m.trailing_zeros() as u8;
            Err(Mismatch::Bits { k: k as usize, known, wanted })
        }
        _ => Ok(all),
    }
}

/// The residue classes of `count` elements, in groups of at most `most`.
fn groups(forms: &Forms, side: Side, count: usize, most: usize) -> Vec<Group> {
    let rows = &forms.rows[side as usize];
    let classes = (0..CLASSES).map(|c| (c..count as u32).step_by(CLASSES as usize));
    let lists = classes.flat_map(|c| {
        let class: Vec<u32> = c.collect();
        let groups = class.len().div_ceil(most).max(1);
        class.chunks(class.len().div_ceil(groups).max(1)).map(<[u32]>::to_vec).collect::<Vec<_>>()
    });
    let empty = |elements| Group { elements, rows: vec![None; rows.len()] };
    let mut groups: Vec<Group> = lists.map(empty).collect();
    let mut places = vec![(0, 0); count];
    for (g, group) in groups.iter().enumerate() {
        group.elements.iter().enumerate().for_each(|(at, &x)| places[x as usize] = (g, at));
    }
    let used = forms.products.iter().map(|p| if side == Side::Left { p.0 } else { p.1 });
    for row in used.collect::<FxHashSet<u32>>() {
        for &(x, c) in &rows[row as usize] {
            let (group, at) = places[x as usize];
            let Group { elements, rows } = &mut groups[group];
            let zero = || vec![0; elements.len()].into();
            rows[row as usize].get_or_insert_with(zero)[at] = c;
        }
    }
    groups
}

/// Evaluates all sums on a tile: their matrices row by row, one after the other.
///
/// # Errors
/// The number of a value that is a quotient of what is no multiple, and the power.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn evaluate(
    live: &Sums,
    arithmetic: Arithmetic,
    left: &Group,
    right: &Group,
    out: &mut Vec<u32>,
) -> Result<(), (u32, u8)> {
    let width = right.elements.len();
    let area = left.elements.len() * width;
    if out.len() < live.len() * area {
        out.resize(live.len() * area, 0);
    }
    let mut acc = [0u64; AREA];
    let acc = &mut acc[..area];
    for (own, (parts, bits, value)) in live.iter().enumerate() {
        let mut room = arithmetic.room;
        let (before, matrix) = out.split_at_mut(own * area);
        let matrix = &mut matrix[..area];
        for &(part, c) in parts {
            if room == 0 {
                acc.iter_mut().for_each(|a| *a = arithmetic.reduced(*a).into());
                room = arithmetic.room;
            }
            let c = u64::from(c);
            match part {
                Part::Sum(x) => {
                    let values = &before[x as usize * area..][..area];
                    acc.iter_mut().zip(values).for_each(|(a, &v)| *a = Arithmetic::add(*a, c, v));
                }
                Part::Product(x, y) => {
                    let (x, y) = (&left.rows[x as usize], &right.rows[y as usize]);
                    let (Some(column), Some(row)) = (x, y) else { continue };
                    for (&x, acc) in column.iter().zip(acc.chunks_exact_mut(width)) {
                        let x = u64::from(arithmetic.reduced(u64::from(x) * c));
                        acc.iter_mut().zip(row).for_each(|(a, &v)| *a = Arithmetic::add(*a, x, v));
                    }
                }
            }
            room -= 1;
        }
        let mut all = 0;
        for (v, a) in matrix.iter_mut().zip(acc.iter_mut()) {
            *v = arithmetic.reduced(std::mem::take(a));
            all |= *v;
        }
        if bits > 0 {
            if all & ((1 << bits) - 1) != 0 {
                return Err((value, bits));
            }
            matrix.iter_mut().for_each(|v| *v >>= bits);
        }
    }
    Ok(())
}

/// Finds the coefficients of a tile that are not what is asked for modulo m.
fn check(
    live: &Sums,
    values: &[u32],
    m: u32,
    asked: &Asked,
    layout: &Layout,
    (left, right): (&Group, &Group),
    out: &mut Vec<Entry>,
) {
    let pairs = left.elements.iter().flat_map(|i| right.elements.iter().map(move |j| (*i, *j)));
    let pairs: Vec<(u32, u32)> = pairs.collect();
    let mut expected: Vec<(u32, usize, u32)> = Vec::new();
    for (place, &(i, j)) in pairs.iter().enumerate().filter(|p| layout.has(p.1.0, p.1.1)) {
        expected.extend(asked.at(i as usize, j as usize).iter().map(|&(k, c)| (k, place, c)));
    }
    expected.sort_unstable();
    let mut expected = expected.into_iter().peekable();
    // Of words that wrap more bits are there than m has.
    let mask = if m.is_power_of_two() { m - 1 } else { u32::MAX };
    let first = live.len() - live.forms;
    for k in 0..live.forms as u32 {
        let values = &values[(first + k as usize) * pairs.len()..][..pairs.len()];
        let zero = values.iter().fold(0, |all, v| all | v) & mask == 0;
        if zero && expected.peek().is_none_or(|e| e.0 != k) {
            continue;
        }
        for (place, (&(i, j), v)) in pairs.iter().zip(values).enumerate() {
            let want = expected.next_if(|e| (e.0, e.1) == (k, place)).map_or(0, |e| e.2);
            if v & mask != want {
                out.push(Entry { k, i, j, c: v & mask });
            }
        }
    }
}

/// Sums of products modulo m in 64 bits.
#[derive(Clone, Copy)]
struct Arithmetic {
    m: u64,
    /// floor(2^64 / m).
    inverse: u64,
    /// Products of two residues that fit beside a residue.
    room: u64,
}

impl Arithmetic {
    /// m is at most 2^32.
    fn new(m: u64) -> Arithmetic {
        let inverse = ((1u128 << 64) / u128::from(m)) as u64;
        // Modulo 2^32 sums may wrap.
        let room = if m == 1 << 32 { u64::MAX } else { (u64::MAX - m) / ((m - 1) * (m - 1)) };
        Arithmetic { m, inverse, room }
    }

    /// The residue in `[0, m)`.
    #[inline(always)]
    fn reduced(self, x: u64) -> u32 {
        const LOW: u64 = u32::MAX as u64;
        // x·inverse / 2^64 by products of halves, of which processors make many at once. Without the least of them
        // and with two of them rounded down it is short by less than three, and floor(2^64 / m) makes it short by
        // less than one: what is left is less than 4m, and nothing wraps.
        let (x0, x1) = (x & LOW, x >> 32);
        let (i0, i1) = (self.inverse & LOW, self.inverse >> 32);
        let middle = (x1.wrapping_mul(i0) >> 32).wrapping_add(x0.wrapping_mul(i1) >> 32);
        let quotient = x1.wrapping_mul(i1).wrapping_add(middle);
        let r = x.wrapping_sub(quotient.wrapping_mul(self.m));
        let less = |r: u64, m: u64| if r >= m { r.wrapping_sub(m) } else { r };
        less(less(r, self.m << 1), self.m) as u32
    }

    /// `a + c·v`, which fits as often as there is room.
    #[inline(always)]
    fn add(a: u64, c: u64, v: u32) -> u64 {
        a.wrapping_add(c.wrapping_mul(v.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_remainders() {
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        let greatest = [(1 << 31) - 1, 1 << 31, 1 << 32];
        for m in [2u64, 3, 5, 257, 4591, 7681, 40000, 65521, 8380417].into_iter().chain(greatest) {
            let arithmetic = Arithmetic::new(m);
            let top = u64::MAX / m * m;
            for near in [0, m, m.wrapping_mul(m), top, 1 << 32, 1 << 63] {
                for x in (0..4).flat_map(|d| [near.wrapping_add(d), near.wrapping_sub(d)]) {
                    assert_eq!(u64::from(arithmetic.reduced(x)), x % m, "{x} modulo {m}");
                }
            }
            for shift in (0..2000).map(|i| i % 64) {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let x = x >> shift;
                assert_eq!(u64::from(arithmetic.reduced(x)), x % m, "{x} modulo {m}");
            }
        }
    }
}
