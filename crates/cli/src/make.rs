//! From a plan to compiled objects: lower, check by interpretation, emit, compile.

use std::path::Path;

use ringforge_emit::Preamble;
use ringforge_interpret::run::run;
use ringforge_plan::Plan;
use ringforge_program::ir::Program;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_ring::Ring;
use ringforge_toolchain::{Compiler, OutputDir, OutputError};

use crate::entry::{Entry, abi, entries};
use crate::package::Tool;
use crate::placement;
use crate::preset::{Job, read};
use crate::proof;
use crate::target::Target;
use crate::ui::{Excerpt, Failure};
use crate::verify::Oracle;
use crate::widen::widen;

/// One target's program with what its interpretations say.
pub struct Made {
    /// For which machine.
    pub target: &'static Target,
    /// The plan.
    pub plan: Plan,
    /// What was settled, as a schedule's text.
    pub schedule: String,
    /// Where the program does not compute as the plan says.
    pub notes: Vec<String>,
    /// The sites of its reductions, as a schedule names them.
    pub sites: Vec<String>,
    /// The program.
    pub program: Program,
    /// Its entry points; the whole product is the last.
    pub entries: Vec<Entry>,
}

impl Made {
    /// Lets the contracts name the calling convention of what `compiler` makes.
    pub fn compiled_by(&mut self, compiler: &Compiler) {
        let abi = abi(compiler.architecture);
        self.entries.iter_mut().for_each(|entry| entry.abi = abi);
    }

    /// The entry point called `procedure`, or the last.
    ///
    /// # Errors
    /// There is none of that name; the message lists those there are.
    pub fn entry(&self, procedure: Option<&str>) -> Result<&Entry, Failure> {
        let found = match procedure {
            None => self.entries.last(),
            Some(name) => self.entries.iter().find(|e| e.procedure == name),
        };
        found.ok_or_else(|| {
            let names: Vec<&str> = self.entries.iter().map(|e| e.procedure.as_str()).collect();
            Failure::input(format!(
                "no entry point `{}`; there are {}",
                procedure.unwrap_or_default(),
                names.join(", ")
            ))
        })
    }
}

/// Reads a schedule, or takes the one that a search found for the plan, or the target's default.
///
/// # Errors
/// The file is unreadable or malformed.
pub fn schedule(path: Option<&Path>, target: &Target, plan: &str) -> Result<Schedule, Failure> {
    let Some(path) = path else {
        let saved = Schedule::saved(plan, target.name)
            .map_err(|e| Failure::failed(format!("schedules/{plan}.{}.toml: {e}", target.name)))?;
        return Ok(saved.unwrap_or_else(|| target.schedule()));
    };
    let name = path.display().to_string();
    let text = read(&name)?;
    if text.trim_start().starts_with('{') {
        return placement::schedule(&name, &text, target.schedule());
    }
    Schedule::parse_for(&text, target.machine).map_err(|error| {
        Failure::at(
            "this schedule is refused",
            Excerpt {
                name,
                at: error.span().map_or_else(|| named(&text, error.message()), |span| span.start),
                label: error.message().trim().to_owned(),
                help: None,
                text,
            },
        )
    })
}

/// A schedule by which every entry point gets one more, for so many elements of the ring at once, if a number is given.
///
/// # Errors
/// The schedule has its own number.
pub fn batched(schedule: &Schedule, batch: Option<u32>) -> Result<Schedule, Failure> {
    let Some(batch) = batch else { return Ok(schedule.clone()) };
    match schedule.given.contains("batch") && schedule.batch != batch {
        true => Err(Failure::input(format!(
            "the schedule has `batch = {}`, and --batch {batch} was asked for: leave one of them out",
            schedule.batch
        ))),
        false => Ok(schedule.batching(batch)),
    }
}

/// Where a text gives the key that a message names first.
fn named(text: &str, message: &str) -> usize {
    let key = message.split('`').nth(1).unwrap_or_default();
    let key = key.rsplit('.').next().unwrap_or_default();
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let given = |at: &usize| text[*at..].split('=').next().is_some_and(|name| name.trim() == key);
    starts.into_iter().find(given).unwrap_or(0)
}

