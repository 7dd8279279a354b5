//! `X25519MLKEM768` of TLS 1.3 for rustls, by ringforge's hybrid.

use ringforge_kem::hybrid::tls;
use ringforge_kem::system_rng;
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};

/// The group.
#[derive(Debug)]
pub struct Ours;

/// A client that has offered.
struct Offered {
    secret: tls::Secret,
    offer: tls::Offer,
}

fn malformed(_: ringforge_kem::Error) -> Error {
    PeerMisbehaved::InvalidKeyShare.into()
}

impl SupportedKxGroup for Ours {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let (secret, offer) = tls::offer(&mut system_rng());
        Ok(Box::new(Offered { secret, offer }))
    }

    fn start_and_complete(&self, share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (answer, key) = tls::answer(share, &mut system_rng()).map_err(malformed)?;
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key: answer.as_bytes().to_vec(),
            secret: SharedSecret::from(&key.as_bytes()[..]),
        })
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

impl ActiveKeyExchange for Offered {
    fn complete(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, Error> {
        let key = self.secret.agree(share).map_err(malformed)?;
        Ok(SharedSecret::from(&key.as_bytes()[..]))
    }

    fn pub_key(&self) -> &[u8] {
        self.offer.as_bytes()
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}
