//! One KEM from its sizes. Everything that is unsafe is a call of the C library with arrays of the lengths that its
//! header states.
#![allow(unused_macros)] // not all kinds of KEM are compiled always

/// The module of one KEM, and the marker type of its traits; see `kems.rs`.
macro_rules! kem {
    ($mod:ident, $name:literal, $title:literal, $pk:literal, $sk:literal, $ct:literal, $keypair:literal,
     $enc:literal; $(prepared $words:literal)? $([$more:ident])?
     $(, traits $marker:ident $at:literal $pk_size:ident $sk_size:ident $ct_size:ident)?) => {
        #[cfg(feature = $name)]
        #[doc = concat!($title, ": keys, ciphertexts, and what is done with them.")]
        #[allow(unsafe_code)] // calls of the C library
        pub mod $mod {
            use crate::{Error, GenerateError};
            use rand_core::{CryptoRng, TryCryptoRng};
            use zeroize::{Zeroize, ZeroizeOnDrop};

            /// Random bytes that a key pair is made of.
            pub const KEYPAIR_COINS: usize = $keypair;
            /// Random bytes that a ciphertext is made of.
            pub const ENC_COINS: usize = $enc;

            unsafe extern "C" {
                #[link_name = concat!("ringforge_rs_crypto_kem_", $name, "_keypair_derand")]
                fn c_keypair(pk: *mut u8, sk: *mut u8, coins: *const u8) -> i32;
                #[link_name = concat!("ringforge_rs_crypto_kem_", $name, "_enc_derand")]
                fn c_enc(ct: *mut u8, ss: *mut u8, pk: *const u8, coins: *const u8) -> i32;
                #[link_name = concat!("ringforge_rs_crypto_kem_", $name, "_dec")]
                fn c_dec(ss: *mut u8, ct: *const u8, sk: *const u8) -> i32;
                #[link_name = concat!("ringforge_rs_crypto_kem_", $name, "_check_pk")]
                fn c_check_pk(pk: *const u8) -> i32;
                #[link_name = concat!("ringforge_rs_crypto_kem_", $name, "_check_sk")]
                fn c_check_sk(sk: *const u8) -> i32;
            }

            /// A public key that the scheme accepts.
            #[derive(Clone, Debug, PartialEq, Eq)]
            #[repr(transparent)]
            pub struct PublicKey([u8; $pk]);

            /// A secret key that the scheme accepts, set to zero when dropped.
            #[derive(Clone)]
            #[repr(transparent)]
            pub struct SecretKey([u8; $sk]);

            /// A ciphertext, as it is sent.
            #[derive(Clone, Debug, PartialEq, Eq)]
            #[repr(transparent)]
            pub struct Ciphertext([u8; $ct]);

            /// A session key, set to zero when dropped.
            #[derive(Clone)]
            pub struct SharedKey([u8; 32]);

            bytes!(PublicKey, $pk, check_public_key);
            bytes!(SecretKey, $sk, check_secret_key);
            bytes!(Ciphertext, $ct, |_| Ok(()));
            bytes!(SharedKey, 32, |_| Ok(()));
            secret!(SecretKey);
            secret!(SharedKey);

            /// Checks the encoding of a public key, as [`PublicKey::try_from`] does.
            ///
            /// # Errors
            /// [`Error::Key`]: no key pair has this public key.
            pub fn check_public_key(bytes: &[u8; $pk]) -> Result<(), Error> {
                // SAFETY: an array of the KEM's length.
                match unsafe { c_check_pk(bytes.as_ptr()) } {
                    0 => Ok(()),
                    _ => Err(Error::Key),
                }
            }

            /// Checks the encoding of a secret key, and that its parts belong together, as [`SecretKey::try_from`] does.
            ///
            /// # Errors
            /// [`Error::Key`]: no key pair has this secret key.
            pub fn check_secret_key(bytes: &[u8; $sk]) -> Result<(), Error> {
                // SAFETY: an array of the KEM's length.
                match unsafe { c_check_sk(bytes.as_ptr()) } {
                    0 => Ok(()),
                    _ => Err(Error::Key),
                }
            }

            /// The pairwise consistency test: encapsulates to one key and opens with the other.
            ///
            /// # Errors
            /// [`Error::Key`]: the keys are no pair.
            pub fn check_pair<R: CryptoRng + ?Sized>(
                secret: &SecretKey,
                public: &PublicKey,
                rng: &mut R,
            ) -> Result<(), Error> {
                let (ct, ours) = public.encap(rng);
                let theirs = secret.decap(&ct);
                let differ = ours.0.iter().zip(&theirs.0).fold(0, |sum, (a, b)| sum | (a ^ b));
                if differ == 0 { Ok(()) } else { Err(Error::Key) }
            }

            /// A key pair from given coins; none from coins that the scheme rejects (take others).
            pub fn keypair_derand(coins: &[u8; $keypair]) -> Option<(SecretKey, PublicKey)> {
                let (mut sk, mut pk) = (SecretKey([0; $sk]), PublicKey([0; $pk]));
                // SAFETY: arrays of the KEM's lengths that overlap nowhere.
                let error =
                    unsafe { c_keypair(pk.0.as_mut_ptr(), sk.0.as_mut_ptr(), coins.as_ptr()) };
                (error == 0).then_some((sk, pk))
            }

            /// A key pair from a generator that can fail.
            ///
            /// # Errors
            /// The generator's, or [`GenerateError::Stuck`].
            pub fn try_keypair<R: TryCryptoRng + ?Sized>(
                rng: &mut R,
            ) -> Result<(SecretKey, PublicKey), GenerateError<R::Error>> {
                for _ in 0..crate::TRIES {
                    let coins = crate::draw(rng).map_err(GenerateError::Generator)?;
                    if let Some(pair) = keypair_derand(&*coins) {
                        return Ok(pair);
                    }
                }
                Err(GenerateError::Stuck)
            }

            /// A key pair.
            ///
            /// # Panics
            /// The generator is stuck: no key can be made of anything that it gives. [`try_keypair`] returns that as an
            /// error.
            pub fn keypair<R: CryptoRng + ?Sized>(rng: &mut R) -> (SecretKey, PublicKey) {
                match try_keypair(rng) {
                    Ok(pair) => pair,
                    Err(GenerateError::Stuck) => panic!("{}", crate::STUCK),
                }
            }

            impl PublicKey {
                fn enc(&self, coins: &[u8; $enc]) -> Option<(Ciphertext, SharedKey)> {
                    let (mut ct, mut ss) = (Ciphertext([0; $ct]), SharedKey([0; 32]));
                    let (c, s) = (ct.0.as_mut_ptr(), ss.0.as_mut_ptr());
                    // SAFETY: arrays of the KEM's lengths that overlap nowhere.
                    let error = unsafe { c_enc(c, s, self.0.as_ptr(), coins.as_ptr()) };
                    (error == 0).then_some((ct, ss))
                }

                /// Encapsulates with given coins.
                pub fn encap_derand(&self, coins: &[u8; $enc]) -> (Ciphertext, SharedKey) {
                    self.enc(coins).expect("a public key is checked when it is made")
                }

                /// Makes a session key and the ciphertext that it is in.
                pub fn encap<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> (Ciphertext, SharedKey) {
                    let Ok(coins) = crate::draw(rng);
                    self.encap_derand(&coins)
                }
            }

            impl SecretKey {
                fn dec(&self, ct: &Ciphertext) -> Option<SharedKey> {
                    let mut ss = SharedKey([0; 32]);
                    // SAFETY: arrays of the KEM's lengths that overlap nowhere.
                    let error =
                        unsafe { c_dec(ss.0.as_mut_ptr(), ct.0.as_ptr(), self.0.as_ptr()) };
                    (error == 0).then_some(ss)
                }

                /// Opens a ciphertext. A forged or damaged one gives a session key that nobody knows, and not an
                /// error.
                pub fn decap(&self, ct: &Ciphertext) -> SharedKey {
                    self.dec(ct).expect("a secret key is checked when it is made")
                }
            }

            $(prepared!($name, $words, $pk, $ct, $enc);)?
            $($more!($name, $pk, $sk, $ct, $keypair);)?
            $(traits!($marker, $title, $pk, $sk, $ct, $at, $pk_size, $sk_size, $ct_size);)?
        }
        $(
            #[cfg(feature = $name)]
            pub use $mod::$marker;
        )?
    };
}

