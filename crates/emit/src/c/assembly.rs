//! A block over registers of 32 bits as assembly for Cortex-M4. Compilers spill some twenty values
//! in a butterfly of radix nine or ten. Here registers are allocated with all later uses in view.
//!
//! A register holds a pair of 16-bit words, or one 32-bit word. The code is straight-line for one
//! register of every array in the block. A loop around it covers all of them, or takes the place of
//! the program's own loop. Pointers stay in registers, one for each array and each 4 KB of it. So
//! do constants that all products share:
//!
//! - Plantard's products share (q, 2), and need one register besides the factor's
//!   (`smlawb t, b, a, k`, `smlawt b, b, a, k`, `smulbt t, t, k`, `smulbt b, b, k`,
//!   `pkhtb b, b, t, asr #16`).
//! - Montgomery's products of 32 bits share -q and 1/q (`smull l, h, a, b`, `mul t, l, r`,
//!   `smlal l, h, t, m`).
//!
//! Factors are built with `movw` and `movt`, or lie in a table in the order of their use.

mod allocation;
mod line;
mod loads;
mod order;
mod steps;

use super::Writer;
use super::block::index;
use allocation::{Allocation, Choice};
use ringforge_program::ir::*;
use std::collections::HashMap;

/// Registers, those of pointers first; one of the last two may be the stack pointer's, which is not among them.
const REGISTERS: [&str; 14] =
    ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "r7"];

/// Most pointers, but for that of the constants' table.
const POINTERS: usize = 4;

/// Bytes that a load reaches from its pointer, and most that a pointer moves.
const REACH: i64 = 4092;

/// Most constants that have registers of their own.
const FIXED: usize = 4;

/// Fewer steps than this are left to the compiler.
const LEAST: usize = 24;

/// Orders and choices that are tried, each close to the best one before.
const ROUNDS: usize = 1000;

/// The most steps that repeated turns of a loop may have, and the numbers of turns that are tried.
const LONG: usize = 260;
const COPIES: [u32; 3] = [1, 2, 4];

/// A loop within another is unrolled if it has at most this many turns.
const SHORT: u32 = 4;

/// A place in an array.
type Place = (BufferId, Index);

/// What products multiply by.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Constant {
    One(u32),
    /// A word of a table.
    Word(Place),
    /// A word of 32 bits whose halves are in tables.
    Halves {
        low: Place,
        high: Place,
    },
}

/// One step; values are numbers of earlier steps.
#[derive(Clone)]
enum Step {
    Load(Place),
    Store(Place, usize),
    Add(usize, usize),
    Sub(usize, usize),
    Minus(usize),
    Constant(Constant),
    /// Of a value and a constant by Plantard, or of any two values by Montgomery.
    Product(usize, usize),
    /// A pair whose odd word is multiplied so.
    Weighted(usize, usize),
    /// The residue of a pair by Plantard's product with a constant, and 2^15.
    Frozen(usize, usize, usize),
    /// The sum of both products of pairs, crosswise or not.
    Dot(usize, usize, bool),
    /// The same, added to a sum of 32 bits: the last.
    DotAdd(usize, usize, bool, usize),
    /// The sum of two sums of 32 bits.
    Sum(usize, usize),
    /// Two sums of 32 bits, reduced by Montgomery, as a pair.
    Narrow(usize, usize),
    /// The value minus q times its rounded shift by so many places.
    Rounded(usize, u8),
}

impl Step {
    fn reads(&self) -> Vec<usize> {
        match *self {
            Step::Load(_) | Step::Constant(_) => Vec::new(),
            Step::Store(_, a) | Step::Minus(a) | Step::Rounded(a, _) => vec![a],
            Step::Add(a, b) | Step::Sub(a, b) | Step::Product(a, b) => vec![a, b],
            Step::Weighted(a, b) | Step::Dot(a, b, _) | Step::Narrow(a, b) => vec![a, b],
            Step::Sum(a, b) => vec![a, b],
            Step::DotAdd(a, b, _, sum) => vec![a, b, sum],
            Step::Frozen(a, b, c) => vec![a, b, c],
        }
    }

