//! `ringforge prove --contracts`: one object against every contract of some directories, in one table.

use std::path::{Path, PathBuf};

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use rayon::prelude::*;
use ringforge_machine::Object;
use ringforge_prove::constant_time::{SafetyContract, check};
use ringforge_prove::contract::Contract;
use ringforge_prove::map::{self, MapContract};
use ringforge_prove::{Progress, Verdict, chain};
use serde::Serialize;

use crate::args::Prove;
use crate::objects::Input;
use crate::package::Tool;
use crate::preset::read;
use crate::proof::{self, Named};
use crate::prove::together;
use crate::ui::{Failure, Ui};

/// More functions than this are counted, not named.
const LISTED: usize = 12;

/// A function and what it promises.
enum Promise {
    ConstantTime(SafetyContract),
    Computes(Box<Contract>),
    Map(Box<MapContract>),
}

/// What was found of one function under one contract.
#[derive(Serialize)]
struct Row {
    function: String,
    contract: String,
    verdict: Verdict,
    seconds: f64,
    reasons: Vec<String>,
}

/// Contracts that were left out, by the reason.
#[derive(Default, Serialize)]
struct LeftOut {
    /// Functions that the object does not define.
    not_defined: Vec<String>,
    /// Contracts for other processors.
    other_processors: Vec<String>,
}

struct Silent;

impl Progress for Silent {
    fn update(&self, _: &str, _: f64) -> bool {
        true
    }
}

/// Runs the command.
///
/// # Errors
/// Bad input, such as directories without a contract of a function of the object. A verdict is no error.
pub fn run(ui: &Ui, args: &Prove) -> Result<u8, Failure> {
    let [path] = &args.objects[..] else {
        return Err(Failure::input("--contracts takes one object: link several with `ld -r`"));
    };
    let input = Input::read(path)?;
    let name = path.display().to_string();
    if input.is_archive() {
        let m = format!(
            "`{name}` is an archive, and its members call each other: link them first, `ld -r --whole-archive {name} -o \
             all.o`, and prove `all.o`"
        );
        return Err(Failure::input(m));
    }
    let bytes = input.bytes();
    let object = Object::parse(bytes)
        .map_err(|e| Failure::input(format!("cannot read `{name}` as an object: {e}")))?;
    let mut left_out = LeftOut::default();
    let mut promises = Vec::new();
    for file in contracts(&args.contracts)? {
        let origin = file.display().to_string();
        for (symbol, promise) in promised(&origin, &read(&origin)?)? {
            let abi = match &promise {
                Promise::ConstantTime(contract) => contract.abi,
                Promise::Computes(contract) => contract.abi,
                Promise::Map(contract) => contract.abi,
            };
            if abi.check(&object).is_err() {
                left_out.other_processors.push(origin.clone());
            } else if object.function(&symbol).is_err() {
                left_out.not_defined.push(symbol);
            } else {
                promises.push((symbol, origin.clone(), promise));
            }
        }
    }
    left_out.other_processors.dedup();
    left_out.not_defined.sort();
    left_out.not_defined.dedup();
    if promises.is_empty() {
        let m = format!("`{name}` defines no function that a contract of these directories is for");
        return Err(Failure::input(m));
    }
    let bar = ui.bar("proving", promises.len() as u64);
    let one = |(symbol, contract, promise)| -> Result<Row, Failure> {
        let (verdict, seconds, reasons) = prove(args, &name, bytes, promise)?;
        bar.inc(1);
        Ok(Row { function: symbol, contract, verdict, seconds, reasons })
    };
    let rows: Vec<Row> = promises.into_par_iter().map(one).collect::<Result<_, _>>()?;
    bar.finish_and_clear();
    let overall = together(&rows.iter().map(|row| row.verdict).collect::<Vec<_>>());
    ui.json(&serde_json::json!({
        "verdict": overall,
        "tool": Tool::THIS,
        "object": name,
        "functions": rows,
        "left_out": left_out,
    }))?;
    say(ui, &name, &rows, &left_out);
    Ok(if overall == Verdict::Proved { 0 } else { 1 })
}

