//! The schoolbook product. For moduli that have no program of their own for it, it computes over the
//! integers through primes of words of 32 bits. It is right for every ring, and only plans that say
//! `(schoolbook)` use it.

use super::{LowerError, Lowered, general, unsupported};
use crate::settle::Choices;
use ringforge_plan::{Domain, Form, Plan, Stages, build_product};
use ringforge_ring::zq;
use ringforge_targets::Target;

/// Primes below leave room for sums in words of 32 bits.
const LARGEST: u64 = 1 << 28;

/// Lowers the plan's product, by another tree if its own has no program.
pub(crate) fn lower(
    plan: &Plan,
    schedule: &Choices,
    (target, survey): (&Target, bool),
    name: &str,
) -> Result<Lowered, LowerError> {
    if general::multiplies(general::below(plan).1, plan.ring.q()) {
        return general::lower(plan, schedule, (target, survey), name);
    }
    let domain = Domain::of_operands(&plan.ring, plan.operands);
    let length = domain.product_length();
    let tree = |inner: &str| {
        let form = Form::parse(&format!("(lift {length} {inner})"));
        form.and_then(|form| build_product(&form, &domain))
    };
    let refuse = |why: String| unsupported(plan.root.to_form(), why, "a modulus below 2^31");
    let plain = tree("(schoolbook)").map_err(|e| refuse(e.message))?;
    let q = plan.ring.q();
    let root = if q <= 1 << 16 && !q.is_power_of_two() {
        plain
    } else {
        let inner = match plain.stages() {
            Stages::Remainder(lift) => lift.inner.domain(),
            _ => plain.domain(),
        };
        let bound = inner.bounds.iter().fold(plan.ring.degree() as u128, |b, &c| b * u128::from(c));
        let parts: Vec<String> = primes(bound)
            .ok_or_else(|| refuse(format!("coefficients over the integers reach {bound}")))?
            .iter()
            .map(|p| format!("(prime {p} (schoolbook))"))
            .collect();
        tree(&format!("(change-modulus {})", parts.join(" "))).map_err(|e| refuse(e.message))?
    };
    let text = root.to_form().to_string();
    let mut lowered =
        general::lower(&Plan { root, ..plan.clone() }, schedule, (target, survey), name)?;
    lowered.notes.push(format!(
        "{} is executed as {text}, the product by its definition modulo {q}",
        plan.root.to_form()
    ));
    lowered.program.plan = plan.to_string();
    Ok(lowered)
}

/// As few primes as can be, alike in size, with a product above 2·bound.
fn primes(bound: u128) -> Option<Vec<u64>> {
    let root = |count: u32| ((2 * bound) as f64).powf(1.0 / f64::from(count)) as u64 + 1;
    let count = (1..=4).find(|&count| root(count) < LARGEST)?;
    let from = root(count).max(1 << 16) | 1;
    Some((from..).step_by(2).filter(|&p| zq::is_prime(p)).take(count as usize).collect())
}
