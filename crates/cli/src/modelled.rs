//! Executed instructions of a call, counted in an emulator, and the cycles by a model of a core.

use std::path::Path;

use comfy_table::{CellAlignment, Table, presets::UTF8_BORDERS_ONLY};
use ringforge_program::ir::Computes;
use ringforge_toolchain::count::{Counts, count};
use ringforge_toolchain::{Callee, Compiler, Scratch, Signature};
use serde::Serialize;

use crate::args::Bench;
use crate::entry::Entry;
use crate::make;
use crate::package::Tool;
use crate::preset::Job;
use crate::target::{self, Target};
use crate::ui::{Failure, Ui};

/// Counts of one call and what they mean. No time was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Modelled {
    /// The core.
    pub core: &'static str,
    /// Executed instructions.
    pub counts: Counts,
    /// Slots of the core's multiplier for vector products. They alone are a lower bound of its
    /// cycles.
    pub multiplier_slots: u64,
    /// Cycles by the core's model.
    pub model_cycles: f64,
}

impl Modelled {
    /// Counts one call of a function, where the compiler's programs run in an emulator and there is a model.
    ///
    /// # Errors
    /// The call fails, or the emulator does not count.
    pub fn of(
        compiler: &Compiler,
        objects: &[&Path],
        signature: &Signature,
    ) -> Result<Option<Modelled>, Failure> {
        let core = compiler.architecture.and_then(|a| a.core);
        let Some(core) = core.filter(|_| compiler.runner.is_emulator()) else { return Ok(None) };
        let failed =
            |e: &dyn std::fmt::Display| Failure::failed(format!("{}: {e}", signature.symbol));
        let callee = Callee::build(compiler, objects, signature, &[]).map_err(|e| failed(&e))?;
        // Constant time: any inputs execute the same instructions.
        let read = signature.arguments.iter().filter(|a| a.role.reads());
        let inputs: Vec<Vec<i64>> = read.map(|a| vec![a.range.1; a.length]).collect();
        let inputs: Vec<&[i64]> = inputs.iter().map(Vec::as_slice).collect();
        let counts = count(compiler, &callee, &inputs).map_err(|e| failed(&e))?;
        let model_cycles = counts.cycles(&core).round();
        Ok(Some(Modelled {
            core: core.name,
            counts,
            multiplier_slots: counts.slots(),
            model_cycles,
        }))
    }

    /// In a few words.
    pub fn text(&self) -> String {
        let Modelled { core, counts, multiplier_slots, model_cycles } = self;
        if counts.in_order.is_some() {
            return format!("{model_cycles} model cycles ({core}); {} executed", counts.executed);
        }
        format!(
            "{model_cycles} model cycles ({core}); {} executed, F0 {multiplier_slots}, R16 {}",
            counts.executed, counts.moved
        )
    }
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    name: String,
    compiled: String,
    #[serde(flatten)]
    modelled: Modelled,
}

/// `ringforge bench` where programs run in an emulator: instructions are counted and nothing is timed.
///
/// # Errors
/// Bad input, nothing to count with, or no model of a core.
pub fn bench(ui: &Ui, args: &Bench, job: &Job, targets: &[&'static Target]) -> Result<u8, Failure> {
    let named = args.cc.iter().map(|name| target::compiler(targets, Some(name), None));
    let compilers: Vec<Compiler> = match args.cc.is_empty() {
        false => named.collect::<Result<_, _>>()?,
        true => {
            let clang = target::compiler(targets, Some("clang-19"), None).into_iter();
            std::iter::once(target::compiler(targets, None, None)?).chain(clang).collect()
        }
    };
    let scratch =
        Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
    let mut rows = Vec::new();
    for target in targets {
        let schedule = make::batched(&make::schedule(None, target, &job.plan.name)?, args.batch)?;
        let mut made = make::make(job, target, &schedule, &job.name)?;
        let text = make::source(&made, "ringforge bench")?;
        for (compiler, opt) in
            compilers.iter().flat_map(|c| target.levels.iter().map(move |opt| (c, opt)))
        {
            made.compiled_by(compiler);
            let bar = ui.spinner(&format!("counting {} by {}", target.name, compiler.name));
            let [source, object] = ["c", "o"].map(|e| scratch.path().join(format!("b.{e}")));
            std::fs::write(&source, &text)
                .map_err(|e| Failure::failed(format!("cannot write {}: {e}", source.display())))?;
            compiler
                .compile(&source, &make::flags(opt), &object)
                .map_err(|e| Failure::failed(e.to_string()))?;
            let wanted = |e: &&Entry| args.entries || e.computes == Computes::Product;
            for entry in made.entries.iter().filter(wanted) {
                let modelled = Modelled::of(compiler, &[&object], &entry.signature)?;
                rows.extend(modelled.map(|modelled| Row {
                    name: entry.signature.symbol.clone(),
                    compiled: format!("{} {opt}", crate::bench::short(compiler)),
                    modelled,
                }));
            }
            bar.finish_and_clear();
        }
    }
    if rows.is_empty() {
        return Err(Failure::input(
            "there is no model of a core of this architecture, or no emulator that counts: nothing is timed there",
        ));
    }
    ui.json(&serde_json::json!({
        "ring": job.plan.ring.to_string(), "tool": Tool::THIS, "modelled": rows,
    }))?;
    let core = rows[0].modelled.core;
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header([
        "function",
        "compiled by",
        "executed",
        "F0",
        "other",
        "R16",
        &format!("model cycles ({core})"),
    ]);
    for row in &rows {
        let Modelled { counts, multiplier_slots, model_cycles, .. } = &row.modelled;
        table.add_row([
            row.name.clone(),
            row.compiled.clone(),
            counts.executed.to_string(),
            multiplier_slots.to_string(),
            counts.other.to_string(),
            counts.moved.to_string(),
            model_cycles.to_string(),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    ui.say(table.to_string());
    ui.say("instructions of one call, counted in an emulator; nothing was timed");
    Ok(0)
}
