//! Coefficients of forms over many sums, each of few products: from the forms down to the products.
//!
//! **Statement.** For a form k let λ(s) be 1 at the form itself, 0 at every other form, and at each other sum x the sum of
//! c·λ(s) over all sums s that have x as a part, c times. Then form k is Σ c·λ(s)·P over all parts c·P of all sums s
//! that are products P of rows; so its coefficient of elements i and j is Σ c·λ(s)·x_i·y_j over them, x and y being the rows.
//!
//! **Side condition.** No sum is divided.
//!
//! *Proof.* A part x of a sum is an earlier sum. In the form alone as a sum, the latest sum is replaced by its parts, again
//! and again: λ(s) is what s has been multiplied with when its turn comes, as all sums that have it are later. In the end
//! products are left. ∎
//!
//! The tiles of `tiles.rs` evaluate every sum at every pair of elements, which takes n^2 steps for each part; this takes as
//! many as there are forms for each part, and for each pair of elements. Of a remainder by an f of many coefficients,
//! where every output is a sum of 2n others, that is n^3 steps in place of n^4.

use super::asked::Asked;
use super::evaluate::Arithmetic;
use super::forms::{Forms, Part};
use super::tiles::{Difference, Visit};
use super::{Layout, Mismatch, Side};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Forms that are looked at together.
const BLOCK: usize = 64;
/// Pairs in products at most, each with 8 bytes.
const PRODUCTS: u64 = 1 << 25;
/// Steps on tiles that take the time of one here: of a tile's pairs most are skipped together.
const GAIN: u64 = 32;

/// A sum, or what has one as a part, with a coefficient in `[1, m)`.
type Entry = (u32, u32);

/// Takes an entry of the list with a number.
type Tell<'a> = dyn FnMut(usize, Entry) + 'a;

/// Lists of entries, one after another.
struct Lists {
    /// Where each begins; the last one ends where all do.
    starts: Vec<u32>,
    all: Vec<Entry>,
}

impl Lists {
    /// `count` lists of the entries that `each` tells its argument, twice the same: number of the list and entry.
    fn new(count: usize, each: &dyn Fn(&mut Tell)) -> Lists {
        let mut starts = vec![0u32; count + 1];
        each(&mut |list, _| starts[list + 1] += 1);
        for list in 0..count {
            starts[list + 1] += starts[list];
        }
        let mut all = vec![(0, 0); starts[count] as usize];
        let mut next = starts.clone();
        each(&mut |list, entry| {
            all[next[list] as usize] = entry;
            next[list] += 1;
        });
        Lists { starts, all }
    }

