//! Times the product of pqcrypto-mlkem 0.1.1 (Kyber's own AVX2 code) in Z_3329[x]/(x^256 + 1): two
//! forward transforms, base product, inverse, and the reduction to [0, q].

// Only its objects are wanted.
use pqcrypto_mlkem as _;

use peer_harness::{Form, Ring, serve};

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Poly([i16; 256]);

/// The operands, their transforms, the product.
static mut POLY: [Poly; 5] = [Poly([0; 256]); 5];

unsafe extern "C" {
    static PQCLEAN_MLKEM768_AVX2_qdata: u8;
    fn PQCLEAN_MLKEM768_AVX2_ntt_avx(r: *mut Poly, data: *const u8);
    fn PQCLEAN_MLKEM768_AVX2_invntt_avx(r: *mut Poly, data: *const u8);
    fn PQCLEAN_MLKEM768_AVX2_basemul_avx(
        r: *mut Poly,
        a: *const Poly,
        b: *const Poly,
        data: *const u8,
    );
    fn PQCLEAN_MLKEM768_AVX2_reduce_avx(r: *mut Poly, data: *const u8);
}

fn once() {
    // SAFETY: single-threaded; every array has the 256 aligned words that the functions want.
    unsafe {
        let data = &raw const PQCLEAN_MLKEM768_AVX2_qdata;
        let [a, b, x, y, c] = &mut *(&raw mut POLY);
        // The transforms work in place, and the operands are wanted again.
        *x = *a;
        *y = *b;
        PQCLEAN_MLKEM768_AVX2_ntt_avx(x, data);
        PQCLEAN_MLKEM768_AVX2_ntt_avx(y, data);
        PQCLEAN_MLKEM768_AVX2_basemul_avx(c, x, y, data);
        PQCLEAN_MLKEM768_AVX2_invntt_avx(c, data);
        PQCLEAN_MLKEM768_AVX2_reduce_avx(c, data);
    }
}

fn main() {
    let ring = Ring { q: 3329, n: 256, form: Form::Negacyclic };
    serve(
        ring,
        false,
        |a, b| {
            // SAFETY: single-threaded.
            let poly = unsafe { &mut *(&raw mut POLY) };
            for i in 0..256 {
                (poly[0].0[i], poly[1].0[i]) = (a[i] as i16, b[i] as i16);
            }
            once();
            poly[4].0.iter().map(|&x| x.into()).collect()
        },
        once,
    );
}
