//! What C with x86 intrinsics has in common, whatever the registers: tables, functions, loops,
//! calls, addresses. A target adds its operations.

use crate::Preamble;
use crate::interface::{called_entries, comment};
use ringforge_program::ir::*;
use ringforge_target::Target;
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
    /// Whether an instruction repeats a word from memory over a register: gcc is told to take it.
    pub repeats: bool,
    /// After how many operations compilers start anew to order them; 0 for never.
    pub in_order: usize,
    /// The operations of a block, at a depth of indentation.
    pub block: fn(&mut String, &Place, &Block, usize),
}

/// Keeps sums of products in their order, and loads where they are: compilers make trees of sums and load words
/// once for all rows, for which there are too few registers.
const KEEP: &str = "/* Sums of products in this order, and no words kept for later: there are too few registers. */
#define KEEP(sum) __asm__(\"\" : \"+x\"(sum))
#define FENCE __asm__ volatile(\"\" ::: \"memory\")
";

/// Passes of gcc that undo what a program says. It reads intrinsics as plain sums and products: `ter` moves
/// every operation to its use and spills what it had in registers, the others make four operations of
/// c ± (a − b), and two shifts and two sums of a product by a constant.
pub(crate) const UNDOING: [&str; 6] = ["ter", "forwprop", "reassoc", "fre", "pre", "slsr"];

/// What a file asks of gcc: none of these passes, and words that it does not know, by a load where one instruction
/// repeats them (gcc would take each through a general register and two shuffles). Loads that it counts as cheap it
/// writes once for each use, `tune` is against that. Other compilers are asked nothing.
fn gcc(machine: &Machine) -> String {
    let passes = UNDOING.map(|pass| format!("\"no-tree-{pass}\"")).join(", ");
    let attribute = machine.attribute;
    let (hidden, none, tune) = match machine.repeats {
        true => (
            "REPEAT(v, two, word) __m256i v; __asm__(\"vpbroadcastd %1, %0\" : \"=x\"(v) : \"m\"(two))",
            "REPEAT(v, two, word) const __m256i v = word",
            ",tune=skylake",
        ),
        false => ("OPAQUE(word) __asm__(\"\" : \"+x\"(word))", "OPAQUE(word) (void)0", ""),
    };
    format!(
        "/* gcc takes intrinsics apart, and products by words that it knows. */\n\
         {IF_GCC}\n#pragma GCC optimize({passes})\n\
         #define {hidden}\n#define TARGET __attribute__((target(\"{attribute}{tune}\")))\n\
         #else\n#define {none}\n#define TARGET __attribute__((target(\"{attribute}\")))\n#endif\n"
    )
}

/// What other compilers do not see.
const IF_GCC: &str = "#if defined(__GNUC__) && !defined(__clang__)";

