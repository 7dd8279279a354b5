//! What a block's operations become: instructions, as the emitters write them and compilers leave them.

use ringforge_program::ir::*;
use ringforge_targets::{Kind, Processor, Target};

/// Words of memory that a step reads or writes.
pub struct Access {
    pub buffer: BufferId,
    pub at: Index,
    pub count: u32,
    pub stride: i64,
    pub store: bool,
}

/// An instruction.
pub struct Step {
    pub kind: Kind,
    /// Whether it enters by itself: a load that one instruction uses is a memory operand of it.
    pub alone: bool,
    /// Bytes of its code.
    pub bytes: u64,
    /// Earlier steps of the block.
    pub operands: Vec<u32>,
    pub access: Option<Access>,
}

impl Step {
    fn new(kind: Kind, operands: Vec<u32>, access: Option<Access>) -> Step {
        Step { kind, alone: true, bytes: 0, operands, access }
    }

    /// A constant, which is no instruction unless it has to be loaded again.
    fn is_constant(&self) -> bool {
        self.kind == Kind::Load && self.access.is_none() && self.operands.is_empty()
    }
}

/// A block's instructions.
pub struct Spelled {
    pub steps: Vec<Step>,
}

impl Spelled {
    /// Bytes of their code.
    pub fn bytes(&self) -> u64 {
        self.steps.iter().map(|step| step.bytes).sum()
    }
}

/// What the values of a block are: the steps that make them, a part at a time.
struct Speller<'a> {
    program: &'a Program,
    procedure: &'a Procedure,
    block: &'a Block,
    target: &'a Target,
    processor: &'a Processor,
    steps: Vec<Step>,
    /// For each value the step of each of the machine's registers; `None` for zeros.
    made: Vec<Vec<Option<u32>>>,
    /// The values' shuffled forms, which both results of a deinterleaving share.
    sorted: Vec<Vec<Option<u32>>>,
}

/// The instructions of a block on a target.
pub fn spell(
    program: &Program,
    procedure: &Procedure,
    block: &Block,
    target: &Target,
    processor: &Processor,
) -> Spelled {
    let mut speller = Speller {
        program,
        procedure,
        block,
        target,
        processor,
        steps: Vec::new(),
        made: Vec::new(),
        sorted: Vec::new(),
    };
    for op in &block.ops {
        let made = speller.op(op);
        speller.made.push(made);
        speller.sorted.push(Vec::new());
    }
    let mut steps = speller.steps;
    spill(&mut steps, processor.registers);
    fuse(&mut steps, processor.instruction);
    Spelled { steps }
}

/// Loads that one instruction uses, and that nothing is done to, are its memory operands.
fn fuse(steps: &mut [Step], bytes: [u64; 2]) {
    let mut uses = vec![0u32; steps.len()];
    for step in steps.iter() {
        step.operands.iter().for_each(|&i| uses[i as usize] += 1);
    }
    let folds = |kind: Kind| !matches!(kind, Kind::Load | Kind::Store);
    let mut used_by_arithmetic = vec![false; steps.len()];
    let mut addresses: Vec<bool> = steps.iter().map(|s| !folds(s.kind)).collect();
    for (i, step) in steps.iter().enumerate().filter(|(_, s)| folds(s.kind)) {
        // An instruction has one memory operand.
        let load = step
            .operands
            .iter()
            .find(|&&i| steps[i as usize].kind == Kind::Load && uses[i as usize] == 1);
        if let Some(&load) = load {
            used_by_arithmetic[load as usize] = true;
            addresses[i] = true;
        }
    }
    for (i, step) in steps.iter_mut().enumerate() {
        step.alone = !used_by_arithmetic[i];
        step.bytes = if step.alone { bytes[usize::from(addresses[i])] } else { 0 };
    }
}

