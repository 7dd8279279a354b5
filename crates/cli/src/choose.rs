//! The plan of a ring for which the user named none. The plans that apply are made, measured and
//! proved, in this order. The fastest that is proved is kept and remembered.

mod queue;

use std::path::PathBuf;

use comfy_table::{CellAlignment, Table, presets::UTF8_BORDERS_ONLY};
use ringforge_plan::{Candidate, Plan};
use ringforge_program::schedule::Schedule;
use ringforge_toolchain::{Compiler, Host, Scratch};
use ringforge_tune::wisdom::{self, Entry, Key, Known, Wisdom, WisdomError};
use serde::Serialize;

use queue::{NO_PROGRAM, Search, others};

use crate::args::Forge;
use crate::make;
use crate::package::Tool;
use crate::preset::{Wanted, all};
use crate::target::{Target, is_timed};
use crate::trial::{Builder, Tried};
use crate::ui::{Failure, Ui};

/// A transform of x^n + 1 is forged with all its entry points, unless the model says that the
/// cheapest plan is more than this many times as fast.
const WORTH: f64 = 2.0;
/// The outcome of candidates that came too late.
const NOT_TRIED: &str = "not tried";

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
    /// Cycles of one product by the model of a core, from instructions counted in an emulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_cycles: Option<f64>,
    /// Whether it was taken.
    pub taken: bool,
    /// In a few words.
    pub outcome: String,
    /// Why it was not taken, where that needs a sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What candidates are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Core cycles, measured.
    Measured,
    /// Cycles by the model of a core, from instructions counted in an emulator.
    Modelled,
    /// Nothing: they are tried in the order of their modelled costs.
    Cost,
}

impl Basis {
    /// The best that there is.
    fn of(args: &Forge, target: &Target, compiler: &Compiler, host: &Host) -> Basis {
        let core = compiler.architecture.and_then(|a| a.core);
        match args.no_bench {
            true => Basis::Cost,
            false if is_timed(target, compiler, host) => Basis::Measured,
            false if core.is_some() && compiler.runner.is_emulator() => Basis::Modelled,
            false => Basis::Cost,
        }
    }

    /// In a few words.
    pub fn text(self) -> &'static str {
        match self {
            Basis::Measured => "compared by measured cycles",
            Basis::Modelled => {
                "compared by estimated cycles, from instructions counted in an emulator; nothing is timed"
            }
            Basis::Cost => "in the order of modelled costs; nothing is timed or counted",
        }
    }
}

/// How a target got its plan.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The target.
    pub target: String,
    /// The candidates, the cheapest by model first.
    pub trials: Vec<Trial>,
    /// What those that were tried are compared by.
    pub compared_by: Basis,
    /// The wisdom file that an earlier run's answer was taken from.
    pub remembered: Option<String>,
    /// The plan that was taken.
    #[serde(skip)]
    pub plan: Plan,
    /// The schedule that it was proved with.
    #[serde(skip)]
    pub schedule: Schedule,
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

/// The wisdom file of this user with its content. If it cannot be read, the user is warned, nothing
/// is known, and nothing will be remembered.
pub fn wisdom(ui: &Ui) -> Option<(PathBuf, Wisdom)> {
    let path = wisdom::path()?;
    match Wisdom::read(&path) {
        Ok(wisdom) => Some((path, wisdom)),
        Err(error) => {
            unwise(ui, &error);
            None
        }
    }
}

fn unwise(ui: &Ui, error: &WisdomError) {
    ui.warn(format!("{error}; continuing without it"));
}

