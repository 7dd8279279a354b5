//! `ringforge forge`: from a ring to a package with a proof.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ringforge_plan::Operand;
use ringforge_program::ir::Computes;
use ringforge_prove::{Contract, Options};
use ringforge_ring::Ring;
use ringforge_toolchain::timing::{self, Candidate, Code, Settings, Timing};
use ringforge_toolchain::{Compiler, Host, OutputDir, Scratch, Signature};

use crate::args::Forge;
use crate::choose::{self, Chooser};
use crate::coverage;
use crate::dispatch::Dispatcher;
use crate::entry::Entry;
use crate::make::{self, Made, unwritable};
use crate::modelled::Modelled;
use crate::package::{self, File, Forged, Package, PlanText, Tool};
use crate::peers;
use crate::picture;
use crate::placement;
use crate::preset::wanted;
use crate::proof::{self, Named, Proof};
use crate::recheck::packed;
use crate::report::{self, Pictures};
use crate::rival::Rival;
use crate::schoolbook::{self, Compared};
use crate::size;
use crate::summary;
use crate::target::{self, Target};
use crate::ui::{Failure, Ui};
use crate::untried;
use crate::verify::{self, Runs};
use crate::widen;

/// Runs the command.
///
/// # Errors
/// Bad input, or a step that failed; a proof that did not succeed is a result, not an error.
pub fn run(ui: &Ui, args: &Forge) -> Result<u8, Failure> {
    let started = Instant::now();
    let mut wanted = wanted(&args.subject)?;
    let name = match &args.name {
        Some(name) => c_identifier(name)?,
        None => wanted.name.clone(),
    };
    let targets = target::choose(&args.make.target)?;
    if args.make.schedule.is_some() && targets.len() > 1 {
        return Err(Failure::input(
            "a schedule applies to one target: add --target avx2 or --target c",
        ));
    }
    let path = args.make.schedule.as_deref();
    if let (Some(_), [target]) = (path, targets.as_slice()) {
        let schedule = make::schedule(path, target, "")?;
        if args.subject.plan.is_none()
            && let Some(plan) = placement::plan(&schedule, &wanted.ring)?
        {
            wanted.plan = Some(plan);
        }
    }
    let compiler =
        target::compiler(&targets, args.make.cc.as_deref(), args.make.runner.as_deref())?;
    let host = Host::detect();
    let place = args.out.clone().unwrap_or_else(|| Path::new("out").join(&name));
    let ours = package::files(&place);
    let out = OutputDir::create(&place, |file| ours.iter().any(|known| known == file))
        .map_err(unwritable)?;

    let command = command_line(args, &name);
    let ring = &wanted.ring;
    if args.size.is_some() && targets.len() > 1 {
        return Err(Failure::input("--size applies to one target: add, for example, --target m4"));
    }
    let mut opt = args.make.opt.as_str();
    // A schedule of the user's own is no matter of wisdom.
    let search = wanted.plan.is_none() && path.is_none();
    let wisdom = if search { choose::wisdom(ui) } else { None };
    let chooser = Chooser { ui, args, wanted: &wanted, compiler: &compiler, host: &host, wisdom };
    let mut choices = Vec::new();
    let mut made = Vec::new();
    let mut interpreted = Vec::new();
    for target in targets.iter().copied() {
        let fitting = args.size.map(|size| size::choose(&chooser, target, size)).transpose()?;
        let fitting = fitting.map(|(plan, level)| {
            opt = level;
            plan
        });
        let (plan, schedule) = match fitting.as_ref().or(wanted.plan.as_ref()) {
            Some(plan) => (plan.clone(), make::schedule(path, target, &plan.name)?),
            None => {
                let choice = chooser.choose(target)?;
                let both = (choice.plan.clone(), choice.schedule.clone());
                choices.push(choice);
                both
            }
        };
        let schedule = make::batched(&schedule, args.batch)?;
        let bar = ui.spinner(&format!("{}: plan to program", target.name));
        let mut one = make::make(&wanted.with(plan), target, &schedule, &name)?;
        one.compiled_by(&compiler);
        bar.set_message(format!("{}: program against the oracle", target.name));
        interpreted.push(make::self_check(&one, ring)?);
        bar.finish_and_clear();
        made.push(one);
    }
    let dispatcher = Dispatcher { name: &name, ring, made: &made, command: &command };
    let scratch =
        Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
    let bar = ui.spinner("compiling");
    let built = build(&out, scratch.path(), &dispatcher, &compiler, opt)?;
    bar.finish_and_clear();

    let object_name = format!("{name}.o");
    let object = std::fs::read(&built.object)
        .map_err(|e| Failure::failed(format!("the linked object is gone: {e}")))?;
    let loaded_bytes = size::loaded(&object)?;
    if let Some(size) = args.size.filter(|size| loaded_bytes > size.0) {
        return Err(Failure::input(format!(
            "with its entry points the object has {loaded_bytes} bytes of code and constants, and {size} were \
             asked for"
        )));
    }
    out.write(&object_name, &object).map_err(unwritable)?;
    let mut proofs: HashMap<String, Proof> = HashMap::new();
    if !args.no_prove {
        let bar = ui.spinner("widening input ranges");
        for one in &mut made {
            let layout = one.program.transform.as_ref();
            for entry in &mut one.entries {
                let patience = Duration::from_secs(args.patience.into());
                widen::by_proof(entry, &name, ring, layout, &object, patience);
            }
            for at in 0..one.entries.len() {
                let prove = |entry: &Entry| {
                    let terms = entry.contract(&name, ring, layout);
                    let contract = proof::contract(&entry.contract_file(&name), &terms, None)?;
                    let named = Named { name: &object_name, bytes: &object };
                    Ok(proof::prove(ui, &[named], &contract, Options::default())?.swap_remove(0))
                };
                if let Some(proof) = widen::output_by_proof(&mut one.entries, at, prove)? {
                    proofs.insert(one.entries[at].signature.symbol.clone(), proof);
                }
            }
        }
        let dispatcher = Dispatcher { name: &name, ring, made: &made, command: &command };
        out.write(&format!("{name}.h"), dispatcher.header()).map_err(unwritable)?;
        bar.finish_and_clear();
    }
    let check = Check { ui, args, opt, compiler: &compiler, host: &host, object: &built.object };
    let mut forged = Vec::new();
    let mut written: HashMap<String, String> = HashMap::new();
    let mut plans = PlanText::all(&made);
    let mut pictures = Vec::new();
    for ((one, interpreted), compile_command) in made.iter().zip(interpreted).zip(built.commands) {
        for (entry, interpreted) in one.entries.iter().zip(interpreted) {
            let symbol = entry.signature.symbol.clone();
            let mut file = entry.contract_file(&name);
            let terms = entry.contract(&name, ring, one.program.transform.as_ref());
            // Whole products have one contract, written for the first target; unless the targets' plans
            // are for other operands.
            match written.get(&file) {
                Some(ranges) if *ranges == entry.promises() => {}
                other => {
                    if other.is_some() {
                        file = format!("{symbol}.contract.toml");
                    }
                    out.write(&file, &terms).map_err(unwritable)?;
                    written.insert(file.clone(), entry.promises());
                }
            }
            let contract = proof::contract(&file, &terms, None)?;
            let executed = check.executed(one.target, &contract)?;
            let named = Named { name: &object_name, bytes: &object };
            let proof = if args.no_prove {
                proof::not_tried(named, &contract)
            } else if let Some(proof) = proofs.remove(&symbol) {
                proof
            } else {
                let mut proof =
                    proof::prove(ui, &[named], &contract, Options::default())?.swap_remove(0);
                proof::confirm(&mut proof, &compiler, &built.object, &contract);
                proof
            };
            let certificate = proof.certificate.as_deref();
            pictures.push(Pictures {
                ranges: picture::ranges(one, entry),
                counts: picture::counts(one, entry),
                coverage: certificate.and_then(|text| coverage::of(&object, &contract, text)),
            });
            let certificate = proof.certificate.as_deref().map(|text| {
                let file = format!("{symbol}.certificate.gz");
                let bytes = packed(text)
                    .map_err(|e| Failure::failed(format!("cannot compress `{file}`: {e}")))?;
                out.write(&file, bytes).map_err(unwritable)?;
                Ok::<String, Failure>(file)
            });
            forged.push(Forged {
                certificate: certificate.transpose()?,
                target: one.target.name.into(),
                computes: entry.formula(ring),
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
                modelled: check.modelled(&entry.signature)?,
            });
        }
    }
    let timed = match args.no_bench {
        true => Timed::default(),
        false => check.time((ring, wanted.operands), &made, &mut forged, scratch.path())?,
    };
    let mut untried = Vec::new();
    for one in made.iter().filter(|_| wanted.plan.is_some() && path.is_none() && !args.no_prove) {
        let of_this = forged.iter().filter(|f| f.target == one.target.name);
        if of_this.map(|f| f.proof.verdict()).any(|verdict| verdict == "unknown") {
            untried.extend(untried::hint(one.target, &one.plan)?);
        }
    }
    let package = Package {
        format: 1,
        verdict: summary::verdict(&forged),
        name: name.clone(),
        ring: ring.to_string(),
        operands: wanted.operands,
        plan: plans.remove(0),
        other_plans: plans,
        choices,
        tool: Tool::THIS,
        host,
        loaded_bytes,
        object: File::of(&object_name, &object),
        equivalence: summary::equivalence(&made, &forged),
        limits: summary::limits(&targets, &name),
        targets: forged,
        peers: timed.others,
        schoolbook: timed.schoolbook,
        command,
        seconds: started.elapsed().as_secs_f64(),
    };
    write_reports(&out, &pictures, &package)?;
    let place = out.commit().map_err(unwritable)?;
    ui.json(&package)?;
    summary::print(ui, &package, &place);
    package.schoolbook.iter().filter_map(Compared::warning).for_each(|word| ui.warn(word));
    timed.hint.iter().chain(&untried).for_each(|hint| ui.say(hint));
    Ok(if package.verdict == "proved" { 0 } else { 1 })
}

