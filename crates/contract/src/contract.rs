//! Contracts: what a function takes, promises and computes, as TOML.
//!
//! ```toml
//! contract = 1
//! symbol = "toy_mul"
//! abi = "sysv-x86-64"
//! ring = "Z17[x]/(x^4 - x - 1)"
//! computes = "product"              # c = a * b in the ring: first output, then two inputs
//! alias = [["c", "a"], ["c", "b"]]  # in-place calls that are allowed besides the disjoint one
//!
//! [[argument]]
//! name = "c"
//! role = "output"
//! element = "i16"
//! length = 4
//! align = 2
//! range = [-8, 8]
//! # … the inputs "a" and "b" likewise, in the order of the C prototype
//! ```
//!
//! Other kinds than a product work on transformed elements:
//!
//! ```toml
//! computes = "accumulate"   # forward, inverse, base-product, to-standard, from-standard, scale
//! scale = 1                 # c = c + scale·(a ∘ b); all but product and the reorderings
//! pairs = 1                 # base-product, accumulate: the sum over so many pairs in a and b
//! batch = 1                 # so many elements of the ring in each array, each by itself
//!
//! [transform]
//! degree = 2                # d: the leaves are x^d − w
//! weights = [3, 14]         # their product must be f
//! order = [0, 1, 2, 3]      # position p holds coefficient order[p] mod d of leaf order[p] div d
//!
//! [[argument]]
//! name = "c"
//! role = "inout"            # `range` at entry; `exit = [lo, hi]` at exit, if it differs
//! ```
//!
//! `docs/prove.md` has every key by example.

use crate::arguments::{self, ArgumentText, GivenText};
use crate::clauses::{self, TransformText};
use ringforge_machine::{Architecture, Object};
use ringforge_ring::Ring;
use serde::{Deserialize, Serialize};
use toml::Spanned;

pub use crate::computes::{Computes, Transform};

/// Moduli of proofs lie below this.
const Q_LIMIT: u64 = 1 << 31;
/// Degrees of proofs go up to this.
const DEGREE_LIMIT: usize = 1 << 15;

/// A contract that was checked to make sense.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The function's symbol.
    pub symbol: String,
    /// Calling convention.
    pub abi: Abi,
    /// The ring.
    pub ring: Ring,
    /// What is computed.
    pub computes: Computes,
    /// The layout of transformed elements; every kind but a product has one.
    pub transform: Option<Transform>,
    /// Pairs (output, input) of argument positions that may be one buffer.
    pub alias: Vec<(usize, usize)>,
    /// Arguments in the order of the prototype.
    pub arguments: Vec<Argument>,
    /// Base products that are summed: the inputs of a base product or an accumulation hold this
    /// many transformed elements each, one after the other.
    pub pairs: usize,
    /// Elements of the ring that each array holds, one after the other. Each element of the output is what the
    /// function computes of the elements at the same place.
    pub batch: usize,
    /// Data of other objects.
    pub given: Vec<Given>,
    /// Sections of the object that can be written, whose content at entry is what the file says.
    pub given_sections: Vec<String>,
}

/// Calling conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Abi {
    /// System V for x86-64: Linux, the BSDs, macOS on Intel.
    #[serde(rename = "sysv-x86-64")]
    SysVX8664,
    /// The convention of Windows for x86-64 [Win64 calling convention].
    #[serde(rename = "win64")]
    Win64,
    /// The procedure call standard of AArch64 [AAPCS64 §6]: Linux and the BSDs.
    #[serde(rename = "aapcs64")]
    Aapcs64,
    /// The procedure call standard of Arm with arguments in general registers [AAPCS32 §6]: Cortex-M.
    #[serde(rename = "aapcs")]
    Aapcs,
}

impl Abi {
    /// Its name in contracts.
    pub fn name(self) -> &'static str {
        match self {
            Abi::SysVX8664 => "sysv-x86-64",
            Abi::Win64 => "win64",
            Abi::Aapcs64 => "aapcs64",
            Abi::Aapcs => "aapcs",
        }
    }

    /// The calling convention of an object's functions.
    pub fn of(object: &Object) -> Abi {
        match object.architecture() {
            Architecture::X86_64 if object.is_coff() => Abi::Win64,
            Architecture::X86_64 => Abi::SysVX8664,
            Architecture::AArch64 => Abi::Aapcs64,
            Architecture::Armv7EM => Abi::Aapcs,
        }
    }

    /// Checks that an object is of the format and the instruction set that this convention is for.
    ///
    /// # Errors
    /// What the object is, and which `abi` would fit it.
    pub fn check(self, object: &Object) -> Result<(), String> {
        let fits = Abi::of(object);
        if fits == self {
            return Ok(());
        }
        Err(format!(
            "the object is for {}{}, but the contract's abi is \"{}\": for this object it would be \"{}\"",
            object.architecture(),
            if object.is_coff() { " and Windows" } else { "" },
            self.name(),
            fits.name()
        ))
    }
}

