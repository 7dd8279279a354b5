//! All coefficients of forms, tile by tile: a tile is a few left elements times a few right ones.
//!
//! On a tile a row is a short vector, a sum a small matrix, and whatever is zero there is skipped. How
//! elements are grouped decides how much is; every pair is in a tile however they are.

use super::asked::Asked;
use super::forms::{Forms, Part};
use super::{Layout, Mismatch, Side, shift};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Left elements of a tile at most.
const HEIGHT: usize = 16;
/// Pairs of a tile at most.
const AREA: usize = 256;
/// Rows by which a grouping is chosen, and groupings tried.
const SAMPLE: usize = 128;

/// A coefficient that is not what was asked for: of elements i and j in output k.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    pub k: usize,
    pub i: usize,
    pub j: usize,
    pub found: u32,
    pub expected: u32,
}

/// What is done with a difference; results go to the list.
type Visit<'a, T> = dyn Fn(Difference, &mut Vec<T>) -> Result<(), Mismatch> + Sync + 'a;

/// Some elements of one side, with the rows at them; [`None`] where a row is zero at all of them.
struct Group {
    elements: Vec<u32>,
    rows: Vec<Option<Box<[u32]>>>,
}

/// Compares the coefficients of `forms` with what is asked for: all, or with a `stride` those that stand for
/// all ([`shift`]). Returns what `visit` makes of the differences.
///
/// # Errors
/// Those of `visit`, and if `tick` returns false.
pub(super) fn differences<T: Send>(
    forms: &Forms,
    layout: &Layout,
    asked: &Asked,
    stride: Option<usize>,
    tick: &(dyn Fn(f64) -> bool + Sync),
    visit: &Visit<T>,
) -> Result<Vec<T>, Mismatch> {
    let mut tasks: Vec<(Group, Arc<Vec<Group>>)> = Vec::new();
    for (left, right) in shift::pairs(stride, layout.len) {
        let left = groups(forms, Side::Left, left, HEIGHT);
        let height = left.iter().map(|g| g.elements.len()).max().unwrap_or(1);
        let right = Arc::new(groups(forms, Side::Right, right, AREA / height));
        tasks.extend(left.into_iter().map(|group| (group, right.clone())));
    }
    let count: usize = tasks.iter().map(|t| t.1.len()).sum();
    let (done, arithmetic) = (AtomicUsize::new(0), Arithmetic::new(forms.m));
    let parts: Result<Vec<Vec<T>>, Mismatch> = tasks
        .par_iter()
        .map(|(left, rights)| {
            let mut out = Vec::new();
            let sums = restricted(forms, left);
            let mut found = Matrices::default();
            for right in rights.iter() {
                evaluate(&sums, arithmetic, left, right, &mut found);
                let starts = &found.starts[forms.first..];
                check(&found.values, starts, asked, left, right, &mut |d| visit(d, &mut out))?;
                let d = done.fetch_add(1, Ordering::Relaxed);
                if d.is_multiple_of(16) && !tick(d as f64 / count as f64) {
                    return Err(Mismatch::Cancelled);
                }
            }
            Ok(out)
        })
        .collect();
    Ok(parts?.into_iter().flatten().collect())
}

/// The residue classes of elements, in groups of at most `most`, modulo the number for which the fewest rows
/// are not zero on a group.
fn groups(forms: &Forms, side: Side, elements: Vec<u32>, most: usize) -> Vec<Group> {
    let rows = &forms.rows[side as usize];
    let used = forms.used(side);
    let grouped = |classes: u32| -> Vec<Vec<u32>> {
        let mut sorted = elements.clone();
        sorted.sort_by_key(|&x| (x % classes, x));
        let classes = sorted.chunk_by(|x, y| x % classes == y % classes);
        classes.flat_map(|c| c.chunks(most).map(<[u32]>::to_vec)).collect()
    };
    // Group and place in it, by element.
    let places = |lists: &[Vec<u32>]| {
        let mut places = vec![None; 1 + elements.iter().max().map_or(0, |&x| x as usize)];
        for (g, list) in lists.iter().enumerate() {
            list.iter().enumerate().for_each(|(at, &x)| places[x as usize] = Some((g, at)));
        }
        places
    };
    let place =
        |places: &[Option<(usize, usize)>], x: u32| places.get(x as usize).copied().flatten();
    let step = used.len().div_ceil(SAMPLE).max(1);
    let cost = |classes: u32| -> usize {
        let lists = grouped(classes);
        let (places, mut last, mut cost) = (places(&lists), vec![0; lists.len()], 0);
        for (number, &row) in used.iter().step_by(step).enumerate() {
            for (group, _) in rows[row as usize].iter().filter_map(|x| place(&places, x.0)) {
                cost += usize::from(last[group] <= number);
                last[group] = number + 1;
            }
        }
        cost
    };
    let lists = grouped((1..=SAMPLE as u32).min_by_key(|&c| cost(c)).unwrap_or(1));
    let places = places(&lists);
    let empty = |elements| Group { elements, rows: vec![None; rows.len()] };
    let mut groups: Vec<Group> = lists.into_iter().map(empty).collect();
    for row in used {
        for &(x, c) in &rows[row as usize] {
            let Some((group, at)) = place(&places, x) else { continue };
            let Group { elements, rows } = &mut groups[group];
            let zero = || vec![0; elements.len()].into();
            rows[row as usize].get_or_insert_with(zero)[at] = c;
        }
    }
    groups
}

