#![no_std]
#![doc = include_str!("../README.md")]

pub use kem::{self, Decapsulate, Encapsulate, Kem, KeyExport, TryKeyInit};
pub use rand_core;

#[cfg(any(feature = "mlkem512", feature = "mlkem768", feature = "mlkem1024"))]
#[macro_use]
mod der;
mod error;
mod hooks;
#[cfg(any(feature = "hybrids", feature = "nist-hybrids"))]
pub mod hybrid;
#[macro_use]
mod macros;
mod kems;

pub use error::{Error, GenerateError};
pub use kems::*;

/// The system's random bytes as a generator.
#[cfg(feature = "getrandom")]
pub fn system_rng() -> impl rand_core::CryptoRng {
    rand_core::UnwrapErr(getrandom::SysRng)
}

/// The most times that a key is drawn. Streamlined NTRU Prime rejects one draw of 27 in its worst
/// sizes, so a working generator is taken for a stuck one less than once in 2^400 times.
pub(crate) const TRIES: u32 = 100;

/// The message for a caller whose generator is stuck, where no error can be returned.
pub(crate) const STUCK: &str =
    "the generator is stuck: no key can be made of anything that it gives";

/// Random bytes that key pairs and ciphertexts are made of.
pub(crate) fn draw<R, const N: usize>(rng: &mut R) -> Result<zeroize::Zeroizing<[u8; N]>, R::Error>
where
    R: rand_core::TryCryptoRng + ?Sized,
{
    let mut coins = zeroize::Zeroizing::new([0; N]);
    rng.try_fill_bytes(coins.as_mut_slice())?;
    Ok(coins)
}
