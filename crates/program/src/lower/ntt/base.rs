//! Products mod x^d − w of transformed elements, leaf by leaf.
//!
//! Pairs (d = 2, 16-bit words with dot products): c_0 = a_0·b_0 + a_1·(w·b_1) and c_1 = a_0·b_1 +
//! a_1·b_0 are dot products of neighbouring words in 32 bits, reduced once each. Lanes: d
//! registers hold the d coefficients of one leaf in each lane (in-part transposition where they
//! lie side by side), every product a Montgomery product of two words. Long leaves, of a register or more: every
//! coefficient of a times a stretch of (w·b, b).

use super::pass::{Hand, Step};
use super::plan::{Machine, Shuffles};
use super::sums::Sum;
use super::words::Words;
use super::write::{Rounds, Style, factors, interleave};
use crate::build::Builder;
use crate::ir::*;
use crate::lower::{LowerError, beyond};
use crate::method::{EvenModulus, NarrowMethod, ProductMethod};
use ringforge_plan::Unit;
use std::collections::HashMap;

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
    /// The largest sum of terms before a reduction: any word, unless accumulations need headroom.
    pub room: i64,
    /// Whether dot products are added by the instruction that multiplies.
    pub fused: bool,
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

/// What a stage sums up.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Pairs of transforms, one after the other in each operand.
    pub pairs: usize,
    /// What their products are added to; the sum is reduced then.
    pub add: Option<BufferId>,
    /// Whether it is reduced in any case.
    pub reduce: bool,
}

impl Terms {
    /// One product, as it comes or added to something.
    pub fn one(add: Option<BufferId>) -> Terms {
        Terms { pairs: 1, add, reduce: false }
    }
}

impl Machine<'_> {
    /// The way that a machine and a degree call for.
    pub fn kind(&self) -> Kind {
        let (d, lanes) = (self.ntt.degree(), self.lanes());
        match self.shuffles {
            _ if !self.inside() && d == lanes && d == 2 => Kind::Pairs,
            _ if !self.inside() && d == lanes && d == 1 => Kind::Lanes { transposed: false },
            _ if !self.inside() => Kind::Long,
            Shuffles::Striding => Kind::Lanes { transposed: false },
            Shuffles::Interleaving if d == 2 && self.shape.bits == 16 => Kind::Pairs,
            // Factors of odd degree have every coefficient in a register of its own.
            Shuffles::Interleaving => Kind::Lanes { transposed: d.is_multiple_of(2) },
        }
    }

    /// Whether base products are sums of products of words.
    pub(crate) fn sums(&self) -> bool {
        matches!(self.kind(), Kind::Lanes { .. }) && self.ntt.degree() > 1
    }
}

