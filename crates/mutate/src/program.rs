//! Mutants of a program before it is emitted: every reduction left out in turn, wrong factors,
//! short loops, wrong offsets. They are compiled like the original.

use crate::mutant::{Change, Class, Mutant, Mutants};
use ringforge_program::ir::{Block, Factor, Index, Op, Program, Role, Stmt, Value};
use ringforge_program::method::{Modulus, inverse_word};

/// A small change of a program. It is kept instead of the changed programs, because there would be thousands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Every use of operation `at` of a block takes `instead`, an earlier one.
    Forward {
        /// Whether the program is expanded to word operations first.
        words: bool,
        /// The block, counted over all procedures.
        block: usize,
        /// The operation.
        at: Value,
        /// What is taken instead of its result.
        instead: Value,
    },
    /// An operation is another one.
    Replace {
        /// Whether the program is expanded to word operations first.
        words: bool,
        /// The block, counted over all procedures.
        block: usize,
        /// The operation's place.
        at: usize,
        /// The new operation.
        op: Op,
    },
    /// A factor of a table is negated, or exchanged with the one before.
    Factor {
        /// The procedure.
        procedure: usize,
        /// Its buffer.
        buffer: usize,
        /// The factor's place.
        at: usize,
        /// Exchanged, not negated.
        swap: bool,
    },
    /// A loop ends one iteration early.
    Shorten(
        /// The loop, counted over all procedures among those of at least two iterations.
        usize,
    ),
}

impl Edit {
    /// The changed program.
    pub fn apply(&self, program: &Program) -> Program {
        match self {
            Edit::Forward { words, block, at, instead } => {
                with_block(&level(program, *words), *block, |b| forward(b, *at, *instead))
            }
            Edit::Replace { words, block, at, op } => {
                with_block(&level(program, *words), *block, |b| b.ops[*at] = op.clone())
            }
            Edit::Factor { procedure, buffer, at, swap } => {
                let mut new = program.clone();
                let role = &mut new.procedures[*procedure].buffers[*buffer].role;
                if let Role::Factors(factors) = role {
                    if *swap {
                        factors.swap(at - 1, *at);
                    } else {
                        let q = program.procedures[*procedure].q;
                        factors[*at] = (q - factors[*at]) % q;
                    }
                }
                new
            }
            Edit::Shorten(at) => shortened(program, *at).map_or_else(|| program.clone(), |s| s.1),
        }
    }
}

fn level(program: &Program, words: bool) -> Program {
    if words { program.expand() } else { program.clone() }
}

/// Every such mutant of `program`.
pub fn program_mutants(program: &Program) -> Mutants {
    let mut found = Vec::new();
    modular_level(program, &mut found);
    word_level(&program.expand(), &mut found);
    let mutant = |(class, what, edit)| Mutant { class, what, change: Change::Program(edit) };
    Mutants { made: found.into_iter().map(mutant).collect(), ..Mutants::default() }
}

type Found = Vec<(Class, String, Edit)>;

/// A block with the stage and procedure it stands in.
struct Located {
    place: String,
    modulus: Modulus,
    block: Block,
}

fn visit(body: &[Stmt], place: &str, modulus: Modulus, out: &mut Vec<Located>) {
    for stmt in body {
        match stmt {
            Stmt::Stage { title, body, .. } => visit(body, title, modulus, out),
            Stmt::Loop { body, .. } => visit(body, place, modulus, out),
            Stmt::Block(block) => {
                out.push(Located { place: place.into(), modulus, block: block.clone() });
            }
            Stmt::Call { .. } => {}
        }
    }
}

/// All blocks, procedure by procedure, in the order of [`replace_block`].
fn blocks(program: &Program) -> Vec<Located> {
    let mut out = Vec::new();
    for procedure in &program.procedures {
        visit(&procedure.body, &procedure.name, procedure.modulus(), &mut out);
    }
    out
}

fn edit(body: &mut [Stmt], at: &mut usize, change: &mut dyn FnMut(&mut Block)) {
    for stmt in body {
        match stmt {
            Stmt::Stage { body, .. } | Stmt::Loop { body, .. } => edit(body, at, change),
            Stmt::Block(block) => {
                if *at == 0 {
                    change(block);
                }
                *at = at.wrapping_sub(1);
            }
            Stmt::Call { .. } => {}
        }
    }
}

/// The program with block `at` (in the order of [`blocks`]) changed.
fn with_block(program: &Program, at: usize, change: impl Fn(&mut Block)) -> Program {
    let mut program = program.clone();
    let mut left = at;
    for procedure in &mut program.procedures {
        edit(&mut procedure.body, &mut left, &mut |block| change(block));
    }
    program
}

/// The block with every use of `old` replaced by `new`, an earlier value.
fn forward(block: &mut Block, old: Value, new: Value) {
    let ops = std::mem::take(&mut block.ops);
    block.ops = ops
        .into_iter()
        .map(|op| op.map_operands(&mut |v| if v == old { new } else { v }))
        .collect();
}

