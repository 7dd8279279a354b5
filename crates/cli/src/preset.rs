//! What a user names on the command line: rings, plans, presets.

use ringforge_plan::{CatalogError, Operand, Plan, PlanError, RingFile};
use ringforge_ring::{ParseError, Ring};

use crate::args::Subject;
use crate::ui::{Excerpt, Failure};

/// A ring with the plan that multiplies in it.
pub struct Job {
    /// The preset's or plan's name, a C identifier.
    pub name: String,
    /// Coefficients of the two operands.
    pub operands: [Operand; 2],
    /// The plan, checked.
    pub plan: Plan,
}

/// Finds ring and plan.
///
/// # Errors
/// A malformed ring or plan, a plan for another ring, a name that nothing has.
pub fn resolve(subject: &Subject) -> Result<Job, Failure> {
    let file = preset(&subject.ring)?;
    let ring = match &file {
        Some(file) => file.ring.clone(),
        None => Ring::parse(&subject.ring).map_err(|e| ring_failure(&subject.ring, e))?,
    };
    let plan = match (&subject.plan, &file) {
        (Some(plan), _) => named_plan(plan)?,
        (None, Some(file)) if file.plan.is_empty() => automatic(&ring, &file.name)?,
        (None, Some(file)) => named_plan(&file.plan)?,
        (None, None) => plan_for(&ring)?,
    };
    if plan.ring != ring {
        return Err(Failure::input(format!(
            "the plan `{}` multiplies in {}, not in {ring}",
            plan.name, plan.ring
        )));
    }
    let name = match &file {
        Some(file) => file.name.clone(),
        None => {
            plan.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
        }
    };
    let operands = file.map_or([Operand::Big; 2], |file| file.operands);
    Ok(Job { name, operands, plan })
}

/// The ring of a preset, a ring file or a text.
///
/// # Errors
/// It is none of them.
pub fn ring(text: &str) -> Result<Ring, Failure> {
    match preset(text)? {
        Some(file) => Ok(file.ring),
        None => Ring::parse(text).map_err(|e| ring_failure(text, e)),
    }
}

/// The preset or ring file that `text` names; nothing where it must be a ring.
fn preset(text: &str) -> Result<Option<RingFile>, Failure> {
    if RingFile::names().any(|name| name == text) {
        return RingFile::find(text).map(Some).map_err(catalog_failure);
    }
    if !text.ends_with(".toml") {
        return Ok(None);
    }
    let content = read(text)?;
    RingFile::parse(&content)
        .map(Some)
        .map_err(|error| text_failure("ring file", text, &content, error))
}

fn catalog_failure(error: CatalogError) -> Failure {
    Failure::input(error.to_string())
}

fn ring_failure(text: &str, error: ParseError) -> Failure {
    // A word without brackets was meant as a preset.
    if !text.contains('[')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    {
        let names: Vec<&str> = RingFile::names().collect();
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

/// A refused text of a file with its place.
fn text_failure(what: &str, origin: &str, text: &str, error: PlanError) -> Failure {
    Failure::at(
        format!("this {what} is refused: {}", error.message),
        Excerpt {
            name: origin.into(),
            text: text.into(),
            at: error.at,
            label: "here".into(),
            help: error.would_work.map(|hint| format!("would work: {hint}")),
        },
    )
}

fn named_plan(plan: &str) -> Result<Plan, Failure> {
    if Plan::names().any(|name| name == plan) {
        return Plan::find(plan).map_err(catalog_failure);
    }
    let text = std::fs::read_to_string(plan).map_err(|error| {
        let names: Vec<&str> = Plan::names().collect();
        Failure::input(format!(
            "`{plan}` is neither a plan of ringforge ({}) nor a readable file ({error})",
            names.join(", ")
        ))
    })?;
    Plan::parse(&text).map_err(|error| text_failure("plan", plan, &text, error))
}

fn plan_for(ring: &Ring) -> Result<Plan, Failure> {
    let plans = Plan::names().filter_map(|name| Plan::find(name).ok());
    // The shortest name is the preset's; longer ones are variants of it.
    let found = plans.filter(|plan| plan.ring == *ring).min_by_key(|plan| plan.name.len());
    found.map_or_else(|| automatic(ring, &format!("z{}_n{}", ring.q(), ring.degree())), Ok)
}

/// The plan that nobody wrote.
fn automatic(ring: &Ring, name: &str) -> Result<Plan, Failure> {
    Plan::automatic(ring, name)
        .map_err(|e| Failure::input(format!("{e}; or pass a plan with --plan FILE")))
}

/// Reads a file that the user named.
///
/// # Errors
/// It cannot be read as text.
pub fn read(path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|e| Failure::input(format!("cannot read `{path}`: {e}")))
}
