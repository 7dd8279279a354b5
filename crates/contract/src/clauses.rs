//! The clauses of a contract that say what is computed: kind, scale, transform, roles.

use crate::computes::{Computes, Transform};
use crate::contract::{Argument, Role, Text};
use ringforge_ring::Ring;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransformText {
    degree: Spanned<usize>,
    weights: Spanned<Vec<Spanned<i64>>>,
    order: Option<Spanned<Vec<Spanned<usize>>>>,
}

/// A message and the byte offset that it is about.
pub(crate) type At = (usize, String);

/// Refuses kinds that are no function of a ring.
pub(crate) fn known(kind: &Spanned<String>) -> Result<(), At> {
    let name = kind.as_ref().as_str();
    if Computes::WITHOUT_RING.contains(&name) {
        let m = format!(
            "`computes = {name:?}`: such a function has no ring, and `prove` alone reads its contract"
        );
        return Err((kind.span().start, m));
    }
    if !Computes::NAMES.contains(&name) {
        return Err((kind.span().start, unknown(name)));
    }
    Ok(())
}

fn unknown(name: &str) -> String {
    let known = Computes::NAMES.iter().chain(&Computes::WITHOUT_RING).map(|n| format!("{n:?}"));
    format!("`computes = {name:?}`: known are {}", known.collect::<Vec<_>>().join(", "))
}

/// The kind and its scale.
pub(crate) fn computes(text: &Text, q: u64) -> Result<Computes, At> {
    let name = text.computes.as_ref();
    let scale = text.scale.as_ref().map_or(1, |s| *s.as_ref());
    let kind = Computes::named(name, scale.rem_euclid(q as i64) as u64);
    let kind = kind.ok_or_else(|| (text.computes.span().start, unknown(name)))?;
    if let Some(s) = &text.scale {
        if kind.scale().is_none() {
            return Err((s.span().start, format!("{name:?} has no `scale`: leave it out")));
        }
        if !(1..q as i64).contains(&scale) {
            return Err((
                s.span().start,
                format!("scale = {scale}: a residue from 1 to {} is expected", q - 1),
            ));
        }
    }
    Ok(kind)
}

/// How many base products are summed.
pub(crate) fn pairs(text: &Text, kind: Computes) -> Result<usize, At> {
    let Some(pairs) = &text.pairs else { return Ok(1) };
    let (start, value) = (pairs.span().start, *pairs.as_ref());
    if !matches!(kind, Computes::BaseProduct { .. } | Computes::Accumulate { .. }) {
        let m = format!("{:?} has no `pairs`: leave it out", kind.name());
        return Err((start, m));
    }
    if !(1..=64).contains(&value) {
        return Err((start, format!("pairs = {value}: a number from 1 to 64 is expected")));
    }
    Ok(value)
}

/// How many elements of the ring each array holds.
pub(crate) fn batch(text: &Text, pairs: usize) -> Result<usize, At> {
    let Some(batch) = &text.batch else { return Ok(1) };
    let (start, value) = (batch.span().start, *batch.as_ref());
    if !(1..=64).contains(&value) {
        return Err((start, format!("batch = {value}: a number from 1 to 64 is expected")));
    }
    if value > 1 && pairs > 1 {
        let m = "`pairs` and `batch` together leave the order of elements open: keep one of them";
        return Err((start, m.into()));
    }
    Ok(value)
}

