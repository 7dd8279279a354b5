//! Products of words of 16 bits that wrap, as the NTRU code has them: moduli are powers of two.

use crate::{Ring, serve};
use std::sync::OnceLock;

/// Words in a buffer: more than the longest ring's degree, rounded up to 32.
pub const WORDS: usize = 832;

/// c = a * b; each array has [`WORDS`] words at most, and starts at a multiple of 64 bytes.
pub type Product = unsafe extern "C" fn(*mut u16, *const u16, *const u16);

static PRODUCT: OnceLock<Product> = OnceLock::new();

#[repr(align(64))]
struct Buffer([u16; WORDS]);

/// c, a, b.
static mut BUFFERS: [Buffer; 3] = [const { Buffer([0; WORDS]) }; 3];

/// Checks and serves `product`, for any two operands.
///
/// # Panics
/// It is wrong.
pub fn serve_words(ring: Ring, product: Product) {
    let _ = PRODUCT.set(product);
    serve(
        ring,
        false,
        |a, b| {
            // SAFETY: single-threaded.
            let [c, x, y] = unsafe { &mut *(&raw mut BUFFERS) };
            for i in 0..ring.n {
                (x.0[i], y.0[i]) = (a[i] as u16, b[i] as u16);
            }
            once();
            c.0[..ring.n].iter().map(|&word| word.into()).collect()
        },
        once,
    );
}

fn once() {
    if let Some(product) = PRODUCT.get() {
        // SAFETY: single-threaded, and the buffers have the sizes that `Product` states.
        unsafe {
            let [c, a, b] = &mut *(&raw mut BUFFERS);
            product(c.0.as_mut_ptr(), a.0.as_ptr(), b.0.as_ptr());
        }
    }
}
