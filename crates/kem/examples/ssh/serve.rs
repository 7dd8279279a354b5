//! The key exchange of SSH, the server's side: one client, who is sent away after the first encrypted packets.

use crate::exchange::{
    Damage, HOST_KEY, KEX_ECDH_INIT, KEX_ECDH_REPLY, NEWKEYS, SERVICE_ACCEPT, SERVICE_REQUEST,
    expect, flip, kexinit, offered,
};
use crate::method::{METHODS, Method, Transcript};
use crate::wire::{Connection, Failure, Fields, fail, put_string};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use std::net::TcpStream;
use std::time::Duration;

const DISCONNECT: u8 = 1;
const NO_MORE_METHODS: u32 = 14;

/// What the client is told at the end.
pub const FAREWELL: &str = "keys were agreed on, and nobody logs in here";

/// The host key as SSH writes it: its kind and its bytes.
pub fn host_blob(key: &Ed25519KeyPair) -> Vec<u8> {
    let mut blob = Vec::new();
    put_string(&mut blob, HOST_KEY.as_bytes());
    put_string(&mut blob, key.public_key().as_ref());
    blob
}

/// Exchanges keys with a client that connected; returns its version line and the method.
///
/// # Errors
/// Anything that is not as it should be, in a sentence.
pub fn serve(
    stream: TcpStream,
    host: &Ed25519KeyPair,
    damage: Damage,
) -> Result<(String, &'static str), Failure> {
    let patience = Duration::from_secs(10);
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    let mut connection = Connection::new(stream);
    let ours = "SSH-2.0-ringforge_0.1";
    let client = connection.greet(ours)?;
    let our_init = kexinit(METHODS)?;
    connection.send(&our_init)?;
    let their_init = expect(&mut connection, 20, "its list of algorithms")?;
    let wanted = offered(&their_init)?;
    let Some(method) = wanted.iter().find_map(|name| Method::find(name)) else {
        let (ours, theirs) = (METHODS.join(", "), wanted.join(", "));
        return fail(format!("the client has none of {ours}; it has {theirs}"));
    };

    let init = expect(&mut connection, KEX_ECDH_INIT, "its half of the exchange")?;
    let half = Fields(&init[1..]).string()?;
    let (mut answer, key) =
        (method.answer)(half).map_err(|e| Failure(format!("the client's half: {e}")))?;
    let blob = host_blob(host);
    let said = [client.as_bytes(), ours.as_bytes(), &their_init, &our_init, &blob, half, &answer];
    let transcript = Transcript::new(&method, said, &key);
    let mut signed = Vec::new();
    put_string(&mut signed, HOST_KEY.as_bytes());
    put_string(&mut signed, host.sign(&transcript.exchange).as_ref());
    match damage {
        Damage::Sent(at) => flip(&mut answer, at)?,
        Damage::Signature(at) => flip(&mut signed, at)?,
        Damage::None | Damage::Received(_) => {}
    }
    let mut reply = vec![KEX_ECDH_REPLY];
    for part in [&blob, &answer, &signed] {
        put_string(&mut reply, part);
    }
    connection.send(&reply)?;
    connection.send(&[NEWKEYS])?;
    expect(&mut connection, NEWKEYS, "its change to new keys")?;
    let [opening, sealing] = transcript.ciphers()?;
    (connection.sealing, connection.opening) = (Some(sealing), Some(opening));

    let request = expect(&mut connection, SERVICE_REQUEST, "the service that it wants")?;
    let mut accept = vec![SERVICE_ACCEPT];
    put_string(&mut accept, Fields(&request[1..]).string()?);
    connection.send(&accept)?;
    let mut farewell = vec![DISCONNECT];
    farewell.extend(NO_MORE_METHODS.to_be_bytes());
    put_string(&mut farewell, FAREWELL.as_bytes());
    put_string(&mut farewell, b"");
    connection.send(&farewell)?;
    Ok((client, method.name))
}
