//! Orders of a block's steps in which few values are live.

use super::{Place, Step};
use ringforge_program::ir::BufferId;
use std::collections::HashMap;

/// Most loads that are brought together: all but the first take a cycle less.
const GROUPS: [usize; 4] = [1, 2, 3, 4];

/// How far ahead, in steps, loads are brought to a load.
const AHEAD: usize = 24;

/// Whether two accesses may be of one word, arrays being the same or apart.
fn meet(a: &Place, b: &Place, words: i64, same: &dyn Fn(BufferId, BufferId) -> bool) -> bool {
    let near = (a.1.base - b.1.base).abs() < words || a.1.terms != b.1.terms;
    near && same(a.0, b.0)
}

/// For each store, the loads that come before it; nothing if memory forbids another order.
fn before(
    steps: &[Step],
    words: i64,
    same: &dyn Fn(BufferId, BufferId) -> bool,
) -> Option<HashMap<usize, Vec<usize>>> {
    let mut all: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, step) in steps.iter().enumerate() {
        let (place, stores) = match step {
            Step::Store(place, _) => (place, true),
            Step::Load(place) => (place, false),
            _ => continue,
        };
        for (earlier, other) in steps[..number].iter().enumerate() {
            match other {
                Step::Store(to, _) if meet(to, place, words, same) => return None,
                Step::Load(from) if stores && meet(from, place, words, same) => {
                    all.entry(number).or_default().push(earlier);
                }
                _ => {}
            }
        }
    }
    Some(all)
}

/// How steps are ordered: some one after the other, each with what it is made of before it.
#[derive(Clone)]
pub struct Way {
    /// All stores, and other steps that do not wait for them.
    roots: Vec<usize>,
    /// By step: whether the second operand comes first.
    second: Vec<bool>,
    /// By step: how many loads are brought together, if it is one.
    groups: Vec<usize>,
}

/// Numbers of steps in the order in which results, one after the other, want them.
struct Depth<'a> {
    steps: &'a [Step],
    before: &'a HashMap<usize, Vec<usize>>,
    /// Sums and differences by their operands.
    beside: HashMap<(usize, usize), Vec<usize>>,
    way: &'a Way,
    done: Vec<bool>,
    order: Vec<usize>,
}

impl Depth<'_> {
    fn take(&mut self, number: usize) {
        if self.done[number] {
            return;
        }
        let mut reads = self.steps[number].reads();
        if self.way.second[number] {
            reads.reverse();
        }
        reads.extend(self.before.get(&number).into_iter().flatten());
        reads.into_iter().for_each(|read| self.take(read));
        self.emit(number);
        // What else is made of the same two: they need not wait for it.
        if let Step::Add(a, b) | Step::Sub(a, b) = self.steps[number] {
            let beside = self.beside.get(&(a.min(b), a.max(b))).cloned().unwrap_or_default();
            beside.into_iter().for_each(|other| self.emit(other));
        }
    }

    fn emit(&mut self, number: usize) {
        if !self.done[number] {
            self.done[number] = true;
            self.order.push(number);
        }
    }
}

/// The same order, loads brought together in groups.
fn grouped(steps: &[Step], order: &[usize], groups: &[usize]) -> Vec<usize> {
    let load = |n: &usize| matches!(steps[*n], Step::Load(_) | Step::Constant(_));
    let (mut done, mut all) = (vec![false; steps.len()], Vec::new());
    for (place, &number) in order.iter().enumerate() {
        if done[number] {
            continue;
        }
        done[number] = true;
        all.push(number);
        if !load(&number) {
            continue;
        }
        let ahead = order[place + 1..].iter().take(AHEAD).copied();
        let more = ahead.filter(|n| load(n) && !done[*n]).take(groups[number] - 1);
        for next in more.collect::<Vec<usize>>() {
            done[next] = true;
            all.push(next);
        }
    }
    all
}

fn renumbered(steps: &[Step], order: &[usize]) -> Vec<Step> {
    let mut new = vec![usize::MAX; steps.len()];
    order.iter().enumerate().for_each(|(to, &from)| new[from] = to);
    order.iter().map(|&n| steps[n].with(|v| new[v])).collect()
}

/// Numbers that look random, the same on every run.
pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// The orders of a block that memory allows.
pub struct Orders<'a> {
    steps: &'a [Step],
    before: HashMap<usize, Vec<usize>>,
}

