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
    /// A known value.
    Const(u8),
    /// Byte `1` (0 the lowest) of node `0`.
    Node(NodeId, u8),
}
