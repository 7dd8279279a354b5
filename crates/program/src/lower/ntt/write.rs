//! Passes as statements: straight-line code, or loops with tables of multipliers.

use super::pass::*;
use super::ranges::{Numbers, operands, site};
use crate::build::{Builder, repeat};
use crate::ir::*;
use crate::method::{FreezeMethod, MulMethod, ReduceMethod};
use ringforge_plan::Ground;
use ringforge_targets::TABLE_ALIGNMENT;
use std::collections::BTreeSet;

/// How passes become code.
#[derive(Clone, Debug)]
pub struct Style<'a> {
    /// Name of the stage in sites and tables.
    pub stage: &'a str,
    /// Modular products.
    pub multiply: MulMethod,
    /// Reductions.
    pub reduce: ReduceMethod,
    /// The last step of passes that freeze.
    pub freeze: Option<FreezeMethod>,
    /// Loops instead of straight-line code.
    pub rolled: bool,
    /// Tables hold a whole register even where all its lanes are alike: portable C has no word
    /// that repeats.
    pub wide_tables: bool,
    /// Words of a register.
    pub lanes: usize,
    /// The reductions that stand.
    pub placed: &'a BTreeSet<String>,
}

/// The rounds of two nested loops.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// Rounds of the outer loop, and its counter.
    pub outer: (usize, LoopVar),
    /// Rounds of the inner loop, and its counter.
    pub inner: (usize, LoopVar),
}

impl Rounds {
    /// The index that is `at[u·inner + v]` in round (u, v), where such an index exists.
    pub fn index(&self, at: &[usize]) -> Option<Index> {
        let ((outer, u), (inner, v)) = (self.outer, self.inner);
        let (by_u, by_v) = steps(outer, inner, |g| at[g])?;
        let terms = [(u, by_u), (v, by_v)].into_iter().filter(|t| t.1 != 0).collect();
        Some(Index { base: at[0] as i64, terms })
    }

    /// The loops around a body.
    pub fn around(&self, mut body: Vec<Stmt>) -> Vec<Stmt> {
        for (count, counter) in [self.inner, self.outer] {
            if count > 1 {
                body = vec![repeat(counter, count, body)];
            }
        }
        body
    }
}

/// The multipliers of a loop, by site and round, as what the loop's body multiplies by; nothing
/// where it is 1 throughout.
pub fn factors(
    builder: &mut Builder,
    style: &Style,
    rounds: &Rounds,
    sites: &[Vec<&[u64]>],
) -> Vec<Option<Factor>> {
    let (outer, inner) = (rounds.outer.0, rounds.inner.0);
    let alike = |lanes: &[u64]| lanes.iter().all(|c| *c == lanes[0]);
    let constant = |site: &Vec<&[u64]>| site.iter().all(|lanes| *lanes == site[0]);
    let repeated = |site: &Vec<&[u64]>| !style.wide_tables && site.iter().all(|s| alike(s));
    let varying: Vec<&Vec<&[u64]>> = sites.iter().filter(|s| !constant(s)).collect();
    // Which loops the tables follow.
    let by_u =
        varying.iter().any(|s| (0..inner).any(|v| (0..outer).any(|u| s[u * inner + v] != s[v])));
    let by_v = varying.iter().any(|s| (0..outer * inner).any(|g| s[g] != s[g / inner * inner]));
    let rows: Vec<usize> = (0..if by_u { outer } else { 1 })
        .flat_map(|u| (0..if by_v { inner } else { 1 }).map(move |v| u * inner + v))
        .collect();
    let mut table = |name: &str, words: usize, mine: &dyn Fn(&Vec<&[u64]>) -> bool| {
        let members: Vec<&&Vec<&[u64]>> = varying.iter().filter(|s| mine(s)).collect();
        let row = |g: usize| members.iter().flat_map(move |s| s[g][..words].to_vec());
        let all: Vec<u64> = rows.iter().flat_map(|&g| row(g).collect::<Vec<u64>>()).collect();
        let width = members.len() * words;
        let name = format!("z{}_{name}", style.stage.replace('.', "_"));
        let buffer = (!all.is_empty()).then(|| builder.factors(&name, all, TABLE_ALIGNMENT));
        (buffer, width)
    };
    let one = table("r", 1, &|s| repeated(s));
    let many = table("v", style.lanes, &|s| !repeated(s));
    let start = |at: usize, width: usize| {
        let row = if by_v { inner } else { 1 };
        let mut terms = Vec::new();
        if by_u && outer > 1 {
            terms.push((rounds.outer.1, (width * row) as i64));
        }
        if by_v && inner > 1 {
            terms.push((rounds.inner.1, width as i64));
        }
        Index { base: at as i64, terms }
    };
    let (mut next_one, mut next_many) = (0, 0);
    sites
        .iter()
        .map(|site| {
            if constant(site) {
                let lanes = site[0];
                return match alike(lanes) {
                    true if lanes[0] == 1 => None,
                    true => Some(Factor::Splat(lanes[0])),
                    false => Some(Factor::Lanes(lanes.to_vec())),
                };
            }
            if repeated(site) {
                next_one += 1;
                let at = start(next_one - 1, one.1);
                return one.0.map(|buffer| Factor::Repeated { buffer, at });
            }
            next_many += style.lanes;
            let at = start(next_many - style.lanes, many.1);
            many.0.map(|buffer| Factor::Table { buffer, at })
        })
        .collect()
}

