//! Laws of the ring, of its text form, and of the roots.

use proptest::prelude::*;
use ringforge_ring::{MAX_DEGREE, Ring, zq};

/// Rings of small degree over primes, composites and powers of two.
fn rings() -> impl Strategy<Value = Ring> {
    let moduli = prop::sample::select(vec![2u64, 3, 16, 17, 2048, 4590, 4591, 12289, 1 << 32]);
    (moduli, prop::collection::vec(any::<i64>(), 1..12)).prop_map(|(q, mut f)| {
        f.push(1);
        Ring::new(q, &f).expect("monic")
    })
}

fn element() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(any::<i64>(), 0..20)
}

/// a·b mod f by another way: Horner, multiplying by x and reducing at each step.
fn horner(ring: &Ring, a: &[i64], b: &[i64]) -> Vec<i64> {
    let (n, q) = (ring.degree(), ring.q());
    let b: Vec<u64> = ring.reduce(b).iter().map(|&c| zq::unsigned(c, q)).collect();
    let mut sum = vec![0u64; n];
    for &c in a.iter().rev() {
        let top = sum[n - 1];
        sum.rotate_right(1);
        sum[0] = 0;
        for i in 0..n {
            let fold = zq::mul(top, zq::unsigned(ring.modulus()[i], q), q);
            sum[i] = zq::sub(sum[i], fold, q);
            sum[i] = zq::add(sum[i], zq::mul(zq::unsigned(c, q), b[i], q), q);
        }
    }
    sum.iter().map(|&c| zq::centered(c, q)).collect()
}

proptest! {
    #[test]
    fn text_reads_back(ring in rings()) {
        prop_assert_eq!(Ring::parse(&ring.to_string()).expect("own text"), ring);
    }

    #[test]
    fn any_text_is_read_or_refused_inside(text in "[Zx0-9_^()\\[\\]/ +*-]{0,24}|\\PC{0,12}") {
        match Ring::parse(&text) {
            Ok(ring) => prop_assert_eq!(Ring::parse(&ring.to_string()).expect("own text"), ring),
            Err(e) => prop_assert!(e.at <= text.len() && text.is_char_boundary(e.at)),
        }
    }

    #[test]
    fn product_is_horners(ring in rings(), a in element(), b in element()) {
        prop_assert_eq!(ring.mul(&a, &b), horner(&ring, &a, &b));
        prop_assert_eq!(ring.mul(&a, &b), ring.mul(&b, &a));
    }

    #[test]
    fn product_is_bilinear(ring in rings(), a in element(), b in element(), c in element()) {
        let sum = |x: &[i64], y: &[i64]| -> Vec<i64> {
            let (x, y) = (ring.reduce(x), ring.reduce(y));
            ring.reduce(&x.iter().zip(&y).map(|(x, y)| x + y).collect::<Vec<_>>())
        };
        let left = ring.mul(&a, &sum(&b, &c));
        prop_assert_eq!(left, sum(&ring.mul(&a, &b), &ring.mul(&a, &c)));
    }

    #[test]
    fn results_are_centred(ring in rings(), a in element()) {
        let q = ring.q() as i64;
        for c in ring.reduce(&a) {
            prop_assert!(-(q / 2) <= c && c <= (q - 1) / 2);
        }
    }

    #[test]
    fn inverses_and_orders(a in 1u64..5000, q in 2u64..5000) {
        match zq::inv(a, q) {
            Some(b) => prop_assert_eq!(zq::mul(a, b, q), 1 % q),
            None => prop_assert!(zq::gcd(a % q, q) != 1),
        }
        let by_counting = || (1..=q).find(|&e| zq::pow(a, e, q) == 1 % q);
        prop_assert_eq!(zq::order(a, q), if zq::gcd(a % q, q) == 1 { by_counting() } else { None });
    }

    #[test]
    fn square_roots(a in 0u64..3000, q in 2u64..3000) {
        let by_trying = (0..q).find(|&r| r * r % q == a % q);
        prop_assert_eq!(zq::sqrt(a, q), by_trying);
    }

    #[test]
    fn factorisation(n in 1u64..1_000_000) {
        let factors = zq::factor(n);
        prop_assert_eq!(factors.iter().map(|&(p, e)| p.pow(e)).product::<u64>(), n);
        prop_assert!(factors.iter().all(|&(p, _)| zq::is_prime(p)));
    }

    /// For every modulus, prime or not: a root is principal, and where none is found there is none.
    #[test]
    fn roots_are_principal(n in 1u64..12, q in 2u64..400) {
        let principal = |w: u64| {
            zq::pow(w, n, q) == 1 % q
                && zq::inv(n, q).is_some()
                && (1..n).all(|j| (0..n).fold(0, |s, i| zq::add(s, zq::pow(w, i * j, q), q)) == 0)
        };
        match zq::root_of_unity(n, q) {
            Ok(w) => prop_assert!(principal(w), "{} mod {}", w, q),
            Err(_) => prop_assert!(!(0..q).any(principal)),
        }
    }
}