/// What stands before the tables of x86.
pub(crate) fn head(machine: &Machine) -> String {
    let mut out =
        String::from("#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    out.push_str(&gcc(machine));
    if machine.keeps {
        out.push_str(KEEP);
    }
    out
}

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

/// Refuses a program that does not fit the registers of a target, or has an
/// operation that `lacking` says to do otherwise.
pub(crate) fn check(
    program: &Program,
    target: &Target,
    lacking: fn(&Op, u8) -> Option<&'static str>,
) -> Result<(), Unfit> {
    let wanted = target.registers;
    if program.registers != wanted {
        return Err(Unfit::Registers { bits: program.registers.bits, wanted: wanted.bits });
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

/// What to do instead of an operation that no x86 vector instruction does.
pub(crate) fn lacking(op: &Op, bits: u8) -> Option<&'static str> {
    let products = "montgomery-low or montgomery-wide for products, rounded-shift for reductions, \
                    minimum for freezing";
    match (op, bits) {
        (Op::MulHiU(..), 32) => Some("signed words: a schedule without `unsigned`"),
        (Op::MulHi(..) | Op::MulHrs(..), 32) => Some(products),
        (Op::MulEven(..), 16) => Some("montgomery"),
        (Op::PairDot(..) | Op::PairDotAdd { .. }, 32) => Some("products of words, or MulEven"),
        (Op::SarWide(..) | Op::MulLoWide(..), 32) => Some("montgomery for narrowing"),
        _ => None,
    }
}

/// A program of word operations as a C file.
pub(crate) fn file(program: &Program, machine: &Machine, preamble: &Preamble) -> String {
    let mut out = preamble.comment(program, machine.what);
    out.push_str(&(machine.head)(machine));
    out.push_str("/* Two neighbouring words read as one, whatever type they were stored as. */\n");
    out.push_str("typedef int32_t pair __attribute__((may_alias, aligned(2)));\n");
    for procedure in &program.procedures {
        tables(&mut out, procedure);
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

fn tables(out: &mut String, procedure: &Procedure) {
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
            buffer.align.max(32)
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

/// A procedure; an entry point that others call as a function of the file and one that calls it.
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
            buffer.align.max(32)
        );
    }
    let words = repeated(procedure);
    let Machine { keeps, in_order, .. } = *machine;
    let place = Place { procedure, bits: procedure.bits, keeps, in_order, words: &words };
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

/// A part of 128 bits from memory: its words, or `count` words and zeros.
pub(crate) fn part(place: &Place, id: BufferId, at: &Index, count: usize) -> String {
    let (full, bits) = (128 / usize::from(place.bits), place.kept(id));
    let words = packed(place, id, at, count.min(full));
    if bits == place.bits { words } else { format!("_mm_cvtepi16_epi32({words})") }
}

/// `count` words as they lie in memory, at most 128 bits of them, and zeros.
pub(crate) fn packed(place: &Place, id: BufferId, at: &Index, count: usize) -> String {
    let word = |i: usize| address(place.procedure, id, &at.plus(i));
    let bits = place.kept(id);
    let full = 128 / usize::from(bits);
    if count >= full {
        return format!("_mm_loadu_si128((const __m128i *)({}))", word(0));
    }
    let (mut text, done) = match count >= full / 2 {
        true => (format!("_mm_loadl_epi64((const __m128i *)({}))", word(0)), full / 2),
        false => ("_mm_setzero_si128()".to_string(), 0),
    };
    for i in done..count {
        text = format!("_mm_insert_epi{bits}({text}, *({}), {i})", word(i));
    }
    text
}

/// A word of a part, given as an expression of type `__m128i`.
pub(crate) fn extract(register: &str, i: usize, bits: u8) -> String {
    match bits {
        16 => format!("(int16_t)_mm_extract_epi16({register}, {i})"),
        _ => format!("_mm_extract_epi32({register}, {i})"),
    }
}

/// The words of a register added to a word in memory, which has `kept` bits.
pub(crate) fn add_sum(at: &str, words: impl Iterator<Item = String>, kept: u8) -> String {
    let words: Vec<String> = words.map(|word| format!("(uint32_t){word}")).collect();
    format!("*({at}) = (int{kept}_t)((uint32_t)*({at}) + {});", words.join(" + "))
}

/// A permutation of the words of each part as the intrinsic that has it as an immediate, and that
/// immediate: `shuffle_epi32`, `shufflelo_epi16`, `shufflehi_epi16`; none where bytes have to be
/// shuffled by a register.
pub(crate) fn immediate(pattern: &[u8]) -> Option<(&'static str, u8)> {
    let two_bits = |all: &[u8]| all.iter().rev().fold(0, |sum, &i| sum << 2 | (i & 3));
    let still = |places: std::ops::Range<usize>| places.into_iter().all(|i| pattern[i] == i as u8);
    if pattern.len() == 4 {
        return Some(("shuffle_epi32", two_bits(pattern)));
    }
    let pairs = pattern.chunks(2);
    if pairs.clone().all(|p| p[0] % 2 == 0 && p[1] == p[0] + 1) {
        let halves: Vec<u8> = pairs.map(|p| p[0] / 2).collect();
        return Some(("shuffle_epi32", two_bits(&halves)));
    }
    if still(4..8) && pattern[..4].iter().all(|&i| i < 4) {
        return Some(("shufflelo_epi16", two_bits(&pattern[..4])));
    }
    if still(0..4) && pattern[4..].iter().all(|&i| i >= 4) {
        return Some(("shufflehi_epi16", two_bits(&pattern[4..])));
    }
    None
}

/// The bytes of a permutation of 16-bit words, as words.
pub(crate) fn byte_pattern(pattern: &[u8]) -> Vec<i32> {
    pattern.iter().map(|&i| i32::from(2 * i) | i32::from(2 * i + 1) << 8).collect()
}

/// The low halves of a part's words of 32 bits, one after the other.
pub(crate) fn low_words(register: &str) -> String {
    let bytes = list(&byte_pattern(&[0, 2, 4, 6, 0, 2, 4, 6]));
    format!("_mm_shuffle_epi8({register}, _mm_setr_epi16({bytes}))")
}

/// Words 0, 2, … of a part and then words 1, 3, ….
pub(crate) const EVEN_THEN_ODD: [u8; 8] = [0, 2, 4, 6, 1, 3, 5, 7];
