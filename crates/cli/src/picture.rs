//! Pictures of plans and programs, with their captions.

use ringforge_interpret::draw;
use ringforge_plan::Plan;

use crate::make::Made;

/// The plan's tree as SVG.
pub fn tree(plan: &Plan) -> String {
    draw::tree(
        &plan.tree(),
        &format!("Plan {}: how a product in {} is taken apart", plan.name, plan.ring),
    )
}

/// Ranges by stage as SVG.
pub fn ranges(made: &Made) -> String {
    let caption = format!("Ranges by stage, target {}: proven for all inputs", made.target.name);
    draw::ranges(&made.ranges, &caption)
}

/// Costs by stage as SVG.
pub fn counts(made: &Made) -> String {
    let caption = format!(
        "Operations by stage, target {}, in registers of {} words",
        made.target.name, made.costs.lanes
    );
    draw::counts(&made.costs, &caption)
}
