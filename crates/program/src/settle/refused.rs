//! Why a key that a user wrote is not kept.

/// Why a key that a user wrote is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nothing goes by it.
    #[error(
        "the schedule's `{key}` changes nothing here; this plan reads these keys on this target: {keys}"
    )]
    Unused {
        /// The key.
        key: String,
        /// Those that something goes by.
        keys: String,
    },
    /// The plan needs another value.
    #[error(
        "the schedule's `{key} = {value}` is not for this plan on this target, which needs `{key} = {settled}`"
    )]
    Other {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What the plan needs.
        settled: String,
    },
    /// Something does not fit with it.
    #[error(
        "the schedule's `{key} = {value}` cannot be kept: {why}; without the key it is {settled}"
    )]
    Unkept {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What does not fit.
        why: String,
        /// What is settled without it.
        settled: String,
    },
    /// Several keys do not fit together.
    #[error("the schedule's {keys} cannot be kept together: {why}")]
    Together {
        /// The keys.
        keys: String,
        /// What does not fit.
        why: String,
    },
}

impl Refused {
    /// A value in whose place the plan needs another.
    pub(crate) fn other(key: &str, value: &str, settled: &str) -> Refused {
        Refused::Other { key: key.into(), value: value.into(), settled: settled.into() }
    }
}
