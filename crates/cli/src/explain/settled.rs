//! What a plan was settled on, and why other settlements hold or do not.

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use ringforge_plan::Plan;
use ringforge_program::lower::{LowerError, verdicts};
use ringforge_program::schedule::Schedule;
use ringforge_program::settle::Verdict;

use crate::make::Made;
use crate::target::Target;
use crate::ui::{Failure, Ui};

/// Prints the schedule as it was settled.
pub fn say(ui: &Ui, made: &Made) {
    ui.say(format!("\nSchedule for target {}, as settled:", made.target.name));
    let lines = made.schedule.lines().filter(|line| !line.is_empty());
    lines.for_each(|line| ui.say(format!("  {line}")));
}

/// Prints all settlements that were possible.
///
/// # Errors
/// The plan has no program.
pub fn say_all(
    ui: &Ui,
    (plan, target): (&Plan, &Target),
    schedule: &Schedule,
) -> Result<(), Failure> {
    let all = verdicts(plan, schedule, target.machine)
        .map_err(|e| Failure::input(format!("plan `{}`: {e}", plan.name)))?;
    match all.is_empty() {
        true => ui.say("\nThe plan leaves no choice that ranges decide."),
        false => {
            ui.say("\nSettlements in their order, the first that holds is taken:");
            ui.say(table(&all).to_string());
        }
    }
    Ok(())
}

/// Prints why no settlement holds, if there are several reasons. A single one is the error that follows.
pub fn say_refused(ui: &Ui, (plan, target): (&Plan, &Target), schedule: &Schedule) {
    if let Err(LowerError::Unsettled { verdicts, .. }) = verdicts(plan, schedule, target.machine)
        && verdicts.windows(2).any(|pair| pair[0].refused != pair[1].refused)
    {
        ui.say("No settlement holds:");
        ui.say(table(&verdicts).to_string());
    }
}

fn table(all: &[Verdict]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    table.set_header(["modulo", "settlement", "holds"]);
    let mut taken = Vec::new();
    for Verdict { modulus, choices, refused } in all {
        let holds = match refused {
            Some(why) => format!("no: {why}"),
            None if taken.contains(modulus) => "yes".into(),
            None => {
                taken.push(*modulus);
                "yes; taken".into()
            }
        };
        table.add_row([modulus.to_string(), choices.clone(), holds]);
    }
    table
}
