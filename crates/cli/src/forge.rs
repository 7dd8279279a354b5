//! `ringforge forge`: from a ring to a package with a proof.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ringforge_program::ir::Computes;
use ringforge_prove::Contract;

use ringforge_toolchain::timing::{self, Candidate, Code, Settings, Timing};
use ringforge_toolchain::{Compiler, Host, OutputDir, Scratch, Signature};

use crate::args::Forge;
use crate::bench;
use crate::entry;
use crate::glue::Glue;
use crate::make::{self, Made, unwritable};
use crate::package::{File, Forged, Package, PlanText, Tool};
use crate::picture;
use crate::preset::{Job, resolve};
use crate::proof::{self, Named};
use crate::report::{self, Pictures};
use crate::target::{self, Target};
use crate::ui::{Failure, Ui};
use crate::verify::{self, Runs};
use crate::widen;

/// Runs the command.
///
/// # Errors
/// Bad input, or a step that failed; a proof that did not succeed is a result, not an error.
pub fn run(ui: &Ui, args: &Forge) -> Result<u8, Failure> {
    let started = Instant::now();
    let job = resolve(&args.subject)?;
    let name = match &args.name {
        Some(name) => c_identifier(name)?,
        None => job.name.clone(),
    };
    let targets = target::choose(&args.make.target)?;
    if args.make.schedule.is_some() && targets.len() > 1 {
        return Err(Failure::input(
            "a schedule is for one target: add --target avx2 or --target c",
        ));
    }
    let schedules = targets
        .iter()
        .map(|t| make::schedule(args.make.schedule.as_deref(), t, &job.plan.name))
        .collect::<Result<Vec<_>, _>>()?;
    let compiler = compiler(args.make.cc.as_deref())?;
    let place = args.out.clone().unwrap_or_else(|| Path::new("out").join(&name));
    let out = OutputDir::create(&place, |file| is_ours(file, &name)).map_err(unwritable)?;

    let command = command_line(args, &name);
    let ring = &job.plan.ring;
    let mut made = Vec::new();
    let mut interpreted = Vec::new();
    for (target, schedule) in targets.iter().copied().zip(&schedules) {
        let bar = ui.spinner(&format!("{}: plan to program", target.name));
        let one = make::make(&job, target, schedule, &name)?;
        bar.set_message(format!("{}: program against the oracle", target.name));
        interpreted.push(make::self_check(&one, ring)?);
        bar.finish_and_clear();
        made.push(one);
    }
    let glue = Glue { name: &name, ring, made: &made, command: &command };
    let scratch =
        Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
    let bar = ui.spinner("compiling");
    let built = build(&out, scratch.path(), &glue, &compiler, &args.make.opt)?;
    bar.finish_and_clear();

    let object_name = format!("{name}.o");
    let object = std::fs::read(&built.object)
        .map_err(|e| Failure::failed(format!("the linked object is gone: {e}")))?;
    out.write(&object_name, &object).map_err(unwritable)?;
    if !args.no_prove {
        let bar = ui.spinner("widening input ranges");
        for one in &mut made {
            let layout = one.program.transform.as_ref();
            for entry in &mut one.entries {
                widen::by_proof(entry, &name, ring, layout, &object);
            }
        }
        let glue = Glue { name: &name, ring, made: &made, command: &command };
        out.write(&format!("{name}.h"), glue.header()).map_err(unwritable)?;
        bar.finish_and_clear();
    }
    let host = Host::detect();
    let check = Check { ui, args, compiler: &compiler, host: &host, object: &built.object };
    let mut notes = Vec::new();
    let mut forged = Vec::new();
    let mut written = HashSet::new();
    let mut pictures =
        Pictures { tree: picture::tree(&job.plan), ranges: Vec::new(), counts: Vec::new() };
    for ((one, interpreted), compile_command) in made.iter().zip(interpreted).zip(built.commands) {
        notes.extend(one.notes.iter().map(|note| format!("{}: {note}", one.target.name)));
        for (entry, interpreted) in one.entries.iter().zip(interpreted) {
            let symbol = entry.signature.symbol.clone();
            let file = entry.contract_file(&name);
            let terms = entry.contract(&name, ring, one.program.transform.as_ref());
            // Whole products have one contract, written for the first target.
            if written.insert(file.clone()) {
                out.write(&file, &terms).map_err(unwritable)?;
            }
            let contract = proof::contract(&file, &terms, None)?;
            let executed = check.executed(one.target, &contract)?;
            let named = Named { name: &object_name, bytes: &object };
            let proof = if args.no_prove {
                proof::not_tried(named, &contract)
            } else {
                let mut proof = proof::prove(ui, &[named], &contract)?.swap_remove(0);
                proof::confirm(&mut proof, &compiler, &built.object, &contract);
                proof
            };
            pictures.ranges.push(picture::ranges(one, entry));
            pictures.counts.push(picture::counts(one, entry));
            forged.push(Forged {
                target: one.target.name.into(),
                computes: entry::formula(entry.computes, ring),
                source: format!("{name}_{}.c", one.target.name),
                symbol,
                contract: file,
                schedule: one.schedule.clone(),
                compiler: compiler.clone(),
                compile_command: compile_command.clone(),
                ranges: entry.ranges.clone(),
                counts: entry.costs.clone(),
                interpreted,
                executed,
                proof,
                timing: None,
            });
        }
    }
    let peers = if args.no_bench { Vec::new() } else { check.time(&job, &made, &mut forged)? };
    let package = Package {
        format: 1,
        verdict: verdict(&forged),
        name: name.clone(),
        ring: ring.to_string(),
        plan: PlanText {
            name: job.plan.name.clone(),
            cite: job.plan.cite.clone(),
            text: job.plan.to_string(),
            notes,
        },
        tool: Tool::THIS,
        host,
        object: File::of(&object_name, &object),
        equivalence: equivalence(&made, &forged),
        limits: limits(&targets, &name),
        targets: forged,
        peers,
        command,
        seconds: started.elapsed().as_secs_f64(),
    };
    write_reports(&out, &pictures, &package)?;
    let place = out.commit().map_err(unwritable)?;
    ui.json(&package)?;
    summary(ui, &package, &place);
    Ok(if package.verdict == "proved" { 0 } else { 1 })
}

