//! What may be settled for the product modulo one number: the words, where blocks lie, methods and limits, the cheapest
//! first. Which of them holds, the ranges of its stages say.

use super::defaults::{self, Bound, Line};
use super::{Choices, shown};
use crate::bounds::WORD;
use crate::lower::blocks::Packed;
use crate::lower::{LowerError, SHORT, registers, unsupported};
use crate::method::{MulMethod, NarrowMethod, ReduceMethod};
use crate::schedule::{BaseProducts, Layout, Limits, Schedule};
use ringforge_plan::{Blocks, MonomialCrt, ProductRef, Stages, word_bits};
use ringforge_targets::Registers;

/// Bits of the longest words of products.
pub(crate) const LONG: u8 = 32;

/// A product that is to be settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub node: &'a ProductRef,
    pub modulus: u64,
    /// Coefficients of an operand.
    pub n: usize,
    pub registers: Registers,
    /// Bits of callers' words.
    pub memory: u8,
    /// The largest coefficient over the integers, of a product through this and other primes.
    pub integers: Option<u128>,
    /// Whether this is the only prime.
    pub alone: bool,
}

/// A product modulo one number as it is settled.
#[derive(Clone, Debug)]
pub(crate) struct Settlement<'a> {
    pub choices: Choices,
    pub bits: u8,
    pub way: Way<'a>,
}

/// Where blocks lie.
#[derive(Clone, Debug)]
pub(crate) enum Way<'a> {
    /// They fill registers, and there may be a low part.
    Registers(&'a Blocks, Option<&'a MonomialCrt>),
    /// Registers hold several.
    Packed(Packed<'a>),
    /// Each has registers of its own.
    Apart,
}

impl Way<'_> {
    /// As a schedule names it.
    pub fn layout(&self) -> Layout {
        match self {
            Way::Registers(..) => Layout::Registers,
            Way::Packed(_) => Layout::Packed,
            Way::Apart => Layout::Apart,
        }
    }
}

/// The parts of a node whose blocks fill registers.
fn registers_of<'a>(node: &'a ProductRef, place: (usize, usize)) -> Option<Way<'a>> {
    let (main, crt) = match node.stages() {
        Stages::Joined(crt) => (crt.main.stages().blocks()?, Some(crt)),
        other => (other.blocks()?, None),
    };
    registers::suit(main, crt, place).then_some(Way::Registers(main, crt))
}

/// How words of 32 bits are multiplied by constants and reduced by default. In lanes, it is by
/// Montgomery and the high Barrett reduction. Beside dot products, it is by Barrett if words of 16
/// bits use it and the machine `rounds` high halves, otherwise by wide products.
pub(crate) fn long_methods(own: &Schedule, rounds: bool) -> (MulMethod, ReduceMethod) {
    if own.base == BaseProducts::Lanes {
        return (MulMethod::Montgomery, ReduceMethod::BarrettHigh);
    }
    let multiply = match own.multiply {
        MulMethod::Barrett if rounds => MulMethod::Barrett,
        _ => MulMethod::MontgomeryWide,
    };
    let reduce = match own.reduce {
        ReduceMethod::Barrett if rounds => ReduceMethod::Barrett,
        _ => ReduceMethod::BarrettWide,
    };
    (multiply, reduce)
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

/// All lines of a table for some reductions, in words of so many bits.
fn lines<'a>(
    schedule: &Choices,
    sums: Sums,
    (reductions, table): (&[ReduceMethod], &[Line]),
    way: &Way<'a>,
) -> Vec<Settlement<'a>> {
    let bits = sums.bits;
    let of = |reduce: ReduceMethod, line: &Line| {
        let limits = sums.limits(line)?;
        let choices = schedule.usual(|values| {
            (values.reduce, values.limits) = (reduce, limits);
            (values.word, values.layout) = (Some(bits), Some(way.layout()));
        });
        Some(Settlement { choices, bits, way: way.clone() })
    };
    let all = reductions.iter();
    all.flat_map(|&reduce| table.iter().filter_map(move |line| of(reduce, line))).collect()
}

