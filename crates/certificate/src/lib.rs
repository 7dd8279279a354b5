//! Certificates as text: one line each, numbers and names separated by spaces.
//!
//! Nothing here has to be right for a verdict. Whatever lines are read, the kernel accepts only what is true.
//! `docs/kernel.md` has the grammar.

mod read;
pub mod stated;
mod write;

pub use read::{Malformed, parse, read, read_from};
pub use write::{Certificate, write};

use ringforge_kernel::fun::{FunOp, Op};

/// What a certificate begins with.
pub const HEAD: &str = "ringforge certificate 1\n";

/// Operations without numbers.
const NAMES: [(&str, FunOp); 13] = [
    ("concat", FunOp::Word(Op::Concat)),
    ("sext", FunOp::Word(Op::Sext)),
    ("zext", FunOp::Word(Op::Zext)),
    ("mul", FunOp::Word(Op::Mul)),
    ("and", FunOp::Word(Op::And)),
    ("or", FunOp::Word(Op::Or)),
    ("xor", FunOp::Word(Op::Xor)),
    ("eq", FunOp::Word(Op::Eq)),
    ("ult", FunOp::Word(Op::Ult)),
    ("slt", FunOp::Word(Op::Slt)),
    ("select", FunOp::Word(Op::Select)),
    ("sats", FunOp::Word(Op::SatS)),
    ("satu", FunOp::Word(Op::SatU)),
];
