//! Gentleman–Sande: values are gathered up trees.
//!
//! A product starts afresh, with the range of its layer's twiddles for any operand. Sums add two values with the same
//! history. A value's trees have not met before they are added. So there is one *front* for each number of sums since the
//! last product. It holds the intervals that a value can have at each cost, without dominated ones. An interval is
//! dominated if another lies inside it at no higher cost. Every continuation of a dominated interval is one of the other,
//! so the fronts contain an optimum.
//!
//! If butterflies lie inside a register, its lanes differ. A state is then a list of intervals, one for each class of
//! lanes, and one decision reduces all sums of the register. With registers of n words, these are the decisions for whole
//! layers.

use crate::arith::{Interval, Layers, Ranges, Reduction, hull, within};
use crate::check::Site;
use crate::space::{INFEASIBLE, Stats, Weights};

type State = Vec<Interval>;

#[derive(Clone, Debug)]
struct Element {
    state: State,
    cost: u64,
    /// The elements of the front before that were added (the same twice inside a register).
    from: (usize, usize),
    kind: Option<Reduction>,
}

/// The fronts of one kind of tree, from its leaves on; the last holds no states, only costs.
struct Tree {
    /// Layers done when it starts.
    start: usize,
    fronts: Vec<Vec<Element>>,
}

pub(crate) struct Gather<'a> {
    pub(crate) ranges: &'a mut Ranges,
    pub(crate) layers: &'a Layers,
    pub(crate) lanes: usize,
    pub(crate) weights: &'a Weights,
    pub(crate) stats: Stats,
    trees: Vec<Tree>,
}

