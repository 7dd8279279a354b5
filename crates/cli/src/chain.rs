//! `ringforge prove` with a chain: functions called one after the other, each proved against its own contract.

use std::path::Path;

use ringforge_machine::Object;
use ringforge_prove::Verdict;
use ringforge_prove::chain::Chain;
use ringforge_prove::contract::Contract;
use serde::Serialize;

use crate::args::Prove;
use crate::package::Tool;
use crate::proof::{self, Named, Proof};
use crate::prove::{confirm, say, together};
use crate::ui::{Failure, Ui};

/// A function that a chain calls.
#[derive(Serialize)]
struct Outcome {
    contract: String,
    object: String,
    #[serde(flatten)]
    proof: Proof,
}

/// Runs the command on a chain's text.
///
/// # Errors
/// Bad input, such as a chain that does not fit. A verdict is no error.
pub fn run(ui: &Ui, args: &Prove, origin: &str, text: &str) -> Result<u8, Failure> {
    for (given, option) in
        [(args.symbol.is_some(), "--symbol"), (args.certificate.is_some(), "--certificate")]
    {
        if given {
            let m = format!("{option} is for one contract; `{origin}` is a chain of several");
            return Err(Failure::input(m));
        }
    }
    let chain = Chain::parse(text, |name| contract(origin, name))
        .map_err(|error| proof::refused_as("this chain does not fit", origin, text, error))?;
    let mut contents = Vec::new();
    for path in &args.objects {
        let name = path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|e| Failure::input(format!("cannot read `{name}`: {e}")))?;
        contents.push((path, name, bytes));
    }
    let mut outcomes = Vec::new();
    for (file, contract) in &chain.contracts {
        let mut defining = Vec::new();
        for (path, name, bytes) in &contents {
            let object = Object::parse(bytes)
                .map_err(|e| Failure::input(format!("cannot read `{name}` as an object: {e}")))?;
            if object.function(&contract.symbol).is_ok() {
                defining.push((path, name, bytes));
            }
        }
        let (path, name, bytes) = match defining.as_slice() {
            [one] => *one,
            [] => {
                let m = format!(
                    "none of these objects defines `{}`, which `{file}` is about",
                    contract.symbol
                );
                return Err(Failure::input(m));
            }
            [first, second, ..] => {
                let m = format!(
                    "`{}` is defined by `{}` and by `{}`: give one of them",
                    contract.symbol, first.1, second.1
                );
                return Err(Failure::input(m));
            }
        };
        let named = [Named { name, bytes }];
        let mut proofs = proof::prove(ui, &named, contract, args.limits.options())?;
        let Some(mut proof) = proofs.pop() else { continue };
        confirm(args, &mut proof, path, contract);
        outcomes.push(Outcome { contract: file.clone(), object: name.clone(), proof });
    }
    let verdicts: Vec<Verdict> = outcomes.iter().map(|o| o.proof.report.verdict).collect();
    // Every contract of the chain has a verdict, or nothing is proved.
    let overall = match verdicts.len() == chain.contracts.len() {
        true => together(&verdicts),
        false => Verdict::Unknown,
    };
    ui.json(&serde_json::json!({
        "verdict": overall,
        "tool": Tool::THIS,
        "contract": origin,
        "claims": chain.claims,
        "assumptions": chain.assumptions,
        "functions": outcomes,
    }))?;
    for outcome in &outcomes {
        say(ui, &outcome.object, &outcome.proof);
    }
    let of = match overall {
        Verdict::Proved => "proved",
        Verdict::Refuted => "not proved: a function breaks its contract",
        Verdict::Unknown => "unknown: a function is not proved",
    };
    ui.say(format!("{origin}: the chain is {of}"));
    for claim in &chain.claims {
        ui.say(format!("  {claim}"));
    }
    for assumption in &chain.assumptions {
        ui.say(format!("  assumed: {assumption}"));
    }
    Ok(if overall == Verdict::Proved { 0 } else { 1 })
}

/// The contract that a chain names: a file beside it.
fn contract(origin: &str, name: &str) -> Result<Contract, String> {
    let path = Path::new(origin).parent().unwrap_or(Path::new("")).join(name);
    let text = std::fs::read_to_string(&path)
        .map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    Contract::parse(&text).map_err(|e| format!("`{}`: {e}", path.display()))
}
