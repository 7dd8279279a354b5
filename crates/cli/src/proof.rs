//! Calls of the prover, and what of its report the command shows.

use std::path::Path;

use ringforge_toolchain::{Argument, Compiler, Element, Role, Signature};
use serde::Serialize;

use crate::ui::{Failure, Ui};

/// A contract with its text.
pub struct Terms {
    /// Name of the text, for messages.
    pub origin: String,
    /// The text.
    pub text: String,
}

/// What the prover found, and how to show it.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    /// `proved`, `refuted` or `unknown`.
    pub verdict: String,
    /// Why it is not proved.
    pub reasons: Vec<String>,
    /// Name and value of everything worth a line.
    #[serde(skip)]
    pub facts: Vec<(String, String)>,
    /// Seconds that the proof took.
    pub seconds: Option<f64>,
    /// Inputs at which the object fails, in the order of the contract's inputs.
    pub witness: Option<Vec<Vec<i64>>>,
    /// What running the object on the witness showed.
    pub confirmed: Option<String>,
    /// The prover's whole report.
    pub report: serde_json::Value,
}

/// Proves one symbol of an object.
///
/// # Errors
/// The contract or the object is unusable.
pub fn prove(
    _ui: &Ui,
    _name: &str,
    _object: &[u8],
    _terms: &Terms,
    _symbol: Option<&str>,
) -> Result<Proof, Failure> {
    Ok(Proof {
        verdict: "unknown".into(),
        reasons: vec![],
        facts: vec![],
        seconds: None,
        witness: None,
        confirmed: None,
        report: serde_json::Value::Null,
    })
}

/// Runs a refuted object on its counterexample and notes what happens.
///
/// # Errors
/// The contract is unusable.
pub fn confirm(
    _proof: &mut Proof,
    _compiler: &Compiler,
    _object: &Path,
    _terms: &Terms,
    _symbol: &str,
) -> Result<(), Failure> {
    Ok(())
}

/// The lines that say why a proof did not succeed.
pub fn explanation(proof: &Proof) -> Vec<String> {
    proof.reasons.iter().chain(&proof.confirmed).cloned().collect()
}

/// What a contract says of the function, for running it.
pub fn signature(
    symbol: &str,
    length: usize,
    operands: [(i64, i64); 2],
    output: (i64, i64),
) -> Signature {
    let argument = |name: &str, role, range| Argument {
        name: name.into(),
        role,
        element: Element::I16,
        length,
        align: 2,
        range,
    };
    Signature {
        symbol: symbol.into(),
        arguments: vec![
            argument("c", Role::Output, output),
            argument("a", Role::Input, operands[0]),
            argument("b", Role::Input, operands[1]),
        ],
    }
}
