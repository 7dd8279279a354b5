//! Transforms of a whole ring by splits of f, level after level, as lowering and exact execution
//! see them.
//!
//! An array is transformed in place. A level of radix r whose factors have degree r·m combines
//! elements that are m apart. Before it, index i belongs to factor ⌊i/(r·m)⌋; the digit ⌊i/m⌋ mod r
//! says which of the r new factors it will belong to.

use crate::arith::{Arith, Val};
use crate::network::Network;
use crate::ntt::Butterflies;
use crate::unit::Unit;
use crate::weighted_convolution::WeightedConvolution;
use ringforge_ring::zq;

/// How the levels of a transform split factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// x^2m − s² = (x^m − s)(x^m + s).
    Halves,
    /// x^3m − s³ = (x^m − s)(x^m − ρs)(x^m − ρ²s), ρ of order 3.
    Thirds,
    /// x^2m ∓ x^m + 1 = (x^m − α)(x^m − β), where α + β is 1 if `positive`, else −1.
    Roots {
        /// Whether α + β is 1.
        positive: bool,
    },
}

impl Split {
    /// How many factors one becomes.
    pub fn radix(self) -> usize {
        if self == Split::Thirds { 3 } else { 2 }
    }

    /// How many constants its butterflies multiply by.
    pub fn factors(self) -> usize {
        if self == Split::Thirds { 3 } else { 1 }
    }

    /// One forward butterfly on blocks: what [`butterfly`](Split::butterfly) does to elements.
    fn record(self, net: &mut Network, x: &[Val], constants: &[u64]) -> Vec<Val> {
        let b = net.scale(x[1], constants[0]);
        match self {
            Split::Halves => vec![net.add(x[0], b), net.sub(x[0], b)],
            Split::Thirds => {
                let c = net.scale(x[2], constants[1]);
                let difference = net.sub(b, c);
                let t = net.scale(difference, constants[2]);
                let (sum, first, second) = (net.add(x[0], b), net.sub(x[0], c), net.sub(x[0], b));
                vec![net.add(sum, c), net.add(first, t), net.sub(second, t)]
            }
            Split::Roots { positive } => {
                let sum = if positive { net.add(x[0], x[1]) } else { net.sub(x[0], x[1]) };
                vec![net.add(x[0], b), net.sub(sum, b)]
            }
        }
    }

    /// One butterfly on elements in `[0, q)`, the lowest index first, with its constants.
    ///
    /// * `Halves`, `[w]`: (a + wb, a − wb), or backwards (a + b, w(a − b)).
    /// * `Thirds`, `[v, w, ρ]`: with b' = vb, c' = wc and t = ρ(b' − c') it is (a + b' + c',
    ///   a − c' + t, a − b' − t). Backwards, with t = ρ(c − b), it is (a + b + c, v(a − b + t),
    ///   w(a − c − t)).
    /// * `Roots`, `[w]`: with t = wb it is (a + t, a ± b − t); backwards, with t = w(a − b), it is
    ///   (a + b ∓ t, t). The sign is that of α + β.
    pub fn butterfly(self, kind: Butterflies, x: &[u64], constants: &[u64], q: u64) -> Vec<u64> {
        let (add, sub) = (|a, b| zq::add(a, b, q), |a, b| zq::sub(a, b, q));
        let times = |k: usize, a| zq::mul(constants[k], a, q);
        let forward = kind == Butterflies::CooleyTukey;
        match self {
            Split::Halves if forward => {
                let t = times(0, x[1]);
                vec![add(x[0], t), sub(x[0], t)]
            }
            Split::Halves => vec![add(x[0], x[1]), times(0, sub(x[0], x[1]))],
            Split::Thirds if forward => {
                let (b, c) = (times(0, x[1]), times(1, x[2]));
                let t = times(2, sub(b, c));
                vec![add(add(x[0], b), c), add(sub(x[0], c), t), sub(sub(x[0], b), t)]
            }
            Split::Thirds => {
                let t = times(2, sub(x[2], x[1]));
                let (b, c) = (add(sub(x[0], x[1]), t), sub(sub(x[0], x[2]), t));
                vec![add(add(x[0], x[1]), x[2]), times(0, b), times(1, c)]
            }
            Split::Roots { positive } if forward => {
                let t = times(0, x[1]);
                let sum = if positive { add(x[0], x[1]) } else { sub(x[0], x[1]) };
                vec![add(x[0], t), sub(sum, t)]
            }
            Split::Roots { positive } => {
                let t = times(0, sub(x[0], x[1]));
                let sum = add(x[0], x[1]);
                vec![if positive { sub(sum, t) } else { add(sum, t) }, t]
            }
        }
    }
}

/// A transform of a whole ring in levels. Levels are numbered in the order of the forward transform,
/// backwards too; all constants are in `[0, q)`.
pub trait Levels: std::fmt::Debug {
    /// The modulus, a prime.
    fn q(&self) -> u64;
    /// n, the degree of f.
    fn size(&self) -> usize;
    /// How each level splits, the first one first.
    fn splits(&self) -> Vec<Split>;
    /// The constants of a forward butterfly whose lowest element has index i.
    fn forward_constants(&self, level: usize, i: usize) -> Vec<u64>;
    /// The constants of a butterfly of the inverse.
    fn inverse_constants(&self, level: usize, i: usize) -> Vec<u64>;
    /// The butterflies of the inverse; those of the forward transform are Cooley–Tukey's.
    fn backwards(&self) -> Butterflies;
    /// What element i is multiplied by before the forward levels, where that is anything.
    fn enter(&self, _i: usize) -> Option<Unit> {
        None
    }
    /// What element i is multiplied by behind the inverse's levels.
    fn leave(&self, i: usize) -> u64;
    /// The scale that the inverse leaves.
    fn left(&self) -> Unit;
    /// The products mod x^d − w, weights in the order of the factors.
    fn products(&self) -> &WeightedConvolution;

