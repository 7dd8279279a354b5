//! What a user names on the command line: rings, plans, presets.

use ringforge_plan::{
    Candidate, CatalogError, NoPlan, Operand, Plan, PlanError, RingFile, candidates,
};
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_ring::{ParseError, Ring};
use ringforge_targets::Target;

use crate::args::Subject;
use crate::ui::{self, Excerpt, Failure};

/// A ring with the plan that multiplies in it.
pub struct Job {
    /// The preset's or plan's name, a C identifier.
    pub name: String,
    /// Coefficients of the two operands.
    pub operands: [Operand; 2],
    /// The plan, checked, for these operands.
    pub plan: Plan,
}

/// What is to be multiplied, and by which plan if somebody named one.
pub struct Wanted {
    /// The preset's or plan's name, a C identifier.
    pub name: String,
    /// The ring.
    pub ring: Ring,
    /// Coefficients of the two operands.
    pub operands: [Operand; 2],
    /// The plan that the user or the ring file names, checked, for these operands.
    pub plan: Option<Plan>,
}

impl Wanted {
    /// This with a plan.
    pub fn with(&self, plan: Plan) -> Job {
        Job { name: self.name.clone(), operands: plan.operands, plan }
    }
}

/// Finds ring, operands, and the plan if one is named.
///
/// # Errors
/// A malformed ring or plan, a plan for another ring or for narrower operands, operands wider than
/// the modulus, a name that nothing has.
pub fn wanted(subject: &Subject) -> Result<Wanted, Failure> {
    let file = preset(&subject.ring)?;
    let ring = match &file {
        Some(file) => file.ring.clone(),
        None => Ring::parse(&subject.ring).map_err(|e| ring_failure(&subject.ring, e))?,
    };
    let q = ring.q();
    for (option, operand) in [("--lhs", subject.lhs), ("--rhs", subject.rhs)] {
        if let Some(why) = operand.and_then(|operand| operand.too_wide(q)) {
            return Err(Failure::input(format!("{option}: {why}; would work: big")));
        }
    }
    let named = match (&subject.plan, &file) {
        (Some(plan), _) => Some(named_plan(plan, &ring)?),
        (None, Some(file)) if !file.plan.is_empty() => Some(named_plan(&file.plan, &ring)?),
        _ => None,
    };
    if let Some(plan) = named.as_ref().filter(|plan| plan.ring != ring) {
        return Err(Failure::input(format!(
            "the plan `{}` multiplies in {}, not in {ring}",
            plan.name, plan.ring
        )));
    }
    // What the command line leaves open is the preset's, unless it names a plan for narrower operands.
    let usual = file.as_ref().map_or([Operand::Big; 2], |file| file.operands);
    let open = match &named {
        Some(plan) if subject.plan.is_some() && !plan.covers(usual) => plan.operands,
        _ => usual,
    };
    let operands = [subject.lhs.unwrap_or(open[0]), subject.rhs.unwrap_or(open[1])];
    let plan = named.map(|plan| for_operands(&plan, operands)).transpose()?;
    let c_name = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
    };
    let name = match (&file, &plan) {
        (Some(file), _) => file.name.clone(),
        (None, Some(plan)) => c_name(&plan.name),
        (None, None) => format!("z{q}_n{}", ring.degree()),
    };
    Ok(Wanted { name, ring, operands, plan })
}

/// A plan that a list of plans names, checked against the ring and the operands.
///
/// # Errors
/// There is none of that name, or it is for another ring or narrower operands.
pub fn listed_plan(name: &str, wanted: &Wanted) -> Result<Plan, Failure> {
    let plan = named_plan(name, &wanted.ring)?;
    if plan.ring != wanted.ring {
        let ring = &wanted.ring;
        let there = plans_of(ring);
        return Err(Failure::input(format!(
            "the plan `{name}` multiplies in {}, not in {ring}; for that there are {}",
            plan.ring,
            if there.is_empty() { "none with a name".into() } else { there.join(", ") }
        )));
    }
    if plan.covers(wanted.operands) { Ok(plan) } else { for_operands(&plan, wanted.operands) }
}

