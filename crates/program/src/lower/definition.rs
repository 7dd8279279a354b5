//! The schoolbook product: by exact sums or as one block where its modulus has such, else as plain C. Only plans that say
//! `(schoolbook)` use it.

use super::{LowerError, Lowered, general, plain, unsupported};
use crate::settle::Choices;
use ringforge_plan::{Domain, Form, Plain, Plan, Stages, build_product};
use ringforge_targets::Target;

/// Lowers the plan's product, by another tree if its own has no program.
pub(crate) fn lower(
    plan: &Plan,
    schedule: &Choices,
    (target, survey): (&Target, bool),
    name: &str,
) -> Result<Lowered, LowerError> {
    let q = plan.ring.q();
    if general::multiplies(general::below(plan).1, q) {
        return general::lower(plan, schedule, (target, survey), name);
    }
    let domain = Domain::of_operands(&plan.ring, plan.operands);
    let tree = match Plain::suits_quotient(&plan.ring) {
        _ if q <= 1 << 16 => format!("(lift {} (schoolbook))", domain.product_length()),
        true => "(plain quotient)".into(),
        false => "(plain)".into(),
    };
    let root = Form::parse(&tree).and_then(|form| build_product(&form, &domain));
    let root = root.map_err(|e| unsupported(plan.root.to_form(), e.message, "(plain)"))?;
    let other = Plan { root, ..plan.clone() };
    let mut lowered = match other.root.stages() {
        Stages::Loops(node) => plain::lower(&other, node, schedule, name),
        _ => general::lower(&other, schedule, (target, survey), name),
    }?;
    lowered.notes.push(format!(
        "{} is executed as {tree}, the product by its definition modulo {q}",
        plan.root.to_form()
    ));
    lowered.program.plan = plan.to_string();
    Ok(lowered)
}
