//! `ringforge package`: KEMs of the C library as a source package that stands alone.

use std::path::Path;

use ringforge_toolchain::{Compiler, OutputDir, Scratch, replace_file};
use serde::Serialize;

use crate::args::Package;
use crate::forge::compiler;
use crate::library::evidence::{self, Proved, Runs};
use crate::library::multiplier::{Line, make_all};
use crate::library::sources::{Selection, Sources};
use crate::library::{drop_in, file, kems, secrecy, texts, update};
use crate::make::unwritable;
use crate::package::{File, Tool, VERSION};
use crate::target;
use crate::ui::{self, Failure, Ui};

/// `proofs.json`.
#[derive(Serialize)]
pub struct Index {
    /// Version of this format.
    pub format: u32,
    /// `proved` only if every multiplier is; else `refuted` or `unknown`, as of the small form, which
    /// has none.
    pub verdict: &'static str,
    /// Who made this.
    pub tool: Tool,
    /// The KEMs.
    pub kems: Vec<String>,
    /// What every external symbol starts with.
    pub prefix: String,
    /// By which compiler.
    pub compiler: Compiler,
    /// At which level.
    pub opt: String,
    /// The objects that were proved.
    pub objects: Vec<File>,
    /// Bytes of code of all objects.
    pub code_bytes: u64,
    /// Published answers, stack use; empty where this processor does not run the code.
    #[serde(flatten)]
    pub runs: Runs,
    /// The multipliers.
    pub multipliers: Vec<Proved>,
    /// The command that makes this package again.
    pub command: String,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Outcome<'a> {
    #[serde(flatten)]
    index: &'a Index,
    /// Files of an earlier package that somebody changed, and that stayed as they are.
    kept: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// Bad input, or a step that failed; a proof that did not succeed is a result, not an error.
pub fn run(ui: &Ui, args: &Package) -> Result<u8, Failure> {
    if let Some(place) = &args.multipliers {
        return multipliers(ui, place);
    }
    if let Some(place) = &args.contracts {
        return contracts(ui, place);
    }
    let selection = selection(args)?;
    let Some(place) = &args.out else {
        return Err(Failure::input(
            "missing --out DIR: an empty or new directory, or an earlier package",
        ));
    };
    let compiler = compiler(args.cc.as_deref())?;
    let (out, kept) = update::start(place)?;
    let bar = ui.spinner("forging multipliers");
    let sources = selection.sources()?;
    bar.finish_and_clear();
    let command = command_line(args, &selection);
    let scratch =
        Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
    let mut options: Vec<String> = args.opt.split_whitespace().map(str::to_owned).collect();
    let compile = if let Some(place) = selection.place {
        options.extend(drop_in::stand_in(place, scratch.path())?);
        for source in place.sources {
            let text = place.text(source, &sources, VERSION, &command);
            out.write(source.name, text).map_err(unwritable)?;
        }
        let first = place.sources[0].name.to_owned();
        write_contracts(&out, &selection, &sources, |_| first.clone())?;
        let contract = secrecy::of_place(place, selection.small);
        out.write(&format!("contracts/{}.toml", place.kem), contract).map_err(unwritable)?;
        vec![first]
    } else {
        write_sources(&out, args, &selection, &sources, &command)?
    };

    let bar = ui.spinner("compiling");
    let compiled = evidence::compile(&compiler, &options, out.path(), &compile, scratch.path())?;
    bar.finish_and_clear();
    let host = ringforge_toolchain::Host::detect();
    let runs = if selection.target != 2 || host.has("avx2") {
        let bar = ui.spinner("known answers");
        let runs = if let Some(place) = selection.place {
            let dirs = (scratch.path(), out.path());
            drop_in::run((&selection, place), &sources, &compiled, &compiler, dirs)?
        } else {
            // The library has its own random bytes; tests bring others.
            let second = Scratch::new()
                .map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
            options.push(format!("-D{}RANDOM=2", selection.prefix.to_uppercase()));
            let tested =
                evidence::compile(&compiler, &options, out.path(), &compile, second.path())?;
            evidence::run(&selection, &sources, &tested, &compiler, scratch.path())?
        };
        bar.finish_and_clear();
        runs
    } else {
        Runs::default()
    };
    let proved = evidence::prove(ui, &selection, &sources, &compiled, &compiler, !args.no_prove)?;
    let verdicts: Vec<String> = proved.iter().map(|p| p.proof.verdict()).collect();
    let nothing = if verdicts.is_empty() { "unknown" } else { "proved" };
    let worst = ["refuted", "unknown"].into_iter().find(|v| verdicts.iter().any(|w| w == v));
    let shown = compiled.iter().filter(|c| proved.iter().any(|p| p.source == c.source));
    let index = Index {
        format: 1,
        verdict: worst.unwrap_or(nothing),
        tool: Tool::THIS,
        kems: selection.kems.clone(),
        prefix: selection.prefix.clone(),
        objects: shown.map(|c| File::of(&c.source.replace(".c", ".o"), &c.bytes)).collect(),
        code_bytes: evidence::code_bytes(&compiled)?,
        compiler,
        opt: args.opt.clone(),
        runs,
        multipliers: proved,
        command,
    };
    if !args.amalgamated && selection.place.is_none() {
        out.write("README.md", texts::readme(&selection, &index)).map_err(unwritable)?;
        let json = serde_json::to_string_pretty(&index);
        let json = json.map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))?;
        out.write("proofs.json", json + "\n").map_err(unwritable)?;
    }
    let kept = kept.finish(&out)?;
    let place = out.commit().map_err(unwritable)?;
    for file in &kept {
        let warning = format!("kept your modified {}; {}", file.name, file.why());
        if args.keep { ui.warn(warning) } else { ui.insist(warning) }
    }
    let kept: Vec<String> = kept.into_iter().map(|file| file.name).collect();
    // Where nothing is claimed, nothing has failed.
    let fails = index.verdict != "proved" && !index.multipliers.is_empty();
    let status = u8::from(fails || !kept.is_empty() && !args.keep);
    ui.json(&Outcome { index: &index, kept })?;
    say(ui, &index, &place);
    Ok(status)
}

