//! What can go wrong.

/// Why there is no key, ciphertext or session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The system has no random bytes.
    Random,
    /// The bytes are of another length than the KEM's.
    Length {
        /// The KEM's.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// The public or secret key is malformed.
    Key,
    /// The bytes are not DER of a key of this KEM (RFC 9935).
    Encoding,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Error::Random => f.write_str("the system has no random bytes"),
            Error::Length { expected, found } => write!(f, "{found} bytes instead of {expected}"),
            Error::Key => f.write_str("the key is malformed"),
            Error::Encoding => f.write_str("not a key of this KEM in DER"),
        }
    }
}

impl core::error::Error for Error {}

/// Why a generator gave no key pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GenerateError<E> {
    /// The generator failed, with this error.
    Generator(E),
    /// The generator is stuck: no key could be made of anything that it gave.
    Stuck,
}

impl<E: core::fmt::Display> core::fmt::Display for GenerateError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            GenerateError::Generator(error) => error.fmt(f),
            GenerateError::Stuck => f.write_str(crate::STUCK),
        }
    }
}

impl<E: core::error::Error> core::error::Error for GenerateError<E> {}
