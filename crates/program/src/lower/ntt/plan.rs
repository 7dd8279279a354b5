//! The passes of the transforms on a machine.
//!
//! Levels whose distance is a register or more work on whole registers, up to three levels
//! (eight registers) between load and store [Seiler18 §4]. For the levels within a register
//! there are two ways.
//!
//! *Interleaving* (AVX2). A state is written [s | p2 p1 p0]: bits of the index that select the
//! register of a pair, and those that select the word of a 128-bit part. Interleaving elements of
//! 2^k words brings p2 to s and puts s in below: [s | p2 p1 p0] becomes [p2 | s p1 p0], [p2 | p1 s
//! p0] or [p2 | p1 p0 s]. From [b3 | b2 b1 b0] rounds of 16, 32 and 64 bits expose b2, b1 and b0 and
//! leave [b0 | b1 b2 b3]; the same rounds expose b1, b2, b3 on the way back and end as it began.
//! The bit that selects parts is one of the next pass: the pass before stores parts, which costs
//! no vector slot. Where factors of degree d stay, the first log2(d) rounds are left out.
//!
//! *Striding* (portable C): squares of `lanes` rows are transposed by strided stores.

use super::pass::*;
use ringforge_plan::{Butterflies, Ntt};
use ringforge_ring::zq;

/// How words within a register are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffles {
    /// By interleaving registers and by parts.
    Interleaving,
    /// By strided stores.
    Striding,
}

/// What an inverse does behind its levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Every element is multiplied by this, apart from untwisting.
    pub factor: u64,
    /// Canonical residues, or what comes.
    pub freeze: bool,
}

/// A transform on a machine: all passes follow from it.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    /// The transform.
    pub ntt: &'a Ntt,
    /// Registers.
    pub shape: Shape,
    /// How words within a register are reached.
    pub shuffles: Shuffles,
    /// Whether transformed arrays are in standard order.
    pub standard: bool,
    /// Levels on whole registers that the pass with shuffles takes with it.
    pub with: u32,
    /// Most levels on whole registers in one pass.
    pub depth: u32,
}

/// Where index i lies.
type Map = Vec<usize>;