/// The sums without the products that are zero on a group of left elements.
fn restricted(forms: &Forms, left: &Group) -> Vec<Vec<(Part, u32)>> {
    let mut live: Vec<bool> = Vec::with_capacity(forms.sums.len());
    let mut sums: Vec<Vec<(Part, u32)>> = Vec::with_capacity(forms.sums.len());
    for sum in &forms.sums {
        let live_part = |p: &&(Part, u32)| match p.0 {
            Part::Sum(x) => live[x as usize],
            Part::Product(x, _) => left.rows[x as usize].is_some(),
        };
        sums.push(sum.iter().filter(live_part).copied().collect());
        live.push(sums.last().is_some_and(|s| !s.is_empty()));
    }
    sums
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
    fn new(m: u32) -> Arithmetic {
        let m = u64::from(m);
        let inverse = ((1u128 << 64) / u128::from(m)) as u64;
        Arithmetic { m, inverse, room: (u64::MAX - m) / ((m - 1) * (m - 1)) }
    }

    /// The residue in `[0, m)`.
    #[inline(always)]
    fn reduced(self, x: u64) -> u32 {
        // floor(2^64 / m) is short by less than one, so the quotient is by at most one.
        let quotient = ((u128::from(x) * u128::from(self.inverse)) >> 64) as u64;
        let r = x - quotient * self.m;
        (if r >= self.m { r - self.m } else { r }) as u32
    }
}

/// The sums' matrices on a tile.
#[derive(Default)]
struct Matrices {
    /// Row by row.
    values: Vec<u32>,
    /// Where a sum's matrix starts; [`None`] where it is zero.
    starts: Vec<Option<usize>>,
    acc: Vec<u64>,
}

/// Evaluates all sums on a tile.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn evaluate(
    sums: &[Vec<(Part, u32)>],
    arithmetic: Arithmetic,
    left: &Group,
    right: &Group,
    out: &mut Matrices,
) {
    let width = right.elements.len();
    let Matrices { values, starts, acc } = out;
    values.clear();
    starts.clear();
    acc.clear();
    acc.resize(left.elements.len() * width, 0);
    for sum in sums {
        let (mut room, mut live) = (arithmetic.room, false);
        for &(part, c) in sum {
            if room == 0 {
                acc.iter_mut().for_each(|a| *a = arithmetic.reduced(*a).into());
                room = arithmetic.room;
            }
            let c = u64::from(c);
            match part {
                Part::Sum(x) => {
                    let Some(start) = starts[x as usize] else { continue };
                    let values = &values[start..][..acc.len()];
                    acc.iter_mut().zip(values).for_each(|(a, &v)| *a += c * u64::from(v));
                }
                Part::Product(x, y) => {
                    let (x, y) = (&left.rows[x as usize], &right.rows[y as usize]);
                    let (Some(column), Some(row)) = (x, y) else { continue };
                    for (&x, acc) in column.iter().zip(acc.chunks_exact_mut(width)) {
                        let x = u64::from(arithmetic.reduced(u64::from(x) * c));
                        acc.iter_mut().zip(row).for_each(|(a, &v)| *a += x * u64::from(v));
                    }
                }
            }
            (room, live) = (room - 1, true);
        }
        starts.push(live.then_some(values.len()));
        if live {
            values.extend(acc.iter_mut().map(|a| arithmetic.reduced(std::mem::take(a))));
        }
    }
}

/// Visits the coefficients of a tile that are not what is asked for.
fn check(
    values: &[u32],
    starts: &[Option<usize>],
    asked: &Asked,
    left: &Group,
    right: &Group,
    visit: &mut dyn FnMut(Difference) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    let mut expected: Vec<(usize, usize, u32)> = Vec::new();
    let pairs = left
        .elements
        .iter()
        .flat_map(|i| right.elements.iter().map(move |j| (*i as usize, *j as usize)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    for (place, &(i, j)) in pairs.iter().enumerate() {
        expected.extend(asked.at(i, j).iter().map(|&(k, c)| (k as usize, place, c)));
    }
    expected.sort_unstable();
    let mut expected = expected.into_iter().peekable();
    for (k, start) in starts.iter().enumerate() {
        if start.is_none() && expected.peek().is_none_or(|e| e.0 != k) {
            continue;
        }
        for (place, &(i, j)) in pairs.iter().enumerate() {
            let found = start.map_or(0, |s| values[s + place]);
            let want = expected.next_if(|e| (e.0, e.1) == (k, place)).map_or(0, |e| e.2);
            if found != want {
                visit(Difference { k, i, j, found, expected: want })?;
            }
        }
    }
    Ok(())
}
