//! The product modulo one prime: a procedure (out, a, b) whose result has the scale 1.

use super::super::blocks::{Packed, room};
use super::super::registers::{LowPart, suit, suited};
use super::super::suited::interleaves;
use super::super::{LowerError, Lowering, Operand, SHORT, parts, unsupported};
use super::digits::Digit;
use super::{General, LONG, finish, long_methods};
use crate::bounds::{Bounds, WORD};
use crate::build::Builder;
use crate::ir::*;
use crate::method::{Modulus, NarrowMethod, ReduceMethod};
use crate::schedule::{BaseProducts, Limits, Schedule};
use ringforge_plan::{
    Levels, MonomialCrt, Product, ProductRef, Structure, Substitute, Unit, word_bits,
};
use ringforge_target::ALIGNMENT;
use std::borrow::Cow;

/// A procedure (out, a, b) and what it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Residue {
    pub procedure: ProcedureId,
    /// Its largest magnitude.
    pub bound: i64,
    /// Bits of its words.
    pub bits: u8,
    /// What the product is its words times.
    pub weight: u64,
}

impl Residue {
    /// The only digit of its integers.
    pub(super) fn digit(&self) -> Digit {
        Digit { procedure: None, bound: self.bound, weight: self.weight, bits: self.bits }
    }
}

/// How many words a product writes.
pub(super) fn defined(node: &ProductRef, lanes: usize) -> usize {
    let registers = written(node, lanes);
    registers.unwrap_or(0).max(room(node, lanes)).max(room(node, lanes / 2))
}

/// How many words the inverse transform of a product of whole registers writes.
fn written(node: &ProductRef, lanes: usize) -> Option<usize> {
    match node.structure() {
        Structure::Factors(crt) => Some((crt.main_degree + crt.low_degree).next_multiple_of(lanes)),
        Structure::Blocks(part) => Some(part.wanted().iter().filter(|&&w| w).count() * part.k),
        _ => None,
    }
}

/// A way to compute a product modulo one number.
#[derive(Clone, Debug)]
struct Attempt<'a> {
    schedule: Schedule,
    bits: u8,
    way: Way<'a>,
}

/// Where blocks lie.
#[derive(Clone, Debug)]
enum Way<'a> {
    /// They fill registers.
    Registers(Registers<'a>),
    /// Registers hold several.
    Packed(Packed<'a>),
    /// Each has registers of its own.
    Apart,
}

/// Blocks that fill registers, and a low part.
type Registers<'a> = (&'a Substitute, Option<&'a MonomialCrt>);

/// The parts of a node whose blocks fill registers.
fn registers_of<'a>(
    node: &'a ProductRef,
    place: (usize, usize),
    schedule: &Schedule,
) -> Option<Registers<'a>> {
    let (main, crt) = match node.structure() {
        Structure::Factors(crt) => (crt.main.structure().blocks()?, Some(crt)),
        other => (other.blocks()?, None),
    };
    suit(main, crt, place, schedule).then_some((main, crt))
}

/// The limits and words to try for a modulus until the ranges fit, the first ones make the cheaper programs.
fn attempts<'a>(
    schedule: &Schedule,
    q: u64,
    (k, (lanes, registers)): (usize, (usize, Option<Registers<'a>>)),
    packed: &dyn Fn(u8) -> Option<Packed<'a>>,
    (margin, rounds): (i64, bool),
) -> Vec<Attempt<'a>> {
    let dot = schedule.base == BaseProducts::BroadcastDot;
    let mut all = Vec::new();
    // k products in a sum of 32 bits whose reduction is a word.
    let widest = |terms: i64| {
        let room = (WORD - q as i64 / 2) * (1 << 16) / terms;
        (room.min((1 << 31) / terms - 1) as f64).sqrt() as i64 - 1
    };
    let short = word_bits(q) == 16;
    if short {
        let widest = widest(k.clamp(lanes, 4 * lanes) as i64);
        for reduce in [schedule.reduce, ReduceMethod::Montgomery, ReduceMethod::BarrettHigh] {
            let of = |forward: i64, full: i64| {
                let first = if dot { 20_000 } else { 14_500 };
                let limits = Limits {
                    forward_first: first,
                    forward,
                    inverse_first: first,
                    full,
                    products: None,
                };
                Schedule { reduce, limits, ..schedule.clone() }
            };
            if dot {
                all.extend([of(widest.min(9_500), 15_000), of(widest, 16_383), of(widest, WORD)]);
            } else {
                all.extend([of(5_400, 15_000), of(7_000, 16_383), of(9_500, WORD)]);
            }
        }
    }
    all.dedup();
    let several = |way: Way<'a>, schedules: &[Schedule]| -> Vec<Attempt<'a>> {
        let of = |schedule: &Schedule| Attempt {
            schedule: schedule.clone(),
            bits: SHORT,
            way: way.clone(),
        };
        schedules.iter().map(of).collect()
    };
    let mut attempts = Vec::new();
    if let Some(parts) = registers {
        attempts.extend(several(Way::Registers(parts), &all));
    }
    if let Some(packed) = packed(SHORT).filter(|_| short) {
        attempts.extend(several(Way::Packed(packed), &packed_limits(schedule, widest(k as i64))));
    }
    attempts.extend(several(Way::Apart, &all));
    let long = long_attempts(schedule, q, k, (margin, rounds));
    if let Some(packed) = packed(LONG) {
        let way =
            |attempt: &Attempt<'a>| Attempt { way: Way::Packed(packed.clone()), ..attempt.clone() };
        attempts.extend(long.iter().map(way));
    }
    attempts.extend(long);
    attempts
}

