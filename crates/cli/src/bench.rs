//! `ringforge bench`: multipliers side by side.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;

use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN, presets::UTF8_BORDERS_ONLY};
use ringforge_program::ir::{Computes, Program};
use ringforge_program::schedule::Schedule;
use ringforge_toolchain::timing::{Candidate, Code, Settings, Timing, measure};
use ringforge_toolchain::{Compiler, Host, Scratch};
use serde::Serialize;

use crate::args::Bench;
use crate::entry;
use crate::forge;
use crate::make;
use crate::modelled;
use crate::package::Tool;
use crate::peers::{self, Built};
use crate::plans;
use crate::preset::{Job, resolve};
use crate::target::{self, Target};
use crate::ui::{Failure, Ui};

/// One measured line.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    timing: Timing,
    operands: String,
    compiled: String,
}

/// Runs the command.
///
/// # Errors
/// Bad input, or nothing could be measured.
pub fn run(ui: &Ui, args: &Bench) -> Result<u8, Failure> {
    if !args.plans.is_empty() {
        return plans::run(ui, args);
    }
    let job = resolve(&args.subject, target::fastest(&args.target)?)?;
    let foreign = |t: &&Target| !t.architecture.is_none_or(|a| a.is_host());
    let targets = target::choose(&args.target)?;
    if targets.iter().any(foreign) {
        return modelled::bench(ui, args, &job, &targets);
    }
    let compilers = compilers(&args.cc)?;
    let host = Host::detect();
    let scratch =
        Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
    let mut entries = Vec::new();
    let mut missing = Vec::new();
    if args.peers {
        for compiler in &compilers {
            let ring = &job.plan.ring;
            entries.extend(peers::build(ui, ring, &args.bench_dir, compiler, &mut missing)?);
        }
    }
    let wanted = |entry: &entry::Entry| args.entries || entry.computes == Computes::Product;
    let workshop = Workshop {
        ui,
        job: &job,
        host: &host,
        scratch,
        objects: Cell::new(0),
        notes: RefCell::default(),
        wanted: &wanted,
    };
    for compiler in &compilers {
        entries.extend(workshop.ours((&args.target, args.batch), compiler)?);
    }
    let notes = workshop.notes.take();
    let settings = Settings { copies: args.copies, samples: args.samples, ..Settings::default() };
    let bar = ui.bar("timing", (settings.copies * settings.samples) as u64);
    let candidates: Vec<Candidate> = entries.iter().map(|e| e.candidate.clone()).collect();
    let timings = measure(&compilers[0], &candidates, &settings, &mut |done, _| {
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let timings = timings.map_err(|e| Failure::failed(e.to_string()))?;
    let rows: Vec<Row> = entries
        .into_iter()
        .zip(timings)
        .map(|(e, timing)| Row { timing, operands: e.operands, compiled: e.compiled })
        .collect();
    ui.json(&serde_json::json!({
        "ring": job.plan.ring.to_string(),
        "tool": Tool::THIS,
        "host": host,
        "copies": args.copies,
        "samples": args.samples,
        "rows": rows,
        "missing": missing,
        "notes": notes,
    }))?;
    ui.say(table(&rows, args.markdown).to_string());
    ui.say(format!(
        "{} ({}); core cycles of one product, calibrated; {} fresh copies of {} samples, interleaved",
        host.processor, host.model, args.copies, args.samples
    ));
    let (busy, samples) = rows
        .iter()
        .fold((0, 0), |(busy, all), row| (busy + row.timing.busy, all + row.timing.samples));
    if busy > 0 {
        ui.say(format!(
            "{busy} of {samples} samples were discarded: other load, or a clock change"
        ));
    }
    for note in &notes {
        ui.say(format!("differs from the plan: {note}"));
    }
    for reason in &missing {
        ui.say(format!("left out: {reason}"));
    }
    Ok(0)
}

/// The compilers with these names, or the usual ones that are installed, gcc before clang; at least
/// one.
///
/// # Errors
/// One is not here.
pub fn compilers(names: &[String]) -> Result<Vec<Compiler>, Failure> {
    if !names.is_empty() {
        return names.iter().map(|name| forge::compiler(Some(name))).collect();
    }
    let mut found: Vec<Compiler> = Compiler::find("gcc").into_iter().collect();
    let clang = ["clang", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16"];
    found.extend(clang.iter().find_map(|name| Compiler::find(name).ok()));
    if found.is_empty() { Ok(vec![forge::compiler(None)?]) } else { Ok(found) }
}

/// Where our candidates are made.
struct Workshop<'a> {
    ui: &'a Ui,
    job: &'a Job,
    host: &'a Host,
    scratch: Scratch,
    /// How many objects are made already: their names differ by it.
    objects: Cell<usize>,
    /// Where programs do not compute as the plan says, each once.
    notes: RefCell<Vec<String>>,
    /// Which entry points are timed.
    wanted: &'a dyn Fn(&entry::Entry) -> bool,
}

impl Workshop<'_> {
    /// Forges our candidates with one compiler, without proof: `forge` and `prove` are for that.
    fn ours(
        &self,
        (targets, batch): (&str, Option<u32>),
        compiler: &Compiler,
    ) -> Result<Vec<Built>, Failure> {
        let job = self.job;
        let [a, b] = job.operands;
        let operands = format!("{a} × {b}");
        let mut all = Vec::new();
        for target in target::choose(targets)?.into_iter().filter(|t| t.runs_on(self.host)) {
            let mut seen: Vec<Program> = Vec::new();
            for variant in target.variants(self.host, &job.plan.name)? {
                let bar =
                    self.ui.spinner(&format!("forging {} with {}", variant.name, compiler.name));
                let schedule = make::batched(&variant.schedule, batch)?;
                let made = make::make(job, target, &schedule, &job.name);
                bar.finish_and_clear();
                // Not every plan has a program in every register.
                if made.is_err() && variant.optional {
                    continue;
                }
                let made = made?;
                let text = make::source(&made, "ringforge bench")?;
                // A choice that the plan has no use for makes no other program.
                if seen.iter().any(|program| program.procedures == made.program.procedures) {
                    continue;
                }
                seen.push(made.program.clone());
                for note in &made.notes {
                    let note = format!("{}: {note}", variant.name);
                    let mut notes = self.notes.borrow_mut();
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
                for opt in target.levels {
                    let object = self.object(target, &text, compiler, opt)?;
                    for entry in made.entries.iter().filter(|e| (self.wanted)(e)) {
                        let whole = entry.computes == Computes::Product && entry.batch == 1;
                        let part = if whole { "" } else { entry.procedure.as_str() };
                        all.push(Built {
                            candidate: Candidate {
                                name: format!("ringforge {} {part}", variant.name)
                                    .trim()
                                    .to_owned(),
                                code: Code::Objects(vec![object.clone()], entry.signature.clone()),
                            },
                            operands: if whole { operands.clone() } else { String::new() },
                            compiled: format!("{} {opt}", short(compiler)),
                        });
                    }
                }
            }
        }
        Ok(all)
    }

    fn object(
        &self,
        target: &Target,
        text: &str,
        compiler: &Compiler,
        opt: &str,
    ) -> Result<PathBuf, Failure> {
        self.objects.set(self.objects.get() + 1);
        let name = format!("{}-{}-{}", self.job.name, target.name, self.objects.get());
        let source = self.scratch.path().join(name).with_extension("c");
        std::fs::write(&source, text)
            .map_err(|e| Failure::failed(format!("cannot write {}: {e}", source.display())))?;
        let object = source.with_extension("o");
        compiler
            .compile(&source, &[opt.into(), "-std=c99".into()], &object)
            .map_err(|e| Failure::failed(e.to_string()))?;
        Ok(object)
    }
}

/// `gcc 12.2.0` from a compiler's long first line.
pub fn short(compiler: &Compiler) -> String {
    let version = compiler
        .version
        .split_whitespace()
        .map(|word| word.trim_matches(|c| c == '(' || c == ')'))
        .filter(|word| {
            word.split('.').count() >= 3 && word.starts_with(|c: char| c.is_ascii_digit())
        })
        .find(|word| word.chars().all(|c| c.is_ascii_digit() || c == '.'));
    let family = match compiler.family {
        ringforge_toolchain::Family::Gcc => "gcc",
        ringforge_toolchain::Family::Clang => "clang",
        ringforge_toolchain::Family::Other => compiler.name.as_str(),
    };
    let arguments = compiler.arguments.iter().map(|word| format!(" {word}"));
    format!("{family} {}{}", version.unwrap_or(&compiler.version), arguments.collect::<String>())
}

fn table(rows: &[Row], markdown: bool) -> Table {
    let mut table = Table::new();
    table.load_preset(if markdown { ASCII_MARKDOWN } else { UTF8_BORDERS_ONLY });
    table.set_header(["product", "operands", "compiled by", "min", "median", "ratio", "runs"]);
    for row in rows {
        let t = &row.timing;
        let runs =
            format!("{} of {}{}", t.runs, t.runs + t.dropped, if t.noisy { ", noisy" } else { "" });
        table.add_row([
            t.name.clone(),
            row.operands.clone(),
            row.compiled.clone(),
            format!("{:.0}", t.min),
            format!("{:.0}", t.median),
            format!("{:.3}", t.ratio),
            runs,
        ]);
    }
    for index in 3..6 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A schedule worth measuring.
pub struct Variant {
    /// The target's name and what is special.
    pub name: String,
    /// The schedule.
    pub schedule: Schedule,
    /// Whether it is left out where the plan has no program by it.
    optional: bool,
}

impl Target {
    /// The schedule that `forge` takes for a plan, and others that this host runs: by other registers too.
    fn variants(&self, host: &Host, plan: &str) -> Result<Vec<Variant>, Failure> {
        let usual = make::schedule(None, self, plan)?;
        let name = self.name.to_owned();
        let mut all = vec![Variant { name, schedule: usual.clone(), optional: false }];
        if self.name == "avx2" && host.has("avx_vnni") {
            let schedule = Schedule { fused_dot: true, ..usual.clone() };
            all.push(Variant { name: "avx2 + VNNI".into(), schedule, optional: false });
        }
        let widths = self.widths().filter(|_| self.has_widths());
        for lanes in widths.map(|width| width.lanes(16) as u32) {
            let name = format!("{}, lanes = {lanes}", self.name);
            all.push(Variant { name, schedule: usual.with_lanes(lanes), optional: true });
        }
        Ok(all)
    }
}