    /// The same with operands renumbered.
    fn with(&self, new: impl Fn(usize) -> usize) -> Step {
        match self.clone() {
            same @ (Step::Load(_) | Step::Constant(_)) => same,
            Step::Store(place, a) => Step::Store(place, new(a)),
            Step::Minus(a) => Step::Minus(new(a)),
            Step::Rounded(a, k) => Step::Rounded(new(a), k),
            Step::Add(a, b) => Step::Add(new(a), new(b)),
            Step::Sub(a, b) => Step::Sub(new(a), new(b)),
            Step::Product(a, b) => Step::Product(new(a), new(b)),
            Step::Weighted(a, b) => Step::Weighted(new(a), new(b)),
            Step::Dot(a, b, crossed) => Step::Dot(new(a), new(b), crossed),
            Step::DotAdd(a, b, crossed, sum) => Step::DotAdd(new(a), new(b), crossed, new(sum)),
            Step::Sum(a, b) => Step::Sum(new(a), new(b)),
            Step::Narrow(a, b) => Step::Narrow(new(a), new(b)),
            Step::Frozen(a, b, c) => Step::Frozen(new(a), new(b), new(c)),
        }
    }
}

/// What repeats a block.
#[derive(Clone, Copy)]
pub struct Turns {
    /// The counter of the program's loop; nothing where the block has more lanes than a register.
    pub counter: Option<LoopVar>,
    /// How often.
    pub count: usize,
}

/// A block of such steps.
pub struct Assembly {
    steps: Vec<Step>,
    /// Bits of a word.
    bits: u8,
    /// The modulus of the products.
    q: i32,
    turns: Turns,
    /// What pointers point to: an array, and where in it.
    pointers: Vec<Place>,
}

/// The pointer that a place is reached from.
fn pointer((buffer, at): &Place, bits: u8) -> Place {
    let words = (REACH + 4) * 8 / i64::from(bits);
    (*buffer, Index { base: at.base / words * words, terms: at.terms.clone() })
}

impl Assembly {
    /// Words of a register.
    fn words(&self) -> i64 {
        32 / i64::from(self.bits)
    }

    /// Bytes that a pointer moves in a turn.
    fn stride(&self, pointer: &Place) -> i64 {
        match self.turns.counter {
            None => 4,
            Some(counter) => {
                let term = pointer.1.terms.iter().find(|term| term.0 == counter);
                term.map_or(0, |term| term.1 * i64::from(self.bits) / 8)
            }
        }
    }

    /// The pointers that move from turn to turn, including the constants' own, and by how many
    /// bytes.
    fn moves(&self, tabled: &HashMap<Constant, i64>) -> Vec<(&'static str, i64)> {
        if self.turns.count == 1 {
            return Vec::new();
        }
        let mut all: Vec<i64> = self.pointers.iter().map(|p| self.stride(p)).collect();
        let own = |constant: &Constant| {
            let counters = Assembly::counters(constant);
            self.turns.counter.is_some_and(|counter| counters.contains(&counter))
        };
        if tabled.keys().any(own) {
            all.push(4 * tabled.len() as i64);
        }
        let named = REGISTERS.into_iter().zip(all);
        named.filter(|(_, by)| *by != 0).collect()
    }

    /// What is multiplied with in some turn, the program's loops being in theirs.
    fn word(&self, constant: &Constant, buffers: &[Buffer], turn: &dyn Fn(LoopVar) -> i64) -> u32 {
        let read = |(buffer, at): &Place| match &buffers[buffer.0 as usize].role {
            Role::Table(words) => {
                let at = usize::try_from(at.eval(turn)).ok();
                at.and_then(|at| words.get(at)).copied().unwrap_or(0)
            }
            _ => 0,
        };
        match constant {
            Constant::One(word) => *word,
            Constant::Word(place) => read(place) as u32,
            Constant::Halves { low, high } => (read(high) << 16).wrapping_add(read(low)) as u32,
        }
    }

    /// The counters that a constant depends on.
    fn counters(constant: &Constant) -> Vec<LoopVar> {
        let of = |place: &Place| place.1.terms.iter().map(|term| term.0).collect::<Vec<_>>();
        match constant {
            Constant::One(_) => Vec::new(),
            Constant::Word(place) => of(place),
            Constant::Halves { low, high } => [of(low), of(high)].concat(),
        }
    }

