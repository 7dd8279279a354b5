//! Whether a block can be computed for all low halves first and then for all high ones. Then only
//! half as many registers are in use at a time.

use super::reuse::{Register, Reuse};
use crate::source::Place;
use ringforge_program::ir::*;

/// No operation moves words between halves, and neither half reads or writes memory that the other
/// writes.
pub(super) fn falls_apart(place: &Place, block: &Block, live: &[bool], loads: &Reuse) -> bool {
    let full = (128 / usize::from(place.bits)) as i64;
    let buffers = &place.procedure.buffers;
    let parameter = |id: BufferId| buffers[id.0 as usize].role.is_parameter();
    // Parameters may be one array, at the same place.
    let alike = |a: BufferId, b: BufferId| a == b || parameter(a) && parameter(b);
    if loads.registers.iter().any(|register| matches!(register, Register::Stored(..))) {
        return false;
    }
    let (mut read, mut written, mut uniform) = (Vec::new(), Vec::new(), Vec::new());
    for (_, op) in block.ops.iter().enumerate().filter(|(i, _)| live[*i]) {
        match op {
            Op::Load { buffer, at } => read.push((*buffer, at)),
            Op::Store { buffer, at, .. } => written.push((*buffer, at)),
            Op::Broadcast { buffer, .. } | Op::BroadcastPair { buffer, .. } => {
                uniform.push(*buffer)
            }
            Op::Parts { .. }
            | Op::LoadPartial { .. }
            | Op::LoadParts { .. }
            | Op::StorePartial { .. }
            | Op::StoreParts { .. }
            | Op::AddSum { .. }
            | Op::StoreStrided { .. } => return false,
            _ => {}
        }
    }
    // What is loaded for several values, or for both halves, is loaded once: nothing may be written there.
    let loaded = loads.registers.iter().filter_map(|register| match register {
        Register::Memory(buffer, _) => Some(*buffer),
        Register::Stored(..) => None,
    });
    let shared: Vec<BufferId> = loaded.chain(uniform).collect();
    written.iter().all(|&(to, at)| {
        let apart = |&(other, index): &(BufferId, &Index)| {
            let between = |a: i64, b: i64| (a - b).abs() >= full;
            !alike(to, other)
                || at.terms == index.terms
                    && between(at.base, index.base + full)
                    && between(at.base + full, index.base)
        };
        !shared.iter().any(|&buffer| alike(buffer, to))
            && read.iter().all(apart)
            && written.iter().all(apart)
    })
}
