//! Helpers for writing procedures.

use crate::ir::*;
use crate::method::{Modulus, MulMethod, ReduceMethod};
use ringforge_ring::zq;
use ringforge_targets::ALIGNMENT;

/// Bits of a byte.
const BYTE: u8 = 8;

/// A procedure in the making.
#[derive(Clone, Debug)]
pub struct Builder {
    procedure: Procedure,
    counters: u32,
}

impl Builder {
    /// An empty procedure, exported where it says what it computes, with the modulus of its
    /// operations and its words (a bare number: words of 16 bits).
    pub fn new(name: &str, computes: Option<Computes>, modulus: impl Into<Modulus>) -> Builder {
        let Modulus { q, bits } = modulus.into();
        let procedure = Procedure {
            name: name.into(),
            exported: computes.is_some(),
            computes,
            copies: 1,
            q,
            bits,
            buffers: Vec::new(),
            body: Vec::new(),
        };
        Builder { procedure, counters: 0 }
    }

    /// A buffer.
    pub fn buffer(&mut self, name: &str, role: Role, words: usize, align: usize) -> BufferId {
        self.ranged(name, role, words, align, None)
    }

    /// A buffer with the range of its words at entry or exit.
    pub fn ranged(
        &mut self,
        name: &str,
        role: Role,
        words: usize,
        align: usize,
        range: Option<(i64, i64)>,
    ) -> BufferId {
        let bits = self.procedure.bits;
        self.procedure.buffers.push(Buffer { name: name.into(), role, words, bits, align, range });
        BufferId(self.procedure.buffers.len() as u32 - 1)
    }

    /// The buffer keeps its words in `bits` bits.
    pub fn narrow(&mut self, buffer: BufferId, bits: u8) {
        self.procedure.buffers[buffer.0 as usize].bits = bits;
    }

    /// The procedure's modulus and words.
    pub fn modulus(&self) -> Modulus {
        self.procedure.modulus()
    }

    /// A buffer whose name gets a number where another has it already.
    pub fn unique(&mut self, name: &str, role: Role, words: usize, align: usize) -> BufferId {
        let taken = |name: &str| self.procedure.buffers.iter().any(|b| b.name == name);
        let numbered = (1..).map(|k| if k == 1 { name.to_string() } else { format!("{name}{k}") });
        let free = numbered.into_iter().find(|n| !taken(n)).unwrap_or_default();
        self.buffer(&free, role, words, align)
    }

    /// An array of the procedure's own.
    pub fn local(&mut self, name: &str, words: usize) -> BufferId {
        self.buffer(name, Role::Local, words, ALIGNMENT)
    }

    /// The same, its name with a number where another has it already.
    pub fn fresh(&mut self, name: &str, words: usize) -> BufferId {
        self.unique(name, Role::Local, words, ALIGNMENT)
    }

    /// A buffer that keeps its words in `bits` bits.
    pub fn kept(&mut self, name: &str, role: Role, words: usize, bits: u8) -> BufferId {
        let buffer = self.buffer(name, role, words, ALIGNMENT);
        self.narrow(buffer, bits);
        buffer
    }

    /// The array of digit `k` in words of `bits` bits, within a range if there is one.
    pub fn digit(
        &mut self,
        k: usize,
        role: Role,
        (words, bits): (usize, u8),
        range: Option<(i64, i64)>,
    ) -> BufferId {
        let name = format!("u{}_", k + 1);
        let buffer = self.ranged(&name, role, words, ALIGNMENT, range);
        self.narrow(buffer, bits);
        buffer
    }

    /// A table of residues that words are multiplied with, its name as [`fresh`](Builder::fresh) has it.
    pub fn factors(&mut self, name: &str, all: Vec<u64>, align: usize) -> BufferId {
        let words = all.len();
        self.unique(name, Role::Factors(all), words, align)
    }

    /// A parameter of a known range, aligned as its words of `bits` bits are.
    pub fn parameter(
        &mut self,
        name: &str,
        role: Role,
        (words, bits): (usize, u8),
        range: Option<(i64, i64)>,
    ) -> BufferId {
        let buffer = self.ranged(name, role, words, usize::from(bits.div_ceil(BYTE)), range);
        self.narrow(buffer, bits);
        buffer
    }

    /// The arrays of a product in the ring, c, a and b, by the ranges of their words.
    pub fn product(&mut self, size: (usize, u8), ranges: [(i64, i64); 3]) -> [BufferId; 3] {
        let c = self.parameter("c", Role::Output, size, Some(ranges[0]));
        let [a, b] = self.operands(size, [ranges[1], ranges[2]]);
        [c, a, b]
    }

    /// The operands of a product, a and b.
    pub fn operands(&mut self, size: (usize, u8), ranges: [(i64, i64); 2]) -> [BufferId; 2] {
        [("a", ranges[0]), ("b", ranges[1])]
            .map(|(name, range)| self.parameter(name, Role::Input, size, Some(range)))
    }

