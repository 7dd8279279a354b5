//! A second opinion: words and outputs on concrete inputs.
//!
//! The graph is evaluated by `ringforge_machine`, the expected product by `ringforge_ring`; neither knows of
//! forms. A bilinear form that is not zero modulo a power of two, evaluated at random residues, is zero with
//! probability 3/4 at most, so that a wrong coefficient survives all samples once in 10^8 or less.

use super::word::{Make, Word};
use super::words::Words;
use crate::witness::Random;
use ringforge_contract::calls::CallCase;
use ringforge_contract::contract::Contract;
use ringforge_contract::oracle::Oracle;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::Graph;

/// Assignments that are evaluated together.
const BATCH: usize = 8;
/// Batches.
const ROUNDS: usize = 8;

/// Values of forms for one assignment; [`None`] where a quotient is no integer.
pub(super) fn forms(words: &Words, input: &dyn Fn(u16, u32) -> i64) -> Vec<Option<u16>> {
    let mut values: Vec<Option<u16>> = Vec::with_capacity(words.forms.len());
    for form in &words.forms {
        let at = |x: u32| values[x as usize];
        let value = match form.make {
            Make::One => Some(1),
            Make::Input { operand, index } => Some(input(operand, index) as u16),
            Make::Sum { x, c, y, d } => {
                at(x).zip(at(y)).map(|(x, y)| c.wrapping_mul(x).wrapping_add(d.wrapping_mul(y)))
            }
            Make::Product { a, b } => at(a).zip(at(b)).map(|(a, b)| a.wrapping_mul(b)),
            Make::Half { x, bits, .. } => at(x).filter(|x| x % (1 << bits) == 0).map(|x| x >> bits),
        };
        values.push(value);
    }
    values
}

/// Whether a node's value lies in its interval.
///
/// # Errors
/// Says that it does not.
pub(super) fn inside(word: &Word, value: u64, width: u8) -> Result<(), String> {
    let signed = ((value << (64 - width)) as i64) >> (64 - width);
    if signed < word.lo || signed > word.hi {
        return Err(format!("is {signed}, outside [{}, {}]", word.lo, word.hi));
    }
    Ok(())
}

/// Whether a node's value is what its form gives, modulo 2^known; nothing is said without a form's value.
///
/// # Errors
/// Says what it should be.
pub(super) fn congruent(
    word: &Word,
    known: u8,
    form: Option<u16>,
    value: u64,
) -> Result<(), String> {
    let Some(form) = form.filter(|_| known > 0) else { return Ok(()) };
    let said = u64::from(word.c.wrapping_mul(form)).checked_shl(word.twos.into()).unwrap_or(0);
    if (value ^ said) << (64 - known) != 0 {
        return Err(format!("is {value}, but its form gives {said} modulo 2^{known}"));
    }
    Ok(())
}

/// Tests all words and outputs on samples.
///
/// # Errors
/// The first contradiction, or `stopped`.
pub(super) fn check(
    graph: &Graph,
    words: &Words,
    case: &CallCase,
    contract: &Contract,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<(), String> {
    let tape = Tape::new(graph, &case.outputs).map_err(|e| e.to_string())?;
    let (oracle, ranges) = (Oracle::new(contract), case.ranges(contract));
    let output = &contract.arguments[contract.output()];
    let q = contract.ring.q() as i64;
    let mut random = Random(2);
    for round in 0..ROUNDS {
        if !progress(round as f64 / ROUNDS as f64) {
            return Err("stopped".into());
        }
        let mut value = |kind: usize, (lo, hi): (i64, i64)| match kind {
            0 => [lo, hi][(random.next() & 1) as usize],
            _ => lo + (random.next() % (hi - lo + 1) as u64) as i64,
        };
        let samples: Vec<Vec<Vec<i64>>> = (0..BATCH)
            .map(|i| {
                let mut array = |&r: &(i64, i64)| (0..output.length).map(|_| value(i, r)).collect();
                ranges.iter().map(&mut array).collect()
            })
            .collect();
        let values = tape.values(BATCH, &mut |operand, index, out| {
            for (v, inputs) in out.iter_mut().zip(&samples) {
                *v = inputs[operand as usize][index as usize] as u64;
            }
        });
        for (at, inputs) in samples.iter().enumerate() {
            let of = |slot: usize| values[slot * BATCH + at];
            let slot = |id| tape.nodes().binary_search(&id);
            let forms = forms(words, &|o, i| inputs[o as usize][i as usize]);
            for (slot, &id) in tape.nodes().iter().enumerate() {
                let (word, value) = (words.get(id), of(slot));
                let form = forms[word.form as usize];
                let form = congruent(&word, words.certain(word), form, value);
                inside(&word, value, graph.node(id).width)
                    .and(form)
                    .map_err(|e| format!("node {} {e}", id.0))?;
            }
            let expected = oracle.expected(inputs);
            for (k, (id, expected)) in case.outputs.iter().zip(expected).enumerate() {
                let s = 64 - u32::from(output.element.bits());
                let bits = of(slot(*id).map_err(|_| "an output was not evaluated")?);
                let found =
                    if output.element.signed() { ((bits << s) as i64) >> s } else { bits as i64 };
                if (found - expected) % q != 0 || found < output.exit.0 || found > output.exit.1 {
                    return Err(format!("output {k} is {found} and should be {expected}"));
                }
            }
        }
    }
    Ok(())
}