    /// The best way found to write it, and its steps as they are ordered there.
    fn chosen(&self, same: &dyn Fn(BufferId, BufferId) -> bool) -> (Assembly, Choice) {
        let like = |steps| Assembly { steps, pointers: self.pointers.clone(), ..*self };
        let mut best = (usize::MAX, like(self.steps.clone()), Choice::default());
        let offer = |best: &mut (usize, Assembly, Choice), one: Assembly, choice: Choice| {
            let cycles = Allocation::fits(&one, same, choice);
            let better = cycles.filter(|cycles| *cycles < best.0);
            better.map(|cycles| *best = (cycles, one, choice)).is_some()
        };
        for fixed in 0..=FIXED {
            offer(&mut best, like(self.steps.clone()), Choice { fixed, ..Choice::default() });
        }
        let looped = self.turns.counter.is_some();
        let Some(orders) = order::Orders::of(&self.steps, self.words(), same).filter(|_| looped)
        else {
            return (best.1, best.2);
        };
        let mut near = (usize::MAX, like(Vec::new()), Choice::default());
        let mut way = None;
        for plain in orders.plain() {
            for flags in 0..4 {
                let (tabled, end) = (flags & 1 != 0, flags & 2 != 0);
                let choice = Choice { fixed: 0, tabled, end, together: true };
                if offer(&mut near, like(orders.steps(&plain)), choice) {
                    way = Some(plain.clone());
                }
            }
        }
        let mut random = order::Random::new();
        for _ in 0..ROUNDS {
            let Some(last) = &way else { break };
            let other = orders.beside(last, &mut random);
            let mut choice = near.2;
            match random.below(12) {
                0 => choice.fixed = random.below(FIXED + 1),
                1 => choice.tabled = !choice.tabled,
                2 => choice.end = !choice.end,
                _ => {}
            }
            // What is as good leads on.
            near.0 += 1;
            match offer(&mut near, like(orders.steps(&other)), choice) {
                true => way = Some(other),
                false => near.0 -= 1,
            }
        }
        if near.0 < best.0 { (near.1, near.2) } else { (best.1, best.2) }
    }
}

