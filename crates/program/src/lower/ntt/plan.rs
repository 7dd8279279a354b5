//! Transforms on a machine: which elements share registers, and where arrays lie between passes.
//!
//! Levels whose distance is whole registers work on registers in place, about eight of them between
//! load and store [Seiler18 §4]. That leaves blocks of o registers, o odd (1 for powers of two).
//! There are two ways to compute the levels within them.
//!
//! *Interleaving* (AVX2, AVX-512). In a state [s | p2 p1 p0], the digit s of the index selects the
//! register of a pair. The bits p2, p1 and p0 select the word of a 128-bit part. Interleaving
//! elements of 2^k words brings p2 to s and inserts s below. So [s | p2 p1 p0] becomes
//! [p2 | s p1 p0], [p2 | p1 s p0] or [p2 | p1 p0 s]. The pass before stores parts, which costs no
//! vector slot. Each of the p parts of a register is the same part of another block, and one block
//! is p·o registers. Its first log2 p levels need no shuffle. Each round of 16, 32 and 64 bits then
//! brings the next bit out, in exchange for the digit whose level is done. So registers meet that
//! are an odd number o of halves, quarters, … apart: [d3 | b2 b1 b0] leaves [d0 | d1 d2 d3]. The
//! same rounds on neighbours lead back: they expose d1, d2, d3 and end as it began. If factors of
//! degree d = o·2^u stay, the last u rounds are left out, and units are 2^u words.
//!
//! *Striding* (portable C). Blocks lie side by side, a word of each in a register; strided stores
//! transpose squares of `lanes` rows.

use super::axes::{Axis, ascending, count, layout, spread};
use super::pass::*;
use super::write::even;
use crate::lower::Square;
use ringforge_plan::{LevelSplit, Levels};
use std::ops::Range;

/// How words within a register are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffles {
    /// By interleaving registers and by parts.
    Interleaving,
    /// By strided stores.
    Striding,
}

/// A transform on a machine: all passes follow from it.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    /// The transform.
    pub ntt: &'a dyn Levels,
    /// Registers.
    pub shape: Square,
    /// How words within a register are reached.
    pub shuffles: Shuffles,
    /// Whether transformed arrays are in standard order.
    pub standard: bool,
    /// Most levels in two on whole registers in one pass.
    pub depth: u32,
}

/// Where index i lies.
pub type Map = Vec<usize>;

/// What a pass loads into a group of registers: together the three reach every index once.
pub struct Reach {
    /// The registers of a group differ in these.
    pub chosen: Vec<Axis>,
    /// Lanes differ in these.
    pub lanes: Vec<Axis>,
    /// Groups differ in these.
    pub rest: Vec<Axis>,
}