impl<'a> Gather<'a> {
    pub(crate) fn new(
        ranges: &'a mut Ranges,
        layers: &'a Layers,
        lanes: usize,
        weights: &'a Weights,
    ) -> Gather<'a> {
        let stats = Stats::default();
        Gather { ranges, layers, lanes, weights, stats, trees: Vec::new() }
    }

    fn distance(&self, layer: usize) -> usize {
        self.layers.distances[layer] / self.lanes
    }

    /// The range of what a layer's products leave, for any operand.
    fn fresh(&mut self, layer: usize) -> Option<Interval> {
        let mut range: Option<Interval> = None;
        for w in self.layers.twiddles(self.ranges.q, layer) {
            let p = self.ranges.product(w, self.ranges.word())?;
            range = Some(range.map_or(p, |r| hull(r, p)));
        }
        range
    }

    /// The least cost of the whole transform for inputs in an interval.
    pub(crate) fn least(&mut self, input: Interval) -> u64 {
        let last = self.layers.count;
        let registers = self.layers.n / self.lanes;
        let mut total = 0;
        for start in 0..last {
            let inside = start > 0 && self.distance(start - 1) == 0;
            if inside {
                continue; // such products are lanes of registers that other trees count
            }
            let leaf = if start == 0 { Some(input) } else { self.fresh(start - 1) };
            let Some(leaf) = leaf else { return INFEASIBLE };
            let tree = self.grow(start, leaf);
            let least = tree.fronts.last().and_then(|f| f.iter().map(|e| e.cost).min());
            let ahead = (start..last).filter(|&l| self.distance(l) > 0).count();
            let leaves = if start == 0 { registers } else { registers / 2 };
            total += least.unwrap_or(INFEASIBLE) * (leaves >> ahead) as u64;
            self.trees.push(tree);
        }
        total.min(INFEASIBLE)
    }

    fn grow(&mut self, start: usize, leaf: Interval) -> Tree {
        let leaf = Element { state: vec![leaf], cost: 0, from: (0, 0), kind: None };
        let mut front = Vec::new();
        if start == 0 {
            self.with_reductions(leaf, &mut front, 0);
        } else {
            front.push(leaf);
        }
        let mut fronts = vec![front];
        for layer in start..self.layers.count {
            let last = layer + 1 == self.layers.count;
            let before = &fronts[fronts.len() - 1];
            let mut pairs = Vec::new();
            for (i, u) in before.iter().enumerate() {
                let others = if self.distance(layer) == 0 { i..i + 1 } else { 0..before.len() };
                for j in others {
                    let t = &before[j];
                    self.stats.choices += 1;
                    let sums: Option<State> = (u.state.iter().zip(&t.state))
                        .map(|(&u, &t)| {
                            self.ranges
                                .sub(u, t, self.ranges.multiple(t))
                                .and(self.ranges.add(u, t))
                        })
                        .collect();
                    let Some(state) = sums else {
                        self.stats.overflow += 1;
                        continue;
                    };
                    let cost = u.cost + if self.distance(layer) == 0 { 0 } else { t.cost };
                    pairs.push(Element { state, cost, from: (i, j), kind: None });
                }
            }
            let mut front = Vec::new();
            if last {
                // Sums and differences are multiplied: only the cost is left.
                front.extend(pairs.into_iter().min_by_key(|e| e.cost));
            } else {
                let fresh = if self.distance(layer) == 0 { self.fresh(layer) } else { None };
                for mut pair in pairs {
                    pair.state.extend(fresh);
                    self.with_reductions(pair, &mut front, usize::from(fresh.is_some()));
                }
            }
            self.stats.states += front.len() as u64;
            fronts.push(front);
        }
        Tree { start, fronts }
    }

    /// Puts an element and its reduced forms into a front; `fresh` of its classes (none or
    /// one, half of the register) are products of this layer.
    fn with_reductions(&mut self, e: Element, front: &mut Vec<Element>, fresh: usize) {
        let words = (self.lanes as u64) >> fresh;
        for &(kind, weight) in self.weights {
            let sums = e.state.len() - fresh;
            let image = |(i, &x): (usize, &Interval)| {
                if i < sums { self.ranges.reduce(kind, x) } else { x }
            };
            let state: State = e.state.iter().enumerate().map(image).collect();
            if state != e.state {
                let reduced =
                    Element { state, cost: e.cost + weight * words, kind: Some(kind), ..e.clone() };
                insert(front, reduced, &mut self.stats);
            }
        }
        insert(front, e, &mut self.stats);
    }

    /// The reductions of a cheapest placement; after [`Gather::least`].
    pub(crate) fn sites(&self) -> Vec<Site> {
        let mut sites = Vec::new();
        let registers = self.layers.n / self.lanes;
        for tree in &self.trees {
            // Roots: the registers that stay when every layer ahead has gathered its pairs.
            let ahead: Vec<usize> =
                (tree.start..self.layers.count).map(|l| self.distance(l)).collect();
            let own = tree.start.checked_sub(1).map(|l| self.distance(l));
            let is_root =
                |&r: &usize| ahead.iter().all(|&o| r & o == 0) && own.is_none_or(|o| r & o != 0);
            for root in (0..registers).filter(is_root) {
                self.collect(tree, tree.fronts.len() - 1, 0, root, &mut sites);
            }
        }
        sites.sort_unstable();
        sites
    }

    fn collect(&self, tree: &Tree, depth: usize, element: usize, r: usize, sites: &mut Vec<Site>) {
        let Some(e) = tree.fronts[depth].get(element) else { return };
        let after = tree.start + depth;
        if let Some(kind) = e.kind {
            let inside = after.checked_sub(1).filter(|&l| self.distance(l) == 0);
            let o = inside.map_or(0, |l| self.layers.distances[l]);
            let positions = (r * self.lanes..(r + 1) * self.lanes).filter(|p| p & o == 0);
            let site = |p| Site { after: after as u32, position: p as u32, kind };
            sites.extend(positions.map(site));
        }
        let Some(layer) = after.checked_sub(1).filter(|_| depth > 0) else { return };
        self.collect(tree, depth - 1, e.from.0, r, sites);
        let o = self.distance(layer);
        if o > 0 {
            self.collect(tree, depth - 1, e.from.1, r | o, sites);
        }
    }
}

fn insert(front: &mut Vec<Element>, new: Element, stats: &mut Stats) {
    let inside = |a: &Element, b: &Element| {
        a.cost <= b.cost && a.state.iter().zip(&b.state).all(|(&x, &y)| within(x, y))
    };
    if front.iter().any(|old| inside(old, &new)) {
        stats.dominated += 1;
        return;
    }
    let before = front.len();
    front.retain(|old| !inside(&new, old));
    stats.dominated += (before - front.len()) as u64;
    front.push(new);
}
