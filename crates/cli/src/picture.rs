//! Pictures of plans and programs, with their captions.

use ringforge_interpret::draw;
use ringforge_plan::Plan;

use crate::entry::Entry;
use crate::make::Made;

/// The plan's tree as SVG.
pub fn tree(plan: &Plan) -> String {
    draw::tree(
        &plan.tree(),
        &format!("Plan {}: how a product in {} is taken apart", plan.name, plan.ring),
    )
}

/// Ranges by stage as SVG.
pub fn ranges(made: &Made, entry: &Entry) -> String {
    let caption = format!(
        "Ranges of {} by stage, target {}: proven for all inputs",
        entry.procedure, made.target.name
    );
    draw::ranges(&entry.ranges, &caption)
}

/// Costs by stage as SVG.
pub fn counts(made: &Made, entry: &Entry) -> String {
    let caption = format!(
        "Operations of {} by stage, target {}, in registers of {} words",
        entry.procedure, made.target.name, entry.costs.lanes
    );
    draw::counts(&entry.costs, &caption)
}
