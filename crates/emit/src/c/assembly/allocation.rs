//! Registers for the steps of a block.

use super::line::{Line, Tail};
use super::loads::{moving, together};
use super::{Assembly, Constant, Place, REGISTERS, Step, pointer};
use ringforge_program::ir::BufferId;
use std::collections::HashMap;

/// A value that needs no store is given up first, even if it is used up to this many steps earlier.
const EASE: usize = 8;

/// Words on the stack below the spilled values: where the loop ends.
const END: usize = 1;

/// What is kept where.
#[derive(Clone, Copy, Default)]
pub struct Choice {
    /// Constants in registers of their own, those that are read most.
    pub fixed: usize,
    /// Whether all others lie in a table, those too that are the same in all turns.
    pub tabled: bool,
    /// Whether where the loop ends stays in a register.
    pub end: bool,
    /// Whether new values get the register that is free for the longest time, and loads are brought together then.
    pub together: bool,
}

/// Registers that steps of a kind have in common, and what they hold.
#[derive(Clone, Default)]
struct Common {
    /// (q, 2).
    plantard: Option<&'static str>,
    /// (-q, 1/q).
    narrow: Option<&'static str>,
    /// -q.
    minus: Option<&'static str>,
    /// 1/q.
    inverse: Option<&'static str>,
}

