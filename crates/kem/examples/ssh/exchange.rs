//! The key exchange of SSH, the client's side: our hybrid, everything else from `ring`. It ends after the first
//! encrypted packet that both sides accept; nobody logs in.

use crate::method::{Method, Transcript};
use crate::wire::{Connection, Failure, Fields, fail, put_string};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

pub const HOST_KEY: &str = "ssh-ed25519";
const CIPHER: &str = "aes256-gcm@openssh.com";

pub const SERVICE_REQUEST: u8 = 5;
pub const SERVICE_ACCEPT: u8 = 6;
const KEXINIT: u8 = 20;
pub const NEWKEYS: u8 = 21;
pub const KEX_ECDH_INIT: u8 = 30;
pub const KEX_ECDH_REPLY: u8 = 31;

/// A byte that is changed on the way, to see that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Nothing is changed.
    None,
    /// This byte of what we send: public key of the KEM, then of X25519.
    Sent(usize),
    /// This byte of what the server sends: ciphertext of the KEM, then public key of X25519.
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
    let Some(name) = methods.iter().find(|m| offered.iter().any(|o| o == *m)) else {
        let (none, there) = (methods.join(", "), offered.join(", "));
        return fail(format!("the server has none of {none}; it has {there}"));
    };
    let Some(method) = Method::find(name) else {
        return fail(format!("{name} is none of ours"));
    };

    // Our half: two public keys.
    let (agree, half) = (method.offer)();
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
    let key = agree(&their_half).map_err(|e| Failure(format!("the server's half: {e}")))?;

    // What the server signs: everything that was said, and the key.
    let said =
        [ours.as_bytes(), server.as_bytes(), &our_init, &their_init, host, &half, &their_half];
    let transcript = Transcript::new(&method, said, &key);
    let host_key = verify(host, &signed, &transcript.exchange)?;
    if known_host.is_some_and(|known| known != host_key) {
        return fail("the server's signature is right, but its key is not that of the known host");
    }

    connection.send(&[NEWKEYS])?;
    expect(&mut connection, NEWKEYS, "its change to new keys")?;
    let [sealing, opening] = transcript.ciphers()?;
    (connection.sealing, connection.opening) = (Some(sealing), Some(opening));

    let mut request = vec![SERVICE_REQUEST];
    put_string(&mut request, b"ssh-userauth");
    connection.send(&request)?;
    let accepted = expect(&mut connection, SERVICE_ACCEPT, "its word that it understood")?;
    if Fields(&accepted[1..]).string()? != b"ssh-userauth" {
        return fail("the server accepts another service than was asked for");
    }
    Ok(Agreed { method: name.to_string(), offered, server, host_key })
}

/// Changes one bit of byte `at`.
pub fn flip(bytes: &mut [u8], at: usize) -> Result<(), Failure> {
    match bytes.get_mut(at) {
        Some(byte) => *byte ^= 1,
        None => return fail(format!("there is no byte {at} to change, only {}", bytes.len())),
    }
    Ok(())
}

/// The next packet, which must be of one kind.
pub fn expect(connection: &mut Connection, kind: u8, what: &str) -> Result<Vec<u8>, Failure> {
    let packet = connection.receive()?;
    if packet[0] == kind {
        return Ok(packet);
    }
    fail(format!("the other side sent message {} instead of {what} ({kind})", packet[0]))
}

pub fn kexinit(methods: &[&str]) -> Result<Vec<u8>, Failure> {
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

/// The other side's methods; that it has our host key, cipher and no compression is seen here too.
pub fn offered(init: &[u8]) -> Result<Vec<String>, Failure> {
    let mut fields = Fields(&init[1..]);
    fields.take(16)?;
    let mut lists = Vec::new();
    for _ in 0..8 {
        lists.push(fields.text()?.split(',').map(str::to_owned).collect::<Vec<_>>());
    }
    let wanted = [(1, HOST_KEY), (2, CIPHER), (3, CIPHER), (6, "none"), (7, "none")];
    for (list, name) in wanted {
        if !lists[list].iter().any(|offer| offer == name) {
            return fail(format!(
                "the other side has no {name}; it has {}",
                lists[list].join(", ")
            ));
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