fn modular_level(program: &Program, found: &mut Found) {
    for (k, Located { place, modulus, block }) in blocks(program).iter().enumerate() {
        for (i, op) in block.ops.iter().enumerate() {
            let value = Value(i as u32);
            match op {
                Op::Reduce { a, method } => found.push((
                    Class::ReductionDropped,
                    format!("{place}: operation {i}, reduction ({method:?}) left out"),
                    Edit::Forward { words: false, block: k, at: value, instead: *a },
                )),
                Op::Freeze { a, method } => found.push((
                    Class::FreezeDropped,
                    format!("{place}: operation {i}, freezing ({method:?}) left out"),
                    Edit::Forward { words: false, block: k, at: value, instead: *a },
                )),
                Op::MulMod { a, factor: Factor::Splat(c), method } => {
                    let new = Op::MulMod {
                        a: *a,
                        factor: Factor::Splat((c + 1) % modulus.q),
                        method: *method,
                    };
                    found.push((
                        Class::FactorChanged,
                        format!("{place}: operation {i}, factor {c} one more"),
                        Edit::Replace { words: false, block: k, at: i, op: new },
                    ));
                }
                _ => {}
            }
        }
    }
    factor_tables(program, found);
    loops(program, found);
}

fn factor_tables(program: &Program, found: &mut Found) {
    for (p, procedure) in program.procedures.iter().enumerate() {
        for (b, buffer) in procedure.buffers.iter().enumerate() {
            let Role::Factors(factors) = &buffer.role else { continue };
            let edit = |at, swap| Edit::Factor { procedure: p, buffer: b, at, swap };
            for (i, &c) in factors.iter().enumerate() {
                let place = format!("{}: table {}, factor {i}", procedure.name, buffer.name);
                found.push((
                    Class::FactorChanged,
                    format!("{place} ({c}) negated"),
                    edit(i, false),
                ));
                if i > 0 && factors[i - 1] != c {
                    found.push((
                        Class::FactorsSwapped,
                        format!("{place} exchanged with the one before"),
                        edit(i, true),
                    ));
                }
            }
        }
    }
}

/// Shortens the loop that `at` counts down to; returns its description.
fn shorten(body: &mut [Stmt], at: &mut usize) -> Option<String> {
    for stmt in body {
        match stmt {
            Stmt::Stage { body, .. } => {
                if let Some(what) = shorten(body, at) {
                    return Some(what);
                }
            }
            Stmt::Loop { counter, count, body } => {
                if *at == 0 && *count > 1 {
                    *count -= 1;
                    return Some(format!("loop {} ends at {count}", counter.0));
                }
                *at = at.wrapping_sub(usize::from(*count > 1));
                if let Some(what) = shorten(body, at) {
                    return Some(what);
                }
            }
            _ => {}
        }
    }
    None
}

/// Loop `at` shortened: its description and the program; `None` if there are fewer loops.
fn shortened(program: &Program, at: usize) -> Option<(String, Program)> {
    let mut program = program.clone();
    let mut left = at;
    let what = program
        .procedures
        .iter_mut()
        .find_map(|p| shorten(&mut p.body, &mut left).map(|what| format!("{}: {what}", p.name)))?;
    Some((what, program))
}

fn loops(program: &Program, found: &mut Found) {
    let mut k = 0;
    while let Some((what, _)) = shortened(program, k) {
        found.push((Class::LoopShort, what, Edit::Shorten(k)));
        k += 1;
    }
}

fn word_level(words: &Program, found: &mut Found) {
    for (k, Located { place, modulus: m, block }) in blocks(words).iter().enumerate() {
        let q = Op::Splat(m.q as i32);
        let op = |v: Value| &block.ops[v.0 as usize];
        for (i, this) in block.ops.iter().enumerate() {
            let value = Value(i as u32);
            // x - high or low half of t·q: the correction of every modular product.
            if let Op::Sub(x, m) = *this
                && let Op::MulHi(t, modulus) | Op::MulLo(t, modulus) = *op(m)
                && *op(modulus) == q
            {
                let class = match op(x) {
                    Op::Blend { .. } => Class::NarrowUncorrected,
                    Op::Sar(..) => Class::FreezeDropped,
                    // A reduction of x itself: at the modular level it is one operation.
                    _ if op(t).operands().contains(&x) => continue,
                    Op::MulHi(..) | Op::MulLo(..) => Class::ProductUncorrected,
                    _ => continue,
                };
                found.push((
                    class,
                    format!("{place}: word operation {i}, the correction left out"),
                    Edit::Forward { words: true, block: k, at: value, instead: x },
                ));
            }
            for (class, what, new) in off_by_one(this, *m) {
                found.push((
                    class,
                    format!("{place}: word operation {i}, {what}"),
                    Edit::Replace { words: true, block: k, at: i, op: new },
                ));
            }
        }
    }
}

