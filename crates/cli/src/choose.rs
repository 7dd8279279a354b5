//! The plan of a ring that nobody named one for: those that apply are made, measured and proved, in
//! this order, and the fastest that is proved is kept and remembered.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets::UTF8_BORDERS_ONLY};
use ringforge_plan::{Candidate, Operand, Plan, Structure, candidates};
use ringforge_program::schedule::Schedule;
use ringforge_toolchain::timing::Settings;
use ringforge_toolchain::{Compiler, Host, Scratch};
use ringforge_tune::wisdom::{self, Entry, Key, Known, Wisdom, WisdomError};
use serde::Serialize;

use crate::args::Forge;
use crate::lab::{Lab, Tried, timed, unproved};
use crate::make;
use crate::package::Tool;
use crate::preset::{Wanted, for_operands, no_plan};
use crate::target::{Target, is_timed};
use crate::ui::{Failure, Ui};

/// Enough to tell which is faster, not to publish.
const QUICK: (usize, usize) = (3, 60);
/// A transform of x^n + 1 is forged with all its entry points, unless the cheapest plan promises to be
/// so many times as fast.
const WORTH: f64 = 2.0;
/// Schedules of a plan that are tried at most.
const SCHEDULES: usize = 2;
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
    /// Whether it was taken.
    pub taken: bool,
    /// In a few words.
    pub outcome: String,
    /// Why it was not taken, where that needs a sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
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

/// All plans that apply, each with a name of its own: for any operands where they can be, as that
/// costs nothing and says more, else for those that are wanted.
///
/// # Errors
/// None applies.
pub fn all(wanted: &Wanted, target: &Target) -> Result<Vec<Candidate>, Failure> {
    let Wanted { name, ring, operands, .. } = wanted;
    let mut found = candidates(ring, *operands, name, target.machine).map_err(no_plan)?;
    let mut made = 0;
    for candidate in &mut found {
        let plan = match candidate.plan.with_operands([Operand::Big; 2]) {
            Ok(plan) => plan,
            Err(_) => for_operands(&candidate.plan, *operands)?,
        };
        let same = |known: Plan| known.root.to_form() == plan.root.to_form();
        let preset =
            Plan::names().any(|known| known == plan.name) && Plan::find(&plan.name).is_ok_and(same);
        candidate.plan = plan;
        if !preset {
            made += 1;
            candidate.plan.name = format!("{name}-{made}");
        }
    }
    Ok(found)
}

/// Candidates that were made, each with the number of its trial.
type Queue = Vec<(usize, Tried)>;

