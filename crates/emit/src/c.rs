//! Portable C99: no vectors, no intrinsics, no 128-bit integers, no library calls.
//!
//! A register is a loop over its lanes with a constant trip count around the whole straight-line
//! block; its values are scalars of a word. Compilers vectorise such loops for any machine,
//! baseline x86-64 included, at plain -O2. Trip counts are constant, and nothing has to be checked
//! at run time, because buffers are local arrays, `restrict` parameters or constants.
//!
//! Products are written so that compilers find the multiplications of words (x86 `pmullw`,
//! `pmulhw`, `pmuldq`). The low half is an unsigned product that is truncated. The high half is a
//! product of twice the width that is shifted.

mod assembly;
mod block;
mod dots;
mod fused;
mod helpers;
mod packed;
mod toeplitz;

use crate::Preamble;
use crate::interface::{called_entries, comment};
use helpers::Helpers;
use ringforge_program::ir::*;
use std::collections::HashSet;
use std::fmt::Write;

/// A program that this target cannot express: a fault of the lowering or the schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the c target cannot render {procedure}: {reason}")]
pub struct CannotRender {
    /// The procedure.
    pub procedure: String,
    /// Why, and what would work.
    pub reason: String,
}

/// The suffix of this target's function and file names.
pub const SUFFIX: &str = "c";

/// What differs between targets whose programs are loops over lanes.
#[derive(Debug)]
pub(crate) struct Form {
    /// The suffix of functions and files.
    pub suffix: &'static str,
    /// What a file says it is.
    pub what: &'static str,
    /// What it includes.
    pub includes: &'static str,
    /// Whether two lanes of 16 bits are one word where that is shorter.
    pub pairs: bool,
    /// The argument of the target attribute of its functions, where they have one.
    pub attribute: &'static str,
    /// Words of 16 bits in a vector of an x86-64 machine.
    pub width: usize,
}

/// What every compiler takes.
const PORTABLE: Form = Form {
    suffix: SUFFIX,
    what: "multiplication in portable C99",
    includes: "#include <stdint.h>\n",
    pairs: false,
    attribute: "",
    width: 8,
};

/// Loops for one of the targets.
const fn form(suffix: &'static str, attribute: &'static str, width: usize) -> Form {
    let what = "multiplication in plain C, loops that a compiler makes vectors of";
    Form { suffix, what, attribute, width, ..PORTABLE }
}

/// Plain C for all targets.
static LOOPS: [Form; 6] = [
    form("avx512", crate::avx512::ATTRIBUTE, 32),
    form("avx2", "avx2", 16),
    form("sse41", "sse4.1", 8),
    form("neon", "", 8),
    form("m4", "", 8),
    form(SUFFIX, "", 8),
];

/// The C source of a program whose registers are loops on every target; its exported functions are
/// `NAME_<procedure>_TARGET`.
///
/// # Errors
///
/// A program with operations that are not lane-wise on words, or a target that is not known.
pub fn loops(program: &Program, preamble: &Preamble, target: &str) -> Result<String, CannotRender> {
    let unknown = || CannotRender {
        procedure: program.name.clone(),
        reason: format!("there are no loops for {target}"),
    };
    let form = LOOPS.iter().find(|form| form.suffix == target).ok_or_else(unknown)?;
    write(program, preamble, form)
}

/// The C source of a program; its exported functions are `NAME_<procedure>_c`.
///
/// # Errors
///
/// A program with operations that are not lane-wise on words is refused.
pub fn c(program: &Program, preamble: &Preamble) -> Result<String, CannotRender> {
    write(program, preamble, &PORTABLE)
}

/// A C file in one of the forms.
pub(crate) fn write(
    program: &Program,
    preamble: &Preamble,
    form: &'static Form,
) -> Result<String, CannotRender> {
    let program = program.expand_to_words();
    let mut helpers = Helpers::new(&program);
    let called = called_entries(&program);
    let mut bodies = String::new();
    for (i, procedure) in program.procedures.iter().enumerate() {
        if let Some(buffer) = procedure.buffers.iter().find(|b| helpers::taken(&b.name)) {
            let reason = format!("the target uses the name {} itself", buffer.name);
            return Err(CannotRender { procedure: procedure.name.clone(), reason });
        }
        let refuse = |reason| CannotRender { procedure: procedure.name.clone(), reason };
        bodies += "\n";
        let inner = !procedure.exported || called.contains(&i);
        bodies += &render(&program, procedure, inner, &mut helpers, form).map_err(refuse)?;
        if procedure.exported && inner {
            bodies += &outer(&program, procedure, form);
        }
    }
    let mut text = preamble.comment(&program, form.what);
    text += form.includes;
    text += &macros(&program, &bodies, form);
    for procedure in program.procedures.iter().filter(|p| p.exported) {
        let _ = writeln!(
            text,
            "\n{}{};",
            comment(procedure),
            prototype(&program, procedure, false, form)
        );
    }
    text += &helpers.render();
    if bodies.contains("SUMS\n") {
        text += &block::sums(form.width);
    }
    if bodies.contains("lanes2") {
        text += packed::PAIRS;
    }
    if bodies.contains("plantard2") {
        text += packed::PLANTARD;
    }
    if bodies.contains("narrow2(") {
        text += dots::NARROW;
    }
    if bodies.contains("halves(") {
        text += dots::DOTS;
    }
    for procedure in &program.procedures {
        let used = used_buffers(procedure);
        for (i, buffer) in procedure.buffers.iter().enumerate() {
            let name = table_name(procedure, buffer);
            // Assembly has its constants in tables of its own.
            if let Role::Table(words) = &buffer.role
                && used.contains(&(i as u32))
                && names(&bodies, &name)
            {
                text += "\n";
                text += &table(&name, words, buffer.bits);
            }
        }
    }
    text += &bodies;
    Ok(text)
}

