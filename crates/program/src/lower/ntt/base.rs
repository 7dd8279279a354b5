//! Products mod x^d − w of transformed elements, leaf by leaf.
//!
//! Pairs (d = 2, 16-bit words with dot products): c_0 = a_0·b_0 + a_1·(w·b_1) and c_1 = a_0·b_1 +
//! a_1·b_0 are dot products of neighbouring words in 32 bits, reduced once each. Lanes: d
//! registers hold the d coefficients of one leaf in each lane (in-part transposition where they
//! lie side by side), every product a Montgomery product of two words. Long leaves, of a register or more: every
//! coefficient of a times a stretch of (w·b, b).

use super::pass::{Hand, Shape, Step};
use super::plan::{Machine, Shuffles};
use super::words::Words;
use super::write::{Rounds, Style, factors};
use crate::build::Builder;
use crate::ir::*;
use crate::lower::LowerError;
use crate::method::{EvenModulus, NarrowMethod, ProductMethod};
use ringforge_plan::Unit;

/// Terms of a long leaf's sums that are straight-line code.
pub(super) const UNROLLED: usize = 16;

/// How leaves are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Dot products of pairs.
    Pairs,
    /// One leaf in a lane; registers are transposed first where `transposed`.
    Lanes {
        /// Whether they are.
        transposed: bool,
    },
    /// Leaves of whole registers.
    Long,
}

/// A stage of base products.
pub struct Base<'a> {
    /// The transform.
    pub machine: &'a Machine<'a>,
    /// Bounds of operations.
    pub words: &'a Words,
    /// How code looks.
    pub style: &'a Style<'a>,
    /// How words are multiplied.
    pub product: ProductMethod,
    /// How wide sums are narrowed.
    pub narrow: NarrowMethod,
    /// Whether sums are reduced early enough that any of them can be accumulated.
    pub tight: bool,
    /// The index of each position.
    pub index_at: Vec<usize>,
}

/// Registers that are multiplied together.
struct Registers {
    /// First position.
    start: usize,
    /// The indices in its registers, as they are loaded.
    registers: Vec<Vec<usize>>,
}

/// Reduced whenever the next term might not fit.
pub(super) struct Sum {
    pub(super) value: Value,
    pub(super) bound: i64,
}