impl<'a> Task<'a> {
    /// What may be settled, the cheapest first.
    ///
    /// # Errors
    /// A key that a user wrote leaves nothing.
    pub fn candidates(
        &self,
        whole: &Choices,
        rounds: bool,
    ) -> Result<Vec<Settlement<'a>>, LowerError> {
        let lanes = self.registers.lanes(SHORT);
        let section = Choices::of(&whole.values().section(self.modulus));
        let registers = registers_of(self.node, (self.n, lanes));
        let schedule = match registers {
            Some(Way::Registers(main, crt)) => registers::suited(&section, main, crt).unread(),
            _ => section,
        };
        let given = |key: &str| schedule.given(key).then(|| schedule.values());
        let word = given("word").and_then(|values| values.word);
        let layout = given("layout").and_then(|values| values.layout);
        let all = self.all(&schedule, registers, rounds);
        let fits = |s: &Settlement| {
            word.is_none_or(|bits| bits == s.bits)
                && layout.is_none_or(|layout| layout == s.way.layout())
        };
        let mut found: Vec<Settlement> = Vec::new();
        for one in all.iter().filter(|s| fits(s)) {
            // A user's own limits make lines alike.
            if !found.iter().any(|known| known.choices.values() == one.choices.values()) {
                found.push(one.clone());
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
        let named = |s: &Settlement| {
            let layout = toml::Value::try_from(s.way.layout()).ok();
            format!("word = {} with layout = {}", s.bits, shown(layout))
        };
        let mut names: Vec<String> = all.iter().map(named).collect();
        names.dedup();
        let (why, works) = match names.is_empty() {
            true => ("its words are longer than all that products have", "q below 2^31".into()),
            false => ("its blocks do not lie so in such words", names.join(", or ")),
        };
        Err(unsupported(self.node.to_form(), why, works))
    }

    /// All settlements, whatever a user says of words and layouts.
    fn all(
        &self,
        schedule: &Choices,
        registers: Option<Way<'a>>,
        rounds: bool,
    ) -> Vec<Settlement<'a>> {
        let (own, lanes) = (schedule.values(), self.registers.lanes(SHORT));
        // Through a prime of 32 bits their proof takes more than the kernel's budget.
        let packed = |bits| {
            let found = Packed::of(self.node, own.base, (self.registers, bits));
            found.filter(|_| bits == SHORT || self.integers.is_none()).map(Way::Packed)
        };
        // With one prime, residues this near are the integers.
        let integers = match self.integers {
            Some(bound) if self.alone => self.modulus as i64 - bound as i64 - 1,
            _ => 0,
        };
        let k = width(self.node, lanes);
        let sums = |terms: usize, bits| Sums {
            q: self.modulus as i64,
            terms: terms as i64,
            integers,
            bits,
        };
        let mut all = Vec::new();
        if word_bits(self.modulus) == SHORT {
            let table = match own.base {
                BaseProducts::BroadcastDot => defaults::DOTS,
                BaseProducts::Lanes => defaults::LANES,
            };
            let others = defaults::OTHERS.iter().copied().filter(|_| !schedule.given("reduce"));
            let reductions: Vec<ReduceMethod> = std::iter::once(own.reduce).chain(others).collect();
            let several = sums(k.clamp(lanes, 4 * lanes), SHORT);
            let mut ways = |way: Way<'a>, sums, with| all.extend(lines(schedule, sums, with, &way));
            registers.into_iter().for_each(|way| ways(way, several, (&reductions, table)));
            let packed = packed(SHORT).into_iter();
            packed.for_each(|way| ways(way, sums(k, SHORT), (&reductions[..1], defaults::PACKED)));
            ways(Way::Apart, several, (&reductions, table));
        }
        let (multiply, reduce) = long_methods(own, rounds);
        let long = schedule.usual(|values| {
            values.multiply = multiply;
            values.narrow = NarrowMethod::Montgomery;
        });
        let with = (&[reduce][..], defaults::LONG);
        let ways = packed(LONG).into_iter().chain([Way::Apart]);
        all.extend(ways.flat_map(|way| lines(&long, sums(k, LONG), with, &way)));
        // Words of callers fit those of the procedure: vectors widen what they load, never cut it.
        all.retain(|settlement| settlement.bits >= self.memory);
        all
    }
}

/// Coefficients of a node's blocks, in registers of `lanes` words.
fn width(node: &ProductRef, lanes: usize) -> usize {
    match node.stages() {
        Stages::Joined(crt) => width(&crt.main, lanes),
        Stages::Blocks(part) => part.k,
        Stages::Levels(levels) if levels.halves(lanes).is_some() => levels.degree().max(lanes),
        _ => node.domain().operand,
    }
}
