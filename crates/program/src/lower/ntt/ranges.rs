//! Ranges of words through passes, and where reductions stand.
//!
//! A bound m means [-m, m]; every lane has its own.

use super::pass::*;
use super::words::Words;
use crate::lower::{LowerError, Square, within};
use crate::method::FreezeMethod;
use ringforge_plan::Ground;
use std::collections::BTreeSet;

/// Which reductions stand, and all sites where one could.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Those that stand.
    pub here: BTreeSet<String>,
    /// Those that the schedule leaves out.
    pub dropped: BTreeSet<String>,
    /// All sites.
    pub all: BTreeSet<String>,
}

/// Where reductions come from.
#[derive(Clone, Copy, Debug)]
pub enum Choice<'a> {
    /// As late as ranges allow; besides, without those of the first list and with those of the
    /// second, whatever the ranges say.
    Late(&'a [String], &'a [String]),
    /// These, and no others; refused where a word may overflow.
    Given(&'a BTreeSet<String>),
}

/// The name of a site.
pub fn site(stage: &str, level: u32, pair: usize, operand: &str) -> String {
    format!("{stage}.{level}.{pair}.{operand}")
}

/// What the elements of a butterfly are called in the names of sites, the lowest first.
pub fn operands(radix: usize) -> &'static [&'static str] {
    if radix == 3 { &["low", "middle", "high"] } else { &["low", "high"] }
}

/// The numbers of butterflies (or registers) of a pass in the names of sites: by level.
#[derive(Clone, Debug, Default)]
pub struct Numbers(std::collections::BTreeMap<u32, usize>);

impl Numbers {
    /// The next number in a level.
    pub fn next(&mut self, level: u32) -> usize {
        let next = self.0.entry(level).or_default();
        *next += 1;
        *next - 1
    }
}

/// An analysis of passes: bounds by position, and reductions where they are needed.
pub struct Analysis<'a> {
    /// Bounds of operations.
    pub words: &'a Words,
    /// Name of the stage in sites.
    pub stage: &'a str,
    /// Where reductions come from.
    pub choice: Choice<'a>,
    /// What the last pass may leave at most.
    pub limit: i64,
    /// How words are frozen.
    pub freeze: FreezeMethod,
    /// Whether passes are loops, so that groups share their sites.
    pub rolled: bool,
    /// Registers and words.
    pub shape: Square,
    /// The reductions.
    pub placed: Placed,
}

