//! *How* to compute a product: the embedded language, the schedule, and the lowering of plan and
//! schedule to a program.

mod expand;
pub mod ir;
pub mod method;
