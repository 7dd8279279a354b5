//! The methods of key exchange that are ours, and what SSH makes of their keys.

use crate::wire::{Cipher, Failure, put_string};
use ring::digest::{Algorithm, SHA256, SHA512, digest};
use ringforge_kem::hybrid::{mlkem768x25519, sntrup761x25519};
use ringforge_kem::{Error, system_rng};

/// Makes the key out of the server's half.
pub type Agree = Box<dyn FnOnce(&[u8]) -> Result<Vec<u8>, Error>>;

/// A half of the exchange and the key.
pub type Answered = Result<(Vec<u8>, Vec<u8>), Error>;

/// A method: what it is called, how it hashes, and both sides of it.
#[derive(Debug)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// The hash function of the exchange.
    pub hash: &'static Algorithm,
    /// The client's half, and what is to be done with the server's.
    pub offer: fn() -> (Agree, Vec<u8>),
    /// The server's half and the key.
    pub answer: fn(&[u8]) -> Answered,
}

/// All of them: the first two are one under two names.
pub const METHODS: &[&str] =
    &["sntrup761x25519-sha512", "sntrup761x25519-sha512@openssh.com", "mlkem768x25519-sha256"];

macro_rules! method {
    ($name:expr, $hash:expr, $module:ident) => {
        Method {
            name: $name,
            hash: $hash,
            offer: || {
                let (secret, offer) = $module::offer(&mut system_rng());
                let agree = |answer: &[u8]| Ok(secret.agree(answer)?.as_bytes().to_vec());
                (Box::new(agree), offer.as_bytes().to_vec())
            },
            answer: |offer| {
                let (answer, key) = $module::answer(offer, &mut system_rng())?;
                Ok((answer.as_bytes().to_vec(), key.as_bytes().to_vec()))
            },
        }
    };
}

impl Method {
    /// The method of that name.
    pub fn find(name: &str) -> Option<Method> {
        [
            method!(METHODS[0], &SHA512, sntrup761x25519),
            method!(METHODS[1], &SHA512, sntrup761x25519),
            method!(METHODS[2], &SHA256, mlkem768x25519),
        ]
        .into_iter()
        .find(|method| method.name == name)
    }
}

/// What was said and agreed on, from which everything else is derived [RFC4253 §7.2, §8].
pub struct Transcript {
    hash: &'static Algorithm,
    shared: Vec<u8>,
    /// The exchange hash, which the server signs.
    pub exchange: Vec<u8>,
}

impl Transcript {
    /// Version lines, lists of algorithms, the server's host key and both halves, the client's first; and the key.
    pub fn new(method: &Method, said: [&[u8]; 7], key: &[u8]) -> Transcript {
        let mut all = Vec::new();
        for part in said {
            put_string(&mut all, part);
        }
        let mut shared = Vec::new();
        put_string(&mut shared, key);
        all.extend(&shared);
        let exchange = digest(method.hash, &all).as_ref().to_vec();
        Transcript { hash: method.hash, shared, exchange }
    }

    /// The client's cipher and the server's.
    pub fn ciphers(&self) -> Result<[Cipher; 2], Failure> {
        // Letters name what is derived: A and B nonces, C and D keys, the client's first.
        let derive = |letter: u8| {
            digest(
                self.hash,
                &[&self.shared, &self.exchange[..], &[letter], &self.exchange].concat(),
            )
        };
        let cipher = |key, nonce| Cipher::new(derive(key).as_ref(), derive(nonce).as_ref());
        Ok([cipher(b'C', b'A')?, cipher(b'D', b'B')?])
    }
}
