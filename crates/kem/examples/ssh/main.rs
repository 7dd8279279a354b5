//! Shakes hands with an OpenSSH server: `cargo run --example ssh -- 127.0.0.1:22`. No one logs in. With `sent N`,
//! `received N` or `signature N` behind that, a bit of byte N is changed on the way, which must be noticed.
//! `listen 127.0.0.1:2222` is the other side, for `ssh -p 2222 127.0.0.1`, with a host key of its own each time.

mod exchange;
mod method;
mod serve;
mod wire;

use exchange::{Damage, exchange};
use method::METHODS;
use ring::signature::Ed25519KeyPair;

fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (address, damage) = match words[..] {
        ["listen", address] => return listen(address),
        [address] => (address, Some(Damage::None)),
        [address, what, byte] => (address, damage(what, byte)),
        _ => ("", None),
    };
    let Some(damage) = damage else {
        eprintln!("usage: ssh HOST:PORT [sent|received|signature BYTE], or ssh listen HOST:PORT");
        return 2.into();
    };
    match exchange(address, METHODS, None, damage) {
        Ok(agreed) => {
            let key: String = agreed.host_key.iter().map(|byte| format!("{byte:02x}")).collect();
            let (server, count) = (agreed.server, agreed.offered.len());
            println!("{server} agreed on keys by {}, one of its {count} methods", agreed.method);
            println!(
                "its Ed25519 key {key} signed for it; one encrypted packet each way was accepted"
            );
            0.into()
        }
        Err(failure) => {
            eprintln!("error: {failure}");
            1.into()
        }
    }
}

fn listen(address: &str) -> std::process::ExitCode {
    let random = ring::rand::SystemRandom::new();
    let host = Ed25519KeyPair::generate_pkcs8(&random)
        .ok()
        .and_then(|key| Ed25519KeyPair::from_pkcs8(key.as_ref()).ok());
    let (Some(host), Ok(listener)) = (host, std::net::TcpListener::bind(address)) else {
        eprintln!("error: no host key, or nobody may listen at {address}");
        return 1.into();
    };
    for stream in listener.incoming().flatten() {
        match serve::serve(stream, &host, Damage::None) {
            Ok((client, method)) => println!("{client} agreed on keys by {method}"),
            Err(failure) => eprintln!("error: {failure}"),
        }
    }
    0.into()
}

fn damage(what: &str, byte: &str) -> Option<Damage> {
    let at = byte.parse().ok()?;
    match what {
        "sent" => Some(Damage::Sent(at)),
        "received" => Some(Damage::Received(at)),
        "signature" => Some(Damage::Signature(at)),
        _ => None,
    }
}
