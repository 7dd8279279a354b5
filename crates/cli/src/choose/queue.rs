//! The candidates of a ring. Each is made, timed with the others or modelled, and proved, the
//! fastest first.

mod layouts;

pub(super) use layouts::others;

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use ringforge_plan::Candidate;
use ringforge_program::schedule::Schedule;
use ringforge_toolchain::timing::{Measured, Settings, Standing, order};

use super::{Basis, Chooser, NOT_TRIED, Trial, untried};
use crate::modelled::Modelled;
use crate::target::Target;
use crate::trial::{Builder, Tried, timed, unproved};
use crate::ui::Failure;

/// Enough to tell which is faster, not to publish: copies, and samples of each.
const QUICK: (usize, usize) = (3, 60);
/// How many candidates may follow, one by one, for those that stayed unproved.
const MORE: usize = 12;
/// The schoolbook product is timed with the others if it is at most this many times slower than the
/// cheapest by the model. The model errs by that much.
const NEAR: f64 = 4.0;
/// One part in this many of all patience: the next candidate has at least that, and candidates of
/// one kind may take that without success.
const LEAST: u32 = 4;
/// If nothing else was proved, schoolbook gets this many times all patience: if it fails too, there
/// is no package.
const LAST: u32 = 4;
/// Degrees up to which patience is what the user asked for: for f with few coefficients, and for
/// dense f. Above, patience grows with the degree.
const LONG: [usize; 2] = [1024, 512];
/// The outcome of candidates that were not proved because others had taken all patience.
const NO_PATIENCE: &str = "no patience left";
/// The outcome of candidates that have no program for the target.
pub(super) const NO_PROGRAM: &str = "no program";

/// What was taken, with the number of its trial.
type Taken = (usize, Tried);

/// A candidate that was made.
struct Queued {
    /// The number of its trial.
    trial: usize,
    /// What was made.
    tried: Tried,
    /// What it takes, where that was measured.
    measured: Option<Measured>,
    /// Cycles by a core's model, where its instructions were counted.
    modelled: Option<f64>,
}

/// Candidates that are alike to the prover.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Products modulo the ring's own modulus.
    OverOwn,
    /// Products modulo one prime, whose residues are the sums.
    ThroughOne,
    /// Products modulo several, of whose digits the prover bounds the sums hardest.
    ThroughSeveral,
}

/// One search for the fastest candidate that is proved.
pub(super) struct Search<'a> {
    chooser: &'a Chooser<'a>,
    builder: &'a Builder<'a>,
    target: &'static Target,
    /// The candidates, the cheapest by model first, and behind them those with other settled
    /// choices.
    all: Vec<Candidate>,
    /// Whether the first is a transform that makes a package alone.
    whole: bool,
    /// What they are compared by.
    basis: Basis,
    trials: Vec<Trial>,
    /// Made and not proved yet, the fastest first.
    queue: Vec<Queued>,
    /// The first candidate that was not reached.
    next: usize,
    /// Candidates that were made, in their order or before it.
    begun: Vec<usize>,
    /// Trials whose easier schedules were made.
    easier: Vec<usize>,
    /// The time of all proofs that failed, except those of schoolbook.
    spent: Duration,
    /// The kinds of candidates that stayed unproved.
    unproved: Vec<Kind>,
}

