//! The final reduction mod f: sums of shifted loads, the last factor, freezing, stores of exactly
//! n words.

use super::{LowerError, Lowering, unsupported};
use crate::bounds::WORD;
use crate::build::repeat;
use crate::ir::*;
use crate::method::FreezeMethod;
use ringforge_plan::ReduceMod;

/// One summand of a register of outputs: words `k + offset` where `lanes` has a bit, times a
/// coefficient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub offset: usize,
    /// In `[1, q)`.
    pub coefficient: u64,
    /// For each lane whether it takes part; all where `None`.
    pub lanes: Option<Vec<bool>>,
}

/// The summands of every register of outputs, from those of every output and how many words can be
/// read.
pub(crate) fn registers(rows: &[Vec<(usize, u64)>], lanes: usize, words: usize) -> Vec<Vec<Term>> {
    let mut registers: Vec<Vec<Term>> = Vec::new();
    for (number, rows) in rows.chunks(lanes).enumerate() {
        let mut terms: Vec<Term> = Vec::new();
        for (lane, row) in rows.iter().enumerate() {
            for &(index, coefficient) in row {
                let offset = index - (number * lanes + lane);
                let known =
                    terms.iter().position(|t| t.offset == offset && t.coefficient == coefficient);
                let at = known.unwrap_or_else(|| {
                    let lanes = Some(vec![false; lanes]);
                    terms.push(Term { offset, coefficient, lanes });
                    terms.len() - 1
                });
                if let Some(all) = &mut terms[at].lanes {
                    all[lane] = true;
                }
            }
        }
        for term in &mut terms {
            // Lanes beyond the last output are not stored: they may hold anything defined.
            let all = term.lanes.iter().flatten().take(rows.len()).all(|&on| on);
            if all && number * lanes + term.offset + lanes <= words {
                term.lanes = None;
            }
        }
        registers.push(terms);
    }
    registers
}

/// How many registers from `start` on have the same summands and are full.
pub(crate) fn alike(registers: &[Vec<Term>], start: usize, lanes: usize, rows: usize) -> usize {
    let same =
        |(i, r): &(usize, &Vec<Term>)| **r == registers[start] && (start + i + 1) * lanes <= rows;
    registers[start..].iter().enumerate().take_while(same).count().max(1)
}

impl Lowering<'_> {
    /// Reduces the sum of some buffers (largest magnitude `bound`) into `c`.
    pub fn fold(
        &mut self,
        reduction: &ReduceMod,
        factor: u64,
        full: &[BufferId],
        bound: i64,
        words: usize,
        c: BufferId,
    ) -> Result<(), LowerError> {
        let (q, lanes) = (self.q, self.lanes);
        let rows = reduction.rows();
        if rows.iter().flatten().any(|&(_, c)| c != 1 && c != q - 1) {
            return Err(unsupported(
                self.plan.ring.to_string(),
                "f has a coefficient other than 0, 1, -1",
                "a ring such as x^n - x - 1",
            ));
        }
        let registers = registers(&rows, lanes, words);
        let mut body = Vec::new();
        let mut start = 0;
        while start < registers.len() {
            let full_width = (start + 1) * lanes <= rows.len();
            let alike = alike(&registers, start, lanes, rows.len());
            let count = if full_width { lanes } else { rows.len() - start * lanes };
            let counter = (alike > 1).then(|| self.builder.counter());
            let at = |words: usize| match counter {
                Some(counter) => Index::strided(start * lanes + words, counter, lanes),
                None => Index::at(start * lanes + words),
            };
            let mut block = Block::default();
            let (mut sum, mut most): (Option<Value>, i64) = (None, 0);
            for term in &registers[start] {
                let mut v: Option<Value> = None;
                for &buffer in full {
                    let next = block.push(Op::Load { buffer, at: at(term.offset) });
                    v = Some(v.map_or(next, |v| block.push(Op::Add(v, next))));
                }
                let Some(mut v) = v else { continue };
                if let Some(on) = &term.lanes {
                    let mask = on.iter().map(|&on| if on { -1 } else { 0 }).collect();
                    let mask = block.push(Op::Lanes(mask));
                    v = block.push(Op::And(v, mask));
                }
                if most + bound > WORD {
                    let Some(value) = sum else { continue };
                    most = self.bounds.reduce(most);
                    sum = Some(block.push(Op::Reduce { a: value, method: self.schedule.reduce() }));
                }
                most += bound;
                if most > WORD {
                    return Err(LowerError::Word {
                        stage: "final reduction".into(),
                        most: WORD,
                        bound: most,
                    });
                }
                sum = Some(match (sum, term.coefficient != 1) {
                    (None, false) => v,
                    (None, true) => {
                        let zero = block.push(Op::Splat(0));
                        block.push(Op::Sub(zero, v))
                    }
                    (Some(sum), false) => block.push(Op::Add(sum, v)),
                    (Some(sum), true) => block.push(Op::Sub(sum, v)),
                });
            }
            let mut value = match sum {
                Some(value) => value,
                None => block.push(Op::Splat(0)),
            };
            if factor != 1 {
                most = self.bounds.product(factor, most);
                let (factor, method) = (Factor::Splat(factor), self.schedule.multiply());
                value = block.push(Op::MulMod { a: value, factor, method });
            }
            let method = self.schedule.freeze().unwrap_or_else(|| cheapest(most, q));
            let value = block.push(Op::Freeze { a: value, method });
            block.push(match count == lanes {
                true => Op::Store { buffer: c, at: at(0), a: value },
                false => Op::StorePartial { buffer: c, at: at(0), count: count as u32, a: value },
            });
            body.push(match counter {
                Some(counter) => repeat(counter, alike, vec![Stmt::Block(block)]),
                None => Stmt::Block(block),
            });
            start += alike;
        }
        self.builder.stage("reduction mod f, freezing", "[Chiu25 §3.2.5]", body);
        Ok(())
    }
}

/// The freezing of fewest operations that takes words within `bound`, of those with scale 2^-16.
pub(crate) fn cheapest(bound: i64, q: u64) -> FreezeMethod {
    let k = (bound + q as i64 - 1) / q as i64;
    let biased = FreezeMethod::MontgomeryBiased { k: k as i16 };
    let (lo, hi) = biased.domain(q);
    if k * q as i64 <= WORD && lo <= -bound && bound <= hi {
        biased
    } else {
        FreezeMethod::Montgomery
    }
}
