//! Our hybrid against OpenSSH's own server and client: keys agreed, host signature checked, one encrypted packet accepted each way;
//! and one changed byte anywhere is noticed.

#[path = "../examples/ssh/exchange.rs"]
mod exchange;
#[path = "../examples/ssh/method.rs"]
mod method;
#[path = "../examples/ssh/serve.rs"]
mod serve;
#[path = "../examples/ssh/wire.rs"]
mod wire;

use exchange::{Damage, exchange};
use method::METHODS;
use ring::signature::Ed25519KeyPair;
use ringforge_kem::sntrup761::PublicKey;
use ringforge_testing::{needs, path};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use wire::Failure;

/// A server on a loopback port with a host key of its own, killed when dropped.
struct Server {
    child: Child,
    port: u16,
    host_key: Vec<u8>,
    dir: Rc<TempDir>,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// On a free port; on another one if somebody took it meanwhile.
    fn start() -> Server {
        let dir = Rc::new(tempfile::tempdir().expect("a temporary directory"));
        let key = dir.path().join("key");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
            .arg(&key)
            .status();
        assert!(made.unwrap().success());
        let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
        let host_key = base64(public.split(' ').nth(1).unwrap()).split_off(19); // behind the type
        // Where Debian's server wants an empty directory of root's.
        let _ = std::fs::create_dir_all("/run/sshd");
        let mut said = String::new();
        for _ in 0..5 {
            let mut server = Server::on_a_port(dir.clone(), &key, host_key.clone());
            match server.listens() {
                true => return server,
                false => said += &server.log(),
            }
        }
        panic!("no server: {said}")
    }

