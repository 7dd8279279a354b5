//! Random valid plans: their text reads back, and their products are the oracle's.

use proptest::prelude::*;
use ringforge_plan::{METHODS, Plan};
use ringforge_ring::zq;

/// Draws decisions from a list of numbers, so that proptest can shrink them.
struct Draw(Vec<u32>);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0.pop().unwrap_or(0) as usize % bound
    }
}

/// The text of some transform of length n (with primes up to 17).
fn transform(n: usize, draw: &mut Draw) -> String {
    if draw.below(5) == 0 {
        return format!("(time-shift {})", transform(n, draw));
    }
    if n == 2 {
        return "(butterfly)".to_string();
    }
    if zq::is_prime(n as u64) {
        return format!("(rader {n}{})", ["", " unscaled"][draw.below(2)]);
    }
    let splits: Vec<usize> = (2..n).filter(|&p| n.is_multiple_of(p)).collect();
    let p = splits[draw.below(splits.len())];
    let parts = format!("{} {}", transform(p, draw), transform(n / p, draw));
    if zq::gcd(p as u64, (n / p) as u64) == 1 && draw.below(3) > 0 {
        return format!("(good-thomas {p} {} {parts})", n / p);
    }
    format!("(cooley-tukey {p} {} {}{parts})", n / p, ["", "twisted "][draw.below(2)])
}

fn small(size: usize, weighted: bool, draw: &mut Draw) -> String {
    match draw.below(5) {
        0 if size.is_multiple_of(2) => format!("(karatsuba {})", small(size / 2, false, draw)),
        1 if size.is_multiple_of(2) && weighted => format!(
            "(if-square-root (two-ntt {}) {})",
            small(size / 2, true, draw),
            small(size, true, draw)
        ),
        // 4591 = 3 mod 4: what has no square root splits by Bruun's method.
        2 if size.is_multiple_of(4) && weighted => format!(
            "(if-square-root (two-ntt {}) (bruun (trinomial)))",
            small(size / 2, true, draw)
        ),
        _ => "(toeplitz)".to_string(),
    }
}

fn substitute(k: usize, n: usize, draw: &mut Draw) -> String {
    format!(
        "(substitute {k} {} (weighted-convolution {}))",
        transform(n, draw),
        small(k, true, draw)
    )
}

/// A plan for Z4591[x]/(x^d - x - 1), from the decisions.
fn plan(decisions: Vec<u32>) -> String {
    let mut draw = Draw(decisions);
    let lengths = [2, 3, 5, 6, 9, 10, 15, 17, 18, 27, 30, 34];
    let mut n = lengths[draw.below(lengths.len())];
    let k = 1 + draw.below(6);
    let choice = draw.below(5);
    let tree = if choice == 4 {
        // Other points than roots of unity.
        let [p, m] = [[3, 2], [5, 2], [3, 5], [17, 2], [5, 3], [2, 9]][draw.below(6)];
        n = (p - 1) * m;
        let parts = format!("{p} {m} {} {}", transform(p, &mut draw), transform(m, &mut draw));
        let end = format!("(weighted-convolution {})", small(k, true, &mut draw));
        ((k * n).div_ceil(2), format!("(substitute {k} (truncated {parts}) {end})"))
    } else if choice < 2 {
        // x^{kN} − 1 and x^low: operands of at most kN coefficients
        let low = 1 + draw.below(k * n);
        let d = (k * n + low).div_ceil(2);
        let low_tree = match draw.below(3) {
            0 => "(schoolbook)".to_string(),
            choice => {
                let operand = low.min(d);
                let (border, operand) =
                    if choice == 1 && operand > 1 { (true, operand - 1) } else { (false, operand) };
                let length = (2 * operand - 1).div_ceil(3);
                let m = lengths.into_iter().find(|&m| m >= length);
                let inner = match m {
                    Some(m) => format!("(lift {} {})", 3 * m, substitute(3, m, &mut draw)),
                    None => "(schoolbook)".to_string(),
                };
                if border { format!("(border {operand} {inner})") } else { inner }
            }
        };
        let main = substitute(k, n, &mut draw);
        (d, format!("(monomial-crt {} {low} (main {main}) (low {low_tree}))", k * n))
    } else {
        ((k * n).div_ceil(2), substitute(k, n, &mut draw))
    };
    let (d, tree) = tree;
    let (d, length) =
        (d.max(2), (2 * d.max(2) - 1).max(if tree.starts_with("(sub") { k * n } else { 0 }));
    format!(
        "(plan random (note \"by chance\") (ring \"Z4591[x]/(x^{d} - x - 1)\") (lift {length} {tree}))"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn read_back_and_multiply(
        decisions in prop::collection::vec(any::<u32>(), 40),
        a in prop::collection::vec(-2295i64..=2295, 220),
        b in prop::collection::vec(-2295i64..=2295, 220),
    ) {
        let text = plan(decisions);
        let Ok(plan) = Plan::parse(&text) else {
            // x^2 − x − 1 with k·n = 2, 3 has no room; nothing else may be refused.
            let error = Plan::parse(&text).expect_err("refused");
            prop_assert!(text.contains("(x^2 - x - 1)"), "{}\n{}", text, error);
            return Ok(());
        };
        let printed = plan.to_string();
        prop_assert_eq!(Plan::parse(&printed).expect("own text").to_string(), printed);
        plan.check().expect("own text");
        let d = plan.ring.degree();
        prop_assert_eq!(plan.multiply(&a[..d], &b[..d]), plan.ring.mul(&a[..d], &b[..d]), "{}", text);
    }
}

/// The registry: names are distinct, every usage opens with its name, every method is cited.
#[test]
fn registry_is_sound() {
    let mut names: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), METHODS.len());
    for method in METHODS {
        let head = method.usage.trim_start_matches('(').split([' ', ')']).next();
        assert_eq!(head, Some(method.name));
        assert!(
            method.summary.ends_with('.') && method.citation.starts_with('['),
            "{}",
            method.name
        );
    }
}
