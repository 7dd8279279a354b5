//! `ringforge list`: what there is to forge, for which machines, with which compilers.

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_plan::Plan;
use ringforge_toolchain::{Compiler, Host};

use crate::preset::PLANS;
use crate::target::TARGETS;
use crate::ui::{Failure, Ui};

/// Runs the command.
///
/// # Errors
/// The JSON cannot be written.
pub fn run(ui: &Ui) -> Result<u8, Failure> {
    let host = Host::detect();
    let plans: Vec<(&str, Plan)> =
        PLANS.iter().filter_map(|(name, text)| Some((*name, Plan::parse(text).ok()?))).collect();
    let compilers: Vec<Compiler> = ["gcc", "clang", "clang-19", "cc"]
        .iter()
        .filter_map(|name| Compiler::find(name).ok())
        .collect();
    ui.json(&serde_json::json!({
        "presets": plans.iter().map(|(name, plan)| serde_json::json!({
            "name": name, "ring": plan.ring.to_string(),
        })).collect::<Vec<_>>(),
        "targets": TARGETS.iter().map(|t| serde_json::json!({
            "name": t.name, "what": t.what, "runs_here": t.runs_on(&host),
        })).collect::<Vec<_>>(),
        "compilers": compilers,
        "host": host,
    }))?;

    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(["preset", "ring"]);
    for (name, plan) in &plans {
        table.add_row([name.to_string(), plan.ring.to_string()]);
    }
    ui.say(table.to_string());
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(["target", "what", "runs here"]);
    for target in TARGETS {
        let here = if target.runs_on(&host) { "yes" } else { "no" };
        table.add_row([target.name, target.what, here]);
    }
    ui.say(table.to_string());
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(["compiler", "version"]);
    for compiler in &compilers {
        table.add_row([&compiler.name, &compiler.version]);
    }
    if compilers.is_empty() {
        table.add_row(["none", "on Debian: apt-get install gcc"]);
    }
    ui.say(table.to_string());
    Ok(0)
}