/// The compiler of this machine's own programs that is asked for, or one that is found.
///
/// # Errors
/// It is not here.
pub fn compiler(name: Option<&str>) -> Result<Compiler, Failure> {
    target::compiler_for(None, name, None)
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
        "--name `{name}` cannot prefix C symbols: letters, digits and `_`, starting with a letter, and not a keyword"
    )))
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
    for (key, operand) in [("lhs", args.subject.lhs), ("rhs", args.subject.rhs)] {
        if let Some(operand) = operand {
            option(key, &operand.to_string());
        }
    }
    if args.make.target != "all" {
        option("target", &args.make.target);
    }
    if let Some(cc) = &args.make.cc {
        option("cc", cc);
    }
    if let Some(size) = args.size {
        option("size", &size.to_string());
    }
    if args.make.opt != "-O3" {
        option("opt", &args.make.opt);
    }
    if let Some(runner) = &args.make.runner {
        option("runner", runner);
    }
    if let Some(path) = &args.make.schedule {
        option("schedule", &path.display().to_string());
    }
    if let Some(batch) = args.batch {
        option("batch", &batch.to_string());
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
    dispatcher: &Dispatcher,
    compiler: &Compiler,
    opt: &str,
) -> Result<Built, Failure> {
    let flags = make::flags(opt);
    let mut objects = Vec::new();
    let mut commands = Vec::new();
    for one in dispatcher.made {
        let text = make::source(one, dispatcher.command)?;
        let file = format!("{}_{}", dispatcher.name, one.target.name);
        let (object, command) = make::compile(out, scratch, &file, &text, compiler, &flags)?;
        objects.push(object);
        commands.push(command);
    }
    out.write(&format!("{}.h", dispatcher.name), dispatcher.header()).map_err(unwritable)?;
    let (object, _) =
        make::compile(out, scratch, dispatcher.name, &dispatcher.dispatch(), compiler, &flags)?;
    objects.push(object);
    let whole = scratch.join("whole.o");
    let mut args: Vec<std::ffi::OsString> =
        vec!["-r".into(), "-nostdlib".into(), "-o".into(), whole.clone().into()];
    args.extend(objects.into_iter().map(Into::into));
    compiler.link(&args).map_err(|e| Failure::failed(e.to_string()))?;
    Ok(Built { object: whole, commands })
}

