//! The key exchange of SSH by sntrup761 and X25519 [draft-ietf-sshm-ntruprime-ssh]: our KEM, everything else from
//! `ring`. It ends after the first encrypted packet that both sides accept; nobody logs in.

use crate::wire::{Cipher, Connection, Failure, Fields, fail, put_string};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::digest::{SHA512, digest};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature;
use ringforge_kem::sntrup761::{self, Ciphertext};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The methods, one algorithm under two names.
pub const METHODS: &[&str] = &["sntrup761x25519-sha512", "sntrup761x25519-sha512@openssh.com"];

const HOST_KEY: &str = "ssh-ed25519";
const CIPHER: &str = "aes256-gcm@openssh.com";

const SERVICE_REQUEST: u8 = 5;
const SERVICE_ACCEPT: u8 = 6;
const KEXINIT: u8 = 20;
const NEWKEYS: u8 = 21;
const KEX_ECDH_INIT: u8 = 30;
const KEX_ECDH_REPLY: u8 = 31;

/// A byte that is changed on the way, to see that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Nothing is changed.
    None,
    /// This byte of what we send: public key of sntrup761, then of X25519.
    Sent(usize),
    /// This byte of what the server sends: ciphertext of sntrup761, then public key of X25519.
    Received(usize),
    /// This byte of the server's signature, its kind in front.
    Signature(usize),
}

/// What was agreed on.
#[derive(Debug)]
pub struct Agreed {
    /// The method.
    pub method: String,
    /// Everything that the server offers.
    pub offered: Vec<String>,
    /// Its version line.
    pub server: String,
    /// Its Ed25519 key, whose signature was right.
    pub host_key: Vec<u8>,
}

/// Connects, exchanges keys by one of `methods`, and has one encrypted packet accepted in each direction. A host key
/// that is given must be the server's.
///
/// # Errors
/// Anything that is not as it should be, in a sentence.
pub fn exchange(
    address: impl ToSocketAddrs,
    methods: &[&str],
    known_host: Option<&[u8]>,
    damage: Damage,
) -> Result<Agreed, Failure> {
    let patience = Duration::from_secs(10);
    let Some(address) = address.to_socket_addrs()?.next() else {
        return fail("there is no such host");
    };
    let stream = TcpStream::connect_timeout(&address, patience)
        .map_err(|e| Failure(format!("cannot connect to {address}: {e}")))?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    let mut connection = Connection::new(stream);
    let ours = "SSH-2.0-ringforge_0.1";
    let server = connection.greet(ours)?;

    let our_init = kexinit(methods)?;
    connection.send(&our_init)?;
    let their_init = expect(&mut connection, KEXINIT, "its list of algorithms")?;
    let offered = offered(&their_init)?;
    let Some(method) = methods.iter().find(|m| offered.iter().any(|o| o == *m)) else {
        let (none, there) = (methods.join(", "), offered.join(", "));
        return fail(format!("the server has none of {none}; it has {there}"));
    };

    // Our half: two public keys.
    let random = SystemRandom::new();
    let broken = |_| Failure("the system has no random bytes".into());
    let (secret, public) = sntrup761::keypair(&mut ringforge_kem::system_rng());
    let secret_x = EphemeralPrivateKey::generate(&X25519, &random).map_err(broken)?;
    let public_x = secret_x.compute_public_key().map_err(broken)?;
    let half = [&public.as_bytes()[..], public_x.as_ref()].concat();
    let mut message = vec![KEX_ECDH_INIT];
    put_string(&mut message, &half);
    if let Damage::Sent(at) = damage {
        flip(&mut message[5..], at)?;
    }
    connection.send(&message)?;

    // Theirs: host key; ciphertext and public key; signature.
    let reply = expect(&mut connection, KEX_ECDH_REPLY, "its half of the exchange")?;
    let mut fields = Fields(&reply[1..]);
    let host = fields.string()?;
    let mut their_half = fields.string()?.to_vec();
    let mut signed = fields.string()?.to_vec();
    match damage {
        Damage::Received(at) => flip(&mut their_half, at)?,
        Damage::Signature(at) => flip(&mut signed, at)?,
        Damage::None | Damage::Sent(_) => {}
    }
    let Some((ciphertext, their_x)) = their_half.split_at_checked(Ciphertext::BYTES) else {
        return fail(format!("the server's half is {} bytes, too short", their_half.len()));
    };
    let ciphertext = Ciphertext::try_from(ciphertext).map_err(|e| Failure(e.to_string()))?;
    let inner = secret.decap(&ciphertext);
    let key = agree_ephemeral(secret_x, &UnparsedPublicKey::new(&X25519, their_x), |outer| {
        digest(&SHA512, &[&inner.as_bytes()[..], outer].concat())
    });
    let key = key.map_err(|_| Failure("the server's X25519 key is no key".into()))?;

    // What the server signs: everything that was said, and the key.
    let mut said = Vec::new();
    for part in
        [ours.as_bytes(), server.as_bytes(), &our_init, &their_init, host, &half, &their_half]
    {
        put_string(&mut said, part);
    }
    let mut shared = Vec::new();
    put_string(&mut shared, key.as_ref());
    said.extend(&shared);
    let hash = digest(&SHA512, &said);
    let host_key = verify(host, &signed, hash.as_ref())?;
    if known_host.is_some_and(|known| known != host_key) {
        return fail("the server's signature is right, but its key is not that of the known host");
    }

    connection.send(&[NEWKEYS])?;
    expect(&mut connection, NEWKEYS, "its change to new keys")?;
    // Letters name what is derived [RFC4253 §7.2]: A and B nonces, C and D keys, ours first.
    let derive =
        |letter: u8| digest(&SHA512, &[&shared, hash.as_ref(), &[letter], hash.as_ref()].concat());
    connection.sealing = Some(Cipher::new(derive(b'C').as_ref(), derive(b'A').as_ref())?);
    connection.opening = Some(Cipher::new(derive(b'D').as_ref(), derive(b'B').as_ref())?);

    let mut request = vec![SERVICE_REQUEST];
    put_string(&mut request, b"ssh-userauth");
    connection.send(&request)?;
    let accepted = expect(&mut connection, SERVICE_ACCEPT, "its word that it understood")?;
    if Fields(&accepted[1..]).string()? != b"ssh-userauth" {
        return fail("the server accepts another service than was asked for");
    }
    Ok(Agreed { method: method.to_string(), offered, server, host_key })
}