impl Chooser<'_> {
    /// The plan for a target.
    ///
    /// # Errors
    /// No plan applies, none is proved, or the wisdom file is damaged.
    pub fn choose(&self, target: &'static Target) -> Result<Choice, Failure> {
        let scratch =
            Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
        let lab = Lab {
            ui: self.ui,
            compiler: self.compiler,
            opt: &self.args.make.opt,
            ring: &self.wanted.ring,
            scratch,
        };
        let mut stale = None;
        if let Some((path, wisdom)) = self.wisdom.as_ref().filter(|_| !self.args.fresh) {
            match wisdom.find(path, &self.key(target), Tool::THIS.version).map_err(unwise)? {
                Known::Plan(plan, entry) => match self.recall(&lab, target, &plan, &entry)? {
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
        let mut all = all(self.wanted, target)?;
        let whole = transforms(&mut all);
        let mut trials: Vec<Trial> = all.iter().map(untried).collect();
        let timed = !self.args.no_bench && is_timed(target, self.compiler, self.host);
        let last = all.iter().position(Candidate::is_definition).map(|i| (i, all[i].plan.clone()));
        let (tried, taken) = match timed {
            true => {
                let mut tried = self.make(&lab, target, all, whole, &mut trials)?;
                if tried.len() > 1 || self.wisdom.is_some() {
                    self.measure(&lab, &mut tried, &mut trials)?;
                }
                self.prove(&lab, target, tried, &mut trials)?
            }
            // Nothing to compare: the cheapest by model that is proved.
            false => self.first(&lab, target, all, &mut trials)?,
        };
        if tried.is_empty() {
            return Err(Failure::input(no_program(target, &trials)));
        }
        let (tried, taken) = match taken {
            None => self.definition(&lab, target, (last, tried), &mut trials)?,
            some => (tried, some),
        };
        self.show(target, &trials, taken.is_some());
        let Some(taken) = taken else {
            let line = |t: &Trial| format!("\n  {} ({}): {}", t.plan, t.why, t.reason);
            let why: String = trials.iter().filter(|t| !t.reason.is_empty()).map(line).collect();
            return Err(Failure::failed(format!(
                "no candidate for target `{}` is proved; --try N tries more than {}, --patience SECONDS \
                 waits longer, --plan takes one as it is:{why}",
                target.name, self.args.tries
            )));
        };
        let mut tried = tried;
        let (trial, Tried { made, schedule, code, .. }) = tried.swap_remove(taken);
        if let (Some((path, _)), Some(cycles), false) =
            (&self.wisdom, trials[trial].cycles, self.args.no_prove)
        {
            let (tool, plan) = (Tool::THIS.version.to_owned(), made.plan.to_string());
            let cycles = (cycles * 10.0).round() / 10.0;
            let entry = Entry { key: self.key(target), tool, code, cycles, plan };
            wisdom::remember(path, entry).map_err(unwise)?;
        }
        let (target, plan) = (target.name.into(), made.plan);
        Ok(Choice { target, trials, remembered: None, plan, schedule })
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

    /// The schedule that the user names, or those worth a try.
    fn schedules(&self, target: &Target, plan: &Plan) -> Result<Vec<Schedule>, Failure> {
        match self.args.make.schedule.as_deref() {
            Some(path) => Ok(vec![make::schedule(Some(path), target, &plan.name)?]),
            None => Lab::schedules(target, plan),
        }
    }

    /// An earlier answer, if its plan still makes the code that was measured; else what changed.
    fn recall(
        &self,
        lab: &Lab,
        target: &'static Target,
        plan: &Plan,
        entry: &Entry,
    ) -> Result<Result<Choice, String>, Failure> {
        if !plan.covers(self.wanted.operands) {
            return Ok(Err("its plan is refused by now".into()));
        }
        let plan = plan.clone();
        let mut same = None;
        for schedule in self.schedules(target, &plan)? {
            let made = lab.program(target, &schedule, plan.clone());
            let code = made.and_then(|made| Lab::code(&made));
            if code.is_ok_and(|(_, digest)| digest == entry.code) {
                same = Some(schedule);
                break;
            }
        }
        let Some(schedule) = same else {
            return Ok(Err("its plan makes other code by now".into()));
        };
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
            reason: String::new(),
        };
        let (target, trials) = (target.name.into(), vec![trial]);
        Ok(Ok(Choice { target, trials, remembered: path, plan, schedule }))
    }

    /// Makes and compiles a candidate with the schedule of a number, if there is one; nothing, and a
    /// word in its trial, where it has no program.
    fn make_one(
        &self,
        lab: &Lab,
        target: &'static Target,
        (number, plan): (usize, Plan),
        which: usize,
        trial: &mut Trial,
    ) -> Result<Option<Tried>, Failure> {
        let schedules = self.schedules(target, &plan)?;
        let Some(schedule) = schedules.into_iter().nth(which) else { return Ok(None) };
        let made = lab.program(target, &schedule, plan);
        match made.and_then(|made| Ok((Lab::code(&made)?, made))) {
            // The compiler is the same for all: if it fails here, it fails.
            Ok((code, made)) => {
                lab.compile((made, schedule), &format!("{number}-{which}"), code).map(Some)
            }
            Err(e) => {
                if which == 0 {
                    trial.outcome = "no program".into();
                    // The plan's and the target's names stand in the table.
                    let why = e.message.split_once("`: ").map(|(_, why)| why.to_owned());
                    trial.reason = why.unwrap_or(e.message);
                }
                Ok(None)
            }
        }
    }

    /// Makes and compiles the first candidates for which that works, each with the number of its
    /// trial; the first alone where it makes a package of transforms.
    fn make(
        &self,
        lab: &Lab,
        target: &'static Target,
        all: Vec<Candidate>,
        whole: bool,
        trials: &mut [Trial],
    ) -> Result<Queue, Failure> {
        let tries = usize::from(self.args.tries);
        let bar = self.ui.bar(target.name, all.len().min(tries) as u64);
        let mut tried = Queue::new();
        for (i, Candidate { plan, .. }) in all.into_iter().enumerate() {
            if tried.len() == tries {
                trials[i].outcome = NOT_TRIED.into();
            } else if whole && tried.first().is_some_and(|(first, _)| *first == 0) {
                trials[i].outcome = "no transforms".into();
            } else {
                bar.set_message(format!("{}: making plan {}", target.name, plan.name));
                let made = self.make_one(lab, target, (i, plan), 0, &mut trials[i])?;
                bar.inc(u64::from(made.is_some()));
                tried.extend(made.map(|made| (i, made)));
            }
        }
        bar.finish_and_clear();
        Ok(tried)
    }

    /// Makes and proves candidates until one is proved, and says which of those that were made it is.
    fn first(
        &self,
        lab: &Lab,
        target: &'static Target,
        all: Vec<Candidate>,
        trials: &mut [Trial],
    ) -> Result<(Queue, Option<usize>), Failure> {
        let mut tried = Vec::new();
        let mut taken = None;
        for (i, Candidate { plan, .. }) in all.into_iter().enumerate() {
            let programs = trials[..i].iter().filter(|t| t.outcome != "no program").count();
            if taken.is_some() || programs == usize::from(self.args.tries) {
                trials[i].outcome = NOT_TRIED.into();
                continue;
            }
            for which in 0..SCHEDULES {
                let trial = &mut trials[i];
                let made = self.make_one(lab, target, (i, plan.clone()), which, trial)?;
                let Some(made) = made else { break };
                let proved = self.prove_one(lab, &made, trial)?;
                tried.push((i, made));
                if proved {
                    taken = Some(tried.len() - 1);
                    break;
                }
            }
        }
        Ok((tried, taken))
    }

    /// Times all that were made side by side, and sorts them, the fastest first. One that crashes is
    /// left out.
    fn measure(&self, lab: &Lab, tried: &mut Queue, trials: &mut [Trial]) -> Result<(), Failure> {
        let (copies, samples) = QUICK;
        let settings = Settings { copies, samples, ..Settings::default() };
        let one = |(trial, tried): &(usize, Tried)| lab.candidate(trial.to_string(), tried);
        let all = tried.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        for (name, timing) in timed(self.ui, self.compiler, all, &settings)? {
            let Some(trial) = name.parse().ok().and_then(|i: usize| trials.get_mut(i)) else {
                continue;
            };
            match timing {
                Ok(timing) => trial.cycles = Some(timing.median),
                Err(why) => (trial.outcome, trial.reason) = ("crashes".into(), why),
            }
        }
        tried.retain(|(trial, _)| trials[*trial].cycles.is_some());
        let cycles = |trial: usize| trials[trial].cycles.unwrap_or(f64::MAX);
        tried.sort_by(|a, b| cycles(a.0).total_cmp(&cycles(b.0)));
        Ok(())
    }

    /// The fastest that is proved, among those that were tried. Where a proof does not succeed, the
    /// plan's other schedule is made, timed, and takes its place in the queue.
    fn prove(
        &self,
        lab: &Lab,
        target: &'static Target,
        mut queue: Queue,
        trials: &mut [Trial],
    ) -> Result<(Queue, Option<usize>), Failure> {
        let mut second = HashSet::new();
        let mut at = 0;
        while at < queue.len() {
            let trial = queue[at].0;
            if self.prove_one(lab, &queue[at].1, &mut trials[trial])? {
                for (other, _) in queue.iter().skip(at + 1).filter(|(other, _)| *other != trial) {
                    trials[*other].outcome = "slower".into();
                }
                return Ok((queue, Some(at)));
            }
            if second.insert(trial) {
                let plan = queue[at].1.made.plan.clone();
                let made = self.make_one(lab, target, (trial, plan), 1, &mut trials[trial])?;
                let mut one: Queue = made.map(|made| (trial, made)).into_iter().collect();
                let mut own = trials.to_vec();
                self.measure(lab, &mut one, &mut own)?;
                let cycles = own[trial].cycles.unwrap_or(f64::MAX);
                for made in one {
                    trials[trial].cycles = Some(cycles);
                    let slower = |(other, _): &(usize, Tried)| trials[*other].cycles > Some(cycles);
                    let place = queue.iter().skip(at + 1).position(slower);
                    queue.insert(place.map_or(queue.len(), |place| at + 1 + place), made);
                }
            }
            at += 1;
        }
        Ok((queue, None))
    }

    /// The last resort, where nothing else was proved and it was not tried: the product by its definition.
    fn definition(
        &self,
        lab: &Lab,
        target: &'static Target,
        (last, mut tried): (Option<(usize, Plan)>, Queue),
        trials: &mut [Trial],
    ) -> Result<(Queue, Option<usize>), Failure> {
        let Some((i, plan)) = last.filter(|&(i, _)| trials[i].outcome == NOT_TRIED) else {
            return Ok((tried, None));
        };
        let mut one: Queue = self
            .make_one(lab, target, (i, plan), 0, &mut trials[i])?
            .map(|made| (i, made))
            .into_iter()
            .collect();
        if !self.args.no_bench && is_timed(target, self.compiler, self.host) {
            self.measure(lab, &mut one, trials)?;
        }
        for made in one {
            let proved = self.prove_one(lab, &made.1, &mut trials[i])?;
            tried.push(made);
            if proved {
                let at = tried.len() - 1;
                return Ok((tried, Some(at)));
            }
        }
        Ok((tried, None))
    }

    /// Whether one is proved, and so taken; its trial says so, or why not.
    fn prove_one(&self, lab: &Lab, one: &Tried, trial: &mut Trial) -> Result<bool, Failure> {
        if self.args.no_prove {
            trial.taken = true;
            trial.outcome = "taken, not proved".into();
            return Ok(true);
        }
        let limit = Duration::from_secs(self.args.patience.into());
        match lab.prove(one, limit) {
            Ok(proof) if proof.report.is_proved() => {
                trial.taken = true;
                trial.outcome = format!("taken, proved in {:.1} s", proof.seconds());
                trial.reason = String::new();
            }
            Ok(proof) => (trial.outcome, trial.reason) = (proof.verdict(), unproved(&proof)),
            Err(e) => {
                let place = e.excerpt.map_or(String::new(), |place| format!(": {}", place.label));
                (trial.outcome, trial.reason) = ("no proof".into(), e.message + &place);
            }
        }
        Ok(trial.taken)
    }

    fn show(&self, target: &Target, trials: &[Trial], reasons: bool) {
        let [a, b] = self.wanted.operands;
        let ring = &self.wanted.ring;
        self.ui.say(format!("Plans for {ring}, {a} × {b}, target {}:", target.name));
        // Those that came too late are many, and say nothing new.
        let (late, shown): (Vec<&Trial>, Vec<&Trial>) =
            trials.iter().partition(|trial| trial.outcome == NOT_TRIED);
        self.ui.say(table(&shown).to_string());
        if !late.is_empty() {
            self.ui.say(format!("{} more, dearer by model, are not tried: --try N", late.len()));
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
        matches!(candidate.plan.root.structure(), Structure::Halves(_))
            && candidate.cost <= WORTH * cheapest
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
        taken: false,
        outcome: String::new(),
        reason: String::new(),
    }
}

fn table(trials: &[&Trial]) -> Table {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.0}"));
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    table.set_header(["plan", "what it is", "modelled cost", "cycles", "outcome"]);
    for trial in trials {
        table.add_row([
            trial.plan.clone(),
            trial.why.clone(),
            number(trial.cost),
            number(trial.cycles),
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
