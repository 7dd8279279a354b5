//! Input ranges as wide as the proof allows, and output ranges as wide as it needs.
//!
//! The lowering bounds products by formulas, which are a little coarse. The `range` interpretation
//! enumerates words of 16 bits, and the prover finds on the object what `range` accepts. Words of
//! 32 bits are bounded by formulas everywhere; there the prover itself is asked. The other way round, the prover may
//! bound an output less sharply than `range` does; then the output promises what the prover finds.

use std::time::{Duration, Instant};

use ringforge_interpret::range::ranges;
use ringforge_program::ir::{Computes, Program, Role, TransformLayout};
use ringforge_prove::{Contract, Options, Quiet, ReasonKind, prove};
use ringforge_ring::Ring;
use ringforge_toolchain as toolchain;

use crate::entry::Entry;
use crate::proof::Proof;
use crate::ui::Failure;

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

/// Widens the inputs of an entry point in words of 32 bits as far as `object` is still proved, and as `patience` goes.
pub fn by_proof(
    entry: &mut Entry,
    name: &str,
    ring: &Ring,
    layout: Option<&TransformLayout>,
    object: &[u8],
    patience: Duration,
) {
    let read = |a: &&mut toolchain::Argument| a.role == toolchain::Role::Input;
    let Some(first) = entry.signature.arguments.iter_mut().find(read).map(|a| a.range) else {
        return;
    };
    if entry.program.word_bits != 32 || !widens(Some(entry.computes)) || first.0 != -first.1 {
        return;
    }
    let until = Instant::now() + patience;
    let mut fits = |bound: i64| {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        // Nobody looks at witnesses of ranges that are too wide.
        let options =
            Options { search: Duration::ZERO, time_limit: Some(left), ..Options::default() };
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

/// Proofs of one entry point with wider outputs, before none is tried any more.
const ATTEMPTS: usize = 3;

/// The ranges of the arguments that `entry`'s output is passed on to.
fn passed_on(entry: &Entry, all: &[Entry]) -> Vec<(i64, i64)> {
    use Computes::{Accumulate, BaseProduct, Forward, InnerProduct, Inverse};
    let takes = |other: Computes, role: toolchain::Role| match entry.computes {
        Forward { .. } => {
            role == toolchain::Role::Input
                && matches!(other, BaseProduct { .. } | InnerProduct { .. } | Accumulate { .. })
        }
        BaseProduct { .. } | InnerProduct { .. } | Accumulate { .. } => match role {
            toolchain::Role::Input => matches!(other, Inverse { .. }),
            _ => role == toolchain::Role::InOut,
        },
        _ => false,
    };
    let arguments = all.iter().flat_map(|other| {
        other.signature.arguments.iter().filter(move |a| takes(other.computes, a.role))
    });
    arguments.map(|a| a.range).collect()
}

/// Proves `all[at]`, a step of a product. If its output's range is not shown, the range becomes the one that the prover
/// found, as long as the functions that take the output accept it. The proof, if there is one.
///
/// # Errors
/// The object lacks the symbol: a fault of ringforge.
pub fn output_by_proof(
    all: &mut [Entry],
    at: usize,
    mut prove: impl FnMut(&Entry) -> Result<Proof, Failure>,
) -> Result<Option<Proof>, Failure> {
    if !widens(Some(all[at].computes)) {
        return Ok(None);
    }
    let limits = passed_on(&all[at], all);
    let written = |a: &&mut toolchain::Argument| a.role == toolchain::Role::Output;
    let promised = all[at].signature.arguments.iter_mut().find(written).map(|a| a.range);
    for _ in 0..ATTEMPTS {
        let proof = prove(&all[at])?;
        if proof.report.is_proved() {
            return Ok(Some(proof));
        }
        let Some(argument) = all[at].signature.arguments.iter_mut().find(written) else { break };
        let outside = proof.report.reasons.iter().any(|r| r.kind == ReasonKind::Range);
        let Some(found) = proof.report.ranges.output.filter(|_| outside) else { break };
        let (low, high) = (found.0.min(argument.range.0), found.1.max(argument.range.1));
        let word = 1i64 << (argument.element.bits - 1);
        let fits = -word <= low && high < word;
        if !fits || !limits.iter().all(|limit| limit.0 <= low && high <= limit.1) {
            break;
        }
        argument.range = (low, high);
    }
    if let (Some(a), Some(range)) = (all[at].signature.arguments.iter_mut().find(written), promised)
    {
        a.range = range;
    }
    Ok(None)
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
