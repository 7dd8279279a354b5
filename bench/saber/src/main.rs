//! Times one product of pqcrypto-saber 0.1.11 (the authors' AVX2 code) in Z_8192[x]/(x^256 + 1): Toom-4
//! evaluation of the second operand, evaluation of the first with base products, interpolation.

// Only its objects are wanted.
use pqcrypto_saber as _;

use peer_harness::words::serve_words;
use peer_harness::{Form, Ring};

const N: usize = 256;

/// Room for values at the points and for their products.
#[repr(align(64))]
struct Points([u16; 4 * N], [u16; 8 * N]);

static mut POINTS: Points = Points([0; 4 * N], [0; 8 * N]);

unsafe extern "C" {
    fn PQCLEAN_SABER_AVX2_toom4_eval(b_eval: *mut u16, b: *const u16);
    fn PQCLEAN_SABER_AVX2_toom4_mul_A_by_B_eval(
        c_eval: *mut u16,
        a: *const u16,
        b_eval: *const u16,
        accumulate: i32,
    );
    fn PQCLEAN_SABER_AVX2_toom4_interp(c: *mut u16, c_eval: *const u16);
}

unsafe extern "C" fn product(c: *mut u16, a: *const u16, b: *const u16) {
    // SAFETY: single-threaded; the arrays have the sizes of the library's types, aligned to 32 bytes.
    unsafe {
        let Points(values, products) = &mut *(&raw mut POINTS);
        PQCLEAN_SABER_AVX2_toom4_eval(values.as_mut_ptr(), b);
        PQCLEAN_SABER_AVX2_toom4_mul_A_by_B_eval(products.as_mut_ptr(), a, values.as_ptr(), 0);
        PQCLEAN_SABER_AVX2_toom4_interp(c, products.as_ptr());
    }
}

fn main() {
    serve_words(Ring { q: 8192, n: N, form: Form::Negacyclic }, product);
}
