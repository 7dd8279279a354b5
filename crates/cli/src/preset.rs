//! What a user names on the command line: rings, plans, presets.

use std::path::Path;

use ringforge_plan::{Plan, PlanError};
use ringforge_ring::{ParseError, Ring};

use crate::args::Subject;
use crate::ui::{Excerpt, Failure};

/// Plans that come with ringforge: (name, text) of every file in `plans/`.
pub const PLANS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/plans.rs"));

/// A ring with the plan that multiplies in it.
pub struct Job {
    /// The preset's or plan's name.
    pub name: String,
    /// The plan, checked.
    pub plan: Plan,
    /// Its text as written.
    pub text: String,
}

/// Finds ring and plan.
///
/// # Errors
/// A malformed ring or plan, a plan for another ring, a name that nothing has.
pub fn resolve(subject: &Subject) -> Result<Job, Failure> {
    let preset = PLANS.iter().find(|(name, _)| *name == subject.ring);
    let ring = match preset {
        Some(_) => None,
        None => Some(Ring::parse(&subject.ring).map_err(|e| ring_failure(&subject.ring, e))?),
    };
    let (origin, text) = match (&subject.plan, preset, &ring) {
        (Some(plan), _, _) => plan_text(plan)?,
        (None, Some((name, text)), _) => (format!("plans/{name}.plan"), text.to_string()),
        (None, None, Some(ring)) => plan_for(ring)?,
        (None, None, None) => return Err(Failure::input("no ring is given")),
    };
    let plan = Plan::parse(&text).map_err(|e| plan_failure(&origin, &text, e))?;
    // With --plan, a preset stands for the ring of its own plan.
    let wanted = match (ring, preset) {
        (Some(ring), _) => Some(ring),
        (None, Some((_, text))) if subject.plan.is_some() => Plan::parse(text).ok().map(|p| p.ring),
        _ => None,
    };
    if let Some(wanted) = wanted
        && wanted != plan.ring
    {
        return Err(Failure::input(format!(
            "the plan `{}` multiplies in {}, not in {wanted}",
            plan.name, plan.ring
        )));
    }
    let name = preset.map_or_else(|| plan.name.clone(), |(name, _)| name.to_string());
    Ok(Job { name, plan, text })
}

fn ring_failure(text: &str, error: ParseError) -> Failure {
    // A word without brackets was meant as a preset.
    if !text.contains('[')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    {
        let names: Vec<&str> = PLANS.iter().map(|(name, _)| *name).collect();
        return Failure::input(format!(
            "`{text}` is neither a preset ({}) nor a ring such as `Z4591[x]/(x^761 - x - 1)`",
            names.join(", ")
        ));
    }
    let label = format!("expected {}", error.expected);
    Failure::at(
        "this is not a ring",
        Excerpt {
            name: "ring".into(),
            text: error.text,
            at: error.at,
            label,
            help: Some("a ring looks like `Z4591[x]/(x^761 - x - 1)`".into()),
        },
    )
}

/// A refused plan with its place.
pub fn plan_failure(origin: &str, text: &str, error: PlanError) -> Failure {
    Failure::at(
        format!("this plan is refused: {}", error.message),
        Excerpt {
            name: origin.into(),
            text: text.into(),
            at: error.at,
            label: "here".into(),
            help: error.would_work.map(|hint| format!("would work: {hint}")),
        },
    )
}

fn plan_text(plan: &str) -> Result<(String, String), Failure> {
    if let Some((name, text)) = PLANS.iter().find(|(name, _)| *name == plan) {
        return Ok((format!("plans/{name}.plan"), text.to_string()));
    }
    match std::fs::read_to_string(Path::new(plan)) {
        Ok(text) => Ok((plan.into(), text)),
        Err(error) => {
            let names: Vec<&str> = PLANS.iter().map(|(name, _)| *name).collect();
            Err(Failure::input(format!(
                "`{plan}` is neither a plan of ringforge ({}) nor a readable file ({error})",
                names.join(", ")
            )))
        }
    }
}

fn plan_for(ring: &Ring) -> Result<(String, String), Failure> {
    let fits = |text: &str| Plan::parse(text).is_ok_and(|plan| plan.ring == *ring);
    // The shortest name is the preset; longer ones are variants of it.
    let found = PLANS.iter().filter(|(_, text)| fits(text)).min_by_key(|(name, _)| name.len());
    match found {
        Some((name, text)) => Ok((format!("plans/{name}.plan"), text.to_string())),
        None => Err(Failure::input(format!(
            "no plan for {ring} comes with ringforge; write one and pass it with --plan FILE"
        ))),
    }
}