/// The compiler that is asked for, or the machine's.
///
/// # Errors
/// It is not here.
pub fn compiler(name: Option<&str>) -> Result<Compiler, Failure> {
    let found = name.map_or_else(Compiler::any, Compiler::find);
    found.map_err(|e| Failure::input(e.to_string()))
}

fn c_identifier(name: &str) -> Result<String, Failure> {
    const WORDS: &[&str] = &[
        "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
        "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
        "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
        "union", "unsigned", "void", "volatile", "while",
    ];
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if letters && starts && !WORDS.contains(&name) && name.len() <= 60 {
        return Ok(name.to_owned());
    }
    Err(Failure::input(format!(
        "--name `{name}` cannot prefix C symbols: letters, digits and `_`, starting with a letter, no keyword"
    )))
}

/// Whether a file in the way may be replaced.
fn is_ours(file: &str, name: &str) -> bool {
    let fixed = ["proof.json", "report.html"].contains(&file);
    let own = file.strip_prefix(name).is_some_and(|rest| {
        let rest = rest.strip_prefix('_').map_or(rest, |r| r.find('.').map_or(r, |i| &r[i..]));
        [".c", ".h", ".o", ".contract.toml"].contains(&rest)
    });
    fixed || own
}

/// The command that makes the package again; defaults are left out.
fn command_line(args: &Forge, name: &str) -> String {
    let quote = |word: &str| {
        if word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=".contains(c)) {
            word.to_owned()
        } else {
            format!("'{word}'")
        }
    };
    let mut words = vec!["ringforge".into(), "forge".into(), quote(&args.subject.ring)];
    let mut option = |key: &str, value: &str| words.push(format!("--{key}={}", quote(value)));
    if let Some(plan) = &args.subject.plan {
        option("plan", plan);
    }
    if args.make.target != "all" {
        option("target", &args.make.target);
    }
    if let Some(cc) = &args.make.cc {
        option("cc", cc);
    }
    if args.make.opt != "-O3" {
        option("opt", &args.make.opt);
    }
    if let Some(path) = &args.make.schedule {
        option("schedule", &path.display().to_string());
    }
    if args.name.is_some() {
        option("name", name);
    }
    words.join(" ")
}

