//! What every peer needs: a check that its product is right, then the timing driver.

use std::sync::OnceLock;

/// A product of Z_4591[x]/(x^761 - x - 1) in the byte interface of the NTRU Prime reference
/// code: 1522 bytes out and in (761 little-endian 16-bit coefficients), 761 bytes ternary.
pub type Product = unsafe extern "C" fn(*mut u8, *const u8, *const u8) -> i32;

const Q: i64 = 4591;
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

unsafe extern "C" {
    fn timing_main() -> i32;
}

/// Checks `product` against the schoolbook product and then answers timing requests until the
/// end of standard input.
///
/// # Panics
/// The product is wrong: a wrong product is no peer.
pub fn serve(product: Product) {
    let (a, b) = operands();
    let (mut bytes, mut small) = ([0u8; 2 * P], [0u8; P]);
    for i in 0..P {
        bytes[2 * i..2 * i + 2].copy_from_slice(&(a[i] as i16).to_le_bytes());
        small[i] = b[i] as i8 as u8;
    }
    let mut c = [0u8; 2 * P];
    // SAFETY: the buffers have the sizes that `Product` states.
    unsafe { product(c.as_mut_ptr(), bytes.as_ptr(), small.as_ptr()) };
    let c: Vec<i64> =
        c.chunks_exact(2).map(|w| i64::from(i16::from_le_bytes([w[0], w[1]]))).collect();
    assert_eq!(c, schoolbook(&a, &b), "the peer's product is wrong");
    let _ = PRODUCT.set(product);
    // SAFETY: single-threaded; the driver calls the two functions below and nothing else.
    unsafe {
        BUFFERS.a = bytes;
        BUFFERS.b = small;
        timing_main();
    }
}

/// Fixed pseudo-random operands: big (centered) and small (ternary).
fn operands() -> (Vec<i64>, Vec<i64>) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |n: i64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as i64 % n - n / 2
    };
    ((0..P).map(|_| draw(Q)).collect(), (0..P).map(|_| draw(3)).collect())
}

/// The product mod (4591, x^761 - x - 1), centered.
fn schoolbook(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut wide = vec![0i64; 2 * P - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            wide[i + j] += x * y;
        }
    }
    for k in (P..wide.len()).rev() {
        let top = wide[k];
        wide[k - P] += top;
        wide[k - P + 1] += top;
    }
    wide[..P].iter().map(|x| (x + Q / 2).rem_euclid(Q) - Q / 2).collect()
}

/// Called by the driver before it times.
#[unsafe(no_mangle)]
extern "C" fn candidate_setup() {}

/// Called by the driver: one product.
#[unsafe(no_mangle)]
extern "C" fn candidate() {
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
