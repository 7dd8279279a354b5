//! All coefficients of forms, tile by tile: a tile is a few left elements times a few right ones.
//!
//! On a tile a row is a short vector, a sum a small matrix, and whatever is zero there is left out: once for all
//! tiles at which the same rows are zero. How elements are grouped decides how much is; every pair is in a tile
//! however they are.

use super::asked::Asked;
use super::evaluate::{Arithmetic, Live, Matrices, modular, wrapping};
use super::forms::Forms;
use super::{Layout, Mismatch, Side};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Left elements of a tile at most.
const HEIGHT: usize = 16;
/// Left groups that share the sums which are not zero at them, at most.
const SHARED: usize = 8;
/// Shares of the work for each processor at least, lest some have none.
const SHARES: usize = 4;
/// Pairs of a tile at most.
pub(super) const AREA: usize = 256;
/// Elements whose numbers are equal modulo this are grouped: rows of transforms, and of splits in halves and thirds,
/// are zero at the most of such groups.
const CLASSES: u32 = 48;

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
pub(super) type Visit<'a, T> = dyn Fn(Difference, &mut Vec<T>) -> Result<(), Mismatch> + Sync + 'a;

/// Some elements of one side, with the rows at them; [`None`] where a row is zero at all of them.
pub(super) struct Group {
    pub elements: Vec<u32>,
    pub rows: Vec<Option<Box<[u32]>>>,
}

/// Compares all coefficients of `forms` with what is asked for, and returns what `visit` makes of the
/// differences.
///
/// # Errors
/// Those of `visit`, and if `tick` returns false.
pub(super) fn differences<T: Send>(
    forms: &Forms,
    layout: &Layout,
    asked: &Asked,
    tick: &(dyn Fn(f64) -> bool + Sync),
    visit: &Visit<T>,
) -> Result<Vec<T>, Mismatch> {
    let arithmetic = Arithmetic::new(forms.m);
    let lefts = groups(forms, Side::Left, layout.len[0], HEIGHT);
    let height = lefts.iter().map(|g| g.elements.len()).max().unwrap_or(1);
    let rights = groups(forms, Side::Right, layout.len[1], AREA / height);
    let (done, count) = (AtomicUsize::new(0), lefts.len() * rights.len());
    let shared = (lefts.len() / (SHARES * rayon::current_num_threads())).clamp(1, SHARED);
    let (lefts, rights) = (alike(lefts), alike(rights));
    let lefts: Vec<&[Group]> = lefts.iter().flat_map(|alike| alike.chunks(shared)).collect();
    let parts: Result<Vec<Vec<T>>, Mismatch> = lefts
        .par_iter()
        .map(|lefts| {
            let mut out = Vec::new();
            let mut found = Matrices::default();
            let all = Live::new(forms, &lefts[0]);
            for rights in &rights {
                // For one tile it is not worth the while.
                let several = lefts.len() * rights.len() > 1;
                let some = several.then(|| all.at(&rights[0]));
                let live = some.as_ref().unwrap_or(&all);
                for (left, right) in lefts.iter().flat_map(|l| rights.iter().map(move |r| (l, r))) {
                    match forms.twos {
                        None => modular(live, arithmetic, left, right, &mut found),
                        Some(_) => wrapping(live, left, right, &mut found)
                            .map_err(|(value, bits)| Mismatch::NotMultiple { value, bits })?,
                    }
                    let area = left.elements.len() * right.elements.len();
                    let found: Vec<Option<&[u32]>> =
                        live.forms.iter().map(|f| found.get((*f)?, area)).collect();
                    check(&found, forms.m, asked, left, right, &mut |d| visit(d, &mut out))?;
                    let d = done.fetch_add(1, Ordering::Relaxed);
                    if d.is_multiple_of(16) && !tick(d as f64 / count as f64) {
                        return Err(Mismatch::Cancelled);
                    }
                }
            }
            Ok(out)
        })
        .collect();
    Ok(parts?.into_iter().flatten().collect())
}

/// Groups with those at which the same rows are zero, none of them empty.
fn alike(groups: Vec<Group>) -> Vec<Vec<Group>> {
    let mut numbers: FxHashMap<Vec<bool>, usize> = FxHashMap::default();
    let mut all: Vec<Vec<Group>> = Vec::new();
    for group in groups {
        let live = group.rows.iter().map(Option::is_some).collect();
        let number = *numbers.entry(live).or_insert(all.len());
        if number == all.len() {
            all.push(Vec::new());
        }
        all[number].push(group);
    }
    all
}

/// The residue classes of `count` elements, in groups of at most `most`.
fn groups(forms: &Forms, side: Side, count: usize, most: usize) -> Vec<Group> {
    let rows = &forms.rows[side as usize];
    let classes = (0..CLASSES).map(|c| (c..count as u32).step_by(CLASSES as usize));
    let lists = classes.flat_map(|c| {
        let class: Vec<u32> = c.collect();
        class.chunks(most).map(<[u32]>::to_vec).collect::<Vec<_>>()
    });
    let empty = |elements| Group { elements, rows: vec![None; rows.len()] };
    let mut groups: Vec<Group> = lists.map(empty).collect();
    let mut places = vec![(0, 0); count];
    for (g, group) in groups.iter().enumerate() {
        group.elements.iter().enumerate().for_each(|(at, &x)| places[x as usize] = (g, at));
    }
    for row in forms.used(side) {
        for &(x, c) in &rows[row as usize] {
            let (group, at) = places[x as usize];
            let Group { elements, rows } = &mut groups[group];
            let zero = || vec![0; elements.len()].into();
            rows[row as usize].get_or_insert_with(zero)[at] = c;
        }
    }
    groups
}

/// Visits the coefficients of a tile that are not what is asked for modulo m.
fn check(
    found: &[Option<&[u32]>],
    m: u32,
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
    // Of words that wrap more bits are there than m has.
    let mask = if m.is_power_of_two() { m - 1 } else { u32::MAX };
    for (k, values) in found.iter().enumerate() {
        if values.is_none() && expected.peek().is_none_or(|e| e.0 != k) {
            continue;
        }
        for (place, &(i, j)) in pairs.iter().enumerate() {
            let found = values.map_or(0, |v| v[place] & mask);
            let want = expected.next_if(|e| (e.0, e.1) == (k, place)).map_or(0, |e| e.2);
            if found != want {
                visit(Difference { k, i, j, found, expected: want })?;
            }
        }
    }
    Ok(())
}
