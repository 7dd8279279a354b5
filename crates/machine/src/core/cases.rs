//! Why an execution stops, and what is fixed in one of the cases that it is run in.

use crate::error::LiftError;
use crate::graph::NodeId;

/// Why execution stopped short.
pub(crate) enum Stop {
    /// For good.
    Error(LiftError),
    /// A region's address modulo `modulus` must be known; run again for each residue.
    NeedResidue {
        /// The region.
        region: u16,
        /// A power of two, at most [`MOST_ALIGNMENT`].
        modulus: u64,
        /// What is known so far: it is `residue` modulo `align`.
        align: u64,
        /// See `align`.
        residue: u64,
    },
    /// A branch depends on which of two regions lies above; run again for each way.
    NeedOrder {
        /// The regions, the lower number first.
        a: u16,
        /// See `a`.
        b: u16,
        /// How they may lie.
        ways: &'static [Order],
        /// What to say if the ways cannot be told apart in the end.
        error: LiftError,
    },
    /// A branch depends on data that the call releases; run again for either way.
    NeedRelease,
    /// A branch depends on where the regions lie otherwise; run again for either way.
    NeedDecision {
        /// The condition.
        condition: NodeId,
        /// Address of the branch.
        at: u64,
        /// What to say if the ways cannot be told apart in the end.
        error: LiftError,
    },
}

/// The coarsest alignment that is split into cases.
pub(crate) const MOST_ALIGNMENT: u64 = 64;

/// How one region lies to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Above,
    Below,
    /// They begin at one address.
    Equal,
}

/// What is fixed in one case, of all that the caller leaves open.
#[derive(Clone, Default, Debug)]
pub(crate) struct Choice {
    /// Region, modulus, residue of its address.
    pub residues: Vec<(u16, u64, u64)>,
    /// Two regions, the lower number first, and how the first lies to the second.
    pub orders: Vec<(u16, u16, Order)>,
    /// Branch conditions that depend on the regions' addresses, with their value and where.
    pub decisions: Vec<(NodeId, bool, u64)>,
    /// Ways of the branches on released data, in the order of execution.
    pub releases: Vec<bool>,
}

/// Boxed, so that the common path moves a pointer.
pub(crate) type Fallible<T> = Result<T, Box<Stop>>;

impl From<LiftError> for Box<Stop> {
    fn from(e: LiftError) -> Self {
        Box::new(Stop::Error(e))
    }
}
