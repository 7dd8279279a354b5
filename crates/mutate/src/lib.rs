//! Wrong multipliers on purpose: does the prover refuse every one of them?

mod code;
mod mutant;
mod object;
mod table;

pub use code::code_mutants;
pub use mutant::{Change, Class, Mutant, Mutants, Patch};
pub use object::{Constants, Function, Layout, LayoutError};
pub use table::table_mutants;
