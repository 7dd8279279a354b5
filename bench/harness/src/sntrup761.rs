//! The byte interface of the NTRU Prime reference code.

use crate::{Form, Ring, serve};
use std::sync::OnceLock;

/// A product of Z_4591[x]/(x^761 - x - 1): 1522 bytes out and in (761 little-endian 16-bit
/// coefficients), 761 bytes ternary.
pub type Product = unsafe extern "C" fn(*mut u8, *const u8, *const u8) -> i32;

const P: usize = 761;

static PRODUCT: OnceLock<Product> = OnceLock::new();

/// Operands and room for the result, aligned to cache lines as ringforge's candidates are at
/// best.
#[repr(align(64))]
struct Buffers {
    c: [u8; 2 * P],
    a: [u8; 2 * P],
    b: [u8; P],
}

static mut BUFFERS: Buffers = Buffers { c: [0; 2 * P], a: [0; 2 * P], b: [0; P] };

/// Checks and serves `product`.
///
/// # Panics
/// It is wrong.
pub fn serve_bytes(product: Product) {
    let _ = PRODUCT.set(product);
    let ring = Ring { q: 4591, n: P, form: Form::NtruPrime };
    serve(
        ring,
        true,
        |a, b| {
            // SAFETY: single-threaded.
            let buffers = unsafe { &mut *(&raw mut BUFFERS) };
            for i in 0..P {
                buffers.a[2 * i..2 * i + 2].copy_from_slice(&(a[i] as i16).to_le_bytes());
                buffers.b[i] = b[i] as i8 as u8;
            }
            once();
            let words = buffers.c.chunks_exact(2);
            words.map(|w| i64::from(i16::from_le_bytes([w[0], w[1]]))).collect()
        },
        once,
    );
}

fn once() {
    if let Some(product) = PRODUCT.get() {
        // SAFETY: single-threaded, and the buffers have the sizes that `Product` states.
        unsafe {
            let b = &raw mut BUFFERS;
            product(
                (&raw mut (*b).c).cast(),
                (&raw const (*b).a).cast(),
                (&raw const (*b).b).cast(),
            );
        }
    }
}
