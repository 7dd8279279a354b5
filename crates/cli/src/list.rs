//! `ringforge list`: what there is to forge, for which machines, with which compilers.

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_plan::{Plan, RingFile};
use ringforge_toolchain::{Compiler, Host};

use crate::target::{self, TARGETS};
use crate::ui::{Failure, Ui};

/// Runs the command.
///
/// # Errors
/// The JSON cannot be written.
pub fn run(ui: &Ui) -> Result<u8, Failure> {
    let host = Host::detect();
    let presets: Vec<RingFile> =
        RingFile::names().filter_map(|name| RingFile::find(name).ok()).collect();
    let plans: Vec<Plan> = Plan::names().filter_map(|name| Plan::find(name).ok()).collect();
    let compilers: Vec<Compiler> = ["gcc", "clang", "clang-19", "cc"]
        .iter()
        .filter_map(|name| Compiler::find(name).ok())
        .collect();
    ui.json(&serde_json::json!({
        "presets": presets.iter().map(|p| serde_json::json!({
            "name": p.name, "ring": p.ring.to_string(), "plan": p.plan, "use": p.kem,
        })).collect::<Vec<_>>(),
        "plans": plans.iter().map(|plan| serde_json::json!({
            "name": plan.name, "ring": plan.ring.to_string(), "cite": plan.cite,
        })).collect::<Vec<_>>(),
        "targets": TARGETS.iter().map(|t| serde_json::json!({
            "name": t.name, "what": t.what, "runs_here": t.runs_on(&host),
        })).collect::<Vec<_>>(),
        "compilers": compilers,
        "host": host,
    }))?;

    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(["preset", "ring", "plan"]);
    for preset in &presets {
        table.add_row([&preset.name, &preset.ring.to_string(), &preset.plan]);
    }
    ui.say(table.to_string());
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(["plan", "ring", "source"]);
    for plan in &plans {
        let cite = plan.cite.as_deref().unwrap_or("");
        table.add_row([&plan.name, &plan.ring.to_string(), cite]);
    }
    ui.say(table.to_string());
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(["target", "what", "runs here"]);
    for target in TARGETS {
        table.add_row([target.name, target.what, target::here(target, &host)]);
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
