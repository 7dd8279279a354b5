//! All coefficients of forms, tile by tile: a tile is a few left elements times a few right ones.
//!
//! On a tile a row is a short vector, a sum a small matrix, and whatever is zero there is skipped. How
//! elements are grouped decides how much is; every pair is in a tile however they are.

use super::asked::Asked;
use super::evaluate::{Arithmetic, Live, Matrices, Wrapping, modular, wrapping};
use super::forms::Forms;
use super::{Layout, Mismatch, Side, shift};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Left elements of a tile at most.
const HEIGHT: usize = 16;
/// Pairs of a tile at most.
pub(super) const AREA: usize = 256;
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
pub(super) struct Group {
    pub elements: Vec<u32>,
    pub rows: Vec<Option<Box<[u32]>>>,
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
    match forms.twos {
        None => {
            let arithmetic = Arithmetic::new(forms.m);
            let evaluate = |live: &Live, left: &Group, right: &Group, out: &mut Matrices<u32>| {
                modular(live, arithmetic, left, right, out);
                Ok(())
            };
            tiled(forms, layout, asked, stride, tick, visit, &evaluate)
        }
        // Words hold all bits that are needed.
        Some(..=16) => tiled(forms, layout, asked, stride, tick, visit, &wrapping::<u16>),
        Some(_) => tiled(forms, layout, asked, stride, tick, visit, &wrapping::<u32>),
    }
}

/// Evaluates all sums on a tile.
type Evaluate<'a, W> =
    dyn Fn(&Live, &Group, &Group, &mut Matrices<W>) -> Result<(), (u32, u8)> + Sync + 'a;

fn tiled<T: Send, W: Wrapping>(
    forms: &Forms,
    layout: &Layout,
    asked: &Asked,
    stride: Option<usize>,
    tick: &(dyn Fn(f64) -> bool + Sync),
    visit: &Visit<T>,
    evaluate: &Evaluate<W>,
) -> Result<Vec<T>, Mismatch> {
    let mut tasks: Vec<(Group, Arc<Vec<Group>>)> = Vec::new();
    for (left, right) in shift::pairs(stride, layout.len) {
        let left = groups(forms, Side::Left, left, HEIGHT);
        let height = left.iter().map(|g| g.elements.len()).max().unwrap_or(1);
        let right = Arc::new(groups(forms, Side::Right, right, AREA / height));
        tasks.extend(left.into_iter().map(|group| (group, right.clone())));
    }
    let count: usize = tasks.iter().map(|t| t.1.len()).sum();
    let done = AtomicUsize::new(0);
    let parts: Result<Vec<Vec<T>>, Mismatch> = tasks
        .par_iter()
        .map(|(left, rights)| {
            let mut out = Vec::new();
            let live = Live::new(forms, left);
            let mut found = Matrices::<W>::default();
            for right in rights.iter() {
                evaluate(&live, left, right, &mut found)
                    .map_err(|(value, bits)| Mismatch::NotMultiple { value, bits })?;
                let area = left.elements.len() * right.elements.len();
                let found: Vec<Option<&[W]>> =
                    live.forms.iter().map(|f| found.get((*f)?, area)).collect();
                check(&found, forms.m, asked, left, right, &mut |d| visit(d, &mut out))?;
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

/// Visits the coefficients of a tile that are not what is asked for modulo m.
fn check<W: Wrapping>(
    found: &[Option<&[W]>],
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
            let found = values.map_or(0, |v| v[place].wide() & mask);
            let want = expected.next_if(|e| (e.0, e.1) == (k, place)).map_or(0, |e| e.2);
            if found != want {
                visit(Difference { k, i, j, found, expected: want })?;
            }
        }
    }
    Ok(())
}
