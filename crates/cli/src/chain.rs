//! `ringforge prove` with a chain: functions called one after the other, each proved against its own contract.

use std::path::{Path, PathBuf};

use ringforge_machine::Object;
use ringforge_prove::chain::{Callee, Chain};
use ringforge_prove::{Options, Verdict};
use serde::Serialize;

use crate::args::Prove;
use crate::map;
use crate::objects::{Found, Input};
use crate::package::Tool;
use crate::proof::{self, Named, Proof};
use crate::ui::{Failure, Ui};
use crate::verdict::{confirm, say, together};

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
/// Bad input, such as a chain that does not fit. A verdict is not an error.
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
    let inputs: Vec<Input> =
        args.objects.iter().map(|path| Input::read(path)).collect::<Result<_, _>>()?;
    let mut outcomes = Vec::new();
    for called in &chain.contracts {
        let (file, contract) = (called.name(), &called.contract);
        let (path, object) = defining(&args.objects, &inputs, contract.symbol(), &file)?;
        let named = Named { name: &object.name, bytes: object.bytes };
        let proof = proved(ui, path, named, contract, &args.limits.options(), !args.no_confirm)?;
        outcomes.push(Outcome { contract: file, object: object.name, proof });
    }
    let verdicts: Vec<Verdict> = outcomes.iter().map(|o| o.proof.report.verdict).collect();
    let overall = together(&verdicts);
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

/// Proves one function, and runs a refuted object on its counterexample if `confirms` says so.
///
/// # Errors
/// The object does not define the function, or is for another processor.
pub fn proved(
    ui: &Ui,
    path: &Path,
    object: Named,
    callee: &Callee,
    options: &Options,
    confirms: bool,
) -> Result<Proof, Failure> {
    match callee {
        Callee::Ring(contract) => {
            let proofs = proof::prove(ui, &[object], contract, options.clone())?;
            let [mut proof] = <[Proof; 1]>::try_from(proofs)
                .map_err(|_| Failure::failed("the prover says nothing of the object"))?;
            if confirms {
                confirm(&mut proof, path, contract);
            }
            Ok(proof)
        }
        Callee::Map(contract) => {
            let mut proof = map::proved(ui, &object, contract, options)?;
            if confirms {
                map::confirm(path, contract, &mut proof);
            }
            Ok(proof)
        }
    }
}

/// The only file that defines `symbol`, which the contract `file` is about. An archive must be the
/// only file.
fn defining<'a>(
    paths: &'a [PathBuf],
    inputs: &'a [Input],
    symbol: &str,
    file: &str,
) -> Result<(&'a Path, Found<'a>), Failure> {
    let mut found: Option<(&Path, Found)> = None;
    for (path, input) in paths.iter().zip(inputs) {
        if inputs.len() > 1 && input.is_archive() {
            let m = format!("`{}` is an archive: give it alone, or objects", path.display());
            return Err(Failure::input(m));
        }
        let object = input.defining(symbol)?;
        let name = &object.name;
        let parsed = Object::parse(object.bytes)
            .map_err(|e| Failure::input(format!("cannot read `{name}` as an object: {e}")))?;
        if parsed.function(symbol).is_err() {
            continue;
        }
        if let Some((_, first)) = &found {
            let first = &first.name;
            let m = format!("`{symbol}` is defined by `{first}` and by `{name}`: give one of them");
            return Err(Failure::input(m));
        }
        found = Some((path, object));
    }
    found.ok_or_else(|| {
        let m = format!("none of these objects defines `{symbol}`, which `{file}` is about");
        Failure::input(m)
    })
}

/// The contract that a chain names: a file next to the chain.
///
/// # Errors
/// It cannot be read, or makes no sense.
pub fn contract(origin: &str, name: &str) -> Result<Callee, String> {
    let path = Path::new(origin).parent().unwrap_or(Path::new("")).join(name);
    let text = std::fs::read_to_string(&path)
        .map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    Callee::parse(&text).map_err(|e| format!("`{}`: {e}", path.display()))
}