/// A type that is an array of bytes, and where they come from and go.
macro_rules! bytes {
    ($type:ident, $len:literal, $valid:expr) => {
        impl $type {
            /// How many bytes it has.
            pub const BYTES: usize = $len;

            /// Its bytes.
            pub const fn as_bytes(&self) -> &[u8; $len] {
                &self.0
            }
        }

        impl TryFrom<[u8; $len]> for $type {
            type Error = Error;

            fn try_from(bytes: [u8; $len]) -> Result<Self, Error> {
                let made = $type(bytes);
                let valid: fn(&[u8; $len]) -> Result<(), Error> = $valid;
                valid(&made.0).map(|()| made)
            }
        }

        impl TryFrom<&[u8]> for $type {
            type Error = Error;

            fn try_from(bytes: &[u8]) -> Result<Self, Error> {
                let array = <[u8; $len]>::try_from(bytes);
                array.map_err(|_| Error::Length { expected: $len, found: bytes.len() })?.try_into()
            }
        }
    };
}

/// What is secret is not shown, and does not stay.
macro_rules! secret {
    ($type:ident) => {
        impl Zeroize for $type {
            fn zeroize(&mut self) {
                self.0.zeroize();
            }
        }

        impl Drop for $type {
            fn drop(&mut self) {
                self.0.zeroize();
            }
        }

        impl ZeroizeOnDrop for $type {}

        impl core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($type), "(…)"))
            }
        }
    };
}

