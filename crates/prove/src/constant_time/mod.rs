//! Checks constant time and memory safety of any function, without its algebra.
//!
//! A function is executed as in a proof of a product, with concrete control flow, but without
//! terms. Every byte is a number, an address or *unknown*
//! ([`ringforge_machine::graph::Graph::blind`]). All memory is unknown but for what the contract
//! gives. So a run to the return shows two things for every content of memory. No branch, address
//! or variable-time instruction depends on it, and all accesses stay inside. This costs some 0.1 to
//! 1 µs for each instruction executed, and no memory.

mod check;
mod clean;
pub mod contract;
mod inlined;
#[cfg(test)]
mod tests;
mod text;

pub use check::{FunctionReport, SafetyReport, check};
pub use clean::Clean;
pub use contract::{Buffer, Data, Function, Parameter, SafetyContract};
