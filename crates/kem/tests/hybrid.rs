//! Hybrids: both sides agree, X-Wing agrees with somebody else's, and what is malformed is refused.

use ringforge_kem::hybrid::{mlkem768x25519, sntrup761x25519, tls, xwing};
use ringforge_kem::{Error, system_rng};
use x_wing::{DecapsulationKey, EncapsulationKey};

macro_rules! exchanges {
    ($test:ident, $module:ident) => {
        #[test]
        fn $test() {
            use $module::*;
            let mut rng = system_rng();
            let (secret, offer) = offer(&mut rng);
            let (other, _) = $module::offer(&mut rng);
            let (sent, theirs) = answer(offer.as_bytes(), &mut rng).unwrap();
            assert_eq!(secret.agree(sent.as_bytes()).unwrap().as_bytes(), theirs.as_bytes());
            // Another secret, or a changed part of the answer, is another key.
            assert_ne!(other.agree(sent.as_bytes()).unwrap().as_bytes(), theirs.as_bytes());
            for at in [0, Answer::BYTES - 1] {
                let (secret, offer) = $module::offer(&mut rng);
                let (sent, theirs) = answer(offer.as_bytes(), &mut rng).unwrap();
                let mut changed = *sent.as_bytes();
                changed[at] ^= 1;
                assert_ne!(secret.agree(&changed).unwrap().as_bytes(), theirs.as_bytes());
            }

            let long = Error::Length { expected: Offer::BYTES, found: Offer::BYTES + 1 };
            let too_long = [&offer.as_bytes()[..], &[0]].concat();
            assert_eq!(answer(&too_long, &mut rng).err(), Some(long));
            let none = Error::Length { expected: Answer::BYTES, found: 0 };
            let (secret, offer) = $module::offer(&mut rng);
            assert_eq!(secret.agree(&[]).err(), Some(none));
            // A point of small order, in both directions.
            let zero_point = |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                let at = bytes.len() - 32;
                bytes[at..].fill(0);
                bytes
            };
            let (secret, _) = $module::offer(&mut rng);
            assert_eq!(secret.agree(&zero_point(sent.as_bytes())).err(), Some(Error::Key));
            let refused = answer(&zero_point(offer.as_bytes()), &mut rng).err();
            assert_eq!(refused, Some(Error::Key));
        }
    };
}

exchanges!(ssh_by_sntrup761, sntrup761x25519);
exchanges!(ssh_by_mlkem768, mlkem768x25519);
exchanges!(tls_by_mlkem768, tls);

/// ML-KEM rejects keys whose coefficients are no residues; every string is a key of Streamlined NTRU Prime.
#[test]
fn a_key_that_the_kem_rejects_is_an_error() {
    let malformed = [0xff; tls::Offer::BYTES];
    let rng = &mut system_rng();
    assert_eq!(tls::answer(&malformed, rng).err(), Some(Error::Key));
    assert_eq!(mlkem768x25519::answer(&malformed, rng).err(), Some(Error::Key));
    assert_eq!(xwing::PublicKey::try_from(&malformed[..]), Err(Error::Key));
}

/// The parts are those of the protocols, each derived here by itself.
#[test]
fn keys_are_combined_as_the_protocols_say() {
    use sha2::Digest as _;
    let mut rng = system_rng();
    // What the other side computes has to come from the parts; take the second party's as the truth.
    let (kem_secret, kem_public) = ringforge_kem::mlkem768::keypair(&mut rng);
    let scalar = x25519_dalek::StaticSecret::from([7; 32]);
    let point = x25519_dalek::PublicKey::from(&scalar);
    let offer = [&kem_public.as_bytes()[..], point.as_bytes()].concat();
    let parts = |answer: &[u8]| {
        let (ct, point) = answer.split_at(1088);
        let ct = ringforge_kem::mlkem768::Ciphertext::try_from(ct).unwrap();
        let point: [u8; 32] = point.try_into().unwrap();
        let outer = scalar.diffie_hellman(&x25519_dalek::PublicKey::from(point));
        [*kem_secret.decap(&ct).as_bytes(), outer.to_bytes()].concat()
    };
    let (answer, key) = tls::answer(&offer, &mut rng).unwrap();
    assert_eq!(key.as_bytes()[..], parts(answer.as_bytes()));
    let (answer, key) = mlkem768x25519::answer(&offer, &mut rng).unwrap();
    assert_eq!(key.as_bytes()[..], sha2::Sha256::digest(parts(answer.as_bytes()))[..]);
}