impl<'a> Orders<'a> {
    /// Nothing where there is but one. A register has so many words.
    pub fn of(
        steps: &'a [Step],
        words: i64,
        same: &dyn Fn(BufferId, BufferId) -> bool,
    ) -> Option<Orders<'a>> {
        before(steps, words, same).map(|before| Orders { steps, before })
    }

    /// Ways that are the same everywhere.
    pub fn plain(&self) -> Vec<Way> {
        let own: Vec<usize> = (0..self.steps.len()).collect();
        let store = |n: &usize| matches!(self.steps[*n], Step::Store(..));
        let stores: Vec<usize> = own.iter().copied().filter(store).collect();
        let back: Vec<usize> = stores.iter().rev().copied().collect();
        let mut all = Vec::new();
        for (roots, second) in
            [(&own, false), (&stores, false), (&back, false), (&stores, true), (&back, true)]
        {
            let second = vec![second; self.steps.len()];
            all.extend(GROUPS.map(|size| Way {
                roots: roots.clone(),
                second: second.clone(),
                groups: vec![size; self.steps.len()],
            }));
        }
        all
    }

    /// A way that differs in little.
    pub fn beside(&self, way: &Way, random: &mut Random) -> Way {
        let mut way = way.clone();
        for _ in 0..=random.below(3) {
            let step = random.below(self.steps.len());
            match random.below(4) {
                0 => {
                    let [a, b] = [0; 2].map(|_| random.below(way.roots.len()));
                    way.roots.swap(a, b);
                }
                1 => {
                    let from = random.below(way.roots.len());
                    let moved = way.roots.remove(from);
                    way.roots.insert(random.below(way.roots.len() + 1), moved);
                }
                2 => way.second[step] = !way.second[step],
                _ => {
                    let loads: Vec<usize> = (0..self.steps.len())
                        .filter(|&n| matches!(self.steps[n], Step::Load(_) | Step::Constant(_)))
                        .collect();
                    if let Some(load) = loads.get(random.below(loads.len().max(1))) {
                        way.groups[*load] = GROUPS[random.below(GROUPS.len())];
                    }
                }
            }
        }
        way
    }

    /// The steps in the order of a way.
    pub fn steps(&self, way: &Way) -> Vec<Step> {
        let mut beside: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
        for (number, step) in self.steps.iter().enumerate() {
            if let Step::Add(a, b) | Step::Sub(a, b) = *step {
                beside.entry((a.min(b), a.max(b))).or_default().push(number);
            }
        }
        let done = vec![false; self.steps.len()];
        let (steps, before) = (self.steps, &self.before);
        let mut depth = Depth { steps, before, beside, way, done, order: Vec::new() };
        way.roots.iter().for_each(|store| depth.take(*store));
        renumbered(steps, &grouped(steps, &depth.order, &way.groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_program::ir::Index;

    fn place(buffer: u32, at: usize) -> Place {
        (BufferId(buffer), Index::at(at))
    }

    /// Every order has every step once, operands before what reads them, and a word's load before its store.
    #[test]
    fn orders_keep_what_depends() {
        let mut steps: Vec<Step> = (0..4).map(|k| Step::Load(place(0, 2 * k))).collect();
        steps.extend([Step::Add(0, 2), Step::Sub(0, 2), Step::Add(1, 3), Step::Sub(1, 3)]);
        // The first store's place is loaded, by a value that it does not depend on.
        steps.push(Step::Store(place(1, 2), 4));
        steps.extend((5..8).map(|k| Step::Store(place(1, [0, 4, 6][k - 5]), k)));
        let same = |_: BufferId, _: BufferId| true;
        let orders = Orders::of(&steps, 2, &same).unwrap();
        let (mut ways, mut random) = (orders.plain(), Random::new());
        assert_eq!(ways.len(), 20);
        (0..200).for_each(|k| ways.push(orders.beside(&ways[k], &mut random)));
        for way in &ways {
            let order = orders.steps(way);
            assert_eq!(order.len(), steps.len());
            let mut loaded = Vec::new();
            for (number, step) in order.iter().enumerate() {
                assert!(step.reads().iter().all(|&read| read < number));
                match step {
                    Step::Load(place) => loaded.push(place.1.base),
                    Step::Store(place, _) => assert!(loaded.contains(&place.1.base)),
                    _ => {}
                }
            }
        }
        // A load behind a store of its word stays there: no other order.
        steps.push(Step::Load(place(0, 0)));
        assert!(Orders::of(&steps, 2, &same).is_none());
        assert!(Orders::of(&steps, 2, &|a, b| a == b).is_some(), "arrays apart");
    }
}