    /// d, the degree of the factors that are left.
    fn degree(&self) -> usize {
        self.products().size
    }

    /// w for each factor x^d − w.
    fn weights(&self) -> &[u64] {
        &self.products().weights
    }

    /// The forward levels as a network: input i is the block of coefficients from i·d on, output i the remainder
    /// by the i-th factor. What elements are multiplied by before is left out.
    fn network(&self) -> (Network, Vec<Val>) {
        let (mut net, d) = (Network::new(self.q()), self.degree());
        let mut blocks: Vec<Val> = (0..self.size() / d).map(|i| net.input(i)).collect();
        let mut distance = blocks.len();
        for (level, split) in self.splits().into_iter().enumerate() {
            let radix = split.radix();
            distance /= radix;
            for i in (0..blocks.len()).filter(|i| (i / distance).is_multiple_of(radix)) {
                let x: Vec<Val> = (0..radix).map(|k| blocks[i + k * distance]).collect();
                let y = split.record(&mut net, &x, &self.forward_constants(level, i * d));
                y.into_iter().enumerate().for_each(|(k, y)| blocks[i + k * distance] = y);
            }
        }
        (net, blocks)
    }

    /// The remainders by x^d − w, one after the other: n coefficients in `[0, q)`, or fewer, to n.
    fn forward(&self, a: &[u64]) -> Vec<u64> {
        let (q, mut f) = (self.q(), a.to_vec());
        f.resize(self.size(), 0);
        for (i, c) in f.iter_mut().enumerate() {
            *c = self.enter(i).map_or(*c, |by| zq::mul(*c, by.value(), q));
        }
        let mut degree = self.size();
        for (level, split) in self.splits().into_iter().enumerate() {
            degree /= split.radix();
            let constants = |i: usize| self.forward_constants(level, i);
            in_place(&mut f, (split, degree), Butterflies::CooleyTukey, &constants, q);
        }
        f
    }

    /// The element with these remainders, times [`Levels::left`].
    fn inverse(&self, a: &[u64]) -> Vec<u64> {
        let (q, mut f) = (self.q(), a.to_vec());
        let mut degree = self.degree();
        for (level, split) in self.splits().into_iter().enumerate().rev() {
            let constants = |i: usize| self.inverse_constants(level, i);
            in_place(&mut f, (split, degree), self.backwards(), &constants, q);
            degree *= split.radix();
        }
        for (i, c) in f.iter_mut().enumerate() {
            *c = zq::mul(*c, self.leave(i), q);
        }
        f
    }

    /// The products mod x^d − w.
    fn base(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let d = self.degree();
        let leaves = self.weights().iter().zip(a.chunks(d).zip(b.chunks(d)));
        leaves.flat_map(|(&w, (a, b))| self.products().method_for(w).convolve(w, a, b)).collect()
    }
}

/// One level in place, `distance` between the elements of a butterfly.
fn in_place(
    f: &mut [u64],
    (split, distance): (Split, usize),
    kind: Butterflies,
    constants: &dyn Fn(usize) -> Vec<u64>,
    q: u64,
) {
    let radix = split.radix();
    for i in (0..f.len()).filter(|i| (i / distance).is_multiple_of(radix)) {
        let x: Vec<u64> = (0..radix).map(|k| f[i + k * distance]).collect();
        let y = split.butterfly(kind, &x, &constants(i), q);
        y.into_iter().enumerate().for_each(|(k, y)| f[i + k * distance] = y);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Exact, Levels, Plan, Structure};

    /// Splits in two and in three, and of trinomials; blocks of one coefficient, and of more.
    #[test]
    fn networks_are_the_forward_transforms() {
        for name in ["kyber1", "nttru", "ntruplus576", "ntruplus864"] {
            let plan = Plan::find(name).expect("a plan of the catalogue");
            let levels: &dyn Levels = match plan.root.structure() {
                Structure::Halves(ntt) => ntt,
                Structure::Levels(levels) => levels,
                other => panic!("{name} has no levels: {other:?}"),
            };
            let q = levels.q();
            let a: Vec<u64> = (0..levels.size() as u64).map(|i| (i * i * 7 + 3) % q).collect();
            let entered: Vec<u64> = a
                .iter()
                .enumerate()
                .map(|(i, &c)| levels.enter(i).map_or(c, |by| c * by.value() % q))
                .collect();
            let mut exact = Exact::new(q, levels.degree());
            let blocks: Vec<_> = entered.chunks(levels.degree()).map(|b| exact.input(b)).collect();
            let (net, outputs) = levels.network();
            let out = net.replay(&mut exact, &blocks, &outputs);
            let found: Vec<u64> = out.iter().flat_map(|&v| exact.get(v).to_vec()).collect();
            assert_eq!(found, levels.forward(&a), "{name}");
        }
    }
}