/// Changes one bit of byte `at`.
fn flip(bytes: &mut [u8], at: usize) -> Result<(), Failure> {
    match bytes.get_mut(at) {
        Some(byte) => *byte ^= 1,
        None => return fail(format!("there is no byte {at} to change, only {}", bytes.len())),
    }
    Ok(())
}

/// The next packet, which must be of one kind.
fn expect(connection: &mut Connection, kind: u8, what: &str) -> Result<Vec<u8>, Failure> {
    let packet = connection.receive()?;
    if packet[0] == kind {
        return Ok(packet);
    }
    fail(format!("the server sent message {} instead of {what} ({kind})", packet[0]))
}

fn kexinit(methods: &[&str]) -> Result<Vec<u8>, Failure> {
    let mut packet = vec![KEXINIT];
    let mut cookie = [0; 16];
    let filled = SystemRandom::new().fill(&mut cookie);
    filled.map_err(|_| Failure("the system has no random bytes".into()))?;
    packet.extend(cookie);
    // Methods and host keys; ciphers, MACs (which GCM is itself, but the list must not be empty), compression and
    // languages, each for both directions.
    let methods = methods.join(",");
    let mac = "hmac-sha2-256";
    for names in [&methods, HOST_KEY, CIPHER, CIPHER, mac, mac, "none", "none", "", ""] {
        put_string(&mut packet, names.as_bytes());
    }
    packet.extend([0; 5]); // no guess follows; reserved
    Ok(packet)
}

/// The server's methods; that it has our host key, cipher and no compression is seen here too.
fn offered(init: &[u8]) -> Result<Vec<String>, Failure> {
    let mut fields = Fields(&init[1..]);
    fields.take(16)?;
    let mut lists = Vec::new();
    for _ in 0..8 {
        lists.push(fields.text()?.split(',').map(str::to_owned).collect::<Vec<_>>());
    }
    let wanted = [(1, HOST_KEY), (2, CIPHER), (3, CIPHER), (6, "none"), (7, "none")];
    for (list, name) in wanted {
        if !lists[list].iter().any(|offer| offer == name) {
            return fail(format!("the server has no {name}; it has {}", lists[list].join(", ")));
        }
    }
    Ok(lists.swap_remove(0))
}

/// Checks the signature by an Ed25519 host key; returns the key.
fn verify(host: &[u8], signed: &[u8], hash: &[u8]) -> Result<Vec<u8>, Failure> {
    let parts = |blob| -> Result<(String, Vec<u8>), Failure> {
        let mut fields = Fields(blob);
        Ok((fields.text()?, fields.string()?.to_vec()))
    };
    let ((key_kind, key), (signature_kind, signature)) = (parts(host)?, parts(signed)?);
    if key_kind != HOST_KEY || signature_kind != HOST_KEY {
        return fail(format!(
            "the server signs by {key_kind} and {signature_kind}, not {HOST_KEY}"
        ));
    }
    let checked =
        signature::UnparsedPublicKey::new(&signature::ED25519, &key).verify(hash, &signature);
    checked.map_err(|_| {
        Failure(
            "the server's signature is wrong: the session keys differ, or the exchange was changed on the way"
                .into(),
        )
    })?;
    Ok(key)
}
