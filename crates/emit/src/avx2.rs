//! C with AVX2 intrinsics, for gcc and clang.
//!
//! Every function carries its target attribute, so the file compiles without machine flags.
//! Loads and stores are the unaligned forms (as fast where the address is aligned).

mod op;

use crate::Preamble;
use ringforge_program::ir::*;
use std::fmt::Write;

/// What the processor must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// AVX-VNNI: fused dot products.
    pub vnni: bool,
}

impl Features {
    /// What a program needs.
    pub fn needed(program: &Program) -> Features {
        fn any(body: &[Stmt]) -> bool {
            body.iter().any(|stmt| match stmt {
                Stmt::Stage { body, .. } | Stmt::Loop { body, .. } => any(body),
                Stmt::Block(block) => {
                    block.ops.iter().any(|op| matches!(op, Op::PairDotAdd { .. }))
                }
                Stmt::Call { .. } => false,
            })
        }
        Features { vnni: program.procedures.iter().any(|p| any(&p.body)) }
    }

    /// The argument of the target attribute.
    pub fn attribute(self) -> &'static str {
        if self.vnni { "avx2,avxvnni" } else { "avx2" }
    }
}

/// The suffix of this target's function and file names.
pub const SUFFIX: &str = "avx2";

/// The C source of a program; its exported function is `NAME_mul_avx2`.
///
/// # Errors
///
/// A program whose registers do not have 16 words is refused.
pub fn avx2(program: &Program, preamble: &Preamble) -> Result<String, Unfit> {
    if program.lanes != 16 {
        return Err(Unfit { lanes: program.lanes });
    }
    let program = program.expand();
    let features = Features::needed(&program);
    let mut out = preamble.comment(&program, "multiplication with AVX2");
    out.push_str("#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    // Otherwise gcc moves every operation to its use, and spills what it had in registers.
    out.push_str("#if defined(__GNUC__) && !defined(__clang__)\n");
    out.push_str("#pragma GCC optimize(\"no-tree-ter\")\n#endif\n");
    let _ = writeln!(out, "#define TARGET __attribute__((target(\"{}\")))", features.attribute());
    out.push_str("/* Two neighbouring words read as one, whatever type they were stored as. */\n");
    out.push_str("typedef int32_t pair __attribute__((may_alias, aligned(2)));\n");
    for procedure in &program.procedures {
        tables(&mut out, procedure);
    }
    for procedure in &program.procedures {
        function(&mut out, &program, procedure);
    }
    Ok(out)
}

/// The program's registers are not this target's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "AVX2 registers hold 16 words, the program wants {lanes}; set `lanes = 16` in the schedule"
)]
pub struct Unfit {
    /// What the program has.
    pub lanes: usize,
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

fn function(out: &mut String, program: &Program, procedure: &Procedure) {
    let header = match procedure.exported {
        true => {
            let name = format!("{}_{}_{SUFFIX}", program.name, procedure.name);
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
    statements(out, program, procedure, &procedure.body, 1);
    out.push_str("}\n");
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("    ", depth));
}

fn statements(
    out: &mut String,
    program: &Program,
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
                statements(out, program, procedure, body, depth);
            }
            Stmt::Block(block) => {
                indent(out, depth);
                out.push_str("{\n");
                op::block(out, procedure, block, depth + 1);
                indent(out, depth);
                out.push_str("}\n");
            }
            Stmt::Loop { counter, count, body } => {
                indent(out, depth);
                let i = op::counter(*counter);
                let _ = writeln!(out, "for (size_t {i} = 0; {i} < {count}; {i}++) {{");
                match body.as_slice() {
                    // The block's braces are the loop's.
                    [Stmt::Block(block)] => op::block(out, procedure, block, depth + 1),
                    _ => statements(out, program, procedure, body, depth + 1),
                }
                indent(out, depth);
                out.push_str("}\n");
            }
            Stmt::Call { procedure: callee, arguments } => {
                indent(out, depth);
                let callee = &program.procedures[callee.0 as usize];
                let all: Vec<String> = arguments
                    .iter()
                    .map(|(buffer, at)| op::address(procedure, *buffer, at))
                    .collect();
                let _ = writeln!(out, "{}({});", callee.name, all.join(", "));
            }
        }
    }
}
