//! Wrong multipliers on purpose: does the prover refuse every one of them?
//!
//! A prover is trusted for what it accepts, so it is tested with what it must not accept.
//! There are mutants on four levels:
//!
//! - instructions of the object ([`code_mutants`]), decoded, changed and encoded again in place;
//! - its constants ([`table_mutants`]);
//! - the program before it is emitted ([`program_mutants`]): each reduction omitted in turn, factors, loops, offsets;
//! - the emitted C ([`source_mutants`]): leaks, accesses outside, undefined values.
//!
//! [`run`] gives each mutant to the prover, which should *refuse* it (refute it or leave it open). Running the mutant
//! confirms inputs that the prover found. A *proved* mutant must be harmless. It runs next to the original on random and
//! worst inputs, and the report says why it is harmless: the same bytes, the same terms, not needed, or another way.
//! Proved and wrong is a soundness bug. [`Summary::passed`] is then false, and the summary says so loudly. A seed
//! determines everything.

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
pub use harness::{Emitted, Harmless, Harness, Outcome, Settings, Trial};
pub use judge::{Judge, Judgement, Prover, TIME_LIMIT, judgement};
pub use mutant::{Change, Class, Mutant, Mutants, Patch};
pub use native::{Behaviour, Native, Pair, Product, worst_pairs};
pub use object::{Constants, Function, Isa, Layout, LayoutError};
pub use program::{Edit, program_mutants};
pub use source::source_mutants;
pub use summary::{Counts, Summary};
pub use table::table_mutants;
