//! What a caller promises to a function: its memory regions and its arguments.

/// What a region holds when the function is entered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Initial {
    /// Nothing that may be relied on: reading it before writing it is a violation once the value
    /// matters (see [`crate::byte::Byte::Undefined`]).
    Undefined,
    /// The array of inputs numbered `operand`; element `i` of `element_bits` bits (8, 16, 32 or
    /// 64) is the node `Op::Input { operand, index: i }`.
    Inputs {
        /// Number of the input array.
        operand: u16,
        /// Width of one element in bits: 8, 16, 32 or 64.
        element_bits: u8,
    },
    /// Known bytes; their number must be the region's size.
    Bytes(Vec<u8>),
}

/// One buffer that the caller hands to the function. Regions never overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegionSpec {
    /// Name for messages, usually the argument's.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Alignment of its first byte that the caller guarantees, a power of two (1 if none).
    pub align: u64,
    /// Whether the function may read it.
    pub read: bool,
    /// Whether the function may write it.
    pub write: bool,
    /// Its content at entry.
    pub initial: Initial,
}

/// One integer argument, in the order of the C prototype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgSpec {
    /// A pointer to byte `1` of region `0` (an index into [`CallSpec::regions`]).
    Pointer(usize, i64),
    /// A known number.
    Constant(u64),
}

/// One call to lift.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallSpec {
    /// The function's symbol.
    pub symbol: String,
    /// The caller's buffers; two arguments may point to the same one (an in-place call).
    pub regions: Vec<RegionSpec>,
    /// Arguments by the System V x86-64 convention (six in registers, further ones on the stack).
    pub args: Vec<ArgSpec>,
    /// Instructions to execute at most before giving up.
    pub max_steps: u64,
}
