//! Constant time and memory safety of any function, without its algebra.
//!
//! A function is executed as in a proof of a product, with concrete control flow, but no terms are
//! kept: every byte is a number, an address or *unknown* ([`ringforge_machine::graph::Graph::blind`]).
//! All memory is unknown but for what the contract gives, so a run to the return shows that no branch,
//! address or variable-time instruction depends on what is in it, for every content, and that all
//! accesses stay inside; it costs some 0.1 to 1 µs for each instruction executed, and no memory.

mod check;
mod clean;
pub mod contract;
#[cfg(test)]
mod tests;
mod text;

pub use check::{FunctionReport, SafetyReport, check};
pub use clean::Clean;
pub use contract::{Buffer, Data, Function, Parameter, SafetyContract};
