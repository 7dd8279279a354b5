//! Whole handshakes in memory: ours is the client and the server, the other side takes the group from aws-lc.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use peer_tls::Ours;
use rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs, ring};
use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, NamedGroup, RootCertStore};
use rustls::{ServerConfig, ServerConnection};

fn ours() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider { kx_groups: vec![&Ours], ..ring::default_provider() })
}

fn theirs(group: &'static dyn SupportedKxGroup) -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider { kx_groups: vec![group], ..aws_lc_rs::default_provider() })
}

/// A client and a server that trust each other's certificate.
fn pair(
    client: Arc<CryptoProvider>,
    server: Arc<CryptoProvider>,
) -> (ClientConnection, ServerConnection) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let tls13 = &[&rustls::version::TLS13];
    let server = ServerConfig::builder_with_provider(server)
        .with_protocol_versions(tls13)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .unwrap();
    let client = ClientConfig::builder_with_provider(client)
        .with_protocol_versions(tls13)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    (
        ClientConnection::new(Arc::new(client), name).unwrap(),
        ServerConnection::new(Arc::new(server)).unwrap(),
    )
}

/// Carries what both say, with byte `flip` of all that the client says changed, until the handshake ends.
fn shake(
    client: &mut ClientConnection,
    server: &mut ServerConnection,
    flip: Option<usize>,
) -> Result<(), rustls::Error> {
    let mut said = 0;
    while client.is_handshaking() || server.is_handshaking() {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        if let Some(byte) = flip.and_then(|at| bytes.get_mut(at.checked_sub(said)?)) {
            *byte ^= 1;
        }
        said += bytes.len();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            server.read_tls(&mut rest).unwrap();
            server.process_new_packets()?;
        }
        bytes.clear();
        server.write_tls(&mut bytes).unwrap();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            client.read_tls(&mut rest).unwrap();
            client.process_new_packets()?;
        }
    }
    Ok(())
}

fn agrees(client: Arc<CryptoProvider>, server: Arc<CryptoProvider>) {
    let (mut client, mut server) = pair(client, server);
    shake(&mut client, &mut server, None).unwrap();
    for group in [client.negotiated_key_exchange_group(), server.negotiated_key_exchange_group()] {
        assert_eq!(group.map(|g| g.name()), Some(NamedGroup::X25519MLKEM768));
    }
    // A message under the session's keys.
    client.writer().write_all(b"hello").unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    server.read_tls(&mut &bytes[..]).unwrap();
    server.process_new_packets().unwrap();
    let mut text = [0; 5];
    server.reader().read_exact(&mut text).unwrap();
    assert_eq!(&text, b"hello");
}

#[test]
fn our_client_agrees_with_aws_lc() {
    agrees(ours(), theirs(aws_lc_rs::kx_group::X25519MLKEM768));
}

#[test]
fn our_server_agrees_with_aws_lc() {
    agrees(theirs(aws_lc_rs::kx_group::X25519MLKEM768), ours());
}

#[test]
fn a_changed_share_ends_the_handshake() {
    let (mut client, mut server) = pair(ours(), theirs(aws_lc_rs::kx_group::X25519MLKEM768));
    // In the middle of the first message, most of which is the share.
    assert!(shake(&mut client, &mut server, Some(700)).is_err());
}

#[test]
fn without_a_common_group_there_is_no_session() {
    let (mut client, mut server) = pair(ours(), theirs(aws_lc_rs::kx_group::SECP384R1));
    assert!(shake(&mut client, &mut server, None).is_err());
}
