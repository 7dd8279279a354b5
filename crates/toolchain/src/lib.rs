//! Everything outside the process: compilers, runs of compiled objects, output directories,
//! the clock.
//!
//! Nothing here knows a ring or a plan. Only its [`Signature`] describes a compiled function. The function runs in a
//! process of its own ([`Callee`], [`timing`]). If it crashes or hangs, ringforge reports that and continues.

mod call;
mod children;
mod compiler;
pub mod count;
mod driver;
mod host;
mod output;
mod runner;
pub mod timing;

pub use call::{CallError, Callee, Guard};
pub use children::stop_children;
pub use compiler::{Compilation, CompileError, Compiler, CompilerError, Family};
pub use driver::{Argument, Element, Role, Signature};
pub use host::Host;
pub use output::{OutputDir, OutputError, Scratch, remove_unfinished, replace_file};
pub use runner::{Runner, RunnerError};
