//! What else a search would have tried, if a plan of the user's own stays unproved.

use ringforge_plan::Plan;

use crate::target::Target;
use crate::trial::Builder;
use crate::ui::Failure;

/// What to do about a plan that is not proved with its own schedule; nothing if a search would try
/// no other.
///
/// # Errors
/// A saved schedule is malformed: a fault of ringforge.
pub fn hint(target: &Target, plan: &Plan) -> Result<Option<String>, Failure> {
    let [used, others @ ..] = &Builder::schedules(target, plan)?[..] else {
        return Ok(None);
    };
    let other = others.iter().map(|other| other.reduce).find(|reduce| *reduce != used.reduce);
    // As a schedule writes it.
    let word =
        |reduce| serde_json::to_value(reduce).ok().and_then(|v| Some(v.as_str()?.to_owned()));
    Ok(other.and_then(word).map(|reduce| {
        format!(
            "for {0} this plan is not proved with its schedule; a search would try the line `reduce = \"{reduce}\"` as \
             well: write it to a file and add `--target {0} --schedule FILE` (docs/schedules.md)",
            target.name
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_program::schedule::Schedule;

    #[test]
    fn the_line_is_one_that_a_schedule_takes() {
        for name in ["avx2", "c"] {
            let target = crate::target::find(name).expect("a target");
            let plan = Plan::find("sntrup761").expect("a plan");
            let used = crate::make::schedule(None, target, &plan.name).expect("well-formed");
            let said = hint(target, &plan).expect("well-formed").expect("another");
            let line = said.split('`').nth(1).expect("a line");
            let read = Schedule::parse_for(line, target.machine).expect("a schedule");
            assert_ne!(read.reduce, used.reduce, "{said}");
        }
    }
}