/// The layout of transformed elements, where `kind` has one.
pub(crate) fn transform(text: &Text, kind: Computes, ring: &Ring) -> Result<Option<Transform>, At> {
    let (n, q) = (ring.degree(), ring.q());
    let name = kind.name();
    let t = match (&text.transform, kind.transforms()) {
        (None, false) => return Ok(None),
        (Some(t), false) => {
            let m = format!(
                "a {name} takes no [transform]: its operands are the ring's elements in the standard order"
            );
            return Err((t.span().start, m));
        }
        (None, true) => {
            let m = format!("{name:?} needs a table [transform] with `degree` and `weights`");
            return Err((text.computes.span().start, m));
        }
        (Some(t), true) => t.as_ref(),
    };
    let d = *t.degree.as_ref();
    if d == 0 || !n.is_multiple_of(d) {
        let m = format!("degree = {d}: a divisor of the ring's degree {n} is expected");
        return Err((t.degree.span().start, m));
    }
    let listed = t.weights.as_ref();
    if listed.len() != n / d {
        let m = format!(
            "`weights` has length {}: a ring of degree {n} has {} leaves of degree {d}",
            listed.len(),
            n / d
        );
        return Err((t.weights.span().start, m));
    }
    let mut weights = Vec::with_capacity(listed.len());
    for w in listed {
        let value = *w.as_ref();
        if !(0..q as i64).contains(&value) {
            let m = format!("the weight {value}: a residue from 0 to {} is expected", q - 1);
            return Err((w.span().start, m));
        }
        weights.push(value as u64);
    }
    let mut order: Vec<usize> = (0..n).collect();
    if let Some(given) = &t.order {
        if given.as_ref().len() != n {
            let m = format!("`order` has {} entries, {n} are expected", given.as_ref().len());
            return Err((given.span().start, m));
        }
        let mut seen = vec![false; n];
        for (slot, entry) in order.iter_mut().zip(given.as_ref()) {
            let value = *entry.as_ref();
            let at = entry.span().start;
            match seen.get_mut(value) {
                None => {
                    let m = format!("`order` holds {value}: each number from 0 to {} once", n - 1);
                    return Err((at, m));
                }
                Some(true) => return Err((at, format!("`order` holds {value} twice"))),
                Some(seen) => *seen = true,
            }
            *slot = value;
        }
    }
    let transform = Transform { degree: d, weights, order };
    transform.check(ring).map_err(|m| (t.weights.span().start, m))?;
    Ok(Some(transform))
}

/// Checks that the arguments are those of `kind`.
pub(crate) fn roles(arguments: &[Argument], starts: &[usize], kind: Computes) -> Result<(), At> {
    let count = |role: Role| arguments.iter().filter(|a| a.role == role).count();
    let (outputs, inputs, inouts) = (count(Role::Output), count(Role::Input), count(Role::InOut));
    let first = starts.first().copied().unwrap_or(0);
    let what = match kind {
        Computes::Product => "a product".to_string(),
        Computes::Accumulate { .. } => "an accumulation".to_string(),
        Computes::BaseProduct { .. } => "a base product".to_string(),
        _ => format!("{:?}", kind.name()),
    };
    let number = |n: usize, role: &str| match n {
        1 => format!("one {role}"),
        2 => format!("two {role}s"),
        n => format!("{n} {role}s"),
    };
    if kind.accumulates() {
        if (outputs, inputs, inouts) != (0, 2, 1) {
            let m = format!(
                "{what} has one argument of role \"inout\" and two inputs; this contract has {inouts} and {inputs}, and {}",
                number(outputs, "output")
            );
            return Err((first, m));
        }
        if arguments[0].role != Role::InOut {
            let at = arguments.iter().position(|a| a.role == Role::InOut).unwrap_or(0);
            let m = "the argument of role \"inout\" comes first".to_string();
            return Err((starts[at], m));
        }
        return Ok(());
    }
    if let Some(at) = arguments.iter().position(|a| a.role == Role::InOut) {
        if (outputs, inputs, inouts) == (0, kind.inputs() - 1, 1) {
            return Ok(());
        }
        let others = match kind.inputs() - 1 {
            0 => "no input".into(),
            n => number(n, "input"),
        };
        let m = format!(
            "`{}` has the role \"inout\": {what} in place has one argument of that role, no output and {others}; this contract has {outputs} and {inputs}",
            arguments[at].name
        );
        return Err((starts[at], m));
    }
    if (outputs, inputs) != (1, kind.inputs()) {
        let m = format!(
            "{what} has {} and {}; this contract has {outputs} and {inputs}",
            number(1, "output"),
            number(kind.inputs(), "input")
        );
        return Err((first, m));
    }
    Ok(())
}
