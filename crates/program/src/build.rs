//! Helpers for writing procedures.

use crate::ir::*;

/// A procedure in the making.
#[derive(Clone, Debug)]
pub struct Builder {
    procedure: Procedure,
    counters: u32,
}

impl Builder {
    /// An empty procedure.
    pub fn new(name: &str, exported: bool) -> Builder {
        let procedure =
            Procedure { name: name.into(), exported, buffers: Vec::new(), body: Vec::new() };
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
        self.procedure.buffers.push(Buffer { name: name.into(), role, words, align, range });
        BufferId(self.procedure.buffers.len() as u32 - 1)
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
