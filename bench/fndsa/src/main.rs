//! Times the products of fn-dsa-comm 0.3 in Z_12289[x]/(x^n + 1), AVX2: `peer-fndsa 512|1024`.

use fn_dsa_comm::mq_avx2;
use peer_harness::{Form, Ring, serve};

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Poly([i16; 1024]);

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Words([u16; 1024]);

/// The operands.
static mut OPERANDS: [Poly; 2] = [Poly([0; 1024]); 2];
/// Their transforms; the product replaces the first.
static mut WORDS: [Words; 2] = [Words([0; 1024]); 2];

fn once<const LOGN: u32>() {
    let n = 1 << LOGN;
    // SAFETY: single-threaded; `main` has checked for AVX2, and slices have n elements.
    unsafe {
        let (operands, words) = (&*(&raw const OPERANDS), &mut *(&raw mut WORDS));
        for (words, operand) in words.iter_mut().zip(operands) {
            let d = &mut words.0[..n];
            mq_avx2::mqpoly_signed_to_ext(LOGN, &operand.0[..n], d);
            mq_avx2::mqpoly_ext_to_int(LOGN, d);
            mq_avx2::mqpoly_int_to_NTT(LOGN, d);
        }
        let [x, y] = words;
        let x = &mut x.0[..n];
        mq_avx2::mqpoly_mul_ntt(LOGN, x, &y.0[..n]);
        mq_avx2::mqpoly_NTT_to_int(LOGN, x);
        mq_avx2::mqpoly_int_to_ext(LOGN, x);
    }
}

fn start(n: usize, once: fn()) {
    let ring = Ring { q: 12289, n, form: Form::Negacyclic };
    serve(
        ring,
        false,
        |a, b| {
            // SAFETY: single-threaded.
            let (operands, words) = unsafe { (&mut *(&raw mut OPERANDS), &*(&raw const WORDS)) };
            for i in 0..n {
                (operands[0].0[i], operands[1].0[i]) = (a[i] as i16, b[i] as i16);
            }
            once();
            words[0].0[..n].iter().map(|&x| x.into()).collect()
        },
        once,
    );
}

fn main() {
    if !std::arch::is_x86_feature_detected!("avx2") {
        eprintln!("this processor has no AVX2");
        std::process::exit(1);
    }
    match std::env::args().nth(1).as_deref() {
        Some("512") => start(512, once::<9>),
        Some("1024") => start(1024, once::<10>),
        _ => {
            eprintln!("usage: peer-fndsa 512|1024");
            std::process::exit(2);
        }
    }
}