/// Public keys that are used often.
macro_rules! prepared {
    ($name:literal, $words:literal, $pk:literal, $ct:literal, $enc:literal) => {
        unsafe extern "C" {
            #[link_name = concat!("ringforge_rs_crypto_kem_", $name, "_prepare")]
            fn c_prepare(prepared: *mut Prepared, pk: *const u8) -> i32;
            #[link_name = concat!("ringforge_rs_crypto_kem_", $name, "_enc_prepared_derand")]
            fn c_enc_prepared(
                ct: *mut u8,
                ss: *mut u8,
                prepared: *const Prepared,
                coins: *const u8,
            ) -> i32;
        }

        /// A public key in the form that encapsulation works with, for those who encapsulate to one key
        /// often: decoded and hashed. Good for this process only.
        #[derive(Clone)]
        #[repr(C, align(32))]
        pub struct Prepared([u64; $words]);

        impl core::fmt::Debug for Prepared {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("Prepared(…)")
            }
        }

        impl PublicKey {
            /// Decodes and hashes the key once for all encapsulations.
            pub fn prepare(&self) -> Prepared {
                let mut prepared = Prepared([0; $words]);
                // SAFETY: C's type is no larger and no more aligned (build.rs), the key has its length.
                let error = unsafe { c_prepare(&mut prepared, self.0.as_ptr()) };
                assert_eq!(error, 0, "a public key is checked when it is made");
                prepared
            }
        }

        impl Prepared {
            /// Encapsulates with given coins.
            pub fn encap_derand(&self, coins: &[u8; $enc]) -> (Ciphertext, SharedKey) {
                let (mut ct, mut ss) = (Ciphertext([0; $ct]), SharedKey([0; 32]));
                let (c, s) = (ct.0.as_mut_ptr(), ss.0.as_mut_ptr());
                // SAFETY: as in `prepare`; the arrays have the KEM's lengths and overlap nowhere.
                let error = unsafe { c_enc_prepared(c, s, self, coins.as_ptr()) };
                assert_eq!(error, 0, "a public key is checked when it is made");
                (ct, ss)
            }

            /// Makes a session key and the ciphertext that it is in: the same as from the key itself.
            pub fn encap<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> (Ciphertext, SharedKey) {
                let Ok(coins) = crate::draw(rng);
                self.encap_derand(&coins)
            }
        }
    };
}

/// Many key pairs at once.
macro_rules! batch {
    ($name:literal, $pk:literal, $sk:literal, $ct:literal, $keypair:literal) => {
        #[cfg(feature = "getrandom")]
        unsafe extern "C" {
            #[link_name = concat!("ringforge_rs_crypto_kem_", $name, "_keypair_batch")]
            fn c_keypair_batch(pks: *mut u8, sks: *mut u8, count: usize) -> i32;
        }

        /// `N` key pairs from the system's random bytes, much faster than one by one where keys need
        /// inversions (Streamlined NTRU Prime).
        ///
        /// # Errors
        /// [`Error::Random`] if the system has no random bytes.
        #[cfg(feature = "getrandom")]
        pub fn keypairs<const N: usize>() -> Result<([SecretKey; N], [PublicKey; N]), Error> {
            let mut sks = [const { SecretKey([0; $sk]) }; N];
            let mut pks = [const { PublicKey([0; $pk]) }; N];
            let (p, s) = (pks.as_mut_ptr().cast(), sks.as_mut_ptr().cast());
            // SAFETY: both types are transparent, so each array is N keys one behind the other.
            match unsafe { c_keypair_batch(p, s, N) } {
                0 => Ok((sks, pks)),
                _ => Err(Error::Random),
            }
        }
    };
}

