//! Certificates as text: one line each, numbers and names separated by spaces.
//!
//! Nothing here has to be right for a verdict. Whatever lines are read, the kernel accepts only what is true.
//! `docs/kernel.md` has the grammar.

mod read;
pub mod stated;
mod write;

pub use read::{Malformed, line_of, parse, read, read_from};
pub use write::{Certificate, write};

/// What a certificate begins with.
pub const HEAD: &str = "ringforge certificate 2\n";
