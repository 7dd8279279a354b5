//! What a proof of a contract for each element claims and assumes, in words.

use super::{MapArgument, MapContract, MapKind};
use crate::claims::{aligned, conduct, integers, surroundings};
use crate::contract::Role;

/// What is proved, if it is.
pub fn claims(contract: &MapContract) -> Vec<String> {
    let mut claims = Vec::new();
    for i in contract.outputs() {
        let a = &contract.arguments[i];
        let (name, n, exit) = (&a.memory.name, a.length, a.memory.exit);
        if contract.computes == MapKind::Sort {
            claims.push(format!("{name}[0..{n}] at exit are those at entry, in ascending order"));
            continue;
        }
        let formula = a.formula.as_ref().map(ToString::to_string).unwrap_or_default();
        if !a.radices.is_empty() {
            let (count, radices) = (a.memory.length, radices(&a.radices));
            claims.push(format!(
                "the {count} bytes of {name} encode the digits {formula}, over the integers, for each i < {n} and all inputs in range: as NTRU Prime does, with {radices}"
            ));
            continue;
        }
        let (at, congruent) = (format!("{}[i]", name), a.modulo);
        let is = match congruent {
            None => format!("{at} = {formula}"),
            Some(m) => format!("{at} is congruent to {formula} modulo {m}"),
        };
        let entry = if a.memory.role == Role::InOut { " at exit" } else { "" };
        claims.push(format!(
            "{is}{entry}, over the integers, for each i < {n} and all inputs in range{}",
            fields(a)
        ));
        claims.push(format!("every element of {name} lies in [{}, {}]{entry}", exit.0, exit.1));
    }
    if let Some(returns) = contract.returns() {
        let names: Vec<&str> = (contract.compared().into_iter())
            .map(|i| contract.arguments[i].memory.name.as_str())
            .collect();
        let other = match returns.different {
            Some(different) => different.to_string(),
            None => "another number".into(),
        };
        claims.push(format!(
            "the result, of {} bits, is {} if {} are equal, and {other} if not",
            returns.element.bits(),
            returns.equal,
            names.join(" and ")
        ));
    }
    claims.extend(conduct());
    claims
}

/// What radices digits have.
fn radices(all: &[u32]) -> String {
    match all {
        [first, rest @ ..] if rest.iter().all(|m| m == first) => format!("radix {first}"),
        all => {
            let all: Vec<i64> = all.iter().map(|&m| m.into()).collect();
            format!("radices {}", integers(&all))
        }
    }
}

/// How an array is packed.
fn fields(a: &MapArgument) -> String {
    if !a.packed() {
        return String::new();
    }
    let (name, bits) = (&a.memory.name, a.bits);
    format!("; {name}[i] is bits {bits} i to {bits} i + {} of its bytes", bits - 1)
}

/// What callers promise.
pub fn assumptions(contract: &MapContract) -> Vec<String> {
    let mut assumptions = Vec::new();
    for a in &contract.arguments {
        let (name, (lo, hi), align) = (&a.memory.name, a.memory.range, a.memory.align);
        assumptions.push(match a.memory.role {
            Role::Output => continue,
            Role::Input | Role::InOut => {
                let entry = if a.memory.role == Role::InOut { " at entry" } else { "" };
                let n = a.length;
                let (align, packed) = (aligned(align), fields(a));
                format!("{name}[0..{n}] lie in [{lo}, {hi}]{entry}{align}{packed}")
            }
            Role::Table => {
                let values = integers(&a.memory.values);
                format!("{name} points to {values}{}", aligned(align))
            }
            Role::Number if a.any_number() => {
                format!("{name} lies in [{lo}, {hi}], in the whole register")
            }
            Role::Number => format!("{name} is {lo} in all 64 bits"),
        });
    }
    assumptions.extend(surroundings(&contract.interface()));
    assumptions
}
