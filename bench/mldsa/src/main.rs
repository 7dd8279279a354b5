//! Times the product of pqcrypto-mldsa 0.1.2 (Dilithium's own AVX2 code) in
//! Z_8380417[x]/(x^256 + 1): two forward transforms, pointwise product, inverse.

// Only its objects are wanted.
use pqcrypto_mldsa as _;

use peer_harness::{Form, Ring, serve};

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Poly([i32; 256]);

/// The operands, their transforms, the product.
static mut POLY: [Poly; 5] = [Poly([0; 256]); 5];

unsafe extern "C" {
    static PQCLEAN_MLDSA44_AVX2_qdata: u8;
    fn PQCLEAN_MLDSA44_AVX2_ntt_avx(r: *mut Poly, data: *const u8);
    fn PQCLEAN_MLDSA44_AVX2_invntt_avx(r: *mut Poly, data: *const u8);
    fn PQCLEAN_MLDSA44_AVX2_pointwise_avx(
        r: *mut Poly,
        a: *const Poly,
        b: *const Poly,
        data: *const u8,
    );
}

fn once() {
    // SAFETY: single-threaded; every array has the 256 aligned words that the functions want.
    unsafe {
        let data = &raw const PQCLEAN_MLDSA44_AVX2_qdata;
        let [a, b, x, y, c] = &mut *(&raw mut POLY);
        // The transforms work in place, and the operands are wanted again.
        *x = *a;
        *y = *b;
        PQCLEAN_MLDSA44_AVX2_ntt_avx(x, data);
        PQCLEAN_MLDSA44_AVX2_ntt_avx(y, data);
        PQCLEAN_MLDSA44_AVX2_pointwise_avx(c, x, y, data);
        PQCLEAN_MLDSA44_AVX2_invntt_avx(c, data);
    }
}

fn main() {
    let ring = Ring { q: 8380417, n: 256, form: Form::Negacyclic };
    serve(
        ring,
        false,
        |a, b| {
            // SAFETY: single-threaded.
            let poly = unsafe { &mut *(&raw mut POLY) };
            for i in 0..256 {
                (poly[0].0[i], poly[1].0[i]) = (a[i] as i32, b[i] as i32);
            }
            once();
            poly[4].0.iter().map(|&x| x.into()).collect()
        },
        once,
    );
}
