//! IT blocks: which condition the next instruction has.

/// The condition of the next instruction in the state of an IT block; 15 outside of one.
pub(crate) fn current(state: u8) -> u8 {
    if state & 15 == 0 { 15 } else { state >> 4 }
}

/// The state after one more instruction.
pub(crate) fn advance(state: u8) -> u8 {
    if state & 7 == 0 { 0 } else { state & 0xe0 | state << 1 & 0x1f }
}
