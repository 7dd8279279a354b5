//! What every peer needs: a check that its product is right, then the timing driver.

pub mod sntrup761;
pub mod words;

use std::sync::OnceLock;

/// A ring Z_q[x]/(f).
#[derive(Clone, Copy)]
pub struct Ring {
    /// The modulus of the coefficients.
    pub q: i64,
    /// The degree of f.
    pub n: usize,
    /// f.
    pub form: Form,
}

/// The polynomials that peers reduce by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// x^n - x - 1.
    NtruPrime,
    /// x^n + 1.
    Negacyclic,
    /// x^n - 1.
    Cyclic,
}

static CANDIDATE: OnceLock<fn()> = OnceLock::new();

unsafe extern "C" {
    fn timing_main() -> i32;
}

/// Checks `multiply` (big times big, or times ternary operands where `small`) against the
/// schoolbook product, and then answers timing requests for `candidate`, one product of the
/// operands that were multiplied last, until the end of standard input.
///
/// # Panics
/// The product is wrong: a wrong product is no peer.
pub fn serve(
    ring: Ring,
    small: bool,
    multiply: impl Fn(&[i64], &[i64]) -> Vec<i64>,
    candidate: fn(),
) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |n: i64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as i64 % n - n / 2
    };
    let a: Vec<i64> = (0..ring.n).map(|_| draw(ring.q)).collect();
    let b: Vec<i64> = (0..ring.n).map(|_| draw(if small { 3 } else { ring.q })).collect();
    let c: Vec<i64> = multiply(&a, &b).iter().map(|&x| ring.centered(x)).collect();
    assert_eq!(c, ring.schoolbook(&a, &b), "the peer's product is wrong");
    let _ = CANDIDATE.set(candidate);
    // SAFETY: single-threaded; the driver calls the two functions below and nothing else.
    unsafe { timing_main() };
}

impl Ring {
    fn centered(&self, x: i64) -> i64 {
        (x + self.q / 2).rem_euclid(self.q) - self.q / 2
    }

    /// The product, centered.
    fn schoolbook(&self, a: &[i64], b: &[i64]) -> Vec<i64> {
        let n = self.n;
        let mut wide = vec![0i64; 2 * n - 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                wide[i + j] = (wide[i + j] + x * y) % self.q;
            }
        }
        for k in (n..wide.len()).rev() {
            let top = wide[k];
            match self.form {
                Form::Negacyclic => wide[k - n] -= top,
                Form::Cyclic => wide[k - n] += top,
                Form::NtruPrime => {
                    wide[k - n] += top;
                    wide[k - n + 1] += top;
                }
            }
        }
        wide[..n].iter().map(|x| self.centered(*x)).collect()
    }
}

/// Called by the driver before it times.
#[unsafe(no_mangle)]
extern "C" fn candidate_setup() {}

/// Called by the driver: one product.
#[unsafe(no_mangle)]
extern "C" fn candidate() {
    if let Some(candidate) = CANDIDATE.get() {
        candidate();
    }
}
