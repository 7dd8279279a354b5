//! Wrong multipliers on purpose: does the prover refuse every one of them?
//!
//! A prover is trusted for what it accepts, so it is tested with what it must not accept.
//! Mutants are made on four levels: instructions of the object ([`code_mutants`]: decoded,
//! changed, encoded again in place), its constants ([`table_mutants`]), the program before it is
//! emitted ([`program_mutants`]: every single reduction left out in turn, factors, loops,
//! offsets), and the emitted C ([`source_mutants`]: leaks, accesses outside, undefined values).
//!
//! [`run`] brings each before the prover. A mutant that is *refused* (refuted or left open) is
//! what one hopes for; inputs that the prover gives are confirmed by running the mutant on them.
//! A mutant that is *proved* has to be harmless: it is run beside the original on random and on
//! worst inputs, and says why it is (the same bytes, the same terms, not needed, another way).
//! Proved and wrong is a soundness bug: [`Summary::passed`] is false and the summary says so
//! loudly. Everything is determined by a seed.

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
