//! What C with intrinsics has in common on all machines: tables, functions, loops, calls,
//! addresses. A target adds its operations.

use crate::Preamble;
use crate::interface::{called_entries, comment};
use ringforge_program::ir::*;
use ringforge_targets::Target;
use std::fmt::Write;

/// One instruction set.
pub(crate) struct Machine<'a> {
    /// The suffix of the target's functions.
    pub suffix: &'a str,
    /// What it is, for the opening comment.
    pub what: &'a str,
    /// Includes and macros, `TARGET` among them: what every function is declared with.
    pub head: fn(&Machine) -> String,
    /// The argument of the target attribute, where there is one.
    pub attribute: &'a str,
    /// Whether its blocks keep the order of sums.
    pub keeps: bool,
    /// Whether an instruction repeats a word from memory over a register. The file then makes gcc use it.
    pub repeats: bool,
    /// After how many operations compilers start anew to order them; 0 for never.
    pub in_order: usize,
    /// The operations of a block, at a depth of indentation.
    pub block: fn(&mut String, &Place, &Block, usize),
}

/// Passes of gcc that undo what a program says. gcc reads intrinsics as plain sums and products.
/// `ter` moves every operation to its use and spills values that were in registers. The others turn
/// c ± (a − b) into four operations, and a product by a constant into two shifts and two sums.
pub(crate) const UNDOING: [&str; 6] = ["ter", "forwprop", "reassoc", "fre", "pre", "slsr"];

/// What other compilers do not see.
pub(crate) const IF_GCC: &str = "#if defined(__GNUC__) && !defined(__clang__)";

/// Whether value `i` of a block is a repeated word that others are multiplied with.
pub(crate) fn factor(block: &Block, i: usize) -> bool {
    let here = |v: Value| v.0 as usize == i;
    matches!(block.ops[i], Op::Splat(_))
        && block.ops.iter().any(|op| match *op {
            Op::MulLo(a, b) | Op::MulLoWide(a, b) => here(a) || here(b),
            _ => false,
        })
}

/// Where an operation stands.
pub(crate) struct Place<'a> {
    pub procedure: &'a Procedure,
    /// Bits of a word.
    pub bits: u8,
    /// [`Machine::keeps`].
    pub keeps: bool,
    /// [`Machine::in_order`].
    pub in_order: usize,
    /// [`Machine::repeats`].
    pub repeats: bool,
    /// Bits of the program's registers.
    pub registers: usize,
    /// Words that its registers repeat, each in its element: see [`repeated`].
    pub words: &'a [i32],
}

/// A word as an element of 32 bits: itself, or twice one of 16.
fn element(bits: u8, word: i32) -> i32 {
    if bits == 16 { word << 16 | word & 0xffff } else { word }
}

/// Elements that a procedure repeats over registers, each once, in the order of their first use.
fn repeated(procedure: &Procedure) -> Vec<i32> {
    let mut words = Vec::new();
    each_op(&procedure.body, &mut |op| match *op {
        Op::Splat(word) if word != 0 => {
            let element = element(procedure.bits, word);
            if !words.contains(&element) {
                words.push(element);
            }
        }
        _ => {}
    });
    words
}

impl Place<'_> {
    /// Where a repeated word stands in the procedure's table, as C.
    pub fn repeat(&self, word: i32) -> Option<String> {
        let element = element(self.bits, word);
        let at = self.words.iter().position(|&w| w == element)?;
        Some(format!("{}[{at}]", words_name(self.procedure)))
    }
}

/// The name of a procedure's table of repeated words.
fn words_name(procedure: &Procedure) -> String {
    format!("{}_repeated", procedure.name)
}

/// The program is not one for this target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Its registers are others.
    #[error(
        "this target's registers have {wanted} bits, the program is one for {bits}; lower the plan for this target"
    )]
    Registers {
        /// What the program has.
        bits: usize,
        /// What the target has.
        wanted: usize,
    },
    /// It has an operation for which there is no instruction.
    #[error(
        "{procedure}: this target has no {operation} for words of {bits} bits; choose another method in the schedule ({instead})"
    )]
    Operation {
        /// The procedure.
        procedure: String,
        /// The operation.
        operation: String,
        /// Bits of a word.
        bits: u8,
        /// What works.
        instead: &'static str,
    },
}

