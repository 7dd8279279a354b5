//! What is promised to functions whose time and memory accesses are checked, as TOML.
//!
//! ```toml
//! contract = 1
//! abi = "sysv-x86-64"
//! claims = "constant-time"      # in the place of a ring and what is computed; with more claims a list:
//!                               # ["constant-time", "clean-stack", "clean-registers"]
//!
//! [[function]]
//! symbol = "sort"
//! stack = 4096                  # bytes below the stack pointer at entry, at most
//! arguments = [
//!     { name = "x", role = "inout", element = "u32", length = 761 },
//!     { name = "n", values = [1, 2, 761] },      # public: each is a case
//! ]
//!
//! [[function]]
//! symbol = "inverse"
//! stack = 16384
//! claims = "constant-time"      # if others than the contract's
//! released_branches = 1         # may depend on content: whether there is an inverse is no secret
//! arguments = [
//!     { name = "out", role = "output", element = "i16", length = 761 },
//!     { name = "in", role = "input", element = "i16", length = 761, align = 32 },
//!     { name = "key", role = "input", element = "u8", length = 64, known = [{ at = 32, hex = "00ff" }] },
//!     { name = "bit", secret = true },           # a number that is not public
//!     { name = "again", same = "out" },          # the same pointer once more: a call in place
//! ]
//!
//! [[data]]                      # of other objects, with each content that it may have
//! symbol = "__cpu_model"
//! words = [[0, 0, 0, 0], [0, 0, 0, 0xffffffff]]
//!
//! [[external]]                  # functions of other objects, besides memcpy, memmove and memset
//! symbol = "my_sha256"
//! reads = [{ argument = 1, bytes_of = 2 }]       # as many bytes as argument 2 says
//! writes = [{ argument = 0, bytes = 32 }]
//! returns = 0                   # if that is known
//!
//! [[external]]                  # the object's own, not executed where it is called: it has a [[function]] of its own
//! symbol = "expand"
//! stands_in = true
//! stack = 1024                  # bytes that it uses, and may leave secrets in
//! reads = [{ argument = 1, bytes = 33 }]
//! writes = [{ argument = 0, bytes = 64, known = [{ at = 0, hex = "00ff" }] }]   # a public part of what it makes
//! ```
//!
//! Content of memory is unknown, and so counts as secret, but for what is `known`.

use super::clean::Clean;
use crate::contract::{Abi, ContractError, Element, Role};
use ringforge_machine::ExternalFunction;

pub use super::text::is_for;

/// A contract that was checked to make sense.
#[derive(Clone, Debug)]
pub struct SafetyContract {
    /// Calling convention.
    pub abi: Abi,
    /// The functions, at least one.
    pub functions: Vec<Function>,
    /// Data of other objects.
    pub data: Vec<Data>,
    /// Functions of other objects.
    pub externals: Vec<ExternalFunction>,
}

/// One function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its symbol.
    pub symbol: String,
    /// Bytes of stack that it may use below the stack pointer at entry.
    pub stack: u64,
    /// What is claimed beyond constant time.
    pub clean: Clean,
    /// Branches that may depend on content, since what they depend on is released on purpose (whether
    /// a draw must be repeated, say). Both ways are checked; the verdict names them.
    pub released_branches: usize,
    /// In the order of the prototype.
    pub parameters: Vec<Parameter>,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A pointer to an array of its own.
    Buffer(Buffer),
    /// A pointer to the array of an earlier argument, by position.
    Same(usize),
    /// A public number, with all values that are checked.
    Public(Vec<u64>),
    /// Any number.
    Secret,
}

impl Parameter {
    /// The array, if it is one of its own.
    pub fn buffer(&self) -> Option<&Buffer> {
        match self {
            Parameter::Buffer(buffer) => Some(buffer),
            _ => None,
        }
    }
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Name, for messages.
    pub name: String,
    /// Direction. An output is undefined at entry and written in full at return.
    pub role: Role,
    /// Element type.
    pub element: Element,
    /// Elements.
    pub length: usize,
    /// Alignment in bytes that callers guarantee.
    pub align: u64,
    /// Bytes that are known: the offset of the first, and they.
    pub known: Vec<(usize, Vec<u8>)>,
}

impl Buffer {
    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.length * usize::from(self.element.bits() / 8)
    }
}

/// Data that another object defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its symbol.
    pub symbol: String,
    /// Contents, little endian; each is a case.
    pub contents: Vec<Vec<u8>>,
}

impl SafetyContract {
    /// Parses and checks a contract.
    ///
    /// # Errors
    /// With the position of the first thing that is wrong.
    pub fn parse(text: &str) -> Result<SafetyContract, ContractError> {
        super::text::parse(text)
    }
}
