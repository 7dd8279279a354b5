//! `ringforge prove` with a contract for each element of arrays.

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_prove::contract::Role;
use ringforge_prove::map::{MapContract, prove};
use ringforge_prove::{Options, Report, Verdict};
use ringforge_targets::Architecture;
use ringforge_toolchain::{Argument, CallError, Callee, Compiler, Element, Scratch, Signature};
use serde::Serialize;
use std::path::Path;

use crate::args::Prove;
use crate::objects::{Found, Input, is_linked};
use crate::package::Tool;
use crate::proof::{self, Bar, Named, Proof};
use crate::target;
use crate::ui::{Failure, Ui};
use crate::verdict::together;

/// What calls the function from outside: every argument of it is an array.
const SHIM: &str = "ringforge_shim";

#[derive(Serialize)]
struct Outcome<'a> {
    object: &'a str,
    #[serde(flatten)]
    proof: &'a Proof,
}

/// Runs the command on a contract's text.
///
/// # Errors
/// Bad input. A verdict is no error.
pub fn run(ui: &Ui, args: &Prove, origin: &str, text: &str) -> Result<u8, Failure> {
    let mut contract =
        MapContract::parse(text).map_err(|error| proof::refused(origin, text, error))?;
    if let Some(symbol) = &args.symbol {
        contract.symbol = symbol.clone();
    }
    if args.certificate.is_some() {
        let m = "--certificate: a map has none; its proof is the kernel's enumeration alone";
        return Err(Failure::input(m));
    }
    let mut proofs: Vec<(String, Proof)> = Vec::new();
    for path in &args.objects {
        let input = Input::read(path)?;
        let Found { name, bytes } = input.defining(&contract.symbol)?;
        let mut proof =
            proved(ui, &Named { name: &name, bytes }, &contract, &args.limits.options())?;
        if !args.no_confirm {
            confirm(path, &contract, &mut proof);
        }
        proofs.push((name, proof));
    }
    let verdicts: Vec<Verdict> = proofs.iter().map(|p| p.1.report.verdict).collect();
    let overall = together(&verdicts);
    ui.json(&serde_json::json!({
        "verdict": overall,
        "tool": Tool::THIS,
        "contract": origin,
        "equivalent": false,
        "objects": proofs.iter().map(|(object, proof)| Outcome { object, proof }).collect::<Vec<_>>(),
    }))?;
    for (name, proof) in &proofs {
        say(ui, name, proof);
    }
    Ok(if overall == Verdict::Proved { 0 } else { 1 })
}

/// Proves one object, with progress.
///
/// # Errors
/// The object does not define the function, or is for another processor.
pub fn proved(
    ui: &Ui,
    object: &Named,
    contract: &MapContract,
    options: &Options,
) -> Result<Proof, Failure> {
    proof::defines(object, contract.abi, &contract.symbol)?;
    let bar = ui.spinner(&format!("proving {}", contract.symbol));
    bar.set_length(1000);
    let mut progress = Bar { bar: bar.clone(), title: contract.symbol.clone() };
    let report = prove(object.bytes, contract, options, &mut progress);
    bar.finish_and_clear();
    Ok(Proof { report, confirmation: None, certificate: None })
}

fn say(ui: &Ui, name: &str, proof: &Proof) {
    let r = &proof.report;
    ui.say(format!("{name}: {} is {}", r.symbol, proof.verdict()));
    for line in proof::explanation(proof) {
        ui.say(format!("  {line}"));
    }
    for remark in &r.remarks {
        ui.say(format!("  note that {remark}"));
    }
    let mut table = Table::new();
    table
        .load_preset(UTF8_BORDERS_ONLY)
        .set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(110);
    }
    let c = &r.counts;
    let proved = if r.is_proved() { "proved" } else { "not proved" };
    let code = format!(
        "{} instructions executed, {} bytes of code, {} bytes of stack",
        c.instructions, c.code_bytes, c.stack_bytes
    );
    let calls = format!(
        "{} (separate and in place, by alignment), {} of them identical",
        c.cases, c.identical_cases
    );
    let compared = format!(
        "{} fields, {} distinct terms, {} points",
        c.equations, c.functions, c.enumeration_work
    );
    for (name, value) in [
        (proved, r.claims.join("; ")),
        ("assumes", r.assumptions.join("; ")),
        ("code", code),
        ("calls", calls),
        ("compared", compared),
        ("time", format!("{:.1} s", proof.seconds())),
    ] {
        table.add_row([name.to_string(), value]);
    }
    ui.say(table.to_string());
}

/// Runs an object on the counterexample, if this machine can, and notes what happens.
pub fn confirm(object: &Path, contract: &MapContract, proof: &mut Proof) {
    if !proof.wants_a_run() {
        return;
    }
    let (confirmed, said) = tried(object, contract, &proof.report);
    if let Some(witness) = &mut proof.report.witness {
        witness.confirmed = confirmed;
    }
    proof.confirmation = Some(said);
    proof.ran();
}

