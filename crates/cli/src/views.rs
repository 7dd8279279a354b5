//! What `explain` prints about an entry point besides ranges and counts: a run, the formulas, the
//! program in other languages [TokudaKameyama23 §2.3].

use std::time::Instant;

use ringforge_interpret::formula::{self, Agreement};
use ringforge_interpret::run::run;
use ringforge_ring::Ring;

use crate::entry::Entry;
use crate::make::Made;
use crate::proof;
use crate::ui::{Failure, Ui};
use crate::verify::Oracle;

/// Outputs and terms of each that formulas show.
pub const SHOWN: (usize, usize) = (4, 6);

/// Runs on random inputs once, and compares the result with the oracle.
///
/// # Errors
/// The program is faulty or wrong.
pub fn sample(ui: &Ui, made: &Made, entry: &Entry, ring: &Ring) -> Result<(), Failure> {
    let name = &made.program.name;
    let terms = entry.contract(name, ring, made.program.transform.as_ref());
    let oracle = Oracle::new(proof::contract(&entry.contract_file(name), &terms, None)?);
    let cases = oracle.some_cases(1, 1);
    let Some(case) = cases.last() else { return Ok(()) };
    let inputs: Vec<&[i64]> = case.inputs.iter().map(Vec::as_slice).collect();
    let c = run(&entry.program, &inputs).map_err(|e| Failure::failed(e.to_string()))?;
    let read = entry.signature.arguments.iter().filter(|a| a.role.reads());
    for (argument, words) in read.zip(&inputs) {
        ui.say(format!("{} = {}", argument.name, list(words)));
    }
    ui.say(format!("c = {}", list(&c)));
    match oracle.first_wrong(&c, &case.c) {
        None => ui.say(format!("as it should be: {}", entry.formula(ring))),
        Some(k) => {
            return Err(Failure::failed(format!(
                "element {k} is {}, not {} mod {}; this is a fault of ringforge",
                c[k],
                case.c[k],
                ring.q()
            )));
        }
    }
    Ok(())
}

/// Prints the first formulas, and checks that all of them are what the entry point must compute.
///
/// # Errors
/// A value has no formula, or one is wrong.
pub fn formulas(ui: &Ui, made: &Made, entry: &Entry, ring: &Ring) -> Result<(), Failure> {
    let (forms, agreement, seconds) = agreement(made, entry, ring)?;
    ui.say(formula::text(&forms, SHOWN.0, SHOWN.1).trim_end());
    let Agreement { pairs, evaluations, outputs, nodes, products } = agreement;
    ui.say(format!(
        "All {outputs} formulas are those of {}, compared for all {pairs} basis vectors (or pairs of them) by \
         {evaluations} evaluations of {nodes} nodes, {products} of them products: {seconds:.1} s.",
        entry.formula(ring)
    ));
    Ok(())
}

/// The formulas of an entry point, compared with what it must compute, and the seconds that took.
///
/// # Errors
/// A value has no formula, or one is wrong.
pub fn agreement(
    made: &Made,
    entry: &Entry,
    ring: &Ring,
) -> Result<(formula::Forms, Agreement, f64), Failure> {
    if entry.batch > 1 {
        let one = entry.procedure.trim_end_matches(|c: char| c.is_ascii_digit());
        return Err(Failure::input(format!(
            "formulas are compared for one element of the ring: ask for `{}`, which `{}` does for each",
            one.trim_end_matches("_x"),
            entry.procedure
        )));
    }
    let started = Instant::now();
    let forms = formula::forms(&entry.program).map_err(|e| Failure::failed(e.to_string()))?;
    let agreement = forms
        .agrees(entry.computes, made.program.transform.as_ref(), ring)
        .map_err(|e| Failure::failed(format!("{e}; this is a fault of ringforge")))?;
    Ok((forms, agreement, started.elapsed().as_secs_f64()))
}

/// The first of some numbers.
pub fn list<T: ToString>(words: &[T]) -> String {
    let shown: Vec<String> = words.iter().take(12).map(T::to_string).collect();
    let dots = if words.len() > 12 { ", …" } else { "" };
    format!("[{}{dots}]", shown.join(", "))
}
