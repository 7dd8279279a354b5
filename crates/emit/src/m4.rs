//! Cortex-M4: programs as for portable C. Loops take two lanes of 16 bits at a time where that is
//! shorter (`uadd16`, `smulbb` and `smultt`, `pkhbt`), and one word of 32 bits otherwise.
//!
//! A register of 256 bits is a loop over words of 32 bits with a straight-line body of scalars.
//! That suits the machine's few registers and keeps the code short.

use crate::Preamble;
use crate::c::{CannotRender, Form, write};
use ringforge_program::ir::Program;

/// The suffix of this target's function and file names.
pub const SUFFIX: &str = "m4";

const FORM: Form = Form {
    suffix: SUFFIX,
    what: "multiplication for Cortex-M4",
    includes: "#include <arm_acle.h>\n#include <stdint.h>\n",
    pairs: true,
    attribute: "",
    width: 8,
};

/// The C source of a program; its exported functions are `NAME_<procedure>_m4`.
///
/// # Errors
///
/// A program with operations that are not lane-wise on words is refused.
pub fn m4(program: &Program, preamble: &Preamble) -> Result<String, CannotRender> {
    write(program, preamble, &FORM)
}
