//! What a proof claims and assumes, in words: fixed by the contract alone.

use crate::computes::{Computes, Transform};
use crate::contract::{Argument, Contract, Role};
use crate::prove::sha256;

/// What is proved, if it is.
pub(crate) fn claims(contract: &Contract) -> Vec<String> {
    let out = &contract.arguments[contract.output()];
    let mut claims = vec![function(contract)];
    if let Some(t) = &contract.transform {
        claims.push(layout(contract, t));
    }
    let exit = if out.role == Role::InOut { " at exit" } else { "" };
    claims.push(format!(
        "every element of {} lies in [{}, {}]{exit}",
        out.name, out.range.0, out.range.1
    ));
    claims.push("no access outside the buffers and the own stack frame; inputs unchanged".into());
    claims.push("no branch, address or variable-time operand depends on an input".into());
    claims.push("callee-saved registers are restored".into());
    claims
}

/// What the output is.
fn function(contract: &Contract) -> String {
    let (c, ring) = (&contract.arguments[contract.output()].name, &contract.ring);
    let inputs: Vec<&str> = contract
        .arguments
        .iter()
        .filter(|a| a.role == Role::Input)
        .map(|a| a.name.as_str())
        .collect();
    let (a, b) = (inputs[0], inputs.last().copied().unwrap_or_default());
    let scale = match contract.computes.scale() {
        None | Some(1) => String::new(),
        Some(s) => format!("{s} * "),
    };
    let what = match contract.computes {
        Computes::Product => format!("{c} = {a} * {b} in {ring}"),
        Computes::Forward { .. } => format!("{c} = {scale}T({a}) for {a} in {ring}"),
        Computes::Inverse { .. } => format!("{c} = {scale}T^-1({a}) in {ring}"),
        Computes::BaseProduct { .. } => {
            format!("{c} = {scale}T(T^-1({a}) * T^-1({b})) in {ring}, the product leaf by leaf")
        }
        Computes::Accumulate { .. } => format!(
            "{c} at exit = {c} at entry + {scale}T(T^-1({a}) * T^-1({b})) in {ring}, the product leaf by leaf"
        ),
        Computes::ToStandard => {
            format!("{c} modulo {} is {a} in the standard order: {c}[order[p]] = {a}[p]", ring.q())
        }
        Computes::FromStandard => format!(
            "{c} modulo {} is {a}, which is in the standard order: {c}[p] = {a}[order[p]]",
            ring.q()
        ),
    };
    format!("{what}, for all inputs in range")
}

/// What T is. Long lists are named by the digest of their numbers, joined by a comma and a space.
fn layout(contract: &Contract, t: &Transform) -> String {
    let short = |numbers: Vec<String>| {
        let text = numbers.join(", ");
        match numbers.len() {
            0..=8 => format!("[{text}]"),
            n => format!(
                "[{}, ...] ({n} numbers, SHA-256 {}...)",
                numbers[..4].join(", "),
                &sha256(text.as_bytes())[..16]
            ),
        }
    };
    let d = if t.degree == 1 { "x".to_string() } else { format!("x^{}", t.degree) };
    let weights = short(t.weights.iter().map(u64::to_string).collect());
    let order = if t.order.iter().enumerate().all(|(p, &o)| p == o) {
        "in this order".to_string()
    } else {
        format!(
            "position p holding coefficient order[p] mod {} of remainder order[p] div {0} with order = {}",
            t.degree,
            short(t.order.iter().map(usize::to_string).collect())
        )
    };
    format!(
        "T maps an element of {} to its remainders by {d} - w for the weights w = {weights}, {order}",
        contract.ring
    )
}

/// What callers promise.
pub(crate) fn assumptions(contract: &Contract) -> Vec<String> {
    let promise = |a: &Argument| {
        let entry = if a.role == Role::InOut { " at entry" } else { "" };
        format!(
            "{}[0..{}] lie in [{}, {}]{entry}, aligned to {} bytes",
            a.name, a.length, a.range.0, a.range.1, a.align
        )
    };
    let arguments = &contract.arguments;
    let mut assumptions: Vec<String> =
        contract.inputs().iter().map(|&i| promise(&arguments[i])).collect();
    let alias: Vec<String> = contract
        .alias
        .iter()
        .map(|&(o, i)| format!("{} = {}", arguments[o].name, arguments[i].name))
        .collect();
    assumptions.push(if alias.is_empty() {
        "the output overlaps no input".into()
    } else {
        format!("the output overlaps no input, or {} exactly", alias.join(" or "))
    });
    assumptions
}
