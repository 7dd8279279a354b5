//! Wrong multipliers on purpose: does the prover refuse every one of them?

mod code;
mod harness;
mod judge;
mod mutant;
mod native;
mod object;
mod program;
mod source;
mod summary;
mod table;

pub use code::code_mutants;
pub use harness::{Harmless, Harness, Outcome, Settings, Trial};
pub use judge::{Judge, Judgement, Verdict};
pub use mutant::{Change, Class, Mutant, Mutants, Patch};
pub use native::{Behaviour, Native, Pair, Product, worst_pairs};
pub use object::{Constants, Function, Layout, LayoutError};
pub use program::program_mutants;
pub use source::source_mutants;
pub use summary::{Counts, Summary};
pub use table::table_mutants;
