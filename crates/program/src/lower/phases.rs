//! Transforms as phases: the steps of the plan's transform, named after the part they belong to.

use super::network::Phase;
use crate::cut::scaled;
use ringforge_plan::{Group, Step, Substitute};

fn phase(tag: &str, direction: &str, step: Step) -> Phase {
    let Step { title, cite, name, groups } = step;
    let stage = match name {
        "" => format!("{tag}.{direction}"),
        _ => format!("{tag}.{direction}.{name}"),
    };
    Phase { title: format!("{tag} part: {title}"), cite, stage, groups }
}

/// The forward transform in phases: from blocks of the operand to cells.
pub(crate) fn forward_phases(tag: &str, part: &Substitute) -> Vec<Phase> {
    let steps = part.transform.forward_steps(&part.present());
    steps.into_iter().map(|step| phase(tag, "forward", step)).collect()
}

/// The inverse in phases, times `factor`: from cells to blocks of the product (`to` of the last).
pub(crate) fn inverse_phases(tag: &str, part: &Substitute, factor: u64) -> Vec<Phase> {
    let mut steps = part.transform.inverse_steps(&part.wanted());
    // Every value passes through the first step once.
    if let Some(first) = steps.first_mut() {
        for group in &mut first.groups {
            let (net, outputs) = scaled(&group.net, &group.outputs, factor);
            *group = Group { net, outputs, ..group.clone() };
        }
    }
    steps.into_iter().map(|step| phase(tag, "inverse", step)).collect()
}
