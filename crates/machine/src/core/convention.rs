//! Calling conventions as data.

/// What caller and function owe each other. Registers are named by the numbers of
/// [`InstructionSet::word`](super::InstructionSet::word).
pub(crate) struct Convention {
    /// Registers of the arguments, in order; further ones lie on the stack.
    pub arguments: &'static [usize],
    /// The register of an integer result.
    pub result: usize,
    /// What a function must restore, besides the stack pointer: a word each, with its name.
    pub saved: &'static [(&'static str, usize)],
    /// What the stack pointer is a multiple of where functions are called.
    pub stack_align: u64,
    /// Bytes below the stack pointer that signal handlers leave alone.
    pub red_zone: i64,
    /// Bytes of the return address that a call leaves at the stack pointer.
    pub return_slot: i64,
    /// Vector registers whose lowest 16 bytes a function must restore.
    pub vectors: &'static [usize],
    /// Bytes above the return address that belong to the called function.
    pub home: i64,
    /// How far below the lowest byte of the stack that was accessed the next access may lie, if the
    /// system has no memory there before.
    pub page: Option<i64>,
}