/// Direction of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Written by the function; its former content does not matter.
    Output,
    /// Read by the function and left unchanged.
    Input,
    /// Read and written: what an accumulation adds to, or the operand of a function in place.
    InOut,
    /// Read: an array of numbers that the contract lists.
    Table,
    /// A number, passed by value, that the contract gives.
    Number,
}

impl Role {
    /// Whether the function reads coefficients there.
    pub fn reads(self) -> bool {
        matches!(self, Role::Input | Role::InOut)
    }
    /// Whether the result is written there.
    pub fn writes(self) -> bool {
        matches!(self, Role::Output | Role::InOut)
    }
}

/// Element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    /// Signed byte.
    I8,
    /// Unsigned byte.
    U8,
    /// Signed 16-bit word.
    I16,
    /// Unsigned 16-bit word.
    U16,
    /// Signed 32-bit word.
    I32,
    /// Unsigned 32-bit word.
    U32,
}

impl Element {
    /// Width in bits.
    pub fn bits(self) -> u8 {
        match self {
            Element::I8 | Element::U8 => 8,
            Element::I16 | Element::U16 => 16,
            Element::I32 | Element::U32 => 32,
        }
    }
    /// Whether read as signed.
    pub fn signed(self) -> bool {
        matches!(self, Element::I8 | Element::I16 | Element::I32)
    }
    /// Least and greatest value.
    pub fn range(self) -> (i64, i64) {
        let b = self.bits();
        if self.signed() { (-(1 << (b - 1)), (1 << (b - 1)) - 1) } else { (0, (1 << b) - 1) }
    }
}

/// One argument: a pointer to an array, or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Name, for messages and aliasing.
    pub name: String,
    /// Direction.
    pub role: Role,
    /// Element type.
    pub element: Element,
    /// Elements.
    pub length: usize,
    /// Alignment in bytes that callers guarantee.
    pub align: u64,
    /// Interval that the values lie in: promised by the caller for what is read, by the function
    /// for an output. That of a table or number is what its values span.
    pub range: (i64, i64),
    /// Interval that the function promises at exit, of what it writes: `range` unless the contract
    /// says otherwise for an argument of role inout.
    pub exit: (i64, i64),
    /// The numbers of a table, the one of a number; empty for what is read or written.
    pub values: Vec<i64>,
}

impl Argument {
    /// The bytes of a table.
    pub fn table_bytes(&self) -> Vec<u8> {
        table_bytes(self.element, &self.values)
    }
}

/// Numbers as they stand in memory.
fn table_bytes(element: Element, values: &[i64]) -> Vec<u8> {
    let size = usize::from(element.bits() / 8);
    values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(size)).collect()
}

/// Data of another object that the function reads, with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The symbol, which the object does not define.
    pub symbol: String,
    /// Element type.
    pub element: Element,
    /// Alignment in bytes.
    pub align: u64,
    /// The content.
    pub values: Vec<i64>,
}

impl Given {
    /// The content in bytes.
    pub fn bytes(&self) -> Vec<u8> {
        table_bytes(self.element, &self.values)
    }
}

/// Where a contract is wrong, and what would work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("contract, line {line}, column {col}: {message}")]
pub struct ContractError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub col: usize,
    /// What is wrong and what would work.
    pub message: String,
}

impl ContractError {
    /// An error about what stands at a byte offset.
    pub fn at(text: &str, offset: usize, message: String) -> ContractError {
        // It may be in the middle of a character: where a string in the text has escapes, it is a guess.
        let before = (0..=offset).rev().find_map(|end| text.get(..end)).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let col = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        ContractError { line, col, message }
    }
}

/// The kind of function, whatever else a text has.
#[derive(Deserialize)]
struct Kind {
    computes: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    contract: Spanned<u64>,
    symbol: Spanned<String>,
    abi: Abi,
    ring: Spanned<String>,
    pub computes: Spanned<String>,
    pub scale: Option<Spanned<i64>>,
    pub pairs: Option<Spanned<usize>>,
    pub batch: Option<Spanned<usize>>,
    pub transform: Option<Spanned<TransformText>>,
    #[serde(default)]
    alias: Vec<Spanned<[String; 2]>>,
    argument: Vec<Spanned<ArgumentText>>,
    #[serde(default)]
    given: Vec<Spanned<GivenText>>,
}

