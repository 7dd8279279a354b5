//! Integers modulo q, for any q from 2 to 2^32: canonical representatives in `[0, q)`.

pub use crate::roots::{MissingRoot, order, root_of_unity, sqrt};

/// `a + b mod q`, for any `a`, `b`.
pub fn add(a: u64, b: u64, q: u64) -> u64 {
    ((u128::from(a) + u128::from(b)) % u128::from(q)) as u64
}

/// `a − b mod q`, for any `a`, `b`.
pub fn sub(a: u64, b: u64, q: u64) -> u64 {
    add(a % q, q - b % q, q)
}

/// `a · b mod q`, for any `a`, `b`.
pub fn mul(a: u64, b: u64, q: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(q)) as u64
}

/// `a^e mod q`.
pub fn pow(a: u64, mut e: u64, q: u64) -> u64 {
    let (mut square, mut result) = (a % q, 1 % q);
    while e > 0 {
        if e & 1 == 1 {
            result = mul(result, square, q);
        }
        square = mul(square, square, q);
        e >>= 1;
    }
    result
}

/// The greatest common divisor; `gcd(a, 0) = a`.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The inverse of `a` modulo `q`, or `None` where `a` and `q` share a factor.
///
/// ```
/// use ringforge_ring::zq;
/// assert_eq!(zq::inv(170, 4591), Some(4564));
/// assert_eq!(zq::inv(2, 2048), None);
/// ```
pub fn inv(a: u64, q: u64) -> Option<u64> {
    // Extended Euclid: keep r = s·a (mod q) on both lines.
    let (mut r0, mut r1) = (i128::from(q), i128::from(a % q));
    let (mut s0, mut s1) = (0i128, 1i128);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (s0, s1) = (s1, s0 - quotient * s1);
    }
    (r0 == 1).then(|| s0.rem_euclid(i128::from(q)) as u64)
}

/// Whether `n` is prime, by trial division.
pub fn is_prime(n: u64) -> bool {
    matches!(factor(n).as_slice(), [(_, 1)])
}

/// The prime factorisation `[(p, e)]` of `n`, primes ascending; empty for 0 and 1. Trial division.
///
/// ```
/// assert_eq!(ringforge_ring::zq::factor(4590), [(2, 1), (3, 3), (5, 1), (17, 1)]);
/// ```
pub fn factor(mut n: u64) -> Vec<(u64, u32)> {
    let mut factors = Vec::new();
    if n < 2 {
        return factors;
    }
    let mut p = 2;
    while p * p <= n {
        let mut exponent = 0;
        while n.is_multiple_of(p) {
            n /= p;
            exponent += 1;
        }
        if exponent > 0 {
            factors.push((p, exponent));
        }
        p += if p == 2 { 1 } else { 2 };
    }
    if n > 1 {
        factors.push((n, 1));
    }
    factors
}

/// All divisors of `n`, ascending.
pub fn divisors(n: u64) -> Vec<u64> {
    let mut all = vec![1];
    for (p, e) in factor(n) {
        let smaller = all.clone();
        let mut power = 1;
        for _ in 0..e {
            power *= p;
            all.extend(smaller.iter().map(|d| d * power));
        }
    }
    all.sort_unstable();
    all
}

/// A factorisation as people write it: `2 · 3^3 · 5 · 17`.
pub fn factored(n: u64) -> String {
    let factors = factor(n);
    if factors.is_empty() {
        return n.to_string();
    }
    let part = |&(p, e): &(u64, u32)| if e == 1 { p.to_string() } else { format!("{p}^{e}") };
    factors.iter().map(part).collect::<Vec<_>>().join(" · ")
}

/// The centred representative: `[-(q-1)/2, (q-1)/2]` for odd q, `[-q/2, q/2 - 1]` for even q.
///
/// ```
/// use ringforge_ring::zq::centered;
/// assert_eq!((centered(2295, 4591), centered(2296, 4591)), (2295, -2295));
/// assert_eq!((centered(1023, 2048), centered(1024, 2048)), (1023, -1024));
/// ```
pub fn centered(a: u64, q: u64) -> i64 {
    let a = a % q;
    if a < q.div_ceil(2) { a as i64 } else { a as i64 - q as i64 }
}

/// The representative in `[0, q)` of any signed `a`.
pub fn unsigned(a: i64, q: u64) -> u64 {
    i128::from(a).rem_euclid(i128::from(q)) as u64
}
