//! ELF and COFF to instructions to an expression graph: the semantics of machine code, knowing nothing of
//! rings.
//!
//! [`Object::parse`] reads an object file. [`lift`] executes one function of it with *concrete*
//! control flow on symbolic data. For every byte of the caller's buffers it returns the byte's
//! value as a term over the inputs. Registers, memory and stack are [`byte::Byte`]s, so data
//! movement makes no node; arithmetic is decomposed into the few operations of [`graph::Op`].
//! Everything outside the whitelist is refused by name.

mod aarch64;
pub mod byte;
pub mod call;
mod core;
pub mod error;
pub mod eval;
pub mod fold;
pub mod graph;
mod lift;
pub mod lifted;
pub mod object;
mod settled;
mod thumb;
mod x86_64;

pub use call::{ArgSpec, CallSpec, Extent, ExternalFunction, Initial, RegionSpec};
pub use error::{LiftError, ObjectError, Place, Timing, Violation};
pub use lift::lift;
pub use lifted::{Case, Class, ElementError, FinalRegion, Left, LiftStats, Lifted, Residue};
pub use object::{Architecture, Object};
