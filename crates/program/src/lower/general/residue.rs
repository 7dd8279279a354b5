//! The product modulo one prime: a procedure (out, a, b) whose result has the scale 1.

use super::super::blocks::{Packed, room};
use super::super::registers::{LowPart, suit, suited};
use super::super::suited::interleaves;
use super::super::transpose::Square;
use super::super::{LowerError, Lowering, Operand, SHORT, parts, unsupported};
use super::digits::Digit;
use super::{General, LONG, finish, long_methods};
use crate::bounds::{Bounds, WORD};
use crate::build::Builder;
use crate::ir::*;
use crate::method::{Modulus, NarrowMethod, ReduceMethod};
use crate::schedule::{BaseProducts, Limits};
use crate::settle::defaults::{self, Bound, Line};
use crate::settle::{self, Choices};
use ringforge_plan::{
    Levels, MonomialCrt, Product, ProductRef, Structure, Substitute, Unit, word_bits,
};
use ringforge_target::ALIGNMENT;

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

/// A product modulo one number as it is settled.
#[derive(Clone, Debug)]
struct Settlement<'a> {
    choices: Choices,
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
fn registers_of<'a>(node: &'a ProductRef, place: (usize, usize)) -> Option<Registers<'a>> {
    let (main, crt) = match node.structure() {
        Structure::Factors(crt) => (crt.main.structure().blocks()?, Some(crt)),
        other => (other.blocks()?, None),
    };
    suit(main, crt, place).then_some((main, crt))
}

impl Way<'_> {
    /// For people.
    fn name(&self) -> &'static str {
        match self {
            Way::Registers(_) => "registers",
            Way::Packed(_) => "packed",
            Way::Apart => "apart",
        }
    }
}

/// What the limits of a product follow from.
#[derive(Clone, Copy, Debug)]
struct Sums {
    q: i64,
    /// Products in a sum.
    terms: i64,
    /// Residues within this are the integers.
    integers: i64,
    bits: u8,
}

impl Sums {
    /// A bound of the table; nothing where it is none for this modulus.
    fn bound(&self, bound: Bound) -> Option<i64> {
        let q = self.q;
        let word = if self.bits == SHORT { WORD } else { i64::from(i32::MAX) };
        // Products in a sum of 32 bits whose reduction is a word.
        let room = (WORD - q / 2) * (1 << 16) / self.terms;
        let widest = (room.min((1 << 31) / self.terms - 1) as f64).sqrt() as i64 - 1;
        let wanted = |most: i64| (most > 4 * q / 5).then_some(most);
        match bound {
            Bound::Is(most) => Some(most),
            Bound::Word => Some(word),
            Bound::Sums => Some(widest),
            Bound::SumsWithin(most) => Some(widest.min(most)),
            // Products of operands within this leave no more than 3q in each word.
            Bound::Near => {
                let near = ((2.5 * q as f64) * 2f64.powi(32) / self.terms as f64).sqrt() as i64;
                Some(near.max(q).min(word))
            }
            Bound::Times(of) => Some((of * q).min(word)),
            Bound::FiveEighths => Some((q / 2 + q / 8).min(word)),
            Bound::Integers => wanted(self.integers),
            // Freezing takes 3q/2.
            Bound::Frozen => wanted(3 * (q / 2) - 2),
        }
    }

    fn limits(&self, line: &Line) -> Option<Limits> {
        let [first, forward, full] =
            [line.first, line.forward, line.full].map(|bound| self.bound(bound));
        let (forward_first, inverse_first) = (first?, first?);
        Some(Limits {
            forward_first,
            forward: forward?,
            inverse_first,
            full: full?,
            products: None,
        })
    }
}

/// What may be settled for a product in words of 16 bits, by these lines.
fn short<'a>(
    schedule: &Choices,
    sums: Sums,
    (lines, others): (&[Line], &[ReduceMethod]),
    way: &Way<'a>,
) -> Vec<Settlement<'a>> {
    let own = schedule.values().reduce;
    let given = schedule.given("reduce");
    let all = std::iter::once(&own).chain(others.iter().filter(|_| !given));
    let of = |reduce: &ReduceMethod, line: &Line| {
        let limits = sums.limits(line)?;
        let choices = schedule.usual(|values| (values.reduce, values.limits) = (*reduce, limits));
        Some(Settlement { choices, bits: SHORT, way: way.clone() })
    };
    all.flat_map(|reduce| lines.iter().filter_map(move |line| of(reduce, line))).collect()
}

