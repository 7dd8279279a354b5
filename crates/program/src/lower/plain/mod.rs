//! The product in plain C: sums of all products of a coefficient in words of 16, 32 or 64 bits, loops over coefficients
//! throughout. A compiler makes of them what a machine has, so that one program serves every target, and every ring has
//! one.
//!
//! [`product`] sums, and [`remainder`] takes the remainder by f. This file reduces sums. If one quotient makes the
//! canonical residue, it does so. Otherwise a second one brings the residue near enough to be frozen.

mod product;
mod remainder;

use super::sums::{DOT_BITS, LONG_BITS};
use super::{LowerError, Lowered, SHORT, Written, unsupported};
use crate::bounds::{centred, most};
use crate::build::{Builder, call, looped};
use crate::ir::*;
use crate::method::{FreezeMethod, Modulus, ReduceMethod};
use crate::settle::Choices;
use ringforge_plan::{Plain, Plan};
use ringforge_targets::{C, Registers};

/// The largest sum: words of 64 bits have room for what quotients add.
const LARGEST: i64 = 1 << 62;

/// A lowering in the making.
struct Writing<'a> {
    plain: &'a Plain,
    q: u64,
    n: usize,
    /// Bits of callers' words.
    memory: u8,
    /// Bits of the words of sums.
    sums: u8,
    /// Words of an array of sums.
    words: usize,
    /// The ranges of the operands, and of residues.
    ranges: [(i64, i64); 2],
    any: (i64, i64),
    written: Written,
}

/// How sums are reduced: one after the other, and what they leave at most.
#[derive(Clone, Debug)]
struct Steps {
    methods: Vec<ReduceMethod>,
    bound: i64,
}

impl Steps {
    /// For sums within a bound; nothing where words of 64 bits have no quotient for them.
    fn of(q: u64, bound: i64) -> Option<Steps> {
        let (half, frozen) =
            ((q / 2) as i64, FreezeMethod::Minimum.domain(Modulus { q, bits: DOT_BITS }).1);
        let mut steps = Steps { methods: Vec::new(), bound };
        while steps.bound > half {
            if let Some(method) = ReduceMethod::exact(q, LONG_BITS, steps.bound) {
                steps.methods.push(method);
                steps.bound = half;
                break;
            }
            let alone = ReduceMethod::alone(q, LONG_BITS, steps.bound);
            let (method, left) = alone.or_else(|| ReduceMethod::of_sums(q, steps.bound))?;
            if left >= steps.bound {
                return (steps.bound <= frozen).then_some(steps);
            }
            steps.methods.push(method);
            steps.bound = left;
            // One that leaves little more than q/2 does not get better.
            if steps.methods.len() > 1 && left <= frozen {
                break;
            }
        }
        Some(steps)
    }

    /// Bits of words in memory that hold what they leave: cut to them it is a number of its own to the prover, whatever
    /// quotients it was made of.
    fn bits(&self) -> u8 {
        if self.bound <= i64::from(i16::MAX) { SHORT } else { DOT_BITS }
    }

    /// Whether they leave the canonical residue.
    fn canonical(&self) -> bool {
        matches!(self.methods.last(), Some(ReduceMethod::BarrettExact { .. }))
    }
}

/// Where a loop over coefficients has come to.
struct Here {
    counter: LoopVar,
    base: usize,
    /// Words that it takes at a time.
    lanes: usize,
}

impl Here {
    fn at(&self, index: &Index) -> Index {
        let mut at = index.plus(self.base);
        at.terms.push((self.counter, self.lanes as i64));
        at
    }

    fn load(&self, block: &mut Block, buffer: BufferId, index: &Index) -> Value {
        let at = self.at(index);
        block.push(if self.lanes > 1 {
            Op::Load { buffer, at }
        } else {
            Op::Broadcast { buffer, at }
        })
    }

