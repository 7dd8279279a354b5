//! What a package says overall: the verdict over all targets, what follows from it, what it does
//! not cover, and the table on the terminal.

use std::path::Path;

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_program::ir::Computes;

use crate::entry::Entry;
use crate::make::Made;
use crate::package::{Forged, Package, REPORT};
use crate::proof;
use crate::target::Target;
use crate::ui::Ui;

/// `proved` if everything is, else the worst verdict.
pub fn verdict(forged: &[Forged]) -> String {
    let worst = ["refuted", "unknown"];
    let found = worst.iter().find(|v| forged.iter().any(|f| f.proof.verdict() == **v));
    found.copied().unwrap_or("proved").to_owned()
}

/// Entry points with one contract whose output is unique.
pub fn equivalence(made: &[Made], forged: &[Forged]) -> Option<String> {
    let product = |e: &&Entry| e.computes == Computes::Product && e.batch == 1;
    let first = made.iter().flat_map(|m| &m.entries).find(product)?;
    let same = |f: &&Forged| {
        made.iter().flat_map(|m| &m.entries).filter(product).any(|e| {
            let output = &e.signature.arguments[0];
            e.signature.symbol == f.symbol
                && e.promises() == first.promises()
                && output.range.1 - output.range.0 < e.program.q as i64
        })
    };
    let proved: Vec<&str> = forged
        .iter()
        .filter(|f| f.proof.verdict() == "proved")
        .filter(same)
        .map(|f| f.symbol.as_str())
        .collect();
    (proved.len() > 1).then(|| {
        format!(
            "{} fulfil one contract whose output is unique, so they give equal outputs on all inputs",
            proved.join(" and ")
        )
    })
}

/// What the verdict does not cover.
pub fn limits(targets: &[&Target], name: &str) -> Vec<String> {
    let mut limits = vec![
        "The proof trusts the decoder, the model of the instructions and the prover itself; SOUNDNESS.md lists what.".to_owned(),
        "It holds for inputs in the ranges that the contract states, and for the bytes with the hash above.".to_owned(),
        "Constant time means: no branch, address or variable-time instruction depends on a coefficient.".to_owned(),
    ];
    if targets.len() > 1 {
        limits.push(format!(
            "What only chooses an implementation by processor feature ({name}.c) is not itself proved."
        ));
    }
    limits.push("Cycles are measured, not proved.".to_owned());
    limits
}

/// Prints the package's table.
pub fn print(ui: &Ui, package: &Package, place: &Path) {
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    table.set_header(["function", "verdict", "proof", "executed", "core cycles (min / median)"]);
    for forged in &package.targets {
        table.add_row([
            forged.symbol.clone(),
            forged.proof.verdict(),
            format!("{:.1} s", forged.proof.seconds()),
            forged.executed.as_ref().map_or("not here".into(), |e| format!("{} calls", e.products)),
            match (&forged.timing, &forged.modelled) {
                (Some(t), _) => {
                    let noisy = if t.noisy { " (noisy)" } else { "" };
                    format!("{:.0} / {:.0}{noisy}", t.min, t.median)
                }
                (None, Some(modelled)) => format!("not timed; {}", modelled.text()),
                (None, None) => "not measured".into(),
            },
        ]);
    }
    ui.say(format!("{}  {}", package.name, package.ring));
    for peer in &package.peers {
        let cycles = format!("{:.0} / {:.0}", peer.min, peer.median);
        table.add_row([peer.name.as_str(), "", "", "", &cycles]);
    }
    ui.say(table.to_string());
    for note in std::iter::once(&package.plan).chain(&package.other_plans).flat_map(|p| &p.notes) {
        ui.say(format!("differs from the plan: {note}"));
    }
    for forged in &package.targets {
        for line in proof::explanation(&forged.proof) {
            ui.say(format!("{}: {line}", forged.symbol));
        }
    }
    if let Some(text) = &package.equivalence {
        ui.say(text);
    }
    let place = std::env::current_dir()
        .ok()
        .and_then(|here| place.strip_prefix(here).ok().map(Path::to_owned))
        .unwrap_or_else(|| place.to_owned());
    ui.say(format!(
        "{}: {}, {} bytes of code and constants, in {:.1} s; {}, report in {}",
        package.verdict,
        package.object.name,
        package.loaded_bytes,
        package.seconds,
        package.targets.first().map_or("", |t| t.compiler.version.as_str()),
        place.join(REPORT).display()
    ));
}