#[test]
fn xwing_agrees_with_another_implementation() {
    use x_wing::{Decapsulate as _, Decapsulator as _, KeyExport as _};
    for seed in 0..20u8 {
        let ours = xwing::SecretKey::from([seed; 32]);
        let theirs = DecapsulationKey::from([seed; 32]);
        let public = ours.public();
        let bytes = public.to_bytes();
        assert_eq!(bytes[..], theirs.encapsulation_key().to_bytes()[..]);
        assert_eq!(xwing::PublicKey::try_from(&bytes[..]), Ok(public.clone()));

        let mut coins = [0; xwing::ENC_COINS];
        coins[0] = seed;
        coins[63] = !seed;
        let (ct, key) = public.encap_derand(&coins);
        let their_public = EncapsulationKey::try_from(&bytes[..]).unwrap();
        let (their_ct, their_key) = their_public.encapsulate_deterministic(&coins.into());
        assert_eq!(
            (ct.as_bytes()[..].to_vec(), key.as_bytes()[..].to_vec()),
            (their_ct.to_vec(), their_key.to_vec())
        );
        assert_eq!(theirs.decapsulate(&their_ct)[..], ours.decap(&ct).as_bytes()[..]);
        assert_eq!(ours.decap(&ct).as_bytes(), key.as_bytes());

        // Both reject in the same way, without an error.
        let mut changed = *ct.as_bytes();
        changed[usize::from(seed)] ^= 1;
        let rejected = ours.decap(&xwing::Ciphertext::try_from(&changed[..]).unwrap());
        assert_ne!(rejected.as_bytes(), key.as_bytes());
        assert_eq!(theirs.decapsulate(&changed.into())[..], rejected.as_bytes()[..]);
    }
    let short = Error::Length { expected: 1216, found: 3 };
    assert_eq!(xwing::PublicKey::try_from(&[0; 3][..]), Err(short));
}

/// The first test vector of the draft: a seed and coins, and the key.
#[test]
fn xwing_has_the_known_answer() {
    let bytes = |text: &str| -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
            .collect()
    };
    let seed: [u8; 32] = bytes("7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26")
        .try_into()
        .unwrap();
    let coins: [u8; 64] = bytes(
        "3cb1eea988004b93103cfb0aeefd2a686e01fa4a58e8a3639ca8a1e3f9ae57e2\
         35b8cc873c23dc62b8d260169afa2f75ab916a58d974918835d25e6a435085b2",
    )
    .try_into()
    .unwrap();
    let secret = xwing::SecretKey::from(seed);
    let (ct, key) = secret.public().encap_derand(&coins);
    let known = bytes("d2df0522128f09dd8e2c92b1e905c793d8f57a54c3da25861f10bf4ca613e384");
    assert_eq!(key.as_bytes()[..], known);
    assert_eq!(secret.decap(&ct).as_bytes()[..], known);
}

/// Neither a scalar nor a shared secret of X25519 stays on the stack.
#[test]
#[allow(unsafe_code)] // reads dead stack
fn no_scalar_stays_on_the_stack() {
    use rand_core::{TryCryptoRng, TryRng};
    use ringforge_kem::rand_core;
    use std::convert::Infallible;

    /// A generator whose bytes are known, as those of nothing else are.
    struct Known(u8);
    impl TryRng for Known {
        type Error = Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok(0)
        }
        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(0)
        }
        fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
            for byte in out {
                self.0 = self.0.wrapping_mul(5).wrapping_add(113);
                *byte = self.0;
            }
            Ok(())
        }
    }
    impl TryCryptoRng for Known {}

    /// Whether sixteen bytes in the middle of `secret` (which clamping leaves) lie in the 64 KB below this frame.
    #[inline(never)]
    fn lies_below(secret: &[u8; 32]) -> bool {
        let here = 0u8;
        let top = std::hint::black_box(&raw const here) as usize;
        let at = |i: usize| {
            // SAFETY: the stack of a thread of 2 MB, below its deepest live frame but for this closure's.
            unsafe { std::ptr::read_volatile((top - 512 - i) as *const u8) }
        };
        (0..65536).any(|i| (0..16).all(|k| at(i + 15 - k) == secret[8 + k]))
    }
    #[inline(never)]
    fn leaves(secret: &[u8; 32]) -> u8 {
        let copy = std::hint::black_box([[0u8; 32], *secret, [0; 32], [0; 32]]);
        let far = std::hint::black_box([0u8; 2048]);
        copy[1][9] ^ far[7]
    }

    std::thread::spawn(|| {
        // What Known gives after ML-KEM's coins.
        let scalar_after = |drawn: usize| -> [u8; 32] {
            let mut bytes = vec![0; drawn + 32];
            Known(1).try_fill_bytes(&mut bytes).unwrap();
            bytes[drawn..].try_into().unwrap()
        };
        let shared = |scalar: [u8; 32], point: [u8; 32]| {
            let scalar = x25519_dalek::StaticSecret::from(scalar);
            scalar.diffie_hellman(&x25519_dalek::PublicKey::from(point)).to_bytes()
        };

        let ours = scalar_after(64);
        let (secret, offer) = tls::offer(&mut Known(1));
        assert!(!lies_below(&ours), "offer");
        let theirs = scalar_after(0);
        let (answer, _) = tls::answer(offer.as_bytes(), &mut Known(1)).unwrap();
        assert!(!lies_below(&theirs), "answer");
        let point: [u8; 32] = answer.as_bytes()[1088..].try_into().unwrap();
        let _key = secret.agree(answer.as_bytes()).unwrap();
        assert!(!lies_below(&ours), "agree");
        // The search finds what is there.
        let both = shared(ours, point);
        std::hint::black_box(leaves(&both));
        assert!(lies_below(&both));
    })
    .join()
    .unwrap();
}
