//! Chains: functions called one after the other, each with a contract of its own.
//!
//! ```toml
//! chain = 1
//!
//! [[input]]
//! name = "a"
//! element = "i16"
//! range = [-1664, 1664]
//!
//! [[step]]
//! contract = "forward.toml"       # beside this file
//! arguments = { r = "a" }         # the contract's argument, and the array that it gets
//!
//! # … the other steps
//!
//! [[output]]
//! name = "c"
//! computes = "a * b"              # in the ring, of the arrays' contents before the first call
//! range = [-1664, 1664]
//! ```
//!
//! A chain *fits* if each function gets what its contract allows: elements in the order that it reads, in its range and
//! of its type. What an array holds after a call then follows from the contracts alone. Objects come in later: the whole
//! is proved once each contract is.

mod formula;
mod walk;

pub use formula::Formula;

use crate::clauses::At;
use crate::contract::{Contract, ContractError, Element};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;
use walk::Walk;

/// A chain that fits.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The contracts, each once, by the name that the text gives it.
    pub contracts: Vec<(String, Contract)>,
    /// What the calls compute together, if each function fulfils its contract.
    pub claims: Vec<String>,
    /// What the caller promises beside the assumptions of the contracts.
    pub assumptions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    chain: Spanned<u64>,
    input: Vec<Spanned<InputText>>,
    step: Vec<Spanned<StepText>>,
    output: Vec<Spanned<OutputText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputText {
    name: Spanned<String>,
    element: Element,
    range: Spanned<[i64; 2]>,
    elements: Option<Spanned<usize>>,
    transform: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepText {
    contract: Spanned<String>,
    arguments: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputText {
    name: Spanned<String>,
    computes: Spanned<String>,
    range: Spanned<[i64; 2]>,
    transform: Option<Spanned<String>>,
}

/// Whether a text is a chain's, and no contract's.
pub fn is_for(text: &str) -> bool {
    let table: Option<toml::Table> = toml::from_str(text).ok();
    match table {
        Some(table) => table.contains_key("chain"),
        None => text.lines().any(|line| line.trim_start().starts_with("chain = ")),
    }
}

impl Chain {
    /// Parses a chain and checks that it fits. `read` reads and checks the contract of that name.
    ///
    /// # Errors
    /// With the position of the first thing that is wrong, or of the first call that does not fit.
    pub fn parse(
        text: &str,
        read: impl Fn(&str) -> Result<Contract, String>,
    ) -> Result<Chain, ContractError> {
        let at = |(offset, message): At| ContractError::at(text, offset, message);
        let parsed: Text = toml::from_str(text)
            .map_err(|e| at((e.span().map_or(0, |s| s.start), e.message().to_string())))?;
        if *parsed.chain.as_ref() != 1 {
            return Err(at((parsed.chain.span().start, "this tool reads `chain = 1`".into())));
        }
        let mut contracts: Vec<(String, Contract)> = Vec::new();
        for step in &parsed.step {
            let file = &step.as_ref().contract;
            if contracts.iter().any(|(known, _)| known == file.as_ref()) {
                continue;
            }
            let contract = read(file.as_ref()).map_err(|m| at((file.span().start, m)))?;
            if let Some((first, other)) = contracts.first() {
                let differs = if other.ring != contract.ring {
                    Some(format!("the ring {}, and `{first}` has {}", contract.ring, other.ring))
                } else if other.abi != contract.abi {
                    let (this, that) = (contract.abi.name(), other.abi.name());
                    Some(format!("the abi \"{this}\", and `{first}` has \"{that}\""))
                } else {
                    None
                };
                if let Some(differs) = differs {
                    let m = format!("`{}` has {differs}: a chain has one", file.as_ref());
                    return Err(at((file.span().start, m)));
                }
            }
            for given in &contract.given {
                let other = contracts.iter().flat_map(|(_, c)| &c.given);
                let mut same = other.filter(|g| g.symbol == given.symbol);
                if same.any(|g| (g.element, &g.values) != (given.element, &given.values)) {
                    let m = format!("`{}` is given otherwise by another contract", given.symbol);
                    return Err(at((file.span().start, m)));
                }
            }
            contracts.push((file.as_ref().clone(), contract));
        }
        let Some((_, first)) = contracts.first() else {
            return Err(at((0, "a chain has a [[step]] at least".into())));
        };
        let mut walk = Walk::new(&contracts, &first.ring);
        for input in &parsed.input {
            walk.input(input.as_ref()).map_err(at)?;
        }
        for (i, step) in parsed.step.iter().enumerate() {
            walk.step(i, step).map_err(at)?;
        }
        let calls: Vec<String> = parsed.step.iter().map(|s| walk.call(s.as_ref())).collect();
        let mut claims = vec![format!("these calls, in this order: {}", calls.join(", "))];
        if parsed.output.is_empty() {
            return Err(at((0, "a chain has an [[output]] at least".into())));
        }
        for output in &parsed.output {
            claims.push(walk.output(output.as_ref()).map_err(at)?);
        }
        let assumptions = walk.assumptions(&parsed);
        Ok(Chain { contracts, claims, assumptions })
    }
}