    fn of(&self, list: usize) -> &[Entry] {
        &self.all[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}

/// Forms with lists of who has what.
pub(super) struct Backward<'a> {
    forms: &'a Forms,
    /// Elements of both sides.
    len: [usize; 2],
    /// [`None`] of words that wrap.
    arithmetic: Option<Arithmetic>,
    /// By sum: the sums that have it.
    users: Lists,
    /// By left and right element: the sums that have a product of them.
    pairs: Lists,
}

/// λ of some forms at all sums.
struct Factors {
    /// How many forms.
    size: usize,
    /// By sum and form.
    values: Vec<u32>,
    /// By sum, whether a form depends on it.
    live: Vec<bool>,
}

impl<'a> Backward<'a> {
    /// The lists, where the side condition holds and this is the faster way.
    pub fn new(forms: &'a Forms, layout: &Layout) -> Option<Backward<'a>> {
        let len = layout.len;
        let rows = |side: Side, row: u32| &forms.rows[side as usize][row as usize];
        let (mut links, mut products) = (0u64, 0u64);
        for &(part, _) in forms.sums.iter().flat_map(|sum| &sum.parts) {
            match part {
                Part::Sum(_) => links += 1,
                Part::Product(x, y) => {
                    products += (rows(Side::Left, x).len() * rows(Side::Right, y).len()) as u64;
                }
            }
        }
        let outputs = (forms.sums.len() - forms.first) as u64;
        let tiles = links.saturating_mul((len[0] * len[1]) as u64) / GAIN;
        // Every pair is looked at in every form, whatever products have of it.
        let pairs = (len[0] * len[1]) as u64;
        let pays = links < 1 << 31
            && products.max(pairs) <= PRODUCTS
            && (links + products + pairs / GAIN).saturating_mul(outputs) < tiles;
        pays.then(|| Backward::listed(forms, layout)).flatten()
    }

    /// The lists, where the side condition holds.
    pub fn listed(forms: &'a Forms, layout: &Layout) -> Option<Backward<'a>> {
        if forms.sums.iter().any(|sum| sum.bits > 0) {
            return None;
        }
        let len = layout.len;
        let arithmetic = forms.twos.is_none().then(|| Arithmetic::new(forms.m));
        let times = |a: u32, b: u32| match arithmetic {
            Some(arithmetic) => arithmetic.reduced(u64::from(a) * u64::from(b)),
            None => a.wrapping_mul(b),
        };
        let numbered = || forms.sums.iter().zip(0u32..);
        let users = Lists::new(forms.sums.len(), &|tell| {
            for (sum, s) in numbered() {
                for &(part, c) in &sum.parts {
                    if let Part::Sum(x) = part {
                        tell(x as usize, (s, c));
                    }
                }
            }
        });
        let pairs = Lists::new(len[0] * len[1], &|tell| {
            for (sum, s) in numbered() {
                for &(part, c) in &sum.parts {
                    let Part::Product(x, y) = part else { continue };
                    for &(i, a) in &forms.rows[Side::Left as usize][x as usize] {
                        for &(j, b) in &forms.rows[Side::Right as usize][y as usize] {
                            let c = times(times(a, b), c);
                            tell(i as usize * len[1] + j as usize, (s, c));
                        }
                    }
                }
            }
        });
        Some(Backward { forms, len, arithmetic, users, pairs })
    }

    /// Compares all coefficients with what is asked for, and returns what `visit` makes of the differences.
    ///
    /// # Errors
    /// Those of `visit`, and if `tick` returns false.
    pub fn differences<T: Send>(
        &self,
        asked: &Asked,
        tick: &(dyn Fn(f64) -> bool + Sync),
        visit: &Visit<T>,
    ) -> Result<Vec<T>, Mismatch> {
        let count = self.forms.sums.len() - self.forms.first;
        let blocks: Vec<usize> = (0..count).step_by(BLOCK).collect();
        let done = AtomicUsize::new(0);
        let parts: Result<Vec<Vec<T>>, Mismatch> = blocks
            .par_iter()
            .map(|&from| {
                let mut out = Vec::new();
                let factors = self.factors(from, BLOCK.min(count - from));
                self.block(&factors, from, asked, &mut |d| visit(d, &mut out))?;
                let d = done.fetch_add(1, Ordering::Relaxed) + 1;
                if !tick(d as f64 / blocks.len() as f64) {
                    return Err(Mismatch::Cancelled);
                }
                Ok(out)
            })
            .collect();
        Ok(parts?.into_iter().flatten().collect())
    }

    /// The sums that have a product of two elements.
    fn pair(&self, i: usize, j: usize) -> &[Entry] {
        self.pairs.of(i * self.len[1] + j)
    }

    /// λ of the forms from number `from` on.
    fn factors(&self, from: usize, size: usize) -> Factors {
        let (count, first) = (self.forms.sums.len(), self.forms.first);
        let (values, live) = (vec![0; count * size], vec![false; count]);
        let mut all = Factors { size, values, live };
        let mut found = [0u32; BLOCK];
        for x in (0..count).rev() {
            let own = x.checked_sub(first + from).filter(|k| *k < size);
            let found = &mut found[..size];
            let mut live = weighted(self.users.of(x), &all, self.arithmetic, found);
            if let Some(k) = own {
                // No sum has a form as a part.
                (live, found[k]) = (true, 1);
            }
            if live {
                all.values[x * size..][..size].copy_from_slice(found);
                all.live[x] = true;
            }
        }
        all
    }

    /// Compares all pairs in the forms from number `from` on.
    fn block(
        &self,
        factors: &Factors,
        from: usize,
        asked: &Asked,
        visit: &mut dyn FnMut(Difference) -> Result<(), Mismatch>,
    ) -> Result<(), Mismatch> {
        // Of words that wrap more bits are there than m has.
        let m = self.forms.m;
        let mask = if m.is_power_of_two() { m - 1 } else { u32::MAX };
        let (mut found, mut wanted) = ([0u32; BLOCK], [0u32; BLOCK]);
        let (found, wanted) = (&mut found[..factors.size], &mut wanted[..factors.size]);
        // By i + j, the last pair that was found right: of n^2 pairs of a product there are 2n - 1 that differ.
        let mut right = vec![(0, 0); self.len[0] + self.len[1] - 1];
        for (i, j) in (0..self.len[0]).flat_map(|i| (0..self.len[1]).map(move |j| (i, j))) {
            let list = self.pair(i, j);
            let known = right[i + j];
            if asked.alike((i, j), known) && list == self.pair(known.0, known.1) {
                continue;
            }
            let asked = asked.within((i, j), from..from + factors.size);
            if list.is_empty() && asked.is_empty() {
                continue;
            }
            weighted(list, factors, self.arithmetic, found);
            found.iter_mut().for_each(|c| *c &= mask);
            wanted.fill(0);
            for &(k, c) in asked {
                wanted[k as usize - from] = c;
            }
            if found == wanted {
                right[i + j] = (i, j);
                continue;
            }
            for (k, (&found, &expected)) in found.iter().zip(&*wanted).enumerate() {
                if found != expected {
                    visit(Difference { k: from + k, i, j, found, expected })?;
                }
            }
        }
        Ok(())
    }
}

/// Σ c·λ(s) over a list, for all forms; whether any of its sums is live.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn weighted(
    list: &[Entry],
    factors: &Factors,
    arithmetic: Option<Arithmetic>,
    out: &mut [u32],
) -> bool {
    let size = factors.size;
    let mut sums = [0u64; BLOCK];
    let sums = &mut sums[..size];
    let all = arithmetic.map_or(u64::MAX, Arithmetic::room);
    let (mut room, mut any) = (all, false);
    for &(s, c) in list {
        if !factors.live[s as usize] {
            continue;
        }
        if let (0, Some(arithmetic)) = (room, arithmetic) {
            sums.iter_mut().for_each(|a| *a = arithmetic.reduced(*a).into());
            room = all;
        }
        let values = &factors.values[s as usize * size..][..size];
        let c = u64::from(c);
        sums.iter_mut().zip(values).for_each(|(a, &v)| *a = Arithmetic::add(*a, c, v));
        (room, any) = (room - 1, true);
    }
    match arithmetic {
        Some(arithmetic) => {
            out.iter_mut().zip(sums).for_each(|(o, a)| *o = arithmetic.reduced(*a));
        }
        None => out.iter_mut().zip(sums).for_each(|(o, a)| *o = *a as u32),
    }
    any
}
