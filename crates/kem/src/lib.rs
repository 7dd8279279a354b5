#![no_std]
#![doc = include_str!("../README.md")]

pub use kem::{self, Decapsulate, Encapsulate, Kem, KeyExport, TryKeyInit};
pub use rand_core;

mod error;
mod hooks;
#[cfg(feature = "hybrids")]
pub mod hybrid;
#[macro_use]
mod macros;
mod kems;

pub use error::Error;
pub use kems::*;

/// The system's random bytes as a generator.
#[cfg(feature = "getrandom")]
pub fn system_rng() -> impl rand_core::CryptoRng {
    rand_core::UnwrapErr(getrandom::SysRng)
}

/// Random bytes that key pairs and ciphertexts are made of.
pub(crate) fn draw<R, const N: usize>(rng: &mut R) -> Result<zeroize::Zeroizing<[u8; N]>, R::Error>
where
    R: rand_core::TryCryptoRng + ?Sized,
{
    let mut coins = zeroize::Zeroizing::new([0; N]);
    rng.try_fill_bytes(coins.as_mut_slice())?;
    Ok(coins)
}
