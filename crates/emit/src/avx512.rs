//! C with AVX-512 intrinsics, for gcc and clang: registers of 512 bits, and masks for the ends of arrays. Programs of 256 bits
//! get AVX2's operations, with 32 registers.

use crate::Preamble;
use crate::x86::{Set, Width, x86};
use ringforge_program::ir::Program;

pub use crate::source::Unfit;

/// The suffix of this target's function and file names.
pub const SUFFIX: &str = "avx512";

/// The features that its functions are compiled with.
pub(crate) const ATTRIBUTE: &str = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni";

/// The C source of a program; its exported functions are `NAME_<procedure>_avx512`.
///
/// # Errors
///
/// A program whose registers have neither 512 bits nor 256 is refused, and so is one with an operation
/// that no instruction does.
pub fn avx512(program: &Program, preamble: &Preamble) -> Result<String, Unfit> {
    let narrow = program.registers.bits < Width::Avx512.bits();
    let set = Set {
        target: &ringforge_targets::AVX512,
        what: "multiplication with AVX-512",
        width: if narrow { Width::Avx } else { Width::Avx512 },
        attribute: ATTRIBUTE,
        orders: narrow,
        repeats: true,
    };
    x86(&program.expand(), &set, preamble)
}
