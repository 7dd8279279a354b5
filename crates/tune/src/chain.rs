//! Cooley–Tukey: values flow down trees.
//!
//! A butterfly's outputs depend on u and on a product. The product's range is that of its twiddle for any operand. So a
//! value's interval is that of an ancestor plus the products since. The ancestors form a forest: a value that is u in the
//! next layer has two children, and one that is multiplied has none. Trees share nothing, so the optimum of a tree is the
//! sum of the optima of its subtrees, as a function of the interval at its root. This is exact dynamic programming. The
//! optimum grows with the interval, so an interval between two of the same optimum needs no search.

use crate::arith::{Interval, Layers, Ranges, Reduction, hull, within};
use crate::check::Site;
use crate::space::{INFEASIBLE, Stats, Weights, useful};
use ringforge_program::unsigned::Algorithm;
use rustc_hash::FxHashMap;

/// A register or a coefficient of the forest.
pub(crate) struct Chain<'a> {
    pub(crate) ranges: &'a mut Ranges,
    pub(crate) layers: &'a Layers,
    /// Words that share a decision; 1 for single coefficients.
    pub(crate) lanes: usize,
    pub(crate) weights: &'a Weights,
    /// What products by constants may take.
    pub(crate) operand: Interval,
    /// What outputs have to lie in.
    pub(crate) output: Interval,
    pub(crate) stats: Stats,
    products: Vec<FxHashMap<usize, Option<Interval>>>,
    uniform: Vec<bool>,
    known: FxHashMap<(usize, usize), Vec<(Interval, u64)>>,
}