/// Refuses a program that does not fit a target's registers, or has an operation for which
/// `lacking` names a replacement.
pub(crate) fn check(
    program: &Program,
    target: &Target,
    lacking: fn(&Op, u8) -> Option<&'static str>,
) -> Result<(), Unfit> {
    if !target.widths().any(|registers| registers == program.registers) {
        let (bits, wanted) = (program.registers.bits, target.registers.bits);
        return Err(Unfit::Registers { bits, wanted });
    }
    for procedure in &program.procedures {
        let (mut found, bits) = (None, procedure.bits);
        each_op(&procedure.body, &mut |op| {
            found = found.take().or_else(|| lacking(op, bits).map(|i| (op.clone(), i)));
        });
        if let Some((op, instead)) = found {
            let operation = format!("{op:?}").chars().take_while(|c| c.is_alphanumeric()).collect();
            let procedure = procedure.name.clone();
            return Err(Unfit::Operation { procedure, operation, bits, instead });
        }
    }
    Ok(())
}

/// Calls `f` on every operation.
pub(crate) fn each_op(body: &[Stmt], f: &mut dyn FnMut(&Op)) {
    each_block(body, &mut |block| block.ops.iter().for_each(&mut *f));
}

/// Calls `f` on every block.
pub(crate) fn each_block(body: &[Stmt], f: &mut dyn FnMut(&Block)) {
    for stmt in body {
        match stmt {
            Stmt::Stage { body, .. } | Stmt::Loop { body, .. } => each_block(body, f),
            Stmt::Block(block) => f(block),
            Stmt::Call { .. } => {}
        }
    }
}

/// A program of word operations as a C file.
pub(crate) fn file(program: &Program, machine: &Machine, preamble: &Preamble) -> String {
    let mut out = preamble.comment(program, machine.what);
    out.push_str(&(machine.head)(machine));
    out.push_str("/* Two neighbouring words read as one, whatever type they were stored as. */\n");
    out.push_str("typedef int32_t pair __attribute__((may_alias, aligned(2)));\n");
    for procedure in &program.procedures {
        tables(&mut out, program, procedure);
        if machine.repeats {
            repeated_words(&mut out, procedure);
        }
    }
    let called = called_entries(program);
    for (i, procedure) in program.procedures.iter().enumerate() {
        function(&mut out, program, machine, procedure, called.contains(&i));
    }
    out
}

/// The name of a procedure's constant table.
fn table_name(procedure: &Procedure, buffer: &Buffer) -> String {
    format!("{}_{}", procedure.name, buffer.name)
}

fn tables(out: &mut String, program: &Program, procedure: &Procedure) {
    for buffer in &procedure.buffers {
        let Role::Table(words) = &buffer.role else { continue };
        let bits = buffer.bits;
        if words.is_empty() {
            continue;
        }
        let _ = write!(
            out,
            "\nstatic const int{bits}_t {}[{}] __attribute__((aligned({}))) = {{",
            table_name(procedure, buffer),
            words.len(),
            buffer.align.max(program.registers.bits / 8)
        );
        for (i, word) in words.iter().enumerate() {
            out.push_str(if i % (256 / usize::from(bits)) == 0 { "\n    " } else { " " });
            let _ = write!(out, "{word},");
        }
        out.push_str("\n};\n");
    }
}

/// The table of repeated words, for gcc alone.
fn repeated_words(out: &mut String, procedure: &Procedure) {
    let words = repeated(procedure);
    if !words.is_empty() {
        let (name, list) = (words_name(procedure), list(&words));
        let _ = write!(out, "\n{IF_GCC}\nstatic const int32_t {name}[] = {{{list}}};\n#endif\n");
    }
}

/// Names of a procedure's parameters and their C types.
fn parameters(procedure: &Procedure) -> String {
    let all = procedure.buffers.iter().filter(|b| b.role.is_parameter());
    let text: Vec<String> = all
        .map(|b| match b.role {
            Role::Input => format!("const int{}_t {}[{}]", b.bits, b.name, b.words),
            _ => format!("int{}_t {}[{}]", b.bits, b.name, b.words),
        })
        .collect();
    text.join(", ")
}

/// A procedure. An entry point that others call becomes a function of the file and one that calls
/// it.
fn function(
    out: &mut String,
    program: &Program,
    machine: &Machine,
    procedure: &Procedure,
    called: bool,
) {
    let inner = || {
        let parameters = parameters(procedure);
        let name = inner_name(procedure, machine);
        format!("TARGET __attribute__((noinline))\nstatic void {name}({parameters})")
    };
    if !procedure.exported {
        definition(out, program, machine, procedure, &inner());
        return;
    }
    if called {
        definition(out, program, machine, procedure, &inner());
    }
    let name = format!("{}_{}_{}", program.name, procedure.name, machine.suffix);
    let parameters = parameters(procedure);
    let _ = write!(out, "\n{}void {name}({parameters});\n", comment(procedure));
    let header = format!("TARGET\nvoid {name}({parameters})");
    if !called {
        definition(out, program, machine, procedure, &header);
        return;
    }
    let names = procedure.buffers.iter().filter(|b| b.role.is_parameter());
    let names: Vec<&str> = names.map(|b| b.name.as_str()).collect();
    let inner = inner_name(procedure, machine);
    let _ = write!(out, "\n{header}\n{{\n    {inner}({});\n}}\n", names.join(", "));
}