/// Lowers a plan for a target and analyses the program; `name` prefixes its symbols.
///
/// # Errors
/// The plan has no program for this schedule, or the program could overflow.
pub fn make(
    job: &Job,
    target: &'static Target,
    schedule: &Schedule,
    name: &str,
) -> Result<Made, Failure> {
    let plan = &job.plan;
    placement::check(schedule, &plan.ring)?;
    let lowered = lower(plan, schedule, target.machine, name).map_err(|e| {
        Failure::input(format!("plan `{}` for target `{}`: {e}", plan.name, target.name))
    })?;
    let (mut program, notes, sites) = (lowered.program, lowered.notes, lowered.sites);
    widen(&mut program);
    let entries = entries(&program, target, job.operands)?;
    let (plan, schedule) = (plan.clone(), program.schedule.clone());
    Ok(Made { target, plan, schedule, notes, sites, program, entries })
}

/// Interprets every entry point on worst cases and random inputs, and compares it with the oracle.
/// Returns the number of cases for each.
///
/// # Errors
/// A result is wrong: a fault of ringforge, not of the input.
pub fn self_check(made: &Made, ring: &Ring) -> Result<Vec<usize>, Failure> {
    let mut counts = Vec::new();
    for entry in &made.entries {
        let name = &made.program.name;
        let terms = entry.contract(name, ring, made.program.transform.as_ref());
        let oracle = Oracle::new(proof::contract(&entry.contract_file(name), &terms, None)?);
        let cases = oracle.some_cases(24, 8);
        for (i, case) in cases.iter().enumerate() {
            let inputs: Vec<&[i64]> = case.inputs.iter().map(Vec::as_slice).collect();
            let c = run(&entry.program, &inputs).map_err(|e| Failure::failed(e.to_string()))?;
            if let Some(k) = oracle.first_wrong(&c, &case.c) {
                return Err(Failure::failed(format!(
                    "the program of `{}` for target `{}` is wrong at element {k} (case {i}); this is a fault of ringforge",
                    entry.procedure, made.target.name
                )));
            }
        }
        counts.push(cases.len());
    }
    Ok(counts)
}

/// The C source of a program.
///
/// # Errors
/// The target cannot express it.
pub fn source(made: &Made, command: &str) -> Result<String, Failure> {
    let mut facts = Vec::new();
    if !made.notes.is_empty() {
        facts.push("Otherwise than the plan says:".to_owned());
        facts.extend(made.notes.iter().map(|note| format!("  {note}")));
        facts.push(String::new());
    }
    for entry in &made.entries {
        facts.push(format!(
            "{}: {}. Ranges by stage, proven for the program by interval analysis:",
            entry.signature.symbol,
            entry.promises()
        ));
        for stage in &entry.ranges.stages {
            if let (Some(title), Some((low, high))) = (stage.path.last(), stage.words) {
                facts.push(format!("  [{low}, {high}] {title}"));
            }
        }
        let total = &entry.costs.total;
        facts.push(format!(
            "  Operations on registers of {} words: {} multiplies, {} additions, {} shifts and logic, {} shuffles, {} loads, {} stores; {} reductions, {} modular products.",
            entry.costs.lanes, total.multiplies, total.additions, total.logic, total.shuffles, total.loads,
            total.stores, total.reductions + total.narrowings, total.modular_products + total.word_products
        ));
    }
    let preamble = Preamble {
        command: command.into(),
        tool: format!("{} {}", Tool::THIS.name, Tool::THIS.version),
        facts,
    };
    made.target.emit(&made.program, &preamble)
}

/// The compiler's flags for an optimisation level.
pub fn flags(opt: &str) -> Vec<String> {
    opt.split_whitespace().chain(["-std=c99"]).map(str::to_owned).collect()
}

/// Writes `text` as `name.c` into the package and compiles it to an object elsewhere.
///
/// # Errors
/// The directory cannot be written, the compiler fails.
pub fn compile(
    out: &OutputDir,
    scratch: &Path,
    file: &str,
    text: &str,
    compiler: &Compiler,
    flags: &[String],
) -> Result<(std::path::PathBuf, String), Failure> {
    out.write(&format!("{file}.c"), text).map_err(unwritable)?;
    let object = scratch.join(format!("{file}.o"));
    let done = compiler
        .compile(&out.path().join(format!("{file}.c")), flags, &object)
        .map_err(|e| Failure::failed(e.to_string()))?;
    // The path of the unfinished directory means nothing afterwards.
    let command = done
        .command
        .replace(&format!("{}/", out.path().display()), "")
        .replace(&format!("{}/", scratch.display()), "");
    Ok((object, command))
}

/// An output directory that fails is bad input.
pub fn unwritable(error: OutputError) -> Failure {
    Failure::input(error.to_string())
}
