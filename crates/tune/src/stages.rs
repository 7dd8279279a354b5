//! Cooley–Tukey by whole layers, as the seed searches [TokudaKameyama23 §4.1]: after each layer
//! all sums are reduced or none, and all differences.

use crate::arith::{Interval, Layers, Ranges, Reduction, hull, within};
use crate::check::Site;
use crate::space::{INFEASIBLE, Stats, Weights};
use std::collections::BTreeMap;

type Sides = [Option<Reduction>; 2];
/// For each state the cost, the state before and the choice.
type Reached = BTreeMap<Vec<Interval>, (u64, Vec<Interval>, Sides)>;

pub(crate) struct Stages<'a> {
    pub(crate) ranges: &'a mut Ranges,
    pub(crate) layers: &'a Layers,
    pub(crate) weights: &'a Weights,
    pub(crate) stats: Stats,
    /// By layers done.
    reached: Vec<Reached>,
}

impl<'a> Stages<'a> {
    pub(crate) fn new(ranges: &'a mut Ranges, layers: &'a Layers, weights: &'a Weights) -> Self {
        Stages { ranges, layers, weights, stats: Stats::default(), reached: Vec::new() }
    }

    /// The least cost, in decisions.
    pub(crate) fn least(&mut self, input: Interval) -> u64 {
        let mut choices: Vec<Option<(Reduction, u64)>> = vec![None];
        choices.extend(self.weights.iter().map(|&w| Some(w)));
        let start = BTreeMap::from([(vec![input], (0, Vec::new(), [None; 2]))]);
        self.reached = vec![start];
        for layer in 0..self.layers.count {
            let Some(t) = self.product(layer) else { return INFEASIBLE };
            let mut next = Reached::new();
            for (state, &(cost, ..)) in &self.reached[layer] {
                let grown: Option<Vec<[Interval; 2]>> = (state.iter())
                    .map(|&u| {
                        Some([
                            self.ranges.add(u, t)?,
                            self.ranges.sub(u, t, self.ranges.multiple(t))?,
                        ])
                    })
                    .collect();
                let Some(grown) = grown else {
                    self.stats.overflow += 1;
                    continue;
                };
                for &sum in &choices {
                    for &difference in &choices {
                        self.stats.choices += 1;
                        let sides = [sum, difference];
                        let mut after: Vec<Interval> = Vec::new();
                        for pair in &grown {
                            for (x, side) in pair.iter().zip(sides) {
                                let y = side.map_or(*x, |(kind, _)| self.ranges.reduce(kind, *x));
                                if !after.iter().any(|&z| within(y, z)) {
                                    after.retain(|&z| !within(z, y));
                                    after.push(y);
                                }
                            }
                        }
                        after.sort_unstable();
                        let total = cost + sides.iter().flatten().map(|(_, w)| w).sum::<u64>();
                        let entry = (total, state.clone(), sides.map(|s| s.map(|(kind, _)| kind)));
                        match next.get(&after) {
                            Some(old) if old.0 <= total => self.stats.dominated += 1,
                            _ => {
                                next.insert(after, entry);
                            }
                        }
                    }
                }
            }
            self.stats.states += next.len() as u64;
            self.reached.push(next);
        }
        let last = self.reached.last().into_iter().flat_map(BTreeMap::values);
        last.map(|e| e.0).min().unwrap_or(INFEASIBLE)
    }

    fn product(&mut self, layer: usize) -> Option<Interval> {
        let mut range: Option<Interval> = None;
        for w in self.layers.twiddles(self.ranges.q, layer) {
            let p = self.ranges.product(w, self.ranges.word())?;
            range = Some(range.map_or(p, |r| hull(r, p)));
        }
        range
    }

    /// The reductions of a cheapest placement; after [`Stages::least`].
    pub(crate) fn sites(&self) -> Vec<Site> {
        let mut sites = Vec::new();
        let Some(last) = self.reached.last() else { return sites };
        let Some((mut state, _)) = last.iter().min_by_key(|(_, e)| e.0) else { return sites };
        for layer in (0..self.layers.count).rev() {
            let Some((_, before, sides)) = self.reached[layer + 1].get(state) else { break };
            let o = self.layers.distances[layer];
            for position in 0..self.layers.n {
                if let Some(kind) = sides[usize::from(position & o != 0)] {
                    sites.push(Site { after: layer as u32 + 1, position: position as u32, kind });
                }
            }
            state = before;
        }
        sites.sort_unstable();
        sites
    }
}
