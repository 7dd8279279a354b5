//! Hybrids: both sides agree, X-Wing agrees with somebody else's, and what is malformed is refused.

use ringforge_kem::hybrid::{
    mlkem768nistp256, mlkem768x25519, sntrup761x25519, tls, tls_p256, tls_p384, xwing,
};
use ringforge_kem::rand_core::{TryCryptoRng, TryRng};
use ringforge_kem::{Error, system_rng};
use std::convert::Infallible;
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

/// A bit of an uncompressed point makes it another one that is not on the curve; other forms are refused as well.
macro_rules! nist_exchanges {
    ($test:ident, $module:ident, $kem_first:literal, $ct:expr, $point:expr) => {
        #[test]
        fn $test() {
            use $module::*;
            let mut rng = system_rng();
            let (secret, offer) = offer(&mut rng);
            let (sent, theirs) = answer(offer.as_bytes(), &mut rng).unwrap();
            assert_eq!(secret.agree(sent.as_bytes()).unwrap().as_bytes(), theirs.as_bytes());

            let (point_at, kem_at) = if $kem_first { ($ct, 0) } else { (0, $point) };
            assert_eq!(Answer::BYTES, $ct + $point);
            let (secret, offer) = $module::offer(&mut rng);
            let (sent, theirs) = answer(offer.as_bytes(), &mut rng).unwrap();
            let mut changed = *sent.as_bytes();
            changed[kem_at] ^= 1;
            assert_ne!(secret.agree(&changed).unwrap().as_bytes(), theirs.as_bytes());

            let offer_at = if $kem_first { Offer::BYTES - $point } else { 0 };
            let wrong = |bytes: &[u8], at: usize| -> Vec<Vec<u8>> {
                let with = |change: &dyn Fn(&mut [u8])| {
                    let mut bytes = bytes.to_vec();
                    change(&mut bytes[at..at + $point]);
                    bytes
                };
                let mut all: Vec<Vec<u8>> =
                    [0, 2, 3, 5, 6, 7].map(|tag| with(&|point| point[0] = tag)).to_vec();
                all.push(with(&|point| point[$point - 1] ^= 1)); // y
                all.push(with(&|point| point[$point / 2] ^= 1)); // x
                all.push(with(&|point| point[1..].fill(0)));
                all.push(with(&|point| point.fill(0))); // how infinity begins
                all.push(with(&|point| point[1..].fill(0xff))); // above the field's order
                all
            };
            for offer in wrong(offer.as_bytes(), offer_at) {
                assert_eq!(answer(&offer, &mut rng).err(), Some(Error::Key), "{:?}", &offer[..9]);
            }
            for sent in wrong(sent.as_bytes(), point_at) {
                let (secret, _) = $module::offer(&mut rng);
                assert_eq!(secret.agree(&sent).err(), Some(Error::Key));
            }
            let long = Error::Length { expected: Offer::BYTES, found: Offer::BYTES + 1 };
            let too_long = [&offer.as_bytes()[..], &[0]].concat();
            assert_eq!(answer(&too_long, &mut rng).err(), Some(long));
            let none = Error::Length { expected: Answer::BYTES, found: 0 };
            let (secret, _) = $module::offer(&mut rng);
            assert_eq!(secret.agree(&[]).err(), Some(none));
        }
    };
}

nist_exchanges!(ssh_by_mlkem768_and_p256, mlkem768nistp256, true, 1088, 65);
nist_exchanges!(tls_by_p256_and_mlkem768, tls_p256, false, 1088, 65);
nist_exchanges!(tls_by_p384_and_mlkem1024, tls_p384, false, 1568, 97);

/// A generator that gives these bytes, and then nothing but zeros.
struct Script(Vec<u8>);

impl TryRng for Script {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(0)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(0)
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        let given = self.0.len().min(out.len());
        out.fill(0);
        out[..given].copy_from_slice(&self.0[..given]);
        self.0.drain(..given);
        Ok(())
    }
}
impl TryCryptoRng for Script {}