/// Stores and loads again what registers do not hold: of more values than registers the one whose next use is
/// furthest. Constants are there at first, and are loaded again from their tables.
fn spill(steps: &mut Vec<Step>, registers: usize) {
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); steps.len()];
    for (i, step) in steps.iter().enumerate().rev() {
        step.operands.iter().for_each(|&v| next[v as usize].push(i as u32));
    }
    let mut out: Vec<Step> = Vec::with_capacity(steps.len());
    // For each old step: where its value is now (the latest step that made or loaded it; none for constants that
    // nobody loaded), and the step of its store.
    let mut now: Vec<Option<u32>> = vec![None; steps.len()];
    let mut held: Vec<u32> = Vec::new();
    let mut stored: Vec<Option<u32>> = vec![None; steps.len()];
    let constant: Vec<bool> = steps.iter().map(Step::is_constant).collect();
    let taken = std::mem::take(steps);
    for (i, step) in taken.into_iter().enumerate() {
        for &v in &step.operands {
            if !held.contains(&v) {
                let from = stored[v as usize].into_iter().collect();
                now[v as usize] = Some(out.len() as u32);
                out.push(Step::new(Kind::Load, from, None));
                held.push(v);
            }
        }
        let operands = step.operands.iter().filter_map(|&v| now[v as usize]).collect();
        for &v in &step.operands {
            next[v as usize].retain(|&at| at > i as u32);
        }
        held.retain(|&v| !next[v as usize].is_empty());
        if !constant[i] {
            now[i] = Some(out.len() as u32);
            out.push(Step { operands, ..step });
        }
        if !next[i].is_empty() {
            held.push(i as u32);
        }
        while held.len() > registers {
            let furthest =
                held.iter().enumerate().max_by_key(|(_, v)| next[**v as usize].last().copied());
            let Some((at, &v)) = furthest else { break };
            held.swap_remove(at);
            let value = now[v as usize].filter(|_| !constant[v as usize]);
            if let (Some(value), None) = (value, stored[v as usize]) {
                stored[v as usize] = Some(out.len() as u32);
                out.push(Step::new(Kind::Store, vec![value], None));
            }
        }
    }
    *steps = out;
}

