//! The last procedure: the weighted sum of digits modulo q, reduced by f, canonical.

use super::super::fold::{Term, Write, each_register, registers};
use super::super::{LowerError, SHORT, unsupported, word};
use super::residue::Residue;
use super::{Folded, General, LONG, NARROW};
use crate::bounds::{Bounds, WORD, centred};
use crate::build::{Builder, call};
use crate::ir::*;
use crate::method::{EvenModulus, FreezeMethod, Modulus, MulMethod, ReduceMethod};
use crate::schedule::BaseProducts;
use crate::settle::Choices;
use ringforge_plan::Unit;
use ringforge_ring::zq;
use std::ops::Range;

/// What is summed.
pub(super) struct Finish<'a> {
    /// For every coefficient of the result its summands, as (index, coefficient in `[1, q)`).
    pub rows: Vec<Vec<(usize, u64)>>,
    /// An array of residues from which the sum is subtracted, and its words.
    pub addend: Option<(BufferId, usize)>,
    /// The digits, and their arrays.
    pub digits: &'a [Residue],
    pub arrays: &'a [BufferId],
}

impl<'a> Finish<'a> {
    /// The coefficients of a range as they are.
    pub fn of(
        range: Range<usize>,
        (digits, arrays): (&'a [Residue], &'a [BufferId]),
    ) -> Finish<'a> {
        Finish { rows: range.map(|i| vec![(i, 1)]).collect(), addend: None, digits, arrays }
    }
}

/// Digits beyond, which take too many values to be enumerated, are reduced before they are added.
const NEAR: i64 = 1 << 21;

/// What words of so many bits are multiplied with where their sums are reduced and frozen at once, so that freezing takes it
/// out: 1 where they are not.
pub(super) fn scale(schedule: &Choices, q: u64, bits: u8) -> Result<Unit, EvenModulus> {
    let method = schedule.freeze().unwrap_or(FreezeMethod::Montgomery);
    Ok(if short(q, bits) { method.scale(q)?.inverted() } else { Unit::one(q) })
}

/// Whether sums of words of so many bits stay words of 16 bits. They want Montgomery's products: what Barrett's leave is too
/// wide for a proof.
fn short(q: u64, bits: u8) -> bool {
    !q.is_power_of_two() && q <= NARROW && bits == SHORT && q % 2 == 1
}

/// How the sums are computed.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// q = 2^bits: words, of 16 bits or of 32, wrap.
    Wrapping(u8, u8),
    /// Words of 16 bits.
    Short,
    /// Words of 32 bits.
    Long,
}

/// A sum in the making and its largest magnitude.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    value: Option<Value>,
    bound: i64,
}

/// What the sums are made with.
struct Writer<'a> {
    general: &'a General<'a>,
    q: u64,
    kind: Kind,
    multiply: MulMethod,
    reduce: ReduceMethod,
    /// How words of 32 bits are reduced, [`ReduceMethod::low`].
    coarse: bool,
    /// What every summand is multiplied with, apart from its weight: what freezing takes out.
    scale: u64,
    bounds: Bounds,
}

impl General<'_> {
    /// Appends a call of the procedure (c, digits, addend), which is written here.
    pub(super) fn finish(
        &mut self,
        outer: &mut Builder,
        (name, title): (&str, &str),
        sum: Finish,
        to: BufferId,
    ) -> Result<(), LowerError> {
        let (q, words) = (self.plan.ring.q(), self.words);
        let bits = sum.digits.iter().map(|digit| digit.bits).max().unwrap_or(16);
        let mut writer = Writer::new(q, self, bits.max(self.memory))?;
        let modulus = writer.modulus();
        let lanes = self.target.registers.lanes(modulus.bits);
        let mut builder = Builder::new(name, None, modulus);
        let centred = Some(centred(q));
        // The only digit is the result where its sums were folded and left canonical.
        let alone =
            matches!(sum.digits, [Residue { digit: None, weight: 1, .. }]) && sum.addend.is_none();
        let canonical = self.folded == Folded::Canonical && alone;
        let length = sum.rows.len();
        let c = builder.parameter("c", Role::Output, (length, self.memory), centred);
        let array = |(k, digit): (usize, &Residue)| {
            let range = if canonical { centred } else { Some((-digit.bound, digit.bound)) };
            builder.digit(k, Role::Input, (words, digit.bits), range)
        };
        let arrays: Vec<BufferId> = sum.digits.iter().enumerate().map(array).collect();
        let addend = sum.addend.map(|(_, words)| {
            builder.parameter("from", Role::Input, (words, self.memory), centred)
        });
        let registers = registers(&sum.rows, lanes, words);
        let write: &mut Write<LowerError> = &mut |block, terms, at, count| {
            let mut total = Sum::default();
            for (digit, &array) in sum.digits.iter().zip(&arrays) {
                let weight = match addend {
                    Some(_) => zq::sub(0, digit.weight, q),
                    None => digit.weight,
                };
                let load = |block: &mut Block, term: &Term| {
                    let v = block.load(array, at(term.offset));
                    term.masked(block, v)
                };
                writer.digit(block, &mut total, terms, weight, digit.bound, &load)?;
            }
            if let Some(buffer) = addend {
                let partial = Op::LoadPartial { buffer, at: at(0), count: count as u32 };
                let whole = Op::Load { buffer, at: at(0) };
                let v = block.push(if count < lanes { partial } else { whole });
                writer.weighted(block, &mut total, Sum::of(v, q as i64 / 2), 1)?;
            }
            let a = match total.value.filter(|_| canonical) {
                Some(a) => a,
                None => writer.canonical(block, total),
            };
            block.store_first((c, at(0)), a, (count, lanes));
            Ok(())
        };
        let body = each_register(&mut builder, &registers, (lanes, length), write)?;
        builder.stage("sum of the digits modulo q, reduced by f, canonical", "[Garner59]", body);
        let all = [to].into_iter().chain(sum.arrays.iter().copied());
        let all = all.chain(sum.addend.map(|(buffer, _)| buffer));
        outer.stage(title, "", vec![call(self.push(builder.finish()), all)]);
        Ok(())
    }
}

