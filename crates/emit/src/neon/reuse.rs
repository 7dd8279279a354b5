//! Loads of overlapping words: a register between two that are loaded is cut out of both, and pairs of words are
//! taken from a register that holds several. Loads take longer than either.

use crate::x86::Place;
use ringforge_program::ir::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Where a half of a loaded value comes from; registers are numbers in [`Reuse::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A register.
    Whole(usize),
    /// Words `k..` of the first register, and then those of the second.
    Between(usize, usize, usize),
}

/// What a block loads, each register once.
#[derive(Default)]
pub(super) struct Reuse {
    /// The first word of each register.
    pub registers: Vec<(BufferId, Index)>,
    /// Halves of loaded values, by operation and half.
    pub halves: HashMap<(usize, usize), Source>,
    /// Broadcast pairs, by operation: a register and the pair's number in it.
    pub pairs: HashMap<usize, (usize, usize)>,
}

/// Loads that see the same memory: a buffer between two stores to it, at indices that differ by a constant.
type Group = (BufferId, u32, Vec<(LoopVar, i64)>);

/// What is loaded how.
pub(super) fn reuse(place: &Place, block: &Block, live: &[bool]) -> Reuse {
    let mut stores: HashMap<BufferId, u32> = HashMap::new();
    let mut halves: BTreeMap<Group, Vec<(i64, usize, usize)>> = BTreeMap::new();
    let mut pairs: BTreeMap<Group, Vec<(i64, usize)>> = BTreeMap::new();
    let full = 128 / usize::from(place.bits);
    let buffers = &place.procedure.buffers;
    let parameter = |id: BufferId| buffers[id.0 as usize].role.is_parameter();
    for (i, op) in block.ops.iter().enumerate().filter(|(i, _)| live[*i]) {
        let group = |id: BufferId, at: &Index| {
            let mut terms = at.terms.clone();
            terms.sort();
            (id, stores.get(&id).copied().unwrap_or(0), terms)
        };
        let mut half = |id: BufferId, at: &Index, half: usize| {
            if place.kept(id) == place.bits {
                halves.entry(group(id, at)).or_default().push((at.base, i, half));
            }
        };
        match op {
            Op::Load { buffer, at } => {
                half(*buffer, at, 0);
                half(*buffer, &at.plus(full), 1);
            }
            Op::LoadParts { buffer, at } => {
                at.iter().enumerate().for_each(|(k, at)| half(*buffer, at, k));
            }
            Op::BroadcastPair { buffer, at } if place.bits == 16 => {
                pairs.entry(group(*buffer, at)).or_default().push((at.base, i));
            }
            Op::Store { buffer, .. }
            | Op::StorePartial { buffer, .. }
            | Op::StoreParts { buffer, .. }
            | Op::StoreStrided { buffer, .. } => {
                // Parameters may be one array.
                let all = (0..buffers.len() as u32).map(BufferId);
                let same = |id: &BufferId| id == buffer || parameter(*id) && parameter(*buffer);
                all.filter(same).for_each(|id| *stores.entry(id).or_default() += 1);
            }
            _ => {}
        }
    }
    let mut found = Reuse::default();
    for ((buffer, _, terms), uses) in halves {
        found.cut(buffer, terms, &uses, full as i64);
    }
    for ((buffer, _, terms), uses) in pairs {
        found.spread(buffer, terms, &uses);
    }
    found
}

impl Reuse {
    fn register(&mut self, buffer: BufferId, terms: &[(LoopVar, i64)], base: i64) -> usize {
        self.registers.push((buffer, Index { base, terms: terms.to_vec() }));
        self.registers.len() - 1
    }

    /// Halves of one group: those a register apart from the first one on and from the last one down are loaded,
    /// and what lies between two of them is cut out.
    fn cut(
        &mut self,
        buffer: BufferId,
        terms: Vec<(LoopVar, i64)>,
        uses: &[(i64, usize, usize)],
        full: i64,
    ) {
        let all: BTreeSet<i64> = uses.iter().map(|u| u.0).collect();
        let (Some(&first), Some(&last)) = (all.first(), all.last()) else { return };
        let mut loaded: BTreeSet<i64> = BTreeSet::new();
        let up = (0..).map(|k| first + k * full).take_while(|at| all.contains(at));
        let down = (0..).map(|k| last - k * full).take_while(|at| all.contains(at));
        loaded.extend(up);
        let covered = |loaded: &BTreeSet<i64>, at: i64| {
            let mut lower = loaded.range(at - full..=at).rev();
            lower.find(|&&low| low == at || loaded.contains(&(low + full))).copied()
        };
        for at in down {
            // Upwards may have covered it all.
            if all.range(at..).any(|&x| covered(&loaded, x).is_none()) {
                loaded.insert(at);
            }
        }
        for &at in &all {
            if covered(&loaded, at).is_none() {
                loaded.insert(at);
            }
        }
        if uses.len() == loaded.len() {
            return;
        }
        let registers: BTreeMap<i64, usize> =
            loaded.iter().map(|&at| (at, self.register(buffer, &terms, at))).collect();
        for &(at, op, half) in uses {
            let source = match (registers.get(&at), covered(&loaded, at)) {
                (Some(&whole), _) => Source::Whole(whole),
                (None, Some(low)) => {
                    Source::Between(registers[&low], registers[&(low + full)], (at - low) as usize)
                }
                (None, None) => continue,
            };
            self.halves.insert((op, half), source);
        }
    }

    /// Four neighbouring pairs are loaded together.
    fn spread(&mut self, buffer: BufferId, terms: Vec<(LoopVar, i64)>, uses: &[(i64, usize)]) {
        let mut left: BTreeSet<i64> = uses.iter().map(|u| u.0).collect();
        while let Some(first) = left.pop_first() {
            let others = [2, 4, 6].map(|k| first + k);
            if !others.iter().all(|at| left.contains(at)) {
                continue;
            }
            let register = self.register(buffer, &terms, first);
            others.iter().for_each(|at| {
                left.remove(at);
            });
            for &(at, op) in uses {
                if (0..=6).contains(&(at - first)) && (at - first) % 2 == 0 {
                    self.pairs.insert(op, (register, (at - first) as usize / 2));
                }
            }
        }
    }
}
