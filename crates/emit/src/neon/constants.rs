//! Constant factors by lane. A product can take one of its factors from any lane of a register, so
//! a block with many constants holds eight of them in one register.

use super::select::{Form, Selection};
use ringforge_program::ir::*;
use std::collections::{BTreeSet, HashMap};

/// Where a block's constants are.
#[derive(Default)]
pub(super) struct Constants {
    /// The words of each register.
    pub registers: Vec<Vec<i32>>,
    /// Register and lane of a repeated word.
    pub places: HashMap<Value, (usize, usize)>,
    /// Whether each is loaded before its first use: there are too many to keep.
    pub late: bool,
}

/// The repeated words of a block that nothing but products use, where they are too many for registers of their
/// own.
pub(super) fn packed(block: &Block, chosen: &Selection, bits: u8) -> Constants {
    let mut found: Vec<Option<i32>> = vec![None; block.ops.len()];
    for (i, op) in block.ops.iter().enumerate().filter(|(i, _)| chosen.live[*i]) {
        if let Op::Splat(word) = op
            && *word != i32::MIN >> (32 - bits)
        {
            found[i] = Some(*word);
        }
        let form = chosen.forms[i];
        let factors = match (form, op) {
            (Form::Fused { a, b, .. }, _) => Some((a, b)),
            (Form::Own, &(Op::MulLo(a, b) | Op::MulHrs(a, b))) => Some((a, b)),
            _ => None,
        };
        // One factor may be such a word, if it stands nowhere else.
        let mut others: Vec<Value> = form.sources(op).into_iter().map(|(v, _)| v).collect();
        if let Some((a, b)) = factors {
            let one = if found[a.0 as usize].is_some() { a } else { b };
            if let Some(at) = others.iter().position(|&v| v == one) {
                others.swap_remove(at);
            }
        }
        others.into_iter().for_each(|v| found[v.0 as usize] = None);
    }
    let words: BTreeSet<i32> = found.iter().flatten().copied().collect();
    if words.len() < ringforge_targets::NEON.by_lane {
        return Constants::default();
    }
    let mut words: Vec<i32> = words.into_iter().collect();
    let lanes = 128 / usize::from(bits);
    let late = words.len().div_ceil(lanes) > ringforge_targets::NEON.kept_constants;
    if late {
        words = by_use(block, chosen, &found);
    }
    let registers = words.chunks(lanes).map(|some| {
        let mut register = some.to_vec();
        register.resize(lanes, 0);
        register
    });
    let place = |(i, word): (usize, &Option<i32>)| {
        let word = (*word)?;
        let at = words.iter().position(|&known| known == word)?;
        Some((Value(i as u32), (at / lanes, at % lanes)))
    };
    Constants {
        registers: registers.collect(),
        places: found.iter().enumerate().filter_map(place).collect(),
        late,
    }
}

/// Words in the order of their first use.
fn by_use(block: &Block, chosen: &Selection, found: &[Option<i32>]) -> Vec<i32> {
    let mut words: Vec<i32> = Vec::new();
    for (i, op) in block.ops.iter().enumerate().filter(|(i, _)| chosen.live[*i]) {
        for (v, _) in chosen.forms[i].sources(op) {
            match found[v.0 as usize] {
                Some(word) if !words.contains(&word) => words.push(word),
                _ => {}
            }
        }
    }
    words
}