/// Key pairs that are kept as the coins they are made of.
macro_rules! seed {
    ($name:literal, $pk:literal, $sk:literal, $ct:literal, $keypair:literal) => {
        der!($pk, $sk, $keypair);

        unsafe extern "C" {
            #[link_name = concat!("ringforge_rs_crypto_kem_", $name, "_dec_seed")]
            fn c_dec_seed(ss: *mut u8, ct: *const u8, seed: *const u8) -> i32;
        }

        /// Opens a ciphertext with the coins that [`keypair_derand`] makes the key pair of, FIPS 203's (d, z), in place of
        /// the secret key.
        pub fn decap_seed(seed: &[u8; $keypair], ct: &Ciphertext) -> SharedKey {
            let mut ss = SharedKey([0; 32]);
            // SAFETY: arrays of the KEM's lengths that overlap nowhere.
            let error = unsafe { c_dec_seed(ss.0.as_mut_ptr(), ct.0.as_ptr(), seed.as_ptr()) };
            assert_eq!(error, 0, "every seed makes a key, and the hash functions here cannot fail");
            ss
        }
    };
}

/// RustCrypto's traits.
macro_rules! traits {
    ($marker:ident, $title:literal, $pk:literal, $sk:literal, $ct:literal, $at:literal, $pk_size:ident,
     $sk_size:ident, $ct_size:ident) => {
        use hybrid_array::sizes;
        use kem::common::KeySizeUser;
        use kem::{
            Decapsulate, Decapsulator, Encapsulate, Generate, InvalidKey, Key, KeyExport,
            TryKeyInit,
        };

        #[doc = concat!($title, " for the traits of the crate `kem`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $marker;

        impl kem::Kem for $marker {
            type DecapsulationKey = SecretKey;
            type EncapsulationKey = PublicKey;
            type SharedKeySize = sizes::U32;
            type CiphertextSize = sizes::$ct_size;
        }

        trait_key!(PublicKey, $pk_size);
        trait_key!(SecretKey, $sk_size);

        impl Generate for SecretKey {
            fn try_generate_from_rng<R: TryCryptoRng + ?Sized>(
                rng: &mut R,
            ) -> Result<Self, R::Error> {
                match try_keypair(rng) {
                    Ok((secret, _)) => Ok(secret),
                    Err(GenerateError::Generator(error)) => Err(error),
                    Err(GenerateError::Stuck) => panic!("{}", crate::STUCK), // the trait has no error for it
                }
            }
        }

        impl Encapsulate for PublicKey {
            type Kem = $marker;

            fn encapsulate_with_rng<R: CryptoRng + ?Sized>(
                &self,
                rng: &mut R,
            ) -> (kem::Ciphertext<$marker>, kem::SharedKey<$marker>) {
                let (ct, ss) = self.encap(rng);
                (ct.0.into(), ss.0.into())
            }
        }

        impl Decapsulator for SecretKey {
            type Kem = $marker;

            fn encapsulation_key(&self) -> &PublicKey {
                let inside: &[u8; $pk] =
                    self.0[$at..].first_chunk().expect("the public key lies in the secret key");
                // SAFETY: `PublicKey` is a transparent array of bytes; this one was made with the secret key.
                unsafe { &*core::ptr::from_ref(inside).cast() }
            }
        }

        impl Decapsulate for SecretKey {
            fn decapsulate(&self, ct: &kem::Ciphertext<$marker>) -> kem::SharedKey<$marker> {
                self.decap(&Ciphertext(ct.0)).0.into()
            }
        }
    };
}

/// A key's bytes for the traits.
macro_rules! trait_key {
    ($type:ident, $size:ident) => {
        impl KeySizeUser for $type {
            type KeySize = sizes::$size;
        }

        impl KeyExport for $type {
            fn to_bytes(&self) -> Key<Self> {
                self.0.into()
            }
        }

        impl TryKeyInit for $type {
            fn new(key: &Key<Self>) -> Result<Self, InvalidKey> {
                $type::try_from(key.0).map_err(|_| InvalidKey)
            }
        }
    };
}
