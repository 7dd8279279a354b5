//! Key agreements of protocols: a lattice KEM together with X25519, P-256 or P-384, so that a
//! session is safe as long as one of the two is.
//!
//! All but [`xwing`], which is a KEM, are exchanges of two messages. The initiator makes a `Secret`
//! and an `Offer`. The other side answers the offer and has the key; the initiator gets it from the
//! `Answer`. They differ in how the two keys become one:
//!
//! | | offer | answer | key |
//! |---|---:|---:|---|
//! | [`sntrup761x25519`] | 1,190 | 1,071 | SHA-512 of both, 64 bytes |
//! | [`mlkem768x25519`] | 1,216 | 1,120 | SHA-256 of both, 32 bytes |
//! | [`mlkem768nistp256`] | 1,249 | 1,153 | SHA-256 of both, 32 bytes |
//! | [`tls`] | 1,216 | 1,120 | both as they are, 64 bytes |
//! | [`tls_p256`] | 1,249 | 1,153 | both as they are, 64 bytes |
//! | [`tls_p384`] | 1,665 | 1,665 | both as they are, 80 bytes |
//! | [`xwing`] | 1,216 | 1,120 | SHA3-256 of both, X25519's keys and a label, 32 bytes |
//!
//! The feature `hybrids` has those with X25519, of the crate `x25519-dalek`. The feature
//! `nist-hybrids` has those with P-256 and P-384, of the crates `p256` and `p384`.
//!
//! ```
//! # #[cfg(all(feature = "hybrids", feature = "sntrup761"))] {
//! use ringforge_kem::hybrid::sntrup761x25519;
//!
//! let mut rng = ringforge_kem::system_rng();
//! let (secret, offer) = sntrup761x25519::offer(&mut rng);
//! let (answer, theirs) = sntrup761x25519::answer(offer.as_bytes(), &mut rng)?;
//! let ours = secret.agree(answer.as_bytes())?;
//! assert_eq!(ours.as_bytes(), theirs.as_bytes());
//! # }
//! # Ok::<(), ringforge_kem::Error>(())
//! ```

use zeroize::Zeroize;

use crate::Error;

mod curves;

/// More stack than Rust's part of any operation here uses; the C library wipes what it uses itself.
const STACK: usize = 16384;

/// Does `work` in a frame of its own, then sets the stack that it used to zero. Scalars and shared
/// secrets go from function to function by value, and each leaves copies.
#[inline(always)]
fn wiped<T>(work: impl FnOnce() -> T) -> T {
    #[inline(never)]
    fn apart<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    #[inline(never)]
    fn wipe() {
        Zeroize::zeroize(&mut [0u8; STACK]);
    }
    let result = apart(work);
    wipe();
    result
}

/// The two parts of a message: the KEM's and the curve's, in this order if `kem_first`.
///
/// # Errors
/// It has another length.
fn parts<const N: usize, const P: usize>(
    message: &[u8],
    kem_first: bool,
) -> Result<(&[u8; N], &[u8; P]), Error> {
    let length = Error::Length { expected: N + P, found: message.len() };
    let (first, second) = message.split_at_checked(if kem_first { N } else { P }).ok_or(length)?;
    let (kem, point) = if kem_first { (first, second) } else { (second, first) };
    Ok((kem.try_into().map_err(|_| length)?, point.try_into().map_err(|_| length)?))
}

/// Both parts as one array, in the same order.
fn joined<const M: usize>(kem: &[u8], point: &[u8], kem_first: bool) -> [u8; M] {
    let (first, second) = if kem_first { (kem, point) } else { (point, kem) };
    let mut message = [0; M];
    message[..first.len()].copy_from_slice(first);
    message[first.len()..].copy_from_slice(second);
    message
}

/// A message or a key of so many bytes.
macro_rules! array {
    ($(#[$doc:meta])* $name:ident $bytes:expr) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// How many bytes it has.
            pub const BYTES: usize = $bytes;

            /// Its bytes.
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }
        }
    };
}