/// What writes the code of a group: where its loads and stores are, and what its steps multiply by.
pub(super) type WriteGroup<'a> = dyn FnMut(&Group, &[Index], Vec<Option<Factor>>) -> Block + 'a;

/// A pass as statements.
pub fn pass(
    builder: &mut Builder,
    style: &Style,
    pass: &Pass,
    buffers: (BufferId, BufferId),
) -> Vec<Stmt> {
    let mut numbers = Numbers::default();
    let mut write = |group: &Group, places: &[Index], factors: Vec<Option<Factor>>| {
        block(style, group, places, factors, buffers, &mut numbers)
    };
    if style.rolled
        && let Some(looped) = looped(builder, style, pass, &mut write)
    {
        return looped;
    }
    let once = Rounds { outer: (1, builder.counter()), inner: (1, builder.counter()) };
    let groups = pass.groups.chunks(1);
    let blocks = groups.filter_map(|one| rounds(builder, style, &once, one, &mut write));
    blocks.map(Stmt::Block).collect()
}

/// A pass as two loops, where its groups are their rounds.
pub(super) fn looped(
    builder: &mut Builder,
    style: &Style,
    pass: &Pass,
    write: &mut WriteGroup,
) -> Option<Vec<Stmt>> {
    let both =
        Rounds { outer: (pass.outer, builder.counter()), inner: (pass.inner, builder.counter()) };
    let body = rounds(builder, style, &both, &pass.groups, write)?;
    Some(both.around(vec![Stmt::Block(body)]))
}

/// The body of two loops whose rounds are these groups.
fn rounds(
    builder: &mut Builder,
    style: &Style,
    rounds: &Rounds,
    groups: &[Group],
    write: &mut WriteGroup,
) -> Option<Block> {
    let all: Vec<Vec<usize>> = groups.iter().map(bases).collect();
    let places = (0..all[0].len())
        .map(|k| rounds.index(&all.iter().map(|b| b[k]).collect::<Vec<usize>>()))
        .collect::<Option<Vec<Index>>>()?;
    let each: Vec<Vec<&[u64]>> = groups.iter().map(multipliers).collect();
    let sites: Vec<Vec<&[u64]>> =
        (0..each[0].len()).map(|k| each.iter().map(|g| g[k]).collect()).collect();
    let factors = factors(builder, style, rounds, &sites);
    Some(write(&groups[0], &places, factors))
}

/// Writes the code of a pass from an array to another.
type WritePass<'a> = dyn FnMut(&mut Builder, &Pass, (BufferId, BufferId)) -> Vec<Stmt> + 'a;

/// Stages of passes from an array to another, which are `ours` to write over or a caller's. Between them are local arrays of
/// so many words, unless passes may work in the caller's array where it is the last (`direct`).
pub(super) fn chained(
    builder: &mut Builder,
    (passes, title, cite): (&[Pass], &str, &str),
    (from, to): (BufferId, BufferId),
    (mut ours, (words, direct)): (bool, (usize, bool)),
    write: &mut WritePass,
) {
    let mut at = from;
    for (number, pass) in passes.iter().enumerate() {
        let next = if number + 1 == passes.len() || !ours && direct {
            to
        } else if ours && pass.in_place() {
            at
        } else {
            builder.fresh("t", words)
        };
        ours = true;
        let body = write(builder, pass, (at, next));
        builder.stage(&format!("{title}: {}", pass.title), cite, body);
        at = next;
    }
}

/// Whether a pass's groups are the rounds of its two loops: all its places step evenly.
pub fn even(pass: &Pass) -> bool {
    let all: Vec<Vec<usize>> = pass.groups.iter().map(bases).collect();
    (0..all[0].len()).all(|k| steps(pass.outer, pass.inner, |g| all[g][k]).is_some())
}

