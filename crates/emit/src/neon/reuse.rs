//! Loads of overlapping words. A register that lies between two that are loaded, or were just
//! stored, is cut out of both. Pairs of words are taken from a register that holds several. A load
//! takes longer than either.

use super::select::Selection;
use crate::source::Place;
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

/// Words that others are cut out of.
#[derive(Clone, Debug)]
pub(super) enum Register {
    /// Loaded from here on.
    Memory(BufferId, Index),
    /// A half of a value that the block has stored.
    Stored(Value, usize),
}

/// What a block loads, each register once.
#[derive(Default)]
pub(super) struct Reuse {
    /// Registers, which need not all be used.
    pub registers: Vec<Register>,
    /// Halves of loaded values, by operation and half.
    pub halves: HashMap<(usize, usize), Source>,
    /// Broadcast pairs and words of 32 bits, by operation: a register and the number in it.
    pub pairs: HashMap<usize, (usize, usize)>,
}

/// Loads that see the same memory: a buffer between two stores to it, at indices that differ by a constant.
type Group = (BufferId, u32, Vec<(LoopVar, i64)>);

/// What is loaded how.
pub(super) fn reuse(place: &Place, block: &Block, chosen: &Selection) -> Reuse {
    let mut stores: HashMap<BufferId, u32> = HashMap::new();
    let mut stored: HashMap<BufferId, Stored> = HashMap::new();
    let mut known: HashMap<Group, Vec<(i64, Value)>> = HashMap::new();
    let mut halves: BTreeMap<Group, Vec<(i64, usize, usize)>> = BTreeMap::new();
    let mut pairs: BTreeMap<Group, Vec<(i64, usize)>> = BTreeMap::new();
    let full = 128 / usize::from(place.bits);
    let buffers = &place.procedure.buffers;
    let parameter = |id: BufferId| buffers[id.0 as usize].role.is_parameter();
    for (i, op) in block.ops.iter().enumerate().filter(|(i, _)| chosen.live[*i]) {
        let group = |id: BufferId, at: &Index| {
            let mut terms = at.terms.clone();
            terms.sort();
            (id, stores.get(&id).copied().unwrap_or(0), terms)
        };
        let mut half = |id: BufferId, at: &Index, half: usize| {
            if place.kept(id) == place.bits {
                let group = group(id, at);
                if let Some(stored) = stored.get(&id).filter(|stored| stored.terms == group.2) {
                    known.insert(group.clone(), stored.values.clone());
                }
                halves.entry(group).or_default().push((at.base, i, half));
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
            // Words of 32 bits that are taken by lane alone.
            Op::Broadcast { buffer, at }
                if !chosen.whole[i] && place.kept(*buffer) == place.bits =>
            {
                pairs.entry(group(*buffer, at)).or_default().push((at.base, i));
            }
            Op::Store { buffer, .. }
            | Op::StorePartial { buffer, .. }
            | Op::StoreParts { buffer, .. }
            | Op::AddSum { buffer, .. }
            | Op::StoreStrided { buffer, .. } => {
                // Parameters may be one array.
                let all = (0..buffers.len() as u32).map(BufferId);
                let same = |id: &BufferId| id == buffer || parameter(*id) && parameter(*buffer);
                for id in all.filter(same) {
                    *stores.entry(id).or_default() += 1;
                    match op {
                        Op::Store { at, a, .. }
                            if id == *buffer && place.kept(id) == place.bits =>
                        {
                            stored.entry(id).or_default().put(at, *a, 2 * full as i64);
                        }
                        _ => drop(stored.remove(&id)),
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Reuse::default();
    for (group, uses) in halves {
        let known = known.remove(&group).unwrap_or_default();
        let half = |k: usize, &(base, v): &(i64, Value)| (base + (k * full) as i64, (v, k));
        let known = known.iter().flat_map(|one| [half(0, one), half(1, one)]).collect();
        found.cut((group.0, group.2), &uses, full as i64, &known);
    }
    for ((buffer, _, terms), uses) in pairs {
        found.spread(buffer, terms, &uses, 32 / i64::from(place.bits));
    }
    found
}

/// What was stored last in a buffer, at indices that differ by constants.
#[derive(Default)]
struct Stored {
    terms: Vec<(LoopVar, i64)>,
    /// Values by their first words; they do not overlap.
    values: Vec<(i64, Value)>,
}

impl Stored {
    fn put(&mut self, at: &Index, value: Value, words: i64) {
        let mut terms = at.terms.clone();
        terms.sort();
        if terms != self.terms || self.values.iter().any(|v| (v.0 - at.base).abs() < words) {
            self.values.clear();
        }
        self.terms = terms;
        self.values.push((at.base, value));
    }
}

impl Reuse {
    fn register(&mut self, buffer: BufferId, terms: &[(LoopVar, i64)], base: i64) -> usize {
        let at = Index { base, terms: terms.to_vec() };
        self.registers.push(Register::Memory(buffer, at));
        self.registers.len() - 1
    }

    /// Halves of one group: what lies between two registers that are stored or loaded is cut out of
    /// these.
    fn cut(
        &mut self,
        (buffer, terms): (BufferId, Vec<(LoopVar, i64)>),
        uses: &[(i64, usize, usize)],
        full: i64,
        known: &BTreeMap<i64, (Value, usize)>,
    ) {
        let all: BTreeSet<i64> = uses.iter().map(|u| u.0).collect();
        let rising = terms.iter().all(|term| term.1 >= 0);
        let from = if rising { 0 } else { i64::MAX };
        let Some(loaded) = fewest(&all, full, from, known) else { return };
        if known.is_empty() && uses.len() == loaded.len() {
            return;
        }
        let mut registers: BTreeMap<i64, usize> = BTreeMap::new();
        for &at in loaded.iter().chain(known.keys()) {
            let register = match known.get(&at) {
                Some(&(value, half)) => {
                    self.registers.push(Register::Stored(value, half));
                    self.registers.len() - 1
                }
                None => self.register(buffer, &terms, at),
            };
            registers.insert(at, register);
        }
        let there: BTreeSet<i64> = registers.keys().copied().collect();
        for &(at, op, half) in uses {
            let source = match (registers.get(&at), covered(&there, at, full)) {
                (Some(&whole), _) => Source::Whole(whole),
                (None, Some(low)) => {
                    Source::Between(registers[&low], registers[&(low + full)], (at - low) as usize)
                }
                (None, None) => continue,
            };
            self.halves.insert((op, half), source);
        }
    }

    /// Loads four neighbouring pairs, or four single words of 32 bits, together. Each of the four
    /// has `words` words.
    fn spread(
        &mut self,
        buffer: BufferId,
        terms: Vec<(LoopVar, i64)>,
        uses: &[(i64, usize)],
        words: i64,
    ) {
        let mut left: BTreeSet<i64> = uses.iter().map(|u| u.0).collect();
        while let Some(first) = left.pop_first() {
            let others = [1, 2, 3].map(|k| first + k * words);
            if !others.iter().all(|at| left.contains(at)) {
                continue;
            }
            let register = self.register(buffer, &terms, first);
            others.iter().for_each(|at| {
                left.remove(at);
            });
            for &(at, op) in uses {
                let (number, rest) = ((at - first).div_euclid(words), (at - first) % words);
                if (0..4).contains(&number) && rest == 0 {
                    self.pairs.insert(op, (register, number as usize));
                }
            }
        }
    }
}

/// The register that words from `at` on begin in, where they lie in one or in two neighbours.
fn covered(there: &BTreeSet<i64>, at: i64, full: i64) -> Option<i64> {
    let mut lower = there.range(at - full..=at).rev();
    lower.find(|&&low| low == at || there.contains(&(low + full))).copied()
}

/// The fewest registers to load, besides those known, so that all wanted words can be cut out of
/// them. Either they go a full register apart from the first word up and from the last word down,
/// or they go a full register apart throughout. None begins before both `from` and the first word,
/// or after the last word.
fn fewest(
    all: &BTreeSet<i64>,
    full: i64,
    from: i64,
    known: &BTreeMap<i64, (Value, usize)>,
) -> Option<BTreeSet<i64>> {
    let (&first, &last) = (all.first()?, all.last()?);
    let ready: BTreeSet<i64> = known.keys().copied().collect();
    let both = |loaded: &BTreeSet<i64>| -> BTreeSet<i64> { loaded | &ready };
    let mut best: BTreeSet<i64> = BTreeSet::new();
    if known.is_empty() {
        best.extend((0..).map(|k| first + k * full).take_while(|at| all.contains(at)));
        let down = (0..).map(|k| last - k * full).take_while(|at| all.contains(at));
        for at in down {
            // Upwards may have covered it all.
            if all.range(at..).any(|&x| covered(&best, x, full).is_none()) {
                best.insert(at);
            }
        }
    }
    for &at in all {
        if covered(&both(&best), at, full).is_none() {
            best.insert(at);
        }
    }
    for start in 0..full {
        let mut loaded = BTreeSet::new();
        for &at in all.iter().filter(|&&at| covered(&ready, at, full).is_none()) {
            let low = at - (at - start).rem_euclid(full);
            loaded.insert(low);
            if low != at {
                loaded.insert(low + full);
            }
        }
        let within = loaded.iter().all(|&at| at >= from.min(first) && at <= last);
        if within && loaded.len() < best.len() {
            best = loaded;
        }
    }
    Some(best)
}
