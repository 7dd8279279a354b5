//! The product in unsigned arithmetic [TokudaKameyama23 §2.2, §3.3]. The passes are those of signed
//! words, with reductions where the schedule has them, coefficient by coefficient.
//!
//! Every product is the canonical residue: Montgomery's by 2^16, ended by a conditional
//! subtraction. The paper's product by 2^18 is canonical too, so what a placement was certified for
//! holds.

use super::pass::{Group, Pass, Step};
use super::passes::Ending;
use super::plan::{Machine, Shuffles};
use super::write::{Style, chained, even, looped, played};
use super::{BaseProducts, LowerError, Lowered, Written, unsupported};
use crate::build::{Builder, call};
use crate::ir::*;
use crate::lower::{SHORT, Square};
use crate::method::Modulus;
use crate::schedule::Order;
use crate::settle::Choices;
use crate::unsigned::{Algorithm, Kind, Placement, Unsigned as Placed};
use ringforge_plan::{Butterflies, LevelSplit, Levels, Plan};
use ringforge_targets::{ALIGNMENT, Registers, Target};
use std::collections::BTreeSet;

const CITE: &str = "[TokudaKameyama23 §3.4]";

/// A register's reductions: one for all its words, or one for each.
type Kinds = Vec<Option<Kind>>;

/// What is done around one butterfly.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Around {
    /// Reductions of its two registers before it, where it is of the first layer.
    before: [Kinds; 2],
    /// What is added before the subtraction, by lane or for all.
    offset: Vec<u32>,
    /// Reductions after it: sums and differences are in registers of their own then, before shuffles.
    after: [Kinds; 2],
}

/// A transform with its placement.
struct Part<'a> {
    stage: &'a str,
    title: &'a str,
    placement: &'a Placement,
    q: u64,
}

/// One word where all are alike.
fn alike<T: PartialEq + Clone>(mut all: Vec<T>) -> Vec<T> {
    if all.iter().all(|x| *x == all[0]) {
        all.truncate(1);
    }
    all
}

impl Part<'_> {
    fn kinds(&self, after: u32, positions: impl Iterator<Item = usize>) -> Kinds {
        let at = |position: usize| {
            let sites = &self.placement.sites;
            let position = position as u32;
            let found = sites.iter().find(|s| s.after == after && s.position == position);
            found.map(|s| s.kind)
        };
        alike(positions.map(at).collect())
    }

    /// What stands around the butterfly of a level; `distance` is that of its elements.
    fn around(&self, level: u32, lowest: &[usize], distance: usize) -> Around {
        let both = |after| {
            [0, distance].map(|far| self.kinds(after, lowest.iter().map(move |&i| i + far)))
        };
        let butterfly = |i: usize| i / (2 * distance) * distance + i % distance;
        let multiple = |&i: &usize| {
            let k = self.placement.multiple(level as usize, butterfly(i));
            u32::from(k) * self.q as u32
        };
        Around {
            before: match level {
                0 => both(0),
                _ => [vec![None], vec![None]],
            },
            offset: alike(lowest.iter().map(multiple).collect()),
            after: both(level + 1),
        }
    }

    /// What stands around the butterflies of a group, in their order.
    fn group(&self, group: &Group, n: usize, forward: bool) -> Vec<Around> {
        let each = group.steps.iter().filter_map(|step| match step {
            Step::Butterfly { level, lowest, .. } => {
                let distance = if forward { n >> (level + 1) } else { 1 << level };
                Some(self.around(*level, lowest, distance))
            }
            _ => None,
        });
        each.collect()
    }
}