/// Writes everything that is known before the tests run; returns the sources to compile.
fn write_sources(
    out: &OutputDir,
    args: &Package,
    selection: &Selection,
    sources: &Sources,
    command: &str,
) -> Result<Vec<String>, Failure> {
    let head = format!(
        "{} in one source, beside {}kem.h. Made by {VERSION} with\n *   {command}",
        selection.kems.join(", "),
        selection.prefix
    );
    let one = format!("{}kem.c", selection.prefix);
    out.write(&one, sources.amalgamated(&head)).map_err(unwritable)?;
    for (name, text) in &sources.headers {
        out.write(name, text).map_err(unwritable)?;
    }
    if args.amalgamated { Ok(vec![one]) } else { write_parts(out, selection, sources) }
}

/// Writes the multipliers' contracts; `source` says in which file a multiplier is.
fn write_contracts(
    out: &OutputDir,
    selection: &Selection,
    sources: &Sources,
    source: impl Fn(&str) -> String,
) -> Result<(), Failure> {
    for made in &sources.multipliers {
        for (symbol, text) in &made.functions {
            let (named, text) = evidence::contract(selection, symbol, text, &source(&made.name));
            out.write(&format!("contracts/{named}.toml"), text).map_err(unwritable)?;
        }
    }
    Ok(())
}

/// Writes all but the one source and its headers; returns the sources to compile.
fn write_parts(
    out: &OutputDir,
    selection: &Selection,
    sources: &Sources,
) -> Result<Vec<String>, Failure> {
    let mut compile = Vec::new();
    for (name, text) in &sources.files {
        let path = format!("src/{name}");
        out.write(&path, text).map_err(unwritable)?;
        compile.extend(name.ends_with(".c").then_some(path));
    }
    for (name, text) in &sources.tests {
        out.write(&format!("test/{name}"), text).map_err(unwritable)?;
    }
    write_contracts(out, selection, sources, |name| format!("src/{name}.c"))?;
    for kem in &selection.kems {
        for (name, text) in secrecy::ON_X86_64.contracts(kem) {
            out.write(&format!("contracts/{name}.toml"), selection.rename(&text))
                .map_err(unwritable)?;
        }
    }
    out.write("Makefile", texts::makefile(selection)).map_err(unwritable)?;
    Ok(compile)
}

fn selection(args: &Package) -> Result<Selection, Failure> {
    let known = kems();
    let mut chosen: Vec<String> = Vec::new();
    for name in args.kems.iter().flat_map(|names| names.split(',')) {
        if name != "all" && !known.iter().any(|kem| kem == name) {
            let names: Vec<&str> = known.iter().map(String::as_str).chain(["all"]).collect();
            return Err(Failure::input(ui::unknown("KEM", name, &names)));
        }
        chosen.extend(known.iter().filter(|kem| name == "all" || *kem == name).cloned());
    }
    if chosen.is_empty() {
        return Err(Failure::input(format!(
            "missing KEM; choose from {}, or `all`",
            known.join(", ")
        )));
    }
    // In the library's order, each once.
    let kems: Vec<String> = known.into_iter().filter(|kem| chosen.contains(kem)).collect();
    let targets: Vec<&str> = target::choose(&args.target)?.iter().map(|t| t.name).collect();
    let target = match targets[..] {
        ["avx2", "c"] => 0,
        ["c"] => 1,
        ["avx2"] => 2,
        _ => return Err(Failure::input("the KEMs have the targets avx2 and c, or `all` for both")),
    };
    let place = args.place.as_deref().map(|project| drop_in::find(project, &kems)).transpose()?;
    let target = if args.small { 1 } else { target };
    Ok(Selection { kems, prefix: prefix(&args.prefix)?, target, place, small: args.small })
}

