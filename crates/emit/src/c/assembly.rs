//! A block over pairs of lanes as assembly for Cortex-M4: compilers spill some twenty of the values of a butterfly of nine
//! or ten, and here registers are given out with all later uses in view .
//!
//! Straight-line code for one word of each register, in a loop over all of them. Pointers, one for each array and each 4 KB
//! of it, stay in registers, and so does (q, 2) for Plantard's products, which take a register beside the factor's:
//! `smlawb t, b, a, k`, `smlawt b, b, a, k`, `smulbt t, t, k`, `smulbt b, b, k`, `pkhtb b, b, t, asr #16`.

use super::Writer;
use super::block::index;
use super::fused::{All, Fused, Kind};
use super::packed::{multiple, sums};
use ringforge_program::ir::*;
use std::collections::HashMap;

/// Registers, those of pointers first; one of the last two may be the stack pointer's, which is not among them.
const REGISTERS: [&str; 14] =
    ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "r7"];

/// Most pointers.
const POINTERS: usize = 4;

/// Bytes that a load reaches from its pointer.
const REACH: i64 = 4092;

/// Most constants that have registers of their own.
const FIXED: usize = 4;

/// Fewer steps than this are left to the compiler.
const LEAST: usize = 24;

/// A place in an array.
type Place = (BufferId, Index);

/// One step; values are numbers of earlier steps.
#[derive(Clone)]
enum Step {
    Load(Place),
    Store(Place, usize),
    Add(usize, usize),
    Sub(usize, usize),
    Minus(usize),
    Constant(u32),
    /// Of a value and a constant.
    Product(usize, usize),
}

impl Step {
    fn reads(&self) -> Vec<usize> {
        match *self {
            Step::Load(_) | Step::Constant(_) => Vec::new(),
            Step::Store(_, a) | Step::Minus(a) => vec![a],
            Step::Add(a, b) | Step::Sub(a, b) | Step::Product(a, b) => vec![a, b],
        }
    }
}

/// A block of such steps.
pub struct Assembly {
    steps: Vec<Step>,
    /// The modulus of the products.
    q: i32,
    /// Words of a register.
    lanes: usize,
    /// What pointers point to: an array, and where in it.
    pointers: Vec<Place>,
}

impl Assembly {
    /// The block in steps over so many lanes; nothing where it has other operations, or is short.
    pub fn of(block: &Block, fused: &All, lanes: usize) -> Option<Assembly> {
        let ops = &block.ops;
        let splat = |v: Value| match ops[v.0 as usize] {
            Op::Splat(word) => Some(word),
            _ => None,
        };
        let (mut steps, mut q) = (Vec::new(), None);
        let mut constants: HashMap<u32, usize> = HashMap::new();
        // The step that makes a value.
        let mut made: Vec<Option<usize>> = Vec::new();
        for (i, op) in ops.iter().enumerate() {
            let get = |v: Value| made[v.0 as usize];
            if fused.steps.contains(&Value(i as u32)) || matches!(op, Op::Splat(_)) {
                made.push(None);
                continue;
            }
            let step = match (&fused.last[i], op) {
                (
                    Some(Fused {
                        kind: Kind::Plantard { a, low, high, rounds: false }, q: by, ..
                    }),
                    _,
                ) => {
                    if q.is_some_and(|q| q != *by) {
                        return None;
                    }
                    q = Some(*by);
                    let factor = (splat(*high)? << 16).wrapping_add(splat(*low)?) as u32;
                    let constant = *constants.entry(factor).or_insert_with(|| {
                        steps.push(Step::Constant(factor));
                        steps.len() - 1
                    });
                    Step::Product(get(*a)?, constant)
                }
                (Some(_), _) => return None,
                (_, Op::Load { buffer, at }) => Step::Load((*buffer, at.clone())),
                (_, Op::Store { buffer, at, a }) => Step::Store((*buffer, at.clone()), get(*a)?),
                (_, Op::Add(a, b)) => Step::Add(get(*a)?, get(*b)?),
                (_, Op::Sub(a, b)) if splat(*a) == Some(0) => Step::Minus(get(*b)?),
                (_, Op::Sub(a, b)) => Step::Sub(get(*a)?, get(*b)?),
                (_, Op::Shl(a, k @ 1..=3)) => {
                    let mut last = get(*a)?;
                    for _ in 1..*k {
                        steps.push(Step::Add(last, last));
                        last = steps.len() - 1;
                    }
                    Step::Add(last, last)
                }
                (_, Op::MulLo(..)) => {
                    let (a, word) = multiple(op, ops)?;
                    let mut terms = vec![get(a)?];
                    let (last, before) = sums(word)?.split_last()?;
                    for (a, b) in before {
                        steps.push(Step::Add(terms[*a], terms[*b]));
                        terms.push(steps.len() - 1);
                    }
                    Step::Add(terms[last.0], terms[last.1])
                }
                _ => return None,
            };
            steps.push(step);
            made.push(Some(steps.len() - 1));
        }
        let mut pointers: Vec<Place> = Vec::new();
        for step in &steps {
            let (Step::Load((buffer, at)) | Step::Store((buffer, at), _)) = step else { continue };
            let even = at.terms.iter().all(|term| term.1 % 2 == 0);
            if at.base < 0 || at.base % 2 != 0 || !even {
                return None;
            }
            let pointer = pointer(&(*buffer, at.clone()));
            if !pointers.contains(&pointer) {
                pointers.push(pointer);
            }
        }
        let fits = pointers.len() <= POINTERS && steps.len() >= LEAST;
        let fits = fits && lanes.is_multiple_of(2) && 2 * lanes as i64 <= REACH;
        fits.then_some(Assembly { steps, q: q?, lanes, pointers })
    }
}

