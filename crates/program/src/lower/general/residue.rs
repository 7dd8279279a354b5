//! The product modulo one prime: a procedure (out, a, b) whose result has the scale 1.

use super::super::blocks::room;
use super::super::registers::written;
use super::super::suited::transposing;
use super::super::transpose::Square;
use super::super::{LowerError, Lowering, SHORT, Written, unsupported};
use super::{General, Part, finish};
use crate::build::Builder;
use crate::ir::*;
use crate::method::Modulus;
use crate::schedule::BaseProducts;
use crate::settle;
use crate::settle::products::{Settlement, Task, Way};
use ringforge_plan::{Blocks, MonomialCrt, ProductRef, Unit};
use ringforge_targets::ALIGNMENT;

/// A procedure (out, a, b) and what it leaves: a residue, and then a digit of the integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Residue {
    pub procedure: ProcedureId,
    /// What makes the digit of it, in place, and of earlier digits; nothing where the residue is the digit.
    pub digit: Option<ProcedureId>,
    /// Its largest magnitude.
    pub bound: i64,
    /// Bits of its words.
    pub bits: u8,
    /// What the product is its words times; of a digit p_1·…·p_(k−1) mod q.
    pub weight: u64,
}

impl Residue {
    /// The product itself, or the only digit of its integers.
    pub fn new(procedure: ProcedureId, bound: i64, bits: u8) -> Residue {
        Residue { procedure, digit: None, bound, bits, weight: 1 }
    }
}

/// How many words a product writes.
pub(super) fn defined(node: &ProductRef, lanes: usize) -> usize {
    let registers = written(node, lanes);
    registers.unwrap_or(0).max(room(node, lanes)).max(room(node, lanes / 2))
}

/// A product as it was lowered, what was settled for it, and what is written then.
type Made = (Residue, settle::Product, Written);

impl<'p> General<'p> {
    /// One procedure for each modulus; `ranges` of the operands.
    pub(super) fn products(
        &mut self,
        ranges: [(i64, i64); 2],
        survey: bool,
    ) -> Result<Vec<Residue>, LowerError> {
        let several = self.parts.len() > 1;
        let mut all = Vec::new();
        for number in 0..self.parts.len() {
            let Part { modulus, node } = self.parts[number];
            let name = if several { format!("product_{modulus}") } else { "product".into() };
            if let Some(residue) = self.exact((node, &name), modulus, ranges) {
                all.push(residue);
                continue;
            }
            if modulus % 2 == 0 || modulus >= 1 << 31 {
                return Err(unsupported(
                    node.to_form(),
                    format!("no transform modulo {modulus} in words of 32 bits"),
                    "(change-modulus (prime P …) …) with odd primes below 2^31",
                ));
            }
            let task = Task {
                node,
                modulus,
                n: self.n,
                registers: self.target.registers,
                memory: self.memory,
                integers: self.bound,
                alone: !several,
            };
            let candidates = task.candidates(&self.schedule, self.rounds())?;
            let place = (modulus, survey);
            let holds = |settlement: &Settlement| self.product((task, &name), settlement, ranges);
            let (made, verdicts) = settle::first(candidates, place, |s| &s.choices, holds)?;
            self.verdicts.extend(verdicts);
            let (residue, settled, written) = made;
            self.written = written;
            self.settled.push(settled);
            all.push(residue);
        }
        Ok(all)
    }

    /// Lowers a product by one settlement.
    fn product(
        &self,
        (task, name): (Task, &str),
        settlement: &Settlement,
        ranges: [(i64, i64); 2],
    ) -> Result<Made, LowerError> {
        let Settlement { choices, bits, way } = settlement;
        let (bits, Task { node, modulus, .. }) = (*bits, task);
        let words = Modulus { q: modulus, bits };
        let square = Square { registers: self.target.registers, bits };
        let prefix = if self.parts.len() > 1 { format!("p{modulus}_") } else { String::new() };
        // A candidate is read alone.
        let choices = transposing(&self.schedule, &choices.unread(), square)?;
        let builder = Builder::new(name, None, words);
        let mut lowering = Lowering::new(self.plan, &choices, square, builder);
        lowering.prefix.clone_from(&prefix);
        // Notes of others are not its own.
        lowering.written = Written { notes: Vec::new(), ..self.written.clone() };
        // Sums that are reduced once are multiplied for that, which the last constants of a transform can do.
        let alone = self.bound.is_none() && self.fold.is_some() && modulus == self.plan.ring.q();
        let scale = match way {
            Way::Packed(_) if alone && bits == self.memory => {
                finish::scale(&self.schedule, modulus, self.memory)?
            }
            _ => Unit::one(modulus),
        };
        let bound = match way {
            Way::Apart => lowering.blocks(node, ranges, self.words, self.memory),
            Way::Packed(packed) => {
                lowering.packed(packed, ranges, (self.words, self.memory), scale)
            }
            Way::Registers(main, crt) => lowering.residue(node, (main, *crt), ranges, self.words),
        }?;
        let Lowering { builder, mut written, .. } = lowering;
        let procedure = builder.finish_behind(&mut written.procedures);
        for (site, _) in &mut written.borders[self.written.borders.len()..] {
            site.insert_str(0, &prefix);
        }
        written.notes.splice(0..0, self.written.notes.iter().cloned());
        choices.word();
        choices.layout();
        let residue = Residue { weight: scale.inverse(), ..Residue::new(procedure, bound, bits) };
        Ok((residue, settle::Product { modulus, choices }, written))
    }
}

impl Lowering<'_> {
    /// Fills the procedure (out, a, b) with the product; the bound of `words` words of `out`.
    fn residue(
        &mut self,
        node: &ProductRef,
        (main, crt): (&Blocks, Option<&MonomialCrt>),
        ranges: [(i64, i64); 2],
        words: usize,
    ) -> Result<i64, LowerError> {
        let full = self.builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let [a, b] = self.builder.operands((self.n, SHORT), ranges);
        let reduced = self.reduced_first(ranges);
        let dot = self.schedule.base() == BaseProducts::BroadcastDot;
        let operands = self.as_read([a, b], reduced, dot, crt);
        let scale = main.scale.times(self.products_scale(&main.convolution)?);
        let scales = (scale, Unit::one(self.q));
        let bound = self.through_registers((main, crt), &operands, full, scales)?;
        let written = written(node, self.lanes).unwrap_or(words);
        if written < words {
            self.zeros_behind(full, written, words);
        }
        self.written.border("product", bound);
        Ok(bound)
    }
}