impl Machine<'_> {
    pub(super) fn lanes(&self) -> usize {
        self.shape.lanes()
    }

    /// The digit that each level needs to meet, the first level first.
    pub(super) fn levels(&self) -> Vec<Axis> {
        let mut distance = self.ntt.size();
        let axis = |split: LevelSplit| {
            distance /= split.radix();
            Axis { distance, radix: split.radix() }
        };
        self.ntt.splits().into_iter().map(axis).collect()
    }

    /// How many levels have distances of whole registers.
    pub(super) fn outside(&self) -> usize {
        let whole = |level: &&Axis| level.distance.is_multiple_of(self.lanes());
        self.levels().iter().take_while(whole).count()
    }

    /// Whether there are levels within blocks.
    pub fn inside(&self) -> bool {
        self.outside() < self.levels().len()
    }

    /// Words of the blocks that levels on whole registers leave.
    pub fn block(&self) -> usize {
        self.levels()[..self.outside()].last().map_or(self.ntt.size(), |level| level.distance)
    }

    /// o, the registers of a block that has levels within.
    pub(super) fn odd(&self) -> usize {
        self.block() / self.lanes()
    }

    /// The registers in which all coefficients of some factors stand, one in a lane, where none has
    /// several coefficients of one.
    pub fn block_registers(&self) -> usize {
        match self.shuffles {
            Shuffles::Interleaving => self.shape.registers.parts() * self.odd(),
            Shuffles::Striding => self.block(),
        }
    }

    /// Why this transform has no passes here, and what would work.
    pub fn refused(&self) -> Option<(String, String)> {
        let (lanes, d) = (self.lanes(), self.ntt.degree());
        if !self.ntt.size().is_multiple_of(2 * lanes) {
            let why = format!(
                "n = {} does not fill pairs of registers of {lanes} words",
                self.ntt.size()
            );
            return Some((why, format!("n a multiple of {}", 2 * lanes)));
        }
        if !self.inside() {
            return None;
        }
        let within = &self.levels()[self.outside()..];
        if within.iter().any(|level| level.radix != 2) {
            let why = format!("a level in three within {} registers of {lanes} words", self.odd());
            return Some((why, "levels in three before those in two".into()));
        }
        let apart = d / self.odd();
        if self.shuffles == Shuffles::Interleaving && self.odd() > 1 && apart > 1 {
            let why = format!("factors of degree {d} within {} registers", self.odd());
            return Some((why, "one more level in two".into()));
        }
        let needed = self.needed();
        if self.shuffles == Shuffles::Interleaving && within.len() < needed {
            let why = format!(
                "factors of degree {d} are longer than parts of {} words",
                self.shape.part()
            );
            return Some((why, "one more level in two".into()));
        }
        let side_by_side = self.side_by_side().len();
        (side_by_side < needed).then(|| {
            let why = format!(
                "{needed} levels in two on whole registers are needed, and there are {side_by_side}"
            );
            (why, "levels in two where there are such in three".into())
        })
    }

    /// How many levels in two put blocks side by side in a register.
    fn needed(&self) -> usize {
        match self.shuffles {
            Shuffles::Interleaving => self.shape.registers.parts().trailing_zeros() as usize,
            Shuffles::Striding => self.lanes().trailing_zeros() as usize,
        }
    }

    /// The digits of blocks that lie side by side, the lowest levels in two on whole registers.
    fn side_by_side(&self) -> Vec<Axis> {
        let levels = self.levels();
        let outer = levels[..self.outside()].iter().rev();
        outer.filter(|level| level.radix == 2).take(self.needed()).copied().collect()
    }

    /// The levels of the passes on whole registers, each of at most 2^depth registers.
    pub(super) fn outer_levels(&self) -> Vec<Range<usize>> {
        let levels = self.levels();
        let all = match self.inside() {
            true => self.outside(),
            false => levels.len(),
        };
        // The last pass before strided stores has the levels of the blocks side by side.
        let mut cut = all;
        if self.inside() && self.shuffles == Shuffles::Striding {
            let beside = self.side_by_side();
            while cut > 0 && beside.contains(&levels[cut - 1]) {
                cut -= 1;
            }
        }
        let most = 1 << self.depth;
        let passes = |limit: usize| {
            let mut passes: Vec<Range<usize>> = Vec::new();
            for level in 0..cut {
                match passes.last_mut() {
                    Some(last) if count(&levels[last.start..=level]) <= limit => last.end += 1,
                    _ => passes.push(level..level + 1),
                }
            }
            passes
        };
        // As few as can be, and then as even as can be.
        let fewest = passes(most).len();
        let same = (2..most).map(passes).find(|all| all.len() == fewest);
        let mut outer = same.unwrap_or_else(|| passes(most));
        if cut < all {
            outer.push(cut..all);
        }
        outer
    }

    pub(super) fn identity(&self) -> Map {
        (0..self.ntt.size()).collect()
    }

    /// Where the shuffled pass finds its registers one after the other.
    pub(super) fn middle(&self) -> Map {
        if !self.inside() {
            return self.identity();
        }
        let Reach { chosen, lanes, rest } = self.shuffled();
        layout(&[lanes, chosen, rest].concat())
    }

    /// Where strided stores put blocks that lay side by side: one after the other.
    pub(super) fn apart(&self) -> Map {
        match self.shuffles {
            Shuffles::Interleaving => self.identity(),
            Shuffles::Striding => {
                let Reach { chosen, lanes, rest } = self.shuffled();
                layout(&[chosen, lanes, rest].concat())
            }
        }
    }

    /// A pass on registers with these digits; `chosen` may get more registers where its groups
    /// would not be the rounds of two loops otherwise.
    pub(super) fn pass(
        &self,
        title: &str,
        reach: &Reach,
        (from, to): (&Map, &Map),
        work: &dyn Fn(&mut Hand),
    ) -> Pass {
        let top = reach.chosen.iter().map(|axis| axis.distance).max().unwrap_or(0);
        let below = reach.rest.iter().filter(|axis| axis.distance < top).count();
        // The loops that a power of two always has come first.
        let cuts = [below].into_iter().chain((0..=reach.rest.len()).filter(|&cut| cut != below));
        // Then blocks side by side in the same group, if there are such.
        let beside = self.side_by_side();
        let (more, rest): (Vec<Axis>, Vec<Axis>) =
            reach.rest.iter().partition(|axis| beside.contains(axis));
        let chosen = ascending([&reach.chosen[..], &more].concat());
        let wider = Reach { chosen, lanes: reach.lanes.clone(), rest };
        let last = if more.is_empty() { 0 } else { wider.rest.len() + 1 };
        let all = cuts.map(|cut| (reach, cut)).chain((0..last).map(|cut| (&wider, cut)));
        let pass = |(reach, cut)| self.pass_cut(title, reach, cut, (from, to), work);
        all.clone().map(pass).find(even).unwrap_or_else(|| pass((reach, below)))
    }

    /// The registers of a group.
    fn hand(&self, reach: &Reach, group: usize) -> Hand {
        let base = spread(&reach.rest, group);
        let register = |r: usize| {
            let start = base + spread(&reach.chosen, r);
            (0..self.lanes()).map(|l| start + spread(&reach.lanes, l)).collect()
        };
        Hand::new(self.shape, (0..count(&reach.chosen)).map(register).collect())
    }

    /// The pass whose inner loop has the first `cut` digits of the rest.
    fn pass_cut(
        &self,
        title: &str,
        reach: &Reach,
        cut: usize,
        (from, to): (&Map, &Map),
        work: &dyn Fn(&mut Hand),
    ) -> Pass {
        let inner = count(&reach.rest[..cut]);
        let groups = (0..count(&reach.rest)).map(|g| {
            let mut hand = self.hand(reach, g);
            let load = |r: &Vec<usize>| spot(self.shape, r, &|i| from[i]);
            let loads = hand.registers.iter().map(load).collect();
            work(&mut hand);
            hand.finish(loads, &|i| to[i])
        });
        let groups: Vec<Group> = groups.collect();
        Pass { title: title.into(), outer: groups.len() / inner, inner, groups }
    }

    /// The shuffled pass: what chooses its registers, what its lanes are, and the rest.
    pub(super) fn shuffled(&self) -> Reach {
        let levels = self.levels();
        let beside = self.side_by_side();
        let rest = levels[..self.outside()].iter().filter(|level| !beside.contains(level));
        let rest = ascending(rest.copied().collect());
        match self.shuffles {
            Shuffles::Striding => {
                let chosen = vec![Axis::neighbours(self.block())];
                Reach { chosen, lanes: ascending(beside), rest }
            }
            Shuffles::Interleaving => {
                let part = self.shape.part();
                let mut chosen = vec![Axis { distance: part, radix: self.odd() }];
                chosen.retain(|axis| axis.radix > 1);
                chosen.extend(
                    (1..=self.needed()).map(|k| Axis { distance: self.block() >> k, radix: 2 }),
                );
                let lanes = [vec![Axis::neighbours(part)], beside].concat();
                Reach { chosen: ascending(chosen), lanes, rest }
            }
        }
    }

    /// Whole registers as they lie, those of a group differing in the digits of these levels.
    pub(super) fn whole(&self, levels: &Range<usize>) -> Reach {
        let (all, lanes) = (self.levels(), self.lanes());
        let outside = self.outside();
        let chosen = ascending(all[levels.clone()].to_vec());
        let mut rest = vec![Axis { distance: lanes, radix: self.block() / lanes }];
        rest.retain(|axis| axis.radix > 1);
        let others = (0..outside).filter(|level| !levels.contains(level));
        rest.extend(others.map(|level| all[level]));
        Reach { chosen, lanes: vec![Axis::neighbours(lanes)], rest: ascending(rest) }
    }

    /// The rounds of interleaving, by the bits of their units.
    pub(super) fn rounds(&self) -> Vec<u8> {
        if self.shuffles == Shuffles::Striding || !self.inside() {
            return Vec::new();
        }
        let first = self.shape.bits as usize * (self.ntt.degree() / self.odd());
        let within = self.levels().len() - self.outside();
        (0..within - self.needed()).map(|round| (first << round) as u8).collect()
    }

    /// The level whose digit a round on the way in gives away: the last that is done.
    pub(super) fn done(&self, round: usize) -> usize {
        self.outside() + self.needed() - 1 + round
    }

    /// The way in without butterflies: each round brings out a bit for the digit of the level before.
    pub(super) fn enter(&self, hand: &mut Hand) {
        let levels = self.levels();
        for (round, unit) in self.rounds().into_iter().enumerate() {
            hand.interleave(unit, levels[self.done(round)].distance);
        }
    }

    /// The distance of the registers that a round on the way out brings together: neighbours in
    /// units of what has come back already.
    pub(super) fn back(&self, round: usize) -> usize {
        (self.ntt.degree() / self.odd()) << round
    }

    /// The way out without butterflies.
    pub(super) fn leave(&self, hand: &mut Hand) {
        for (round, unit) in self.rounds().into_iter().enumerate() {
            hand.interleave(unit, self.back(round));
        }
    }

    /// Where index i of a transformed array lies.
    pub fn own(&self) -> Map {
        let (standard, inside) = (self.standard, self.inside());
        if standard || !inside {
            return self.identity();
        }
        // As the shuffles leave it, in the places of the registers that were loaded.
        let (reach, middle) = (self.shuffled(), self.middle());
        let mut map = vec![0; self.ntt.size()];
        for group in 0..count(&reach.rest) {
            let mut hand = self.hand(&reach, group);
            let starts: Vec<usize> = hand.registers.iter().map(|r| middle[r[0]]).collect();
            self.enter(&mut hand);
            for (register, start) in hand.registers.iter().zip(starts) {
                register.iter().enumerate().for_each(|(l, &i)| map[i] = start + l);
            }
        }
        map
    }
}
