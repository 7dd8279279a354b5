//! All mutants of a package that `cargo mutants` names, each run against the package's tests.
//!
//! `cargo mutants` compiles every mutant anew, a minute each. Here all are in one copy of the package, which chooses one of
//! them by a number in the environment: it is compiled once, and run once a mutant. What cannot be chosen so (constants,
//! functions whose type would differ) is compiled alone. Each refusal is switched off in the same way (`refusals.rs`).

mod build;
mod list;
mod program;
mod record;
mod refusals;
mod run;
mod source;

use anyhow::{Context, Result, ensure};
use build::Copy;
use clap::Parser;
use list::Mutant;
use program::{Spelled, Text};
use record::{Keep, Results, change};
use run::{Outcome, Part, Suite, Told};
use source::{Kind, Source};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

/// What the program asks which mutant it is.
const CHOICE: &str = "
/// Whether this is the program's mutant.
#[inline]
pub(crate) fn m__(n: u32) -> bool {
    static CHOSEN: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
        std::env::var(\"MUTANT\").ok().and_then(|n| n.parse().ok()).unwrap_or(u32::MAX)
    });
    *CHOSEN == n
}
";

/// Runs all mutants of a package against its tests.
#[derive(Parser)]
struct Args {
    /// The workspace.
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// The package.
    #[arg(long, default_value = "ringforge-kernel")]
    package: String,
    /// A directory for the copy and what is built of it.
    #[arg(long, default_value = "target/mutants")]
    scratch: PathBuf,
    /// The file that is written.
    #[arg(long, default_value = "crates/kernel/mutants.txt")]
    record: PathBuf,
    /// Runs only those that were not caught the last time, with the tests as they are now.
    #[arg(long)]
    again: bool,
    /// Goes on where a run was ended, with the outcomes that it had.
    #[arg(long)]
    resume: bool,
    /// Leaves out long tests, and what is compiled alone: a first look.
    #[arg(long)]
    quick: bool,
    /// Runs nothing: writes the record of what was found the last time.
    #[arg(long)]
    write: bool,
    /// Mutants that are run at the same time, each on one core.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Runs only those whose line in the record has this in it.
    #[arg(long)]
    only: Option<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut mutants = list::mutants(&args.root, &args.package)?;
    let named = mutants.len();
    mutants.extend(refusals::refusals(&args.root, &mutants)?);
    println!("{named} mutants of cargo-mutants, {} refusals", mutants.len() - named);
    let copy = Copy::new(&args.root, &args.scratch, &args.package)?;
    let sources = sources(&args, &mutants)?;
    let lines = lines(&sources, &mutants);
    let spelled = compiled(&copy, &sources, &mutants)?;
    println!("{} of them are not in the one program", spelled.gone.len());

    let dir = copy.package_dir(&mutants[0].file);
    let keep = match (args.resume || args.write, args.again) {
        (true, _) => Keep::All,
        (false, true) => Keep::Noticed,
        (false, false) => Keep::None,
    };
    let mut results = Results::new(&args.scratch, keep)?;
    for &n in &spelled.never {
        if results.of(&lines[n]).is_none() {
            results.add(&lines[n], (Outcome::Uncompiled, String::new()))?;
        }
    }
    // By these numbers one is run by hand: MUTANT=17 DIR/programs/all/lib
    let all = lines.iter().enumerate().map(|(n, line)| format!("{n} {line}\n"));
    std::fs::write(args.scratch.join("numbers.txt"), all.collect::<String>())?;
    let record = args.root.join(&args.record);
    if args.write {
        return results.write(&args.root, &record, &lines, named);
    }
    let wanted = |n: &usize| args.only.as_ref().is_none_or(|o| lines[*n].contains(o.as_str()));
    let suite = Suite::new(&copy.tests("all")?, &dir)?;
    let todo = |results: &Results, is: Option<Outcome>| -> VecDeque<usize> {
        let all = (0..mutants.len()).filter(wanted);
        all.filter(|n| results.of(&lines[*n]) == is).collect()
    };
    let run = |results: &mut Results, todo: VecDeque<usize>, part: Part| -> Result<()> {
        let (todo, shared) = (Mutex::new(todo), Mutex::new(results));
        let worker = || -> Result<()> {
            loop {
                let next = todo.lock().expect("no panics").pop_front();
                let Some(n) = next else { return Ok(()) };
                let told = suite.outcome(&mutants[n].file, Some(n), part)?;
                shared.lock().expect("no panics").add(&lines[n], told)?;
            }
        };
        std::thread::scope(|s| {
            let all: Vec<_> = (0..args.jobs.max(1)).map(|_| s.spawn(worker)).collect();
            all.into_iter().try_for_each(|w| w.join().expect("no panics"))
        })
    };
    let mut first = todo(&results, None);
    first.retain(|n| !spelled.gone.contains(n));
    run(&mut results, first, Part::Quick)?;
    results.write(&args.root, &record, &lines, named)?;
    if args.quick {
        return Ok(());
    }
    let second = todo(&results, Some(Outcome::MissedQuick));
    run(&mut results, second, Part::Long)?;
    results.write(&args.root, &record, &lines, named)?;
    for source in &sources {
        copy.put(&source.file, &source.text)?;
    }
    for n in todo(&results, None) {
        results.add(&lines[n], alone(&copy, &sources, &suite, &mutants[n])?)?;
    }
    results.write(&args.root, &record, &lines, named)
}