impl Writer<'_> {
    /// The beginning of a statement in assembly, and its lines, with preprocessor lines between
    /// them. The operands follow.
    pub fn long_assembly(&mut self, lines: &[String]) {
        // A text that is longer than the compiler sees must stay a function; C99 compilers need not take such
        // long ones, and these do.
        self.apart = true;
        self.text += "#pragma GCC diagnostic push\n";
        self.text += "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n";
        self.line("__asm__ volatile(");
        self.depth += 1;
        for line in lines {
            match line.starts_with('#') {
                true => self.text += &format!("{line}\n"),
                false => self.line(line),
            }
        }
    }

    /// Its end.
    pub fn end_assembly(&mut self) {
        self.text += "#pragma GCC diagnostic pop\n";
        self.depth -= 1;
    }

    /// A loop over a block as assembly, where there is one for it.
    pub fn assembled(&mut self, counter: LoopVar, count: u32, body: &[Stmt]) -> bool {
        let inner;
        let (block, within) = match body {
            [Stmt::Block(block)] => (block, 1),
            // A short loop is written out.
            [Stmt::Loop { counter, count, body }] => match &body[..] {
                [Stmt::Block(block)] if *count <= SHORT => {
                    inner = steps::repeated(block, *counter, *count, true);
                    (&inner, *count as usize)
                }
                _ => return false,
            },
            _ => return false,
        };
        if !self.form.pairs || self.lanes() * usize::from(self.procedure.bits) != 32 {
            return false;
        }
        let mut best: Option<(usize, Assembly, Choice)> = None;
        for copies in COPIES.into_iter().filter(|copies| count.is_multiple_of(*copies)) {
            let longer = steps::repeated(block, counter, copies, false);
            let turns = Turns { counter: Some(counter), count: (count / copies) as usize };
            let all = within * copies as usize;
            let found = Assembly::of(&longer, all, self.procedure, turns);
            let Some(assembly) = found.filter(|a| a.steps.len() <= LONG) else {
                continue;
            };
            let same = |a, b| self.same(a, b);
            let (assembly, choice) = assembly.chosen(&same);
            let cycles = Allocation::of(&assembly, &same, choice).cycles() * turns.count;
            // Longer code is to be worth it.
            if best.as_ref().is_none_or(|best| cycles + best.0 / 50 < best.0) {
                best = Some((cycles, assembly, choice));
            }
        }
        let Some((_, assembly, choice)) = best else { return false };
        self.written(&assembly, choice);
        true
    }

    /// Renders a block in steps.
    pub fn assembly(&mut self, assembly: &Assembly) {
        let same = |a, b| self.same(a, b);
        let (assembly, choice) = assembly.chosen(&same);
        self.written(&assembly, choice);
    }

    /// A table of constants in the order in which turns take them, as C, and how far it moves in a turn.
    fn factors(&mut self, assembly: &Assembly, tabled: &HashMap<Constant, i64>) -> (String, i64) {
        let mut members: Vec<(&Constant, &i64)> = tabled.iter().collect();
        members.sort_by_key(|(_, at)| **at);
        let members: Vec<&Constant> = members.into_iter().map(|(constant, _)| constant).collect();
        let read: Vec<LoopVar> = members.iter().flat_map(|c| Assembly::counters(c)).collect();
        let mut loops: Vec<(LoopVar, usize)> = self
            .loops
            .iter()
            .filter(|(counter, _)| read.contains(counter))
            .map(|(counter, count)| (*counter, *count as usize))
            .collect();
        let own = assembly.turns.counter.filter(|counter| read.contains(counter));
        loops.extend(own.map(|counter| (counter, assembly.turns.count)));
        let rows: usize = loops.iter().map(|(_, count)| count).product();
        let mut words = Vec::new();
        for row in 0..rows {
            let turn = |counter: LoopVar| {
                let mut left = row;
                for (own, count) in loops.iter().rev() {
                    if *own == counter {
                        return (left % count) as i64;
                    }
                    left /= count;
                }
                0
            };
            let buffers = &self.procedure.buffers;
            words.extend(members.iter().map(|c| assembly.word(c, buffers, &turn)));
        }
        let mut stride = members.len() as i64;
        let moved = if own.is_some() { 4 * stride } else { 0 };
        let mut terms = Vec::new();
        for (counter, count) in loops.iter().rev() {
            if Some(*counter) != own {
                terms.push((*counter, stride));
            }
            stride *= *count as i64;
        }
        let at = index(&Index { base: 0, terms }, None);
        let number = self.factors.iter().position(|known| *known == words);
        let number = number.unwrap_or_else(|| {
            self.factors.push(words);
            self.factors.len() - 1
        });
        (format!("f{number}[{at}]"), moved)
    }

    fn written(&mut self, assembly: &Assembly, choice: Choice) {
        let same = |a, b| self.same(a, b);
        let allocation = Allocation::of(assembly, &same, choice);
        let (code, slots) = (allocation.code.clone(), allocation.size);
        let (end, free) = (allocation.end, allocation.held[0].0);
        let before = allocation.before();
        let (tabled, moved) = (allocation.tabled.clone(), allocation.moved.clone());
        let mut places: Vec<(String, i64)> = Vec::new();
        for pointer in &assembly.pointers {
            let mut at = pointer.1.clone();
            at.terms.retain(|term| Some(term.0) != assembly.turns.counter);
            let place = format!("{}[{}]", self.buffer(pointer.0), index(&at, None));
            places.push((place, assembly.stride(pointer)));
        }
        if !tabled.is_empty() {
            places.push(self.factors(assembly, &tabled));
        }
        let turns = assembly.turns.count as i64;
        let clock = places.iter().position(|(_, moved)| *moved != 0).unwrap_or(0);
        let mut lines = vec![
            // Compilers may keep this one for themselves.
            "push {r7}".to_string(),
            format!("sub sp, #{}", 4 * slots),
        ];
        if turns > 1 {
            let to = end.unwrap_or(free);
            lines.push(format!("add {to}, {}, #{}", REGISTERS[clock], places[clock].1 * turns));
            if end.is_none() {
                lines.push(format!("str {to}, [sp]"));
            }
        }
        lines.extend(before.iter().map(|line| line.to_string()));
        if turns > 1 {
            lines.extend([".p2align 2".into(), "1:".into()]);
        }
        lines.extend(code.iter().map(|line| line.to_string()));
        if turns > 1 {
            if end.is_none() {
                lines.push(format!("ldr {free}, [sp]"));
            }
            let apart = assembly.moves(&tabled).into_iter().filter(|(p, _)| !moved.contains(p));
            lines.extend(apart.map(|(pointer, by)| format!("add {pointer}, #{by}")));
            lines.push(format!("cmp {}, {}", REGISTERS[clock], end.unwrap_or(free)));
            lines.push("bne 1b".into());
        }
        lines.push(format!("add sp, #{}", 4 * slots));
        lines.push("pop {r7}".into());
        if lines.iter().any(|line| line.contains(", =")) {
            // What is loaded from here stands behind the code that does.
            lines.extend(["b 2f".into(), ".ltorg".into(), "2:".into()]);
        }
        self.line("{");
        self.depth += 1;
        for (number, (place, _)) in places.iter().enumerate() {
            let register = REGISTERS[number];
            self.line(&format!(
                "register uintptr_t p{number} __asm__(\"{register}\") = (uintptr_t)&{place};"
            ));
        }
        self.long_assembly(&lines.iter().map(|line| format!("\"{line}\\n\"")).collect::<Vec<_>>());
        let outs: Vec<String> = (0..places.len()).map(|p| format!("\"+r\"(p{p})")).collect();
        self.line(&format!(": {}", outs.join(", ")));
        self.line(":");
        let taken = &REGISTERS[places.len()..REGISTERS.len() - 1];
        let taken: Vec<String> = taken.iter().map(|register| format!("\"{register}\"")).collect();
        self.line(&format!(": {}, \"cc\", \"memory\");", taken.join(", ")));
        self.end_assembly();
        self.depth -= 1;
        self.line("}");
    }
}