impl Chooser<'_> {
    /// The plan for a target.
    ///
    /// # Errors
    /// No plan applies, or none is proved.
    pub fn choose(&self, target: &'static Target) -> Result<Choice, Failure> {
        let scratch =
            Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
        let builder = Builder {
            ui: self.ui,
            compiler: self.compiler,
            opt: &self.args.make.opt,
            ring: &self.wanted.ring,
            scratch,
        };
        let mut stale = None;
        if let Some((path, wisdom)) = self.wisdom.as_ref().filter(|_| !self.args.fresh) {
            match wisdom.find(path, &self.key(target), Tool::THIS.version) {
                Ok(Known::Plan(plan, entry)) => {
                    match self.recall(&builder, target, &plan, &entry)? {
                        Ok(choice) => return Ok(choice),
                        Err(why) => stale = Some(why),
                    }
                }
                Ok(Known::Stale(why)) => stale = Some(why),
                Ok(Known::Nothing) => {}
                Err(error) => unwise(self.ui, &error),
            }
        }
        if let Some(why) = stale {
            let name = target.name;
            self.ui.say(format!("target {name}: the remembered result is measured again: {why}"));
        }
        let mut all = all(self.wanted, target)?;
        let whole = transforms(&mut all);
        let basis = Basis::of(self.args, target, self.compiler, self.host);
        let (trials, taken) = Search::new(self, &builder, target, (all, whole), basis).run()?;
        if taken.is_none() && trials.iter().all(|trial| trial.outcome == NO_PROGRAM) {
            return Err(Failure::input(no_program(target, &trials)));
        }
        self.show(target, &trials, basis, taken.is_some());
        let Some((trial, Tried { made, schedule, code, .. })) = taken else {
            let line = |t: &Trial| format!("\n  {} ({}): {}", t.plan, t.why, t.reason);
            let why: String = trials.iter().filter(|t| !t.reason.is_empty()).map(line).collect();
            return Err(Failure::failed(format!(
                "no candidate for target `{}` is proved; --try N tries more than {}, --patience SECONDS \
                 waits longer, --plan takes one as it is:{why}",
                target.name, self.args.tries
            )));
        };
        if let (Some((path, _)), Some(cycles), false) =
            (&self.wisdom, trials[trial].cycles, self.args.no_prove)
        {
            let (tool, plan) = (Tool::THIS.version.to_owned(), made.plan.to_string());
            let cycles = (cycles * 10.0).round() / 10.0;
            let entry = Entry { key: self.key(target), tool, code, cycles, plan };
            if let Err(error) = wisdom::remember(path, entry) {
                self.ui.warn(format!("not remembered: {error}"));
            }
        }
        let (target, plan) = (target.name.into(), made.plan);
        Ok(Choice { target, trials, compared_by: basis, remembered: None, plan, schedule })
    }

    fn key(&self, target: &Target) -> Key {
        Key {
            ring: self.wanted.ring.to_string(),
            operands: self.wanted.operands,
            target: target.name.into(),
            compiler: [self.compiler.version.as_str()]
                .into_iter()
                .chain(self.compiler.arguments.iter().map(String::as_str))
                .collect::<Vec<_>>()
                .join(" "),
            flags: self.args.make.opt.clone(),
            tries: self.args.tries,
            patience: self.args.patience,
            processor: format!("{} ({})", self.host.processor, self.host.model),
        }
    }

    /// The schedule that the user names. Otherwise the schedules that are timed side by side, the
    /// saved one and the target's own, and then those that are easier to prove.
    fn schedules(
        &self,
        target: &Target,
        plan: &Plan,
    ) -> Result<(Vec<Schedule>, Vec<Schedule>), Failure> {
        if let Some(path) = self.args.make.schedule.as_deref() {
            return Ok((vec![make::schedule(Some(path), target, &plan.name)?], Vec::new()));
        }
        let own = target.schedule();
        let mut easier = Builder::schedules(target, plan)?;
        let mut timed = vec![easier.remove(0)];
        if timed[0] != own {
            timed.push(own);
        }
        easier.retain(|schedule| !timed.contains(schedule));
        Ok((timed, easier))
    }

    /// An earlier answer, if its plan still makes the code that was measured; otherwise what
    /// changed.
    fn recall(
        &self,
        builder: &Builder,
        target: &'static Target,
        plan: &Plan,
        entry: &Entry,
    ) -> Result<Result<Choice, String>, Failure> {
        if !plan.covers(self.wanted.operands) {
            return Ok(Err("its plan is now refused".into()));
        }
        let plan = plan.clone();
        let mut same = None;
        let (timed, easier) = self.schedules(target, &plan)?;
        let elsewhere = others(&timed[0], target).into_iter().map(|(schedule, _)| schedule);
        for schedule in timed.into_iter().chain(easier).chain(elsewhere) {
            let made = builder.program(target, &schedule, plan.clone());
            let code = made.and_then(|made| Builder::code(&made));
            if code.is_ok_and(|(_, digest)| digest == entry.code) {
                same = Some(schedule);
                break;
            }
        }
        let Some(schedule) = same else {
            return Ok(Err("its plan now produces different code".into()));
        };
        let path = self.wisdom.as_ref().map(|(path, _)| path.display().to_string());
        self.ui.say(format!(
            "target {}: plan {}, {:.0} cycles, from {} (--fresh measures again)",
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
            model_cycles: None,
            taken: true,
            outcome: "remembered: it was the fastest that is proved".into(),
            reason: String::new(),
        };
        let (target, trials) = (target.name.into(), vec![trial]);
        let compared_by = Basis::Measured;
        Ok(Ok(Choice { target, trials, compared_by, remembered: path, plan, schedule }))
    }

    fn show(&self, target: &Target, trials: &[Trial], basis: Basis, reasons: bool) {
        let [a, b] = self.wanted.operands;
        let ring = &self.wanted.ring;
        let (name, by) = (target.name, basis.text());
        self.ui.say(format!("Plans for {ring}, {a} × {b}, target {name}, {by}:"));
        // Those that came too late are many, and say nothing new.
        let (late, shown): (Vec<&Trial>, Vec<&Trial>) =
            trials.iter().partition(|trial| trial.outcome == NOT_TRIED);
        self.ui.say(table(&shown, basis).to_string());
        if !late.is_empty() {
            self.ui.say(format!("{} more expensive plans were not tried: --try N", late.len()));
        }
        // Where nothing is proved the error says them.
        for trial in trials.iter().filter(|trial| reasons && !trial.reason.is_empty()) {
            self.ui.say(format!("{}: {}", trial.plan, trial.reason));
        }
    }
}