impl Base<'_> {
    /// Whether a pair is a register of the machine, so that a half can be multiplied by itself.
    pub(super) fn halves(&self) -> bool {
        self.machine.shuffles == Shuffles::Striding
    }

    /// What products are multiplied with on their way to words.
    pub fn scale(&self) -> Result<Unit, EvenModulus> {
        match self.machine.kind() {
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

    pub(super) fn refuse(&self, bound: i64) -> LowerError {
        beyond(format!("{}.base", self.style.stage), self.words.most(), bound)
    }

    /// Statements for the sum of products, added to something or not.
    pub fn stage(
        &self,
        builder: &mut Builder,
        [to, a, b]: [BufferId; 3],
        bounds: [i64; 2],
        terms: Terms,
    ) -> Result<Vec<Stmt>, LowerError> {
        let n = self.machine.ntt.size();
        let (size, one) = self.narrowed(bounds[0], bounds[1], terms.pairs)?;
        if self.machine.kind() == Kind::Long {
            let mut all = Vec::new();
            for pair in 0..terms.pairs {
                let add = if pair == 0 { terms.add } else { Some(to) };
                all.extend(self.long(builder, [to, a, b], (bounds, pair * n), add)?);
            }
            return Ok(all);
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
            let lanes = self.machine.shape.lanes();
            let mut operands = Vec::new();
            for pair in 0..terms.pairs {
                let mut both = [a, b].map(|buffer| {
                    let at = |r: usize| start.plus(pair * n + r * lanes);
                    let all = 0..hand.registers.len();
                    all.map(|r| block.load(buffer, at(r))).collect::<Vec<_>>()
                });
                both.iter_mut().for_each(|values| play(&mut block, &steps, values));
                operands.push(both);
            }
            let mut sums: Vec<Sum> = Vec::new();
            for some in operands.chunks(size) {
                let products = match self.machine.kind() {
                    Kind::Pairs => vec![self.pairs(&mut block, some, factors[0].as_ref())],
                    _ => self.lanes(&mut block, &hand, some, bounds, &factors)?,
                };
                let mut before = sums.into_iter();
                let mut add = |value| match before.next() {
                    Some(sum) => self.add(&mut block, sum, value, (one, self.words.most())),
                    None => Sum { value, bound: one },
                };
                sums = products.into_iter().map(&mut add).collect();
            }
            let mut products: Vec<Value> = sums.into_iter().map(|sum| sum.value).collect();
            let (steps, places) = self.left(products.len());
            play(&mut block, &steps, &mut products);
            for (r, place) in places.into_iter().enumerate() {
                let mut value = products[place];
                let at = start.plus(r * lanes);
                if let Some(buffer) = terms.add {
                    let old = block.load(buffer, at.clone());
                    value = block.add(old, value);
                }
                if terms.add.is_some() || terms.reduce {
                    value = block.reduced(value, self.style.reduce);
                }
                block.store(to, at, value);
            }
            body.push(Stmt::Block(block));
        }
        Ok(rounds.around(body))
    }

    fn units(&self) -> Vec<Registers> {
        let lanes = self.machine.shape.lanes();
        let (d, part) = (self.machine.ntt.degree(), self.machine.shape.part());
        let registers = match self.machine.kind() {
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

    /// A unit's registers as they are multiplied, and the steps that make them so. There are as
    /// many rounds of interleaving as a part's words have bits. The rounds take the registers' bits
    /// in turn and bring out the lowest bits of the index.
    fn entered(&self, unit: &Registers) -> (Hand, Vec<Step>) {
        let mut hand = Hand::new(self.machine.shape, unit.registers.clone());
        if (self.machine.kind() == Kind::Lanes { transposed: true }) {
            let count = hand.registers.len();
            let bits = count.trailing_zeros();
            for round in 0..self.machine.shape.part().trailing_zeros() {
                let bit = 1 << (round % bits);
                for r in (0..count).filter(|r| r & bit == 0) {
                    hand.interleave_pair(self.machine.shape.bits, r, r | bit);
                }
            }
        }
        let steps = hand.steps().to_vec();
        (hand, steps)
    }

    /// The steps that undo those, and where each register of the unit is then. The bits that came
    /// out go back in, the highest first, so the registers' own bits come out in their order.
    fn left(&self, count: usize) -> (Vec<Step>, Vec<usize>) {
        if (self.machine.kind() != Kind::Lanes { transposed: true }) {
            return (Vec::new(), (0..count).collect());
        }
        let (bits, words) = (count.trailing_zeros(), self.machine.shape.part().trailing_zeros());
        let place = |bit: u32| (words - 1 - bit) % bits;
        let mut steps = Vec::new();
        for bit in (0..bits).rev().map(|bit| 1 << place(bit)) {
            let low = (0..count).filter(|r| r & bit == 0);
            let unit = self.machine.shape.bits;
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
        if self.machine.kind() == Kind::Pairs {
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

    /// The sum of the products of pairs, in one register each.
    fn pairs(
        &self,
        block: &mut Block,
        operands: &[[Vec<Value>; 2]],
        factor: Option<&Factor>,
    ) -> Value {
        let mut sums: [Option<Value>; 2] = [None; 2];
        for [x, y] in operands {
            let (a, b) = (x[0], y[0]);
            let weighted = match factor {
                Some(factor) => {
                    let both = block.times(b, factor.clone(), self.style.multiply);
                    match self.halves() {
                        true => block.push(Op::Blend { a: b, b: both, mask: 0xaa }),
                        false => both,
                    }
                }
                None => b,
            };
            let even = block.plus_dots(sums[0], [a, weighted], self.fused);
            let swapped = block.push(Op::SwapPairs(b));
            sums = [even, block.plus_dots(sums[1], [a, swapped], self.fused)].map(Some);
        }
        let [even, odd] = sums.map(|sum| sum.unwrap_or(operands[0][0][0]));
        block.push(Op::Narrow { even, odd, method: self.narrow })
    }

    fn lanes(
        &self,
        block: &mut Block,
        hand: &Hand,
        operands: &[[Vec<Value>; 2]],
        bounds: [i64; 2],
        factors: &[Option<Factor>],
    ) -> Result<Vec<Value>, LowerError> {
        let d = self.machine.ntt.degree();
        let mut products = operands[0][0].clone();
        let mut odd = HashMap::new();
        for (number, leaf) in self.leaves(hand).into_iter().enumerate() {
            let mut wrapped = Vec::new();
            for [_, y] in operands {
                wrapped.push(
                    leaf.iter()
                        .enumerate()
                        .map(|(j, &at)| match factors.get(number) {
                            Some(Some(factor)) if j > 0 => {
                                block.times(y[at], factor.clone(), self.style.multiply)
                            }
                            _ => y[at],
                        })
                        .collect::<Vec<Value>>(),
                );
            }
            for k in 0..d {
                let terms = operands.iter().zip(&wrapped).flat_map(|([x, y], wrapped)| {
                    let b = |i: usize| if i <= k { y[leaf[k - i]] } else { wrapped[d + k - i] };
                    leaf.iter().enumerate().map(|(i, &at)| (x[at], b(i))).collect::<Vec<_>>()
                });
                let terms: Vec<(Value, Value)> = terms.collect();
                products[leaf[k]] = match self.wide() {
                    true => self.wide_sum(block, &terms, &mut odd),
                    false => self.sum(block, &terms, bounds)?,
                };
            }
        }
        Ok(products)
    }
}

/// Interleaving steps on values.
fn play(block: &mut Block, steps: &[Step], hand: &mut [Value]) {
    for step in steps {
        if let Step::Interleave { a, b, unit } = step {
            interleave(block, hand, (*a, *b), *unit);
        }
    }
}
