//! ML-KEM's keys as X.509 and PKCS#8 write them (RFC 9935). All lengths are fixed, and DER has one way to write each, so
//! what stands around a key is the same for every key.

/// ML-KEM-512, 768 and 1024 end the identifiers of NIST's KEMs by 1, 2 and 3.
const fn algorithm(sk: usize) -> [u8; 13] {
    let last = match sk {
        1632 => 1,
        2400 => 2,
        _ => 3,
    };
    [0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x04, last]
}

/// A tag and a length of 256 or more.
const fn long(tag: u8, len: usize) -> [u8; 4] {
    [tag, 0x82, (len >> 8) as u8, len as u8]
}

/// Several pieces, one behind the other: as many bytes as wanted.
pub(crate) fn joined<const N: usize>(pieces: &[&[u8]]) -> [u8; N] {
    let mut out = [0; N];
    let mut rest = &mut out[..];
    for piece in pieces {
        let (here, behind) = rest.split_at_mut(piece.len());
        here.copy_from_slice(piece);
        rest = behind;
    }
    assert!(rest.is_empty(), "the pieces are as long as the whole");
    out
}

/// What stands before a public key: `SubjectPublicKeyInfo`.
pub(crate) fn spki(sk: usize, pk: usize) -> [u8; 22] {
    joined(&[&long(0x30, pk + 18), &algorithm(sk), &long(0x03, pk + 1), &[0]])
}

/// What stands before a seed: `OneAsymmetricKey` with the choice `seed`.
pub(crate) fn seed(sk: usize) -> [u8; 22] {
    joined(&[&[0x30, 0x54, 0x02, 0x01, 0x00], &algorithm(sk), &[0x04, 0x42, 0x80, 0x40]])
}

/// What stands before a secret key: the choice `expandedKey`.
pub(crate) fn expanded(sk: usize) -> [u8; 28] {
    let head = [long(0x30, sk + 24), long(0x04, sk + 4), long(0x04, sk)];
    joined(&[&head[0], &[0x02, 0x01, 0x00], &algorithm(sk), &head[1], &head[2]])
}

/// What stands before the seed, and between it and the secret key: the choice `both`.
pub(crate) fn both(sk: usize) -> ([u8; 30], [u8; 4]) {
    let head = [long(0x30, sk + 94), long(0x04, sk + 74), long(0x30, sk + 70)];
    let version = [0x02, 0x01, 0x00];
    (
        joined(&[&head[0], &version, &algorithm(sk), &head[1], &head[2], &[0x04, 0x40]]),
        long(0x04, sk),
    )
}

/// The functions of one KEM, in its module.
macro_rules! der {
    ($pk:literal, $sk:literal, $seed:literal) => {
        impl PublicKey {
            /// The key as a certificate holds it: `SubjectPublicKeyInfo` in DER (RFC 9935).
            pub fn to_spki(&self) -> [u8; $pk + 22] {
                crate::der::joined(&[&crate::der::spki($sk, $pk), &self.0])
            }

            /// Reads what [`PublicKey::to_spki`] writes.
            ///
            /// # Errors
            /// [`Error::Encoding`]: these are not such bytes; [`Error::Key`]: no key pair has this key.
            pub fn from_spki(der: &[u8]) -> Result<PublicKey, Error> {
                let key = der.strip_prefix(&crate::der::spki($sk, $pk)[..]);
                let key: &[u8; $pk] = key.and_then(|k| k.try_into().ok()).ok_or(Error::Encoding)?;
                PublicKey::try_from(*key)
            }
        }

        impl SecretKey {
            /// The key in PKCS#8, in DER, without its seed (RFC 9935's `expandedKey`).
            pub fn to_pkcs8(&self) -> zeroize::Zeroizing<[u8; $sk + 28]> {
                zeroize::Zeroizing::new(crate::der::joined(&[&crate::der::expanded($sk), &self.0]))
            }

            /// Reads a key in PKCS#8, in each of RFC 9935's three forms. If a seed and a key are there, they must belong
            /// together.
            ///
            /// # Errors
            /// [`Error::Encoding`]: this is none of the forms; [`Error::Key`]: no key pair has this key.
            pub fn from_pkcs8(der: &[u8]) -> Result<SecretKey, Error> {
                if let Some(key) = der.strip_prefix(&crate::der::expanded($sk)[..]) {
                    let key: &[u8; $sk] = key.try_into().map_err(|_| Error::Encoding)?;
                    return SecretKey::try_from(*key);
                }
                let seed = seed_from_pkcs8(der)?;
                keypair_derand(&seed).map(|(secret, _)| secret).ok_or(Error::Key)
            }
        }

        /// A seed in PKCS#8, in DER (RFC 9935's `seed`): the shortest form of a secret key.
        pub fn seed_to_pkcs8(seed: &[u8; $seed]) -> zeroize::Zeroizing<[u8; $seed + 22]> {
            zeroize::Zeroizing::new(crate::der::joined(&[&crate::der::seed($sk), seed]))
        }

        /// The seed of a key in PKCS#8, for [`keypair_derand`] and [`decap_seed`].
        ///
        /// # Errors
        /// [`Error::Encoding`]: this is not a form with a seed; [`Error::Key`]: the secret key in it is of another seed.
        pub fn seed_from_pkcs8(der: &[u8]) -> Result<zeroize::Zeroizing<[u8; $seed]>, Error> {
            let array = |seed: &[u8]| -> Result<zeroize::Zeroizing<[u8; $seed]>, Error> {
                let seed: &[u8; $seed] = seed.try_into().map_err(|_| Error::Encoding)?;
                Ok(zeroize::Zeroizing::new(*seed))
            };
            if let Some(seed) = der.strip_prefix(&crate::der::seed($sk)[..]) {
                return array(seed);
            }
            let (before, between) = crate::der::both($sk);
            let rest = der.strip_prefix(&before[..]).ok_or(Error::Encoding)?;
            let (seed, rest) = rest.split_at_checked($seed).ok_or(Error::Encoding)?;
            let key = rest.strip_prefix(&between[..]).filter(|key| key.len() == $sk);
            let (key, seed) = (key.ok_or(Error::Encoding)?, array(seed)?);
            let (secret, _) = keypair_derand(&seed).ok_or(Error::Key)?;
            let differ = secret.0.iter().zip(key).fold(0, |sum, (a, b)| sum | (a ^ b));
            if differ == 0 { Ok(seed) } else { Err(Error::Key) }
        }
    };
}
