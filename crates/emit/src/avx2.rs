//! C with AVX2 intrinsics, for gcc and clang.
//!
//! Every function carries its target attribute, so the file compiles without machine flags.
//! Loads and stores are the unaligned forms (as fast where the address is aligned).

mod op;

use crate::Preamble;
use crate::x86::{Machine, check, each_block, each_op, file, head, lacking};
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
        let mut vnni = false;
        for procedure in &program.procedures {
            each_op(&procedure.body, &mut |op| vnni |= matches!(op, Op::PairDotAdd { .. }));
        }
        Features { vnni }
    }

    /// The argument of the target attribute.
    pub fn attribute(self) -> &'static str {
        if self.vnni { "avx2,avxvnni" } else { "avx2" }
    }
}

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
    check(&program, &ringforge_target::AVX2, lacking)?;
    let machine = Machine {
        suffix: SUFFIX,
        what: "multiplication with AVX2",
        head,
        attribute: Features::needed(&program).attribute(),
        keeps: keeps(&program),
        repeats: true,
        in_order: 0,
        block: op::block,
    };
    Ok(file(&program, &machine, preamble))
}

/// Whether some block adds products to sums.
fn keeps(program: &Program) -> bool {
    let mut found = false;
    for procedure in &program.procedures {
        each_block(&procedure.body, &mut |block| {
            found |= block.ops.iter().any(|op| op::accumulates(block, op));
        });
    }
    found
}