/// What to say where nothing that applies has a program.
fn no_program(target: &Target, trials: &[Trial]) -> String {
    match trials {
        [only] => only.reason.clone(),
        all => {
            let line = |t: &Trial| format!("\n  {} ({}): {}", t.plan, t.why, t.reason);
            let lines: String = all.iter().map(line).collect();
            format!("no plan that applies has a program for target `{}`:{lines}", target.name)
        }
    }
}

/// Puts the transform of x^n + 1 first, if there is one that is worth it, and says whether.
fn transforms(all: &mut [Candidate]) -> bool {
    let cheapest = all.first().map_or(0.0, |candidate| candidate.cost);
    let found = all.iter().position(|candidate| {
        candidate.plan.negacyclic().is_some() && candidate.cost <= WORTH * cheapest
    });
    if let Some(at) = found {
        all[..=at].rotate_right(1);
    }
    found.is_some()
}

fn untried(candidate: &Candidate) -> Trial {
    Trial {
        plan: candidate.plan.name.clone(),
        why: candidate.why.clone(),
        cost: Some(candidate.cost.round()),
        cycles: None,
        model_cycles: None,
        taken: false,
        outcome: String::new(),
        reason: String::new(),
    }
}

fn table(trials: &[&Trial], basis: Basis) -> Table {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.0}"));
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    let cycles = if basis == Basis::Modelled { "model cycles" } else { "cycles" };
    table.set_header(["plan", "what it is", "modelled cost", cycles, "outcome"]);
    for trial in trials {
        table.add_row([
            trial.plan.clone(),
            trial.why.clone(),
            number(trial.cost),
            number(trial.cycles.or(trial.model_cycles)),
            trial.outcome.clone(),
        ]);
    }
    for index in 2..4 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
