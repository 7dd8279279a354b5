//! Programs to C source, one module for each target.

pub mod avx2;
pub mod avx512;
pub mod c;
mod interface;
pub mod m4;
pub mod neon;
pub mod preamble;
mod source;
pub mod sse41;
mod x86;

pub use preamble::{LICENSE, Preamble};