impl Analysis<'_> {
    /// The bounds behind the passes, from those before them, by position.
    pub fn run(&mut self, passes: &[Pass], input: &[i64]) -> Result<Vec<i64>, LowerError> {
        let mut bounds = input.to_vec();
        for (number, pass) in passes.iter().enumerate() {
            let last = number + 1 == passes.len();
            let limit = if last { self.limit.min(self.words.most()) } else { self.words.most() };
            let (mut numbers, mut after) = (Numbers::default(), bounds.clone());
            let alike = if self.rolled { pass.groups.len() } else { 1 };
            for groups in pass.groups.chunks(alike) {
                self.groups(groups, (&bounds, &mut after), limit, &mut numbers, last)?;
            }
            bounds = after;
        }
        Ok(bounds)
    }

    /// Whether a reduction stands at a site where it is `needed`.
    fn decide(&mut self, site: String, needed: bool) -> bool {
        let here = match self.choice {
            Choice::Late(drop, add) => needed && !drop.contains(&site) || add.contains(&site),
            Choice::Given(all) => all.contains(&site),
        };
        if here {
            self.placed.here.insert(site.clone());
        } else if needed {
            self.placed.dropped.insert(site.clone());
        }
        self.placed.all.insert(site);
        here
    }

    /// Groups that share their reductions.
    fn groups(
        &mut self,
        groups: &[Group],
        (bounds, after): (&[i64], &mut [i64]),
        limit: i64,
        numbers: &mut Numbers,
        last: bool,
    ) -> Result<(), LowerError> {
        let lanes = self.shape.lanes();
        let load = |spot: &Spot| positions(spot, lanes).into_iter().map(|p| bounds[p]).collect();
        let load_all = |g: &Group| g.loads.iter().map(load).collect();
        let mut hands: Vec<Vec<Vec<i64>>> = groups.iter().map(load_all).collect();
        let top = groups[0].steps.iter().rev().find_map(|s| match s {
            Step::Butterfly { level, .. } => Some(*level),
            _ => None,
        });
        let ends =
            groups[0].steps.iter().any(|s| matches!(s, Step::Scale { .. } | Step::Freeze { .. }));
        for number in 0..groups[0].steps.len() {
            match &groups[0].steps[number] {
                Step::Butterfly { level, registers, .. } => {
                    let level = *level;
                    // The last level's outputs are the pass's, where nothing follows it.
                    let limit = match last && Some(level) == top && !ends {
                        true => limit,
                        false => self.words.most(),
                    };
                    let place = (level, numbers.next(level));
                    self.butterfly(groups, &mut hands, number, place, registers, limit)?;
                }
                Step::Scale { .. } if plain(groups, number)[0] => {}
                Step::Scale { register, .. } => {
                    for (hand, group) in hands.iter_mut().zip(groups) {
                        let factor = &group.steps[number].factors()[0];
                        for (bound, &c) in hand[*register].iter_mut().zip(factor) {
                            *bound = self.words.product(c, *bound);
                        }
                    }
                }
                Step::Interleave { a, b, unit } => {
                    let shape = self.shape;
                    for hand in &mut hands {
                        let (low, high) = interleaved(shape, &hand[*a], &hand[*b], *unit);
                        (hand[*a], hand[*b]) = (low, high);
                    }
                }
                Step::Freeze { register } => {
                    let (lo, hi) = self.freeze.domain(self.words.modulus);
                    let most = hi.min(-lo);
                    let worst = hands.iter().flat_map(|h| &h[*register]).copied().max();
                    let worst = worst.unwrap_or(0);
                    let site = format!("{}.out.{}", self.stage, numbers.next(u32::MAX));
                    if self.decide(site.clone(), worst > most) {
                        self.reduce(&mut hands, *register);
                    }
                    let h = (self.words.modulus.q as i64 - 1) / 2;
                    for hand in &mut hands {
                        self.check(&site, &hand[*register], most)?;
                        hand[*register].fill(h);
                    }
                }
            }
        }
        for (group, hand) in groups.iter().zip(&hands) {
            for (spot, register) in group.stores.iter().zip(hand) {
                let places = positions(spot, lanes).into_iter().zip(register);
                places.for_each(|(p, &bound)| after[p] = bound);
            }
        }
        Ok(())
    }

    fn check(&self, site: &str, all: &[i64], most: i64) -> Result<(), LowerError> {
        within(site, most, all.iter().copied().max().unwrap_or(0)).map(drop)
    }

    fn reduce(&self, hands: &mut [Vec<Vec<i64>>], register: usize) {
        for bound in hands.iter_mut().flat_map(|h| &mut h[register]) {
            *bound = self.words.reduced(*bound);
        }
    }

    /// The bounds behind the butterfly that is step `number`, of each of its registers by lane, from
    /// those before it. A bound above the largest word, of a result or on the way to it, overflows.
    fn after(
        &self,
        (group, number): (&Group, usize),
        plain: &[bool],
        x: &[Vec<i64>],
    ) -> Vec<Vec<i64>> {
        let Step::Butterfly { split, kind, factors, .. } = &group.steps[number] else {
            return x.to_vec();
        };
        let most = self.words.most();
        let mut all = vec![Vec::with_capacity(x[0].len()); x.len()];
        for lane in 0..x[0].len() {
            // What does not fit a word before a product is no word behind it either.
            let product = |k: usize, b: i64| match plain[k] || b > most {
                true => b,
                false => self.words.product(factors[k][lane], b),
            };
            let here: Vec<i64> = x.iter().map(|register| register[lane]).collect();
            let y = split.butterfly(*kind, &here, &mut Magnitudes(&product));
            all.iter_mut().zip(y).for_each(|(all, y)| all.push(y));
        }
        all
    }

    fn butterfly(
        &mut self,
        groups: &[Group],
        hands: &mut [Vec<Vec<i64>>],
        number: usize,
        (level, place): (u32, usize),
        registers: &[usize],
        limit: i64,
    ) -> Result<(), LowerError> {
        let plain = plain(groups, number);
        let worst = |this: &Self, hands: &[Vec<Vec<i64>>], reduced: usize| {
            let mut most = 0;
            for (group, hand) in groups.iter().zip(hands) {
                let pick = |(k, &register): (usize, &usize)| -> Vec<i64> {
                    let one =
                        |&b: &i64| if reduced >> k & 1 == 1 { this.words.reduced(b) } else { b };
                    hand[register].iter().map(one).collect()
                };
                let x: Vec<Vec<i64>> = registers.iter().enumerate().map(pick).collect();
                let y = this.after((group, number), &plain, &x);
                most = most.max(y.into_iter().flatten().max().unwrap_or(0));
            }
            most
        };
        // As few reductions as can be, of lower elements first.
        let mut options: Vec<usize> = (0..1 << registers.len()).collect();
        options.sort_by_key(|option| option.count_ones());
        let fits = options.iter().find(|&&option| worst(self, hands, option) <= limit);
        let needed = fits.copied().unwrap_or((1 << registers.len()) - 1);
        let names = operands(registers.len());
        for (k, (&register, operand)) in registers.iter().zip(names).enumerate() {
            if self.decide(site(self.stage, level, place, operand), needed >> k & 1 == 1) {
                self.reduce(hands, register);
            }
        }
        let dropping = matches!(self.choice, Choice::Late(drop, _) if !drop.is_empty());
        let low_site = site(self.stage, level, place, "low");
        for (group, hand) in groups.iter().zip(hands) {
            let x: Vec<Vec<i64>> = registers.iter().map(|&r| hand[r].clone()).collect();
            let y = self.after((group, number), &plain, &x);
            for (&register, bounds) in registers.iter().zip(y) {
                if !dropping {
                    self.check(&low_site, &bounds, limit)?;
                }
                // What overflows (a mutant's reduction is gone) may be any word.
                hand[register] = bounds.into_iter().map(|b| b.min(self.words.most())).collect();
            }
        }
        Ok(())
    }
}