/// The schedule with limits for packed blocks, whose products take words up to `widest`: most words are multiplied between
/// the levels, so that any may stand there.
fn packed_limits(schedule: &Schedule, widest: i64) -> Vec<Schedule> {
    let of = |forward: i64, full: i64| {
        let limits = Limits {
            forward_first: WORD,
            forward: forward.min(widest),
            inverse_first: WORD,
            full,
            products: None,
        };
        Schedule { limits, ..schedule.clone() }
    };
    let mut all = vec![of(9_500, 15_000), of(9_500, WORD), of(widest, WORD)];
    all.dedup();
    all
}

/// Ways in words of 32 bits; results within `margin` are wanted most.
fn long_attempts<'a>(
    schedule: &Schedule,
    q: u64,
    k: usize,
    (margin, rounds): (i64, bool),
) -> Vec<Attempt<'a>> {
    let word = i64::from(i32::MAX);
    let q = q as i64;
    // Products of operands within this leave no more than 3q in each word.
    let near = ((2.5 * q as f64) * 2f64.powi(32) / k as f64).sqrt() as i64;
    let (multiply, reduce) = long_methods(schedule, rounds);
    let narrow = NarrowMethod::Montgomery;
    // Freezing takes 3q/2.
    let frozen = 3 * (q / 2) - 2;
    let mut full = vec![margin, frozen, word];
    full.retain(|&most| most == word || most > 4 * q / 5);
    let mut all = Vec::new();
    for forward in [near.max(q), 2 * q, q, q / 2 + q / 8].map(|most| most.min(word)) {
        for &full in &full {
            let limits =
                Limits { forward_first: word, forward, inverse_first: word, full, products: None };
            let schedule = Schedule { multiply, reduce, narrow, limits, ..schedule.clone() };
            all.push(Attempt { schedule, bits: LONG, way: Way::Apart });
        }
    }
    all
}

impl General<'_> {
    /// One procedure for each modulus; `ranges` of the operands.
    pub(super) fn products(&mut self, ranges: [(i64, i64); 2]) -> Result<Vec<Residue>, LowerError> {
        let several = self.parts.len() > 1;
        let mut all = Vec::new();
        for number in 0..self.parts.len() {
            let (modulus, node) = (self.parts[number].modulus, self.parts[number].node.clone());
            let name = if several { format!("product_{modulus}") } else { "product".into() };
            if let Some(residue) = self.exact((&node, &name), modulus, ranges) {
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
            let prefix = if several { format!("p{modulus}_") } else { String::new() };
            let mut failure = None;
            let mut found = None;
            // With one prime, residues this near are the integers.
            let margin = match (several, self.bound) {
                (false, Some(bound)) => modulus as i64 - bound as i64 - 1,
                _ => 0,
            };
            // Words of callers fit those of the procedure: vectors widen what they load, never cut it.
            let memory = self.memory;
            let place = (self.n, self.registers.lanes(SHORT));
            let registers = registers_of(&node, place, self.schedule);
            let schedule = match registers {
                Some((main, crt)) => suited(self.schedule, main, crt),
                None => Cow::Borrowed(self.schedule),
            };
            let wanted = (margin, self.rounds);
            // Through a prime of 32 bits their proof takes more than the kernel's budget.
            let packed = |bits| {
                let found = Packed::of(&node, self.schedule.base, (self.registers, bits));
                found.filter(|_| bits == SHORT || self.bound.is_none())
            };
            let of = (width(&node, place.1), (place.1, registers));
            let ways = attempts(&schedule, modulus, of, &packed, wanted).into_iter();
            // Sums that are reduced once are multiplied for that, which the last constants of a transform can do.
            let alone = self.bound.is_none() && self.fold.is_some();
            let frozen = match alone && modulus == self.plan.ring.q() {
                true => finish::scale(self.schedule, modulus, memory)?,
                false => Unit::one(modulus),
            };
            for attempt in ways.filter(|attempt| attempt.bits >= memory) {
                let words = Modulus { q: modulus, bits: attempt.bits };
                let schedule = &attempt.schedule;
                let mut lowering = Lowering {
                    plan: self.plan,
                    schedule,
                    q: modulus,
                    n: self.n,
                    operand: 0,
                    prefix: prefix.clone(),
                    lanes: self.registers.lanes(attempt.bits),
                    interleaves: interleaves(self.schedule, schedule, self.registers),
                    bounds: Bounds::new(words, schedule.multiply, schedule.reduce),
                    builder: Builder::new(&name, None, words),
                    procedures: self.procedures.clone(),
                    sites: Vec::new(),
                    seen: Vec::new(),
                    borders: Vec::new(),
                    notes: Vec::new(),
                    rows: Vec::new(),
                };
                let scale = match attempt.way {
                    Way::Packed(_) if attempt.bits == memory => frozen,
                    _ => Unit::one(modulus),
                };
                let lowered = match &attempt.way {
                    Way::Apart => lowering.blocks(&node, ranges, self.words, self.memory),
                    Way::Packed(packed) => {
                        lowering.packed(packed, ranges, (self.words, self.memory), scale)
                    }
                    Way::Registers(parts) => lowering.residue(&node, *parts, ranges, self.words),
                };
                match lowered {
                    Ok(bound) => {
                        let Lowering { builder, procedures, sites, seen, borders, notes, .. } =
                            lowering;
                        self.procedures = procedures;
                        self.sites.extend(sites);
                        self.seen.extend(seen);
                        self.borders
                            .extend(borders.into_iter().map(|(s, b)| (format!("{prefix}{s}"), b)));
                        self.notes.extend(notes);
                        let procedure = self.push(builder.finish());
                        let (bits, weight) = (attempt.bits, scale.inverse());
                        found = Some(Residue { procedure, bound, bits, weight });
                        break;
                    }
                    Err(error) => {
                        // Of all failures the last kind's first says most.
                        let kind = |e: &LowerError| matches!(e, LowerError::Unsupported { .. });
                        if failure.as_ref().is_none_or(|f| kind(f) && !kind(&error)) {
                            failure = Some(error);
                        }
                    }
                }
            }
            match (found, failure) {
                (Some(found), _) => all.push(found),
                (None, Some(failure)) => return Err(failure),
                (None, None) => unreachable!("there is an attempt"),
            }
        }
        Ok(all)
    }
}

