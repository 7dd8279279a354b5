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
//! [[define]]                      # a name for what the claims need
//! name = "w"
//! computes = "a * b"              # in the ring, of the arrays' contents before the first call
//!
//! [[output]]
//! name = "c"
//! each = "(w mod 3329) mod 2"     # by coefficient, over the integers; or `computes`, as above
//! range = [0, 1]
//! ```
//!
//! A chain *fits* if each function gets what its contract allows: elements in the order that it reads, in its range and
//! of its type. Contracts are those of a ring, or those of a function for each element. What an array holds after a call then follows from the contracts alone. Objects come in later: the whole
//! is proved once each contract is.

mod callee;
mod claims;
mod formula;
mod values;
mod walk;

pub use callee::Callee;

use crate::clauses::At;
use crate::contract::{ContractError, Element};
use ringforge_ring::Ring;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;
use walk::Walk;

/// A contract that a chain names.
#[derive(Clone, Debug)]
pub struct Called {
    /// Its file, as the text names it.
    pub file: String,
    /// The ranges that the step gives it: ` with a in [0, 4095]`, or nothing.
    pub ranges: String,
    /// What the function promises, with these ranges.
    pub contract: Callee,
}

impl Called {
    /// The file, and the ranges.
    pub fn name(&self) -> String {
        format!("{}{}", self.file, self.ranges)
    }
}

/// A chain that fits.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The contracts, each once, by the name that the text gives it, and by the ranges of the step.
    pub contracts: Vec<Called>,
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
    #[serde(default)]
    define: Vec<Spanned<DefineText>>,
    step: Vec<Spanned<StepText>>,
    output: Vec<Spanned<OutputText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputText {
    name: Spanned<String>,
    element: Element,
    bits: Option<Spanned<u8>>,
    range: Spanned<[i64; 2]>,
    elements: Option<Spanned<usize>>,
    transform: Option<Spanned<String>>,
    order: Option<Spanned<Order>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepText {
    contract: Spanned<String>,
    arguments: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    ranges: BTreeMap<Spanned<String>, Spanned<[i64; 2]>>,
}

impl StepText {
    /// The ranges in words: with them, the contract is another one.
    fn narrowed(&self) -> String {
        let range = |(argument, range): (&Spanned<String>, &Spanned<[i64; 2]>)| {
            let [lo, hi] = range.as_ref();
            format!("{} in [{lo}, {hi}]", argument.as_ref())
        };
        let all: Vec<String> = self.ranges.iter().map(range).collect();
        if all.is_empty() { String::new() } else { format!(" with {}", all.join(", ")) }
    }

    fn calls(&self, called: &Called) -> bool {
        called.file == *self.contract.as_ref() && called.ranges == self.narrowed()
    }
}

/// What a text says that a polynomial is.
enum What<'a> {
    /// An element of a ring, which is named where there are several.
    Computes(&'a Spanned<String>, Option<&'a Spanned<String>>),
    /// Integers by coefficient.
    Each(&'a Spanned<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefineText {
    name: Spanned<String>,
    elements: Option<Spanned<usize>>,
    computes: Option<Spanned<String>>,
    ring: Option<Spanned<String>>,
    each: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputText {
    name: Spanned<String>,
    elements: Option<Spanned<usize>>,
    computes: Option<Spanned<String>>,
    ring: Option<Spanned<String>>,
    each: Option<Spanned<String>>,
    range: Spanned<[i64; 2]>,
    transform: Option<Spanned<String>>,
    order: Option<Spanned<Order>>,
}

/// The order of a transform: without one, it is the contract's own.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    /// Coefficient i of leaf j at place d·j + i.
    Standard,
}

impl DefineText {
    fn what(&self) -> Result<What<'_>, At> {
        what(&self.name, self.computes.as_ref(), self.ring.as_ref(), self.each.as_ref())
    }
}

impl OutputText {
    fn what(&self) -> Result<What<'_>, At> {
        what(&self.name, self.computes.as_ref(), self.ring.as_ref(), self.each.as_ref())
    }
}

