//! What a program costs: operations by kind, stage by stage and in total.
//!
//! Counts are static and exact, since trip counts are constants: loops multiply, calls count
//! where they are made. Vector operations are counted once per register.

use crate::run::exported;
use crate::walk::Fault;
use ringforge_program::ir::{Op, Procedure, Program, Stmt, Unsigned};
use serde::Serialize;
use std::collections::HashMap;
use std::ops::AddAssign;

/// Operations of a stage, in registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Modular products by constants.
    pub modular_products: u64,
    /// Reductions of single words.
    pub reductions: u64,
    /// Reductions of wide sums to words.
    pub narrowings: u64,
    /// Modular products of two variables.
    pub word_products: u64,
    /// Canonical residues.
    pub freezes: u64,
    /// Word operations that use the multiplier.
    pub multiplies: u64,
    /// Additions, subtractions.
    pub additions: u64,
    /// Shifts, comparisons, minima, logic.
    pub logic: u64,
    /// Moves between lanes.
    pub shuffles: u64,
    /// Loads, broadcasts included.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
}

impl Counts {
    /// All operations of the processor's vector unit: neither loads, stores nor constants.
    pub fn arithmetic(&self) -> u64 {
        self.multiplies + self.additions + self.logic + self.shuffles
    }

    fn count(&mut self, op: &Op, times: u64) {
        let field = match op {
            Op::MulMod { .. } => &mut self.modular_products,
            Op::Reduce { .. } => &mut self.reductions,
            Op::Narrow { .. } => &mut self.narrowings,
            Op::MulWords { .. } => &mut self.word_products,
            Op::Freeze { .. } => &mut self.freezes,
            Op::Unsigned(op) => match op {
                // Counted as word operations.
                Unsigned::Add(..) | Unsigned::Sub { .. } => return,
                Unsigned::Mul { .. } => &mut self.modular_products,
                Unsigned::MulWords { .. } => &mut self.word_products,
                Unsigned::Reduce { .. } => &mut self.reductions,
            },
            Op::MulLo(..)
            | Op::MulHi(..)
            | Op::MulHiU(..)
            | Op::MulHrs(..)
            | Op::PairDot(..)
            | Op::MulEven(..)
            | Op::MulLoWide(..) => &mut self.multiplies,
            Op::PairDotAdd { .. } => {
                self.additions += times;
                &mut self.multiplies
            }
            Op::Add(..) | Op::Sub(..) | Op::AddWide(..) | Op::SubWide(..) => &mut self.additions,
            Op::Shl(..)
            | Op::Sar(..)
            | Op::Shr(..)
            | Op::ShlWide(..)
            | Op::SarWide(..)
            | Op::ShrWide(..)
            | Op::Greater(..)
            | Op::MinU(..)
            | Op::Min(..)
            | Op::Max(..)
            | Op::And(..)
            | Op::Or(..)
            | Op::Xor(..) => &mut self.logic,
            Op::Blend { .. }
            | Op::SwapPairs(..)
            | Op::OddToEven(..)
            | Op::PermuteParts { .. }
            | Op::Parts { .. }
            | Op::Interleave { .. }
            | Op::Deinterleave { .. } => &mut self.shuffles,
            Op::Load { .. }
            | Op::LoadPartial { .. }
            | Op::LoadParts { .. }
            | Op::Broadcast { .. }
            | Op::BroadcastPair { .. } => &mut self.loads,
            Op::Store { .. }
            | Op::StorePartial { .. }
            | Op::StoreParts { .. }
            | Op::StoreStrided { .. }
            | Op::AddSum { .. } => &mut self.stores,
            Op::Splat(_) | Op::Lanes(_) => return,
        };
        *field += times;
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, o: Counts) {
        self.modular_products += o.modular_products;
        self.reductions += o.reductions;
        self.narrowings += o.narrowings;
        self.word_products += o.word_products;
        self.freezes += o.freezes;
        self.multiplies += o.multiplies;
        self.additions += o.additions;
        self.logic += o.logic;
        self.shuffles += o.shuffles;
        self.loads += o.loads;
        self.stores += o.stores;
    }
}

/// The counts of one stage, without the stages inside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageCounts {
    /// Titles, outermost stage first; empty for what lies outside all stages.
    pub path: Vec<String>,
    /// Its operations.
    pub counts: Counts,
}

/// The counts of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Costs {
    /// Lanes of the registers counted.
    pub lanes: usize,
    /// Bits of a word.
    pub word_bits: u8,
    /// In order of the first beginning.
    pub stages: Vec<StageCounts>,
    /// All stages together.
    pub total: Counts,
}

impl Costs {
    /// The vector instructions of the arithmetic on a machine with registers of `bits` bits.
    pub fn instructions(&self, bits: usize) -> u64 {
        self.total.arithmetic()
            * (self.lanes as u64 * u64::from(self.word_bits)).div_ceil(bits as u64)
    }
}

/// Counts the exported procedure with everything that it calls: modular operations as the
/// program states them, word operations as its expansion does.
pub fn count(program: &Program) -> Result<Costs, Fault> {
    let mut stages = Stages::default();
    for (program, modular) in [(program, true), (&program.expand(), false)] {
        let id = exported(program)?;
        let walk = Walk { program, modular };
        walk.procedure(&program.procedures[id.0 as usize], 1, &mut Vec::new(), &mut stages);
    }
    let stages: Vec<StageCounts> =
        stages.all.into_iter().filter(|s| s.counts != Counts::default()).collect();
    let mut total = Counts::default();
    stages.iter().for_each(|s| total += s.counts);
    Ok(Costs { lanes: program.lanes(), word_bits: program.word_bits, stages, total })
}

#[derive(Default)]
struct Stages {
    all: Vec<StageCounts>,
    index: HashMap<Vec<String>, usize>,
}

impl Stages {
    fn at(&mut self, path: &[String]) -> &mut Counts {
        let i = match self.index.get(path) {
            Some(&i) => i,
            None => {
                self.all.push(StageCounts { path: path.to_vec(), counts: Counts::default() });
                self.index.insert(path.to_vec(), self.all.len() - 1);
                self.all.len() - 1
            }
        };
        &mut self.all[i].counts
    }
}

struct Walk<'a> {
    program: &'a Program,
    modular: bool,
}

impl Walk<'_> {
    fn procedure(&self, p: &Procedure, times: u64, path: &mut Vec<String>, stages: &mut Stages) {
        self.statements(&p.body, times, path, stages);
    }

    fn statements(&self, body: &[Stmt], times: u64, path: &mut Vec<String>, stages: &mut Stages) {
        for stmt in body {
            match stmt {
                Stmt::Stage { title, body, .. } => {
                    path.push(title.clone());
                    stages.at(path);
                    self.statements(body, times, path, stages);
                    path.pop();
                }
                Stmt::Block(block) => {
                    let counts = stages.at(path);
                    let ours = block.ops.iter().filter(|op| op.is_modular() == self.modular);
                    ours.for_each(|op| counts.count(op, times));
                }
                Stmt::Loop { count, body, .. } => {
                    self.statements(body, times * u64::from(*count), path, stages);
                }
                Stmt::Call { procedure, .. } => {
                    let callee = &self.program.procedures[procedure.0 as usize];
                    self.procedure(callee, times, path, stages);
                }
            }
        }
    }
}
