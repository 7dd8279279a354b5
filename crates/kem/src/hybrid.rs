//! Key agreements of protocols: a lattice KEM together with X25519, so that a session is safe as
//! long as one of the two is.
//!
//! [`sntrup761x25519`], [`mlkem768x25519`] and [`tls`] are exchanges of two messages. The initiator
//! makes a `Secret` and an `Offer`. The other side answers the offer and has the key; the initiator
//! gets it from the `Answer`. [`xwing`] is a KEM. They differ in how the two keys become one:
//!
//! | | offer | answer | key |
//! |---|---:|---:|---|
//! | [`sntrup761x25519`] | 1,190 | 1,071 | SHA-512 of both, 64 bytes |
//! | [`mlkem768x25519`] | 1,216 | 1,120 | SHA-256 of both, 32 bytes |
//! | [`tls`] | 1,216 | 1,120 | both as they are, 64 bytes |
//! | [`xwing`] | 1,216 | 1,120 | SHA3-256 of both, X25519's keys and a label, 32 bytes |
//!
//! X25519 is that of the crate `x25519-dalek`.
//!
//! ```
//! # #[cfg(feature = "sntrup761")] {
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

use rand_core::CryptoRng;
use x25519_dalek::{PublicKey as Point, StaticSecret};
use zeroize::{Zeroize, Zeroizing};

use crate::Error;

/// The bytes of X25519's keys.
const X25519: usize = 32;

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

/// X25519's secret key, set to zero when dropped.
struct Scalar(Zeroizing<[u8; X25519]>);

impl Scalar {
    fn draw<R: CryptoRng + ?Sized>(rng: &mut R) -> Scalar {
        let Ok(bytes) = crate::draw(rng);
        Scalar(bytes)
    }

    fn from_slice(bytes: &[u8]) -> Scalar {
        let mut scalar = Zeroizing::new([0; X25519]);
        scalar.copy_from_slice(bytes);
        Scalar(scalar)
    }

    /// The public key.
    fn point(&self) -> [u8; X25519] {
        Point::from(&StaticSecret::from(*self.0)).to_bytes()
    }

    /// The shared secret, which is zero where the other side sent a point of small order.
    fn shared(&self, point: &[u8; X25519]) -> x25519_dalek::SharedSecret {
        StaticSecret::from(*self.0).diffie_hellman(&Point::from(*point))
    }

    /// The shared secret.
    ///
    /// # Errors
    /// It is zero, so that everybody knows it ([RFC 7748, §6.1]).
    fn agree(&self, point: &[u8; X25519]) -> Result<Zeroizing<[u8; 32]>, Error> {
        let shared = self.shared(point);
        if !shared.was_contributory() {
            return Err(Error::Key);
        }
        Ok(Zeroizing::new(shared.to_bytes()))
    }
}

