//! C with Neon intrinsics, for AArch64: a register of 256 bits is two of 128.
//!
//! Neon lacks some operations that x86 has, and has some that x86 lacks. So `select` chooses
//! instructions for several of the program's operations at a time. What is left is written one by
//! one (`op`), for each of the two halves.

mod apart;
mod constants;
mod long;
mod op;
mod reuse;
mod select;
mod words;

use crate::Preamble;
use crate::source::{Machine, UNDOING, check, file};
use ringforge_program::ir::*;

pub use crate::source::Unfit;

/// The suffix of this target's function and file names.
pub const SUFFIX: &str = "neon";

/// The C source of a program; its exported functions are `NAME_<procedure>_neon`.
///
/// # Errors
///
/// A program whose registers do not have 256 bits is refused. So is one with an operation that is
/// neither an instruction nor a known sequence of instructions.
pub fn neon(program: &Program, preamble: &Preamble) -> Result<String, Unfit> {
    let program = program.expand();
    check(&program, &ringforge_targets::NEON, lacking)?;
    let machine = Machine {
        suffix: SUFFIX,
        what: "multiplication with Neon",
        head,
        attribute: "",
        keeps: false,
        repeats: false,
        in_order: program.in_order as usize,
        block: op::block,
    };
    Ok(file(&program, &machine, preamble))
}

/// What to do instead of an operation that there is no instruction for: products of 64 bits alone.
fn lacking(op: &Op, bits: u8) -> Option<&'static str> {
    match (op, bits) {
        (Op::MulHiU(..), _) => Some("signed words: a schedule without `unsigned`"),
        (Op::MulLoWide(..), 32) => Some("`narrow` may be montgomery"),
        _ => None,
    }
}

/// What stands before the tables.
fn head(machine: &Machine) -> String {
    let passes = UNDOING.map(|pass| format!("\"no-tree-{pass}\"")).join(", ");
    let mut head = format!(
        "#include <arm_neon.h>\n#include <stddef.h>\n#include <stdint.h>\n\n\
         /* gcc takes intrinsics apart, and products by words that it knows, and reorders them for registers \
         that it then lacks.\n * clang does that across stores; both would spread lanes over registers. */\n\
         #if defined(__GNUC__) && !defined(__clang__)\n\
         #pragma GCC optimize({passes}, \"no-schedule-insns\")\n\
         #define OPAQUE(word) __asm__(\"\" : \"+w\"(word))\n#define FENCE (void)0\n\
         #else\n#define OPAQUE(word) (void)0\n\
         #define FENCE __asm__ volatile(\"\" ::: \"memory\")\n#endif\n\
         #define LANES(words) __asm__ volatile(\"\" : \"+w\"(words))\n#define TARGET\n"
    );
    if machine.in_order > 0 {
        head += "/* clang schedules for latency and spills registers, but never across a place that is jumped to. */\n\
                 #if defined(__clang__)\n#define HERE(place) __asm__ goto(\"\" : : : : place); place:\n\
                 #else\n#define HERE(place) (void)0\n#endif\n";
    }
    head
}
