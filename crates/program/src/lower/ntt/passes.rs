//! The passes of the transforms, forward and back.

use super::axes::count;
use super::pass::{Hand, Pass};
use super::plan::{Machine, Reach, Shuffles};
use ringforge_plan::Butterflies;
use ringforge_ring::zq;

/// What an inverse does behind its levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Every element is multiplied by this, apart from untwisting.
    pub factor: u64,
    /// Canonical residues, or what comes.
    pub freeze: bool,
}

impl Machine<'_> {
    fn forward_level(&self, hand: &mut Hand, level: usize) {
        let split = self.ntt.splits()[level];
        let constants = |i: usize| self.ntt.forward_constants(level, i);
        let distance = self.levels()[level].distance;
        hand.level((level as u32, distance), (split, Butterflies::CooleyTukey), &constants);
    }

    /// Its sites count the levels as they are executed.
    fn inverse_level(&self, hand: &mut Hand, level: usize) {
        let levels = self.levels();
        let split = self.ntt.splits()[level];
        let number = (levels.len() - 1 - level) as u32;
        let constants = |i: usize| self.ntt.inverse_constants(level, i);
        hand.level((number, levels[level].distance), (split, self.ntt.backwards()), &constants);
    }

    /// From coefficients to a transformed array.
    pub fn forward(&self) -> Vec<Pass> {
        let (mut passes, outer) = (Vec::new(), self.outer_levels());
        let identity = self.identity();
        for (number, levels) in outer.iter().enumerate() {
            let last = number + 1 == outer.len();
            let to = if last { self.middle() } else { self.identity() };
            let title = format!("{} levels on whole registers", levels.len());
            let reach = self.whole(levels);
            passes.push(self.pass(&title, &reach, (&identity, &to), &|hand| {
                if number == 0 && self.ntt.enter(0).is_some() {
                    hand.scale(&|i| self.ntt.enter(i).map_or(1, |by| by.value()));
                }
                levels.clone().for_each(|level| self.forward_level(hand, level));
            }));
        }
        if self.inside() {
            let reach = self.shuffled();
            let apart = self.apart();
            let to = if self.standard { apart.clone() } else { self.own() };
            let (first, all) = (self.outside(), self.levels().len());
            let title = format!("{} levels within registers", all - first);
            passes.push(self.pass(&title, &reach, (&self.middle(), &to), &|hand| {
                let rounds = self.rounds();
                (first..all - rounds.len()).for_each(|level| self.forward_level(hand, level));
                for (round, unit) in rounds.into_iter().enumerate() {
                    let level = self.done(round);
                    hand.interleave(unit, self.levels()[level].distance);
                    self.forward_level(hand, level + 1);
                }
                if self.standard {
                    self.leave(hand);
                }
            }));
            if self.standard && apart != identity {
                passes.push(self.copy(&apart));
            }
        }
        passes
    }

    /// From a transformed array to coefficients.
    pub fn inverse(&self, ending: Ending) -> Vec<Pass> {
        let (q, all) = (self.ntt.q(), self.levels().len());
        let factor = |i: usize| zq::mul(ending.factor, self.ntt.leave(i), q);
        let end = |hand: &mut Hand| {
            match self.ntt.backwards() {
                Butterflies::GentlemanSande => hand.scale_into_last(all as u32 - 1, &factor, q),
                Butterflies::CooleyTukey => hand.scale(&factor),
            }
            if ending.freeze {
                hand.freeze();
            }
        };
        let mut passes = Vec::new();
        let outer = self.outer_levels();
        let identity = self.identity();
        let mut from = identity.clone();
        if self.inside() {
            let reach = self.shuffled();
            let striding = self.shuffles == Shuffles::Striding;
            if striding && self.standard {
                passes.push(self.transposition(true));
            }
            let middle = self.middle();
            let loaded = if self.standard && !striding { &identity } else { &middle };
            let first = self.outside();
            let work = |hand: &mut Hand| {
                let rounds = self.rounds();
                let mut left = all;
                if !striding {
                    left -= 1;
                    self.inverse_level(hand, left);
                    for (round, unit) in rounds.into_iter().enumerate() {
                        hand.interleave(unit, self.back(round));
                        left -= 1;
                        self.inverse_level(hand, left);
                    }
                }
                (first..left).rev().for_each(|level| self.inverse_level(hand, level));
            };
            from = self.apart();
            let title = format!("{} levels within registers", all - first);
            let pass = self.pass(&title, &reach, (loaded, &from), &|hand| {
                self.enter(hand);
                work(hand);
            });
            passes.push(if self.standard || striding { pass } else { self.without_entry(pass) });
        }
        for (number, levels) in outer.iter().rev().enumerate() {
            let title = format!("{} levels on whole registers", levels.len());
            let reach = self.whole(levels);
            let from = if number == 0 { &from } else { &identity };
            passes.push(self.pass(&title, &reach, (from, &identity), &|hand| {
                levels.clone().rev().for_each(|level| self.inverse_level(hand, level));
                if number + 1 == outer.len() {
                    end(hand);
                }
            }));
        }
        passes
    }

    /// A shuffled pass that finds its registers shuffled already: the rounds on the way in gone.
    pub(super) fn without_entry(&self, mut pass: Pass) -> Pass {
        let Reach { chosen, .. } = self.shuffled();
        let entry = self.rounds().len() * count(&chosen) / 2;
        for group in &mut pass.groups {
            group.steps.drain(..entry);
        }
        pass
    }
}
