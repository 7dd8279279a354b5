//! ML-KEM's keys in SPKI and PKCS#8: what OpenSSL reads in them, and what is refused.

use ringforge_kem::Error;
use ringforge_kem::mlkem768::*;
use ringforge_testing::needs;
use std::io::Write;
use std::process::{Command, Stdio};

fn seed() -> [u8; 64] {
    core::array::from_fn(|i| i as u8)
}

/// Seed and key in one, as RFC 9935 allows.
fn both(secret: &SecretKey) -> Vec<u8> {
    let long = |tag: u8, len: usize| vec![tag, 0x82, (len >> 8) as u8, len as u8];
    let octets = |content: &[u8]| [long(4, content.len()), content.to_vec()].concat();
    let inner = [vec![4, 64], seed().to_vec(), octets(secret.as_bytes())].concat();
    let inner = [long(0x30, inner.len()), inner].concat();
    let algorithm = &seed_to_pkcs8(&seed())[2..18];
    let outer = [algorithm.to_vec(), octets(&inner)].concat();
    [long(0x30, outer.len()), outer].concat()
}

#[test]
fn keys_are_read_as_they_are_written() {
    let (secret, public) = keypair_derand(&seed()).unwrap();
    assert_eq!(PublicKey::from_spki(&public.to_spki()).unwrap(), public);
    for der in [seed_to_pkcs8(&seed()).to_vec(), secret.to_pkcs8().to_vec(), both(&secret)] {
        assert_eq!(SecretKey::from_pkcs8(&der).unwrap().as_bytes(), secret.as_bytes());
    }
    for der in [seed_to_pkcs8(&seed()).to_vec(), both(&secret)] {
        assert_eq!(*seed_from_pkcs8(&der).unwrap(), seed());
    }
    assert_eq!(seed_from_pkcs8(&*secret.to_pkcs8()).unwrap_err(), Error::Encoding);
}

#[test]
fn what_is_no_key_is_refused() {
    let (secret, public) = keypair_derand(&seed()).unwrap();
    let (other, _) = keypair_derand(&[9; 64]).unwrap();
    assert_eq!(SecretKey::from_pkcs8(&both(&other)).unwrap_err(), Error::Key);
    let malformed = [&public.to_spki()[..22], &[0xff; PublicKey::BYTES]].concat();
    assert_eq!(PublicKey::from_spki(&malformed).unwrap_err(), Error::Key);
    // Each byte around the keys counts, and so does the length; the other sizes are other algorithms.
    for (head, der) in [
        (22, public.to_spki().to_vec()),
        (22, seed_to_pkcs8(&seed()).to_vec()),
        (28, secret.to_pkcs8().to_vec()),
        (30, both(&secret)),
    ] {
        let refused = |der: &[u8]| {
            assert_eq!(PublicKey::from_spki(der).unwrap_err(), Error::Encoding);
            assert_eq!(SecretKey::from_pkcs8(der).unwrap_err(), Error::Encoding);
        };
        for i in 0..head {
            let mut changed = der.clone();
            changed[i] ^= 1;
            refused(&changed);
        }
        refused(&der[..der.len() - 1]);
        refused(&[&der[..], &[0]].concat());
        refused(&[]);
    }
}

/// OpenSSL's parser, which knows nothing of ML-KEM in old versions, sees the structure and the identifier.
#[test]
fn openssl_reads_the_structure() {
    needs!("openssl");
    let (secret, public) = keypair_derand(&seed()).unwrap();
    let (spki, seed, key) =
        (public.to_spki().to_vec(), seed_to_pkcs8(&seed()).to_vec(), secret.to_pkcs8().to_vec());
    for (der, kinds) in [
        (spki, &["SEQUENCE", "SEQUENCE", "OBJECT", "BIT STRING"][..]),
        (seed, &["SEQUENCE", "INTEGER", "SEQUENCE", "OBJECT", "OCTET STRING"]),
        (key, &["SEQUENCE", "INTEGER", "SEQUENCE", "OBJECT", "OCTET STRING"]),
        (both(&secret), &["SEQUENCE", "INTEGER", "SEQUENCE", "OBJECT", "OCTET STRING"]),
    ] {
        let mut command = Command::new("openssl");
        command.args(["asn1parse", "-inform", "DER"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&der).unwrap();
        let out = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success(), "{said}");
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), kinds.len(), "{said}");
        assert!(lines.iter().zip(kinds).all(|(line, kind)| line.contains(kind)), "{said}");
        let known = said.contains("2.16.840.1.101.3.4.4.2") || said.contains("ML-KEM-768");
        assert!(known, "{said}");
    }
}
