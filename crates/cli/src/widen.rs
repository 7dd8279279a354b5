//! Input ranges as wide as the proof allows.
//!
//! The lowering bounds products by formulas, which are a little coarse. The `range` interpretation
//! enumerates words of 16 bits, and the prover finds on the object what `range` accepts. Words of
//! 32 bits are bounded by formulas everywhere; there the prover itself is asked.

use std::time::Duration;

use ringforge_interpret::range::ranges;
use ringforge_program::ir::{Computes, Program, Role, TransformLayout};
use ringforge_prove::{Contract, Options, Quiet, prove};
use ringforge_ring::Ring;
use ringforge_toolchain as toolchain;

use crate::entry::Entry;

/// Whether an entry point's inputs may be other than canonical.
fn widens(computes: Option<Computes>) -> bool {
    use Computes::{Accumulate, BaseProduct, Forward, InnerProduct, Inverse};
    matches!(
        computes,
        Some(
            Forward { .. }
                | Inverse { .. }
                | BaseProduct { .. }
                | InnerProduct { .. }
                | Accumulate { .. }
        )
    )
}

/// The largest of `start..=limit` that fits, if all below fit: doubles the step until one fails,
/// then halves it.
fn largest(start: i64, limit: i64, mut fits: impl FnMut(i64) -> bool) -> i64 {
    let (mut good, mut step) = (start, 1);
    while good < limit && fits((good + step).min(limit)) {
        good = (good + step).min(limit);
        step *= 2;
    }
    let mut bad = (good + step).min(limit + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle) { good = middle } else { bad = middle }
    }
    good
}

/// Widens the inputs of an entry point in words of 32 bits as far as `object` is still proved.
pub fn by_proof(
    entry: &mut Entry,
    name: &str,
    ring: &Ring,
    layout: Option<&TransformLayout>,
    object: &[u8],
) {
    let read = |a: &&mut toolchain::Argument| a.role == toolchain::Role::Input;
    let Some(first) = entry.signature.arguments.iter_mut().find(read).map(|a| a.range) else {
        return;
    };
    if entry.program.word_bits != 32 || !widens(Some(entry.computes)) || first.0 != -first.1 {
        return;
    }
    // Nobody looks at witnesses of ranges that are too wide.
    let options = Options { search: Duration::ZERO, ..Options::default() };
    let mut fits = |bound: i64| {
        let inputs = entry.signature.arguments.iter_mut().filter(read);
        inputs.for_each(|a| a.range = (-bound, bound));
        let contract = Contract::parse(&entry.contract(name, ring, layout));
        contract.is_ok_and(|c| prove(object, &c, &options, &mut Quiet).is_proved())
    };
    let widest = match fits(first.1) {
        true => largest(first.1, i64::from(i32::MAX), &mut fits),
        false => first.1,
    };
    let inputs = entry.signature.arguments.iter_mut().filter(read);
    inputs.for_each(|a| a.range = (-widest, widest));
}

/// Widens the input ranges of all transforms, base products and accumulations, about zero, as far
/// as no word overflows and every output keeps its promise.
pub fn widen(program: &mut Program) {
    for at in 0..program.procedures.len() {
        if program.word_bits != 16 || !widens(program.procedures[at].computes) {
            continue;
        }
        let name = program.procedures[at].name.clone();
        let Some(mut entry) = program.entry(&name) else { continue };
        let Some(start) = bound(&entry, at) else { continue };
        let good = largest(start, i64::from(i16::MAX), |bound| {
            set(&mut entry, at, bound);
            ranges(&entry).is_ok()
        });
        set(program, at, good);
    }
}

/// B where all inputs lie in [-B, B].
fn bound(program: &Program, at: usize) -> Option<i64> {
    let inputs = program.procedures[at].buffers.iter().filter(|b| b.role == Role::Input);
    let ranges: Option<Vec<(i64, i64)>> = inputs.map(|b| b.range).collect();
    let ranges = ranges?;
    let (low, high) = *ranges.first()?;
    (low == -high && ranges.iter().all(|r| *r == (low, high))).then_some(high)
}

fn set(program: &mut Program, at: usize, bound: i64) {
    let buffers = program.procedures[at].buffers.iter_mut();
    buffers.filter(|b| b.role == Role::Input).for_each(|b| b.range = Some((-bound, bound)));
}
