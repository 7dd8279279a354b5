//! Times the products of pqcrypto-ntruprime 0.1.6 (PQClean's code): `peer-pqcrypto avx2|clean`.

// Only its objects are wanted.
use pqcrypto_ntruprime as _;

use peer_harness::sntrup761::serve_bytes;

unsafe extern "C" {
    fn PQCLEAN_SNTRUP761_AVX2_crypto_core_multsntrup761(
        c: *mut u8,
        a: *const u8,
        b: *const u8,
    ) -> i32;
    fn PQCLEAN_SNTRUP761_CLEAN_crypto_core_multsntrup761(
        c: *mut u8,
        a: *const u8,
        b: *const u8,
    ) -> i32;
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("avx2") => serve_bytes(PQCLEAN_SNTRUP761_AVX2_crypto_core_multsntrup761),
        Some("clean") => serve_bytes(PQCLEAN_SNTRUP761_CLEAN_crypto_core_multsntrup761),
        _ => {
            eprintln!("usage: peer-pqcrypto avx2|clean");
            std::process::exit(2);
        }
    }
}
