//! `ringforge prove` with a contract of constant time: objects, function by function.

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_prove::constant_time::{SafetyContract, SafetyReport, check};
use ringforge_prove::{Progress, Verdict};
use serde::Serialize;

use crate::args::Prove;
use crate::objects::{Found, Input};
use crate::package::Tool;
use crate::proof;
use crate::ui::{Failure, Ui};

#[derive(Serialize)]
struct Outcome<'a> {
    object: &'a str,
    #[serde(flatten)]
    report: &'a SafetyReport,
}

struct Shown(indicatif::ProgressBar);

impl Progress for Shown {
    fn update(&self, function: &str, _: f64) -> bool {
        self.0.set_message(format!("executing {function}"));
        true
    }
}

/// Runs the command on a contract's text.
///
/// # Errors
/// Bad input. A verdict is not an error.
pub fn run(ui: &Ui, args: &Prove, origin: &str, text: &str) -> Result<u8, Failure> {
    let mut contract =
        SafetyContract::parse(text).map_err(|error| proof::refused(origin, text, error))?;
    if let Some(symbol) = &args.symbol {
        contract.functions.retain(|f| f.symbol == *symbol);
        if contract.functions.is_empty() {
            return Err(Failure::input(format!("`{origin}` says nothing of `{symbol}`")));
        }
    }
    let mut reports = Vec::new();
    for path in &args.objects {
        let input = Input::read(path)?;
        // The functions of an archive may lie in several of its members.
        let mut objects: Vec<(Found, SafetyContract)> = Vec::new();
        for function in &contract.functions {
            let found = input.defining(&function.symbol)?;
            match objects.iter_mut().find(|(o, _)| std::ptr::eq(o.bytes, found.bytes)) {
                Some((_, of)) => of.functions.push(function.clone()),
                None => {
                    let functions = vec![function.clone()];
                    objects.push((found, SafetyContract { functions, ..contract.clone() }));
                }
            }
        }
        for (Found { name, bytes }, contract) in objects {
            let bar = ui.spinner(&format!("reading {name}"));
            let report = check(bytes, &contract, &args.limits.options(), &Shown(bar.clone()));
            bar.finish_and_clear();
            reports.push((name, report));
        }
    }
    let any = |v: Verdict| reports.iter().any(|(_, r)| r.verdict == v);
    let overall = match (any(Verdict::Refuted), any(Verdict::Unknown)) {
        (true, _) => Verdict::Refuted,
        (_, true) => Verdict::Unknown,
        _ => Verdict::Proved,
    };
    ui.json(&serde_json::json!({
        "verdict": overall,
        "tool": Tool::THIS,
        "contract": origin,
        "objects": reports.iter()
            .map(|(object, report)| Outcome { object, report })
            .collect::<Vec<_>>(),
    }))?;
    for (name, report) in &reports {
        say(ui, name, report);
    }
    Ok(if overall == Verdict::Proved { 0 } else { 1 })
}

fn say(ui: &Ui, name: &str, report: &SafetyReport) {
    ui.say(match report.verdict {
        Verdict::Proved => format!("{name}: proved: constant time and in bounds"),
        Verdict::Refuted => format!("{name}: refuted"),
        Verdict::Unknown => format!("{name}: unknown"),
    });
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header([
        "function",
        "verdict",
        "cases",
        "instructions",
        "stack bytes",
        "seconds",
    ]);
    for f in &report.functions {
        table.add_row([
            f.symbol.clone(),
            match f.verdict {
                Verdict::Proved => "constant time, in bounds".into(),
                Verdict::Refuted => "refuted".into(),
                Verdict::Unknown => "unknown".into(),
            },
            f.cases.to_string(),
            f.instructions.to_string(),
            f.stack_bytes.to_string(),
            format!("{:.1}", f.seconds),
        ]);
    }
    ui.say(table.to_string());
    for f in &report.functions {
        for reason in &f.reasons {
            let call =
                if reason.call.is_empty() { String::new() } else { format!(" ({})", reason.call) };
            ui.say(format!("{}{call}: {}", f.symbol, reason.text));
        }
    }
    for f in &report.functions {
        for remark in &f.remarks {
            ui.say(format!("{}: note that {remark}", f.symbol));
        }
    }
    if report.verdict == Verdict::Proved {
        for claim in &report.claims {
            ui.say(format!("  {claim}"));
        }
    }
    let mut assumed: Vec<&String> = report.functions.iter().flat_map(|f| &f.assumptions).collect();
    assumed.sort();
    assumed.dedup();
    for assumption in assumed {
        ui.say(format!("  assumed: {assumption}"));
    }
}