impl Speller<'_> {
    /// Registers of the machine that one of the program takes.
    fn pieces(&self) -> usize {
        self.target.pieces.max(1)
    }

    /// Words of the procedure in a register of the machine.
    fn words(&self) -> usize {
        self.program.lanes_of(self.procedure) / self.pieces()
    }

    /// An instruction; there is none if the adjacent load or store does its work.
    fn step(
        &mut self,
        kind: Kind,
        operands: &[Option<u32>],
        access: Option<Access>,
    ) -> Option<u32> {
        if !self.processor.has(kind) {
            return operands.iter().copied().flatten().next();
        }
        let mut operands: Vec<u32> = operands.iter().copied().flatten().collect();
        operands.dedup();
        self.steps.push(Step::new(kind, operands, access));
        Some(self.steps.len() as u32 - 1)
    }

    fn load(&mut self, buffer: BufferId, at: &Index, count: usize) -> Option<u32> {
        let access =
            Access { buffer, at: at.clone(), count: count as u32, stride: 1, store: false };
        let narrow = self.procedure.buffers[buffer.0 as usize].bits != self.procedure.bits;
        let loaded = self.step(Kind::Load, &[], Some(access));
        match narrow {
            true => self.step(Kind::Extend, &[loaded], None),
            false => loaded,
        }
    }

    /// A part beside another.
    fn put_beside(&mut self, low: Option<u32>, high: Option<u32>) -> Option<u32> {
        let loads = high.is_some_and(|i| self.steps[i as usize].kind == Kind::Load);
        self.step(if loads { Kind::Insert } else { Kind::Join }, &[low, high], None)
    }

    fn store(&mut self, buffer: BufferId, at: &Index, count: usize, from: Option<u32>) {
        let narrow = self.procedure.buffers[buffer.0 as usize].bits != self.procedure.bits;
        let from = match narrow {
            // Halves are packed, and put together.
            true => self.step(Kind::Permute, &[from], None),
            false => from,
        };
        let access = Access { buffer, at: at.clone(), count: count as u32, stride: 1, store: true };
        self.step(Kind::Store, &[from], Some(access));
    }

    /// Words `skip .. skip + count` of a register, each stored by itself, `stride` apart.
    fn words_apart(
        &mut self,
        buffer: BufferId,
        at: &Index,
        count: usize,
        stride: usize,
        from: Option<u32>,
    ) {
        for i in 0..count {
            let word = self.step(Kind::Shuffle, &[from], None);
            let access =
                Access { buffer, at: at.plus(i * stride), count: 1, stride: 1, store: true };
            self.step(Kind::Store, &[word], Some(access));
        }
    }

    /// Whether the block's strided stores to a buffer fill the places between their words.
    fn fills(&self, buffer: BufferId, stride: u32) -> bool {
        let alike = |op: &&Op| matches!(op, Op::StoreStrided { buffer: b, stride: s, .. } if (*b, *s) == (buffer, stride));
        self.block.ops.iter().filter(alike).count() >= stride as usize
    }

    /// A register whose words are stored between words of other registers. Compilers track single words, and combine
    /// neighbours one by one before they store them (clang 19 takes 110 instructions for four registers).
    fn words_together(&mut self, buffer: BufferId, at: &Index, stride: u32, from: Option<u32>) {
        let (words, distance) = (self.words(), stride as usize);
        for first in (0..words).step_by(distance) {
            let count = distance.min(words - first);
            let moved: Vec<Option<u32>> =
                (0..count).map(|_| self.step(Kind::Shuffle, &[from], None)).collect();
            let (count, stride) = (count as u32, i64::from(stride));
            let at = at.plus(first * distance);
            let access = Access { buffer, at, count, stride, store: true };
            self.step(Kind::Store, &moved, Some(access));
        }
    }

    /// A value's register number `i`.
    fn of(&self, v: Value, i: usize) -> Option<u32> {
        let all = &self.made[v.0 as usize];
        all.get(i).or(all.first()).copied().flatten()
    }

    /// One instruction on each register.
    fn each(&mut self, kind: Kind, operands: &[Value]) -> Vec<Option<u32>> {
        (0..self.pieces())
            .map(|i| {
                let operands: Vec<Option<u32>> = operands.iter().map(|&v| self.of(v, i)).collect();
                self.step(kind, &operands, None)
            })
            .collect()
    }

    /// A value with the even words of each part before the odd ones.
    fn even_then_odd(&mut self, v: Value) -> Vec<Option<u32>> {
        if self.sorted[v.0 as usize].is_empty() {
            self.sorted[v.0 as usize] = self.each(Kind::Permute, &[v]);
        }
        self.sorted[v.0 as usize].clone()
    }

    fn op(&mut self, op: &Op) -> Vec<Option<u32>> {
        let (pieces, words) = (self.pieces(), self.words());
        let part = self.program.registers.part_lanes(self.procedure.bits);
        match op {
            Op::Splat(0) => vec![None; pieces],
            Op::Splat(_) => vec![self.step(Kind::Load, &[], None); pieces],
            Op::Lanes(_) => (0..pieces).map(|_| self.step(Kind::Load, &[], None)).collect(),
            Op::Load { buffer, at } => {
                (0..pieces).map(|i| self.load(*buffer, &at.plus(words * i), words)).collect()
            }
            Op::LoadPartial { buffer, at, count } => {
                let (count, mut all) = (*count as usize, Vec::new());
                for i in 0..pieces {
                    let here = count.saturating_sub(words * i).min(words);
                    let mut loaded = None;
                    // A part, the other, and single words.
                    for done in (0..here).step_by(part) {
                        let next =
                            self.load(*buffer, &at.plus(words * i + done), part.min(here - done));
                        loaded = match loaded {
                            None => next,
                            before => self.put_beside(before, next),
                        };
                    }
                    all.push(loaded);
                }
                all
            }
            Op::LoadParts { buffer, at } => {
                let loaded: Vec<Option<u32>> =
                    at.iter().map(|at| self.load(*buffer, at, part)).collect();
                if pieces == loaded.len() {
                    return loaded;
                }
                vec![self.put_beside(loaded[0], loaded[1])]
            }
            Op::Broadcast { buffer, at } | Op::BroadcastPair { buffer, at } => {
                let count = if matches!(op, Op::Broadcast { .. }) { 1 } else { 2 };
                let loaded = self.load(*buffer, at, count);
                vec![loaded; pieces]
            }
            Op::Store { buffer, at, a } => {
                for i in 0..pieces {
                    self.store(*buffer, &at.plus(words * i), words, self.of(*a, i));
                }
                Vec::new()
            }
            Op::StoreParts { buffer, at, a } => {
                for (i, at) in at.iter().enumerate() {
                    let from = match pieces {
                        1 if i > 0 => {
                            let from = self.of(*a, 0);
                            self.step(Kind::Extract, &[from], None)
                        }
                        1 => self.of(*a, 0),
                        _ => self.of(*a, i),
                    };
                    self.store(*buffer, at, part, from);
                }
                Vec::new()
            }
            Op::StorePartial { buffer, at, count, a } => {
                let count = *count as usize;
                for i in 0..pieces {
                    let here = count.saturating_sub(words * i).min(words);
                    let whole = here / part * part;
                    if whole > 0 {
                        self.store(*buffer, &at.plus(words * i), whole, self.of(*a, i));
                    }
                    self.words_apart(
                        *buffer,
                        &at.plus(words * i + whole),
                        here - whole,
                        1,
                        self.of(*a, i),
                    );
                }
                Vec::new()
            }
            Op::AddSum { buffer, at, a } => {
                // Halves are added until one word is left.
                let mut sum = self.of(*a, 0);
                for i in 1..pieces {
                    let other = self.of(*a, i);
                    sum = self.step(Kind::Plain, &[sum, other], None);
                }
                for _ in 0..words.ilog2() {
                    let half = self.step(Kind::Shuffle, &[sum], None);
                    sum = self.step(Kind::Plain, &[sum, half], None);
                }
                let old = self.load(*buffer, at, 1);
                let sum = self.step(Kind::Plain, &[old, sum], None);
                self.store(*buffer, at, 1, sum);
                Vec::new()
            }
            Op::StoreStrided { buffer, at, stride, a } => {
                let distance = *stride as usize;
                for i in 0..pieces {
                    let (at, from) = (at.plus(words * i * distance), self.of(*a, i));
                    match self.fills(*buffer, *stride) {
                        true => self.words_together(*buffer, &at, *stride, from),
                        false => self.words_apart(*buffer, &at, words, distance, from),
                    }
                }
                Vec::new()
            }
            Op::MulLo(a, b) if self.procedure.bits == 32 => self.each(Kind::MultiplyLow, &[*a, *b]),
            Op::MulLoWide(a, b) => self.each(Kind::MultiplyLow, &[*a, *b]),
            Op::MulLo(a, b)
            | Op::MulHi(a, b)
            | Op::MulHiU(a, b)
            | Op::MulHrs(a, b)
            | Op::PairDot(a, b)
            | Op::MulEven(a, b) => self.each(Kind::Multiply, &[*a, *b]),
            Op::PairDotAdd { acc, a, b } => self.each(Kind::Multiply, &[*acc, *a, *b]),
            Op::Shl(a, _)
            | Op::Sar(a, _)
            | Op::Shr(a, _)
            | Op::ShlWide(a, _)
            | Op::SarWide(a, _)
            | Op::ShrWide(a, _) => self.each(Kind::Shift, &[*a]),
            Op::Add(a, b)
            | Op::Sub(a, b)
            | Op::AddWide(a, b)
            | Op::SubWide(a, b)
            | Op::And(a, b)
            | Op::Or(a, b)
            | Op::Xor(a, b) => self.each(Kind::Plain, &[*a, *b]),
            Op::Greater(a, b) | Op::MinU(a, b) | Op::Min(a, b) | Op::Max(a, b) => {
                self.each(Kind::Compare, &[*a, *b])
            }
            Op::Blend { a, b, mask } => {
                // Of both words of each pair it is a blend of words of 32 bits.
                let pairs = (*mask & 0x55) << 1 == *mask & 0xaa || self.procedure.bits == 32;
                self.each(if pairs { Kind::Plain } else { Kind::Blend }, &[*a, *b])
            }
            Op::SwapPairs(a) | Op::OddToEven(a) if self.procedure.bits == 32 => {
                self.each(Kind::Shuffle, &[*a])
            }
            Op::SwapPairs(a) | Op::OddToEven(a) | Op::PermuteParts { a, .. } => {
                self.each(Kind::Permute, &[*a])
            }
            Op::Parts { a, b, pick } => match pieces {
                1 => match pick[..] {
                    // Parts that stay in their places are blended.
                    [0 | 2, 1 | 3] => self.each(Kind::Plain, &[*a, *b]),
                    _ => self.each(Kind::Cross, &[*a, *b]),
                },
                _ => pick
                    .iter()
                    .map(|&p| self.of(if p < 2 { *a } else { *b }, usize::from(p % 2)))
                    .collect(),
            },
            Op::Interleave { a, b, .. } => self.each(Kind::Shuffle, &[*a, *b]),
            Op::Deinterleave { a, b, unit: 16, .. } => {
                let [a, b] = [*a, *b].map(|v| self.even_then_odd(v));
                a.into_iter().zip(b).map(|(a, b)| self.step(Kind::Shuffle, &[a, b], None)).collect()
            }
            Op::Deinterleave { a, b, .. } => self.each(Kind::Shuffle, &[*a, *b]),
            Op::MulMod { .. }
            | Op::Reduce { .. }
            | Op::Narrow { .. }
            | Op::MulWords { .. }
            | Op::Unsigned(_)
            | Op::Freeze { .. } => {
                vec![None; pieces] // expanded before
            }
        }
    }
}
