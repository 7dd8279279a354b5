//! Why an object cannot be read or a call cannot be lifted, in messages for people.

use crate::graph::NodeId;
use std::fmt;

/// Where something happened: one instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Its address: the offset in its section for relocatable objects (the first executable
    /// section starts at 0, as in `objdump -d`), the virtual address for linked ones.
    pub address: u64,
    /// `symbol+0x1f`.
    pub symbol: String,
    /// The instruction as text, Intel syntax.
    pub instruction: String,
}

impl Place {
    /// The instruction's first word(s): its mnemonic with prefixes.
    pub fn mnemonic(&self) -> &str {
        let text = self.instruction.as_str();
        let end = text.find(' ').unwrap_or(text.len());
        &text[..end]
    }

    /// Whether it is a branch on the overflow flag, with which compilers check sums (`-ftrapv`,
    /// UBSan). For inputs in range it may never be taken.
    pub fn checks_overflow(&self) -> bool {
        let name = self.mnemonic().trim_end_matches(".n").trim_end_matches(".w");
        matches!(name, "jo" | "jno" | "b.vs" | "b.vc" | "bvs" | "bvc")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x} ({}): `{}`", self.address, self.symbol, self.instruction)
    }
}

/// Which part of an instruction's timing would depend on an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Timing {
    /// A conditional or indirect jump.
    Branch,
    /// A memory address (or the length of a copy).
    Address,
    /// An operand of an instruction whose time depends on its operands, such as `idiv`.
    VariableTime,
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Timing::Branch => "the branch",
            Timing::Address => "the memory address",
            Timing::VariableTime => "the operand of a variable-time instruction",
        })
    }
}

/// Something that the object does and must not do. Each refutes the contract.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// Not constant time.
    #[error("not constant time: {kind} depends on an input at {at}")]
    ConstantTime {
        /// What would leak.
        kind: Timing,
        /// The instruction.
        at: Place,
        /// The value that it depends on (its inputs are the `Op::Input` nodes below it).
        depends: NodeId,
    },
    /// An access outside a region, to a region without permission, or a misaligned one.
    #[error("memory: {why}, {size} bytes at {region}{offset:+} by {at}")]
    Memory {
        /// The instruction.
        at: Place,
        /// Name of the region.
        region: String,
        /// Offset in bytes from the region's start (for the stack: from the stack pointer at
        /// entry).
        offset: i64,
        /// Bytes accessed.
        size: u64,
        /// What is wrong.
        why: String,
    },
    /// An undefined value matters.
    #[error("undefined: {what} at {at}")]
    Undefined {
        /// The instruction that uses it (for outputs: the function's return).
        at: Place,
        /// What is undefined.
        what: String,
    },
    /// A register that belongs to the caller is not restored.
    #[error("calling convention: {register} is not restored at return ({at})")]
    CalleeSaved {
        /// The register's name.
        register: String,
        /// The returning instruction.
        at: Place,
    },
}

/// Why a call could not be lifted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LiftError {
    /// The object breaks the contract.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// Something outside the whitelist: nothing is concluded.
    #[error("unsupported: {what} at {at}, bytes {}", hex(.bytes))]
    Unsupported {
        /// The instruction.
        at: Place,
        /// What about it, and what would work.
        what: String,
        /// Its encoding.
        bytes: Vec<u8>,
    },
    /// Control flow depends on how two different regions lie in memory.
    #[error(
        "pointers of different regions are compared at {at}: the result depends on where the \
         caller's buffers lie; `restrict` or a local copy avoids it"
    )]
    PointerComparison {
        /// The instruction.
        at: Place,
    },
    /// A violation after a branch on released data, or after a check that is assumed to pass: that way may be impossible,
    /// so it refutes nothing.
    #[error("after {0}, whose way may be impossible: {1}")]
    Doubtful(&'static str, Box<Violation>),
    /// A leak before any call of a function whose result the contract makes known. The function may have been inlined, and
    /// then no declaration stands in its place.
    #[error(
        "`{0}` has not been called before this point, so it may have been inlined, and the bytes that the contract gives of \
         it are not known (compile without -flto, or make it noinline): {1}"
    )]
    Inlined(String, Box<Violation>),
    /// The execution did not end.
    #[error(
        "stopped after {steps} steps (instructions, and bytes of copies) without return at {at}; raise the \
         step limit if the function is long"
    )]
    StepLimit {
        /// Instructions executed, and bytes that string instructions and copies moved.
        steps: u64,
        /// Where it was.
        at: Place,
    },
    /// The caller's `progress` said to stop.
    #[error("stopped by the caller at {at}")]
    Stopped {
        /// Where it was.
        at: Place,
    },
    /// The object has no such function.
    #[error("{why}; it defines: {}", .available.join(", "))]
    NoSymbol {
        /// What was asked for.
        symbol: String,
        /// Why it is not there.
        why: String,
        /// What there is.
        available: Vec<String>,
    },
    /// The call itself makes no sense.
    #[error("the call is not well formed: {0}")]
    BadCall(String),
}

/// Why an object file could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ObjectError {
    /// Not an object of a format and an instruction set that are known.
    #[error("not an ELF file for x86-64, AArch64 or Armv7E-M, nor a COFF object for x86-64: {0}")]
    NotObject(String),
    /// A part that is damaged or not understood.
    #[error("section {section}, offset {offset:#x}: {what}")]
    Damaged {
        /// The section.
        section: String,
        /// Offset in it.
        offset: u64,
        /// What is wrong.
        what: String,
    },
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
}
