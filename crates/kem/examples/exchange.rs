//! Keys for many sessions: a batch of key pairs, a public key that is prepared once, and what is done with bytes that
//! come over a network.

use ringforge_kem::sntrup761::{Ciphertext, PublicKey, keypairs};
use ringforge_kem::system_rng;

/// Runs it; the tests do too.
pub fn main() -> Result<(), ringforge_kem::Error> {
    // A server makes keys for its next sessions at once.
    let (secrets, publics) = keypairs::<4>()?;
    let sent = *publics[0].as_bytes();

    // A client takes bytes of the right length alone, and encapsulates as often as it likes.
    let public = PublicKey::try_from(&sent[..])?.prepare();
    for _ in 0..3 {
        let (ct, theirs) = public.encap(&mut system_rng());
        let received = Ciphertext::try_from(&ct.as_bytes()[..])?;
        let ours = secrets[0].decap(&received);
        assert_eq!(ours.as_bytes(), theirs.as_bytes());
    }
    println!("three session keys for one public key");
    Ok(())
}
