//! `ringforge primitives`: every reduction, verified over all of its inputs.

use std::time::Instant;

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_program::method::primitives;
use ringforge_ring::zq;

use crate::args::Primitives;
use crate::ui::{Failure, Ui};

/// Runs the command.
///
/// # Errors
/// The modulus is none, or a primitive breaks its promise.
pub fn run(ui: &Ui, args: &Primitives) -> Result<u8, Failure> {
    let q = args.modulus;
    if !zq::is_prime(q) || q.is_multiple_of(2) || q >= 1 << 31 {
        return Err(Failure::input(format!("{q} is not an odd prime below 2^31")));
    }
    let bits = if q < 1 << 15 { 16 } else { 32 };
    let all = primitives(q, bits);
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header([
        "primitive",
        "operations",
        "accepts",
        "gives",
        "congruent to",
        "cases",
        "time",
        "source",
    ]);
    let bar = ui.bar("primitives", all.len() as u64);
    let mut rows = Vec::new();
    for primitive in &all {
        bar.set_message(primitive.name.clone());
        let started = Instant::now();
        let verified = primitive
            .verify()
            .map_err(|e| Failure::failed(format!("{e}; this is a fault of ringforge")))?;
        let seconds = started.elapsed().as_secs_f64();
        let interval = |(low, high): (i64, i64)| format!("[{low}, {high}]");
        table.add_row([
            format!("{}: {}", primitive.name, primitive.what),
            primitive.operations.to_string(),
            interval(primitive.domain),
            interval(verified.range),
            format!("{}·x", primitive.factor),
            verified.cases.to_string(),
            format!("{seconds:.2} s"),
            primitive.citation.into(),
        ]);
        rows.push(serde_json::json!({
            "name": primitive.name,
            "what": primitive.what,
            "citation": primitive.citation,
            "operations": primitive.operations,
            "domain": primitive.domain,
            "range": verified.range,
            "factor": primitive.factor,
            "cases": verified.cases,
            "seconds": (seconds * 100.0).round() / 100.0,
        }));
        bar.inc(1);
    }
    bar.finish_and_clear();
    ui.json(&serde_json::json!({ "q": q, "word_bits": bits, "primitives": rows }))?;
    ui.say(table.to_string());
    ui.say(format!("{} primitives modulo {q}, each verified over all of its inputs", all.len()));
    Ok(0)
}
