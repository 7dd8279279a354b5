//! Wrong multipliers on purpose: does the prover refuse every one of them?

mod campaign;
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
mod terms;

pub use campaign::{Choice, Subject, all_mutants, choose, run};
pub use code::code_mutants;
pub use harness::{Harmless, Harness, Outcome, Settings, Trial};
pub use judge::{Judge, Judgement, Prover, TIME_LIMIT, judgement};
pub use mutant::{Change, Class, Mutant, Mutants, Patch};
pub use native::{Behaviour, Native, Pair, Product, worst_pairs};
pub use object::{Constants, Function, Layout, LayoutError};
pub use program::program_mutants;
pub use source::source_mutants;
pub use summary::{Counts, Summary};
pub use table::table_mutants;
