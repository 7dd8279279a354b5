//! Worst cases, bounds and refusals of the change of modulus.

use super::*;
use crate::plan::Plan;
use crate::registry::build_product;
use crate::testing::Random;

fn plan(ring: &str, operands: &str, tree: &str) -> Result<Plan, crate::PlanError> {
    Plan::parse(&format!("(plan p (ring \"{ring}\") (operands {operands}) {tree})"))
}

/// Primes of every number, rings of every shape, odd and even and composite q: random operands
/// and those at both ends of their ranges, with all signs equal, alternating and mixed.
#[test]
fn is_the_product_in_the_worst_case() {
    let school = |p: u64| format!("(prime {p} (schoolbook))");
    let cases = [
        ("Z2048[x]/(x^7 - 1)", "big small", vec![14341]),
        ("Z2048[x]/(x^7 + 1)", "small big", vec![127, 113]),
        ("Z2048[x]/(x^7 - 1)", "big big", vec![7681, 10753]),
        ("Z8192[x]/(x^8 + 1)", "big (within 5)", vec![331, 991]),
        ("Z4591[x]/(x^7 - x - 1)", "big big", vec![409, 421, 433]),
        ("Z91[x]/(x^5 + 3x - 1)", "big big", vec![19, 23, 29, 31]),
    ];
    for (ring, operands, primes) in cases {
        let tree: String = primes.iter().map(|&p| school(p)).collect();
        let text = match ring.contains("- x") || ring.contains("3x") {
            true => format!("(lift 13 (change-modulus {tree}))"),
            false => format!("(change-modulus {tree})"),
        };
        let plan = plan(ring, operands, &text).unwrap_or_else(|e| panic!("{e}"));
        plan.check().unwrap_or_else(|e| panic!("{e}"));
        let (q, n) = (plan.ring.q(), plan.ring.degree());
        let mut random = Random(q);
        let [a, b] = plan.operands.map(|o| o.range(q));
        let patterns: [&dyn Fn(usize, u64) -> bool; 5] =
            [&|_, _| true, &|_, _| false, &|i, _| i % 2 == 0, &|i, _| i < 3, &|_, r| r % 2 == 0];
        for x in patterns {
            for y in patterns {
                let mut make =
                    |(low, high): (i64, i64), sign: &dyn Fn(usize, u64) -> bool| -> Vec<i64> {
                        (0..n).map(|i| if sign(i, random.below(2)) { high } else { low }).collect()
                    };
                let (a, b) = (make(a, x), make(b, y));
                assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b), "{text}");
            }
        }
    }
}

#[test]
fn primes_of_products_are_counted() {
    let primes = "(change-modulus (prime 7681 (schoolbook)) (prime 10753 (schoolbook)))";
    for (tree, count) in [
        (primes.to_owned(), 2),
        (format!("(lift 13 {primes})"), 2),
        ("(change-modulus (prime 33554467 (schoolbook)))".to_owned(), 1),
        ("(lift 13 (schoolbook))".to_owned(), 0),
    ] {
        let plan = plan("Z2048[x]/(x^7 - 1)", "big big", &tree).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(plan.root.moduli().len(), count, "{tree}");
    }
}

/// The bound is met exactly: one prime less and it is refused, and rightly so.
#[test]
fn the_bound_is_tight() {
    let ring = "Z2048[x]/(x^7 - 1)"; // 2·7·1024 = 14336
    let error = plan(ring, "big small", "(change-modulus (prime 14327 (schoolbook)))")
        .expect_err("too small");
    assert_eq!(
        error.message,
        "the product over the integers does not fit: its coefficient 0 is a sum of 7 products of \
         up to 1024·1 and can be ±7168, but 14327 covers only ±7163"
    );
    assert!(error.would_work.is_some_and(|w| w.contains("more than 14336")));
    assert!(plan(ring, "big small", "(change-modulus (prime 14341 (schoolbook)))").is_ok());
    // What would go wrong: the same digits without the condition.
    let domain = Domain::of_operands(
        &ring.parse().expect("ring"),
        [crate::Operand::Big, crate::Operand::Small],
    );
    let inner = build_product(
        &Form::parse("(schoolbook)").expect("text"),
        &over_integers(&domain, 14327).expect("cyclic"),
    );
    let small = ChangeModulus {
        domain: domain.clone(),
        bound: 7168,
        moduli: vec![14327],
        inner: vec![inner.expect("product")],
        below: vec![Vec::new()],
    };
    let (a, b) = (vec![1024; 7], vec![2047; 7]);
    assert_ne!(small.multiply(&a, &b), domain.multiply(&a, &b));
}

