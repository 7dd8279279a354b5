//! The evidence for a package: it compiles, its multipliers are proved, it passes known-answer
//! tests; and how large it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSection, SectionKind};
use rayon::prelude::*;
use ringforge_toolchain::Compiler;
use serde::Serialize;

use crate::library::sources::{Selection, Sources};
use crate::proof::{self, Named, Proof};
use crate::ui::{Failure, Ui};

/// Warnings that a package is free of.
pub const WARNINGS: &[&str] = &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion"];

/// An object that was compiled from a packaged source.
pub struct Compiled {
    /// The source's name, as `src/x.c`.
    pub source: String,
    /// The object.
    pub object: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// One multiplier's proof.
#[derive(Serialize)]
pub struct Proved {
    /// Its symbol.
    pub symbol: String,
    /// The source.
    pub source: String,
    /// The contract's file.
    pub contract: String,
    /// What the prover found for the object.
    pub proof: Proof,
}

/// Bytes of stack of one operation.
#[derive(Serialize, Clone)]
pub struct Stack {
    /// The KEM.
    pub kem: String,
    /// `keypair`, `enc` or `dec`.
    pub operation: String,
    /// Bytes that a call touches.
    pub bytes: u64,
}

/// What running the package's tests showed.
#[derive(Serialize, Default)]
pub struct Runs {
    /// KEM and number of published answers that were met.
    pub answers: Vec<(String, usize)>,
    /// Stack use.
    pub stack: Vec<Stack>,
}

/// Compiles sources of the package at `place`, on all processors.
///
/// # Errors
/// The compiler fails.
pub fn compile(
    compiler: &Compiler,
    options: &[String],
    place: &Path,
    sources: &[String],
    scratch: &Path,
) -> Result<Vec<Compiled>, Failure> {
    let flags: Vec<String> =
        options.iter().cloned().chain(WARNINGS.iter().map(|&w| w.to_owned())).collect();
    let one = |source: &String| {
        let object = scratch.join(source.replace('/', "_")).with_extension("o");
        compiler
            .compile(&place.join(source), &flags, &object)
            .map_err(|e| Failure::failed(e.to_string()))?;
        let bytes =
            std::fs::read(&object).map_err(|e| Failure::failed(format!("{source}: {e}")))?;
        Ok(Compiled { source: source.clone(), object, bytes })
    };
    sources.par_iter().map(one).collect()
}

/// Bytes of machine code in objects.
///
/// # Errors
/// They are not objects.
pub fn code_bytes(compiled: &[Compiled]) -> Result<u64, Failure> {
    let mut sum = 0;
    for one in compiled {
        let file = object::File::parse(&*one.bytes)
            .map_err(|e| Failure::failed(format!("the object of {}: {e}", one.source)))?;
        let code = file.sections().filter(|s| s.kind() == SectionKind::Text);
        sum += code.map(|section| section.size()).sum::<u64>();
    }
    Ok(sum)
}

/// A contract for a packaged function: under its prefix, and with the command that proves it again.
pub fn contract(selection: &Selection, symbol: &str, text: &str, source: &str) -> (String, String) {
    let named = format!("{}{symbol}", selection.prefix);
    let object = source.replace(".c", ".o");
    let built = match selection.place {
        None => format!("make && ringforge prove build/{object}"),
        Some(_) => "ringforge prove OBJECT".to_owned(), // where its project's build leaves it
    };
    let head = format!(
        "# What `{named}` in {source} promises. Prove it again, from the package's directory:\n\
         #   {built} --contract contracts/{named}.toml\n"
    );
    let text = head + &renamed(text, symbol, &named);
    (named, text)
}

/// A contract for a function of a source of lib/generated, under the library's usual prefix.
pub fn of_library(symbol: &str, text: &str, source: &str) -> String {
    let named = format!("ringforge_{symbol}");
    format!(
        "# What `{named}` in lib/generated/{source}.c promises. Made by `ringforge package --multipliers`. Prove it, from lib/:\n\
         #   make && ringforge prove build/generated/{source}.o --contract generated/contracts/{symbol}.toml\n{}",
        renamed(text, symbol, &named)
    )
}

/// A contract without its first lines, for a function of another name.
fn renamed(text: &str, symbol: &str, name: &str) -> String {
    let body = text.find("contract = 1").map_or(text, |at| &text[at..]);
    body.replace(&format!("symbol = \"{symbol}\""), &format!("symbol = \"{name}\""))
}

/// Proves every multiplier in the objects that were compiled from the package. If `tried` is false,
/// it only says that nobody tried.
///
/// # Errors
/// An object lacks a function: a fault of ringforge.
pub fn prove(
    ui: &Ui,
    selection: &Selection,
    sources: &Sources,
    compiled: &[Compiled],
    compiler: &Compiler,
    tried: bool,
) -> Result<Vec<Proved>, Failure> {
    let mut all = Vec::new();
    for made in &sources.multipliers {
        let file = format!("src/{}.c", made.name);
        // The one object of an amalgamation has all of them.
        let found = compiled.iter().find(|c| c.source == file).or_else(|| compiled.first());
        let Some(object) = found else { continue };
        for (symbol, text) in &made.functions {
            let (named, text) = contract(selection, symbol, text, &object.source);
            let terms = proof::contract(&named, &text, None)?;
            let named_object = Named { name: &object.source, bytes: &object.bytes };
            let proof = if tried {
                let mut proof =
                    proof::prove(ui, &[named_object], &terms, ringforge_prove::Options::default())?
                        .swap_remove(0);
                proof::confirm(&mut proof, compiler, &object.object, &terms);
                proof
            } else {
                proof::not_tried(named_object, &terms)
            };
            let contract = format!("contracts/{named}.toml");
            all.push(Proved { symbol: named, source: object.source.clone(), contract, proof });
        }
    }
    Ok(all)
}

/// Runs the package's tests with the objects compiled from it: known-answer tests, and stack use.
///
/// # Errors
/// An answer is wrong, or a test does not link or run.
pub fn run(
    selection: &Selection,
    sources: &Sources,
    compiled: &[Compiled],
    compiler: &Compiler,
    scratch: &Path,
) -> Result<Runs, Failure> {
    let test = scratch.join("test");
    let failed = |what: &str| {
        let what = what.to_owned();
        move |e: std::io::Error| Failure::failed(format!("{what}: {e}"))
    };
    std::fs::create_dir_all(&test).map_err(failed("cannot create a directory for tests"))?;
    for (name, text) in sources
        .tests
        .iter()
        .map(|(n, t)| (format!("test/{n}"), t))
        .chain(sources.headers.iter().map(|(n, t)| (n.clone(), t)))
    {
        std::fs::write(scratch.join(&name), text).map_err(failed(&name))?;
    }
    let program = |name: &str| -> Result<PathBuf, Failure> {
        let file = scratch.join(name);
        let mut args: Vec<OsString> = vec!["-O1".into(), "-std=c99".into()];
        let helpers = ["kems", "random", "nist_rng", "sha256"];
        args.extend([name].iter().chain(&helpers).map(|n| test.join(n).with_extension("c").into()));
        // The tests bring their own random bytes.
        let ours = compiled.iter().filter(|c| !c.source.ends_with("random_system.c"));
        args.extend(ours.map(|c| c.object.clone().into()));
        args.extend(["-pthread".into(), "-o".into(), file.clone().into()]);
        compiler.run(&args).map_err(|e| Failure::failed(e.to_string()))?;
        Ok(file)
    };
    Programs { kat: program("kat")?, stack: program("stack")? }.run(selection, sources)
}

/// Tests that are linked with the code.
pub struct Programs {
    /// Hashes of published answers.
    pub kat: PathBuf,
    /// Bytes of stack.
    pub stack: PathBuf,
}

impl Programs {
    /// Compares the answers of the selected KEMs, and measures their stacks.
    ///
    /// # Errors
    /// An answer is wrong, or a program does not run.
    pub fn run(&self, selection: &Selection, sources: &Sources) -> Result<Runs, Failure> {
        let said = |file: &Path, args: &[&str]| -> Result<String, Failure> {
            let output = Command::new(file).args(args).output();
            let output = output.map_err(|e| Failure::failed(format!("{}: {e}", file.display())))?;
            if !output.status.success() {
                let (what, error) = (file.display(), String::from_utf8_lossy(&output.stderr));
                return Err(Failure::failed(format!(
                    "{what} {args:?}: {}\n{error}",
                    output.status
                )));
            }
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let mut runs = Runs::default();
        let published = sources.tests.get("kats.txt").map_or("", String::as_str);
        for line in published.lines().filter(|line| !line.starts_with('#')) {
            let [name, count, hash] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
            let found = said(&self.kat, &[name, count])?;
            if found != hash {
                return Err(Failure::failed(format!(
                    "{name}: {count} answers have the hash {found}, not {hash}"
                )));
            }
            runs.answers.push((name.to_owned(), count.parse().unwrap_or(0)));
        }
        for kem in &selection.kems {
            said(&self.kat, &[kem, "1"])?; // what nobody published answers for makes a round trip
        }
        for line in said(&self.stack, &[])?.lines() {
            if let [kem, operation, bytes] = line.split(' ').collect::<Vec<_>>()[..] {
                let bytes = bytes.parse().unwrap_or(0);
                runs.stack.push(Stack { kem: kem.into(), operation: operation.into(), bytes });
            }
        }
        Ok(runs)
    }
}
