//! `ringforge prove --all` and `--contracts`: many functions of many objects, in one table.

mod cache;
mod config;
mod files;
mod junit;
mod lines;
mod markdown;
mod plan;
mod row;
mod sarif;
mod table;
mod task;
mod work;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ringforge_prove::Verdict;
use ringforge_toolchain::replace_file;

use crate::args::{Limits, Missing, Prove};
use crate::package::Tool;
use crate::signals;
use crate::ui::{Failure, Ui};
use crate::verdict::together;
use config::Config;
use plan::{LeftOut, Loaded, plan};
use row::Row;
use task::Label;
use work::How;

/// Seconds that a function of a project may take, if nothing else is said.
const TIME_LIMIT: u32 = 600;
/// Megabytes that the proofs of a project may take together: a laptop has more.
const MEMORY_LIMIT: u32 = 8192;

/// What is proved, and where it was said.
struct Wanted {
    /// The project's file, or the object.
    name: String,
    /// Whether a project's file names it.
    is_project: bool,
    objects: Vec<PathBuf>,
    contracts: Vec<PathBuf>,
    build: Option<String>,
    missing: Missing,
    how: How,
}

/// Runs the command.
///
/// # Errors
/// Bad input, such as a project without a function to prove. A verdict is no error.
pub fn run(ui: &Ui, args: &Prove) -> Result<u8, Failure> {
    let wanted = if args.all { project(args)? } else { directories(args)? };
    let objects: Vec<Loaded> =
        wanted.objects.iter().map(|path| Loaded::read(path)).collect::<Result<_, _>>()?;
    let plan = plan(&objects, &wanted.contracts)?;
    if plan.tasks.is_empty() {
        return Err(nothing(&wanted, &plan.left_out));
    }
    let bar = ui.bar("proving", plan.tasks.len() as u64);
    let labels: Vec<Label> = plan.tasks.iter().map(|task| task.label.clone()).collect();
    let rows = Mutex::new(vec![None; labels.len()]);
    let missing =
        if wanted.missing == Missing::Unknown { plan.left_out.missing.clone() } else { Vec::new() };
    let end = Arc::new(End {
        ui: *ui,
        name: wanted.name,
        is_project: wanted.is_project,
        build: wanted.build,
        left_out: plan.left_out,
        missing,
        labels,
        rows,
        said: Mutex::new(false),
        outputs: Outputs {
            sarif: args.sarif.clone(),
            junit: args.junit.clone(),
            markdown: args.markdown.clone(),
        },
    });
    let (last, shown) = (Arc::clone(&end), bar.clone());
    signals::before_the_end(Box::new(move || {
        shown.finish_and_clear();
        if let Err(failure) = last.say(true) {
            last.ui.fail(&failure);
        }
    }));
    let worked = work::run(ui, &plan.tasks, &wanted.how, &bar, &|at, row| end.keep(at, row));
    bar.finish_and_clear();
    if signals::came().is_some() {
        // The signal's own thread says what there is, and ends the process.
        return Ok(1);
    }
    worked?;
    let verdict = end.say(false)?;
    signals::no_last_words();
    Ok(if verdict == Verdict::Proved { 0 } else { 1 })
}

/// A prover that proves nothing must not succeed.
fn nothing(wanted: &Wanted, left_out: &LeftOut) -> Failure {
    let name = &wanted.name;
    if !wanted.is_project {
        let m = format!("`{name}` defines no function that a contract of these directories is for");
        return Failure::input(m);
    }
    let mut m = format!("`{name}`: no object defines a function that a contract is for");
    if !left_out.not_defined.is_empty() {
        m += &format!("; the contracts are for {}", left_out.not_defined.join(", "));
    }
    if !left_out.other_processors.is_empty() {
        m += &format!("; for other processors: {}", left_out.other_processors.join(", "));
    }
    Failure::input(m)
}

/// What a project's file names.
fn project(args: &Prove) -> Result<Wanted, Failure> {
    let path = args.config.clone().map_or_else(config::find, Ok)?;
    let config = Config::read(&path)?;
    let time = args.limits.time_limit.or(config.time_limit).unwrap_or(TIME_LIMIT);
    let memory = args.limits.memory_limit.or(config.memory_limit).unwrap_or(MEMORY_LIMIT);
    let limits = Limits { time_limit: Some(time), memory_limit: Some(memory) };
    Ok(Wanted {
        name: config.path.display().to_string(),
        is_project: true,
        objects: config.objects,
        contracts: config.contracts,
        build: config.build,
        missing: args.missing.unwrap_or(config.missing),
        how: How {
            options: limits.options(),
            confirms: config.confirm && !args.no_confirm,
            jobs: args.jobs().or(config.jobs),
            cache: config.cache.or_else(cache::directory).filter(|_| !args.no_cache),
        },
    })
}