/// Seed 004's prime covers big times small, and not big times big; nor do 7681 and 10753.
#[test]
fn the_seeds_primes_cover_what_they_cover() {
    let ring = "Z2048[x]/(x^677 - 1)";
    let one = "(lift 1353 (change-modulus (prime 12902401 (schoolbook))))";
    let two = "(change-modulus (prime 7681 (schoolbook)) (prime 10753 (schoolbook)))";
    assert!(plan(ring, "big small", one).is_ok() && plan(ring, "big small", two).is_ok());
    let error = plan(ring, "big big", one).expect_err("refused");
    assert!(
        error.message.contains(
            "coefficient 676 is a sum of 677 products of up to 1024·1024 and can be ±709885952"
        ),
        "{error}"
    );
    let hint = error.would_work.unwrap_or_default();
    assert!(
        hint.contains("more than 1419771904") && hint.contains("(operands big (within 9))"),
        "{hint}"
    );
    let error = plan(ring, "big big", two).expect_err("refused");
    assert!(error.message.contains("7681·10753 = 82593793 covers only ±41296896"), "{error}");
}

#[test]
fn terms_of_the_worst_coefficient() {
    let cyclic = |degree| Modulus::Binomial { degree, weight: 1 };
    let cases = [
        (Modulus::Free { length: 13 }, 7, 13, (6, 7)),
        (Modulus::Free { length: 13 }, 7, 4, (3, 4)),
        (cyclic(7), 7, 7, (0, 7)),
        (cyclic(9), 7, 9, (6, 7)),
        (cyclic(9), 5, 9, (4, 5)),
        (Modulus::Binomial { degree: 9, weight: 0 }, 7, 9, (6, 7)),
    ];
    for (modulus, operand, wanted, expected) in cases {
        let domain = Domain { q: 17, modulus, operand, wanted, bounds: [8, 8] };
        let mut count = [0; 13];
        for i in 0..operand {
            for j in 0..operand {
                let folded = domain.binomial().filter(|b| b.1 != 0).map(|(n, _)| (i + j) % n);
                count[folded.unwrap_or(i + j)] += 1;
            }
        }
        assert_eq!(worst_coefficient(&domain), expected, "{domain}");
        assert_eq!(count[..wanted].iter().max(), Some(&expected.1), "{domain}");
    }
}

#[test]
fn refusals() {
    let message =
        |ring: &str, tree: &str| plan(ring, "big big", tree).expect_err("refused").message;
    let ring = "Z17[x]/(x^4 + 1)";
    assert_eq!(
        message(ring, "(change-modulus (prime 7682 (schoolbook)))"),
        "7682 is no odd prime: it is 2 · 23 · 167"
    );
    assert!(
        message(ring, "(change-modulus (prime 7681 (schoolbook)) (prime 7681 (schoolbook)))")
            .contains("there already")
    );
    assert_eq!(message(ring, "(change-modulus)"), "`change-modulus` lacks `(prime …)`");
    assert!(
        message("Z17[x]/(x^4 + 3)", "(change-modulus (prime 7681 (schoolbook)))")
            .contains("mod x^n + 1")
    );
    assert!(
        message(ring, "(change-modulus (prime 7681 (schoolbook) 3))").contains("does not take `3`")
    );
    // What the inner product needs is missing modulo the prime, not modulo q.
    let inner = "(change-modulus (prime 7687 (ntt 1 (forward cooley-tukey) (inverse cooley-tukey) (weighted-convolution (toeplitz)))))";
    assert!(message(ring, inner).contains("mod 7687"));
}