/// The pointer that a place is reached from.
fn pointer((buffer, at): &Place) -> Place {
    let words = (REACH + 4) / 2;
    (*buffer, Index { base: at.base / words * words, terms: at.terms.clone() })
}

/// Where values are while code is written.
struct Allocation<'a> {
    assembly: &'a Assembly,
    /// Whether two arrays may be one.
    same: &'a dyn Fn(BufferId, BufferId) -> bool,
    /// Constants that stay in registers for all turns of the loop.
    fixed: Vec<(usize, &'static str)>,
    /// The value in each register that holds one; pointers and the constant hold none and are not here.
    held: Vec<(&'static str, Option<usize>)>,
    /// Slots on the stack by value, and those that are free.
    slots: HashMap<usize, usize>,
    free: Vec<usize>,
    size: usize,
    /// Steps that read a value, the next one last.
    uses: Vec<Vec<usize>>,
    code: Vec<String>,
    /// Registers that stay as they are now.
    pinned: Vec<&'static str>,
}

/// How much later a value may be used that is kept for one that would have to be stored.
const EASE: usize = 8;

/// Words on the stack below the spilled values: where the loop ends.
const END: usize = 1;

impl<'a> Allocation<'a> {
    /// All steps, with so many constants in registers of their own, those that are read most.
    fn of(
        assembly: &'a Assembly,
        same: &'a dyn Fn(BufferId, BufferId) -> bool,
        fixed: usize,
    ) -> Allocation<'a> {
        let mut uses = vec![Vec::new(); assembly.steps.len()];
        for (number, step) in assembly.steps.iter().enumerate().rev() {
            step.reads().into_iter().for_each(|v: usize| uses[v].push(number));
        }
        let constant = |v: &usize| matches!(assembly.steps[*v], Step::Constant(_));
        let mut constants: Vec<usize> = (0..uses.len()).filter(constant).collect();
        constants.sort_by_key(|v| std::cmp::Reverse(uses[*v].len()));
        let registers = &REGISTERS[assembly.pointers.len() + 1..];
        let fixed: Vec<_> =
            constants.into_iter().take(fixed).zip(registers.iter().copied()).collect();
        let held = registers[fixed.len()..].iter().map(|r| (*r, None)).collect();
        let mut allocation = Allocation {
            assembly,
            same,
            fixed,
            held,
            slots: HashMap::new(),
            free: Vec::new(),
            size: END,
            uses,
            code: Vec::new(),
            pinned: Vec::new(),
        };
        (0..assembly.steps.len()).for_each(|now| allocation.step(now));
        allocation
    }

    /// Cycles of a turn: loads by themselves take two.
    fn cycles(&self) -> usize {
        self.code.len() + self.code.iter().filter(|line| line.starts_with("ldr")).count()
    }

    /// The register of (q, 2).
    fn constant(&self) -> &'static str {
        REGISTERS[self.assembly.pointers.len()]
    }

    fn register(&self, value: usize) -> Option<&'static str> {
        let held = self.held.iter().find(|(_, held)| *held == Some(value));
        held.map(|(register, _)| *register)
    }

    fn is_fixed(&self, value: usize) -> bool {
        self.fixed.iter().any(|(constant, _)| *constant == value)
    }

    /// Whether a value is given up without a store.
    fn is_kept(&self, value: usize, now: usize) -> bool {
        self.slots.contains_key(&value)
            || matches!(self.assembly.steps[value], Step::Constant(_))
            || self.reloadable(value, now).is_some()
    }

    /// A constant in a register.
    fn constant_into(register: &str, constant: u32) -> [String; 2] {
        let (low, high) = (constant & 0xffff, constant >> 16);
        [format!("movw {register}, #{low}"), format!("movt {register}, #{high}")]
    }

    fn address(&self, place: &Place) -> String {
        let pointer = pointer(place);
        let at = self.assembly.pointers.iter().position(|p| *p == pointer).unwrap_or(0);
        let bytes = 2 * (place.1.base - pointer.1.base);
        match bytes {
            0 => format!("[{}]", REGISTERS[at]),
            _ => format!("[{}, #{bytes}]", REGISTERS[at]),
        }
    }

    /// Whether a value can be loaded again from where it was, whenever it is used.
    fn reloadable(&self, value: usize, now: usize) -> Option<&Place> {
        let Step::Load(place) = &self.assembly.steps[value] else { return None };
        let last = *self.uses[value].first()?;
        let written = |step: &Step| match step {
            Step::Store(to, _) => match to.0 == place.0 && to.1.terms == place.1.terms {
                true => (to.1.base - place.1.base).abs() < 2,
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
        if let Some((register, _)) =
            self.held.iter().filter(|h| open(h)).find(|(_, held)| held.is_none())
        {
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
            self.code.push(format!("str {register}, [sp, #{}]", 4 * slot));
        }
        self.put(register, None);
        register
    }

    fn put(&mut self, register: &'static str, value: Option<usize>) {
        let held = self.held.iter_mut().find(|(r, _)| *r == register);
        held.expect("a register").1 = value;
    }

    /// The register of an operand, loaded if need be.
    fn operand(&mut self, value: usize, now: usize) -> &'static str {
        if let Some((_, register)) = self.fixed.iter().find(|(constant, _)| *constant == value) {
            return register;
        }
        let register = self.register(value).unwrap_or_else(|| {
            let register = self.take(now);
            let from = match (&self.assembly.steps[value], self.slots.get(&value)) {
                (Step::Constant(constant), _) => {
                    self.code.extend(Allocation::constant_into(register, *constant));
                    None
                }
                (_, Some(slot)) => Some(format!("[sp, #{}]", 4 * slot)),
                _ => match self.reloadable(value, now) {
                    Some(place) => Some(self.address(place)),
                    None => unreachable!("a value is in a register, on the stack or where it was"),
                },
            };
            self.code.extend(from.map(|from| format!("ldr {register}, {from}")));
            self.put(register, Some(value));
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

    fn step(&mut self, now: usize) {
        let steps = &self.assembly.steps;
        let step = &steps[now];
        let reads: Vec<&'static str> =
            step.reads().into_iter().map(|value| self.operand(value, now)).collect();
        // An operand's register, where it is not read again.
        let last = |value: &usize| {
            self.uses[*value].iter().all(|used| *used <= now) && !self.is_fixed(*value)
        };
        let dying = step.reads().into_iter().zip(&reads).find(|(value, _)| last(value));
        let dying = dying.map(|(_, register)| *register);
        let result = match *step {
            Step::Store(ref place, _) => {
                let to = self.address(place);
                self.code.push(format!("str {}, {to}", reads[0]));
                None
            }
            Step::Load(ref place) => {
                let (to, from) = (self.take(now), self.address(place));
                self.code.push(format!("ldr {to}, {from}"));
                Some(to)
            }
            // It waits until it is read.
            Step::Constant(_) => None,
            Step::Product(..) => {
                let (a, b, k) = (reads[0], reads[1], self.constant());
                let low = self.take(now);
                self.pinned.push(low);
                let to = dying.unwrap_or_else(|| self.take(now));
                self.code.extend([
                    format!("smlawb {low}, {b}, {a}, {k}"),
                    format!("smlawt {to}, {b}, {a}, {k}"),
                    format!("smulbt {low}, {low}, {k}"),
                    format!("smulbt {to}, {to}, {k}"),
                    format!("pkhtb {to}, {to}, {low}, asr #16"),
                ]);
                Some(to)
            }
            Step::Add(..) | Step::Sub(..) | Step::Minus(_) => {
                let minus = matches!(step, Step::Minus(_));
                let to = match dying {
                    Some(register) if !minus => register,
                    _ => self.take(now),
                };
                if minus {
                    self.code.push(format!("mov {to}, #0"));
                }
                let name = if matches!(step, Step::Add(..)) { "uadd16" } else { "usub16" };
                let (a, b) = if minus { (to, reads[0]) } else { (reads[0], reads[1]) };
                self.code.push(format!("{name} {to}, {a}, {b}"));
                Some(to)
            }
        };
        self.done(step, now);
        if let Some(to) = result {
            let read = !self.uses[now].is_empty();
            self.put(to, read.then_some(now));
        }
        self.pinned.clear();
    }
}

impl Writer<'_> {
    /// The beginning of a statement in assembly, and its lines, with those of the preprocessor between them; operands
    /// are to follow.
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

    /// Renders a block in steps.
    pub fn assembly(&mut self, assembly: &Assembly) {
        let same = |a, b| self.same(a, b);
        let all = (0..=FIXED).map(|fixed| Allocation::of(assembly, &same, fixed));
        let Some(allocation) = all.min_by_key(Allocation::cycles) else { return };
        let Allocation { ref code, size, .. } = allocation;
        let (k, free) = (allocation.constant(), allocation.held[0].0);
        let pointers = &REGISTERS[..assembly.pointers.len()];
        let mut lines = vec![
            // Compilers may keep this one for themselves.
            "push {r7}".to_string(),
            format!("sub sp, #{}", 4 * size),
            format!("add {free}, {}, #{}", pointers[0], 2 * assembly.lanes),
            format!("str {free}, [sp]"),
            format!("movw {k}, #2"),
            format!("movt {k}, #{}", assembly.q),
        ];
        for (value, register) in &allocation.fixed {
            if let Step::Constant(constant) = assembly.steps[*value] {
                lines.extend(Allocation::constant_into(register, constant));
            }
        }
        lines.extend([".p2align 2".into(), "1:".into()]);
        lines.extend(code.iter().cloned());
        lines.push(format!("ldr {free}, [sp]"));
        lines.extend(pointers.iter().map(|pointer| format!("add {pointer}, #4")));
        lines.push(format!("cmp {}, {free}", pointers[0]));
        lines.push("bne 1b".into());
        lines.push(format!("add sp, #{}", 4 * size));
        lines.push("pop {r7}".into());
        self.line("{");
        self.depth += 1;
        for (number, (buffer, at)) in assembly.pointers.iter().enumerate() {
            let (name, at) = (self.buffer(*buffer), index(at, None));
            let register = REGISTERS[number];
            self.line(&format!(
                "register uintptr_t p{number} __asm__(\"{register}\") = (uintptr_t)&{name}[{at}];"
            ));
        }
        self.long_assembly(&lines.iter().map(|line| format!("\"{line}\\n\"")).collect::<Vec<_>>());
        let outs: Vec<String> = (0..pointers.len()).map(|p| format!("\"+r\"(p{p})")).collect();
        self.line(&format!(": {}", outs.join(", ")));
        self.line(":");
        let taken = &REGISTERS[pointers.len()..REGISTERS.len() - 1];
        let taken: Vec<String> = taken.iter().map(|register| format!("\"{register}\"")).collect();
        self.line(&format!(": {}, \"cc\", \"memory\");", taken.join(", ")));
        self.end_assembly();
        self.depth -= 1;
        self.line("}");
    }
}
