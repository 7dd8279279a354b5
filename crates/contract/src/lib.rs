//! What a function promises: contract texts, and the calls that they allow.
//!
//! A [`Contract`] says which function of a ring an object computes, on which inputs. [`claims`]
//! says the same in words, [`oracle`] as numbers, [`terms`] as polynomials in the inputs, and
//! [`calls`] executes the object in all the ways that the contract allows. Nothing is proved here,
//! and nothing here knows how a proof is found or checked.

mod arguments;
pub mod calls;
pub mod chain;
pub mod claims;
mod clauses;
pub mod computes;
pub mod contract;
pub mod map;
pub mod oracle;
pub mod terms;

pub use calls::{CallCase, CallLimits, Executed, InputRange, NotLifted, cases};
pub use computes::{Computes, Transform};
pub use contract::{Contract, ContractError};
pub use oracle::{Oracle, expected};

use sha2::{Digest, Sha256};

/// Hexadecimal SHA-256.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}