/// Largest magnitudes, with that of a product by a constant of a butterfly.
struct Magnitudes<'a>(&'a dyn Fn(usize, i64) -> i64);

impl Ground for Magnitudes<'_> {
    type Element = i64;
    fn add(&mut self, a: i64, b: i64) -> i64 {
        a + b
    }
    fn sub(&mut self, a: i64, b: i64) -> i64 {
        a + b
    }
    fn times(&mut self, k: usize, a: i64) -> i64 {
        (self.0)(k, a)
    }
}

/// Whether each constant of a step is 1 in all groups, which is left out.
fn plain(groups: &[Group], number: usize) -> Vec<bool> {
    let factors = |group: &Group, k: usize| group.steps[number].factors()[k].clone();
    let one = |k: usize| groups.iter().all(|group| factors(group, k).iter().all(|&c| c == 1));
    (0..groups[0].steps[number].factors().len()).map(one).collect()
}

/// The low and the high halves of two registers, interleaved.
pub fn interleaved<T: Copy>(shape: Square, a: &[T], b: &[T], unit: u8) -> (Vec<T>, Vec<T>) {
    let (part, words) = (shape.part(), unit as usize / shape.bits as usize);
    let half = |from: usize| -> Vec<T> {
        (0..shape.lanes())
            .map(|lane| {
                let (p, at) = (lane / part, lane % part);
                let source = if at / words % 2 == 0 { a } else { b };
                source[p * part + from + at / (2 * words) * words + at % words]
            })
            .collect()
    };
    (half(0), half(part / 2))
}

/// The positions of a spot's words, lane by lane.
pub fn positions(spot: &Spot, lanes: usize) -> Vec<usize> {
    match spot {
        Spot::Whole(at) => (*at..at + lanes).collect(),
        Spot::Strided(at, stride) => (0..lanes).map(|l| at + l * stride).collect(),
        Spot::Parts(all) => all.iter().flat_map(|&at| at..at + lanes / all.len()).collect(),
    }
}