/// Where values are while code is written.
pub struct Allocation<'a> {
    assembly: &'a Assembly,
    /// Whether two arrays may be one.
    same: &'a dyn Fn(BufferId, BufferId) -> bool,
    common: Common,
    /// Where the loop ends, if it stays.
    pub end: Option<&'static str>,
    /// Constants that stay in registers for all turns of the loop.
    fixed: Vec<(u32, &'static str)>,
    /// Bytes of the table at which constants lie.
    pub tabled: HashMap<Constant, i64>,
    /// The register of the table.
    table: &'static str,
    /// The value in each register that holds one; pointers and the constant hold none and are not here.
    pub held: Vec<(&'static str, Option<usize>)>,
    /// Slots on the stack by value, and those that are free.
    slots: HashMap<usize, usize>,
    free: Vec<usize>,
    pub size: usize,
    /// Steps that read a value, the next one last.
    uses: Vec<Vec<usize>>,
    pub code: Vec<Line>,
    /// Registers that stay as they are now.
    pinned: Vec<&'static str>,
    /// Lines before which a register was last given out or given up.
    freed: HashMap<&'static str, usize>,
    choice: Choice,
    /// Pointers that the last access from them moves.
    pub moved: Vec<&'static str>,
}

/// The inverse of an odd number mod 2^32.
fn inverse(q: i32) -> i32 {
    (0..5).fold(1i32, |x, _| x.wrapping_mul(2i32.wrapping_sub(q.wrapping_mul(x))))
}

/// A constant in a register, which a load behind another one is shorter for.
fn constant_loaded(register: &'static str, constant: u32) -> Vec<Line> {
    match constant >> 16 {
        0 => constant_into(register, constant),
        _ => vec![Line::of("ldr", [register], Tail::Word(constant))],
    }
}

/// A constant in a register.
fn constant_into(register: &'static str, constant: u32) -> Vec<Line> {
    let (low, high) = (i64::from(constant & 0xffff), i64::from(constant >> 16));
    let mut lines = vec![Line::of("movw", [register], Tail::Number(low))];
    if high > 0 {
        lines.push(Line::of("movt", [register], Tail::Number(high)));
    }
    lines
}

/// Fewest registers that steps need for what they read and make.
const FEWEST: usize = 6;

impl<'a> Allocation<'a> {
    /// All steps.
    pub fn of(
        assembly: &'a Assembly,
        same: &'a dyn Fn(BufferId, BufferId) -> bool,
        choice: Choice,
    ) -> Allocation<'a> {
        let mut uses = vec![Vec::new(); assembly.steps.len()];
        for (number, step) in assembly.steps.iter().enumerate().rev() {
            step.reads().into_iter().for_each(|v: usize| uses[v].push(number));
        }
        let mut often: Vec<(u32, usize)> = Vec::new();
        for (number, step) in assembly.steps.iter().enumerate() {
            let Step::Constant(Constant::One(word)) = step else { continue };
            match often.iter_mut().find(|(known, _)| known == word) {
                Some((_, count)) => *count += uses[number].len(),
                None => often.push((*word, uses[number].len())),
            }
        }
        often.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let often: Vec<u32> = often.into_iter().take(choice.fixed).map(|(word, _)| word).collect();
        let mut tabled: HashMap<Constant, i64> = HashMap::new();
        for step in &assembly.steps {
            let Step::Constant(constant) = step else { continue };
            let stays = match constant {
                Constant::One(word) => !choice.tabled || often.contains(word),
                _ => false,
            };
            if !stays && !tabled.contains_key(constant) {
                tabled.insert(constant.clone(), 4 * tabled.len() as i64);
            }
        }
        // The last that is loaded comes first, from where its pointer can be moved.
        let last = 4 * tabled.len() as i64 - 4;
        tabled.values_mut().for_each(|at| *at = last - *at);
        let mut registers = REGISTERS[assembly.pointers.len()..].iter().copied();
        let mut next = |wanted: bool| if wanted { registers.next() } else { None };
        let table = next(!tabled.is_empty()).unwrap_or_default();
        let any = |kind: fn(&Step) -> bool| assembly.steps.iter().any(kind);
        let product = any(|step| matches!(step, Step::Product(..)));
        let pairs = any(|step| matches!(step, Step::Weighted(..) | Step::Frozen(..)));
        let (short, long) = (assembly.bits == 16, assembly.bits == 32);
        let common = Common {
            plantard: next(short && (product || pairs)),
            narrow: next(any(|step| matches!(step, Step::Narrow(..)))),
            minus: next(long && (product || any(|step| matches!(step, Step::Rounded(..))))),
            inverse: next(long && product),
        };
        let end = next(choice.end && assembly.turns.count > 1);
        let fixed = often.into_iter().map_while(|word| Some((word, next(true)?))).collect();
        let held = registers.map(|r| (r, None)).collect();
        let mut allocation = Allocation {
            assembly,
            same,
            common,
            end,
            fixed,
            tabled,
            table,
            held,
            slots: HashMap::new(),
            free: Vec::new(),
            size: END,
            uses,
            code: Vec::new(),
            pinned: Vec::new(),
            freed: HashMap::new(),
            choice,
            moved: Vec::new(),
        };
        if allocation.held.len() >= FEWEST {
            (0..assembly.steps.len()).for_each(|now| allocation.step(now));
        }
        if choice.together {
            together(&mut allocation.code, allocation.table);
            allocation.moved = moving(&mut allocation.code, &assembly.moves(&allocation.tabled));
        }
        allocation
    }

    /// Cycles of a choice, if it leaves enough registers.
    pub fn fits(
        assembly: &Assembly,
        same: &dyn Fn(BufferId, BufferId) -> bool,
        choice: Choice,
    ) -> Option<usize> {
        let allocation = Allocation::of(assembly, same, choice);
        (!allocation.code.is_empty()).then(|| allocation.cycles())
    }

    /// Cycles of a turn: loads take two, those behind another one.
    pub fn cycles(&self) -> usize {
        let load = |i: usize| self.code[i].is_load();
        let alone = (0..self.code.len()).filter(|&i| load(i) && (i == 0 || !load(i - 1)));
        let moves = self.assembly.moves(&self.tabled).len() - self.moved.len();
        let turn = moves + if self.end.is_some() { 4 } else { 6 };
        let turn = if self.assembly.turns.count > 1 { turn } else { 0 };
        self.code.len() + alone.count() + turn
    }

    /// What stands before the loop.
    pub fn before(&self) -> Vec<Line> {
        let q = self.assembly.q;
        let Common { plantard, narrow, minus, inverse: over } = self.common;
        let one = inverse(q);
        let pair = |high: i32, low: i32| (high << 16 | low & 0xffff) as u32;
        let all = [
            (plantard, pair(q, 2)),
            (narrow, pair(-q, one)),
            (minus, -q as u32),
            (over, one as u32),
        ];
        let common = all.into_iter().filter_map(|(register, word)| Some((register?, word)));
        let fixed = self.fixed.iter().map(|(word, register)| (*register, *word));
        common.chain(fixed).flat_map(|(register, word)| constant_into(register, word)).collect()
    }

    fn register(&self, value: usize) -> Option<&'static str> {
        let held = self.held.iter().find(|(_, held)| *held == Some(value));
        held.map(|(register, _)| *register)
    }

    /// The register that a constant always has.
    fn always(&self, value: usize) -> Option<&'static str> {
        let Step::Constant(Constant::One(word)) = &self.assembly.steps[value] else { return None };
        self.fixed.iter().find(|(fixed, _)| fixed == word).map(|(_, register)| *register)
    }

    /// Whether a value is given up without a store.
    fn is_kept(&self, value: usize, now: usize) -> bool {
        self.slots.contains_key(&value)
            || matches!(self.assembly.steps[value], Step::Constant(_))
            || self.reloadable(value, now).is_some()
    }

    fn address(&self, place: &Place) -> (&'static str, i64) {
        let bits = self.assembly.bits;
        let pointer = pointer(place, bits);
        let at = self.assembly.pointers.iter().position(|p| *p == pointer).unwrap_or(0);
        (REGISTERS[at], i64::from(bits / 8) * (place.1.base - pointer.1.base))
    }

    /// Whether a value can be loaded again from where it was, whenever it is used.
    fn reloadable(&self, value: usize, now: usize) -> Option<&Place> {
        let Step::Load(place) = &self.assembly.steps[value] else { return None };
        let last = *self.uses[value].first()?;
        let written = |step: &Step| match step {
            Step::Store(to, _) => match to.0 == place.0 && to.1.terms == place.1.terms {
                true => (to.1.base - place.1.base).abs() < self.assembly.words(),
                false => (self.same)(to.0, place.0),
            },
            _ => false,
        };
        // What was written before the value was given up counts too.
        let changed = self.assembly.steps[value..last].iter().any(written);
        (!changed && now > value).then_some(place)
    }

    /// A register for a new value: a free one, or that whose value is used last.
    fn take(&mut self, now: usize) -> &'static str {
        let open = |(register, _): &(&'static str, Option<usize>)| !self.pinned.contains(register);
        let free = self.held.iter().filter(|h| open(h) && h.1.is_none());
        let free = match self.choice.together {
            true => free.min_by_key(|(register, _)| self.freed.get(register).copied()),
            false => free.into_iter().next(),
        };
        if let Some((register, _)) = free {
            return register;
        }
        let next = |value: usize| self.uses[value].last().copied().unwrap_or(usize::MAX);
        // A value that needs no store is given up for one that is used little later.
        let ease = |value: usize| if self.is_kept(value, now) { EASE } else { 0 };
        let held = self.held.iter().filter(|h| open(h));
        let found = held.filter_map(|(register, held)| held.map(|value| (*register, value)));
        let found = found.max_by_key(|(_, value)| next(*value).saturating_add(ease(*value)));
        let (register, value) = found.expect("more registers than operands");
        if !self.is_kept(value, now) {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.size += 1;
                self.size - 1
            });
            self.slots.insert(value, slot);
            self.code.push(Line::store(register, ("sp", 4 * slot as i64)));
        }
        self.put(register, None);
        register
    }

    /// The same, and the register is kept for as long as the step lasts.
    fn fresh(&mut self, now: usize) -> &'static str {
        let register = self.take(now);
        self.pinned.push(register);
        register
    }

    fn put(&mut self, register: &'static str, value: Option<usize>) {
        self.freed.insert(register, self.code.len());
        let held = self.held.iter_mut().find(|(r, _)| *r == register);
        held.expect("a register").1 = value;
    }

    /// How a value that has no register comes to one.
    fn reload(&mut self, value: usize, register: &'static str, now: usize) {
        let from = match (&self.assembly.steps[value], self.slots.get(&value)) {
            (Step::Constant(constant), _) => match (self.tabled.get(constant), constant) {
                (Some(at), _) => Some((self.table, *at)),
                (None, Constant::One(word)) => {
                    let lines = match self.choice.together {
                        true => constant_loaded(register, *word),
                        false => constant_into(register, *word),
                    };
                    self.code.extend(lines);
                    None
                }
                (None, _) => unreachable!("what varies is in the table"),
            },
            (_, Some(slot)) => Some(("sp", 4 * *slot as i64)),
            _ => match self.reloadable(value, now) {
                Some(place) => Some(self.address(place)),
                None => unreachable!("a value is in a register, on the stack or where it was"),
            },
        };
        self.code.extend(from.map(|from| Line::load(register, from)));
        self.put(register, Some(value));
    }

    /// The register of an operand, loaded if need be.
    fn operand(&mut self, value: usize, now: usize) -> &'static str {
        if let Some(register) = self.always(value) {
            return register;
        }
        let register = self.register(value).unwrap_or_else(|| {
            let register = self.take(now);
            self.reload(value, register, now);
            register
        });
        self.pinned.push(register);
        register
    }

    /// After a step: values that are read no more leave their registers and slots.
    fn done(&mut self, step: &Step, now: usize) {
        for value in step.reads() {
            while self.uses[value].last().is_some_and(|used| *used <= now) {
                self.uses[value].pop();
            }
            if self.uses[value].is_empty() {
                if let Some(register) = self.register(value) {
                    self.put(register, None);
                }
                self.free.extend(self.slots.remove(&value));
            }
        }
    }

    /// The lines of a step, and where its result is; registers in `dying` are read for the last time.
    fn lines(
        &mut self,
        step: &Step,
        now: usize,
        reads: &[&'static str],
        dying: &[&'static str],
    ) -> Option<&'static str> {
        let first = dying.first().copied();
        let k = self.common.plantard.unwrap_or_default();
        match *step {
            Step::Store(ref place, _) => {
                let to = self.address(place);
                self.code.push(Line::store(reads[0], to));
                None
            }
            Step::Load(ref place) => {
                let (to, from) = (self.take(now), self.address(place));
                self.code.push(Line::load(to, from));
                Some(to)
            }
            // It waits until it is read, but where loads go together.
            Step::Constant(_) => {
                if self.choice.together && self.always(now).is_none() {
                    let to = self.take(now);
                    self.reload(now, to, now);
                }
                None
            }
            Step::Product(..) if self.assembly.bits == 32 => {
                let (a, b) = (reads[0], reads[1]);
                let (minus, over) = (self.common.minus?, self.common.inverse?);
                let low = self.fresh(now);
                let high = first.unwrap_or_else(|| self.fresh(now));
                let t = dying.get(1).copied().unwrap_or_else(|| self.fresh(now));
                self.code.extend([
                    Line::of("smull", [low, high, a, b], Tail::None),
                    Line::of("mul", [t, low, over], Tail::None),
                    Line::of("smlal", [low, high, t, minus], Tail::None),
                ]);
                Some(high)
            }
            Step::Product(..) => {
                let (a, b) = (reads[0], reads[1]);
                let low = self.fresh(now);
                let to = first.unwrap_or_else(|| self.take(now));
                self.code.extend([
                    Line::of("smlawb", [low, b, a, k], Tail::None),
                    Line::of("smlawt", [to, b, a, k], Tail::None),
                    Line::of("smulbt", [low, low, k], Tail::None),
                    Line::of("smulbt", [to, to, k], Tail::None),
                    Line::of("pkhtb", [to, to, low], Tail::High),
                ]);
                Some(to)
            }
            Step::Frozen(..) => {
                let (a, b, half) = (reads[0], reads[1], reads[2]);
                let (low, to) = (self.fresh(now), self.fresh(now));
                self.code.extend([
                    Line::of("smulwb", [low, b, a], Tail::None),
                    Line::of("smulwt", [to, b, a], Tail::None),
                    Line::of("smlabt", [low, low, k, half], Tail::None),
                    Line::of("smlabt", [to, to, k, half], Tail::None),
                    Line::of("pkhtb", [to, to, low], Tail::High),
                ]);
                Some(to)
            }
            Step::Weighted(..) => {
                let (a, b) = (reads[0], reads[1]);
                let to = self.fresh(now);
                self.code.extend([
                    Line::of("smlawt", [to, b, a, k], Tail::None),
                    Line::of("smulbt", [to, to, k], Tail::None),
                    Line::of("pkhbt", [to, a, to], Tail::None),
                ]);
                Some(to)
            }
            Step::Dot(_, _, crossed) => {
                let to = first.unwrap_or_else(|| self.take(now));
                let name = if crossed { "smuadx" } else { "smuad" };
                self.code.push(Line::of(name, [to, reads[0], reads[1]], Tail::None));
                Some(to)
            }
            Step::DotAdd(_, _, crossed, _) => {
                let to = first.unwrap_or_else(|| self.take(now));
                let name = if crossed { "smladx" } else { "smlad" };
                self.code.push(Line::of(name, [to, reads[0], reads[1], reads[2]], Tail::None));
                Some(to)
            }
            Step::Sum(..) => {
                let to = first.unwrap_or_else(|| self.take(now));
                self.code.push(Line::of("add", [to, reads[0], reads[1]], Tail::None));
                Some(to)
            }
            Step::Narrow(..) => {
                let (even, odd, n) = (reads[0], reads[1], self.common.narrow?);
                let low = self.fresh(now);
                let to = match dying.contains(&even) && even != odd {
                    true => even,
                    false => self.fresh(now),
                };
                self.code.extend([
                    Line::of("smulbb", [low, even, n], Tail::None),
                    Line::of("smlabt", [low, low, n, even], Tail::None),
                    Line::of("smulbb", [to, odd, n], Tail::None),
                    Line::of("smlabt", [to, to, n, odd], Tail::None),
                    Line::of("pkhtb", [to, to, low], Tail::High),
                ]);
                Some(to)
            }
            Step::Rounded(_, k) => {
                let (a, minus, t) = (reads[0], self.common.minus?, self.fresh(now));
                let to = first.unwrap_or_else(|| self.take(now));
                self.code.extend([
                    Line::of("add", [t, a], Tail::Number(1 << (k - 1))),
                    Line::of("asr", [t, t], Tail::Number(i64::from(k))),
                    Line::of("mla", [to, t, minus, a], Tail::None),
                ]);
                Some(to)
            }
            Step::Minus(_) if self.assembly.bits == 32 => {
                let to = first.unwrap_or_else(|| self.take(now));
                self.code.push(Line::of("rsb", [to, reads[0]], Tail::Number(0)));
                Some(to)
            }
            Step::Minus(_) => {
                let to = self.take(now);
                self.code.push(Line::of("mov", [to], Tail::Number(0)));
                self.code.push(Line::of("usub16", [to, to, reads[0]], Tail::None));
                Some(to)
            }
            Step::Add(..) | Step::Sub(..) => {
                let to = first.unwrap_or_else(|| self.take(now));
                let name = match (self.assembly.bits, step) {
                    (32, Step::Add(..)) => "add",
                    (32, _) => "sub",
                    (_, Step::Add(..)) => "uadd16",
                    _ => "usub16",
                };
                self.code.push(Line::of(name, [to, reads[0], reads[1]], Tail::None));
                Some(to)
            }
        }
    }

    fn step(&mut self, now: usize) {
        let step = &self.assembly.steps[now];
        let reads: Vec<&'static str> =
            step.reads().into_iter().map(|value| self.operand(value, now)).collect();
        // Operands' registers, where they are not read again.
        let last = |value: &usize| {
            self.uses[*value].iter().all(|used| *used <= now) && self.always(*value).is_none()
        };
        let mut dying: Vec<&'static str> = Vec::new();
        for (value, register) in step.reads().into_iter().zip(&reads) {
            if last(&value) && !dying.contains(register) {
                dying.push(register);
            }
        }
        let result = self.lines(step, now, &reads, &dying);
        self.done(step, now);
        if let Some(to) = result {
            let read = !self.uses[now].is_empty();
            self.put(to, read.then_some(now));
        }
        self.pinned.clear();
    }
}
