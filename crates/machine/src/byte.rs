//! Bytes of machine state. They are why moves and shuffles make no node.

use crate::graph::NodeId;

/// One byte of a register or of memory.
///
/// *Undefined* means "any value, not known". Uninitialised memory, clobbered registers and
/// undefined flags hold it. It may be copied and computed with; every result bit that could depend
/// on it is undefined in turn. It is a violation where it would matter: in an output, an address, a
/// branch, a count, a length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Byte {
    /// Any value.
    #[default]
    Undefined,
    /// A byte that the caller happened to have in a register that passes nothing, by its place. It is undefined as well,
    /// and moving it keeps it. No content of memory decides it, so it may be left behind: compilers push such a register to
    /// align the stack, and pop it into another.
    Caller(u16),
    /// A known value.
    Const(u8),
    /// Byte `1` (0 the lowest) of node `0`.
    Node(NodeId, u8),
}

impl Byte {
    /// Whether it may be any value.
    pub fn is_undefined(&self) -> bool {
        matches!(self, Byte::Undefined | Byte::Caller(_))
    }

    /// What the caller left in a register of `N` bytes that passes nothing, the register by its number.
    pub(crate) fn of_caller<const N: usize>(register: usize) -> [Byte; N] {
        std::array::from_fn(|k| Byte::Caller((register * N + k) as u16))
    }
}
