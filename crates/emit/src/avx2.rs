//! C with AVX2 intrinsics, for gcc and clang.
//!
//! Every function carries its target attribute, so the file compiles without machine flags.
//! Loads and stores are the unaligned forms (as fast where the address is aligned).

use crate::Preamble;
use crate::x86::{Set, Width, has_fused_dots, x86};
use ringforge_program::ir::Program;

pub use crate::source::Unfit;

/// The suffix of this target's function and file names.
pub const SUFFIX: &str = "avx2";

/// The C source of a program; its exported functions are `NAME_<procedure>_avx2`.
///
/// # Errors
///
/// A program whose registers do not have 256 bits is refused, and so is one with an operation
/// that no instruction does.
pub fn avx2(program: &Program, preamble: &Preamble) -> Result<String, Unfit> {
    let program = program.expand();
    let set = Set {
        target: &ringforge_targets::AVX2,
        what: "multiplication with AVX2",
        width: Width::Avx,
        attribute: if has_fused_dots(&program) { "avx2,avxvnni" } else { "avx2" },
        orders: true,
        repeats: true,
    };
    x86(&program, &set, preamble)
}
