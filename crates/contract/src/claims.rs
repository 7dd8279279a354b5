//! What a proof claims and assumes, in words: fixed by the contract alone.

use crate::calls::Interface;
use crate::computes::{Computes, Transform};
use crate::contract::{Argument, Contract, Role};
use crate::sha256;

/// What is proved, if it is.
pub fn claims(contract: &Contract) -> Vec<String> {
    let out = &contract.arguments[contract.output()];
    let mut claims = vec![function(contract)];
    if let Some(t) = &contract.transform {
        claims.push(layout(contract, t));
    }
    let exit = if out.role == Role::InOut { " at exit" } else { "" };
    claims.push(format!(
        "every element of {} lies in [{}, {}]{exit}",
        out.name, out.exit.0, out.exit.1
    ));
    claims.extend(conduct());
    claims
}

/// What is proved of each function.
pub(crate) fn conduct() -> impl Iterator<Item = String> {
    let all = [
        "no access outside the buffers and its own stack frame; inputs unchanged",
        "no branch, address or variable-time operand depends on an input",
        "callee-saved registers are restored",
    ];
    all.into_iter().map(str::to_string)
}

/// What the output is.
fn function(contract: &Contract) -> String {
    let ring = &contract.ring;
    let out = &contract.arguments[contract.output()];
    let c = &out.name;
    // What is accumulated is no factor.
    let skipped = usize::from(contract.computes.accumulates());
    let operands: Vec<String> = contract
        .inputs()
        .into_iter()
        .skip(skipped)
        .map(|i| &contract.arguments[i])
        .map(|a| match a.role {
            Role::InOut => format!("({} at entry)", a.name),
            _ => a.name.clone(),
        })
        .collect();
    let (a, b) = (operands[0].as_str(), operands.last().map(String::as_str).unwrap_or_default());
    let exit = if out.role == Role::InOut { " at exit" } else { "" };
    let scale = match contract.computes.scale() {
        None | Some(1) => String::new(),
        Some(s) => format!("{s} * "),
    };
    let products = match contract.pairs {
        1 => format!("{scale}T(T^-1({a}) * T^-1({b})) in {ring}, the product leaf by leaf"),
        k => format!(
            "{scale}the sum of T(T^-1({a}_i) * T^-1({b}_i)) over i < {k} in {ring}, the products leaf by leaf, {a}_i and {b}_i the elements from {} i on",
            ring.degree()
        ),
    };
    let what = match contract.computes {
        Computes::Product => format!("{c}{exit} = {a} * {b} in {ring}"),
        Computes::Forward { .. } => format!("{c}{exit} = {scale}T({a}) for {a} in {ring}"),
        Computes::Inverse { .. } => format!("{c}{exit} = {scale}T^-1({a}) in {ring}"),
        Computes::BaseProduct { .. } => format!("{c}{exit} = {products}"),
        Computes::Accumulate { .. } => format!("{c} at exit = {c} at entry + {products}"),
        Computes::ToStandard => {
            format!(
                "{c}{exit} modulo {} is {a} in the standard order: {c}[order[p]] = {a}[p]",
                ring.q()
            )
        }
        Computes::FromStandard => format!(
            "{c}{exit} modulo {} is {a}, which is in the standard order: {c}[p] = {a}[order[p]]",
            ring.q()
        ),
        Computes::Scale { .. } => {
            format!("{c}{exit} = {scale}{a} modulo {}, element by element", ring.q())
        }
    };
    let each = match contract.batch {
        1 => String::new(),
        k => format!(
            ", for each of {k} elements of the ring by itself, which begin {} apart in every array",
            ring.degree()
        ),
    };
    format!("{what}{each}, for all inputs in range")
}

/// A list of numbers. Long ones are named by the digest of their numbers, joined by a comma and a
/// space.
pub(crate) fn short(numbers: Vec<String>) -> String {
    let text = numbers.join(", ");
    match numbers.len() {
        0..=8 => format!("[{text}]"),
        n => format!(
            "[{}, ...] ({n} numbers, SHA-256 {}...)",
            numbers[..4].join(", "),
            &sha256(text.as_bytes())[..16]
        ),
    }
}

/// What T is.
fn layout(contract: &Contract, t: &Transform) -> String {
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
pub fn assumptions(contract: &Contract) -> Vec<String> {
    let promise = |a: &Argument| {
        let entry = if a.role == Role::InOut { " at entry" } else { "" };
        format!(
            "{}[0..{}] lie in [{}, {}]{entry}{}",
            a.name,
            a.length,
            a.range.0,
            a.range.1,
            aligned(a.align)
        )
    };
    let arguments = &contract.arguments;
    let mut assumptions: Vec<String> =
        contract.inputs().iter().map(|&i| promise(&arguments[i])).collect();
    let other = arguments.iter().filter_map(|a| match a.role {
        Role::Table => {
            Some(format!("{} points to {}{}", a.name, integers(&a.values), aligned(a.align)))
        }
        Role::Number => Some(format!("{} is {} in all 64 bits", a.name, a.values[0])),
        _ => None,
    });
    assumptions.extend(other);
    assumptions.extend(surroundings(&contract.interface()));
    assumptions
}

/// Where an array begins, if that matters.
pub(crate) fn aligned(align: u64) -> String {
    if align > 1 { format!(", aligned to {align} bytes") } else { String::new() }
}

/// A list of integers.
pub(crate) fn integers(values: &[i64]) -> String {
    short(values.iter().map(i64::to_string).collect())
}

/// What callers promise of other objects' data, and how arrays may lie in memory: exactly what [`crate::calls`] executes.
pub(crate) fn surroundings(interface: &Interface) -> Vec<String> {
    let given = interface.given.iter().map(|g| {
        format!(
            "`{}` of another object holds {}, {} bits each{}",
            g.symbol,
            integers(&g.values),
            g.element.bits(),
            aligned(g.align)
        )
    });
    let sections = interface.given_sections.iter().map(|s| {
        format!("the section {s}, which can be written, holds at entry what the object says")
    });
    given.chain(sections).chain(overlap(interface)).collect()
}

fn overlap(interface: &Interface) -> Option<String> {
    let arguments = &interface.arguments;
    let pointers = arguments.iter().filter(|a| a.role != Role::Number).map(|a| a.name.clone());
    let given = interface.given.iter().map(|g| format!("`{}`", g.symbol));
    let mut names: Vec<String> = pointers.chain(given).collect();
    let last = names.pop()?;
    if names.is_empty() {
        return None;
    }
    let apart = format!("no two of {} and {last} overlap", names.join(", "));
    let pairs = interface.one_array().into_iter().chain(interface.alias.iter().copied());
    let one: Vec<String> =
        pairs.map(|(x, y)| format!("{} = {}", arguments[x].name, arguments[y].name)).collect();
    Some(match &one[..] {
        [] => apart,
        [one] => format!("{apart}, or {one} exactly"),
        several => format!("{apart}, or one pair does exactly: {}", several.join(" or ")),
    })
}