/// A prefix of C symbols that collides with nothing in the library.
fn prefix(text: &str) -> Result<String, Failure> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let why = if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        "it must start with a letter"
    } else if !text.chars().all(word) {
        "it may contain only letters, digits and `_`"
    } else if text.len() > 40 {
        "it is longer than 40 letters"
    } else if text.to_uppercase().starts_with("RF_") {
        "the sources' own static names start with rf_"
    } else {
        return Ok(text.to_owned());
    };
    Err(Failure::input(format!("--prefix `{text}` cannot start C symbols: {why}")))
}

fn command_line(args: &Package, selection: &Selection) -> String {
    let mut words = vec!["ringforge package".to_owned()];
    words.extend(selection.kems.iter().cloned());
    let mut option = |name: &str, value: &str| words.push(format!("--{name}={value}"));
    // The small form has a target of its own.
    if !args.small {
        option("target", if args.target == "all" { "c,avx2" } else { &args.target });
    }
    match &args.place {
        Some(project) => option("as", project),
        None => option("prefix", &selection.prefix),
    }
    if args.small {
        words.push("--small".into());
    }
    let mut option = |name: &str, value: &str| words.push(format!("--{name}={value}"));
    if let Some(cc) = &args.cc {
        option("cc", cc);
    }
    if args.opt != "-O3" {
        option("opt", &format!("'{}'", args.opt));
    }
    if args.amalgamated {
        words.push("--amalgamated".into());
    }
    words.join(" ")
}

/// Makes the contracts of constant time again, for each build in a folder of its own. Only
/// `common.toml` is written by hand, for x86-64; other builds get it adapted.
fn contracts(ui: &Ui, place: &Path) -> Result<u8, Failure> {
    let common = place.join("common.toml");
    let by_hand = match std::fs::read_to_string(&common) {
        Ok(text) => Some(text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(Failure::input(format!("cannot read {}: {e}", common.display()))),
    };
    let mut made = 0;
    for build in &secrecy::BUILDS {
        let mut all: Vec<_> = build.kems().flat_map(|kem| build.contracts(&kem)).collect();
        let text = by_hand.as_ref().and_then(|text| build.by_hand(text));
        all.extend(text.map(|text| ("common".to_owned(), text)));
        for (name, text) in &all {
            let file = place.join(build.folder).join(format!("{name}.toml"));
            replace_file(&file, text).map_err(unwritable)?;
        }
        made += all.len();
    }
    ui.say(format!("{made} contracts are in {}", place.display()));
    Ok(0)
}

/// Makes lib/generated again, with a contract for each function: each file appears whole or stays
/// as it was.
fn multipliers(ui: &Ui, place: &Path) -> Result<u8, Failure> {
    let bar = ui.spinner("forging multipliers");
    let lines = Line::all(file("generated/multipliers.txt"));
    let made = make_all(&lines, &Line::targets(&lines))?;
    bar.finish_and_clear();
    let contracts = place.join("contracts");
    std::fs::create_dir_all(&contracts)
        .map_err(|e| Failure::input(format!("cannot make {}: {e}", contracts.display())))?;
    for one in &made {
        replace_file(&place.join(format!("{}.c", one.name)), &one.text).map_err(unwritable)?;
        for (symbol, text) in &one.functions {
            let text = evidence::of_library(symbol, text, &one.name);
            replace_file(&contracts.join(format!("{symbol}.toml")), text).map_err(unwritable)?;
        }
    }
    ui.say(format!("{} multipliers are in {}", made.len(), place.display()));
    Ok(0)
}

fn say(ui: &Ui, index: &Index, place: &Path) {
    for one in &index.multipliers {
        ui.say(format!(
            "{} is {}, in {:.1} s",
            one.symbol,
            one.proof.verdict(),
            one.proof.seconds()
        ));
        for line in crate::proof::explanation(&one.proof) {
            ui.say(format!("  {line}"));
        }
    }
    for (kem, count) in &index.runs.answers {
        ui.say(format!("{kem}: {count} known-answer tests passed"));
    }
    for kem in &index.kems {
        let stack = index.runs.stack.iter().filter(|s| s.kem == *kem);
        let list: Vec<String> = stack.map(|s| format!("{} {}", s.operation, s.bytes)).collect();
        if !list.is_empty() {
            ui.say(format!("{kem}: bytes of stack: {}", list.join(", ")));
        }
    }
    ui.say(format!("{} bytes of code by {} {}", index.code_bytes, index.compiler.name, index.opt));
    ui.say(format!("The package is in {}", place.display()));
}
