//! The fastest candidate once more, with other layouts of its blocks. What a schedule settles only
//! by ranges is measured too.

use ringforge_program::schedule::{Layout, Schedule};

use super::super::untried;
use super::{Queued, Search};
use crate::trial::Builder;
use crate::ui::Failure;

/// A schedule with each layout of blocks; none if the user chose one.
pub fn others(schedule: &Schedule) -> Vec<Schedule> {
    let all = [Layout::Registers, Layout::Packed, Layout::Apart];
    let free = schedule.layout.is_none();
    all.into_iter().filter(|_| free).map(|layout| schedule.stating(layout)).collect()
}

impl Search<'_> {
    /// Makes the fastest candidate in the queue with every other layout that its plan has, and
    /// measures them together.
    pub(super) fn layouts(&mut self) -> Result<(), Failure> {
        let Some(best) = self.queue.first() else { return Ok(()) };
        let (plan, usual) = (best.tried.made.plan.clone(), best.tried.schedule.clone());
        let first = best.trial;
        // A package of transforms, plain C and schoolbook products have no blocks.
        if self.whole && first == 0 || self.is_sure(first) {
            return Ok(());
        }
        let mut all = Vec::new();
        for schedule in others(&usual) {
            // What does not hold is no candidate: the program says why.
            let Ok(made) = self.builder.program(self.target, &schedule, plan.clone()) else {
                continue;
            };
            let code = Builder::code(&made)?;
            let known = self.queue.iter().chain(&all).any(|other| other.tried.code == code.1);
            if known {
                continue;
            }
            let trial = self.all.len();
            let layout = schedule.value("layout").map_or(String::new(), |value| value.to_string());
            let mut candidate = self.all[first].clone();
            candidate.why = format!("{}; layout = {layout}", candidate.why);
            self.trials.push(untried(&candidate));
            self.all.push(candidate);
            self.begun.push(trial);
            self.easier.push(trial);
            let tried = self.builder.compile((made, schedule), &format!("{trial}-layout"), code)?;
            all.push(Queued { trial, tried, measured: None, modelled: None });
        }
        match all.is_empty() {
            true => Ok(()),
            false => self.measure(all, true),
        }
    }
}
