//! Functions that others wrote, against their contracts: collects the objects, runs
//! `ringforge prove` on each, and writes the table of `docs/results/zoo.md`.

mod collect;
mod manifest;
mod page;

// Only their objects are wanted.
use fn_dsa_comm as _;
use libcrux_ml_kem as _;
use pqcrypto_mldsa as _;
use pqcrypto_mlkem as _;
use pqcrypto_ntru as _;
use pqcrypto_ntruprime as _;
use pqcrypto_saber as _;

use collect::Packages;
use manifest::{Function, Library, Manifest, Twin};
use page::Outcome;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const USAGE: &str =
    "usage: zoo [--ringforge PROGRAM] [--objects DIR] [--out FILE] [--expect FILE] [NAME…]

Collects the functions of contracts/zoo/objects.toml (or those named) into DIR, proves each, and
writes the page to FILE; where some are named, the rows of the others stay as they are there. With --expect, fails if a function that FILE calls proved is not.";

/// What went wrong.
#[derive(Debug)]
pub struct Failure(pub String);

/// Runs a command and returns what it prints.
///
/// # Errors
/// It does not start or does not succeed.
pub fn run(command: &mut Command) -> Result<String, Failure> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|e| Failure(format!("{shown}: {e}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure(format!("{shown} failed:\n{said}")));
    }
    String::from_utf8(output.stdout).map_err(|_| Failure(format!("{shown} printed no text")))
}

/// The command line.
struct Options {
    ringforge: PathBuf,
    objects: PathBuf,
    out: Option<PathBuf>,
    expect: Option<PathBuf>,
    names: Vec<String>,
}

fn options(root: &Path) -> Result<Options, Failure> {
    let mut o = Options {
        ringforge: root.join("target/release/ringforge"),
        objects: root.join("bench/target/zoo"),
        out: None,
        expect: None,
        names: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            o.names.push(word);
            continue;
        }
        let value = words.next().map(PathBuf::from).ok_or_else(|| Failure(USAGE.into()))?;
        match word.as_str() {
            "--ringforge" => o.ringforge = value,
            "--objects" => o.objects = value,
            "--out" => o.out = Some(value),
            "--expect" => o.expect = Some(value),
            _ => return Err(Failure(USAGE.into())),
        }
    }
    Ok(o)
}

