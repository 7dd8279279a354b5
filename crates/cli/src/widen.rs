//! Input ranges as wide as exact interval analysis allows.
//!
//! The lowering bounds products by formulas, which are a little coarse; the `range` interpretation
//! enumerates. What it accepts is what the prover finds on the object, so that contracts, headers
//! and proofs state the widest ranges there are.

use ringforge_interpret::range::ranges;
use ringforge_program::ir::{Computes, Program, Role};

/// Widens the ranges of the inputs of all transforms, base products and accumulations, about zero,
/// as far as no word overflows and every output keeps its promise.
pub fn widen(program: &mut Program) {
    for at in 0..program.procedures.len() {
        let widens = matches!(
            program.procedures[at].computes,
            Some(
                Computes::Forward { .. }
                    | Computes::Inverse { .. }
                    | Computes::BaseProduct { .. }
                    | Computes::Accumulate { .. }
            )
        );
        let name = program.procedures[at].name.clone();
        let Some(mut entry) = program.entry(&name).filter(|_| widens) else { continue };
        let Some(start) = bound(&entry, at) else { continue };
        let word = (1i64 << (program.word_bits - 1)) - 1;
        let mut fits = |bound: i64| {
            set(&mut entry, at, bound);
            ranges(&entry).is_ok()
        };
        // Doubling steps up to one that fails, then halves.
        let (mut good, mut step) = (start, 1);
        while good < word && fits((good + step).min(word)) {
            good = (good + step).min(word);
            step *= 2;
        }
        let mut bad = (good + step).min(word + 1);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if fits(middle) { good = middle } else { bad = middle }
        }
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