    /// A table of n residues modulo q in words of so many bits, zeros behind those that are given.
    pub fn residues(
        &mut self,
        name: &str,
        mut all: Vec<u64>,
        (n, bits): (usize, u8),
        q: u64,
    ) -> BufferId {
        all.resize(n, 0);
        let words = all.iter().map(|&c| zq::centered(c, q) as i32).collect();
        self.kept(name, Role::Table(words), n, bits)
    }

    /// A fresh loop counter.
    pub fn counter(&mut self) -> LoopVar {
        self.counters += 1;
        LoopVar(self.counters - 1)
    }

    /// `count` runs of straight-line code. It gets a function of base and stride that returns where the
    /// word is that is `stride` words further on in each run.
    pub fn runs(
        &mut self,
        count: usize,
        write: impl FnOnce(&mut Block, &dyn Fn(usize, usize) -> Index),
    ) -> Stmt {
        let counter = self.counter();
        looped(counter, count, |block| {
            write(block, &|base, stride| Index::strided(base, counter, stride));
        })
    }

    /// Appends a stage of straight-line code.
    pub fn straight(&mut self, title: &str, cite: &str, write: impl FnOnce(&mut Block)) {
        self.stage(title, cite, vec![straight(write)]);
    }

    /// Appends a stage.
    pub fn stage(&mut self, title: &str, cite: &str, body: Vec<Stmt>) {
        self.procedure.body.push(Stmt::Stage { title: title.into(), cite: cite.into(), body });
    }

    /// The procedure.
    pub fn finish(self) -> Procedure {
        self.procedure
    }

    /// The procedure, behind others.
    pub fn finish_behind(self, procedures: &mut Vec<Procedure>) -> ProcedureId {
        procedures.push(self.procedure);
        ProcedureId(procedures.len() as u32 - 1)
    }
}

/// What lowering writes most.
impl Block {
    /// A register from memory.
    pub fn load(&mut self, buffer: BufferId, at: Index) -> Value {
        self.push(Op::Load { buffer, at })
    }

    /// A register from its parts in memory.
    pub fn load_parts(&mut self, buffer: BufferId, mut at: Vec<Index>) -> Value {
        self.push(match at.len() {
            1 => Op::Load { buffer, at: at.swap_remove(0) },
            _ => Op::LoadParts { buffer, at },
        })
    }

    /// A register to memory.
    pub fn store(&mut self, buffer: BufferId, at: Index, a: Value) {
        self.push(Op::Store { buffer, at, a });
    }

    /// A register's parts to memory.
    pub fn store_parts(&mut self, buffer: BufferId, mut at: Vec<Index>, a: Value) {
        self.push(match at.len() {
            1 => Op::Store { buffer, at: at.swap_remove(0), a },
            _ => Op::StoreParts { buffer, at, a },
        });
    }

    /// The first `count` words of a register of `lanes` to memory.
    pub fn store_first(
        &mut self,
        (buffer, at): (BufferId, Index),
        a: Value,
        (count, lanes): (usize, usize),
    ) {
        self.push(match count == lanes {
            true => Op::Store { buffer, at, a },
            false => Op::StorePartial { buffer, at, count: count as u32, a },
        });
    }

    /// A word in all places.
    pub fn splat(&mut self, word: i32) -> Value {
        self.push(Op::Splat(word))
    }

    /// A sum.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.push(Op::Add(a, b))
    }

    /// A sum and one more term, or its first one.
    pub fn plus(&mut self, sum: Option<Value>, term: Value) -> Value {
        self.joined(sum, term, false)
    }

    /// The same, the term taken off if `minus`.
    pub fn joined(&mut self, sum: Option<Value>, term: Value, minus: bool) -> Value {
        match (sum, minus) {
            (None, false) => term,
            (None, true) => self.negated(term),
            (Some(sum), false) => self.add(sum, term),
            (Some(sum), true) => self.sub(sum, term),
        }
    }

    /// A sum of words of twice the width and one more term, or its first one.
    pub fn plus_wide(&mut self, sum: Option<Value>, term: Value) -> Value {
        sum.map_or(term, |sum| self.push(Op::AddWide(sum, term)))
    }

    /// The same with dot products of pairs, which the instruction that multiplies adds if it is `fused`.
    pub fn plus_dots(&mut self, sum: Option<Value>, [a, b]: [Value; 2], fused: bool) -> Value {
        match sum.filter(|_| fused) {
            Some(acc) => self.push(Op::PairDotAdd { acc, a, b }),
            None => {
                let dots = self.push(Op::PairDot(a, b));
                self.plus_wide(sum, dots)
            }
        }
    }

    /// A difference.
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.push(Op::Sub(a, b))
    }

    /// 0 − a.
    pub fn negated(&mut self, a: Value) -> Value {
        let zero = self.splat(0);
        self.sub(zero, a)
    }

    /// A register with zeros in the lanes that are not on.
    pub fn masked(&mut self, a: Value, on: impl Iterator<Item = bool>) -> Value {
        let mask = self.push(Op::Lanes(on.map(|on| if on { -1 } else { 0 }).collect()));
        self.push(Op::And(a, mask))
    }

    /// The centred residue modulo a power of two, of words with so many bits more than it has.
    pub fn sign_extended(&mut self, a: Value, unused: u8) -> Value {
        if unused == 0 {
            return a;
        }
        let up = self.push(Op::Shl(a, unused));
        self.push(Op::Sar(up, unused))
    }

    /// A product by constants.
    pub fn times(&mut self, a: Value, factor: Factor, method: MulMethod) -> Value {
        self.push(Op::MulMod { a, factor, method })
    }

    /// A reduced register.
    pub fn reduced(&mut self, a: Value, method: ReduceMethod) -> Value {
        self.push(Op::Reduce { a, method })
    }
}