/// The same in words of 32 bits.
fn long<'a>(schedule: &Choices, sums: Sums, rounds: bool, way: &Way<'a>) -> Vec<Settlement<'a>> {
    let (multiply, reduce) = long_methods(schedule, rounds);
    let of = |line: &Line| {
        let limits = sums.limits(line)?;
        let choices = schedule.usual(|values| {
            (values.multiply, values.reduce, values.limits) = (multiply, reduce, limits);
            values.narrow = NarrowMethod::Montgomery;
        });
        Some(Settlement { choices, bits: LONG, way: way.clone() })
    };
    defaults::LONG.iter().filter_map(of).collect()
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
            all.push(self.settled((&node, modulus, &name), ranges)?);
        }
        Ok(all)
    }

    /// What may be settled for a product, the cheapest first.
    fn settlements<'n>(&self, node: &'n ProductRef, modulus: u64) -> Vec<Settlement<'n>> {
        let lanes = self.registers.lanes(SHORT);
        // With one prime, residues this near are the integers.
        let integers = match (self.parts.len(), self.bound) {
            (1, Some(bound)) => modulus as i64 - bound as i64 - 1,
            _ => 0,
        };
        let registers = registers_of(node, (self.n, lanes));
        let schedule = match registers {
            Some((main, crt)) => suited(self.schedule, main, crt),
            None => self.schedule.clone(),
        };
        let schedule = schedule.unread();
        // Through a prime of 32 bits their proof takes more than the kernel's budget.
        let packed = |bits| {
            let found = Packed::of(node, schedule.values().base, (self.registers, bits));
            found.filter(|_| bits == SHORT || self.bound.is_none()).map(Way::Packed)
        };
        let k = width(node, lanes);
        let sums =
            |terms: usize, bits| Sums { q: modulus as i64, terms: terms as i64, integers, bits };
        let registers = registers.map(Way::Registers);
        let (mut all, apart) = (Vec::new(), Some(Way::Apart));
        if word_bits(modulus) == SHORT {
            let lines = match schedule.values().base {
                BaseProducts::BroadcastDot => defaults::DOTS,
                BaseProducts::Lanes => defaults::LANES,
            };
            let whole = (lines, &defaults::OTHERS[..]);
            let several = sums(k.clamp(lanes, 4 * lanes), SHORT);
            let one = sums(k, SHORT);
            all.extend(registers.iter().flat_map(|way| short(&schedule, several, whole, way)));
            let packed = packed(SHORT);
            let lines = (defaults::PACKED, &[][..]);
            all.extend(packed.iter().flat_map(|way| short(&schedule, one, lines, way)));
            all.extend(apart.iter().flat_map(|way| short(&schedule, several, whole, way)));
        }
        let one = sums(k, LONG);
        let ways = packed(LONG).into_iter().chain(apart);
        all.extend(ways.flat_map(|way| long(&schedule, one, self.rounds, &way)));
        // Words of callers fit those of the procedure: vectors widen what they load, never cut it.
        all.retain(|settlement| settlement.bits >= self.memory);
        // A user's own limits make lines alike.
        let same = |a: &Settlement, b: &Settlement| {
            (a.bits, a.way.name(), a.choices.values()) == (b.bits, b.way.name(), b.choices.values())
        };
        all.dedup_by(|a, b| same(a, b));
        all
    }

    /// Settles a product: the first whose ranges fit.
    fn settled(
        &mut self,
        (node, modulus, name): (&ProductRef, u64, &str),
        ranges: [(i64, i64); 2],
    ) -> Result<Residue, LowerError> {
        let mut failure = None;
        for settlement in self.settlements(node, modulus) {
            match self.product((node, modulus, name), &settlement, ranges) {
                Ok(residue) => return Ok(residue),
                Err(error) => {
                    // Of all failures the last kind's first says most.
                    let kind = |e: &LowerError| matches!(e, LowerError::Unsupported { .. });
                    if failure.as_ref().is_none_or(|f| kind(f) && !kind(&error)) {
                        failure = Some(error);
                    }
                }
            }
        }
        let why = "its words are longer than all that products have";
        Err(failure.unwrap_or_else(|| unsupported(node.to_form(), why, "q below 2^31")))
    }

    /// Lowers a product as it is settled; nothing changes where its ranges do not fit.
    fn product(
        &mut self,
        (node, modulus, name): (&ProductRef, u64, &str),
        settlement: &Settlement,
        ranges: [(i64, i64); 2],
    ) -> Result<Residue, LowerError> {
        let Settlement { choices, bits, way } = settlement;
        let words = Modulus { q: modulus, bits: *bits };
        let square = Square { registers: self.registers, bits: *bits };
        let prefix = if self.parts.len() > 1 { format!("p{modulus}_") } else { String::new() };
        let mut lowering = Lowering {
            plan: self.plan,
            schedule: choices,
            q: modulus,
            n: self.n,
            operand: 0,
            prefix: prefix.clone(),
            lanes: square.rows(),
            square,
            interleaves: interleaves(self.schedule, choices, square),
            bounds: Bounds::new(words, choices.values().multiply, choices.values().reduce),
            builder: Builder::new(name, None, words),
            procedures: self.procedures.clone(),
            sites: Vec::new(),
            seen: Vec::new(),
            borders: Vec::new(),
            notes: Vec::new(),
            rows: Vec::new(),
        };
        // Sums that are reduced once are multiplied for that, which the last constants of a transform can do.
        let alone = self.bound.is_none() && self.fold.is_some() && modulus == self.plan.ring.q();
        let scale = match way {
            Way::Packed(_) if alone && *bits == self.memory => {
                finish::scale(self.schedule, modulus, self.memory)?
            }
            _ => Unit::one(modulus),
        };
        let bound = match way {
            Way::Apart => lowering.blocks(node, ranges, self.words, self.memory),
            Way::Packed(packed) => {
                lowering.packed(packed, ranges, (self.words, self.memory), scale)
            }
            Way::Registers(parts) => lowering.residue(node, *parts, ranges, self.words),
        }?;
        let Lowering { builder, procedures, sites, seen, borders, notes, .. } = lowering;
        self.procedures = procedures;
        self.sites.extend(sites);
        self.seen.extend(seen);
        self.borders.extend(borders.into_iter().map(|(s, b)| (format!("{prefix}{s}"), b)));
        self.notes.extend(notes);
        self.settled.push(settle::Product {
            modulus,
            bits: *bits,
            layout: way.name(),
            choices: choices.clone(),
        });
        let procedure = self.push(builder.finish());
        Ok(Residue { procedure, bound, bits: *bits, weight: scale.inverse() })
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
            true => most(self.schedule.reduce().range(ranges[i], modulus)),
            false => most(ranges[i]),
        };
        self.operand = bound(0).max(bound(1));
        let dot = self.schedule.base() == BaseProducts::BroadcastDot;
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
