//! Products modulo trinomials by lanes, in wide sums: Σ a_i·(x^i·b mod x^k + ax^(k/2) + b), so that nothing is left to
//! reduce but k sums. From one i to the next the words of b move on by one, and the top one comes back in two places.

use super::lane_methods::{Convolutions, Made, Place};
use super::lane_procedures::side_by_side;
use super::lanes::NARROW;
use super::{LowerError, Lowering, wide, word};
use crate::bounds::WORD;
use crate::ir::*;
use ringforge_plan::SmallModulus;

/// A word and its largest magnitude.
pub(super) type Word = (Value, i64);

/// Wide sums of even and of odd lanes, and their largest magnitude.
#[derive(Clone, Copy, Default)]
struct Sums {
    words: [Option<Value>; 2],
    bound: i64,
}

/// −a and −b of each x^k + ax^(k/2) + b: what x^(k/2) and 1 are multiplied with in place of x^k.
pub(super) fn negated(moduli: &[SmallModulus], q: u64) -> [Vec<u64>; 2] {
    let (a, b) = moduli.iter().map(|m| m.trinomial(q)).unzip();
    [a, b].map(|all: Vec<u64>| all.into_iter().map(|c| (q - c) % q).collect())
}

impl Lowering<'_> {
    /// a·b mod x^k + ax^(k/2) + b, or mod x^k − w, one for each lane; `size` is even.
    pub(super) fn trinomial_sums(&mut self, all: Convolutions) -> Made {
        let Convolutions { place, moduli, size, rows: [a, b, out], bound } = all;
        let stage = format!("{}.base", place.tag);
        let q = self.q;
        let [middle, low] = negated(moduli, q);
        // A binomial has no middle term.
        let mut back = vec![("low", low, 0)];
        if middle.iter().any(|&c| c != 0) {
            back.push(("middle", middle, size / 2));
        }
        let mut block = Block::default();
        let mut words: Vec<Word> =
            (0..size).map(|i| (self.load(&mut block, b, i), bound)).collect();
        let mut sums = vec![Sums::default(); size];
        for i in (0..size).step_by(2) {
            if i > 0 {
                words = self.moved(&mut block, (place, &stage), &words, &back)?;
            }
            let before = words;
            words = self.moved(&mut block, (place, &stage), &before, &back)?;
            let two = [0, 1].map(|k| self.load(&mut block, a, i + k));
            let factors = [false, true].map(|odd| side_by_side(&mut block, two, odd));
            for (sum, (first, second)) in sums.iter_mut().zip(before.iter().zip(&words)) {
                for (odd, factor) in factors.into_iter().enumerate() {
                    let others = side_by_side(&mut block, [first.0, second.0], odd == 1);
                    let next = self.dot_add(&mut block, sum.words[odd], factor, others);
                    sum.words[odd] = Some(next);
                }
                sum.bound += bound * (first.1 + second.1);
            }
        }
        let mut most = 0;
        for (i, sum) in sums.into_iter().enumerate() {
            let bound = self.added(1, sum.bound).ok_or_else(|| wide(&*stage, sum.bound))?;
            most = most.max(bound);
            let [Some(even), Some(odd)] = sum.words else { continue };
            let a = block.push(Op::Narrow { even, odd, method: NARROW });
            self.store(&mut block, out, i, a);
        }
        Ok((vec![Stmt::Block(block)], most))
    }

    /// x·b modulo the trinomials, whose upper term is `back`: at 0, and at half the size.
    fn moved(
        &mut self,
        block: &mut Block,
        (place, stage): (&Place, &str),
        words: &[Word],
        back: &[(&str, Vec<u64>, usize)],
    ) -> Result<Vec<Word>, LowerError> {
        let size = words.len();
        let mut moved: Vec<Word> = words.to_vec();
        moved.rotate_right(1);
        let (top, bound) = moved[0];
        for &(name, ref values, to) in back {
            let (name, at) = (format!("{name}{size}_"), (to > 0).then_some(moved[to]));
            moved[to] =
                self.plus_times(block, (place, stage), (&name, values), (top, bound), at)?;
        }
        Ok(moved)
    }

    /// A word plus another one times constants, one for each lane.
    pub(super) fn plus_times(
        &mut self,
        block: &mut Block,
        (place, stage): (&Place, &str),
        (name, constants): (&str, &[u64]),
        (top, bound): Word,
        mut to: Option<Word>,
    ) -> Result<Word, LowerError> {
        let (constant, most) = self.constant(place, name, constants.to_vec(), bound);
        let (term, minus) = self.times_constant(block, top, constant);
        if let Some((a, sum)) = to.filter(|(_, sum)| sum + most > WORD) {
            let a = block.reduced(a, self.schedule.reduce());
            to = Some((a, self.bounds.reduce(sum)));
        }
        let sum = word(stage, to.map_or(0, |(_, sum)| sum) + most)?;
        Ok((block.joined(to.map(|(a, _)| a), term, minus), sum))
    }
}
