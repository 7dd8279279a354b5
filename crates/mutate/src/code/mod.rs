//! Mutants of instructions, changed in place in the object.

mod aarch64;
mod thumb;
mod x86_64;

use crate::mutant::Mutants;
use crate::object::{Isa, Layout};

/// Every mutant of every instruction of every function.
pub fn code_mutants(object: &[u8], layout: &Layout) -> Mutants {
    let mut all = Mutants::default();
    let one = match layout.isa {
        Isa::X86_64 => x86_64::function_mutants,
        Isa::Aarch64 => aarch64::function_mutants,
        Isa::Thumb => thumb::function_mutants,
    };
    for function in &layout.functions {
        one(object, function, &mut all);
    }
    all
}