/// The sources that have mutants.
fn sources(args: &Args, mutants: &[Mutant]) -> Result<Vec<Source>> {
    let mut files: BTreeMap<&str, Vec<(usize, &Mutant)>> = BTreeMap::new();
    for (n, m) in mutants.iter().enumerate() {
        files.entry(&m.file).or_default().push((n, m));
    }
    let one = |(file, own): (&str, Vec<(usize, &Mutant)>)| {
        let text =
            std::fs::read_to_string(args.root.join(file)).with_context(|| file.to_string())?;
        Source::new(file, text, &own)
    };
    files.into_iter().map(one).collect()
}

/// What the record calls each mutant: no two by one name.
fn lines(sources: &[Source], mutants: &[Mutant]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut line = |m: &Mutant| {
        let source = sources.iter().find(|s| s.file == m.file);
        let line = change(m, source.map_or("", |s| &s.text), source.map_or(&[], |s| &s.sites));
        let count = seen.entry(line.clone()).or_default();
        *count += 1;
        if *count > 1 { format!("{line} (no. {count})") } else { line }
    };
    mutants.iter().map(&mut line).collect()
}

/// Writes the one program into the copy, and takes out of it what does not compile.
fn compiled(copy: &Copy, sources: &[Source], mutants: &[Mutant]) -> Result<Spelled> {
    let placed: std::collections::BTreeSet<usize> =
        sources.iter().flat_map(|s| &s.sites).flat_map(|s| &s.mutants).map(|m| m.0).collect();
    let gone = (0..mutants.len()).filter(|n| !placed.contains(n)).collect();
    let mut spelled = Spelled { gone, ..Spelled::default() };
    for round in 1.. {
        let texts: Vec<Text> = sources.iter().map(|s| program::written(s, &spelled)).collect();
        for (source, text) in sources.iter().zip(&texts) {
            copy.put(&source.file, &text.text)?;
        }
        let lib = copy.package_dir(&sources[0].file).join("src/lib.rs");
        let whole = std::fs::read_to_string(&lib)?;
        if !whole.contains("fn m__") {
            std::fs::write(&lib, whole + CHOICE)?;
        }
        let faults = copy.faults()?;
        println!("round {round}: {} errors", faults.len());
        if faults.is_empty() {
            break;
        }
        let mut progress = false;
        for (file, start, end) in faults {
            let at = sources.iter().position(|s| s.file == file);
            let at = at.with_context(|| format!("an error in {file}, which has no mutants"))?;
            progress |= refused(&sources[at], &texts[at], start..end, &mut spelled);
        }
        ensure!(progress, "errors at no mutant: run cargo check in {}", copy.dir.display());
    }
    Ok(spelled)
}

/// Takes out the mutant at an error, or spells its place otherwise.
fn refused(source: &Source, text: &Text, at: Range<usize>, spelled: &mut Spelled) -> bool {
    let least = |all: &[(Range<usize>, usize)]| {
        let inside = all.iter().filter(|r| r.0.start <= at.start && at.end <= r.0.end);
        inside.min_by_key(|r| r.0.len()).cloned()
    };
    let (mutant, site) = (least(&text.mutants), least(&text.sites));
    let in_mutant =
        mutant.as_ref().is_some_and(|m| site.as_ref().is_none_or(|s| m.0.len() <= s.0.len()));
    if let Some((_, n)) = mutant.filter(|_| in_mutant) {
        let site = source.sites.iter().find(|s| s.mutants.iter().any(|m| m.0 == n));
        if site.is_some_and(|s| matches!(s.kind, Kind::Body)) {
            spelled.never.insert(n);
        }
        return spelled.gone.insert(n);
    }
    let Some((_, key)) = site else { return false };
    let Some(site) = source.sites.iter().find(|s| s.mutants.first().is_some_and(|m| m.0 == key))
    else {
        return false;
    };
    let spelling = spelled.site.entry(key).or_default();
    if *spelling == 0 && matches!(site.kind, Kind::Binary { .. } | Kind::Assign { .. }) {
        *spelling = 1;
        return true;
    }
    let before = spelled.gone.len();
    spelled.gone.extend(site.mutants.iter().map(|m| m.0));
    spelled.gone.len() > before
}

/// A mutant in a program of its own.
fn alone(copy: &Copy, sources: &[Source], suite: &Suite, mutant: &Mutant) -> Result<Told> {
    let source = sources.iter().find(|s| s.file == mutant.file).context("its source")?;
    let range = source::bytes(&source.text, mutant);
    let mut text = source.text.clone();
    text.replace_range(range, &format!("{} ", mutant.replacement));
    copy.put(&source.file, &text)?;
    let mut told = (Outcome::Uncompiled, String::new());
    if copy.faults()?.is_empty() {
        let own = suite.of(&copy.tests("one")?);
        told = own.outcome(&mutant.file, None, Part::Quick)?;
        if told.0 == Outcome::MissedQuick {
            told = own.outcome(&mutant.file, None, Part::Long)?;
        }
    }
    copy.put(&source.file, &source.text)?;
    Ok(told)
}
