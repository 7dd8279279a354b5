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
    /// Some bytes are known; the others are inputs of 8 bits. The list has as many bytes as the
    /// region.
    Partly {
        /// Number of the input array.
        operand: u16,
        /// Each byte, if it is known.
        known: Vec<Option<u8>>,
    },
    /// Known bytes; their number must be the region's size.
    Bytes(Vec<u8>),
}

/// One buffer that the caller hands to the function. Regions do not overlap, unless
/// [`CallSpec::coincide`] says that two may be one.
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
    /// A number that is an input: element 0 of 64 bits.
    Input {
        /// Number of the input array.
        operand: u16,
    },
}

/// How many bytes a function of another object reads or writes behind a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// That many.
    Bytes(u64),
    /// As many as this argument says (an index into the function's arguments, below 6).
    Argument(usize),
}

/// A function that is not executed: it reads and writes the buffers named here and nothing else.
/// What it writes and returns is not known afterwards, except for what is stated here: it becomes
/// inputs of operand 65535.
///
/// Another object defines it; or this object does, and the declaration replaces its code in calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExternalFunction {
    /// Its symbol.
    pub symbol: String,
    /// Buffers that it reads: the pointer's position among the arguments, below 6, and the length.
    /// Every byte must be defined.
    pub reads: Vec<(usize, Extent)>,
    /// Buffers that it writes in full.
    pub writes: Vec<(usize, Extent)>,
    /// What it returns, if that is known.
    pub returns: Option<u64>,
    /// Bytes that it writes and that are known: the position of the write, an offset in it, and the
    /// bytes.
    pub known: Vec<(usize, usize, Vec<u8>)>,
    /// Whether the object's own code is left out, and this declaration stands in for it.
    pub stands_in: bool,
    /// The most bytes of stack that it uses, below where a call leaves the stack pointer. It may
    /// leave secrets in them. 0 if the function is assumed to leave none.
    pub stack: u64,
}

/// One call to lift.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallSpec {
    /// The function's symbol.
    pub symbol: String,
    /// The caller's buffers; two arguments may point to the same one (an in-place call).
    pub regions: Vec<RegionSpec>,
    /// Arguments in the order of the prototype, by the convention of the object's system.
    pub args: Vec<ArgSpec>,
    /// Data of other objects that the code may use: symbol and region (an index into
    /// [`CallSpec::regions`]).
    pub data: Vec<(String, usize)>,
    /// Sections of the object that can be written, but whose content at entry is taken to be what
    /// the file says.
    pub given_sections: Vec<String>,
    /// Pairs of regions that may begin at one address and then hold the same: nothing writes them.
    /// If control flow depends on how the two lie, there are three cases: either lies above the
    /// other, or they are one. If it does not, one execution covers all three. Their contents stay
    /// two arrays of inputs, so what holds for any two holds for equal ones.
    pub coincide: Vec<(usize, usize)>,
    /// Functions of other objects that it may call, besides `memcpy`, `memmove` and `memset`.
    pub functions: Vec<ExternalFunction>,
    /// Ranges of the inputs' elements by operand, read as signed, or as unsigned if they do not fit: the caller's promise. A value
    /// that has to be a number may depend on inputs then, if it is one number at all points of their ranges.
    pub ranges: Vec<Option<(i64, i64)>>,
    /// How many conditional branches may depend on inputs, because what they depend on is released
    /// (whether a draw must be repeated, say): both ways are executed.
    pub released_branches: usize,
    /// Whether checks that stop the program if they fail (`-ftrapv`, UBSan's traps) are assumed to pass.
    pub passes_checks: bool,
    /// Steps to execute at most before giving up: instructions, and bytes that string instructions and
    /// the C library's copies move.
    pub max_steps: u64,
}