/// How far a place moves in a round of the outer and of the inner loop, where it moves evenly.
fn steps(outer: usize, inner: usize, at: impl Fn(usize) -> usize) -> Option<(i64, i64)> {
    let step = |by: usize, count: usize| match count {
        1 => 0,
        _ => at(by) as i64 - at(0) as i64,
    };
    let (by_u, by_v) = (step(inner, outer), step(1, inner));
    let even = (0..outer * inner).all(|g| {
        at(g) as i64 == at(0) as i64 + (g / inner) as i64 * by_u + (g % inner) as i64 * by_v
    });
    even.then_some((by_u, by_v))
}

/// All positions of a group's loads and stores.
fn bases(group: &Group) -> Vec<usize> {
    group.loads.iter().chain(&group.stores).flat_map(Spot::bases).collect()
}

/// The multipliers of a group, step by step.
fn multipliers(group: &Group) -> Vec<&[u64]> {
    group.steps.iter().flat_map(Step::factors).map(Vec::as_slice).collect()
}

/// Operations of a block, with what multiplies by a constant of a butterfly.
struct Operations<'a>(&'a mut Block, &'a dyn Fn(&mut Block, usize, Value) -> Value);

impl Ground for Operations<'_> {
    type Element = Value;
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.0.add(a, b)
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.0.sub(a, b)
    }
    fn times(&mut self, k: usize, a: Value) -> Value {
        (self.1)(self.0, k, a)
    }
}

/// Loads the registers of a group, takes its steps and stores them, where `places` says one after the other. Registers are
/// interleaved here; `work` does the rest.
pub(super) fn played(
    group: &Group,
    places: &[Index],
    (from, to): (BufferId, BufferId),
    work: &mut dyn FnMut(&mut Block, &Step, &mut [Value]),
) -> Block {
    let (mut block, mut places) = (Block::default(), places.iter().cloned());
    let mut next =
        |spot: &Spot| -> Vec<Index> { places.by_ref().take(spot.bases().len()).collect() };
    let load = |spot: &Spot| block.load_parts(from, next(spot));
    let mut hand: Vec<Value> = group.loads.iter().map(load).collect();
    for step in &group.steps {
        match step {
            Step::Interleave { a, b, unit } => interleave(&mut block, &mut hand, (*a, *b), *unit),
            _ => work(&mut block, step, &mut hand),
        }
    }
    for (spot, a) in group.stores.iter().zip(hand) {
        let mut at = next(spot);
        match spot {
            Spot::Strided(_, stride) => drop(block.push(Op::StoreStrided {
                buffer: to,
                at: at.swap_remove(0),
                stride: *stride as u32,
                a,
            })),
            _ => block.store_parts(to, at, a),
        }
    }
    block
}

/// Interleaves two registers, elements of `unit` bits.
pub fn interleave(block: &mut Block, hand: &mut [Value], (a, b): (usize, usize), unit: u8) {
    let (first, second) = (hand[a], hand[b]);
    let mut half = |half| block.push(Op::Interleave { a: first, b: second, unit, half });
    (hand[a], hand[b]) = (half(Half::Low), half(Half::High));
}

fn block(
    style: &Style,
    group: &Group,
    places: &[Index],
    factors: Vec<Option<Factor>>,
    buffers: (BufferId, BufferId),
    numbers: &mut Numbers,
) -> Block {
    let mut factor = factors.into_iter();
    let product = |block: &mut Block, a: Value, factor: Option<Factor>| match factor {
        Some(factor) => block.times(a, factor, style.multiply),
        None => a,
    };
    let reduced = |block: &mut Block, a: &mut Value, site: String| {
        if style.placed.contains(&site) {
            *a = block.reduced(*a, style.reduce);
        }
    };
    played(group, places, buffers, &mut |block, step, hand| match step {
        Step::Butterfly { level, registers, split, kind, .. } => {
            let number = numbers.next(*level);
            for (&register, operand) in registers.iter().zip(operands(registers.len())) {
                let site = site(style.stage, *level, number, operand);
                reduced(block, &mut hand[register], site);
            }
            let x: Vec<Value> = registers.iter().map(|&r| hand[r]).collect();
            let mine: Vec<Option<Factor>> = factor.by_ref().take(split.factors()).collect();
            let times = |block: &mut Block, k: usize, a| product(block, a, mine[k].clone());
            let y = split.butterfly(*kind, &x, &mut Operations(block, &times));
            registers.iter().zip(y).for_each(|(&register, y)| hand[register] = y);
        }
        Step::Scale { register, .. } => {
            hand[*register] = product(block, hand[*register], factor.next().flatten());
        }
        Step::Freeze { register } => {
            let site = format!("{}.out.{}", style.stage, numbers.next(u32::MAX));
            reduced(block, &mut hand[*register], site);
            if let Some(method) = style.freeze {
                hand[*register] = block.push(Op::Freeze { a: hand[*register], method });
            }
        }
        Step::Interleave { .. } => {}
    })
}
