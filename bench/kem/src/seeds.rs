//! ML-KEM from seeds, byte by byte, beside the `ml-kem` crate: keys, ciphertexts, session keys, and those of damaged
//! ciphertexts.

use ml_kem::array::typenum::Unsigned;
use ml_kem::kem::Decapsulate;
use ml_kem::{B32, EncapsulateDeterministic, Encoded, EncodedSizeUser, KemCore};

/// Compares `count` seeds; `ours` is the KEM's number.
pub fn agree<K: KemCore>(name: &str, ours: i32, count: u64) {
    type Keys<K> = (<K as KemCore>::DecapsulationKey, <K as KemCore>::EncapsulationKey);
    let [pk_size, sk_size, ct_size] = crate::sizes(ours);
    assert_eq!(ct_size, K::CiphertextSize::to_usize(), "{name}: length of a ciphertext");
    for k in 0..count {
        // SAFETY: single-threaded.
        unsafe { crate::ours_portable((k % 2) as i32) };
        let mut coins = [0; 96]; // d, z and m
        // SAFETY: buffers have the sizes that the library says.
        let (pk, sk, mut ct, mut ss) = unsafe {
            crate::ours_random(coins.as_mut_ptr(), coins.len());
            let (mut pk, mut sk) = (vec![0; pk_size], vec![0; sk_size]);
            let (mut ct, mut ss) = (vec![0; ct_size], [0; 32]);
            let made =
                crate::ours_keypair_derand(ours, pk.as_mut_ptr(), sk.as_mut_ptr(), coins.as_ptr());
            let hidden = crate::ours_enc_derand(
                ours,
                ct.as_mut_ptr(),
                ss.as_mut_ptr(),
                pk.as_ptr(),
                coins[64..].as_ptr(),
            );
            assert_eq!((made, hidden), (0, 0), "{name}");
            (pk, sk, ct, ss)
        };
        let part = |i: usize| B32::try_from(&coins[32 * i..32 * i + 32]).expect("32 bytes");
        let (dk, ek): Keys<K> = K::generate_deterministic(&part(0), &part(1));
        assert_eq!(ek.as_bytes().as_slice(), pk, "{name}: encapsulation key");
        assert_eq!(dk.as_bytes().as_slice(), sk, "{name}: decapsulation key");
        // What was written is what is read again.
        let bytes = Encoded::<K::EncapsulationKey>::try_from(&pk[..]).expect("its length");
        let (their_ct, their_ss) = K::EncapsulationKey::from_bytes(&bytes)
            .encapsulate_deterministic(&part(2))
            .expect("a ciphertext");
        assert_eq!(their_ct.as_slice(), ct, "{name}: ciphertext");
        assert_eq!(their_ss.as_slice(), ss, "{name}: session key");
        // One bit changed in half of them: implicit rejection.
        if k & 2 != 0 {
            let at = usize::from(u16::from_le_bytes([coins[0], coins[1]])) % ct.len();
            ct[at] ^= 1 << (coins[2] % 8);
        }
        // SAFETY: as above.
        let code = unsafe { crate::ours_dec(ours, ss.as_mut_ptr(), ct.as_ptr(), sk.as_ptr()) };
        let damaged = ml_kem::Ciphertext::<K>::try_from(&ct[..]).expect("its length");
        let their_ss = dk.decapsulate(&damaged).expect("a session key");
        assert_eq!((code, &ss[..]), (0, their_ss.as_slice()), "{name}: decapsulation");
    }
    println!(
        "{name} and ml-kem 0.2.3: {count} seeds give the same bytes, damaged ciphertexts as well"
    );
}