/// The one claim that a text makes.
fn what<'a>(
    name: &Spanned<String>,
    computes: Option<&'a Spanned<String>>,
    ring: Option<&'a Spanned<String>>,
    each: Option<&'a Spanned<String>>,
) -> Result<What<'a>, At> {
    match (computes, ring, each) {
        (Some(computes), ring, None) => Ok(What::Computes(computes, ring)),
        (None, None, Some(each)) => Ok(What::Each(each)),
        (None, Some(ring), Some(_)) => {
            Err((ring.span().start, "`ring` belongs to `computes`: leave it out".into()))
        }
        (Some(_), _, Some(each)) => {
            Err((each.span().start, "`computes` and `each` are two claims: leave one out".into()))
        }
        (None, _, None) => {
            let m = "missing `computes` (in the ring) or `each` (by coefficient)";
            Err((name.span().start, m.into()))
        }
    }
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
        read: impl Fn(&str) -> Result<Callee, String>,
    ) -> Result<Chain, ContractError> {
        let at = |(offset, message): At| ContractError::at(text, offset, message);
        let parsed: Text = toml::from_str(text)
            .map_err(|e| at((e.span().map_or(0, |s| s.start), e.message().to_string())))?;
        if *parsed.chain.as_ref() != 1 {
            return Err(at((parsed.chain.span().start, "this tool reads `chain = 1`".into())));
        }
        for define in &parsed.define {
            define.as_ref().what().map_err(at)?;
        }
        for output in &parsed.output {
            output.as_ref().what().map_err(at)?;
        }
        let mut contracts: Vec<Called> = Vec::new();
        let mut rings: Vec<Ring> = Vec::new();
        for step in &parsed.step {
            let file = &step.as_ref().contract;
            if contracts.iter().any(|known| step.as_ref().calls(known)) {
                continue;
            }
            let start = file.span().start;
            let mut contract = read(file.as_ref()).map_err(|m| at((start, m)))?;
            for (argument, range) in &step.as_ref().ranges {
                contract.narrow(argument, range).map_err(at)?;
            }
            if let Some(m) = contract.refused() {
                return Err(at((start, format!("`{}` {m}", contract.symbol()))));
            }
            if let Some(first) = contracts.first()
                && first.contract.abi() != contract.abi()
            {
                let (this, that) = (contract.abi().name(), first.contract.abi().name());
                let first = &first.file;
                let m = format!(
                    "`{}` has the abi \"{this}\", and `{first}` has \"{that}\": a chain has one",
                    file.as_ref()
                );
                return Err(at((start, m)));
            }
            if let Some(ring) = contract.ring().filter(|ring| !rings.contains(ring)) {
                if let Some(other) = rings.iter().find(|r| r.degree() != ring.degree()) {
                    let m = format!(
                        "`{}` has the ring {ring}, and another contract has {other}: rings of a chain have one degree",
                        file.as_ref()
                    );
                    return Err(at((start, m)));
                }
                rings.push(ring.clone());
            }
            for given in contract.given() {
                let other = contracts.iter().flat_map(|c| c.contract.given());
                let mut same = other.filter(|g| g.symbol == given.symbol);
                if same.any(|g| (g.element, &g.values) != (given.element, &given.values)) {
                    let m = format!("`{}` is given otherwise by another contract", given.symbol);
                    return Err(at((start, m)));
                }
            }
            let (file, ranges) = (file.as_ref().clone(), step.as_ref().narrowed());
            contracts.push(Called { file, ranges, contract });
        }
        if contracts.is_empty() {
            return Err(at((0, "a chain has a [[step]] at least".into())));
        }
        if rings.is_empty() {
            return Err(at((0, "a chain has a contract with a ring at least".into())));
        }
        let mut walk = Walk::new(&contracts, &rings);
        for input in &parsed.input {
            walk.input(input.as_ref()).map_err(at)?;
        }
        for define in &parsed.define {
            walk.counted(define.as_ref()).map_err(at)?;
        }
        let mut defined = Vec::new();
        for define in &parsed.define {
            defined.push(walk.define(define.as_ref()).map_err(at)?);
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
        claims.extend(defined);
        let assumptions = walk.assumptions(&parsed);
        Ok(Chain { contracts, claims, assumptions })
    }
}
