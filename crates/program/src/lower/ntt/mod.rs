//! Transforms of a whole ring: a procedure for every entry point.
//!
//! Ranges chain: what `forward` leaves, `base` and `accumulate` take; what those leave, `inverse`
//! takes. Reductions are placed for centred operands; then every input's range is as wide as the
//! code so placed allows.

mod axes;
mod base;
mod entries;
mod long;
mod pass;
mod passes;
mod plan;
mod ranges;
mod reorder;
mod sums;
mod unsigned;
mod words;
mod write;

use super::small::is_direct;
use super::{LowerError, Lowered, Written, beyond, unsupported};
use crate::ir::*;
use crate::method::{FreezeMethod, Modulus, NarrowMethod, ProductMethod};
use crate::schedule::BaseProducts;
use crate::settle::products::LONG;
use crate::settle::transforms::{self, Candidate};
use crate::settle::{self, Choices, Refused};
use base::{Base, Kind};
use pass::Pass;
use passes::Ending;
pub(crate) use plan::{Machine, Shuffles};
use ranges::{Analysis, Choice, Placed};
use ringforge_plan::{Levels, Plan};
use ringforge_targets::{Products, Target};
use std::collections::BTreeSet;
pub(crate) use sums::room;
pub(crate) use words::Words;
use write::Style;

/// The shortest transform that has entry points: short ones fill too few registers.
const SHORTEST: usize = 128;

/// The entry point that adds base products to what is there, as errors name it.
const ACCUMULATE: &str = "accumulate";

/// Whether a transform of the whole ring has entry points; others are blocks of a product where
/// halves are split.
pub(crate) fn has_entries(levels: &dyn Levels) -> bool {
    let long = levels.size().is_power_of_two() && levels.size() >= SHORTEST;
    long || levels.halves(1).is_none()
}

/// Lowers a plan whose root is `ntt`; with `survey`, all that may be settled for it is looked at.
pub(crate) fn lower(
    plan: &Plan,
    ntt: &dyn Levels,
    (schedule, target, survey): (&Choices, &Target, bool),
    name: &str,
) -> Result<Lowered, LowerError> {
    if !is_direct(ntt.products()) {
        let why = "factors that are left are multiplied by their definition";
        return Err(unsupported(ntt.products().base.to_form(), why, "(toeplitz)"));
    }
    if ntt.size() < SHORTEST {
        let why = format!("a transform of {} coefficients fills too few registers", ntt.size());
        return Err(unsupported(plan.root.to_form(), why, format!("n of at least {SHORTEST}")));
    }
    // Machines with dot products shuffle words within registers, and have no others.
    if schedule.given("base")
        && schedule.base() == BaseProducts::Lanes
        && target.products == Products::Dots
    {
        return Err(Refused::other("base", "\"lanes\"", "\"broadcast-dot\"").into());
    }
    if let Some(placed) = &schedule.unsigned() {
        schedule.lanes();
        let target = schedule.values().target(target).unwrap_or(*target);
        return unsigned::lower(plan, ntt, placed, (schedule, &target), name);
    }
    let q = plan.ring.q();
    let all = transforms::candidates(plan, ntt, (schedule, target))?;
    let longest = all.last().map_or(0, |candidate| candidate.modulus.bits);
    let holds = |candidate: &Candidate| Lowering::of(candidate).run(plan, name);
    match settle::first(all, (q, survey), |candidate| &candidate.choices, holds) {
        Ok((lowered, verdicts)) => Ok(Lowered { verdicts, ..lowered }),
        Err(LowerError::Word { .. }) if longest == LONG && schedule.reductions().is_none() => {
            let why = format!("the modulus {q} is too large for words of 32 bits");
            Err(unsupported(plan.root.to_form(), why, "a modulus below 2^30"))
        }
        Err(other) => Err(other),
    }
}

/// The cheapest last step that takes what a product with a constant leaves.
fn freeze(modulus: Modulus, schedule: &Choices) -> FreezeMethod {
    let most = 3 * modulus.q as i64 / 4;
    let biased = FreezeMethod::MontgomeryBiased { k: 1 };
    let (lo, hi) = biased.domain(modulus);
    match schedule.freeze() {
        Some(method) => method,
        None if modulus.bits == 32 => FreezeMethod::Minimum,
        None if lo <= -most && most <= hi => biased,
        None => FreezeMethod::Montgomery,
    }
}

struct Lowering<'a> {
    machine: &'a Machine<'a>,
    schedule: &'a Choices,
    words: Words,
    rolled: bool,
    product: ProductMethod,
    freeze: FreezeMethod,
    given: Option<BTreeSet<String>>,
    /// The largest sum of base products.
    room: i64,
    /// Where index i lies.
    own: Vec<usize>,
    placed: Placed,
    borders: Vec<(String, i64)>,
}

