//! From a plan to compiled objects: lower, check by interpretation, emit, compile.

use std::path::Path;

use ringforge_emit::Preamble;
use ringforge_interpret::count::{Costs, count};
use ringforge_interpret::range::{Ranges, ranges};
use ringforge_interpret::run::run;
use ringforge_plan::Plan;
use ringforge_program::ir::Program;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_ring::Ring;
use ringforge_toolchain::{Compiler, OutputDir, OutputError};

use crate::package::Tool;
use crate::preset::read;
use crate::target::Target;
use crate::ui::{Excerpt, Failure};
use crate::verify;

/// One target's program with what its interpretations say.
pub struct Made {
    /// For which machine.
    pub target: &'static Target,
    /// The schedule's text.
    pub schedule: String,
    /// Where the program does not compute as the plan says.
    pub notes: Vec<String>,
    /// The program.
    pub program: Program,
    /// Ranges by stage.
    pub ranges: Ranges,
    /// Costs by stage.
    pub costs: Costs,
}

/// Reads a schedule, or takes the target's default.
///
/// # Errors
/// The file is unreadable or malformed.
pub fn schedule(path: Option<&Path>, target: &Target) -> Result<Schedule, Failure> {
    let Some(path) = path else { return Ok(target.schedule()) };
    let name = path.display().to_string();
    let text = read(&name)?;
    Schedule::parse(&text).map_err(|error| {
        Failure::at(
            "this schedule is refused",
            Excerpt {
                name,
                at: error.span().map_or(0, |span| span.start),
                label: error.message().trim().to_owned(),
                help: None,
                text,
            },
        )
    })
}

/// Lowers a plan for a target and analyses the program.
///
/// # Errors
/// The plan has no program for this schedule, or the program could overflow.
pub fn make(
    plan: &Plan,
    target: &'static Target,
    schedule: &Schedule,
    name: &str,
) -> Result<Made, Failure> {
    let lowered = lower(plan, schedule, name).map_err(|e| {
        Failure::input(format!("plan `{}` for target `{}`: {e}", plan.name, target.name))
    })?;
    let (program, notes) = (lowered.program, lowered.notes);
    let fault =
        |e| Failure::failed(format!("the program for target `{}` is faulty: {e}", target.name));
    let ranges = ranges(&program).map_err(fault)?;
    let costs = count(&program).map_err(fault)?;
    Ok(Made { target, schedule: schedule.to_string(), notes, program, ranges, costs })
}

/// Runs the program by interpretation on worst cases and random pairs against the oracle;
/// returns how many.
///
/// # Errors
/// A product is wrong: a fault of ringforge, not of the input.
pub fn self_check(made: &Made, ring: &Ring) -> Result<usize, Failure> {
    let cases = verify::some_cases(ring, 24, 8);
    let narrow = |v: &[i64]| -> Vec<i16> { v.iter().map(|&x| x as i16).collect() };
    for (i, case) in cases.iter().enumerate() {
        let (a, b) = (narrow(&case.a), narrow(&case.b));
        let c = run(&made.program, &[&a, &b]).map_err(|e| Failure::failed(e.to_string()))?;
        if c != narrow(&case.c) {
            return Err(Failure::failed(format!(
                "the program for target `{}` multiplies wrongly (case {i}); this is a fault of ringforge",
                made.target.name
            )));
        }
    }
    Ok(cases.len())
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
    facts.push("Ranges by stage, proven for the program by interval analysis:".to_owned());
    for stage in &made.ranges.stages {
        if let (Some(title), Some((low, high))) = (stage.path.last(), stage.words) {
            facts.push(format!("  [{low}, {high}] {title}"));
        }
    }
    let total = &made.costs.total;
    facts.push(format!(
        "Operations on registers of {} words: {} multiplies, {} additions, {} shifts and logic, {} shuffles, {} loads, {} stores; {} reductions, {} modular products.",
        made.costs.lanes, total.multiplies, total.additions, total.logic, total.shuffles, total.loads,
        total.stores, total.reductions + total.narrowings, total.modular_products + total.word_products
    ));
    let preamble = Preamble {
        command: command.into(),
        tool: format!("{} {}", Tool::THIS.name, Tool::THIS.version),
        facts,
    };
    made.target.emit(&made.program, &preamble)
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
