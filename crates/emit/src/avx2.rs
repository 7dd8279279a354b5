//! C with AVX2 intrinsics, for gcc and clang.
//!
//! Every function carries its target attribute, so the file compiles without machine flags.
//! Loads and stores are the unaligned forms (as fast where the address is aligned).

mod op;

use crate::Preamble;
use crate::x86::{Machine, file};
use ringforge_program::ir::*;

pub use crate::x86::Unfit;

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
    let machine = Machine {
        suffix: SUFFIX,
        what: "multiplication with AVX2",
        attribute: Features::needed(&program).attribute(),
        block: op::block,
    };
    Ok(file(&program, &machine, preamble))
}
