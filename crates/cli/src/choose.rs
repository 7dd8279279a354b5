//! The plan of a ring that nobody named one for: those that apply are made, measured and proved, in
//! this order, and the fastest that is proved is kept and remembered.

use std::path::PathBuf;

use comfy_table::{CellAlignment, Table, presets::UTF8_BORDERS_ONLY};
use ringforge_emit::Preamble;
use ringforge_plan::Plan;
use ringforge_toolchain::timing::{self, Code, Settings, TimingError};
use ringforge_toolchain::{Compiler, Host, Scratch};
use ringforge_tune::wisdom::{self, Entry, Key, Known, Wisdom, WisdomError};
use serde::Serialize;

use crate::args::Forge;
use crate::candidates::{Candidate, candidates};
use crate::make::{self, Made};
use crate::package::{File, Tool};
use crate::preset::{Wanted, for_operands};
use crate::proof::{self, Named};
use crate::target::Target;
use crate::ui::{Failure, Ui};

/// Enough to tell which is faster, not to publish.
const QUICK: (usize, usize) = (3, 60);

/// What became of one candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// The plan's name.
    pub plan: String,
    /// Why it was a candidate.
    pub why: String,
    /// Its modelled cost.
    pub cost: Option<f64>,
    /// Core cycles of one product, measured quickly.
    pub cycles: Option<f64>,
    /// Whether it was taken.
    pub taken: bool,
    /// In words.
    pub outcome: String,
}

/// How a target got its plan.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The target.
    pub target: String,
    /// The candidates, the cheapest by model first.
    pub trials: Vec<Trial>,
    /// The wisdom file that an earlier run's answer was taken from.
    pub remembered: Option<String>,
    /// The plan that was taken.
    #[serde(skip)]
    pub plan: Plan,
}

/// What is the same for all targets.
pub struct Chooser<'a> {
    /// How to talk.
    pub ui: &'a Ui,
    /// The command line.
    pub args: &'a Forge,
    /// The ring.
    pub wanted: &'a Wanted,
    /// The compiler.
    pub compiler: &'a Compiler,
    /// This machine.
    pub host: &'a Host,
    /// Where the wisdom is, and what it is.
    pub wisdom: Option<(PathBuf, Wisdom)>,
}

/// The wisdom file of this user with its content.
///
/// # Errors
/// It is damaged.
pub fn wisdom() -> Result<Option<(PathBuf, Wisdom)>, Failure> {
    let Some(path) = wisdom::path() else { return Ok(None) };
    let wisdom = Wisdom::read(&path).map_err(unwise)?;
    Ok(Some((path, wisdom)))
}

fn unwise(error: WisdomError) -> Failure {
    Failure::input(error.to_string())
}

/// A candidate that was made and compiled.
struct Tried {
    /// Which trial it is.
    trial: usize,
    plan: Plan,
    made: Made,
    object: PathBuf,
    code: String,
}