/// Whether a text names a thing.
fn names(text: &str, name: &str) -> bool {
    let more = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let behind = text[at + name.len()..].chars().next();
        !text[..at].ends_with(more) && !behind.is_some_and(more)
    })
}

fn table_name(procedure: &Procedure, buffer: &Buffer) -> String {
    format!("{}_{}", procedure.name, buffer.name)
}

/// A constant array.
fn table(name: &str, words: &[i32], bits: u8) -> String {
    let mut text = format!("static const int{bits}_t {name}[{}] = {{", words.len());
    let columns = if words.len() == 16 { 8 } else { 12 };
    for (i, word) in words.iter().enumerate() {
        text += if i % columns == 0 { "\n   " } else { "" };
        let _ = write!(text, " {word}{}", if i + 1 < words.len() { "," } else { "" });
    }
    text + "\n};\n"
}

/// The name of a procedure's function: that of the file's own, or the exported one.
fn function_name(program: &Program, procedure: &Procedure, inner: bool, form: &Form) -> String {
    let suffix = form.suffix;
    match inner {
        false => format!("{}_{}_{suffix}", program.name, procedure.name),
        true => format!("{}_{suffix}", procedure.name),
    }
}

/// Parameters of an entry point may overlap; those of helpers never do.
fn prototype(program: &Program, procedure: &Procedure, inner: bool, form: &Form) -> String {
    let parameters = procedure.buffers.iter().filter(|b| b.role.is_parameter()).map(|b| {
        let qualifier = if b.role == Role::Input { "const " } else { "" };
        match procedure.exported || procedure.computes.is_some() {
            true => format!("{qualifier}int{}_t {}[{}]", b.bits, b.name, b.words),
            false => format!("{qualifier}int{}_t *restrict {}", b.bits, b.name),
        }
    });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let linkage = if inner { "static " } else { "" };
    format!("{linkage}void {}({parameters})", function_name(program, procedure, inner, form))
}

/// An entry point whose body is a function of the file's own.
fn outer(program: &Program, procedure: &Procedure, form: &Form) -> String {
    let names = procedure.buffers.iter().filter(|b| b.role.is_parameter());
    let names: Vec<&str> = names.map(|b| b.name.as_str()).collect();
    let (header, inner) =
        (prototype(program, procedure, false, form), function_name(program, procedure, true, form));
    let attributes = attributes(false, form);
    format!("\n{attributes}{header}\n{{\n    {inner}({});\n}}\n", names.join(", "))
}

fn render(
    program: &Program,
    procedure: &Procedure,
    inner: bool,
    helpers: &mut Helpers,
    form: &'static Form,
) -> Result<String, String> {
    helpers.words(procedure.bits);
    let mut writer = Writer {
        program,
        procedure,
        helpers,
        form,
        text: String::new(),
        depth: 1,
        constants: Vec::new(),
        factors: Vec::new(),
        loops: Vec::new(),
        apart: false,
    };
    writer.statements(&procedure.body)?;
    let Writer { text: body, constants, factors, apart, .. } = writer;
    let mut text = attributes(apart, form);
    text += &prototype(program, procedure, inner, form);
    text += "\n{\n";
    for (i, words) in constants.iter().enumerate() {
        for line in table(&format!("k{i}"), words, procedure.bits).lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    for (i, words) in factors.iter().enumerate() {
        let words: Vec<i32> = words.iter().map(|word| *word as i32).collect();
        for line in table(&format!("f{i}"), &words, 32).lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    let used = used_buffers(procedure);
    for (i, buffer) in procedure.buffers.iter().enumerate() {
        if buffer.role == Role::Local && used.contains(&(i as u32)) {
            let aligned = if form.pairs { " __attribute__((aligned(4)))" } else { "" };
            let Buffer { bits, name, words, .. } = buffer;
            let _ = writeln!(text, "    int{bits}_t {name}[{words}]{aligned};");
        }
    }
    Ok(text + &body + "}\n")
}

/// What functions of loops are declared with, and what keeps a compiler from making vectors of single words.
fn macros(program: &Program, bodies: &str, form: &Form) -> String {
    let mut text = String::new();
    if !form.attribute.is_empty() {
        let own = format!("#define TARGET __attribute__((target(\"{}\")))\n", form.attribute);
        // Sums of products of words of 16 bits.
        let dots = program.procedures.iter().any(|p| p.bits == 32 && sums_products(&p.body));
        text += &match dots {
            true => format!(
                "\n/* gcc finds the instruction that adds two products where it knows no other extension. */\n\
                 #if defined(__GNUC__) && !defined(__clang__)\n#define TARGET\n#else\n{own}#endif\n"
            ),
            false => format!("\n{own}"),
        };
    }
    if bodies.contains("SCALAR(") {
        text += "\n/* A word that is no part of a vector. */\n#if defined(__GNUC__)\n\
                 #define SCALAR(x) __asm__(\"\" : \"+r\"(x))\n#else\n#define SCALAR(x)\n#endif\n";
    }
    text
}

/// Whether a body adds up the words of a register.
fn sums_products(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Stage { body, .. } | Stmt::Loop { body, .. } => sums_products(body),
        Stmt::Block(block) => block.ops.iter().any(|op| matches!(op, Op::AddSum { .. })),
        Stmt::Call { .. } => false,
    })
}