    fn on_a_port(dir: Rc<TempDir>, key: &Path, host_key: Vec<u8>) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).unwrap().port();
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             LoginGraceTime 20\nPasswordAuthentication no\nMaxStartups 100\nLogLevel DEBUG\n",
            key.display()
        );
        std::fs::write(dir.path().join("config"), config).unwrap();
        let child = Command::new(path("sshd").expect("the test asks whether it is here"))
            .args(["-D", "-e", "-f"])
            .arg(dir.path().join("config"))
            .stderr(std::fs::File::create(dir.path().join("log")).unwrap())
            .stdin(Stdio::null())
            .spawn()
            .expect("the server starts");
        Server { child, port, host_key, dir }
    }

    /// What it says of itself.
    fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// Waits until it takes connections. (To try one would count as a guest who left without a word, for which later
    /// servers send others away.)
    fn listens(&mut self) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) && self.child.try_wait().unwrap().is_none()
        {
            if self.log().contains("Server listening on") {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// An exchange. When the connection breaks, which under load it was seen to do once in a hundred, a second and a
    /// third; an answer that is wrong is never asked for again.
    fn exchange(&self, methods: &[&str], damage: Damage) -> Result<exchange::Agreed, String> {
        let address = ("127.0.0.1", self.port);
        let mut broken = String::new();
        for _ in 0..3 {
            match exchange(address, methods, Some(&self.host_key), damage) {
                Err(Failure(why)) if why.starts_with("the connection broke") => broken = why,
                other => return other.map_err(|failure| failure.0),
            }
        }
        panic!("{broken}, three times; the server says:\n{}", self.log())
    }
}

fn base64(text: &str) -> Vec<u8> {
    let (mut bits, mut count, mut out) = (0u32, 0, Vec::new());
    for c in text.trim_end_matches('=').chars() {
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        bits = bits << 6 | digits.find(c).expect("base64") as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

#[test]
fn openssh_agrees_on_keys_with_us() {
    needs!("sshd");
    let server = Server::start();
    let agreed = server.exchange(&["sntrup761x25519-sha512@openssh.com"], Damage::None).unwrap();
    assert!(agreed.server.starts_with("SSH-2.0-OpenSSH"), "{agreed:?}");
    assert_eq!(agreed.method, "sntrup761x25519-sha512@openssh.com");
    assert_eq!(agreed.host_key, server.host_key);

    // The same under its later name, which newer servers have.
    let later = server.exchange(&METHODS[..1], Damage::None);
    match agreed.offered.iter().any(|o| o == METHODS[0]) {
        true => assert_eq!(later.unwrap().method, METHODS[0]),
        false => {
            let why = later.unwrap_err();
            assert!(
                why.starts_with("the server has none of sntrup761x25519-sha512; it has "),
                "{why}"
            );
        }
    }
    for _ in 0..10 {
        server.exchange(METHODS, Damage::None).unwrap();
    }
}

#[test]
fn one_changed_byte_is_noticed() {
    needs!("sshd");
    let server = Server::start();
    let wrong = "the server's signature is wrong: the session keys differ, or the exchange was changed on the way";
    // In the KEM's part and in that of X25519, of both halves; in the signature.
    for damage in [
        Damage::Sent(0),
        Damage::Sent(700),
        Damage::Sent(PublicKey::BYTES + 31),
        Damage::Received(0),
        Damage::Received(500),
        Damage::Received(1038),
        Damage::Received(1039),
        Damage::Signature(40),
    ] {
        let failure = server.exchange(METHODS, damage).unwrap_err();
        assert_eq!(failure, wrong, "{damage:?}");
    }
    // It is the change that the server is refused for.
    server.exchange(METHODS, Damage::None).unwrap();
}

#[test]
fn what_is_no_server_or_another_host_is_named() {
    needs!("sshd");
    let server = Server::start();
    let address = ("127.0.0.1", server.port);
    let other = exchange(address, METHODS, Some(&[7; 32]), Damage::None).unwrap_err();
    assert!(other.0.ends_with("its key is not that of the known host"), "{other}");
    let none = exchange(address, &["kyber-is-not-a-method"], None, Damage::None).unwrap_err();
    assert!(none.0.starts_with("the server has none of kyber-is-not-a-method; it has "), "{none}");

    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = deaf.local_addr().unwrap().port();
    let answer = std::thread::spawn(move || {
        use std::io::Write;
        let (mut stream, _) = deaf.accept().unwrap();
        let _ = stream.write_all(b"220 mail\r\nSSH-1.5-old\r\n");
    });
    let old = exchange(("127.0.0.1", port), METHODS, None, Damage::None).unwrap_err();
    assert_eq!(old.0, "the other side speaks another version of SSH: SSH-1.5-old");
    answer.join().unwrap();
    let gone = exchange(("127.0.0.1", port), METHODS, None, Damage::None).unwrap_err();
    assert!(gone.0.starts_with("cannot connect to 127.0.0.1:"), "{gone}");
}

/// OpenSSH's client, which knows our host key, at a server of ours: what both say, and the method.
fn client(methods: &str, damage: Damage) -> (String, Result<&'static str, Failure>) {
    let random = ring::rand::SystemRandom::new();
    let key = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
    let key = Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let known = dir.path().join("known");
    let line = format!("[127.0.0.1]:{port} ssh-ed25519 {}\n", to_base64(&serve::host_blob(&key)));
    std::fs::write(&known, line).unwrap();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        serve::serve(stream, &key, damage).map(|(client, method)| {
            assert!(client.starts_with("SSH-2.0-OpenSSH"), "{client}");
            method
        })
    });
    let said = Command::new("ssh")
        .args(["-v", "-F", "none", "-p", &port.to_string(), "-o", "BatchMode=yes"])
        .args(["-o", "StrictHostKeyChecking=yes", "-o", "GlobalKnownHostsFile=none"])
        .args(["-o", &format!("UserKnownHostsFile={}", known.display())])
        .args(["-o", &format!("KexAlgorithms={methods}")])
        .args(["127.0.0.1", "true"])
        .stdin(Stdio::null())
        .output()
        .expect("no ssh; apt-get install openssh-client");
    (String::from_utf8_lossy(&said.stderr).into_owned(), server.join().unwrap())
}

fn to_base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0u32, |n, &b| n << 8 | u32::from(b)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let digit = digits[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= three.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[test]
fn the_client_of_openssh_agrees_with_our_server() {
    needs!("ssh");
    let (said, served) = client("sntrup761x25519-sha512@openssh.com", Damage::None);
    assert_eq!(served, Ok("sntrup761x25519-sha512@openssh.com"), "{said}");
    for line in ["SSH2_MSG_NEWKEYS received", "SSH2_MSG_SERVICE_ACCEPT received", serve::FAREWELL] {
        assert!(said.contains(line), "no {line} in {said}");
    }
    // In the ciphertext, in X25519's key, in the signature.
    for damage in [Damage::Sent(0), Damage::Sent(1070), Damage::Signature(40)] {
        let (said, served) = client("sntrup761x25519-sha512@openssh.com", damage);
        assert!(served.is_err() && said.contains("incorrect signature"), "{damage:?}: {said}");
    }
    let (_, none) = client("curve25519-sha256", Damage::None);
    let why = none.unwrap_err().0;
    assert!(why.starts_with("the client has none of sntrup761x25519-sha512, "), "{why}");
}

/// A method that this machine's OpenSSH may not have yet, between both sides of ours.
#[test]
fn our_sides_agree_by_every_method() {
    for method in METHODS {
        let random = ring::rand::SystemRandom::new();
        let key = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let key = Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            serve::serve(stream, &key, Damage::None).map(|(_, method)| method)
        });
        // The farewell may come instead of what the client waits for at last, not before.
        let agreed = exchange(address, &[method], None, Damage::None);
        assert_eq!(server.join().unwrap().as_deref(), Ok(*method));
        assert_eq!(agreed.unwrap().method, *method);
    }
}
