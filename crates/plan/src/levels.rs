//! Transforms of a whole ring by splits of f, level after level, as lowering and exact execution
//! see them.
//!
//! An array is transformed in place. A level of radix r whose factors have degree r·m combines
//! elements that are m apart. Before it, index i belongs to factor ⌊i/(r·m)⌋; the digit ⌊i/m⌋ mod r
//! says which of the r new factors it will belong to.

use crate::arith::{Arith, Val};
use crate::cost::Model;
use crate::halves::Halves;
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

    /// One butterfly, the element of the lowest index first.
    ///
    /// * `Halves`, `[w]`: (a + wb, a − wb), or backwards (a + b, w(a − b)).
    /// * `Thirds`, `[v, w, ρ]`: with b' = vb, c' = wc and t = ρ(b' − c') it is (a + b' + c',
    ///   a − c' + t, a − b' − t). Backwards, with t = ρ(c − b), it is (a + b + c, v(a − b + t),
    ///   w(a − c − t)).
    /// * `Roots`, `[w]`: with t = wb it is (a + t, a ± b − t); backwards, with t = w(a − b), it is
    ///   (a + b ∓ t, t). The sign is that of α + β.
    pub fn butterfly<G: Ground>(
        self,
        kind: Butterflies,
        x: &[G::Element],
        on: &mut G,
    ) -> Vec<G::Element> {
        let forward = kind == Butterflies::CooleyTukey;
        match self {
            Split::Halves if forward => {
                let t = on.times(0, x[1]);
                vec![on.add(x[0], t), on.sub(x[0], t)]
            }
            Split::Halves => {
                let (sum, difference) = (on.add(x[0], x[1]), on.sub(x[0], x[1]));
                vec![sum, on.times(0, difference)]
            }
            Split::Thirds if forward => {
                let (b, c) = (on.times(0, x[1]), on.times(1, x[2]));
                let difference = on.sub(b, c);
                let t = on.times(2, difference);
                let (sum, low, high) = (on.add(x[0], b), on.sub(x[0], c), on.sub(x[0], b));
                vec![on.add(sum, c), on.add(low, t), on.sub(high, t)]
            }
            Split::Thirds => {
                let [second, third] = [1, 2].map(|k| on.sub(x[0], x[k]));
                let (sum, difference) = (on.add(x[0], x[1]), on.sub(x[2], x[1]));
                let sum = on.add(sum, x[2]);
                let t = on.times(2, difference);
                let (second, third) = (on.add(second, t), on.sub(third, t));
                vec![sum, on.times(0, second), on.times(1, third)]
            }
            Split::Roots { positive } if forward => {
                let t = on.times(0, x[1]);
                let sum = if positive { on.add(x[0], x[1]) } else { on.sub(x[0], x[1]) };
                vec![on.add(x[0], t), on.sub(sum, t)]
            }
            Split::Roots { positive } => {
                let difference = on.sub(x[0], x[1]);
                let (t, sum) = (on.times(0, difference), on.add(x[0], x[1]));
                vec![if positive { on.sub(sum, t) } else { on.add(sum, t) }, t]
            }
        }
    }
}

/// What a butterfly computes with: elements, blocks, operations of a program, largest magnitudes.
pub trait Ground {
    /// What is added and multiplied.
    type Element: Copy;
    /// A sum.
    fn add(&mut self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// A difference.
    fn sub(&mut self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// A product by constant `k` of the butterfly.
    fn times(&mut self, k: usize, a: Self::Element) -> Self::Element;
}

/// Elements in `[0, q)`, with q and the constants.
impl Ground for (u64, &[u64]) {
    type Element = u64;
    fn add(&mut self, a: u64, b: u64) -> u64 {
        zq::add(a, b, self.0)
    }
    fn sub(&mut self, a: u64, b: u64) -> u64 {
        zq::sub(a, b, self.0)
    }
    fn times(&mut self, k: usize, a: u64) -> u64 {
        zq::mul(self.1[k], a, self.0)
    }
}

/// Blocks, with the constants.
impl Ground for (&mut Network, &[u64]) {
    type Element = Val;
    fn add(&mut self, a: Val, b: Val) -> Val {
        self.0.add(a, b)
    }
    fn sub(&mut self, a: Val, b: Val) -> Val {
        self.0.sub(a, b)
    }
    fn times(&mut self, k: usize, a: Val) -> Val {
        self.0.scale(a, self.1[k])
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

    /// The same on blocks of at least so many coefficients, where the splits are halves of x^n + 1.
    fn halves(&self, _least: usize) -> Option<Halves<'_>> {
        None
    }

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
                let constants = self.forward_constants(level, i * d);
                let on = &mut (&mut net, &constants[..]);
                let y = split.butterfly(Butterflies::CooleyTukey, &x, on);
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

    /// The number of factors that are left times their degree.
    fn levels_shape(&self) -> String {
        format!("{} × {}", self.size() / self.degree(), self.degree())
    }

    /// The vector slots of one product.
    fn levels_slots(&self, model: &Model) -> f64 {
        let (words, costs) = (model.words(self.q()), &model.costs);
        let registers = words.registers(self.size());
        // A level in three is one and a half in two.
        let levels = ((self.size() / self.degree()) as f64).log2();
        // Half a multiplication and an addition per coefficient; the last levels lie within registers.
        let within = (words.lanes / self.degree() as f64).log2().max(0.0);
        let butterflies = registers
            * (levels * (words.costs.scale / 2.0 + costs.add) + words.costs.shuffle * within);
        let memory = registers * (levels / 3.0).ceil() * 2.0 * costs.memory;
        let reductions = registers * (levels / words.room.max(0.5)).floor() * costs.reduce;
        let products = self.products().total_cost().products as f64 / words.lanes;
        3.0 * (butterflies + memory + reductions)
            + registers * words.costs.scale
            + products * (words.costs.product + 2.0)
            + registers * words.costs.narrow
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
        let y = split.butterfly(kind, &x, &mut (q, &constants(i)[..]));
        y.into_iter().enumerate().for_each(|(k, y)| f[i + k * distance] = y);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Exact, Plan, Stages};

    /// Splits in two and in three, and of trinomials; blocks of one coefficient, and of more.
    #[test]
    fn networks_are_the_forward_transforms() {
        for name in ["kyber1", "nttru", "ntruplus576", "ntruplus864"] {
            let plan = Plan::find(name).expect("a plan of the catalogue");
            let Stages::Levels(levels) = plan.root.stages() else { panic!("{name} has no levels") };
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
