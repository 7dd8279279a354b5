//! What C with x86 intrinsics has in common, whatever the registers: tables, functions, loops,
//! calls, addresses. A target adds its operations.

use crate::Preamble;
use ringforge_program::ir::*;
use std::fmt::Write;

/// One instruction set.
pub(crate) struct Machine<'a> {
    /// The suffix of the target's functions.
    pub suffix: &'a str,
    /// What it is, for the opening comment.
    pub what: &'a str,
    /// The argument of the target attribute.
    pub attribute: &'a str,
    /// The operations of a block, at a depth of indentation.
    pub block: fn(&mut String, &Procedure, &Block, usize),
}

/// The program's registers are not this target's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this target's registers hold 16 words, the program wants {lanes}; set `lanes = 16` in the schedule"
)]
pub struct Unfit {
    /// What the program has.
    pub lanes: usize,
}

/// A program of word operations as a C file.
pub(crate) fn file(program: &Program, machine: &Machine, preamble: &Preamble) -> String {
    let mut out = preamble.comment(program, machine.what);
    out.push_str("#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    // Otherwise gcc moves every operation to its use, and spills what it had in registers.
    out.push_str("#if defined(__GNUC__) && !defined(__clang__)\n");
    out.push_str("#pragma GCC optimize(\"no-tree-ter\")\n#endif\n");
    let _ = writeln!(out, "#define TARGET __attribute__((target(\"{}\")))", machine.attribute);
    out.push_str("/* Two neighbouring words read as one, whatever type they were stored as. */\n");
    out.push_str("typedef int32_t pair __attribute__((may_alias, aligned(2)));\n");
    for procedure in &program.procedures {
        tables(&mut out, procedure);
    }
    for procedure in &program.procedures {
        function(&mut out, program, machine, procedure);
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
        if words.is_empty() {
            continue;
        }
        let _ = write!(
            out,
            "\nstatic const int16_t {}[{}] __attribute__((aligned({}))) = {{",
            table_name(procedure, buffer),
            words.len(),
            buffer.align.max(32)
        );
        for (i, word) in words.iter().enumerate() {
            out.push_str(if i % 16 == 0 { "\n    " } else { " " });
            let _ = write!(out, "{word},");
        }
        out.push_str("\n};\n");
    }
}

/// Names of a procedure's parameters and their C types.
fn parameters(procedure: &Procedure) -> String {
    let all = procedure.buffers.iter().filter(|b| b.role.is_parameter());
    let text: Vec<String> = all
        .map(|b| match b.role {
            Role::Input => format!("const int16_t {}[{}]", b.name, b.words),
            _ => format!("int16_t {}[{}]", b.name, b.words),
        })
        .collect();
    text.join(", ")
}

fn function(out: &mut String, program: &Program, machine: &Machine, procedure: &Procedure) {
    let header = match procedure.exported {
        true => {
            let name = format!("{}_{}_{}", program.name, procedure.name, machine.suffix);
            let _ = write!(out, "\nvoid {name}({});\n", parameters(procedure));
            format!("TARGET\nvoid {name}({})", parameters(procedure))
        }
        false => format!(
            "TARGET __attribute__((noinline))\nstatic void {}({})",
            procedure.name,
            parameters(procedure)
        ),
    };
    let _ = write!(out, "\n{header}\n{{\n");
    for buffer in procedure.buffers.iter().filter(|b| b.role == Role::Local) {
        let _ = writeln!(
            out,
            "    int16_t {}[{}] __attribute__((aligned({})));",
            buffer.name,
            buffer.words,
            buffer.align.max(32)
        );
    }
    statements(out, program, machine, procedure, &procedure.body, 1);
    out.push_str("}\n");
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("    ", depth));
}

fn statements(
    out: &mut String,
    program: &Program,
    machine: &Machine,
    procedure: &Procedure,
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
                statements(out, program, machine, procedure, body, depth);
            }
            Stmt::Block(block) => {
                indent(out, depth);
                out.push_str("{\n");
                (machine.block)(out, procedure, block, depth + 1);
                indent(out, depth);
                out.push_str("}\n");
            }
            Stmt::Loop { counter, count, body } => {
                indent(out, depth);
                let i = counter_name(*counter);
                let _ = writeln!(out, "for (size_t {i} = 0; {i} < {count}; {i}++) {{");
                match body.as_slice() {
                    // The block's braces are the loop's.
                    [Stmt::Block(block)] => (machine.block)(out, procedure, block, depth + 1),
                    _ => statements(out, program, machine, procedure, body, depth + 1),
                }
                indent(out, depth);
                out.push_str("}\n");
            }
            Stmt::Call { procedure: callee, arguments } => {
                indent(out, depth);
                let callee = &program.procedures[callee.0 as usize];
                let all: Vec<String> =
                    arguments.iter().map(|(buffer, at)| address(procedure, *buffer, at)).collect();
                let _ = writeln!(out, "{}({});", callee.name, all.join(", "));
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

/// Words as the arguments of an intrinsic.
pub(crate) fn list(words: &[i16]) -> String {
    words.iter().map(i16::to_string).collect::<Vec<_>>().join(", ")
}

/// Eight words, or `count` words and zeros, as a 128-bit register.
pub(crate) fn eight(procedure: &Procedure, id: BufferId, at: &Index, count: usize) -> String {
    let mut text;
    let mut done = 0;
    if count >= 8 {
        return format!("_mm_loadu_si128((const __m128i *)({}))", address(procedure, id, at));
    } else if count >= 4 {
        text = format!("_mm_loadl_epi64((const __m128i *)({}))", address(procedure, id, at));
        done = 4;
    } else {
        text = "_mm_setzero_si128()".to_string();
    }
    while done < count {
        let word = address(procedure, id, &at.plus(done));
        text = format!("_mm_insert_epi16({text}, *({word}), {done})");
        done += 1;
    }
    text
}
