//! `ringforge prove`: any object against a contract.

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_prove::Verdict;
use ringforge_prove::contract::Contract;
use ringforge_targets::Architecture;
use serde::Serialize;
use std::path::Path;

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
use crate::target;
use crate::ui::{Failure, Ui};

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

/// The verdict on several things that must all hold.
pub fn together(verdicts: &[Verdict]) -> Verdict {
    if verdicts.contains(&Verdict::Refuted) {
        Verdict::Refuted
    } else if verdicts.contains(&Verdict::Unknown) {
        Verdict::Unknown
    } else {
        Verdict::Proved
    }
}

/// Runs a refuted object on the counterexample, if this machine can.
pub fn confirm(proof: &mut Proof, path: &Path, contract: &Contract) {
    if proof.report.verdict != Verdict::Refuted {
        return;
    }
    // Without a compiler the counterexample stays unconfirmed, and says so.
    let Some(architecture) = Architecture::of_abi(contract.abi.name()) else {
        let abi = contract.abi.name();
        proof.confirmation =
            Some(format!("unconfirmed: nothing on this machine runs code for \"{abi}\""));
        return;
    };
    match target::compiler_for(Some(architecture), None, None) {
        Ok(compiler) => proof::confirm(proof, &compiler, path, contract),
        Err(error) => proof.confirmation = Some(format!("unconfirmed: {}", error.message)),
    }
}

/// Says what was found of one object.
pub fn say(ui: &Ui, name: &str, proof: &Proof) {
    ui.say(format!("{name}: {} is {}", proof.report.symbol, proof.verdict()));
    for line in proof::explanation(proof) {
        ui.say(format!("  {line}"));
    }
    let mut table = Table::new();
    table
        .load_preset(UTF8_BORDERS_ONLY)
        .set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    if comfy_table::Table::new().width().is_none() {
        table.set_width(110);
    }
    for (name, value) in proof::facts(proof) {
        table.add_row([name, value]);
    }
    ui.say(table.to_string());
    if proof.report.ranges.stages.is_empty() {
        return;
    }
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header([
        "code",
        "variables",
        "range found",
        "after products",
    ]);
    for stage in &proof.report.ranges.stages {
        table.add_row([
            format!("{:#x} to {:#x}", stage.addresses.0, stage.addresses.1),
            stage.variables.to_string(),
            format!("[{}, {}]", stage.min, stage.max),
            if stage.after_products { "yes" } else { "" }.into(),
        ]);
    }
    ui.say(table.to_string());
}