/// Lowers the product of a complete transform of x^n + 1.
pub(super) fn lower(
    plan: &Plan,
    ntt: &dyn Levels,
    placed: &Placed,
    (schedule, target): (&Choices, &Target),
    name: &str,
) -> Result<Lowered, LowerError> {
    let (q, n) = (plan.ring.q(), ntt.size());
    let halves = ntt.splits().iter().all(|split| *split == LevelSplit::Halves);
    let wanted = match placed.inverse_by {
        Algorithm::InverseCooleyTukey => Butterflies::CooleyTukey,
        _ => Butterflies::GentlemanSande,
    };
    let layers = n.max(1).ilog2();
    let spelled = match wanted {
        Butterflies::CooleyTukey => "cooley-tukey",
        Butterflies::GentlemanSande => "gentleman-sande",
    };
    let fits = halves && ntt.degree() == 1 && ntt.backwards() == wanted && ntt.enter(0).is_none();
    if !fits {
        let why = "the schedule's `unsigned` is for a complete transform with its own inverse";
        let works = format!(
            "(ntt {layers} (forward cooley-tukey) (inverse {spelled}) (weighted-convolution (toeplitz)))"
        );
        return Err(unsupported(plan.root.to_form(), why, works));
    }
    if let Some(misfit) = placed.misfit(q, n) {
        let works = "`ringforge search RING --out FILE` for this ring";
        return Err(unsupported(plan.root.to_form(), misfit, works));
    }
    let shuffles = match schedule.base() {
        BaseProducts::BroadcastDot => Shuffles::Interleaving,
        BaseProducts::Lanes => Shuffles::Striding,
    };
    let part = target.registers.part_lanes(SHORT);
    let lanes = match shuffles {
        Shuffles::Interleaving => target.registers.lanes(SHORT),
        Shuffles::Striding => part,
    };
    let width = lanes * usize::from(SHORT);
    let registers = Registers { bits: width, part: target.registers.part.min(width) };
    let machine = Machine {
        ntt,
        shape: Square { registers, bits: SHORT },
        shuffles,
        standard: schedule.order() == Order::Standard,
        depth: schedule.depth().clamp(1, 4),
    };
    if let Some((why, works)) = machine.refused() {
        return Err(unsupported(plan.root.to_form(), why, works));
    }
    let modulus = Modulus { q, bits: SHORT };
    let none = BTreeSet::new();
    let writer = Writer {
        n,
        rolled: shuffles == Shuffles::Striding || n > schedule.straight() as usize,
        style: Style {
            stage: "",
            multiply: schedule.multiply(),
            reduce: schedule.reduce(),
            freeze: None,
            rolled: true,
            wide_tables: shuffles == Shuffles::Striding,
            lanes,
            placed: &none,
        },
    };
    let most = q as i64 - 1;
    let forward =
        Part { stage: "forward", title: "forward transform", placement: &placed.forward, q };
    let inverse =
        Part { stage: "inverse", title: "inverse transform", placement: &placed.inverse, q };

    let mut builder = Builder::new("forward", None, modulus);
    let to = builder.buffer("out", Role::Scratch, n, ALIGNMENT);
    let from = builder.ranged("in", Role::Input, n, 2, Some((0, most)));
    writer.passes(&mut builder, &forward, &machine.forward(), (from, to), false);
    let helper = builder.finish();

    let mut builder = Builder::new("mul", Some(Computes::Product), modulus);
    let [c, a, b] = builder.product((n, SHORT), [(0, most); 3]);
    let [x, y] = [("ta", a), ("tb", b)].map(|(name, from)| {
        let to = builder.local(name, n);
        builder.stage("forward transform", CITE, vec![call(ProcedureId(0), [to, from])]);
        to
    });
    let body = writer.values(&mut builder, (x, y), modulus);
    builder.stage("products of values", CITE, body);
    let ending = Ending { factor: ntt.left().inverted().value(), freeze: false };
    writer.passes(&mut builder, &inverse, &machine.inverse(ending), (x, c), true);
    let procedures = vec![helper, builder.finish()];
    Ok(Written::of(procedures).lowered(plan, name, (registers, SHORT), schedule.clone()))
}

struct Writer<'a> {
    n: usize,
    rolled: bool,
    style: Style<'a>,
}