impl Chooser<'_> {
    /// The plan for a target.
    ///
    /// # Errors
    /// No plan applies, none is proved, or the wisdom file is damaged.
    pub fn choose(&self, target: &'static Target) -> Result<Choice, Failure> {
        let mut stale = None;
        if let Some((path, wisdom)) = self.wisdom.as_ref().filter(|_| !self.args.fresh) {
            match wisdom.find(path, &self.key(target), Tool::THIS.version).map_err(unwise)? {
                Known::Plan(plan, entry) => match self.recall(target, &plan, &entry)? {
                    Ok(choice) => return Ok(choice),
                    Err(why) => stale = Some(why),
                },
                Known::Stale(why) => stale = Some(why),
                Known::Nothing => {}
            }
        }
        if let Some(why) = stale {
            let name = target.name;
            self.ui.say(format!("target {name}: what was remembered is measured again: {why}"));
        }
        let scratch =
            Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
        let all = candidates(self.wanted)?;
        let mut trials: Vec<Trial> = all.iter().map(untried).collect();
        let mut tried = self.make(target, all, &mut trials, &scratch)?;
        let timed = !self.args.no_bench && target.runs_on(self.host);
        if timed && (tried.len() > 1 || self.wisdom.is_some()) {
            self.measure(&mut tried, &mut trials)?;
        }
        let taken = self.prove(&tried, &mut trials)?;
        let Some(taken) = taken else {
            self.show(target, &trials);
            return Err(Failure::failed(format!(
                "no candidate for target `{}` is proved, the table says why; --try N tries more, --plan takes \
                 one as it is",
                target.name
            )));
        };
        let Tried { plan, code, trial, .. } = tried.swap_remove(taken);
        if let (Some((path, _)), Some(cycles), false) =
            (&self.wisdom, trials[trial].cycles, self.args.no_prove)
        {
            let (tool, plan) = (Tool::THIS.version.to_owned(), plan.to_string());
            let cycles = (cycles * 10.0).round() / 10.0;
            let entry = Entry { key: self.key(target), tool, code, cycles, plan };
            wisdom::remember(path, entry).map_err(unwise)?;
        }
        self.show(target, &trials);
        Ok(Choice { target: target.name.into(), trials, remembered: None, plan })
    }

    fn key(&self, target: &Target) -> Key {
        Key {
            ring: self.wanted.ring.to_string(),
            operands: self.wanted.operands,
            target: target.name.into(),
            compiler: self.compiler.version.clone(),
            flags: self.args.make.opt.clone(),
            processor: format!("{} ({})", self.host.processor, self.host.model),
        }
    }

    /// An earlier answer, if its plan still makes the code that was measured; else what changed.
    fn recall(
        &self,
        target: &'static Target,
        plan: &Plan,
        entry: &Entry,
    ) -> Result<Result<Choice, String>, Failure> {
        let Ok(plan) = for_operands(plan, self.wanted.operands) else {
            return Ok(Err("its plan is refused by now".into()));
        };
        let same = match self.program(target, &plan) {
            Ok(made) => code(target, &made)?.1 == entry.code,
            Err(_) => false,
        };
        if !same {
            return Ok(Err("its plan makes other code by now".into()));
        }
        let path = self.wisdom.as_ref().map(|(path, _)| path.display().to_string());
        self.ui.say(format!(
            "target {}: plan {}, {:.0} cycles, as {} remembers (--fresh measures again)",
            target.name,
            plan.name,
            entry.cycles,
            path.as_deref().unwrap_or_default()
        ));
        let trial = Trial {
            plan: plan.name.clone(),
            why: String::new(),
            cost: None,
            cycles: Some(entry.cycles),
            taken: true,
            outcome: "remembered: it was the fastest that is proved".into(),
        };
        Ok(Ok(Choice { target: target.name.into(), trials: vec![trial], remembered: path, plan }))
    }

    fn program(&self, target: &'static Target, plan: &Plan) -> Result<Made, Failure> {
        let schedule = make::schedule(self.args.make.schedule.as_deref(), target, &plan.name)?;
        make::make(&self.wanted.with(plan.clone()), target, &schedule, &self.wanted.name)
    }

    /// Makes and compiles the first candidates for which that works.
    fn make(
        &self,
        target: &'static Target,
        all: Vec<Candidate>,
        trials: &mut [Trial],
        scratch: &Scratch,
    ) -> Result<Vec<Tried>, Failure> {
        let tries = usize::from(self.args.tries);
        let bar = self.ui.bar(target.name, all.len().min(tries) as u64);
        let mut tried = Vec::new();
        for (trial, candidate) in all.into_iter().enumerate() {
            if tried.len() == tries {
                trials[trial].outcome = format!("not tried (--try {tries})");
                continue;
            }
            let plan = candidate.plan;
            bar.set_message(format!("{}: making plan {}", target.name, plan.name));
            let made = match self.program(target, &plan) {
                Ok(made) => made,
                Err(e) => {
                    trials[trial].outcome = format!("no program: {}", e.message);
                    continue;
                }
            };
            let (text, code) = match code(target, &made) {
                Ok(code) => code,
                Err(e) => {
                    trials[trial].outcome = format!("no program: {}", e.message);
                    continue;
                }
            };
            let source = scratch.path().join(format!("{trial}.c"));
            let object = scratch.path().join(format!("{trial}.o"));
            std::fs::write(&source, text)
                .map_err(|e| Failure::failed(format!("cannot write {}: {e}", source.display())))?;
            let flags = make::flags(&self.args.make.opt);
            // The compiler is the same for all: if it fails here, it fails.
            self.compiler
                .compile(&source, &flags, &object)
                .map_err(|e| Failure::failed(e.to_string()))?;
            tried.push(Tried { trial, plan, made, object, code });
            bar.inc(1);
        }
        bar.finish_and_clear();
        match tried.is_empty() {
            false => Ok(tried),
            true => Err(Failure::input(match trials {
                [only] => only.outcome.trim_start_matches("no program: ").to_owned(),
                all => {
                    let line = |t: &Trial| format!("\n  {}: {}", t.plan, t.outcome);
                    let lines: String = all.iter().map(line).collect();
                    format!(
                        "no plan that applies has a program for target `{}`:{lines}",
                        target.name
                    )
                }
            })),
        }
    }

    /// Times all that were made side by side, and sorts them, the fastest first. One that crashes is
    /// left out.
    fn measure(&self, tried: &mut Vec<Tried>, trials: &mut [Trial]) -> Result<(), Failure> {
        let (copies, samples) = QUICK;
        let settings = Settings { copies, samples, ..Settings::default() };
        while !tried.is_empty() {
            let one = |tried: &Tried| -> Result<timing::Candidate, Failure> {
                let signature = tried.made.entry(None)?.signature.clone();
                let code = Code::Objects(vec![tried.object.clone()], signature);
                Ok(timing::Candidate { name: tried.trial.to_string(), code })
            };
            let all = tried.iter().map(one).collect::<Result<Vec<_>, _>>()?;
            let bar = self.ui.bar("timing candidates", (copies * samples) as u64);
            let timings = timing::measure(self.compiler, &all, &settings, &mut |done, _| {
                bar.set_position(done as u64);
            });
            bar.finish_and_clear();
            match timings {
                Ok(timings) => {
                    for (tried, timing) in tried.iter().zip(timings) {
                        trials[tried.trial].cycles = Some(timing.median);
                    }
                    let cycles = |tried: &Tried| trials[tried.trial].cycles.unwrap_or(f64::MAX);
                    tried.sort_by(|a, b| cycles(a).total_cmp(&cycles(b)));
                    return Ok(());
                }
                Err(TimingError::Silent { name, why }) => {
                    let Some(at) = tried.iter().position(|t| t.trial.to_string() == name) else {
                        return Err(Failure::failed(why));
                    };
                    trials[tried.remove(at).trial].outcome = format!("cannot be timed: {why}");
                }
                Err(error) => return Err(Failure::failed(error.to_string())),
            }
        }
        Ok(())
    }

    /// The first that is proved.
    fn prove(&self, tried: &[Tried], trials: &mut [Trial]) -> Result<Option<usize>, Failure> {
        let mut taken = None;
        for (i, one) in tried.iter().enumerate() {
            let trial = &mut trials[one.trial];
            if taken.is_some() {
                let timed = trial.cycles.is_some();
                trial.outcome = if timed { "slower" } else { "dearer by model" }.into();
                continue;
            }
            if self.args.no_prove {
                (taken, trial.taken) = (Some(i), true);
                trial.outcome = "taken, not proved (--no-prove)".into();
                continue;
            }
            let entry = one.made.entry(None)?;
            let terms = entry.contract(&self.wanted.name, &self.wanted.ring, None);
            let contract = proof::contract(&entry.contract_file(&self.wanted.name), &terms, None)?;
            let bytes = std::fs::read(&one.object)
                .map_err(|e| Failure::failed(format!("the object is gone: {e}")))?;
            let named = Named { name: &one.plan.name, bytes: &bytes };
            let proof = proof::prove(self.ui, &[named], &contract)?.swap_remove(0);
            trial.outcome = if proof.report.is_proved() {
                (taken, trial.taken) = (Some(i), true);
                format!("taken: proved in {:.1} s", proof.seconds())
            } else {
                let why = proof::explanation(&proof).into_iter().next().unwrap_or_default();
                format!("{}: {why}", proof.verdict())
            };
        }
        Ok(taken)
    }

    fn show(&self, target: &Target, trials: &[Trial]) {
        let [a, b] = self.wanted.operands;
        let ring = &self.wanted.ring;
        self.ui.say(format!("Plans for {ring}, {a} × {b}, target {}:", target.name));
        self.ui.say(table(trials).to_string());
    }
}

fn untried(candidate: &Candidate) -> Trial {
    Trial {
        plan: candidate.plan.name.clone(),
        why: candidate.why.clone(),
        cost: candidate.cost,
        cycles: None,
        taken: false,
        outcome: String::new(),
    }
}

/// The C code of a program and its digest; without the command that made it, which changes nothing.
fn code(target: &Target, made: &Made) -> Result<(String, String), Failure> {
    let text = target.emit(&made.program, &Preamble::default())?;
    let digest = File::of("", text.as_bytes()).sha256;
    Ok((text, digest))
}

fn table(trials: &[Trial]) -> Table {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.0}"));
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    table.set_header(["plan", "modelled cost", "cycles", "outcome", "why"]);
    for trial in trials {
        table.add_row([
            trial.plan.clone(),
            number(trial.cost),
            number(trial.cycles),
            trial.outcome.clone(),
            trial.why.clone(),
        ]);
    }
    for index in 1..3 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
