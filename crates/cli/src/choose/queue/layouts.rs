//! The fastest candidate once more, with other layouts of its blocks and other registers. What a schedule settles only
//! by ranges, or by what blocks fill, is measured too.

use ringforge_program::schedule::{Layout, Schedule};
use ringforge_targets::Target;

use super::super::untried;
use super::{Queued, Search};
use crate::trial::Builder;
use crate::ui::Failure;

/// A schedule with each layout of blocks and with each of the target's registers, but for what the user chose; and what
/// it says.
pub fn others(schedule: &Schedule, target: &Target) -> Vec<(Schedule, String)> {
    let all = [Layout::Registers, Layout::Packed, Layout::Apart];
    let layouts = all.into_iter().map(|layout| ("layout", schedule.stating(layout)));
    let widths = target.widths().filter(|_| target.has_widths());
    let widths = widths.map(|width| ("lanes", schedule.with_lanes(width.lanes(16) as u32)));
    let free = layouts.chain(widths).filter(|(key, _)| schedule.value(key).is_none());
    let text = |(key, other): (&str, Schedule)| {
        let value = other.value(key).map_or(String::new(), |value| value.to_string());
        (other, format!("{key} = {value}"))
    };
    free.map(text).collect()
}

impl Search<'_> {
    /// Makes the fastest candidate in the queue with every other layout and the other registers that
    /// its plan has, and measures them together.
    pub(super) fn layouts(&mut self) -> Result<(), Failure> {
        let Some(best) = self.queue.first() else { return Ok(()) };
        let (plan, usual) = (best.tried.made.plan.clone(), best.tried.schedule.clone());
        let first = best.trial;
        // A package of transforms, plain C and schoolbook products have no blocks, and transforms registers alone.
        let transforms = self.whole && first == 0;
        if transforms && !self.target.has_widths() || self.is_sure(first) {
            return Ok(());
        }
        let mut all = Vec::new();
        for (schedule, said) in others(&usual, self.target) {
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
            let mut candidate = self.all[first].clone();
            candidate.why = format!("{}; {said}", candidate.why);
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

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_targets::{AVX2, AVX512};

    #[test]
    fn registers_of_other_widths_are_candidates_where_there_are_such() {
        let said = |target: &Target, text: &str| -> Vec<String> {
            let schedule = Schedule::parse_for(text, target).expect(text);
            others(&schedule, target).into_iter().map(|(_, said)| said).collect()
        };
        let layouts = ["layout = \"registers\"", "layout = \"packed\"", "layout = \"apart\""];
        assert_eq!(said(&AVX2, ""), layouts);
        assert_eq!(said(&AVX512, "layout = 'apart'"), ["lanes = 32", "lanes = 16"]);
        assert_eq!(said(&AVX512, "lanes = 16"), layouts);
    }
}
