//! The final reduction mod f: sums of shifted loads, freezing, stores of exactly n words.

use super::{LowerError, Lowering, within, word};
use crate::bounds::WORD;
use crate::build::{Builder, repeat};
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

impl Term {
    /// A loaded register, with zeros where the summand takes no part.
    pub fn masked(&self, block: &mut Block, a: Value) -> Value {
        let Some(on) = &self.lanes else { return a };
        block.masked(a, on.iter().copied())
    }
}

/// What writes a register of outputs: its summands, where a word is that is so many behind the register's first, and how
/// many of its words are wanted.
pub(crate) type Write<'a, E> =
    dyn FnMut(&mut Block, &[Term], &dyn Fn(usize) -> Index, usize) -> Result<(), E> + 'a;

/// Code for registers of `outputs` words in all, in loops over full ones with the same summands.
pub(crate) fn each_register<E>(
    builder: &mut Builder,
    registers: &[Vec<Term>],
    (lanes, outputs): (usize, usize),
    write: &mut Write<E>,
) -> Result<Vec<Stmt>, E> {
    let (mut body, mut start) = (Vec::new(), 0);
    while start < registers.len() {
        let same = |&i: &usize| registers[i] == registers[start] && (i + 1) * lanes <= outputs;
        let alike = (start..registers.len()).take_while(same).count().max(1);
        let counter = (alike > 1).then(|| builder.counter());
        let at = |words: usize| match counter {
            Some(counter) => Index::strided(start * lanes + words, counter, lanes),
            None => Index::at(start * lanes + words),
        };
        let mut block = Block::default();
        write(&mut block, &registers[start], &at, lanes.min(outputs - start * lanes))?;
        body.push(match counter {
            Some(counter) => repeat(counter, alike, vec![Stmt::Block(block)]),
            None => Stmt::Block(block),
        });
        start += alike;
    }
    Ok(body)
}

impl Lowering<'_> {
    /// Reduces the sum of some buffers (largest magnitude `bound`) into `c`, by an f of coefficients ±1.
    pub fn fold(
        &mut self,
        reduction: &ReduceMod,
        full: &[BufferId],
        bound: i64,
        words: usize,
        c: BufferId,
    ) -> Result<(), LowerError> {
        let (q, lanes) = (self.q, self.lanes);
        let rows = reduction.rows();
        let registers = registers(&rows, lanes, words);
        let (schedule, bounds) = (self.schedule, &self.bounds);
        let write: &mut Write<LowerError> = &mut |block, terms, at, count| {
            let (mut sum, mut most): (Option<Value>, i64) = (None, 0);
            for term in terms {
                let mut v: Option<Value> = None;
                for &buffer in full {
                    let next = block.load(buffer, at(term.offset));
                    v = Some(block.plus(v, next));
                }
                let Some(v) = v else { continue };
                let v = term.masked(block, v);
                if most + bound > WORD {
                    let Some(value) = sum else { continue };
                    most = bounds.reduce(most);
                    sum = Some(block.reduced(value, schedule.reduce()));
                }
                most = word("final reduction", most + bound)?;
                sum = Some(block.joined(sum, v, term.coefficient != 1));
            }
            let mut value = sum.unwrap_or_else(|| block.splat(0));
            let method = schedule.freeze().unwrap_or_else(|| cheapest(most, q));
            // Not every method takes all words.
            let (lo, hi) = method.domain(q);
            if most > hi.min(-lo) {
                value = block.reduced(value, schedule.reduce());
                most = bounds.reduce(most);
            }
            within("final reduction", hi.min(-lo), most)?;
            let value = block.push(Op::Freeze { a: value, method });
            block.store_first((c, at(0)), value, (count, lanes));
            Ok(())
        };
        let size = (lanes, rows.len());
        let body = each_register(&mut self.builder, &registers, size, write)?;
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