/// What stands before a function.
fn attributes(apart: bool, form: &Form) -> String {
    let noinline = if apart { "__attribute__((noinline)) " } else { "" };
    match form.attribute {
        "" => noinline.into(),
        _ => format!("TARGET {noinline}"),
    }
}

/// The buffers that a procedure's operations and calls name.
fn used_buffers(procedure: &Procedure) -> HashSet<u32> {
    fn walk(body: &[Stmt], used: &mut HashSet<u32>) {
        for stmt in body {
            match stmt {
                Stmt::Stage { body, .. } | Stmt::Loop { body, .. } => walk(body, used),
                Stmt::Call { arguments, .. } => used.extend(arguments.iter().map(|(b, _)| b.0)),
                Stmt::Block(block) => {
                    used.extend(block.ops.iter().filter_map(block::memory).map(|m| m.buffer.0));
                }
            }
        }
    }
    let mut used = HashSet::new();
    walk(&procedure.body, &mut used);
    used
}

/// A function body in the making.
struct Writer<'a> {
    program: &'a Program,
    procedure: &'a Procedure,
    helpers: &'a mut Helpers,
    form: &'static Form,
    text: String,
    depth: usize,
    /// Constant registers with words of their own.
    constants: Vec<Vec<i32>>,
    /// Tables of what assembly multiplies by.
    factors: Vec<Vec<u32>>,
    /// The loops around what is written, the outermost first.
    loops: Vec<(LoopVar, u32)>,
    /// Whether its assembly may be longer than the compiler estimates, so that it must stay a
    /// function.
    apart: bool,
}

impl Writer<'_> {
    /// Words of a register.
    fn lanes(&self) -> usize {
        self.program.lanes_of(self.procedure)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", 4 * self.depth);
    }

    fn buffer(&self, buffer: BufferId) -> String {
        let declared = &self.procedure.buffers[buffer.0 as usize];
        match declared.role {
            Role::Table(_) => table_name(self.procedure, declared),
            _ => declared.name.clone(),
        }
    }

    fn statements(&mut self, body: &[Stmt]) -> Result<(), String> {
        for stmt in body {
            match stmt {
                Stmt::Stage { title, cite, body } => {
                    let cite = if cite.is_empty() { String::new() } else { format!(" {cite}") };
                    self.line(&format!("/* {title}{cite} */"));
                    self.statements(body)?;
                }
                Stmt::Block(block) => self.block(block, self.lanes())?,
                Stmt::Loop { counter, count, body } => {
                    if self.assembled(*counter, *count, body) {
                        continue;
                    }
                    if let Some((block, lanes)) = self.joined(*counter, *count, body) {
                        self.block(&block, lanes)?;
                        continue;
                    }
                    let i = format!("i{}", counter.0);
                    self.line(&format!("for (int {i} = 0; {i} < {count}; {i}++) {{"));
                    self.depth += 1;
                    self.loops.push((*counter, *count));
                    self.statements(body)?;
                    self.loops.pop();
                    self.depth -= 1;
                    self.line("}");
                }
                Stmt::Call { procedure, arguments } => {
                    let callee = &self.program.procedures[procedure.0 as usize];
                    let name = function_name(self.program, callee, true, self.form);
                    let arguments = arguments.iter().map(|(buffer, at)| {
                        match (self.buffer(*buffer), block::index(at, None)) {
                            (name, at) if at == "0" => name,
                            (name, at) => format!("{name} + {at}"),
                        }
                    });
                    let arguments = arguments.collect::<Vec<_>>().join(", ");
                    self.line(&format!("{name}({arguments});"));
                }
            }
        }
        Ok(())
    }
}