/// The ranges at the ends of the entry points, as largest magnitudes.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    forward_in: i64,
    forward_out: i64,
    base_in: i64,
    base_out: i64,
    sum: i64,
    inverse_in: i64,
    inverse_out: i64,
}

/// A sum of base products, with the largest magnitudes of its operands and of what it leaves.
#[derive(Clone, Copy, Debug)]
struct InnerProduct {
    pairs: usize,
    input: i64,
    output: i64,
    /// Whether the sum is reduced.
    reduce: bool,
}

/// The largest value in `from..=to` that fits, if `from` does; what fits is downward closed.
fn widest(from: i64, to: i64, fits: impl Fn(i64) -> bool) -> i64 {
    let (mut good, mut bad) = (from, to + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

fn largest(bounds: &[i64]) -> i64 {
    bounds.iter().copied().max().unwrap_or(0)
}

impl<'a> Lowering<'a> {
    /// By one settlement.
    fn of(candidate: &'a Candidate) -> Lowering<'a> {
        let Candidate { machine, modulus, choices: schedule } = candidate;
        let wide = modulus.bits == LONG && machine.shuffles == Shuffles::Interleaving;
        let words = Words::new(*modulus, schedule);
        let limit = if machine.sums() { schedule.products() } else { None };
        Lowering {
            machine,
            room: limit.unwrap_or_else(|| words.most()),
            words,
            rolled: machine.shuffles == Shuffles::Striding
                || machine.ntt.size() > schedule.straight() as usize,
            product: if wide { ProductMethod::MontgomeryWide } else { ProductMethod::Montgomery },
            freeze: freeze(*modulus, schedule),
            given: schedule.reductions().clone().map(|all| all.into_iter().collect()),
            schedule,
            own: machine.own(),
            placed: Placed::default(),
            borders: Vec::new(),
        }
    }
}

impl Lowering<'_> {
    fn style<'a>(&'a self, stage: &'a str) -> Style<'a> {
        Style {
            stage,
            multiply: self.schedule.multiply(),
            reduce: self.schedule.reduce(),
            freeze: Some(self.freeze),
            rolled: self.rolled,
            wide_tables: self.machine.shuffles == Shuffles::Striding,
            lanes: self.machine.shape.lanes(),
            placed: &self.placed.here,
        }
    }

    fn base<'a>(&'a self, style: &'a Style<'a>, own: &[usize]) -> Base<'a> {
        let mut index_at = vec![0; own.len()];
        own.iter().enumerate().for_each(|(i, &p)| index_at[p] = i);
        let mut base = Base {
            machine: self.machine,
            words: &self.words,
            style,
            product: self.product,
            narrow: NarrowMethod::Montgomery,
            room: self.room,
            fused: false,
            index_at,
        };
        if self.machine.kind() == Kind::Pairs {
            // Strided products are of words.
            if self.machine.shuffles == Shuffles::Interleaving {
                base.narrow = self.schedule.narrow();
            }
            base.fused = !self.schedule.inner_products().is_empty() && self.schedule.fused_dot();
        }
        base
    }

    /// Bounds behind passes, and the reductions.
    fn analysed(
        &self,
        stage: &str,
        passes: &[Pass],
        (input, limit): (i64, i64),
        given: Option<&BTreeSet<String>>,
    ) -> Result<(i64, Placed), LowerError> {
        let choice = match given {
            Some(given) => Choice::Given(given),
            None => Choice::Late(self.schedule.drop(), self.schedule.add()),
        };
        let mut analysis = Analysis {
            words: &self.words,
            stage,
            choice,
            limit,
            freeze: self.freeze,
            rolled: self.rolled,
            shape: self.machine.shape,
            placed: Placed::default(),
        };
        let bounds = analysis.run(passes, &vec![input; self.machine.ntt.size()])?;
        Ok((largest(&bounds), analysis.placed))
    }

    fn run(mut self, plan: &Plan, name: &str) -> Result<Lowered, LowerError> {
        let (q, n) = (plan.ring.q(), self.machine.ntt.size());
        let (h, most) = ((q as i64 - 1) / 2, self.words.most());
        let modulus = self.words.modulus;
        let made = self.base(&self.style(""), &self.own).scale()?;
        let back = self.machine.ntt.left().times(made).inverted();
        let unfrozen = self.freeze.scale(modulus)?.inverted();
        let forward = self.machine.forward();
        let inverse = self.machine.inverse(Ending { factor: back.value(), freeze: false });
        let ending = Ending { factor: back.times(unfrozen).value(), freeze: true };
        let last = self.machine.inverse(ending);

        let given = self.given.clone();
        let given = given.as_ref();
        let style = self.style("");
        let base = self.base(&style, &self.own);
        let sums = |x: i64| base.bound(x, x, 1).ok().and_then(|p| self.words.closed(p)).is_some();
        let base_most = widest(0, most, sums);
        let (out, forward_placed) = self.analysed("forward", &forward, (h, base_most), given)?;
        let product = base.bound(out, out, 1)?;
        let sum = self.words.closed(product);
        let sum = sum.ok_or_else(|| beyond(ACCUMULATE, most, product))?;
        let entry = product.max(sum);
        let (_, inverse_placed) = self.analysed("inverse", &inverse, (entry, most), given)?;
        let (_, last_placed) = self.analysed("mul.inverse", &last, (product, most), given)?;

        let mutant = !self.schedule.drop().is_empty();
        let fits = |stage: &str, passes: &[Pass], at: (i64, i64), placed: &Placed| {
            self.analysed(stage, passes, at, Some(&placed.here)).map(|(out, _)| out).ok()
        };
        let mut ends = Ends { inverse_in: entry, base_in: out, forward_in: h, ..Ends::default() };
        if !mutant {
            ends.inverse_in = widest(entry, most, |x| {
                fits("inverse", &inverse, (x, most), &inverse_placed).is_some()
            });
            ends.base_in = widest(out, base_most, |x| {
                let product = base.bound(x, x, 1).ok();
                let sum = product.and_then(|p| self.words.closed(p));
                product.zip(sum).is_some_and(|(p, s)| p.max(s) <= ends.inverse_in)
            });
            ends.forward_in = widest(h, most, |x| {
                fits("forward", &forward, (x, ends.base_in), &forward_placed).is_some()
            });
        }
        ends.forward_out =
            fits("forward", &forward, (ends.forward_in, most), &forward_placed).unwrap_or(most);
        ends.inverse_out =
            fits("inverse", &inverse, (ends.inverse_in, most), &inverse_placed).unwrap_or(most);
        ends.base_out = base.bound(ends.base_in, ends.base_in, 1)?;
        ends.sum = self.words.closed(ends.base_out).unwrap_or(sum);

        let inner = self.inner_products(&base, out, ends)?;
        let mut placed = forward_placed;
        for more in [inverse_placed, last_placed] {
            placed.here.extend(more.here);
            placed.dropped.extend(more.dropped);
            placed.all.extend(more.all);
        }
        self.placed = placed;
        self.check_sites()?;
        self.borders.extend([
            ("forward of centred operands".to_string(), out),
            ("base product of those".to_string(), product),
        ]);
        let procedures = self.procedures([&forward, &inverse, &last], ends, &inner, [h, out])?;
        let mut order: Vec<u32> = vec![0; n];
        self.own.iter().enumerate().for_each(|(i, &p)| order[p] = i as u32);
        let words = (self.machine.shape.registers, modulus.bits);
        let transform = Some(TransformLayout {
            degree: self.machine.ntt.degree(),
            weights: self.machine.ntt.weights().to_vec(),
            order,
        });
        let sites = self.placed.here.iter().cloned().collect();
        let written = Written { sites, borders: self.borders, ..Written::of(procedures) };
        let mut lowered = written.lowered(plan, name, words, self.schedule.clone());
        lowered.program.transform = transform;
        Ok(lowered)
    }

    /// The ranges of sums of several products: operands as the forward transform leaves them or wider, sums that the
    /// inverse transform takes.
    fn inner_products(
        &self,
        base: &Base,
        out: i64,
        ends: Ends,
    ) -> Result<Vec<InnerProduct>, LowerError> {
        let of = |&pairs: &u32| {
            let sum = |x: i64| {
                let sum = base.bound(x, x, pairs as usize).ok()?;
                Some((sum, if sum > ends.inverse_in { self.words.reduced(sum) } else { sum }))
            };
            let fits = |x: i64| sum(x).is_some_and(|(_, left)| left <= ends.inverse_in);
            let input = widest(out, ends.base_in.max(out), fits);
            let (sum, output) = sum(input).ok_or_else(|| base.refuse(input))?;
            Ok(InnerProduct { pairs: pairs as usize, input, output, reduce: output < sum })
        };
        self.schedule.inner_products().iter().map(of).collect()
    }

    fn check_sites(&self) -> Result<(), LowerError> {
        let given = self.given.iter().flatten();
        let mut named = given.chain(self.schedule.drop()).chain(self.schedule.add());
        match named.find(|site| !self.placed.all.contains(*site)) {
            Some(site) => Err(super::no_such_site(site, self.placed.all.iter())),
            None => {
                super::all_stood(self.schedule.drop(), |site| self.placed.dropped.contains(site))
            }
        }
    }
}
