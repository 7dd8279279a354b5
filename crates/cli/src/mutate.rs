//! `ringforge mutate`: does the prover refuse every wrong multiplier?

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ringforge_emit::Preamble;
use ringforge_mutate::{
    Choice, Outcome, Product, Prover, Settings, Subject, Summary, Trial, run as campaign,
};
use ringforge_program::ir::Program;
use ringforge_prove::Options;
use ringforge_toolchain::{Compiler, Scratch};

use crate::args::Mutate;
use crate::make;
use crate::placement;
use crate::preset::resolve;
use crate::proof;
use crate::signals;
use crate::target;
use crate::ui::{Failure, Ui};

/// Runs the command.
///
/// # Errors
/// Bad input, or an original that is not right itself.
pub fn run(ui: &Ui, args: &Mutate) -> Result<u8, Failure> {
    let target = target::find(&args.target)?;
    let mut job = resolve(&args.subject, target)?;
    let schedule = make::schedule(args.schedule.as_deref(), target, &job.plan.name)?;
    if args.subject.plan.is_none()
        && let Some(plan) = placement::plan(&schedule, &job.plan.ring)?
    {
        job.plan = plan;
    }
    let compiler = target::compiler(&[target], args.cc.as_deref(), args.runner.as_deref())?;
    let classes = args.class.clone();
    let ring = &job.plan.ring;
    let bar = ui.spinner(&format!("forging {} for {}", job.name, target.name));
    let made = make::make(&job, target, &schedule, &job.name)?;
    let entry = made.entry(None)?;
    let symbol = entry.signature.symbol.clone();
    // This entry point alone: a change of what it does not call would prove nothing.
    let source = target.emit(&entry.program, &Preamble::default())?;
    let mut flags: Vec<String> = args.opt.split_whitespace().map(str::to_owned).collect();
    flags.push("-std=c99".into());
    let object = compile(&compiler, &flags, &source)?;
    bar.finish_and_clear();

    let emit = |program: &Program| target.emit(program, &Preamble::default()).ok();
    let [output, a, b] = entry.signature.arguments.as_slice() else {
        return Err(Failure::failed(format!("`{symbol}` is no product")));
    };
    let subject = Subject {
        product: Product {
            symbol: symbol.clone(),
            ring: ring.clone(),
            element: a.element,
            inputs: [a.range, b.range],
            output: output.range,
        },
        object,
        source: Some(source),
        program: Some((&entry.program, &emit)),
        compiler: &compiler,
        flags,
    };
    let terms = entry.contract(&job.name, ring, None);
    let judge = Prover {
        contract: proof::contract("contract", &terms, None)?,
        options: Options::default(),
        still: Arc::new(|| true),
    };
    let all = ringforge_mutate::all_mutants(&subject).map_err(Failure::failed)?;
    let chosen = Choice {
        count: args.sample,
        seed: args.seed,
        classes: all
            .made
            .iter()
            .map(|m| m.class)
            .filter(|class| classes.contains(&class.to_string().replace(' ', "-")))
            .collect(),
        only: args.only.clone(),
    };
    if !classes.is_empty() && chosen.classes.is_empty() {
        let mut names: Vec<String> =
            all.made.iter().map(|m| m.class.to_string().replace(' ', "-")).collect();
        names.sort();
        names.dedup();
        return Err(Failure::input(format!("no such class; there are {}", names.join(", "))));
    }
    let wanted = ringforge_mutate::choose(&all, &chosen).len();
    if wanted == 0 {
        return Err(Failure::input("no mutant has such a description"));
    }
    let bar = ui.bar("mutants", wanted as u64);
    let limit = Duration::from_secs(args.time_limit.into());
    let settings = Settings { seed: args.seed, limit, ..Settings::default() };
    let told = Told { symbol, compiler: compiler.clone(), exist: all.made.len(), wanted };
    let tried: Arc<Mutex<Vec<(Instant, Trial)>>> = Arc::default();
    {
        let (ui, told, tried, bar) = (*ui, told.clone(), tried.clone(), bar.clone());
        signals::before_the_end(Box::new(move || {
            bar.finish_and_clear();
            // What could not be made is counted in a whole run alone.
            let summary = Summary::new(before_the_signal(&tried), &BTreeMap::new());
            if let Err(failure) = told.tell(&ui, &summary) {
                ui.fail(&failure);
            }
        }));
    }
    let summary = campaign(&subject, &judge, &chosen, settings, &|done, _, trial| {
        bar.set_position(done as u64);
        // What must never happen is said at once, not after an hour.
        if matches!(trial.outcome, Outcome::Unsound { .. } | Outcome::Crashed { .. }) {
            std::thread::sleep(ABREAST);
            if signals::came().is_none() {
                bar.println(format!("{}: {}: {:?}", trial.class, trial.what, trial.outcome));
            }
        }
        if let Ok(mut tried) = tried.lock()
            && signals::came().is_none()
        {
            tried.push((Instant::now(), trial.clone()));
        }
    });
    signals::no_last_words();
    signals::give_way();
    bar.finish_and_clear();
    let summary = summary.map_err(Failure::failed)?;
    told.tell(ui, &summary)?;
    Ok(if summary.passed() { 0 } else { 1 })
}

/// Ctrl-C ends compilers and emulators directly, perhaps before this process hears of it. A trial
/// that ended so shortly before the signal may have been cut short, and does not count.
const ABREAST: Duration = Duration::from_millis(300);

/// The trials that were over when the signal came.
fn before_the_signal(tried: &Mutex<Vec<(Instant, Trial)>>) -> Vec<Trial> {
    let last = signals::came().and_then(|at| at.checked_sub(ABREAST));
    let (Some(last), Ok(tried)) = (last, tried.lock()) else { return Vec::new() };
    tried.iter().filter(|(at, _)| *at < last).map(|(_, trial)| trial.clone()).collect()
}

/// What a report says besides the summary.
#[derive(Clone)]
struct Told {
    symbol: String,
    compiler: Compiler,
    exist: usize,
    wanted: usize,
}

impl Told {
    fn tell(&self, ui: &Ui, summary: &Summary) -> Result<(), Failure> {
        let tried = summary.total.tried;
        let interrupted = tried < self.wanted;
        ui.json(&serde_json::json!({
            "symbol": self.symbol,
            "compiler": self.compiler,
            "mutants_that_exist": self.exist,
            "mutants_chosen": self.wanted,
            "interrupted": interrupted,
            "passed": summary.passed() && !interrupted,
            "summary": summary,
        }))?;
        let of = match interrupted {
            true => format!("{tried} of {} tried, then interrupted", self.wanted),
            false => format!("{tried} tried"),
        };
        ui.say(format!(
            "{}, {}: {} mutants exist, {of}\n",
            self.symbol, self.compiler.version, self.exist
        ));
        ui.say(summary.to_string());
        Ok(())
    }
}

fn compile(compiler: &Compiler, flags: &[String], source: &str) -> Result<Vec<u8>, Failure> {
    let failed = |e: std::io::Error| Failure::failed(format!("no temporary files: {e}"));
    let dir = Scratch::new().map_err(failed)?;
    let (from, to) = (dir.path().join("original.c"), dir.path().join("original.o"));
    std::fs::write(&from, source).map_err(failed)?;
    compiler.compile(&from, flags, &to).map_err(|e| Failure::failed(e.to_string()))?;
    std::fs::read(&to).map_err(failed)
}