impl<'a> Chain<'a> {
    pub(crate) fn new(
        ranges: &'a mut Ranges,
        layers: &'a Layers,
        lanes: usize,
        weights: &'a Weights,
        (operand, output): (Interval, Interval),
    ) -> Chain<'a> {
        let products = vec![FxHashMap::default(); layers.count];
        let mut chain = Chain {
            ranges,
            layers,
            lanes,
            weights,
            operand,
            output,
            stats: Stats::default(),
            products,
            uniform: Vec::new(),
            known: FxHashMap::default(),
        };
        for layer in 0..layers.count {
            let mut all: Vec<Option<Interval>> =
                (0..layers.n / lanes).map(|r| chain.product(layer, r)).collect();
            all.dedup();
            chain.uniform.push(all.len() == 1);
        }
        chain
    }

    /// The least cost of the whole forest for inputs in an interval.
    pub(crate) fn least(&mut self, input: Interval) -> u64 {
        (0..self.layers.n / self.lanes)
            .map(|r| self.decide(0, r, input).0)
            .sum::<u64>()
            .min(INFEASIBLE)
    }

    /// The reductions of a cheapest placement.
    pub(crate) fn sites(&mut self, input: Interval) -> Vec<Site> {
        let mut sites = Vec::new();
        for r in 0..self.layers.n / self.lanes {
            self.collect(0, r, input, &mut sites);
        }
        sites.sort_unstable();
        sites
    }

    fn distance(&self, layer: usize) -> usize {
        self.layers.distances[layer] / self.lanes
    }

    /// The range of the products that a register of a layer receives, for any operand allowed.
    fn product(&mut self, layer: usize, r: usize) -> Option<Interval> {
        let (o, first) = (self.layers.distances[layer], r * self.lanes);
        // By blocks: all coefficients of a block have the same twiddle; by offsets otherwise.
        let key = match self.layers.algorithm {
            Algorithm::Forward if o >= self.lanes => first / (2 * o),
            _ => r & !(o / self.lanes),
        };
        if let Some(&known) = self.products[layer].get(&key) {
            return known;
        }
        let lows = (first..first + self.lanes).map(|p| p & !o);
        let mut twiddles: Vec<u64> =
            lows.map(|p| self.layers.twiddle(self.ranges.q, layer, p)).collect();
        twiddles.sort_unstable();
        twiddles.dedup();
        let mut range: Option<Interval> = None;
        for w in twiddles {
            let p = self.ranges.product(w, self.operand)?;
            range = Some(range.map_or(p, |r| hull(r, p)));
        }
        self.products[layer].insert(key, range);
        range
    }

    /// Represents a register if only the number of layers ahead in which it is u matters.
    fn class(&self, layer: usize, r: usize) -> usize {
        if !self.uniform[layer..].iter().all(|&u| u) {
            return r;
        }
        let ahead = (layer..self.layers.count).map(|l| self.distance(l));
        ahead.take_while(|&o| o == 0 || r & o == 0).count()
    }

    /// The least cost below a value that has this interval before the layer, when it is no longer
    /// reduced.
    fn below(&mut self, layer: usize, r: usize, x: Interval) -> u64 {
        if layer == self.layers.count {
            return if within(x, self.output) { 0 } else { INFEASIBLE };
        }
        let o = self.distance(layer);
        if o > 0 && r & o != 0 {
            return if within(x, self.operand) { 0 } else { INFEASIBLE };
        }
        let key = (layer, self.class(layer, r));
        let (mut least, mut most) = (0, u64::MAX);
        for &(y, cost) in self.known.get(&key).map_or(&[][..], Vec::as_slice) {
            if within(y, x) {
                least = least.max(cost);
            }
            if within(x, y) {
                most = most.min(cost);
            }
        }
        if least >= most || least >= INFEASIBLE {
            self.stats.bounded += 1;
            return least;
        }
        self.stats.states += 1;
        let cost = match self.children(layer, r, x) {
            None => INFEASIBLE,
            Some(children) => {
                let each = children.map(|(r, y)| self.decide(layer + 1, r, y).0);
                each.iter().sum::<u64>().min(INFEASIBLE)
            }
        };
        self.known.entry(key).or_default().push((x, cost));
        cost
    }

    /// The values that a butterfly makes of u, `None` where they may not fit. Butterflies inside a
    /// register leave one value, repeated.
    fn children(&mut self, layer: usize, r: usize, u: Interval) -> Option<[(usize, Interval); 2]> {
        let o = self.distance(layer);
        let fitting = self.product(layer, r).and_then(|t| {
            Some((self.ranges.add(u, t)?, self.ranges.sub(u, t, self.ranges.multiple(t))?))
        });
        let Some((sum, difference)) = fitting else {
            self.stats.overflow += 1;
            return None;
        };
        match o {
            0 => {
                let both = hull(sum, difference);
                Some([(r, both), (usize::MAX, both)])
            }
            _ => Some([(r, sum), (r | o, difference)]),
        }
    }

    /// The least cost of reducing a value or not, and everything below; and how.
    fn decide(&mut self, layer: usize, r: usize, x: Interval) -> (u64, Option<Reduction>) {
        if r == usize::MAX {
            return (0, None);
        }
        let mut best = (self.below(layer, r, x), None);
        if best.0 == 0 {
            return best;
        }
        let (choices, dominated) = useful(self.ranges, self.weights, x);
        self.stats.dominated += dominated;
        let words = self.words(layer, x).0;
        for (kind, y, weight) in choices {
            let weight = weight * words;
            self.stats.choices += 1;
            if weight >= best.0 {
                self.stats.bounded += 1;
                continue;
            }
            let cost = weight + self.below(layer, r, y);
            if cost < best.0 {
                best = (cost, Some(kind));
            }
        }
        best
    }

    /// How many words a reduction before a layer takes, and the bit that their positions lack:
    /// inside registers only the half that is not multiplied.
    fn words(&self, layer: usize, x: Interval) -> (u64, usize) {
        let inside = layer < self.layers.count && self.distance(layer) == 0;
        match inside && within(x, self.operand) {
            true => (self.lanes as u64 / 2, self.layers.distances[layer]),
            false => (self.lanes as u64, 0),
        }
    }

    fn collect(&mut self, layer: usize, r: usize, x: Interval, sites: &mut Vec<Site>) {
        let (_, kind) = self.decide(layer, r, x);
        let mut y = x;
        if let Some(kind) = kind {
            y = self.ranges.reduce(kind, x);
            let (_, bit) = self.words(layer, x);
            let positions = (r * self.lanes..(r + 1) * self.lanes).filter(|p| p & bit == 0);
            sites.extend(positions.map(|p| Site { after: layer as u32, position: p as u32, kind }));
        }
        let leaf = layer == self.layers.count || {
            let o = self.distance(layer);
            o > 0 && r & o != 0
        };
        if leaf {
            return;
        }
        for (r, y) in self.children(layer, r, y).into_iter().flatten() {
            if r != usize::MAX {
                self.collect(layer + 1, r, y, sites);
            }
        }
    }
}
