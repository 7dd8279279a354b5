//! `ringforge prove`: any object against a contract.

use ringforge_prove::Verdict;
use serde::Serialize;

use crate::args::Prove;
use crate::chain;
use crate::map;
use crate::objects::{Found, Input};
use crate::package::Tool;
use crate::preset::read;
use crate::project;
use crate::proof::{self, Named, Proof};
use crate::recheck::packed;
use crate::safety;
use crate::ui::{Failure, Ui};
use crate::verdict::{confirm, say, together};

#[derive(Serialize)]
struct Outcome<'a> {
    object: String,
    #[serde(flatten)]
    proof: &'a Proof,
}

/// Runs the command.
///
/// # Errors
/// Bad input. A verdict is not an error.
pub fn run(ui: &Ui, args: &Prove) -> Result<u8, Failure> {
    let Some(contract) = &args.contract else { return project::run(ui, args) };
    let origin = contract.display().to_string();
    let text = read(&origin)?;
    if ringforge_prove::constant_time::contract::is_for(&text) {
        return safety::run(ui, args, &origin, &text);
    }
    if ringforge_prove::chain::is_for(&text) {
        return chain::run(ui, args, &origin, &text);
    }
    if ringforge_prove::map::is_for(&text) {
        return map::run(ui, args, &origin, &text);
    }
    let contract = proof::contract(&origin, &text, args.symbol.as_deref())?;
    let inputs = args.objects.iter().map(|path| Input::read(path));
    let inputs: Vec<Input> = inputs.collect::<Result<_, _>>()?;
    let objects = inputs.iter().map(|input| input.defining(&contract.symbol));
    let objects: Vec<Found> = objects.collect::<Result<_, _>>()?;
    let named: Vec<Named> =
        objects.iter().map(|o| Named { name: &o.name, bytes: o.bytes }).collect();
    if args.certificate.is_some() && named.len() > 1 {
        return Err(Failure::input("--certificate takes one object: each has its own"));
    }
    let mut proofs = proof::prove(ui, &named, &contract, args.limits.options())?;
    if let (Some(path), Some(text)) =
        (&args.certificate, proofs.first().and_then(|p| p.certificate.as_deref()))
    {
        let written = packed(text).and_then(|bytes| std::fs::write(path, bytes));
        written.map_err(|e| Failure::failed(format!("cannot write `{}`: {e}", path.display())))?;
    }
    for (proof, path) in proofs.iter_mut().zip(&args.objects) {
        if !args.no_confirm {
            confirm(proof, path, &contract);
        }
    }
    let verdicts: Vec<Verdict> = proofs.iter().map(|p| p.report.verdict).collect();
    let overall = together(&verdicts);
    let equivalent = overall == Verdict::Proved && proofs.len() > 1;
    ui.json(&serde_json::json!({
        "verdict": overall,
        "tool": Tool::THIS,
        "contract": origin,
        "equivalent": equivalent,
        "objects": objects.iter().zip(&proofs)
            .map(|(object, proof)| Outcome { object: object.name.clone(), proof })
            .collect::<Vec<_>>(),
    }))?;
    for (object, proof) in objects.iter().zip(&proofs) {
        say(ui, &object.name, proof);
    }
    if equivalent {
        ui.say("The objects fulfil one contract: they give equal outputs on all inputs in range.");
    }
    Ok(if overall == Verdict::Proved { 0 } else { 1 })
}
