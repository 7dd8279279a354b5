//! Digits of Garner's mixed radix: u_1 = r_1, u_k = ((r_k − u_1)/p_1 − u_2)/p_2 … mod p_k.
//!
//! x = u_1 + p_1·u_2 + p_1·p_2·u_3 + … holds over the integers where both sides differ by less than
//! ∏ p_i: with |x| ≤ X, where X + Σ |u_k|·∏_(j<k) p_j < ∏ p_i. So digits need not be canonical as
//! long as there is room; where there is not, they are reduced or frozen, the last one first.

use super::super::{LowerError, wide, within};
use super::residue::Residue;
use super::{General, LONG};
use crate::bounds::Bounds;
use crate::build::{Builder, repeat_unrolled};
use crate::ir::*;
use crate::method::{FreezeMethod, Modulus};
use ringforge_plan::{ChangeModulus, Stages};
use ringforge_targets::ALIGNMENT;

/// Bits of the words that digit k is computed in.
fn computed(products: &[Residue], k: usize) -> u8 {
    products[..=k].iter().map(|part| part.bits).max().unwrap_or(16)
}

/// How near to the canonical residue a digit is brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Raw,
    Reduced,
    Frozen,
}

/// What happens to a residue.
#[derive(Clone, Copy, Debug)]
enum Step {
    Reduce,
    Subtract(usize),
    Multiply(u64),
    Freeze,
}

impl General<'_> {
    /// Makes digits of the residues.
    pub(super) fn digits(&mut self, products: &mut [Residue]) -> Result<(), LowerError> {
        let Stages::Digits(node) = super::below(self.plan).1.stages() else { return Ok(()) };
        let count = products.len();
        let covered = node.moduli.iter().fold(1u128, |all, &p| all * u128::from(p));
        let mut choices = vec![Last::Raw; count];
        let (mut steps, mut bounds);
        loop {
            (steps, bounds) = self.plan_digits(node, products, &choices)?;
            let (mut reach, mut radix) = (0u128, 1u128);
            for (&u, &p) in bounds.iter().zip(&node.moduli) {
                reach += radix * u as u128;
                radix *= u128::from(p);
            }
            if node.bound + reach < covered {
                break;
            }
            // The last digit that can still be tightened: it weighs most.
            let Some(k) = choices.iter().rposition(|&c| c != Last::Frozen) else {
                return Err(wide("digits", node.bound as i64));
            };
            choices[k] = if choices[k] == Last::Raw { Last::Reduced } else { Last::Frozen };
        }
        for k in 0..count {
            let made = !steps[k].is_empty();
            let digit = made.then(|| self.digit(node, k, &steps[k], &bounds, products));
            let (bound, weight) = (bounds[k], node.weight(k));
            products[k] = Residue { digit, bound, weight, ..products[k] };
        }
        Ok(())
    }

    /// The steps for every digit, and their bounds.
    fn plan_digits(
        &self,
        node: &ChangeModulus,
        products: &[Residue],
        choices: &[Last],
    ) -> Result<(Vec<Vec<Step>>, Vec<i64>), LowerError> {
        let (mut all, mut bounds): (Vec<Vec<Step>>, Vec<i64>) = (Vec::new(), Vec::new());
        for (k, &Residue { bound: residue, bits: kept, .. }) in products.iter().enumerate() {
            let p = node.moduli[k];
            let modulus = Modulus { q: p, bits: computed(products, k) };
            let (multiply, reduce) = self.methods(modulus.bits);
            let mut here = Bounds::new(modulus, multiply, reduce);
            let (mut steps, mut bound) = (Vec::new(), residue);
            for (j, &u) in bounds.iter().enumerate() {
                if bound + u > here.word() {
                    steps.push(Step::Reduce);
                    bound = here.reduce(bound);
                }
                let difference = within("digits", here.word(), bound + u)?;
                steps.extend([Step::Subtract(j), Step::Multiply(node.inverse(j, k))]);
                bound = here.product(node.inverse(j, k), difference);
            }
            let canonical = (p as i64 - 1) / 2;
            let freezable = FreezeMethod::Minimum.domain(modulus).1;
            let frozen = choices[k] == Last::Frozen && bound > canonical;
            let nearer = choices[k] == Last::Reduced || frozen && bound > freezable;
            if nearer && here.reduce(bound) < bound {
                steps.push(Step::Reduce);
                bound = here.reduce(bound);
            }
            if frozen {
                steps.push(Step::Freeze);
                bound = canonical;
            }
            // A digit is kept in the words of its residue.
            within("digits", Modulus { q: p, bits: kept }.words().1, bound)?;
            all.push(steps);
            bounds.push(bound);
        }
        Ok((all, bounds))
    }

    /// The procedure of one digit: (residue in place, earlier digits).
    fn digit(
        &mut self,
        node: &ChangeModulus,
        k: usize,
        steps: &[Step],
        bounds: &[i64],
        products: &[Residue],
    ) -> ProcedureId {
        let (words, p, bits) = (self.words, node.moduli[k], computed(products, k));
        let lanes = self.target.registers.lanes(bits);
        let (multiply, reduce) = self.methods(bits);
        if bits == LONG && steps.iter().any(|step| matches!(step, Step::Reduce)) {
            self.schedule.long_reduce();
        }
        if bits == LONG && steps.iter().any(|step| matches!(step, Step::Multiply(c) if *c != 1)) {
            self.schedule.long_multiply();
        }
        let mut builder = Builder::new(&format!("digit_{p}"), None, Modulus { q: p, bits });
        let around = |bound: i64| Some((-bound, bound));
        let to = builder.ranged("u", Role::Scratch, words, ALIGNMENT, around(products[k].bound));
        builder.narrow(to, products[k].bits);
        let of =
            |j: usize| builder.digit(j, Role::Input, (words, products[j].bits), around(bounds[j]));
        let earlier: Vec<BufferId> = (0..k).map(of).collect();
        let counter = builder.counter();
        let body = repeat_unrolled(counter, words / lanes, 4, &|block, at| {
            let mut value = block.load(to, at(0, lanes));
            for step in steps {
                value = match *step {
                    Step::Reduce => block.reduced(value, reduce),
                    Step::Subtract(j) => {
                        let u = block.load(earlier[j], at(0, lanes));
                        block.sub(value, u)
                    }
                    Step::Multiply(1) => value,
                    Step::Multiply(c) => block.times(value, Factor::Splat(c), multiply),
                    Step::Freeze => {
                        block.push(Op::Freeze { a: value, method: FreezeMethod::Minimum })
                    }
                };
            }
            block.store(to, at(0, lanes), value);
        });
        let title = format!("digit {} of the mixed radix, modulo {p}", k + 1);
        builder.stage(&title, "[Garner59]", body);
        self.written.border(format!("digit {}", k + 1), bounds[k]);
        self.push(builder.finish())
    }
}
