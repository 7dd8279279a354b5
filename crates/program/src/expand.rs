//! Rewrites modular operations as word operations.
//!
//! Contract of [`Program::expand`]:
//!
//! * procedures, statements, loops, stages and memory operations stay as they are, in their order;
//! * every modular operation becomes word operations with the same result word for word (`apply` of
//!   its method);
//! * values are renumbered, and equal constants of a block become one;
//! * buffers with [`Role::Factors`] become pairs of [`Role::Table`]s at the end of the procedure's
//!   buffers, and their names end in the method's suffixes.
//!
//! Methods for words of 32 bits multiply even and odd words apart; others use operations on single
//! words only.

mod writer;

use crate::ir::*;
use crate::method::*;
use ringforge_targets::TABLE_ALIGNMENT;
use std::collections::HashMap;
use writer::Writer;

impl Program {
    /// The same program in word operations alone.
    pub fn expand(&self) -> Program {
        self.expanded(true)
    }

    /// The same for machines that know words but no pairs of words: a repeated factor fills a register
    /// of its table. Compilers multiply words that they load side by side as words, but a single one
    /// as the longer number that they take it for.
    pub fn expand_to_words(&self) -> Program {
        self.expanded(false)
    }

    fn expanded(&self, pairs: bool) -> Program {
        let mut out = self.clone();
        for procedure in &mut out.procedures {
            let body = std::mem::take(&mut procedure.body);
            let modulus = procedure.modulus();
            let copies = if pairs { 2 } else { self.lanes_of(procedure) };
            let (buffers, made) = (&mut procedure.buffers, HashMap::new());
            let mut tables = Tables { modulus, pairs, copies, buffers, made };
            procedure.body = statements(body, &mut tables);
            for buffer in &mut procedure.buffers {
                // What remains of a factor table is never read: keep ids stable, drop content.
                if matches!(buffer.role, Role::Factors(_)) {
                    buffer.role = Role::Table(Vec::new());
                    buffer.words = 0;
                }
            }
        }
        out
    }
}

/// What a table of constants holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Column {
    /// The first of a method's two constants.
    First,
    /// The second.
    Second,
    /// The first, one place on: where even words are multiplied, the odd words' constants.
    FirstOdd,
    /// The second, one place on.
    SecondOdd,
}

struct Tables<'a> {
    modulus: Modulus,
    /// Whether repeated words of 16 bits are broadcast as pairs.
    pairs: bool,
    /// Copies of each such word in its table.
    copies: usize,
    buffers: &'a mut Vec<Buffer>,
    made: HashMap<(BufferId, Constants, bool, Column), BufferId>,
}

/// Which two words a product by a residue needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Constants {
    /// Those of a signed method.
    Signed(MulMethod),
    /// Those of [`Unsigned::Mul`].
    Unsigned,
}

impl Constants {
    fn of(self, c: u64, modulus: Modulus) -> (i32, i32) {
        match self {
            Constants::Signed(method) => mul_constants(method, c, modulus),
            Constants::Unsigned => unsigned_constants(c, modulus),
        }
    }
}

impl Tables<'_> {
    /// The table of a buffer's constants; each word as often as a repeated one is kept where `repeated`.
    fn column(
        &mut self,
        buffer: BufferId,
        method: Constants,
        repeated: bool,
        column: Column,
    ) -> BufferId {
        // The Montgomery methods have the same constants.
        let method = match method {
            Constants::Signed(MulMethod::Barrett | MulMethod::Plantard) | Constants::Unsigned => {
                method
            }
            Constants::Signed(_) => Constants::Signed(MulMethod::Montgomery),
        };
        if let Some(&table) = self.made.get(&(buffer, method, repeated, column)) {
            return table;
        }
        let source = &self.buffers[buffer.0 as usize];
        let Role::Factors(residues) = &source.role else {
            panic!("the lowering gave a factor a buffer that holds none");
        };
        let mut words: Vec<i32> = residues
            .iter()
            .map(|&c| {
                let (first, second) = method.of(c, self.modulus);
                if matches!(column, Column::First | Column::FirstOdd) { first } else { second }
            })
            .collect();
        if matches!(column, Column::FirstOdd | Column::SecondOdd) {
            words.rotate_left(1);
        }
        if repeated {
            words = words.into_iter().flat_map(|w| vec![w; self.copies]).collect();
        }
        let suffix = match (method, column) {
            (Constants::Unsigned, Column::First) => "u",
            (Constants::Unsigned, _) => "uq",
            (Constants::Signed(MulMethod::Barrett), Column::First) => "c",
            (Constants::Signed(MulMethod::Barrett), _) => "cq",
            (Constants::Signed(MulMethod::Plantard), Column::First) => "p",
            (Constants::Signed(MulMethod::Plantard), _) => "pq",
            (_, Column::First) => "r",
            (_, Column::Second) => "rq",
            (_, Column::FirstOdd) => "ro",
            (_, Column::SecondOdd) => "rqo",
        };
        self.buffers.push(Buffer {
            name: format!("{}_{suffix}{}", source.name, if repeated { "2" } else { "" }),
            words: words.len(),
            bits: self.modulus.bits,
            role: Role::Table(words),
            align: TABLE_ALIGNMENT,
            range: None,
        });
        let table = BufferId(self.buffers.len() as u32 - 1);
        self.made.insert((buffer, method, repeated, column), table);
        table
    }
}

fn statements(body: Vec<Stmt>, tables: &mut Tables) -> Vec<Stmt> {
    body.into_iter()
        .map(|stmt| match stmt {
            Stmt::Stage { title, cite, body } => {
                Stmt::Stage { title, cite, body: statements(body, tables) }
            }
            Stmt::Loop { counter, count, body } => {
                Stmt::Loop { counter, count, body: statements(body, tables) }
            }
            Stmt::Block(block) => Stmt::Block(expand_block(block, tables)),
            call @ Stmt::Call { .. } => call,
        })
        .collect()
}

fn expand_block(block: Block, tables: &mut Tables) -> Block {
    let mut writer = Writer::new(tables.modulus);
    let mut new: Vec<Value> = Vec::with_capacity(block.ops.len());
    for op in block.ops {
        let value = match op.map_operands(&mut |v| new[v.0 as usize]) {
            Op::MulMod { a, factor, method } => writer.mul_mod(a, &factor, method, tables),
            Op::Reduce { a, method } => writer.reduce(a, method, tables),
            Op::Narrow { even, odd, method } => writer.narrow(even, odd, method),
            Op::MulWords { a, b, method } => writer.product_of_words(a, b, method),
            Op::Freeze { a, method } => writer.freeze(a, method),
            Op::Unsigned(op) => writer.unsigned(op, tables),
            other => writer.op(other),
        };
        new.push(value);
    }
    writer.block
}
