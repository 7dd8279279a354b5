//! Pictures of plans and programs: which of `interpret`'s drawings stand where.

use ringforge_interpret::count::Costs;
use ringforge_interpret::range::Ranges;
use ringforge_plan::Plan;

/// The plan's tree as SVG.
pub fn tree(plan: &Plan) -> String {
    let _ = plan;
    String::new()
}

/// Ranges by stage as SVG.
pub fn ranges(ranges: &Ranges) -> String {
    let _ = ranges;
    String::new()
}

/// Costs by stage as SVG.
pub fn counts(costs: &Costs) -> String {
    let _ = costs;
    String::new()
}