impl Machine<'_> {
    fn n(&self) -> usize {
        self.ntt.len()
    }

    /// log2 of n, of the words of a register, of the degree that stays.
    pub(super) fn logs(&self) -> (u32, u32, u32) {
        let log = |x: usize| x.trailing_zeros();
        (log(self.n()), log(self.shape.lanes()), log(self.ntt.degree()))
    }

    /// Whether there are levels within a register.
    pub fn inside(&self) -> bool {
        self.ntt.degree() < self.shape.lanes()
    }

    /// Bits above the register that the shuffled pass takes with it.
    fn extra(&self) -> u32 {
        let (e, lanes, _) = self.logs();
        match self.shuffles {
            Shuffles::Striding => lanes,
            Shuffles::Interleaving => self.with.min(e - lanes - 1),
        }
    }

    /// Bits of the passes on whole registers, from the top, each at most `depth`.
    fn outer_bits(&self) -> Vec<Vec<u32>> {
        let (e, lanes, d) = self.logs();
        let bottom = match (self.inside(), self.shuffles) {
            (false, _) => d,
            (true, Shuffles::Interleaving) => lanes + self.extra(),
            (true, Shuffles::Striding) => 2 * lanes,
        };
        let bits: Vec<u32> = (bottom..e).rev().collect();
        let passes = bits.len().div_ceil(self.depth as usize).max(1);
        let mut all: Vec<Vec<u32>> =
            bits.chunks(bits.len().div_ceil(passes).max(1)).map(<[u32]>::to_vec).collect();
        if self.inside() && self.shuffles == Shuffles::Striding {
            all.push((lanes..2 * lanes).rev().collect());
        }
        all
    }

    pub(super) fn identity(&self) -> Map {
        (0..self.n()).collect()
    }

    /// Where the shuffled pass finds its registers one after the other.
    pub(super) fn middle(&self) -> Map {
        let (_, lanes, _) = self.logs();
        let k = self.extra();
        (0..self.n())
            .map(|i| {
                let bit = |b: u32| i >> b & 1;
                match self.shuffles {
                    _ if !self.inside() => i,
                    Shuffles::Interleaving => {
                        // Bit lanes + k to the parts' place, those below it one up.
                        let low = (1 << (lanes - 1)) - 1;
                        let mid = (i >> (lanes - 1)) & ((1 << (k + 1)) - 1);
                        (i >> (lanes + k + 1) << (lanes + k + 1))
                            | mid << lanes
                            | bit(lanes + k) << (lanes - 1)
                            | i & low
                    }
                    Shuffles::Striding => {
                        let (low, mid) =
                            (i % self.shape.lanes(), i >> lanes & (self.shape.lanes() - 1));
                        i >> (2 * lanes) << (2 * lanes) | low << lanes | mid
                    }
                }
            })
            .collect()
    }

    /// A pass on registers whose lanes have the index bits `lanes` and which differ in the bits
    /// `chosen`; all other bits number the groups.
    pub(super) fn pass(
        &self,
        title: &str,
        chosen: &[u32],
        lanes: &[u32],
        from: &Map,
        to: Option<&Map>,
        work: &dyn Fn(&mut Hand),
    ) -> Pass {
        let spread = |bits: &[u32], value: usize| {
            bits.iter().enumerate().fold(0, |i, (k, &b)| i | (value >> k & 1) << b)
        };
        let mut ascending = chosen.to_vec();
        ascending.sort_unstable();
        let used = |b: &u32| !chosen.contains(b) && !lanes.contains(b);
        let rest: Vec<u32> = (0..self.logs().0).filter(used).collect();
        let top = chosen.iter().max().copied().unwrap_or(0);
        let inner = rest.iter().filter(|&&b| b < top).count();
        let groups = (0..1 << rest.len()).map(|g| {
            let base = spread(&rest, g);
            let registers: Vec<Vec<usize>> = (0..1 << chosen.len())
                .map(|r| {
                    let start = base | spread(&ascending, r);
                    (0..self.shape.lanes()).map(|l| start | spread(lanes, l)).collect()
                })
                .collect();
            let loads: Vec<Spot> =
                registers.iter().map(|r| spot(self.shape, r, &|i| from[i])).collect();
            let mut hand = Hand::new(self.shape, registers);
            work(&mut hand);
            match to {
                Some(to) => hand.finish(loads, &|i| to[i]),
                // As they lie, in the places of the registers that were loaded.
                None => {
                    let mut at = std::collections::HashMap::new();
                    for (register, load) in hand.registers.iter().zip(&loads) {
                        let start = load.bases()[0];
                        register.iter().enumerate().for_each(|(l, &i)| {
                            at.insert(i, start + l);
                        });
                    }
                    hand.finish(loads, &|i| at[&i])
                }
            }
        });
        Pass {
            title: title.into(),
            groups: groups.collect(),
            outer: 1 << (rest.len() - inner),
            inner: 1 << inner,
        }
    }

    /// Bits of the shuffled pass: those that choose registers, and those of the lanes.
    pub(super) fn shuffled_bits(&self) -> (Vec<u32>, Vec<u32>) {
        let (_, lanes, _) = self.logs();
        let k = self.extra();
        match self.shuffles {
            Shuffles::Striding => ((0..lanes).rev().collect(), (lanes..2 * lanes).collect()),
            Shuffles::Interleaving => (
                (lanes - 1..lanes + k).rev().collect(),
                (0..lanes - 1).chain([lanes + k]).collect(),
            ),
        }
    }

    /// The rounds of interleaving: units and, on the way in, the bits whose registers meet.
    fn rounds(&self) -> Vec<(u8, u32)> {
        let (_, lanes, d) = self.logs();
        if self.shuffles == Shuffles::Striding || d + 1 >= lanes {
            return Vec::new();
        }
        let first = self.shape.bits << d;
        (0..lanes - 1 - d).map(|j| (first << j, lanes - 1 - j)).collect()
    }

    /// The way in without butterflies.
    pub(super) fn enter(&self, hand: &mut Hand) {
        self.rounds().iter().for_each(|&(unit, bit)| hand.interleave(unit, bit));
    }

    /// The way out without butterflies.
    pub(super) fn leave(&self, hand: &mut Hand) {
        let d = self.logs().2;
        for (j, (unit, _)) in self.rounds().into_iter().enumerate() {
            hand.interleave(unit, d + j as u32);
        }
    }

    /// Where index i of a transformed array lies.
    pub fn own(&self) -> Map {
        let (standard, inside) = (self.standard, self.inside());
        if standard || !inside {
            return self.identity();
        }
        let (chosen, lanes) = self.shuffled_bits();
        let mut map = vec![0; self.n()];
        let pass = self.pass("", &chosen, &lanes, &self.middle(), None, &|hand| self.enter(hand));
        // Play the indices through the steps.
        for (number, group) in pass.groups.iter().enumerate() {
            let mut hand = Hand::new(self.shape, self.registers_of(&pass, number));
            for step in &group.steps {
                if let Step::Interleave { a, b, unit } = step {
                    hand.interleave_pair(*unit, *a, *b);
                }
            }
            for (register, store) in hand.registers.iter().zip(&group.stores) {
                let start = store.bases()[0];
                register.iter().enumerate().for_each(|(l, &i)| map[i] = start + l);
            }
        }
        map
    }

    /// The indices that a group of the shuffled pass loads.
    fn registers_of(&self, pass: &Pass, group: usize) -> Vec<Vec<usize>> {
        let mut index_at = vec![0; self.n()];
        self.middle().iter().enumerate().for_each(|(i, &p)| index_at[p] = i);
        let loads = pass.groups[group].loads.iter();
        loads.map(|s| index_at[s.bases()[0]..][..self.shape.lanes()].to_vec()).collect()
    }

    fn forward_level(&self, hand: &mut Hand, bit: u32) {
        let level = self.logs().0 - 1 - bit;
        let factor = |i: usize| self.ntt.forward_factor(level, i).value();
        hand.level(level, bit, Butterflies::CooleyTukey, &factor);
    }

    fn inverse_level(&self, hand: &mut Hand, bit: u32) {
        let level = bit - self.logs().2;
        let factor = |i: usize| self.ntt.inverse_factor(level, i);
        hand.level(level, bit, self.ntt.inverse, &factor);
    }

    pub(super) fn lanes_natural(&self) -> Vec<u32> {
        (0..self.logs().1).collect()
    }

    /// From coefficients to a transformed array.
    pub fn forward(&self) -> Vec<Pass> {
        let (mut passes, outer) = (Vec::new(), self.outer_bits());
        let d = self.logs().2;
        for (number, bits) in outer.iter().enumerate() {
            let last = number + 1 == outer.len();
            let to = if last { self.middle() } else { self.identity() };
            let title = format!("{} levels on whole registers", bits.len());
            let lanes = self.lanes_natural();
            passes.push(self.pass(&title, bits, &lanes, &self.identity(), Some(&to), &|hand| {
                if number == 0 && self.ntt.twist {
                    hand.scale(&|i| self.ntt.twist_factor(i).value());
                }
                bits.iter().for_each(|&bit| self.forward_level(hand, bit));
            }));
        }
        if self.inside() {
            let (chosen, lanes) = self.shuffled_bits();
            let identity = self.identity();
            let to = self.standard.then_some(&identity);
            let title = format!("{} levels within registers", chosen.len() + self.rounds().len());
            passes.push(self.pass(&title, &chosen, &lanes, &self.middle(), to, &|hand| {
                chosen.iter().filter(|&&b| b >= d).for_each(|&bit| self.forward_level(hand, bit));
                for (unit, bit) in self.rounds() {
                    hand.interleave(unit, bit);
                    self.forward_level(hand, bit - 1);
                }
                if self.standard {
                    self.leave(hand);
                }
            }));
        }
        passes
    }

    /// From a transformed array to coefficients.
    pub fn inverse(&self, ending: Ending) -> Vec<Pass> {
        let (q, d) = (self.ntt.domain.q, self.logs().2);
        let last_level = self.ntt.levels - 1;
        let factor = |i: usize| zq::mul(ending.factor, self.ntt.untwist_factor(i), q);
        let end = |hand: &mut Hand| {
            match self.ntt.inverse {
                Butterflies::GentlemanSande => hand.scale_into_last(last_level, &factor, q),
                Butterflies::CooleyTukey => hand.scale(&factor),
            }
            if ending.freeze {
                hand.freeze();
            }
        };
        let mut passes = Vec::new();
        let outer = self.outer_bits();
        if self.inside() {
            let (chosen, lanes) = self.shuffled_bits();
            let striding = self.shuffles == Shuffles::Striding;
            if striding && self.standard {
                passes.push(self.transposition(true));
            }
            let identity = self.identity();
            let from = if self.standard && !striding { &identity } else { &self.middle() };
            let work = |hand: &mut Hand| {
                let mut bits: Vec<u32> = chosen.iter().copied().filter(|&b| b >= d).collect();
                bits.reverse();
                if !striding {
                    self.inverse_level(hand, d);
                    for (j, (unit, _)) in self.rounds().into_iter().enumerate() {
                        hand.interleave(unit, d + j as u32);
                        self.inverse_level(hand, d + j as u32 + 1);
                    }
                    bits.retain(|&b| b >= self.logs().1);
                }
                bits.iter().for_each(|&bit| self.inverse_level(hand, bit));
            };
            let title = format!("{} levels within registers", chosen.len() + self.rounds().len());
            let pass = self.pass(&title, &chosen, &lanes, from, Some(&identity), &|hand| {
                self.enter(hand);
                work(hand);
            });
            passes.push(if self.standard || striding { pass } else { self.without_entry(pass) });
        }
        for (number, bits) in outer.iter().rev().enumerate() {
            let title = format!("{} levels on whole registers", bits.len());
            let lanes = self.lanes_natural();
            let identity = self.identity();
            passes.push(self.pass(&title, bits, &lanes, &identity, Some(&identity), &|hand| {
                bits.iter().rev().for_each(|&bit| self.inverse_level(hand, bit));
                if number + 1 == outer.len() {
                    end(hand);
                }
            }));
        }
        passes
    }

    /// A shuffled pass that finds its registers shuffled already: the rounds on the way in gone.
    pub(super) fn without_entry(&self, mut pass: Pass) -> Pass {
        let (chosen, _) = self.shuffled_bits();
        let entry = self.rounds().len() << (chosen.len() - 1);
        for group in &mut pass.groups {
            group.steps.drain(..entry);
        }
        pass
    }
}