/// Coefficients of a node's blocks, in registers of `lanes` words.
fn width(node: &ProductRef, lanes: usize) -> usize {
    match node.structure() {
        Structure::Factors(crt) => width(&crt.main, lanes),
        Structure::Blocks(part) => part.k,
        Structure::Halves(ntt) => ntt.degree().max(lanes),
        _ => node.domain().operand,
    }
}

impl Lowering<'_> {
    /// Fills the procedure (out, a, b) with the product; the bound of `words` words of `out`.
    fn residue(
        &mut self,
        node: &ProductRef,
        (main, crt): Registers,
        ranges: [(i64, i64); 2],
        words: usize,
    ) -> Result<i64, LowerError> {
        let (q, lanes, n) = (self.q, self.lanes, self.n);
        let full = self.builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let [a, b] = [("a", 0), ("b", 1)]
            .map(|(name, i)| self.builder.ranged(name, Role::Input, n, 2, Some(ranges[i])));
        // Words beyond the modulus would be reduced again and again.
        let most = |(lo, hi): (i64, i64)| hi.max(-lo);
        let reduced = ranges.map(|range| 4 * most(range) > 3 * q as i64);
        let modulus = Modulus::from(q);
        let bound = |i: usize| match reduced[i] {
            true => most(self.schedule.reduce.range(ranges[i], modulus)),
            false => most(ranges[i]),
        };
        self.operand = bound(0).max(bound(1));
        let dot = self.schedule.base == BaseProducts::BroadcastDot;
        let partial = !n.is_multiple_of(lanes);
        let plain = |buffer| Operand { buffer, start: 0, tail: None };
        let fa = match dot || reduced[0] {
            true => self.stage_copy("a", a, n, dot, reduced[0]),
            false => plain(a),
        };
        let mut fb = match reduced[1] {
            true => self.stage_copy("b", b, n, false, true),
            false => plain(b),
        };
        if dot && partial && fb.tail.is_none() {
            fb.tail = Some(self.stage_tail("b", b, n));
        }
        let windows = crt
            .filter(|crt| dot && LowPart::is_truncated(&crt.low) && crt.low_degree >= lanes)
            .map(|crt| self.stage_windows(fb.buffer, crt.low_degree / lanes));
        let scale = main.scale().times(self.products_scale(&main.convolution)?);
        let transformed = self.transformed("main", main, &fa, &fb)?;
        let low = match crt {
            Some(crt) => self.low_part(crt, &fa, &fb, windows, full, Unit::one(q))?,
            None => parts::Low::default(),
        };
        let products = self.products("main", main, transformed)?;
        let length = crt.map_or(node.domain().wanted, |_| 2 * n - 1);
        let bound = self.inverse_into(main, products, scale.inverse(), full, &low, length)?;
        let written = written(node, lanes).unwrap_or(words);
        if written < words {
            let mut block = Block::default();
            let a = block.push(Op::Splat(0));
            for at in (written..words).step_by(lanes) {
                let (buffer, at, rest) = (full, Index::at(at), words - at);
                block.push(match rest < lanes {
                    true => Op::StorePartial { buffer, at, count: rest as u32, a },
                    false => Op::Store { buffer, at, a },
                });
            }
            self.builder.stage("zeros behind the product", "", vec![Stmt::Block(block)]);
        }
        self.borders.push(("product".into(), bound));
        Ok(bound)
    }
}
