//! One program, many meanings [TokudaKameyama23 §3].
//!
//! [`walk`] is the language abstraction: it executes statements, loops and moves once and for all.
//! A [`domain::Domain`] says what a word is, and thereby gives the program a meaning:
//!
//! | module | a word is | answers |
//! |---|---|---|
//! | [`run`] | a 16-bit machine word that wraps | is it right on these inputs? |
//! | [`range`] | an interval of integers | can anything overflow, and where? |
//! | [`formula`] | an exact form mod q over the inputs | is it right for all inputs? |
//! | [`count`] | nothing: it only counts | what does it cost, stage by stage? |
//! | [`simulate`] | the cycle in which it is there | how long does it take on a processor? |
//!
//! [`ocaml`] prints a program in OCaml, [`unsigned`] gives all these meanings to the unsigned programs of seed
//! 003. [`draw`] makes pictures of what they find, [`text`] the same for terminals.

pub mod count;
pub mod domain;
pub mod draw;
pub mod formula;
pub mod ocaml;
pub mod range;
pub mod run;
pub mod simulate;
pub mod text;
pub mod unsigned;
pub mod walk;

pub use domain::Domain;
pub use walk::{Fault, Place};