/// Straight-line code.
pub fn straight(write: impl FnOnce(&mut Block)) -> Stmt {
    let mut block = Block::default();
    write(&mut block);
    Stmt::Block(block)
}

/// A loop over straight-line code.
pub fn looped(counter: LoopVar, count: usize, write: impl FnOnce(&mut Block)) -> Stmt {
    repeat(counter, count, vec![straight(write)])
}

/// A call that gives buffers from their first words on.
pub fn call(procedure: ProcedureId, buffers: impl IntoIterator<Item = BufferId>) -> Stmt {
    call_at(procedure, buffers.into_iter().map(|buffer| (buffer, 0)))
}

/// A call that gives buffers from some of their words on.
pub fn call_at(
    procedure: ProcedureId,
    buffers: impl IntoIterator<Item = (BufferId, usize)>,
) -> Stmt {
    let at = |(buffer, word)| (buffer, Index::at(word));
    Stmt::Call { procedure, arguments: buffers.into_iter().map(at).collect() }
}

/// A loop, or nothing around the body where it would run once.
pub fn repeat(counter: LoopVar, count: usize, body: Vec<Stmt>) -> Stmt {
    Stmt::Loop { counter, count: count as u32, body }
}

/// Zeros in `words` words, a multiple of a register's, maybe none.
pub fn zeros(
    builder: &mut Builder,
    (buffer, from): (BufferId, usize),
    words: usize,
    lanes: usize,
) -> Option<Stmt> {
    (words > 0).then(|| {
        builder.runs(words / lanes, |block, at| {
            let a = block.splat(0);
            block.store(buffer, at(from, lanes), a);
        })
    })
}

/// A copy of `n` words into whole registers from word `start` on, zeros behind them, each register
/// changed on the way; `unroll` registers at a time.
pub fn copy(
    builder: &mut Builder,
    (from, to, start): (BufferId, BufferId, usize),
    (n, lanes, unroll): (usize, usize, usize),
    change: &dyn Fn(&mut Block, Value) -> Value,
) -> Vec<Stmt> {
    let one = |block: &mut Block, load: Op, at: Index| {
        let a = block.push(load);
        let a = change(block, a);
        block.store(to, at, a);
    };
    let counter = builder.counter();
    let mut body = repeat_unrolled(counter, n / lanes, unroll, &|block, at| {
        one(block, Op::Load { buffer: from, at: at(0, lanes) }, at(start, lanes));
    });
    let (whole, count) = (n - n % lanes, (n % lanes) as u32);
    if count > 0 {
        let load = Op::LoadPartial { buffer: from, at: Index::at(whole), count };
        body.push(straight(|block| one(block, load, Index::at(start + whole))));
    }
    body
}

/// One run of an unrolled body; it is given where words are, as a function of base and stride.
type Run<'a> = dyn Fn(&mut Block, &dyn Fn(usize, usize) -> Index) + 'a;

/// `count` runs of a body: a loop over `unroll` copies, and the rest after it. The body gets a
/// function of `base` and `stride` that returns the index `base + run·stride` in words.
pub fn repeat_unrolled(counter: LoopVar, count: usize, unroll: usize, body: &Run) -> Vec<Stmt> {
    let rounds = count / unroll;
    let mut looped = Block::default();
    for copy in 0..unroll {
        body(&mut looped, &|base, stride| {
            Index::strided(base + copy * stride, counter, unroll * stride)
        });
    }
    let mut rest = Block::default();
    for run in rounds * unroll..count {
        body(&mut rest, &|base, stride| Index::at(base + run * stride));
    }
    let mut all = Vec::new();
    if rounds > 0 {
        all.push(repeat(counter, rounds, vec![Stmt::Block(looped)]));
    }
    if !rest.ops.is_empty() {
        all.push(Stmt::Block(rest));
    }
    all
}