/// The errors, with the byte they point at.
#[test]
fn errors_point_and_expect() {
    let table = [
        ("", 0, "`Z`: a ring looks like `Z4591[x]/(x^761 - x - 1)`"),
        ("R4591[x]", 0, "`Z`: a ring looks like `Z4591[x]/(x^761 - x - 1)`"),
        ("Z[x]/(x^2 + 1)", 1, "a modulus q of at least 2, as in `Z4591`"),
        ("Z1[x]/(x^2 + 1)", 1, "a modulus q of at least 2, as in `Z4591`"),
        ("Z4294967297[x]/(x + 1)", 1, "a modulus q of at most 4294967296"),
        ("Z4591x/(x + 1)", 5, "`[` after the modulus q, as in `Z4591[x]`"),
        ("Z4591[y]/(y + 1)", 6, "`x` or `X`, the variable"),
        ("Z4591[X]/(x + 1)", 10, "a term such as `X^761`, `3X` or `1`"),
        ("Z2^[x]/(x + 1)", 3, "an exponent of the modulus, as in `Z2^16`"),
        ("Z2^33[x]/(x + 1)", 1, "a modulus q of at most 4294967296"),
        ("Z1^5[x]/(x + 1)", 1, "a modulus q of at least 2, as in `Z4591`"),
        ("Z_{17[x]/(x + 1)", 5, "`}` after the modulus q"),
        ("(Z/17Z[x]/(x + 1)", 6, "`)` after the modulus q"),
        (
            "GF(2^8)[x]/(x^2 + 1)",
            3,
            "a prime q (256 = 2^8, and that field does not multiply as integers modulo q do), or `Z256` for \
             integers modulo 256",
        ),
        (
            "F_6[x]/(x^2 + 1)",
            2,
            "a prime q (6 = 2 · 3, and there is no field of that size), or `Z6` for integers modulo 6",
        ),
        ("Z17[x]/<x^2 + 1)", 15, "`>`, `+` or `-` after a term of f"),
        ("Z4591[x](x + 1)", 8, "`/` and the polynomial f, as in `Z4591[x]/(x^761 - x - 1)`"),
        ("Z4591[x]/(x^ - 1)", 13, "an exponent"),
        ("Z4591[x]/(x^9999999 - 1)", 12, "an exponent of at most 1048576"),
        ("Z4591[x]/(x^2 - )", 16, "a term such as `x^761`, `3x` or `1`"),
        ("Z4591[x]/(x^2 - 1", 17, "`)`, `+` or `-` after a term of f"),
        ("Z4591[x]/(x^2 - 1) 7", 19, "the end of the text after `)`"),
        ("Z4591[x]/(2x^2 - 1)", 10, "a polynomial of degree 1 or more with leading coefficient 1"),
        ("Z4591[x]/(1)", 10, "a polynomial of degree 1 or more with leading coefficient 1"),
        ("Z4591[x]/(x^2 - x^2)", 10, "a polynomial of degree 1 or more with leading coefficient 1"),
    ];
    for (text, at, expected) in table {
        let error = Ring::parse(text).expect_err(text);
        assert_eq!((error.at, error.expected.as_str()), (at, expected), "{text}");
    }
    let error = Ring::parse("Z4591[x]/(x^2 - )").expect_err("malformed");
    assert_eq!(
        error.to_string(),
        "this is not a ring: at byte 16, expected a term such as `x^761`, `3x` or `1`\n  \
         Z4591[x]/(x^2 - )\n                  ^"
    );
}

#[test]
fn forms_of_one_ring() {
    let ring = Ring::parse("Z4591[x]/(x^761 - x - 1)").expect("ring");
    for text in [
        "Z_4591 [x] / ( x^761-x-1 )",
        "Z4591[x]/(-1 - x + x^761)",
        "Z4591[x]/(x^761+4590*x+4590)",
        "Z_{4591}[X]/(X^{761} - X - 1)",
        "Z/4591[x]/(x^761 - x - 1)",
        "(Z/4591Z)[x]/(x^761 - x - 1)",
        "ℤ/4591ℤ[x]/⟨x^761 − x − 1⟩",
        "GF(4591)[x]/(x^761 - x - 1)",
        "F_4591[x]/<x^761 - x - 1>",
        "𝔽_{4591}[X]/(X^761 - X - 1)",
        "F4591[x]/(x^761 - x - 1)",
    ] {
        assert_eq!(Ring::parse(text).expect(text), ring);
    }
    let power = Ring::parse("Z65536[x]/(x^4 + 1)").expect("ring");
    for text in ["Z2^16[x]/(x^4 + 1)", "Z_2^16[x]/(x^4 + 1)", "Z_{2^16}[x]/(x^4 + 1)"] {
        assert_eq!(Ring::parse(text).expect(text), power);
    }
    assert_eq!(Ring::new(4591, &[-1, -1]), None);
    assert_eq!(Ring::new(4591, &vec![1; MAX_DEGREE + 2]), None);
    assert_eq!(Ring::new(1, &[0, 1]), None);
}

#[test]
fn missing_roots_say_why() {
    let say = |n, q| zq::root_of_unity(n, q).expect_err("none").to_string();
    assert_eq!(
        say(91, 4591),
        "no principal root of unity of order 91 modulo 4591: 91 does not divide 4590 = 2 · 3^3 · 5 · 17; \
         the nearest orders that exist are 90 and 102"
    );
    assert_eq!(
        say(3, 2048),
        "no principal root of unity of order 3 modulo 2048: 3 does not divide 1 (2048 = 2^11 is not \
         prime; its factor 2 stands in the way); the largest order that exists is 1"
    );
    // 7681·10753 has roots of order 512, as both primes have
    assert!(zq::root_of_unity(512, 7681 * 10753).is_ok());
}