impl Writer<'_> {
    /// Stages of passes from an array to another.
    fn passes(
        &self,
        builder: &mut Builder,
        part: &Part,
        passes: &[Pass],
        ends: (BufferId, BufferId),
        ours: bool,
    ) {
        let size = (self.n, false);
        chained(
            builder,
            (passes, part.title, CITE),
            ends,
            (ours, size),
            &mut |builder, pass, at| self.pass(builder, part, pass, at),
        );
    }

    /// A pass as two loops where all its groups are reduced alike, else group by group.
    fn pass(
        &self,
        builder: &mut Builder,
        part: &Part,
        pass: &Pass,
        buffers: (BufferId, BufferId),
    ) -> Vec<Stmt> {
        let style = Style { stage: part.stage, ..self.style.clone() };
        let forward = part.stage == "forward";
        let all = pass.groups.iter().map(|group| part.group(group, self.n, forward));
        let around: Vec<Vec<Around>> = all.collect();
        let same = around.iter().all(|one| *one == around[0]);
        let mut write = |pass: &Pass, around: &[Around]| {
            looped(builder, &style, pass, &mut |group, places, factors| {
                // A product by 1 is one too: it leaves a canonical residue.
                let factors = factors.into_iter().map(|factor| factor.unwrap_or(Factor::Splat(1)));
                block(group, places, factors, around, buffers)
            })
        };
        if self.rolled && same && even(pass) {
            return write(pass, &around[0]).unwrap_or_default();
        }
        let single = |group: &Group| Pass {
            title: String::new(),
            groups: vec![group.clone()],
            outer: 1,
            inner: 1,
        };
        let groups = pass.groups.iter().zip(&around);
        groups.filter_map(|(group, around)| write(&single(group), around)).flatten().collect()
    }

    /// x = x·y, value by value; y is multiplied by 2^16 first, which the product divides by.
    fn values(
        &self,
        builder: &mut Builder,
        (x, y): (BufferId, BufferId),
        modulus: Modulus,
    ) -> Vec<Stmt> {
        let lanes = self.style.lanes;
        let body = builder.runs(self.n / lanes, |block, at| {
            let [a, b] = [x, y].map(|buffer| block.load(buffer, at(0, lanes)));
            let factor = Factor::Splat(modulus.radix() as u64 % modulus.q);
            let b = block.push(Op::Unsigned(Unsigned::Mul { a: b, factor }));
            let a = block.push(Op::Unsigned(Unsigned::MulWords { a, b }));
            block.store(x, at(0, lanes), a);
        });
        vec![body]
    }
}

fn block(
    group: &Group,
    places: &[Index],
    mut factors: impl Iterator<Item = Factor>,
    around: &[Around],
    buffers: (BufferId, BufferId),
) -> Block {
    let mut around = around.iter();
    let mut product = |block: &mut Block, a: Value| {
        let factor = factors.next().unwrap_or(Factor::Splat(1));
        block.push(Op::Unsigned(Unsigned::Mul { a, factor }))
    };
    let reduce =
        |block: &mut Block, a: Value, kinds: &Kinds| match kinds.iter().any(Option::is_some) {
            true => block.push(Op::Unsigned(Unsigned::Reduce { a, kinds: kinds.clone() })),
            false => a,
        };
    played(group, places, buffers, &mut |block, step, hand| match step {
        Step::Butterfly { registers, kind, .. } => {
            let Some(around) = around.next() else { return };
            let (low, high) = (registers[0], registers[1]);
            let mut a = reduce(block, hand[low], &around.before[0]);
            let mut b = reduce(block, hand[high], &around.before[1]);
            let offset = around.offset.clone();
            if *kind == Butterflies::CooleyTukey {
                b = product(block, b);
            }
            let sum = block.push(Op::Unsigned(Unsigned::Add(a, b)));
            let mut difference = block.push(Op::Unsigned(Unsigned::Sub { a, offset, b }));
            if *kind == Butterflies::GentlemanSande {
                difference = product(block, difference);
            }
            a = reduce(block, sum, &around.after[0]);
            b = reduce(block, difference, &around.after[1]);
            (hand[low], hand[high]) = (a, b);
        }
        Step::Scale { register, .. } => hand[*register] = product(block, hand[*register]),
        // Products leave canonical residues.
        Step::Interleave { .. } | Step::Freeze { .. } => {}
    })
}
