//! The plans that apply to a ring nobody named a plan for.

use ringforge_plan::Plan;

use crate::preset::{Wanted, for_operands};
use crate::ui::Failure;

/// A plan that applies.
pub struct Candidate {
    /// The plan, for the operands that are wanted.
    pub plan: Plan,
    /// Why it is worth a look.
    pub why: String,
    /// Its modelled cost, where there is a model.
    pub cost: Option<f64>,
}

/// The plans that apply, the cheapest by model first; at least one.
///
/// # Errors
/// None applies: the message says what would.
pub fn candidates(wanted: &Wanted) -> Result<Vec<Candidate>, Failure> {
    let Wanted { name, ring, operands, .. } = wanted;
    let mut all: Vec<Candidate> = Plan::names()
        .filter_map(|name| Plan::find(name).ok())
        .filter(|plan| plan.ring == *ring)
        .filter_map(|plan| for_operands(&plan, *operands).ok())
        .map(|plan| Candidate { plan, why: "comes with ringforge".into(), cost: None })
        .collect();
    // The shortest name is the ring's own; longer ones are variants of it.
    all.sort_by_key(|candidate| candidate.plan.name.len());
    match Plan::automatic(ring, name) {
        Ok(plan) if all.iter().all(|known| known.plan.root.to_form() != plan.root.to_form()) => {
            let plan = for_operands(&plan, *operands)?;
            all.push(Candidate { plan, why: "what q's roots allow".into(), cost: None });
        }
        Err(why) if all.is_empty() => {
            return Err(Failure::input(format!("{why}; or pass a plan with --plan FILE")));
        }
        _ => {}
    }
    Ok(all)
}
