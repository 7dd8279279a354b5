//! Times the products of pqcrypto-ntru 0.5.8 (PQClean's code) in Z_q[x]/(x^n - 1): Toom-4 and Karatsuba,
//! big × big. `peer-ntru 2048509|2048677|4096821|701 avx2|clean`.

// Only its objects are wanted.
use pqcrypto_ntru as _;

use peer_harness::words::{Product, serve_words};
use peer_harness::{Form, Ring};

unsafe extern "C" {
    fn PQCLEAN_NTRUHPS2048509_AVX2_poly_Rq_mul(r: *mut u16, a: *const u16, b: *const u16);
    fn PQCLEAN_NTRUHPS2048509_CLEAN_poly_Rq_mul(r: *mut u16, a: *const u16, b: *const u16);
    fn PQCLEAN_NTRUHPS2048677_AVX2_poly_Rq_mul(r: *mut u16, a: *const u16, b: *const u16);
    fn PQCLEAN_NTRUHPS2048677_CLEAN_poly_Rq_mul(r: *mut u16, a: *const u16, b: *const u16);
    fn PQCLEAN_NTRUHPS4096821_AVX2_poly_Rq_mul(r: *mut u16, a: *const u16, b: *const u16);
    fn PQCLEAN_NTRUHPS4096821_CLEAN_poly_Rq_mul(r: *mut u16, a: *const u16, b: *const u16);
    fn PQCLEAN_NTRUHRSS701_AVX2_poly_Rq_mul(r: *mut u16, a: *const u16, b: *const u16);
    fn PQCLEAN_NTRUHRSS701_CLEAN_poly_Rq_mul(r: *mut u16, a: *const u16, b: *const u16);
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (q, n, product): (i64, usize, Product) = match words[..] {
        ["2048509", "avx2"] => (2048, 509, PQCLEAN_NTRUHPS2048509_AVX2_poly_Rq_mul),
        ["2048509", "clean"] => (2048, 509, PQCLEAN_NTRUHPS2048509_CLEAN_poly_Rq_mul),
        ["2048677", "avx2"] => (2048, 677, PQCLEAN_NTRUHPS2048677_AVX2_poly_Rq_mul),
        ["2048677", "clean"] => (2048, 677, PQCLEAN_NTRUHPS2048677_CLEAN_poly_Rq_mul),
        ["4096821", "avx2"] => (4096, 821, PQCLEAN_NTRUHPS4096821_AVX2_poly_Rq_mul),
        ["4096821", "clean"] => (4096, 821, PQCLEAN_NTRUHPS4096821_CLEAN_poly_Rq_mul),
        ["701", "avx2"] => (8192, 701, PQCLEAN_NTRUHRSS701_AVX2_poly_Rq_mul),
        ["701", "clean"] => (8192, 701, PQCLEAN_NTRUHRSS701_CLEAN_poly_Rq_mul),
        _ => {
            eprintln!("usage: peer-ntru 2048509|2048677|4096821|701 avx2|clean");
            std::process::exit(2);
        }
    };
    serve_words(Ring { q, n, form: Form::Cyclic }, product);
}
