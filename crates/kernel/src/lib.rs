//! The kernel: a graph, a contract and a certificate to *accepted*, or the line that fails.
//!
//! This is what must be right for `proved` to be true, with `ringforge-ring`, `ringforge-machine` and
//! `ringforge-contract`. It believes nothing that a certificate says. `docs/kernel.md` states every
//! judgment and rule as mathematics.
//!
//! There are four judgments. A node's word is congruent to a form ([`form::Word`]). An atom is the
//! integer that its line defines ([`atom`]). A form lies in an interval, and a form is congruent to a
//! linear form ([`claim`]).

pub mod atom;
pub mod certificate;
pub mod check;
mod chinese;
pub mod claim;
pub mod compare;
mod congruent;
pub mod enumerate;
mod equal;
pub mod form;
pub mod fun;
mod guard;
pub mod map;
mod node;
pub mod pieces;
pub mod replay;

pub use guard::overflow_is_a_panic;
