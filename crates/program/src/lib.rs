//! *How* to compute a product: the embedded language, the schedule, and the lowering of plan and
//! schedule to a program.

pub mod bounds;
pub mod build;
pub mod cut;
mod expand;
pub mod ir;
pub mod lower;
pub mod method;
pub mod place;
pub mod rebase;
pub mod schedule;
pub mod settle;
mod together;
pub mod unsigned;
