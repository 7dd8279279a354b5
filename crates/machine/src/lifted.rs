//! What lifting returns: final memory, case by case, and statistics.

use crate::byte::Byte;
use crate::fold;
use crate::graph::{Graph, NodeId};
use serde::Serialize;
use std::collections::BTreeMap;

/// What one executed instruction is, for counting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Vector multiplies and dot products.
    VectorMultiply,
    /// Vector additions, subtractions, minima, comparisons, logic.
    VectorArithmetic,
    /// Vector shifts within lanes.
    VectorShift,
    /// Shuffles, packs, unpacks, blends, permutes, inserts, extracts, broadcasts.
    Shuffle,
    /// Vector moves between registers.
    VectorMove,
    /// Vector loads (moves whose source is memory).
    VectorLoad,
    /// Vector stores.
    VectorStore,
    /// Scalar arithmetic and moves.
    Scalar,
    /// Scalar loads.
    ScalarLoad,
    /// Scalar stores.
    ScalarStore,
    /// Jumps, calls, returns.
    Branch,
    /// No-operations, `vzeroupper` and the like.
    Other,
}

/// Counts about one lift: of the case that executes the most instructions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LiftStats {
    /// Instructions executed.
    pub instructions: u64,
    /// Executed instructions by class.
    pub by_class: BTreeMap<Class, u64>,
    /// Executed instructions by mnemonic.
    pub by_mnemonic: BTreeMap<String, u64>,
    /// Bytes of memory operands read, by any instruction.
    pub bytes_loaded: u64,
    /// Bytes of memory operands written.
    pub bytes_stored: u64,
    /// Deepest use of the stack in bytes below the stack pointer at entry.
    pub stack_bytes: u64,
    /// Bytes of distinct code executed.
    pub code_bytes: u64,
    /// What was taken for granted besides the calling convention, one sentence each.
    pub assumptions: Vec<String>,
    /// Functions that were called and in whose place a declaration stands that gives bytes of what they write.
    #[serde(skip)]
    pub stood_in: Vec<String>,
    /// Checks that stop the program if they fail and are assumed to pass: address, and place in words.
    #[serde(skip)]
    pub checks: BTreeMap<u64, String>,
}

impl LiftStats {
    /// Joins the counts of another case: those of the longer one, and of both what only their union gives (depth of
    /// stack, assumptions, stand-ins, checks).
    pub(crate) fn join(&mut self, other: &LiftStats) {
        if other.instructions > self.instructions {
            self.instructions = other.instructions;
            self.by_class.clone_from(&other.by_class);
            self.by_mnemonic.clone_from(&other.by_mnemonic);
            (self.bytes_loaded, self.bytes_stored) = (other.bytes_loaded, other.bytes_stored);
        }
        self.stack_bytes = self.stack_bytes.max(other.stack_bytes);
        self.code_bytes = self.code_bytes.max(other.code_bytes);
        self.checks.extend(other.checks.iter().map(|(at, place)| (*at, place.clone())));
        for (all, more) in
            [(&mut self.assumptions, &other.assumptions), (&mut self.stood_in, &other.stood_in)]
        {
            for a in more {
                if !all.contains(a) {
                    all.push(a.clone());
                }
            }
        }
    }
}

/// A region's content at return.
#[derive(Clone, Debug)]
pub struct FinalRegion {
    /// Name, as in the call.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<Byte>,
    /// Which of them an instruction loaded.
    pub loaded: Vec<bool>,
}

/// Why an element of a region has no value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ElementError {
    /// Past the end.
    #[error("element {index} of {region} lies past its end")]
    OutOfRange {
        /// The region's name.
        region: String,
        /// The element.
        index: usize,
    },
    /// Never written, or written with an undefined value.
    #[error("element {index} of {region} is undefined at return (byte {byte})")]
    Undefined {
        /// The region's name.
        region: String,
        /// The element.
        index: usize,
        /// Offset of its first undefined byte.
        byte: usize,
    },
    /// An address was stored.
    #[error("element {index} of {region} depends on an address")]
    Address {
        /// The region's name.
        region: String,
        /// The element.
        index: usize,
    },
}

impl FinalRegion {
    /// The node of element `index` of `bits` bits (8, 16, 32 or 64), little endian.
    ///
    /// # Errors
    /// If the element is out of range, has an undefined byte or depends on an address.
    pub fn element(
        &self,
        graph: &mut Graph,
        index: usize,
        bits: u8,
    ) -> Result<NodeId, ElementError> {
        let size = usize::from(bits / 8);
        let region = || self.name.clone();
        let bytes = self
            .bytes
            .get(index * size..(index + 1) * size)
            .ok_or_else(|| ElementError::OutOfRange { region: region(), index })?;
        if let Some(k) = bytes.iter().position(Byte::is_undefined) {
            return Err(ElementError::Undefined {
                region: region(),
                index,
                byte: index * size + k,
            });
        }
        let node = fold::gather(graph, bytes).expect("no byte is undefined");
        if graph.has_address(node) {
            return Err(ElementError::Address { region: region(), index });
        }
        Ok(node)
    }
}

/// A byte that a call leaves behind, and that is neither constant nor (part of) an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// Where: `stack-24` (from the stack pointer at entry), `byte 3 of ymm2`.
    pub place: String,
    /// What it is: a term, or undefined.
    pub byte: Byte,
}

/// What a call leaves where nobody looks for it: the stack below the stack pointer at entry, and registers that
/// belong to no one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Residue {
    /// On the stack, from the lowest address on. Two kinds of bytes are the caller's and left out:
    /// those stored before anything unknown was read, and places that were not written.
    pub stack: Vec<Left>,
    /// In registers, except the result's and the flags; [`None`] if that is not modelled.
    pub registers: Option<Vec<Left>>,
}

/// One case of the caller's freedom: see [`Lifted::cases`].
#[derive(Clone, Debug)]
pub struct Case {
    /// What holds in this case, as text (empty if there is only one).
    pub condition: String,
    /// Whether some call runs so, whatever the inputs are. Otherwise a way was taken that may be impossible, and nothing
    /// in it refutes anything.
    pub certain: bool,
    /// Every region of the call, in its order, at return.
    pub regions: Vec<FinalRegion>,
    /// The register of a function's result: all its bytes, whether they are one or not.
    pub result: FinalRegion,
    /// What is left on the stack and in registers.
    pub residue: Residue,
}

/// A lifted call.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// One entry for each case that the call was executed in, normally one. There are several if
    /// the code aligns its frame (one for each residue of the stack pointer), tests a buffer's
    /// alignment, or branches on how two buffers lie in memory. **Every one must be proved**;
    /// usually their nodes are identical ([`Lifted::cases_agree`]).
    pub cases: Vec<Case>,
    /// Counts.
    pub stats: LiftStats,
}

impl Lifted {
    /// Whether all cases left exactly the same bytes and results, so that proving the first proves all.
    pub fn cases_agree(&self) -> bool {
        let bytes = |case: &Case| -> Vec<Vec<crate::byte::Byte>> {
            let regions = case.regions.iter().chain([&case.result]);
            regions.map(|region| region.bytes.clone()).collect()
        };
        self.cases.windows(2).all(|w| bytes(&w[0]) == bytes(&w[1]))
    }
}
