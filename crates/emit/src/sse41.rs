//! C with SSE4.1 intrinsics, for x86-64 processors without AVX2: a register of 256 bits is two of
//! 128.
//!
//! What a program says of a register holds for each of its 128-bit parts. So each operation is
//! written twice, or once if both parts are equal.

use crate::Preamble;
use crate::x86::{Set, Width, x86};
use ringforge_program::ir::Program;

pub use crate::source::Unfit;

/// The suffix of this target's function and file names.
pub const SUFFIX: &str = "sse41";

/// The C source of a program; its exported functions are `NAME_<procedure>_sse41`.
///
/// # Errors
///
/// A program whose registers do not have 256 bits is refused, and so is one with an operation
/// that no instruction does.
pub fn sse41(program: &Program, preamble: &Preamble) -> Result<String, Unfit> {
    let set = Set {
        target: &ringforge_targets::SSE41,
        what: "multiplication with SSE4.1",
        width: Width::Sse,
        attribute: "sse4.1",
        orders: false,
        repeats: false,
    };
    x86(&program.expand(), &set, preamble)
}