    fn store(&self, block: &mut Block, buffer: BufferId, index: &Index, a: Value) {
        let at = self.at(index);
        match self.lanes {
            1 => drop(block.push(Op::StorePartial { buffer, at, count: 1, a })),
            _ => block.store(buffer, at, a),
        }
    }
}

/// Loops over `count` coefficients: whole registers, and the rest one by one.
fn each(
    builder: &mut Builder,
    count: usize,
    lanes: usize,
    write: &dyn Fn(&mut Block, &Here),
) -> Vec<Stmt> {
    let whole = count / lanes;
    let parts = [(0, lanes, whole), (whole * lanes, 1, count % lanes)];
    let mut body = Vec::new();
    for (base, lanes, count) in parts.into_iter().filter(|part| part.2 > 0) {
        let counter = builder.counter();
        let here = Here { counter, base, lanes };
        body.push(looped(counter, count, |block| write(block, &here)));
    }
    body
}

/// Registers are loops whatever the target.
const REGISTERS: Registers = C.registers;

/// Lowers a plan that is plain C.
pub(super) fn lower(
    plan: &Plan,
    plain: &Plain,
    choices: &Choices,
    name: &str,
) -> Result<Lowered, LowerError> {
    let (q, n) = (plan.ring.q(), plan.ring.degree());
    let refuse = |why: String| {
        Err(unsupported(
            plan.root.to_form(),
            why,
            "a smaller modulus or degree, or a plan through primes",
        ))
    };
    if q >= 1 << 31 {
        return refuse(format!("callers' words have 32 bits, and {q} needs more"));
    }
    let memory = if q > 1 << 16 { DOT_BITS } else { SHORT };
    let ranges = plan.operands.map(|operand| operand.range(q));
    let any = centred(q);
    let words = (2 * n).next_multiple_of(REGISTERS.lanes(SHORT)) + 2 * REGISTERS.lanes(SHORT);
    let written = Written::default();
    let mut writing = Writing { plain, q, n, memory, sums: memory, words, ranges, any, written };
    if !q.is_power_of_two() {
        let fits = |most: i128| i64::try_from(most).ok().filter(|&most| most <= LARGEST);
        let Some(most) = fits(writing.most()) else {
            return refuse(format!("sums of {n} products modulo {q} need more than 64 bits"));
        };
        let kept = i128::from(most).min(writing.kept());
        writing.sums = if kept <= i128::from(i32::MAX) { DOT_BITS } else { LONG_BITS };
        if Steps::of(q, most).is_none() {
            return refuse(format!(
                "words of 64 bits have no quotient by {q} of sums up to {most}"
            ));
        }
    }
    let procedure = match plain.quotient {
        true => writing.quotient(),
        false => writing.folded(),
    };
    let mut written = writing.written;
    written.procedures.push(procedure);
    let mut lowered = written.lowered(plan, name, (REGISTERS, memory), choices.clone());
    lowered.program.loops = true;
    Ok(lowered)
}