/// Finds ring, operands and plan without measuring anything. The plan is the one that the user
/// named, if any: also a candidate of the ring, by the name that `forge` prints for this target. Otherwise it is one that comes with ringforge: the one called as the ring is, or
/// the cheapest by the target's model. If there is none, it is the cheapest candidate that the target can run.
///
/// # Errors
/// As [`wanted`], or no plan applies.
pub fn resolve(subject: &Subject, target: &Target) -> Result<Job, Failure> {
    if let Some(named) = &subject.plan
        && !Plan::names().any(|name| name == named)
        && !std::path::Path::new(named).exists()
    {
        let wanted = wanted(&Subject { plan: None, ..subject.clone() })?;
        if let Some(found) = all(&wanted, target)?.into_iter().find(|c| c.plan.name == *named) {
            return Ok(wanted.with(found.plan));
        }
    }
    let mut wanted = wanted(subject)?;
    let plan = match wanted.plan.take() {
        Some(plan) => plan,
        None => usual(&wanted, target)?,
    };
    Ok(wanted.with(plan))
}

fn usual(wanted: &Wanted, target: &Target) -> Result<Plan, Failure> {
    let Wanted { name, ring, operands, .. } = wanted;
    let rank = |plan: &Plan| (plan.name != *name, plan.slots(target));
    let presets = Plan::names()
        .filter_map(|name| Plan::find(name).ok())
        .filter(|plan| plan.ring == *ring && plan.covers(*operands));
    let best = presets.min_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    match best {
        Some(plan) => for_operands(&plan, *operands),
        None => {
            let found: Vec<Plan> = all(wanted, target)?.into_iter().map(|c| c.plan).collect();
            let runs =
                |plan: &&Plan| lower(plan, &Schedule::of(target), target, &wanted.name).is_ok();
            let cheapest = found.iter().find(runs).or(found.first()).cloned();
            cheapest.ok_or_else(|| Failure::failed(format!("no plan for {ring}")))
        }
    }
}

/// All plans that apply, each with a name of its own. A plan is for any operands where it can be,
/// as that costs nothing and says more; otherwise it is for those that are wanted. The schoolbook
/// product is always for the wanted operands, because its sums are then shorter.
///
/// # Errors
/// None applies.
pub fn all(wanted: &Wanted, target: &Target) -> Result<Vec<Candidate>, Failure> {
    let Wanted { name, ring, operands, .. } = wanted;
    let mut found = candidates(ring, *operands, name, target).map_err(no_plan)?;
    let mut made = 0;
    for candidate in &mut found {
        let plan = match candidate.plan.with_operands([Operand::Big; 2]) {
            Ok(plan) if !candidate.is_definition() && !candidate.plan.is_plain() => plan,
            _ => for_operands(&candidate.plan, *operands)?,
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

/// A ring that nothing is known for.
pub fn no_plan(error: NoPlan) -> Failure {
    Failure::input(format!("{error}; pass one with --plan FILE"))
}

/// A plan for the given operands; every condition is checked again.
///
/// # Errors
/// The plan is not right for them.
pub fn for_operands(plan: &Plan, operands: [Operand; 2]) -> Result<Plan, Failure> {
    if plan.operands == operands {
        return Ok(plan.clone());
    }
    let text = Plan { operands, ..plan.clone() }.to_string();
    Plan::parse(&text).map_err(|error| text_failure("plan", &plan.name, &text, error))
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
            "{}; a ring looks like `Z4591[x]/(x^761 - x - 1)`",
            ui::unknown("preset", text, &names)
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

/// The plans that come with ringforge for a ring.
fn plans_of(ring: &Ring) -> Vec<&'static str> {
    Plan::names().filter(|name| Plan::find(name).is_ok_and(|plan| plan.ring == *ring)).collect()
}

/// The plan of that name or in that file. If there is none, the message names those of `ring`.
fn named_plan(plan: &str, ring: &Ring) -> Result<Plan, Failure> {
    if Plan::names().any(|name| name == plan) {
        return Plan::find(plan).map_err(catalog_failure);
    }
    let text = std::fs::read_to_string(plan).map_err(|error| {
        let names = plans_of(ring);
        Failure::input(format!(
            "{}, for {ring}; nor can it be read as a file: {error}",
            ui::unknown("plan", plan, &names)
        ))
    })?;
    Plan::parse(&text).map_err(|error| text_failure("plan", plan, &text, error))
}

/// Reads a file that the user named.
///
/// # Errors
/// It cannot be read as text.
pub fn read(path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|e| Failure::input(format!("cannot read `{path}`: {e}")))
}
