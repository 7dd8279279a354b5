//! Pictures of plans and programs, with their captions.

use ringforge_interpret::draw;
use ringforge_interpret::simulate::by_stage;
use ringforge_plan::Plan;
use ringforge_targets::Processor;

use crate::entry::Entry;
use crate::make::Made;
use crate::ui::Failure;

/// The plan's tree as SVG.
pub fn tree(plan: &Plan) -> String {
    draw::tree(
        &plan.tree(),
        &format!("Plan {}: how a product in {} is taken apart", plan.name, plan.ring),
    )
}

/// The butterflies of the plan's transforms as SVG; [`None`] if it has none that can be drawn.
pub fn butterflies(plan: &Plan) -> Option<String> {
    let caption = format!("The transforms of plan {} over {}", plan.name, plan.ring);
    draw::butterflies(plan, &caption)
}

/// Ranges by stage as SVG.
pub fn ranges(made: &Made, entry: &Entry) -> String {
    let caption = format!(
        "Ranges of {} by stage, target {}: proven for all inputs",
        entry.procedure, made.target.name
    );
    draw::ranges(&entry.ranges, &caption)
}

/// How busy each stage keeps the ports of a processor by simulation, as SVG.
///
/// # Errors
/// The program exports nothing: a fault of ringforge.
pub fn ports(made: &Made, entry: &Entry, processor: &Processor) -> Result<String, Failure> {
    let (simulated, stages) = by_stage(&entry.program, made.target.machine, processor)
        .map_err(|e| Failure::failed(format!("cannot simulate {}: {e}", entry.procedure)))?;
    let caption = format!(
        "Ports of {} by stage of {}, target {}: {} cycles, simulated",
        processor.name, entry.procedure, made.target.name, simulated.cycles
    );
    Ok(draw::ports_by_stage(&stages, processor, &caption))
}

/// Costs by stage as SVG.
pub fn counts(made: &Made, entry: &Entry) -> String {
    let caption = format!(
        "Operations of {} by stage, target {}, in registers of {} words",
        entry.procedure, made.target.name, entry.costs.lanes
    );
    draw::counts(&entry.costs, &caption)
}