impl<'a> Search<'a> {
    /// A search that has not begun.
    pub fn new(
        chooser: &'a Chooser<'a>,
        builder: &'a Builder<'a>,
        target: &'static Target,
        (all, whole): (Vec<Candidate>, bool),
        basis: Basis,
    ) -> Search<'a> {
        let trials = all.iter().map(untried).collect();
        Search {
            chooser,
            builder,
            target,
            all,
            whole,
            basis,
            trials,
            queue: Vec::new(),
            next: 0,
            begun: Vec::new(),
            easier: Vec::new(),
            spent: Duration::ZERO,
            unproved: Vec::new(),
        }
    }

    /// What became of all candidates, and the one that was taken.
    ///
    /// # Errors
    /// The compiler fails, or nothing can be timed.
    pub fn run(mut self) -> Result<(Vec<Trial>, Option<Taken>), Failure> {
        let timed = self.basis != Basis::Cost;
        let tries = usize::from(self.chooser.args.tries);
        // Nothing to compare: the cheapest by model that is proved.
        self.more(if timed { tries } else { 1 }, timed)?;
        if timed {
            self.layouts()?;
        }
        let mut left = if timed { MORE } else { tries - 1 + MORE };
        let (mut taken, mut best) = (None, None);
        loop {
            if self.queue.is_empty() {
                if left == 0 || !self.more(1, timed)? {
                    break;
                }
                left -= 1;
                continue;
            }
            let one = self.queue.remove(0);
            self.note(&one);
            let patience = self.patience();
            // What follows on a slow one is not left with a moment.
            let rest = patience.saturating_sub(self.spent).max(patience / LEAST);
            let limit = if self.is_sure(one.trial) { patience } else { rest };
            if self.prove(&one, limit)? {
                best = one.measured;
                taken = Some((one.trial, one.tried));
                break;
            }
            self.give_up();
            // Nothing in plain C goes by a schedule.
            let plain = self.all[one.trial].plan.is_plain();
            if !plain && !self.is_hopeless(one.trial) && !self.easier.contains(&one.trial) {
                self.easier.push(one.trial);
                let (_, easier) = self.chooser.schedules(self.target, &one.tried.made.plan)?;
                let made = self.make(one.trial, easier, "easier")?;
                self.measure(made, timed)?;
            }
            // Who stays unproved makes room for the next.
            if left > 0 && !self.queue.iter().any(|other| other.trial == one.trial) && timed {
                left -= 1;
                self.more(1, timed)?;
            }
        }
        if taken.is_none() {
            taken = self.last_resort(timed)?;
        }
        let least = taken.as_ref().and_then(|(trial, _)| self.trials[*trial].model_cycles);
        for other in std::mem::take(&mut self.queue) {
            let trial = &self.trials[other.trial];
            if !trial.taken && trial.outcome.is_empty() {
                self.note(&other);
                let standing = match other.measured.zip(best) {
                    Some((a, b)) => match (a.beside(&b), a.bytes >= b.bytes) {
                        (Standing::Tie, true) => "a tie, larger code",
                        (Standing::Tie, false) => "a tie",
                        (Standing::NearTie, _) => "nearly a tie",
                        (Standing::Apart, _) => "slower",
                    },
                    None if other.modelled.is_some() && other.modelled == least => "a tie",
                    None => "slower",
                };
                self.trials[other.trial].outcome = standing.into();
            }
        }
        let is_transform = |trial: usize| self.all[trial].plan.negacyclic().is_some();
        let entries = self.whole && taken.as_ref().is_some_and(|(trial, _)| is_transform(*trial));
        for trial in self.trials.iter_mut().filter(|trial| trial.outcome.is_empty()) {
            trial.outcome = if entries { "no entry points" } else { NOT_TRIED }.into();
        }
        Ok((self.trials, taken))
    }

    /// Writes what one takes into its trial.
    fn note(&mut self, one: &Queued) {
        let trial = &mut self.trials[one.trial];
        trial.cycles = one.measured.map(|m| m.cycles);
        trial.model_cycles = one.modelled;
    }

    /// Whether there is no patience left for a candidate. A candidate like one that stayed unproved
    /// has a quarter of it, any other has all of it, and schoolbook always has some left.
    fn is_hopeless(&self, trial: usize) -> bool {
        let quarter = self.spent * LEAST >= self.patience();
        let alike = self.unproved.contains(&self.kind(trial));
        !self.is_sure(trial) && (self.spent >= self.patience() || quarter && alike)
    }

    fn kind(&self, trial: usize) -> Kind {
        match self.all[trial].plan.root.moduli().len() {
            0 => Kind::OverOwn,
            1 => Kind::ThroughOne,
            _ => Kind::ThroughSeveral,
        }
    }

    /// How long candidates may stay unproved: all together, and schoolbook once more. The time of a
    /// proof grows faster than the degree of f. If f has many coefficients, the proof is of three
    /// products.
    fn patience(&self) -> Duration {
        let seconds = Duration::from_secs(self.chooser.args.patience.into());
        let long = LONG[usize::from(self.all.iter().any(|c| c.plan.is_dense()))];
        seconds * self.chooser.wanted.ring.degree().div_ceil(long) as u32
    }

    /// Whether a candidate is proved sooner than others: plain C, and the schoolbook product.
    fn is_sure(&self, trial: usize) -> bool {
        self.all[trial].is_definition() || self.all[trial].plan.is_plain()
    }

    /// Removes from the queue what there is no patience for.
    fn give_up(&mut self) {
        for other in std::mem::take(&mut self.queue) {
            if !self.is_hopeless(other.trial) {
                self.queue.push(other);
            } else if self.trials[other.trial].outcome.is_empty() {
                self.note(&other);
                self.trials[other.trial].outcome = NO_PATIENCE.into();
            }
        }
    }

    /// Where plain C and the schoolbook product are among the candidates.
    fn sure(&self) -> Vec<usize> {
        let find = |which: fn(&Candidate) -> bool| self.all.iter().position(which);
        [find(|c| c.plan.is_plain()), find(Candidate::is_definition)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Makes the next `count` candidates that have a program, and times them. Returns whether there
    /// was one.
    fn more(&mut self, count: usize, timed: bool) -> Result<bool, Failure> {
        let first = self.next == 0;
        let bar = self.chooser.ui.bar(self.target.name, count as u64);
        let mut made = Vec::new();
        let mut found = 0;
        while found < count && self.next < self.all.len() {
            let i = self.next;
            self.next += 1;
            if self.begun.contains(&i) {
                continue;
            }
            if self.is_hopeless(i) {
                self.trials[i].outcome = NO_PATIENCE.into();
                continue;
            }
            bar.set_message(format!("{}: making {}", self.target.name, self.trials[i].plan));
            let one = self.usual(i)?;
            found += usize::from(!one.is_empty());
            bar.inc(u64::from(!one.is_empty()));
            made.extend(one);
            // A package of transforms has no rivals, unless it is not proved.
            if self.whole && i == 0 && !made.is_empty() {
                break;
            }
        }
        let sure = if first && timed && !self.whole { self.sure() } else { Vec::new() };
        for i in sure {
            let near = self.all[i].cost <= NEAR * self.all[0].cost || self.all[i].plan.is_plain();
            if near && i >= self.next {
                made.extend(self.usual(i)?);
            }
        }
        bar.finish_and_clear();
        self.measure(made, timed)?;
        Ok(found > 0)
    }

    /// Makes a candidate with the schedules that are timed.
    fn usual(&mut self, i: usize) -> Result<Vec<Queued>, Failure> {
        self.begun.push(i);
        let (usual, _) = self.chooser.schedules(self.target, &self.all[i].plan)?;
        self.make(i, usual, "usual")
    }

    /// Makes and compiles a candidate with each of some schedules. If none has a program, it
    /// returns nothing and says so in the trial.
    fn make(
        &mut self,
        i: usize,
        schedules: Vec<Schedule>,
        what: &str,
    ) -> Result<Vec<Queued>, Failure> {
        let mut made: Vec<Queued> = Vec::new();
        let mut why = None;
        for (number, schedule) in schedules.into_iter().enumerate() {
            let program = self.builder.program(self.target, &schedule, self.all[i].plan.clone());
            match program.and_then(|made| Ok((Builder::code(&made)?, made))) {
                Ok((code, _)) if made.iter().any(|other| other.tried.code == code.1) => {}
                // The compiler is the same for all: if it fails here, it fails.
                Ok((code, program)) => {
                    let file = format!("{i}-{what}-{number}");
                    let tried = self.builder.compile((program, schedule), &file, code)?;
                    made.push(Queued { trial: i, tried, measured: None, modelled: None });
                }
                Err(e) => why = why.or(Some(e.message)),
            }
        }
        let trial = &mut self.trials[i];
        if let (true, Some(why), true) = (made.is_empty(), why, trial.outcome.is_empty()) {
            trial.outcome = NO_PROGRAM.into();
            // The plan's and the target's names stand in the table.
            trial.reason = why.split_once("`: ").map(|(_, why)| why.to_owned()).unwrap_or(why);
        }
        Ok(made)
    }

    /// Times what was made side by side with the fastest in the queue, and puts all in order. One
    /// that crashes is left out.
    fn measure(&mut self, made: Vec<Queued>, timed_here: bool) -> Result<(), Failure> {
        if self.basis == Basis::Modelled {
            return self.reckon(made);
        }
        let alone = made.len() == 1 && self.queue.is_empty() && self.chooser.wisdom.is_none();
        self.queue.extend(made);
        if !timed_here || alone || self.queue.iter().all(|one| one.measured.is_some()) {
            return Ok(());
        }
        let (copies, samples) = QUICK;
        let settings = Settings { copies, samples, ..Settings::default() };
        let name = |(at, one): (usize, &Queued)| self.builder.candidate(at.to_string(), &one.tried);
        let all = self.queue.iter().enumerate().map(name).collect::<Result<Vec<_>, _>>()?;
        for (name, timing) in timed(self.chooser.ui, self.chooser.compiler, all, &settings)? {
            let Some(one) = name.parse().ok().and_then(|at: usize| self.queue.get_mut(at)) else {
                continue;
            };
            match timing {
                Ok(timing) => one.measured = Some(timing.measured(one.tried.bytes)),
                Err(why) => {
                    one.measured = None;
                    let trial = &mut self.trials[one.trial];
                    (trial.outcome, trial.reason) = ("crashes".into(), why);
                }
            }
        }
        self.queue.retain(|one| one.measured.is_some());
        let all: Vec<Measured> = self.queue.iter().filter_map(|one| one.measured).collect();
        let mut places = vec![0; all.len()];
        for (place, at) in order(&all).into_iter().enumerate() {
            places[at] = place;
        }
        let mut placed: Vec<(usize, Queued)> =
            places.into_iter().zip(self.queue.drain(..)).collect();
        placed.sort_by_key(|&(place, _)| Reverse(place));
        while let Some((_, one)) = placed.pop() {
            self.queue.push(one);
        }
        Ok(())
    }

    /// Counts what was made and puts all in order. One whose call fails is left out.
    fn reckon(&mut self, made: Vec<Queued>) -> Result<(), Failure> {
        for mut one in made {
            let bar = self.chooser.ui.spinner(&format!("counting {}", self.trials[one.trial].plan));
            let signature = &one.tried.made.entry(None)?.signature;
            let object = one.tried.object.as_path();
            let modelled = Modelled::of(self.chooser.compiler, &[object], signature);
            bar.finish_and_clear();
            match modelled {
                Ok(modelled) => {
                    one.modelled = modelled.map(|modelled| modelled.model_cycles);
                    self.queue.push(one);
                }
                Err(failure) => {
                    let trial = &mut self.trials[one.trial];
                    (trial.outcome, trial.reason) = ("not counted".into(), failure.message);
                }
            }
        }
        let cycles = |one: &Queued| one.modelled.unwrap_or(f64::INFINITY);
        self.queue.sort_by(|a, b| cycles(a).total_cmp(&cycles(b)));
        Ok(())
    }

    /// Tries plain C and the schoolbook product, with their easier schedules too, if nothing else was
    /// proved and they were not tried.
    fn last_resort(&mut self, timed: bool) -> Result<Option<Taken>, Failure> {
        for i in self.sure() {
            if self.begun.contains(&i) {
                continue;
            }
            let (mut usual, easier) = self.chooser.schedules(self.target, &self.all[i].plan)?;
            usual.extend(easier);
            let made = self.make(i, usual, "last")?;
            self.measure(made, timed)?;
            while !self.queue.is_empty() {
                let one = self.queue.remove(0);
                self.note(&one);
                if self.prove(&one, self.patience() * LAST)? {
                    return Ok(Some((i, one.tried)));
                }
            }
        }
        Ok(None)
    }

    /// Whether one is proved within a time, and so taken. Its trial says so, or why not.
    fn prove(&mut self, one: &Queued, limit: Duration) -> Result<bool, Failure> {
        if self.chooser.args.no_prove {
            let trial = &mut self.trials[one.trial];
            trial.taken = true;
            trial.outcome = "taken, not proved".into();
            return Ok(true);
        }
        let started = Instant::now();
        let proof = self.builder.prove(&one.tried, limit);
        let proved = proof.as_ref().is_ok_and(|proof| proof.report.is_proved());
        if !self.is_sure(one.trial) && !proved {
            self.spent += started.elapsed();
            self.unproved.push(self.kind(one.trial));
        }
        let trial = &mut self.trials[one.trial];
        match proof {
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
}
