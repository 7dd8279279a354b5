//! The curves of hybrids. Each is a module with a secret `Scalar`, and the bytes of a point and of a
//! shared secret.

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::Error;

/// X25519 of `x25519-dalek`.
#[cfg(feature = "hybrids")]
pub(super) mod x25519 {
    use x25519_dalek::{PublicKey as Point, StaticSecret};

    use super::{CryptoRng, Error, Zeroizing};

    pub(in super::super) const POINT: usize = 32;
    pub(in super::super) const SHARED: usize = 32;

    /// X25519's secret key, set to zero when dropped.
    pub(in super::super) struct Scalar(Zeroizing<[u8; 32]>);

    impl Scalar {
        pub(in super::super) fn draw<R: CryptoRng + ?Sized>(rng: &mut R) -> Scalar {
            let Ok(bytes) = crate::draw(rng);
            Scalar(bytes)
        }

        #[cfg(feature = "mlkem768")]
        pub(in super::super) fn from_slice(bytes: &[u8]) -> Scalar {
            let mut scalar = Zeroizing::new([0; 32]);
            scalar.copy_from_slice(bytes);
            Scalar(scalar)
        }

        /// The public key.
        pub(in super::super) fn point(&self) -> [u8; POINT] {
            Point::from(&StaticSecret::from(*self.0)).to_bytes()
        }

        /// The shared secret, which is zero where the other side sent a point of small order.
        pub(in super::super) fn shared(&self, point: &[u8; POINT]) -> x25519_dalek::SharedSecret {
            StaticSecret::from(*self.0).diffie_hellman(&Point::from(*point))
        }

        /// The shared secret.
        ///
        /// # Errors
        /// It is zero, so that everybody knows it ([RFC 7748, §6.1]).
        pub(in super::super) fn agree(
            &self,
            point: &[u8; POINT],
        ) -> Result<Zeroizing<[u8; SHARED]>, Error> {
            let shared = self.shared(point);
            if !shared.was_contributory() {
                return Err(Error::Key);
            }
            Ok(Zeroizing::new(shared.to_bytes()))
        }
    }
}

/// A curve of NIST: points are uncompressed, a shared secret is an x-coordinate.
macro_rules! nist {
    ($(#[$doc:meta])* $module:ident, $bytes:literal) => {
        $(#[$doc])*
        #[cfg(feature = "nist-hybrids")]
        pub(super) mod $module {
            use ::$module::elliptic_curve::sec1::ToSec1Point;
            use ::$module::{PublicKey, SecretKey};

            use super::{CryptoRng, Error, Zeroizing};

            pub(in super::super) const POINT: usize = 1 + 2 * $bytes;
            pub(in super::super) const SHARED: usize = $bytes;

            /// A number between 0 and the group's order, set to zero when dropped.
            pub(in super::super) struct Scalar(SecretKey);

            impl Scalar {
                /// Draws until a number is below the order and not 0: nearly always the first is.
                ///
                /// # Panics
                /// None of 100 is: the generator is stuck.
                pub(in super::super) fn draw<R: CryptoRng + ?Sized>(rng: &mut R) -> Scalar {
                    for _ in 0..100 {
                        let Ok(bytes) = crate::draw::<_, $bytes>(rng);
                        if let Ok(key) = SecretKey::from_slice(bytes.as_slice()) {
                            return Scalar(key);
                        }
                    }
                    panic!("{}", crate::STUCK)
                }

                /// The public key.
                pub(in super::super) fn point(&self) -> [u8; POINT] {
                    let point = self.0.public_key().to_sec1_point(false);
                    point.as_bytes().try_into().expect("an uncompressed point has this length")
                }

                /// The shared secret.
                ///
                /// # Errors
                /// The point is not on the curve, or its form is not the uncompressed one.
                pub(in super::super) fn agree(
                    &self,
                    point: &[u8; POINT],
                ) -> Result<Zeroizing<[u8; SHARED]>, Error> {
                    let point = match PublicKey::from_sec1_bytes(point) {
                        Ok(valid) if point[0] == 4 => valid,
                        _ => return Err(Error::Key),
                    };
                    let shared = self.0.diffie_hellman(&point);
                    let mut bytes = Zeroizing::new([0; SHARED]);
                    bytes.copy_from_slice(shared.raw_secret_bytes());
                    Ok(bytes)
                }
            }
        }
    };
}

nist! {
    /// P-256 of the crate `p256`.
    p256, 32
}
nist! {
    /// P-384 of the crate `p384`.
    p384, 48
}