/// Whether a run on the counterexample shows the failure, and what it says.
fn tried(object: &Path, contract: &MapContract, report: &Report) -> (bool, String) {
    let unconfirmed = |why: String| (false, format!("{why}: unconfirmed"));
    let Some(witness) = &report.witness else {
        return (false, proof::without_inputs(report));
    };
    let Some(architecture) = Architecture::of_abi(contract.abi.name()) else {
        let abi = contract.abi.name();
        return unconfirmed(format!("nothing on this machine runs code for \"{abi}\""));
    };
    let compiler = match target::compiler_for(Some(architecture), None, None) {
        Ok(compiler) => compiler,
        Err(error) => return unconfirmed(error.message),
    };
    let inputs: Vec<&[i64]> = witness.inputs.iter().map(|i| i.1.as_slice()).collect();
    match called(object, contract, &compiler, &witness.call, &inputs) {
        Ok(outputs) => {
            let fields: Vec<Vec<i64>> = (contract.inputs().into_iter().zip(&inputs))
                .map(|(i, memory)| contract.arguments[i].fields(memory))
                .collect();
            match contract.wrong(&fields, &outputs) {
                Some(wrong) => {
                    let said = wrong.said(contract);
                    (true, format!("confirmed by running the object: {said}"))
                }
                None => {
                    unconfirmed("running the object on these inputs shows nothing wrong".into())
                }
            }
        }
        Err(Ran::Not(why)) => unconfirmed(why),
        Err(Ran::Failed(CallError::Link(_))) => {
            unconfirmed("the object does not link on its own".into())
        }
        Err(Ran::Failed(error)) => (true, format!("confirmed by running the object: {error}")),
    }
}

/// Why there are no outputs.
enum Ran {
    /// It was not run.
    Not(String),
    /// It ran, and failed.
    Failed(CallError),
}

/// The outputs of one call.
fn called(
    object: &Path,
    contract: &MapContract,
    compiler: &Compiler,
    call: &str,
    inputs: &[&[i64]],
) -> Result<Vec<Vec<i64>>, Ran> {
    if is_linked(object) {
        return Err(Ran::Not("linked files are not run".into()));
    }
    if let Some(given) = contract.given.first() {
        return Err(Ran::Not(format!("the driver does not make the data `{}`", given.symbol)));
    }
    let mut arguments = Vec::new();
    let (mut declared, mut passed, mut positions) = (Vec::new(), Vec::new(), Vec::new());
    for a in &contract.arguments {
        let m = &a.memory;
        positions.push(arguments.len());
        let role = match m.role {
            Role::Output => ringforge_toolchain::Role::Output,
            Role::InOut => ringforge_toolchain::Role::InOut,
            Role::Input => ringforge_toolchain::Role::Input,
            Role::Number if a.any_number() => ringforge_toolchain::Role::Input,
            Role::Number => {
                declared.push("long");
                passed.push(format!("{}L", m.values[0]));
                continue;
            }
            Role::Table => {
                return Err(Ran::Not(format!("the driver does not make the table `{}`", m.name)));
            }
        };
        let p = format!("p{}", arguments.len());
        declared.push(if a.any_number() { "long" } else { "void *" });
        passed.push(if a.any_number() { format!("*(unsigned int *){p}") } else { p });
        arguments.push(Argument {
            name: m.name.clone(),
            role,
            element: Element { bits: m.element.bits(), signed: m.element.signed() },
            length: m.length.max(1),
            align: if a.any_number() { 4 } else { m.align.min(4096) as usize },
            range: m.range,
        });
    }
    let (mut result, mut store) = ("void".to_string(), String::new());
    if let Some(returns) = contract.returns() {
        let element = Element { bits: returns.element.bits(), signed: returns.element.signed() };
        let sign = if element.signed { "signed" } else { "unsigned" };
        let word = match element.bits {
            8 => "char",
            16 => "short",
            _ => "int",
        };
        result = format!("{sign} {word}");
        store = format!("*({result} *)p{} = ", arguments.len());
        arguments.push(Argument {
            name: "result".into(),
            role: ringforge_toolchain::Role::Output,
            element,
            length: 1,
            align: 4,
            range: returns.element.range(),
        });
    }
    let parameters: Vec<String> = (0..arguments.len()).map(|i| format!("void *p{i}")).collect();
    let source = format!(
        "extern {result} {f}({});\nvoid {SHIM}({}) {{ {store}{f}({}); }}\n",
        declared.join(", "),
        parameters.join(", "),
        passed.join(", "),
        f = contract.symbol
    );
    let name = |i: usize| contract.arguments[i].memory.name.as_str();
    let alias: Vec<(usize, usize)> = (contract.alias.iter())
        .filter(|&&(o, i)| call.starts_with(&format!("{} = {}", name(o), name(i))))
        .map(|&(o, i)| (positions[o], positions[i]))
        .collect();
    let io = |e: std::io::Error| Ran::Not(format!("cannot write a shim: {e}"));
    let dir = Scratch::new().map_err(io)?;
    let (c, o) = (dir.path().join("shim.c"), dir.path().join("shim.o"));
    std::fs::write(&c, source).map_err(io)?;
    let flags = ["-O1", "-w", "-fno-pie"].map(String::from);
    compiler.compile(&c, &flags, &o).map_err(|e| Ran::Failed(e.into()))?;
    let signature = Signature { symbol: SHIM.into(), arguments };
    let callee = Callee::build(compiler, &[object, &o], &signature, &alias).map_err(Ran::Failed)?;
    callee.call(inputs).map_err(Ran::Failed)
}