/// What compiling gives.
pub struct Built {
    /// All implementations and the choice between them, in one object.
    pub object: PathBuf,
    /// The compiler's command line for each target.
    pub commands: Vec<String>,
}

fn build(
    out: &OutputDir,
    scratch: &Path,
    glue: &Glue,
    compiler: &Compiler,
    opt: &str,
) -> Result<Built, Failure> {
    let mut flags: Vec<String> = opt.split_whitespace().map(str::to_owned).collect();
    flags.push("-std=c99".into());
    let mut objects = Vec::new();
    let mut commands = Vec::new();
    for one in glue.made {
        let text = make::source(one, glue.command)?;
        let file = format!("{}_{}", glue.name, one.target.name);
        let (object, command) = make::compile(out, scratch, &file, &text, compiler, &flags)?;
        objects.push(object);
        commands.push(command);
    }
    out.write(&format!("{}.h", glue.name), glue.header()).map_err(unwritable)?;
    let (object, _) = make::compile(out, scratch, glue.name, &glue.dispatch(), compiler, &flags)?;
    objects.push(object);
    let whole = scratch.join("whole.o");
    let mut args: Vec<std::ffi::OsString> =
        vec!["-r".into(), "-nostdlib".into(), "-o".into(), whole.clone().into()];
    args.extend(objects.into_iter().map(Into::into));
    compiler.run(&args).map_err(|e| Failure::failed(e.to_string()))?;
    Ok(Built { object: whole, commands })
}

/// Everything that runs the object here.
struct Check<'a> {
    ui: &'a Ui,
    args: &'a Forge,
    compiler: &'a Compiler,
    host: &'a Host,
    object: &'a Path,
}