/// A session key of a hybrid.
macro_rules! session_key {
    ($bytes:expr) => {
        array! {
            /// The session key, set to zero when dropped.
            Key $bytes
        }

        impl Drop for Key {
            fn drop(&mut self) {
                zeroize::Zeroize::zeroize(&mut self.0);
            }
        }

        impl zeroize::ZeroizeOnDrop for Key {}

        impl core::fmt::Debug for Key {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("Key(…)")
            }
        }
    };
}

/// An exchange of two messages.
macro_rules! exchange {
    ($(#[$doc:meta])* $module:ident, $kem:ident, $curve:ident if $features:meta, kem first: $first:literal, $key:expr, $combine:expr) => {
        #[cfg($features)]
        $(#[$doc])*
        pub mod $module {
            use rand_core::CryptoRng;
            use zeroize::Zeroizing;

            use super::curves::$curve::{POINT, SHARED, Scalar};
            use super::{joined, parts, wiped};
            use crate::$kem as kem;
            use crate::Error;

            array! {
                /// The first message.
                Offer kem::PublicKey::BYTES + POINT
            }
            array! {
                /// The second message.
                Answer kem::Ciphertext::BYTES + POINT
            }
            session_key!($key);

            /// What who began keeps until the answer comes; for one session. Set to zero when dropped.
            pub struct Secret {
                kem: kem::SecretKey,
                scalar: Scalar,
            }

            /// Begins.
            pub fn offer<R: CryptoRng + ?Sized>(rng: &mut R) -> (Secret, Offer) {
                wiped(|| {
                    let (kem, public) = kem::keypair(rng);
                    let scalar = Scalar::draw(rng);
                    let offer = joined(public.as_bytes(), &scalar.point(), $first);
                    (Secret { kem, scalar }, Offer(offer))
                })
            }

            /// Answers an offer.
            ///
            /// # Errors
            /// The offer has another length, or a key in it is malformed.
            pub fn answer<R: CryptoRng + ?Sized>(
                offer: &[u8],
                rng: &mut R,
            ) -> Result<(Answer, Key), Error> {
                let (public, point) = parts::<{ kem::PublicKey::BYTES }, POINT>(offer, $first)?;
                let public = kem::PublicKey::try_from(*public)?;
                wiped(|| {
                    let scalar = Scalar::draw(rng);
                    let classical = scalar.agree(point)?;
                    let (ct, lattice) = public.encap(rng);
                    let answer = joined(ct.as_bytes(), &scalar.point(), $first);
                    Ok((Answer(answer), combine(lattice.as_bytes(), &classical)))
                })
            }

            impl Secret {
                /// The key, from the answer. A forged or damaged ciphertext gives a key that nobody knows, and not an
                /// error.
                ///
                /// # Errors
                /// The answer has another length, or its point is malformed or of small order.
                pub fn agree(self, answer: &[u8]) -> Result<Key, Error> {
                    let (ct, point) = parts::<{ kem::Ciphertext::BYTES }, POINT>(answer, $first)?;
                    let ct = kem::Ciphertext::try_from(*ct)?;
                    wiped(|| {
                        let classical = self.scalar.agree(point)?;
                        let lattice = self.kem.decap(&ct);
                        Ok(combine(lattice.as_bytes(), &classical))
                    })
                }
            }

            fn combine(lattice: &[u8; 32], classical: &[u8; SHARED]) -> Key {
                let both = Zeroizing::new(joined(lattice, classical, $first));
                let combine: fn(&[u8; 32 + SHARED]) -> [u8; $key] = $combine;
                Key(combine(&both))
            }
        }
    };
}

exchange! {
    /// `sntrup761x25519-sha512` of SSH, also with `@openssh.com` behind it [draft-ietf-sshm-ntruprime-ssh]. The key is
    /// the string K of the exchange hash.
    sntrup761x25519, sntrup761, x25519 if all(feature = "hybrids", feature = "sntrup761"),
    kem first: true, 64, |both| <sha2::Sha512 as sha2::Digest>::digest(both).into()
}
exchange! {
    /// `mlkem768x25519-sha256` of SSH [draft-ietf-sshm-mlkem-hybrid-kex]. The key is the string K of the exchange hash.
    mlkem768x25519, mlkem768, x25519 if all(feature = "hybrids", feature = "mlkem768"),
    kem first: true, 32, |both| <sha2::Sha256 as sha2::Digest>::digest(both).into()
}
exchange! {
    /// `mlkem768nistp256-sha256` of SSH [draft-ietf-sshm-mlkem-hybrid-kex]. The key is the string K of the exchange
    /// hash.
    mlkem768nistp256, mlkem768, p256 if all(feature = "nist-hybrids", feature = "mlkem768"),
    kem first: true, 32, |both| <sha2::Sha256 as sha2::Digest>::digest(both).into()
}
exchange! {
    /// `X25519MLKEM768` of TLS 1.3, group 0x11ec [draft-ietf-tls-ecdhe-mlkem]: offer and answer are the `key_exchange`
    /// of the client's and of the server's share, the key is the shared secret of the handshake.
    tls, mlkem768, x25519 if all(feature = "hybrids", feature = "mlkem768"),
    kem first: true, 64, |both| *both
}
exchange! {
    /// `SecP256r1MLKEM768` of TLS 1.3, group 0x11eb [draft-ietf-tls-ecdhe-mlkem]. Offer, answer and key are as in
    /// [`tls`](super::tls), but P-256's part comes first.
    tls_p256, mlkem768, p256 if all(feature = "nist-hybrids", feature = "mlkem768"),
    kem first: false, 64, |both| *both
}
exchange! {
    /// `SecP384r1MLKEM1024` of TLS 1.3, group 0x11ed [draft-ietf-tls-ecdhe-mlkem]. Offer, answer and key are as in
    /// [`tls`](super::tls), but P-384's part comes first.
    tls_p384, mlkem1024, p384 if all(feature = "nist-hybrids", feature = "mlkem1024"),
    kem first: false, 80, |both| *both
}

/// X-Wing, a KEM of ML-KEM-768 and X25519 [draft-connolly-cfrg-xwing-kem].
#[cfg(all(feature = "hybrids", feature = "mlkem768"))]
pub mod xwing {
    use rand_core::CryptoRng;
    use sha3::Digest;
    use shake::{ExtendableOutput, Update, XofReader};
    use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

    use super::curves::x25519::{POINT as X25519, Scalar};
    use super::{joined, parts, wiped};
    use crate::Error;
    use crate::mlkem768 as kem;

    /// Random bytes that a ciphertext is made of.
    pub const ENC_COINS: usize = kem::ENC_COINS + X25519;

    array! {
        /// A ciphertext.
        Ciphertext kem::Ciphertext::BYTES + X25519
    }
    session_key!(32);

    /// A secret key: the seed that both KEMs' keys are made of, set to zero when dropped.
    #[derive(Clone)]
    pub struct SecretKey([u8; 32]);

    /// A public key.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PublicKey {
        kem: kem::PublicKey,
        point: [u8; X25519],
    }

    impl Drop for SecretKey {
        fn drop(&mut self) {
            self.0.zeroize();
        }
    }

    impl ZeroizeOnDrop for SecretKey {}

    impl From<[u8; 32]> for SecretKey {
        fn from(seed: [u8; 32]) -> SecretKey {
            SecretKey(seed)
        }
    }

    impl TryFrom<&[u8]> for Ciphertext {
        type Error = Error;

        fn try_from(bytes: &[u8]) -> Result<Ciphertext, Error> {
            let length = Error::Length { expected: Ciphertext::BYTES, found: bytes.len() };
            bytes.try_into().map(Ciphertext).map_err(|_| length)
        }
    }

    impl TryFrom<&[u8]> for PublicKey {
        type Error = Error;

        fn try_from(bytes: &[u8]) -> Result<PublicKey, Error> {
            let (kem, point) = parts::<{ kem::PublicKey::BYTES }, X25519>(bytes, true)?;
            Ok(PublicKey { kem: kem::PublicKey::try_from(*kem)?, point: *point })
        }
    }

    /// A key pair.
    pub fn keypair<R: CryptoRng + ?Sized>(rng: &mut R) -> (SecretKey, PublicKey) {
        let Ok(seed) = crate::draw::<_, 32>(rng);
        let secret = SecretKey(*seed);
        let public = secret.public();
        (secret, public)
    }

    impl SecretKey {
        /// The seed.
        pub const fn as_bytes(&self) -> &[u8; 32] {
            &self.0
        }

        fn expand(&self) -> (kem::SecretKey, kem::PublicKey, Scalar) {
            let mut hash = shake::Shake256::default();
            hash.update(&self.0);
            let mut bytes = Zeroizing::new([0; kem::KEYPAIR_COINS + X25519]);
            hash.finalize_xof().read(bytes.as_mut_slice());
            let (coins, scalar) =
                bytes.split_first_chunk::<{ kem::KEYPAIR_COINS }>().expect("they are the first");
            let pair = kem::keypair_derand(coins).expect("ML-KEM rejects no coins");
            (pair.0, pair.1, Scalar::from_slice(scalar))
        }

        /// The public key that belongs to it.
        pub fn public(&self) -> PublicKey {
            wiped(|| {
                let (_, kem, scalar) = self.expand();
                PublicKey { kem, point: scalar.point() }
            })
        }

        /// Opens a ciphertext. A forged or damaged one gives a session key that nobody knows, and not an error.
        pub fn decap(&self, ct: &Ciphertext) -> Key {
            let (first, point) = parts::<{ kem::Ciphertext::BYTES }, X25519>(ct.as_bytes(), true)
                .expect("a ciphertext's length");
            let first = kem::Ciphertext::try_from(*first).expect("any bytes are a ciphertext");
            wiped(|| {
                let (secret, _, scalar) = self.expand();
                // All points are taken, as the draft says: ML-KEM's key and both points are hashed with the secret.
                let classical = scalar.shared(point);
                let ours = scalar.point();
                combine(secret.decap(&first).as_bytes(), classical.as_bytes(), point, &ours)
            })
        }
    }

    impl PublicKey {
        /// How many bytes it has.
        pub const BYTES: usize = kem::PublicKey::BYTES + X25519;

        /// Its bytes.
        pub fn to_bytes(&self) -> [u8; PublicKey::BYTES] {
            joined(self.kem.as_bytes(), &self.point, true)
        }

        /// Encapsulates with given coins: ML-KEM's, then X25519's secret.
        pub fn encap_derand(&self, coins: &[u8; ENC_COINS]) -> (Ciphertext, Key) {
            wiped(|| {
                let (first, second) =
                    coins.split_first_chunk::<{ kem::ENC_COINS }>().expect("they are the first");
                let (ct, lattice) = self.kem.encap_derand(first);
                let scalar = Scalar::from_slice(second);
                let classical = scalar.shared(&self.point);
                let point = scalar.point();
                let bytes = joined(ct.as_bytes(), &point, true);
                let key = combine(lattice.as_bytes(), classical.as_bytes(), &point, &self.point);
                (Ciphertext(bytes), key)
            })
        }

        /// Makes a session key and the ciphertext that it is in.
        pub fn encap<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> (Ciphertext, Key) {
            let Ok(coins) = crate::draw(rng);
            self.encap_derand(&coins)
        }
    }

    /// SHA3-256 of both keys, the ciphertext's point, the public key's, and the label.
    fn combine(
        lattice: &[u8; 32],
        classical: &[u8; 32],
        sent: &[u8; X25519],
        public: &[u8; X25519],
    ) -> Key {
        const LABEL: &[u8] = br"\.//^\";
        let hash = sha3::Sha3_256::new();
        let hash = Digest::chain_update(hash, lattice);
        let hash = Digest::chain_update(hash, classical);
        let hash = Digest::chain_update(hash, sent);
        let hash = Digest::chain_update(hash, public);
        Key(Digest::chain_update(hash, LABEL).finalize().into())
    }
}