fn main() -> std::process::ExitCode {
    match all() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(Failure(text)) => {
            eprintln!("{text}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn all() -> Result<(), Failure> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = bench.join("..");
    let options = options(&root)?;
    let contracts = root.join("contracts/zoo");
    let manifest = Manifest::read(&contracts.join("objects.toml"))?;
    let chosen = |f: &&Function| options.names.is_empty() || options.names.contains(&f.name);
    let functions: Vec<&Function> = manifest.function.iter().filter(chosen).collect();
    if let Some(name) = options.names.iter().find(|n| !functions.iter().any(|f| f.name == **n)) {
        return Err(Failure(format!("there is no function `{name}` in objects.toml")));
    }
    let packages = Packages::build(&bench)?;
    std::fs::create_dir_all(&options.objects)
        .map_err(|e| Failure(format!("{}: {e}", options.objects.display())))?;
    let mut outcomes = Vec::new();
    for f in functions {
        let object = options.objects.join(format!("{}.o", f.name));
        packages.object(f, &bench.join("zoo/shims"), &object)?;
        let contract = contracts.join(format!("{}.toml", f.name));
        let outcome = prove(&options.ringforge, f, &object, &contract)?;
        eprintln!("{:28} {:8} {}", f.name, outcome.verdict, outcome.reason);
        outcomes.push(outcome);
        for twin in manifest.twin.iter().filter(|t| t.of == f.name) {
            refused(&options, f, twin, &object, &contract)?;
        }
    }
    match &options.out {
        Some(path) => {
            let failed = |e: std::io::Error| Failure(format!("{}: {e}", path.display()));
            let old = match options.names.is_empty() {
                true => String::new(),
                false => std::fs::read_to_string(path).map_err(failed)?,
            };
            let row = |f: &Function| match outcomes.iter().find(|o| o.name == f.name) {
                Some(outcome) => Some(outcome.row()),
                None => page::row_of(&old, &f.name),
            };
            let section = |library: &str| {
                let own = manifest.function.iter().filter(|f| f.library == library);
                own.filter_map(row).collect::<Vec<page::Row>>()
            };
            let sections: Vec<(&Library, Vec<page::Row>)> =
                manifest.library.iter().map(|l| (l, section(&l.name))).collect();
            std::fs::write(path, page::page(&sections, manifest.twin.len())).map_err(failed)?;
        }
        None => {
            let rows: Vec<page::Row> = outcomes.iter().map(Outcome::row).collect();
            println!("{}", page::table(&rows));
        }
    }
    match &options.expect {
        Some(path) => expect(path, &outcomes),
        None => Ok(()),
    }
}

/// Fails if the function is proved for the changed contract too.
fn refused(
    options: &Options,
    f: &Function,
    twin: &Twin,
    object: &Path,
    contract: &Path,
) -> Result<(), Failure> {
    let failed = |path: &Path, e: std::io::Error| Failure(format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(contract).map_err(|e| failed(contract, e))?;
    let changed = text.replacen(&twin.from, &twin.to, 1);
    if changed == text {
        return Err(Failure(format!("{}: the contract does not say `{}`", f.name, twin.from)));
    }
    let path = options.objects.join(format!("{}.twin.toml", f.name));
    std::fs::write(&path, changed).map_err(|e| failed(&path, e))?;
    match prove(&options.ringforge, f, object, &path)?.verdict.as_str() {
        "refuted" => Ok(()),
        verdict => Err(Failure(format!("{} with `{}` is {verdict}", f.name, twin.to))),
    }
}

/// Runs `ringforge prove`.
fn prove(
    ringforge: &Path,
    f: &Function,
    object: &Path,
    contract: &Path,
) -> Result<Outcome, Failure> {
    let text = std::fs::read_to_string(contract)
        .map_err(|e| Failure(format!("{}: {e}", contract.display())))?;
    let said: page::Said =
        toml::from_str(&text).map_err(|e| Failure(format!("{}: {e}", contract.display())))?;
    let symbol = collect::symbol(&said.symbol, object)?;
    let mut command = Command::new(ringforge);
    command.args(["--json", "prove", "--no-confirm", "--symbol", &symbol, "--contract"]);
    command.arg(contract).arg(object);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().map_err(|e| Failure(format!("{command:?}: {e}")))?;
    let mut stdout = child.stdout.take().ok_or_else(|| Failure("no pipe".into()))?;
    // The report is larger than a pipe.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stdout, &mut text).map(|_| text)
    });
    let limit = Duration::from_secs(f.limit.unwrap_or(300));
    let started = std::time::Instant::now();
    loop {
        if child.try_wait().map_err(|e| Failure(e.to_string()))?.is_some() {
            break;
        }
        if started.elapsed() > limit {
            child.kill().map_err(|e| Failure(e.to_string()))?;
            child.wait().map_err(|e| Failure(e.to_string()))?;
            return Ok(Outcome::stopped(f, &said, limit));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let seconds = started.elapsed().as_secs_f64();
    let text = reader
        .join()
        .map_err(|_| Failure("the reader panicked".into()))?
        .map_err(|e| Failure(e.to_string()))?;
    let report: page::Report = serde_json::from_str(&text)
        .map_err(|e| Failure(format!("{}: ringforge printed no report: {e}\n{text}", f.name)))?;
    Ok(Outcome::new(f, &said, report, seconds))
}

/// Fails if a function that the page `path` calls proved is not.
fn expect(path: &Path, outcomes: &[Outcome]) -> Result<(), Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure(format!("cannot read {}: {e}", path.display())))?;
    let proved: Vec<&str> = page::proved(&text);
    if proved.is_empty() {
        return Err(Failure(format!("{} calls nothing proved", path.display())));
    }
    let lost: Vec<&str> = outcomes
        .iter()
        .filter(|o| o.verdict != "proved" && proved.contains(&o.name.as_str()))
        .map(|o| o.name.as_str())
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    Err(Failure(format!("no longer proved: {}", lost.join(", "))))
}
