//! Verdicts: on several things at once, confirmed by running the object, and shown.

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_prove::Verdict;
use ringforge_prove::contract::Contract;
use ringforge_targets::Architecture;
use std::path::Path;

use crate::proof::{self, Proof};
use crate::target;
use crate::ui::Ui;

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

/// Runs an object on the counterexample, if this machine can.
pub fn confirm(proof: &mut Proof, path: &Path, contract: &Contract) {
    if !proof.wants_a_run() {
        return;
    }
    // Without a compiler the counterexample stays unconfirmed, and says so.
    let Some(architecture) = Architecture::of_abi(contract.abi.name()) else {
        let abi = contract.abi.name();
        proof.confirmation =
            Some(format!("unconfirmed: nothing on this machine runs code for \"{abi}\""));
        proof.ran();
        return;
    };
    match target::compiler_for(Some(architecture), None, None) {
        Ok(compiler) => proof::confirm(proof, &compiler, path, contract),
        Err(error) => {
            proof.confirmation = Some(format!("unconfirmed: {}", error.message));
            proof.ran();
        }
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
