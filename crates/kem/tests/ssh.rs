//! Our KEM against OpenSSH's own server: keys agreed, host signature checked, one encrypted packet accepted each way;
//! and one changed byte anywhere is noticed.

#[path = "../examples/ssh/exchange.rs"]
mod exchange;
#[path = "../examples/ssh/wire.rs"]
mod wire;

use exchange::{Damage, METHODS, exchange};
use ringforge_kem::sntrup761::PublicKey;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server on a loopback port with a host key of its own, killed when dropped.
struct Server {
    child: Child,
    port: u16,
    host_key: Vec<u8>,
    _dir: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start() -> Server {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| dir.path().join(name).display().to_string();
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", &path("key")])
            .status();
        assert!(made.is_ok_and(|s| s.success()), "no ssh-keygen; apt-get install openssh-server");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).unwrap().port();
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             LoginGraceTime 20\nPasswordAuthentication no\nMaxStartups 100\n",
            path("key")
        );
        std::fs::write(path("config"), config).unwrap();
        // Where Debian's server wants an empty directory of root's.
        let _ = std::fs::create_dir_all("/run/sshd");
        let child = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f", &path("config")])
            .stderr(std::fs::File::create(path("log")).unwrap())
            .stdin(Stdio::null())
            .spawn()
            .expect("no /usr/sbin/sshd; apt-get install openssh-server");
        let public = std::fs::read_to_string(path("key.pub")).unwrap();
        let host_key = base64(public.split(' ').nth(1).unwrap()).split_off(19); // behind the type
        let mut server = Server { child, port, host_key, _dir: dir };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = server.child.try_wait().unwrap();
            assert!(
                ended.is_none() && start.elapsed() < Duration::from_secs(20),
                "no server: {}",
                {
                    let log = server._dir.path().join("log");
                    std::fs::read_to_string(log).unwrap_or_default()
                }
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    fn exchange(
        &self,
        methods: &[&str],
        damage: Damage,
    ) -> Result<exchange::Agreed, wire::Failure> {
        exchange(("127.0.0.1", self.port), methods, Some(&self.host_key), damage)
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
            let why = later.unwrap_err().0;
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
        assert_eq!(failure.0, wrong, "{damage:?}");
    }
    // It is the change that the server is refused for.
    server.exchange(METHODS, Damage::None).unwrap();
}

#[test]
fn what_is_no_server_or_another_host_is_named() {
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
    assert_eq!(old.0, "the server speaks another version of SSH: SSH-1.5-old");
    answer.join().unwrap();
    let gone = exchange(("127.0.0.1", port), METHODS, None, Damage::None).unwrap_err();
    assert!(gone.0.starts_with("cannot connect to 127.0.0.1:"), "{gone}");
}