impl Sum {
    fn of(value: Value, bound: i64) -> Sum {
        Sum { value: Some(value), bound }
    }
}

impl<'a> Writer<'a> {
    fn new(q: u64, general: &'a General, bits: u8) -> Result<Writer<'a>, LowerError> {
        let schedule = &general.schedule;
        let kind = match q {
            _ if q.is_power_of_two() => Kind::Wrapping(q.trailing_zeros() as u8, bits),
            _ if short(q, bits) => Kind::Short,
            _ => Kind::Long,
        };
        // Montgomery's methods want an odd modulus.
        let odd = q % 2 == 1;
        let long = general.methods(LONG);
        let multiply = match kind {
            _ if !odd => MulMethod::Barrett,
            Kind::Long => long.0,
            _ => schedule.multiply(),
        };
        let reduce = match kind {
            Kind::Long => long.1,
            _ if !odd && schedule.reduce() == ReduceMethod::Montgomery => ReduceMethod::BarrettHigh,
            _ => schedule.reduce(),
        };
        // A table of words of 16 bits serves the short kind alone.
        let modulus = match kind {
            Kind::Short => Modulus { q, bits: 16 },
            _ => Modulus { q, bits: 32 },
        };
        let bounds = Bounds::new(modulus, multiply, reduce);
        let scale = scale(schedule, q, bits)?.value();
        let coarse = general.coarse();
        Ok(Writer { general, q, kind, multiply, reduce, coarse, scale, bounds })
    }

    /// The modulus and words of the procedure.
    fn modulus(&self) -> Modulus {
        match self.kind {
            Kind::Wrapping(_, bits) => Modulus { q: 1 << bits, bits },
            Kind::Short => Modulus { q: self.q, bits: 16 },
            Kind::Long => Modulus { q: self.q, bits: 32 },
        }
    }

    /// The largest word, and what reducing leaves.
    fn most(&self) -> i64 {
        if matches!(self.kind, Kind::Long) { i64::from(i32::MAX) } else { WORD }
    }

    fn reduced(&self, block: &mut Block, sum: Sum) -> Sum {
        self.within(block, sum, self.q as i64 / 2 + 8)
    }

    /// Reduces a digit by itself if words are long and q is not. Then no sum of sums has to be
    /// followed through a reduction. Coarse steps do not do this.
    fn near(&self, block: &mut Block, digit: Sum) -> Sum {
        match self.kind {
            Kind::Long if self.q <= 1 << 16 && !self.coarse => self.within(block, digit, NEAR),
            _ => digit,
        }
    }

    /// A sum reduced until it lies within `most`, or once by methods that know no better.
    fn within(&self, block: &mut Block, mut sum: Sum, most: i64) -> Sum {
        if !matches!(self.kind, Kind::Long) || self.q > 1 << 16 {
            if matches!(self.kind, Kind::Long) {
                self.general.schedule.long_reduce();
            }
            let value = sum.value.map(|a| block.reduced(a, self.reduce));
            return Sum { value, bound: self.bounds.reduce(sum.bound) };
        }
        while sum.bound > most {
            let (method, bound) = ReduceMethod::low(self.q, sum.bound, self.coarse);
            if bound >= sum.bound {
                break;
            }
            let value = sum.value.map(|a| block.reduced(a, method));
            sum = Sum { value, bound };
        }
        sum
    }

    /// Adds or subtracts, what is there reduced first where the sum would be no word.
    fn add(
        &self,
        block: &mut Block,
        total: &mut Sum,
        mut term: Sum,
        minus: bool,
    ) -> Result<(), LowerError> {
        if term.value.is_none() {
            return Ok(());
        }
        let wraps = matches!(self.kind, Kind::Wrapping(..));
        let fits = |total: &Sum, term: &Sum| wraps || total.bound + term.bound <= self.most();
        if !fits(total, &term) {
            *total = self.reduced(block, *total);
        }
        if !fits(total, &term) {
            term = self.reduced(block, term);
        }
        total.bound += term.bound;
        if matches!(self.kind, Kind::Short) {
            word("sum of the digits", total.bound)?;
        }
        total.value = term.value.map(|b| block.joined(total.value, b, minus));
        Ok(())
    }

    /// Adds one digit's part of a register: its summands with coefficients ±1 together, others by
    /// themselves.
    fn digit(
        &mut self,
        block: &mut Block,
        total: &mut Sum,
        terms: &[Term],
        weight: u64,
        bound: i64,
        load: &dyn Fn(&mut Block, &Term) -> Value,
    ) -> Result<(), LowerError> {
        let q = self.q;
        let mut plain = Sum::default();
        for term in terms {
            let v = load(block, term);
            let v = self.near(block, Sum::of(v, bound));
            match term.coefficient {
                1 => self.add(block, &mut plain, v, false)?,
                c if c == q - 1 => self.add(block, &mut plain, v, true)?,
                c => self.weighted(block, total, v, zq::mul(c, weight, q))?,
            }
        }
        self.weighted(block, total, plain, weight)
    }

    /// A word within a bound, times a weight.
    fn multiplied(&mut self, block: &mut Block, a: Value, bound: i64, weight: u64) -> Sum {
        let value = block.times(a, Factor::Splat(weight), self.multiply);
        Sum::of(value, self.bounds.product(weight, bound))
    }

    /// Adds `weight·a`.
    fn weighted(
        &mut self,
        block: &mut Block,
        total: &mut Sum,
        a: Sum,
        weight: u64,
    ) -> Result<(), LowerError> {
        let Some(value) = a.value else { return Ok(()) };
        let q = self.q;
        let weight = zq::mul(weight % q, self.scale, q);
        if weight == q - 1 && weight > 1 && matches!(self.kind, Kind::Long) {
            return self.add(block, total, a, true);
        }
        let term = match self.kind {
            _ if weight == 1 => a,
            Kind::Wrapping(..) => {
                let c = block.splat(zq::centered(weight, q) as i32);
                Sum::of(block.push(Op::MulLo(value, c)), 0)
            }
            Kind::Short => self.multiplied(block, value, a.bound, weight),
            Kind::Long if q > 1 << 16 => {
                // Words of 32 bits beside dot products are multiplied by Montgomery's method alone.
                let dots = self.general.schedule.base() == BaseProducts::BroadcastDot;
                if dots && q.is_multiple_of(2) {
                    let target = self.general.target.name;
                    return Err(unsupported(
                        format!("weighted digits modulo {q}"),
                        format!("{target} multiplies words of 32 bits modulo odd numbers only"),
                        "an odd q, a power of two, an even q of at most 65536, one prime that covers the \
                         product, or target c",
                    ));
                }
                self.general.schedule.long_multiply();
                self.multiplied(block, value, a.bound, weight)
            }
            Kind::Long => {
                // What is near enough to q/2 times a residue of at most q/2 is a word.
                let a = self.within(block, a, i64::from(i32::MAX) / (q as i64 / 2));
                let c = block.splat(zq::centered(weight, q) as i32);
                let product = block.push(Op::MulLo(a.value.unwrap_or(value), c));
                let bound = a.bound * (q as i64 / 2);
                self.within(block, Sum::of(product, bound), 1 << 20)
            }
        };
        self.add(block, total, term, false)
    }

    /// The canonical residue of a sum.
    fn canonical(&mut self, block: &mut Block, total: Sum) -> Value {
        let Some(a) = total.value else { return block.splat(0) };
        match self.kind {
            Kind::Wrapping(bits, word) => block.sign_extended(a, word - bits),
            Kind::Short if self.scale != 1 => {
                let cheapest = || super::super::fold::cheapest(total.bound, self.q);
                let method = self.general.schedule.freeze().unwrap_or_else(cheapest);
                block.push(Op::Freeze { a, method })
            }
            _ => {
                let method = FreezeMethod::Minimum;
                let domain = method.domain(Modulus { q: self.q, bits: 32 });
                let mut a = a;
                // Once more, however small the sum is.
                if self.general.folded == Folded::Far
                    && let Some((method, _)) =
                        ReduceMethod::alone(self.q, self.modulus().bits, total.bound)
                {
                    a = block.reduced(a, method);
                } else if total.bound > domain.1 {
                    a = self.within(block, total, domain.1).value.unwrap_or(a);
                }
                block.push(Op::Freeze { a, method })
            }
        }
    }
}