impl Check<'_> {
    /// Runs an implementation, if this processor can, on worst cases and random inputs.
    fn executed(
        &self,
        target: &Target,
        contract: &Contract,
    ) -> Result<Option<verify::Checked>, Failure> {
        if !target.runs_on(self.host) {
            return Ok(None);
        }
        let symbol = &contract.symbol;
        let failed = |e| Failure::failed(format!("{symbol}: {e}"));
        let mut runs = Runs::build(self.compiler, self.object, contract).map_err(failed)?;
        let total = runs.oracle().worst_inputs().len() + self.args.pairs;
        let bar = self.ui.bar(&format!("{symbol} against the oracle"), total as u64);
        runs.all(self.args.pairs, &|n| bar.inc(n as u64)).map_err(failed)?;
        bar.finish_and_clear();
        Ok(Some(runs.done().clone()))
    }

    /// Times all implementations that run here side by side, and peers if asked for, whose
    /// timings are returned.
    fn time(
        &self,
        job: &Job,
        made: &[Made],
        forged: &mut [Forged],
    ) -> Result<Vec<Timing>, Failure> {
        let entries = made.iter().flat_map(|m| &m.entries);
        let signatures: HashMap<&str, &Signature> =
            entries.map(|e| (e.signature.symbol.as_str(), &e.signature)).collect();
        let runs = |f: &&mut Forged| f.executed.is_some();
        let mut timed: Vec<&mut Forged> = forged.iter_mut().filter(runs).collect();
        let mut candidates: Vec<Candidate> = timed
            .iter()
            .filter_map(|f| {
                let signature = (*signatures.get(f.symbol.as_str())?).clone();
                let code = Code::Objects(vec![self.object.to_owned()], signature);
                Some(Candidate { name: f.symbol.clone(), code })
            })
            .collect();
        if self.args.peers {
            let bench = &self.args.bench_dir;
            candidates.extend(bench::peer_candidates(self.ui, job, bench, self.compiler)?);
        }
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let settings = Settings::default();
        let bar = self.ui.bar("timing", (settings.copies * settings.samples) as u64);
        let timings = timing::measure(self.compiler, &candidates, &settings, &mut |done, _| {
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        let timings = timings.map_err(|e| Failure::failed(e.to_string()))?;
        let mut timings = timings.into_iter();
        for (forged, timing) in timed.iter_mut().zip(&mut timings) {
            forged.timing = Some(timing);
        }
        Ok(timings.collect())
    }
}

fn verdict(forged: &[Forged]) -> String {
    let worst = ["refuted", "unknown"];
    let found = worst.iter().find(|v| forged.iter().any(|f| f.proof.verdict() == **v));
    found.copied().unwrap_or("proved").to_owned()
}

/// Entry points with one contract whose output is unique.
fn equivalence(made: &[Made], forged: &[Forged]) -> Option<String> {
    let same = |f: &&Forged| {
        made.iter().flat_map(|m| &m.entries).any(|e| {
            let output = &e.signature.arguments[0];
            e.signature.symbol == f.symbol
                && e.computes == Computes::Product
                && output.range.1 - output.range.0 < e.program.q as i64
        })
    };
    let proved: Vec<&str> = forged
        .iter()
        .filter(|f| f.proof.verdict() == "proved")
        .filter(same)
        .map(|f| f.symbol.as_str())
        .collect();
    (proved.len() > 1).then(|| {
        format!(
            "{} fulfil one contract whose output is unique, so they give equal outputs on all inputs",
            proved.join(" and ")
        )
    })
}

fn limits(targets: &[&Target], name: &str) -> Vec<String> {
    let mut limits = vec![
        "The proof trusts the decoder, the model of the instructions and the prover itself; SOUNDNESS.md lists what.".to_owned(),
        "It holds for inputs in the ranges that the contract states, and for the bytes with the hash above.".to_owned(),
        "Constant time means: no branch, address or variable-time instruction depends on a coefficient.".to_owned(),
    ];
    if targets.len() > 1 {
        limits.push(format!(
            "What only chooses an implementation by processor feature ({name}.c) is not itself proved."
        ));
    }
    limits.push("Cycles are measured, not proved.".to_owned());
    limits
}

fn write_reports(out: &OutputDir, pictures: &Pictures, package: &Package) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(package)
        .map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))?;
    out.write("proof.json", json + "\n").map_err(unwritable)?;
    out.write("report.html", report::render(package, pictures)).map_err(unwritable)
}

fn summary(ui: &Ui, package: &Package, place: &Path) {
    use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    table.set_header(["function", "verdict", "proof", "executed", "core cycles (min / median)"]);
    for forged in &package.targets {
        table.add_row([
            forged.symbol.clone(),
            forged.proof.verdict(),
            format!("{:.1} s", forged.proof.seconds()),
            forged.executed.as_ref().map_or("not here".into(), |e| format!("{} calls", e.products)),
            forged.timing.as_ref().map_or("not measured".into(), |t| {
                format!("{:.0} / {:.0}{}", t.min, t.median, if t.noisy { " (noisy)" } else { "" })
            }),
        ]);
    }
    ui.say(format!("{}  {}", package.name, package.ring));
    for peer in &package.peers {
        let cycles = format!("{:.0} / {:.0}", peer.min, peer.median);
        table.add_row([peer.name.as_str(), "", "", "", &cycles]);
    }
    ui.say(table.to_string());
    for forged in &package.targets {
        for line in proof::explanation(&forged.proof) {
            ui.say(format!("{}: {line}", forged.symbol));
        }
    }
    if let Some(text) = &package.equivalence {
        ui.say(text);
    }
    let place = std::env::current_dir()
        .ok()
        .and_then(|here| place.strip_prefix(here).ok().map(Path::to_owned))
        .unwrap_or_else(|| place.to_owned());
    ui.say(format!(
        "{}: {} in {:.1} s; {}, report in {}",
        package.verdict,
        package.object.name,
        package.seconds,
        package.targets.first().map_or("", |t| t.compiler.version.as_str()),
        place.join("report.html").display()
    ));
}