/// The file's own name of a procedure that others call.
fn inner_name(procedure: &Procedure, machine: &Machine) -> String {
    match procedure.exported {
        true => format!("{}_{}", procedure.name, machine.suffix),
        false => procedure.name.clone(),
    }
}

fn definition(
    out: &mut String,
    program: &Program,
    machine: &Machine,
    procedure: &Procedure,
    header: &str,
) {
    let _ = write!(out, "\n{header}\n{{\n");
    for buffer in procedure.buffers.iter().filter(|b| b.role == Role::Local) {
        let _ = writeln!(
            out,
            "    int{}_t {}[{}] __attribute__((aligned({})));",
            buffer.bits,
            buffer.name,
            buffer.words,
            buffer.align.max(program.registers.bits / 8)
        );
    }
    let words = repeated(procedure);
    let Machine { keeps, repeats, in_order, .. } = *machine;
    let (bits, registers) = (procedure.bits, program.registers.bits);
    let place = Place { procedure, bits, keeps, in_order, repeats, registers, words: &words };
    statements(out, program, machine, &place, &procedure.body, 1);
    out.push_str("}\n");
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("    ", depth));
}

fn statements(
    out: &mut String,
    program: &Program,
    machine: &Machine,
    place: &Place,
    body: &[Stmt],
    depth: usize,
) {
    for stmt in body {
        match stmt {
            Stmt::Stage { title, cite, body } => {
                out.push('\n');
                indent(out, depth);
                let cite = if cite.is_empty() { String::new() } else { format!(" {cite}") };
                let _ = writeln!(out, "/* {title}{cite} */");
                statements(out, program, machine, place, body, depth);
            }
            Stmt::Block(block) => {
                indent(out, depth);
                out.push_str("{\n");
                (machine.block)(out, place, block, depth + 1);
                indent(out, depth);
                out.push_str("}\n");
            }
            Stmt::Loop { counter, count, body } => {
                indent(out, depth);
                let i = counter_name(*counter);
                let _ = writeln!(out, "for (size_t {i} = 0; {i} < {count}; {i}++) {{");
                match body.as_slice() {
                    // The block's braces are the loop's.
                    [Stmt::Block(block)] => (machine.block)(out, place, block, depth + 1),
                    _ => statements(out, program, machine, place, body, depth + 1),
                }
                indent(out, depth);
                out.push_str("}\n");
            }
            Stmt::Call { procedure: callee, arguments } => {
                indent(out, depth);
                let callee = &program.procedures[callee.0 as usize];
                let all: Vec<String> =
                    arguments.iter().map(|(b, at)| address(place.procedure, *b, at)).collect();
                let _ = writeln!(out, "{}({});", inner_name(callee, machine), all.join(", "));
            }
        }
    }
}

/// The C name of a loop counter.
fn counter_name(v: LoopVar) -> String {
    format!("i{}", v.0)
}

/// The C name of a buffer.
fn buffer_name(procedure: &Procedure, id: BufferId) -> String {
    let buffer = &procedure.buffers[id.0 as usize];
    match buffer.role {
        Role::Table(_) => table_name(procedure, buffer),
        _ => buffer.name.clone(),
    }
}

/// `&name[index]` as pointer arithmetic.
pub(crate) fn address(procedure: &Procedure, id: BufferId, at: &Index) -> String {
    let mut text = buffer_name(procedure, id);
    for &(v, stride) in &at.terms {
        let _ = write!(text, " + {stride} * {}", counter_name(v));
    }
    if at.base != 0 {
        let sign = if at.base < 0 { '-' } else { '+' };
        let _ = write!(text, " {sign} {}", at.base.abs());
    }
    text
}

impl Place<'_> {
    /// Bits of a buffer's words in memory.
    pub fn kept(&self, id: BufferId) -> u8 {
        self.procedure.buffers[id.0 as usize].bits
    }
}

/// Words as the arguments of an intrinsic.
pub(crate) fn list(words: &[i32]) -> String {
    words.iter().map(i32::to_string).collect::<Vec<_>>().join(", ")
}

/// The words of a register added to a word in memory, which has `kept` bits.
pub(crate) fn add_sum(at: &str, words: impl Iterator<Item = String>, kept: u8) -> String {
    let words: Vec<String> = words.map(|word| format!("(uint32_t){word}")).collect();
    format!("*({at}) = (int{kept}_t)((uint32_t)*({at}) + {});", words.join(" + "))
}