fn bytes(text: &str) -> Vec<u8> {
    let digit = |i: usize| u8::from_str_radix(&text[i..i + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

/// The first vector of each curve in NIST's ECC CDH Primitive tests (CAVS 14.1): the other side's point, our scalar, our
/// point, and the shared secret.
const P256: [&str; 4] = [
    "04700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287\
     db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac",
    "7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534",
    "04ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b230\
     28af61281fd35e2fa7002523acc85a429cb06ee6648325389f59edfce1405141",
    "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b",
];
const P384: [&str; 4] = [
    "04a7c76b970c3b5fe8b05d2838ae04ab47697b9eaf52e764592efda27fe7513272734466b400091adbf2d68c58e0c50066\
     ac68f19f2e1cb879aed43a9969b91a0839c4c38a49749b661efedf243451915ed0905a32b060992b468c64766fc8437a",
    "3cc3122a68f0d95027ad38c067916ba0eb8c38894d22e1b15618b6818a661774ad463b205da88cf699ab4d43c9cf98a1",
    "049803807f2f6d2fd966cdd0290bd410c0190352fbec7ff6247de1302df86f25d34fe4a97bef60cff548355c015dbb3e5f\
     ba26ca69ec2f5b5d9dad20cc9da711383a9dbe34ea3fa5a2af75b46502629ad54dd8b7d73a8abb06a3a3be47d650cc99",
    "5f9d29dc5e31a163060356213669c8ce132e22f57c9a04f40ba7fcead493b457e5621e766c40a2e3d4d6a04b25e533f1",
];

/// An answer from the published scalar has the published point, and its key is of the published secret and ML-KEM's. A
/// scalar that is 0 or too large is drawn again.
#[test]
fn curves_have_the_known_answers() {
    use ringforge_kem::{mlkem768, mlkem1024};
    use sha2::Digest as _;
    let mut rng = system_rng();
    let [theirs, scalar, ours, secret] = P256.map(bytes);
    let (kem, public) = mlkem768::keypair(&mut rng);
    let script = || Script([&[0; 32][..], &[0xff; 32], &scalar].concat());

    let offer = [&theirs[..], public.as_bytes()].concat();
    let (answer, key) = tls_p256::answer(&offer, &mut script()).unwrap();
    let (point, ct) = answer.as_bytes().split_at(65);
    let lattice = *kem.decap(&ct.try_into().unwrap()).as_bytes();
    assert_eq!((point, &key.as_bytes()[..]), (&ours[..], &[&secret[..], &lattice].concat()[..]));

    let offer = [public.as_bytes(), &theirs[..]].concat();
    let (answer, key) = mlkem768nistp256::answer(&offer, &mut script()).unwrap();
    let (ct, point) = answer.as_bytes().split_at(1088);
    let lattice = *kem.decap(&ct.try_into().unwrap()).as_bytes();
    let both = [&lattice[..], &secret].concat();
    assert_eq!((point, &key.as_bytes()[..]), (&ours[..], &sha2::Sha256::digest(both)[..]));

    let [theirs, scalar, ours, secret] = P384.map(bytes);
    let (kem, public) = mlkem1024::keypair(&mut rng);
    let offer = [&theirs[..], public.as_bytes()].concat();
    let (answer, key) = tls_p384::answer(&offer, &mut Script(scalar)).unwrap();
    let (point, ct) = answer.as_bytes().split_at(97);
    let lattice = *kem.decap(&ct.try_into().unwrap()).as_bytes();
    assert_eq!((point, &key.as_bytes()[..]), (&ours[..], &[&secret[..], &lattice].concat()[..]));
}

#[test]
#[should_panic(expected = "the generator is stuck")]
fn a_generator_of_zeros_makes_no_scalar() {
    let _ = tls_p256::offer(&mut Script(Vec::new()));
}

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

        // A scalar of P-256, and as the crate keeps it: the least word first.
        let (ours, theirs) = (scalar_after(64), scalar_after(0));
        let (secret, offer) = tls_p256::offer(&mut Known(1));
        let reversed = |mut bytes: [u8; 32]| {
            bytes.reverse();
            bytes
        };
        assert!(![ours, reversed(ours)].iter().any(lies_below), "offer");
        let (answer, key) = tls_p256::answer(offer.as_bytes(), &mut Known(1)).unwrap();
        assert!(![theirs, reversed(theirs)].iter().any(lies_below), "answer");
        let agreed = secret.agree(answer.as_bytes()).unwrap();
        assert!(![ours, reversed(ours)].iter().any(lies_below), "agree");
        assert_eq!(agreed.as_bytes(), key.as_bytes());
        // The search finds what is there.
        let both = shared(ours, point);
        std::hint::black_box(leaves(&both));
        assert!(lies_below(&both));
    })
    .join()
    .unwrap();
}