impl Writing<'_> {
    fn wraps(&self) -> bool {
        self.q.is_power_of_two()
    }

    /// The modulus of a procedure in words of so many bits: words that wrap are right modulo all that they hold.
    fn modulus(&self, bits: u8) -> Modulus {
        Modulus { q: if self.wraps() { 1 << bits } else { self.q }, bits }
    }

    /// The largest sum of `n` products of such operands.
    fn sum(&self, ranges: [(i64, i64); 2]) -> i128 {
        let [a, b] = ranges.map(|range| i128::from(most(range)));
        self.n as i128 * a * b
    }

    /// The largest sum that an array keeps.
    fn kept(&self) -> i128 {
        match self.plain.quotient {
            true => self.sum([self.any; 2]),
            false => self.most(),
        }
    }

    /// The largest sum that is ever reduced.
    fn most(&self) -> i128 {
        let own = self.sum(self.ranges);
        if self.plain.quotient {
            return self.sum([self.any; 2]) + own;
        }
        // A coefficient that is folded is a residue, at most q even where it is not canonical.
        let times: i128 = self.plain.terms().iter().map(|&(_, c)| i128::from(c.abs())).sum();
        own + times * i128::from(self.q)
    }

    /// A procedure (u, t), or (u, t, s) for t − s, that reduces `count` sums within a bound. With `canonical` it makes canonical
    /// residues in words of so many bits. Without, it makes residues as small as one or two quotients leave.
    fn reduce(
        &mut self,
        (name, count): (&str, usize),
        (most, subtract): (i64, bool),
        canonical: Option<u8>,
    ) -> ProcedureId {
        let Some(steps) = Steps::of(self.q, most) else { unreachable!("looked at before") };
        let (to, canonical) = (canonical.unwrap_or(steps.bits()), canonical.is_some());
        let frozen = canonical && !steps.canonical();
        let mut builder = Builder::new(name, None, self.modulus(LONG_BITS));
        let range = if canonical { self.any } else { (-steps.bound, steps.bound) };
        let output = if canonical && !frozen { Role::Output } else { Role::Scratch };
        let align = usize::from(to) / 8;
        let u = builder.ranged("u", output, count, align, canonical.then_some(range));
        builder.narrow(u, if canonical && !frozen { to } else { steps.bits() });
        let size = (count, self.sums);
        let mut sums = |name: &str| builder.parameter(name, Role::Input, size, Some((-most, most)));
        let (t, s) = (sums("t"), subtract.then(|| sums("minus")));
        let zero = Index::at(0);
        // One by one: the prover follows quotients of vectors of such words in few of the forms that compilers have.
        let body = each(&mut builder, count, 1, &|block, here| {
            let mut a = here.load(block, t, &zero);
            if let Some(s) = s {
                let other = here.load(block, s, &zero);
                a = block.sub(a, other);
            }
            for &method in &steps.methods {
                a = block.reduced(a, method);
            }
            here.store(block, u, &zero, a);
        });
        builder.stage("each sum reduced", "[Barrett86]", body);
        self.written.border(name, steps.bound);
        let mut made = builder.finish_behind(&mut self.written.procedures);
        if frozen {
            made = self.freeze((name, count), made, (&steps, subtract), to);
        }
        made
    }

    /// A procedure of the same arguments that freezes what another one leaves.
    fn freeze(
        &mut self,
        (name, count): (&str, usize),
        reduce: ProcedureId,
        (steps, subtract): (&Steps, bool),
        to: u8,
    ) -> ProcedureId {
        let mut builder = Builder::new(&format!("{name}_frozen"), None, self.modulus(DOT_BITS));
        let align = usize::from(to) / 8;
        let u = builder.parameter("u", Role::Output, (count, to), Some(self.any));
        let mut arguments = Vec::new();
        let known = &self.written.procedures[reduce.0 as usize].buffers;
        for Buffer { name, role, words, bits, range, .. } in &known[1..2 + usize::from(subtract)] {
            arguments.push(builder.parameter(name, role.clone(), (*words, *bits), *range));
        }
        let range = (-steps.bound, steps.bound);
        let rest = builder.ranged("x", Role::Local, count, align, Some(range));
        builder.narrow(rest, steps.bits());
        arguments.insert(0, rest);
        let mut body = vec![call(reduce, arguments)];
        let zero = Index::at(0);
        body.extend(each(&mut builder, count, REGISTERS.lanes(DOT_BITS), &|block, here| {
            let a = here.load(block, rest, &zero);
            let a = block.push(Op::Freeze { a, method: FreezeMethod::Minimum });
            here.store(block, u, &zero, a);
        }));
        builder.stage("canonical residues", "", body);
        builder.finish_behind(&mut self.written.procedures)
    }

    /// The exported procedure's arrays: c, a and b.
    fn exported(&self) -> (Builder, [BufferId; 3]) {
        let mut builder = Builder::new("mul", Some(Computes::Product), self.modulus(self.sums));
        let ranges = [self.any, self.ranges[0], self.ranges[1]];
        let arrays = builder.product((self.n, self.memory), ranges);
        (builder, arrays)
    }
}