impl Base<'_> {
    pub(super) fn shape(&self) -> Shape {
        self.machine.shape
    }

    /// The way that a machine and a degree call for.
    pub fn kind(&self) -> Kind {
        let (d, lanes) = (self.machine.ntt.degree(), self.shape().lanes());
        match self.machine.shuffles {
            _ if !self.machine.inside() && d == lanes && d == 2 => Kind::Pairs,
            _ if !self.machine.inside() && d == lanes && d == 1 => {
                Kind::Lanes { transposed: false }
            }
            _ if !self.machine.inside() => Kind::Long,
            Shuffles::Striding => Kind::Lanes { transposed: false },
            Shuffles::Interleaving if d == 2 && self.shape().bits == 16 => Kind::Pairs,
            // Factors of odd degree have every coefficient in a register of its own.
            Shuffles::Interleaving => Kind::Lanes { transposed: d.is_multiple_of(2) },
        }
    }

    /// Whether a pair is a machine's register, of which a half can be multiplied by itself.
    fn halves(&self) -> bool {
        self.machine.shuffles == Shuffles::Striding
    }

    /// What products are multiplied with on their way to words.
    pub fn scale(&self) -> Result<Unit, EvenModulus> {
        match self.kind() {
            Kind::Pairs => self.narrow.scale(self.words.modulus),
            Kind::Lanes { .. } | Kind::Long => self.product.scale(self.words.modulus),
        }
    }

    fn weight(&self, index: usize) -> u64 {
        self.machine.ntt.weights()[index / self.machine.ntt.degree()]
    }

    /// The largest magnitude of a product with a weight.
    pub(super) fn weighted(&self, bound: i64) -> i64 {
        let all = self.machine.ntt.weights().iter();
        all.map(|&w| self.words.product(w, bound)).max().unwrap_or(0)
    }

    fn refuse(&self, bound: i64) -> LowerError {
        LowerError::Word {
            stage: format!("{}.base", self.style.stage),
            most: self.words.most(),
            bound,
        }
    }

    /// The largest magnitude of one term of a product, from those of the operands.
    pub(super) fn term(&self, [a, b]: [i64; 2]) -> Result<i64, LowerError> {
        self.words.words(a, b.max(self.weighted(b))).ok_or_else(|| self.refuse(a.max(b)))
    }

    /// The largest sum of terms before a reduction: any word, unless accumulations need room beside it.
    fn room(&self) -> i64 {
        let most = self.words.most();
        if self.tight { most - self.words.reduced(most) } else { most }
    }

    /// The bound of the products, from those of the operands; an error where words overflow.
    pub fn bound(&self, a: i64, b: i64) -> Result<i64, LowerError> {
        let most = self.words.most();
        if a > most || b > most {
            return Err(self.refuse(a.max(b)));
        }
        let weighted = self.weighted(b);
        match self.kind() {
            Kind::Pairs => {
                let one = if self.halves() { b } else { self.words.product(1, b) };
                let wide = (a * (one + weighted)).max(2 * a * b);
                self.words.narrowed_by(self.narrow, wide).ok_or_else(|| self.refuse(a))
            }
            _ => {
                let term = self.words.words(a, b.max(weighted)).ok_or_else(|| self.refuse(a))?;
                let (d, reduced) = (self.machine.ntt.degree(), self.words.reduced(most));
                let long = self.kind() == Kind::Long;
                let (mut sum, mut worst) = (if long { reduced } else { 0 }, 0);
                let room = if long { most } else { self.room() };
                for _ in 0..d.min(UNROLLED) {
                    if sum + term > room {
                        sum = self.words.reduced(sum);
                    }
                    sum += term;
                    worst = worst.max(sum);
                }
                let bound = if long { reduced } else { sum };
                if worst > most { Err(self.refuse(worst)) } else { Ok(bound) }
            }
        }
    }

    /// Statements for `to = a ∘ b`, or `to = add + a ∘ b`, reduced.
    pub fn stage(
        &self,
        builder: &mut Builder,
        [to, a, b]: [BufferId; 3],
        bounds: [i64; 2],
        add: Option<BufferId>,
    ) -> Result<Vec<Stmt>, LowerError> {
        self.bound(bounds[0], bounds[1])?;
        if self.kind() == Kind::Long {
            return self.long(builder, [to, a, b], bounds, add);
        }
        let units = self.units();
        let rolled = self.style.rolled;
        let rounds = Rounds {
            outer: (if rolled { units.len() } else { 1 }, builder.counter()),
            inner: (1, builder.counter()),
        };
        let mut body = Vec::new();
        let chunk = if rolled { units.len() } else { 1 };
        for units in units.chunks(chunk) {
            let (hand, steps) = self.entered(&units[0]);
            let weights: Vec<Vec<Vec<u64>>> = units.iter().map(|u| self.weights(u)).collect();
            let sites: Vec<Vec<&[u64]>> = (0..weights[0].len())
                .map(|k| weights.iter().map(|w| w[k].as_slice()).collect())
                .collect();
            let factors = factors(builder, self.style, &rounds, &sites);
            let starts: Vec<usize> = units.iter().map(|u| u.start).collect();
            let start = rounds.index(&starts).unwrap_or_else(|| Index::at(starts[0]));
            let mut block = Block::default();
            let lanes = self.shape().lanes();
            let load = |block: &mut Block, buffer: BufferId| -> Vec<Value> {
                let all = 0..hand.registers.len();
                all.map(|r| block.push(Op::Load { buffer, at: start.plus(r * lanes) })).collect()
            };
            let (mut x, mut y) = (load(&mut block, a), load(&mut block, b));
            play(&mut block, &steps, &mut x);
            play(&mut block, &steps, &mut y);
            let mut products = match self.kind() {
                Kind::Pairs => vec![self.pair(&mut block, x[0], y[0], factors[0].clone())],
                _ => self.lanes(&mut block, &hand, [&x, &y], bounds, &factors)?,
            };
            let (steps, places) = self.left(products.len());
            play(&mut block, &steps, &mut products);
            for (r, place) in places.into_iter().enumerate() {
                let mut value = products[place];
                let at = start.plus(r * lanes);
                if let Some(buffer) = add {
                    let old = block.push(Op::Load { buffer, at: at.clone() });
                    value = block.push(Op::Add(old, value));
                    value = block.push(Op::Reduce { a: value, method: self.style.reduce });
                }
                block.push(Op::Store { buffer: to, at, a: value });
            }
            body.push(Stmt::Block(block));
        }
        Ok(rounds.around(body))
    }

    fn units(&self) -> Vec<Registers> {
        let lanes = self.shape().lanes();
        let (d, part) = (self.machine.ntt.degree(), self.shape().part());
        let registers = match self.kind() {
            Kind::Lanes { transposed: true }
                if self.index_at.len().is_multiple_of(part * lanes) =>
            {
                part
            }
            Kind::Lanes { transposed: true } => d,
            Kind::Lanes { transposed: false } if d > 1 => self.machine.block_registers(),
            _ => 1,
        };
        let words = registers * lanes;
        let unit = |(k, all): (usize, &[usize])| Registers {
            start: k * words,
            registers: all.chunks(lanes).map(<[usize]>::to_vec).collect(),
        };
        self.index_at.chunks(words).enumerate().map(unit).collect()
    }

    /// A unit's registers as they are multiplied, and the steps that make them so: as many rounds of
    /// interleaving as a part's words have bits, on the registers' bits in turn, bring out the
    /// lowest bits of the index.
    fn entered(&self, unit: &Registers) -> (Hand, Vec<Step>) {
        let mut hand = Hand::new(self.shape(), unit.registers.clone());
        if (self.kind() == Kind::Lanes { transposed: true }) {
            let count = hand.registers.len();
            let bits = count.trailing_zeros();
            for round in 0..self.shape().part().trailing_zeros() {
                let bit = 1 << (round % bits);
                for r in (0..count).filter(|r| r & bit == 0) {
                    hand.interleave_pair(self.shape().bits, r, r | bit);
                }
            }
        }
        let steps = hand.steps().to_vec();
        (hand, steps)
    }

    /// The steps that undo those, and where each register of the unit is then: the bits that came
    /// out go back in, the highest first, so that the registers' own come out in their order.
    fn left(&self, count: usize) -> (Vec<Step>, Vec<usize>) {
        if (self.kind() != Kind::Lanes { transposed: true }) {
            return (Vec::new(), (0..count).collect());
        }
        let (bits, words) = (count.trailing_zeros(), self.shape().part().trailing_zeros());
        let place = |bit: u32| (words - 1 - bit) % bits;
        let mut steps = Vec::new();
        for bit in (0..bits).rev().map(|bit| 1 << place(bit)) {
            let low = (0..count).filter(|r| r & bit == 0);
            let unit = self.shape().bits;
            steps.extend(low.map(|a| Step::Interleave { a, b: a | bit, unit }));
        }
        let at = |r: usize| (0..bits).fold(0, |to, k| to | (r >> k & 1) << place(bits - 1 - k));
        (steps, (0..count).map(at).collect())
    }

    /// The registers of each leaf (in each lane), coefficient by coefficient.
    fn leaves(&self, hand: &Hand) -> Vec<Vec<usize>> {
        let d = self.machine.ntt.degree();
        let all = 0..hand.registers.len();
        let first = all.clone().filter(|&r| hand.registers[r][0].is_multiple_of(d));
        let with = |r: usize| {
            let find = |c: usize| {
                let same = |s: &usize| {
                    let pairs = hand.registers[*s].iter().zip(&hand.registers[r]);
                    pairs.clone().all(|(i, j)| *i == j + c)
                };
                all.clone().find(same)
            };
            (0..d).filter_map(find).collect::<Vec<usize>>()
        };
        let leaves: Vec<Vec<usize>> = first.map(with).collect();
        debug_assert!(leaves.iter().all(|l| l.len() == d), "leaves in registers");
        leaves
    }

    /// The multipliers of b's registers, site by site.
    fn weights(&self, unit: &Registers) -> Vec<Vec<u64>> {
        let d = self.machine.ntt.degree();
        if self.kind() == Kind::Pairs {
            let odd = |&i: &usize| match i.is_multiple_of(d) && !self.halves() {
                true => 1,
                false => self.weight(i),
            };
            return vec![unit.registers[0].iter().map(odd).collect()];
        }
        if d == 1 {
            return Vec::new();
        }
        let (hand, _) = self.entered(unit);
        let leaf = |leaf: Vec<usize>| {
            hand.registers[leaf[0]].iter().map(|&i| self.weight(i)).collect::<Vec<u64>>()
        };
        self.leaves(&hand).into_iter().map(leaf).collect()
    }

    fn pair(&self, block: &mut Block, a: Value, b: Value, factor: Option<Factor>) -> Value {
        let weighted = match factor {
            Some(factor) => {
                let both = block.push(Op::MulMod { a: b, factor, method: self.style.multiply });
                match self.halves() {
                    true => block.push(Op::Blend { a: b, b: both, mask: 0xaa }),
                    false => both,
                }
            }
            None => b,
        };
        let even = block.push(Op::PairDot(a, weighted));
        let swapped = block.push(Op::SwapPairs(b));
        let odd = block.push(Op::PairDot(a, swapped));
        block.push(Op::Narrow { even, odd, method: self.narrow })
    }

    fn lanes(
        &self,
        block: &mut Block,
        hand: &Hand,
        [x, y]: [&[Value]; 2],
        bounds: [i64; 2],
        factors: &[Option<Factor>],
    ) -> Result<Vec<Value>, LowerError> {
        let d = self.machine.ntt.degree();
        let term = self.term(bounds)?;
        let room = self.room();
        let mut products = x.to_vec();
        for (number, leaf) in self.leaves(hand).into_iter().enumerate() {
            let wrapped: Vec<Value> = (0..d)
                .map(|j| match factors.get(number).cloned().flatten() {
                    Some(factor) if j > 0 => block.push(Op::MulMod {
                        a: y[leaf[j]],
                        factor,
                        method: self.style.multiply,
                    }),
                    _ => y[leaf[j]],
                })
                .collect();
            for k in 0..d {
                let mut sum: Option<Sum> = None;
                for i in 0..d {
                    let b = if i <= k { y[leaf[k - i]] } else { wrapped[d + k - i] };
                    let product =
                        block.push(Op::MulWords { a: x[leaf[i]], b, method: self.product });
                    sum = Some(self.add(block, sum, product, (term, room)));
                }
                if let Some(sum) = sum {
                    products[leaf[k]] = sum.value;
                }
            }
        }
        Ok(products)
    }

    /// A sum and one more term within `bound`, the sum reduced first where both might exceed `room`.
    pub(super) fn add(
        &self,
        block: &mut Block,
        sum: Option<Sum>,
        term: Value,
        (bound, room): (i64, i64),
    ) -> Sum {
        let Some(mut sum) = sum else { return Sum { value: term, bound } };
        if sum.bound + bound > room {
            sum.value = block.push(Op::Reduce { a: sum.value, method: self.style.reduce });
            sum.bound = self.words.reduced(sum.bound);
        }
        Sum { value: block.push(Op::Add(sum.value, term)), bound: sum.bound + bound }
    }
}

/// Interleaving steps on values.
fn play(block: &mut Block, steps: &[Step], hand: &mut [Value]) {
    for step in steps {
        if let Step::Interleave { a, b, unit } = step {
            let (first, second) = (hand[*a], hand[*b]);
            let mut half =
                |half| block.push(Op::Interleave { a: first, b: second, unit: *unit, half });
            (hand[*a], hand[*b]) = (half(Half::Low), half(Half::High));
        }
    }
}