/// The two parts of a message.
///
/// # Errors
/// It has another length.
fn parts<const N: usize>(message: &[u8]) -> Result<(&[u8; N], &[u8; X25519]), Error> {
    let length = Error::Length { expected: N + X25519, found: message.len() };
    let (kem, rest) = message.split_first_chunk::<N>().ok_or(length)?;
    Ok((kem, rest.try_into().map_err(|_| length)?))
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

/// An exchange of two messages: the KEM's part first, then X25519's.
macro_rules! exchange {
    ($(#[$doc:meta])* $module:ident, $kem:ident, $feature:literal, $key:expr, $combine:expr) => {
        #[cfg(feature = $feature)]
        $(#[$doc])*
        pub mod $module {
            use rand_core::CryptoRng;
            use zeroize::Zeroizing;

            use super::{Scalar, X25519, parts, wiped};
            use crate::$kem as kem;
            use crate::Error;

            array! {
                /// The first message.
                Offer kem::PublicKey::BYTES + X25519
            }
            array! {
                /// The second message.
                Answer kem::Ciphertext::BYTES + X25519
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
                    let mut offer = [0; Offer::BYTES];
                    let (first, second) = offer.split_at_mut(kem::PublicKey::BYTES);
                    first.copy_from_slice(public.as_bytes());
                    second.copy_from_slice(&scalar.point());
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
                let (public, point) = parts::<{ kem::PublicKey::BYTES }>(offer)?;
                let public = kem::PublicKey::try_from(*public)?;
                wiped(|| {
                    let scalar = Scalar::draw(rng);
                    let classical = scalar.agree(point)?;
                    let (ct, lattice) = public.encap(rng);
                    let mut answer = [0; Answer::BYTES];
                    let (first, second) = answer.split_at_mut(kem::Ciphertext::BYTES);
                    first.copy_from_slice(ct.as_bytes());
                    second.copy_from_slice(&scalar.point());
                    Ok((Answer(answer), combine(lattice.as_bytes(), &classical)))
                })
            }

            impl Secret {
                /// The key, from the answer. A forged or damaged ciphertext gives a key that nobody knows, and not an
                /// error.
                ///
                /// # Errors
                /// The answer has another length, or its point is one of small order.
                pub fn agree(self, answer: &[u8]) -> Result<Key, Error> {
                    let (ct, point) = parts::<{ kem::Ciphertext::BYTES }>(answer)?;
                    let ct = kem::Ciphertext::try_from(*ct)?;
                    wiped(|| {
                        let classical = self.scalar.agree(point)?;
                        let lattice = self.kem.decap(&ct);
                        Ok(combine(lattice.as_bytes(), &classical))
                    })
                }
            }

            fn combine(lattice: &[u8; 32], classical: &[u8; 32]) -> Key {
                let mut both = Zeroizing::new([0; 64]);
                both[..32].copy_from_slice(lattice);
                both[32..].copy_from_slice(classical);
                let combine: fn(&[u8; 64]) -> [u8; $key] = $combine;
                Key(combine(&both))
            }
        }
    };
}

exchange! {
    /// `sntrup761x25519-sha512` of SSH, also with `@openssh.com` behind it [draft-ietf-sshm-ntruprime-ssh]. The key is
    /// the string K of the exchange hash.
    sntrup761x25519, sntrup761, "sntrup761", 64, |both| <sha2::Sha512 as sha2::Digest>::digest(both).into()
}
exchange! {
    /// `mlkem768x25519-sha256` of SSH [draft-ietf-sshm-mlkem-hybrid-kex]. The key is the string K of the exchange hash.
    mlkem768x25519, mlkem768, "mlkem768", 32, |both| <sha2::Sha256 as sha2::Digest>::digest(both).into()
}
exchange! {
    /// `X25519MLKEM768` of TLS 1.3, group 0x11ec [draft-ietf-tls-ecdhe-mlkem]: offer and answer are the `key_exchange`
    /// of the client's and of the server's share, the key is the shared secret of the handshake.
    tls, mlkem768, "mlkem768", 64, |both| *both
}

/// X-Wing, a KEM of ML-KEM-768 and X25519 [draft-connolly-cfrg-xwing-kem].
#[cfg(feature = "mlkem768")]
pub mod xwing {
    use rand_core::CryptoRng;
    use sha3::Digest;
    use shake::{ExtendableOutput, Update, XofReader};
    use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

    use super::{Scalar, X25519, parts, wiped};
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
            let (kem, point) = parts::<{ kem::PublicKey::BYTES }>(bytes)?;
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
            let (first, point) =
                parts::<{ kem::Ciphertext::BYTES }>(ct.as_bytes()).expect("a ciphertext's length");
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
            let mut bytes = [0; PublicKey::BYTES];
            let (first, second) = bytes.split_at_mut(kem::PublicKey::BYTES);
            first.copy_from_slice(self.kem.as_bytes());
            second.copy_from_slice(&self.point);
            bytes
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
                let mut bytes = [0; Ciphertext::BYTES];
                let (first, second) = bytes.split_at_mut(kem::Ciphertext::BYTES);
                first.copy_from_slice(ct.as_bytes());
                second.copy_from_slice(&point);
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