/// What was timed with the package's own code.
#[derive(Default)]
struct Timed {
    others: Vec<Timing>,
    /// How each target's product compares with the plain one.
    schoolbook: Vec<Compared>,
    /// That another compiler does better, if it does.
    hint: Option<String>,
}

/// Everything that runs the object here.
struct Check<'a> {
    ui: &'a Ui,
    args: &'a Forge,
    /// The level of optimisation that the object was made at.
    opt: &'a str,
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
        if self.compiler.runner.is_native() && !target.runs_on(self.host) {
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

    /// The instructions of a call, if they are counted, and the cycles by a model of a core.
    fn modelled(&self, signature: &Signature) -> Result<Option<Modelled>, Failure> {
        if self.args.no_bench {
            return Ok(None);
        }
        Modelled::of(self.compiler, &[self.object], signature)
    }

    /// Times all implementations that run here side by side, with plain schoolbook C for each
    /// target, and peers if asked for. Unless the user chose a compiler, it also times the first
    /// product as the other compiler here makes it.
    fn time(
        &self,
        (ring, operands): (&Ring, [Operand; 2]),
        made: &[Made],
        forged: &mut [Forged],
        scratch: &Path,
    ) -> Result<Timed, Failure> {
        let entries = made.iter().flat_map(|m| &m.entries);
        let signatures: HashMap<&str, &Signature> =
            entries.map(|e| (e.signature.symbol.as_str(), &e.signature)).collect();
        if self.compiler.runner.is_emulator() {
            return Ok(Timed::default());
        }
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
        // The whole product is a target's last entry point.
        let mut plain: Vec<(&Target, &str)> = Vec::new();
        for one in made {
            let Some(product) = one.entries.last().filter(|e| e.computes == Computes::Product)
            else {
                continue;
            };
            let symbol = product.signature.symbol.as_str();
            if candidates.iter().any(|candidate| candidate.name == symbol) {
                let wanted = (one.target, &product.signature);
                let by = (self.compiler, self.opt);
                let mut beside =
                    vec![schoolbook::candidate((ring, operands), wanted, by, scratch)?];
                beside.extend(schoolbook::by_plan((one, operands), by, scratch)?);
                plain.extend(beside.iter().map(|_| (one.target, symbol)));
                candidates.extend(beside);
            }
        }
        let mut rival = None;
        let free = self.args.make.cc.is_none() && self.compiler.runner.is_native();
        if let Some(&(target, symbol)) = plain.first().filter(|_| free) {
            rival = Rival::of(self.compiler, symbol);
            let one = made.iter().find(|one| one.target.name == target.name);
            let tried = match (&rival, one) {
                (Some(rival), Some(one)) => {
                    let source = make::source(one, "a trial of another compiler")?;
                    let product = signatures[symbol];
                    rival.candidate((target, product), (&source, self.opt), scratch)?
                }
                _ => None,
            };
            rival = rival.filter(|_| tried.is_some());
            candidates.extend(tried);
        }
        if self.args.peers {
            let bench = &self.args.bench_dir;
            let built = peers::built(self.ui, ring, bench, self.compiler)?;
            candidates.extend(built.into_iter().map(|peer| peer.candidate));
        }
        if candidates.is_empty() {
            return Ok(Timed::default());
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
        let others: Vec<Timing> = timings.collect();
        let of = |symbol: &str| timed.iter().find(|f| f.symbol == symbol)?.timing.as_ref();
        let compared = plain.iter().zip(&others).filter_map(|(&(target, symbol), plain)| {
            Some(Compared::of(target, plain, of(symbol)?))
        });
        let hint = rival.and_then(|rival| rival.hint(others.get(plain.len())?, of(&rival.symbol)?));
        let compared = Compared::fastest(compared);
        Ok(Timed { schoolbook: compared, hint, others })
    }
}

fn write_reports(out: &OutputDir, pictures: &[Pictures], package: &Package) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(package)
        .map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))?;
    out.write(package::INDEX, json + "\n").map_err(unwritable)?;
    out.write(package::REPORT, report::render(package, pictures)).map_err(unwritable)
}