fn moved(at: &Index, by: i64) -> Index {
    Index { base: at.base + by, terms: at.terms.clone() }
}

/// The memory operation one word to the left or right; constants one off.
fn off_by_one(op: &Op, m: Modulus) -> Vec<(Class, String, Op)> {
    let mut out = Vec::new();
    for by in [1, -1] {
        let new = match op {
            Op::Load { buffer, at } => Op::Load { buffer: *buffer, at: moved(at, by) },
            Op::LoadPartial { buffer, at, count } => {
                Op::LoadPartial { buffer: *buffer, at: moved(at, by), count: *count }
            }
            Op::BroadcastPair { buffer, at } => {
                Op::BroadcastPair { buffer: *buffer, at: moved(at, by) }
            }
            Op::Broadcast { buffer, at } => Op::Broadcast { buffer: *buffer, at: moved(at, by) },
            Op::Store { buffer, at, a } => Op::Store { buffer: *buffer, at: moved(at, by), a: *a },
            Op::StorePartial { buffer, at, count, a } => {
                Op::StorePartial { buffer: *buffer, at: moved(at, by), count: *count, a: *a }
            }
            Op::AddSum { buffer, at, a } => {
                Op::AddSum { buffer: *buffer, at: moved(at, by), a: *a }
            }
            _ => break,
        };
        out.push((Class::OffsetWrong, format!("{by:+} word"), new));
    }
    if let Op::Splat(word) = *op {
        let known = [m.q as i64, inverse_word(m), -inverse_word(m)];
        let name = if known.contains(&i64::from(word)) { "constant of q" } else { "constant" };
        out.push((
            Class::FactorChanged,
            format!("{name} {word} one more"),
            Op::Splat(m.word(i64::from(word) + 1) as i32),
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_program::ir::{Buffer, BufferId, LoopVar, Procedure};
    use ringforge_program::method::ReduceMethod;

    /// c[i] = reduce(a[i]), two vectors in a loop.
    fn program() -> Program {
        let buffer = |name: &str, role| Buffer {
            name: name.into(),
            role,
            words: 32,
            bits: 16,
            align: 2,
            range: Some((-9, 9)),
        };
        let at = Index::strided(0, LoopVar(0), 16);
        let mut block = Block::default();
        let a = block.push(Op::Load { buffer: BufferId(1), at: at.clone() });
        let a = block.push(Op::Add(a, a));
        let a = block.push(Op::Reduce { a, method: ReduceMethod::Barrett });
        block.push(Op::Store { buffer: BufferId(0), at, a });
        Program {
            name: "t".into(),
            ring: "Z4591[x]/(x^32 + 1)".into(),
            q: 4591,
            word_bits: 16,
            registers: ringforge_targets::AVX2.registers,
            transform: None,
            plan: String::new(),
            schedule: String::new(),
            in_order: 0,
            loops: false,
            procedures: vec![Procedure {
                name: "mul".into(),
                exported: true,
                computes: Some(ringforge_program::ir::Computes::Product),
                copies: 1,
                q: 4591,
                bits: 16,
                buffers: vec![buffer("c", Role::Output), buffer("a", Role::Input)],
                body: vec![Stmt::Stage {
                    title: "all".into(),
                    cite: String::new(),
                    body: vec![Stmt::Loop {
                        counter: LoopVar(0),
                        count: 2,
                        body: vec![Stmt::Block(block)],
                    }],
                }],
            }],
        }
    }

    #[test]
    fn every_kind_is_found_once() {
        let program = program();
        let mut found = Vec::new();
        modular_level(&program, &mut found);
        let classes: Vec<Class> = found.iter().map(|f| f.0).collect();
        assert_eq!(classes, [Class::ReductionDropped, Class::LoopShort]);
        let dropped = &blocks(&found[0].2.apply(&program))[0].block;
        // The store takes the sum; the reduction stays behind, unused.
        assert!(matches!(dropped.ops[3], Op::Store { a: Value(1), .. }), "{dropped:?}");
        assert!(matches!(
            &found[1].2.apply(&program).procedures[0].body[0],
            Stmt::Stage { body, .. } if matches!(body[0], Stmt::Loop { count: 1, .. })
        ));
        assert!(found[0].1.starts_with("all: operation 2"), "{}", found[0].1);
    }

    #[test]
    fn words_are_moved_and_constants_changed() {
        let words = program().expand();
        let mut found = Vec::new();
        word_level(&words, &mut found);
        let count = |class| found.iter().filter(|f| f.0 == class).count();
        assert_eq!(count(Class::OffsetWrong), 4, "load and store, both ways");
        assert_eq!(count(Class::FactorChanged), 2, "the modulus and its inverse");
        assert!(found.iter().all(|f| f.2.apply(&program()) != words));
    }
}
