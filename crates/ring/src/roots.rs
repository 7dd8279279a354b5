//! Orders, square roots and roots of unity modulo q.

use crate::zq::{divisors, factor, factored, gcd, inv, is_prime, mul, pow};

/// There is no principal n-th root of unity modulo q: some prime p that divides q has n ∤ p − 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.describe())]
pub struct MissingRoot {
    /// The order that was asked for.
    pub n: u64,
    /// The modulus.
    pub q: u64,
    /// The prime factor of q that stands in the way (q itself where q is prime).
    pub prime: u64,
    /// The factorisation of `prime − 1`: n would have to divide it.
    pub factors: Vec<(u64, u32)>,
    /// The orders for which there is a principal root of unity modulo q, ascending.
    pub available: Vec<u64>,
}

impl MissingRoot {
    /// The available order just below n and just above it, where there is one.
    pub fn nearest(&self) -> (Option<u64>, Option<u64>) {
        let below = self.available.iter().rev().find(|&&d| d < self.n).copied();
        let above = self.available.iter().find(|&&d| d > self.n).copied();
        (below, above)
    }

    fn describe(&self) -> String {
        let Self { n, q, prime, .. } = self;
        if *n == 0 {
            return format!("there is no root of unity of order 0 modulo {q}");
        }
        let field = if prime == q {
            String::new()
        } else {
            format!(" ({q} = {} is not prime; its factor {prime} stands in the way)", factored(*q))
        };
        let factors =
            if prime - 1 < 2 { String::new() } else { format!(" = {}", factored(prime - 1)) };
        let near = match self.nearest() {
            (Some(below), Some(above)) => {
                format!("the nearest orders that exist are {below} and {above}")
            }
            (Some(below), None) => format!("the largest order that exists is {below}"),
            _ => "there is none of any other order".to_string(),
        };
        format!(
            "no principal root of unity of order {n} modulo {q}: {n} does not divide {}{factors}{field}; {near}",
            prime - 1
        )
    }
}

/// The multiplicative order of `a` modulo `q`, or `None` where `a` is not invertible.
///
/// ```
/// // 004: 2577 has order exactly 1440 modulo 12902401
/// assert_eq!(ringforge_ring::zq::order(2577, 12902401), Some(1440));
/// ```
pub fn order(a: u64, q: u64) -> Option<u64> {
    if gcd(a % q, q) != 1 {
        return None;
    }
    let mut order: u64 = factor(q).iter().map(|&(p, e)| p.pow(e - 1) * (p - 1)).product();
    for (p, _) in factor(order) {
        while order.is_multiple_of(p) && pow(a, order / p, q) == 1 % q {
            order /= p;
        }
    }
    Some(order)
}

/// A principal n-th root of unity modulo `q`: ω^n = 1, and Σ_i ω^{ij} = 0 for 0 < j < n.
///
/// The result is deterministic. For prime q it is g^((q−1)/n) for the smallest generator g. For composite q it
/// exists exactly if n divides p − 1 for every prime p dividing q. Raising the root modulo p to the power p^(e−1)
/// lifts it to p^e, and the Chinese remainder theorem joins the prime powers.
///
/// ```
/// use ringforge_ring::zq::{order, root_of_unity};
/// let w = root_of_unity(90, 4591).unwrap();
/// assert_eq!(order(w, 4591), Some(90));
/// let missing = root_of_unity(91, 4591).unwrap_err();
/// assert_eq!(missing.nearest(), (Some(90), Some(102)));
/// ```
pub fn root_of_unity(n: u64, q: u64) -> Result<u64, MissingRoot> {
    let primes = factor(q);
    let blocked = primes.iter().find(|&&(p, _)| n == 0 || (p - 1) % n != 0);
    if let Some(&(prime, _)) = blocked {
        let common = primes.iter().fold(0, |g, &(p, _)| gcd(p - 1, g));
        let available = divisors(common);
        return Err(MissingRoot { n, q, prime, factors: factor(prime - 1), available });
    }
    let (mut root, mut modulus) = (0u64, 1u64);
    for (p, e) in primes {
        let power = p.pow(e);
        let lifted = pow(pow(generator(p), (p - 1) / n, p), p.pow(e - 1), power);
        // root + modulus·t ≡ lifted (mod power)
        let inverse = inv(modulus % power, power).unwrap_or(1);
        let t = mul(lifted + power - root % power, inverse, power);
        root += modulus * t;
        modulus *= power;
    }
    Ok(root)
}

/// The smallest generator of the units modulo the prime `p`.
fn generator(p: u64) -> u64 {
    (1..p).find(|&g| order(g, p) == Some(p - 1)).unwrap_or(1)
}

/// A square root of `a` modulo `q`, the smaller one of the two for prime q; `None` where there is
/// none. Prime q: Tonelli and Shanks. Composite q: all q candidates are tried, which is slow for
/// large q.
///
/// ```
/// use ringforge_ring::zq::sqrt;
/// assert_eq!(sqrt(4590, 4591), None); // 4591 ≡ 3 mod 4: −1 has no square root
/// assert_eq!(sqrt(9, 4591), Some(3));
/// ```
pub fn sqrt(a: u64, q: u64) -> Option<u64> {
    let a = a % q;
    if a == 0 || q == 2 {
        return Some(a);
    }
    if !is_prime(q) {
        return (0..q).find(|&r| mul(r, r, q) == a);
    }
    if pow(a, (q - 1) / 2, q) != 1 {
        return None;
    }
    let twos = (q - 1).trailing_zeros();
    let odd = (q - 1) >> twos;
    // Invariant: root² = a·rest, and the order of rest divides 2^level, less in each round.
    let (mut root, mut rest) = (pow(a, odd.div_ceil(2), q), pow(a, odd, q));
    let mut twister = (2..q).find(|&z| pow(z, (q - 1) / 2, q) != 1).map_or(1, |z| pow(z, odd, q));
    let mut level = twos;
    while rest != 1 {
        let mut depth = 0;
        let mut square = rest;
        while square != 1 {
            square = mul(square, square, q);
            depth += 1;
        }
        let step = pow(twister, 1 << (level - depth - 1), q);
        root = mul(root, step, q);
        twister = mul(step, step, q);
        rest = mul(rest, twister, q);
        level = depth;
    }
    Some(root.min(q - root))
}
