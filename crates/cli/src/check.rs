//! `ringforge check`: objects executed and compared with the oracle.

use ringforge_targets::Architecture;

use crate::args::Check;
use crate::preset::read;
use crate::proof;
use crate::target;
use crate::ui::{Failure, Ui};
use crate::verify::{Oracle, Runs};

/// Runs the command.
///
/// # Errors
/// Bad input, or a wrong result.
pub fn run(ui: &Ui, args: &Check) -> Result<u8, Failure> {
    let origin = args.contract.display().to_string();
    let contract = proof::contract(&origin, &read(&origin)?, args.symbol.as_deref())?;
    let Some(architecture) = Architecture::of_abi(contract.abi.name()) else {
        let abi = contract.abi.name();
        return Err(Failure::input(format!(
            "nothing on this machine runs code for the calling convention \"{abi}\""
        )));
    };
    let compiler = target::compiler_for(Some(architecture), None, args.runner.as_deref())?;
    let mut all = Vec::new();
    for path in &args.objects {
        let failed = |e| Failure::input(format!("`{}`: {e}", path.display()));
        all.push(Runs::build(&compiler, path, &contract).map_err(failed)?);
    }
    let oracle = Oracle::new(contract.clone());
    let total = oracle.worst_inputs().len() + args.pairs;
    let bar = ui.bar("results against the oracle", total as u64);
    for batch in oracle.batches(args.pairs) {
        for (path, runs) in args.objects.iter().zip(&mut all) {
            let failed = |e| Failure::failed(format!("`{}`: {e}", path.display()));
            runs.add(&batch).map_err(failed)?;
        }
        bar.inc(batch.cases.len() as u64);
    }
    bar.finish_and_clear();
    ui.json(&serde_json::json!({
        "symbol": contract.symbol,
        "objects": args.objects.iter().zip(&all).map(|(path, runs)| serde_json::json!({
            "object": path.display().to_string(), "executed": runs.done(),
        })).collect::<Vec<_>>(),
    }))?;
    for (path, runs) in args.objects.iter().zip(&all) {
        let done = runs.done();
        ui.say(format!(
            "{}: {} results agree with the oracle, {} of them worst cases ({})",
            path.display(),
            done.products,
            done.worst_cases,
            done.calls.join("; ")
        ));
    }
    Ok(0)
}
