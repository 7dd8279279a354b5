//! Helpers for writing procedures.

use crate::ir::*;
use crate::method::Modulus;

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

    /// A fresh loop counter.
    pub fn counter(&mut self) -> LoopVar {
        self.counters += 1;
        LoopVar(self.counters - 1)
    }

    /// Appends a stage.
    pub fn stage(&mut self, title: &str, cite: &str, body: Vec<Stmt>) {
        self.procedure.body.push(Stmt::Stage { title: title.into(), cite: cite.into(), body });
    }

    /// The procedure.
    pub fn finish(self) -> Procedure {
        self.procedure
    }
}

/// A loop, or nothing around the body where it would run once.
pub fn repeat(counter: LoopVar, count: usize, body: Vec<Stmt>) -> Stmt {
    Stmt::Loop { counter, count: count as u32, body }
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
