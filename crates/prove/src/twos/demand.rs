//! How much of each form a proof needs.

use super::word::{FormId, Make, Word};
use super::words::Words;

/// How many low bits of each form's coefficients the low `bits` bits of the outputs depend on; of what is
/// shifted right also those that must be zero.
pub(super) fn demand(words: &Words, outputs: &[Word], bits: u8) -> Vec<u8> {
    let mut demand = vec![0u8; words.forms.len()];
    let ask = |demand: &mut Vec<u8>, x: FormId, bits: u8| {
        let d = &mut demand[x as usize];
        *d = bits.max(*d);
    };
    for o in outputs {
        ask(&mut demand, o.form, bits.saturating_sub(o.twos));
    }
    for id in (0..demand.len()).rev() {
        let bits = demand[id];
        if bits == 0 {
            continue;
        }
        match words.forms[id].make {
            Make::Sum { x, c, y, d } => {
                ask(&mut demand, x, bits.saturating_sub(c.trailing_zeros() as u8));
                ask(&mut demand, y, bits.saturating_sub(d.trailing_zeros() as u8));
            }
            Make::Product { a, b } => {
                ask(&mut demand, a, bits);
                ask(&mut demand, b, bits);
            }
            Make::Half { x, bits: shift, .. } => ask(&mut demand, x, bits + shift),
            Make::One | Make::Input { .. } => {}
        }
    }
    demand
}