/// The contracts in directories, by name; not those in directories below.
fn contracts(directories: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for directory in directories {
        let failed = |e| Failure::input(format!("cannot read `{}`: {e}", directory.display()));
        let mut files = Vec::new();
        for entry in std::fs::read_dir(directory).map_err(failed)? {
            files.push(entry.map_err(failed)?.path());
        }
        files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
        files.sort();
        if files.is_empty() {
            return Err(Failure::input(format!("no contract in `{}`", directory.display())));
        }
        found.extend(files);
    }
    Ok(found)
}

/// The functions of a contract, each with what it promises.
fn promised(origin: &str, text: &str) -> Result<Vec<(String, Promise)>, Failure> {
    if ringforge_prove::constant_time::contract::is_for(text) {
        let whole = SafetyContract::parse(text).map_err(|e| proof::refused(origin, text, e))?;
        let alone = |function: &ringforge_prove::constant_time::contract::Function| {
            let contract = SafetyContract { functions: vec![function.clone()], ..whole.clone() };
            (function.symbol.clone(), Promise::ConstantTime(contract))
        };
        return Ok(whole.functions.iter().map(alone).collect());
    }
    if map::is_for(text) {
        let contract = MapContract::parse(text).map_err(|e| proof::refused(origin, text, e))?;
        return Ok(vec![(contract.symbol.clone(), Promise::Map(Box::new(contract)))]);
    }
    if chain::is_for(text) {
        let m = format!("`{origin}` is a chain: prove it alone, with --contract");
        return Err(Failure::input(m));
    }
    let contract = proof::contract(origin, text, None)?;
    Ok(vec![(contract.symbol.clone(), Promise::Computes(Box::new(contract)))])
}

/// The verdict, the seconds that it took, and why it is not `proved`.
fn prove(
    args: &Prove,
    name: &str,
    bytes: &[u8],
    promise: Promise,
) -> Result<(Verdict, f64, Vec<String>), Failure> {
    match promise {
        Promise::ConstantTime(contract) => {
            let report = check(bytes, &contract, &args.limits.options(), &Silent);
            let seconds = report.functions.iter().map(|f| f.seconds).sum();
            let reasons = report.functions.iter().flat_map(|f| &f.reasons);
            Ok((report.verdict, seconds, reasons.map(|r| r.text.clone()).collect()))
        }
        Promise::Map(contract) => {
            let report = map::prove(bytes, &contract, &args.limits.options(), &mut Silent);
            let seconds = report.times.get("total").copied().unwrap_or(0.0);
            Ok((report.verdict, seconds, report.reasons.iter().map(|r| r.text.clone()).collect()))
        }
        Promise::Computes(contract) => {
            let quiet = Ui { json: false, quiet: true };
            let object = [Named { name, bytes }];
            let proofs = proof::prove(&quiet, &object, &contract, args.limits.options())?;
            let verdicts: Vec<Verdict> = proofs.iter().map(|p| p.report.verdict).collect();
            let seconds = proofs.iter().filter_map(|p| p.report.times.get("total")).sum();
            let reasons = proofs.iter().flat_map(proof::explanation).collect();
            let verdict = if verdicts.is_empty() { Verdict::Unknown } else { together(&verdicts) };
            Ok((verdict, seconds, reasons))
        }
    }
}

fn say(ui: &Ui, name: &str, rows: &[Row], left_out: &LeftOut) {
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(["function", "contract", "verdict", "seconds"]);
    for row in rows {
        let contract = Path::new(&row.contract).file_name().unwrap_or_default();
        table.add_row([
            row.function.clone(),
            contract.to_string_lossy().into_owned(),
            row.verdict.to_string(),
            format!("{:.1}", row.seconds),
        ]);
    }
    ui.say(table.to_string());
    let proved = rows.iter().filter(|row| row.verdict == Verdict::Proved).count();
    ui.say(format!("{name}: {proved} of {} proved", rows.len()));
    for row in rows.iter().filter(|row| row.verdict != Verdict::Proved) {
        for reason in row.reasons.iter().take(3) {
            ui.say(format!("{} is {}: {reason}", row.function, row.verdict));
        }
    }
    if !left_out.not_defined.is_empty() {
        let listed = match left_out.not_defined.len() {
            0..=LISTED => left_out.not_defined.join(", "),
            many => format!("{many} functions that have contracts (--json names them)"),
        };
        ui.say(format!("not in the object: {listed}"));
    }
    match left_out.other_processors.len() {
        0 => (),
        1 => ui.say("1 contract is for another processor"),
        many => ui.say(format!("{many} contracts are for other processors")),
    }
}