/// One object, and the contracts of some directories.
fn directories(args: &Prove) -> Result<Wanted, Failure> {
    let [path] = &args.objects[..] else {
        return Err(Failure::input("--contracts takes one object: link several with `ld -r`"));
    };
    let mut contracts = Vec::new();
    for directory in &args.contracts {
        let found = files::in_directory(directory).map_err(Failure::input)?;
        if found.is_empty() {
            return Err(Failure::input(format!("no contract in `{}`", directory.display())));
        }
        contracts.extend(found);
    }
    Ok(Wanted {
        name: path.display().to_string(),
        is_project: false,
        objects: vec![path.clone()],
        contracts,
        build: None,
        missing: args.missing.unwrap_or(Missing::Skip),
        how: How {
            options: args.limits.options(),
            confirms: !args.no_confirm,
            jobs: args.jobs(),
            cache: None,
        },
    })
}

/// Files that the results go to, besides standard output.
struct Outputs {
    sarif: Option<PathBuf>,
    junit: Option<PathBuf>,
    markdown: Option<PathBuf>,
}

/// What is there when the command ends, by itself or by a signal.
struct End {
    ui: Ui,
    name: String,
    is_project: bool,
    build: Option<String>,
    left_out: LeftOut,
    missing: Vec<(Label, String)>,
    labels: Vec<Label>,
    rows: Mutex<Vec<Option<Row>>>,
    /// Whether the results were said. It is locked while they are.
    said: Mutex<bool>,
    outputs: Outputs,
}

impl End {
    fn keep(&self, at: usize, row: Row) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = rows.get_mut(at) {
            *place = Some(row);
        }
    }

    /// Every row; what was not finished is unknown.
    fn rows(&self) -> Vec<Row> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |(row, label): (&Option<Row>, &Label)| match row {
            Some(row) => row.clone(),
            None => Row::untried(label.clone(), "stopped", "interrupted".into()),
        };
        let mut rows: Vec<Row> = rows.iter().zip(&self.labels).map(one).collect();
        for (label, why) in &self.missing {
            let why = format!("{why}; `--missing skip` leaves such contracts out");
            rows.push(Row::untried(label.clone(), "missing", why));
        }
        rows
    }

    /// Says the results and writes them, once; the verdict on all.
    fn say(&self, interrupted: bool) -> Result<Verdict, Failure> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = self.rows();
        let overall = together(&rows.iter().map(|row| row.verdict).collect::<Vec<_>>());
        if std::mem::replace(&mut *said, true) {
            return Ok(overall);
        }
        let of = if self.is_project { "project" } else { "object" };
        self.ui.json(&serde_json::json!({
            "verdict": overall,
            "tool": Tool::THIS,
            of: self.name,
            "build": self.build,
            "interrupted": interrupted,
            "functions": rows,
            "left_out": self.left_out,
        }))?;
        table::say(&self.ui, &self.name, &rows, &self.left_out);
        self.outputs.write(&rows, self.build.as_deref(), interrupted)?;
        Ok(overall)
    }
}

impl Outputs {
    fn write(&self, rows: &[Row], build: Option<&str>, interrupted: bool) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
        if let Some(path) = &self.sarif {
            let text = sarif::text(rows, interrupted).map_err(|e| failed(&e))?;
            replace_file(path, text).map_err(|e| failed(&e))?;
        }
        if let Some(path) = &self.junit {
            let text = junit::text(rows).map_err(|e| failed(&e))?;
            replace_file(path, text).map_err(|e| failed(&e))?;
        }
        if let Some(path) = &self.markdown {
            let text = markdown::text(rows, build, interrupted);
            // Other commands of the step write to GitHub's file, too.
            if std::env::var_os("GITHUB_STEP_SUMMARY").is_some_and(|summary| summary == *path) {
                append(path, &text).map_err(|e| {
                    Failure::failed(format!("cannot write {}: {e}", path.display()))
                })?;
            } else {
                replace_file(path, text).map_err(|e| failed(&e))?;
            }
        }
        Ok(())
    }
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
}
