//! `ringforge prove` with a contract of constant time: objects, function by function.

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_prove::constant_time::{Data, SafetyContract, SafetyReport, check};
use ringforge_prove::{Options, Progress, Verdict};
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
            let report = checked(bytes, &contract, &args.limits.options(), &Shown(bar.clone()));
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

/// Checks an object, and says in its assumptions what data of the processor mean.
pub fn checked(
    object: &[u8],
    contract: &SafetyContract,
    options: &Options,
    progress: &dyn Progress,
) -> SafetyReport {
    let mut report = check(object, contract, options, progress);
    for data in &contract.data {
        let Some(sets) = extensions(data) else { continue };
        let plain = format!("`{}` holds what the contract says", data.symbol);
        for said in report.functions.iter_mut().flat_map(|f| &mut f.assumptions) {
            if *said == plain {
                *said = format!("{plain} (extensions of the processor: {sets})");
            }
        }
    }
    report
}

/// Bits of the last word of `__cpu_model` that contracts clear, and what they say that the processor has.
const EXTENSIONS: [(u32, &str); 2] = [(20, "AVX-512VL"), (31, "AVX-512VBMI2")];

/// What the words of a variable of the compiler's library say about the processor, if it is one.
fn extensions(data: &Data) -> Option<String> {
    if !matches!(data.symbol.as_str(), "__cpu_model" | "__cpu_features2") {
        return None;
    }
    let mut sets = Vec::new();
    for content in &data.contents {
        let last = content.last_chunk::<4>().map(|word| u32::from_le_bytes(*word))?;
        let clear: Vec<&str> =
            EXTENSIONS.iter().filter(|(bit, _)| last >> bit & 1 == 0).map(|e| e.1).collect();
        sets.push(match (last, last.count_zeros() as usize == clear.len()) {
            (0, _) => "none".to_owned(),
            (u32::MAX, _) => "all".to_owned(),
            (_, true) => format!("all but {}", clear.join(" and ")),
            _ => format!("{last:#x}"),
        });
    }
    Some(sets.join("; "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_processor_are_named() {
        let data = |symbol: &str, words: &[u32]| Data {
            symbol: symbol.into(),
            contents: words
                .iter()
                .map(|last| [0, 0, 0, *last].iter().flat_map(|word| word.to_le_bytes()).collect())
                .collect(),
        };
        let words = [0, 0xffef_ffff, 0x7fff_ffff, 0x7fef_ffff, 0xff, 0xffff_ffff];
        let said = "none; all but AVX-512VL; all but AVX-512VBMI2; all but AVX-512VL and AVX-512VBMI2; 0xff; all";
        assert_eq!(extensions(&data("__cpu_model", &words)).as_deref(), Some(said));
        assert_eq!(extensions(&data("table", &words)), None);
    }
}