impl Contract {
    /// Parses and checks a contract.
    ///
    /// # Errors
    /// With the position of the first thing that is wrong.
    pub fn parse(text: &str) -> Result<Contract, ContractError> {
        let at = |offset: usize, message: String| ContractError::at(text, offset, message);
        // First of all the kind: of another, all other keys would be unknown.
        if let Ok(Kind { computes: Some(kind) }) = toml::from_str(text) {
            clauses::known(&kind).map_err(|(o, m)| at(o, m))?;
        }
        let parsed: Text = toml::from_str(text)
            .map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().to_string()))?;
        if *parsed.contract.as_ref() != 1 {
            let m = "this tool reads `contract = 1`".to_string();
            return Err(at(parsed.contract.span().start, m));
        }
        if parsed.symbol.as_ref().is_empty() {
            return Err(at(parsed.symbol.span().start, "the symbol is empty".into()));
        }
        let ring_at = parsed.ring.span().start;
        let ring = Ring::parse(parsed.ring.as_ref())
            .map_err(|e| at(ring_at + 1 + e.at, format!("the ring: expected {}", e.expected)))?;
        let q = ring.q();
        let prime = q % 2 == 1 && ringforge_ring::zq::is_prime(q);
        let large = q.is_power_of_two() && q > 1 << 16;
        if q >= Q_LIMIT || large || !prime && *parsed.computes.as_ref() != "product" {
            return Err(at(
                ring_at,
                format!(
                    "q = {q}: proofs are for q below 2^31, powers of two up to 2^16 among them, and for odd primes where the function computes anything but `product`"
                ),
            ));
        }
        if ring.degree() > DEGREE_LIMIT {
            let m = format!("degree {}: proofs go up to {DEGREE_LIMIT}", ring.degree());
            return Err(at(ring_at, m));
        }
        let computes = clauses::computes(&parsed, q).map_err(|(o, m)| at(o, m))?;
        let transform = clauses::transform(&parsed, computes, &ring).map_err(|(o, m)| at(o, m))?;
        let pairs = clauses::pairs(&parsed, computes).map_err(|(o, m)| at(o, m))?;
        let batch = clauses::batch(&parsed, pairs).map_err(|(o, m)| at(o, m))?;
        if ring.degree() * batch > DEGREE_LIMIT {
            let n = ring.degree() * batch;
            return Err(at(ring_at, format!("arrays of {n}: proofs go up to {DEGREE_LIMIT}")));
        }
        let arguments = arguments::arguments(&parsed.argument, &ring, (pairs, batch))
            .map_err(|(o, m)| at(o, m))?;
        let (given, given_sections) = arguments::given(&parsed.given).map_err(|(o, m)| at(o, m))?;
        let starts: Vec<usize> = parsed.argument.iter().map(|a| a.span().start).collect();
        clauses::roles(&arguments, &starts, computes).map_err(|(o, m)| at(o, m))?;
        let mut alias = Vec::new();
        for pair in &parsed.alias {
            let offset = pair.span().start;
            let find = |name: &String| {
                arguments.iter().position(|a| a.name == *name).ok_or_else(|| {
                    let names: Vec<&str> = arguments.iter().map(|a| a.name.as_str()).collect();
                    at(
                        offset,
                        format!("no argument is called `{name}`; there are {}", names.join(", ")),
                    )
                })
            };
            let [x, y] = pair.as_ref();
            let (mut x, mut y) = (find(x)?, find(y)?);
            if !arguments[x].role.writes() {
                (x, y) = (y, x);
            }
            if !arguments[x].role.writes() || arguments[y].role != Role::Input {
                let m = "an alias pairs an output with an input (two inputs may always be equal)";
                return Err(at(offset, m.to_string()));
            }
            if arguments[x].element.bits() != arguments[y].element.bits() {
                let m = "aliased arguments must have elements of one size";
                return Err(at(offset, m.to_string()));
            }
            if arguments[x].length != arguments[y].length {
                let m = "aliased arguments must have one length";
                return Err(at(offset, m.to_string()));
            }
            if arguments[x].role == Role::InOut && !computes.accumulates() {
                let m = "a function in place has its result in its operand, and in no other";
                return Err(at(offset, m.to_string()));
            }
            let (p, r) = (arguments[x].range, arguments[y].range);
            if computes.accumulates() && (p.0 > r.1 || r.0 > p.1) {
                let m = "the aliased arguments have no value in common in their ranges";
                return Err(at(offset, m.to_string()));
            }
            if !alias.contains(&(x, y)) {
                alias.push((x, y));
            }
        }
        Ok(Contract {
            symbol: parsed.symbol.into_inner(),
            abi: parsed.abi,
            ring,
            computes,
            transform,
            alias,
            arguments,
            pairs,
            batch,
            given,
            given_sections,
        })
    }

    /// Elements of what is written: those of each element of the ring.
    pub fn outputs(&self) -> usize {
        self.ring.degree() * self.batch
    }

    /// Positions of what is read, in the order of the prototype: the inputs, and before them the
    /// argument of role inout where there is one.
    pub fn inputs(&self) -> Vec<usize> {
        (0..self.arguments.len()).filter(|&i| self.arguments[i].role.reads()).collect()
    }

    /// Elements of each operand, in the order of [`Contract::inputs`].
    pub fn lengths(&self) -> Vec<usize> {
        self.inputs().iter().map(|&i| self.arguments[i].length).collect()
    }

    /// Position of what is written: the output, or the argument of role inout.
    pub fn output(&self) -> usize {
        self.arguments.iter().position(|a| a.role.writes()).unwrap_or(0)
    }
}
