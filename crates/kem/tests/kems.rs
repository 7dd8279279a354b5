//! Every kind of KEM through its own functions and through the traits: exchanges, damage, wrong lengths, malformed
//! keys, known answers.

use rand_core::{TryCryptoRng, TryRng};
use ringforge_kem::{
    Decapsulate, Encapsulate, Error, GenerateError, Kem, KeyExport, TryKeyInit, rand_core,
};

/// SHA-512 of a counter: the same bytes in each run, and failure after some calls if asked for.
struct Draws {
    counter: u64,
    left: usize,
}

impl Draws {
    fn endless(counter: u64) -> Draws {
        Draws { counter, left: usize::MAX }
    }
}

#[derive(Debug, PartialEq)]
struct NoMore;
impl core::fmt::Display for NoMore {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no more random bytes")
    }
}
impl core::error::Error for NoMore {}

impl TryRng for Draws {
    type Error = NoMore;

    fn try_next_u32(&mut self) -> Result<u32, NoMore> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes).map(|()| u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, NoMore> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), NoMore> {
        use sha2::Digest;
        self.left = self.left.checked_sub(1).ok_or(NoMore)?;
        for chunk in out.chunks_mut(64) {
            self.counter += 1;
            chunk.copy_from_slice(&sha2::Sha512::digest(self.counter.to_le_bytes())[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Draws {}

macro_rules! exchanges {
    ($test:ident, $module:ident) => {
        #[test]
        fn $test() {
            use ringforge_kem::$module::*;
            let mut system = rand_core::UnwrapErr(Draws::endless(1));
            for _ in 0..5 {
                let (secret, public) = keypair(&mut system);
                let (ct, ours) = public.encap(&mut system);
                assert_eq!(secret.decap(&ct).as_bytes(), ours.as_bytes());

                // A damaged ciphertext gives another key, the same each time.
                let mut bytes = *ct.as_bytes();
                bytes[7] ^= 1;
                let damaged = Ciphertext::try_from(bytes).unwrap();
                let other = secret.decap(&damaged);
                assert_ne!(other.as_bytes(), ours.as_bytes());
                assert_eq!(secret.decap(&damaged).as_bytes(), other.as_bytes());

                // Keys go over a network and come back, in their own length alone.
                let again = PublicKey::try_from(&public.as_bytes()[..]).unwrap();
                assert_eq!(again, public);
                let secret = SecretKey::try_from(&secret.as_bytes()[..]).unwrap();
                assert_eq!(secret.decap(&ct).as_bytes(), ours.as_bytes());
            }
            let (expected, found) = (PublicKey::BYTES, PublicKey::BYTES - 1);
            let short = PublicKey::try_from(&[0u8; PublicKey::BYTES][1..]);
            assert_eq!(short.unwrap_err(), Error::Length { expected, found });
            let (expected, found) = (Ciphertext::BYTES, Ciphertext::BYTES + 1);
            let long = Ciphertext::try_from(&[0u8; Ciphertext::BYTES + 1][..]);
            assert_eq!(long.unwrap_err(), Error::Length { expected, found });

            // The same coins give the same bytes; a generator that fails gives its error.
            let coins = [7; ENC_COINS];
            let (_, public) = keypair(&mut system);
            assert_eq!(public.encap_derand(&coins).0, public.encap_derand(&coins).0);
            let failed = try_keypair(&mut Draws { counter: 0, left: 0 }).unwrap_err();
            assert_eq!(failed, GenerateError::Generator(NoMore));
            let (secret, _) = try_keypair(&mut Draws { counter: 0, left: 20 }).unwrap();
            assert_eq!(format!("{secret:?}"), "SecretKey(…)");
        }
    };
}
exchanges!(sntrup761, sntrup761);
exchanges!(ntrulpr761, ntrulpr761);
exchanges!(mlkem768, mlkem768);
exchanges!(ntruhps2048509, ntruhps2048509);

#[test]
fn prepared_keys_give_the_same_bytes() {
    macro_rules! check {
        ($module:ident) => {{
            use ringforge_kem::$module::*;
            let (secret, public) = keypair(&mut rand_core::UnwrapErr(Draws::endless(5)));
            let prepared = public.prepare();
            let coins = [9; ENC_COINS];
            let (ct, ours) = prepared.encap_derand(&coins);
            assert_eq!(ct, public.encap_derand(&coins).0);
            assert_eq!(secret.decap(&ct).as_bytes(), ours.as_bytes());
        }};
    }
    check!(sntrup761);
    check!(ntrulpr761);
    check!(mlkem768);
}

#[test]
fn batches_are_keys_that_differ() {
    use ringforge_kem::sntrup761::*;
    let (secrets, publics) = keypairs::<5>().unwrap();
    for (k, (secret, public)) in secrets.iter().zip(&publics).enumerate() {
        let (ct, ours) = public.encap_derand(&[3; ENC_COINS]);
        assert_eq!(secret.decap(&ct).as_bytes(), ours.as_bytes());
        assert!(publics[..k].iter().all(|other| other != public));
    }
    assert!(keypairs::<0>().is_ok());
}

fn through_the_traits<K: Kem<DecapsulationKey: Decapsulate + KeyExport + TryKeyInit>>() {
    let (dk, ek) = K::generate_keypair();
    let (ct, ours) = ek.encapsulate();
    assert_eq!(dk.decapsulate(&ct), ours);
    let ek = K::EncapsulationKey::new(&ek.to_bytes()).unwrap();
    let dk = K::DecapsulationKey::new(&dk.to_bytes()).unwrap();
    let (ct, ours) = ek.encapsulate();
    assert_eq!(dk.decapsulate(&ct), ours);
    assert_eq!(dk.decapsulate_slice(&ct).unwrap(), ours);
    assert!(dk.decapsulate_slice(&ct[1..]).is_err());
    assert!(K::EncapsulationKey::new_from_slice(&[]).is_err());
}

#[test]
fn the_traits_of_kem() {
    through_the_traits::<ringforge_kem::Sntrup761>();
    through_the_traits::<ringforge_kem::MlKem768>();
}

/// Keys that no key pair has are refused, and keys are compared with each other where that is asked for.
#[test]
fn malformed_keys_are_refused() {
    macro_rules! check {
        ($module:ident, $zero_is_public:literal) => {{
            use ringforge_kem::$module::*;
            assert_eq!(PublicKey::try_from([0xff; PublicKey::BYTES]).unwrap_err(), Error::Key);
            assert_eq!(check_public_key(&[0xff; PublicKey::BYTES]), Err(Error::Key));
            assert_eq!(PublicKey::try_from([0; PublicKey::BYTES]).is_ok(), $zero_is_public);
            for byte in [0, 0xff] {
                assert_eq!(SecretKey::try_from([byte; SecretKey::BYTES]).unwrap_err(), Error::Key);
                assert_eq!(check_secret_key(&[byte; SecretKey::BYTES]), Err(Error::Key));
            }

            let mut rng = rand_core::UnwrapErr(Draws::endless(11));
            let ((secret, public), (_, other)) = (keypair(&mut rng), keypair(&mut rng));
            assert_eq!(check_public_key(public.as_bytes()), Ok(()));
            assert_eq!(check_secret_key(secret.as_bytes()), Ok(()));
            assert_eq!(check_pair(&secret, &public, &mut rng), Ok(()));
            assert_eq!(check_pair(&secret, &other, &mut rng), Err(Error::Key));
        }};
    }
    // Zeros encode a polynomial whose coefficients are all the least, or all zero.
    check!(sntrup761, true);
    check!(ntrulpr761, true);
    check!(mlkem768, true);
    check!(ntruhps2048509, true);
}

/// A stuck generator: words of its bytes are zero as small coefficients, and zero has no inverse.
struct Stuck;

impl TryRng for Stuck {
    type Error = NoMore;

    fn try_next_u32(&mut self) -> Result<u32, NoMore> {
        Ok(0x20202020)
    }

    fn try_next_u64(&mut self) -> Result<u64, NoMore> {
        Ok(0x2020202020202020)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), NoMore> {
        out.fill(0x20);
        Ok(())
    }
}

impl TryCryptoRng for Stuck {}

#[test]
fn a_stuck_generator_is_an_error() {
    use ringforge_kem::sntrup761::*;
    assert_eq!(try_keypair(&mut Stuck).unwrap_err(), GenerateError::Stuck);
}

#[test]
fn ml_kem_opens_with_its_seed() {
    use ringforge_kem::mlkem768::*;
    let seed = core::array::from_fn(|i| i as u8);
    let (secret, public) = keypair_derand(&seed).unwrap();
    let (ct, ours) = public.encap_derand(&[5; ENC_COINS]);
    assert_eq!(decap_seed(&seed, &ct).as_bytes(), ours.as_bytes());
    let mut bytes = *ct.as_bytes();
    bytes[0] ^= 1;
    let forged = Ciphertext::try_from(bytes).unwrap();
    assert_eq!(decap_seed(&seed, &forged).as_bytes(), secret.decap(&forged).as_bytes());
}

/// FIPS 203 wants keys refused that are malformed; so no `PublicKey` or `SecretKey` is.
#[test]
fn malformed_keys_of_ml_kem_are_refused() {
    use ringforge_kem::mlkem768::*;
    assert_eq!(PublicKey::try_from([0xff; PublicKey::BYTES]).unwrap_err(), Error::Key);
    let (secret, _) = keypair(&mut rand_core::UnwrapErr(Draws::endless(3)));
    let mut bytes = *secret.as_bytes();
    bytes[1200] ^= 1; // in the public key, whose hash is then wrong
    assert_eq!(SecretKey::try_from(bytes).unwrap_err(), Error::Key);
}

#[path = "../examples/exchange.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().unwrap();
}
